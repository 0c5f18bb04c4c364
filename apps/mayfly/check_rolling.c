// Check cases of contacts that move over their shape: wheels of every shape that roll over the
// ground, over a slab of their own file and over a slab of another group, under every motion with
// contacts and every law, in float and double, driven, coasting, braking and slipping, from 0.1 g
// to 100 g at the rim. The point of contact is no material point of the rim: a law that lets it
// follow the rim up, with w^2 r, sinks.
#include <mayfly/collision.h>
#include <mayfly/motion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_rig.h"
#include "model/import/mjcf.h"

// A wheel of 1 kg about y, 0.005 kg m^2 about its axis.
#define GRAVITY 9.81 // [m/s^2]
#define RADIUS 0.1   // [m]
#define MASS 1.0     // [kg]
#define MOMENT 0.005 // [kg m^2]
#define FRICTION 0.5 // [1]
enum { SIDES = 64 }; // of the mesh

typedef struct Wheel { // a shape
    const char *name, *geom;
    double rough; // [m] by how much its radius differs
} Wheel;
static const Wheel wheels[] = {
    {"sphere", "type='sphere' size='.1'", 0.0},
    {"cylinder", "type='cylinder' size='.1 .05' zaxis='0 1 0'", 0.0},
    {"capsule", "type='capsule' size='.1 .05' zaxis='0 1 0'", 0.0},
    {"ellipsoid", "type='ellipsoid' size='.1 .05 .1'", 0.0},
    {"mesh", "type='mesh' mesh='wheel'", 1.3e-4},
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
    {"articulated, compliant", MF_MOTION_ARTICULATED, MF_CONTACT_LAW_COMPLIANT},
    {"articulated, hard", MF_MOTION_ARTICULATED, MF_CONTACT_LAW_HARD},
    {"articulated, MuJoCo's", MF_MOTION_ARTICULATED, MF_CONTACT_LAW_MUJOCO},
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

static const char slab[] = "<mujoco><worldbody><body pos='0 0 -.5'><geom type='box' "
                           "size='100 2 .5' friction='.5'/></body></worldbody></mujoco>";

// The prism of the mesh, its axis along y.
static void write_mesh(char *out, size_t size) {
    size_t at = (size_t)snprintf(out, size, "<asset><mesh name='wheel' vertex='");
    for (int i = 0; i < 2 * SIDES; i++) {
        const double angle = 2.0 * 3.14159265358979323846 / SIDES * (i / 2);
        at += (size_t)snprintf(out + at, size - at, "%.9f %g %.9f ", RADIUS * sin(angle),
                               i % 2 ? 0.05 : -0.05, -RADIUS * cos(angle));
    }
    snprintf(out + at, size - at, "'/></asset>");
}

static mf_Status parse(mf_Context *context, const char *text, mf_Model **out, mf_Error *error) {
    const mf_ImportConfig import = mf_import_config();
    return mf_mjcf_parse(context, "wheel.xml", text, strlen(text), &import, true, out, error);
}

static mf_Status make_wheel(mf_Context *context, const Roll *roll, mf_Model **out,
                            mf_Error *error) {
    static char mesh[16384], text[20000];
    mesh[0] = 0;
    if (strstr(roll->wheel->geom, "mesh") != NULL)
        write_mesh(mesh, sizeof mesh);
    snprintf(text, sizeof text,
             "<mujoco><option cone='elliptic'/>%s<worldbody>%s<body pos='0 0 .1'><freejoint/>"
             "<inertial pos='0 0 0' mass='1' diaginertia='.004 .005 .004'/><geom %s "
             "friction='.5'/></body></worldbody></mujoco>",
             mesh,
             roll->below == OF_FILE
                 ? "<geom type='box' size='100 2 .5' pos='0 0 -.5' friction='.5'/>"
                 : "",
             roll->wheel->geom);
    return parse(context, text, out, error);
}

typedef struct Scene {
    mf_Rig rig; // the wheel
    mf_Model *slab;
    mf_Collisions *collisions;
} Scene;

static mf_Status add_slab(mf_Context *context, const Roll *roll, Scene *scene, mf_Error *error) {
    mf_GroupConfig group = mf_group_config();
    mf_CollisionsConfig config = mf_collisions_config();
    mf_Group *other;
    group.name = "slab";
    mf_Status status = parse(context, slab, &scene->slab, error);
    if (status != MF_OK)
        return status;
    group.model = scene->slab;
    group.isolated = false;
    status = mf_world_add_group(scene->rig.world, &group, &other, error);
    if (status == MF_OK)
        status = mf_motion_add(other, MF_MOTION_ARTICULATED, NULL, error);
    config.law = roll->between;
    if (status == MF_OK)
        status = mf_collisions_add(scene->rig.world, &config, &scene->collisions, error);
    return status;
}

static void scene_close(Scene *scene) {
    mf_rig_free(&scene->rig);
    mf_model_destroy(scene->slab);
}

static mf_Status scene_open(mf_Context *context, const Roll *roll, Scene *scene, mf_Error *error) {
    mf_WorldConfig world = mf_world_config();
    mf_MotionsConfig motions = mf_motions_config();
    mf_GroupConfig group = mf_group_config();
    *scene = (Scene){.slab = NULL};
    mf_motions_set_shapes(&motions, true);
    mf_motions_set_contacts(&motions, roll->below == GROUND);
    motions.articulated.contact_law = roll->level->law;
    world.step = 2 * MF_MILLISECOND;
    mf_Status status = make_wheel(context, roll, &scene->rig.model, error);
    if (status == MF_OK)
        status = mf_world_create(context, &world, &scene->rig.world, error);
    group.model = scene->rig.model;
    group.double_precision = !roll->single;
    group.isolated = roll->below != OF_GROUP;
    if (status == MF_OK)
        status = mf_world_add_group(scene->rig.world, &group, &scene->rig.group, error);
    if (status == MF_OK && roll->below == OF_GROUP)
        status = mf_collisions_prepare(scene->rig.group, error);
    if (status == MF_OK)
        status = mf_motion_add(scene->rig.group, roll->level->motion, &motions, error);
    if (status == MF_OK && roll->below == OF_GROUP)
        status = add_slab(context, roll, scene, error);
    if (status != MF_OK)
        scene_close(scene);
    return status;
}

typedef struct Ride {
    double speed;  // [m/s] at the beginning, rolling
    double torque; // [N m] about the axle
} Ride;

typedef struct Errors { // largest
    double height;      // [m] of the center, against rest
    double speed;       // [m/s] against the closed form
    double spin;        // [m/s] of the rim, likewise
} Errors;

// Speed and rim speed after `time` from rolling at `speed`. Without slip T = (m + I / r^2) r a; the
// ground bears I a / r^2 across, at most mu m g; beyond, a = mu g and I w' = T - mu m g r.
static void closed_form(const Ride *ride, double time, double *speed, double *spin) {
    const double a = ride->torque / (RADIUS * (MASS + MOMENT / (RADIUS * RADIUS)));
    const double most = FRICTION * GRAVITY;
    if (fabs(a) <= most) { // the force across is m a
        *speed = *spin = ride->speed + a * time;
        return;
    }
    *speed = ride->speed + copysign(most, ride->torque) * time;
    *spin = ride->speed +
            (ride->torque - copysign(most * MASS * RADIUS, ride->torque)) * RADIUS / MOMENT * time;
}

static mf_Status ride_one(mf_Context *context, const Roll *roll, const Ride *ride, double time,
                          Errors *errors, mf_Error *error) {
    Scene scene;
    mf_Status status = scene_open(context, roll, &scene, error);
    if (status != MF_OK)
        return status;
    mf_Rig *rig = &scene.rig;
    mf_world_step(rig->world, 250);
    const double rest = mf_rig_get(rig, "base.position", 2);
    mf_rig_set3(rig, "base.position", 0, 0, rest);
    mf_rig_set3(rig, "base.linear_velocity", ride->speed, 0, 0);
    mf_rig_set3(rig, "base.angular_velocity", 0, ride->speed / RADIUS, 0);
    mf_rig_set3(rig, "base.torque", 0, ride->torque, 0);
    double speed, spin, deepest = 0.0, low = 0, high = 0;
    const int steps = (int)(time / 0.002 + 0.5);
    for (int i = 0; i < steps; i++) {
        mf_world_step(rig->world, 1);
        low = fmin(low, mf_rig_get(rig, "base.position", 2) - rest),
        high = fmax(high, mf_rig_get(rig, "base.position", 2) - rest);
        deepest = mf_check_worse(deepest, fabs(mf_rig_get(rig, "base.position", 2) - rest));
    }
    closed_form(ride, 0.002 * steps, &speed, &spin);
    errors->height = mf_check_worse(errors->height, deepest);
    errors->speed =
        mf_check_worse(errors->speed, fabs(mf_rig_get(rig, "base.linear_velocity", 0) - speed));
    errors->spin = mf_check_worse(
        errors->spin, fabs(mf_rig_get(rig, "base.angular_velocity", 1) * RADIUS - spin));
    if (getenv("ROLL"))
        fprintf(stderr,
                "  %s v=%.3g T=%.3g: rest %.3f mm dz %.3f %.3f mm v %.5f (%.5f) rim %.5f (%.5f)\n",
                roll->wheel->name, ride->speed, ride->torque, 1e3 * (rest - RADIUS), 1e3 * low,
                1e3 * high, mf_rig_get(rig, "base.linear_velocity", 0), speed,
                mf_rig_get(rig, "base.angular_velocity", 1) * RADIUS, spin);
    scene_close(&scene);
    return MF_OK;
}

static mf_Status ride_all(mf_Context *context, const Roll *roll, Errors *errors, mf_Error *error) {
    static const double rims[4] = {0.1, 1.0, 10.0, 100.0}; // [g]
    *errors = (Errors){0.0, 0.0, 0.0};
    for (int i = 0; i < 4; i++) {
        const double speed = sqrt(rims[i] * GRAVITY * RADIUS);
        // Half of what the ground bears, so that it ends within the speed that it has.
        const Ride rides[4] = {
            {speed, 0.0}, {speed, 0.2 * speed}, {speed, -0.1 * speed}, {speed, 2.0}};
        for (int k = 0; k < 4; k++) {
            if (k == 1 || k == 2) {
                Ride ride = rides[k];
                ride.torque = copysign(fmin(fabs(ride.torque), 0.3), ride.torque);
                mf_Status status = ride_one(context, roll, &ride, 0.5, errors, error);
                if (status != MF_OK)
                    return status;
                continue;
            }
            mf_Status status =
                ride_one(context, roll, &rides[k], k == 3 ? 0.1 : 0.5, errors, error);
            if (status != MF_OK)
                return status;
        }
    }
    return MF_OK;
}

static mf_Status check_one(mf_Context *context, mf_CheckRun *run, const Roll *roll,
                           mf_Error *error) {
    Errors errors;
    char line[160];
    const mf_Status status = ride_all(context, roll, &errors, error);
    if (status != MF_OK)
        return status;
    snprintf(line, sizeof line, "%s, %s, %s: height [m]", roll->level->name, roll->wheel->name,
             roll->single ? "float" : "double");
    mf_check_near(run, line, 0.0, errors.height, 1e-4 + 3.0 * roll->wheel->rough);
    snprintf(line, sizeof line, "%s, %s, %s: speed [m/s]", roll->level->name, roll->wheel->name,
             roll->single ? "float" : "double");
    mf_check_near(run, line, 0.0, errors.speed, 0.02);
    snprintf(line, sizeof line, "%s, %s, %s: rim [m/s]", roll->level->name, roll->wheel->name,
             roll->single ? "float" : "double");
    mf_check_near(run, line, 0.0, errors.spin, 0.02);
    return MF_OK;
}

static mf_Status check_ground(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    for (int i = 0; i < LEVELS * WHEELS * 2; i++) {
        const Roll roll = {&wheels[i / 2 % WHEELS], &levels[i / 2 / WHEELS], GROUND,
                           MF_COLLISION_COMPLIANT, i % 2};
        const mf_Status status = check_one(context, run, &roll, error);
        if (status != MF_OK)
            return status;
    }
    return MF_OK;
}

static mf_Status check_file(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    for (int i = 0; i < 3 * WHEELS * 2; i++) {
        const Roll roll = {&wheels[i / 2 % WHEELS], &levels[2 + i / 2 / WHEELS], OF_FILE,
                           MF_COLLISION_COMPLIANT, i % 2};
        const mf_Status status = check_one(context, run, &roll, error);
        if (status != MF_OK)
            return status;
    }
    return MF_OK;
}

static mf_Status check_group(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    for (int i = 0; i < 2 * LEVELS * WHEELS * 2; i++) {
        const Roll roll = {&wheels[i / 2 % WHEELS], &levels[i / 2 / WHEELS % LEVELS], OF_GROUP,
                           i / 2 / WHEELS / LEVELS ? MF_COLLISION_HARD : MF_COLLISION_COMPLIANT,
                           i % 2};
        const mf_Status status = check_one(context, run, &roll, error);
        if (status != MF_OK)
            return status;
    }
    return MF_OK;
}

// A box of 0.1 x 0.1 x 0.3 m on ground that is tilted by `slope`; whether it falls over.
static mf_Status tips(mf_Context *context, const Level *level, double slope, bool *out,
                      mf_Error *error) {
    static const char box[] =
        "<mujoco><option cone='elliptic'/><worldbody><body pos='0 0 .15'><freejoint/><geom "
        "type='box' size='.05 .05 .15' mass='1'/></body></worldbody></mujoco>";
    mf_WorldConfig world = mf_world_config();
    mf_MotionsConfig motions = mf_motions_config();
    mf_Rig rig;
    mf_motions_set_shapes(&motions, true);
    motions.articulated.contact_law = level->law;
    world.step = 2 * MF_MILLISECOND;
    if (getenv("CT"))
        motions.rigid.contact_time = motions.prescribed.contact_time = atof(getenv("CT"));
    if (getenv("SEP"))
        motions.rigid.separation = atof(getenv("SEP"));
    world.gravity_direction[0] = sin(slope);
    world.gravity_direction[2] = -cos(slope);
    mf_Status status =
        mf_rig_open_motion(&rig, context, box, &world, level->motion, &motions, error);
    if (status != MF_OK)
        return status;
    if (getenv("DROP"))
        mf_rig_set(&rig, "base.position", 2, .15 - 1e-3 * atof(getenv("DROP")));
    mf_world_step(rig.world, 1000);
    const double tilt = fabs(mf_rig_get(&rig, "base.orientation", 2));
    *out = tilt > 0.1;
    return mf_rig_close(&rig, error);
}

static mf_Status check_tipping(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    for (int i = 0; i < LEVELS; i++) {
        double low = 0.0, high = 45.0;
        while (high - low > 0.05) {
            const double middle = 0.5 * (low + high);
            bool falls;
            const mf_Status status =
                tips(context, &levels[i], middle * MF_CHECK_DEGREE, &falls, error);
            if (status != MF_OK)
                return status;
            *(falls ? &high : &low) = middle;
        }
        mf_check_near(run, levels[i].name, 18.435, high, 0.3);
    }
    return MF_OK;
}

const mf_CheckCase mf_check_rolling_cases[] = {
    {"D-tip", "a box of 1 : 3 on a slope", check_tipping},
    {"D-roll", "wheels of every shape on the ground, every motion and law", check_ground},
    {"D-roll-file", "the same on a slab of their file", check_file},
    {"D-roll-group", "the same on a slab of another group", check_group},
    {NULL, NULL, NULL}};
