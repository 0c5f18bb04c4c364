// Shadows of hills. The light's direction is fixed in the world, so below a point of the map is a
// height under which its hills hide the light: the greatest height of the surface at a horizontal
// distance s towards the light, less s times the light's slope. It is found once, row by row: with
// the step to the next row it is that of the place there or the surface there, whichever is higher,
// less the rise of the light on the way.
#include "camera/render.h"

#include "math/scalar.h"

static double height_at(const mf_Terrain *terrain, int64_t column, int64_t row) {
    return terrain->height_f64[(size_t)row * terrain->columns + (size_t)column];
}

// Of a row at a column between two centers of cells; -infinity outside.
static double shade_at(const mf_RenderScene *scene, double column, int64_t row) {
    const mf_Terrain *terrain = scene->terrain;
    const int64_t left = (int64_t)mf_floor(column);
    if (left < 0 || left + 1 >= terrain->columns || row >= terrain->rows)
        return -(double)__builtin_inf();
    double end[2];
    for (int k = 0; k < 2; k++) {
        const double own = height_at(terrain, left + k, row);
        const double above = (double)scene->hidden[row * terrain->columns + left + k];
        end[k] = own > above ? own : above;
    }
    return end[0] + (column - (double)left) * (end[1] - end[0]);
}

mf_Status mf_render_take_hills(mf_RenderScene *scene, mf_Error *error) {
    static const double world[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    const mf_Terrain *terrain = scene->terrain;
    double light[3];
    if (!scene->hilly)
        return MF_OK;
    scene->hidden =
        mf_allocate(scene->context, (size_t)terrain->columns * terrain->rows, sizeof(float));
    MF_NEED_MEMORY(scene->hidden != NULL, error, "cameras");
    mf_render_light(world, light); // its y is the longer one, and above 0
    const double aside = light[0] / light[1], rise = terrain->cell * light[2] / light[1];
    for (int64_t row = (int64_t)terrain->rows - 1; row >= 0; row--)
        for (int64_t column = 0; column < terrain->columns; column++)
            scene->hidden[row * terrain->columns + column] =
                (float)(shade_at(scene, (double)column + aside, row + 1) - rise);
    return MF_OK;
}

bool mf_render_is_behind_hill(const mf_RenderScene *scene, const double at[3]) {
    const mf_Terrain *terrain = scene->terrain;
    double position[2];
    size_t cell[2];
    for (int i = 0; i < 2; i++) {
        const double last = (i == 0 ? terrain->columns : terrain->rows) - 1.0;
        position[i] = (at[i] - terrain->origin[i]) / terrain->cell - 0.5;
        if (!(position[i] >= 0.0 && position[i] < last))
            return false;
        cell[i] = (size_t)position[i];
        position[i] -= (double)cell[i];
    }
    const float *low = scene->hidden + cell[1] * terrain->columns + cell[0];
    const float *high = low + terrain->columns;
    // -infinity where nothing hides anything, which is not to be multiplied by 0.
    if (!(low[0] > -1e30f && low[1] > -1e30f && high[0] > -1e30f && high[1] > -1e30f))
        return false;
    const double near = (double)low[0] + position[0] * ((double)low[1] - (double)low[0]);
    const double far = (double)high[0] + position[0] * ((double)high[1] - (double)high[0]);
    return at[2] < near + position[1] * (far - near);
}
