// Evaluations of many machines at once. Results do not depend on instances: machines are sorted, so
// that lanes side by side have the same bars where there are such, and similar sizes elsewhere;
// equal ones are simulated once, and their results are remembered by the hash of all that matters.
#include "scene/machines.h"

#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REMEMBERED = 65536 }; // [1] results

typedef struct Remembered {
    uint64_t hash;
    mf_MachineResult result;
} Remembered;

typedef struct Life { // one machine of a call
    mf_Machine machine;
    uint64_t hash, shape; // of all that matters, and of its bars alone
    uint32_t genome;      // [1] its place in the call
} Life;

struct mf_MachineLives {
    Life *lives;
    Life **sorted;
    mf_MachineResult *results; // of the genomes of the last call
    Remembered *remembered;
};

void mf_machine_lives_free(mf_Scene *scene) {
    mf_MachineLives *all = scene->lives;
    if (all == NULL)
        return;
    mf_Context *context = mf_world_context(scene->world);
    mf_release(context, all->lives);
    mf_release(context, all->sorted);
    mf_release(context, all->results);
    mf_release(context, all->remembered);
    mf_release(context, all);
    scene->lives = NULL;
}

static mf_Status make_lives(mf_Scene *scene, mf_Error *error) {
    mf_Context *context = mf_world_context(scene->world);
    const uint32_t count = mf_group_count(scene->group);
    if (scene->lives != NULL)
        return MF_OK;
    mf_MachineLives *all = mf_allocate(context, 1, sizeof *all);
    scene->lives = all;
    if (all != NULL) {
        all->lives = mf_allocate(context, count, sizeof *all->lives);
        all->sorted = mf_allocate(context, count, sizeof(Life *));
        all->results = mf_allocate(context, count, sizeof *all->results);
        all->remembered = mf_allocate(context, REMEMBERED, sizeof *all->remembered);
    }
    if (all != NULL && all->lives != NULL && all->sorted != NULL && all->results != NULL &&
        all->remembered != NULL)
        return MF_OK;
    mf_machine_lives_free(scene);
    return mf_fail(error, MF_NO_MEMORY, "evaluate: out of memory");
}

static uint64_t shape_of(const mf_Machine *machine) {
    uint64_t shape = MF_HASH_START;
    for (uint32_t b = 0; b < machine->bar_count; b++)
        shape = mf_hash_bytes(shape, machine->bars[b].ends, sizeof machine->bars[b].ends);
    return shape;
}

static int compare_lives(const void *one, const void *two) {
    const Life *const *first = one, *const *second = two;
    const uint64_t a[5] = {(*first)->machine.bar_count, (*first)->machine.vertex_count,
                           (*first)->shape, (*first)->hash, (*first)->genome};
    const uint64_t b[5] = {(*second)->machine.bar_count, (*second)->machine.vertex_count,
                           (*second)->shape, (*second)->hash, (*second)->genome};
    for (int i = 0; i < 5; i++) {
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    }
    return 0;
}

static Remembered *memory_of(const mf_MachineLives *all, uint64_t hash) {
    return &all->remembered[hash % REMEMBERED];
}

// Machines to simulate, sorted, equal ones next to each other. Those that are none, do not move, or
// are remembered have their results.
static uint32_t choose(mf_MachineLives *all, const uint8_t *genomes, uint32_t count,
                       uint32_t genome_bytes) {
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < count; i++) {
        Life *life = &all->lives[i];
        all->results[i] = (mf_MachineResult){0};
        if (!mf_machine_read(genomes + (size_t)i * genome_bytes, genome_bytes, &life->machine,
                             &life->hash))
            continue;
        all->results[i].bars = life->machine.bar_count;
        if (life->machine.actuator_count == 0)
            continue;
        const Remembered *memory = memory_of(all, life->hash);
        if (memory->hash == life->hash) {
            all->results[i] = memory->result;
            continue;
        }
        life->genome = i;
        life->shape = shape_of(&life->machine);
        all->sorted[chosen++] = life;
    }
    qsort(all->sorted, chosen, sizeof *all->sorted, compare_lives);
    return chosen;
}

static bool is_first(const mf_MachineLives *all, uint32_t i) {
    return i == 0 || all->sorted[i]->hash != all->sorted[i - 1]->hash;
}

static mf_Status simulate(mf_Scene *scene, uint32_t chosen, mf_Error *error) {
    const mf_MachineLives *all = scene->lives;
    uint32_t instance = 0;
    mf_Status status = mf_world_restore(scene->world, scene->start, scene->start_size, error);
    for (uint32_t i = 0; i < chosen && status == MF_OK; i++) {
        if (is_first(all, i))
            status = mf_machine_begin(scene, instance++, &all->sorted[i]->machine,
                                      all->sorted[i]->hash, error);
    }
    if (status == MF_OK && chosen > 0)
        mf_world_step(scene->world, mf_scene_steps(scene));
    instance = 0;
    for (uint32_t i = 0; i < chosen && status == MF_OK; i++) {
        Life *life = all->sorted[i];
        Remembered *memory = memory_of(all, life->hash);
        if (is_first(all, i))
            *memory = (Remembered){life->hash, mf_machine_result(scene, instance++)};
        all->results[life->genome] = memory->result;
    }
    return status;
}

mf_Status mf_machine_evaluate(mf_Scene *scene, const uint8_t *genomes, uint32_t count,
                              uint32_t genome_bytes, double *fitness, mf_Error *error) {
    mf_Status status = make_lives(scene, error);
    if (status == MF_OK)
        status = simulate(scene, choose(scene->lives, genomes, count, genome_bytes), error);
    for (uint32_t i = 0; i < count && status == MF_OK; i++) {
        const mf_MachineResult *result = &scene->lives->results[i];
        fitness[i] = result->fault != 0 ? NAN : mf_machine_fitness(result);
    }
    return status;
}

double mf_machine_measure(const mf_Scene *scene, uint32_t genome, mf_Measure measure) {
    const mf_MachineResult *result = &scene->lives->results[genome];
    if (result->fault != 0 || result->actuators == 0)
        return NAN;
    switch (measure) {
    case MF_MEASURE_HEIGHT:
        return result->height;
    case MF_MEASURE_DUTY:
        return result->duty;
    case MF_MEASURE_BARS:
        return result->bars;
    case MF_MEASURE_ACTUATORS:
        return result->actuators;
    default:
        return NAN;
    }
}
