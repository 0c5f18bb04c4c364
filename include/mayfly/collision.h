// Mayfly: collisions between robots, balls and scenery with any motions.
// docs/explanation/contact.md has the method and the equations.
#pragma once

#include <mayfly/world.h>

// Prepares a shared group for collisions: adds the fields, both zero without contact,
//     wrench.link   [N], [N m]  per link, the force on it and the torque about the origin
//                             of the base, world axes: 6 values
//     wrench.count  [1]         contacts of the robot in the last step
// Call it before the group's motion is added, which then uses them; MF_BAD_ARGUMENT if the group
// has a motion or is isolated. Robots of a group that is not prepared, of one whose base is fixed
// and whose joints do not move, without a motion, or with the motion `kinematic` or `external` push
// others and are not pushed themselves.
MF_API mf_Status mf_collisions_prepare(mf_Group *group, mf_Error *error);

// Options of a group in collisions. Start from mf_collisions_member().
typedef struct mf_CollisionsMember {
    uint32_t struct_size; // [byte] set by mf_collisions_member()
    mf_Group *group;      // shared (not isolated)
    bool inner; // links of one robot collide, too, where the model allows it; those that touch at
                // the start angles never do. Default false: `articulated` computes these contacts
                // itself
} mf_CollisionsMember;
// The defaults of a member: `group`, as its model is.
MF_API mf_CollisionsMember mf_collisions_member(mf_Group *group);

// How touching robots push each other (docs/explanation/contact.md).
typedef enum mf_CollisionLaw {
    MF_COLLISION_EXPLICIT, // springs at the beginning of the step, each for itself: the cheapest,
                           // for swarms of equal robots that bump into each other
    MF_COLLISION_HARD,     // no softness: contacts and run-time joints are solved together, for
                           // robots that carry, hold, stack and lean
    MF_COLLISION_COMPLIANT // springs and dampers at the end of the step, solved with joints
} mf_CollisionLaw;

// Volumes about the shapes of a robot's subtrees, by which pairs that are apart are left out.
// Results do not depend on the choice, to the bit: only how many tests a step takes
// (mf_CollisionsStatistics; docs/explanation/contact.md has counts and times).
typedef enum mf_CollisionBounds {
    MF_BOUNDS_SPHERE,   // spheres, and boxes about shapes alone
    MF_BOUNDS_BOX,      // boxes along the axes of the world
    MF_BOUNDS_ORIENTED, // boxes along the axes of links
    MF_BOUNDS_NONE      // none: all pairs of shapes of robots that are near are tested
} mf_CollisionBounds;

typedef struct mf_CollisionsConfig {
    uint32_t struct_size;               // [byte] set by mf_collisions_config()
    const mf_CollisionsMember *members; // copied; NULL: all shared groups with shapes that collide
    uint32_t member_count;              // [1]
    mf_CollisionLaw law;                // default MF_COLLISION_COMPLIANT; robots that move by a
                                        // plugin have MF_COLLISION_EXPLICIT in any case
    mf_CollisionBounds bounds;          // default MF_BOUNDS_SPHERE
    // Of compliant contacts where the shapes' file does not state their softness.
    double contact_time;  // [s] > 0; stiffness = mass / time^2, with the mass that both robots move
                          // at the contact; default 0: one step
    double contact_ratio; // [1] damping = 2 ratio sqrt(mass stiffness), >= 0; default 1
    double duration; // [s] explicit: duration of a perfectly elastic head-on impact of two balls,
                     // >= 4 steps; default 0: 6 steps
    double restitution;        // [1] of the normal velocity, 0.05 .. 1; hard and explicit (refused
                               // with compliant); default 0.5
    double friction;           // [1] >= 0; default NAN: that of both shapes, combined as in MuJoCo
    double torsional_friction; // [m] torsional friction at any condim, >= 0; default NAN: that of
                               // the shapes, from condim 4 on
    double depth;   // [m] > 0; the force does not increase beyond this depth; default 0.02
    double margin;  // [m] > 0 candidate margin; candidate lists are rebuilt after a robot has
                    // moved by half of it; results do not depend on it; default 0: 0.15
    uint32_t pairs; // [1] capacity for pairs of nearby robots, per robot, 1 .. 4096; default 64
    uint32_t contact_capacity; // [1] for contacts, per 8 pairs of robots that may touch,
                               // 4 .. 65536; default 512
} mf_CollisionsConfig;
// The defaults of mf_CollisionsConfig: every configuration starts from them.
MF_API mf_CollisionsConfig mf_collisions_config(void);

// The collisions of a world; owned by the world.
typedef struct mf_Collisions mf_Collisions;

// Enables collisions between the members in every step, by a system of the world that runs before
// the motions. Shapes that collide take part (URDF: `collision` elements); planes, height fields
// and single points do not: they are ground, or touch only the ground. `config` may be NULL.
// MF_BAD_ARGUMENT: a setting, a group of another world or an isolated one, no shape at all, or a
// second call. MF_LIMIT: more than 1024 shapes of a model. MF_NO_MEMORY.
MF_API mf_Status mf_collisions_add(mf_World *world, const mf_CollisionsConfig *config,
                                   mf_Collisions **out, mf_Error *error);

typedef struct mf_CollisionsStatistics {
    uint64_t steps;         // [1] since the start
    uint64_t robot_tests;   // [1] tests of bounding spheres of two whole robots, for any angles of
                            // their joints
    uint64_t bound_tests;   // [1] tests of bounding volumes of two trees, or of one and the box of
                            // a shape
    uint64_t shape_tests;   // [1] tests of two shapes
    uint64_t without;       // [1] tests of two shapes without bounding volumes and trees
    uint64_t contacts;      // [1] contacts
    uint64_t searches;      // [1] searches for nearby robots
    uint64_t lost_pairs;    // [1] pairs of robots dropped because a buffer was full: they did not
                            // collide
    uint64_t lost_contacts; // [1] contacts dropped likewise
    uint64_t solved;        // [1] contacts that the world's solver computed
    uint64_t rounds;        // [1] trial steps with corrected forces, of contacts and joints
    uint64_t too_large;     // [1] islands of robots with MuJoCo's law that found no space to be
                            // solved as one file, and were by trial steps
    double residual;        // [1] residual of those forces, largest of a step
    double deepest;         // [m] largest overlap of two shapes, without those of the first step:
                            // beyond mf_CollisionsConfig.depth forces do not increase
} mf_CollisionsStatistics;
// What happened so far.
MF_API mf_CollisionsStatistics mf_collisions_statistics(const mf_Collisions *collisions);
