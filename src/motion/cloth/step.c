// A step of cloth: fields to working memory, substeps, back. Within a substep all vertices move on,
// then all constraints get one pass, wave by wave; the next substep begins by what meets vertices.
#include "math/scalar.h"
#include "motion/cloth/motion.h"
#include "world/attach.h"

typedef struct Step {
    const mf_ClothMotion *motion;
    mf_Context *context; // NULL: one thread
    uint32_t instance;
    mf_ClothJob job;
    uint8_t *row_held;     // [1] per row of places: 1: a vertex in it is pinned
    mf_ClothSum *sums;     // per piece
    uint32_t pieces, wave; // [1]
    bool ends, begins;     // of mf_cloth_move
} Step;

// ---- memory
// --------------------------------------------------------------------------------------

static uint32_t row_count(const mf_ClothPlan *plan) {
    return plan->place_count / MF_CLOTH_LANES;
}

static uint32_t piece_count(const mf_ClothPlan *plan) {
    return (row_count(plan) + MF_CLOTH_PIECE - 1) / MF_CLOTH_PIECE;
}

static size_t work_bytes(const mf_ClothMotion *motion) {
    return MF_CLOTH_WORK * mf_cloth_room(motion->plan) * (motion->wide ? sizeof(double)
                                                                        : sizeof(float));
}

static size_t round_up(size_t bytes) {
    return (bytes + 63) / 64 * 64;
}

size_t mf_cloth_scratch(const mf_ClothMotion *motion) {
    const mf_ClothPlan *plan = motion->plan;
    return round_up(work_bytes(motion)) + round_up(piece_count(plan) * sizeof(mf_ClothSum)) +
           round_up(plan->batch_count) + row_count(plan) + 2;
}

static void *row_at(const mf_Field *field, uint32_t instance) {
    const mf_Row row = mf_row(field);
    return mf_row_at(&row, instance / MF_BLOCK, instance % MF_BLOCK);
}

static Step begin(const mf_ClothMotion *motion, mf_Context *context, uint32_t instance,
                  char *scratch) {
    const mf_ClothPlan *plan = motion->plan;
    Step step = {.motion = motion, .context = context, .instance = instance};
    step.pieces = piece_count(plan);
    step.job = (mf_ClothJob){.plan = plan,
                             .terrain = motion->terrain,
                             .work = scratch,
                             .position = row_at(motion->rows[MF_CLOTH_ROW_POSITION], instance),
                             .velocity = row_at(motion->rows[MF_CLOTH_ROW_VELOCITY], instance),
                             .substep = mf_time_to_seconds(motion->step) / plan->substeps};
    scratch += round_up(work_bytes(motion));
    step.sums = (mf_ClothSum *)(void *)scratch;
    scratch += round_up(step.pieces * sizeof *step.sums);
    step.job.pulls = (uint8_t *)scratch;
    step.row_held = step.job.pulls + round_up(plan->batch_count);
    return step;
}

// A value of an array of the working memory.
static double get(const Step *step, uint32_t array, uint32_t at) {
    const size_t index = array * mf_cloth_room(step->motion->plan) + at;
    return step->motion->wide ? ((const double *)step->job.work)[index]
                              : (double)((const float *)step->job.work)[index];
}

static void put(const Step *step, uint32_t array, uint32_t at, double value) {
    const size_t index = array * mf_cloth_room(step->motion->plan) + at;
    if (step->motion->wide)
        ((double *)step->job.work)[index] = value;
    else
        ((float *)step->job.work)[index] = (float)value;
}

// What lanes without a constraint read.
static void clear_spare(const Step *step) {
    const uint32_t places = step->motion->plan->place_count;
    for (uint32_t array = 0; array < MF_CLOTH_WORK; array++)
        for (uint32_t at = places; at < mf_cloth_room(step->motion->plan); at++)
            put(step, array, at, 0.0);
}

// ---- work for threads
// ----------------------------------------------------------------------------

static void share(Step *step, uint32_t count, mf_TaskFn task) {
    if (step->context != NULL && count > 1) {
        mf_parallel_for(step->context, count, task, step);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        task(step, i);
}

static uint32_t rows_of(const Step *step, uint32_t piece) {
    const uint32_t left = row_count(step->motion->plan) - piece * MF_CLOTH_PIECE;
    return left < MF_CLOTH_PIECE ? left : MF_CLOTH_PIECE;
}

static void load_piece(void *task, uint32_t piece) {
    const Step *step = task;
    step->motion->kernels.load(&step->job, piece * MF_CLOTH_PIECE, rows_of(step, piece));
}

static void store_piece(void *task, uint32_t piece) {
    const Step *step = task;
    step->motion->kernels.store(&step->job, piece * MF_CLOTH_PIECE, rows_of(step, piece));
}

static void move_piece(void *task, uint32_t piece) {
    const Step *step = task;
    step->motion->kernels.move(&step->job, piece * MF_CLOTH_PIECE, rows_of(step, piece),
                               step->ends, step->begins);
}

static void sum_piece(void *task, uint32_t piece) {
    const Step *step = task;
    step->motion->kernels.sum(&step->job, piece * MF_CLOTH_PIECE, rows_of(step, piece),
                              &step->sums[piece]);
}

static void solve_chunk(void *task, uint32_t chunk) {
    const Step *step = task;
    const mf_ClothRange *wave = &mf_cloth_waves(step->motion->plan)[step->wave];
    step->motion->kernels.solve(&step->job, wave->first + chunk);
}

// ---- pins
// ----------------------------------------------------------------------------------------

static uint32_t place_of_pin(const Step *step, uint32_t pin) {
    const uint32_t vertex = mf_cloth_pinned(step->motion, step->instance, pin);
    return vertex == MF_NONE ? MF_NONE : mf_cloth_place_of(step->motion->plan)[vertex];
}

static bool batch_is_held(const Step *step, const mf_ClothBatch *batch) {
    const int32_t *places = mf_cloth_places(step->motion->plan);
    bool held = false;
    for (uint32_t node = 0; node < mf_cloth_nodes(batch->kind); node++) {
        if (batch->places == MF_CLOTH_APART) {
            const uint32_t first = batch->at[node], last = first + MF_CLOTH_LANES - 1;
            held |= step->row_held[first / MF_CLOTH_LANES] || step->row_held[last / MF_CLOTH_LANES];
            continue;
        }
        for (uint32_t lane = 0; lane < MF_CLOTH_LANES; lane++)
            held |= step->row_held[places[batch->places + node * MF_CLOTH_LANES + lane] /
                                   MF_CLOTH_LANES] != 0;
    }
    return held;
}

// A pinned vertex has no inverse mass and the velocity that takes it to its anchor.
static uint32_t begin_pins(Step *step) {
    const mf_ClothPlan *plan = step->motion->plan;
    const double rate = 1.0 / mf_time_to_seconds(step->motion->step);
    uint32_t held = 0;
    memset(step->job.pulls, 0, plan->batch_count);
    memset(step->row_held, 0, row_count(plan) + 2);
    for (uint32_t pin = 0; pin < plan->pin_count; pin++) {
        const uint32_t at = place_of_pin(step, pin);
        if (at == MF_NONE)
            continue;
        for (uint32_t c = 0; c < 3; c++) {
            const double anchor =
                mf_field_get(step->motion->rows[MF_CLOTH_ROW_ANCHOR], step->instance, 3 * pin + c);
            put(step, MF_CLOTH_V + c, at, (anchor - get(step, MF_CLOTH_X + c, at)) * rate);
        }
        put(step, MF_CLOTH_W, at, 0.0);
        step->row_held[at / MF_CLOTH_LANES] = 1;
        held++;
    }
    for (uint32_t i = 0; held > 0 && i < plan->batch_count; i++)
        step->job.pulls[i] = batch_is_held(step, &mf_cloth_batches(plan)[i]);
    return held;
}

// What the cloth pulls a pin with: the pushes of the constraints on its vertex, its weight, and the
// inertia of the vertex, whose velocity before the step is still in the field.
static void end_pins(const Step *step) {
    const mf_ClothMotion *motion = step->motion;
    const double rate = 1.0 / mf_time_to_seconds(motion->step);
    for (uint32_t pin = 0; pin < motion->plan->pin_count; pin++) {
        const uint32_t at = place_of_pin(step, pin);
        const uint32_t vertex = mf_cloth_pinned(motion, step->instance, pin);
        for (uint32_t c = 0; c < 3; c++) {
            double force = 0.0;
            if (at != MF_NONE) {
                const double mass = mf_cloth_masses_f64(motion->plan)[at];
                const double before =
                    mf_field_get(motion->rows[MF_CLOTH_ROW_VELOCITY], step->instance, 3 * vertex + c);
                const double change = get(step, MF_CLOTH_V + c, at) - before;
                force = get(step, MF_CLOTH_Q + c, at) / step->job.substep * rate +
                        mass * (motion->plan->gravity[c] - change * rate);
                put(step, MF_CLOTH_X + c, at,
                    mf_field_get(motion->rows[MF_CLOTH_ROW_ANCHOR], step->instance, 3 * pin + c));
            }
            mf_field_set(motion->rows[MF_CLOTH_ROW_FORCE], step->instance, 3 * pin + c, force);
        }
    }
}

// ---- the step
// ------------------------------------------------------------------------------------

static void run_substeps(Step *step) {
    const mf_ClothPlan *plan = step->motion->plan;
    step->begins = true;
    for (uint32_t i = 0; i < plan->substeps; i++) {
        share(step, step->pieces, move_piece);
        step->ends = true;
        for (step->wave = 0; step->wave < plan->wave_count; step->wave++)
            share(step, mf_cloth_waves(plan)[step->wave].count, solve_chunk);
    }
    step->begins = false;
    share(step, step->pieces, move_piece);
}

static mf_ClothSum add_sums(Step *step) {
    mf_ClothSum all = {.broken = false};
    share(step, step->pieces, sum_piece);
    for (uint32_t piece = 0; piece < step->pieces; piece++) {
        const mf_ClothSum *sum = &step->sums[piece];
        mf_vec3_add(all.position, all.position, sum->position);
        mf_vec3_add(all.momentum, all.momentum, sum->momentum);
        all.touching += sum->touching;
        all.broken |= sum->broken;
    }
    return all;
}

static void put_base(const Step *step, const mf_ClothSum *sum) {
    const mf_ClothMotion *motion = step->motion;
    for (uint32_t c = 0; c < 3; c++) {
        mf_field_set(motion->body[0], step->instance, c, sum->position[c] / motion->mass);
        mf_field_set(motion->body[2], step->instance, c,
                     sum->momentum[c] / motion->mass +
                         step->job.lead * motion->plan->gravity[c]);
    }
}

void mf_cloth_step(const mf_ClothMotion *motion, mf_Context *context, uint32_t instance) {
    void *scratch = mf_scratch_borrow(motion->scratch);
    Step step = begin(motion, context, instance, scratch);
    const mf_Field *contacts = motion->rows[MF_CLOTH_ROW_CONTACTS];
    // A cloth that nothing holds or touches falls exactly: its velocity is that at the end of a step,
    // that of substeps half a substep older.
    const double lead = 0.5 * step.job.substep;
    step.job.lead = mf_field_get(contacts, instance, 0) > 0.0 ? 0.0 : lead;
    share(&step, step.pieces, load_piece);
    clear_spare(&step);
    const uint32_t held = begin_pins(&step);
    run_substeps(&step);
    const mf_ClothSum sum = add_sums(&step);
    if (sum.broken) {
        ((uint32_t *)motion->fault->data)[instance] |= MF_FAULT_NONFINITE;
    } else {
        const double touching = sum.touching + held;
        step.job.lead = touching > 0.0 ? 0.0 : lead;
        end_pins(&step);
        share(&step, step.pieces, store_piece);
        put_base(&step, &sum);
        mf_field_set(motion->rows[MF_CLOTH_ROW_CONTACTS], instance, 0, touching);
    }
    mf_scratch_return(motion->scratch, scratch);
}

void mf_cloth_run(const mf_SystemRun *run, void *user) {
    const mf_ClothMotion *motion = user;
    const uint32_t first = run->first_block * MF_BLOCK, count = mf_group_count(run->group);
    const uint32_t end = first + run->block_count * MF_BLOCK;
    for (uint32_t i = first; !motion->driven && i < end && i < count; i++)
        if (((const uint32_t *)motion->fault->data)[i] == 0)
            mf_cloth_step(motion, NULL, i);
}
