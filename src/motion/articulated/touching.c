// From a row of contact.load back to the model's link.
#include "motion/articulated/host.h"
#include "math/scalar.h"

#include <assert.h>

bool mf_articulated_contact_place(const mf_Group *group, uint32_t row, uint32_t link,
                                  double place[3]) {
    const mf_ArtPlan *plan = mf_art_plan_of(group);
    assert(plan != NULL);
    const mf_ArtPlace *own = &plan->places[link];
    if (row >= plan->contact_count || plan->contacts[row].link != own->link)
        return false;
    const double *c =
        plan->constants_f64 + plan->contact_offset + (size_t)row * MF_ART_CONTACT_VALUES;
    double way[3];
    mf_vec3_sub(way, c, own->place);
    mf_quat_rotate_inverse(place, own->turn, way);
    return true;
}
