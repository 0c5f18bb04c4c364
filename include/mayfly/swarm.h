// Mayfly: files of vehicles (models/*.yaml) and of swarms, worlds of several groups of vehicles
// (scenes/swarm.yaml), and the worlds made from them. docs/reference/swarm.md lists every key.
#ifndef MAYFLY_SWARM_H
#define MAYFLY_SWARM_H

#include <mayfly/car.h>
#include <mayfly/experiment.h>
#include <mayfly/fixed_wing.h>
#include <mayfly/interaction.h>
#include <mayfly/quadrotor.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- vehicles ----------------------------------------------------------------------------------

typedef enum mf_VehicleKind {
    MF_VEHICLE_QUADROTOR,
    MF_VEHICLE_FIXED_WING,
    MF_VEHICLE_CAR
} mf_VehicleKind;

// "quadrotor", "fixed_wing", "car": the top key of a vehicle's file.
MF_API const char *mf_vehicle_kind_name(mf_VehicleKind kind);

// What a vehicle's file says, defaults filled in. Of the parameters those of the kind are valid.
typedef struct mf_Vehicle {
    const char *file; // path it was read from
    const char *name; // its file name without folder and ending
    mf_VehicleKind kind;
    mf_Quadrotor quadrotor;
    mf_FixedWing fixed_wing;
    mf_Car car;
    mf_Context *context;
} mf_Vehicle;

// Reads and checks a vehicle's file. Errors name file:line:column and what was expected; what
// mf_<kind>_check() refuses is reported at the line of the member that it names.
MF_API mf_Status mf_vehicle_load(mf_Context *context, const char *path, mf_Vehicle **out,
                                 mf_Error *error);
// The same from memory; `path` is used in messages.
MF_API mf_Status mf_vehicle_parse(mf_Context *context, const char *path, const char *text,
                                  size_t size, mf_Vehicle **out, mf_Error *error);
MF_API void mf_vehicle_destroy(mf_Vehicle *vehicle); // NULL is fine

// The vehicle as YAML text with every default written out; reading it again gives the same vehicle.
// From mf_allocate.
MF_API mf_Status mf_vehicle_write(const mf_Vehicle *vehicle, char **text, mf_Error *error);

// A page for people: mass, what the vehicle can do (hover speed, trim, top speed) under `gravity`
// [m/s^2] > 0. From mf_allocate.
MF_API mf_Status mf_vehicle_describe(const mf_Vehicle *vehicle, double gravity, char **text,
                                     mf_Error *error);

// ---- swarms ------------------------------------------------------------------------------------

typedef enum mf_PlacementKind {
    MF_PLACEMENT_GRID,   // rows and columns, layer above layer
    MF_PLACEMENT_CIRCLE, // evenly on a circle
    MF_PLACEMENT_RANDOM  // anywhere in a box, apart from each other
} mf_PlacementKind;

// Where a group starts. Heights are above the ground below; cars always stand on it.
typedef struct mf_Placement {
    mf_PlacementKind kind;
    double center[3];  // [m] grid: middle of the lowest layer; circle: its middle
    double spacing[3]; // [m] > 0 grid: between columns, rows and layers
    uint32_t columns;  // [1] grid: along x; 0 = as many as rows
    uint32_t layers;   // [1] grid: >= 1
    double radius;     // [m] > 0 circle
    bool along;        // circle: face along it, anticlockwise, instead of `heading`
    double lower[3];   // [m] random: low corner of the box
    double upper[3];   // [m] random: high corner
    double distance;   // [m] random: least distance of centres; 0 = just without contact
    uint64_t seed;     // [1] random
    double heading;    // [rad] east is 0, north pi/2
    double speed;      // [m/s] >= 0 along the heading at the start
    int32_t line;      // [1] in the swarm's file, 0 when unknown
    int32_t column;    // [1]
} mf_Placement;

typedef enum mf_BehaviourKind {
    MF_BEHAVIOUR_HOLD,      // stay: hover at the start, fly on, stand
    MF_BEHAVIOUR_COMMAND,   // constant values in a command mode of the vehicle
    MF_BEHAVIOUR_ORBIT,     // all around one circle
    MF_BEHAVIOUR_FORMATION, // evenly spaced on circles inside each other
    MF_BEHAVIOUR_WAYPOINTS, // from place to place
    MF_BEHAVIOUR_FLOCK      // Reynolds' boids, by the neighbours that each one detects
} mf_BehaviourKind;

// What the agents of a group are told to do.
typedef struct mf_Behaviour {
    mf_BehaviourKind kind;
    mf_Rate rate;     // [1/s] how often commands are written; default 20 a second
    double speed;     // [m/s] > 0 of orbit, formation, waypoints and flock
    const char *mode; // command: a mode of the vehicle
    double
        *values; // [1] or as the field says; command: in the order of the mode's fields; borrowed
    uint32_t value_count;     // [1]
    double center[2];         // [m] orbit and formation
    double radius;            // [m] > 0 orbit; formation: of the innermost circle
    double height;            // [m] orbit; formation: of the innermost circle; world frame
    uint32_t circles;         // [1] formation: >= 1
    double gap;               // [m] > 0 formation: between radii
    double rise;              // [m] formation: between heights, outward
    bool alternate;           // formation: every second circle turns clockwise
    double (*points)[3];      // [m] waypoints, world frame; borrowed
    uint32_t point_count;     // [1]
    double reached;           // [m] > 0 waypoints: near enough to go on
    bool loop;                // waypoints: start again after the last
    double separation;        // [m] flock (> 0) and formation: nearer neighbours are avoided
    double separation_weight; // [1] >= 0
    double alignment_weight;  // [1] >= 0
    double cohesion_weight;   // [1] >= 0
    double goal_weight;       // [1] >= 0 flock: towards `goal`
    double goal[3];           // [m] flock, world frame
} mf_Behaviour;

// One group of a swarm.
typedef struct mf_SwarmGroup {
    const char *name;
    const char *vehicle_path; // resolved against the file's folder
    uint32_t count;           // [1]
    bool double_precision;
    mf_Integrator integrator;
    mf_Time control_interval; // [ns] between ticks of the on-board loops; 0 = every step
    bool collides;            // meets others
    double rotor_area;        // [m^2] >= 0, > 0: pushes air down
    mf_CarModel car_model;    // cars only
    mf_CarTyre car_tyre;      // cars only
    mf_Time outer_interval;   // [ns] quadrotors only; 0: with every tick of the control
    mf_Turbulence turbulence; // fixed wings only
    mf_Placement placement;
    mf_Behaviour behaviour;
    const mf_Vehicle *vehicle; // owned by the swarm
} mf_SwarmGroup;

#define MF_SWARM_GROUPS 32u // [1] most groups of a swarm

// Everything a swarm's file says, defaults filled in. Strings belong to the swarm.
typedef struct mf_Swarm {
    const char *file;         // path it was read from
    const char *name;         // title
    const char *terrain_path; // resolved; NULL when generated
    mf_TerrainConfig terrain;
    mf_TerrainGenerator generator;
    double terrain_scale;  // [m]
    double terrain_offset; // [m]
    mf_Time step;          // [ns]
    double gravity;        // [m/s^2]
    uint64_t seed;         // [1]
    double duration;       // [s] of `mayfly run`
    bool interact;         // agents meet: `interaction` is not none
    mf_InteractionConfig interaction;
    int32_t interaction_line;   // [1] in the file, 0 when unknown
    int32_t interaction_column; // [1]
    mf_SwarmGroup *groups;
    uint32_t group_count; // [1] 1 .. MF_SWARM_GROUPS
    mf_Context *context;
} mf_Swarm;

// True when the YAML text has the top key `groups`, so is a swarm and no experiment; when it has
// that of a vehicle.
MF_API bool mf_swarm_is(const char *text, size_t size);
MF_API bool mf_vehicle_is(const char *text, size_t size);

// Reads and checks a swarm's file and the vehicles in it; overrides such as
// "groups.quads.count=100" are applied before the check. Errors name file:line:column.
MF_API mf_Status mf_swarm_load(mf_Context *context, const char *path, const mf_Override *overrides,
                               uint32_t override_count, mf_Swarm **out, mf_Error *error);
MF_API mf_Status mf_swarm_parse(mf_Context *context, const char *path, const char *text,
                                size_t size, const mf_Override *overrides, uint32_t override_count,
                                mf_Swarm **out, mf_Error *error);
MF_API void mf_swarm_destroy(mf_Swarm *swarm); // NULL is fine

// The whole file as YAML text with every default written out. From mf_allocate.
MF_API mf_Status mf_swarm_write(const mf_Swarm *swarm, char **text, mf_Error *error);

// Agents of all groups.
MF_API uint64_t mf_swarm_count(const mf_Swarm *swarm); // [1]

// A world made from a swarm, with everything it borrows.
typedef struct mf_SwarmScene {
    const mf_Swarm *swarm; // borrowed
    mf_Terrain *terrain;
    mf_World *world;
    mf_Model *models[MF_SWARM_GROUPS]; // one per group
    mf_Interaction *interaction;       // NULL when agents do not meet; owned by the world
} mf_SwarmScene;

// Makes ground, world and groups, places every agent, adds motion, interaction and behaviours.
// Agents that would overlap at the start, within a group or between two, are refused with the line
// of the placement.
MF_API mf_Status mf_swarm_scene_create(mf_Context *context, const mf_Swarm *swarm,
                                       mf_SwarmScene *out, mf_Error *error);
MF_API void mf_swarm_scene_destroy(mf_SwarmScene *scene);

// ---- parts for programs ------------------------------------------------------------------------

// Start places [m] of `count` agents, positions[3 * i ..], heights above `terrain` (NULL: 0), and
// their headings [rad]. `radius` [m] is that of the sphere that meets others, `clearance` [m] how
// high a vehicle on wheels stands; < 0 for one that flies. Random places keep apart from each other
// and from `taken` (x, y, z, radius of `taken_count` agents; may be NULL). MF_BAD_ARGUMENT when
// they do not fit.
MF_API mf_Status mf_placement_places(mf_Context *context, const mf_Placement *placement,
                                     const mf_Terrain *terrain, uint32_t count, double radius,
                                     double clearance, const double (*taken)[4],
                                     uint32_t taken_count, double *positions, double *headings,
                                     mf_Error *error);

// The command mode that a behaviour needs of a vehicle, as int of its kind's enum.
// MF_BAD_ARGUMENT when the vehicle cannot do it.
MF_API mf_Status mf_behaviour_mode(const mf_Behaviour *behaviour, mf_VehicleKind kind, int *mode,
                                   mf_Error *error);

// The circle of a formation, from 0, that an agent of `count` belongs to.
MF_API uint32_t mf_behaviour_circle(const mf_Behaviour *behaviour, uint32_t count,
                                    uint32_t instance);

// MF_BAD_ARGUMENT when the vehicle is too slow, too fast or too wide for it.
MF_API mf_Status mf_behaviour_check(const mf_Behaviour *behaviour, const mf_Vehicle *vehicle,
                                    mf_Error *error);

// Adds a system that writes the commands of every agent of `group` by `behaviour` (copied, lists
// too). The group must move as vehicles of `kind` in that mode. A flock needs an interaction that
// detects neighbours.
MF_API mf_Status mf_behaviour_add(mf_Group *group, mf_VehicleKind kind,
                                  const mf_Behaviour *behaviour, mf_Error *error);

#ifdef __cplusplus
}
#endif
#endif
