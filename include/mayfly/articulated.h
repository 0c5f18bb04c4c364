// Mayfly: the `articulated` motion, full multibody dynamics of a tree of links.
#ifndef MAYFLY_ARTICULATED_H
#define MAYFLY_ARTICULATED_H

#include <mayfly/world.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mf_ArticulatedIntegrator {
    MF_ARTICULATED_IMPLICIT, // semi-implicit Euler; damping, springs, servos, limits, friction and
                             // contacts at the end of the step: stable at any stiffness
    MF_ARTICULATED_EULER,    // semi-implicit Euler with all forces at the beginning of the step
    MF_ARTICULATED_RK4       // classical Runge-Kutta, all forces explicit: order 4 while smooth
} mf_ArticulatedIntegrator;

typedef enum mf_ArticulatedBase {
    MF_ARTICULATED_AS_MODEL, // as the model says
    MF_ARTICULATED_FREE,     // the base moves
    MF_ARTICULATED_FIXED     // the base is held where it is
} mf_ArticulatedBase;

// How contacts, limits, dry friction and equality constraints give way
// (docs/explanation/articulated.md).
typedef enum mf_ContactLaw {
    MF_CONTACT_LAW_AS_MODEL, // MUJOCO for models of MJCF files, else COMPLIANT, also where the
                             // settings say how contacts or limits give way
    MF_CONTACT_LAW_MUJOCO,   // the constraints of MuJoCo, as soft as the file says, solved together
                             // by Newton's method; implicit steps are those of MuJoCo's Euler,
    // implicitfast and implicit, as the file says, and RK4 those of its own
    MF_CONTACT_LAW_COMPLIANT, // springs and dampers at the end of the step; couplings by sweeps
    MF_CONTACT_LAW_HARD       // contacts have no softness; not with RK4
} mf_ContactLaw;

typedef struct mf_ArticulatedConfig {
    uint32_t struct_size; // [byte] set by mf_articulated_config()
    mf_ArticulatedIntegrator integrator;
    mf_ArticulatedBase base;
    const mf_Servo *servos; // one per joint of the model, copied; NULL: `servo` for all
    mf_Servo servo;         // effort and speed are also limited by the joint's own; default:
                            // mf_servo()
    bool motors;            // without `servos`, and with `servo` as it comes, joints have the
                            // motors of the model, mf_joint_servo(); default true
    bool limits;            // joint limits act; default true
    double limit_time;      // [s] time constant of limits, > 0; default 0: 2 steps
    double limit_damping;   // [1] damping ratio of limits, >= 0; default 1
    double friction_rate;   // [rad/s] or [m/s] > 0; dry friction of joints and friction of
                            // the ground against turning are viscous below; default 1e-3
    bool contacts;          // colliding points meet the ground; default true
    bool shapes;            // spheres, capsules, boxes, cylinders and ellipsoids that collide meet
                            // the ground as themselves, instead of by their points; default false
    mf_ContactLaw contact_law; // default MF_CONTACT_LAW_AS_MODEL; only COMPLIANT reads limit_time
                               // and the settings of contacts from here on, friction excepted
    double contact_stiffness;  // [N/m] of one contact, > 0; default 0: by contact_time, or by the
                               // softness of the file where it states one (implicit steps)
    double contact_damping;    // [N s/m] of one contact, >= 0; default NAN: by contact_ratio
    double contact_time;       // [s] > 0; stiffness = mass / time^2; default 0: 2 steps
    double contact_ratio;      // [1] damping = 2 ratio sqrt(mass stiffness), >= 0; default 1
    double friction;           // [1] sliding on the ground, >= 0; default NAN: as the shapes of the
                               // file say, 1 for points; turning and rolling are the file's
    double slip_speed;         // [m/s] > 0; friction is viscous below; default 1e-4
    double contact_depth;      // [m] > 0; deeper contacts push no harder; default 0.02
    bool self_contacts;        // shapes of links that the model lets touch do, and those fixed in
                               // the world; default true
    uint32_t sweeps;           // [1] of the solver of couplings, up to 1000, not with
                               // MF_CONTACT_LAW_MUJOCO; default 0: 8, hard 30
    uint32_t solver_rounds;    // [1] most solutions of all rows within their ranges where the
                               // sweeps did not converge, up to 1000; default 30; 0: sweeps alone
} mf_ArticulatedConfig;
MF_API mf_ArticulatedConfig mf_articulated_config(void);

// Lets `group` move by `articulated`. Adds the fields joint.torque, base.force and base.torque, the
// state of ball and floating joints where the model has some, contact.load, actuator.control,
// actuator.activation, actuator.slewed and actuator.force where it has actuators, meeting.force
// where hard contacts or floating joints need it, and one system. Planar joints are held at their
// start. `config` may be NULL. A step takes up to 4.5 MiB of the stack of the thread that makes it.
// MF_LIMIT: more than 256 joint axes, 64 ball joints, 512 contacts, 1024 actuators, 64 equations of
// equality constraints, 64 tendons with forces or 16384 pairs of shapes. MF_BAD_ARGUMENT: a
// setting, or a joint that moves nothing with inertia. MF_UNSUPPORTED: an actuator on the joint of
// a free body or on a site of the world.
MF_API mf_Status mf_articulated_add(mf_Group *group, const mf_ArticulatedConfig *config,
                                    mf_Error *error);

// The settings in use, or NULL when the group does not move by `articulated`.
MF_API const mf_ArticulatedConfig *mf_articulated_settings(const mf_Group *group);

// What sensors ask for: forces that a step leaves behind in fields of its own. The group must move
// by `articulated`; each is asked for once, before the first step. Fields of zeros remain after a
// failure.
//
// The field sensor.outer: for each of `bodies` the force [N] and the torque [N m], about the origin
// of the body's link, that come from outside on all that it carries: of contacts, connects and
// welds, base.force and base.torque. World axes. MF_LIMIT: more than 64 bodies. MF_UNSUPPORTED: a
// body that is fixed to one that it does not carry, when both can be pushed and one is tied (a
// connect or a weld): only contacts of shapes are told apart on one link.
MF_API mf_Status mf_articulated_report_forces(mf_Group *group, const uint32_t *bodies,
                                              uint32_t count, mf_Error *error);
// The fields joint.limit_force and tendon.limit_force [N] or [N m], >= 0, of every joint and
// tendon.
MF_API mf_Status mf_articulated_report_limits(mf_Group *group, mf_Error *error);

// The field stage.state: the state in which a step of MF_ARTICULATED_RK4 evaluated its last stage,
// which is that of the forces it reports: place, orientation, linear and angular velocity of the
// base as in its fields (13 values), joint.angle and joint.rate of all joints, ball.orientation,
// ball.rate, free.position and free.velocity, field after field. MF_BAD_ARGUMENT: another
// integrator.
MF_API mf_Status mf_articulated_report_stage(mf_Group *group, mf_Error *error);

// ---- the equations of motion of one instance, in its present state
// -------------------------------
//
// Velocity vectors hold the base (only when it is free: velocity of its origin [m/s] in world axes,
// angular velocity [rad/s] in body axes), then each joint's values in the model's order: one for a
// hinge or slide, three for a ball [rad/s] in the child's axes, six for a floating joint (velocity
// [m/s] in the joint's frame, then as ball), none for a fixed or planar one. Accelerations are
// their derivatives, forces are conjugate to them. With mass matrix M and bias h,
//     M acceleration + h = force.
// Rotor armature is part of M; damping, springs, friction, limits, servos and contacts are not part
// of h. All arrays are the caller's; computed in double. The group must move by `articulated`.

MF_API uint32_t mf_articulated_velocity_count(const mf_Group *group); // [1]
// The first value of a joint in a velocity vector; MF_NONE when it has none.
MF_API uint32_t mf_articulated_velocity_address(const mf_Group *group, uint32_t joint);

// velocity_count^2 values, row after row (composite rigid bodies).
MF_API void mf_articulated_mass_matrix(const mf_Group *group, uint32_t instance, double *matrix);
// Gravity, centrifugal and Coriolis forces (recursive Newton-Euler).
MF_API void mf_articulated_bias(const mf_Group *group, uint32_t instance, double *force);
// Forces for given accelerations (recursive Newton-Euler).
MF_API void mf_articulated_inverse(const mf_Group *group, uint32_t instance,
                                   const double *acceleration, double *force);
// Accelerations for given forces (articulated bodies).
MF_API void mf_articulated_forward(const mf_Group *group, uint32_t instance, const double *force,
                                   double *acceleration);
// World pose of each link of the model: origins [m] and rotations (w, x, y, z), link to world.
MF_API void mf_articulated_pose(const mf_Group *group, uint32_t instance, double (*position)[3],
                                double (*rotation)[4]);
// World velocity of a point of `link`, given in its frame [m], per velocity value: 3 rows of
// velocity_count for the velocity [m/s], then 3 rows for the angular velocity [rad/s], world axes.
MF_API void mf_articulated_jacobian(const mf_Group *group, uint32_t instance, uint32_t link,
                                    const double point[3], double *matrix);

// Where the contact of a row of contact.load is in the frame of `link` [m]: its point, or the
// centre of its ball or disc. False when it belongs to another rigid part, or there is no such row.
MF_API bool mf_articulated_contact_place(const mf_Group *group, uint32_t row, uint32_t link,
                                         double place[3]);

typedef struct mf_ArticulatedEnergy {
    double kinetic;   // [J] with that of the rotors
    double potential; // [J] m g z of all links (z against gravity), zero at the world's origin
    double elastic;   // [J] in joint springs
} mf_ArticulatedEnergy;
MF_API mf_ArticulatedEnergy mf_articulated_energy(const mf_Group *group, uint32_t instance);

// Centre of mass [m], linear momentum [kg m/s] and angular momentum about the centre [kg m^2/s],
// world frame, without rotors.
MF_API void mf_articulated_momentum(const mf_Group *group, uint32_t instance, double center[3],
                                    double linear[3], double angular[3]);

#ifdef __cplusplus
}
#endif
#endif
