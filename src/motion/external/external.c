// The `external` motion: poses follow velocities or targets that a program writes.
//
//   position'  = position + h v
//   attitude'  = attitude exp(h w / 2)           w in body axes
//
// With targets, v and w are those that cover the remaining displacement in the remaining interval;
// the rotation is about one constant axis. Streams of poses are in poses.c.
//
// Invariants: a step that ends an interval ends at the target itself; the values of a body with a
// fault do not change. One instance after the other, in double, because the cost is small.
#include "model/points.h"
#include "motion/external/poses.h"
#include "world/group.h"
#include "motion/table.h"
#include "base/hash.h"
#include "math/scalar.h"
#include "world/attach.h"
#include "world/systems.h"

#include <mayfly/external.h>

typedef struct External {
    mf_ExternalConfig config;
    double step;       // [s]
    uint32_t interval; // [1] steps
    const mf_Model *model;
    mf_Field *rows[MF_TREE_ROWS];  // the last three only with joints
    mf_Field *position, *rotation; // targets; NULL: by velocities or poses
    mf_Field *poses, *state, *age; // NULL: without a stream of poses
    mf_Field *fault;
} External;

typedef struct Pose {
    double position[3], attitude[4]; // [m], [1]
    double velocity[3], rate[3];     // [m/s] world, [rad/s] body
} Pose;

enum { POSITION, ORIENTATION, LINEAR, ANGULAR, ANGLE, RATE, TARGET };

// ---- a step -------------------------------------------------------------------------------------

static void load(double *out, const mf_Field *field, uint32_t instance, uint32_t count) {
    for (uint32_t c = 0; c < count; c++)
        out[c] = mf_field_sum(field, instance, c);
}

static void store(mf_Field *field, uint32_t instance, const double *values, uint32_t count) {
    for (uint32_t c = 0; c < count; c++)
        mf_field_set_sum(field, instance, c, values[c]);
}

// The velocities that reach the target in `time` seconds. False: the target is no pose.
static bool aim(const External *plan, uint32_t instance, double time, double position[3],
                double attitude[4], Pose *pose) {
    double back[4], rotation[4];
    load(position, plan->position, instance, 3);
    load(attitude, plan->rotation, instance, 4);
    if (!mf_all_finite(position, 3) || !mf_all_finite(attitude, 4) || !mf_quat_normalize(attitude))
        return false;
    mf_vec3_sub(pose->velocity, position, pose->position);
    mf_vec3_scale(pose->velocity, pose->velocity, 1.0 / time);
    mf_quat_conjugate(back, pose->attitude);
    mf_quat_multiply(rotation, back, attitude);
    const double sign = rotation[0] < 0.0 ? -1.0 : 1.0, sine = mf_vec3_length(rotation + 1);
    const double angle = 2.0 * mf_atan2(sine, sign * rotation[0]);
    mf_vec3_scale(pose->rate, rotation + 1, sine > 0.0 ? sign * angle / (sine * time) : 0.0);
    return true;
}

static void move_freely(Pose *pose, double step) {
    double rotation[4], axis[3], size = mf_vec3_length(pose->rate);
    mf_vec3_add_scaled(pose->position, pose->position, step, pose->velocity);
    if (!(size > 0.0))
        return;
    mf_vec3_scale(axis, pose->rate, 1.0 / size);
    mf_quat_from_axis_angle(rotation, axis, step * size);
    mf_quat_multiply(pose->attitude, pose->attitude, rotation);
    mf_quat_normalize(pose->attitude);
}

// The pose at `time` [s].
static void follow(const External *plan, uint32_t instance, double time, Pose *pose) {
    mf_PoseShown shown;
    const double hold = mf_time_to_seconds(plan->config.hold);
    const mf_PoseState state = mf_poses_show(plan->poses, instance, time, hold, &shown);
    mf_field_set(plan->state, instance, 0, (double)state);
    mf_field_set(plan->age, instance, 0, shown.age);
    mf_vec3_set(pose->velocity, 0.0, 0.0, 0.0);
    mf_vec3_set(pose->rate, 0.0, 0.0, 0.0);
    if (state == MF_POSES_NONE)
        return;
    mf_vec3_copy(pose->position, shown.position);
    memcpy(pose->attitude, shown.attitude, sizeof pose->attitude);
    mf_vec3_copy(pose->velocity, shown.velocity);
    mf_vec3_copy(pose->rate, shown.rate);
}

// False: a velocity or target is no number.
static bool move_base(const External *plan, uint32_t instance, uint32_t left, double time,
                      Pose *pose) {
    double position[3], attitude[4];
    load(pose->position, plan->rows[POSITION], instance, 3);
    load(pose->attitude, plan->rows[ORIENTATION], instance, 4);
    if (plan->poses != NULL) {
        follow(plan, instance, time, pose);
        return true;
    }
    if (plan->position == NULL) {
        load(pose->velocity, plan->rows[LINEAR], instance, 3);
        load(pose->rate, plan->rows[ANGULAR], instance, 3);
    } else if (!aim(plan, instance, left * plan->step, position, attitude, pose)) {
        return false;
    }
    if (!mf_all_finite(pose->velocity, 3) || !mf_all_finite(pose->rate, 3))
        return false;
    if (plan->position != NULL && left == 1) {
        mf_vec3_copy(pose->position, position);
        memcpy(pose->attitude, attitude, sizeof attitude);
    } else {
        move_freely(pose, plan->step);
    }
    return true;
}

static bool joints_finite(const External *plan, uint32_t instance) {
    const mf_Field *from = plan->rows[plan->config.targets ? TARGET : RATE];
    for (uint32_t j = 0; j < plan->model->joint_count; j++)
        if (mf_joint_has_axis(&plan->model->joints[j]) &&
            !mf_is_finite(mf_field_get(from, instance, j)))
            return false;
    return true;
}

static void move_joints(const External *plan, uint32_t instance, uint32_t left) {
    for (uint32_t j = 0; j < plan->model->joint_count; j++) {
        if (!mf_joint_has_axis(&plan->model->joints[j]))
            continue;
        const double angle = mf_field_sum(plan->rows[ANGLE], instance, j);
        double rate = mf_field_get(plan->rows[RATE], instance, j);
        double next = angle + plan->step * rate;
        if (plan->config.targets) {
            const double target = mf_field_get(plan->rows[TARGET], instance, j);
            rate = (target - angle) / (left * plan->step);
            next = left == 1 ? target : angle + plan->step * rate;
            mf_field_set(plan->rows[RATE], instance, j, rate);
        }
        mf_field_set_sum(plan->rows[ANGLE], instance, j, next);
    }
}

static uint32_t step_one(const External *plan, uint32_t instance, uint32_t left, double time) {
    Pose pose;
    if (!move_base(plan, instance, left, time, &pose) || !joints_finite(plan, instance))
        return MF_FAULT_INPUT;
    const double *p = pose.position;
    if (!(mf_abs(p[0]) + mf_abs(p[1]) + mf_abs(p[2]) <= 1e7))
        return MF_FAULT_RANGE;
    store(plan->rows[POSITION], instance, pose.position, 3);
    store(plan->rows[ORIENTATION], instance, pose.attitude, 4);
    if (plan->position != NULL || plan->poses != NULL) {
        store(plan->rows[LINEAR], instance, pose.velocity, 3);
        store(plan->rows[ANGULAR], instance, pose.rate, 3);
    }
    move_joints(plan, instance, left);
    return 0;
}

static void run_external(const mf_SystemRun *run, void *user) {
    const External *plan = user;
    uint32_t *fault = plan->fault->data;
    uint32_t end = (run->first_block + run->block_count) * MF_BLOCK;
    if (end > mf_group_count(run->group))
        end = mf_group_count(run->group);
    const uint32_t left = plan->interval - (uint32_t)(run->tick % plan->interval);
    const double time = mf_time_to_seconds(run->time + run->step - plan->config.delay);
    for (uint32_t i = run->first_block * MF_BLOCK; i < end; i++)
        if (fault[i] == 0)
            fault[i] |= step_one(plan, i, left, time);
}

static void reset_external(mf_Group *group, uint32_t instance, void *user) {
    const External *plan = user;
    double pose[4];
    (void)group;
    mf_field_clear(plan->poses, instance);
    if (plan->position == NULL)
        return;
    load(pose, plan->rows[POSITION], instance, 3);
    store(plan->position, instance, pose, 3);
    load(pose, plan->rows[ORIENTATION], instance, 4);
    store(plan->rotation, instance, pose, 4);
}

// ---- adding -------------------------------------------------------------------------------------

static const mf_FieldInfo target_fields[] = {
    {"target.position", "m", "world", MF_REAL, MF_PER_INSTANCE, 3, MF_FIELD_STATE | MF_FIELD_INPUT,
     "position of the base at the end of the interval"},
    {"target.orientation", "1", "world", MF_REAL, MF_PER_INSTANCE, 4,
     MF_FIELD_STATE | MF_FIELD_INPUT,
     "rotation of the base at the end of the interval, body to "
     "world (w, x, y, z)"},
};

static const mf_FieldInfo pose_fields[] = {
    {"poses", "s, m, 1", "world", MF_F64, MF_FIXED_COUNT, MF_POSE_WIDTH,
     MF_FIELD_STATE | MF_FIELD_INPUT,
     "poses of the base, in any order: time, position, rotation from body to world (w, x, y, z); "
     "rows of zeros are none"},
    {"poses.state", "1", "", MF_U32, MF_PER_INSTANCE, 1, MF_FIELD_OUTPUT,
     "0: there is no pose, 1: they begin later, 2: between two poses, 3: goes on beyond the "
     "newest, "
     "4: stands, as the newest is too old"},
    {"poses.age", "s", "", MF_F64, MF_PER_INSTANCE, 1, MF_FIELD_OUTPUT,
     "how much older the newest pose is than what is shown; negative: it is yet to be shown"},
};

static mf_Status check_poses(const mf_ExternalConfig *config, mf_Error *error) {
    if (config->poses == 1 || config->poses > MF_POSES_MOST)
        return mf_fail(error, MF_BAD_ARGUMENT, "external.poses: %u, need 0 or 2 .. %d",
                       config->poses, MF_POSES_MOST);
    if (config->delay < 0 || config->hold < 0)
        return mf_fail(error, MF_BAD_ARGUMENT, "external: need a delay and hold of 0 or more");
    return MF_OK;
}

static mf_Status check_config(const mf_Group *group, const mf_ExternalConfig *config,
                              mf_Error *error) {
    const mf_Time step = mf_world_config_of(mf_group_world(group))->step;
    if (config->struct_size != sizeof *config)
        return mf_fail(error, MF_BAD_ARGUMENT, "external: start from mf_motions_config()");
    if (config->control_interval < 0 || config->control_interval % step != 0 ||
        config->control_interval / step > UINT32_MAX)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "external.control_interval: %lld ns, need a multiple of the step, %lld ns",
                       (long long)config->control_interval, (long long)step);
    MF_CHECK(mf_group_model(group)->base == MF_BASE_FREE, error, MF_UNSUPPORTED,
             "external: the base of model %s is fixed in the world, need a free one",
             mf_group_model(group)->name);
    return check_poses(config, error);
}

static mf_Status bind_poses(mf_Group *group, External *plan, mf_Error *error) {
    mf_Field **fields[] = {&plan->poses, &plan->state, &plan->age};
    for (int f = 0; f < 3; f++)
        MF_TRY(mf_attach_field(group, &pose_fields[f], plan->config.poses, fields[f], error));
    return MF_OK;
}

static mf_Status bind_fields(mf_Group *group, External *plan, mf_Error *error) {
    plan->model = mf_group_model(group);
    plan->fault = mf_group_find_field(group, "fault.word");
    mf_canonical_rows(group, plan->rows,
                      plan->model->joint_count > 0 ? MF_TREE_ROWS : MF_BODY_ROWS);
    if (plan->config.poses > 0)
        return bind_poses(group, plan, error);
    if (!plan->config.targets)
        return MF_OK;
    MF_TRY(mf_attach_field(group, &target_fields[0], 0, &plan->position, error));
    MF_TRY(mf_attach_field(group, &target_fields[1], 0, &plan->rotation, error));
    for (uint32_t i = 0; i < mf_group_count(group); i++)
        reset_external(group, i, plan);
    return MF_OK;
}

static mf_Status make_external(mf_Group *group, const mf_MotionsConfig *motions, void **user,
                               mf_Error *error) {
    External *plan = *user;
    const mf_ExternalConfig *config = &motions->external;
    const mf_Time step = mf_world_config_of(mf_group_world(group))->step;
    MF_TRY(check_config(group, config, error));
    plan->config = *config;
    plan->step = mf_time_to_seconds(step);
    plan->interval = config->control_interval > 0 ? (uint32_t)(config->control_interval / step) : 1;
    return bind_fields(group, plan, error);
}

static uint64_t hash_external(const void *user) {
    const External *plan = user;
    const double times[] = {(double)plan->config.delay, (double)plan->config.hold};
    uint64_t hash = mf_hash_u32(MF_HASH_START, plan->config.targets);
    hash = mf_hash_u32(hash, plan->interval);
    return plan->config.poses > 0 ? mf_hash_doubles(hash, times, 2) : hash;
}

// ---- the row in the motion table ----------------------------------------------------------------

// It has the mass of whoever moves it: none that this library counts.
static void row_momentum(const mf_Group *group, const void *plan, uint32_t instance,
                         double center[3], double linear[3], double angular[3]) {
    (void)group;
    load(center, ((const External *)plan)->rows[POSITION], instance, 3);
    mf_vec3_set(linear, 0, 0, 0);
    mf_vec3_set(angular, 0, 0, 0);
}

static mf_MotionEnergy row_energy(const mf_Group *group, const void *plan, uint32_t instance) {
    (void)group;
    (void)plan;
    (void)instance;
    return (mf_MotionEnergy){0};
}

static const char *const external_reads[] = {"?target.position", "?target.orientation",
                                             "?joint.target", "?poses", NULL};
static const char *const external_writes[] =
    MF_NAMES("base.position", "base.orientation", "base.linear_velocity", "base.angular_velocity",
             "?joint.angle", "?joint.rate", "fault.word", "?poses.state", "?poses.age");

static void row_defaults(mf_MotionsConfig *config) {
    config->external =
        (mf_ExternalConfig){.struct_size = sizeof(mf_ExternalConfig), .hold = 100 * MF_MILLISECOND};
}

#define AT(member) offsetof(mf_MotionsConfig, external.member)

// clang-format off
static const mf_Key row_keys[] = {
    MF_KEY_GROUP("motion.external", "a body that a program moves: it pushes others and is not "
                                    "pushed"),
    MF_KEY("motion.external.targets", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL,
           AT(targets), "it reaches target.position and target.orientation at the end of each "
                        "control_interval; false: it moves with the velocities in its fields"),
    MF_KEY("motion.external.poses", MF_KEY_COUNT, 0, "1", "0", 0, MF_POSES_MOST, NULL, AT(poses),
           "poses in the field `poses`, a stream of time-stamped poses that it follows; 0: none"),
    MF_KEY("motion.external.delay", MF_KEY_TIME, 0, "s", "0", 0, 3600, NULL, AT(delay),
           "it has the pose of this long ago"),
    MF_KEY("motion.external.hold", MF_KEY_TIME, 0, "s", "0.1", 0, 3600, NULL, AT(hold),
           "it extrapolates the newest poses for this long, then stops"),
};
// clang-format on

const mf_MotionRow mf_external_row = {
    .name = "external",
    .motion = MF_MOTION_EXTERNAL,
    .plan_size = sizeof(External),
    .make = make_external,
    .hash = hash_external,
    .run = run_external,
    .reset = reset_external,
    .destroy = mf_attach_release,
    .reads = external_reads,
    .writes = external_writes,
    .any_gravity = true,
    .defaults = row_defaults,
    .keys = row_keys,
    .key_count = sizeof row_keys / sizeof *row_keys,
    .momentum = row_momentum,
    .energy = row_energy,
};
