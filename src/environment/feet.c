// Finds the values of a group that show whether a foot (a link with a contact sensor) is loaded:
// those of all contacts on it, for all motions.
#include "environment/environment.h"

#include "sense/sensors.h"

typedef struct Search {
    mf_Group *group;
    const mf_Field *load, *points; // of contacts, and of mass points; either may be missing
    mf_FootRow *out;               // NULL: only counts
    uint32_t count, foot;
} Search;

static void add_row(const mf_SenseContact *contact, void *user) {
    Search *search = user;
    if (search->out != NULL)
        search->out[search->count] = (mf_FootRow){
            contact->of_points ? search->points : search->load, contact->row, search->foot};
    search->count++;
}

static void search_all(Search *search) {
    const mf_Model *model = mf_group_model(search->group);
    search->foot = search->count = 0;
    for (uint32_t i = 0; i < model->sensor_count; i++) {
        if (model->sensors[i].type != MF_SENSOR_CONTACT)
            continue;
        mf_sense_visit_contacts(search->group, model->sensors[i].link, add_row, search);
        search->foot++;
    }
}

mf_Status mf_environment_find_feet(mf_Environment *environment, mf_Error *error) {
    Search search = {.group = environment->group,
                     .load = mf_group_find_field(environment->group, "contact.load"),
                     .points = mf_group_find_field(environment->group, "point.load")};
    search_all(&search);
    mf_release(environment->context, environment->feet); // of the smaller test world
    environment->feet = NULL;
    search.out = mf_allocate(environment->context, search.count + 1, sizeof *search.out);
    MF_NEED_MEMORY(search.out != NULL, error, "environment");
    environment->feet = search.out;
    environment->foot_row_count = search.count;
    search_all(&search);
    return MF_OK;
}
