// Which shapes of a model a plan of collisions has.
#ifndef MF_CONTACT_COLLIDE_SHAPES_H
#define MF_CONTACT_COLLIDE_SHAPES_H

#include <mayfly/model.h>

bool mf_collide_takes_part(const mf_Model *model, const mf_Shape *shape);

#endif
