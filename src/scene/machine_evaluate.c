// Evaluations of many machines at once. Results do not depend on instances: machines are sorted, so
// that lanes side by side have the same bars where there are such; equal ones are simulated once,
// and their results are remembered by the hash of all that matters.
#include "scene/machines.h"

#include "base/memory.h"
#include "scene/script/script.h"
#include "world/group.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REMEMBERED = 65536 }; // [1] results

typedef struct Score { // of one machine
    double fitness;
    double descriptor[MF_DESCRIPTOR_LIMIT]; // as many as the search has
} Score;

typedef struct Remembered {
    uint64_t hash;
    Score score;
} Remembered;

typedef struct Life { // one machine of a call
    mf_Machine machine;
    uint64_t hash, shape; // of all that matters, and of its bars alone
    uint32_t genome;      // [1] its place in the call
    uint32_t instance;    // [1] of the group, MF_NONE before it is known
} Life;

struct mf_MachineLives {
    Life *lives;
    Life **sorted;
    Score *scores; // of the genomes of the last call
    Remembered *remembered;
};

void mf_machine_lives_free(mf_Scene *scene) {
    mf_MachineLives *all = scene->lives;
    if (all == NULL)
        return;
    mf_Context *context = mf_world_context(scene->world);
    mf_release(context, all->lives); // with all other arrays
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
        const mf_Array arrays[] = {MF_ARRAY(all->lives, count), MF_ARRAY(all->sorted, count),
                                   MF_ARRAY(all->scores, count),
                                   MF_ARRAY(all->remembered, REMEMBERED)};
        if (mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays))
            return MF_OK;
    }
    mf_machine_lives_free(scene);
    return mf_fail(error, MF_NO_MEMORY, "evaluate: out of memory");
}

static uint64_t shape_of(const mf_Machine *machine) {
    uint64_t shape = MF_HASH_START;
    for (uint32_t b = 0; b < machine->bar_count; b++)
        shape = mf_hash_bytes(shape, machine->bars[b].ends, sizeof machine->bars[b].ends);
    return shape;
}

// By shape, then by positions: the nearer two machines are, the more they move alike.
static int compare_lives(const void *one, const void *two) {
    const Life *first = *(const Life *const *)one, *second = *(const Life *const *)two;
    if (first->shape != second->shape)
        return first->shape < second->shape ? -1 : 1;
    const uint32_t count = first->machine.vertex_count < second->machine.vertex_count
                               ? first->machine.vertex_count
                               : second->machine.vertex_count;
    for (uint32_t v = 0; v < count; v++) {
        const double *p = first->machine.vertices[v].position;
        const double *q = second->machine.vertices[v].position;
        for (int i = 0; i < 3; i++)
            if (p[i] != q[i])
                return p[i] < q[i] ? -1 : 1;
    }
    if (first->hash != second->hash)
        return first->hash < second->hash ? -1 : 1;
    return first->genome < second->genome ? -1 : first->genome > second->genome;
}

static Remembered *memory_of(const mf_MachineLives *all, uint64_t hash) {
    return &all->remembered[hash % REMEMBERED];
}

// A machine without actuators covers nothing; what it has is known without a trial. From such ones
// a repertoire begins.
static Score not_simulated(const mf_SceneFile *file, const mf_Machine *machine) {
    const mf_MachineResult result = {.bars = machine->bar_count,
                                     .actuators = machine->actuator_count};
    Score score = {.fitness = 0.0};
    for (uint32_t i = 0; i < file->search.descriptor_count; i++)
        score.descriptor[i] = file->hooks.describe != NULL
                                  ? NAN
                                  : mf_machine_measure(&result, file->descriptors[i].measure);
    return score;
}

static Score score_of(const mf_Scene *scene, uint32_t instance) {
    const mf_SceneFile *file = scene->file;
    const mf_MachineResult result = mf_machine_result(scene, instance);
    Score score = {.fitness = mf_scene_fitness(scene, instance)};
    for (uint32_t i = 0; i < file->search.descriptor_count; i++)
        score.descriptor[i] = result.fault != 0 ? NAN
                              : file->hooks.describe != NULL
                                  ? file->hooks.describe(scene, instance, i, file->hooks.user)
                                  : mf_machine_measure(&result, file->descriptors[i].measure);
    return score;
}

// Machines to simulate, sorted, equal ones next to each other. Those that are none, do not move, or
// are remembered have their results.
static uint32_t choose(const mf_SceneFile *file, mf_MachineLives *all, const uint8_t *genomes,
                       uint32_t count, uint32_t genome_bytes) {
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < count; i++) {
        Life *life = &all->lives[i];
        const bool is_one = mf_machine_read(genomes + (size_t)i * genome_bytes, genome_bytes,
                                            &life->machine, &life->hash);
        all->scores[i] = not_simulated(file, &life->machine);
        if (!is_one || life->machine.actuator_count == 0)
            continue;
        const Remembered *memory = memory_of(all, life->hash);
        if (memory->hash == life->hash) {
            all->scores[i] = memory->score;
            continue;
        }
        life->genome = i;
        life->instance = MF_NONE;
        life->shape = shape_of(&life->machine);
        all->sorted[chosen++] = life;
    }
    qsort(all->sorted, chosen, sizeof *all->sorted, compare_lives);
    return chosen;
}

static bool is_first(const mf_MachineLives *all, uint32_t i) {
    return i == 0 || all->sorted[i]->hash != all->sorted[i - 1]->hash;
}

// Gives the instances before `next` to machines of [first, end), which have the same bars and are
// not placed yet, in pieces of `size` machines. Returns the first of these instances.
static uint32_t place_pieces(mf_MachineLives *all, uint32_t first, uint32_t end, uint32_t size,
                             uint32_t next) {
    uint32_t left = 0;
    for (uint32_t i = first; i < end; i++)
        left += is_first(all, i) && all->sorted[i]->instance == MF_NONE;
    left -= left % size;
    for (uint32_t i = first; i < end && left > 0; i++) {
        if (!is_first(all, i) || all->sorted[i]->instance != MF_NONE)
            continue;
        all->sorted[i]->instance = --next;
        left--;
    }
    return next;
}

// Where each machine is simulated, from behind the last instance `count` downwards. Pieces of the
// same bars come by size, the largest at the end, so that they meet the lanes of a kernel, however
// many these are, and that the slow ones, machines alone, begin first.
static void place(mf_MachineLives *all, uint32_t chosen, uint32_t count) {
    uint32_t next = count - count % MF_BLOCK;
    if (next < chosen)
        next = count;
    for (uint32_t size = 8; size > 0; size /= 2) {
        for (uint32_t first = 0, end = 0; first < chosen; first = end) {
            while (end < chosen && all->sorted[end]->shape == all->sorted[first]->shape)
                end++;
            next = place_pieces(all, first, end, size, next);
        }
    }
}

static mf_Status simulate(mf_Scene *scene, uint32_t chosen, mf_Error *error) {
    mf_MachineLives *all = scene->lives;
    MF_TRY(mf_scene_rewind(scene, error));
    place(all, chosen, mf_group_count(scene->group));
    for (uint32_t i = 0; i < chosen; i++) {
        const Life *life = all->sorted[i];
        if (is_first(all, i))
            MF_TRY(mf_machine_begin(scene, life->instance, &life->machine, life->hash, error));
    }
    if (chosen > 0)
        MF_TRY(mf_scene_step(scene, mf_scene_steps(scene), NULL, error));
    for (uint32_t i = 0; i < chosen; i++) {
        const Life *life = all->sorted[i];
        Remembered *memory = memory_of(all, life->hash);
        if (is_first(all, i))
            *memory = (Remembered){life->hash, score_of(scene, life->instance)};
        all->scores[life->genome] = memory->score;
    }
    return MF_OK;
}

mf_Status mf_machine_evaluate(mf_Scene *scene, const uint8_t *genomes, uint32_t count,
                              uint32_t genome_bytes, double *fitness, mf_Error *error) {
    MF_TRY(make_lives(scene, error));
    MF_TRY(simulate(scene, choose(scene->file, scene->lives, genomes, count, genome_bytes), error));
    for (uint32_t i = 0; i < count; i++)
        fitness[i] = scene->lives->scores[i].fitness;
    return MF_OK;
}

double mf_machine_described(const mf_Scene *scene, uint32_t genome, uint32_t index) {
    return scene->lives->scores[genome].descriptor[index];
}
