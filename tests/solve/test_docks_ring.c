// A ring of four docked modules, a four-bar linkage, against the same linkage as one model whose
// loop is closed by the equality `connect`; and docked modules of other motions, and of motions
// that change while they are docked.
#include "motion/table.h"
#include "solve/modules.h"

enum { MODULES = 4 };

// Bent by a quarter each, the hinges are the corners of a square: 0, -0.2 z, -0.2 x - 0.2 z, -0.2
// x. What is docked is one body here, of two boxes; angles count from the square.
#define BOX(at, size, mass)                                                                        \
    "<geom type='box' pos='" at "' size='" size "' mass='" mass "' contype='0' conaffinity='0'/>"
#define FLAT "0.05 0.04 0.03"
#define TALL "0.03 0.04 0.05"
#define HINGE(name) "<joint name='" name "' axis='0 1 0'/>"
// clang-format off
static const char *const linkage_text =
    "<mujoco model='linkage'><worldbody><body name='a'><freejoint/>"
    BOX("-0.05 0 0", FLAT, "0.5") BOX("-0.15 0 0", FLAT, "0.3")
    "<body name='b'>" HINGE("h0") BOX("0 0 -0.05", TALL, "0.3") BOX("0 0 -0.15", TALL, "0.5")
    "<body name='c' pos='0 0 -0.2'>" HINGE("h1")
    BOX("-0.05 0 0", FLAT, "0.3") BOX("-0.15 0 0", FLAT, "0.5")
    "<body name='d' pos='-0.2 0 0'>" HINGE("h2") BOX("0 0 0.05", TALL, "0.3")
    BOX("0 0 0.15", TALL, "0.5") "</body></body></body></body></worldbody><equality>"
    "<connect body1='d' body2='a' anchor='0 0 0.2' solref='%g 1' solimp='0.9999 0.9999 0.001'/>"
    "</equality></mujoco>";
// clang-format on

// ---- a linkage ----------------------------------------------------------------------------------

static const double rate = 4.0; // [rad/s] at which the square becomes a rhombus

// [rad], [m] The first three angles and the place of the first body after 0.2 s.
static void run_linkage(mf_Time step, double out[6]) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, step, 0.0);
    mf_Group *linkage =
        pitch_bodies(&pitch, load_text(pitch.context, formatted(linkage_text, 2e-9 * (double)step)),
                     "linkage", 1, true);
    put_at(&pitch, linkage, 0, 0, 0, 5);
    for (uint32_t i = 0; i < 3; i++)
        set_field(linkage, "joint.rate", 0, i, i % 2 == 0 ? rate : -rate);
    mf_world_step(pitch.world, (uint64_t)(MF_SECOND / 5 / step));
    for (uint32_t c = 0; c < 3; c++) {
        out[c] = get_field(linkage, "joint.angle", 0, c);
        out[3 + c] = get_field(linkage, "base.position", 0, c) - (c == 2 ? 5 : 0);
    }
}

static void run_ring(mf_Time step, double out[6]) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, step, 0.0);
    mf_Group *modules =
        pitch_bodies(&pitch, module_of(pitch.context, ghosts, "", 0.0), "modules", MODULES, true);
    add_exact_joints(&pitch);
    mf_WorldDocks *docks = add_docks(&pitch);
    put_at(&pitch, modules, 0, 0, 0, 5);
    for (uint32_t i = 0; i < MODULES; i++)
        set_field(modules, "joint.angle", i, 0, quarter);
    for (uint32_t i = 1; i < MODULES; i++)
        mate(docks, modules, i - 1, modules, i);
    // The sides b and d turn, a and c do not; c moves by what b's end does.
    for (uint32_t i = 0; i < MODULES; i++) {
        set_field(modules, "joint.rate", i, 0, i % 2 == 0 ? rate : -rate);
        set_field(modules, "base.angular_velocity", i, 1, i % 2 == 0 ? 0.0 : rate);
        set_field(modules, "base.linear_velocity", i, 0, i == 1 || i == 2 ? -0.2 * rate : 0.0);
    }
    for (uint32_t i = 0; i < MODULES; i++)
        dock_to(docks, modules, i, modules, (i + 1) % MODULES);
    mf_world_step(pitch.world, (uint64_t)(MF_SECOND / 5 / step));
    for (uint32_t c = 0; c < 3; c++) {
        out[c] = get_field(modules, "joint.angle", c, 0) - quarter;
        out[3 + c] = get_field(modules, "base.position", 0, c) - (c == 2 ? 5 : 0);
    }
}

// The difference falls at least in the first order of the step, while the angles change by 0.8 rad.
TEST(a_docked_ring_moves_as_a_loop_closed_by_connect) {
    double errors[3], ring[6], linkage[6];
    for (int k = 0; k < 3; k++) {
        const mf_Time step = (4 >> k) * MF_MILLISECOND / 2;
        run_linkage(step, linkage);
        run_ring(step, ring);
        errors[k] = 0.0;
        for (int i = 0; i < 6; i++)
            errors[k] = fmax(errors[k], fabs(linkage[i] - ring[i]));
        print_message("step %.3g ms: angles %.4f %.4f %.4f, differ by %.3g\n", 1e-6 * (double)step,
                      ring[0], ring[1], ring[2], errors[k]);
    }
    assert_true(fabs(ring[0]) > 0.3);
    assert_true(errors[0] / errors[1] > 1.7 && errors[1] / errors[2] > 1.7);
    assert_true(errors[2] < 2e-3);
}

// ---- other motions ------------------------------------------------------------------------------

// A box of 0.1 x 0.2 x 0.4 m with a dock in front and one behind.
static const char *const box_text =
    "<mujoco model='body'><worldbody><body name='b'><freejoint/>"
    "<geom type='box' size='0.05 0.1 0.2' mass='2'/></body></worldbody><custom>"
    "<text name='dock:front' data='body=b xyz=0.05,0,0'/>"
    "<text name='dock:back' data='body=b xyz=-0.05,0,0 quat=0,0,0,1'/></custom></mujoco>";

// The same on three legs of 0.3 m, for motions that walk.
#define LEG(name, at)                                                                              \
    "<body name='" name "' pos='" at "'><joint name='" name "' axis='0 1 0' range='-20 20'/>"      \
    "<geom type='sphere' size='0.01' pos='0 0 -0.3' mass='0.1'/></body>"
static const char *const legged_text =
    "<mujoco model='legged'><worldbody><body name='b' pos='0 0 0.31'><freejoint/>"
    "<geom type='box' size='0.05 0.1 0.2' mass='2'/>" LEG("l0", "0.04 0 0")
        LEG("l1", "-0.04 0.09 0")
            LEG("l2", "-0.04 -0.09 0") "</body></worldbody><custom>"
                                       "<text name='dock:front' data='body=b xyz=0.05,0,0'/>"
                                       "<text name='dock:back' data='body=b xyz=-0.05,0,0 "
                                       "quat=0,0,0,1'/></custom></mujoco>";

typedef struct Pair {
    Pitch pitch;
    mf_Group *own, *other; // a box of the motion, and a rigid one in front of it
    mf_WorldDocks *docks;
} Pair;

// MF_OK, or why boxes of that motion cannot dock.
static mf_Status open_pair(Pair *pair, mf_Motion motion, double gravity) {
    Pitch *pitch = &pair->pitch;
    *pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, gravity);
    const bool walks = motion == MF_MOTION_KINEMATIC || motion == MF_MOTION_POINTS;
    pair->own = add_bodies(pitch, load_text(pitch->context, walks ? legged_text : box_text), "own",
                           1, motion, true, false);
    pair->other = add_bodies(pitch, load_text(pitch->context, box_text), "other", 1,
                             MF_MOTION_RIGID, true, false);
    MF_TRY(mf_world_docks_add(pitch->world, NULL, &pair->docks, &pitch->error));
    const double height = walks ? 0.31 : 5;
    put_at(pitch, pair->own, 0, 0, 0, height);
    put_at(pitch, pair->other, 0, 0.1, 0, height);
    return mf_docks_connect(pair->docks, &(mf_DockPort){pair->own, 0, 0},
                            &(mf_DockPort){pair->other, 0, 1}, 0, &pitch->error);
}

// A rigid box docked to one of each motion, for half a second: with what falls it falls without a
// load; what stands or is held carries its weight; all stay together.
TEST(every_motion_carries_what_is_docked_to_it) {
    static const mf_Motion motions[] = {MF_MOTION_KINEMATIC,   MF_MOTION_POINTS,
                                        MF_MOTION_RIGID,       MF_MOTION_PRESCRIBED,
                                        MF_MOTION_ARTICULATED, MF_MOTION_EXTERNAL};
    for (size_t m = 0; m < sizeof motions / sizeof *motions; m++) {
        Pair pair;
        const bool holds = motions[m] == MF_MOTION_KINEMATIC || motions[m] == MF_MOTION_EXTERNAL;
        must(open_pair(&pair, motions[m], 9.81), &pair.pitch.error);
        const double began = get_field(pair.other, "base.position", 0, 2);
        mf_world_step(pair.pitch.world, 500);
        const double down = began - get_field(pair.other, "base.position", 0, 2);
        print_message("%s: gap %.2g m, down %.4f m\n", mf_motion_name(motions[m]),
                      widest_opening(pair.pitch.world), down);
        assert_near(get_field(pair.own, "dock.state", 0, 0), MF_DOCK_ENGAGED, 0);
        assert_near(get_field(pair.other, "dock.state", 0, 1), MF_DOCK_ENGAGED, 0);
        assert_true(widest_opening(pair.pitch.world) < 1e-4);
        if (holds) {
            assert_near(down, 0.0, 1e-6);
            assert_near(get_field(pair.other, "dock.load", 0, 8), 2 * 9.81, 1e-3);
        } else if (motions[m] != MF_MOTION_POINTS) { // that one stands on its feet, and tips over
            assert_near(down, 0.5 * 9.81 * 0.25, 3e-3);
            assert_near(get_field(pair.other, "dock.load", 0, 8), 0.0, 1e-6);
        }
        assert_int_equal(mf_group_fault_total(pair.own) + mf_group_fault_total(pair.other), 0);
        pitch_close(&pair.pitch);
    }
}

// Three docked robots that drift and turn; the one in the middle changes its motion. Docks stay,
// and so does momentum among dynamic motions; `kinematic` holds all three.
TEST(docked_robots_change_their_motion) {
    static const mf_Motion order[] = {MF_MOTION_RIGID, MF_MOTION_PRESCRIBED, MF_MOTION_ARTICULATED,
                                      MF_MOTION_KINEMATIC, MF_MOTION_ARTICULATED};
    mf_MotionsConfig config = mf_motions_config();
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 0.0);
    mf_Group *group = pitch_group(&pitch, load_text(pitch.context, legged_text), "robots", 3, true);
    config.start = MF_MOTION_ARTICULATED;
    for (size_t k = 0; k < sizeof order / sizeof *order; k++)
        config.has[order[k]] = true;
    mf_motions_set_contacts(&config, false);
    mf_motions_set_control(&config, MF_MILLISECOND);
    config.articulated.self_contacts = false;
    prepare(&pitch, group);
    MUST(mf_motions_add(group, &config, &error));
    add_exact_joints(&pitch);
    mf_WorldDocks *docks = add_docks(&pitch);
    for (uint32_t i = 0; i < 3; i++) {
        put_at(&pitch, group, i, 0.1 * i, 0, 5);
        set_field(group, "base.linear_velocity", i, 1, 0.3 + 0.1 * (0.1 * i - 0.1));
        set_field(group, "base.angular_velocity", i, 2, 0.1);
    }
    for (uint32_t i = 0; i < 2; i++)
        MUST(mf_docks_connect(docks, &(mf_DockPort){group, i, 0}, &(mf_DockPort){group, i + 1, 1},
                              0, &error));
    mf_world_step(pitch.world, 100);
    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        const Momentum before = momentum_of(&group, 1);
        MUST(mf_motion_switch(group, 1, order[k], &error));
        mf_world_step(pitch.world, 100);
        assert_true(widest_opening(pitch.world) < 1e-9);
        if (order[k] != MF_MOTION_KINEMATIC)
            assert_momentum(momentum_of(&group, 1), before, 1e-7, 1e-6);
        for (uint32_t i = 0; i < 3 && order[k] == MF_MOTION_KINEMATIC; i++)
            for (uint32_t c = 0; c < 3; c++) {
                assert_near(get_field(group, "base.linear_velocity", i, c), 0.0, 1e-9);
                assert_near(get_field(group, "base.angular_velocity", i, c), 0.0, 1e-9);
            }
    }
    assert_int_equal(mf_docks_statistics(docks).released, 0);
    assert_int_equal(mf_group_fault_total(group), 0);
}
