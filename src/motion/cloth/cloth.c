// The row of `cloth` in the motion table: settings, plan, kernels.
#include "base/hash.h"
#include "base/plain.h"
#include "math/kernel_table.h"
#include "math/scalar.h"
#include "motion/cloth/model.h"
#include "motion/cloth/motion.h"
#include "motion/cloth/program.h"
#include "world/attach.h"
#include "world/systems.h"
#include "terrain/image.h"

enum { MOST_SUBSTEPS = 1000 }; // [1] of a step

#define SOFTNESS 0.1           // [1] part of the stiffness that a pass may miss by default
#define LONGEST MF_MILLISECOND // by default
#define SHORTEST (MF_MILLISECOND / 50)

mf_ClothMotion *mf_cloth_motion_of(const mf_Group *group) {
    return mf_motion_plan(group, &mf_cloth_row);
}

static void surface_of(const mf_Group *group, mf_Surface *out) {
    const mf_ClothPlan *plan = mf_cloth_motion_of(group)->plan;
    *out = (mf_Surface){.counts = {plan->counts[0], plan->counts[1]},
                        .vertex_count = plan->vertex_count,
                        .triangle_count = plan->triangle_count,
                        .triangles = (const uint32_t(*)[3])mf_cloth_triangles(plan),
                        .torn = mf_cloth_triangle_torn};
}

static bool count_torn(const mf_Group *group, uint64_t *torn, uint64_t *of, const char **what) {
    const mf_ClothMotion *motion = mf_cloth_motion_of(group);
    const mf_Field *elements = motion->rows[MF_CLOTH_ROW_TORN];
    const mf_Field *tears = motion->rows[MF_CLOTH_ROW_TEARS];
    if (elements == NULL || tears == NULL)
        return false;
    *torn = 0;
    *of = (uint64_t)elements->components * mf_group_count(group);
    *what = motion->plan->counts[0] > 0 ? "edges" : "triangles";
    for (uint32_t i = 0; i < mf_group_count(group); i++)
        *torn += (uint64_t)mf_field_get(tears, i, 0);
    return true;
}

static void destroy(mf_Context *context, void *user) {
    mf_ClothMotion *motion = user;
    mf_scratch_destroy(context, motion->scratch);
    mf_release(context, motion->plan);
    mf_release(context, motion);
}

// ---- adding ------------------------------------------------------------------------------------

static mf_Status check_settings(const mf_Group *group, const mf_ClothConfig *config,
                                mf_Error *error) {
    const mf_Terrain *terrain = mf_world_config_of(mf_group_world(group))->terrain;
    MF_NEED(config->struct_size == sizeof *config, error, "cloth: start from mf_motions_config()");
    const mf_Time step = mf_world_config_of(mf_group_world(group))->step;
    if (config->substep < 0 || (config->substep > 0 && step / config->substep >= MOST_SUBSTEPS))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "cloth.substep: %g s, need 0, or more and at most %d in a step of %g s",
                       mf_time_to_seconds(config->substep), MOST_SUBSTEPS,
                       mf_time_to_seconds(step));
    const mf_Range ranges[] = {{"pins", "", config->pins, 0, 4096},
                               {"drag", "1/s", config->drag, 0, 1000},
                               {"self_distance", "m", config->self_distance, 0, 10}};
    MF_TRY(mf_ranges_check("cloth", ranges, sizeof ranges / sizeof *ranges, error));
    if (config->contacts && !mf_terrain_level(terrain) && terrain->interpolation != MF_BILINEAR)
        return mf_fail(
            error, MF_UNSUPPORTED,
            "cloth: the ground has steps between its cells, need interpolation: bilinear");
    return mf_cloth_check(config->cloth, error);
}

// Newton's method, from above.
static double cube_root(double value) {
    double root = value > 1.0 ? value : 1.0;
    for (int k = 0; k < 200; k++)
        root = (2.0 * root + value / (root * root)) / 3.0;
    return root;
}

static mf_ClothPlan settings_of(const mf_Group *group, const mf_ClothConfig *config) {
    const mf_WorldConfig *world = mf_world_config_of(mf_group_world(group));
    const mf_ClothMaterial *material = &config->cloth->material;
    mf_ClothPlan plan = {.pin_count = config->pins,
                         .ground = config->contacts,
                         .level = mf_terrain_level(world->terrain),
                         .height = world->terrain->highest,
                         .damping = material->damping,
                         .drag = config->drag,
                         .radius = 0.5 * material->thickness,
                         .friction = material->friction,
                         .tear_strain = material->strength / material->stretch,
                         .self_distance = config->self_distance};
    const double area = mf_cloth_area(config->cloth),
                 g = world->gravity > 0.0 ? world->gravity : 9.81;
    const double cube = material->bending / (material->density * g); // of the bending length
    plan.stretch_share = 1.0 / (material->stretch * area);
    if (material->bending > 0.0)
        plan.bending_share = cube_root(cube * cube) / (material->bending * area);
    const double length = mf_vec3_length(world->gravity_direction);
    for (int i = 0; i < 3; i++)
        plan.gravity[i] = world->gravity * world->gravity_direction[i] / length;
    return plan;
}

// ---- substeps ----------------------------------------------------------------------------------

typedef struct Softness { // sums over constraints
    double sum;           // [1/s^2]
    uint32_t count;       // [1]
} Softness;

static double weight_at(const mf_ClothPlan *plan, const mf_ClothBatch *batch, uint32_t node,
                        uint32_t lane) {
    const uint32_t at =
        batch->slots == MF_CLOTH_APART
            ? batch->at[node] + lane
            : (uint32_t)mf_cloth_slots(plan)[batch->slots + node * MF_CLOTH_LANES + lane];
    const double mass = at < plan->slot_count ? mf_cloth_masses_f64(plan)[at] : 0.0;
    return mass > 0.0 ? 1.0 / mass : 0.0;
}

// Half of sum w |grad C|^2 over the compliance, of one lane; all of it of a triangle, as a vertex
// is in six of them, and in four edges.
static double softness_of(const mf_ClothPlan *plan, const mf_ClothBatch *batch, uint32_t lane) {
    const double *values =
        mf_cloth_values_f64(plan) + (size_t)batch->values * MF_CLOTH_LANES + lane;
    const uint32_t nodes = mf_cloth_nodes(batch->kind);
    double k[MF_CLOTH_NODES] = {1.0, 1.0}, weight = 0.0;
    uint32_t row = 1; // of the compliance
    if (batch->kind == MF_CLOTH_TRIANGLE) {
        k[1] = values[0];
        k[2] = values[MF_CLOTH_LANES];
        k[0] = -k[1] - k[2];
        row = 4;
    } else if (batch->kind != MF_CLOTH_EDGE) {
        for (row = 0; row < nodes; row++)
            k[row] = values[(size_t)row * MF_CLOTH_LANES];
    }
    for (uint32_t node = 0; node < nodes; node++)
        weight += weight_at(plan, batch, node, lane) * k[node] * k[node];
    const double share = batch->kind == MF_CLOTH_TRIANGLE ? 1.0 : 0.5;
    return share * weight / values[(size_t)row * MF_CLOTH_LANES];
}

// Right after its own turn a constraint has its stiffness; a neighbor that comes later moves it by
// about its weight. Half of the neighbors do, so at rest a cloth is softer by the part h^2 w / (2
// a) of sums of weights w and compliances a. The longest substep h for which this is `SOFTNESS`.
static double resolved_substep(const mf_ClothPlan *plan) {
    Softness of[2] = {{0.0, 0}, {0.0, 0}}; // stretch, bending
    double most = 0.0;
    for (uint32_t i = 0; i < plan->batch_count; i++) {
        const mf_ClothBatch *batch = &mf_cloth_batches(plan)[i];
        const bool stretch = batch->kind == MF_CLOTH_EDGE || batch->kind == MF_CLOTH_TRIANGLE;
        for (uint32_t lane = 0; lane < MF_CLOTH_LANES && batch->kind != MF_CLOTH_CELL; lane++) {
            const double softness = softness_of(plan, batch, lane);
            of[!stretch].count += softness > 1e-20;
            of[!stretch].sum += softness > 1e-20 ? softness : 0.0;
        }
    }
    for (int i = 0; i < 2; i++) {
        const double mean = of[i].count > 0 ? of[i].sum / of[i].count : 0.0;
        most = mean > most ? mean : most;
    }
    return most > 0.0 ? mf_sqrt(SOFTNESS / most) : 1.0;
}

static uint32_t substeps_of(const mf_ClothPlan *plan, const mf_ClothConfig *config, mf_Time step) {
    mf_Time substep = config->substep;
    if (substep == 0) {
        const double resolved = 1e9 * resolved_substep(plan);
        substep = resolved < (double)LONGEST ? (mf_Time)resolved : LONGEST;
        substep = substep > SHORTEST ? substep : SHORTEST;
        while (step / substep >= MOST_SUBSTEPS)
            substep *= 2;
    }
    return (uint32_t)((step - 1) / substep + 1);
}

static void choose_kernels(const mf_Group *group, mf_ClothKernels *kernels) {
    const mf_KernelPick pick = mf_dispatch_kernels(group);
    MF_KERNEL_CHOOSE_WIDE(kernels->load, mf_cloth_load, pick);
    MF_KERNEL_CHOOSE_WIDE(kernels->store, mf_cloth_store, pick);
    MF_KERNEL_CHOOSE_WIDE(kernels->move, mf_cloth_move, pick);
    MF_KERNEL_CHOOSE_WIDE(kernels->sort, mf_cloth_sort, pick);
    MF_KERNEL_CHOOSE_WIDE(kernels->list, mf_cloth_list, pick);
    MF_KERNEL_CHOOSE_WIDE(kernels->part, mf_cloth_part, pick);
    MF_KERNEL_CHOOSE_WIDE(kernels->solve, mf_cloth_solve, pick);
    MF_KERNEL_CHOOSE_WIDE(kernels->residual, mf_cloth_residual, pick);
    MF_KERNEL_CHOOSE_WIDE(kernels->sum, mf_cloth_sum, pick);
}

// Of the settings and, behind them, all arrays.
static uint64_t hash_cloth(const void *motion) {
    const mf_ClothPlan *plan = ((const mf_ClothMotion *)motion)->plan;
    const double reals[] = {plan->height,     plan->damping,    plan->drag,
                            plan->radius,     plan->friction,   plan->self_distance,
                            plan->gravity[0], plan->gravity[1], plan->gravity[2]};
    const uint32_t counts[] = {plan->vertex_count, plan->pin_count, plan->substeps, plan->ground,
                               plan->level};
    uint64_t hash = mf_hash_doubles(MF_HASH_START, reals, sizeof reals / sizeof *reals);
    hash = mf_hash_bytes(hash, counts, sizeof counts);
    if (plan->element_count > 0)
        hash = mf_hash_doubles(hash, &plan->tear_strain, 1);
    return mf_hash_bytes(hash, plan + 1, plan->bytes - sizeof *plan);
}

static const mf_WarningWords soft = {
    "", "the cloth was softer than its stiffness, as one pass over the constraints was too few",
    "a shorter substep, larger cells, or a softer cloth"};
static const mf_WarningWords crowded = {
    "", "there were more than 64 solids, or 32 near vertices of one, and some were left out",
    "fewer or simpler colliding shapes, or a smaller self_distance"};
static const mf_WarningWords fast = {
    "m", "a vertex moved farther than the search for those near it covers, and may have passed",
    "a shorter step of the world, or a larger self_distance"};

static mf_Status make_cloth(mf_Group *group, const mf_MotionsConfig *motions, void **plan,
                            mf_Error *error) {
    mf_ClothMotion *motion = *plan;
    const mf_ClothConfig *config = &motions->cloth;
    mf_Context *context = mf_world_context(mf_group_world(group));
    MF_TRY(check_settings(group, config, error));
    const mf_ClothPlan settings = settings_of(group, config);
    motion->config = *config;
    motion->config.cloth = NULL;
    motion->terrain = mf_terrain_image(mf_world_config_of(mf_group_world(group))->terrain);
    motion->wide = mf_group_config_of(group)->double_precision;
    motion->step = mf_world_config_of(mf_group_world(group))->step;
    MF_TRY(mf_cloth_program(context, config->cloth, &settings, &motion->plan, error));
    motion->plan->substeps = substeps_of(motion->plan, config, motion->step);
    for (uint32_t at = 0; at < motion->plan->slot_count; at++)
        motion->mass += mf_cloth_masses_f64(motion->plan)[at];
    choose_kernels(group, &motion->kernels);
    MF_TRY(mf_cloth_fields(group, motion, error));
    mf_attach_warning_words(group, MF_WARNING_SOLVER, &soft);
    mf_attach_warning_words(group, MF_WARNING_CONTACTS, &crowded);
    mf_attach_warning_words(group, MF_WARNING_SHAPES, &fast);
    return mf_scratch_create(context, mf_cloth_scratch(motion), mf_group_block_count(group),
                             &motion->scratch, error);
}

// Where the cloth starts: a cloth without pins lies on the ground, lowest vertex first; one that is
// held is where its file has it.
static mf_Status begin_cloth(mf_Group *group, const mf_MotionsConfig *motions, void *plan,
                             mf_Error *error) {
    const mf_ClothMotion *motion = plan;
    const mf_Cloth *cloth = motions->cloth.cloth;
    double start[3];
    mf_cloth_center(cloth, start);
    if (motion->plan->ground && cloth->pin_count == 0)
        start[2] += motion->plan->height - mf_cloth_lowest(cloth);
    for (uint32_t i = 0; i < mf_group_count(group); i++)
        MF_TRY(mf_group_set_start(group, i, start, NULL, NULL, error));
    return MF_OK;
}

// ---- the row -----------------------------------------------------------------------------------

static void row_defaults(mf_MotionsConfig *config) {
    config->cloth =
        (mf_ClothConfig){.struct_size = sizeof(mf_ClothConfig), .contacts = true, .drag = 0.1};
}

#define AT(member) offsetof(mf_MotionsConfig, cloth.member)

static const mf_Key row_keys[] = {
    MF_KEY_GROUP("motion.cloth", "cloth, by extended position-based dynamics"),
    MF_KEY(
        "motion.cloth.substep", MF_KEY_TIME, MF_KEY_ABOVE | MF_KEY_AUTO, "s", "auto", 0, 1, NULL,
        AT(substep),
        "longest substep: a step has as many equal ones as it needs, each with one pass over all "
        "constraints; shorter ones are stiffer and lose less energy; `auto`: 0.02 to 1 ms, so that "
        "the cloth is softer than its stiffness by a tenth at most"),
    MF_KEY("motion.cloth.pins", MF_KEY_COUNT, 0, "1", "0", 0, 4096, NULL, AT(pins),
           "space for pins beyond those of the cloth"),
    MF_KEY("motion.cloth.drag", MF_KEY_REAL, 0, "1/s", "0.1", 0, 1000, NULL, AT(drag),
           "deceleration per velocity, by still air"),
    MF_KEY("motion.cloth.self_distance", MF_KEY_REAL, 0, "m", "0", 0, 10, NULL, AT(self_distance),
           "distance that vertices which are not neighbors keep, about that of neighbors; 0: the "
           "cloth passes through itself"),
};

static const char *const row_reads[] = {"?pin.vertex", "?pin.anchor", "?cloth.torn", NULL};
static const char *const row_writes[] =
    MF_NAMES("base.position", "base.linear_velocity", "vertex.position", "vertex.velocity",
             "cloth.contacts", "cloth.residual", "?cloth.torn", "?cloth.tears", "?pin.force",
             "fault.word", "warning.word", "warning.steps", "warning.residual");

const mf_MotionRow mf_cloth_row = {
    .name = "cloth",
    .motion = MF_MOTION_CLOTH,
    .body = "cloth",
    .noun = "cloth",
    .look = {.kind = MF_VISUAL_TRIANGLES, .color = {0.80f, 0.32f, 0.24f}, .surface = surface_of},
    .torn = count_torn,
    .dynamic = true,
    .plan_size = sizeof(mf_ClothMotion),
    .make = make_cloth,
    .hash = hash_cloth,
    .begin = begin_cloth,
    .run = mf_cloth_run,
    .reset = mf_cloth_reset,
    .destroy = destroy,
    .reads = row_reads,
    .writes = row_writes,
    .any_gravity = true,
    .defaults = row_defaults,
    .common = {.contacts = AT(contacts)},
    .keys = row_keys,
    .key_count = sizeof row_keys / sizeof *row_keys,
    .momentum = mf_cloth_momentum,
    .energy = mf_cloth_energy,
};
