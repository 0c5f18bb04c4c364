// Sensors as MJCF.
#include "model/export/mjcf.h"

typedef enum SensorPlace {
    AT_NOTHING,
    AT_SITE,
    AT_JOINT,
    AT_TENDON,
    AT_ACTUATOR,
    AT_FRAME,
    AT_BODY,
    AT_CONTACTS
} SensorPlace;

static const struct {
    const char *word;
    SensorPlace place;
} sensor_kinds[] = {
    // The four of the points motion have no counterpart.
    {NULL, AT_NOTHING},
    {NULL, AT_NOTHING},
    {NULL, AT_NOTHING},
    {NULL, AT_NOTHING},
    {"touch", AT_SITE},
    {"accelerometer", AT_SITE},
    {"velocimeter", AT_SITE},
    {"gyro", AT_SITE},
    {"force", AT_SITE},
    {"torque", AT_SITE},
    {"magnetometer", AT_SITE},
    {"rangefinder", AT_SITE},
    {"jointpos", AT_JOINT},
    {"jointvel", AT_JOINT},
    {"tendonpos", AT_TENDON},
    {"tendonvel", AT_TENDON},
    {"actuatorpos", AT_ACTUATOR},
    {"actuatorvel", AT_ACTUATOR},
    {"actuatorfrc", AT_ACTUATOR},
    {"jointactuatorfrc", AT_JOINT},
    {"tendonactuatorfrc", AT_TENDON},
    {"ballquat", AT_JOINT},
    {"ballangvel", AT_JOINT},
    {"jointlimitpos", AT_JOINT},
    {"jointlimitvel", AT_JOINT},
    {"jointlimitfrc", AT_JOINT},
    {"tendonlimitpos", AT_TENDON},
    {"tendonlimitvel", AT_TENDON},
    {"tendonlimitfrc", AT_TENDON},
    {"framepos", AT_FRAME},
    {"framequat", AT_FRAME},
    {"framexaxis", AT_FRAME},
    {"frameyaxis", AT_FRAME},
    {"framezaxis", AT_FRAME},
    {"framelinvel", AT_FRAME},
    {"frameangvel", AT_FRAME},
    {"framelinacc", AT_FRAME},
    {"frameangacc", AT_FRAME},
    {"subtreecom", AT_BODY},
    {"subtreelinvel", AT_BODY},
    {"subtreeangmom", AT_BODY},
    {"e_potential", AT_NOTHING},
    {"e_kinetic", AT_NOTHING},
    {"clock", AT_NOTHING},
    {"user", AT_NOTHING},
    {NULL, AT_NOTHING}, // contact forces and fields have none either
    {NULL, AT_NOTHING},
    {"contact", AT_CONTACTS}};

static void put_object(mf_MjcfWriter *w, const char *type_attribute, const char *name_attribute,
                       mf_Object object, uint32_t index) {
    static const char *const types[] = {"body", "xbody", "geom", "site", "xbody"};
    word(w, type_attribute, types[object]);
    if (object == MF_OBJECT_SHAPE)
        object_name(w, name_attribute, "geom", w->model->shapes[index].name, index);
    else if (object == MF_OBJECT_SITE)
        site_name(w, name_attribute, index);
    else
        body_name(w, name_attribute, index);
}

static void put_query(mf_MjcfWriter *w, const mf_ContactQuery *query) {
    static const char *const words[] = {"found", "dist", "pos", "normal"};
    static const char *const attributes[2][3] = {{"geom1", "body1", "subtree1"},
                                                 {"geom2", "body2", "subtree2"}};
    for (int side = 0; side < 2; side++) {
        const uint32_t object = query->objects[side];
        if (query->sides[side] == MF_CONTACT_SIDE_ANY)
            continue;
        const char *attribute = attributes[side][query->sides[side] - MF_CONTACT_SIDE_SHAPE];
        if (query->sides[side] == MF_CONTACT_SIDE_SHAPE)
            object_name(w, attribute, "geom", w->model->shapes[object].name, object);
        else
            body_name(w, attribute, object);
    }
    put(w, " data=\"");
    for (uint32_t i = 0, any = 0; i < 4; i++) {
        if (query->data >> i & 1)
            mf_text_format(&w->text, "%s%s", any++ ? " " : "", words[i]);
    }
    put(w, "\"");
    word(w, "reduce", query->nearest ? "mindist" : "none");
    integer(w, "num", (long)query->slots);
}

static void put_signal(mf_MjcfWriter *w, const mf_Signal *signal) {
    double period = 0.0;
    if (signal->rate.numerator > 0)
        period = (double)signal->rate.denominator / (double)signal->rate.numerator;
    number(w, "noise", signal->noise);
    number(w, "cutoff", signal->range[1]);
    double every = period > w->model->physics.step ? period : w->model->physics.step;
    if (signal->delay > 0 || period > 0.0) // as many samples as are under way, and one each side
        integer(w, "nsample", 2 + (long)(mf_time_to_seconds(signal->delay) / every));
    if (signal->delay > 0)
        number(w, "delay", mf_time_to_seconds(signal->delay));
    if (period > 0.0)
        number(w, "interval", period);
}

void mf_mjcf_put_sensors(mf_MjcfWriter *w) {
    const mf_Model *model = w->model;
    put(w, "  <sensor>\n");
    for (uint32_t i = 0; i < model->sensor_count; i++) {
        const mf_Sensor *sensor = &model->sensors[i];
        if (sensor_kinds[sensor->type].word == NULL)
            continue;
        mf_text_format(&w->text, "    <%s", sensor_kinds[sensor->type].word);
        name(w, sensor->name);
        switch (sensor_kinds[sensor->type].place) {
        case AT_SITE:
            site_name(w, "site", sensor->site);
            break;
        case AT_JOINT:
            joint_name(w, "joint", sensor->joint);
            break;
        case AT_TENDON:
            object_name(w, "tendon", "tendon", model->tendons[sensor->tendon].name, sensor->tendon);
            break;
        case AT_ACTUATOR:
            object_name(w, "actuator", "actuator", model->actuators[sensor->actuator].name,
                        sensor->actuator);
            break;
        case AT_FRAME:
            put_object(w, "objtype", "objname", sensor->object, sensor->object_index);
            if (sensor->has_reference)
                put_object(w, "reftype", "refname", sensor->reference_object,
                           sensor->reference_index);
            break;
        case AT_BODY:
            body_name(w, "body", sensor->body);
            break;
        case AT_CONTACTS:
            put_query(w, &sensor->query);
            break;
        case AT_NOTHING:
            break;
        }
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
        if (camera || nowhere || lost)
            return mf_fail(error, MF_UNSUPPORTED,
                           "sensor '%.200s': its camera or geom is not part of the model, so it "
                           "cannot be written",
                           sensor->name);
    }
    return MF_OK;
}
