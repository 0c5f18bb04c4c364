// Synchronization with the clock.
//
// Simulated time s corresponds to the time begin + s / factor of the clock. A simulation that is
// ahead waits; one that is behind continues without waiting until it has caught up, so a single
// delay is compensated, and only a simulation that is too slow stays behind. With a factor the
// world measures its systems, to show where the time is spent.
#include "pace.h"

#include <stdio.h>
#include <time.h>

#define LATE_SECONDS 0.5 // [s] delays up to this are not reported
#define LATE_SHARE 0.1   // [1] relative to the time since the start, likewise

// The slowest system, and its fraction of the total time.
static double find_slowest(mf_World *world, char *out, size_t size) {
    double sum = 0.0, most = 0.0;
    for (uint32_t g = 0; g < mf_world_group_count(world); g++) {
        mf_Group *group = mf_world_group(world, g);
        for (uint32_t s = 0; s < mf_group_system_count(group); s++) {
            double took = mf_group_system_seconds(group, s);
            sum += took;
            if (took <= most)
                continue;
            most = took;
            snprintf(out, size, "%.60s of %.60s", mf_group_system(group, s)->name,
                     mf_group_config_of(group)->name);
        }
    }
    for (uint32_t s = 0; s < mf_world_system_count(world); s++) {
        double took = mf_world_system_seconds(world, s);
        sum += took;
        if (took <= most)
            continue;
        most = took;
        snprintf(out, size, "%.60s", mf_world_system(world, s)->name);
    }
    return sum > 0.0 ? most / sum : 0.0;
}

static void report_late(const mf_Pace *pace, mf_World *world, const char *verb, double seconds,
                        double late) {
    char name[160] = "";
    double share = find_slowest(world, name, sizeof name);
    fprintf(stderr, "mayfly: %s: %.3g x real time instead of %.3g x after %.3g s, %.3g s late",
            verb, pace->simulated / seconds, pace->factor, seconds, late);
    if (share > 0.0)
        fprintf(stderr, "; %.0f %% of the work is %s", 100.0 * share, name);
    fputc('\n', stderr);
}

static void wait_until(double moment) {
    double left;
    while ((left = moment - mf_clock_seconds()) > 0.0 && !mf_app_stop_requested()) {
        left =
            left < 0.1 ? left : 0.1; // so that a stop is seen even if its signal came just before
        struct timespec pause = {0, (long)(1e9 * left)};
        nanosleep(&pause, NULL);
    }
}

void mf_pace_keep(mf_Pace *pace, mf_World *world, double simulated) {
    if (!(pace->factor > 0.0))
        return;
    if (!pace->started) {
        pace->started = true;
        pace->begin = mf_clock_seconds() - simulated / pace->factor;
        mf_world_measure(world, true);
    }
    double now = mf_clock_seconds(), seconds = now - pace->begin;
    double late = seconds - simulated / pace->factor;
    pace->simulated = simulated;
    pace->latest = late > pace->latest ? late : pace->latest;
    if (late > LATE_SECONDS && late > LATE_SHARE * seconds && pace->warned == 0.0) {
        pace->warned = simulated;
        report_late(pace, world, "cannot keep up", seconds, late);
    }
    if (late < 0.0)
        wait_until(pace->begin + simulated / pace->factor);
}

void mf_pace_end(const mf_Pace *pace, mf_World *world) {
    if (pace->warned > 0.0 && pace->simulated > pace->warned)
        report_late(pace, world, "did not keep up", mf_clock_seconds() - pace->begin, pace->latest);
}
