// Height fields of an MJCF model: numbers in the file, PNG images (their gray values) and MuJoCo's
// own binary (int32 rows, int32 columns, then the heights as float32, the row at -y first). All are
// scaled to 0 .. 1. As in MuJoCo only the upper 8 of 16 bits are used.
#include "import/mjcf.h"
#include "import/package.h"

#include "image/image.h"
#include "math/scalar.h"

#include <string.h>
#include <strings.h>

#define HEIGHTS_LIMIT (1u << 26) // [1] numbers of a field

typedef struct Grid {
    uint32_t rows, columns;
    float *values; // the row at -y first; NULL: all 0
} Grid;

static void scale_heights(Grid *grid) {
    const size_t count = (size_t)grid->rows * grid->columns;
    float low = grid->values[0], high = low;
    for (size_t i = 0; i < count; i++) {
        low = grid->values[i] < low ? grid->values[i] : low;
        high = grid->values[i] > high ? grid->values[i] : high;
    }
    const double range = (double)high - low;
    for (size_t i = 0; i < count; i++)
        grid->values[i] = range > 0.0 ? (float)(((double)grid->values[i] - low) / range) : 0.0f;
}

static mf_Status check_grid(const mf_Mjcf *m, const mf_XmlNode *node, int64_t rows,
                            int64_t columns) {
    if (rows < 2 || columns < 2 || rows > HEIGHTS_LIMIT || columns > HEIGHTS_LIMIT ||
        rows * columns > HEIGHTS_LIMIT)
        return mf_mjcf_fail(m, node,
                            "<hfield>: expected nrow and ncol >= 2 and at most 2^26 cells, found "
                            "%lld and %lld",
                            (long long)rows, (long long)columns);
    return MF_OK;
}

static mf_Status allocate_grid(mf_Mjcf *m, Grid *grid) {
    grid->values =
        mf_allocate(m->context, (size_t)grid->rows * grid->columns, sizeof *grid->values);
    return grid->values ? MF_OK : mf_mjcf_no_memory(m);
}

// Index of value i of rows of which the first is at +y.
static size_t mirrored(const Grid *grid, size_t i) {
    return (grid->rows - 1 - i / grid->columns) * grid->columns + i % grid->columns;
}

// Numbers in the file: the first row is at +y, as in an image.
static mf_Status read_numbers(mf_Mjcf *m, const mf_MjcfHeights *heights, Grid *grid) {
    double *values;
    uint32_t given;
    MF_TRY(check_grid(m, heights->node, heights->rows, heights->columns));
    MF_TRY(mf_mjcf_list(m, heights->node, "elevation", &values, &given));
    grid->rows = (uint32_t)heights->rows;
    grid->columns = (uint32_t)heights->columns;
    const size_t count = (size_t)grid->rows * grid->columns;
    if (heights->elevation != NULL && given != count)
        return mf_mjcf_fail(m, heights->node, "<hfield> elevation: expected %zu numbers, found %u",
                            count, given);
    MF_TRY(allocate_grid(m, grid));
    for (size_t i = 0; given > 0 && i < count; i++)
        grid->values[mirrored(grid, i)] = (float)mf_clamp(values[i], -3e38, 3e38);
    return MF_OK;
}

// 0 .. 1 of white as 8 bits of gray.
static mf_Status read_image(mf_Mjcf *m, const char *path, Grid *grid) {
    mf_Image image;
    MF_TRY(mf_image_load(m->context, path, &image, m->error));
    grid->rows = image.height;
    grid->columns = image.width;
    mf_Status status = allocate_grid(m, grid);
    for (size_t i = 0; status == MF_OK && i < (size_t)grid->rows * grid->columns; i++) {
        const double share = (double)mf_image_gray(&image, i) / image.white;
        grid->values[mirrored(grid, i)] = (float)((uint32_t)(share * 65535.0 + 0.5) >> 8);
    }
    mf_release(m->context, image.pixels);
    return status;
}

static mf_Status read_binary(mf_Mjcf *m, const mf_XmlNode *node, const char *data, size_t size,
                             Grid *grid) {
    int32_t sizes[2] = {0, 0};
    if (size >= sizeof sizes)
        memcpy(sizes, data, sizeof sizes);
    MF_TRY(check_grid(m, node, sizes[0], sizes[1]));
    grid->rows = (uint32_t)sizes[0];
    grid->columns = (uint32_t)sizes[1];
    const size_t bytes = (size_t)grid->rows * grid->columns * sizeof *grid->values;
    if (size != sizeof sizes + bytes)
        return mf_mjcf_fail(m, node, "<hfield> file: expected %zu bytes, found %zu",
                            sizeof sizes + bytes, size);
    MF_TRY(allocate_grid(m, grid));
    memcpy(grid->values, data + sizeof sizes, bytes);
    for (size_t i = 0; i < (size_t)grid->rows * grid->columns; i++) {
        if (!(mf_abs((double)grid->values[i]) < 3e38))
            MF_TRY(mf_mjcf_fail(m, node, "<hfield> file: height %zu is not finite", i));
    }
    return MF_OK;
}

static mf_Status read_file(mf_Mjcf *m, const mf_MjcfHeights *heights, Grid *grid,
                           char path[MF_PATH_LIMIT]) {
    const mf_XmlNode *node = heights->node;
    const char *ending = strrchr(heights->file, '.'),
               *kind = mf_xml_attribute(node, "content_type");
    const bool image =
        kind ? strcmp(kind, "image/png") == 0 : ending && strcasecmp(ending, ".png") == 0;
    char *data;
    size_t size;
    if (m->in_memory)
        return mf_xml_fail(&m->xml, node, MF_UNSUPPORTED,
                           "<hfield> needs a file, found text in memory");
    mf_Status status = mf_mjcf_find_asset(
        m, node, "height field", mf_mjcf_settings(m, node)->mesh_folder, heights->file, path);
    if (status == MF_OK && image)
        return read_image(m, path, grid);
    MF_THEN(status, mf_file_read(m->context, path, MF_FILE_LIMIT, &data, &size, m->error));
    if (status != MF_OK)
        return status;
    status = read_binary(m, node, data, size, grid);
    mf_release(m->context, data);
    return status;
}

mf_Status mf_mjcf_load_heights(mf_Mjcf *m, mf_MjcfHeights *heights) {
    char path[MF_PATH_LIMIT] = "";
    Grid grid = {0};
    if (heights->draft != MF_NONE)
        return MF_OK;
    mf_Status status =
        heights->file ? read_file(m, heights, &grid, path) : read_numbers(m, heights, &grid);
    const mf_HeightField field = {.name = heights->name,
                                  .path = path,
                                  .rows = grid.rows,
                                  .columns = grid.columns,
                                  .half_size = {heights->size[0], heights->size[1]},
                                  .height = heights->size[2],
                                  .base = heights->size[3],
                                  .heights = grid.values};
    if (status == MF_OK) {
        scale_heights(&grid);
        heights->draft = m->draft.heights.count;
        status = mf_mjcf_add(m, heights->node, MF_ITEM_HEIGHT_FIELD, &field, NULL);
    }
    if (status != MF_OK)
        mf_release(m->context, grid.values);
    return status;
}
