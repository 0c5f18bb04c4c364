// The keys of scenes: world, ground, contact, messages, proximity, air, run, record and search.
// Those of groups are in group_keys.c.
#include "motion/table.h"
#include "scene/keys.h"
#include "scene/machines.h"

#include <string.h>

static const char *const ground_shapes[] = {"flat",  "slope", "steps", "sine",
                                            "noise", "model", NULL};
static const char *const interpolations[] = {"nearest", "bilinear", "auto", NULL};
static const char *const borders[] = {"continues", "ends", NULL};
static const char *const contact_laws[] = {"explicit", "hard", "compliant", NULL};
static const char *const wind_profiles[] = {"uniform", "logarithmic", NULL};
static const char *const verified[] = {"none", MF_MOTION_LEVEL_LIST(MF_MOTION_NAME) "elastic",
                                       NULL};
static const char *const selections[] = {"truncation", "proportionate", "rank",
                                         "tournament", "uniform",       NULL};
static const char *const replacements[] = {"generation", "random", "worst", "unfit",
                                           "similar",    "cell",   NULL};
static const char *const measures[] = {"forward", "sideways", "height",    "speed", "upright",
                                       "duty",    "bars",     "actuators", NULL};
static const char *const fitnesses[] = {"distance", "speed", "economy", "upright", "steps", NULL};

// Enums are read and written as int, lists as a pointer followed by a count.
_Static_assert(sizeof(mf_TerrainShape) == sizeof(int) && sizeof(mf_Interpolation) == sizeof(int) &&
                   sizeof(mf_WindProfile) == sizeof(int) &&
                   sizeof(mf_VerifyMotion) == sizeof(int) && sizeof(mf_Fitness) == sizeof(int) &&
                   sizeof(mf_Selection) == sizeof(int) && sizeof(mf_Replacement) == sizeof(int) &&
                   sizeof(mf_Measure) == sizeof(int),
               "choices are stored as int");
#define IS_LIST(entries, number)                                                                   \
    (offsetof(mf_SceneFile, number) - offsetof(mf_SceneFile, entries) ==                           \
     offsetof(mf_KeyList, count))
_Static_assert(IS_LIST(groups, group_count) && IS_LIST(docks, dock_count) &&
                   IS_LIST(joints, joint_count) && IS_LIST(cameras, camera_count) &&
                   IS_LIST(scripts, script_count) && IS_LIST(bridges, bridge_count) &&
                   IS_LIST(record_fields, record_field_count) &&
                   IS_LIST(descriptors, descriptor_count),
               "lists are stored as mf_KeyList");
_Static_assert((int)MF_SELECTION_UNIFORM + 2 == sizeof selections / sizeof *selections &&
                   (int)MF_REPLACEMENT_CELL + 2 == sizeof replacements / sizeof *replacements &&
                   (int)MF_MEASURE_ACTUATORS + 2 == sizeof measures / sizeof *measures,
               "choices are in the order of their enum");
_Static_assert((int)MF_TERRAIN_NOISE + 1 == MF_GROUND_OF_MODELS,
               "ground.shape has one name more than mf_TerrainShape");

const char *mf_measure_name(mf_Measure measure) {
    return (size_t)measure < sizeof measures / sizeof *measures - 1 ? measures[measure] : "";
}

#define DESCRIPTOR(member) offsetof(mf_SceneDescriptor, member)

// clang-format off
static const mf_Key descriptor_keys[] = {
    MF_KEY("measure", MF_KEY_CHOICE, MF_KEY_REQUIRED, "", NULL, 0, 0, measures, DESCRIPTOR(measure),
           "`forward` and `sideways` [m], displacement of the base along x and y of the world; "
           "`height` [m] of the base at the end; `speed` [m/s] along its own heading; `upright`, "
           "mean cosine of the tilt; `duty`, share of time with load, mean of the feet with contact "
           "sensors, or of the vertices of a machine that touch the ground; `bars` and `actuators` "
           "of a machine"),
    MF_KEY("lower", MF_KEY_REAL, MF_KEY_REQUIRED, "", NULL, -1e12, 1e12, NULL, DESCRIPTOR(lower),
           "lower end of the range, in the unit of the measure; values below it belong to the first "
           "cell"),
    MF_KEY("upper", MF_KEY_REAL, MF_KEY_REQUIRED, "", NULL, -1e12, 1e12, NULL, DESCRIPTOR(upper),
           "upper end, above `lower`; values above it belong to the last cell"),
    MF_KEY("cells", MF_KEY_COUNT, 0, "1", "16", 1, 1 << 20, NULL, DESCRIPTOR(cells),
           "cells along this descriptor; at most 2^20 in the grid"),
};
// clang-format on

static const mf_KeyTable descriptor_table = {
    MF_KEY_ROWS("descriptor", descriptor_keys, mf_SceneDescriptor)};

#define AT(member) offsetof(mf_SceneFile, member)
#define PROXIMITY(member) offsetof(mf_SceneFile, interaction.member)
#define NOWHERE MF_KEY_NOWHERE
#define SECTION MF_KEY_GROUP

// clang-format off
static const mf_Key scene_keys[] = {
    // path, kind, flags, unit, default, lower, upper, choices, member, description
    MF_KEY("name", MF_KEY_TEXT, 0, "", "", 0, 0, NULL, AT(name),
           "title; when empty, the name of the file"),

    SECTION("world", "time and forces"),
    MF_KEY("world.step", MF_KEY_TIME, MF_KEY_AUTO, "s", "auto", 1e-6, 1, NULL, AT(step),
           "physics step; `auto`: the smallest that a model specifies"),
    MF_KEY("world.gravity", MF_KEY_REAL, MF_KEY_AUTO, "m/s^2", "auto", 0, 1000, NULL, AT(gravity),
           "along -z; `auto`: that of the first model that specifies one, else 9.81"),
    MF_KEY("world.seed", MF_KEY_SEED, 0, "1", "1", 0, 0, NULL, AT(seed),
           "seed of all random numbers: gusts and noise of the world, and a search"),
    MF_KEY("world.switch_interval", MF_KEY_TIME, MF_KEY_AUTO, "s", "auto", 1e-6, 100, NULL,
           AT(switch_interval), "rules of `switch` are evaluated this often, a multiple of "
           "world.step; `auto`: each 10 ms"),

    SECTION("ground", "the ground: generated by `shape`, or an image by `file`"),
    MF_KEY("ground.shape", MF_KEY_CHOICE, MF_KEY_SHAPE, "", "model", 0, 0, ground_shapes,
           AT(ground.generator.shape), "what to generate; `model`: the planes and height fields of "
                                       "the models' files; if there are none, flat ground at "
                                       "height 0"),
    MF_KEY("ground.amplitude", MF_KEY_REAL, MF_KEY_SHAPE, "m", "0", -1e6, 1e6, NULL,
           AT(ground.generator.amplitude),
           "height of flat ground, of one step, or of waves and noise about 0; for `slope` the angle "
           "in rad, between -pi/2 and pi/2"),
    MF_KEY("ground.wavelength", MF_KEY_REAL, MF_KEY_SHAPE, "m", "1", 1e-6, 1e9, NULL,
           AT(ground.generator.wavelength),
           "length of one step, of waves, or of the largest features of noise"),
    MF_KEY("ground.octaves", MF_KEY_COUNT, MF_KEY_SHAPE, "1", "4", 1, 12, NULL,
           AT(ground.generator.octaves),
           "octaves of noise, each half as high and half as wide as the previous one"),
    MF_KEY("ground.seed", MF_KEY_SEED, MF_KEY_SHAPE, "1", "1", 0, 0, NULL,
           AT(ground.generator.seed), "seed of the noise"),
    MF_KEY("ground.columns", MF_KEY_COUNT, MF_KEY_SHAPE, "1", "256", 1, 8192, NULL,
           AT(ground.terrain.columns), "cells along x"),
    MF_KEY("ground.rows", MF_KEY_COUNT, MF_KEY_SHAPE, "1", "256", 1, 8192, NULL,
           AT(ground.terrain.rows), "cells along y"),
    MF_KEY("ground.file", MF_KEY_FILE, MF_KEY_IMAGE, "", NULL, 0, 0, NULL, AT(ground.path),
           "gray PNG or PGM image, relative to the folder of this file; one pixel is one cell, row 0 "
           "is the highest y"),
    MF_KEY("ground.scale", MF_KEY_REAL, MF_KEY_IMAGE, "m", "1", -1e6, 1e6, NULL, AT(ground.scale),
           "height of white minus height of black"),
    MF_KEY("ground.offset", MF_KEY_REAL, MF_KEY_IMAGE, "m", "0", -1e6, 1e6, NULL,
           AT(ground.offset), "height of black"),
    MF_KEY("ground.cell", MF_KEY_REAL, 0, "m", "0.1", 1e-6, 1e6, NULL, AT(ground.terrain.cell),
           "edge of a cell"),
    MF_KEY("ground.origin", MF_KEY_POSITION, 0, "m", "centered", -1e9, 1e9, NULL,
           AT(ground.terrain.origin),
           "x and y of the low corner of the map; `centered`: its center is at 0, 0, where robots "
           "start"),
    MF_KEY("ground.interpolation", MF_KEY_CHOICE, 0, "", "auto", 0, 0, interpolations,
           AT(ground.terrain.interpolation),
           "`nearest`: cells are flat, with vertical sides; `bilinear`: smooth between their "
           "centers; `auto`: nearest for flat ground and steps, else bilinear"),
    MF_KEY("ground.border", MF_KEY_CHOICE, 0, "", "continues", 0, 0, borders,
           AT(ground.terrain.border),
           "outside the map: `continues`: the border value; `ends`: there is no ground. That of the "
           "models' files ends where it is all height fields"),

    MF_KEY_LISTED("groups", MF_KEY_REQUIRED, &mf_scene_group_table, AT(groups),
                  "the groups of robots and vehicles, each with the keys below"),

    MF_KEY_LISTED("docks", 0, &mf_scene_module_table, AT(docks),
                  "docks of robots that are joined at the start, in this order, each with the keys "
                  "below (docs/how_to/modules.md)"),

    MF_KEY_LISTED("joints", 0, &mf_scene_joint_table, AT(joints),
                  "run-time joints between links of any two robots, or a robot and the world, each "
                  "with the keys below (docs/how_to/run_time_joints.md)"),

    MF_KEY_LISTED("cameras", 0, &mf_scene_camera_table, AT(cameras),
                  "cameras of `mayfly run --photos` and of clients, fixed in the world or on a "
                  "robot's link, each with the keys below (docs/explanation/cameras.md)"),

    MF_KEY_LISTED("scripts", 0, &mf_scene_script_table, AT(scripts),
                  "Lua scripts that `mayfly run` runs between the steps, in this order, each with "
                  "the keys below (docs/how_to/scripts.md)"),

    MF_KEY_LISTED("bridges", 0, &mf_scene_bridge_table, AT(bridges),
                  "programs that `mayfly serve` starts beside the world, so that other people's "
                  "software takes part, each with the keys below (docs/how_to/bridges.md)"),

    SECTION("contact", "contact between robots; contact with the ground is set per group"),
    MF_KEY("contact.enabled", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL, AT(contact),
           "robots push each other; false: they pass through each other, the default where "
           "proximity.collisions.agents removes those that touch"),
    MF_KEY("contact.law", MF_KEY_CHOICE, 0, "", "compliant", 0, 0, contact_laws, AT(contact_law),
           "`explicit`: springs, the cheapest; `hard`: contacts are solved together with run-time "
           "joints, for robots that carry, hold, stack and lean; `compliant`: likewise, with springs "
           "and dampers at the end of the step"),
    MF_KEY("contact.friction", MF_KEY_REAL, MF_KEY_AUTO, "1", "auto", 0, 10, NULL, AT(friction),
           "friction coefficient between robots; `auto`: that of their shapes"),

    SECTION("messages", "messages between modules that are docked, or see each other by infrared"),
    MF_KEY("messages.enabled", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL, AT(talks),
           "docks send messages; true if the section is there"),
    MF_KEY("messages.size", MF_KEY_COUNT, 0, "1", "16", 4, MF_MESSAGE_BYTES, NULL,
           AT(messages.size), "bytes of a message, a multiple of 4"),
    MF_KEY("messages.capacity", MF_KEY_COUNT, 0, "1", "4", 1, MF_MESSAGE_CAPACITY, NULL,
           AT(messages.capacity), "messages in the box of a dock; further ones are dropped, and "
                                  "counted"),
    MF_KEY("messages.loss", MF_KEY_REAL, 0, "1", "0", 0, 1, NULL, AT(messages.loss),
           "probability that a message is lost"),
    MF_KEY("messages.delay", MF_KEY_COUNT, 0, "1", "0", 0, MF_MESSAGE_DELAY, NULL,
           AT(messages.delay), "steps that every message takes in addition to one"),
    MF_KEY("messages.jitter", MF_KEY_COUNT, 0, "1", "0", 0, MF_MESSAGE_DELAY, NULL,
           AT(messages.jitter), "further steps at random, 0 up to this"),
    MF_KEY("messages.range", MF_KEY_REAL, 0, "m", "0", 0, 1e4, NULL, AT(messages.range),
           "infrared: docks that are not engaged reach others that are nearer than this; 0: none"),
    MF_KEY("messages.angle", MF_KEY_REAL, 0, "rad", "0.5", 0, 3.1415926535897932, NULL,
           AT(messages.angle), "infrared: largest angle between the x axis of a dock and the line "
                               "to the other, for both"),

    SECTION("proximity", "what robots and vehicles detect of each other"),
    MF_KEY("proximity.enabled", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL, AT(proximity),
           "also true if a file has any other key of this section"),
    MF_KEY("proximity.background", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL, PROXIMITY(background),
           "detection and collisions run on a background thread"),
    MF_KEY("proximity.latency", MF_KEY_COUNT, 0, "1", "0", 0, 1e6, NULL, PROXIMITY(latency),
           "steps from detection to its effect; 0: the same step"),
    MF_KEY("proximity.margin", MF_KEY_REAL, 0, "m", "0", 0, 1e5, NULL, PROXIMITY(margin),
           "margin of the neighbor lists; 0: a fifth of the radius"),
    MF_KEY("proximity.candidates", MF_KEY_COUNT, 0, "1", "96", 1, 1 << 20, NULL,
           PROXIMITY(candidates), "capacity of the lists, in candidates per agent"),
    MF_KEY("proximity.events", MF_KEY_COUNT, 0, "1", "4096", 1, 1 << 24, NULL,
           PROXIMITY(event_capacity), "capacity of the event buffer"),
    SECTION("proximity.neighbors", "what each agent detects of others"),
    MF_KEY("proximity.neighbors.detect", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL, PROXIMITY(detect),
           "write the neighbors of each agent"),
    MF_KEY("proximity.neighbors.radius", MF_KEY_REAL, MF_KEY_ABOVE, "m", "5", 0, 1e5, NULL,
           PROXIMITY(radius), "detection radius"),
    MF_KEY("proximity.neighbors.nearest", MF_KEY_COUNT, 0, "1", "8", 0, MF_NEAREST_LIMIT, NULL,
           PROXIMITY(nearest), "number of nearest neighbors that are listed"),
    MF_KEY("proximity.neighbors.relative", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL,
           PROXIMITY(relative), "write relative positions and velocities, too"),
    MF_KEY("proximity.neighbors.view_angle", MF_KEY_REAL, MF_KEY_ABOVE, "rad", "3.141592653589793", 0,
           3.1415926535897932, NULL, PROXIMITY(view_angle),
           "half-angle of view about the forward axis; pi: all directions"),
    MF_KEY("proximity.neighbors.interval", MF_KEY_RATE, 0, "s", "0", 0, 3600, NULL,
           PROXIMITY(detection_rate), "time between detections; 0: every step"),
    SECTION("proximity.collisions",
        "agents that collide get a fault: they are frozen and removed from detection"),
    MF_KEY("proximity.collisions.agents", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL, PROXIMITY(collide),
           "agents that touch each other"),
    MF_KEY("proximity.collisions.terrain", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL, PROXIMITY(terrain),
           "flying agents that hit the ground"),
    MF_KEY("proximity.collisions.tolerance", MF_KEY_REAL, 0, "m", "0.01", 0, 1e3, NULL,
           PROXIMITY(terrain_tolerance), "allowed penetration, below their standing height"),
    MF_KEY("proximity.collisions.interval", MF_KEY_RATE, 0, "s", "0", 0, 3600, NULL,
           PROXIMITY(collision_rate),
        "time between tests of collisions, ground and fence; 0: every step"),
    SECTION("proximity.fence", "a box that agents should not leave"),
    MF_KEY("proximity.fence.watch", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL, PROXIMITY(fence),
           "report agents that leave it"),
    MF_KEY("proximity.fence.faults", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL, PROXIMITY(fence_faults),
           "agents that leave it get a fault"),
    MF_KEY_TUPLE("proximity.fence.lower", MF_KEY_VECTOR, 3, 0, "m", "[-1000, -1000, -1000]", -1e9,
                 1e9, PROXIMITY(fence_low), "low corner"),
    MF_KEY_TUPLE("proximity.fence.upper", MF_KEY_VECTOR, 3, 0, "m", "[1000, 1000, 1000]", -1e9, 1e9,
                 PROXIMITY(fence_high), "high corner"),

    SECTION("air", "wind and downwash, which act on vehicles"),
    MF_KEY_TUPLE("air.wind", MF_KEY_VECTOR, 3, 0, "m/s", "[0, 0, 0]", -200, 200, PROXIMITY(wind),
                 "velocity of the undisturbed air, world frame"),
    MF_KEY("air.profile", MF_KEY_CHOICE, 0, "", "uniform", 0, 0, wind_profiles, PROXIMITY(profile),
           "`logarithmic`: wind grows with height"),
    MF_KEY("air.ground", MF_KEY_REAL, 0, "m", "0", -1e6, 1e6, NULL, PROXIMITY(wind_ground),
           "height at which the profile begins"),
    MF_KEY("air.roughness", MF_KEY_REAL, 0, "m", "0.03", 1e-5, 10, NULL, PROXIMITY(wind_roughness),
           "roughness length of the ground; 0.03: grassland"),
    MF_KEY("air.reference", MF_KEY_REAL, 0, "m", "10", 1e-5, 1e4, NULL, PROXIMITY(wind_reference),
           "height at which the wind speed is `wind`"),
    MF_KEY("air.downwash", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL, PROXIMITY(downwash),
           "groups with a rotor_area cause downwash"),
    MF_KEY("air.downwash_reach", MF_KEY_REAL, 0, "m", "4", 0.1, 1e3, NULL, PROXIMITY(downwash_reach),
           "range of downwash below the rotors"),
    MF_KEY("air.density", MF_KEY_REAL, 0, "kg/m^3", "1.225", 1e-3, 100, NULL, PROXIMITY(air_density),
           "air density for downwash"),
    MF_KEY("air.interval", MF_KEY_RATE, 0, "s", "0", 0, 3600, NULL, PROXIMITY(air_rate),
           "time between updates of the wind; 0: every step"),

    SECTION("run", "one run"),
    MF_KEY("run.duration", MF_KEY_REAL, 0, "s", "10", 1e-6, 1e9, NULL, AT(duration),
           "simulated time of a run and of one evaluation; rounded up to whole steps"),

    SECTION("record",
        "what `mayfly run` records; its options --record, --every and --fields have priority"),
    MF_KEY("record.file", MF_KEY_FILE, MF_KEY_BELOW, "", NULL, 0, 0, NULL, AT(record_path),
           "HDF5 (.h5) or MCAP (.mcap) file to write, relative to the folder of this file; none: "
           "nothing is recorded"),
    MF_KEY("record.every", MF_KEY_REAL, 0, "s", "0.1", 1e-9, 1e9, NULL, AT(record_every),
           "time between samples, rounded to whole steps"),
    MF_KEY("record.fields", MF_KEY_NAMES, 0, "", NULL, 0, 0, NULL, AT(record_fields),
           "fields, or paths within a robot; none: base.*, joint.angle, sensor.*"),

    SECTION("search", "settings of `mayfly evolve` for the only group; its robots are isolated"),
    MF_KEY("search.fitness", MF_KEY_CHOICE, 0, "", "distance", 0, 0, fitnesses, AT(fitness),
           "quantity that is maximized: `distance` [m] between the initial and the final position "
           "of the base, in a straight line; `speed` [m/s] along its own heading; `economy` [m/J], "
           "distance per work of the servos; `upright` [m], distance times the mean cosine of the "
           "tilt; `steps` [m], distance times the share of feet that step"),
    MF_KEY("search.generations", MF_KEY_COUNT, 0, "1", "200", 1, 1e9, NULL, AT(generations),
           "generations of `mayfly evolve`"),
    MF_KEY("search.population", MF_KEY_COUNT, 0, "1", "100", 2, 1 << 20, NULL, AT(search.population),
           "individuals in one generation"),
    MF_KEY("search.survivors", MF_KEY_COUNT, 0, "1", "50", 1, (1 << 20) - 1, NULL,
           AT(search.survivors), "the best individuals, kept and copied; fewer than "
                                 "search.population"),
    MF_KEY("search.selection", MF_KEY_CHOICE, 0, "", "truncation", 0, 0, selections,
           AT(search.selection),
           "how parents are chosen; `truncation`: the survivors in turn; `proportionate`: chance in "
           "proportion to the fitness, or if one is negative, to its difference from the least one; "
           "`rank`: chance decreases linearly with the rank, to almost 0; `tournament`: the best of "
           "a few at random; `uniform`: equal chances"),
    MF_KEY("search.tournament", MF_KEY_COUNT, 0, "1", "4", 1, 1024, NULL, AT(search.tournament),
           "individuals that are drawn for `selection: tournament`"),
    MF_KEY("search.replacement", MF_KEY_CHOICE, 0, "", "generation", 0, 0, replacements,
           AT(search.replacement),
           "whom children replace; `generation`: all but the survivors, at once. Steady states, "
           "one by one: `random`, with equal chances; `worst`; `unfit`, chance in proportion to the "
           "difference from the best fitness; `similar`, chance in proportion to the common part of "
           "the genomes. `cell`: MAP-Elites, a repertoire with the best of each cell of "
           "search.descriptors"),
    MF_KEY("search.batch", MF_KEY_COUNT, 0, "1", "32", 1, 1 << 20, NULL, AT(search.batch),
           "children of a steady state or MAP-Elites that are evaluated at a time, and whose parents "
           "are chosen together; 1: strictly one by one; a generation is search.population children"),
    MF_KEY("search.protect", MF_KEY_COUNT, 0, "1", "1", 0, (1 << 20) - 1, NULL, AT(search.protect),
           "the best of a steady state, never replaced; fewer than search.population"),
    MF_KEY_LISTED("search.descriptors", 0, &descriptor_table, AT(descriptors),
                  "one to four dimensions of the grid of `replacement: cell`, each with the keys "
                  "below"),
    MF_KEY("search.mutation_rate", MF_KEY_REAL, 0, "1", "0.0625", 0, 1, NULL,
           AT(search.mutation_rate), "probability that a byte of a child changes"),
    MF_KEY("search.reuse_fitness", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL,
           AT(search.reuse_fitness),
           "do not evaluate unchanged survivors again; same result, lower cost"),
    SECTION("search.machine",
            "operators that vary machines; the chances are those reported for Lipson and Pollack "
            "(2000). Each is drawn on its own, again until one was applied"),
    MF_KEY("search.machine.change", MF_KEY_REAL, 0, "1", "0.1", 0, 1, NULL, AT(machine.change),
           "chance that the length of a bar or a weight changes"),
    MF_KEY("search.machine.add", MF_KEY_REAL, MF_KEY_ABOVE, "1", "0.01", 0, 1, NULL,
           AT(machine.add), "chance that a dangling bar or a loose neuron is added or removed"),
    MF_KEY("search.machine.split", MF_KEY_REAL, 0, "1", "0.03", 0, 1, NULL, AT(machine.split),
           "chance that a vertex becomes two with a bar between them, or a bar two with a vertex"),
    MF_KEY("search.machine.attach", MF_KEY_REAL, 0, "1", "0.03", 0, 1, NULL, AT(machine.attach),
           "chance that a neuron is attached to a bar, which becomes an actuator, or detached"),
    MF_KEY("search.machine.length_step", MF_KEY_REAL, 0, "1", "0.3", 0, 0.9, NULL,
           AT(machine.length_step), "largest change of a length, as a share of it"),
    MF_KEY("search.machine.weight_step", MF_KEY_REAL, 0, "1", "2", 0, 100, NULL,
           AT(machine.weight_step), "largest change of a weight or a bias"),
    MF_KEY("search.machine.bar_length", MF_KEY_REAL, 0, "m", "0.1", 0.001, 10, NULL,
           AT(machine.bar_length), "of new bars, within 50 %"),
    MF_KEY("search.machine.bar_diameter", MF_KEY_REAL, 0, "m", "0.01", 1e-5, 1, NULL,
           AT(machine.bar_diameter), "of new bars"),
    MF_KEY("search.machine.shortest", MF_KEY_REAL, 0, "m", "0.02", 0.001, 10, NULL,
           AT(machine.shortest), "of all bars"),
    MF_KEY("search.machine.longest", MF_KEY_REAL, 0, "m", "0.3", 0.001, 100, NULL,
           AT(machine.longest), "of all bars"),
    MF_KEY("search.machine.stroke", MF_KEY_REAL, 0, "m", "0.04", 1e-5, 10, NULL,
           AT(machine.stroke), "range of a new actuator"),
    MF_KEY("search.machine.share", MF_KEY_REAL, 0, "1", "0.5", 0, 1, NULL, AT(machine.share),
           "chance of a bar of a vertex that becomes two to be at both"),
    MF_KEY("search.machine.threshold", MF_KEY_REAL, 0, "1", "0.5", 0, 1, NULL,
           AT(machine.threshold), "share of threshold units among new neurons"),
    SECTION("search.verify",
            "the best are evaluated again at a level of higher fidelity "
            "(docs/explanation/search.md)"),
    MF_KEY("search.verify.motion", MF_KEY_CHOICE, 0, "", "none", 0, 0, verified, AT(verify.motion),
           "the level; `none`: no verification"),
    MF_KEY("search.verify.every", MF_KEY_COUNT, 0, "1", "10", 1, 1e9, NULL, AT(verify.every),
           "generations from one verification to the next"),
    MF_KEY("search.verify.best", MF_KEY_COUNT, 0, "1", "8", 2, 1 << 20, NULL, AT(verify.best),
           "robots that are verified; at most search.population"),
    MF_KEY("search.verify.step", MF_KEY_TIME, 0, "s", "0.001", 1e-6, 1, NULL, AT(verify.step),
           "physics step at that level"),
    MF_KEY("search.verify.disparity", MF_KEY_REAL, 0, "1", "1", 0, 1000, NULL, AT(verify.disparity),
           "the resulting fitness is that at the level, minus this times its difference from the "
           "fitness in the search"),
    MF_KEY("search.verify.stiffness", MF_KEY_REAL, MF_KEY_ABOVE, "1", "1", 0, 1e6, NULL,
           AT(verify.stiffness),
           "one more evaluation there with the stiffness of servos times this; the lower fitness "
           "counts; 1: none"),
};
// clang-format on

static void start(void *base) {
    mf_SceneFile *file = base;
    file->ground.terrain = mf_terrain_config();
    file->interaction = mf_interaction_config();
    file->messages = mf_messages_config();
    file->search = mf_search_config();
    file->search.genome_bytes = MF_GP_BYTES;
    file->machine = mf_machine_config();
}

static bool begins(const mf_Key *key, const char *section) {
    const size_t length = strlen(section);
    return strncmp(key->path, section, length) == 0 &&
           (key->path[length] == '\0' || key->path[length] == '.');
}

// Sections whose presence has a meaning are omitted when they have no content.
static bool applies(const void *base, const mf_Key *key) {
    const mf_SceneFile *file = base;
    if (file->record_path == NULL && begins(key, "record"))
        return false;
    if (!file->proximity && begins(key, "proximity"))
        return false;
    if (!file->talks && begins(key, "messages"))
        return false;
    if (!file->evolves && begins(key, "search"))
        return false;
    if (begins(key, "search.machine") && !mf_scene_has_machines(file))
        return false;
    return !(key->flags & (file->ground.path != NULL ? MF_KEY_SHAPE : MF_KEY_IMAGE));
}

const mf_KeyTable *mf_scene_table(void) {
    static const mf_KeyTable table = {MF_KEY_ROWS("scene", scene_keys, mf_SceneFile),
                                      .start = start, .applies = applies};
    return &table;
}
