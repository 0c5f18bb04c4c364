#include "rig/rig.h"

#include <dirent.h>

enum { TORTURE_LIMIT = 100000 }; // [1] fallible calls in one scenario

int torture_open_files(void) {
    DIR *entries = opendir("/proc/self/fd");
    if (entries == NULL)
        return -1;
    int count = -1; // without its own
    while (readdir(entries) != NULL)
        count++;
    closedir(entries);
    return count;
}

uint64_t torture(mf_Context *context, TortureScenario scenario, void *user, TortureRule rule) {
    size_t live = mf_context_live_bytes(context);
    int open_files = torture_open_files();
    for (uint64_t n = 1; n < TORTURE_LIMIT; n += n < 500 ? 1 : n / 100) {
        mf_Error error;
        memset(&error, 0, sizeof error);
        uint64_t before = mf_context_call_count(context);
        mf_context_fail_after(context, n);
        mf_Status status = scenario(context, user, &error);
        mf_context_fail_after(context, 0);
        bool failed_one = mf_context_call_count(context) - before >= n;
        size_t now = mf_context_live_bytes(context);
        int open_now = torture_open_files();
        bool reported = status == MF_OK || (error.status == status && error.message[0] != '\0' &&
                                            strchr(error.message, '\n') == NULL);
        bool expected =
            failed_one ? status != MF_OK || rule == TORTURE_MAY_RECOVER : status == MF_OK;
        if (now != live || open_now != open_files || !reported || !expected) {
            fprintf(stderr,
                    "torture: failing call %" PRIu64 " gave \"%s\", message \"%s\"; live bytes %zu "
                    "before, %zu after; open files %d before, %d after\n",
                    n, mf_status_name(status), error.message, live, now, open_files, open_now);
            fail_msg("torture: a failing call was not handled");
        }
        if (!failed_one)
            return mf_context_call_count(context) - before;
    }
    fail_msg("torture: the scenario does not come to an end");
    return 0;
}
