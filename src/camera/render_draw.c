// One picture: which face each pixel sees.
#include "camera/render.h"

#include "math/scalar.h"

void mf_render_axes(const mf_RenderPose *pose, double rows[9]) {
    const double *r = pose->rotation;
    for (int i = 0; i < 3; i++) {
        rows[i] = -r[3 * i + 1];
        rows[3 + i] = -r[3 * i + 2];
        rows[6 + i] = r[3 * i];
    }
}

// ---- robots -------------------------------------------------------------------------------------

void mf_render_to_optical(const mf_RenderDraw *draw, const double world[3], double out[3]) {
    double arm[3];
    mf_vec3_sub(arm, world, draw->pose->position);
    mf_mat3_apply(out, draw->axes, arm);
}

// False: the link's pose is not finite.
static bool link_pose(const mf_RenderGroup *group, uint32_t instance, uint32_t link,
                      mf_RenderTransform *out) {
    double values[7];
    for (uint32_t c = 0; c < 7; c++)
        values[c] = mf_render_value(group->pose, instance, 7 * link + c);
    mf_vec3_copy(out->position, values);
    mf_quat_to_matrix(out->rotation, values + 3);
    return mf_all_finite(values, 7);
}

static bool shape_pose(const mf_RenderDraw *draw, const mf_RenderGroup *group, uint32_t instance,
                       const mf_RenderShape *shape, mf_RenderTransform *out) {
    mf_RenderTransform link = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}};
    double arm[3], rotated[9];
    if (shape->link != MF_NONE && !link_pose(group, instance, shape->link, &link))
        return false;
    mf_mat3_apply(arm, link.rotation, shape->position);
    mf_vec3_add(arm, arm, link.position);
    mf_render_to_optical(draw, arm, out->position);
    mf_mat3_multiply(rotated, link.rotation, shape->rotation);
    mf_mat3_multiply(out->rotation, draw->axes, rotated);
    return true;
}

// Solids are seen from outside only.
static bool is_inside(const mf_RasterSolid *solid) {
    const float *c = solid->center;
    const float side = c[0] * c[0] + c[1] * c[1], up = __builtin_fabsf(c[2]);
    const float over = up > solid->half ? up - solid->half : 0.0f;
    switch (solid->type) {
    case MF_RASTER_BRICK:
        return __builtin_fabsf(c[0]) < 1.0f && __builtin_fabsf(c[1]) < 1.0f && up < 1.0f;
    case MF_RASTER_TUBE:
        return side < 1.0f && up < solid->half;
    case MF_RASTER_PILL:
        return side + over * over < 1.0f;
    default:
        return side + c[2] * c[2] < 1.0f;
    }
}

void mf_render_draw_solid(const mf_RenderDraw *draw, const mf_RenderSolid *from,
                          const mf_RenderTransform *pose, const mf_RenderPaint *paint,
                          const int32_t owner[3]) {
    mf_RenderBuffers *buffers = draw->buffers;
    mf_RasterSolid solid = {.type = from->type, .half = (float)from->half};
    mf_RenderFace *face = &buffers->faces[buffers->face_count];
    if (draw->caster != NULL) {
        mf_render_block_solid(draw, from, pose);
        return;
    }
    if (!mf_camera_view_ball(draw->view, pose->position, from->radius, &solid.rect))
        return;
    for (int i = 0; i < 3; i++) {
        double along = 0.0;
        for (int k = 0; k < 3; k++) {
            const double angle = pose->rotation[3 * k + i] * from->scale[i];
            face->rotation[3 * i + k] = solid.axes[3 * i + k] = (float)angle;
            along += angle * pose->position[k];
        }
        face->center[i] = solid.center[i] = (float)along;
        face->color[i] = paint->color[i];
        face->owner[i] = owner[i];
    }
    if (is_inside(&solid))
        return;
    face->solid = true;
    face->emission = paint->emission;
    face->look = paint->look;
    face->type = from->type;
    face->half = (float)from->half;
    solid.face = (float)buffers->face_count++;
    draw->scene->solid(&buffers->raster, &solid);
}

void mf_render_draw_triangle(const mf_RenderDraw *draw, const double *const corner[3],
                             const mf_RenderPaint *paint, const int32_t owner[3]) {
    if (draw->caster != NULL)
        mf_render_block_triangle(draw, corner);
    else
        mf_render_add_triangle(draw->scene, draw->view, draw->buffers, corner, paint, owner);
}

// As the level ground, but with axes of its own.
static void draw_plane(const mf_RenderDraw *draw, const mf_RenderTransform *pose,
                       const mf_RenderPaint *paint, const int32_t owner[3]) {
    mf_RenderBuffers *buffers = draw->buffers;
    mf_RasterGround plane = {.low = {1.0f, 1.0f}, .high = {0.0f, 0.0f}};
    double height = 0.0;
    for (int i = 0; i < 3; i++)
        height -= pose->rotation[3 * i + 2] * pose->position[i];
    if (!(height > 0.0) || draw->caster != NULL)
        return;
    mf_RenderFace *face = &buffers->faces[buffers->face_count]; // there is one: this plane is seen
    for (int i = 0; i < 3; i++) {
        const double up = pose->rotation[3 * i + 2];
        plane.down[i] = (float)-up;
        face->normal[i] = (float)up;
        face->color[i] = paint->color[i];
        face->owner[i] = owner[i];
    }
    face->solid = false;
    face->emission = paint->emission;
    face->look = paint->look;
    plane.height = (float)height;
    plane.face = (float)buffers->face_count++;
    draw->scene->ground(&buffers->raster, &plane);
}

static void draw_mesh(const mf_RenderDraw *draw, const mf_RenderShape *shape,
                      const mf_RenderTransform *pose, mf_RenderPaint paint,
                      const int32_t owner[3]) {
    const float *positions = shape->texture != NULL ? shape->mesh->coordinates : NULL;
    const mf_Mesh *mesh = shape->mesh;
    double(*corners)[3] = draw->buffers->corners, middle[3];
    const double *r = pose->rotation, *p = pose->position;
    mf_RasterRect rect;
    mf_mat3_apply(middle, r, shape->middle);
    mf_vec3_add(middle, middle, p);
    if (draw->caster != NULL ? !mf_render_may_shade(draw, middle, shape->solid.radius, NULL)
                             : !mf_camera_view_ball(draw->view, middle, shape->solid.radius, &rect))
        return;
    for (uint32_t i = 0; i < mesh->vertex_count; i++) {
        const double x = mesh->vertices[3 * i], y = mesh->vertices[3 * i + 1],
                     z = mesh->vertices[3 * i + 2];
        for (int k = 0; k < 3; k++)
            corners[i][k] = p[k] + (r[3 * k] * x + r[3 * k + 1] * y + r[3 * k + 2] * z);
    }
    for (uint32_t i = 0; i < mesh->triangle_count; i++) {
        const uint32_t *at = mesh->triangles + 3 * (size_t)i;
        const double *const corner[3] = {corners[at[0]], corners[at[1]], corners[at[2]]};
        paint.coordinates = positions != NULL ? positions + 6 * (size_t)i : NULL;
        mf_render_draw_triangle(draw, corner, &paint, owner);
    }
}

static mf_RenderPaint make_paint(const mf_RenderDraw *draw, const mf_RenderShape *shape,
                                 const mf_RenderTransform *pose) {
    mf_RenderBuffers *buffers = draw->buffers;
    mf_RenderPaint paint = {
        .color = shape->solid.color, .emission = shape->emission, .texture = shape->texture};
    const bool placed = shape->mesh != NULL && shape->mesh->coordinates != NULL;
    if (shape->texture == NULL || placed || draw->caster != NULL)
        return paint;
    paint.look = &buffers->looks[buffers->look_count];
    buffers->looks[buffers->look_count++] = mf_render_look_at(shape, pose);
    return paint;
}

static void draw_links(const mf_RenderDraw *draw, const mf_RenderGroup *group, uint32_t instance,
                       bool scenery) {
    const bool differs = mf_group_numbers(group->group) != NULL;
    for (uint32_t i = 0; i < group->count; i++) {
        const mf_RenderShape *shape = &group->shapes[i];
        mf_RenderShape own;
        if (differs) {
            own = mf_render_own_shape(group, i, instance);
            shape = &own;
        }
        const int32_t owner[3] = {(int32_t)group->number, (int32_t)instance,
                                  shape->link == MF_NONE ? -1 : (int32_t)shape->link};
        mf_RenderTransform pose;
        if ((shape->link == MF_NONE && !scenery) ||
            !shape_pose(draw, group, instance, shape, &pose))
            continue;
        const mf_RenderPaint paint = make_paint(draw, shape, &pose);
        if (shape->mesh != NULL)
            draw_mesh(draw, shape, &pose, paint, owner);
        else if (shape->plane)
            draw_plane(draw, &pose, &paint, owner);
        else
            mf_render_draw_solid(draw, &shape->solid, &pose, &paint, owner);
    }
}

static void draw_robot(const mf_RenderDraw *draw, const mf_RenderGroup *group, uint32_t instance,
                       bool scenery) {
    if (group->visual.kind == MF_VISUAL_PARTS)
        draw_links(draw, group, instance, scenery);
    else
        mf_render_draw_soft(draw, group, instance);
}

void mf_render_draw_robots(const mf_RenderDraw *draw) {
    const mf_RenderScene *scene = draw->scene;
    for (uint32_t g = 0; g < scene->group_count; g++) {
        const mf_RenderGroup *group = &scene->groups[g];
        if (group->isolated && group->number == draw->pose->group) {
            draw_robot(draw, group, draw->pose->instance, true);
            continue;
        }
        const uint32_t count = group->isolated ? 0 : mf_group_count(group->group);
        for (uint32_t i = 0; i < count; i++)
            draw_robot(draw, group, i, i == 0);
    }
}

void mf_render_draw(const mf_RenderScene *scene, const mf_CameraView *view,
                    const mf_RenderPose *pose, mf_RenderBuffers *buffers) {
    const size_t end = (size_t)view->stride * buffers->raster.bottom;
    const float farthest = (float)view->camera.farthest;
    mf_RenderDraw draw = {.scene = scene, .view = view, .pose = pose, .buffers = buffers};
    mf_render_axes(pose, draw.axes);
    buffers->face_count = MF_RASTER_FIRST;
    buffers->look_count = 0;
    buffers->triangle_count = 0;
    for (size_t i = (size_t)view->stride * buffers->raster.top; i < end; i++) {
        buffers->raster.depth[i] = farthest;
        buffers->raster.face[i] = (float)MF_RASTER_SKY;
    }
    mf_render_draw_robots(&draw);
    mf_render_draw_ground(scene, view, pose, buffers);
    mf_render_flush(scene, buffers);
}
