// One solid of every kind for the questions to a world, and poses and directions at random.
#pragma once

#include "solve/pitch.h"

enum { SPHERE, BOX, CAPSULE, CYLINDER, ELLIPSOID, MESH, KINDS };

typedef struct Kind {
    const char *name, *geom;
    double size[3]; // [m] half
} Kind;

// The mesh is the tetrahedron x, y, z >= 0, x + y + z <= 0.5.
static const Kind kinds[KINDS] = {
    {"sphere", "type='sphere' size='0.3'", {0.3, 0, 0}},
    {"box", "type='box' size='0.1 0.2 0.3'", {0.1, 0.2, 0.3}},
    {"capsule", "type='capsule' size='0.1 0.25'", {0.1, 0.25, 0}},
    {"cylinder", "type='cylinder' size='0.2 0.15'", {0.2, 0.15, 0}},
    {"ellipsoid", "type='ellipsoid' size='0.1 0.2 0.4'", {0.1, 0.2, 0.4}},
    {"mesh", "type='mesh' mesh='m'", {0, 0, 0}},
};

static inline mf_Group *add_kind(Pitch *pitch, int kind, const char *name, uint32_t count) {
    const char *text = formatted(
        "<mujoco model='%s'><asset><mesh name='m' vertex='0 0 0  0.5 0 0  0 0.5 0  0 0 0.5'/>"
        "</asset><worldbody><body><freejoint/><geom %s mass='1'/></body></worldbody></mujoco>",
        kinds[kind].name, kinds[kind].geom);
    return pitch_group(pitch, load_text(pitch->context, text), name, count, true);
}

// A vector of length 1 from numbers `number` on.
static inline void random_direction(uint32_t stream, uint32_t number, uint32_t size, double *out) {
    double square = 0.0;
    for (uint32_t c = 0; c < size; c++) {
        out[c] = 2.0 * unit(stream, number + c) - 1.0;
        square += out[c] * out[c];
    }
    for (uint32_t c = 0; c < size; c++)
        out[c] /= sqrt(square);
}

// Turned at random; along each axis at most `size` [m] from the origin.
static inline void random_pose(mf_Group *group, uint32_t instance, uint32_t stream, uint32_t number,
                               double size) {
    double rotation[4];
    random_direction(stream, 10 * number, 4, rotation);
    set_fields(group, "base.orientation", instance, 4, rotation);
    for (uint32_t c = 0; c < 3; c++)
        set_field(group, "base.position", instance, c,
                  size * (2.0 * unit(stream, 10 * number + 4 + c) - 1.0));
}
