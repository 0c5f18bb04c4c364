// The keys of scenes: world, ground, contact, messages, proximity, air, run, record and search.
// Those of groups are in group_keys.c.
#include "motion/table.h"
#include "base/key_rows.h"
#include "contact/compound.h"
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
static const char *const falls[] = {"auto", "count", "ignore", NULL};

// Enums are read and written as int, lists as a pointer followed by a count.
_Static_assert(sizeof(mf_TerrainShape) == sizeof(int) && sizeof(mf_Interpolation) == sizeof(int) &&
                   sizeof(mf_WindProfile) == sizeof(int) &&
                   sizeof(mf_VerifyMotion) == sizeof(int) && sizeof(mf_Fitness) == sizeof(int) &&
                   sizeof(mf_Selection) == sizeof(int) && sizeof(mf_Replacement) == sizeof(int) &&
                   sizeof(mf_Measure) == sizeof(int) && sizeof(mf_Falls) == sizeof(int),
               "choices are stored as int");
#define IS_LIST(entries, number) MF_KEY_IS_LIST(mf_SceneFile, entries, number)
_Static_assert(IS_LIST(groups, group_count) && IS_LIST(joints, joint_count) &&
                   IS_LIST(cameras, camera_count) && IS_LIST(scripts, script_count) &&
                   IS_LIST(bridges, bridge_count) && IS_LIST(record_fields, record_field_count) &&
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

#define T mf_SceneDescriptor

// clang-format off
static const mf_Key descriptor_keys[] = {
    CHOICE("measure", REQUIRED, NULL, measures, measure, "`forward` and `sideways` [m], "
           "displacement of the base along x and y of the world; `height` [m] of the base at the "
           "end; `speed` [m/s] along its own heading; `upright`, mean cosine of the tilt; `duty`, "
           "share of time with load, mean of the feet with contact sensors, or of the vertices of "
           "a machine that touch the ground; `bars` and `actuators` of a machine"),
    REAL("lower", REQUIRED, "", NULL, -1e12, 1e12, lower, "lower end of the range, in the unit of "
         "the measure; values below it belong to the first cell"),
    REAL("upper", REQUIRED, "", NULL, -1e12, 1e12, upper,
         "upper end, above `lower`; values above it belong to the last cell"),
    COUNT("cells", 0, "16", 1, 1 << 20, cells,
          "cells along this descriptor; at most 2^20 in the grid"),
};
// clang-format on

static const mf_KeyTable descriptor_table = {
    MF_KEY_ROWS("descriptor", descriptor_keys, mf_SceneDescriptor)};

#undef T
#define T mf_SceneFile
// clang-format off
static const mf_Key scene_keys[] = {
    TEXT("name", 0, "", name, "title; when empty, the name of the file"),

    SECTION("world", "time and forces"),
    TIME("world.step", AUTO, "s", "auto", 1e-6, 1, step,
         "physics step; `auto`: the smallest that a model specifies"),
    REAL("world.gravity", AUTO, "m/s^2", "auto", 0, 1000, gravity,
         "along -z; `auto`: that of the first model that specifies one, else 9.81"),
    KEY("world.seed", SEED, 0, "1", "1", 0, 0, NULL, seed,
        "seed of all random numbers: gusts and noise of the world, and a search"),
    TIME("world.switch_interval", AUTO, "s", "auto", 1e-6, 100, switch_interval,
         "rules of `switch` are evaluated this often, a multiple of world.step; `auto`: each 10 "
         "ms"),

    SECTION("ground", "the ground: generated by `shape`, or an image by `file`"),
    CHOICE("ground.shape", MF_KEY_SHAPE, "model", ground_shapes, ground.generator.shape,
           "what to generate; `model`: the planes and height fields of the models' files; if there "
           "are none, flat ground at height 0"),
    REAL("ground.amplitude", MF_KEY_SHAPE, "m", "0", -1e6, 1e6, ground.generator.amplitude,
         "height of flat ground, of one step, or of waves and noise about 0; for `slope` the angle "
         "in rad, between -pi/2 and pi/2"),
    REAL("ground.wavelength", MF_KEY_SHAPE, "m", "1", 1e-6, 1e9, ground.generator.wavelength,
         "length of one step, of waves, or of the largest features of noise"),
    COUNT("ground.octaves", MF_KEY_SHAPE, "4", 1, 12, ground.generator.octaves,
          "octaves of noise, each half as high and half as wide as the previous one"),
    KEY("ground.seed", SEED, MF_KEY_SHAPE, "1", "1", 0, 0, NULL, ground.generator.seed,
        "seed of the noise"),
    COUNT("ground.columns", MF_KEY_SHAPE, "256", 1, 8192, ground.terrain.columns, "cells along x"),
    COUNT("ground.rows", MF_KEY_SHAPE, "256", 1, 8192, ground.terrain.rows, "cells along y"),
    KEY("ground.file", FILE, MF_KEY_IMAGE, "", NULL, 0, 0, NULL, ground.path,
        "gray PNG or PGM image, relative to the folder of this file; one pixel is one cell, row 0 "
        "is the highest y"),
    REAL("ground.scale", MF_KEY_IMAGE, "m", "1", -1e6, 1e6, ground.scale,
         "height of white minus height of black"),
    REAL("ground.offset", MF_KEY_IMAGE, "m", "0", -1e6, 1e6, ground.offset, "height of black"),
    REAL("ground.cell", 0, "m", "0.1", 1e-6, 1e6, ground.terrain.cell, "edge of a cell"),
    KEY("ground.origin", POSITION, 0, "m", "centered", -1e9, 1e9, NULL, ground.terrain.origin,
        "x and y of the low corner of the map; `centered`: its center is at 0, 0, where robots "
        "start"),
    CHOICE("ground.interpolation", 0, "auto", interpolations, ground.terrain.interpolation,
           "`nearest`: cells are flat, with vertical sides; `bilinear`: smooth between their "
           "centers; `auto`: nearest for flat ground and steps, else bilinear"),
    CHOICE("ground.border", 0, "continues", borders, ground.terrain.border,
           "outside the map: `continues`: the border value; `ends`: there is no ground. That of "
           "the models' files ends where it is all height fields"),

    LIST("groups", REQUIRED, &mf_scene_group_table, groups,
         "the groups of robots and vehicles, each with the keys below"),

};

static const mf_Key entry_keys[] = {
    LIST("joints", 0, &mf_scene_joint_table, joints,
         "run-time joints between links of any two robots, or a robot and the world, each with the "
         "keys below (docs/how_to/run_time_joints.md)"),

    LIST("cameras", 0, &mf_scene_camera_table, cameras,
         "cameras of `mayfly run --photos` and of clients, fixed in the world or on a robot's "
         "link, each with the keys below (docs/explanation/cameras.md)"),

    LIST("scripts", 0, &mf_scene_script_table, scripts, "Lua scripts that run between the "
         "steps, in this order, each with the keys below (docs/how_to/scripts.md)"),

    LIST("bridges", 0, &mf_scene_bridge_table, bridges,
         "programs that `mayfly serve` starts beside the world, so that other people's software "
         "takes part, each with the keys below (docs/how_to/bridges.md)"),

    SECTION("contact", "contact between robots; contact with the ground is set per group"),
    FLAG("contact.enabled", "true", contact, "robots push each other; false: they pass through "
         "each other, the default where proximity.collisions.agents removes those that touch"),
    CHOICE("contact.law", 0, "compliant", contact_laws, contact_law,
           "`explicit`: springs, the cheapest; `hard`: contacts are solved together with run-time "
           "joints, for robots that carry, hold, stack and lean; `compliant`: likewise, with "
           "springs and dampers at the end of the step"),
    CHOICE("contact.bounds", 0, "sphere", mf_bounds_names, contact_bounds,
           "volumes that leave out pairs of shapes which are apart: `sphere`; `box`, along the axes "
           "of the world; `oriented`, boxes along those of links; `none`: all pairs of robots that "
           "are near are tested. Results are the same, the time is not "
           "(docs/explanation/contact.md)"),
    REAL("contact.friction", AUTO, "1", "auto", 0, 10, friction,
         "friction coefficient between robots; `auto`: that of their shapes"),

};

static const mf_Key effect_keys[] = {
    SECTION("proximity", "what robots and vehicles detect of each other"),
    FLAG("proximity.enabled", "false", proximity,
         "also true if a file has any other key of this section"),
    FLAG("proximity.background", "false", interaction.background,
         "detection and collisions run on a background thread"),
    COUNT("proximity.latency", 0, "0", 0, 1e6, interaction.latency,
          "steps from detection to its effect; 0: the same step"),
    REAL("proximity.margin", 0, "m", "0", 0, 1e5, interaction.margin,
         "margin of the neighbor lists; 0: a fifth of the radius"),
    COUNT("proximity.candidates", 0, "96", 1, 1 << 20, interaction.candidates,
          "capacity of the lists, in candidates per agent"),
    COUNT("proximity.events", 0, "4096", 1, 1 << 24, interaction.event_capacity,
          "capacity of the event buffer"),
    SECTION("proximity.neighbors", "what each agent detects of others"),
    FLAG("proximity.neighbors.detect", "true", interaction.detect,
         "write the neighbors of each agent"),
    REAL("proximity.neighbors.radius", ABOVE, "m", "5", 0, 1e5, interaction.radius,
         "detection radius"),
    COUNT("proximity.neighbors.nearest", 0, "8", 0, MF_NEAREST_LIMIT, interaction.nearest,
          "number of nearest neighbors that are listed"),
    FLAG("proximity.neighbors.relative", "true", interaction.relative,
         "write relative positions and velocities, too"),
    REAL("proximity.neighbors.view_angle", ABOVE, "rad", "3.141592653589793", 0, 3.1415926535897932,
         interaction.view_angle, "half-angle of view about the forward axis; pi: all directions"),
    RATE("proximity.neighbors.interval", 0, "s", "0", 0, 3600, interaction.detection_rate,
         "time between detections; 0: every step"),
    SECTION("proximity.collisions",
            "agents that collide get a fault: they are frozen and removed from detection"),
    FLAG("proximity.collisions.agents", "true", interaction.collide,
         "agents that touch each other"),
    FLAG("proximity.collisions.terrain", "true", interaction.terrain,
         "flying agents that hit the ground"),
    REAL("proximity.collisions.tolerance", 0, "m", "0.01", 0, 1e3, interaction.terrain_tolerance,
         "allowed penetration, below their standing height"),
    RATE("proximity.collisions.interval", 0, "s", "0", 0, 3600, interaction.collision_rate,
         "time between tests of collisions, ground and fence; 0: every step"),
    SECTION("proximity.fence", "a box that agents should not leave"),
    FLAG("proximity.fence.watch", "false", interaction.fence, "report agents that leave it"),
    FLAG("proximity.fence.faults", "false", interaction.fence_faults,
         "agents that leave it get a fault"),
    VECTOR("proximity.fence.lower", 3, 0, "m", "[-1000, -1000, -1000]", -1e9, 1e9,
           interaction.fence_low, "low corner"),
    VECTOR("proximity.fence.upper", 3, 0, "m", "[1000, 1000, 1000]", -1e9, 1e9,
           interaction.fence_high, "high corner"),

    SECTION("air", "wind and downwash, which act on vehicles"),
    VECTOR("air.wind", 3, 0, "m/s", "[0, 0, 0]", -200, 200, interaction.wind,
           "velocity of the undisturbed air, world frame"),
    CHOICE("air.profile", 0, "uniform", wind_profiles, interaction.profile,
           "`logarithmic`: wind grows with height"),
    REAL("air.ground", 0, "m", "0", -1e6, 1e6, interaction.wind_ground,
         "height at which the profile begins"),
    REAL("air.roughness", 0, "m", "0.03", 1e-5, 10, interaction.wind_roughness,
         "roughness length of the ground; 0.03: grassland"),
    REAL("air.reference", 0, "m", "10", 1e-5, 1e4, interaction.wind_reference,
         "height at which the wind speed is `wind`"),
    FLAG("air.downwash", "false", interaction.downwash, "groups with a rotor_area cause downwash"),
    REAL("air.downwash_reach", 0, "m", "4", 0.1, 1e3, interaction.downwash_reach,
         "range of downwash below the rotors"),
    REAL("air.density", 0, "kg/m^3", "1.225", 1e-3, 100, interaction.air_density,
         "air density for downwash"),
    RATE("air.interval", 0, "s", "0", 0, 3600, interaction.air_rate,
         "time between updates of the wind; 0: every step"),

    SECTION("run", "one run"),
    REAL("run.duration", 0, "s", "10", 1e-6, 1e9, duration,
         "simulated time of a run and of one evaluation; rounded up to whole steps"),

    SECTION("record",
            "what `mayfly run` records; its options --record, --every and --fields have priority"),
    KEY("record.file", FILE, MF_KEY_BELOW, "", NULL, 0, 0, NULL, record_path,
        "HDF5 (.h5) or MCAP (.mcap) file to write, relative to the folder of this file; none: "
        "nothing is recorded"),
    REAL("record.every", 0, "s", "0.1", 1e-9, 1e9, record_every,
         "time between samples, rounded to whole steps"),
    KEY("record.fields", NAMES, 0, "", NULL, 0, 0, NULL, record_fields,
        "fields, or paths within a robot; none: base.*, joint.angle, sensor.*"),

    SECTION("search", "settings of `mayfly evolve` for the only group; its robots are isolated"),
    CHOICE("search.fitness", 0, "distance", fitnesses, fitness,
           "quantity that is maximized: `distance` [m] between the initial and the final position "
           "of the base, in a straight line; `speed` [m/s] along its own heading; `economy` [m/J], "
           "distance per work of the servos; `upright` [m], distance times the mean cosine of the "
           "tilt; `steps` [m], distance times the share of feet that step"),
    CHOICE("search.falls", 0, "auto", falls, falls,
           "`count`: the fitness is multiplied by the share of time for which the base is less than "
           "60 degrees from its tilt at the start, so that no robot that lies wins; `ignore`: it is "
           "not; `auto`: `count` with `fitness: steps`"),
    COUNT("search.generations", 0, "200", 1, 1e9, generations, "generations of `mayfly evolve`"),
    COUNT("search.population", 0, "100", 2, 1 << 20, search.population,
          "individuals in one generation of an island"),
    COUNT("search.survivors", 0, "50", 1, (1 << 20) - 1, search.survivors,
          "the best individuals, kept and copied; fewer than search.population"),
    CHOICE("search.selection", 0, "truncation", selections, search.selection,
           "how parents are chosen; `truncation`: the survivors in turn; `proportionate`: chance "
           "in proportion to the fitness, or if one is negative, to its difference from the least "
           "one; `rank`: chance decreases linearly with the rank, to almost 0; `tournament`: the "
           "best of a few at random; `uniform`: equal chances"),
    COUNT("search.tournament", 0, "4", 1, 1024, search.tournament,
          "individuals that are drawn for `selection: tournament`"),
    CHOICE("search.replacement", 0, "generation", replacements, search.replacement,
           "whom children replace; `generation`: all but the survivors, at once. Steady states, "
           "one by one: `random`, with equal chances; `worst`; `unfit`, chance in proportion to "
           "the difference from the best fitness; `similar`, chance in proportion to the common "
           "part of the genomes. `cell`: MAP-Elites, a repertoire with the best of each cell of "
           "search.descriptors"),
    COUNT("search.batch", 0, "32", 1, 1 << 20, search.batch, "children of a steady state or "
          "MAP-Elites that are evaluated at a time, and whose parents are chosen together; 1: "
          "strictly one by one; a generation is search.population children"),
    COUNT("search.protect", 0, "1", 0, (1 << 20) - 1, search.protect,
          "the best of a steady state, never replaced; fewer than search.population"),
    COUNT("search.islands", 0, "1", 1, 256, search.islands,
          "populations of search.population, each with this scheme and random numbers of its own, "
          "which exchange individuals along a ring; not with `replacement: cell`"),
    SECTION("search.migration", "how islands exchange individuals"),
    COUNT("search.migration.every", 0, "10", 0, 1e9, search.migration_every,
          "generations from one migration to the next; 0: none"),
    COUNT("search.migration.best", 0, "1", 1, 1 << 20, search.migration_best,
          "the best of an island, copied to the next one, where they are among the births of the "
          "generation; at most as many as these"),
    LIST("search.descriptors", 0, &descriptor_table, descriptors,
         "one to four dimensions of the grid of `replacement: cell`, each with the keys below"),
    REAL("search.mutation_rate", 0, "1", "0.0625", 0, 1, search.mutation_rate,
         "probability that a byte of a child changes"),
    FLAG("search.reuse_fitness", "false", search.reuse_fitness,
         "do not evaluate unchanged survivors again; same result, lower cost"),
    SECTION("search.machine", "operators that vary machines; the chances are those reported for "
            "Lipson and Pollack (2000). Each is drawn on its own, again until one was applied"),
    REAL("search.machine.change", 0, "1", "0.1", 0, 1, machine.change,
         "chance that the length of a bar or a weight changes"),
    REAL("search.machine.add", ABOVE, "1", "0.01", 0, 1, machine.add,
         "chance that a dangling bar or a loose neuron is added or removed"),
    REAL("search.machine.split", 0, "1", "0.03", 0, 1, machine.split,
         "chance that a vertex becomes two with a bar between them, or a bar two with a vertex"),
    REAL("search.machine.attach", 0, "1", "0.03", 0, 1, machine.attach,
         "chance that a neuron is attached to a bar, which becomes an actuator, or detached"),
    REAL("search.machine.length_step", 0, "1", "0.3", 0, 0.9, machine.length_step,
         "largest change of a length, as a share of it"),
    REAL("search.machine.weight_step", 0, "1", "2", 0, 100, machine.weight_step,
         "largest change of a weight or a bias"),
    REAL("search.machine.bar_length", 0, "m", "0.1", 0.001, 10, machine.bar_length,
         "of new bars, within 50 %"),
    REAL("search.machine.bar_diameter", 0, "m", "0.01", 1e-5, 1, machine.bar_diameter,
         "of new bars"),
    REAL("search.machine.shortest", 0, "m", "0.02", 0.001, 10, machine.shortest, "of all bars"),
    REAL("search.machine.longest", 0, "m", "0.3", 0.001, 100, machine.longest, "of all bars"),
    REAL("search.machine.stroke", 0, "m", "0.04", 1e-5, 10, machine.stroke,
         "range of a new actuator"),
    REAL("search.machine.share", 0, "1", "0.5", 0, 1, machine.share,
         "chance of a bar of a vertex that becomes two to be at both"),
    REAL("search.machine.threshold", 0, "1", "0.5", 0, 1, machine.threshold,
         "share of threshold units among new neurons"),
    SECTION("search.verify", "the best are evaluated again at a level of higher fidelity "
            "(docs/explanation/search.md)"),
    CHOICE("search.verify.motion", 0, "none", verified, verify.motion,
           "the level; `none`: no verification"),
    COUNT("search.verify.every", 0, "10", 1, 1e9, verify.every,
          "generations from one verification to the next"),
    COUNT("search.verify.best", 0, "8", 2, 1 << 20, verify.best,
          "robots that are verified; at most search.population"),
    TIME("search.verify.step", 0, "s", "0.001", 1e-6, 1, verify.step, "physics step at that level"),
    REAL("search.verify.disparity", 0, "1", "1", 0, 1000, verify.disparity,
         "the resulting fitness is that at the level, minus this times its difference from the "
         "fitness in the search"),
    REAL("search.verify.stiffness", ABOVE, "1", "1", 0, 1e6, verify.stiffness,
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
    static const mf_KeyPart entry_part = {MF_KEY_PART(entry_keys)},
                            effect_part = {MF_KEY_PART(effect_keys)};
    static const mf_KeyPart *const parts[] = {&mf_scene_module_keys, &entry_part,
                                              &mf_scene_message_keys, &effect_part, NULL};
    static const mf_KeyTable table = {MF_KEY_ROWS("scene", scene_keys, mf_SceneFile),
                                      .start = start, .applies = applies, .parts = parts};
    return &table;
}
