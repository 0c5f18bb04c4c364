// Which shapes of a model a plan of collisions has.
#pragma once

#include <mayfly/model.h>

bool mf_collide_takes_part(const mf_Model *model, const mf_Shape *shape);
