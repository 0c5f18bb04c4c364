// Freezes a draft into a model: one block of memory with all arrays and texts (meshes keep their
// own buffers), links in depth-first order, all derived values computed once.
//
// Invariants of a frozen model: joint i moves link i + 1; a parent's index is smaller than its
// child's; points are sorted by link; a joint that others mimic does not mimic another; all numbers
// are finite except unlimited ranges, speeds and efforts.
#include "model/assemble.h"

#include "math/scalar.h"
#include "model/points.h"

#include <string.h>

void *mf_block_take(mf_Block *block, size_t count, size_t size) {
    block->used = (block->used + 15) & ~(size_t)15;
    void *memory = block->base ? block->base + block->used : NULL;
    block->used += count * size;
    return memory;
}

const char *mf_block_text(mf_Block *block, const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = block->base ? memcpy(block->base + block->used, text, size) : NULL;
    block->used += size;
    return copy;
}

// All numbers except those that are unlimited by default.
static bool is_finite_joint(const mf_Joint *joint) {
    const mf_ItemTable *table = mf_item_table(MF_ITEM_JOINT);
    bool finite = true;
    for (const mf_ModelField *f = table->fields; f < table->fields + table->count; f++)
        if (f->type == MF_VALUE_REAL && (f->initial == NULL || mf_is_finite(f->initial[0])))
            finite = finite && mf_all_finite(mf_field_at(f, joint), f->count);
    return finite;
}

static mf_Status check_joint(const mf_Draft *draft, const mf_Joint *joint, mf_Error *error) {
    const char *name = joint->name;
    if (!is_finite_joint(joint))
        return mf_fail_at(error, MF_BAD_ARGUMENT, draft->file, 0, 0,
                          "joint '%s': all numbers must be finite", name);
    if (!(joint->lower <= joint->upper))
        return mf_fail_at(error, MF_BAD_ARGUMENT, draft->file, 0, 0,
                          "joint '%s': need lower <= upper, found %g and %g", name, joint->lower,
                          joint->upper);
    if (!(joint->speed > 0.0) || !(joint->effort >= 0.0))
        return mf_fail_at(error, MF_BAD_ARGUMENT, draft->file, 0, 0,
                          "joint '%s': need speed > 0 and effort >= 0, found %g and %g", name,
                          joint->speed, joint->effort);
    if (joint->mimic != MF_NONE && mf_draft_joints(draft)[joint->mimic].mimic != MF_NONE)
        return mf_fail_at(error, MF_BAD_ARGUMENT, draft->file, 0, 0,
                          "joint '%s': follows a joint that follows another one", name);
    return MF_OK;
}

static mf_Status check_draft(const mf_Draft *draft, mf_Error *error) {
    if (draft->links.count == 0)
        return mf_fail_at(error, MF_BAD_ARGUMENT, draft->file, 0, 0, "the robot has no link");
    if (draft->links.count > MF_MODEL_LINK_LIMIT || draft->points.count > MF_MODEL_POINT_LIMIT)
        return mf_fail_at(error, MF_LIMIT, draft->file, 0, 0,
                          "at most %u links and %u points, found %u and %u", MF_MODEL_LINK_LIMIT,
                          MF_MODEL_POINT_LIMIT, draft->links.count, draft->points.count);
    for (uint32_t i = 0; i < draft->joints.count; i++) {
        MF_TRY(check_joint(draft, &mf_draft_joints(draft)[i], error));
    }
    for (uint32_t i = 0; i < draft->points.count; i++) {
        const mf_Point *point = &mf_draft_points(draft)[i];
        if (!mf_all_finite(point->position, 3) || !mf_is_finite(point->mass) || point->mass < 0.0)
            return mf_fail_at(error, MF_BAD_ARGUMENT, draft->file, 0, 0,
                              "link '%s': points need finite positions and masses >= 0",
                              mf_draft_links(draft)[point->link].name);
    }
    return MF_OK;
}

// Depth-first order from the base; false when a link cannot be reached from it.
static bool order_links(const mf_Draft *draft, mf_Order *order) {
    const mf_Joint *joints = mf_draft_joints(draft);
    uint32_t count = draft->links.count;
    for (uint32_t i = 0; i < count; i++)
        order->first_child[i] = order->next_sibling[i] = order->new_link[i] = order->moved_by[i] =
            MF_NONE;
    for (uint32_t i = draft->joints.count; i-- > 0;) {
        if (order->moved_by[joints[i].child] != MF_NONE || joints[i].child == draft->base)
            return false;
        order->moved_by[joints[i].child] = i;
        order->next_sibling[joints[i].child] = order->first_child[joints[i].parent];
        order->first_child[joints[i].parent] = joints[i].child;
    }
    uint32_t link = draft->base, placed = 0;
    for (;;) {
        if (placed == count || order->new_link[link] != MF_NONE)
            return false;
        order->new_link[link] = placed;
        order->link_at[placed++] = link;
        if (order->first_child[link] != MF_NONE) {
            link = order->first_child[link];
            continue;
        }
        while (link != draft->base && order->next_sibling[link] == MF_NONE)
            link = joints[order->moved_by[link]].parent;
        if (link == draft->base)
            break;
        link = order->next_sibling[link];
    }
    if (placed != count)
        return false;
    for (uint32_t i = 1; i < count; i++)
        order->new_joint[order->moved_by[order->link_at[i]]] = i - 1;
    return true;
}

static void order_points(const mf_Draft *draft, mf_Order *order) {
    const mf_Point *points = mf_draft_points(draft);
    for (uint32_t i = 0; i < draft->points.count; i++)
        order->point_start[order->new_link[points[i].link] + 1]++;
    for (uint32_t i = 0; i < draft->links.count; i++)
        order->point_start[i + 1] += order->point_start[i];
}

static void fill_links(const mf_Draft *draft, const mf_Order *order, mf_Block *block,
                       mf_Model *model) {
    mf_Link *links = mf_block_take(block, draft->links.count, sizeof *links);
    mf_Joint *joints = mf_block_take(block, draft->joints.count, sizeof *joints);
    if (model) {
        model->links = links;
        model->joints = joints;
    }
    for (uint32_t i = 0; i < draft->links.count; i++) {
        const mf_Link *link = &mf_draft_links(draft)[order->link_at[i]];
        const mf_Joint *joint =
            i > 0 ? &mf_draft_joints(draft)[order->moved_by[order->link_at[i]]] : NULL;
        const char *link_name = mf_block_text(block, link->name);
        const char *joint_name = joint ? mf_block_text(block, joint->name) : NULL;
        if (model == NULL)
            continue;
        links[i] = *link;
        links[i].name = link_name;
        links[i].parent = joint ? order->new_link[joint->parent] : MF_NONE;
        links[i].joint = joint ? i - 1 : MF_NONE;
        if (joint == NULL)
            continue;
        joints[i - 1] = *joint;
        joints[i - 1].name = joint_name;
        joints[i - 1].parent = links[i].parent;
        joints[i - 1].child = i;
        if (joint->mimic != MF_NONE)
            joints[i - 1].mimic = order->new_joint[joint->mimic];
    }
}

static void fill_points(const mf_Draft *draft, const mf_Order *order, mf_Block *block,
                        mf_Model *model) {
    mf_Point *points = mf_block_take(block, draft->points.count, sizeof *points);
    if (model == NULL)
        return;
    model->points = points;
    for (uint32_t i = 0; i < draft->points.count; i++) {
        const mf_Point *point = &mf_draft_points(draft)[i];
        uint32_t link = order->new_link[point->link];
        mf_Point *copy = &points[order->point_start[link]++];
        *copy = *point;
        copy->link = link;
    }
    mf_Link *links = (mf_Link *)model->links;
    for (uint32_t i = 0; draft->own_mass && i < model->link_count; i++)
        model->mass += links[i].mass;
    for (uint32_t i = 0, start = 0; !draft->own_mass && i < model->link_count; i++) {
        uint32_t end = order->point_start[i]; // it was advanced past the link's last point
        mf_MassProperties body = mf_mass_of_points(points + start, end - start, MF_NONE);
        links[i].mass = body.mass;
        mf_vec3_copy(links[i].center, body.center);
        if (!draft->own_inertia)
            memcpy(links[i].inertia, body.inertia, sizeof body.inertia);
        model->mass += body.mass;
        start = end;
    }
}

// Texts are copied into the block, and links and joints get their new indices; `to` is NULL while
// measuring.
static void move_item(const mf_Order *order, mf_Block *block, mf_ItemType item, const char *from,
                      char *to) {
    const mf_ItemTable *table = mf_item_table(item);
    for (const mf_ModelField *f = table->fields; f < table->fields + table->count; f++)
        for (size_t at = f->offset; at < f->offset + f->size; at += f->size / f->count) {
            const uint32_t *index = (const void *)(from + at);
            if (f->type == MF_VALUE_ITEM) {
                move_item(order, block, f->item, from + at, to ? to + at : NULL);
            } else if (f->type == MF_VALUE_TEXT) {
                const char *text = *(const char *const *)(const void *)(from + at);
                text = text != NULL ? mf_block_text(block, text) : NULL;
                if (to != NULL)
                    memcpy(to + at, &text, sizeof text);
            } else if (f->type == MF_VALUE_INDEX && to != NULL && f->item == MF_ITEM_LINK) {
                *(uint32_t *)(void *)(to + at) = mf_order_link(order, *index);
            } else if (f->type == MF_VALUE_INDEX && to != NULL && f->item == MF_ITEM_JOINT) {
                *(uint32_t *)(void *)(to + at) = mf_order_joint(order, *index);
            }
        }
}

// Everything that keeps its order.
static void fill_lists(const mf_Draft *draft, const mf_Order *order, mf_Block *block,
                       mf_Model *model) {
    const mf_ItemTable *models = mf_item_table(MF_ITEM_MODEL);
    for (const mf_ModelField *f = models->fields; f < models->fields + models->count; f++) {
        if (f->type != MF_VALUE_LIST || f->item == MF_ITEM_LINK || f->item == MF_ITEM_JOINT ||
            f->item == MF_ITEM_POINT || f->item == MF_ITEM_KEYFRAME)
            continue;
        const mf_List *list = mf_draft_list(draft, f->item);
        const size_t size = mf_item_table(f->item)->size, all = list->count * size;
        char *items = mf_block_take(block, list->count, size);
        if (model != NULL && list->count > 0)
            memcpy(items, list->items, all);
        for (size_t at = 0; at < all; at += size)
            move_item(order, block, f->item, (const char *)list->items + at,
                      model ? items + at : NULL);
        if (model == NULL)
            continue;
        memcpy((char *)model + f->offset, &items, sizeof items);
        memcpy((char *)model + f->length, &list->count, sizeof list->count);
    }
}

// Takes the parts of the model from the block, in the same order whether measuring or filling.
static void fill_model(const mf_Draft *draft, const mf_Order *order, mf_Block *block,
                       mf_Model *model) {
    double *start_angle = mf_block_take(block, draft->joints.count, sizeof *start_angle);
    const char *name = mf_block_text(block, draft->name);
    const char *file = mf_block_text(block, draft->file);
    if (model) {
        model->start_angle = start_angle;
        model->name = name;
        model->file = file;
        model->context = draft->context;
        model->link_count = draft->links.count;
        model->joint_count = draft->joints.count;
        model->point_count = draft->points.count;
    }
    fill_links(draft, order, block, model);
    fill_points(draft, order, block, model);
    fill_lists(draft, order, block, model);
    mf_assemble_dynamics(draft, order, block, model);
}

// A joint of a URDF file whose range is without 0 starts at the nearer end; MJCF joints start at
// their reference, in or out of range, as MuJoCo's do.
static void find_start_angles(mf_Model *model) {
    double *angle = (double *)model->start_angle;
    for (uint32_t i = 0; i < model->joint_count; i++) {
        const mf_Joint *joint = &model->joints[i];
        angle[i] = model->body_count > 0 ? joint->reference
                                         : mf_clamp(joint->reference, joint->lower, joint->upper);
    }
    for (uint32_t i = 0; i < model->joint_count; i++) {
        const mf_Joint *joint = &model->joints[i];
        if (joint->mimic != MF_NONE)
            angle[i] = joint->multiplier * angle[joint->mimic] + joint->offset;
    }
}

// The base height at which the lowest contact point is on the ground; 0 without contact points.
// False when out of memory.
static bool find_rest_height(mf_Model *model) {
    double(*position)[3] = mf_allocate(model->context, model->link_count, sizeof *position);
    double(*rotation)[4] = mf_allocate(model->context, model->link_count, sizeof *rotation);
    bool ready = position != NULL && rotation != NULL;
    if (ready) {
        mf_model_pose(model, model->start_angle, position, rotation);
        bool found = false;
        for (uint32_t i = 0; i < model->point_count; i++) {
            const mf_Point *point = &model->points[i];
            if (!(point->flags & MF_POINT_COLLIDES))
                continue;
            double point_position[3];
            mf_quat_rotate(point_position, rotation[point->link], point->position);
            double height = 0.0 - (point_position[2] + position[point->link][2]);
            if (!found || height > model->rest_height)
                model->rest_height = height;
            found = true;
        }
    }
    mf_release(model->context, position);
    mf_release(model->context, rotation);
    return ready;
}

static mf_Status build(mf_Draft *draft, mf_Order *order, mf_Model **out, mf_Error *error) {
    if (!order_links(draft, order))
        return mf_fail_at(error, MF_BAD_ARGUMENT, draft->file, 0, 0,
                          "the links do not form one tree below '%s'",
                          mf_draft_links(draft)[draft->base].name);
    order_points(draft, order);
    mf_Block block = {NULL, sizeof(mf_Model)};
    fill_model(draft, order, &block, NULL);
    block.base = mf_allocate(draft->context, 1, block.used);
    if (block.base == NULL)
        return mf_fail(error, MF_NO_MEMORY, "model '%s': no memory", draft->name);
    mf_Model *model = (mf_Model *)(void *)block.base;
    block.used = sizeof *model;
    fill_model(draft, order, &block, model);
    mf_Status status = MF_OK;
    const bool scenery = model->base == MF_BASE_FIXED && model->joint_count == 0;
    if (!(model->mass > 0.0 || ((scenery || draft->weightless) && model->mass == 0.0)) ||
        !mf_is_finite(model->mass))
        status = mf_fail_at(error, MF_BAD_ARGUMENT, draft->file, 0, 0,
                            "model '%s': the total mass must be > 0, found %g kg", draft->name,
                            model->mass);
    find_start_angles(model);
    if (status == MF_OK && model->base == MF_BASE_FREE && !find_rest_height(model))
        status = mf_fail(error, MF_NO_MEMORY, "model '%s': no memory", draft->name);
    if (status == MF_OK && !mf_is_finite(model->rest_height))
        status = mf_fail_at(error, MF_BAD_ARGUMENT, draft->file, 0, 0,
                            "model '%s': too large, its points overflow", draft->name);
    if (status != MF_OK) {
        mf_release(draft->context, model);
        return status;
    }
    draft->meshes.count = 0; // their buffers belong to the model now
    draft->heights.count = 0;
    draft->textures.count = 0;
    *out = model;
    return MF_OK;
}

mf_Status mf_draft_freeze(mf_Draft *draft, mf_Model **out, mf_Error *error) {
    *out = NULL;
    MF_TRY(check_draft(draft, error));
    size_t links = draft->links.count, joints = draft->joints.count;
    uint32_t *numbers = mf_allocate(draft->context, 6 * links + joints + 1, sizeof *numbers);
    if (numbers == NULL)
        return mf_fail(error, MF_NO_MEMORY, "model '%s': no memory", draft->name);
    mf_Order order = {.link_at = numbers,
                      .new_link = numbers + links,
                      .first_child = numbers + 2 * links,
                      .next_sibling = numbers + 3 * links,
                      .moved_by = numbers + 4 * links,
                      .point_start = numbers + 5 * links,
                      .new_joint = numbers + 6 * links + 1};
    mf_Status status = build(draft, &order, out, error);
    mf_release(draft->context, numbers);
    return status;
}
