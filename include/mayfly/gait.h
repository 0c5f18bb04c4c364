// Mayfly: gaits. A gait file defines the joint targets of a robot over time: a walk of two legs by
// inverse kinematics, periodic waves for any robot, or keyframes. docs/reference/gaits.md has the
// equations and every key of the files.
#pragma once

#include <mayfly/world.h>

// ---- definition of a gait ----------------------------------------------------------------------

enum { MF_LEG_JOINTS = 6 }; // [1] hip yaw, roll, pitch, knee, ankle pitch, roll

typedef enum mf_GaitKind {
    MF_GAIT_WALK,     // two legs, feet on paths
    MF_GAIT_WAVES,    // a sum of periodic curves per joint
    MF_GAIT_KEYFRAMES // times and angles
} mf_GaitKind;

// A joint's angle by name.
typedef struct mf_GaitAngle {
    const char *joint;
    double angle; // [rad] or [m]
} mf_GaitAngle;

// Limits of commands. Larger commands are clamped; their rate of change is limited.
typedef struct mf_GaitPace {
    double forward; // [m/s] largest command, >= 0
    double left;    // [m/s] largest command, >= 0
    double yaw;     // [rad/s] largest command, counterclockwise, >= 0
    double rise;    // [s] time from rest to the largest command, > 0
    bool march;     // steps in place without a command, instead of standing
} mf_GaitPace;

typedef enum mf_GaitPath {
    MF_GAIT_SINUSOID, // the foot's height is (1 - cos) / 2 of the swing
    MF_GAIT_TRAPEZOID // up in the first quarter of the swing, level, down in the last
} mf_GaitPath;

// Balance by feedback of the trunk's rotation. The tilt rates are those of a gyroscope in the base
// (roll and pitch), the tilt is their integral, which decays with the time constant `memory`.
typedef struct mf_GaitBalance {
    double ankle_pitch; // [s] ankle pitch per pitch rate
    double ankle_roll;  // [s] ankle roll per roll rate
    double hip_pitch;   // [s] hip pitch per pitch rate
    double hip_roll;    // [s] hip roll per roll rate
    double step_pitch;  // [m s/rad] forward displacement of the swinging foot per pitch rate
    double step_roll;   // [m s/rad] displacement of the swinging foot to the right per roll rate
    double tilt;        // [1/s] added to every rate per tilt [rad]
    double memory;      // [s] > 0
    double smooth;      // [s] averaging time of the rates, >= 0
} mf_GaitBalance;

typedef struct mf_GaitWalk {
    double blend; // [s] over which the targets go over to the gait, >= 0
    mf_GaitPace pace;
    double period;         // [s] two steps, > 0
    double height;         // [m] hips above ankles, > 0
    double lift;           // [m] of a swinging foot, >= 0
    double sway;           // [m] of the hips to the stance side, >= 0
    double double_support; // [1] share of the period with both feet down, 0 .. 0.9
    double lean;           // [rad] of the trunk, forward
    double width;          // [m] from the center line to each foot, > 0
    double offset;         // [m] of the feet forward of the hips
    double arms;           // [rad] amplitude of the arms at the largest forward command
    mf_GaitPath path;
    const char *legs[2][MF_LEG_JOINTS]; // names of the joints: left, right; order of MF_LEG_JOINTS
    const char *shoulders[2];           // joints that swing the arms: left, right; "" or NULL: none
    mf_GaitAngle *pose;                 // constant angles of other joints
    uint32_t pose_count;                // [1]
    mf_GaitBalance balance;
} mf_GaitWalk;

typedef enum mf_GaitShape {
    MF_GAIT_SINE,  // sin(2 pi harmonic phase)
    MF_GAIT_SWEEP, // -1 .. 1 smoothly in the swing, linearly back in the stance
    MF_GAIT_BUMP   // 0 .. 1 .. 0 in the swing, 0 in the stance
} mf_GaitShape;

// One curve of one joint. Its amplitude is
//     activity * amplitude + F * forward + L * left + Y * yaw,
// F, L and Y are the commands as fractions of the largest, -1 .. 1; activity is 0 .. 1 while
// moving.
typedef struct mf_GaitWave {
    const char *joint;
    mf_GaitShape shape;
    double offset;     // [rad] or [m] added at all times
    double amplitude;  // [rad] or [m] while moving
    double forward;    // [rad] or [m] at the largest command forward
    double left;       // [rad] or [m] at the largest command left
    double yaw;        // [rad] or [m] at the largest yaw command
    double phase;      // [1] phase lead in revolutions
    uint32_t harmonic; // [1] periods per period of the gait, of a sine; 1 .. 16
} mf_GaitWave;

typedef struct mf_GaitWaves {
    double blend; // [s] over which the targets go over to the gait, >= 0
    mf_GaitPace pace;
    double period; // [s] > 0
    double swing;  // [1] share of the period that a leg swings, of sweeps and bumps, 0.01 .. 0.99
    mf_GaitWave *waves;  // those of one joint add up
    uint32_t wave_count; // [1] >= 1
} mf_GaitWaves;

// A joint that a frame does not name keeps its angle of the previous frame, or before its first
// frame the model's start angle; a joint that no frame names is not changed.
typedef struct mf_GaitFrame {
    double time; // [s] rising; the first is >= 0
    mf_GaitAngle *angles;
    uint32_t angle_count; // [1]
} mf_GaitFrame;

typedef enum mf_GaitCurve {
    MF_GAIT_CUBIC, // smooth, never beyond the frames on both sides (Fritsch and Butland 1984)
    MF_GAIT_LINEAR
} mf_GaitCurve;

typedef struct mf_GaitKeyframes {
    double blend; // [s] over which the targets go over to the gait, >= 0
    bool loop;    // repeats after the last frame, which should equal the first
    mf_GaitCurve curve;
    const char *mirror_of; // file whose frames these are, left and right exchanged; NULL or ""
    mf_GaitFrame *frames;
    uint32_t frame_count; // [1] >= 1
} mf_GaitKeyframes;

typedef struct mf_Gait {
    mf_Context *context;
    const char *name; // the file's name without folder and ending
    const char *file; // path it came from
    mf_GaitKind kind; // which of the following counts
    mf_GaitWalk walk;
    mf_GaitWaves waves;
    mf_GaitKeyframes keyframes;
} mf_Gait;

// Reads a gait's file and checks it against `model`: its joints, their ranges, the legs. Errors
// have the file's line. With NULL only properties that do not need a model are checked; a
// `mirror_of` is then not read.
MF_API mf_Status mf_gait_load(mf_Context *context, const char *path, const mf_Model *model,
                              mf_Gait **out, mf_Error *error);
MF_API void mf_gait_destroy(mf_Gait *gait); // NULL is allowed

// Joint targets `time` [s] >= 0 after the start, of a robot with the constant command `command`
// (forward [m/s], left [m/s], yaw [rad/s]), without blending and balance. `angles` has joint_count
// values; joints that the gait does not move keep theirs.
MF_API mf_Status mf_gait_sample(const mf_Gait *gait, const mf_Model *model, double time,
                                const double command[3], double *angles, mf_Error *error);

// ---- gaits of a group --------------------------------------------------------------------------

#define MF_GAIT_LIMIT 32u // [1] most gaits of a group

typedef struct mf_GaitConfig {
    uint32_t struct_size; // [byte] set by mf_gait_config()
    mf_Rate rate;         // [1/s] ticks; default 100
    uint32_t first;       // [1] gait that robots start with, MF_NONE: none; default 0
} mf_GaitConfig;
// The defaults of mf_GaitConfig: every configuration starts from them.
MF_API mf_GaitConfig mf_gait_config(void);

// Adds gaits to `group`: each instance follows one of `gaits`, which are copied. Fields:
// gait.select (U32, input: index; MF_NONE or one that does not exist: none, joint.target is not
// written), gait.command (input: forward [m/s], left [m/s], yaw [rad/s]), gait.time [s] since the
// gait was selected, gait.done (U32: 1 after the end of keyframes without loop). A newly selected
// gait starts at its beginning; targets blend from their present values within its `blend`. Writes
// joint.target. Call after the motion. `config` may be NULL.
MF_API mf_Status mf_gaits_add(mf_Group *group, const mf_Gait *const *gaits, uint32_t count,
                              const mf_GaitConfig *config, mf_Error *error);
