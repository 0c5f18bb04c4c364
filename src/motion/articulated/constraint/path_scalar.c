// The row of a spatial tendon in the file's reference position, and the lengths that a muscle can
// have, for the host.
#include "motion/articulated/build.h"
#include "motion/articulated/tree/forward.h"
#include "motion/articulated/tree/integrate.h"
#include "motion/articulated/constraint/problem_hessian.h"
#include "motion/articulated/constraint/problem_capacity.h"
#include "motion/articulated/constraint/problem_rows.h"

typedef struct StepMemory {
    State state, low; // low: not used in double precision
    Work work;
    Problem problem;
    Rates force, out;
    double *direction; // per dof
} StepMemory;

// The arrays of the memory of a step, and those that the solver of constraints cuts for itself.
static size_t memory_carve(const mf_ArtPlan *plan, mf_Carver *carver, StepMemory *memory) {
    state_carve(plan, carver, &memory->state);
    state_carve(plan, carver, &memory->low);
    work_carve(plan, carver, &memory->work);
    problem_carve_tree(plan, carver, &memory->problem);
    problem_carve_hessian(plan, carver, &memory->problem);
    rates_carve(plan, carver, &memory->force);
    rates_carve(plan, carver, &memory->out);
    MF_CARVE(carver, memory->direction, plan->dof_count);
    memory->work.rest = *carver;
    return carver->used + MF_KERNEL(mf_articulated_constrain_scratch_size)(plan);
}

// Sets `memory` to zeros, and returns the block that holds its arrays, zeros too; NULL where there
// is no memory. The caller releases it.
static void *memory_open(const mf_ArtPlan *plan, mf_Context *context, StepMemory *memory) {
    mf_Carver carver = {NULL, 0};
    memset(memory, 0, sizeof *memory);
    const size_t size = memory_carve(plan, &carver, memory);
    carver = MF_VALUE(mf_Carver, (char *)mf_allocate(context, 1, size), 0);
    if (carver.block != NULL)
        memory_carve(plan, &carver, memory);
    return carver.block;
}

static Quat quat_at(const double *q) {
    return MF_VALUE(Quat, mf_set(q[0]), mf_set(q[1]), mf_set(q[2]), mf_set(q[3]));
}

// The file's reference position, which may be out of the range of limits.
static void state_at_reference(const mf_ArtPlan *plan, const mf_Model *model, State *state) {
    const double *start = model->start_position;
    state->attitude.w = mf_set(1);
    if (!plan->fixed) {
        state->position = MF_VALUE(Vec, mf_set(start[0]), mf_set(start[1]), mf_set(start[2]));
        state->attitude = quat_at(start + 3);
    }
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &links[l];
        const mf_Joint *joint = &model->joints[link->joint];
        const double *own = start + joint->position_address;
        if (link->kind == MF_ART_BALL)
            state->ball[link->row] = quat_at(own + (joint->type == MF_JOINT_FLOATING ? 3 : 0));
        else
            state->angle[l] = mf_set(link->inner ? own[link->row % 3] : joint->reference);
    }
}

static void memory_poses(const mf_ArtPlan *plan, StepMemory *memory) {
    State *state = &memory->state;
    memory->work.contacts.pose[0] =
        MF_VALUE(Pose, quat_matrix(state->attitude), state->position, vec_zero());
    for (uint32_t l = 0; l < plan->link_count; l++)
        aba_velocity_rate(plan, state, l, &memory->work);
    find_poses(plan, state, &memory->work);
    memory->problem.plan = plan;
    memory->problem.work = &memory->work;
    memory->problem.state = state;
    memory->problem.dofs = plan->dof_count;
    axes_find(&memory->problem);
}

mf_Status mf_art_path_row(const mf_ArtMotion *motion, const mf_Model *model, uint32_t tendon,
                          double *row, mf_Context *context, mf_Error *error) {
    const mf_ArtPlan *plan = motion->plan;
    StepMemory memory = {.direction = NULL}; // zeros
    TendonPath path;
    void *block = memory_open(plan, context, &memory);
    MF_NEED_MEMORY(block != NULL, error, "articulated");
    State *state = &memory.state;
    state_at_reference(plan, model, state);
    memory_poses(plan, &memory);
    tendon_path(plan, state, &memory.work, tendon, &path);
    Sum sum = sum_start(&memory.problem);
    sum_path(&memory.problem, &path, &sum);
    memset(row, 0, plan->dof_count * sizeof *row);
    for (uint32_t i = 0; i < sum.count; i++)
        row[sum.slot[i]] = sum.value[i];
    if (!plan->fixed) {
        const Mat world = quat_matrix(state->attitude);
        const Vec direction = mat_apply_transposed(&world, MF_VALUE(Vec, row[0], row[1], row[2]));
        row[0] = direction.x, row[1] = direction.y, row[2] = direction.z;
    }
    mf_release(context, block);
    return MF_OK;
}

// ---- lengths of muscles -------------------------------------------------------------------------
//
// A muscle without `lengthrange` gets the lengths that MuJoCo finds by pulling at the model (MuJoCo
// documentation, XML reference, compiler/lengthrange, with its defaults): from the reference
// position on, without gravity, contacts, springs, dampers, dry friction and actuators, with a
// force that alone accelerates by SEARCH_PULL, while velocities decay with SEARCH_DECAY. Limits and
// equality constraints act.

#define SEARCH_STEP 0.01 // [s]
#define SEARCH_PULL 20.0 // [rad/s^2] or [m/s^2] root of the sum of squares over all velocities
#define SEARCH_DECAY 1.0 // [s]
#define SEARCH_REST 0.05 // [1] of the range: what the length may still move
#define SEARCH_SLOW 1e-9 // [rad/s] or [m/s] that is no motion

enum { SEARCH_STEPS = 1000, SEARCH_WATCHED = 200 };

typedef struct Search {
    mf_ArtMotion
        motion; // nothing but the tree, its limits and equality constraints, by MuJoCo's law
    mf_Context *context;
    const mf_Model *model;
    const mf_ArtActuator *actuator;
    StepMemory memory;
    void *block; // the arrays of `memory`
    double *row; // per dof
} Search;

static void search_free(Search *s) {
    mf_Context *context = s->context;
    if (s->motion.plan != NULL)
        mf_art_release_plan(&s->motion, context);
    mf_release(context, s->block);
    mf_release(context, s->row);
    mf_release(context, s);
}

// Leaves out what does not act.
static void search_reduce(mf_ArtMotion *own) {
    mf_ArtPlan *plan = own->plan;
    own->collide = NULL;
    plan->contact_count = plan->zone_count = plan->noslip_iterations = 0;
    plan->keeps_limits = plan->hard = false;
    plan->dry_rows = 0;
    plan->law = true;
    plan->integrator = own->config.integrator = MF_ARTICULATED_EULER;
    own->constants_f64[MF_ART_STEP] = SEARCH_STEP;
    own->constants_f64[MF_ART_GRAVITY] = 0.0;
    mf_art_constants(own, -1)[MF_ART_FRICTION] = 0.0;
    for (uint32_t l = 0; l < plan->link_count; l++) {
        own->links[l].drive &= ~(uint32_t)MF_ART_HAS_FRICTION;
        own->links[l].posed = true;
    }
    for (uint32_t i = 0; i < plan->tendon_count; i++)
        own->tendons[i].friction = 0.0;
}

static mf_Status search_open(const mf_ArtMotion *motion, const mf_Model *model, mf_Context *context,
                             Search **out, mf_Error *error) {
    Search *s = *out = (Search *)mf_allocate(context, 1, sizeof *s);
    MF_NEED_MEMORY(s != NULL, error, "articulated");
    s->context = context;
    s->model = model;
    MF_TRY(mf_art_copy_plan(motion, &s->motion, context, error));
    search_reduce(&s->motion);
    MF_TRY(mf_art_laws_fill(&s->motion, model, context, error));
    s->block = memory_open(s->motion.plan, context, &s->memory);
    s->row = (double *)mf_allocate(context, s->motion.plan->dof_count, sizeof *s->row);
    MF_NEED_MEMORY(s->block != NULL && s->row != NULL, error, "articulated");
    return MF_OK;
}

// The length of what the muscle drives, and its row.
static double search_length(Search *s) {
    const mf_ArtPlan *plan = s->motion.plan;
    const mf_ArtActuator *actuator = s->actuator;
    const Problem *p = &s->memory.problem;
    const bool path = actuator->acts == MF_ART_TENSES;
    TendonPath tendon;
    Sum sum = sum_start(p);
    double length;
    if (path) {
        tendon_path(plan, &s->memory.state, &s->memory.work, actuator->path, &tendon);
        sum_path(p, &tendon, &sum);
        length = actuator->gear[0] * tendon.length;
    } else {
        sum_terms(p, actuator->first_term, actuator->term_count, 1.0, &sum);
        length = terms_length(p, actuator->first_term, actuator->term_count);
    }
    memset(s->row, 0, plan->dof_count * sizeof *s->row);
    for (uint32_t i = 0; i < sum.count; i++)
        s->row[sum.slot[i]] = sum.value[i] * (path ? actuator->gear[0] : 1.0);
    return length;
}

// The force per row that accelerates by SEARCH_PULL.
static double search_scale(Search *s) {
    const mf_ArtPlan *plan = s->motion.plan;
    Problem *p = &s->memory.problem;
    double *direction = s->memory.direction, square = 0.0;
    mass_find(p);
    p->full = false;
    hessian_start(p, tree_pattern(p));
    hessian_factor(p);
    memcpy(direction, s->row, plan->dof_count * sizeof *direction);
    hessian_solve(p, direction);
    for (uint32_t i = 0; i < plan->dof_count; i++)
        square += direction[i] * direction[i];
    return SEARCH_PULL / mf_max(mf_sqrt(square), 1e-15);
}

static void search_slow(Search *s, double decay) {
    State *state = &s->memory.state;
    state->velocity = vec_scale(state->velocity, decay);
    state->rate = vec_scale(state->rate, decay);
    for (uint32_t l = 0; l < s->motion.plan->link_count; l++)
        state->speed[l] *= decay;
    for (uint32_t b = 0; b < s->motion.plan->ball_count; b++)
        state->ball_rate[b] = vec_scale(state->ball_rate[b], decay);
}

// One step of the pull; returns the length before it.
static double search_step(Search *s, double sign, double decay) {
    const mf_ArtPlan *plan = s->motion.plan;
    const Drive drive = {.step = 0.0};
    Work *work = &s->memory.work;
    State *state = &s->memory.state;
    double *direction = s->memory.direction;
    Rates *force = &s->memory.force, *out = &s->memory.out;
    search_slow(s, decay);
    memory_poses(plan, &s->memory);
    const double length = search_length(s), scale = sign * search_scale(s);
    for (uint32_t i = 0; i < plan->dof_count; i++)
        direction[i] = scale * s->row[i];
    dofs_to_rates(plan, direction, mf_mask_all(), force);
    forward_dynamics(plan, state, &drive, force, work, out);
    work->solver = MF_VALUE(Solver, .alive = mf_mask_all());
    MF_KERNEL(mf_articulated_constrain)(plan, state, &drive, work, out);
    integrate_euler(plan, state, &s->memory.low, out, SEARCH_STEP);
    return length;
}

static bool search_rests(const Search *s) {
    double *speed = s->memory.direction, most = 0.0;
    dofs_of_speeds(s->motion.plan, &s->memory.state, speed);
    for (uint32_t i = 0; i < s->motion.plan->dof_count; i++)
        most = mf_max(most, mf_abs(speed[i]));
    return most < SEARCH_SLOW;
}

// The range in which the length is at the end of a pull.
static void search_pull(Search *s, double sign, double range[2]) {
    const double decay = mf_exp_lane(-SEARCH_STEP / SEARCH_DECAY);
    state_clear(s->motion.plan, &s->memory.state);
    state_at_reference(s->motion.plan, s->model, &s->memory.state);
    for (int step = 0; step < SEARCH_STEPS; step++) {
        const double length = search_step(s, sign, decay);
        const bool rests = search_rests(s);
        if (rests || step <= SEARCH_STEPS - SEARCH_WATCHED)
            range[0] = range[1] = length;
        range[0] = mf_min(length, range[0]);
        range[1] = mf_max(length, range[1]);
        if (rests)
            return;
    }
}

static mf_Status search_muscle(Search *s, mf_ArtMotion *motion, uint32_t i, mf_Error *error) {
    mf_Muscle muscle = s->model->actuators[i].muscle;
    double ends[2][2];
    s->actuator = &motion->actuators[i];
    search_pull(s, -1.0, ends[0]);
    search_pull(s, 1.0, ends[1]);
    const double low = ends[0][0], high = ends[1][1], most = SEARCH_REST * (high - low);
    MF_NEED(high > low && ends[0][1] - low <= most && high - ends[1][0] <= most, error,
            "articulated: muscle %s of model %s does not come to rest in the search for "
            "its lengths (%g to %g); expected lengthrange in the file",
            s->model->actuators[i].name, s->model->name, low, high);
    muscle.length_range[0] = low;
    muscle.length_range[1] = high;
    motion->actuators[i].fibre = mf_art_muscle(&muscle);
    return MF_OK;
}

mf_Status mf_art_muscle_lengths(mf_ArtMotion *motion, const mf_Model *model, mf_Context *context,
                                mf_Error *error) {
    Search *s = NULL;
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < motion->plan->actuator_count && status == MF_OK; i++) {
        const double *range = model->actuators[i].muscle.length_range;
        if (!motion->actuators[i].muscle || range[0] < range[1])
            continue;
        if (s == NULL)
            status = search_open(motion, model, context, &s, error);
        MF_THEN(status, search_muscle(s, motion, i, error));
    }
    if (s != NULL)
        search_free(s);
    return status;
}
