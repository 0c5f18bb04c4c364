// Sensors as MJCF.
#include "export/mjcf.h"
#include "model/sensor_kind.h"

static void put_object(mf_MjcfWriter *w, const char *type_attribute, const char *name_attribute,
                       mf_Object object, uint32_t index) {
    static const char *const types[] = {"body", "xbody", "geom", "site", "xbody"};
    static const mf_ItemType items[] = {MF_ITEM_BODY, MF_ITEM_BODY, MF_ITEM_SHAPE, MF_ITEM_SITE,
                                        MF_ITEM_BODY};
    write_name(w, type_attribute, types[object]);
    mf_mjcf_reference(w, name_attribute, items[object], index);
}

static void put_query(mf_MjcfWriter *w, const mf_ContactQuery *query) {
    static const char *const names[] = {"found", "dist", "pos", "normal"};
    static const char *const attributes[2][3] = {{"geom1", "body1", "subtree1"},
                                                 {"geom2", "body2", "subtree2"}};
    for (int side = 0; side < 2; side++) {
        const uint32_t object = query->objects[side];
        if (query->sides[side] == MF_CONTACT_SIDE_ANY)
            continue;
        const char *attribute = attributes[side][query->sides[side] - MF_CONTACT_SIDE_SHAPE];
        if (query->sides[side] == MF_CONTACT_SIDE_SHAPE)
            mf_mjcf_reference(w, attribute, MF_ITEM_SHAPE, object);
        else
            mf_mjcf_reference(w, attribute, MF_ITEM_BODY, object);
    }
    put(w, " data=\"");
    for (uint32_t i = 0, any = 0; i < 4; i++) {
        if (query->data >> i & 1)
            mf_text_format(&w->text, "%s%s", any++ ? " " : "", names[i]);
    }
    put(w, "\"");
    write_name(w, "reduce", query->nearest ? "mindist" : "none");
    integer(w, "num", (long)query->slots);
}

static void put_signal(mf_MjcfWriter *w, const mf_Signal *signal) {
    double period = 0.0;
    if (signal->rate.numerator > 0)
        period = (double)signal->rate.denominator / (double)signal->rate.numerator;
    number(w, "noise", signal->noise);
    number(w, "cutoff", signal->range[1]);
    double every = period > w->model->physics.step ? period : w->model->physics.step;
    if (signal->delay > 0 || period > 0.0) // the delayed samples, and one on each side
        integer(w, "nsample", 2 + (long)(mf_time_to_seconds(signal->delay) / every));
    if (signal->delay > 0)
        number(w, "delay", mf_time_to_seconds(signal->delay));
    if (period > 0.0)
        number(w, "interval", period);
}

// What a sensor with one object refers to.
typedef struct Mount {
    const char *attribute; // NULL: nothing
    mf_ItemType item;
    size_t index; // [byte] of its number in mf_Sensor
} Mount;

static const Mount mounts[MF_AT_NOTHING + 1] = {
    [MF_AT_SITE] = {"site", MF_ITEM_SITE, offsetof(mf_Sensor, site)},
    [MF_AT_JOINT] = {"joint", MF_ITEM_JOINT, offsetof(mf_Sensor, joint)},
    [MF_AT_LIMITED_JOINT] = {"joint", MF_ITEM_JOINT, offsetof(mf_Sensor, joint)},
    [MF_AT_BALL] = {"joint", MF_ITEM_JOINT, offsetof(mf_Sensor, joint)},
    [MF_AT_TENDON] = {"tendon", MF_ITEM_TENDON, offsetof(mf_Sensor, tendon)},
    [MF_AT_ACTUATOR] = {"actuator", MF_ITEM_ACTUATOR, offsetof(mf_Sensor, actuator)},
    [MF_AT_BODY] = {"body", MF_ITEM_BODY, offsetof(mf_Sensor, body)}};

void mf_mjcf_put_sensors(mf_MjcfWriter *w) {
    const mf_Model *model = w->model;
    put(w, "  <sensor>\n");
    for (uint32_t i = 0; i < model->sensor_count; i++) {
        const mf_Sensor *sensor = &model->sensors[i];
        const mf_SensorKind *kind = mf_sensor_kind(sensor->type);
        if (kind->mjcf == NULL)
            continue;
        mf_text_format(&w->text, "    <%s", kind->mjcf);
        name(w, sensor->name);
        const Mount *mount = &mounts[kind->mount];
        if (mount->attribute != NULL)
            mf_mjcf_reference(
                w, mount->attribute, mount->item,
                *(const uint32_t *)(const void *)((const char *)sensor + mount->index));
        if (kind->mount == MF_AT_FRAME)
            put_object(w, "objtype", "objname", sensor->object, sensor->object_index);
        if (kind->mount == MF_AT_FRAME && sensor->has_reference)
            put_object(w, "reftype", "refname", sensor->reference_object, sensor->reference_index);
        if (kind->mount == MF_AT_CONTACTS)
            put_query(w, &sensor->query);
        if (sensor->type == MF_SENSOR_USER)
            integer(w, "dim", (long)sensor->count);
        put_signal(w, &sensor->signal);
        put(w, "/>\n");
    }
    put(w, "  </sensor>\n");
}

mf_Status mf_mjcf_check_sensors(const mf_Model *model, mf_Error *error) {
    for (uint32_t i = 0; i < model->sensor_count; i++) {
        const mf_Sensor *sensor = &model->sensors[i];
        bool camera =
            sensor->object == MF_OBJECT_CAMERA || sensor->reference_object == MF_OBJECT_CAMERA;
        bool lost =
            (sensor->object == MF_OBJECT_SHAPE && sensor->object_index == MF_NONE) ||
            (sensor->reference_object == MF_OBJECT_SHAPE && sensor->reference_index == MF_NONE);
        bool nowhere = false;
        for (int side = 0; side < 2; side++)
            nowhere = nowhere || (sensor->query.sides[side] == MF_CONTACT_SIDE_SHAPE &&
                                  sensor->query.objects[side] == MF_NONE);
        MF_CHECK(!camera && !nowhere && !lost, error, MF_UNSUPPORTED,
                 "sensor '%.200s': its camera or geom is not part of the model, so it "
                 "cannot be written",
                 sensor->name);
    }
    return MF_OK;
}
