// Inside of run-time joints: shared by their files only.
#pragma once

#include "solve/solver.h"

enum { MF_JOINTS_LIMIT = 65536 };

// Joint slots of a group (joint_slots.c, joint_requests.c); owned by the group.
typedef struct mf_JointSlots {
    struct mf_JointSlots *next; // by rising index of the group
    mf_WorldJoints *joints;
    mf_Group *group;
    uint32_t group_index;                                                // [1]
    uint32_t count;                                                      // [1] per robot
    uint32_t *fault;                                                     // fault.word
    mf_Field *request, *kind, *link, *frame, *partner, *setting, *hinge; // inputs
    mf_Field *state, *answer, *joint, *load, *angle;
} mf_JointSlots;

typedef struct mf_WeldedLink {
    uint64_t key;   // of the link; 0: a free place
    uint32_t leads; // [1] towards the place that stands for its cluster
} mf_WeldedLink;

struct mf_WorldJoints {
    mf_Context *context;
    mf_World *world;
    mf_Solver *solver;
    bool added;              // by mf_world_joints_add
    uint32_t count;          // [1] that exist
    uint32_t used, capacity; // [1] slots
    uint32_t lowest;         // [1] no slot below is free
    uint64_t version;        // [1] counts changes of which joints there are
    mf_JointRecord *records;
    // What a restore will take over.
    mf_JointRecord *next_records;
    mf_WarmContact *next_warm;
    uint32_t next_used, next_warm_count;
    // Joints of slots.
    mf_JointSlots *slots;
    uint32_t slot_capacity; // [1] joints that slots may have at once
    uint32_t slot_blocks;   // [1] of the responses that they need at most
    mf_JointRequestStatistics requests;
    // Links that fixed joints hold together (welds.c).
    uint32_t weld_capacity, weld_count; // [1] places, a power of two or 0; joints
    mf_WeldedLink *welds;
    // Robots that join and move as trees, or NULL (modules/assemblies.h).
    struct mf_Assemblies *assemblies;
    uint32_t reserved;        // [1] joints that they may have at once
    uint32_t reserved_blocks; // [1] of the responses that they need at most
};

// The solver's record of joints, without any. MF_NO_MEMORY.
mf_Status mf_joints_create(mf_Solver *solver, mf_WorldJoints **out, mf_Error *error);
void mf_joints_destroy(mf_WorldJoints *all); // NULL is fine

// Room in the solver for all records that exist, with their groups. MF_NO_MEMORY.
mf_Status mf_joints_reserve(mf_WorldJoints *all, const mf_JointRecord *records, uint32_t used,
                            mf_Error *error);
// Space for one more record besides those of slots. MF_NO_MEMORY.
mf_Status mf_joints_ensure_capacity(mf_WorldJoints *all, mf_Error *error);

// The record of a handle; NULL: no such joint.
mf_JointRecord *mf_joints_find(const mf_WorldJoints *all, mf_WorldJointId id);
// How the link of a side moves now, in the memory of its group's trials.
mf_LinkMotion mf_joint_motion(const mf_WorldJoints *all, const mf_JointRecord *record,
                              uint32_t side);
// Puts a checked record where there is space for it, and takes one away. They allocate nothing.
mf_WorldJointId mf_joints_insert(mf_WorldJoints *all, const mf_JointRecord *record);
void mf_joints_remove(mf_WorldJoints *all, uint32_t slot);
void mf_joint_set_enabled(mf_JointRecord *record, bool enabled);
// As mf_world_joint_set_motor.
mf_Status mf_joint_set_motor(mf_JointRecord *record, double rate, double torque, mf_Error *error);
// A pose in the world as seen from a link.
void mf_joint_frame_in(const mf_LinkMotion *link, const double position[3],
                       const double orientation[4], double out_position[3],
                       double out_orientation[4]);

// ---- links that do not touch (welds.c) ----------------------------------------------------------

// Space for so many joints. MF_NO_MEMORY.
mf_Status mf_joints_ensure_weld_capacity(mf_WorldJoints *all, uint32_t joints, mf_Error *error);
// Lists the pairs of links that fixed joints hold together now.
void mf_joints_list_welds(mf_WorldJoints *all);
// Whether a pair is one of them: group, instance and link of both.
bool mf_joints_weld(const mf_WorldJoints *all, const uint32_t first[3], const uint32_t second[3]);

// ---- slots --------------------------------------------------------------------------------------

// The joint of a slot, or MF_WORLD_JOINT_NONE.
mf_WorldJointId mf_joint_slot_id(const mf_JointSlots *slots, uint32_t instance, uint32_t slot);
// Whether links of the group can be at a joint, as mf_world_joint_create says.
mf_Status mf_joints_check_group(mf_Group *group, mf_Error *error);
// Whether a side's frame is one.
mf_Status mf_joints_check_frame(const mf_JointRecord *record, uint32_t side, mf_Error *error);

// Carries out the requests of a step (joint_requests.c).
void mf_joint_requests_run(mf_WorldJoints *all);
// Writes the present angles of the hinges of all slots; not in parallel with motions of links.
void mf_joint_slots_measure(mf_WorldJoints *all);

// ---- images (joints_image.c) --------------------------------------------------------------------

mf_Status mf_joints_keep(mf_WorldJoints *all, mf_Error *error);
// Whether a record is one that mf_world_joint_create could have made in this world.
mf_Status mf_joints_check(const mf_WorldJoints *all, const mf_JointRecord *record, mf_Error *error);
