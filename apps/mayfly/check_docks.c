// Check cases of docks: loads of cantilevers and hanging chains, thresholds, breaks, what docking
// and undocking leave behind, and the connected components of a million random operations.
// docs/explanation/docks.md has the rules.
#include <math.h>
#include <mayfly/builder.h>
#include <mayfly/docks.h>
#include <string.h>

#include "check.h"
enum { PORTS = 6 };

static const double pitch = 0.11, mass = 0.85, gravity = 9.81; // an ATRON's

typedef struct Rig {
    mf_CheckRun *run;
    mf_Group *group;
    mf_WorldJoints *joints;
    mf_WorldDocks *docks;
} Rig;

typedef struct RigConfig {
    uint32_t robots;
    double gravity, tension, bending;
} RigConfig;

static const RigConfig usual = {
    .robots = 2, .gravity = 9.81, .tension = INFINITY, .bending = INFINITY};

// ---- a world of cubes ---------------------------------------------------------------------------

// A cube of 110 mm with a dock on each face, in the order +x, -x, +y, -y, +z, -z.
static void make_cube(mf_CheckRun *run, const RigConfig *config, mf_Model **out) {
    static const char *const names[PORTS] = {"px", "nx", "py", "ny", "pz", "nz"};
    static const double rotations[PORTS][4] = {{1, 0, 0, 0},
                                               {0, 0, 0, 1},
                                               {0.70710678118654757, 0, 0, 0.70710678118654757},
                                               {0.70710678118654757, 0, 0, -0.70710678118654757},
                                               {0.70710678118654757, 0, -0.70710678118654757, 0},
                                               {0.70710678118654757, 0, 0.70710678118654757, 0}};
    mf_Builder *builder = NULL;
    mf_check_must(run, mf_builder_create(run->context, "cube", &builder, &run->error));
    const mf_BodyId body = mf_body_create_box(builder, (double[3]){pitch, pitch, pitch},
                                              (double[3]){0, 0, 0}, mass, NULL);
    for (uint32_t i = 0; i < PORTS; i++) {
        mf_Dock dock = mf_dock();
        dock.name = names[i];
        dock.orientations = 4;
        dock.tension = config->tension;
        dock.bending = config->bending;
        dock.frame.position[i / 2] = i % 2 == 0 ? pitch / 2 : -pitch / 2;
        memcpy(dock.frame.rotation, rotations[i], sizeof rotations[i]);
        mf_body_dock(builder, body, &dock);
    }
    mf_check_must(run, mf_builder_finalize(builder, out, &run->error));
    mf_builder_destroy(builder);
}

static void rig_open(Rig *rig, mf_CheckRun *run, const RigConfig *config) {
    mf_RigConfig cubes = mf_rig_config_of(MF_MOTION_RIGID, 5 * MF_MILLISECOND);
    mf_WorldJointsConfig joints = mf_world_joints_config();
    cubes.world.gravity = config->gravity;
    cubes.group.count = config->robots;
    cubes.group.isolated = false;
    cubes.motions.rigid.contacts = false;
    joints.tolerance = 1e-9;
    joints.rounds = 8;
    mf_rig_start(run);
    mf_Model **model = mf_rig_own(run);
    make_cube(run, config, model);
    mf_rig_open_model(run, *model, &cubes);
    *rig = (Rig){.run = run, .group = run->rig.group};
    mf_World *world = run->rig.world;
    mf_check_must(run, mf_world_joints_add(world, &joints, &rig->joints, &run->error));
    mf_check_must(run, mf_world_docks_add(world, NULL, &rig->docks, &run->error));
}

static void place(Rig *rig, uint32_t robot, double x, double y, double z) {
    mf_check_must(rig->run, mf_group_set_start(rig->group, robot, (double[3]){x, y, z}, NULL, NULL,
                                               &rig->run->error));
}

static mf_Status dock(Rig *rig, uint32_t a, uint32_t first, uint32_t b, uint32_t second,
                      mf_Error *error) {
    const mf_DockPort ports[2] = {{rig->group, a, first}, {rig->group, b, second}};
    return mf_docks_connect(rig->docks, &ports[0], &ports[1], 0, error);
}

// Docks each robot but the first to the one before.
static void dock_all(Rig *rig, uint32_t count, uint32_t first, uint32_t second) {
    for (uint32_t i = 1; i < count; i++)
        mf_check_must(rig->run, dock(rig, i - 1, first, i, second, &rig->run->error));
}

// Holds a robot to the world at its -x, or +z, face by a fixed joint.
static void hold(Rig *rig, double x, double z) {
    mf_CheckRun *run = rig->run;
    mf_WorldJointId joint;
    mf_WorldJointConfig config = mf_world_joint_config();
    config.sides[1].group = rig->group;
    mf_check_must(run, mf_world_joint_here(&config, (double[3]){x, 0, z}, NULL, &run->error));
    mf_check_must(run, mf_world_joint_create(rig->joints, &config, &joint, &run->error));
}

static double field(const Rig *rig, const char *name, uint32_t robot, uint32_t component) {
    return mf_field_get(mf_group_find_field(rig->group, name), robot, component);
}

static double load(const Rig *rig, uint32_t robot, uint32_t port, uint32_t component) {
    return field(rig, "dock.load", robot, 6 * port + component);
}

static double size_of(double a, double b) {
    return sqrt(a * a + b * b);
}

// ---- H1: a cantilever ---------------------------------------------------------------------------

// A row of cubes along x, the first held at its far side by a joint. Robot 0 is the root: the dock
// between 0 and 1 carries count - 1 cubes, its moment m g d n^2 / 2.
static void open_row(Rig *rig, mf_CheckRun *run, const RigConfig *config) {
    rig_open(rig, run, config);
    for (uint32_t i = 0; i < config->robots; i++)
        place(rig, i, pitch * i, 0, 5);
    hold(rig, -pitch / 2, 5);
    dock_all(rig, config->robots, 0, 1);
}

static void check_cantilever(mf_CheckRun *run) {
    static const double moments[5] = {0.4586175, 1.83447, 4.1275575, 7.33788, 11.4654375};
    RigConfig config = usual;
    for (uint32_t n = 1; n <= 5; n++) {
        Rig rig;
        config.robots = n + 1;
        open_row(&rig, run, &config);
        mf_rig_step(run, 200);
        mf_check_near(run, "root moment m g d n^2 / 2 [N m]", moments[n - 1],
                      size_of(load(&rig, 0, 0, 4), load(&rig, 0, 0, 5)), 1e-6 * moments[n - 1]);
        mf_check_near(run, "shear n m g [N]", n * mass * gravity,
                      size_of(load(&rig, 0, 0, 1), load(&rig, 0, 0, 2)), 1e-6 * mass * gravity * n);
    }
    config.bending = 5.0; // between n = 3 and 4
    for (uint32_t n = 3; n <= 4; n++) {
        Rig rig;
        config.robots = n + 1;
        open_row(&rig, run, &config);
        mf_rig_step(run, 200);
        mf_check_near(run, "breaks at 5 N m: state of the root dock", n == 3 ? 2 : 4,
                      field(&rig, "dock.state", 0, 0), 0);
    }
}

// ---- H2: a hanging chain ------------------------------------------------------------------------

static void open_chain(Rig *rig, mf_CheckRun *run, const RigConfig *config) {
    rig_open(rig, run, config);
    for (uint32_t i = 0; i < config->robots; i++)
        place(rig, i, 0, 0, 20 - pitch * i);
    hold(rig, 0, 20 + pitch / 2);
    dock_all(rig, config->robots, 5, 4);
}

static void check_chain(mf_CheckRun *run) {
    RigConfig config = usual;
    Rig rig;
    config.robots = 12;
    open_chain(&rig, run, &config);
    mf_rig_step(run, 400);
    double worst = 0.0;
    for (uint32_t i = 0; i + 1 < config.robots; i++)
        worst = mf_check_worse(
            worst, fabs(load(&rig, i, 5, 0) / (mass * gravity) - (config.robots - 1 - i)));
    mf_check_below(run, "tension less m g (modules below), in m g", 1e-6, worst);
    config.tension = 8.5 * mass * gravity;
    open_chain(&rig, run, &config);
    uint32_t first = MF_NONE;
    for (uint32_t step = 0; step < 400 && first == MF_NONE; step++) {
        mf_rig_step(run, 1);
        for (uint32_t i = 0; i + 1 < config.robots && first == MF_NONE; i++)
            if (field(&rig, "dock.state", i, 5) > 3.5)
                first = i;
    }
    mf_check_near(run, "first dock from the top that breaks", 0, first, 0);
}

// ---- H3: the threshold --------------------------------------------------------------------------

// The lower of two cubes is pulled down by a force that grows to `most` within 20 s.
static double ramp_to(mf_CheckRun *run, double limit, double most) {
    const uint32_t steps = 4000;
    RigConfig config = usual;
    Rig rig;
    config.gravity = 0.0;
    config.tension = limit;
    open_chain(&rig, run, &config);
    mf_Field *wrench = mf_group_find_field(rig.group, "wrench.link");
    mf_field_set(mf_group_find_field(rig.group, "wrench.count"), 1, 0, 1);
    for (uint32_t i = 1; i <= steps + 200; i++) {
        mf_field_set(wrench, 1, 2, -most * (i < steps ? i : steps) / steps);
        mf_rig_step(run, 1);
    }
    return field(&rig, "dock.state", 0, 5);
}

static void check_threshold(mf_CheckRun *run) {
    const double limit = 100.0;
    mf_check_near(run, "state at F0 (1 - 1e-6): engaged", 2,
                  ramp_to(run, limit, limit * (1.0 - 1e-6)), 0);
    mf_check_near(run, "state at F0 (1 + 1e-6): broken", 4,
                  ramp_to(run, limit, limit * (1.0 + 1e-6)), 0);
}

// ---- H4: breaks are passive ---------------------------------------------------------------------

typedef struct Sums {
    double linear[3], angular[3], energy;
} Sums;

static Sums sum_up(const Rig *rig, uint32_t robots) {
    Sums sums = {{0}, {0}, 0};
    for (uint32_t i = 0; i < robots; i++) {
        double center[3], linear[3], angular[3];
        mf_motion_momentum(rig->group, i, center, linear, angular);
        const mf_MotionEnergy energy = mf_motion_energy(rig->group, i);
        for (uint32_t c = 0; c < 3; c++) {
            const uint32_t d = (c + 1) % 3, e = (c + 2) % 3;
            sums.linear[c] += linear[c];
            sums.angular[c] += angular[c] + center[d] * linear[e] - center[e] * linear[d];
        }
        sums.energy += energy.kinetic;
    }
    return sums;
}

// Six cubes in a row without gravity, the outer ones pulled apart: docks break by tension.
static void check_passive(mf_CheckRun *run) {
    RigConfig config = usual;
    Rig rig;
    config.robots = 6;
    config.gravity = 0.0;
    config.tension = 10.0;
    rig_open(&rig, run, &config);
    for (uint32_t i = 0; i < config.robots; i++)
        mf_check_must(run, mf_group_set_start(rig.group, i, (double[3]){pitch * i, 0, 5}, NULL,
                                              (double[3]){i == 5 ? 0.4 : 0.0, 0.02 * i, 0},
                                              &run->error));
    dock_all(&rig, config.robots, 0, 1);
    Sums before = sum_up(&rig, config.robots);
    const Sums start = before;
    double rise = -1.0, momentum = 0.0;
    for (uint32_t step = 0; step < 200; step++) {
        mf_rig_step(run, 1);
        const Sums now = sum_up(&rig, config.robots);
        rise = now.energy - before.energy > rise ? now.energy - before.energy : rise;
        for (uint32_t c = 0; c < 3; c++) {
            momentum = mf_check_worse(momentum, fabs(now.linear[c] - start.linear[c]));
            momentum = mf_check_worse(momentum, fabs(now.angular[c] - start.angular[c]));
        }
        before = now;
    }
    mf_check_above(run, "docks that broke", 1, (double)mf_docks_statistics(rig.docks).broken);
    mf_check_below(run, "largest rise of energy in a step [J]", 1e-9, rise);
    mf_check_below(run, "change of momentum [N s], [N m s]", 1e-12, momentum);
}

// ---- H5: docking and undocking leave nothing behind ---------------------------------------------

static void check_return(mf_CheckRun *run) {
    RigConfig config = usual;
    Rig rig;
    config.robots = 3;
    rig_open(&rig, run, &config);
    for (uint32_t i = 0; i < config.robots; i++)
        place(&rig, i, pitch * i, 0, 5);
    const uint64_t model = mf_model_hash(run->rig.models[0]);
    dock_all(&rig, config.robots, 0, 1);
    mf_check_near(run, "joints while docked", 2, mf_world_joints_count(rig.joints), 0);
    mf_rig_step(run, 50);
    mf_Field *enabled = mf_group_find_field(rig.group, "dock.enabled");
    for (uint32_t i = 0; i < config.robots; i++)
        for (uint32_t d = 0; d < PORTS; d++)
            mf_field_set(enabled, i, d, 0);
    mf_rig_step(run, 1);
    mf_check_near(run, "joints afterwards", 0, mf_world_joints_count(rig.joints), 0);
    mf_group_reset_all(rig.group);
    mf_check_bits(run, "hash of the model", model, mf_model_hash(run->rig.models[0]));
    double away = 0.0;
    for (uint32_t i = 0; i < config.robots; i++)
        away = mf_check_worse(away, fabs(field(&rig, "base.position", i, 0) - pitch * i));
    mf_check_below(run, "start position after a reset [m]", 0.0, away);
}

// ---- H6: simultaneous breaks --------------------------------------------------------------------

// A row that turns so fast that several docks are over the limit in one step. `flip`: robots, and
// with them docks and joints, in the other order.
static void spin_apart(mf_CheckRun *run, bool flip, uint32_t *broken, double *work) {
    RigConfig config = usual;
    Rig rig;
    const uint32_t count = config.robots = 9;
    config.gravity = 0.0;
    config.tension = 60.0;
    rig_open(&rig, run, &config);
    const double rate = 12.0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t robot = flip ? count - 1 - i : i;
        const double x = pitch * ((double)i - 4.0);
        mf_check_must(run, mf_group_set_start(rig.group, robot, (double[3]){x, 0, 5}, NULL,
                                              (double[3]){0, rate * x, 0}, &run->error));
        mf_field_set(mf_group_find_field(rig.group, "base.angular_velocity"), robot, 2, rate);
    }
    for (uint32_t i = 1; i < count; i++)
        mf_check_must(run, flip ? dock(&rig, count - 1 - i, 1, count - i, 0, &run->error)
                                : dock(&rig, i - 1, 0, i, 1, &run->error));
    *broken = 0;
    for (uint32_t step = 0; step < 20; step++)
        mf_rig_step(run, 1);
    for (uint32_t i = 1; i < count; i++) {
        const uint32_t robot = flip ? count - 1 - i : i;
        *broken |= (field(&rig, "dock.state", robot, 1) > 3.5 ? 1u : 0u) << i;
        *work += field(&rig, "base.linear_velocity", robot, 1) * i;
    }
}

static void check_order(mf_CheckRun *run) {
    uint32_t broken[2];
    double work[2] = {0.0, 0.0};
    spin_apart(run, false, &broken[0], &work[0]);
    spin_apart(run, true, &broken[1], &work[1]);
    mf_check_above(run, "docks that broke", 2, __builtin_popcount(broken[0]));
    mf_check_bits(run, "which, with robots in the other order", broken[0], broken[1]);
    mf_check_near(run, "their velocities, likewise [m/s]", work[0], work[1], 1e-9);
}

// ---- H7: connected components -------------------------------------------------------------------

enum { CELLS = 64, OPERATIONS = 1000000 };

typedef struct Graph {
    uint8_t linked[CELLS][PORTS]; // partner's number plus 1
    uint8_t port[CELLS][PORTS];
    uint32_t names[CELLS], stack[CELLS];
} Graph;

// Breadth-first search from each robot that has no name.
static uint32_t search(Graph *graph) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < CELLS; i++)
        graph->names[i] = MF_NONE;
    for (uint32_t i = 0; i < CELLS; i++) {
        uint32_t end = 0;
        if (graph->names[i] != MF_NONE)
            continue;
        count++;
        graph->stack[end++] = i;
        graph->names[i] = i;
        for (uint32_t next = 0; next < end; next++)
            for (uint32_t p = 0; p < PORTS; p++) {
                const uint32_t other = graph->linked[graph->stack[next]][p];
                if (other == 0 || graph->names[other - 1] != MF_NONE)
                    continue;
                graph->names[other - 1] = i;
                graph->stack[end++] = other - 1;
            }
    }
    return count;
}

static uint64_t compare(const Rig *rig, Graph *graph) {
    uint32_t names[CELLS];
    uint64_t wrong = mf_docks_assemblies(rig->docks, names) != search(graph);
    for (uint32_t i = 0; i < CELLS; i++)
        wrong += names[i] != graph->names[i];
    return wrong;
}

// A random pair of ports: joined if both are free, else the first is separated.
static void operate(Rig *rig, Graph *graph, uint32_t number) {
    uint32_t word[4];
    mf_random(5, number, 0, 0, word);
    const uint32_t a = word[0] % CELLS, p = word[0] >> 16, b = word[1] % CELLS, q = word[1] >> 16;
    const uint32_t first = p % PORTS, second = q % PORTS;
    const uint32_t other = graph->linked[a][first];
    if (other != 0) {
        const uint32_t at = graph->port[a][first];
        mf_docks_disconnect(rig->docks, &(mf_DockPort){rig->group, a, first}, NULL);
        graph->linked[a][first] = graph->linked[other - 1][at] = 0;
    } else if (a != b && graph->linked[b][second] == 0 &&
               dock(rig, a, first, b, second, NULL) == MF_OK) {
        graph->linked[a][first] = (uint8_t)(b + 1);
        graph->linked[b][second] = (uint8_t)(a + 1);
        graph->port[a][first] = (uint8_t)second;
        graph->port[b][second] = (uint8_t)first;
    }
}

static void check_components(mf_CheckRun *run) {
    static Graph graph; // too large for the stack
    RigConfig config = usual;
    Rig rig;
    config.robots = CELLS;
    rig_open(&rig, run, &config);
    memset(&graph, 0, sizeof graph);
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        operate(&rig, &graph, i);
        if (i % 16 == 0)
            wrong += compare(&rig, &graph);
    }
    mf_check_near(run, "components that differ from breadth-first search", 0, (double)wrong, 0);
    mf_check_above(run, "docked pairs in the end", 20, mf_world_joints_count(rig.joints));
}

const mf_CheckCase mf_check_docks_cases[] = {
    {"H1", "the root dock of a cantilever carries m g d n^2 / 2 and breaks above its limit",
     check_cantilever},
    {"H2", "dock i of a hanging chain carries what hangs below; the top breaks first", check_chain},
    {"H3", "a dock holds at its limit less 1e-6 and breaks at it plus 1e-6", check_threshold},
    {"H4", "a break changes no momentum and adds no energy", check_passive},
    {"H5", "docking and undocking leave nothing behind", check_return},
    {"H6", "simultaneous breaks do not depend on the order of robots", check_order},
    {"H7", "assemblies are the connected components, over a million random operations",
     check_components},
    {NULL, NULL, NULL}};
