// The `kinematic` motion's host side: its fields and its system.
#include "motion/articulated/build.h"
#include "math/kernel_table.h"
#include "motion/kinematic/motion.h"
#include "motion/table.h"
#include "base/hash.h"
#include "math/scalar.h"
#include "world/attach.h"
#include "world/systems.h"

#include <math.h>

// ---- fields -------------------------------------------------------------------------------------

static const mf_FieldInfo kinematic_fields[] = {
    {"contact.load", "N", "", MF_REAL, MF_FIXED_COUNT, 1, MF_FIELD_STATE,
     "normal force of each contact with the ground, 0 in the air; `kinematic`: the weight, "
     "distributed evenly"},
    {"stance.holds", "1", "", MF_REAL, MF_FIXED_COUNT, 1, MF_FIELD_STATE,
     "1 for each standing foot contact, else 0"},
    {"stance.anchor", "m", "world", MF_REAL, MF_FIXED_COUNT, 3, MF_FIELD_STATE,
     "position of each standing foot contact"},
    {"ball.orientation", "1", "joint", MF_REAL, MF_FIXED_COUNT, 4, MF_FIELD_STATE | MF_FIELD_INPUT,
     "of ball and floating joints: child to joint frame, unit quaternion (w, x, y, z)"},
    {"free.position", "m", "joint", MF_REAL, MF_FIXED_COUNT, 3, MF_FIELD_STATE | MF_FIELD_INPUT,
     "of floating joints: child's origin in the joint frame"},
};

static uint32_t row_count(const mf_KinMotion *motion, uint32_t row) {
    switch (row) {
    case MF_KIN_ROW_LOAD:
        return motion->tree->plan->contact_count;
    case MF_KIN_ROW_BALL:
        return motion->tree->plan->ball_count;
    case MF_KIN_ROW_FREE:
        return motion->tree->plan->free_count;
    default:
        return motion->plan->foot_count;
    }
}

static mf_Status bind_fields(mf_Group *group, mf_KinMotion *motion, mf_Error *error) {
    mf_canonical_rows(group, motion->rows, MF_TREE_ROWS);
    for (uint32_t i = MF_KIN_ROW_LOAD; i < MF_KIN_ROWS; i++) {
        uint32_t count = row_count(motion, i);
        if (count == 0)
            continue;
        MF_TRY(mf_attach_field(group, &kinematic_fields[i - MF_KIN_ROW_LOAD], count,
                               &motion->rows[i], error));
    }
    for (uint32_t i = 0; i < MF_KIN_ROWS; i++)
        motion->row[i] = mf_row(motion->rows[i]);
    motion->dispatch = mf_dispatch_bind(group, MF_MOTION_KINEMATIC);
    return mf_attach_warnings(group, &motion->warnings, error);
}

// ---- stepping -----------------------------------------------------------------------------------

static void step_lanes(const void *context, const mf_DispatchUnit *piece) {
    const mf_KinMotion *motion = context;
    mf_KinBlock work = {.plan = motion->plan,
                        .terrain = mf_terrain_image(motion->tree->terrain),
                        .fault = piece->fault,
                        .warnings = mf_warning_rows(&motion->warnings, piece->block, piece->lane),
                        .scratch = piece->scratch};
    for (uint32_t i = 0; i < MF_KIN_ROWS; i++)
        work.rows[i] = mf_row_at(&motion->row[i], piece->block, piece->lane);
    work.low_position = motion->row[MF_KIN_ROW_POSITION].low;
    if (motion->row[MF_KIN_ROW_LINEAR].low != 0) // longer steps turn by more than rounding loses
        work.low_orientation = motion->row[MF_KIN_ROW_ORIENTATION].low;
    (piece->single ? motion->step_one : motion->step)(&work);
}

static void run_kinematic(const mf_SystemRun *run, void *user) {
    const mf_KinMotion *motion = user;
    mf_dispatch_run(&motion->dispatch, run, step_lanes, motion);
}

static void reset_row(const mf_KinMotion *motion, uint32_t row, uint32_t instance) {
    mf_Field *field = motion->rows[row];
    for (uint32_t c = 0; field != NULL && c < field->components; c++)
        mf_field_set(field, instance, c, row == MF_KIN_ROW_BALL && c % 4 == 0 ? 1.0 : 0.0);
}

static void reset_kinematic(mf_Group *group, uint32_t instance, void *user) {
    const mf_KinMotion *motion = user;
    const mf_ArtMotion *tree = motion->tree;
    const mf_Model *model = mf_group_model(group);
    for (uint32_t row = MF_KIN_ROW_LOAD; row < MF_KIN_ROWS; row++)
        reset_row(motion, row, instance);
    if (model->start_position == NULL)
        return;
    for (uint32_t l = 0; l < tree->plan->link_count; l++) {
        const mf_ArtLink *link = &tree->links[l];
        const mf_Joint *joint = &model->joints[link->joint];
        const double *start = model->start_position + joint->position_address;
        if (link->inner)
            mf_field_set(motion->rows[MF_KIN_ROW_FREE], instance, link->row, start[link->row % 3]);
        else if (link->kind == MF_ART_BALL)
            mf_field_write(motion->rows[MF_KIN_ROW_BALL], instance, 4 * link->row, 4,
                           start + (joint->type == MF_JOINT_FLOATING ? 3 : 0));
    }
}

static void let_go(mf_Group *group, uint32_t instance, void *user) {
    const mf_KinMotion *motion = user;
    (void)group;
    reset_row(motion, MF_KIN_ROW_LOAD, instance);
    reset_row(motion, MF_KIN_ROW_HOLDS, instance);
    reset_row(motion, MF_KIN_ROW_ANCHOR, instance);
}

static mf_Status choose_kernel(mf_KinMotion *motion, mf_Group *group, mf_Error *error) {
    size_t (*wide)(const mf_KinPlan *plan), (*single)(const mf_KinPlan *plan);
    const mf_KernelPick pick = mf_dispatch_kernels(group);
    motion->double_precision = pick.double_precision;
    MF_KERNEL_CHOOSE(motion->step, motion->step_one, mf_kinematic_step, pick);
    MF_KERNEL_CHOOSE(wide, single, mf_kinematic_scratch_size, pick);
    return mf_dispatch_make_scratch(group, &motion->dispatch, wide(motion->plan),
                                    single(motion->plan), error);
}

static uint64_t hash_kinematic(const void *user) {
    const mf_KinMotion *motion = user;
    uint64_t hash = mf_hash_u32(MF_HASH_START, motion->tree->plan->fixed);
    for (uint32_t i = 0; i < motion->plan->foot_count; i++)
        hash = mf_hash_u32(hash, motion->feet[i].row);
    return mf_hash_doubles(hash, motion->constants_f64, motion->plan->value_count);
}

static const char *const kinematic_reads[] = {"joint.target", "?ball.orientation", "?free.position",
                                              "?motion.level", NULL};
static const char *const kinematic_writes[] =
    MF_NAMES("base.position", "base.orientation", "base.linear_velocity", "base.angular_velocity",
             "joint.angle", "joint.rate", "?contact.load", "?stance.holds", "?stance.anchor",
             "fault.word", "warning.word", "warning.steps", "warning.residual");

const mf_KinMotion *mf_kin_motion_of(const mf_Group *group) {
    return mf_motion_plan(group, &mf_kinematic_row);
}

static mf_Status make_kinematic(mf_Group *group, const mf_MotionsConfig *motions, void **plan,
                                mf_Error *error) {
    mf_KinMotion *motion = *plan;
    MF_TRY(mf_kin_make(group, &motions->kinematic, motion, error));
    MF_TRY(bind_fields(group, motion, error));
    return choose_kernel(motion, group, error);
}

// ---- the row in the motion table ----------------------------------------------------------------

static mf_ArticulatedBase row_base(const void *motion) {
    return ((const mf_KinMotion *)motion)->config.base;
}

static void row_momentum(const mf_Group *group, const void *plan, uint32_t instance,
                         double center[3], double linear[3], double angular[3]) {
    (void)group;
    mf_kinematic_center(plan, instance, center);
    mf_vec3_set(linear, 0, 0, 0);
    mf_vec3_set(angular, 0, 0, 0);
}

static mf_MotionEnergy row_energy(const mf_Group *group, const void *plan, uint32_t instance) {
    double center[3];
    mf_kinematic_center(plan, instance, center);
    double weight =
        mf_group_model(group)->mass * mf_world_config_of(mf_group_world(group))->gravity;
    return (mf_MotionEnergy){.potential = weight * center[2]};
}

static void row_defaults(mf_MotionsConfig *config) {
    config->kinematic = (mf_KinematicConfig){
        .struct_size = sizeof(mf_KinematicConfig), .margin = 1e-9, .settle_height = (double)NAN};
}

static const mf_MotionNote *const notes[] = {&mf_note_speeds,      &mf_note_floating,
                                             &mf_note_base_shapes, &mf_note_fixed_shapes,
                                             &mf_note_own_law,     NULL};

static void note_settings(const void *plan, mf_NoteCase *c) {
    c->contacts = true;
    if (plan != NULL)
        c->shapes = ((const mf_KinMotion *)plan)->config.shapes;
}

#define AT(member) offsetof(mf_MotionsConfig, kinematic.member)
const mf_MotionRow mf_kinematic_row = {
    .name = "kinematic",
    .motion = MF_MOTION_KINEMATIC,
    .limitation = "falls, pushes, slipping, any force: feet do not slip, joints track their "
                  "targets exactly",
    .level = true,
    .task_step = 0.01,
    .plan_size = sizeof(mf_KinMotion),
    .make = make_kinematic,
    .hash = hash_kinematic,
    .run = run_kinematic,
    .reset = reset_kinematic,
    .refresh = let_go,
    .destroy = mf_kin_destroy,
    .reads = kinematic_reads,
    .writes = kinematic_writes,
    .enter = let_go,
    .base = row_base,
    .defaults = row_defaults,
    .common = {.shapes = AT(shapes)},
    .notes = {.shared = mf_notes_of_lower_levels, .list = notes, .settings = note_settings},
    .momentum = row_momentum,
    .energy = row_energy,
};
