// Recorders: fields of some robots, sampled into memory and written in blocks by the format's
// store, so that a sample each step costs a copy. Invariants: the file can be read from its first
// moment on; after the first failure a recorder refuses all calls and leaves what was written.
#include "record/recorder.h"
#include "base/clock.h"
#include "base/floats.h"
#include "world/attach.h"

#include <mayfly/links.h>

#include <stdio.h>
#include <string.h>

#define FLUSH_TIME INT64_C(1000000000) // [ns] of the clock

enum {
    BUFFER_BYTES = 256 << 10, // [byte] of buffered samples of one column, approximately
    BUFFER_SAMPLES = 4096,    // [1] at most
    DRAWN_BYTES = 1 << 20     // [byte] of drawings that wait
};

mf_RecorderConfig mf_recorder_config(void) {
    return (mf_RecorderConfig){.struct_size = sizeof(mf_RecorderConfig), .joints = true};
}

// ---- choosing fields ---------------------------------------------------------------------------

// The instances of one group that are recorded.
typedef struct Source {
    mf_Group *group;
    uint32_t first, count; // [1]
} Source;

// Matches a name, or a prefix followed by a star.
static bool matches(const char *pattern, const char *name) {
    size_t length = strlen(pattern);
    if (length != 0 && pattern[length - 1] == '*')
        return strncmp(pattern, name, length - 1) == 0;
    return strcmp(pattern, name) == 0;
}

static bool has_column(const mf_Recorder *recorder, const mf_Field *field, uint32_t component,
                       uint32_t components, double scale) {
    for (uint32_t i = 0; i < recorder->column_count; i++) {
        const mf_Column *column = &recorder->columns[i];
        if (column->field == field && column->component == component &&
            column->components == components && column->scale == scale)
            return true;
    }
    return false;
}

// `field` NULL adds the time. `last` is the name of the data set within its group.
static mf_Status add_column(mf_Recorder *recorder, const Source *source, const mf_Field *field,
                            const char *last, mf_Error *error) {
    bool time = field == NULL;
    const char *folder =
        time || recorder->group != NULL ? "" : mf_group_config_of(source->group)->name;
    size_t size = strlen(folder) + strlen(last) + 2;
    char *name = mf_allocate(recorder->context, size, 1);
    MF_NEED_MEMORY(name != NULL, error, "recorder");
    snprintf(name, size, "%s%s%s", folder, folder[0] == '\0' ? "" : "/", last);
    mf_Column *column = &recorder->columns[recorder->column_count++];
    *column =
        (mf_Column){.field = field,
                    .group = time ? NULL : source->group,
                    .name = name,
                    .first = time ? 0 : source->first,
                    .count = time ? 1 : source->count,
                    .components = time ? 1 : field->components,
                    .value_size = time ? sizeof(double) : mf_field_value_size(field->info.type),
                    .set = H5I_INVALID_HID};
    column->sample_size = column->value_size * column->components * column->count;
    return MF_OK;
}

static mf_Status add_picture(mf_Recorder *recorder, const mf_RecorderPicture *picture,
                             mf_Error *error) {
    static const char name[] = "picture/frame";
    recorder->picture = *picture;
    recorder->picture_field = (mf_Field){
        .info = {"frame", "1", "", MF_F32, MF_FIXED_COUNT, (uint32_t)picture->size, 0,
                 "what mayfly view draws: poses of links, run-time joints, rays, points"},
        .components = (uint32_t)picture->size};
    char *copy = mf_allocate(recorder->context, sizeof name, 1);
    MF_NEED_MEMORY(copy != NULL, error, "recorder");
    memcpy(copy, name, sizeof name);
    recorder->columns[recorder->column_count++] =
        (mf_Column){.field = &recorder->picture_field,
                    .name = copy,
                    .count = 1,
                    .components = (uint32_t)picture->size,
                    .value_size = sizeof(float),
                    .sample_size = picture->size * sizeof(float),
                    .set = H5I_INVALID_HID,
                    .of_picture = true};
    return MF_OK;
}

// Names of fields with the longest common prefix with `pattern`, or all.
static void list_near(const mf_Group *group, const char *pattern, char *out, size_t size) {
    size_t best = 0, used = 0;
    uint32_t count = mf_group_field_count(group);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < count; i++) {
            // mf_group_field needs a non-const group, but does not change it.
            const char *name = mf_group_field((mf_Group *)(uintptr_t)group, i)->info.name;
            size_t same = 0;
            while (pattern[same] != '\0' && pattern[same] == name[same])
                same++;
            if (pass == 0 && same > best)
                best = same;
            if (pass == 1 && same == best && used < size)
                used +=
                    (size_t)snprintf(out + used, size - used, "%s%s", used == 0 ? "" : ", ", name);
        }
    }
}

// Adds the fields of one group that match; `found` becomes true when there is one.
static mf_Status add_matching(mf_Recorder *recorder, const Source *source, const char *pattern,
                              bool *found, mf_Error *error) {
    uint32_t count = mf_group_field_count(source->group);
    for (uint32_t i = 0; i < count; i++) {
        const mf_Field *field = mf_group_field(source->group, i);
        if (!matches(pattern, field->info.name) || field->components == 0)
            continue;
        *found = true;
        if (has_column(recorder, field, 0, field->components, 0.0))
            continue;
        MF_TRY(add_column(recorder, source, field, field->info.name, error));
    }
    return MF_OK;
}

// ---- choosing properties -----------------------------------------------------------------------

typedef struct PropertyTask {
    mf_Recorder *recorder;
    const Source *source;
    mf_Status status;
    mf_Error *error;
    bool found, constant;
} PropertyTask;

// A property of the first robot stands for that of all recorded robots.
static bool add_property(const mf_Property *property, void *user) {
    PropertyTask *task = user;
    mf_Recorder *recorder = task->recorder;
    char path[MF_PROPERTY_PATH];
    if (property->field == NULL) {
        task->constant = true;
        return true;
    }
    task->found = true;
    const double scale = property->scale != 1.0 ? property->scale : 0.0;
    if (has_column(recorder, property->field, property->first, property->count, scale))
        return true;
    mf_property_path(property, path, sizeof path);
    const char *inside = path + strlen(mf_group_config_of(property->group)->name);
    inside = strchr(inside, '/') + 1; // after "[0]/"
    task->status = add_column(recorder, task->source, property->field, inside, task->error);
    if (task->status != MF_OK)
        return false;
    mf_Column *column = &recorder->columns[recorder->column_count - 1];
    column->component = property->first;
    column->components = property->count;
    column->unit = property->unit;
    column->scale = scale;
    column->sample_size = column->value_size * column->components * column->count;
    return true;
}

static bool count_property(const mf_Property *property, void *user) {
    *(uint32_t *)user += property->field != NULL;
    return true;
}

static mf_Status refuse_pattern(mf_Group *group, const char *pattern, bool constant,
                                mf_Error *error) {
    MF_NEED(!constant, error, "recorder: %.80s does not change, it is a constant of the model",
            pattern);
    if (strpbrk(pattern, "/:") != NULL) {
        mf_Property property;
        mf_Status status = mf_property_find_in(group, 0, pattern, &property, error);
        return status != MF_OK ? status : mf_fail(error, MF_NOT_FOUND, "recorder: %s", pattern);
    }
    const mf_Field *empty = mf_group_find_field(group, pattern);
    MF_CHECK(empty == NULL, error, MF_NOT_FOUND,
             "recorder: the field %.80s has no values in this model", pattern);
    if (strncmp(pattern, "sensor.", 7) == 0) { // names that fields of sensors had
        mf_Property property;
        MF_TRY(mf_property_find_in(group, 0, pattern, &property, error));
    }
    char near[300] = "";
    list_near(group, pattern, near, sizeof near);
    return mf_fail(error, MF_NOT_FOUND, "recorder: no field has the name %.80s; similar: %s",
                   pattern, near);
}

// The recorded instances of the n-th group; false after the last.
static bool source_at(const mf_Recorder *recorder, const mf_RecorderConfig *config, uint32_t n,
                      Source *out) {
    if (recorder->group == NULL) {
        if (n >= mf_world_group_count(recorder->world))
            return false;
        mf_Group *group = mf_world_group(recorder->world, n);
        *out = (Source){group, 0, mf_group_count(group)};
        return true;
    }
    uint32_t total = mf_group_count(recorder->group), first = config->first_instance;
    uint32_t count = config->instance_count != 0 ? config->instance_count : total - first;
    *out = (Source){recorder->group, first, count};
    return n == 0;
}

// Adds the derived fields of links to groups where a name requests them.
static mf_Status derive_links(const mf_Recorder *recorder, const mf_RecorderConfig *config,
                              mf_Error *error) {
    mf_Status status = MF_OK;
    Source source;
    for (uint32_t i = 0; config->fields != NULL && config->fields[i] != NULL; i++) {
        const char *part = strrchr(config->fields[i], '/');
        if (strncmp(part != NULL ? part + 1 : config->fields[i], "link.", 5) != 0)
            continue;
        for (uint32_t n = 0; status == MF_OK && source_at(recorder, config, n, &source); n++)
            status = mf_group_derive_links(source.group, error);
    }
    return status;
}

static mf_Status choose_columns(mf_Recorder *recorder, const mf_RecorderConfig *config,
                                mf_Error *error) {
    static const char *const usual[] = {"base.*", "joint.angle", "sensor.*", NULL};
    bool optional = config->fields == NULL; // a robot without joints has no joint.angle
    const char *const *patterns = optional ? usual : config->fields;
    uint32_t most = 2 + MF_JOINT_COLUMNS; // the time, the picture and joints
    Source source;
    MF_TRY(derive_links(recorder, config, error));
    mf_Status status = MF_OK;
    for (uint32_t n = 0; source_at(recorder, config, n, &source); n++) {
        most += mf_group_field_count(source.group);
        for (uint32_t i = 0; patterns[i] != NULL; i++)
            mf_property_list_in(source.group, source.first, patterns[i], count_property, &most);
    }
    recorder->columns = mf_allocate(recorder->context, most, sizeof *recorder->columns);
    MF_NEED_MEMORY(recorder->columns != NULL, error, "recorder");
    for (; *patterns != NULL && status == MF_OK; patterns++) {
        bool found = false;
        for (uint32_t n = 0; status == MF_OK && source_at(recorder, config, n, &source); n++)
            status = add_matching(recorder, &source, *patterns, &found, error);
        PropertyTask task = {.recorder = recorder, .error = error, .found = found};
        for (uint32_t n = 0; status == MF_OK && !found && source_at(recorder, config, n, &source);
             n++) {
            task.source = &source;
            mf_property_list_in(source.group, source.first, *patterns, add_property, &task);
            status = task.status;
        }
        source_at(recorder, config, 0, &source);
        if (status == MF_OK && !task.found && !optional)
            status = refuse_pattern(source.group, *patterns, task.constant, error);
    }
    recorder->field_columns = recorder->column_count;
    if (status == MF_OK && config->picture != NULL)
        status = add_picture(recorder, config->picture, error);
    if (status == MF_OK && config->joints)
        status = mf_recorder_add_joints(recorder, error);
    return status == MF_OK ? add_column(recorder, NULL, NULL, "time", error) : status;
}

// ---- making ------------------------------------------------------------------------------------

uint32_t mf_recorder_capacity(size_t size) {
    const size_t fitting = BUFFER_BYTES / size;
    return fitting < 1 ? 1 : fitting > BUFFER_SAMPLES ? BUFFER_SAMPLES : (uint32_t)fitting;
}

static mf_Status make_buffers(mf_Recorder *recorder, mf_Error *error) {
    size_t largest = 1;
    for (uint32_t i = 0; i < recorder->column_count; i++)
        if (recorder->columns[i].sample_size > largest)
            largest = recorder->columns[i].sample_size;
    recorder->capacity = recorder->store->buffered ? mf_recorder_capacity(largest) : 1;
    for (uint32_t i = 0; i < recorder->column_count; i++) {
        mf_Column *column = &recorder->columns[i];
        if (column->sample_size == 0) // joints, of which there are none yet
            continue;
        column->buffer = mf_allocate(recorder->context, recorder->capacity, column->sample_size);
        if (column->buffer == NULL)
            return mf_fail(error, MF_NO_MEMORY, "recorder: no memory for %u samples of %s",
                           recorder->capacity, column->name);
    }
    return MF_OK;
}

static mf_Status check_instances(const mf_Recorder *recorder, const mf_RecorderConfig *config,
                                 mf_Error *error) {
    if (recorder->group == NULL) {
        if (config->first_instance == 0 && config->instance_count == 0)
            return MF_OK;
        return mf_fail(error, MF_BAD_ARGUMENT, "recorder: expected all instances of all groups");
    }
    uint32_t total = mf_group_count(recorder->group);
    if (config->first_instance >= total || config->instance_count > total - config->first_instance)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "recorder: expected instances in 0 .. %u, found %u from %u on", total - 1,
                       config->instance_count, config->first_instance);
    return MF_OK;
}

static bool is_mcap(const char *path) {
    static const char ending[] = ".mcap";
    const size_t length = strlen(path);
    return length >= sizeof ending && strcmp(path + length + 1 - sizeof ending, ending) == 0;
}

static mf_Status check_picture(const mf_RecorderPicture *picture, mf_Error *error) {
    if (picture != NULL && (picture->description == NULL || picture->take == NULL ||
                            picture->size == 0 || picture->size > UINT32_MAX))
        return mf_fail(error, MF_BAD_ARGUMENT, "recorder: picture: make it with mf_film_record");
    return MF_OK;
}

static mf_Status open_recorder(mf_Recorder *recorder, const mf_RecorderConfig *config,
                               mf_Error *error) {
    MF_TRY(check_instances(recorder, config, error));
    MF_TRY(check_picture(config->picture, error));
    MF_TRY(choose_columns(recorder, config, error));
    MF_TRY(make_buffers(recorder, error));
    MF_TRY(mf_output_create(recorder->context, config->path, &recorder->output, error));
    mf_Quiet quiet = mf_quiet_begin();
    mf_Status status = recorder->store->make(recorder, config, error);
    if (status == MF_OK) // its head; no samples yet
        status = recorder->store->flush(recorder, error);
    MF_THEN(status, mf_output_publish(&recorder->output, error));
    mf_quiet_end(quiet);
    return status;
}

static mf_Status create(mf_World *world, mf_Group *group, const mf_RecorderConfig *config,
                        mf_Recorder **out, mf_Error *error) {
    if (world == NULL || config == NULL || config->struct_size != sizeof *config)
        return mf_fail(error, MF_BAD_ARGUMENT, "recorder: start from mf_recorder_config()");
    if (config->path == NULL || config->path[0] == '\0')
        return mf_fail(error, MF_BAD_ARGUMENT, "recorder: expected the path of a file to make");
    mf_Context *context = mf_world_context(world);
    mf_Recorder *recorder = mf_allocate(context, 1, sizeof *recorder);
    MF_NEED_MEMORY(recorder != NULL, error, "recorder");
    recorder->world = world;
    recorder->group = group;
    recorder->context = context;
    recorder->file = recorder->drawn_set = H5I_INVALID_HID;
    recorder->drawn = mf_text_begin(context);
    recorder->flushed = mf_clock_now();
    recorder->store = is_mcap(config->path) ? &mf_mcap_store : &mf_hdf5_store;
    mf_Status status = open_recorder(recorder, config, error);
    if (status != MF_OK)
        mf_recorder_destroy(recorder);
    else
        *out = recorder;
    return status;
}

mf_Status mf_recorder_create(mf_Group *group, const mf_RecorderConfig *config, mf_Recorder **out,
                             mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(out != NULL, error, "recorder: out is NULL");
    *out = NULL;
    return create(group == NULL ? NULL : mf_group_world(group), group, config, out, error);
}

mf_Status mf_recorder_create_all(mf_World *world, const mf_RecorderConfig *config,
                                 mf_Recorder **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(out != NULL, error, "recorder: out is NULL");
    *out = NULL;
    return create(world, NULL, config, out, error);
}

// ---- sampling ----------------------------------------------------------------------------------

static void scale_values(const mf_Column *column, char *target) {
    for (uint32_t c = 0; c < column->components; c++, target += column->value_size) {
        float number;
        double value;
        if (column->field->info.type == MF_F32) {
            memcpy(&number, target, sizeof number);
            number = (float)((double)number / column->scale);
            memcpy(target, &number, sizeof number);
        } else if (column->field->info.type == MF_F64) {
            memcpy(&value, target, sizeof value);
            value /= column->scale;
            memcpy(target, &value, sizeof value);
        }
    }
}

// Packs one instance's values, which are MF_BLOCK apart.
static void copy_instance(const mf_Column *column, uint32_t instance, char *target) {
    const size_t at = mf_field_index(column->field, instance, column->component);
    const char *source = (const char *)column->field->data + at * column->value_size;
    size_t stride = MF_BLOCK * column->value_size;
    for (uint32_t c = 0; c < column->components; c++)
        if (column->value_size == 4)
            memcpy(target + (size_t)c * 4, source + c * stride, 4);
        else
            memcpy(target + (size_t)c * 8, source + c * stride, 8);
    if (column->scale != 0.0)
        scale_values(column, target);
}

static void take_sample(const mf_Recorder *recorder) {
    for (uint32_t i = 0; i < recorder->field_columns; i++) {
        const mf_Column *column = &recorder->columns[i];
        char *target = column->buffer + recorder->filled * column->sample_size;
        size_t size = column->components * column->value_size;
        for (uint32_t k = 0; k < column->count; k++)
            copy_instance(column, column->first + k, target + k * size);
    }
    if (recorder->picture.take != NULL) {
        const mf_Column *column = &recorder->columns[recorder->field_columns];
        char *target = column->buffer + recorder->filled * column->sample_size;
        recorder->picture.take((float *)(void *)target, recorder->picture.user);
    }
    mf_recorder_sample_joints(recorder);
    double time = mf_time_to_seconds(mf_world_time(recorder->world));
    const mf_Column *column = &recorder->columns[recorder->column_count - 1];
    memcpy(column->buffer + recorder->filled * column->sample_size, &time, sizeof time);
}

static mf_Status flush_quietly(mf_Recorder *recorder) {
    mf_Quiet quiet = mf_quiet_begin();
    recorder->status = recorder->store->flush(recorder, &recorder->failure);
    if (recorder->status == MF_OK)
        mf_output_whole(&recorder->output);
    recorder->flushed = mf_clock_now();
    mf_quiet_end(quiet);
    return recorder->status;
}

// Whether the buffers are full, or what is in them has waited for a second: a killed run loses it.
static bool is_due(mf_Recorder *recorder) {
    if (recorder->filled == recorder->capacity || recorder->drawn.size > DRAWN_BYTES)
        return true;
    return mf_clock_now() - recorder->flushed > FLUSH_TIME;
}

static mf_Status fit_joints(mf_Recorder *recorder) {
    if (recorder->status != MF_OK || recorder->joint_columns == 0)
        return recorder->status;
    mf_Quiet quiet = mf_quiet_begin();
    recorder->status = mf_recorder_fit_joints(recorder, &recorder->failure);
    mf_quiet_end(quiet);
    return recorder->status;
}

mf_Status mf_recorder_sample(mf_Recorder *recorder, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(recorder != NULL, error, "mf_recorder_sample: recorder is NULL");
    if (fit_joints(recorder) == MF_OK && !mf_recorder_take_drawings(recorder))
        recorder->status = mf_fail(&recorder->failure, MF_NO_MEMORY, "recorder: out of memory");
    if (recorder->status == MF_OK) {
        take_sample(recorder);
        recorder->filled++;
        if (is_due(recorder))
            flush_quietly(recorder);
    }
    if (recorder->status != MF_OK && error != NULL)
        *error = recorder->failure;
    return recorder->status;
}

// ---- ending ------------------------------------------------------------------------------------

mf_Status mf_recorder_close(mf_Recorder *recorder, mf_Error *error) {
    MF_NEED(recorder != NULL, error, "recorder: recorder is NULL");
    mf_Status status = recorder->status;
    MF_THEN(status, flush_quietly(recorder));
    if (status == MF_OK) {
        mf_Quiet quiet = mf_quiet_begin();
        status = recorder->status = recorder->store->close(recorder, true, &recorder->failure);
        mf_quiet_end(quiet);
    }
    MF_THEN(status, mf_output_commit(&recorder->output, &recorder->failure));
    if (status != MF_OK && error != NULL)
        *error = recorder->failure;
    mf_recorder_destroy(recorder);
    return status;
}

void mf_recorder_destroy(mf_Recorder *recorder) {
    if (recorder == NULL)
        return;
    mf_Quiet quiet = mf_quiet_begin();
    recorder->store->close(recorder, false, NULL);
    if (recorder->status != MF_OK && recorder->written > 0) // what was recorded stays
        mf_output_keep(&recorder->output);
    mf_output_free(&recorder->output);
    mf_quiet_end(quiet);
    for (uint32_t i = 0; i < recorder->column_count; i++) {
        mf_release(recorder->context, recorder->columns[i].buffer);
        mf_release(recorder->context, recorder->columns[i].name);
    }
    mf_text_free(&recorder->drawn);
    mf_release(recorder->context, recorder->columns);
    mf_release(recorder->context, recorder);
}
