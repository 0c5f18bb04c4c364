// A video of a run: pictures of a camera that sees all robots, or of one of the scene's, encoded by
// the program ffmpeg while the run goes on.
#pragma once

#include "app.h"

#include <mayfly/camera.h>

// Endings of files that it can write.
#define MF_VIDEO_ENDINGS ".mp4 .webm .mkv .gif"

typedef struct mf_Video mf_Video;

// Starts ffmpeg and writes to a file beside `path`. `camera`: the name of one of the scene's,
// "GROUP-CAMERA" for one of the first robot of a group, or NULL: one that keeps all robots in
// sight. The scene must outlive *out. MF_NOT_FOUND: there is no such camera, or no robot to look
// at. MF_UNSUPPORTED: ffmpeg is not installed. MF_NO_MEMORY, MF_IO.
mf_Status mf_video_open(mf_Scene *scene, const char *path, const char *camera, mf_Video **out,
                        mf_Error *error);
// [1] Steps from the world's time to the next picture, >= 1.
uint64_t mf_video_wait(const mf_Video *video);
// A picture of the present state, if its time fell into the last step or there was none yet. MF_IO:
// ffmpeg gave up, after a line of its own.
mf_Status mf_video_take(mf_Video *video, mf_Error *error);
// Ends ffmpeg. With `keep` the file gets its name, otherwise it is removed. NULL is allowed.
mf_Status mf_video_close(mf_Video *video, bool keep, mf_Error *error);
