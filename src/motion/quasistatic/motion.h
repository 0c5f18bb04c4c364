// The host's side of quasi-static trusses: what kernels do not see.
#ifndef MF_MOTION_QUASISTATIC_MOTION_H
#define MF_MOTION_QUASISTATIC_MOTION_H

#include "motion/quasistatic/plan.h"

enum { // rows of a group, in the order of the table of fields
    MF_TRUSS_ROW_COUNTS,
    MF_TRUSS_ROW_START,
    MF_TRUSS_ROW_HOME,
    MF_TRUSS_ROW_POSITION,
    MF_TRUSS_ROW_MASS,
    MF_TRUSS_ROW_RADIUS,
    MF_TRUSS_ROW_LOAD,
    MF_TRUSS_ROW_FIXED,
    MF_TRUSS_ROW_ORDER,
    MF_TRUSS_ROW_ENDS,
    MF_TRUSS_ROW_REST_HOME,
    MF_TRUSS_ROW_REST,
    MF_TRUSS_ROW_RIGIDITY,
    MF_TRUSS_ROW_DIAMETER,
    MF_TRUSS_ROW_FORCE,
    MF_TRUSS_ROW_STRESS,
    MF_TRUSS_ROW_ACTUATOR,
    MF_TRUSS_ROW_RANGE,
    MF_TRUSS_ROW_COMMAND,
    MF_TRUSS_ROW_ANCHOR,
    MF_TRUSS_ROW_CONTACT,
    MF_TRUSS_ROW_STREAM,
    MF_TRUSS_ROW_RELAXATION,
    MF_TRUSS_ROW_ITERATIONS,
    MF_TRUSS_ROWS
};

typedef struct mf_TrussMotion {
    mf_TrussPlan plan;
    mf_QuasistaticConfig config;
    const mf_TerrainImage *terrain;
    mf_Field *rows[MF_TRUSS_ROWS];
    mf_Field *body[MF_BODY_ROWS];
    mf_WarningFields warnings;
    double start[3]; // [m] of the center of the truss that the group began with, not moved
    mf_Dispatch dispatch;
    mf_TrussFrameFn frame, frame_one;
} mf_TrussMotion;

#endif
