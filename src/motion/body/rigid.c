// The `rigid` motion's host side; most of it is shared (driven.c).
#include "motion/body/driven.h"
#include "base/floats.h"
#include "motion/articulated/host.h"

#include <math.h>

// [m] Where no file says what a shape does: without it, feet that stand on few corners spin.
static const double usual_torsion = 0.02;

static mf_RigidConfig default_config(void) {
    return (mf_RigidConfig){.struct_size = sizeof(mf_RigidConfig),
                            .control_interval = 10 * MF_MILLISECOND,
                            .limits = true,
                            .speeds = true,
                            .contacts = true,
                            .contact_time = (double)NAN,
                            .separation = 0.1,
                            .friction = (double)NAN,
                            .torsional_friction = (double)NAN,
                            .friction_rate = 1e-3,
                            .slip_speed = 1e-4,
                            .contact_depth = 0.02};
}

static mf_Status add_motion(mf_Group *group, const mf_MotionsConfig *motions, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_Status status = mf_motion_begin(group, &mf_rigid_row, error);
    if (status != MF_OK)
        return status;
    const mf_RigidConfig given = motions->rigid;
    const mf_DrivenConfig driven = {.row = &mf_rigid_row,
                                    .given = &given,
                                    .given_size = sizeof given,
                                    .common = {.struct_size = given.struct_size,
                                               .integrator = given.integrator,
                                               .base = given.base,
                                               .control_interval = given.control_interval,
                                               .limits = given.limits,
                                               .speeds = given.speeds,
                                               .contacts = given.contacts,
                                               .shapes = given.shapes,
                                               .contact_stiffness = given.contact_stiffness,
                                               .contact_time = given.contact_time,
                                               .contact_ratio = 1.0,
                                               .friction = given.friction,
                                               .friction_rate = given.friction_rate,
                                               .slip_speed = given.slip_speed,
                                               .contact_depth = given.contact_depth},
                                    .bounces = true,
                                    .separation = given.separation,
                                    .torsional_friction = given.torsional_friction,
                                    .usual_torsion = usual_torsion};
    return mf_driven_add(group, &driven, error);
}

static const mf_DrivenMotion *find_motion(const mf_Group *group) {
    return mf_motion_plan(group, &mf_rigid_row);
}

const mf_RigidConfig *mf_rigid_config_of(const mf_Group *group) {
    const mf_DrivenMotion *motion = find_motion(group);
    return motion != NULL ? &motion->config.rigid : NULL;
}

static mf_MotionEnergy row_energy(const mf_Group *group, uint32_t instance) {
    return mf_driven_energy(find_motion(group), instance);
}

static void row_momentum(const mf_Group *group, uint32_t instance, double center[3],
                         double linear[3], double angular[3]) {
    mf_art_momentum(find_motion(group)->art, instance, false, center, linear, angular);
}

static void row_defaults(mf_MotionsConfig *config) {
    config->rigid = default_config();
}

static const mf_MotionNote *const notes[] = {
    &mf_note_fixed_shapes, &mf_note_own_law_of_shapes, &mf_note_stiffness_only, &mf_note_rotation,
    &mf_note_impratio,     &mf_note_no_ground,         &mf_note_alone_world,    NULL};

static void note_settings(const mf_Group *group, mf_NoteCase *c) {
    c->limits = false;
    c->torsional_friction = default_config().torsional_friction;
    if (group == NULL)
        return;
    const mf_RigidConfig *config = mf_rigid_config_of(group);
    c->contacts = config->contacts;
    c->shapes = config->shapes;
    c->limits = config->limits;
    c->torsional_friction = config->torsional_friction;
}

#define AT(member) offsetof(mf_MotionsConfig, rigid.member)
const mf_MotionRow mf_rigid_row = {
    .name = "rigid",
    .motion = MF_MOTION_RIGID,
    .limitation = "reaction of swinging limbs on the body, so balancing; torque limits",
    .level = true,
    .dynamic = true,
    .add = add_motion,
    .run = mf_driven_run,
    .reset = mf_driven_reset,
    .destroy = mf_driven_destroy,
    .reads = mf_driven_reads,
    .writes = mf_driven_writes,
    .any_gravity = true,
    .refresh = mf_driven_enter,
    .enter = mf_driven_enter,
    .base = mf_driven_base,
    .defaults = row_defaults,
    .common = {.shapes = AT(shapes),
               .contacts = AT(contacts),
               .limits = AT(limits),
               .control = AT(control_interval),
               .friction = AT(friction)},
    .notes = {.shared = mf_notes_of_lower_levels, .list = notes, .settings = note_settings},
    .momentum = row_momentum,
    .energy = row_energy,
};
