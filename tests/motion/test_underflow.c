// What slows down ends at zero: no number of a state stays where products of three of its kind are
// subnormal, and with which a step takes several times as long.
#include "rig/rig.h"

// Hinges with friction without gravity, one of them on a spring.
static const char swings[] =
    "<mujoco><option gravity='0 0 0'/><worldbody>"
    "<body><joint type='hinge' axis='0 1 0' damping='0.5'/>"
    "<geom type='capsule' size='0.05' fromto='0 0 0 0 0 0.5'/>"
    "<body pos='0 0 0.5'><joint type='hinge' axis='0 1 0' damping='0.2' stiffness='0.4'/>"
    "<geom type='capsule' size='0.05' fromto='0 0 0 0 0 0.5'/></body></body>"
    "</worldbody></mujoco>";
static const char ball[] = "<mujoco><worldbody><body pos='0 0 0.1'><freejoint/>"
                           "<geom type='sphere' size='0.1' friction='1 0.1 0.1'/></body>"
                           "</worldbody></mujoco>";

typedef struct Case {
    const char *name, *text;
    mf_Motion motion;
    const char *field; // set to 1 in component 0
    double gravity;    // [m/s^2]
    uint32_t seconds;
} Case;

static const Case cases[] = {
    {"hinges", swings, MF_MOTION_ARTICULATED, "joint.rate", 0.0, 200},
    {"a ball that rolls", ball, MF_MOTION_ARTICULATED, "base.linear_velocity", 9.81, 60},
    {"joints on paths", NULL, MF_MOTION_RIGID, "joint.angle", 9.81, 5},
    {"joints on paths with momentum", NULL, MF_MOTION_PRESCRIBED, "joint.angle", 9.81, 5},
};

static void expect_none(mf_Group *group, const Case *of, double least) {
    static const char *const fields[] = {"base.linear_velocity", "base.angular_velocity",
                                         "joint.angle", "joint.rate"};
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        const mf_Field *field = mf_group_find_field(group, fields[f]);
        for (uint32_t c = 0; field != NULL && c < field->components; c++) {
            const double value = fabs(mf_field_get(field, 0, c));
            if (value > 0.0 && value < least)
                fail_msg("%s: %s %u is %g", of->name, fields[f], c, value);
        }
    }
}

TEST(what_slows_down_ends_at_zero) {
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const Case *of = &cases[k];
        AUTO_CONTEXT *context = open_context(1);
        mf_Model *model = NULL;
        mf_WorldConfig world_config =
            WITH(mf_world_config(), .gravity = of->gravity, .step = 2 * MF_MILLISECOND);
        if (of->text != NULL)
            model = load_text(context, of->text);
        else
            MUST(mf_model_load(context, MAYFLY_SOURCE_DIR "/models/humanoid.urdf", NULL, &model,
                               &error));
        mf_World *world = open_world(context, &world_config);
        mf_Group *group = add_group(world, &WITH(mf_group_config(), .model = model));
        MUST(mf_motion_add(group, of->motion, NULL, &error));
        set_field(group, of->field, 0, 0, 1.0);
        mf_world_step(world, (uint64_t)(of->seconds * MF_SECOND / world_config.step));
        expect_none(group, of, 1e-30);
        mf_world_destroy(world);
        mf_model_destroy(model);
    }
}
