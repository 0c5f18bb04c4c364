// Differences between two looks at the robots of a scene (watch.h).
#include "scene/watch.h"
#include "world/attach.h"
#include "body/kind.h"
#include "model/points.h"

#include "math/scalar.h"

#define FALL 0.5403023058681398 // [1] cosine of 1 rad from the start, as `mayfly run` counts falls
#define UPRIGHT 0.8775825618903728 // [1] cosine of 0.5 rad: from here on it may fall again

// What was seen of a group.
typedef struct Seen {
    mf_Group *group;
    uint32_t *fault;       // [1] words, per robot
    bool *fallen;          // per robot; NULL: it cannot fall
    double (*up)[3];       // [1] the vertical at the start, in each base's frame
    const mf_Field *field; // of the states of parts; NULL: none
    uint32_t *state;       // [1] per robot and part
    const mf_Field *score; // NULL: none
    double *points;        // [1] per robot
} Seen;

struct mf_Watch {
    mf_Context *context;
    const mf_Scene *scene;
    Seen *groups;
};

const char *mf_happening_name(mf_HappeningKind kind) {
    const char *const names[MF_HAPPENINGS] = {"fault", "fall", mf_watched_parts.name, "score"};
    return names[kind];
}

// ---- what is observed --------------------------------------------------------------------------

static bool may_fall(const mf_SceneGroup *file, mf_Group *group) {
    return file->kind == NULL && mf_model_can_fall(mf_group_model(group)) &&
           mf_group_find_field(group, "base.orientation") != NULL;
}

static void read_rotation(mf_Group *group, uint32_t robot, double out[4]) {
    const mf_Field *field = mf_group_find_field(group, "base.orientation");
    mf_field_read(field, robot, 0, 4, out);
}

static mf_Status begin(mf_Watch *watch, uint32_t index, mf_Error *error) {
    mf_Context *context = watch->context;
    Seen *seen = &watch->groups[index];
    seen->group = mf_world_group(watch->scene->world, index);
    const uint32_t count = mf_group_count(seen->group);
    const bool falls = may_fall(&watch->scene->file->groups[index], seen->group);
    seen->fault = mf_allocate(context, count, sizeof *seen->fault);
    seen->fallen = falls ? mf_allocate(context, count, sizeof *seen->fallen) : NULL;
    seen->up = falls ? mf_allocate(context, count, sizeof *seen->up) : NULL;
    seen->field = mf_group_find_field(seen->group, mf_watched_parts.field);
    if (seen->field != NULL)
        seen->state =
            mf_allocate(context, (size_t)count * seen->field->components, sizeof *seen->state);
    seen->score = mf_group_find_field(seen->group, "value.score");
    if (seen->score != NULL)
        seen->points = mf_allocate(context, count, sizeof *seen->points);
    if (seen->fault == NULL || (falls && (seen->fallen == NULL || seen->up == NULL)) ||
        (seen->field != NULL && seen->state == NULL) ||
        (seen->score != NULL && seen->points == NULL))
        return mf_fail(error, MF_NO_MEMORY, "watch: out of memory");
    for (uint32_t i = 0; i < count && falls; i++) {
        static const double vertical[3] = {0.0, 0.0, 1.0};
        double rotation[4];
        read_rotation(seen->group, i, rotation);
        mf_quat_rotate_inverse(seen->up[i], rotation, vertical);
    }
    return MF_OK;
}

mf_Status mf_watch_create(const mf_Scene *scene, mf_Watch **out, mf_Error *error) {
    mf_Context *context = mf_world_context(scene->world);
    *out = NULL;
    mf_Watch *watch = mf_allocate(context, 1, sizeof *watch);
    Seen *groups = mf_allocate(context, scene->group_count, sizeof *groups);
    if (watch == NULL || groups == NULL) {
        mf_release(context, watch);
        mf_release(context, groups);
        return mf_fail(error, MF_NO_MEMORY, "watch: out of memory");
    }
    *watch = (mf_Watch){.context = context, .scene = scene, .groups = groups};
    mf_Status status = MF_OK;
    for (uint32_t g = 0; g < scene->group_count && status == MF_OK; g++)
        status = begin(watch, g, error);
    MF_THEN(status, mf_watch_look(watch, NULL, NULL, error));
    if (status != MF_OK)
        mf_watch_destroy(watch);
    else
        *out = watch;
    return status;
}

void mf_watch_destroy(mf_Watch *watch) {
    if (watch == NULL)
        return;
    for (uint32_t g = 0; g < watch->scene->group_count; g++) {
        mf_release(watch->context, watch->groups[g].fault);
        mf_release(watch->context, watch->groups[g].fallen);
        mf_release(watch->context, watch->groups[g].up);
        mf_release(watch->context, watch->groups[g].state);
        mf_release(watch->context, watch->groups[g].points);
    }
    mf_release(watch->context, watch->groups);
    mf_release(watch->context, watch);
}

// ---- what is new -------------------------------------------------------------------------------

typedef struct Look {
    Seen *seen;
    mf_WatchFn tell; // NULL: nothing is reported
    void *user;
    mf_Happening what;
} Look;

static mf_Status tell(const Look *look, mf_HappeningKind kind, uint32_t part, uint32_t value,
                      mf_Error *error) {
    mf_Happening what = look->what;
    what.kind = kind;
    what.part = part;
    what.value = value;
    return look->tell != NULL ? look->tell(&what, look->user, error) : MF_OK;
}

static mf_Status look_at_fault(Look *look, uint32_t robot, mf_Error *error) {
    const uint32_t word = mf_group_fault(look->seen->group, robot);
    const uint32_t raised = word & ~look->seen->fault[robot];
    look->seen->fault[robot] = word;
    return raised != 0 ? tell(look, MF_HAPPENING_FAULT, 0, raised, error) : MF_OK;
}

static mf_Status look_at_tilt(Look *look, uint32_t robot, mf_Error *error) {
    double rotation[4], up[3];
    read_rotation(look->seen->group, robot, rotation);
    mf_quat_rotate(up, rotation, look->seen->up[robot]);
    const bool before = look->seen->fallen[robot];
    if (up[2] < FALL)
        look->seen->fallen[robot] = true;
    else if (up[2] > UPRIGHT)
        look->seen->fallen[robot] = false;
    return !before && look->seen->fallen[robot] ? tell(look, MF_HAPPENING_FALL, 0, 0, error)
                                                : MF_OK;
}

static mf_Status look_at_states(Look *look, uint32_t robot, mf_Error *error) {
    const mf_Field *field = look->seen->field;
    for (uint32_t p = 0; field != NULL && p < field->components; p++) {
        uint32_t *before = &look->seen->state[robot * field->components + p];
        const uint32_t now = (uint32_t)mf_field_get(field, robot, p);
        const bool changed = now != *before;
        *before = now;
        if (changed)
            MF_TRY(tell(look, MF_HAPPENING_STATE, p, now, error));
    }
    return MF_OK;
}

static mf_Status look_at_score(Look *look, uint32_t robot, mf_Error *error) {
    if (look->seen->score == NULL)
        return MF_OK;
    const double now = mf_field_get(look->seen->score, robot, 0);
    const bool rose = now > look->seen->points[robot];
    look->seen->points[robot] = now;
    return rose ? tell(look, MF_HAPPENING_SCORE, 0, 0, error) : MF_OK;
}

static mf_Status look_at_group(Look *look, mf_Error *error) {
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < mf_group_count(look->seen->group) && status == MF_OK; i++) {
        look->what.robot = i;
        status = look_at_fault(look, i, error);
        if (status == MF_OK && look->seen->fallen != NULL)
            status = look_at_tilt(look, i, error);
        MF_THEN(status, look_at_states(look, i, error));
        MF_THEN(status, look_at_score(look, i, error));
    }
    return status;
}

mf_Status mf_watch_look(mf_Watch *watch, mf_WatchFn report_new, void *user, mf_Error *error) {
    for (uint32_t g = 0; g < watch->scene->group_count; g++) {
        Look look = {
            .seen = &watch->groups[g], .tell = report_new, .user = user, .what = {.group = g}};
        MF_TRY(look_at_group(&look, error));
    }
    return MF_OK;
}
