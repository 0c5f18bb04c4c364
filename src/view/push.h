// The inside of mf_Pusher (push.c), for those who keep a push in snapshots of their own: the
// session of `mayfly view`.
#pragma once

#include <mayfly/motion.h>
#include <mayfly/push.h>

// A robot that is pulled.
typedef struct mf_Push {
    bool on;
    mf_Group *group;
    uint32_t robot, link; // [1] of the group; of its model
    mf_Motion motion;     // with which it was taken
    double at[3];         // [m] where it is taken, link frame
    double to[3];         // [m] where it is pulled to, world
    double mass;          // [kg] of the robot
    double felt;          // [kg] of it, at the point where it is taken
} mf_Push;

// Memory for pushing any robot of a world.
typedef struct mf_PushMemory {
    mf_Context *context;
    double *poses;                          // 7 per link: all positions, then all rotations
    double *velocities;                     // 6 per link
    double *jacobian, *force, *one, *other; // 6 nv; nv each
    double *rest;                  // nv + 6: what the pushed robot's inputs are without the push
    size_t rest_count;             // [1]
    uint32_t links, joints, count; // [1] most of a robot: links, joints, nv
} mf_PushMemory;

mf_Status mf_push_allocate(mf_Context *context, const mf_World *world, mf_PushMemory *out,
                           mf_Error *error);
void mf_push_free(mf_PushMemory *memory);

// NULL, or why the robot cannot be pushed at this link.
const char *mf_push_refuses(mf_Group *group, uint32_t robot, uint32_t link);
// Takes hold of a link of a robot, or moves what holds it; the robot can be pushed. Its inputs are
// those of memory->rest and the push from then on.
void mf_push_take(mf_Push *push, const mf_PushMemory *memory, mf_Group *group, uint32_t robot,
                  uint32_t link, const double at[3], const double to[3]);
// Lets go of it, and gives it the inputs of memory->rest.
void mf_push_release(mf_Push *push, const mf_PushMemory *memory);
// Before each step of so many seconds, while something is pushed.
void mf_push_pull(mf_Push *push, const mf_PushMemory *memory, double step);
// Whether the push writes this field of the robot, until it is released.
bool mf_push_writes(const mf_Push *push, const mf_Group *group, uint32_t robot,
                    const mf_Field *field);

bool mf_pusher_holds(const mf_Pusher *pusher); // a robot; false for NULL
