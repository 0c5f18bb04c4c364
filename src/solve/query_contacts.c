// The contacts of the last step: those of collisions, and those of motions with the ground.
#include "solve/collisions.h"
#include "terrain/lookup.h"
#include "base/floats.h"
#include "solve/query.h"
#include "math/scalar.h"
#include "motion/table.h"
#include "world/attach.h"

#include <math.h>

typedef struct List {
    mf_Contact *out;
    uint32_t capacity, count; // [1]
} List;

static void append(List *list, const mf_Contact *contact) {
    if (list->count < list->capacity)
        list->out[list->count] = *contact;
    list->count++;
}

// ---- between robots -----------------------------------------------------------------------------

static mf_ShapeOwner owner_of(const mf_Collisions *all, uint32_t robot, uint32_t solid) {
    const mf_CollisionGroup *group = mf_collisions_group(all, robot);
    const uint32_t shape = group->compound->solids[solid].shape;
    return (mf_ShapeOwner){group->group, mf_collisions_instance(group, robot),
                           mf_group_model(group->group)->shapes[shape].link, shape};
}

static void list_collisions(const mf_Collisions *all, List *list) {
    for (uint32_t i = 0; i < all->contact_count; i++) {
        const mf_CollisionContact *from = &all->contacts[i];
        mf_Contact contact = {.owners = {owner_of(all, from->robots.a, from->solids[0]),
                                         owner_of(all, from->robots.b, from->solids[1])},
                              .depth = from->depth,
                              .load = from->load};
        mf_vec3_copy(contact.point, from->point);
        mf_vec3_copy(contact.normal, from->normal);
        mf_vec3_copy(contact.force, from->force);
        append(list, &contact);
    }
}

// ---- with the ground ----------------------------------------------------------------------------

typedef struct Ground {
    const mf_Terrain *terrain;
    mf_QueryGroup *group;
    uint32_t instance;
    List *list;
} Ground;

// `normal` is the ground's, upward.
static void append_ground(const Ground *ground, mf_ShapeOwner owner, const double point[3],
                          double load) {
    mf_Contact contact = {.owners = {owner, {NULL, MF_NONE, MF_NONE, MF_NONE}}, .load = load};
    double normal[3];
    mf_terrain_height(ground->terrain, point[0], point[1], normal);
    mf_vec3_scale(contact.normal, normal, -1.0);
    contact.depth = mf_terrain_depth(ground->terrain, point);
    mf_vec3_copy(contact.point, point);
    mf_vec3_set(contact.force, (double)NAN, (double)NAN, (double)NAN);
    append(ground->list, &contact);
}

// Along the ground's normal below the link, which equals the contact's normal except at borders of
// the map.
static void list_row(const Ground *ground, uint32_t row, double load) {
    const mf_QueryPose *pose = &ground->group->pose[0];
    double up[3], direction[3], position[3], point[3];
    mf_ShapeOwner owner = {ground->group->group, ground->instance, 0, 0};
    if (!mf_contacts_owner(ground->group->group, row, &owner.link, &owner.shape))
        return;
    const double *origin = pose->position[owner.link], *rotation = pose->rotation[owner.link];
    mf_terrain_height(ground->terrain, origin[0], origin[1], up);
    for (int i = 0; i < 2; i++) { // again with the normal at the point found
        mf_quat_rotate_inverse(direction, rotation, up);
        mf_contacts_lowest(ground->group->group, ground->instance, row, owner.link, direction,
                           position);
        mf_pose_point(point, origin, rotation, position);
        mf_terrain_height(ground->terrain, point[0], point[1], up);
    }
    append_ground(ground, owner, point, load);
}

static void list_loads(const Ground *ground, const mf_Field *load) {
    for (uint32_t row = 0; row < load->components; row++) {
        const double pressed = mf_field_get(load, ground->instance, row);
        if (pressed > 0.0)
            list_row(ground, row, pressed);
    }
}

// Rows of point.load are the model's contact points.
static void list_points(const Ground *ground, const mf_Field *load) {
    const mf_Model *model = mf_group_model_of(ground->group->group, ground->instance);
    const mf_QueryPose *pose = &ground->group->pose[0];
    uint32_t row = 0;
    for (uint32_t i = 0; i < model->point_count; i++) {
        const mf_Point *own = &model->points[i];
        double point[3];
        if (!(own->flags & MF_POINT_COLLIDES))
            continue;
        const double pressed = mf_field_get(load, ground->instance, row++);
        const mf_ShapeOwner owner = {ground->group->group, ground->instance, own->link, MF_NONE};
        if (!(pressed > 0.0))
            continue;
        mf_pose_point(point, pose->position[own->link], pose->rotation[own->link], own->position);
        append_ground(ground, owner, point, pressed);
    }
}

static void list_ground(const mf_World *world, mf_QueryGroup *group, List *list) {
    const mf_Field *rows = mf_group_find_field(group->group, "contact.load");
    const mf_Field *points = mf_group_find_field(group->group, "point.load");
    Ground ground = {mf_world_config_of(world)->terrain, group, 0, list};
    for (uint32_t i = 0; (rows || points) && i < mf_group_count(group->group); i++) {
        const bool by_points = !mf_motion_has_shapes(mf_motion_of(group->group, i));
        if (!mf_query_present(group, i, NULL))
            continue;
        mf_query_links(group, i, &group->pose[0]);
        ground.instance = i;
        if (by_points && points != NULL)
            list_points(&ground, points);
        else if (!by_points && rows != NULL)
            list_loads(&ground, rows);
    }
}

mf_Status mf_world_contacts(mf_World *world, mf_Contact *out, uint32_t capacity, uint32_t *count,
                            mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_Query *query;
    if (world == NULL || count == NULL || (out == NULL && capacity > 0))
        return mf_fail(error, MF_BAD_ARGUMENT, "mf_world_contacts: world, count or out is NULL");
    *count = 0;
    MF_TRY(mf_query_of(world, &query, error));
    const mf_Collisions *collisions = mf_collisions_of(world);
    List list = {.out = out, .capacity = capacity};
    if (collisions != NULL)
        list_collisions(collisions, &list);
    for (uint32_t g = 0; g < query->count; g++)
        list_ground(world, &query->groups[g], &list);
    *count = list.count;
    if (collisions != NULL && collisions->contacts_left > 0)
        return mf_fail(error, MF_LIMIT, "contacts: %llu contacts between robots were not kept",
                       (unsigned long long)collisions->contacts_left);
    return MF_OK;
}

bool mf_group_contact_owner(const mf_Group *group, uint32_t row, uint32_t *link, uint32_t *shape) {
    return group != NULL && link != NULL && shape != NULL &&
           mf_contacts_owner(group, row, link, shape);
}
