// Controllers reject robots whose joints would not track their targets.
#include "control/follow.h"
#include "motion/table.h"

mf_Status mf_control_follows(const mf_Group *group, const char *what, mf_Error *error) {
    mf_Error reason = {0};
    const uint32_t count = mf_group_model(group)->joint_count;
    for (uint32_t j = 0; j < count; j++) {
        mf_Error other = {0};
        if (mf_motion_follows(group, j, &other) == MF_OK)
            return MF_OK;
        reason = j == 0 ? other : reason;
    }
    if (count == 0)
        return MF_OK;
    return mf_fail(error, MF_UNSUPPORTED, "%s: no joint of %s follows joint.target; %s", what,
                   mf_group_model(group)->name, reason.message);
}
