// The lists and texts of a model under construction. Texts are in an arena, so that names stay
// valid while lists grow.
#include "model/draft.h"
#include "model/sensor_kind.h"

#include "base/plain.h"
#include "math/scalar.h"

#include <stdarg.h>
#include <string.h>

void *mf_list_push(mf_Context *context, mf_List *list, size_t item_size) {
    if (list->count == list->capacity) {
        if (list->capacity > UINT32_MAX / 2)
            return NULL;
        uint32_t capacity = list->capacity < 8 ? 8 : 2 * list->capacity;
        void *items = mf_allocate(context, capacity, item_size);
        if (items == NULL)
            return NULL;
        if (list->count > 0)
            memcpy(items, list->items, list->count * item_size);
        mf_release(context, list->items);
        list->items = items;
        list->capacity = capacity;
    }
    char *item = (char *)list->items + (size_t)list->count * item_size;
    memset(item, 0, item_size);
    list->count++;
    return item;
}

void mf_list_release(mf_Context *context, mf_List *list) {
    mf_release(context, list->items);
    *list = (mf_List){0};
}

void mf_draft_start(mf_Draft *draft, mf_Context *context) {
    memset(draft, 0, sizeof *draft);
    draft->context = context;
    draft->texts.context = context;
    draft->name = "";
    draft->file = "";
    draft->root.type = MF_JOINT_FIXED;
    draft->physics = mf_physics();
}

void mf_draft_release(mf_Draft *draft) {
    mf_Mesh *meshes = mf_draft_meshes(draft);
    for (uint32_t i = 0; i < draft->meshes.count; i++) {
        mf_release(draft->context, (void *)meshes[i].vertices);
        mf_release(draft->context, (void *)meshes[i].triangles);
        mf_release(draft->context, (void *)meshes[i].coordinates);
        mf_release(draft->context, (void *)meshes[i].hull_vertices);
        mf_release(draft->context, (void *)meshes[i].hull_triangles);
    }
    mf_HeightField *heights = draft->heights.items;
    for (uint32_t i = 0; i < draft->heights.count; i++)
        mf_release(draft->context, (void *)heights[i].heights);
    const mf_Texture *textures = draft->textures.items;
    for (uint32_t i = 0; i < draft->textures.count; i++)
        mf_release(draft->context, (void *)textures[i].file);
#define MF_RELEASE(item, list, type) mf_list_release(draft->context, &draft->list);
    MF_DRAFT_LISTS(MF_RELEASE)
    mf_arena_release(&draft->texts);
}

const char *mf_draft_text(mf_Draft *draft, const char *text) {
    return mf_arena_text(&draft->texts, text, strlen(text));
}

mf_Frame mf_world_frame(void) {
    mf_Frame frame;
    mf_item_reset(MF_ITEM_FRAME, &frame);
    return frame;
}

mf_Softness mf_softness(void) {
    mf_Softness softness;
    mf_item_reset(MF_ITEM_SOFTNESS, &softness);
    return softness;
}

const mf_List *mf_draft_list(const mf_Draft *draft, mf_ItemType item) {
#define MF_OFFSET(item, list, type) [MF_ITEM_##item] = offsetof(mf_Draft, list),
    static const size_t offsets[MF_ITEM_COUNT] = {MF_DRAFT_LISTS(MF_OFFSET)};
    return offsets[item] > 0 ? (const void *)((const char *)draft + offsets[item]) : NULL;
}

uint32_t mf_draft_find(const mf_Draft *draft, mf_ItemType item, const char *name) {
    const mf_List *list = mf_draft_list(draft, item);
    const size_t size = mf_item_table(item)->size;
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(mf_item_name(item, (const char *)list->items + i * size), name) == 0)
            return i;
    return MF_NONE;
}

bool mf_draft_keep_texts(mf_Draft *draft, mf_ItemType item, void *values) {
    const mf_ItemTable *table = mf_item_table(item);
    bool kept = true;
    for (uint32_t i = 0; i < table->count; i++) {
        if (table->fields[i].type != MF_VALUE_TEXT)
            continue;
        const char **text = (void *)((char *)values + table->fields[i].offset);
        *text = mf_draft_text(draft, *text != NULL ? *text : "");
        kept = kept && *text != NULL;
    }
    return kept;
}

void *mf_draft_add(mf_Draft *draft, mf_ItemType item, const void *values) {
    mf_List *list = (mf_List *)mf_draft_list(draft, item);
    void *slot = mf_list_push(draft->context, list, mf_item_table(item)->size);
    if (slot == NULL)
        return NULL;
    memcpy(slot, values, mf_item_table(item)->size);
    if (mf_draft_keep_texts(draft, item, slot))
        return slot;
    list->count--;
    return NULL;
}

mf_Link *mf_draft_add_link(mf_Draft *draft, const char *name) {
    mf_Link link;
    mf_item_reset(MF_ITEM_LINK, &link);
    link.name = name;
    return mf_draft_add(draft, MF_ITEM_LINK, &link);
}

mf_Joint *mf_draft_add_joint(mf_Draft *draft, const char *name, mf_JointType type) {
    mf_Joint joint;
    mf_item_reset(MF_ITEM_JOINT, &joint);
    joint.name = name;
    joint.type = type;
    return mf_draft_add(draft, MF_ITEM_JOINT, &joint);
}

mf_Point *mf_draft_add_point(mf_Draft *draft, uint32_t link, const double position[3], double mass,
                             bool collides, const float color[3]) {
    mf_Point *point = mf_list_push(draft->context, &draft->points, sizeof *point);
    if (point == NULL)
        return NULL;
    point->link = link;
    point->flags = (collides ? MF_POINT_COLLIDES : 0u) | (mass > 0.0 ? MF_POINT_HAS_MASS : 0u);
    mf_vec3_copy(point->position, position);
    point->mass = mass;
    point->shape = MF_NONE;
    memcpy(point->color, color ? color : mf_gray, sizeof point->color);
    return point;
}

bool mf_draft_add_body(mf_Draft *draft, const char *name, const mf_MassProperties *mass,
                       const double foot[3]) {
    double position[4][3];
    mf_mass_to_points(position, 4, mass);
    draft->name = mf_draft_text(draft, name);
    draft->file = "";
    if (draft->name == NULL || mf_draft_add_link(draft, name) == NULL)
        return false;
    for (int i = 0; i < 4; i++)
        if (mf_draft_add_point(draft, 0, position[i], mass->mass / 4, false, mf_gray) == NULL)
            return false;
    return mf_draft_add_point(draft, 0, foot, 0.0, true, mf_gray) != NULL;
}

mf_Shape *mf_draft_add_shape(mf_Draft *draft, uint32_t link, mf_ShapeType type) {
    mf_Shape shape;
    mf_item_reset(MF_ITEM_SHAPE, &shape);
    shape.type = type;
    shape.link = link;
    return mf_draft_add(draft, MF_ITEM_SHAPE, &shape);
}

mf_Sensor *mf_draft_add_sensor(mf_Draft *draft, const char *name, mf_SensorType type) {
    mf_Sensor sensor;
    mf_item_reset(MF_ITEM_SENSOR, &sensor);
    sensor.name = name;
    sensor.type = type;
    sensor.count = mf_sensor_kind(type)->count;
    mf_Sensor *item = mf_draft_add(draft, MF_ITEM_SENSOR, &sensor);
    if (item != NULL)
        item->field = NULL;
    return item;
}

mf_Status mf_draft_no_memory(const mf_Draft *draft) {
    return mf_fail_at(draft->error, MF_NO_MEMORY, draft->file, 0, 0, "no memory for the model");
}

mf_Status mf_draft_note(mf_Draft *draft, bool suspicious, int32_t line, const char *format, ...) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    mf_plain_format_list(text, sizeof text, format, arguments);
    va_end(arguments);
    // Names from files may contain line breaks; a note is one line.
    for (char *c = text; *c; c++)
        *c = (unsigned char)*c < ' ' ? ' ' : *c;
    const mf_Note note = {.suspicious = suspicious, .line = line, .text = text};
    return mf_draft_add(draft, MF_ITEM_NOTE, &note) ? MF_OK : mf_draft_no_memory(draft);
}
