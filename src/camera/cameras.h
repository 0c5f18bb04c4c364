// The cameras of a world's robots: what cameras.c makes and cameras_run.c uses.
#pragma once

#include <mayfly/camera.h>
#include "base/scratch.h"
#include "camera/develop.h"

#include <mayfly/links.h>

enum { MF_CAMERA_MEASURES = 3, MF_CAMERA_NAMES = 64 };
enum { MF_CAMERA_COLOR, MF_CAMERA_DEPTH, MF_CAMERA_SEGMENTATION };

typedef struct mf_OneCamera {
    const mf_Camera *camera; // of the model
    mf_CameraView *view;
    mf_Chip chip;
    uint64_t stream;                     // of random numbers
    uint32_t slots;                      // [1] of the rings, 0: no delay
    uint32_t width[MF_CAMERA_MEASURES];  // [1] values per pixel
    mf_Field *field[MF_CAMERA_MEASURES]; // NULL: not measured
    mf_Time readout;                     // [ns] of a rolling shutter, 0: none
    mf_Field *rows[MF_CAMERA_MEASURES];  // those taken so far, colors before the chip; NULL: none
    mf_Field *ring[MF_CAMERA_MEASURES];  // slot after slot; picture number n is in slot n % slots
} mf_OneCamera;

typedef struct mf_Cameras mf_Cameras;

typedef struct mf_GroupCameras {
    mf_Cameras *all;
    mf_Group *group;
    const mf_Field *pose; // link.pose
    uint32_t number;      // [1] of the group in the world
    bool isolated;
    mf_OneCamera *cameras;
    uint32_t count;                      // [1]
    const char *writes[MF_CAMERA_NAMES]; // [1] names, NULL-terminated
} mf_GroupCameras;

struct mf_Cameras {
    mf_RenderScene *scene;
    mf_GroupCameras *groups;
    uint32_t group_count; // [1]
    size_t buffers_size;  // [byte]
    mf_Scratch *scratch;
};

mf_Cameras *mf_cameras_of(const mf_World *world); // NULL: mf_cameras_add was not called

void mf_cameras_run_group(const mf_SystemRun *run, void *user); // user: mf_GroupCameras
void mf_cameras_reset(mf_Group *group, uint32_t instance, void *user);
void mf_cameras_run_world(const mf_WorldRun *run, void *user); // user: mf_Cameras

// The same for the cameras of these groups of the world alone. MF_BAD_ARGUMENT also: `groups` is
// NULL, or one is of another world.
mf_Status mf_cameras_add_groups(mf_World *world, mf_Group *const *groups, uint32_t count,
                                mf_Error *error);
