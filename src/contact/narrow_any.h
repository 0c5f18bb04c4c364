// The way to find the contacts of a pair, by its kinds.
#ifndef MF_CONTACT_NARROW_ANY_H
#define MF_CONTACT_NARROW_ANY_H

#include "contact/narrow_box.h"
#include "contact/narrow_convex.h"
#include "contact/narrow_plane.h"
#include "contact/narrow_round.h"

static void test_any(PairTest *test) {
    const mf_CollideKind a = test->a.kind, b = test->b.kind;
    if (a == MF_COLLIDE_PLANE)
        plane_any(test);
    else if (a == MF_COLLIDE_SPHERE && b == MF_COLLIDE_SPHERE)
        sphere_sphere(test);
    else if (a == MF_COLLIDE_SPHERE && b == MF_COLLIDE_CAPSULE)
        sphere_capsule(test);
    else if (a == MF_COLLIDE_SPHERE && b == MF_COLLIDE_CYLINDER)
        sphere_cylinder(test);
    else if (a == MF_COLLIDE_SPHERE && b == MF_COLLIDE_BOX)
        sphere_box(test);
    else if (a == MF_COLLIDE_CAPSULE && b == MF_COLLIDE_CAPSULE)
        capsule_capsule(test);
    else if (a == MF_COLLIDE_CAPSULE && b == MF_COLLIDE_BOX)
        capsule_box(test);
    else if (a == MF_COLLIDE_BOX && b == MF_COLLIDE_BOX)
        box_box(test);
    else
        convex_convex(test);
}

#endif
