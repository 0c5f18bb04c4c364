// Notes before a run: unsupported features of the model, and initial states that are probably
// unintended.
#pragma once

#include <mayfly/scene.h>
#include <mayfly/world.h>

enum { MF_REPORT_LINES = 32 };

typedef struct mf_StartReport {
    uint32_t count;  // [1] lines
    uint32_t more;   // [1] lines beyond the limit
    char prefix[72]; // of the following lines: the group, if there are several
    mf_StartNote lines[MF_REPORT_LINES];
} mf_StartReport;

// All notes: of robot 0 of each group with links at its start, and of the scene. The only function
// that collects them.
void mf_start_report(const mf_Scene *scene, mf_StartReport *out);

// Notes about the pose and the step: in the ground, under it, upside down, overlapping links; a
// step that is too long for the stiffness in that pose.
void mf_start_report_pose(const mf_Scene *scene, uint32_t index, mf_StartReport *out);

// Notes about features of the file that the group's motions ignore, those that follow from the
// chosen level in one line; of a scene whose robots can switch to all levels, those of the present
// one.
void mf_start_report_settings(const mf_Scene *scene, mf_Group *group, mf_StartReport *report);

// --strict: MF_UNSUPPORTED with the first of these notes of any group.
mf_Status mf_start_report_refuse(const mf_Scene *scene, mf_Error *error);

// Whether a step is too long for a robot at its start.
enum { MF_STEP_TEXT = 320 };

// One line into `text` for each index from 0 on: the spring or servo that is unstable at the
// world's step, the motor that the step does not resolve, constraints softened because of it. False
// after the last. Only for groups under `articulated`.
bool mf_step_note(mf_Group *group, uint32_t index, char *text);
