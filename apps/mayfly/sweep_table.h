// The table of a sweep, on the terminal and as CSV.
#pragma once

#include "view/sweep_page.h"

#include "sweep_plan.h"

// Writes FOLDER/table.csv, one row for each setting, and FOLDER/searches.csv, one for each complete
// search.
mf_Status mf_sweep_table_write(const mf_SweepPlan *plan, const mf_SweepResults *results,
                               const char *folder, mf_Error *error);
// Prints it on stdout.
void mf_sweep_table_print(const mf_SweepResults *results);
