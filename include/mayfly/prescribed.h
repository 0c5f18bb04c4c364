// Mayfly: the `prescribed` motion. Joints track the commanded motion exactly; the six accelerations
// of the base follow from the full dynamics of the tree.
#pragma once

#include <mayfly/articulated.h>
#include <mayfly/world.h>

// The `prescribed` motion: see docs/explanation/rigid.md for the equations.
//
// mf_motion_add adds the fields base.force, base.torque, joint.acceleration, joint.jerk,
// joint.travel, contact.load and contact.slip, ball.orientation if the model has ball joints, and
// one system. Ball and planar joints are fixed in their present state. Uses the fields wrench.link
// and wrench.count if they exist. A step uses up to 3 MiB of the stack of the calling thread.
// MF_UNSUPPORTED: a floating joint, which only `articulated` can move. MF_LIMIT and MF_BAD_ARGUMENT
// as of `articulated`.
typedef struct mf_PrescribedConfig {
    uint32_t struct_size;                // [byte] set by mf_motions_config()
    mf_ArticulatedIntegrator integrator; // as there; default MF_ARTICULATED_IMPLICIT
    mf_ArticulatedBase base;             // a fixed base has no contacts
    mf_Time control_interval; // [ns] joint.target is read at its start and reached at the
                              // end of it; a multiple of the step; default 10 ms
    bool limits;              // joints stop at their limits; default true
    bool speeds;              // targets are approached no faster than the joints' speed
                              // limits; default true
    bool contacts;            // colliding points touch the ground; default true
    bool shapes;              // as in mf_ArticulatedConfig; default false
    double contact_stiffness; // [N/m] as there, like all below
    double contact_damping;   // [N s/m]
    double contact_time;      // [s] default NAN: 0.012 where joints move, since they do not
                              // yield and the ground has to; else 0: 2 steps
    double contact_ratio;     // [1]
    double friction;          // [1]
    double friction_rate;     // [rad/s]
    double slip_speed;        // [m/s]
    double contact_depth;     // [m]
} mf_PrescribedConfig;
