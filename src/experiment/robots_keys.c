// The keys of files of robots: those of the world and, as lists, those of its groups and of their
// changes of motion.
#include "experiment/ground_keys.h"
#include "experiment/robots_keys.h"

#include <string.h>

static const char *const precisions[] = {"float", "double", NULL};
static const char *const motions[] = {"kinematic",   "points", "rigid", "prescribed",
                                      "articulated", "own",    NULL};
static const char *const colors[] = {"auto",   "file", "blue", "red",   "yellow", "green", "orange",
                                     "purple", "cyan", "pink", "brown", "white",  "black", NULL};
static const char *const events[] = {"at", "near", "far", "tilted", NULL};
static const char *const behaviours[] = {"none", "gait", "soccer", NULL};

// Enums are read and written as int, lists as a pointer with a number behind it.
_Static_assert(sizeof(mf_Motion) == sizeof(int) && sizeof(mf_SwitchEvent) == sizeof(int) &&
                   sizeof(mf_RobotsBehaviourKind) == sizeof(int) &&
                   sizeof(mf_RobotsColor) == sizeof(int),
               "choices are stored as int");
#define LISTED(type, entries, number)                                                              \
    (offsetof(type, number) - offsetof(type, entries) == offsetof(mf_KeyList, count))
_Static_assert(LISTED(mf_RobotsGroup, gaits, gait_count) &&
                   LISTED(mf_RobotsGroup, places, place_count) &&
                   LISTED(mf_RobotsGroup, rules, rule_count) &&
                   LISTED(mf_RobotsGroup, plugins, plugin_count) &&
                   LISTED(mf_RobotsPlugin, values, value_count) &&
                   LISTED(mf_Robots, record_fields, record_field_count) &&
                   LISTED(mf_Robots, groups, group_count),
               "lists are stored as mf_KeyList");
_Static_assert(sizeof(mf_PluginValue) == sizeof(mf_KeyNamed) &&
                   offsetof(mf_PluginValue, value) == offsetof(mf_KeyNamed, value),
               "settings are stored as mf_KeyNamed");
_Static_assert((int)MF_ROBOTS_OWN == sizeof motions / sizeof *motions - 2 &&
                   (int)MF_ROBOTS_COLORS == sizeof colors / sizeof *colors - 1,
               "choices are in the order of their enums");

#define PLUGIN(member) offsetof(mf_RobotsPlugin, member)
#define RULE(member) offsetof(mf_SwitchRule, member)
#define GROUP(member) offsetof(mf_RobotsGroup, member)
#define ROBOTS(member) offsetof(mf_Robots, member)
#define NOWHERE MF_KEY_NOWHERE

// clang-format off
static const mf_Key rule_keys[] = {
    MF_KEY("to", MF_KEY_CHOICE, MF_KEY_REQUIRED, "", NULL, 0, 0, motions, RULE(to),
           "the motion that a robot changes to"),
    MF_KEY("when", MF_KEY_VARIANT, MF_KEY_REQUIRED, "", NULL, 0, 0, events, RULE(event),
           "what makes it change; the first rule of the list that holds counts"),
    MF_KEY("when.at", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE, "a time"),
    MF_KEY("when.at.time", MF_KEY_REAL, MF_KEY_REQUIRED, "s", NULL, 0, 1e9, NULL, RULE(time),
           "simulated time; the rule counts once, then"),
    MF_KEY("when.near", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE,
           "a robot of a group is near"),
    MF_KEY("when.near.group", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL, RULE(group),
           "the group's name"),
    MF_KEY("when.near.distance", MF_KEY_REAL, MF_KEY_REQUIRED, "m", NULL, 0, 1e6, NULL,
           RULE(distance), "nearer than this, between the origins of the bases, horizontally"),
    MF_KEY("when.far", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE,
           "no robot of a group is near"),
    MF_KEY("when.far.group", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL, RULE(group),
           "the group's name"),
    MF_KEY("when.far.distance", MF_KEY_REAL, MF_KEY_REQUIRED, "m", NULL, 0, 1e6, NULL,
           RULE(distance), "all are farther than this"),
    MF_KEY("when.tilted", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE, "the robot leans"),
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
    MF_KEY("tick", MF_KEY_RATE, 0, "s", "0.01", 1e-6, 3600, NULL, PLUGIN(tick),
           "a controller is called this often; motions are in every step"),
    MF_KEY("settings", MF_KEY_NAMED, 0, "", NULL, -1e300, 1e300, NULL, PLUGIN(values),
           "the plugin's, in its units"),
};

static const mf_KeyTable plugin_table = {.noun = "plugin",
                                         .keys = plugin_keys,
                                         .count = sizeof plugin_keys / sizeof plugin_keys[0],
                                         .size = sizeof(mf_RobotsPlugin)};

static const mf_Key group_keys[] = {
    MF_KEY("name", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL, GROUP(name),
           "what the group is called in summaries, records, rules and overrides"),
    MF_KEY("model", MF_KEY_FILE, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL, GROUP(model_path),
           "the robot (URDF or MJCF), relative to the folder of this file; one without joints that "
           "is fixed in the world is scenery"),
    MF_KEY("count", MF_KEY_COUNT, 0, "1", "1", 1, 1 << 20, NULL, GROUP(count), "robots"),
    MF_KEY("precision", MF_KEY_DOUBLE, 0, "", "float", 0, 0, precisions, GROUP(double_precision),
           "of the state: `float` is fast, `double` is for checking"),
    MF_KEY("color", MF_KEY_CHOICE, 0, "", "auto", 0, 0, colors, GROUP(color),
           "in films; `file`: as in the model's file; `auto`: blue, red, yellow ... in the order of "
           "the groups with joints, where there are several, else as `file`"),
    MF_KEY("motion", MF_KEY_CHOICE, 0, "", "rigid", 0, 0, motions, GROUP(motion),
           "the level of physics at the start; `own`: the first motion among `plugins`"),
    MF_KEY("control_interval", MF_KEY_TIME, 0, "s", "0.01", 1e-6, 1, NULL, GROUP(control_interval),
           "gaits tell the joints where to be this often; a multiple of world.step"),
    MF_KEY("gaits", MF_KEY_WORDS, 0, "", NULL, 0, 0, NULL, GROUP(gaits),
           "gaits that the robots know: names of files in gaits/<robot>/ beside the model, or "
           "paths relative to the folder of this file"),
    MF_KEY_TUPLE("places", MF_KEY_POINTS, 3, 0, "", NULL, -1e6, 1e6, GROUP(places),
                 "x [m], y [m] and heading [rad] of each robot; without: side by side along y"),
    MF_KEY("lift", MF_KEY_REAL, 0, "m", "0", 0, 1e3, NULL, GROUP(lift),
           "start this high above the ground"),
    MF_KEY("collides", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL, GROUP(collides), "meets others"),
    MF_KEY("sensors", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL, GROUP(sensors),
           "the model's sensors are measured"),
    MF_KEY_LISTED("plugins", 0, &plugin_table, GROUP(plugins),
                  "motions and controllers from shared libraries, each with the keys below"),
    MF_KEY_LISTED("switch", 0, &rule_table, GROUP(rules),
                  "when the robots change to another motion, each with the keys below"),
    MF_KEY("behaviour", MF_KEY_VARIANT, 0, "", "none", 0, 0, behaviours, GROUP(behaviour.kind),
           "what the robots do; `none`: joints stay where they start"),
    MF_KEY("behaviour.gait", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE, "one gait"),
    MF_KEY("behaviour.gait.name", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL,
           GROUP(behaviour.gait), "one of `gaits`"),
    MF_KEY_TUPLE("behaviour.gait.command", MF_KEY_VECTOR, 3, 0, "", "[0, 0, 0]", -100, 100,
                 GROUP(behaviour.command), "forward [m/s], left [m/s], turn [rad/s]"),
    MF_KEY("behaviour.soccer", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE,
           "walk to the ball, kick it to the goal, keep apart, get up; needs the gaits walk, stand, "
           "kick_left, kick_right, get_up_front and get_up_back"),
    MF_KEY("behaviour.soccer.ball", MF_KEY_TEXT, 0, "", "ball", 0, 0, NULL, GROUP(behaviour.ball),
           "the ball's group"),
    MF_KEY_TUPLE("behaviour.soccer.goal", MF_KEY_VECTOR, 2, MF_KEY_REQUIRED, "m", NULL, -1e6, 1e6,
                 GROUP(behaviour.goal), "middle of the goal to score in"),
    MF_KEY_TUPLE("behaviour.soccer.own_goal", MF_KEY_VECTOR, 2, MF_KEY_REQUIRED, "m", NULL, -1e6,
                 1e6, GROUP(behaviour.own_goal), "middle of the own goal"),
    MF_KEY("behaviour.soccer.field_width", MF_KEY_REAL, MF_KEY_ABOVE, "m", "6", 0, 1e6, NULL,
           GROUP(behaviour.field_width), "between the touch lines"),
    MF_KEY("behaviour.soccer.goal_width", MF_KEY_REAL, MF_KEY_ABOVE, "m", "2.6", 0, 1e6, NULL,
           GROUP(behaviour.goal_width), "between the posts"),
    MF_KEY_TUPLE("behaviour.soccer.kick", MF_KEY_VECTOR, 2, 0, "m", "[0.13, 0.04]", -10, 10,
                 GROUP(behaviour.kick), "where the ball must be for a kick with the left foot, "
                 "forward and left of the base; with the right foot the mirror image"),
    MF_KEY("behaviour.soccer.speed", MF_KEY_REAL, MF_KEY_ABOVE, "m/s", "0.15", 0, 10, NULL,
           GROUP(behaviour.speed), "of walking forward"),
    MF_KEY("behaviour.soccer.spacing", MF_KEY_REAL, 0, "m", "0.5", 0, 100, NULL,
           GROUP(behaviour.spacing), "kept from others"),
    MF_KEY("behaviour.soccer.keeper", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL,
           GROUP(behaviour.keeper), "the first robot keeps the own goal; needs dive_left and "
           "dive_right too"),
};

static const mf_KeyTable group_table = {.noun = "group",
                                        .keys = group_keys,
                                        .count = sizeof group_keys / sizeof group_keys[0],
                                        .size = sizeof(mf_RobotsGroup)};

static const mf_Key robots_keys[] = {
    MF_KEY("name", MF_KEY_TEXT, 0, "", "", 0, 0, NULL, ROBOTS(name),
           "title; when empty, the name of the file"),
    MF_GROUND_KEYS(ROBOTS),

    MF_KEY("world", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE, "time and forces"),
    MF_KEY("world.step", MF_KEY_TIME, 0, "s", "0.001", 1e-6, 1, NULL, ROBOTS(step),
           "physics step"),
    MF_KEY("world.gravity", MF_KEY_REAL, 0, "m/s^2", "9.81", 0, 1000, NULL, ROBOTS(gravity),
           "downward along -z"),
    MF_KEY("world.seed", MF_KEY_SEED, 0, "1", "1", 0, 0, NULL, ROBOTS(seed),
           "of everything random in the world"),
    MF_KEY("world.switch_interval", MF_KEY_TIME, 0, "s", "0.01", 1e-6, 100, NULL,
           ROBOTS(switch_interval), "rules of `switch` are looked at this often; a multiple of step"),
    MF_KEY("world.play_interval", MF_KEY_TIME, 0, "s", "0.05", 1e-6, 100, NULL,
           ROBOTS(play_interval), "behaviours decide this often; a multiple of step"),

    MF_KEY("collisions", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE, "of robots"),
    MF_KEY("collisions.enabled", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL, ROBOTS(collide),
           "false: robots go through each other"),
    MF_KEY("collisions.friction", MF_KEY_REAL, 0, "1", "0.6", 0, 10, NULL, ROBOTS(friction),
           "between them"),

    MF_KEY("run", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE, "one run"),
    MF_KEY("run.duration", MF_KEY_REAL, 0, "s", "10", 1e-6, 1e9, NULL, ROBOTS(duration),
           "simulated time; rounded up to whole steps"),

    MF_KEY("record", MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE,
           "what `mayfly run` keeps, as its options --record, --every and --fields, which go first"),
    MF_KEY("record.file", MF_KEY_FILE, 0, "", NULL, 0, 0, NULL, ROBOTS(record_path),
           "HDF5 file to make, relative to the folder of this file; without: nothing is kept"),
    MF_KEY("record.every", MF_KEY_REAL, 0, "s", "0.1", 1e-9, 1e9, NULL, ROBOTS(record_every),
           "between samples, rounded to whole steps"),
    MF_KEY("record.fields", MF_KEY_WORDS, 0, "", NULL, 0, 0, NULL, ROBOTS(record_fields),
           "fields, or paths within a robot; without: base.*, joint.angle, sensor.*"),

    MF_KEY_LISTED("robots", MF_KEY_REQUIRED, &group_table, ROBOTS(groups),
                  "the groups of robots, each with the keys below"),
};
// clang-format on

static void start(void *base) {
    mf_Robots *robots = base;
    robots->terrain = mf_terrain_config();
}

static bool applies(const void *base, const mf_Key *key) {
    const mf_Robots *robots = base;
    if (robots->record_path == NULL && strncmp(key->path, "record", strlen("record")) == 0)
        return false;
    return !(key->flags & (robots->terrain_path != NULL ? MF_KEY_SHAPE : MF_KEY_IMAGE));
}

const mf_KeyTable *mf_robots_table(void) {
    static const mf_KeyTable table = {.noun = "robots",
                                      .keys = robots_keys,
                                      .count = sizeof robots_keys / sizeof robots_keys[0],
                                      .size = sizeof(mf_Robots),
                                      .start = start,
                                      .applies = applies};
    return &table;
}
