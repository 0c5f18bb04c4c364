// What the rows of contact.load belong to.
#include "motion/articulated/build.h"
#include "model/points.h"
#include "motion/articulated/host.h"
#include "motion/articulated/vary.h"
#include "math/scalar.h"
#include "world/attach.h"

#include <string.h>

// Rows of shapes whose contacts move on them have the position where they touch level ground in the
// start position.
static void position_rows(const mf_ArtMotion *motion, const mf_Model *model, double (*rotations)[4],
                          mf_ContactRow *rows) {
    const double up[3] = {0, 0, 1};
    mf_model_pose(model, model->start_angle, NULL, rotations);
    for (uint32_t i = 0; i < motion->plan->contact_count; i++) {
        const uint32_t shape = motion->contacts[i].shape;
        double direction[3] = {0, 0, 1};
        if (shape != MF_NONE) {
            const uint32_t link = model->shapes[shape].link;
            mf_quat_rotate_inverse(direction, rotations[link], up);
            mf_quat_rotate(direction, motion->frames[link].rotation, direction);
        }
        rows[i].part = motion->contacts[i].link;
        rows[i].shape = shape;
        mf_art_contact_point(motion, i, direction, rows[i].position);
    }
}

// Of solids without corners mf_art_contact_point gives the center.
static void find_lowest(const mf_ArtMotion *motion, uint32_t row, const double up[3],
                        double position[3]) {
    const double *c = mf_art_contact_constants(motion, row);
    const double *t = c + MF_ART_TOUCH_FRAME;
    mf_art_contact_point(motion, row, up, position);
    if (motion->contacts[row].kind == MF_TOUCH_BALL)
        mf_vec3_add_scaled(position, position, -c[3], up);
    if (motion->contacts[row].kind != MF_TOUCH_OVAL)
        return;
    double direction[3] = {t[0] * up[0] + t[3] * up[1] + t[4] * up[2],
                           t[3] * up[0] + t[1] * up[1] + t[5] * up[2],
                           t[4] * up[0] + t[5] * up[1] + t[2] * up[2]};
    mf_vec3_add_scaled(position, position, -1.0 / mf_sqrt(mf_vec3_dot(direction, up)), direction);
}

static void lowest_point(const void *user, uint32_t instance, uint32_t row, const double up[3],
                         double position[3]) {
    mf_ArtMotion own;
    const mf_ArtMotion *motion = mf_art_own(user, instance, &own);
    find_lowest(motion, row, up, position);
    mf_art_return_own(user, motion);
}

mf_Status mf_art_report_contacts(mf_Group *group, const mf_ArtMotion *motion, mf_Error *error) {
    mf_Context *context = mf_world_context(mf_group_world(group));
    uint32_t link_count = mf_group_model(group)->link_count;
    mf_ContactLink *links;
    mf_ContactRow *rows;
    double(*rotations)[4];
    const mf_Array arrays[] = {MF_ARRAY(links, link_count),
                               MF_ARRAY(rows, motion->plan->contact_count),
                               MF_ARRAY(rotations, link_count)};
    if (!mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays))
        return mf_fail(error, MF_NO_MEMORY, "articulated: out of memory");
    for (uint32_t i = 0; i < link_count; i++) {
        const mf_ArtFrame *own = &motion->frames[i];
        links[i].part = own->link;
        mf_vec3_copy(links[i].position, own->position);
        memcpy(links[i].rotation, own->rotation, sizeof links[i].rotation);
    }
    position_rows(motion, mf_group_model(group), rotations, rows);
    const mf_Status status = mf_contacts_register(group, rows, motion->plan->contact_count, links,
                                                  lowest_point, motion, error);
    mf_release(context, links);
    return status;
}
