// Behaviors: a system of a group that writes every agent's commands at its own rate. The target
// pose of an agent is a function of time and its index, so the index of the next waypoint is the
// only state. Agents with a fault are skipped.
#include "scene/behavior.h"
#include "motion/vehicle/keys.h"
#include "world/attach.h"
#include "world/systems.h"
#include "base/floats.h"
#include "scene/modules/policies.h"

#include "math/scalar.h"

#include <string.h>

static const double half_rotation = 3.141592653589793;
static const double two_pi = 6.283185307179586;

// ---- modes of vehicles -------------------------------------------------------------------------

// The command fields of one mode of a vehicle, in the order of its values.
typedef struct ModeFields {
    const char *name;                       // of the mode
    const char *fields[MF_MODE_FIELDS + 1]; // NULL-terminated
    uint32_t values;                        // [1] of all fields together
} ModeFields;

// The modes of a kind, in the order of its enum. An entry without a name ends the list; a mode
// without fields cannot be used by behaviors.
static const ModeFields *modes_of(mf_VehicleKind kind) {
    static const ModeFields quadrotor[] = {
        [MF_QUADROTOR_ROTORS] = {"rotors", {"command.rotors"}, 4},
        [MF_QUADROTOR_RATES] = {"rates", {"command.rates", "command.thrust"}, 4},
        [MF_QUADROTOR_ATTITUDE] = {"attitude", {"command.attitude", "command.thrust"}, 4},
        [MF_QUADROTOR_VELOCITY] = {"velocity", {"command.velocity", "command.yaw"}, 4},
        [MF_QUADROTOR_POSITION] = {"position", {"command.position", "command.yaw"}, 4},
        {NULL, {NULL}, 0}};
    static const ModeFields fixed_wing[] = {
        [MF_FIXED_WING_SURFACES] = {"surfaces",
                                    {"command.elevator", "command.aileron", "command.rudder",
                                     "command.throttle"},
                                    4},
        [MF_FIXED_WING_AUTOPILOT] = {"autopilot",
                                     {"command.airspeed", "command.altitude", "command.course"},
                                     3},
        [MF_FIXED_WING_ORBIT] = {"orbit",
                                 {"command.airspeed", "command.altitude", "command.center",
                                  "command.radius"},
                                 5},
        {NULL, {NULL}, 0}};
    static const ModeFields car[] = {
        [MF_CAR_COMMAND_DRIVE] = {"drive",
                                  {"command.steering", "command.duty", "command.brake"},
                                  3},
        [MF_CAR_COMMAND_SPEED] = {"speed", {"command.speed", "command.steering"}, 2},
        [MF_CAR_COMMAND_CIRCLE] = {"circle", {"command.speed", "command.circle"}, 4},
        [MF_CAR_COMMAND_LINE] = {"line", {"command.speed", "command.line"}, 4},
        [MF_CAR_COMMAND_PATH] = {"path", {NULL}, 0}, // needs a path, which a file cannot contain
        [MF_CAR_COMMAND_WAYPOINT] = {"waypoint", {"command.speed", "command.waypoint"}, 3},
        {NULL, {NULL}, 0}};
    const ModeFields *const all[] = {quadrotor, fixed_wing, car};
    return all[kind];
}

static mf_Status find_mode(const mf_Behavior *behavior, mf_VehicleKind kind, int *mode,
                           mf_Error *error) {
    const ModeFields *modes = modes_of(kind);
    const char *name = behavior->mode == NULL ? "" : behavior->mode;
    for (int i = 0; modes[i].name != NULL; i++) {
        if (modes[i].values == 0 || strcmp(modes[i].name, name) != 0)
            continue;
        *mode = i;
        if (behavior->kind == MF_BEHAVIOR_PROGRAM || behavior->value_count == modes[i].values)
            return MF_OK;
        return mf_fail(error, MF_BAD_ARGUMENT, "command mode %s takes %u values, found %u", name,
                       modes[i].values, behavior->value_count);
    }
    char known[160] = "";
    for (int i = 0; modes[i].name != NULL; i++) {
        if (modes[i].values == 0)
            continue;
        strcat(known, known[0] == '\0' ? "" : ", ");
        strcat(known, modes[i].name);
    }
    return mf_fail(error, MF_BAD_ARGUMENT, "a %s has no command mode %.40s, expected one of %s",
                   mf_vehicle_kind_name(kind), name, known);
}

mf_Status mf_behavior_mode(const mf_Behavior *behavior, mf_VehicleKind kind, int *mode,
                           mf_Error *error) {
    MF_DEFAULT_FLOATS;
    static const int modes[][3] = {
        [MF_BEHAVIOR_HOLD] = {MF_QUADROTOR_POSITION, MF_FIXED_WING_AUTOPILOT, MF_CAR_COMMAND_SPEED},
        [MF_BEHAVIOR_COMMAND] = {0, 0, 0},
        [MF_BEHAVIOR_PROGRAM] = {0, 0, 0},
        [MF_BEHAVIOR_ORBIT] = {MF_QUADROTOR_VELOCITY, MF_FIXED_WING_ORBIT, MF_CAR_COMMAND_CIRCLE},
        [MF_BEHAVIOR_FORMATION] = {MF_QUADROTOR_VELOCITY, MF_FIXED_WING_ORBIT,
                                   MF_CAR_COMMAND_CIRCLE},
        [MF_BEHAVIOR_WAYPOINTS] = {MF_QUADROTOR_VELOCITY, MF_FIXED_WING_AUTOPILOT,
                                   MF_CAR_COMMAND_WAYPOINT},
        [MF_BEHAVIOR_FLOCK] = {MF_QUADROTOR_VELOCITY, MF_FIXED_WING_AUTOPILOT,
                               MF_CAR_COMMAND_SPEED},
    };
    MF_NEED(behavior != NULL && mode != NULL && (unsigned)behavior->kind <= MF_BEHAVIOR_FLOCK &&
                (unsigned)kind <= MF_VEHICLE_CAR,
            error, "behavior: no such behavior or vehicle");
    if (behavior->kind == MF_BEHAVIOR_COMMAND || behavior->kind == MF_BEHAVIOR_PROGRAM)
        return find_mode(behavior, kind, mode, error);
    *mode = modes[behavior->kind][kind];
    return MF_OK;
}

// ---- can the vehicle do it ---------------------------------------------------------------------

mf_Status mf_behavior_check(const mf_Behavior *behavior, const mf_Vehicle *vehicle,
                            mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(behavior != NULL, error, "mf_behavior_check: behavior is NULL");
    bool moves = behavior->kind != MF_BEHAVIOR_HOLD && behavior->kind != MF_BEHAVIOR_COMMAND &&
                 behavior->kind != MF_BEHAVIOR_PROGRAM;
    bool rotates = behavior->kind == MF_BEHAVIOR_ORBIT || behavior->kind == MF_BEHAVIOR_FORMATION;
    double speed = behavior->speed;
    const mf_FixedWing *wing = &vehicle->fixed_wing;
    const mf_Car *car = &vehicle->car;
    if (moves && vehicle->kind == MF_VEHICLE_FIXED_WING &&
        !(speed >= wing->airspeed_min && speed <= wing->airspeed_max))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "speed: this aircraft flies at %g .. %g m/s, found %g m/s",
                       wing->airspeed_min, wing->airspeed_max, speed);
    if (moves && vehicle->kind == MF_VEHICLE_CAR && !(speed <= car->speed_limit))
        return mf_fail(error, MF_BAD_ARGUMENT, "speed: this car drives up to %g m/s, found %g m/s",
                       car->speed_limit, speed);
    if (moves && vehicle->kind == MF_VEHICLE_QUADROTOR && !(speed <= vehicle->quadrotor.speed_max))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "speed: this quadrotor flies up to %g m/s, found %g m/s",
                       vehicle->quadrotor.speed_max, speed);
    if (rotates && vehicle->kind != MF_VEHICLE_QUADROTOR && behavior->separation > 0.0)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "separation: only quadrotors leave their circles for others (aircraft and "
                       "cars keep apart in a flock, behavior.flock.separation)");
    if (rotates && vehicle->kind == MF_VEHICLE_FIXED_WING && !(behavior->radius >= 1.0))
        return mf_fail(error, MF_BAD_ARGUMENT, "radius: an aircraft needs at least 1 m, found %g m",
                       behavior->radius);
    if (rotates && vehicle->kind == MF_VEHICLE_CAR && !(behavior->radius >= car->front + car->rear))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "radius: this car needs at least its wheelbase of %g m, found %g m",
                       car->front + car->rear, behavior->radius);
    return MF_OK;
}

// ---- commands ----------------------------------------------------------------------------------

static double wrap(double angle) {
    return angle - two_pi * mf_floor((angle + half_rotation) / two_pi);
}

static void put(const mf_BehaviorPlan *plan, uint32_t field, uint32_t instance, uint32_t component,
                double value) {
    mf_field_set(plan->command[field], instance, component, value);
}

static void get_position(const mf_BehaviorPlan *plan, uint32_t instance, double out[3]) {
    mf_field_read(plan->position, instance, 0, 3, out);
}

// Direction that an agent faces, about the vertical.
static double heading_of(const mf_BehaviorPlan *plan, uint32_t instance) {
    double q[4], forward[3];
    const double ahead[3] = {1.0, 0.0, 0.0};
    mf_field_read(plan->orientation, instance, 0, 4, q);
    mf_quat_rotate(forward, q, ahead);
    return mf_atan2(forward[1], forward[0]);
}

static void steer_quadrotor(const mf_BehaviorPlan *plan, uint32_t instance,
                            const double velocity[3]) {
    for (uint32_t c = 0; c < 3; c++)
        put(plan, 0, instance, c, velocity[c]);
    bool moves = velocity[0] != 0.0 || velocity[1] != 0.0;
    put(plan, 1, instance, 0,
        moves ? mf_atan2(velocity[1], velocity[0]) : heading_of(plan, instance));
}

static void steer_wing(const mf_BehaviorPlan *plan, uint32_t instance, const double velocity[3]) {
    const double ahead = 4.0; // [s] how far ahead climbing aims
    double z = mf_field_get(plan->position, instance, 2);
    put(plan, 0, instance, 0,
        mf_clamp(mf_vec3_length(velocity), plan->airspeed_min, plan->airspeed_max));
    put(plan, 1, instance, 0, z + ahead * velocity[2]);
    put(plan, 2, instance, 0, mf_atan2(velocity[1], velocity[0]));
}

static void steer_car(const mf_BehaviorPlan *plan, uint32_t instance, const double velocity[3]) {
    double error = wrap(mf_atan2(velocity[1], velocity[0]) - heading_of(plan, instance));
    double speed = mf_sqrt(velocity[0] * velocity[0] + velocity[1] * velocity[1]);
    put(plan, 0, instance, 0, speed);
    put(plan, 1, instance, 0, mf_clamp(error, -plan->steering_limit, plan->steering_limit));
}

// Flies or drives an agent towards a velocity [m/s], world frame, of any size above 0.
static void steer(const mf_BehaviorPlan *plan, uint32_t instance, const double velocity[3]) {
    if (plan->kind == MF_VEHICLE_QUADROTOR)
        steer_quadrotor(plan, instance, velocity);
    else if (plan->kind == MF_VEHICLE_FIXED_WING)
        steer_wing(plan, instance, velocity);
    else
        steer_car(plan, instance, velocity);
}

// ---- circles -----------------------------------------------------------------------------------

// The current slot of an agent on its circle.
typedef struct Slot {
    double radius, height; // [m]
    double sense;          // [1] +1 counterclockwise, -1 clockwise
    double angle;          // [rad]
    double position[3];    // [m]
    double velocity[3];    // [m/s]
} Slot;

static Slot find_slot(const mf_BehaviorPlan *plan, uint32_t instance, double time) {
    const mf_Behavior *b = &plan->behavior;
    uint32_t circle = 0;
    while (instance >= plan->circle_first[circle + 1])
        circle++;
    uint32_t first = plan->circle_first[circle], on_it = plan->circle_first[circle + 1] - first;
    Slot slot = {.radius = b->radius + b->gap * circle,
                 .height = b->height + b->rise * circle,
                 .sense = b->alternate && circle % 2 == 1 ? -1.0 : 1.0};
    double cycles = b->speed * time / (two_pi * slot.radius);
    double part = (double)(instance - first) / on_it + slot.sense * (cycles - mf_floor(cycles));
    double sine, cosine;
    slot.angle = two_pi * part;
    mf_sin_cos(slot.angle, &sine, &cosine);
    mf_vec3_set(slot.position, b->center[0] + slot.radius * cosine,
                b->center[1] + slot.radius * sine, slot.height);
    mf_vec3_set(slot.velocity, -slot.sense * b->speed * sine, slot.sense * b->speed * cosine, 0.0);
    return slot;
}

// The speed on the circle that lets an agent catch up with its slot, within a fifth.
static double pace(const mf_BehaviorPlan *plan, uint32_t instance, const Slot *slot) {
    const double gain = 0.05; // [1/s] of the distance along the circle
    const mf_Behavior *b = &plan->behavior;
    double position[3];
    get_position(plan, instance, position);
    double angle = mf_atan2(position[1] - b->center[1], position[0] - b->center[0]);
    double behind = slot->sense * wrap(slot->angle - angle) * slot->radius;
    double speed = b->speed + mf_clamp(gain * behind, -0.2 * b->speed, 0.2 * b->speed);
    return mf_clamp(speed, plan->airspeed_min, plan->airspeed_max);
}

static void command_circle(const mf_BehaviorPlan *plan, uint32_t instance, double time) {
    const mf_Behavior *b = &plan->behavior;
    Slot slot = find_slot(plan, instance, time);
    if (plan->kind == MF_VEHICLE_QUADROTOR) {
        double position[3], wish[3];
        get_position(plan, instance, position);
        mf_vec3_sub(wish, slot.position, position);
        double length = mf_vec3_length(wish); // an error of a meter is corrected in a second
        if (length > b->speed)
            mf_vec3_scale(wish, wish, b->speed / length);
        mf_vec3_add(wish, wish, slot.velocity);
        mf_flock_avoid(plan, instance, wish);
        steer_quadrotor(plan, instance, wish);
        return;
    }
    bool wing = plan->kind == MF_VEHICLE_FIXED_WING;
    put(plan, 0, instance, 0, pace(plan, instance, &slot));
    if (wing)
        put(plan, 1, instance, 0, slot.height);
    uint32_t circle = wing ? 2 : 1;
    put(plan, circle, instance, 0, b->center[0]);
    put(plan, circle, instance, 1, b->center[1]);
    if (wing)
        put(plan, 3, instance, 0, slot.sense * slot.radius);
    else
        put(plan, circle, instance, 2, slot.sense * slot.radius);
}

// ---- waypoints --------------------------------------------------------------------------------

static void command_waypoint(const mf_BehaviorPlan *plan, uint32_t instance) {
    const mf_Behavior *b = &plan->behavior;
    uint32_t next = (uint32_t)mf_field_get(plan->waypoint, instance, 0);
    double position[3], wish[3];
    get_position(plan, instance, position);
    for (uint32_t c = 0; c < 3; c++)
        wish[c] = b->points[next][c] + mf_field_get(plan->offset, instance, c) - position[c];
    if (plan->kind == MF_VEHICLE_CAR)
        wish[2] = 0.0;
    double distance = mf_vec3_length(wish);
    bool last = next + 1 == b->point_count;
    if (distance < b->reached && (!last || b->loop))
        mf_field_set(plan->waypoint, instance, 0, last ? 0 : next + 1);
    if (plan->kind == MF_VEHICLE_CAR) {
        put(plan, 0, instance, 0, b->speed);
        for (uint32_t c = 0; c < 2; c++)
            put(plan, 1, instance, c, position[c] + wish[c]);
        return;
    }
    double speed = plan->kind == MF_VEHICLE_QUADROTOR && distance < b->speed ? distance : b->speed;
    if (distance > 0.0)
        mf_vec3_scale(wish, wish, speed / distance);
    steer(plan, instance, wish);
}

// ---- the system --------------------------------------------------------------------------------

static void command_constant(const mf_BehaviorPlan *plan, uint32_t instance) {
    const double *value = plan->behavior.values;
    for (uint32_t i = 0; i < MF_MODE_FIELDS && plan->command[i] != NULL; i++)
        for (uint32_t c = 0; c < plan->command[i]->components; c++)
            put(plan, i, instance, c, *value++);
}

static void command_one(const mf_BehaviorPlan *plan, uint32_t instance, double time) {
    double wish[3];
    switch (plan->behavior.kind) {
    case MF_BEHAVIOR_COMMAND:
        command_constant(plan, instance);
        break;
    case MF_BEHAVIOR_ORBIT:
    case MF_BEHAVIOR_FORMATION:
        command_circle(plan, instance, time);
        break;
    case MF_BEHAVIOR_WAYPOINTS:
        command_waypoint(plan, instance);
        break;
    case MF_BEHAVIOR_FLOCK:
        mf_flock_wish(plan, instance, wish);
        steer(plan, instance, wish);
        break;
    default: // others have commands of their own, or none
        break;
    }
}

static void run(const mf_SystemRun *run, void *user) {
    const mf_BehaviorPlan *plan = user;
    uint32_t first = run->first_block * MF_BLOCK;
    uint32_t end = first + run->block_count * MF_BLOCK;
    double time = mf_time_to_seconds(run->time);
    for (uint32_t i = first; i < end && i < plan->count; i++)
        if (mf_field_get(plan->fault, i, 0) == 0.0)
            command_one(plan, i, time);
}

static void reset(mf_Group *group, uint32_t instance, void *user) {
    const mf_BehaviorPlan *plan = user;
    (void)group;
    if (plan->waypoint != NULL)
        mf_field_set(plan->waypoint, instance, 0, 0.0);
}

static void destroy(mf_Context *context, void *user) {
    mf_BehaviorPlan *plan = user;
    if (plan == NULL)
        return;
    mf_release(context, plan->behavior.values);
    mf_release(context, plan->behavior.points);
    mf_release(context, plan->circle_first);
    mf_release(context, plan);
}

// ---- adding it ---------------------------------------------------------------------------------

// Agents are assigned to circles in order of their indices, in proportion to the circles' lengths:
// the end of the agents of circle `circle`.
static uint32_t circle_end(const mf_Behavior *b, uint32_t circles, uint32_t count,
                           uint32_t circle) {
    double total = circles * (b->radius + 0.5 * b->gap * (circles - 1));
    double sum = (circle + 1) * (b->radius + 0.5 * b->gap * circle);
    return circle + 1 == circles ? count : (uint32_t)mf_floor(count * (sum / total) + 0.5);
}

uint32_t mf_behavior_circle(const mf_Behavior *behavior, uint32_t count, uint32_t instance) {
    if (behavior == NULL)
        return 0;
    uint32_t circle = 0;
    while (instance >= circle_end(behavior, behavior->circles, count, circle))
        circle++;
    return circle;
}

static mf_Status share_circles(mf_Context *context, mf_BehaviorPlan *plan, mf_Error *error) {
    const mf_Behavior *b = &plan->behavior;
    uint32_t circles = b->kind == MF_BEHAVIOR_FORMATION ? b->circles : 1;
    plan->circle_first = mf_allocate(context, (size_t)circles + 1, sizeof(uint32_t));
    MF_NEED_MEMORY(plan->circle_first != NULL, error, "behavior");
    for (uint32_t i = 0; i < circles; i++)
        plan->circle_first[i + 1] = circle_end(b, circles, plan->count, i);
    return MF_OK;
}

static mf_Status copy_lists(mf_Context *context, mf_BehaviorPlan *plan, const mf_Behavior *source,
                            mf_Error *error) {
    mf_Behavior *b = &plan->behavior;
    b->mode = NULL; // borrowed, no longer needed
    b->values = mf_allocate(context, source->value_count, sizeof *b->values);
    b->points = mf_allocate(context, source->point_count, sizeof *b->points);
    MF_NEED_MEMORY(b->values != NULL && b->points != NULL, error, "behavior");
    if (source->value_count > 0)
        memcpy(b->values, source->values, source->value_count * sizeof *b->values);
    if (source->point_count > 0)
        memcpy(b->points, source->points, source->point_count * sizeof *b->points);
    return MF_OK;
}

static mf_Status need(mf_Group *group, const char *name, const mf_Field **out, mf_Error *error) {
    *out = mf_group_find_field(group, name);
    if (*out != NULL)
        return MF_OK;
    return mf_fail(error, MF_NOT_FOUND, "behavior: group %s has no field %s",
                   mf_group_config_of(group)->name, name);
}

static mf_Status find_neighbors(mf_Group *group, mf_BehaviorPlan *plan, mf_Error *error) {
    bool flock = plan->behavior.kind == MF_BEHAVIOR_FLOCK;
    if (!flock && !(plan->behavior.separation > 0.0))
        return MF_OK;
    MF_TRY(need(group, "neighbor.count", &plan->neighbor_count, error));
    MF_TRY(need(group, "neighbor.position", &plan->neighbor_position, error));
    MF_TRY(need(group, "neighbor.velocity", &plan->neighbor_velocity, error));
    plan->neighbors = plan->neighbor_position->components / 3;
    return MF_OK;
}

// Waypoints: index of the next one, and each agent's offset from the group's center at the start,
// which it keeps.
static mf_Status add_waypoints(mf_Group *group, mf_BehaviorPlan *plan, mf_Error *error) {
    static const mf_FieldInfo next = {
        "behavior.waypoint",          "1", "", MF_U32, MF_PER_INSTANCE, 1, MF_FIELD_STATE,
        "number of the next waypoint"};
    static const mf_FieldInfo offset = {
        "behavior.offset", "m", "world", MF_REAL,
        MF_PER_INSTANCE,   3,   0,       "offset of the agent in the group"};
    if (plan->behavior.kind != MF_BEHAVIOR_WAYPOINTS)
        return MF_OK;
    MF_NEED(plan->behavior.point_count >= 1, error, "behavior: expected at least one waypoint");
    MF_TRY(mf_group_add_field(group, &next, 0, &plan->waypoint, error));
    MF_TRY(mf_group_add_field(group, &offset, 0, &plan->offset, error));
    double middle[3] = {0.0, 0.0, 0.0};
    for (uint32_t i = 0; i < plan->count; i++)
        for (uint32_t c = 0; c < 3; c++)
            middle[c] += mf_field_get(plan->position, i, c) / plan->count;
    for (uint32_t i = 0; i < plan->count; i++)
        for (uint32_t c = 0; c < 3; c++)
            mf_field_set(plan->offset, i, c, mf_field_get(plan->position, i, c) - middle[c]);
    return MF_OK;
}

static void list_writes(const mf_BehaviorPlan *plan, const char *out[MF_MODE_FIELDS + 2]) {
    for (uint32_t i = 0; i < MF_MODE_FIELDS; i++)
        if (plan->command[i] != NULL)
            *out++ = plan->command[i]->info.name;
    if (plan->waypoint != NULL)
        *out++ = plan->waypoint->info.name;
    *out = NULL;
}

static mf_Status find_fields(mf_Group *group, mf_BehaviorPlan *plan, int mode, mf_Error *error) {
    const ModeFields *needed = &modes_of(plan->kind)[mode];
    MF_TRY(need(group, "base.position", &plan->position, error));
    MF_TRY(need(group, "base.linear_velocity", &plan->velocity, error));
    MF_TRY(need(group, "base.orientation", &plan->orientation, error));
    MF_TRY(need(group, "fault.word", &plan->fault, error));
    for (uint32_t i = 0; needed->fields[i] != NULL; i++) {
        plan->command[i] = mf_group_find_field(group, needed->fields[i]);
        MF_CHECK(plan->command[i] != NULL, error, MF_NOT_FOUND,
                 "behavior: group %s has no field %s", mf_group_config_of(group)->name,
                 needed->fields[i]);
    }
    MF_TRY(find_neighbors(group, plan, error));
    return add_waypoints(group, plan, error);
}

static void take_limits(const mf_Group *group, mf_BehaviorPlan *plan) {
    const mf_FixedWing *wing = mf_vehicle_parameters(group, MF_VEHICLE_FIXED_WING);
    const mf_Car *car = mf_vehicle_parameters(group, MF_VEHICLE_CAR);
    plan->airspeed_min = 0.0;
    plan->airspeed_max = 1e9;
    if (plan->kind == MF_VEHICLE_FIXED_WING && wing != NULL) {
        plan->airspeed_min = wing->airspeed_min;
        plan->airspeed_max = wing->airspeed_max;
    }
    if (plan->kind == MF_VEHICLE_CAR && car != NULL) {
        plan->airspeed_max = car->speed_limit;
        plan->steering_limit = car->steering_limit;
    }
}

static mf_Status fill(mf_Group *group, mf_BehaviorPlan *plan, const mf_Behavior *behavior,
                      mf_Error *error) {
    int mode = 0;
    mf_Context *context = mf_world_context(mf_group_world(group));
    MF_TRY(mf_behavior_mode(behavior, plan->kind, &mode, error));
    MF_TRY(copy_lists(context, plan, behavior, error));
    MF_TRY(share_circles(context, plan, error));
    take_limits(group, plan);
    return find_fields(group, plan, mode, error);
}

mf_Status mf_behavior_add(mf_Group *group, mf_VehicleKind kind, const mf_Behavior *behavior,
                          mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(group != NULL && behavior != NULL, error, "behavior: group or behavior is NULL");
    if (behavior->kind == MF_BEHAVIOR_HOLD || behavior->kind == MF_BEHAVIOR_PROGRAM)
        return MF_OK; // commands of the reset or of a program
    if (behavior->kind >= MF_BEHAVIOR_POLICIES && behavior->kind <= MF_BEHAVIOR_LAST)
        return mf_policy_behavior_add(group, behavior, error);
    mf_Context *context = mf_world_context(mf_group_world(group));
    mf_BehaviorPlan *plan = mf_allocate(context, 1, sizeof *plan);
    MF_NEED_MEMORY(plan != NULL, error, "behavior");
    *plan = (mf_BehaviorPlan){.behavior = *behavior, .kind = kind, .count = mf_group_count(group)};
    plan->behavior.values = NULL;
    plan->behavior.points = NULL;
    mf_Status status = fill(group, plan, behavior, error);
    static const char *const reads[] = {
        "base.position",      "base.linear_velocity", "base.orientation",
        "fault.word",         "?neighbor.count",      "?neighbor.position",
        "?neighbor.velocity", "?behavior.offset",     NULL};
    const char *writes[MF_MODE_FIELDS + 2];
    mf_SystemConfig system = mf_attach_system("behavior", MF_PHASE_CONTROL, run, plan);
    system.reads = reads;
    system.writes = writes;
    system.rate = behavior->rate;
    system.reset = reset;
    system.destroy = destroy;
    list_writes(plan, writes);
    MF_THEN(status, mf_group_add_system(group, &system, error));
    if (status != MF_OK)
        destroy(context, plan);
    return status;
}
