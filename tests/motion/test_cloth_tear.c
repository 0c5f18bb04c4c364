// Cloth that tears: at its strength and not below, without a change of momentum or a rise of
// energy, with the same bits over instruction sets, threads and snapshots.
#include "rig/rig.h"
#include "motion/cloth/motion.h"
#include "cloth_rig.h"

GROUP_FIXTURE(make_context, drop_context);

enum { COLUMNS = 7, ROWS = 21, VERTICES = COLUMNS * ROWS };
static const double width = 0.15, length = 0.5; // [m]

static uint32_t ends[2 * COLUMNS]; // the lowest and the uppermost vertices

// An upright strip, held by its upper edge, or by both ends.
static Rig strip_begin(mf_Context *context, bool both) {
    Rig rig = rig_begin(context);
    rig.cloth = mf_cloth_rectangle(width, length, COLUMNS, ROWS);
    rig.cloth.plane = MF_CLOTH_XZ;
    for (uint32_t i = 0; i < COLUMNS; i++) {
        ends[i] = VERTICES - COLUMNS + i;
        ends[COLUMNS + i] = i;
    }
    rig.cloth.pins = ends;
    rig.cloth.pin_count = both ? 2 * COLUMNS : COLUMNS;
    rig.config.drag = 1000.0; // comes to rest without passing it
    return rig;
}

static double pull(const Rig *rig, uint32_t first) { // [N] upward, of a row of pins
    double sum = 0.0;
    for (uint32_t i = 0; i < COLUMNS; i++)
        sum += get_field(rig->group, "pin.force", 0, 3 * (first + i) + 2);
    return sum;
}

static double torn(const Rig *rig) {
    return get_field(rig->group, "cloth.tears", 0, 0);
}

// The uppermost row of edges carries all below it but for half a cell: that is the strength at
// which the cloth tears. Triangles share the load where the pass reaches their stiffness.
TEST(tears_at_its_strength) {
    const double load = 0.15 * 9.81 * (length - 0.5 * length / (ROWS - 1)); // [N/m]
    for (int k = 0; k < (SANITIZED ? 2 : 4); k++) {
        AUTO_RIG rig = strip_begin(*state, false);
        const bool triangles = k & 2;
        const double part = triangles ? 0.05 : 0.01;
        rig.cloth.material.strength = load * (k & 1 ? 1.0 - part : 1.0 + part);
        if (triangles) {
            rig.config.substep = MF_MILLISECOND / 16;
            make_triangles(&rig.cloth);
        }
        rig_open(&rig);
        mf_world_step(rig.world, 400);
        assert_int_equal(mf_group_fault_total(rig.group), 0);
        if (k & 1) {
            assert_true(torn(&rig) >= COLUMNS - 1);
            assert_true(fabs(pull(&rig, 0)) < 0.1 * load * width);
        } else {
            assert_near(torn(&rig), 0.0, 0.0);
            assert_near(pull(&rig, 0), -0.15 * 9.81 * length * width, 1e-4);
        }
    }
}

// Pulled slowly by both ends, a strip carries its strength times its width and tears then.
TEST(a_pulled_strip_carries_its_strength) {
    AUTO_RIG rig = strip_begin(*state, true);
    double most = 0.0;
    rig.cloth.material.strength = 15.0; // at a strain of 1.5 %
    rig.config.substep = MF_MILLISECOND / 16;
    rig.world_config.gravity = 0.0;
    rig_open(&rig);
    for (int step = 0; step < 200 && torn(&rig) == 0.0; step++) {
        for (uint32_t i = 0; i < COLUMNS; i++)
            set_field(rig.group, "pin.anchor", 0, 3 * i + 2, 0.5 * length + 1e-4 * step);
        mf_world_step(rig.world, 1);
        most = fmax(most, -pull(&rig, 0));
    }
    assert_near(most, 15.0 * width, 0.03 * 15.0 * width);
    mf_world_step(rig.world, 100);
    assert_true(torn(&rig) >= COLUMNS);
    assert_true(fabs(pull(&rig, 0)) < 0.05 * most);
}

// ---- free pieces --------------------------------------------------------------------------------

// A cloth that was stretched by a third flies apart and turns.
static Rig burst_begin(mf_Context *context) {
    Rig rig = rig_begin(context);
    rig.cloth.pin_count = 0;
    rig.cloth.material.strength = 200.0;
    rig.world_config.gravity = 0.0;
    rig.world_config.step = rig.config.substep = MF_MILLISECOND / 16;
    rig.config.drag = 0.0;
    return rig;
}

static void burst(const Rig *rig, uint32_t instance) {
    for (uint32_t v = 0; v < 17 * 24; v++) {
        double at[3];
        mf_cloth_vertex(&rig->cloth, v, at);
        const double more = 1.17 + 0.05 * sin(1.7 * v + instance);
        set_field(rig->group, "vertex.position", instance, 3 * v, more * at[0]);
        set_field(rig->group, "vertex.position", instance, 3 * v + 1, 1.1 * at[1]);
        set_field(rig->group, "vertex.position", instance, 3 * v + 2, 0.5 + 0.01 * sin(0.3 * v));
        set_field(rig->group, "vertex.velocity", instance, 3 * v, 0.3 - 2.0 * at[1]);
        set_field(rig->group, "vertex.velocity", instance, 3 * v + 1, 2.0 * at[0]);
        set_field(rig->group, "vertex.velocity", instance, 3 * v + 2, 0.1);
    }
}

static double sum_of(mf_MotionEnergy energy) {
    return energy.kinetic + energy.potential + energy.elastic;
}

TEST(momentum_stays_and_energy_falls) {
    for (int k = 0; k < 2; k++) {
        AUTO_RIG rig = burst_begin(*state);
        double center[3], linear[2][3], angular[2][3];
        rig.world_config.step = rig.config.substep = MF_MILLISECOND / 64;
        if (k == 1)
            make_triangles(&rig.cloth);
        rig_open(&rig);
        burst(&rig, 0);
        mf_motion_momentum(rig.group, 0, center, linear[0], angular[0]);
        double before = sum_of(mf_motion_energy(rig.group, 0));
        const double first = before, mass = mf_cloth_area(&rig.cloth) * 0.15;
        for (int step = 0; step < 400; step++) {
            mf_world_step(rig.world, 1);
            const double now = sum_of(mf_motion_energy(rig.group, 0));
            assert_true(now <= before * (1.0 + 1e-12));
            before = now;
        }
        assert_true(torn(&rig) > 50.0 && torn(&rig) < mf_cloth_element_count(&rig.cloth));
        assert_true(before < 0.9 * first);
        mf_motion_momentum(rig.group, 0, center, linear[1], angular[1]);
        for (int c = 0; c < 3; c++) {
            assert_near(linear[1][c], linear[0][c], 1e-12 * sqrt(2.0 * mass * first));
            assert_near(angular[1][c], angular[0][c], 2e-3 * fabs(angular[0][2]));
        }
    }
}

static uint64_t hash_of(Kind kind) {
    AUTO_CONTEXT *context = open_context(kind.threads);
    AUTO_RIG rig = burst_begin(context);
    rig.cloth.pins = rig_corners;
    rig.cloth.pin_count = 2;
    rig.world_config.gravity = 9.81;
    rig.group_config.count = 2;
    open_kind(&rig, kind, 1e-5);
    burst(&rig, 0);
    burst(&rig, 1);
    if (kind.shared)
        MUST(mf_cloths_add(rig.world, &error));
    mf_world_step(rig.world, 8);
    assert_int_equal(mf_group_fault_total(rig.group), 0);
    assert_true(torn(&rig) > 50.0 && torn(&rig) < mf_cloth_element_count(&rig.cloth));
    const uint64_t hash = mf_world_hash(rig.world);
    return hash;
}

TEST(sets_and_threads_agree) {
    check_kinds(hash_of);
}

TEST(snapshots_continue) {
    AUTO_RIG rig = burst_begin(*state);
    make_triangles(&rig.cloth);
    rig_open(&rig);
    burst(&rig, 0);
    mf_world_step(rig.world, 10);
    const double before = torn(&rig);
    size_t size;
    AUTO(end_memory) void *image = take_snapshot(rig.world, &size);
    mf_world_step(rig.world, 60);
    const uint64_t hash = mf_world_hash(rig.world);
    assert_true(before > 0.0 && torn(&rig) > before);
    MUST(mf_world_restore(rig.world, image, size, &error));
    assert_near(torn(&rig), before, 0.0);
    mf_world_step(rig.world, 60);
    assert_int_equal(mf_world_hash(rig.world), hash);
}

// ---- cutting ------------------------------------------------------------------------------------

// Edges of a column that are written as torn part the cloth; a reset mends it.
TEST(cloth_can_be_cut) {
    AUTO_RIG rig = strip_begin(*state, false);
    rig.cloth.material.strength = 1e6;
    rig_open(&rig);
    const uint32_t along = (COLUMNS - 1) * ROWS, row = 10; // first edge along, and the cut row
    mf_world_step(rig.world, 100);
    const mf_MotionEnergy whole = mf_motion_energy(rig.group, 0);
    for (uint32_t i = 0; i < COLUMNS - 1; i++) // the last one tears as its cell is gone
        set_field(rig.group, "cloth.torn", 0, along + row * COLUMNS + i, 1.0);
    const mf_MotionEnergy cut = mf_motion_energy(rig.group, 0);
    assert_true(cut.kinetic == whole.kinetic && cut.potential == whole.potential);
    assert_true(cut.elastic < whole.elastic);
    mf_world_step(rig.world, 200);
    assert_near(torn(&rig), COLUMNS, 0.0);
    assert_near(get_field(rig.group, "cloth.torn", 0, along + row * COLUMNS + COLUMNS - 1), 1.0,
                0.0);
    const double left = 0.15 * 9.81 * width * length * 10.5 / (ROWS - 1); // half a cell each
    assert_near(pull(&rig, 0), -(0.15 * 9.81 * width * length - left), 0.2 * left);
    for (uint32_t t = 0; t < mf_cloth_triangle_count(&rig.cloth); t++)
        assert_int_equal(mf_cloth_triangle_torn(rig.group, 0, t), t / 2 / (COLUMNS - 1) == row);
    mf_group_reset(rig.group, 0);
    assert_near(torn(&rig), 0.0, 0.0);
    mf_world_step(rig.world, 200);
    assert_near(pull(&rig, 0), -0.15 * 9.81 * length * width, 1e-4);
}

TEST(others_do_not_tear) {
    Rig rig = strip_begin(*state, false);
    rig_open(&rig);
    assert_null(mf_group_find_field(rig.group, "cloth.torn"));
    assert_null(mf_group_find_field(rig.group, "cloth.tears"));
    assert_false(mf_cloth_triangle_torn(rig.group, 0, 0));
    assert_false(mf_cloth_triangle_torn(NULL, 0, 0));
    rig_close(&rig);
    rig = strip_begin(*state, false);
    rig.cloth.material.strength = -1.0;
    MUST_FAIL(rig_try(&rig, &error), MF_BAD_ARGUMENT, "strength: -1 N/m");
    rig_close(&rig);
}
