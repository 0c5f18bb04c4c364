// Properties: every path against field and model, patterns, the path of a value, writable
// properties, and hostile paths.
#include "motion/rig.h"

typedef struct Scene {
    mf_Context *context;
    mf_Model *hexapod, *ant;
    mf_World *world;
    mf_Group *robots, *ants;
} Scene;

static mf_Model *load(mf_Context *context, const char *name) {
    mf_Model *model;
    MUST(mf_model_load(context, formatted(MAYFLY_SOURCE_DIR "/models/%s", name),
                       &WITH(mf_import_config(), .lenient = true), &model, &error));
    return model;
}

// Four hexapods that move by points, and three ants with actuators and sensors.
static Scene open_scene(void) {
    Scene scene = {.context = open_context(1)};
    scene.hexapod = load(scene.context, "hexapod.urdf");
    scene.ant = load(scene.context, "ant.xml");
    MUST(mf_world_create(scene.context, NULL, &scene.world, &error));
    mf_GroupConfig config =
        WITH(mf_group_config(), .name = "robot", .model = scene.hexapod, .count = 4);
    scene.robots = add_group(scene.world, &config);
    MUST(mf_motion_add(scene.robots, MF_MOTION_POINTS, NULL, &error));
    mf_SensorsConfig sensors =
        WITH(mf_sensors_config(), .rate = ((mf_Rate){10, 1}), .posture = true);
    MUST(mf_sensors_add(scene.robots, &sensors, &error));
    config.name = "robot2"; // ends with a digit, and looks like an instance of the other
    config.model = scene.ant;
    config.count = 3;
    config.double_precision = true;
    scene.ants = add_group(scene.world, &config);
    MUST(mf_motion_add(scene.ants, MF_MOTION_ARTICULATED, NULL, &error));
    MUST(mf_sensors_add(scene.ants, NULL, &error));
    return scene;
}

static void close_scene(Scene *scene) {
    mf_world_destroy(scene->world);
    mf_model_destroy(scene->hexapod);
    mf_model_destroy(scene->ant);
    close_context(scene->context);
}

static mf_Property find(const Scene *scene, const char *path) {
    mf_Property property;
    MUST(mf_property_find(scene->world, path, &property, &error));
    return property;
}

// Each joint of each robot, by brackets and by number, is the value of the field.
TEST(joints_are_found) {
    AUTO(close_scene) Scene scene = open_scene();
    mf_Field *angle = mf_group_find_field(scene.robots, "joint.angle");
    for (uint32_t j = 0; j < scene.hexapod->joint_count; j++) {
        const mf_Joint *joint = &scene.hexapod->joints[j];
        double value;
        mf_field_set(angle, 3, j, 0.25 + j);
        mf_Property one = find(&scene, formatted("robot[3]/%s/joint.angle", joint->name));
        assert_ptr_equal(one.group, scene.robots);
        assert_int_equal(one.instance, 3);
        assert_int_equal(one.part, MF_PART_JOINT);
        assert_int_equal(one.index, j);
        assert_ptr_equal(one.field, angle);
        assert_int_equal(one.first, j);
        assert_int_equal(one.count, 1);
        assert_string_equal(one.unit, "rad");
        assert_string_equal(one.frame, "joint");
        mf_property_read(&one, &value);
        assert_true(value == 0.25 + j);
        assert_int_equal(find(&scene, formatted("robot3/%s/joint.angle", joint->name)).first, j);
        // Behind the link that it hangs on.
        const mf_Link *parent = &scene.hexapod->links[joint->parent];
        const mf_Link *child = &scene.hexapod->links[joint->child];
        const char *path = formatted("robot3/%s/%s/joint.rate", parent->name, joint->name);
        assert_int_equal(find(&scene, path).first, j);
        path = formatted("robot3/%s/%s/mass", joint->name, child->name);
        assert_true(*find(&scene, path).constant == child->mass);
    }
    mf_Property all = find(&scene, "robot[1]/joint.angle");
    assert_int_equal(all.count, scene.hexapod->joint_count);
    assert_int_equal(all.part, MF_PART_ROBOT);
}

// Another unit is one of the same value: read, written, and in the path that comes back.
TEST(paths_may_name_a_unit) {
    AUTO(close_scene) Scene scene = open_scene();
    mf_Field *angle = mf_group_find_field(scene.robots, "joint.angle");
    const char *joint = scene.hexapod->joints[2].name;
    char path[200];
    double value;
    mf_Property one = find(&scene, formatted("robot[1]/%s/joint.angle:deg", joint));
    assert_string_equal(one.unit, "deg");
    mf_field_set(angle, 1, 2, 0.5);
    mf_property_read(&one, &value);
    assert_near(value, 28.64788975654116, 1e-6);
    value = 90;
    MUST(mf_property_write(&one, &value, &error));
    assert_near(mf_field_get(angle, 1, 2), 1.5707963267948966, 1e-6);
    assert_string_equal(mf_property_path(&one, path, sizeof path),
                        formatted("robot[1]/%s/joint.angle:deg", joint));
    one = find(&scene, "robot[1]/base.angular_velocity.x:rpm");
    value = 60;
    MUST(mf_property_write(&one, &value, &error));
    assert_near(mf_field_get(mf_group_find_field(scene.robots, "base.angular_velocity"), 1, 0),
                6.283185307179586, 1e-6);
    one = find(&scene, formatted("robot[1]/%s/joint.angle:rad", joint));
    assert_string_equal(one.unit, "rad");
    mf_property_read(&one, &value);
    assert_near(value, 1.5707963267948966, 1e-6);
}

// The tree of the figure by hand: what is left out of a path does not matter, its order does.
TEST(paths_follow_the_tree) {
    AUTO(close_scene) Scene scene = open_scene();
    mf_Property property;
    const mf_Model *model = scene.hexapod;
    uint32_t deep = model->link_count - 1; // at the end of the last leg
    const char *own = model->joints[model->links[deep].joint].name;
    const char *above = model->joints[model->links[model->links[deep].parent].joint].name;
    const char *path = formatted("robot0/%s/%s/%s/joint.angle", model->links[0].name, above, own);
    assert_int_equal(find(&scene, path).index, model->links[deep].joint);
    path = formatted("robot0/%s/%s/joint.angle", own, above); // upside down
    MUST_FAIL(mf_property_find(scene.world, path, &property, &error), MF_NOT_FOUND, "");
    path = formatted("robot0/%s/%s/joint.angle", model->links[deep].name, own);
    MUST_FAIL(mf_property_find(scene.world, path, &property, &error), MF_NOT_FOUND, "");
}

TEST(components_and_names_of_groups) {
    AUTO(close_scene) Scene scene = open_scene();
    mf_Property property;
    assert_int_equal(find(&scene, "robot[1]/base.position").count, 3);
    assert_int_equal(find(&scene, "robot[1]/base.position.z").first, 2);
    assert_int_equal(find(&scene, "robot[1]/base.position[1]").first, 1);
    assert_int_equal(find(&scene, "robot[1]/base.orientation.w").first, 0);
    assert_int_equal(find(&scene, "robot[1]/base.orientation.z").first, 3);
    assert_int_equal(find(&scene, "robot[1]/joint.angle[5]").first, 5);
    // robot2 is the group of that name; instance 2 of the other one needs brackets.
    assert_ptr_equal(find(&scene, "robot2[1]/base.position").group, scene.ants);
    assert_ptr_equal(find(&scene, "robot21/base.position").group, scene.ants);
    assert_ptr_equal(find(&scene, "robot[2]/base.position").group, scene.robots);
    MUST_FAIL_AS(
        mf_property_find(scene.world, "robot2/base.position", &property, &error), MF_BAD_ARGUMENT,
        "property robot2/base.position: may be robot2[0]/base.position or robot2[1]/base.position");
    assert_true(*find(&scene, "robot[0]/mass").constant == scene.hexapod->mass);
}

static const char arm[] =
    "<mujoco model='arm'><worldbody><body name='upper' pos='0 0 1'><joint name='shoulder'/>"
    "<geom size='0.1'/><body name='fore' pos='0 0 -0.5'><joint name='elbow' type='slide'/>"
    "<geom size='0.1'/><site name='tip'/></body></body></worldbody>"
    "<actuator><motor name='biceps' joint='elbow' gear='7'/><motor joint='shoulder'/></actuator>"
    "<sensor><gyro name='feel' site='tip'/><jointpos name='bend' joint='elbow'/></sensor>"
    "</mujoco>";

// Actuators, by their name or, without one, by their joint; sensors with their own unit and count;
// links of a file with bodies; slides with their own unit.
TEST(other_parts_are_found) {
    Scene scene = {.context = open_context(1)};
    const char *file = MAYFLY_BINARY_DIR "/test_property.xml";
    MUST(mf_file_replace(scene.context, file, arm, strlen(arm), &error));
    MUST(mf_model_load(scene.context, file, NULL, &scene.ant, &error));
    MUST(mf_world_create(scene.context, NULL, &scene.world, &error));
    scene.ants = add_group(scene.world, &WITH(mf_group_config(), .model = scene.ant));
    MUST(mf_motion_add(scene.ants, MF_MOTION_ARTICULATED, NULL, &error));
    MUST(mf_sensors_add(scene.ants, NULL, &error));
    uint32_t elbow = mf_model_find(scene.ant, MF_ITEM_JOINT, "elbow");
    mf_Property one = find(&scene, "robots/biceps/actuator.control");
    assert_int_equal(one.part, MF_PART_ACTUATOR);
    assert_int_equal(one.first, 0);
    assert_true(*find(&scene, "robots/biceps/gear[0]").constant == 7.0);
    assert_int_equal(find(&scene, "robots/elbow/biceps/actuator.force").first, 0);
    assert_int_equal(find(&scene, "robots/shoulder/actuator.control").first, 1);
    assert_int_equal(mf_property_find(scene.world, "robots/elbow/actuator.control", &one, NULL),
                     MF_NOT_FOUND);
    one = find(&scene, "robots/fore/feel/sensor.value");
    assert_int_equal(one.count, 3);
    assert_int_equal(one.first, 0);
    assert_string_equal(one.unit, "rad/s");
    one = find(&scene, "robots/elbow/bend/sensor.value");
    assert_int_equal(one.first, 3);
    assert_string_equal(one.unit, "m");
    assert_string_equal(find(&scene, "robots/elbow/joint.angle").unit, "m");
    assert_string_equal(find(&scene, "robots/elbow/effort").unit, "N");
    assert_string_equal(find(&scene, "robots/shoulder/effort").unit, "N m");
    one = find(&scene, "robots/upper/fore/inertia");
    assert_int_equal(one.part, MF_PART_LINK);
    assert_ptr_equal(one.constant, scene.ant->links[scene.ant->joints[elbow].child].inertia);
    mf_world_destroy(scene.world);
    mf_model_destroy(scene.ant);
    mf_context_destroy(scene.context);
    remove(file);
}

// ---- patterns and paths of values ---------------------------------------------------------------

typedef struct Check {
    mf_World *world;
    uint64_t count;
    uint64_t stop;
} Check;

static bool same_property(const mf_Property *a, const mf_Property *b) {
    return a->group == b->group && a->instance == b->instance && a->part == b->part &&
           a->index == b->index && a->field == b->field && a->first == b->first &&
           a->count == b->count && a->constant == b->constant && a->flags == b->flags &&
           strcmp(a->name, b->name) == 0 && strcmp(a->unit, b->unit) == 0 &&
           strcmp(a->frame, b->frame) == 0 && strcmp(a->description, b->description) == 0;
}

// The path that a property says finds just that property.
static bool comes_back(const mf_Property *property, void *user) {
    Check *check = user;
    char path[MF_PROPERTY_PATH];
    mf_Property again;
    mf_property_path(property, path, sizeof path);
    MUST(mf_property_find(check->world, path, &again, &error));
    assert_true(same_property(&again, property));
    return ++check->count != check->stop;
}

TEST(patterns_list_and_come_back) {
    AUTO(close_scene) Scene scene = open_scene();
    Check check = {.world = scene.world};
    const uint64_t joints = scene.hexapod->joint_count;
    const struct {
        const char *pattern;
        uint64_t count;
    } rows[] = {{"robot/*/joint.angle", 4 * joints},
                {"robot[*]/*/joint.angle", 4 * joints},
                {"robot[2]/*/joint.*", 3 * joints}, // angle, rate, target
                {"*/mass", 7},
                {"robot[0]/*/mass", scene.hexapod->link_count},
                {"robot[1]/base.position[2]", 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check.count = 0;
        assert_int_equal(mf_property_list(scene.world, rows[i].pattern, comes_back, &check),
                         rows[i].count);
        assert_int_equal(check.count, rows[i].count);
    }
    assert_true(mf_property_list(scene.world, "robot*[1]/*", comes_back, &check) > 20);
    assert_true(mf_property_list(scene.world, "robot*[1]/*/*", comes_back, &check) > 200);
    check.count = 0;
    check.stop = 3;
    assert_int_equal(mf_property_list(scene.world, "*/*/*", comes_back, &check), 3);
    // Within a robot.
    mf_Property property;
    MUST(mf_property_find_in(scene.robots, 2, "base.position.y", &property, &error));
    assert_int_equal(property.instance, 2);
    check.stop = 0;
    assert_int_equal(mf_property_list_in(scene.robots, 2, "*/joint.angle", comes_back, &check),
                     joints);
    assert_int_equal(mf_property_list_in(scene.robots, 4, "*/joint.angle", comes_back, &check), 0);
}

// ---- writing ------------------------------------------------------------------------------------

static mf_Status put(const Scene *scene, const char *path, const double *values, mf_Error *error) {
    mf_Property property = find(scene, path);
    return mf_property_write(&property, values, error);
}

TEST(writing_is_guarded) {
    AUTO(close_scene) Scene scene = open_scene();
    uint64_t before = mf_world_hash(scene.world);
    const double one[4] = {1.0, 0.0, 0.0, 0.0}, wrong[4] = {0.5, 0.5, 0.5, 0.0},
                 poison[4] = {(double)NAN, 0, 0, 0}, huge[4] = {1e300, 0, 0, 0},
                 half[4] = {0.5, 0, 0, 0}, below[4] = {-1.0, 0, 0, 0};
    MUST_FAIL_AS(put(&scene, "robot[0]/mass", one, &error), MF_BAD_ARGUMENT,
                 "property mass: cannot be written, it is a constant of the model");
    MUST_FAIL_AS(put(&scene, "robot[0]/sensor.value[0]", one, &error), MF_BAD_ARGUMENT,
                 "property sensor.value: cannot be written, it is computed, writing has no effect");
    MUST_FAIL(put(&scene, "robot[0]/base.orientation", wrong, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(put(&scene, "robot[0]/base.orientation.w", one, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(put(&scene, "robot[0]/base.position.x", poison, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(put(&scene, "robot[0]/base.position.x", huge, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(put(&scene, "robot[0]/fault.word", half, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(put(&scene, "robot[0]/fault.word", below, &error), MF_BAD_ARGUMENT, "");
    assert_true(mf_world_hash(scene.world) == before);
    MUST(put(&scene, "robot2[0]/base.position.x", huge, &error)); // in double it fits
    const double nearly[4] = {1.001, 0.0, 0.0, 0.0};
    MUST(put(&scene, "robot[0]/base.orientation", nearly, &error));
    double rotation[4];
    mf_Property property = find(&scene, "robot[0]/base.orientation");
    mf_property_read(&property, rotation);
    assert_true(rotation[0] == 1.0 && rotation[1] == 0.0);
}

// Writing an angle moves the points: the same as setting the whole state.
TEST(writing_angles_updates_points) {
    AUTO(close_scene) Scene scene = open_scene();
    const mf_Model *model = scene.hexapod;
    mf_Field *points = mf_group_find_field(scene.robots, "body.points");
    double q[64], v[64] = {0}, angle = 0.3;
    assert_true(model->position_count <= 64);
    memcpy(q, model->start_position, model->position_count * sizeof *q);
    q[model->joints[4].position_address] = angle;
    const char *path = formatted("robot[0]/%s/joint.angle", model->joints[4].name);
    mf_group_set_state(scene.robots, 1, q, v);
    double moved = 0.0, start = mf_field_get(points, 0, 0);
    MUST(put(&scene, path, &angle, &error));
    for (uint32_t c = 0; c < points->components; c++) {
        assert_true(mf_field_get(points, 0, c) == mf_field_get(points, 1, c));
        moved += fabs(mf_field_get(points, 0, c) - mf_field_get(points, 2, c));
    }
    assert_true(moved > 0.01);
    (void)start;
}

// ---- hostile paths ------------------------------------------------------------------------------

TEST(wrong_paths_name_their_piece) {
    static const struct {
        const char *path, *part;
    } rows[] = {{"", "expected a path, found nothing"},
                {"rabbit[0]/joint.angle", "expected a robot first, such as robot[0]/..."},
                {"joint.angle", "expected a robot first"},
                {"robot[4]/joint.angle", "group robot has instances 0 .. 3"},
                {"robot[99999999999]/joint.angle", "expected a robot first"},
                {"robot[-1]/joint.angle", "expected a robot first"},
                {"robot[0]/nonsense/joint.angle", "has no such link, joint, actuator or sensor"},
                {"robot[0]/joint.angel", "there is no joint.angel; near: joint.angle"},
                {"robot[0]/joint.velocity", "there is no joint.velocity; say joint.rate"},
                {"robot[0]/joint.angle:rpm", "no unit rpm, expected one of rad, deg"},
                {"robot[0]/base.position.z:", "no unit"},
                {"robot[0]/base.position.q", "there is no base.position.q"},
                {"robot[0]/base.position[3]", "there is no base.position[3]"},
                {"robot[0]/base.position.w", "there is no base.position.w"},
                {"robot[0]/base.orientation.w.x", "there is no"},
                {"robot[0]/", "there is no"},
                {"robot[0]//joint.angle", "has no such link"}};
    AUTO(close_scene) Scene scene = open_scene();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mf_Property property;
        mf_Error error = {0};
        mf_Status status = mf_property_find(scene.world, rows[i].path, &property, &error);
        assert_true(status == MF_NOT_FOUND || status == MF_BAD_ARGUMENT);
        assert_contains(error.message, rows[i].part);
        assert_null(property.group);
        assert_null(strchr(error.message, '\n'));
    }
    AUTO(end_memory) char *longest = malloc(1 << 20);
    memset(longest, '*', (1 << 20) - 1);
    longest[(1 << 20) - 1] = '\0';
    mf_Property property;
    assert_int_equal(mf_property_find(scene.world, longest, &property, NULL), MF_BAD_ARGUMENT);
}

static bool count_only(const mf_Property *property, void *user) {
    double values[512];
    assert_true(property->count >= 1 && property->count <= 512);
    assert_true(property->field == NULL ||
                property->first + property->count <= property->field->components);
    mf_property_read(property, values);
    return true;
}

// Paths put together at random from the letters that mean something: nothing breaks, and whatever
// is found can be read.
TEST(random_paths_do_no_harm) {
    static const char *const pieces[] = {"robot", "robot2", "[",    "]",     "*",
                                         "/",     "0",      "3",    ".",     "x",
                                         "w",     "joint",  "mass", "angle", "base.position",
                                         "//",    "**",     "[*]",  "\x80",  "torso"};
    AUTO(close_scene) Scene scene = open_scene();
    for (uint32_t n = 0; n < 20000; n++) {
        char path[256] = "";
        uint32_t words[4];
        mf_random(5, n, 1, 0, words);
        uint32_t count = 1 + words[0] % 12;
        for (uint32_t i = 0; i < count; i++) {
            mf_random(5, n, 2, i, words);
            strcat(path, pieces[words[0] % (sizeof pieces / sizeof *pieces)]);
        }
        mf_property_list(scene.world, path, count_only, NULL);
        mf_Property property;
        mf_property_find(scene.world, path, &property, NULL);
        mf_property_find_in(scene.ants, 1, path, &property, NULL);
    }
    // Many stars against names that nearly fit.
    char stars[MF_PROPERTY_PATH] = "robot[0]/";
    for (int i = 0; i < 330; i++)
        strcat(stars, "*a");
    strcat(stars, "/joint.angle");
    assert_int_equal(mf_property_list(scene.world, stars, count_only, NULL), 0);
}

// A name may hold a slash; values of a sensor that is named like its link keep the short path; a
// short buffer cuts a path off.
TEST(names_may_be_odd) {
    mf_Property property;
    char path[64];
    static const double moment[3] = {1, 1, 1};
    AUTO_RIG rig = rig_begin(1);
    mf_hand_inertia(rig.hand, 0, 1.0, moment);
    rig.hand->links[0].name = "a/b";
    mf_Sensor skin = {.name = "a/b",
                      .type = MF_SENSOR_CONTACT,
                      .tendon = MF_NONE,
                      .actuator = MF_NONE,
                      .site = MF_NONE,
                      .count = 1};
    rig.hand->model.sensors = &skin;
    rig.hand->model.sensor_count = rig.hand->model.sensor_value_count = 1;
    points_open(&rig, WITH(points_config(false), .group.name = "far/away"));
    MUST(mf_property_find(rig.world, "far/away[0]/a/b/mass", &property, &error));
    assert_ptr_equal(property.constant, &rig.hand->links[0].mass);
    mf_property_path(&property, path, sizeof path);
    assert_string_equal(path, "far/away[0]/a/b/mass");
    mf_property_path(&property, path, 6);
    assert_string_equal(path, "far/a");
    assert_string_equal(mf_part_name(property.part), "link");
    MUST(mf_sensors_add(rig.group, NULL, &error));
    MUST(mf_property_find(rig.world, "far/away[0]/a/b/sensor.value", &property, &error));
    assert_string_equal(mf_part_name(property.part), "sensor");
    mf_property_path(&property, path, sizeof path);
    assert_string_equal(path, "far/away[0]/a/b/sensor.value");
}
