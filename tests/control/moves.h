// A fixture for keyframe motions of the humanoid: 64 robots with different friction, weight, start
// pose and joint offsets, and a summary of what each of them did. Included by one test program at a
// time.
#pragma once

#include "rig/rig.h"
#include "model/points.h"
#include "control/gait.h"

#define HUMANOID MAYFLY_SOURCE_DIR "/models/humanoid.urdf"
#define GAITS MAYFLY_SOURCE_DIR "/models/gaits/humanoid/"
#define GROUPS 4u       // one friction and weight each
#define ROBOTS MF_BLOCK // of each group
#define LINKS 64u
#define JOINTS 64u
#define TICK 0.01  // [s] between two looks
#define SETTLE 0.6 // [s] before the motion begins
#define CALM 0.3   // [s] after its end until a robot must stand
#define WATCH 2.0  // [s] that it must go on standing
#define SLACK 0.02 // [rad] of each joint
#define RIGHT 1.57079632679489662
// Every day at `articulated` the lowest and the highest friction, with a sanitizer the lowest; the
// shares demanded are those of all.
#define GROUP_STRIDE(motion)                                                                       \
    (SANITIZED ? GROUPS : FULL || (motion) != MF_MOTION_ARTICULATED ? 1u : GROUPS - 1u)

// What one robot did.
typedef struct Course {
    double start[3];         // [m] of the base when the motion began
    double toe_start, toe;   // [m] forward place of the kicking foot's tip, then and now
    double swing;            // [m/s] greatest forward speed of that tip where a ball is
    double forward, left;    // [1] upward part of the base's x and y axes, now
    double speed;            // [m/s] of the base, now
    double reach;            // [m] of the hand to the side, after 1 s
    bool ready;              // stood, or lay on front or back as wanted, when the motion began
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

static inline bool stands(const Course *course) {
    return course->looks > 0 && course->upright == course->looks;
}

static inline bool kicks(const Course *course) {
    return stands(course) && course->swing > 1.0;
}

static inline bool dives(const Course *course) {
    return course->side && course->reach > 0.3;
}

static inline bool falls(const Course *course) {
    return course->flat;
}

typedef struct Fixture {
    mf_Context *context;
    mf_Model *model;
    mf_Gait *gaits[ROBOTS]; // the move, with angles a bit off, for each robot of a group
    double pose[JOINTS];
    double lean;   // [rad] of the base of a robot that stands, forward
    double height; // [m] of the same
} Fixture;

static inline mf_Gait *load_gait(const Fixture *fixture, const char *name) {
    mf_Gait *gait = NULL;
    MUST(mf_gait_load(fixture->context, formatted(GAITS "%s.yaml", name), fixture->model, &gait,
                      &error));
    return gait;
}

// -1 .. 1, another one for every robot and what.
static inline double chance(uint32_t robot, uint32_t what) {
    uint32_t words[4];
    mf_random(5, robot, what, 0, words);
    return 2.0 * mf_random_unit_double(words[0], words[1]) - 1.0;
}

// As if the joints were mounted or measured a bit off: each by the same angle in all frames.
static inline void detune(mf_Gait *gait, const mf_Model *model, uint32_t robot) {
    for (uint32_t f = 0; f < gait->keyframes.frame_count; f++) {
        mf_GaitFrame *frame = &gait->keyframes.frames[f];
        for (uint32_t i = 0; i < frame->angle_count; i++) {
            uint32_t j = mf_model_find(model, MF_ITEM_JOINT, frame->angles[i].joint);
            double angle = frame->angles[i].angle + SLACK * chance(robot, 200 + j);
            frame->angles[i].angle =
                fmin(fmax(angle, model->joints[j].lower), model->joints[j].upper);
        }
    }
}

static inline Fixture raise_fixture(const char *move) {
    Fixture fixture = {0};
    double positions[LINKS][3], rotations[LINKS][4];
    fixture.context = open_context(0);
    MUST(mf_model_load(fixture.context, HUMANOID, NULL, &fixture.model, &error));
    assert_true(fixture.model->link_count <= LINKS && fixture.model->joint_count <= JOINTS);
    for (uint32_t i = 0; i < ROBOTS; i++) {
        fixture.gaits[i] = load_gait(&fixture, move);
        detune(fixture.gaits[i], fixture.model, i);
    }
    mf_Gait *stand = load_gait(&fixture, "stand");
    const double halt[3] = {0};
    MUST(mf_gait_sample(stand, fixture.model, 1.0, halt, fixture.pose, &error));
    mf_gait_destroy(stand);
    mf_model_pose(fixture.model, fixture.pose, positions, rotations);
    uint32_t foot = mf_model_find(fixture.model, MF_ITEM_LINK, "left_foot");
    fixture.lean = -2.0 * atan2(rotations[foot][2], rotations[foot][0]); // soles are level
    fixture.height =
        0.0335 + positions[foot][0] * sin(fixture.lean) - positions[foot][2] * cos(fixture.lean);
    return fixture;
}

static inline void clear_fixture(Fixture *fixture) {
    for (uint32_t i = 0; i < ROBOTS; i++)
        mf_gait_destroy(fixture->gaits[i]);
    mf_model_destroy(fixture->model);
    mf_context_destroy(fixture->context);
}

// Stands or lies, a bit askew.
static inline void put_robot(const Fixture *fixture, const Move *move, mf_Group *group,
                             uint32_t robot, uint32_t number) {
    const mf_Model *model = fixture->model;
    double position[JOINTS + 7] = {0}, velocity[JOINTS + 6] = {0};
    bool lies = move->pitch != 0.0;
    double pitch = (lies ? move->pitch : fixture->lean) + (lies ? 0.2 : 0.03) * chance(number, 100);
    double roll = (lies ? 0.25 : 0.03) * chance(number, 101);
    position[2] = lies ? 0.13 : fixture->height + 0.002;
    position[3] = cos(0.5 * pitch) * cos(0.5 * roll);
    position[4] = cos(0.5 * pitch) * sin(0.5 * roll);
    position[5] = sin(0.5 * pitch) * cos(0.5 * roll);
    position[6] = -sin(0.5 * pitch) * sin(0.5 * roll);
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const mf_Joint *joint = &model->joints[j];
        double angle = fixture->pose[j] + (lies ? 0.35 : 0.03) * chance(number, j);
        position[joint->position_address] = fmin(fmax(angle, joint->lower), joint->upper);
    }
    mf_group_set_state(group, robot, position, velocity);
}

// A point of a link in the world.
static inline void place(const double origin[3], const double q[4], const double point[3],
                         double out[3]) {
    rotate3(q, point, out);
    for (int i = 0; i < 3; i++)
        out[i] += origin[i];
}

typedef struct Sample {
    double position[3], rotation[4], speed; // of the base
    double toe[3], hand[3];                 // [m] of the side of the move, world
} Sample;

// Whether it counts where foot and hand are.
static inline bool uses_limbs(const Move *move) {
    return move->done == kicks || move->done == dives;
}

static inline Sample detect_one(const Fixture *fixture, const Move *move, mf_Group *group,
                                uint32_t robot) {
    static const double tip[3] = {0.058, 0.0, -0.0275}, palm[3] = {0.0, 0.0, -0.11};
    const mf_Model *model = fixture->model;
    const char *foot = move->side > 0.0 ? "left_foot" : "right_foot";
    const char *arm = move->side > 0.0 ? "left_forearm" : "right_forearm";
    double q[JOINTS + 7], positions[LINKS][3], rotations[LINKS][4];
    mf_Field *angle = mf_group_find_field(group, "joint.angle");
    mf_Field *velocity = mf_group_find_field(group, "base.linear_velocity");
    Sample sample = {.speed = 0.0};
    for (uint32_t i = 0; i < 3; i++) {
        q[i] = get_field(group, "base.position", robot, i);
        sample.position[i] = q[i];
        sample.speed += pow(mf_field_get(velocity, robot, i), 2.0);
    }
    sample.speed = sqrt(sample.speed);
    for (uint32_t i = 0; i < 4; i++) {
        q[3 + i] = get_field(group, "base.orientation", robot, i);
        sample.rotation[i] = q[3 + i];
    }
    if (!uses_limbs(move))
        return sample;
    for (uint32_t j = 0; j < model->joint_count; j++)
        q[model->joints[j].position_address] = mf_field_get(angle, robot, j);
    mf_model_pose_at(model, q, positions, rotations);
    uint32_t link = mf_model_find(model, MF_ITEM_LINK, foot);
    place(positions[link], rotations[link], tip, sample.toe);
    link = mf_model_find(model, MF_ITEM_LINK, arm);
    place(positions[link], rotations[link], palm, sample.hand);
    return sample;
}

// What the look adds to the course, `time` after the motion began.
static inline void note(Course *course, const Fixture *fixture, const Move *move,
                        const Sample *sample, double time) {
    const double *q = sample->rotation;
    double up = 1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]);
    double forward = 2.0 * (q[1] * q[3] - q[0] * q[2]), left = 2.0 * (q[2] * q[3] + q[0] * q[1]);
    double ahead = sample->toe[0] - course->toe_start;
    if (ahead > 0.0 && ahead < 0.08 && sample->toe[2] > 0.01 && sample->toe[2] < 0.08)
        course->swing = fmax(course->swing, (sample->toe[0] - course->toe) / TICK);
    course->toe = sample->toe[0];
    if (fabs(time - 1.0) < 0.5 * TICK) {
        course->reach = move->side * (sample->hand[1] - course->start[1]);
        course->side = -move->side * left > 0.8;
    }
    double end = mf_gait_duration(fixture->gaits[0]);
    if (fabs(time - fmax(2.0, end + 0.5)) < 0.5 * TICK)
        course->flat = move->facing * forward > 0.85 && sample->speed < 0.1;
    if (time < end + CALM)
        return;
    course->looks++;
    course->upright += sample->position[2] > 0.9 * fixture->height && up > cos(0.2);
}

// Whether `note` has something to note.
static inline bool is_watched(const Fixture *fixture, const Move *move, double time) {
    double end = mf_gait_duration(fixture->gaits[0]);
    return uses_limbs(move) || time >= end + CALM ||
           (move->done == falls && fabs(time - fmax(2.0, end + 0.5)) < 0.5 * TICK);
}

static inline void add_motion(mf_Group *group, mf_Motion motion, double friction) {
    mf_MotionsConfig config = mf_motions_config();
    config.articulated.shapes = config.prescribed.shapes = config.rigid.shapes = true;
    config.articulated.friction = config.prescribed.friction = config.rigid.friction = friction;
    config.articulated.servo.gain = 30.0; // N m/rad
    config.articulated.servo.damping = 0.6;
    config.articulated.servo.effort = 2.5; // N m
    config.articulated.servo.rotor_inertia = 0.005;
    MUST(mf_motion_add(group, motion, &config, &error));
}

static inline mf_Group *add_robots(const Fixture *fixture, mf_World *world, mf_Motion motion,
                                   double friction, bool shared) {
    mf_GroupConfig config = mf_group_config();
    mf_GaitConfig gaits = mf_gait_config();
    config.model = fixture->model;
    config.count = ROBOTS;
    config.isolated = !shared;
    mf_Group *group = add_group(world, &config);
    if (shared)
        MUST(mf_collisions_prepare(group, &error));
    add_motion(group, motion, friction);
    gaits.first = MF_NONE;
    MUST(mf_gaits_add(group, (const mf_Gait *const *)fixture->gaits, ROBOTS, &gaits, &error));
    return group;
}

// A robot that is dropped may roll onto its side or over: from there another move gets up.
static inline bool is_ready(const Move *move, const Sample *sample) {
    const double *q = sample->rotation;
    double forward = 2.0 * (q[1] * q[3] - q[0] * q[2]);
    return move->pitch == 0.0 || forward * (move->pitch > 0.0 ? -1.0 : 1.0) > 0.5;
}

// Robots of one friction and weight that did what the move is for; `ready` goes up by how many of
// them began as wanted.
static inline uint32_t count_group(const Fixture *fixture, const Move *move, mf_Motion motion,
                                   uint32_t variant, uint32_t *ready) {
    static const double frictions[GROUPS] = {0.5, 0.65, 0.8, 1.0};
    static const double weights[GROUPS] = {0.95, 1.05, 0.95, 1.05};
    Course courses[ROBOTS] = {0};
    mf_WorldConfig config = WITH(mf_world_config(), .step = mf_time_from_seconds(0.001));
    config.gravity *= weights[variant];
    AUTO_WORLD *world = open_world(fixture->context, &config);
    mf_Group *group = add_robots(fixture, world, motion, frictions[variant], false);
    for (uint32_t i = 0; i < ROBOTS; i++)
        put_robot(fixture, move, group, i, variant * ROBOTS + i);
    mf_world_step(world, (uint64_t)lround(SETTLE / 0.001));
    for (uint32_t i = 0; i < ROBOTS; i++) {
        Sample sample = detect_one(fixture, move, group, i);
        courses[i].ready = is_ready(move, &sample);
        *ready += courses[i].ready;
        for (int k = 0; k < 3; k++)
            courses[i].start[k] = sample.position[k];
        courses[i].toe = courses[i].toe_start = sample.toe[0];
        set_field(group, "gait.select", i, 0, i);
    }
    double last = fmax(mf_gait_duration(fixture->gaits[0]) + CALM + WATCH, 2.0 + TICK);
    if (SANITIZED)
        last = 1.0; // the rest is the same code, and what they did is judged without a sanitizer
    for (double time = TICK; time < last; time += TICK) {
        mf_world_step(world, (uint64_t)lround(TICK / 0.001));
        for (uint32_t i = 0; i < ROBOTS && is_watched(fixture, move, time); i++) {
            Sample sample = detect_one(fixture, move, group, i);
            note(&courses[i], fixture, move, &sample, time);
        }
    }
    uint32_t done = 0;
    for (uint32_t i = 0; i < ROBOTS; i++)
        done += courses[i].ready && mf_group_fault(group, i) == 0 && move->done(&courses[i]);
    return done;
}

static inline void check_moves(const Move *moves, size_t count, mf_Motion motion, uint32_t level) {
    uint32_t failures = 0;
    for (size_t m = 0; m < count; m++) {
        const Move *move = &moves[m];
        if (move->demand[level] == 0)
            continue;
        Fixture fixture = raise_fixture(move->name);
        uint32_t done = 0, ready = 0, robots = 0;
        for (uint32_t i = 0; i < GROUPS; i += GROUP_STRIDE(motion)) {
            done += count_group(&fixture, move, motion, i, &ready);
            robots += ROBOTS;
        }
        clear_fixture(&fixture);
        uint32_t demand = move->demand[level] * ready / (GROUPS * ROBOTS);
        print_message("%-12s %-13s %2u of %2u, %2u needed\n", mf_motion_name(motion), move->name,
                      done, ready, demand);
        failures += 4 * ready < 3 * robots; // most must begin as wanted
        failures += !SANITIZED && done < demand;
    }
    assert_int_equal(failures, 0);
}
