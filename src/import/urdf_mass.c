// Masses of the merged links of a URDF, and the points that stand for them.
#include "import/urdf.h"

#include "model/mass.h"

#include <string.h>

mf_Status mf_urdf_place_mass(mf_Urdf *urdf) {
    mf_MassProperties *bodies = mf_allocate(urdf->context, urdf->draft.links.count, sizeof *bodies);
    if (bodies == NULL)
        return mf_urdf_no_memory(urdf);
    for (uint32_t i = 0; i < urdf->order_count; i++) {
        const mf_UrdfLink *link = &mf_urdf_links(urdf)[urdf->order[i]];
        mf_MassProperties *sum = &bodies[link->draft];
        mf_MassProperties part = mf_mass_transform(&link->body, link->position, link->rotation);
        *sum = mf_mass_add(sum, &part);
    }
    mf_Status status = mf_urdf_spread_points(urdf, bodies);
    MF_THEN(status, mf_draft_place_mass(&urdf->draft, bodies));
    // Points neglect small parts of the robot's inertia; full dynamics needs every joint's inertia.
    urdf->draft.own_inertia = true;
    for (uint32_t i = 0; status == MF_OK && i < urdf->draft.links.count; i++)
        memcpy(mf_draft_links(&urdf->draft)[i].inertia, bodies[i].inertia,
               sizeof bodies[i].inertia);
    mf_release(urdf->context, bodies);
    return status;
}
