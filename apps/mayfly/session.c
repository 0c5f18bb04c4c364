#include "session.h"
#include "scene/script/script.h"

#include <string.h>

#define INTERVAL_SECONDS 0.05 // [s] simulated between images near the present
#define IMAGE_SHARE 0.01      // [1] of the time, at most, in which images are taken
#define MEMORY 268435456.0    // [byte] of images, about
#define OCTAVES 16.0          // [1] of ages among which it is divided

// ---- images ------------------------------------------------------------------------------------

// Inputs that snapshots of the world leave out.
static bool is_loose(const mf_Field *field) {
    return (field->info.flags & MF_FIELD_INPUT) != 0 && (field->info.flags & MF_FIELD_STATE) == 0;
}

static size_t field_size(const mf_Field *field) {
    return (size_t)field->blocks * field->components * MF_BLOCK *
           mf_field_value_size(field->info.type);
}

// Copies all loose inputs into `data`, or back; NULL only counts. Returns their size [byte].
static size_t copy_inputs(mf_World *world, uint8_t *data, bool back) {
    size_t size = 0;
    for (uint32_t g = 0; g < mf_world_group_count(world); g++) {
        mf_Group *group = mf_world_group(world, g);
        for (uint32_t f = 0; f < mf_group_field_count(group); f++) {
            mf_Field *field = mf_group_field(group, f);
            if (!is_loose(field))
                continue;
            if (data != NULL && back)
                memcpy(field->data, data + size, field_size(field));
            else if (data != NULL)
                memcpy(data + size, field->data, field_size(field));
            size += field_size(field);
        }
    }
    return size;
}

static size_t rest_size(const mf_Session *session) {
    return session->memory.rest_count * sizeof *session->memory.rest;
}

// The size of a snapshot depends on the joints that were made meanwhile.
static bool reserve(mf_Session *session, mf_SessionImage *image) {
    const size_t size = mf_world_snapshot_size(session->scene->world);
    if (image->data != NULL && image->size == size)
        return true;
    mf_release(session->context, image->data);
    image->data =
        mf_allocate(session->context, size + session->inputs_size + rest_size(session), 1);
    image->size = size;
    return image->data != NULL;
}

// False: no memory, or the world has results that are in no field yet; there is no image then.
static bool take_image(mf_Session *session, mf_SessionImage *image) {
    mf_World *world = session->scene->world;
    const double before = mf_clock_seconds();
    if (!reserve(session, image) ||
        mf_world_snapshot(world, image->data, image->size, NULL) != MF_OK) {
        mf_release(session->context, image->data);
        image->data = NULL;
        return false;
    }
    copy_inputs(world, image->data + image->size, false);
    memcpy(image->data + image->size + session->inputs_size, session->memory.rest,
           rest_size(session));
    image->step = session->step;
    image->slot = session->step / session->interval;
    image->next = session->timeline.next;
    image->push = session->push;
    session->image_clock = mf_clock_seconds();
    session->image_seconds = session->image_clock - before;
    return true;
}

static bool set_image(mf_Session *session, const mf_SessionImage *image) {
    mf_World *world = session->scene->world;
    if (mf_world_restore(world, image->data, image->size, NULL) != MF_OK)
        return false;
    copy_inputs(world, image->data + image->size, true);
    memcpy(session->memory.rest, image->data + image->size + session->inputs_size,
           rest_size(session));
    session->step = image->step;
    session->timeline.next = image->next;
    session->push = image->push;
    return true;
}

static void drop_image(mf_Session *session, uint32_t index) {
    mf_release(session->context, session->images[index].data);
    session->image_count--;
    memmove(session->images + index, session->images + index + 1,
            (session->image_count - index) * sizeof *session->images);
    session->images[session->image_count] = (mf_SessionImage){.data = NULL};
}

static void drop_images_after(mf_Session *session, uint64_t step) {
    while (session->image_count > 1 && session->images[session->image_count - 1].step > step)
        drop_image(session, session->image_count - 1);
}

// The older, the rarer: of slot n those stay that are younger than a number of slots times the
// largest power of two that divides n.
static void thin_images(mf_Session *session, uint64_t slot) {
    const double size = (double)(session->images[0].size + session->inputs_size);
    const double fit = MEMORY / (size * OCTAVES);
    const uint64_t young = fit < 2.0 ? 2 : fit > 16.0 ? 16 : (uint64_t)fit;
    for (uint32_t i = session->image_count; i-- > 1;) {
        const uint64_t n = session->images[i].slot, even = n & (~n + 1);
        if (slot - n >= young * even)
            drop_image(session, i);
    }
}

// Where the world is at the end of a slot, and the last image is long enough ago.
static void keep_image(mf_Session *session) {
    const mf_SessionImage *last = &session->images[session->image_count - 1];
    if (session->only_once || session->step % session->interval != 0 ||
        session->step <= last->step ||
        mf_clock_seconds() - session->image_clock < session->image_seconds / IMAGE_SHARE)
        return;
    thin_images(session, session->step / session->interval);
    if (session->image_count >= MF_SESSION_IMAGES)
        return;
    if (take_image(session, &session->images[session->image_count]))
        session->image_count++;
}

// ---- acts --------------------------------------------------------------------------------------

static void perform(mf_Session *session, const mf_Act *act) {
    mf_Push *push = &session->push;
    if (act->kind == MF_ACT_RELEASE) {
        mf_push_release(push, &session->memory);
        return;
    }
    mf_Group *group = mf_world_group(session->scene->world, act->group);
    if (act->kind == MF_ACT_PUSH)
        mf_push_take(push, &session->memory, group, act->robot, act->part, act->values,
                     act->values + 3);
    else if (act->kind == MF_ACT_SET)
        mf_field_set(mf_group_field(group, act->field), act->robot, act->part, act->values[0]);
    else {
        if (push->on && push->group == group && push->robot == act->robot)
            mf_push_release(push, &session->memory);
        (void)mf_motion_switch(group, act->robot, (mf_Motion)act->part, NULL); // it can
    }
}

const char *mf_session_act(mf_Session *session, const mf_Act *act) {
    if (act->kind == MF_ACT_RELEASE && !session->push.on)
        return NULL;
    const char *note = mf_act_refused(session->scene->world, &session->push, act);
    if (note != NULL)
        return note;
    mf_Timeline *timeline = &session->timeline;
    mf_Act done = *act;
    done.step = session->step;
    drop_images_after(session, session->step);
    if (session->step < timeline->kept_step || timeline->next < timeline->kept_count)
        session->kept_elsewhere = true;
    if (!mf_timeline_add(timeline, &done))
        return "no more can be done: too much has been done already; start again";
    perform(session, &done);
    mf_session_write(session, NULL, &done, 0);
    return NULL;
}

void mf_session_catch_up(mf_Session *session) {
    mf_Timeline *timeline = &session->timeline;
    while (timeline->next < timeline->count &&
           timeline->acts[timeline->next].step <= session->step) {
        const mf_Act *act = &timeline->acts[timeline->next++];
        if (mf_act_refused(session->scene->world, &session->push, act) ==
            NULL) // a file may ask for anything
            perform(session, act);
    }
}

// ---- time --------------------------------------------------------------------------------------

// Steps until something else is to be done.
static uint64_t free_steps(const mf_Session *session, uint64_t count) {
    const mf_Timeline *timeline = &session->timeline;
    uint64_t out = session->interval - session->step % session->interval;
    if (timeline->next < timeline->count &&
        timeline->acts[timeline->next].step - session->step < out)
        out = timeline->acts[timeline->next].step - session->step;
    if (session->push.on) // the spring is that of each step
        out = 1;
    return out < count ? out : count;
}

// Scripts that have failed or stopped the run are not called: the world goes on without them.
static void step_world(mf_Session *session, uint64_t steps) {
    uint64_t done = 0;
    session->scripted = mf_scene_step(session->scene, steps, &done, &session->error);
    if (done == steps)
        return;
    mf_scene_leave_scripts(session->scene);
    mf_world_step(session->scene->world, steps - done);
}

void mf_session_step(mf_Session *session, uint64_t count) {
    const double step = mf_time_to_seconds(session->scene->step);
    for (const uint64_t end = session->step + count; session->step < end;) {
        mf_session_catch_up(session);
        if (session->push.on)
            mf_push_pull(&session->push, &session->memory, step);
        const uint64_t run = free_steps(session, end - session->step);
        step_world(session, run);
        session->step += run;
        keep_image(session);
    }
}

mf_Status mf_session_scripted(const mf_Session *session, mf_Error *error) {
    if (session->scripted != MF_OK && error != NULL)
        *error = session->error;
    return session->scripted;
}

// To a step, with so many acts done, from the last image before both.
static void go_to(mf_Session *session, uint64_t step, uint32_t acts) {
    uint32_t i = session->image_count - 1;
    while (i > 0 && (session->images[i].step > step || session->images[i].next > acts))
        i--;
    if (!set_image(session, &session->images[i]))
        return;
    mf_session_step(session, step - session->step);
}

void mf_session_back(mf_Session *session, uint64_t step) {
    if (step >= session->step)
        return;
    mf_session_write(session, "back", NULL, step);
    go_to(session, step, mf_timeline_before(&session->timeline, step));
}

void mf_session_reset(mf_Session *session) {
    mf_session_write(session, "reset", NULL, 0);
    drop_images_after(session, 0);
    (void)set_image(session, &session->images[0]); // of this very world
    session->timeline.count = session->timeline.next = 0;
    session->kept_elsewhere = true;
}

const char *mf_session_keep(mf_Session *session) {
    if (!take_image(session, &session->kept))
        return "this moment cannot be kept: no memory, or messages are in flight";
    if (!mf_timeline_keep(&session->timeline, session->step))
        return "this moment cannot be kept: no memory";
    session->kept_elsewhere = false;
    mf_session_write(session, "keep", NULL, 0);
    return NULL;
}

const char *mf_session_return(mf_Session *session) {
    if (session->kept.data == NULL)
        return "no moment has been kept";
    mf_session_write(session, "return", NULL, 0);
    if (!mf_timeline_return(&session->timeline))
        return "no memory";
    drop_images_after(session, session->kept_elsewhere ? 0 : session->kept.step);
    session->kept_elsewhere = false;
    (void)set_image(session, &session->kept);
    return NULL;
}

// ---- begin and end -----------------------------------------------------------------------------

mf_Status mf_session_begin(mf_Context *context, mf_Scene *scene, mf_Session *out, mf_Error *error) {
    const double interval = INTERVAL_SECONDS / mf_time_to_seconds(scene->step);
    *out = (mf_Session){.context = context,
                        .scene = scene,
                        .timeline = mf_timeline_begin(context),
                        .interval = interval > 1.0 ? (uint64_t)interval : 1};
    MF_TRY(mf_push_allocate(context, scene->world, &out->memory, error));
    out->inputs_size = copy_inputs(scene->world, NULL, false);
    if (!take_image(out, &out->images[0])) {
        mf_session_end(out);
        return mf_fail(error, MF_NO_MEMORY,
                       "session: the start cannot be kept: no memory, or messages are in flight");
    }
    out->image_count = 1;
    return MF_OK;
}

void mf_session_end(mf_Session *session) {
    if (session->file != NULL) {
        mf_session_write(session, "end", NULL, 0);
        const bool failed = ferror(session->file) != 0;
        if (fclose(session->file) != 0 || failed)
            fputs("mayfly: the file of the session could not be written completely\n", stderr);
    }
    for (uint32_t i = 0; i <= MF_SESSION_IMAGES; i++)
        mf_release(session->context, session->images[i].data);
    mf_release(session->context, session->kept.data);
    mf_timeline_free(&session->timeline);
    mf_push_free(&session->memory);
    *session = (mf_Session){.context = session->context};
}
