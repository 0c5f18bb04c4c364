// Mayfly: interaction of agents of shared groups: detection of neighbors, collisions, downwash and
// wind, a fence. docs/explanation/contact.md has the method and the equations.
#pragma once

#include <mayfly/world.h>

#define MF_NEAREST_LIMIT 32u // [1] largest number of listed neighbors

// Options of a group in the interaction. Start from mf_interaction_member().
typedef struct mf_InteractionMember {
    uint32_t struct_size; // [byte] set by mf_interaction_member()
    mf_Group *group;      // shared (not isolated)
    double radius;        // [m] of the collision sphere, 0 .. 1e4; 0: that of the model, which
                          // contains all that collides about the base's origin
    bool collides;        // collides with other agents; default true
    bool terrain;         // contact with the ground is a fault; default true, wrong for cars
    double rotor_area;    // [m^2] of all rotor discs, 0 .. 1e6; > 0: causes downwash; default 0
    double thrust;        // [N] thrust for downwash, 0 .. 1e9; 0: the weight; default 0
} mf_InteractionMember;
// The defaults of a member: `group`, as its model is.
MF_API mf_InteractionMember mf_interaction_member(mf_Group *group);

typedef enum mf_WindProfile {
    MF_WIND_UNIFORM,    // the same everywhere
    MF_WIND_LOGARITHMIC // grows with height: speed ln(h / roughness) / ln(reference / roughness)
} mf_WindProfile;

typedef struct mf_InteractionConfig {
    uint32_t struct_size;                // [byte] set by mf_interaction_config()
    const mf_InteractionMember *members; // copied; NULL: all shared groups, with defaults
    uint32_t member_count;               // [1]

    bool detect;       // write neighbors to fields; default true
    double radius;     // [m] of detection, > 0, <= 1e5; default 5
    uint32_t nearest;  // [1] number of listed neighbors, 0 .. MF_NEAREST_LIMIT; default 8
    bool relative;     // write relative positions and velocities; default true
    double view_angle; // [rad] half-angle of the field of view about body x, > 0 .. pi; default pi:
                       // all directions
    mf_Rate detection_rate; // default: every step

    bool collide;             // agents that touch others get MF_FAULT_COLLISION; default true
    bool terrain;             // and those below the ground MF_FAULT_TERRAIN; default true
    double terrain_tolerance; // [m] penetration that is allowed, below the standing height; 0 ..
                              // 1e3; default 0.01
    bool fence;               // monitor a box; default false
    bool fence_faults;        // agents that leave it get MF_FAULT_FENCE; false: only an event
    double fence_low[3];      // [m] corners of the box, world
    double fence_high[3];     // [m]
    mf_Rate collision_rate;   // of collisions, terrain and fence; default: every step

    bool background;  // detection and collisions run on a background thread; default false
    uint32_t latency; // [1] steps from detection to its effect; at most the shortest period of
                      // detection and collisions; default 0: the same step

    bool downwash;          // rotorcraft cause downwash; default false
    double downwash_reach;  // [m] range below the rotors, 0.1 .. 1e3; default 4
    double air_density;     // [kg/m^3] 1e-3 .. 100; default 1.225
    double wind[3];         // [m/s] world, of the undisturbed air (at `wind_reference`), within 200
    mf_WindProfile profile; // default MF_WIND_UNIFORM
    double wind_ground;     // [m] world z that heights h are counted from; default 0
    double wind_roughness;  // [m] 1e-5 .. 10; default 0.03: grassland
    double wind_reference;  // [m] height of `wind`, > roughness, <= 1e4; default 10
    mf_Rate air_rate;       // of wind and downwash; default: every step

    double margin;           // [m] of the neighbor lists, > 0; default 0: a fifth of the reach
    uint32_t candidates;     // [1] capacity of the lists in candidates per agent, 1 .. 2^20; 96
    uint32_t event_capacity; // [1] capacity of the event buffer, 1 .. 2^24; default 4096
} mf_InteractionConfig;
// The defaults of mf_InteractionConfig: every configuration starts from them.
MF_API mf_InteractionConfig mf_interaction_config(void);

// The interaction of a world; owned by the world.
typedef struct mf_Interaction mf_Interaction;

// Adds the interaction; `config` may be NULL. Add it after the motions of the groups: wind and
// downwash are written to `wind.velocity` of those that have it then. If `detect` is set, adds to
// each member's group the fields
//     neighbor.count     [1]   agents within radius and field of view
//     neighbor.index     [1]   indices of the nearest agents, nearest first (equally near: smaller
//                              index first), MF_NONE after the last
//     neighbor.position  [m]   relative to the own, world axes; 0 after the last
//     neighbor.velocity  [m/s] likewise
// They are constant until the next detection; those of an agent with a fault do not change.
MF_API mf_Status mf_interaction_add(mf_World *world, const mf_InteractionConfig *config,
                                    mf_Interaction **out, mf_Error *error);

// Agents are numbered over all members; each group begins at a multiple of MF_BLOCK. Group and
// instance of an agent index; false if it does not exist. Outputs may be NULL.
MF_API bool mf_interaction_locate(const mf_Interaction *interaction, uint32_t agent,
                                  mf_Group **group, uint32_t *instance);

typedef enum mf_EventKind {
    MF_EVENT_COLLISION, // two agents touched
    MF_EVENT_TERRAIN,   // an agent hit the ground
    MF_EVENT_FENCE      // an agent left the box
} mf_EventKind;

typedef struct mf_InteractionEvent {
    mf_Time time;     // [ns] of the state in which it was found
    uint32_t agent;   // [1] in a collision the smaller number
    uint32_t partner; // [1] the larger number; MF_NONE for ground and fence
    mf_EventKind kind;
    double position[3]; // [m] of `agent`, world
} mf_InteractionEvent;

// Events since the last clearing, in order of time, kind, agent, partner; returns their number and
// sets *events to memory of the interaction, valid until the next step. `lost` (may be NULL) [1]:
// number of events dropped because the buffer was full. Faults do not depend on it. Events are not
// state: snapshots do not contain them.
MF_API uint32_t mf_interaction_events(const mf_Interaction *interaction,
                                      const mf_InteractionEvent **events, uint64_t *lost);
MF_API void mf_interaction_clear_events(mf_Interaction *interaction);

typedef struct mf_InteractionStatistics {
    uint64_t builds;     // [1] number of builds of the neighbor lists
    uint32_t full;       // [1] agents whose candidates exceed the lists: they are searched for
                         // without lists, exactly but slower
    uint64_t detections; // [1] started
    uint64_t collisions; // [1] pairs found, including those whose event was dropped
} mf_InteractionStatistics;
// What happened so far.
MF_API mf_InteractionStatistics mf_interaction_statistics(const mf_Interaction *interaction);
