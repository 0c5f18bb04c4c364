// Who is near whom: a uniform grid with cell lists and reused candidate lists.
//
// Agents are numbered in blocks of 16: agent a is lane a % 16 of block a / 16, and every group
// begins a block. Lanes without an agent, agents with a fault and agents whose position is not
// finite take no part.
//
// Method. Building: every agent gets the number of its cell, (z, y, x) packed into 63 bits, and
// a stable radix sort puts the agents of a cell and the cells of a row side by side; the position
// in this order is the agent's slot. The cells around an agent are nine runs of slots, found by
// nine pointers that only move forward. From them come three kinds of candidates:
//   wide  slots within reach + margin of each slot, in order of the slots
//   near  pairs (first < second) within the sum of their radii + margin
//   jet   pairs (first below second, the second a source of wind) within the jet's cylinder +
//   margin
// Using: the lists hold until some agent has moved by margin / 2 since they were built (Verlet
// 1967), so no pair is ever missed.
//
// Sifting. From one step to the next hardly anything changes, so from the candidates a second, much
// shorter set is sifted for the positions ("marks") of that moment, which holds until some agent
// has moved by slack / 2 from its mark, or has died or come back. With d the distance of the marks,
//   within  how many have d <= r - slack: neighbors for sure, only counted
//   edge    those with r - slack < d <= r + slack: they are measured in each round
//   front   those with d <= L + 2 slack where at least `nearest` have d <= L: the nearest are among
//           them, for those of the marks are now within L + slack; everybody within r + slack when
//           L is not known or only some directions are visible
//   close, blow   pairs within the sum of their radii + slack; within the jet's cylinder + slack
// Sixteen slots go side by side, one in each lane: rows of the edge and of the front hold one
// candidate of each. Which ones count is decided each time by the present positions, so no result
// depends on when lists were built or sifted, nor on margin and slack. The slack follows the speed
// of the fastest: a short one is sifted often, a long one leaves many pairs to be measured.
//
// Arithmetic: d^2 = (dx dx + dy dy) + dz dz in the working precision, dx = x_other - x_own; a pair
// is within r where d^2 <= r r, with r in working precision. Lists are made with
// reaches larger by 1e-5 and renewed after moves shorter by 1e-5, which covers all roundings.
//
// Memory is bounded: lists have a fixed capacity per chunk of slots. A chunk whose candidates do
// not fit is marked and searched again through the cells each time: exact, but slower.
// mf_neighbors_full tells how many agents that concerns, and mf_neighbors_reserve makes space.
#pragma once

#include "math/kernel.h"

#include <mayfly/world.h>

enum {
    MF_NEIGHBOR_CHUNK = 64,  // [1] slots that are worked on together
    MF_NEIGHBOR_PAD = 16,    // [1] values behind arrays and lists that may be read
    MF_NEIGHBOR_LOADED = 9,  // [1] values of an agent that are loaded
    MF_NEIGHBOR_NEAREST = 32 // [1] most neighbors that are reported
};

// What is known of a group, and where its agents are.
typedef struct mf_NeighborGroup {
    bool double_precision;       // of the arrays
    uint32_t count;              // [1] agents
    uint32_t first_block;        // [1] number of its first agent / 16
    const void *position;        // [m] [block][3][16]
    const void *orientation;     // [1] [block][4][16]; read for fields of view only
    const void *linear_velocity; // [m/s] [block][3][16]; read when velocities are requested
    const uint32_t *fault;       // [1] [block][16]; 0 = takes part
    double radius;               // [m] of its agents, for contacts; 0 = touches nobody
    bool source;                 // pushes air down
} mf_NeighborGroup;

typedef struct mf_NeighborsConfig {
    mf_Isa isa;
    bool double_precision; // of all arithmetic
    double reach;          // [m] >= 0 of detection; 0 = none
    double contact_reach;  // [m] >= 0 largest sum of two radii; 0 = no contacts
    double jet_reach;      // [m] >= 0 downwards; 0 = none
    double jet_radius;     // [m] >= 0
    double margin;         // [m] > 0
    uint32_t candidates;   // [1] wide candidates per agent that there is space for, on average
} mf_NeighborsConfig;

// A detection: who is within `radius` and visible.
typedef struct mf_NeighborQuery {
    double radius;      // [m] at most the reach
    bool in_view;       // only within the field of view
    double view_cosine; // [1] of the half-angle about body x
    uint32_t nearest;   // [1] how many of the nearest are reported, 0 .. MF_NEIGHBOR_NEAREST
    bool relative;      // positions and velocities too
} mf_NeighborQuery;

enum { MF_NEIGHBOR_ROWS = MF_NEIGHBOR_CHUNK / MF_BLOCK }; // [1] of sixteen slots in a chunk

// Pairs of slots; `capacity` [1] is what there is before the last whole vectors.
typedef struct mf_NeighborPairs {
    uint32_t count, capacity;
    int32_t *first, *second;
} mf_NeighborPairs;

// Candidates of sixteen slots each, [row][16]; what a slot has less is filled up with nobody.
typedef struct mf_NeighborRows {
    uint32_t capacity;                                         // [1] rows
    uint32_t start[MF_NEIGHBOR_ROWS], count[MF_NEIGHBOR_ROWS]; // [1] rows
    int32_t *slots;
} mf_NeighborRows;

typedef struct mf_NeighborChunk {
    bool full;                  // candidates did not fit: search the cells
    int32_t *wide;              // candidates of all slots of the chunk
    mf_NeighborPairs near, jet; // candidates
    // What was sifted, and for which `sifts` of the search.
    uint64_t detect_sift, close_sift, blow_sift;
    bool rows_full; // they did not fit: search the cells
    mf_NeighborQuery query;
    mf_NeighborRows edge, front;
    mf_NeighborPairs close, blow;
} mf_NeighborChunk;

// Where a group's answers go, in the layout and precision of its fields.
typedef struct mf_NeighborOutput {
    uint32_t *count; // [1] [block][16]; NULL: nothing is written for this group
    uint32_t *index; // [1] [block][nearest][16] agents, UINT32_MAX where there is none
    void *position;  // [m] [block][nearest * 3][16] relative, world axes, 0 where there is none
    void *velocity;  // [m/s] as position
} mf_NeighborOutput;

// Answers in order of the slots, until they are delivered.
typedef struct mf_NeighborAnswer {
    uint32_t nearest; // [1] space for
    uint32_t *count;  // [1] by slot; UINT32_MAX: no answer, the agent takes no part
    int32_t *index;   // [1] [slot / 16][nearest][16] slots, slot_count where there is none
} mf_NeighborAnswer;

typedef struct mf_Neighbors mf_Neighbors;

// Two agents that touch, by slots.
typedef struct mf_NeighborPair {
    int32_t first, second;
} mf_NeighborPair;

// Called with up to 16 pairs that touch.
typedef void (*mf_NeighborTouchFn)(void *user, uint32_t chunk, const int32_t *first,
                                   const int32_t *second, uint32_t count);
// Called with any number of candidate pairs (not yet tested), padded to whole lanes.
typedef void (*mf_NeighborJetFn)(void *user, uint32_t chunk, const int32_t *first,
                                 const int32_t *second, uint32_t count);

// What does not hold any more.
enum { MF_NEIGHBOR_LISTS = 1, MF_NEIGHBOR_SIFTED = 2 };

typedef uint32_t (*mf_NeighborLoadFn)(mf_Neighbors *all, uint32_t group, uint32_t first_block,
                                      uint32_t block_count, bool view, bool velocity);
typedef void (*mf_NeighborPositionFn)(mf_Neighbors *all, uint32_t first_row, uint32_t row_count,
                                      bool view, bool velocity);
typedef void (*mf_NeighborMarkFn)(mf_Neighbors *all, uint32_t first_block, uint32_t block_count);
typedef void (*mf_NeighborSweepFn)(mf_Neighbors *all, uint32_t chunk);
typedef void (*mf_NeighborDetectFn)(const mf_Neighbors *all, uint32_t chunk,
                                    const mf_NeighborQuery *query, const mf_NeighborAnswer *answer);
typedef void (*mf_NeighborDeliverFn)(const mf_Neighbors *all, const mf_NeighborQuery *query,
                                     const mf_NeighborAnswer *answer,
                                     const mf_NeighborOutput *output, uint32_t group,
                                     uint32_t first_block, uint32_t block_count);
typedef void (*mf_NeighborPairsFn)(const mf_Neighbors *all, uint32_t chunk,
                                   mf_NeighborTouchFn touch, void *user);
typedef void (*mf_NeighborJetsFn)(const mf_Neighbors *all, uint32_t chunk, mf_NeighborJetFn jet,
                                  void *user);

struct mf_Neighbors {
    mf_Context *context;
    mf_NeighborsConfig config;
    uint32_t group_count;
    mf_NeighborGroup *groups;
    uint32_t block_count; // [1] of all groups
    uint32_t slot_count;  // [1] block_count * 16; slot `slot_count` is nobody, at NaN
    uint32_t live_count;  // [1] slots that took part when the lists were built
    uint32_t chunk_count; // [1] of the live slots
    bool built;
    uint64_t builds;             // [1] how often lists were built
    uint64_t sifts;              // [1] how often they were to be sifted
    double slack;                // [m]
    uint64_t rounds, sift_round; // [1] how often positions were loaded, in all and until the marks
    // By agent, that is [block][..][16]. Reals are float or double, as the config says.
    void *reference;    // [m] [block][3][16] positions when the lists were built; NaN: took no part
    void *mark;         // [m] likewise, when the slack began
    void *loaded;       // [m], [1], [m/s] [block][9][16] position, facing, velocity
    int32_t *slot_of;   // [1]
    uint32_t *group_of; // [1] by block
    // By slot.
    void *x, *y, *z;   // [m] NaN for who takes no part
    void *facing[3];   // [1] body x in the world
    void *motion;      // [m], [m/s] slot * 8 + c: x, y, z, 0, vx, vy, vz, 0; loaded with velocities
    int32_t *agent_of; // [1]
    int32_t *group_of_slot; // [1]
    int32_t *source;        // [1] 1 where the agent pushes air down, else 0
    uint64_t *key;          // [1] cell
    void *marked[3];        // [m] the marks
    void *limit2;           // [m^2] where the last of the nearest was found; for speed only
    int32_t *within;        // [1] neighbors for sure
    uint32_t *wide_start, *wide_count; // [1] in the chunk's list
    mf_NeighborChunk *chunks;
    int32_t *lists;         // what the chunks' lists lie in
    uint32_t wide_capacity; // [1] entries per chunk
    void *size;             // [m] radius, by slot
    // Building.
    int32_t *old_slot_of; // [1] by agent
    void *spare;          // what was loaded, in order of the old slots: facing, motion
    uint64_t *sort_key[2];
    int32_t *sort_agent[2];
    int32_t *cell;        // [1] [block][3][16]
    double inverse_cell;  // [1/m]
    double largest_reach; // [m] of all kinds
    uint32_t key_bits[2]; // [1] of x, of x and y together
    // Kernels.
    mf_NeighborLoadFn load;
    mf_NeighborPositionFn position;
    mf_NeighborMarkFn set_marks;
    mf_NeighborSweepFn sweep;
    mf_NeighborDetectFn detect;
    mf_NeighborDeliverFn deliver;
    mf_NeighborPairsFn pairs;
    mf_NeighborJetsFn jets;
};

// Groups are copied; their blocks follow each other in the order given. Arrays are borrowed.
mf_Status mf_neighbors_create(mf_Context *context, const mf_NeighborsConfig *config,
                              const mf_NeighborGroup *groups, uint32_t group_count,
                              mf_Neighbors **out, mf_Error *error);
void mf_neighbors_destroy(mf_Neighbors *all); // NULL is fine

// Makes space for `candidates` per agent; the lists are rebuilt. On failure nothing changes.
mf_Status mf_neighbors_reserve(mf_Neighbors *all, uint32_t candidates, mf_Error *error);

// Reads positions (and what else is requested) of the blocks first .. first + count - 1 of all
// blocks; returns MF_NEIGHBOR_* of what does not hold any more. From several threads on different
// blocks; each block once in a round.
uint32_t mf_neighbors_load(mf_Neighbors *all, uint32_t first, uint32_t count, bool view,
                           bool velocity);

// Puts what was loaded in order of the slots, for the slots first * 16 .. (first + count) * 16 - 1.
// From several threads on different slots. Threads that write side by side to scattered slots would
// wait for each other's cache lines, so each writes its own slots and reads the scattered agents.
void mf_neighbors_gather(mf_Neighbors *all, uint32_t first, uint32_t count, bool view,
                         bool velocity);

// Renews what `stale` names from what was placed, on the context's threads or on the calling one
// alone. Everything loaded is then in order of the new slots; `view` and `velocity` as they were
// loaded.
void mf_neighbors_renew(mf_Neighbors *all, uint32_t stale, bool alone, bool view, bool velocity);

// Writes the answers of detection to the fields of agents in blocks first .. first + count - 1 of
// all blocks. The lists must still be those of the detection. From several threads.
void mf_neighbors_deliver(const mf_Neighbors *all, const mf_NeighborQuery *query,
                          const mf_NeighborAnswer *answer, const mf_NeighborOutput *output,
                          uint32_t first, uint32_t count);

// Memory for the answers to a query; nothing is held on failure.
mf_Status mf_neighbors_answer(const mf_Neighbors *all, const mf_NeighborQuery *query,
                              mf_NeighborAnswer *answer, mf_Error *error);
void mf_neighbors_answer_release(const mf_Neighbors *all, mf_NeighborAnswer *answer);

// Forgets the lists.
void mf_neighbors_forget(mf_Neighbors *all);

// [1] agents whose candidates did not fit.
uint32_t mf_neighbors_full(const mf_Neighbors *all);

MF_KERNEL_COPIES(uint32_t, mf_neighbors_load,
                 (mf_Neighbors * all, uint32_t group, uint32_t first_block, uint32_t block_count,
                  bool view, bool velocity));
MF_KERNEL_COPIES(void, mf_neighbors_gather_rows,
                 (mf_Neighbors * all, uint32_t first_row, uint32_t row_count, bool view,
                  bool velocity));
MF_KERNEL_COPIES(void, mf_neighbors_mark,
                 (mf_Neighbors * all, uint32_t first_block, uint32_t block_count));
MF_KERNEL_COPIES(void, mf_neighbors_sweep, (mf_Neighbors * all, uint32_t chunk));
MF_KERNEL_COPIES(void, mf_neighbors_detect,
                 (const mf_Neighbors *all, uint32_t chunk, const mf_NeighborQuery *query,
                  const mf_NeighborAnswer *answer));
MF_KERNEL_COPIES(void, mf_neighbors_deliver,
                 (const mf_Neighbors *all, const mf_NeighborQuery *query,
                  const mf_NeighborAnswer *answer, const mf_NeighborOutput *output, uint32_t group,
                  uint32_t first_block, uint32_t block_count));
MF_KERNEL_COPIES(void, mf_neighbors_pairs,
                 (const mf_Neighbors *all, uint32_t chunk, mf_NeighborTouchFn touch, void *user));
MF_KERNEL_COPIES(void, mf_neighbors_jets,
                 (const mf_Neighbors *all, uint32_t chunk, mf_NeighborJetFn jet, void *user));
