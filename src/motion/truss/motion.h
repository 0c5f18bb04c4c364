// The host's side that `quasistatic` and `elastic` share: what kernels do not see.
#pragma once

#include <mayfly/elastic.h>
#include <mayfly/quasistatic.h>
#include "motion/table.h"
#include "motion/truss/plan.h"

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
    MF_TRUSS_ROW_TRACE,
    MF_TRUSS_ROW_TRACED,
    MF_TRUSS_ROW_VELOCITY,
    MF_TRUSS_ROW_MOVEMENT,
    MF_TRUSS_ROW_CHANGE,
    MF_TRUSS_ROWS
};

typedef struct mf_TrussMotion {
    mf_TrussPlan plan;
    const mf_MotionRow *row;
    mf_QuasistaticConfig config; // as given; `truss` is NULL
    const mf_TerrainImage *terrain;
    mf_Field *rows[MF_TRUSS_ROWS];
    mf_Field *body[MF_BODY_ROWS];
    mf_WarningFields warnings;
    double start[3]; // [m] of the center of the truss that the group began with, not moved
    mf_Dispatch dispatch;
    mf_TrussFrameFn frame, frame_one;
} mf_TrussMotion;

// The motion of a group of trusses; NULL: the group has none.
const mf_TrussMotion *mf_truss_motion_of(const mf_Group *group);

// Makes the plan and its fields for the motion of `row`.
mf_Status mf_truss_motion_make(mf_Group *group, mf_TrussMotion *motion, const mf_MotionRow *row,
                               const mf_QuasistaticConfig *config, mf_Error *error);
uint64_t mf_truss_motion_hash(const void *motion);
// Gives all instances the truss, at its own start.
mf_Status mf_truss_motion_fill(mf_Group *group, mf_TrussMotion *motion, const mf_Truss *truss,
                               mf_Error *error);
mf_Status mf_truss_motion_fields(mf_Group *group, mf_TrussMotion *motion, mf_Error *error);

// What the rows of both motions have in common.
extern const char *const mf_truss_motion_reads[], *const mf_truss_motion_writes[];
void mf_truss_motion_run(const mf_SystemRun *run, void *motion);
void mf_truss_motion_reset(mf_Group *group, uint32_t instance, void *motion);
void mf_truss_motion_enter(mf_Group *group, uint32_t instance, void *motion); // at rest
void mf_truss_motion_destroy(mf_Context *context, void *motion);
mf_MotionEnergy mf_truss_motion_energy(const mf_Group *group, const void *plan, uint32_t instance);
void mf_truss_motion_momentum(const mf_Group *group, const void *plan, uint32_t instance,
                              double center[3], double linear[3], double angular[3]);

// What both rows have alike; `section`: of mf_MotionsConfig.
#define MF_TRUSS_ROW(section)                                                                      \
    .name = #section, .body = "truss", .switches = true, .any_gravity = true,                      \
    .look = {.kind = MF_VISUAL_BARS, .color = {0.62f, 0.65f, 0.68f}, .counts = "truss.counts"},    \
    .plan_size = sizeof(mf_TrussMotion), .make = make_##section, .hash = mf_truss_motion_hash,     \
    .begin = begin_##section, .run = mf_truss_motion_run, .reset = mf_truss_motion_reset,          \
    .enter = mf_truss_motion_enter, .destroy = mf_truss_motion_destroy,                            \
    .reads = mf_truss_motion_reads, .writes = mf_truss_motion_writes,                              \
    .defaults = section##_defaults,                                                                \
    .common = {.contacts = offsetof(mf_MotionsConfig, section.contacts),                           \
               .friction = offsetof(mf_MotionsConfig, section.friction)},                          \
    .keys = section##_keys, .key_count = sizeof section##_keys / sizeof *section##_keys,           \
    .energy = mf_truss_motion_energy

// Keys that both motions have; `section` is "motion.quasistatic", `name` the member of
// mf_MotionsConfig.
// clang-format off
#define MF_TRUSS_KEY(section, name, member, kind, flags, unit, fallback, lower, upper, text)       \
    MF_KEY(section "." #member, kind, flags, unit, fallback, lower, upper, NULL,                   \
           offsetof(mf_MotionsConfig, name.member), text)
#define MF_TRUSS_SCRATCH(section, name, member)                                                    \
    MF_TRUSS_KEY(section, name, member, MF_KEY_COUNT, 0, "1", "0", 0, MF_TRUSS_MOST,               \
                 "capacity for other trusses; 0: that of the file's truss")
#define MF_TRUSS_KEYS(section, name)                                                               \
    MF_TRUSS_SCRATCH(section, name, vertices),                                                     \
    MF_TRUSS_SCRATCH(section, name, bars),                                                         \
    MF_TRUSS_SCRATCH(section, name, actuators),                                                    \
    MF_TRUSS_KEY(section, name, collisions, MF_KEY_FLAG, 0, "", "true", 0, 0,                      \
                 "bars collide with bars of the same truss"),                                      \
    MF_TRUSS_KEY(section, name, samples, MF_KEY_COUNT, 0, "1", "3", 0, 16,                         \
                 "points between a bar's ends that touch a height map"),                           \
    MF_TRUSS_KEY(section, name, stiffness, MF_KEY_REAL, MF_KEY_ABOVE, "N/m", "100000", 0, 1e12,    \
                 "of contacts"),                                                                   \
    MF_TRUSS_KEY(section, name, grip, MF_KEY_REAL, MF_KEY_ABOVE, "N/m", "10000", 0, 1e12,          \
                 "stiffness of a sticking contact along the ground"),                              \
    MF_TRUSS_KEY(section, name, noise, MF_KEY_REAL, 0, "N", "0", 0, 1e6,                           \
                 "standard deviation of a random force on each axis of each vertex, new in each "  \
                 "frame"),                                                                         \
    MF_TRUSS_KEY(section, name, actuator_speed, MF_KEY_REAL, MF_KEY_ABOVE, "m/s", "0.1", 0, 1e6,   \
                 "fastest change of an actuator"),                                                 \
    MF_TRUSS_KEY(section, name, tolerance, MF_KEY_REAL, MF_KEY_ABOVE, "1", "1e-06", 0, 1,          \
                 "largest force left at a vertex, as a share of the load"),                        \
    MF_TRUSS_KEY(section, name, iterations, MF_KEY_COUNT, 0, "1", "500", 1, 1000000,               \
                 "limit per frame"),                                                               \
    MF_TRUSS_KEY(section, name, reach, MF_KEY_REAL, MF_KEY_ABOVE, "m", "0.02", 0, 1e3,             \
                 "longest movement of a vertex in an iteration")
// clang-format on

static inline double mf_truss_get(const mf_TrussMotion *motion, int row, uint32_t instance,
                                  size_t component) {
    return mf_field_get(motion->rows[row], instance, (uint32_t)component);
}

static inline uint32_t mf_truss_number(const mf_TrussMotion *motion, uint32_t instance, int count) {
    return (uint32_t)mf_truss_get(motion, MF_TRUSS_ROW_COUNTS, instance, (size_t)count);
}
