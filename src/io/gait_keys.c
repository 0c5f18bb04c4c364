// The keys of gaits' files: one for each member of the public structures.
#include "io/gait_keys.h"
#include "base/key_rows.h"

static const char *const paths[] = {"sinusoid", "trapezoid", NULL};
static const char *const shapes[] = {"sine", "sweep", "bump", NULL};
static const char *const curves[] = {"cubic", "linear", NULL};

_Static_assert(sizeof(mf_GaitPath) == sizeof(int) && sizeof(mf_GaitShape) == sizeof(int) &&
                   sizeof(mf_GaitCurve) == sizeof(int),
               "choices are stored as int");
_Static_assert(sizeof(mf_GaitAngle) == sizeof(mf_KeyNamed) &&
                   offsetof(mf_GaitAngle, angle) == offsetof(mf_KeyNamed, value),
               "angles are stored as mf_KeyNamed");
_Static_assert(offsetof(mf_GaitWalk, pose_count) - offsetof(mf_GaitWalk, pose) ==
                       offsetof(mf_KeyList, count) &&
                   offsetof(mf_GaitWaves, wave_count) - offsetof(mf_GaitWaves, waves) ==
                       offsetof(mf_KeyList, count) &&
                   offsetof(mf_GaitFrame, angle_count) - offsetof(mf_GaitFrame, angles) ==
                       offsetof(mf_KeyList, count) &&
                   offsetof(mf_GaitKeyframes, frame_count) - offsetof(mf_GaitKeyframes, frames) ==
                       offsetof(mf_KeyList, count),
               "lists are stored as mf_KeyList");

// How commands act, for the kinds of gait that have them.
#define BLEND                                                                                      \
    REAL("blend", 0, "s", "0.4", 0, 60, blend,                                                     \
         "duration of the transition from the present targets to the gait")
#define PACE(speed, aside, turning)                                                                \
    SECTION("pace", "limits of commands; larger commands are clamped"),                            \
        REAL("pace.forward", 0, "m/s", speed, 0, 100, pace.forward, "largest forward command"),    \
        REAL("pace.left", 0, "m/s", aside, 0, 100, pace.left, "largest command to the left"),      \
        REAL("pace.yaw", 0, "rad/s", turning, 0, 100, pace.yaw,                                    \
             "largest yaw command, counterclockwise"),                                             \
        REAL("pace.rise", ABOVE, "s", "1", 0, 60, pace.rise,                                       \
             "time from rest to the largest command"),                                             \
        FLAG("pace.march", "false", pace.march,                                                    \
             "steps in place without a command, instead of standing")

// A leg's joints.
#define LEG(side, index)                                                                           \
    SECTION("legs." side, "joints of one leg, from the base on"),                                  \
        TEXT("legs." side ".hip_yaw", 0, side "_hip_yaw", legs[index][0], "about z"),              \
        TEXT("legs." side ".hip_roll", 0, side "_hip_roll", legs[index][1], "about x"),            \
        TEXT("legs." side ".hip_pitch", 0, side "_hip_pitch", legs[index][2], "about y"),          \
        TEXT("legs." side ".knee", 0, side "_knee", legs[index][3], "about y"),                    \
        TEXT("legs." side ".ankle_pitch", 0, side "_ankle_pitch", legs[index][4], "about y"),      \
        TEXT("legs." side ".ankle_roll", 0, side "_ankle_roll", legs[index][5], "about x")

#define TABLE(noun, keys, type, applies)                                                           \
    { noun, keys, sizeof keys / sizeof *keys, sizeof(type), NULL, applies, NULL }

// clang-format off
#define T mf_GaitWalk
static const mf_Key walk_keys[] = {
    BLEND,
    REAL("period", ABOVE, "s", "0.6", 0, 60, period, "duration of two steps"),
    REAL("height", REQUIRED | ABOVE, "m", NULL, 0, 100, height,
         "height of the hips above the ankles"),
    REAL("lift", 0, "m", "0.03", 0, 10, lift, "height to which a swinging foot is lifted"),
    CHOICE("path", 0, "sinusoid", paths, path, "height curve of a swinging foot: sinusoid, or "
           "trapezoid: up in the first quarter, constant, down in the last"),
    REAL("sway", 0, "m", "0.02", 0, 10, sway, "displacement of the hips to the stance side"),
    REAL("double_support", 0, "1", "0.2", 0, 0.9, double_support,
         "fraction of the period with both feet on the ground"),
    REAL("lean", 0, "rad", "0", -1, 1, lean, "forward tilt of the trunk"),
    REAL("width", REQUIRED | ABOVE, "m", NULL, 0, 10, width,
         "distance from the center line to each foot"),
    REAL("offset", 0, "m", "0", -10, 10, offset, "forward displacement of the feet from the hips"),
    REAL("arms", 0, "rad", "0", -3, 3, arms,
         "amplitude of the arms at the largest forward command"),
    PACE("0.1", "0.05", "0.5"),
    SECTION("legs", "names of the legs' joints"),
    LEG("left", 0),
    LEG("right", 1),
    SECTION("shoulders", "joints that swing the arms"),
    TEXT("shoulders.left", 0, "left_shoulder_pitch", shoulders[0],
         "moves in phase with the right leg; \"\": none"),
    TEXT("shoulders.right", 0, "right_shoulder_pitch", shoulders[1],
         "moves in phase with the left leg; \"\": none"),
    KEY("pose", NAMED, 0, "rad", NULL, -1e3, 1e3, NULL, pose,
        "constant angles of other joints, or center angles of the shoulders"),
    SECTION("balance", "feedback of roll and pitch rate of a gyroscope in the base"),
    REAL("balance.ankle_pitch", 0, "s", "0", -10, 10, balance.ankle_pitch,
         "ankle pitch per pitch rate"),
    REAL("balance.ankle_roll", 0, "s", "0", -10, 10, balance.ankle_roll,
         "ankle roll per roll rate"),
    REAL("balance.hip_pitch", 0, "s", "0", -10, 10, balance.hip_pitch, "hip pitch per pitch rate"),
    REAL("balance.hip_roll", 0, "s", "0", -10, 10, balance.hip_roll, "hip roll per roll rate"),
    REAL("balance.step_pitch", 0, "m s/rad", "0", -10, 10, balance.step_pitch,
         "forward displacement of a swinging foot per pitch rate"),
    REAL("balance.step_roll", 0, "m s/rad", "0", -10, 10, balance.step_roll,
         "displacement of a swinging foot to the right per roll rate"),
    REAL("balance.tilt", 0, "1/s", "0", 0, 1e3, balance.tilt,
         "gain of the tilt, the integral of the rate, which is added to each rate"),
    REAL("balance.memory", ABOVE, "s", "1", 0, 1e3, balance.memory,
         "time constant with which the integral decays"),
    REAL("balance.smooth", 0, "s", "0", 0, 1e3, balance.smooth,
         "averaging time of rates; for motions whose joints track exactly it must be longer than "
         "the sum of the gains of hip and ankle"),
};
#undef T

#define T mf_GaitWave
static const mf_Key wave_keys[] = {
    TEXT("joint", REQUIRED, NULL, joint, "name of the joint; several curves of one joint add up"),
    CHOICE("shape", 0, "sine", shapes, shape, "sine; sweep: smoothly from -1 to 1 in the swing, "
           "linearly back in the stance; bump: from 0 to 1 and back in the swing, 0 in the stance"),
    REAL("offset", 0, "rad", "0", -1e3, 1e3, offset, "constant offset; meters for slides"),
    REAL("amplitude", 0, "rad", "0", -1e3, 1e3, amplitude, "amplitude while moving"),
    REAL("forward", 0, "rad", "0", -1e3, 1e3, forward, "amplitude at the largest forward command"),
    REAL("left", 0, "rad", "0", -1e3, 1e3, left, "amplitude at the largest command to the left"),
    REAL("yaw", 0, "rad", "0", -1e3, 1e3, yaw, "amplitude at the largest yaw command"),
    REAL("phase", 0, "1", "0", -1e3, 1e3, phase, "phase lead, in revolutions"),
    COUNT("harmonic", 0, "1", 1, 16, harmonic, "number of oscillations of a sine in one period"),
};
#undef T
static const mf_KeyTable wave_table = TABLE("wave", wave_keys, mf_GaitWave, NULL);

#define T mf_GaitWaves
static const mf_Key waves_keys[] = {
    BLEND,
    REAL("period", ABOVE, "s", "1", 0, 60, period, "period of all curves"),
    REAL("swing", 0, "1", "0.5", 0.01, 0.99, swing,
         "fraction of the period in which a leg swings, for sweeps and bumps"),
    PACE("0.1", "0", "0.5"),
    LIST("joints", REQUIRED, &wave_table, waves,
         "curves of joints. The amplitude of a curve is `amplitude` while moving, plus forward, "
         "left and yaw times the commands as fractions of the largest"),
};
#undef T

#define T mf_GaitFrame
static const mf_Key frame_keys[] = {
    REAL("time", REQUIRED, "s", NULL, 0, 3600, time,
         "time of the frame, later than the previous one"),
    KEY("angles", NAMED, 0, "rad", NULL, -1e3, 1e3, NULL, angles, "joints and their angles, meters "
        "for slides. A joint that is not named keeps its angle of the previous frame, or before "
        "its first frame the model's start angle; a joint that no frame names is not changed"),
};
#undef T
static const mf_KeyTable frame_table = TABLE("frame", frame_keys, mf_GaitFrame, NULL);

#define T mf_GaitKeyframes
static const mf_Key keyframes_keys[] = {
    REAL("blend", 0, "s", "0.2", 0, 60, blend,
         "duration of the transition from the present targets to the gait"),
    FLAG("loop", "false", loop, "repeats after the last frame, which should equal the first"),
    CHOICE("curve", 0, "cubic", curves, curve,
           "interpolation between frames: cubic (smooth, without overshoot) or linear"),
    KEY("mirror_of", FILE, 0, "", NULL, 0, 0, NULL, mirror_of,
        "instead of all other keys: a file of keyframes of which this is the mirror image, with "
        "left and right exchanged in the joints' names"),
    LIST("frames", 0, &frame_table, frames, "the frames, in order of time"),
};
#undef T
// clang-format on

// A mirror image takes everything from its original.
static bool keyframes_apply(const void *base, const mf_Key *key) {
    const mf_GaitKeyframes *keyframes = base;
    return (key->offset == offsetof(mf_GaitKeyframes, mirror_of)) == (keyframes->mirror_of != NULL);
}

const mf_KeyTable *mf_gait_table(mf_GaitKind kind) {
    static const mf_KeyTable tables[] = {
        TABLE("walk", walk_keys, mf_GaitWalk, NULL), TABLE("waves", waves_keys, mf_GaitWaves, NULL),
        TABLE("keyframes", keyframes_keys, mf_GaitKeyframes, keyframes_apply)};
    return &tables[kind];
}
