// The rig of the tests: what they all stand on, linked into each as one library. It brings cmocka,
// the standard headers that cmocka wants and that tests use, and the whole interface of Mayfly.
#pragma once

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <mayfly/mayfly.h>

#include "base/inject.h"
#include "rig/check.h"
#include "rig/context.h"
#include "rig/file.h"
#include "rig/isolation.h"
#include "rig/made.h"
#include "rig/motions.h"
#include "rig/own.h"
#include "rig/refusal.h"
#include "rig/run.h"
#include "rig/sanitized.h"
#include "rig/text_model.h"
#include "rig/torture.h"
#include "rig/vector.h"
#include "rig/with.h"
#include "rig/world.h"
