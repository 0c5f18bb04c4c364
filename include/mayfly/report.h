// Mayfly: the report of an evolution run, one self-contained HTML file.
#pragma once

#include <mayfly/scene.h>

// Results of a repeated simulation of one individual.
typedef struct mf_Trial {
    double step;                 // [s] physics step used
    double distance;             // [m] horizontal distance at the end
    double fitness;              // [m] or what the fitness measures
    double begin, end;           // [s] between which the distance counts
    double tilt;                 // [rad] largest of the base in any sample, 0 .. pi
    double start_tilt, end_tilt; // [rad] of the first and the last sample
    uint32_t sample_count;       // [1]
    double sample_period;        // [s] between samples
    double *position;            // [m] sample_count * 3 base positions, world frame
    uint8_t *contact;            // [1] sample_count * contact_count, 0 or 1
    uint32_t contact_count;      // [1] contact sensors
    uint64_t hash;               // [1] of the world at the end
    mf_Context *context;
} mf_Trial;

// Data of the run that are not in the archive.
typedef struct mf_ReportFacts {
    uint32_t threads;    // [1]
    const char *isa;     // "avx512"
    double wall_seconds; // [s]
    double simulated;    // [s] simulated time, summed over robots
    uint64_t hash;       // [1] of the final population
    const char *command; // command line that repeats the run
} mf_ReportFacts;

// How the champion stands, by the trial of the report.
typedef struct mf_ReportPosture {
    bool stands; // a robot that can fall: no machine of bars, and less than 60 degrees at its start
    bool fell;   // its base tilted by more than 60 degrees from upright at some time
    bool lies;   // and at the end
    double tilt; // [rad] at the end
} mf_ReportPosture;

// Writes the report of the archive's newest generation to `path` (atomically). `posture` may be
// NULL.
MF_API mf_Status mf_report_write(mf_Context *context, mf_Archive *archive, mf_SceneFile *file,
                                 const mf_ReportFacts *facts, const char *path,
                                 mf_ReportPosture *posture, mf_Error *error);
