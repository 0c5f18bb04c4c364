// The keys of the cameras of a scene.
#include "base/key_rows.h"
#include "scene/keys.h"

static const char *const lenses[] = {"pinhole", "brown", "angle", "fisheye", NULL};

_Static_assert(sizeof(mf_LensType) == sizeof(int), "choices are stored as int");
_Static_assert((int)MF_LENS_FISHEYE + 2 == sizeof lenses / sizeof *lenses,
               "choices are in the order of their enum");

#define T mf_SceneCamera
// clang-format off
static const mf_Key keys[] = {
    TEXT("name", REQUIRED, NULL, name, "name of the camera, with which its files begin"),
    TEXT("group", 0, "", on.group,
         "group of the robot that carries it; empty: it is fixed in the world"),
    COUNT("robot", 0, "0", 0, (1u << 26) - 1, on.robot, "index of the robot, from 0"),
    TEXT("link", 0, "", on.link, "name of the link; empty: the base"),
    VECTOR("position", 3, 0, "m", "[0, 0, 0]", -1e6, 1e6, position,
           "place in the world or on the link"),
    VECTOR("look_at", 3, AUTO, "m", "auto", -1e6, 1e6, look_at, "point in the same frame that is "
           "in the middle of the picture, whose upper edge is level; `auto`: rpy counts"),
    VECTOR("rpy", 3, 0, "rad", "[0, 0, 0]", -1e3, 1e3, rpy,
           "roll, pitch and yaw, as in URDF; it looks along its x axis, z is up"),
    COUNT("width", 0, "640", 1, 4096, camera.width, "columns of pixels"),
    COUNT("height", 0, "480", 1, 4096, camera.height, "rows of pixels"),
    REAL("fovy", ABOVE, "rad", "0.7853981633974483", 0, 6.2831853071795862, fovy,
         "angle of view from top to bottom, as if nothing were distorted"),
    VECTOR("focal", 2, AUTO, "1", "auto", 1e-9, 1e9, focal,
           "focal length in pixels per column and row; `auto`: by fovy"),
    VECTOR("center", 2, AUTO, "1", "auto", -1e9, 1e9, center,
           "pixel (column, row) of the optical axis; `auto`: the middle"),
    CHOICE("lens", 0, "pinhole", lenses, camera.lens, "kind of lens (docs/explanation/cameras.md)"),
    VECTOR("coefficients", 6, 0, "1", "[0, 0, 0, 0, 0, 0]", -1e9, 1e9, camera.coefficients,
           "of the lens"),
    REAL("nearest", ABOVE, "m", "0.01", 0, 1e9, camera.nearest, "near limit of the view"),
    REAL("farthest", ABOVE, "m", "100", 0, 1e9, camera.farthest,
         "far limit of the view; more than nearest"),
    FLAG("color", "true", camera.color, "writes NAME-NUMBER.png"),
    FLAG("depth", "false", camera.depth, "writes NAME-NUMBER-depth.png: 16 bit, millimeters"),
    FLAG("segmentation", "false", camera.segmentation,
         "writes NAME-NUMBER-segmentation.png: group, robot and link, 16 bit each"),
    FLAG("shadows", "true", camera.shadows, "of the light, in the colors"),
    COUNT("samples", 0, "2", 1, 4, camera.samples, "colors are means of samples^2 rays per pixel"),
    REAL("blur", 0, "1", "0", 0, 64, camera.blur, "standard deviation of a Gaussian, in pixels"),
    REAL("vignetting", 0, "1", "0", 0, 1, camera.vignetting,
         "share of the loss of light 1 - cos^4 of the angle from the axis"),
    REAL("noise", 0, "1", "0", 0, 1e9, camera.noise, "standard deviation of colors 0 .. 1"),
    COUNT("bits", 0, "8", 1, 8, camera.bits, "of each color"),
    RATE("interval", 0, "s", "1", 1e-6, 3600, camera.rate, "period of pictures"),
};
// clang-format on

static void start(void *base) {
    mf_SceneCamera *camera = base;
    camera->camera = mf_camera();
}

const mf_KeyTable mf_scene_camera_table = {MF_KEY_ROWS("camera", keys, mf_SceneCamera),
                                           .start = start};
