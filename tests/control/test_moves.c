// The keyframe motions of the humanoid succeed in nearly all of 64 variations: friction 0.5 to 1,
// weight up to 5 % less or more, other start poses, joint offsets up to 0.02 rad.
// docs/studies/moves.md lists the measured fractions. The required fractions are a few robots
// lower: rounding differences do not use up this margin, a different friction or contact model
// would.
#include "control/moves.h"
#include "control/gait.h"

#define BALL MAYFLY_SOURCE_DIR "/models/ball.xml"

static const Move moves[] = {
    {"stand", 0.0, 1.0, 0.0, stands, {64, 64, 64, 64}},
    {"kick_left", 0.0, 1.0, 0.0, kicks, {54, 56, 58, 58}},
    {"kick_right", 0.0, -1.0, 0.0, kicks, {54, 56, 58, 58}},
    {"dive_left", 0.0, 1.0, 0.0, dives, {0, 52, 56, 62}},
    {"dive_right", 0.0, -1.0, 0.0, dives, {0, 52, 56, 62}},
    {"fall_front", 0.0, 1.0, -1.0, falls, {0, 62, 62, 62}},
    {"fall_back", 0.0, 1.0, 1.0, falls, {0, 62, 62, 62}},
};

// A ball before each robot, by up to 2 cm off where docs/studies/moves.md wants it.
static mf_Group *lay_balls(mf_World *world, const mf_Model *ball, double side) {
    mf_Group *group = add_group(world, &WITH(mf_group_config(), .name = "balls", .model = ball,
                                             .count = ROBOTS, .isolated = false));
    MUST(mf_collisions_prepare(group, &error));
    MUST(
        rig_add_articulated(group, &WITH(mf_motions_config().articulated, .shapes = true), &error));
    for (uint32_t i = 0; i < ROBOTS; i++) {
        double rest[6] = {0}, position[7] = {0.155 + 0.02 * chance(i, 300), 10.0 * i, 0.07, 1.0};
        position[1] += side * (0.04 + 0.02 * chance(i, 301));
        mf_group_set_state(group, i, position, rest);
    }
    return group;
}

// Balls that rolled more than 1 m forward, 2 s after a kick whose robot still stands.
static uint32_t count_balls(const Move *move, mf_Motion motion) {
    Fixture fixture = raise_fixture(move->name);
    mf_Model *ball = NULL;
    mf_World *world =
        open_world(fixture.context, &WITH(mf_world_config(), .step = mf_time_from_seconds(0.001)));
    MUST(mf_model_load(fixture.context, BALL, NULL, &ball, &error));
    mf_Group *group = add_robots(&fixture, world, motion, 0.8, true);
    mf_Group *balls = lay_balls(world, ball, move->side);
    mf_Collisions *collisions = NULL;
    mf_CollisionsConfig between = mf_collisions_config();
    between.law = MF_COLLISION_EXPLICIT; // the ball bounces off the foot, as in scenes/soccer.yaml
    MUST(mf_collisions_add(world, &between, &collisions, &error));
    mf_Field *position = mf_group_find_field(group, "base.position");
    for (uint32_t i = 0; i < ROBOTS; i++) {
        put_robot(&fixture, move, group, i, i);
        mf_field_set(position, i, 1, 10.0 * i);
    }
    mf_world_step(world, (uint64_t)lround(1000.0 * SETTLE));
    for (uint32_t i = 0; i < ROBOTS; i++)
        set_field(group, "gait.select", i, 0, i);
    mf_world_step(world, (uint64_t)lround(1000.0 * (mf_gait_duration(fixture.gaits[0]) + WATCH)));
    uint32_t count = 0;
    for (uint32_t i = 0; i < ROBOTS; i++) {
        double height = mf_field_get(position, i, 2);
        double ahead = get_field(balls, "base.position", i, 0);
        count += height > 0.9 * fixture.height && ahead > 1.2;
    }
    mf_world_destroy(world);
    mf_model_destroy(ball);
    clear_fixture(&fixture);
    return count;
}

TEST(kicks_send_the_ball) {
    static const Move kick[] = {{"kick_left", 0.0, 1.0, 0.0, kicks, {54, 56, 58, 58}},
                                {"kick_right", 0.0, -1.0, 0.0, kicks, {54, 56, 58, 58}}};
    static const mf_Motion motions[] = {MF_MOTION_RIGID, MF_MOTION_PRESCRIBED,
                                        MF_MOTION_ARTICULATED};
    for (size_t m = 0; m < sizeof motions / sizeof *motions; m++) {
        for (size_t k = 0; k < sizeof kick / sizeof *kick; k++) {
            uint32_t count = count_balls(&kick[k], motions[m]);
            print_message("%-12s %-13s %2u of %u balls, 13 needed\n", mf_motion_name(motions[m]),
                          kick[k].name, count, ROBOTS);
            assert_true(count >= 13);
        }
    }
}

TEST(moves_at_kinematic) {
    check_moves(moves, sizeof moves / sizeof *moves, MF_MOTION_KINEMATIC, 0);
}

TEST(moves_at_rigid) {
    check_moves(moves, sizeof moves / sizeof *moves, MF_MOTION_RIGID, 1);
}

TEST(moves_at_prescribed) {
    check_moves(moves, sizeof moves / sizeof *moves, MF_MOTION_PRESCRIBED, 2);
}

TEST(moves_at_articulated) {
    check_moves(moves, sizeof moves / sizeof *moves, MF_MOTION_ARTICULATED, 3);
}
