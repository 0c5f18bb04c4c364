// The keys of cloths' files. Relations between them are checked by mf_cloth_check().
#include "body/cloth/keys.h"

#define CLOTH(member) offsetof(mf_ClothEntry, member)
#define MATERIAL(name, flags, unit, fallback, lower, upper, text)                                  \
    MF_KEY(#name, MF_KEY_REAL, flags, unit, fallback, lower, upper, NULL, CLOTH(material.name),    \
           text)

static const char *const planes[] = {"xy", "xz", "yz", NULL};

// A rectangle has no triangles, and the other way round.
static bool applies(const void *base, const mf_Key *key) {
    const mf_ClothEntry *entry = base;
    const bool rectangle =
        key->offset == CLOTH(size) || key->offset == CLOTH(counts) || key->offset == CLOTH(plane);
    const bool triangles = key->offset == CLOTH(vertices) || key->offset == CLOTH(triangles) ||
                           key->offset == CLOTH(warp);
    return entry->counts[0] > 0.0 ? !triangles : !rectangle;
}

// clang-format off
static const mf_Key keys[] = {
    MF_KEY("name", MF_KEY_TEXT, 0, "", "", 0, 0, NULL, CLOTH(name), "empty: the name of the file"),
    MATERIAL(density, MF_KEY_ABOVE, "kg/m^2", "0.15", 0, 1e6, "mass per area"),
    MATERIAL(stretch, MF_KEY_ABOVE, "N/m", "1000", 0, 1e12,
             "force per width and strain, along both directions of threads"),
    MATERIAL(shear, 0, "N/m", "50", 0, 1e12,
             "force per width and angle between both directions"),
    MATERIAL(bending, 0, "N m", "1e-05", 0, 1e9, "moment per width and curvature"),
    MATERIAL(damping, 0, "s", "0", 0, 1e3, "of all these: force per rate, over their stiffness"),
    MATERIAL(strength, 0, "N/m", "0", 0, 1e12, "force per width at which it tears; 0: it does not"),
    MATERIAL(thickness, MF_KEY_ABOVE, "m", "0.001", 0, 1, "contact at half of it"),
    MATERIAL(friction, 0, "1", "0.4", 0, 100, "with the ground and links"),
    MF_KEY_TUPLE("size", MF_KEY_VECTOR, 2, 0, "m", "[1, 1]", 0, 1e4, CLOTH(size),
           "of a rectangle, along both axes of its plane"),
    MF_KEY_TUPLE("counts", MF_KEY_VECTOR, 2, 0, "1", "[0, 0]", 0, MF_CLOTH_MOST, CLOTH(counts),
           "vertices of a rectangle along both; 0: triangles"),
    MF_KEY("plane", MF_KEY_CHOICE, 0, "", "xy", 0, 0, planes, CLOTH(plane),
           "in which a rectangle lies, centered at the origin: xy is level"),
    {"vertices", MF_KEY_POINTS, 0, "m", NULL, -1e4, 1e4, NULL, CLOTH(vertices),
     "of triangles, z up", 3, NULL},
    {"triangles", MF_KEY_POINTS, 0, "1", NULL, 0, MF_CLOTH_MOST, NULL, CLOTH(triangles),
     "three vertices each, by their numbers in the list, from 0", 3, NULL},
    MF_KEY_TUPLE("warp", MF_KEY_VECTOR, 3, 0, "1", "[1, 0, 0]", -1e6, 1e6, CLOTH(warp),
           "direction of the first threads of triangles; the second ones are perpendicular"),
    MF_KEY("pins", MF_KEY_NAMES, 0, "", NULL, 0, 0, NULL, CLOTH(pins),
           "vertices pinned at their start: numbers, and of a rectangle left, right, "
           "bottom, top, bottom_left, bottom_right, top_left, top_right"),
};
// clang-format on

const mf_KeyTable *mf_cloth_table(void) {
    static const mf_KeyTable table = {
        "cloth", keys, sizeof keys / sizeof *keys, sizeof(mf_ClothEntry), NULL, applies, NULL};
    return &table;
}
