// The host side of cars: fields, the motion, the way back to the start.
#include "motion/vehicle/car/motion.h"
#include "base/floats.h"
#include "motion/table.h"
#include "motion/vehicle/body.h"
#include "base/hash.h"
#include "math/kernel_table.h"
#include "math/scalar.h"
#include "world/attach.h"
#include "world/systems.h"
#include "terrain/image.h"

#include <string.h>

enum { INPUT = MF_FIELD_STATE | MF_FIELD_INPUT, WIDEST = 3 };

static const mf_FieldInfo own_fields[] = {
    [MF_CAR_ROW_STEERING] = MF_FIELD_VALUES("car.steering", "rad", "body", 1, INPUT,
                                            "angle of the front wheel, positive to the left"),
    [MF_CAR_ROW_TARGET] =
        MF_FIELD_VALUES("car.steering_target", "rad", "body", 1, MF_FIELD_STATE, "steering target"),
    [MF_CAR_ROW_DUTY] =
        MF_FIELD_VALUES("car.duty", "1", "", 1, MF_FIELD_STATE, "duty of the motor, -1 .. 1"),
    [MF_CAR_ROW_BRAKE] = MF_FIELD_VALUES("car.brake", "1", "", 1, MF_FIELD_STATE, "brake, 0 .. 1"),
    [MF_CAR_ROW_INTEGRAL] = MF_FIELD_VALUES("car.integral", "m/s^2", "", 1, MF_FIELD_STATE,
                                            "integral part of the speed loop"),
    [MF_CAR_ROW_PROGRESS] = MF_FIELD_VALUES(
        "car.progress", "m", "", 1, INPUT,
        "arc length along the group's path; negative: the nearest point is searched for"),
    [MF_CAR_ROW_WIND] = MF_FIELD_VALUES("wind.velocity", "m/s", "world", 3, INPUT,
                                        "velocity of the air at the vehicle"),
    [MF_CAR_ROW_ACCEPTED] =
        MF_FIELD_INFO("command.accepted", "1", "", MF_REAL, MF_FIXED_COUNT, 1, MF_FIELD_STATE,
                      "the active command: the numbers of the command fields in order"),
};

static const mf_FieldInfo refused_field =
    MF_FIELD_INFO("command.refused", "1", "", MF_U32, MF_PER_INSTANCE, 1, MF_FIELD_STATE,
                  "control ticks at which the command was not finite or out of range");

static const mf_FieldInfo command_fields[][WIDEST] = {
    [MF_CAR_COMMAND_DRIVE] = {MF_FIELD_VALUES("command.steering", "rad", "body", 1, INPUT,
                                              "angle of the front wheel, positive to the left"),
                              MF_FIELD_VALUES("command.duty", "1", "", 1, INPUT,
                                              "duty of the motor, -1 .. 1"),
                              MF_FIELD_VALUES("command.brake", "1", "", 1, INPUT, "brake, 0 .. 1")},
    [MF_CAR_COMMAND_SPEED] = {MF_FIELD_VALUES("command.speed", "m/s", "body", 1, INPUT,
                                              "forward speed, negative backwards"),
                              MF_FIELD_VALUES("command.steering", "rad", "body", 1, INPUT,
                                              "angle of the front wheel, positive to the left")},
    [MF_CAR_COMMAND_CIRCLE] = {MF_FIELD_VALUES("command.speed", "m/s", "body", 1, INPUT,
                                               "forward speed"),
                               MF_FIELD_VALUES(
                                   "command.circle", "m", "world", 3, INPUT,
                                   "center x, y and radius, positive counterclockwise")},
    [MF_CAR_COMMAND_LINE] = {MF_FIELD_VALUES("command.speed", "m/s", "body", 1, INPUT,
                                             "forward speed"),
                             MF_FIELD_VALUES(
                                 "command.line", "m", "world", 3, INPUT,
                                 "position x, y and the direction [rad] from the x axis")},
    [MF_CAR_COMMAND_PATH] = {MF_FIELD_VALUES("command.speed", "m/s", "body", 1, INPUT,
                                             "forward speed")},
    [MF_CAR_COMMAND_WAYPOINT] = {MF_FIELD_VALUES("command.speed", "m/s", "body", 1, INPUT,
                                                 "forward speed on the path"),
                                 MF_FIELD_VALUES("command.waypoint", "m", "world", 2, INPUT,
                                                 "x, y of the point to stop at")},
};

// ---- commands -----------------------------------------------------------------------------------

static void add_value(mf_CarPlan *plan, uint32_t row, uint32_t component, double low, double high,
                      double least) {
    plan->command[plan->command_count++] =
        (mf_CarCommandValue){MF_CAR_ROW_COMMAND_0 + row, component, low, high, least};
}

// In the order of command.accepted.
static void plan_commands(mf_CarPlan *plan, const mf_Car *car) {
    const double wheel = car->steering_limit, speed = car->speed_limit, far = 1e6;
    const mf_CarCommand mode = plan->mode;
    if (mode == MF_CAR_COMMAND_DRIVE) {
        add_value(plan, 0, 0, -wheel, wheel, 0.0);
        add_value(plan, 1, 0, -1.0, 1.0, 0.0);
        add_value(plan, 2, 0, 0.0, 1.0, 0.0);
        return;
    }
    add_value(plan, 0, 0, mode == MF_CAR_COMMAND_SPEED ? -speed : 0.0, speed, 0.0);
    if (mode == MF_CAR_COMMAND_SPEED) {
        add_value(plan, 1, 0, -wheel, wheel, 0.0);
    } else if (mode != MF_CAR_COMMAND_PATH) {
        add_value(plan, 1, 0, -far, far, 0.0);
        add_value(plan, 1, 1, -far, far, 0.0);
    }
    if (mode == MF_CAR_COMMAND_CIRCLE)
        add_value(plan, 1, 2, -far, far, car->front + car->rear);
    if (mode == MF_CAR_COMMAND_LINE)
        add_value(plan, 1, 2, -100.0, 100.0, 0.0);
}

// Commands after a reset: stand; the circle and the line begin where the car is, ahead.
static double start_value(const mf_CarMotion *motion, const mf_CarCommandValue *value,
                          uint32_t instance) {
    const mf_CarCommand mode = motion->config.command;
    const uint32_t row = value->row - MF_CAR_ROW_COMMAND_0;
    double radius = 10.0 * (motion->car.front + motion->car.rear);
    if (mode == MF_CAR_COMMAND_DRIVE || mode == MF_CAR_COMMAND_SPEED || row == 0)
        return 0.0;
    if (value->component == 2)
        return mode == MF_CAR_COMMAND_CIRCLE ? radius : 0.0;
    double position = mf_field_get(motion->rows[MF_CAR_ROW_POSITION], instance, value->component);
    bool center = mode == MF_CAR_COMMAND_CIRCLE && value->component == 1;
    return mf_clamp(position + (center ? radius : 0.0), value->low, value->high);
}

// ---- stepping -----------------------------------------------------------------------------------

static void run_car(const mf_SystemRun *run, void *user) {
    const mf_CarMotion *motion = user;
    uint32_t first = run->first_block * MF_BLOCK, end = first + run->block_count * MF_BLOCK;
    uint32_t count = mf_group_count(run->group);
    if (end > count)
        end = count;
    // Below this many cars the copy for one lane is faster than a mostly empty wide one.
    uint32_t rest = end % motion->lanes;
    uint32_t wide = rest * 8 <= motion->lanes ? end - rest : end;
    bool control = run->tick % motion->interval == 0;
    mf_CarBatch batch = {.plan = motion->plan,
                         .terrain = motion->terrain,
                         .path = motion->path,
                         .fields = &motion->fields,
                         .first = first,
                         .end = wide,
                         .control = control};
    motion->step(&batch);
    batch.first = wide;
    batch.end = end;
    motion->step_one(&batch);
}

// On the ground, with its heading and its forward speed.
static void stand_on_ground(const mf_CarMotion *motion, uint32_t instance) {
    mf_Field *position = motion->rows[MF_CAR_ROW_POSITION];
    mf_Field *attitude = motion->rows[MF_CAR_ROW_ORIENTATION];
    mf_Field *velocity = motion->rows[MF_CAR_ROW_LINEAR];
    double normal[3], x = mf_field_get(position, instance, 0), q[4] = {1, 0, 0, 0}, swing[4], v[3];
    double ground =
        mf_terrain_height(motion->ground, x, mf_field_get(position, instance, 1), normal);
    mf_field_set(position, instance, 2, ground + motion->car.height);
    mf_field_read(velocity, instance, 0, 3, v);
    q[0] = mf_field_get(attitude, instance, 0);
    q[3] = mf_field_get(attitude, instance, 3);
    mf_quat_normalize(q);
    double speed[3], a = mf_sqrt(0.5 * (1.0 + normal[2]));
    mf_quat_rotate_inverse(speed, q, v);
    speed[2] = 0.0;
    swing[0] = a;
    mf_vec3_set(swing + 1, -normal[1] * 0.5 / a, normal[0] * 0.5 / a, 0.0);
    mf_quat_multiply(q, swing, q);
    mf_quat_rotate(v, q, speed);
    mf_field_write(attitude, instance, 0, 4, q);
    mf_field_write(velocity, instance, 0, 3, v);
}

static void reset_car(mf_Group *group, uint32_t instance, void *user) {
    const mf_CarMotion *motion = user;
    (void)group;
    stand_on_ground(motion, instance);
    for (int row = MF_CAR_ROW_STEERING; row <= MF_CAR_ROW_INTEGRAL; row++)
        mf_field_set(motion->rows[row], instance, 0, 0.0);
    mf_field_set(motion->rows[MF_CAR_ROW_PROGRESS], instance, 0, -1.0);
    mf_field_set(motion->refused, instance, 0, 0.0);
    for (uint32_t i = 0; i < motion->plan->command_count; i++) {
        const mf_CarCommandValue *value = &motion->plan->command[i];
        double start = start_value(motion, value, instance);
        mf_field_set(motion->rows[value->row], instance, value->component, start);
        mf_field_set(motion->rows[MF_CAR_ROW_ACCEPTED], instance, i, start);
    }
}

static void destroy_car(mf_Context *context, void *user) {
    mf_CarMotion *motion = user;
    mf_release(context, (void *)motion->plan);
    mf_release(context, (void *)motion->path);
    mf_release(context, motion);
}

// ---- adding -------------------------------------------------------------------------------------

static mf_Status add_fields(mf_Group *group, mf_CarMotion *motion, mf_Error *error) {
    mf_canonical_rows(group, motion->rows, MF_BODY_ROWS);
    mf_Status status = mf_attach_field(group, &refused_field, 0, &motion->refused, error);
    for (int i = MF_CAR_ROW_STEERING; i <= MF_CAR_ROW_ACCEPTED && status == MF_OK; i++)
        status = mf_attach_field(group, &own_fields[i], motion->plan->command_count,
                                 &motion->rows[i], error);
    const mf_FieldInfo *infos = command_fields[motion->config.command];
    for (int i = 0; i < WIDEST && status == MF_OK && infos[i].name != NULL; i++)
        status =
            mf_attach_field(group, &infos[i], 0, &motion->rows[MF_CAR_ROW_COMMAND_0 + i], error);
    return status;
}

static void bind_fields(mf_Group *group, mf_CarMotion *motion) {
    mf_CarFields *fields = &motion->fields;
    for (int i = 0; i < MF_CAR_ROWS; i++) {
        if (motion->rows[i] == NULL)
            continue;
        fields->rows[i] = motion->rows[i]->data;
        fields->components[i] = motion->rows[i]->components;
        if (i < MF_CAR_ROW_LINEAR)
            fields->low[i] = mf_row(motion->rows[i]).low;
    }
    fields->fault = mf_group_find_field(group, "fault.word")->data;
    fields->refused = motion->refused->data;
    const mf_Field *wrench = mf_group_find_field(group, "wrench.link");
    const mf_Field *count = mf_group_find_field(group, "wrench.count");
    if (wrench == NULL || count == NULL)
        return;
    fields->wrench = wrench->data;
    fields->wrench_components = wrench->components;
    fields->wrench_count = count->data;
}

static mf_Status make_plan(mf_CarMotion *motion, const mf_WorldConfig *world, mf_Context *context,
                           mf_Error *error) {
    const mf_Car *car = &motion->car;
    const mf_CarConfig *config = &motion->config;
    const double step = mf_time_to_seconds(world->step);
    mf_CarPlan plan = {.model = config->model,
                       .tire = config->tire,
                       .integrator = config->integrator,
                       .mode = config->command,
                       .level = mf_terrain_level(world->terrain),
                       .brakes = car->brake > 0.0,
                       .lagged = car->steering_lag > 0.0,
                       .ellipse = car->ellipse > 0.0};
    mf_car_plan_constants(&plan, car, step, step * motion->interval, world->gravity,
                          world->terrain->lowest);
    plan_commands(&plan, car);
    void *image;
    mf_Status status = mf_flat_pack(context, &plan, sizeof plan, NULL, 0, &image, error);
    motion->plan = image;
    return status;
}

// The steps between control ticks.
static mf_Status find_interval(mf_CarMotion *motion, const mf_WorldConfig *world, mf_Error *error) {
    const mf_Time interval = motion->config.control_interval;
    MF_NEED(interval % world->step == 0 && interval / world->step <= 1000000, error,
            "car.control_interval: %lld ns, need a multiple of the step of %lld ns, at "
            "most 1e6 of them",
            (long long)interval, (long long)world->step);
    motion->interval = interval > 0 ? (uint32_t)(interval / world->step) : 1;
    return MF_OK;
}

static mf_Status make_car(mf_Group *group, const mf_MotionsConfig *motions, void **plan,
                          mf_Error *error) {
    mf_CarMotion *motion = *plan;
    const mf_WorldConfig *world = mf_world_config_of(mf_group_world(group));
    const mf_KernelPick pick = mf_dispatch_kernels(group);
    motion->car = motions->car;
    motion->config = motions->car_config;
    MF_TRY(mf_car_check(&motion->car, error));
    MF_TRY(mf_car_check_settings(&motion->config, error));
    MF_TRY(mf_vehicle_check(group, "car", motion->car.mass, error));
    motion->ground = world->terrain;
    motion->terrain = mf_terrain_image(world->terrain);
    MF_TRY(find_interval(motion, world, error));
    MF_TRY(mf_car_check_step(&motion->car, motion->config.model, mf_time_to_seconds(world->step),
                             error));
    MF_TRY(make_plan(motion, world, mf_world_context(mf_group_world(group)), error));
    MF_TRY(add_fields(group, motion, error));
    bind_fields(group, motion);
    MF_KERNEL_CHOOSE(motion->step, motion->step_one, mf_car_step, pick);
    motion->lanes = pick.lanes;
    return MF_OK;
}

static uint64_t hash_car(const void *user) {
    const mf_CarMotion *motion = user;
    const mf_CarPlan *plan = motion->plan;
    const mf_CarPath *path = motion->path;
    const uint32_t modes[] = {(uint32_t)plan->model, (uint32_t)plan->tire,
                              (uint32_t)plan->integrator, (uint32_t)plan->mode};
    uint64_t hash = mf_hash_bytes(MF_HASH_START, plan->constants_f64, sizeof plan->constants_f64);
    hash = mf_hash_bytes(hash, modes, sizeof modes);
    if (path == NULL)
        return hash;
    hash = mf_hash_doubles(hash, mf_car_path_x_f64(path), path->segments + 2);
    return mf_hash_doubles(hash, mf_car_path_y_f64(path), path->segments + 2);
}

static const char *const car_reads[] = MF_NAMES(
    "wind.velocity", "?command.steering", "?command.duty", "?command.brake", "?command.speed",
    "?command.circle", "?command.line", "?command.waypoint", "?wrench.link", "?wrench.count");
static const char *const car_writes[] =
    MF_NAMES("base.position", "base.orientation", "base.linear_velocity", "base.angular_velocity",
             "car.steering", "car.steering_target", "car.duty", "car.brake", "car.integral",
             "car.progress", "command.accepted", "command.refused", "fault.word");

mf_Status mf_car_set_path(mf_Group *group, const double (*positions)[2], uint32_t count,
                          bool closed, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(group != NULL, error, "mf_car_set_path: group is NULL");
    mf_CarMotion *motion = mf_motion_plan(group, &mf_car_row);
    MF_NEED(motion != NULL && motion->config.command == MF_CAR_COMMAND_PATH, error,
            "car path: the command of group %s is not a path", mf_group_config_of(group)->name);
    mf_Context *context = mf_world_context(mf_group_world(group));
    const mf_CarPath *path;
    MF_TRY(mf_car_path_create(context, positions, count, closed,
                              0.125 * motion->car.look_ahead_least, &path, error));
    mf_release(context, (void *)motion->path);
    motion->path = path;
    mf_attach_rehash(group, "car", hash_car(motion));
    for (uint32_t i = 0; i < mf_group_block_count(group) * MF_BLOCK; i++)
        mf_field_set(motion->rows[MF_CAR_ROW_PROGRESS], i, 0, -1.0);
    return MF_OK;
}

mf_Status mf_car_body(mf_Context *context, const mf_Car *car, const char *name, mf_Model **out,
                      mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(context != NULL && car != NULL, error, "car: context or car is NULL");
    *out = NULL;
    MF_TRY(mf_car_check(car, error));
    // Motion is planar: roll and pitch inertia only have to be possible for a real body.
    const double tilt = 0.6 * car->yaw_inertia;
    // Its roof is as far above the center of mass as the ground is below.
    mf_VehicleBody body = {.name = name,
                           .mass = car->mass,
                           .inertia = {tilt, tilt, car->yaw_inertia, 0, 0, 0},
                           .radius = car->radius,
                           .half_height = car->height,
                           .clearance = car->height};
    return mf_vehicle_model(context, &body, out, error);
}

// ---- the row in the motion table ----------------------------------------------------------------

static mf_Status row_model(mf_Context *context, const mf_MotionsConfig *config, const char *name,
                           mf_Model **out, mf_Error *error) {
    return mf_car_body(context, &config->car, name, out, error);
}

static void row_defaults(mf_MotionsConfig *config) {
    config->car = mf_car();
    config->car_config = (mf_CarConfig){.struct_size = sizeof(mf_CarConfig),
                                        .model = MF_CAR_BLENDED,
                                        .tire = MF_CAR_TIRE_PACEJKA,
                                        .integrator = MF_INTEGRATOR_RK4,
                                        .command = MF_CAR_COMMAND_SPEED};
}

#define AT(member) offsetof(mf_MotionsConfig, car_config.member)
static const char *const car_models[] = {"kinematic", "dynamic", "blended", NULL};
static const char *const car_tires[] = {"pacejka", "curvature", "linear", NULL};

// clang-format off
static const mf_Key row_keys[] = {
    MF_KEY_GROUP("motion.car", "a single-track car"),
    MF_KEY("motion.car.integrator", MF_KEY_CHOICE, 0, "", "rk4", 0, 0, mf_integrator_names,
           AT(integrator), "integrator of the equations of motion"),
    MF_KEY("motion.car.model", MF_KEY_CHOICE, 0, "", "blended", 0, 0, car_models, AT(model),
           "steering model; `blended`: kinematic at low speed, dynamic at high speed"),
    MF_KEY("motion.car.tire", MF_KEY_CHOICE, 0, "", "pacejka", 0, 0, car_tires, AT(tire),
           "lateral force of the tires"),
};
// clang-format on

static const mf_MotionNote *const notes[] = {&mf_note_no_wind, NULL};

static void note_settings(const void *plan, mf_NoteCase *c) {
    const mf_CarMotion *motion = plan;
    c->dragless = motion != NULL && !(motion->car.drag > 0.0);
}

const mf_MotionRow mf_car_row = {
    MF_VEHICLE_ROW(car),
    .motion = MF_MOTION_CAR,
    .plan_size = sizeof(mf_CarMotion),
    .integrator = offsetof(mf_CarMotion, config.integrator),
};
