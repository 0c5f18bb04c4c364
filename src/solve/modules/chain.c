// The path of docked robots from a base to a dock as one model, for forward and inverse kinematics.
//
// A module is entered at one dock and left at another. Joints between the two that are passed from
// child to parent are turned round: with the transform T of a joint at 0 and its rotation R(axis,
// q), child = parent T R(axis, q), so parent = child R(-axis, q) T^-1, with the same q and limits.
#include "base/floats.h"
#include "base/memory.h"
#include "math/scalar.h"
#include "model/draft.h"
#include "solve/modules/docks.h"

#include <stdio.h>
#include <string.h>

typedef struct Pose {
    double position[3], rotation[4];
} Pose;

// How a robot is reached: from the dock `exit` of the robot `from` by its own dock `entry`.
typedef struct Hop {
    uint32_t from, exit, entry; // [1] from: MF_NONE, not yet; itself: the root
    uint32_t next;              // [1] robot behind it on the path
} Hop;

typedef struct Chain {
    const mf_WorldDocks *docks;
    mf_Draft draft;
    Pose at; // in the frame of the last link, of what comes next
    mf_ChainJoint *joints;
    uint32_t capacity, count; // [1]
    mf_Error *error;
} Chain;

static void advance(Pose *at, const double position[3], const double rotation[4]) {
    double moved[3], rotated[4];
    mf_quat_rotate(moved, at->rotation, position);
    mf_vec3_add(at->position, at->position, moved);
    mf_quat_multiply(rotated, at->rotation, rotation);
    mf_quat_normalize(rotated);
    memcpy(at->rotation, rotated, sizeof rotated);
}

static void advance_back(Pose *at, const double position[3], const double rotation[4]) {
    double back[4], moved[3];
    mf_quat_conjugate(back, rotation);
    mf_quat_rotate(moved, back, position);
    mf_vec3_scale(moved, moved, -1.0);
    advance(at, moved, back);
}

static Pose still(void) {
    return (Pose){.rotation = {1.0, 0.0, 0.0, 0.0}};
}

// ---- the path -----------------------------------------------------------------------------------

static const mf_DockGroup *group_of(const mf_WorldDocks *docks, uint32_t robot) {
    const mf_DockGroup *group = docks->groups;
    while (robot >= group->first_robot + group->robots)
        group = group->next;
    return group;
}

static const mf_DockGroup *find_group(const mf_WorldDocks *docks, const mf_Group *group) {
    const mf_DockGroup *found = docks->groups;
    while (found != NULL && found->group != group)
        found = found->next;
    return found;
}

// Breadth first, so with the fewest docks; in the order of docks.
static void find_hops(const mf_WorldDocks *docks, uint32_t root, Hop *hops, uint32_t *queue) {
    uint32_t end = 1;
    for (uint32_t i = 0; i < docks->robot_count; i++)
        hops[i].from = MF_NONE;
    hops[root].from = queue[0] = root;
    for (uint32_t n = 0; n < end; n++) {
        const mf_DockGroup *group = group_of(docks, queue[n]);
        const uint32_t instance = queue[n] - group->first_robot;
        for (uint32_t d = 0; d < group->model->dock_count; d++) {
            const uint32_t *partner = group->partner;
            if (group->state[mf_dock_at(group, instance, d, 1, 0)] != MF_DOCK_ENGAGED)
                continue;
            const mf_DockGroup *other =
                mf_docks_group(docks, partner[mf_dock_at(group, instance, d, 3, 0)]);
            const uint32_t robot =
                other->first_robot + partner[mf_dock_at(group, instance, d, 3, 1)];
            if (hops[robot].from != MF_NONE)
                continue;
            hops[robot] = (Hop){queue[n], d, partner[mf_dock_at(group, instance, d, 3, 2)], 0};
            queue[end++] = robot;
        }
    }
}

// ---- links and joints ---------------------------------------------------------------------------

static mf_Status add_joint(Chain *c, const mf_DockGroup *group, uint32_t instance, uint32_t number,
                           bool back) {
    const mf_Joint *from = &group->model->joints[number];
    char name[400];
    if (!mf_joint_moves(from)) {
        (back ? advance_back : advance)(&c->at, from->position, from->rotation);
        return MF_OK;
    }
    snprintf(name, sizeof name, "%s[%u]/%s", mf_group_config_of(group->group)->name, instance,
             from->name);
    if (!mf_joint_has_motor(from))
        return mf_fail(c->error, MF_UNSUPPORTED, "chain: %s is no hinge or slide of its own", name);
    MF_CHECK(c->count < c->capacity, c->error, MF_LIMIT, "chain: more than %u joints", c->capacity);
    if (!back)
        advance(&c->at, from->position, from->rotation);
    mf_Joint *joint = mf_draft_add_joint(&c->draft, name, from->type);
    if (joint == NULL || mf_draft_add_link(&c->draft, name) == NULL)
        return mf_fail(c->error, MF_NO_MEMORY, "chain: out of memory");
    joint->parent = c->count;
    joint->child = c->count + 1;
    memcpy(joint->position, c->at.position, sizeof joint->position);
    memcpy(joint->rotation, c->at.rotation, sizeof joint->rotation);
    mf_vec3_scale(joint->axis, from->axis, back ? -1.0 : 1.0);
    joint->lower = from->lower;
    joint->upper = from->upper;
    joint->speed = from->speed;
    joint->reference = from->reference;
    c->joints[c->count++] = (mf_ChainJoint){group->group, instance, number};
    c->at = still();
    if (back)
        advance_back(&c->at, from->position, from->rotation);
    return MF_OK;
}

static uint32_t parent_of(const mf_Model *model, uint32_t link) {
    return model->joints[model->links[link].joint].parent;
}

static bool is_above(const mf_Model *model, uint32_t upper, uint32_t link) {
    while (link != upper && link != 0)
        link = parent_of(model, link);
    return link == upper;
}

// From one link of a robot to another: up to the nearest common ancestor, then down.
static mf_Status pass(Chain *c, const mf_DockGroup *group, uint32_t instance, uint32_t from,
                      uint32_t to) {
    const mf_Model *model = group->model;
    for (; !is_above(model, from, to); from = parent_of(model, from))
        MF_TRY(add_joint(c, group, instance, model->links[from].joint, true));
    while (from != to) {
        uint32_t next = to;
        while (parent_of(model, next) != from)
            next = parent_of(model, next);
        MF_TRY(add_joint(c, group, instance, model->links[next].joint, false));
        from = next;
    }
    return MF_OK;
}

// From a dock to the link of its partner.
static void cross(Chain *c, const mf_DockGroup *group, uint32_t instance, uint32_t exit,
                  const mf_Dock *entry) {
    const double origin[3] = {0.0, 0.0, 0.0};
    const mf_Dock *dock = &group->model->docks[exit];
    double facing[4];
    mf_dock_facing(facing, group->orientation[mf_dock_at(group, instance, exit, 1, 0)],
                   mf_dock_orientations(dock, entry));
    advance(&c->at, dock->frame.position, dock->frame.rotation);
    advance(&c->at, origin, facing);
    advance_back(&c->at, entry->frame.position, entry->frame.rotation);
}

static mf_Status follow(Chain *c, Hop *hops, uint32_t root, uint32_t tip, uint32_t dock) {
    for (uint32_t robot = tip; robot != root; robot = hops[robot].from)
        hops[hops[robot].from].next = robot;
    for (uint32_t robot = root, link = 0;; robot = hops[robot].next) {
        const mf_DockGroup *group = group_of(c->docks, robot);
        const uint32_t instance = robot - group->first_robot;
        const uint32_t exit = robot == tip ? dock : hops[hops[robot].next].exit;
        MF_TRY(pass(c, group, instance, link, group->model->docks[exit].frame.link));
        if (robot == tip) {
            const mf_Frame *frame = &group->model->docks[dock].frame;
            advance(&c->at, frame->position, frame->rotation);
            return MF_OK;
        }
        const mf_DockGroup *other = group_of(c->docks, hops[robot].next);
        const mf_Dock *entry = &other->model->docks[hops[hops[robot].next].entry];
        cross(c, group, instance, exit, entry);
        link = entry->frame.link;
    }
}

// ---- the call -----------------------------------------------------------------------------------

static mf_Status make(Chain *c, Hop *hops, uint32_t root, uint32_t tip, uint32_t dock,
                      mf_Model **model) {
    if (mf_draft_add_link(&c->draft, "base") == NULL)
        return mf_fail(c->error, MF_NO_MEMORY, "chain: out of memory");
    MF_TRY(follow(c, hops, root, tip, dock));
    MF_CHECK(c->count > 0, c->error, MF_UNSUPPORTED, "chain: no joint is between base and dock");
    return mf_draft_freeze(&c->draft, model, c->error);
}

mf_Status mf_docks_chain(const mf_WorldDocks *docks, mf_Group *root, uint32_t instance,
                         const mf_DockPort *tip, mf_ChainJoint *joints, uint32_t capacity,
                         mf_Model **model, mf_Frame *end, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(docks != NULL && tip != NULL && joints != NULL && model != NULL && end != NULL, error,
            "mf_docks_chain: an argument is NULL");
    *model = NULL;
    const mf_DockGroup *first = find_group(docks, root), *last = find_group(docks, tip->group);
    MF_NEED(first != NULL && instance < first->robots && last != NULL &&
                tip->instance < last->robots && tip->dock < last->model->dock_count,
            error, "chain: no such robot or dock");
    Hop *hops;
    uint32_t *queue;
    const mf_Array arrays[] = {MF_ARRAY(hops, docks->robot_count),
                               MF_ARRAY(queue, docks->robot_count)};
    MF_NEED_MEMORY(mf_allocate_arrays(docks->context, arrays, 2), error, "chain");
    const uint32_t from = first->first_robot + instance, to = last->first_robot + tip->instance;
    find_hops(docks, from, hops, queue);
    Chain c = {
        .docks = docks, .at = still(), .joints = joints, .capacity = capacity, .error = error};
    mf_draft_start(&c.draft, docks->context);
    c.draft.name = "chain";
    c.draft.file = "";
    c.draft.error = error;
    c.draft.base_type = MF_BASE_FIXED;
    c.draft.weightless = c.draft.own_mass = true;
    mf_Status status = hops[to].from != MF_NONE
                           ? make(&c, hops, from, to, tip->dock, model)
                           : mf_fail(error, MF_NOT_FOUND, "chain: no docks connect the two robots");
    end->link = c.count;
    memcpy(end->position, c.at.position, sizeof end->position);
    memcpy(end->rotation, c.at.rotation, sizeof end->rotation);
    mf_draft_release(&c.draft);
    mf_release(docks->context, hops);
    return status;
}
