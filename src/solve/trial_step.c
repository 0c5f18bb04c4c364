// Trial steps (trial_step.h).
//
// Invariants: the systems of a group's motion touch no field but those they declare, so a block
// whose declared fields are put back is as it was; blocks are independent of each other, so trials
// of different blocks may run at the same time.
#include "solve/trial_step.h"
#include "math/scalar.h"
#include "base/text.h"
#include "motion/table.h"
#include "world/attach.h"
#include "world/systems.h"
#include "world/world_state.h"

#include <string.h>

// A motion of a plugin, which keeps what it likes outside of fields.
static bool is_plugin(const mf_Group *group, const mf_SystemConfig *system) {
    for (unsigned m = MF_MOTION_OWN; m <= MF_MOTION_OWN_LAST; m++)
        if (mf_motion_own(group, (mf_Motion)m) == system)
            return true;
    return false;
}

// Whether no motion of the group knows forces, as `kinematic`; or it has none at all.
static bool feels_nothing(const mf_Group *group) {
    for (unsigned m = 0; m < MF_MOTION_COUNT; m++)
        if (mf_motion_row((mf_Motion)m)->dynamic && mf_motion_in(group, (mf_Motion)m))
            return false;
    return !mf_motion_in(group, MF_MOTION_OWN);
}

void mf_trial_step_note_motions(mf_TrialStep *trial) {
    trial->level = mf_group_find_field(trial->group, "motion.level");
    trial->motion = trial->level == NULL ? mf_motion_of(trial->group, 0) : MF_MOTION_COUNT;
}

bool mf_trial_step_averages(const mf_TrialStep *trial, uint32_t instance) {
    const mf_MotionRow *row = mf_motion_row(mf_trial_step_motion(trial, instance));
    const void *plan = row != NULL ? mf_motion_plan(trial->group, row) : NULL;
    return plan != NULL && row->averages != 0 &&
           *(const int *)(const void *)((const char *)plan + row->integrator) >= row->averages;
}

mf_TrialStepKind mf_trial_step_kind(mf_Group *group) {
    for (uint32_t i = 0; i < mf_group_system_count(group); i++) {
        const mf_SystemConfig *system = mf_group_system(group, i);
        if (system->phase == MF_PHASE_MOTION && mf_name_listed(system->reads, "wrench.link"))
            return MF_TRIAL_STEP_ANSWERS;
    }
    if (feels_nothing(group))
        return MF_TRIAL_STEP_KINEMATIC;
    return mf_group_find_field(group, "wrench.link") == NULL ? MF_TRIAL_STEP_UNPREPARED
                                                             : MF_TRIAL_STEP_UNSUPPORTED;
}

static size_t block_bytes(const mf_Field *field) {
    return (size_t)field->components * MF_BLOCK * mf_field_value_size(field->info.type);
}

static char *block_data(const mf_Field *field, uint32_t block) {
    return (char *)field->data + block * block_bytes(field);
}

// The remainders of sums (mayfly/world.h); NULL: none.
static char *block_remainders(const mf_Field *field, uint32_t block) {
    return field->remainder != NULL ? (char *)field->remainder + block * block_bytes(field) : NULL;
}

// ---- creation -----------------------------------------------------------------------------------

static void add_field(mf_TrialStep *trial, mf_Field *field) {
    for (uint32_t f = 0; f < trial->field_count; f++)
        if (trial->fields[f] == field)
            return;
    if (field == NULL || trial->field_count == MF_TRIAL_STEP_FIELDS)
        return;
    trial->fields[trial->field_count++] = field;
    trial->bytes += block_bytes(field) * (field->remainder != NULL ? 2 : 1);
}

static void add_fields(mf_TrialStep *trial, const char *const *names) {
    for (; *names != NULL; names++)
        add_field(trial, mf_group_find_field(trial->group, *names));
}

static void add_system(mf_TrialStep *trial, const mf_SystemConfig *system) {
    const bool every_step = system->rate.numerator == 0 && system->rate.denominator == 0;
    if (system->phase != MF_PHASE_MOTION || !every_step || is_plugin(trial->group, system) ||
        trial->system_count == MF_TRIAL_STEP_SYSTEMS)
        return;
    trial->systems[trial->system_count++] = *system;
    if (system->reads != NULL && system->writes != NULL) {
        add_fields(trial, system->reads);
        add_fields(trial, system->writes);
        return;
    }
    for (uint32_t f = 0; f < mf_group_field_count(trial->group); f++) // anything may be touched
        add_field(trial, mf_group_field(trial->group, f));
}

void mf_trial_step_fill(mf_TrialStep *trial) {
    static const char *const state[] =
        MF_NAMES("base.position", "base.orientation", "base.linear_velocity",
                 "base.angular_velocity", "joint.angle", "joint.rate", "ball.orientation",
                 "ball.rate", "free.position", "free.velocity", "fault.word", "fault.count",
                 "motion.level", "warning.word", "warning.steps", "warning.residual");
    mf_Group *group = trial->group;
    const mf_Model *model = mf_group_model(group);
    trial->field_count = trial->system_count = 0;
    trial->bytes = 0;
    trial->mass = 0.0;
    trial->seen_fields = mf_group_field_count(group);
    trial->seen_systems = mf_group_system_count(group);
    trial->wrench = mf_group_find_field(group, "wrench.link");
    trial->wrench_count = mf_group_find_field(group, "wrench.count");
    trial->fault = mf_group_find_field(group, "fault.word");
    trial->word = mf_group_find_field(group, "warning.word");
    trial->steps = mf_group_find_field(group, "warning.steps");
    trial->residual = mf_group_find_field(group, "warning.residual");
    trial->wide = mf_group_config_of(group)->double_precision;
    trial->alone = mf_motion_in(group, MF_MOTION_FIXED_WING); // gusts
    for (uint32_t l = 0; l < model->link_count; l++)
        trial->mass += model->links[l].mass;
    if (!(trial->mass > 0.0))
        trial->mass = 1.0;
    add_field(trial, trial->wrench); // first, so that its position in a saved block is known
    add_field(trial, trial->wrench_count);
    add_fields(trial, state);
    for (uint32_t i = 0; i < mf_group_system_count(group); i++)
        add_system(trial, mf_group_system(group, i));
}

bool mf_trial_step_stale(const mf_TrialStep *trial) {
    return trial->seen_fields != mf_group_field_count(trial->group) ||
           trial->seen_systems != mf_group_system_count(trial->group);
}

mf_Status mf_trial_step_create(mf_Group *group, mf_TrialStep **out, mf_Error *error) {
    mf_Context *context = mf_world_context(mf_group_world(group));
    mf_TrialStep *trial = *out = mf_allocate(context, 1, sizeof *trial);
    mf_Status status = MF_NO_MEMORY;
    if (trial != NULL)
        status = mf_link_motions_create(&trial->links, group, error);
    if (status == MF_OK)
        trial->values =
            mf_allocate(context, mf_link_motions_size(&trial->links), sizeof *trial->values);
    if (status != MF_OK || trial->values == NULL) {
        mf_trial_step_destroy(context, trial);
        *out = NULL;
        return mf_fail(error, MF_NO_MEMORY, "joints: out of memory");
    }
    trial->group = group;
    mf_trial_step_fill(trial);
    mf_trial_step_note_motions(trial);
    return MF_OK;
}

void mf_trial_step_destroy(mf_Context *context, mf_TrialStep *trial) {
    if (trial == NULL)
        return;
    mf_release(context, trial->values);
    mf_link_motions_release(context, &trial->links);
    mf_release(context, trial);
}

// ---- copies -------------------------------------------------------------------------------------

// One field of a block to or from *at, which it moves behind.
static void copy_field(const mf_Field *field, uint32_t block, char **at, bool save) {
    const size_t size = block_bytes(field);
    char *const parts[2] = {block_data(field, block), block_remainders(field, block)};
    for (int p = 0; p < 2 && parts[p] != NULL; p++) {
        memcpy(save ? *at : parts[p], save ? parts[p] : *at, size);
        *at += size;
    }
}

static void copy_fields(const mf_TrialStep *trial, uint32_t block, char *at, bool save) {
    for (uint32_t f = 0; f < trial->field_count; f++)
        copy_field(trial->fields[f], block, &at, save);
}

// They are the first ones.
static void copy_wrenches(const mf_TrialStep *trial, uint32_t block, char *at, bool save) {
    if (trial->wrench == NULL)
        return;
    copy_field(trial->wrench, block, &at, save);
    copy_field(trial->wrench_count, block, &at, save);
}

void mf_trial_step_save(const mf_TrialStep *trial, uint32_t block, void *saved) {
    copy_fields(trial, block, saved, true);
}

void mf_trial_step_restore(const mf_TrialStep *trial, uint32_t block, const void *saved) {
    copy_fields(trial, block, (char *)(uintptr_t)saved, false);
}

void mf_trial_step_save_pushes(const mf_TrialStep *trial, uint32_t block, void *saved) {
    copy_wrenches(trial, block, saved, true);
}

void mf_trial_step_restore_wrenches(const mf_TrialStep *trial, uint32_t block, const void *saved) {
    copy_wrenches(trial, block, (char *)(uintptr_t)saved, false);
}

static void spread_rows(char *to, const char *from, uint32_t rows, size_t size,
                        const uint32_t sources[MF_BLOCK]) {
    const size_t row = MF_BLOCK * size;
    for (uint32_t c = 0; c < rows; c++, to += row, from += row)
        for (uint32_t i = 0; i < MF_BLOCK; i++)
            memcpy(to + i * size, from + sources[i] * size, size);
}

void mf_trial_step_spread(const mf_TrialStep *trial, uint32_t block, const void *saved,
                          const uint32_t from[MF_BLOCK]) {
    const char *data = saved;
    for (uint32_t f = 0; f < trial->field_count; f++) {
        const mf_Field *field = trial->fields[f];
        char *to = block_data(field, block);
        // A constant size lets the compiler make a plain store of each copy.
        if (mf_field_value_size(field->info.type) == 4)
            spread_rows(to, data, field->components, 4, from);
        else
            spread_rows(to, data, field->components, 8, from);
        data += block_bytes(field);
        char *remainders = block_remainders(field, block);
        if (remainders == NULL)
            continue;
        spread_rows(remainders, data, field->components, 4, from);
        data += block_bytes(field);
    }
}

// ---- forces and steps ---------------------------------------------------------------------------

void mf_trial_step_apply(const mf_TrialStep *trial, uint32_t instance, uint32_t link,
                         const double point[3], const double force[3], const double moment[3]) {
    double arm[3], torque[3];
    if (trial->wrench == NULL)
        return;
    for (uint32_t c = 0; c < 3; c++)
        arm[c] = point[c] - mf_field_get(trial->links.fields.position, instance, c);
    mf_vec3_cross(torque, arm, force);
    mf_vec3_add(torque, torque, moment);
    for (size_t c = 0; c < 3; c++) {
        mf_field_add(trial->wrench, instance, 6 * (size_t)link + c, force[c]);
        mf_field_add(trial->wrench, instance, 6 * (size_t)link + 3 + c, torque[c]);
    }
    ((uint32_t *)trial->wrench_count->data)[instance]++;
}

void mf_trial_step_run(const mf_TrialStep *trial, const mf_SystemRun *step, uint32_t block,
                       uint32_t lanes) {
    mf_SystemRun run = *step;
    run.group = trial->group;
    run.first_block = block;
    mf_group_run_lanes(&run, lanes, trial->systems, trial->system_count);
}

void mf_trial_step_warn(const mf_TrialStep *trial, uint32_t instance, uint32_t bit, uint32_t kind,
                        double residual) {
    if (trial->word == NULL || mf_trial_step_frozen(trial, instance))
        return;
    const uint32_t word = (uint32_t)mf_field_get(trial->word, instance, 0);
    mf_field_set(trial->word, instance, 0, (double)(word | bit));
    mf_field_set(trial->steps, instance, kind, mf_field_get(trial->steps, instance, kind) + 1.0);
    if (residual > mf_field_get(trial->residual, instance, kind))
        mf_field_set(trial->residual, instance, kind, residual);
}
