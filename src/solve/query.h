// Common data of the queries of a world (mayfly/query.h): data of its models, and the current poses
// of the links of an instance.
#pragma once

#include "contact/compound.h"
#include "contact/gap.h"

#include <mayfly/query.h>

// Memory for the parts of one instance.
typedef struct mf_QueryPose {
    double (*position)[3]; // [m] per link, world; the others are in its block
    double (*rotation)[4]; // [1] per link, to the world
    mf_GapSolid *solids;   // per solid of the compound
    double *values;        // MF_COLLIDE_SHAPE_VALUES of each, of robots with numbers of their own
} mf_QueryPose;

typedef struct mf_QueryGroup {
    mf_Group *group;
    const mf_Model *model;
    mf_Compound *compound;
    const mf_Field *position, *fault;
    double reach;         // [m] radius around the base's origin that contains all shapes for rays;
                          // INFINITY: unknown; < 0: no shapes
    mf_QueryPose pose[2]; // of two instances at once
} mf_QueryGroup;

typedef struct mf_Query {
    mf_Context *context;
    mf_World *world;
    uint32_t count, capacity; // [1] groups known; that there is memory for
    mf_QueryGroup *groups;    // by number
} mf_Query;

// The world's query data, created or completed if necessary. MF_LIMIT, MF_NO_MEMORY.
mf_Status mf_query_of(mf_World *world, mf_Query **out, mf_Error *error);

// The index of a group of the world, or MF_NONE.
uint32_t mf_query_number(const mf_Query *query, const mf_Group *group);

// Whether an instance has no fault and a finite position, which is written to `base` [m] unless
// NULL.
bool mf_query_present(const mf_QueryGroup *group, uint32_t instance, double base[3]);

// Computes the link poses of an instance; and its solids.
void mf_query_links(mf_QueryGroup *group, uint32_t instance, mf_QueryPose *pose);
void mf_query_solids(mf_QueryGroup *group, uint32_t instance, mf_QueryPose *pose);
