// Mayfly: the `external` motion. Bodies moved by a program, a plugin or a recording: in collisions
// they push others with infinite mass and are never pushed. docs/explanation/external.md.
#pragma once

#include <mayfly/world.h>

typedef struct mf_ExternalConfig {
    uint32_t struct_size;     // [byte] set by mf_motions_config()
    bool targets;             // bodies reach target.position, target.orientation and joint.target;
                              // default false: they move with the velocities in their fields
    mf_Time control_interval; // [ns] a target is reached at the end of each such interval; a
                              // multiple of the step; default 0: every step
    uint32_t poses; // [1] 2 .. 256 time-stamped poses per body in the field `poses`, which
                    // the base follows; default 0: none
    mf_Time delay;  // [ns] the base is where the poses say it was so long ago; default 0
    mf_Time hold;   // [ns] it goes on beyond the newest pose for at most so long, and
                    // then stands; default 100 ms
} mf_ExternalConfig;

// The field poses.state: what the base does with its stream of poses.
typedef enum mf_PoseState {
    MF_POSES_NONE,    // there is no pose: it stays where it is
    MF_POSES_EARLY,   // all poses are of later times: it stands at the first one
    MF_POSES_BETWEEN, // it moves between two poses
    MF_POSES_BEYOND,  // the newest pose is over: it goes on with its velocity
    MF_POSES_CONSTANT // it went on for `hold`, and stands
} mf_PoseState;

// ---- what the motion does ----
//
// Without `targets` a step moves the base by base.linear_velocity and base.angular_velocity, hinges
// and slides by joint.rate, exactly for constant velocities. Pose and velocities may be written
// between steps.
//
// With `targets` it adds the fields target.position [m] and target.orientation (w, x, y, z), world
// frame, both the start pose after a reset. A step writes the velocities that reach the target at
// the end of the interval, and moves by them; the last step of an interval ends at the target to
// the bit (of a unit quaternion, to rounding). A constant target gives velocities of 0.
//
// With `poses` it adds the field `poses`, of `poses` rows (time [s], position [m], orientation
// (w, x, y, z)), f64, world frame, in any order, to be written from outside: usually the newest
// pose replaces the oldest one. At the end of a step at time t the base has the pose of the time t
// - delay, and its velocity: of a cubic through the poses, as poses.c says. Rows of zeros, or with
// a number that is not finite, are none. The fields poses.state (mf_PoseState) and poses.age [s]
// (t - delay minus the time of the newest pose) say how good it is. A reset removes all poses.
// Joints move by their rates, or with `targets` to joint.target; target.position is not there.
//
// Collisions, which are computed first in a step, use the velocities at its beginning: a body that
// starts to follow a moving target collides with its speed from the second step on.
//
// A velocity or target that is not finite raises MF_FAULT_INPUT, a position more than 1e7 m away
// MF_FAULT_RANGE; the body then does not move. Joints of other types are constant; there is no
// contact with the ground. MF_UNSUPPORTED: the model's base is fixed in the world. MF_BAD_ARGUMENT:
// a setting, or the group has the motion already.
