// Worlds of the check cases.
#include "check_rig.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "import/mjcf.h"

mf_RigConfig mf_rig_config(mf_ArticulatedIntegrator integrator, mf_Time step) {
    mf_RigConfig config = {
        mf_world_config(),         MF_MOTION_ARTICULATED,          mf_motions_config().articulated,
        mf_motions_config().rigid, mf_motions_config().prescribed, mf_motions_config().points};
    config.world.step = step;
    config.motion.integrator = integrator;
    // These cases use the compliant law; check_constraint.c has those of MuJoCo's law.
    config.motion.contact_law = MF_CONTACT_LAW_COMPLIANT;
    return config;
}

mf_RigConfig mf_rig_config_at(mf_Motion level, mf_ArticulatedIntegrator integrator, mf_Time step) {
    mf_RigConfig config = mf_rig_config(integrator, step);
    config.level = level;
    config.rigid.integrator = config.prescribed.integrator = integrator;
    // Rigid ground: as stiff as the step allows, points without torsional friction.
    config.rigid.contact_time = config.prescribed.contact_time = 0.0;
    config.rigid.torsional_friction = 0.0;
    return config;
}

void mf_rig_tilt(mf_WorldConfig *world, double angle) {
    world->gravity_direction[0] = sin(angle);
    world->gravity_direction[2] = -cos(angle);
}

void mf_rig_open_group(mf_Rig *rig, mf_CheckRun *run, const mf_WorldConfig *world,
                       const mf_GroupConfig *group, mf_Motion motion,
                       const mf_MotionsConfig *motions) {
    rig->world = NULL;
    mf_check_must(run, mf_world_create(run->context, world, &rig->world, &run->error));
    mf_check_must(run, mf_world_add_group(rig->world, group, &rig->group, &run->error));
    mf_check_must(run, mf_motion_add(rig->group, motion, motions, &run->error));
}

void mf_rig_open_model(mf_Rig *rig, mf_CheckRun *run, const mf_Model *model,
                       const mf_WorldConfig *world, mf_Motion motion,
                       const mf_MotionsConfig *motions) {
    mf_GroupConfig group = mf_group_config();
    group.model = model;
    group.double_precision = true;
    mf_rig_open_group(rig, run, world, &group, motion, motions);
}

static void open_level(mf_Rig *rig, mf_CheckRun *run, const mf_Model *model,
                       const mf_RigConfig *config) {
    mf_MotionsConfig motions = mf_motions_config();
    motions.articulated = config->motion;
    motions.rigid = config->rigid;
    motions.prescribed = config->prescribed;
    motions.points = config->points;
    mf_rig_open_model(rig, run, model, &config->world, config->level, &motions);
}

static void parse_text(mf_Rig *rig, mf_CheckRun *run, const char *text) {
    const mf_ImportConfig import = mf_import_config();
    mf_check_must(run, mf_mjcf_parse(run->context, "check.xml", text, strlen(text), &import, true,
                                     &rig->model, &run->error));
}

void mf_rig_open(mf_Rig *rig, mf_CheckRun *run, const mf_RigConfig *config) {
    rig->model = NULL;
    open_level(rig, run, &rig->hand.model, config);
}

void mf_rig_open_text(mf_Rig *rig, mf_CheckRun *run, const char *text, const mf_RigConfig *config) {
    parse_text(rig, run, text);
    open_level(rig, run, rig->model, config);
}

void mf_rig_open_motion(mf_Rig *rig, mf_CheckRun *run, const char *text,
                        const mf_WorldConfig *world, mf_Motion motion,
                        const mf_MotionsConfig *motions) {
    parse_text(rig, run, text);
    mf_rig_open_model(rig, run, rig->model, world, motion, motions);
}

void mf_rig_open_file(mf_Rig *rig, mf_CheckRun *run, const char *file, const mf_RigConfig *config) {
    char path[MF_APP_PATH];
    mf_check_must(
        run, mf_model_load(run->context, mf_app_own(file, path), NULL, &rig->model, &run->error));
    open_level(rig, run, rig->model, config);
}

void mf_rig_free(mf_Rig *rig) {
    mf_world_destroy(rig->world);
    mf_model_destroy(rig->model);
    rig->world = NULL;
    rig->model = NULL;
}

void mf_rig_close(mf_CheckRun *run, mf_Rig *rig) {
    uint32_t fault = mf_group_fault(rig->group, 0);
    double time = mf_rig_time(rig);
    mf_rig_free(rig);
    if (fault == 0)
        return;
    mf_check_fail(run, MF_CORRUPT, "the robot stopped before %g s, fault word %u", time, fault);
}

double mf_rig_get(const mf_Rig *rig, const char *field, uint32_t component) {
    return mf_field_get(mf_group_find_field(rig->group, field), 0, component);
}

void mf_rig_set(const mf_Rig *rig, const char *field, uint32_t component, double value) {
    mf_field_set(mf_group_find_field(rig->group, field), 0, component, value);
}

void mf_rig_set3(const mf_Rig *rig, const char *field, double x, double y, double z) {
    mf_rig_set(rig, field, 0, x);
    mf_rig_set(rig, field, 1, y);
    mf_rig_set(rig, field, 2, z);
}

double mf_rig_time(const mf_Rig *rig) {
    return mf_time_to_seconds(mf_world_time(rig->world));
}

double mf_rig_energy(const mf_Rig *rig) {
    mf_MotionEnergy energy = mf_motion_energy(rig->group, 0);
    return energy.kinetic + energy.potential + energy.elastic;
}

double mf_rig_yaw(const mf_Rig *rig) {
    return 2.0 *
           atan2(mf_rig_get(rig, "base.orientation", 3), mf_rig_get(rig, "base.orientation", 0));
}

void mf_rig_near3(mf_CheckRun *run, const mf_Rig *rig, const char *field, const double expected[3],
                  double unit, double tolerance, const char *what) {
    for (uint32_t c = 0; c < 3; c++) {
        char name[96];
        snprintf(name, sizeof name, "%s", what);
        *strchr(name, '?') = (char)('x' + c);
        mf_check_near(run, name, expected[c], mf_rig_get(rig, field, c) / unit, tolerance);
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

mf_RigMomentum mf_rig_momentum(const mf_Rig *rig) {
    mf_RigMomentum now;
    mf_motion_momentum(rig->group, 0, now.center, now.linear, now.angular);
    return now;
}

double mf_rig_apart(const double a[3], const double b[3]) {
    double most = 0.0;
    for (int c = 0; c < 3; c++)
        most = mf_check_worse(most, fabs(a[c] - (b == NULL ? 0.0 : b[c])));
    return most;
}

void mf_rig_body(mf_Rig *rig, uint32_t link, double mass, const double center[3],
                 const double moments[3]) {
    mf_Link *body = &rig->hand.links[link];
    rig->hand.model.mass += mass - body->mass;
    body->mass = mass;
    memcpy(body->center, center, sizeof body->center);
    memcpy(body->inertia, moments, 3 * sizeof *moments);
}

double mf_rig_random(uint32_t stream, uint64_t n) {
    uint32_t words[4];
    mf_random(20240521, 0, stream, n, words);
    return 2.0 * mf_random_unit_double(words[0], words[1]) - 1.0;
}

void mf_rig_build_arm(mf_Rig *rig) {
    static const double oblique[3] = {2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0}, along_y[3] = {0, 1, 0};
    static const double centers[3][3] = {{0.05, -0.02, 0.1}, {0.2, 0, 0.05}, {0, 0, -0.2}};
    static const double moments[3][3] = {
        {0.1, 0.15, 0.12}, {0.01, 0.02, 0.015}, {0.006, 0.006, 0.001}};
    mf_rig_body(rig, 0, 3.0, centers[0], moments[0]);
    uint32_t arm = mf_hand_hinge(&rig->hand, 0, 0.2, 0.1, 0, oblique);
    mf_rig_body(rig, arm, 1.0, centers[1], moments[1]);
    uint32_t hand = mf_hand_hinge(&rig->hand, arm, 0.4, 0, 0, along_y);
    mf_rig_body(rig, hand, 0.5, centers[2], moments[2]);
}
