// Making and freeing plans; the rest of plan.h is for the kernels.
#pragma once

#include "base/memory.h"
#include "motion/articulated/motion.h"

// The copy of the query kernel for this processor.
mf_ArtQueryFn mf_art_query_of(mf_Isa isa);
// Scratch for queries; the tree and the mocap bodies must be built.
mf_Status mf_art_queries_build(mf_ArtMotion *motion, mf_Context *context, mf_Error *error);

typedef struct mf_ArtBody { // a plan link in the world
    double rotation[9];     // [1] own axes to world, row after row
    double position[3];     // [m]
} mf_ArtBody;

typedef struct mf_ArtFlight { // and its motion
    double velocity[3];       // [m/s] of the origin, world axes
    double rate[3];           // [rad/s] world axes
} mf_ArtFlight;

// What a query is about, in scratch that is borrowed for it.
typedef struct mf_ArtValues {
    double *position; // the base's pose first, also where it is fixed
    double *velocity;
    double *joints;        // part of `position`: value k of a link at its `position` + k
    mf_ArtBody *bodies;    // space for the answer to MF_ART_TASK_POSE: the base, then the links
    mf_ArtFlight *flights; // likewise, for the caller
    void *block, *scratch;
} mf_ArtValues;

// Positions and velocities are 0. To be returned before the same thread borrows again.
void mf_art_values_borrow(const mf_ArtMotion *motion, mf_ArtValues *values);
void mf_art_values_return(const mf_ArtMotion *motion, const mf_ArtValues *values);
// Runs a query.
void mf_art_ask(const mf_ArtMotion *motion, mf_ArtTask task, const mf_ArtValues *values,
                const double *in, double *out);

// A motion with an empty plan, the world's terrain and the data for queries. NULL: no memory.
mf_ArtMotion *mf_art_begin(mf_Group *group, mf_Error *error);
mf_Status mf_art_create(mf_Group *group, const mf_ArticulatedConfig *config, mf_ArtMotion **out,
                        mf_Error *error);
void mf_art_destroy(mf_Context *context, mf_ArtMotion *motion); // NULL is fine

// Marks that the poses of a link and of all links that carry it are needed.
static inline void mf_art_mark_posed(const mf_ArtMotion *motion, int32_t link) {
    motion->plan->posed = true;
    for (; link >= 0; link = motion->links[link].parent)
        motion->links[link].posed = true;
}

// Likewise that an actuator pushes it.
static inline void mf_art_mark_thrust(const mf_ArtMotion *motion, int32_t link) {
    if (link >= 0)
        motion->links[link].thrust = true;
    else if (link != MF_ART_WORLD)
        motion->plan->base_thrust = !motion->plan->fixed;
}

// The pose of a frame of the model's link (MF_NONE: the world) in the plan link that carries it,
// which is returned.
int32_t mf_art_pose(const mf_ArtMotion *motion, uint32_t link, const double position[3],
                    const double rotation[4], double out_position[3], double out_rotation[4]);

// The tree: links, frames, inertias. Allocates links, positions, joint_links and the
// constants for that many contacts and actuators.
mf_Status mf_art_tree_build(mf_ArtMotion *motion, const mf_Model *model, uint32_t contact_count,
                            uint32_t actuator_count, mf_Context *context, mf_Error *error);

// Allocates and fills paths, wraps and path_links, where the model has spatial tendons. The
// tree must be there.
mf_Status mf_art_paths_build(mf_ArtMotion *motion, const mf_Model *model, mf_Context *context,
                             mf_Error *error);
// Marks the links that a spatial tendon pulls as pushed by an actuator.
void mf_art_path_thrust(mf_ArtMotion *motion, uint32_t tendon);
// Jacobian of a spatial tendon's length in the file's reference position, in the order of dofs;
// a free base in its own axes. With MuJoCo's law.
mf_Status mf_art_path_row(const mf_ArtMotion *motion, const mf_Model *model, uint32_t tendon,
                          double *row, mf_Context *context, mf_Error *error);
mf_ArtMuscle mf_art_muscle(const mf_Muscle *from);
// Computes the lengths of muscles that the file does not state. The plan except its contacts must
// be built.
mf_Status mf_art_muscle_lengths(mf_ArtMotion *motion, const mf_Model *model, mf_Context *context,
                                mf_Error *error);

// Allocates and fills actuators and terms, and their constants. The tree and the
// paths must be there.
mf_Status mf_art_actuators_build(mf_ArtMotion *motion, const mf_Model *model, double step,
                                 mf_Context *context, mf_Error *error);

// The medium of a file with density or viscosity: allocates and fills fluids. The tree must
// be there.
mf_Status mf_art_fluids_build(mf_ArtMotion *motion, const mf_Model *model, mf_Context *context,
                              mf_Error *error);

// Allocates and fills loops, tendons and looped, and adds to terms, which has space for
// mf_art_coupling_terms more. The actuators must be there. A tendon counts if it has a force of its
// own.
bool mf_art_tendon_fixed(const mf_Model *model, uint32_t tendon);
// A tendon with the damping and armature of the actuators that drive it.
mf_Tendon mf_art_tendon(const mf_Model *model, uint32_t tendon);
// Adds the values of an actuator, times the square of its gear (MuJoCo documentation, XML
// reference, actuator armature and damping).
void mf_art_actuator_add(const mf_Actuator *actuator, double *damping, double *armature);
uint32_t mf_art_coupling_terms(const mf_Model *model);
// The joints that an actuator on a joint or a tendon pulls on: *terms, which is `own` for a joint.
uint32_t mf_art_pulled(const mf_Model *model, const mf_Actuator *actuator, mf_TendonTerm *own,
                       const mf_TendonTerm **terms);
// Adds terms of joints, times `factor`, to the plan's, which has space for them. `name`: of what
// couples them. MF_UNSUPPORTED: a joint is neither hinge nor slide.
mf_Status mf_art_add_terms(mf_ArtMotion *motion, const mf_Model *model, const char *name,
                           const mf_TendonTerm *terms, uint32_t term_count, double factor,
                           uint32_t *first, uint32_t *count, mf_Error *error);
mf_Status mf_art_couplings_build(mf_ArtMotion *motion, const mf_Model *model, mf_Context *context,
                                 mf_Error *error);

// What the pairs that may touch have at most.
typedef struct mf_ArtPairsMost {
    bool any;
    double margin;      // [m]
    uint32_t dimension; // [1]
} mf_ArtPairsMost;
mf_ArtPairsMost mf_art_pairs_most(const mf_ArtMotion *motion);

// Builds `collide` and pair_allowed, and computes the solver's capacity for contacts. The couplings
// must be built.
mf_Status mf_art_contact_pairs_build(mf_ArtMotion *motion, const mf_Model *model,
                                     mf_Context *context, mf_Error *error);

// Compliance of each shape of the model: acceleration of the center of its body (of its link
// without bodies) per force there, mean over all directions [1/kg], in the start pose with a free
// tree; 0 in the world. Armatures must be set.
mf_Status mf_art_ease_find(const mf_ArtMotion *motion, const mf_Model *model, double *ease,
                           mf_Context *context, mf_Error *error);

// Acceleration of each link's joint per torque or force on it [1/(kg m^2)] or [1/kg], at the start;
// of a ball joint about its z axis. Armatures must be there.
mf_Status mf_art_give_find(const mf_ArtMotion *motion, const mf_Model *model, double *give,
                           mf_Context *context, mf_Error *error);

// Whether a constraint of that softness follows it (implicit steps), not the settings.
bool mf_art_is_soft(const mf_ArticulatedConfig *config, const mf_Softness *softness);
// Its stiffness over the impedance [1/s^2] and its damping [1/s].
void mf_art_reference(const mf_Model *model, double step, const mf_Softness *softness, double *k,
                      double *b);
// Gives limits of hinges and slides the softness of the file; MF_ART_MOVED must be set.
mf_Status mf_art_limits_soften(mf_ArtMotion *motion, const mf_Model *model, mf_Context *context,
                               mf_Error *error);

// Compliance of constraints in the file's reference position, the diagonal of J M^-1 J^T (MuJoCo's
// invweight0): of shapes by their bodies' centers [1/kg]; of links by theirs (the base first) along
// and about; of the joints of links, of tendons; of loops along and about; of the base's joint
// along and about. The caller frees them.
typedef struct mf_ArtWeights {
    double *shapes, *links, *joints, *tendons, *loops, base[2];
    double mean; // of the mass matrix's diagonal there
} mf_ArtWeights;
mf_Status mf_art_weights_find(const mf_ArtMotion *motion, const mf_Model *model, mf_ArtWeights *out,
                              mf_Context *context, mf_Error *error);
void mf_art_weights_free(mf_ArtWeights *weights, mf_Context *context);

// With MuJoCo's law: softness of each constraint, pattern of the mass matrix, and forces at the end
// of the step. Contacts, couplings and drives must be built.
mf_Status mf_art_laws_fill(mf_ArtMotion *motion, const mf_Model *model, mf_Context *context,
                           mf_Error *error);

// Fills MF_ART_MOVED of all links; armatures must be there.
mf_Status mf_art_moved_find(mf_ArtMotion *motion, const mf_Model *model, mf_Context *context,
                            mf_Error *error);

// Number of contacts that the settings request, and their positions; marks the links whose pose is
// needed. Settings, ground and hulls of the plan must be set, for positions also the tree and
// `contacts`. `position` does not set parameters of contacts.
uint32_t mf_art_contact_count(const mf_ArtMotion *motion, const mf_Model *model);
void mf_art_contacts_position(mf_ArtMotion *motion, const mf_Model *model);

// Fills MF_ART_AROUND of all links; contacts and what they do must be there.
void mf_art_contacts_surround(mf_ArtMotion *motion);

// Parameters of contacts: the friction and softness of their pair of shapes, mixed by the file's
// rules, unless the settings override them. The positions of all contacts must be there.
mf_Status mf_art_surfaces_fill(mf_ArtMotion *motion, const mf_Model *model, mf_Context *context,
                               mf_Error *error);

// Where contact i touches a plane whose normal is `up` in the axes of its plan link: a position in
// that link; of balls and ovals their center. Not moved along the normal where they are round.
void mf_art_contact_point(const mf_ArtMotion *motion, uint32_t i, const double up[3],
                          double position[3]);

// ---- mocap bodies (mocaps.c) --------------------------------------------------------------------

mf_Status mf_art_mocaps_build(mf_ArtMotion *motion, const mf_Model *model, mf_Context *context,
                              mf_Error *error);
// The mocap body that `body` is or is fixed to; MF_NONE.
uint32_t mf_art_mocap_of(const mf_ArtMotion *motion, const mf_Model *model, uint32_t body);
// Gives shapes on mocap bodies the frames of these bodies; code that needs frames of links must run
// before.
void mf_art_mocaps_carry(mf_ArtMotion *motion, const mf_Model *model);

// A fixed, colliding level plane or height field, which the world's ground represents.
bool mf_art_is_ground(const mf_Shape *shape);

// The shapes among which all grounds of a file are; found once, for many questions.
typedef struct mf_ArtGround {
    const mf_Model *model;
    uint32_t first, end; // [1]
} mf_ArtGround;
mf_ArtGround mf_art_ground(const mf_Model *model);

// Whether a shape touches the ground, with which parameters (as mf_collide_match). If the file has
// grounds, one of them must match.
bool mf_art_ground_pair(const mf_ArtGround *ground, uint32_t shape, mf_CollideClass *pair);

// Prepares adhesion actuators; all contacts must be built.
mf_Status mf_art_adhesion_build(mf_ArtMotion *motion, const mf_Model *model, mf_Context *context,
                                mf_Error *error);

// Allocates and fills zones, and per link, contact and shape those that it is in; packs the plan.
mf_Status mf_art_zones_build(mf_ArtMotion *motion, const mf_Model *model, const uint32_t *bodies,
                             uint32_t count, mf_Context *context, mf_Error *error);

// Allocates and fills touch_sites, and per contact and shape the first of its body; packs the plan.
mf_Status mf_art_touches_build(mf_ArtMotion *motion, const mf_Model *model, const uint32_t *sensors,
                               uint32_t count, mf_Context *context, mf_Error *error);

// A motion without fields for the settings of `like`, which the group has, and a model that differs
// from the group's in numbers: the same pairs of shapes touch. The caller calls mf_art_destroy.
mf_Status mf_art_create_like(mf_Group *group, const mf_ArtMotion *like, const mf_Model *model,
                             mf_ArtMotion **out, mf_Error *error);

// Constants of a plan link (double); -1 = base.
static inline double *mf_art_constants(const mf_ArtMotion *motion, int32_t link) {
    return link < 0 ? motion->constants_f64 + MF_ART_SETTINGS
                    : motion->constants_f64 + motion->plan->link_offset +
                          (size_t)link * MF_ART_LINK_VALUES;
}

// And of a contact with the ground.
static inline double *mf_art_contact_constants(const mf_ArtMotion *motion, uint32_t contact) {
    return motion->constants_f64 + motion->plan->contact_offset +
           (size_t)contact * MF_ART_CONTACT_VALUES;
}
