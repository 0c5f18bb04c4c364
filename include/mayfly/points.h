// Mayfly: the `points` motion, one rigid body of mass points over a height map.
#ifndef MAYFLY_POINTS_H
#define MAYFLY_POINTS_H

#include <mayfly/world.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mf_FrictionModel {
    MF_FRICTION_FIT,    // displacement and yaw by least squares over the contacts (the paper)
    MF_FRICTION_COUPLED // all six degrees of freedom in one fit: roll and pitch included
} mf_FrictionModel;

// The `points` motion: see docs/explanation/points.md for the equations. The defaults are the
// behavior of Fischer and Ihme 2024 (NeoPhysIx).
typedef struct mf_PointsConfig {
    uint32_t struct_size;        // [byte] set by mf_points_config()
    mf_Time joint_interval;      // [ns] joints advance this often; a multiple of the step; 80 ms
    mf_FrictionModel friction;   // default MF_FRICTION_FIT
    bool weighted;               // weight the terms of the fit by normal force; default false
    double friction_coefficient; // [1] Coulomb limit, > 0; default INFINITY = always sticks
    bool keep_momentum;          // in the air the base rotates against its joints; default false
    double compliance;           // [1] contact compliance relative to the step, 1e-4 .. 1; 0.1
    double contact_margin;       // [m] points within this distance of the ground count as contacts;
                                 // 0.001
} mf_PointsConfig;
// The defaults of mf_PointsConfig: every configuration starts from them.
MF_API mf_PointsConfig mf_points_config(void);

// Adds the motion `points` to `group`: the fields body.* and point.* and one system. Ball, planar
// and floating joints are fixed in their initial state. `config` may be NULL. point.residual is the
// residual of the contact solution in the last step, point.unsolved counts steps with more than
// 0.001.
MF_API mf_Status mf_points_add(mf_Group *group, const mf_PointsConfig *config, mf_Error *error);

// The settings in use, or NULL if the motion of the group is not `points`.
MF_API const mf_PointsConfig *mf_points_config_of(const mf_Group *group);

// Mechanical energy of an instance, from its fields, for audits.
typedef struct mf_PointsEnergy {
    double kinetic;   // [J]
    double potential; // [J] m g z of the center of mass
    double elastic;   // [J] stored in the contacts
} mf_PointsEnergy;
// Energies [J] of an instance.
MF_API mf_PointsEnergy mf_points_energy(const mf_Group *group, uint32_t instance);

// Center of mass [m] and angular momentum about it [kg m^2/s], world frame.
MF_API void mf_points_momentum(const mf_Group *group, uint32_t instance, double center[3],
                               double linear[3], double angular[3]);

#ifdef __cplusplus
}
#endif
#endif
