// Internals of collisions.
#pragma once

#include "base/scratch.h"
#include "contact/compounds.h"
#include "solve/joints.h"

#include <mayfly/collision.h>
#include <mayfly/motion.h>

enum {
    MF_COLLISION_CHUNK = 8, // [1] pairs of robots of one piece of work
    MF_COLLISION_WAVE = 32  // [1] pieces of work before their contacts become forces
};

typedef struct mf_CollisionGroup {
    mf_Group *group;
    uint32_t number; // [1] of the world's groups
    bool solved;     // its robots take part in the world's solver
    mf_Compound *compound;
    mf_TreeFields fields;
    const mf_Field *position, *orientation, *fault;
    const mf_Field *level;           // motion.level or NULL
    mf_Field *wrench, *wrench_count; // NULL: robots take no wrenches
    uint32_t first, count;           // [1] range of its robots among all
    bool inner;
    bool wide;           // its fields are double
    bool takes_wrenches; // its robots take wrenches, except those currently moved by `kinematic`
    bool is_still;       // it never moves
    char *parts;         // state of its blocks
    size_t parts_stride;
    uint16_t *refit;  // [1] per block: bits of the robots whose parts are needed in this step
    uint8_t *watched; // [1] per block: 1: a robot in it is near another
    char *drifts;     // per block: accumulated displacement of robots
    size_t drifts_stride;
    double reach; // [m] about the base's origin; at most that of the spheres of this step
} mf_CollisionGroup;

typedef struct mf_CollisionBlock {
    uint32_t group, block; // [1]
} mf_CollisionBlock;

typedef struct mf_CollisionSettings { // combined from both shapes of a pair
    double stiffness;                 // [1/s^2] over the effective mass
    double slow;                      // [1] stiffness ratio of separating and approaching shapes
    double step;                      // [s]
    double closing; // [1/s] solved contacts: fraction of the depth corrected per second
    double give;    // [s] compliant contacts: softness times the effective mass
    double rest;    // [m] hard contacts: remaining depth
    double slowest; // [m/s] hard contacts: slower impacts do not bounce
} mf_CollisionSettings;

// Two robots, the first index smaller; equal: limbs of one robot.
typedef struct mf_CollisionTwo {
    uint32_t a, b; // [1]
} mf_CollisionTwo;

// A contact of the last step, as reported by mf_world_contacts.
typedef struct mf_CollisionContact {
    mf_CollisionTwo robots;
    uint32_t solids[2]; // [1] of their compounds
    double point[3];    // [m] world
    double normal[3];   // [1] from the first to the second
    double depth;       // [m]
    double load;        // [N]
    double force[3];    // [N] on the second
} mf_CollisionContact;

struct mf_Collisions {
    mf_Context *context;
    mf_World *world;
    mf_CollisionsConfig config;
    mf_CollisionSettings settings;
    uint32_t group_count, robot_count; // [1]
    mf_CollisionGroup *groups;
    uint32_t world_groups;  // [1] groups of the world when they were listed
    uint32_t *member_of;    // [1] per group of the world: its index among them; MF_NONE
    mf_Solver *solver;      // NULL: all contacts are explicit
    mf_WorldJoints *joints; // of this step; NULL: the world has none
    bool wide;              // kernels in double
    mf_CompoundRefitFn refit;
    mf_CompoundDriftFn drift;
    mf_CompoundSearchFn search;
    mf_Scratch *scratch; // of `search`
    mf_CompoundWithinFn within;

    uint32_t *group_of;    // [1] per robot
    double (*position)[3]; // [m] per robot, of its base, now
    uint8_t *present;      // [1] per robot: 1: without a fault and at a finite position
    uint8_t *immovable;    // [1] per robot

    // Candidates of the last search.
    bool searched;
    double margin;                 // [m]
    double (*search_position)[3];  // [m] per robot, at the search
    double (*search_rotation)[4];  // [1] per robot of a still group: its orientation, at the search
    uint8_t *was_present;          // [1] per robot
    uint32_t capacity, near_count; // [1]
    mf_CollisionTwo *near;         // by a, then b
    double *until; // [m] per near pair: while the displacements of both and the change of their
                   // offset sum to less, they cannot touch
    double (*offsets)[3];  // [m] per near pair: offset of their bases when `until` was set
    uint32_t (*fixed)[2];  // [1] per near pair: links connected by a fixed joint, while
                           // it exists; MF_NONE: none
    uint64_t fixed_seen;   // version of the joints at that time
    uint32_t before_count; // [1] the same of the search before, while searching
    mf_CollisionTwo *near_before;
    double *until_before;
    double (*displacements_before)[3];
    double *gone;          // [m] per robot: upper bound of all displacements against its base
    double cell;           // [m]
    uint32_t bucket_count; // [1] a power of two
    uint32_t *buckets;     // [1] bucket_count + 1
    uint32_t *sorted;      // [1] robots, by bucket
    uint64_t lost_pairs;   // [1] of the last search

    uint32_t two_count; // [1] pairs of this step
    mf_CollisionTwo *twos;
    uint32_t *near_of;    // [1] per pair of this step: its index among the near pairs, or MF_NONE
    uint64_t asleep;      // [1] near pairs skipped in this step
    uint32_t block_count; // [1] blocks of all groups that are refitted in this step
    mf_CollisionBlock *blocks;

    mf_CompoundPair *pairs; // of a wave
    mf_CompoundSearch *searches;
    double *gaps; // [m] of the pairs of a wave
    mf_CompoundTouch *touches;
    uint32_t contact_capacity, contact_count; // [1]
    mf_CollisionContact *contacts;            // of the last step
    uint64_t contacts_left;                   // [1] contacts beyond the capacity
    mf_CollisionsStatistics statistics;
};

// ---- a step (collisions_step.c) -----------------------------------------------------------------

void mf_collisions_run(const mf_WorldRun *run, void *user);

// Calls the kernel with a thread's scratch.
void mf_collisions_bind(const mf_Collisions *all, mf_CompoundSearch *search);

// The collisions of a world, or NULL.
const mf_Collisions *mf_collisions_of(const mf_World *world);

// ---- candidates (collisions_near.c) -------------------------------------------------------------

// Reads positions and faults; repeats the search if a robot has moved too far; accumulates
// displacements.
void mf_collisions_find(mf_Collisions *all);
// Lists the pairs of this step; `everybody`: also pairs known to be too far apart.
void mf_collisions_list(mf_Collisions *all, bool everybody);
// Records that near pair `number` (MF_NONE: none) is at least `gap` [m] apart.
void mf_collisions_learn(mf_Collisions *all, uint32_t number, double gap);

static inline uint32_t mf_collisions_instance(const mf_CollisionGroup *group, uint32_t robot) {
    return robot - group->first;
}
static inline const mf_CollisionGroup *mf_collisions_group(const mf_Collisions *all,
                                                           uint32_t robot) {
    return &all->groups[all->group_of[robot]];
}
mf_CompoundSide mf_collisions_side(const mf_Collisions *all, uint32_t robot);
// Computes the poses of the parts of a block, of those robots whose bits are set in `robots`.
void mf_collisions_refit(const mf_Collisions *all, const mf_CollisionGroup *group, uint32_t block,
                         uint32_t robots);

// ---- forces (collisions_wrench.c) ---------------------------------------------------------------

// Adds the wrench of a contact, one of `together` of its two solids, to the fields of both robots.
void mf_collisions_apply(mf_Collisions *all, mf_CollisionTwo two, const mf_CompoundPair *pair,
                         const mf_CompoundTouch *touch, uint32_t together);
// Clears the external wrenches of all robots.
void mf_collisions_relax(mf_Collisions *all);

// "explicit", "hard", "compliant".
const char *mf_collision_law_name(mf_CollisionLaw law);
