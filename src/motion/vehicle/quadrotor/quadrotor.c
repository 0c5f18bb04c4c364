// The quadrotor's host side: its fields, its motion, its reset.
#include "motion/vehicle/quadrotor/motion.h"
#include "base/plain.h"
#include "motion/table.h"
#include "motion/vehicle/body.h"
#include "base/hash.h"
#include "math/kernel_table.h"
#include "math/scalar.h"
#include "world/attach.h"
#include "world/systems.h"

// ---- fields -------------------------------------------------------------------------------------

enum { STATE = MF_FIELD_STATE, INPUT = MF_FIELD_STATE | MF_FIELD_INPUT };

// Four of each robot, one for each rotor or value of a command.
#define FOUR(name, unit, frame, flags, text)                                                       \
    MF_FIELD_INFO(name, unit, frame, MF_REAL, MF_FIXED_COUNT, 1, flags, text)
#define THRUST                                                                                     \
    MF_FIELD_VALUES("command.thrust", "N", "body", 1, INPUT, "commanded thrust of all rotors")
#define YAW MF_FIELD_VALUES("command.yaw", "rad", "world", 1, INPUT, "target heading")

// The fields that carry each kind of command.
static const mf_FieldInfo command_fields[5][2] = {
    {FOUR("command.rotors", "rad/s", "body", INPUT, "commanded speed of the four rotors")},
    {MF_FIELD_VALUES("command.rates", "rad/s", "body", 3, INPUT, "commanded body rates"), THRUST},
    {MF_FIELD_VALUES("command.attitude", "rad", "world", 3, INPUT, "commanded roll, pitch and yaw"),
     THRUST},
    {MF_FIELD_VALUES("command.velocity", "m/s", "world", 3, INPUT, "target velocity"), YAW},
    {MF_FIELD_VALUES("command.position", "m", "world", 3, INPUT, "target position"), YAW}};

static mf_Status add_fields(mf_Group *group, mf_QuadrotorMotion *motion, mf_Error *error) {
    const mf_QuadrotorPlan *plan = motion->plan;
    const mf_QuadrotorCommand command = plan->command;
    const bool rotors = command == MF_QUADROTOR_ROTORS;
    const struct {
        mf_Field **out;
        uint32_t count;
        bool needed;
        mf_FieldInfo info;
    } table[] = {
        {&motion->speed, 4, true,
         FOUR("rotor.speed", "rad/s", "body", INPUT, "speed of the four rotors")},
        {&motion->rotor_command, 4, plan->interval > 1,
         FOUR("rotor.command", "rad/s", "body", STATE,
              "commanded speed of the four rotors at the last control tick")},
        {&motion->demand, 4, plan->outer_interval > plan->interval,
         FOUR("control.demand", "1", "body", STATE,
              "commands of the outer loops at their last tick: body rates [rad/s], twice thrust "
              "over mass [m/s^2]")},
        {&motion->rate_integral, 0, plan->integral,
         MF_FIELD_VALUES("control.rate_integral", "rad/s^2", "body", 3, STATE,
                         "integral part of the body-rate loop")},
        {&motion->velocity_integral, 0, command >= MF_QUADROTOR_VELOCITY,
         MF_FIELD_VALUES("control.velocity_integral", "m/s^2", "world", 3, STATE,
                         "integral part of the velocity loop")},
        {&motion->command, rotors ? 4 : 0, true, command_fields[command][0]},
        {&motion->command_last, 0, !rotors, command_fields[command][1]},
        {&motion->accepted, 4, true,
         FOUR("command.accepted", "1", "", STATE,
              "the four values of the active command, in the order and units of the command")},
        {&motion->refused, 0, true,
         MF_FIELD_INFO("command.refused", "1", "", MF_U32, MF_PER_INSTANCE, 1, STATE,
                       "ticks of the control at which the command was not finite or out of range")},
        {&motion->wind, 0, true,
         MF_FIELD_VALUES("wind.velocity", "m/s", "world", 3, INPUT, "velocity of the air")},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].needed)
            MF_TRY(mf_attach_field(group, &table[i].info, table[i].count, table[i].out, error));
    return MF_OK;
}

static void *data_of(const mf_Field *field) {
    return field != NULL ? field->data : NULL;
}

static void bind_fields(mf_Group *group, mf_QuadrotorMotion *motion) {
    mf_Field *body[MF_BODY_ROWS];
    mf_canonical_rows(group, body, MF_BODY_ROWS);
    motion->fields = (mf_QuadrotorFields){
        .position = body[0]->data,
        .orientation = body[1]->data,
        .linear = body[2]->data,
        .angular = body[3]->data,
        .position_low = body[0]->remainder,
        // A longer step turns by more than rounding loses.
        .orientation_low = body[3]->remainder != NULL ? body[1]->remainder : NULL,
        .linear_low = body[2]->remainder,
        .angular_low = body[3]->remainder,
        .speed = motion->speed->data,
        .rotor_command = data_of(motion->rotor_command),
        .demand = data_of(motion->demand),
        .rate_integral = data_of(motion->rate_integral),
        .velocity_integral = data_of(motion->velocity_integral),
        .command = motion->command->data,
        .command_last = data_of(motion->command_last),
        .accepted = motion->accepted->data,
        .wind = motion->wind->data,
        .refused = motion->refused->data,
        .fault = mf_group_find_field(group, "fault.word")->data};
}

// ---- stepping -----------------------------------------------------------------------------------

// Without a division where it is known: this runs for every few blocks.
static bool is_due(uint64_t tick, uint32_t interval) {
    return interval == 1 || tick % interval == 0;
}

static void run_quadrotor(const mf_SystemRun *run, void *user) {
    const mf_QuadrotorMotion *motion = user;
    const size_t lanes = motion->lanes, first = (size_t)run->first_block * MF_BLOCK;
    const mf_QuadrotorTicks due = {is_due(run->tick, motion->plan->interval),
                                   is_due(run->tick, motion->plan->outer_interval)};
    size_t count = mf_group_count(run->group) - first;
    if (count > (size_t)run->block_count * MF_BLOCK)
        count = (size_t)run->block_count * MF_BLOCK;
    mf_vehicle_wrench_apply(&motion->wrench, run);
    // For a few at the end the copy for one lane is faster than a mostly empty wide one.
    size_t rest = count & (lanes - 1); // a power of two
    if (rest * 5 > lanes)
        rest = 0;
    if (count > rest)
        motion->run(motion->plan, &motion->fields, first, count - rest, due);
    if (rest > 0)
        motion->run_one(motion->plan, &motion->fields, first + count - rest, rest, due);
}

static void set_row(mf_Field *field, uint32_t instance, const double *values) {
    for (uint32_t c = 0; field != NULL && c < field->components; c++)
        mf_field_set(field, instance, c, values != NULL ? values[c] : 0.0);
}

// A command that keeps the agent where it is, into zeros.
static void idle_command(const mf_QuadrotorMotion *motion, mf_Group *group, uint32_t instance,
                         const double hover[4], double command[4]) {
    const mf_Quadrotor *p = &motion->parameters;
    const mf_Field *position = mf_group_find_field(group, "base.position");
    switch (motion->config.command) {
    case MF_QUADROTOR_ROTORS:
        memcpy(command, hover, 4 * sizeof *command);
        break;
    case MF_QUADROTOR_RATES:
    case MF_QUADROTOR_ATTITUDE:
        for (int i = 0; i < 4; i++)
            command[3] += p->thrust_coefficient * hover[i] * hover[i];
        break;
    case MF_QUADROTOR_VELOCITY:
        break;
    case MF_QUADROTOR_POSITION:
        mf_field_read(position, instance, 0, 3, command);
        break;
    }
}

static void reset_quadrotor(mf_Group *group, uint32_t instance, void *user) {
    const mf_QuadrotorMotion *motion = user;
    const mf_Quadrotor *p = &motion->parameters;
    double hover[4], command[4] = {0.0}, lift = 0.0;
    mf_quadrotor_hover(p, mf_world_config_of(mf_group_world(group))->gravity, hover);
    for (int i = 0; i < 4; i++)
        hover[i] = mf_clamp(hover[i], p->rotor_speed_min, p->rotor_speed_max);
    for (int i = 0; i < 4; i++)
        lift += 2.0 * p->thrust_coefficient * hover[i] * hover[i] / p->mass;
    idle_command(motion, group, instance, hover, command);
    set_row(motion->speed, instance, hover);
    set_row(motion->rotor_command, instance, hover);
    set_row(motion->demand, instance, (double[4]){0.0, 0.0, 0.0, lift});
    set_row(motion->rate_integral, instance, NULL);
    set_row(motion->velocity_integral, instance, NULL);
    set_row(motion->command, instance, command);
    set_row(motion->command_last, instance, command + 3);
    set_row(motion->accepted, instance, command);
    set_row(motion->refused, instance, NULL);
    set_row(motion->wind, instance, NULL);
}

static void destroy_quadrotor(mf_Context *context, void *user) {
    mf_QuadrotorMotion *motion = user;
    mf_release(context, (void *)motion->plan);
    mf_release(context, motion);
}

// ---- adding -------------------------------------------------------------------------------------

static mf_Status check_settings(mf_Group *group, const mf_Quadrotor *p,
                                const mf_QuadrotorConfig *config, mf_Error *error) {
    const mf_Time step = mf_world_config_of(mf_group_world(group))->step;
    if (config->struct_size != sizeof *config)
        return mf_fail(error, MF_BAD_ARGUMENT, "quadrotor: start from mf_motions_config()");
    const mf_Range choices[] = {{"command", "", config->command, 0, MF_QUADROTOR_POSITION},
                                {"integrator", "", config->integrator, 0, MF_INTEGRATOR_RK4}};
    MF_TRY(mf_ranges_check("quadrotor", choices, sizeof choices / sizeof *choices, error));
    if (config->control_interval < 0 || config->control_interval % step != 0 ||
        config->control_interval / step > UINT32_MAX)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "quadrotor.control_interval: %lld ns, need a multiple of the step, %lld ns",
                       (long long)config->control_interval, (long long)step);
    const mf_Time inner = config->control_interval > step ? config->control_interval : step;
    if (config->outer_interval < 0 || config->outer_interval % inner != 0 ||
        config->outer_interval / step > UINT32_MAX)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "quadrotor.outer_interval: %lld ns, need a multiple of the interval of the "
                       "control, %lld ns",
                       (long long)config->outer_interval, (long long)inner);
    if (p->motor_time_constant > 0.0 && mf_time_to_seconds(step) > 2.0 * p->motor_time_constant)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "quadrotor.motor_time_constant: %g s, need at least half of the step, %g s "
                       "(or 0 for rotors without lag)",
                       p->motor_time_constant, 0.5 * mf_time_to_seconds(step));
    return mf_vehicle_check(group, "quadrotor", p->mass, error);
}

static uint64_t hash_quadrotor(const void *user) {
    const mf_QuadrotorPlan *plan = ((const mf_QuadrotorMotion *)user)->plan;
    const uint32_t choices[] = {(uint32_t)plan->command, (uint32_t)plan->integrator, plan->interval,
                                plan->outer_interval};
    uint64_t hash = mf_hash_doubles(MF_HASH_START, plan->constants_f64, MF_QUAD_CONSTANTS);
    return mf_hash_bytes(hash, choices, sizeof choices);
}

static const char *const quadrotor_reads[] =
    MF_NAMES("?command.rotors", "?command.rates", "?command.attitude", "?command.velocity",
             "?command.thrust", "?command.position", "?command.yaw", "wind.velocity",
             "?wrench.link", "?wrench.count");
static const char *const quadrotor_writes[] =
    MF_NAMES("base.position", "base.orientation", "base.linear_velocity", "base.angular_velocity",
             "rotor.speed", "command.accepted", "command.refused", "fault.word", "?rotor.command",
             "?control.demand", "?control.rate_integral", "?control.velocity_integral");

static mf_Status make_quadrotor(mf_Group *group, const mf_MotionsConfig *motions, void **plan,
                                mf_Error *error) {
    mf_QuadrotorMotion *motion = *plan;
    const mf_Quadrotor *p = &motion->parameters;
    const mf_WorldConfig *world = mf_world_config_of(mf_group_world(group));
    const mf_KernelPick pick = mf_dispatch_kernels(group);
    motion->parameters = motions->quadrotor;
    motion->config = motions->quadrotor_config;
    MF_TRY(mf_quadrotor_check(p, error));
    MF_TRY(check_settings(group, p, &motion->config, error));
    MF_TRY(mf_quadrotor_plan_create(mf_world_context(mf_group_world(group)), p, &motion->config,
                                    world->gravity, world->step, &motion->plan, error));
    MF_TRY(add_fields(group, motion, error));
    bind_fields(group, motion);
    mf_vehicle_wrench_bind(&motion->wrench, group, p->mass, p->inertia);
    MF_KERNEL_CHOOSE(motion->run, motion->run_one, mf_quadrotor_run, pick);
    motion->lanes = pick.lanes;
    return MF_OK;
}

// ---- the row in the motion table ----------------------------------------------------------------

static mf_Status row_model(mf_Context *context, const mf_MotionsConfig *config, const char *name,
                           mf_Model **out, mf_Error *error) {
    return mf_quadrotor_model(context, &config->quadrotor, name, out, error);
}

static void row_defaults(mf_MotionsConfig *config) {
    config->quadrotor = mf_quadrotor();
    config->quadrotor_config = (mf_QuadrotorConfig){.struct_size = sizeof(mf_QuadrotorConfig),
                                                    .command = MF_QUADROTOR_RATES,
                                                    .integrator = MF_INTEGRATOR_RK4};
}

#define AT(member) offsetof(mf_MotionsConfig, quadrotor_config.member)

// clang-format off
static const mf_Key row_keys[] = {
    MF_KEY_GROUP("motion.quadrotor", "four rotors on one rigid body"),
    MF_KEY("motion.quadrotor.integrator", MF_KEY_CHOICE, 0, "", "rk4", 0, 0, mf_integrator_names,
           AT(integrator), "integrator of the equations of motion"),
    MF_KEY("motion.quadrotor.outer_interval", MF_KEY_TIME, 0, "s", "0", 0, 10, NULL,
           AT(outer_interval),
           "period of the attitude, velocity and position loops, a multiple of control_interval; "
           "0: that of the body-rate loop"),
};
// clang-format on

static const mf_MotionNote *const notes[] = {&mf_note_no_floor, &mf_note_no_wind, NULL};

static void note_settings(const void *plan, mf_NoteCase *c) {
    const mf_QuadrotorMotion *motion = plan;
    double sum = 0.0;
    for (uint32_t i = 0; motion != NULL && i < 3; i++)
        sum += motion->parameters.rotor_drag[i] + motion->parameters.body_drag[i];
    c->dragless = !(sum > 0.0);
}

const mf_MotionRow mf_quadrotor_row = {
    MF_VEHICLE_ROW(quadrotor),
    .motion = MF_MOTION_QUADROTOR,
    .plan_size = sizeof(mf_QuadrotorMotion),
    .integrator = offsetof(mf_QuadrotorMotion, config.integrator),
};
