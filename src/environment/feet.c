// Finds the values of a group that show whether a foot (a link with a contact sensor) is loaded:
// those of all contacts on it, for all motions.
#include "environment/environment.h"

#include "world/attach.h"

typedef struct Search {
    mf_Group *group;
    const mf_Field *load, *points; // of contacts, and of mass points; either may be missing
    mf_FootRow *out;               // NULL: only counts
    uint32_t count;
} Search;

static void add_row(Search *search, const mf_Field *field, uint32_t component, uint32_t foot) {
    if (search->out != NULL)
        search->out[search->count] = (mf_FootRow){field, component, foot};
    search->count++;
}

static void search_foot(Search *search, uint32_t link, uint32_t foot) {
    const mf_Model *model = mf_group_model(search->group);
    double position[3];
    uint32_t row = 0;
    for (uint32_t i = 0; search->load != NULL && i < search->load->components; i++)
        if (mf_contacts_position(search->group, i, link, position))
            add_row(search, search->load, i, foot);
    for (uint32_t i = 0; search->points != NULL && i < model->point_count; i++) {
        if (!(model->points[i].flags & MF_POINT_COLLIDES))
            continue;
        if (model->points[i].link == link)
            add_row(search, search->points, row, foot);
        row++;
    }
}

static void search_all(Search *search) {
    const mf_Model *model = mf_group_model(search->group);
    uint32_t foot = 0;
    for (uint32_t i = 0; i < model->sensor_count; i++)
        if (model->sensors[i].type == MF_SENSOR_CONTACT)
            search_foot(search, model->sensors[i].link, foot++);
}

mf_Status mf_environment_find_feet(mf_Environment *environment, mf_Error *error) {
    Search search = {.group = environment->group,
                     .load = mf_group_find_field(environment->group, "contact.load"),
                     .points = mf_group_find_field(environment->group, "point.load")};
    search_all(&search);
    mf_release(environment->context, environment->feet); // of the smaller test world
    environment->feet = NULL;
    search.out = mf_allocate(environment->context, search.count + 1, sizeof *search.out);
    if (search.out == NULL)
        return mf_fail(error, MF_NO_MEMORY, "environment: out of memory");
    environment->feet = search.out;
    environment->foot_row_count = search.count;
    search.count = 0;
    search_all(&search);
    return MF_OK;
}
