// Shared native objects and loops over robots; see glue.h.
#include "glue.h"

#include <stdatomic.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/context.h"
#include "lanes.h"
#include "random.h"

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
    case MFPY_STAGE:
        mf_scene_destroy(native);
        free(native);
        break;
    case MFPY_SEARCH:
        mf_search_destroy(native);
        break;
    case MFPY_ARCHIVE:
        mf_archive_close(native);
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

// The numbers of up to MF_BLOCK robots from the first on, of those in the list.
MFPY_INLINE uint32_t block_of(const int64_t *instances, uint32_t first, uint32_t count,
                              size_t robot[MF_BLOCK]) {
    const uint32_t robots = count - first < MF_BLOCK ? count - first : MF_BLOCK;
    for (uint32_t i = 0; i < robots; i++)
        robot[i] = instances == NULL ? first + i : (size_t)instances[first + i];
    return robots;
}

void mfpy_random(const mfpy_Robots *who, uint64_t stream, const int64_t *instances, uint32_t count,
                 uint32_t width, bool gaussian, float *out) {
    for (uint32_t first = 0; first < count; first += MF_BLOCK) {
        size_t robot[MF_BLOCK];
        const uint32_t robots = block_of(instances, first, count, robot);
        const Dice dice = dice_of(who, robot, robots);
        for (uint32_t column = 0; column < width; column += 4) {
            uint32_t word[4][MF_BLOCK];
            float number[4][MF_BLOCK];
            draw(&dice, stream, column, word);
            numbers_of(word, gaussian, number);
            for (uint32_t j = 0; j < 4 && column + j < width; j++)
                memcpy(out + (size_t)(column + j) * count + first, number[j], robots * sizeof *out);
        }
    }
}

// Up to four numbers of a block of robots, from a column of the value on.
MFPY_INLINE void observe_tile(const mfpy_Observation *how, const Dice *dice, uint32_t column,
                              uint32_t numbers, float tile[4][MF_BLOCK]) {
    uint32_t word[4][MF_BLOCK];
    float noise[4][MF_BLOCK];
    if (how->noisy) {
        draw(dice, how->stream, column, word);
        numbers_of(word, how->gaussian, noise);
    }
    for (uint32_t j = 0; j < numbers; j++) {
        const float scale = how->scale == NULL ? 1.0F : how->scale[column + j];
        if (how->noisy)
            for (uint32_t i = 0; i < MF_BLOCK; i++)
                tile[j][i] += noise[j][i] * how->span + how->low;
        if (how->limited) // not a number stays what it is
            for (uint32_t i = 0; i < MF_BLOCK; i++) {
                const float least = tile[j][i] < how->least ? how->least : tile[j][i];
                tile[j][i] = least > how->most ? how->most : least;
            }
        for (uint32_t i = 0; i < MF_BLOCK; i++)
            tile[j][i] *= scale;
    }
}

// A value of a block of robots, whose rows begin at `row`.
MFPY_INLINE void observe_block(const mfpy_Observation *how, const Dice *dice,
                               const size_t robot[MF_BLOCK], uint32_t robots,
                               float *row[MF_BLOCK]) {
    for (uint32_t column = 0; column < how->width; column += 4) {
        const uint32_t numbers = how->width - column < 4 ? how->width - column : 4;
        float tile[4][MF_BLOCK] = {0};
        for (uint32_t j = 0; j < numbers; j++) {
            const float *from = how->value + (size_t)(column + j) * how->stride;
            if (robots == MF_BLOCK && robot[MF_BLOCK - 1] == robot[0] + MF_BLOCK - 1)
                memcpy(tile[j], from + robot[0], sizeof tile[j]);
            else
                for (uint32_t i = 0; i < robots; i++)
                    tile[j][i] = from[robot[i]];
        }
        observe_tile(how, dice, column, numbers, tile);
        for (uint32_t i = 0; i < robots; i++) {
            const float four[4] = {tile[0][i], tile[1][i], tile[2][i], tile[3][i]};
            float *to = row[i] + (how->history - 1) * how->width + column;
            if (numbers == 4) // one store
                memcpy(to, four, sizeof four);
            for (uint32_t j = 0; numbers < 4 && j < numbers; j++)
                to[j] = four[j];
        }
    }
}

typedef struct Observing {
    const mfpy_Robots *robots;
    const int64_t *instances;
    uint32_t count;
    const mfpy_Observation *terms;
    uint32_t term_count, columns;
    const bool *fresh;
    float *rows, *copy;
} Observing;

MFPY_LANES static void observe_robots(const Observing *task, uint32_t first) {
    const mfpy_Robots *who = task->robots;
    size_t robot[MF_BLOCK];
    float *row[MF_BLOCK];
    const uint32_t robots = block_of(task->instances, first, task->count, robot);
    const Dice dice = dice_of(who, robot, robots);
    for (uint32_t t = 0; t < task->term_count; t++) {
        const mfpy_Observation how = task->terms[t]; // which writes to rows do not change
        const uint32_t older = (how.history - 1) * how.width;
        for (uint32_t i = 0; i < robots; i++) {
            row[i] = task->rows + robot[i] * task->columns + how.first;
            if (older > 0)
                memmove(row[i], row[i] + how.width, older * sizeof(float));
        }
        observe_block(&how, &dice, robot, robots, row);
        for (uint32_t i = 0; i < robots; i++)
            for (uint32_t at = 0; task->fresh[robot[i]] && at < older; at += how.width)
                memcpy(row[i] + at, row[i] + older, how.width * sizeof(float));
    }
    for (uint32_t i = 0; task->copy != NULL && i < robots; i++)
        memcpy(task->copy + robot[i] * task->columns, task->rows + robot[i] * task->columns,
               task->columns * sizeof(float));
}

enum { OBSERVED = 32 * MF_BLOCK }; // robots of a task of a worker

static void observe_chunk(void *task, uint32_t index) {
    const Observing *observing = task;
    const uint32_t begin = index * OBSERVED;
    for (uint32_t at = 0; at < OBSERVED && begin + at < observing->count; at += MF_BLOCK)
        observe_robots(observing, begin + at);
}

void mfpy_observe(mf_Context *context, const mfpy_Robots *robots, const int64_t *instances,
                  uint32_t count, const mfpy_Observation *terms, uint32_t term_count,
                  const bool *fresh, float *rows, uint32_t columns, float *copy) {
    Observing task = {robots, instances, count, terms, term_count, columns, fresh, rows, copy};
    mf_parallel_for(context, count / OBSERVED + (count % OBSERVED != 0), observe_chunk, &task);
}

MFPY_INLINE void write_block(const mf_Field *field, size_t at, const float *target,
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

MFPY_LANES void mfpy_write_targets(const mf_Field *field, const uint32_t *columns, uint32_t count,
                                   const float *targets, uint32_t ages, const int32_t *lag,
                                   uint32_t substep, uint32_t decimation) {
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

void mfpy_height_scan(const mf_Terrain *terrain, const float *positions, const float *rotations,
                      uint32_t stride, uint32_t count, const double *grid, uint32_t points,
                      double offset, float *out) {
    for (uint32_t i = 0; i < count; i++) {
        const double x = (double)positions[i], y = (double)positions[stride + i];
        const double z = (double)positions[2 * (size_t)stride + i] - offset;
        double q[4];
        for (uint32_t k = 0; k < 4; k++)
            q[k] = (double)rotations[k * (size_t)stride + i];
        // The x axis of the robot, seen from above; the north if it points up or down.
        double forward = 1.0 - 2.0 * (q[2] * q[2] + q[3] * q[3]);
        double left = 2.0 * (q[0] * q[3] + q[1] * q[2]);
        const double length = sqrt(forward * forward + left * left);
        forward = length > 1e-6 ? forward / length : 1.0;
        left = length > 1e-6 ? left / length : 0.0;
        for (uint32_t p = 0; p < points; p++) {
            const double u = grid[2 * p], v = grid[2 * p + 1];
            const double ground = terrain == NULL
                                      ? 0.0
                                      : mf_terrain_height(terrain, x + forward * u - left * v,
                                                          y + left * u + forward * v, NULL);
            out[(size_t)p * count + i] = (float)(z - ground);
        }
    }
}

// ---- searches ----------------------------------------------------------------------------------

static mf_Status answer(mfpy_Answers *answers, bool verifies, const uint8_t *genomes,
                        uint32_t count, double *fitness) {
    if (count > answers->count - answers->used) {
        answers->asked = genomes;
        answers->asked_count = count;
        answers->verifies = verifies;
        return MF_STOPPED;
    }
    memcpy(fitness, answers->fitness + answers->used, count * sizeof *fitness);
    answers->used += count;
    return MF_OK;
}

mf_Status mfpy_evaluate(void *user, const uint8_t *genomes, uint32_t count, uint32_t genome_bytes,
                        double *fitness, mf_Error *error) {
    (void)genome_bytes, (void)error;
    return answer(user, false, genomes, count, fitness);
}

mf_Status mfpy_verify(void *user, const uint8_t *genomes, uint32_t count, uint32_t genome_bytes,
                      double *fitness, mf_Error *error) {
    (void)genome_bytes, (void)error;
    return answer(user, true, genomes, count, fitness);
}

// Of the genomes that mfpy_evaluate answered last.
mf_Status mfpy_describe(void *user, const uint8_t *genomes, uint32_t count, uint32_t genome_bytes,
                        double *values, mf_Error *error) {
    const mfpy_Answers *answers = user;
    const size_t first = (size_t)(answers->used - count) * answers->dimensions;
    (void)genomes, (void)genome_bytes, (void)error;
    memcpy(values, answers->descriptors + first,
           (size_t)count * answers->dimensions * sizeof *values);
    return MF_OK;
}

mf_Status mfpy_scene_create(mf_Context *context, mf_SceneFile *file, const mf_SceneConfig *config,
                            mf_Scene **out, mf_Error *error) {
    mf_Scene *scene = *out = calloc(1, sizeof *scene);
    if (scene == NULL)
        return MF_NO_MEMORY;
    const mf_Status status = mf_scene_create(context, file, config, scene, error);
    if (status != MF_OK) {
        free(scene);
        *out = NULL;
    }
    return status;
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
