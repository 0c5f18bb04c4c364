// The distance of two solids from the contact that the narrow phase finds.
#include "contact/gap.h"
#include "math/scalar.h"

static bool is_finite(const mf_GapSolid *solid) {
    return mf_all_finite(solid->rotation, 9) && mf_all_finite(solid->position, 3);
}

bool mf_gap_between(const mf_GapSolid *a, const mf_GapSolid *b, mf_Gap *out) {
    const bool swapped = a->kind > b->kind;
    mf_GapContact contact;
    if (!is_finite(a) || !is_finite(b) ||
        !mf_gap_search_scalar_f64(swapped ? b : a, swapped ? a : b, &contact))
        return false;
    mf_vec3_scale(out->normal, contact.normal, swapped ? -1.0 : 1.0);
    out->distance = -contact.depth;
    mf_vec3_add_scaled(out->points[0], contact.point, 0.5 * contact.depth, out->normal);
    mf_vec3_add_scaled(out->points[1], contact.point, -0.5 * contact.depth, out->normal);
    return true;
}
