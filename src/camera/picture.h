// Operations on pictures without checks, for those who do the same for every picture.
#ifndef MAYFLY_CAMERA_PICTURE_H
#define MAYFLY_CAMERA_PICTURE_H

#include "math/kernel.h"

#include <mayfly/camera.h>

#include <stddef.h>

#define MF_PICTURE_LIMIT (UINT64_C(1) << 28) // [pixel]

enum { MF_BLUR_TAPS = 2 * 192 + 1 }; // [1] of the widest blur, 64 pixels

// The filter's weights, whose sum is 1 but for rounding; returns how many pixels it reaches.
uint32_t mf_blur_taps(double sigma, float taps[MF_BLUR_TAPS]);
void mf_picture_blur_taps(mf_Picture *picture, const float *taps, uint32_t radius, float *scratch);

// The factor of a pixel whose ray has this cosine of the angle from the axis; <= 0: has none.
float mf_vignette(double cosine, double amount);

typedef struct mf_PictureNoise {
    float sigma;     // [1]
    uint32_t stream; // [1]
    uint64_t seed, tick;
} mf_PictureNoise;

typedef void (*mf_NoiseFn)(float *values, size_t count, const mf_PictureNoise *noise);
MF_KERNEL_COPIES(void, mf_noise_add, (float *values, size_t count, const mf_PictureNoise *noise));
void mf_picture_add_noise(mf_Picture *picture, const mf_PictureNoise *noise, mf_Isa isa);

#endif
