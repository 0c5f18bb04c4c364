// Shared native objects and loops over robots; see glue.h.
#include "glue.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

// ---- shared objects ----------------------------------------------------------------------------

struct mfpy_Object {
    atomic_uint users;
    mfpy_Kind kind;
    void *native;
    pid_t process;
    mfpy_Object **needs;
    uint32_t need_count, need_capacity;
};

static void destroy_native(mfpy_Kind kind, void *native) {
    switch (kind) {
    case MFPY_CONTEXT:
        mf_context_destroy(native);
        break;
    case MFPY_MODEL:
        mf_model_destroy(native);
        break;
    case MFPY_TERRAIN:
        mf_terrain_destroy(native);
        break;
    case MFPY_WORLD:
        mf_world_destroy(native);
        break;
    case MFPY_RECORDER:
        mf_recorder_destroy(native);
        break;
    case MFPY_GAIT:
        mf_gait_destroy(native);
        break;
    case MFPY_ENVIRONMENT:
        mf_environment_destroy(native);
        break;
    case MFPY_SCENE:
        mf_scene_close(native);
        break;
    case MFPY_BODY:
        mf_body_destroy(native);
        break;
    case MFPY_FREE_CAMERA:
        mf_free_camera_destroy(native);
        break;
    case MFPY_PHOTOGRAPHER:
        mf_photographer_destroy(native);
        break;
    case MFPY_FILM:
        mf_film_destroy(native);
        break;
    case MFPY_PUSHER:
        mf_pusher_destroy(native);
        break;
    }
}

mfpy_Object *mfpy_object_create(mfpy_Kind kind, void *native, mfpy_Object *context) {
    mfpy_Object *object = calloc(1, sizeof *object);
    if (object != NULL) {
        atomic_init(&object->users, 1);
        object->kind = kind;
        object->native = native;
        object->process = getpid();
        if (context == NULL || mfpy_object_need(object, context))
            return object;
        free(object);
    }
    destroy_native(kind, native);
    return NULL;
}

bool mfpy_object_need(mfpy_Object *object, mfpy_Object *other) {
    for (uint32_t i = 0; i < object->need_count; i++)
        if (object->needs[i] == other)
            return true;
    if (object->need_count == object->need_capacity) {
        uint32_t capacity = object->need_capacity == 0 ? 2 : 2 * object->need_capacity;
        mfpy_Object **needs = realloc(object->needs, capacity * sizeof(mfpy_Object *));
        if (needs == NULL)
            return false;
        object->needs = needs;
        object->need_capacity = capacity;
    }
    atomic_fetch_add(&other->users, 1);
    object->needs[object->need_count++] = other;
    return true;
}

void mfpy_object_release(mfpy_Object *object) {
    if (object == NULL || atomic_fetch_sub(&object->users, 1) != 1)
        return;
    if (object->native != NULL && object->process == getpid())
        destroy_native(object->kind, object->native);
    // Chains are short: world, model, context.
    for (uint32_t i = 0; i < object->need_count; i++)
        mfpy_object_release(object->needs[i]);
    free(object->needs);
    free(object);
}

void mfpy_object_forget(mfpy_Object *object) {
    object->native = NULL;
}

void *mfpy_object_native(mfpy_Object *object) {
    return object->process == getpid() ? object->native : NULL;
}

// ---- many robots at a time ---------------------------------------------------------------------

void mfpy_reset(mf_Group *group, const uint32_t *instances, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        mf_group_reset(group, instances[i]);
}

void mfpy_refresh(mf_Group *group, const uint32_t *instances, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        mf_group_refresh(group, instances[i]);
}

void mfpy_set_state(mf_Group *group, const uint32_t *instances, uint32_t count,
                    const double *position, const double *velocity) {
    const mf_Model *model = mf_group_model(group);
    for (uint32_t i = 0; i < count; i++)
        mf_group_set_state(group, instances[i], position + (size_t)i * model->position_count,
                           velocity + (size_t)i * model->velocity_count);
}

// ---- tasks -------------------------------------------------------------------------------------

void mfpy_uniform(const uint64_t *seeds, const uint32_t *episodes, const uint32_t *steps,
                  uint64_t stream, const int64_t *instances, uint32_t count, uint32_t width,
                  float *out) {
    for (uint32_t column = 0; column < width; column += 4) {
        const uint32_t columns = width - column < 4 ? width - column : 4;
        for (uint32_t i = 0; i < count; i++) {
            const size_t robot = instances == NULL ? i : (size_t)instances[i];
            uint32_t word[4];
            // The high half of the stream tells terms apart, the low half draws of one term.
            mf_random(seeds[robot], episodes[robot], (uint32_t)(stream >> 32),
                      (uint64_t)steps[robot] << 32 | ((uint32_t)stream + column), word);
            for (uint32_t j = 0; j < columns; j++)
                out[(size_t)(column + j) * count + i] = (float)(word[j] >> 8) * 0x1p-24f;
        }
    }
}

// ---- lists -------------------------------------------------------------------------------------

typedef struct List {
    mf_Property *out;
    uint64_t capacity, count;
} List;

static bool append(const mf_Property *property, void *user) {
    List *list = user;
    if (list->count < list->capacity)
        list->out[list->count] = *property;
    list->count++;
    return true;
}

uint64_t mfpy_properties(mf_Group *group, uint32_t instance, const char *pattern, mf_Property *out,
                         uint64_t capacity) {
    List list = {.out = out, .capacity = capacity};
    mf_property_list_in(group, instance, pattern, append, &list);
    return list.count;
}
