// Cloth: bits over instruction sets, threads, company and snapshots; pins, ground and friction,
// triangles, convergence with substeps, faults, refusals, and every failure of memory.
#include "rig/rig.h"
#include "cloth_rig.h"

GROUP_FIXTURE(make_context, drop_context);

// ---- bits ---------------------------------------------------------------------------------------

static uint64_t hash_of(Kind kind) {
    AUTO_CONTEXT *context = open_context(kind.threads);
    AUTO_RIG rig = rig_begin(context);
    rig.config.contacts = true;
    rig.group_config.count = 3;
    open_kind(&rig, kind, 1e-3);
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t c = 0; c < 3 * 17 * 24; c++)
            set_field(rig.group, "vertex.velocity", i, c, 0.3 * sin(0.1 * c * c + i));
    if (kind.shared)
        MUST(mf_cloths_add(rig.world, &error));
    mf_world_step(rig.world, 4);
    assert_int_equal(mf_group_fault_total(rig.group), 0);
    const uint64_t hash = mf_world_hash(rig.world);
    return hash;
}

TEST(sets_and_threads_agree) {
    check_kinds(hash_of);
}

TEST(other_lanes_change_nothing) {
    uint64_t hash[2];
    for (uint32_t k = 0; k < 2; k++) {
        AUTO_RIG rig = rig_begin(*state);
        rig.group_config.count = 1 + 18 * k;
        rig_open(&rig);
        set_field(rig.group, "vertex.velocity", 0, 100, 0.5);
        for (uint32_t i = 1; i < rig.group_config.count; i++)
            set_field(rig.group, "vertex.velocity", i, i, -1.0);
        mf_world_step(rig.world, 20);
        hash[k] = mf_group_instance_hash(rig.group, 0);
    }
    assert_int_equal(hash[0], hash[1]);
}

TEST(snapshots_continue) {
    AUTO_RIG rig = rig_begin(*state);
    rig.cloth = mf_cloth_rectangle(0.3, 0.3, 5, 5);
    rig.config.contacts = true;
    rig_open(&rig);
    mf_world_step(rig.world, 10);
    assert_continues(rig.world, 10);
}

// ---- physics ------------------------------------------------------------------------------------

// One spring of 0.2 m with two masses at each end oscillates with w^2 = 2 k / m; the error after a
// quarter of a period is of first order in the substep.
TEST(errors_fall_with_the_substep) {
    double error[2];
    for (int k = 0; k < 2; k++) {
        AUTO_RIG rig = rig_begin(*state);
        rig.cloth = mf_cloth_rectangle(0.2, 0.2, 2, 2);
        rig.cloth.material.shear = rig.cloth.material.bending = 0.0;
        rig.cloth.material.stretch = 10.0;
        rig.world_config.gravity = 0.0;
        rig.config.drag = 0.0;
        rig.config.substep = MF_MILLISECOND / (k + 1);
        rig_open(&rig);
        const double stretch = 1e-4, mass = 0.25 * 0.15 * 0.04; // of a vertex
        const double rate = sqrt(2.0 * 5.0 / mass);             // 5 N/m at each edge
        for (uint32_t v = 0; v < 4; v++)
            set_field(rig.group, "vertex.position", 0, 3 * v,
                      (v % 2 == 0 ? -1.0 : 1.0) * (0.1 + stretch));
        mf_world_step(rig.world, 3); // 15 ms
        error[k] =
            fabs(get_field(rig.group, "vertex.position", 0, 3) - 0.1 - stretch * cos(rate * 0.015));
        assert_true(error[k] < 0.3 * stretch);
    }
    assert_near(error[0] / error[1], 2.0, 0.35);
}

TEST(pins_track_their_targets) {
    AUTO_RIG rig = rig_begin(*state);
    rig_open(&rig);
    set_field(rig.group, "pin.anchor", 0, 0, -0.2);
    set_field(rig.group, "pin.anchor", 0, 2, 0.1);
    mf_world_step(rig.world, 1);
    assert_near(get_field(rig.group, "vertex.position", 0, 0), -0.2, 0.0);
    assert_near(get_field(rig.group, "vertex.position", 0, 2), 0.1, 0.0);
    assert_near(get_field(rig.group, "vertex.position", 0, 48), 0.25, 0.0);
    set_field(rig.group, "pin.vertex", 0, 0, 4294967295.0); // both let go
    set_field(rig.group, "pin.vertex", 0, 1, 4294967295.0);
    mf_world_step(rig.world, 20);
    assert_near(get_field(rig.group, "pin.force", 0, 2), 0.0, 0.0);
    const double speed = get_field(rig.group, "base.linear_velocity", 0, 2);
    mf_world_step(rig.world, 20);
    const double fall = (get_field(rig.group, "base.linear_velocity", 0, 2) - speed) / 0.1;
    assert_near(fall, -9.80665, 0.2); // but for the drag of the air
}

// At rest on the ground, half the thickness above it; pushed, it slows down by mu g.
TEST(ground_holds_and_slows) {
    AUTO_RIG rig = rig_begin(*state);
    rig.cloth.pin_count = 0;
    rig.cloth.material.thickness = 4e-3;
    rig.cloth.material.friction = 0.5;
    rig.config.contacts = true;
    rig.config.drag = 0.0;
    rig_open(&rig);
    mf_world_step(rig.world, 20);
    assert_near(get_field(rig.group, "base.position", 0, 2), 2e-3, 1e-9);
    assert_near(get_field(rig.group, "cloth.contacts", 0, 0), 17 * 24, 0.0);
    for (uint32_t v = 0; v < 17 * 24; v++)
        set_field(rig.group, "vertex.velocity", 0, 3 * v, 1.0);
    mf_world_step(rig.world, 20); // 0.1 s
    assert_near(get_field(rig.group, "base.linear_velocity", 0, 0), 1.0 - 0.5 * 9.80665 * 0.1,
                2e-3);
    mf_world_step(rig.world, 40);
    assert_near(get_field(rig.group, "base.linear_velocity", 0, 0), 0.0, 1e-9);
}

// Triangles stretch like the rectangle: a strip that hangs by its upper edge is rho g L^2 / (2 E)
// longer.
TEST(triangles_stretch_like_threads) {
    static const uint32_t upper[3] = {30, 31, 32};
    for (int k = 0; k < 2; k++) {
        AUTO_RIG rig = rig_begin(*state);
        rig.cloth = mf_cloth_rectangle(0.1, 0.5, 3, 11);
        rig.cloth.plane = MF_CLOTH_XZ;
        rig.cloth.pins = upper;
        rig.cloth.pin_count = 3;
        rig.cloth.material.stretch = 20.0;
        rig.config.substep = MF_MILLISECOND / 4;
        rig.config.drag = 10.0;
        if (k == 1)
            make_triangles(&rig.cloth);
        rig_open(&rig);
        mf_world_step(rig.world, 400);
        const double length = get_field(rig.group, "vertex.position", 0, 3 * 31 + 2) -
                              get_field(rig.group, "vertex.position", 0, 3 * 1 + 2);
        assert_near(length - 0.5, 0.15 * 9.80665 * 0.25 / 40.0, 3e-4);
    }
}

// A strip that hangs: what the pass leaves over is how much longer it is than its stiffness says.
// With substeps that reach it, little is left and nothing is said.
TEST(softness_is_reported) {
    static uint32_t upper[5];
    for (int k = 0; k < 4; k++) {
        AUTO_RIG rig = rig_begin(*state);
        rig.cloth = mf_cloth_rectangle(0.1, 1.0, 5, 41);
        rig.cloth.plane = MF_CLOTH_XZ;
        for (uint32_t i = 0; i < 5; i++)
            upper[i] = 5 * 40 + i;
        rig.cloth.pins = upper;
        rig.cloth.pin_count = 5;
        rig.config.substep = k & 1 ? MF_MILLISECOND / 16 : MF_MILLISECOND;
        rig.config.drag = 100.0;
        if (k & 2)
            make_triangles(&rig.cloth);
        rig_open(&rig);
        mf_world_step(rig.world, 400);
        const double strain = get_field(rig.group, "cloth.residual", 0, 0);
        const double length = get_field(rig.group, "vertex.position", 0, 3 * (5 * 40 + 2) + 2) -
                              get_field(rig.group, "vertex.position", 0, 3 * 2 + 2);
        const double more = length - 1.0 - 0.15 * 9.81 / (2.0 * 1000.0); // [m] than it should be
        const mf_WarningSum sum = mf_group_warning_sum(rig.group, MF_WARNING_SOLVER);
        if (k & 1) {
            assert_true(strain < 1e-3 && fabs(more) < 1e-3);
            assert_int_equal(sum.robots, 0);
        } else {
            // Were it all strain along the strip, falling to 0 at its end: sqrt(3) / 2.
            assert_near(more / strain, sqrt(0.75), 0.25);
            assert_true(sum.robots == 1 && sum.residual >= 0.01);
            assert_non_null(
                strstr(mf_group_warning_words(rig.group, MF_WARNING_SOLVER)->meaning, "softer"));
        }
    }
}

// The least distance of vertices that are no neighbors, over the distance that the cloth keeps.
static double least_distance(const Rig *rig, double keeps) {
    const uint32_t count = mf_cloth_vertex_count(&rig->cloth);
    double least = INFINITY, at[2][3];
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = 0; b < a; b++) {
            double rest = 0.0, now = 0.0;
            mf_cloth_vertex(&rig->cloth, a, at[0]);
            mf_cloth_vertex(&rig->cloth, b, at[1]);
            for (uint32_t c = 0; c < 3; c++) {
                rest += pow(at[0][c] - at[1][c], 2.0);
                now += pow(get_field(rig->group, "vertex.position", 0, 3 * a + c) -
                               get_field(rig->group, "vertex.position", 0, 3 * b + c),
                           2.0);
            }
            if (sqrt(rest) > 3.0 * keeps && now < least)
                least = now;
        }
    return sqrt(least) / keeps;
}

// An upright strip falls down and folds onto itself.
TEST(folds_stay_apart) {
    static const uint32_t none[1] = {0};
    uint64_t hash = 0;
    for (int k = 0; k < 3; k++) {
        AUTO_RIG rig = rig_begin(*state);
        rig.cloth = mf_cloth_rectangle(0.1, 0.6, 6, 31);
        rig.cloth.plane = MF_CLOTH_XZ;
        rig.cloth.pins = none;
        rig.cloth.pin_count = 0;
        rig.config.contacts = true;
        rig.config.drag = 2.0;
        rig.config.self_distance = k == 0 ? 0.0 : 0.018;
        rig.world_config.step = MF_MILLISECOND;
        rig.world_config.isa = k == 2 ? MF_ISA_SCALAR : MF_ISA_AUTO;
        rig.group_config.isolated = false;
        rig_open(&rig);
        MUST(mf_cloths_add(rig.world, &error));
        for (uint32_t v = 0; v < 6 * 31; v++)
            set_field(rig.group, "vertex.velocity", 0, 3 * v + 1, 0.05 * sin(0.3 * (v / 6)));
        mf_world_step(rig.world, 1000);
        assert_int_equal(mf_group_fault_total(rig.group), 0);
        const double least = least_distance(&rig, 0.018);
        assert_true(k == 0 ? least < 0.3 : least > 0.6);
        assert_true(k < 2 || mf_world_hash(rig.world) == hash);
        hash = mf_world_hash(rig.world);
    }
}

// ---- faults and refusals ------------------------------------------------------------------------

TEST(faults_are_contained) {
    AUTO_RIG rig = rig_begin(*state);
    rig.group_config.count = 3;
    rig_open(&rig);
    mf_world_step(rig.world, 2);
    const double was = get_field(rig.group, "vertex.position", 1, 30);
    set_field(rig.group, "vertex.velocity", 1, 7, NAN);
    mf_world_step(rig.world, 5);
    assert_int_equal(mf_group_fault(rig.group, 1), MF_FAULT_NONFINITE);
    assert_near(get_field(rig.group, "vertex.position", 1, 30), was, 0.0);
    assert_int_equal(mf_group_fault(rig.group, 0), 0);
    assert_true(mf_group_instance_hash(rig.group, 0) == mf_group_instance_hash(rig.group, 2));
    mf_group_reset(rig.group, 1);
    mf_world_step(rig.world, 5);
    assert_int_equal(mf_group_fault_total(rig.group), 0);
}

// With the default substep a sheet that hangs is longer by density g L^2 / (2 stretch), within a
// tenth, whatever its cells; and nothing is said.
TEST(stiffness_does_not_depend_on_the_cells) {
    static uint32_t upper[11];
    static const uint32_t counts[] = {6, 11, 21, 41};
    for (int k = 0; k < 8; k++) {
        const uint32_t rows = counts[k / 2], columns = (rows - 1) / 4 + 1;
        AUTO_RIG rig = rig_begin(*state);
        rig.cloth = mf_cloth_rectangle(0.25, 1.0, columns, rows);
        rig.cloth.plane = MF_CLOTH_XZ;
        for (uint32_t i = 0; i < columns; i++)
            upper[i] = columns * (rows - 1) + i;
        rig.cloth.pins = upper;
        rig.cloth.pin_count = columns;
        rig.config.substep = mf_motions_config().cloth.substep;
        rig.config.drag = 100.0;
        if (k & 1)
            make_triangles(&rig.cloth);
        rig_open(&rig);
        mf_world_step(rig.world, 400);
        const double expected = 0.15 * 9.80665 / (2.0 * 1000.0);
        double more = -1.0;
        for (uint32_t i = 0; i < columns; i++)
            more += (get_field(rig.group, "vertex.position", 0, 3 * upper[i] + 2) -
                     get_field(rig.group, "vertex.position", 0, 3 * i + 2)) /
                    columns;
        if (fabs(more / expected - 1.0) > 0.1)
            fail_msg("%u x %u%s: longer by %g of what is right", columns, rows,
                     k & 1 ? ", triangles" : "", more / expected);
        assert_int_equal(mf_group_warning_sum(rig.group, MF_WARNING_SOLVER).robots, 0);
    }
}

typedef void Spoil(Rig *rig);
static void no_substep(Rig *rig) {
    rig->config.substep = -1;
}
static void tiny_substep(Rig *rig) {
    rig->config.substep = 1;
}
static void bad_drag(Rig *rig) {
    rig->config.drag = NAN;
}
static void bad_distance(Rig *rig) {
    rig->config.self_distance = -1.0;
}
static void bad_stretch(Rig *rig) {
    rig->cloth.material.stretch = 0.0;
}
static void one_column(Rig *rig) {
    rig->cloth.counts[0] = 1;
}
static void bad_pin(Rig *rig) {
    static const uint32_t pin = 4096;
    rig->cloth.pins = &pin;
    rig->cloth.pin_count = 1;
}
static void three_at_an_edge(Rig *rig) {
    make_triangles(&rig->cloth);
    rig->cloth.pin_count = 0;
    rig->cloth.triangle_count = 3;
    for (uint32_t t = 0; t < 3; t++) {
        const uint32_t corner[3] = {0, 1, 17 + t};
        memcpy(mesh_triangles[t], corner, sizeof corner);
    }
    mesh_vertices[19][0] = 0.1;
}

TEST(what_is_wrong_is_named) {
    static const struct {
        Spoil *spoil;
        const char *text;
    } wrong[] = {{no_substep, "cloth.substep: -1e-09 s"},
                 {tiny_substep, "cloth.substep: 1e-09 s"},
                 {bad_distance, "cloth.self_distance: -1 m, need 0 .. 10"},
                 {bad_drag, "cloth.drag: nan 1/s, need 0 .. 1000"},
                 {bad_stretch, "stretch: 0 N/m"},
                 {one_column, "counts: 1 vertices"},
                 {bad_pin, "pins[0]: no vertex 4096"},
                 {three_at_an_edge, "the edge of vertices 0 and 1 has 3 triangles"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        AUTO_RIG rig = rig_begin(*state);
        wrong[i].spoil(&rig);
        MUST_FAIL(rig_try(&rig, &error), MF_BAD_ARGUMENT, wrong[i].text);
    }
}

TEST(every_failure_is_reported) {
    for (int k = 0; k < 2; k++) {
        mf_Status status = MF_NO_MEMORY;
        uint32_t calls = 0;
        while (status != MF_OK) {
            AUTO_RIG rig = rig_begin(*state);
            mf_Error error = {0};
            rig.cloth = mf_cloth_rectangle(0.3, 0.3, 4, 5);
            rig.group_config.isolated = false;
            rig.cloth.material.strength = k == 1 ? 100.0 : 0.0;
            if (k == 1)
                make_triangles(&rig.cloth);
            mf_context_fail_after(*state, ++calls);
            status = rig_try(&rig, &error);
            if (status == MF_OK)
                status = mf_cloths_add(rig.world, &error);
            mf_context_fail_after(*state, 0);
            assert_true(status == MF_OK || status == MF_NO_MEMORY);
        }
        assert_true(calls > 10);
    }
}
