// URDF import: what is read, what is repaired with a note, and what is rejected at which line.
#include "model/support.h"
#include "model/points.h"

#include <locale.h>

GROUP_FIXTURE(setup_context, teardown_context);

#define BOX "<collision><geometry><box size='0.2 0.4 0.6'/></geometry></collision>"
#define MASS(m)                                                                                    \
    "<inertial><mass value='" #m "'/><inertia ixx='1e-3' iyy='1e-3' izz='1e-3'/></inertial>"
#define JOINT(name, type, parent, child)                                                           \
    "<joint name='" name "' type='" type "'><parent link='" parent "'/><child link='" child "'/>"  \
    "<limit lower='-1' upper='2' velocity='3' effort='4'/>"
#define LINK_A "<link name='a'>" MASS(1) "</link>"
#define LINK_B "<link name='b'>" MASS(1) "</link>"
#define LINK_C "<link name='c'>" MASS(1) "</link>"
#define LINK_D "<link name='d'>" MASS(1) "</link>"
#define JOINT_J JOINT("j", "revolute", "a", "b")
#define JOINT_K JOINT("k", "revolute", "a", "c")

// ---- input -------------------------------------------------------------------------------------

TEST(joints_keep_what_the_file_says) {
    AUTO_MODEL *model = load_urdf(
        *state, "<robot name='r'>" LINK_A LINK_B JOINT_J
                "<origin xyz='1 2 3' rpy='0 0 3.14159265358979323846'/><axis xyz='0 0 -2'/>"
                "<dynamics damping='0.5' friction='0.25'/></joint></robot>");
    const mf_Joint *joint = &model->joints[0];
    assert_string_equal(model->name, "r");
    assert_string_equal(joint->name, "j");
    assert_int_equal(joint->type, MF_JOINT_HINGE);
    assert_near3(joint->position, 1.0, 2.0, 3.0, 0.0);
    assert_near(fabs(joint->rotation[3]), 1.0, 1e-15);
    assert_near3(joint->axis, 0.0, 0.0, -1.0, 0.0);
    assert_true(joint->lower == -1.0 && joint->upper == 2.0 && joint->speed == 3.0 &&
                joint->effort == 4.0 && joint->damping == 0.5 && joint->friction == 0.25);
    assert_int_equal(joint->mimic, MF_NONE);
    assert_note(model, false, 1, "axis scaled to length 1");
}

TEST(every_joint_type_is_known) {
    static const struct {
        const char *name;
        mf_JointType type;
    } types[] = {{"revolute", MF_JOINT_HINGE},  {"continuous", MF_JOINT_HINGE},
                 {"prismatic", MF_JOINT_SLIDE}, {"floating", MF_JOINT_FLOATING},
                 {"planar", MF_JOINT_PLANAR},   {"spherical", MF_JOINT_BALL},
                 {"ball", MF_JOINT_BALL}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        AUTO_MODEL *model = load_urdf(
            *state,
            formatted("<robot name='r'>" LINK_A LINK_B
                      "<joint name='j' type='%s'><parent link='a'/><child link='b'/>"
                      "<limit lower='-1' upper='1' velocity='1' effort='1'/></joint></robot>",
                      types[i].name));
        assert_int_equal(model->joints[0].type, types[i].type);
        assert_true((isinf(model->joints[0].lower) != 0) == (i != 0 && i != 2));
    }
}

TEST(fixed_links_merge_into_their_parents) {
    const char *const text =
        "<robot name='r'>" LINK_A "<link name='b'><inertial><origin xyz='0 0 1'/><mass value='3'/>"
        "<inertia ixx='0.1' iyy='0.2' izz='0.2'/></inertial>" BOX "</link>" LINK_C
        "<joint name='f' type='fixed'><parent link='a'/><child link='b'/>"
        "<origin xyz='1 0 0' rpy='0 1.57079632679489661923 0'/></joint>" JOINT(
            "j", "revolute", "b",
            "c") "<origin xyz='0 0 2'/></joint><gazebo reference='b'><sensor name='skin' "
                 "type='contact'/>"
                 "</gazebo></robot>";
    AUTO_MODEL *model = load_urdf(*state, text);
    assert_int_equal(model->link_count, 2);
    assert_int_equal(model->joint_count, 1);
    // b's z points along a's x: its center of mass is at x = 2, the next joint at x = 3.
    assert_near(model->links[0].mass, 4.0, 1e-12);
    assert_near3(model->links[0].center, 1.5, 0.0, 0.0, 1e-12);
    assert_near3(model->joints[0].position, 3.0, 0.0, 0.0, 1e-12);
    assert_int_equal(model->sensors[mf_model_find(model, MF_ITEM_SENSOR, "skin")].link, 0);
    // Turned by 90 degrees about y, b's x axis is a's -z: I_zz of a gets 0.1 from b; both parts
    // are 1.5 and 0.5 from the common center: 1 * 2.25 + 3 * 0.25 = 3.
    assert_near3(model->links[0].inertia, 0.001 + 0.2, 0.001 + 0.2 + 3.0, 0.001 + 0.1 + 3.0, 1e-12);
    assert_note(model, false, 0, "1 fixed joint merged");
    mf_model_destroy(model);
    model = load_text_with(*state, text, &WITH(mf_import_config(), .keep_fixed = true));
    assert_int_equal(model->link_count, 3);
    assert_int_equal(model->joints[0].type, MF_JOINT_FIXED);
}

#define FOLLOWER JOINT("j1", "revolute", "a", "b")
#define LEADER JOINT("j2", "revolute", "b", "c")
#define FREE JOINT("j3", "revolute", "c", "d")

TEST(mimic_chains_end_at_a_free_joint) {
    AUTO_MODEL *model = load_urdf(
        *state, "<robot name='r'>" LINK_A LINK_B LINK_C LINK_D FOLLOWER
                "<mimic joint='j2' multiplier='-2' offset='1'/></joint>" LEADER
                "<mimic joint='j3' multiplier='3' offset='0.5'/></joint>" FREE "</joint></robot>");
    const mf_Joint *first = joint_named(model, "j1");
    const mf_Joint *second = joint_named(model, "j2");
    uint32_t free_one = mf_model_find(model, MF_ITEM_JOINT, "j3");
    assert_int_equal(first->mimic, free_one);
    assert_int_equal(second->mimic, free_one);
    // j1 = -2 (3 x + 0.5) + 1 = -6 x
    assert_near(first->multiplier, -6.0, 0.0);
    assert_near(first->offset, 0.0, 1e-15);
    assert_near(model->start_angle[0], 0.0, 1e-15);
    assert_near(model->start_angle[1], 0.5, 1e-15);
}

TEST(shapes_become_contact_points) {
    AUTO_MODEL *model = load_urdf(
        *state,
        "<robot name='r'><link name='a'>" MASS(
            1) "<collision><geometry><box size='2 2 2'/></geometry></collision>"
               "<collision><geometry><cylinder radius='1' length='2'/></geometry></collision>"
               "<collision><origin xyz='0 0 -5'/><geometry><sphere "
               "radius='0.5'/></geometry></collision>"
               "<collision><origin xyz='0 0 3'/><geometry><sphere "
               "radius='0.005'/></geometry></collision>"
               "<collision><geometry><capsule radius='1' length='2'/></geometry></collision>"
               "<visual><geometry><sphere radius='9'/></geometry></visual></link></robot>");
    uint32_t touching = 0;
    for (uint32_t i = 0; i < model->point_count; i++)
        touching += (model->points[i].flags & MF_POINT_COLLIDES) != 0;
    assert_int_equal(touching, 8 + 8 + 6 + 1 + 10);
    assert_near(model->rest_height, 5.5, 1e-15);
    assert_int_equal(model->shape_count, 6);
    assert_true(model->shapes[5].visual && !model->shapes[5].collides);
}

TEST(colors_come_from_named_global_and_local_materials) {
    AUTO_MODEL *model = load_urdf(
        *state,
        "<robot name='r'><material name='red'><color rgba='1 0 0 1'/></material>"
        "<link name='a'>" MASS(
            1) "<visual><geometry><box size='1 1 1'/></geometry><material name='red'/></visual>"
               "<visual><geometry><box size='1 1 1'/></geometry><material name='blue'>"
               "<color rgba='0 0 1 1'/></material></visual>"
               "<visual><geometry><box size='1 1 1'/></geometry><material name='blue'/></visual>"
               "<visual><geometry><box size='1 1 1'/></geometry></visual></link></robot>");
    assert_true(model->shapes[0].color[0] == 1.0f && model->shapes[0].color[2] == 0.0f);
    assert_true(model->shapes[1].color[2] == 1.0f && model->shapes[2].color[2] == 1.0f);
    assert_true(model->shapes[3].color[0] == model->shapes[3].color[2]); // gray
}

TEST(a_uniform_box_needs_nine_points) {
    // m/12 (b^2 + c^2) with m = 12, edges 0.2, 0.4, 0.6.
    AUTO_MODEL *model = load_urdf(
        *state, "<robot name='r'><link name='a'><inertial><mass value='12'/>"
                "<inertia ixx='0.52' iyy='0.4' izz='0.2'/></inertial>" BOX "</link></robot>");
    assert_int_equal(model->point_count, 9);
    assert_near3(model->links[0].inertia, 0.52, 0.4, 0.2, 1e-14);
    assert_near(model->points[0].mass, 0.5, 1e-14); // m / 24
    assert_near(model->points[8].mass, 8.0, 1e-14); // 2 m / 3
    assert_int_equal(model->points[8].flags, MF_POINT_HAS_MASS);
}

TEST(a_general_inertia_is_exact) {
    AUTO_MODEL *model = load_urdf(
        *state,
        "<robot name='r'><link name='a'><inertial><origin xyz='0.01 0.02 0.03'/>"
        "<mass value='2'/><inertia ixx='0.02' iyy='0.03' izz='0.04' ixy='0.001' ixz='0.002' "
        "iyz='-0.003'/></inertial>" BOX "</link></robot>");
    const mf_Link *link = &model->links[0];
    assert_int_equal(model->point_count, 12);
    assert_near(link->mass, 2.0, 1e-12);
    assert_near3(link->center, 0.01, 0.02, 0.03, 1e-12);
    assert_near3(link->inertia, 0.02, 0.03, 0.04, 1e-12);
    assert_near3(link->inertia + 3, 0.001, 0.002, -0.003, 1e-12);
    assert_int_equal(model->note_count, 1); // only the contact sensor
}

// A rod of length l: its tip carries m/4 and a point at l/3 from the other end the rest.
TEST(a_rod_puts_mass_on_its_tip) {
    AUTO_MODEL *model = load_urdf(
        *state,
        "<robot name='r'><link name='a'><inertial><origin xyz='0 0 -0.5'/><mass value='1.2'/>"
        "<inertia ixx='0.1' iyy='0.1' izz='0'/></inertial><collision><origin xyz='0 0 -1'/>"
        "<geometry><sphere radius='0.004'/></geometry></collision>"
        "<visual><origin xyz='0 0 -0.5'/><geometry><box size='0.01 0.01 1'/></geometry>"
        "</visual></link></robot>");
    assert_int_equal(model->point_count, 2);
    assert_near(model->points[0].mass, 0.3, 1e-12);
    assert_int_equal(model->points[0].flags, MF_POINT_COLLIDES | MF_POINT_HAS_MASS);
    assert_near3(model->points[1].position, 0.0, 0.0, -1.0 / 3, 1e-12);
    assert_near3(model->links[0].inertia, 0.1, 0.1, 0.0, 1e-12);
}

TEST(light_links_take_fewer_points_within_the_budget) {
    AUTO_MODEL *model =
        load_urdf(*state, "<robot name='r'><link name='a'><inertial><mass value='10'/>"
                          "<inertia ixx='0.5' iyy='0.5' izz='0.6'/></inertial></link>"
                          "<link name='b'><inertial><mass value='0.1'/>"
                          "<inertia ixx='1e-5' iyy='2e-5' izz='2e-5'/></inertial></link>" JOINT_J
                          "<origin xyz='1 0 0'/></joint></robot>");
    assert_int_equal(model->point_count, 5);
    assert_near(model->links[1].mass, 0.1, 1e-15);
    assert_near3(model->links[1].inertia, 1e-5, 2e-5, 2e-5, 1e-18); // full dynamics has it all
    assert_note(model, false, 0, "1 light link is represented by one or two mass points");
    assert_note(model, true, 0, "nothing collides");
}

TEST(sensors_are_read) {
    AUTO_MODEL *model =
        load_urdf(*state, "<robot name='r'><link name='a'>" MASS(1) BOX
                  "</link>"
                  "<gazebo reference='a'><sensor name='eye' type='ray'>"
                  "<pose>0 0 1 0 1.57079632679489661923 0</pose><ray><scan/><range><max>2.5</max>"
                  "</range></ray></sensor><sensor name='skin' type='contact'/>"
                  "<sensor name='gyro' type='imu'/></gazebo></robot>");
    const mf_Sensor *eye = &model->sensors[mf_model_find(model, MF_ITEM_SENSOR, "eye")];
    assert_int_equal(eye->type, MF_SENSOR_RAY);
    assert_near3(eye->start, 0.0, 0.0, 1.0, 1e-15);
    assert_near3(eye->direction, 0.0, 0.0, -1.0, 1e-15);
    assert_near(eye->range, 2.5, 0.0);
    assert_int_equal(model->sensors[mf_model_find(model, MF_ITEM_SENSOR, "skin")].type,
                     MF_SENSOR_CONTACT);
    assert_int_equal(model->sensor_count, 2);
    assert_note(model, false, 1, "sensor 'gyro' of type 'imu' ignored");
}

TEST(leaf_links_get_contact_sensors_by_default) {
    AUTO_MODEL *model = load_urdf(*state, "<robot name='r'><link name='a'>" MASS(1) BOX
                                  "</link><link name='b'>" MASS(1) BOX
                                  "</link>" LINK_C JOINT_J "</joint>" JOINT_K "</joint></robot>");
    assert_int_equal(model->sensor_count, 1);
    assert_string_equal(model->sensors[0].name, "b");
    assert_note(model, false, 0, "1 leaf link got one each");
}

TEST(a_floating_world_is_left_out) {
    AUTO_MODEL *model =
        load_urdf(*state, "<robot name='r'><link name='world'/><link name='trunk'>" MASS(
                              1) "</link>"
                                 "<joint name='free' type='floating'><parent link='world'/>"
                                 "<child link='trunk'/></joint></robot>");
    assert_int_equal(model->link_count, 1);
    assert_string_equal(model->links[0].name, "trunk");
    assert_note(model, false, 1, "represents the world");
}

TEST(unknown_elements_are_reported_once_per_kind) {
    AUTO_MODEL *model = load_urdf(*state, "<robot name='r'>" LINK_A "\n<transmission name='t'/>\n"
                                          "<transmission name='u'/>\n<gazebo><plugin/></gazebo>\n"
                                          "<sensor name='eye'/></robot>");
    assert_note(model, false, 2, "<transmission> in <robot> ignored (2 times)");
    assert_note(model, false, 4, "<plugin> in <gazebo> ignored");
    assert_note(model, false, 5, "<sensor> 'eye' in <robot> ignored");
}

// Every element of links and joints in turn has an attribute, and then an element, that URDF does
// not know: a note names each. What only pictures need is left out.
TEST(nothing_is_ignored_in_silence) {
    static const char *const text =
        "<robot name='r'><link name='a'><inertial><origin xyz='0 0 0.1'/><mass value='1'/>"
        "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
        "<collision><origin rpy='0 0 1'/><geometry><box size='1 1 1'/></geometry></collision>"
        "<contact><lateral_friction value='0.5'/></contact></link>"
        "<link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' "
        "ixz='0' iyz='0'/></inertial></link><link name='c'><inertial><mass value='1'/><inertia "
        "ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
        "<joint name='j' type='revolute'><origin xyz='0 0 1'/><parent link='a'/><child link='b'/>"
        "<axis xyz='0 0 1'/><limit lower='0' upper='1' effort='2' velocity='3'/><dynamics "
        "damping='1' friction='1'/></joint><joint name='k' type='revolute'><parent link='a'/>"
        "<child link='c'/><limit lower='0' upper='1' effort='2' velocity='3'/><mimic joint='j' "
        "multiplier='2' offset='1'/></joint></robot>";
    uint32_t tried = 0;
    for (const char *at = strstr(text, "<link"); at != NULL; at = strchr(at + 1, '<')) {
        char changed[4096], name[40], phrase[80];
        const int length = (int)strcspn(at + 1, " />");
        if (at[1] == '/')
            continue;
        snprintf(name, sizeof name, "%.*s", length, at + 1);
        snprintf(changed, sizeof changed, "%.*s strange='7'%s", (int)(at - text) + 1 + length, text,
                 at + 1 + length);
        mf_Model *model = load_urdf(*state, changed);
        snprintf(phrase, sizeof phrase, "<%s> strange ignored", name);
        assert_note(model, false, 1, phrase);
        mf_model_destroy(model);
        if (strcspn(at, ">") > 0 && at[strcspn(at, ">") - 1] == '/')
            continue; // nothing can be inside
        snprintf(changed, sizeof changed, "%.*s<strange/>%s", (int)(strchr(at, '>') - text) + 1,
                 text, strchr(at, '>') + 1);
        model = load_urdf(*state, changed);
        snprintf(phrase, sizeof phrase, "<strange> in <%s> ignored", name);
        assert_note(model, false, 1, phrase);
        mf_model_destroy(model);
        tried++;
    }
    assert_true(tried > 10);
    AUTO_MODEL *model = load_urdf(*state, text);
    assert_int_equal(model->note_count, 0);
}

TEST(numbers_do_not_depend_on_the_locale) {
    // Skipped in effect where no such locale is installed; the parse must be right either way.
    setlocale(LC_ALL, "de_DE.UTF-8");
    AUTO_MODEL *model =
        load_urdf(*state, "<robot name='r'><link name='a'><inertial><mass value='1.5e0'/>"
                          "</inertial>" BOX "</link></robot>");
    setlocale(LC_ALL, "C");
    assert_near(model->mass, 1.5, 1e-15);
}

TEST(links_without_inertial_can_be_weighed_by_density) {
    mf_ImportConfig config = WITH(mf_import_config(), .density = 1000.0);
    AUTO_MODEL *model =
        load_text_with(*state, "<robot name='r'><link name='a'>" BOX "</link></robot>", &config);
    assert_near(model->mass, 48.0, 1e-12);
    assert_int_equal(model->point_count, 9); // a uniform box
    assert_note(model, false, 1, "mass from the given density");
}

// ---- repairs -----------------------------------------------------------------------------------

static mf_Model *with_inertia(void **state, const char *inertia) {
    return load_urdf(
        *state,
        formatted("<robot name='r'>\n<link name='a'>\n<inertial><mass value='12'/>%s</inertial>" BOX
                  "</link></robot>",
                  inertia));
}

// The nearest inertia whose second moments are not negative: with moments of inertia a, b, c the
// second moments are (b + c - a) / 2 and so on. A mass point that turns alone gets a box.
TEST(impossible_inertias_are_repaired) {
    static const struct {
        const char *inertia, *names;
        double right[6];
    } cases[] = {
        {"", "inertia is zero", {0.52, 0.4, 0.2}},
        {"<inertia ixx='0' iyy='0' izz='0'/>", "inertia is zero", {0.52, 0.4, 0.2}},
        {"<inertia ixx='-0.1' iyy='0.1' izz='0.1'/>", "not positive", {0, 0.15, 0.15}},
        {"<inertia ixx='0.1' iyy='0.1' izz='0.1' ixy='0.5'/>",
         "not positive",
         // moments 0.6, -0.4, 0.1 along (1 1 0), (1 -1 0), z: seconds -0.45, 0.55, 0.05
         {0.325, 0.325, 0.55, 0.275}},
        {"<inertia ixx='0.1' iyy='0.1' izz='0.3'/>", "triangle inequality", {0.15, 0.15, 0.3}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_MODEL *model = with_inertia(state, cases[i].inertia);
        const double *right = cases[i].right;
        assert_note(model, true, i < 2 ? 2 : 3, cases[i].names);
        assert_near3(model->links[0].inertia, right[0], right[1], right[2], 1e-12);
        assert_near(model->links[0].inertia[3], right[3], 1e-12);
        assert_near(model->mass, 12.0, 1e-12);
    }
}

// A radius of gyration beyond the geometry is legal; the geometry gives the inertia where asked.
TEST(large_inertias_are_kept) {
    static const char text[] =
        "<robot name='r'><link name='a'><inertial><mass value='12'/>"
        "<inertia ixx='9' iyy='9' izz='9'/></inertial>" BOX "</link></robot>";
    mf_ImportConfig config = mf_import_config();
    char path[512];
    for (int k = 0; k < 2; k++) {
        config.inertia = k == 0 ? MF_IMPORT_INERTIA_FILE : MF_IMPORT_INERTIA_GEOMETRY;
        write_bytes(path, "large.urdf", text, sizeof text - 1);
        AUTO_MODEL *model = load_file(*state, path, &config);
        remove(path);
        assert_note(model, true, 1, k == 0 ? "kept" : "replaced by those of uniform boxes");
        assert_near3(model->links[0].inertia, k == 0 ? 9 : 0.52, k == 0 ? 9 : 0.4, k == 0 ? 9 : 0.2,
                     1e-12);
    }
}

// A mass point on a lever is a pendulum of inertia m r^2; on the axis of its joint it needs a size.
TEST(mass_points_are_legal) {
    static const char *const ats[] = {"0.3 0 0", "0 0.3 0"}; // the axis is y
    for (int k = 0; k < 2; k++) {
        AUTO_MODEL *model = load_urdf(
            *state,
            formatted("<robot name='r'>" LINK_A "<link name='b'><inertial>"
                      "<origin xyz='%s'/><mass value='12'/></inertial>" BOX "</link>"
                      "<joint name='j' type='continuous'><parent link='a'/><child link='b'/>"
                      "<axis xyz='0 1 0'/></joint></robot>",
                      ats[k]));
        assert_near(model->links[1].inertia[1], k == 0 ? 0.0 : 0.4, 1e-12);
        assert_true((find_note(model, "inertia is zero") != NULL) == (k == 1));
    }
}

TEST(possible_inertias_are_left_alone) {
    AUTO_MODEL *model = with_inertia(state, "<inertia ixx='0.3' iyy='0.3' izz='0.3'/>");
    assert_near3(model->links[0].inertia, 0.3, 0.3, 0.3, 1e-12);
    assert_null(find_note(model, "inertia"));
}

TEST(massless_links_are_reported) {
    AUTO_MODEL *model =
        load_urdf(*state, "<robot name='r'>" LINK_A "\n<link name='b'/>\n"
                          "<link name='c'><inertial><mass value='0'/></inertial></link>" JOINT_J
                          "</joint>" JOINT_K "</joint></robot>");
    assert_note(model, false, 2, "2 links have no mass in the file ('b' is the first): massless");
    assert_true(model->links[1].mass == 0.0);
}

// For kinematics; the density of links without mass makes bodies of them.
TEST(files_without_mass_load) {
    static const char text[] = "<robot name='r'><link name='a'>" BOX "</link></robot>";
    mf_ImportConfig config = mf_import_config();
    for (int k = 0; k < 2; k++) {
        char path[512];
        config.density = k == 0 ? 0.0 : 100.0;
        write_bytes(path, "weightless.urdf", text, sizeof text - 1);
        AUTO_MODEL *model = load_file(*state, path, &config);
        remove(path);
        assert_near(model->mass, k == 0 ? 0.0 : 4.8, 1e-12);
        assert_true((find_note(model, "no link has a mass") != NULL) == (k == 0));
    }
}

// Gazebo's and Bullet's.
TEST(friction_of_links_is_read) {
    AUTO_MODEL *model = load_urdf(
        *state, "<robot name='r'><link name='a'>" MASS(1) BOX "</link><link name='b'>" MASS(1) BOX
        "<contact><lateral_friction value='0.3'/><spinning_friction value='1'/></contact></link>"
        "<link name='c'>" MASS(1) BOX "</link>" JOINT_J "</joint>" JOINT(
            "k", "fixed", "a",
            "c") "</joint>"
                 "<gazebo reference='a'><mu1>0.8</mu1><mu2 value='0.8'/><kp>1e6</kp></gazebo>\n"
                 "<gazebo reference='k'><mu1>0.5</mu1><mu2>0.7</mu2></gazebo></robot>");
    double found[3] = {0};
    for (uint32_t i = 0; i < model->shape_count; i++)
        found[i] = model->shapes[i].friction[0];
    assert_int_equal(model->shape_count, 3);
    const double sum = found[0] + found[1] + found[2];
    assert_near(sum, 0.8 + 0.3 + 0.6, 1e-12);
    assert_note(model, false, 2, "link 'c': friction 0.6 in all directions");
    assert_note(model, false, 1, "<kp> in <gazebo> ignored");
    assert_note(model, false, 1, "<spinning_friction> in <contact> ignored");
}

// Links b and c are one, c has two shapes; visual ones are left out.
#define PAIRED(pairs)                                                                              \
    "<robot name='r'><link name='a'>" MASS(1) BOX                                                  \
        "<visual><geometry><sphere radius='1'/>"                                                   \
        "</geometry></visual></link><link name='b'>" MASS(1) "</link><link name='c'>" MASS(1)      \
            BOX BOX                                                                                \
        "</link>" JOINT_J                                                                          \
        "</joint>" JOINT("k", "fixed", "b",                                                        \
                         "c") "</joint>"                                                           \
                              "<gazebo reference='a'><mu1>0.8</mu1></gazebo><mayfly>\n" pairs      \
                              "</mayfly></robot>"

TEST(pairs_of_links_are_read) {
    AUTO_MODEL *model =
        load_urdf(*state, PAIRED("<pair link1='a' link2='c' margin='1e-4'/>"
                                 "<pair link1='c' link2='a' friction='0.5' dimension='4'/>"));
    assert_int_equal(model->pair_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        const mf_ContactPair *pair = &model->pairs[i];
        const mf_Shape *first = &model->shapes[pair->shapes[i / 2]],
                       *second = &model->shapes[pair->shapes[1 - i / 2]];
        assert_true(first->collides && first->link == 0 && second->collides && second->link == 1);
        assert_near(pair->margin, i < 2 ? 1e-4 : 0.0, 0.0);
        assert_near(pair->friction[0], i < 2 ? 1.0 : 0.5, 0.0);
        assert_near(pair->friction[1], pair->friction[0], 0.0);
        assert_int_equal(pair->dimension, i < 2 ? 3 : 4);
    }
    assert_true(model->pairs[0].shapes[1] != model->pairs[1].shapes[1]);
    char *text;
    MUST(mf_model_describe(model, &text, &error));
    assert_contains(text, "pairs that touch 4");
    mf_release(*state, text);
}

TEST(missing_limits_are_reported) {
    AUTO_MODEL *model =
        load_urdf(*state, "<robot name='r'>" LINK_A LINK_B
                          "<joint name='j' type='revolute'><parent link='a'/><child link='b'/>\n"
                          "<limit lower='1' upper='1' velocity='0'/></joint></robot>");
    assert_note(model, true, 2, "range is empty");
    assert_note(model, true, 2, "velocity missing or 0");
    assert_true(isinf(model->joints[0].speed) && isinf(model->joints[0].effort));
    assert_near(model->start_angle[0], 1.0, 0.0);
}

// ---- rejected input ----------------------------------------------------------------------------

TEST(broken_numbers_are_refused) {
    static const char *const values[] = {"nan", "inf", "-inf", "1e999", "0x10", "",
                                         "1 2", "one", "1,5",  "--1",   "1e",   "."};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        assert_refused(
            *state,
            formatted(
                "<robot name='r'><link name='a'><inertial>\n<mass value='%s'/></inertial></link>"
                "</robot>",
                values[i]),
            MF_BAD_FILE, 2, "expected 1 finite number");
    }
}

// What other readers take too: each with a note.
TEST(slips_of_writers_are_noted) {
    AUTO_MODEL *model = load_urdf(
        *state,
        "<robot name='r'>" LINK_A LINK_B "\n"
        "<joint name='j' type='revolute'><parent link='a'/><child link='b'/>\n"
        "<limit lower='1' upper='-1' velocity='1' effort='1'/>\n<mimic joint='x'/></joint>\n"
        "<gazebo reference='x'><sensor name='s' type='contact'/></gazebo>"
        "<gazebo reference='j'><sensor name='t' type='contact'/></gazebo></robot>");
    assert_note(model, true, 3, "lower > upper, treated as unlimited");
    assert_note(model, true, 4, "follows 'x', which does not exist");
    assert_note(model, true, 5, "there is no link or joint 'x'");
    assert_true(isinf(model->joints[0].lower) && isinf(model->joints[0].upper));
    assert_int_equal(model->joints[0].mimic, MF_NONE);
    assert_int_equal(model->sensor_count, 1);
    assert_int_equal(model->sensors[0].link, 1); // the link that the joint moves
}

#define MOVING(inner)                                                                              \
    "<robot name='r'><link name='a'/><link name='b'/><joint name='j' type='revolute'>"             \
    "<parent link='a'/><child link='b'/>\n" inner "</joint></robot>"
#define FIXED_AB JOINT("j", "fixed", "a", "b") "</joint>"
#define FIXED_BA JOINT("k", "fixed", "b", "a") "</joint>"

static const Refusal refusals[] = {
    // trees
    {"<robot name='r'>\n<link name='a'/>\n<link name='b'/>\n</robot>", MF_BAD_FILE, 3,
     "expected one root link, found 'a' and 'b'"},
    {"<robot name='r'>\n<link name='a'/><link name='b'/>\n" FIXED_AB FIXED_BA "</robot>",
     MF_BAD_FILE, 1, "cycle"},
    {"<robot name='r'>\n<link name='z'/>\n<link name='a'/>"
     "<link name='b'/>\n" FIXED_AB FIXED_BA "</robot>",
     MF_BAD_FILE, 3, "'a' is in a cycle"},
    {"<robot name='r'><link name='a'/><link name='b'/><link name='c'/>\n" JOINT(
         "j", "fixed", "a", "c") "</joint>\n" JOINT("k", "fixed", "b", "c") "</joint></robot>",
     MF_BAD_FILE, 3, "two parents: joints 'j' and 'k'"},
    {"<robot name='r'/>", MF_BAD_FILE, 1, "no <link>"},
    {"<robot name='r'>\n<link name='a'/><link name='a'/></robot>", MF_BAD_FILE, 2,
     "two links are named 'a'"},
    {"<robot><link name='a'/>\n" JOINT("j", "fixed", "a", "x") "</joint></robot>", MF_BAD_FILE, 2,
     "no link 'x'"},
    {"<robot><link name='a'/>\n" JOINT("j", "fixed", "a", "a") "</joint></robot>", MF_BAD_FILE, 1,
     "cycle"},
    // followers
    {"<robot name='r'><link name='a'/><link name='b'/><link name='c'/>\n" JOINT_J
     "<mimic joint='k'/></joint>\n" JOINT_K "<mimic joint='j'/></joint></robot>",
     MF_BAD_FILE, 2, "form a cycle"},
    {"<robot name='r'><link name='a'/><link name='b'/><link name='c'/>\n" JOINT_J
     "<mimic joint='j'/></joint>\n" JOINT_K "</joint></robot>",
     MF_BAD_FILE, 2, "form a cycle"},
    // numbers
    {"<robot><link name='a'><collision>\n<origin xyz='1 2'/><geometry><box "
     "size='1 1 1'/></geometry></collision></link></robot>",
     MF_BAD_FILE, 2, "expected 3 finite numbers, found \"1 2\""},
    {"<robot><link name='a'><collision><geometry>\n<box size='1 -1 1'/></geometry>"
     "</collision></link></robot>",
     MF_BAD_FILE, 2, "must be >= 0"},
    {"<robot><link name='a'><collision><geometry>\n<sphere radius='-1'/></geometry>"
     "</collision></link></robot>",
     MF_BAD_FILE, 2, "must be >= 0"},
    // masses
    {"<robot><link name='a'><inertial>\n<mass value='-1'/></inertial></link></robot>", MF_BAD_FILE,
     2, "mass must be >= 0, found -1"},
    {"<robot><link name='a'>\n<inertial/></link></robot>", MF_BAD_FILE, 2, "needs a <mass>"},
    // joints
    {MOVING("<axis xyz='0 0 0'/>"), MF_BAD_FILE, 2, "axis must not be zero"},
    {MOVING("<limit velocity='-1' lower='0' upper='1'/>"), MF_BAD_FILE, 2, "velocity must be >= 0"},
    {MOVING("<dynamics damping='-1'/>"), MF_BAD_FILE, 2, "damping and friction must be >= 0"},
    {"<robot><link name='a'/>\n<joint name='j' type='odd'/></robot>", MF_BAD_FILE, 2,
     "unknown type 'odd'"},
    {"<robot><link name='a'/>\n<joint type='fixed'/></robot>", MF_BAD_FILE, 2,
     "needs the attribute 'name'"},
    // sensors
    {"<robot>" LINK_A "<gazebo reference='a'><sensor name='s' type='contact'/>\n"
     "<sensor name='s' type='contact'/></gazebo></robot>",
     MF_BAD_FILE, 2, "two sensors are named 's'"},
    {"<robot>" LINK_A "<gazebo reference='a'>\n<sensor name='s' type='ray'/></gazebo></robot>",
     MF_BAD_FILE, 2, "needs <ray><range><max>"},
    // pairs
    {PAIRED("<pair link1='a'/>"), MF_BAD_FILE, 2, "needs the attribute 'link2'"},
    {PAIRED("<pair link1='a' link2='x'/>"), MF_BAD_FILE, 2, "<pair> link2: there is no link 'x'"},
    {PAIRED("<pair link1='a' link2='b'/>"), MF_BAD_FILE, 2, "link 'b' has no collision shape"},
    {PAIRED("<pair link1='c' link2='c'/>"), MF_BAD_FILE, 2, "do not move against each other"},
    {PAIRED("<pair link1='a' link2='c' mu='1'/>"), MF_BAD_FILE, 2, "unknown attribute 'mu'"},
    {PAIRED("<pair link1='a' link2='c' margin='-1'/>"), MF_BAD_FILE, 2, "expected a number >= 0"},
    {PAIRED("<pair link1='a' link2='c' dimension='2'/>"), MF_BAD_FILE, 2, "expected 1, 3, 4 or 6"},
    // files
    {"", MF_BAD_FILE, 0, "empty"},
    {"hello", MF_BAD_FILE, 1, "well-formed XML"},
    {"<robot>\n<link name='a'>\n</robot>", MF_BAD_FILE, 3, "well-formed XML"},
    {"<robot><link", MF_BAD_FILE, 1, "well-formed XML"},
    {"<robot name='\xff\xfe'/>", MF_BAD_FILE, 1, "well-formed XML in UTF-8"},
    {"<?xml version='1.0' encoding='latin1'?><robot name='\xe4'/>", MF_BAD_FILE, 1,
     "well-formed XML in UTF-8"},
    {"<!DOCTYPE robot [\n<!ENTITY a 'aaaa'>]><robot name='&a;'/>", MF_BAD_FILE, 2,
     "entity declarations are rejected"},
    {"<!-- <robot> -->\n<sdf version='1'/>", MF_UNSUPPORTED, 0, "sdf2mjcf"},
    {"#usda 1.0\n", MF_UNSUPPORTED, 0, "usd_to_urdf"},
    {"PXR-USDC", MF_UNSUPPORTED, 0, "usd_to_urdf"},
    {"\xff\xfe<", MF_BAD_FILE, 1, "found UTF-16"},
    {"<html/>", MF_BAD_FILE, 1, "expected a URDF <robot>, found <html>"},
    {"<robot xmlns:xacro='x'>\n<link name='a'><xacro:macro/></link></robot>", MF_UNSUPPORTED, 2,
     "xacro FILE > robot.urdf"},
};

TEST(broken_files_are_refused) {
    check_refusals(*state, refusals, sizeof refusals / sizeof *refusals);
    check_refused(*state, "<robot>\0</robot>", 16, MF_BAD_FILE, 1, "well-formed", __LINE__);
}

TEST(deep_and_long_files_are_refused) {
    char text[5000] = "<robot><link name='a'/>\n";
    for (int i = 0; i < 1024; i++)
        strcat(text, "<x>");
    assert_refused(*state, text, MF_LIMIT, 2, "1024 deep");
    char name[300], long_name[500];
    memset(name, 'n', sizeof name);
    name[256] = '\0';
    snprintf(long_name, sizeof long_name, "<robot>\n<link name='%s'/></robot>", name);
    assert_refused(*state, long_name, MF_LIMIT, 2, "at most 255 bytes, found 256");
}

TEST(missing_files_are_refused) {
    mf_Model *model;
    mf_Error error = {0};
    assert_int_not_equal(mf_model_load(*state, "/nowhere/robot.urdf", NULL, &model, &error), MF_OK);
    assert_string_equal(error.file, "/nowhere/robot.urdf");
    assert_null(model);
    mf_ImportConfig config = {0};
    assert_int_equal(mf_model_load(*state, "x", &config, &model, &error), MF_BAD_ARGUMENT);
    config = WITH(mf_import_config(), .mesh_points = 0);
    assert_int_equal(mf_model_load(*state, "x", &config, &model, &error), MF_BAD_ARGUMENT);
}

// ---- our own models ----------------------------------------------------------------------------

TEST(the_hexapod_is_as_documented) {
    AUTO_MODEL *model = load_file(*state, MAYFLY_SOURCE_DIR "/models/hexapod.urdf", NULL);
    assert_int_equal(model->joint_count, 18);
    assert_int_equal(model->point_count, 33);
    assert_int_equal(model->sensor_count, 6);
    assert_near(model->mass, 1.992, 1e-12);
    // 133 mm - 66.1 mm sin 20 degrees
    assert_near(model->rest_height, 0.133 - 0.0661 * 0.34202014332566873, 1e-12);
    assert_near3(model->links[0].inertia, 0.002482, 0.005202, 0.007072, 1e-15);
    uint32_t standing = 0;
    double position[19][3], rotation[19][4];
    mf_model_pose(model, model->start_angle, position, rotation);
    for (uint32_t i = 0; i < model->point_count; i++) {
        const mf_Point *point = &model->points[i];
        if (!(point->flags & MF_POINT_COLLIDES) || model->links[point->link].joint == MF_NONE)
            continue;
        // At angle 0 the tibia frames are only yawed.
        standing +=
            fabs(position[point->link][2] + point->position[2] + model->rest_height) < 1e-12;
    }
    assert_int_equal(standing, 6);
    assert_null(find_note(model, "inertia"));
}

TEST(the_quadruped_is_as_documented) {
    AUTO_MODEL *model = load_file(*state, MAYFLY_SOURCE_DIR "/models/quadruped.urdf", NULL);
    assert_int_equal(model->joint_count, 8);
    assert_int_equal(model->point_count, 19);
    assert_int_equal(model->sensor_count, 4);
    assert_near(model->mass, 1.68, 1e-12);
    assert_near(model->rest_height, 0.2264 * 0.76604444311897804, 1e-12);
    assert_null(find_note(model, "inertia"));
}

TEST(descriptions_name_everything) {
    AUTO_MODEL *model = load_file(*state, MAYFLY_SOURCE_DIR "/models/hexapod.urdf", NULL);
    char *text;
    MUST(mf_model_describe(model, &text, &error));
    for (uint32_t i = 0; i < model->joint_count; i++)
        assert_non_null(strstr(text, model->joints[i].name));
    for (uint32_t i = 0; i < model->link_count; i++)
        assert_non_null(strstr(text, model->links[i].name));
    for (uint32_t i = 0; i < model->note_count; i++)
        assert_non_null(strstr(text, model->notes[i].text));
    assert_non_null(strstr(text, "1.992 kg"));
    assert_non_null(strstr(text, "-34.4 ..   34.4 deg"));
    mf_release(*state, text);
}
