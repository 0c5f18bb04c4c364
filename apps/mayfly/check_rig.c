// Worlds of the check cases.
#include "check_rig.h"

#include <string.h>

#include "model/import/mjcf.h"

mf_RigConfig mf_rig_config(mf_ArticulatedIntegrator integrator, mf_Time step) {
    mf_RigConfig config = {mf_world_config(), mf_articulated_config()};
    config.world.step = step;
    config.motion.integrator = integrator;
    // These cases use the compliant law; check_constraint.c has those of MuJoCo's law.
    config.motion.contact_law = MF_CONTACT_LAW_COMPLIANT;
    return config;
}

mf_Status mf_rig_open_group(mf_Rig *rig, mf_Context *context, const mf_WorldConfig *world,
                            const mf_GroupConfig *group, mf_Motion motion,
                            const mf_MotionsConfig *motions, mf_Error *error) {
    rig->world = NULL;
    mf_Status status = mf_world_create(context, world, &rig->world, error);
    if (status == MF_OK)
        status = mf_world_add_group(rig->world, group, &rig->group, error);
    if (status == MF_OK)
        status = mf_motion_add(rig->group, motion, motions, error);
    if (status != MF_OK)
        mf_rig_free(rig);
    return status;
}

mf_Status mf_rig_open_model(mf_Rig *rig, mf_Context *context, const mf_Model *model,
                            const mf_WorldConfig *world, mf_Motion motion,
                            const mf_MotionsConfig *motions, mf_Error *error) {
    mf_GroupConfig group = mf_group_config();
    group.model = model;
    group.double_precision = true;
    return mf_rig_open_group(rig, context, world, &group, motion, motions, error);
}

static mf_Status open_articulated(mf_Rig *rig, mf_Context *context, const mf_Model *model,
                                  const mf_RigConfig *config, mf_Error *error) {
    mf_MotionsConfig motions = mf_motions_config();
    motions.articulated = config->motion;
    return mf_rig_open_model(rig, context, model, &config->world, MF_MOTION_ARTICULATED, &motions,
                             error);
}

static mf_Status parse_text(mf_Rig *rig, mf_Context *context, const char *text, mf_Error *error) {
    const mf_ImportConfig import = mf_import_config();
    return mf_mjcf_parse(context, "check.xml", text, strlen(text), &import, true, &rig->model,
                         error);
}

mf_Status mf_rig_open(mf_Rig *rig, mf_Context *context, const mf_RigConfig *config,
                      mf_Error *error) {
    rig->model = NULL;
    return open_articulated(rig, context, &rig->hand.model, config, error);
}

mf_Status mf_rig_open_text(mf_Rig *rig, mf_Context *context, const char *text,
                           const mf_RigConfig *config, mf_Error *error) {
    const mf_Status status = parse_text(rig, context, text, error);
    return status == MF_OK ? open_articulated(rig, context, rig->model, config, error) : status;
}

mf_Status mf_rig_open_motion(mf_Rig *rig, mf_Context *context, const char *text,
                             const mf_WorldConfig *world, mf_Motion motion,
                             const mf_MotionsConfig *motions, mf_Error *error) {
    const mf_Status status = parse_text(rig, context, text, error);
    return status == MF_OK
               ? mf_rig_open_model(rig, context, rig->model, world, motion, motions, error)
               : status;
}

mf_Status mf_rig_open_file(mf_Rig *rig, mf_Context *context, const char *file,
                           const mf_RigConfig *config, mf_Error *error) {
    char path[MF_APP_PATH];
    mf_Status status = mf_model_load(context, mf_app_own(file, path), NULL, &rig->model, error);
    if (status != MF_OK)
        return status;
    return open_articulated(rig, context, rig->model, config, error);
}

void mf_rig_free(mf_Rig *rig) {
    mf_world_destroy(rig->world);
    mf_model_destroy(rig->model);
    rig->world = NULL;
    rig->model = NULL;
}

mf_Status mf_rig_close(mf_Rig *rig, mf_Error *error) {
    uint32_t fault = mf_group_fault(rig->group, 0);
    double time = mf_rig_time(rig);
    mf_rig_free(rig);
    if (fault == 0)
        return MF_OK;
    return mf_fail(error, MF_CORRUPT, "the robot stopped before %g s, fault word %u", time, fault);
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
    mf_ArticulatedEnergy energy = mf_articulated_energy(rig->group, 0);
    return energy.kinetic + energy.potential + energy.elastic;
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
