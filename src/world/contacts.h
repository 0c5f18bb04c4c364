// What the rows of a group's field contact.load belong to. Motions that write it say so when they
// are made; sensors ask.
#ifndef MF_WORLD_CONTACTS_H
#define MF_WORLD_CONTACTS_H

#include <mayfly/world.h>

typedef struct mf_ContactRow {
    int32_t part;    // [1] rigid part of the robot that it is on
    double place[3]; // [m] in that part's frame
} mf_ContactRow;

typedef struct mf_ContactLink { // per link of the model
    int32_t part;
    double place[3]; // [m] the link's origin in its part's frame
    double turn[4];  // [1] link's axes to the part's
} mf_ContactLink;

// Replaces what the group knew of its rows; both arrays are copied.
mf_Status mf_contacts_tell(mf_Group *group, const mf_ContactRow *rows, uint32_t count,
                           const mf_ContactLink *links, mf_Error *error);

// Where the contact of a row is in the frame of `link` [m]. False when it is on another rigid part,
// or nobody said what the row is.
bool mf_contacts_place(const mf_Group *group, uint32_t row, uint32_t link, double place[3]);

#endif
