// What a camera does to a picture after the lens has formed it: blur, vignetting, noise, rows that
// are read one after the other, conversion to whole numbers; and another lens by resampling.
#include "camera/picture.h"
#include "base/floats.h"

#include "math/kernel_table.h"
#include "math/scalar.h"

#include <string.h>

#define MOST_SIGMA 64.0 // [pixel]

static mf_Status check(const mf_Photo *picture, const char *what, mf_Error *error) {
    if (picture == NULL || picture->values == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s: the picture or its values are NULL", what);
    if (picture->width < 1 || picture->height < 1 || picture->channels < 1 ||
        picture->channels > 4 || (uint64_t)picture->width * picture->height > MF_PICTURE_LIMIT)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "%s: expected 1 .. 2^28 pixels with 1 .. 4 channels, found %u x %u with %u",
                       what, picture->width, picture->height, picture->channels);
    return MF_OK;
}

static mf_Status check_number(double value, double most, const char *what, const char *expected,
                              mf_Error *error) {
    if (value >= 0.0 && value <= most)
        return MF_OK;
    return mf_fail(error, MF_BAD_ARGUMENT, "%s: expected %s, found %g", what, expected, value);
}

// ---- blur ---------------------------------------------------------------------------------------

uint32_t mf_blur_taps(double sigma, float taps[MF_BLUR_TAPS]) {
    const uint32_t radius = (uint32_t)(3.0 * sigma) + (3.0 * sigma > mf_floor(3.0 * sigma));
    double sum = 0.0, weight[MF_BLUR_TAPS];
    for (uint32_t i = 0; i <= 2 * radius; i++) {
        const double x = (double)i - radius;
        weight[i] = radius > 0 ? mf_exp(-0.5 * x * x / (sigma * sigma)) : 1.0;
        sum += weight[i];
    }
    for (uint32_t i = 0; i <= 2 * radius; i++)
        taps[i] = (float)(weight[i] / sum);
    return radius;
}

// out[i] += weight * in[i]
static void add_scaled(float *restrict out, const float *restrict in, float weight, size_t count) {
    for (size_t i = 0; i < count; i++)
        out[i] += weight * in[i];
}

static void blur_row(float *restrict out, const float *restrict in, const mf_Photo *picture,
                     const float *taps, uint32_t radius) {
    const size_t c = picture->channels, count = (size_t)picture->width * c;
    memset(out, 0, count * sizeof *out);
    for (uint32_t k = 0; k <= 2 * radius; k++) {
        // Pixel x takes pixel x + shift: those in front of `begin` and behind `end` the outermost.
        const int64_t shift = (int64_t)k - radius, width = picture->width;
        const int64_t begin = shift < 0 ? (-shift < width ? -shift : width) : 0;
        const int64_t end = shift > 0 ? (width - shift > begin ? width - shift : begin) : width;
        for (size_t i = 0; i < (size_t)begin * c; i++)
            out[i] += taps[k] * in[i % c];
        if (end > begin)
            add_scaled(out + (size_t)begin * c, in + (size_t)(begin + shift) * c, taps[k],
                       (size_t)(end - begin) * c);
        for (size_t i = (size_t)end * c; i < count; i++)
            out[i] += taps[k] * in[count - c + i % c];
    }
}

void mf_photo_blur_taps(mf_Photo *picture, const float *taps, uint32_t radius, float *scratch) {
    const size_t row = (size_t)picture->width * picture->channels;
    const int64_t last = (int64_t)picture->height - 1;
    for (uint32_t y = 0; y < picture->height; y++)
        blur_row(scratch + y * row, picture->values + y * row, picture, taps, radius);
    for (int64_t y = 0; y <= last; y++) {
        float *out = picture->values + (size_t)y * row;
        memset(out, 0, row * sizeof *out);
        for (uint32_t k = 0; k <= 2 * radius; k++) {
            int64_t from = y + (int64_t)k - radius;
            from = from < 0 ? 0 : from > last ? last : from;
            add_scaled(out, scratch + (size_t)from * row, taps[k], row);
        }
    }
}

mf_Status mf_photo_blur(mf_Photo *picture, double sigma, float *scratch, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    const char *what = "mf_photo_blur";
    float taps[MF_BLUR_TAPS];
    mf_Status status = check(picture, what, error);
    MF_THEN(status,
            check_number(sigma, MOST_SIGMA, "mf_photo_blur: sigma", "0 .. 64 pixels", error));
    if (status == MF_OK && scratch == NULL)
        status = mf_fail(error, MF_BAD_ARGUMENT, "%s: scratch is NULL", what);
    if (status != MF_OK || sigma == 0.0)
        return status;
    const uint32_t radius = mf_blur_taps(sigma, taps);
    mf_photo_blur_taps(picture, taps, radius, scratch);
    return MF_OK;
}

// ---- another lens -------------------------------------------------------------------------------

// The picture at a pixel between four centers; false: outside of it.
static bool sample(const mf_Photo *in, const double at[2], float *out) {
    const double right = in->width - 1.0, bottom = in->height - 1.0;
    if (!(at[0] >= 0.0 && at[0] <= right && at[1] >= 0.0 && at[1] <= bottom))
        return false;
    const uint32_t x = (uint32_t)at[0], y = (uint32_t)at[1];
    const float u = (float)(at[0] - x), v = (float)(at[1] - y);
    const size_t c = in->channels, row = in->width * c, here = y * row + x * c;
    const size_t next = x + 1 < in->width ? c : 0, below = y + 1 < in->height ? row : 0;
    for (size_t i = 0; i < c; i++) {
        const float *p = in->values + here + i;
        const float upper = p[0] + u * (p[next] - p[0]);
        const float lower = p[below] + u * (p[below + next] - p[below]);
        out[i] = upper + v * (lower - upper);
    }
    return true;
}

mf_Status mf_photo_distort(mf_Photo *out, const mf_Lens *to, const mf_Photo *in,
                           const mf_Lens *from, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    const char *what = "mf_photo_distort";
    mf_Status status = check(out, what, error);
    MF_THEN(status, check(in, what, error));
    if (status == MF_OK && (to == NULL || from == NULL || out->channels != in->channels))
        status = mf_fail(error, MF_BAD_ARGUMENT,
                         "%s: expected two lenses, and pictures with the same channels", what);
    for (uint32_t y = 0; status == MF_OK && y < out->height; y++)
        for (uint32_t x = 0; x < out->width; x++) {
            const double pixel[2] = {x, y};
            float *value = out->values + ((size_t)y * out->width + x) * out->channels;
            double ray[3], at[2];
            if (!mf_lens_ray(to, pixel, ray) || !mf_lens_project(from, ray, at) ||
                !sample(in, at, value))
                memset(value, 0, out->channels * sizeof *value);
        }
    return status;
}

// ---- vignetting ---------------------------------------------------------------------------------

float mf_vignette(double cosine, double amount) {
    const double square = cosine * cosine, share = cosine > 0.0 ? square * square : 0.0;
    return (float)(1.0 - amount * (1.0 - share));
}

mf_Status mf_photo_vignette(mf_Photo *picture, const mf_Lens *lens, double amount,
                            mf_Error *error) {
    MF_DEFAULT_FLOATS;
    const char *what = "mf_photo_vignette";
    mf_Status status = check(picture, what, error);
    MF_THEN(status, check_number(amount, 1.0, "mf_photo_vignette: amount", "0 .. 1", error));
    if (status == MF_OK && lens == NULL)
        status = mf_fail(error, MF_BAD_ARGUMENT, "%s: lens is NULL", what);
    for (uint32_t y = 0; status == MF_OK && y < picture->height; y++)
        for (uint32_t x = 0; x < picture->width; x++) {
            const double pixel[2] = {x, y};
            double ray[3] = {0.0, 0.0, 0.0};
            mf_lens_ray(lens, pixel, ray);
            const float factor = mf_vignette(ray[0], amount);
            float *value = picture->values + ((size_t)y * picture->width + x) * picture->channels;
            for (uint32_t c = 0; c < picture->channels; c++)
                value[c] *= factor;
        }
    return status;
}

// ---- noise --------------------------------------------------------------------------------------

void mf_photo_add_noise(mf_Photo *picture, const mf_PhotoNoise *noise, mf_Isa isa) {
    static const mf_PhotoNoiseFn table[MF_KERNEL_ROWS][1] = MF_KERNEL_TABLE_FLOAT(mf_noise_add);
    const size_t count = (size_t)picture->width * picture->height * picture->channels;
    table[mf_kernel_row(isa)][0](picture->values, count, noise);
}

mf_Status mf_photo_noise(mf_Photo *picture, double sigma, uint64_t seed, uint32_t stream,
                         uint64_t tick, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_Isa isa;
    mf_Status status = check(picture, "mf_photo_noise", error);
    MF_THEN(status, check_number(sigma, 1e9, "mf_photo_noise: sigma", "a number >= 0", error));
    MF_THEN(status, mf_isa_detect(&isa, error));
    const mf_PhotoNoise noise = {(float)sigma, stream, seed, tick};
    if (status == MF_OK && sigma > 0.0)
        mf_photo_add_noise(picture, &noise, isa);
    return status;
}

// ---- conversion ---------------------------------------------------------------------------------

uint32_t mf_photo_codes(uint32_t bits, uint8_t shown[256]) {
    const uint32_t most = (1u << bits) - 1;
    for (uint32_t code = 0; code <= most; code++)
        shown[code] = (uint8_t)((code * 255 + most / 2) / most);
    return most;
}

mf_Status mf_photo_quantize(const mf_Photo *picture, uint32_t bits, uint8_t *out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_TRY(check(picture, "mf_photo_quantize", error));
    MF_NEED(bits >= 1 && bits <= 8 && out != NULL, error,
            "mf_photo_quantize: expected 1 .. 8 bits and a place, found %u bits", bits);
    const size_t count = (size_t)picture->width * picture->height * picture->channels;
    uint8_t shown[256];
    const uint32_t most = mf_photo_codes(bits, shown);
    for (size_t i = 0; i < count; i++) {
        const float value = picture->values[i];
        const float within = value > 0.0f ? (value < 1.0f ? value : 1.0f) : 0.0f; // NaN: 0
        out[i] = shown[(uint32_t)(within * (float)most + 0.5f)];
    }
    return MF_OK;
}

// ---- rolling shutter ----------------------------------------------------------------------------

// Rows taken up to `time`: those with readout * row / (height - 1) <= time - start.
static uint32_t rows_until(uint32_t height, mf_Time readout, mf_Time since) {
    if (since < 0)
        return 0;
    if (since >= readout || height < 2)
        return height;
    return (uint32_t)((__int128)since * (height - 1) / readout) + 1;
}

void mf_rolling_rows(uint32_t height, mf_Time readout, mf_Time end, mf_Time from, mf_Time to,
                     uint32_t *first, uint32_t *count) {
    if (first == NULL || count == NULL)
        return;
    const mf_Time start = end - (readout > 0 ? readout : 0);
    const mf_Time span = end - start;
    const uint32_t before = rows_until(height, span, from - start);
    const uint32_t until = rows_until(height, span, to - start);
    *first = before;
    *count = until > before ? until - before : 0;
}
