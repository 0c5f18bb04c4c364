// Columns of a log while they are read.
#pragma once

#include <mayfly/fit.h>

typedef struct mf_LogSeries {
    char *name;
    double *time, *value; // [s], [1]
    uint32_t count, capacity;
} mf_LogSeries;

typedef struct mf_LogMemory {
    mf_LogSeries *series;
    mf_LogColumn *columns;
    char *path;
    uint32_t count, capacity;
} mf_LogMemory;

enum { MF_LOG_COLUMNS = 4096 }; // [1] most of a log

// The number of the column of that name, which is added if it is missing.
mf_Status mf_log_column(mf_Log *log, const char *name, uint32_t *out, mf_Error *error);
// Another sample of a column.
mf_Status mf_log_sample(mf_Log *log, uint32_t column, double time, double value, mf_Error *error);

// Text in lines of cells, the first of which has the names. `time`: that of the column of times,
// and `factor` makes seconds of it.
mf_Status mf_log_read_csv(mf_Log *log, const char *time, double factor, char *data,
                          mf_Error *error);
// Recordings of mf_Recorder.
mf_Status mf_log_read_recording(mf_Log *log, mf_Error *error);
// Bags of ROS 2: databases, and MCAP that is no recording.
mf_Status mf_log_read_database(mf_Log *log, mf_Error *error);
mf_Status mf_log_read_mcap(mf_Log *log, const char *data, size_t size, mf_Error *error);
