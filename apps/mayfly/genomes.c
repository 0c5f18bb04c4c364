// What robots of a scene for evolution get when it is run without one.
#include "inputs.h"

#include <mayfly/machine.h>

#define GENOME_STREAM 0x72756eu // keeps these random numbers apart from all others

// Random bytes are no machine, so without an ancestor there is nothing to run.
mf_Status mf_genomes_check(const mf_SceneFile *file, mf_Error *error) {
    const mf_SceneGroup *group = &file->groups[0];
    if (group->controller != MF_CONTROLLER_MACHINE || group->ancestor != NULL)
        return MF_OK;
    return mf_fail_at(error, MF_UNSUPPORTED, file->file, 0, 0,
                      "group %.100s has no machines yet: `mayfly evolve` makes them and `mayfly "
                      "replay` runs the best; a truss as `model` would be their ancestor",
                      group->name);
}

// The ancestor of machines, random bytes for others.
static mf_Status make_genome(const mf_SceneFile *file, uint32_t robot, uint8_t *genome,
                             uint32_t bytes, mf_Error *error) {
    const mf_SceneGroup *group = &file->groups[0];
    if (group->controller == MF_CONTROLLER_MACHINE)
        return mf_machine_encode(group->ancestor, genome, bytes, error);
    for (uint32_t i = 0; i < bytes; i++) {
        uint32_t words[4];
        mf_random(file->seed, robot, GENOME_STREAM, i, words);
        genome[i] = (uint8_t)(words[0] >> 24);
    }
    return MF_OK;
}

mf_Status mf_genomes_give(mf_Context *context, mf_Scene *scene, mf_Error *error) {
    uint32_t bytes = mf_scene_genome_bytes(scene), count = mf_group_count(scene->group);
    uint8_t *genome = mf_allocate(context, bytes + 1, 1);
    MF_NEED_MEMORY(genome != NULL, error, "run");
    mf_Status status = MF_OK;
    for (uint32_t robot = 0; robot < count && bytes > 0 && status == MF_OK; robot++) {
        status = make_genome(scene->file, robot, genome, bytes, error);
        if (status == MF_OK)
            mf_scene_apply_genome(scene, robot, genome);
    }
    mf_release(context, genome);
    return status;
}
