// The `prescribed` motion's host side; most of it is shared (driven.c).
#include "motion/body/driven.h"
#include "base/floats.h"
#include "motion/articulated/host.h"

#include <math.h>

static mf_PrescribedConfig default_config(void) {
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

static mf_Status add_motion(mf_Group *group, const mf_MotionsConfig *motions, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_Status status = mf_motion_begin(group, &mf_prescribed_row, error);
    if (status != MF_OK)
        return status;
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

static const mf_DrivenMotion *find_motion(const mf_Group *group) {
    return mf_motion_plan(group, &mf_prescribed_row);
}

const mf_PrescribedConfig *mf_prescribed_config_of(const mf_Group *group) {
    const mf_DrivenMotion *motion = find_motion(group);
    return motion != NULL ? &motion->config.prescribed : NULL;
}

static mf_MotionEnergy row_energy(const mf_Group *group, uint32_t instance) {
    return mf_driven_energy(find_motion(group), instance);
}

static void row_momentum(const mf_Group *group, uint32_t instance, double center[3],
                         double linear[3], double angular[3]) {
    mf_art_momentum(find_motion(group)->art, instance, true, center, linear, angular);
}

static void row_defaults(mf_MotionsConfig *config) {
    config->prescribed = default_config();
}

static const mf_MotionNote *const notes[] = {&mf_note_fixed_shapes,
                                             &mf_note_own_law_of_shapes,
                                             &mf_note_mean_impedance,
                                             &mf_note_impratio,
                                             &mf_note_no_ground,
                                             &mf_note_alone_world,
                                             NULL};

static void note_settings(const mf_Group *group, mf_NoteCase *c) {
    c->limits = false;
    if (group == NULL)
        return;
    const mf_PrescribedConfig *config = mf_prescribed_config_of(group);
    c->contacts = config->contacts;
    c->shapes = config->shapes;
    c->limits = config->limits;
}

#define AT(member) offsetof(mf_MotionsConfig, prescribed.member)
const mf_MotionRow mf_prescribed_row = {
    .name = "prescribed",
    .motion = MF_MOTION_PRESCRIBED,
    .limitation = "torque limits, compliance of joints: joints track their targets exactly",
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
