// What bodies and joints give way by in the start pose (MuJoCo's body_invweight0, dof_invweight0)
// against MuJoCo 4.0, for bodies without mass: its compiler takes the position of such a body, as
// the file has it, for its center too.
#include "motion/articulated_rig.h"

#include "motion/articulated/build.h"
#include "motion/articulated/host.h"

static const char text[] =
    "<mujoco><worldbody><body name='b' pos='0 0 1'><freejoint/><geom size='.1 .2 .3' type='box' "
    "mass='1'/><body pos='.3 .1 0' euler='0 0 90'><geom size='.05' mass='0' pos='.2 0 0'/></body>"
    "<body pos='.3 .1 .2'><geom size='.05' mass='0' pos='.2 0 0'/><geom size='.05' density='0' "
    "pos='.4 0 0'/></body><frame pos='1 0 0'><body pos='.1 0 0'><geom size='.05' mass='0'/></body>"
    "</frame><body pos='.3 .1 0'><inertial pos='.3 0 0' mass='0' diaginertia='0 0 0'/>"
    "<geom size='.05' pos='.2 0 0'/></body><body pos='.3 .1 0' euler='0 0 90'><joint/>"
    "<geom size='.05' mass='0'/><body pos='.1 0 0'><geom size='.1' mass='.5' pos='.1 0 0'/></body>"
    "</body></body></worldbody></mujoco>";

TEST(massless_bodies_give_way_as_in_mujoco) {
    static const double bodies[] = {0.901046250566, 2.3424770929,  6.03526762649, 6.03526762649,
                                    17.4826455773,  4.15821091814, 2.89632324675, 1.60418500226};
    mf_ArtWeights weights;
    AUTO_RIG t = text_open(text, WITH(art_config(MF_ARTICULATED_IMPLICIT, 2 * MF_MILLISECOND),
                                      .motion.contact_law = MF_CONTACT_LAW_MUJOCO));
    MUST(mf_art_weights_find(mf_art_motion_of(t.group), t.model, &weights, t.context, &error));
    assert_int_equal(t.model->shape_count, sizeof bodies / sizeof *bodies);
    for (uint32_t i = 0; i < t.model->shape_count; i++)
        assert_near(weights.shapes[i], bodies[i], 1e-9);
    assert_near(weights.joints[0], 108.923076923, 1e-8);
    assert_near(weights.mean, 0.685904761905, 1e-9);
    mf_art_weights_free(&weights, t.context);
}
