// What the kernels of cloth read: vertices and constraints as a flat image, and the working memory
// of one cloth. docs/explanation/cloth.md has the equations.
//
// The lanes of a kernel are sixteen constraints without a common vertex, a batch. Batches of a
// chunk follow one another; the chunks of a wave have no common vertex, so threads may share them
// out; waves follow one another. So neither lanes nor threads change the order in which a vertex is
// moved, nor a bit. Vertices are in slots chosen so that the same node of all constraints of a
// batch is in sixteen slots in a row, wherever possible.
#pragma once

#include <mayfly/cloth.h>

#include "base/flat.h"

#include <math.h>
#include "contact/solid.h"
#include "math/kernel.h"
#include "terrain/image.h"

enum { MF_CLOTH_LANES = 16 };      // [1] constraints of a batch, slots of a row
enum { MF_CLOTH_NODES = 4 };       // [1] most vertices of a constraint
#define MF_CLOTH_FARTHEST 1e5      // [m] vertices stay within it, and below it in m/s
#define MF_CLOTH_NEVER INFINITY    // [1] a compliance that moves nothing: of lanes without one
#define MF_CLOTH_APART 0xffffffffu // [1] of a batch: its nodes are in the slots of a list

typedef enum mf_ClothKind { // coefficients of each, one row of lanes a value
    MF_CLOTH_EDGE,          // 2 nodes: rest length [m], compliance [m/N]
    MF_CLOTH_LINE,          // 3 nodes: three weights [1] of C = sum of w x, compliance [m/N]
    MF_CLOTH_CELL, // 4 nodes (i, j), (i+1, j), (i, j+1), (i+1, j+1) of a rectangle: 1/(2 width),
                   // 1/(2 height) [1/m], compliance of the shear [1/J] and of the twist [m/N]
    MF_CLOTH_TRIANGLE, // 3 nodes: gradients [1/m] of nodes 1 and 2 along warp, then along weft;
                       // compliance of stretch, of shear [1/J]
    MF_CLOTH_HINGE,    // 4 nodes: four weights [1], compliance [m/N]
    MF_CLOTH_KINDS
} mf_ClothKind;

static inline uint32_t mf_cloth_nodes(uint32_t kind) {
    return kind == MF_CLOTH_EDGE ? 2 : kind == MF_CLOTH_LINE || kind == MF_CLOTH_TRIANGLE ? 3 : 4;
}

static inline uint32_t mf_cloth_values(uint32_t kind) {
    return kind == MF_CLOTH_EDGE       ? 2
           : kind == MF_CLOTH_LINE     ? 4
           : kind == MF_CLOTH_CELL     ? 4
           : kind == MF_CLOTH_TRIANGLE ? 6
                                       : 5;
}

// Elements (mf_cloth_element_count) without which a constraint is gone.
static inline uint32_t mf_cloth_needs(uint32_t kind) {
    return kind == MF_CLOTH_CELL ? 4 : kind == MF_CLOTH_LINE || kind == MF_CLOTH_HINGE ? 2 : 1;
}

typedef struct mf_ClothBatch {
    uint32_t kind;               // [1] mf_ClothKind
    uint32_t values;             // [1] its first row of the coefficients
    uint32_t slots;              // [1] its first value in the plan's `slots`; MF_CLOTH_APART: `at`
    uint32_t at[MF_CLOTH_NODES]; // [1] slot of each node of lane 0, the other lanes follow
} mf_ClothBatch;

typedef struct mf_ClothRange { // of batches, or of chunks
    uint32_t first, count;     // [1]
} mf_ClothRange;

#define MF_CLOTH_ARRAYS(X, of)                                                                     \
    X(mf_ClothBatch, batches, (of)->batch_count)                                                   \
    X(mf_ClothRange, chunks, (of)->chunk_count)                                                    \
    X(mf_ClothRange, waves, (of)->wave_count)                                                      \
    X(int32_t, slots, (of)->listed_count)                                                          \
    X(uint32_t, slot_of, (of)->vertex_count)                                                       \
    X(uint32_t, vertex_at, (of)->slot_count)                                                       \
    X(uint32_t, triangles, 3 * (of)->triangle_count)                                               \
    X(uint32_t, pins, (of)->pin_count)                                                             \
    X(uint32_t, elements, MF_CLOTH_NODES *MF_CLOTH_LANES *(of)->torn_batch_count)                  \
    X(double, home, 3 * (of)->vertex_count)                                                        \
    X(double, masses_f64, (of)->slot_count)                                                        \
    X(float, masses_f32, (of)->slot_count)                                                         \
    X(double, values_f64, MF_CLOTH_LANES *(of)->value_count)                                       \
    X(float, values_f32, MF_CLOTH_LANES *(of)->value_count)

// A flat image (base/flat.h), frozen before the first step, of all cloths of a group.
typedef struct mf_ClothPlan {
    uint32_t bytes;                                // [byte] of the image
    uint32_t vertex_count, triangle_count;         // [1]
    uint32_t counts[2];                            // [1] of a rectangle, or 0
    uint32_t slot_count;                           // [1] a multiple of MF_CLOTH_LANES
    uint32_t batch_count, chunk_count, wave_count; // [1]
    uint32_t listed_count, value_count, pin_count; // [1]
    uint32_t element_count;    // [1] edges of a rectangle, or triangles; 0: it does not tear
    uint32_t torn_batch_count; // [1] the batches of a cloth that tears, else 0
    uint32_t substeps;         // [1]
    bool ground;               // vertices meet it
    bool level;                // it is flat
    double height;             // [m] of level ground
    double gravity[3];         // [m/s^2]
    double damping;            // [s]
    double drag;               // [1/s]
    double radius;             // [m] of vertices against ground and links
    double friction;           // [1]
    double tear_strain;        // [1] at which an element tears; of a cloth that does
    double stretch_share; // [1/J] inverse of twice the energy of the cloth in a strain of 1, and
    double bending_share; // [1/J] in a curvature of one over its bending length; 0: no bending
    double self_distance; // [m] between vertices that are no neighbors; 0: it passes itself
    MF_CLOTH_ARRAYS(MF_FLAT_MEMBER, )
} mf_ClothPlan;

#define MF_CLOTH_READER(Type, name, count) MF_FLAT_INDEXED(mf_ClothPlan, mf_cloth, Type, name)
MF_CLOTH_ARRAYS(MF_CLOTH_READER, )

// Where `elements` has the first that a lane of a batch needs.
static inline size_t mf_cloth_need_at(uint32_t batch, uint32_t lane) {
    return ((size_t)batch * MF_CLOTH_LANES + lane) * MF_CLOTH_NODES;
}

// Arrays of the working memory, a value per slot and precision of the kernel.
enum {
    MF_CLOTH_X,            // [m] position, three arrays
    MF_CLOTH_P = 3,        // [m] where the substep's velocity alone takes it
    MF_CLOTH_V = 6,        // [m/s] that velocity
    MF_CLOTH_Q = 9,        // [N s^2] sum of the constraints' pushes on pinned vertices
    MF_CLOTH_W = 12,       // [1/kg] inverse mass; 0: pinned, or no vertex
    MF_CLOTH_TOUCHES = 13, // [1] 1: it touched something in this step
    MF_CLOTH_S = 14,       // [m] by which the cloth parts from itself, three arrays
    MF_CLOTH_WORK = 17
};

enum { MF_CLOTH_OBSTACLES = 64 }; // [1] most solids that a cloth can meet in a step
enum { MF_CLOTH_PUSH = 6 };       // [1] sums of what an obstacle got: impulse, and moment of it

enum { MF_CLOTH_AFTER = 3 }; // [1] rows of a batch, in mf_ClothJob

enum { MF_CLOTH_NEAR = 32 }; // [1] most vertices that one parts from

// Who is near whom in one cloth; NULLs where it passes itself.
typedef struct mf_ClothSelf {
    uint32_t bucket_count; // [1] a power of two
    int32_t *cells;        // [1] 3 per vertex
    uint32_t *begins;      // [1] bucket_count + 1
    uint32_t *sorted;      // [1] vertices, by bucket
    uint32_t *counts;      // [1] per vertex, of `near`
    uint32_t *near;        // [1] MF_CLOTH_NEAR per vertex
    uint32_t *dropped;     // [1] per piece: near ones beyond the capacity
} mf_ClothSelf;

// What of one cloth is torn; NULLs where it does not tear. `elements` of the plan has for each
// batch, lane and node the elements without which the constraint is gone, MF_NONE where there are
// fewer.
typedef struct mf_ClothTear {
    uint8_t *torn;   // [1] per element, 1: torn
    uint16_t *lanes; // [1] per batch, a bit for each constraint that is gone
    uint8_t *tears;  // [1] per chunk, 1: something of it tore in this substep
} mf_ClothTear;

// One cloth in a step.
typedef struct mf_ClothJob {
    const mf_ClothPlan *plan;
    const mf_TerrainImage *terrain;
    void *work;                // MF_CLOTH_WORK arrays of mf_cloth_scratch_size values
    uint8_t *pulls;            // [1] per batch: 1: it has a pinned vertex
    void *position, *velocity; // its lane of the rows of vertex.position and vertex.velocity
    const mf_Solid *obstacles;
    uint32_t obstacle_count; // [1]
    mf_ClothSelf self;
    mf_ClothTear tear;
    void *pushes;   // [N s], [N m s] per piece, obstacle and sum a row of lanes: of the
                    // cloth on the obstacle
    void *after;    // [m] of each batch MF_CLOTH_AFTER rows of lanes: what the constraint was right
                    // after its own turn; NULL: it is not kept
    double substep; // [s]
    double lead;    // [s] by which its velocities are ahead of the substeps: half a
                    // substep where nothing holds it, else 0
} mf_ClothJob;

// Values of an array: the slots, and a row that lanes without a constraint may move.
static inline size_t mf_cloth_scratch_size(const mf_ClothPlan *plan) {
    return (size_t)plan->slot_count + 2 * MF_CLOTH_LANES;
}

// Some vertices, from `first` on; the working memory is zeros before the first are loaded.
MF_KERNEL_COPIES(void, mf_cloth_load, (const mf_ClothJob *job, uint32_t first, uint32_t count));
MF_KERNEL_COPIES(void, mf_cloth_store, (const mf_ClothJob *job, uint32_t first, uint32_t count));
// Some rows of slots: ends a substep and begins the next one. `piece`: whose pushes they are.
MF_KERNEL_COPIES(void, mf_cloth_move,
                 (const mf_ClothJob *job, uint32_t first, uint32_t count, bool ends, bool begins,
                  uint32_t piece));
// The cells of all vertices, and their order by cells. Returns the way [m] of the fastest in `span`
// [s] against the mean.
MF_KERNEL_COPIES(double, mf_cloth_sort, (const mf_ClothJob *job, double span));
// Lists who is near some vertices, and moves them apart.
MF_KERNEL_COPIES(void, mf_cloth_list,
                 (const mf_ClothJob *job, uint32_t first, uint32_t count, uint32_t piece));
MF_KERNEL_COPIES(void, mf_cloth_part, (const mf_ClothJob *job, uint32_t first, uint32_t count));
// One pass over the constraints of a chunk.
MF_KERNEL_COPIES(void, mf_cloth_solve, (const mf_ClothJob *job, uint32_t chunk));

// How far the constraints of a chunk are from where they were after their own turn, as others have
// moved them since: sums of the squares over the compliances.
typedef struct mf_ClothResidual {
    double stretch, bending; // [J]
    double whole;            // [J] of the stretch, what is left over and what forces hold
} mf_ClothResidual;
MF_KERNEL_COPIES(void, mf_cloth_residual,
                 (const mf_ClothJob *job, uint32_t chunk, mf_ClothResidual *out));

// Sums over some rows of slots, in an order that depends on nothing else.
typedef struct mf_ClothSum {
    double position[3], momentum[3]; // [kg m], [kg m/s] at the end of the last substep
    double touching;                 // [1] vertices that touched something in the step
    double low[3], high[3];          // [m] box of the vertices
    double speed;                    // [m/s] largest component of a velocity
    bool broken;                     // a value is not finite or out of range
} mf_ClothSum;
MF_KERNEL_COPIES(void, mf_cloth_sum,
                 (const mf_ClothJob *job, uint32_t first, uint32_t count, mf_ClothSum *out));

typedef struct mf_ClothKernels {
    void (*load)(const mf_ClothJob *job, uint32_t first, uint32_t count);
    void (*store)(const mf_ClothJob *job, uint32_t first, uint32_t count);
    void (*move)(const mf_ClothJob *job, uint32_t first, uint32_t count, bool ends, bool begins,
                 uint32_t piece);
    double (*sort)(const mf_ClothJob *job, double span);
    void (*list)(const mf_ClothJob *job, uint32_t first, uint32_t count, uint32_t piece);
    void (*part)(const mf_ClothJob *job, uint32_t first, uint32_t count);
    void (*solve)(const mf_ClothJob *job, uint32_t chunk);
    void (*residual)(const mf_ClothJob *job, uint32_t chunk, mf_ClothResidual *out);
    void (*sum)(const mf_ClothJob *job, uint32_t first, uint32_t count, mf_ClothSum *out);
} mf_ClothKernels;
