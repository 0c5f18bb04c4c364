// Questions about the tree of one robot: poses, forward dynamics, overlaps of its shapes.
#include "motion/articulated/tree/forward.h"

// What a question needs to remember, in its scratch. It is sized by the links alone, because
// questions are asked before a plan is done.
typedef struct StepMemory {
    State state;
    Rates force, acceleration;
    Frame *world; // per plan link, the base at 0
    Work work;    // for a tree without contacts
} StepMemory;

static void memory_carve(const mf_ArtPlan *plan, mf_Carver *carver, StepMemory *memory) {
    state_carve(plan, carver, &memory->state);
    rates_carve(plan, carver, &memory->force);
    rates_carve(plan, carver, &memory->acceleration);
    MF_CARVE(carver, memory->world, plan->link_count + 1 + plan->mocap_count);
    work_carve_tree(plan, carver, &memory->work);
    work_carve_sums(plan, carver, &memory->work);
}

static mf_lane value_load(const void *values, uint32_t c) {
    return mf_load((const mf_real *)values + (size_t)c * MF_LANES);
}

static void value_store(void *values, uint32_t c, mf_lane a) {
    mf_store((mf_real *)values + (size_t)c * MF_LANES, a);
}

static Vec vec_value(const void *values, uint32_t c) {
    return MF_VALUE(Vec, value_load(values, c), value_load(values, c + 1),
                    value_load(values, c + 2));
}

static Quat quat_value(const void *values, uint32_t c) {
    Quat q = {value_load(values, c), value_load(values, c + 1), value_load(values, c + 2),
              value_load(values, c + 3)};
    return quat_normalize(q);
}

static void load_state(const mf_ArtQuery *query, State *state) {
    const mf_ArtPlan *plan = query->plan;
    const void *q = query->position, *v = query->velocity;
    const uint32_t first = plan->fixed ? 7 : 0;
    state->velocity = state->rate = vec_zero();
    state->position = vec_value(q, 0);
    state->attitude = quat_value(q, 3);
    if (!plan->fixed) {
        state->velocity = vec_value(v, 0);
        state->rate = vec_value(v, 3);
    }
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &links[l];
        if (link->kind == MF_ART_BALL) {
            state->ball[link->row] = quat_value(q, first + link->position);
            state->ball_rate[link->row] = vec_value(v, link->velocity);
        } else {
            state->angle[l] = value_load(q, first + link->position);
            state->speed[l] = value_load(v, link->velocity);
        }
    }
}

static void load_rates(const mf_ArtQuery *query, Rates *rates) {
    const mf_ArtPlan *plan = query->plan;
    rates->linear = rates->angular = vec_zero();
    if (!plan->fixed) {
        rates->linear = vec_value(query->in, 0);
        rates->angular = vec_value(query->in, 3);
    }
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &links[l];
        if (link->kind == MF_ART_BALL)
            rates->ball[link->row] = vec_value(query->in, link->velocity);
        else
            rates->joint[l] = value_load(query->in, link->velocity);
    }
}

static void store_vec(void *values, uint32_t c, Vec a) {
    value_store(values, c, a.x);
    value_store(values, c + 1, a.y);
    value_store(values, c + 2, a.z);
}

static void store_rates(const mf_ArtQuery *query, const Rates *rates) {
    const mf_ArtPlan *plan = query->plan;
    if (!plan->fixed) {
        store_vec(query->out, 0, rates->linear);
        store_vec(query->out, 3, rates->angular);
    }
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &links[l];
        if (link->kind == MF_ART_BALL)
            store_vec(query->out, link->velocity, rates->ball[link->row]);
        else
            value_store(query->out, link->velocity, rates->joint[l]);
    }
}

static void store_frame(void *values, uint32_t body, const Frame *frame) {
    const Mat *m = &frame->rotation;
    const mf_lane rotation[9] = {m->xx, m->xy, m->xz, m->yx, m->yy, m->yz, m->zx, m->zy, m->zz};
    for (uint32_t i = 0; i < 9; i++)
        value_store(values, 12 * body + i, rotation[i]);
    store_vec(values, 12 * body + 9, frame->position);
}

// Of all links in the world, the base first.
static void find_frames(const mf_ArtPlan *plan, const State *state, Frame *world) {
    world[0] = MF_VALUE(Frame, quat_matrix(state->attitude), state->position);
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        Frame frame = link_frame(plan, state, l), *own = &world[l + 1];
        const Frame *parent = &world[links[l].parent + 1];
        own->rotation = mat_multiply(&parent->rotation, &frame.rotation);
        own->position = mat_apply_add(&parent->rotation, frame.position, parent->position);
    }
}

// Mocap bodies, in the file's pose: a question knows no fields.
static void find_mocaps(const mf_ArtPlan *plan, Frame *world) {
    const Frame own = world[0]; // the base
    for (uint32_t i = 0; i < plan->mocap_count; i++) {
        const mf_ArtMocap *mocap = &mf_art_mocaps(plan)[i];
        const double *p = mocap->position, *q = mocap->rotation;
        Frame *to = &world[plan->link_count + 1 + i];
        to->rotation = quat_matrix(MF_VALUE(Quat, mf_set((mf_real)q[0]), mf_set((mf_real)q[1]),
                                            mf_set((mf_real)q[2]), mf_set((mf_real)q[3])));
        to->position =
            MF_VALUE(Vec, mf_set((mf_real)p[0]), mf_set((mf_real)p[1]), mf_set((mf_real)p[2]));
        if (!plan->fixed)
            continue;
        to->position = mat_apply_add(&own.rotation, to->position, own.position);
        to->rotation = mat_multiply(&own.rotation, &to->rotation);
    }
}

static void store_poses(const mf_ArtQuery *query, const State *state, Frame *world) {
    find_frames(query->plan, state, world);
    for (uint32_t i = 0; i <= query->plan->link_count; i++)
        store_frame(query->out, i, &world[i]);
}

static mf_lane overlap_of(const mf_CollidePlan *collide, uint32_t pair, const Frames *frames) {
    Manifold manifold;
    mf_lane depth = mf_zero();
    MF_KERNEL(mf_collide_pair)(collide, pair, frames, 0, &manifold);
    for (uint32_t k = 0; k < manifold.count; k++)
        depth = mf_max(depth, mf_keep(manifold.contact[k].exists, manifold.contact[k].depth));
    return depth;
}

// The middle of a shape and the radius of the sphere around it.
static Vec shape_middle(const mf_CollidePlan *collide, uint32_t shape, const Frame *world,
                        mf_lane *radius) {
    const double *values = mf_collide_values_f64(collide) + (size_t)shape * MF_COLLIDE_SHAPE_VALUES;
    const double *p = values + MF_COLLIDE_POSITION;
    const uint32_t frame = mf_collide_shapes(collide)[shape].frame;
    const Vec own = {mf_set((mf_real)p[0]), mf_set((mf_real)p[1]), mf_set((mf_real)p[2])};
    *radius = mf_set((mf_real)values[MF_COLLIDE_RADIUS]);
    return mat_apply_add(&world[frame].rotation, own, world[frame].position);
}

// Of the floating shape `first` with those behind it.
static void store_floating(const mf_ArtQuery *query, uint32_t first, const Frames *frames,
                           const Frame *world) {
    const mf_CollidePlan *collide = mf_art_collide(query->plan);
    const mf_CollideFloating *all = mf_collide_floating(collide);
    mf_lane deepest = mf_zero(), with = mf_zero(), radius, other;
    const Vec middle = shape_middle(collide, all[first].shape, world, &radius);
    for (uint32_t i = first + 1; i < collide->floating_count; i++) {
        const uint32_t pair = mf_collide_number(collide, first, i);
        const Vec offset = vec_sub(shape_middle(collide, all[i].shape, world, &other), middle);
        const mf_lane sum = radius + other;
        if (all[i].body == all[first].body ||
            mf_collide_pair_of(collide, pair).touches == MF_NONE ||
            !mf_any(mf_less(vec_dot(offset, offset), sum * sum)))
            continue;
        const mf_lane depth = overlap_of(collide, pair, frames);
        const mf_mask deeper = mf_less(deepest, depth);
        with = mf_select(deeper, mf_set((mf_real)i), with);
        deepest = mf_select(deeper, depth, deepest);
    }
    value_store(query->out, collide->pair_count + 2 * first, deepest);
    value_store(query->out, collide->pair_count + 2 * first + 1, with);
}

static void store_overlaps(const mf_ArtQuery *query, const State *state, Frame *world) {
    const mf_CollidePlan *collide = mf_art_collide(query->plan);
    find_frames(query->plan, state, world);
    find_mocaps(query->plan, world);
    const Frames frames = {(const mf_lane *)world, sizeof(Frame) / sizeof(mf_lane), NULL};
    for (uint32_t i = 0; i < collide->pair_count; i++)
        value_store(query->out, i, overlap_of(collide, i, &frames));
    for (uint32_t i = 0; i < collide->floating_count; i++)
        store_floating(query, i, &frames, world);
}

static void answer_forward(const mf_ArtQuery *query, StepMemory *memory) {
    const Drive drive = {.step = mf_zero()};
    load_rates(query, &memory->force);
    forward_dynamics(query->plan, &memory->state, &drive, &memory->force, &memory->work,
                     &memory->acceleration);
    store_rates(query, &memory->acceleration);
}

size_t MF_KERNEL(mf_articulated_query_scratch_size)(const mf_ArtPlan *plan) {
    mf_Carver carver = {NULL, 0};
    StepMemory memory, *own;
    MF_CARVE(&carver, own, 1);
    memory_carve(plan, &carver, &memory);
    return carver.used;
}

void MF_KERNEL(mf_articulated_query)(const mf_ArtQuery *query) {
    mf_Carver carver = {(char *)query->scratch, 0};
    StepMemory *memory;
    MF_CARVE(&carver, memory, 1);
    memory_carve(query->plan, &carver, memory);
    load_state(query, &memory->state);
    switch (query->task) {
    case MF_ART_TASK_POSE:
        store_poses(query, &memory->state, memory->world);
        return;
    case MF_ART_TASK_FORWARD:
        answer_forward(query, memory);
        return;
    case MF_ART_TASK_OVERLAP:
        store_overlaps(query, &memory->state, memory->world);
        return;
    }
}
