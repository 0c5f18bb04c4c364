// The energies of quasi-static trusses after each iteration of each frame, as a table of values
// separated by commas: `mayfly run --trace`.
#pragma once

#include "app.h"

#define MF_TRACE_SETTING "group.motion.quasistatic.trace=65536" // all iterations

typedef struct mf_Trace mf_Trace;

// Opens the file and writes its head. MF_UNSUPPORTED: no group of the scene keeps energies.
mf_Status mf_trace_open(const mf_Scene *scene, const char *path, mf_Trace **out, mf_Error *error);
void mf_trace_frame(const mf_Trace *trace); // writes the last frame of all robots
// MF_IO: not all could be written. NULL is fine.
mf_Status mf_trace_close(mf_Trace *trace, mf_Error *error);
