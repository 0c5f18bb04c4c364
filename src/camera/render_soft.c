// What is seen of robots without links: points as balls, bars as capsules, triangles.
#include "camera/render.h"
#include "world/group.h"

#include "math/scalar.h"

static const double upright[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};

// ---- making -------------------------------------------------------------------------------------

// In the color of the group, if it has one.
static void set_color(mf_RenderSolid *ball, const mf_Group *group, const float color[3]) {
    float tint[3];
    mf_visual_tint(color, mf_group_tint(group, tint) ? tint : NULL, ball->color);
}

void mf_render_take_soft(mf_RenderScene *scene, mf_RenderGroup *own, uint32_t *faces) {
    const mf_Visual *visual = &own->visual;
    own->ball.type = MF_RASTER_BALL;
    own->ball.radius = visual->radius;
    for (int c = 0; c < 3; c++)
        own->ball.scale[c] = 1.0 / mf_larger(visual->radius, 1e-9);
    set_color(&own->ball, own->group, visual->color);
    *faces = visual->kind == MF_VISUAL_POINTS ? 1
             : visual->kind == MF_VISUAL_BARS ? visual->diameter->components
                                              : visual->surface.triangle_count;
    scene->most_vertices = mf_larger_u32(scene->most_vertices, visual->surface.vertex_count);
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
    if ((group->visual.waiting != NULL &&
         mf_render_value(group->visual.waiting, instance, 0) != 0.0) ||
        !find_point(draw, group->visual.position, instance, 0, pose.position))
        return;
    for (int i = 0; i < 9; i++)
        pose.rotation[i] = upright[i];
    const mf_RenderPaint paint = {.color = group->ball.color};
    mf_render_draw_solid(draw, &group->ball, &pose, &paint, owner);
}

static void draw_bar(const mf_RenderDraw *draw, const mf_RenderGroup *group,
                     const mf_VisualBar *bar, const int32_t owner[3]) {
    double end[2][3], offset[3], along[4];
    mf_RenderTransform pose;
    for (int e = 0; e < 2; e++)
        mf_render_to_optical(draw, bar->ends[e], end[e]);
    mf_vec3_sub(offset, end[1], end[0]);
    const double length = mf_vec3_length(offset);
    if (!mf_all_finite(end[0], 3) || !mf_all_finite(end[1], 3) || !(bar->radius > 0.0) ||
        !(length > 0.0))
        return;
    mf_RenderSolid solid = {.type = MF_RASTER_PILL,
                            .scale = {1.0 / bar->radius, 1.0 / bar->radius, 1.0 / bar->radius},
                            .half = 0.5 * length / bar->radius,
                            .radius = 0.5 * length + bar->radius};
    set_color(&solid, group->group, bar->color);
    mf_vec3_add_scaled(pose.position, end[0], 0.5, offset);
    mf_visual_along(along, end[0], end[1]);
    mf_quat_to_matrix(pose.rotation, along);
    const mf_RenderPaint paint = {.color = solid.color};
    mf_render_draw_solid(draw, &solid, &pose, &paint, owner);
}

static void draw_bars(const mf_RenderDraw *draw, const mf_RenderGroup *group, uint32_t instance) {
    const uint32_t bars = mf_visual_bar_count(&group->visual, instance);
    for (uint32_t b = 0; b < bars; b++) {
        const int32_t owner[3] = {(int32_t)group->number, (int32_t)instance, (int32_t)b};
        mf_VisualBar bar;
        mf_visual_bar(&group->visual, instance, b, &bar);
        draw_bar(draw, group, &bar, owner);
    }
}

static void draw_surface(const mf_RenderDraw *draw, const mf_RenderGroup *group, uint32_t instance,
                         const int32_t owner[3]) {
    const mf_Surface *surface = &group->visual.surface;
    double(*corners)[3] = draw->buffers->corners;
    const mf_RenderPaint paint = {.color = group->ball.color};
    for (uint32_t v = 0; v < surface->vertex_count; v++)
        if (!find_point(draw, group->visual.position, instance, v, corners[v]))
            return;
    for (uint32_t t = 0; t < surface->triangle_count; t++) {
        const uint32_t *at = surface->triangles[t];
        const double *const corner[3] = {corners[at[0]], corners[at[1]], corners[at[2]]};
        if (!surface->torn(group->group, instance, t))
            mf_render_draw_triangle(draw, corner, &paint, owner);
    }
}

void mf_render_draw_soft(const mf_RenderDraw *draw, const mf_RenderGroup *group,
                         uint32_t instance) {
    const int32_t owner[3] = {(int32_t)group->number, (int32_t)instance, 0};
    if (group->visual.kind == MF_VISUAL_POINTS)
        draw_particle(draw, group, instance, owner);
    else if (group->visual.kind == MF_VISUAL_BARS)
        draw_bars(draw, group, instance);
    else
        draw_surface(draw, group, instance, owner);
}
