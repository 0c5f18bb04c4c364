// A hand-built robot for the tests of sensors and controllers: a tree of links with every kind of
// joint, so that motors, joints and sensors have different indices.
#pragma once

#include "rig/rig.h"

enum { ROBOT_JOINTS = 8, ROBOT_SENSORS = 5 };

// Joint 2 follows joint 0, joint 4 is a ball: the motors are the joints 0, 1, 3, 5, 6, 7.
static const uint32_t robot_motor[] = {0, 1, 3, 5, 6, 7};
enum { ROBOT_MOTORS = sizeof robot_motor / sizeof *robot_motor };

// Where the sensors have their values: contacts and rays of the model, then joints and attitude.
static const uint32_t robot_contact[] = {0, 2, 3}, robot_ray[] = {1, 4};
enum { ROBOT_JOINT_VALUES = ROBOT_SENSORS, ROBOT_ATTITUDE = ROBOT_SENSORS + ROBOT_JOINTS };

typedef struct Robot {
    mf_Model model;
    mf_Link links[ROBOT_JOINTS + 1];
    mf_Joint joints[ROBOT_JOINTS];
    mf_Point points[6];
    mf_Sensor sensors[ROBOT_SENSORS];
    double start_angle[ROBOT_JOINTS];
} Robot;

static inline mf_Joint robot_joint(uint32_t index, uint32_t parent) {
    mf_Joint joint = {.name = "joint",
                      .type = MF_JOINT_HINGE,
                      .parent = parent,
                      .child = index + 1,
                      .position = {0.1, 0.02 * index, -0.05},
                      .rotation = {1, 0, 0, 0},
                      .axis = {0, 1, 0},
                      .lower = -1.0,
                      .upper = 0.5 + 0.25 * index,
                      .speed = 5.0,
                      .effort = INFINITY,
                      .mimic = MF_NONE,
                      .multiplier = 1.0};
    return joint;
}

// Fills `robot`; its model points into it, so it must not be moved.
static inline void robot_make(Robot *robot, mf_Context *context) {
    memset(robot, 0, sizeof *robot);
    robot->links[0] = (mf_Link){.name = "base", .parent = MF_NONE, .joint = MF_NONE, .mass = 1};
    for (uint32_t i = 0; i < ROBOT_JOINTS; i++) {
        uint32_t parent = i < 3 ? i : 0; // a chain of three, the rest on the base
        robot->joints[i] = robot_joint(i, parent);
        robot->links[i + 1] = (mf_Link){.name = "link", .parent = parent, .joint = i, .mass = 0.1};
    }
    robot->joints[2].mimic = 0;
    robot->joints[4].type = MF_JOINT_BALL;
    robot->joints[5].type = MF_JOINT_SLIDE;
    robot->joints[6].lower = -INFINITY;
    robot->joints[6].upper = INFINITY;
    // Points 1 and 4 do not collide: components of point.load are not numbers of points.
    for (uint32_t i = 0; i < 6; i++)
        robot->points[i] = (mf_Point){.link = i % 3,
                                      .flags = i % 3 == 1 ? MF_POINT_HAS_MASS
                                                          : MF_POINT_COLLIDES | MF_POINT_HAS_MASS,
                                      .position = {0.1 * i, 0, -0.1},
                                      .mass = 0.1};
    robot->sensors[0] = (mf_Sensor){.name = "foot", .type = MF_SENSOR_CONTACT, .link = 2};
    robot->sensors[1] =
        (mf_Sensor){.name = "down", .type = MF_SENSOR_RAY, .direction = {0, 0, -1}, .range = 2.0};
    robot->sensors[2] = (mf_Sensor){.name = "belly", .type = MF_SENSOR_CONTACT, .link = 0};
    robot->sensors[3] = (mf_Sensor){.name = "toe", .type = MF_SENSOR_CONTACT, .link = 1};
    robot->sensors[4] = (mf_Sensor){.name = "ahead",
                                    .type = MF_SENSOR_RAY,
                                    .link = 2,
                                    .start = {0.05, 0, 0.01},
                                    .direction = {0.6, 0, -0.8},
                                    .range = 3.0};
    for (uint32_t i = 0; i < ROBOT_SENSORS; i++) {
        robot->sensors[i].joint = MF_NONE;
        robot->sensors[i].address = i;
        robot->sensors[i].count = 1;
    }
    robot->model = (mf_Model){.name = "robot",
                              .file = "",
                              .link_count = ROBOT_JOINTS + 1,
                              .joint_count = ROBOT_JOINTS,
                              .point_count = 6,
                              .sensor_count = ROBOT_SENSORS,
                              .sensor_value_count = ROBOT_SENSORS,
                              .links = robot->links,
                              .joints = robot->joints,
                              .points = robot->points,
                              .sensors = robot->sensors,
                              .mass = 1.8,
                              .rest_height = 0.1,
                              .start_angle = robot->start_angle,
                              .context = context};
}

// What most tests stand on: a world with one group of that robot.
typedef struct Fixture {
    mf_Context *context;
    mf_World *world;
    mf_Group *group;
    Robot *robot;
    mf_Terrain *terrain; // NULL, or what is destroyed with it
} Fixture;

static inline Fixture fixture_open_on(mf_Context *context, mf_Isa isa, bool double_precision,
                                      uint32_t count, const mf_Terrain *terrain) {
    Fixture fixture = {.context = context, .robot = calloc(1, sizeof *fixture.robot)};
    robot_make(fixture.robot, context);
    fixture.world = open_world(context, &WITH(mf_world_config(), .isa = isa, .terrain = terrain));
    fixture.group =
        add_group(fixture.world, &WITH(mf_group_config(), .model = &fixture.robot->model,
                                       .count = count, .double_precision = double_precision));
    return fixture;
}

static inline Fixture fixture_open(mf_Isa isa, bool double_precision, uint32_t count) {
    return fixture_open_on(open_context(0), isa, double_precision, count, NULL);
}

static inline void fixture_close(Fixture *fixture) {
    mf_world_destroy(fixture->world);
    mf_terrain_destroy(fixture->terrain);
    close_context(fixture->context);
    free(fixture->robot);
}

static inline mf_Field *fixture_field(Fixture *fixture, const char *name) {
    return field_of(fixture->group, name);
}

static inline double fixture_get(Fixture *fixture, const char *name, uint32_t instance,
                                 uint32_t component) {
    return mf_field_get(fixture_field(fixture, name), instance, component);
}

static inline void fixture_set(Fixture *fixture, const char *name, uint32_t instance,
                               uint32_t component, double value) {
    mf_field_set(fixture_field(fixture, name), instance, component, value);
}

// One tick in every physics step.
static inline mf_Rate fixture_every_step(void) {
    return mf_rate_from_period(10 * MF_MILLISECOND);
}

// point.load as a motion would have it, written by the test.
static inline mf_Field *fixture_add_load(Fixture *fixture) {
    static const mf_FieldInfo info = {"point.load",   "N",           "", MF_REAL, MF_PER_CONTACT, 1,
                                      MF_FIELD_STATE, "normal force"};
    mf_Field *field;
    MUST(mf_group_add_field(fixture->group, &info, 0, &field, &error));
    return field;
}

// Sensors as programs read them: before controllers, with joints and attitude.
static inline mf_SensorsConfig controller_sensors(mf_Rate rate) {
    return WITH(mf_sensors_config(), .rate = rate, .before_control = true, .posture = true);
}

static inline mf_Status fixture_add_sensors(Fixture *fixture, mf_Rate rate) {
    const mf_SensorsConfig config = controller_sensors(rate);
    return mf_sensors_add(fixture->group, &config, NULL);
}
