// The gaits of the supplied robots at the levels of motion that they support: robots stay upright
// and follow commanded speeds and yaw rates; smoothed balance.
#include "control/walker.h"
#include "model/points.h"

// What is run; NAN: friction as the model or the level has it.
typedef struct Trial {
    const char *robot, *gait;
    mf_Motion motion;
    mf_Time step;
    double friction, command[3], duration; // [1], [m/s], [m/s], [rad/s], [s]
} Trial;

// How far it came along and across its own heading, how far it turned, whether it stayed up.
typedef struct Travel {
    double forward, left, turned; // [m], [m], [rad]
    bool up;
} Travel;

static void add_motion(mf_Group *group, const Trial *trial) {
    mf_MotionsConfig config = mf_motions_config();
    config.kinematic.shapes = config.rigid.shapes = true;
    config.prescribed.shapes = config.articulated.shapes = true;
    config.rigid.friction = config.prescribed.friction = trial->friction;
    config.articulated.friction = trial->friction;
    config.points.joint_interval = 10 * MF_MILLISECOND;
    if (!isnan(trial->friction))
        config.points.friction_coefficient = trial->friction;
    MUST(mf_motion_add(group, trial->motion, &config, &error));
}

// Stands the robot on the ground in the gait's first pose and lets it begin.
static Walker open_walker(const Trial *trial) {
    double position[64][3], rotation[64][4], at[3] = {0, 0, 0};
    Walker walker = load_walker(trial->robot, trial->gait);
    add_walkers(&walker, trial->step, mf_group_config());
    add_motion(walker.group, trial);
    add_gait(&walker);
    mf_model_pose(walker.model, walker.angles, position, rotation);
    at[2] = -mf_model_lowest(walker.model, position, rotation, trial->motion != MF_MOTION_POINTS);
    MUST(mf_group_set_start(walker.group, 0, at, NULL, NULL, &error));
    const uint32_t joints = walker.model->joint_count;
    set_fields(walker.group, "joint.angle", 0, joints, walker.angles);
    set_fields(walker.group, "joint.target", 0, joints, walker.angles);
    mf_group_refresh(walker.group, 0);
    set_fields(walker.group, "gait.command", 0, 3, trial->command);
    return walker;
}

static Travel go(const Trial *trial) {
    AUTO_WALKER walker = open_walker(trial);
    Travel travel = {.up = true};
    const mf_Field *rotation = mf_group_find_field(walker.group, "base.orientation");
    const mf_Field *base = mf_group_find_field(walker.group, "base.position");
    double heading = 0, x = 0, y = 0;
    for (int n = 0; n < (int)(trial->duration * 50.0); n++) {
        mf_world_step(walker.world, (uint64_t)(20 * MF_MILLISECOND / trial->step));
        double q[4];
        for (uint32_t c = 0; c < 4; c++)
            q[c] = mf_field_get(rotation, 0, c);
        double now = atan2(2 * (q[0] * q[3] + q[1] * q[2]), 1 - 2 * (q[2] * q[2] + q[3] * q[3]));
        double change = remainder(now - heading, 2 * M_PI), between = heading + change / 2;
        double dx = mf_field_get(base, 0, 0) - x, dy = mf_field_get(base, 0, 1) - y;
        travel.turned += change;
        travel.forward += dx * cos(between) + dy * sin(between);
        travel.left += dy * cos(between) - dx * sin(between);
        travel.up = travel.up && 1 - 2 * (q[1] * q[1] + q[2] * q[2]) > 0.8;
        heading = now, x += dx, y += dy;
    }
    travel.up = travel.up && mf_group_fault(walker.group, 0) == 0;
    return travel;
}

static void expect(const Trial *trial, Travel travel, bool holds) {
    if (!holds)
        fail_msg("%s %s %s, mu %g, told %g %g %g: %.3f m forward, %.3f m left, turned by %.3f%s",
                 trial->robot, trial->gait, mf_motion_name(trial->motion), trial->friction,
                 trial->command[0], trial->command[1], trial->command[2], travel.forward,
                 travel.left, travel.turned, travel.up ? "" : ", fell");
}

// ---- the humanoid ------------------------------------------------------------------------------

static const mf_Motion dynamic[] = {MF_MOTION_POINTS, MF_MOTION_RIGID, MF_MOTION_PRESCRIBED,
                                    MF_MOTION_ARTICULATED};
enum { DYNAMIC = sizeof dynamic / sizeof *dynamic };

// Feet of `points` that slide on single corners of their soles push at those corners only as hard
// as they can: without that the walk turned by 1 to 11 rad in 10 s. With feet that hold it turns by
// 0.1.
TEST(feet_that_slide_go_straight) {
    static const double coefficients[] = {0.3, 0.8};
    for (int i = 0; i < 2; i++)
        for (int step = 1; step <= 10; step += 9) {
            Trial trial = {
                "humanoid",  "walk", MF_MOTION_POINTS, step * MF_MILLISECOND, coefficients[i],
                {0.1, 0, 0}, 10};
            Travel travel = go(&trial);
            expect(&trial, travel, travel.up && travel.forward > 0.8 && fabs(travel.turned) < 0.3);
        }
}

// 0.3 rad/s for 10 s, after a start of half a second of it: 2.93 rad. Seen: 2.63 to 2.91.
TEST(the_walk_follows_commanded_yaw_rate) {
    for (int i = 0; i < DYNAMIC; i++)
        for (int side = -1; side <= 1; side += 2) {
            Trial trial = {"humanoid",         "walk", dynamic[i], MF_MILLISECOND, NAN,
                           {0, 0, 0.3 * side}, 10};
            Travel travel = go(&trial);
            expect(&trial, travel, travel.up && fabs(side * travel.turned - 2.93) < 0.15 * 2.93);
        }
}

TEST(the_walk_follows_commanded_velocity) {
    for (int i = 0; i < DYNAMIC; i++) {
        Trial ahead = {"humanoid", "walk", dynamic[i], MF_MILLISECOND, NAN, {0.1, 0, 0}, 10};
        Trial aside = {"humanoid", "walk", dynamic[i], MF_MILLISECOND, NAN, {0, 0.04, 0}, 10};
        Travel travel = go(&ahead);
        expect(&ahead, travel,
               travel.up && fabs(travel.forward - 0.96) < 0.1 && fabs(travel.turned) < 0.35);
        travel = go(&aside);
        expect(&aside, travel,
               travel.up && fabs(travel.left - 0.38) < 0.08 && fabs(travel.forward) < 0.1);
    }
}

// Balance moves joints that turn the trunk whose rate it acts on. Where joints go exactly where
// they are told, only rates that are smoothed over more than the gains leave the robot on its feet.
TEST(balance_walks_at_every_level) {
    for (int i = 0; i < DYNAMIC; i++) {
        Trial trial = {"humanoid", "walk_balanced", dynamic[i], MF_MILLISECOND,
                       NAN,        {0.1, 0, 0},     10};
        Travel travel = go(&trial);
        expect(&trial, travel,
               travel.up && fabs(travel.forward - 0.96) < 0.25 && fabs(travel.turned) < 0.5);
    }
}

// A constant rate w, felt from tick to tick: after n of them w (1 - (smooth / (tick + smooth))^n).
TEST(balance_is_smoothed) {
    static const double smooth[] = {0.0, 0.05, 0.3};
    const double rate = 0.4, gain = 0.1, tick = 0.01;
    for (int s = 0; s < 3; s++) {
        AUTO_WALKER walker = load_walker("humanoid", "walk");
        walker.gait->walk.balance =
            (mf_GaitBalance){.ankle_pitch = gain, .memory = 1, .smooth = smooth[s]};
        walker.gait->walk.blend = 0.0;
        add_walkers(&walker, 10 * MF_MILLISECOND,
                    WITH(mf_group_config(), .double_precision = true));
        add_gait(&walker);
        set_field(walker.group, "base.angular_velocity", 0, 1, rate);
        const uint32_t ankle = mf_model_find(walker.model, MF_ITEM_JOINT, "left_ankle_pitch");
        for (int n = 1; n <= 20; n++) {
            mf_world_step(walker.world, 1);
            double commanded = get_field(walker.group, "joint.target", 0, ankle);
            double felt = rate * (1 - pow(smooth[s] / (tick + smooth[s]), n));
            assert_true(fabs(commanded - walker.angles[ankle] - gain * felt) < 1e-12);
        }
    }
}

// ---- four legs ---------------------------------------------------------------------------------

// The amble stands on two legs for a part of its period, at `kinematic` for moments on one. A robot
// that did not fall on from there came nowhere (-0.07 m); full dynamics goes 0.90 m.
TEST(the_amble_walks_without_dynamics) {
    Trial trial = {"quadruped", "amble", MF_MOTION_KINEMATIC, MF_MILLISECOND, NAN, {0.1, 0, 0}, 10};
    Travel travel = go(&trial);
    expect(&trial, travel, travel.up && travel.forward > 0.6 && fabs(travel.turned) < 0.2);
}
