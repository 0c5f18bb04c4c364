// Who is near whom: a uniform grid with cell lists and reused candidate lists.
//
// Agents are numbered in blocks of 16: agent a is lane a % 16 of block a / 16, and every group
// begins a block. Lanes without an agent, agents with a fault and agents whose position is not
// finite take no part.
//
// Method. Building: every agent gets the number of its cell, (z, y, x) packed into 63 bits, and
// a stable radix sort puts the agents of a cell and the cells of a row side by side; the place in
// this order is the agent's slot. The cells around an agent are nine runs of slots, found by nine
// pointers that only move forward. From them come three kinds of candidates:
//   wide  slots within reach + margin of each slot, in order of the slots
//   near  pairs (first < second) within contact_reach + margin
//   jet   pairs (first below second, the second a source of wind) within the jet's cylinder +
//   margin
// Using: the lists hold until some agent has moved by margin / 2 since they were built (Verlet
// 1967), so no pair is ever missed; which pairs count is decided each time by the present places.
// So no result depends on when lists were built.
//
// Arithmetic: d^2 = (dx dx + dy dy) + dz dz in the working precision, dx = x_other - x_own; a pair
// is within r where d^2 <= r r, with r in working precision. Lists are built with
// reaches larger by 1e-5 and renewed after moves shorter by 1e-5, which covers all roundings.
//
// Memory is bounded: lists have fixed room per chunk of slots. A chunk whose candidates do not fit
// is marked and searched anew through the cells each time: exact, but slower. mf_neighbours_full
// tells how many agents that concerns, and mf_neighbours_reserve makes room.
#ifndef MF_CONTACT_NEIGHBOURS_H
#define MF_CONTACT_NEIGHBOURS_H

#include "math/kernel.h"

enum {
    MF_NEIGHBOUR_CHUNK = 64,  // [1] slots that are worked on together
    MF_NEIGHBOUR_PAD = 16,    // [1] values behind arrays and lists that may be read
    MF_NEIGHBOUR_GROUPS = 64, // [1] most groups
    MF_NEIGHBOUR_NEAREST = 32 // [1] most neighbours that are told
};

// What is known of a group, and where its agents are.
typedef struct mf_NeighbourGroup {
    bool double_precision;       // of the arrays
    uint32_t count;              // [1] agents
    uint32_t first_block;        // [1] number of its first agent / 16
    const void *position;        // [m] [block][3][16]
    const void *orientation;     // [1] [block][4][16]; read for fields of view only
    const void *linear_velocity; // [m/s] [block][3][16]; read when velocities are wanted
    const uint32_t *fault;       // [1] [block][16]; 0 = takes part
    double radius;               // [m] of its agents, for contacts; 0 = touches nobody
    bool source;                 // pushes air down
} mf_NeighbourGroup;

typedef struct mf_NeighboursConfig {
    mf_Isa isa;
    bool double_precision; // of all arithmetic
    double reach;          // [m] >= 0 of detection; 0 = none
    double contact_reach;  // [m] >= 0 largest sum of two radii; 0 = no contacts
    double jet_reach;      // [m] >= 0 downwards; 0 = none
    double jet_radius;     // [m] >= 0
    double margin;         // [m] > 0
    uint32_t candidates;   // [1] wide candidates per agent that there is room for, on average
} mf_NeighboursConfig;

typedef struct mf_NeighbourChunk {
    bool full;                         // candidates did not fit: search the cells
    uint32_t near_count, jet_count;    // [1] pairs
    int32_t *wide;                     // candidates of all slots of the chunk
    int32_t *near_first, *near_second; // slots
    int32_t *jet_first, *jet_second;
} mf_NeighbourChunk;

// A detection: who is within `radius` and in sight.
typedef struct mf_NeighbourQuery {
    double radius;       // [m] at most the reach
    bool in_sight;       // only within the field of view
    double sight_cosine; // [1] of the half-angle about body x
    uint32_t nearest;    // [1] how many of the nearest are told, 0 .. MF_NEIGHBOUR_NEAREST
    bool relative;       // positions and velocities too
} mf_NeighbourQuery;

// Where a group's answers go, in the layout and precision of its fields.
typedef struct mf_NeighbourOutput {
    uint32_t *count; // [1] [block][16]; NULL: nothing is written for this group
    uint32_t *index; // [1] [block][nearest][16] agents, UINT32_MAX where there is none
    void *position;  // [m] [block][nearest * 3][16] relative, world axes, 0 where there is none
    void *velocity;  // [m/s] as position
} mf_NeighbourOutput;

// Answers in order of the slots, until they are delivered.
typedef struct mf_NeighbourAnswer {
    uint32_t nearest; // [1] room for
    uint32_t *count;  // [1] by slot; UINT32_MAX: no answer, the agent takes no part
    int32_t *index;   // [1] slot * nearest + m: agent, -1 where there is none
    void *relative;   // [m], [m/s] (slot * nearest + m) * 8 + c: x, y, z, 0, vx, vy, vz, 0
} mf_NeighbourAnswer;

typedef struct mf_Neighbours mf_Neighbours;

// Two agents that touch, by slots.
typedef struct mf_NeighbourPair {
    int32_t first, second;
} mf_NeighbourPair;

// Called with up to 16 pairs that touch.
typedef void (*mf_NeighbourTouchFn)(void *user, uint32_t chunk, const int32_t *first,
                                    const int32_t *second, uint32_t count);
// Called with any number of candidate pairs (not yet tested), padded to whole lanes.
typedef void (*mf_NeighbourJetFn)(void *user, uint32_t chunk, const int32_t *first,
                                  const int32_t *second, uint32_t count);

typedef bool (*mf_NeighbourLoadFn)(mf_Neighbours *all, uint32_t group, uint32_t first_block,
                                   uint32_t block_count, bool sight, bool velocity);
typedef void (*mf_NeighbourSweepFn)(mf_Neighbours *all, uint32_t chunk);
typedef void (*mf_NeighbourDetectFn)(const mf_Neighbours *all, uint32_t chunk,
                                     const mf_NeighbourQuery *query,
                                     const mf_NeighbourAnswer *answer);
typedef void (*mf_NeighbourPairsFn)(const mf_Neighbours *all, uint32_t chunk,
                                    mf_NeighbourTouchFn touch, void *user);
typedef void (*mf_NeighbourJetsFn)(const mf_Neighbours *all, uint32_t chunk, mf_NeighbourJetFn jet,
                                   void *user);

struct mf_Neighbours {
    mf_Context *context;
    mf_NeighboursConfig config;
    uint32_t group_count;
    mf_NeighbourGroup groups[MF_NEIGHBOUR_GROUPS];
    uint32_t block_count; // [1] of all groups
    uint32_t slot_count;  // [1] block_count * 16; slot `slot_count` is nobody, at NaN
    uint32_t live_count;  // [1] slots that took part when the lists were built
    uint32_t chunk_count; // [1] of the live slots
    bool built;
    uint64_t builds; // [1] how often lists were built
    // By agent, that is [block][..][16]. Reals are float or double, as the config says.
    void *reference;   // [m] [block][3][16] places when the lists were built; NaN: took no part
    int32_t *slot_of;  // [1]
    uint8_t *group_of; // [1] by block
    // By slot.
    void *x, *y, *z;   // [m] NaN for who takes no part
    void *facing[3];   // [1] body x in the world
    void *motion;      // [m], [m/s] slot * 8 + c: x, y, z, 0, vx, vy, vz, 0; loaded with velocities
    int32_t *agent_of; // [1]
    int32_t *group_of_slot; // [1]
    int32_t *source;        // [1] 1 where the agent pushes air down, else 0
    uint64_t *key;          // [1] cell
    void *limit2;           // [m^2] what detection expects its nearest within; for speed only
    uint32_t *wide_start, *wide_count; // [1] in the chunk's list
    mf_NeighbourChunk *chunks;
    int32_t *lists;                          // what the chunks' lists lie in
    uint32_t wide_room, near_room, jet_room; // [1] entries per chunk
    void *radius;                            // [m] by group
    // Building.
    int32_t *old_slot_of; // [1] by agent
    void *spare;          // what was loaded, in order of the old slots: facing, motion
    uint64_t *sort_key[2];
    int32_t *sort_agent[2];
    int32_t *cell;        // [1] [block][3][16]
    double inverse_cell;  // [1/m]
    uint32_t key_bits[2]; // [1] of x, of x and y together
    // Kernels.
    mf_NeighbourLoadFn load;
    mf_NeighbourSweepFn sweep;
    mf_NeighbourDetectFn detect;
    mf_NeighbourPairsFn pairs;
    mf_NeighbourJetsFn jets;
};

// Groups are copied; their blocks follow each other in the order given. Arrays are borrowed.
mf_Status mf_neighbours_create(mf_Context *context, const mf_NeighboursConfig *config,
                               const mf_NeighbourGroup *groups, uint32_t group_count,
                               mf_Neighbours **out, mf_Error *error);
void mf_neighbours_destroy(mf_Neighbours *all); // NULL is fine

// Makes room for `candidates` per agent; the lists are built anew. On failure nothing changes.
mf_Status mf_neighbours_reserve(mf_Neighbours *all, uint32_t candidates, mf_Error *error);

// Reads places (and what else is wanted) of the blocks first .. first + count - 1 of all blocks;
// true when the lists do not hold any more. From several threads on different blocks.
bool mf_neighbours_load(mf_Neighbours *all, uint32_t first, uint32_t count, bool sight,
                        bool velocity);

// Builds the lists from what was loaded, on the context's threads or on the calling one alone.
// Everything loaded is then in order of the new slots; `sight` and `velocity` as they were loaded.
void mf_neighbours_build(mf_Neighbours *all, bool alone, bool sight, bool velocity);

// Writes the answers of detection to the fields of agents in blocks first .. first + count - 1 of
// all blocks. The lists must still be those of the detection. From several threads.
void mf_neighbours_deliver(const mf_Neighbours *all, const mf_NeighbourQuery *query,
                           const mf_NeighbourAnswer *answer, const mf_NeighbourOutput *output,
                           uint32_t first, uint32_t count);

// Memory for the answers to a query; nothing is held on failure.
mf_Status mf_neighbours_answer(const mf_Neighbours *all, const mf_NeighbourQuery *query,
                               mf_NeighbourAnswer *answer, mf_Error *error);
void mf_neighbours_answer_release(const mf_Neighbours *all, mf_NeighbourAnswer *answer);

// Forgets the lists.
void mf_neighbours_forget(mf_Neighbours *all);

// [1] agents whose candidates did not fit.
uint32_t mf_neighbours_full(const mf_Neighbours *all);

MF_KERNEL_COPIES(bool, mf_neighbours_load,
                 (mf_Neighbours * all, uint32_t group, uint32_t first_block, uint32_t block_count,
                  bool sight, bool velocity));
MF_KERNEL_COPIES(void, mf_neighbours_sweep, (mf_Neighbours * all, uint32_t chunk));
MF_KERNEL_COPIES(void, mf_neighbours_detect,
                 (const mf_Neighbours *all, uint32_t chunk, const mf_NeighbourQuery *query,
                  const mf_NeighbourAnswer *answer));
MF_KERNEL_COPIES(void, mf_neighbours_pairs,
                 (const mf_Neighbours *all, uint32_t chunk, mf_NeighbourTouchFn touch, void *user));
MF_KERNEL_COPIES(void, mf_neighbours_jets,
                 (const mf_Neighbours *all, uint32_t chunk, mf_NeighbourJetFn jet, void *user));

#endif
