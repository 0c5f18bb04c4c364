// Mayfly: queries of a world between steps: ray casts, distances between bodies, and contacts of
// the last step. docs/how_to/queries.md shows their use.
//
// All three read the present fields, compute in double, and change nothing. Robots with a fault are
// excluded. The first query of a world, and the first after a group was added, creates data of the
// models, which the world keeps; later ones allocate nothing. One thread at a time may query a
// world, and not during a step.
#pragma once

#include <mayfly/world.h>

// A shape and its owner.
typedef struct mf_ShapeOwner {
    mf_Group *group;   // NULL: the ground of the world; the rest is MF_NONE then
    uint32_t instance; // [1]
    uint32_t link;     // [1] of the model; MF_NONE: fixed in the world by the model's file
    uint32_t shape;    // [1] of the model; MF_NONE: a contact point
} mf_ShapeOwner;

// ---- rays ---------------------------------------------------------------------------------------

// Start from mf_ray_config().
typedef struct mf_RayConfig {
    uint32_t struct_size;      // [byte] set by mf_ray_config()
    double start[3];           // [m] world
    double direction[3];       // [1] world, of any length > 0; default 0, 0, -1
    double reach;              // [m] > 0; default INFINITY
    bool ground;               // the ground stops it; default true
    const mf_Group *without;   // this group's instance is excluded; default NULL: none
    uint32_t without_instance; // [1]
    const mf_Group *alone;     // an isolated group: the ray is cast in the space of its instance,
    uint32_t alone_instance;   // [1] with its copy of the ground; default NULL: in the space of all
                               // shared groups
} mf_RayConfig;
// The defaults of mf_RayConfig: every configuration starts from them.
MF_API mf_RayConfig mf_ray_config(void);

typedef struct mf_RayHit {
    bool hit;            // false: nothing within reach, and the rest is 0
    double distance;     // [m]
    double point[3];     // [m] world
    double normal[3];    // [1] world, outward from the shape
    mf_ShapeOwner owner; // of equally near ones the first in the order of groups and shapes
} mf_RayHit;

// The first hit of a ray with the ground and all shapes that collide. A ray that begins inside a
// solid hits it where it leaves it; planes are hit from above only, and so is the ground, inside
// and outside its map. Meshes are hit at their triangles, not at their hulls, from both sides, as
// by range finders. Height fields of models are hit as the ground, if the world has it from them.
// MF_BAD_ARGUMENT: a setting, or a group of another world. MF_LIMIT: a model with more than 1024
// shapes that collide. MF_NO_MEMORY.
MF_API mf_Status mf_world_ray(mf_World *world, const mf_RayConfig *config, mf_RayHit *out,
                              mf_Error *error);

// ---- distances ----------------------------------------------------------------------------------

typedef struct mf_DistanceBody {
    const mf_Group *group;
    uint32_t instance; // [1]
    uint32_t link;     // [1] of the model; MF_NONE: all links
} mf_DistanceBody;

// Start from mf_distance_config().
typedef struct mf_DistanceConfig {
    uint32_t struct_size; // [byte] set by mf_distance_config()
    mf_DistanceBody a;    // links default to MF_NONE
    mf_DistanceBody b;    // group NULL (default): all other instances of shared groups
    double reach;         // [m] > 0; larger distances are not reported; default INFINITY
} mf_DistanceConfig;
// The defaults of mf_DistanceConfig: every configuration starts from them.
MF_API mf_DistanceConfig mf_distance_config(void);

typedef struct mf_Distance {
    bool found;          // false: nothing within reach, and the rest is 0
    double distance;     // [m] minimum over all pairs of shapes; < 0: they overlap, and moving one
                         // by this amount along the normal separates them
    double points[2][3]; // [m] world: nearest points of a and b; of shapes that overlap the
                         // points that are deepest in the other
    double normal[3];    // [1] world, from a to b
    mf_ShapeOwner owners[2]; // of equally near pairs the first in the order of groups and shapes
} mf_Distance;

// Distance of the shapes of two bodies, or of a body and all others. Shapes that collide take part,
// meshes with their convex hulls, by the narrow phase of contacts; contact bits are ignored.
// Planes, height fields and the ground do not take part. Two links of one instance are allowed.
// MF_BAD_ARGUMENT: a setting, a group of another world, the same link twice, instances without a
// common space, or a body without a shape that takes part. MF_LIMIT and MF_NO_MEMORY as
// mf_world_ray.
MF_API mf_Status mf_world_distance(mf_World *world, const mf_DistanceConfig *config,
                                   mf_Distance *out, mf_Error *error);

// ---- contacts -----------------------------------------------------------------------------------

typedef struct mf_Contact {
    mf_ShapeOwner owners[2]; // the second is the ground where a robot stands on it
    double point[3];         // [m] world
    double normal[3];        // [1] world, from the first to the second
    double depth;            // [m] of the overlap
    double load;             // [N] normal component of the force, >= 0
    double force[3];         // [N] world, on the second; NAN if the motion stores the load only
} mf_Contact;

// The contacts of the last step, in this order: between robots (mf_collisions_add), then of robots
// with the ground, by groups, instances and rows of contact.load or point.load. The first
// `capacity` are written to `out`, which may be NULL if `capacity` is 0; *count is set to their
// number.
//
// Between robots point, normal and depth are those at the beginning of the step, from which the
// force was computed. On the ground the load is that of the step and the rest that of the present
// state, so the depth of a contact that opens may be below 0; contacts without load are not
// reported. For the ground `points`, `rigid`, `prescribed` and `articulated` report their loads,
// `kinematic` fractions of the weight, vehicles and plugins nothing. Contacts between links of one
// robot are in its own fields (warm_start.force).
//
// After a snapshot was restored there are none between robots until the next step. MF_LIMIT: more
// contacts between robots than are stored (1024 and 8 per robot, at most 66560); the stored ones
// are returned. MF_BAD_ARGUMENT. MF_NO_MEMORY.
MF_API mf_Status mf_world_contacts(mf_World *world, mf_Contact *out, uint32_t capacity,
                                   uint32_t *count, mf_Error *error);

// The link and shape (MF_NONE: a contact point) of a row of a group's field contact.load, for
// programs that read the loads of certain links. False: there is no such row. Rows of point.load
// are the model's contact points in their order.
MF_API bool mf_group_contact_owner(const mf_Group *group, uint32_t row, uint32_t *link,
                                   uint32_t *shape);
