// Mayfly: the `articulated` motion, full multibody dynamics of a tree of links.
#pragma once

#include <mayfly/world.h>

typedef enum mf_ArticulatedIntegrator {
    MF_ARTICULATED_IMPLICIT, // semi-implicit Euler; damping, springs, servos, limits, friction and
                             // contacts at the end of the step: stable at any stiffness
    MF_ARTICULATED_EULER,    // semi-implicit Euler with all forces at the beginning of the step
    MF_ARTICULATED_RK4,      // classical Runge-Kutta, all forces explicit: order 4 while smooth
    MF_ARTICULATED_OF_MODEL  // RK4 where the model's file requests it and contacts, if any, have
                             // MuJoCo's law; else IMPLICIT
} mf_ArticulatedIntegrator;

typedef enum mf_ArticulatedBase {
    MF_ARTICULATED_AS_MODEL, // as in the model
    MF_ARTICULATED_FREE,     // the base moves
    MF_ARTICULATED_FIXED     // the base is fixed in its position
} mf_ArticulatedBase;

// Law of contacts, limits, dry friction and equality constraints (docs/explanation/articulated.md).
typedef enum mf_ContactLaw {
    MF_CONTACT_LAW_AS_MODEL, // MUJOCO for models of MJCF files; else, and if the settings state the
                             // softness of contacts or limits, COMPLIANT
    // MuJoCo's constraints with the softness of the file, solved together by Newton's method;
    // integrators are MuJoCo's Euler, implicitfast and implicit, as the file states, and its RK4
    MF_CONTACT_LAW_MUJOCO,
    MF_CONTACT_LAW_COMPLIANT, // springs and dampers at the end of the step; couplings by sweeps
    MF_CONTACT_LAW_HARD       // contacts have no softness; not with RK4
} mf_ContactLaw;

// mf_motion_add adds the fields joint.torque, base.force and base.torque, the state of ball and
// floating joints if the model has any, contact.load, actuator.control, actuator.activation,
// actuator.slewed and actuator.force if it has actuators, tendon.length and tendon.force if it has
// tendons, warm_start.force if hard contacts or floating joints need it, and one system. Planar
// joints are fixed in their initial state. A step uses up to 4.5 MiB of the stack of the calling
// thread. MF_LIMIT: more than 256 joint axes, 64 ball joints, 512 contacts, 1024 actuators, 64
// equations of equality constraints, 64 tendons with forces or 16384 pairs of shapes.
// MF_BAD_ARGUMENT: a setting, or a joint that moves no inertia. MF_UNSUPPORTED: an actuator on the
// joint of a free body or on a site of the world.
typedef struct mf_ArticulatedConfig {
    uint32_t struct_size; // [byte] set by mf_motions_config()
    mf_ArticulatedIntegrator integrator;
    mf_ArticulatedBase base;
    const mf_Servo *servos; // one per joint of the model, copied; NULL: `servo` for all
    mf_Servo servo;         // effort and speed are also limited by the joint's own; default:
                            // mf_servo()
    bool motors;            // without `servos`, and with the default `servo`, joints have the
                            // servos of the model, mf_joint_servo(); default true.
                            // Actuators of the file act in any case: their inputs are
                            // actuator.control
    bool servo_inputs;      // gains, rates and torques of servos are inputs (below); default false
    bool limits;            // joint limits act; default true
    bool input_limits;      // the effort and speed of the joints of a URDF file hold for
                            // joint.torque and the inputs of servos, too: their sum is at most the
                            // effort, and nothing drives a joint beyond its speed; default true
    double limit_time;      // [s] time constant of limits, > 0; default 0: 2 steps
    double limit_damping;   // [1] damping ratio of limits, >= 0; default 1
    double friction_rate;   // [rad/s] or [m/s] > 0; torsional friction of the ground, dry friction
                            // of a free base and that of joints in explicit steps, or of modules
                            // with docks, are viscous below; default 1e-3
    bool contacts;          // colliding points touch the ground; default true
    bool shapes;            // whole shapes that collide
                            // touch the ground, instead of their points; default false
    mf_ContactLaw contact_law; // default MF_CONTACT_LAW_AS_MODEL; only COMPLIANT reads limit_time
                               // and the contact settings below, except friction
    double contact_stiffness;  // [N/m] of one contact, > 0; default 0: from contact_time, or from
                               // the softness of the file if it states one (implicit steps)
    double contact_damping;    // [N s/m] of one contact, >= 0; default NAN: from contact_ratio
    double contact_time;       // [s] > 0; stiffness = mass / time^2; default 0: 2 steps
    double contact_ratio;      // [1] damping = 2 ratio sqrt(mass stiffness), >= 0; default 1
    double friction;      // [1] sliding on the ground, >= 0; default NAN: that of the shapes of the
                          // file, 1 for points; torsional and rolling friction are the file's
    double slip_speed;    // [m/s] > 0; friction is viscous below; default 1e-4
    double contact_depth; // [m] > 0; the force does not increase beyond this depth; default
                          // 0.02
    bool self_contacts;   // shapes of links, and shapes fixed in the world, collide where the
                          // model allows it; default true
    uint32_t sweeps;      // [1] of the solver of couplings, up to 1000, not with
                          // MF_CONTACT_LAW_MUJOCO; default 0: 8, hard 30
    uint32_t solver_rounds; // [1] solutions of all rows within their ranges where the sweeps did
                            // not converge, at most; up to 1000; default 30; 0: sweeps alone
} mf_ArticulatedConfig;

// With `servo_inputs` the group has the fields servo.gain, servo.damping, servo.target_rate and
// servo.torque, inputs of each joint. Servos then exert, within their effort,
//     gain (joint.target - angle) + damping (target_rate - rate) + torque
// with the values at the beginning of a step and, with the implicit integrator, angle and rate at
// its end. A reset sets the gains of the settings, zeros where there are none. Hinges and slides
// that follow no other joint have one, unless their effort in the file is 0; where the file has
// motors on the joint, what these exert at most is the effort, too. The law has no limit of the
// speed but that of `input_limits`. A gain or damping below 0, or a value that is not finite,
// raises MF_FAULT_INPUT.

// The settings in use, or NULL if the motion of the group is not `articulated`.
MF_API const mf_ArticulatedConfig *mf_articulated_config_of(const mf_Group *group);

// ---- one instance, in its present state --------------------------------------------------------
//
// mayfly/dynamics.h has the equations of motion of any group.

// Accelerations for given forces as a step finds them (articulated bodies), without joint forces
// and contacts; vectors as in mayfly/dynamics.h. The group must move by `articulated`.
MF_API void mf_articulated_forward(const mf_Group *group, uint32_t instance, const double *force,
                                   double *acceleration);
