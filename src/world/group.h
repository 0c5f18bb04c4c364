// Internals of worlds and groups, for src/world only. Systems use the public API.
#pragma once

#include <mayfly/camera.h>
#include <mayfly/world.h>
#include <mayfly/property.h>
#include <mayfly/motion.h>
#include "world/attach.h"
#include "world/world_state.h"

#include <stdatomic.h>

enum { MF_MAX_FIELDS = 96, MF_MAX_SYSTEMS = 24 };

enum { MF_FIELD_WORDS = (MF_MAX_FIELDS + 63) / 64 };

// A set of fields of a group, one bit each.
typedef struct mf_FieldSet {
    uint64_t words[MF_FIELD_WORDS];
} mf_FieldSet;

typedef struct mf_SystemSlot {
    mf_SystemConfig config;  // reads and writes are lists in `names`
    const char **names;      // owned: declared names, then those that the group has
    mf_FieldSet reads;       // empty when nothing is declared
    mf_FieldSet writes;      // likewise
    uint32_t wave;           // [1] see mf_group_system_wave
    bool every_step;         // due at each step, which needs no division
    bool derived;            // from mf_attach_derived
    bool unread;             // derived, and no system reads what it writes
    const mf_Alike *alike;   // from mf_attach_alike; NULL: it runs group by group
    uint64_t next;           // [1] next step at which it is due; shared groups only
    _Atomic uint64_t worked; // [ns] while the world is measured
} mf_SystemSlot;

typedef struct mf_WorldSystemSlot {
    mf_WorldSystemConfig config;
    bool every_step;
    bool last;       // runs after the others of its phase
    uint32_t groups; // [1] of the world when it was added
    uint64_t next;   // [1] next step at which it is due
    uint64_t worked; // [ns] while the world is measured
} mf_WorldSystemSlot;

// Start pose of an instance that was placed.
typedef struct mf_StartPose {
    double position[3];        // [m] world
    double orientation[4];     // [1] body to world
    double linear_velocity[3]; // [m/s] world
} mf_StartPose;

// The canonical fields, shared by all motions.
typedef struct mf_CanonicalFields {
    mf_Field *position, *orientation, *linear_velocity, *angular_velocity;
    mf_Field *joint_angle, *joint_rate, *joint_target;
    mf_Field *fault_word, *fault_count;
} mf_CanonicalFields;

// A model that some robots have instead of their group's, with its points that touch the ground at
// its start, as many as the group's model has.
typedef struct mf_OwnModel {
    const mf_Model *model;
    uint32_t robots; // [1] that have it
    double points[]; // [m] as `start_points`
} mf_OwnModel;

enum { MF_INSPECT_LARGE = 4 };

// Data of inspect.c and inspect_encounters.c about a group.
typedef struct mf_Inspection {
    const mf_Field *large[MF_INSPECT_LARGE]; // positions and angles of single precision
    uint32_t large_count;
    double square; // [m^2/s^2] of the speed from which a body may pass through another; INFINITY
    bool floats, pushed; // it has bodies on floating joints; others push it
    const mf_Field *position, *velocity, *rotation; // of those bodies
} mf_Inspection;

struct mf_Group {
    mf_World *world;
    uint32_t number;       // [1] of the world's groups
    mf_GroupConfig config; // name owned by the group
    uint32_t blocks;
    uint32_t first_moving, moving; // [1] block, and blocks from it on, that step
    uint32_t field_count, system_count;
    // The pack (packs.c); the last four are the leader's.
    mf_Group *pack_leader, *pack_next; // itself without others; NULL: the last
    uint32_t pack_lane;                // [1] its first lane there
    uint32_t pack_lanes;               // [1] of all
    bool pack_inside; // all robots are in the leader's lanes: what mf_pack_begin returns
    uint64_t pack_hash;
    uint32_t gap_part;        // [1] where it was last in the list of a gap
    uint32_t blocks_together; // [1] blocks that run all steps together
    uint32_t fields_measured; // [1] field_count for which that holds
    // In one block with this structure, of which mf_group_run_lanes makes copies.
    mf_Field *fields;       // MF_MAX_FIELDS
    void **field_memory;    // allocation of each field's data
    mf_SystemSlot *systems; // MF_MAX_SYSTEMS, in order of phase, then of addition
    mf_CanonicalFields canonical;
    mf_WarningFields warnings; // NULL: no system raises warnings
    mf_Inspection inspection;
    const mf_WarningWords *warning_words[MF_WARNING_KINDS]; // NULL: those of all groups
    uint32_t start_point_count;
    double *start_points; // [m] points that touch the ground: colliding points at the start angles,
                          // or the lowest of colliding shapes, base frame
    bool on_shapes;       // the latter
    mf_OwnModel **own;    // per instance; NULL: all robots have the group's model
    const mf_Field *numbers; // model.numbers; NULL: likewise
    mf_StartPose *starts;    // of placed instances; NULL: none
    uint8_t *placed;         // [1] per instance: 1: `starts` is valid
    uint64_t starts_hash;    // [1] of all starts, independent of their order
    float tint[3];           // [1] color of its robots in pictures, if `tinted`
    bool tinted;
    bool drives_joints;   // a controller writes joint.target
    bool ground_tested;   // a system of the world raises a fault under the ground
    bool wind_blows;      // one writes wind.velocity
    bool slow;            // some phase has slow systems that may run in parallel
    int look_kind;        // [1] of the vehicle that its robots look like,
    const void *look;     // with these parameters; NULL: of none
    struct mf_Kept *kept; // memory of mf_attach_keep
    uint32_t contact_row_count;
    mf_ContactLink *contact_links; // NULL until a motion registers its contacts
    mf_ContactRow *contact_rows;   // after them
    mf_ContactPointFn contact_point;
    const void *contact_plan;
    const mf_SensorSource *sensor_source; // NULL: none registered
    void (*restored)(mf_Group *group,
                     void *user); // from mf_group_on_restore; may be NULL
    void *restored_user;
};

typedef struct mf_WorldKept {
    const char *name;
    void *user;
    void (*destroy)(mf_Context *context, void *user);
} mf_WorldKept;

// The tasks of a group whose blocks run all steps on their own.
typedef struct mf_StepPart {
    mf_Group *group;
    uint32_t first_task; // [1]
} mf_StepPart;

// The systems of a group that run before the next world system, all on a piece of its blocks.
typedef struct mf_GapPart {
    mf_Group *group;
    uint32_t first_piece, system_count; // [1]
    uint8_t systems[MF_MAX_SYSTEMS];    // [1]
} mf_GapPart;

// A system of a wave, with one task per block.
typedef struct mf_WaveEntry {
    mf_Group *group;
    uint32_t system, first_task; // [1]
} mf_WaveEntry;

struct mf_World {
    mf_Context *context;
    mf_WorldConfig config;
    mf_Terrain *own_terrain; // when the config has none
    mf_Isa isa;
    mf_Time time;
    uint64_t tick;
    uint64_t last_tick; // [1] last step of the present call of mf_world_step
    bool measured;      // systems measure their time
    uint32_t group_count;
    uint32_t group_capacity; // [1] 0 or a power of two
    mf_Group **groups;       // and what else grows with them, in one block
    bool packed;             // the packs hold
    uint32_t *open_packs;    // [1] 2 group_capacity: 1 + number of a leader, by hash
    uint32_t *names;         // [1] 2 group_capacity: 1 + number of a group, by the hash of its name
    mf_StepPart *parts;      // of a step, as the two after it
    mf_GapPart *gaps;
    mf_WaveEntry *waves; // of all systems
    uint32_t system_count;
    mf_WorldSystemSlot systems[MF_WORLD_SYSTEM_LIMIT]; // in order of phase, then of being added
    uint32_t kept_count;
    mf_WorldKept kept[MF_WORLD_KEPT]; // objects of mf_world_keep
    bool has_state;
    mf_WorldState state; // state outside of fields
};

// True when gravity is along -z or zero, which every motion supports.
static inline bool mf_world_pulls_down(const mf_WorldConfig *config) {
    const double *direction = config->gravity_direction;
    return config->gravity == 0.0 ||
           (direction[0] == 0.0 && direction[1] == 0.0 && direction[2] < 0.0);
}

void mf_group_destroy(mf_Group *group);

// Positions of the contact points at the start, by which robots stand on the ground.
mf_Status mf_group_find_start_points(mf_Group *group, mf_Error *error);
// Where a reset puts an instance that was not placed; `rotation` is only written if the file has
// one.
void mf_group_start_position(const mf_Group *group, uint32_t instance, double position[3],
                             double rotation[4]);
// Forgets the models of all instances.
void mf_group_drop_models(mf_Group *group);

// Adds the group to the world's list under its name. MF_LIMIT, MF_NO_MEMORY.
mf_Status mf_world_list_group(mf_World *world, mf_Group *group, mf_Error *error);

// Updates which fields each system reads and writes, and which systems may run in parallel, after a
// field was added to `group`. On failure (two systems would write it) nothing changes.
mf_Status mf_group_redeclare(mf_Group *group, mf_Error *error);

// Checks that the rate is that of every step, or two positive numbers and not faster than the
// steps. `what` names its owner in messages.
mf_Status mf_world_check_rate(const mf_World *world, const char *what, mf_Rate rate,
                              mf_Error *error);

// Sets the fields of warnings, where the group has them, to 0.
void mf_group_clear_warnings(mf_Group *group, uint32_t instance);

// Resets robots that have a fault.
void mf_group_reset_faulty(mf_Group *group, uint32_t first_block, uint32_t block_count);

// Whether no one can read the output of a system in step `tick`: programs read between calls of
// mf_world_step.
static inline bool mf_system_rests(const mf_World *world, const mf_SystemSlot *slot,
                                   uint64_t tick) {
    return slot->unread && tick != world->last_tick;
}

// Finds the derived systems whose fields no system reads, after systems were added to the group or,
// if it is shared, to the world.
void mf_group_find_unread(mf_Group *group);

// ---- packs (packs.c) ---------------------------------------------------------------------------

// Makes the packs if groups, fields or systems were added since.
void mf_packs_make(mf_World *world);
// Runs a system of all groups of a pack, of one block each.
void mf_pack_run(mf_Group *leader, uint32_t system, const mf_SystemRun *run);
// Whether its robots stay in the leader's lanes for so many steps.
bool mf_pack_stays(const mf_Group *leader, uint64_t steps);
// Copies all robots to the leader's lanes, and back; what is returned is the leader with all lanes.
mf_Group mf_pack_begin(const mf_Group *leader);
void mf_pack_end(const mf_Group *leader);

// Runs a system and measures its time when the world is measured.
void mf_system_run(mf_SystemSlot *slot, const mf_SystemRun *run);

// Whether the isolated (or shared) groups run phase by phase: there are few blocks for the threads,
// and slow systems that may run in parallel.
bool mf_waves_pay(const mf_World *world, bool isolated);
// Runs the due systems of a phase at step `tick`, wave after wave, in parallel over systems and
// blocks.
void mf_waves_run(mf_World *world, mf_Phase phase, uint64_t tick, bool isolated);

// Computes when every system is due next, after the world's tick was set.
void mf_world_reschedule(mf_World *world);

// From now on robots `first` .. `first + count - 1`, and others of their blocks, are all that steps
// and is rewound of an isolated group that is alone: whoever evaluates a part of a population.
void mf_group_move_only(mf_Group *group, uint32_t first, uint32_t count);

// mf_world_restore without the payload's checksum, for an image that this world made and its owner
// kept in memory: a search returns to the same start in each generation.
mf_Status mf_world_rewind(mf_World *world, const void *image, size_t size, mf_Error *error);

// First step index n >= from at which a tick of `rate` falls into ((n-1)*step, n*step].
uint64_t mf_rate_next_step(mf_Rate rate, mf_Time step, uint64_t from);

// Whether the robots of a group can touch the ground of its world: the value for `contacts` of
// their motions. They need colliding shapes (or none at all: then their points touch). For a file
// without level plane or height field only free robots do, if the world has a ground or the file's
// world no colliding shape. NULL: false.
bool mf_group_touches_ground(const mf_Group *group);

// NULL if the property may be written, else the reason: it is a constant, or computed.
const char *mf_property_locked(const mf_Property *property);

// A value plus its remainder: more digits than the field alone.
double mf_field_sum(const mf_Field *field, uint32_t instance, uint32_t component);
void mf_field_set_sum(mf_Field *field, uint32_t instance, uint32_t component, double value);

// The color (red, green and blue 0 .. 1) of a group's robots in pictures and films, for their
// colored shapes; `color` NULL: the colors of their model. Applies to cameras that are added later.
// Not state: the hash of a run does not change.
void mf_group_set_tint(mf_Group *group, const float color[3]);

// False: it has none, and *out is unchanged.
bool mf_group_tint(const mf_Group *group, float out[3]);

// Robots that something else moves look like a vehicle: an mf_VehicleKind with its parameters,
// which are not copied and must outlive the group. Not state, as the tint.
void mf_group_set_look(mf_Group *group, int kind, const void *parameters);

// The parameters, NULL if they look like no vehicle of this kind.
const void *mf_group_look(const mf_Group *group, int kind);
