// Whether a step is too long for a robot at its start.
#ifndef MAYFLY_SRC_EVALUATE_STEP_CHECK_H
#define MAYFLY_SRC_EVALUATE_STEP_CHECK_H

#include <mayfly/world.h>

enum { MF_STEP_TEXT = 320 };

// One line into `text` for each index from 0 on: the spring or servo that is unstable at the
// world's step, the motor that the step does not resolve, constraints softened because of it. False
// after the last. Only for groups under `articulated`.
bool mf_step_note(mf_Group *group, uint32_t index, char *text);

#endif
