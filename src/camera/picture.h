// Operations on pictures without checks, for those who do the same for every picture.
#pragma once

#include "math/kernel.h"

#include <mayfly/camera.h>

#include <stddef.h>

#define MF_PICTURE_LIMIT (UINT64_C(1) << 28) // [pixel]

enum { MF_BLUR_TAPS = 2 * 192 + 1 }; // [1] of the widest blur, 64 pixels

// The filter's weights, whose sum is 1 but for rounding; returns how many pixels it reaches.
uint32_t mf_blur_taps(double sigma, float taps[MF_BLUR_TAPS]);
void mf_photo_blur_taps(mf_Photo *picture, const float *taps, uint32_t radius, float *scratch);

// The factor of a pixel whose ray has this cosine of the angle from the axis; <= 0: has none.
float mf_vignette(double cosine, double amount);

// What the codes of so many bits show, 0 .. 255; returns the highest one.
uint32_t mf_photo_codes(uint32_t bits, uint8_t shown[256]);

typedef struct mf_PhotoNoise {
    float sigma;     // [1]
    uint32_t stream; // [1]
    uint64_t seed, tick;
} mf_PhotoNoise;

typedef void (*mf_PhotoNoiseFn)(float *values, size_t count, const mf_PhotoNoise *noise);
MF_KERNEL_COPIES(void, mf_noise_add, (float *values, size_t count, const mf_PhotoNoise *noise));
void mf_photo_add_noise(mf_Photo *picture, const mf_PhotoNoise *noise, mf_Isa isa);

// Rolling shutter: a picture whose last row is taken at `end` [ns] and whose first one `readout`
// [ns] earlier, the others evenly between. The rows that are taken after `from` and up to `to`
// [ns]: *count of them from *first on.
void mf_rolling_rows(uint32_t height, mf_Time readout, mf_Time end, mf_Time from, mf_Time to,
                     uint32_t *first, uint32_t *count);
