// The host's side of `articulated` around the plan of its kernels (plan.h).
#pragma once

#include "motion/articulated/plan.h"

// The plan's arrays are also here as pointers, for those who make or change the plan. An array that
// is not yet in the image is an allocation of its own; mf_art_pack moves it there.
typedef struct mf_ArtMotion {
    mf_ArtPlan *plan; // the image, or the structure alone before the first mf_art_pack
    bool embedded;    // the image is in another one, which has another owner
    MF_ART_ARRAYS(MF_FLAT_POINTER, )
    mf_CollidePlan *collide;
    mf_HullSet *hulls; // where there is `collide`, its
    mf_ArticulatedConfig config;
    const mf_Terrain *terrain;
    const mf_Field *wrench, *wrench_count; // wrenches of collisions on links, or NULL
    mf_ArtStepFn step;                     // `dispatch.lanes` lanes at once
    mf_ArtStepFn step_one;                 // one lane
    mf_SparseFn sparse;
    mf_ArtQueryFn query;
    mf_Dispatch dispatch;
    mf_WarningFields warnings;
    bool double_precision;
    mf_Scratch *queries; // scratch of queries; the scratch of steps is in `dispatch`
    mf_Field *rows[MF_ART_ROWS];
    mf_Row row[MF_ART_ROWS];       // their data
    mf_Row wrench_row;             // of wrench.link
    struct mf_ArtSensing *sensing; // what sensors measure (sensing.h); NULL: nothing
    // With MuJoCo's law, what gives way in the reference position: each shape of the model [1/kg];
    // [1/kg] and [1/(kg m^2)] the center of plan link l at 2 (l + 1), from the base's.
    double *shape_ease, *link_ease;
    uint32_t softened; // [1] contacts and classes of pairs with softer friction than the file's
    // Where robots differ from the group's model in their numbers (vary.h); else NULL.
    mf_Field *numbers;
    mf_Row numbers_row;
    struct mf_ArtMotion *unmeasured; // with the group's model and no sensors, to compare with
    mf_ArtPlan *views; // per lane of all blocks, in one allocation with an image of the plan
    // Of the plan of a robot of a group (`like`) that has contacts between links: its own shapes,
    // in the order of the values of `collide`; else NULL.
    double *shape_values;
    mf_ArtStepFn step_varied, step_one_varied;
    mf_Servo *servos;                // the settings' own, per joint; NULL: one for all
    const struct mf_ArtMotion *like; // while the plan of a robot of a group is made: the group's
    mf_Context *context;
    // Per instance, during a step in which problems are requested (mf_art_request_problems); NULL.
    struct mf_ArtProblem *const *problems;
} mf_ArtMotion;

// Moves all arrays into one image, instead of the present one; their pointers change, and arrays
// without elements become NULL. To be called before a kernel reads an array that was added, so also
// before a question (mf_art_ask). MF_NO_MEMORY, MF_LIMIT.
mf_Status mf_art_pack(mf_ArtMotion *motion, mf_Context *context, mf_Error *error);

// A motion with a copy of the plan and nothing else, for mf_art_release_plan. All arrays of
// `motion` must be packed. MF_NO_MEMORY.
mf_Status mf_art_copy_plan(const mf_ArtMotion *motion, mf_ArtMotion *out, mf_Context *context,
                           mf_Error *error);

// Releases the plan and its arrays, but an embedded one.
void mf_art_release_plan(mf_ArtMotion *motion, mf_Context *context);

// Makes `image`, which holds the same as motion->plan, the plan from now on; the caller releases
// what was the plan.
void mf_art_bind_plan(mf_ArtMotion *motion, mf_ArtPlan *image);
