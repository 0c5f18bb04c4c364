// Shared native objects and loops over robots; see glue.h.
#include "glue.h"

#include <stdatomic.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
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
    case MFPY_SCENE_FILE:
        mf_scene_file_destroy(native);
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

void mfpy_measure(mf_Group *group, const uint32_t *instances, uint32_t count) {
    for (uint32_t s = 0; s < mf_group_system_count(group); s++) {
        const mf_SystemConfig *system = mf_group_system(group, s);
        if (strcmp(system->name, "sensors") != 0)
            continue;
        for (uint32_t i = 0; i < count; i++)
            system->reset(group, instances[i], system->user);
    }
}

bool mfpy_read(mf_Group *group, const char *field, double *out) {
    const mf_Field *from = mf_group_find_field(group, field);
    for (uint32_t i = 0; from != NULL && i < mf_group_count(group); i++)
        for (uint32_t c = 0; c < from->components; c++)
            out[(size_t)i * from->components + c] = mf_field_get(from, i, c);
    return from != NULL;
}

bool mfpy_write(mf_Group *group, const char *field, const double *values) {
    mf_Field *to = mf_group_find_field(group, field);
    bool finite = to != NULL;
    for (uint32_t i = 0; to != NULL && i < mf_group_count(group); i++)
        for (uint32_t c = 0; c < to->components; c++) {
            mf_field_set(to, i, c, values[(size_t)i * to->components + c]);
            finite = finite && isfinite(mf_field_get(to, i, c));
        }
    return finite;
}

void mfpy_set_state(mf_Group *group, const uint32_t *instances, uint32_t count,
                    const double *position, const double *velocity) {
    const mf_Model *model = mf_group_model(group);
    for (uint32_t i = 0; i < count; i++)
        mf_group_set_state(group, instances[i], position + (size_t)i * model->position_count,
                           velocity + (size_t)i * model->velocity_count);
}

// ---- tasks -------------------------------------------------------------------------------------

// mf_random (base/random.c) of MF_BLOCK robots side by side, which compilers vectorize: a task
// draws some hundred thousand numbers per step. python/tests/test_tasks.py compares both.
static void random_block(uint32_t word[4][MF_BLOCK], uint32_t key[2][MF_BLOCK]) {
    for (int round = 0; round < 10; round++)
        for (uint32_t lane = 0; lane < MF_BLOCK; lane++) {
            const uint64_t product0 = UINT64_C(0xd2511f53) * word[0][lane];
            const uint64_t product1 = UINT64_C(0xcd9e8d57) * word[2][lane];
            word[0][lane] = (uint32_t)(product1 >> 32) ^ word[1][lane] ^ key[0][lane];
            word[1][lane] = (uint32_t)product1;
            word[2][lane] = (uint32_t)(product0 >> 32) ^ word[3][lane] ^ key[1][lane];
            word[3][lane] = (uint32_t)product0;
            key[0][lane] += 0x9e3779b9;
            key[1][lane] += 0xbb67ae85;
        }
}

void mfpy_uniform(const uint64_t *seeds, const uint32_t *episodes, const uint32_t *steps,
                  uint64_t stream, const int64_t *instances, uint32_t count, uint32_t width,
                  float *out) {
    for (uint32_t first = 0; first < count; first += MF_BLOCK) {
        const uint32_t robots = count - first < MF_BLOCK ? count - first : MF_BLOCK;
        for (uint32_t column = 0; column < width; column += 4) {
            uint32_t word[4][MF_BLOCK] = {0}, key[2][MF_BLOCK] = {0};
            for (uint32_t i = 0; i < robots; i++) {
                const size_t robot = instances == NULL ? first + i : (size_t)instances[first + i];
                key[0][i] = (uint32_t)seeds[robot], key[1][i] = (uint32_t)(seeds[robot] >> 32);
                // The high half of the stream tells terms apart, the low half draws of one term.
                word[0][i] = (uint32_t)stream + column, word[1][i] = steps[robot];
                word[2][i] = episodes[robot], word[3][i] = (uint32_t)(stream >> 32);
            }
            random_block(word, key);
            for (uint32_t j = 0; j < 4 && column + j < width; j++)
                for (uint32_t i = 0; i < robots; i++)
                    out[(size_t)(column + j) * count + first + i] =
                        (float)(word[j][i] >> 8) * 0x1p-24f;
        }
    }
}

static void write_block(const mf_Field *field, size_t at, const float *target,
                        const int32_t mask[MF_BLOCK]) {
    if (field->info.type == MF_F64) {
        double *data = (double *)field->data + at;
        for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
            data[lane] = mask[lane] ? (double)target[lane] : data[lane];
    } else {
        float *data = (float *)field->data + at;
        for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
            data[lane] = mask[lane] ? target[lane] : data[lane];
    }
}

void mfpy_write_targets(const mf_Field *field, const uint32_t *columns, uint32_t count,
                        const float *targets, uint32_t ages, const int32_t *lag, uint32_t substep,
                        uint32_t decimation) {
    const size_t robots = (size_t)field->blocks * MF_BLOCK;
    for (uint32_t age = 0; age < ages; age++)
        for (uint32_t block = 0; block < field->blocks; block++) {
            int32_t mask[MF_BLOCK], any = 0;
            for (uint32_t lane = 0; lane < MF_BLOCK; lane++) {
                mask[lane] = lag[block * MF_BLOCK + lane] == (int32_t)(substep + age * decimation);
                any |= mask[lane];
            }
            for (uint32_t j = 0; any && j < count; j++)
                write_block(field, ((size_t)block * field->components + columns[j]) * MF_BLOCK,
                            targets + ((size_t)age * count + j) * robots + block * MF_BLOCK, mask);
        }
}

void mfpy_rows(const float *in, uint32_t columns, uint32_t count, float *out) {
    enum { TILE = 16 }; // robots whose rows stay in the cache
    for (uint32_t first = 0; first < count; first += TILE) {
        const uint32_t end = count - first < TILE ? count : first + TILE;
        for (uint32_t column = 0; column < columns; column++)
            for (uint32_t i = first; i < end; i++)
                out[(size_t)i * columns + column] = in[(size_t)column * count + i];
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
