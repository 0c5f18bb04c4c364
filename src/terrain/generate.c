// Generated ground: flat, slope, stairs, waves, fractal noise, sampled at the cell centers.
//
// The bits are the same on every machine and for every number of threads: only + - * /, floor, our
// own sine and cosine, and counter-based random numbers; rows are independent.
//
// Noise is a sum of octaves of value noise: random values in [-1, 1) on a square lattice (Philox
// keyed by the seed, stream = octave, tick = lattice point), blended with the fade curve
// 6 t^5 - 15 t^4 + 10 t^3 of Perlin, "Improving noise", SIGGRAPH 2002, so that slope and curvature
// are continuous. Octave k has lattice spacing wavelength / 2^k and weight 2^-k, the weights scaled
// to sum to 1, hence |height| <= amplitude.

#include "math/scalar.h"
#include "base/context.h"
#include "base/floats.h"
#include "terrain/build.h"

#include <inttypes.h>

#define LARGEST_OCTAVES 12u
// A step edge that is meant to fall on a cell center must not move by rounding.
#define STEP_SNAP 1e-9 // [1] of a wavelength
// Lattice coordinates must fit 32 bits with space for the neighbor.
#define LARGEST_LATTICE 2147483000.0 // [1]

typedef struct Job {
    const mf_TerrainGenerator *generator;
    const mf_Terrain *terrain;
    double *heights;
    double slope; // [1] tan(amplitude), for slopes
} Job;

// The largest whole number <= value, for |value| < 2^62, without libm.
static int64_t floor_to_integer(double value) {
    int64_t whole = (int64_t)value;
    return whole - ((double)whole > value);
}

static double center(const mf_Terrain *terrain, int axis, uint32_t index) {
    return terrain->origin[axis] + ((double)index + 0.5) * terrain->cell;
}

// sin and cos of 2 pi position / wavelength; whole periods are removed first, which is exact.
static void wave(double position, double wavelength, double *sine, double *cosine) {
    double cycles = position / wavelength;
    double part = cycles - (double)floor_to_integer(cycles + 0.5);
    mf_sin_cos(2.0 * MF_PI * part, sine, cosine);
}

static double fade(double t) {
    return t * t * t * (t * (t * 6.0 - 15.0) + 10.0);
}

// The noise value in [-1, 1) of a lattice point.
static double lattice_value(uint64_t seed, uint32_t octave, int64_t column, int64_t row) {
    uint32_t words[4];
    uint64_t tick = (uint64_t)(uint32_t)column << 32 | (uint32_t)row;
    mf_random(seed, 0, octave, tick, words);
    return 2.0 * mf_random_unit_double(words[0], words[1]) - 1.0;
}

// One side of a lattice square: its two corner values blended along y.
static double lattice_edge(uint64_t seed, uint32_t octave, int64_t column, int64_t row,
                           double blend) {
    double low = lattice_value(seed, octave, column, row);
    double high = lattice_value(seed, octave, column, row + 1);
    return low + blend * (high - low);
}

// Adds one octave to a row. Neighboring cells mostly share a lattice square, so its two edges are
// kept and computed again only when the square changes.
static void add_octave(const Job *job, uint32_t octave, double weight, uint32_t row,
                       double *heights) {
    const mf_Terrain *terrain = job->terrain;
    uint64_t seed = job->generator->seed;
    double frequency = (double)(1u << octave) / job->generator->wavelength;
    double y = center(terrain, 1, row) * frequency;
    int64_t lattice_row = floor_to_integer(y);
    double blend = fade(y - (double)lattice_row);
    int64_t kept = INT64_MIN;
    double left = 0.0, right = 0.0;
    for (uint32_t column = 0; column < terrain->columns; column++) {
        double x = center(terrain, 0, column) * frequency;
        int64_t lattice_column = floor_to_integer(x);
        if (lattice_column != kept) {
            left = lattice_edge(seed, octave, lattice_column, lattice_row, blend);
            right = lattice_edge(seed, octave, lattice_column + 1, lattice_row, blend);
            kept = lattice_column;
        }
        double along = fade(x - (double)lattice_column);
        heights[column] += weight * (left + along * (right - left));
    }
}

static void noise_row(const Job *job, uint32_t row, double *heights) {
    uint32_t octaves = job->generator->octaves;
    // 1 + 1/2 + ... = 2 - 2^(1 - octaves), exact in binary.
    double total = 2.0 - 2.0 / (double)(1u << octaves);
    for (uint32_t octave = 0; octave < octaves; octave++)
        add_octave(job, octave, 1.0 / (total * (double)(1u << octave)), row, heights);
    for (uint32_t column = 0; column < job->terrain->columns; column++)
        heights[column] *= job->generator->amplitude;
}

static void sine_row(const Job *job, uint32_t row, double *heights) {
    const mf_TerrainGenerator *generator = job->generator;
    double along, across;
    wave(center(job->terrain, 1, row), generator->wavelength, NULL, &across);
    for (uint32_t column = 0; column < job->terrain->columns; column++) {
        wave(center(job->terrain, 0, column), generator->wavelength, &along, NULL);
        heights[column] = generator->amplitude * along * across;
    }
}

static void steps_row(const Job *job, double *heights) {
    const mf_TerrainGenerator *generator = job->generator;
    for (uint32_t column = 0; column < job->terrain->columns; column++) {
        double stair = center(job->terrain, 0, column) / generator->wavelength + STEP_SNAP;
        heights[column] = generator->amplitude * (double)floor_to_integer(stair);
    }
}

static void generate_row(void *task, uint32_t row) {
    const Job *job = task;
    uint32_t columns = job->terrain->columns;
    double *heights = job->heights + (uint64_t)row * columns;
    switch (job->generator->shape) {
    case MF_TERRAIN_FLAT:
        for (uint32_t column = 0; column < columns; column++)
            heights[column] = job->generator->amplitude;
        break;
    case MF_TERRAIN_SLOPE:
        for (uint32_t column = 0; column < columns; column++)
            heights[column] = center(job->terrain, 0, column) * job->slope;
        break;
    case MF_TERRAIN_STEPS:
        steps_row(job, heights);
        break;
    case MF_TERRAIN_SINE:
        sine_row(job, row, heights);
        break;
    case MF_TERRAIN_NOISE:
        noise_row(job, row, heights);
        break;
    }
}

static mf_Status check_generator(const mf_TerrainGenerator *generator, mf_Error *error) {
    int shape = (int)generator->shape;
    double amplitude = generator->amplitude, wavelength = generator->wavelength;
    if (shape < MF_TERRAIN_FLAT || shape > MF_TERRAIN_NOISE)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "terrain generator.shape: expected an mf_TerrainShape, found %d", shape);
    MF_NEED(shape != MF_TERRAIN_SLOPE || mf_abs(amplitude) < 0.5 * MF_PI, error,
            "terrain generator.amplitude: expected a slope in -pi/2 .. pi/2 rad, "
            "found %g",
            amplitude);
    MF_NEED(amplitude >= -MF_TERRAIN_HEIGHT_LIMIT && amplitude <= MF_TERRAIN_HEIGHT_LIMIT, error,
            "terrain generator.amplitude: expected -1e6 .. 1e6 m, found %g", amplitude);
    bool waves = shape >= MF_TERRAIN_STEPS;
    MF_NEED(!waves || (wavelength >= 1e-6 && wavelength <= 1e9), error,
            "terrain generator.wavelength: expected 1e-6 .. 1e9 m, found %g", wavelength);
    MF_NEED(shape != MF_TERRAIN_NOISE ||
                (generator->octaves >= 1 && generator->octaves <= LARGEST_OCTAVES),
            error, "terrain generator.octaves: expected 1 .. 12, found %" PRIu32,
            generator->octaves);
    return MF_OK;
}

// The map's corners in lattice steps of the finest octave must be countable.
static mf_Status check_lattice(const mf_TerrainGenerator *generator, const mf_Terrain *terrain,
                               mf_Error *error) {
    if (generator->shape != MF_TERRAIN_NOISE)
        return MF_OK;
    double finest = (double)(1u << (generator->octaves - 1)) / generator->wavelength;
    for (int axis = 0; axis < 2; axis++) {
        uint32_t count = axis == 0 ? terrain->columns : terrain->rows;
        double first = mf_abs(terrain->origin[axis]);
        double last = mf_abs(terrain->origin[axis] + count * terrain->cell);
        double furthest = first > last ? first : last;
        MF_NEED(furthest * finest < LARGEST_LATTICE, error,
                "terrain generator: expected wavelength / 2^(octaves-1) above 1/2^31 "
                "of the largest coordinate %g m, found %g m",
                furthest, 1.0 / finest);
    }
    return MF_OK;
}

static mf_Status check_arguments(mf_Context *context, const mf_TerrainConfig *config,
                                 const mf_TerrainGenerator *generator, mf_Error *error) {
    MF_NEED(context != NULL && generator != NULL, error, "terrain: context or generator is NULL");
    MF_TRY(mf_terrain_check_made(config, error));
    return check_generator(generator, error);
}

mf_Status mf_terrain_generate(mf_Context *context, const mf_TerrainConfig *config,
                              const mf_TerrainGenerator *generator, mf_Terrain **out,
                              mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(out != NULL, error, "terrain: out is NULL");
    *out = NULL;
    MF_TRY(check_arguments(context, config, generator, error));
    mf_TerrainConfig settings = *config;
    if (config->interpolation == MF_INTERPOLATION_AUTO &&
        (generator->shape == MF_TERRAIN_FLAT || generator->shape == MF_TERRAIN_STEPS))
        settings.interpolation = MF_NEAREST;
    mf_Terrain *terrain;
    MF_TRY(mf_terrain_begin(context, &settings, config->columns, config->rows, &terrain, error));
    mf_Status status = check_lattice(generator, terrain, error);
    if (status != MF_OK) {
        mf_terrain_destroy(terrain);
        return status;
    }
    Job job = {.generator = generator, .terrain = terrain};
    job.heights = mf_terrain_heights(terrain);
    if (generator->shape == MF_TERRAIN_SLOPE) {
        double sine, cosine;
        mf_sin_cos(generator->amplitude, &sine, &cosine);
        job.slope = sine / cosine;
    }
    mf_parallel_for(context, terrain->rows, generate_row, &job);
    return mf_terrain_freeze(terrain, out, error);
}
