// Behavior of a team: the robot nearest to the ball walks behind it and kicks it to the goal, the
// others keep a position behind it, the goalkeeper stands between ball and goal and dives for fast
// balls; fallen robots get up; all avoid each other.
#include "scene/soccer/play.h"

#include "math/scalar.h"

#include <math.h>

#define LYING 0.6        // [1] cosine of the tilt below which a robot has fallen
#define AIMED 0.22       // [rad] aiming tolerance of a kick
#define PLACED 0.022     // [m] tolerance of the ball's position for a kick
#define BEHIND 0.35      // [m] distance behind the ball of a player's approach
#define KEEPER_LINE 0.45 // [m] distance of the keeper from its goal line
#define SAVE_TIME 1.2    // [s] the keeper dives for balls that reach the line within this time
#define SAVE_REACH 0.15  // [m] nearer balls are stopped without a dive

typedef struct Wish {
    double position[2]; // [m]
    double heading;     // [rad]
} Wish;

static double length_of(double x, double y) {
    return mf_sqrt(x * x + y * y);
}

static void choose(const mf_PlayTeam *team, uint32_t robot, mf_PlayMove move) {
    mf_field_set(team->select, robot, 0, team->moves[move]);
    for (uint32_t c = 0; c < 3; c++)
        mf_field_set(team->command, robot, c, 0.0);
}

// In the middle of a kick, a dive, or getting up; or just finished with one, which must be
// deselected before it can begin again.
static bool is_busy(const mf_PlayTeam *team, uint32_t robot) {
    uint32_t select = (uint32_t)mf_field_get(team->select, robot, 0);
    if (select == MF_NONE || select == team->moves[MF_PLAY_WALK] ||
        select == team->moves[MF_PLAY_STAND])
        return false;
    if (mf_field_get(team->done, robot, 0) > 0.0)
        choose(team, robot, MF_PLAY_STAND);
    return true;
}

// ---- walking -----------------------------------------------------------------------------------

// Changes the desired velocity [m/s], world axes, away from players that are too near.
static void keep_apart(const mf_Play *play, const mf_PlayTeam *own, uint32_t robot,
                       const mf_Player *player, double velocity[2]) {
    double spacing = own->behavior->spacing;
    for (uint32_t t = 0; t < play->team_count; t++)
        for (uint32_t i = 0; i < mf_group_count(play->teams[t].group); i++) {
            if (&play->teams[t] == own && i == robot)
                continue;
            const mf_Player other = mf_play_see(&play->teams[t], i);
            double x = player->position[0] - other.position[0],
                   y = player->position[1] - other.position[1];
            double far = length_of(x, y);
            if (far >= spacing || far < 1e-6)
                continue;
            double force = own->behavior->speed * (1.0 - far / spacing) / far;
            velocity[0] += force * x;
            velocity[1] += force * y;
        }
}

// Far from the target the robot faces its direction of travel; near it, it also walks sideways and
// backward.
static void walk_to(const mf_Play *play, mf_PlayTeam *team, uint32_t robot, const mf_Player *player,
                    const Wish *wish) {
    double speed = team->behavior->speed, sine, cosine;
    double x = wish->position[0] - player->position[0], y = wish->position[1] - player->position[1];
    double far = length_of(x, y), pace = mf_clamp(1.5 * far, 0.0, speed);
    double velocity[2] = {far > 0.0 ? pace * x / far : 0.0, far > 0.0 ? pace * y / far : 0.0};
    keep_apart(play, team, robot, player, velocity);
    mf_sin_cos(player->heading, &sine, &cosine);
    double forward = velocity[0] * cosine + velocity[1] * sine;
    double left = velocity[1] * cosine - velocity[0] * sine;
    double facing = far > BEHIND ? mf_atan2(velocity[1], velocity[0]) : wish->heading;
    double angle = mf_wrap_angle(facing - player->heading);
    if (far > BEHIND && mf_abs(angle) > 0.9)
        forward = left = 0.0; // turn in place first
    if (far < 0.03 && mf_abs(angle) < 0.1) {
        choose(team, robot, MF_PLAY_STAND);
        return;
    }
    mf_field_set(team->select, robot, 0, team->moves[MF_PLAY_WALK]);
    mf_field_set(team->command, robot, 0, forward);
    mf_field_set(team->command, robot, 1, left);
    mf_field_set(team->command, robot, 2, 1.5 * angle);
}

// ---- roles -------------------------------------------------------------------------------------

// Kicks when the ball is in position. `aim` [rad] is the direction to the goal.
static bool kick(mf_PlayTeam *team, uint32_t robot, const mf_Player *player, const double ball[2],
                 double aim) {
    double sine, cosine;
    mf_sin_cos(player->heading, &sine, &cosine);
    double x = ball[0] - player->position[0], y = ball[1] - player->position[1];
    double ahead = x * cosine + y * sine - team->behavior->kick[0];
    double aside = y * cosine - x * sine;
    double foot = team->behavior->kick[1];
    if (mf_abs(mf_wrap_angle(aim - player->heading)) > AIMED || mf_abs(ahead) > 2.0 * PLACED)
        return false;
    if (mf_abs(aside - foot) < PLACED)
        choose(team, robot, MF_PLAY_KICK_LEFT);
    else if (mf_abs(aside + foot) < PLACED)
        choose(team, robot, MF_PLAY_KICK_RIGHT);
    else
        return false;
    team->count.kicks++;
    return true;
}

// Walks behind the ball, seen from the goal: first at a distance, then with the ball at the nearer
// foot.
static void attack(mf_Play *play, mf_PlayTeam *team, uint32_t robot, const mf_Player *player,
                   const double ball[2]) {
    const mf_SoccerTeam *behavior = team->behavior;
    double aim = mf_atan2(behavior->goal[1] - ball[1], behavior->goal[0] - ball[0]);
    double sine, cosine;
    mf_sin_cos(aim, &sine, &cosine);
    double x = player->position[0] - ball[0], y = player->position[1] - ball[1];
    double along = x * cosine + y * sine, across = y * cosine - x * sine;
    if (kick(team, robot, player, ball, aim))
        return;
    double foot = across > 0.0 ? -behavior->kick[1] : behavior->kick[1];
    double back = behavior->kick[0], side = -foot;
    bool ready = along < -0.6 * back && mf_abs(across - side) < 0.12 &&
                 mf_abs(mf_wrap_angle(aim - player->heading)) < 0.5;
    if (!ready)
        back = BEHIND;
    if (along > -0.1 && mf_abs(across) < 0.4) // on the wrong side: around the ball
        side = across > 0.0 ? 0.5 : -0.5;
    Wish wish = {{ball[0] - back * cosine - side * sine, ball[1] - back * sine + side * cosine},
                 aim};
    walk_to(play, team, robot, player, &wish);
}

// A position between the ball and the own goal, on a side of its own.
static void support(mf_Play *play, mf_PlayTeam *team, uint32_t robot, const mf_Player *player,
                    const double ball[2]) {
    const double *own = team->behavior->own_goal;
    double x = own[0] - ball[0], y = own[1] - ball[1], far = length_of(x, y);
    double part = far > 1e-6 ? mf_clamp(1.3 / far, 0.0, 0.8) : 0.0;
    double side = robot % 2 == 0 ? 1.0 : -1.0, spread = far > 1e-6 ? side / far : 0.0;
    Wish wish = {{ball[0] + part * x - spread * y, ball[1] + part * y + spread * x},
                 mf_atan2(ball[1] - player->position[1], ball[0] - player->position[0])};
    walk_to(play, team, robot, player, &wish);
}

// Where the ball will cross the goal line, from the center of the goal [m]; false when it will not
// soon, or not between the posts.
static bool is_coming(const mf_Play *play, const mf_PlayTeam *team, double *aside) {
    const double *own = team->behavior->own_goal;
    double distance = own[0] - mf_field_get(play->ball_position, 0, 0);
    double speed = mf_field_get(play->ball_velocity, 0, 0);
    if (!(distance * speed > 0.0) || mf_abs(distance) > SAVE_TIME * mf_abs(speed))
        return false;
    *aside = mf_field_get(play->ball_position, 0, 1) - own[1] +
             mf_field_get(play->ball_velocity, 0, 1) * distance / speed;
    return mf_abs(*aside) < 0.5 * team->behavior->goal_width;
}

static void keep(mf_Play *play, mf_PlayTeam *team, uint32_t robot, const mf_Player *player,
                 const double ball[2]) {
    const mf_SoccerTeam *behavior = team->behavior;
    const double *own = behavior->own_goal;
    double forward = own[0] > 0.0 ? -1.0 : 1.0, aside;
    if (is_coming(play, team, &aside)) {
        double gap = (aside + own[1] - player->position[1]) * forward; // > 0: to its left
        if (mf_abs(gap) > SAVE_REACH) {
            choose(team, robot, gap > 0.0 ? MF_PLAY_DIVE_LEFT : MF_PLAY_DIVE_RIGHT);
            team->count.dives++;
            return;
        }
    }
    double x = ball[0] - own[0], y = ball[1] - own[1], far = length_of(x, y);
    double most = 0.4 * behavior->goal_width;
    double shift = far > 1e-6 ? mf_clamp(KEEPER_LINE * y / far, -most, most) : 0.0;
    Wish wish = {{own[0] + forward * KEEPER_LINE, own[1] + shift}, forward > 0.0 ? 0.0 : MF_PI};
    walk_to(play, team, robot, player, &wish);
}

// The nearest robot to the ball that can walk, except the keeper.
static uint32_t find_striker(const mf_PlayTeam *team, const double ball[2]) {
    uint32_t striker = MF_NONE;
    double least = INFINITY;
    for (uint32_t i = team->behavior->keeper ? 1 : 0; i < mf_group_count(team->group); i++) {
        const mf_Player player = mf_play_see(team, i);
        double far = length_of(player.position[0] - ball[0], player.position[1] - ball[1]);
        if (player.upright < LYING || mf_group_fault(team->group, i) != 0 || !(far < least))
            continue;
        least = far;
        striker = i;
    }
    return striker;
}

void mf_play_tactics(mf_Play *play, mf_PlayTeam *team) {
    const double ball[2] = {mf_field_get(play->ball_position, 0, 0),
                            mf_field_get(play->ball_position, 0, 1)};
    uint32_t striker = find_striker(team, ball);
    for (uint32_t i = 0; i < mf_group_count(team->group); i++) {
        const mf_Player player = mf_play_see(team, i);
        if (mf_group_fault(team->group, i) != 0 || is_busy(team, i))
            continue;
        if (player.upright < LYING) {
            choose(team, i, player.chest < 0.0 ? MF_PLAY_UP_FRONT : MF_PLAY_UP_BACK);
            team->count.falls++;
        } else if (team->behavior->keeper && i == 0) {
            keep(play, team, i, &player, ball);
        } else if (i == striker) {
            attack(play, team, i, &player, ball);
        } else {
            support(play, team, i, &player, ball);
        }
    }
}
