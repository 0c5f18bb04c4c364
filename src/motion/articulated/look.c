// The host's side of look.h: which contacts and tendons the sensors of a model are about.
#include "motion/articulated/look.h"
#include "math/kernel_table.h"

#include "motion/articulated/build.h"
#include "motion/articulated/host.h"
#include "math/scalar.h"
#include "world/attach.h"

#include <string.h>

// ---- which contacts a sensor is about -----------------------------------------------------------

static bool carried(const mf_Model *model, uint32_t body, uint32_t root) {
    while (body != root && body != MF_NONE)
        body = model->bodies[body].parent;
    return body == root;
}

// Whether one side of a query is about a shape of a contact or, with `ground`, about the ground:
// the level planes of the file that `shape` may touch, and the world.
static bool side_matches(const mf_Model *model, const mf_ContactQuery *query, int side,
                         uint32_t shape, bool ground) {
    const uint32_t object = query->objects[side];
    const uint32_t body = ground ? MF_NONE : model->shapes[shape].body;
    mf_CollidePair pair;
    switch (query->sides[side]) {
    case MF_CONTACT_SIDE_ANY:
        return true;
    case MF_CONTACT_SIDE_BODY:
        return body == object;
    case MF_CONTACT_SIDE_SUBTREE:
        return carried(model, body, object);
    case MF_CONTACT_SIDE_SHAPE:
        break;
    }
    if (!ground)
        return shape == object;
    return object != MF_NONE && mf_art_is_ground(&model->shapes[object]) &&
           mf_collide_match(model, shape, object, &pair);
}

// Of a contact whose normal goes from its first shape (or the ground) to its second.
static int8_t sign_of(const mf_Model *model, const mf_ContactQuery *query, uint32_t first,
                      bool ground, uint32_t second) {
    const uint32_t other = ground ? second : first;
    const bool plain = side_matches(model, query, 0, other, ground) &&
                       side_matches(model, query, 1, second, false);
    const bool turned = side_matches(model, query, 1, other, ground) &&
                        side_matches(model, query, 0, second, false);
    return plain ? 1 : turned ? -1 : 0;
}

static void fill_signs(const mf_ArtPlan *plan, const mf_Model *model, mf_ArtLook *look,
                       mf_ArtLookItem *item, int8_t *signs) {
    const uint32_t pairs = plan->collide != NULL ? plan->collide->pair_count : 0;
    item->touches = signs;
    item->pairs = signs + plan->contact_count;
    for (uint32_t i = 0; i < plan->contact_count; i++) {
        const uint32_t shape = plan->contacts[i].shape;
        signs[i] = shape != MF_NONE ? sign_of(model, &item->query, 0, true, shape) : 0;
        look->touches = look->touches || signs[i] != 0;
    }
    for (uint32_t i = 0; i < pairs; i++) {
        const mf_CollidePair *pair = &plan->collide->pairs[i];
        int8_t *sign = &signs[plan->contact_count + i];
        if (!plan->meets[i])
            continue;
        *sign = sign_of(model, &item->query, plan->collide->shapes[pair->a].shape, false,
                        plan->collide->shapes[pair->b].shape);
        look->wanted[i] = look->wanted[i] || *sign != 0;
        look->meets = look->meets || *sign != 0;
    }
}

// ---- items --------------------------------------------------------------------------------------

static bool is_path(const mf_Model *model, uint32_t tendon) {
    return tendon != MF_NONE && model->tendons[tendon].wrap_count > 0;
}

// What a sensor asks; false when it asks nothing. Points are no shapes.
static bool item_of(const mf_ArtPlan *plan, const mf_Model *model, uint32_t sensor,
                    mf_ArtLookItem *item) {
    const mf_Sensor *from = &model->sensors[sensor];
    *item = (mf_ArtLookItem){.sensor = sensor, .count = from->count, .scale = 1.0};
    item->tendon = from->tendon;
    switch (from->type) {
    case MF_SENSOR_CONTACTS:
        item->kind = MF_ART_LOOK_CONTACTS;
        item->query = from->query;
        return plan->config.shapes && from->query.slots <= MF_ARTICULATED_LOOK_SLOTS;
    case MF_SENSOR_ACTUATOR_POSITION:
    case MF_SENSOR_ACTUATOR_VELOCITY:
        item->tendon = model->actuators[from->actuator].tendon;
        item->scale = model->actuators[from->actuator].gear[0];
        item->kind =
            from->type == MF_SENSOR_ACTUATOR_POSITION ? MF_ART_LOOK_LENGTH : MF_ART_LOOK_RATE;
        return is_path(model, item->tendon);
    case MF_SENSOR_TENDON_POSITION:
    case MF_SENSOR_TENDON_VELOCITY:
        item->kind =
            from->type == MF_SENSOR_TENDON_POSITION ? MF_ART_LOOK_LENGTH : MF_ART_LOOK_RATE;
        return is_path(model, item->tendon);
    case MF_SENSOR_TENDON_LIMIT_POSITION:
    case MF_SENSOR_TENDON_LIMIT_VELOCITY:
        if (!is_path(model, item->tendon))
            return false;
        item->kind = from->type == MF_SENSOR_TENDON_LIMIT_POSITION ? MF_ART_LOOK_LIMIT_LENGTH
                                                                   : MF_ART_LOOK_LIMIT_RATE;
        item->lower = model->tendons[item->tendon].lower;
        item->upper = model->tendons[item->tendon].upper;
        item->margin = model->tendons[item->tendon].limit_margin;
        return true;
    default:
        return false;
    }
}

static mf_Status fill_look(mf_ArtPlan *plan, const mf_Model *model, uint32_t count,
                           mf_ArtLook *look, mf_Context *context, uint32_t *values,
                           mf_Error *error) {
    const uint32_t pairs = plan->collide != NULL ? plan->collide->pair_count : 0;
    const size_t signs = (size_t)plan->contact_count + pairs;
    look->items = mf_allocate(context, count, sizeof *look->items);
    look->signs = mf_allocate(context, count, signs + 1);
    look->wanted = mf_allocate(context, pairs + 1, sizeof *look->wanted);
    if (look->items == NULL || look->signs == NULL || look->wanted == NULL)
        return mf_fail(error, MF_NO_MEMORY, "articulated: out of memory");
    for (uint32_t i = 0; i < model->sensor_count; i++) {
        mf_ArtLookItem found, *item;
        if (!item_of(plan, model, i, &found))
            continue;
        item = &look->items[look->count];
        *item = found;
        item->row = *values;
        *values += item->count;
        if (item->kind == MF_ART_LOOK_CONTACTS)
            fill_signs(plan, model, look, item, look->signs + look->count * signs);
        look->count++;
    }
    for (uint32_t l = 0; l < plan->link_count; l++)
        plan->links[l].placed = true;
    return MF_OK;
}

static mf_Status prepare_look(mf_Group *group, mf_Error *error) {
    mf_ArtPlan *plan = (mf_ArtPlan *)(uintptr_t)mf_art_plan_of(group);
    const mf_Model *model = mf_group_model(group);
    mf_Context *context = mf_world_context(mf_group_world(group));
    uint32_t count = 0, values = 0;
    mf_ArtLookItem item;
    for (uint32_t i = 0; plan != NULL && i < model->sensor_count; i++)
        count += item_of(plan, model, i, &item);
    if (count == 0 || plan->look != NULL)
        return MF_OK;
    mf_ArtLook *look = mf_allocate(context, 1, sizeof *look);
    if (look == NULL)
        return mf_fail(error, MF_NO_MEMORY, "articulated: out of memory");
    mf_Status status = fill_look(plan, model, count, look, context, &values, error);
    if (status == MF_OK)
        status = mf_art_add_row(group, plan, MF_ART_ROW_LOOK, values, error);
    if (status != MF_OK) {
        mf_art_look_destroy(context, look);
        return status;
    }
    plan->look = look;
    return MF_OK;
}

void mf_art_look_destroy(mf_Context *context, mf_ArtLook *look) {
    if (look == NULL)
        return;
    mf_release(context, look->items);
    mf_release(context, look->signs);
    mf_release(context, look->wanted);
    mf_release(context, look);
}

static bool find_look(const mf_Group *group, uint32_t sensor, uint32_t *component) {
    const mf_ArtPlan *plan = mf_art_plan_of(group);
    for (uint32_t i = 0; plan != NULL && plan->look != NULL && i < plan->look->count; i++) {
        if (plan->look->items[i].sensor != sensor)
            continue;
        *component = plan->look->items[i].row;
        return true;
    }
    return false;
}

// ---- looking ------------------------------------------------------------------------------------

typedef void (*LookFn)(const mf_ArtBlock *block);

static LookFn kernel_of(const mf_Group *group, bool single) {
    static const LookFn table[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_articulated_look);
    const mf_Isa isa = mf_world_isa(mf_group_world((mf_Group *)(uintptr_t)group));
    const int row = single ? mf_kernel_row_single(isa) : mf_kernel_row(isa);
    return table[row][mf_group_settings(group)->double_precision];
}

typedef struct Looking {
    const mf_ArtPlan *plan;
    LookFn wide, one;
} Looking;

static void look_piece(const void *context, const mf_Piece *piece) {
    const Looking *looking = context;
    mf_ArtBlock work;
    mf_art_bind_block(looking->plan, piece, &work);
    (piece->single ? looking->one : looking->wide)(&work);
}

static void run_look(const mf_SystemRun *run) {
    const mf_ArtPlan *plan = mf_art_plan_of(run->group);
    if (plan == NULL || plan->look == NULL)
        return;
    const Looking looking = {plan, kernel_of(run->group, false), kernel_of(run->group, true)};
    mf_pieces_run(&plan->pieces, run, look_piece, &looking);
}

static void look_at_one(const mf_Group *group, uint32_t instance) {
    const mf_ArtPlan *plan = mf_art_plan_of(group);
    uint32_t fine = 0;
    mf_ArtBlock work;
    if (plan == NULL || plan->look == NULL)
        return;
    const mf_Piece piece = {instance / MF_BLOCK, instance % MF_BLOCK, true, &fine,
                            mf_scratch_borrow(plan->pieces.scratch)};
    mf_art_bind_block(plan, &piece, &work);
    kernel_of(group, true)(&work);
    mf_scratch_return(plan->pieces.scratch, piece.scratch);
}

const mf_Lookout mf_art_lookout = {prepare_look, find_look, run_look, look_at_one};
