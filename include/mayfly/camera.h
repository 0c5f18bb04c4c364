// Mayfly: cameras of models, lenses, what a real camera does to a picture, and the pictures of a
// world (docs/explanation/cameras.md has the equations).
#pragma once

#include <mayfly/world.h>

// ---- cameras of models -------------------------------------------------------------------------

// How a view ray at (x, y) = (X / Z, Y / Z), or at the angle a from the axis, meets the picture: at
// the column focal[0] x' + center[0] and the row focal[1] y' + center[1]
// (docs/explanation/cameras.md).
typedef enum mf_LensType {
    MF_LENS_PINHOLE, // x' = x, y' = y
    MF_LENS_BROWN,   // radial and tangential distortion (Brown, Conrady; Bouguet's toolbox and
                     // OpenCV's order): k1, k2, p1, p2, k3
    MF_LENS_ANGLE,   // distance from the center a (1 + c1 a + c2 a^2 + ... + c6 a^6)
    MF_LENS_FISHEYE  // distance a (1 + k1 a^2 + k2 a^4 + k3 a^6 + k4 a^8) (Kannala, Brandt)
} mf_LensType;

// A camera of a model. Its pictures are computed for groups that ask for them (mf_cameras_add).
typedef struct mf_Camera {
    const char *name;
    mf_Frame frame;         // x axis forward along the optical axis, y to the left, z up
    uint32_t width, height; // [pixel] 1 .. 4096 each
    mf_LensType lens;
    double focal[2];        // [pixel] per column and row, > 0
    double center[2];       // [pixel] column and row of the optical axis; the center of the first
                            // pixel is 0, 0
    double coefficients[6]; // [1] of the lens, the others 0
    double nearest;         // [m] > 0: what is nearer is not seen
    double farthest;        // [m] > nearest: neither is what is farther
    bool color, depth, segmentation; // what is measured
    bool shadows;                    // of the light, in the colors
    uint32_t samples;                // [1] 1 .. 4: colors are means of samples^2 rays per pixel
    double blur;                     // [pixel] standard deviation of a Gaussian, 0 .. 64
    double vignetting; // [1] 0 .. 1: share of the loss of light 1 - cos(a)^4 at the angle a
    double noise;      // [1] standard deviation of the colors 0 .. 1, >= 0
    uint32_t bits;     // [1] 1 .. 8 of each color
    double readout;    // [s] rolling shutter: time from the first row to the last, >= 0
    mf_Rate rate;      // [1/s] of pictures
    mf_Time delay;     // [ns] >= 0 from the picture to its values
} mf_Camera;
// The defaults: 320 x 240, 45 degrees high, 0.01 .. 100 m, color, shadows, one ray per pixel, 8
// bits, 20 pictures per second.
MF_API mf_Camera mf_camera(void);
// MF_BAD_ARGUMENT, beginning with `what`, unless every number is finite and in its range.
MF_API mf_Status mf_camera_check(const mf_Camera *camera, const char *what, mf_Error *error);
// Sets focal length and center of a camera of width x height from the angle between its upper and
// lower edge [rad], 0 .. pi (pinhole) or 2 pi (by angle), as if nothing were distorted.
MF_API void mf_camera_set_view(mf_Camera *camera, double vertical);

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

// The lens of a camera, which must be valid (mf_camera_check). NULL: one that sees nothing.
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
typedef struct mf_Photo {
    uint32_t width, height; // [pixel]
    uint32_t channels;      // [1] 1 .. 4
    float *values;          // [1] height * width * channels
} mf_Photo;

// The operations below return MF_BAD_ARGUMENT for a picture or a number that is not as described.
// Results do not depend on threads or the instruction set.

// Gaussian filter of standard deviation `sigma` [pixel], 0 .. 64, cut off at 3 sigma, rounded up;
// beyond the border the last pixel goes on. `scratch` has space for as many values as the picture.
MF_API mf_Status mf_photo_blur(mf_Photo *picture, double sigma, float *scratch, mf_Error *error);
// Resamples a picture taken with one lens as another one would have taken it from the same
// position: bilinear; pixels whose ray the first lens does not see are 0. The pictures have the
// same channels and do not overlap.
MF_API mf_Status mf_photo_distort(mf_Photo *out, const mf_Lens *to, const mf_Photo *in,
                                  const mf_Lens *from, mf_Error *error);
// Multiplies each pixel by 1 - amount (1 - cos(a)^4), a the angle of its ray from the axis; pixels
// without a ray by 1 - amount.
MF_API mf_Status mf_photo_vignette(mf_Photo *picture, const mf_Lens *lens, double amount,
                                   mf_Error *error);
// Adds independent, normally distributed numbers of standard deviation `sigma` [1] >= 0 to all
// values; they depend on nothing but (seed, stream, tick) and the value's index.
MF_API mf_Status mf_photo_noise(mf_Photo *picture, double sigma, uint64_t seed, uint32_t stream,
                                uint64_t tick, mf_Error *error);
// Writes each value, limited to 0 .. 1 (NaN: 0) and rounded to one of 2^bits steps, as 0 .. 255 to
// `out` (height * width * channels). bits [1]: 1 .. 8.
MF_API mf_Status mf_photo_quantize(const mf_Photo *picture, uint32_t bits, uint8_t *out,
                                   mf_Error *error);

// ---- what is in a world ------------------------------------------------------------------------

// A camera at any pose in a world: for pictures between two steps.
typedef struct mf_FreeCamera mf_FreeCamera;

// Sees the groups that the world has now, after their motions were added, with the lens, size,
// depths, vignetting, blur, noise and bits of `camera` (checked; its frame, rate, delay and readout
// do not count). The caller destroys *out before the world. Drawn are shapes of links, as in films,
// bodies of vertices, particles, the ground and a sky. MF_BAD_ARGUMENT, MF_NO_MEMORY, MF_LIMIT:
// more than 2^22 triangles.
MF_API mf_Status mf_free_camera_create(mf_World *world, const mf_Camera *camera,
                                       mf_FreeCamera **out, mf_Error *error);
MF_API void mf_free_camera_destroy(mf_FreeCamera *camera); // NULL is allowed

// Where the pixels go, row after row from the top; each may be NULL. The caller's memory.
typedef struct mf_CameraPixels {
    uint8_t *color;        // [1] red, green, blue: 3 * height * width
    float *depth;          // [m] height * width: along the optical axis, for lenses by angle along
                           // the ray; `farthest` where nothing is nearer
    int32_t *segmentation; // [1] group, robot and link: 3 * height * width. Link -1: fixed in the
                           // world by a robot's file. Group -1: the sky, -2: the ground
} mf_CameraPixels;

// Takes a picture from `position` [m] with the rotation (w, x, y, z), camera (x forward, z up) to
// world. Of isolated groups only the robot `instance` of group number `group` is there, MF_NONE:
// none. One thread at a time, not while the world steps. Pictures do not depend on threads or the
// instruction set. MF_BAD_ARGUMENT.
MF_API mf_Status mf_free_camera_take(mf_FreeCamera *camera, const double position[3],
                                     const double rotation[4], uint32_t group, uint32_t instance,
                                     const mf_CameraPixels *out, mf_Error *error);

// Lets the cameras of the models of all groups that exist now take pictures while the world runs,
// at their own exact rates, in the state at the end of a step. Adds, per camera NAME,
//     camera.NAME.color         [1] uint32, red + 256 green + 65536 blue + 255 * 2^24 per pixel
//     camera.NAME.depth         [m] float per pixel
//     camera.NAME.segmentation  [1] int32, three per pixel
// as far as it measures them, with the values of mf_CameraPixels, row after row from the top. They
// are state. With a delay they show the picture that was taken that much earlier, rounded up to
// steps. Robots of shared groups see all shared groups, one of an isolated group sees itself. A
// robot whose pose is not finite keeps its pictures. After a reset a robot of an isolated group has
// new pictures, one of a shared group at its next tick. Once per world, after the motions.
// Rows of a rolling shutter are each taken at the end of the step in which their moment falls.
// MF_BAD_ARGUMENT: a rate above one per step, a readout longer than the time between two pictures;
// they were added.
MF_API mf_Status mf_cameras_add(mf_World *world, mf_Error *error);
// Takes the pictures of all robots now, between two steps, whatever their rates and delays.
// MF_NOT_FOUND: mf_cameras_add was not called.
MF_API mf_Status mf_cameras_take(mf_World *world, mf_Error *error);
// What computes the pictures of a world with this instruction set, in words: "software (avx2)".
MF_API const char *mf_cameras_device(mf_Isa isa);
