// The kernels of interaction: ground and fence candidates, downwash, wind.
#pragma once

#include "base/flat.h"
#include "contact/neighbors.h"

#define MF_DOWNWASH_SCALE                                                                          \
    65536.0 // [s/m] air speeds are summed as integers, so the order does not matter

#define MF_JET_END 0.3 // [1] jets end at this share of the reach: U is below 4 %

enum { MF_PROFILE_CELLS = 4096 }; // [1] of the wind's table

// Slots of a chunk that may have hit the ground, and those outside the box.
typedef struct mf_ScanTask {
    const mf_Neighbors *all;
    bool ground, fence;
    double low;                         // [m] agents above have not hit the ground
    double fence_low[3], fence_high[3]; // [m]
    uint32_t low_count, outside_count;  // [1]
    MF_ALIGNED(64) int32_t low_slots[MF_NEIGHBOR_CHUNK + MF_NEIGHBOR_PAD];
    MF_ALIGNED(64) int32_t outside_slots[MF_NEIGHBOR_CHUNK + MF_NEIGHBOR_PAD];
} mf_ScanTask;

// Arrays of mf_AirPlan in both precisions: center speed times distance [m^2/s] and speed at the
// rotors [m/s] by group; factors of the wind [1] at heights top (i / cells)^2.
#define MF_AIR_ARRAYS(X, of)                                                                       \
    X(double, speeds_f64, (of)->group_count)                                                       \
    X(double, limits_f64, (of)->group_count)                                                       \
    X(double, profile_f64, MF_PROFILE_CELLS + 2)                                                   \
    X(float, speeds_f32, (of)->group_count)                                                        \
    X(float, limits_f32, (of)->group_count)                                                        \
    X(float, profile_f32, MF_PROFILE_CELLS + 2)

// A round turbulent jet below each source, and the wind; see air.c. A flat image.
typedef struct mf_AirPlan {
    uint32_t bytes, group_count;
    bool downwash;
    bool logarithmic;
    double reach;       // [m] length
    double radius;      // [m] radius
    double spread;      // [1] a of the profile 1 / (1 + a (r/x)^2)^2
    double wind[3];     // [m/s]
    double ground;      // [m] z of height 0
    double profile_top; // [m] height of the table's end
    MF_AIR_ARRAYS(MF_FLAT_MEMBER, )
} mf_AirPlan;
#define MF_AIR_READER(Type, name, count) MF_FLAT_READER(mf_AirPlan, mf_air_plan, Type, name)
MF_AIR_ARRAYS(MF_AIR_READER, )

typedef struct mf_AirTask {
    const mf_Neighbors *all;
    const mf_AirPlan *plan;
    int32_t *downward; // [m/s / MF_DOWNWASH_SCALE] by slot: sum of downward speeds
} mf_AirTask;

// Destination of a group's wind; NULL: none.
typedef struct mf_AirOutput {
    void *wind; // [m/s] [block][3][16]
} mf_AirOutput;

typedef void (*mf_ScanFn)(mf_ScanTask *task, uint32_t chunk);
typedef void (*mf_BlowFn)(const mf_AirTask *task, const mf_AirOutput *output, uint32_t first,
                          uint32_t count);

MF_KERNEL_COPIES(void, mf_interaction_scan, (mf_ScanTask * task, uint32_t chunk));
// Adds the downwash of candidate pairs (first below second); `user` is a mf_AirTask.
MF_KERNEL_COPIES(void, mf_interaction_jets,
                 (void *user, uint32_t chunk, const int32_t *first, const int32_t *second,
                  uint32_t count));
// Writes the wind of blocks first .. first + count - 1 of all blocks.
MF_KERNEL_COPIES(void, mf_interaction_blow,
                 (const mf_AirTask *task, const mf_AirOutput *output, uint32_t first,
                  uint32_t count));
