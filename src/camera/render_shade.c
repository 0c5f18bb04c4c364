// The colors of what is seen: one light from above, which may be hidden, and light from all sides.
#include "camera/render.h"

#include "math/scalar.h"

#define AMBIENT 0.42f // [1] of the light, from all sides
#define DIRECT 0.58f
#define CELL 1.0 // [m] of the ground's pattern

enum { GROUND = -2 }; // group of its faces

static const double light[3] = {0.36, 0.48, 0.8}; // towards it, world axes
static const float zenith[3] = {0.44f, 0.60f, 0.82f}, horizon[3] = {0.80f, 0.86f, 0.93f};
static const float ground_colors[2][3] = {{0.47f, 0.52f, 0.47f}, {0.58f, 0.62f, 0.56f}};

typedef struct Shade {
    double rows[9]; // optical axes from world axes
    double position[3];
    float towards[3]; // the light, optical axes
    float up[3];      // the world's z, optical axes
    double per_pixel; // [1] width of a pixel at the depth 1
    float per_level;  // [1] one over the light on level ground
    bool shadows;
    const mf_RenderScene *scene;
    bool painted; // the ground has the look of a shape
    float floor_color[3], floor_emission;
    mf_RenderLook floor; // texture NULL: none
} Shade;

// The light on a surface, of which `reached` is what is not hidden.
static float lit(const float normal[3], const Shade *shade, float reached) {
    const float *l = shade->towards;
    const float cosine = normal[0] * l[0] + normal[1] * l[1] + normal[2] * l[2];
    return AMBIENT + DIRECT * (cosine > 0.0f ? cosine * reached : 0.0f);
}

void mf_render_light(const double axes[9], double out[3]) {
    mf_mat3_apply(out, axes, light);
    mf_vec3_normalize(out);
}

// Outwards, in optical axes, where a solid is met at the point `at`.
static void solid_normal(const mf_RenderFace *face, const float at[3], float out[3]) {
    float p[3], length = 0.0f;
    for (int i = 0; i < 3; i++)
        p[i] = face->rotation[3 * i] * at[0] + face->rotation[3 * i + 1] * at[1] +
               face->rotation[3 * i + 2] * at[2] - face->center[i];
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
        out[i] =
            face->rotation[i] * p[0] + face->rotation[3 + i] * p[1] + face->rotation[6 + i] * p[2];
        length += out[i] * out[i];
    }
    const float scale = length > 0.0f ? 1.0f / __builtin_sqrtf(length) : 0.0f;
    for (int i = 0; i < 3; i++)
        out[i] *= scale;
}

// The number of the cell; 0 where no number has the cell's digits.
static int64_t cell_of(double x) {
    if (!(mf_abs(x) < 1e15))
        return 0;
    const int64_t cell = (int64_t)x;
    return cell - (x < (double)cell);
}

// Where a ray ends, world axes.
static void world_point(const Shade *shade, const float ray[3], float depth, double out[3]) {
    for (int i = 0; i < 3; i++)
        out[i] = shade->position[i] + (shade->rows[i] * ((double)ray[0] * (double)depth) +
                                       shade->rows[3 + i] * ((double)ray[1] * (double)depth) +
                                       shade->rows[6 + i] * ((double)ray[2] * (double)depth));
}

// A pattern of squares, which fades into its mean where a pixel is as large as they are.
static void ground_color(const Shade *shade, const float ray[3], float depth, float out[3]) {
    double world[3];
    world_point(shade, ray, depth, world);
    const double steep =
        -(double)(ray[0] * shade->up[0] + ray[1] * shade->up[1] + ray[2] * shade->up[2]);
    const double blurred = 2.0 * (double)depth * shade->per_pixel / (CELL * (steep + 1e-6));
    const float part = (float)(blurred < 1.0 ? 0.5 * (1.0 - blurred) : 0.0);
    const bool odd = ((cell_of(world[0] / CELL) + cell_of(world[1] / CELL)) & 1) != 0;
    const float share = odd ? 0.5f + part : 0.5f - part;
    for (int i = 0; i < 3; i++)
        out[i] = ground_colors[0][i] + share * (ground_colors[1][i] - ground_colors[0][i]);
}

// ---- textures -----------------------------------------------------------------------------------

// How the point that a ray meets moves on its plane from this pixel to the next ones on the right
// and below. Nearly edge-on it does not go on without end.
static void steps_on(const Shade *shade, const float ray[3], float depth, const float normal[3],
                     float out[2][3]) {
    const float across = normal[0] * ray[0] + normal[1] * ray[1] + normal[2] * ray[2];
    const float least = 0.02f, size = depth * (float)shade->per_pixel;
    const float ahead =
        across < 0.0f ? (across < -least ? across : -least) : (across > least ? across : least);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 3; i++)
            out[k][i] = size * ((i == k ? 1.0f : 0.0f) - ray[i] * normal[k] / ahead);
}

static void rotate(const float rows[9], const float direction[3], float out[3]) {
    for (int i = 0; i < 3; i++)
        out[i] = rows[3 * i] * direction[0] + rows[3 * i + 1] * direction[1] +
                 rows[3 * i + 2] * direction[2];
}

// Times what a texture shows where a ray ends.
static void apply_texture(const Shade *shade, const mf_RenderLook *look, const float ray[3],
                          float depth, const float normal[3], float color[3]) {
    const float at[3] = {depth * ray[0], depth * ray[1], depth * ray[2]};
    float step[2][3], position[3], across[2][3], seen[3];
    steps_on(shade, ray, depth, normal, step);
    rotate(look->rows, at, position);
    for (int k = 0; k < 2; k++)
        rotate(look->rows, step[k], across[k]);
    for (int i = 0; i < 3; i++)
        position[i] += look->shift[i];
    const float size = __builtin_fabsf(position[2]);
    if (look->half > 0.0f && size > look->half)
        position[2] = (position[2] < 0.0f ? look->half - size : size - look->half) * look->stretch;
    if (look->texture->cube) {
        mf_texture_map_cube(look->texture, position, (const float(*)[3])across, seen);
    } else {
        const float flat[2][2] = {{across[0][0], across[0][1]}, {across[1][0], across[1][1]}};
        mf_texture_map_flat(look->texture, position, flat, seen);
    }
    for (int i = 0; i < 3; i++)
        color[i] *= seen[i];
}

// The cube's axes are x, z and -y of the world, as in MuJoCo.
static void sky_texture(const Shade *shade, const float ray[3], float out[3]) {
    float world[3], step[2][3];
    const float length = __builtin_sqrtf(ray[0] * ray[0] + ray[1] * ray[1] + ray[2] * ray[2]);
    for (int i = 0; i < 3; i++) {
        world[i] = 0.0f;
        for (int k = 0; k < 3; k++)
            world[i] += (float)shade->rows[3 * k + i] * ray[k];
        for (int k = 0; k < 2; k++)
            step[k][i] = (float)shade->per_pixel * length * (float)shade->rows[3 * k + i];
    }
    const float direction[3] = {world[0], world[2], -world[1]};
    const float across[2][3] = {{step[0][0], step[0][2], -step[0][1]},
                                {step[1][0], step[1][2], -step[1][1]}};
    mf_texture_map_cube(shade->scene->sky, direction, across, out);
    for (int i = 0; i < 3; i++)
        out[i] = length > 0.0f ? out[i] : 0.0f;
}

// ---- pixels -------------------------------------------------------------------------------------

static void sky_color(const Shade *shade, const float ray[3], float out[3]) {
    if (shade->scene->sky != NULL) {
        sky_texture(shade, ray, out);
        return;
    }
    const float length = __builtin_sqrtf(ray[0] * ray[0] + ray[1] * ray[1] + ray[2] * ray[2]);
    const float up =
        length > 0.0f
            ? (ray[0] * shade->up[0] + ray[1] * shade->up[1] + ray[2] * shade->up[2]) / length
            : 0.0f;
    const float share = up > 0.0f ? (length > 0.0f ? up : 0.0f) : 0.0f;
    for (int i = 0; i < 3; i++)
        out[i] = length > 0.0f ? horizon[i] + share * (zenith[i] - horizon[i]) : 0.0f;
}

// Level ground has its own colors in the light, whatever its strength.
static void shade_ground(const Shade *shade, const float ray[3], float depth, const float normal[3],
                         float reached, float out[3]) {
    float factor = lit(normal, shade, reached) * shade->per_level;
    if (shade->painted) {
        factor += shade->floor_emission;
        for (int i = 0; i < 3; i++)
            out[i] = shade->floor_color[i];
        if (shade->floor.texture != NULL)
            apply_texture(shade, &shade->floor, ray, depth, normal, out);
    } else {
        ground_color(shade, ray, depth, out);
    }
    for (int i = 0; i < 3; i++)
        out[i] *= factor;
}

static void shade_pixel(const Shade *shade, const mf_RenderBuffers *buffers, size_t pixel,
                        float out[3]) {
    const mf_Raster *raster = &buffers->raster;
    const float ray[3] = {raster->ray[0][pixel], raster->ray[1][pixel], raster->ray[2][pixel]};
    const float depth = raster->depth[pixel];
    const uint32_t number = (uint32_t)raster->face[pixel];
    float reached = shade->shadows ? buffers->lit[pixel] : 1.0f;
    float normal[3];
    if (number == MF_RASTER_SKY) {
        sky_color(shade, ray, out);
        return;
    }
    if (shade->shadows && shade->scene->hidden != NULL && reached > 0.0f) {
        double world[3];
        world_point(shade, ray, depth, world);
        reached = mf_render_is_behind_hill(shade->scene, world) ? 0.0f : reached;
    }
    if (number == MF_RASTER_GROUND) {
        shade_ground(shade, ray, depth, shade->up, reached, out);
        return;
    }
    const mf_RenderFace *face = &buffers->faces[number];
    if (face->owner[0] == GROUND) {
        shade_ground(shade, ray, depth, face->normal, reached, out);
        return;
    }
    if (face->solid) {
        const float at[3] = {depth * ray[0], depth * ray[1], depth * ray[2]};
        solid_normal(face, at, normal);
    }
    const float *upwards = face->solid ? normal : face->normal;
    const float factor = lit(upwards, shade, reached) + face->emission;
    for (int i = 0; i < 3; i++)
        out[i] = face->color[i];
    if (face->look != NULL)
        apply_texture(shade, face->look, ray, depth, upwards, out);
    for (int i = 0; i < 3; i++)
        out[i] *= factor;
}

// The ground in the look of a shape that is fixed in the world.
static void paint_floor(Shade *shade, const mf_RenderScene *scene) {
    mf_RenderTransform pose;
    double arm[3], rotated[9];
    shade->painted = scene->painted;
    if (!scene->painted)
        return;
    mf_vec3_sub(arm, scene->floor.position, shade->position);
    mf_mat3_apply(pose.position, shade->rows, arm);
    for (int i = 0; i < 9; i++)
        rotated[i] = scene->floor.rotation[i];
    mf_mat3_multiply(pose.rotation, shade->rows, rotated);
    shade->floor = mf_render_look_at(&scene->floor, &pose);
    shade->floor_emission = scene->floor.emission;
    for (int i = 0; i < 3; i++)
        shade->floor_color[i] = scene->floor.solid.color[i];
}

void mf_render_shade(const mf_RenderScene *scene, const mf_CameraView *view,
                     const mf_RenderPose *pose, mf_RenderBuffers *buffers) {
    Shade shade = {
        .per_pixel = 1.0 / view->camera.focal[0], .shadows = view->camera.shadows, .scene = scene};
    double towards[3];
    mf_render_axes(pose, shade.rows);
    mf_render_light(shade.rows, towards);
    mf_vec3_copy(shade.position, pose->position);
    paint_floor(&shade, scene);
    for (int i = 0; i < 3; i++) {
        shade.towards[i] = (float)towards[i];
        shade.up[i] = (float)shade.rows[3 * i + 2];
    }
    shade.per_level = 1.0f / lit(shade.up, &shade, 1.0f);
    for (uint32_t y = buffers->raster.top; y < buffers->raster.bottom; y++)
        for (uint32_t x = 0; x < view->camera.width; x++)
            shade_pixel(&shade, buffers, (size_t)y * view->stride + x,
                        buffers->color + 3 * ((size_t)y * view->camera.width + x));
}
