// Logs of machines in memory: what a file is, and the columns of all its formats.
#include "record/log.h"

#include "base/file.h"
#include "base/floats.h"
#include "io/decimal.h"
#include "math/scalar.h"
#include "record/recording.h"

#include <stdio.h>
#include <string.h>

#define MOST ((size_t)1 << 31) // [byte] of a file

// ---- columns -----------------------------------------------------------------------------------

static mf_Status no_memory(const mf_Log *log, mf_Error *error) {
    return mf_fail_at(error, MF_NO_MEMORY, log->path, 0, 0, "no memory to read the log");
}

// An array of twice the capacity; the old one is released.
static void *grow(mf_Context *context, void *old, uint32_t count, uint32_t capacity, size_t size) {
    void *made = mf_allocate(context, capacity, size);
    if (made != NULL && count > 0)
        memcpy(made, old, count * size);
    if (made != NULL)
        mf_release(context, old);
    return made;
}

mf_Status mf_log_column(mf_Log *log, const char *name, uint32_t *out, mf_Error *error) {
    mf_LogMemory *memory = log->memory;
    for (*out = 0; *out < memory->count; ++*out)
        if (strcmp(memory->series[*out].name, name) == 0)
            return MF_OK;
    if (memory->count == MF_LOG_COLUMNS)
        return mf_fail_at(error, MF_LIMIT, log->path, 0, 0, "expected at most %d columns",
                          MF_LOG_COLUMNS);
    if (memory->count == memory->capacity) {
        const uint32_t capacity = memory->capacity == 0 ? 64 : 2 * memory->capacity;
        mf_LogSeries *series =
            grow(log->context, memory->series, memory->count, capacity, sizeof *series);
        if (series == NULL)
            return no_memory(log, error);
        memory->series = series;
        memory->capacity = capacity;
    }
    const size_t length = strlen(name);
    char *copy = mf_allocate(log->context, length + 1, 1);
    if (copy == NULL)
        return no_memory(log, error);
    memcpy(copy, name, length);
    memory->series[memory->count++] = (mf_LogSeries){.name = copy};
    return MF_OK;
}

mf_Status mf_log_sample(mf_Log *log, uint32_t column, double time, double value, mf_Error *error) {
    mf_LogSeries *series = &log->memory->series[column];
    if (!mf_is_finite(time) || !mf_is_finite(value))
        return mf_fail_at(error, MF_BAD_FILE, log->path, 0, 0,
                          "%.80s has a value that is not finite, after %u samples", series->name,
                          series->count);
    if (series->count > 0 && time <= series->time[series->count - 1])
        return mf_fail_at(error, MF_BAD_FILE, log->path, 0, 0,
                          "times must rise: %.80s has %.9g s after %.9g s", series->name, time,
                          series->time[series->count - 1]);
    if (series->count == series->capacity) {
        const uint32_t capacity = series->capacity == 0 ? 1024 : 2 * series->capacity;
        double *times = grow(log->context, series->time, series->count, capacity, sizeof *times);
        series->time = times != NULL ? times : series->time;
        double *values = times != NULL ? grow(log->context, series->value, series->count, capacity,
                                              sizeof *values)
                                       : NULL;
        if (values == NULL)
            return no_memory(log, error);
        series->value = values;
        series->capacity = capacity;
    }
    series->time[series->count] = time;
    series->value[series->count++] = value;
    return MF_OK;
}

void mf_log_destroy(mf_Log *log) {
    if (log == NULL)
        return;
    mf_LogMemory *memory = log->memory;
    for (uint32_t i = 0; memory != NULL && i < memory->count; i++) {
        mf_release(log->context, memory->series[i].name);
        mf_release(log->context, memory->series[i].time);
        mf_release(log->context, memory->series[i].value);
    }
    if (memory != NULL) {
        mf_release(log->context, memory->series);
        mf_release(log->context, memory->columns);
        mf_release(log->context, memory->path);
    }
    mf_release(log->context, memory);
    mf_release(log->context, log);
}

// ---- recordings of Mayfly ----------------------------------------------------------------------

static double number_of(const mf_RecordedField *field, size_t index) {
    switch (field->type) {
    case MF_F32:
        return (double)((const float *)field->values)[index];
    case MF_F64:
        return ((const double *)field->values)[index];
    case MF_I32:
        return (double)((const int32_t *)field->values)[index];
    default:
        return (double)((const uint32_t *)field->values)[index];
    }
}

// The first robot's values of a field, a column per component.
static mf_Status take_field(mf_Log *log, const mf_Recording *recording,
                            const mf_RecordedField *field, mf_Error *error) {
    const size_t row = (size_t)field->count * field->components;
    for (uint32_t c = 0; c < field->components; c++) {
        char name[300];
        uint32_t column;
        if (field->components > 1)
            snprintf(name, sizeof name, "%.250s[%u]", field->name, c);
        else
            snprintf(name, sizeof name, "%.290s", field->name);
        MF_TRY(mf_log_column(log, name, &column, error));
        for (uint32_t s = 0; s < recording->samples; s++)
            MF_TRY(mf_log_sample(log, column, recording->time[s], number_of(field, s * row + c),
                                 error));
    }
    return MF_OK;
}

mf_Status mf_log_read_recording(mf_Log *log, mf_Error *error) {
    mf_Recording *recording = NULL;
    MF_TRY(mf_recording_open(log->context, log->path, 0, &recording, error));
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < recording->field_count && status == MF_OK; i++)
        if (strncmp(recording->fields[i].name, "world_joints/", 13) != 0)
            status = take_field(log, recording, &recording->fields[i], error);
    log->kind = strcmp(recording->kind, "MCAP") == 0 ? "MCAP" : "HDF5";
    mf_recording_destroy(recording);
    return status;
}

// ---- opening -----------------------------------------------------------------------------------

// "stamp*1e-9": the name of the column of times, and what makes seconds of it.
static mf_Status read_time(const char *time, char name[MF_FIT_NAME], double *factor,
                           mf_Error *error) {
    const char *star = time != NULL ? strchr(time, '*') : NULL;
    const size_t length = time == NULL ? 0 : star != NULL ? (size_t)(star - time) : strlen(time);
    *factor = 1.0;
    if (length >= MF_FIT_NAME || (star != NULL && (!mf_decimal_parse(star + 1, factor) ||
                                                   !mf_is_finite(*factor) || !(*factor > 0.0))))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "log: expected the name of the column of times, and perhaps what makes "
                       "seconds of it, such as stamp*1e-9; found '%.100s'",
                       time);
    snprintf(name, MF_FIT_NAME, "%.*s", (int)length, length > 0 ? time : "");
    if (length == 0)
        snprintf(name, MF_FIT_NAME, "time");
    return MF_OK;
}

static bool begins(const char *data, size_t size, const char *with) {
    return size >= strlen(with) && memcmp(data, with, strlen(with)) == 0;
}

static mf_Status read_log(mf_Log *log, const char *time, mf_Error *error) {
    char *data = NULL, name[MF_FIT_NAME];
    size_t size = 0;
    double factor;
    MF_TRY(read_time(time, name, &factor, error));
    MF_TRY(mf_file_read(log->context, log->path, MOST, &data, &size, error));
    mf_Status status;
    if (begins(data, size, "SQLite format 3"))
        status = mf_log_read_database(log, error);
    else if (begins(data, size, "\x89HDF\r\n\x1a\n"))
        status = mf_log_read_recording(log, error);
    else if (mf_recording_is_mcap(data, size))
        status = mf_log_read_mcap(log, data, size, error);
    else if (begins(data, size, "#ROSBAG"))
        status = mf_fail_at(error, MF_UNSUPPORTED, log->path, 0, 0,
                            "a bag of ROS 1: convert it to ROS 2 (rosbags-convert)");
    else if (memchr(data, '\0', size) != NULL)
        status = mf_fail_at(error, MF_BAD_FILE, log->path, 0, 0,
                            "expected CSV, HDF5, MCAP or a bag of ROS 2 (.db3)");
    else
        status = mf_log_read_csv(log, name, factor, data, error);
    mf_release(log->context, data);
    return status;
}

static mf_Status finish(mf_Log *log, mf_Error *error) {
    mf_LogMemory *memory = log->memory;
    memory->columns = mf_allocate(log->context, memory->count + 1, sizeof *memory->columns);
    if (memory->columns == NULL)
        return no_memory(log, error);
    for (uint32_t i = 0; i < memory->count; i++) {
        const mf_LogSeries *from = &memory->series[i];
        if (from->count > 0)
            memory->columns[log->column_count++] =
                (mf_LogColumn){from->name, from->count, from->time, from->value};
    }
    log->columns = memory->columns;
    if (log->column_count > 0)
        return MF_OK;
    return mf_fail_at(error, MF_BAD_FILE, log->path, 0, 0, "the log is empty: it has no samples%s",
                      strcmp(log->kind, "rosbag2") == 0
                          ? " of JointState, Imu, JointTrajectory or Float64MultiArray"
                          : "");
}

mf_Status mf_log_open(mf_Context *context, const char *path, const char *time, mf_Log **out,
                      mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(out != NULL, error, "log: out is NULL");
    *out = NULL;
    MF_NEED(context != NULL && path != NULL, error, "log: context or path is NULL");
    mf_Log *log = mf_allocate(context, 1, sizeof *log);
    MF_NEED_MEMORY(log != NULL, error, "log");
    log->context = context;
    log->kind = "CSV";
    log->memory = mf_allocate(context, 1, sizeof *log->memory);
    char *copy = log->memory != NULL ? mf_allocate(context, strlen(path) + 1, 1) : NULL;
    mf_Status status = MF_OK;
    if (copy == NULL) {
        status = mf_fail(error, MF_NO_MEMORY, "log: out of memory");
    } else {
        memcpy(copy, path, strlen(path));
        log->path = log->memory->path = copy;
    }
    MF_THEN(status, read_log(log, time, error));
    MF_THEN(status, finish(log, error));
    if (status != MF_OK)
        mf_log_destroy(log);
    else
        *out = log;
    return status;
}
