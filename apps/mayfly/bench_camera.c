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
    const char *file; // text of the robot's file; NULL: humanoids walk
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
    {{"cameras-84", NULL, false, 2, 64, 20}, ant},
    {{"cameras-84-samples", NULL, false, 2, 64, 20}, smooth_ant},
    {{"cameras-humanoids", NULL, false, 2, 6, 200}, NULL},
};

static mf_Status open_ants(mf_BenchRig *rig, const mf_BenchOptions *options, mf_Error *error) {
    const Bench *bench = rig->bench;
    const mf_ImportConfig import = mf_import_config();
    MF_TRY(mf_bench_rig_context(rig, options->threads, error));
    MF_TRY(mf_mjcf_parse(rig->context, "ant.xml", bench->file, strlen(bench->file), &import, true,
                         &rig->model, error));
    return mf_bench_rig_fill(rig, options, 50 * MF_MILLISECOND, error);
}

static mf_Status open_walkers(mf_BenchRig *rig, const mf_BenchOptions *options, mf_Error *error) {
    MF_TRY(mf_bench_rig_parse(rig, options->threads, walkers, NULL, 0, error));
    return mf_bench_rig_scene(rig, NULL, error);
}

static mf_Status open_rig(mf_BenchRig *rig, const mf_BenchOptions *options, mf_Error *error) {
    const bool walks = ((const Bench *)rig->bench)->file == NULL;
    rig->motion = walks ? "kinematic" : "none";
    MF_TRY((walks ? open_walkers : open_ants)(rig, options, error));
    return mf_cameras_add(rig->world, error);
}

static double count_images(const mf_BenchRig *rig, const mf_BenchResult *result) {
    const double seconds = (double)result->steps * result->dt; // of 20 pictures each
    return 20.0 * seconds * mf_group_count(rig->group);
}

static json_t *more(mf_BenchRig *rig, const mf_BenchResult *result) {
    const double images = count_images(rig, result);
    return json_pack("{s:o, s:o}", "images_per_second", mf_json_real(images / result->seconds),
                     "images", mf_json_real(images));
}

static bool note(mf_BenchRig *rig, const mf_BenchResult *result) {
    return printf("%-20s %.0f images/s\n", "", count_images(rig, result) / result->seconds) > 0;
}

const mf_BenchKind mf_bench_cameras = {MF_BENCH_ROWS(benches),
                                       .ignores = "model generations",
                                       .rig_size = sizeof(mf_BenchRig),
                                       .open = open_rig,
                                       .more = more,
                                       .note = note};
