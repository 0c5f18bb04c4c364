// Videos by ffmpeg, a process of its own that takes raw pictures from a socket: what it knows about
// files and codecs need not be known here.
#include "video.h"

#include "base/wait.h"
#include "camera/overview.h"
#include "camera/camera_pose.h"
#include "motion/table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define RATE 30u           // [1/s] pictures of simulated time
#define WIDTH 1280u        // [pixel] of the camera that sees all robots
#define HEIGHT 720u        // [pixel]
#define FIELD_OF_VIEW 0.70 // [rad] between its upper and lower edge
#define SWARM 1000u        // [1] robots from which on shadows take too long
#define FARTHEST 1e5       // [m]
#define FOLLOW_SECONDS 0.7 // [s] time constant of its motion
#define ARGUMENTS 40       // [1] most of ffmpeg's command line
#define PATH_CAPACITY (MF_APP_PATH + 8)

struct mf_Video {
    mf_Context *context;
    mf_World *world;
    mf_Camera camera;
    mf_FreeCamera *free;
    uint32_t group, robot; // [1] what carries it; MF_NONE: nothing
    uint32_t seen;         // [1] isolated group of which the robot is there; MF_NONE: none
    const mf_Field *pose;  // link.pose of that group
    mf_Overview *overview; // NULL: a camera of the scene, or nothing to see yet
    mf_CameraPixels pixels;
    bool began;
    pid_t child;              // 0: it has ended
    int to_child;             // -1: closed
    char path[MF_APP_PATH];   // at the end
    char part[PATH_CAPACITY]; // until then
};

// ---- ffmpeg ------------------------------------------------------------------------------------

// How ffmpeg writes files of an ending. Pictures of these codecs have even sizes.
typedef struct Format {
    const char *ending;
    const char *names[16];
} Format;

#define EVEN "pad=ceil(iw/2)*2:ceil(ih/2)*2"
#define H264                                                                                       \
    "-vf", EVEN, "-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-pix_fmt", "yuv420p"

static const Format formats[] = {
    {".mp4", {H264, "-movflags", "+faststart", "-f", "mp4"}},
    {".mkv", {H264, "-f", "matroska"}},
    {".webm",
     {"-vf", EVEN, "-c:v", "libvpx-vp9", "-crf", "32", "-b:v", "0", "-deadline", "realtime",
      "-cpu-used", "6", "-f", "webm"}},
    {".gif",
     {"-vf", "fps=15,scale=640:-1,split[a][b];[a]palettegen[c];[b][c]paletteuse", "-f", "gif"}}};

static const Format *format_of(const char *path) {
    for (size_t i = 1; i < sizeof formats / sizeof formats[0]; i++)
        if (mf_app_ends_with(path, formats[i].ending))
            return &formats[i];
    return &formats[0];
}

// The child's half of fork: its errno goes to `failed` if there is no such program.
static void become(const char *const names[], int pictures, int failed, pid_t parent) {
    setpgid(0, 0); // Ctrl-C ends the run, and then the video
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent && dup2(pictures, STDIN_FILENO) >= 0 &&
        dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
        execvp(names[0], (char *const *)names);
    const int cause = errno;
    const ssize_t written = write(failed, &cause, sizeof cause);
    _exit(written == sizeof cause ? 127 : 126);
}

// Waits until the child is ffmpeg, or has failed with the errno that is returned.
static int start_child(mf_Video *video, const char *const names[]) {
    int pictures[2], failed[2], cause = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pictures) != 0)
        return errno;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, failed) != 0) {
        cause = errno;
        close(pictures[0]);
        close(pictures[1]);
        return cause;
    }
    const pid_t parent = getpid(), child = fork();
    if (child == 0)
        become(names, pictures[1], failed[1], parent);
    cause = child < 0 ? errno : 0;
    close(pictures[1]);
    close(failed[1]);
    if (child > 0 && read(failed[0], &cause, sizeof cause) == (ssize_t)sizeof cause)
        waitpid(child, NULL, 0);
    close(failed[0]);
    if (cause != 0) {
        close(pictures[0]);
        return cause;
    }
    video->child = child;
    video->to_child = pictures[0];
    return 0;
}

static mf_Status start_ffmpeg(mf_Video *video, mf_Error *error) {
    char size[32], rate[16];
    const Format *format = format_of(video->path);
    const char *names[ARGUMENTS] = {"ffmpeg",   "-loglevel", "error",  "-nostdin", "-y", "-f",
                                    "rawvideo", "-pix_fmt",  "rgb24",  "-s",       size, "-r",
                                    rate,       "-i",        "pipe:0", "-an"};
    uint32_t count = 0;
    snprintf(size, sizeof size, "%ux%u", video->camera.width, video->camera.height);
    snprintf(rate, sizeof rate, "%u", RATE);
    while (names[count] != NULL)
        count++;
    for (const char *const *word = format->names; *word != NULL; word++)
        names[count++] = *word;
    names[count] = video->part;
    const int cause = start_child(video, names);
    MF_CHECK(cause != ENOENT, error, MF_UNSUPPORTED,
             "--video needs the program ffmpeg, which is not installed (Debian: "
             "apt-get install ffmpeg)");
    return cause == 0 ? MF_OK
                      : mf_fail(error, MF_IO, "--video: cannot start ffmpeg: %s", strerror(cause));
}

static mf_Status send_picture(mf_Video *video, mf_Error *error) {
    const uint8_t *data = video->pixels.color;
    size_t left = (size_t)video->camera.width * video->camera.height * 3;
    while (left > 0) {
        const ssize_t sent = send(video->to_child, data, left, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            return mf_fail_at(error, MF_IO, video->path, 0, 0,
                              "ffmpeg did not take a picture of the video: %s", strerror(errno));
        data += sent > 0 ? sent : 0;
        left -= sent > 0 ? (size_t)sent : 0;
    }
    return MF_OK;
}

// ---- the camera --------------------------------------------------------------------------------

static bool take_eye_of(mf_Video *video, const mf_Scene *scene, uint32_t group, const char *name) {
    const mf_Model *model = scene->models[group];
    for (uint32_t i = 0; i < model->camera_count; i++)
        if (strcmp(name, model->cameras[i].name) == 0) {
            video->camera = model->cameras[i];
            video->group = group;
            return true;
        }
    return false;
}

// "GROUP-CAMERA": a camera of the first robot of a group. Where there is one group, "CAMERA" is
// enough.
static bool take_eye(mf_Video *video, const mf_Scene *scene, const char *name) {
    for (uint32_t g = 0; g < scene->group_count; g++) {
        const char *own = scene->file->groups[g].name;
        const size_t length = strlen(own);
        if (strncmp(name, own, length) == 0 && name[length] == '-' &&
            take_eye_of(video, scene, g, name + length + 1))
            return true;
    }
    return scene->group_count == 1 && take_eye_of(video, scene, 0, name);
}

// One of the names that mf_Photographer gives, or that of a camera of the only group's robots.
static mf_Status take_camera(mf_Video *video, mf_Scene *scene, const char *name, mf_Error *error) {
    mf_Status status = MF_OK;
    uint32_t at = 0;
    while (at < scene->file->camera_count && strcmp(scene->file->cameras[at].name, name) != 0)
        at++;
    if (at < scene->file->camera_count)
        status = mf_scene_camera(scene, at, &video->camera, &video->group, &video->robot, error);
    else if (!take_eye(video, scene, name))
        status = mf_fail_at(error, MF_NOT_FOUND, scene->file->file, 0, 0,
                            "--camera: expected a camera of the list `cameras`, CAMERA of the "
                            "robots of an only group, or GROUP-CAMERA of a group's robots, found "
                            "'%.80s'",
                            name);
    if (status != MF_OK || video->group == MF_NONE)
        return status;
    mf_Group *group = mf_world_group(video->world, video->group);
    status = mf_group_derive_links(group, error);
    video->pose = mf_group_find_field(group, "link.pose");
    video->seen = video->group;
    return status;
}

static uint64_t robots_of(const mf_SceneFile *file) {
    uint64_t sum = 0;
    for (uint32_t g = 0; g < file->group_count; g++)
        if (!mf_motion_has_particles(file->groups[g].motion))
            sum += file->groups[g].count;
    return sum;
}

static void make_overview(mf_Video *video, uint64_t robots) {
    video->camera = mf_camera();
    video->camera.width = WIDTH;
    video->camera.height = HEIGHT;
    video->camera.farthest = FARTHEST;
    video->camera.samples = 2;
    video->camera.shadows = robots < SWARM;
    mf_camera_set_view(&video->camera, FIELD_OF_VIEW);
}

// ---- the video ---------------------------------------------------------------------------------

static mf_Status begin(mf_Video *video, mf_Scene *scene, const char *camera, mf_Error *error) {
    mf_Status status = MF_OK;
    if (camera != NULL)
        status = take_camera(video, scene, camera, error);
    else
        make_overview(video, robots_of(scene->file));
    if (status != MF_OK)
        return status;
    video->camera.color = true;
    video->pixels.color =
        mf_allocate(video->context, (size_t)video->camera.width * video->camera.height, 3);
    MF_NEED_MEMORY(video->pixels.color != NULL, error, "video");
    MF_TRY(mf_free_camera_create(video->world, &video->camera, &video->free, error));
    if (camera == NULL)
        MF_TRY(mf_overview_create(video->free, &video->camera, video->seen, 0, &video->overview,
                                  error));
    return start_ffmpeg(video, error);
}

mf_Status mf_video_open(mf_Scene *scene, const char *path, const char *camera, mf_Video **out,
                        mf_Error *error) {
    mf_Context *context = mf_world_context(scene->world);
    mf_Video *video = mf_allocate(context, 1, sizeof *video);
    *out = NULL;
    MF_NEED_MEMORY(video != NULL, error, "video");
    *video = (mf_Video){.context = context,
                        .world = scene->world,
                        .group = MF_NONE,
                        .seen = mf_first_isolated(scene->world),
                        .to_child = -1};
    mf_Status status = MF_OK;
    if (snprintf(video->path, sizeof video->path, "%s", path) >= MF_APP_PATH)
        status = mf_fail(error, MF_LIMIT, "--video: the file's name is too long");
    snprintf(video->part, sizeof video->part, "%s.part", video->path);
    MF_THEN(status, begin(video, scene, camera, error));
    if (status != MF_OK)
        mf_video_close(video, false, NULL);
    else
        *out = video;
    return status;
}

uint64_t mf_video_wait(const mf_Video *video) {
    return mf_rate_wait((mf_Rate){RATE, 1}, mf_world_time(video->world),
                        mf_world_config_of(video->world)->step);
}

mf_Status mf_video_take(mf_Video *video, mf_Error *error) {
    double position[3], rotation[4];
    const mf_Time now = mf_world_time(video->world), step = mf_world_config_of(video->world)->step;
    if (video->began && !mf_rate_due((mf_Rate){RATE, 1}, now, step))
        return MF_OK;
    if (video->overview != NULL && video->began)
        mf_overview_follow(video->overview, 1.0 - exp(-1.0 / (RATE * FOLLOW_SECONDS)));
    video->began = true;
    if (video->overview != NULL)
        mf_overview_pose(video->overview, position, rotation);
    else if (!mf_camera_pose(&video->camera.frame, video->pose, video->robot, position, rotation))
        return send_picture(video, error); // of a broken robot: the last picture again
    MF_TRY(mf_free_camera_take(video->free, position, rotation, video->seen,
                               video->group != MF_NONE ? video->robot : 0, &video->pixels, error));
    return send_picture(video, error);
}

static mf_Status end_ffmpeg(mf_Video *video, mf_Error *error) {
    int ended = 0;
    if (video->to_child >= 0)
        close(video->to_child);
    while (video->child > 0 && waitpid(video->child, &ended, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(ended) && WEXITSTATUS(ended) == 0
               ? MF_OK
               : mf_fail_at(error, MF_IO, video->path, 0, 0, "ffmpeg did not write the video");
}

mf_Status mf_video_close(mf_Video *video, bool keep, mf_Error *error) {
    if (video == NULL)
        return MF_OK;
    mf_Status status = end_ffmpeg(video, error);
    if (status == MF_OK && keep && rename(video->part, video->path) != 0)
        status = mf_fail_at(error, MF_IO, video->path, 0, 0, "%s", strerror(errno));
    if (status != MF_OK || !keep)
        unlink(video->part);
    mf_overview_destroy(video->overview);
    mf_free_camera_destroy(video->free);
    mf_release(video->context, video->pixels.color);
    mf_release(video->context, video);
    return status;
}
