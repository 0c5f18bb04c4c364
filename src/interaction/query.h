// Common data of the queries of a world (mayfly/query.h): data of its models, and the present poses
// of the links of an instance.
#ifndef MF_INTERACTION_QUERY_H
#define MF_INTERACTION_QUERY_H

#include "contact/compound.h"
#include "contact/gap.h"

#include <mayfly/query.h>

// Room for the parts of one instance.
typedef struct mf_QueryPose {
    double (*position)[3]; // [m] per link, world
    double (*rotation)[4]; // [1] per link, to the world
    mf_GapSolid *solids;   // per solid of the compound
} mf_QueryPose;

typedef struct mf_QueryGroup {
    mf_Group *group;
    const mf_Model *model;
    mf_Compound *compound;
    const mf_Field *position, *fault;
    double reach;         // [m] what a ray can hit of an instance is never farther from its base's
                          // origin; INFINITY: unknown; < 0: there is nothing
    mf_QueryPose pose[2]; // of two instances at once
} mf_QueryGroup;

typedef struct mf_Query {
    mf_Context *context;
    uint32_t count; // [1] groups known
    mf_QueryGroup groups[64];
} mf_Query;

// What the world keeps, made or completed where it is not. MF_LIMIT, MF_NO_MEMORY.
mf_Status mf_query_of(mf_World *world, mf_Query **out, mf_Error *error);

// The number of a group of the world; MF_NONE: it is not there.
uint32_t mf_query_number(const mf_Query *query, const mf_Group *group);

// Whether an instance is without a fault and at a position that is a number, which goes to `base`
// [m], unless NULL.
bool mf_query_present(const mf_QueryGroup *group, uint32_t instance, double base[3]);

// Finds where the links of an instance are; and its solids.
void mf_query_links(mf_QueryGroup *group, uint32_t instance, mf_QueryPose *pose);
void mf_query_solids(mf_QueryGroup *group, uint32_t instance, mf_QueryPose *pose);

#endif
