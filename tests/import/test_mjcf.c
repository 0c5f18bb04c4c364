// MJCF import against results computed by hand: frames, chains of joints, inertia, classes, ranges,
// servos, equalities; and the export.
#include "model/support.h"

GROUP_FIXTURE(setup_context, teardown_context);

#define PI 3.14159265358979323846

// A body in the world with these contents; the world's options before it.
#define ROBOT(options, contents)                                                                   \
    "<mujoco>" options "<worldbody><body name='b'>" contents "</body></worldbody></mujoco>"

TEST(free_bases_and_fixed_bases) {
    AUTO_MODEL *model = load_urdf(*state, ROBOT("", "<freejoint name='root'/><geom size='0.1'/>"));
    assert_int_equal(model->base, MF_BASE_FREE);
    assert_int_equal(model->link_count, 1);
    assert_int_equal(model->position_count, 7);
    assert_int_equal(model->velocity_count, 6);
    assert_string_equal(model->root->name, "root");
    // 1000 kg/m^3 of a ball of 0.1 m: 4/3 pi r^3 = 4.18879 kg, 2/5 m r^2
    assert_near(model->mass, 4000.0 * PI / 3.0 * 1e-3, 1e-12);
    assert_near(model->links[0].inertia[0], 0.4 * model->mass * 0.01, 1e-12);
    assert_near(model->rest_height, 0.1, 1e-15);
    mf_model_destroy(model);
    model = load_urdf(*state, ROBOT("", "<joint/><geom size='0.1'/>"));
    assert_int_equal(model->base, MF_BASE_FIXED);
    assert_int_equal(model->link_count, 2);
    assert_string_equal(model->links[0].name, "world");
    assert_null(model->root);
    assert_int_equal(model->position_count, 1);
    mf_model_destroy(model);
    // Two free bodies: the world is the base, both float in it.
    model = load_urdf(*state, "<mujoco><worldbody><geom type='plane' size='0 0 1'/>"
                              "<body pos='1 2 3'><freejoint/><geom size='1'/></body>"
                              "<body><freejoint/><geom size='1'/></body></worldbody></mujoco>");
    assert_int_equal(model->base, MF_BASE_FIXED);
    assert_int_equal(model->position_count, 14);
    assert_int_equal(model->joints[1].type, MF_JOINT_FLOATING);
    assert_int_equal(model->joints[1].position_address, 7);
    assert_int_equal(model->joints[1].velocity_address, 6);
    assert_near3(model->start_position, 1, 2, 3, 0);
    assert_int_equal(model->shapes[0].link, MF_NONE);
}

// Two hinges and a slide in one body: rotation about each anchor in turn, worked out by hand.
TEST(several_joints_are_a_chain) {
    AUTO_MODEL *model =
        load_urdf(*state, ROBOT("<compiler angle='radian'/>",
                                "<joint name='x' axis='1 0 0' pos='0 0 1' ref='0.5'/>"
                                "<joint name='s' type='slide' axis='0 1 0'/>"
                                "<joint name='z' axis='0 0 1' pos='1 0 0'/><geom size='0.1'/>"
                                "<body name='c' pos='0 0 2'><geom size='0.1'/></body>"));
    assert_int_equal(model->link_count, 4);
    assert_true(model->links[1].intermediate && model->links[2].intermediate);
    assert_false(model->links[3].intermediate);
    assert_true(model->links[1].mass == 0.0 && model->links[2].mass == 0.0);
    double position[4][3], rotation[4][4], point[3];
    // Quarter turns: x to pi/2 about (0,0,1), shift 0.25 along the turned y (world z), then z.
    const double q[3] = {0.5 + PI / 2, 0.25, PI / 2};
    mf_model_pose_at(model, q, position, rotation);
    const mf_Body *body = &model->bodies[0];
    // The body's origin after the x turn: (0,0,1) + Rx(90)(0,0,-1) = (0,1,1); shifted: (0,1,1.25);
    // the z anchor (1,0,0) is then at (1,1,1.25), and the origin sits at it + Rx Rz (-1,0,0)
    // = (1,1,1.25) + Rx(0,-1,0) = (1,1,0.25).
    double w[3];
    const double *r = rotation[3], *v = body->position;
    const double u[3] = {r[2] * v[2] - r[3] * v[1], r[3] * v[0] - r[1] * v[2],
                         r[1] * v[1] - r[2] * v[0]};
    const double uu[3] = {r[2] * u[2] - r[3] * u[1], r[3] * u[0] - r[1] * u[2],
                          r[1] * u[1] - r[2] * u[0]};
    for (int i = 0; i < 3; i++) {
        w[i] = v[i] + 2 * (r[0] * u[i] + uu[i]);
        point[i] = position[3][i] + w[i];
    }
    assert_near3(point, 1, 1, 0.25, 1e-12);
    // The child without joints is part of the same link.
    assert_int_equal(model->bodies[1].link, 3);
    assert_near3(model->bodies[1].position, body->position[0], 0, 2, 1e-15);
    assert_near(model->start_position[0], 0.5, 0);
}

TEST(ball_joints_have_four_positions) {
    AUTO_MODEL *model =
        load_urdf(*state, ROBOT("", "<joint type='ball' range='0 90'/><geom size='1'/>"
                                    "<body pos='0 0 1'><joint/><geom size='1'/></body>"));
    assert_int_equal(model->position_count, 5);
    assert_int_equal(model->velocity_count, 4);
    assert_int_equal(model->joints[1].position_address, 4);
    assert_int_equal(model->joints[1].velocity_address, 3);
    assert_near(model->joints[0].upper, PI / 2, 1e-15);
    double position[3][3], rotation[3][4];
    const double q[5] = {2, 2, 0, 0, 0}; // a quarter rotation about x, not normalized
    mf_model_pose_at(model, q, position, rotation);
    assert_near3(position[2], 0, -1, 0, 1e-15);
}

TEST(orientations_mean_the_same) {
    // A quarter rotation about y, said in seven ways.
    static const char *const ways[] = {"quat='1 0 1 0'",         "axisangle='0 2 0 90'",
                                       "euler='0 90 0'",         "xyaxes='0 0 -1 0 1 0'",
                                       "xyaxes='0 0 -2 0 3 -1'", "zaxis='3 0 0'",
                                       "quat='-1 0 -1 0'"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        AUTO_MODEL *model = load_urdf(
            *state,
            formatted("<mujoco><worldbody><body %s><freejoint/><geom size='1'/></body></worldbody>"
                      "</mujoco>",
                      ways[i]));
        double sign = model->start_position[3] < 0 ? -1 : 1;
        assert_near(sign * model->start_position[3], sqrt(0.5), 1e-15);
        assert_near(sign * model->start_position[5], sqrt(0.5), 1e-15);
    }
}

// Lower case letters turn about moved axes, upper case about fixed ones.
TEST(euler_sequences) {
    static const struct {
        const char *sequence;
        double quat[4];
    } cases[] = {{"xyz", {0.5, 0.5, 0.5, 0.5}},  // qx qy
                 {"XYZ", {0.5, 0.5, 0.5, -0.5}}, // qy qx
                 {"zyx", {0.5, 0.5, 0.5, -0.5}}};
    for (size_t i = 0; i < 3; i++) {
        bool reversed = cases[i].sequence[0] == 'z';
        AUTO_MODEL *model = load_urdf(
            *state,
            formatted("<mujoco><compiler eulerseq='%s'/><worldbody><body euler='%s'><freejoint/>"
                      "<geom size='1'/></body></worldbody></mujoco>",
                      cases[i].sequence, reversed ? "0 90 90" : "90 90 0"));
        for (int k = 0; k < 4; k++)
            assert_near(model->start_position[3 + k], cases[i].quat[k], 1e-15);
    }
}

TEST(frames_move_their_elements) {
    AUTO_MODEL *model = load_urdf(
        *state, "<mujoco><worldbody><frame pos='1 0 0' euler='0 0 90'><frame pos='1 0 0'>"
                "<body name='b' pos='1 0 0'><frame pos='0 0 1' euler='0 90 0'>"
                "<joint axis='0 0 1' pos='1 0 0'/><geom type='box' size='1 1 1' pos='0 1 0'/>"
                "<site name='s' pos='1 0 0'/></frame></body></frame></frame></worldbody></mujoco>");
    assert_near3(model->bodies[0].local_position, 1, 2, 0, 1e-15);
    assert_near3(model->joints[0].axis, 1, 0, 0, 1e-15);   // Ry(90) z
    assert_near3(model->joints[0].anchor, 0, 0, 0, 1e-15); // (0,0,1) + Ry(90) x = (0,0,1-1)
    assert_near3(model->shapes[0].local_position, 0, 1, 1, 1e-15);
    assert_near3(model->sites[0].local_position, 0, 0, 0, 1e-15);
}

TEST(classes_beat_childclasses_beat_main) {
    AUTO_MODEL *model = load_urdf(
        *state, "<mujoco><default><geom friction='0.1' condim='1'/><default class='soft'>"
                "<geom friction='0.2'/><default class='softer'><geom friction='0.3' margin='0.5'/>"
                "</default></default></default><worldbody><body childclass='soft'><freejoint/>"
                "<geom name='1' size='1'/><geom name='2' size='1' class='softer'/>"
                "<geom name='3' size='1' class='main'/><geom name='4' size='1' friction='0.4'/>"
                "<body childclass='softer'><geom name='5' size='1'/></body></body>"
                "<body><geom name='6' size='1'/></body></worldbody></mujoco>");
    static const double expected[6] = {0.2, 0.3, 0.1, 0.4, 0.3, 0.1};
    for (uint32_t i = 0; i < 6; i++) {
        assert_near(model->shapes[i].friction[0], expected[i], 0);
        assert_int_equal(model->shapes[i].dimension, 1);
    }
    assert_near(model->shapes[1].margin, 0.5, 0);
}

// Moments of solids and shells of mass 1 about their center; sources: textbook formulas, written
// out for r = 0.5, half length 1, box 1 x 2 x 3 (half edges).
TEST(solids_and_shells) {
    static const struct {
        const char *geom;
        double mass, x, y, z;
    } cases[] = {
        {"type='sphere' size='0.5' mass='1'", 1, 0.1, 0.1, 0.1},
        {"type='sphere' size='0.5' mass='1' shellinertia='true'", 1, 1 / 6.0, 1 / 6.0, 1 / 6.0},
        {"type='box' size='1 2 3' mass='1'", 1, 13 / 3.0, 10 / 3.0, 5 / 3.0},
        // plates: areas xy 2, yz 6, zx 3; second moments a^2 (A_a + (A - A_a)/3) / A
        {"type='box' size='1 2 3' mass='1' shellinertia='true'", 1,
         (4 * (3 + 8 / 3.0) + 9 * (2 + 9 / 3.0)) / 11, (1 * (6 + 5 / 3.0) + 9 * (2 + 3.0)) / 11,
         (1 * (6 + 5 / 3.0) + 4 * (3 + 8 / 3.0)) / 11},
        {"type='cylinder' size='0.5 1' mass='1'", 1, (0.75 + 4) / 12, (0.75 + 4) / 12, 0.125},
        // wall 2 pi r h = 2 pi, discs 2 pi r^2 = pi/2: masses 0.8 and 0.1 each
        {"type='cylinder' size='0.5 1' mass='1' shellinertia='true'", 1,
         0.8 * (1.5 + 4) / 12 + 0.2 * (0.0625 + 1), 0.8 * (1.5 + 4) / 12 + 0.2 * (0.0625 + 1),
         0.8 * 0.25 + 0.2 * 0.125},
        {"type='ellipsoid' size='1 2 3' mass='1'", 1, 13 / 5.0, 10 / 5.0, 5 / 5.0},
        // sphere 4/3 pi r^3 to cylinder pi r^2 h is 1/6 to 1/2: masses 1/4 and 3/4
        {"type='capsule' size='0.5 1' mass='1'", 1,
         0.75 * (0.75 + 4) / 12 + 0.25 * (0.4 * 0.25 + 2 * (1.5 + 4) / 8),
         0.75 * (0.75 + 4) / 12 + 0.25 * (0.4 * 0.25 + 2 * (1.5 + 4) / 8),
         0.75 * 0.125 + 0.25 * 0.1},
        // sphere 4 pi r^2 = pi to tube 2 pi r h = 2 pi: masses 1/3 and 2/3
        {"type='capsule' size='0.5 1' mass='1' shellinertia='true'", 1,
         2 / 3.0 * (1.5 + 4) / 12 + 1 / 3.0 * (1 / 6.0 + 1.25 * 1.25 - 0.0625),
         2 / 3.0 * (1.5 + 4) / 12 + 1 / 3.0 * (1 / 6.0 + 1.25 * 1.25 - 0.0625),
         2 / 3.0 * 0.25 + 1 / 18.0},
        {"type='capsule' size='0.5' fromto='0 0 -1 0 0 1' density='3'", 3 * PI * (0.5 + 1 / 6.0),
         -1, -1, -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_MODEL *model =
            load_urdf(*state, formatted(ROBOT("", "<freejoint/><geom %s/>"), cases[i].geom));
        const double *inertia = model->links[0].inertia;
        assert_near(model->mass, cases[i].mass, 1e-14);
        if (cases[i].x > 0)
            assert_near3(inertia, cases[i].x, cases[i].y, cases[i].z, 1e-14);
    }
}

// A cube of edge 2 from 8 corners and 12 triangles: volume 8, moments m (1 + 1) / 3, whatever the
// kind; its hull is itself. As a surface: 6 plates.
TEST(meshes_are_exact) {
    static const char *const kinds[] = {"legacy", "exact", "convex", "shell"};
    for (int kind = 0; kind < 4; kind++) {
        AUTO_MODEL *model = load_urdf(
            *state,
            formatted(
                "<mujoco><asset><mesh name='cube' inertia='%s' scale='2 2 2' vertex='"
                "0 0 0 1 0 0 0 1 0 1 1 0 0 0 1 1 0 1 0 1 1 1 1 1' face='0 2 1 1 2 3 4 5 6 5 7 6 0 "
                "1 4 1 5 4 2 6 3 3 6 7 0 4 2 2 4 6 1 3 5 3 7 5'/></asset><worldbody><body>"
                "<freejoint/><geom type='mesh' mesh='cube'/></body></worldbody></mujoco>",
                kinds[kind]));
        double area = 24, volume = 8;
        double mass = 1000 * (kind == 3 ? area : volume);
        double second = kind == 3 ? mass * (1 + 2 / 3.0) / 3 : mass / 3; // along each axis
        assert_near(model->mass, mass, 1e-9);
        assert_near3(model->links[0].center, 1, 1, 1, 1e-14);
        assert_near3(model->links[0].inertia, 2 * second, 2 * second, 2 * second, 1e-8);
        assert_int_equal(model->meshes[0].hull_vertex_count, 8);
        assert_int_equal(model->meshes[0].hull_triangle_count, 12);
    }
}

// Every triangle of a hull has all vertices on its inner side.
TEST(hulls_are_convex_and_hold_everything) {
    static char text[60000];
    char numbers[20000] = "";
    uint32_t seed = 1;
    for (int i = 0; i < 600; i++) {
        seed = seed * 1664525u + 1013904223u;
        strcat(numbers, formatted("%.6f ", (double)(seed >> 8) / 16777216.0));
    }
    snprintf(text, sizeof text,
             "<mujoco><asset><mesh name='m' vertex='%s'/><mesh name='few' maxhullvert='20' "
             "vertex='%s'/></asset><worldbody><body><freejoint/><geom type='mesh' mesh='m'/>"
             "<geom type='mesh' mesh='few'/></body></worldbody></mujoco>",
             numbers, numbers);
    AUTO_MODEL *model = load_urdf(*state, text);
    const mf_Mesh *mesh = &model->meshes[0];
    assert_true(mesh->hull_vertex_count >= 20 && mesh->hull_vertex_count < 100);
    // Euler: a triangulated closed surface has F = 2 V - 4.
    assert_int_equal(mesh->hull_triangle_count, 2 * mesh->hull_vertex_count - 4);
    for (uint32_t i = 0; i < mesh->hull_triangle_count; i++) {
        double p[3][3], n[3];
        for (int k = 0; k < 3; k++)
            for (int axis = 0; axis < 3; axis++)
                p[k][axis] = (double)mesh->vertices[3 * mesh->hull_triangles[3 * i + k] + axis];
        double a[3] = {p[1][0] - p[0][0], p[1][1] - p[0][1], p[1][2] - p[0][2]};
        double b[3] = {p[2][0] - p[0][0], p[2][1] - p[0][1], p[2][2] - p[0][2]};
        n[0] = a[1] * b[2] - a[2] * b[1];
        n[1] = a[2] * b[0] - a[0] * b[2];
        n[2] = a[0] * b[1] - a[1] * b[0];
        for (uint32_t v = 0; v < mesh->vertex_count; v++) {
            double distance = 0;
            for (int axis = 0; axis < 3; axis++)
                distance += n[axis] * ((double)mesh->vertices[3 * v + axis] - p[0][axis]);
            assert_true(distance <= 1e-7);
        }
    }
    assert_int_equal(model->meshes[1].hull_vertex_count, 20);
}

TEST(inertia_from_geoms_and_from_inertial) {
    static const char geoms[] = "<freejoint/><inertial pos='0 0 0' mass='3' diaginertia='1 1 1'/>"
                                "<geom size='1' mass='1' group='3'/><geom size='1' mass='1'/>";
    char text[600];
    static const struct {
        const char *options;
        double mass;
    } cases[] = {{"", 3},
                 {"<compiler inertiafromgeom='false'/>", 3},
                 {"<compiler inertiafromgeom='true'/>", 2},
                 {"<compiler inertiafromgeom='true' inertiagrouprange='0 1'/>", 1},
                 {"<compiler settotalmass='12'/>", 12},
                 {"<compiler boundmass='5'/>", 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "<mujoco>%s<worldbody><body>%s</body></worldbody></mujoco>",
                 cases[i].options, geoms);
        AUTO_MODEL *model = load_urdf(*state, text);
        assert_near(model->mass, cases[i].mass, 1e-14);
    }
    // A full tensor with a known rotation: 3, 2, 1 turned by 30 degrees about z.
    double c = sqrt(0.75), s = 0.5, xx = 3 * c * c + 2 * s * s, yy = 3 * s * s + 2 * c * c;
    snprintf(
        text, sizeof text,
        ROBOT("",
              "<freejoint/><inertial pos='0 0 0' mass='1' fullinertia='%.17g %.17g 1 %.17g 0 0'/>"),
        xx, yy, c * s);
    AUTO_MODEL *model = load_urdf(*state, text);
    assert_near3(model->bodies[0].moments, 3, 2, 1, 1e-14);
    assert_near(fabs(model->bodies[0].axes[3]), sin(PI / 12), 1e-14);
    assert_near(model->links[0].inertia[3], c * s, 1e-14);
    mf_model_destroy(model);
    model = load_urdf(*state,
                      ROBOT("<compiler balanceinertia='true'/>",
                            "<freejoint/><inertial pos='0 0 0' mass='1' diaginertia='1 1 4'/>"));
    assert_near3(model->bodies[0].moments, 2, 2, 2, 1e-15);
    assert_note(model, true, 1, "balanceinertia");
}

// What MuJoCo reads although it looks wrong, is read with a note where something is lost.
TEST(odd_files_load) {
    AUTO_MODEL *model = load_urdf(*state, "<mujoco><!-- a -- b --->\n<!--- c --><worldbody><body>"
                                          "<joint name='' type='free' limited='true' range='0 1'/>"
                                          "<geom size='1' material='' mesh='' name=''/></body>"
                                          "</worldbody></mujoco>");
    assert_note(model, false, 1, "a comment contains '--'");
    assert_note(model, false, 2, "limited of a free joint");
    assert_int_equal(model->shapes[0].material, MF_NONE);
    mf_model_destroy(model);
    model =
        load_urdf(*state, "<mujoco><worldbody><body><joint range='1 -1'/><geom size='1'/></body>"
                          "</worldbody><keyframe>\n<key qpos=''/><key qvel='3'/></keyframe>"
                          "</mujoco>");
    assert_true(isinf(model->joints[0].lower) && isinf(model->joints[0].upper));
    assert_note(model, true, 1, "range: 1 is not below -1, so nothing is limited");
    assert_near(model->keyframes[1].velocity[0], 3, 0);
    mf_model_destroy(model);
    model = load_urdf(*state, "<mujoco><worldbody><body><freejoint/><geom size='1'/></body>"
                              "</worldbody><keyframe>\n<key qpos='1 2'/></keyframe></mujoco>");
    assert_note(model, true, 2, "the model has 7, found 2 numbers");
    assert_near3(model->keyframes[0].position, 1, 2, 0, 0);
    assert_near(model->keyframes[0].position[3], 1, 0);
}

// What looks like a comment in other sections is none; dashes of others stay.
TEST(comments_are_found_where_they_are) {
    mf_Model *model =
        load_urdf(*state, "<?xml version='1.0'?><mujoco model='a--b'><![CDATA[<!-- x -- y -->]]>"
                          "<!-- - --><?hint -- ?><worldbody><body><freejoint/><geom size='1'/>"
                          "</body></worldbody></mujoco>");
    assert_null(find_note(model, "a comment"));
    assert_string_equal(model->name, "a--b");
    mf_model_destroy(model);
    assert_refused(*state, "<mujoco><!-- a -- b", MF_BAD_FILE, 1, "well-formed XML");
}

TEST(worlds_without_bodies_are_scenery) {
    static const char *const texts[] = {
        "<mujoco/>", "<mujoco><worldbody><geom size='1'/><site name='s'/></worldbody></mujoco>",
        "<mujoco><worldbody><body><site/></body></worldbody></mujoco>"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        AUTO_MODEL *model = load_urdf(*state, texts[i]);
        assert_int_equal(model->joint_count, 0);
        assert_true(model->base == MF_BASE_FIXED && model->mass == 0.0);
        assert_int_equal(find_note(model, "it is scenery") != NULL, i < 2);
    }
}

TEST(ranges_follow_autolimits) {
    AUTO_MODEL *model =
        load_urdf(*state, ROBOT("", "<joint range='-90 180' ref='90' springref='45'/>"
                                    "<joint type='slide' range='-1 2'/>"
                                    "<joint range='0 1' limited='false'/>"
                                    "<geom size='1'/>"));
    assert_near(model->joints[0].lower, -PI / 2, 1e-15);
    assert_near(model->joints[0].upper, PI, 1e-15);
    assert_near(model->joints[0].reference, PI / 2, 1e-15);
    assert_near(model->joints[0].spring_reference, PI / 4, 1e-15);
    assert_near(model->joints[1].upper, 2, 0);
    assert_true(isinf(model->joints[2].upper));
}

// Servos: reflected mass of a hinge with inertia 2 + armature 1 behind a gear of 2 is 3/4.
TEST(servos_and_their_damping) {
    AUTO_MODEL *model = load_urdf(
        *state,
        "<mujoco><default><position kp='7'/></default><worldbody><body><joint name='j' range='-90 "
        "90' armature='1'/><inertial pos='0 0 0' mass='1' diaginertia='2 2 2'/></body>"
        "</worldbody><actuator><position joint='j' kp='12' dampratio='0.5' gear='2' "
        "inheritrange='0.5'/><position joint='j'/><velocity joint='j' kv='3'/><motor joint='j' "
        "gear='5' ctrlrange='-1 1'/><intvelocity joint='j' kp='2' kv='1' actrange='-1 1'/>"
        "<damper joint='j' kv='4' ctrlrange='0 1'/><cylinder joint='j' timeconst='0.1' area='2' "
        "bias='1 2 3'/></actuator></mujoco>");
    const mf_Actuator *a = model->actuators;
    assert_near(a[0].bias[2], -0.5 * 2 * sqrt(12 * 0.75), 1e-14);
    assert_near(a[0].control_upper, PI / 4, 1e-15);
    assert_near(a[1].gain[0], 7, 0);
    assert_near(a[1].bias[1], -7, 0);
    assert_near(a[2].gain[0], 3, 0);
    assert_near(a[2].bias[2], -3, 0);
    assert_near(a[3].gear[0], 5, 0);
    assert_int_equal(a[4].dynamics, MF_DYNAMICS_INTEGRATOR);
    assert_int_equal(a[4].activation_address, 0);
    assert_near(a[5].gain[2], -4, 0);
    assert_int_equal(a[6].dynamics, MF_DYNAMICS_FILTER);
    assert_near(a[6].time_constant, 0.1, 0);
    assert_near3(a[6].bias, 1, 2, 3, 0);
    assert_int_equal(model->activation_count, 2);
}

// A joint spring with time constant 0.5 and ratio 0.25 on inertia 2: k = I / (t r)^2, b = 2 I / t.
TEST(spring_dampers_are_resolved) {
    AUTO_MODEL *model = load_urdf(*state, ROBOT("", "<joint springdamper='0.5 0.25'/><inertial "
                                                    "pos='0 0 0' mass='1' diaginertia='2 2 2'/>"));
    assert_near(model->joints[0].stiffness, 2 / (0.125 * 0.125), 1e-11);
    assert_near(model->joints[0].damping, 8, 1e-14);
}

TEST(equalities_and_tendons) {
    AUTO_MODEL *model = load_urdf(
        *state,
        "<mujoco><compiler angle='radian'/><worldbody><body name='a' pos='1 0 0'><joint name='j' "
        "ref='2'/><geom size='1'/></body><body name='b' pos='0 1 0' euler='0 0 "
        "1.5707963267948966'><joint name='k'/><geom size='1'/></body></worldbody>"
        "<tendon><fixed name='t' range='0 1'><joint joint='j' coef='3'/><joint joint='k' "
        "coef='-1'/></fixed></tendon><equality><connect body1='a' body2='b' anchor='0 0 1'/>"
        "<weld body1='a'/><joint joint1='j' joint2='k' polycoef='0 2'/></equality></mujoco>");
    assert_near(model->tendons[0].spring_lower, 0, 0); // springs are at rest at 0, not at ref
    assert_int_equal(model->tendon_term_count, 2);
    // The anchor is at (1, 0, 1) in the world, so in b at R(-90) (1, -1, 1) = (-1, -1, 1).
    assert_near3(model->equalities[0].frames[1].position, -1, -1, 1, 1e-15);
    // The world, seen from a.
    assert_near3(model->equalities[1].frames[0].position, -1, 0, 0, 1e-15);
    assert_int_equal(model->equalities[1].frames[1].link, MF_NONE);
    assert_near(model->equalities[2].coefficients[1], 2, 0);
    assert_int_equal(model->equalities[2].objects[1], 1);
}

TEST(keyframes_fill_in_what_is_left_out) {
    AUTO_MODEL *model = load_urdf(
        *state, "<mujoco><size nkey='3'/><worldbody><body pos='0 0 2'><freejoint/><geom size='1'/>"
                "<body><joint name='j'/><geom size='1'/></body></body></worldbody><actuator><motor "
                "joint='j'/></actuator><keyframe><key name='up' time='1.5' qvel='1 2 3 4 5 6 7'/>"
                "<key name='down' qpos='0 0 0 1 0 0 0 0.5' ctrl='2'/></keyframe></mujoco>");
    assert_int_equal(model->keyframe_count, 3);
    assert_int_equal(mf_model_find(model, MF_ITEM_KEYFRAME, "down"), 1);
    assert_near(model->keyframes[0].time, 1.5, 0);
    assert_near3(model->keyframes[0].position, 0, 0, 2, 0);
    assert_near(model->keyframes[0].velocity[6], 7, 0);
    assert_near(model->keyframes[1].position[7], 0.5, 0);
    assert_near(model->keyframes[1].control[0], 2, 0);
    assert_near3(model->keyframes[2].position, 0, 0, 2, 0);
}

// Dropping an actuator must not shift the controls of the others.
TEST(lenient_keyframes_keep_their_controls) {
    AUTO_MODEL *model = load_text_with(
        *state,
        "<mujoco><worldbody><body><joint name='j'/><geom size='1'/></body></worldbody>"
        "<actuator><general joint='j' gaintype='user'/><motor name='m' joint='j'/></actuator>"
        "<sensor><actuatorpos actuator='m'/></sensor>"
        "<keyframe><key ctrl='1 2'/></keyframe></mujoco>",
        &WITH(mf_import_config(), .lenient = true));
    assert_int_equal(model->actuator_count, 1);
    assert_near(model->keyframes[0].control[0], 2, 0);
    assert_int_equal(model->sensors[0].actuator, 0);
}

TEST(gravity_compensation_is_summed) {
    AUTO_MODEL *model =
        load_urdf(*state, ROBOT("", "<joint/><geom size='1' mass='2'/><body pos='1 0 0' "
                                    "gravcomp='0.5'><geom size='1' mass='4'/></body>"));
    assert_near(model->links[1].lift_mass, 2, 0);
    assert_near3(model->links[1].lift_moment, 2, 0, 0, 0);
    assert_near(model->links[1].mass, 6, 1e-15);
}

TEST(includes_resolve_against_the_main_file) {
    char main_path[512], part[512], mesh[512];
    write_text(mesh, "inc/meshes/tet.obj",
               "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    write_text(part, "inc/parts/asset.xml",
               "<mujocoinclude><compiler meshdir='meshes'/><asset><mesh file='tet.obj'/></asset>"
               "</mujocoinclude>");
    write_text(main_path, "inc/robot.xml",
               "<mujoco><include file='parts/asset.xml'/><worldbody><body><freejoint/><geom "
               "type='mesh' mesh='tet'/></body></worldbody></mujoco>");
    mf_Model *model = load_file(*state, main_path, NULL);
    assert_near(model->mass, 1000 / 6.0, 1e-10);
    assert_string_equal(model->meshes[0].name, "tet");
    mf_model_destroy(model);
    remove(main_path);
    remove(part);
    remove(mesh);
}

// A model with something of everything, written and loaded again, is the same model.
TEST(export_comes_back_bit_for_bit) {
    static const char text[] =
        "<mujoco model='all'><compiler angle='degree'/><option timestep='0.003' gravity='0 0 -3.7' "
        "cone='elliptic' wind='1 0 0'><flag eulerdamp='disable'/></option><asset><mesh name='m' "
        "scale='0.1 0.2 0.3' refpos='0.1 0 0' vertex='0 0 0 1 0 0 0 1 0 0 0 1 1 1 1'/><hfield "
        "name='h' nrow='2' ncol='3' size='1 1 0.5 0.1' elevation='0 1 2 3 4 5'/></asset><worldbody>"
        "<geom type='plane' size='0 0 1'/><geom type='hfield' hfield='h' pos='5 0 0'/><body "
        "name='a' pos='0.1 0.2 0.3' euler='10 20 30'><freejoint/><geom name='g' type='capsule' "
        "size='0.1' fromto='0 0 0 0.3 0.4 0.5'/><body pos='0.7 0 0' euler='0 0 33'><joint name='x' "
        "axis='1 2 3' pos='0.1 0.2 0.3' range='-40 50' ref='10' stiffness='2' "
        "springref='5'/><joint name='y' type='slide' axis='0 1 1' range='-1 1'/><joint name='z' "
        "axis='3 2 1' pos='0.3 0.1 0.7'/>"
        "<geom name='k' type='mesh' mesh='m'/><site name='s' pos='0.1 0 0' euler='1 2 3'/><body "
        "euler='7 8 9' pos='0 0 0.1'><geom type='box' size='0.1 0.2 0.3' axisangle='1 1 0 "
        "77'/><body name='e'><joint name='ball' type='ball' range='0 60' damping='1'/><geom "
        "type='ellipsoid' size='0.1 0.2 "
        "0.3'/></body></body></body></body></worldbody><contact><exclude body1='a' "
        "body2='e'/><pair geom1='g' geom2='k' condim='4'/></contact><tendon><fixed name='t' "
        "stiffness='3'><joint joint='x' coef='1'/><joint joint='z' coef='-0.3'/></fixed></tendon>"
        "<equality><weld body1='a' body2='e'/><connect body1='e' anchor='0.1 0.2 0.3'/><joint "
        "joint1='x' joint2='z'/></equality><actuator><position joint='x' kp='10' dampratio='0.7'/>"
        "<motor site='s' gear='1 2 3 4 5 6'/><intvelocity tendon='t' kp='3' actrange='-1 1'/>"
        "</actuator><sensor><gyro site='s' noise='0.1'/><framepos objtype='body' objname='e' "
        "reftype='xbody' refname='a'/><framequat objtype='geom' objname='g'/><subtreecom body='a'/>"
        "<tendonpos tendon='t'/><clock/></sensor><keyframe><key name='k' qpos='1 2 3 0.5 0.5 0.5 "
        "0.5 0.1 0.2 0.3 1 0 0 0'/></keyframe></mujoco>";
    AUTO_MODEL *model = load_urdf(*state, text), *again = written_and_read(*state, model);
    assert_int_equal(again->body_count, model->body_count);
    assert_int_equal(again->equality_count, 3);
    for (uint32_t i = 0; i < model->position_count; i++)
        assert_true(model->keyframes[0].position[i] == again->keyframes[0].position[i]);
    // The hash sees a change that only full dynamics feels.
    ((mf_Joint *)again->joints)[0].armature += 1e-9;
    assert_true(mf_model_hash(model) != mf_model_hash(again));
}

TEST(urdf_is_not_written_as_mjcf) {
    AUTO_MODEL *model =
        load_urdf(*state, "<robot name='r'><link name='a'><inertial><mass value='1'/></inertial>"
                          "</link></robot>");
    assert_int_equal(mf_model_export_mjcf(model, "unwritten.xml", NULL), MF_UNSUPPORTED);
}

TEST(real_models_come_back_bit_for_bit) {
    static const char *const files[] = {"mujoco_models/humanoid.xml",
                                        "mujoco_models/car.xml",
                                        "booster_t1/t1.xml",
                                        "skydio_x2/x2.xml",
                                        "wonik_allegro/right_hand.xml",
                                        "bitcraze_crazyflie_2/cf2.xml",
                                        "robot_soccer_kit/robot_soccer_kit.xml"};
    const char *shared = getenv("MAYFLY_SHARED");
    if (shared == NULL)
        shared = MAYFLY_SOURCE_DIR "/../shared";
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *path = formatted("%s/models/%s", shared, files[i]);
        if (access(path, R_OK) != 0) {
            print_message("skipped: %s is not there\n", path);
            continue;
        }
        AUTO_MODEL *model = load_file(*state, path, NULL);
        mf_model_destroy(written_and_read(*state, model));
    }
}
