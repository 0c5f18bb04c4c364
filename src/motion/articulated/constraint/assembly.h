// Steps of assemblies: robots whose links are welded to each other move as one tree.
//
// Each robot is its own tree, and its step is divided where the forces of other robots enter: the
// factors of its articulated bodies give the accelerations of the links that join, without and
// under wrenches; the caller computes those that close the joints (solve/modules/assemblies.h), and
// the step continues with them. Together this is the articulated-body algorithm of the whole
// assembly (Featherstone 1999, "A divide-and-conquer articulated-body algorithm").
//
//   begin      loads state and forces
//   look       velocities, contacts, limits
//   respond    accelerations without the joints, and roots of the response to wrenches
//   push       adds the effect of the wrenches of joints; finds wrong contacts and limits
//   revise     corrects them; continue again from `respond`
//   finish     integrates and stores; sites then have their new poses relative to the base
//   fly        gives the root of an assembly in flight the momentum of all links together
#pragma once

#include "math/kernel.h"
#include "motion/articulated/motion.h"

// Values per site, a link that joins or that may touch others; of each the lanes of the kernel
// follow each other.
enum {
    // Rotation to the world (9, row after row), position [m] and velocity [m/s] of the origin, rate
    // [rad/s].
    MF_ART_SITE_POSE = 18,
    MF_ART_SITE_MOTION = 6,   // [rad/s^2], [m/s^2] of the link's origin, world axes
    MF_ART_SITE_WRENCH = 6,   // [N m] about the link's origin, [N], world axes
    MF_ART_WHOLE_VALUES = 15, // momentum.h: center, drift, own (3 each), inertia (6)
    MF_ART_SITES = 16,        // [1] at most
    MF_ART_ROOTS = 64         // [1] degrees of freedom at most: six of the base and the joints
};

// Bits: results of lanes.
enum {
    MF_ART_DEAD = 1,    // frozen, or a non-finite input
    MF_ART_TOUCHES = 2, // its links touch each other
    MF_ART_WRONG = 4,   // another set of contacts or limits acts
    MF_ART_STRUCK = 8,  // accelerations must not be extrapolated
    MF_ART_STANDS = 16, // it touches the ground
    MF_ART_FLIES = 32   // for `fly`: the root of an assembly that touches nothing
};

// A piece of a block, in all stages. Values are in the precision of the kernel.
typedef struct mf_ArtAssembly {
    mf_ArtBlock block;    // faults of robots that are not in an assembly are not 0
    void *passing;        // working memory of one stage, aligned to 64
    const int32_t *sites; // plan links, -1 = base; those that join first
    uint32_t site_count;  // [1]
    uint32_t used;        // bits: sites where wrenches act in this step; others have no data
    // [rad/s] Of the base, then of each site, in the middle of the step, world axes; for `look` of
    // the base: what is to be added.
    void *swirl;
    void *pose; // per site
    void *free; // per site: motion without the joints
    // Rows w of the motion of sites over the degrees of freedom, those of the base first: a wrench
    // changes the motion by w w^T times it. As a product it cannot lose its sign to rounding.
    void *roots;
    void *wrench; // per site
    // All links at the beginning and at the end, base's axes; then force [N] and torque [N m] from
    // outside on the base's origin, world axes, and mass [kg]. For `fly` those of the assembly,
    // from its root.
    void *whole;
    bool late;       // `push` returns the errors of contacts and the total load [N]
    void *unsettled; // there; behind these by what part those of the assembly are wrong
    uint32_t *flags; // per lane; for `revise` and `finish` those of the assembly
} mf_ArtAssembly;

// [byte] Memory between stages, and of one stage.
MF_KERNEL_COPIES(size_t, mf_articulated_assembly_scratch_size, (const mf_ArtPlan *plan));
MF_KERNEL_COPIES(size_t, mf_articulated_assembly_passing, (const mf_ArtPlan *plan));
MF_KERNEL_COPIES(void, mf_articulated_assembly_begin, (const mf_ArtAssembly *piece));
MF_KERNEL_COPIES(void, mf_articulated_assembly_look, (const mf_ArtAssembly *piece));
MF_KERNEL_COPIES(void, mf_articulated_assembly_respond, (const mf_ArtAssembly *piece));
MF_KERNEL_COPIES(void, mf_articulated_assembly_push, (const mf_ArtAssembly *piece));
MF_KERNEL_COPIES(void, mf_articulated_assembly_revise, (const mf_ArtAssembly *piece));
MF_KERNEL_COPIES(void, mf_articulated_assembly_finish, (const mf_ArtAssembly *piece));
MF_KERNEL_COPIES(void, mf_articulated_assembly_fly, (const mf_ArtAssembly *piece));

// Whether robots with this plan can be part of an assembly that moves as one tree.
bool mf_art_assembles(const mf_ArtPlan *plan);
