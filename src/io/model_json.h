// A model as JSON.
#ifndef MAYFLY_IO_MODEL_JSON_H
#define MAYFLY_IO_MODEL_JSON_H

#include <mayfly/motion.h>

// One object on one line, to be freed with free(); NULL: out of memory.
char *mf_model_json(const mf_Model *model, mf_Motion motion);

#endif
