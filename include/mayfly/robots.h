// Mayfly: files of robots in one world (scenes/soccer.yaml): groups of robots that walk, collide,
// play and change the level of their physics while they run, and the worlds made from them.
// docs/reference/robots.md lists every key.
#ifndef MAYFLY_ROBOTS_H
#define MAYFLY_ROBOTS_H

#include <mayfly/collision.h>
#include <mayfly/experiment.h>
#include <mayfly/gait.h>
#include <mayfly/motion.h>
#include <mayfly/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MF_ROBOTS_GROUPS 32u  // [1] most groups of a file
#define MF_ROBOTS_GAITS 32u   // [1] most gaits of a group
#define MF_ROBOTS_PLUGINS 16u // [1] most plugins of a group

// As motion of a group or rule: "own", the first motion among the group's plugins.
#define MF_ROBOTS_OWN MF_MOTION_LEVELS

typedef enum mf_SwitchEvent {
    MF_SWITCH_AT,    // at a time
    MF_SWITCH_NEAR,  // a robot of a group is nearer than a distance
    MF_SWITCH_FAR,   // none of them is
    MF_SWITCH_TILTED // leans more than an angle
} mf_SwitchEvent;

// When a robot changes to another motion. The first rule that holds counts.
typedef struct mf_SwitchRule {
    mf_Motion to; // MF_ROBOTS_OWN: the plugin's
    mf_SwitchEvent event;
    double time;       // [s] at
    const char *group; // near, far: its name
    uint32_t other;    // [1] its number in the file
    double distance;   // [m] >= 0 near, far: between the origins of the bases, horizontally
    double tilt;       // [rad] tilted: of the base's z axis against the vertical
} mf_SwitchRule;

typedef enum mf_RobotsBehaviourKind {
    MF_ROBOTS_NONE,  // joints stay where they start
    MF_ROBOTS_GAIT,  // one gait with a constant command
    MF_ROBOTS_SOCCER // approach the ball, kick it to the goal, keep apart, get up
} mf_RobotsBehaviourKind;

typedef struct mf_RobotsBehaviour {
    mf_RobotsBehaviourKind kind;
    const char *gait;    // name in `gaits`
    double command[3];   // [m/s], [m/s], [rad/s] forward, left, turn
    const char *ball;    // soccer: the ball's group
    uint32_t ball_group; // [1] its number
    double goal[2];      // [m] soccer: middle of the goal to score in
    double own_goal[2];  // [m] soccer: middle of the own goal
    double field_width;  // [m] > 0 soccer: between the touch lines
    double goal_width;   // [m] > 0 soccer: between the posts
    double kick[2]; // [m] soccer: where the ball must be for a kick with the left foot, forward
                    // and left of the base; with the right foot the mirror image
    double speed;   // [m/s] > 0 soccer: of walking forward
    double spacing; // [m] >= 0 soccer: kept from others
    bool keeper;    // soccer: the first robot keeps the goal
} mf_RobotsBehaviour;

typedef enum mf_RobotsColor {
    MF_ROBOTS_AUTO, // by a palette, where several groups have joints; else as in the model's file
    MF_ROBOTS_FILE, // as in the model's file
    MF_ROBOTS_BLUE,
    MF_ROBOTS_RED,
    MF_ROBOTS_YELLOW,
    MF_ROBOTS_GREEN,
    MF_ROBOTS_ORANGE,
    MF_ROBOTS_PURPLE,
    MF_ROBOTS_CYAN,
    MF_ROBOTS_PINK,
    MF_ROBOTS_BROWN,
    MF_ROBOTS_WHITE,
    MF_ROBOTS_BLACK,
    MF_ROBOTS_COLORS
} mf_RobotsColor;

// A shared library that moves or controls the robots of a group.
typedef struct mf_RobotsPlugin {
    const char *path;       // resolved against the file's folder
    mf_Rate tick;           // [1/s] a controller is called this often
    mf_PluginValue *values; // of its settings
    uint32_t value_count;   // [1]
} mf_RobotsPlugin;

// One group of robots.
typedef struct mf_RobotsGroup {
    const char *name;
    const char *model_path; // resolved against the file's folder
    uint32_t count;         // [1]
    bool double_precision;
    mf_RobotsColor color;     // in films
    mf_Motion motion;         // at the start; MF_ROBOTS_OWN: the plugin's
    mf_Time control_interval; // [ns] gaits write targets, and joint paths reach them, this often
    const char **gaits;       // names of files beside the model, or paths
    uint32_t gait_count;      // [1]
    double (*places)[3];      // [m], [m], [rad] x, y, heading of each robot
    uint32_t place_count;     // [1]
    double lift;              // [m] above where it stands on the ground
    mf_SwitchRule *rules;
    uint32_t rule_count; // [1]
    bool collides;       // meets others
    bool sensors;        // the model's sensors are measured
    mf_RobotsPlugin *plugins;
    uint32_t plugin_count; // [1]
    mf_RobotsBehaviour behaviour;
} mf_RobotsGroup;

// Everything that a file of robots says, defaults filled in. Strings belong to it.
typedef struct mf_Robots {
    const char *file;         // path it was read from
    const char *name;         // title
    const char *terrain_path; // resolved; NULL when generated
    mf_TerrainConfig terrain;
    mf_TerrainGenerator generator;
    double terrain_scale;    // [m]
    double terrain_offset;   // [m]
    mf_Time step;            // [ns]
    double gravity;          // [m/s^2]
    uint64_t seed;           // [1]
    double duration;         // [s] of `mayfly run`
    mf_Time switch_interval; // [ns] rules are looked at this often
    mf_Time play_interval;   // [ns] behaviours decide this often
    bool collide;            // robots meet
    double friction;         // [1] between robots
    const char *record_path; // of `mayfly run`, resolved; NULL: nothing is recorded
    double record_every;     // [s] between samples
    const char **record_fields;
    uint32_t record_field_count; // [1] 0: the usual ones
    mf_RobotsGroup *groups;
    uint32_t group_count; // [1] 1 .. MF_ROBOTS_GROUPS
    mf_Context *context;
} mf_Robots;

// True when the YAML text has the top key `robots`.
MF_API bool mf_robots_is(const char *text, size_t size);

// Reads and checks a file of robots; overrides such as "robots.blue.count=3" are applied before the
// check. Errors name file:line:column. Models and gaits are read when the world is made.
MF_API mf_Status mf_robots_load(mf_Context *context, const char *path, const mf_Override *overrides,
                                uint32_t override_count, mf_Robots **out, mf_Error *error);
MF_API mf_Status mf_robots_parse(mf_Context *context, const char *path, const char *text,
                                 size_t size, const mf_Override *overrides, uint32_t override_count,
                                 mf_Robots **out, mf_Error *error);
MF_API void mf_robots_destroy(mf_Robots *robots); // NULL is fine

// The whole file as YAML text with every default written out. From mf_allocate.
MF_API mf_Status mf_robots_write(const mf_Robots *robots, char **text, mf_Error *error);

// Robots of all groups.
MF_API uint64_t mf_robots_count(const mf_Robots *robots); // [1]

// ---- worlds ------------------------------------------------------------------------------------

// What has happened in a game of soccer.
typedef struct mf_Play mf_Play;

// A world made from a file of robots, with everything that it borrows.
typedef struct mf_RobotsScene {
    const mf_Robots *robots; // borrowed
    mf_Terrain *terrain;
    mf_World *world;
    mf_Model *models[MF_ROBOTS_GROUPS]; // one per group
    mf_Gait *gaits[MF_ROBOTS_GROUPS][MF_ROBOTS_GAITS];
    mf_Collisions *collisions; // NULL when robots do not meet; owned by the world
    mf_Play *play;             // NULL when nobody plays; owned by the world
} mf_RobotsScene;

// Makes ground, world and groups, puts every robot on the ground in the pose of its first gait,
// adds motions, gaits, collisions, rules and behaviours.
MF_API mf_Status mf_robots_scene_create(mf_Context *context, const mf_Robots *robots,
                                        mf_RobotsScene *out, mf_Error *error);
MF_API void mf_robots_scene_destroy(mf_RobotsScene *scene);

// The file [size bytes with the terminator] that `gait` means for the robot in the file `robot`: a
// name that ends with .yaml or has a slash as it is, any other
// gaits/<robot's file name without ending>/<gait>.yaml beside the robot. MF_LIMIT when it does not
// fit.
MF_API mf_Status mf_gait_locate(const char *robot, const char *gait, char *out, size_t size,
                                mf_Error *error);

// What the groups are drawn in: CSS colours, NULL for those of the model's file.
MF_API void mf_robots_colors(const mf_RobotsScene *scene, const char *out[MF_ROBOTS_GROUPS]);

typedef struct mf_PlayCount {
    uint32_t goals; // [1] scored by the robots of this group
    uint32_t kicks; // [1] begun
    uint32_t falls; // [1] robots that lay on the ground and had to get up
    uint32_t dives; // [1] of the keeper
    uint32_t out;   // [1] times that the ball left the field
} mf_PlayCount;
// What the robots of a group have done so far. Part of no snapshot.
MF_API mf_PlayCount mf_play_count(const mf_Play *play, uint32_t group);

#ifdef __cplusplus
}
#endif
#endif
