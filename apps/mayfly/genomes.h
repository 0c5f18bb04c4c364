// Genomes of a scene for evolution that is run as it is: random ones, which depend on the scene's
// seed and the robot's index; for machines their ancestor.
#ifndef MAYFLY_APP_GENOMES_H
#define MAYFLY_APP_GENOMES_H

#include "app.h"

// MF_UNSUPPORTED for machines without an ancestor: random bytes are none.
mf_Status mf_genomes_check(const mf_SceneFile *file, mf_Error *error);
mf_Status mf_genomes_give(mf_Context *context, mf_Scene *scene, mf_Error *error);

#endif
