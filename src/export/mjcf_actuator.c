// Actuators as MJCF: the general form, or MuJoCo's plugin for PID control.
#include "export/mjcf.h"

#include <math.h>

static void put_target(mf_MjcfWriter *w, const mf_Actuator *actuator) {
    switch (actuator->drive) {
    case MF_DRIVE_JOINT:
        mf_mjcf_reference(w, "joint", MF_ITEM_JOINT, actuator->joint);
        break;
    case MF_DRIVE_JOINT_IN_PARENT:
        mf_mjcf_reference(w, "jointinparent", MF_ITEM_JOINT, actuator->joint);
        break;
    case MF_DRIVE_TENDON:
        mf_mjcf_reference(w, "tendon", MF_ITEM_TENDON, actuator->tendon);
        break;
    case MF_DRIVE_SITE:
        mf_mjcf_reference(w, "site", MF_ITEM_SITE, actuator->site);
        if (actuator->reference_site != MF_NONE)
            mf_mjcf_reference(w, "refsite", MF_ITEM_SITE, actuator->reference_site);
        break;
    case MF_DRIVE_BODY:
        mf_mjcf_reference(w, "body", MF_ITEM_BODY, actuator->body);
        break;
    }
}

static void put_law(mf_MjcfWriter *w, const mf_Actuator *a) {
    const mf_Muscle *m = &a->muscle;
    const bool affine = a->gain[1] != 0.0 || a->gain[2] != 0.0;
    const double values[9] = {m->range[0], m->range[1], m->force,   m->scale,      m->lower,
                              m->upper,    m->speed,    m->passive, m->lengthening};
    write_name(w, "gaintype", m->exists ? "muscle" : affine ? "affine" : "fixed");
    numbers(w, "gainprm", m->exists ? values : a->gain, m->exists ? 9 : 3);
    write_name(w, "biastype", m->exists ? "muscle" : "affine");
    numbers(w, "biasprm", m->exists ? values : a->bias, m->exists ? 9 : 3);
    if (m->exists)
        numbers(w, "lengthrange", m->length_range, 2);
}

static void put_setting(mf_MjcfWriter *w, const char *key, double value) {
    put(w, "\n      <config");
    write_name(w, "key", key);
    number(w, "value", value);
    put(w, "/>");
}

// The force at the end of an integral's range, so that it gives that range when it is read.
static double integral_limit(const mf_Actuator *a) {
    const double gain = mf_abs(a->integral_gain), most = a->activation_upper * gain;
    const double tries[3] = {most, nextafter(most, 0.0), nextafter(most, INFINITY)};
    for (int i = 0; i < 3; i++)
        if (!(tries[i] / gain < a->activation_upper) && !(a->activation_upper < tries[i] / gain))
            return tries[i];
    return most;
}

// An actuator of MuJoCo's plugin (mjcf_pid.c).
static void put_pid(mf_MjcfWriter *w, const mf_Actuator *a, uint32_t number_of) {
    put(w, "    <plugin plugin=\"mujoco.pid\"");
    mf_mjcf_reference(w, "name", MF_ITEM_ACTUATOR, number_of);
    put_target(w, a);
    mf_mjcf_attributes(w, MF_ITEM_ACTUATOR, a, "gear", "gear");
    if (a->dynamics == MF_DYNAMICS_ERROR || a->slew_limit > 0.0)
        integer(w, "actdim", (a->dynamics == MF_DYNAMICS_ERROR) + (a->slew_limit > 0.0));
    mf_mjcf_attributes(w, MF_ITEM_ACTUATOR, a, "control_lower", "force_lower");
    mf_mjcf_attributes(w, MF_ITEM_ACTUATOR, a, "armature", "group");
    put(w, ">");
    put_setting(w, "kp", a->gain[0]);
    put_setting(w, "kd", -a->bias[2]);
    if (a->dynamics == MF_DYNAMICS_ERROR)
        put_setting(w, "ki", a->integral_gain);
    if (a->dynamics == MF_DYNAMICS_ERROR && mf_is_finite(a->activation_upper))
        put_setting(w, "imax", integral_limit(a));
    if (a->slew_limit > 0.0)
        put_setting(w, "slewmax", a->slew_limit);
    put(w, "\n    </plugin>\n");
}

void mf_mjcf_put_extensions(mf_MjcfWriter *w) {
    for (uint32_t i = 0; i < w->model->actuator_count; i++)
        if (w->model->actuators[i].explicit_rate) {
            put(w, "  <extension>\n    <plugin plugin=\"mujoco.pid\"/>\n  </extension>\n");
            return;
        }
}

void mf_mjcf_put_actuators(mf_MjcfWriter *w) {
    put(w, "  <actuator>\n");
    for (uint32_t i = 0; i < w->model->actuator_count; i++) {
        const mf_Actuator *a = &w->model->actuators[i];
        if (a->explicit_rate) {
            put_pid(w, a, i);
            continue;
        }
        const double times[3] = {a->muscle.rise, a->muscle.fall, a->muscle.smoothing};
        put(w, "    <general");
        mf_mjcf_reference(w, "name", MF_ITEM_ACTUATOR, i);
        put_target(w, a);
        mf_mjcf_attributes(w, MF_ITEM_ACTUATOR, a, "gear", "dynamics");
        if (a->dynamics == MF_DYNAMICS_MUSCLE)
            numbers(w, "dynprm", times, 3);
        else if (a->dynamics >= MF_DYNAMICS_FILTER)
            mf_mjcf_attributes(w, MF_ITEM_ACTUATOR, a, "time_constant", "time_constant");
        put_law(w, a);
        bool inert = a->drive == MF_DRIVE_SITE || a->drive == MF_DRIVE_BODY;
        mf_mjcf_attributes(w, MF_ITEM_ACTUATOR, a, "control_lower", "early");
        mf_mjcf_attributes(w, MF_ITEM_ACTUATOR, a, inert ? "group" : "armature", "group");
        put(w, "/>\n");
    }
    put(w, "  </actuator>\n");
}
