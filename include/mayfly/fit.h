// Mayfly: parameters of a robot from a log of the machine: the model is simulated with the commands
// of the log, and what it shows is compared with what the machine has measured.
#pragma once

#include <mayfly/scene.h>

// ---- logs --------------------------------------------------------------------------------------

typedef struct mf_LogColumn {
    const char *name;    // "knee.position"
    uint32_t count;      // [1] samples, >= 1
    const double *time;  // [s] of each, rising
    const double *value; // [1] or in the unit that its name implies; finite
} mf_LogColumn;

// Columns of numbers over time, in memory; read-only.
typedef struct mf_Log {
    mf_Context *context;
    const char *path;
    const char *kind;      // "CSV", "HDF5", "MCAP", "rosbag2"
    int32_t names, last;   // [1] lines of the names and of the last sample; 0: no text
    uint32_t column_count; // [1]
    const mf_LogColumn *columns;
    struct mf_LogMemory *memory;
} mf_Log;

// Reads a log by its content: CSV with a line of names, a recording of Mayfly or other HDF5 file
// with a data set of times, or a bag of ROS 2 (SQLite or MCAP), of which the messages JointState,
// Imu and JointTrajectory are read. Times are in the column `time` [s] (NULL: "time"); bags have
// their own. An empty cell of CSV is no sample. *out must be destroyed before the context.
// MF_NOT_FOUND, MF_BAD_FILE with the line: a number that is none, times that do not rise, or no
// columns; MF_LIMIT: too large.
MF_API mf_Status mf_log_open(mf_Context *context, const char *path, const char *time, mf_Log **out,
                             mf_Error *error);
MF_API void mf_log_destroy(mf_Log *log); // NULL is allowed

// ---- the fit -----------------------------------------------------------------------------------

typedef struct mf_FitConfig {
    uint32_t struct_size;   // [byte] set by mf_fit_config()
    const char *parameters; // "damping,knee.friction=0:0.5,delay": kinds of all joints, or of one,
                            // with ranges where they are given; NULL: those that the log's joints
                            // have (docs/how_to/fit_a_log.md)
    const char *const *map; // map_count texts "column=name" or "column=name*factor": what a column
                            // is called here; "column=" ignores it. NULL: none
    uint32_t map_count;     // [1]
    double holdout;         // [1] 0 .. 0.9: last part of the time that is not fitted but predicted;
                            // default 0.2
    uint32_t population;    // [1] candidates in a generation, 4 .. 4096; 0: by their number of
                            // parameters; default 0
    uint32_t generations;   // [1] most of the search, before its refinement; default 20
    uint64_t seed;          // [1] of the search; default 1
} mf_FitConfig;
// The defaults of mf_FitConfig: every configuration starts from them.
MF_API mf_FitConfig mf_fit_config(void);

enum { MF_FIT_NAME = 96, MF_FIT_NOTE = 300, MF_FIT_NOTES = 64 };

typedef struct mf_FitParameter {
    char name[MF_FIT_NAME]; // "knee.damping", "delay"
    const char *unit;       // "N m s/rad"
    double start;           // [1] or in `unit`: of the model
    double value;           // [1] or in `unit`: fitted
    double interval;        // [1] or in `unit`: half the width of the 95 % interval
    double lower, upper;    // [1] or in `unit`: range of the search
    bool identified;        // false: the log does not tell it; a note says why
} mf_FitParameter;

// What was measured, compared with the simulation.
typedef struct mf_FitChannel {
    char name[MF_FIT_NAME]; // "knee.position"
    const char *unit;       // "rad"
    uint32_t samples;       // [1] fitted
    uint32_t predicted;     // [1] of the part that is not fitted
    double noise;           // [1] or in `unit`: standard deviation of the noise in the log
    // Root mean square of the difference, with the model's parameters and with the fitted ones; of
    // the part that is not fitted NAN where there is none.
    double before, after;                     // [1] or in `unit`
    double predicted_before, predicted_after; // [1] or in `unit`
} mf_FitChannel;

typedef struct mf_Fit {
    mf_Context *context;
    const char *file;         // of the robot
    const mf_Model *original; // borrowed from the problem
    mf_Model *model;          // with the fitted parameters; borrows from `original`
    uint32_t parameter_count, channel_count, note_count; // [1]
    mf_FitParameter *parameters;
    mf_FitChannel *channels;
    char (*notes)[MF_FIT_NOTE]; // what is unclear, one sentence each
    double delay;               // [s] of the commands
    double duration;            // [s] of the log
    double holdout;             // [s] of it that is predicted
    uint64_t simulations;       // [1] of the whole log
    uint64_t hash;              // [1] over the bits of all values
    struct mf_FitProblem *problem;
} mf_Fit;

// Fits the parameters of the only group of `file`, one robot that moves by `articulated`, to the
// log. `config` may be NULL. The file and the log must outlive the fit, which must be destroyed
// before the context. The same arguments give the same bits with any number of threads.
// MF_UNSUPPORTED: another scene, or a model without such a parameter. MF_BAD_ARGUMENT: a setting;
// or no column commands a joint or no column can be compared.
MF_API mf_Status mf_fit(mf_Context *context, mf_SceneFile *file, const mf_Log *log,
                        const mf_FitConfig *config, mf_Fit **out, mf_Error *error);
MF_API void mf_fit_destroy(mf_Fit *fit); // NULL is allowed

// Writes the result: *.yaml, the parameters with their intervals and the errors; *.urdf and
// *.xml, the robot's file with the fitted parameters, which is then loaded and compared.
// MF_UNSUPPORTED: the robot is in the other format.
MF_API mf_Status mf_fit_write(const mf_Fit *fit, const char *path, mf_Error *error);
