// The `points` motion's host side: its fields, its motion, and audits in plain double code.
#include "motion/points/motion.h"
#include "base/floats.h"
#include "math/kernel_table.h"
#include "motion/table.h"
#include "base/hash.h"
#include "math/scalar.h"
#include "world/attach.h"
#include "world/systems.h"

#include <math.h>
#include <string.h>

static const mf_FieldInfo points_fields[] = {
    {"body.points", "m", "body", MF_REAL, MF_PER_CONTACT, 3, MF_FIELD_STATE,
     "contact points relative to the center of mass, base axes"},
    {"body.center", "m", "body", MF_REAL, MF_PER_INSTANCE, 3, MF_FIELD_STATE,
     "center of mass in the base frame"},
    {"body.inertia", "kg m^2", "body", MF_REAL, MF_PER_INSTANCE, 6, MF_FIELD_STATE,
     "about the center of mass, base axes: xx, yy, zz, xy, xz, yz"},
    {"body.inverse_inertia", "1/(kg m^2)", "body", MF_REAL, MF_PER_INSTANCE, 6, MF_FIELD_STATE,
     "inverse of body.inertia: xx, yy, zz, xy, xz, yz"},
    {"point.anchor", "m", "world", MF_REAL, MF_PER_CONTACT, 3, MF_FIELD_STATE,
     "anchor of each contact; valid while it carries load"},
    {"point.load", "N", "world", MF_REAL, MF_PER_CONTACT, 1, MF_FIELD_STATE,
     "normal force of each contact point with the ground, 0 in the air"},
    {"base.force", "N", "world", MF_REAL, MF_PER_INSTANCE, 3, MF_FIELD_STATE | MF_FIELD_INPUT,
     "external force on the base link's origin"},
    {"base.torque", "N m", "world", MF_REAL, MF_PER_INSTANCE, 3, MF_FIELD_STATE | MF_FIELD_INPUT,
     "external torque on the base link"},
    {"point.residual", "1", "", MF_REAL, MF_PER_INSTANCE, 1, MF_FIELD_STATE,
     "relative residual of the contact solution in the last step"},
};

static mf_Status bind_fields(mf_Group *group, mf_PointsMotion *motion, mf_Error *error) {
    mf_canonical_rows(group, motion->rows, MF_TREE_ROWS);
    for (int i = MF_ROW_POINTS; i < MF_POINTS_ROWS; i++) {
        const mf_FieldInfo *info = &points_fields[i - MF_ROW_POINTS];
        if (i >= MF_ROW_RESIDUAL && !motion->plan->coupled)
            continue;
        MF_TRY(mf_attach_field(group, info, 0, &motion->rows[i], error));
    }
    motion->wrench = mf_group_find_field(group, "wrench.link");
    motion->wrench_count = mf_group_find_field(group, "wrench.count");
    motion->dispatch = mf_dispatch_bind(group, MF_MOTION_POINTS);
    for (int i = 0; i < MF_POINTS_ROWS; i++)
        motion->row[i] = mf_row(motion->rows[i]);
    if (motion->row[MF_ROW_LINEAR].low == 0) // longer steps turn by more than rounding loses
        motion->row[MF_ROW_ORIENTATION].low = 0;
    motion->wrench_row = mf_row(motion->wrench_count != NULL ? motion->wrench : NULL);
    return mf_attach_warnings(group, &motion->warnings, error);
}

// ---- stepping -----------------------------------------------------------------------------------

static void bind_block(const mf_PointsMotion *motion, uint32_t block, uint32_t lane,
                       mf_PointsBlock *work) {
    work->plan = motion->plan;
    work->terrain = motion->terrain;
    if (motion->varied != NULL)
        work->varied = (const char *)motion->varied + lane * motion->row[MF_ROW_POSITION].value;
    if (motion->numbers != NULL)
        work->varied = mf_row_at(&motion->numbers_row, block, lane);
    // All are of the group's width. Those of joints that a model does not have are not read.
    const size_t across = lane * motion->row[MF_ROW_POSITION].value;
    for (int i = 0; i < MF_ROW_RESIDUAL; i++)
        work->rows[i] =
            (void *)((uintptr_t)motion->row[i].base + block * motion->row[i].stride + across);
    work->residual = mf_row_at(&motion->row[MF_ROW_RESIDUAL], block, lane);
    for (int i = 0; i < MF_ROW_ANGLE; i++)
        work->low[i] = motion->row[i].low;
    const size_t first = (size_t)block * MF_BLOCK + lane;
    work->fault = (uint32_t *)motion->dispatch.fault->data + first;
    work->wrench = mf_row_at(&motion->wrench_row, block, lane);
    work->wrench_count = NULL;
    if (work->wrench == NULL)
        return;
    work->wrench_count = (const uint32_t *)motion->wrench_count->data + first;
    work->wrench_components = motion->wrench->components;
}

typedef struct PointsRun {
    const mf_PointsMotion *motion;
    bool joints_due;
} PointsRun;

static void step_lanes(const void *context, const mf_DispatchUnit *piece) {
    const PointsRun *run = context;
    mf_PointsBlock work;
    work.varied = NULL;
    work.joints_due = run->joints_due;
    work.only_refresh = false;
    bind_block(run->motion, piece->block, piece->lane, &work);
    work.fault = piece->fault;
    work.scratch = piece->scratch;
    work.warnings = mf_warning_rows(&run->motion->warnings, piece->block, piece->lane);
    if (work.varied != NULL)
        (piece->single ? run->motion->step_one_varied : run->motion->step_varied)(&work);
    else
        (piece->single ? run->motion->step_one : run->motion->step)(&work);
}

static void run_points(const mf_SystemRun *run, void *user) {
    const mf_PointsMotion *motion = user;
    const PointsRun points = {.motion = motion, .joints_due = run->tick % motion->interval == 0};
    mf_dispatch_run(&motion->dispatch, run, step_lanes, &points);
}

static void refresh_instance(const mf_PointsMotion *motion, uint32_t instance) {
    mf_PointsBlock work = {.only_refresh = true};
    bind_block(motion, instance / MF_BLOCK, instance % MF_BLOCK, &work);
    work.scratch = mf_scratch_borrow(motion->dispatch.scratch);
    (work.varied != NULL ? motion->step_one_varied : motion->step_one)(&work);
    mf_scratch_return(motion->dispatch.scratch, work.scratch);
}

static void reset_points(mf_Group *group, uint32_t instance, void *user) {
    const mf_PointsMotion *motion = user;
    (void)group;
    static const int rows[] = {MF_ROW_ANCHOR, MF_ROW_LOAD, MF_ROW_FORCE, MF_ROW_TORQUE,
                               MF_ROW_RESIDUAL};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        mf_field_clear(motion->rows[rows[i]], instance);
    refresh_instance(motion, instance);
}

// The body at the angles that somebody wrote.
static void refresh_points(mf_Group *group, uint32_t instance, void *user) {
    (void)group;
    refresh_instance(user, instance);
}

static void destroy_points(mf_Context *context, void *user) {
    mf_PointsMotion *motion = user;
    mf_release(context, motion->varied);
    mf_release(context, (void *)motion->plan);
    mf_release(context, motion);
}

static mf_Status choose_kernel(mf_PointsMotion *motion, mf_Group *group, mf_Error *error) {
    size_t (*wide)(const mf_PointsPlan *plan), (*single)(const mf_PointsPlan *plan);
    const mf_KernelPick pick = mf_dispatch_kernels(group);
    MF_KERNEL_CHOOSE(motion->step, motion->step_one, mf_points_step, pick);
    MF_KERNEL_CHOOSE(motion->step_varied, motion->step_one_varied, mf_points_step_varied, pick);
    MF_KERNEL_CHOOSE(wide, single, mf_points_scratch_size, pick);
    return mf_dispatch_make_scratch(group, &motion->dispatch, wide(motion->plan),
                                    single(motion->plan), error);
}

static const char *const points_reads[] = {
    "joint.target", "base.force",    "base.torque", "?motion.level",
    "?wrench.link", "?wrench.count", NULL};
static const char *const points_writes[] =
    MF_NAMES("base.position", "base.orientation", "base.linear_velocity", "base.angular_velocity",
             "joint.angle", "joint.rate", "body.points", "body.center", "body.inertia",
             "body.inverse_inertia", "point.anchor", "point.load", "?point.residual", "fault.word",
             "warning.word", "warning.steps", "warning.residual");

static uint64_t hash_points(const void *plan) {
    const mf_PointsConfig *config = &((const mf_PointsMotion *)plan)->config;
    const double reals[] = {config->friction_coefficient, config->compliance,
                            config->contact_margin};
    uint64_t hash = mf_hash_bytes(MF_HASH_START, &config->joint_interval, sizeof(mf_Time));
    hash = mf_hash_u32(hash, (uint32_t)config->friction);
    hash = mf_hash_u32(hash, config->weighted);
    hash = mf_hash_u32(hash, config->keep_momentum);
    return mf_hash_doubles(hash, reals, sizeof reals / sizeof *reals);
}

static mf_Status make_points(mf_Group *group, const mf_MotionsConfig *motions, void **plan,
                             mf_Error *error) {
    mf_PointsMotion *motion = *plan;
    const mf_WorldConfig *world = mf_world_config_of(mf_group_world(group));
    const mf_Model *model = mf_group_model(group);
    motion->config = motions->points;
    motion->context = mf_world_context(mf_group_world(group));
    MF_CHECK(model->base != MF_BASE_FIXED, error, MF_UNSUPPORTED,
             "points: the base of model %s is fixed in the world", model->name);
    MF_TRY(mf_points_check(group, model, &motion->config, error));
    motion->terrain = mf_terrain_image(world->terrain);
    motion->interval = (uint32_t)(motion->config.joint_interval / world->step);
    MF_TRY(mf_points_plan_create(group, model, &motion->config, &motion->plan, error));
    MF_TRY(bind_fields(group, motion, error));
    return choose_kernel(motion, group, error);
}

// ---- robots of several groups -------------------------------------------------------------------

// Robots whose bodies have one tree, with other lengths, masses, limits.
static bool is_alike(const void *user, const void *other) {
    const mf_PointsMotion *a = user, *b = other;
    return a->step == b->step && a->dispatch.level == NULL && b->dispatch.level == NULL &&
           a->numbers == NULL && b->numbers == NULL && mf_points_alike(a->plan, b->plan);
}

// The constants of a plan for some lanes.
static void put_lanes(const mf_PointsMotion *motion, const mf_PointsPlan *plan, uint32_t lane,
                      uint32_t count) {
    const bool narrow = motion->row[MF_ROW_POSITION].value == sizeof(float);
    for (uint32_t c = 0; c < plan->constant_count; c++)
        for (uint32_t i = lane; i < lane + count; i++)
            if (narrow)
                ((float *)motion->varied)[c * MF_BLOCK + i] = mf_points_plan_constants_f32(plan)[c];
            else
                ((double *)motion->varied)[c * MF_BLOCK + i] =
                    mf_points_plan_constants_f64(plan)[c];
}

static bool give_lanes(void *user, const void *other, uint32_t lane, uint32_t count) {
    mf_PointsMotion *motion = user;
    const mf_PointsPlan *own = motion->plan;
    if (other == NULL) {
        mf_release(motion->context, motion->varied);
        motion->varied = NULL;
        return true;
    }
    const mf_PointsPlan *plan = ((const mf_PointsMotion *)other)->plan;
    if (motion->varied == NULL &&
        memcmp(mf_points_plan_constants_f64(own), mf_points_plan_constants_f64(plan),
               own->constant_count * sizeof(double)) == 0)
        return true;
    if (motion->varied == NULL) {
        motion->varied = mf_allocate(motion->context, own->constant_count,
                                     MF_BLOCK * motion->row[MF_ROW_POSITION].value);
        if (motion->varied == NULL)
            return false;
        put_lanes(motion, own, 0, MF_BLOCK);
    }
    put_lanes(motion, plan, lane, count);
    return true;
}

static const mf_Alike alike = {.alike = is_alike, .lanes = give_lanes};

static mf_Status begin_points(mf_Group *group, const mf_MotionsConfig *motions, void *plan,
                              mf_Error *error) {
    (void)motions;
    (void)plan;
    (void)error;
    mf_attach_alike(group, mf_points_row.name, &alike);
    return MF_OK;
}

// ---- audits -------------------------------------------------------------------------------------

// Angular momentum in body axes and the kinetic energy of the rotation.
static double angular_momentum(const mf_PointsMotion *motion, uint32_t instance,
                               double momentum[3]) {
    double i[6], w[3];
    mf_field_read(motion->rows[MF_ROW_INERTIA], instance, 0, 6, i);
    mf_field_read(motion->rows[MF_ROW_ANGULAR], instance, 0, 3, w);
    mf_sym3_apply(momentum, i, w);
    return 0.5 * mf_vec3_dot(momentum, w);
}

static void row_momentum(const mf_Group *group, const void *plan, uint32_t instance,
                         double center[3], double linear[3], double angular[3]) {
    const mf_PointsMotion *motion = plan;
    double q[4], position[3], local[3], velocity[3], rate[3], arm[3], angular_velocity[3],
        momentum[3];
    mf_field_read(motion->rows[MF_ROW_ORIENTATION], instance, 0, 4, q);
    mf_field_read(motion->rows[MF_ROW_POSITION], instance, 0, 3, position);
    mf_field_read(motion->rows[MF_ROW_CENTER], instance, 0, 3, local);
    mf_field_read(motion->rows[MF_ROW_LINEAR], instance, 0, 3, velocity);
    mf_field_read(motion->rows[MF_ROW_ANGULAR], instance, 0, 3, rate);
    mf_quat_rotate(arm, q, local);
    mf_quat_rotate(angular_velocity, q, rate);
    angular_momentum(motion, instance, momentum);
    mf_quat_rotate(angular, q, momentum);
    double mass = mf_points_number(motion, MF_PLAN_MASS, instance);
    (void)group;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        center[i] = position[i] + arm[i];
        linear[i] =
            mass * (velocity[i] + angular_velocity[j] * arm[k] - angular_velocity[k] * arm[j]);
    }
}

static mf_MotionEnergy row_energy(const mf_Group *group, const void *plan, uint32_t instance) {
    const mf_PointsMotion *motion = plan;
    double center[3], linear[3], angular[3], momentum[3];
    row_momentum(group, plan, instance, center, linear, angular);
    double mass = mf_points_number(motion, MF_PLAN_MASS, instance);
    double gravity = mf_world_config_of(mf_group_world(group))->gravity;
    mf_MotionEnergy energy = {.kinetic = angular_momentum(motion, instance, momentum)};
    for (int i = 0; i < 3; i++)
        energy.kinetic += 0.5 * linear[i] * linear[i] / mass;
    energy.potential = mass * gravity * center[2];
    for (uint32_t c = 0; c < motion->plan->contact_count; c++) {
        double load = mf_field_get(motion->rows[MF_ROW_LOAD], instance, c);
        energy.elastic += 0.5 * load * load * mf_points_number(motion, MF_PLAN_SOFTNESS, instance);
    }
    return energy;
}

// ---- the row in the motion table ----------------------------------------------------------------

static void row_defaults(mf_MotionsConfig *config) {
    config->points = (mf_PointsConfig){.struct_size = sizeof(mf_PointsConfig),
                                       .joint_interval = 80 * MF_MILLISECOND,
                                       .friction = MF_FRICTION_FIT,
                                       .friction_coefficient = INFINITY,
                                       .compliance = 0.1,
                                       .contact_margin = 0.001};
}

static const mf_MotionNote *const notes[] = {&mf_note_own_numbers, &mf_note_floating,
                                             &mf_note_own_law, NULL};

static void note_settings(const void *plan, mf_NoteCase *c) {
    (void)plan;
    c->contacts = true;
    c->shapes = false;
}

#define AT(member) offsetof(mf_MotionsConfig, points.member)
static const char *const frictions[] = {"fit", "coupled", NULL};

// clang-format off
static const mf_Key row_keys[] = {
    MF_KEY_GROUP("motion.points", "one rigid body of mass points over a height map"),
    MF_KEY("motion.points.joint_interval", MF_KEY_TIME, MF_KEY_AUTO, "s", "auto", 1e-6, 3600, NULL,
           AT(joint_interval), "time between joint updates, a multiple of world.step; `auto`: 0.08 "
                               "s, as published; with gaits control_interval"),
    MF_KEY("motion.points.friction", MF_KEY_CHOICE, 0, "", "fit", 0, 0, frictions,
           AT(friction), "`fit`: displacement and yaw by least squares over the contacts; "
           "`coupled`: roll and pitch too"),
    MF_KEY("motion.points.weighted", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL,
           AT(weighted), "weight contacts by their load"),
    MF_KEY("motion.points.friction_coefficient", MF_KEY_REAL, MF_KEY_ABOVE | MF_KEY_INFINITE, "1",
           ".inf", 0, 1e6, NULL, AT(friction_coefficient),
           "Coulomb friction coefficient; .inf: contacts never slip"),
    MF_KEY("motion.points.keep_momentum", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL,
           AT(keep_momentum), "in the air the base rotates against its joints, so that angular "
                              "momentum is conserved"),
    MF_KEY("motion.points.compliance", MF_KEY_REAL, 0, "1", "0.1", 1e-4, 1, NULL,
           AT(compliance), "contact compliance relative to the step"),
    MF_KEY("motion.points.contact_margin", MF_KEY_REAL, 0, "m", "0.001", 0, 1, NULL,
           AT(contact_margin), "points within this distance of the ground count as contacts"),
};
// clang-format on

const mf_MotionRow mf_points_row = {
    .name = "points",
    .motion = MF_MOTION_POINTS,
    .limitation =
        "reaction of swinging limbs on the body; torque limits; feet with edges that roll",
    .level = true,
    .dynamic = true,
    .task_step = 0.01,
    .plan_size = sizeof(mf_PointsMotion),
    .make = make_points,
    .hash = hash_points,
    .begin = begin_points,
    .run = run_points,
    .reset = reset_points,
    .refresh = refresh_points,
    .destroy = destroy_points,
    .reads = points_reads,
    .writes = points_writes,
    .enter = refresh_points,
    .defaults = row_defaults,
    .common = {.control = AT(joint_interval), .friction = AT(friction_coefficient)},
    .keys = row_keys,
    .key_count = sizeof row_keys / sizeof *row_keys,
    .notes = {.shared = mf_notes_of_lower_levels, .list = notes, .settings = note_settings},
    .momentum = row_momentum,
    .energy = row_energy,
    .vary = mf_points_vary,
    .only_joints = true,
};
