// What cameras see (render.h): making it from the world's models, and memory for pictures.
#include "camera/render.h"
#include "world/group.h"

#include "math/kernel_table.h"
#include "math/scalar.h"
#include "model/shape_kinds.h"

#include <mayfly/links.h>

#define MOST_FACES (1u << 22)

enum { TRIANGLES_AT_ONCE = 64 };

// ---- shapes -------------------------------------------------------------------------------------

static void take_mesh(mf_RenderShape *out, const mf_Mesh *mesh) {
    double half[3];
    out->mesh = mesh;
    mf_mesh_box(mesh, out->middle, half);
    for (uint32_t i = 0; i < mesh->vertex_count; i++) {
        double arm[3];
        for (int c = 0; c < 3; c++)
            arm[c] = mesh->vertices[3 * i + (uint32_t)c] - out->middle[c];
        const double length = mf_vec3_length(arm);
        out->solid.radius = length > out->solid.radius ? length : out->solid.radius;
    }
}

static void take_solid(mf_RenderSolid *out, const mf_Shape *shape) {
    static const mf_RasterType types[] = {[MF_SHAPE_BOX] = MF_RASTER_BRICK,
                                          [MF_SHAPE_CYLINDER] = MF_RASTER_TUBE,
                                          [MF_SHAPE_CAPSULE] = MF_RASTER_PILL,
                                          [MF_SHAPE_SPHERE] = MF_RASTER_BALL};
    double half[3];
    mf_shape_half(shape->type, shape->size, half);
    out->type = types[mf_shape_kinds[shape->type].like];
    out->radius = mf_shape_radius(shape->type, shape->size, NULL);
    const bool edges = mf_shape_kinds[shape->type].half_count == 3;
    for (int c = 0; c < 3; c++)
        out->scale[c] = 1.0 / mf_larger(edges ? half[c] : half[0], 1e-9);
    out->half = half[1] * out->scale[0];
}

static void take_shape(mf_RenderShape *out, const mf_Model *model, const mf_Shape *shape,
                       const mf_TextureMap *maps) {
    out->link = shape->link;
    out->plane = shape->type == MF_SHAPE_PLANE;
    out->solid.type = MF_RASTER_BALL;
    mf_vec3_copy(out->position, shape->position);
    mf_quat_to_matrix(out->rotation, shape->rotation);
    for (int c = 0; c < 3; c++)
        out->solid.color[c] = shape->color[c];
    if (shape->type == MF_SHAPE_MESH)
        take_mesh(out, &model->meshes[shape->mesh]);
    else if (!out->plane && shape->type != MF_SHAPE_HEIGHTS)
        take_solid(&out->solid, shape);
    if (model != NULL)
        mf_render_take_look(out, model, shape, maps);
}

// What is seen of a group's links, in memory of the render scene. Returns the number of faces.
static uint64_t take_shapes(mf_RenderScene *scene, mf_RenderGroup *own, const mf_Model *model,
                            const mf_TextureMap *maps, uint64_t *looks) {
    float tint[3];
    const bool tinted = mf_group_tint(own->group, tint);
    uint64_t faces = 0;
    for (uint32_t i = 0; i < model->shape_count && !scene->painted; i++)
        if (!own->visual.own_parts && mf_texture_is_floor(scene->terrain, &model->shapes[i])) {
            take_shape(&scene->floor, model, &model->shapes[i], maps);
            scene->painted = true;
        }
    own->maps = maps;
    for (uint32_t i = 0; i < own->visual.part_count; i++) {
        mf_Shape part;
        if (!mf_visual_part(&own->visual, MF_NONE, i, &part))
            continue;
        own->shapes[own->count].part = i;
        take_shape(&own->shapes[own->count++], own->visual.own_parts ? NULL : model, &part, maps);
    }
    for (uint32_t i = 0; i < own->count; i++) {
        const mf_Mesh *mesh = own->shapes[i].mesh;
        mf_visual_tint(own->shapes[i].solid.color, tinted ? tint : NULL,
                       own->shapes[i].solid.color);
        if (own->shapes[i].texture != NULL)
            *looks += mesh != NULL && mesh->coordinates != NULL ? mesh->triangle_count : 1;
        faces += mesh != NULL ? mesh->triangle_count : 1;
        if (mesh != NULL && mesh->vertex_count > scene->most_vertices)
            scene->most_vertices = mesh->vertex_count;
    }
    return faces;
}

mf_RenderShape mf_render_own_shape(const mf_RenderGroup *group, uint32_t index, uint32_t instance) {
    const mf_RenderShape *shape = &group->shapes[index];
    mf_RenderShape own = {.part = shape->part};
    mf_Shape part;
    float tint[3];
    const bool tinted = mf_group_tint(group->group, tint);
    mf_visual_part(&group->visual, instance, shape->part, &part);
    take_shape(&own, mf_group_model(group->group), &part, group->maps);
    mf_visual_tint(own.solid.color, tinted ? tint : NULL, own.solid.color);
    return own;
}

// ---- making -------------------------------------------------------------------------------------

static mf_Status take_links(mf_RenderScene *scene, mf_RenderGroup *own, uint64_t *faces,
                            uint64_t *looks, mf_Error *error) {
    const mf_Model *model = mf_group_model(own->group);
    const mf_TextureMap *maps;
    own->shapes = mf_allocate(scene->context, own->visual.part_count, sizeof *own->shapes);
    MF_NEED_MEMORY(own->shapes != NULL, error, "cameras");
    MF_TRY(mf_render_take_textures(scene, model, &maps, error));
    *faces = take_shapes(scene, own, model, maps, looks);
    if (own->count == 0)
        return MF_OK;
    mf_Status status = mf_group_derive_links(own->group, error);
    own->pose = mf_group_find_field(own->group, "link.pose");
    return status;
}

static mf_Status take_group(mf_RenderScene *scene, mf_Group *group, uint32_t number,
                            mf_Error *error) {
    mf_RenderGroup *own = &scene->groups[scene->group_count++];
    uint32_t soft;
    uint64_t faces = 0, looks = 0;
    own->group = group;
    own->visual = mf_visual_of(group);
    own->number = number;
    own->isolated = mf_group_config_of(group)->isolated;
    mf_render_take_soft(scene, own, &soft);
    faces = soft;
    mf_Status status =
        own->visual.kind == MF_VISUAL_PARTS ? take_links(scene, own, &faces, &looks, error) : MF_OK;
    faces = faces * (own->isolated ? 1 : mf_group_count(group)) + scene->most_faces;
    looks = looks * (own->isolated ? 1 : mf_group_count(group));
    if (status == MF_OK && faces > MOST_FACES)
        return mf_fail(error, MF_LIMIT,
                       "cameras: the robots of the world have more than 2^22 "
                       "triangles");
    scene->most_blocks += (uint32_t)faces - scene->most_faces;
    scene->most_faces = (uint32_t)faces;
    scene->most_looks += (uint32_t)looks; // at most one for each face
    return status;
}

static void pick_kernels(mf_RenderScene *scene) {
    static const mf_RasterTrianglesFn triangles[MF_KERNEL_ROWS][1] =
        MF_KERNEL_TABLE_FLOAT(mf_raster_triangles);
    static const mf_RasterSolidFn solid[MF_KERNEL_ROWS][1] = MF_KERNEL_TABLE_FLOAT(mf_raster_solid);
    static const mf_RasterGroundFn ground[MF_KERNEL_ROWS][1] =
        MF_KERNEL_TABLE_FLOAT(mf_raster_ground);
    static const mf_RasterSpanFn span[MF_KERNEL_ROWS][1] = MF_KERNEL_TABLE_FLOAT(mf_raster_span);
    static const mf_RasterShadowFn shadow[MF_KERNEL_ROWS][1] =
        MF_KERNEL_TABLE_FLOAT(mf_raster_shadow);
    scene->isa = mf_world_isa(scene->world);
    const mf_KernelRow row = mf_kernel_row(scene->isa);
    scene->triangles = triangles[row][0];
    scene->solid = solid[row][0];
    scene->ground = ground[row][0];
    scene->span = span[row][0];
    scene->shadow = shadow[row][0];
}

mf_Status mf_render_scene_create(mf_World *world, mf_RenderScene **out, mf_Error *error) {
    mf_Context *context = mf_world_context(world);
    const uint32_t count = mf_world_group_count(world);
    mf_RenderScene *scene = mf_allocate(context, 1, sizeof *scene);
    mf_Status status = MF_OK;
    *out = NULL;
    MF_NEED_MEMORY(scene != NULL, error, "cameras");
    scene->context = context;
    scene->world = world;
    scene->terrain = mf_world_config_of(world)->terrain;
    scene->hilly = scene->terrain != NULL && scene->terrain->lowest < scene->terrain->highest;
    scene->groups = mf_allocate(context, count, sizeof *scene->groups);
    scene->textures = mf_allocate(context, count, sizeof *scene->textures);
    scene->most_faces = MF_RASTER_FIRST + mf_render_ground_faces(scene);
    if (scene->groups == NULL || scene->textures == NULL)
        status = mf_fail(error, MF_NO_MEMORY, "cameras: no memory");
    if (status == MF_OK && scene->most_faces > MOST_FACES)
        status = mf_fail(error, MF_LIMIT, "cameras: the ground has more than 2^20 cells");
    MF_THEN(status, mf_render_take_hills(scene, error));
    for (uint32_t i = 0; i < count && status == MF_OK; i++)
        status = take_group(scene, mf_world_group(world, i), i, error);
    if (status != MF_OK) {
        mf_render_scene_destroy(scene);
        return status;
    }
    pick_kernels(scene);
    *out = scene;
    return MF_OK;
}

void mf_render_scene_destroy(mf_RenderScene *scene) {
    if (scene == NULL)
        return;
    for (uint32_t i = 0; scene->groups != NULL && i < scene->group_count; i++)
        mf_release(scene->context, scene->groups[i].shapes);
    mf_release(scene->context, scene->groups);
    mf_render_release_textures(scene);
    mf_release(scene->context, scene->hidden);
    mf_release(scene->context, scene);
}

// ---- memory -------------------------------------------------------------------------------------

// The next part of `size` bytes; NULL while only measuring.
static void *lay(char *memory, size_t *used, size_t size) {
    void *own = memory != NULL ? memory + *used : NULL;
    *used += (size + 63) / 64 * 64;
    return own;
}

static size_t lay_all(mf_RenderBuffers *buffers, char *memory, const mf_RenderScene *scene,
                      const mf_CameraView *view) {
    const size_t pixels = (size_t)view->stride * view->camera.height;
    const size_t colors = 3 * (size_t)view->camera.width * view->camera.height;
    const bool shadows = view->camera.color && view->camera.shadows;
    const size_t blocks = shadows ? scene->most_blocks : 0;
    const size_t tiles = pixels / MF_RASTER_RUN; // of one row at least
    size_t used = 0;
    buffers->raster.depth = lay(memory, &used, pixels * sizeof(float));
    buffers->raster.face = lay(memory, &used, pixels * sizeof(float));
    buffers->color = lay(memory, &used, colors * sizeof(float));
    buffers->scratch = lay(memory, &used, colors * sizeof(float));
    buffers->corners = lay(memory, &used, scene->most_vertices * sizeof *buffers->corners);
    buffers->triangles = lay(memory, &used, TRIANGLES_AT_ONCE * sizeof *buffers->triangles);
    buffers->faces = lay(memory, &used, scene->most_faces * sizeof *buffers->faces);
    buffers->looks = lay(memory, &used, scene->most_looks * sizeof *buffers->looks);
    buffers->blocks = lay(memory, &used, blocks * sizeof *buffers->blocks);
    buffers->near = lay(memory, &used, blocks * sizeof *buffers->near);
    buffers->nearest = lay(memory, &used, blocks * sizeof *buffers->nearest);
    buffers->spans = lay(memory, &used, shadows ? tiles * sizeof *buffers->spans : 0);
    buffers->lit = lay(memory, &used, shadows ? pixels * sizeof(float) : 0);
    return used;
}

static const mf_CameraView *largest(const mf_CameraView *view) {
    return view->fine != NULL ? view->fine : view;
}

size_t mf_render_buffers_size(const mf_RenderScene *scene, const mf_CameraView *view) {
    mf_RenderBuffers buffers;
    return lay_all(&buffers, NULL, scene, largest(view));
}

void mf_render_buffers_use(mf_RenderBuffers *buffers, const mf_CameraView *view) {
    buffers->raster.width = view->camera.width;
    buffers->raster.height = view->camera.height;
    buffers->raster.stride = view->stride;
    buffers->raster.top = 0;
    buffers->raster.bottom = view->camera.height;
    buffers->raster.nearest = (float)view->camera.nearest;
    for (int i = 0; i < 3; i++)
        buffers->raster.ray[i] = view->ray[i];
}

void mf_render_buffers_lay(mf_RenderBuffers *buffers, void *memory, const mf_RenderScene *scene,
                           const mf_CameraView *view) {
    *buffers = (mf_RenderBuffers){.face_count = MF_RASTER_FIRST};
    lay_all(buffers, memory, scene, largest(view));
    mf_render_buffers_use(buffers, view);
}

void mf_render_flush(const mf_RenderScene *scene, mf_RenderBuffers *buffers) {
    scene->triangles(&buffers->raster, buffers->triangles, buffers->triangle_count);
    buffers->triangle_count = 0;
}

// The look of a triangle with the corners c: with the planes through its edges e0 = c0 x c1, e1 =
// c1 x c2, e2 = c2 x c0 and the parallelepiped det = c0 . e1 a point p of it has the place
// (u2 e0 + u0 e1 + u1 e2) . p / det, which is the corners' places at the corners.
static void look_by_coordinates(mf_RenderLook *look, const mf_RenderPaint *paint,
                                const double edge[3][3], double volume) {
    *look = (mf_RenderLook){.texture = paint->texture};
    for (int k = 0; k < 2; k++) {
        const double first = (double)paint->coordinates[k],
                     second = (double)paint->coordinates[2 + k],
                     third = (double)paint->coordinates[4 + k];
        for (int i = 0; i < 3; i++)
            look->rows[3 * k + i] =
                (float)((third * edge[0][i] + first * edge[1][i] + second * edge[2][i]) / volume);
    }
}

void mf_render_add_triangle(const mf_RenderScene *scene, const mf_CameraView *view,
                            mf_RenderBuffers *buffers, const double *const corner[3],
                            const mf_RenderPaint *paint, const int32_t owner[3]) {
    mf_RasterTriangle *own = &buffers->triangles[buffers->triangle_count];
    double edge[3][3], side[2][3], plane[3];
    if (!mf_camera_view_triangle(view, corner, &own->rect))
        return;
    for (int k = 0; k < 3; k++)
        mf_vec3_cross(edge[k], corner[k], corner[(k + 1) % 3]);
    mf_vec3_sub(side[0], corner[1], corner[0]);
    mf_vec3_sub(side[1], corner[2], corner[0]);
    mf_vec3_cross(plane, side[0], side[1]);
    if (!mf_vec3_normalize(plane))
        return;
    const double distance = mf_vec3_dot(plane, corner[0]), sign = distance < 0.0 ? -1.0 : 1.0;
    mf_RenderFace *face = &buffers->faces[buffers->face_count];
    face->solid = false;
    face->emission = paint->emission;
    face->look = paint->look;
    if (paint->coordinates != NULL) {
        look_by_coordinates(&buffers->looks[buffers->look_count], paint, (const double(*)[3])edge,
                            mf_vec3_dot(corner[0], edge[1]));
        face->look = &buffers->looks[buffers->look_count++];
    }
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            own->edge[k][i] = (float)(sign * edge[k][i]);
        own->plane[i] = (float)(sign * plane[i]);
        face->normal[i] = -own->plane[i];
        face->color[i] = paint->color[i];
        face->owner[i] = owner[i];
    }
    own->distance = (float)(sign * distance);
    own->face = (float)buffers->face_count++;
    if (++buffers->triangle_count == TRIANGLES_AT_ONCE)
        mf_render_flush(scene, buffers);
}
