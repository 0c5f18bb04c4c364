// The distance of two solids by the narrow phase of contacts.
//
// Round solids and boxes that overlap have closed forms, whose deepest contact gives the distance.
// Separate boxes are an exception: the axis of largest separation is not the direction between
// their nearest points. These, and all kinds without a closed form, are searched.
#include "contact/gap.h"
#include "contact/narrow_any.h"

static void set_solid(const mf_GapSolid *from, Solid *to) {
    const double *m = from->rotation;
    *to = MF_VALUE(Solid, .kind = from->kind, .values = from->values, .hull = from->hull,
                   .rotation = {m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8]},
                   .position = {from->position[0], from->position[1], from->position[2]});
}

static bool is_closed(mf_CollideKind a, mf_CollideKind b) {
    return b <= MF_COLLIDE_CAPSULE ||
           (a == MF_COLLIDE_SPHERE && (b == MF_COLLIDE_CYLINDER || b == MF_COLLIDE_BOX));
}

static void set_contact(Vec point, Vec normal, double depth, mf_GapContact *out) {
    *out =
        MF_VALUE(mf_GapContact, {point.x, point.y, point.z}, {normal.x, normal.y, normal.z}, depth);
}

// The deepest contact, of equal ones the first.
static bool by_contacts(PairTest *test, mf_GapContact *out) {
    const ShapeContact *best = NULL;
    test_any(test);
    for (uint32_t i = 0; i < test->out->count; i++) {
        const ShapeContact *contact = &test->out->contact[i];
        if (mf_any(contact->exists) && (best == NULL || contact->depth > best->depth))
            best = contact;
    }
    if (best != NULL)
        set_contact(best->point, best->normal, best->depth, out);
    return best != NULL;
}

static bool by_search(PairTest *test, mf_GapContact *out) {
    Convex pair;
    Closest found;
    if (!convex_closest(test, &pair, &found))
        return false;
    Vec middle = vec_fma(found.answer.normal, -0.5 * found.depth, found.at);
    set_contact(mat_apply_add(&test->a.rotation, middle, test->a.position),
                mat_apply(&test->a.rotation, found.answer.normal), found.depth, out);
    return true;
}

bool mf_gap_search_scalar_f64(const mf_GapSolid *a, const mf_GapSolid *b, mf_GapContact *out) {
    Manifold manifold = {.unsure = mf_not(mf_mask_all()), .gap = mf_zero()};
    PairTest test = {.bound = mf_set(-1e30), .sound = mf_mask_all(), .out = &manifold};
    set_solid(a, &test.a);
    set_solid(b, &test.b);
    const double radius_a = a->values[MF_COLLIDE_RADIUS], radius_b = b->values[MF_COLLIDE_RADIUS];
    test.scale = radius_a + radius_b;
    test.small = radius_a < radius_b ? radius_a : radius_b;
    if (is_closed(a->kind, b->kind))
        return by_contacts(&test, out);
    if (!by_search(&test, out))
        return false;
    // Of two boxes that overlap all fifteen axes are asked.
    const bool boxes =
        b->kind == MF_COLLIDE_BOX && (a->kind == MF_COLLIDE_BOX || a->kind == MF_COLLIDE_CAPSULE);
    return out->depth < 0.0 || !boxes || by_contacts(&test, out);
}
