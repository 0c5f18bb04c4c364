// One picture: which face each pixel sees, and its color. One light from above, and light from all
// sides; no shadows.
#include "camera/sight.h"

#include "math/scalar.h"

#define AMBIENT 0.42f // [1] of the light, from all sides
#define DIRECT 0.58f
#define CELL 1.0 // [m] of the ground's pattern

static const double light[3] = {0.36, 0.48, 0.8}; // towards it, world axes
static const float zenith[3] = {0.44f, 0.60f, 0.82f}, horizon[3] = {0.80f, 0.86f, 0.93f};
static const float ground_colors[2][3] = {{0.47f, 0.52f, 0.47f}, {0.58f, 0.62f, 0.56f}};

void mf_sight_axes(const mf_SightPlace *place, double rows[9]) {
    const double *r = place->rotation;
    for (int i = 0; i < 3; i++) {
        rows[i] = -r[3 * i + 1];
        rows[3 + i] = -r[3 * i + 2];
        rows[6 + i] = r[3 * i];
    }
}

// ---- robots -------------------------------------------------------------------------------------

void mf_sight_to_optical(const mf_SightDraw *draw, const double world[3], double out[3]) {
    double arm[3];
    mf_vec3_sub(arm, world, draw->place->position);
    mf_mat3_apply(out, draw->axes, arm);
}

// False: the link's pose is not finite.
static bool link_pose(const mf_SightGroup *group, uint32_t instance, uint32_t link,
                      mf_SightPose *out) {
    double values[7];
    for (uint32_t c = 0; c < 7; c++)
        values[c] = mf_sight_value(group->pose, instance, 7 * link + c);
    mf_vec3_copy(out->position, values);
    mf_quat_to_matrix(out->rotation, values + 3);
    return mf_all_finite(values, 7);
}

static bool shape_pose(const mf_SightDraw *draw, const mf_SightGroup *group, uint32_t instance,
                       const mf_SightShape *shape, mf_SightPose *out) {
    mf_SightPose link = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}};
    double arm[3], turned[9];
    if (shape->link != MF_NONE && !link_pose(group, instance, shape->link, &link))
        return false;
    mf_mat3_apply(arm, link.rotation, shape->position);
    mf_vec3_add(arm, arm, link.position);
    mf_sight_to_optical(draw, arm, out->position);
    mf_mat3_multiply(turned, link.rotation, shape->rotation);
    mf_mat3_multiply(out->rotation, draw->axes, turned);
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

void mf_sight_draw_solid(const mf_SightDraw *draw, const mf_SightSolid *from,
                         const mf_SightPose *pose, const int32_t owner[3]) {
    mf_SightRoom *room = draw->room;
    mf_RasterSolid solid = {.type = from->type, .half = (float)from->half};
    mf_SightFace *face = &room->faces[room->face_count];
    if (!mf_camera_view_ball(draw->view, pose->position, from->radius, &solid.rect))
        return;
    for (int i = 0; i < 3; i++) {
        double along = 0.0;
        for (int k = 0; k < 3; k++) {
            const double turn = pose->rotation[3 * k + i] * from->scale[i];
            face->turn[3 * i + k] = solid.axes[3 * i + k] = (float)turn;
            along += turn * pose->position[k];
        }
        face->center[i] = solid.center[i] = (float)along;
        face->color[i] = from->color[i];
        face->owner[i] = owner[i];
    }
    if (is_inside(&solid))
        return;
    face->solid = true;
    face->type = from->type;
    face->half = (float)from->half;
    solid.face = (float)room->face_count++;
    draw->sight->solid(&room->raster, &solid);
}

// As the level ground, but with axes of its own.
static void draw_plane(const mf_SightDraw *draw, const mf_SightShape *shape,
                       const mf_SightPose *pose, const int32_t owner[3]) {
    mf_SightRoom *room = draw->room;
    mf_SightFace *face = &room->faces[room->face_count];
    mf_RasterGround plane = {.low = {1.0f, 1.0f}, .high = {0.0f, 0.0f}};
    double height = 0.0;
    for (int i = 0; i < 3; i++) {
        const double up = pose->rotation[3 * i + 2];
        height -= up * pose->position[i];
        plane.down[i] = (float)-up;
        face->normal[i] = (float)up;
        face->color[i] = shape->solid.color[i];
        face->owner[i] = owner[i];
    }
    if (!(height > 0.0))
        return;
    face->solid = false;
    plane.height = (float)height;
    plane.face = (float)room->face_count++;
    draw->sight->ground(&room->raster, &plane);
}

static void draw_mesh(const mf_SightDraw *draw, const mf_SightShape *shape,
                      const mf_SightPose *pose, const int32_t owner[3]) {
    const mf_Mesh *mesh = shape->mesh;
    double(*corners)[3] = draw->room->corners, middle[3];
    const double *r = pose->rotation, *p = pose->position;
    mf_RasterRect rect;
    mf_mat3_apply(middle, r, shape->middle);
    mf_vec3_add(middle, middle, p);
    if (!mf_camera_view_ball(draw->view, middle, shape->solid.radius, &rect))
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
        mf_sight_add_triangle(draw->sight, draw->view, draw->room, corner, shape->solid.color,
                              owner);
    }
}

static void draw_links(const mf_SightDraw *draw, const mf_SightGroup *group, uint32_t instance,
                       bool scenery) {
    for (uint32_t i = 0; i < group->count; i++) {
        const mf_SightShape *shape = &group->shapes[i];
        const int32_t owner[3] = {(int32_t)group->number, (int32_t)instance,
                                  shape->link == MF_NONE ? -1 : (int32_t)shape->link};
        mf_SightPose pose;
        if ((shape->link == MF_NONE && !scenery) ||
            !shape_pose(draw, group, instance, shape, &pose))
            continue;
        if (shape->mesh != NULL)
            draw_mesh(draw, shape, &pose, owner);
        else if (shape->plane)
            draw_plane(draw, shape, &pose, owner);
        else
            mf_sight_draw_solid(draw, &shape->solid, &pose, owner);
    }
}

static void draw_robot(const mf_SightDraw *draw, const mf_SightGroup *group, uint32_t instance,
                       bool scenery) {
    if (group->kind == MF_SIGHT_LINKS)
        draw_links(draw, group, instance, scenery);
    else
        mf_sight_draw_soft(draw, group, instance);
}

void mf_sight_draw(const mf_Sight *sight, const mf_CameraView *view, const mf_SightPlace *place,
                   mf_SightRoom *room) {
    const size_t end = (size_t)view->stride * room->raster.bottom;
    const float farthest = (float)view->camera.farthest;
    mf_SightDraw draw = {.sight = sight, .view = view, .place = place, .room = room};
    mf_sight_axes(place, draw.axes);
    room->face_count = MF_RASTER_FIRST;
    room->triangle_count = 0;
    for (size_t i = (size_t)view->stride * room->raster.top; i < end; i++) {
        room->raster.depth[i] = farthest;
        room->raster.face[i] = (float)MF_RASTER_SKY;
    }
    for (uint32_t g = 0; g < sight->group_count; g++) {
        const mf_SightGroup *group = &sight->groups[g];
        const bool own = group->number == place->group;
        if (group->isolated && own) {
            draw_robot(&draw, group, place->instance, true);
            continue;
        }
        const uint32_t count = group->isolated ? 0 : mf_group_count(group->group);
        for (uint32_t i = 0; i < count; i++)
            draw_robot(&draw, group, i, i == 0);
    }
    mf_sight_draw_ground(sight, view, place, room);
    mf_sight_flush(sight, room);
}

// ---- colors -------------------------------------------------------------------------------------

typedef struct Shade {
    double rows[9]; // optical axes from world axes
    double position[3];
    float towards[3]; // the light, optical axes
    float up[3];      // the world's z, optical axes
    double per_pixel; // [1] width of a pixel at the depth 1
} Shade;

static float lit(const float normal[3], const Shade *shade) {
    const float *l = shade->towards;
    const float cosine = normal[0] * l[0] + normal[1] * l[1] + normal[2] * l[2];
    return AMBIENT + DIRECT * (cosine > 0.0f ? cosine : 0.0f);
}

// Outwards, in optical axes, where a solid is met at the point `at`.
static void solid_normal(const mf_SightFace *face, const float at[3], float out[3]) {
    float p[3], length = 0.0f;
    for (int i = 0; i < 3; i++)
        p[i] = face->turn[3 * i] * at[0] + face->turn[3 * i + 1] * at[1] +
               face->turn[3 * i + 2] * at[2] - face->center[i];
    const float half = face->half;
    const float size[3] = {__builtin_fabsf(p[0]), __builtin_fabsf(p[1]), __builtin_fabsf(p[2])};
    const int most = size[0] > size[1] ? (size[0] > size[2] ? 0 : 2) : (size[1] > size[2] ? 1 : 2);
    switch (face->type) {
    case MF_RASTER_BRICK:
        for (int i = 0; i < 3; i++)
            p[i] = i == most ? p[i] : 0.0f;
        break;
    case MF_RASTER_TUBE:
        if (size[2] > half * 0.999f && p[0] * p[0] + p[1] * p[1] < 0.999f)
            p[0] = p[1] = 0.0f;
        else
            p[2] = 0.0f;
        break;
    case MF_RASTER_PILL:
        p[2] = size[2] > half ? (p[2] > 0.0f ? p[2] - half : p[2] + half) : 0.0f;
        break;
    default:
        break;
    }
    for (int i = 0; i < 3; i++) { // the gradient: the transposed axes
        out[i] = face->turn[i] * p[0] + face->turn[3 + i] * p[1] + face->turn[6 + i] * p[2];
        length += out[i] * out[i];
    }
    const float scale = length > 0.0f ? 1.0f / __builtin_sqrtf(length) : 0.0f;
    for (int i = 0; i < 3; i++)
        out[i] *= scale;
}

// A pattern of squares, which fades into its mean where a pixel is as large as they are.
static void ground_color(const Shade *shade, const float ray[3], float depth, float out[3]) {
    const double at[3] = {(double)ray[0] * (double)depth, (double)ray[1] * (double)depth,
                          (double)ray[2] * (double)depth};
    double world[3];
    mf_mat3_apply_transposed(world, shade->rows, at);
    mf_vec3_add(world, world, shade->position);
    const double x = mf_floor(world[0] / CELL), y = mf_floor(world[1] / CELL);
    const double steep =
        -(double)(ray[0] * shade->up[0] + ray[1] * shade->up[1] + ray[2] * shade->up[2]);
    const double blurred = 2.0 * (double)depth * shade->per_pixel / (CELL * (steep + 1e-6));
    const float part = (float)(blurred < 1.0 ? 0.5 * (1.0 - blurred) : 0.0);
    const bool odd = mf_floor(0.5 * (x + y)) * 2.0 != x + y;
    const float share = odd ? 0.5f + part : 0.5f - part;
    for (int i = 0; i < 3; i++)
        out[i] = ground_colors[0][i] + share * (ground_colors[1][i] - ground_colors[0][i]);
}

static void sky_color(const Shade *shade, const float ray[3], float out[3]) {
    const float length = __builtin_sqrtf(ray[0] * ray[0] + ray[1] * ray[1] + ray[2] * ray[2]);
    const float up =
        length > 0.0f
            ? (ray[0] * shade->up[0] + ray[1] * shade->up[1] + ray[2] * shade->up[2]) / length
            : 0.0f;
    const float share = up > 0.0f ? (length > 0.0f ? up : 0.0f) : 0.0f;
    for (int i = 0; i < 3; i++)
        out[i] = length > 0.0f ? horizon[i] + share * (zenith[i] - horizon[i]) : 0.0f;
}

static void shade_pixel(const Shade *shade, const mf_SightRoom *room, size_t pixel, float out[3]) {
    const mf_Raster *raster = &room->raster;
    const float ray[3] = {raster->ray[0][pixel], raster->ray[1][pixel], raster->ray[2][pixel]};
    const float depth = raster->depth[pixel];
    const uint32_t number = (uint32_t)raster->face[pixel];
    float normal[3];
    if (number == MF_RASTER_SKY) {
        sky_color(shade, ray, out);
        return;
    }
    if (number == MF_RASTER_GROUND) {
        ground_color(shade, ray, depth, out);
        return;
    }
    const mf_SightFace *face = &room->faces[number];
    if (face->solid) {
        const float at[3] = {depth * ray[0], depth * ray[1], depth * ray[2]};
        solid_normal(face, at, normal);
    }
    const float factor = lit(face->solid ? normal : face->normal, shade);
    for (int i = 0; i < 3; i++)
        out[i] = face->color[i] * factor;
}

void mf_sight_shade(const mf_CameraView *view, const mf_SightPlace *place, mf_SightRoom *room) {
    Shade shade = {.per_pixel = 1.0 / view->camera.focal[0]};
    const double length = mf_vec3_length(light);
    mf_sight_axes(place, shade.rows);
    mf_vec3_copy(shade.position, place->position);
    for (int i = 0; i < 3; i++) {
        shade.towards[i] = (float)(mf_vec3_dot(shade.rows + 3 * i, light) / length);
        shade.up[i] = (float)shade.rows[3 * i + 2];
    }
    for (uint32_t y = room->raster.top; y < room->raster.bottom; y++)
        for (uint32_t x = 0; x < view->camera.width; x++)
            shade_pixel(&shade, room, (size_t)y * view->stride + x,
                        room->color + 3 * ((size_t)y * view->camera.width + x));
}
