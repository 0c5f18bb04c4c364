// Inside of run-time joints: shared by their files only.
#ifndef MF_DYNAMICS_JOINTS_H
#define MF_DYNAMICS_JOINTS_H

#include "dynamics/solver.h"

enum { MF_JOINTS_LIMIT = 65536 };

struct mf_WorldJoints {
    mf_Context *context;
    mf_World *world;
    mf_Solver *solver;
    bool added;          // by mf_world_joints_add
    uint32_t count;      // [1] that exist
    uint32_t used, room; // [1] slots
    uint32_t lowest;     // [1] no slot below is free
    mf_JointRecord *records;
    // What a restore will take over.
    mf_JointRecord *next_records;
    mf_WarmContact *next_warm;
    uint32_t next_used, next_warm_count;
};

// The solver's record of joints, without any. MF_NO_MEMORY.
mf_Status mf_joints_create(mf_Solver *solver, mf_WorldJoints **out, mf_Error *error);
void mf_joints_destroy(mf_WorldJoints *all); // NULL is fine

// Room in the solver for all records that exist, with their groups. MF_NO_MEMORY.
mf_Status mf_joints_reserve(mf_WorldJoints *all, const mf_JointRecord *records, uint32_t used,
                            mf_Error *error);

// ---- images (joints_image.c) --------------------------------------------------------------------

mf_Status mf_joints_keep(mf_WorldJoints *all, mf_Error *error);
// Whether a record is one that mf_world_joint_create could have made in this world.
mf_Status mf_joints_check(const mf_WorldJoints *all, const mf_JointRecord *record, mf_Error *error);

#endif
