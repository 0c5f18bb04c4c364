// URDF robots under full dynamics: which of their shapes collide with each other, meshes as hulls.
#include "motion/articulated_rig.h"

// A block of 1 kg held by the world at the height `height`, as a box or a mesh of the same size.
static void add_link(char *text, size_t size, const char *name, const char *collision,
                     double height) {
    size_t used = strlen(text);
    snprintf(text + used, size - used,
             "<link name='%s'><inertial><mass value='1'/><inertia ixx='0.01' iyy='0.01' "
             "izz='0.01'/></inertial><collision><origin xyz='0 0 %g'/><geometry>%s</geometry>"
             "</collision></link>",
             name, height, collision);
}

static void add_slide(char *text, size_t size, const char *parent, const char *child) {
    size_t used = strlen(text);
    snprintf(text + used, size - used,
             "<joint name='%s' type='prismatic'><parent link='%s'/><child link='%s'/><axis "
             "xyz='0 0 1'/><limit lower='-9' upper='9' effort='1' velocity='9'/></joint>",
             child, parent, child);
}

// Base, a middle link without a shape near them, and a block above the base: cubes of 0.2 m, of
// which the lower one is at 0 and the upper one at `height`.
static Rig open_tower(const char *collision, double height) {
    char text[4096] = "<robot name='tower'>";
    ArtConfig config =
        WITH(art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND), .world.gravity = 0.0,
             .motion.base = MF_ARTICULATED_FIXED, .motion.contacts = false);
    config.motion.motors = false; // joints that nothing holds
    add_link(text, sizeof text, "base", collision, 0.0);
    add_link(text, sizeof text, "middle", "<sphere radius='0.01'/>", 5.0);
    add_link(text, sizeof text, "top", collision, height);
    add_slide(text, sizeof text, "base", "middle");
    add_slide(text, sizeof text, "middle", "top");
    strcat(text, "</robot>");
    return text_open(text, config);
}

static const char box[] = "<box size='0.2 0.2 0.2'/>";

// Shapes two joints apart meet: thrown down from 0.3 m the block stops on the base, at 0.2 m.
TEST(links_beyond_a_joint_collide) {
    AUTO_RIG t = open_tower(box, 0.3);
    rig_set(&t, "joint.rate", 1, -0.5);
    mf_world_step(t.world, 1000);
    assert_true(rig_get(&t, "joint.angle", 1) > -0.11);
    assert_true(rig_get(&t, "joint.angle", 1) + rig_get(&t, "joint.angle", 0) < -0.09);
}

// What overlaps at the start never touches: nothing pushes, and the block goes through.
TEST(overlaps_of_the_start_never_touch) {
    AUTO_RIG t = open_tower(box, 0.15);
    mf_world_step(t.world, 100);
    assert_near(rig_get(&t, "joint.angle", 1), 0.0, 0.0);
    rig_set(&t, "joint.rate", 1, -0.5);
    mf_world_step(t.world, 1000);
    assert_near(rig_get(&t, "joint.angle", 1), -0.5, 1e-9);
}

// Cubes of eight corners and twelve triangles, written as OBJ; the flat one has no inside.
static void write_mesh(char path[64], bool flat) {
    static const char cube[] = "v -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\nv -1 -1 1\nv 1 -1 1\n"
                               "v 1 1 1\nv -1 1 1\nf 1 3 2\nf 1 4 3\nf 5 6 7\nf 5 7 8\nf 1 2 6\n"
                               "f 1 6 5\nf 3 4 8\nf 3 8 7\nf 2 3 7\nf 2 7 6\nf 1 5 8\nf 1 8 4\n";
    static const char sheet[] = "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nf 1 2 3\nf 1 3 4\n";
    const char *text = flat ? sheet : cube;
    write_temporary(path, ".obj", text);
}

TEST(meshes_touch_as_hulls) {
    char path[64], geometry[256];
    write_mesh(path, false);
    snprintf(geometry, sizeof geometry, "<mesh filename='file://%s' scale='0.1 0.1 0.1'/>", path);
    AUTO_RIG t = open_tower(geometry, 0.3);
    unlink(path);
    assert_int_equal(t.model->mesh_count, 1);
    assert_int_equal(t.model->meshes[0].hull_vertex_count, 8);
    rig_set(&t, "joint.rate", 1, -0.5);
    mf_world_step(t.world, 1000);
    assert_true(rig_get(&t, "joint.angle", 1) > -0.11);
    assert_true(rig_get(&t, "joint.angle", 1) + rig_get(&t, "joint.angle", 0) < -0.09);
}

// A mesh without an inside is noted, and passes through other links.
TEST(flat_meshes_touch_no_link) {
    char path[64], geometry[256];
    bool reported = false;
    write_mesh(path, true);
    snprintf(geometry, sizeof geometry, "<mesh filename='file://%s' scale='0.1 0.1 0.1'/>", path);
    AUTO_RIG t = open_tower(geometry, 0.3);
    unlink(path);
    assert_int_equal(t.model->meshes[0].hull_vertex_count, 0);
    for (uint32_t i = 0; i < t.model->note_count; i++)
        reported = reported || strstr(t.model->notes[i].text, "is flat") != NULL;
    assert_true(reported);
    rig_set(&t, "joint.rate", 1, -0.5);
    mf_world_step(t.world, 1000);
    assert_near(rig_get(&t, "joint.angle", 1), -0.5, 1e-9);
}
