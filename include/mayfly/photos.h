// Mayfly: pictures of cameras as PNG files (docs/explanation/cameras.md).
#pragma once

#include <mayfly/scene.h>

// ---- one picture -------------------------------------------------------------------------------
//
// The values of mf_CameraPixels, width x height pixels (1 .. 4096 each), row after row from the
// top, to the file `path`, which is replaced atomically. MF_BAD_ARGUMENT, MF_NO_MEMORY,
// MF_NOT_FOUND: there is no such folder, MF_IO.

// 8 bit red, green, blue.
MF_API mf_Status mf_photo_write_color(mf_Context *context, const char *path, uint32_t width,
                                      uint32_t height, const uint8_t *color, mf_Error *error);
// 16 bit gray: depth in millimeters, rounded; 0: at least `farthest` [m], or 65.535 m.
MF_API mf_Status mf_photo_write_depth(mf_Context *context, const char *path, uint32_t width,
                                      uint32_t height, const float *depth, double farthest,
                                      mf_Error *error);
// 16 bit red, green, blue: group + 2, robot + 1 and link + 1, each modulo 65536; the sky is 1, 0,
// 0, the ground 0, 0, 0.
MF_API mf_Status mf_photo_write_segmentation(mf_Context *context, const char *path, uint32_t width,
                                             uint32_t height, const int32_t *segmentation,
                                             mf_Error *error);

// ---- all cameras of a scene --------------------------------------------------------------------

// Takes the pictures of the cameras of a scene's file, and of those of the first robot of each
// group, between two steps, at their own rates, without delay and rolling shutter. Files are
// FOLDER/NAME-NUMBER.png, FOLDER/NAME-NUMBER-depth.png and FOLDER/NAME-NUMBER-segmentation.png,
// as far as the camera measures these; NAME is that of the scene's camera, or GROUP-CAMERA for
// those of robots, NUMBER counts the ticks of the camera's rate since the time 0 of the world, six
// digits. Of isolated groups a camera that no robot carries sees the first robot of the first one.
// Taking pictures changes no state.
typedef struct mf_Photographer mf_Photographer;

// Makes the folder if it does not exist. The scene must outlive *out. MF_NOT_FOUND: the scene has
// no camera. MF_IO, MF_NO_MEMORY, MF_LIMIT: more than 2^22 triangles.
MF_API mf_Status mf_photographer_create(mf_Scene *scene, const char *folder, mf_Photographer **out,
                                        mf_Error *error);
MF_API void mf_photographer_destroy(mf_Photographer *photographer); // NULL is allowed
// [1] Steps from the world's time to the next pictures, >= 1.
MF_API uint64_t mf_photographer_wait(const mf_Photographer *photographer);
// Writes the pictures whose tick fell into the last step, at the first call those of all cameras.
// Robots whose pose is not finite have none. MF_IO, MF_NO_MEMORY.
MF_API mf_Status mf_photographer_take(mf_Photographer *photographer, mf_Error *error);
// [1] Cameras, and files written so far.
MF_API uint32_t mf_photographer_cameras(const mf_Photographer *photographer);
MF_API uint64_t mf_photographer_files(const mf_Photographer *photographer);
