// One step of the `prescribed` motion for a few lanes: the base answers to contacts, gravity and
// the motions of the joints. docs/explanation/prescribed.md has the equations.
#include "motion/prescribed/step.h"
#include "motion/driven/advance.h"

void MF_KERNEL(mf_prescribed_step)(const mf_DrivenBlock *block) {
    driven_step(block, true);
}
