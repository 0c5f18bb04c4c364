// Progress display: one line on stderr that is redrawn, only if stderr is a terminal.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct mf_Progress {
    bool visible;
    double started;   // [s] of mf_clock_seconds
    double drawn;     // [s] when the line was last drawn
    uint64_t first;   // [1] done when it started (a resumed run)
    uint64_t total;   // [1]
    const char *unit; // "generation"
} mf_Progress;

mf_Progress mf_progress_begin(const char *unit, uint64_t first, uint64_t total);
// `note` is printed after the bar, for example "best 3.21 m". May be called often.
void mf_progress_update(mf_Progress *progress, uint64_t done, const char *note);
// Clears the line.
void mf_progress_end(mf_Progress *progress);
