// The inside of scenes, shared between making them and rating the robots in them.
#ifndef MAYFLY_SRC_EXPERIMENT_SCENE_H
#define MAYFLY_SRC_EXPERIMENT_SCENE_H

#include <mayfly/experiment.h>

// The servo of a joint: the motor of its file, or what its effort and speed make likely, with what
// the experiment says instead. MF_BAD_ARGUMENT where a joint to be driven has none.
mf_Status mf_scene_servo(const mf_Experiment *experiment, const mf_Model *model, uint32_t joint,
                         mf_Servo *servo, mf_Error *error);

// Adds what the experiment's fitness sums up over a life, if anything. Behind the motion.
mf_Status mf_fitness_add(const mf_Experiment *experiment, mf_Group *group, mf_Error *error);
// The experiment's fitness of a robot without a fault, at the end of its life.
double mf_fitness_of(const mf_Scene *scene, uint32_t robot);

#endif
