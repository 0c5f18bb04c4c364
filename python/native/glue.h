// What the Python module needs beside the public interface: native objects that several Python
// objects share, and loops.
#pragma once

#include "control/learner.h" // internal: no other program uses it
#include "engine/engine.h"   // likewise
#include <mayfly/mayfly.h>

#include "program.h"

// ---- shared objects ----------------------------------------------------------------------------

typedef enum mfpy_Kind {
    MFPY_CONTEXT,
    MFPY_MODEL,
    MFPY_TERRAIN,
    MFPY_WORLD,
    MFPY_RECORDER,
    MFPY_GAIT,
    MFPY_ENVIRONMENT,
    MFPY_SCENE,
    MFPY_SCENE_FILE,
    MFPY_BODY,
    MFPY_FREE_CAMERA,
    MFPY_PHOTOGRAPHER,
    MFPY_FILM,
    MFPY_PUSHER,
    MFPY_STAGE, // of mfpy_scene_create
    MFPY_SEARCH,
    MFPY_ARCHIVE
} mfpy_Kind;

// A native object with a count of its users, which keeps alive what it borrows. Python's collector
// frees the objects of a cycle in any order; the counts make the order right. In a forked process
// objects of the parent are forgotten instead of destroyed: their threads do not exist there.
typedef struct mfpy_Object mfpy_Object;

// The command (apps/mayfly/app.h), for the script of that name which the package installs.
int mf_app_main(int argc, char **argv);

// Takes over `native`; NULL without memory, and `native` is then destroyed.
mfpy_Object *mfpy_object_create(mfpy_Kind kind, void *native, mfpy_Object *context);
// `object` borrows `other`. False without memory.
bool mfpy_object_need(mfpy_Object *object, mfpy_Object *other);
void mfpy_object_release(mfpy_Object *object); // NULL is fine
// Gives up what a closed recorder was, which destroyed itself.
void mfpy_object_forget(mfpy_Object *object);
// The native object; NULL in another process than the one that made it.
void *mfpy_object_native(mfpy_Object *object);

// ---- many robots at a time ---------------------------------------------------------------------

// As the functions of groups, for each instance in the list.
void mfpy_reset(mf_Group *group, const uint32_t *instances, uint32_t count);
void mfpy_refresh(mf_Group *group, const uint32_t *instances, uint32_t count);
// The sensors of the file, in the present state as a reset measures them; none: nothing.
void mfpy_measure(mf_Group *group, const uint32_t *instances, uint32_t count);
// Rows of position_count and velocity_count values, one per instance in the list.
void mfpy_set_state(mf_Group *group, const uint32_t *instances, uint32_t count,
                    const double *position, const double *velocity);

// A field of all instances as rows of its components, without a view: what is quicker for groups of
// few robots. False: the group has no such field, or a value that was written is not finite there.
bool mfpy_read(mf_Group *group, const char *field, double *out);
bool mfpy_write(mf_Group *group, const char *field, const double *values);

// ---- tasks -------------------------------------------------------------------------------------

// Uniform numbers in [0, 1) with 24 bits, or those of mean 0 and variance 1, `out`[width][count],
// of the instances in the list (NULL: the first `count`). Each depends on the robot's seed, episode
// and step, on the stream and on its column only.
void mfpy_random(const mfpy_Robots *robots, uint64_t stream, const int64_t *instances,
                 uint32_t count, uint32_t width, bool gaussian, float *out);

// Writes columns of a field in physics step `substep` of a step of `decimation`: robot i gets the
// target of age a where lag[i] = substep + a decimation, and otherwise keeps its value. `targets`
// is [age][column][robot], robots in whole blocks.
void mfpy_write_targets(const mf_Field *field, const uint32_t *columns, uint32_t count,
                        const float *targets, uint32_t ages, const int32_t *lag, uint32_t substep,
                        uint32_t decimation);
// Heights of robots above the ground at points of a grid that turns about the vertical with them:
// out[point][robot] = z - ground - offset [m]. Poses are [component][robot] in rows of `stride`,
// quaternions (w, x, y, z); `grid` has x and y [m] of each point in the robot's frame. terrain
// NULL: the ground is level, at 0.
void mfpy_height_scan(const mf_Terrain *terrain, const float *positions, const float *rotations,
                      uint32_t stride, uint32_t count, const double *grid, uint32_t points,
                      double offset, float *out);

// A value that robots observe, and what becomes of it, in this order.
typedef struct mfpy_Observation {
    const float *value; // [number][robot] in rows of `stride`
    uint32_t stride;
    bool noisy, gaussian, limited;
    uint64_t stream;    // of noise, as mfpy_random
    float low, span;    // noise is uniform in low .. low + span, or has this mean and deviation
    float least, most;  // limits
    const float *scale; // [width] factors; NULL: 1
    uint32_t width;     // [1] numbers of the value
    uint32_t first;     // [1] its first column in a row
    uint32_t history;   // [1] values in a row, the oldest first
} mfpy_Observation;

// Writes values to rows[robot][column] of the instances in the list, as mfpy_random, by the
// threads of the context. Older values move one place on; where `fresh` they are the new one.
// `copy` gets the same rows; NULL: there is none.
void mfpy_observe(mf_Context *context, const mfpy_Robots *robots, const int64_t *instances,
                  uint32_t count, const mfpy_Observation *terms, uint32_t term_count,
                  const bool *fresh, float *rows, uint32_t columns, float *copy);

// ---- searches ----------------------------------------------------------------------------------

// The answers of a search, in the order in which mf_search_advance asks: functions below, with
// this as `user`, answer from it and stop with MF_STOPPED at the first genomes that have no answer.
// A stopped search does not change, so the next mf_search_advance reaches the same genomes again.
typedef struct mfpy_Answers {
    const double *fitness;      // [count]
    const double *descriptors;  // [count][dimensions]
    uint32_t count, dimensions; // [1]
    uint32_t used;              // [1] of count, since mf_search_advance began
    const uint8_t *asked;       // without an answer, borrowed from the search; NULL: none
    uint32_t asked_count;       // [1] genomes
    bool verifies;              // asked by mfpy_verify
} mfpy_Answers;

mf_Status mfpy_evaluate(void *user, const uint8_t *genomes, uint32_t count, uint32_t genome_bytes,
                        double *fitness, mf_Error *error);
mf_Status mfpy_verify(void *user, const uint8_t *genomes, uint32_t count, uint32_t genome_bytes,
                      double *fitness, mf_Error *error);
mf_Status mfpy_describe(void *user, const uint8_t *genomes, uint32_t count, uint32_t genome_bytes,
                        double *values, mf_Error *error);

// mf_scene_create with memory for the scene.
mf_Status mfpy_scene_create(mf_Context *context, mf_SceneFile *file, const mf_SceneConfig *config,
                            mf_Scene **out, mf_Error *error);

// ---- lists -------------------------------------------------------------------------------------

// Stores up to `capacity` properties of an instance that match; returns how many there are.
uint64_t mfpy_properties(mf_Group *group, uint32_t instance, const char *pattern, mf_Property *out,
                         uint64_t capacity);
