// Solids of all kinds tumble onto a plane as in MuJoCo (contact law `mujoco`): a mesh, a cylinder,
// a box, an ellipsoid. Numbers are from MuJoCo 4.0 with a fully converged solver.
#include "motion/articulated_text.h"

#include <math.h>
#include <stdio.h>

typedef struct Fall {
    const char *asset, *geom;
    double at[2][7]; // [m], [1] place and attitude after 0.2 and 0.4 s
} Fall;

static const Fall falls[] = {
    {"<asset><mesh name='m' vertex='-.1 -.08 -.05 .1 -.07 -.05 .12 .06 -.05 0 .11 -.05 -.11 .05 "
     "-.05 -.1 -.08 .05 .1 -.07 .05 .12 .06 .05 0 .11 .05 -.11 .05 .05'/></asset>",
     "type='mesh' mesh='m'",
     {{0.054261268, 0.0230652765, 0.0523016027, 0.998050732, -0.0200473254, -0.0587119111,
       -0.00676407616},
      {0.0579462628, 0.0241905523, 0.0499677111, 0.999933957, -1.98044278e-05, 5.12879104e-05,
       0.0114925322}}},
    {"",
     "type='cylinder' size='.08 .05'",
     {{0.0509239646, 0.0291014868, 0.0572818057, 0.99637755, -0.0578412082, 0.0297837727,
       -0.0547640251},
      {0.0377707974, 0.0375740702, 0.0571284188, 0.983277198, 0.029285646, -0.0682101025,
       0.166299985}}},
    {"",
     "type='box' size='.1 .08 .05'",
     {{0.0558394491, 0.0240352696, 0.0468044994, 0.999623, -0.00271159918, -0.0260722497,
       0.00816960268},
      {0.0576421348, 0.0259420953, 0.0499753155, 0.99983126, 2.34153174e-05, 3.75185463e-06,
       0.0183698348}}},
    {"",
     "type='ellipsoid' size='.1 .08 .05'",
     {{0.0475689381, 0.022089928, 0.0481404748, 0.997623896, -0.039435085, -0.0431271267,
       -0.0364895415},
      {0.00966658195, 0.0411982001, 0.0605060198, 0.941507809, -0.22434262, -0.0951216178,
       -0.232777388}}},
};

static void solids_tumble_as_in_mujoco(void **state) {
    (void)state;
    for (size_t f = 0; f < sizeof falls / sizeof *falls; f++) {
        char text[2048];
        Text t;
        TextConfig config = text_config(MF_ARTICULATED_IMPLICIT, 2 * MF_MILLISECOND);
        config.group.double_precision = true;
        config.motion.shapes = true;
        config.motion.contact_law = MF_CONTACT_LAW_MUJOCO;
        snprintf(text, sizeof text,
                 "<mujoco><option timestep='.002'/>%s<worldbody><geom type='plane' size='5 5 1' "
                 "friction='.4 .01 .001'/><body pos='0 0 .16'><freejoint/><geom %s friction='.4 "
                 ".01 .001'/></body></worldbody></mujoco>",
                 falls[f].asset, falls[f].geom);
        text_open(&t, text, &config);
        const double rotation[4] = {.97, .1, .2, .05};
        double length = 0.0;
        for (int i = 0; i < 4; i++)
            length += rotation[i] * rotation[i];
        for (uint32_t i = 0; i < 4; i++)
            text_set(&t, "base.orientation", i, rotation[i] / sqrt(length));
        text_set3(&t, "base.position", 0, 0, 0.16);
        text_set3(&t, "base.linear_velocity", .4, .1, 0);
        text_set3(&t, "base.angular_velocity", 1, .5, -.3);
        for (int k = 0; k < 2; k++) {
            mf_world_step(t.world, 100);
            for (uint32_t i = 0; i < 7; i++)
                assert_near(i < 3 ? text_get(&t, "base.position", i)
                                  : text_get(&t, "base.orientation", i - 3),
                            falls[f].at[k][i], k == 0 ? 1e-6 : 1e-4);
        }
        text_close(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solids_tumble_as_in_mujoco),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
