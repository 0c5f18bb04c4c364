// What is seen of robots without links: particles as balls, trusses as bars, cloths as triangles.
#include "camera/render.h"
#include "world/group.h"
#include "motion/truss/motion.h"
#include "motion/cloth/motion.h"

#include "math/scalar.h"

#include <mayfly/particles.h>
#include <mayfly/quasistatic.h>

static const float bar_color[3] = {0.62f, 0.65f, 0.68f}, actuator_color[3] = {0.85f, 0.35f, 0.10f};
static const float cloth_color[3] = {0.80f, 0.32f, 0.24f},
                   particle_color[3] = {0.20f, 0.45f, 0.85f};

static const double upright[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};

// ---- making -------------------------------------------------------------------------------------

// In the color of the group, if it has one.
static void set_color(mf_RenderSolid *ball, const mf_Group *group, const float color[3]) {
    float tint[3];
    for (int c = 0; c < 3; c++)
        ball->color[c] = color[c];
    mf_render_tint(ball->color, mf_group_tint(group, tint) ? tint : NULL);
}

static void take_particles(mf_RenderGroup *own, double spacing) {
    const mf_Model *model = mf_group_model(own->group);
    own->kind = MF_RENDER_PARTICLES;
    own->position = mf_group_find_field(own->group, "base.position");
    own->waiting = mf_group_find_field(own->group, "particle.waiting");
    own->ball.radius = 0.5 * spacing;
    set_color(&own->ball, own->group, particle_color);
    for (uint32_t i = 0; i < model->shape_count; i++)
        if (model->shapes[i].type == MF_SHAPE_SPHERE) {
            own->ball.radius = model->shapes[i].size[0];
            set_color(&own->ball, own->group, model->shapes[i].color);
            break;
        }
    for (int c = 0; c < 3; c++)
        own->ball.scale[c] = 1.0 / own->ball.radius;
}

static void take_truss(mf_RenderGroup *own) {
    own->kind = MF_RENDER_TRUSS;
    own->position = mf_group_find_field(own->group, "vertex.position");
    own->counts = mf_group_find_field(own->group, "truss.counts");
    own->ends = mf_group_find_field(own->group, "bar.ends");
    own->diameter = mf_group_find_field(own->group, "bar.diameter");
    own->bar = mf_group_find_field(own->group, "actuator.bar");
}

void mf_render_take_soft(mf_RenderScene *scene, mf_RenderGroup *own, uint32_t *faces) {
    const double spacing = mf_particles_spacing(own->group);
    *faces = 0;
    own->ball.type = MF_RASTER_BALL;
    if (spacing > 0.0) {
        take_particles(own, spacing);
        *faces = 1;
    } else if (mf_truss_config_of(own->group) != NULL) {
        take_truss(own);
        *faces = own->diameter->components;
    } else if (mf_cloth_shape_of(own->group, &own->cloth)) {
        own->kind = MF_RENDER_CLOTH;
        own->position = mf_group_find_field(own->group, "vertex.position");
        set_color(&own->ball, own->group, cloth_color);
        *faces = own->cloth.triangle_count;
        if (own->cloth.vertex_count > scene->most_vertices)
            scene->most_vertices = own->cloth.vertex_count;
    }
}

// ---- drawing ------------------------------------------------------------------------------------

static bool find_point(const mf_RenderDraw *draw, const mf_Field *field, uint32_t instance,
                       uint32_t point, double out[3]) {
    double world[3];
    for (uint32_t c = 0; c < 3; c++)
        world[c] = mf_render_value(field, instance, 3 * (size_t)point + c);
    mf_render_to_optical(draw, world, out);
    return mf_all_finite(out, 3);
}

static void draw_particle(const mf_RenderDraw *draw, const mf_RenderGroup *group, uint32_t instance,
                          const int32_t owner[3]) {
    mf_RenderTransform pose;
    if ((group->waiting != NULL && mf_render_value(group->waiting, instance, 0) != 0.0) ||
        !find_point(draw, group->position, instance, 0, pose.position))
        return;
    for (int i = 0; i < 9; i++)
        pose.rotation[i] = upright[i];
    const mf_RenderPaint paint = {.color = group->ball.color};
    mf_render_draw_solid(draw, &group->ball, &pose, &paint, owner);
}

// Axes whose z goes along a vector of length 1.
static void rotation_along(const double direction[3], double rotation[9]) {
    const double size[3] = {mf_abs(direction[0]), mf_abs(direction[1]), mf_abs(direction[2])};
    double side[3] = {0.0, 0.0, 0.0}, other[3];
    side[size[0] < size[1] ? (size[0] < size[2] ? 0 : 2) : (size[1] < size[2] ? 1 : 2)] = 1.0;
    mf_vec3_cross(other, direction, side);
    mf_vec3_normalize(other);
    mf_vec3_cross(side, other, direction);
    for (int i = 0; i < 3; i++) {
        rotation[3 * i] = side[i];
        rotation[3 * i + 1] = other[i];
        rotation[3 * i + 2] = direction[i];
    }
}

static void draw_bar(const mf_RenderDraw *draw, const mf_RenderGroup *group, uint32_t instance,
                     uint32_t bar, bool acts, const int32_t owner[3]) {
    const double radius = 0.5 * mf_render_value(group->diameter, instance, bar);
    double end[2][3], offset[3];
    mf_RenderTransform pose;
    for (uint32_t e = 0; e < 2; e++) {
        const double vertex = mf_render_value(group->ends, instance, 2 * (size_t)bar + e);
        if (!find_point(draw, group->position, instance, (uint32_t)vertex, end[e]))
            return;
    }
    mf_vec3_sub(offset, end[1], end[0]);
    const double length = mf_vec3_length(offset);
    if (!(radius > 0.0) || !mf_vec3_normalize(offset))
        return;
    mf_RenderSolid solid = {.type = MF_RASTER_PILL,
                            .scale = {1.0 / radius, 1.0 / radius, 1.0 / radius},
                            .half = 0.5 * length / radius,
                            .radius = 0.5 * length + radius};
    set_color(&solid, group->group, acts ? actuator_color : bar_color);
    mf_vec3_add_scaled(pose.position, end[0], 0.5 * length, offset);
    rotation_along(offset, pose.rotation);
    const mf_RenderPaint paint = {.color = solid.color};
    mf_render_draw_solid(draw, &solid, &pose, &paint, owner);
}

static void draw_truss(const mf_RenderDraw *draw, const mf_RenderGroup *group, uint32_t instance) {
    const uint32_t bars = (uint32_t)mf_render_value(group->counts, instance, 1);
    const uint32_t actuators = (uint32_t)mf_render_value(group->counts, instance, 2);
    for (uint32_t b = 0; b < bars; b++) {
        const int32_t owner[3] = {(int32_t)group->number, (int32_t)instance, (int32_t)b};
        bool acts = false;
        for (uint32_t a = 0; a < actuators && !acts; a++)
            acts = mf_render_value(group->bar, instance, a) == (double)b;
        draw_bar(draw, group, instance, b, acts, owner);
    }
}

static void draw_cloth(const mf_RenderDraw *draw, const mf_RenderGroup *group, uint32_t instance,
                       const int32_t owner[3]) {
    double(*corners)[3] = draw->buffers->corners;
    const mf_RenderPaint paint = {.color = group->ball.color};
    for (uint32_t v = 0; v < group->cloth.vertex_count; v++)
        if (!find_point(draw, group->position, instance, v, corners[v]))
            return;
    for (uint32_t t = 0; t < group->cloth.triangle_count; t++) {
        const uint32_t *at = group->cloth.triangles[t];
        const double *const corner[3] = {corners[at[0]], corners[at[1]], corners[at[2]]};
        if (!mf_cloth_triangle_torn(group->group, instance, t))
            mf_render_draw_triangle(draw, corner, &paint, owner);
    }
}

void mf_render_draw_soft(const mf_RenderDraw *draw, const mf_RenderGroup *group,
                         uint32_t instance) {
    const int32_t owner[3] = {(int32_t)group->number, (int32_t)instance, 0};
    if (group->kind == MF_RENDER_PARTICLES)
        draw_particle(draw, group, instance, owner);
    else if (group->kind == MF_RENDER_TRUSS)
        draw_truss(draw, group, instance);
    else
        draw_cloth(draw, group, instance, owner);
}
