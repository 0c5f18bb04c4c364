// What a report says of machines: the champion's trial frame by frame, the best alive, and the
// champion's ancestors. All of them are simulated side by side in one scene.
#pragma once

#include "scene/machines.h"
#include "view/machine_picture.h"
#include "view/report_data.h"

enum {
    MF_REPORT_ALIVE = 12,    // [1] most machines of the gallery
    MF_REPORT_ANCESTORS = 8, // [1] most machines of the line of descent
    MF_REPORT_KIN = 1 + MF_REPORT_ALIVE + MF_REPORT_ANCESTORS
};

typedef struct mf_ReportKin {               // one machine with the result of its trial
    uint64_t id;                            // [1]
    uint32_t generation;                    // [1] of its birth; 0: not known
    mf_Machine machine;                     // as its genome says
    double vertex[3 * MF_MACHINE_VERTICES]; // [m] positions at rest, before its first cycle
    mf_MachineResult result;                // zeros if it has no actuators
} mf_ReportKin;

// The champion's trial. Arrays have a row for each sample.
typedef struct mf_ReportCrawl {
    uint32_t samples;                    // [1]
    uint32_t rest;                       // [1] sample before the first cycle
    uint32_t end;                        // [1] last sample that counts
    double period;                       // [s] between samples
    double *vertex;                      // [m] 3 of each vertex
    double *center;                      // [m] 3, of mass
    double *state;                       // [1] of each neuron; 0 where it does not matter
    double *length;                      // [m] of each actuator
    double tension[MF_MACHINE_BARS];     // [N] largest of each bar, from rest to the end
    double compression[MF_MACHINE_BARS]; // [N] likewise, >= 0
    uint32_t ending;                     // [1] MF_WARNING_* of the step that ended the trial
    uint32_t warned[MF_WARNING_KINDS];   // [1] steps with each warning after it came to rest
    uint64_t counted, steps;             // [1] steps that count, and of the whole trial
} mf_ReportCrawl;

struct mf_ReportMachine {
    mf_ReportKin kin[MF_REPORT_KIN]; // the champion, the best alive, ancestors from the oldest on
    uint32_t alive, ancestors;       // [1]
    bool plans;                      // no two alive have the same bars and actuators
    bool useful[MF_MACHINE_NEURONS]; // of the champion: a path leads to an actuator
    mf_ReportCrawl crawl;            // of the champion
    mf_TrussStatics statics;         // of the champion
    mf_TrussMass mass;
    mf_Machine pruned; // scratch, while it is gathered
    uint8_t genome[MF_MACHINE_BYTES];
};

// On failure mf_report_release_machine is due.
mf_Status mf_report_gather_machine(mf_ReportData *data, mf_Archive *archive, mf_Error *error);
void mf_report_release_machine(mf_ReportData *data);

// Sections of the page (each opens and closes itself).
void mf_report_crawl(mf_Text *text, const mf_ReportData *data);   // film, path, warnings
void mf_report_body(mf_Text *text, const mf_ReportData *data);    // the body and its numbers
void mf_report_network(mf_Text *text, const mf_ReportData *data); // graph, states over cycles
void mf_report_stress(mf_Text *text, const mf_ReportData *data);  // of bars against their limits
void mf_report_gallery(mf_Text *text, const mf_ReportData *data); // the best alive, ancestors

// The champion at rest, at an angle, with the numbers of its bars; `load` as in mf_picture_machine.
void mf_report_close_up(mf_Text *text, const mf_ReportData *data, const double *load,
                        const char *title);
// A machine at rest, or at a sample of the champion's trial.
mf_MachinePose mf_report_pose(const mf_ReportKin *kin);
mf_MachinePose mf_report_pose_at(const mf_ReportData *data, uint32_t sample);
