// Trusses, for those who step them.
#pragma once

#include <mayfly/truss.h>

// NULL: it is none of mf_truss_material_find.
const char *mf_truss_material_name(const mf_TrussMaterial *material);

// An order of the vertices in which both ends of a bar are close: order[v] is the place of vertex v
// (reverse Cuthill-McKee, 1969; of equals the lower number first, so it depends on the bars alone).
// Returns the largest distance of two vertices of a bar in it. `scratch` has 3 V + B values.
uint32_t mf_truss_order(const mf_Truss *truss, uint32_t *order, uint32_t *scratch);

// [m] height of the lowest point of vertices and bars in the frame of the file.
double mf_truss_lowest(const mf_Truss *truss);

// [m] without force.
double mf_truss_rest_length(const mf_Truss *truss, uint32_t bar);

// Period of the network [s] and most that an actuator changes in it [m], defaults filled in.
double mf_truss_cycle(const mf_Truss *truss);
double mf_truss_change(const mf_Truss *truss);
