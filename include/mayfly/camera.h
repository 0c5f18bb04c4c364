// Mayfly: cameras. Lenses, what a real camera does to a picture, and the pictures of a world
// (docs/explanation/cameras.md has the equations).
#ifndef MAYFLY_CAMERA_H
#define MAYFLY_CAMERA_H

#include <mayfly/world.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- lenses ------------------------------------------------------------------------------------

// The lens of a camera, ready to compute with. Pixels are (column, row), (0, 0) is the center of
// the first one. Points and rays are in the camera's frame: x forward, y to the left, z up.
typedef struct mf_Lens {
    mf_LensType type;
    double focal[2];        // [pixel]
    double center[2];       // [pixel]
    double coefficients[6]; // [1]
    double limit;           // [rad] angle from the axis up to which the lens is one-to-one; pi/2 at
                            // most for MF_LENS_PINHOLE and MF_LENS_BROWN, else pi
} mf_Lens;

// The lens of a camera, which must be valid (mf_camera_check).
MF_API mf_Lens mf_lens_of(const mf_Camera *camera);
// The pixel where a point [m] is seen. False, and the pixel unchanged: it is behind the camera or
// beyond the limit.
MF_API bool mf_lens_project(const mf_Lens *lens, const double point[3], double pixel[2]);
// The unit vector towards what is seen at a pixel: the inverse of the above. False, and the ray
// unchanged: no ray within the limit meets it.
MF_API bool mf_lens_ray(const mf_Lens *lens, const double pixel[2], double ray[3]);

// ---- pictures ----------------------------------------------------------------------------------

// Values of pixels, row after row from the top, the channels of a pixel together. The caller's
// memory. Colors are 0 .. 1, as displays take them (sRGB).
typedef struct mf_Picture {
    uint32_t width, height; // [pixel]
    uint32_t channels;      // [1] 1 .. 4
    float *values;          // [1] height * width * channels
} mf_Picture;

// The operations below return MF_BAD_ARGUMENT for a picture or a number that is not as described.
// Results do not depend on threads or the instruction set.

// Gaussian filter of standard deviation `sigma` [pixel], 0 .. 64, cut off at 3 sigma, rounded up;
// beyond the border the last pixel goes on. `scratch` has room for as many values as the picture.
MF_API mf_Status mf_picture_blur(mf_Picture *picture, double sigma, float *scratch,
                                 mf_Error *error);
// Resamples a picture taken with one lens as another one would have taken it from the same place:
// bilinear; pixels whose ray the first lens does not see are 0. The pictures have the same channels
// and do not overlap.
MF_API mf_Status mf_picture_distort(mf_Picture *out, const mf_Lens *to, const mf_Picture *in,
                                    const mf_Lens *from, mf_Error *error);
// Multiplies each pixel by 1 - amount (1 - cos(a)^4), a the angle of its ray from the axis; pixels
// without a ray by 1 - amount.
MF_API mf_Status mf_picture_vignette(mf_Picture *picture, const mf_Lens *lens, double amount,
                                     mf_Error *error);
// Adds independent, normally distributed numbers of standard deviation `sigma` [1] >= 0 to all
// values; they depend on nothing but (seed, stream, tick) and the value's index.
MF_API mf_Status mf_picture_noise(mf_Picture *picture, double sigma, uint64_t seed, uint32_t stream,
                                  uint64_t tick, mf_Error *error);
// Writes each value, limited to 0 .. 1 (NaN: 0) and rounded to one of 2^bits steps, as 0 .. 255 to
// `out` (height * width * channels). bits [1]: 1 .. 8.
MF_API mf_Status mf_picture_quantize(const mf_Picture *picture, uint32_t bits, uint8_t *out,
                                     mf_Error *error);

// Rolling shutter: a picture whose last row is taken at `end` [ns] and whose first one `readout`
// [ns] earlier, the others evenly between. The rows that are taken after `from` and up to `to`
// [ns]: *count of them from *first on.
MF_API void mf_rolling_rows(uint32_t height, mf_Time readout, mf_Time end, mf_Time from, mf_Time to,
                            uint32_t *first, uint32_t *count);

#ifdef __cplusplus
}
#endif
#endif
