#include "tears.h"
#include "motion/table.h"

#include <stdio.h>

// False: nothing in the group can tear.
static bool count_tears(const mf_Group *group, uint64_t *torn, uint64_t *of, const char **what) {
    const mf_MotionRow *row = mf_motion_first(group);
    return row != NULL && row->torn != NULL && row->torn(group, torn, of, what);
}

void mf_tears_print(const mf_Group *group, const char *name) {
    uint64_t torn, of;
    const char *what;
    if (count_tears(group, &torn, &of, &what))
        printf("torn      %s%s%llu of %llu %s\n", name == NULL ? "" : name,
               name == NULL ? "" : ": ", (unsigned long long)torn, (unsigned long long)of, what);
}

json_t *mf_tears_pack(const mf_Group *group) {
    uint64_t torn, of;
    const char *what;
    return count_tears(group, &torn, &of, &what) ? json_integer((json_int_t)torn) : json_null();
}
