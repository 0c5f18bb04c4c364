// Inside of worlds and groups. Systems use the public API; this header is for src/world only.
#ifndef MF_WORLD_GROUP_H
#define MF_WORLD_GROUP_H

#include <mayfly/world.h>

enum { MF_MAX_FIELDS = 96, MF_MAX_SYSTEMS = 24, MF_MAX_GROUPS = 64 };

typedef struct mf_SystemSlot {
    mf_SystemConfig config;
    bool every_step; // due at each step, so that no division is needed
} mf_SystemSlot;

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
    uint32_t start_point_count;
    double *start_points; // [m] colliding points at the start angles, base frame
};

struct mf_World {
    mf_Context *context;
    mf_WorldConfig config;
    mf_Terrain *own_terrain; // when the config named none
    mf_Isa isa;
    mf_Time time;
    uint64_t tick;
    uint32_t group_count;
    mf_Group *groups[MF_MAX_GROUPS];
};

void mf_group_destroy(mf_Group *group);

// First step index n >= from at which a tick of `rate` falls into ((n-1)*step, n*step].
uint64_t mf_rate_next_step(mf_Rate rate, mf_Time step, uint64_t from);

#endif
