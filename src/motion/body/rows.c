// The rows of `rigid` and `prescribed` in the motion table; most is shared (driven.c).
#include "motion/body/driven.h"
#include "base/floats.h"

#include <math.h>

// What both rows have alike; `section`: of mf_MotionsConfig.
#define AT(section, member) offsetof(mf_MotionsConfig, section.member)
#define ROW(section)                                                                               \
    .name = #section, .level = true, .dynamic = true, .plan_size = sizeof(mf_DrivenMotion),        \
    .make = make_##section, .hash = mf_driven_hash, .run = mf_driven_run,                          \
    .reset = mf_driven_reset, .destroy = mf_driven_destroy, .reads = mf_driven_reads,              \
    .writes = mf_driven_writes, .any_gravity = true, .refresh = mf_driven_enter,                   \
    .enter = mf_driven_enter, .base = mf_driven_base, .defaults = section##_defaults,              \
    .common = {.shapes = AT(section, shapes),                                                      \
               .contacts = AT(section, contacts),                                                  \
               .limits = AT(section, limits),                                                      \
               .control = AT(section, control_interval),                                           \
               .friction = AT(section, friction)},                                                 \
    .notes = {.shared = mf_notes_of_lower_levels,                                                  \
              .list = section##_notes,                                                             \
              .settings = section##_note_settings},                                                \
    .momentum = mf_driven_momentum, .energy = mf_driven_energy

// ---- rigid --------------------------------------------------------------------------------------

// [m] Where no file says what a shape does: without it, feet that stand on few corners spin.
static const double usual_torsion = 0.02;

static void rigid_defaults(mf_MotionsConfig *config) {
    config->rigid = (mf_RigidConfig){.struct_size = sizeof(mf_RigidConfig),
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

static mf_Status make_rigid(mf_Group *group, const mf_MotionsConfig *motions, void **plan,
                            mf_Error *error) {
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
    return mf_driven_make(group, &driven, *plan, error);
}

static const mf_MotionNote *const rigid_notes[] = {
    &mf_note_fixed_shapes, &mf_note_own_law_of_shapes, &mf_note_stiffness_only, &mf_note_rotation,
    &mf_note_impratio,     &mf_note_no_ground,         &mf_note_alone_world,    NULL};

static void rigid_note_settings(const void *plan, mf_NoteCase *c) {
    c->limits = false;
    c->torsional_friction = (double)NAN;
    if (plan == NULL)
        return;
    const mf_RigidConfig *config = &((const mf_DrivenMotion *)plan)->config.rigid;
    c->contacts = config->contacts;
    c->shapes = config->shapes;
    c->limits = config->limits;
    c->torsional_friction = config->torsional_friction;
}

const mf_MotionRow mf_rigid_row = {
    ROW(rigid),
    .motion = MF_MOTION_RIGID,
    .limitation = "reaction of swinging limbs on the body, so balancing; torque limits",
};

// ---- prescribed ---------------------------------------------------------------------------------

static void prescribed_defaults(mf_MotionsConfig *config) {
    config->prescribed = (mf_PrescribedConfig){.struct_size = sizeof(mf_PrescribedConfig),
                                               .control_interval = 10 * MF_MILLISECOND,
                                               .limits = true,
                                               .speeds = true,
                                               .contacts = true,
                                               .contact_time = (double)NAN,
                                               .contact_damping = (double)NAN,
                                               .contact_ratio = 1.0,
                                               .friction = (double)NAN,
                                               .friction_rate = 1e-3,
                                               .slip_speed = 1e-4,
                                               .contact_depth = 0.02};
}

static mf_Status make_prescribed(mf_Group *group, const mf_MotionsConfig *motions, void **plan,
                                 mf_Error *error) {
    const mf_PrescribedConfig given = motions->prescribed;
    const mf_DrivenConfig driven = {.row = &mf_prescribed_row,
                                    .given = &given,
                                    .given_size = sizeof given,
                                    .common = given,
                                    .moves = true,
                                    .torsional_friction = (double)NAN,
                                    .usual_torsion = (double)NAN};
    return mf_driven_make(group, &driven, *plan, error);
}

static const mf_MotionNote *const prescribed_notes[] = {&mf_note_fixed_shapes,
                                                        &mf_note_own_law_of_shapes,
                                                        &mf_note_mean_impedance,
                                                        &mf_note_impratio,
                                                        &mf_note_no_ground,
                                                        &mf_note_alone_world,
                                                        NULL};

static void prescribed_note_settings(const void *plan, mf_NoteCase *c) {
    c->limits = false;
    if (plan == NULL)
        return;
    const mf_PrescribedConfig *config = &((const mf_DrivenMotion *)plan)->config.prescribed;
    c->contacts = config->contacts;
    c->shapes = config->shapes;
    c->limits = config->limits;
}

const mf_MotionRow mf_prescribed_row = {
    ROW(prescribed),
    .motion = MF_MOTION_PRESCRIBED,
    .limitation = "torque limits, compliance of joints: joints track their targets exactly",
};
