// One step of the `rigid` and `prescribed` motions for a few lanes: joints along their paths, and a
// base that answers to contacts and gravity; for `prescribed` also to the motions of the joints.
// docs/explanation/rigid.md has the equations.
#include "motion/driven/advance.h"

size_t MF_KERNEL(mf_driven_scratch_size)(const mf_DrivenPlan *plan) {
    return driven_size(plan);
}

void MF_KERNEL(mf_driven_step)(const mf_DrivenBlock *block) {
    driven_step(block);
}
