// A step of cloth: fields to working memory, substeps, back. Within a substep all vertices move on,
// then all constraints get one pass, wave by wave; the next substep begins by what meets vertices.
#include "base/context.h"
#include "math/scalar.h"
#include "motion/cloth/step.h"
#include "world/attach.h"

enum { VERTICES = 512 };           // [1] that are loaded and stored as one piece of work
enum { SOLVER, CONTACTS, SHAPES }; // [1] components of MF_WARNING_SOLVER, _CONTACTS and _SHAPES
#define SOFT 0.01                  // [1] residual above which a warning is raised
#define SOFT_PART 0.25  // [1] of the strain that there is, likewise, where it is more than
#define SOFT_LEAST 2e-4 // [1] this

// ---- memory ------------------------------------------------------------------------------------

static uint32_t piece_count(const mf_ClothPlan *plan) {
    return (mf_cloth_rows(plan) + MF_CLOTH_PIECE - 1) / MF_CLOTH_PIECE;
}

static size_t work_bytes(const mf_ClothMotion *motion) {
    return MF_CLOTH_WORK * mf_cloth_scratch_size(motion->plan) *
           (motion->wide ? sizeof(double) : sizeof(float));
}

// Buckets are as many as vertices, so that few cells share one.
static uint32_t bucket_count(const mf_ClothPlan *plan) {
    uint32_t count = 1;
    while (count < plan->vertex_count)
        count *= 2;
    return count;
}

static size_t self_bytes(const mf_ClothPlan *plan) {
    const size_t vertices = plan->vertex_count, pieces = plan->vertex_count / VERTICES + 1;
    return plan->self_distance > 0.0 ? mf_cloth_round_up(((5 + MF_CLOTH_NEAR) * vertices +
                                                          bucket_count(plan) + 1 + pieces) *
                                                         sizeof(uint32_t))
                                     : 0;
}

// Of one obstacle and piece.
static size_t push_bytes(const mf_ClothMotion *motion) {
    return (size_t)MF_CLOTH_PUSH * MF_CLOTH_LANES * (motion->wide ? sizeof(double) : sizeof(float));
}

// Of what constraints are after their turn, and of the residuals of chunks.
static size_t after_bytes(const mf_ClothMotion *motion) {
    const size_t values = (size_t)motion->plan->batch_count * MF_CLOTH_AFTER * MF_CLOTH_LANES;
    return mf_cloth_round_up(values * (motion->wide ? sizeof(double) : sizeof(float)));
}

static size_t residual_bytes(const mf_ClothPlan *plan) {
    return mf_cloth_round_up(plan->chunk_count * sizeof(mf_ClothResidual));
}

size_t mf_cloth_scratch(const mf_ClothMotion *motion) {
    const mf_ClothPlan *plan = motion->plan;
    return mf_cloth_round_up(work_bytes(motion)) +
           mf_cloth_round_up(piece_count(plan) * sizeof(mf_ClothSum)) +
           mf_cloth_round_up(plan->batch_count) + mf_cloth_round_up(mf_cloth_rows(plan) + 2) +
           MF_CLOTH_OBSTACLES * (2 * mf_cloth_round_up(sizeof(mf_Solid)) +
                                 mf_cloth_round_up(piece_count(plan) * push_bytes(motion))) +
           self_bytes(plan) + mf_cloth_tear_bytes(plan) + after_bytes(motion) +
           residual_bytes(plan);
}

static mf_ClothSelf make_self(const mf_ClothPlan *plan, char *memory) {
    const size_t vertices = plan->vertex_count;
    mf_ClothSelf self = {.bucket_count = 0};
    if (!(plan->self_distance > 0.0))
        return self;
    self.bucket_count = bucket_count(plan);
    self.cells = (int32_t *)(void *)memory;
    self.sorted = (uint32_t *)(void *)memory + 3 * vertices;
    self.counts = self.sorted + vertices;
    self.near = self.counts + vertices;
    self.begins = self.near + MF_CLOTH_NEAR * vertices;
    self.dropped = self.begins + self.bucket_count + 1;
    return self;
}

static mf_ClothStep begin(const mf_ClothMotion *motion, mf_Context *context, uint32_t instance,
                          char *scratch) {
    const mf_ClothPlan *plan = motion->plan;
    mf_ClothStep step = {.motion = motion, .context = context, .instance = instance};
    step.pieces = piece_count(plan);
    step.job = (mf_ClothJob){.plan = plan,
                             .terrain = motion->terrain,
                             .work = scratch,
                             .position = mf_cloth_row_at(motion, MF_CLOTH_ROW_POSITION, instance),
                             .velocity = mf_cloth_row_at(motion, MF_CLOTH_ROW_VELOCITY, instance),
                             .substep = mf_time_to_seconds(motion->step) / plan->substeps};
    scratch += mf_cloth_round_up(work_bytes(motion));
    step.sums = (mf_ClothSum *)(void *)scratch;
    scratch += mf_cloth_round_up(step.pieces * sizeof *step.sums);
    step.job.pulls = (uint8_t *)scratch;
    step.row_pinned = step.job.pulls + mf_cloth_round_up(plan->batch_count);
    scratch = (char *)step.row_pinned + mf_cloth_round_up(mf_cloth_rows(plan) + 2);
    step.obstacles = (mf_Solid *)(void *)scratch;
    step.job.obstacles = step.obstacles;
    scratch += MF_CLOTH_OBSTACLES * mf_cloth_round_up(sizeof *step.obstacles);
    step.start = (mf_Solid *)(void *)scratch;
    scratch += MF_CLOTH_OBSTACLES * mf_cloth_round_up(sizeof *step.start);
    step.job.pushes = scratch;
    scratch += MF_CLOTH_OBSTACLES * mf_cloth_round_up(piece_count(plan) * push_bytes(motion));
    step.job.self = make_self(plan, scratch);
    scratch += self_bytes(plan);
    step.job.tear = mf_cloth_tear_make(plan, scratch);
    step.after = scratch + mf_cloth_tear_bytes(plan);
    step.residuals = (mf_ClothResidual *)(void *)(step.after + after_bytes(motion));
    return step;
}

// ---- work for threads --------------------------------------------------------------------------

static void run_task(void *task, uint32_t index) {
    mf_ClothStep *step = task;
    step->task(step, index);
}

static void share(mf_ClothStep *step, uint32_t count, mf_TaskFn task) {
    if (step->context != NULL && count > 1) {
        step->task = task;
        mf_parallel_for(step->context, count, run_task, step);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        task(step, i);
}

static uint32_t rows_of(const mf_ClothStep *step, uint32_t piece) {
    const uint32_t left = mf_cloth_rows(step->motion->plan) - piece * MF_CLOTH_PIECE;
    return left < MF_CLOTH_PIECE ? left : MF_CLOTH_PIECE;
}

static uint32_t vertex_pieces(const mf_ClothStep *step) {
    return (step->motion->plan->vertex_count + VERTICES - 1) / VERTICES;
}

static uint32_t vertices_of(const mf_ClothStep *step, uint32_t piece) {
    const uint32_t left = step->motion->plan->vertex_count - piece * VERTICES;
    return left < VERTICES ? left : VERTICES;
}

static void load_piece(void *task, uint32_t piece) {
    const mf_ClothStep *step = task;
    step->motion->kernels.load(&step->job, piece * VERTICES, vertices_of(step, piece));
}

static void store_piece(void *task, uint32_t piece) {
    const mf_ClothStep *step = task;
    step->motion->kernels.store(&step->job, piece * VERTICES, vertices_of(step, piece));
}

static void move_piece(void *task, uint32_t piece) {
    const mf_ClothStep *step = task;
    step->motion->kernels.move(&step->job, piece * MF_CLOTH_PIECE, rows_of(step, piece), step->ends,
                               step->begins, piece);
}

static void sum_piece(void *task, uint32_t piece) {
    const mf_ClothStep *step = task;
    step->motion->kernels.sum(&step->job, piece * MF_CLOTH_PIECE, rows_of(step, piece),
                              &step->sums[piece]);
}

static void list_piece(void *task, uint32_t piece) {
    const mf_ClothStep *step = task;
    step->motion->kernels.list(&step->job, piece * VERTICES, vertices_of(step, piece), piece);
}

static void part_piece(void *task, uint32_t piece) {
    const mf_ClothStep *step = task;
    step->motion->kernels.part(&step->job, piece * VERTICES, vertices_of(step, piece));
}

static void find_residual(void *task, uint32_t chunk) {
    const mf_ClothStep *step = task;
    step->motion->kernels.residual(&step->job, chunk, &step->residuals[chunk]);
}

static void solve_chunk(void *task, uint32_t chunk) {
    const mf_ClothStep *step = task;
    const mf_ClothRange *wave = &mf_cloth_waves(step->motion->plan)[step->wave];
    step->motion->kernels.solve(&step->job, wave->first + chunk);
}

// ---- obstacles ---------------------------------------------------------------------------------

static mf_ClothSum add_sums(mf_ClothStep *step) {
    mf_ClothSum all = {.broken = false};
    share(step, step->pieces, sum_piece);
    for (uint32_t piece = 0; piece < step->pieces; piece++) {
        const mf_ClothSum *sum = &step->sums[piece];
        mf_vec3_add(all.position, all.position, sum->position);
        mf_vec3_add(all.momentum, all.momentum, sum->momentum);
        for (int c = 0; c < 3; c++) {
            all.low[c] = piece == 0 || sum->low[c] < all.low[c] ? sum->low[c] : all.low[c];
            all.high[c] = piece == 0 || sum->high[c] > all.high[c] ? sum->high[c] : all.high[c];
        }
        all.touching += sum->touching;
        all.speed = sum->speed > all.speed ? sum->speed : all.speed;
        all.broken |= sum->broken;
    }
    return all;
}

// Half a step's way more than the velocity allows: constraints can make vertices faster.
static void find_obstacles(mf_ClothStep *step) {
    const double span = mf_time_to_seconds(step->motion->step);
    if (step->around == NULL)
        return;
    mf_ClothSum sum = add_sums(step);
    const double distance = 1.5 * sum.speed * span +
                            mf_vec3_length(step->motion->plan->gravity) * span * span +
                            step->motion->plan->radius;
    for (int c = 0; c < 3; c++) {
        sum.low[c] -= distance;
        sum.high[c] += distance;
    }
    const uint32_t found =
        step->around->find(step->around->user, sum.low, sum.high, step->obstacles);
    step->dropped = found > MF_CLOTH_OBSTACLES ? found - MF_CLOTH_OBSTACLES : 0;
    step->passed_by = step->dropped;
    step->job.obstacle_count = found - step->dropped;
    memset(step->job.pushes, 0, step->pieces * step->job.obstacle_count * push_bytes(step->motion));
    memcpy(step->start, step->obstacles, step->job.obstacle_count * sizeof *step->start);
}

static void move_obstacles(mf_ClothStep *step, uint32_t substep) {
    for (uint32_t i = 0; i < step->job.obstacle_count; i++)
        mf_solid_after(&step->obstacles[i], &step->start[i], step->job.substep * substep);
}

static double push_at(const mf_ClothStep *step, size_t index) {
    return step->motion->wide ? ((const double *)step->job.pushes)[index]
                              : (double)((const float *)step->job.pushes)[index];
}

// Sums over pieces and lanes, in that order.
static void push_obstacles(const mf_ClothStep *step) {
    const uint32_t count = step->job.obstacle_count;
    for (uint32_t i = 0; i < count; i++) {
        double push[MF_CLOTH_PUSH] = {0};
        bool any = false;
        for (uint32_t piece = 0; piece < step->pieces; piece++)
            for (uint32_t k = 0; k < MF_CLOTH_PUSH * MF_CLOTH_LANES; k++) {
                const size_t first = (size_t)(piece * count + i) * MF_CLOTH_PUSH * MF_CLOTH_LANES;
                push[k / MF_CLOTH_LANES] += push_at(step, first + k);
            }
        for (uint32_t k = 0; k < MF_CLOTH_PUSH; k++)
            any |= push[k] != 0.0;
        if (any)
            step->around->push(step->around->user, i, push);
    }
}

// The search sees what is within twice the distance: vertices that move by more than half of it
// against the others may pass.
static void find_near(mf_ClothStep *step) {
    const mf_ClothPlan *plan = step->motion->plan;
    if (!(plan->self_distance > 0.0))
        return;
    const double distance =
        step->motion->kernels.sort(&step->job, mf_time_to_seconds(step->motion->step));
    share(step, vertex_pieces(step), list_piece);
    for (uint32_t piece = 0; piece < vertex_pieces(step); piece++)
        step->dropped += step->job.self.dropped[piece];
    step->passed = distance > 0.5 * plan->self_distance ? distance : 0.0;
}

// ---- the step ----------------------------------------------------------------------------------

static void run_substeps(mf_ClothStep *step) {
    const mf_ClothPlan *plan = step->motion->plan;
    step->begins = true;
    for (uint32_t i = 0; i < plan->substeps; i++) {
        step->job.after = i + 1 == plan->substeps ? step->after : NULL;
        move_obstacles(step, i);
        share(step, step->pieces, move_piece);
        step->ends = true;
        for (step->wave = 0; step->wave < plan->wave_count; step->wave++)
            share(step, mf_cloth_waves(plan)[step->wave].count, solve_chunk);
        if (plan->element_count > 0 && mf_cloth_tear_any(plan, &step->job.tear))
            mf_cloth_tear_follow(plan, &step->job.tear);
        if (plan->self_distance > 0.0)
            share(step, vertex_pieces(step), part_piece);
    }
    share(step, plan->chunk_count, find_residual);
    step->begins = false;
    move_obstacles(step, plan->substeps);
    share(step, step->pieces, move_piece);
}

static void put_base(const mf_ClothStep *step, const mf_ClothSum *sum) {
    const mf_ClothMotion *motion = step->motion;
    for (uint32_t c = 0; c < 3; c++) {
        mf_field_set(motion->body[0], step->instance, c, sum->position[c] / motion->mass);
        mf_field_set(motion->body[2], step->instance, c,
                     sum->momentum[c] / motion->mass + step->job.lead * motion->plan->gravity[c]);
    }
}

// One bit, its count and its largest residual.
static void warn(const mf_ClothStep *step, uint32_t kind, double residual) {
    const mf_WarningFields *fields = &step->motion->warnings;
    const uint32_t instance = step->instance;
    if (!(residual > 0.0))
        return;
    ((uint32_t *)fields->word->data)[instance] |= 1u << kind;
    mf_field_set(fields->steps, instance, kind, mf_field_get(fields->steps, instance, kind) + 1.0);
    if (residual > mf_field_get(fields->residual, instance, kind))
        mf_field_set(fields->residual, instance, kind, residual);
}

// A strain of a per cent, and a tenth of the curvature by which the cloth hangs over an edge, show;
// so does a good part of the strain that there is.
static void put_residual(const mf_ClothStep *step) {
    const mf_ClothPlan *plan = step->motion->plan;
    mf_ClothResidual sum = {0.0, 0.0, 0.0};
    for (uint32_t chunk = 0; chunk < plan->chunk_count; chunk++) {
        sum.stretch += step->residuals[chunk].stretch;
        sum.bending += step->residuals[chunk].bending;
        sum.whole += step->residuals[chunk].whole;
    }
    const double strain = mf_sqrt(sum.stretch * plan->stretch_share);
    const double curvature = mf_sqrt(sum.bending * plan->bending_share);
    const double most = strain > 0.1 * curvature ? strain : 0.1 * curvature;
    mf_field_set(step->motion->rows[MF_CLOTH_ROW_RESIDUAL], step->instance, 0, strain);
    mf_field_set(step->motion->rows[MF_CLOTH_ROW_RESIDUAL], step->instance, 1, curvature);
    const bool part = sum.stretch > SOFT_PART * SOFT_PART * sum.whole && strain > SOFT_LEAST;
    warn(step, SOLVER, most > SOFT || part ? most : 0.0);
}

void mf_cloth_step(const mf_ClothMotion *motion, mf_Context *context,
                   const mf_ClothSurroundings *around, uint32_t instance) {
    void *scratch = mf_scratch_borrow(motion->scratch);
    mf_ClothStep step = begin(motion, context, instance, scratch);
    const mf_Field *contacts = motion->rows[MF_CLOTH_ROW_CONTACTS];
    // A cloth that nothing holds or touches falls exactly: its velocity is that at the end of a
    // step, that of substeps half a substep older.
    const double lead = 0.5 * step.job.substep;
    step.job.lead = mf_field_get(contacts, instance, 0) > 0.0 ? 0.0 : lead;
    memset(step.job.work, 0, work_bytes(motion));
    share(&step, vertex_pieces(&step), load_piece);
    step.around = around;
    find_obstacles(&step);
    const uint32_t fixed_count = mf_cloth_begin_pins(&step);
    find_near(&step);
    if (motion->plan->element_count > 0)
        mf_cloth_tear_load(motion, instance, &step.job.tear);
    run_substeps(&step);
    const mf_ClothSum sum = add_sums(&step);
    if (sum.broken) {
        ((uint32_t *)motion->fault->data)[instance] |= MF_FAULT_NONFINITE;
    } else {
        const double touching = sum.touching + fixed_count;
        step.job.lead = touching > 0.0 ? 0.0 : lead;
        mf_cloth_end_pins(&step);
        push_obstacles(&step);
        if (motion->plan->element_count > 0)
            mf_cloth_tear_store(motion, instance, &step.job.tear);
        put_residual(&step);
        warn(&step, CONTACTS, step.dropped);
        if (step.passed_by > 0) // of near vertices some may be spared, of solids none
            ((uint32_t *)motion->fault->data)[instance] |= MF_FAULT_CONTACTS;
        warn(&step, SHAPES, step.passed);
        share(&step, vertex_pieces(&step), store_piece);
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
            mf_cloth_step(motion, NULL, NULL, i);
}
