// What Foxglove's panels show of groups without links, a message per sample: particles as a point
// cloud (/GROUP/points), the bars of trusses as cylinders (/GROUP/bars) and cloths as triangles
// (/GROUP/surface), with the colors that cameras see (camera/render_soft.c).
#include "record/foxglove.h"
#include "motion/truss/motion.h"
#include "motion/cloth/motion.h"
#include "record/mcap_store.h"

#include "math/scalar.h"

#include <mayfly/cloth.h>
#include <mayfly/particles.h>
#include <mayfly/quasistatic.h>

#include <math.h>
#include <stdio.h>

enum { BODIES_MOST = 64 }; // [1] trusses or cloths that are shown, per group
enum { NAME = 2 * MF_MCAP_NAME };
static const char world_frame[] = "world";
static const float bar_color[3] = {0.62f, 0.65f, 0.68f}, actuator_color[3] = {0.85f, 0.35f, 0.10f},
                   cloth_color[3] = {0.80f, 0.32f, 0.24f},
                   particle_color[3] = {0.20f, 0.45f, 0.85f};

static double get(mf_Group *group, const char *field, uint32_t instance, uint32_t component) {
    return mf_field_get(mf_group_find_field(group, field), instance, component);
}

// ---- channels ----------------------------------------------------------------------------------

// Points: all particles. Others: the bodies that are shown.
static uint32_t count_bodies(mf_Group *group) {
    const uint32_t count = mf_group_count(group);
    if (mf_particles_spacing(group) > 0.0)
        return count;
    if (mf_group_config_of(group)->isolated)
        return 1;
    return count < BODIES_MOST ? count : BODIES_MOST;
}

bool mf_mcap_soft_begin(mf_Recorder *recorder, mf_McapGroup *part, uint32_t scene, uint32_t cloud) {
    mf_Group *group = part->group;
    mf_ClothShape shape;
    const char *what = NULL;
    size_t capacity = 1;
    part->soft = MF_NONE;
    if (mf_particles_spacing(group) > 0.0) {
        what = "points";
        capacity = (size_t)mf_group_count(group) * sizeof(mf_FoxglovePoint);
    } else if (mf_truss_config_of(group) != NULL) {
        what = "bars";
    } else if (mf_cloth_shape_of(group, &shape)) {
        what = "surface";
        capacity =
            3 * (shape.vertex_count * sizeof(float) + shape.triangle_count * sizeof(uint32_t));
    }
    if (what == NULL)
        return true;
    char topic[NAME];
    snprintf(topic, sizeof topic, "/%.150s/%s", mf_group_config_of(group)->name, what);
    part->bodies = count_bodies(group);
    part->soft =
        mf_mcap_channel(&recorder->mcap->file, topic, what[0] == 'p' ? cloud : scene, NULL);
    part->scratch = mf_allocate(recorder->context, capacity, 1);
    return part->scratch != NULL;
}

// ---- samples -----------------------------------------------------------------------------------

// Those that wait for an emitter are nowhere.
static void put_points(mf_Text *out, const mf_McapGroup *part, mf_Time time) {
    const mf_Field *position = mf_group_find_field(part->group, "base.position"),
                   *waiting = mf_group_find_field(part->group, "particle.waiting");
    const mf_Model *model = mf_group_model(part->group);
    mf_FoxglovePoint *points = part->scratch;
    size_t count = 0;
    float color[3];
    mf_mcap_color(part, model->shape_count > 0 ? model->shapes[0].color : particle_color, color);
    for (uint32_t i = 0; i < part->bodies; i++) {
        if (mf_field_get(waiting, i, 0) != 0.0)
            continue;
        mf_FoxglovePoint *point = &points[count++];
        for (uint32_t c = 0; c < 3; c++) {
            point->position[c] = (float)mf_field_get(position, i, c);
            point->color[c] = (uint8_t)(255.0f * color[c] + 0.5f);
        }
        point->color[3] = 255;
    }
    mf_foxglove_cloud(out, time, world_frame, points, count);
}

// The shortest rotation from the z axis to a direction of length 1.
static void rotation_along(const double direction[3], double out[4]) {
    const double first[4] = {1.0 + direction[2], -direction[1], direction[0], 0.0};
    for (int c = 0; c < 4; c++)
        out[c] = first[c];
    if (!(first[0] > 1e-9)) { // straight down
        out[0] = 0.0;
        out[1] = 1.0;
    }
    mf_quat_normalize(out);
}

static void put_bar(mf_Text *out, const mf_McapGroup *part, uint32_t robot, uint32_t bar,
                    bool acts) {
    const double diameter = get(part->group, "bar.diameter", robot, bar);
    double ends[2][3], offset[3], middle[3], rotation[4];
    float color[3];
    for (uint32_t e = 0; e < 2; e++) {
        const uint32_t vertex = (uint32_t)get(part->group, "bar.ends", robot, 2 * bar + e);
        for (uint32_t c = 0; c < 3; c++)
            ends[e][c] = get(part->group, "vertex.position", robot, 3 * vertex + c);
    }
    mf_vec3_sub(offset, ends[1], ends[0]);
    mf_vec3_add_scaled(middle, ends[0], 0.5, offset);
    const double length = mf_vec3_length(offset);
    if (!mf_vec3_normalize(offset)) // has no direction, or is not finite
        return;
    rotation_along(offset, rotation);
    mf_mcap_color(part, acts ? actuator_color : bar_color, color);
    mf_foxglove_cylinder(out, middle, rotation, (double[3]){diameter, diameter, length}, color);
}

static void put_truss(mf_Text *out, const mf_McapGroup *part, uint32_t robot) {
    const uint32_t bars = (uint32_t)get(part->group, "truss.counts", robot, 1),
                   actuators = (uint32_t)get(part->group, "truss.counts", robot, 2);
    for (uint32_t b = 0; b < bars; b++) {
        bool acts = false;
        for (uint32_t a = 0; a < actuators && !acts; a++)
            acts = get(part->group, "actuator.bar", robot, a) == (double)b;
        put_bar(out, part, robot, b, acts);
    }
}

// Without the triangles that are torn.
static void put_cloth(mf_Text *out, const mf_McapGroup *part, const mf_ClothShape *shape,
                      uint32_t robot) {
    const mf_Field *position = mf_group_find_field(part->group, "vertex.position");
    const double origin[3] = {0.0, 0.0, 0.0}, whole[4] = {1.0, 0.0, 0.0, 0.0};
    float *vertices = part->scratch, color[3];
    uint32_t *corners = (uint32_t *)(void *)(vertices + 3 * (size_t)shape->vertex_count), count = 0;
    for (uint32_t i = 0; i < 3 * shape->vertex_count; i++)
        vertices[i] = (float)mf_field_get(position, robot, i);
    for (uint32_t t = 0; t < shape->triangle_count; t++)
        for (int c = 0; c < 3 && !mf_cloth_triangle_torn(part->group, robot, t); c++)
            corners[count++] = shape->triangles[t][c];
    mf_mcap_color(part, cloth_color, color);
    mf_foxglove_triangles(out, origin, whole, vertices, shape->vertex_count, corners, count, color);
}

static void put_bodies(mf_Text *out, const mf_McapGroup *part, mf_Time time) {
    mf_ClothShape shape;
    const bool cloth = mf_cloth_shape_of(part->group, &shape);
    for (uint32_t r = 0; r < part->bodies; r++) {
        char name[NAME];
        snprintf(name, sizeof name, "%.150s/%u", mf_group_config_of(part->group)->name, r);
        const size_t opened = mf_foxglove_open_entity(out, time, world_frame, name);
        if (cloth)
            put_cloth(out, part, &shape, r);
        else
            put_truss(out, part, r);
        mf_proto_close(out, opened);
    }
}

void mf_mcap_soft_sample(mf_Recorder *recorder, const mf_McapGroup *part, mf_Time time) {
    mf_Text *out = &recorder->mcap->message;
    if (part->soft == MF_NONE)
        return;
    out->size = 0;
    if (mf_particles_spacing(part->group) > 0.0)
        put_points(out, part, time);
    else
        put_bodies(out, part, time);
    mf_mcap_message(&recorder->mcap->file, part->soft, time, out);
}
