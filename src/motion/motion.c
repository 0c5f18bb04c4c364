// Names of the motions.
#include <mayfly/motion.h>

#include <string.h>

static const char *const names[] = {"kinematic", "points", "rigid", "prescribed", "articulated"};
static const char *const own_names[] = {"own",   "own2",  "own3",  "own4",  "own5",  "own6",
                                        "own7",  "own8",  "own9",  "own10", "own11", "own12",
                                        "own13", "own14", "own15", "own16"};
enum { OWN_COUNT = MF_MOTION_OWN_LAST - MF_MOTION_OWN + 1 };
_Static_assert(sizeof names / sizeof *names == MF_MOTION_COUNT, "a name for each motion");
_Static_assert(sizeof own_names / sizeof *own_names == OWN_COUNT, "a name for each own motion");

const char *mf_motion_name(mf_Motion motion) {
    unsigned number = (unsigned)motion;
    if (number < MF_MOTION_COUNT)
        return names[number];
    if (number >= MF_MOTION_OWN && number <= MF_MOTION_OWN_LAST)
        return own_names[number - MF_MOTION_OWN];
    return "unknown";
}

bool mf_motion_find(const char *name, mf_Motion *out) {
    for (int i = 0; i <= MF_MOTION_OWN_LAST; i++)
        if ((i < MF_MOTION_COUNT || i >= MF_MOTION_OWN) &&
            strcmp(name, mf_motion_name((mf_Motion)i)) == 0) {
            *out = (mf_Motion)i;
            return true;
        }
    return false;
}
