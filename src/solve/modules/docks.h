// Inside of docks: shared by their files only.
//
//   docks.c        creation, fields, connections by calls
//   docks_step.c   separation and docking at the beginning of a step, loads and breaks at its end
//   docks_near.c   pairs of docks near each other
//
// A port is a dock of a robot; ports are numbered by groups, robots and docks. Two engaged ports
// have a joint (joints.h) whose record names them; the fields of both name it.
#pragma once

#include "solve/joints.h"

#include <mayfly/docks.h>

enum { MF_DOCKS_LIMIT = 131072, MF_DOCKS_PAIRS = 8 }; // [1] of a world; near pairs per port

// The docks of a group; owned by the group.
typedef struct mf_DockGroup {
    struct mf_DockGroup *next; // by rising index of the group
    mf_WorldDocks *docks;
    mf_Group *group;
    const mf_Model *model;
    uint32_t index;       // [1] of the group
    uint32_t first;       // [1] number of its first port
    uint32_t first_robot; // [1] robots of groups before
    uint32_t robots;      // [1]
    uint32_t *links,
        link_count;        // [1] links with docks and those between base and them
    double *motions;       // space for the motions of links, per block
    size_t motion_size;    // [1] of a block
    const uint32_t *fault; // fault.word
    uint32_t *enabled, *state, *partner, *orientation, *joint; // data of the fields
    mf_Field *load, *wait;
    struct mf_AssemblyGroup *assemblies; // its part of the assemblies that move as trees
} mf_DockGroup;

// A listed port: one that may dock in this step, or that sends by infrared.
typedef struct mf_DockSite {
    uint32_t port; // [1]
    mf_DockGroup *group;
    uint32_t instance; // [1]
    const mf_Dock *dock;
    double position[3];    // [m] world
    double orientation[4]; // [1] dock to world
    int64_t cell[3];       // [1] of the grid
} mf_DockSite;

// Two ports that are near each other; the number of the first is smaller.
typedef struct mf_DockPair {
    double square;        // [m^2] of their distance
    uint32_t sites[2];    // [1]
    uint32_t orientation; // [1]
    bool aligned;         // within the tolerances of both
} mf_DockPair;

// What was on a link before a magnet pulled it.
typedef struct mf_DockPush {
    uint32_t group, instance, link; // [1]
    uint32_t count;                 // [1] wrench.count
    double before[6];               // [N], [N m] wrench.link
} mf_DockPush;

struct mf_WorldDocks {
    mf_Context *context;
    mf_World *world;
    mf_WorldJoints *joints;
    mf_WorldDocksConfig config;
    mf_DockGroup *groups;
    uint32_t world_groups;            // [1] groups of the world when they were listed
    mf_DockGroup **group_of;          // per group of the world; NULL: it has no docks
    uint32_t port_count, robot_count; // [1]
    double reach;                     // [m] largest distance at which docks interact
    bool magnets;                     // some pull
    uint32_t site_count, pair_count;  // [1]
    mf_DockSite *sites;
    mf_DockPair *pairs;
    double cell;                // [m] of the grid
    uint32_t bucket_count;      // [1] a power of two
    uint32_t *buckets, *sorted; // [1] sites by cell
    bool *mated;                // per port: it was within tolerance of another in this step
    uint32_t push_count;
    mf_DockPush *pushes;
    uint32_t block_count;        // [1] of all groups
    struct mf_DockBlock *blocks; // per block of robots
    mf_DocksStatistics statistics;
    struct mf_Assemblies *assemblies; // assemblies.h
};

typedef struct mf_DockBlock {
    mf_DockGroup *group;
    uint32_t block;                // [1]
    uint32_t first_site, site_end; // [1] of its ports that were asked for
} mf_DockBlock;

// Index of a value of a field with `width` values per dock.
static inline size_t mf_dock_at(const mf_DockGroup *group, uint32_t instance, uint32_t dock,
                                uint32_t width, uint32_t c) {
    const size_t components = (size_t)group->model->dock_count * width;
    return ((size_t)(instance / MF_BLOCK) * components + (size_t)dock * width + c) * MF_BLOCK +
           instance % MF_BLOCK;
}

// Handle of the joint of a port.
static inline mf_WorldJointId mf_dock_joint(const mf_DockGroup *group, uint32_t instance,
                                            uint32_t dock) {
    return (uint64_t)group->joint[mf_dock_at(group, instance, dock, 2, 1)] << 32 |
           group->joint[mf_dock_at(group, instance, dock, 2, 0)];
}

// Whether a joint is that of two docks.
static inline bool mf_dock_holds(const mf_JointRecord *record) {
    return record->exists && record->part[0] != 0;
}

static inline uint32_t mf_dock_number(const mf_DockSite *site) { // [1] of the model
    return (uint32_t)(site->dock - site->group->model->docks);
}

// [1] Orientations in which two docks fit.
static inline uint32_t mf_dock_orientations(const mf_Dock *a, const mf_Dock *b) {
    return a->orientations < b->orientations ? a->orientations : b->orientations;
}

// Sets the pose of a site from the motions of the links of its block.
void mf_dock_find_pose(mf_DockSite *site, const double *motions);
// Orientation of the joint's frame in the first of two docks: that of the second when it is docked.
void mf_dock_facing(double out[4], uint32_t orientation, uint32_t orientations);
// Joins two ports, whose fields are free. The joints must have a free slot.
void mf_docks_join(mf_WorldDocks *docks, const mf_DockSite sites[2], uint32_t orientation);
// Takes the joint of a record and the fields of its ports away. Ports that it broke get `state`.
void mf_docks_part(mf_WorldDocks *docks, uint32_t slot, mf_DockState state);
// The group of a number of a group of the world; NULL: it has no docks.
mf_DockGroup *mf_docks_group(const mf_WorldDocks *docks, uint32_t index);
// Sets a port's fields to those of one without a partner.
void mf_dock_clear(mf_DockGroup *group, uint32_t instance, uint32_t dock, mf_DockState state);

// Lists the ports for which `takes` is true, with their poses, in the order of ports.
typedef bool (*mf_DockFilterFn)(const mf_DockGroup *group, uint32_t instance, uint32_t dock);
void mf_docks_find_sites(mf_WorldDocks *docks, mf_DockFilterFn takes);
// Calls `visit` for all pairs of listed sites less than `reach` [m] apart (and some farther ones),
// the first with the lower number.
typedef void (*mf_DockPairFn)(mf_WorldDocks *docks, uint32_t first, uint32_t second, void *user);
void mf_docks_visit_near(mf_WorldDocks *docks, double reach, mf_DockPairFn visit, void *user);

// Lists the ports that may dock, and pairs of them that are near each other, the nearest first.
void mf_docks_find_near(mf_WorldDocks *docks);

// The beginning and the end of a step.
void mf_docks_begin(mf_WorldDocks *docks, const mf_SystemRun *run);
void mf_docks_end(mf_WorldDocks *docks);

// "free", "closing", "engaged", "missed", "broken".
const char *mf_dock_state_name(mf_DockState state);
