// Progress display: a bar with the remaining time, redrawn in place at most ten times a second.
#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "app.h"

#define REDRAW_SECONDS 0.1 // [s]
#define BAR_LEAST 6        // [1] cells
#define BAR_MOST 24        // [1] cells

mf_Progress mf_progress_begin(const char *unit, uint64_t first, uint64_t total) {
    const char *terminal = getenv("TERM");
    return (mf_Progress){.visible = isatty(STDERR_FILENO) &&
                                    (terminal == NULL || strcmp(terminal, "dumb") != 0),
                         .started = mf_clock_seconds(),
                         .first = first,
                         .total = total,
                         .unit = unit};
}

static int terminal_columns(void) {
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// Eighths of a cell make the bar move smoothly.
static void draw_bar(char *out, size_t size, int cells, double share) {
    static const char *const parts[] = {" ",
                                        "\xe2\x96\x8f",
                                        "\xe2\x96\x8e",
                                        "\xe2\x96\x8d",
                                        "\xe2\x96\x8c",
                                        "\xe2\x96\x8b",
                                        "\xe2\x96\x8a",
                                        "\xe2\x96\x89",
                                        "\xe2\x96\x88"};
    int eighths = (int)(share * 8 * cells);
    size_t used = 0;
    for (int i = 0; i < cells && used < size; i++) {
        int fill = eighths - 8 * i;
        fill = fill < 0 ? 0 : fill > 8 ? 8 : fill;
        used += (size_t)snprintf(out + used, size - used, "%s", parts[fill]);
    }
}

static double seconds_left(const mf_Progress *progress, uint64_t done, double now) {
    if (done <= progress->first)
        return NAN;
    return (now - progress->started) / (double)(done - progress->first) *
           (double)(progress->total - done);
}

void mf_progress_update(mf_Progress *progress, uint64_t done, const char *note) {
    double now = mf_clock_seconds();
    if (!progress->visible || (done < progress->total && now - progress->drawn < REDRAW_SECONDS))
        return;
    progress->drawn = now;
    char bar[3 * BAR_MOST + 1], left[MF_APP_NUMBER], line[512];
    int length = snprintf(line, sizeof line, "%s %llu/%llu%s%s  ETA %s", progress->unit,
                          (unsigned long long)done, (unsigned long long)progress->total,
                          note[0] == '\0' ? "" : "  ", note,
                          mf_app_duration(seconds_left(progress, done, now), left));
    // The bar fills the rest of the line; a wrapped line could not be redrawn.
    int columns = terminal_columns(), cells = columns - length - 4;
    cells = cells < BAR_LEAST ? BAR_LEAST : cells > BAR_MOST ? BAR_MOST : cells;
    int capacity = columns - cells - 4;
    double share = progress->total == 0 ? 1.0 : (double)done / (double)progress->total;
    draw_bar(bar, sizeof bar, cells, share);
    fprintf(stderr, "\r\xe2\x96\x95%s\xe2\x96\x8f %.*s\x1b[K", bar, capacity > 0 ? capacity : 0,
            line);
    fflush(stderr);
}

void mf_progress_end(mf_Progress *progress) {
    if (progress->visible)
        fputs("\r\x1b[K", stderr);
}
