// A world with one kind of robot that does one gait at one level.
#include "evaluate/level_run.h"
#include "base/memory.h"
#include "world/attach.h"
#include "body/kind.h"
#include "base/clock.h"
#include "terrain/lookup.h"
#include "model/points.h"
#include "motion/table.h"
#include "scene/script/script.h"

#include "math/scalar.h"

#include <mayfly/dynamics.h>

#include <math.h>
#include <string.h>

#define TOUCHES 1e-3 // [m] nearer shapes count as touching the ground
#define GOES 3       // [1] measurements of a cost
#define GO_LEAST 0.1 // [s] wall time of one

// ---- setting up --------------------------------------------------------------------------------

mf_Status mf_level_run_open(mf_Context *context, mf_SceneFile *file, mf_Motion motion,
                            uint32_t count, mf_LevelRun *out, mf_Error *error) {
    mf_LevelRun run = {.context = context, .sampled = -1};
    mf_SceneConfig config = mf_scene_config();
    char drive[96];
    config.motion = motion;
    config.count = count;
    config.isolated = true;
    MF_TRY(mf_scene_create(context, file, &config, &run.scene, error));
    mf_Status status = MF_OK;
    const mf_Model *model = run.model = run.scene.model;
    const mf_Field *counts = mf_motion_counts(run.scene.group);
    run.kind = file->groups[0].kind;
    run.vertex_count = counts != NULL ? (uint32_t)mf_field_get(counts, 0, 0) : 0;
    const uint32_t vertices = run.vertex_count > 0 ? run.vertex_count : model->link_count;
    const mf_Array arrays[] = {
        MF_ARRAY(run.position, model->link_count), MF_ARRAY(run.rotation, model->link_count),
        MF_ARRAY(run.before, vertices), MF_ARRAY(run.before_rotation, model->link_count)};
    if (!mf_allocate_arrays(context, arrays, 4)) {
        mf_level_run_close(&run);
        return mf_fail(error, MF_NO_MEMORY, "compare: out of memory");
    }
    if (run.vertex_count > 0)
        status = run.kind->drive(&file->groups[0], drive, run.scene.group, error);
    else
        status =
            mf_group_link_poses(run.scene.group, 0, 0, run.position[0], run.rotation[0], error);
    if (status != MF_OK)
        mf_level_run_close(&run);
    else
        *out = run;
    return status;
}

void mf_level_run_close(mf_LevelRun *run) {
    mf_scene_destroy(&run->scene);
    mf_release(run->context, run->position);
}

// ---- queries -----------------------------------------------------------------------------------

static void read(const mf_LevelRun *run, const char *name, uint32_t count, double *out) {
    const mf_Field *field = mf_group_find_field(run->scene.group, name);
    mf_field_read(field, 0, 0, count, out);
}

static void position_of(double out[3], const double position[3], const double rotation[4],
                        const double point[3]) {
    mf_quat_rotate(out, rotation, point);
    mf_vec3_add(out, out, position);
}

// Depth [m] of a shape in the ground, and, if it touched the ground at the previous sample, the
// distance [m] that the contact point has slipped since; < 0: it did not touch.
static double sample_shape(const mf_LevelRun *run, uint32_t shape, double *moved) {
    const mf_Terrain *terrain = mf_world_config_of(run->scene.world)->terrain;
    uint32_t link = run->model->shapes[shape].link;
    double point[3], now[3], then[3];
    *moved = -1.0;
    if (run->sampled >= 0) {
        mf_model_shape_lowest(run->model, shape, run->before[link], run->before_rotation[link],
                              point);
        position_of(then, run->before[link], run->before_rotation[link], point);
        position_of(now, run->position[link], run->rotation[link], point);
        double ground = terrain != NULL ? mf_terrain_height(terrain, then[0], then[1], NULL) : 0.0;
        double x = now[0] - then[0], y = now[1] - then[1];
        if (then[2] - ground < TOUCHES && now[2] - ground < TOUCHES)
            *moved = mf_sqrt(x * x + y * y);
    }
    mf_model_shape_lowest(run->model, shape, run->position[link], run->rotation[link], point);
    position_of(now, run->position[link], run->rotation[link], point);
    return terrain != NULL ? mf_terrain_depth(terrain, now) : -now[2];
}

void mf_level_run_sample(mf_LevelRun *run, double position[3], double orientation[4],
                         double *penetration, double *slip) {
    const mf_Model *model = run->model;
    double distance = 0.0, moved;
    uint32_t count = 0;
    read(run, "base.position", 3, position);
    read(run, "base.orientation", 4, orientation);
    // Prepared when the run was opened, so it cannot fail.
    mf_group_link_poses(run->scene.group, 0, 1, run->position[0], run->rotation[0], NULL);
    *penetration = 0.0;
    for (uint32_t i = 0; i < model->shape_count; i++) {
        if (!model->shapes[i].collides || model->shapes[i].link == MF_NONE)
            continue;
        double depth = sample_shape(run, i, &moved);
        *penetration = depth > *penetration ? depth : *penetration;
        distance += moved >= 0.0 ? moved : 0.0;
        count += moved >= 0.0;
    }
    mf_Time now = mf_world_time(run->scene.world);
    *slip = count > 0 ? distance / count / mf_time_to_seconds(now - run->sampled) : 0.0;
    run->sampled = now;
    memcpy(run->before, run->position, model->link_count * sizeof *run->position);
    memcpy(run->before_rotation, run->rotation, model->link_count * sizeof *run->rotation);
}

double mf_level_run_sample_body(mf_LevelRun *run, mf_CompareSample *sample) {
    const mf_Time now = mf_world_time(run->scene.world);
    const double since = run->sampled >= 0 ? mf_time_to_seconds(now - run->sampled) : 0.0;
    run->sampled = now;
    return run->kind->sample(run->scene.group, run->before, since, sample);
}

double mf_level_run_energy(const mf_LevelRun *run) {
    mf_MotionEnergy energy = mf_motion_energy(run->scene.group, 0);
    return energy.kinetic + energy.potential;
}

// ---- cost ---------------------------------------------------------------------------------------

mf_Status mf_level_run_cost(mf_Context *context, mf_SceneFile *file, const mf_CompareConfig *config,
                            mf_Motion motion, double *out, mf_Error *error) {
    mf_LevelRun run;
    uint64_t steps = 20;
    MF_TRY(mf_level_run_open(context, file, motion, config->cost_robots, &run, error));
    *out = INFINITY;
    for (int go = 0; go < GOES;) {
        double start = mf_clock_seconds();
        const mf_Status status = mf_scene_step(&run.scene, steps, NULL, error);
        if (status != MF_OK) {
            mf_level_run_close(&run);
            return status;
        }
        double seconds = mf_clock_seconds() - start;
        if (seconds < GO_LEAST) {
            steps *= 2;
            continue;
        }
        double each = seconds * mf_context_threads(context) / ((double)steps * config->cost_robots);
        *out = each < *out ? each : *out;
        go++;
    }
    mf_level_run_close(&run);
    return MF_OK;
}
