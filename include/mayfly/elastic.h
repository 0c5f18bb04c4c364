// Mayfly: trusses with inertia. Point masses at the vertices, elastic bars between them, implicit
// steps of second order (docs/explanation/quasistatic.md). One level above `quasistatic`, whose
// settings, fields, contacts and friction it has; velocities are in the field vertex.velocity.
#pragma once

#include <mayfly/quasistatic.h>

// Without effect here: `jump`. The default of `strengthening` is 0.
typedef mf_QuasistaticConfig mf_ElasticConfig;
