// Mayfly: pulling a robot by hand while its world is stepped, as the mouse does on a live page: by
// a spring with a limit where the robot's motion knows forces, by a move where it knows none.
#pragma once

#include <mayfly/world.h>

// Pulls one robot of a world at a time.
typedef struct mf_Pusher mf_Pusher;

// Allocates what pulling any robot of the world takes. The world must outlive *out and gets no more
// groups. Changes nothing in the world. MF_NO_MEMORY.
MF_API mf_Status mf_pusher_create(mf_World *world, mf_Pusher **out, mf_Error *error);
MF_API void mf_pusher_destroy(mf_Pusher *pusher); // NULL is allowed; releases the robot

// Takes a robot of a group at the point `at` [m] in the frame of its link and pulls it towards `to`
// [m] in the world, in each step of mf_pusher_step until mf_pusher_release. The same point of the
// same robot again only moves the goal; another one is taken instead. MF_UNSUPPORTED: this link
// cannot be pushed, and why. MF_BAD_ARGUMENT: no such robot, a group that came later, or a
// coordinate beyond 1e6 m.
MF_API mf_Status mf_pusher_take(mf_Pusher *pusher, mf_Group *group, uint32_t robot, uint32_t link,
                                const double at[3], const double to[3], mf_Error *error);
MF_API void mf_pusher_release(mf_Pusher *pusher); // NULL is allowed

// mf_world_step, with the pull in each step: its forces come on top of the inputs of the robot,
// which are afterwards what they were. Without a robot it is mf_world_step.
MF_API void mf_pusher_step(mf_Pusher *pusher, uint64_t steps);
