// Gaits as a control system of a group, and the answers about one gait.
#include "control/gait.h"

#include "base/hash.h"
#include "world/attach.h"

#include <string.h>

const char *mf_gait_kind_name(mf_GaitKind kind) {
    static const char *const names[] = {"walk", "waves", "keyframes"};
    return (unsigned)kind <= MF_GAIT_KEYFRAMES ? names[kind] : "unknown";
}

double mf_gait_duration(const mf_Gait *gait) {
    switch (gait->kind) {
    case MF_GAIT_WALK:
        return gait->walk.period;
    case MF_GAIT_WAVES:
        return gait->waves.period;
    case MF_GAIT_KEYFRAMES:
        break;
    }
    uint32_t count = gait->keyframes.frame_count;
    return count == 0 ? 0.0 : gait->keyframes.frames[count - 1].time;
}

mf_Status mf_gait_check(const mf_Gait *gait, const mf_Model *model, mf_Error *error) {
    mf_GaitPlan plan;
    if (gait == NULL || model == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "gait: gait or model is NULL");
    mf_Status status = mf_gait_plan(model->context, gait, model, &plan, NULL, error);
    if (status == MF_OK)
        mf_gait_plan_release(model->context, &plan);
    return status;
}
