// Mayfly: one robot and one gait at every level of physics: how far each level is from the dearest
// one, what it costs, and what it cannot show.
#ifndef MAYFLY_COMPARE_H
#define MAYFLY_COMPARE_H

#include <mayfly/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mf_CompareConfig {
    uint32_t struct_size;  // [byte] set by mf_compare_config()
    uint32_t price_robots; // [1] side by side when the price is measured; 0: it is not; default 256
    bool wanted[MF_MOTION_LEVELS]; // default all
} mf_CompareConfig;
MF_API mf_CompareConfig mf_compare_config(void);

// The robot at one moment, counted from the end of settling.
typedef struct mf_CompareSample {
    double time;        // [s]
    double position[3]; // [m] of the base, world
    double heading;     // [rad] unwrapped
    double tilt;        // [rad] of the base's z axis against the vertical
    double energy;      // [J] kinetic and potential, as the level counts them
    double penetration; // [m] >= 0, of the deepest shape
    double slip;        // [m/s] of the shapes on the ground along it, the mean
} mf_CompareSample;

// What one level does with the gait.
typedef struct mf_CompareRow {
    mf_Motion motion;
    bool possible;      // false: the model cannot move by it, for this
    char reason[256];   // "" when it can
    bool finished;      // no fault
    uint32_t fault;     // [1] MF_FAULT_*
    double fell;        // [s] when it first leaned more than 1 rad; NAN: never
    double distance;    // [m] between start and end, horizontally
    double forward;     // [m] of that along the heading at the start
    double turned;      // [rad] change of heading
    double height;      // [m] mean of the base
    double tilt;        // [rad] largest
    double penetration; // [m] largest
    double slip;        // [m/s] mean
    // Root mean square of the difference to the dearest level, over the whole time; NAN for it
    // and for levels that did not run:
    double position_error; // [m] horizontally
    double heading_error;  // [rad]
    double height_error;   // [m]
    double tilt_error;     // [rad]
    double energy_error;   // [J]
    double seconds;        // [s] of the processor's time per robot and step, in a batch; NAN: not
                           // measured
    mf_CompareSample *samples; // one each 10 ms, from 0 on
    uint32_t sample_count;     // [1]
} mf_CompareRow;

typedef struct mf_Comparison {
    mf_Context *context;
    const char *model, *gait;       // names; of the scene file
    double command[3];              // [m/s], [m/s], [rad/s]
    double duration;                // [s]
    uint32_t price_robots, threads; // [1]
    mf_Isa isa;
    mf_Motion reference;                       // the dearest that ran
    char notes[MF_SCENE_NOTES][MF_SCENE_NOTE]; // of the scene: what is not as the file asks
    uint32_t note_count;                       // [1]
    mf_CompareRow rows[MF_MOTION_LEVELS];
} mf_Comparison;

// Runs the only group of a scene, one robot, for the file's duration at every wanted level. Levels
// that the model cannot support come out as not possible, with the reason; MF_UNSUPPORTED when none
// can, or the scene has several groups or vehicles. The file must outlive the comparison.
MF_API mf_Status mf_compare(mf_Context *context, mf_SceneFile *file, const mf_CompareConfig *config,
                            mf_Comparison **out, mf_Error *error);
MF_API void mf_comparison_destroy(mf_Comparison *comparison); // NULL is fine

// One line: what the level leaves out.
MF_API const char *mf_motion_blind_spot(mf_Motion motion);

// Writes the comparison as one page with table and plots to `path` (replaced atomically).
MF_API mf_Status mf_comparison_write(const mf_Comparison *comparison, const char *path,
                                     mf_Error *error);

#ifdef __cplusplus
}
#endif
#endif
