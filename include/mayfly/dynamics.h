// Mayfly: the equations of motion of robots, for a range of a group's instances at once.
#pragma once

#include <mayfly/world.h>

// Velocity vectors hold the base (only when it is free: velocity of its origin [m/s] in world axes,
// angular velocity [rad/s] in body axes), then each joint's values in the model's order: one for a
// hinge or slide, three for a ball [rad/s] in the child's axes, six for a floating joint (velocity
// [m/s] in the joint's frame, then as ball), none for a fixed or planar one. Accelerations are
// their derivatives, forces are conjugate to them. With mass matrix M and bias h,
//     M acceleration + h = force.
// Rotor armature is part of M; damping, springs, friction, limits, servos and contacts are not part
// of h.
//
// The functions look at `count` instances from `first` on, in their present state, whatever motion
// the group has; a base that `articulated` holds or frees by its settings is held or free here, and
// the armature of its motors counts. They compute in double, several robots at a time, on the
// context's threads. Results do not depend on threads, instruction set, or on which instances are
// requested together. Arrays are the caller's: n values or matrices, instance after instance, where
// n is `count` times the size below. Robots whose state is not finite get values that are not.
//
// The first question to a group makes what the next ones need and keeps it with the world; later
// ones allocate nothing. One thread at a time may ask a world, and not while it steps.
// MF_BAD_ARGUMENT: a group or array that is NULL, instances that do not exist. MF_NO_MEMORY,
// MF_LIMIT.

MF_API uint32_t mf_group_velocity_count(const mf_Group *group); // [1] nv

// nv * nv values each, row after row, all of the symmetric matrix (composite rigid bodies).
MF_API mf_Status mf_group_mass_matrix(mf_Group *group, uint32_t first, uint32_t count,
                                      double *matrix, mf_Error *error);
// nv values each: gravity, centrifugal and Coriolis forces (recursive Newton-Euler).
MF_API mf_Status mf_group_bias(mf_Group *group, uint32_t first, uint32_t count, double *force,
                               mf_Error *error);
// nv values each: forces for given accelerations (recursive Newton-Euler).
MF_API mf_Status mf_group_inverse_dynamics(mf_Group *group, uint32_t first, uint32_t count,
                                           const double *acceleration, double *force,
                                           mf_Error *error);
// nv values each: accelerations for given forces, by factors of the mass matrix.
MF_API mf_Status mf_group_forward_dynamics(mf_Group *group, uint32_t first, uint32_t count,
                                           const double *force, double *acceleration,
                                           mf_Error *error);
// 6 * nv values each: per velocity value the world velocity of a point of `link`, given in its
// frame [m]: 3 rows of nv for the velocity [m/s], then 3 rows for the angular velocity [rad/s],
// world axes.
MF_API mf_Status mf_group_jacobian(mf_Group *group, uint32_t first, uint32_t count, uint32_t link,
                                   const double point[3], double *matrix, mf_Error *error);
// World pose of each link of the model: origins [m], 3 * link_count values each, and rotations
// (w, x, y, z), link to world, 4 * link_count values each.
MF_API mf_Status mf_group_link_poses(mf_Group *group, uint32_t first, uint32_t count,
                                     double *position, double *rotation, mf_Error *error);
// Velocity of each link's origin [m/s] and its angular velocity [rad/s], world axes: 6 * link_count
// values each.
MF_API mf_Status mf_group_link_velocities(mf_Group *group, uint32_t first, uint32_t count,
                                          double *velocity, mf_Error *error);
