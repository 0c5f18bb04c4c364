// Benches of swarms. A round is one step of the whole world: every agent's on-board control and one
// Runge-Kutta step, and the bench's additions. Every repeat starts from the same snapshot and must
// end with the same hash; the first is a warm-up. `steps` counts agent-rounds, so seconds / steps
// is the time per round divided by agents.
#include "bench_time.h"

#include <stdio.h>

#define TEXT_MOST 4096 // [byte] of a scene

typedef struct Bench {
    mf_Bench bench;
    uint32_t threads; // [1]
    uint32_t agents;  // [1] 0: a curve over several numbers
    uint32_t rounds;  // [1]
    void (*write)(char *out, uint32_t agents, const char *precision);
} Bench;

// ---- the worlds --------------------------------------------------------------------------------

// Commands of body rates and thrust, the inner loop and the motion: the round of the paper.
static void write_quadrotors(char *out, uint32_t agents, const char *precision) {
    snprintf(out, TEXT_MOST,
             "world: {step: 0.001}\n"
             "contact: {enabled: false}\n"
             "groups:\n"
             "  - name: quads\n"
             "    model: ../models/sun2022.yaml\n"
             "    count: %u\n"
             "    precision: %s\n"
             "    placement: {grid: {center: [0, 0, 50], spacing: [3, 3, 3], layers: 20}}\n"
             "    behavior: {command: {mode: rates, values: [0.1, -0.1, 0.2, 7.37712]}}\n"
             "    behavior_interval: 3600\n",
             agents, precision);
}

// About 20 neighbors within 5 m: 0.0382 agents in a cubic meter. Position loops hold the density
// against the downwash. The discs are those of four propellers of 5 inches. The neighbors within 5
// m are counted for each agent; the list of nearest neighbors is not needed and turned off.
static void write_interacting(char *out, uint32_t agents, const char *precision) {
    double edge = 1.0;
    while (edge * edge * edge * 0.0382 < agents)
        edge += 0.5;
    snprintf(out, TEXT_MOST,
             "world: {step: 0.001}\n"
             "proximity:\n"
             "  neighbors: {radius: 5, nearest: 0}\n"
             "air: {downwash: true}\n"
             "groups:\n"
             "  - name: quads\n"
             "    model: ../models/sun2022.yaml\n"
             "    count: %u\n"
             "    precision: %s\n"
             "    rotor_area: 0.0507\n"
             "    placement:\n"
             "      random: {lower: [0, 0, 50], upper: [%g, %g, %g], distance: 1}\n",
             agents, precision, edge, edge, 50.0 + edge);
}

// Ten quadrotors to one aircraft and one car, as in scenes/swarm.yaml. All move at 1 kHz; the loops
// of aircraft and cars run at 100 Hz, detection (the eight nearest with positions and velocities)
// at 50 Hz, collisions at 100 Hz: between two detections even head-on aircraft (50 m/s) approach by
// 0.5 m and cars (20 m/s) by 0.2 m, while their spheres overlap over 3 m and 4.8 m, and quadrotors,
// which overlap over 0.4 m, would have to approach at 40 m/s. So no collision is missed.
static void write_mixed(char *out, uint32_t agents, const char *precision) {
    uint32_t wings = agents / 12, cars = agents / 12;
    wings = wings > 0 ? wings : 1;
    cars = cars > 0 ? cars : 1;
    uint32_t quads = agents > wings + cars ? agents - wings - cars : 1;
    snprintf(out, TEXT_MOST,
             "world: {step: 0.001}\n"
             "proximity:\n"
             "  neighbors: {radius: 5, nearest: 8, interval: 0.02}\n"
             "  collisions: {interval: 0.01}\n"
             "groups:\n"
             "  - name: quads\n"
             "    model: ../models/sun2022.yaml\n"
             "    count: %u\n"
             "    precision: %s\n"
             "    motion: {quadrotor: {outer_interval: 0.01}}\n"
             "    placement: {grid: {center: [0, 0, 20], spacing: [3, 3, 3], layers: 4}}\n"
             "  - name: wings\n"
             "    model: ../models/aerosonde.yaml\n"
             "    count: %u\n"
             "    precision: %s\n"
             "    control_interval: 0.01\n"
             "    placement: {grid: {center: [0, 0, 100], spacing: [8, 8, 8], layers: 2}}\n"
             "  - name: cars\n"
             "    model: ../models/car_full_size.yaml\n"
             "    count: %u\n"
             "    precision: %s\n"
             "    control_interval: 0.01\n"
             "    placement: {grid: {center: [0, 0, 0], spacing: [8, 8, 1]}}\n"
             "    behavior: {command: {mode: speed, values: [10, 0.02]}}\n"
             "    behavior_interval: 3600\n",
             quads, precision, wings, precision, cars, precision);
}

static const Bench benches[] = {
    {{"quadrotor-1000", NULL, false}, 1, 1000, 4000, write_quadrotors},
    {{"quadrotor-10000", NULL, false}, 1, 10000, 400, write_quadrotors},
    {{"quadrotor-10000-interacting", NULL, false}, 2, 10000, 200, write_interacting},
    {{"mixed-1000", NULL, false}, 1, 1000, 2000, write_mixed},
    {{"quadrotor-1000000", NULL, true}, 2, 1000000, 20, write_quadrotors},
    {{"swarm", NULL, true}, 1, 0, 0, write_quadrotors}, // from 100 to 1,000,000
};

// ---- timing ------------------------------------------------------------------------------------

static mf_Status open_scene(const Bench *bench, uint32_t agents, const mf_BenchOptions *options,
                            mf_BenchRig *scene, mf_Error *error) {
    char text[TEXT_MOST];
    bench->write(text, agents, options->double_precision ? "double" : "float");
    MF_TRY(mf_bench_rig_parse(scene, options->threads != 0 ? options->threads : bench->threads,
                              text, NULL, 0, error));
    return mf_bench_rig_scene(scene, NULL, error);
}

// Mean number of neighbors of agents of the first group; 0 if not computed.
static double count_neighbors(mf_World *world) {
    mf_Group *group = mf_world_group(world, 0);
    const mf_Field *field = mf_group_find_field(group, "neighbor.count");
    double sum = 0.0;
    for (uint32_t i = 0; field != NULL && i < mf_group_count(group); i++)
        sum += mf_field_get(field, i, 0);
    return sum / mf_group_count(group);
}

static uint32_t count_alive(mf_World *world) {
    uint32_t alive = 0;
    for (uint32_t g = 0; g < mf_world_group_count(world); g++) {
        mf_Group *group = mf_world_group(world, g);
        alive += mf_group_count(group) - mf_group_fault_total(group);
    }
    return alive;
}

// ---- output ------------------------------------------------------------------------------------

// Additional figures of a line.
typedef struct Facts {
    uint64_t rounds;  // [1]
    uint32_t alive;   // [1] at the end
    double neighbors; // [1] mean
} Facts;

static bool print_json(const mf_BenchOptions *options, const Bench *bench, const mf_BenchResult *r,
                       const Facts *facts) {
    const double round = r->seconds / (double)facts->rounds;
    return mf_bench_print_json(
        options, bench->bench.name, "swarm", r,
        json_pack("{s:o, s:o, s:o, s:o, s:I, s:I}", "steps_per_second",
                  mf_json_real((double)r->steps / r->seconds), "realtime_factor",
                  mf_json_real(r->dt / round), "round_ms", mf_json_real(1e3 * round), "neighbors",
                  mf_json_real(facts->neighbors), "rounds", (json_int_t)facts->rounds, "alive",
                  (json_int_t)facts->alive));
}

static bool print_row(const Bench *bench, const mf_BenchResult *r, const Facts *facts) {
    double round = r->seconds / (double)facts->rounds;
    char speed[MF_APP_NUMBER];
    printf("%-28s %9u %7u %-8s %-6s %10.4g ms/round %8.3g ns/agent %9s x  %5.1f near  %016llx\n",
           bench->bench.name, r->instances, r->threads, mf_isa_name(r->isa),
           r->double_precision ? "double" : "float", 1e3 * round, 1e9 * round / r->instances,
           mf_app_count(r->dt / round, speed), facts->neighbors, (unsigned long long)r->hash);
    return mf_app_flush();
}

static int run_one(const Bench *bench, uint32_t agents, uint64_t rounds,
                   const mf_BenchOptions *options, bool json) {
    mf_BenchRig scene = {0};
    mf_Error error = {0};
    mf_BenchResult result = {0};
    Facts facts = {.rounds = options->steps != 0 ? options->steps : rounds};
    mf_Status status = open_scene(bench, agents, options, &scene, &error);
    mf_World *world = scene.world;
    const mf_BenchWork work = {.name = bench->bench.name, .world = world, .steps = facts.rounds};
    MF_THEN(status, mf_bench_time(&work, options, &result, &error));
    bool written = false;
    if (status == MF_OK) {
        result.instances = (uint32_t)mf_scene_file_count(scene.file);
        result.double_precision = options->double_precision;
        result.steps = facts.rounds * result.instances;
        facts.alive = count_alive(world);
        facts.neighbors = count_neighbors(world);
        written =
            json ? print_json(options, bench, &result, &facts) : print_row(bench, &result, &facts);
    }
    mf_bench_rig_free(&scene);
    return mf_bench_end(status, &error, written);
}

static int run_curve(const Bench *bench, const mf_BenchOptions *options, bool json) {
    static const uint32_t numbers[] = {100, 300, 1000, 3000, 10000, 30000, 100000, 300000, 1000000};
    int result = MF_EXIT_DONE;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && result == MF_EXIT_DONE; i++)
        result = run_one(bench, numbers[i], 4000000 / numbers[i] + 16, options, json);
    return result;
}

static int run(const void *row, const mf_BenchOptions *options, bool json) {
    const Bench *bench = row;
    if (bench->agents == 0 && options->instances == 0)
        return run_curve(bench, options, json);
    uint32_t agents = options->instances != 0 ? options->instances : bench->agents;
    return run_one(bench, agents, bench->rounds != 0 ? bench->rounds : 100, options, json);
}

const mf_BenchKind mf_bench_swarms = {MF_BENCH_ROWS(benches), .ignores = "model generations",
                                      .run = run};
