// Shared native objects and calls on a large stack; see glue.h.
#include "glue.h"

#include <pthread.h>
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
    uint32_t need_count, need_room;
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
    if (object->need_count == object->need_room) {
        uint32_t room = object->need_room == 0 ? 2 : 2 * object->need_room;
        mfpy_Object **needs = realloc(object->needs, room * sizeof(mfpy_Object *));
        if (needs == NULL)
            return false;
        object->needs = needs;
        object->need_room = room;
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

// ---- calls that may need much stack ------------------------------------------------------------

enum {
    STACK_WANTED = 6 << 20, // [byte] a step of full dynamics takes up to 4.5 MiB
    STACK_MADE = 16 << 20   // [byte]
};

typedef struct Call {
    void (*function)(struct Call *call);
    mf_World *world;
    mf_Group *group;
    uint64_t steps;
    const uint32_t *instances;
    uint32_t count;
    const double *position, *velocity;
    mf_Environment *environment;
    const mf_EnvironmentBuffers *buffers;
    const uint8_t *mask;
    const uint64_t *seeds;
    mf_Status *status;
    mf_Error *error;
} Call;

// The lowest address of the calling thread's stack, asked for once: for a main thread the C library
// reads a file to know it.
static char *stack_end(void) {
    static _Thread_local char *end;
    if (end == NULL) {
        pthread_attr_t attributes;
        void *low = NULL;
        size_t size = 0;
        if (pthread_getattr_np(pthread_self(), &attributes) != 0)
            return NULL;
        pthread_attr_getstack(&attributes, &low, &size);
        pthread_attr_destroy(&attributes);
        end = low;
    }
    return end;
}

static void *call_main(void *argument) {
    Call *call = argument;
    call->function(call);
    return NULL;
}

static bool run(Call *call) {
    char here;
    char *end = stack_end();
    if (end != NULL && &here - end > STACK_WANTED) {
        call->function(call);
        return true;
    }
    pthread_t thread;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    bool made = pthread_attr_setstacksize(&attributes, STACK_MADE) == 0 &&
                pthread_create(&thread, &attributes, call_main, call) == 0;
    pthread_attr_destroy(&attributes);
    return made && pthread_join(thread, NULL) == 0;
}

static void call_step(Call *call) {
    mf_world_step(call->world, call->steps);
}

static void call_reset(Call *call) {
    for (uint32_t i = 0; i < call->count; i++)
        mf_group_reset(call->group, call->instances[i]);
}

static void call_refresh(Call *call) {
    for (uint32_t i = 0; i < call->count; i++)
        mf_group_refresh(call->group, call->instances[i]);
}

static void call_set_state(Call *call) {
    const mf_Model *model = mf_group_model(call->group);
    for (uint32_t i = 0; i < call->count; i++)
        mf_group_set_state(call->group, call->instances[i],
                           call->position + (size_t)i * model->position_count,
                           call->velocity + (size_t)i * model->velocity_count);
}

bool mfpy_step(mf_World *world, uint64_t steps) {
    return run(&(Call){.function = call_step, .world = world, .steps = steps});
}

bool mfpy_reset(mf_Group *group, const uint32_t *instances, uint32_t count) {
    return run(
        &(Call){.function = call_reset, .group = group, .instances = instances, .count = count});
}

bool mfpy_refresh(mf_Group *group, const uint32_t *instances, uint32_t count) {
    return run(
        &(Call){.function = call_refresh, .group = group, .instances = instances, .count = count});
}

bool mfpy_set_state(mf_Group *group, const uint32_t *instances, uint32_t count,
                    const double *position, const double *velocity) {
    return run(&(Call){.function = call_set_state,
                       .group = group,
                       .instances = instances,
                       .count = count,
                       .position = position,
                       .velocity = velocity});
}

static void call_environment_reset(Call *call) {
    *call->status = mf_environment_reset(call->environment, call->mask, call->seeds, call->buffers,
                                         call->error);
}

static void call_environment_step(Call *call) {
    *call->status = mf_environment_step(call->environment, call->buffers, call->error);
}

bool mfpy_environment_reset(mf_Environment *environment, const uint8_t *mask, const uint64_t *seeds,
                            const mf_EnvironmentBuffers *buffers, mf_Status *status,
                            mf_Error *error) {
    return run(&(Call){.function = call_environment_reset,
                       .environment = environment,
                       .mask = mask,
                       .seeds = seeds,
                       .buffers = buffers,
                       .status = status,
                       .error = error});
}

bool mfpy_environment_step(mf_Environment *environment, const mf_EnvironmentBuffers *buffers,
                           mf_Status *status, mf_Error *error) {
    return run(&(Call){.function = call_environment_step,
                       .environment = environment,
                       .buffers = buffers,
                       .status = status,
                       .error = error});
}

// ---- lists -------------------------------------------------------------------------------------

typedef struct List {
    mf_Property *out;
    uint64_t room, count;
} List;

static bool append(const mf_Property *property, void *user) {
    List *list = user;
    if (list->count < list->room)
        list->out[list->count] = *property;
    list->count++;
    return true;
}

uint64_t mfpy_properties(mf_Group *group, uint32_t instance, const char *pattern, mf_Property *out,
                         uint64_t room) {
    List list = {.out = out, .room = room};
    mf_property_list_in(group, instance, pattern, append, &list);
    return list.count;
}
