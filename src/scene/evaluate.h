// Evaluations of a part of a population, as workers of a search make them.
#pragma once

#include <mayfly/scene.h>

// mf_scene_evaluate and mf_scene_describe for the genomes of the robots from `first` on alone, with
// the bits that they have there. `genomes` [count], `fitness` [count]; `values`
// [count][search.descriptor_count], or NULL.
mf_Status mf_scene_evaluate_some(mf_Scene *scene, uint32_t first, const uint8_t *genomes,
                                 uint32_t count, uint32_t genome_bytes, double *fitness,
                                 double *values, mf_Error *error);
// The descriptors of a robot of the evaluation before, whose genome was number `genome` of it.
void mf_scene_describe_one(const mf_Scene *scene, uint32_t robot, uint32_t genome, double *values);
