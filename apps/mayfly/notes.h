// The notes before a run (evaluate/start_report.h) and the warnings at its end, for people and as
// JSON.
#pragma once

#include "app.h"
#include "evaluate/start_report.h"

// Prints one line each with the prefix "note: ".
void mf_start_report_print(const mf_StartReport *report);
// An array of texts.
json_t *mf_start_report_pack(const mf_StartReport *report);

// One line for each kind of warning that a robot of the group has: number of robots and steps, the
// largest residual, its meaning, and whether it matters: a remedy, or that it is too brief. `name`
// of the group; NULL: the only one.
void mf_warnings_print(const mf_Group *group, const char *name);

// {"solver": {"robots": 2, "steps": 31, "residual": 0.2}}; {} without warnings.
json_t *mf_warnings_pack(const mf_Group *group);
