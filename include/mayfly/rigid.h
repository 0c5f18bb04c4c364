// Mayfly: the `rigid` motion. One rigid body with the mass, center and inertia of the present joint
// angles, with all contact forces; moving limbs have no reaction.
#pragma once

#include <mayfly/articulated.h>
#include <mayfly/world.h>

// The `rigid` motion: see docs/explanation/rigid.md for the equations. Joints as in
// mf_PrescribedConfig.
//
// mf_motion_add adds the fields base.force, base.torque, joint.acceleration, joint.jerk,
// joint.travel, contact.load and contact.slip, ball.orientation if the model has ball joints, and
// one system. Ball and planar joints are fixed in their present state. Uses the fields wrench.link
// and wrench.count if they exist. A step uses up to 3 MiB of the stack of the calling thread.
// MF_UNSUPPORTED: a floating joint, which only `articulated` can move. MF_LIMIT and MF_BAD_ARGUMENT
// as of `articulated`.
typedef struct mf_RigidConfig {
    uint32_t struct_size;                // [byte] set by mf_motions_config()
    mf_ArticulatedIntegrator integrator; // as there; default MF_ARTICULATED_IMPLICIT
    mf_ArticulatedBase base;             // a fixed base has no contacts
    mf_Time control_interval;  // [ns] joint.target is read at its start and reached at the
                               // end of it; a multiple of the step; default 10 ms
    bool limits;               // joints stop at their limits; default true
    bool speeds;               // targets are approached no faster than the joints' speed
                               // limits; default true
    bool contacts;             // colliding points touch the ground; default true
    bool shapes;               // as in mf_ArticulatedConfig; default false
    double contact_stiffness;  // [N/m] of one contact on approach, > 0; default 0: by
                               // contact_time
    double contact_time;       // [s] >= 0; stiffness = mass / time^2; default NAN: 0.012
                               // where joints move, since they do not yield and the
                               // ground has to; else 0: 2 steps
    double separation;         // [1] stiffness on separation over that on approach, 0 ..
                               // 1; the restitution is its square root; default 0.1
    double friction;           // [1] Coulomb, >= 0; default NAN: that of the shapes of the
                               // file, 1 for points
    double torsional_friction; // [m] torque against the spin of a contact over its load,
                               // >= 0; default NAN: what an MJCF file says of its shapes (condim,
                               // friction), else 0.02, so that feet on few corners do not spin
    double friction_rate;      // [rad/s] > 0; it is viscous below; default 1e-3
    double slip_speed;         // [m/s] > 0; friction is viscous below; default 1e-4
    double contact_depth; // [m] > 0; the force does not increase beyond this depth; default 0.02
} mf_RigidConfig;
