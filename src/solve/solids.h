// The solids of robots as surfaces and particles touch them, and the pushes that robots get from
// there: one list for a step of the world, in the order of groups, instances and solids, so that
// results depend on the state only.
#pragma once

#include "contact/compound.h"
#include "contact/solid.h"
#include "solve/link_motion.h"

typedef struct mf_SolidOwner { // a group whose links are touched
    mf_Group *group;
    uint32_t number; // [1] of the world's groups
    mf_Compound *compound;
    mf_LinkMotions motions;
    double *values; // per block: how its links move
    size_t stride;  // [1] of them
    const mf_Field *position, *fault;
    mf_Field *wrench, *count;          // NULL: it is not pushed
    uint32_t *first_face, *face_count; // [1] of each hull
} mf_SolidOwner;

typedef struct mf_SolidLink {
    uint32_t owner, instance, link;
} mf_SolidLink;

typedef struct mf_Solids {
    mf_Context *context;
    mf_SolidOwner *owners;
    uint32_t owner_count;
    mf_Solid *solids;
    mf_SolidLink *links;      // of each solid
    uint32_t count, capacity; // [1] solids
    mf_SolidFace *faces;
    bool clears; // no collisions clear the wrenches of the last step
} mf_Solids;

// Shared groups that are neither surfaces nor particles. `every`: also those without solids, whose
// links are asked for. `who` begins messages. MF_NO_MEMORY, and what the models' shapes fail by.
// Released in any case.
mf_Status mf_solids_create(mf_Solids *out, mf_World *world, bool every, const char *who,
                           mf_Error *error);
void mf_solids_release(mf_Solids *all);

// Lists the solids as they are, with boxes that reach `reach` [m] around them for a step [s].
// Robots whose position is lost have none; those with a fault stand still.
void mf_solids_find(mf_Solids *all, double reach, double step);

// How a link moves, as of the last find.
mf_LinkMotion mf_solids_motion(const mf_Solids *all, mf_SolidLink link);

// Ends the pushes of the last step, where nobody else does.
void mf_solids_clear(const mf_Solids *all);

// Adds a wrench [N], [N m] about the robot's base.position to those of a link.
void mf_solids_push(const mf_Solids *all, mf_SolidLink link, const double wrench[6]);
