// The host's side of sensing.h: which contacts and tendons the sensors of a model are about.
#include "motion/articulated/sensing.h"
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
    const bool rotated = side_matches(model, query, 1, other, ground) &&
                         side_matches(model, query, 0, second, false);
    return plain ? 1 : rotated ? -1 : 0;
}

static void fill_signs(const mf_ArtPlan *plan, const mf_Model *model, mf_ArtSensing *sensing,
                       mf_ArtSensingItem *item, int8_t *signs) {
    const uint32_t pairs = plan->collide != NULL ? plan->collide->pair_count : 0;
    item->touches = signs;
    item->pairs = signs + plan->contact_count;
    for (uint32_t i = 0; i < plan->contact_count; i++) {
        const uint32_t shape = plan->contacts[i].shape;
        signs[i] = shape != MF_NONE ? sign_of(model, &item->query, 0, true, shape) : 0;
        sensing->touches = sensing->touches || signs[i] != 0;
    }
    for (uint32_t i = 0; i < pairs; i++) {
        const mf_CollidePair *pair = &mf_collide_pairs(plan->collide)[i];
        int8_t *sign = &signs[plan->contact_count + i];
        if (!plan->pair_allowed[i])
            continue;
        *sign = sign_of(model, &item->query, mf_collide_shapes(plan->collide)[pair->a].shape, false,
                        mf_collide_shapes(plan->collide)[pair->b].shape);
        sensing->wanted[i] = sensing->wanted[i] || *sign != 0;
        sensing->contacts = sensing->contacts || *sign != 0;
    }
}

// ---- items --------------------------------------------------------------------------------------

static bool is_path(const mf_Model *model, uint32_t tendon) {
    return tendon != MF_NONE && model->tendons[tendon].wrap_count > 0;
}

// What a sensor asks; false when it asks nothing. Points are no shapes.
static bool item_of(const mf_ArtPlan *plan, const mf_Model *model, uint32_t sensor,
                    mf_ArtSensingItem *item) {
    const mf_Sensor *from = &model->sensors[sensor];
    *item = (mf_ArtSensingItem){.sensor = sensor, .count = from->count, .scale = 1.0};
    item->tendon = from->tendon;
    switch (from->type) {
    case MF_SENSOR_CONTACTS:
        item->kind = MF_ART_SENSE_CONTACTS;
        item->query = from->query;
        return plan->config.shapes && from->query.slots <= MF_ARTICULATED_SENSING_SLOTS;
    case MF_SENSOR_ACTUATOR_POSITION:
    case MF_SENSOR_ACTUATOR_VELOCITY:
        item->tendon = model->actuators[from->actuator].tendon;
        item->scale = model->actuators[from->actuator].gear[0];
        item->kind =
            from->type == MF_SENSOR_ACTUATOR_POSITION ? MF_ART_SENSE_LENGTH : MF_ART_SENSE_RATE;
        return is_path(model, item->tendon);
    case MF_SENSOR_TENDON_POSITION:
    case MF_SENSOR_TENDON_VELOCITY:
        item->kind =
            from->type == MF_SENSOR_TENDON_POSITION ? MF_ART_SENSE_LENGTH : MF_ART_SENSE_RATE;
        return is_path(model, item->tendon);
    case MF_SENSOR_TENDON_LIMIT_POSITION:
    case MF_SENSOR_TENDON_LIMIT_VELOCITY:
        if (!is_path(model, item->tendon))
            return false;
        item->kind = from->type == MF_SENSOR_TENDON_LIMIT_POSITION ? MF_ART_SENSE_LIMIT_LENGTH
                                                                   : MF_ART_SENSE_LIMIT_RATE;
        item->lower = model->tendons[item->tendon].lower;
        item->upper = model->tendons[item->tendon].upper;
        item->margin = model->tendons[item->tendon].limit_margin;
        return true;
    default:
        return false;
    }
}

static mf_Status fill_sensing(mf_ArtPlan *plan, const mf_Model *model, uint32_t count,
                              mf_ArtSensing *sensing, mf_Context *context, uint32_t *values,
                              mf_Error *error) {
    const uint32_t pairs = plan->collide != NULL ? plan->collide->pair_count : 0;
    const size_t signs = (size_t)plan->contact_count + pairs;
    sensing->items = mf_allocate(context, count, sizeof *sensing->items);
    sensing->signs = mf_allocate(context, count, signs + 1);
    sensing->wanted = mf_allocate(context, pairs + 1, sizeof *sensing->wanted);
    if (sensing->items == NULL || sensing->signs == NULL || sensing->wanted == NULL)
        return mf_fail(error, MF_NO_MEMORY, "articulated: out of memory");
    for (uint32_t i = 0; i < model->sensor_count; i++) {
        mf_ArtSensingItem found, *item;
        if (!item_of(plan, model, i, &found))
            continue;
        item = &sensing->items[sensing->count];
        *item = found;
        item->row = *values;
        *values += item->count;
        if (item->kind == MF_ART_SENSE_CONTACTS)
            fill_signs(plan, model, sensing, item, sensing->signs + sensing->count * signs);
        sensing->count++;
    }
    for (uint32_t l = 0; l < plan->link_count; l++)
        plan->links[l].posed = true;
    return MF_OK;
}

static mf_Status prepare_detection(mf_Group *group, mf_Error *error) {
    mf_ArtPlan *plan = (mf_ArtPlan *)(uintptr_t)mf_art_plan_of(group);
    const mf_Model *model = mf_group_model(group);
    mf_Context *context = mf_world_context(mf_group_world(group));
    uint32_t count = 0, values = 0;
    mf_ArtSensingItem item;
    for (uint32_t i = 0; plan != NULL && i < model->sensor_count; i++)
        count += item_of(plan, model, i, &item);
    if (count == 0 || plan->sensing != NULL)
        return MF_OK;
    mf_ArtSensing *sensing = mf_allocate(context, 1, sizeof *sensing);
    if (sensing == NULL)
        return mf_fail(error, MF_NO_MEMORY, "articulated: out of memory");
    mf_Status status = fill_sensing(plan, model, count, sensing, context, &values, error);
    if (status == MF_OK)
        status = mf_art_add_row(group, plan, MF_ART_ROW_SENSING, values, error);
    if (status != MF_OK) {
        mf_art_sensing_destroy(context, sensing);
        return status;
    }
    plan->sensing = sensing;
    return MF_OK;
}

void mf_art_sensing_destroy(mf_Context *context, mf_ArtSensing *sensing) {
    if (sensing == NULL)
        return;
    mf_release(context, sensing->items);
    mf_release(context, sensing->signs);
    mf_release(context, sensing->wanted);
    mf_release(context, sensing);
}

static bool find_sensing(const mf_Group *group, uint32_t sensor, uint32_t *component) {
    const mf_ArtPlan *plan = mf_art_plan_of(group);
    for (uint32_t i = 0; plan != NULL && plan->sensing != NULL && i < plan->sensing->count; i++) {
        if (plan->sensing->items[i].sensor != sensor)
            continue;
        *component = plan->sensing->items[i].row;
        return true;
    }
    return false;
}

// ---- queries ------------------------------------------------------------------------------------

typedef void (*SensingFn)(const mf_ArtBlock *block);

static SensingFn kernel_of(const mf_Group *group, bool single) {
    static const SensingFn table[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_articulated_sense);
    const mf_Isa isa = mf_world_isa(mf_group_world((mf_Group *)(uintptr_t)group));
    const int row = single ? mf_kernel_row_single(isa) : mf_kernel_row(isa);
    return table[row][mf_group_config_of(group)->double_precision];
}

typedef struct SensingTask {
    const mf_ArtPlan *plan;
    SensingFn wide, one;
} SensingTask;

static void sense_lanes(const void *context, const mf_Piece *piece) {
    const SensingTask *task = context;
    mf_ArtBlock work;
    mf_art_bind_block(task->plan, piece, &work);
    (piece->single ? task->one : task->wide)(&work);
}

static void run_sensing(const mf_SystemRun *run) {
    const mf_ArtPlan *plan = mf_art_plan_of(run->group);
    if (plan == NULL || plan->sensing == NULL)
        return;
    const SensingTask task = {plan, kernel_of(run->group, false), kernel_of(run->group, true)};
    mf_dispatch_run(&plan->dispatch, run, sense_lanes, &task);
}

static void sense_one(const mf_Group *group, uint32_t instance) {
    const mf_ArtPlan *plan = mf_art_plan_of(group);
    uint32_t fine = 0;
    mf_ArtBlock work;
    if (plan == NULL || plan->sensing == NULL)
        return;
    const mf_Piece piece = {instance / MF_BLOCK, instance % MF_BLOCK, true, &fine,
                            mf_scratch_borrow(plan->dispatch.scratch)};
    mf_art_bind_block(plan, &piece, &work);
    kernel_of(group, true)(&work);
    mf_scratch_return(plan->dispatch.scratch, piece.scratch);
}

const mf_SensorSource mf_art_sensor_source = {prepare_detection, find_sensing, run_sensing,
                                              sense_one};
