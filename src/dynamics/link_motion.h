// Where one link of one robot is and how it moves, from the canonical fields of its group.
#ifndef MF_DYNAMICS_LINK_MOTION_H
#define MF_DYNAMICS_LINK_MOTION_H

#include <mayfly/world.h>

typedef struct mf_LinkMotion { // world frame
    double position[3];        // [m] of the link's origin
    double orientation[4];     // [1] link to world
    double velocity[3];        // [m/s] of the origin
    double rate[3];            // [rad/s]
} mf_LinkMotion;

// The fields it is found from; the optional ones are NULL where the group has none.
typedef struct mf_LinkFields {
    const mf_Model *model;
    const mf_Field *position, *orientation, *linear_velocity, *angular_velocity;
    const mf_Field *angle, *rate, *ball, *ball_rate, *place, *speed;
    uint32_t *ball_of; // [1] per joint: number of the ball or floating joint; the caller's memory
    uint32_t *free_of; // [1] per joint: number of the floating joint
} mf_LinkFields;

// Fills all but ball_of and free_of, which have room for the model's joints and are filled, too.
void mf_link_fields_bind(mf_LinkFields *fields, mf_Group *group);

// `still`: a robot that does not move, whatever its fields say.
void mf_link_motion(mf_LinkMotion *out, const mf_LinkFields *fields, uint32_t instance,
                    uint32_t link, bool still);

// A frame of the world, at rest.
mf_LinkMotion mf_link_motion_world(void);

// Where a point of the link [m] (link's axes) is in the world, and its velocity; either may be
// NULL.
void mf_link_point(const mf_LinkMotion *motion, const double point[3], double position[3],
                   double velocity[3]);

#endif
