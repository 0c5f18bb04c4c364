// The `articulated` motion's host side: its fields, its system, and answers about one instance.
#include "motion/articulated/build.h"
#include "base/floats.h"
#include "math/kernel_table.h"
#include "motion/articulated/actuator/commands.h"
#include "motion/articulated/constraint/sparse.h"
#include "motion/articulated/host.h"
#include "motion/articulated/sensing/sensing.h"
#include "motion/articulated/step.h"
#include "motion/articulated/vary.h"
#include "motion/table.h"
#include "math/scalar.h"
#include "world/attach.h"
#include "world/systems.h"

#include <math.h>

static mf_ArticulatedConfig default_config(void) {
    return (mf_ArticulatedConfig){.struct_size = sizeof(mf_ArticulatedConfig),
                                  .servo = mf_servo(),
                                  .motors = true,
                                  .limits = true,
                                  .limit_damping = 1.0,
                                  .input_limits = true,
                                  .friction_rate = 1e-3,
                                  .contacts = true,
                                  .contact_damping = (double)NAN,
                                  .contact_ratio = 1.0,
                                  .friction = (double)NAN,
                                  .slip_speed = 1e-4,
                                  .contact_depth = 0.02,
                                  .solver_rounds = 30,
                                  .self_contacts = true};
}

// ---- fields -------------------------------------------------------------------------------------

static const mf_FieldInfo articulated_fields[] = {
    {"joint.torque", "N m", "joint", MF_REAL, MF_PER_JOINT, 1, MF_FIELD_STATE | MF_FIELD_INPUT,
     "external torques of hinges; N for slides"},
    {"base.force", "N", "world", MF_REAL, MF_PER_INSTANCE, 3, MF_FIELD_STATE | MF_FIELD_INPUT,
     "external force on the base link's origin"},
    {"base.torque", "N m", "world", MF_REAL, MF_PER_INSTANCE, 3, MF_FIELD_STATE | MF_FIELD_INPUT,
     "external torque on the base link"},
    {"ball.orientation", "1", "joint", MF_REAL, MF_FIXED_COUNT, 4,
     MF_FIELD_STATE | MF_FIELD_INPUT | MF_FIELD_SUM,
     "of ball and floating joints: child to joint frame, unit quaternion (w, x, y, z)"},
    {"ball.rate", "rad/s", "joint", MF_REAL, MF_FIXED_COUNT, 3,
     MF_FIELD_STATE | MF_FIELD_INPUT | MF_FIELD_RATE_SUM,
     "of ball and floating joints: angular velocity against the parent, child's axes"},
    {"ball.torque", "N m", "joint", MF_REAL, MF_FIXED_COUNT, 3, MF_FIELD_STATE | MF_FIELD_INPUT,
     "external torques of ball and floating joints, child's axes"},
    {"free.position", "m", "joint", MF_REAL, MF_FIXED_COUNT, 3,
     MF_FIELD_STATE | MF_FIELD_INPUT | MF_FIELD_SUM,
     "of floating joints: child's origin in the joint frame"},
    {"free.velocity", "m/s", "joint", MF_REAL, MF_FIXED_COUNT, 3,
     MF_FIELD_STATE | MF_FIELD_INPUT | MF_FIELD_RATE_SUM,
     "of floating joints: velocity of that origin in the joint frame"},
    {"mocap.position", "m", "world", MF_REAL, MF_FIXED_COUNT, 3, MF_FIELD_STATE | MF_FIELD_INPUT,
     "of mocap bodies: origin, for welds, connects and contacts"},
    {"mocap.rotation", "1", "world", MF_REAL, MF_FIXED_COUNT, 4, MF_FIELD_STATE | MF_FIELD_INPUT,
     "of mocap bodies: body to world, quaternion (w, x, y, z) of any length but 0"},
    {"contact.load", "N", "", MF_REAL, MF_FIXED_COUNT, 1, MF_FIELD_STATE,
     "normal force of each contact with the ground, 0 in the air"},
    {"contact.slip", "m/s", "", MF_REAL, MF_FIXED_COUNT, 1, MF_FIELD_STATE,
     "slip speed of each contact at the beginning of the step, 0 in the air"},
    {"actuator.control", "1", "", MF_REAL, MF_FIXED_COUNT, 1, MF_FIELD_STATE | MF_FIELD_INPUT,
     "control of each actuator of the model, in the unit of its file"},
    {"actuator.activation", "1", "", MF_REAL, MF_FIXED_COUNT, 1, MF_FIELD_STATE | MF_FIELD_INPUT,
     "activation of each actuator that has one"},
    {"actuator.slewed", "1", "", MF_REAL, MF_FIXED_COUNT, 2, MF_FIELD_STATE,
     "of each actuator: its control in the last step, within the limit of its change; 1 after the "
     "first step"},
    {"actuator.force", "N", "", MF_REAL, MF_FIXED_COUNT, 1, MF_FIELD_STATE,
     "force of each actuator before its gear, at the beginning of the step; N m on hinges"},
    {"tendon.length", "m", "", MF_REAL, MF_FIXED_COUNT, 1, MF_FIELD_OUTPUT,
     "length of each tendon at the beginning of the last step; sums of angles [rad] where it is "
     "one"},
    {"tendon.force", "N", "", MF_REAL, MF_FIXED_COUNT, 1, MF_FIELD_OUTPUT,
     "pull of each tendon in the last step, > 0 where it shortens it: of its spring, damping, "
     "friction and limits and of actuators; N m of angles"},
    {"warm_start.force", "N", "world", MF_REAL, MF_FIXED_COUNT, 6, MF_FIELD_STATE,
     "of contacts between links, per pair of shapes that may touch: force on the second, and first "
     "moment (N m) of its normal part about the second's link, or about the first's if the second "
     "is fixed to the world"},
    {"warm_start.floating", "N", "world", MF_REAL, MF_FIXED_COUNT, 8, MF_FIELD_STATE,
     "the same of pairs of floating bodies that press, in models with more than 64 of them: both "
     "shapes by their numbers [1] among those of such bodies, force and moment; 0: none"},
    {"step.acceleration", "1", "", MF_REAL, MF_FIXED_COUNT, 1, MF_FIELD_STATE,
     "angular acceleration of the base and accelerations of joints in the previous step, 0 with "
     "contacts: extrapolates velocities to the middle of the next step"},
    {"solver.acceleration", "1", "", MF_REAL, MF_FIXED_COUNT, 1, MF_FIELD_STATE,
     "accelerations of the base, then of links, at the beginning of the last step: initial value "
     "of the constraint solver"},
    {"solver.residual", "1", "", MF_REAL, MF_FIXED_COUNT, 1, MF_FIELD_STATE,
     "MuJoCo's law: root of the relative decrease of the cost by a further iteration; other laws: "
     "relative error of the velocities that contacts between links make"},
    {"solver.iterations", "1", "", MF_REAL, MF_FIXED_COUNT, 1, MF_FIELD_STATE,
     "iterations of the constraint solver in the last step; other laws: rounds after its sweeps"},
    {"servo.gain", "N m/rad", "joint", MF_REAL, MF_PER_JOINT, 1, MF_FIELD_STATE | MF_FIELD_INPUT,
     "gain of each servo, >= 0; N/m for slides"},
    {"servo.damping", "N m s/rad", "joint", MF_REAL, MF_PER_JOINT, 1,
     MF_FIELD_STATE | MF_FIELD_INPUT, "damping of each servo, >= 0; N s/m for slides"},
    {"servo.target_rate", "rad/s", "joint", MF_REAL, MF_PER_JOINT, 1,
     MF_FIELD_STATE | MF_FIELD_INPUT, "rate that the damping of each servo tracks; m/s for slides"},
    {"servo.torque", "N m", "joint", MF_REAL, MF_PER_JOINT, 1, MF_FIELD_STATE | MF_FIELD_INPUT,
     "torque that each servo adds before its effort limits the sum; N for slides"},
    {"sensor.outer", "N", "world", MF_REAL, MF_FIXED_COUNT, 6, MF_FIELD_OUTPUT,
     "per body with force sensors: external force and torque on the body and all that it carries; "
     "N m"},
    {"joint.limit_force", "N m", "", MF_REAL, MF_FIXED_COUNT, 1, MF_FIELD_OUTPUT,
     "force of the limit of each joint, >= 0; N for slides"},
    {"tendon.limit_force", "N", "", MF_REAL, MF_FIXED_COUNT, 1, MF_FIELD_OUTPUT,
     "force of the limit of each tendon, >= 0"},
    {"sensor.touch", "N", "", MF_REAL, MF_FIXED_COUNT, 1, MF_FIELD_OUTPUT,
     "per touch sensor: sum of the normal forces that it feels"},
    {"stage.state", "1", "", MF_REAL, MF_FIXED_COUNT, 1, MF_FIELD_OUTPUT,
     "state of the last stage of the last Runge-Kutta step, see mf_articulated_report_stage"},
    {"sensor.geometry", "1", "", MF_REAL, MF_FIXED_COUNT, 1, MF_FIELD_OUTPUT,
     "values for sensors of contacts and of spatial tendons"},
};

// Whether gyroscopic forces are taken at the middle of the step (aba_velocity.h). A body by itself
// needs no such thing (momentum.h).
static bool reads_ahead(const mf_ArtMotion *motion) {
    return !motion->plan->law && motion->plan->link_count > 0 &&
           motion->plan->integrator == MF_ARTICULATED_IMPLICIT;
}

// How many elements a row of a fixed count has; rows with none are left out.
static uint32_t row_count(const mf_ArtMotion *motion, uint32_t row) {
    switch (row) {
    case MF_ART_ROW_BALL:
    case MF_ART_ROW_BALL_RATE:
    case MF_ART_ROW_BALL_TORQUE:
        return motion->plan->ball_count;
    case MF_ART_ROW_FREE:
    case MF_ART_ROW_FREE_SPEED:
        return motion->plan->free_count;
    case MF_ART_ROW_MOCAP_POSITION:
    case MF_ART_ROW_MOCAP_ROTATION:
        return motion->plan->mocap_count;
    case MF_ART_ROW_LOAD:
    case MF_ART_ROW_SLIP:
        return motion->plan->contact_count;
    case MF_ART_ROW_ACTIVATION:
        return motion->plan->has_activation ? motion->plan->actuator_count : 0;
    case MF_ART_ROW_SLEWED:
        return motion->plan->has_slew ? motion->plan->actuator_count : 0;
    case MF_ART_ROW_CONTROL:
    case MF_ART_ROW_ACTUATOR_FORCE:
        return motion->plan->actuator_count;
    case MF_ART_ROW_TENDON_LENGTH:
    case MF_ART_ROW_TENDON_FORCE:
        return motion->plan->span_count;
    case MF_ART_ROW_WARM_CONTACT:
        return motion->plan->warm_starts ? motion->collide->pair_count : 0;
    case MF_ART_ROW_WARM_FLOATING:
        return warm_start_slots(motion->plan);
    case MF_ART_ROW_BEFORE:
        return reads_ahead(motion) ? motion->plan->dof_count : 0;
    case MF_ART_ROW_WARM:
        return motion->plan->law ? motion->plan->dof_count : 0;
    case MF_ART_ROW_RESIDUAL:
    case MF_ART_ROW_ITERATIONS:
        return motion->plan->law || motion->plan->coupled ? 1 : 0;
    case MF_ART_ROW_SERVO_GAIN:
    case MF_ART_ROW_SERVO_DAMPING:
    case MF_ART_ROW_SERVO_RATE:
    case MF_ART_ROW_SERVO_TORQUE:
        return motion->config.servo_inputs ? 1 : 0; // for each joint
    case MF_ART_ROW_EXTERNAL:
        return motion->plan->zone_count;
    case MF_ART_ROW_LIMIT:
    case MF_ART_ROW_TENDON_LIMIT:
    case MF_ART_ROW_TOUCH:
    case MF_ART_ROW_STAGE:
    case MF_ART_ROW_SENSING:
        return 0; // added with what reports them
    default:
        return 1;
    }
}

static void bind_row(mf_ArtMotion *motion, uint32_t row) {
    motion->row[row] = mf_row(motion->rows[row]);
}

void mf_art_bind_rows(mf_ArtMotion *motion) {
    for (uint32_t i = 0; i < MF_ART_ROWS; i++)
        bind_row(motion, i);
}

void mf_art_bind_canonical(mf_Group *group, mf_ArtMotion *motion) {
    mf_canonical_rows(group, motion->rows, MF_TREE_ROWS);
}

const mf_FieldInfo *mf_art_field_info(uint32_t row) {
    return &articulated_fields[row - MF_ART_ROW_TORQUE];
}

static mf_Status bind_fields(mf_Group *group, mf_ArtMotion *motion, mf_Error *error) {
    mf_art_bind_canonical(group, motion);
    for (uint32_t i = MF_ART_ROW_TORQUE; i < MF_ART_ROWS; i++) {
        mf_FieldInfo info = articulated_fields[i - MF_ART_ROW_TORQUE];
        uint32_t count = row_count(motion, i);
        if (count == 0)
            continue;
        // With the other laws nothing of them goes on into the next step.
        if (!motion->plan->law && (i == MF_ART_ROW_RESIDUAL || i == MF_ART_ROW_ITERATIONS))
            info.flags = MF_FIELD_OUTPUT;
        MF_TRY(mf_attach_field(group, &info, count, &motion->rows[i], error));
    }
    mf_art_bind_rows(motion);
    motion->wrench = mf_group_find_field(group, "wrench.link");
    motion->wrench_count = mf_group_find_field(group, "wrench.count");
    motion->wrench_row = mf_row(motion->wrench_count != NULL ? motion->wrench : NULL);
    motion->plan->wrench_links = mf_group_model(group)->link_count;
    motion->dispatch = mf_dispatch_bind(group, MF_MOTION_ARTICULATED);
    return mf_attach_warnings(group, &motion->warnings, error);
}

mf_Status mf_art_add_row(mf_Group *group, mf_ArtMotion *motion, uint32_t row, uint32_t count,
                         mf_Error *error) {
    if (count == 0)
        return MF_OK;
    MF_TRY(mf_attach_field(group, &articulated_fields[row - MF_ART_ROW_TORQUE], count,
                           &motion->rows[row], error));
    bind_row(motion, row);
    return MF_OK;
}

// ---- stepping -----------------------------------------------------------------------------------

void mf_art_bind_block(const mf_ArtMotion *motion, const mf_DispatchUnit *piece, mf_ArtBlock *out) {
    const uint32_t block = piece->block, lane = piece->lane;
    *out = (mf_ArtBlock){.plan = motion->plan,
                         .sensing = motion->sensing,
                         .terrain = mf_terrain_image(motion->terrain),
                         .row = motion->row,
                         .fault = piece->fault,
                         .sparse = motion->sparse,
                         .scratch = piece->scratch};
    if (motion->views != NULL)
        out->plan = &motion->views[(size_t)block * MF_BLOCK + lane];
    out->problems =
        motion->problems != NULL ? motion->problems + (size_t)block * MF_BLOCK + lane : NULL;
    out->warnings = mf_warning_rows(&motion->warnings, block, lane);
    for (uint32_t i = 0; i < MF_ART_ROWS; i++)
        out->rows[i] = mf_row_at(&motion->row[i], block, lane);
    out->wrench = mf_row_at(&motion->wrench_row, block, lane);
    if (out->wrench != NULL)
        out->wrench_count =
            (const uint32_t *)motion->wrench_count->data + (size_t)block * MF_BLOCK + lane;
}

static void step_lanes(const void *context, const mf_DispatchUnit *piece) {
    const mf_ArtMotion *motion = context;
    mf_ArtBlock work;
    mf_art_bind_block(motion, piece, &work);
    if (motion->views != NULL)
        (piece->single ? motion->step_one_varied : motion->step_varied)(&work);
    else
        (piece->single ? motion->step_one : motion->step)(&work);
}

static void run_articulated(const mf_SystemRun *run, void *user) {
    const mf_ArtMotion *motion = user;
    mf_dispatch_run(&motion->dispatch, run, step_lanes, motion);
}

static void reset_row(const mf_ArtMotion *motion, uint32_t row, uint32_t instance) {
    mf_Field *field = motion->rows[row];
    for (uint32_t c = 0; field != NULL && c < field->components; c++)
        mf_field_set(field, instance, c, row == MF_ART_ROW_BALL && c % 4 == 0 ? 1.0 : 0.0);
}

// Servos start with the gains of the settings.
static void reset_gains(const mf_ArtMotion *motion, uint32_t instance) {
    for (uint32_t l = 0; motion->config.servo_inputs && l < motion->plan->link_count; l++) {
        const mf_ArtLink *link = &motion->links[l];
        const double *c = mf_art_constants(motion, (int32_t)l);
        if (!(link->drive & MF_ART_HAS_SERVO))
            continue;
        mf_field_set(motion->rows[MF_ART_ROW_SERVO_GAIN], instance, link->joint,
                     mf_art_number(motion, &c[MF_ART_SERVO_GAIN], instance));
        mf_field_set(motion->rows[MF_ART_ROW_SERVO_DAMPING], instance, link->joint,
                     mf_art_number(motion, &c[MF_ART_SERVO_DAMPING], instance));
    }
}

// Mocap bodies start where the file has them, with the base where it is fixed.
static void reset_mocaps(const mf_Group *group, const mf_ArtMotion *motion, uint32_t instance) {
    double base[3], rotate[4], position[3], rotation[4];
    for (uint32_t c = 0; c < 3; c++)
        base[c] = mf_field_get(motion->rows[MF_ART_ROW_POSITION], instance, c);
    for (uint32_t c = 0; c < 4; c++)
        rotate[c] = mf_field_get(motion->rows[MF_ART_ROW_ORIENTATION], instance, c);
    const bool carried = mf_group_model(group)->base == MF_BASE_FIXED;
    for (uint32_t i = 0; i < motion->plan->mocap_count; i++) {
        const mf_ArtMocap *mocap = &motion->mocaps[i];
        mf_vec3_copy(position, mocap->position);
        memcpy(rotation, mocap->rotation, sizeof rotation);
        if (carried) {
            mf_quat_rotate(position, rotate, position);
            mf_vec3_add(position, base, position);
            mf_quat_multiply(rotation, rotate, rotation);
        }
        for (uint32_t c = 0; c < 3; c++)
            mf_field_set(motion->rows[MF_ART_ROW_MOCAP_POSITION], instance, 3 * i + c, position[c]);
        for (uint32_t c = 0; c < 4; c++)
            mf_field_set(motion->rows[MF_ART_ROW_MOCAP_ROTATION], instance, 4 * i + c, rotation[c]);
    }
}

// Ball and floating joints start as the model's start position says.
static void reset_articulated(mf_Group *group, uint32_t instance, void *user) {
    const mf_ArtMotion *motion = user;
    const mf_Model *model = mf_group_model_of(group, instance);
    for (uint32_t row = MF_ART_ROW_TORQUE; row < MF_ART_ROWS; row++)
        reset_row(motion, row, instance);
    reset_gains(motion, instance);
    reset_mocaps(group, motion, instance);
    if (model->start_position == NULL)
        return;
    for (uint32_t l = 0; l < motion->plan->link_count; l++) {
        const mf_ArtLink *link = &motion->links[l];
        const mf_Joint *joint = &model->joints[link->joint];
        const double *start = model->start_position + joint->position_address;
        if (link->inner)
            mf_field_set(motion->rows[MF_ART_ROW_FREE], instance, link->row, start[link->row % 3]);
        else if (link->kind == MF_ART_BALL)
            for (uint32_t c = 0; c < 4; c++)
                mf_field_set(motion->rows[MF_ART_ROW_BALL], instance, 4 * link->row + c,
                             start[(joint->type == MF_JOINT_FLOATING ? 3 : 0) + c]);
    }
}

// The state is another one: nothing is known of the step before.
static void refresh_articulated(mf_Group *group, uint32_t instance, void *user) {
    (void)group;
    reset_row(user, MF_ART_ROW_BEFORE, instance);
}

static void destroy_articulated(mf_Context *context, void *user) {
    mf_art_destroy(context, user);
}

// Scratch for the steps and sensors of a plan of which all counts stand.
static mf_Status make_scratch(mf_Group *group, mf_ArtMotion *motion, mf_Error *error) {
    static const mf_ArtScratchFn table[MF_KERNEL_ROWS][2] =
        MF_KERNEL_TABLE(mf_articulated_scratch_size);
    const mf_KernelPick pick = mf_dispatch_kernels(group);
    static const mf_ArtScratchFn sparse[MF_KERNEL_ROWS][2] =
        MF_KERNEL_TABLE(mf_articulated_sparse_scratch_size);
    const size_t more = sparse[pick.wide][pick.double_precision](motion->plan);
    return mf_dispatch_make_scratch(
        group, &motion->dispatch, table[pick.wide][pick.double_precision](motion->plan) + more,
        table[pick.single][pick.double_precision](motion->plan) + more, error);
}

static const char *const articulated_reads[] = MF_NAMES(
    "joint.target", "joint.torque", "base.force", "base.torque", "?ball.torque",
    "?actuator.control", "?motion.level", "?wrench.link", "?wrench.count", "?servo.gain",
    "?servo.damping", "?servo.target_rate", "?servo.torque", "?mocap.position", "?mocap.rotation");
static const char *const articulated_writes[] = MF_NAMES(
    "base.position", "base.orientation", "base.linear_velocity", "base.angular_velocity",
    "joint.angle", "joint.rate", "?ball.orientation", "?ball.rate", "?free.position",
    "?free.velocity", "?contact.load", "?contact.slip", "?actuator.activation", "?actuator.slewed",
    "?actuator.force", "?warm_start.force", "?warm_start.floating", "?tendon.length",
    "?tendon.force", "?sensor.touch", "?solver.acceleration", "?step.acceleration",
    "?solver.residual", "?solver.iterations", "?sensor.outer", "?joint.limit_force",
    "?tendon.limit_force", "fault.word", "warning.word", "warning.steps", "warning.residual");

static uint64_t hash_articulated(const void *user) {
    const mf_ArtMotion *motion = user;
    const uint32_t settings[] = {motion->plan->integrator,   motion->plan->fixed,
                                 motion->config.limits,      motion->config.self_contacts,
                                 motion->config.contact_law, motion->plan->sweeps,
                                 motion->plan->rounds};
    uint64_t hash = mf_hash_bytes(MF_HASH_START, settings, sizeof settings);
    hash = mf_hash_bytes(hash, &motion->config.friction, sizeof motion->config.friction);
    if (motion->config.servo_inputs)
        hash = mf_hash_bytes(hash, &motion->config.servo_inputs, sizeof(bool));
    return mf_hash_bytes(hash, motion->constants_f64, motion->plan->value_count * sizeof(double));
}

static mf_ArtMotion *find_motion(const mf_Group *group) {
    return mf_motion_plan(group, &mf_articulated_row);
}

const mf_ArtMotion *mf_art_motion_of(const mf_Group *group) {
    return find_motion(group);
}

void mf_art_request_problems(const mf_Group *group, mf_ArtProblem *const *problems) {
    find_motion(group)->problems = problems;
}

static mf_Status make_articulated(mf_Group *group, const mf_MotionsConfig *motions, void **plan,
                                  mf_Error *error) {
    mf_ArtMotion *motion;
    MF_TRY(mf_art_create(group, &motions->articulated, &motion, error));
    *plan = motion;
    MF_TRY(bind_fields(group, motion, error));
    MF_TRY(mf_art_commands_add(group, error));
    const mf_KernelPick pick = mf_dispatch_kernels(group);
    motion->double_precision = pick.double_precision;
    MF_KERNEL_CHOOSE(motion->step, motion->step_one, mf_articulated_step, pick);
    MF_KERNEL_CHOOSE(motion->step_varied, motion->step_one_varied, mf_articulated_step_varied,
                     pick);
    MF_KERNEL_CHOOSE_WIDE(motion->sparse, mf_articulated_sparse, pick);
    return make_scratch(group, motion, error);
}

// All that the kernels read is in the plan and in fields, but for robots that docked ones carry.
static bool is_alike(const void *user, const void *other) {
    const mf_ArtMotion *a = user, *b = other;
    return a->step == b->step && a->plan->bytes == b->plan->bytes &&
           memcmp(a->plan, b->plan, a->plan->bytes) == 0 && a->sensing == NULL &&
           b->sensing == NULL && a->dispatch.level == NULL && b->dispatch.level == NULL &&
           a->numbers == NULL && b->numbers == NULL;
}

static const mf_Alike alike = {.alike = is_alike, .slow = true};

static mf_Status begin_articulated(mf_Group *group, const mf_MotionsConfig *motions, void *plan,
                                   mf_Error *error) {
    (void)motions;
    (void)error;
    mf_sensor_source_set(group, &mf_art_sensor_source);
    if (mf_group_model(group)->dock_count == 0)
        mf_attach_alike(group, mf_articulated_row.name, &alike);
    for (uint32_t i = 0; i < mf_group_count(group); i++)
        reset_articulated(group, i, plan);
    return MF_OK;
}

static mf_Status check_requested(const mf_ArtMotion *motion, bool already, mf_Error *error) {
    MF_NEED(motion != NULL, error, "articulated: the motion of the group is not articulated");
    MF_NEED(motion->numbers == NULL, error,
            "articulated: add sensors before robots get numbers of their own");
    return already ? mf_fail(error, MF_BAD_ARGUMENT, "articulated: forces are already reported")
                   : MF_OK;
}

mf_Status mf_articulated_report_forces(mf_Group *group, const uint32_t *bodies, uint32_t count,
                                       mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(group != NULL, error, "mf_articulated_report_forces: group is NULL");
    mf_ArtMotion *motion = find_motion(group);
    const mf_Model *model = mf_group_model(group);
    MF_TRY(check_requested(motion, motion != NULL && motion->zones != NULL, error));
    for (uint32_t i = 0; i < count; i++)
        if (bodies[i] >= model->body_count && bodies[i] != MF_NONE)
            return mf_fail(error, MF_BAD_ARGUMENT, "articulated: model %s has no body %u",
                           model->name, bodies[i]);
    mf_Context *context = mf_world_context(mf_group_world(group));
    mf_Status status = mf_art_zones_build(motion, model, bodies, count, context, error);
    MF_THEN(status, mf_art_add_row(group, motion, MF_ART_ROW_EXTERNAL, count, error));
    motion->plan->zone_count = status == MF_OK ? count : 0;
    return status == MF_OK ? make_scratch(group, motion, error) : status;
}

mf_Status mf_articulated_report_limits(mf_Group *group, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(group != NULL, error, "mf_articulated_report_limits: group is NULL");
    mf_ArtMotion *motion = find_motion(group);
    const mf_Model *model = mf_group_model(group);
    MF_TRY(check_requested(motion, motion != NULL && motion->plan->keeps_limits, error));
    mf_Status status = mf_art_add_row(group, motion, MF_ART_ROW_LIMIT, model->joint_count, error);
    MF_THEN(status,
            mf_art_add_row(group, motion, MF_ART_ROW_TENDON_LIMIT, model->tendon_count, error));
    motion->plan->keeps_limits = status == MF_OK;
    return status;
}

mf_Status mf_articulated_report_touches(mf_Group *group, const uint32_t *sensors, uint32_t count,
                                        mf_Error *error) {
    MF_NEED(group != NULL && (sensors != NULL || count == 0), error,
            "mf_articulated_report_touches: group or sensors is NULL");
    mf_ArtMotion *motion = find_motion(group);
    const mf_Model *model = mf_group_model(group);
    MF_TRY(check_requested(motion, motion != NULL && motion->plan->touch_count > 0, error));
    for (uint32_t i = 0; i < count; i++)
        if (sensors[i] >= model->sensor_count || model->sensors[sensors[i]].type != MF_SENSOR_TOUCH)
            return mf_fail(error, MF_BAD_ARGUMENT, "articulated: model %s has no touch sensor %u",
                           model->name, sensors[i]);
    mf_Context *context = mf_world_context(mf_group_world(group));
    mf_Status status = mf_art_touches_build(motion, model, sensors, count, context, error);
    MF_THEN(status, mf_art_add_row(group, motion, MF_ART_ROW_TOUCH, count, error));
    motion->plan->touch_count = status == MF_OK ? count : 0;
    return status == MF_OK ? make_scratch(group, motion, error) : status;
}

mf_Status mf_articulated_report_stage(mf_Group *group, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(group != NULL, error, "mf_articulated_report_stage: group is NULL");
    mf_ArtMotion *motion = find_motion(group);
    mf_Status status = check_requested(motion, motion != NULL && motion->plan->keeps_stage, error);
    if (status == MF_OK && motion->plan->integrator != MF_ARTICULATED_RK4)
        status = mf_fail(error, MF_BAD_ARGUMENT, "articulated: only RK4 has stages");
    MF_THEN(status, mf_art_add_row(group, motion, MF_ART_ROW_STAGE,
                                   13 + 2 * motion->plan->joint_count +
                                       7 * motion->plan->ball_count + 6 * motion->plan->free_count,
                                   error));
    if (motion != NULL)
        motion->plan->keeps_stage = motion->plan->keeps_stage || status == MF_OK;
    return status;
}

mf_Servo mf_articulated_servo(const mf_Group *group, uint32_t joint) {
    const mf_ArtMotion *motion = find_motion(group);
    mf_Servo servo = mf_servo();
    if (motion == NULL || joint >= mf_group_model(group)->joint_count ||
        motion->joint_links[joint] == MF_NONE)
        return servo;
    const mf_ArtLink *link = &motion->links[motion->joint_links[joint]];
    const double *c = mf_art_constants(motion, (int32_t)motion->joint_links[joint]);
    if (!(link->drive & MF_ART_HAS_SERVO))
        return servo;
    servo.gain = c[MF_ART_SERVO_GAIN];
    servo.damping = c[MF_ART_SERVO_DAMPING];
    servo.backlash = 2.0 * c[MF_ART_BACKLASH];
    if (link->drive & MF_ART_HAS_EFFORT)
        servo.effort = c[MF_ART_EFFORT];
    if (link->drive & MF_ART_HAS_SPEED)
        servo.speed = c[MF_ART_SERVO_SPEED] / servo.damping;
    return servo;
}

const mf_ArticulatedConfig *mf_articulated_config_of(const mf_Group *group) {
    const mf_ArtMotion *motion = find_motion(group);
    return motion != NULL ? &motion->config : NULL;
}

// ---- the row in the motion table ----------------------------------------------------------------

static mf_ArticulatedBase row_base(const void *motion) {
    return ((const mf_ArtMotion *)motion)->config.base;
}

static mf_MotionEnergy row_energy(const mf_Group *group, const void *plan, uint32_t instance) {
    (void)group;
    return mf_art_energy(plan, instance, true);
}

static void row_momentum(const mf_Group *group, const void *plan, uint32_t instance,
                         double center[3], double linear[3], double angular[3]) {
    (void)group;
    mf_art_momentum(plan, instance, true, center, linear, angular);
}

static void row_defaults(mf_MotionsConfig *config) {
    config->articulated = default_config();
}

static uint32_t softened(const mf_NoteCase *c) {
    const mf_ArtMotion *motion = c->group != NULL ? find_motion(c->group) : NULL;
    return motion != NULL ? motion->softened : 0;
}

static const mf_MotionNote note_softened = {
    .count = softened,
    .text = "contacts (#): friction is softer than impratio and solimp say, as single precision "
            "cannot hold it; precision double does"};

static const mf_MotionNote *const notes[] = {
    &mf_note_own_numbers,     &note_softened,          &mf_note_planars,
    &mf_note_tendon_efforts,  &mf_note_lifted,         &mf_note_alone_links,
    &mf_note_alone_obstacles, &mf_note_points_instead, &mf_note_kept_off,
    &mf_note_kept_contacts,   &mf_note_ground_added,   &mf_note_no_ground,
    &mf_note_alone_world,     &mf_note_mocap_children, NULL};

static void note_settings(const void *plan, mf_NoteCase *c) {
    const mf_Model *model = c->model;
    c->fixed_touches = true;
    if (plan != NULL) {
        c->articulated = ((const mf_ArtMotion *)plan)->config;
        c->contacts = c->articulated.contacts;
        c->shapes = c->articulated.shapes;
        return;
    }
    c->articulated.contact_law = mf_art_law(model, &c->articulated);
    if (model->physics.integrator == MF_PHYSICS_RK4 && model->body_count > 0)
        c->articulated.integrator = MF_ARTICULATED_RK4;
}

static const char *note_own(const mf_NoteCase *c, uint32_t index) {
    return mf_art_note(c->model, &c->articulated, index);
}

#define AT(member) offsetof(mf_MotionsConfig, articulated.member)
static const char *const integrators[] = {"implicit", "euler", "rk4", "auto", NULL};
static const char *const laws[] = {"auto", "mujoco", "compliant", "hard", NULL};

// clang-format off
static const mf_Key row_keys[] = {
    MF_KEY_GROUP("motion.articulated", "full multibody dynamics"),
    MF_KEY("motion.articulated.integrator", MF_KEY_CHOICE, 0, "", "auto", 0, 0, integrators,
           AT(integrator), "integrator of the equations of motion; `auto`: `rk4` if the model's "
           "file specifies it and contacts allow it, else `implicit` "
           "(docs/explanation/articulated.md)"),
    MF_KEY("motion.articulated.contact_law", MF_KEY_CHOICE, 0, "", "auto", 0, 0, laws,
           AT(contact_law), "law of contacts and limits; `auto`: `mujoco` for MJCF files, else "
           "`compliant`"),
};
// clang-format on

const mf_MotionRow mf_articulated_row = {
    .name = "articulated",
    .motion = MF_MOTION_ARTICULATED,
    .limitation = "bending links, heat of motors, cables",
    .level = true,
    .dynamic = true,
    .make = make_articulated,
    .hash = hash_articulated,
    .begin = begin_articulated,
    .run = run_articulated,
    .reset = reset_articulated,
    .refresh = refresh_articulated,
    .destroy = destroy_articulated,
    .reads = articulated_reads,
    .writes = articulated_writes,
    .any_gravity = true,
    .averages = MF_ARTICULATED_RK4,
    .integrator = offsetof(mf_ArtMotion, config.integrator),
    .base = row_base,
    .defaults = row_defaults,
    .common = {.shapes = AT(shapes),
               .contacts = AT(contacts),
               .limits = AT(limits),
               .friction = AT(friction)},
    .keys = row_keys,
    .key_count = sizeof row_keys / sizeof *row_keys,
    .notes = {.list = notes, .settings = note_settings, .own = note_own},
    .momentum = row_momentum,
    .energy = row_energy,
    .vary = mf_art_vary,
};
