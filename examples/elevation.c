// Generates hilly ground and writes it as a 16-bit PGM elevation image to the standard output:
//
//     example_elevation > scenes/hills.pgm
//
// Black is 1 m below, white 1 m above zero: load it with scale 2 and offset -1 (or any other).
#include <mayfly/terrain.h>

#include <stdio.h>

int main(void) {
    mf_Context *context = NULL;
    mf_Terrain *terrain = NULL;
    mf_Error error;
    mf_TerrainConfig config = mf_terrain_config();
    config.columns = config.rows = 128;
    mf_TerrainGenerator hills = {
        .shape = MF_TERRAIN_NOISE, .amplitude = 1.0, .wavelength = 4.0, .octaves = 5, .seed = 2};
    mf_Status status = mf_context_create(NULL, &context, &error);
    if (status == MF_OK)
        status = mf_terrain_generate(context, &config, &hills, &terrain, &error);
    if (status != MF_OK) {
        char line[1024];
        fprintf(stderr, "%s\n", mf_error_format(&error, line, sizeof line));
        mf_context_destroy(context);
        return 1;
    }
    printf("P5\n# made by examples/elevation.c\n128 128\n65535\n");
    for (uint32_t row = config.rows; row-- > 0;) // the image starts with the highest y
        for (uint32_t column = 0; column < config.columns; column++) {
            double height = terrain->height_f64[row * config.columns + column];
            unsigned gray = (unsigned)((height + 1.0) * 0.5 * 65535.0 + 0.5);
            putchar((int)(gray >> 8));
            putchar((int)(gray & 255));
        }
    mf_terrain_destroy(terrain);
    mf_context_destroy(context);
    return fflush(stdout) == 0 ? 0 : 1;
}
