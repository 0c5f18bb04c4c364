// Gaits compiled for a model: names become joints, numbers are checked, curves become polynomials.
// Every error names its member, so that readers of files can report the line.
#include "control/gait_refuse.h"
#include <mayfly/model_fields.h>

#include "base/plain.h"
#include "math/scalar.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SWING_JOINTS = 2 * MF_LEG_JOINTS, HARMONICS = 16 };

// A number with its range.
typedef struct Range {
    const char *path;
    double value, lower, upper;
    bool above; // the lower bound itself is not allowed
} Range;

mf_Status mf_gait_refuse(mf_GaitBlame *blame, mf_Error *error, const char *path, const char *format,
                         ...) {
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    mf_plain_format_list(text, sizeof text, format, arguments);
    va_end(arguments);
    if (blame != NULL)
        snprintf(blame->path, sizeof blame->path, "%s", path);
    return mf_fail(error, MF_BAD_ARGUMENT, "%s: %s", path, text);
}

static mf_Status check_ranges(const Range *ranges, uint32_t count, mf_GaitBlame *blame,
                              mf_Error *error) {
    for (uint32_t i = 0; i < count; i++) {
        const Range *range = &ranges[i];
        bool good = range->above ? range->value > range->lower : range->value >= range->lower;
        if (!good || !(range->value <= range->upper))
            return mf_gait_refuse(blame, error, range->path, "need %s %g, at most %g, found %g",
                                  range->above ? "above" : "at least", range->lower, range->upper,
                                  range->value);
    }
    return MF_OK;
}

// ---- joints ------------------------------------------------------------------------------------

mf_Status mf_gait_find_joint(const mf_Model *model, const char *name, const char *path,
                             uint32_t *out, mf_GaitBlame *blame, mf_Error *error) {
    *out = mf_model_find(model, MF_ITEM_JOINT, name);
    if (*out == MF_NONE) {
        if (blame != NULL)
            blame->missing = name;
        return mf_gait_refuse(blame, error, path, "robot %.60s has no joint %.80s", model->name,
                              name);
    }
    const mf_Joint *joint = &model->joints[*out];
    if (joint->type != MF_JOINT_HINGE && joint->type != MF_JOINT_SLIDE)
        return mf_gait_refuse(blame, error, path,
                              "joint %.80s has no motor: it is neither a hinge nor a slide", name);
    if (joint->mimic != MF_NONE)
        return mf_gait_refuse(blame, error, path, "joint %.80s follows %.80s: name that joint",
                              name, model->joints[joint->mimic].name);
    return MF_OK;
}

mf_Status mf_gait_find_angle(const mf_Model *model, const mf_GaitAngle *angle, const char *path,
                             uint32_t *out, mf_GaitBlame *blame, mf_Error *error) {
    char whole[160];
    if (angle->joint == NULL)
        return mf_gait_refuse(blame, error, path, "need the name of a joint");
    snprintf(whole, sizeof whole, "%.60s.%.90s", path, angle->joint);
    if (!mf_is_finite(angle->angle))
        return mf_gait_refuse(blame, error, whole, "need a finite number");
    MF_TRY(mf_gait_find_joint(model, angle->joint, whole, out, blame, error));
    const mf_Joint *joint = &model->joints[*out];
    if (angle->angle < joint->lower || angle->angle > joint->upper)
        return mf_gait_refuse(blame, error, whole, "%g is outside of the joint's range %g .. %g",
                              angle->angle, joint->lower, joint->upper);
    return MF_OK;
}

uint32_t mf_gait_row(mf_GaitDraft *draft, const mf_Model *model, uint32_t joint) {
    for (uint32_t i = 0; i < draft->plan.count; i++)
        if (draft->joints[i] == joint)
            return i;
    draft->joints[draft->plan.count] = joint;
    draft->lower[draft->plan.count] = model->joints[joint].lower;
    draft->upper[draft->plan.count] = model->joints[joint].upper;
    return draft->plan.count++;
}

// "left_knee" and "right_knee": the first of the two words that occurs is exchanged.
static uint32_t find_counterpart(const mf_Model *model, uint32_t joint) {
    static const char *const sides[2] = {"left", "right"};
    const char *name = model->joints[joint].name;
    for (int i = 0; i < 2; i++) {
        const char *at = strstr(name, sides[i]);
        char other[600];
        if (at == NULL)
            continue;
        snprintf(other, sizeof other, "%.*s%s%s", (int)(at - name), name, sides[1 - i],
                 at + strlen(sides[i]));
        return mf_model_find(model, MF_ITEM_JOINT, other);
    }
    return joint;
}

static void axis_in_base(const mf_Model *model, uint32_t joint, double out[3]) {
    mf_quat_rotate(out, model->joints[joint].rotation, model->joints[joint].axis);
    for (uint32_t link = model->joints[joint].parent; link != 0;
         link = model->joints[model->links[link].joint].parent)
        mf_quat_rotate(out, model->joints[model->links[link].joint].rotation, out);
}

// A reflection in the plane y = 0 maps a rotation about a to one about (-ax, ay, -az) and a
// translation along a to one along (ax, -ay, az).
bool mf_gait_mirror(const mf_Model *model, uint32_t joint, uint32_t *other, double *factor) {
    double axis[3], image[3];
    *other = find_counterpart(model, joint);
    if (*other == MF_NONE || model->joints[*other].type != model->joints[joint].type)
        return false;
    axis_in_base(model, joint, axis);
    axis_in_base(model, *other, image);
    double same = axis[1] * image[1] - axis[0] * image[0] - axis[2] * image[2];
    *factor = (same > 0.0) == (model->joints[joint].type == MF_JOINT_HINGE) ? 1.0 : -1.0;
    return mf_abs(same) > 0.999;
}

// ---- walk --------------------------------------------------------------------------------------

static mf_Status check_pace(const mf_GaitPace *pace, mf_GaitBlame *blame, mf_Error *error) {
    const Range ranges[] = {{"pace.forward", pace->forward, 0, 100, false},
                            {"pace.left", pace->left, 0, 100, false},
                            {"pace.yaw", pace->yaw, 0, 100, false},
                            {"pace.rise", pace->rise, 0, 60, true}};
    return check_ranges(ranges, sizeof ranges / sizeof *ranges, blame, error);
}

static mf_Status check_walk(const mf_GaitWalk *walk, mf_GaitBlame *blame, mf_Error *error) {
    const mf_GaitBalance *balance = &walk->balance;
    const Range ranges[] = {{"blend", walk->blend, 0, 60, false},
                            {"period", walk->period, 1e-3, 60, false},
                            {"height", walk->height, 0, 100, true},
                            {"lift", walk->lift, 0, 10, false},
                            {"sway", walk->sway, 0, 10, false},
                            {"double_support", walk->double_support, 0, 0.9, false},
                            {"lean", walk->lean, -1, 1, false},
                            {"width", walk->width, 0, 10, true},
                            {"offset", walk->offset, -10, 10, false},
                            {"arms", walk->arms, -3, 3, false},
                            {"balance.ankle_pitch", balance->ankle_pitch, -10, 10, false},
                            {"balance.ankle_roll", balance->ankle_roll, -10, 10, false},
                            {"balance.hip_pitch", balance->hip_pitch, -10, 10, false},
                            {"balance.hip_roll", balance->hip_roll, -10, 10, false},
                            {"balance.step_pitch", balance->step_pitch, -10, 10, false},
                            {"balance.step_roll", balance->step_roll, -10, 10, false},
                            {"balance.tilt", balance->tilt, 0, 1e3, false},
                            {"balance.memory", balance->memory, 0, 1e3, true},
                            {"balance.smooth", balance->smooth, 0, 1e3, false}};
    MF_TRY(check_ranges(ranges, sizeof ranges / sizeof *ranges, blame, error));
    MF_TRY(check_pace(&walk->pace, blame, error));
    if ((unsigned)walk->path > MF_GAIT_TRAPEZOID)
        return mf_gait_refuse(blame, error, "path", "no such path");
    return MF_OK;
}

static mf_Status plan_leg(const mf_GaitWalk *walk, const mf_Model *model, int side,
                          mf_GaitDraft *draft, mf_GaitBlame *blame, mf_Error *error) {
    static const char *const keys[MF_LEG_JOINTS] = {"hip_yaw", "hip_roll",    "hip_pitch",
                                                    "knee",    "ankle_pitch", "ankle_roll"};
    const char *leg = side == 0 ? "legs.left" : "legs.right";
    uint32_t joints[MF_LEG_JOINTS];
    mf_Error cause = {0};
    for (int i = 0; i < MF_LEG_JOINTS; i++) {
        char path[60];
        const char *name = walk->legs[side][i];
        snprintf(path, sizeof path, "%s.%s", leg, keys[i]);
        mf_Status status =
            mf_gait_find_joint(model, name == NULL ? "" : name, path, &joints[i], blame, error);
        if (status != MF_OK)
            return status;
        if (mf_gait_row(draft, model, joints[i]) != (uint32_t)(side * MF_LEG_JOINTS + i))
            return mf_gait_refuse(blame, error, path, "joint %.80s is named twice", name);
    }
    mf_Status status = mf_leg_find(model, joints, &draft->plan.legs[side], &cause);
    return status == MF_OK ? MF_OK : mf_gait_refuse(blame, error, leg, "%s", cause.message);
}

static mf_Status plan_pose(const mf_GaitWalk *walk, const mf_Model *model, mf_GaitDraft *draft,
                           mf_GaitBlame *blame, mf_Error *error) {
    for (int side = 0; side < 2; side++) {
        const char *name = walk->shoulders[side];
        uint32_t joint;
        draft->plan.shoulders[side] = MF_NONE;
        if (name == NULL || name[0] == '\0')
            continue;
        const char *path = side == 0 ? "shoulders.left" : "shoulders.right";
        MF_TRY(mf_gait_find_joint(model, name, path, &joint, blame, error));
        draft->plan.shoulders[side] = mf_gait_row(draft, model, joint);
        if (draft->plan.shoulders[side] < SWING_JOINTS)
            return mf_gait_refuse(blame, error, path, "joint %.80s belongs to a leg", name);
    }
    for (uint32_t i = 0; i < walk->pose_count; i++) {
        uint32_t joint;
        MF_TRY(mf_gait_find_angle(model, &walk->pose[i], "pose", &joint, blame, error));
        uint32_t row = mf_gait_row(draft, model, joint);
        if (row < SWING_JOINTS) {
            char path[160];
            snprintf(path, sizeof path, "pose.%.90s", walk->pose[i].joint);
            return mf_gait_refuse(blame, error, path, "joint %.80s belongs to a leg",
                                  walk->pose[i].joint);
        }
        draft->pose[row] = walk->pose[i].angle;
    }
    return MF_OK;
}

// The feet must be within reach in the standing pose.
static mf_Status check_reach(const mf_GaitWalk *walk, const mf_GaitDraft *draft,
                             mf_GaitBlame *blame, mf_Error *error) {
    for (int side = 0; side < 2; side++) {
        const mf_Leg *leg = &draft->plan.legs[side];
        double angles[MF_LEG_JOINTS], foot[4], axis[3] = {0.0, 1.0, 0.0}, ankle[3];
        mf_quat_from_axis_angle(foot, axis, -walk->lean);
        mf_vec3_set(ankle, walk->offset, side == 0 ? walk->width : -walk->width, -walk->height);
        ankle[1] -= leg->hip[1];
        mf_quat_rotate(ankle, foot, ankle);
        mf_vec3_add(ankle, ankle, leg->hip);
        if (!mf_leg_inverse(leg, ankle, foot, angles))
            return mf_gait_refuse(
                blame, error, "height",
                "the feet are out of reach: %g m is more than the length of the legs",
                walk->height);
    }
    return MF_OK;
}

static mf_GaitSteps steps_of(const mf_GaitWalk *walk) {
    return (mf_GaitSteps){.period = walk->period,
                          .height = walk->height,
                          .lift = walk->lift,
                          .sway = walk->sway,
                          .double_support = walk->double_support,
                          .lean = walk->lean,
                          .width = walk->width,
                          .offset = walk->offset,
                          .arms = walk->arms,
                          .path = walk->path,
                          .balance = walk->balance};
}

static mf_Status plan_walk(mf_Context *context, const mf_GaitWalk *walk, const mf_Model *model,
                           mf_GaitDraft *draft, mf_GaitBlame *blame, mf_Error *error) {
    mf_Status status = check_walk(walk, blame, error);
    if (status != MF_OK || model == NULL)
        return status;
    draft->plan.walk = steps_of(walk);
    draft->plan.blend = walk->blend;
    draft->plan.pace = walk->pace;
    draft->plan.period = mf_time_from_seconds(walk->period);
    draft->pose = mf_allocate(context, model->joint_count, sizeof *draft->pose);
    MF_NEED_MEMORY(draft->pose != NULL, error, "gait");
    for (int side = 0; side < 2 && status == MF_OK; side++)
        status = plan_leg(walk, model, side, draft, blame, error);
    MF_THEN(status, plan_pose(walk, model, draft, blame, error));
    return status == MF_OK ? check_reach(walk, draft, blame, error) : status;
}

// ---- waves -------------------------------------------------------------------------------------

static mf_Status check_wave(const mf_GaitWave *wave, const char *path, mf_GaitBlame *blame,
                            mf_Error *error) {
    const double numbers[] = {wave->offset, wave->amplitude, wave->forward,
                              wave->left,   wave->yaw,       wave->phase};
    if (wave->joint == NULL)
        return mf_gait_refuse(blame, error, path, "need the name of a joint");
    if (!mf_all_finite(numbers, sizeof numbers / sizeof *numbers))
        return mf_gait_refuse(blame, error, path, "need finite numbers");
    if ((unsigned)wave->shape > MF_GAIT_BUMP)
        return mf_gait_refuse(blame, error, path, "no such shape");
    if (wave->harmonic < 1 || wave->harmonic > HARMONICS)
        return mf_gait_refuse(blame, error, path, "harmonic: need 1 .. 16, found %u",
                              wave->harmonic);
    return MF_OK;
}

// A curve is limited to the joint's range, but one with its center outside, or an amplitude above
// the whole range, is an error (usually degrees).
static mf_Status check_swing(const mf_GaitWave *wave, const mf_Joint *joint, uint32_t index,
                             mf_GaitBlame *blame, mf_Error *error) {
    static const char *const keys[] = {"amplitude", "forward", "left", "yaw"};
    const double sizes[] = {wave->amplitude, wave->forward, wave->left, wave->yaw};
    const char *unit = joint->type == MF_JOINT_SLIDE ? "m" : "rad";
    const double whole = joint->type == MF_JOINT_SLIDE ? 1e9 : 2.0 * MF_PI; // of a free joint
    const bool ranged = mf_is_finite(joint->lower) && mf_is_finite(joint->upper);
    const double lower = ranged ? joint->lower : -whole, upper = ranged ? joint->upper : whole;
    const double most = ranged ? upper - lower : whole;
    char path[60];
    snprintf(path, sizeof path, "joints.%u.offset", index);
    if (wave->offset < lower || wave->offset > upper)
        return mf_gait_refuse(blame, error, path,
                              "%g %s is outside of the range %g .. %g of joint %.80s", wave->offset,
                              unit, lower, upper, joint->name);
    for (int k = 0; k < 4; k++) {
        snprintf(path, sizeof path, "joints.%u.%s", index, keys[k]);
        if (mf_abs(sizes[k]) > most)
            return mf_gait_refuse(blame, error, path,
                                  "%g %s is more than the whole range of joint %.80s, %g %s",
                                  sizes[k], unit, joint->name, most, unit);
    }
    return MF_OK;
}

static mf_GaitTone tone_of(const mf_GaitWave *wave, uint32_t row) {
    return (mf_GaitTone){.target = row,
                         .shape = wave->shape,
                         .offset = wave->offset,
                         .amplitude = wave->amplitude,
                         .forward = wave->forward,
                         .left = wave->left,
                         .yaw = wave->yaw,
                         .phase = wave->phase - mf_floor(wave->phase),
                         .harmonic = wave->harmonic};
}

// Tones are sorted by row, so that the kernel sums those of one joint together; tones of one row
// keep the order of the file.
static void sort_tones(mf_GaitDraft *draft) {
    for (uint32_t i = 1; i < draft->plan.tone_count; i++) {
        mf_GaitTone tone = draft->tones[i];
        uint32_t at = i;
        for (; at > 0 && draft->tones[at - 1].target > tone.target; at--)
            draft->tones[at] = draft->tones[at - 1];
        draft->tones[at] = tone;
    }
}

static mf_Status plan_waves(mf_Context *context, const mf_GaitWaves *waves, const mf_Model *model,
                            mf_GaitDraft *draft, mf_GaitBlame *blame, mf_Error *error) {
    const Range ranges[] = {{"blend", waves->blend, 0, 60, false},
                            {"period", waves->period, 1e-3, 60, false},
                            {"swing", waves->swing, 0.01, 0.99, false}};
    mf_Status status = check_ranges(ranges, sizeof ranges / sizeof *ranges, blame, error);
    MF_THEN(status, check_pace(&waves->pace, blame, error));
    if (status == MF_OK && waves->wave_count == 0)
        status = mf_gait_refuse(blame, error, "joints", "need at least one curve");
    if (status == MF_OK && model != NULL) {
        draft->tones = mf_allocate(context, waves->wave_count, sizeof *draft->tones);
        MF_NEED_MEMORY(draft->tones != NULL, error, "gait");
    }
    for (uint32_t i = 0; i < waves->wave_count && status == MF_OK; i++) {
        char path[60];
        uint32_t joint;
        snprintf(path, sizeof path, "joints.%u", i);
        status = check_wave(&waves->waves[i], path, blame, error);
        if (status != MF_OK || model == NULL)
            continue;
        snprintf(path, sizeof path, "joints.%u.joint", i);
        status = mf_gait_find_joint(model, waves->waves[i].joint, path, &joint, blame, error);
        MF_THEN(status, check_swing(&waves->waves[i], &model->joints[joint], i, blame, error));
        if (status == MF_OK)
            draft->tones[draft->plan.tone_count++] =
                tone_of(&waves->waves[i], mf_gait_row(draft, model, joint));
    }
    draft->plan.blend = waves->blend;
    draft->plan.pace = waves->pace;
    draft->plan.period = mf_time_from_seconds(waves->period);
    draft->plan.swing = waves->swing;
    sort_tones(draft);
    return status;
}

// ---- all kinds ---------------------------------------------------------------------------------

void mf_gait_draft_release(mf_Context *context, mf_GaitDraft *draft) {
    mf_release(context, draft->joints);
    mf_release(context, draft->lower);
    mf_release(context, draft->upper);
    mf_release(context, draft->pose);
    mf_release(context, draft->tones);
    mf_release(context, draft->times);
    mf_release(context, draft->curves);
    *draft = (mf_GaitDraft){0};
}

static mf_Status plan_kind(mf_Context *context, const mf_Gait *gait, const mf_Model *model,
                           mf_GaitDraft *out, mf_GaitBlame *blame, mf_Error *error) {
    switch (gait->kind) {
    case MF_GAIT_WALK:
        return plan_walk(context, &gait->walk, model, out, blame, error);
    case MF_GAIT_WAVES:
        return plan_waves(context, &gait->waves, model, out, blame, error);
    case MF_GAIT_KEYFRAMES:
        return mf_gait_draft_frames(context, &gait->keyframes, model, out, blame, error);
    }
    return mf_fail(error, MF_BAD_ARGUMENT, "gait: no such kind");
}

mf_Status mf_gait_draft(mf_Context *context, const mf_Gait *gait, const mf_Model *model,
                        mf_GaitDraft *out, mf_GaitBlame *blame, mf_Error *error) {
    *out = (mf_GaitDraft){.plan.kind = gait->kind};
    if (blame != NULL)
        *blame = (mf_GaitBlame){.path = ""};
    if (model != NULL) {
        out->joints = mf_allocate(context, model->joint_count, sizeof *out->joints);
        out->lower = mf_allocate(context, model->joint_count, sizeof *out->lower);
        out->upper = mf_allocate(context, model->joint_count, sizeof *out->upper);
    }
    bool lacks = out->joints == NULL || out->lower == NULL || out->upper == NULL;
    mf_Status status = model != NULL && lacks ? mf_fail(error, MF_NO_MEMORY, "gait: out of memory")
                                              : plan_kind(context, gait, model, out, blame, error);
    if (status != MF_OK || model == NULL)
        mf_gait_draft_release(context, out);
    return status;
}
