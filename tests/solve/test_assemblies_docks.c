// Docks of every kind while their assembly moves as one tree: one that breaks, a magnet, a clamp, a
// latch that misses. Seen by statistics, momentum and energy.
#include "solve/modules.h"

static const double mass = 0.8, length = 0.2; // [kg], [m] of a module

// Rows of `each` modules along x, `gap` apart from each other, docked within; lines of `line`
// modules are side by side.
typedef struct Rows {
    Pitch pitch;
    mf_Group *modules;
    mf_WorldDocks *docks;
    uint32_t each, count; // [1] modules of a row, and of all
} Rows;

static Rows open_lines(uint32_t each, uint32_t line, uint32_t count, double gap,
                       const char *extra) {
    Rows rows = {.each = each, .count = count};
    Pitch *pitch = &rows.pitch;
    *pitch = pitch_open(2, MF_ISA_AUTO, 2 * MF_MILLISECOND, 0.0);
    rows.modules = pitch_moving(pitch, module_of(pitch->context, ghosts, extra, 0.0), "modules",
                                count, true, module_motion(false));
    rows.docks = add_docks(pitch);
    for (uint32_t i = 0; i < count; i++)
        put_at(pitch, rows.modules, i, i % line * length + i % line / each * gap, i / line, 5);
    for (uint32_t i = 1; i < count; i++)
        if (i % each != 0)
            dock_to(rows.docks, rows.modules, i - 1, rows.modules, i);
    return rows;
}

static Rows open_rows(uint32_t each, uint32_t count, double gap, const char *extra) {
    return open_lines(each, count, count, gap, extra);
}

static void close_rows(Rows *rows) {
    for (uint32_t i = 0; i < rows->count; i++)
        assert_int_equal(get_field(rows->modules, "fault.word", i, 0), 0);
    pitch_close(&rows->pitch);
}

static void step(Rows *rows, uint64_t steps) {
    mf_world_step(rows->pitch.world, steps);
}

static mf_DocksStatistics seen(const Rows *rows) {
    return mf_docks_statistics(rows->docks);
}

static uint32_t dock_state(Rows *rows, uint32_t module, uint32_t dock) {
    return (uint32_t)get_field(rows->modules, "dock.state", module, dock);
}

// The same velocity along x for all of a row.
static void drive(Rows *rows, uint32_t row, double speed) {
    for (uint32_t i = row * rows->each; i < (row + 1) * rows->each; i++)
        set_field(rows->modules, "base.linear_velocity", i, 0, speed);
}

// ---- invariants ---------------------------------------------------------------------------------

enum { MOST = 16, VALUES = 7 };

static void read_velocities(mf_Group *modules, double out[MOST][VALUES]) {
    for (uint32_t i = 0; i < mf_group_count(modules); i++) {
        for (uint32_t c = 0; c < 3; c++) {
            out[i][c] = get_field(modules, "base.linear_velocity", i, c);
            out[i][3 + c] = get_field(modules, "base.angular_velocity", i, c);
        }
        out[i][6] = get_field(modules, "joint.rate", i, 0);
    }
}

// ---- a dock that breaks -------------------------------------------------------------------------

// A row that is pulled at its end by F: dock i carries (n - 1 - i) F / n. With 8 N and four modules
// the first carries 6 N, above its 5.
TEST(a_pulled_row_breaks_where_the_load_is) {
    const double pull = 8.0, tick = 0.002;
    AUTO(close_rows) Rows rows = open_rows(4, 4, 0.0, "tension=5");
    step(&rows, 10);
    assert_int_equal(seen(&rows).trees, 10);
    set_field(rows.modules, "base.force", 0, 0, -pull);
    step(&rows, 1);
    // In the step that breaks it the row still moves as a whole: no velocity jumps.
    assert_int_equal(seen(&rows).broken, 1);
    assert_int_equal(dock_state(&rows, 0, FRONT), MF_DOCK_BROKEN);
    assert_int_equal(dock_state(&rows, 1, FRONT), MF_DOCK_ENGAGED);
    assert_near(get_field(rows.modules, "dock.load", 0, 6 * FRONT), 0.75 * pull, 1e-9);
    for (uint32_t i = 0; i < 4; i++)
        assert_near(get_field(rows.modules, "base.linear_velocity", i, 0),
                    -pull / (4.0 * mass) * tick, 1e-12);
    // From then on the force is that of one module, and the others drift.
    step(&rows, 1);
    assert_near(get_field(rows.modules, "base.linear_velocity", 0, 0),
                -pull / (4.0 * mass) * tick - pull / mass * tick, 1e-12);
    for (uint32_t i = 1; i < 4; i++)
        assert_near(get_field(rows.modules, "base.linear_velocity", i, 0),
                    -pull / (4.0 * mass) * tick, 1e-12);
    set_field(rows.modules, "base.force", 0, 0, 0.0);
    const Momentum after = momentum_of(&rows.modules, 1);
    const double energy = kinetic_energy_of(rows.modules);
    step(&rows, 100);
    assert_momentum(momentum_of(&rows.modules, 1), after, 1e-12, 1e-12);
    assert_near(kinetic_energy_of(rows.modules), energy, 1e-12);
    // Each step had one assembly: first of four, then of three.
    assert_int_equal(seen(&rows).trees, 112);
    assert_int_equal(seen(&rows).loops + seen(&rows).touched + seen(&rows).others, 0);
    assert_int_equal(seen(&rows).broken, 1);
}

// A row that spins about z faster and faster while its hinges swing, until its docks break. What
// breaks leaves all velocities as they are: against a twin whose docks
// do not break the step in which they do is the same to the bit.
TEST(a_spinning_row_breaks_without_a_jump) {
    enum { COUNT = 6 };
    const double rate = 6.0;
    Rows rows[2];
    bool broke = false;
    rows[0] = open_rows(COUNT, COUNT, 0.0, "tension=14");
    rows[1] = open_rows(COUNT, COUNT, 0.0, "");
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t i = 0; i < COUNT; i++) {
            set_field(rows[k].modules, "base.angular_velocity", i, 2, rate);
            set_field(rows[k].modules, "base.linear_velocity", i, 1, rate * length * (i - 2.5));
            set_field(rows[k].modules, "base.force", i, 2, i % 2 == 0 ? 0.3 : -0.3); // bends it
        }
    for (uint32_t k = 0; k < 200 && !broke; k++) {
        double velocities[2][MOST][VALUES];
        for (uint32_t r = 0; r < 2; r++) {
            // Faster and faster.
            set_field(rows[r].modules, "base.force", 0, 1, -8.0);
            set_field(rows[r].modules, "base.force", COUNT - 1, 1, 8.0);
            step(&rows[r], 1);
            read_velocities(rows[r].modules, velocities[r]);
        }
        assert_memory_equal(velocities[0], velocities[1], COUNT * sizeof velocities[0][0]);
        broke = seen(&rows[0]).broken > 0;
    }
    assert_true(broke);
    for (uint32_t i = 0; i < COUNT; i++)
        for (uint32_t c = 0; c < 3; c++)
            set_field(rows[0].modules, "base.force", i, c, 0.0);
    const Momentum before = momentum_of(&rows[0].modules, 1);
    double energy = kinetic_energy_of(rows[0].modules);
    const double first = energy;
    for (uint32_t k = 0; k < 500; k++) {
        step(&rows[0], 1);
        assert_momentum(momentum_of(&rows[0].modules, 1), before, 1e-9, 1e-9);
        const double now = kinetic_energy_of(rows[0].modules);
        if (now > energy * (1.0 + 1e-5))
            fail_msg("step %u: energy rises from %.12g to %.12g J", k, energy, now);
        energy = now;
    }
    print_message("%u docks broke; energy %.6g J, 1 s later %.6g J\n",
                  (unsigned)seen(&rows[0]).broken, first, energy);
    assert_true(seen(&rows[0]).trees > 0);
    assert_int_equal(seen(&rows[0]).loops + seen(&rows[0]).touched + seen(&rows[0]).others, 0);
    close_rows(&rows[0]);
    close_rows(&rows[1]);
}

// ---- a magnet -----------------------------------------------------------------------------------

// Two rows at rest, 50 mm apart: pull (1 - d / range)^2 is 2 N on each, the only one, since docks
// within a row are taken. They meet, lose what the blow takes, and go on as one tree at rest.
TEST(a_magnet_pulls_a_row_on) {
    const Momentum none = {{0}, {0}};
    double energy = 0.0;
    AUTO(close_rows) Rows rows = open_rows(2, 4, 0.05, "pull=8 range=0.1");
    step(&rows, 1);
    for (uint32_t i = 0; i < 4; i++)
        assert_near(get_field(rows.modules, "base.linear_velocity", i, 0),
                    (i < 2 ? 1.0 : -1.0) * 2.0 / (2.0 * mass) * 0.002, 1e-12);
    uint64_t steps = 1;
    for (; steps < 400 && seen(&rows).joined == 2; steps++) {
        energy = kinetic_energy_of(rows.modules);
        step(&rows, 1);
        assert_momentum(momentum_of(&rows.modules, 1), none, 1e-12, 1e-12);
    }
    assert_int_equal(seen(&rows).joined, 3);
    assert_int_equal(dock_state(&rows, 1, FRONT), MF_DOCK_ENGAGED);
    assert_int_equal(get_field(rows.modules, "dock.partner", 1, 3 * FRONT + 1), 2);
    // Two assemblies until it joined, one since then.
    assert_int_equal(seen(&rows).trees, 2 * (steps - 1) + 1);
    for (uint32_t k = 0; k < 200; k++) {
        step(&rows, 1);
        assert_momentum(momentum_of(&rows.modules, 1), none, 1e-9, 1e-9);
        const double now = kinetic_energy_of(rows.modules);
        assert_true(now <= energy + 1e-12);
        energy = now;
    }
    assert_true(energy < 1e-9);
    assert_int_equal(seen(&rows).trees, 2 * (steps - 1) + 1 + 200);
    assert_int_equal(seen(&rows).others + seen(&rows).touched + seen(&rows).loops, 0);
    assert_near(get_field(rows.modules, "base.position", 2, 0) -
                    get_field(rows.modules, "base.position", 1, 0),
                length, 1e-7);
}

// ---- a clamp ------------------------------------------------------------------------------------

// It closes for 20 ms, ten steps, in which both rows move by themselves; then they are one.
TEST(a_clamp_closes_on_a_row) {
    AUTO(close_rows) Rows rows = open_rows(3, 6, 0.0, "closing=0.02");
    drive(&rows, 0, 0.3);
    drive(&rows, 1, 0.28); // parts by 0.2 mm meanwhile
    const Momentum before = momentum_of(&rows.modules, 1);
    const double apart = kinetic_energy_of(rows.modules);
    step(&rows, 10);
    assert_int_equal(dock_state(&rows, 2, FRONT), MF_DOCK_CLOSING);
    assert_int_equal(dock_state(&rows, 3, BACK), MF_DOCK_CLOSING);
    assert_int_equal(seen(&rows).trees, 20);
    assert_near(kinetic_energy_of(rows.modules), apart, 1e-12);
    assert_near(get_field(rows.modules, "base.linear_velocity", 5, 0), 0.28, 1e-12);
    step(&rows, 1);
    assert_int_equal(dock_state(&rows, 2, FRONT), MF_DOCK_ENGAGED);
    assert_int_equal(seen(&rows).joined, 5);
    assert_int_equal(seen(&rows).trees, 21);
    step(&rows, 200);
    assert_momentum(momentum_of(&rows.modules, 1), before, 1e-9, 1e-9);
    // Together they have what a blow without rebound leaves: 1/2 M v^2 of the mean velocity.
    assert_near(kinetic_energy_of(rows.modules), 0.5 * 6.0 * mass * 0.29 * 0.29, 1e-6);
    assert_int_equal(seen(&rows).trees, 221);
    // It opens at once: two trees again, and nothing jumps.
    double velocities[2][MOST][VALUES];
    read_velocities(rows.modules, velocities[0]);
    set_field(rows.modules, "dock.enabled", 2, FRONT, 0);
    step(&rows, 1);
    read_velocities(rows.modules, velocities[1]);
    for (uint32_t i = 0; i < 6; i++)
        for (uint32_t c = 0; c < VALUES; c++)
            assert_near(velocities[1][i][c], velocities[0][i][c], 1e-6);
    assert_momentum(momentum_of(&rows.modules, 1), before, 1e-9, 1e-9);
    assert_int_equal(seen(&rows).released, 1);
    assert_int_equal(seen(&rows).trees, 223);
}

// ---- a latch ------------------------------------------------------------------------------------

// Of 60 pairs of rows whose latches each catch with 0.7, 49 % join: within four standard
// deviations. A miss changes no velocity, and the rows stay trees of their own.
TEST(a_latch_misses_a_row) {
    enum { PAIRS = SANITIZED ? 15 : 60, EACH = 2 };
    AUTO(close_rows) Rows rows = open_lines(EACH, 2 * EACH, 2 * EACH * PAIRS, 0.0, "failure=0.3");
    for (uint32_t i = 0; i < rows.count; i++)
        set_field(rows.modules, "base.linear_velocity", i, 1, 0.1);
    const uint64_t docked = PAIRS * 2 * (EACH - 1);
    const Momentum before = momentum_of(&rows.modules, 1);
    step(&rows, 1);
    const uint64_t joined = seen(&rows).joined - docked, missed = seen(&rows).missed;
    assert_int_equal(joined + missed, PAIRS);
    assert_near((double)joined, 0.49 * PAIRS, 4.0 * sqrt(PAIRS * 0.49 * 0.51));
    assert_true(joined > 0 && missed > 0);
    step(&rows, 49);
    assert_int_equal(seen(&rows).joined - docked, joined); // they were never apart to try again
    assert_int_equal(seen(&rows).trees, 50 * (joined + 2 * missed));
    assert_momentum(momentum_of(&rows.modules, 1), before, 1e-9, 1e-9);
    for (uint32_t i = 0; i < rows.count; i++) {
        const bool miss = dock_state(&rows, i, FRONT) == MF_DOCK_MISSED;
        assert_true(!miss || i % (2 * EACH) == EACH - 1);
        assert_near(get_field(rows.modules, "base.linear_velocity", i, 1), 0.1, 1e-9);
    }
}
