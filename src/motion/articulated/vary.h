// Robots of a group that differ from its model in numbers: masses, lengths, friction, gains.
//
// Part of a plan is doubles: constants and the laws of constraints. A robot's own are the rows of
// the field articulated.numbers, in the order of that part, made by the plan's own builder from the
// robot's model; so snapshots and hashes have them. Kernels of the copies with MF_ART_VARIED take a
// view of the plan per robot, which says where its lane is.
#pragma once

#include "motion/articulated/motion.h"

// Of the motion table. MF_UNSUPPORTED: the model's plan has another structure, or the group's
// robots dock or touch others.
mf_Status mf_art_vary(mf_Group *group, void *plan, const mf_Model *model, const uint32_t *instances,
                      uint32_t count, mf_Error *error);

// The number of an instance that is *constant in the plan, one of constants_f64.
double mf_art_number(const mf_ArtMotion *motion, const double *constant, uint32_t instance);

// The motion as an instance has it, for questions: `motion` itself, or *own with a copy of the
// plan, for mf_art_return_own.
const mf_ArtMotion *mf_art_own(const mf_ArtMotion *motion, uint32_t instance, mf_ArtMotion *own);
void mf_art_return_own(const mf_ArtMotion *motion, const mf_ArtMotion *own);
