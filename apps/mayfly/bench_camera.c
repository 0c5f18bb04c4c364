// Benches of cameras. `cameras-84`: 64 robots, each with a picture of 84 x 84 in every step, and
// nothing else moves; `cameras-84-samples`: 2 x 2 rays per pixel. `cameras-humanoids`: six
// humanoids walk by kinematics and see each other, 320 x 240 at 20 Hz, with the lens, blur and
// noise of models/humanoid.urdf.
#include "bench_time.h"

#include "import/mjcf.h"

#include <mayfly/camera.h>

#include <string.h>

typedef struct Bench {
    mf_Bench bench;
    uint32_t robots; // [1]
    uint64_t steps;  // [1]
    bool walks;
    const char *file; // text of the robot's file, where none walks
} Bench;

// Four legs of two parts, as many shapes as an ant has.
#define ANT(more)                                                                                  \
    "<mujoco>" more "<default><geom type='capsule' rgba='0.8 0.4 0.1 1'/></default><worldbody>"    \
    "<body pos='0 0 0.6'><freejoint/><geom type='sphere' size='0.25'/>"                            \
    "<geom fromto='0 0 0 .2 .2 0' size='.08'/><geom fromto='.2 .2 0 .4 .4 0' size='.08'/>"         \
    "<geom fromto='.4 .4 0 .8 .8 -.5' size='.08'/><geom fromto='0 0 0 -.2 .2 0' size='.08'/>"      \
    "<geom fromto='-.2 .2 0 -.4 .4 0' size='.08'/><geom fromto='-.4 .4 0 -.8 .8 -.5' size='.08'/>" \
    "<geom fromto='0 0 0 .2 -.2 0' size='.08'/><geom fromto='.2 -.2 0 .4 -.4 0' size='.08'/>"      \
    "<geom fromto='.4 -.4 0 .8 -.8 -.5' size='.08'/><geom fromto='0 0 0 -.2 -.2 0' size='.08'/>"   \
    "<geom fromto='-.2 -.2 0 -.4 -.4 0' size='.08'/><geom fromto='-.4 -.4 0 -.8 -.8 -.5' "         \
    "size='.08'/><camera name='eye' pos='-2.5 0 1' xyaxes='0 -1 0 .35 0 1' fovy='60' "             \
    "resolution='84 84'/></body></worldbody></mujoco>"

static const char ant[] = ANT("");
static const char smooth_ant[] = ANT("<custom><text name='camera:eye' data='samples=2'/></custom>");

static const char walkers[] =
    "world: {step: 0.01}\n"
    "groups:\n"
    "  - name: walkers\n"
    "    model: ../models/humanoid.urdf\n"
    "    motion: kinematic\n"
    "    count: 6\n"
    "    sensors: false\n"
    "    gaits: [walk]\n"
    "    placement: {poses: [[0, 0, 0], [0, 0.6, 0], [0, 1.2, 0], [1.5, 0, "
    "3.1], [1.5, 0.6, 3.1], [1.5, "
    "1.2, 3.1]]}\n"
    "    behavior:\n"
    "      gait: {name: walk, command: [0.05, 0, 0]}\n";

static const Bench benches[] = {
    {{"cameras-84", NULL, false}, 64, 20, false, ant},
    {{"cameras-84-samples", NULL, false}, 64, 20, false, smooth_ant},
    {{"cameras-humanoids", NULL, false}, 6, 200, true, NULL},
};

static mf_Status open_ants(mf_BenchRig *rig, const mf_BenchOptions *options, const Bench *bench,
                           mf_Error *error) {
    const mf_ImportConfig import = mf_import_config();
    mf_ContextConfig context = mf_context_config();
    context.threads = options->threads != 0 ? options->threads : 2;
    mf_Status status = mf_context_create(&context, &rig->context, error);
    if (status == MF_OK)
        status = mf_mjcf_parse(rig->context, "ant.xml", bench->file, strlen(bench->file), &import,
                               true, &rig->model, error);
    if (status == MF_OK)
        status = mf_bench_rig_fill(rig, options, bench->robots, 50 * MF_MILLISECOND, error);
    return status == MF_OK ? mf_cameras_add(rig->world, error) : status;
}

static bool print(const Bench *bench, const mf_BenchResult *result, const mf_Group *group,
                  double images, const mf_BenchOptions *options, bool json) {
    const double rate = images / result->seconds;
    const char *motion = bench->walks ? "kinematic" : "none";
    if (json)
        return mf_bench_print_json(options, bench->bench.name, motion, result,
                                   json_pack("{s:o, s:o}", "images_per_second", mf_json_real(rate),
                                             "images", mf_json_real(images)));
    return mf_bench_print_row(bench->bench.name, result, group) &&
           printf("%-20s %.0f images/s\n", "", rate) > 0;
}

static int time_world(const Bench *bench, mf_World *world, mf_Group *group,
                      const mf_BenchOptions *options, bool json, mf_Error *error) {
    mf_BenchResult result = {0};
    const mf_BenchWork work = {.name = bench->bench.name,
                               .world = world,
                               .steps = options->steps != 0 ? options->steps : bench->steps};
    bool written = false;
    mf_Status status = mf_bench_time(&work, options, &result, error);
    if (status == MF_OK) {
        const double seconds = (double)result.steps * result.dt; // of 20 pictures each
        mf_bench_describe(&result, group, "contact.load");
        written =
            print(bench, &result, group, 20.0 * seconds * mf_group_count(group), options, json);
    }
    return mf_bench_end(status, error, written);
}

static int run(const void *row, const mf_BenchOptions *options, bool json) {
    const Bench *bench = row;
    mf_BenchRig rig = {0};
    mf_BenchScene scene = {0};
    mf_Error error = {0};
    mf_Status status;
    if (bench->walks) {
        status = mf_bench_scene_parse(&scene, options->threads != 0 ? options->threads : 2, walkers,
                                      NULL, 0, &error);
        if (status == MF_OK)
            status = mf_scene_create(scene.context, scene.file, NULL, &scene.scene, &error);
        if (status == MF_OK)
            status = mf_cameras_add(scene.scene.world, &error);
    } else {
        status = open_ants(&rig, options, bench, &error);
    }
    int code = status == MF_OK
                   ? time_world(bench, bench->walks ? scene.scene.world : rig.world,
                                bench->walks ? scene.scene.group : rig.group, options, json, &error)
                   : mf_bench_end(status, &error, false);
    mf_bench_rig_free(&rig);
    if (bench->walks)
        mf_bench_scene_free(&scene);
    return code;
}

const mf_BenchKind mf_bench_cameras = {MF_BENCH_ROWS(benches), .ignores = "model generations",
                                       .run = run};
