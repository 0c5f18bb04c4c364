// One step of the `rigid` motion for a few lanes: one rigid body with the mass, centre and inertia
// of the present joint angles. docs/explanation/rigid.md has the equations.
#include "motion/rigid/step.h"
#include "motion/driven/advance.h"

void MF_KERNEL(mf_rigid_step)(const mf_DrivenBlock *block) {
    driven_step(block, false);
}
