// MuJoCo's plugin actuator mujoco.pid: force = kp e + kd e' + ki (integral of e), with the error e
// of the driven length against the control, the integral's force at most imax. The plugin
// integrates first and evaluates the whole force at the beginning of the step. slewmax limits the
// rate of the control from its second step on.
#include "import/mjcf.h"

#include <math.h>
#include <string.h>

// The node with the settings: the element itself or the instance that it names.
static const mf_XmlNode *find_settings(const mf_Mjcf *m, const mf_XmlNode *node) {
    const char *instance = mf_xml_attribute(node, "instance");
    if (instance == NULL)
        return node;
    MF_XML_EACH (section, m->xml.root, "extension") {
        MF_XML_EACH (plugin, section, "plugin") {
            MF_XML_EACH (item, plugin, "instance") {
                const char *name = mf_xml_attribute(item, "name");
                if (name != NULL && strcmp(name, instance) == 0)
                    return item;
            }
        }
    }
    return NULL;
}

enum { KP, KD, KI, IMAX, SLEWMAX, SETTINGS };

static mf_Status read_settings(mf_Mjcf *m, const mf_XmlNode *settings, double values[SETTINGS]) {
    static const char *const keys[SETTINGS] = {"kp", "kd", "ki", "imax", "slewmax"};
    MF_XML_EACH (config, settings, "config") {
        const char *key = mf_xml_attribute(config, "key"), *rest = "";
        const char *value = mf_xml_attribute(config, "value");
        size_t i = 0;
        while (i < SETTINGS && (key == NULL || strcmp(key, keys[i]) != 0))
            i++;
        if (i == SETTINGS)
            return mf_mjcf_fail(m, config, "<config> key: expected kp, ki, kd, imax or slewmax");
        if (value == NULL || mf_xml_scan(value, 1, &values[i], &rest) != 1)
            return mf_mjcf_fail(m, config, "<config> value: expected one number");
    }
    return MF_OK;
}

mf_Status mf_mjcf_set_pid(mf_Mjcf *m, const mf_XmlNode *node, mf_MjcfActuator *a) {
    double values[SETTINGS] = {[IMAX] = INFINITY};
    const char *plugin = mf_xml_attribute(node, "plugin");
    const mf_XmlNode *settings = find_settings(m, node);
    a->plugin = true;
    a->known = plugin == NULL || strcmp(plugin, "mujoco.pid") == 0;
    if (!a->known)
        return mf_mjcf_refuse(m, node, "of a plugin that is not mujoco.pid");
    if (settings == NULL)
        return mf_mjcf_fail(m, node, "<plugin> instance: there is no instance '%.100s'",
                            mf_xml_attribute(node, "instance"));
    mf_Status status = read_settings(m, settings, values);
    if (status == MF_OK && (!(values[IMAX] >= 0.0) || !(values[SLEWMAX] >= 0.0)))
        return mf_mjcf_fail(m, node, "imax, slewmax: expected >= 0, found %g and %g", values[IMAX],
                            values[SLEWMAX]);
    a->integral_gain = values[KI];
    a->integral_limit = values[IMAX];
    a->slew_limit = values[SLEWMAX];
    a->law.gain[0] = values[KP];
    a->law.bias[0] = 0.0;
    a->law.bias[1] = -values[KP];
    a->law.bias[2] = -values[KD];
    return status;
}
