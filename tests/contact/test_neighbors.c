// Neighbor search against brute force with the same predicate, on random and adversarial positions,
// while agents move, fail and restart.
#include "contact/neighbors.h"
#include "math/kernel_table.h"
#include "rig/rig.h"

enum {
    MOST = 700,
    NEAREST = 8,
    PLACED = SANITIZED ? 237 : 637, // brute force takes its square
    CROWDED = SANITIZED ? 173 : 333,
    COMPARED = SANITIZED ? 4 : 1 // [round] of moves between two comparisons
};

// A group in the layout of fields.
typedef struct Batch {
    uint32_t count, blocks;
    bool double_precision;
    _Alignas(64) double position_f64[MOST * 3 + 64];
    _Alignas(64) float position_f32[MOST * 3 + 64];
    _Alignas(64) float velocity_f32[MOST * 3 + 64], rotation_f32[MOST * 4 + 64];
    _Alignas(64) double velocity_f64[MOST * 3 + 64], rotation_f64[MOST * 4 + 64];
    _Alignas(64) uint32_t fault[MOST + 16];
    _Alignas(64) uint32_t seen[MOST + 16], index[(MOST + 16) * NEAREST];
    _Alignas(64) double relative_f64[2][(MOST + 16) * NEAREST * 3];
    _Alignas(64) float relative_f32[2][(MOST + 16) * NEAREST * 3];
} Batch;

static size_t row(uint32_t agent, uint32_t components, uint32_t component) {
    return ((size_t)(agent / MF_BLOCK) * components + component) * MF_BLOCK + agent % MF_BLOCK;
}

static void batch_begin(Batch *batch, uint32_t count, bool double_precision) {
    memset(batch, 0, sizeof *batch);
    batch->count = count;
    batch->double_precision = double_precision;
    for (uint32_t i = 0; i < count; i++) {
        batch->rotation_f32[row(i, 4, 0)] = 1.0f;
        batch->rotation_f64[row(i, 4, 0)] = 1.0;
    }
}

static void batch_put(Batch *batch, uint32_t agent, double x, double y, double z) {
    const double position[3] = {x, y, z};
    for (uint32_t c = 0; c < 3; c++) {
        batch->position_f64[row(agent, 3, c)] = position[c];
        batch->position_f32[row(agent, 3, c)] = (float)position[c];
    }
}

static double batch_get(const Batch *batch, uint32_t agent, uint32_t component) {
    size_t at = row(agent, 3, component);
    return batch->double_precision ? batch->position_f64[at] : (double)batch->position_f32[at];
}

static mf_NeighborGroup batch_group(const Batch *batch, double radius, bool source) {
    bool wide = batch->double_precision;
    return (mf_NeighborGroup){
        .double_precision = wide,
        .count = batch->count,
        .position = wide ? (const void *)batch->position_f64 : batch->position_f32,
        .orientation = wide ? (const void *)batch->rotation_f64 : batch->rotation_f32,
        .linear_velocity = wide ? (const void *)batch->velocity_f64 : batch->velocity_f32,
        .fault = batch->fault,
        .radius = radius,
        .source = source};
}

static double unit(uint32_t stream, uint32_t number) {
    uint32_t word[4];
    mf_random(42, number, stream, 0, word);
    return mf_random_unit_double(word[0], word[1]);
}

static double bell(uint32_t stream, uint32_t number) {
    return unit(stream, number) + unit(stream + 1, number) - 1.0;
}

// The predicate of neighbors.h, in the search's precision.
static double distance2(const Batch *batch, bool wide, uint32_t a, uint32_t b) {
    if (wide) {
        double d[3];
        for (uint32_t c = 0; c < 3; c++)
            d[c] = batch_get(batch, b, c) - batch_get(batch, a, c);
        return (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
    }
    float d[3];
    for (uint32_t c = 0; c < 3; c++)
        d[c] = (float)batch_get(batch, b, c) - (float)batch_get(batch, a, c);
    float xx = d[0] * d[0], yy = d[1] * d[1], zz = d[2] * d[2];
    float sum = xx + yy;
    return (double)(sum + zz);
}

static bool alive(const Batch *batch, uint32_t agent) {
    for (uint32_t c = 0; c < 3; c++)
        if (!(batch_get(batch, agent, c) - batch_get(batch, agent, c) == 0.0))
            return false;
    return batch->fault[agent] == 0;
}

typedef struct Near {
    double d2;
    uint32_t agent;
} Near;

static int by_distance(const void *a, const void *b) {
    const Near *first = a, *second = b;
    if (first->d2 != second->d2)
        return first->d2 < second->d2 ? -1 : 1;
    return first->agent < second->agent ? -1 : first->agent > second->agent;
}

static bool in_view(const Batch *batch, bool wide, uint32_t a, uint32_t b, double d2,
                    double cosine) {
    // Everybody in these tests faces along world x, so that "ahead" is dx exactly.
    double dx = wide ? batch_get(batch, b, 0) - batch_get(batch, a, 0)
                     : (double)((float)batch_get(batch, b, 0) - (float)batch_get(batch, a, 0));
    if (wide)
        return cosine * __builtin_sqrt(d2) <= dx;
    return (float)cosine * __builtin_sqrtf((float)d2) <= (float)dx;
}

static void compare(const Batch *batch, bool wide, const mf_NeighborQuery *query) {
    double radius2 = wide ? query->radius * query->radius
                          : (double)((float)query->radius * (float)query->radius);
    static Near near[MOST];
    for (uint32_t a = 0; a < batch->count; a++) {
        if (!alive(batch, a))
            continue;
        uint32_t found = 0;
        for (uint32_t b = 0; b < batch->count; b++) {
            if (b == a || !alive(batch, b))
                continue;
            double d2 = distance2(batch, wide, a, b);
            if (!(d2 <= radius2) ||
                (query->in_view && !in_view(batch, wide, a, b, d2, query->view_cosine)))
                continue;
            near[found++] = (Near){d2, b};
        }
        qsort(near, found, sizeof *near, by_distance);
        if (batch->seen[a] != found)
            fail_msg("agent %u: %u neighbors, brute force has %u", a, batch->seen[a], found);
        for (uint32_t m = 0; m < NEAREST; m++) {
            uint32_t expected = m < found ? near[m].agent : UINT32_MAX;
            uint32_t got = batch->index[row(a, NEAREST, m)];
            if (got != expected)
                fail_msg("agent %u: neighbor %u is %u, brute force has %u", a, m, got, expected);
            for (uint32_t c = 0; c < 3; c++) {
                size_t at = row(a, NEAREST * 3, m * 3 + c);
                double commanded = batch->double_precision ? batch->relative_f64[0][at]
                                                           : (double)batch->relative_f32[0][at];
                double difference = 0.0;
                if (m < found)
                    difference = batch->double_precision
                                     ? batch_get(batch, expected, c) - batch_get(batch, a, c)
                                     : (double)((float)batch_get(batch, expected, c) -
                                                (float)batch_get(batch, a, c));
                assert_true(commanded == difference);
            }
        }
    }
}

static int pair_count;
static bool pair_found[MOST][MOST];

static void note_pairs(void *user, uint32_t chunk, const int32_t *first, const int32_t *second,
                       uint32_t count) {
    const mf_Neighbors *all = user;
    (void)chunk;
    for (uint32_t i = 0; i < count; i++) {
        int32_t a = all->agent_of[first[i]], b = all->agent_of[second[i]];
        assert_false(pair_found[a][b]); // each pair once
        pair_found[a][b] = pair_found[b][a] = true;
        pair_count++;
    }
}

static void compare_pairs(const Batch *batch, mf_Neighbors *all, double radius) {
    memset(pair_found, 0, sizeof pair_found);
    pair_count = 0;
    for (uint32_t c = 0; c < all->chunk_count; c++)
        all->pairs(all, c, note_pairs, all);
    bool wide = all->config.double_precision;
    double sum2 = wide
                      ? (2 * radius) * (2 * radius)
                      : (double)(((float)radius + (float)radius) * ((float)radius + (float)radius));
    for (uint32_t a = 0; a < batch->count; a++)
        for (uint32_t b = 0; b < batch->count; b++) {
            bool touches = a != b && alive(batch, a) && alive(batch, b) &&
                           distance2(batch, wide, a, b) <= sum2;
            if (touches != pair_found[a][b])
                fail_msg("pair %u %u: met %d, brute force %d", a, b, pair_found[a][b], touches);
        }
}

static mf_Context *context;

static mf_Neighbors *make_search(const Batch *batch, mf_Isa isa, bool wide, double reach,
                                 double radius, uint32_t candidates) {
    mf_NeighborsConfig config = {.isa = isa,
                                 .double_precision = wide,
                                 .reach = reach,
                                 .contact_reach = 2 * radius,
                                 .jet_reach = 2.0,
                                 .jet_radius = 0.5,
                                 .margin = 0.2 * reach,
                                 .candidates = candidates};
    mf_NeighborGroup group = batch_group(batch, radius, true);
    mf_Neighbors *all;
    MUST(mf_neighbors_create(context, &config, &group, 1, &all, &error));
    return all;
}

static void look(mf_Neighbors *all, Batch *batch, mf_NeighborQuery *query) {
    uint32_t stale = mf_neighbors_load(all, 0, all->block_count, true, true);
    mf_neighbors_gather(all, 0, all->block_count, true, true);
    mf_neighbors_renew(all, stale, false, true, true);
    bool wide = batch->double_precision;
    mf_NeighborOutput output = {
        .count = batch->seen,
        .index = batch->index,
        .position = wide ? (void *)batch->relative_f64[0] : batch->relative_f32[0],
        .velocity = wide ? (void *)batch->relative_f64[1] : batch->relative_f32[1]};
    mf_NeighborAnswer answer;
    MUST(mf_neighbors_answer(all, query, &answer, &error));
    for (uint32_t c = 0; c < all->chunk_count; c++)
        all->detect(all, c, query, &answer);
    mf_neighbors_deliver(all, query, &answer, &output, 0, all->block_count);
    mf_neighbors_answer_release(all, &answer);
}

typedef void (*PlaceFn)(Batch *batch);

static void place_random(Batch *batch) {
    for (uint32_t i = 0; i < batch->count; i++)
        batch_put(batch, i, 20 * bell(1, i), 20 * bell(3, i), 20 * bell(5, i));
}

static void place_flat(Batch *batch) {
    for (uint32_t i = 0; i < batch->count; i++)
        batch_put(batch, i, 30 * bell(1, i), 30 * bell(3, i), 0.0);
}

// Ties everywhere: a lattice of whole meters.
static void place_lattice(Batch *batch) {
    for (uint32_t i = 0; i < batch->count; i++)
        batch_put(batch, i, i % 8, i / 8 % 8, i / 64);
}

// On the borders of the search's own cells, exactly and one step to either side.
static void place_borders(Batch *batch) {
    const double cell = (3.0 + 0.6) * (1.0 + 1e-4);
    for (uint32_t i = 0; i < batch->count; i++) {
        double nudge = (i % 3 - 1.0) * 1e-7;
        batch_put(batch, i, cell * (i % 7) + nudge, cell * (i / 7 % 7) - nudge,
                  cell * (i / 49 % 7) + nudge);
    }
}

static void place_one_cell(Batch *batch) {
    for (uint32_t i = 0; i < batch->count; i++)
        batch_put(batch, i, 0.1 + unit(1, i), 0.1 + unit(2, i), 0.1 + unit(3, i));
}

static void place_one_point(Batch *batch) {
    for (uint32_t i = 0; i < batch->count; i++)
        batch_put(batch, i, 1.25, -2.5, 3.75);
}

static void place_far(Batch *batch) {
    for (uint32_t i = 0; i < batch->count; i++)
        batch_put(batch, i, 1e6 + 20 * bell(1, i), -1e6 + 20 * bell(3, i), 1e6 + 20 * bell(5, i));
}

// Some far beyond all cells, the rest at home.
static void place_outliers(Batch *batch) {
    place_random(batch);
    for (uint32_t i = 0; i < 20; i++)
        batch_put(batch, i * 7, (i % 2 ? 1e30 : -1e30), 1e20 * (i % 3), i % 5 == 0 ? 1e12 : 0.0);
}

static void place_nan(Batch *batch) {
    place_random(batch);
    for (uint32_t i = 0; i < batch->count; i += 3)
        batch_put(batch, i, i % 2 ? (double)NAN : 0.0, i % 2 ? 0.0 : (double)INFINITY, -0.0);
    for (uint32_t i = 1; i < batch->count; i += 5)
        batch->fault[i] = MF_FAULT_COLLISION;
}

static const PlaceFn arrangements[] = {place_random,  place_flat,     place_lattice,
                                       place_borders, place_one_cell, place_one_point,
                                       place_far,     place_outliers, place_nan};

static void every_case(void (*test)(PlaceFn arrange, mf_Isa isa, bool batch_wide, bool wide)) {
    for (size_t p = 0; p < sizeof arrangements / sizeof *arrangements; p++)
        FOR_EACH_ISA (isa)
            for (int method = 0; method < 3; method++)
                test(arrangements[p], isa, method == 2, method > 0);
}

static void one_placement(PlaceFn arrange, mf_Isa isa, bool batch_wide, bool wide) {
    static Batch batch;
    batch_begin(&batch, PLACED, batch_wide);
    arrange(&batch);
    mf_Neighbors *all = make_search(&batch, isa, wide, 3.0, 0.3, 80);
    mf_NeighborQuery query = {.radius = 3.0, .nearest = NEAREST, .relative = true};
    look(all, &batch, &query);
    compare(&batch, wide, &query);
    compare_pairs(&batch, all, 0.3);
    query.in_view = true;
    query.view_cosine = 0.5;
    query.radius = 2.5;
    look(all, &batch, &query);
    compare(&batch, wide, &query);
    assert_int_equal(all->builds, 1);
    mf_neighbors_destroy(all);
}

// Every placement, instruction set and precision: the same neighbors as brute force.
TEST(lists_equal_brute_force) {
    every_case(one_placement);
}

static void full_placement(PlaceFn arrange, mf_Isa isa, bool batch_wide, bool wide) {
    static Batch batch;
    batch_begin(&batch, CROWDED, batch_wide);
    arrange(&batch);
    mf_Neighbors *all = make_search(&batch, isa, wide, 3.0, 0.3, 1);
    mf_NeighborQuery query = {.radius = 3.0, .nearest = NEAREST, .relative = true};
    look(all, &batch, &query);
    compare(&batch, wide, &query);
    compare_pairs(&batch, all, 0.3);
    if (arrange == place_one_cell)
        assert_int_equal(mf_neighbors_full(all), CROWDED);
    size_t before = mf_context_live_bytes(context);
    MUST(mf_neighbors_reserve(all, 1400, &error));
    assert_true(mf_context_live_bytes(context) > before);
    look(all, &batch, &query);
    assert_int_equal(mf_neighbors_full(all), 0);
    compare(&batch, wide, &query);
    compare_pairs(&batch, all, 0.3);
    mf_neighbors_destroy(all);
}

// Lists that are too small are reported and searched around, not cut off.
TEST(full_lists_are_complete) {
    every_case(full_placement);
}

// While everybody moves at random the lists are used again and again; no pair is missed, and they
// are not built each time.
TEST(lists_stay_complete_while_agents_move) {
    static Batch batch;
    for (int wide = 0; wide < 2; wide++) {
        batch_begin(&batch, 400, wide != 0);
        place_random(&batch);
        mf_Isa isa;
        MUST(mf_isa_detect(&isa, &error));
        mf_Neighbors *all = make_search(&batch, isa, wide != 0, 3.0, 0.3, 60);
        mf_NeighborQuery query = {.radius = 3.0, .nearest = NEAREST, .relative = true};
        for (uint32_t round = 0; round < 60; round++) {
            for (uint32_t i = 0; i < batch.count; i++) {
                // Some die, some come back somewhere else.
                batch.fault[i] = unit(90 + round / 7, i) < 0.1;
                batch_put(&batch, i, batch_get(&batch, i, 0) + 0.08 * bell(100 + 6 * round, i),
                          batch_get(&batch, i, 1) + 0.08 * bell(102 + 6 * round, i),
                          batch_get(&batch, i, 2) + 0.08 * bell(104 + 6 * round, i));
            }
            look(all, &batch, &query);
            if (round % COMPARED == 0) {
                compare(&batch, wide != 0, &query);
                compare_pairs(&batch, all, 0.3);
            }
        }
        assert_in_range(all->builds, 8, 40);
        mf_neighbors_destroy(all);
    }
}

// Slow moves: what was sifted serves many rounds, and then again, in each instruction set; who dies
// or comes back shows at once, and so does another query.
TEST(filtered_lists_are_complete) {
    static Batch batch;
    FOR_EACH_ISA (set) {
        bool wide = set % 2 == 0;
        batch_begin(&batch, 300, wide);
        place_random(&batch);
        mf_Neighbors *all = make_search(&batch, set, wide, 6.0, 0.3, 80);
        mf_NeighborQuery query = {.radius = 6.0, .nearest = NEAREST, .relative = true};
        for (uint32_t round = 0; round < 80; round++) {
            for (uint32_t i = 0; i < batch.count; i++) {
                batch.fault[i] = unit(90 + round / 20, i) < 0.1;
                batch_put(&batch, i, batch_get(&batch, i, 0) + 0.006 * bell(100, i),
                          batch_get(&batch, i, 1) + 0.006 * bell(102, i),
                          batch_get(&batch, i, 2) + 0.006 * bell(104, i));
            }
            query.in_view = round % 16 > 12;
            query.view_cosine = 0.3;
            look(all, &batch, &query);
            if (round % COMPARED == 0) {
                compare(&batch, wide, &query);
                compare_pairs(&batch, all, 0.3);
            }
        }
        assert_in_range(all->builds, 1, 6);
        assert_in_range(all->sifts, 4, 30);
        mf_neighbors_destroy(all);
    }
}

// The lists are renewed at the very move that could hide a pair: two agents just beyond reach +
// margin come together by margin / 2 each.
TEST(the_criterion_is_sharp) {
    static Batch batch;
    batch_begin(&batch, 2, true);
    mf_Neighbors *all = make_search(&batch, MF_ISA_SCALAR, true, 1.0, 0.0, 4); // margin 0.2
    mf_NeighborQuery query = {.radius = 1.0, .nearest = NEAREST, .relative = true};
    batch_put(&batch, 0, 0.0, 0, 0);
    batch_put(&batch, 1, 1.2001, 0, 0);
    look(all, &batch, &query);
    assert_int_equal(all->builds, 1);
    batch_put(&batch, 0, 0.0999, 0, 0); // less than half the margin: no reason yet
    look(all, &batch, &query);
    assert_int_equal(all->builds, 1);
    assert_int_equal(batch.seen[0], 0);
    batch_put(&batch, 0, 0.1001, 0, 0);
    batch_put(&batch, 1, 1.1, 0, 0);
    look(all, &batch, &query);
    assert_int_equal(all->builds, 2);
    assert_int_equal(batch.seen[0], 1);
    mf_neighbors_destroy(all);
}

// Two groups, one in float and one in double: they meet, numbered block by block.
TEST(groups_touch) {
    static Batch first, second;
    batch_begin(&first, 3, false);
    batch_begin(&second, 2, true);
    for (uint32_t i = 0; i < 3; i++)
        batch_put(&first, i, i, 0, 0);
    batch_put(&second, 0, 0, 0.5, 0);
    batch_put(&second, 1, 50, 0, 0);
    mf_NeighborsConfig config = {.isa = MF_ISA_SCALAR,
                                 .double_precision = true,
                                 .reach = 1.0,
                                 .margin = 0.1,
                                 .candidates = 8};
    mf_NeighborGroup groups[2] = {batch_group(&first, 0, false), batch_group(&second, 0, false)};
    mf_Neighbors *all;
    MUST(mf_neighbors_create(context, &config, groups, 2, &all, &error));
    uint32_t stale = mf_neighbors_load(all, 0, 2, false, true);
    mf_neighbors_gather(all, 0, 2, false, true);
    assert_true(stale & MF_NEIGHBOR_LISTS);
    mf_neighbors_renew(all, stale, true, false, true);
    mf_NeighborQuery query = {.radius = 1.0, .nearest = 2, .relative = true};
    mf_NeighborOutput output[2] = {
        {first.seen, first.index, first.relative_f32[0], first.relative_f32[1]},
        {second.seen, second.index, second.relative_f64[0], second.relative_f64[1]}};
    mf_NeighborAnswer answer;
    MUST(mf_neighbors_answer(all, &query, &answer, &error));
    all->detect(all, 0, &query, &answer);
    mf_neighbors_deliver(all, &query, &answer, output, 0, 2);
    mf_neighbors_answer_release(all, &answer);
    assert_int_equal(first.seen[0], 2);
    assert_int_equal(first.index[0], 16); // 0.5 m away
    assert_int_equal(first.index[16], 1); // 1 m away
    assert_true(first.relative_f32[0][16] == 0.5f);
    assert_int_equal(second.seen[0], 1);
    assert_int_equal(second.index[0], 0);
    assert_true(second.relative_f64[0][16] == -0.5);
    assert_int_equal(second.seen[1], 0);
    mf_neighbors_destroy(all);
}

// Copies of the kernels that a build lacks are refused, not called.
TEST(missing_copies_are_refused) {
    static const mf_Isa isas[] = {MF_ISA_SCALAR, MF_ISA_AVX2, MF_ISA_AVX512};
    static Batch batch;
    batch_begin(&batch, 3, false);
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        const mf_NeighborsConfig config = {
            .isa = isas[i], .reach = 1.0, .margin = 0.1, .candidates = 8};
        mf_NeighborGroup group = batch_group(&batch, 0, false);
        const bool here = mf_kernel_row_available(mf_kernel_row(isas[i]));
        mf_Neighbors *all = NULL;
        assert_int_equal(mf_neighbors_create(context, &config, &group, 1, &all, NULL),
                         here ? MF_OK : MF_UNSUPPORTED);
        assert_int_equal(all != NULL, here);
        mf_neighbors_destroy(all);
    }
}

static int begin(void **state) {
    const int failed = make_context(state);
    context = *state;
    return failed;
}

GROUP_FIXTURE(begin, drop_context);
