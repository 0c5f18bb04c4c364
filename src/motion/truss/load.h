// Loading of the trusses of some lanes from their fields, and what a step changes before vertices
// move: actuators and noise.
#pragma once

#include "math/lane_random.h"
#include "motion/truss/newton.h"

// Contacts of the lanes `where` count `share` times in the energy of a stage.
static void contact_share(Frame *f, mf_mask where, mf_real share) {
    f->share = mf_select(where, mf_set(share), f->share);
    f->spring = mf_set((mf_real)f->plan->stiffness) * f->share;
    f->grip = mf_set((mf_real)f->plan->grip) * f->share;
}

static MF_INLINE mf_index index_load(const uint32_t *rows, size_t component) {
    return mf_load_index((const int32_t *)rows + component * MF_BLOCK);
}

// Most of the lanes where the mask holds.
static uint32_t most_of(mf_index value, mf_mask where) {
    MF_ALIGNED(64) int32_t values[MF_BLOCK];
    mf_store_index(values, mf_select_index(where, value, mf_set_index(0)));
    int32_t most = 0;
    for (int lane = 0; lane < MF_LANES; lane++)
        most = values[lane] > most ? values[lane] : most;
    return (uint32_t)most;
}

// The value of the first lane where the mask holds.
static uint32_t first_of(mf_index value, mf_mask where) {
    MF_ALIGNED(64) int32_t values[MF_BLOCK], chosen[MF_BLOCK];
    mf_store_index(values, value);
    mf_store_index(chosen, mf_select_index(where, mf_set_index(1), mf_set_index(0)));
    for (int lane = 0; lane < MF_LANES; lane++) {
        if (chosen[lane] != 0)
            return (uint32_t)values[lane];
    }
    return 0;
}

static End end_of(const Frame *f, mf_index vertex) {
    const mf_index lane = mf_lane_numbers(), stride = mf_set_index(MF_BLOCK);
    End end;
    end.vertex = vertex;
    end.row = mf_gather_index((const int32_t *)f->block->order, vertex * stride + lane);
    end.same = first_of(end.vertex, f->alive);
    end.same_row = first_of(end.row, f->alive);
    return end;
}

static void load_vertices(Frame *f) {
    const mf_TrussBlock *block = f->block;
    for (uint32_t v = 0; v < f->vertices; v++) {
        f->position[v] = f->start[v] = vec_load(block->position, AXES * (size_t)v);
        f->mass[v] = row_load(block->mass, v);
        f->fixed[v] = index_load(block->fixed, v);
        mf_mask free = mf_index_equal(f->fixed[v], mf_set_index(0));
        f->holds = f->holds || mf_any(mf_and(f->alive, mf_not(free)));
        if (f->plan->dynamic) {
            f->velocity[v] = vec_load(block->velocity, AXES * (size_t)v);
        } else {
            f->movement[v] = vec_load(block->movement, AXES * (size_t)v);
            f->change[v] = vec_load(block->change, AXES * (size_t)v);
        }
        f->own[v] = end_of(f, mf_set_index((int32_t)v));
        Vec weight = {mf_set((mf_real)f->plan->gravity[0]), mf_set((mf_real)f->plan->gravity[1]),
                      mf_set((mf_real)f->plan->gravity[2])};
        weight = vec_scale(weight, f->mass[v]);
        Vec load = vec_load(block->load, AXES * (size_t)v);
        f->load = f->load + vec_most(weight) + vec_most(load);
        f->pull[v] = vec_add(weight, load);
    }
}

// What a dynamic step needs of bars before actuators move.
static void load_bars_before(Frame *f) {
    const mf_TrussBlock *block = f->block;
    for (uint32_t b = 0; b < f->bars; b++) {
        f->bar_step[b].before = row_load(block->rest, b);
        f->bar_step[b].rigidity = row_load(block->rigidity, b);
    }
}

// What is held does not move, whatever its velocity says.
static void load_motion(Frame *f) {
    load_bars_before(f);
    hold_fixed(f, f->velocity);
}

// Bars, with the rest lengths that actuators gave them.
static void load_bars(Frame *f) {
    const mf_TrussBlock *block = f->block;
    const mf_index count = index_load(block->counts, MF_TRUSS_BARS);
    f->same = true;
    for (uint32_t b = 0; b < f->bars; b++) {
        Bar *bar = &f->bar[b];
        mf_mask exists = mf_index_less(mf_set_index((int32_t)b), count);
        for (int e = 0; e < 2; e++) {
            End *end = &bar->ends[e];
            *end = end_of(f, index_load(block->ends, 2 * (size_t)b + (size_t)e));
            mf_mask agrees = mf_index_equal(end->vertex, mf_set_index((int32_t)end->same));
            f->same = f->same && mf_all(mf_or(agrees, mf_not(f->alive)));
            agrees = mf_index_equal(end->row, mf_set_index((int32_t)end->same_row));
            f->same = f->same && mf_all(mf_or(agrees, mf_not(f->alive)));
        }
        f->same = f->same && mf_all(mf_or(exists, mf_not(f->alive)));
        bar->rest = row_load(block->rest, b);
        mf_lane length = mf_max(bar->rest, mf_set((mf_real)1e-6));
        bar->stiffness = bar->own = mf_keep(exists, row_load(block->rigidity, b) / length);
        bar->radius = mf_keep(exists, row_load(block->diameter, b) * mf_set((mf_real)0.5));
    }
    for (uint32_t v = 0; v < f->vertices; v++) {
        mf_mask agrees = mf_index_equal(f->own[v].row, mf_set_index((int32_t)f->own[v].same_row));
        f->same = f->same && mf_all(mf_or(agrees, mf_not(f->alive)));
    }
}

// The first vertex of the rows of each vertex, in the order of the matrix.
static void find_first(Frame *f) {
    for (uint32_t row = 0; row < f->vertices; row++)
        f->bars_first[row] = f->same ? row : row > f->width ? row - f->width : 0;
    for (uint32_t b = 0; b < f->bars && f->same; b++) {
        const End *ends = f->bar[b].ends;
        const bool rotated = ends[0].same_row > ends[1].same_row;
        const uint32_t low = ends[rotated].same_row, high = ends[!rotated].same_row;
        f->bars_first[high] = low < f->bars_first[high] ? low : f->bars_first[high];
    }
}

// Actuators change the rest length of their bars towards the command.
static void drive(Frame *f) {
    const mf_TrussBlock *block = f->block;
    const mf_index count = index_load(block->counts, MF_TRUSS_ACTUATORS);
    const mf_lane most = mf_set((mf_real)f->plan->change);
    f->driven = mf_not(mf_mask_all());
    for (uint32_t a = 0; a < f->actuators; a++) {
        mf_mask drives = mf_and(f->alive, mf_index_less(mf_set_index((int32_t)a), count));
        mf_index at = index_load(block->actuator, a) * mf_set_index(MF_BLOCK) + mf_lane_numbers();
        mf_lane rest = mf_gather(block->rest, at);
        mf_lane target =
            mf_clamp(row_load(block->command, a), row_load(block->range, 2 * (size_t)a),
                     row_load(block->range, 2 * (size_t)a + 1));
        mf_lane by = target - rest;
        drives = mf_and(drives, mf_finite(by));
        f->driven = mf_or(f->driven, mf_and(drives, mf_less(mf_zero(), mf_abs(by))));
        mf_scatter(drives, block->rest, at, rest + mf_clamp(by, -most, most));
    }
}

// Random forces, so that no unstable balance lasts: uniform on each axis, as these cost the least.
static void add_noise(Frame *f) {
    if (f->plan->noise <= 0)
        return;
    const mf_lane size = mf_set((mf_real)(1.7320508075688772935 * f->plan->noise));
    for (uint32_t v = 0; v < f->vertices; v++) {
        mf_lane side[4];
        mf_uniform_lanes(f->plan->seed, f->block->stream, 0x54525553u + v, f->block->tick, side);
        mf_mask weighs = mf_less(mf_zero(), f->mass[v]);
        Vec force = {side[0], side[1], side[2]};
        force = vec_scale(force, mf_keep(weighs, size));
        f->pull[v] = vec_add(f->pull[v], force);
    }
}

// Lanes that have the vertex or bar of a point.
static mf_mask contact_point_exists(const Frame *f, uint32_t contact_number) {
    const bool own = contact_number < f->vertices;
    const uint32_t number =
        own ? contact_number : (contact_number - f->vertices) / f->plan->samples;
    const mf_index count = index_load(f->block->counts, own ? MF_TRUSS_VERTICES : MF_TRUSS_BARS);
    return mf_index_less(mf_set_index((int32_t)number), count);
}

// Contacts of the lanes `where` at the present positions, from what the last step left of them.
static void load_ground(Frame *f, mf_mask where) {
    const mf_TrussBlock *block = f->block;
    if (!f->plan->ground)
        return;
    const uint32_t count = contact_count(f), samples = f->plan->samples;
    for (uint32_t i = 0; i < count; i++) {
        // Rows of points of bars begin behind those of all vertices that the group has space for.
        const uint32_t row = i < f->vertices ? i : i - f->vertices + f->plan->vertices;
        Touch *touch = &f->touch[i], now;
        Vec force = vec_scale(vec_load(block->contact, AXES * (size_t)row), f->share);
        now.anchor = vec_load(block->anchor, AXES * (size_t)row);
        now.radius = i < f->vertices ? row_load(block->radius, i)
                                     : f->bar[(i - f->vertices) / samples].radius;
        // What a lane does not have is far from the ground.
        now.radius = mf_select(contact_point_exists(f, i), now.radius, mf_set((mf_real)-1e3));
        ContactPoint contact_number;
        contact_point_of(f, i, &contact_number);
        Vec at = contact_position(f->position, &contact_number, false);
        mf_lane slope_x, slope_y;
        mf_lane height = ground_height(f, at, &slope_x, &slope_y);
        const mf_lane one = mf_set((mf_real)1), zero = mf_zero();
        mf_lane steep = mf_sqrt(mf_fma(slope_x, slope_x, mf_fma(slope_y, slope_y, one)));
        mf_lane up = one / steep;
        now.rim = now.radius * steep;
        now.normal = MF_VALUE(Vec, -(slope_x * up), -(slope_y * up), up);
        now.normal_force = mf_max(vec_dot(force, now.normal), zero);
        // What begins on the ground sticks there from the start, as if it carried all.
        mf_lane depth = height + now.rim - at.z;
        mf_mask rests = mf_less_equal(now.normal_force, zero);
        rests = mf_and(rests, mf_less(mf_set(-MF_TRUSS_NEAR), depth));
        now.anchor = vec_select(rests, landing_of(f, &contact_number, at, false), now.anchor);
        now.normal_force = mf_select(rests, f->load, now.normal_force);
        now.stood = mf_less(mf_zero(), now.normal_force);
        // The first load finds nothing there yet, which may not be read.
        *touch = mf_all(where) ? now : touch_select(where, &now, touch);
    }
}

static void raise_fault(Frame *f, mf_mask bad, uint32_t bit) {
    bad = mf_and(bad, f->alive);
    if (!mf_any(bad))
        return;
    mf_index word = index_load(f->block->fault, 0);
    word = mf_select_index(bad, word | mf_set_index((int32_t)bit), word);
    mf_store_index((int32_t *)f->block->fault, word);
    f->alive = mf_and(f->alive, mf_not(bad));
}

// Lanes with a load, a rest length or a velocity that is no number are frozen.
static void check_inputs(Frame *f) {
    mf_lane sum = mf_zero();
    for (uint32_t v = 0; v < f->vertices; v++)
        sum = sum + mf_abs(f->pull[v].x) + mf_abs(f->pull[v].y) + mf_abs(f->pull[v].z);
    for (uint32_t b = 0; b < f->bars; b++)
        sum = sum + mf_abs(f->bar[b].stiffness) + mf_abs(f->bar[b].rest);
    for (uint32_t v = 0; v < f->vertices && f->plan->dynamic; v++)
        sum = sum + mf_abs(f->velocity[v].x) + mf_abs(f->velocity[v].y) + mf_abs(f->velocity[v].z);
    raise_fault(f, mf_not(mf_finite(sum)), MF_FAULT_INPUT);
}

// What a step begins with.
static void load_frame(Frame *f) {
    const mf_TrussBlock *block = f->block;
    f->load = mf_zero();
    f->holds = false;
    f->vertices = most_of(index_load(block->counts, MF_TRUSS_VERTICES), f->alive);
    f->bars = most_of(index_load(block->counts, MF_TRUSS_BARS), f->alive);
    f->actuators = most_of(index_load(block->counts, MF_TRUSS_ACTUATORS), f->alive);
    f->width = most_of(index_load(block->counts, MF_TRUSS_WIDTH), f->alive);
    f->direct = f->vertices <= MF_TRUSS_DIRECT;
    f->map = mf_lane_map(block->terrain);
    f->warnings.any = false;
    f->pair_count = 0;
    f->share = mf_zero();
    contact_share(f, mf_mask_all(), (mf_real)1);
    load_vertices(f);
    if (f->plan->dynamic)
        load_motion(f);
    drive(f);
    load_bars(f);
    find_first(f);
    add_noise(f);
    load_ground(f, mf_mask_all());
}
