// Mayfly: one robot and one gait at every level of physics: differences to the level of highest
// fidelity, costs, and limits of each level.
#pragma once

#include <mayfly/scene.h>

typedef struct mf_CompareConfig {
    uint32_t struct_size;           // [byte] set by mf_compare_config()
    uint32_t cost_robots;           // [1] robots in the batch in which the cost is measured; 0: not
                                    // measured; default 256
    bool selected[MF_MOTION_COUNT]; // default all levels, and the motions of bodies
    const char *films; // "walk.html": the film of each level goes to walk-LEVEL.html, for the page
                       // of that name; borrowed during mf_compare; NULL (default): no films
} mf_CompareConfig;
// The defaults of mf_CompareConfig: every configuration starts from them.
mf_CompareConfig mf_compare_config(void);

// The robot at one moment, counted from the end of settling.
typedef struct mf_CompareSample {
    double time;        // [s]
    double position[3]; // [m] of the base, world
    double heading;     // [rad] unwrapped
    double tilt;        // [rad] of the base's z axis against the vertical
    double energy;      // [J] kinetic and potential, as the level counts them
    double penetration; // [m] >= 0, of the deepest shape
    double slip;        // [m/s] mean slip speed of the shapes on the ground
} mf_CompareSample;

// Results of one level.
typedef struct mf_CompareRow {
    mf_Motion motion;
    bool possible;         // false: the level does not support the model, with `reason`
    char reason[256];      // "" if possible
    bool finished;         // no fault
    char film[300];        // file of its film, without folder; "": none
    uint32_t fault;        // [1] MF_FAULT_*
    double fell;           // [s] first time with a tilt of more than 1 rad; NAN: never
    double distance;       // [m] between start and end, horizontally
    double forward;        // [m] of that along the heading at the start
    double heading_change; // [rad] change of heading
    double height;         // [m] mean of the base
    double tilt;           // [rad] largest
    double penetration;    // [m] largest
    double slip;           // [m/s] mean
    // Root mean square of the difference to the level of highest fidelity, over the whole time; NAN
    // for that level and for levels that did not run:
    double position_error; // [m] horizontally
    double heading_error;  // [rad]
    double height_error;   // [m]
    double tilt_error;     // [rad]
    double energy_error;   // [J]
    double vertex_error;   // [m] largest distance of a vertex of a body at the end
    double seconds;        // [s] processor time per robot and step, in a batch; NAN: not measured
    double step;           // [s]
    uint32_t warnings;     // [1] MF_WARNING_*
    double (*vertices)[3]; // [m] of a body at the end; NULL: a robot of links
    uint32_t vertex_count; // [1]
    double force;          // [N] largest of the bars of a body
    mf_CompareSample *samples; // one each 10 ms, from 0 on
    uint32_t sample_count;     // [1]
} mf_CompareRow;

typedef struct mf_Comparison {
    mf_Context *context;
    const char *model, *gait;      // names, of the scene file; of a body `drive`
    const char *body;              // its kind, as mf_body_kind_name; NULL: a robot of links
    char drive[96];                // "" or what moves the actuators of a body
    double command[3];             // [m/s], [m/s], [rad/s]
    double duration;               // [s]
    uint32_t cost_robots, threads; // [1]
    mf_Isa isa;
    mf_Motion reference;                       // the level of highest fidelity that ran
    char notes[MF_SCENE_NOTES][MF_SCENE_NOTE]; // of the scene: differences from the file
    uint32_t note_count;                       // [1]
    mf_CompareRow rows[MF_MOTION_COUNT];
} mf_Comparison;

// Runs the only group of a scene, one robot, for the file's duration at every selected level.
// Levels that do not support the model are marked as not possible, with the reason; MF_UNSUPPORTED
// if all are, or the scene has several groups or vehicles. A truss moves by `quasistatic` and
// `elastic`; where it has neither neurons nor oscillators, a sine drives its actuators through
// their ranges. The file must outlive the comparison.
mf_Status mf_compare(mf_Context *context, mf_SceneFile *file, const mf_CompareConfig *config,
                     mf_Comparison **out, mf_Error *error);
void mf_comparison_destroy(mf_Comparison *comparison); // NULL is allowed

// Writes the comparison as one page with table and plots to `path` (replaced atomically).
mf_Status mf_comparison_write(const mf_Comparison *comparison, const char *path, mf_Error *error);
