// The ground that a model's file describes: its level plane and height fields, sampled on one map.
//
// A single field of square cells without rotation gives a map of the same points. Otherwise the
// cells are squares of the finest edge, and heights between the points of a field are bilinear.
#include <mayfly/terrain.h>

#include "math/scalar.h"
#include "base/floats.h"

#include <math.h>

enum { SIDE_MOST = 2048 }; // [1] cells along a side of a map that is sampled again

#define GAP_DEPTH 1000.0 // [m] where there is no ground within a map

typedef struct Ground {
    const mf_Model *model;
    const mf_Shape *plane;  // NULL
    const mf_Shape *first;  // height field, NULL
    uint32_t fields;        // [1]
    double low[2], high[2]; // [m] what the fields cover
    double cell;            // [m] finest edge
    bool exact;             // the map has the points of the only field
} Ground;

// Fixed in the world, collides, z up.
static bool is_level(const mf_Shape *shape) {
    const double x = shape->rotation[1], y = shape->rotation[2];
    return shape->link == MF_NONE && shape->collides && x * x + y * y < 1e-12;
}

static const mf_HeightField *field_of(const Ground *ground, const mf_Shape *shape) {
    return &ground->model->height_fields[shape->mesh];
}

static double edge_of(const mf_HeightField *field, int axis) {
    uint32_t count = axis == 0 ? field->columns : field->rows;
    return 2.0 * field->half_size[axis] / (count - 1);
}

static void add_field(Ground *ground, const mf_Shape *shape) {
    const mf_HeightField *field = field_of(ground, shape);
    const bool rotated = shape->rotation[3] * shape->rotation[3] > 1e-24;
    const double across = edge_of(field, 0), along = edge_of(field, 1);
    double finest = across < along ? across : along;
    for (int corner = 0; corner < 4; corner++) {
        double at[3] = {corner & 1 ? field->half_size[0] : -field->half_size[0],
                        corner & 2 ? field->half_size[1] : -field->half_size[1], 0.0};
        mf_quat_rotate(at, shape->rotation, at);
        for (int i = 0; i < 2; i++) {
            double position = at[i] + shape->position[i];
            bool none = ground->fields == 0 && corner == 0;
            ground->low[i] = none || position < ground->low[i] ? position : ground->low[i];
            ground->high[i] = none || position > ground->high[i] ? position : ground->high[i];
        }
    }
    ground->cell = ground->fields == 0 || finest < ground->cell ? finest : ground->cell;
    ground->exact = ground->fields == 0 && !rotated && mf_abs(across - along) < 1e-9 * across;
    ground->first = ground->fields == 0 ? shape : ground->first;
    ground->fields++;
}

// Height of a field at a position of the world. False outside of it, where *height is that of the
// nearest position of its border.
static bool height_in(const Ground *ground, const mf_Shape *shape, double x, double y,
                      double *height) {
    const mf_HeightField *field = field_of(ground, shape);
    const uint32_t counts[2] = {field->columns, field->rows};
    double at[3] = {x - shape->position[0], y - shape->position[1], 0.0}, part[2];
    uint32_t cell[2];
    bool inside = true;
    mf_quat_rotate_inverse(at, shape->rotation, at);
    for (int i = 0; i < 2; i++) {
        const double last = counts[i] - 1;
        double u = (at[i] + field->half_size[i]) / edge_of(field, i);
        inside = inside && u > -1e-6 && u < last + 1e-6;
        u = u > 0.0 ? u : 0.0;
        u = u < last ? u : last;
        cell[i] = (uint32_t)u < counts[i] - 2 ? (uint32_t)u : counts[i] - 2;
        part[i] = u - cell[i];
    }
    const float *low = field->heights + (size_t)cell[1] * counts[0] + cell[0];
    const float *up = low + counts[0];
    double near = low[0] + part[0] * ((double)low[1] - low[0]);
    double far = up[0] + part[0] * ((double)up[1] - up[0]);
    *height = shape->position[2] + field->height * (near + part[1] * (far - near));
    return inside;
}

// The highest surface there; outside of all fields the plane, or else nothing.
static double height_at(const Ground *ground, double x, double y) {
    double highest = ground->plane != NULL ? ground->plane->position[2] : -INFINITY, height;
    for (uint32_t i = 0; i < ground->model->shape_count; i++) {
        const mf_Shape *shape = &ground->model->shapes[i];
        if (shape->type == MF_SHAPE_HEIGHTS && is_level(shape) &&
            height_in(ground, shape, x, y, &height))
            highest = height > highest ? height : highest;
    }
    if (highest > -INFINITY)
        return highest;
    height_in(ground, ground->first, x, y, &highest);
    return highest - GAP_DEPTH;
}

// Grid of the map: that of the only field, or a finer one; with a margin of one point where a plane
// continues it.
static void lay_out(const Ground *ground, mf_TerrainConfig *config) {
    uint32_t sides[2];
    config->cell = ground->cell;
    for (int i = 0; i < 2; i++) {
        double most = (ground->high[i] - ground->low[i]) / (SIDE_MOST - 4);
        if (!ground->exact && most > config->cell)
            config->cell = most;
    }
    const double ring = ground->plane != NULL ? 1.0 : 0.0;
    for (int i = 0; i < 2; i++) {
        double cells = (ground->high[i] - ground->low[i]) / config->cell;
        sides[i] = (uint32_t)(cells + (ground->exact ? 0.5 : 1.0 - 1e-9)) + 1 + 2 * (uint32_t)ring;
        config->origin[i] = ground->low[i] - (ring + 0.5) * config->cell;
    }
    config->columns = sides[0];
    config->rows = sides[1];
    config->interpolation = MF_BILINEAR;
    config->border = ground->plane != NULL ? MF_BORDER_CONTINUES : MF_BORDER_ENDS;
}

static mf_Status make_map(mf_Context *context, const Ground *ground, mf_Terrain **out,
                          mf_Error *error) {
    mf_TerrainConfig config = mf_terrain_config();
    lay_out(ground, &config);
    double *heights = mf_allocate(context, (size_t)config.columns * config.rows, sizeof *heights);
    MF_NEED_MEMORY(heights != NULL, error, "terrain");
    for (uint32_t row = 0; row < config.rows; row++)
        for (uint32_t column = 0; column < config.columns; column++)
            heights[(size_t)row * config.columns + column] =
                height_at(ground, config.origin[0] + (column + 0.5) * config.cell,
                          config.origin[1] + (row + 0.5) * config.cell);
    mf_Status status = mf_terrain_from_array(context, &config, heights, out, error);
    mf_release(context, heights);
    return status;
}

mf_Status mf_terrain_from_model(mf_Context *context, const mf_Model *model, mf_Terrain **out,
                                mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (context == NULL || model == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "mf_terrain_from_model: context or model is NULL");
    Ground ground = {.model = model};
    *out = NULL;
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape *shape = &model->shapes[i];
        if (shape->type == MF_SHAPE_HEIGHTS && is_level(shape))
            add_field(&ground, shape);
        else if (shape->type == MF_SHAPE_PLANE && is_level(shape) && ground.plane == NULL)
            ground.plane = shape;
    }
    if (ground.fields > 0)
        return make_map(context, &ground, out, error);
    if (ground.plane == NULL)
        return MF_OK;
    mf_TerrainConfig config = mf_terrain_config();
    config.columns = config.rows = 1;
    return mf_terrain_from_array(context, &config, &ground.plane->position[2], out, error);
}
