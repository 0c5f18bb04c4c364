// Check cases of contact, under `articulated`: rest, bounces, rolling, creep, collisions in a row
// (the D cases of the literature list; stacks are in check_stack.c).
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

static const double along_z[3] = {0, 0, 1};
static const double none[3] = {0, 0, 0};

// ---- rest and bounces ---------------------------------------------------------------------------

// A block of 2 kg on four contacts of 1000 N/m lies m g / (4 k) deep.
static void check_rest(mf_CheckRun *run) {
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_IMPLICIT, 5 * MF_MILLISECOND);
    mf_rig_start_block(run, 2.0, none, 0.2, 0.2, 0.1);
    config.motions.articulated.contact_stiffness = 1000.0;
    mf_rig_open(run, &config);
    mf_rig_step(run, 4000);
    mf_check_near(run, "penetration at rest [m]", 0.004905,
                  0.1 - mf_rig_get(run, "base.position", 2), 1e-9);
    for (uint32_t i = 0; i < 4; i++)
        mf_rig_near(run, "contact.load", i, "load of a contact [N]", 4.905, 1e-6);
}

// A mass on a spring with a damper that may pull: it passes its entry position with exp(-pi z /
// sqrt(1 - z^2)) of its speed.
static void check_adhesive(mf_CheckRun *run) {
    static const double cases[2][2] = {{0.1, 0.7292476}, {0.2154538, 0.5}};
    for (int i = 0; i < 2; i++) {
        mf_RigConfig config = mf_rig_config(MF_ARTICULATED_RK4, MF_MILLISECOND / 100);
        mf_HandModel *hand = mf_rig_start(run);
        mf_rig_body(run, mf_hand_slide(hand, 0, 0, 0, 0, along_z), 2.0, none, none);
        hand->joints[0].stiffness = 2e4;
        hand->joints[0].damping = 2.0 * cases[i][0] * sqrt(2.0 * 2e4);
        config.world.gravity = 0.0;
        config.motions.articulated.base = MF_ARTICULATED_FIXED;
        mf_rig_open(run, &config);
        double before = 0.0, now = -1e-300, speed[2] = {0, -1};
        mf_rig_set(run, "joint.rate", 0, -1.0);
        for (int n = 0; n < 10000 && now < 0.0; n++) {
            mf_rig_step(run, 1);
            before = now;
            now = mf_rig_get(run, "joint.angle", 0);
            speed[0] = speed[1];
            speed[1] = mf_rig_get(run, "joint.rate", 0);
        }
        mf_check_near(run, mf_check_name(run, "rebound speed, damping ratio %g", cases[i][0]),
                      cases[i][1], speed[1] - now / (now - before) * (speed[1] - speed[0]), 1e-6);
    }
}

// A point of 2 kg over the ground, whose contact has the frequency [rad/s] and damping ratio given.
static void open_ball(mf_CheckRun *run, double frequency, double ratio, mf_RigConfig *config) {
    mf_HandModel *hand = mf_rig_start(run);
    mf_rig_body(run, 0, 2.0, none, (double[3]){1, 1, 1});
    mf_hand_point(hand, 0, 0, 0, 0, 0.0, true);
    config->motions.articulated.contact_stiffness = 2.0 * frequency * frequency;
    config->motions.articulated.contact_damping = 2.0 * ratio * 2.0 * frequency;
    config->motions.articulated.contact_depth = 1.0;
    mf_rig_open(run, config);
}

// Restitution and duration of a contact with a spring and damper that cannot pull (Schwager and
// Poeschel 2007).
static void check_bounce(mf_CheckRun *run) {
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_RK4, MF_MILLISECOND / 100);
    config.world.gravity = 0.0;
    open_ball(run, 100.0, 0.1, &config);
    int pressed = 0;
    mf_rig_set(run, "base.position", 2, 1e-6);
    mf_rig_set(run, "base.linear_velocity", 2, -1.0);
    for (int n = 0; n < 6000; n++) {
        mf_rig_step(run, 1);
        pressed += mf_rig_get(run, "contact.load", 0) > 0.0;
    }
    mf_rig_near(run, "base.linear_velocity", 2, "coefficient of restitution", 0.7440794, 1e-4);
    mf_check_near(run, "duration of the contact [s]", 0.02956076, 1e-5 * pressed, 2e-5);
}

// A ball with restitution 0.8, dropped from 1 m. The closed form assumes instantaneous contacts: a
// frequency of 10^4/s makes them 0.3 ms long and weight a part g / (10^4 v) of the force, 2 10^-4
// for the first; a step of 2 us sees the jump of the damper's force within 0.1 % of it.
static void check_bounces(mf_CheckRun *run) {
    static const double heights[3] = {0.64, 0.4096, 0.262144};
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_RK4, MF_MILLISECOND / 500);
    open_ball(run, 1e4, 0.07435509709764057, &config);
    double z = 1.0, speed = 0.0, distance = 0.0, rest = 0.0;
    int tops = 0;
    mf_rig_set(run, "base.position", 2, z);
    for (int n = 0; n < 2100000; n++) {
        mf_rig_step(run, 1);
        double before = z, was = speed;
        z = mf_rig_get(run, "base.position", 2);
        speed = mf_rig_get(run, "base.linear_velocity", 2);
        distance += fabs(z - before);
        if (fabs(speed) > 0.01 || z > 1e-4)
            rest = mf_rig_time(run); // still bouncing
        if (was > 0.0 && speed <= 0.0 && z > 1e-3 && tops < 3) {
            mf_check_near(run, mf_check_name(run, "height of bounce %d [m]", tops + 1),
                          heights[tops], z, 2e-3 * heights[tops]);
            tops++;
        }
    }
    mf_check_near(run, "time of rest [s]", 4.0637128, rest, 0.02);
    mf_check_near(run, "length of its path [m]", 4.5556, distance, 5e-3);
}

// ---- rolling ------------------------------------------------------------------------------------

typedef struct Roller {
    const char *name, *geom; // radius 0.1 m along y
    double contacts;         // [1] that share its weight
    double moment;           // [1] about y, over m r^2
    double limit;            // [rad] slope up to which it rolls at friction 0.5
    double beyond;           // [1] r w / v one degree above: moment and friction alone decide
} Roller;

static const Roller ball = {"sphere", "sphere' size='0.1",       1.0,
                            0.4,      60.2551 * MF_CHECK_DEGREE, 0.94471845};
static const Roller cylinder = {
    "cylinder", "cylinder' size='0.1 0.1' euler='90 0 0", 4.0, 0.5, 56.3099 * MF_CHECK_DEGREE,
    0.94495254};
static const Roller hoop = {
    "hoop", "cylinder' size='0.1 0.1' euler='90 0 0", 4.0, 1.0, 45.0 * MF_CHECK_DEGREE, 0.93365396};

// A roller of 3 kg on a plane of the world that falls towards +x, pressed in as at rest.
static void roll(mf_CheckRun *run, const Roller *roller, double angle, mf_Time step, int steps,
                 double got[3]) {
    static const char form[] =
        "<mujoco><worldbody><geom type='plane' size='1 1 1' euler='0 %.17g 0' friction='0.5'/>"
        "<body><freejoint/><inertial pos='0 0 0' mass='3' diaginertia='%.17g %.17g %.17g'/>"
        "<geom type='%s' friction='0.5'/></body></worldbody></mujoco>";
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_IMPLICIT, step);
    char text[1024];
    double moment = 0.03 * roller->moment, sine = sin(angle), cosine = cos(angle);
    double time = 2.0 * mf_time_to_seconds(step), stiffness = 3.0 / (time * time);
    double height = 0.1 - 3.0 * 9.81 * cosine / (roller->contacts * stiffness);
    config.motions.articulated.contacts = false;
    config.motions.articulated.contact_stiffness = stiffness;
    config.motions.articulated.sweeps = 100; // the default 8 do not converge for several contacts
    snprintf(text, sizeof text, form, angle / MF_CHECK_DEGREE, moment, moment, moment,
             roller->geom);
    mf_rig_open_text(run, text, &config);
    mf_rig_set3(run, "base.position", height * sine, 0, height * cosine);
    mf_rig_step(run, (uint64_t)steps);
    got[0] =
        mf_rig_get(run, "base.position", 0) * cosine - mf_rig_get(run, "base.position", 2) * sine;
    got[1] = mf_rig_get(run, "base.linear_velocity", 0) * cosine -
             mf_rig_get(run, "base.linear_velocity", 2) * sine;
    got[2] = 0.1 * mf_rig_get(run, "base.angular_velocity", 1) / got[1];
}

// The same sphere on ground that falls towards +x.
static void roll_on_ground(mf_CheckRun *run, double angle, double got[2]) {
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
    config.motions.articulated.shapes = true;
    config.world.terrain = mf_rig_slope(run, -angle);
    mf_rig_open_geom(run, "", "type='sphere' size='0.1' mass='3'", &config);
    double sine = sin(angle), cosine = cos(angle);
    mf_rig_set3(run, "base.position", 0.1 * sine, 0, 0.1 * cosine);
    mf_rig_step(run, 1000);
    got[0] = mf_rig_get(run, "base.linear_velocity", 0) * cosine -
             mf_rig_get(run, "base.linear_velocity", 2) * sine;
    got[1] = 0.1 * mf_rig_get(run, "base.angular_velocity", 1) / got[0];
}

// A solid sphere on 15 degrees for 1 s: 5/7 g sin. Relative 5.5e-4, at which Drake passes.
static void check_roll(mf_CheckRun *run) {
    double got[3];
    roll(run, &ball, 15 * MF_CHECK_DEGREE, MF_MILLISECOND / 2, 2000, got);
    mf_check_near(run, "distance after 1 s [m]", 0.9067910, got[0], 5.5e-4 * 0.906791);
    mf_check_near(run, "speed after 1 s [m/s]", 1.8135820, got[1], 5.5e-4 * 1.813582);
    mf_check_near(run, "rate times radius over speed", 1.0, got[2], 5.5e-4);
    roll_on_ground(run, 15 * MF_CHECK_DEGREE, got);
    mf_check_near(run, "on the ground, 1 ms: speed [m/s]", 1.8135820, got[0], 5.5e-4 * 1.813582);
    mf_check_near(run, "rate times radius over speed", 1.0, got[1], 5.5e-4);
}

// For 0.2 s: the depth of a contact grows with the square of the rate, and r is less by half of it.
static void check_limits(mf_CheckRun *run) {
    const Roller *const rollers[3] = {&ball, &cylinder, &hoop};
    static const double off[3] = {-0.01, 0.01, 1.0};
    for (int i = 0; i < 3; i++) {
        double got[3][3];
        for (int k = 0; k < 3; k++) {
            double angle = rollers[i]->limit + off[k] * MF_CHECK_DEGREE;
            roll(run, rollers[i], angle, MF_MILLISECOND / 10, 2000, got[k]);
        }
        mf_check_variant(run, "%s", rollers[i]->name);
        mf_check_near(run, "r w / v, 0.01 deg below the limit", 1.0, got[0][2], 2e-5);
        mf_check_below(run, "r w / v, 0.01 deg above", 1.0 - 2e-4, got[1][2]);
        mf_check_near(run, "r w / v, 1 deg above", rollers[i]->beyond, got[2][2], 2e-5);
    }
}

// ---- creep --------------------------------------------------------------------------------------

// Speed of a block of four contacts on a slope of 20 degrees, friction 0.5.
static double creep(mf_CheckRun *run, double slip_speed) {
    const double angle = 20 * MF_CHECK_DEGREE;
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_IMPLICIT, 5 * MF_MILLISECOND);
    mf_rig_start_block(run, 2.0, none, 0.2, 0.2, 0.05);
    config.motions.articulated.friction = 0.5;
    config.motions.articulated.slip_speed = slip_speed;
    config.world.terrain = mf_rig_slope(run, -angle);
    mf_rig_open(run, &config);
    mf_rig_set3(run, "base.position", 0.05 * sin(angle), 0, 0.05 * cos(angle));
    mf_rig_set(run, "base.orientation", 0, cos(0.5 * angle));
    mf_rig_set(run, "base.orientation", 2, sin(0.5 * angle));
    mf_rig_step(run, 1000);
    double from = mf_rig_get(run, "base.position", 0) / cos(angle);
    mf_rig_step(run, 1000);
    return (mf_rig_get(run, "base.position", 0) / cos(angle) - from) / 5.0;
}

static void check_creep(mf_CheckRun *run) {
    static const double slip[3] = {1e-2, 1e-3, 1e-4};
    double speed[3];
    for (int i = 0; i < 3; i++) {
        speed[i] = creep(run, slip[i]);
        // slip tan(20 deg) / 0.5
        mf_check_below(run,
                       mf_check_name(run, "creep at 20 degrees, slip speed %g m/s [m/s]", slip[i]),
                       0.72794047 * slip[i] * (1.0 + 1e-6), speed[i]);
    }
    mf_check_near(run, "proportional to the slip speed: ratio", 10.0, speed[0] / speed[1], 0.1);
    mf_check_near(run, "and again", 10.0, speed[1] / speed[2], 0.1);
}

// ---- collisions in a row ------------------------------------------------------------------------

// Balls of 1 kg and 0.1 m on one line, the first with 1 m/s; with the given gaps.
static void open_row(mf_CheckRun *run, int count, double gap, double ratio) {
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_RK4, MF_MILLISECOND / 200);
    mf_RigText text = {.used = 0};
    mf_rig_text_add(&text, "<mujoco><worldbody>");
    for (int i = 0; i < count; i++)
        mf_rig_text_add(&text,
                        "<body pos='%.17g 0 1'><joint type='slide' axis='1 0 0'/>"
                        "<geom type='sphere' size='0.1' mass='1'/></body>",
                        i * (0.2 + gap));
    mf_rig_text_add(&text, "</worldbody></mujoco>");
    config.world.gravity = 0.0;
    config.motions.articulated.contacts = false;
    config.motions.articulated.contact_stiffness = 5e5; // 1000/s of two balls
    config.motions.articulated.contact_damping = ratio * 1e3;
    config.motions.articulated.contact_depth = 1.0;
    mf_rig_open_text(run, text.text, &config);
    mf_rig_set(run, "joint.rate", 0, 1.0);
}

// Newton's cradle, with gaps that keep contacts apart in time, so that only two balls touch at
// once: in a row of touching springs the last ball would not receive all momentum. Then one pair of
// restitution e.
static void check_cradle(mf_CheckRun *run) {
    open_row(run, 5, 0.005, 0.0);
    mf_rig_step(run, 20000);
    for (uint32_t i = 0; i < 5; i++) {
        mf_rig_near(run, "joint.rate", i, mf_check_name(run, "speed of ball %u of 5 [m/s]", i + 1),
                    i == 4 ? 1.0 : 0.0, 1e-6);
    }
    open_row(run, 2, 0.005, 0.1);
    mf_rig_step(run, 20000);
    const double e = 0.7440794; // of damping ratio 0.1 (D3)
    mf_rig_near(run, "joint.rate", 0, "pair of restitution 0.744: (1 - e)/2 [m/s]", 0.5 * (1.0 - e),
                1e-3);
    mf_rig_near(run, "joint.rate", 1, "(1 + e)/2 [m/s]", 0.5 * (1.0 + e), 1e-3);
}

// ---- a step -------------------------------------------------------------------------------------

typedef struct StepRide {
    double farthest; // [m] largest x; the step is at 0
    double gain;     // [J] largest energy, less that at the beginning
} StepRide;

// A ball of 1 kg and radius 0.1 m rolls from x = -0.3 m at a step of a map of nearest cells.
static void ride_step(mf_CheckRun *run, double height, double speed, mf_Time step, StepRide *got) {
    enum { SIDE = 64 };
    mf_TerrainConfig map = mf_terrain_config();
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_IMPLICIT, step);
    mf_Terrain *terrain;
    map.columns = map.rows = SIDE;
    map.interpolation = MF_NEAREST;
    double *heights = mf_allocate(run->context, SIDE * SIDE, sizeof *heights);
    if (heights == NULL)
        mf_check_fail(run, MF_NO_MEMORY, "check: out of memory");
    for (int i = 0; i < SIDE * SIDE; i++)
        heights[i] = i % SIDE < SIDE / 2 ? 0.0 : height;
    mf_check_must(run, mf_terrain_from_array(run->context, &map, heights, &terrain, &run->error));
    mf_release(run->context, heights);
    config.world.terrain = terrain;
    config.motions.articulated.shapes = true;
    mf_rig_open_geom(run, "", "type='sphere' size='0.1' mass='1' friction='1'", &config);
    mf_rig_set3(run, "base.position", -0.3, 0.03, 0.1);
    mf_rig_step(run, (uint32_t)(200 * MF_MILLISECOND / step));
    mf_rig_set3(run, "base.linear_velocity", speed, 0, 0);
    mf_rig_set3(run, "base.angular_velocity", 0, speed / 0.1, 0);
    const double first = mf_rig_energy(run);
    *got = (StepRide){-1.0, 0.0};
    for (mf_Time t = 0; t < MF_SECOND; t += step) {
        mf_rig_step(run, 1);
        const double gain = mf_rig_energy(run) - first;
        got->gain = gain > got->gain ? gain : got->gain;
        const double x = mf_rig_get(run, "base.position", 0);
        got->farthest = x > got->farthest ? x : got->farthest;
    }
}

// 7/10 m v^2 must be m g h to climb; 1.6 times the speed at which angular momentum about the edge
// leaves enough, sqrt(14/5 g h) r / (7/5 r - h), climbs.
static void check_step(mf_CheckRun *run) {
    static const mf_Time steps[2] = {MF_MILLISECOND, 5 * MF_MILLISECOND};
    static const double share[3] = {0.5, 0.8, 0.98};
    const double height = 0.03, least = sqrt(10.0 * 9.81 * height / 7.0);
    const double enough = sqrt(2.8 * 9.81 * height) * 0.1 / (0.14 - height);
    for (int s = 0; s < 2; s++) {
        StepRide got;
        for (int i = 0; i < 3; i++) {
            ride_step(run, height, share[i] * least, steps[s], &got);
            mf_check_below(
                run, mf_check_name(run, "%.2f of the required speed: largest x [m]", share[i]), 0.0,
                got.farthest);
            mf_check_below(run, "energy gained over m g h", 1e-3, got.gain / (9.81 * height));
        }
        ride_step(run, height, 1.6 * enough, steps[s], &got);
        mf_check_below(run, "fast: less than 0.1 m beyond the step [m]", 0.0, 0.1 - got.farthest);
        mf_check_below(run, "energy gained over m g h", 1e-3, got.gain / (9.81 * height));
    }
}

const mf_CheckCase mf_check_contact_cases[] = {
    {"D1", "depth at rest", check_rest},
    {"D2", "bounce on a damped spring that may pull", check_adhesive},
    {"D3", "bounce on a damped spring that cannot pull", check_bounce},
    {"D4", "a ball bounces until it rests", check_bounces},
    {"D5", "a sphere rolls down a slope", check_roll},
    {"D6", "slopes up to which sphere, cylinder and hoop roll", check_limits},
    {"D8", "Newton's cradle", check_cradle},
    {"D9", "creep of stiction", check_creep},
    {"D13", "a ball climbs a step only with enough energy", check_step},
    {NULL, NULL, NULL}};
