// A ring of docked modules whose last dock does not fit: it stays as it is,
// without faults, and neither gains energy nor changes its momentum.
#include "solve/modules.h"

// Bent by a quarter each, four modules are a square; the front dock of the last
// is `aside` out of its plane, which no hinge can make good. It is closed
// nevertheless.
typedef struct Ring {
    Pitch pitch;
    mf_Group *groups[2]; // three modules, and the one that is different
    mf_WorldDocks *docks;
} Ring;

static void open_ring(Ring *ring, double aside, mf_Time step) {
    *ring = (Ring){.docks = NULL};
    Pitch *pitch = &ring->pitch;
    *pitch = pitch_open(2, MF_ISA_AUTO, step, 0.0);
    for (uint32_t g = 0; g < 2; g++) {
        ring->groups[g] =
            pitch_moving(pitch, module_of(pitch->context, ghosts, "", g == 0 ? 0.0 : aside),
                         g == 0 ? "modules" : "odd", g == 0 ? 3 : 1, true, module_motion(false));
    }
    ring->docks = add_docks(pitch);
    put_at(pitch, ring->groups[0], 0, 0, 0, 5);
    for (uint32_t i = 0; i < 4; i++)
        set_field(ring->groups[i / 3], "joint.angle", i % 3, 0, quarter);
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t next = (i + 1) % 4;
        if (next != 0)
            mate(ring->docks, ring->groups[i / 3], i % 3, ring->groups[next / 3], next % 3);
        dock_to(ring->docks, ring->groups[i / 3], i % 3, ring->groups[next / 3], next % 3);
    }
}

static double energy_of_ring(const Ring *ring) {
    return kinetic_energy_of(ring->groups[0]) + kinetic_energy_of(ring->groups[1]);
}

// About y through its middle as one body.
static void spin(const Ring *ring, double rate) {
    for (uint32_t i = 0; i < 4; i++) {
        mf_Group *group = ring->groups[i / 3];
        set_field(group, "base.angular_velocity", i % 3, 1, rate);
        set_field(group, "base.linear_velocity", i % 3, 0,
                  rate * (get_field(group, "base.position", i % 3, 2) - 4.9));
        set_field(group, "base.linear_velocity", i % 3, 2,
                  -rate * (get_field(group, "base.position", i % 3, 0) + 0.1));
    }
}

// The try to close it moves it by 0.1 m/s at most; then it is as calm as one
// that fits.
static void stay_calm(double aside, double rate) {
    Ring ring;
    double early = 0.0;
    open_ring(&ring, aside, 2 * MF_MILLISECOND);
    spin(&ring, rate);
    const Momentum before = momentum_of(ring.groups, 2);
    const double began = energy_of_ring(&ring);
    for (uint32_t n = 0; n < (SANITIZED ? 5 : 25); n++) {
        mf_world_step(ring.pitch.world, 100);
        const double energy = energy_of_ring(&ring);
        early = n == 1 ? energy : early;
        assert_near(energy, began, 5e-4);
        if (n > 1)
            assert_near(energy, early, 5e-4 * began + 1e-6);
        assert_momentum(momentum_of(ring.groups, 2), before, 1e-9, 1e-9);
        assert_near(widest_opening(ring.pitch.world), aside, 0.1 * aside + 1e-9);
    }
    print_message("%g mm, %g rad/s: %.6g J, after 0.4 s %.6g J, at the end %.6g J\n", 1e3 * aside,
                  rate, began, early, energy_of_ring(&ring));
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(get_field(ring.groups[i / 3], "fault.word", i % 3, 0), 0);
    double warned = 0.0; // both robots of the loop
    for (uint32_t i = 0; i < 4; i++)
        warned += get_field(ring.groups[i / 3], "warning.steps", i % 3, 3);
    print_message("robot-steps with a warning: %g\n", warned);
    assert_true(aside > 1e-3 ? warned > (SANITIZED ? 800 : 4600) : !(warned > 0.0));
    const mf_DocksStatistics seen = mf_docks_statistics(ring.docks);
    assert_int_equal(seen.trees, SANITIZED ? 500 : 2500);
    assert_int_equal(seen.broken, 0);
    pitch_close(&ring.pitch);
}

TEST(a_loop_that_does_not_fit_stays_calm) {
    static const double asides[] = {0.0, 0.0002, 0.002, 0.01}; // [m]
    for (uint32_t k = 0; k < 4; k++) {
        stay_calm(asides[k], 0.0);
        stay_calm(asides[k], 3.0);
    }
}
