// Links and shapes of the rows of contact.load.
#include "world/attach.h"

#include "math/scalar.h"
#include "world/group.h"

#include <string.h>

mf_Status mf_contacts_register(mf_Group *group, const mf_ContactRow *rows, uint32_t count,
                               const mf_ContactLink *links, mf_ContactPointFn point,
                               const void *plan, mf_Error *error) {
    uint32_t link_count = group->config.model->link_count;
    size_t size = count * sizeof *rows + link_count * sizeof *links;
    mf_ContactLink *memory = mf_allocate(group->world->context, 1, size);
    if (memory == NULL)
        return mf_fail(error, MF_NO_MEMORY, "group %s: out of memory", group->config.name);
    mf_release(group->world->context, group->contact_links);
    group->contact_links = memory;
    group->contact_rows = (mf_ContactRow *)(memory + link_count);
    group->contact_row_count = count;
    group->contact_point = point;
    group->contact_plan = plan;
    memcpy(group->contact_links, links, link_count * sizeof *links);
    memcpy(group->contact_rows, rows, count * sizeof *rows);
    return MF_OK;
}

bool mf_contacts_position(const mf_Group *group, uint32_t row, uint32_t link, double position[3]) {
    if (row >= group->contact_row_count || link >= group->config.model->link_count)
        return false;
    const mf_ContactLink *own = &group->contact_links[link];
    const mf_ContactRow *contact = &group->contact_rows[row];
    double offset[3];
    if (contact->part != own->part)
        return false;
    mf_vec3_sub(offset, contact->position, own->position);
    mf_quat_rotate_inverse(position, own->rotation, offset);
    return true;
}

bool mf_contacts_owner(const mf_Group *group, uint32_t row, uint32_t *link, uint32_t *shape) {
    if (row >= group->contact_row_count)
        return false;
    const mf_ContactRow *contact = &group->contact_rows[row];
    *shape = contact->shape;
    *link = 0;
    if (contact->shape != MF_NONE)
        *link = group->config.model->shapes[contact->shape].link;
    else
        while (group->contact_links[*link].part != contact->part)
            ++*link;
    return true;
}

void mf_contacts_lowest(const mf_Group *group, uint32_t instance, uint32_t row, uint32_t link,
                        const double up[3], double position[3]) {
    const mf_ContactLink *own = &group->contact_links[link];
    double offset[3], in_part[3];
    mf_quat_rotate(offset, own->rotation, up);
    group->contact_point(group->contact_plan, instance, row, offset, in_part);
    mf_vec3_sub(offset, in_part, own->position);
    mf_quat_rotate_inverse(position, own->rotation, offset);
}
