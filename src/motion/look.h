// What the robots of a motion look like, as cameras, films and recordings read it.
#pragma once

#include <mayfly/world.h>

typedef enum mf_VisualKind {
    MF_VISUAL_PARTS,    // rigid parts on links
    MF_VISUAL_POINTS,   // each instance a ball
    MF_VISUAL_BARS,     // between vertices
    MF_VISUAL_TRIANGLES // between vertices
} mf_VisualKind;

// Triangles of an instance, whose vertices are in vertex.position.
typedef struct mf_Surface {
    uint32_t counts[2]; // [1] vertices of a rectangle along both axes; 0: any triangles
    uint32_t vertex_count, triangle_count; // [1]
    const uint32_t (*triangles)[3];        // vertices of each; the memory is the group's
    bool (*torn)(const mf_Group *group, uint32_t instance, uint32_t triangle); // it is not there
} mf_Surface;

// Triangles of a rectangle of vertices, two in each cell. Vertex (i, j) has the number
// j counts[0] + i. Neighboring cells are divided along different diagonals, so that no direction is
// preferred.
static inline uint32_t mf_rectangle_triangles(const uint32_t counts[2]) {
    return 2 * (counts[0] - 1) * (counts[1] - 1);
}
static inline void mf_rectangle_triangle(const uint32_t counts[2], uint32_t triangle,
                                         uint32_t vertices[3]) {
    static const uint32_t parts[2][2][3] = {{{0, 1, 2}, {0, 2, 3}}, {{0, 1, 3}, {1, 2, 3}}};
    const uint32_t cell = triangle / 2, width = counts[0];
    const uint32_t i = cell % (width - 1), j = cell / (width - 1);
    const uint32_t corner[4] = {j * width + i, j * width + i + 1, (j + 1) * width + i + 1,
                                (j + 1) * width + i};
    for (int k = 0; k < 3; k++)
        vertices[k] = corner[parts[(i + j) % 2][triangle % 2][k]];
}

typedef struct mf_MotionLook {
    mf_VisualKind kind;
    float color[3];                                          // [1] of all but parts
    const char *counts;                                      // of bars, as mf_motion_counts
    void (*surface)(const mf_Group *group, mf_Surface *out); // of triangles
} mf_MotionLook;
