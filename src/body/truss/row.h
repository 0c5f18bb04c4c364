// Parts of the row of trusses (body/kind.h) that have files of their own.
#pragma once

#include "body/kind.h"

#include "body/compare.h"

// As the members of mf_BodyKind of these names: brain.c, compare.c, page.c.
mf_Status mf_truss_control(const mf_SceneGroup *from, mf_Group *group, mf_Error *error);
mf_Status mf_truss_drive(const mf_SceneGroup *from, char name[96], mf_Group *group,
                         mf_Error *error);
double mf_truss_sample(mf_Group *group, double (*vertices)[3], double since,
                       mf_CompareSample *sample);
mf_Status mf_truss_describe(mf_Context *context, const void *body, const char *path, mf_Text *text,
                            struct json_t **object, mf_Error *error);

// mf_neurons_add with the neurons, synapses and actuators of the truss as the brain of every
// instance, and with its times where `config` has none.
mf_Status mf_neurons_add_truss(mf_Group *group, const mf_Truss *truss,
                               const mf_NeuronsConfig *config, mf_Error *error);
