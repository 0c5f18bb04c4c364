// The host's side that `quasistatic` and `elastic` share: stepping, settings, plans, energy.
#include "motion/truss/motion.h"
#include "base/hash.h"
#include "base/plain.h"
#include "math/kernel_table.h"
#include "math/scalar.h"
#include "motion/truss/model.h"
#include "world/attach.h"
#include "terrain/image.h"

// ---- stepping ----------------------------------------------------------------------------------

typedef struct TrussRun {
    const mf_TrussMotion *motion;
    const mf_SystemRun *run;
} TrussRun;

static void *row_at(const mf_Field *field, uint32_t block, uint32_t lane) {
    const mf_Row row = mf_row(field);
    return mf_row_at(&row, block, lane);
}

// One step of the lanes from `lane` on, or of this one alone, whose fault words are `fault`.
static void frame_from(const TrussRun *run, const mf_DispatchUnit *unit, uint32_t lane,
                       uint32_t *fault, bool single) {
    const mf_TrussMotion *m = run->motion;
    const uint32_t block = unit->block;
    const mf_TrussBlock work = {
        .plan = &m->plan,
        .terrain = m->terrain,
        .scratch = unit->scratch,
        .tick = run->run->tick,
        .step = mf_time_to_seconds(run->run->step),
        .counts = row_at(m->rows[MF_TRUSS_ROW_COUNTS], block, lane),
        .ends = row_at(m->rows[MF_TRUSS_ROW_ENDS], block, lane),
        .order = row_at(m->rows[MF_TRUSS_ROW_ORDER], block, lane),
        .fixed = row_at(m->rows[MF_TRUSS_ROW_FIXED], block, lane),
        .mass = row_at(m->rows[MF_TRUSS_ROW_MASS], block, lane),
        .radius = row_at(m->rows[MF_TRUSS_ROW_RADIUS], block, lane),
        .load = row_at(m->rows[MF_TRUSS_ROW_LOAD], block, lane),
        .rest = row_at(m->rows[MF_TRUSS_ROW_REST], block, lane),
        .rigidity = row_at(m->rows[MF_TRUSS_ROW_RIGIDITY], block, lane),
        .diameter = row_at(m->rows[MF_TRUSS_ROW_DIAMETER], block, lane),
        .actuator = row_at(m->rows[MF_TRUSS_ROW_ACTUATOR], block, lane),
        .range = row_at(m->rows[MF_TRUSS_ROW_RANGE], block, lane),
        .stream = row_at(m->rows[MF_TRUSS_ROW_STREAM], block, lane),
        .command = row_at(m->rows[MF_TRUSS_ROW_COMMAND], block, lane),
        .position = row_at(m->rows[MF_TRUSS_ROW_POSITION], block, lane),
        .anchor = row_at(m->rows[MF_TRUSS_ROW_ANCHOR], block, lane),
        .contact = row_at(m->rows[MF_TRUSS_ROW_CONTACT], block, lane),
        .velocity = row_at(m->rows[MF_TRUSS_ROW_VELOCITY], block, lane),
        .movement = row_at(m->rows[MF_TRUSS_ROW_MOVEMENT], block, lane),
        .change = row_at(m->rows[MF_TRUSS_ROW_CHANGE], block, lane),
        .force = row_at(m->rows[MF_TRUSS_ROW_FORCE], block, lane),
        .stress = row_at(m->rows[MF_TRUSS_ROW_STRESS], block, lane),
        .base = row_at(m->body[0], block, lane),
        .linear = row_at(m->body[2], block, lane),
        .relaxation = row_at(m->rows[MF_TRUSS_ROW_RELAXATION], block, lane),
        .iterations = row_at(m->rows[MF_TRUSS_ROW_ITERATIONS], block, lane),
        .trace = row_at(m->rows[MF_TRUSS_ROW_TRACE], block, lane),
        .traced = row_at(m->rows[MF_TRUSS_ROW_TRACED], block, lane),
        .fault = fault,
        .warnings = mf_warning_rows(&m->warnings, block, lane),
    };
    (single ? m->frame_one : m->frame)(&work);
}

// Whether two lanes have the same numbers in the first components of a row.
static bool same_numbers(const uint32_t *row, uint32_t components, uint32_t one, uint32_t two) {
    for (uint32_t c = 0; c < components; c++)
        if (row[c * MF_BLOCK + one] != row[c * MF_BLOCK + two])
            return false;
    return true;
}

// Where the kernels find what makes the bars of lanes the same: all that a wide kernel reads once.
typedef struct BarsRows {
    const uint32_t *counts, *ends, *order;
} BarsRows;

static bool same_bars(const BarsRows *rows, uint32_t one, uint32_t two) {
    const uint32_t vertices = rows->counts[MF_TRUSS_VERTICES * MF_BLOCK + one];
    const uint32_t bars = rows->counts[MF_TRUSS_BARS * MF_BLOCK + one];
    const uint32_t width = MF_TRUSS_WIDTH * MF_BLOCK;
    return vertices == rows->counts[MF_TRUSS_VERTICES * MF_BLOCK + two] &&
           bars == rows->counts[MF_TRUSS_BARS * MF_BLOCK + two] &&
           rows->counts[width + one] == rows->counts[width + two] &&
           same_numbers(rows->ends, 2 * bars, one, two) &&
           same_numbers(rows->order, vertices, one, two);
}

// Hides lanes with other bars than `first` in `fault`, and marks those with the same as taken.
// Returns the number of these.
static uint32_t choose_lanes(const BarsRows *rows, const mf_DispatchUnit *unit, uint32_t lanes,
                             uint32_t first, bool taken[MF_BLOCK], uint32_t fault[MF_BLOCK]) {
    uint32_t chosen = 0;
    for (uint32_t lane = 0; lane < lanes; lane++) {
        const bool goes = !taken[lane] && (lane == first || same_bars(rows, first, lane));
        fault[lane] = goes ? unit->fault[lane] : MF_NONE;
        taken[lane] |= goes;
        chosen += goes;
    }
    return chosen;
}

// Lanes with different bars would gather what they read, meet the bars of all, and wait for the
// slowest: those with the same bars go together and one without such lanes alone, with the same
// bits.
static void frame_lanes(const void *context, const mf_DispatchUnit *unit) {
    const TrussRun *run = context;
    const mf_TrussMotion *m = run->motion;
    const uint32_t lanes = m->dispatch.lanes;
    if (unit->single) {
        frame_from(run, unit, unit->lane, unit->fault, true);
        return;
    }
    const BarsRows rows = {row_at(m->rows[MF_TRUSS_ROW_COUNTS], unit->block, unit->lane),
                           row_at(m->rows[MF_TRUSS_ROW_ENDS], unit->block, unit->lane),
                           row_at(m->rows[MF_TRUSS_ROW_ORDER], unit->block, unit->lane)};
    _Alignas(64) uint32_t fault[MF_BLOCK]; // as fields are
    bool taken[MF_BLOCK];
    for (uint32_t lane = 0; lane < lanes; lane++)
        taken[lane] = unit->fault[lane] != 0 || rows.counts[lane] == 0;
    for (uint32_t first = 0; first < lanes; first++) {
        if (taken[first])
            continue;
        if (choose_lanes(&rows, unit, lanes, first, taken, fault) == 1) {
            frame_from(run, unit, unit->lane + first, unit->fault + first, true);
            continue;
        }
        frame_from(run, unit, unit->lane, fault, false);
        for (uint32_t lane = 0; lane < lanes; lane++)
            if (fault[lane] != MF_NONE)
                unit->fault[lane] = fault[lane];
    }
}

void mf_truss_motion_run(const mf_SystemRun *run, void *user) {
    const mf_TrussMotion *motion = user;
    const TrussRun trusses = {motion, run};
    mf_dispatch_run(&motion->dispatch, run, frame_lanes, &trusses);
}

void mf_truss_motion_destroy(mf_Context *context, void *user) {
    mf_TrussMotion *motion = user;
    mf_release(context, motion);
}

// ---- adding ------------------------------------------------------------------------------------

static mf_Status check_settings(const char *name, const mf_QuasistaticConfig *config,
                                mf_Error *error) {
    const struct {
        const char *name, *unit;
        double value;
    } positive[] = {{"stiffness", "N/m", config->stiffness},
                    {"grip", "N/m", config->grip},
                    {"actuator_speed", "m/s", config->actuator_speed},
                    {"tolerance", "", config->tolerance},
                    {"reach", "m", config->reach},
                    {"jump", "m", config->jump},
                    {"iterations", "", config->iterations}};
    const mf_Range ranges[] = {{"friction", "", config->friction, 0, 100},
                               {"strengthening", "1/m", config->strengthening, 0, 1e6},
                               {"noise", "N", config->noise, 0, 1e6},
                               {"damping", "s", config->damping, 0, 1e6},
                               {"relaxation", "m/N", config->relaxation, 0, 1e6},
                               {"trace", "", config->trace, 0, MF_TRUSS_TRACE},
                               {"samples", "", config->samples, 0, 16}};
    if (config->struct_size != sizeof *config)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s: start from mf_motions_config()", name);
    for (size_t i = 0; i < sizeof positive / sizeof *positive; i++)
        if (!(positive[i].value > 0.0 && positive[i].value < 1e12))
            return mf_fail(error, MF_BAD_ARGUMENT, "%s.%s: %g %s, need more than 0", name,
                           positive[i].name, positive[i].value, positive[i].unit);
    MF_NEED(config->method == MF_QUASISTATIC_NEWTON || config->method == MF_QUASISTATIC_GRADIENT,
            error, "%s.method: no method %d", name, (int)config->method);
    MF_NEED(config->relaxation == 0.0 || config->method == MF_QUASISTATIC_GRADIENT, error,
            "%s.relaxation: a fixed step needs method: gradient", name);
    return mf_ranges_check(name, ranges, sizeof ranges / sizeof *ranges, error);
}

static mf_Status check_group(const mf_Group *group, const char *name,
                             const mf_QuasistaticConfig *config, mf_Error *error) {
    const mf_Terrain *terrain = mf_world_config_of(mf_group_world(group))->terrain;
    if (!mf_group_config_of(group)->double_precision)
        return mf_fail(error, MF_UNSUPPORTED, "%s: group %s is in float, need precision: double",
                       name, mf_group_config_of(group)->name);
    if (config->contacts && !mf_terrain_level(terrain) && terrain->interpolation != MF_BILINEAR)
        return mf_fail(error, MF_UNSUPPORTED,
                       "%s: the ground has steps between its cells, need interpolation: bilinear",
                       name);
    return mf_truss_check(config->truss, error);
}

static void fill_plan(mf_TrussPlan *plan, const mf_Group *group, bool dynamic,
                      const mf_QuasistaticConfig *config) {
    const mf_WorldConfig *world = mf_world_config_of(mf_group_world(group));
    const mf_Truss *truss = config->truss;
    const double length = mf_vec3_length(world->gravity_direction);
    *plan = (mf_TrussPlan){
        .bytes = sizeof *plan,
        .vertices = mf_larger_u32(truss->vertex_count, config->vertices),
        .bars = mf_larger_u32(truss->bar_count, config->bars),
        .actuators = mf_larger_u32(truss->actuator_count, config->actuators),
        .ground = config->contacts,
        .level = mf_terrain_level(world->terrain),
        .pairs = config->collisions,
        .descend = config->method == MF_QUASISTATIC_GRADIENT,
        .dynamic = dynamic,
        .damping = dynamic ? config->damping : 0.0,
        .iterations = config->iterations,
        .trace = dynamic ? 0 : config->trace,
        .relaxation = dynamic ? 0.0 : config->relaxation,
        .height = world->terrain->highest,
        .stiffness = config->stiffness,
        .friction = config->friction,
        .grip = config->grip,
        .tolerance = config->tolerance,
        .reach = config->reach,
        .strengthening = dynamic ? 0.0 : config->strengthening,
        .noise = config->noise,
        .change = config->actuator_speed * mf_time_to_seconds(world->step),
        .yield = truss->material.yield,
        .elasticity = truss->material.elasticity,
        .jump = config->jump,
        .seed = world->seed,
    };
    plan->samples = plan->level ? 0 : config->samples;
    for (int i = 0; i < 3; i++)
        plan->gravity[i] = world->gravity * world->gravity_direction[i] / length;
}

// Space for the band: of the truss itself where there is no space for others, else of any.
static mf_Status find_width(mf_TrussMotion *motion, mf_Context *context, const mf_Truss *truss,
                            mf_Error *error) {
    mf_TrussPlan *plan = &motion->plan;
    uint32_t *order =
        mf_allocate(context, 4 * (size_t)truss->vertex_count + truss->bar_count, sizeof *order);
    MF_NEED_MEMORY(order != NULL, error, "truss");
    plan->width = mf_truss_order(truss, order, order + truss->vertex_count);
    if (plan->vertices > truss->vertex_count || plan->bars > truss->bar_count)
        plan->width = plan->vertices - 1;
    mf_release(context, order);
    return MF_OK;
}

static mf_Status choose_kernel(mf_Group *group, mf_TrussMotion *motion, mf_Error *error) {
    typedef size_t (*ScratchFn)(const mf_TrussPlan *);
    static const ScratchFn scratch_sizes[MF_KERNEL_ROWS][1] =
        MF_KERNEL_TABLE_DOUBLE(mf_truss_scratch_size);
    static const mf_TrussFrameFn frames[MF_KERNEL_ROWS][1] = MF_KERNEL_TABLE_DOUBLE(mf_truss_frame);
    const mf_KernelPick pick = mf_dispatch_kernels(group);
    motion->frame = frames[pick.wide][0];
    motion->frame_one = frames[pick.single][0];
    motion->dispatch = mf_dispatch_bind(group, motion->row->motion);
    return mf_dispatch_make_scratch(group, &motion->dispatch,
                                    scratch_sizes[pick.wide][0](&motion->plan),
                                    scratch_sizes[pick.single][0](&motion->plan), error);
}

uint64_t mf_truss_motion_hash(const void *motion) {
    const mf_TrussPlan *plan = &((const mf_TrussMotion *)motion)->plan;
    const double reals[] = {plan->stiffness, plan->friction,     plan->grip,   plan->tolerance,
                            plan->reach,     plan->noise,        plan->change, plan->yield,
                            plan->jump,      plan->strengthening};
    const uint32_t counts[] = {plan->vertices,   plan->bars,    plan->actuators,
                               plan->width,      plan->samples, plan->pairs,
                               plan->iterations, plan->ground,  plan->descend};
    uint64_t hash = mf_hash_doubles(MF_HASH_START, reals, sizeof reals / sizeof *reals);
    hash = mf_hash_bytes(hash, counts, sizeof counts);
    if (plan->relaxation > 0.0)
        hash = mf_hash_doubles(hash, &plan->relaxation, 1);
    return plan->dynamic ? mf_hash_doubles(hash, &plan->damping, 1) : hash;
}

mf_Status mf_truss_motion_make(mf_Group *group, mf_TrussMotion *motion, const mf_MotionRow *row,
                               const mf_QuasistaticConfig *config, mf_Error *error) {
    MF_TRY(check_settings(row->name, config, error));
    MF_TRY(check_group(group, row->name, config, error));
    motion->row = row;
    motion->config = *config;
    motion->config.truss = NULL;
    motion->terrain = mf_terrain_image(mf_world_config_of(mf_group_world(group))->terrain);
    fill_plan(&motion->plan, group, row->dynamic, config);
    MF_TRY(find_width(motion, mf_world_context(mf_group_world(group)), config->truss, error));
    MF_TRY(mf_truss_motion_fields(group, motion, error));
    return choose_kernel(group, motion, error);
}

const mf_TrussMotion *mf_truss_motion_of(const mf_Group *group) {
    const mf_TrussMotion *frames = mf_motion_plan(group, &mf_quasistatic_row);
    return frames != NULL ? frames : mf_motion_plan(group, &mf_elastic_row);
}

// ---- energy and momentum -----------------------------------------------------------------------

// Weight m g z, k (l - l0)^2 / 2 of bars and m v^2 / 2.
mf_MotionEnergy mf_truss_motion_energy(const mf_Group *group, const void *plan, uint32_t instance) {
    const mf_TrussMotion *motion = plan;
    mf_MotionEnergy energy = {0};
    (void)group;
    for (uint32_t v = 0; v < mf_truss_number(motion, instance, MF_TRUSS_VERTICES); v++) {
        const double mass = mf_truss_get(motion, MF_TRUSS_ROW_MASS, instance, v);
        for (uint32_t c = 0; c < 3 && motion->plan.dynamic; c++) {
            const double v_c =
                mf_truss_get(motion, MF_TRUSS_ROW_VELOCITY, instance, 3 * (size_t)v + c);
            energy.kinetic += 0.5 * mass * v_c * v_c;
        }
        for (uint32_t c = 0; c < 3; c++)
            energy.potential -=
                mass * motion->plan.gravity[c] *
                mf_truss_get(motion, MF_TRUSS_ROW_POSITION, instance, 3 * (size_t)v + c);
    }
    for (uint32_t b = 0; b < mf_truss_number(motion, instance, MF_TRUSS_BARS); b++) {
        const double force = mf_truss_get(motion, MF_TRUSS_ROW_FORCE, instance, b);
        energy.elastic += 0.5 * force * force *
                          mf_truss_get(motion, MF_TRUSS_ROW_REST, instance, b) /
                          mf_truss_get(motion, MF_TRUSS_ROW_RIGIDITY, instance, b);
    }
    return energy;
}

// Position, velocity and, as the result, mass of a vertex.
static double read_vertex(const mf_TrussMotion *motion, uint32_t instance, uint32_t vertex,
                          double position[3], double velocity[3]) {
    mf_field_read(motion->rows[MF_TRUSS_ROW_POSITION], instance, 3 * vertex, 3, position);
    mf_field_read(motion->rows[MF_TRUSS_ROW_VELOCITY], instance, 3 * vertex, 3, velocity);
    return mf_truss_get(motion, MF_TRUSS_ROW_MASS, instance, vertex);
}

// The center of mass, and the sums of m v and of (x - center) x m v.
void mf_truss_motion_momentum(const mf_Group *group, const void *plan, uint32_t instance,
                              double center[3], double linear[3], double angular[3]) {
    const mf_TrussMotion *motion = plan;
    (void)group;
    const uint32_t count = mf_truss_number(motion, instance, MF_TRUSS_VERTICES);
    double all = 1e-300, position[3], velocity[3], arm[3], spin[3];
    for (uint32_t c = 0; c < 3; c++)
        center[c] = linear[c] = angular[c] = 0.0;
    for (uint32_t v = 0; v < count; v++) {
        const double mass = read_vertex(motion, instance, v, position, velocity);
        all += mass;
        mf_vec3_add_scaled(center, center, mass, position);
        mf_vec3_add_scaled(linear, linear, mass, velocity);
    }
    mf_vec3_scale(center, center, 1.0 / all);
    for (uint32_t v = 0; v < count; v++) {
        const double mass = read_vertex(motion, instance, v, position, velocity);
        mf_vec3_sub(arm, position, center);
        mf_vec3_cross(spin, arm, velocity);
        mf_vec3_add_scaled(angular, angular, mass, spin);
    }
}

// ---- what both rows of the motion table have ---------------------------------------------------

const char *const mf_truss_motion_reads[] = {"vertex.load", "?actuator.control", "bar.rigidity",
                                             NULL};
const char *const mf_truss_motion_writes[] = {"base.position",    "base.linear_velocity",
                                              "vertex.position",  "?vertex.velocity",
                                              "?vertex.movement", "?vertex.movement_change",
                                              "bar.rest_length",  "bar.force",
                                              "bar.stress",       "?contact.anchor",
                                              "?contact.force",   "frame.relaxation",
                                              "frame.iterations", "fault.word",
                                              "warning.word",     "warning.steps",
                                              "warning.residual", NULL};
