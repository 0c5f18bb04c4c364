// Mayfly: trusses with inertia. Point masses at the vertices, elastic bars between them, implicit
// steps of second order (docs/explanation/elastic.md). One level above `quasistatic`, whose
// settings, fields, contacts and friction it has; velocities are in the field vertex.velocity.
#ifndef MAYFLY_ELASTIC_H
#define MAYFLY_ELASTIC_H

#include <mayfly/quasistatic.h>

#ifdef __cplusplus
extern "C" {
#endif

// Without effect here: `jump`. The default of `strengthening` is 0.
typedef mf_QuasistaticConfig mf_ElasticConfig;
// The defaults of mf_ElasticConfig: every configuration starts from them.
MF_API mf_ElasticConfig mf_elastic_config(void);

// Adds the motion to a group, as mf_quasistatic_add; mf_quasistatic_set gives an instance another
// truss.
MF_API mf_Status mf_elastic_add(mf_Group *group, const mf_ElasticConfig *config, mf_Error *error);

#ifdef __cplusplus
}
#endif
#endif
