// The host's side of sensing.h: which contacts and tendons the sensors of a model are about.
#include "motion/articulated/sensing/sensing.h"
#include "math/kernel_table.h"
#include "model/points.h"

#include "motion/articulated/build.h"
#include "motion/articulated/host.h"
#include "math/scalar.h"
#include "world/attach.h"

#include <string.h>

// ---- which contacts a sensor is about -----------------------------------------------------------

// Whether one side of a query is about a shape of a contact or, with `ground`, about the ground:
// the level planes of the file that `shape` may touch, and the world.
static bool side_matches(const mf_Model *model, const mf_ContactQuery *query, int side,
                         uint32_t shape, bool ground) {
    const uint32_t object = query->objects[side];
    const uint32_t body = ground ? MF_NONE : model->shapes[shape].body;
    mf_CollideClass pair;
    switch (query->sides[side]) {
    case MF_CONTACT_SIDE_ANY:
        return true;
    case MF_CONTACT_SIDE_BODY:
        return body == object;
    case MF_CONTACT_SIDE_SUBTREE:
        return mf_body_carried(model, body, object);
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

typedef struct Draft { // sensing that is made
    mf_ArtSensing sensing;
    MF_ART_SENSING_ARRAYS(MF_FLAT_POINTER, )
} Draft;

// Sides that floating shapes match, whose pairs are not listed.
static void fill_sides(const mf_ArtMotion *motion, const mf_Model *model, Draft *draft,
                       const mf_ArtSensingItem *item) {
    const mf_CollidePlan *collide = motion->collide;
    uint8_t sides = 0;
    for (uint32_t i = 0; collide != NULL && i < collide->floating_count; i++) {
        const uint32_t shape =
            mf_collide_shapes(collide)[mf_collide_floating(collide)[i].shape].shape;
        const uint8_t own = (uint8_t)(side_matches(model, &item->query, 0, shape, false) |
                                      side_matches(model, &item->query, 1, shape, false) << 1);
        const size_t at = collide->pair_count + i;
        draft->signs[item->first_sign + motion->plan->contact_count + at] = (int8_t)own;
        draft->requested[at] |= own;
        sides |= own;
    }
    draft->sensing.contacts = draft->sensing.contacts || sides == 3;
}

static void fill_signs(const mf_ArtMotion *motion, const mf_Model *model, Draft *draft,
                       const mf_ArtSensingItem *item) {
    int8_t *signs = draft->signs + item->first_sign;
    const uint32_t pairs = motion->collide != NULL ? motion->collide->pair_count : 0;
    for (uint32_t i = 0; i < motion->plan->contact_count; i++) {
        const uint32_t shape = motion->contacts[i].shape;
        signs[i] = shape != MF_NONE ? sign_of(model, &item->query, 0, true, shape) : 0;
        draft->sensing.touches = draft->sensing.touches || signs[i] != 0;
    }
    for (uint32_t i = 0; i < pairs; i++) {
        const mf_CollidePair *pair = &mf_collide_pairs(motion->collide)[i];
        int8_t *sign = &signs[motion->plan->contact_count + i];
        if (!motion->pair_allowed[i])
            continue;
        *sign = sign_of(model, &item->query, mf_collide_shapes(motion->collide)[pair->a].shape,
                        false, mf_collide_shapes(motion->collide)[pair->b].shape);
        draft->requested[i] = draft->requested[i] || *sign != 0;
        draft->sensing.contacts = draft->sensing.contacts || *sign != 0;
    }
    fill_sides(motion, model, draft, item);
}

// ---- items --------------------------------------------------------------------------------------

static bool is_path(const mf_Model *model, uint32_t tendon) {
    return tendon != MF_NONE && model->tendons[tendon].wrap_count > 0;
}

// What a sensor asks; false when it asks nothing. Points are no shapes.
static bool item_of(const mf_ArtMotion *motion, const mf_Model *model, uint32_t sensor,
                    mf_ArtSensingItem *item) {
    const mf_Sensor *from = &model->sensors[sensor];
    *item = (mf_ArtSensingItem){.sensor = sensor, .count = from->count, .scale = 1.0};
    item->tendon = from->tendon;
    switch (from->type) {
    case MF_SENSOR_CONTACTS:
        item->kind = MF_ART_SENSE_CONTACTS;
        item->query = from->query;
        return motion->config.shapes && from->query.slots <= MF_ARTICULATED_SENSING_SLOTS;
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

static mf_Status fill_sensing(mf_ArtMotion *motion, const mf_Model *model, uint32_t count,
                              Draft *draft, mf_Context *context, uint32_t *values,
                              mf_Error *error) {
    const mf_CollidePlan *collide = motion->collide;
    const uint32_t pairs = collide != NULL ? collide->pair_count + collide->floating_count : 0;
    const uint32_t signs = motion->plan->contact_count + pairs;
    mf_ArtSensing *sensing = &draft->sensing;
    sensing->pair_count = pairs;
    sensing->sign_count = count * signs;
    MF_TRY(MF_ALLOCATE(context, "articulated", error, MF_ARRAY(draft->items, count),
                       MF_ARRAY(draft->signs, sensing->sign_count + 1),
                       MF_ARRAY(draft->requested, pairs + 1)));
    for (uint32_t i = 0; i < model->sensor_count; i++) {
        mf_ArtSensingItem found, *item;
        if (!item_of(motion, model, i, &found))
            continue;
        item = &draft->items[sensing->count];
        *item = found;
        item->row = *values;
        item->first_sign = sensing->count * signs;
        *values += item->count;
        if (item->kind == MF_ART_SENSE_CONTACTS)
            fill_signs(motion, model, draft, item);
        sensing->count++;
    }
    for (uint32_t l = 0; l < motion->plan->link_count; l++)
        motion->links[l].posed = true;
    return MF_OK;
}

static mf_Status pack_sensing(Draft *draft, mf_Context *context, mf_ArtSensing **out,
                              mf_Error *error) {
    mf_ArtSensing *sensing = &draft->sensing;
#define PART(Type, name, count) MF_FLAT_PART(sensing, name, draft->name, count),
    const mf_FlatPart parts[] = {MF_ART_SENSING_ARRAYS(PART, sensing)};
#undef PART
    void *image = NULL;
    mf_Status status = mf_flat_pack(context, sensing, sizeof *sensing, parts,
                                    sizeof parts / sizeof *parts, &image, error);
    *out = image;
    return status;
}

static mf_Status prepare_detection(mf_Group *group, mf_Error *error) {
    mf_ArtMotion *motion = (mf_ArtMotion *)(uintptr_t)mf_art_motion_of(group);
    const mf_Model *model = mf_group_model(group);
    mf_Context *context = mf_world_context(mf_group_world(group));
    uint32_t count = 0, values = 0;
    mf_ArtSensingItem item;
    for (uint32_t i = 0; motion != NULL && i < model->sensor_count; i++)
        count += item_of(motion, model, i, &item);
    if (count == 0 || motion->sensing != NULL)
        return MF_OK;
    Draft draft = {0};
    mf_ArtSensing *sensing = NULL;
    mf_Status status = fill_sensing(motion, model, count, &draft, context, &values, error);
    MF_THEN(status, pack_sensing(&draft, context, &sensing, error));
    MF_THEN(status, mf_art_add_row(group, motion, MF_ART_ROW_SENSING, values, error));
    if (status == MF_OK)
        motion->sensing = sensing;
    else
        mf_release(context, sensing);
    mf_release(context, draft.items);
    mf_release(context, draft.signs);
    mf_release(context, draft.requested);
    return status;
}

static bool find_sensing(const mf_Group *group, uint32_t sensor, uint32_t *component) {
    const mf_ArtMotion *motion = mf_art_motion_of(group);
    for (uint32_t i = 0; motion != NULL && motion->sensing != NULL && i < motion->sensing->count;
         i++) {
        if (mf_art_sensing_items(motion->sensing)[i].sensor != sensor)
            continue;
        *component = mf_art_sensing_items(motion->sensing)[i].row;
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
    const mf_ArtMotion *motion;
    SensingFn wide, one;
} SensingTask;

static void sense_lanes(const void *context, const mf_DispatchUnit *piece) {
    const SensingTask *task = context;
    mf_ArtBlock work;
    mf_art_bind_block(task->motion, piece, &work);
    (piece->single ? task->one : task->wide)(&work);
}

static void run_sensing(const mf_SystemRun *run) {
    const mf_ArtMotion *motion = mf_art_motion_of(run->group);
    if (motion == NULL || motion->sensing == NULL)
        return;
    const SensingTask task = {motion, kernel_of(run->group, false), kernel_of(run->group, true)};
    mf_dispatch_run(&motion->dispatch, run, sense_lanes, &task);
}

static void sense_one(const mf_Group *group, uint32_t instance) {
    const mf_ArtMotion *motion = mf_art_motion_of(group);
    uint32_t fine = 0;
    mf_ArtBlock work;
    if (motion == NULL || motion->sensing == NULL)
        return;
    const mf_DispatchUnit piece = {instance / MF_BLOCK, instance % MF_BLOCK, true, &fine,
                                   mf_scratch_borrow(motion->dispatch.scratch)};
    mf_art_bind_block(motion, &piece, &work);
    kernel_of(group, true)(&work);
    mf_scratch_return(motion->dispatch.scratch, piece.scratch);
}

const mf_SensorSource mf_art_sensor_source = {prepare_detection, find_sensing, run_sensing,
                                              sense_one};
