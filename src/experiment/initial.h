// Values that every life of a scene begins with.
#ifndef MAYFLY_SRC_EXPERIMENT_INITIAL_H
#define MAYFLY_SRC_EXPERIMENT_INITIAL_H

#include <mayfly/experiment.h>

// Gives every robot the initial values of the experiment, in its order. Failures name the line.
mf_Status mf_scene_begin(const mf_Scene *scene, mf_Error *error);

#endif
