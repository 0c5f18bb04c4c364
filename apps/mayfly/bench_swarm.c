// Benches of swarms. A round is one step of the whole world: every agent's on-board control and one
// Runge-Kutta step, and the bench's additions. Every repeat starts from the same snapshot and must
// end with the same hash; the first is a warm-up. `steps` counts agent-rounds, so seconds / steps
// is the time per round divided by agents.
#include "bench_time.h"

#include <stdio.h>

#define TEXT_MOST 4096 // [byte] of a scene

typedef struct Bench {
    mf_Bench bench; // its steps are rounds
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
    {{"quadrotor-1000", NULL, false, 1, 1000, 4000}, write_quadrotors},
    {{"quadrotor-10000", NULL, false, 1, 10000, 400}, write_quadrotors},
    {{"quadrotor-10000-interacting", NULL, false, 2, 10000, 200}, write_interacting},
    {{"mixed-1000", NULL, false, 1, 1000, 2000}, write_mixed},
    {{"quadrotor-1000000", NULL, true, 2, 1000000, 20}, write_quadrotors},
    {{"swarm", NULL, true, 1, 0, 100}, write_quadrotors}, // from 100 to 1,000,000
};

static mf_BenchPoint curve(const mf_Bench *bench, uint32_t n) {
    static const uint32_t numbers[] = {100,   300,    1000,   3000,    10000,
                                       30000, 100000, 300000, 1000000, 0};
    (void)bench;
    return (mf_BenchPoint){numbers[n], numbers[n] != 0 ? 4000000 / numbers[n] + 16 : 0};
}

// ---- timing ------------------------------------------------------------------------------------

typedef struct Rig {
    mf_BenchRig base;
    uint64_t rounds;  // [1]
    uint32_t alive;   // [1] at the end
    double neighbors; // [1] mean
} Rig;

static mf_Status open_rig(mf_BenchRig *rig, const mf_BenchOptions *options, mf_Error *error) {
    const Bench *bench = rig->bench;
    char text[TEXT_MOST];
    bench->write(text, options->instances, options->double_precision ? "double" : "float");
    MF_TRY(mf_bench_rig_parse(rig, options->threads, text, NULL, 0, error));
    MF_TRY(mf_bench_rig_scene(rig, NULL, error));
    rig->group = mf_world_group(rig->world, 0);
    rig->motion = "swarm";
    return MF_OK;
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

static mf_Status find_facts(mf_BenchRig *rig, const mf_BenchOptions *options,
                            mf_BenchResult *result, mf_Error *error) {
    Rig *all = (Rig *)rig;
    (void)options;
    (void)error;
    all->rounds = result->steps;
    all->alive = count_alive(rig->world);
    all->neighbors = count_neighbors(rig->world);
    result->instances = (uint32_t)mf_scene_file_count(rig->file);
    result->steps = all->rounds * result->instances;
    return MF_OK;
}

static json_t *more(mf_BenchRig *rig, const mf_BenchResult *r) {
    const Rig *all = (Rig *)rig;
    const double round = r->seconds / (double)all->rounds;
    return json_pack("{s:o, s:o, s:o, s:o, s:I, s:I}", "steps_per_second",
                     mf_json_real((double)r->steps / r->seconds), "realtime_factor",
                     mf_json_real(r->dt / round), "round_ms", mf_json_real(1e3 * round),
                     "neighbors", mf_json_real(all->neighbors), "rounds", (json_int_t)all->rounds,
                     "alive", (json_int_t)all->alive);
}

static bool print_row(mf_BenchRig *rig, const mf_BenchResult *r) {
    const Rig *all = (Rig *)rig;
    const Bench *bench = rig->bench;
    double round = r->seconds / (double)all->rounds;
    char speed[MF_APP_NUMBER];
    printf("%-28s %9u %7u %-8s %-6s %10.4g ms/round %8.3g ns/agent %9s x  %5.1f near  %016llx\n",
           bench->bench.name, r->instances, r->threads, mf_isa_name(r->isa),
           r->double_precision ? "double" : "float", 1e3 * round, 1e9 * round / r->instances,
           mf_app_count(r->dt / round, speed), all->neighbors, (unsigned long long)r->hash);
    return true;
}

const mf_BenchKind mf_bench_swarms = {MF_BENCH_ROWS(benches),
                                      .ignores = "model generations",
                                      .rig_size = sizeof(Rig),
                                      .curve = curve,
                                      .open = open_rig,
                                      .finish = find_facts,
                                      .more = more,
                                      .row = print_row};
