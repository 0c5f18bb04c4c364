// A step of cloth: fields to working memory, substeps, back. Within a substep all vertices move on,
// then all constraints get one pass, wave by wave; the next substep begins by what meets vertices.
#include "math/float_mode.h"
#include "math/scalar.h"
#include "motion/cloth/motion.h"
#include "world/attach.h"

enum { VERTICES = 512 };           // [1] that are loaded and stored as one piece of work
enum { CONTACTS = 1, SHAPES = 2 }; // [1] components of MF_WARNING_CONTACTS and _SHAPES

typedef struct Step {
    const mf_ClothMotion *motion;
    mf_Context *context; // NULL: one thread
    uint32_t instance;
    mf_ClothJob job;
    uint8_t *row_held;     // [1] per row of places: 1: a vertex in it is pinned
    mf_ClothSum *sums;     // per piece
    uint32_t pieces, wave; // [1]
    bool ends, begins;     // of mf_cloth_move
    mf_TaskFn task;        // that threads share
    const mf_ClothSurroundings *around;
    mf_ClothObstacle *obstacles;
    uint32_t dropped;   // [1] obstacles and near vertices beyond the room
    double passed;      // [m] way of a vertex that the search for near ones does not cover
    double (*start)[7]; // [m], [1] position and rotation of each when the step begins
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
    return MF_CLOTH_WORK * mf_cloth_room(motion->plan) *
           (motion->wide ? sizeof(double) : sizeof(float));
}

static size_t round_up(size_t bytes) {
    return (bytes + 63) / 64 * 64;
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
    return plan->self_distance > 0.0
               ? round_up(((5 + MF_CLOTH_NEAR) * vertices + bucket_count(plan) + 1 + pieces) *
                          sizeof(uint32_t))
               : 0;
}

// Of one obstacle and piece.
static size_t push_bytes(const mf_ClothMotion *motion) {
    return (size_t)MF_CLOTH_PUSH * MF_CLOTH_LANES * (motion->wide ? sizeof(double) : sizeof(float));
}

size_t mf_cloth_scratch(const mf_ClothMotion *motion) {
    const mf_ClothPlan *plan = motion->plan;
    return round_up(work_bytes(motion)) + round_up(piece_count(plan) * sizeof(mf_ClothSum)) +
           round_up(plan->batch_count) + round_up(row_count(plan) + 2) +
           MF_CLOTH_OBSTACLES * (round_up(sizeof(mf_ClothObstacle)) + round_up(7 * sizeof(double)) +
                                 round_up(piece_count(plan) * push_bytes(motion))) +
           self_bytes(plan);
}

static void *row_at(const mf_Field *field, uint32_t instance) {
    const mf_Row row = mf_row(field);
    return mf_row_at(&row, instance / MF_BLOCK, instance % MF_BLOCK);
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
    scratch = (char *)step.row_held + round_up(row_count(plan) + 2);
    step.obstacles = (mf_ClothObstacle *)(void *)scratch;
    step.job.obstacles = step.obstacles;
    scratch += MF_CLOTH_OBSTACLES * round_up(sizeof *step.obstacles);
    step.start = (double(*)[7])(void *)scratch;
    scratch += MF_CLOTH_OBSTACLES * round_up(sizeof *step.start);
    step.job.pushes = scratch;
    scratch += MF_CLOTH_OBSTACLES * round_up(piece_count(plan) * push_bytes(motion));
    step.job.self = make_self(plan, scratch);
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

// ---- work for threads
// ----------------------------------------------------------------------------

static void run_task(void *task, uint32_t index) {
    Step *step = task;
    const unsigned mode = mf_float_mode_enter();
    step->task(step, index);
    mf_float_mode_leave(mode);
}

static void share(Step *step, uint32_t count, mf_TaskFn task) {
    if (step->context != NULL && count > 1) {
        step->task = task;
        mf_parallel_for(step->context, count, run_task, step);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        task(step, i);
}

static uint32_t rows_of(const Step *step, uint32_t piece) {
    const uint32_t left = row_count(step->motion->plan) - piece * MF_CLOTH_PIECE;
    return left < MF_CLOTH_PIECE ? left : MF_CLOTH_PIECE;
}

static uint32_t vertex_pieces(const Step *step) {
    return (step->motion->plan->vertex_count + VERTICES - 1) / VERTICES;
}

static uint32_t vertices_of(const Step *step, uint32_t piece) {
    const uint32_t left = step->motion->plan->vertex_count - piece * VERTICES;
    return left < VERTICES ? left : VERTICES;
}

static void load_piece(void *task, uint32_t piece) {
    const Step *step = task;
    step->motion->kernels.load(&step->job, piece * VERTICES, vertices_of(step, piece));
}

static void store_piece(void *task, uint32_t piece) {
    const Step *step = task;
    step->motion->kernels.store(&step->job, piece * VERTICES, vertices_of(step, piece));
}

static void move_piece(void *task, uint32_t piece) {
    const Step *step = task;
    step->motion->kernels.move(&step->job, piece * MF_CLOTH_PIECE, rows_of(step, piece), step->ends,
                               step->begins, piece);
}

static void sum_piece(void *task, uint32_t piece) {
    const Step *step = task;
    step->motion->kernels.sum(&step->job, piece * MF_CLOTH_PIECE, rows_of(step, piece),
                              &step->sums[piece]);
}

static void list_piece(void *task, uint32_t piece) {
    const Step *step = task;
    step->motion->kernels.list(&step->job, piece * VERTICES, vertices_of(step, piece), piece);
}

static void part_piece(void *task, uint32_t piece) {
    const Step *step = task;
    step->motion->kernels.part(&step->job, piece * VERTICES, vertices_of(step, piece));
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
                const double before = mf_field_get(motion->rows[MF_CLOTH_ROW_VELOCITY],
                                                   step->instance, 3 * vertex + c);
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

// ---- obstacles
// -----------------------------------------------------------------------------------

static mf_ClothSum add_sums(Step *step) {
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
static void find_obstacles(Step *step) {
    const double span = mf_time_to_seconds(step->motion->step);
    if (step->around == NULL)
        return;
    mf_ClothSum sum = add_sums(step);
    const double way = 1.5 * sum.speed * span +
                       mf_vec3_length(step->motion->plan->gravity) * span * span +
                       step->motion->plan->radius;
    for (int c = 0; c < 3; c++) {
        sum.low[c] -= way;
        sum.high[c] += way;
    }
    const uint32_t found =
        step->around->find(step->around->user, sum.low, sum.high, step->obstacles);
    step->dropped = found > MF_CLOTH_OBSTACLES ? found - MF_CLOTH_OBSTACLES : 0;
    step->job.obstacle_count = found - step->dropped;
    memset(step->job.pushes, 0, step->pieces * step->job.obstacle_count * push_bytes(step->motion));
    for (uint32_t i = 0; i < step->job.obstacle_count; i++) {
        mf_vec3_copy(step->start[i], step->obstacles[i].position);
        mf_quat_from_matrix(step->start[i] + 3, step->obstacles[i].rotation);
    }
}

// Solids go on with their twist, as links mostly do within a step.
static void move_obstacles(Step *step, uint32_t substep) {
    const double time = step->job.substep * substep;
    for (uint32_t i = 0; i < step->job.obstacle_count; i++) {
        mf_ClothObstacle *obstacle = &step->obstacles[i];
        double turn[4], rotation[4];
        const double rate = mf_vec3_length(obstacle->rate);
        mf_vec3_add_scaled(obstacle->position, step->start[i], time, obstacle->velocity);
        if (!(rate > 0.0))
            continue;
        mf_quat_from_axis_angle(turn, obstacle->rate, rate * time);
        mf_quat_multiply(rotation, turn, step->start[i] + 3);
        mf_quat_to_matrix(obstacle->rotation, rotation);
    }
}

static double push_at(const Step *step, size_t index) {
    return step->motion->wide ? ((const double *)step->job.pushes)[index]
                              : (double)((const float *)step->job.pushes)[index];
}

// Sums over pieces and lanes, in that order.
static void push_obstacles(const Step *step) {
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
static void find_near(Step *step) {
    const mf_ClothPlan *plan = step->motion->plan;
    if (!(plan->self_distance > 0.0))
        return;
    const double way =
        step->motion->kernels.sort(&step->job, mf_time_to_seconds(step->motion->step));
    share(step, vertex_pieces(step), list_piece);
    for (uint32_t piece = 0; piece < vertex_pieces(step); piece++)
        step->dropped += step->job.self.dropped[piece];
    step->passed = way > 0.5 * plan->self_distance ? way : 0.0;
}

// ---- the step
// ------------------------------------------------------------------------------------

static void run_substeps(Step *step) {
    const mf_ClothPlan *plan = step->motion->plan;
    step->begins = true;
    for (uint32_t i = 0; i < plan->substeps; i++) {
        move_obstacles(step, i);
        share(step, step->pieces, move_piece);
        step->ends = true;
        for (step->wave = 0; step->wave < plan->wave_count; step->wave++)
            share(step, mf_cloth_waves(plan)[step->wave].count, solve_chunk);
        if (plan->self_distance > 0.0)
            share(step, vertex_pieces(step), part_piece);
    }
    step->begins = false;
    move_obstacles(step, plan->substeps);
    share(step, step->pieces, move_piece);
}

static void put_base(const Step *step, const mf_ClothSum *sum) {
    const mf_ClothMotion *motion = step->motion;
    for (uint32_t c = 0; c < 3; c++) {
        mf_field_set(motion->body[0], step->instance, c, sum->position[c] / motion->mass);
        mf_field_set(motion->body[2], step->instance, c,
                     sum->momentum[c] / motion->mass + step->job.lead * motion->plan->gravity[c]);
    }
}

// One bit, its count and its largest residual.
static void warn(const Step *step, uint32_t kind, double residual) {
    const mf_WarningFields *fields = &step->motion->warnings;
    const uint32_t instance = step->instance;
    if (!(residual > 0.0))
        return;
    ((uint32_t *)fields->word->data)[instance] |= 1u << kind;
    mf_field_set(fields->steps, instance, kind, mf_field_get(fields->steps, instance, kind) + 1.0);
    if (residual > mf_field_get(fields->residual, instance, kind))
        mf_field_set(fields->residual, instance, kind, residual);
}

void mf_cloth_step(const mf_ClothMotion *motion, mf_Context *context,
                   const mf_ClothSurroundings *around, uint32_t instance) {
    void *scratch = mf_scratch_borrow(motion->scratch);
    Step step = begin(motion, context, instance, scratch);
    const mf_Field *contacts = motion->rows[MF_CLOTH_ROW_CONTACTS];
    // A cloth that nothing holds or touches falls exactly: its velocity is that at the end of a
    // step, that of substeps half a substep older.
    const double lead = 0.5 * step.job.substep;
    step.job.lead = mf_field_get(contacts, instance, 0) > 0.0 ? 0.0 : lead;
    memset(step.job.work, 0, work_bytes(motion));
    share(&step, vertex_pieces(&step), load_piece);
    step.around = around;
    find_obstacles(&step);
    const uint32_t held = begin_pins(&step);
    find_near(&step);
    run_substeps(&step);
    const mf_ClothSum sum = add_sums(&step);
    if (sum.broken) {
        ((uint32_t *)motion->fault->data)[instance] |= MF_FAULT_NONFINITE;
    } else {
        const double touching = sum.touching + held;
        step.job.lead = touching > 0.0 ? 0.0 : lead;
        end_pins(&step);
        push_obstacles(&step);
        warn(&step, CONTACTS, step.dropped);
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
