// Benches of scripts: 1,000 robots of 18 joints whose script reads 10 joint angles and writes 10
// targets of each at every step, one by one or all robots at a time. The step of the robots is
// included; it takes a few hundredths of a microsecond for each.
#include "bench_time.h"

#include "scene/script/script.h"

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
    {{"lua-1000", NULL, false, 1, 0, 50},
     SCENE "      function tick(time)\n"
           "        for i = 0, count - 1 do\n"
           "          local first = i * joints\n"
           "          for j = first + 1, first + 10 do target[j] = 0.5 * angle[j] end\n"
           "        end\n"
           "      end\n"},
    {{"lua-1000-arrays", NULL, false, 1, 0, 50},
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

static void step(mf_BenchRig *rig) {
    if (rig->status == MF_OK)
        rig->status = mf_scene_step(&rig->scene, rig->steps, NULL, &rig->error);
}

static mf_Status open_rig(mf_BenchRig *rig, const mf_BenchOptions *options, mf_Error *error) {
    const Bench *bench = rig->bench;
    rig->motion = "points";
    rig->run = step;
    MF_TRY(mf_bench_rig_parse(rig, options->threads, bench->text, NULL, 0, error));
    return mf_bench_rig_scene(rig, NULL, error);
}

static double tick_us(const mf_BenchResult *result) {
    return 1e6 * result->seconds / ((double)result->steps * ROBOTS);
}

static json_t *more(mf_BenchRig *rig, const mf_BenchResult *result) {
    (void)rig;
    return json_pack("{s:f}", "tick_us", tick_us(result));
}

static bool note(mf_BenchRig *rig, const mf_BenchResult *result) {
    (void)rig;
    return printf("  %.3f us for a robot, its 10 values read and 10 written by the script\n",
                  tick_us(result)) > 0;
}

const mf_BenchKind mf_bench_scripts = {MF_BENCH_ROWS(benches),
                                       .ignores = "instances model precision generations",
                                       .rig_size = sizeof(mf_BenchRig),
                                       .open = open_rig,
                                       .more = more,
                                       .note = note};
