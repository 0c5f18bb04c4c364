// What programs draw, in MCAP: an entity for each layer on /drawings, which later changes replace
// or delete, and the same as records on /mayfly/drawings, from which mayfly view shows it again.
#include "math/scalar.h"
#include "record/foxglove.h"
#include "record/mcap_store.h"
#include "visual/draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Members of an entity, and of its parts.
enum { METADATA = 6, ARROWS = 7, SPHERES = 9, LINES = 11, TEXTS = 13, POSE = 7 };

static const double whole[4] = {1.0, 0.0, 0.0, 0.0};

void mf_mcap_draw_begin(mf_Recorder *recorder, uint32_t scene) {
    mf_McapStore *store = recorder->mcap;
    mf_Text schema = mf_text_begin(recorder->context);
    mf_proto_describe(&schema, "mayfly", (const char *const[]){"Drawings time:T records:y", NULL});
    store->file.schemas.failed |= schema.failed;
    store->drawings = mf_mcap_channel(&store->file, "/drawings", scene, NULL);
    store->records =
        mf_mcap_channel(&store->file, "/mayfly/drawings",
                        mf_mcap_schema(&store->file, "mayfly.Drawings", &schema), NULL);
    mf_text_free(&schema);
}

// ---- entities ----------------------------------------------------------------------------------

static void read_point(const float *numbers, double out[3]) {
    for (int c = 0; c < 3; c++)
        out[c] = (double)numbers[c];
}

static void put_points(mf_Text *out, const mf_DrawnLayer *layer, const double color[4]) {
    const double size = (double)layer->thickness, ball[3] = {size, size, size};
    for (uint32_t i = 0; i < layer->count; i += 3) {
        double at[3];
        read_point(layer->numbers + i, at);
        const size_t opened = mf_proto_open(out, SPHERES);
        mf_foxglove_pose(out, 1, at, whole);
        mf_foxglove_vector(out, 2, ball);
        mf_foxglove_paint(out, 3, color);
        mf_proto_close(out, opened);
    }
}

// A strip for each piece between numbers that are NAN.
static void put_lines(mf_Text *out, const mf_DrawnLayer *layer, const double color[4]) {
    const double origin[3] = {0.0, 0.0, 0.0};
    size_t opened = 0;
    bool open = false;
    for (uint32_t i = 0; i < layer->count; i += 3) {
        double at[3];
        read_point(layer->numbers + i, at);
        const bool there = mf_all_finite(at, 3);
        if (there && !open) {
            opened = mf_proto_open(out, LINES);
            mf_proto_uint(out, 1, 0);
            mf_foxglove_pose(out, 2, origin, whole);
            mf_proto_double(out, 3, (double)layer->thickness);
            mf_foxglove_paint(out, 6, color);
        }
        if (there)
            mf_foxglove_vector(out, 5, at);
        else if (open)
            mf_proto_close(out, opened);
        open = there;
    }
    if (open)
        mf_proto_close(out, opened);
}

// From the z axis of mf_visual_along to the x axis, along which arrows are.
static void put_arrows(mf_Text *out, const mf_DrawnLayer *layer, const double color[4]) {
    const double thick = (double)layer->thickness, half = sqrt(0.5);
    const double to_x[4] = {half, 0.0, -half, 0.0};
    for (uint32_t i = 0; i < layer->count; i += 6) {
        double from[3], to[3], along[4], rotation[4], offset[3];
        read_point(layer->numbers + i, from);
        read_point(layer->numbers + i + 3, to);
        mf_vec3_sub(offset, to, from);
        const double length = mf_vec3_length(offset), head = fmin(3.0 * thick, 0.5 * length);
        if (!(length > 0.0))
            continue;
        mf_visual_along(along, from, to);
        mf_quat_multiply(rotation, along, to_x);
        const size_t opened = mf_proto_open(out, ARROWS);
        mf_foxglove_pose(out, 1, from, rotation);
        mf_proto_double(out, 2, length - head);
        mf_proto_double(out, 3, thick);
        mf_proto_double(out, 4, head);
        mf_proto_double(out, 5, 2.2 * thick);
        mf_foxglove_paint(out, 6, color);
        mf_proto_close(out, opened);
    }
}

static void put_text(mf_Text *out, const mf_DrawnLayer *layer, const double color[4]) {
    double at[3];
    read_point(layer->numbers, at);
    const size_t opened = mf_proto_open(out, TEXTS);
    mf_foxglove_pose(out, 1, at, whole);
    mf_proto_uint(out, 2, 1);
    mf_proto_double(out, 3, (double)layer->thickness);
    mf_foxglove_paint(out, 5, color);
    mf_proto_string(out, 6, layer->text);
    mf_proto_close(out, opened);
}

static void put_ghost(mf_Text *out, const mf_DrawnLayer *layer, const double color[4]) {
    const mf_Visual visual = mf_visual_of((mf_Group *)(uintptr_t)layer->group);
    const float paint[3] = {(float)color[0], (float)color[1], (float)color[2]};
    for (uint32_t i = 0; i < visual.part_count; i++) {
        mf_Shape shape;
        double at[3], pose[POSE];
        if (!mf_visual_part(&visual, MF_NONE, i, &shape) || shape.link == MF_NONE)
            continue;
        for (uint32_t c = 0; c < POSE; c++)
            pose[c] = (double)layer->numbers[POSE * shape.link + c];
        mf_quat_rotate(at, pose + 3, shape.position);
        mf_vec3_add(shape.position, at, pose);
        mf_quat_multiply(shape.rotation, pose + 3, shape.rotation);
        mf_foxglove_shape(out, mf_group_model(layer->group), &shape, paint);
    }
}

static void put_entity(mf_Text *out, const mf_DrawnLayer *layer, mf_Time time) {
    static void (*const kinds[])(mf_Text *, const mf_DrawnLayer *, const double[4]) = {
        put_points, put_lines, put_arrows, put_text, put_ghost};
    char frame[MF_MCAP_FRAME] = "world", name[32];
    double color[4];
    for (int c = 0; c < 4; c++)
        color[c] = (double)(layer->color >> (24 - 8 * c) & 255u) / 255.0;
    if (layer->group != NULL && layer->kind != MF_DRAW_GHOST)
        mf_mcap_link_frame(layer->group, layer->robot, layer->link, frame);
    snprintf(name, sizeof name, "drawing/%u", layer->slot);
    const size_t opened = mf_foxglove_open_entity(out, time, frame, name);
    const size_t pair = mf_proto_open(out, METADATA);
    mf_proto_string(out, 1, "layer");
    mf_proto_string(out, 2, layer->name);
    mf_proto_close(out, pair);
    kinds[layer->kind](out, layer, color);
    mf_proto_close(out, opened);
}

static void put_deletion(mf_Text *out, const mf_DrawnLayer *layer, mf_Time time) {
    char name[32];
    snprintf(name, sizeof name, "drawing/%u", layer->slot);
    const size_t opened = mf_proto_open(out, 1);
    mf_proto_time(out, 1, time);
    mf_proto_string(out, 3, name);
    mf_proto_close(out, opened);
}

// ---- samples -----------------------------------------------------------------------------------

static void put_entities(mf_Recorder *recorder, mf_Time time) {
    mf_McapStore *store = recorder->mcap;
    mf_Text *out = &store->message;
    mf_DrawnLayer layer;
    out->size = 0;
    while (mf_draw_next(recorder->world, store->drawn_serial, &layer)) {
        if (layer.kind == MF_DRAW_CLEARED)
            put_deletion(out, &layer, time);
        else
            put_entity(out, &layer, time);
        store->drawn_serial = layer.serial;
    }
    if (out->size > 0)
        mf_mcap_message(&store->file, store->drawings, time, out);
}

void mf_mcap_draw_sample(mf_Recorder *recorder, mf_Time time) {
    mf_McapStore *store = recorder->mcap;
    put_entities(recorder, time);
    if (recorder->drawn.size == 0)
        return;
    store->message.size = 0;
    mf_proto_time(&store->message, 1, time);
    mf_proto_bytes(&store->message, 2, recorder->drawn.data, recorder->drawn.size);
    mf_mcap_message(&store->file, store->records, time, &store->message);
    recorder->drawn.size = 0;
}
