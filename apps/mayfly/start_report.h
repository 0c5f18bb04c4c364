// What the user has to know before a robot's file moves: what of it is not there, and starts that
// are most likely not meant.
#ifndef MAYFLY_APP_START_REPORT_H
#define MAYFLY_APP_START_REPORT_H

#include "app.h"

#include "ladder/start.h"

enum { MF_REPORT_LINES = 32, MF_REPORT_TEXT = 320 };

typedef struct mf_StartReport {
    uint32_t count; // [1] lines
    uint32_t more;  // [1] that did not fit
    char lines[MF_REPORT_LINES][MF_REPORT_TEXT];
} mf_StartReport;

// All of it, of robot 0 of the group at its start. The only place that collects such lines.
void mf_start_report(const mf_ModelStart *start, mf_Group *group, mf_StartReport *out);

// What of it is about the pose and the step: in the ground, under it, upside down, links in each
// other; a step too long for what is stiff in that pose.
void mf_start_report_pose(const mf_ModelStart *start, mf_Group *group, mf_StartReport *out);

// What of it is about what the motion leaves out of the file.
void mf_start_report_settings(const mf_Group *group, mf_StartReport *report);

// --strict: MF_UNSUPPORTED with the first of these settings.
mf_Status mf_start_report_refuse(const mf_ModelStart *start, const mf_Group *group,
                                 mf_Error *error);

// Adds a line that was found elsewhere; "" adds none.
void mf_start_report_add(mf_StartReport *report, const char *line);

// One line each, with "note: " in front.
void mf_start_report_print(const mf_StartReport *report);
// An array of texts.
json_t *mf_start_report_pack(const mf_StartReport *report);

#endif
