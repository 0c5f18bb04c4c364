// The match of scenes/soccer.yaml, whose teams and referee are a script: teams score, robots seldom
// fall and get up again, and the same seed gives the same bits.
#include "rig/sanitized.h"
#include "scene/watch.h"
#include "script/support.h"

#include <math.h>

enum { BALL = 1, BLUE = 2, RED = 3 };

typedef struct Match {
    Run *run;
    mf_Scene *scene; // of it
    mf_Watch *watch;
    uint32_t happened[MF_HAPPENINGS]; // [1]
} Match;

static Match *kick_off(uint32_t threads, const mf_Override *overrides, uint32_t count) {
    Match *match = calloc(1, sizeof *match);
    mf_Context *context = open_context(threads);
    match->run = open_run(context, load_scene(context, "scenes/soccer.yaml", overrides, count));
    match->scene = &match->run->scene;
    expect_good(match->run);
    MUST(mf_scene_start_scripts(match->scene, &error));
    MUST(mf_watch_create(match->scene, &match->watch, &error));
    return match;
}

static void end(Match **match) {
    mf_watch_destroy((*match)->watch);
    close_run(&(*match)->run);
    free(*match);
}
#define AUTO_MATCH AUTO(end) Match

static mf_Status count_one(const mf_Happening *what, void *user, mf_Error *error) {
    Match *match = user;
    (void)error;
    if (what->group != BALL) // which rolls
        match->happened[what->kind]++;
    return MF_OK;
}

static void play(Match *match, double seconds) {
    for (double t = 0.0; t < seconds - 0.01; t += 0.05) {
        MUST(mf_scene_step(match->scene, 50, NULL, &error));
        MUST(mf_watch_look(match->watch, count_one, match, &error));
    }
}

static double sum_of(const Match *match, uint32_t group, const char *value) {
    mf_Group *team = mf_world_group(match->scene->world, group);
    double sum = 0.0;
    for (uint32_t i = 0; i < mf_group_count(team); i++)
        sum += get_field(team, value, i, 0);
    return sum;
}

// Falls are those that a program sees, not those that the script counts. With sanitizers, which are
// slow, it is too short for goals.
TEST(teams_score_a_goal_a_minute_and_seldom_fall) {
    static const char *const seeds[] = {"1", "2", "3"};
    uint32_t goals = 0, falls = 0;
    for (int i = 0; i < (SANITIZED ? 1 : 3); i++) {
        AUTO_MATCH *match = kick_off(2, &(mf_Override){"world.seed", seeds[i]}, 1);
        play(match, SANITIZED ? 10.0 : 60.0);
        print_message("seed %s: %g : %g, %g + %g shots, %u falls\n", seeds[i],
                      sum_of(match, BLUE, "value.score"), sum_of(match, RED, "value.score"),
                      sum_of(match, BLUE, "value.kicks"), sum_of(match, RED, "value.kicks"),
                      match->happened[MF_HAPPENING_FALL]);
        assert_true(match->happened[MF_HAPPENING_SCORE] ==
                    sum_of(match, BLUE, "value.score") + sum_of(match, RED, "value.score"));
        assert_int_equal(match->happened[MF_HAPPENING_FAULT], 0);
        goals += match->happened[MF_HAPPENING_SCORE];
        falls += match->happened[MF_HAPPENING_FALL];
    }
    assert_true(goals >= 3 || SANITIZED);
    assert_true(falls <= goals);
}

// Lays robot `i` of blue down: 1.57 on its front, -1.57 on its back.
static void lay_down(const Match *match, uint32_t i, double pitch) {
    mf_Group *robots = mf_world_group(match->scene->world, BLUE);
    const double rotation[4] = {cos(0.5 * pitch), 0.0, sin(0.5 * pitch), 0.0};
    set_field(robots, "base.position", i, 2, 0.13);
    for (uint32_t c = 0; c < 4; c++)
        set_field(robots, "base.orientation", i, c, rotation[c]);
    mf_group_refresh(robots, i);
}

TEST(lying_robots_get_up) {
    static const char *const levels[] = {"rigid", "prescribed"};
    for (int i = 0; i < 2; i++) {
        const mf_Override overrides[] = {{"groups.blue.motion", levels[i]},
                                         {"groups.blue.switch.0.when.near.distance", "0"},
                                         {"groups.blue.switch.1.when.far.distance", "1000"}};
        AUTO_MATCH *match = kick_off(1, overrides, 3);
        lay_down(match, 2, 1.57);
        lay_down(match, 3, -1.57);
        play(match, 14.0);
        for (uint32_t k = 2; k < 4; k++)
            assert_true(get(match->scene, BLUE, "base.position", k, 2) > 0.2);
    }
}

static uint64_t hash_of_match(uint32_t threads, const char *seed) {
    AUTO_MATCH *match = kick_off(threads, &(mf_Override){"world.seed", seed}, 1);
    play(match, 1.2);
    return mf_world_hash(match->scene->world);
}

TEST(a_match_is_the_same_every_time) {
    const uint64_t hash = hash_of_match(1, "1");
    assert_true(hash_of_match(3, "1") == hash);
    assert_true(hash_of_match(1, "2") != hash);
}
