// Sensors of a URDF file in Mayfly's own form, with their signals:
//
//   <mayfly><sensor name="N" type="gyroscope" link="chest" xyz="0 0 0" rpy="0 0 0" rate="1000"
//       delay="0.002" noise="0.01" bias="0.02" drift="0.001" saturation="40" range="35" bits="16"
//       resolution="0.1"/></mayfly>
//
// Only name, type and link or joint are required. One number R of saturation and range means -R R.
#include "import/item.h"
#include "import/urdf.h"
#include "model/points.h"
#include "model/sensor_kind.h"

#include "math/scalar.h"

#include <stdio.h>
#include <string.h>

// ---- numbers -----------------------------------------------------------------------------------

static mf_Status check_attributes(mf_Urdf *urdf, const mf_XmlNode *node) {
    static const char *const known[] = {"name",       "type",  "link",  "joint",      "xyz",
                                        "rpy",        "reach", "field", "first",      "count",
                                        "rate",       "delay", "noise", "bias",       "drift",
                                        "saturation", "range", "bits",  "resolution", NULL};
    for (uint32_t i = 0; i < node->attribute_count; i++)
        if (!mf_name_listed(known, node->attributes[i].name))
            return mf_xml_refuse(&urdf->xml, node, "<sensor> has no attribute '%.60s'",
                                 node->attributes[i].name);
    return MF_OK;
}

static mf_Status read_limits(mf_Urdf *urdf, const mf_XmlNode *node, const char *name,
                             double out[2]) {
    const char *text = mf_xml_attribute(node, name), *rest = "";
    double values[2] = {0.0, 0.0};
    if (text == NULL)
        return MF_OK;
    uint32_t count = mf_xml_scan(text, 2, values, &rest);
    if (*rest != '\0' || count < 1 || count > 2)
        return mf_xml_refuse(&urdf->xml, node,
                             "<sensor> %s: expected one or two numbers, found \"%.60s\"", name,
                             text);
    out[0] = count == 1 ? -values[0] : values[0];
    out[1] = count == 1 ? values[0] : values[1];
    if (!(out[0] < out[1]))
        return mf_xml_refuse(&urdf->xml, node,
                             "<sensor> %s: expected a number > 0 or two, the smaller first, found "
                             "\"%.60s\"",
                             name, text);
    return MF_OK;
}

static mf_Status read_whole(mf_Urdf *urdf, const mf_XmlNode *node, const char *name, double most,
                            uint32_t *out) {
    double value = *out;
    MF_TRY(mf_xml_numbers(&urdf->xml, node, name, 1, &value));
    if (!(value >= 0.0 && value <= most && value == mf_floor(value)))
        return mf_xml_refuse(&urdf->xml, node,
                             "<sensor> %s: expected a whole number from 0 to %g, found %g", name,
                             most, value);
    *out = (uint32_t)value;
    return MF_OK;
}

// 62.5 per second is 625 in 10 seconds.
mf_Status mf_urdf_read_rate(mf_Urdf *urdf, const mf_XmlNode *node, mf_Rate *out) {
    double rate = 0.0;
    if (mf_xml_attribute(node, "rate") == NULL)
        return MF_OK;
    MF_TRY(mf_xml_numbers(&urdf->xml, node, "rate", 1, &rate));
    if (!(rate >= 1e-3 && rate <= 1e6))
        return mf_xml_refuse(&urdf->xml, node,
                             "<%.40s> rate: expected 0.001 to 1e6 per second, found %g", node->name,
                             rate);
    int64_t denominator = 1;
    for (int digits = 0;
         digits < 9 && rate * (double)denominator != mf_floor(rate * (double)denominator + 0.5);
         digits++)
        denominator *= 10;
    *out = (mf_Rate){(int64_t)mf_floor(rate * (double)denominator + 0.5), denominator};
    return MF_OK;
}

static mf_Status read_signal(mf_Urdf *urdf, const mf_XmlNode *node, mf_Signal *out) {
    const struct {
        const char *name;
        double *value;
    } numbers[] = {{"noise", &out->noise},
                   {"bias", &out->bias},
                   {"drift", &out->drift},
                   {"resolution", &out->resolution}};
    double delay = 0.0;
    MF_TRY(mf_urdf_read_rate(urdf, node, &out->rate));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        MF_TRY(mf_xml_numbers(&urdf->xml, node, numbers[i].name, 1, numbers[i].value));
    MF_TRY(read_limits(urdf, node, "saturation", out->saturation));
    MF_TRY(read_limits(urdf, node, "range", out->range));
    MF_TRY(read_whole(urdf, node, "bits", 24, &out->bits));
    MF_TRY(mf_xml_numbers(&urdf->xml, node, "delay", 1, &delay));
    out->delay = mf_time_from_seconds(delay);
    mf_Error reason = {0};
    return mf_import_blame(&urdf->xml, node, mf_signal_check(out, "<sensor>", &reason), &reason);
}

// ---- positions ---------------------------------------------------------------------------------

static mf_Status find(mf_Urdf *urdf, const mf_XmlNode *node, const char *attribute,
                      const mf_Names *names, uint32_t *out) {
    const char *name;
    MF_TRY(mf_xml_name(&urdf->xml, node, attribute, &name));
    *out = mf_names_find(names, name);
    if (*out == UINT32_MAX)
        return mf_xml_refuse(&urdf->xml, node, "<sensor>: there is no %s '%.100s'", attribute,
                             name);
    return MF_OK;
}

static mf_Status place_on_link(mf_Urdf *urdf, const mf_XmlNode *node, mf_Sensor *sensor) {
    const double forward[3] = {1.0, 0.0, 0.0};
    mf_Frame *frame = &sensor->frame;
    MF_TRY(mf_urdf_read_frame(urdf, node, frame));
    sensor->link = frame->link;
    mf_vec3_copy(sensor->start, frame->position);
    mf_quat_rotate(sensor->direction, frame->rotation, forward);
    mf_vec3_normalize(sensor->direction);
    return MF_OK;
}

static mf_Status place_on_joint(mf_Urdf *urdf, const mf_XmlNode *node, mf_Sensor *sensor) {
    uint32_t index = 0;
    MF_TRY(find(urdf, node, "joint", &urdf->joint_names, &index));
    sensor->joint = mf_urdf_joints(urdf)[index].draft;
    mf_JointType type = MF_JOINT_FIXED;
    if (sensor->joint != MF_NONE)
        type = mf_draft_joints(&urdf->draft)[sensor->joint].type;
    if (type != MF_JOINT_HINGE && type != MF_JOINT_SLIDE)
        return mf_xml_refuse(&urdf->xml, node, "<sensor> joint: '%.100s' neither turns nor slides",
                             mf_xml_attribute(node, "joint"));
    return MF_OK;
}

static mf_Status place_on_field(mf_Urdf *urdf, const mf_XmlNode *node, mf_Sensor *sensor) {
    const char *name;
    MF_TRY(mf_xml_name(&urdf->xml, node, "field", &name));
    MF_TRY(read_whole(urdf, node, "first", 1048575, &sensor->component));
    MF_TRY(read_whole(urdf, node, "count", 1048576, &sensor->count));
    if (sensor->count == 0)
        return mf_xml_refuse(&urdf->xml, node, "<sensor> count: expected 1 or more, found 0");
    sensor->field = mf_draft_text(&urdf->draft, name);
    return sensor->field != NULL ? MF_OK : mf_urdf_no_memory(urdf);
}

static mf_Status read_reach(mf_Urdf *urdf, const mf_XmlNode *node, mf_Sensor *sensor) {
    mf_Status status = mf_xml_number(&urdf->xml, node, "reach", &sensor->range);
    if (status == MF_OK && !(sensor->range > 0.0))
        return mf_xml_refuse(&urdf->xml, node, "<sensor> reach: expected a number > 0 m, found %g",
                             sensor->range);
    return status;
}

// ---- one sensor --------------------------------------------------------------------------------

static mf_Status find_type(mf_Urdf *urdf, const mf_XmlNode *node, mf_SensorType *out) {
    const char *type;
    char list[512] = "";
    size_t length = 0;
    MF_TRY(mf_xml_name(&urdf->xml, node, "type", &type));
    for (*out = 0; mf_sensor_kind(*out) != NULL; (*out)++) {
        const char *word = mf_sensor_kind(*out)->urdf;
        if (word != NULL && strcmp(word, type) == 0)
            return MF_OK;
        if (word != NULL && length < sizeof list)
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%s",
                                       length > 0 ? ", " : "", word);
    }
    return mf_xml_refuse(&urdf->xml, node, "<sensor> type: expected one of %s, found \"%.60s\"",
                         list, type);
}

mf_Status mf_urdf_read_own_sensor(mf_Urdf *urdf, const mf_XmlNode *node) {
    const char *name;
    mf_SensorType type = 0;
    mf_Sensor *sensor = NULL;
    MF_TRY(check_attributes(urdf, node));
    MF_TRY(mf_xml_name(&urdf->xml, node, "name", &name));
    MF_TRY(find_type(urdf, node, &type));
    MF_TRY(mf_urdf_add_sensor(urdf, node, name, type, &sensor));
    const mf_SensorMount mount = mf_sensor_kind(type)->mount;
    sensor->count = mount == MF_AT_FIELD ? 1 : mf_sensor_kind(type)->count;
    MF_TRY(mount == MF_AT_JOINT   ? place_on_joint(urdf, node, sensor)
           : mount == MF_AT_FIELD ? place_on_field(urdf, node, sensor)
                                  : place_on_link(urdf, node, sensor));
    if (type == MF_SENSOR_RAY)
        MF_TRY(read_reach(urdf, node, sensor));
    return read_signal(urdf, node, &sensor->signal);
}
