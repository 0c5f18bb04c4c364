#include "lives.h"

#include <math.h>

#include "run_scripts.h"
#include "scene/evaluate.h"

bool mf_lives_verifies(const mf_Lives *lives) {
    return lives->file->verify.motion != MF_VERIFY_NONE;
}

uint32_t mf_lives_verify_count(const mf_Lives *lives) {
    return lives->verify_fitness != NULL ? 2 : 1;
}

static mf_Status make_verify_scenes(mf_Lives *lives, mf_Error *error) {
    const mf_VerifyConfig *verify = &lives->file->verify;
    if (!mf_lives_verifies(lives))
        return MF_OK;
    mf_Motion motion = mf_verify_motion(verify->motion);
    mf_SceneConfig config = mf_scene_config_at_level(lives->file, motion);
    config.count = verify->best;
    if (motion != MF_MOTION_POINTS)
        config.step = verify->step; // also at the level of the evolution
    mf_Status status =
        mf_scene_create(lives->context, lives->file, &config, &lives->verify[0], error);
    if (status != MF_OK || verify->stiffness == 1.0)
        return status;
    config.stiffness = lives->file->groups[0].servo.stiffness * verify->stiffness;
    lives->verify_fitness = mf_allocate(lives->context, verify->best, sizeof(double));
    MF_NEED_MEMORY(lives->verify_fitness != NULL, error, "verify");
    return mf_scene_create(lives->context, lives->file, &config, &lives->verify[1], error);
}

mf_Status mf_lives_open(mf_Context *context, mf_SceneFile *file, mf_Lives *out, mf_Error *error) {
    *out = (mf_Lives){.context = context, .file = file};
    mf_SceneConfig config = mf_scene_config();
    config.evaluates = true;
    config.count = mf_search_evaluated_at_once(&file->search);
    const mf_Status status = mf_scene_create(context, file, &config, &out->scene, error);
    mf_scene_on_print(&out->scene, mf_run_script_line, NULL);
    return status == MF_OK ? make_verify_scenes(out, error) : status;
}

void mf_lives_close(mf_Lives *lives) {
    if (lives->scene.world != NULL)
        mf_scene_destroy(&lives->scene);
    for (int i = 0; i < 2; i++)
        if (lives->verify[i].world != NULL)
            mf_scene_destroy(&lives->verify[i]);
    if (lives->context != NULL)
        mf_release(lives->context, lives->verify_fitness);
    *lives = (mf_Lives){.context = NULL};
}

mf_Status mf_lives_evaluate(mf_Lives *lives, bool verifies, uint32_t first, const uint8_t *genomes,
                            uint32_t count, uint32_t genome_bytes, double *fitness, double *values,
                            mf_Error *error) {
    double *other = lives->verify_fitness;
    if (!verifies)
        return mf_scene_evaluate_some(&lives->scene, first, genomes, count, genome_bytes, fitness,
                                      values, error);
    MF_TRY(mf_scene_evaluate_some(&lives->verify[0], first, genomes, count, genome_bytes, fitness,
                                  NULL, error));
    if (other == NULL)
        return MF_OK;
    MF_TRY(mf_scene_evaluate_some(&lives->verify[1], first, genomes, count, genome_bytes, other,
                                  NULL, error));
    for (uint32_t i = 0; i < count; i++)
        if (!isnan(fitness[i]) && !(fitness[i] < other[i]))
            fitness[i] = other[i];
    return MF_OK;
}
