// What the rows of contact.load belong to.
#include "motion/articulated/host.h"
#include "math/scalar.h"
#include "world/attach.h"

#include <mayfly/articulated.h>

mf_Status mf_art_tell_contacts(mf_Group *group, const mf_ArtPlan *plan, mf_Error *error) {
    mf_Context *context = mf_world_context(mf_group_world(group));
    uint32_t link_count = mf_group_model(group)->link_count;
    mf_ContactLink *links = mf_allocate(context, link_count, sizeof *links);
    mf_ContactRow *rows = mf_allocate(context, plan->contact_count, sizeof *rows);
    for (uint32_t i = 0; links != NULL && i < link_count; i++) {
        const mf_ArtPlace *own = &plan->places[i];
        links[i].part = own->link;
        mf_vec3_copy(links[i].place, own->place);
        for (int c = 0; c < 4; c++)
            links[i].turn[c] = own->turn[c];
    }
    for (uint32_t i = 0; rows != NULL && i < plan->contact_count; i++) {
        rows[i].part = plan->contacts[i].link;
        mf_vec3_copy(rows[i].place, plan->constants_f64 + plan->contact_offset +
                                        (size_t)i * MF_ART_CONTACT_VALUES);
    }
    mf_Status status = links != NULL && rows != NULL
                           ? mf_contacts_tell(group, rows, plan->contact_count, links, error)
                           : mf_fail(error, MF_NO_MEMORY, "articulated: out of memory");
    mf_release(context, links);
    mf_release(context, rows);
    return status;
}

bool mf_articulated_contact_place(const mf_Group *group, uint32_t row, uint32_t link,
                                  double place[3]) {
    if (group == NULL)
        return false;
    return mf_contacts_place(group, row, link, place);
}
