// Solids, and pairs of solids with contacts computed by hand.
#pragma once

#include "contact/narrow_fixture.h"

// A wedge without symmetry, a flat roof and a regular octahedron.
static const float wedge[] = {-0.1f,  -0.1f, -0.05f, 0.12f, -0.08f, -0.06f, 0.0f, 0.15f,
                              -0.05f, 0.02f, 0.01f,  0.12f, -0.06f, 0.05f,  0.08f};
static const float roof[] = {-0.1f, -0.1f, 0, 0.1f, -0.1f, 0,     0.1f, 0.1f, 0,
                             -0.1f, 0.1f,  0, 0,    -0.1f, 0.06f, 0,    0.1f, 0.06f};
static const float octahedron[] = {0.1f, 0,     0, -0.1f, 0, 0,    0, 0.1f, 0,
                                   0,    -0.1f, 0, 0,     0, 0.1f, 0, 0,    -0.1f};
static const float cube[] = {-0.5f, -0.5f, -0.5f, 0.5f,  -0.5f, -0.5f, -0.5f, 0.5f,
                             -0.5f, 0.5f,  0.5f,  -0.5f, -0.5f, -0.5f, 0.5f,  0.5f,
                             -0.5f, 0.5f,  -0.5f, 0.5f,  0.5f,  0.5f,  0.5f,  0.5f};
static const uint32_t cube_triangles[] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 4, 6, 0, 6, 2,
                                          1, 3, 7, 1, 7, 5, 0, 1, 5, 0, 5, 4, 2, 6, 7, 2, 7, 3};

typedef struct Case {
    const char *name;
    Form a, b;            // in the order of the plan's kinds
    double rotation_a[4]; // any length
    double place_b[3];    // a is at the origin
    double rotation_b[4];
    uint32_t count;
    double depth; // of the deepest contact
    double normal[3];
    double point[3]; // NAN: not looked at
} Case;

// clang-format off
#define SPHERE(radius) {.type = MF_SHAPE_SPHERE, .size = {radius, 0, 0}}
#define CAPSULE(radius, length) {.type = MF_SHAPE_CAPSULE, .size = {radius, length, 0}}
#define CYLINDER(radius, length) {.type = MF_SHAPE_CYLINDER, .size = {radius, length, 0}}
#define ELLIPSOID(x, y, z) {.type = MF_SHAPE_ELLIPSOID, .size = {x, y, z}}
#define BOX(x, y, z) {.type = MF_SHAPE_BOX, .size = {x, y, z}}
#define HULL(points, count) {.type = MF_SHAPE_MESH, .vertices = points, .vertex_count = count}
#define PLANE {.type = MF_SHAPE_PLANE}
#define CUBE {.type = MF_SHAPE_MESH, .vertices = cube, .vertex_count = 8, \
              .triangles = cube_triangles, .triangle_count = 12}

#define FREE {NAN, NAN, NAN}
#define SAME {1, 0, 0, 0}

// Numbers by hand: sqrt 2 / 2 = 0.70710678118654752, sqrt 3 = 1.7320508075688773, cosine and sine
// of 22.5 degrees = 0.92387953251128674 and 0.38268343236508977.
static const Case cases[] = {
    {"spheres", SPHERE(1), SPHERE(0.5), SAME, {0.84, 1.12, 0}, SAME, 1, 0.1, {0.6, 0.8, 0},
     {0.57, 0.76, 0}},
    {"spheres in one position", SPHERE(1), SPHERE(0.5), SAME, {0, 0, 0}, SAME, 1, 1.5, {1, 0, 0},
     {0.25, 0, 0}},
    {"sphere beside a capsule", SPHERE(0.5), CAPSULE(0.25, 2), SAME, {0.7, 0, 0.9}, SAME, 1, 0.05,
     {1, 0, 0}, {0.475, 0, 0}},
    {"sphere below a capsule's end", SPHERE(0.5), CAPSULE(0.25, 2), SAME, {0, 0, 1.7}, SAME, 1,
     0.05, {0, 0, 1}, {0, 0, 0.475}},
    {"sphere on a box", SPHERE(0.5), BOX(2, 2, 2), SAME, {0.5, 0.25, -1.4}, SAME, 1, 0.1,
     {0, 0, -1}, {0, 0, -0.45}},
    // Corner (1, 1, 1) of the box seen from a sphere 0.3 (1, 1, 1) beyond: distance 0.3 sqrt 3.
    {"sphere at a corner", SPHERE(0.6), BOX(2, 2, 2), SAME, {-1.3, -1.3, -1.3}, SAME, 1,
     0.6 - 0.3 * 1.7320508075688773,
     {-0.57735026918962576, -0.57735026918962576, -0.57735026918962576}, FREE},
    {"sphere within a box", SPHERE(0.5), BOX(4, 4, 4), SAME, {1.5, 0.5, 0}, SAME, 1, 1.0,
     {1, 0, 0}, {0, 0, 0}},
    {"sphere on a cylinder's end", SPHERE(0.5), CYLINDER(1, 2), SAME, {0.5, 0, -1.4}, SAME, 1, 0.1,
     {0, 0, -1}, {0, 0, -0.45}},
    {"sphere at a cylinder's side", SPHERE(0.5), CYLINDER(1, 2), SAME, {0.84, 1.12, 0.3}, SAME, 1,
     0.1, {0.6, 0.8, 0}, {0.27, 0.36, 0}},
    // 0.3 out and 0.4 up from the rim: distance 0.5.
    {"sphere at a cylinder's rim", SPHERE(0.6), CYLINDER(1, 2), SAME, {-1.3, 0, -1.4}, SAME, 1,
     0.1, {-0.6, 0, -0.8}, {-0.33, 0, -0.44}},
    {"crossed capsules", CAPSULE(0.25, 2), CAPSULE(0.5, 2), {1, 1, 0, 0}, {0.7, 0.3, 0.2}, SAME, 1,
     0.05, {1, 0, 0}, {0.225, 0.3, 0}},
    {"capsules side by side", CAPSULE(0.25, 2), CAPSULE(0.5, 2), SAME, {0.7, 0, 0.5}, SAME, 2,
     0.05, {1, 0, 0}, FREE},
    {"capsules end to end", CAPSULE(0.25, 2), CAPSULE(0.5, 2), SAME, {0, 0, 2.7}, SAME, 1, 0.05,
     {0, 0, 1}, {0, 0, 1.225}},
    {"capsule on a box", CAPSULE(0.25, 1), BOX(4, 4, 2), {1, 1, 0, 0}, {0, 0, -1.2}, SAME, 2, 0.05,
     {0, 0, -1}, FREE},
    {"capsule standing on a box", CAPSULE(0.25, 1), BOX(4, 4, 2), SAME, {0, 0, -1.7}, SAME, 1,
     0.05, {0, 0, -1}, {0, 0, -0.725}},
    // Core along y across the edge x = z = 1 of the box, 0.1 (1, 0, 1) beyond it.
    {"capsule at an edge", CAPSULE(0.25, 1), BOX(2, 2, 2), {1, 1, 0, 0}, {-1.1, 0, -1.1}, SAME, 2,
     0.25 - 0.14142135623730951, {-0.70710678118654752, 0, -0.70710678118654752}, FREE},
    {"capsule's core within a box", CAPSULE(0.25, 1), BOX(4, 4, 2), {1, 1, 0, 0}, {0, 0, -0.9},
     SAME, 2, 0.35, {0, 0, -1}, FREE},
    {"box on a box", BOX(2, 2, 2), BOX(1, 1, 1), SAME, {0.25, 0, 1.4}, SAME, 4, 0.1, {0, 0, 1},
     FREE},
    // Turned by 45 degrees: the overlap of the square |x|, |y| <= 1 with |x| + |y| <= sqrt 2 has
    // eight corners.
    {"box on a box, turned", BOX(2, 2, 2), BOX(2, 2, 2), SAME, {0, 0, 1.9},
     {0.92387953251128674, 0, 0, 0.38268343236508977}, 8, 0.1, {0, 0, 1}, FREE},
    // Edge along y of the lower box (turned about y) under an edge along x of the upper one.
    {"crossed edges", BOX(1, 1, 1), BOX(1, 1, 1), {0.92387953251128674, 0, 0.38268343236508977, 0},
     {0, 0, 1.4}, {0.92387953251128674, 0.38268343236508977, 0, 0}, 1, 1.4142135623730951 - 1.4,
     {0, 0, 1}, {0, 0, 0.7}},
    {"coincident boxes", BOX(2, 4, 6), BOX(2, 4, 6), SAME, {0, 0, 0}, SAME, 4, 2.0, {1, 0, 0},
     FREE},
    {"sphere on an ellipsoid", SPHERE(0.5), ELLIPSOID(1, 2, 3), SAME, {0, 0, 3.4}, SAME, 1, 0.1,
     {0, 0, 1}, {0, 0, 0.45}},
    {"ellipsoids", ELLIPSOID(1, 2, 3), ELLIPSOID(3, 1, 2), SAME, {3.9, 0, 0}, SAME, 1, 0.1,
     {1, 0, 0}, {0.95, 0, 0}},
    {"cylinder on a cylinder's end", CYLINDER(1, 2), CYLINDER(0.5, 2), SAME, {0, 0, 1.9}, SAME, 4,
     0.1, {0, 0, 1}, FREE},
    {"cylinders side by side", CYLINDER(1, 2), CYLINDER(0.5, 2), SAME, {1.4, 0, 0.5}, SAME, 2, 0.1,
     {1, 0, 0}, FREE},
    {"crossed cylinders", CYLINDER(1, 4), CYLINDER(0.5, 4), SAME, {1.4, 0, 0.25}, {1, 1, 0, 0}, 1,
     0.1, {1, 0, 0}, {0.95, 0, 0.25}},
    {"cylinder on a box", CYLINDER(0.5, 1), BOX(4, 4, 2), SAME, {0, 0, -1.45}, SAME, 4, 0.05,
     {0, 0, -1}, FREE},
    {"cylinder lying on a box", CYLINDER(0.5, 1), BOX(4, 4, 2), {1, 1, 0, 0}, {0, 0, -1.45}, SAME,
     2, 0.05, {0, 0, -1}, FREE},
    {"capsule on a cylinder's side", CAPSULE(0.25, 1), CYLINDER(0.5, 4), SAME, {0.7, 0, 0}, SAME,
     2, 0.05, {1, 0, 0}, FREE},
    {"box on a hull", BOX(2, 2, 2), HULL(cube, 8), SAME, {0.25, 0, 1.4}, SAME, 4, 0.1, {0, 0, 1},
     FREE},
    {"sphere on a hull", SPHERE(0.5), HULL(cube, 8), SAME, {0.25, 0.125, -0.95}, SAME, 1, 0.05,
     {0, 0, -1}, {0, 0, -0.475}},
    {"sphere within a hull", SPHERE(0.25), HULL(cube, 8), SAME, {0.375, 0.125, 0}, SAME, 1, 0.375,
     {1, 0, 0}, {0.0625, 0, 0}},
    {"hulls", HULL(cube, 8), HULL(cube, 8), SAME, {0.25, 0.125, 0.96}, SAME, 4, 0.04, {0, 0, 1},
     FREE},
    {"plane and sphere", PLANE, SPHERE(0.5), SAME, {3, 4, 0.4}, SAME, 1, 0.1, {0, 0, 1},
     {3, 4, -0.05}},
    {"plane and lying capsule", PLANE, CAPSULE(0.5, 2), SAME, {3, 4, 0.4}, {1, 1, 0, 0}, 2, 0.1,
     {0, 0, 1}, FREE},
    {"plane and box", PLANE, BOX(1, 2, 3), SAME, {3, 4, 1.4}, SAME, 4, 0.1, {0, 0, 1}, FREE},
    {"plane and box on a corner's edge", PLANE, BOX(1, 1, 1), SAME, {0, 0, 0.7},
     {0.92387953251128674, 0.38268343236508977, 0, 0}, 2, 0.0071067811865475, {0, 0, 1}, FREE},
    {"plane and cylinder", PLANE, CYLINDER(0.5, 2), SAME, {0, 0, 0.9}, SAME, 3, 0.1, {0, 0, 1},
     FREE},
    {"plane and lying cylinder", PLANE, CYLINDER(0.5, 2), SAME, {0, 0, 0.4}, {1, 1, 0, 0}, 2, 0.1,
     {0, 0, 1}, FREE},
    {"plane and ellipsoid", PLANE, ELLIPSOID(1, 2, 3), SAME, {1, 1, 1.9}, {1, 1, 0, 0}, 1, 0.1,
     {0, 0, 1}, {1, 1, -0.05}},
    // Hulls of this stage have no triangles, so no faces: test_ground.c has some with.
    {"plane and hull", PLANE, HULL(cube, 8), SAME, {3, 4, 0.4}, SAME, 1, 0.1, {0, 0, 1}, FREE},
    {"turned plane", PLANE, SPHERE(0.5), {1, 0, 1, 0}, {0.4, 3, 4}, SAME, 1, 0.1, {1, 0, 0},
     {-0.05, 3, 4}},
};
// clang-format on
