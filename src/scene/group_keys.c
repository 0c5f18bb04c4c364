// The keys of the groups of a scene and of the lists in them.
#include "motion/table.h"
#include "body/kind.h"
#include "base/key_rows.h"
#include "scene/keys.h"

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
static const char *const behaviors[] = {"hold",      "command", "program", "orbit",   "formation",
                                        "waypoints", "flock",   "gait",    "snake",   "phase",
                                        "track",     "unroll",  "count",   "leader",  "spin",
                                        "wheels",    "car",     "arm",     "hormone", NULL};
_Static_assert(sizeof behaviors / sizeof *behaviors == MF_BEHAVIOR_LAST + 2,
               "choices are in the order of mf_BehaviorKind");
static const char *const colors[] = {"auto",   "file", "blue", "red",   "yellow", "green", "orange",
                                     "purple", "cyan", "pink", "brown", "white",  "black", NULL};

// Enums are read and written as int, lists as a pointer followed by a count.
#define IS_INT(type) (sizeof(type) == sizeof(int))
_Static_assert(IS_INT(mf_PlacementKind) && IS_INT(mf_ControllerKind) && IS_INT(mf_GpUnknown) &&
                   IS_INT(mf_SwitchEvent) && IS_INT(mf_SignalKind) && IS_INT(mf_BehaviorKind) &&
                   IS_INT(mf_SceneColor) && IS_INT(mf_RandomOperation) &&
                   IS_INT(mf_RandomDistribution),
               "choices are stored as int");
#define LISTED MF_KEY_IS_LIST
_Static_assert(
    LISTED(mf_SceneGroup, initial, initial_count) && LISTED(mf_SceneGroup, random, random_count) &&
        LISTED(mf_SceneGroup, inputs, input_count) && LISTED(mf_SceneInput, times, time_count) &&
        LISTED(mf_SceneInput, values, value_count) && LISTED(mf_SceneGroup, gaits, gait_count) &&
        LISTED(mf_SceneGroup, values, value_count) &&
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

// clang-format off
#define T mf_InitialValue
static const mf_Key initial_keys[] = {
    TEXT("property", REQUIRED, NULL, path, "path within the robot (mayfly info --fields lists "
         "all), such as knee/joint.angle or base.linear_velocity.x; * matches any part of a name"),
    TUPLE("values", NUMBERS, MF_INITIAL_VALUES, REQUIRED, "", NULL, -1e300, 1e300, values,
          "in the property's unit: one for each of its values, or one for all"),
};
#undef T

static const mf_KeyTable initial_table = {
    MF_KEY_ROWS("initial value", initial_keys, mf_InitialValue)};

#define T mf_SceneRandom
static const char *const operations[] = {"scale", "add", "set", NULL}; // as mf_RandomOperation
static const char *const distributions[] = {"uniform", "logarithmic", "normal", NULL};
static const mf_Key random_keys[] = {
    TEXT("number", REQUIRED, NULL, path, "of links, joints, shapes or actuators "
         "(docs/reference/model_fields.md): link.mass of all links, trunk/link.mass of one, "
         "*_calf/link.mass of some, shape.friction.0 of one component; * matches any part of a "
         "name. All components of an item get the same draw"),
    CHOICE("operation", 0, "scale", operations, operation, "what is drawn is a factor of the "
           "model's number (of a mass the inertia follows, of a gain the bias), is added to it, or "
           "takes its place"),
    CHOICE("distribution", 0, "uniform", distributions, distribution, "`logarithmic`: uniform in "
           "the logarithm"),
    VECTOR("range", 2, REQUIRED, "", NULL, -1e300, 1e300, range, "lowest and largest value; "
           "`normal`: mean and standard deviation"),
};
#undef T

static const mf_KeyTable random_table = {
    MF_KEY_ROWS("random number", random_keys, mf_SceneRandom)};

#define T mf_SceneInput
static const char *const signals[] = {"sine", "table", NULL};
static const mf_Key input_keys[] = {
    TEXT("property", REQUIRED, NULL, path, "path of an input within the robot (mayfly info "
         "--fields lists all), such as knee/joint.target or actuator.control[0]; * matches any "
         "part of a name"),
    VARIANT("signal", REQUIRED, NULL, signals, signal, "its value as a function of time"),
    SECTION("signal.sine", "mean + amplitude sin(2 pi time / period + phase)"),
    REAL("signal.sine.mean", 0, "", "0", -1e300, 1e300, mean, "in the property's unit"),
    REAL("signal.sine.amplitude", REQUIRED, "", NULL, -1e300, 1e300, amplitude,
         "in the property's unit"),
    REAL("signal.sine.period", REQUIRED | ABOVE, "s", NULL, 0, 1e9, period, "of an oscillation"),
    REAL("signal.sine.phase", 0, "rad", "0", -1e6, 1e6, phase, "at time 0"),
    SECTION("signal.table", "values at times, linear between them, constant before and after"),
    TUPLE("signal.table.times", NUMBERS, MF_INITIAL_VALUES, REQUIRED, "s", NULL, 0, 1e9, times,
          "times, each later than the one before"),
    TUPLE("signal.table.values", NUMBERS, MF_INITIAL_VALUES, REQUIRED, "", NULL, -1e300, 1e300,
          values, "in the property's unit, one for each time"),
    FLAG("signal.table.repeat", "false", repeat, "the table begins anew at its last time"),
};
#undef T

static const mf_KeyTable input_table = {MF_KEY_ROWS("input", input_keys, mf_SceneInput)};

#define T mf_SwitchRule
static const mf_Key rule_keys[] = {
    CHOICE("to", REQUIRED, NULL, switched, to_name, "the motion to which a robot switches"),
    VARIANT("when", REQUIRED, NULL, events, event,
            "the condition; the first rule whose condition is true applies"),
    SECTION("when.at", "a time"),
    REAL("when.at.time", REQUIRED, "s", NULL, 0, 1e9, time,
         "simulated time; the rule applies once, then"),
    SECTION("when.near", "a robot of a group is near"),
    TEXT("when.near.group", REQUIRED, NULL, group, "the group's name"),
    REAL("when.near.distance", REQUIRED, "m", NULL, 0, 1e6, distance,
         "the horizontal distance between the origins of the bases is less than this"),
    SECTION("when.far", "no robot of a group is near"),
    TEXT("when.far.group", REQUIRED, NULL, group, "the group's name"),
    REAL("when.far.distance", REQUIRED, "m", NULL, 0, 1e6, distance,
         "all distances are larger than this"),
    SECTION("when.tilted", "the robot is tilted"),
    REAL("when.tilted.angle", REQUIRED, "rad", NULL, 0, 3.1415926535897932, tilt,
         "the angle between the base's z axis and the vertical is larger than this"),
};
#undef T

static const mf_KeyTable rule_table = {MF_KEY_ROWS("rule", rule_keys, mf_SwitchRule)};

#define T mf_ScenePlugin
static const mf_Key plugin_keys[] = {
    KEY("file", FILE, REQUIRED, "", NULL, 0, 0, NULL, path,
        "shared library, relative to the folder of this file (docs/how_to/plugins.md)"),
    RATE("tick", AUTO, "s", "auto", 1e-6, 3600, tick, "period of calls of a controller, a multiple "
         "of world.step; `auto`: control_interval; motions are called in every step"),
    KEY("settings", NAMED, 0, "", NULL, -1e300, 1e300, NULL, values,
        "settings of the plugin, in its units"),
};
#undef T

static const mf_KeyTable plugin_table = {MF_KEY_ROWS("plugin", plugin_keys, mf_ScenePlugin)};

#define T mf_SceneGroup
static const mf_Key group_keys[] = {
    TEXT("name", REQUIRED, NULL, name,
         "name of the group in summaries, records, rules and overrides"),
    KEY("model", FILE, 0, "", NULL, 0, 0, NULL, model_path,
        "file of the robot (URDF or MJCF), vehicle, truss or cloth (YAML), relative to the folder "
        "of this file; a robot without joints that is fixed in the world is scenery. Required, "
        "except for `controller: machine`, where it is the truss from which evolution starts"),
    SECTION("import", "how a URDF or MJCF file is read"),
    KEY("import.packages", PACKAGES, 0, "", NULL, 0, 0, NULL, import,
        "folders for package:// addresses, one `name: folder` each; other packages are searched "
        "for upward from the model"),
    FLAG("import.keep_fixed", "false", import.keep_fixed,
         "keep links behind fixed joints as separate links instead of merging them"),
    FLAG("import.visual", "true", import.visual, "load visual meshes too"),
    COUNT("import.mesh_points", 0, "8", 1, 4096, import.mesh_points,
          "contact points of each collision mesh"),
    REAL("import.density", 0, "kg/m^3", "0", 0, 1e6, import.density,
         "density of links without mass, over the volume of what collides; 0: they have no mass"),
    CHOICE("import.inertia", 0, "file", inertias, import.inertia,
           "inertias of a URDF that are impossible for its geometry: `file`: kept, with a note; "
           "`geometry`: replaced by those of uniform boxes around the geometry"),
    KEY("import.root", FILE, 0, "", NULL, 0, 0, NULL, import.root,
        "folder that meshes and includes may not leave by `..`, a link or an absolute path; none: "
        "the package around the model"),
    FLAG("import.lenient", "true", import.lenient,
         "drop unsupported physical elements, with a note; false: reject the file"),
    CHOICE("base", 0, "auto", bases, import.base, "whether the base of a URDF robot moves: `free`, "
           "or `fixed` in the world at the coordinates of its file; `auto`: a root link `world` "
           "without mass is fixed, as is a root without mass"),
    COUNT("count", 0, "1", 1, 1 << 26, count, "number of robots; in a search search.population"),
    KEY("precision", DOUBLE, 0, "", "float", 0, 0, precisions, double_precision,
        "precision of the state: `float` is fast, `double` is for verification and always that of "
        "trusses"),
    FLAG("isolated", "false", isolated,
         "every robot of the group has its own copy of the world; always so in a search"),

    VARIANT("motion", 0, "auto", motions, motion_name, "the initial motion: a name, or a name with "
            "settings; `auto`: the vehicle's, `quasistatic` for trusses, `cloth` for cloths, else "
            "`articulated`; `own`: the first motion in `plugins` (docs/explanation/ladder.md)"),
};

// Keys after the motions' own, which are in the motions' folders.
static const mf_Key placing_keys[] = {
    TIME("control_interval", AUTO, "s", "auto", 1e-6, 10, control_interval,
         "period of gaits, joint paths and control loops of vehicles, a multiple of world.step; "
         "`auto`: the tick of `controller`, else 10 ms; vehicles: every step"),
    SECTION("servo", "servos of the joints, for `articulated`"),
    REAL("servo.gain", 0, "N m/rad", "0", 0, 1e9, servo.gain,
         "torque per angle error (N/m for sliding joints); 0: from the robot's file"),
    REAL("servo.damping", 0, "N m s/rad", "0", 0, 1e9, servo.damping,
         "torque per joint rate, opposing it (N s/m for sliding joints); 0: from the robot's file"),
    REAL("servo.speed", 0, "rad/s", "0", 0, 1e9, servo.speed, "largest speed at which a servo "
         "drives its joint (m/s for sliding joints); 0: that of the joint"),
    REAL("servo.stiffness", ABOVE, "1", "1", 0, 1e6, servo.stiffness,
         "factor of the gain of every servo; its square root is the factor of the damping"),
    FLAG("servo.inputs", "false", servo.inputs,
         "gains, target rates and torques of the servos are inputs that change while the world "
         "runs: servo.gain, servo.damping, servo.target_rate, servo.torque"),
    FLAG("servo.limits", "true", motions.articulated.input_limits,
         "effort and velocity of a URDF's joints hold for joint.torque and the inputs of servos, "
         "too; false: for joint.target alone"),
    SECTION("contact", "contact of the group's robots"),
    FLAG("contact.shapes", "true", contact_shapes, "whole shapes touch the ground; false: only the "
         "model's contact points, which is faster; `points` always uses points"),
    FLAG("contact.self", "true", contact_self, "links of one robot collide, for `articulated`"),
    FLAG("contact.others", "true", contact_others,
         "collides with other robots, including those of its own group"),
    REAL("contact.friction", AUTO, "1", "auto", 0, 100, friction,
         "friction coefficient with the ground; `auto`: that of the model"),
    REAL("rotor_area", 0, "m^2", "0", 0, 1e6, rotor_area,
         "total area of all rotor discs; above 0 quadrotors cause downwash if air.downwash is set"),

    VARIANT("placement", 0, "line", placements, placement.kind,
            "initial poses; heights are above the ground, robots that cannot fly stand on it"),
    SECTION("placement.line", "side by side along y; isolated robots all at the origin"),
    REAL("placement.line.distance", ABOVE, "m", "1", 0, 1e6, placement.distance,
         "distance between neighbors"),
    TUPLE("placement.poses", POINTS, 3, 0, "", NULL, -1e6, 1e6, placement.poses,
          "x [m], y [m] and heading [rad] of each robot"),
    SECTION("placement.grid", "rows, columns and layers"),
    VECTOR("placement.grid.center", 3, 0, "m", "[0, 0, 0]", -1e6, 1e6, placement.center,
           "center of the lowest layer"),
    VECTOR("placement.grid.spacing", 3, ABOVE, "m", "[5, 5, 5]", 0, 1e6, placement.spacing,
           "distance between columns, rows and layers"),
    COUNT("placement.grid.columns", 0, "0", 0, 1 << 26, placement.columns,
          "robots along x; 0: equal to the number of rows"),
    COUNT("placement.grid.layers", 0, "1", 1, 1 << 26, placement.layers, "number of layers"),
    SECTION("placement.circle", "evenly on a circle"),
    VECTOR("placement.circle.center", 3, 0, "m", "[0, 0, 0]", -1e6, 1e6, placement.center,
           "center of the circle"),
    REAL("placement.circle.radius", ABOVE, "m", "100", 0, 1e6, placement.radius,
         "radius of the circle"),
    FLAG("placement.circle.along", "false", placement.along,
         "face along the circle, counterclockwise, instead of `heading`"),
    SECTION("placement.random", "at random in a box, without overlap"),
    VECTOR("placement.random.lower", 3, 0, "m", "[-100, -100, 10]", -1e6, 1e6, placement.lower,
           "low corner of the box"),
    VECTOR("placement.random.upper", 3, 0, "m", "[100, 100, 60]", -1e6, 1e6, placement.upper,
           "high corner of the box"),
    REAL("placement.random.distance", 0, "m", "0", 0, 1e6, placement.distance,
         "minimum distance of centers; 0: no contact"),
    KEY("placement.random.seed", SEED, 0, "1", "1", 0, 0, NULL, placement.seed,
        "seed of the initial poses"),
    SECTION("placement.fill", "particles side by side in a box, layer by layer from its low corner "
            "on; those that do not fit wait for an emitter"),
    VECTOR("placement.fill.lower", 3, REQUIRED, "m", NULL, -1e6, 1e6, placement.lower,
           "low corner of the box, in the world"),
    VECTOR("placement.fill.upper", 3, REQUIRED, "m", NULL, -1e6, 1e6, placement.upper,
           "high corner of the box"),
    REAL("placement.fill.spacing", 0, "m", "0", 0, 1e6, placement.distance,
         "distance of the particles; 0: that of a fluid at rest, the diameter of others"),
    REAL("heading", 0, "rad", "0", -10, 10, placement.heading,
         "initial heading: east is 0, north pi/2"),
    REAL("height", 0, "m", "0", 0, 1e5, placement.height, "added to the initial height"),
    REAL("speed", 0, "m/s", "0", 0, 1e3, placement.speed,
         "initial speed along the heading; 0 for fixed wings: their design airspeed"),
    TEXT("keyframe", 0, "", keyframe, "initial keyframe of an MJCF file; empty: the first, if "
         "there is one and no gait; `none`: the pose of the file"),
    REAL("settle", 0, "s", "0", 0, 100, settle, "the world is simulated for this time before gaits "
         "begin; `run.duration`, `when.at`, fitness and films count from its end, the world's time "
         "(records, plugins) from its beginning"),
    REAL("joint_noise", 0, "rad/s", "0", 0, 100, joint_noise,
         "largest random initial joint rate of all robots except the first"),
    LIST("initial", 0, &initial_table, initial,
         "initial values of every robot, applied in this order, each with the keys below"),
    LIST("randomize", 0, &random_table, random,
         "numbers of the model that are drawn for each robot by world.seed, at the start and at each "
         "of its resets, and in a search for each genome, so that a robot moves as one of its own "
         "file; of isolated robots at `articulated` (of joints at `points` too); each with the keys "
         "below"),
    LIST("inputs", 0, &input_table, inputs,
         "inputs of every robot that follow a function of time, each with the keys below"),
    FLAG("sensors", "true", sensors, "the sensors of the model are computed; those that a genome's "
         "controller reads always are"),
    FLAG("cameras", "false", cameras, "the cameras of the model take pictures at their own rates, "
         "for plugins, programs and records: fields camera.NAME.color, .depth and .segmentation"),

    KEY("gaits", NAMES, 0, "", NULL, 0, 0, NULL, gaits, "gaits of the robots: names of files in "
        "gaits/<robot>/ next to the model, or paths relative to the folder of this file"),
    KEY("values", NAMES, 0, "", NULL, 0, 0, NULL, values, "values of the scene's own, 0 at first: "
        "fields value.NAME, which scripts and programs read and write; a run prints their sums, and "
        "where value.score rises there is the event `score`"),
    VARIANT("controller", 0, "none", controllers, controller,
            "what a genome describes: `gp`, `oscillator` or `machine` with settings, or `none`"),
    SECTION("controller.gp",
            "one evolved machine-code program per robot; a genome is its 32 bytes"),
    RATE("controller.gp.tick", 0, "s", "0.08", 1e-6, 3600, gp.rate,
         "period of the program; a multiple of world.step"),
    COUNT("controller.gp.instructions_per_tick", 0, "8", 1, 256, gp.instructions_per_tick,
          "instructions in one tick"),
    REAL("controller.gp.angle_per_move", ABOVE, "rad", "0.06", 0, 1000, gp.angle_per_move,
         "change of a joint's target by one move (m for sliding joints)"),
    CHOICE("controller.gp.unknown", 0, "wrap", unknowns, gp.unknown,
           "a motor or sensor number that does not exist is ignored, or taken modulo their number"),
    SECTION("controller.oscillator", "sine waves, one per joint; a genome is 3 bytes per joint and "
            "1 for the common frequency"),
    RATE("controller.oscillator.tick", 0, "s", "0.08", 1e-6, 3600, oscillator.rate,
         "period of target updates; a multiple of world.step"),
    SECTION("controller.machine", "bodies and networks at once: a genome is a machine of bars, "
            "actuators and neurons (docs/explanation/quasistatic.md)"),
    TIME("controller.machine.cycle", 0, "s", "0.2", 1e-6, 1e3, machine.cycle,
         "period of the network, in whole steps"),
    TIME("controller.machine.rest", 0, "s", "0", 0, 1e3, machine.rest,
         "time before the network's first cycle, in which the machine comes to rest; distances and "
         "run.duration count from its end"),
    REAL("controller.machine.change", ABOVE, "m", "0.01", 0, 1e3, machine.change,
         "most that an actuator changes in a cycle"),
    FLAG("controller.machine.strict", "true", machine.strict, "a trial ends at the first step that "
         "jumps, is not relaxed, yields or buckles, and what was covered before counts"),
};

static const mf_Key joining_keys[] = {
    COUNT("joint_slots", 0, "0", 0, 16, joint_slots, "run-time joints that a plugin may make for "
          "each robot, by requests in the fields joint_slot.* (docs/how_to/run_time_joints.md)"),
    LIST("plugins", 0, &plugin_table, plugins,
         "motions and controllers from shared libraries, each with the keys below"),
    LIST("switch", 0, &rule_table, rules,
         "rules for switching to another motion, each with the keys below"),

    VARIANT("behavior", 0, "hold", behaviors, behavior.kind, "behavior of the robots; `hold`: "
            "hover, fly straight on, stand; `gait` is for robots with gaits; `snake` "
            "to `hormone` for modules and other robots; the others for vehicles"),
    SECTION("behavior.command", "constant values"),
    TEXT("behavior.command.mode", REQUIRED, NULL, behavior.mode,
         "command mode. quadrotor: rotors, rates, attitude, velocity, position; fixed_wing: "
         "surfaces, autopilot, orbit; car: drive, speed, circle, waypoint"),
    TUPLE("behavior.command.values", NUMBERS, 8, REQUIRED, "", NULL, -1e9, 1e9, behavior.values,
          "in the order of the mode's command fields, SI units"),
    SECTION("behavior.program", "commands that a program writes"),
    TEXT("behavior.program.mode", REQUIRED, NULL, behavior.mode,
         "command mode, as in behavior.command"),
    SECTION("behavior.orbit", "evenly spaced around one circle, counterclockwise"),
    VECTOR("behavior.orbit.center", 2, 0, "m", "[0, 0]", -1e6, 1e6, behavior.center,
           "center of the circle"),
    REAL("behavior.orbit.radius", ABOVE, "m", "100", 0, 1e6, behavior.radius,
         "radius of the circle"),
    REAL("behavior.orbit.height", 0, "m", "50", -1e5, 1e5, behavior.height,
         "in the world frame; cars stay on the ground"),
    REAL("behavior.orbit.speed", ABOVE, "m/s", "5", 0, 1e3, behavior.speed,
         "speed along the circle"),
    SECTION("behavior.formation", "evenly spaced on concentric circles"),
    VECTOR("behavior.formation.center", 2, 0, "m", "[0, 0]", -1e6, 1e6, behavior.center,
           "center of all circles"),
    COUNT("behavior.formation.circles", 0, "5", 1, 1024, behavior.circles, "number of circles"),
    REAL("behavior.formation.radius", ABOVE, "m", "100", 0, 1e6, behavior.radius,
         "radius of the innermost circle"),
    REAL("behavior.formation.gap", ABOVE, "m", "20", 0, 1e6, behavior.gap, "difference of radii"),
    REAL("behavior.formation.height", 0, "m", "50", -1e5, 1e5, behavior.height,
         "height of the innermost circle, in the world frame"),
    REAL("behavior.formation.rise", 0, "m", "0", -1e4, 1e4, behavior.rise,
         "difference of heights from circle to circle, outward"),
    FLAG("behavior.formation.alternate", "false", behavior.alternate,
         "every second circle is flown clockwise"),
    REAL("behavior.formation.separation", 0, "m", "0", 0, 1e6, behavior.separation,
         "quadrotors avoid detected neighbors nearer than this; 0: no avoidance; aircraft and cars "
         "stay on their circles and refuse it"),
    REAL("behavior.formation.speed", ABOVE, "m/s", "5", 0, 1e3, behavior.speed,
         "speed along the circles"),
    SECTION("behavior.waypoints",
            "from waypoint to waypoint; agents keep their relative positions"),
    TUPLE("behavior.waypoints.points", POINTS, 3, REQUIRED, "m", NULL, -1e6, 1e6, behavior.points,
          "waypoints of the group's center, in the world frame"),
    REAL("behavior.waypoints.reached", ABOVE, "m", "5", 0, 1e6, behavior.reached,
         "distance at which a waypoint counts as reached"),
    FLAG("behavior.waypoints.loop", "true", behavior.loop, "repeat after the last"),
    REAL("behavior.waypoints.speed", ABOVE, "m/s", "5", 0, 1e3, behavior.speed,
         "speed between waypoints"),
    SECTION("behavior.flock", "Reynolds' boids: each agent acts on the neighbors that it detects"),
    REAL("behavior.flock.speed", ABOVE, "m/s", "5", 0, 1e3, behavior.speed, "speed of every agent"),
    REAL("behavior.flock.separation", ABOVE, "m", "3", 0, 1e6, behavior.separation,
         "neighbors nearer than this are avoided"),
    REAL("behavior.flock.separation_weight", 0, "1", "1.5", 0, 1e3, behavior.separation_weight,
         "weight of the direction away from near neighbors"),
    REAL("behavior.flock.alignment_weight", 0, "1", "1", 0, 1e3, behavior.alignment_weight,
         "weight of the neighbors' mean velocity"),
    REAL("behavior.flock.cohesion_weight", 0, "1", "1", 0, 1e3, behavior.cohesion_weight,
         "weight of the direction to the neighbors' center"),
    REAL("behavior.flock.goal_weight", 0, "1", "0.2", 0, 1e3, behavior.goal_weight,
         "weight of the direction to the goal"),
    VECTOR("behavior.flock.goal", 3, 0, "m", "[0, 0, 50]", -1e6, 1e6, behavior.goal,
           "common goal of all agents"),
    SECTION("behavior.gait", "one gait"),
    TEXT("behavior.gait.name", REQUIRED, NULL, behavior.gait, "one of `gaits`"),
    VECTOR("behavior.gait.command", 3, AUTO, "", "auto", -100, 100, behavior.gait_command,
           "forward [m/s], left [m/s], yaw [rad/s], clamped to the gait's range; `auto`: half of "
           "its largest forward command"),
};

static const mf_Key last_keys[] = {
    RATE("behavior_interval", 0, "s", "0.05", 1e-6, 3600, behavior.rate,
         "period of behavior updates"),
    CHOICE("color", 0, "auto", colors, color, "color in films and pictures of cameras; `file`: as "
           "in the model's file; `auto`: blue, red, yellow ... in the order of the groups with "
           "joints if there are several, else as `file`"),
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

static const mf_KeyPart motion_part = {.total = mf_motion_key_count, .key = mf_motion_key},
                        placing_part = {MF_KEY_PART(placing_keys)},
                        joining_part = {MF_KEY_PART(joining_keys)},
                        last_part = {MF_KEY_PART(last_keys)};
static const mf_KeyPart *const parts[] = {
    &motion_part, &placing_part, &mf_scene_chain_keys, &joining_part, &mf_scene_policy_keys,
    &last_part,   NULL};

// Keys of motions have offsets in mf_MotionsConfig.
_Static_assert(offsetof(mf_SceneGroup, motions) == 0, "settings of motions come first");

const mf_KeyTable mf_scene_group_table = {MF_KEY_ROWS("group", group_keys, mf_SceneGroup),
                                          .start = start, .applies = applies, .parts = parts};
