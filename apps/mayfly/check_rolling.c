// Check cases of contacts that move over their shape: wheels of every shape that roll over the
// ground, over a slab of their own file and over a slab of another group, under every motion with
// contacts and every law, in float and double, driven, coasting, braking and slipping, from 0.1 g
// to 100 g at the rim. The point of contact is no material point of the rim: a law that lets it
// follow the rim up, with w^2 r, sinks. Also the slope on which a tall box falls over.
#include <mayfly/collision.h>

#include <math.h>
#include <string.h>

#include "check.h"

// A wheel of 1 kg about y, 0.005 kg m^2 about its axis.
#define GRAVITY 9.81 // [m/s^2]
#define RADIUS 0.1   // [m]
#define MASS 1.0     // [kg]
#define MOMENT 0.005 // [kg m^2]
#define FRICTION 0.5 // [1]
enum {
    SIDES = 64,  // of the mesh
    ONSET = 25,  // [1] steps until a wheel slips
    SETTLE = 250 // [1] steps
};

typedef struct Wheel { // a shape
    const char *name, *geom;
    bool faceted;
} Wheel;
static const Wheel wheels[] = {
    {"sphere", "type='sphere' size='.1'", false},
    {"cylinder", "type='cylinder' size='.1 .05' zaxis='0 1 0'", false},
    {"capsule", "type='capsule' size='.1 .05' zaxis='0 1 0'", false},
    {"ellipsoid", "type='ellipsoid' size='.1 .05 .1'", false},
    {"mesh", "type='mesh' mesh='wheel'", true},
};
enum { WHEELS = sizeof wheels / sizeof wheels[0] };

typedef struct Level {
    const char *name;
    mf_Motion motion;
    mf_ContactLaw law;
} Level;
static const Level levels[] = {
    {"rigid", MF_MOTION_RIGID, MF_CONTACT_LAW_AS_MODEL},
    {"prescribed", MF_MOTION_PRESCRIBED, MF_CONTACT_LAW_AS_MODEL},
    {"compliant", MF_MOTION_ARTICULATED, MF_CONTACT_LAW_COMPLIANT},
    {"hard", MF_MOTION_ARTICULATED, MF_CONTACT_LAW_HARD},
    {"MuJoCo's", MF_MOTION_ARTICULATED, MF_CONTACT_LAW_MUJOCO},
};
enum { LEVELS = sizeof levels / sizeof levels[0] };

typedef enum Below { // what the wheel rolls on
    GROUND,
    OF_FILE, // a box fixed to the world in the wheel's file
    OF_GROUP // one of another group
} Below;

typedef struct Roll {
    const Wheel *wheel;
    const Level *level;
    Below below;
    mf_CollisionLaw between; // of groups
    bool single;             // float
} Roll;

// ---- scenes -------------------------------------------------------------------------------------

#define SLAB "<geom type='box' size='100 2 .5' pos='0 0 -.5' friction='.5 0 0'/>"

// A file with the wheel; its mesh is a prism along y.
static void describe(mf_RigText *text, const Roll *roll) {
    mf_rig_text_add(text, "<mujoco><option cone='elliptic'/>");
    for (int i = 0; roll->wheel->faceted && i < 2 * SIDES; i++) {
        const double angle = 2.0 * 3.14159265358979323846 / SIDES * (i / 2);
        mf_rig_text_add(text, "%s%.9f %g %.9f %s",
                        i == 0 ? "<asset><mesh name='wheel' vertex='" : "", RADIUS * sin(angle),
                        i % 2 ? 0.05 : -0.05, -RADIUS * cos(angle),
                        i + 1 == 2 * SIDES ? "'/></asset>" : "");
    }
    mf_rig_text_add(text,
                    "<worldbody>%s<body pos='0 0 .1'><freejoint/>"
                    "<inertial pos='0 0 0' mass='1' diaginertia='.004 .005 .004'/><geom %s "
                    "friction='.5 0 0'/></body></worldbody></mujoco>",
                    roll->below == OF_FILE ? SLAB : "", roll->wheel->geom);
}

static void add_slab(mf_CheckRun *run, const Roll *roll) {
    mf_GroupConfig group = mf_group_config();
    mf_CollisionsConfig config = mf_collisions_config();
    mf_Collisions *collisions;
    mf_Group *other;
    group.name = "slab";
    group.model =
        mf_rig_parse(run, "<mujoco><worldbody><body>" SLAB "</body></worldbody></mujoco>");
    group.isolated = false;
    config.law = roll->between;
    mf_check_must(run, mf_world_add_group(run->rig.world, &group, &other, &run->error));
    mf_check_must(run, mf_motion_add(other, MF_MOTION_ARTICULATED, NULL, &run->error));
    mf_check_must(run, mf_collisions_add(run->rig.world, &config, &collisions, &run->error));
}

static void open_scene(mf_CheckRun *run, const Roll *roll) {
    mf_RigConfig config = mf_rig_config_of(roll->level->motion, 2 * MF_MILLISECOND);
    mf_RigText text = {.used = 0};
    describe(&text, roll);
    mf_motions_set_shapes(&config.motions, true);
    config.motions.rigid.contacts = config.motions.prescribed.contacts =
        config.motions.articulated.contacts = roll->below == GROUND;
    config.motions.articulated.contact_law = roll->level->law;
    config.group.double_precision = !roll->single;
    config.group.isolated = roll->below != OF_GROUP;
    mf_rig_open_text(run, text.text, &config);
    if (roll->below == OF_GROUP)
        add_slab(run, roll);
}

// ---- rides --------------------------------------------------------------------------------------

typedef struct Ride {
    double speed;  // [m/s] at the beginning, rolling
    double torque; // [N m] about the axle
} Ride;

// [m/s^2] Of the center and of the rim. Without slip T = (m + I / r^2) r a; the ground bears m a
// across, at most mu m g; beyond, a = mu g and I w' = T - mu m g r. True: it slips.
static bool closed_form(double torque, double *gain, double *rim) {
    const double most = FRICTION * GRAVITY;
    *gain = *rim = torque / (RADIUS * (MASS + MOMENT / (RADIUS * RADIUS)));
    if (fabs(*gain) <= most)
        return false;
    *gain = copysign(most, torque);
    *rim = (torque - MASS * RADIUS * *gain) * RADIUS / MOMENT;
    return true;
}

typedef struct Errors { // largest
    double low, high;   // [m] of the center's height against rest
    double speed, rim;  // [m/s] against the closed form
} Errors;

// From rest.
static void ride_one(const mf_CheckRun *run, const Roll *roll, const Ride *ride, int steps,
                     Errors *errors) {
    double gain, rim, from[2] = {0.0, 0.0}, now[2] = {0.0, 0.0};
    const double rest = mf_rig_get(run, "base.position", 2), time = 0.002 * steps;
    const bool slips = closed_form(ride->torque, &gain, &rim);
    mf_rig_set3(run, "base.linear_velocity", ride->speed, 0, 0);
    mf_rig_set3(run, "base.angular_velocity", 0, ride->speed / RADIUS, 0);
    mf_rig_set3(run, "base.torque", 0, ride->torque, 0);
    for (int i = 0; i < ONSET + steps; i++) {
        mf_rig_step(run, 1);
        const double rise = mf_rig_get(run, "base.position", 2) - rest;
        errors->low = mf_check_worse(errors->low, -rise);
        errors->high = mf_check_worse(errors->high, rise);
        now[0] = mf_rig_get(run, "base.linear_velocity", 0);
        now[1] = mf_rig_get(run, "base.angular_velocity", 1) * RADIUS;
        if (i + 1 == ONSET)
            memcpy(from, now, sizeof from);
    }
    if (mf_group_fault(run->rig.group, 0) != 0) // it was stopped
        errors->low = INFINITY;
    if (!slips || !roll->wheel->faceted) {
        errors->speed = mf_check_worse(errors->speed, fabs(now[0] - from[0] - gain * time));
        errors->rim = mf_check_worse(errors->rim, fabs(now[1] - from[1] - rim * time));
    }
}

// From each of four speeds on: coasting, driven, braking, slipping; at the last one it does not
// slip, since a wheel with width then turns aside: with the spin L about y and the moment Iz, a yaw
// grows by mu L / Iz, 62 / s, as gyroscopic torque presses that end down which friction holds back.
static void ride_all(mf_CheckRun *run, const Roll *roll, Errors *errors) {
    static const double rims[4] = {0.1, 1.0, 10.0, 100.0}; // [g]
    open_scene(run, roll);
    mf_World *world = run->rig.world;
    mf_rig_step(run, SETTLE);
    const size_t size = mf_world_snapshot_size(world);
    void *rest = mf_allocate(run->context, size, 1);
    mf_check_must(run,
                  rest == NULL ? MF_NO_MEMORY : mf_world_snapshot(world, rest, size, &run->error));
    *errors = (Errors){0.0, 0.0, 0.0, 0.0};
    for (int i = 0; i < 15; i++) {
        const double speed = sqrt(rims[i / 4] * GRAVITY * RADIUS);
        const double torques[4] = {0.0, fmin(0.2 * speed, 0.3), -fmin(0.1 * speed, 0.3), 1.0};
        const Ride ride = {speed, torques[i % 4]};
        mf_check_must(run, mf_world_restore(world, rest, size, &run->error));
        ride_one(run, roll, &ride, i % 4 == 3 ? 50 : 200, errors);
    }
    mf_release(run->context, rest);
}

// What it may be off by. A wheel of many sides hops: each side that strikes the ground throws it up
// by w r times the sine of half its angle, and more with restitution; and it slows down. One that
// begins to slip under MuJoCo's law, with elliptic cones, is thrown up a little, as in MuJoCo; on
// another robot with that law as on its own file's slab.
static Errors allowed(const Roll *roll) {
    if (roll->wheel->faceted)
        // Two edges of the 64 throw it by 2 pi v / 64 each at most: (4 pi v / 64)^2 / (2 g).
        return (Errors){0.005, 0.2, 0.6, 0.8};
    if (roll->level->law == MF_CONTACT_LAW_MUJOCO &&
        (roll->below != OF_GROUP || roll->between == MF_COLLISION_COMPLIANT))
        return (Errors){1e-4, 3e-3, 0.05, 0.1};
    return (Errors){1e-4, 2e-3, 0.01, 0.02};
}

static void check_one(mf_CheckRun *run, const Roll *roll) {
    Errors errors;
    const Errors most = allowed(roll);
    const char *what[4] = {"sinks [m]", "rises [m]", "speed [m/s]", "rim [m/s]"};
    ride_all(run, roll, &errors);
    const double got[4] = {errors.low, errors.high, errors.speed, errors.rim};
    const double bounds[4] = {most.low, most.high, most.speed, most.rim};
    mf_check_variant(run, "%s%s, %s, %s", roll->level->name,
                     roll->below != OF_GROUP              ? ""
                     : roll->between == MF_COLLISION_HARD ? " on hard"
                                                          : " on compliant",
                     roll->wheel->name, roll->single ? "float" : "double");
    for (int i = 0; i < 4; i++)
        mf_check_below(run, what[i], bounds[i], got[i]);
}

static void check_levels(mf_CheckRun *run, int first, Below below, mf_CollisionLaw between) {
    for (int i = 2 * WHEELS * first; i < 2 * WHEELS * LEVELS; i++) {
        const Roll roll = {&wheels[i / 2 % WHEELS], &levels[i / 2 / WHEELS], below, between, i % 2};
        check_one(run, &roll);
    }
}

static void check_ground(mf_CheckRun *run) {
    check_levels(run, 0, GROUND, MF_COLLISION_COMPLIANT);
}

// Only `articulated` has contacts within a file.
static void check_file(mf_CheckRun *run) {
    check_levels(run, 2, OF_FILE, MF_COLLISION_COMPLIANT);
}

static void check_group(mf_CheckRun *run) {
    check_levels(run, 0, OF_GROUP, MF_COLLISION_COMPLIANT);
    check_levels(run, 0, OF_GROUP, MF_COLLISION_HARD);
}

// ---- a cart -------------------------------------------------------------------------------------

// Four wheels of 3 cm on hinges, at 1, 2 and 3 m/s.
static void check_cart(mf_CheckRun *run) {
    static const char cart[] =
        "<mujoco><default><geom type='cylinder' size='.03 .01' zaxis='0 1 0' mass='.05'/><joint "
        "axis='0 1 0'/></default><worldbody><body pos='0 0 .03'><freejoint/><geom type='box' "
        "size='.1 .05 .01' pos='0 0 .03' mass='1'/><body pos='.08 .07 0'><joint/><geom/></body>"
        "<body pos='.08 -.07 0'><joint/><geom/></body><body pos='-.08 .07 0'><joint/><geom/></body>"
        "<body pos='-.08 -.07 0'><joint/><geom/></body></body></worldbody></mujoco>";
    for (int i = 0; i < 6; i++) {
        const mf_ContactLaw law = i % 2 ? MF_CONTACT_LAW_HARD : MF_CONTACT_LAW_COMPLIANT;
        const double speed = 1.0 + i / 2;
        mf_RigConfig config = mf_rig_config(MF_ARTICULATED_IMPLICIT, 2 * MF_MILLISECOND);
        config.motions.articulated.contact_law = law;
        config.motions.articulated.shapes = true;
        mf_rig_open_text(run, cart, &config);
        mf_rig_set3(run, "base.linear_velocity", speed, 0, 0);
        for (uint32_t k = 0; k < 4; k++)
            mf_rig_set(run, "joint.rate", k, speed / 0.03);
        mf_rig_step(run, 500);
        mf_check_variant(run, "%s, %g m/s", i % 2 ? "hard" : "compliant", speed);
        mf_rig_near(run, "base.position", 2, "axles [m]", 0.03, 1e-4);
        mf_rig_near(run, "base.linear_velocity", 0, "speed [m/s]", speed, 1e-3);
    }
}

// ---- tipping ------------------------------------------------------------------------------------

// Whether a box of 0.1 x 0.1 x 0.3 m falls over that is put on ground tilted by `slope`. Its center
// passes the edge at arctan 1/3, 18.43 degrees; on soft contacts it leans, and swings when it is
// put down, so it falls a little before.
static bool tips(mf_CheckRun *run, const Level *level, double slope) {
    static const char box[] =
        "<mujoco><option cone='elliptic'/><worldbody><body pos='0 0 .15'><freejoint/><geom "
        "type='box' size='.05 .05 .15' mass='1'/></body></worldbody></mujoco>";
    mf_RigConfig config = mf_rig_config_of(level->motion, 2 * MF_MILLISECOND);
    mf_motions_set_shapes(&config.motions, true);
    config.motions.articulated.contact_law = level->law;
    mf_rig_tilt(&config, slope);
    mf_rig_open_text(run, box, &config);
    mf_rig_step(run, 1000);
    return fabs(mf_rig_get(run, "base.orientation", 2)) > 0.1;
}

static void check_tipping(mf_CheckRun *run) {
    for (int i = 0; i < LEVELS; i++) {
        double low = 0.0, high = 45.0;
        while (high - low > 0.05) {
            const double middle = 0.5 * (low + high);
            *(tips(run, &levels[i], middle * MF_CHECK_DEGREE) ? &high : &low) = middle;
        }
        mf_check_near(run, mf_check_name(run, "%s: angle [degrees]", levels[i].name), 18.435, high,
                      levels[i].motion == MF_MOTION_RIGID ? 0.75 : 0.4);
    }
}

const mf_CheckCase mf_check_rolling_cases[] = {
    {"D20", "wheels of every shape roll and slip on the ground, every motion and law",
     check_ground},
    {"D20-file", "the same on a slab of their file", check_file},
    {"D20-groups", "the same on a slab of another group", check_group},
    {"D20-cart", "a cart with wheels of 3 cm at 1 to 3 m/s", check_cart},
    {"D21", "a box of 1 : 3 on a slope, every motion and law", check_tipping},
    {NULL, NULL, NULL}};
