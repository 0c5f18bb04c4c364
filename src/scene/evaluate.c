// Evaluations of the first group of a scene: genomes, fitness, and the initial state that each
// evaluation restores.
//
// Invariant: an evaluation depends on the genomes alone. Each one starts from the same snapshot of
// the world, taken when the scene was created, so that neither state nor the phase of any rate
// remains from the previous one.
#include "scene/evaluate.h"
#include "scene/machines.h"
#include "scene/script/script.h"
#include "motion/table.h"
#include "base/floats.h"
#include "world/attach.h"
#include "world/systems.h"

#include "world/group.h"

#include <math.h>
#include <string.h>

// ---- the start ---------------------------------------------------------------------------------

// Stores where each robot starts, for the distance that it covers.
mf_Status mf_scene_note_start(mf_Scene *scene, mf_Error *error) {
    static const mf_FieldInfo info = MF_FIELD_INFO(
        "start.position", "m", "world", MF_REAL, MF_FIXED_COUNT, 2, 0,
        "initial horizontal position of the base, from which the distance is measured");
    mf_Group *group = scene->group;
    mf_Field *start;
    MF_TRY(mf_group_add_field(group, &info, 1, &start, error));
    const mf_Field *position = mf_group_find_field(group, "base.position");
    for (uint32_t i = 0; i < mf_group_count(group); i++)
        for (uint32_t c = 0; c < 2; c++)
            mf_field_set(start, i, c, mf_field_get(position, i, c));
    return MF_OK;
}

mf_Status mf_scene_keep_start(mf_Scene *scene, mf_Error *error) {
    mf_Context *context = mf_world_context(scene->world);
    scene->start_size = mf_world_snapshot_size(scene->world);
    scene->start = mf_allocate(context, scene->start_size, 1);
    if (scene->start == NULL)
        return mf_fail(error, MF_NO_MEMORY, "scene: no memory for its start state (%zu bytes)",
                       scene->start_size);
    return mf_world_snapshot(scene->world, scene->start, scene->start_size, error);
}

mf_Status mf_scene_rewind(mf_Scene *scene, mf_Error *error) {
    MF_TRY(mf_world_rewind(scene->world, scene->start, scene->start_size, error));
    return mf_scene_reset_scripts(scene, error);
}

static void idle(const mf_Scene *scene, uint32_t instance) {
    if (scene->file->groups[0].controller == MF_CONTROLLER_GP) {
        uint8_t program[MF_GP_BYTES];
        memset(program, MF_GP_NOT << 5, sizeof program);
        mf_gp_set_program(scene->group, instance, program);
        return;
    }
    if (mf_scene_has_machines(scene->file)) {
        (void)mf_machine_begin(scene, instance, NULL, 0, NULL);
        return;
    }
    if (mf_motion_counts(scene->group) != NULL)
        return; // oscillators of bars begin at the rest lengths of the file
    mf_Field *offset = mf_group_find_field(scene->group, "oscillator.offset");
    mf_field_write(offset, instance, 0, scene->model->joint_count, scene->model->start_angle);
}

void mf_scene_idle(const mf_Scene *scene) {
    if (scene->file->groups[0].controller == MF_CONTROLLER_NONE)
        return;
    for (uint32_t i = 0; i < mf_group_count(scene->group); i++)
        idle(scene, i);
}

// ---- genomes -----------------------------------------------------------------------------------

// [1] joints, or actuators of bars.
static uint32_t driven_count(const mf_Scene *scene) {
    const mf_Field *counts = mf_motion_counts(scene->group);
    return counts != NULL ? (uint32_t)mf_field_get(counts, 0, 2) : scene->model->joint_count;
}

uint32_t mf_scene_genome_bytes(const mf_Scene *scene) {
    if (scene == NULL || scene->file == NULL)
        return 0;
    switch (scene->file->groups[0].controller) {
    case MF_CONTROLLER_GP:
        return MF_GP_BYTES;
    case MF_CONTROLLER_OSCILLATOR:
        return 3 * driven_count(scene) + 1;
    case MF_CONTROLLER_MACHINE:
        return scene->file->machine.genome_bytes;
    case MF_CONTROLLER_NONE:
        break;
    }
    const mf_SceneHooks *hooks = &scene->file->hooks;
    return hooks->apply_genome == NULL ? 0 : hooks->genome_bytes;
}

// Range of a joint; without limits one revolution, or a meter to each side.
static void joint_range(const mf_Joint *joint, double *lower, double *upper) {
    const double half_rotation = 3.14159265358979323846;
    double reach = joint->type == MF_JOINT_SLIDE ? 1.0 : half_rotation;
    *lower = isfinite(joint->lower) ? joint->lower : -reach;
    *upper = isfinite(joint->upper) ? joint->upper : reach;
}

// Range of a joint, or of an actuator of bars.
static void driven_range(const mf_Scene *scene, uint32_t index, double *lower, double *upper) {
    if (mf_motion_counts(scene->group) == NULL) {
        joint_range(&scene->model->joints[index], lower, upper);
        return;
    }
    const mf_Field *range = mf_group_find_field(scene->group, "actuator.range");
    *lower = mf_field_get(range, 0, 2 * index);
    *upper = mf_field_get(range, 0, 2 * index + 1);
}

static void apply_oscillator(const mf_Scene *scene, uint32_t instance, const uint8_t *genome) {
    const double largest_frequency = 2.0; // [Hz] legs of desk-sized robots seldom swing faster
    mf_Field *offset = mf_group_find_field(scene->group, "oscillator.offset");
    mf_Field *amplitude = mf_group_find_field(scene->group, "oscillator.amplitude");
    mf_Field *phase = mf_group_find_field(scene->group, "oscillator.phase");
    mf_Field *frequency = mf_group_find_field(scene->group, "oscillator.frequency");
    uint32_t joints = driven_count(scene);
    for (uint32_t j = 0; j < joints; j++) {
        const uint8_t *gene = genome + 3 * (size_t)j;
        double lower, upper;
        driven_range(scene, j, &lower, &upper);
        mf_field_set(offset, instance, j, lower + gene[0] / 255.0 * (upper - lower));
        mf_field_set(amplitude, instance, j, gene[1] / 255.0 * (upper - lower) / 2.0);
        mf_field_set(phase, instance, j, gene[2] / 256.0);
    }
    mf_field_set(frequency, instance, 0, genome[3 * (size_t)joints] / 255.0 * largest_frequency);
}

static void apply_machine(const mf_Scene *scene, uint32_t instance, const uint8_t *genome) {
    mf_Machine machine;
    uint64_t hash = 0;
    const bool is_one = mf_machine_read(genome, scene->file->machine.genome_bytes, &machine, &hash);
    (void)mf_machine_begin(scene, instance, is_one ? &machine : NULL, hash, NULL);
}

void mf_scene_apply_genome(mf_Scene *scene, uint32_t instance, const uint8_t *genome) {
    MF_DEFAULT_FLOATS;
    if (scene == NULL)
        return;
    if (scene->file->groups[0].controller == MF_CONTROLLER_GP)
        mf_gp_set_program(scene->group, instance, genome);
    else if (scene->file->groups[0].controller == MF_CONTROLLER_OSCILLATOR)
        apply_oscillator(scene, instance, genome);
    else if (mf_scene_has_machines(scene->file))
        apply_machine(scene, instance, genome);
    else if (scene->file->hooks.apply_genome != NULL)
        scene->file->hooks.apply_genome(scene, instance, genome, scene->file->hooks.user);
    mf_scene_randomize_life(scene, instance, genome, mf_scene_genome_bytes(scene));
}

// ---- evaluation --------------------------------------------------------------------------------

double mf_scene_distance(const mf_Scene *scene, uint32_t instance) {
    MF_DEFAULT_FLOATS;
    if (scene == NULL || scene->group == NULL || instance >= mf_group_count(scene->group))
        return 0;
    if ((mf_group_fault(scene->group, instance) & ~(uint32_t)MF_FAULT_TRIAL) != 0)
        return 0.0;
    if (mf_scene_has_machines(scene->file))
        return mf_machine_result(scene, instance).distance;
    const mf_Field *position = mf_group_find_field(scene->group, "base.position");
    const mf_Field *start = mf_group_find_field(scene->group, "start.position");
    if (start == NULL) // the scene was not built for evaluations
        return 0.0;
    double x = mf_field_get(position, instance, 0) - mf_field_get(start, instance, 0);
    double y = mf_field_get(position, instance, 1) - mf_field_get(start, instance, 1);
    return sqrt(x * x + y * y);
}

double mf_scene_fitness(const mf_Scene *scene, uint32_t instance) {
    MF_DEFAULT_FLOATS;
    if (scene == NULL || scene->group == NULL || instance >= mf_group_count(scene->group))
        return 0;
    const mf_SceneHooks *hooks = &scene->file->hooks;
    if ((mf_group_fault(scene->group, instance) & ~(uint32_t)MF_FAULT_TRIAL) != 0)
        return NAN;
    return hooks->fitness != NULL ? hooks->fitness(scene, instance, hooks->user)
                                  : mf_fitness_of(scene, instance);
}

mf_Status mf_scene_evaluate_some(mf_Scene *scene, uint32_t first, const uint8_t *genomes,
                                 uint32_t count, uint32_t genome_bytes, double *fitness,
                                 double *values, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (scene == NULL || genomes == NULL || fitness == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "evaluate: scene, genomes or fitness is NULL");
    MF_NEED(scene->start != NULL, error,
            "evaluate: the scene was not created for evaluation "
            "(mf_SceneConfig.evaluates)");
    const uint32_t robots = mf_group_count(scene->group), expected = mf_scene_genome_bytes(scene);
    const uint32_t descriptors = scene->file->search.descriptor_count;
    const bool machines = mf_scene_has_machines(scene->file);
    MF_NEED(expected != 0, error,
            "evaluate: expected a controller to evolve, found controller: none");
    MF_NEED(genome_bytes == expected, error, "evaluate: expected genomes of %u bytes, found %u",
            expected, genome_bytes);
    if (first > robots || count > robots - first)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "evaluate: expected at most %u genomes, one for each robot, found %u",
                       robots, first + count);
    if (machines) {
        MF_TRY(mf_machine_evaluate(scene, genomes, count, genome_bytes, fitness, error));
    } else {
        mf_group_move_only(scene->group, first, count);
        MF_TRY(mf_scene_rewind(scene, error));
        for (uint32_t i = 0; i < count; i++)
            mf_scene_apply_genome(scene, first + i, genomes + (size_t)i * genome_bytes);
        MF_TRY(mf_scene_step(scene, mf_scene_steps(scene), NULL, error));
        for (uint32_t i = 0; i < count; i++)
            fitness[i] = mf_scene_fitness(scene, first + i);
    }
    for (uint32_t i = 0; i < count && values != NULL; i++)
        mf_scene_describe_one(scene, first + i, i, values + (size_t)i * descriptors);
    return MF_OK;
}

mf_Status mf_scene_evaluate(void *user, const uint8_t *genomes, uint32_t count,
                            uint32_t genome_bytes, double *fitness, mf_Error *error) {
    return mf_scene_evaluate_some(user, 0, genomes, count, genome_bytes, fitness, NULL, error);
}
