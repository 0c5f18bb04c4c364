// Mayfly: robots, balls and what stands on the field push each other, whatever motion they have.
// docs/explanation/collision.md has the method and the equations.
#ifndef MAYFLY_COLLISION_H
#define MAYFLY_COLLISION_H

#include <mayfly/world.h>

#ifdef __cplusplus
extern "C" {
#endif

// Makes the robots of a shared group ones that can be pushed: adds the fields, both zero until
// something touches,
//   push.link   [N], [N m]  per link of the model the force on it and the torque about the origin
//                           of the base, world axes: 6 values
//   push.count  [1]         touches of the robot in the last step
// Call it before the group's motion is added, which then obeys them; MF_BAD_ARGUMENT when it has
// one, or when the group is isolated. Robots of a group that is not prepared, of one whose base is
// fixed and whose joints do not move, without a motion, or that move by `kinematic` or `external`
// push others and are not pushed themselves.
MF_API mf_Status mf_collisions_prepare(mf_Group *group, mf_Error *error);

// How the robots of a group take part. Start from mf_collisions_member().
typedef struct mf_CollisionsMember {
    uint32_t struct_size; // [byte] set by mf_collisions_member()
    mf_Group *group;      // shared (not isolated)
    bool inner; // limbs of one robot push each other too, by the model's rules of what may
                // touch; what does at the start angles never does. Default false:
                // `articulated` does that itself
} mf_CollisionsMember;
MF_API mf_CollisionsMember mf_collisions_member(mf_Group *group);

// How touching robots push each other (docs/explanation/collision.md).
typedef enum mf_CollisionLaw {
    MF_COLLISION_EXPLICIT, // springs at the beginning of the step, each for itself: the cheapest,
                           // for crowds that bump into each other
    MF_COLLISION_HARD,     // no softness: contacts and run-time joints are solved together, for
                           // robots that carry, hold, stack and lean
    MF_COLLISION_COMPLIANT // springs and dampers at the end of the step, solved with joints
} mf_CollisionLaw;
// "explicit", "hard", "compliant".
MF_API const char *mf_collision_law_name(mf_CollisionLaw law);

typedef struct mf_CollisionsConfig {
    uint32_t struct_size;               // [byte] set by mf_collisions_config()
    const mf_CollisionsMember *members; // copied; NULL: all shared groups with shapes that collide
    uint32_t member_count;              // [1]
    mf_CollisionLaw law;                // default MF_COLLISION_EXPLICIT, which robots that move by
                                        // a plugin have in any case
    double contact_time;  // [s] compliant: > 0; stiffness = mass / time^2, with the mass that both
                          // have at the contact; default 0: 2 steps
    double contact_ratio; // [1] compliant: damping = 2 ratio sqrt(mass stiffness), >= 0; default 1
    double duration; // [s] explicit: how long two balls in a head-on impact would touch when they
                     // were perfectly elastic, >= 4 steps; default 0: 6 steps
    double restitution; // [1] of speeds, 0.05 .. 1; hard and explicit; default 0.5
    double friction;    // [1] >= 0; default NAN: as the shapes of both say, as MuJoCo mixes them
    double turning;     // [m] against turning on each other, >= 0; default NAN: as the shapes say
    double depth;       // [m] > 0; deeper touches push no harder; default 0.02
    double margin;      // [m] > 0: who is closer than this is looked at until somebody has moved
                        // by half of it; no bit depends on it; default 0: 0.15
    uint32_t pairs;     // [1] of robots that are near each other, room per robot, 1 .. 4096;
                        // default 64
    uint32_t touches;   // [1] room per 8 pairs of robots that may touch, 4 .. 65536; default 512
    bool trees;         // false: no trees, every shape against every other; default true
} mf_CollisionsConfig;
MF_API mf_CollisionsConfig mf_collisions_config(void);

// The collisions of a world. Belong to the world.
typedef struct mf_Collisions mf_Collisions;

// Lets the members push each other in every step: a system of the world that runs before the
// motions. Shapes that collide take part (URDF: `collision` elements); planes, height fields and
// single points do not: they are ground, or meet only the ground. `config` may be NULL.
// MF_BAD_ARGUMENT: a setting, a group of another world or an isolated one, no shape at all, or a
// second call. MF_LIMIT: more than 1024 shapes of a model, 64 groups. MF_NO_MEMORY.
MF_API mf_Status mf_collisions_add(mf_World *world, const mf_CollisionsConfig *config,
                                   mf_Collisions **out, mf_Error *error);

typedef struct mf_CollisionsStatistics {
    uint64_t steps;        // [1] since the last clearing
    uint64_t robot_tests;  // [1] balls about two whole robots, for any angles of their joints
    uint64_t sphere_tests; // [1] spheres of two trees, or a sphere and the box about a shape
    uint64_t shape_tests;  // [1] two shapes
    uint64_t without;      // [1] two shapes, if there were no balls and no trees
    uint64_t touches;      // [1] contacts
    uint64_t searches;     // [1] for who is near
    uint64_t lost_pairs;   // [1] pairs of robots that found no room: they did not meet
    uint64_t lost_touches; // [1] likewise
    uint64_t solved;       // [1] contacts that the world's solver took
    uint64_t rounds;       // [1] trial steps with corrected forces, of contacts and joints
    double residual;       // [1] of those forces: how much was left to correct, largest of a step
} mf_CollisionsStatistics;
MF_API mf_CollisionsStatistics mf_collisions_statistics(const mf_Collisions *collisions);
MF_API void mf_collisions_clear_statistics(mf_Collisions *collisions);

#ifdef __cplusplus
}
#endif
#endif
