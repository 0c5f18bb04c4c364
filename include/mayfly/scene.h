// Mayfly: scenes. A YAML file describes the ground, the groups of robots and vehicles with their
// motions, controllers and behaviors, detection, and evolution; a world is built from it. A
// robot's own file (URDF, MJCF) is a scene of one group with defaults for everything else.
// docs/reference/scenes.md lists every key.
#pragma once

#include <mayfly/behavior.h>
#include <mayfly/body.h>
#include <mayfly/camera.h>
#include <mayfly/collision.h>
#include <mayfly/control.h>
#include <mayfly/gait.h>
#include <mayfly/sensor.h>
#include <mayfly/interaction.h>
#include <mayfly/messages.h>
#include <mayfly/joints.h>
#include <mayfly/machine.h>
#include <mayfly/motion.h>
#include <mayfly/plugin.h>
#include <mayfly/search.h>

#define MF_SCENE_GAITS 32u     // [1] most gaits of a group
#define MF_SCENE_VALUE_NAME 48 // [byte] most of the name of a field value.NAME, with the end
#define MF_SCENE_PLUGINS 16u   // [1] most plugins of a group
#define MF_SCENE_LIBRARIES 64u // [1] plugins of all groups with statistics
#define MF_SCENE_NOTES 16u     // [1] most notes of a scene
#define MF_SCENE_NOTE 240u     // [byte] of one

typedef struct mf_Scene mf_Scene;

// ---- initial poses -----------------------------------------------------------------------------

typedef enum mf_PlacementKind {
    MF_PLACEMENT_LINE,   // side by side along y
    MF_PLACEMENT_POSES,  // at `poses`
    MF_PLACEMENT_GRID,   // rows, columns and layers
    MF_PLACEMENT_CIRCLE, // evenly on a circle
    MF_PLACEMENT_RANDOM, // at random in a box, without overlap
    MF_PLACEMENT_FILL    // particles fill a box from its low corner, layer by layer
} mf_PlacementKind;

// Heights are above the ground; robots that cannot fly stand on it, and their heights are added to
// that; cars always stand.
typedef struct mf_Placement {
    mf_PlacementKind kind;
    double (*poses)[3];  // [m], [m], [rad] x, y, heading; borrowed
    uint32_t pose_count; // [1] as many as robots
    double distance;     // [m] line: between neighbors; random: minimum distance of centers; 0 =
                         // no contact; fill: between neighbors
    double center[3];    // [m] grid: center of the lowest layer; circle: its center
    double spacing[3];   // [m] > 0 grid: between columns, rows and layers
    uint32_t columns;    // [1] grid: along x; 0 = as many as rows
    uint32_t layers;     // [1] grid: >= 1
    double radius;       // [m] > 0 circle
    bool along;          // circle: face along it, counterclockwise, instead of `heading`
    double lower[3];     // [m] random, fill: low corner of the box; fill: in the world
    double upper[3];     // [m] random, fill: high corner
    uint64_t seed;       // [1] random
    double heading;      // [rad] east is 0, north pi/2; not of `poses`
    double height;       // [m] added to all heights
    double speed;        // [m/s] >= 0 along the heading at the start
    int32_t line;        // [1] in the file, 0 when unknown
    int32_t column;      // [1]
} mf_Placement;

// Initial positions of `count` robots, positions[3 * i ..] [m], and their headings [rad]. `radius`
// [m] is that of the collision sphere, `clearance` [m] the height of the base's origin when the
// robot stands on the ground; one that `flies` is never lower. Random positions keep a distance
// from each other and from `taken` (x, y, z, radius of `taken_count` robots; may be NULL).
// MF_BAD_ARGUMENT if they do not fit.
MF_API mf_Status mf_placement_positions(mf_Context *context, const mf_Placement *placement,
                                        const mf_Terrain *terrain, uint32_t count, double radius,
                                        double clearance, bool flies, const double (*taken)[4],
                                        uint32_t taken_count, double *positions, double *headings,
                                        mf_Error *error);

// ---- rules for switching the motion ------------------------------------------------------------

typedef enum mf_SwitchEvent {
    MF_SWITCH_AT,    // at a time
    MF_SWITCH_NEAR,  // a robot of a group is nearer than a distance
    MF_SWITCH_FAR,   // none of them is
    MF_SWITCH_TILTED // leans more than an angle
} mf_SwitchEvent;

// A condition for switching to another motion. The first rule whose condition is true applies.
typedef struct mf_SwitchRule {
    mf_Motion to; // MF_MOTION_OWN: the plugin's
    int to_name;  // [1] as the file has it, for reading and writing
    mf_SwitchEvent event;
    double time;       // [s] at
    const char *group; // near, far: its name
    uint32_t other;    // [1] its number in the file
    double distance;   // [m] >= 0 near, far: between the origins of the bases, horizontally
    double tilt;       // [rad] tilted: of the base's z axis against the vertical
} mf_SwitchRule;

// ---- groups ------------------------------------------------------------------------------------

typedef enum mf_ControllerKind {
    MF_CONTROLLER_NONE,
    MF_CONTROLLER_GP,
    MF_CONTROLLER_OSCILLATOR,
    MF_CONTROLLER_MACHINE // the genome is a machine: its body, too
} mf_ControllerKind;

// Trials of machines.
typedef struct mf_SceneMachine {
    mf_Time cycle; // [ns] period of the network
    mf_Time rest;  // [ns] before its first cycle; distances and run.duration count from its end
    double change; // [m] > 0 most that an actuator changes in a cycle
    bool strict;   // a trial ends at the first step that jumps, is not relaxed, yields or buckles
} mf_SceneMachine;

typedef enum mf_SceneColor {
    MF_COLOR_AUTO, // by a palette, where several groups have joints; else as in the model's file
    MF_COLOR_FILE, // as in the model's file
    MF_COLOR_BLUE,
    MF_COLOR_RED,
    MF_COLOR_YELLOW,
    MF_COLOR_GREEN,
    MF_COLOR_ORANGE,
    MF_COLOR_PURPLE,
    MF_COLOR_CYAN,
    MF_COLOR_PINK,
    MF_COLOR_BROWN,
    MF_COLOR_WHITE,
    MF_COLOR_BLACK,
    MF_COLOR_COUNT
} mf_SceneColor;

#define MF_INITIAL_VALUES 1024u // [1] most values of one of them

// Initial values of a property of every robot of a group.
typedef struct mf_InitialValue {
    const char *path;     // within the robot, as mf_property_list_in takes it
    double *values;       // [1] or in the property's unit; borrowed
    uint32_t value_count; // [1] as many as the property has, or one for all
    int32_t line;         // [1] in the file, 0 when unknown
    int32_t column;       // [1]
} mf_InitialValue;

typedef enum mf_RandomOperation {
    MF_RANDOM_SCALE,
    MF_RANDOM_ADD,
    MF_RANDOM_SET
} mf_RandomOperation;
typedef enum mf_RandomDistribution {
    MF_RANDOM_UNIFORM,     // in range[0] .. range[1]
    MF_RANDOM_LOGARITHMIC, // likewise, of its logarithm; range[0] > 0
    MF_RANDOM_NORMAL       // of mean range[0] and standard deviation range[1]
} mf_RandomDistribution;

// Numbers of the model that are drawn for each robot of a group at the start and at each of its
// resets, and in a search for each genome (mf_group_vary).
typedef struct mf_SceneRandom {
    const char *path;             // "trunk/link.mass", "*_calf/joint.damping", "shape.friction.0"
    mf_RandomOperation operation; // scale: of a mass the inertia too, of a gain the bias too
    mf_RandomDistribution distribution;
    double range[2]; // [1] or in the number's unit
    int32_t line;    // [1] in the file, 0 when unknown
    int32_t column;  // [1]
} mf_SceneRandom;

typedef enum mf_SignalKind { MF_SIGNAL_SINE, MF_SIGNAL_TABLE } mf_SignalKind;

// An input of every robot of a group as a function of time, written before each step.
typedef struct mf_SceneInput {
    const char *path; // within the robot, as of mf_InitialValue; all values that match
    mf_SignalKind signal;
    double mean, amplitude; // [1] or in the property's unit
    double period;          // [s] > 0
    double phase;           // [rad] at time 0
    double *times;          // [s] rising; borrowed
    uint32_t time_count;    // [1]
    double *values;         // [1] or in the property's unit, one for each time; borrowed
    uint32_t value_count;   // [1]
    bool repeat;            // from the first value again after the last
    int32_t line, column;   // [1] in the file, 0 when unknown
} mf_SceneInput;

// A shared library that moves or controls the robots of a group.
typedef struct mf_ScenePlugin {
    const char *path;       // resolved against the file's folder
    mf_Rate tick;           // [1/s] a controller is called this often; 0/0: as control_interval
    mf_PluginValue *values; // of its settings
    uint32_t value_count;   // [1]
} mf_ScenePlugin;

// Changes of the servos of the robot's file.
typedef struct mf_ServoChange {
    double gain;      // [N m/rad] or [N/m]; 0: from the robot's file
    double damping;   // [N m s/rad] or [N s/m]; 0: from the robot's file
    double speed;     // [rad/s] or [m/s] at most; 0: from the robot's file
    double stiffness; // [1] factor of the gain; its square root is the factor of the damping;
                      // default 1
    bool inputs;      // mf_ArticulatedConfig.servo_inputs
} mf_ServoChange;

// Limits of all docks of the robot's file, beyond which they break; 0: from the robot's file.
typedef struct mf_DockLimits {
    double tension, shear;   // [N] >= 0
    double bending, torsion; // [N m] >= 0
    int32_t line, column;    // [1] in the file, 0 when unknown
} mf_DockLimits;

// Robots of a group that are docked at the start, each to the next one.
typedef struct mf_SceneChain {
    const char *first, *second; // docks of a robot and of the next one; "": no chain
    uint32_t orientation;       // [1]
    bool closed;                // the last robot's first dock is joined to the first robot's
    int32_t line, column;       // [1] in the file, 0 when unknown
} mf_SceneChain;

// One group of robots or vehicles, all of one model.
typedef struct mf_SceneGroup {
    mf_MotionsConfig motions; // settings of motions, as far as the file says; `start` and `has` are
                              // not asked
    const char *name;
    const char *model_path;           // resolved against the file's folder
    int32_t model_line, model_column; // [1] of the path in the scene's file, 0 when unknown
    const mf_Model *model; // borrowed; NULL, as after loading: the one in the file is loaded
    mf_ImportConfig import;
    uint32_t count;           // [1]
    bool double_precision;    // of the state; else float
    bool isolated;            // every robot has its own copy of the world
    mf_Motion motion;         // at the start; MF_MOTION_OWN: that of a plugin
    int motion_name;          // [1] as the file has it, for reading and writing
    double rotor_area;        // [m^2] >= 0 quadrotors; > 0: causes downwash
    mf_ServoChange servo;     // of joints under `articulated`
    mf_Time control_interval; // [ns] of gaits, joint paths and on-board loops; 0: as the
                              // controller; without one about 10 ms; vehicles: every step
    double friction;          // [1] with the ground; NAN: that of the model
    bool contact_shapes;      // whole shapes touch the ground, else the contact points
    bool contact_self;        // links of one robot collide
    bool contact_others;      // collides with robots of its own and other groups
    mf_Placement placement;
    const char *keyframe; // of the model, "": the first where it has some and no gait is
                          // followed; "none": the start pose
    double settle;        // [s] settling time before gaits begin
    double joint_noise;   // [rad/s] or [m/s] largest rate of joints at the start
    mf_InitialValue *initial;
    uint32_t initial_count; // [1]
    mf_SceneRandom *random;
    uint32_t random_count; // [1]
    mf_SceneInput *inputs;
    uint32_t input_count; // [1]
    bool sensors;         // the model's sensors are computed
    bool cameras;         // the model's cameras take pictures (mf_cameras_add_groups)
    const char **gaits;   // names of files next to the model, or paths
    uint32_t gait_count;  // [1]
    const char **values;  // names of values of the scene's own, per robot
    uint32_t value_count; // [1]
    mf_ControllerKind controller;
    mf_GpConfig gp;
    mf_OscillatorConfig oscillator;
    mf_SceneMachine machine;
    const mf_Machine *ancestor; // of machines, from `model`; NULL: they begin from nothing
    mf_ScenePlugin *plugins;
    uint32_t plugin_count; // [1]
    mf_SceneChain chain;
    mf_DockLimits dock_limits;
    uint32_t joint_slots; // [1] per robot, for plugins that make joints (mayfly/joints.h)
    mf_SwitchRule *rules;
    uint32_t rule_count; // [1]
    mf_Behavior behavior;
    int32_t behavior_line, behavior_column; // [1] in the file, 0 when unknown
    mf_SceneColor color;
    const mf_BodyKind *kind; // NULL for robots with links
    const void *body;        // of that kind (mf_body_model); of a file that was loaded, its own
    void *own_body;          // that one; NULL where a program gave the body
} mf_SceneGroup;

// ---- docks --------------------------------------------------------------------------------------

typedef struct mf_SceneDockSide {
    const char *group; // name
    uint32_t robot;    // [1] number of the robot
    const char *dock;  // name
} mf_SceneDockSide;

// Two docks that are joined at the start (mayfly/docks.h).
typedef struct mf_SceneDock {
    mf_SceneDockSide sides[2];
    uint32_t orientation; // [1]
    int32_t line;         // [1] in the file, 0 when unknown
    int32_t column;       // [1]
} mf_SceneDock;

// ---- joints between groups ----------------------------------------------------------------------

typedef struct mf_SceneJointSide {
    const char *group; // name; "": the world
    uint32_t robot;    // [1] number of the robot
    const char *link;  // name; "": the base
} mf_SceneJointSide;

// A run-time joint without error in the initial poses; the rest as in mf_WorldJointConfig.
typedef struct mf_SceneJoint {
    const char *name;
    mf_WorldJointKind kind;
    mf_SceneJointSide sides[2];
    double position[3];       // [m] world; NAN: the origin of the first link that is not the world
    double axis[3];           // [1] world, of a hinge
    double stiffness;         // [N/m]
    double damping;           // [N s/m]
    double angular_stiffness; // [N m/rad]
    double angular_damping;   // [N m s/rad]
    double time;              // [s]
    double force_limit;       // [N]
    double moment_limit;      // [N m]
    double range[2];          // [rad] of a hinge; NAN: none
    double motor_rate;        // [rad/s]
    double motor_torque;      // [N m]
    bool enabled;
    int32_t line;   // [1] in the file, 0 when unknown
    int32_t column; // [1]
} mf_SceneJoint;

// ---- cameras -----------------------------------------------------------------------------------

// A camera fixed in the world or on a link of a robot, in the frame of which its pose is given.
typedef struct mf_SceneCamera {
    const char *name;
    mf_SceneJointSide on; // what carries it
    double position[3];   // [m]
    double look_at[3];    // [m] a point in the picture's middle, without roll; NAN: by `rpy`
    double rpy[3];        // [rad] roll, pitch, yaw, as in URDF
    double fovy;          // [rad] angle of view from top to bottom, where focal[0] is NAN
    double focal[2];      // [pixel]
    double center[2];     // [pixel] NAN: the middle
    mf_Camera camera;     // the rest; its rate is that of pictures
    int32_t line;         // [1] in the file, 0 when unknown
    int32_t column;       // [1]
} mf_SceneCamera;

// ---- scripts -----------------------------------------------------------------------------------

// A Lua script that runs between the steps (docs/how_to/scripts.md).
typedef struct mf_SceneScript {
    const char *name; // in messages
    const char *path; // resolved against the file's folder; NULL: `text`
    const char *text; // Lua; "": `path`
    mf_Rate tick;     // [1/s] its function tick is called this often; 0/0: every step
    uint32_t budget;  // [1] instructions of one call; default 10 million
    uint32_t memory;  // [1] MiB; default 64
    int32_t line;     // [1] of `text` in the file: its first line is below; 0 when unknown
    int32_t column;   // [1]
} mf_SceneScript;

// ---- bridges -----------------------------------------------------------------------------------

// A program beside `mayfly serve` that lets other people's software take part
// (docs/how_to/bridges.md). Only programs that say so in mf_SceneConfig start it.
typedef struct mf_SceneBridge {
    const char *name;    // of a bridge that mayfly-bridge knows: letters, digits and _
    const char *options; // words for it, separated by blanks
    int32_t line;        // [1] of `name` in the file; 0 when unknown
    int32_t column;      // [1]
} mf_SceneBridge;

// ---- search ------------------------------------------------------------------------------------

// The quantity that evolution maximizes (docs/reference/scenes.md, Fitness).
typedef enum mf_Fitness {
    MF_FITNESS_DISTANCE, // [m] horizontal distance of the base from its start at the end
    MF_FITNESS_SPEED,    // [m/s] mean speed of the base along its own heading
    MF_FITNESS_ECONOMY,  // [m/J] distance per work of the servos; only at `articulated`
    MF_FITNESS_UPRIGHT,  // [m] distance times the mean cosine of the base's tilt
    MF_FITNESS_STEPS     // [m] distance times the share of feet that step
} mf_Fitness;
// Whether time for which a robot has fallen over reduces its fitness.
typedef enum mf_Falls {
    MF_FALLS_AUTO,  // of MF_FITNESS_STEPS, which is of walks
    MF_FALLS_COUNT, // the fitness is multiplied by the share of time without a fall
    MF_FALLS_IGNORE
} mf_Falls;
MF_API const char *mf_fitness_unit(mf_Fitness fitness);  // "m/s"
MF_API const char *mf_fitness_title(mf_Fitness fitness); // "distance per energy"

// A quantity of an evaluation that can be a descriptor of MAP-Elites.
typedef enum mf_Measure {
    MF_MEASURE_FORWARD,  // [m] displacement of the base along x of the world
    MF_MEASURE_SIDEWAYS, // [m] along y
    MF_MEASURE_HEIGHT,   // [m] of the base at the end, world frame
    MF_MEASURE_SPEED,    // [m/s] mean along its own heading
    MF_MEASURE_UPRIGHT,  // [1] mean cosine of the base's tilt
    MF_MEASURE_DUTY,     // [1] share of time with load, mean of the feet with contact sensors, or
                         // of the vertices of a machine that touched the ground
    MF_MEASURE_BARS,     // [1] of a machine
    MF_MEASURE_ACTUATORS // [1] of a machine
} mf_Measure;

// One dimension of the grid of MAP-Elites.
typedef struct mf_SceneDescriptor {
    mf_Measure measure;
    double lower, upper; // [1] or the unit of the measure: range
    uint32_t cells;      // [1] default 16
} mf_SceneDescriptor;

// The level at which the best robots are verified.
typedef enum mf_VerifyMotion {
    MF_VERIFY_NONE,
    MF_VERIFY_LEVEL,                                       // plus a level of mf_Motion
    MF_VERIFY_ELASTIC = MF_VERIFY_LEVEL + MF_MOTION_LEVELS // of trusses
} mf_VerifyMotion;
// The motion of that level; MF_MOTION_COUNT: none.
MF_API mf_Motion mf_verify_motion(mf_VerifyMotion level);

typedef struct mf_VerifyConfig {
    mf_VerifyMotion motion; // default MF_VERIFY_NONE
    uint32_t every;         // [1] generations; default 10
    uint32_t best;          // [1] robots; default 8
    mf_Time step;           // [ns] physics step at that level; default 1 ms
    double disparity;       // [1] weight of the difference between the levels; default 1
    double stiffness; // [1] of a second evaluation there, as servo.stiffness; 1, the default: none
} mf_VerifyConfig;

// Functions of a program that replace parts of a scene file. All zero: none. Set them between
// loading the file and creating a scene; scenes, evaluations, trials and reports of that file then
// use them. The archive does not store them.
typedef struct mf_SceneHooks {
    // Called once for the first group when it has no motion yet: adds fields that must precede
    // those of motions. NULL: nothing to add.
    mf_Status (*prepare)(mf_Group *group, void *user, mf_Error *error);
    // Fitness of an instance at the end of its evaluation; larger is better, NaN ranks last. Not
    // called for a robot with a fault. NULL: that of the file.
    double (*fitness)(const mf_Scene *scene, uint32_t instance, void *user);
    // Called once for a scene after motion, sensors and controller were added: adds a controller,
    // fields that the fitness reads, or other systems to scene->group. These are part of the state
    // from which every evaluation starts. NULL: nothing to add.
    mf_Status (*attach)(mf_Scene *scene, void *user, mf_Error *error);
    // Gives an instance the controller that a genome describes, in a group with `controller: none`.
    // NULL: nothing to evolve there.
    void (*apply_genome)(mf_Scene *scene, uint32_t instance, const uint8_t *genome, void *user);
    uint32_t genome_bytes; // [byte] of its genome, 1 .. 65536; used with apply_genome
    // Descriptor `index` of search.descriptors at the end of an evaluation; NaN: in no cell. Not
    // called for a robot with a fault. NULL: the measures of the file.
    double (*describe)(const mf_Scene *scene, uint32_t instance, uint32_t index, void *user);
    void *user; // handed to all of them; borrowed
} mf_SceneHooks;

// ---- scene files -------------------------------------------------------------------------------

typedef struct mf_Ground {
    bool given;       // the file specifies the ground; else that of the models is used
    const char *path; // image, resolved; NULL when generated
    mf_TerrainConfig terrain;
    mf_TerrainGenerator generator;
    double scale;  // [m]
    double offset; // [m]
} mf_Ground;

// Content of a scene file, with defaults. Strings are owned by it.
typedef struct mf_SceneFile {
    const char *file;        // path it was read from
    const char *name;        // title
    const char *old_keys;    // "place is called placement (2 keys)": earlier names by which
                             // it was read; NULL: none
    mf_Time step;            // [ns] 0: the smallest that a model specifies
    double gravity;          // [m/s^2] NAN: that of the first model that specifies one
    uint64_t seed;           // [1] seed of all random numbers of the world and of a search
    mf_Time switch_interval; // [ns] period of evaluating `switch` rules; 0: 10 ms
    mf_Ground ground;
    int32_t ground_line, ground_column; // [1] of ground.file in the file, 0 when unknown
    mf_SceneDock *docks;
    uint32_t dock_count; // [1]
    mf_SceneJoint *joints;
    uint32_t joint_count; // [1]
    mf_SceneCamera *cameras;
    uint32_t camera_count; // [1]
    mf_SceneGroup *groups;
    uint32_t group_count; // [1] 1 .. MF_WORLD_GROUP_LIMIT
    mf_SceneScript *scripts;
    uint32_t script_count; // [1]
    mf_SceneBridge *bridges;
    uint32_t bridge_count;       // [1]
    bool contact;                // robots collide
    mf_CollisionLaw contact_law; // between robots
    mf_CollisionBounds contact_bounds;
    double friction; // [1] between robots; NAN: that of their shapes
    bool talks;      // docks send messages
    mf_MessagesConfig messages;
    bool proximity;                   // robots detect each other
    mf_InteractionConfig interaction; // of proximity and air
    int32_t interaction_line;         // [1] in the file, 0 when unknown
    int32_t interaction_column;       // [1]
    double duration;                  // [s] of a run and of one evaluation
    const char *record_path;          // of `mayfly run`, resolved; NULL: nothing is recorded
    double record_every;              // [s] between samples
    const char **record_fields;
    uint32_t record_field_count; // [1] 0: the default set
    bool evolves;                // the file has the section `search`
    uint32_t generations;        // [1]
    mf_Fitness fitness;          // default MF_FITNESS_DISTANCE
    mf_Falls falls;              // default MF_FALLS_AUTO
    mf_SearchConfig search;
    mf_SceneDescriptor *descriptors;
    uint32_t descriptor_count; // [1] also in `search`
    mf_VerifyConfig verify;
    mf_MachineConfig machine; // operators that vary machines
    mf_SceneHooks hooks;      // all zero after loading
    mf_Context *context;
} mf_SceneFile;

// One "path=value" override, for example "search.population=200". "groups.quads.count=100"
// addresses the group of that name, "group.count=100" that of a scene with only one.
typedef struct mf_Override {
    const char *path;
    const char *value;
} mf_Override;

// Reads and checks a scene, or a robot's own file (URDF, MJCF, or that of a body), and the
// bodies that it names; overrides are applied before the check. Errors name
// file:line:column and what was expected. Other models, gaits and plugins are read when the world
// is created.
MF_API mf_Status mf_scene_file_load(mf_Context *context, const char *path,
                                    const mf_Override *overrides, uint32_t override_count,
                                    mf_SceneFile **out, mf_Error *error);
// The same from the text of a scene; `path` is used in messages and to resolve other files.
MF_API mf_Status mf_scene_file_parse(mf_Context *context, const char *path, const char *text,
                                     size_t size, const mf_Override *overrides,
                                     uint32_t override_count, mf_SceneFile **out, mf_Error *error);
// The scene of one robot with a model of the program (borrowed), as if it had been loaded from its
// file.
MF_API mf_Status mf_scene_file_of_model(mf_Context *context, const mf_Model *model,
                                        const mf_Override *overrides, uint32_t override_count,
                                        mf_SceneFile **out, mf_Error *error);
// The scene of one body that a program has (borrowed): a vehicle, a truss or a cloth.
MF_API mf_Status mf_scene_file_of_body(mf_Context *context, const mf_BodyKind *kind,
                                       const void *body, const mf_Override *overrides,
                                       uint32_t override_count, mf_SceneFile **out,
                                       mf_Error *error);
MF_API void mf_scene_file_destroy(mf_SceneFile *file); // NULL is fine

// The whole file as YAML text with every default written out; loading it again gives the same
// scene. From mf_allocate.
MF_API mf_Status mf_scene_file_write(const mf_SceneFile *file, char **text, mf_Error *error);

// Robots of all groups.
MF_API uint64_t mf_scene_file_count(const mf_SceneFile *file); // [1]

// Whether the file can be evolved: one group with a controller of genomes (gp, oscillator, or hooks
// with apply_genome). MF_UNSUPPORTED names the reason.
MF_API mf_Status mf_scene_file_can_evolve(const mf_SceneFile *file, mf_Error *error);

// ---- worlds ------------------------------------------------------------------------------------

// Changes to the file. They apply to the first group.
typedef struct mf_SceneConfig {
    uint32_t struct_size; // [byte] set by mf_scene_config()
    uint32_t count;       // [1] robots; 0: as in the file
    bool isolated;        // robots are isolated, independent of the file
    bool evaluates;       // robots are evaluated: isolated, with fitness and a stored initial state
    mf_Motion motion;     // MF_MOTION_COUNT: as in the file
    mf_Time step;         // [ns] physics step; 0: as in the file
    uint32_t divisor;     // [1] of that step, into whole nanoseconds; 0: 1
    double stiffness;     // [1] of servos; 0: as in the file
    bool levels;          // robots of all groups can switch to every level that their model
                          // supports; not those of plugins, trusses and vehicles
    bool bridges; // the program starts the bridges; default false: a note says that none starts
    // Groups from this one on join a world that runs: their vehicles may start where others
    // started, and nobody settles. 0: none; default 0.
    uint32_t joins; // [1]
} mf_SceneConfig;
// The defaults of mf_SceneConfig: every configuration starts from them.
MF_API mf_SceneConfig mf_scene_config(void);
// The same scene, evaluated at another level: `motion` for the first group, with the step of
// `verify` for levels other than points and the file's own.
MF_API mf_SceneConfig mf_scene_config_at_level(const mf_SceneFile *file, mf_Motion motion);

// Results of the trials of machines.
typedef struct mf_MachineLives mf_MachineLives;

// A world built from a scene file, with everything that it borrows.
typedef struct mf_Scene {
    mf_Context *context; // borrowed, as the file
    mf_SceneFile *file;
    mf_World *world;
    mf_Terrain *terrain; // NULL: flat at height 0
    // Per group, owned by the scene.
    uint32_t group_count; // [1]
    mf_Model **models;
    mf_Gait *(*gaits)[MF_SCENE_GAITS];
    uint32_t *keyframes;         // [1] initial keyframes; MF_NONE: none
    double *raised;              // [m] by which robots were raised out of the ground at the start
    const char **colors;         // CSS colors; NULL for those of the model's file
    mf_Collisions *collisions;   // NULL without collisions; owned by the world
    mf_Interaction *interaction; // NULL without proximity and air; owned by the world
    mf_WorldJoints *joints;      // NULL when the file has none; owned by the world
    mf_MachineLives *lives;      // NULL before machines were evaluated
    mf_Plugin *plugins[MF_SCENE_LIBRARIES]; // of all groups
    uint32_t plugin_count;                  // [1]
    mf_Group *group;                        // the first
    mf_Model *model;                        // of the first group
    mf_Motion motion;                       // of the first group, at the start
    mf_Time step;                           // [ns]
    uint32_t divisor;                       // [1] >= 1 of the requested step
    double stiffness;                       // [1] of the first group's servos
    bool levels;                            // as in mf_SceneConfig
    void *start;       // snapshot of the world at time 0, from which evaluations start
    size_t start_size; // [byte]
    char notes[MF_SCENE_NOTES][MF_SCENE_NOTE]; // what is not as the file asks
    uint32_t note_count;                       // [1]
    struct mf_Scripts *scripts;                // NULL: the file has none
} mf_Scene;

// Creates the world of a file: loads ground, models, gaits and plugins, adds motions, controllers
// and sensors, sets the initial states, adds contact, proximity, rules and behaviors. `config` may
// be NULL. Sets file->search.genome_bytes.
MF_API mf_Status mf_scene_create(mf_Context *context, mf_SceneFile *file,
                                 const mf_SceneConfig *config, mf_Scene *out, mf_Error *error);
MF_API void mf_scene_destroy(mf_Scene *scene);

// What is to be known before a run.
typedef enum mf_NoteKind {
    MF_NOTE_SCENE, // a setting of the scene that has no effect, or another one
    MF_NOTE_FILE,  // what the reader of the model dropped or replaced, or numbers that are unlikely
    MF_NOTE_FEATURE, // what the motion or the sensors ignore of the model with their settings
    MF_NOTE_POSE,    // in the ground, upside down, links or robots inside of each other
    MF_NOTE_STEP,    // a step that is too long for a spring, servo or motor
    MF_NOTE_LEVEL    // what the chosen motions and contact settings leave out by their nature
} mf_NoteKind;

enum { MF_START_NOTE = 320 }; // [byte]
typedef struct mf_StartNote {
    mf_NoteKind kind;
    char text[MF_START_NOTE]; // one sentence
} mf_StartNote;

// The notes that `mayfly run` prints at the start, as of now: of robot 0 of a group, or of a whole
// scene, where those of groups begin with their names if there are several. The first `capacity` of
// them; returns how many there are. Vehicles have none. `out` may be NULL: none is written. NULL:
// 0.
MF_API uint32_t mf_group_start_notes(mf_Group *group, mf_StartNote *out, uint32_t capacity);
MF_API uint32_t mf_scene_start_notes(const mf_Scene *scene, mf_StartNote *out, uint32_t capacity);

// The camera number `index` of the file, with focal length, center and, in the frame of what
// carries it, its pose; camera->frame.link MF_NONE: the world. *group and *robot: the robot whose
// link carries it, *group MF_NONE: none. MF_BAD_FILE, at the file's line: there is no such robot or
// link, or a setting is out of range. MF_BAD_ARGUMENT: there is no such camera.
MF_API mf_Status mf_scene_camera(const mf_Scene *scene, uint32_t index, mf_Camera *camera,
                                 uint32_t *group, uint32_t *robot, mf_Error *error);

// What a scene file says of a group, worked out for a group of a world: the settings that its
// motions, gaits and sensors are added with.
typedef struct mf_SceneParts {
    mf_MotionsConfig motions; // `start` and `has` too
    mf_GaitConfig gaits;      // no gait is followed at first
    mf_SensorsConfig sensors; // what cannot be measured reads 0
    bool measures;            // the model's sensors are added
    bool drops_contacts; // links of a robot with too many pairs of shapes do not touch each other;
                         // false: it is refused; default true
} mf_SceneParts;

// The parts of the first group of `file` for `group`, whose world's step and ground count.
MF_API mf_Status mf_scene_parts(const mf_Group *group, mf_SceneFile *file, mf_SceneParts *out,
                                mf_Error *error);
// Adds to `group`, which a program made, what the first group of `file` says: motions, plugins,
// gaits, controller, sensors, behavior of vehicles, by `parts` (NULL: mf_scene_parts). All robots
// are put to their start by a reset. Where contacts were dropped, it says so in
// parts->motions.articulated.self_contacts. After a failure the group must not be used.
MF_API mf_Status mf_scene_equip(mf_Group *group, mf_SceneFile *file, mf_SceneParts *parts,
                                mf_Error *error);

// All of it in one call, for programs that need only a running world: loads the scene or robot's
// own file and creates its world. `context` NULL: a new one, with all processors. Closed by
// mf_scene_close, not destroyed.
MF_API mf_Status mf_scene_open(mf_Context *context, const char *path, const mf_Override *overrides,
                               uint32_t override_count, mf_Scene **out, mf_Error *error);
MF_API void mf_scene_close(mf_Scene *scene); // NULL is fine
// Simulates a time [s] > 0, rounded up to whole steps. Returns mf_scene_scripts_status.
MF_API mf_Status mf_scene_run(mf_Scene *scene, double seconds, mf_Error *error);

// ---- scripts of a world ------------------------------------------------------------------------

// Scripts act between the steps of the world, whoever steps it. Once one has failed or stopped the
// run, the world does not move until they are started anew. For a scene without scripts all of
// these return at once.

// A line that a script prints, without its end.
typedef void (*mf_ScriptPrintFn)(const char *script, const char *line, void *user);
// Gives these lines to the program; until then they are dropped.
MF_API void mf_scene_on_print(mf_Scene *scene, mf_ScriptPrintFn print, void *user);

// Runs the texts of all scripts and their functions `start`, anew if they run already. The first
// step does it otherwise. An error of this and the next two names the script's file and line.
MF_API mf_Status mf_scene_start_scripts(mf_Scene *scene, mf_Error *error);
// After steps: the error of a script that failed; MF_STOPPED, with the reason: one stopped the run.
MF_API mf_Status mf_scene_scripts_status(const mf_Scene *scene, mf_Error *error);
// Calls their functions `finish`, after the run.
MF_API mf_Status mf_scene_finish_scripts(mf_Scene *scene, mf_Error *error);

// A file that scripts wrote, in memory of the scene, until they are started anew.
typedef struct mf_ScriptResult {
    const char *name; // of the file, without folder
    const char *text;
    size_t size; // [byte]
} mf_ScriptResult;
// Result `index`, in the order of their creation; false: there are no more.
MF_API bool mf_scene_script_result(const mf_Scene *scene, uint32_t index, mf_ScriptResult *out);

// Steps of the file's duration, rounded up to whole undivided steps, after those in which machines
// come to rest.
MF_API uint64_t mf_scene_steps(const mf_Scene *scene); // [1]

// ---- evaluations -------------------------------------------------------------------------------

// Bytes of a genome for the first group's controller (32 for GP, 3 per joint + 1 for oscillators,
// for none those of the hooks or 0). docs/reference/scenes.md defines the bytes.
MF_API uint32_t mf_scene_genome_bytes(const mf_Scene *scene);
// Sets the controller of an instance of the first group from a genome.
MF_API void mf_scene_apply_genome(mf_Scene *scene, uint32_t instance, const uint8_t *genome);
// Horizontal distance [m] of the base from its initial position; 0 for a robot with a fault.
MF_API double mf_scene_distance(const mf_Scene *scene, uint32_t instance);

// The fitness of the file, or that of its hooks. NaN for a robot with a fault. The scene must have
// been created with `evaluates`.
MF_API double mf_scene_fitness(const mf_Scene *scene, uint32_t instance);

// An mf_EvaluateFn whose `user` is a scene created with `evaluates` and at least as many robots as
// the population: restores the world at time 0, applies genomes, steps for the file's duration
// (rounded up to whole steps), and calls mf_scene_fitness. Robots without a genome idle, or rest
// where no one shares their world.
MF_API mf_Status mf_scene_evaluate(void *scene, const uint8_t *genomes, uint32_t count,
                                   uint32_t genome_bytes, double *fitness, mf_Error *error);
// An mf_DescribeFn with the same `user`: search.descriptors of the evaluation before, in the order
// of the file. NaN for a robot with a fault.
MF_API mf_Status mf_scene_describe(void *scene, const uint8_t *genomes, uint32_t count,
                                   uint32_t genome_bytes, double *values, mf_Error *error);
