// Names of the motions.
#include <mayfly/motion.h>

#include <string.h>

const char *mf_motion_name(mf_Motion motion) {
    static const char *const names[] = {"kinematic", "points", "rigid", "prescribed",
                                        "articulated"};
    return (unsigned)motion < MF_MOTION_COUNT ? names[motion] : "unknown";
}

bool mf_motion_find(const char *name, mf_Motion *out) {
    for (int i = 0; i < MF_MOTION_COUNT; i++)
        if (strcmp(name, mf_motion_name((mf_Motion)i)) == 0) {
            *out = (mf_Motion)i;
            return true;
        }
    return false;
}
