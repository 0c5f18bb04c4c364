// Streams of time-stamped poses: what they show at any time.
//
// Between two poses positions follow the cubic through them and their neighbours (with fewer poses
// a parabola or a line): for equal distances h the error is at most 3/128 h^4 |d4p/dt4|, that of
// the velocity h^3/12 |d4p/dt4|. Quaternions follow such a curve, too, and are normalized; the
// angular velocity is that of the normalized curve, 2 q^-1 q'. Beyond the newest pose both go on
// along the tangent of the parabola through the last three.
//
// Invariants: the order of the poses in memory does not matter, except that of two with the same
// time the first one counts.
#include "motion/external/poses.h"
#include "math/scalar.h"
#include "world/attach.h"

#include <string.h>

#define SPAN 7u // [1] numbers that are interpolated: position, orientation

typedef struct Pose {
    double time; // [s]
    double values[SPAN];
} Pose;

// The poses around a time, nearest first: at most three before it or at it, two after it.
typedef struct Window {
    Pose past[3], next[2];
    uint32_t past_count, next_count;
    double newest; // [s] time of the newest of all
} Window;

static bool load_pose(Pose *out, const mf_Field *poses, uint32_t instance, uint32_t number) {
    double row[MF_POSE_WIDTH];
    mf_field_read(poses, instance, number * MF_POSE_WIDTH, MF_POSE_WIDTH, row);
    if (!mf_all_finite(row, MF_POSE_WIDTH) || !mf_quat_normalize(row + 4))
        return false;
    out->time = row[0];
    memcpy(out->values, row + 1, sizeof out->values);
    return true;
}

// Keeps the `most` poses that are nearest in time; sign 1: greater times are nearer.
static void insert(Pose *list, uint32_t *count, uint32_t most, double sign, const Pose *pose) {
    uint32_t at = 0;
    while (at < *count && sign * (list[at].time - pose->time) > 0.0)
        at++;
    if (at == most || (at < *count && !(sign * (pose->time - list[at].time) > 0.0)))
        return;
    *count += *count < most;
    for (uint32_t i = *count - 1; i > at; i--)
        list[i] = list[i - 1];
    list[at] = *pose;
}

static void find(Window *window, const mf_Field *poses, uint32_t instance, double time) {
    const uint32_t count = poses->components / MF_POSE_WIDTH;
    Pose pose;
    window->past_count = window->next_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!load_pose(&pose, poses, instance, i))
            continue;
        if (window->past_count + window->next_count == 0 || pose.time > window->newest)
            window->newest = pose.time;
        if (pose.time <= time)
            insert(window->past, &window->past_count, 3, 1.0, &pose);
        else
            insert(window->next, &window->next_count, 2, -1.0, &pose);
    }
}

// q and -q are one rotation: puts a quaternion on the side of another.
static void align(Pose *pose, const Pose *with) {
    double dot = 0.0;
    for (uint32_t c = 3; c < SPAN; c++)
        dot += pose->values[c] * with->values[c];
    for (uint32_t c = 3; c < SPAN && dot < 0.0; c++)
        pose->values[c] = -pose->values[c];
}

static void align_all(Window *window) {
    for (uint32_t i = 1; i < window->past_count; i++)
        align(&window->past[i], &window->past[i - 1]);
    for (uint32_t i = 0; i < window->next_count && window->past_count > 0; i++)
        align(&window->next[i], i > 0 ? &window->next[i - 1] : &window->past[0]);
}

// Value and slope at `time` of the polynomial through up to four poses (Newton's form).
static void interpolate(const Pose *const *nodes, uint32_t count, double time, uint32_t c,
                        double *value, double *slope) {
    double differences[4] = {0};
    for (uint32_t i = 0; i < count; i++)
        differences[i] = nodes[i]->values[c];
    for (uint32_t k = 1; k < count; k++)
        for (uint32_t i = count - 1; i >= k; i--)
            differences[i] =
                (differences[i] - differences[i - 1]) / (nodes[i]->time - nodes[i - k]->time);
    *value = differences[count - 1];
    *slope = 0.0;
    for (uint32_t i = count - 1; i-- > 0;) {
        const double from = time - nodes[i]->time;
        *slope = *slope * from + *value;
        *value = *value * from + differences[i];
    }
}

// False: numbers too great, or opposite quaternions with nothing between them.
static bool put(mf_PoseShown *out, const double values[SPAN], const double slopes[SPAN]) {
    double back[4], rotation[4], square = 0.0;
    if (!mf_all_finite(values, SPAN) || !mf_all_finite(slopes, SPAN))
        return false;
    memcpy(out->position, values, sizeof out->position);
    memcpy(out->attitude, values + 3, sizeof out->attitude);
    memcpy(out->velocity, slopes, sizeof out->velocity);
    for (uint32_t c = 3; c < SPAN; c++)
        square += values[c] * values[c];
    mf_quat_conjugate(back, values + 3);
    mf_quat_multiply(rotation, back, slopes + 3);
    mf_vec3_scale(out->rate, rotation + 1, 2.0 / square);
    return mf_quat_normalize(out->attitude) && mf_all_finite(out->rate, 3);
}

// The poses that the time lies among, in their order.
static uint32_t choose(const Window *window, const Pose *nodes[4]) {
    const bool ends = window->next_count == 0;
    const uint32_t most = ends ? 3 : 2;
    uint32_t count = 0;
    for (uint32_t i = window->past_count < most ? window->past_count : most; i-- > 0;)
        nodes[count++] = &window->past[i];
    for (uint32_t i = 0; i < window->next_count; i++)
        nodes[count++] = &window->next[i];
    return count;
}

mf_PoseState mf_poses_show(const mf_Field *poses, uint32_t instance, double time, double hold,
                           mf_PoseShown *out) {
    Window window;
    const Pose *nodes[4];
    double values[SPAN], slopes[SPAN];
    find(&window, poses, instance, time);
    out->age = 0.0;
    if (window.past_count + window.next_count == 0)
        return MF_POSES_NONE;
    out->age = time - window.newest;
    align_all(&window);
    mf_PoseState state = MF_POSES_BETWEEN;
    uint32_t count = choose(&window, nodes);
    double at = time, ahead = 0.0;
    if (window.past_count == 0) {
        state = MF_POSES_EARLY;
        at = nodes[0]->time;
        count = 1;
    } else if (window.next_count == 0) {
        state = out->age <= hold ? MF_POSES_BEYOND : MF_POSES_CONSTANT;
        at = window.newest;
        ahead = out->age < hold ? out->age : hold;
    }
    for (uint32_t c = 0; c < SPAN; c++) {
        interpolate(nodes, count, at, c, &values[c], &slopes[c]);
        values[c] += ahead * slopes[c];
    }
    if (state == MF_POSES_CONSTANT)
        memset(slopes, 0, sizeof slopes);
    return put(out, values, slopes) ? state : MF_POSES_NONE;
}
