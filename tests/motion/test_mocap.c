// Mocap bodies: inputs that welds, connects and contacts follow.
#include "motion/articulated_rig.h"

// A hand of 1 kg that is welded to a guide, a ball before a pusher, a pendulum's pivot that is
// connected to a point.
static const char text_of_file[] =
    "<mujoco><worldbody>"
    "<body name='hand' pos='0 0 5'><freejoint/><geom type='box' size='.05 .04 .03' "
    "mass='1'/></body>"
    "<body name='guide' mocap='true' pos='0 0 5'/>"
    "<body name='pusher' mocap='true' pos='-1 0 5'><body pos='0 0 0'>"
    "<geom type='box' size='.1 .1 .1'/></body></body>"
    "<body name='ball' pos='-.7 0 5'><freejoint/><geom type='sphere' size='.1' mass='1'/></body>"
    "<body name='end' pos='2 0 5'><freejoint/><geom type='sphere' size='.1' mass='1'/></body>"
    "<body name='point' mocap='true' pos='2 0 5'/>"
    "</worldbody><equality><weld body1='guide' body2='hand'/>"
    "<connect body1='point' body2='end' anchor='0 0 0'/></equality></mujoco>";

static void move(Rig *t, uint32_t mocap, double x, double y, double z, double angle) {
    rig_set(t, "mocap.position", 3 * mocap, x);
    rig_set(t, "mocap.position", 3 * mocap + 1, y);
    rig_set(t, "mocap.position", 3 * mocap + 2, z);
    rig_set(t, "mocap.rotation", 4 * mocap, 2.0 * cos(0.5 * angle)); // of any length
    rig_set(t, "mocap.rotation", 4 * mocap + 3, 2.0 * sin(0.5 * angle));
}

// Moved at 0.3 m/s for a second and held for another: what is welded or connected is there, what is
// pushed is a radius and half an edge ahead.
TEST(what_is_held_and_pushed_follows) {
    static const mf_ContactLaw laws[] = {MF_CONTACT_LAW_MUJOCO, MF_CONTACT_LAW_COMPLIANT,
                                         MF_CONTACT_LAW_HARD};
    for (int i = 0; i < 3; i++) {
        AUTO_RIG t =
            text_open(text_of_file, WITH(art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND),
                                         .motion.contact_law = laws[i], .motion.contacts = false,
                                         .world.gravity = 0.0));
        assert_near(rig_get(&t, "mocap.position", 3), -1.0, 1e-12);
        assert_near(rig_get(&t, "mocap.rotation", 4), 1.0, 1e-12);
        for (int k = 0; k < 2000; k++) {
            const double distance = 0.3 * fmin(1e-3 * k, 1.0);
            move(&t, 0, distance, -distance, 5.0 + distance, distance);
            move(&t, 1, -1.0 + distance, 0.0, 5.0, 0.0);
            move(&t, 2, 2.0, distance, 5.0, 0.0);
            mf_world_step(t.world, 1);
        }
        const double hand[] = {0.3, -0.3, 5.3};
        assert_field3(t.group, "free.position", 0, hand[0], hand[1], hand[2], 2e-3);
        assert_near(rig_get(&t, "ball.orientation", 3), sin(0.15), 2e-3);
        assert_true(rig_get(&t, "free.position", 3) > -1.0 + 0.3 + 0.2 - 2e-3);
        const double end[] = {2.0, 0.3, 5.0};
        for (uint32_t c = 0; c < 3; c++)
            assert_near(rig_get(&t, "free.position", 6 + c), end[c], 2e-3);
        mf_group_reset(t.group, 0);
        assert_near(rig_get(&t, "mocap.position", 3), -1.0, 1e-12);
    }
}

// What a mocap body carries by a joint does not touch it (MuJoCo: 1/2 g t^2 down).
TEST(it_does_not_touch_its_children) {
    static const char text[] = "<mujoco><worldbody><body pos='0 0 1' mocap='true'><geom size='.1'/>"
                               "<body pos='0 0 .15'><joint type='slide' axis='0 0 1'/>"
                               "<geom size='.1'/></body></body></worldbody></mujoco>";
    AUTO_RIG t = text_open(text, art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND));
    mf_world_step(t.world, 100);
    assert_near(rig_get(&t, "joint.angle", 0), -0.5 * 9.81 * 0.01, 1e-3);
}
