// The host side of driven robots.
#include "motion/body/driven.h"
#include "math/kernel_table.h"
#include "math/scalar.h"
#include "motion/articulated/build.h"
#include "motion/articulated/host.h"
#include "world/attach.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- checks -------------------------------------------------------------------------------------

static mf_Status check_config(const mf_Group *group, const mf_DrivenConfig *config,
                              mf_Error *error) {
    const mf_Time step = mf_world_config_of(mf_group_world(group))->step;
    const mf_Time interval = config->common.control_interval;
    if (config->common.struct_size != config->given_size)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s: start from mf_motions_config()",
                       config->row->name);
    MF_NEED(interval > 0 && interval % step == 0, error,
            "%s.control_interval: need a multiple of the step (%lld ns), found %lld ns",
            config->row->name, (long long)step, (long long)interval);
    if (!(config->separation >= 0.0 && config->separation <= 1.0))
        return mf_fail(error, MF_BAD_ARGUMENT, "%s.separation: need 0 .. 1", config->row->name);
    MF_NEED(isnan(config->torsional_friction) ||
                (config->torsional_friction >= 0.0 && config->torsional_friction <= 1e6),
            error, "%s.torsional_friction: need 0 .. 1e6", config->row->name);
    const mf_Model *model = mf_group_model(group);
    for (uint32_t j = 0; j < model->joint_count; j++)
        if (model->joints[j].type == MF_JOINT_FLOATING)
            return mf_fail(error, MF_UNSUPPORTED,
                           "%s: joint %s of model %s floats, which this motion does not support; "
                           "articulated can move it",
                           config->row->name, model->joints[j].name, model->name);
    return MF_OK;
}

// The plan of the tree knows itself by the name of the motion that it was made for first.
static mf_Status rename_error(const char *name, mf_Status status, mf_Error *error) {
    static const char other[] = "articulated";
    const size_t length = sizeof other - 1;
    if (status == MF_OK || error == NULL || strncmp(error->message, other, length) != 0)
        return status;
    char rest[sizeof error->message];
    snprintf(rest, sizeof rest, "%s", error->message + length);
    snprintf(error->message, sizeof error->message, "%s%.*s", name,
             (int)(sizeof error->message - 32), rest);
    return status;
}

// ---- fields -------------------------------------------------------------------------------------

static const mf_FieldInfo driven_fields[] = {
    {"joint.acceleration", "rad/s^2", "joint", MF_REAL, MF_PER_JOINT, 1, MF_FIELD_STATE,
     "acceleration of joints on their path; m/s^2 for slides"},
    {"joint.jerk", "rad/s^3", "joint", MF_REAL, MF_PER_JOINT, 1, MF_FIELD_STATE,
     "jerk of joints on their path, constant within a control interval; m/s^3 for slides"},
    {"joint.travel", "rad", "joint", MF_REAL, MF_PER_JOINT, 1, MF_FIELD_STATE,
     "displacement of joints on their path in the present control interval; m for slides"},
};

static mf_Status bind_fields(mf_Group *group, mf_DrivenMotion *motion, mf_Error *error) {
    const struct {
        uint32_t row, count;
    } needed[] = {{MF_ART_ROW_BASE_FORCE, 1},
                  {MF_ART_ROW_BASE_TORQUE, 1},
                  {MF_ART_ROW_BALL, motion->art->plan->ball_count},
                  {MF_ART_ROW_BALL_RATE, motion->art->plan->ball_count},
                  {MF_ART_ROW_LOAD, motion->art->plan->contact_count},
                  {MF_ART_ROW_SLIP, motion->art->plan->contact_count}};
    mf_art_bind_canonical(group, motion->art);
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (needed[i].count > 0)
            MF_TRY(mf_attach_field(group, mf_art_field_info(needed[i].row), needed[i].count,
                                   &motion->art->rows[needed[i].row], error));
    for (uint32_t i = 0; i < sizeof driven_fields / sizeof *driven_fields; i++)
        MF_TRY(mf_attach_field(group, &driven_fields[i], 1, &motion->rows[i], error));
    motion->rows[MF_DRIVEN_ROW_WRENCH] = mf_group_find_field(group, "wrench.link");
    if (motion->rows[MF_DRIVEN_ROW_WRENCH] != NULL)
        motion->rows[MF_DRIVEN_ROW_WRENCH_COUNT] = mf_group_find_field(group, "wrench.count");
    for (uint32_t i = 0; i < MF_DRIVEN_ROWS; i++)
        motion->row[i] = mf_row(motion->rows[i]);
    mf_art_bind_rows(motion->art);
    // Every knot begins at the angle as it is, so only very short steps can lose a path.
    if (motion->art->row[MF_ART_ROW_RATE].low == 0)
        motion->art->row[MF_ART_ROW_ANGLE].low = 0;
    return mf_attach_warnings(group, &motion->art->warnings, error);
}

// ---- stepping -----------------------------------------------------------------------------------

typedef struct DrivenRun {
    const mf_DrivenMotion *motion;
    bool due;
} DrivenRun;

static void step_lanes(const void *context, const mf_DispatchUnit *piece) {
    const DrivenRun *run = context;
    const mf_DrivenMotion *motion = run->motion;
    mf_DrivenBlock work = {.plan = motion->plan, .due = run->due};
    mf_art_bind_block(motion->art, piece, &work.art);
    for (uint32_t i = 0; i < MF_DRIVEN_ROWS; i++)
        work.rows[i] = mf_row_at(&motion->row[i], piece->block, piece->lane);
    (piece->single ? motion->step_one : motion->step)(&work);
}

void mf_driven_run(const mf_SystemRun *run, void *user) {
    const mf_DrivenMotion *motion = user;
    const DrivenRun driven = {.motion = motion, .due = run->tick % motion->interval == 0};
    mf_dispatch_run(&motion->dispatch, run, step_lanes, &driven);
}

static void begin_paths(const mf_DrivenMotion *motion, uint32_t instance) {
    const mf_Field *rate = motion->art->rows[MF_ART_ROW_RATE];
    for (uint32_t c = 0; c < rate->components; c++) {
        mf_field_set(motion->rows[MF_DRIVEN_ROW_ACCELERATION], instance, c, 0.0);
        mf_field_set(motion->rows[MF_DRIVEN_ROW_JERK], instance, c, 0.0);
        mf_field_set(motion->rows[MF_DRIVEN_ROW_PASSED], instance, c,
                     mf_field_get(rate, instance, c) * motion->constants_f64[MF_DRIVEN_INTERVAL]);
    }
}

// Ball joints start as the model's start position says.
void mf_driven_reset(mf_Group *group, uint32_t instance, void *user) {
    static const uint32_t rows[] = {MF_ART_ROW_BASE_FORCE, MF_ART_ROW_BASE_TORQUE,
                                    MF_ART_ROW_BALL_RATE, MF_ART_ROW_LOAD, MF_ART_ROW_SLIP};
    const mf_DrivenMotion *motion = user;
    const mf_Model *model = mf_group_model(group);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        mf_field_clear(motion->art->rows[rows[i]], instance);
    for (uint32_t l = 0; l < motion->art->plan->link_count; l++) {
        const mf_ArtLink *link = &motion->art->links[l];
        static const double still[4] = {1, 0, 0, 0};
        const double *start = still;
        if (link->kind != MF_ART_BALL)
            continue;
        if (model->start_position != NULL)
            start = model->start_position + model->joints[link->joint].position_address;
        mf_field_write(motion->art->rows[MF_ART_ROW_BALL], instance, 4 * link->row, 4, start);
    }
    begin_paths(motion, instance);
}

static void release_arrays(const mf_DrivenMotion *motion, mf_Context *context) {
#define RELEASE(Type, name, count) mf_release(context, motion->name);
    MF_DRIVEN_ARRAYS(RELEASE, )
#undef RELEASE
}

void mf_driven_destroy(mf_Context *context, void *user) {
    mf_DrivenMotion *motion = user;
    mf_art_destroy(context, motion->art);
    if (motion->plan != NULL && motion->plan->art_at == 0) // not packed
        release_arrays(motion, context);
    mf_release(context, motion->plan);
    mf_release(context, motion);
}

// ---- creation -----------------------------------------------------------------------------------

static mf_Status choose_kernel(mf_DrivenMotion *motion, mf_Group *group, mf_Error *error) {
    size_t (*wide)(const mf_DrivenPlan *plan), (*single)(const mf_DrivenPlan *plan);
    const mf_KernelPick pick = mf_dispatch_kernels(group);
    motion->art->double_precision = pick.double_precision;
    MF_KERNEL_CHOOSE(motion->step, motion->step_one, mf_driven_step, pick);
    MF_KERNEL_CHOOSE(wide, single, mf_driven_scratch_size, pick);
    return mf_dispatch_make_scratch(group, &motion->dispatch, wide(motion->plan),
                                    single(motion->plan), error);
}

uint64_t mf_driven_hash(const void *user) {
    const mf_DrivenMotion *motion = user;
    const uint32_t settings[] = {motion->art->config.integrator, motion->art->plan->fixed,
                                 motion->plan->bounces};
    uint64_t hash = mf_hash_bytes(MF_HASH_START, settings, sizeof settings);
    hash = mf_hash_bytes(hash, motion->constants_f64, motion->plan->value_count * sizeof(double));
    return mf_hash_bytes(hash, motion->art->constants_f64,
                         motion->art->plan->value_count * sizeof(double));
}

// Whether joints move, which then do not yield.
static bool has_joints(const mf_Model *model) {
    for (uint32_t j = 0; j < model->joint_count; j++)
        if (model->joints[j].type != MF_JOINT_FIXED && model->joints[j].type != MF_JOINT_BALL &&
            model->joints[j].type != MF_JOINT_PLANAR)
            return true;
    return false;
}

// The tree with its contacts; what moves the joints is not its business.
static mf_ArticulatedConfig tree_config(const mf_Model *model, const mf_PrescribedConfig *common) {
    mf_ArticulatedConfig art = mf_motions_config().articulated;
    art.integrator = common->integrator;
    art.base = common->base;
    art.shapes = common->shapes;
    art.contact_stiffness = common->contact_stiffness;
    art.contact_time = common->contact_time;
    if (common->contact_time != common->contact_time)
        art.contact_time = has_joints(model) ? MF_DRIVEN_CONTACT_TIME : 0.0;
    art.contact_damping = common->contact_damping;
    art.contact_ratio = common->contact_ratio;
    art.friction = common->friction;
    art.friction_rate = common->friction_rate;
    art.slip_speed = common->slip_speed;
    art.contact_depth = common->contact_depth;
    art.contact_law = MF_CONTACT_LAW_COMPLIANT; // the motion has contacts of its own
    art.self_contacts = art.limits = false;
    // A base that is fixed touches nothing: it could not give way.
    bool fixed = art.base == MF_ARTICULATED_FIXED ||
                 (art.base == MF_ARTICULATED_AS_MODEL && model->base == MF_BASE_FIXED);
    art.contacts = common->contacts && !fixed;
    return art;
}

void mf_driven_bind_plan(mf_DrivenMotion *motion, mf_DrivenPlan *image) {
    motion->plan = image;
#define BIND(Type, name, count) motion->name = mf_flat_at(image, image->name##_at);
    MF_DRIVEN_ARRAYS(BIND, )
#undef BIND
    mf_art_bind_plan(motion->art, mf_flat_at(image, image->art_at));
}

// One image of both plans, its own and the tree's.
static mf_Status pack(mf_DrivenMotion *motion, mf_Context *context, mf_Error *error) {
    mf_DrivenPlan *plan = motion->plan;
    mf_ArtPlan *art = motion->art->plan;
#define PART(Type, name, count) MF_FLAT_PART(plan, name, motion->name, count),
    const mf_FlatPart parts[] = {MF_DRIVEN_ARRAYS(PART, plan) MF_FLAT_IMAGE(plan, art, art)};
#undef PART
    void *image = NULL;
    mf_Status status = mf_flat_pack(context, plan, sizeof *plan, parts,
                                    sizeof parts / sizeof *parts, &image, error);
    if (status != MF_OK) {
        plan->art_at = 0; // still not packed
        return status;
    }
    release_arrays(motion, context);
    mf_release(context, plan);
    mf_release(context, art);
    motion->art->embedded = true;
    mf_driven_bind_plan(motion, image);
    return MF_OK;
}

mf_Status mf_driven_make(mf_Group *group, const mf_DrivenConfig *config, mf_DrivenMotion *motion,
                         mf_Error *error) {
    mf_Context *context = mf_world_context(mf_group_world(group));
    const mf_Model *model = mf_group_model(group);
    const mf_ArticulatedConfig art = tree_config(model, &config->common);
    MF_TRY(check_config(group, config, error));
    motion->plan = mf_allocate(context, 1, sizeof *motion->plan);
    MF_NEED_MEMORY(motion->plan != NULL, error, config->row->name);
    motion->name = config->row->name;
    motion->plan->moves = config->moves;
    motion->plan->bounces = config->bounces;
    motion->plan->model_links = model->link_count;
    motion->interval = (uint64_t)(config->common.control_interval /
                                  mf_world_config_of(mf_group_world(group))->step);
    memcpy(&motion->config, config->given, config->given_size);
    MF_TRY(rename_error(config->row->name, mf_art_create(group, &art, &motion->art, error), error));
    MF_TRY(mf_driven_constants_fill(motion, model, config, context, error));
    MF_TRY(pack(motion, context, error));
    MF_TRY(bind_fields(group, motion, error));
    motion->dispatch = mf_dispatch_bind(group, config->row->motion);
    return choose_kernel(motion, group, error);
}

const char *const mf_driven_reads[] = {
    "joint.target", "base.force",    "base.torque", "?motion.level",
    "?wrench.link", "?wrench.count", NULL};
const char *const mf_driven_writes[] = {
    "base.position",         "base.orientation", "base.linear_velocity",
    "base.angular_velocity", "joint.angle",      "joint.rate",
    "joint.acceleration",    "joint.jerk",       "joint.travel",
    "?ball.orientation",     "?ball.rate",       "?contact.load",
    "?contact.slip",         "fault.word",       "warning.word",
    "warning.steps",         "warning.residual", NULL};

// ---- queries ------------------------------------------------------------------------------------

void mf_driven_enter(mf_Group *group, uint32_t instance, void *user) {
    (void)group;
    begin_paths(user, instance);
}

mf_ArticulatedBase mf_driven_base(const void *user) {
    return ((const mf_DrivenMotion *)user)->art->config.base;
}

void mf_driven_momentum(const mf_Group *group, const void *user, uint32_t instance,
                        double center[3], double linear[3], double angular[3]) {
    const mf_DrivenMotion *motion = user;
    (void)group;
    mf_art_momentum(motion->art, instance, motion->plan->moves, center, linear, angular);
}

mf_MotionEnergy mf_driven_energy(const mf_Group *group, const void *user, uint32_t instance) {
    const mf_DrivenMotion *motion = user;
    (void)group;
    const mf_MotionEnergy energy = mf_art_energy(motion->art, instance, motion->plan->moves);
    return (mf_MotionEnergy){.kinetic = energy.kinetic, .potential = energy.potential};
}
