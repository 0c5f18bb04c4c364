// The notes before a run (evaluate/start_report.h), for people and as JSON.
#ifndef MAYFLY_APP_START_NOTES_H
#define MAYFLY_APP_START_NOTES_H

#include "app.h"
#include "evaluate/start_report.h"

// Prints one line each with the prefix "note: ".
void mf_start_report_print(const mf_StartReport *report);
// An array of texts.
json_t *mf_start_report_pack(const mf_StartReport *report);

#endif
