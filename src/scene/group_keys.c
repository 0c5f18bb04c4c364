// The keys of the groups of a scene and of the lists in them.
#include "motion/table.h"
#include "body/kind.h"
#include "scene/keys.h"

#include <math.h>
#include <string.h>

// In the order of mf_Motion, then auto and own.
static const char *const motions[] = {MF_MOTION_LIST(MF_MOTION_NAME) "auto", "own", NULL};
static const char *const switched[] = {MF_MOTION_LEVEL_LIST(MF_MOTION_NAME) "own", "quasistatic",
                                       "elastic", NULL};
static const char *const precisions[] = {"float", "double", NULL};
static const char *const bases[] = {"auto", "free", "fixed", NULL}; // as mf_ImportBase
static const char *const inertias[] = {"file", "geometry", NULL};   // as mf_ImportInertia
static const char *const placements[] = {"line", "poses", "grid", "circle", "random", "fill", NULL};
static const char *const controllers[] = {"none", "gp", "oscillator", "machine", NULL};
static const char *const unknowns[] = {"ignore", "wrap", NULL};
static const char *const events[] = {"at", "near", "far", "tilted", NULL};
static const char *const behaviors[] = {
    "hold",   "command", "program", "orbit", "formation", "waypoints", "flock",
    "gait",   "soccer",  "snake",   "phase", "track",     "unroll",    "count",
    "leader", "spin",    "wheels",  "car",   "arm",       "hormone",   NULL};
_Static_assert(sizeof behaviors / sizeof *behaviors == MF_BEHAVIOR_LAST + 2,
               "choices are in the order of mf_BehaviorKind");
static const char *const colors[] = {"auto",   "file", "blue", "red",   "yellow", "green", "orange",
                                     "purple", "cyan", "pink", "brown", "white",  "black", NULL};

// Enums are read and written as int, lists as a pointer followed by a count.
#define IS_INT(type) (sizeof(type) == sizeof(int))
_Static_assert(IS_INT(mf_PlacementKind) && IS_INT(mf_ControllerKind) && IS_INT(mf_GpUnknown) &&
                   IS_INT(mf_SwitchEvent) && IS_INT(mf_BehaviorKind) && IS_INT(mf_SceneColor),
               "choices are stored as int");
#define LISTED(type, entries, number)                                                              \
    (offsetof(type, number) - offsetof(type, entries) == offsetof(mf_KeyList, count))
_Static_assert(
    LISTED(mf_SceneGroup, initial, initial_count) && LISTED(mf_SceneGroup, gaits, gait_count) &&
        LISTED(mf_SceneGroup, plugins, plugin_count) && LISTED(mf_SceneGroup, rules, rule_count) &&
        LISTED(mf_Placement, poses, pose_count) && LISTED(mf_InitialValue, values, value_count) &&
        LISTED(mf_ScenePlugin, values, value_count) && LISTED(mf_Behavior, values, value_count) &&
        LISTED(mf_Behavior, points, point_count),
    "lists are stored as mf_KeyList");
_Static_assert(sizeof(mf_PluginValue) == sizeof(mf_KeyNamed) &&
                   offsetof(mf_PluginValue, value) == offsetof(mf_KeyNamed, value),
               "settings are stored as mf_KeyNamed");
_Static_assert(sizeof motions / sizeof *motions == MF_MOTION_NAME_OWN + 2 &&
                   sizeof switched / sizeof *switched == MF_SWITCH_NAME_ELASTIC + 2 &&
                   sizeof colors / sizeof *colors == MF_COLOR_COUNT + 1,
               "choices are in the order of their enums");

mf_Motion mf_motion_of_name(int name, mf_Motion automatic) {
    return name == MF_MOTION_NAME_AUTO  ? automatic
           : name == MF_MOTION_NAME_OWN ? MF_MOTION_OWN
                                        : (mf_Motion)name;
}

mf_Motion mf_motion_of_switch(int name) {
    return name == MF_SWITCH_NAME_OWN           ? MF_MOTION_OWN
           : name == MF_SWITCH_NAME_QUASISTATIC ? MF_MOTION_QUASISTATIC
           : name == MF_SWITCH_NAME_ELASTIC     ? MF_MOTION_ELASTIC
                                                : (mf_Motion)name;
}

int mf_name_of_motion(mf_Motion motion) {
    return motion >= MF_MOTION_COUNT ? (int)MF_MOTION_NAME_OWN : (int)motion;
}

#define INITIAL(member) offsetof(mf_InitialValue, member)
#define PLUGIN(member) offsetof(mf_ScenePlugin, member)
#define RULE(member) offsetof(mf_SwitchRule, member)
#define GROUP(member) offsetof(mf_SceneGroup, member)
#define POLICY_REAL(name, flags, unit, fallback, member, description)                              \
    MF_KEY("behavior." name, MF_KEY_REAL, flags, unit, fallback, -1e3, 1e3, NULL,                  \
           GROUP(behavior.policy.member), description)
#define POLICY_JOINT(name)                                                                         \
    MF_KEY("behavior." name ".joint", MF_KEY_TEXT, 0, "", "", 0, 0, NULL,                          \
           GROUP(behavior.policy.joint), "joints that move, with spaces between; empty: all")
#define NOWHERE MF_KEY_NOWHERE
#define SECTION MF_KEY_GROUP

// clang-format off
static const mf_Key initial_keys[] = {
    MF_KEY("property", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL, INITIAL(path),
           "path within the robot (mayfly info --fields lists all), such as knee/joint.angle or "
           "base.linear_velocity.x; * matches any part of a name"),
    MF_KEY_TUPLE("values", MF_KEY_NUMBERS, MF_INITIAL_VALUES, MF_KEY_REQUIRED, "", NULL, -1e300,
                 1e300, INITIAL(values),
                 "in the property's unit: one for each of its values, or one for all"),
};

static const mf_KeyTable initial_table = {MF_KEY_ROWS("initial value", initial_keys, mf_InitialValue)};

static const mf_Key rule_keys[] = {
    MF_KEY("to", MF_KEY_CHOICE, MF_KEY_REQUIRED, "", NULL, 0, 0, switched, RULE(to_name),
           "the motion to which a robot switches"),
    MF_KEY("when", MF_KEY_VARIANT, MF_KEY_REQUIRED, "", NULL, 0, 0, events, RULE(event),
           "the condition; the first rule whose condition is true applies"),
    SECTION("when.at", "a time"),
    MF_KEY("when.at.time", MF_KEY_REAL, MF_KEY_REQUIRED, "s", NULL, 0, 1e9, NULL, RULE(time),
           "simulated time; the rule applies once, then"),
    SECTION("when.near", "a robot of a group is near"),
    MF_KEY("when.near.group", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL, RULE(group),
           "the group's name"),
    MF_KEY("when.near.distance", MF_KEY_REAL, MF_KEY_REQUIRED, "m", NULL, 0, 1e6, NULL,
           RULE(distance), "the horizontal distance between the origins of the bases is less than "
                           "this"),
    SECTION("when.far", "no robot of a group is near"),
    MF_KEY("when.far.group", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL, RULE(group),
           "the group's name"),
    MF_KEY("when.far.distance", MF_KEY_REAL, MF_KEY_REQUIRED, "m", NULL, 0, 1e6, NULL,
           RULE(distance), "all distances are larger than this"),
    SECTION("when.tilted", "the robot is tilted"),
    MF_KEY("when.tilted.angle", MF_KEY_REAL, MF_KEY_REQUIRED, "rad", NULL, 0, 3.1415926535897932,
           NULL, RULE(tilt), "the angle between the base's z axis and the vertical is larger than "
                             "this"),
};

static const mf_KeyTable rule_table = {MF_KEY_ROWS("rule", rule_keys, mf_SwitchRule)};

static const mf_Key plugin_keys[] = {
    MF_KEY("file", MF_KEY_FILE, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL, PLUGIN(path),
           "shared library, relative to the folder of this file (docs/how_to/plugins.md)"),
    MF_KEY("tick", MF_KEY_RATE, MF_KEY_AUTO, "s", "auto", 1e-6, 3600, NULL, PLUGIN(tick),
           "period of calls of a controller, a multiple of world.step; `auto`: control_interval; "
           "motions are called in every step"),
    MF_KEY("settings", MF_KEY_NAMED, 0, "", NULL, -1e300, 1e300, NULL, PLUGIN(values),
           "settings of the plugin, in its units"),
};

static const mf_KeyTable plugin_table = {MF_KEY_ROWS("plugin", plugin_keys, mf_ScenePlugin)};

static const mf_Key group_keys[] = {
    MF_KEY("name", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL, GROUP(name),
           "name of the group in summaries, records, rules and overrides"),
    MF_KEY("model", MF_KEY_FILE, 0, "", NULL, 0, 0, NULL, GROUP(model_path),
           "file of the robot (URDF or MJCF), vehicle, truss or cloth (YAML), relative to the folder of "
           "this file; a robot without joints that is fixed in the world is scenery. Required, "
           "except for `controller: machine`, where it is the truss from which evolution starts"),
    SECTION("import", "how a URDF or MJCF file is read"),
    MF_KEY("import.packages", MF_KEY_PACKAGES, 0, "", NULL, 0, 0, NULL, GROUP(import),
           "folders for package:// addresses, one `name: folder` each; other packages are searched "
           "for upward from the model"),
    MF_KEY("import.keep_fixed", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL, GROUP(import.keep_fixed),
           "keep links behind fixed joints as separate links instead of merging them"),
    MF_KEY("import.visual", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL, GROUP(import.visual),
           "load visual meshes too"),
    MF_KEY("import.mesh_points", MF_KEY_COUNT, 0, "1", "8", 1, 4096, NULL,
           GROUP(import.mesh_points), "contact points of each collision mesh"),
    MF_KEY("import.density", MF_KEY_REAL, 0, "kg/m^3", "0", 0, 1e6, NULL, GROUP(import.density),
           "density of links without mass, over the volume of what collides; 0: they have no mass"),
    MF_KEY("import.inertia", MF_KEY_CHOICE, 0, "", "file", 0, 0, inertias, GROUP(import.inertia),
           "inertias of a URDF that are impossible for its geometry: `file`: kept, with a note; "
           "`geometry`: replaced by those of uniform boxes around the geometry"),
    MF_KEY("import.root", MF_KEY_FILE, 0, "", NULL, 0, 0, NULL, GROUP(import.root),
           "folder that meshes and includes may not leave by `..`, a link or an absolute path; none: "
           "the package around the model"),
    MF_KEY("import.lenient", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL, GROUP(import.lenient),
           "drop unsupported physical elements, with a note; false: reject the file"),
    MF_KEY("base", MF_KEY_CHOICE, 0, "", "auto", 0, 0, bases, GROUP(import.base),
           "whether the base of a URDF robot moves: `free`, or `fixed` in the world at the coordinates "
           "of its file; `auto`: a root link `world` without mass is fixed, as is a root without mass"),
    MF_KEY("count", MF_KEY_COUNT, 0, "1", "1", 1, 1 << 26, NULL, GROUP(count),
           "number of robots; in a search search.population"),
    MF_KEY("precision", MF_KEY_DOUBLE, 0, "", "float", 0, 0, precisions, GROUP(double_precision),
           "precision of the state: `float` is fast, `double` is for verification and always that of "
           "trusses"),
    MF_KEY("isolated", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL, GROUP(isolated),
           "every robot of the group has its own copy of the world; always so in a search"),

    MF_KEY("motion", MF_KEY_VARIANT, 0, "", "auto", 0, 0, motions, GROUP(motion_name),
           "the initial motion: a name, or a name with settings; `auto`: the vehicle's, "
           "`quasistatic` for trusses, `cloth` for cloths, else `articulated`; `own`: the first "
           "motion in `plugins` (docs/explanation/ladder.md)"),
};

// Keys after those of the motions, which are in the motions' folders.
static const mf_Key keys_behind[] = {
    MF_KEY("control_interval", MF_KEY_TIME, MF_KEY_AUTO, "s", "auto", 1e-6, 10, NULL,
           GROUP(control_interval),
           "period of gaits, joint paths and control loops of vehicles, a multiple of world.step; "
           "`auto`: the tick of `controller`, else 10 ms; vehicles: every step"),
    SECTION("servo", "servos of the joints, for `articulated`"),
    MF_KEY("servo.gain", MF_KEY_REAL, 0, "N m/rad", "0", 0, 1e9, NULL, GROUP(servo.gain),
           "torque per angle error (N/m for sliding joints); 0: from the robot's file"),
    MF_KEY("servo.damping", MF_KEY_REAL, 0, "N m s/rad", "0", 0, 1e9, NULL, GROUP(servo.damping),
           "torque per joint rate, opposing it (N s/m for sliding joints); 0: from the robot's "
           "file"),
    MF_KEY("servo.speed", MF_KEY_REAL, 0, "rad/s", "0", 0, 1e9, NULL, GROUP(servo.speed),
           "largest speed at which a servo drives its joint (m/s for sliding joints); 0: that of "
           "the joint"),
    MF_KEY("servo.stiffness", MF_KEY_REAL, MF_KEY_ABOVE, "1", "1", 0, 1e6, NULL,
           GROUP(servo.stiffness), "factor of the gain of every servo; its square root is the "
                                   "factor of the damping"),
    MF_KEY("servo.inputs", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL, GROUP(servo.inputs),
           "gains, target rates and torques of the servos are inputs that change while the world "
           "runs: servo.gain, servo.damping, servo.target_rate, servo.torque"),
    MF_KEY("servo.limits", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL,
           GROUP(motions.articulated.input_limits),
           "effort and velocity of a URDF's joints hold for joint.torque and the inputs of servos, "
           "too; false: for joint.target alone"),
    SECTION("contact", "contact of the group's robots"),
    MF_KEY("contact.shapes", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL, GROUP(contact_shapes),
           "whole shapes touch the ground; false: only the model's contact points, which is "
           "faster; `points` always uses points"),
    MF_KEY("contact.self", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL, GROUP(contact_self),
           "links of one robot collide, for `articulated`"),
    MF_KEY("contact.others", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL, GROUP(contact_others),
           "collides with other robots, including those of its own group"),
    MF_KEY("contact.friction", MF_KEY_REAL, MF_KEY_AUTO, "1", "auto", 0, 100, NULL, GROUP(friction),
           "friction coefficient with the ground; `auto`: that of the model"),
    MF_KEY("rotor_area", MF_KEY_REAL, 0, "m^2", "0", 0, 1e6, NULL,
           GROUP(rotor_area), "total area of all rotor discs; above 0 quadrotors cause downwash if "
                              "air.downwash is set"),

    MF_KEY("placement", MF_KEY_VARIANT, 0, "", "line", 0, 0, placements, GROUP(placement.kind),
           "initial poses; heights are above the ground, robots that cannot fly stand on it"),
    SECTION("placement.line", "side by side along y; isolated robots all at the origin"),
    MF_KEY("placement.line.distance", MF_KEY_REAL, MF_KEY_ABOVE, "m", "1", 0, 1e6, NULL,
           GROUP(placement.distance), "distance between neighbors"),
    MF_KEY_TUPLE("placement.poses", MF_KEY_POINTS, 3, 0, "", NULL, -1e6, 1e6,
                 GROUP(placement.poses),
                 "x [m], y [m] and heading [rad] of each robot"),
    SECTION("placement.grid", "rows, columns and layers"),
    MF_KEY_TUPLE("placement.grid.center", MF_KEY_VECTOR, 3, 0, "m", "[0, 0, 0]", -1e6, 1e6,
                 GROUP(placement.center), "center of the lowest layer"),
    MF_KEY_TUPLE("placement.grid.spacing", MF_KEY_VECTOR, 3, MF_KEY_ABOVE, "m", "[5, 5, 5]", 0, 1e6,
                 GROUP(placement.spacing), "distance between columns, rows and layers"),
    MF_KEY("placement.grid.columns", MF_KEY_COUNT, 0, "1", "0", 0, 1 << 26, NULL,
           GROUP(placement.columns),
           "robots along x; 0: equal to the number of rows"),
    MF_KEY("placement.grid.layers", MF_KEY_COUNT, 0, "1", "1", 1, 1 << 26, NULL,
           GROUP(placement.layers),
           "number of layers"),
    SECTION("placement.circle", "evenly on a circle"),
    MF_KEY_TUPLE("placement.circle.center", MF_KEY_VECTOR, 3, 0, "m", "[0, 0, 0]", -1e6, 1e6,
                 GROUP(placement.center), "center of the circle"),
    MF_KEY("placement.circle.radius", MF_KEY_REAL, MF_KEY_ABOVE, "m", "100", 0, 1e6, NULL,
           GROUP(placement.radius), "radius of the circle"),
    MF_KEY("placement.circle.along", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL,
           GROUP(placement.along),
           "face along the circle, counterclockwise, instead of `heading`"),
    SECTION("placement.random", "at random in a box, without overlap"),
    MF_KEY_TUPLE("placement.random.lower", MF_KEY_VECTOR, 3, 0, "m", "[-100, -100, 10]", -1e6, 1e6,
                 GROUP(placement.lower), "low corner of the box"),
    MF_KEY_TUPLE("placement.random.upper", MF_KEY_VECTOR, 3, 0, "m", "[100, 100, 60]", -1e6, 1e6,
                 GROUP(placement.upper), "high corner of the box"),
    MF_KEY("placement.random.distance", MF_KEY_REAL, 0, "m", "0", 0, 1e6, NULL,
           GROUP(placement.distance),
           "minimum distance of centers; 0: no contact"),
    MF_KEY("placement.random.seed", MF_KEY_SEED, 0, "1", "1", 0, 0, NULL, GROUP(placement.seed),
           "seed of the initial poses"),
    SECTION("placement.fill",
            "particles side by side in a box, layer by layer from its low corner on; "
                          "those that do not fit wait for an emitter"),
    MF_KEY_TUPLE("placement.fill.lower", MF_KEY_VECTOR, 3, MF_KEY_REQUIRED, "m", NULL, -1e6, 1e6,
                 GROUP(placement.lower), "low corner of the box, in the world"),
    MF_KEY_TUPLE("placement.fill.upper", MF_KEY_VECTOR, 3, MF_KEY_REQUIRED, "m", NULL, -1e6, 1e6,
                 GROUP(placement.upper), "high corner of the box"),
    MF_KEY("placement.fill.spacing", MF_KEY_REAL, 0, "m", "0", 0, 1e6, NULL,
           GROUP(placement.distance),
           "distance of the particles; 0: that of a fluid at rest, the diameter of grains"),
    MF_KEY("heading", MF_KEY_REAL, 0, "rad", "0", -10, 10, NULL, GROUP(placement.heading),
           "initial heading: east is 0, north pi/2"),
    MF_KEY("height", MF_KEY_REAL, 0, "m", "0", 0, 1e5, NULL, GROUP(placement.height),
           "added to the initial height"),
    MF_KEY("speed", MF_KEY_REAL, 0, "m/s", "0", 0, 1e3, NULL, GROUP(placement.speed),
           "initial speed along the heading; 0 for fixed wings: their design airspeed"),
    MF_KEY("keyframe", MF_KEY_TEXT, 0, "", "", 0, 0, NULL, GROUP(keyframe),
           "initial keyframe of an MJCF file; empty: the first, if there is one and no gait; "
           "`none`: the pose of the file"),
    MF_KEY("settle", MF_KEY_REAL, 0, "s", "0", 0, 100, NULL, GROUP(settle),
           "the world is simulated for this time before gaits begin; `run.duration`, `when.at`, "
           "fitness and films count from its end, the world's time (records, plugins) from its "
           "beginning"),
    MF_KEY("joint_noise", MF_KEY_REAL, 0, "rad/s", "0", 0, 100, NULL, GROUP(joint_noise),
           "largest random initial joint rate of all robots except the first"),
    MF_KEY_LISTED("initial", 0, &initial_table, GROUP(initial),
                  "initial values of every robot, applied in this order, each with the keys below"),
    MF_KEY("sensors", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL, GROUP(sensors),
           "the sensors of the model are computed; those that a genome's controller reads always "
           "are"),
    MF_KEY("cameras", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL, GROUP(cameras),
           "the cameras of the model take pictures at their own rates, for plugins, programs and "
           "records: fields camera.NAME.color, .depth and .segmentation"),

    MF_KEY("gaits", MF_KEY_NAMES, 0, "", NULL, 0, 0, NULL, GROUP(gaits),
           "gaits of the robots: names of files in gaits/<robot>/ next to the model, or paths "
           "relative to the folder of this file"),
    MF_KEY("controller", MF_KEY_VARIANT, 0, "", "none", 0, 0, controllers, GROUP(controller),
           "what a genome describes: `gp`, `oscillator` or `machine` with settings, or `none`"),
    SECTION("controller.gp", "one evolved machine-code program per robot; a genome is its 32 bytes"),
    MF_KEY("controller.gp.tick", MF_KEY_RATE, 0, "s", "0.08", 1e-6, 3600, NULL, GROUP(gp.rate),
           "period of the program; a multiple of world.step"),
    MF_KEY("controller.gp.instructions_per_tick", MF_KEY_COUNT, 0, "1", "8", 1, 256, NULL,
           GROUP(gp.instructions_per_tick), "instructions in one tick"),
    MF_KEY("controller.gp.angle_per_move", MF_KEY_REAL, MF_KEY_ABOVE, "rad", "0.06", 0, 1000, NULL,
           GROUP(gp.angle_per_move), "change of a joint's target by one move (m for sliding "
                                     "joints)"),
    MF_KEY("controller.gp.unknown", MF_KEY_CHOICE, 0, "", "wrap", 0, 0, unknowns,
           GROUP(gp.unknown), "a motor or sensor number that does not exist is ignored, or taken "
                              "modulo their number"),
    SECTION("controller.oscillator",
            "sine waves, one per joint; a genome is 3 bytes per joint and 1 for the common "
            "frequency"),
    MF_KEY("controller.oscillator.tick", MF_KEY_RATE, 0, "s", "0.08", 1e-6, 3600, NULL,
           GROUP(oscillator.rate), "period of target updates; a multiple of world.step"),
    SECTION("controller.machine",
            "bodies and networks at once: a genome is a machine of bars, actuators and neurons "
            "(docs/explanation/quasistatic.md)"),
    MF_KEY("controller.machine.cycle", MF_KEY_TIME, 0, "s", "0.2", 1e-6, 1e3, NULL,
           GROUP(machine.cycle), "period of the network, in whole steps"),
    MF_KEY("controller.machine.rest", MF_KEY_TIME, 0, "s", "0", 0, 1e3, NULL, GROUP(machine.rest),
           "time before the network's first cycle, in which the machine comes to rest; distances and "
           "run.duration count from its end"),
    MF_KEY("controller.machine.change", MF_KEY_REAL, MF_KEY_ABOVE, "m", "0.01", 0, 1e3, NULL,
           GROUP(machine.change), "most that an actuator changes in a cycle"),
    MF_KEY("controller.machine.strict", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL,
           GROUP(machine.strict), "a trial ends at the first step that jumps, is not relaxed, yields "
                                  "or buckles, and what was covered before counts"),
    SECTION("chain", "robots that are docked at the start, each to the next one"),
    MF_KEY("chain.first", MF_KEY_TEXT, 0, "", "", 0, 0, NULL, GROUP(chain.first),
           "dock of each robot; empty: no chain"),
    MF_KEY("chain.second", MF_KEY_TEXT, 0, "", "", 0, 0, NULL, GROUP(chain.second),
           "dock of the next robot, which is moved to it"),
    MF_KEY("chain.orientation", MF_KEY_COUNT, 0, "1", "0", 0, 3, NULL, GROUP(chain.orientation),
           "number of the orientation about the docks' axis"),
    MF_KEY("chain.closed", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL, GROUP(chain.closed),
           "the last robot is docked to the first one where their docks mate"),
    SECTION("dock_limits", "loads at which docks break, for all docks of the robot; 0: from the robot's file"),
    MF_KEY("dock_limits.tension", MF_KEY_REAL, 0, "N", "0", 0, 1e300, NULL,
           GROUP(dock_limits.tension), "force along a dock, apart"),
    MF_KEY("dock_limits.shear", MF_KEY_REAL, 0, "N", "0", 0, 1e300, NULL, GROUP(dock_limits.shear),
           "force across it"),
    MF_KEY("dock_limits.bending", MF_KEY_REAL, 0, "N m", "0", 0, 1e300, NULL,
           GROUP(dock_limits.bending), "moment across it"),
    MF_KEY("dock_limits.torsion", MF_KEY_REAL, 0, "N m", "0", 0, 1e300, NULL,
           GROUP(dock_limits.torsion), "moment about it"),
    MF_KEY("joint_slots", MF_KEY_COUNT, 0, "1", "0", 0, 16, NULL, GROUP(joint_slots),
           "run-time joints that a plugin may make for each robot, by requests in the fields "
           "joint_slot.* (docs/how_to/run_time_joints.md)"),
    MF_KEY_LISTED("plugins", 0, &plugin_table, GROUP(plugins),
                  "motions and controllers from shared libraries, each with the keys below"),
    MF_KEY_LISTED("switch", 0, &rule_table, GROUP(rules),
                  "rules for switching to another motion, each with the keys below"),

    MF_KEY("behavior", MF_KEY_VARIANT, 0, "", "hold", 0, 0, behaviors, GROUP(behavior.kind),
           "behavior of the robots; `hold`: hover, fly straight on, stand; `gait` and `soccer` "
           "are for robots with gaits; `snake` to `hormone` for modules and other robots; the others "
           "for vehicles"),
    SECTION("behavior.command", "constant values"),
    MF_KEY("behavior.command.mode", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL,
           GROUP(behavior.mode),
           "command mode. quadrotor: rotors, rates, attitude, velocity, position; fixed_wing: "
           "surfaces, autopilot, orbit; car: drive, speed, circle, waypoint"),
    MF_KEY_TUPLE("behavior.command.values", MF_KEY_NUMBERS, 8, MF_KEY_REQUIRED, "", NULL, -1e9, 1e9,
                 GROUP(behavior.values), "in the order of the mode's command fields, SI units"),
    SECTION("behavior.program", "commands that a program writes"),
    MF_KEY("behavior.program.mode", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL,
           GROUP(behavior.mode), "command mode, as in behavior.command"),
    SECTION("behavior.orbit", "evenly spaced around one circle, counterclockwise"),
    MF_KEY_TUPLE("behavior.orbit.center", MF_KEY_VECTOR, 2, 0, "m", "[0, 0]", -1e6, 1e6,
                 GROUP(behavior.center), "center of the circle"),
    MF_KEY("behavior.orbit.radius", MF_KEY_REAL, MF_KEY_ABOVE, "m", "100", 0, 1e6, NULL,
           GROUP(behavior.radius), "radius of the circle"),
    MF_KEY("behavior.orbit.height", MF_KEY_REAL, 0, "m", "50", -1e5, 1e5, NULL,
           GROUP(behavior.height), "in the world frame; cars stay on the ground"),
    MF_KEY("behavior.orbit.speed", MF_KEY_REAL, MF_KEY_ABOVE, "m/s", "5", 0, 1e3, NULL,
           GROUP(behavior.speed), "speed along the circle"),
    SECTION("behavior.formation", "evenly spaced on concentric circles"),
    MF_KEY_TUPLE("behavior.formation.center", MF_KEY_VECTOR, 2, 0, "m", "[0, 0]", -1e6, 1e6,
                 GROUP(behavior.center), "center of all circles"),
    MF_KEY("behavior.formation.circles", MF_KEY_COUNT, 0, "1", "5", 1, 1024, NULL,
           GROUP(behavior.circles), "number of circles"),
    MF_KEY("behavior.formation.radius", MF_KEY_REAL, MF_KEY_ABOVE, "m", "100", 0, 1e6, NULL,
           GROUP(behavior.radius), "radius of the innermost circle"),
    MF_KEY("behavior.formation.gap", MF_KEY_REAL, MF_KEY_ABOVE, "m", "20", 0, 1e6, NULL,
           GROUP(behavior.gap), "difference of radii"),
    MF_KEY("behavior.formation.height", MF_KEY_REAL, 0, "m", "50", -1e5, 1e5, NULL,
           GROUP(behavior.height), "height of the innermost circle, in the world frame"),
    MF_KEY("behavior.formation.rise", MF_KEY_REAL, 0, "m", "0", -1e4, 1e4, NULL,
           GROUP(behavior.rise), "difference of heights from circle to circle, outward"),
    MF_KEY("behavior.formation.alternate", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL,
           GROUP(behavior.alternate), "every second circle is flown clockwise"),
    MF_KEY("behavior.formation.separation", MF_KEY_REAL, 0, "m", "0", 0, 1e6, NULL,
           GROUP(behavior.separation),
           "quadrotors avoid detected neighbors nearer than this; 0: no avoidance; aircraft and cars "
           "stay on their circles and refuse it"),
    MF_KEY("behavior.formation.speed", MF_KEY_REAL, MF_KEY_ABOVE, "m/s", "5", 0, 1e3, NULL,
           GROUP(behavior.speed), "speed along the circles"),
    SECTION("behavior.waypoints",
            "from waypoint to waypoint; agents keep their relative positions"),
    MF_KEY_TUPLE("behavior.waypoints.points", MF_KEY_POINTS, 3, MF_KEY_REQUIRED, "m", NULL, -1e6,
                 1e6, GROUP(behavior.points), "waypoints of the group's center, in the world "
                                               "frame"),
    MF_KEY("behavior.waypoints.reached", MF_KEY_REAL, MF_KEY_ABOVE, "m", "5", 0, 1e6, NULL,
           GROUP(behavior.reached), "distance at which a waypoint counts as reached"),
    MF_KEY("behavior.waypoints.loop", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL,
           GROUP(behavior.loop), "repeat after the last"),
    MF_KEY("behavior.waypoints.speed", MF_KEY_REAL, MF_KEY_ABOVE, "m/s", "5", 0, 1e3, NULL,
           GROUP(behavior.speed), "speed between waypoints"),
    SECTION("behavior.flock", "Reynolds' boids: each agent acts on the neighbors that it detects"),
    MF_KEY("behavior.flock.speed", MF_KEY_REAL, MF_KEY_ABOVE, "m/s", "5", 0, 1e3, NULL,
           GROUP(behavior.speed), "speed of every agent"),
    MF_KEY("behavior.flock.separation", MF_KEY_REAL, MF_KEY_ABOVE, "m", "3", 0, 1e6, NULL,
           GROUP(behavior.separation), "neighbors nearer than this are avoided"),
    MF_KEY("behavior.flock.separation_weight", MF_KEY_REAL, 0, "1", "1.5", 0, 1e3, NULL,
           GROUP(behavior.separation_weight), "weight of the direction away from near neighbors"),
    MF_KEY("behavior.flock.alignment_weight", MF_KEY_REAL, 0, "1", "1", 0, 1e3, NULL,
           GROUP(behavior.alignment_weight), "weight of the neighbors' mean velocity"),
    MF_KEY("behavior.flock.cohesion_weight", MF_KEY_REAL, 0, "1", "1", 0, 1e3, NULL,
           GROUP(behavior.cohesion_weight), "weight of the direction to the neighbors' center"),
    MF_KEY("behavior.flock.goal_weight", MF_KEY_REAL, 0, "1", "0.2", 0, 1e3, NULL,
           GROUP(behavior.goal_weight), "weight of the direction to the goal"),
    MF_KEY_TUPLE("behavior.flock.goal", MF_KEY_VECTOR, 3, 0, "m", "[0, 0, 50]", -1e6, 1e6,
                 GROUP(behavior.goal), "common goal of all agents"),
    SECTION("behavior.gait", "one gait"),
    MF_KEY("behavior.gait.name", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL,
           GROUP(behavior.gait), "one of `gaits`"),
    MF_KEY_TUPLE("behavior.gait.command", MF_KEY_VECTOR, 3, MF_KEY_AUTO, "", "auto", -100, 100,
                 GROUP(behavior.gait_command), "forward [m/s], left [m/s], yaw [rad/s], clamped "
                                                "to the gait's range; `auto`: half of its largest "
                                                "forward command"),
    SECTION("behavior.soccer",
            "walk to the ball, kick it to the goal, keep a distance from others, get up; requires "
            "the gaits walk, stand, kick_left, kick_right, get_up_front and get_up_back"),
    MF_KEY("behavior.soccer.ball", MF_KEY_TEXT, 0, "", "ball", 0, 0, NULL,
           GROUP(behavior.soccer.ball), "the ball's group"),
    MF_KEY_TUPLE("behavior.soccer.goal", MF_KEY_VECTOR, 2, MF_KEY_REQUIRED, "m", NULL, -1e6, 1e6,
                 GROUP(behavior.soccer.goal), "center of the opponents' goal"),
    MF_KEY_TUPLE("behavior.soccer.own_goal", MF_KEY_VECTOR, 2, MF_KEY_REQUIRED, "m", NULL, -1e6,
                 1e6, GROUP(behavior.soccer.own_goal), "center of the own goal"),
    MF_KEY("behavior.soccer.field_width", MF_KEY_REAL, MF_KEY_ABOVE, "m", "6", 0, 1e6, NULL,
           GROUP(behavior.soccer.field_width), "distance between the touch lines"),
    MF_KEY("behavior.soccer.goal_width", MF_KEY_REAL, MF_KEY_ABOVE, "m", "2.6", 0, 1e6, NULL,
           GROUP(behavior.soccer.goal_width), "distance between the posts"),
    MF_KEY_TUPLE("behavior.soccer.kick", MF_KEY_VECTOR, 2, 0, "m", "[0.13, 0.04]", -10, 10,
                 GROUP(behavior.soccer.kick), "position of the ball for a kick with the left "
                                               "foot, forward and left of the base; mirrored for "
                                               "the right foot"),
    MF_KEY("behavior.soccer.speed", MF_KEY_REAL, MF_KEY_ABOVE, "m/s", "0.15", 0, 10, NULL,
           GROUP(behavior.soccer.speed), "walking speed"),
    MF_KEY("behavior.soccer.spacing", MF_KEY_REAL, 0, "m", "0.5", 0, 100, NULL,
           GROUP(behavior.soccer.spacing), "minimum distance from other robots"),
    MF_KEY("behavior.soccer.keeper", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL,
           GROUP(behavior.soccer.keeper), "the first robot is the goalkeeper; requires dive_left "
                                           "and dive_right, too"),
    SECTION("behavior.snake", "a wave along a chain of modules; the first one has the clock"),
    MF_KEY("behavior.snake.front", MF_KEY_TEXT, 0, "", "", 0, 0, NULL, GROUP(behavior.policy.front),
           "dock to the module before; empty: the first dock"),
    MF_KEY("behavior.snake.back", MF_KEY_TEXT, 0, "", "", 0, 0, NULL, GROUP(behavior.policy.back),
           "dock to the module behind; empty: the second dock"),
    POLICY_JOINT("snake"),
    POLICY_REAL("snake.amplitude", 0, "rad", "0.5", amplitude, "of the joints"),
    POLICY_REAL("snake.frequency", 0, "Hz", "0.5", frequency, "waves in a second"),
    POLICY_REAL("snake.lag", 0, "rad", "1",
                lag, "phase lag of a module behind the previous one"),
    POLICY_REAL("snake.offset", 0, "rad", "0", offset, "center of the joints"),
    SECTION("behavior.phase", "oscillators that synchronize by messages"),
    POLICY_JOINT("phase"),
    POLICY_REAL("phase.amplitude", 0, "rad", "0.5", amplitude, "of the joints"),
    POLICY_REAL("phase.frequency", 0, "Hz", "0.5", frequency, "mean of the natural frequencies"),
    POLICY_REAL("phase.coupling", 0, "1/s", "2", coupling, "rate of synchronization"),
    POLICY_REAL("phase.scatter", 0, "1", "0", scatter,
              "standard deviation of the natural frequencies, relative"),
    POLICY_REAL("phase.offset", 0, "rad", "0", offset, "center of the joints"),
    SECTION("behavior.track", "a closed chain of modules that rolls, over an accelerometer"),
    POLICY_JOINT("track"),
    MF_KEY("behavior.track.sensor", MF_KEY_TEXT, 0, "", "", 0, 0, NULL,
           GROUP(behavior.policy.sensor), "an accelerometer; empty: the first"),
    POLICY_REAL("track.bend", 0, "rad", "1.0471975511965976", offset,
              "mean angle of a joint: 2 pi by the number of modules"),
    POLICY_REAL("track.stretch", 0, "1", "0.3", stretch, "change of bends, relative"),
    POLICY_REAL("track.lean", 0, "rad", "0.8", lean,
              "of the long axis, from the horizontal, forward"),
    SECTION("behavior.unroll", "a track that opens the front dock of its first module and goes on as "
                               "a snake"),
    POLICY_JOINT("unroll"),
    MF_KEY("behavior.unroll.front", MF_KEY_TEXT, 0, "", "", 0, 0, NULL,
           GROUP(behavior.policy.front), "dock to the module before; empty: the first dock"),
    MF_KEY("behavior.unroll.back", MF_KEY_TEXT, 0, "", "", 0, 0, NULL, GROUP(behavior.policy.back),
           "dock to the module behind; empty: the second dock"),
    MF_KEY("behavior.unroll.sensor", MF_KEY_TEXT, 0, "", "", 0, 0, NULL,
           GROUP(behavior.policy.sensor), "an accelerometer; empty: the first"),
    POLICY_REAL("unroll.open", 0, "s", "5", open, "time at which the first module opens its dock"),
    POLICY_REAL("unroll.bend", 0, "rad", "1.0471975511965976", offset,
              "mean angle of a joint of the track: 2 pi by the number of modules"),
    POLICY_REAL("unroll.stretch", 0, "1", "0.3", stretch, "change of bends, relative"),
    POLICY_REAL("unroll.lean", 0, "rad", "0.8", lean,
              "of the track's long axis, from the horizontal, forward"),
    POLICY_REAL("unroll.amplitude", 0, "rad", "0.5", amplitude, "of the snake"),
    POLICY_REAL("unroll.frequency", 0, "Hz", "0.5", frequency, "waves of the snake in a second"),
    POLICY_REAL("unroll.lag", 0, "rad", "1",
                lag, "phase lag of a module behind the previous one"),
    SECTION("behavior.count", "each module counts those that are connected to it"),
    SECTION("behavior.leader", "modules that are connected elect one of them"),
    SECTION("behavior.spin", "joints turn at a constant speed"),
    POLICY_JOINT("spin"),
    POLICY_REAL("spin.speed", 0, "rad/s", "1", speed, "of the joints"),
    SECTION("behavior.wheels", "wheels drive on, and turn away from what a range sensor sees"),
    MF_KEY("behavior.wheels.left", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL,
           GROUP(behavior.policy.left), "joints of the left wheels, with spaces between"),
    MF_KEY("behavior.wheels.right", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL,
           GROUP(behavior.policy.right), "joints of the right wheels"),
    MF_KEY("behavior.wheels.sensor", MF_KEY_TEXT, 0, "", "", 0, 0, NULL,
           GROUP(behavior.policy.sensor), "a range sensor; empty: the first"),
    POLICY_REAL("wheels.speed", 0, "rad/s", "5", speed, "of the wheels"),
    POLICY_REAL("wheels.distance", 0, "m", "0.3", distance, "nearer obstacles are avoided"),
    POLICY_REAL("wheels.pivot_time", 0, "s", "0.5", pivot_time, "shortest time of a turn"),
    SECTION("behavior.car", "modules of cars that drive until two dock, drive on together, open a "
                            "dock and drive apart, by messages"),
    POLICY_JOINT("car"),
    MF_KEY("behavior.car.front", MF_KEY_TEXT, 0, "", "", 0, 0, NULL, GROUP(behavior.policy.front),
           "dock whose engaging ends the approach; empty: none of this module"),
    MF_KEY("behavior.car.back", MF_KEY_TEXT, 0, "", "", 0, 0, NULL, GROUP(behavior.policy.back),
           "dock that opens in the end; empty: none of this module"),
    POLICY_REAL("car.speed", 0, "rad/s", "0", speed, "of the joints during the approach"),
    POLICY_REAL("car.together", 0, "rad/s", "0", together, "of the joints when docked"),
    POLICY_REAL("car.apart", 0, "rad/s", "0", apart, "of the joints after the car has parted"),
    POLICY_REAL("car.wait", 0, "s", "2", wait,
              "time that docked cars stand, drive together, and stand again"),
    SECTION("behavior.arm", "modules of an arm: damped-least-squares inverse kinematics by messages; "
                            "the module without joints that has the targets is its root"),
    POLICY_JOINT("arm"),
    MF_KEY("behavior.arm.front", MF_KEY_TEXT, 0, "", "", 0, 0, NULL, GROUP(behavior.policy.front),
           "dock towards the tip; empty: the first dock"),
    MF_KEY("behavior.arm.back", MF_KEY_TEXT, 0, "", "", 0, 0, NULL, GROUP(behavior.policy.back),
           "dock towards the root; empty: the second dock"),
    MF_KEY_TUPLE("behavior.arm.points", MF_KEY_POINTS, 3, 0, "m", NULL, -1e3, 1e3,
                 GROUP(behavior.points), "targets of the tip's front dock, in the root's frame"),
    POLICY_REAL("arm.wait", 0, "s", "3", wait, "time for which each is the target"),
    POLICY_REAL("arm.length", 0, "", "1", length,
              "least number of modules with joints to reach for targets; with fewer: the posture"),
    POLICY_REAL("arm.posture", 0, "rad", "0", posture, "of the joints with fewer modules"),
    POLICY_REAL("arm.speed", 0, "rad/s", "1", speed, "of joints, at most"),
    POLICY_REAL("arm.coupling", 0, "1/s", "3", coupling, "rate at which the error decays"),
    POLICY_REAL("arm.damping", 0, "m", "0.02", damping, "of the least squares"),
    SECTION("behavior.hormone", "a wave from a head that connected modules choose, anew whenever they "
                                "split or merge, by messages"),
    POLICY_JOINT("hormone"),
    POLICY_REAL("hormone.amplitude", 0, "rad", "0.5", amplitude, "of the joints"),
    POLICY_REAL("hormone.frequency", 0, "Hz", "0.5", frequency, "waves in a second"),
    POLICY_REAL("hormone.lag", 0, "rad", "1", lag,
              "phase lag of a module behind the one nearer to the head"),
    POLICY_REAL("hormone.coupling", 0, "1/s", "2", coupling, "rate of synchronization"),
    POLICY_REAL("hormone.offset", 0, "rad", "0", offset, "center of the joints"),
    MF_KEY("behavior_interval", MF_KEY_RATE, 0, "s", "0.05", 1e-6, 3600, NULL,
           GROUP(behavior.rate), "period of behavior updates"),
    MF_KEY("color", MF_KEY_CHOICE, 0, "", "auto", 0, 0, colors, GROUP(color),
           "color in films and pictures of cameras; `file`: as in the model's file; `auto`: blue, "
           "red, yellow ... in the order of the groups with joints if there are several, else as "
           "`file`"),
};
// clang-format on

static void start(void *base) {
    mf_SceneGroup *group = base;
    group->import = mf_import_config();
    group->motions = mf_motions_config();
    group->motions.points.joint_interval = 0; // chosen by the builder
    group->motions.articulated.integrator = MF_ARTICULATED_OF_MODEL;
    group->gp = mf_gp_config();
    group->oscillator = mf_oscillator_config();
}

// Empty lists, packages and paths cannot be written.
static bool applies(const void *base, const mf_Key *key) {
    const mf_SceneGroup *group = base;
    if (key->kind == MF_KEY_PACKAGES)
        return group->import.package_count != 0;
    if (strcmp(key->path, "rotor_area") == 0)
        return mf_group_vehicle(group) != NULL &&
               mf_group_vehicle(group)->kind == MF_VEHICLE_QUADROTOR;
    if (strcmp(key->path, "model") == 0)
        return group->model_path != NULL;
    return strcmp(key->path, "import.root") != 0 || group->import.root != NULL;
}

static const mf_KeyJoint motion_keys = {.count = mf_motion_key_count,
                                        .key = mf_motion_key,
                                        .behind = keys_behind,
                                        .behind_count = sizeof keys_behind / sizeof *keys_behind};

// Keys of motions have offsets in mf_MotionsConfig.
_Static_assert(offsetof(mf_SceneGroup, motions) == 0, "settings of motions come first");

const mf_KeyTable mf_scene_group_table = {MF_KEY_ROWS("group", group_keys, mf_SceneGroup),
                                          .start = start, .applies = applies,
                                          .joint = &motion_keys};
