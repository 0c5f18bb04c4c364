// The keyframe motions of the humanoid do what they are for, not once but in nearly all of 64
// variations (getting up: in three of four): friction 0.5 to 1, weight 5 % less or more, other
// start poses, each joint up to 0.02 rad off. docs/moves.md has the fractions that were seen; the
// demands here leave room for a few robots more that fail: other bits of the same physics do not
// use it up, another friction or contact model would.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <mayfly/mayfly.h>
#include <stdio.h>
#include <stdlib.h>

#define HUMANOID MAYFLY_SOURCE_DIR "/models/humanoid.urdf"
#define BALL MAYFLY_SOURCE_DIR "/models/ball.xml"
#define GAITS MAYFLY_SOURCE_DIR "/models/gaits/humanoid/"
#define GROUPS 4u
#define ROBOTS MF_BLOCK // of each group
#define LINKS 64u
#define JOINTS 64u
#define TICK 0.01  // [s] between two looks
#define SETTLE 0.6 // [s] before the motion begins
#define CALM 0.3   // [s] after its end until a robot must stand
#define WATCH 2.0  // [s] that it must go on standing
#define SLACK 0.02 // [rad] of each joint
#define RIGHT 1.57079632679489662

// What one robot did.
typedef struct Course {
    double start[3];         // [m] of the base when the motion began
    double toe_start, toe;   // [m] forward place of the kicking foot's tip, then and now
    double swing;            // [m/s] greatest forward speed of that tip where a ball is
    double forward, left;    // [1] upward part of the base's x and y axes, now
    double speed;            // [m/s] of the base, now
    double reach;            // [m] of the hand to the side, after 1 s
    bool side;               // on the side after 1 s
    bool flat;               // on front or back, at rest, in the end
    uint32_t looks, upright; // [1] while it must stand
} Course;

typedef struct Move {
    const char *name;
    double pitch;  // [rad] of the base at the start: 0, lying on the front +, on the back -
    double side;   // [1] of a kick or dive: +1 left, -1 right
    double facing; // [1] of a fall or turn: where the base's x axis points, +1 up, -1 down
    bool (*done)(const Course *course);
    uint32_t demand[4]; // [1] robots of GROUPS * ROBOTS that must do it: kinematic, rigid,
                        // prescribed, articulated; 0: the level cannot show it
} Move;

static bool stands(const Course *course) {
    return course->looks > 0 && course->upright == course->looks;
}

static bool kicks(const Course *course) {
    return stands(course) && course->swing > 1.0;
}

static bool dives(const Course *course) {
    return course->side && course->reach > 0.3;
}

static bool falls(const Course *course) {
    return course->flat;
}

typedef struct Stage {
    mf_Context *context;
    mf_Model *model;
    mf_Gait *gaits[ROBOTS]; // the move, with angles a bit off, for each robot of a group
    double pose[JOINTS];
    double lean;   // [rad] of the base of a robot that stands, forward
    double height; // [m] of the same
} Stage;

static mf_Gait *load_gait(const Stage *stage, const char *name) {
    char path[512];
    mf_Gait *gait = NULL;
    mf_Error error;
    snprintf(path, sizeof path, GAITS "%s.yaml", name);
    if (mf_gait_load(stage->context, path, stage->model, &gait, &error) != MF_OK)
        fail_msg("%s", error.message);
    return gait;
}

// -1 .. 1, another one for every robot and what.
static double chance(uint32_t robot, uint32_t what) {
    uint32_t words[4];
    mf_random(5, robot, what, 0, words);
    return 2.0 * mf_random_unit_double(words[0], words[1]) - 1.0;
}

// As if the joints were mounted or measured a bit off: each by the same angle in all frames.
static void detune(mf_Gait *gait, const mf_Model *model, uint32_t robot) {
    for (uint32_t f = 0; f < gait->keyframes.frame_count; f++) {
        mf_GaitFrame *frame = &gait->keyframes.frames[f];
        for (uint32_t i = 0; i < frame->angle_count; i++) {
            uint32_t j = mf_model_find_joint(model, frame->angles[i].joint);
            double angle = frame->angles[i].angle + SLACK * chance(robot, 200 + j);
            frame->angles[i].angle =
                fmin(fmax(angle, model->joints[j].lower), model->joints[j].upper);
        }
    }
}

static Stage raise_stage(const char *move) {
    Stage stage = {0};
    double places[LINKS][3], turns[LINKS][4];
    assert_int_equal(mf_context_create(NULL, &stage.context, NULL), MF_OK);
    assert_int_equal(mf_model_load(stage.context, HUMANOID, NULL, &stage.model, NULL), MF_OK);
    assert_true(stage.model->link_count <= LINKS && stage.model->joint_count <= JOINTS);
    for (uint32_t i = 0; i < ROBOTS; i++) {
        stage.gaits[i] = load_gait(&stage, move);
        detune(stage.gaits[i], stage.model, i);
    }
    mf_Gait *stand = load_gait(&stage, "stand");
    const double halt[3] = {0};
    assert_int_equal(mf_gait_sample(stand, stage.model, 1.0, halt, stage.pose, NULL), MF_OK);
    mf_gait_destroy(stand);
    mf_model_pose(stage.model, stage.pose, places, turns);
    uint32_t foot = mf_model_find_link(stage.model, "left_foot");
    stage.lean = -2.0 * atan2(turns[foot][2], turns[foot][0]); // soles are level
    stage.height = 0.0335 + places[foot][0] * sin(stage.lean) - places[foot][2] * cos(stage.lean);
    return stage;
}

static void clear_stage(Stage *stage) {
    for (uint32_t i = 0; i < ROBOTS; i++)
        mf_gait_destroy(stage->gaits[i]);
    mf_model_destroy(stage->model);
    mf_context_destroy(stage->context);
}

// Stands or lies, a bit askew.
static void put_robot(const Stage *stage, const Move *move, mf_Group *group, uint32_t robot,
                      uint32_t number) {
    const mf_Model *model = stage->model;
    double position[JOINTS + 7] = {0}, velocity[JOINTS + 6] = {0};
    bool lies = move->pitch != 0.0;
    double pitch = (lies ? move->pitch : stage->lean) + (lies ? 0.2 : 0.03) * chance(number, 100);
    double roll = (lies ? 0.25 : 0.03) * chance(number, 101);
    position[2] = lies ? 0.13 : stage->height + 0.002;
    position[3] = cos(0.5 * pitch) * cos(0.5 * roll);
    position[4] = cos(0.5 * pitch) * sin(0.5 * roll);
    position[5] = sin(0.5 * pitch) * cos(0.5 * roll);
    position[6] = -sin(0.5 * pitch) * sin(0.5 * roll);
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const mf_Joint *joint = &model->joints[j];
        double angle = stage->pose[j] + (lies ? 0.35 : 0.03) * chance(number, j);
        position[joint->position_address] = fmin(fmax(angle, joint->lower), joint->upper);
    }
    mf_group_set_state(group, robot, position, velocity);
}

// A point of a link in the world.
static void place(const double origin[3], const double q[4], const double point[3], double out[3]) {
    double twice[3];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        twice[i] = 2.0 * (q[1 + j] * point[k] - q[1 + k] * point[j]);
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] = origin[i] + point[i] + q[0] * twice[i] + q[1 + j] * twice[k] - q[1 + k] * twice[j];
    }
}

typedef struct Look {
    double position[3], rotation[4], speed; // of the base
    double toe[3], hand[3];                 // [m] of the side of the move, world
} Look;

static Look look_at(const Stage *stage, const Move *move, mf_Group *group, uint32_t robot) {
    static const double tip[3] = {0.058, 0.0, -0.0275}, palm[3] = {0.0, 0.0, -0.11};
    const mf_Model *model = stage->model;
    const char *foot = move->side > 0.0 ? "left_foot" : "right_foot";
    const char *arm = move->side > 0.0 ? "left_forearm" : "right_forearm";
    double q[JOINTS + 7], places[LINKS][3], turns[LINKS][4];
    mf_Field *angle = mf_group_find_field(group, "joint.angle");
    mf_Field *velocity = mf_group_find_field(group, "base.linear_velocity");
    Look look = {.speed = 0.0};
    for (uint32_t i = 0; i < 3; i++) {
        q[i] = mf_field_get(mf_group_find_field(group, "base.position"), robot, i);
        look.position[i] = q[i];
        look.speed += pow(mf_field_get(velocity, robot, i), 2.0);
    }
    look.speed = sqrt(look.speed);
    for (uint32_t i = 0; i < 4; i++) {
        q[3 + i] = mf_field_get(mf_group_find_field(group, "base.orientation"), robot, i);
        look.rotation[i] = q[3 + i];
    }
    for (uint32_t j = 0; j < model->joint_count; j++)
        q[model->joints[j].position_address] = mf_field_get(angle, robot, j);
    mf_model_pose_at(model, q, places, turns);
    uint32_t link = mf_model_find_link(model, foot);
    place(places[link], turns[link], tip, look.toe);
    link = mf_model_find_link(model, arm);
    place(places[link], turns[link], palm, look.hand);
    return look;
}

// What the look adds to the course, `time` after the motion began.
static void note(Course *course, const Stage *stage, const Move *move, const Look *look,
                 double time) {
    const double *q = look->rotation;
    double up = 1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]);
    double forward = 2.0 * (q[1] * q[3] - q[0] * q[2]), left = 2.0 * (q[2] * q[3] + q[0] * q[1]);
    double ahead = look->toe[0] - course->toe_start;
    if (ahead > 0.0 && ahead < 0.08 && look->toe[2] > 0.01 && look->toe[2] < 0.08)
        course->swing = fmax(course->swing, (look->toe[0] - course->toe) / TICK);
    course->toe = look->toe[0];
    if (fabs(time - 1.0) < 0.5 * TICK) {
        course->reach = move->side * (look->hand[1] - course->start[1]);
        course->side = -move->side * left > 0.8;
    }
    double end = mf_gait_duration(stage->gaits[0]);
    if (fabs(time - fmax(2.0, end + 0.5)) < 0.5 * TICK)
        course->flat = move->facing * forward > 0.85 && look->speed < 0.1;
    if (time < end + CALM)
        return;
    course->looks++;
    course->upright += look->position[2] > 0.9 * stage->height && up > cos(0.2);
}

static mf_Status add_motion(mf_Group *group, mf_Motion motion, double friction) {
    mf_ArticulatedConfig articulated = mf_articulated_config();
    mf_PrescribedConfig prescribed = mf_prescribed_config();
    mf_RigidConfig rigid = mf_rigid_config();
    articulated.shapes = prescribed.shapes = rigid.shapes = true;
    articulated.friction = prescribed.friction = rigid.friction = friction;
    articulated.servo.gain = 30.0; // N m/rad
    articulated.servo.damping = 0.6;
    articulated.servo.effort = 2.5; // N m
    articulated.servo.rotor_inertia = 0.005;
    if (motion == MF_MOTION_ARTICULATED)
        return mf_articulated_add(group, &articulated, NULL);
    if (motion == MF_MOTION_PRESCRIBED)
        return mf_prescribed_add(group, &prescribed, NULL);
    if (motion == MF_MOTION_KINEMATIC)
        return mf_kinematic_add(group, NULL, NULL);
    return mf_rigid_add(group, &rigid, NULL);
}

static mf_Group *add_robots(const Stage *stage, mf_World *world, mf_Motion motion, double friction,
                            bool shared) {
    mf_GroupConfig config = mf_group_config();
    mf_GaitConfig gaits = mf_gait_config();
    mf_Group *group = NULL;
    config.model = stage->model;
    config.count = ROBOTS;
    config.isolated = !shared;
    assert_int_equal(mf_world_add_group(world, &config, &group, NULL), MF_OK);
    if (shared)
        assert_int_equal(mf_collisions_prepare(group, NULL), MF_OK);
    assert_int_equal(add_motion(group, motion, friction), MF_OK);
    gaits.first = MF_NONE;
    assert_int_equal(
        mf_gaits_add(group, (const mf_Gait *const *)stage->gaits, ROBOTS, &gaits, NULL), MF_OK);
    return group;
}

// Robots of one friction and weight that did what the move is for.
static uint32_t count_group(const Stage *stage, const Move *move, mf_Motion motion,
                            uint32_t variant) {
    static const double frictions[GROUPS] = {0.5, 0.65, 0.8, 1.0};
    static const double weights[GROUPS] = {0.95, 1.05, 0.95, 1.05};
    Course courses[ROBOTS] = {0};
    mf_WorldConfig config = mf_world_config();
    mf_World *world = NULL;
    config.step = mf_time_from_seconds(0.001);
    config.gravity *= weights[variant];
    assert_int_equal(mf_world_create(stage->context, &config, &world, NULL), MF_OK);
    mf_Group *group = add_robots(stage, world, motion, frictions[variant], false);
    for (uint32_t i = 0; i < ROBOTS; i++)
        put_robot(stage, move, group, i, variant * ROBOTS + i);
    mf_world_step(world, (uint64_t)lround(SETTLE / 0.001));
    for (uint32_t i = 0; i < ROBOTS; i++) {
        Look look = look_at(stage, move, group, i);
        for (int k = 0; k < 3; k++)
            courses[i].start[k] = look.position[k];
        courses[i].toe = courses[i].toe_start = look.toe[0];
        mf_field_set(mf_group_find_field(group, "gait.select"), i, 0, i);
    }
    double last = fmax(mf_gait_duration(stage->gaits[0]) + CALM + WATCH, 2.0 + TICK);
    for (double time = TICK; time < last; time += TICK) {
        mf_world_step(world, (uint64_t)lround(TICK / 0.001));
        for (uint32_t i = 0; i < ROBOTS; i++) {
            Look look = look_at(stage, move, group, i);
            note(&courses[i], stage, move, &look, time);
        }
    }
    uint32_t done = 0;
    for (uint32_t i = 0; i < ROBOTS; i++)
        done += mf_group_fault(group, i) == 0 && move->done(&courses[i]);
    mf_world_destroy(world);
    return done;
}

static void check_level(mf_Motion motion, uint32_t level) {
    static const Move moves[] = {
        {"stand", 0.0, 1.0, 0.0, stands, {64, 64, 64, 64}},
        {"kick_left", 0.0, 1.0, 0.0, kicks, {54, 56, 58, 58}},
        {"kick_right", 0.0, -1.0, 0.0, kicks, {54, 56, 58, 58}},
        {"dive_left", 0.0, 1.0, 0.0, dives, {0, 52, 56, 62}},
        {"dive_right", 0.0, -1.0, 0.0, dives, {0, 52, 56, 62}},
        {"fall_front", 0.0, 1.0, -1.0, falls, {0, 62, 62, 62}},
        {"fall_back", 0.0, 1.0, 1.0, falls, {0, 62, 62, 62}},
        {"turn_over", -RIGHT, 1.0, -1.0, falls, {0, 62, 62, 60}},
        {"get_up_front", RIGHT, 1.0, 0.0, stands, {0, 0, 0, 36}},
        {"get_up_back", -RIGHT, 1.0, 0.0, stands, {0, 0, 0, 44}},
    };
    uint32_t failures = 0;
    for (size_t m = 0; m < sizeof moves / sizeof *moves; m++) {
        const Move *move = &moves[m];
        if (move->demand[level] == 0)
            continue;
        Stage stage = raise_stage(move->name);
        uint32_t done = 0;
        for (uint32_t i = 0; i < GROUPS; i++)
            done += count_group(&stage, move, motion, i);
        clear_stage(&stage);
        print_message("%-12s %-13s %2u of %u, %u needed\n", mf_motion_name(motion), move->name,
                      done, GROUPS * ROBOTS, move->demand[level]);
        failures += done < move->demand[level];
    }
    assert_int_equal(failures, 0);
}

// A ball before each robot, by up to 2 cm off where docs/moves.md wants it.
static mf_Group *lay_balls(mf_World *world, const mf_Model *ball, double side) {
    mf_GroupConfig config = mf_group_config();
    mf_ArticulatedConfig articulated = mf_articulated_config();
    mf_Group *group = NULL;
    config.name = "balls";
    config.model = ball;
    config.count = ROBOTS;
    config.isolated = false;
    assert_int_equal(mf_world_add_group(world, &config, &group, NULL), MF_OK);
    assert_int_equal(mf_collisions_prepare(group, NULL), MF_OK);
    articulated.shapes = true;
    assert_int_equal(mf_articulated_add(group, &articulated, NULL), MF_OK);
    for (uint32_t i = 0; i < ROBOTS; i++) {
        double rest[6] = {0}, place[7] = {0.155 + 0.02 * chance(i, 300), 10.0 * i, 0.07, 1.0};
        place[1] += side * (0.04 + 0.02 * chance(i, 301));
        mf_group_set_state(group, i, place, rest);
    }
    return group;
}

// Balls that rolled more than 1 m forward, 2 s after a kick whose robot still stands.
static uint32_t count_balls(const Move *move, mf_Motion motion) {
    Stage stage = raise_stage(move->name);
    mf_WorldConfig config = mf_world_config();
    mf_World *world = NULL;
    mf_Model *ball = NULL;
    config.step = mf_time_from_seconds(0.001);
    assert_int_equal(mf_world_create(stage.context, &config, &world, NULL), MF_OK);
    assert_int_equal(mf_model_load(stage.context, BALL, NULL, &ball, NULL), MF_OK);
    mf_Group *group = add_robots(&stage, world, motion, 0.8, true);
    mf_Group *balls = lay_balls(world, ball, move->side);
    mf_Collisions *collisions = NULL;
    assert_int_equal(mf_collisions_add(world, NULL, &collisions, NULL), MF_OK);
    mf_Field *position = mf_group_find_field(group, "base.position");
    for (uint32_t i = 0; i < ROBOTS; i++) {
        put_robot(&stage, move, group, i, i);
        mf_field_set(position, i, 1, 10.0 * i);
    }
    mf_world_step(world, (uint64_t)lround(1000.0 * SETTLE));
    for (uint32_t i = 0; i < ROBOTS; i++)
        mf_field_set(mf_group_find_field(group, "gait.select"), i, 0, i);
    mf_world_step(world, (uint64_t)lround(1000.0 * (mf_gait_duration(stage.gaits[0]) + WATCH)));
    uint32_t count = 0;
    for (uint32_t i = 0; i < ROBOTS; i++) {
        double height = mf_field_get(position, i, 2);
        double ahead = mf_field_get(mf_group_find_field(balls, "base.position"), i, 0);
        count += height > 0.9 * stage.height && ahead > 1.2;
    }
    mf_world_destroy(world);
    mf_model_destroy(ball);
    clear_stage(&stage);
    return count;
}

static void kicks_send_the_ball(void **state) {
    static const Move kick[] = {{"kick_left", 0.0, 1.0, 0.0, kicks, {54, 56, 58, 58}},
                                {"kick_right", 0.0, -1.0, 0.0, kicks, {54, 56, 58, 58}}};
    static const mf_Motion motions[] = {MF_MOTION_RIGID, MF_MOTION_PRESCRIBED,
                                        MF_MOTION_ARTICULATED};
    (void)state;
    for (size_t m = 0; m < sizeof motions / sizeof *motions; m++) {
        for (size_t k = 0; k < sizeof kick / sizeof *kick; k++) {
            uint32_t count = count_balls(&kick[k], motions[m]);
            print_message("%-12s %-13s %2u of %u balls, 13 needed\n", mf_motion_name(motions[m]),
                          kick[k].name, count, ROBOTS);
            assert_true(count >= 13);
        }
    }
}

static void moves_at_kinematic(void **state) {
    (void)state;
    check_level(MF_MOTION_KINEMATIC, 0);
}

static void moves_at_rigid(void **state) {
    (void)state;
    check_level(MF_MOTION_RIGID, 1);
}

static void moves_at_prescribed(void **state) {
    (void)state;
    check_level(MF_MOTION_PRESCRIBED, 2);
}

static void moves_at_articulated(void **state) {
    (void)state;
    check_level(MF_MOTION_ARTICULATED, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_at_kinematic),  cmocka_unit_test(moves_at_rigid),
        cmocka_unit_test(moves_at_prescribed), cmocka_unit_test(moves_at_articulated),
        cmocka_unit_test(kicks_send_the_ball),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
