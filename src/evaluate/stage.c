// A world with one kind of robot that does one gait at one level.
#include "evaluate/stage.h"

#include "math/scalar.h"

#include <mayfly/dynamics.h>

#include <math.h>
#include <string.h>
#include <time.h>

#define TOUCHES 1e-3 // [m] what is so near the ground counts as on it
#define GOES 3       // [1] measurements of a price
#define GO_LEAST 0.1 // [s] wall time of one

// ---- setting up --------------------------------------------------------------------------------

mf_Status mf_ladder_raise(mf_Context *context, mf_SceneFile *file, mf_Motion motion, uint32_t count,
                          mf_LadderStage *out, mf_Error *error) {
    mf_LadderStage stage = {.context = context, .looked = -1};
    mf_SceneConfig config = mf_scene_config();
    config.motion = motion;
    config.count = count;
    config.isolated = true;
    mf_Status status = mf_scene_create(context, file, &config, &stage.scene, error);
    if (status != MF_OK)
        return status;
    const mf_Model *model = stage.model = stage.scene.model;
    stage.place = mf_allocate(context, model->link_count, sizeof *stage.place);
    stage.turn = mf_allocate(context, model->link_count, sizeof *stage.turn);
    stage.before = mf_allocate(context, model->link_count, sizeof *stage.before);
    stage.turned = mf_allocate(context, model->link_count, sizeof *stage.turned);
    if (stage.place == NULL || stage.turn == NULL || stage.before == NULL || stage.turned == NULL) {
        mf_ladder_clear(&stage);
        return mf_fail(error, MF_NO_MEMORY, "compare: out of memory");
    }
    status = mf_group_link_poses(stage.scene.group, 0, 0, stage.place[0], stage.turn[0], error);
    if (status != MF_OK)
        mf_ladder_clear(&stage);
    else
        *out = stage;
    return status;
}

void mf_ladder_clear(mf_LadderStage *stage) {
    mf_scene_destroy(&stage->scene);
    mf_release(stage->context, stage->place);
    mf_release(stage->context, stage->turn);
    mf_release(stage->context, stage->before);
    mf_release(stage->context, stage->turned);
}

// ---- looking -----------------------------------------------------------------------------------

static void read(const mf_LadderStage *stage, const char *name, uint32_t count, double *out) {
    const mf_Field *field = mf_group_find_field(stage->scene.group, name);
    for (uint32_t c = 0; c < count; c++)
        out[c] = mf_field_get(field, 0, c);
}

static void place_of(double out[3], const double position[3], const double turn[4],
                     const double point[3]) {
    mf_quat_rotate(out, turn, point);
    mf_vec3_add(out, out, position);
}

// How deep [m] a shape is in the ground now, and, where it was on it at the look before, how far
// [m] the point that touched has moved along it since; < 0: it was not.
static double look_at_shape(const mf_LadderStage *stage, uint32_t shape, double *moved) {
    const mf_Terrain *terrain = mf_world_settings(stage->scene.world)->terrain;
    uint32_t link = stage->model->shapes[shape].link;
    double point[3], now[3], then[3];
    *moved = -1.0;
    if (stage->looked >= 0) {
        mf_model_shape_lowest(stage->model, shape, stage->before[link], stage->turned[link], point);
        place_of(then, stage->before[link], stage->turned[link], point);
        place_of(now, stage->place[link], stage->turn[link], point);
        double ground = terrain != NULL ? mf_terrain_height(terrain, then[0], then[1], NULL) : 0.0;
        double x = now[0] - then[0], y = now[1] - then[1];
        if (then[2] - ground < TOUCHES && now[2] - ground < TOUCHES)
            *moved = mf_sqrt(x * x + y * y);
    }
    mf_model_shape_lowest(stage->model, shape, stage->place[link], stage->turn[link], point);
    place_of(now, stage->place[link], stage->turn[link], point);
    return (terrain != NULL ? mf_terrain_height(terrain, now[0], now[1], NULL) : 0.0) - now[2];
}

void mf_ladder_look(mf_LadderStage *stage, double position[3], double orientation[4],
                    double *penetration, double *slip) {
    const mf_Model *model = stage->model;
    double way = 0.0, moved;
    uint32_t count = 0;
    read(stage, "base.position", 3, position);
    read(stage, "base.orientation", 4, orientation);
    // Prepared when the stage was raised, so it cannot fail.
    mf_group_link_poses(stage->scene.group, 0, 1, stage->place[0], stage->turn[0], NULL);
    *penetration = 0.0;
    for (uint32_t i = 0; i < model->shape_count; i++) {
        if (!model->shapes[i].collides || model->shapes[i].link == MF_NONE)
            continue;
        double depth = look_at_shape(stage, i, &moved);
        *penetration = depth > *penetration ? depth : *penetration;
        way += moved >= 0.0 ? moved : 0.0;
        count += moved >= 0.0;
    }
    mf_Time now = mf_world_time(stage->scene.world);
    *slip = count > 0 ? way / count / mf_time_to_seconds(now - stage->looked) : 0.0;
    stage->looked = now;
    memcpy(stage->before, stage->place, model->link_count * sizeof *stage->place);
    memcpy(stage->turned, stage->turn, model->link_count * sizeof *stage->turn);
}

double mf_ladder_energy(const mf_LadderStage *stage) {
    mf_MotionEnergy energy = mf_motion_energy(stage->scene.group, 0);
    return energy.kinetic + energy.potential;
}

// ---- the price ---------------------------------------------------------------------------------

static double wall_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

mf_Status mf_ladder_price(mf_Context *context, mf_SceneFile *file, const mf_CompareConfig *config,
                          mf_Motion motion, double *out, mf_Error *error) {
    mf_LadderStage stage;
    uint64_t steps = 20;
    mf_Status status = mf_ladder_raise(context, file, motion, config->price_robots, &stage, error);
    if (status != MF_OK)
        return status;
    *out = INFINITY;
    for (int go = 0; go < GOES;) {
        double start = wall_clock();
        mf_world_step(stage.scene.world, steps);
        double seconds = wall_clock() - start;
        if (seconds < GO_LEAST) {
            steps *= 2;
            continue;
        }
        double each =
            seconds * mf_context_threads(context) / ((double)steps * config->price_robots);
        *out = each < *out ? each : *out;
        go++;
    }
    mf_ladder_clear(&stage);
    return MF_OK;
}
