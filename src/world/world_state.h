// State of a world outside of fields, as part of its snapshots and its hash; and world systems that
// must be the last of their phase.
#pragma once

#include <mayfly/world.h>

// The owner of such state. The image is a byte string of any length after the world's fields.
typedef struct mf_WorldState {
    void *user;                       // outlives the world's last snapshot, hash and restore
    size_t (*size)(const void *user); // [byte] of the image of the current state
    void (*save)(const void *user, void *image);
    // Checks an image and allocates the memory that `restore` needs; does not change the state.
    mf_Status (*prepare)(void *user, const void *image, size_t size, mf_Error *error);
    void (*restore)(void *user); // from the image of the last `prepare`
    uint64_t (*hash)(const void *user, uint64_t hash);
} mf_WorldState;

// Copies `state`. MF_LIMIT: the world has state of this kind already.
mf_Status mf_world_keep_state(mf_World *world, const mf_WorldState *state, mf_Error *error);

// Calls `restored` after a group's state was restored, to recompute derived data. One per group; it
// and `user` must outlive the group's last restore.
void mf_group_on_restore(mf_Group *group, void (*restored)(mf_Group *group, void *user),
                         void *user);

// Adds a world system that runs after all others of its phase, also those added later.
mf_Status mf_world_add_last_system(mf_World *world, const mf_WorldSystemConfig *config,
                                   mf_Error *error);

// Calls systems of a group for the one block of `run` as if the group ended with the `lanes`-th
// robot of that block, also where it has fewer: blocks have space for sixteen.
void mf_group_run_lanes(const mf_SystemRun *run, uint32_t lanes, const mf_SystemConfig *systems,
                        uint32_t system_count);
