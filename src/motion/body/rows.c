// The rows of `rigid` and `prescribed` in the motion table; most is shared (driven.c).
#include "motion/body/driven.h"
#include "base/floats.h"
#include "motion/articulated/host.h"

#include <math.h>

// What both rows have alike; `section`: of mf_MotionsConfig.
#define AT(section, member) offsetof(mf_MotionsConfig, section.member)
#define ROW(section)                                                                               \
    .name = #section, .level = true, .dynamic = true, .add = section##_add_motion,                 \
    .run = mf_driven_run, .reset = mf_driven_reset, .destroy = mf_driven_destroy,                  \
    .reads = mf_driven_reads, .writes = mf_driven_writes, .any_gravity = true,                     \
    .refresh = mf_driven_enter, .enter = mf_driven_enter, .base = mf_driven_base,                  \
    .defaults = section##_row_defaults,                                                            \
    .common = {.shapes = AT(section, shapes),                                                      \
               .contacts = AT(section, contacts),                                                  \
               .limits = AT(section, limits),                                                      \
               .control = AT(section, control_interval),                                           \
               .friction = AT(section, friction)},                                                 \
    .notes = {.shared = mf_notes_of_lower_levels,                                                  \
              .list = section##_notes,                                                             \
              .settings = section##_note_settings},                                                \
    .momentum = section##_row_momentum, .energy = section##_row_energy

// ---- rigid --------------------------------------------------------------------------------------

// [m] Where no file says what a shape does: without it, feet that stand on few corners spin.
static const double usual_torsion = 0.02;

static mf_RigidConfig rigid_default_config(void) {
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

static mf_Status rigid_add_motion(mf_Group *group, const mf_MotionsConfig *motions,
                                  mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_TRY(mf_motion_begin(group, &mf_rigid_row, error));
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

static const mf_DrivenMotion *rigid_find_motion(const mf_Group *group) {
    return mf_motion_plan(group, &mf_rigid_row);
}

const mf_RigidConfig *mf_rigid_config_of(const mf_Group *group) {
    const mf_DrivenMotion *motion = rigid_find_motion(group);
    return motion != NULL ? &motion->config.rigid : NULL;
}

static mf_MotionEnergy rigid_row_energy(const mf_Group *group, uint32_t instance) {
    return mf_driven_energy(rigid_find_motion(group), instance);
}

static void rigid_row_momentum(const mf_Group *group, uint32_t instance, double center[3],
                               double linear[3], double angular[3]) {
    mf_art_momentum(rigid_find_motion(group)->art, instance, false, center, linear, angular);
}

static void rigid_row_defaults(mf_MotionsConfig *config) {
    config->rigid = rigid_default_config();
}

static const mf_MotionNote *const rigid_notes[] = {
    &mf_note_fixed_shapes, &mf_note_own_law_of_shapes, &mf_note_stiffness_only, &mf_note_rotation,
    &mf_note_impratio,     &mf_note_no_ground,         &mf_note_alone_world,    NULL};

static void rigid_note_settings(const mf_Group *group, mf_NoteCase *c) {
    c->limits = false;
    c->torsional_friction = rigid_default_config().torsional_friction;
    if (group == NULL)
        return;
    const mf_RigidConfig *config = mf_rigid_config_of(group);
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

static mf_PrescribedConfig prescribed_default_config(void) {
    return (mf_PrescribedConfig){.struct_size = sizeof(mf_PrescribedConfig),
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

static mf_Status prescribed_add_motion(mf_Group *group, const mf_MotionsConfig *motions,
                                       mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_TRY(mf_motion_begin(group, &mf_prescribed_row, error));
    const mf_PrescribedConfig given = motions->prescribed;
    const mf_DrivenConfig driven = {.row = &mf_prescribed_row,
                                    .given = &given,
                                    .given_size = sizeof given,
                                    .common = given,
                                    .moves = true,
                                    .torsional_friction = (double)NAN,
                                    .usual_torsion = (double)NAN};
    return mf_driven_add(group, &driven, error);
}

static const mf_DrivenMotion *prescribed_find_motion(const mf_Group *group) {
    return mf_motion_plan(group, &mf_prescribed_row);
}

const mf_PrescribedConfig *mf_prescribed_config_of(const mf_Group *group) {
    const mf_DrivenMotion *motion = prescribed_find_motion(group);
    return motion != NULL ? &motion->config.prescribed : NULL;
}

static mf_MotionEnergy prescribed_row_energy(const mf_Group *group, uint32_t instance) {
    return mf_driven_energy(prescribed_find_motion(group), instance);
}

static void prescribed_row_momentum(const mf_Group *group, uint32_t instance, double center[3],
                                    double linear[3], double angular[3]) {
    mf_art_momentum(prescribed_find_motion(group)->art, instance, true, center, linear, angular);
}

static void prescribed_row_defaults(mf_MotionsConfig *config) {
    config->prescribed = prescribed_default_config();
}

static const mf_MotionNote *const prescribed_notes[] = {&mf_note_fixed_shapes,
                                                        &mf_note_own_law_of_shapes,
                                                        &mf_note_mean_impedance,
                                                        &mf_note_impratio,
                                                        &mf_note_no_ground,
                                                        &mf_note_alone_world,
                                                        NULL};

static void prescribed_note_settings(const mf_Group *group, mf_NoteCase *c) {
    c->limits = false;
    if (group == NULL)
        return;
    const mf_PrescribedConfig *config = mf_prescribed_config_of(group);
    c->contacts = config->contacts;
    c->shapes = config->shapes;
    c->limits = config->limits;
}

const mf_MotionRow mf_prescribed_row = {
    ROW(prescribed),
    .motion = MF_MOTION_PRESCRIBED,
    .limitation = "torque limits, compliance of joints: joints track their targets exactly",
};
