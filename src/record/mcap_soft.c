// What Foxglove's panels show of groups without links, a message per sample: particles as a point
// cloud (/GROUP/points), bars as cylinders (/GROUP/bars) and triangles (/GROUP/surface), with the
// colors that cameras see.
#include "record/foxglove.h"
#include "record/mcap_store.h"

#include "math/scalar.h"

#include <stdio.h>

enum { BODIES_MOST = 64 }; // [1] that are shown, per group
enum { NAME = 2 * MF_MCAP_NAME };
static const char world_frame[] = "world";

// ---- channels ----------------------------------------------------------------------------------

// Points: all particles. Others: the bodies that are shown.
static uint32_t count_bodies(const mf_Visual *visual) {
    const mf_Group *group = visual->group;
    const uint32_t count = mf_group_count(group);
    if (visual->kind == MF_VISUAL_POINTS)
        return count;
    if (mf_group_config_of(group)->isolated)
        return 1;
    return count < BODIES_MOST ? count : BODIES_MOST;
}

bool mf_mcap_soft_begin(mf_Recorder *recorder, mf_McapGroup *part, uint32_t scene, uint32_t cloud) {
    static const char *const topics[] = {[MF_VISUAL_POINTS] = "points",
                                         [MF_VISUAL_BARS] = "bars",
                                         [MF_VISUAL_TRIANGLES] = "surface"};
    const mf_Visual *visual = &part->visual;
    const mf_Surface *surface = &visual->surface;
    const bool points = visual->kind == MF_VISUAL_POINTS;
    char topic[NAME];
    part->soft = MF_NONE;
    if (visual->kind == MF_VISUAL_PARTS)
        return true;
    snprintf(topic, sizeof topic, "/%.150s/%s", mf_group_config_of(part->group)->name,
             topics[visual->kind]);
    part->bodies = count_bodies(visual);
    part->soft = mf_mcap_channel(&recorder->mcap->file, topic, points ? cloud : scene, NULL);
    const size_t capacity = points ? (size_t)part->bodies * sizeof(mf_FoxglovePoint)
                                   : 1 + 3 * (surface->vertex_count * sizeof(float) +
                                              surface->triangle_count * sizeof(uint32_t));
    part->scratch = mf_allocate(recorder->context, capacity, 1);
    return part->scratch != NULL;
}

// ---- samples -----------------------------------------------------------------------------------

// Those that wait for an emitter are nowhere.
static void put_points(mf_Text *out, const mf_McapGroup *part, mf_Time time) {
    const mf_Visual *visual = &part->visual;
    mf_FoxglovePoint *points = part->scratch;
    size_t count = 0;
    float color[3];
    mf_mcap_color(part, visual->color, color);
    for (uint32_t i = 0; i < part->bodies; i++) {
        if (mf_field_get(visual->waiting, i, 0) != 0.0)
            continue;
        mf_FoxglovePoint *point = &points[count++];
        for (uint32_t c = 0; c < 3; c++) {
            point->position[c] = (float)mf_field_get(visual->position, i, c);
            point->color[c] = (uint8_t)(255.0f * color[c] + 0.5f);
        }
        point->color[3] = 255;
    }
    mf_foxglove_cloud(out, time, world_frame, points, count);
}

static void put_bar(mf_Text *out, const mf_McapGroup *part, const mf_VisualBar *bar) {
    double offset[3], middle[3], rotation[4];
    float color[3];
    mf_vec3_sub(offset, bar->ends[1], bar->ends[0]);
    mf_vec3_add_scaled(middle, bar->ends[0], 0.5, offset);
    const double length = mf_vec3_length(offset), diameter = 2.0 * bar->radius;
    if (!mf_all_finite(middle, 3) || !(length > 0.0)) // it has no direction
        return;
    mf_visual_along(rotation, bar->ends[0], bar->ends[1]);
    mf_mcap_color(part, bar->color, color);
    mf_foxglove_cylinder(out, middle, rotation, (double[3]){diameter, diameter, length}, color);
}

static void put_bars(mf_Text *out, const mf_McapGroup *part, uint32_t robot) {
    for (uint32_t b = 0; b < mf_visual_bar_count(&part->visual, robot); b++) {
        mf_VisualBar bar;
        mf_visual_bar(&part->visual, robot, b, &bar);
        put_bar(out, part, &bar);
    }
}

// Without the triangles that are torn.
static void put_surface(mf_Text *out, const mf_McapGroup *part, uint32_t robot) {
    const mf_Surface *shape = &part->visual.surface;
    const double origin[3] = {0.0, 0.0, 0.0}, whole[4] = {1.0, 0.0, 0.0, 0.0};
    float *vertices = part->scratch, color[3];
    uint32_t *corners = (uint32_t *)(void *)(vertices + 3 * (size_t)shape->vertex_count), count = 0;
    for (uint32_t i = 0; i < 3 * shape->vertex_count; i++)
        vertices[i] = (float)mf_field_get(part->visual.position, robot, i);
    for (uint32_t t = 0; t < shape->triangle_count; t++)
        for (int c = 0; c < 3 && !shape->torn(part->group, robot, t); c++)
            corners[count++] = shape->triangles[t][c];
    mf_mcap_color(part, part->visual.color, color);
    mf_foxglove_triangles(out, origin, whole, vertices, shape->vertex_count, corners, count, color);
}

static void put_bodies(mf_Text *out, const mf_McapGroup *part, mf_Time time) {
    for (uint32_t r = 0; r < part->bodies; r++) {
        char name[NAME];
        snprintf(name, sizeof name, "%.150s/%u", mf_group_config_of(part->group)->name, r);
        const size_t opened = mf_foxglove_open_entity(out, time, world_frame, name);
        if (part->visual.kind == MF_VISUAL_TRIANGLES)
            put_surface(out, part, r);
        else
            put_bars(out, part, r);
        mf_proto_close(out, opened);
    }
}

void mf_mcap_soft_sample(mf_Recorder *recorder, const mf_McapGroup *part, mf_Time time) {
    mf_Text *out = &recorder->mcap->message;
    if (part->soft == MF_NONE)
        return;
    out->size = 0;
    if (part->visual.kind == MF_VISUAL_POINTS)
        put_points(out, part, time);
    else
        put_bodies(out, part, time);
    mf_mcap_message(&recorder->mcap->file, part->soft, time, out);
}
