// A game of soccer: the world system that runs coaches and referee. All state of the game is in
// fields of the robots (which gait, and whether it has finished), so snapshots contain it; counts
// are statistics only.
#include "scene/soccer/play.h"
#include "world/attach.h"
#include "world/systems.h"

#include "math/scalar.h"

#include <string.h>

static const char *const move_names[MF_PLAY_MOVES] = {"walk",       "stand",        "kick_left",
                                                      "kick_right", "get_up_front", "get_up_back",
                                                      "dive_left",  "dive_right"};

mf_Player mf_play_see(const mf_PlayTeam *team, uint32_t robot) {
    double q[4];
    mf_field_read(team->orientation, robot, 0, 4, q);
    mf_Player player;
    player.position[0] = mf_field_get(team->position, robot, 0);
    player.position[1] = mf_field_get(team->position, robot, 1);
    player.heading =
        mf_atan2(2.0 * (q[1] * q[2] + q[0] * q[3]), 1.0 - 2.0 * (q[2] * q[2] + q[3] * q[3]));
    player.upright = 1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]);
    player.chest = 2.0 * (q[1] * q[3] - q[0] * q[2]);
    return player;
}

// ---- the referee -------------------------------------------------------------------------------

// Puts the ball at rest on the ground and keeps its orientation.
static void put_ball(mf_Play *play, double x, double y) {
    const mf_Model *ball = mf_group_model(play->ball);
    double *q = play->state, *v = q + ball->position_count;
    memcpy(q, ball->start_position, ball->position_count * sizeof *q);
    memset(v, 0, ball->velocity_count * sizeof *v);
    q[0] = x;
    q[1] = y;
    q[2] =
        mf_terrain_height(mf_world_config_of(play->world)->terrain, x, y, NULL) + ball->rest_height;
    mf_group_set_state(play->ball, 0, q, v);
}

static double limit(double value, double most) {
    return most > 0.0 ? mf_clamp(value, -most, most) : 0.0;
}

// Counts goals and puts the ball back.
static void referee(mf_Play *play) {
    const mf_SoccerTeam *first = play->teams[0].behavior;
    double x = mf_field_get(play->ball_position, 0, 0), y = mf_field_get(play->ball_position, 0, 1);
    double line = mf_abs(first->goal[0]), touch = 0.5 * first->field_width;
    if (mf_abs(x) > line && mf_abs(y) < 0.5 * first->goal_width) {
        for (uint32_t t = 0; t < play->team_count; t++)
            play->teams[t].count.goals += play->teams[t].behavior->goal[0] * x > 0.0;
        put_ball(play, 0.0, 0.0);
    } else if (mf_abs(x) > line || mf_abs(y) > touch) {
        play->teams[0].count.out++;
        put_ball(play, limit(x, line - 1.0), limit(y, touch - 0.5));
    }
}

// ---- the system ---------------------------------------------------------------------------------

static void run(const mf_WorldRun *run, void *user) {
    mf_Play *play = user;
    (void)run;
    referee(play);
    for (uint32_t t = 0; t < play->team_count; t++)
        mf_play_tactics(play, &play->teams[t]);
}

static void destroy(mf_Context *context, void *user) {
    mf_Play *play = user;
    mf_release(context, play->state);
    mf_release(context, play);
}

static void take_team(mf_Play *play, const mf_SceneFile *file, uint32_t index) {
    const mf_SceneGroup *from = &file->groups[index];
    mf_PlayTeam *team = &play->teams[play->team_count++];
    mf_Group *group = mf_world_group(play->world, index);
    *team = (mf_PlayTeam){.group = group,
                          .index = index,
                          .behavior = &from->behavior.soccer,
                          .position = mf_group_find_field(group, "base.position"),
                          .orientation = mf_group_find_field(group, "base.orientation"),
                          .select = mf_group_find_field(group, "gait.select"),
                          .done = mf_group_find_field(group, "gait.done"),
                          .command = mf_group_find_field(group, "gait.command")};
    for (uint32_t m = 0; m < MF_PLAY_MOVES; m++) {
        team->moves[m] = MF_NONE;
        for (uint32_t g = 0; g < from->gait_count; g++)
            if (strcmp(from->gaits[g], move_names[m]) == 0)
                team->moves[m] = g;
    }
    play->ball = mf_world_find_group(play->world, from->behavior.soccer.ball);
}

mf_Status mf_scene_add_play(mf_Scene *scene, mf_Error *error) {
    const mf_SceneFile *file = scene->file;
    mf_Context *context = mf_world_context(scene->world);
    mf_Play *play = mf_allocate(context, 1, sizeof *play);
    MF_NEED_MEMORY(play != NULL, error, "scene");
    play->context = context;
    play->world = scene->world;
    for (uint32_t g = 0; g < file->group_count; g++)
        if (file->groups[g].behavior.kind == MF_BEHAVIOR_SOCCER)
            take_team(play, file, g);
    if (play->team_count == 0) {
        destroy(context, play);
        return MF_OK;
    }
    const mf_Model *ball = mf_group_model(play->ball);
    if (ball->base != MF_BASE_FREE) { // the referee could not move it
        destroy(context, play);
        return mf_fail_at(
            error, MF_UNSUPPORTED, file->file, 0, 0,
            "behavior.soccer.ball: expected a body that can move, found model %.80s, which is "
            "fixed in the world",
            ball->name);
    }
    play->ball_position = mf_group_find_field(play->ball, "base.position");
    play->ball_velocity = mf_group_find_field(play->ball, "base.linear_velocity");
    play->state =
        mf_allocate(context, ball->position_count + ball->velocity_count + 1, sizeof(double));
    mf_WorldSystemConfig system = mf_attach_world_system("play", MF_PHASE_CONTROL, run, play);
    system.rate = file->groups[play->teams[0].index].behavior.rate;
    system.destroy = destroy;
    mf_Status status = play->state == NULL ? mf_fail(error, MF_NO_MEMORY, "scene: out of memory")
                                           : mf_world_add_system(scene->world, &system, error);
    if (status != MF_OK) {
        destroy(context, play);
        return status;
    }
    scene->play = play;
    return MF_OK;
}

mf_PlayCount mf_play_count(const mf_Play *play, uint32_t group) {
    for (uint32_t t = 0; play != NULL && t < play->team_count; t++)
        if (play->teams[t].index == group)
            return play->teams[t].count;
    return (mf_PlayCount){0};
}
