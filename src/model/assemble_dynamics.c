// The half of a frozen model that only full dynamics reads: every list is copied into the model's
// block with draft indices replaced, names behind them, and addresses counted.
#include "model/assemble.h"

#include "math/scalar.h"

#include <string.h>

uint32_t mf_joint_positions(mf_JointType type) {
    static const uint32_t counts[] = {1, 1, 4, 0, 7, 0};
    return counts[type];
}

uint32_t mf_joint_velocities(mf_JointType type) {
    static const uint32_t counts[] = {1, 1, 3, 0, 6, 0};
    return counts[type];
}

uint32_t mf_draft_position_count(const mf_Draft *draft) {
    uint32_t count = draft->base_type == MF_BASE_FREE ? 7 : 0;
    for (uint32_t i = 0; i < draft->joints.count; i++)
        count += mf_joint_positions(mf_draft_joints(draft)[i].type);
    return count;
}

// Room for a list; the items are copied as they are.
static void *copy_list(mf_Block *block, const mf_List *list, size_t item_size) {
    void *items = mf_block_take(block, list->count, item_size);
    if (block->base != NULL && list->count > 0)
        memcpy(items, list->items, list->count * item_size);
    return items;
}

static mf_Frame new_frame(const mf_Order *order, mf_Frame frame) {
    frame.link = mf_order_link(order, frame.link);
    return frame;
}

static void set_addresses(mf_Model *model) {
    mf_Joint *joints = (mf_Joint *)model->joints;
    bool is_free = model->base == MF_BASE_FREE;
    model->position_count = is_free ? 7 : 0;
    model->velocity_count = is_free ? 6 : 0;
    for (uint32_t i = 0; i < model->joint_count; i++) {
        joints[i].position_address = model->position_count;
        joints[i].velocity_address = model->velocity_count;
        model->position_count += mf_joint_positions(joints[i].type);
        model->velocity_count += mf_joint_velocities(joints[i].type);
    }
    mf_Sensor *sensors = (mf_Sensor *)model->sensors;
    for (uint32_t i = 0; i < model->sensor_count; i++) {
        sensors[i].address = model->sensor_value_count;
        model->sensor_value_count += sensors[i].count;
    }
}

static void fill_start(const mf_Draft *draft, mf_Block *block, mf_Model *model) {
    double *start = mf_block_take(block, mf_draft_position_count(draft), sizeof *start);
    if (model == NULL)
        return;
    model->start_position = start;
    if (draft->start_position != NULL) {
        memcpy(start, draft->start_position, model->position_count * sizeof *start);
        return;
    }
    for (uint32_t i = 0; i < model->position_count; i++)
        start[i] = 0.0;
    if (model->base == MF_BASE_FREE)
        start[3] = 1.0;
    for (uint32_t i = 0; i < model->joint_count; i++) {
        const mf_Joint *joint = &model->joints[i];
        double *value = start + joint->position_address;
        if (joint->type == MF_JOINT_HINGE || joint->type == MF_JOINT_SLIDE)
            value[0] = joint->reference;
        else if (joint->type == MF_JOINT_BALL)
            value[0] = 1.0;
        else if (joint->type == MF_JOINT_FLOATING)
            value[3] = 1.0;
    }
}

static void fill_root(const mf_Draft *draft, mf_Block *block, mf_Model *model) {
    if (draft->root.type != MF_JOINT_FLOATING)
        return;
    mf_Joint *root = mf_block_take(block, 1, sizeof *root);
    const char *name = mf_block_text(block, draft->root.name);
    if (model == NULL)
        return;
    *root = draft->root;
    root->name = name;
    model->root = root;
}

static void fill_bodies(const mf_Draft *draft, const mf_Order *order, mf_Block *block,
                        mf_Model *model) {
    mf_Body *bodies = copy_list(block, &draft->bodies, sizeof *bodies);
    mf_Site *sites = copy_list(block, &draft->sites, sizeof *sites);
    for (uint32_t i = 0; i < draft->bodies.count; i++) {
        const char *name = mf_block_text(block, ((mf_Body *)draft->bodies.items)[i].name);
        if (model == NULL)
            continue;
        bodies[i].name = name;
        bodies[i].link = mf_order_link(order, bodies[i].link);
    }
    for (uint32_t i = 0; i < draft->sites.count; i++) {
        const char *name = mf_block_text(block, ((mf_Site *)draft->sites.items)[i].name);
        if (model == NULL)
            continue;
        sites[i].name = name;
        sites[i].frame = new_frame(order, sites[i].frame);
    }
    if (model == NULL)
        return;
    model->bodies = bodies;
    model->body_count = draft->bodies.count;
    model->sites = sites;
    model->site_count = draft->sites.count;
}

static void fill_contacts(const mf_Draft *draft, mf_Block *block, mf_Model *model) {
    mf_HeightField *heights = copy_list(block, &draft->heights, sizeof *heights);
    mf_ContactPair *pairs = copy_list(block, &draft->pairs, sizeof *pairs);
    mf_ContactExclusion *exclusions = copy_list(block, &draft->exclusions, sizeof *exclusions);
    for (uint32_t i = 0; i < draft->heights.count; i++) {
        const mf_HeightField *field = &((mf_HeightField *)draft->heights.items)[i];
        const char *name = mf_block_text(block, field->name);
        const char *path = mf_block_text(block, field->path);
        if (model != NULL) {
            heights[i].name = name;
            heights[i].path = path;
        }
    }
    for (uint32_t i = 0; i < draft->pairs.count; i++) {
        const char *name = mf_block_text(block, ((mf_ContactPair *)draft->pairs.items)[i].name);
        if (model != NULL)
            pairs[i].name = name;
    }
    for (uint32_t i = 0; i < draft->exclusions.count; i++) {
        const mf_ContactExclusion *from = draft->exclusions.items;
        const char *name = mf_block_text(block, from[i].name);
        if (model != NULL)
            exclusions[i].name = name;
    }
    if (model == NULL)
        return;
    model->height_fields = heights;
    model->height_field_count = draft->heights.count;
    model->pairs = pairs;
    model->pair_count = draft->pairs.count;
    model->exclusions = exclusions;
    model->exclusion_count = draft->exclusions.count;
}

static void fill_tendons(const mf_Draft *draft, const mf_Order *order, mf_Block *block,
                         mf_Model *model) {
    mf_Tendon *tendons = copy_list(block, &draft->tendons, sizeof *tendons);
    mf_TendonTerm *terms = copy_list(block, &draft->terms, sizeof *terms);
    mf_TendonWrap *wraps = copy_list(block, &draft->wraps, sizeof *wraps);
    for (uint32_t i = 0; i < draft->tendons.count; i++) {
        const char *name = mf_block_text(block, ((mf_Tendon *)draft->tendons.items)[i].name);
        if (model != NULL)
            tendons[i].name = name;
    }
    if (model == NULL)
        return;
    for (uint32_t i = 0; i < draft->terms.count; i++)
        terms[i].joint = order->new_joint[terms[i].joint];
    for (uint32_t i = 0; i < draft->wraps.count; i++) {
        wraps[i].frame = new_frame(order, wraps[i].frame);
        if (wraps[i].side_link != MF_NONE)
            wraps[i].side_link = order->new_link[wraps[i].side_link];
    }
    model->tendon_wraps = wraps;
    model->tendon_wrap_count = draft->wraps.count;
    model->tendons = tendons;
    model->tendon_count = draft->tendons.count;
    model->tendon_terms = terms;
    model->tendon_term_count = draft->terms.count;
}

static void fill_equalities(const mf_Draft *draft, const mf_Order *order, mf_Block *block,
                            mf_Model *model) {
    mf_Equality *items = copy_list(block, &draft->equalities, sizeof *items);
    for (uint32_t i = 0; i < draft->equalities.count; i++) {
        const mf_Equality *from = &((mf_Equality *)draft->equalities.items)[i];
        const char *name = mf_block_text(block, from->name);
        if (model == NULL)
            continue;
        items[i].name = name;
        for (int side = 0; side < 2; side++) {
            items[i].frames[side] = new_frame(order, from->frames[side]);
            if (from->type == MF_EQUALITY_JOINT)
                items[i].objects[side] = mf_order_joint(order, from->objects[side]);
        }
    }
    if (model == NULL)
        return;
    model->equalities = items;
    model->equality_count = draft->equalities.count;
}

static void fill_actuators(const mf_Draft *draft, const mf_Order *order, mf_Block *block,
                           mf_Model *model) {
    mf_Actuator *items = copy_list(block, &draft->actuators, sizeof *items);
    uint32_t activations = 0;
    for (uint32_t i = 0; i < draft->actuators.count; i++) {
        const mf_Actuator *from = &((mf_Actuator *)draft->actuators.items)[i];
        const char *name = mf_block_text(block, from->name);
        if (model == NULL)
            continue;
        items[i].name = name;
        items[i].joint = mf_order_joint(order, from->joint);
        items[i].frame = new_frame(order, from->frame);
        items[i].reference = new_frame(order, from->reference);
        items[i].activation_address = from->dynamics == MF_DYNAMICS_NONE ? MF_NONE : activations++;
    }
    if (model == NULL)
        return;
    model->actuators = items;
    model->actuator_count = draft->actuators.count;
    model->activation_count = activations;
}

static double *copy_numbers(mf_Block *block, const double *numbers, size_t count) {
    double *copy = mf_block_take(block, count, sizeof *copy);
    if (block->base != NULL && count > 0)
        memcpy(copy, numbers, count * sizeof *copy);
    return copy;
}

// As MuJoCo makes those of a keyframe: of length 1, a zero becomes no turn.
static void make_unit(double *turn) {
    if (!mf_quat_normalize(turn))
        mf_quat_identity(turn);
}

static void make_turns_unit(const mf_Model *model, double *position) {
    if (model->base == MF_BASE_FREE)
        make_unit(position + 3);
    for (uint32_t i = 0; i < model->joint_count; i++) {
        const mf_Joint *joint = &model->joints[i];
        if (joint->type == MF_JOINT_BALL || joint->type == MF_JOINT_FLOATING)
            make_unit(position + joint->position_address +
                      (joint->type == MF_JOINT_FLOATING ? 3 : 0));
    }
}

static void fill_keyframes(const mf_Draft *draft, mf_Block *block, mf_Model *model) {
    mf_Keyframe *items = copy_list(block, &draft->keyframes, sizeof *items);
    uint32_t positions = mf_draft_position_count(draft), activations = 0;
    uint32_t velocities = draft->base_type == MF_BASE_FREE ? 6 : 0;
    for (uint32_t i = 0; i < draft->joints.count; i++)
        velocities += mf_joint_velocities(mf_draft_joints(draft)[i].type);
    for (uint32_t i = 0; i < draft->actuators.count; i++)
        activations += ((mf_Actuator *)draft->actuators.items)[i].dynamics != MF_DYNAMICS_NONE;
    for (uint32_t i = 0; i < draft->keyframes.count; i++) {
        const mf_Keyframe *from = &((mf_Keyframe *)draft->keyframes.items)[i];
        mf_Keyframe to = {.name = mf_block_text(block, from->name), .time = from->time};
        double *position = copy_numbers(block, from->position, positions);
        to.position = position;
        to.velocity = copy_numbers(block, from->velocity, velocities);
        to.activation = copy_numbers(block, from->activation, activations);
        to.control = copy_numbers(block, from->control, draft->actuators.count);
        if (model == NULL)
            continue;
        make_turns_unit(model, position);
        items[i] = to;
    }
    if (model == NULL)
        return;
    model->keyframes = items;
    model->keyframe_count = draft->keyframes.count;
}

void mf_assemble_dynamics(const mf_Draft *draft, const mf_Order *order, mf_Block *block,
                          mf_Model *model) {
    if (model != NULL) {
        model->base = draft->base_type;
        model->physics = draft->physics;
        set_addresses(model);
    }
    fill_start(draft, block, model);
    fill_root(draft, block, model);
    fill_bodies(draft, order, block, model);
    fill_contacts(draft, block, model);
    fill_tendons(draft, order, block, model);
    fill_equalities(draft, order, block, model);
    fill_actuators(draft, order, block, model);
    fill_keyframes(draft, block, model);
}
