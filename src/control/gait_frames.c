// Keyframes compiled for a model: a polynomial per joint and segment.
//
// Cubic curves have at each frame the slope that Fritsch and Butland (1984) give, the weighted
// harmonic mean of the slopes on both sides (0 where these have different signs), so that a curve
// never leaves the range between the frames on both sides. At the ends the slope is 0, unless the
// frames are a loop.
#include "control/gait_refuse.h"

#include "math/scalar.h"

#include <stdio.h>

// State of the compilation: angles by frame and joint.
typedef struct Frames {
    const mf_GaitKeyframes *keyframes;
    const mf_Model *model;
    mf_GaitDraft *draft;
    double *values; // frame after frame, a row of the plan after the other
} Frames;

static mf_Status check_frames(const mf_GaitKeyframes *keyframes, mf_GaitBlame *blame,
                              mf_Error *error) {
    if (!(keyframes->blend >= 0.0 && keyframes->blend <= 60.0))
        return mf_gait_refuse(blame, error, "blend", "need 0 .. 60 s, found %g", keyframes->blend);
    if ((unsigned)keyframes->curve > MF_GAIT_LINEAR)
        return mf_gait_refuse(blame, error, "curve", "no such curve");
    if (keyframes->frame_count == 0)
        return mf_gait_refuse(blame, error, "frames", "need at least one frame");
    for (uint32_t i = 0; i < keyframes->frame_count; i++) {
        char path[60];
        double time = keyframes->frames[i].time;
        double before = i == 0 ? 0.0 : keyframes->frames[i - 1].time;
        snprintf(path, sizeof path, "frames.%u.time", i);
        if (!(time >= 0.0 && time <= 3600.0))
            return mf_gait_refuse(blame, error, path, "need 0 .. 3600 s, found %g", time);
        if (i > 0 && mf_time_from_seconds(time) <= mf_time_from_seconds(before))
            return mf_gait_refuse(blame, error, path,
                                  "need a time after that before, %g s, found %g", before, time);
    }
    if (keyframes->loop && keyframes->frame_count < 2)
        return mf_gait_refuse(blame, error, "loop", "need at least two frames for a loop");
    if (keyframes->loop && mf_time_from_seconds(keyframes->frames[0].time) > 0)
        return mf_gait_refuse(blame, error, "frames.0.time", "need 0 in a loop, found %g",
                              keyframes->frames[0].time);
    return MF_OK;
}

// First all joints get their rows, then each frame's angles are stored.
static mf_Status find_joints(const Frames *frames, bool store, mf_GaitBlame *blame,
                             mf_Error *error) {
    for (uint32_t f = 0; f < frames->keyframes->frame_count; f++) {
        const mf_GaitFrame *frame = &frames->keyframes->frames[f];
        size_t width = frames->draft->plan.count; // final: all joints have rows
        double *row = store ? frames->values + f * width : NULL;
        for (uint32_t j = 0; store && j < width; j++)
            row[j] =
                f > 0 ? (row - width)[j] : frames->model->start_angle[frames->draft->joints[j]];
        for (uint32_t i = 0; i < frame->angle_count; i++) {
            char path[60];
            uint32_t joint;
            snprintf(path, sizeof path, "frames.%u.angles", f);
            MF_TRY(
                mf_gait_find_angle(frames->model, &frame->angles[i], path, &joint, blame, error));
            uint32_t at = mf_gait_row(frames->draft, frames->model, joint);
            if (store)
                row[at] = frame->angles[i].angle;
        }
    }
    return MF_OK;
}

// Slope of a joint at frame `f`, in units per second.
static double slope(const Frames *frames, uint32_t f, uint32_t joint) {
    const mf_GaitKeyframes *keyframes = frames->keyframes;
    uint32_t last = keyframes->frame_count - 1;
    if ((f == 0 || f == last) && !keyframes->loop)
        return 0.0;
    uint32_t before = f == 0 ? last : f, after = f == last ? 0 : f;
    const mf_GaitFrame *list = keyframes->frames;
    const double *values = frames->values + joint;
    size_t width = frames->draft->plan.count;
    double h0 = list[before].time - list[before - 1].time;
    double h1 = list[after + 1].time - list[after].time;
    double d0 = (values[before * width] - values[(before - 1) * width]) / h0;
    double d1 = (values[(after + 1) * width] - values[after * width]) / h1;
    if (!(d0 * d1 > 0.0))
        return 0.0;
    double weight = (h0 + 2.0 * h1) / (3.0 * (h0 + h1));
    return d0 * d1 / (weight * d1 + (1.0 - weight) * d0);
}

// Coefficients of the segment from frame f to the next.
static void fit(const Frames *frames, uint32_t f, uint32_t joint, double out[4]) {
    const mf_GaitFrame *list = frames->keyframes->frames;
    size_t width = frames->draft->plan.count;
    double start = frames->values[f * width + joint];
    double rise = frames->values[(f + 1) * width + joint] - start;
    double length = list[f + 1].time - list[f].time;
    double first = slope(frames, f, joint) * length, last = slope(frames, f + 1, joint) * length;
    bool linear = frames->keyframes->curve == MF_GAIT_LINEAR;
    out[0] = start;
    out[1] = linear ? rise : first;
    out[2] = linear ? 0.0 : 3.0 * rise - 2.0 * first - last;
    out[3] = linear ? 0.0 : first + last - 2.0 * rise;
}

static bool starts_constant(const mf_GaitKeyframes *keyframes) {
    return keyframes->frame_count == 1 || mf_time_from_seconds(keyframes->frames[0].time) > 0;
}

// A first frame later than 0 holds before its time, a single frame always.
static void fill(const Frames *frames) {
    mf_GaitDraft *draft = frames->draft;
    const mf_GaitFrame *list = frames->keyframes->frames;
    uint32_t segment = 0;
    draft->times[0] = 0;
    if (starts_constant(frames->keyframes)) {
        for (uint32_t j = 0; j < draft->plan.count; j++)
            draft->curves[4 * j] = frames->values[j]; // the others are zeros from allocation
        draft->times[++segment] = mf_time_from_seconds(list[0].time);
    }
    for (uint32_t f = 0; f + 1 < frames->keyframes->frame_count; f++) {
        for (uint32_t j = 0; j < draft->plan.count; j++)
            fit(frames, f, j, draft->curves + ((size_t)segment * draft->plan.count + j) * 4);
        draft->times[++segment] = mf_time_from_seconds(list[f + 1].time);
    }
    draft->plan.period = draft->times[segment];
}

mf_Status mf_gait_draft_frames(mf_Context *context, const mf_GaitKeyframes *keyframes,
                               const mf_Model *model, mf_GaitDraft *draft, mf_GaitBlame *blame,
                               mf_Error *error) {
    mf_Status status = check_frames(keyframes, blame, error);
    if (status != MF_OK || model == NULL)
        return status;
    Frames frames = {keyframes, model, draft, NULL};
    MF_TRY(find_joints(&frames, false, blame, error));
    uint32_t count = keyframes->frame_count;
    draft->plan.blend = keyframes->blend;
    draft->plan.loop = keyframes->loop;
    draft->plan.segment_count = count - 1 + (starts_constant(keyframes) ? 1 : 0);
    draft->times = mf_allocate(context, draft->plan.segment_count + 1, sizeof *draft->times);
    draft->curves = mf_allocate(context, (size_t)draft->plan.segment_count * draft->plan.count * 4,
                                sizeof *draft->curves);
    frames.values = mf_allocate(context, (size_t)count * draft->plan.count, sizeof *frames.values);
    if (draft->times == NULL || draft->curves == NULL || frames.values == NULL) {
        status = mf_fail(error, MF_NO_MEMORY, "gait: out of memory");
    } else {
        status = find_joints(&frames, true, blame, error);
        fill(&frames);
    }
    mf_release(context, frames.values);
    return status;
}
