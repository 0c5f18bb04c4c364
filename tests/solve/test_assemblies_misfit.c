// A ring of docked modules whose last dock does not fit: it stays as it is,
// without faults, and neither gains energy nor changes its momentum.
#include "solve/joints_rig.h"

enum { BACK, FRONT };

// Two boxes of 0.1 m on a passive hinge about y in the middle, with a dock at
// each end, x to x. Nothing touches.
static mf_Model *module_of(mf_Context *context, const char *extra, double aside) {
    return load_text(
        context, formatted("<mujoco model='module'><worldbody><body name='left'><freejoint/>"
                           "<geom type='box' size='0.05 0.04 0.03' pos='-0.05 0 0' mass='0.5' "
                           "contype='0' "
                           "conaffinity='0'/>"
                           "<body name='right'><joint name='hinge' axis='0 1 0'/>"
                           "<geom type='box' size='0.05 0.04 0.03' pos='0.05 0 0' mass='0.3' "
                           "contype='0' "
                           "conaffinity='0'/></body></body></worldbody><custom>"
                           "<text name='dock:back' data='body=left xyz=-0.1,0,0 quat=0,0,0,1 %s'/>"
                           "<text name='dock:front' data='body=right xyz=0.1,%g,0 "
                           "%s'/></custom></mujoco>",
                           extra, aside, extra));
}

static void add_motion(Pitch *pitch, mf_Group *group) {
    mf_ArticulatedConfig motion =
        WITH(mf_motions_config().articulated, .contacts = false, .self_contacts = false,
             .contact_law = MF_CONTACT_LAW_COMPLIANT);
    prepare(pitch, group);
    MUST(rig_add_articulated(group, &motion, &error));
}

// ---- a loop that does not fit ------------------------------------------------------------------

// Bent by a quarter each, four modules are a square; the front dock of the last
// is `aside` out of its plane, which no hinge can make good. It is closed
// nevertheless.
typedef struct Ring {
    Pitch pitch;
    mf_Group *groups[2]; // three modules, and the one that is different
    mf_WorldDocks *docks;
} Ring;

static void open_ring(Ring *ring, double aside, mf_Time step) {
    const double quarter = 1.5707963267948966;
    *ring = (Ring){.docks = NULL};
    Pitch *pitch = &ring->pitch;
    *pitch = pitch_open(2, MF_ISA_AUTO, step, 0.0);
    for (uint32_t g = 0; g < 2; g++) {
        ring->groups[g] = pitch_group(pitch, module_of(pitch->context, "", g == 0 ? 0.0 : aside),
                                      g == 0 ? "modules" : "odd", g == 0 ? 3 : 1, true);
        add_motion(pitch, ring->groups[g]);
    }
    MUST(mf_world_docks_add(pitch->world, NULL, &ring->docks, &error));
    put_at(pitch, ring->groups[0], 0, 0, 0, 5);
    for (uint32_t i = 0; i < 4; i++)
        set_field(ring->groups[i / 3], "joint.angle", i % 3, 0, quarter);
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t next = (i + 1) % 4;
        const mf_DockPort front = {ring->groups[i / 3], i % 3, FRONT},
                          back = {ring->groups[next / 3], next % 3, BACK};
        double position[3], orientation[4];
        if (next != 0) {
            MUST(
                mf_docks_mating_pose(ring->docks, &front, &back, 0, position, orientation, &error));
            for (uint32_t c = 0; c < 4; c++) {
                set_field(back.group, "base.orientation", back.instance, c, orientation[c]);
                if (c < 3)
                    set_field(back.group, "base.position", back.instance, c, position[c]);
            }
        }
        MUST(mf_docks_connect(ring->docks, &front, &back, 0, &error));
    }
}

static double energy_of_ring(const Ring *ring) {
    return kinetic_energy_of(ring->groups[0]) + kinetic_energy_of(ring->groups[1]);
}

static void add_ring(const Ring *ring, Momentum *sum) {
    *sum = (Momentum){{0}, {0}};
    for (uint32_t i = 0; i < 4; i++)
        add_momentum(ring->groups[i / 3], i % 3, sum);
}

static double opening_of(const Ring *ring) {
    const mf_WorldJoints *joints = mf_world_joints_of(ring->pitch.world);
    double most = 0.0;
    for (mf_WorldJointId id = mf_world_joint_next(joints, MF_WORLD_JOINT_NONE);
         id != MF_WORLD_JOINT_NONE; id = mf_world_joint_next(joints, id))
        most = fmax(most, state_of(joints, id).opening);
    return most;
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
    Momentum before, now;
    double early = 0.0;
    open_ring(&ring, aside, 2 * MF_MILLISECOND);
    spin(&ring, rate);
    add_ring(&ring, &before);
    const double began = energy_of_ring(&ring);
    for (uint32_t n = 0; n < (SANITIZED ? 5 : 25); n++) {
        mf_world_step(ring.pitch.world, 100);
        const double energy = energy_of_ring(&ring);
        early = n == 1 ? energy : early;
        assert_near(energy, began, 5e-4);
        if (n > 1)
            assert_near(energy, early, 5e-4 * began + 1e-6);
        add_ring(&ring, &now);
        for (uint32_t c = 0; c < 3; c++) {
            assert_near(now.linear[c], before.linear[c], 1e-9);
            assert_near(now.angular[c], before.angular[c], 1e-9);
        }
        assert_near(opening_of(&ring), aside, 0.1 * aside + 1e-9);
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
