// What cameras see (sight.h): making it from the world's models, and memory for pictures.
#include "camera/sight.h"

#include "camera/vehicle_look.h"

#include "math/kernel_table.h"
#include "math/scalar.h"
#include "model/shape_kinds.h"

#include <mayfly/links.h>

#define MOST_FACES (1u << 22)
#define POINT_RADIUS 0.01 // [m] of a mass point

enum { TRIANGLES_AT_ONCE = 64 };

// ---- shapes -------------------------------------------------------------------------------------

static bool has_visual(const mf_Model *model, uint32_t link) {
    for (uint32_t i = 0; i < model->shape_count; i++)
        if (model->shapes[i].link == link && model->shapes[i].visual)
            return true;
    return false;
}

// A level plane that is the world's ground, which is drawn from the terrain.
static bool is_ground(const mf_Sight *sight, const mf_Shape *shape) {
    const double x = shape->rotation[1], y = shape->rotation[2];
    const double height = sight->terrain != NULL ? sight->terrain->highest : 0.0;
    return shape->link == MF_NONE && x * x + y * y < 1e-12 &&
           (sight->hilly || mf_abs(shape->position[2] - height) < 1e-9);
}

// As in films: links with visual shapes are seen by them, others by their collision shapes.
static bool is_seen(const mf_Sight *sight, const mf_Model *model, const mf_Shape *shape) {
    if (shape->type == MF_SHAPE_HEIGHTS || shape->type == MF_SHAPE_POINT ||
        (shape->type == MF_SHAPE_PLANE && is_ground(sight, shape)))
        return false;
    const bool scenery =
        shape->link == MF_NONE || (model->base == MF_BASE_FIXED && model->joint_count == 0);
    return shape->visual || scenery || !has_visual(model, shape->link);
}

static void take_mesh(mf_SightShape *out, const mf_Mesh *mesh) {
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

static void take_solid(mf_SightSolid *out, const mf_Shape *shape) {
    static const mf_RasterType types[] = {[MF_SHAPE_BOX] = MF_RASTER_BRICK,
                                          [MF_SHAPE_CYLINDER] = MF_RASTER_TUBE,
                                          [MF_SHAPE_CAPSULE] = MF_RASTER_PILL,
                                          [MF_SHAPE_ELLIPSOID] = MF_RASTER_BALL};
    double half[3];
    mf_shape_half(shape->type, shape->size, half);
    out->type = types[shape->type];
    out->radius = mf_shape_radius(shape->type, shape->size, NULL);
    const bool edges = mf_shape_kinds[shape->type].half_count == 3;
    for (int c = 0; c < 3; c++)
        out->scale[c] = 1.0 / mf_larger(edges ? half[c] : half[0], 1e-9);
    out->half = half[1] * out->scale[0];
}

static void take_shape(mf_SightShape *out, const mf_Model *model, const mf_Shape *shape,
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
        mf_sight_take_look(out, model, shape, maps);
}

// What has mass points and nothing else is seen by them.
static void take_point(mf_SightShape *out, const mf_Point *point) {
    mf_Shape ball = {.type = MF_SHAPE_SPHERE,
                     .link = point->link,
                     .rotation = {1.0, 0.0, 0.0, 0.0},
                     .material = MF_NONE};
    ball.size[0] = POINT_RADIUS;
    mf_vec3_copy(ball.position, point->position);
    for (int c = 0; c < 3; c++)
        ball.color[c] = point->color[c];
    take_shape(out, NULL, &ball, NULL);
}

// What is seen of a model's links, in memory of the sight. Returns the number of faces.
static uint64_t take_shapes(mf_Sight *sight, mf_SightGroup *own, const mf_Model *model,
                            const mf_TextureMap *maps, uint64_t *looks) {
    float tint[3];
    const bool tinted = mf_group_tint(own->group, tint);
    mf_Shape parts[MF_VEHICLE_PARTS];
    const uint32_t part_count = mf_vehicle_look(own->group, parts);
    uint64_t faces = 0;
    for (uint32_t i = 0; i < part_count; i++)
        take_shape(&own->shapes[own->count++], NULL, &parts[i], NULL);
    for (uint32_t i = 0; part_count == 0 && i < model->shape_count; i++) {
        if (!sight->painted && mf_texture_is_floor(sight->terrain, &model->shapes[i])) {
            take_shape(&sight->floor, model, &model->shapes[i], maps);
            sight->painted = true;
        }
        if (is_seen(sight, model, &model->shapes[i]))
            take_shape(&own->shapes[own->count++], model, &model->shapes[i], maps);
    }
    for (uint32_t i = 0; own->count == 0 && model->shape_count == 0 && i < model->point_count; i++)
        take_point(&own->shapes[i], &model->points[i]);
    if (own->count == 0 && model->shape_count == 0)
        own->count = model->point_count;
    for (uint32_t i = 0; i < own->count; i++) {
        const mf_Mesh *mesh = own->shapes[i].mesh;
        mf_sight_tint(own->shapes[i].solid.color, tinted ? tint : NULL);
        if (own->shapes[i].texture != NULL)
            *looks += mesh != NULL && mesh->coordinates != NULL ? mesh->triangle_count : 1;
        faces += mesh != NULL ? mesh->triangle_count : 1;
        if (mesh != NULL && mesh->vertex_count > sight->most_vertices)
            sight->most_vertices = mesh->vertex_count;
    }
    return faces;
}

// ---- making -------------------------------------------------------------------------------------

static mf_Status take_links(mf_Sight *sight, mf_SightGroup *own, uint64_t *faces, uint64_t *looks,
                            mf_Error *error) {
    const mf_Model *model = mf_group_model(own->group);
    const mf_TextureMap *maps;
    const uint32_t most = model->shape_count > 0 ? model->shape_count : model->point_count;
    own->shapes = mf_allocate(sight->context, most > MF_VEHICLE_PARTS ? most : MF_VEHICLE_PARTS,
                              sizeof *own->shapes);
    if (own->shapes == NULL)
        return mf_fail(error, MF_NO_MEMORY, "cameras: no memory");
    mf_Status status = mf_sight_take_textures(sight, model, &maps, error);
    if (status != MF_OK)
        return status;
    *faces = take_shapes(sight, own, model, maps, looks);
    if (own->count == 0)
        return MF_OK;
    status = mf_group_derive_links(own->group, error);
    own->pose = mf_group_find_field(own->group, "link.pose");
    return status;
}

static mf_Status take_group(mf_Sight *sight, mf_Group *group, uint32_t number, mf_Error *error) {
    mf_SightGroup *own = &sight->groups[sight->group_count++];
    uint32_t soft;
    uint64_t faces = 0, looks = 0;
    own->group = group;
    own->number = number;
    own->isolated = mf_group_config_of(group)->isolated;
    mf_sight_take_soft(sight, own, &soft);
    faces = soft;
    mf_Status status =
        own->kind == MF_SIGHT_LINKS ? take_links(sight, own, &faces, &looks, error) : MF_OK;
    faces = faces * (own->isolated ? 1 : mf_group_count(group)) + sight->most_faces;
    looks = looks * (own->isolated ? 1 : mf_group_count(group));
    if (status == MF_OK && faces > MOST_FACES)
        return mf_fail(error, MF_LIMIT,
                       "cameras: the robots of the world have more than 2^22 "
                       "triangles");
    sight->most_blocks += (uint32_t)faces - sight->most_faces;
    sight->most_faces = (uint32_t)faces;
    sight->most_looks += (uint32_t)looks; // at most one for each face
    return status;
}

static void pick_kernels(mf_Sight *sight) {
    static const mf_RasterTrianglesFn triangles[MF_KERNEL_ROWS][1] =
        MF_KERNEL_TABLE_FLOAT(mf_raster_triangles);
    static const mf_RasterSolidFn solid[MF_KERNEL_ROWS][1] = MF_KERNEL_TABLE_FLOAT(mf_raster_solid);
    static const mf_RasterGroundFn ground[MF_KERNEL_ROWS][1] =
        MF_KERNEL_TABLE_FLOAT(mf_raster_ground);
    static const mf_RasterSpanFn span[MF_KERNEL_ROWS][1] = MF_KERNEL_TABLE_FLOAT(mf_raster_span);
    static const mf_RasterShadowFn shadow[MF_KERNEL_ROWS][1] =
        MF_KERNEL_TABLE_FLOAT(mf_raster_shadow);
    sight->isa = mf_world_isa(sight->world);
    const mf_KernelRow row = mf_kernel_row(sight->isa);
    sight->triangles = triangles[row][0];
    sight->solid = solid[row][0];
    sight->ground = ground[row][0];
    sight->span = span[row][0];
    sight->shadow = shadow[row][0];
}

mf_Status mf_sight_create(mf_World *world, mf_Sight **out, mf_Error *error) {
    mf_Context *context = mf_world_context(world);
    const uint32_t count = mf_world_group_count(world);
    mf_Sight *sight = mf_allocate(context, 1, sizeof *sight);
    mf_Status status = MF_OK;
    *out = NULL;
    if (sight == NULL)
        return mf_fail(error, MF_NO_MEMORY, "cameras: no memory");
    sight->context = context;
    sight->world = world;
    sight->terrain = mf_world_config_of(world)->terrain;
    sight->hilly = sight->terrain != NULL && sight->terrain->lowest < sight->terrain->highest;
    sight->groups = mf_allocate(context, count, sizeof *sight->groups);
    sight->textures = mf_allocate(context, count, sizeof *sight->textures);
    sight->most_faces = MF_RASTER_FIRST + mf_sight_ground_faces(sight);
    if (sight->groups == NULL || sight->textures == NULL)
        status = mf_fail(error, MF_NO_MEMORY, "cameras: no memory");
    if (status == MF_OK && sight->most_faces > MOST_FACES)
        status = mf_fail(error, MF_LIMIT, "cameras: the ground has more than 2^20 cells");
    if (status == MF_OK)
        status = mf_sight_take_hills(sight, error);
    for (uint32_t i = 0; i < count && status == MF_OK; i++)
        status = take_group(sight, mf_world_group(world, i), i, error);
    if (status != MF_OK) {
        mf_sight_destroy(sight);
        return status;
    }
    pick_kernels(sight);
    *out = sight;
    return MF_OK;
}

void mf_sight_destroy(mf_Sight *sight) {
    if (sight == NULL)
        return;
    for (uint32_t i = 0; sight->groups != NULL && i < sight->group_count; i++)
        mf_release(sight->context, sight->groups[i].shapes);
    mf_release(sight->context, sight->groups);
    mf_sight_release_textures(sight);
    mf_release(sight->context, sight->hidden);
    mf_release(sight->context, sight);
}

// ---- memory -------------------------------------------------------------------------------------

// The next part of `size` bytes; NULL while only measuring.
static void *lay(char *memory, size_t *used, size_t size) {
    void *own = memory != NULL ? memory + *used : NULL;
    *used += (size + 63) / 64 * 64;
    return own;
}

static size_t lay_all(mf_SightRoom *room, char *memory, const mf_Sight *sight,
                      const mf_CameraView *view) {
    const size_t pixels = (size_t)view->stride * view->camera.height;
    const size_t colors = 3 * (size_t)view->camera.width * view->camera.height;
    const bool shadows = view->camera.color && view->camera.shadows;
    const size_t blocks = shadows ? sight->most_blocks : 0;
    const size_t tiles = pixels / MF_RASTER_RUN; // of one row at least
    size_t used = 0;
    room->raster.depth = lay(memory, &used, pixels * sizeof(float));
    room->raster.face = lay(memory, &used, pixels * sizeof(float));
    room->color = lay(memory, &used, colors * sizeof(float));
    room->scratch = lay(memory, &used, colors * sizeof(float));
    room->corners = lay(memory, &used, sight->most_vertices * sizeof *room->corners);
    room->triangles = lay(memory, &used, TRIANGLES_AT_ONCE * sizeof *room->triangles);
    room->faces = lay(memory, &used, sight->most_faces * sizeof *room->faces);
    room->looks = lay(memory, &used, sight->most_looks * sizeof *room->looks);
    room->blocks = lay(memory, &used, blocks * sizeof *room->blocks);
    room->near = lay(memory, &used, blocks * sizeof *room->near);
    room->nearest = lay(memory, &used, blocks * sizeof *room->nearest);
    room->spans = lay(memory, &used, shadows ? tiles * sizeof *room->spans : 0);
    room->lit = lay(memory, &used, shadows ? pixels * sizeof(float) : 0);
    return used;
}

static const mf_CameraView *largest(const mf_CameraView *view) {
    return view->fine != NULL ? view->fine : view;
}

size_t mf_sight_room_size(const mf_Sight *sight, const mf_CameraView *view) {
    mf_SightRoom room;
    return lay_all(&room, NULL, sight, largest(view));
}

void mf_sight_room_use(mf_SightRoom *room, const mf_CameraView *view) {
    room->raster.width = view->camera.width;
    room->raster.height = view->camera.height;
    room->raster.stride = view->stride;
    room->raster.top = 0;
    room->raster.bottom = view->camera.height;
    room->raster.nearest = (float)view->camera.nearest;
    for (int i = 0; i < 3; i++)
        room->raster.ray[i] = view->ray[i];
}

void mf_sight_room_lay(mf_SightRoom *room, void *memory, const mf_Sight *sight,
                       const mf_CameraView *view) {
    *room = (mf_SightRoom){.face_count = MF_RASTER_FIRST};
    lay_all(room, memory, sight, largest(view));
    mf_sight_room_use(room, view);
}

void mf_sight_flush(const mf_Sight *sight, mf_SightRoom *room) {
    sight->triangles(&room->raster, room->triangles, room->triangle_count);
    room->triangle_count = 0;
}

// The look of a triangle with the corners c: with the planes through its edges e0 = c0 x c1, e1 =
// c1 x c2, e2 = c2 x c0 and the parallelepiped det = c0 . e1 a point p of it has the place
// (u2 e0 + u0 e1 + u1 e2) . p / det, which is the corners' places at the corners.
static void look_by_places(mf_SightLook *look, const mf_SightPaint *paint, const double edge[3][3],
                           double volume) {
    *look = (mf_SightLook){.texture = paint->texture};
    for (int k = 0; k < 2; k++) {
        const double first = (double)paint->places[k], second = (double)paint->places[2 + k],
                     third = (double)paint->places[4 + k];
        for (int i = 0; i < 3; i++)
            look->rows[3 * k + i] =
                (float)((third * edge[0][i] + first * edge[1][i] + second * edge[2][i]) / volume);
    }
}

void mf_sight_add_triangle(const mf_Sight *sight, const mf_CameraView *view, mf_SightRoom *room,
                           const double *const corner[3], const mf_SightPaint *paint,
                           const int32_t owner[3]) {
    mf_RasterTriangle *own = &room->triangles[room->triangle_count];
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
    mf_SightFace *face = &room->faces[room->face_count];
    face->solid = false;
    face->emission = paint->emission;
    face->look = paint->look;
    if (paint->places != NULL) {
        look_by_places(&room->looks[room->look_count], paint, (const double(*)[3])edge,
                       mf_vec3_dot(corner[0], edge[1]));
        face->look = &room->looks[room->look_count++];
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
    own->face = (float)room->face_count++;
    if (++room->triangle_count == TRIANGLES_AT_ONCE)
        mf_sight_flush(sight, room);
}
