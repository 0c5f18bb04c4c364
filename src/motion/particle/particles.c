// Groups of particles: fields, memory, and the system of the world that steps them.
//
// A substep: the box of all particles that take part; their cells; a counting sort; the sorted rows
// of values; a kernel per range of rows of cells. The sort is serial, the rest is cut into pieces
// by the number of the particle or of the row, so that nothing depends on the threads.
#include "motion/particle/mixture.h"
#include "motion/particle/motion.h"
#include "base/context.h"
#include "world/attach.h"
#include "world/systems.h"

#include "math/scalar.h"

#include <math.h>
#include <string.h>

// [1] spacings beyond its reach within which a fluid lists neighbors, for steps in which nobody has
// moved by half of it.
static const double skin = 0.2;

static const mf_FieldInfo waiting_field = {"particle.waiting",
                                           "1",
                                           "",
                                           MF_U32,
                                           MF_PER_INSTANCE,
                                           1,
                                           MF_FIELD_STATE,
                                           "1: an emitter has not put it into the world yet"};

mf_Particles *mf_particles_of(const mf_Group *group) {
    static const mf_MotionRow *const rows[] = {&mf_fluid_row, &mf_grains_row, &mf_debris_row};
    mf_Particles *all = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && all == NULL; i++)
        all = mf_motion_plan(group, rows[i]);
    return all;
}

double mf_particles_spacing(const mf_Group *group) {
    const mf_Particles *all = mf_particles_of(group);
    return all != NULL ? all->plan.spacing : 0.0;
}

uint32_t mf_particles_substeps(const mf_Group *group) {
    const mf_Particles *all = mf_particles_of(group);
    return all != NULL ? all->plan.substeps : 0;
}

// ---- a step -------------------------------------------------------------------------------------

typedef struct Work {
    mf_Particles *all;
    void (*run)(mf_Particles *all, uint32_t piece);
} Work;

static void run_piece(void *context, uint32_t index) {
    const Work *work = context;
    work->run(work->all, index);
}

void mf_particles_share(mf_Particles *all, void (*run)(mf_Particles *all, uint32_t piece)) {
    Work work = {all, run};
    mf_parallel_for(all->context, MF_PARTICLE_PIECES, run_piece, &work);
}

uint32_t mf_particles_part(uint32_t count, uint32_t piece) {
    return (uint32_t)((uint64_t)count * piece / MF_PARTICLE_PIECES);
}

// A value of a field with three components.
static double value_of(const mf_Field *field, uint32_t i, uint32_t c) {
    const size_t at = ((size_t)(i / MF_BLOCK) * 3 + c) * MF_BLOCK + i % MF_BLOCK;
    return field->info.type == MF_F64 ? ((const double *)field->data)[at]
                                      : (double)((const float *)field->data)[at];
}

// Whether a particle takes part; one whose state is not finite raises a fault.
static bool takes_part(mf_Particles *all, uint32_t i, double position[3]) {
    uint32_t *fault = all->fault->data;
    double sum = 0.0, size = 0.0;
    if (fault[i] != 0 || ((const uint32_t *)all->waiting->data)[i] != 0)
        return false;
    for (uint32_t c = 0; c < 3; c++) {
        position[c] = value_of(all->position, i, c);
        size += mf_abs(position[c]);
        sum += mf_abs(value_of(all->velocity, i, c));
    }
    if (!(sum <= 1e30) || !(size <= 1e30))
        fault[i] |= MF_FAULT_NONFINITE;
    else if (size > 1e7)
        fault[i] |= MF_FAULT_RANGE;
    return fault[i] == 0;
}

static void find_box(mf_Particles *all, uint32_t piece) {
    const uint32_t count = mf_group_count(all->group);
    mf_ParticleBox *box = &all->boxes[piece];
    for (int c = 0; c < 3; c++) {
        box->low[c] = (double)INFINITY;
        box->high[c] = -(double)INFINITY;
    }
    for (uint32_t i = mf_particles_part(count, piece); i < mf_particles_part(count, piece + 1);
         i++) {
        double at[3];
        all->cells.cell[i] = -1;
        if (!takes_part(all, i, at))
            continue;
        all->cells.cell[i] = 0;
        for (int c = 0; c < 3; c++) {
            box->low[c] = at[c] < box->low[c] ? at[c] : box->low[c];
            box->high[c] = at[c] > box->high[c] ? at[c] : box->high[c];
        }
    }
}

static void find_cells(mf_Particles *all, uint32_t piece) {
    const uint32_t count = mf_group_count(all->group);
    for (uint32_t i = mf_particles_part(count, piece); i < mf_particles_part(count, piece + 1); i++)
        if (all->cells.cell[i] == 0)
            all->cells.cell[i] =
                mf_particle_cell(&all->cells, value_of(all->position, i, 0),
                                 value_of(all->position, i, 1), value_of(all->position, i, 2));
}

static void gather_rows(mf_Particles *all, uint32_t piece) {
    const uint32_t first = mf_particles_part(all->cells.count, piece),
                   end = mf_particles_part(all->cells.count, piece + 1);
    for (uint32_t rank = first; rank < end && !all->task.listed; rank++)
        all->cells.column[rank] = all->cells.cell[all->cells.order[rank]] % all->cells.size[0];
    all->moved[piece] = all->gather(&all->task, first, end - first);
}

static void step_rows(mf_Particles *all, uint32_t piece) {
    const size_t solids = all->task.solid_count;
    double(*wrench)[6] = solids > 0 ? all->wrench + piece * solids : NULL;
    if (solids > 0)
        memset(wrench, 0, solids * sizeof *wrench);
    const uint32_t first = all->first_row[piece], end = all->first_row[piece + 1];
    all->step(&all->task, first, end - first, wrench);
}

// The box of all pieces; false: no particle takes part.
static bool join_boxes(const mf_Particles *all, mf_ParticleBox *out) {
    *out = all->boxes[0];
    for (uint32_t p = 1; p < MF_PARTICLE_PIECES; p++)
        for (int c = 0; c < 3; c++) {
            const mf_ParticleBox *box = &all->boxes[p];
            out->low[c] = box->low[c] < out->low[c] ? box->low[c] : out->low[c];
            out->high[c] = box->high[c] > out->high[c] ? box->high[c] : out->high[c];
        }
    return out->low[0] <= out->high[0];
}

// Cuts the rows of cells so that each piece has about as many particles.
static void cut_rows(mf_Particles *all) {
    const mf_ParticleCells *cells = &all->cells;
    const uint32_t rows = (uint32_t)cells->size[1] * (uint32_t)cells->size[2];
    uint32_t row = 0;
    for (uint32_t p = 0; p < MF_PARTICLE_PIECES; p++) {
        while (row < rows && (uint32_t)cells->starts[(size_t)row * (uint32_t)cells->size[0]] <
                                 mf_particles_part(cells->count, p))
            row++;
        all->first_row[p] = p == 0 ? 0 : row;
    }
    all->first_row[MF_PARTICLE_PIECES] = rows;
}

// Solids near the particles, moved on to this substep.
static void choose_solids(mf_Particles *all, uint32_t substep) {
    mf_ParticleCoupling *coupling = all->coupling;
    all->task.solid_count = 0;
    if (coupling == NULL)
        return;
    const double time = substep * all->plan.step;
    for (uint32_t s = 0; s < coupling->count; s++) {
        mf_Solid *solid = &all->solids[s];
        mf_solid_after(solid, &coupling->solids[s], time);
        for (int c = 0; c < 3; c++) // nothing of it is near: an empty box
            if (all->box.low[c] - all->skin > solid->high[c] ||
                all->box.high[c] + all->skin < solid->low[c])
                solid->low[0] = (double)INFINITY;
    }
    all->task.solids = all->solids;
    all->task.solid_count = coupling->count;
}

static void sum_wrenches(mf_Particles *all) {
    const uint32_t solids = all->task.solid_count;
    const double share = 1.0 / all->plan.substeps;
    for (uint32_t p = 0; p < MF_PARTICLE_PIECES; p++)
        for (uint32_t s = 0; s < solids; s++)
            for (int c = 0; c < 6; c++)
                all->coupling->wrench[s][c] += share * all->wrench[(size_t)p * solids + s][c];
}

static void set_task(mf_Particles *all) {
    const mf_ParticleCells *cells = &all->cells;
    all->task.starts = cells->starts;
    all->task.column = cells->column;
    all->task.order = cells->order;
    memcpy(all->task.size, cells->size, sizeof all->task.size);
    all->task.count = cells->count;
}

// [s] When a substep begins: the number where the one before ended, or layers of emitters at that
// time would leave twice or never.
static double begin_of(const mf_Particles *all, const mf_WorldRun *run, uint32_t number) {
    return number == all->plan.substeps ? mf_time_to_seconds(run->time + run->step)
                                        : mf_time_to_seconds(run->time) + number * all->plan.step;
}

static bool in_reach_of_lists(const mf_Particles *all) {
    double most = 0.0;
    for (uint32_t p = 0; p < MF_PARTICLE_PIECES; p++)
        most = all->moved[p] > most ? all->moved[p] : most;
    return most < 0.24 * all->skin * all->skin; // less than half of it
}

// Emits, and sorts and gathers, or gathers alone where nobody has come into reach since the last
// sorting. Where no particle takes part none is sorted.
static void prepare(mf_Particles *all, const mf_WorldRun *run, uint32_t number) {
    if (mf_particles_emit(all, begin_of(all, run, number), begin_of(all, run, number + 1)))
        all->task.listed = false;
    if (all->task.listed) {
        mf_particles_share(all, gather_rows);
        all->task.listed = in_reach_of_lists(all);
    }
    if (!all->task.listed) {
        mf_particles_share(all, find_box);
        all->cells.count = 0;
        if (!join_boxes(all, &all->box))
            return;
        mf_particle_cells_fit(&all->cells, all->box.low, all->box.high);
        mf_particles_share(all, find_cells);
        mf_particle_cells_sort(&all->cells, mf_group_count(all->group));
        set_task(all);
        cut_rows(all);
        mf_particles_share(all, gather_rows);
    }
    choose_solids(all, number);
}

static void finish(mf_Particles *all) {
    if (all->cells.count == 0)
        return;
    mf_particles_share(all, step_rows);
    sum_wrenches(all);
    all->task.listed = all->skin > 0.0 && all->mixture == NULL;
}

static void begin_step(mf_Particles *all) {
    all->next_waiting = 0; // fields may have been written
    all->task.listed = false;
    if (all->coupling != NULL)
        all->coupling->find(all->coupling->user);
}

// All groups substep by substep.
static void run_mixture(const mf_WorldRun *run, mf_ParticleMixture *mixture) {
    for (uint32_t g = 0; g < mixture->count; g++)
        begin_step(mixture->groups[g]);
    for (uint32_t k = 0; k < mixture->groups[0]->plan.substeps; k++) {
        for (uint32_t g = 0; g < mixture->count; g++)
            prepare(mixture->groups[g], run, k);
        mf_mixture_exchange(mixture);
        for (uint32_t g = 0; g < mixture->count; g++)
            finish(mixture->groups[g]);
    }
}

// The system of a mixture's first group steps all of it.
static void run_particles(const mf_WorldRun *run, void *user) {
    mf_Particles *all = user;
    if (all->mixture != NULL) {
        if (all->mixture->groups[0] == all)
            run_mixture(run, all->mixture);
        return;
    }
    begin_step(all);
    for (uint32_t k = 0; k < all->plan.substeps; k++) {
        prepare(all, run, k);
        finish(all);
    }
}

// ---- creation -----------------------------------------------------------------------------------

mf_Status mf_particles_model(const mf_Group *group, const char *motion, double *mass,
                             double *radius, mf_Error *error) {
    const mf_Model *model = mf_group_model(group);
    *radius = 0.0;
    for (uint32_t s = 0; s < model->shape_count; s++)
        if (model->shapes[s].type == MF_SHAPE_SPHERE && model->shapes[s].link == 0)
            *radius = model->shapes[s].size[0];
    MF_CHECK(model->base == MF_BASE_FREE && model->link_count == 1 && model->links[0].mass > 0.0 &&
                 *radius > 0.0,
             error, MF_UNSUPPORTED,
             "%s: a particle is one free link with a mass and a sphere, model %s is not", motion,
             model->name);
    if (mf_group_config_of(group)->isolated)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s: group %s is isolated, need a shared one",
                       motion, mf_group_config_of(group)->name);
    *mass = model->links[0].mass;
    return MF_OK;
}

void mf_particles_set_substeps(mf_Particles *all, uint32_t substeps) {
    const mf_Time step = mf_world_config_of(mf_group_world(all->group))->step;
    all->plan.substeps = substeps;
    all->plan.step = mf_time_to_seconds(step) / substeps;
    all->plan.ahead = all->ahead * all->plan.step;
}

// The step of the world in equal parts that are short enough.
static mf_Status choose_substeps(mf_Particles *all, double longest, mf_Error *error) {
    const double step = mf_time_to_seconds(mf_world_config_of(mf_group_world(all->group))->step);
    const double parts = ceil(step / longest * (1.0 - 1e-12));
    MF_NEED(parts <= 10000.0, error,
            "%s: the step of %g s would need %g substeps of at most %g s, at most 10000",
            all->row->name, step, parts, longest);
    mf_particles_set_substeps(all, parts < 1.0 ? 1 : (uint32_t)parts);
    return MF_OK;
}

static mf_Status find_fields(mf_Particles *all, mf_Error *error) {
    mf_Field *body[MF_BODY_ROWS];
    mf_canonical_rows(all->group, body, MF_BODY_ROWS);
    all->position = body[0];
    all->orientation = body[1];
    all->velocity = body[2];
    all->rate = body[3];
    all->fault = mf_group_find_field(all->group, "fault.word");
    MF_TRY(mf_attach_field(all->group, &waiting_field, 0, &all->waiting, error));
    return mf_attach_warnings(all->group, &all->warnings, error);
}

static void *make_rows(const mf_Particles *all, size_t rows) {
    const size_t capacity = (size_t)mf_group_count(all->group) + MF_PARTICLE_PAD;
    return mf_allocate(all->context, rows * capacity, all->wide ? sizeof(double) : sizeof(float));
}

// Of a fluid. Lists have space for some more neighbors than there are at rest.
static bool make_lists(mf_Particles *all) {
    const double spacings = all->task.list_reach / all->plan.spacing;
    const double neighbors = 4.19 * spacings * spacings * spacings;
    const size_t count = mf_group_count(all->group);
    all->task.list_capacity = 8 + (uint32_t)(1.25 * neighbors);
    all->task.records = make_rows(all, MF_FLUID_RECORD);
    all->task.lists = mf_allocate(all->context, count * all->task.list_capacity, sizeof(int32_t));
    all->task.list_count = mf_allocate(all->context, count, sizeof(uint32_t));
    return all->task.records != NULL && all->task.lists != NULL && all->task.list_count != NULL;
}

static mf_Status make_memory(mf_Particles *all, mf_Error *error) {
    const bool fluid = all->row == &mf_fluid_row;
    const uint32_t count = mf_group_count(all->group);
    // Where there is one substep only, the lists serve no other.
    all->skin = fluid && all->plan.substeps > 1 ? skin * all->plan.spacing : 0.0;
    all->task.list_reach = all->plan.reach + all->skin;
    MF_TRY(mf_particle_cells_create(all->context, count, all->task.list_reach * (1.0 + 1e-6),
                                    &all->cells, error));
    bool made = !fluid || make_lists(all);
    for (int r = 0; r < MF_PARTICLE_ROWS && made; r++) {
        all->task.rows[r] = make_rows(all, 1);
        made = all->task.rows[r] != NULL;
    }
    return made ? MF_OK
                : mf_fail(error, MF_NO_MEMORY, "particles: no memory for %u particles", count);
}

static mf_ParticleField field_of(const mf_Field *field) {
    return field == NULL ? (mf_ParticleField){.base = NULL}
                         : (mf_ParticleField){field->data, field->components, mf_row(field).low};
}

static void bind_task(mf_Particles *all) {
    all->task.plan = &all->plan;
    all->task.terrain = mf_terrain_image(mf_world_config_of(mf_group_world(all->group))->terrain);
    all->task.position = field_of(all->position);
    all->task.velocity = field_of(all->velocity);
    all->task.rate = field_of(all->rate);
    all->task.orientation = field_of(all->orientation);
    all->task.pressure = field_of(all->pressure);
    all->task.pressure_rate = field_of(all->pressure_rate);
    all->task.contact_with = field_of(all->contact_with);
    all->task.contact_slip = field_of(all->contact_slip);
    all->task.fault = all->fault->data;
    all->task.warning = all->warnings.word->data;
    all->task.warning_steps = all->warnings.steps->data;
    all->task.warning_residual = all->warnings.residual->data;
}

void mf_particles_destroy(mf_Context *context, void *user) {
    mf_Particles *all = user;
    mf_particle_cells_free(context, &all->cells);
    for (int r = 0; r < MF_PARTICLE_ROWS; r++)
        mf_release(context, all->task.rows[r]);
    mf_release(context, all->task.records);
    mf_release(context, all->task.lists);
    mf_release(context, all->task.list_count);
    mf_particles_free_nozzles(all);
    mf_release(context, all->solids);
    mf_release(context, all->wrench);
    mf_release(context, all);
}

mf_Status mf_particles_make(mf_Particles *all, mf_Group *group, const mf_MotionRow *row,
                            const mf_ParticleDraft *draft, mf_Error *error) {
    const mf_WorldConfig *world = mf_world_config_of(mf_group_world(group));
    if (mf_world_system_count(mf_group_world(group)) == MF_WORLD_SYSTEM_LIMIT)
        return mf_fail(error, MF_LIMIT, "world: at most %u systems", MF_WORLD_SYSTEM_LIMIT);
    all->context = mf_world_context(mf_group_world(group));
    all->group = group;
    all->row = row;
    all->plan = draft->plan;
    all->plan.bytes = sizeof all->plan;
    all->plan.gravity_size = world->gravity;
    double down[3];
    mf_vec3_copy(down, world->gravity_direction);
    mf_vec3_normalize(down);
    mf_vec3_scale(all->plan.gravity, down, world->gravity);
    all->placed = draft->placed;
    all->wide = mf_group_config_of(group)->double_precision;
    all->ahead = draft->ahead;
    MF_TRY(choose_substeps(all, draft->longest, error));
    MF_TRY(find_fields(all, error));
    MF_TRY(make_memory(all, error));
    return mf_particles_make_nozzles(all, draft, error);
}

mf_Status mf_particles_begin(mf_Group *group, const mf_MotionsConfig *motions, void *plan,
                             mf_Error *error) {
    mf_Particles *all = plan;
    mf_WorldSystemConfig system =
        mf_attach_world_system(all->row->name, MF_PHASE_MOTION, run_particles, all);
    (void)motions;
    system.reads = all->row->reads;
    system.writes = all->row->writes;
    bind_task(all);
    MF_TRY(mf_world_add_system(mf_group_world(group), &system, error));
    for (uint32_t i = 0; i < mf_group_count(group); i++)
        mf_particles_reset(group, i, all);
    return MF_OK;
}

void mf_particles_run(const mf_SystemRun *run, void *plan) {
    (void)run;
    (void)plan;
}

// ---- the rows -----------------------------------------------------------------------------------

void mf_particles_reset(mf_Group *group, uint32_t instance, void *user) {
    mf_Particles *all = user;
    (void)group;
    ((uint32_t *)all->waiting->data)[instance] = instance >= all->placed;
    mf_field_clear(all->pressure, instance);
    mf_field_clear(all->pressure_rate, instance);
    mf_field_clear(all->contact_with, instance);
    mf_field_clear(all->contact_slip, instance);
}

void mf_particles_momentum(const mf_Group *group, const void *plan, uint32_t instance,
                           double center[3], double linear[3], double angular[3]) {
    const mf_Particles *all = plan;
    (void)group;
    const bool absent = ((const uint32_t *)all->waiting->data)[instance] != 0;
    for (uint32_t c = 0; c < 3; c++) {
        center[c] = mf_field_get(all->position, instance, c);
        linear[c] = absent ? 0.0 : all->plan.mass * mf_field_get(all->velocity, instance, c);
        angular[c] = absent ? 0.0 : all->plan.inertia * mf_field_get(all->rate, instance, c);
    }
}

// Kinetic energy and m g z; what else it has is the motion's.
mf_MotionEnergy mf_particles_energy(const mf_Group *group, const void *plan, uint32_t instance) {
    const mf_Particles *all = plan;
    mf_MotionEnergy energy = {0};
    (void)group;
    if (((const uint32_t *)all->waiting->data)[instance] != 0)
        return energy;
    for (uint32_t c = 0; c < 3; c++) {
        const double v = mf_field_get(all->velocity, instance, c);
        const double w = mf_field_get(all->rate, instance, c);
        energy.kinetic += 0.5 * all->plan.mass * v * v + 0.5 * all->plan.inertia * w * w;
        energy.potential -=
            all->plan.mass * all->plan.gravity[c] * mf_field_get(all->position, instance, c);
    }
    return energy;
}
