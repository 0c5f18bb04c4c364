// Solids of all kinds tumble onto a plane as in MuJoCo (contact law `mujoco`): a mesh, a cylinder,
// a box, an ellipsoid. Their moments of inertia are equal: others turn otherwise in flight, where
// Mayfly keeps the momentum. Numbers are from MuJoCo 4.0 with a fully converged solver.
#include "motion/articulated_rig.h"

typedef struct Fall {
    const char *asset, *geom;
    double at[2][7]; // [m], [1] place and attitude after 0.2 and 0.4 s
} Fall;

static const Fall falls[] = {
    {"<asset><mesh name='m' vertex='-.1 -.08 -.05 .1 -.07 -.05 .12 .06 -.05 0 .11 -.05 -.11 .05 "
     "-.05 -.1 -.08 .05 .1 -.07 .05 .12 .06 .05 0 .11 .05 -.11 .05 .05'/></asset>",
     "type='mesh' mesh='m'",
     {{0.0554011147, 0.0238877139, 0.0458783424, 0.996766084, -0.0197628823, -0.0393642105,
       -0.0672105667},
      {0.0590966179, 0.023757108, 0.0499712138, 0.998189508, -1.45302729e-05, -1.22221534e-05,
       -0.060147369}}},
    {"",
     "type='cylinder' size='.08 .05'",
     {{0.0484656531, 0.0306014956, 0.0671776061, 0.992285249, 0.0201126274, 0.110575233,
       -0.0523314841},
      {0.0271622648, 0.0520788118, 0.0535093248, 0.998081878, -0.020825276, 0.0380246342,
       0.0441927598}}},
    {"",
     "type='box' size='.1 .08 .05'",
     {{0.0581520771, 0.0240879218, 0.0463302545, 0.998507604, -0.019345909, -0.0259672932,
       -0.0439772715},
      {0.0613242213, 0.0225156134, 0.0499811139, 0.999199569, 1.19936044e-05, -7.92063618e-06,
       -0.0400027722}}},
    {"",
     "type='ellipsoid' size='.1 .08 .05'",
     {{0.0469222642, 0.0219159145, 0.0493221258, 0.995767819, 0.0743198051, 0.0452920731,
       -0.0295236396},
      {0.013043902, 0.0483182605, 0.0706922445, 0.921595515, -0.265185901, -0.216535653,
       -0.182894656}}},
};

TEST(solids_tumble_as_in_mujoco) {
    for (size_t f = 0; f < sizeof falls / sizeof *falls; f++) {
        char text[2048];
        snprintf(
            text, sizeof text,
            "<mujoco><option timestep='.002'/>%s<worldbody><geom type='plane' size='5 5 1' "
            "friction='.4 .01 .001'/><body pos='0 0 .16'><freejoint/>"
            "<inertial pos='0 0 0' mass='1' diaginertia='.004 .004 .004'/><geom %s friction='.4 "
            ".01 .001'/></body></worldbody></mujoco>",
            falls[f].asset, falls[f].geom);
        AUTO_RIG t = text_open(text, WITH(art_config(MF_ARTICULATED_IMPLICIT, 2 * MF_MILLISECOND),
                                          .group.double_precision = true, .motion.shapes = true,
                                          .motion.contact_law = MF_CONTACT_LAW_MUJOCO));
        const double rotation[4] = {.97, .1, .2, .05};
        double length = 0.0;
        for (int i = 0; i < 4; i++)
            length += rotation[i] * rotation[i];
        for (uint32_t i = 0; i < 4; i++)
            rig_set(&t, "base.orientation", i, rotation[i] / sqrt(length));
        rig_set3(&t, "base.position", 0, 0, 0.16);
        rig_set3(&t, "base.linear_velocity", .4, .1, 0);
        rig_set3(&t, "base.angular_velocity", 1, .5, -.3);
        for (int k = 0; k < 2; k++) {
            mf_world_step(t.world, 100);
            for (uint32_t i = 0; i < 7; i++)
                assert_near(i < 3 ? rig_get(&t, "base.position", i)
                                  : rig_get(&t, "base.orientation", i - 3),
                            falls[f].at[k][i], k == 0 ? 1e-6 : 1e-4);
        }
    }
}
