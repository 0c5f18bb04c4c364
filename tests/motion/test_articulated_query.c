// Queries of one robot give the same bits on every instruction set: with the processor's fused
// multiply-add and with the emulated one.
#include "motion/articulated_rig.h"

enum { MOST = 40 };

typedef struct Answers {
    double mass[MOST * MOST], bias[MOST], acceleration[MOST];
    double kinetic, potential, center[3], linear[3], angular[3];
} Answers;

static void ask_all(mf_Isa isa, Answers *out) {
    AUTO_CONTEXT *context = open_context(1);
    mf_Group *robots;
    AUTO_MODEL *model;
    MUST(mf_model_load(context, MAYFLY_SOURCE_DIR "/models/figure.xml", NULL, &model, &error));
    AUTO_WORLD *world = open_world(context, &WITH(mf_world_config(), .isa = isa));
    robots = add_group(world, &WITH(mf_group_config(), .model = model));
    MUST(mf_motion_add(robots, MF_MOTION_ARTICULATED, NULL, &error));
    mf_Field *angle = mf_group_find_field(robots, "joint.angle"),
             *rate = mf_group_find_field(robots, "joint.rate");
    for (uint32_t c = 0; c < angle->components; c++) {
        mf_field_set(angle, 0, c, 0.1 * c - 0.7);
        mf_field_set(rate, 0, c, 0.3 * c - 1.7);
    }
    const uint32_t size = mf_group_velocity_count(robots);
    assert_true(size <= MOST);
    memset(out, 0, sizeof *out);
    mf_group_mass_matrix(robots, 0, 1, out->mass, NULL);
    mf_group_bias(robots, 0, 1, out->bias, NULL);
    mf_articulated_forward(robots, 0, out->bias, out->acceleration);
    const mf_MotionEnergy energy = mf_motion_energy(robots, 0);
    out->kinetic = energy.kinetic;
    out->potential = energy.potential;
    mf_motion_momentum(robots, 0, out->center, out->linear, out->angular);
    assert_true(energy.kinetic > 0.0);
}

TEST(answers_do_not_depend_on_the_processor) {
    static Answers emulated, own;
    ask_all(MF_ISA_SCALAR, &emulated);
    ask_all(MF_ISA_AUTO, &own);
    assert_memory_equal(&emulated, &own, sizeof own);
}

// A question leaves contacts and friction out, so the law does not matter.
TEST(answers_do_not_depend_on_the_law) {
    static const mf_ContactLaw laws[] = {MF_CONTACT_LAW_COMPLIANT, MF_CONTACT_LAW_HARD,
                                         MF_CONTACT_LAW_MUJOCO};
    double answers[3][7];
    for (int i = 0; i < 3; i++) {
        const double force[7] = {1, -2, 3, 0.1, 0.2, -0.3, 0.4};
        AUTO_RIG rig =
            text_open("<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 .05'>"
                      "<freejoint/><geom type='box' size='.1 .1 .1'/><body pos='.3 0 0'>"
                      "<joint axis='0 1 0' frictionloss='.2'/><geom size='.1' mass='2'/></body>"
                      "</body></worldbody></mujoco>",
                      WITH(art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND),
                           .motion.shapes = true, .motion.contact_law = laws[i]));
        mf_articulated_forward(rig.group, 0, force, answers[i]);
        assert_memory_equal(answers[i], answers[0], sizeof answers[0]);
    }
    assert_true(answers[0][0] != 0.0);
}
