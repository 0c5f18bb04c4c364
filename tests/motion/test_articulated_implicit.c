// MuJoCo's integrator `implicit`: fast chains and a spinning body against MuJoCo 4.0's velocities
// after 0.4 s. With implicitfast, which leaves Coriolis forces explicit, both diverge at 10 ms.
#include "motion/articulated_rig.h"

typedef struct Case {
    const char *step;
    mf_Time time; // [ns]
    const char *damping;
    double arm[6], body[7];
} Case;

static const Case cases[] = {
    {".002",
     2 * MF_MILLISECOND,
     "0",
     {11.169634411, 5.590336258, 13.177325728, -0.704547647, 4.415468175, -8.398951657},
     {-0.711911241, -0.973092486, -2.859521475, 4.055629555, -7.725307523, 0.174333032,
      -18.186386276}},
    {".01",
     10 * MF_MILLISECOND,
     "0",
     {10.411982544, 4.551093143, 18.608167969, -0.354310703, 1.457853882, -5.977553161},
     {-0.769305681, -0.676910432, -2.318454666, 3.300642196, -6.147401083, 2.681444791,
      -17.625003141}},
    {".01",
     10 * MF_MILLISECOND,
     ".2",
     {10.292393235, 5.124179591, -0.56837677, 0.197412172, 1.500918846, -5.938859689},
     {-0.769305681, -0.676910432, -2.318454666, 3.300642196, -6.147401083, 2.681444791,
      -17.625003141}}};

static Rig open_case(const Case *c, const char *body, bool floats) {
    const char *text =
        formatted("<mujoco><compiler angle='radian'/><option timestep='%s' integrator='implicit'/>"
                  "<default><geom contype='0' conaffinity='0'/></default><worldbody>%s</worldbody>"
                  "</mujoco>",
                  c->step, body);
    return text_open(text, WITH(art_config(MF_ARTICULATED_IMPLICIT, c->time),
                                .motion.contact_law = MF_CONTACT_LAW_MUJOCO,
                                .group.double_precision = !floats));
}

TEST(chains_move_as_in_mujoco) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int floats = 0; floats < 2; floats++) {
            const Case *c = &cases[i];
            const char *body = formatted(
                "<body pos='0 0 2'><joint name='a' axis='0 1 0'/><geom type='capsule' "
                "fromto='0 0 0 .3 0 0' size='.02' mass='1'/><body pos='.3 0 0'><joint "
                "name='b' axis='0 0 1' damping='%s'/><geom type='capsule' "
                "fromto='0 0 0 .3 .1 0' size='.02' mass='.5'/><body pos='.3 .1 0'>"
                "<joint type='ball'/><geom type='capsule' fromto='0 0 0 .2 0 .1' size='.02' "
                "mass='.3'/><body pos='.2 0 .1'><joint name='c' type='slide' axis='1 0 0' "
                "stiffness='50'/><geom size='.03' mass='.2'/></body></body></body></body>",
                c->damping);
            AUTO_RIG t = open_case(c, body, floats);
            const uint32_t joints[] = {rig_joint(&t, "a"), rig_joint(&t, "b"), rig_joint(&t, "c")};
            static const double rates[] = {12, -7, 1};
            static const uint32_t order[] = {0, 1, 5};
            for (int k = 0; k < 3; k++)
                rig_set(&t, "joint.rate", joints[k], rates[k]);
            rig_set3(&t, "ball.rate", 3, 5, -4);
            mf_world_step(t.world, (uint32_t)(400 * MF_MILLISECOND / c->time));
            const double near = floats ? .05 : 1e-8;
            for (int k = 0; k < 3; k++)
                assert_near(rig_get(&t, "joint.rate", joints[k]), c->arm[order[k]], near);
            for (uint32_t k = 0; k < 3; k++)
                assert_near(rig_get(&t, "ball.rate", k), c->arm[2 + k], near);
        }
}

TEST(a_free_body_spins_as_in_mujoco) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int floats = 0; floats < 2; floats++) {
            const Case *c = &cases[i];
            AUTO_RIG t = open_case(
                c,
                "<body pos='3 0 2'><freejoint/><geom type='box' size='.1 .2 .3' mass='1'/>"
                "<body pos='.1 0 .3'><joint axis='1 0 0'/><geom type='capsule' "
                "fromto='0 0 0 0 .4 0' size='.02' mass='.3'/></body></body>",
                floats);
            rig_set3(&t, "base.linear_velocity", .1, .2, .3);
            rig_set3(&t, "base.angular_velocity", 6, -5, 4);
            rig_set(&t, "joint.rate", 0, 8);
            mf_world_step(t.world, (uint32_t)(400 * MF_MILLISECOND / c->time));
            const double near = floats ? 1e-3 : 1e-8;
            for (uint32_t k = 0; k < 3; k++) {
                assert_near(rig_get(&t, "base.linear_velocity", k), c->body[k], near);
                assert_near(rig_get(&t, "base.angular_velocity", k), c->body[3 + k], near);
            }
            assert_near(rig_get(&t, "joint.rate", 0), c->body[6], near);
        }
}
