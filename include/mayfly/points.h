// Mayfly: the `points` motion, one rigid body of mass points over a height map.
#pragma once

#include <mayfly/world.h>

typedef enum mf_FrictionModel {
    MF_FRICTION_FIT,    // displacement and yaw by least squares over the contacts (the paper)
    MF_FRICTION_COUPLED // all six degrees of freedom in one fit: roll and pitch included
} mf_FrictionModel;

// The `points` motion: see docs/explanation/points.md for the equations. The defaults are the
// behavior of Fischer and Ihme 2024 (NeoPhysIx).
//
// mf_motion_add adds the fields body.* and point.* and one system. Ball, planar and floating joints
// are fixed in their initial state. point.residual is the residual of the contact solution in the
// last step, point.unsolved counts steps with more than 0.001.
typedef struct mf_PointsConfig {
    uint32_t struct_size;        // [byte] set by mf_motions_config()
    mf_Time joint_interval;      // [ns] joints advance this often; a multiple of the step; 80 ms
    mf_FrictionModel friction;   // default MF_FRICTION_FIT
    bool weighted;               // weight the terms of the fit by normal force; default false
    double friction_coefficient; // [1] Coulomb limit, > 0; default INFINITY = always sticks
    bool keep_momentum;          // in the air the base rotates against its joints; default false
    double compliance;           // [1] contact compliance relative to the step, 1e-4 .. 1; 0.1
    double contact_margin;       // [m] points within this distance of the ground count as contacts;
                                 // 0.001
} mf_PointsConfig;
