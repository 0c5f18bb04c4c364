// Notes before a run: unsupported features of the model, and initial states that are probably
// unintended.
#ifndef MAYFLY_APP_START_REPORT_H
#define MAYFLY_APP_START_REPORT_H

#include "app.h"

enum { MF_REPORT_LINES = 32, MF_REPORT_TEXT = 320 };

typedef struct mf_StartReport {
    uint32_t count;  // [1] lines
    uint32_t more;   // [1] that did not fit
    char prefix[72]; // of the lines that follow: the group, where there are several
    char lines[MF_REPORT_LINES][MF_REPORT_TEXT];
} mf_StartReport;

// All of it, of robot 0 of each group with links at its start, and the notes of the scene. The only
// position that collects such lines.
void mf_start_report(const mf_Scene *scene, mf_StartReport *out);

// What of it is about the pose and the step: in the ground, under it, upside down, links in each
// other; a step too long for what is stiff in that pose.
void mf_start_report_pose(const mf_Scene *scene, uint32_t index, mf_StartReport *out);

// What of it is about what the motion leaves out of the file.
void mf_start_report_settings(const mf_Group *group, mf_StartReport *report);

// --strict: MF_UNSUPPORTED with the first of these settings of any group.
mf_Status mf_start_report_refuse(const mf_Scene *scene, mf_Error *error);

// One line each, with "note: " in front.
void mf_start_report_print(const mf_StartReport *report);
// An array of texts.
json_t *mf_start_report_pack(const mf_StartReport *report);

#endif
