// The way to find the contacts of a pair, by its kinds.
#ifndef MF_CONTACT_NARROW_ANY_H
#define MF_CONTACT_NARROW_ANY_H

#include "contact/narrow_box.h"
#include "contact/narrow_convex.h"
#include "contact/narrow_plane.h"
#include "contact/narrow_round.h"

static void meet_any(Meet *meet) {
    const mf_CollideKind a = meet->a.kind, b = meet->b.kind;
    if (a == MF_COLLIDE_PLANE)
        plane_any(meet);
    else if (a == MF_COLLIDE_SPHERE && b == MF_COLLIDE_SPHERE)
        sphere_sphere(meet);
    else if (a == MF_COLLIDE_SPHERE && b == MF_COLLIDE_CAPSULE)
        sphere_capsule(meet);
    else if (a == MF_COLLIDE_SPHERE && b == MF_COLLIDE_CYLINDER)
        sphere_cylinder(meet);
    else if (a == MF_COLLIDE_SPHERE && b == MF_COLLIDE_BOX)
        sphere_box(meet);
    else if (a == MF_COLLIDE_CAPSULE && b == MF_COLLIDE_CAPSULE)
        capsule_capsule(meet);
    else if (a == MF_COLLIDE_CAPSULE && b == MF_COLLIDE_BOX)
        capsule_box(meet);
    else if (a == MF_COLLIDE_BOX && b == MF_COLLIDE_BOX)
        box_box(meet);
    else
        convex_convex(meet);
}

#endif
