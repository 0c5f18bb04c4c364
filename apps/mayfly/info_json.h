// A model as JSON.
#ifndef MAYFLY_APP_INFO_JSON_H
#define MAYFLY_APP_INFO_JSON_H

#include <mayfly/motion.h>

#include <stdio.h>

// One object on one line; false when it cannot be written.
bool mf_info_json(const mf_Model *model, mf_Motion motion, FILE *file);

#endif
