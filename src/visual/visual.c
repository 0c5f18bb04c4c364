// What groups look like (visual.h).
#include "visual/visual.h"
#include "math/scalar.h"
#include "model/points.h"
#include "motion/table.h"
#include "multibody/numbers.h"

#include <mayfly/particles.h>

#define POINT_RADIUS 0.01 // [m] of a mass point

static const float actuator_color[3] = {0.85f, 0.35f, 0.10f};

static void set_color(float out[3], const float color[3]) {
    for (int c = 0; c < 3; c++)
        out[c] = color[c];
}

// ---- groups -------------------------------------------------------------------------------------

static void take_points(mf_Visual *out) {
    const mf_Model *model = mf_group_model(out->group);
    out->position = mf_group_find_field(out->group, "base.position");
    out->waiting = mf_group_find_field(out->group, "particle.waiting");
    out->radius = 0.5 * mf_particles_spacing(out->group);
    for (uint32_t i = 0; i < model->shape_count; i++)
        if (model->shapes[i].type == MF_SHAPE_SPHERE) {
            out->radius = model->shapes[i].size[0];
            set_color(out->color, model->shapes[i].color);
            return;
        }
}

static void take_bars(mf_Visual *out) {
    out->counts = mf_motion_counts(out->group);
    out->ends = mf_group_find_field(out->group, "bar.ends");
    out->diameter = mf_group_find_field(out->group, "bar.diameter");
    out->actuators = mf_group_find_field(out->group, "actuator.bar");
    out->ranges = mf_group_find_field(out->group, "actuator.range");
}

static void take_parts(mf_Visual *out) {
    const mf_Model *model = mf_group_model(out->group);
    const uint32_t parts = mf_vehicle_look(out->group, out->vehicle);
    out->own_parts = parts > 0;
    out->part_count = parts > 0 ? parts : model->shape_count;
}

mf_Visual mf_visual_of(mf_Group *group) {
    const mf_MotionRow *row = mf_motion_first(group);
    const mf_MotionLook look = row != NULL ? row->look : (mf_MotionLook){.kind = MF_VISUAL_PARTS};
    mf_Visual visual = {.kind = look.kind,
                        .group = group,
                        .terrain = mf_world_config_of(mf_group_world(group))->terrain,
                        .position = mf_group_find_field(group, "vertex.position")};
    set_color(visual.color, look.color);
    switch (look.kind) {
    case MF_VISUAL_PARTS:
        take_parts(&visual);
        break;
    case MF_VISUAL_POINTS:
        take_points(&visual);
        break;
    case MF_VISUAL_BARS:
        take_bars(&visual);
        break;
    case MF_VISUAL_TRIANGLES:
        look.surface(group, &visual.surface);
        break;
    }
    return visual;
}

// ---- parts --------------------------------------------------------------------------------------

// A level plane that is the world's ground, which is drawn from the terrain.
static bool is_ground(const mf_Terrain *terrain, const mf_Shape *shape) {
    const double x = shape->rotation[1], y = shape->rotation[2];
    const double height = terrain != NULL ? terrain->highest : 0.0;
    const bool hilly = terrain != NULL && terrain->lowest < terrain->highest;
    return shape->type == MF_SHAPE_PLANE && shape->link == MF_NONE && x * x + y * y < 1e-12 &&
           (hilly || mf_abs(shape->position[2] - height) < 1e-9);
}

static bool cannot_move(const mf_Model *model) {
    return model->base == MF_BASE_FIXED && model->joint_count == 0;
}

bool mf_visual_is_scenery(const mf_Visual *visual) {
    return visual->kind == MF_VISUAL_PARTS && !visual->own_parts &&
           cannot_move(mf_group_model(visual->group));
}

bool mf_visual_shows(const mf_Terrain *terrain, const mf_Model *model, const mf_Shape *shape) {
    if (shape->type == MF_SHAPE_HEIGHTS || is_ground(terrain, shape))
        return false;
    const bool scenery = shape->link == MF_NONE || cannot_move(model);
    return shape->visual || scenery || !mf_model_has_visual(model, shape->link);
}

bool mf_visual_part(const mf_Visual *visual, uint32_t instance, uint32_t index, mf_Shape *out) {
    const mf_Model *model = mf_group_model(visual->group);
    *out = visual->own_parts     ? visual->vehicle[index]
           : instance != MF_NONE ? mf_own_shape(visual->group, instance, index)
                                 : model->shapes[index];
    if (!visual->own_parts && !mf_visual_shows(visual->terrain, model, out))
        return false;
    if (out->type == MF_SHAPE_POINT) {
        out->type = MF_SHAPE_SPHERE;
        mf_vec3_set(out->size, POINT_RADIUS, 0.0, 0.0);
    }
    return true;
}

// ---- bars ---------------------------------------------------------------------------------------

uint32_t mf_visual_bar_count(const mf_Visual *visual, uint32_t instance) {
    return visual->kind == MF_VISUAL_BARS ? (uint32_t)mf_field_get(visual->counts, instance, 1) : 0;
}

void mf_visual_bar(const mf_Visual *visual, uint32_t instance, uint32_t index, mf_VisualBar *out) {
    const uint32_t actuators = (uint32_t)mf_field_get(visual->counts, instance, 2);
    *out = (mf_VisualBar){.radius = 0.5 * mf_field_get(visual->diameter, instance, index)};
    set_color(out->color, visual->color);
    for (uint32_t e = 0; e < 2; e++) {
        const uint32_t vertex = (uint32_t)mf_field_get(visual->ends, instance, 2 * index + e);
        for (uint32_t c = 0; c < 3; c++)
            out->ends[e][c] = mf_field_get(visual->position, instance, 3 * vertex + c);
    }
    for (uint32_t a = 0; a < actuators; a++) {
        if ((uint32_t)mf_field_get(visual->actuators, instance, a) != index)
            continue;
        for (uint32_t e = 0; e < 2; e++)
            out->range[e] = mf_field_get(visual->ranges, instance, 2 * a + e);
        set_color(out->color, actuator_color);
    }
}

void mf_visual_along(double rotation[4], const double from[3], const double to[3]) {
    double direction[3];
    mf_vec3_sub(direction, to, from);
    if (!mf_vec3_normalize(direction))
        mf_vec3_set(direction, 0.0, 0.0, 1.0);
    rotation[0] = 1.0 + direction[2];
    rotation[1] = -direction[1];
    rotation[2] = direction[0];
    rotation[3] = 0.0;
    if (!(rotation[0] > 1e-9)) { // straight down
        rotation[0] = 0.0;
        rotation[1] = 1.0;
    }
    mf_quat_normalize(rotation);
}

// ---- colors -------------------------------------------------------------------------------------

void mf_visual_tint(const float own[3], const float *tint, float out[3]) {
    float most = own[0], least = own[0];
    for (int c = 1; c < 3; c++) {
        most = own[c] > most ? own[c] : most;
        least = own[c] < least ? own[c] : least;
    }
    const bool keeps = tint == NULL || !(most > 0.0f) || least > 0.6f * most;
    for (int c = 0; c < 3; c++)
        out[c] = keeps ? own[c] : most * (0.12f + 0.88f * tint[c]);
}
