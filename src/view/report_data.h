// The data of a report, gathered first and then only read; and the functions that render it.
// Rendering fails only for lack of memory, which the text records.
#pragma once

#include <mayfly/report.h>

#include "base/text.h"

#define MF_FALLEN 1.0471975511965976 // [rad] 60 degrees from its start: a base has fallen over

#define MF_REPORT_TOLERANCE 0.30 // [1] largest change of distance by the small step that passes
#define MF_REPORT_KEPT 0.75      // [1] share of the distance that a walk keeps at another level

// The champion simulated at one level of physics.
typedef struct mf_ReportLevel {
    mf_Motion motion;
    bool possible;                               // the level supports the robot
    double step;                                 // [s]
    double distance;                             // [m] when it is possible
    double tilt;                                 // [rad] largest of the base
    char reason[sizeof((mf_Error *)0)->message]; // why it is not possible
} mf_ReportLevel;

typedef struct mf_ReportMachine mf_ReportMachine;

// Everything but `facts` strings and `file` belongs to the data.
typedef struct mf_ReportData {
    mf_Context *context;
    mf_SceneFile *file; // borrowed
    mf_ReportFacts facts;
    mf_ArchiveGeneration *generations; // one for each stored generation
    uint32_t generation_count;         // [1]
    mf_Individual champion;            // best of the newest generation; genome is `genome`
    uint8_t *genome;
    uint32_t genome_bytes; // [byte]
    mf_Trial trial;        // the champion with the file's step
    mf_Trial fine;         // the same with a smaller step
    uint32_t fine_divisor; // [1] ratio of the steps; 1: no smaller step is possible
    mf_ReportLevel
        levels[MF_MOTION_LEVELS];   // all levels except that of the evolution, most accurate first
    uint32_t level_count;           // [1]
    mf_SearchConfig search;         // of the run, without functions
    mf_ArchiveDiversity *diversity; // at `moment_count` generations, the newest last
    uint32_t *moment;               // [1] their numbers
    uint32_t moment_count;          // [1] 0: no section
    mf_Ancestor *tree;              // of the best alive, by decreasing id
    uint32_t tree_count;            // [1] 0: no section
    mf_Elite *elites;               // of the repertoire
    uint32_t elite_count;           // [1] 0: no section
    mf_Text film;                   // page with the champion's film; empty: none
    mf_ReportMachine *machine;      // of runs of machines (report_machine.h), else NULL
    mf_Scene scene;                 // one robot with the champion's controller
    char *settings;                 // the scene as YAML text
} mf_ReportData;

// Reads the archive and simulates the champion again. `facts` is borrowed. On failure nothing
// remains allocated.
mf_Status mf_report_gather(mf_Context *context, mf_Archive *archive, mf_SceneFile *file,
                           const mf_ReportFacts *facts, mf_ReportData *out, mf_Error *error);
void mf_report_release(mf_ReportData *data);

mf_ReportPosture mf_report_posture(const mf_ReportData *data);

// The part about the search (report_search.c); on failure the caller releases.
mf_Status mf_report_gather_search(mf_ReportData *data, mf_Archive *archive, mf_Error *error);
void mf_report_release_search(mf_ReportData *data);

// The whole page as text. Deterministic: the same data gives the same bytes.
void mf_report_render(mf_Text *text, const mf_ReportData *data);

// Its parts.
void mf_report_style(mf_Text *text);                                 // the style sheet
void mf_report_levels(mf_Text *text, const mf_ReportData *data);     // every level, as a table
void mf_report_scheme(mf_Text *text, const mf_ReportData *data);     // selection in words
void mf_report_diversity(mf_Text *text, const mf_ReportData *data);  // of genomes, over time
void mf_report_tree(mf_Text *text, const mf_ReportData *data);       // lines of descent
void mf_report_repertoire(mf_Text *text, const mf_ReportData *data); // MAP-Elites
void mf_report_map(mf_Text *text, const mf_ReportData *data);        // the path seen from above
void mf_report_gait(mf_Text *text, const mf_ReportData *data);       // the contact diagram
void mf_report_control(mf_Text *text, const mf_ReportData *data);    // the controller, explained
void mf_report_film(mf_Text *text, const mf_ReportData *data);       // of the champion
void mf_report_small_step(mf_Text *text, const mf_ReportData *data);

// A section: its id and its title, as XML.
void mf_report_open(mf_Text *text, const char *id, const char *title);
void mf_report_close(mf_Text *text);

// A row of a table of facts: an escaped name and an opened cell; end it with mf_report_row_end.
void mf_report_row(mf_Text *text, const char *name);
void mf_report_row_end(mf_Text *text);
// A row whose cell needs no escapes.
void mf_report_fact(mf_Text *text, const char *name, const char *format, ...) MF_PRINTF(3, 4);

// Simulates one robot with `genome` for the file's duration, with `config` (motion, step, divisor;
// `evaluates` and `count` are ignored; NULL: as in the file; the joint interval and the
// controller's rate do not change), sampling every `sample_period` [s], a multiple of the step.
mf_Status mf_trial_run(mf_Context *context, mf_SceneFile *file, const mf_SceneConfig *config,
                       const uint8_t *genome, uint32_t genome_bytes, double sample_period,
                       mf_Trial *out, mf_Error *error);
void mf_trial_free(mf_Trial *trial);
