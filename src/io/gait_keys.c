// The keys of gaits' files: one for each member of the public structures.
#include "io/gait_keys.h"

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

#define WALK(member) offsetof(mf_GaitWalk, member)
#define WAVES(member) offsetof(mf_GaitWaves, member)
#define WAVE(member) offsetof(mf_GaitWave, member)
#define FRAME(member) offsetof(mf_GaitFrame, member)
#define KEYFRAMES(member) offsetof(mf_GaitKeyframes, member)
#define NOWHERE MF_KEY_NOWHERE
#define ABOVE MF_KEY_ABOVE
#define NUMBER(path, flags, unit, fallback, lower, upper, offset, description)                     \
    MF_KEY(path, MF_KEY_REAL, flags, unit, fallback, lower, upper, NULL, offset, description)
#define SECTION(path, description)                                                                 \
    MF_KEY(path, MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, NOWHERE, description)
#define JOINT(path, fallback, offset, description)                                                 \
    MF_KEY(path, MF_KEY_TEXT, 0, "", fallback, 0, 0, NULL, offset, description)

// How commands act, for the kinds of gait that have them.
#define BLEND(offset)                                                                              \
    NUMBER("blend", 0, "s", "0.4", 0, 60, offset,                                                  \
           "duration of the transition from the present targets to the gait")
#define PACE(member, speed, aside, turning)                                                        \
    SECTION("pace", "limits of commands; larger commands are clamped"),                            \
        NUMBER("pace.forward", 0, "m/s", speed, 0, 100, member(pace.forward),                      \
               "largest forward command"),                                                         \
        NUMBER("pace.left", 0, "m/s", aside, 0, 100, member(pace.left),                            \
               "largest command to the left"),                                                     \
        NUMBER("pace.yaw", 0, "rad/s", turning, 0, 100, member(pace.yaw),                          \
               "largest yaw command, counterclockwise"),                                           \
        NUMBER("pace.rise", ABOVE, "s", "1", 0, 60, member(pace.rise),                             \
               "time from rest to the largest command"),                                           \
        MF_KEY("pace.march", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL, member(pace.march),          \
               "steps in place without a command, instead of standing")

// A leg's joints.
#define LEG(side, index)                                                                           \
    SECTION("legs." side, "joints of one leg, from the base on"),                                  \
        JOINT("legs." side ".hip_yaw", side "_hip_yaw", WALK(legs[index][0]), "about z"),          \
        JOINT("legs." side ".hip_roll", side "_hip_roll", WALK(legs[index][1]), "about x"),        \
        JOINT("legs." side ".hip_pitch", side "_hip_pitch", WALK(legs[index][2]), "about y"),      \
        JOINT("legs." side ".knee", side "_knee", WALK(legs[index][3]), "about y"),                \
        JOINT("legs." side ".ankle_pitch", side "_ankle_pitch", WALK(legs[index][4]), "about y"),  \
        JOINT("legs." side ".ankle_roll", side "_ankle_roll", WALK(legs[index][5]), "about x")

#define TABLE(noun, keys, type, applies)                                                           \
    { noun, keys, sizeof keys / sizeof *keys, sizeof(type), NULL, applies, NULL }

// clang-format off
static const mf_Key walk_keys[] = {
    BLEND(WALK(blend)),
    NUMBER("period", ABOVE, "s", "0.6", 0, 60, WALK(period), "duration of two steps"),
    NUMBER("height", MF_KEY_REQUIRED | ABOVE, "m", NULL, 0, 100, WALK(height),
           "height of the hips above the ankles"),
    NUMBER("lift", 0, "m", "0.03", 0, 10, WALK(lift), "height to which a swinging foot is lifted"),
    MF_KEY("path", MF_KEY_CHOICE, 0, "", "sinusoid", 0, 0, paths, WALK(path),
           "height curve of a swinging foot: sinusoid, or trapezoid: up in the first quarter, "
           "constant, down in the last"),
    NUMBER("sway", 0, "m", "0.02", 0, 10, WALK(sway),
        "displacement of the hips to the stance side"),
    NUMBER("double_support", 0, "1", "0.2", 0, 0.9, WALK(double_support),
           "fraction of the period with both feet on the ground"),
    NUMBER("lean", 0, "rad", "0", -1, 1, WALK(lean), "forward tilt of the trunk"),
    NUMBER("width", MF_KEY_REQUIRED | ABOVE, "m", NULL, 0, 10, WALK(width),
           "distance from the center line to each foot"),
    NUMBER("offset", 0, "m", "0", -10, 10, WALK(offset),
        "forward displacement of the feet from the hips"),
    NUMBER("arms", 0, "rad", "0", -3, 3, WALK(arms),
           "amplitude of the arms at the largest forward command"),
    PACE(WALK, "0.1", "0.05", "0.5"),
    SECTION("legs", "names of the legs' joints"),
    LEG("left", 0),
    LEG("right", 1),
    SECTION("shoulders", "joints that swing the arms"),
    JOINT("shoulders.left", "left_shoulder_pitch", WALK(shoulders[0]),
          "moves in phase with the right leg; \"\": none"),
    JOINT("shoulders.right", "right_shoulder_pitch", WALK(shoulders[1]),
          "moves in phase with the left leg; \"\": none"),
    MF_KEY("pose", MF_KEY_NAMED, 0, "rad", NULL, -1e3, 1e3, NULL, WALK(pose),
           "constant angles of other joints, or center angles of the shoulders"),
    SECTION("balance", "feedback of roll and pitch rate of a gyroscope in the base"),
    NUMBER("balance.ankle_pitch", 0, "s", "0", -10, 10, WALK(balance.ankle_pitch),
           "ankle pitch per pitch rate"),
    NUMBER("balance.ankle_roll", 0, "s", "0", -10, 10, WALK(balance.ankle_roll),
           "ankle roll per roll rate"),
    NUMBER("balance.hip_pitch", 0, "s", "0", -10, 10, WALK(balance.hip_pitch),
           "hip pitch per pitch rate"),
    NUMBER("balance.hip_roll", 0, "s", "0", -10, 10, WALK(balance.hip_roll),
           "hip roll per roll rate"),
    NUMBER("balance.step_pitch", 0, "m s/rad", "0", -10, 10, WALK(balance.step_pitch),
           "forward displacement of a swinging foot per pitch rate"),
    NUMBER("balance.step_roll", 0, "m s/rad", "0", -10, 10, WALK(balance.step_roll),
           "displacement of a swinging foot to the right per roll rate"),
    NUMBER("balance.tilt", 0, "1/s", "0", 0, 1e3, WALK(balance.tilt),
           "gain of the tilt, the integral of the rate, which is added to each rate"),
    NUMBER("balance.memory", ABOVE, "s", "1", 0, 1e3, WALK(balance.memory),
           "time constant with which the integral decays"),
    NUMBER("balance.smooth", 0, "s", "0", 0, 1e3, WALK(balance.smooth),
           "averaging time of rates; for motions whose joints track exactly it must be longer than "
           "the sum of the gains of hip and ankle"),
};

static const mf_Key wave_keys[] = {
    MF_KEY("joint", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL, WAVE(joint),
           "name of the joint; several curves of one joint add up"),
    MF_KEY("shape", MF_KEY_CHOICE, 0, "", "sine", 0, 0, shapes, WAVE(shape),
           "sine; sweep: smoothly from -1 to 1 in the swing, linearly back in the stance; bump: "
           "from 0 to 1 and back in the swing, 0 in the stance"),
    NUMBER("offset", 0, "rad", "0", -1e3, 1e3, WAVE(offset), "constant offset; meters for slides"),
    NUMBER("amplitude", 0, "rad", "0", -1e3, 1e3, WAVE(amplitude), "amplitude while moving"),
    NUMBER("forward", 0, "rad", "0", -1e3, 1e3, WAVE(forward),
           "amplitude at the largest forward command"),
    NUMBER("left", 0, "rad", "0", -1e3, 1e3, WAVE(left),
           "amplitude at the largest command to the left"),
    NUMBER("yaw", 0, "rad", "0", -1e3, 1e3, WAVE(yaw), "amplitude at the largest yaw command"),
    NUMBER("phase", 0, "1", "0", -1e3, 1e3, WAVE(phase), "phase lead, in revolutions"),
    MF_KEY("harmonic", MF_KEY_COUNT, 0, "1", "1", 1, 16, NULL, WAVE(harmonic),
           "number of oscillations of a sine in one period"),
};
static const mf_KeyTable wave_table = TABLE("wave", wave_keys, mf_GaitWave, NULL);

static const mf_Key waves_keys[] = {
    BLEND(WAVES(blend)),
    NUMBER("period", ABOVE, "s", "1", 0, 60, WAVES(period), "period of all curves"),
    NUMBER("swing", 0, "1", "0.5", 0.01, 0.99, WAVES(swing),
           "fraction of the period in which a leg swings, for sweeps and bumps"),
    PACE(WAVES, "0.1", "0", "0.5"),
    MF_KEY_LISTED("joints", MF_KEY_REQUIRED, &wave_table, WAVES(waves),
                  "curves of joints. The amplitude of a curve is `amplitude` while moving, plus "
                  "forward, left and yaw times the commands as fractions of the largest"),
};

static const mf_Key frame_keys[] = {
    NUMBER("time", MF_KEY_REQUIRED, "s", NULL, 0, 3600, FRAME(time), "time of the frame, later "
                                                                     "than the previous one"),
    MF_KEY("angles", MF_KEY_NAMED, 0, "rad", NULL, -1e3, 1e3, NULL, FRAME(angles),
           "joints and their angles, meters for slides. A joint that is not named keeps its angle "
           "of the previous frame, or before its first frame the model's start angle; a joint that "
           "no frame names is not changed"),
};
static const mf_KeyTable frame_table = TABLE("frame", frame_keys, mf_GaitFrame, NULL);

static const mf_Key keyframes_keys[] = {
    NUMBER("blend", 0, "s", "0.2", 0, 60, KEYFRAMES(blend),
           "duration of the transition from the present targets to the gait"),
    MF_KEY("loop", MF_KEY_FLAG, 0, "", "false", 0, 0, NULL, KEYFRAMES(loop),
           "repeats after the last frame, which should equal the first"),
    MF_KEY("curve", MF_KEY_CHOICE, 0, "", "cubic", 0, 0, curves, KEYFRAMES(curve),
           "interpolation between frames: cubic (smooth, without overshoot) or linear"),
    MF_KEY("mirror_of", MF_KEY_FILE, 0, "", NULL, 0, 0, NULL, KEYFRAMES(mirror_of),
           "instead of all other keys: a file of keyframes of which this is the mirror image, with "
           "left and right exchanged in the joints' names"),
    MF_KEY_LISTED("frames", 0, &frame_table, KEYFRAMES(frames), "the frames, in order of time"),
};
// clang-format on

// A mirror image takes everything from its original.
static bool keyframes_apply(const void *base, const mf_Key *key) {
    const mf_GaitKeyframes *keyframes = base;
    return (key->offset == KEYFRAMES(mirror_of)) == (keyframes->mirror_of != NULL);
}

const mf_KeyTable *mf_gait_table(mf_GaitKind kind) {
    static const mf_KeyTable tables[] = {
        TABLE("walk", walk_keys, mf_GaitWalk, NULL), TABLE("waves", waves_keys, mf_GaitWaves, NULL),
        TABLE("keyframes", keyframes_keys, mf_GaitKeyframes, keyframes_apply)};
    return &tables[kind];
}
