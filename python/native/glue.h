// What the Python module needs beside the public interface: native objects that several Python
// objects share, and loops.
#pragma once

#include <mayfly/mayfly.h>

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
    MFPY_PUSHER
} mfpy_Kind;

// A native object with a count of its users, which keeps alive what it borrows. Python's collector
// frees the objects of a cycle in any order; the counts make the order right. In a forked process
// objects of the parent are forgotten instead of destroyed: their threads do not exist there.
typedef struct mfpy_Object mfpy_Object;

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

// Uniform numbers in [0, 1) with 24 bits, `out`[width][count], of the instances in the list (NULL:
// the first `count`). Each depends on the robot's seed, episode and step, on the stream and on its
// column only.
void mfpy_uniform(const uint64_t *seeds, const uint32_t *episodes, const uint32_t *steps,
                  uint64_t stream, const int64_t *instances, uint32_t count, uint32_t width,
                  float *out);

// Writes columns of a field in physics step `substep` of a step of `decimation`: robot i gets the
// target of age a where lag[i] = substep + a decimation, and otherwise keeps its value. `targets`
// is [age][column][robot], robots in whole blocks.
void mfpy_write_targets(const mf_Field *field, const uint32_t *columns, uint32_t count,
                        const float *targets, uint32_t ages, const int32_t *lag, uint32_t substep,
                        uint32_t decimation);
// Rows of `count` robots, out[robot][column], from columns in[column][robot].
void mfpy_rows(const float *in, uint32_t columns, uint32_t count, float *out);

// ---- lists -------------------------------------------------------------------------------------

// Stores up to `capacity` properties of an instance that match; returns how many there are.
uint64_t mfpy_properties(mf_Group *group, uint32_t instance, const char *pattern, mf_Property *out,
                         uint64_t capacity);
