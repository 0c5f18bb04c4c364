// Parts of a robot that one joint connects rub where they are flush and a pair of the file makes
// them collide: dry friction of the pressed faces against its closed form. Pairs of MJCF files name
// shapes, those of URDF files links.
#include "rig/rig.h"
#include "scene/support.h"

GROUP_FIXTURE(make_context, drop_context);

// [rad/s] of the disk that is pressed and of the one that is clear of the plate.
static void rates(const mf_Scene *scene, double out[2]) {
    for (uint32_t j = 0; j < 2; j++)
        out[j] = get(scene, 0, "joint.rate", 0, j);
}

// Each of the four contacts on the rim, at the radius R, has the load k d, with the depth d and k =
// m / (2 h)^2 of the whole robot's mass m. So the disk, of the moment I, slows down by 4 mu k d R /
// I, at any rate.
TEST(flush_faces_rub) {
    const double h = 0.002, depth = 1e-5, friction = 0.01, radius = 0.03; // [s], [m], [1], [m]
    AUTO_WHOLE_SCENE scene = scene_at(*state, "scenes/rubbing.yaml", NULL, 0);
    const double stiffness = 1.4 / (4.0 * h * h), moment = 0.5 * 0.2 * radius * radius;
    const double slows = 4.0 * friction * stiffness * depth * radius / moment;
    double before[2], after[2];
    for (int k = 0; k < 3; k++) {
        if (k == 0)
            mf_world_step(scene.world, 50);
        rates(&scene, before);
        mf_world_step(scene.world, 200); // 0.4 s
        rates(&scene, after);
        print_message("from %.3f rad/s: slows down by %.4f rad/s^2 of %.4f\n", before[0],
                      (before[0] - after[0]) / 0.4, slows);
        assert_near((before[0] - after[0]) / 0.4, slows, 0.01 * slows);
        assert_near(after[1], 20.0, 1e-3);
    }
    mf_world_step(scene.world, 500);
    rates(&scene, after);
    assert_near(after[0], 0.0, 1e-3);
    assert_near(after[1], 20.0, 1e-3);
}

// ---- pairs of URDF files ------------------------------------------------------------------------

typedef struct Turning {
    mf_Model *model;
    mf_World *world;
    mf_Group *group;
} Turning;

// The model, without gravity, motors and ground, one joint turning at `rate` [rad/s].
static Turning turn(mf_Context *context, mf_Model *model, double rate) {
    Turning t = {.model = model};
    mf_WorldConfig settings = WITH(mf_world_config(), .step = 2 * MF_MILLISECOND, .gravity = 0.0);
    mf_GroupConfig robots =
        WITH(mf_group_config(), .model = model, .count = 1, .double_precision = true);
    mf_ArticulatedConfig config =
        WITH(mf_motions_config().articulated, .motors = false, .contacts = false);
    t.world = open_world(context, &settings);
    t.group = add_group(t.world, &robots);
    MUST(rig_add_articulated(t.group, &config, &error));
    set_field(t.group, "joint.rate", 0, 0, rate);
    return t;
}

static void close_turning(Turning *t) {
    assert_int_equal(mf_group_fault_total(t->group), 0);
    mf_world_destroy(t->world);
    mf_model_destroy(t->model);
}

// [rad/s^2] by which the joint slows down over so many steps.
static double slows(Turning *t, uint64_t steps) {
    const double before = get_field(t->group, "joint.rate", 0, 0);
    mf_world_step(t->world, steps);
    return (before - get_field(t->group, "joint.rate", 0, 0)) / (0.002 * (double)steps);
}

// As the disk above: its face is flush with the plate's, and the pair's margin presses it.
static const char disk[] =
    "<robot name='disk'><link name='world'/><joint name='hold' type='fixed'><parent link='world'/>"
    "<child link='plate'/></joint><link name='plate'><inertial><mass value='1'/>"
    "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
    "<collision><geometry><box size='0.16 0.08 0.01'/></geometry></collision></link>"
    "<joint name='turn' type='continuous'><parent link='plate'/><child link='disk'/>"
    "<origin xyz='0 0 0.01'/><axis xyz='0 0 1'/></joint><link name='disk'><inertial>"
    "<mass value='0.2'/><inertia ixx='1e-4' iyy='1e-4' izz='9e-5' ixy='0' ixz='0' iyz='0'/>"
    "</inertial><collision><geometry><cylinder radius='0.03' length='0.01'/></geometry>"
    "</collision></link><mayfly>%s</mayfly></robot>";

TEST(pairs_of_urdf_links_rub) {
    const double h = 0.002, depth = 1e-5, friction = 0.01, radius = 0.03; // [s], [m], [1], [m]
    const double expected = 4.0 * friction * 1.2 / (4.0 * h * h) * depth * radius / 9e-5;
    const char *pair = "<pair link1='plate' link2='disk' margin='1e-5' friction='0.01'/>";
    Turning rubs = turn(*state, load_text(*state, formatted(disk, pair)), 20.0);
    Turning free = turn(*state, load_text(*state, formatted(disk, "")), 20.0);
    mf_world_step(rubs.world, 50);
    for (int k = 0; k < 3; k++) {
        const double found = slows(&rubs, 200);
        print_message("slows down by %.4f rad/s^2 of %.4f\n", found, expected);
        assert_near(found, expected, 0.01 * expected);
    }
    assert_near(slows(&free, 200), 0.0, 1e-9);
    close_turning(&rubs);
    close_turning(&free);
}
// ---- SuperBot -----------------------------------------------------------------------------------

// `text` with each `from` replaced.
static char *replaced(char *text, const char *from, const char *to) {
    const size_t before = strlen(from), after = strlen(to);
    char *out = calloc(1, 4 * strlen(text) + 1), *end = out, *at;
    assert_non_null(out);
    const char *rest = text;
    assert_non_null(strstr(text, from));
    for (; (at = strstr(rest, from)) != NULL; rest = at + before) {
        memcpy(end, rest, (size_t)(at - rest));
        end += at - rest;
        memcpy(end, to, after);
        end += after;
    }
    strcpy(end, rest);
    free(text);
    return out;
}

// models/modules/superbot.urdf, held by its front inner body, whose end rubs on it by contact and
// not by dry friction of the joint.
static mf_Model *rubbing_superbot(mf_Context *context, double friction, double margin) {
    const char *folder = MAYFLY_SOURCE_DIR "/models/modules";
    mf_ImportConfig config = WITH(mf_import_config(), .base = MF_IMPORT_BASE_FIXED, .root = "/");
    char path[64], *text = file_get(formatted("%s/superbot.urdf", folder), NULL);
    mf_Model *model = NULL;
    text = replaced(text, "meshes/", formatted("%s/meshes/", folder));
    text = replaced(text, "<dynamics damping=\"0.05\" friction=\"0.3\"/>", "");
    text = replaced(text, "</mayfly>",
                    formatted("<pair link1=\"inner_front\" link2=\"end_front\" friction=\"%g\" "
                              "margin=\"%g\"/></mayfly>",
                              friction, margin));
    write_temporary(path, ".urdf", text);
    MUST(mf_model_load(context, path, &config, &model, &error));
    unlink(path);
    free(text);
    return model;
}

// [rad/s^2] by which the straight pitch joint slows down from 3 rad/s, in one step.
static double superbot_slows(mf_Context *context, double friction, double margin) {
    Turning t = turn(context, rubbing_superbot(context, friction, margin), 3.0);
    const double found = slows(&t, 1);
    close_turning(&t);
    return found;
}

// Both arms of the end touch the drum by four points each, on the rim of what overlaps: its corners
// are up to 41.5 mm from the axis. Dry friction is in proportion to the load and its coefficient.
TEST(the_ends_of_a_superbot_rub_by_contact) {
    const double h = 0.002, mass = 0.5, friction = 0.01, depth = 1e-6;  // [s], [kg], [1], [m]
    const double moment = 0.0000685874 + 0.06 * 0.015602 * 0.015602;    // [kg m^2] about the axis
    const double force = 8.0 * friction * mass / (4.0 * h * h) * depth; // [N]
    const double one = superbot_slows(*state, friction, depth);
    print_message("slows down by %.4f rad/s^2: radius %.4f m\n", one, one * moment / force);
    assert_near(one * moment / force, 0.036, 0.006);
    assert_near(superbot_slows(*state, 2.0 * friction, depth), 2.0 * one, 0.02 * one);
    assert_near(superbot_slows(*state, friction, 2.0 * depth), 2.0 * one, 0.02 * one);
    assert_near(superbot_slows(*state, 0.0, depth), 0.0, 1e-9);
}

TEST(a_superbot_comes_to_rest_by_its_own_contacts) {
    Turning t = turn(*state, rubbing_superbot(*state, 0.1, 1e-6), 1.0);
    mf_world_step(t.world, 500);
    assert_near(get_field(t.group, "joint.rate", 0, 0), 0.0, 1e-9);
    assert_true(get_field(t.group, "joint.angle", 0, 0) < 0.2);
    close_turning(&t);
}
