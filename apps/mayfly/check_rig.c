// Worlds of the check cases.
#include <math.h>
#include <mayfly/collision.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "import/mjcf.h"

mf_RigConfig mf_rig_config_of(mf_Motion motion, mf_Time step) {
    mf_RigConfig config = {mf_world_config(), mf_group_config(), motion, mf_motions_config()};
    config.world.step = step;
    config.group.double_precision = true;
    return config;
}

mf_RigConfig mf_rig_config(mf_ArticulatedIntegrator integrator, mf_Time step) {
    mf_RigConfig config = mf_rig_config_of(MF_MOTION_ARTICULATED, step);
    config.motions.articulated.integrator = integrator;
    // These cases use the compliant law; check_constraint.c has those of MuJoCo's law.
    config.motions.articulated.contact_law = MF_CONTACT_LAW_COMPLIANT;
    return config;
}

mf_RigConfig mf_rig_config_at(mf_Motion motion, mf_ArticulatedIntegrator integrator, mf_Time step) {
    mf_RigConfig config = mf_rig_config(integrator, step);
    config.motion = motion;
    config.motions.rigid.integrator = config.motions.prescribed.integrator = integrator;
    // Rigid ground: as stiff as the step allows, points without torsional friction.
    config.motions.rigid.contact_time = config.motions.prescribed.contact_time = 0.0;
    config.motions.rigid.torsional_friction = 0.0;
    return config;
}

void mf_rig_tilt(mf_RigConfig *config, double angle) {
    config->world.gravity_direction[0] = sin(angle);
    config->world.gravity_direction[2] = -cos(angle);
}

void mf_rig_free(mf_CheckRun *run) {
    mf_Rig *rig = &run->rig;
    mf_world_destroy(rig->world);
    mf_terrain_destroy(rig->terrain);
    for (uint32_t i = 0; i < rig->model_count; i++)
        mf_model_destroy(rig->models[i]);
    rig->world = NULL;
    rig->group = NULL;
    rig->terrain = NULL;
    rig->model_count = 0;
}

mf_HandModel *mf_rig_start(mf_CheckRun *run) {
    const uint32_t fault = run->rig.group == NULL ? 0 : mf_group_fault(run->rig.group, 0);
    const double time = fault == 0 ? 0.0 : mf_rig_time(run);
    mf_rig_free(run);
    if (fault != 0)
        mf_check_fail(run, MF_CORRUPT, "the robot stopped before %g s, fault word %u", time, fault);
    mf_hand_start(&run->rig.hand, run->context);
    return &run->rig.hand;
}

mf_Model **mf_rig_own(mf_CheckRun *run) {
    mf_Model **place = &run->rig.models[run->rig.model_count++];
    *place = NULL;
    return place;
}

void mf_rig_open_model(mf_CheckRun *run, const mf_Model *model, const mf_RigConfig *config) {
    mf_Rig *rig = &run->rig;
    mf_GroupConfig group = config->group;
    group.model = model;
    rig->terrain = (mf_Terrain *)config->world.terrain; // the world only reads it
    mf_check_must(run, mf_world_create(run->context, &config->world, &rig->world, &run->error));
    mf_check_must(run, mf_world_add_group(rig->world, &group, &rig->group, &run->error));
    if (!group.isolated)
        mf_check_must(run, mf_collisions_prepare(rig->group, &run->error));
    mf_check_must(run, mf_motion_add(rig->group, config->motion, &config->motions, &run->error));
}

void mf_rig_open(mf_CheckRun *run, const mf_RigConfig *config) {
    mf_rig_open_model(run, &run->rig.hand.model, config);
}

mf_Model *mf_rig_parse(mf_CheckRun *run, const char *text) {
    const mf_ImportConfig import = mf_import_config();
    mf_Model **model = mf_rig_own(run);
    mf_check_must(run, mf_mjcf_parse(run->context, "check.xml", text, strlen(text), &import, true,
                                     model, &run->error));
    return *model;
}

void mf_rig_open_text(mf_CheckRun *run, const char *text, const mf_RigConfig *config) {
    mf_rig_start(run);
    mf_rig_open_model(run, mf_rig_parse(run, text), config);
}

void mf_rig_open_geom(mf_CheckRun *run, const char *ground, const char *geom,
                      const mf_RigConfig *config) {
    mf_RigText text = {.used = 0};
    mf_rig_text_add(&text,
                    "<mujoco><worldbody>%s<body><freejoint/><geom %s/></body></worldbody></mujoco>",
                    ground, geom);
    mf_rig_open_text(run, text.text, config);
}

void mf_rig_open_file(mf_CheckRun *run, const char *file, const mf_RigConfig *config) {
    char path[MF_APP_PATH];
    mf_rig_start(run);
    mf_Model **model = mf_rig_own(run);
    mf_check_must(run,
                  mf_model_load(run->context, mf_app_own(file, path), NULL, model, &run->error));
    mf_rig_open_model(run, *model, config);
}

void mf_rig_open_motion(mf_CheckRun *run, const mf_RigConfig *config) {
    mf_rig_start(run);
    mf_Model **model = mf_rig_own(run);
    mf_check_must(run, mf_motion_model(run->context, config->motion, &config->motions,
                                       mf_motion_name(config->motion), model, &run->error));
    mf_rig_open_model(run, *model, config);
}

void mf_rig_step(const mf_CheckRun *run, uint64_t steps) {
    mf_world_step(run->rig.world, steps);
}

void mf_rig_run(const mf_CheckRun *run, double seconds) {
    const mf_Time step = mf_world_config_of(run->rig.world)->step;
    mf_rig_step(run, (uint64_t)(mf_time_from_seconds(seconds) / step));
}

double mf_rig_get(const mf_CheckRun *run, const char *field, uint32_t component) {
    return mf_field_get(mf_group_find_field(run->rig.group, field), 0, component);
}

void mf_rig_set(const mf_CheckRun *run, const char *field, uint32_t component, double value) {
    mf_field_set(mf_group_find_field(run->rig.group, field), 0, component, value);
}

void mf_rig_set3(const mf_CheckRun *run, const char *field, double x, double y, double z) {
    mf_rig_set(run, field, 0, x);
    mf_rig_set(run, field, 1, y);
    mf_rig_set(run, field, 2, z);
}

void mf_rig_set_row(const mf_CheckRun *run, const char *field, uint32_t count,
                    const double *values) {
    for (uint32_t c = 0; c < count; c++)
        mf_rig_set(run, field, c, values[c]);
}

double mf_rig_time(const mf_CheckRun *run) {
    return mf_time_to_seconds(mf_world_time(run->rig.world));
}

double mf_rig_kinetic(const mf_CheckRun *run) {
    return mf_motion_energy(run->rig.group, 0).kinetic;
}

double mf_rig_energy(const mf_CheckRun *run) {
    mf_MotionEnergy energy = mf_motion_energy(run->rig.group, 0);
    return energy.kinetic + energy.potential + energy.elastic;
}

double mf_rig_rise(const mf_CheckRun *run, int steps) {
    double rise = 0.0, last = INFINITY;
    for (int n = 0; n < steps; n++) {
        mf_rig_step(run, 1);
        const mf_MotionEnergy energy = mf_motion_energy(run->rig.group, 0);
        const double now = energy.kinetic + energy.elastic;
        rise = mf_check_worse(rise, now / last - 1.0);
        last = now;
    }
    return rise;
}

double mf_rig_yaw(const mf_CheckRun *run) {
    return 2.0 *
           atan2(mf_rig_get(run, "base.orientation", 3), mf_rig_get(run, "base.orientation", 0));
}

void mf_rig_near(mf_CheckRun *run, const char *field, uint32_t component, const char *what,
                 double expected, double tolerance) {
    mf_check_near(run, what, expected, mf_rig_get(run, field, component), tolerance);
}

void mf_rig_near3(mf_CheckRun *run, const char *field, const double expected[3], double unit,
                  double tolerance, const char *what) {
    for (uint32_t c = 0; c < 3; c++) {
        char name[96];
        snprintf(name, sizeof name, "%s", what);
        *strchr(name, '?') = (char)('x' + c);
        mf_check_near(run, name, expected[c], mf_rig_get(run, field, c) / unit, tolerance);
    }
}

void mf_rig_text_add(mf_RigText *text, const char *format, ...) {
    const size_t left = sizeof text->text - text->used;
    va_list list;
    va_start(list, format);
    const int wrote = vsnprintf(text->text + text->used, left, format, list);
    va_end(list);
    text->used += wrote < 0 ? 0 : (size_t)wrote < left ? (size_t)wrote : left - 1;
}

mf_Terrain *mf_rig_slope(mf_CheckRun *run, double angle) {
    mf_TerrainConfig map = mf_terrain_config();
    const mf_TerrainGenerator slope = {
        .shape = MF_TERRAIN_SLOPE, .amplitude = angle, .wavelength = 1.0, .octaves = 1};
    mf_Terrain *terrain;
    map.columns = map.rows = 64;
    map.cell = 0.5;
    map.interpolation = MF_BILINEAR;
    mf_check_must(run, mf_terrain_generate(run->context, &map, &slope, &terrain, &run->error));
    return terrain;
}

mf_RigMomentum mf_rig_momentum(const mf_CheckRun *run) {
    mf_RigMomentum now;
    mf_motion_momentum(run->rig.group, 0, now.center, now.linear, now.angular);
    return now;
}

double mf_rig_apart(const double a[3], const double b[3]) {
    double most = 0.0;
    for (int c = 0; c < 3; c++)
        most = mf_check_worse(most, fabs(a[c] - (b == NULL ? 0.0 : b[c])));
    return most;
}

void mf_rig_body(mf_CheckRun *run, uint32_t link, double mass, const double center[3],
                 const double moments[3]) {
    mf_Link *body = &run->rig.hand.links[link];
    run->rig.hand.model.mass += mass - body->mass;
    body->mass = mass;
    memcpy(body->center, center, sizeof body->center);
    memcpy(body->inertia, moments, 3 * sizeof *moments);
}

void mf_rig_corners(mf_CheckRun *run, int count, double x, double y, double z, double mass) {
    for (int i = 0; i < count; i++)
        mf_hand_point(&run->rig.hand, 0, i & 1 ? x : -x, i & 2 ? y : -y, i & 4 ? z : -z, mass,
                      true);
}

void mf_rig_start_block(mf_CheckRun *run, double mass, const double center[3], double x, double y,
                        double z) {
    mf_rig_start(run);
    mf_rig_body(run, 0, mass, center, (double[3]){0.03, 0.03, 0.05});
    mf_rig_corners(run, 4, x, y, z, 0.0);
}

double mf_rig_random(uint32_t stream, uint64_t n) {
    uint32_t words[4];
    mf_random(20240521, 0, stream, n, words);
    return 2.0 * mf_random_unit_double(words[0], words[1]) - 1.0;
}

void mf_rig_build_arm(mf_CheckRun *run) {
    static const double oblique[3] = {2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0}, along_y[3] = {0, 1, 0};
    static const double centers[3][3] = {{0.05, -0.02, 0.1}, {0.2, 0, 0.05}, {0, 0, -0.2}};
    static const double moments[3][3] = {
        {0.1, 0.15, 0.12}, {0.01, 0.02, 0.015}, {0.006, 0.006, 0.001}};
    mf_rig_body(run, 0, 3.0, centers[0], moments[0]);
    uint32_t arm = mf_hand_hinge(&run->rig.hand, 0, 0.2, 0.1, 0, oblique);
    mf_rig_body(run, arm, 1.0, centers[1], moments[1]);
    uint32_t hand = mf_hand_hinge(&run->rig.hand, arm, 0.4, 0, 0, along_y);
    mf_rig_body(run, hand, 0.5, centers[2], moments[2]);
}
