// From a group to its plan; for the host side.
#pragma once

#include <mayfly/articulated.h>
#include "motion/articulated/motion.h"

// NULL: the group does not have this motion.
const mf_ArtMotion *mf_art_motion_of(const mf_Group *group);

// The law that results from the settings and a model.
mf_ContactLaw mf_art_law(const mf_Model *model, const mf_ArticulatedConfig *config);
// Features of a model's constraints and integrator that have no effect with these settings, whose
// law must be resolved: one sentence per index from 0 on, NULL after the last.
const char *mf_art_note(const mf_Model *model, const mf_ArticulatedConfig *config, uint32_t index);

// For solvers of several robots, with MuJoCo's law. From now on steps of the group store the
// constraint problems of instances at problems[instance], where that is not NULL, and solve
// nothing; `problems` has an element for each lane of a block. NULL: as usual.
struct mf_ArtProblem;
void mf_art_request_problems(const mf_Group *group, struct mf_ArtProblem *const *problems);
// The law of a contact of the group's robots that is not the model's own.
void mf_art_contact_law(const mf_ArtMotion *motion, const mf_Model *model,
                        const mf_CollideClass *pair, mf_ArtLaw *out);

// Registers the rows of contact.load with the group; called by mf_art_create.
mf_Status mf_art_report_contacts(mf_Group *group, const mf_ArtMotion *motion, mf_Error *error);

// Values that MF_ART_TASK_OVERLAP gives.
static inline size_t mf_art_overlap_count(const mf_CollidePlan *collide) {
    return collide->pair_count + 2 * (size_t)collide->floating_count;
}
// Its answer when every joint is at `angle` (model's order, balls and floating joints at rotation
// 0).
void mf_art_overlaps(const mf_ArtMotion *motion, const mf_Model *model, const double *angle,
                     double *depth);

// The largest overlap [m] of two links of an instance in its present pose, and their shapes; 0:
// none, or the group does not have this motion. Only pairs that may touch.
double mf_art_deepest(const mf_Group *group, uint32_t instance, uint32_t shapes[2]);

// Whether the base moves with the settings of the group, and the armature of each value of a
// velocity vector; false, without values, if the group does not have this motion.
bool mf_art_armature(const mf_Group *group, bool *free, double *armature);
void mf_art_armature_of(const mf_ArtMotion *motion, double *armature); // of its model

// For motions that step the plan's tree with kernels of their own. The description of the field of
// a row from MF_ART_ROW_TORQUE on; rows of the canonical fields; pointers from all rows that are
// there, and for one piece of a block.
const mf_FieldInfo *mf_art_field_info(uint32_t row);
void mf_art_bind_canonical(mf_Group *group, mf_ArtMotion *motion);
void mf_art_bind_rows(mf_ArtMotion *motion);
void mf_art_bind_block(const mf_ArtMotion *motion, const mf_DispatchUnit *piece, mf_ArtBlock *out);

// Adds the field of an optional row with `count` elements; none if 0.
mf_Status mf_art_add_row(mf_Group *group, mf_ArtMotion *motion, uint32_t row, uint32_t count,
                         mf_Error *error);

// Energy and momentum as in mf_articulated_*; without `joints` as if no joint moved.
mf_MotionEnergy mf_art_energy(const mf_ArtMotion *motion, uint32_t instance, bool joints);
void mf_art_momentum(const mf_ArtMotion *motion, uint32_t instance, bool joints, double center[3],
                     double linear[3], double angular[3]);

// The servo of a joint as the motion has it: gain, damping, backlash, and the effort and speed that
// limit it. Gain 0: none. mf_servo() if the motion of the group is not `articulated` or there is no
// such joint.
mf_Servo mf_articulated_servo(const mf_Group *group, uint32_t joint);

// Additional outputs for sensors, stored in their own fields. The motion of the group must be
// `articulated`; call each function at most once, before the first step. On failure the zeroed
// fields remain.
//
// The field sensor.outer: for each of `bodies` the external force [N] and torque [N m], about the
// origin of the body's link (of a body fixed to the world: the world's), on the body and all that
// it carries: from contacts, connects and welds, spatial tendons, base.force and base.torque. World
// axes. MF_NONE is the world, which carries all bodies. A body that is fixed to one with shapes
// that it does not carry gets nothing of base.force, base.torque and collisions with other groups.
// MF_LIMIT: more than 64 bodies.
mf_Status mf_articulated_report_forces(mf_Group *group, const uint32_t *bodies, uint32_t count,
                                       mf_Error *error);

// The field sensor.touch [N]: for each of these sensors, which must be touch sensors of the model,
// the normal forces of all contacts of the site's body, with the ground and with other shapes,
// whose half line, from the contact outwards, intersects the site's volume.
mf_Status mf_articulated_report_touches(mf_Group *group, const uint32_t *sensors, uint32_t count,
                                        mf_Error *error);

// The fields joint.limit_force and tendon.limit_force [N] or [N m], >= 0, of every joint and
// tendon.
mf_Status mf_articulated_report_limits(mf_Group *group, mf_Error *error);

// The field stage.state: the state in which a step of MF_ARTICULATED_RK4 evaluated its last stage,
// to which the reported forces belong: position, orientation, linear and angular velocity of the
// base as in its fields (13 values), joint.angle and joint.rate of all joints, ball.orientation,
// ball.rate, free.position and free.velocity, field after field. MF_BAD_ARGUMENT: another
// integrator.
mf_Status mf_articulated_report_stage(mf_Group *group, mf_Error *error);
