// The keys of the groups of a scene and of the lists in them.
#include "motion/table.h"
#include "scene/keys.h"

#include <math.h>
#include <string.h>

// In the order of mf_Motion, then auto and own.
static const char *const motions[] = {MF_MOTION_LIST(MF_MOTION_WORD) "auto", "own", NULL};
static const char *const switched[] = {MF_MOTION_LEVEL_LIST(MF_MOTION_WORD) "own", NULL};
static const char *const precisions[] = {"float", "double", NULL};
static const char *const placements[] = {"line", "poses", "grid", "circle", "random", NULL};
static const char *const controllers[] = {"none", "gp", "oscillator", NULL};
static const char *const unknowns[] = {"ignore", "wrap", NULL};
static const char *const events[] = {"at", "near", "far", "tilted", NULL};
static const char *const behaviours[] = {"hold",      "command", "program", "orbit",  "formation",
                                         "waypoints", "flock",   "gait",    "soccer", NULL};
static const char *const colors[] = {"auto",   "file", "blue", "red",   "yellow", "green", "orange",
                                     "purple", "cyan", "pink", "brown", "white",  "black", NULL};

// Enums are read and written as int, lists as a pointer with a number behind it.
#define IS_INT(type) (sizeof(type) == sizeof(int))
_Static_assert(IS_INT(mf_PlacementKind) && IS_INT(mf_ControllerKind) && IS_INT(mf_GpUnknown) &&
                   IS_INT(mf_SwitchEvent) && IS_INT(mf_BehaviourKind) && IS_INT(mf_SceneColor),
               "choices are stored as int");
#define LISTED(type, entries, number)                                                              \
    (offsetof(type, number) - offsetof(type, entries) == offsetof(mf_KeyList, count))
_Static_assert(
    LISTED(mf_SceneGroup, initial, initial_count) && LISTED(mf_SceneGroup, gaits, gait_count) &&
        LISTED(mf_SceneGroup, plugins, plugin_count) && LISTED(mf_SceneGroup, rules, rule_count) &&
        LISTED(mf_Placement, poses, pose_count) && LISTED(mf_InitialValue, values, value_count) &&
        LISTED(mf_ScenePlugin, values, value_count) && LISTED(mf_Behaviour, values, value_count) &&
        LISTED(mf_Behaviour, points, point_count),
    "lists are stored as mf_KeyList");
_Static_assert(sizeof(mf_PluginValue) == sizeof(mf_KeyNamed) &&
                   offsetof(mf_PluginValue, value) == offsetof(mf_KeyNamed, value),
               "settings are stored as mf_KeyNamed");
_Static_assert(sizeof motions / sizeof *motions == MF_MOTION_WORD_OWN + 2 &&
                   sizeof switched / sizeof *switched == MF_MOTION_LEVELS + 2 &&
                   sizeof colors / sizeof *colors == MF_COLOR_COUNT + 1,
               "choices are in the order of their enums");

mf_Motion mf_motion_of_word(int word, mf_Motion automatic) {
    return word == MF_MOTION_WORD_AUTO  ? automatic
           : word == MF_MOTION_WORD_OWN ? MF_MOTION_OWN
                                        : (mf_Motion)word;
}

int mf_word_of_motion(mf_Motion motion) {
    return motion >= MF_MOTION_COUNT ? (int)MF_MOTION_WORD_OWN : (int)motion;
}

#define INITIAL(member) offsetof(mf_InitialValue, member)
#define PLUGIN(member) offsetof(mf_ScenePlugin, member)
#define RULE(member) offsetof(mf_SwitchRule, member)
#define GROUP(member) offsetof(mf_SceneGroup, member)
#define NOWHERE MF_KEY_NOWHERE
#define SECTION MF_KEY_GROUP

// clang-format off
static const mf_Key initial_keys[] = {
    MF_KEY("property", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL, INITIAL(path),
           "path within the robot (mayfly info --fields lists what there is), such as "
           "knee/joint.angle or base.linear_velocity.x; * stands for any letters of a name"),
    MF_KEY_TUPLE("values", MF_KEY_NUMBERS, MF_INITIAL_VALUES, MF_KEY_REQUIRED, "", NULL, -1e300,
                 1e300, INITIAL(values),
                 "in the property's unit: as many as it has, or one for all of them"),
};

static const mf_KeyTable initial_table = {.noun = "initial value",
                                          .keys = initial_keys,
                                          .count = sizeof initial_keys / sizeof initial_keys[0],
                                          .size = sizeof(mf_InitialValue)};

static const mf_Key rule_keys[] = {
    MF_KEY("to", MF_KEY_CHOICE, MF_KEY_REQUIRED, "", NULL, 0, 0, switched, RULE(to_word),
           "the motion that a robot changes to"),
    MF_KEY("when", MF_KEY_VARIANT, MF_KEY_REQUIRED, "", NULL, 0, 0, events, RULE(event),
           "what makes it change; the first rule of the list that holds counts"),
    SECTION("when.at", "a time"),
    MF_KEY("when.at.time", MF_KEY_REAL, MF_KEY_REQUIRED, "s", NULL, 0, 1e9, NULL, RULE(time),
           "simulated time; the rule counts once, then"),
    SECTION("when.near", "a robot of a group is near"),
    MF_KEY("when.near.group", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL, RULE(group),
           "the group's name"),
    MF_KEY("when.near.distance", MF_KEY_REAL, MF_KEY_REQUIRED, "m", NULL, 0, 1e6, NULL,
           RULE(distance), "nearer than this, between the origins of the bases, horizontally"),
    SECTION("when.far", "no robot of a group is near"),
    MF_KEY("when.far.group", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL, RULE(group),
           "the group's name"),
    MF_KEY("when.far.distance", MF_KEY_REAL, MF_KEY_REQUIRED, "m", NULL, 0, 1e6, NULL,
           RULE(distance), "all are farther than this"),
    SECTION("when.tilted", "the robot leans"),
    MF_KEY("when.tilted.angle", MF_KEY_REAL, MF_KEY_REQUIRED, "rad", NULL, 0, 3.1415926535897932,
           NULL, RULE(tilt), "more than this, between the base's z axis and the vertical"),
};

static const mf_KeyTable rule_table = {.noun = "rule",
                                       .keys = rule_keys,
                                       .count = sizeof rule_keys / sizeof rule_keys[0],
                                       .size = sizeof(mf_SwitchRule)};

static const mf_Key plugin_keys[] = {
    MF_KEY("file", MF_KEY_FILE, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL, PLUGIN(path),
           "shared library, relative to the folder of this file (docs/how_to/plugins.md)"),
    MF_KEY("tick", MF_KEY_RATE, MF_KEY_AUTO, "s", "auto", 1e-6, 3600, NULL, PLUGIN(tick),
           "a controller is called this often, a multiple of world.step; `auto`: as "
           "control_interval; motions are called in every step"),
    MF_KEY("settings", MF_KEY_NAMED, 0, "", NULL, -1e300, 1e300, NULL, PLUGIN(values),
           "the plugin's, in its units"),
};

static const mf_KeyTable plugin_table = {.noun = "plugin",
                                         .keys = plugin_keys,
                                         .count = sizeof plugin_keys / sizeof plugin_keys[0],
                                         .size = sizeof(mf_ScenePlugin)};

static const mf_Key group_keys[] = {
    MF_KEY("name", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL, GROUP(name),
           "what the group is called in summaries, records, rules and overrides"),
    MF_KEY("model", MF_KEY_FILE, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL, GROUP(model_path),
           "file of the robot (URDF or MJCF) or vehicle (YAML), relative to the folder of this "
           "file; a robot without joints that is fixed in the world is scenery"),
    SECTION("import", "how a URDF or MJCF file is read"),
    MF_KEY("import.packages", MF_KEY_PACKAGES, 0, "", NULL, 0, 0, NULL, GROUP(import),
           "folders for package:// addresses, one `name: folder` each; packages that are not named "
           "are searched for upward from the model"),
    MF_KEY("import.keep_fixed", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL, GROUP(import.keep_fixed),
           "keep links behind fixed joints as links of their own instead of merging them"),
    MF_KEY("import.visual", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL, GROUP(import.visual),
           "load visual meshes too"),
    MF_KEY("import.mesh_points", MF_KEY_COUNT, 0, "1", "8", 1, 4096, NULL,
           GROUP(import.mesh_points), "contact points kept of each collision mesh"),
    MF_KEY("import.density", MF_KEY_REAL, 0, "kg/m^3", "0", 0, 1e6, NULL, GROUP(import.density),
           "density of links without inertial; 0 leaves them without mass"),
    MF_KEY("import.root", MF_KEY_FILE, 0, "", NULL, 0, 0, NULL, GROUP(import.root),
           "folder that meshes and includes may not leave by `..`; without: the package around the "
           "model"),
    MF_KEY("import.lenient", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL, GROUP(import.lenient),
           "drop physical elements that are not supported, with a note; false: refuse the file"),
    MF_KEY("count", MF_KEY_COUNT, 0, "1", "1", 1, 1 << 26, NULL, GROUP(count),
           "robots; those of a search are search.population"),
    MF_KEY("precision", MF_KEY_DOUBLE, 0, "", "float", 0, 0, precisions, GROUP(double_precision),
           "of the state: `float` is fast, `double` is for checking"),
    MF_KEY("isolated", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL, GROUP(isolated),
           "every robot of the group is alone in its world; so are those of a search"),

    MF_KEY("motion", MF_KEY_VARIANT, 0, "", "auto", 0, 0, motions, GROUP(motion_word),
           "the motion at the start: a name, or one with settings; `auto`: the vehicle's, else "
           "`articulated`; `own`: the first motion among `plugins` (docs/explanation/ladder.md)"),
};

// Between these stand the keys of motions, from their own folders.
static const mf_Key keys_behind[] = {
    MF_KEY("control_interval", MF_KEY_TIME, MF_KEY_AUTO, "s", "auto", 1e-6, 10, NULL,
           GROUP(control_interval),
           "gaits and joint paths set targets this often, and loops on board run, a multiple of "
           "world.step; `auto`: as `controller` ticks, else each 10 ms; vehicles: every step"),
    SECTION("servo", "of the joints, under `articulated`"),
    MF_KEY("servo.gain", MF_KEY_REAL, 0, "N m/rad", "0", 0, 1e9, NULL, GROUP(servo.gain),
           "torque per error of the angle (N/m for sliding joints); 0: from the robot's file"),
    MF_KEY("servo.damping", MF_KEY_REAL, 0, "N m s/rad", "0", 0, 1e9, NULL, GROUP(servo.damping),
           "torque lost per rate (N s/m for sliding joints); 0: from the robot's file"),
    MF_KEY("servo.speed", MF_KEY_REAL, 0, "rad/s", "0", 0, 1e9, NULL, GROUP(servo.speed),
           "that a servo drives its joint at, at most (m/s for sliding joints); 0: the joint's own"),
    MF_KEY("servo.stiffness", MF_KEY_REAL, MF_KEY_ABOVE, "1", "1", 0, 1e6, NULL,
           GROUP(servo.stiffness), "times the gain of every servo, and its square root times the "
           "damping"),
    SECTION("contact", "of the group's robots"),
    MF_KEY("contact.shapes", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL, GROUP(contact_shapes),
           "whole shapes meet the ground; false: a few points of them, which is faster; `points` "
           "always has points"),
    MF_KEY("contact.self", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL, GROUP(contact_self),
           "links of one robot meet, under `articulated`"),
    MF_KEY("contact.others", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL, GROUP(contact_others),
           "meets other robots, of its own group too"),
    MF_KEY("contact.friction", MF_KEY_REAL, MF_KEY_AUTO, "1", "auto", 0, 100, NULL, GROUP(friction),
           "with the ground; `auto`: as the model says"),
    MF_KEY("rotor_area", MF_KEY_REAL, 0, "m^2", "0", 0, 1e6, NULL,
           GROUP(rotor_area), "of all rotor discs together; above 0 quadrotors push air down on those "
           "below, where air.downwash is set"),

    MF_KEY("place", MF_KEY_VARIANT, 0, "", "line", 0, 0, placements, GROUP(place.kind),
           "where robots start; heights are above the ground, what cannot fly stands on it"),
    SECTION("place.line", "side by side along y; isolated robots all at the origin"),
    MF_KEY("place.line.distance", MF_KEY_REAL, MF_KEY_ABOVE, "m", "1", 0, 1e6, NULL,
           GROUP(place.distance), "between neighbours"),
    MF_KEY_TUPLE("place.poses", MF_KEY_POINTS, 3, 0, "", NULL, -1e6, 1e6, GROUP(place.poses),
                 "x [m], y [m] and heading [rad] of each robot"),
    SECTION("place.grid", "rows and columns, layer above layer"),
    MF_KEY_TUPLE("place.grid.center", MF_KEY_VECTOR, 3, 0, "m", "[0, 0, 0]", -1e6, 1e6,
                 GROUP(place.center), "middle of the lowest layer"),
    MF_KEY_TUPLE("place.grid.spacing", MF_KEY_VECTOR, 3, MF_KEY_ABOVE, "m", "[5, 5, 5]", 0, 1e6,
                 GROUP(place.spacing), "between columns, rows and layers"),
    MF_KEY("place.grid.columns", MF_KEY_COUNT, 0, "1", "0", 0, 1 << 26, NULL, GROUP(place.columns),
           "robots along x; 0: as many as rows"),
    MF_KEY("place.grid.layers", MF_KEY_COUNT, 0, "1", "1", 1, 1 << 26, NULL, GROUP(place.layers),
           "layers"),
    SECTION("place.circle", "evenly on a circle"),
    MF_KEY_TUPLE("place.circle.center", MF_KEY_VECTOR, 3, 0, "m", "[0, 0, 0]", -1e6, 1e6,
                 GROUP(place.center), "middle of the circle"),
    MF_KEY("place.circle.radius", MF_KEY_REAL, MF_KEY_ABOVE, "m", "100", 0, 1e6, NULL,
           GROUP(place.radius), "of the circle"),
    MF_KEY("place.circle.along", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL, GROUP(place.along),
           "face along the circle, anticlockwise, instead of `heading`"),
    SECTION("place.random", "anywhere in a box, without overlap"),
    MF_KEY_TUPLE("place.random.lower", MF_KEY_VECTOR, 3, 0, "m", "[-100, -100, 10]", -1e6, 1e6,
                 GROUP(place.lower), "low corner of the box"),
    MF_KEY_TUPLE("place.random.upper", MF_KEY_VECTOR, 3, 0, "m", "[100, 100, 60]", -1e6, 1e6,
                 GROUP(place.upper), "high corner of the box"),
    MF_KEY("place.random.distance", MF_KEY_REAL, 0, "m", "0", 0, 1e6, NULL, GROUP(place.distance),
           "least distance of centres; 0: just without contact"),
    MF_KEY("place.random.seed", MF_KEY_SEED, 0, "1", "1", 0, 0, NULL, GROUP(place.seed),
           "of the places"),
    MF_KEY("heading", MF_KEY_REAL, 0, "rad", "0", -10, 10, NULL, GROUP(place.heading),
           "at the start: east is 0, north pi/2"),
    MF_KEY("height", MF_KEY_REAL, 0, "m", "0", 0, 1e5, NULL, GROUP(place.height),
           "start this much higher"),
    MF_KEY("speed", MF_KEY_REAL, 0, "m/s", "0", 0, 1e3, NULL, GROUP(place.speed),
           "at the start, along the heading; 0 for fixed wings: their design airspeed"),
    MF_KEY("keyframe", MF_KEY_TEXT, 0, "", "", 0, 0, NULL, GROUP(keyframe),
           "of an MJCF file, to start with; empty: the first where there is one and no gait; `none`: "
           "the pose of the file"),
    MF_KEY("settle", MF_KEY_REAL, 0, "s", "0", 0, 100, NULL, GROUP(settle),
           "the world is simulated this long before gaits begin; the time of `when.at` counts it"),
    MF_KEY("joint_noise", MF_KEY_REAL, 0, "rad/s", "0", 0, 100, NULL, GROUP(joint_noise),
           "largest random rate of joints at the start, of all robots but the first"),
    MF_KEY_LISTED("initial", 0, &initial_table, GROUP(initial),
                  "values that every robot begins with, one after the other, each with the keys "
                  "below"),
    MF_KEY("sensors", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL, GROUP(sensors),
           "the sensors of the model are measured; those of a genome's controller always are"),

    MF_KEY("gaits", MF_KEY_WORDS, 0, "", NULL, 0, 0, NULL, GROUP(gaits),
           "gaits that the robots know: names of files in gaits/<robot>/ beside the model, or "
           "paths relative to the folder of this file"),
    MF_KEY("controller", MF_KEY_VARIANT, 0, "", "none", 0, 0, controllers, GROUP(controller),
           "what a genome describes: one of `gp`, `oscillator` with settings, or `none`"),
    SECTION("controller.gp", "one evolved machine-code program per robot; a genome is its 32 bytes"),
    MF_KEY("controller.gp.tick", MF_KEY_RATE, 0, "s", "0.08", 1e-6, 3600, NULL, GROUP(gp.rate),
           "the program runs this often; a multiple of world.step"),
    MF_KEY("controller.gp.instructions_per_tick", MF_KEY_COUNT, 0, "1", "8", 1, 256, NULL,
           GROUP(gp.instructions_per_tick), "instructions in one tick"),
    MF_KEY("controller.gp.angle_per_move", MF_KEY_REAL, MF_KEY_ABOVE, "rad", "0.06", 0, 1000, NULL,
           GROUP(gp.angle_per_move), "what one move changes at a joint's target (m for sliding "
           "joints)"),
    MF_KEY("controller.gp.unknown", MF_KEY_CHOICE, 0, "", "wrap", 0, 0, unknowns,
           GROUP(gp.unknown), "a motor or sensor number that does not exist is ignored, or wrapped "
           "into those there are"),
    SECTION("controller.oscillator",
            "sine waves, one per joint; a genome is 3 bytes per joint and 1 for the common "
            "frequency"),
    MF_KEY("controller.oscillator.tick", MF_KEY_RATE, 0, "s", "0.08", 1e-6, 3600, NULL,
           GROUP(oscillator.rate), "targets are set this often; a multiple of world.step"),
    MF_KEY_LISTED("plugins", 0, &plugin_table, GROUP(plugins),
                  "motions and controllers from shared libraries, each with the keys below"),
    MF_KEY_LISTED("switch", 0, &rule_table, GROUP(rules),
                  "when the robots change to another motion, each with the keys below"),

    MF_KEY("behaviour", MF_KEY_VARIANT, 0, "", "hold", 0, 0, behaviours, GROUP(behaviour.kind),
           "what the robots do; `hold`: hover, fly on, stand; `gait` and `soccer` are for robots "
           "with gaits, the others for vehicles"),
    SECTION("behaviour.command", "constant values"),
    MF_KEY("behaviour.command.mode", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL,
           GROUP(behaviour.mode),
           "command mode. quadrotor: rotors, rates, attitude, velocity, position; fixed_wing: "
           "surfaces, autopilot, orbit; car: drive, speed, circle, waypoint"),
    MF_KEY_TUPLE("behaviour.command.values", MF_KEY_NUMBERS, 8, MF_KEY_REQUIRED, "", NULL, -1e9, 1e9,
                 GROUP(behaviour.values), "in the order of the mode's command fields, SI units"),
    SECTION("behaviour.program", "nothing: a program writes the command fields"),
    MF_KEY("behaviour.program.mode", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL,
           GROUP(behaviour.mode), "command mode, as of behaviour.command"),
    SECTION("behaviour.orbit", "all around one circle, evenly spaced, anticlockwise"),
    MF_KEY_TUPLE("behaviour.orbit.center", MF_KEY_VECTOR, 2, 0, "m", "[0, 0]", -1e6, 1e6,
                 GROUP(behaviour.center), "middle of the circle"),
    MF_KEY("behaviour.orbit.radius", MF_KEY_REAL, MF_KEY_ABOVE, "m", "100", 0, 1e6, NULL,
           GROUP(behaviour.radius), "of the circle"),
    MF_KEY("behaviour.orbit.height", MF_KEY_REAL, 0, "m", "50", -1e5, 1e5, NULL,
           GROUP(behaviour.height), "in the world frame; cars stay on the ground"),
    MF_KEY("behaviour.orbit.speed", MF_KEY_REAL, MF_KEY_ABOVE, "m/s", "5", 0, 1e3, NULL,
           GROUP(behaviour.speed), "along the circle"),
    SECTION("behaviour.formation", "evenly spaced on circles inside each other"),
    MF_KEY_TUPLE("behaviour.formation.center", MF_KEY_VECTOR, 2, 0, "m", "[0, 0]", -1e6, 1e6,
                 GROUP(behaviour.center), "middle of all circles"),
    MF_KEY("behaviour.formation.circles", MF_KEY_COUNT, 0, "1", "5", 1, 1024, NULL,
           GROUP(behaviour.circles), "how many"),
    MF_KEY("behaviour.formation.radius", MF_KEY_REAL, MF_KEY_ABOVE, "m", "100", 0, 1e6, NULL,
           GROUP(behaviour.radius), "of the innermost circle"),
    MF_KEY("behaviour.formation.gap", MF_KEY_REAL, MF_KEY_ABOVE, "m", "20", 0, 1e6, NULL,
           GROUP(behaviour.gap), "from circle to circle"),
    MF_KEY("behaviour.formation.height", MF_KEY_REAL, 0, "m", "50", -1e5, 1e5, NULL,
           GROUP(behaviour.height), "of the innermost circle, in the world frame"),
    MF_KEY("behaviour.formation.rise", MF_KEY_REAL, 0, "m", "0", -1e4, 1e4, NULL,
           GROUP(behaviour.rise), "from circle to circle, outward"),
    MF_KEY("behaviour.formation.alternate", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL,
           GROUP(behaviour.alternate), "every second circle turns clockwise"),
    MF_KEY("behaviour.formation.separation", MF_KEY_REAL, 0, "m", "0", 0, 1e6, NULL,
           GROUP(behaviour.separation),
           "quadrotors keep away from detected neighbours nearer than this; 0: they do not look"),
    MF_KEY("behaviour.formation.speed", MF_KEY_REAL, MF_KEY_ABOVE, "m/s", "5", 0, 1e3, NULL,
           GROUP(behaviour.speed), "along the circles"),
    SECTION("behaviour.waypoints",
            "from place to place; agents keep their places relative to each other"),
    MF_KEY_TUPLE("behaviour.waypoints.points", MF_KEY_POINTS, 3, MF_KEY_REQUIRED, "m", NULL, -1e6,
                 1e6, GROUP(behaviour.points), "places of the group's middle, in the world frame"),
    MF_KEY("behaviour.waypoints.reached", MF_KEY_REAL, MF_KEY_ABOVE, "m", "5", 0, 1e6, NULL,
           GROUP(behaviour.reached), "near enough to go on to the next"),
    MF_KEY("behaviour.waypoints.loop", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL,
           GROUP(behaviour.loop), "start again after the last"),
    MF_KEY("behaviour.waypoints.speed", MF_KEY_REAL, MF_KEY_ABOVE, "m/s", "5", 0, 1e3, NULL,
           GROUP(behaviour.speed), "on the way"),
    SECTION("behaviour.flock", "Reynolds' boids: each agent acts on the neighbours that it detects"),
    MF_KEY("behaviour.flock.speed", MF_KEY_REAL, MF_KEY_ABOVE, "m/s", "5", 0, 1e3, NULL,
           GROUP(behaviour.speed), "of every agent"),
    MF_KEY("behaviour.flock.separation", MF_KEY_REAL, MF_KEY_ABOVE, "m", "3", 0, 1e6, NULL,
           GROUP(behaviour.separation), "nearer neighbours are avoided"),
    MF_KEY("behaviour.flock.separation_weight", MF_KEY_REAL, 0, "1", "1.5", 0, 1e3, NULL,
           GROUP(behaviour.separation_weight), "away from near neighbours"),
    MF_KEY("behaviour.flock.alignment_weight", MF_KEY_REAL, 0, "1", "1", 0, 1e3, NULL,
           GROUP(behaviour.alignment_weight), "towards the neighbours' mean velocity"),
    MF_KEY("behaviour.flock.cohesion_weight", MF_KEY_REAL, 0, "1", "1", 0, 1e3, NULL,
           GROUP(behaviour.cohesion_weight), "towards the neighbours' middle"),
    MF_KEY("behaviour.flock.goal_weight", MF_KEY_REAL, 0, "1", "0.2", 0, 1e3, NULL,
           GROUP(behaviour.goal_weight), "towards the goal"),
    MF_KEY_TUPLE("behaviour.flock.goal", MF_KEY_VECTOR, 3, 0, "m", "[0, 0, 50]", -1e6, 1e6,
                 GROUP(behaviour.goal), "a place that all are drawn to"),
    SECTION("behaviour.gait", "one gait"),
    MF_KEY("behaviour.gait.name", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL,
           GROUP(behaviour.gait), "one of `gaits`"),
    MF_KEY_TUPLE("behaviour.gait.command", MF_KEY_VECTOR, 3, MF_KEY_AUTO, "", "auto", -100, 100,
                 GROUP(behaviour.gait_command), "forward [m/s], left [m/s], turn [rad/s], cut to the "
                 "gait's range; `auto`: half of its largest forward"),
    SECTION("behaviour.soccer",
            "walk to the ball, kick it to the goal, keep apart, get up; needs the gaits walk, stand, "
            "kick_left, kick_right, get_up_front and get_up_back"),
    MF_KEY("behaviour.soccer.ball", MF_KEY_TEXT, 0, "", "ball", 0, 0, NULL,
           GROUP(behaviour.soccer.ball), "the ball's group"),
    MF_KEY_TUPLE("behaviour.soccer.goal", MF_KEY_VECTOR, 2, MF_KEY_REQUIRED, "m", NULL, -1e6, 1e6,
                 GROUP(behaviour.soccer.goal), "middle of the goal to score in"),
    MF_KEY_TUPLE("behaviour.soccer.own_goal", MF_KEY_VECTOR, 2, MF_KEY_REQUIRED, "m", NULL, -1e6,
                 1e6, GROUP(behaviour.soccer.own_goal), "middle of the own goal"),
    MF_KEY("behaviour.soccer.field_width", MF_KEY_REAL, MF_KEY_ABOVE, "m", "6", 0, 1e6, NULL,
           GROUP(behaviour.soccer.field_width), "between the touch lines"),
    MF_KEY("behaviour.soccer.goal_width", MF_KEY_REAL, MF_KEY_ABOVE, "m", "2.6", 0, 1e6, NULL,
           GROUP(behaviour.soccer.goal_width), "between the posts"),
    MF_KEY_TUPLE("behaviour.soccer.kick", MF_KEY_VECTOR, 2, 0, "m", "[0.13, 0.04]", -10, 10,
                 GROUP(behaviour.soccer.kick), "where the ball must be for a kick with the left "
                 "foot, forward and left of the base; with the right foot the mirror image"),
    MF_KEY("behaviour.soccer.speed", MF_KEY_REAL, MF_KEY_ABOVE, "m/s", "0.15", 0, 10, NULL,
           GROUP(behaviour.soccer.speed), "of walking forward"),
    MF_KEY("behaviour.soccer.spacing", MF_KEY_REAL, 0, "m", "0.5", 0, 100, NULL,
           GROUP(behaviour.soccer.spacing), "kept from others"),
    MF_KEY("behaviour.soccer.keeper", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL,
           GROUP(behaviour.soccer.keeper), "the first robot keeps the own goal; needs dive_left and "
           "dive_right too"),
    MF_KEY("behaviour_interval", MF_KEY_RATE, 0, "s", "0.05", 1e-6, 3600, NULL,
           GROUP(behaviour.rate), "behaviours decide this often"),
    MF_KEY("color", MF_KEY_CHOICE, 0, "", "auto", 0, 0, colors, GROUP(color),
           "in films; `file`: as in the model's file; `auto`: blue, red, yellow ... in the order of "
           "the groups with joints, where there are several, else as `file`"),
};
// clang-format on

static void start(void *base) {
    mf_SceneGroup *group = base;
    group->import = mf_import_config();
    group->motions = mf_motions_config();
    group->motions.points.joint_interval = 0; // the builder chooses
    group->motions.articulated.integrator = MF_ARTICULATED_OF_MODEL;
    group->gp = mf_gp_config();
    group->oscillator = mf_oscillator_config();
}

// What a list of no entries and packages of none would say cannot be written.
static bool applies(const void *base, const mf_Key *key) {
    const mf_SceneGroup *group = base;
    if (key->kind == MF_KEY_PACKAGES)
        return group->import.package_count != 0;
    if (strcmp(key->path, "rotor_area") == 0)
        return group->vehicle != NULL && group->vehicle->kind == MF_VEHICLE_QUADROTOR;
    return strcmp(key->path, "import.root") != 0 || group->import.root != NULL;
}

static const mf_KeyJoint motion_keys = {.count = mf_motion_key_count,
                                        .key = mf_motion_key,
                                        .behind = keys_behind,
                                        .behind_count = sizeof keys_behind / sizeof *keys_behind};

// Keys of motions say where they are in mf_MotionsConfig.
_Static_assert(offsetof(mf_SceneGroup, motions) == 0, "settings of motions come first");

const mf_KeyTable mf_scene_group_table = {.noun = "group",
                                          .keys = group_keys,
                                          .count = sizeof group_keys / sizeof group_keys[0],
                                          .size = sizeof(mf_SceneGroup),
                                          .start = start,
                                          .applies = applies,
                                          .joint = &motion_keys};
