// Docks: what joins and what does not, turns, clamps, latches, magnets, breaks, resets, snapshots,
// threads and instruction sets, and mistakes. Loads and assemblies are check cases (H1 .. H7).
#include "solve/modules.h"
#include "model/mounted.h"

enum { TOP = 2, ODD }; // docks of a body, besides BACK and FRONT

// A box of 0.1 x 0.2 x 0.4 m, with `extra` attributes for its docks.
static mf_Model *body_of(mf_Context *context, const char *extra) {
    return load_text(
        context,
        formatted(
            "<mujoco model='body'><worldbody><body name='b'><freejoint/>"
            "<geom type='box' size='0.05 0.1 0.2' mass='2'/>"
            "<site name='front' pos='0.05 0 0'/><site name='back' pos='-0.05 0 0' quat='0 0 0 1'/>"
            "<site name='top' pos='0 0 0.2' quat='0.70710678118654757 0 -0.70710678118654757 0'/>"
            "<site name='odd' pos='0 0.1 0' quat='0.70710678118654757 0 0 0.70710678118654757'/>"
            "</body></worldbody><custom>"
            "<text name='dock:back' data='site=back gender=female orientations=4 %s'/>"
            "<text name='dock:front' data='site=front gender=male orientations=4 %s'/>"
            "<text name='dock:top' data='site=top orientations=2 %s'/>"
            "<text name='dock:odd' data='site=odd type=odd fits=even %s'/>"
            "</custom></mujoco>",
            extra, extra, extra, extra));
}

typedef struct Bodies {
    Pitch pitch;
    mf_Group *group;
    mf_WorldDocks *docks;
} Bodies;

static Bodies bodies_open(uint32_t count, uint32_t threads, mf_Isa isa, const char *extra) {
    Bodies bodies;
    bodies.pitch = pitch_open(threads, isa, 2 * MF_MILLISECOND, 0.0);
    bodies.group = add_bodies(&bodies.pitch, body_of(bodies.pitch.context, extra), "bodies", count,
                              MF_MOTION_RIGID, true, false);
    bodies.docks = add_docks(&bodies.pitch);
    return bodies;
}

static void bodies_close(Bodies *bodies) {
    pitch_close(&bodies->pitch);
}

static void put_body(Bodies *bodies, uint32_t instance, double x, double y, double z,
                     const double *orientation) {
    MUST(mf_group_set_start(bodies->group, instance, (double[]){x, y, z}, orientation, NULL,
                            &error));
}

// Two bodies along x, the front of one at the back of the other.
static Bodies open_pair(const char *extra) {
    Bodies bodies = bodies_open(2, 1, MF_ISA_AUTO, extra);
    put_body(&bodies, 0, 0, 0, 5, NULL);
    put_body(&bodies, 1, 0.1, 0, 5, NULL);
    return bodies;
}

static uint32_t dock_state(Bodies *bodies, uint32_t instance, uint32_t dock) {
    return (uint32_t)get_field(bodies->group, "dock.state", instance, dock);
}

static uint32_t partner_of(Bodies *bodies, uint32_t instance, uint32_t dock) {
    return (uint32_t)get_field(bodies->group, "dock.partner", instance, 3 * dock + 1);
}

static void step(Bodies *bodies, uint64_t steps) {
    mf_world_step(bodies->pitch.world, steps);
}

// ---- joining ------------------------------------------------------------------------------------

// Two bodies whose front and back are `gap` apart, the second turned by `angle` about x, then
// tilted by `tilt` about z. Returns the state of the front dock after a step.
static uint32_t state_at(double gap, double angle, double tilt, uint32_t *orientation) {
    AUTO(bodies_close) Bodies bodies = bodies_open(2, 1, MF_ISA_AUTO, "distance=0.005 angle=0.1");
    const double half[2] = {cos(angle / 2), sin(angle / 2)},
                 side[2] = {cos(tilt / 2), sin(tilt / 2)};
    const double q[4] = {side[0] * half[0], side[0] * half[1], side[1] * half[1],
                         side[1] * half[0]};
    put_body(&bodies, 0, 0, 0, 5, NULL);
    // Its back dock, 0.05 m behind its center, is to be at 0.05 + gap.
    put_body(&bodies, 1, 0.05 + gap + 0.05 * cos(tilt), 0.05 * sin(tilt), 5, q);
    step(&bodies, 1);
    const uint32_t state = dock_state(&bodies, 0, FRONT);
    *orientation = (uint32_t)get_field(bodies.group, "dock.orientation", 0, FRONT);
    if (state == MF_DOCK_ENGAGED) {
        assert_int_equal(partner_of(&bodies, 0, FRONT), 1);
        assert_int_equal(partner_of(&bodies, 1, BACK), 0);
        step(&bodies, 500);
        double at[2][3];
        for (uint32_t i = 0; i < 2; i++)
            get_fields(bodies.group, "base.position", i, 3, at[i]);
        assert_near(distance3(at[0], at[1]), 0.1, 1e-7);
    }
    return state;
}

TEST(docks_join_within_the_tolerances_of_both) {
    uint32_t orientation;
    const double right = 1.5707963267948966;
    assert_int_equal(state_at(0.0, 0, 0, &orientation), MF_DOCK_ENGAGED);
    assert_int_equal(orientation, 0);
    assert_int_equal(state_at(0.0049, 0, 0, &orientation), MF_DOCK_ENGAGED);
    assert_int_equal(state_at(0.0051, 0, 0, &orientation), MF_DOCK_FREE);
    assert_int_equal(state_at(0.001, 0.099, 0, &orientation), MF_DOCK_ENGAGED);
    assert_int_equal(state_at(0.001, 0.101, 0, &orientation), MF_DOCK_FREE);
    assert_int_equal(state_at(0.001, 0, 0.099, &orientation), MF_DOCK_ENGAGED);
    assert_int_equal(state_at(0.001, 0, 0.101, &orientation), MF_DOCK_FREE);
    for (uint32_t k = 0; k < 4; k++) { // a turn of the second dock about its own x is one back
        assert_int_equal(state_at(0.001, k * right + 0.05, 0, &orientation), MF_DOCK_ENGAGED);
        assert_int_equal(orientation, k);
    }
    assert_int_equal(state_at(0.001, 0.5 * right, 0, &orientation), MF_DOCK_FREE);
}

// Genders and types: front to front does not fit, top fits both, odd fits nothing here.
TEST(genders_and_types_decide_who_fits) {
    AUTO(bodies_close) Bodies bodies = bodies_open(2, 1, MF_ISA_AUTO, "");
    const mf_Dock *docks = mf_group_model(bodies.group)->docks;
    const bool expected[4][4] = {{false, true, true, false},
                                 {true, false, true, false},
                                 {true, true, true, false},
                                 {false, false, false, false}};
    for (uint32_t a = 0; a < 4; a++)
        for (uint32_t b = 0; b < 4; b++)
            assert_int_equal(mf_dock_fits(&docks[a], &docks[b]), expected[a][b]);
    mf_Dock even = mf_dock();
    even.name = "even";
    even.type = "even";
    even.fits = "rare odd";
    assert_true(mf_dock_fits(&docks[ODD], &even) && mf_dock_fits(&even, &docks[ODD]));
    even.fits = "oddest";
    assert_false(mf_dock_fits(&docks[ODD], &even));
}

// Three bodies whose backs are near one front: the nearest; equal ones: the lowest.
TEST(the_nearest_wins_and_ties_go_by_number) {
    for (int equal = 0; equal < 2; equal++) {
        AUTO(bodies_close) Bodies bodies = bodies_open(4, 1, MF_ISA_AUTO, "distance=0.02");
        put_body(&bodies, 3, 0, 0, 5, NULL);
        put_body(&bodies, 0, 0.115, 0, 5, NULL);
        put_body(&bodies, 1, 0.1 + (equal ? 0.015 : 0.01), 0, 5, NULL);
        put_body(&bodies, 2, 0.117, 0, 5, NULL);
        step(&bodies, 1);
        assert_int_equal(partner_of(&bodies, 3, FRONT), equal ? 0 : 1);
        assert_int_equal(mf_docks_statistics(bodies.docks).joined, 1);
    }
}

// Two bodies that fly into each other: momentum and angular momentum of docking.
TEST(docking_keeps_momentum) {
    AUTO(bodies_close) Bodies bodies = bodies_open(2, 1, MF_ISA_AUTO, "distance=0.01 angle=0.3");
    MUST(mf_group_set_start(bodies.group, 0, (double[]){0, 0, 5}, NULL, (double[]){0.5, 0, 0.1},
                            &error));
    MUST(mf_group_set_start(bodies.group, 1, (double[]){0.2, 0.002, 5.004}, NULL,
                            (double[]){-0.7, 0.02, 0}, &error));
    set_field(bodies.group, "base.angular_velocity", 1, 2, 0.3);
    const Momentum before = momentum_of(&bodies.group, 1);
    step(&bodies, 400);
    assert_int_equal(dock_state(&bodies, 0, FRONT), MF_DOCK_ENGAGED);
    // As `rigid` keeps it in 400 steps.
    assert_momentum(momentum_of(&bodies.group, 1), before, 1e-12, 1e-6);
}

// A dock that is switched off lets go without a push; switched on, it joins again.
TEST(a_dock_that_is_not_enabled_lets_go) {
    AUTO(bodies_close) Bodies bodies = open_pair("");
    step(&bodies, 10);
    assert_int_equal(dock_state(&bodies, 1, BACK), MF_DOCK_ENGAGED);
    set_field(bodies.group, "dock.enabled", 1, BACK, 0);
    const double speed = get_field(bodies.group, "base.linear_velocity", 1, 0);
    step(&bodies, 1);
    assert_int_equal(dock_state(&bodies, 0, FRONT), MF_DOCK_FREE);
    assert_int_equal(partner_of(&bodies, 0, FRONT), MF_NONE);
    assert_near(get_field(bodies.group, "base.linear_velocity", 1, 0), speed, 1e-9);
    step(&bodies, 5);
    assert_int_equal(mf_docks_statistics(bodies.docks).joined, 1);
    set_field(bodies.group, "dock.enabled", 1, BACK, 1);
    step(&bodies, 1);
    assert_int_equal(dock_state(&bodies, 0, FRONT), MF_DOCK_ENGAGED);
    assert_int_equal(mf_docks_statistics(bodies.docks).released, 1);
}

// ---- kinds --------------------------------------------------------------------------------------

TEST(a_clamp_takes_its_time) {
    AUTO(bodies_close) Bodies bodies = open_pair("closing=0.02");
    step(&bodies, 1);
    assert_int_equal(dock_state(&bodies, 0, FRONT), MF_DOCK_CLOSING);
    assert_int_equal(partner_of(&bodies, 0, FRONT), 1);
    step(&bodies, 9);
    assert_int_equal(dock_state(&bodies, 0, FRONT), MF_DOCK_CLOSING);
    step(&bodies, 1); // after 20 ms
    assert_int_equal(dock_state(&bodies, 0, FRONT), MF_DOCK_ENGAGED);
    set_field(bodies.group, "dock.enabled", 0, FRONT, 0);
    step(&bodies, 1);
    set_field(bodies.group, "dock.enabled", 0, FRONT, 1);
    step(&bodies, 3);
    assert_int_equal(dock_state(&bodies, 0, FRONT), MF_DOCK_CLOSING);
    set_field(bodies.group, "base.position", 1, 0, 0.2); // away before it is closed
    step(&bodies, 1);
    assert_int_equal(dock_state(&bodies, 0, FRONT), MF_DOCK_FREE);
}

// Of 400 pairs whose latches each catch with 0.8, 64 % join: within four standard deviations. Those
// that missed try again after they were apart.
TEST(a_latch_can_miss) {
    enum { PAIRS = 400 };
    AUTO(bodies_close) Bodies bodies = bodies_open(2 * PAIRS, 2, MF_ISA_AUTO, "failure=0.2");
    for (uint32_t i = 0; i < PAIRS; i++) {
        put_body(&bodies, 2 * i, 0, i, 5, NULL);
        put_body(&bodies, 2 * i + 1, 0.1, i, 5, NULL);
    }
    step(&bodies, 20);
    const double joined = (double)mf_docks_statistics(bodies.docks).joined;
    assert_near(joined, 0.64 * PAIRS, 4.0 * sqrt(PAIRS * 0.64 * 0.36));
    uint32_t missed = MF_NONE;
    for (uint32_t i = 0; i < PAIRS && missed == MF_NONE; i++)
        if (dock_state(&bodies, 2 * i, FRONT) == MF_DOCK_MISSED)
            missed = i;
    assert_int_not_equal(missed, MF_NONE);
    for (uint32_t trial = 0; trial < 40; trial++) {
        if (dock_state(&bodies, 2 * missed, FRONT) == MF_DOCK_ENGAGED)
            break;
        set_field(bodies.group, "base.position", 2 * missed + 1, 0, 0.2);
        step(&bodies, 1);
        assert_int_equal(dock_state(&bodies, 2 * missed, FRONT), MF_DOCK_FREE);
        set_field(bodies.group, "base.position", 2 * missed + 1, 0, 0.1);
        step(&bodies, 1);
    }
    assert_int_equal(dock_state(&bodies, 2 * missed, FRONT), MF_DOCK_ENGAGED);
}

// pull (1 - d / range)^2 at d = 0.05 of 0.1 m: 2 N of 8; both accelerate by 1 m/s^2. Then they
// meet.
TEST(magnets_pull) {
    AUTO(bodies_close) Bodies bodies = bodies_open(2, 1, MF_ISA_AUTO, "pull=8 range=0.1");
    put_body(&bodies, 0, 0, 0, 5, NULL);
    put_body(&bodies, 1, 0.15, 0, 5, NULL);
    step(&bodies, 1);
    assert_near(get_field(bodies.group, "base.linear_velocity", 0, 0), 0.002, 1e-12);
    assert_near(get_field(bodies.group, "base.linear_velocity", 1, 0), -0.002, 1e-12);
    assert_near(get_field(bodies.group, "wrench.link", 0, 0), 0.0, 0.0);
    step(&bodies, 400);
    assert_int_equal(dock_state(&bodies, 0, FRONT), MF_DOCK_ENGAGED);
}

// A dock of 1000 N/m gives way by 2 N / 1000 N/m under a weight of 2 N.
TEST(a_compliant_dock_gives_way) {
    AUTO(bodies_close) Bodies bodies = open_pair("stiffness=1000 damping=100");
    mf_WorldJoints *joints = mf_world_joints_of(bodies.pitch.world);
    mf_WorldJointConfig hook = joint_between(MF_WORLD_JOINT_FIXED, NULL, 0, bodies.group, 0);
    join(joints, &hook, 0, 0, 5, NULL);
    set_field(bodies.group, "wrench.count", 1, 0, 1);
    set_field(bodies.group, "wrench.link", 1, 0, 2.0);
    step(&bodies, 2000);
    assert_near(get_field(bodies.group, "base.position", 1, 0) -
                    get_field(bodies.group, "base.position", 0, 0),
                0.102, 1e-5);
    assert_near(get_field(bodies.group, "dock.load", 0, 6 * FRONT), 2.0, 1e-3);
    assert_near(get_field(bodies.group, "dock.load", 1, 6 * BACK), 2.0, 1e-3); // outwards on both
}

// A broken dock is disabled and keeps the load that broke it until it is enabled again.
TEST(a_broken_dock_is_repaired_by_enabling_it) {
    AUTO(bodies_close) Bodies bodies = open_pair("tension=5");
    step(&bodies, 5);
    set_field(bodies.group, "wrench.count", 1, 0, 1);
    set_field(bodies.group, "wrench.link", 1, 0, 20.0);
    step(&bodies, 3);
    assert_int_equal(dock_state(&bodies, 0, FRONT), MF_DOCK_BROKEN);
    assert_int_equal(dock_state(&bodies, 1, BACK), MF_DOCK_BROKEN);
    assert_true(get_field(bodies.group, "dock.load", 0, 6 * FRONT) > 5.0);
    assert_near(get_field(bodies.group, "dock.enabled", 0, FRONT), 0.0, 0.0);
    set_field(bodies.group, "dock.enabled", 0, FRONT, 1);
    step(&bodies, 1);
    assert_int_equal(dock_state(&bodies, 0, FRONT), MF_DOCK_FREE);
    assert_near(get_field(bodies.group, "dock.load", 0, 6 * FRONT), 0.0, 0.0);
}

// ---- state --------------------------------------------------------------------------------------

TEST(a_reset_lets_go) {
    for (uint32_t both = 0; both < 2; both++) {
        AUTO(bodies_close) Bodies bodies = open_pair("");
        step(&bodies, 10);
        mf_group_reset(bodies.group, 0);
        if (both)
            mf_group_reset(bodies.group, 1);
        set_field(bodies.group, "base.position", 0, 0, -1.0);
        step(&bodies, 1);
        assert_int_equal(mf_world_joints_count(mf_world_joints_of(bodies.pitch.world)), 0);
        assert_int_equal(dock_state(&bodies, 1, BACK), MF_DOCK_FREE);
    }
}

// Thirty-two bodies that fly together, dock, and are torn apart.
static Bodies open_batch(uint32_t threads, mf_Isa isa) {
    Bodies bodies =
        bodies_open(32, threads, isa, "closing=0.004 failure=0.3 tension=40 pull=2 range=0.05");
    for (uint32_t i = 0; i < 32; i++)
        MUST(mf_group_set_start(bodies.group, i, (double[]){0.12 * i, 0.004 * unit(1, i), 5}, NULL,
                                (double[]){-0.3 * i + 4.5 * unit(2, i), 0, 0}, &error));
    return bodies;
}

static uint64_t hash_of(const void *user, uint32_t threads, mf_Isa isa) {
    AUTO(bodies_close) Bodies bodies = open_batch(threads, isa);
    step(&bodies, 300);
    const mf_DocksStatistics seen = mf_docks_statistics(bodies.docks);
    assert_true(seen.joined > 5 && seen.missed > 0);
    return mf_world_hash(bodies.pitch.world);
}

TEST(the_same_bits_on_any_threads_and_instruction_sets) {
    assert_same_bits(hash_of, NULL);
}

TEST(a_snapshot_in_the_middle_of_docking_continues) {
    AUTO(bodies_close) Bodies bodies = open_batch(1, MF_ISA_AUTO);
    step(&bodies, 40);
    uint32_t closing = 0;
    for (uint32_t extra = 0; extra < 200 && closing == 0; extra++) {
        step(&bodies, extra > 0);
        for (uint32_t i = 0; i < 32; i++)
            closing += dock_state(&bodies, i, FRONT) == MF_DOCK_CLOSING;
    }
    assert_true(closing > 0);
    size_t size;
    AUTO(end_memory) void *image = take_snapshot(bodies.pitch.world, &size);
    AUTO(bodies_close) Bodies other = open_batch(2, MF_ISA_AUTO);
    assert_continues_in(other.pitch.world, bodies.pitch.world, 200);
    MUST(mf_world_restore(bodies.pitch.world, image, size, &error));
    step(&bodies, 200);
    assert_int_equal(mf_world_hash(bodies.pitch.world), mf_world_hash(other.pitch.world));
}

// ---- contacts -----------------------------------------------------------------------------------

// Bodies that overlap by 1 mm where they are docked do not press each other; parted, they do.
TEST(docked_links_do_not_touch) {
    for (uint32_t docked = 0; docked < 2; docked++) {
        AUTO(bodies_close) Bodies bodies;
        bodies.pitch = pitch_open(1, MF_ISA_AUTO, 2 * MF_MILLISECOND, 0.0);
        bodies.group =
            add_bodies(&bodies.pitch, body_of(bodies.pitch.context, docked ? "" : "enabled=false"),
                       "bodies", 2, MF_MOTION_RIGID, true, false);
        mf_CollisionsMember member = mf_collisions_member(bodies.group);
        pitch_collide(&bodies.pitch,
                      &WITH(mf_collisions_config(), .members = &member, .member_count = 1));
        MUST(mf_world_docks_add(bodies.pitch.world, NULL, &bodies.docks, &error));
        put_body(&bodies, 0, 0, 0, 5, NULL);
        put_body(&bodies, 1, 0.099, 0, 5, NULL);
        step(&bodies, 1);
        step(&bodies, 1);
        mf_CollisionsStatistics seen = mf_collisions_statistics(bodies.pitch.collisions);
        const uint64_t before = seen.contacts;
        step(&bodies, 1);
        seen = mf_collisions_statistics(bodies.pitch.collisions);
        assert_int_equal(seen.contacts > before, !docked);
    }
}

// ---- mistakes -----------------------------------------------------------------------------------

TEST(mistakes_are_explained) {
    mf_WorldDocks *docks;
    AUTO(bodies_close) Bodies bodies = bodies_open(3, 1, MF_ISA_AUTO, "");
    mf_Group *group = bodies.group;
    for (uint32_t i = 0; i < 3; i++)
        put_body(&bodies, i, i, 0, 5, NULL);
    const mf_DockPort front = {group, 0, FRONT}, back = {group, 1, BACK}, top = {group, 2, TOP};
    MUST_FAIL_AS(mf_world_docks_add(bodies.pitch.world, NULL, &docks, &error), MF_BAD_ARGUMENT,
                 "docks: the world has them already");
    MUST_FAIL_AS(mf_docks_connect(bodies.docks, &front, &front, 0, &error), MF_BAD_ARGUMENT,
                 "docks front and front are on the same link");
    MUST_FAIL_AS(mf_docks_connect(bodies.docks, &front, &(mf_DockPort){group, 1, FRONT}, 0, &error),
                 MF_BAD_ARGUMENT, "docks front and front do not fit: genders or types");
    MUST_FAIL_AS(mf_docks_connect(bodies.docks, &front, &back, 4, &error), MF_BAD_ARGUMENT,
                 "docks front and back: orientation 4, need less than 4");
    MUST_FAIL(mf_docks_connect(bodies.docks, &front, &(mf_DockPort){group, 9, BACK}, 0, &error),
              MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_docks_disconnect(bodies.docks, &front, &error), MF_NOT_FOUND, "");
    MUST(mf_docks_connect(bodies.docks, &front, &back, 0, &error));
    MUST_FAIL_AS(mf_docks_connect(bodies.docks, &front, &top, 0, &error), MF_BAD_ARGUMENT,
                 "dock front of robot 0 of group bodies is docked already");
    set_field(group, "dock.enabled", 2, TOP, 0);
    MUST_FAIL_AS(mf_docks_connect(bodies.docks, &top, &(mf_DockPort){group, 0, BACK}, 0, &error),
                 MF_BAD_ARGUMENT, "dock top of robot 2 of group bodies is not enabled");
}

TEST(a_world_without_docks_says_so) {
    mf_WorldDocks *docks;
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, 2 * MF_MILLISECOND, 0.0);
    add_bodies(&pitch, box_of(pitch.context, 1.0), "boxes", 1, MF_MOTION_RIGID, true, false);
    MUST_FAIL_AS(mf_world_docks_add(pitch.world, NULL, &docks, &error), MF_BAD_ARGUMENT,
                 "docks: no shared group has a model with docks");
    assert_null(mf_world_docks_of(pitch.world));
}
