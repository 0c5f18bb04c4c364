// External wrenches on vehicles that fly, as impulses:
//
//   v += h f / m      w += h I^-1 R^T t
//
// with the force f and the torque t of a step h, both in world axes. Two vehicles that push each
// other therefore keep their momentum to rounding, whatever integrator moves them.
#include "motion/vehicle/external_wrench.h"
#include "math/scalar.h"
#include "world/attach.h"

void mf_vehicle_invert(double out[6], const double i[6]) {
    double xx = i[1] * i[2] - i[5] * i[5], yy = i[0] * i[2] - i[4] * i[4];
    double zz = i[0] * i[1] - i[3] * i[3];
    double xy = i[4] * i[5] - i[3] * i[2], xz = i[3] * i[5] - i[4] * i[1];
    double yz = i[3] * i[4] - i[5] * i[0];
    double scale = 1.0 / (i[0] * xx + i[3] * xy + i[4] * xz);
    const double inverse[6] = {xx * scale, yy * scale, zz * scale,
                               xy * scale, xz * scale, yz * scale};
    memcpy(out, inverse, sizeof inverse);
}

void mf_vehicle_wrench_bind(mf_VehicleWrench *wrench, mf_Group *group, double mass,
                            const double inertia[6]) {
    const double step = mf_time_to_seconds(mf_world_config_of(mf_group_world(group))->step);
    wrench->wrench = mf_group_find_field(group, "wrench.link");
    wrench->count = mf_group_find_field(group, "wrench.count");
    if (wrench->count == NULL)
        wrench->wrench = NULL;
    wrench->orientation = mf_group_find_field(group, "base.orientation");
    wrench->linear = mf_group_find_field(group, "base.linear_velocity");
    wrench->angular = mf_group_find_field(group, "base.angular_velocity");
    wrench->fault = mf_group_find_field(group, "fault.word");
    wrench->speed_per_force = step / mass;
    mf_vehicle_invert(wrench->rate_per_torque, inertia);
    for (int i = 0; i < 6; i++)
        wrench->rate_per_torque[i] *= step;
}

static void apply_one(const mf_VehicleWrench *external, uint32_t instance, uint32_t *fault) {
    double wrench[6], attitude[4], speed[3], rate[3], torque[3], change[3];
    mf_field_read(external->wrench, instance, 0, 6, wrench);
    mf_field_read(external->orientation, instance, 0, 4, attitude);
    mf_field_read(external->linear, instance, 0, 3, speed);
    mf_field_read(external->angular, instance, 0, 3, rate);
    mf_quat_rotate_inverse(torque, attitude, wrench + 3);
    mf_vec3_add_scaled(speed, speed, external->speed_per_force, wrench);
    mf_sym3_apply(change, external->rate_per_torque, torque);
    mf_vec3_add(rate, rate, change);
    if (!mf_all_finite(speed, 3) || !mf_all_finite(rate, 3)) {
        *fault |= MF_FAULT_NONFINITE;
        return;
    }
    mf_field_write(external->linear, instance, 0, 3, speed);
    mf_field_write(external->angular, instance, 0, 3, rate);
}

void mf_vehicle_wrench_apply(const mf_VehicleWrench *wrench, const mf_SystemRun *run) {
    if (wrench->wrench == NULL)
        return;
    const uint32_t *count = wrench->count->data;
    uint32_t *fault = wrench->fault->data;
    uint32_t end = (run->first_block + run->block_count) * MF_BLOCK;
    if (end > mf_group_count(run->group))
        end = mf_group_count(run->group);
    for (uint32_t i = run->first_block * MF_BLOCK; i < end; i++)
        if (count[i] != 0 && fault[i] == 0)
            apply_one(wrench, i, &fault[i]);
}
