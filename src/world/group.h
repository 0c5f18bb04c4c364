// Inside of worlds and groups. Systems use the public API; this header is for src/world only.
#ifndef MF_WORLD_GROUP_H
#define MF_WORLD_GROUP_H

#include "world/attach.h"
#include "world/world_state.h"

#include <stdatomic.h>

enum { MF_MAX_FIELDS = 96, MF_MAX_SYSTEMS = 24, MF_MAX_GROUPS = 64 };

enum { MF_FIELD_WORDS = (MF_MAX_FIELDS + 63) / 64 };

// A set of fields of a group, one bit each.
typedef struct mf_FieldSet {
    uint64_t words[MF_FIELD_WORDS];
} mf_FieldSet;

typedef struct mf_SystemSlot {
    mf_SystemConfig config;  // reads and writes are lists in `names`
    const char **names;      // owned: what was declared, then what of it the group has
    mf_FieldSet reads;       // empty when nothing is declared
    mf_FieldSet writes;      // likewise
    uint32_t wave;           // [1] see mf_group_system_wave
    bool every_step;         // due at each step, so that no division is needed
    uint64_t next;           // [1] the step at which it is due next; kept for shared groups only
    _Atomic uint64_t worked; // [ns] while the world is measured
} mf_SystemSlot;

typedef struct mf_WorldSystemSlot {
    mf_WorldSystemConfig config;
    bool every_step;
    bool last;       // stays behind the others of its phase
    uint64_t next;   // [1] the step at which it is due next
    uint64_t worked; // [ns] while the world is measured
} mf_WorldSystemSlot;

// Where an instance starts when it was placed.
typedef struct mf_StartPose {
    double position[3];        // [m] world
    double orientation[4];     // [1] body to world
    double linear_velocity[3]; // [m/s] world
} mf_StartPose;

// The canonical fields, which every motion shares.
typedef struct mf_CanonicalFields {
    mf_Field *position, *orientation, *linear_velocity, *angular_velocity;
    mf_Field *joint_angle, *joint_rate, *joint_target;
    mf_Field *fault_word, *fault_count;
} mf_CanonicalFields;

struct mf_Group {
    mf_World *world;
    mf_GroupConfig config; // name owned by the group
    uint32_t blocks;
    uint32_t field_count, system_count;
    mf_Field fields[MF_MAX_FIELDS];
    void *field_memory[MF_MAX_FIELDS];     // what the data of each field lies in
    mf_SystemSlot systems[MF_MAX_SYSTEMS]; // in order of phase, then of being added
    mf_CanonicalFields canonical;
    mf_WarningFields warnings; // NULL: no system raises any
    uint32_t start_point_count;
    double *start_points; // [m] colliding points at the start angles, base frame
    mf_StartPose *starts; // of the instances that were placed; NULL when none was
    uint8_t *placed;      // [1] per instance: 1 when `starts` counts
    uint64_t starts_hash; // [1] over all starts, in whatever order they were given
    bool drives_joints;   // a controller writes joint.target
    bool slow;            // some phase has slow systems that may run at the same time
    struct mf_Kept *kept; // what mf_attach_keep was given
    uint32_t contact_row_count;
    mf_ContactLink *contact_links; // NULL until a motion says what its contacts are
    mf_ContactRow *contact_rows;   // behind them
    mf_ContactPointFn contact_point;
    const void *contact_plan;
    const mf_SensorSource *sensor_source; // NULL until a motion offers it
    void (*restored)(mf_Group *group,
                     void *user); // as mf_group_on_restore was reported; NULL: nothing
    void *restored_user;
};

typedef struct mf_WorldKept {
    const char *name;
    void *user;
    void (*destroy)(mf_Context *context, void *user);
} mf_WorldKept;

struct mf_World {
    mf_Context *context;
    mf_WorldConfig config;
    mf_Terrain *own_terrain; // when the config named none
    mf_Isa isa;
    mf_Time time;
    uint64_t tick;
    bool measured; // systems note what they take
    uint32_t group_count;
    mf_Group *groups[MF_MAX_GROUPS];
    uint32_t system_count;
    mf_WorldSystemSlot systems[MF_WORLD_SYSTEM_LIMIT]; // in order of phase, then of being added
    uint32_t kept_count;
    mf_WorldKept kept[MF_WORLD_KEPT]; // what mf_world_keep was given
    bool has_state;
    mf_WorldState state; // what no field holds
};

// True when gravity pulls along -z, or nowhere: what every motion knows.
static inline bool mf_world_pulls_down(const mf_WorldConfig *config) {
    const double *way = config->gravity_direction;
    return config->gravity == 0.0 || (way[0] == 0.0 && way[1] == 0.0 && way[2] < 0.0);
}

void mf_group_destroy(mf_Group *group);

// Finds out again what each system reads and writes, and which may run at the same time, after
// `group` got a field. On failure (two systems would write it) nothing has changed.
mf_Status mf_group_redeclare(mf_Group *group, mf_Error *error);

// The rate is that of every step, or of two positive numbers and not faster than the steps. `what`
// names whose it is.
mf_Status mf_world_check_rate(const mf_World *world, const char *what, mf_Rate rate,
                              mf_Error *error);

// Sets the fields of warnings, where the group has them, to 0.
void mf_group_clear_warnings(mf_Group *group, uint32_t instance);

// Starts robots again that have a fault.
void mf_group_reset_faulty(mf_Group *group, uint32_t first_block, uint32_t block_count);

// Runs a system, and the clock next to it when the world is measured.
void mf_system_run(mf_SystemSlot *slot, const mf_SystemRun *run);

// Few blocks for the threads, and slow systems that may run at the same time: the groups, isolated
// or shared ones, go phase by phase.
bool mf_waves_pay(const mf_World *world, bool isolated);
// Runs what is due of a phase at step `tick`, wave after wave, in parallel over systems and blocks.
void mf_waves_run(mf_World *world, mf_Phase phase, uint64_t tick, bool isolated);

// Finds again when every system is due next, after the world's tick was set.
void mf_world_reschedule(mf_World *world);

// First step index n >= from at which a tick of `rate` falls into ((n-1)*step, n*step].
uint64_t mf_rate_next_step(mf_Rate rate, mf_Time step, uint64_t from);

#endif
