// Mayfly: the `prescribed` motion. Joints go as they are told; the base answers with its six
// accelerations from the full dynamics of the tree.
#ifndef MAYFLY_PRESCRIBED_H
#define MAYFLY_PRESCRIBED_H

#include <mayfly/articulated.h>
#include <mayfly/world.h>

#ifdef __cplusplus
extern "C" {
#endif

// The `prescribed` motion: see docs/explanation/prescribed.md for the equations.
typedef struct mf_PrescribedConfig {
    uint32_t struct_size;                // [byte] set by mf_prescribed_config()
    mf_ArticulatedIntegrator integrator; // as there; default MF_ARTICULATED_IMPLICIT
    mf_ArticulatedBase base;             // a held base touches nothing
    mf_Time control_interval;            // [ns] joint.target is read this often and reached at the
                                         // end of it; a multiple of the step; default 10 ms
    bool limits;                         // joints stop at their limits; default true
    bool speeds;                         // targets are approached no faster than the joints' speed
                                         // limits; default true
    bool contacts;                       // colliding points meet the ground; default true
    bool shapes;                         // as in mf_ArticulatedConfig; default false
    double contact_stiffness;            // [N/m] as there, like all below
    double contact_damping;              // [N s/m]
    double contact_time;                 // [s] default 0.012: joints that do not give need ground
                                         // that does; 0: 2 steps
    double contact_ratio;                // [1]
    double friction;                     // [1]
    double friction_rate;                // [rad/s]
    double slip_speed;                   // [m/s]
    double contact_depth;                // [m]
} mf_PrescribedConfig;
MF_API mf_PrescribedConfig mf_prescribed_config(void);

// Lets `group` move by `prescribed`. Adds the fields base.force, base.torque, joint.acceleration,
// joint.jerk, joint.travel, contact.load and contact.slip, ball.orientation where the model has
// ball joints, and one system. Ball and planar joints are held as they are. Finds the fields
// push.link and push.count where they are there. `config` may be NULL. A step takes up to 3 MiB of
// the stack of the thread that makes it. MF_UNSUPPORTED: a floating joint, which only `articulated`
// can move. MF_LIMIT and MF_BAD_ARGUMENT as mf_articulated_add.
MF_API mf_Status mf_prescribed_add(mf_Group *group, const mf_PrescribedConfig *config,
                                   mf_Error *error);

// The settings in use, or NULL when the group does not move by `prescribed`.
MF_API const mf_PrescribedConfig *mf_prescribed_settings(const mf_Group *group);

// Begins new paths from the present angles and rates, after these were written from outside: rates
// stay as they are until the next control interval.
MF_API void mf_prescribed_refresh(mf_Group *group, uint32_t instance);

// Kinetic [J] and potential energy [J] (m g z of all links, zero at the world's origin) of an
// instance, from its fields.
MF_API void mf_prescribed_energy(const mf_Group *group, uint32_t instance, double *kinetic,
                                 double *potential);

// Centre of mass [m], linear momentum [kg m/s] and angular momentum about the centre [kg m^2/s],
// world frame.
MF_API void mf_prescribed_momentum(const mf_Group *group, uint32_t instance, double center[3],
                                   double linear[3], double angular[3]);

#ifdef __cplusplus
}
#endif
#endif
