// The fixed-wing motion's host side: settings, fields, motion, start in trim.
#include "motion/vehicle/fixed_wing/motion.h"
#include "base/flat.h"
#include "motion/table.h"
#include "motion/vehicle/body.h"
#include "math/kernel_table.h"
#include "math/scalar.h"
#include "world/attach.h"
#include "world/systems.h"

// ---- plan ---------------------------------------------------------------------------------------

enum { ELEVATOR, AILERON, RUDDER, THROTTLE, AIRSPEED, ALTITUDE, COURSE, CENTER, RADIUS };

// The values of each kind of command: a field, as command_fields has them, and its component.
static const uint32_t value_counts[] = {4, 3, 5};
static const struct {
    uint32_t field, component;
} command_values[3][MF_WING_COMMANDS] = {
    {{ELEVATOR, 0}, {AILERON, 0}, {RUDDER, 0}, {THROTTLE, 0}},
    {{AIRSPEED, 0}, {ALTITUDE, 0}, {COURSE, 0}},
    {{AIRSPEED, 0}, {ALTITUDE, 0}, {CENTER, 0}, {CENTER, 1}, {RADIUS, 0}}};

static void command_limits(double *c, const mf_FixedWing *p, mf_FixedWingCommand command) {
    double *low = c + MF_WING_COMMAND_LOW, *high = c + MF_WING_COMMAND_HIGH;
    if (command == MF_FIXED_WING_SURFACES) {
        high[0] = p->elevator_limit;
        high[1] = p->aileron_limit;
        high[2] = p->rudder_limit;
        high[3] = 1.0;
        for (int i = 0; i < 3; i++)
            low[i] = -high[i];
        return;
    }
    low[0] = p->airspeed_min;
    high[0] = p->airspeed_max;
    low[1] = -1e5;
    high[1] = 1e5;
    low[2] = command == MF_FIXED_WING_ORBIT ? -1e6 : -1000.0;
    low[3] = low[4] = -1e6;
    for (int i = 2; i < MF_WING_COMMANDS; i++)
        high[i] = -low[i];
    c[MF_WING_COMMAND_SIZE + 4] = 1.0;
}

// The angle from which on the stalled share of the flow is more than a quarter of the type's
// epsilon; always, where it is more than that at zero.
static double stall_begins(const mf_FixedWing *p, double digits) {
    return p->stall_sharpness * p->stall_angle > digits
               ? p->stall_angle - digits / p->stall_sharpness
               : -1.0;
}

static void step_constants(mf_WingPlan *plan, const mf_WingMotion *motion, double step) {
    double *c = plan->constants_f64;
    c[MF_WING_STEP] = step;
    c[MF_WING_HALF_STEP] = 0.5 * step;
    c[MF_WING_SIXTH_STEP] = step / 6.0;
    c[MF_WING_SPIN_LIMIT] = 2.0 / step;
    c[MF_WING_GRAVITY] = motion->gravity;
    command_limits(c, &motion->parameters, plan->command);
    mf_wing_gusts(c, &motion->config.gusts, step);
}

static void round_constants(mf_WingPlan *plan, const mf_FixedWing *parameters) {
    for (int i = 0; i < MF_WING_CONSTANTS; i++)
        plan->constants_f32[i] = (float)plan->constants_f64[i];
    // ln 2 times the bits of the types, and two more.
    plan->constants_f32[MF_WING_STALL_NEAR] = (float)stall_begins(parameters, 18.1);
    plan->constants_f64[MF_WING_STALL_NEAR] = stall_begins(parameters, 38.2);
}

// Surfaces can be flown without gravity or air; the autopilot and a start in trim need both.
static mf_Status find_start(mf_WingMotion *motion, double *c, mf_Error *error) {
    const mf_FixedWing *parameters = &motion->parameters;
    const mf_FixedWingConfig *config = &motion->config;
    const bool pilot = config->command != MF_FIXED_WING_SURFACES;
    mf_Status status = MF_OK;
    if (pilot)
        status = mf_wing_gains(c, parameters, motion->gravity,
                               mf_time_to_seconds(config->control_interval), error);
    if (status == MF_OK && (pilot || (motion->gravity > 0.0 && parameters->air_density > 0.0)))
        status = mf_wing_trim(c, parameters, config->start_airspeed, 0.0, 0.0, motion->gravity,
                              &motion->start, error);
    return status;
}

static void fill_choices(mf_WingPlan *plan, const mf_FixedWingConfig *config,
                         const mf_Group *group) {
    mf_World *world = mf_group_world(group);
    plan->command = config->command;
    plan->integrator = config->integrator;
    plan->seed = mf_world_config_of(world)->seed;
    plan->stream = 0x64727900u; // "dry", and the group's number below
    for (uint32_t i = 0; i < mf_world_group_count(world); i++)
        if (mf_world_group(world, i) == group)
            plan->stream += i;
    for (int i = 0; i < 3; i++)
        plan->gusty = plan->gusty || config->gusts.intensity[i] > 0.0;
    plan->command_count = value_counts[config->command];
}

static mf_Status make_plan(mf_WingMotion *motion, const mf_Group *group, mf_Error *error) {
    mf_World *world = mf_group_world(group);
    const mf_Time step = mf_world_config_of(world)->step;
    if (motion->config.start_airspeed == 0.0)
        motion->config.start_airspeed = motion->parameters.airspeed_design;
    if (motion->config.control_interval == 0)
        motion->config.control_interval = step;
    motion->gravity = mf_world_config_of(world)->gravity;
    motion->interval = (uint32_t)(motion->config.control_interval / step);
    mf_WingPlan plan = {0};
    fill_choices(&plan, &motion->config, group);
    mf_wing_constants(plan.constants_f64, &motion->parameters);
    plan.constants_f64[MF_WING_STALL_NEAR] = -1.0;
    MF_TRY(find_start(motion, plan.constants_f64, error));
    step_constants(&plan, motion, mf_time_to_seconds(step));
    round_constants(&plan, &motion->parameters);
    void *image;
    mf_Status status =
        mf_flat_pack(mf_world_context(world), &plan, sizeof plan, NULL, 0, &image, error);
    motion->plan = image;
    return status;
}

// ---- fields -------------------------------------------------------------------------------------

enum { INPUT = MF_FIELD_STATE | MF_FIELD_INPUT, STATE = MF_FIELD_STATE };

static const mf_FieldInfo command_fields[] = {
    MF_FIELD_VALUES("command.elevator", "rad", "body", 1, INPUT, "trailing edge down is positive"),
    MF_FIELD_VALUES("command.aileron", "rad", "body", 1, INPUT, "right wing down is positive"),
    MF_FIELD_VALUES("command.rudder", "rad", "body", 1, INPUT, "trailing edge left is positive"),
    MF_FIELD_VALUES("command.throttle", "1", "", 1, INPUT, "0 .. 1"),
    MF_FIELD_VALUES("command.airspeed", "m/s", "", 1, INPUT, "speed through the air"),
    MF_FIELD_VALUES("command.altitude", "m", "world", 1, INPUT, "height z"),
    MF_FIELD_VALUES("command.course", "rad", "world", 1, INPUT,
                    "direction of motion over ground, from east to north"),
    MF_FIELD_VALUES("command.center", "m", "world", 2, INPUT, "center of the orbit"),
    MF_FIELD_VALUES("command.radius", "m", "world", 1, INPUT,
                    "of the orbit, positive: counterclockwise seen from above"),
};

static const mf_FieldInfo accepted_field =
    MF_FIELD_INFO("command.accepted", "1", "", MF_REAL, MF_FIXED_COUNT, 1, STATE,
                  "the active command, values in the order of the command fields, SI units");

static const mf_FieldInfo wing_fields[MF_WING_ROWS] = {
    [MF_WING_ROW_REFUSED] = MF_FIELD_INFO("command.refused", "1", "", MF_U32, MF_PER_INSTANCE, 1,
                                          STATE, "control ticks at which the command was rejected"),
    [MF_WING_ROW_SURFACE] =
        MF_FIELD_VALUES("surface.angle", "rad", "body", 3, STATE, "elevator, aileron, rudder"),
    [MF_WING_ROW_THROTTLE] = MF_FIELD_VALUES("motor.throttle", "1", "", 1, STATE, "0 .. 1"),
    [MF_WING_ROW_MEMORY] = MF_FIELD_VALUES(
        "autopilot.memory", "1", "", MF_WING_MEMORIES, STATE,
        "integrals of course [rad], altitude [rad], airspeed [1]; slow yaw rate [rad/s]"),
    [MF_WING_ROW_WIND] = MF_FIELD_VALUES("wind.velocity", "m/s", "world", 3, INPUT,
                                         "velocity of the air at the aircraft"),
    [MF_WING_ROW_SPEED] =
        MF_FIELD_VALUES("air.speed", "m/s", "", 1, MF_FIELD_OUTPUT, "speed through the air"),
    [MF_WING_ROW_ALPHA] =
        MF_FIELD_VALUES("air.alpha", "rad", "body", 1, MF_FIELD_OUTPUT, "angle of attack"),
    [MF_WING_ROW_BETA] = MF_FIELD_VALUES("air.beta", "rad", "body", 1, MF_FIELD_OUTPUT,
                                         "angle of sideslip, air from the right is positive"),
    [MF_WING_ROW_GUST_STATE] = MF_FIELD_VALUES(
        "gust.state", "1", "", 5, STATE, "state of the gust filters: forward 1, left 2, up 2"),
    [MF_WING_ROW_GUST] =
        MF_FIELD_VALUES("gust.velocity", "m/s", "body", 3, STATE, "gusts added to the wind"),
};

static mf_Status add_commands(mf_Group *group, mf_WingMotion *motion, mf_Error *error) {
    for (uint32_t i = 0; i < motion->plan->command_count; i++) {
        const uint32_t field = command_values[motion->config.command][i].field;
        MF_TRY(mf_attach_field(group, &command_fields[field], 0, &motion->commands[i], error));
        motion->command_component[i] = command_values[motion->config.command][i].component;
    }
    return mf_attach_field(group, &accepted_field, motion->plan->command_count,
                           &motion->rows[MF_WING_ROW_ACCEPTED], error);
}

static mf_Status add_fields(mf_Group *group, mf_WingMotion *motion, mf_Error *error) {
    mf_canonical_rows(group, motion->rows + MF_WING_ROW_POSITION, MF_BODY_ROWS);
    motion->rows[MF_WING_ROW_FAULT] = mf_group_find_field(group, "fault.word");
    MF_TRY(add_commands(group, motion, error));
    for (int i = 0; i < MF_WING_ROWS; i++) {
        bool gust = i == MF_WING_ROW_GUST || i == MF_WING_ROW_GUST_STATE;
        if (wing_fields[i].name != NULL && (motion->plan->gusty || !gust))
            MF_TRY(mf_attach_field(group, &wing_fields[i], 0, &motion->rows[i], error));
    }
    return MF_OK;
}

// ---- stepping -----------------------------------------------------------------------------------

static char *field_at(const mf_Field *field, size_t block, size_t component, size_t lane) {
    size_t value = (block * field->components + component) * MF_BLOCK + lane;
    return (char *)field->data + value * mf_field_value_size(field->info.type);
}

static void bind_block(mf_WingBlock *work, const mf_WingMotion *motion, size_t block, size_t lane) {
    for (int i = 0; i < MF_WING_ROWS; i++)
        work->rows[i] = motion->rows[i] != NULL ? field_at(motion->rows[i], block, 0, lane) : NULL;
    for (int i = 0; i < MF_WING_ROW_ACCEPTED; i++)
        work->low[i] = mf_row(motion->rows[i]).low;
    for (uint32_t i = 0; i < motion->plan->command_count; i++)
        work->commands[i] =
            field_at(motion->commands[i], block, motion->command_component[i], lane);
    work->instance = (uint32_t)(block * MF_BLOCK + lane);
}

// Below this many agents the copy for one lane is faster than a mostly empty wide one.
static bool few(uint32_t agents, uint32_t lanes) {
    return agents * 8 <= lanes;
}

static void run_fixed_wing(const mf_SystemRun *run, void *user) {
    const mf_WingMotion *motion = user;
    const uint32_t count = mf_group_count(run->group);
    mf_vehicle_wrench_apply(&motion->wrench, run);
    mf_WingBlock work = {
        .plan = motion->plan, .tick = run->tick, .control_due = run->tick % motion->interval == 0};
    for (uint32_t block = run->first_block; block < run->first_block + run->block_count; block++) {
        uint32_t agents = count - block * MF_BLOCK;
        if (agents > MF_BLOCK)
            agents = MF_BLOCK;
        for (uint32_t lane = 0; lane < agents;) {
            uint32_t left = agents - lane;
            bool single = few(left < motion->lanes ? left : motion->lanes, motion->lanes);
            bind_block(&work, motion, block, lane);
            if (single)
                motion->step_one(&work);
            else
                motion->step(&work);
            lane += single ? 1 : motion->lanes;
        }
    }
}

static void reset_fixed_wing(mf_Group *group, uint32_t instance, void *user) {
    (void)group;
    mf_wing_start(user, instance);
}

static void destroy_fixed_wing(mf_Context *context, void *user) {
    mf_WingMotion *motion = user;
    mf_release(context, (void *)motion->plan);
    mf_release(context, motion);
}

// ---- adding -------------------------------------------------------------------------------------

static const char *const fixed_wing_reads[] =
    MF_NAMES("wind.velocity", "?command.elevator", "?command.aileron", "?command.rudder",
             "?command.throttle", "?command.airspeed", "?command.altitude", "?command.course",
             "?command.center", "?command.radius", "?wrench.link", "?wrench.count");
static const char *const fixed_wing_writes[] = MF_NAMES(
    "base.position", "base.orientation", "base.linear_velocity", "base.angular_velocity",
    "surface.angle", "motor.throttle", "command.accepted", "command.refused", "autopilot.memory",
    "air.speed", "air.alpha", "air.beta", "?gust.state", "?gust.velocity", "fault.word");

static uint64_t hash_fixed_wing(const void *user) {
    const mf_WingMotion *motion = user;
    const mf_WingPlan *plan = motion->plan;
    const uint64_t choices[] = {(uint64_t)plan->integrator, motion->interval, plan->stream};
    const uint64_t hash =
        mf_hash_bytes(MF_HASH_START, plan->constants_f64, sizeof plan->constants_f64);
    return mf_hash_bytes(hash, choices, sizeof choices);
}

static mf_Status make_fixed_wing(mf_Group *group, const mf_MotionsConfig *motions, void **plan,
                                 mf_Error *error) {
    mf_WingMotion *motion = *plan;
    const mf_FixedWing *p = &motion->parameters;
    const mf_Time step = mf_world_config_of(mf_group_world(group))->step;
    const mf_KernelPick pick = mf_dispatch_kernels(group);
    motion->parameters = motions->fixed_wing;
    motion->config = motions->fixed_wing_config;
    if (motion->config.turbulence != MF_TURBULENCE_NONE)
        motion->config.gusts = mf_dryden(motion->config.turbulence, p->airspeed_design);
    MF_TRY(mf_fixed_wing_check(p, error));
    MF_TRY(mf_wing_check_settings(&motion->config, step, error));
    MF_TRY(mf_vehicle_check(group, "fixed_wing", p->mass, error));
    MF_TRY(make_plan(motion, group, error));
    MF_TRY(add_fields(group, motion, error));
    // In forward-left-up axes the element xz is +J_xz.
    const double inertia[6] = {p->inertia_xx, p->inertia_yy, p->inertia_zz,
                               0.0,           p->inertia_xz, 0.0};
    mf_vehicle_wrench_bind(&motion->wrench, group, p->mass, inertia);
    MF_KERNEL_CHOOSE(motion->step, motion->step_one, mf_fixed_wing_step, pick);
    motion->lanes = pick.lanes;
    return MF_OK;
}

// ---- the row in the motion table ----------------------------------------------------------------

static mf_Status row_model(mf_Context *context, const mf_MotionsConfig *config, const char *name,
                           mf_Model **out, mf_Error *error) {
    return mf_fixed_wing_model(context, &config->fixed_wing, name, out, error);
}

static void row_defaults(mf_MotionsConfig *config) {
    config->fixed_wing = mf_fixed_wing();
    config->fixed_wing_config = mf_fixed_wing_config();
}

#define AT(member) offsetof(mf_MotionsConfig, fixed_wing_config.member)
static const char *const turbulences[] = {"none",         "low_light",       "low_moderate",
                                          "medium_light", "medium_moderate", NULL};

// clang-format off
static const mf_Key row_keys[] = {
    MF_KEY_GROUP("motion.fixed_wing", "an aircraft with an autopilot"),
    MF_KEY("motion.fixed_wing.integrator", MF_KEY_CHOICE, 0, "", "rk4", 0, 0, mf_integrator_names,
           AT(integrator), "integrator of the equations of motion"),
    MF_KEY("motion.fixed_wing.turbulence", MF_KEY_CHOICE, 0, "", "none", 0, 0, turbulences,
           AT(turbulence), "gusts by the Dryden model"),
};
// clang-format on

static const mf_MotionNote *const notes[] = {&mf_note_no_floor, NULL};

static void note_settings(const void *plan, mf_NoteCase *c) {
    (void)plan;
    (void)c;
}

const mf_MotionRow mf_fixed_wing_row = {
    MF_VEHICLE_ROW(fixed_wing),
    .motion = MF_MOTION_FIXED_WING,
    .plan_size = sizeof(mf_WingMotion),
    .integrator = offsetof(mf_WingMotion, config.integrator),
};
