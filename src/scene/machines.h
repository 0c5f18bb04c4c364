// Groups whose genomes are machines, bodies and networks at once: their trials (machine_trial.c)
// and evaluations of many (machine_evaluate.c). docs/explanation/quasistatic.md.
#pragma once

#include "motion/truss/machine.h"
#include "scene/builder.h"

// What a trial measured.
typedef struct mf_MachineResult {
    double distance;          // [m] horizontal, of the center of mass, over the frames that count
    double length;            // [m] longest distance of two vertices when it came to rest
    double height;            // [m] of the center of mass at the end
    double duty;              // [1] share of frames on the ground, mean of the vertices that
                              // touched it
    double share;             // [1] of the trial's frames that count
    uint32_t still;           // [1] step from which it stands still for good; 0: it does not
    uint32_t resting;         // [1] steps with warnings that end trials, before it came to rest
    uint32_t bars, actuators; // [1]
    uint32_t fault;           // MF_FAULT_* other than MF_FAULT_TRIAL
} mf_MachineResult;

bool mf_scene_has_machines(const mf_SceneFile *file); // the first group's genomes are machines

// Room in the group for any machine. With inertia a machine comes to rest without it, so that both
// levels begin their trials in the same pose.
void mf_machine_motions(const mf_SceneGroup *group, mf_MotionsConfig *config);

// [1] steps before the network's first cycle, after which distances count.
uint64_t mf_machine_rest_steps(const mf_Scene *scene);

// Adds the system that measures trials. Call it after the motion.
mf_Status mf_machine_trial_add(const mf_Scene *scene, mf_Error *error);
// Which neurons have a path to an actuator.
void mf_machine_useful(const mf_Machine *machine, bool useful[MF_MACHINE_NEURONS]);
// Makes an instance a machine that is pruned, at the beginning of its trial. `hash` chooses its
// noise. One that has no actuators takes no part, NULL likewise.
mf_Status mf_machine_begin(const mf_Scene *scene, uint32_t instance, const mf_Machine *machine,
                           uint64_t hash, mf_Error *error);
// The machine of a genome, pruned and standing, and the hash of its own genome; false: it is none,
// or empty.
bool mf_machine_read(const uint8_t *genome, uint32_t genome_bytes, mf_Machine *machine,
                     uint64_t *hash);
mf_MachineResult mf_machine_result(const mf_Scene *scene, uint32_t instance);

// mf_scene_evaluate and mf_scene_describe for machines.
mf_Status mf_machine_evaluate(mf_Scene *scene, const uint8_t *genomes, uint32_t count,
                              uint32_t genome_bytes, double *fitness, mf_Error *error);
// Descriptor `index` of search.descriptors of a genome of the last call; NaN: of a machine that was
// not simulated or has a fault.
double mf_machine_described(const mf_Scene *scene, uint32_t genome, uint32_t index);
double mf_machine_measure(const mf_MachineResult *result, mf_Measure measure);
double mf_machine_fitness(const mf_MachineResult *result);
void mf_machine_lives_free(mf_Scene *scene);
