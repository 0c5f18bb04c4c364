// Contacts of the last step in live pictures: where, and the force on the robot.
#include "view/film.h"

#include "math/scalar.h"

#include <math.h>
#include <mayfly/query.h>

#define MOST 4096u // [1] contacts of a picture, the first ones

static void put_row(const mf_Film *film, const mf_Contact *contact, float *row) {
    for (int c = 0; c < 3; c++) {
        const double load = -contact->load * contact->normal[c];
        row[c] = (float)contact->point[c];
        row[3 + c] = (float)(isfinite(contact->force[c]) ? -contact->force[c] : load);
    }
    row[6] = mf_film_number(film, contact->owners[0].group, contact->owners[0].instance);
}

bool mf_film_make_contacts(mf_Film *film) {
    film->contacts = mf_allocate(film->context, MOST, sizeof *film->contacts);
    film->contact_rows =
        mf_allocate(film->context, (size_t)MOST * MF_FILM_CONTACT, sizeof *film->contact_rows);
    return film->contacts != NULL && film->contact_rows != NULL;
}

uint32_t mf_film_contact_capacity(void) {
    return MOST;
}

void mf_film_take_contacts(mf_Film *film) {
    uint32_t count = 0;
    film->contact_count = 0;
    const mf_Status status = mf_world_contacts(film->world, film->contacts, MOST, &count, NULL);
    if (status != MF_OK && status != MF_LIMIT)
        return;
    film->contact_count = count < MOST ? count : MOST;
    for (uint32_t i = 0; i < film->contact_count; i++)
        put_row(film, &film->contacts[i], film->contact_rows + (size_t)i * MF_FILM_CONTACT);
}
