// From bodies and joints to links and joints.
//
// Glued bodies become one link. Link 0, the base, contains body 0; its frame is at that body's
// center. Every other link's frame is at the anchor of the hinge that moves it. All link frames
// have the axes of the construction frame, so all joint rotations are the identity.
#include "model/builder.h"

#include "math/scalar.h"
#include "model/names.h"
#include "model/points.h"

#include <stdio.h>
#include <string.h>

// Scratch of one finalization. Links are numbered by the lowest body of each group.
typedef struct Plan {
    uint32_t *link_of;    // [body] link
    uint32_t *leader;     // [link] lowest body
    uint32_t *first_edge; // [link] edge or MF_NONE; edge 2h is hinge h seen from its first body,
    uint32_t *next_edge;  // [edge] 2h + 1 from its second
    uint32_t *queue;      // [link] breadth-first order
    double (*origin)[3];  // [m] [link] construction frame
    bool *reached;        // [link]
    uint32_t link_count;
} Plan;

static mf_Status no_memory(mf_Error *error) {
    return mf_fail(error, MF_NO_MEMORY, "mf_builder_finalize: no memory");
}

// Current position of a point of the body's creation frame.
static void body_position(double out[3], const mf_BuilderBody *body, const double point[3]) {
    double offset[3];
    mf_vec3_sub(offset, point, body->created);
    mf_quat_rotate(offset, body->rotation, offset);
    mf_vec3_add(out, body->center, offset);
}

static uint32_t body_points(double (*out)[3], const mf_BuilderBody *body) {
    if (body->point_count == 0)
        return mf_shape_points(out, body->type, body->size, 8);
    // A cylinder's two points are the centers of its ends, a sphere's its poles.
    double half = body->type == MF_SHAPE_SPHERE ? body->size[0] : body->size[1] / 2;
    if (body->point_count == 1)
        half = 0.0;
    for (uint32_t i = 0; i < body->point_count; i++)
        mf_vec3_set(out[i], 0.0, 0.0, i == 0 ? -half : half);
    return body->point_count;
}

static bool add_shape(mf_Draft *draft, uint32_t link, mf_ShapeType type, const mf_BuilderBody *body,
                      const double position[3], const double rotation[4]) {
    mf_Shape *shape = mf_draft_add_shape(draft, link, type);
    if (shape == NULL)
        return false;
    shape->visual = true;
    shape->collides = true;
    mf_vec3_copy(shape->position, position);
    memcpy(shape->rotation, rotation, sizeof shape->rotation);
    if (type != MF_SHAPE_POINT)
        mf_vec3_copy(shape->size, body->size);
    memcpy(shape->color, body->color, sizeof shape->color);
    return true;
}

// Adds the body's points with equal parts of its mass, and its visual shape.
static bool add_solid(mf_Draft *draft, uint32_t link, const double origin[3],
                      const mf_BuilderBody *body) {
    double local[MF_SHAPE_POINTS_LIMIT][3], rotation[4], center[3];
    uint32_t count = body_points(local, body);
    mf_vec3_sub(center, body->center, origin);
    mf_quat_multiply(rotation, body->rotation, body->along);
    for (uint32_t i = 0; i < count; i++) {
        double position[3];
        mf_quat_rotate(position, rotation, local[i]);
        mf_vec3_add(position, position, center);
        if (!mf_draft_add_point(draft, link, position, body->mass / count, true, body->color))
            return false;
        if (body->point_count > 0 &&
            !add_shape(draft, link, MF_SHAPE_POINT, body, position, rotation))
            return false;
    }
    return body->point_count > 0 || add_shape(draft, link, body->type, body, center, rotation);
}

static bool add_ray(mf_Draft *draft, uint32_t link, const double origin[3],
                    const mf_BuilderBody *body, uint32_t number) {
    char name[32];
    snprintf(name, sizeof name, "ray%u", number);
    mf_Sensor *sensor = mf_draft_add_sensor(draft, name, MF_SENSOR_RAY);
    if (sensor == NULL)
        return false;
    const double up[3] = {0.0, 0.0, 1.0};
    double rotation[4];
    mf_quat_multiply(rotation, body->rotation, body->along);
    mf_quat_rotate(sensor->direction, rotation, up);
    mf_vec3_normalize(sensor->direction);
    mf_vec3_add_scaled(sensor->start, body->center, -body->size[1] / 2, sensor->direction);
    mf_vec3_sub(sensor->start, sensor->start, origin);
    sensor->link = link;
    sensor->range = body->size[1];
    return true;
}

static void number_links(mf_Builder *builder, Plan *plan) {
    for (uint32_t i = 0; i < builder->bodies.count; i++) {
        uint32_t root = mf_builder_root(builder, i);
        if (root == i) {
            plan->leader[plan->link_count] = i;
            plan->link_of[i] = plan->link_count++;
        } else {
            plan->link_of[i] =
                plan->link_of[root]; // a root is the lowest body, so it is done already
        }
    }
}

static mf_Status link_edges(const mf_Builder *builder, Plan *plan, mf_Error *error) {
    const mf_BuilderJoint *joints = builder->joints.items;
    for (uint32_t i = 0; i < plan->link_count; i++)
        plan->first_edge[i] = MF_NONE;
    for (uint32_t i = builder->joints.count; i-- > 0;) {
        uint32_t first = plan->link_of[joints[i].first], second = plan->link_of[joints[i].second];
        MF_NEED(first != second, error, "joint '%s': bodies %u and %u are glued into one link",
                joints[i].name, joints[i].first, joints[i].second);
        plan->next_edge[2 * i] = plan->first_edge[first];
        plan->first_edge[first] = 2 * i;
        plan->next_edge[2 * i + 1] = plan->first_edge[second];
        plan->first_edge[second] = 2 * i + 1;
    }
    return MF_OK;
}

// The joint of one edge, with the parent on the base's side. The angle is that of the second body
// relative to the first: with the roles exchanged the axis is reversed.
static mf_Status add_joint(mf_Builder *builder, Plan *plan, uint32_t parent, uint32_t child,
                           uint32_t edge, mf_Error *error) {
    const mf_BuilderJoint *edge_joint = (const mf_BuilderJoint *)builder->joints.items + edge / 2;
    const mf_BuilderBody *first = (const mf_BuilderBody *)builder->bodies.items + edge_joint->first;
    mf_Joint *joint = mf_draft_add_joint(&builder->draft, edge_joint->name, edge_joint->type);
    if (joint == NULL)
        return no_memory(error);
    body_position(plan->origin[child], first, edge_joint->anchor);
    mf_vec3_sub(joint->position, plan->origin[child], plan->origin[parent]);
    mf_quat_rotate(joint->axis, first->rotation, edge_joint->axis);
    mf_vec3_normalize(joint->axis);
    if (edge % 2 == 1)
        mf_vec3_scale(joint->axis, joint->axis, -1.0);
    joint->parent = parent;
    joint->child = child;
    joint->lower = edge_joint->lower;
    joint->upper = edge_joint->upper;
    joint->speed = edge_joint->speed;
    return MF_OK;
}

// Breadth first from the base: orients each hinge away from it and places the link frames.
static mf_Status grow_tree(mf_Builder *builder, Plan *plan, mf_Error *error) {
    uint32_t head = 0, tail = 0;
    plan->queue[tail++] = 0;
    plan->reached[0] = true;
    mf_vec3_copy(plan->origin[0], ((const mf_BuilderBody *)builder->bodies.items)->center);
    while (head < tail) {
        uint32_t link = plan->queue[head++];
        for (uint32_t edge = plan->first_edge[link]; edge != MF_NONE;
             edge = plan->next_edge[edge]) {
            const mf_BuilderJoint *edge_joint =
                (const mf_BuilderJoint *)builder->joints.items + edge / 2;
            uint32_t other = plan->link_of[edge % 2 ? edge_joint->first : edge_joint->second];
            if (plan->reached[other])
                continue;
            MF_TRY(add_joint(builder, plan, link, other, edge, error));
            plan->reached[other] = true;
            plan->queue[tail++] = other;
        }
    }
    for (uint32_t i = 0; i < plan->link_count; i++) {
        MF_NEED(plan->reached[i], error,
                "body %u: not connected to body 0 by joints or mf_body_connect", plan->leader[i]);
    }
    if (builder->joints.count != plan->link_count - 1)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "%u joints between %u links close a loop; a robot is a tree",
                       builder->joints.count, plan->link_count);
    return MF_OK;
}

static mf_Status add_links(mf_Builder *builder, const Plan *plan, mf_Error *error) {
    for (uint32_t i = 0; i < plan->link_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "body%u", plan->leader[i]);
        if (!mf_draft_add_link(&builder->draft, name))
            return no_memory(error);
    }
    return MF_OK;
}

// Frames of links have the axes of the construction frame.
static void place(const mf_Builder *builder, const Plan *plan, uint32_t body, mf_Frame *frame) {
    const mf_BuilderBody *own = (const mf_BuilderBody *)builder->bodies.items + body;
    double rotation[4];
    frame->link = plan->link_of[body];
    mf_quat_rotate(frame->position, own->rotation, frame->position);
    mf_vec3_add(frame->position, frame->position, own->center);
    mf_vec3_sub(frame->position, frame->position, plan->origin[frame->link]);
    mf_quat_multiply(rotation, own->rotation, frame->rotation);
    memcpy(frame->rotation, rotation, sizeof rotation);
}

static mf_Status add_mounted(mf_Builder *builder, const Plan *plan, mf_Error *error) {
    const mf_BuilderMounted *all = builder->mounted.items;
    for (uint32_t i = 0; i < builder->mounted.count; i++) {
        mf_Mounted item = all[i].item;
        place(builder, plan, all[i].body, &item.head.frame);
        MF_TRY(mf_draft_mount(&builder->draft, all[i].kind, &item,
                              mf_item_table(all[i].kind->type)->name, error));
    }
    return MF_OK;
}

static mf_Status add_contents(mf_Builder *builder, const Plan *plan, mf_Error *error) {
    const mf_BuilderBody *bodies = builder->bodies.items;
    const mf_Touch *touches = builder->touches.items;
    for (uint32_t i = 0; i < builder->touches.count; i++) {
        mf_Sensor *sensor =
            mf_draft_add_sensor(&builder->draft, touches[i].name, MF_SENSOR_CONTACT);
        if (sensor == NULL)
            return no_memory(error);
        sensor->link = plan->link_of[touches[i].body];
    }
    for (uint32_t i = 0; i < builder->bodies.count; i++) {
        uint32_t link = plan->link_of[i];
        bool done = bodies[i].is_ray
                        ? add_ray(&builder->draft, link, plan->origin[link], &bodies[i], i)
                        : add_solid(&builder->draft, link, plan->origin[link], &bodies[i]);
        if (!done)
            return no_memory(error);
    }
    return add_mounted(builder, plan, error);
}

static mf_Status check_names(mf_Builder *builder, mf_ItemType item, mf_Error *error) {
    const mf_List *list = mf_draft_list(&builder->draft, item);
    const size_t size = mf_item_table(item)->size;
    mf_Names names = mf_names_start(builder->context);
    mf_Status status = MF_OK;
    for (uint32_t i = 0; status == MF_OK && i < list->count; i++) {
        const char *name = mf_item_name(item, (const char *)list->items + i * size);
        if (mf_names_find(&names, name) != UINT32_MAX)
            status = mf_fail(error, MF_BAD_ARGUMENT, "two %ss are named '%s'",
                             mf_item_table(item)->name, name);
        else if (!mf_names_add(&names, name, i))
            status = no_memory(error);
    }
    mf_names_release(&names);
    return status;
}

static mf_Status run_plan(mf_Builder *builder, Plan *plan, mf_Error *error) {
    number_links(builder, plan);
    MF_TRY(link_edges(builder, plan, error));
    MF_TRY(add_links(builder, plan, error));
    MF_TRY(grow_tree(builder, plan, error));
    MF_TRY(add_contents(builder, plan, error));
    MF_TRY(check_names(builder, MF_ITEM_JOINT, error));
    return check_names(builder, MF_ITEM_SENSOR, error);
}

mf_Status mf_builder_draft(mf_Builder *builder, mf_Error *error) {
    uint32_t bodies = builder->bodies.count, joints = builder->joints.count;
    MF_NEED(bodies != 0, error, "mf_builder_finalize: the robot has no body");
    MF_CHECK(joints <= MF_MODEL_LINK_LIMIT, error, MF_LIMIT,
             "mf_builder_finalize: at most %u joints", MF_MODEL_LINK_LIMIT);
    mf_Context *context = builder->context;
    size_t numbers_count = 4 * (size_t)bodies + 2 * (size_t)joints;
    uint32_t *numbers = mf_allocate(context, numbers_count, sizeof *numbers);
    Plan plan = {.origin = mf_allocate(context, bodies, sizeof *plan.origin),
                 .reached = mf_allocate(context, bodies, sizeof *plan.reached)};
    mf_Status status = MF_OK;
    if (numbers == NULL || plan.origin == NULL || plan.reached == NULL) {
        status = no_memory(error);
    } else {
        plan.link_of = numbers;
        plan.leader = numbers + bodies;
        plan.first_edge = numbers + 2 * (size_t)bodies;
        plan.queue = numbers + 3 * (size_t)bodies;
        plan.next_edge = numbers + 4 * (size_t)bodies;
        status = run_plan(builder, &plan, error);
    }
    mf_release(context, numbers);
    mf_release(context, plan.origin);
    mf_release(context, plan.reached);
    return status;
}
