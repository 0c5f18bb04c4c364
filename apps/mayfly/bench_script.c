// Benches of scripts: 1,000 robots of 18 joints whose script reads 10 joint angles and writes 10
// targets of each at every step, one by one or all robots at a time. The step of the robots is
// included; it takes a few hundredths of a microsecond for each.
#include "bench_time.h"

#include "script/script.h"

#include <stdio.h>
#include <string.h>

#define ROBOTS 1000u // [1]
#define SCENE                                                                                      \
    "world: {step: 0.01}\n"                                                                        \
    "groups:\n"                                                                                    \
    "  - {name: robots, model: ../models/hexapod.urdf, motion: points, count: 1000, sensors: "     \
    "false}\n"                                                                                     \
    "scripts:\n"                                                                                   \
    "  - name: bench\n"                                                                            \
    "    text: |\n"                                                                                \
    "      local angle = world:property('robots[*]/joint.angle')\n"                                \
    "      local target = world:property('robots[*]/joint.target')\n"                              \
    "      local count = world:count('robots')\n"                                                  \
    "      local joints = #angle // count\n"

typedef struct Bench {
    mf_Bench bench;
    const char *text;
} Bench;

static const Bench benches[] = {
    {{"lua-1000", NULL, false},
     SCENE "      function tick(time)\n"
           "        for i = 0, count - 1 do\n"
           "          local first = i * joints\n"
           "          for j = first + 1, first + 10 do target[j] = 0.5 * angle[j] end\n"
           "        end\n"
           "      end\n"},
    {{"lua-1000-arrays", NULL, false},
     SCENE "      local some, out = {}, {}\n"
           "      for j = 1, 10 do\n"
           "        local name = 'robots[*]/joint.%s[' .. j - 1 .. ']'\n"
           "        some[j] = world:property(string.format(name, 'angle'))\n"
           "        out[j] = world:property(string.format(name, 'target'))\n"
           "      end\n"
           "      local values = {}\n"
           "      function tick(time)\n"
           "        for j = 1, 10 do\n"
           "          some[j]:all(values)\n"
           "          for i = 1, count do values[i] = 0.5 * values[i] end\n"
           "          out[j]:assign(values)\n"
           "        end\n"
           "      end\n"}};

typedef struct Work {
    mf_Scripts *scripts;
    uint64_t steps; // [1]
    mf_Status status;
    mf_Error error;
} Work;

static void step(void *user) {
    Work *work = user;
    uint64_t done;
    if (work->status == MF_OK)
        work->status = mf_scripts_step(work->scripts, work->steps, &done, &work->error);
}

static bool print(const Bench *bench, const mf_BenchOptions *options, const mf_BenchResult *result,
                  const mf_Group *group, bool json) {
    const double cost = 1e6 * result->seconds / ((double)result->steps * ROBOTS);
    if (json)
        return mf_bench_print_json(options, bench->bench.name, "points", result,
                                   json_pack("{s:f}", "tick_us", cost));
    return mf_bench_print_row(bench->bench.name, result, group) &&
           printf("  %.3f us for a robot, its 10 values read and 10 written by the script\n",
                  cost) > 0;
}

static int run(const void *row, const mf_BenchOptions *options, bool json) {
    const Bench *bench = row;
    mf_BenchScene scene = {0};
    mf_BenchResult result = {0};
    mf_Error error = {0};
    Work work = {.steps = options->steps > 0 ? options->steps : 50};
    const uint32_t threads = options->threads > 0 ? options->threads : 1;
    mf_Status status = mf_bench_scene_parse(&scene, threads, bench->text, NULL, 0, &error);
    mf_SceneConfig config = mf_scene_config();
    config.scripts = true;
    if (status == MF_OK)
        status = mf_scene_create(scene.context, scene.file, &config, &scene.scene, &error);
    if (status == MF_OK)
        status = mf_scripts_create(&scene.scene, NULL, &work.scripts, &error);
    if (status == MF_OK)
        status = mf_scripts_start(work.scripts, &error);
    if (status == MF_OK) {
        const mf_BenchWork timed = {.name = bench->bench.name,
                                    .world = scene.scene.world,
                                    .steps = work.steps,
                                    .run = step,
                                    .user = &work};
        status = mf_bench_time(&timed, options, &result, &error);
    }
    if (status == MF_OK && work.status != MF_OK) {
        status = work.status;
        error = work.error;
    }
    bool written = false;
    if (status == MF_OK) {
        mf_bench_describe(&result, scene.scene.group, "contact.load");
        written = print(bench, options, &result, scene.scene.group, json);
    }
    mf_scripts_destroy(work.scripts);
    mf_bench_scene_free(&scene);
    return mf_bench_end(status, &error, written);
}

const mf_BenchKind mf_bench_scripts = {
    MF_BENCH_ROWS(benches), .ignores = "instances model precision generations", .run = run};
