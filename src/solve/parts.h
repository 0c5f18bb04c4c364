// Internals of interaction.
#pragma once

#include "solve/kernels.h"

#include <mayfly/interaction.h>

enum {
    MF_WORK_DETECT = 1,  // detection
    MF_WORK_COLLIDE = 2, // collisions, ground, fence
    MF_WORK_AIR = 4      // downwash and wind
};

// Downwash or wind.
bool mf_interaction_has_air(const mf_InteractionConfig *config);

enum { MF_CHUNK_PAIRS = 64 }; // [1] most colliding pairs of a chunk with events

// Flags of an agent in one round of collisions.
enum { MF_FLAG_TOUCHED = 1, MF_FLAG_GROUND = 2, MF_FLAG_OUTSIDE = 4 };

typedef struct mf_Background mf_Background;

struct mf_Interaction {
    mf_World *world;
    mf_Context *context;
    mf_InteractionConfig config;
    uint32_t member_count;
    // Per member, in one block with this structure.
    mf_InteractionMember *members;
    bool *listed;      // per group of the world: it is a member
    double *clearance; // [m] of the base's origin above the ground when standing
    // Searches: one for all work without latency, else one each, because lists must not change
    // while results are pending. NULL: that work is disabled.
    mf_Neighbors *detect, *touch, *air;
    uint32_t due; // MF_WORK_* of this step

    mf_NeighborQuery query;
    mf_NeighborAnswer answer;
    mf_NeighborOutput *output; // per member
    uint32_t **fault;          // fault.word of each member

    mf_ScanTask scan; // constant over the chunks
    mf_ScanFn scan_chunk;
    uint8_t *flags;         // [1] MF_FLAG_* by agent
    uint8_t *outside;       // [1] by agent: 1: outside of the box
    bool any_outside;       // some `outside` is 1
    bool any_flag;          // some flag is set; written by several threads, always to true
    uint32_t *pair_counts;  // [1] by chunk
    uint64_t *pairs;        // [1] chunk * MF_CHUNK_PAIRS + i: smaller agent << 32 | larger
    uint64_t pairs_found;   // [1] in this round, by several threads
    mf_Time collision_time; // [ns] time of the examined state

    mf_AirTask air_task; // owns its plan and memory
    mf_NeighborJetFn jets;
    mf_BlowFn blow;
    mf_AirOutput *blow_to; // per member

    uint32_t pending;                        // MF_WORK_DETECT, MF_WORK_COLLIDE with pending results
    uint32_t detection_wait, collision_wait; // [1] steps until those results are applied
    mf_Background *background;               // NULL: all work on the world's threads

    mf_InteractionEvent *events;
    uint32_t event_count;
    uint64_t events_lost;
    uint64_t detections, collisions; // [1]
};

// One piece of work on one chunk of a search.
void mf_interaction_work(mf_Interaction *all, mf_Neighbors *search, uint32_t work, uint32_t chunk);
// Clears the output of a round of collisions.
void mf_interaction_begin_touch(mf_Interaction *all);
void mf_interaction_destroy(mf_Interaction *all);
// The systems of the world.
mf_Status mf_interaction_add_systems(mf_Interaction *all, mf_Error *error);

// Prepares air_task. `searches` groups must be set.
mf_Status mf_interaction_prepare_air(mf_Interaction *all, mf_Error *error);

// The background thread.
mf_Status mf_background_create(mf_Interaction *all, mf_Background **out, mf_Error *error);
void mf_background_destroy(mf_Background *background); // may be NULL; waits for running work
// Starts work (one of the two) whose positions have been loaded; `stale`: MF_NEIGHBOR_* to rebuild
// first.
void mf_background_begin(mf_Background *background, uint32_t work, uint32_t stale);
// Waits until that work is done.
void mf_background_wait(mf_Background *background, uint32_t work);

// Sets the capacity to `candidates` per agent, 1 .. 2^20, between steps. On failure the lists do
// not change. MF_BUSY while results are not applied yet.
mf_Status mf_interaction_reserve(mf_Interaction *interaction, uint32_t candidates, mf_Error *error);
