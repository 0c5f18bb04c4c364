// Explicit pairs of the file (<contact><pair>) between geoms without contact bits: with the ground,
// with static geoms, with other links; and exclusions. The parameters are those of the pair.
// Numbers of MuJoCo 4.0 and closed forms.
#include "motion/articulated_rig.h"

static const double gravity = 9.81;

// A ball of 0.1 m at a height of 0.2 m, nobody with bits.
static Rig open_ball(const char *pair, bool like, const char *more) {
    Rig t = text_open(
        formatted("<mujoco><option timestep='.001'/><default><geom contype='0' conaffinity='0'/>"
                  "</default><worldbody><geom name='floor' type='plane' size='5 5 1'/>%s"
                  "<body name='body' pos='0 0 .2'><freejoint/><geom name='ball' size='.1'/></body>"
                  "</worldbody><contact>%s</contact></mujoco>",
                  more, pair),
        WITH(art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND), .motion.shapes = true,
             .motion.contact_law = like ? MF_CONTACT_LAW_MUJOCO : MF_CONTACT_LAW_COMPLIANT));
    rig_set3(&t, "base.position", 0, 0, 0.2);
    return t;
}

static double height(const Rig *t) {
    return rig_get(t, "base.position", 2);
}

// MuJoCo: 0.0996328, and 0.1196328 with a margin of 0.02; a gap changes nothing.
TEST(a_pair_with_the_floor_holds) {
    static const struct {
        const char *pair;
        double rest; // [m]
    } cases[] = {{"<pair geom1='floor' geom2='ball'/>", 0.0996328},
                 {"<pair geom1='ball' geom2='floor'/>", 0.0996328},
                 {"<pair geom1='floor' geom2='ball' margin='.02'/>", 0.1196328},
                 {"<pair geom1='floor' geom2='ball' margin='.02' gap='.01'/>", 0.1196328}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int like = 0; like < 2; like++) {
            AUTO_RIG t = open_ball(cases[i].pair, like, "");
            mf_world_step(t.world, 2000);
            assert_near(height(&t), cases[i].rest, like ? 2e-6 : 4e-4);
        }
}

TEST(without_a_pair_it_falls) {
    AUTO_RIG t = open_ball("", false, "");
    mf_world_step(t.world, 1000);
    assert_near(height(&t), 0.2 - 0.5 * gravity, 0.01);
}

// As deep as solref has it: with z = w = .5, G = m and K = z / (w T r)^2 = 2e4 (docs), K d = g.
// MuJoCo: 0.0995095.
TEST(softness_is_the_pairs) {
    AUTO_RIG t = open_ball(
        "<pair geom1='floor' geom2='ball' solref='.01 1' solimp='.5 .5 .001 .5 2'/>", true, "");
    mf_world_step(t.world, 2000);
    assert_near(height(&t), 0.1 - gravity / 2e4, 2e-6);
}

// A sphere does not turn before it is dragged; without friction (condim 1) it keeps its speed, and
// with friction mu it loses mu g a second until it rolls at 5/7 of it.
TEST(friction_is_the_pairs) {
    static const struct {
        const char *pair;
        double speed; // [m/s] after 0.2 s
    } cases[] = {{"<pair geom1='floor' geom2='ball' condim='1'/>", 2.0},
                 {"<pair geom1='floor' geom2='ball' friction='.1 .1 0 0 0'/>", 2.0 - 0.2 * 0.981},
                 {"<pair geom1='floor' geom2='ball' friction='1 1 0 0 0'/>", 2.0 * 5.0 / 7.0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_RIG t = open_ball(cases[i].pair, false, "");
        rig_set3(&t, "base.position", 0, 0, 0.0999);
        mf_world_step(t.world, 100);
        rig_set3(&t, "base.linear_velocity", 2, 0, 0);
        rig_set3(&t, "base.angular_velocity", 0, 0, 0);
        mf_world_step(t.world, 200);
        assert_near(rig_get(&t, "base.linear_velocity", 0), cases[i].speed, 0.02);
    }
}

TEST(a_pair_with_a_box_of_the_world_holds) {
    AUTO_RIG t = open_ball("<pair geom1='table' geom2='ball'/>", false,
                           "<geom name='table' type='box' size='.5 .5 .05' pos='0 0 .05'/>");
    mf_world_step(t.world, 2000);
    assert_near(height(&t), 0.2, 2e-3);
}

// Two balls on slides, one above the other, whose geoms only a pair lets touch: without the floor
// in any pair the lower one is held by its joint.
TEST(a_pair_of_links_is_no_pair_with_the_ground) {
    for (int listed = 0; listed < 2; listed++) {
        const char *text = formatted(
            "<mujoco><option timestep='.001'/><default><geom contype='0' conaffinity='0'/>"
            "</default><worldbody><geom type='plane' size='5 5 1' contype='1'/>"
            "<body pos='0 0 .05'><joint type='hinge' axis='0 0 1'/><geom name='low' "
            "size='.1'/></body><body pos='0 0 .4'><joint name='up' type='slide' axis='0 0 1'/>"
            "<geom name='high' size='.1'/></body></worldbody><contact>%s</contact></mujoco>",
            listed ? "<pair geom1='low' geom2='high'/>" : "");
        AUTO_RIG t = text_open(
            text, WITH(art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND), .motion.shapes = true));
        mf_world_step(t.world, 1000);
        double position = rig_get(&t, "joint.angle", rig_joint(&t, "up"));
        assert_near(position, listed ? -0.15 : -0.5 * gravity, 0.01);
    }
}

// An exclusion of the world's body takes the ground from a body with bits; a pair beats it.
TEST(exclusions_hold_for_the_ground) {
    for (int listed = 0; listed < 2; listed++) {
        const char *text = formatted(
            "<mujoco><option timestep='.001'/><worldbody><geom name='floor' type='plane' "
            "size='5 5 1'/><body name='body' pos='0 0 .2'><freejoint/><geom name='ball' "
            "size='.1'/></body></worldbody><contact><exclude body1='world' body2='body'/>%s"
            "</contact></mujoco>",
            listed ? "<pair geom1='floor' geom2='ball'/>" : "");
        AUTO_RIG t = text_open(
            text, WITH(art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND), .motion.shapes = true));
        rig_set3(&t, "base.position", 0, 0, 0.2);
        mf_world_step(t.world, 1000);
        assert_near(height(&t), listed ? 0.1 : 0.2 - 0.5 * gravity, 0.01);
    }
}
