// Fields that networks read and write: those that exist, of the group's precision, and their
// ranges.
#include "control/outputs.h"
#include "control/follow.h"
#include "math/scalar.h"

#include <math.h>
#include <string.h>

mf_Status mf_control_find_field(mf_Group *group, const char *what, const char *name, mf_Field **out,
                                mf_Error *error) {
    const mf_FieldType real = mf_group_config_of(group)->double_precision ? MF_F64 : MF_F32;
    *out = mf_group_find_field(group, name);
    MF_CHECK(*out != NULL, error, MF_NOT_FOUND, "%s: the group has no field %s", what, name);
    MF_NEED((*out)->info.type == real, error, "%s: field %s: need numbers of the group's precision",
            what, name);
    return MF_OK;
}

mf_Status mf_control_find_output(mf_Group *group, const char *what, const char *name,
                                 mf_Field **out, mf_Error *error) {
    MF_TRY(mf_control_find_field(group, what, name, out, error));
    const uint32_t flags = (*out)->info.flags;
    if (!(flags & MF_FIELD_INPUT) || (flags & MF_FIELD_OUTPUT))
        return mf_fail(error, MF_BAD_ARGUMENT, "%s: field %s is not an input of the group", what,
                       name);
    return strcmp(name, "joint.target") == 0 ? mf_control_follows(group, what, error) : MF_OK;
}

void mf_control_range(const mf_Model *model, const char *output, uint32_t i, double *lower,
                      double *upper) {
    double free = 1.0;
    *lower = -INFINITY;
    *upper = INFINITY;
    if (strcmp(output, "joint.target") == 0 && i < model->joint_count) {
        const mf_Joint *joint = &model->joints[i];
        free = joint->type == MF_JOINT_SLIDE ? 1.0 : 3.14159265358979323846;
        *lower = joint->lower;
        *upper = joint->upper;
    } else if (strcmp(output, "actuator.control") == 0 && i < model->actuator_count) {
        *lower = model->actuators[i].control_lower;
        *upper = model->actuators[i].control_upper;
    }
    *lower = mf_is_finite(*lower) ? *lower : -free;
    *upper = mf_is_finite(*upper) ? *upper : free;
}
