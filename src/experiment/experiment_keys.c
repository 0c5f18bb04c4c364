// The keys of experiment files. Defaults are written as YAML would have them and go through the
// same reader as a file's values; tests hold them equal to the defaults of the mf_*_config
// functions.
#include "experiment/keys.h"

#include "experiment/ground_keys.h"

static const char *const precisions[] = {"float", "double", NULL};
// In the order of mf_Motion.
static const char *const motions[] = {"kinematic",  "points",      "rigid",
                                      "prescribed", "articulated", NULL};
static const char *const frictions[] = {"fit", "coupled", NULL};
static const char *const controllers[] = {"gp", "oscillator", "none", "plugin", NULL};
static const char *const unknowns[] = {"ignore", "wrap", NULL};
static const char *const verified[] = {"none",       "kinematic",   "points", "rigid",
                                       "prescribed", "articulated", NULL};
static const char *const fitnesses[] = {"distance", "speed", "economy", "upright", "steps", NULL};

// Enums are read and written as int.
_Static_assert(sizeof(mf_TerrainShape) == sizeof(int) && sizeof(mf_Interpolation) == sizeof(int) &&
                   sizeof(mf_FrictionModel) == sizeof(int) && sizeof(mf_GpUnknown) == sizeof(int) &&
                   sizeof(mf_ControllerKind) == sizeof(int) &&
                   sizeof(mf_VerifyMotion) == sizeof(int) && sizeof(mf_Motion) == sizeof(int) &&
                   sizeof(mf_Fitness) == sizeof(int),
               "choices are stored as int");

_Static_assert(offsetof(mf_Experiment, initial_count) - offsetof(mf_Experiment, initial) ==
                       offsetof(mf_KeyList, count) &&
                   offsetof(mf_InitialValue, value_count) - offsetof(mf_InitialValue, values) ==
                       offsetof(mf_KeyList, count),
               "lists are stored as mf_KeyList");

#define AT(member) offsetof(mf_Experiment, member)
#define NOWHERE MF_KEY_NOWHERE

// clang-format off
static const mf_Key initial_keys[] = {
    MF_KEY("property", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL,
           offsetof(mf_InitialValue, path),
           "path within the robot (mayfly info --fields lists what there is), such as "
           "knee/joint.angle or base.linear_velocity.x; * stands for any letters of a name"),
    MF_KEY_TUPLE("values", MF_KEY_NUMBERS, MF_INITIAL_VALUES, MF_KEY_REQUIRED, "", NULL, -1e300,
                 1e300, offsetof(mf_InitialValue, values),
                 "in the property's unit: as many as it has, or one for all of them"),
};

static const mf_KeyTable initial_table = {.noun = "initial value",
                                          .keys = initial_keys,
                                          .count = sizeof initial_keys / sizeof initial_keys[0],
                                          .size = sizeof(mf_InitialValue)};

static const mf_Key keys[] = {
    // path, kind, flags, unit, default, lower, upper, choices, member, description
    MF_KEY("name", MF_KEY_TEXT, 0, "", "", 0, 0, NULL, AT(name),
     "title for reports; when empty, the name of the file"),

    MF_KEY("model", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE, "the robot"),
    MF_KEY("model.file", MF_KEY_FILE, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL, AT(model_path),
     "URDF file, relative to the folder of this file"),
    MF_KEY("model.packages", MF_KEY_PACKAGES, 0, "", NULL, 0, 0, NULL, AT(import),
     "folders for package:// addresses, one `name: folder` each; packages that are not named are "
     "searched for upward from the model"),
    MF_KEY("model.keep_fixed", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL, AT(import.keep_fixed),
     "keep links behind fixed joints as links of their own instead of merging them"),
    MF_KEY("model.visual", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL, AT(import.visual),
     "load visual meshes too"),
    MF_KEY("model.mesh_points", MF_KEY_COUNT, 0, "1", "8", 1, 4096, NULL, AT(import.mesh_points),
     "contact points kept of each collision mesh"),
    MF_KEY("model.density", MF_KEY_REAL, 0, "kg/m^3", "0", 0, 1e6, NULL, AT(import.density),
     "density of links without inertial; 0 leaves them without mass"),

    MF_GROUND_KEYS(AT),

    MF_KEY("world", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE, "time and forces"),
    MF_KEY("world.step", MF_KEY_TIME, 0, "s", "0.01", 1e-6, 1, NULL, AT(step), "physics step"),
    MF_KEY("world.gravity", MF_KEY_REAL, 0, "m/s^2", "9.81", 0, 1000, NULL, AT(gravity),
     "downward along -z"),
    MF_KEY("world.precision", MF_KEY_DOUBLE, 0, "", "float", 0, 0, precisions, AT(double_precision),
     "of the state: `float` is fast, `double` is for checking"),

    MF_KEY("motion", MF_KEY_VARIANT, 0, "", "points", 0, 0, motions, AT(motion),
     "the motion algorithm: a name, or `points` with settings (docs/explanation/ladder.md)"),
    MF_KEY("motion.points", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE,
     "one rigid body of mass points over a height map"),
    MF_KEY("motion.points.joint_interval", MF_KEY_TIME, 0, "s", "0.08", 1e-6, 3600, NULL,
     AT(points.joint_interval), "joints advance this often; a multiple of world.step"),
    MF_KEY("motion.points.friction", MF_KEY_CHOICE, 0, "", "fit", 0, 0, frictions, AT(points.friction),
     "`fit`: displacement and yaw by least squares over the contacts; `coupled`: roll and pitch "
     "too"),
    MF_KEY("motion.points.weighted", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL, AT(points.weighted),
     "weigh contacts by the load they bear"),
    MF_KEY("motion.points.friction_coefficient", MF_KEY_REAL, MF_KEY_ABOVE | MF_KEY_INFINITE, "1", ".inf",
     0, 1e6, NULL, AT(points.friction_coefficient),
     "Coulomb limit of what contacts hold; .inf never slips"),
    MF_KEY("motion.points.keep_momentum", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL,
     AT(points.keep_momentum), "the base turns against its joints in the air"),
    MF_KEY("motion.points.compliance", MF_KEY_REAL, 0, "1", "0.1", 1e-4, 1, NULL, AT(points.compliance),
     "softness of contact relative to the step"),
    MF_KEY("motion.points.contact_margin", MF_KEY_REAL, 0, "m", "0.001", 0, 1, NULL,
     AT(points.contact_margin), "a point this close to the ground still holds it"),

    MF_KEY("controller", MF_KEY_VARIANT, 0, "", "gp", 0, 0, controllers, AT(controller),
     "what moves the joints: one of `gp`, `oscillator`, `plugin` with settings, or `none`"),
    MF_KEY("controller.gp", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE,
     "one evolved machine-code program per robot; a genome is its 32 bytes"),
    MF_KEY("controller.gp.tick", MF_KEY_RATE, 0, "s", "0.08", 1e-6, 3600, NULL, AT(gp.rate),
     "the program runs this often; a multiple of world.step"),
    MF_KEY("controller.gp.instructions_per_tick", MF_KEY_COUNT, 0, "1", "8", 1, 256, NULL,
     AT(gp.instructions_per_tick), "instructions in one tick"),
    MF_KEY("controller.gp.angle_per_move", MF_KEY_REAL, MF_KEY_ABOVE, "rad", "0.06", 0, 1000, NULL,
     AT(gp.angle_per_move), "what one move changes at a joint's target (m for sliding joints)"),
    MF_KEY("controller.gp.unknown", MF_KEY_CHOICE, 0, "", "wrap", 0, 0, unknowns, AT(gp.unknown),
     "a motor or sensor number that does not exist is ignored, or wrapped into those there are"),
    MF_KEY("controller.oscillator", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE,
     "sine waves, one per joint; a genome is 3 bytes per joint and 1 for the common frequency"),
    MF_KEY("controller.oscillator.tick", MF_KEY_RATE, 0, "s", "0.08", 1e-6, 3600, NULL,
     AT(oscillator.rate), "targets are set this often; a multiple of world.step"),

    MF_KEY("controller.plugin", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE,
     "control software of your own in step with the simulation (docs/how_to/plugins.md)"),
    MF_KEY("controller.plugin.file", MF_KEY_FILE, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL,
     AT(plugin_path), "shared library, relative to the folder of this file"),
    MF_KEY("controller.plugin.tick", MF_KEY_RATE, 0, "s", "0.01", 1e-6, 3600, NULL, AT(plugin_rate),
     "it is called this often; a multiple of world.step"),

    MF_KEY("servo", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE,
     "what turns joint targets into torques, where joints move by torques (`articulated`)"),
    MF_KEY("servo.gain", MF_KEY_REAL, 0, "N m/rad", "0", 0, 1e9, NULL, AT(servo_gain),
     "torque per error (N/m for sliding joints); 0: from the robot's file (docs/reference/gaits.md)"),
    MF_KEY("servo.damping", MF_KEY_REAL, 0, "N m s/rad", "0", 0, 1e9, NULL, AT(servo_damping),
     "torque lost per rate (N s/m for sliding joints); 0: from the robot's file"),
    MF_KEY("servo.speed", MF_KEY_REAL, 0, "rad/s", "0", 0, 1e9, NULL, AT(servo_speed),
     "that a servo drives its joint at, at most (m/s for sliding joints); 0: the joint's own"),
    MF_KEY("servo.stiffness", MF_KEY_REAL, MF_KEY_ABOVE, "1", "1", 0, 1e6, NULL, AT(servo_stiffness),
     "times the gain of every servo, and its square root times the damping"),

    MF_KEY_LISTED("initial", 0, &initial_table, AT(initial),
     "values that every life begins with, one after the other, each with the keys below"),

    MF_KEY("fitness", MF_KEY_CHOICE, 0, "", "distance", 0, 0, fitnesses, AT(fitness),
     "what evolution wants more of: `distance` [m] of the base from its start at the end, as the "
     "crow flies; `speed` [m/s] along its own heading; `economy` [m/J], distance per work of the "
     "servos; `upright` [m], distance times the mean cosine of the tilt; `steps` [m], distance "
     "times the share of feet that step"),

    MF_KEY("run", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE, "one life"),
    MF_KEY("run.duration", MF_KEY_REAL, 0, "s", "120", 1e-6, 1e9, NULL, AT(duration),
     "simulated time of a run and of one evaluation; rounded up to whole steps"),
    MF_KEY("run.robots", MF_KEY_COUNT, 0, "1", "1", 1, 1 << 26, NULL, AT(count),
     "robots of `mayfly run`"),

    MF_KEY("search", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE, "evolution"),
    MF_KEY("search.generations", MF_KEY_COUNT, 0, "1", "200", 1, 1e9, NULL, AT(generations),
     "generations of `mayfly evolve`"),
    MF_KEY("search.population", MF_KEY_COUNT, 0, "1", "100", 2, 1 << 20, NULL, AT(search.population),
     "individuals in one generation"),
    MF_KEY("search.survivors", MF_KEY_COUNT, 0, "1", "50", 1, (1 << 20) - 1, NULL, AT(search.survivors),
     "the best, kept and copied; fewer than search.population"),
    MF_KEY("search.mutation_rate", MF_KEY_REAL, 0, "1", "0.0625", 0, 1, NULL, AT(search.mutation_rate),
     "chance of each byte of a child to change"),
    MF_KEY("search.seed", MF_KEY_SEED, 0, "1", "1", 0, 0, NULL, AT(search.seed),
     "of everything random in a run"),
    MF_KEY("search.reuse_fitness", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL, AT(search.reuse_fitness),
     "do not evaluate unchanged survivors again; same result, less work"),

    MF_KEY("verify", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE,
     "a second look at the best, at a dearer level (docs/explanation/two_levels.md)"),
    MF_KEY("verify.motion", MF_KEY_CHOICE, 0, "", "none", 0, 0, verified, AT(verify.motion),
     "the level; `none`: no second look"),
    MF_KEY("verify.every", MF_KEY_COUNT, 0, "1", "10", 1, 1e9, NULL, AT(verify.every),
     "generations from one look to the next"),
    MF_KEY("verify.best", MF_KEY_COUNT, 0, "1", "8", 2, 1 << 20, NULL, AT(verify.best),
     "robots that are looked at; at most search.population"),
    MF_KEY("verify.step", MF_KEY_TIME, 0, "s", "0.001", 1e-6, 1, NULL, AT(verify.step),
     "physics step at that level"),
    MF_KEY("verify.disparity", MF_KEY_REAL, 0, "1", "1", 0, 1000, NULL, AT(verify.disparity),
     "what counts is the fitness there, less this times its difference to the fitness here"),
    MF_KEY("verify.stiffness", MF_KEY_REAL, MF_KEY_ABOVE, "1", "1", 0, 1e6, NULL, AT(verify.stiffness),
     "a second life there with servos that many times as stiff, and the worse of both counts; 1: none"),
};
// clang-format on

static bool applies(const void *base, const mf_Key *key) {
    const mf_Experiment *experiment = base;
    if (key->flags & (experiment->terrain_path != NULL ? MF_KEY_SHAPE : MF_KEY_IMAGE))
        return false;
    if (key->kind == MF_KEY_LIST)
        return experiment->initial_count != 0;
    return key->kind != MF_KEY_PACKAGES || experiment->import.package_count != 0;
}

const mf_KeyTable *mf_experiment_table(void) {
    static const mf_KeyTable table = {.noun = "experiment",
                                      .keys = keys,
                                      .count = sizeof keys / sizeof keys[0],
                                      .size = sizeof(mf_Experiment),
                                      .applies = applies};
    return &table;
}
