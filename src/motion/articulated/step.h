// The copies of the `articulated` kernels.
#pragma once

#include "math/kernel.h"
#include "motion/articulated/plan.h"

// Those for robots that differ in their constants are compiled from the same source with
// MF_ART_VARIED, and take a view of the plan (vary.c).
#if defined(MF_ART_VARIED)
#define MF_ART_KERNEL(name) MF_KERNEL(name##_varied)
#else
#define MF_ART_KERNEL(name) MF_KERNEL(name)
#endif

// Advances the lanes of `block` by one step.
MF_KERNEL_COPIES(void, mf_articulated_step, (const mf_ArtBlock *block));
MF_KERNEL_COPIES(void, mf_articulated_step_varied, (const mf_ArtBlock *block));

// [byte] of scratch that a step needs, and of it what the next two functions do.
MF_KERNEL_COPIES(size_t, mf_articulated_scratch_size, (const mf_ArtPlan *plan));
MF_KERNEL_COPIES(size_t, mf_articulated_couple_scratch_size, (const mf_ArtPlan *plan));
MF_KERNEL_COPIES(size_t, mf_articulated_constrain_scratch_size, (const mf_ArtPlan *plan));

// Adds what couplings do to the accelerations `rates` of a state; all three are of the kernel that
// calls (State, Work, Rates). `is_explicit`: forces act now, not at the end of the step.
MF_KERNEL_COPIES(void, mf_articulated_couple,
                 (const mf_ArtPlan *plan, const void *state, bool is_explicit, void *work,
                  void *rates));
MF_KERNEL_COPIES(void, mf_articulated_couple_varied,
                 (const mf_ArtPlan *plan, const void *state, bool is_explicit, void *work,
                  void *rates));

// Changes the accelerations `rates` to those with the constraints of MuJoCo's law; all are of the
// kernel that calls (State, Drive, Work, Rates).
MF_KERNEL_COPIES(void, mf_articulated_constrain,
                 (const mf_ArtPlan *plan, const void *state, const void *drive, void *work,
                  void *rates));
MF_KERNEL_COPIES(void, mf_articulated_constrain_varied,
                 (const mf_ArtPlan *plan, const void *state, const void *drive, void *work,
                  void *rates));

// Answers a question about the tree of one robot. Both copies give the same bits; the second needs
// a processor with fused multiply-add and a build that has such copies.
void mf_articulated_query_scalar_f64(const mf_ArtQuery *query);
void mf_articulated_query_single_f64(const mf_ArtQuery *query);
// [byte] of scratch that a question needs.
size_t mf_articulated_query_scratch_size_scalar_f64(const mf_ArtPlan *plan);
size_t mf_articulated_query_scratch_size_single_f64(const mf_ArtPlan *plan);
