// A fit while it is made: unknowns, inputs and outputs of the simulation, and its batches.
#pragma once

#include <mayfly/fit.h>

#include "search/least_squares.h"

typedef enum mf_FitKind {
    MF_FIT_DAMPING,
    MF_FIT_FRICTION,
    MF_FIT_ARMATURE,
    MF_FIT_GAIN,
    MF_FIT_DERIVATIVE,
    MF_FIT_EFFORT,
    MF_FIT_DELAY,
    MF_FIT_KINDS,
    MF_FIT_ANGLE = MF_FIT_KINDS // initial error of a measured joint: not reported
} mf_FitKind;

// One unknown of the search; those that are reported come first.
typedef struct mf_FitUnknown {
    mf_FitKind kind;
    uint32_t joint; // [1] MF_NONE: delay
} mf_FitUnknown;

// What the log commands: a joint's target or an actuator's control.
typedef struct mf_FitInput {
    const mf_LogColumn *column;
    double factor;      // [1] of its values
    bool target;        // joint.target, else actuator.control
    uint32_t component; // [1]
} mf_FitInput;

// What the log measured, and the simulation's value of the same.
typedef struct mf_FitOutput {
    const mf_LogColumn *column;
    double factor;           // [1] of its values
    char field[MF_FIT_NAME]; // of the group
    uint32_t component;      // [1]
    uint32_t fitted, count;  // [1] samples until problem->fitted, and all from the beginning
    uint32_t skipped;        // [1] samples before the beginning
    double weight;           // [1] over the unit: one over the standard deviation
    double least;            // [1] or in the unit: noise at least, of rounding
    bool accelerates;        // its value after a step is a mean over the step
    mf_FitChannel *channel;
} mf_FitOutput;

// How predictions are integrated: as the file states; by Runge-Kutta, which models of MJCF files
// allow; or as stated, but extrapolated to steps of length 0.
typedef enum mf_FitAccuracy { MF_FIT_AS_FILE, MF_FIT_RUNGE_KUTTA, MF_FIT_LIMIT } mf_FitAccuracy;

typedef struct mf_FitProblem {
    mf_Context *context;
    const mf_Log *log;
    mf_SceneFile file;   // the caller's, of one exact robot
    mf_SceneGroup group; // its group
    mf_Model *loaded;    // NULL: the file has a model
    const mf_Model *model;
    double begin, fitted, end; // [s] of the log: commands begin; fitted until; last sample
    double step;               // [s] halved where it is too long
    mf_FitAccuracy accuracy;
    mf_FitUnknown unknowns[MF_UNKNOWN_MOST];
    mf_Unknown ranges[MF_UNKNOWN_MOST];
    double best[MF_UNKNOWN_MOST], other[MF_UNKNOWN_MOST]; // [1] points
    uint32_t unknown_count, parameter_count;              // [1] the latter are reported
    mf_FitInput *inputs;
    mf_FitOutput *outputs;
    uint32_t input_count, output_count; // [1]
    uint32_t fitted_samples, samples;   // [1] of all outputs
    double *angle, *rate;               // [rad], [rad/s] of joints at the start; NAN: the scene's
    double base[13]; // position, orientation, velocities of the base at the start; NAN: its own
    bool moves;      // some output is more than noise
    uint64_t simulations; // [1]
    char notes[MF_FIT_NOTES][MF_FIT_NOTE];
    uint32_t note_count; // [1]
} mf_FitProblem;

MF_PRINTF(2, 3) void mf_fit_note(mf_FitProblem *problem, const char *format, ...);

// ---- parameters (fit_parameters.c) -------------------------------------------------------------

const char *mf_fit_kind_name(mf_FitKind kind);
const char *mf_fit_unit(const mf_Model *model, const mf_FitUnknown *unknown);
void mf_fit_name(const mf_Model *model, const mf_FitUnknown *unknown, char out[MF_FIT_NAME]);
// The value in a model. NAN: it has no such parameter.
double mf_fit_value(const mf_Model *model, const mf_FitUnknown *unknown);
// A copy of the model with these values, without noise of sensors; from mf_allocate. It borrows all
// that does not change. NULL: no memory.
mf_Model *mf_fit_model(const mf_FitProblem *problem, const double *values);
// The unknowns that `text` requests, or the usual ones, and their ranges; `inertia` [kg m^2] of
// each joint at the start.
mf_Status mf_fit_choose(mf_FitProblem *problem, const char *text, const double *inertia,
                        mf_Error *error);

// ---- columns (fit_columns.c) -------------------------------------------------------------------

// Inputs, outputs, times and the state at the start; `group` is of the model.
mf_Status mf_fit_columns(mf_FitProblem *problem, mf_Group *group, const mf_FitConfig *config,
                         mf_FitChannel **channels, mf_Error *error);

// ---- simulation (fit_simulate.c) ---------------------------------------------------------------

// Simulates `count` points of unknowns with problem->step. `whole`: to the end of the log, with
// problem->samples values each, output after output; else until problem->fitted, with
// fitted_samples. What faults gets NAN.
mf_Status mf_fit_simulate(mf_FitProblem *problem, const double *points, uint32_t count, bool whole,
                          double *values, mf_Error *error);
