// Which shapes of a plan may collide, and how many contacts its solver has room for.
#include "contact/collide_shapes.h"
#include "motion/articulated/build.h"
#include "motion/articulated/host.h"
#include "math/scalar.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

// The ground is the terrain's: a level plane of the file, not above it, is the same ground.
static bool is_ground(const mf_ArtPlan *plan, const mf_Model *model, const mf_CollideShape *shape) {
    const mf_Shape *of = &model->shapes[shape->shape];
    const double up[3] = {0, 0, 1};
    double axis[3];
    bool still = shape->frame == MF_NONE || (plan->fixed && shape->frame == 0);
    if (shape->kind != MF_COLLIDE_PLANE || !still || !plan->config.contacts)
        return false;
    mf_quat_rotate(axis, of->rotation, up);
    return axis[2] > 1.0 - 1e-12 && of->position[2] <= plan->terrain->highest + 1e-9;
}

static bool may_collide(const mf_ArtPlan *plan, const mf_Model *model, const mf_CollidePair *pair) {
    const mf_CollideShape *a = &mf_collide_shapes(plan->collide)[pair->a],
                          *b = &mf_collide_shapes(plan->collide)[pair->b];
    bool still_a = a->frame == MF_NONE || (plan->fixed && a->frame == 0);
    bool still_b = b->frame == MF_NONE || (plan->fixed && b->frame == 0);
    return a->frame != b->frame && !(still_a && still_b) && !is_ground(plan, model, a) &&
           !is_ground(plan, model, b);
}

// Nobody writes into a URDF file which of its meshes may touch, and hulls of neighbors beyond one
// joint overlap where the meshes do not. As its users expect (MoveIt's setup assistant), what
// overlaps at the start never touches. Files that say what may touch are taken at their word.
static mf_Status leave_overlaps(mf_ArtPlan *plan, const mf_Model *model, mf_Context *context,
                                mf_Error *error) {
    if (model->body_count > 0 || model->file[0] == '\0' || plan->collide->pair_count == 0)
        return MF_OK;
    double *depth = mf_allocate(context, plan->collide->pair_count, sizeof *depth);
    if (depth == NULL)
        return mf_fail(error, MF_NO_MEMORY, "articulated: out of memory");
    mf_art_overlaps(plan, model, model->start_angle, depth);
    for (uint32_t i = 0; i < plan->collide->pair_count; i++)
        plan->pair_allowed[i] = plan->pair_allowed[i] && !(depth[i] > 0.0);
    mf_release(context, depth);
    return MF_OK;
}

static void place_shape(const mf_ArtPlan *plan, uint32_t shape) {
    uint32_t frame = mf_collide_shapes(plan->collide)[shape].frame;
    if (frame != MF_NONE && frame > 0)
        plan->links[frame - 1].posed = true;
}

// How many numbers a row of one link has at most.
static uint32_t longest_row(const mf_ArtPlan *plan) {
    uint32_t longest = 0;
    for (uint32_t l = 0; l < plan->link_count; l++) {
        uint32_t length = plan->fixed ? 0 : 6;
        for (int32_t i = (int32_t)l; i >= 0; i = plan->links[i].parent)
            length += plan->links[i].kind == MF_ART_BALL ? 3 : 1;
        longest = length > longest ? length : longest;
    }
    return longest > 6 ? longest : 6;
}

static mf_Status find_room(mf_ArtPlan *plan, const mf_Model *model, uint32_t rows,
                           mf_Error *error) {
    const uint32_t one = longest_row(plan), room = MF_ARTICULATED_ROW_NUMBERS;
    uint32_t all = 6 + plan->link_count + 2 * plan->ball_count, two = 2 * one < all ? 2 * one : all;
    uint32_t used = 0;
    for (uint32_t i = 0; i < plan->loop_count; i++) {
        const mf_ArtLoop *loop = &plan->loops[i];
        uint32_t length = loop->rows == 1 ? (loop->terms[0] + loop->terms[1]) * one : two;
        used += loop->rows * (length < all ? length : all);
    }
    for (uint32_t i = 0; i < plan->tendon_count; i++) {
        const mf_ArtTendon *tendon = &plan->tendons[i];
        uint32_t ends =
            tendon->path != MF_NONE ? plan->paths[tendon->path].link_count : tendon->term_count;
        uint32_t length = ends * one, own = (uint32_t)tendon->elastic + (tendon->friction > 0.0) +
                                            (tendon->lower > -DBL_MAX || tendon->upper < DBL_MAX);
        used += own * (length < all ? length : all);
    }
    uint32_t left = used < room ? (room - used) / ((rows > 0 ? rows : 1) * two) : 0;
    if (used > room || (rows > 0 && left == 0))
        return mf_fail(error, MF_LIMIT,
                       "articulated: model %s has too many couplings for its %u "
                       "joint axes",
                       model->name, plan->link_count);
    plan->contact_numbers = used < room ? room - used : 0;
    plan->row_of_two = two;
    plan->row_of_all = all;
    plan->contact_room = rows == 0 ? 0
                         : left < MF_ARTICULATED_MAX_LINK_CONTACTS
                             ? left
                             : MF_ARTICULATED_MAX_LINK_CONTACTS;
    return MF_OK;
}

static mf_Status too_many(const mf_Model *model, uint64_t pairs, uint32_t shapes, mf_Error *error) {
    char text[48] = "";
    if (pairs > 0)
        snprintf(text, sizeof text, "%llu pairs of ", (unsigned long long)pairs);
    return mf_fail(error, MF_LIMIT,
                   "articulated: model %s has %s%u shapes that may touch, at most %d pairs of %d "
                   "(self_contacts = false disables them)",
                   model->name, text, shapes, MF_ARTICULATED_MAX_PAIRS,
                   MF_ARTICULATED_MAX_SPHERES / 2);
}

// Each shape has a bounding sphere, at least; with more than there may be, nobody need look at all
// pairs.
static mf_Status check_shapes(const mf_Model *model, mf_Error *error) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->shape_count; i++)
        count += mf_collide_takes_part(model, &model->shapes[i]);
    return count > MF_ARTICULATED_MAX_SPHERES ? too_many(model, 0, count, error) : MF_OK;
}

static mf_Status find_pairs(mf_ArtPlan *plan, const mf_Model *model, mf_Context *context,
                            mf_Error *error) {
    mf_Status status = check_shapes(model, error);
    if (status != MF_OK)
        return status;
    mf_CollideHolder *holders = mf_allocate(context, model->link_count, sizeof *holders);
    if (holders == NULL)
        return mf_fail(error, MF_NO_MEMORY, "articulated: out of memory");
    for (uint32_t l = 0; l < model->link_count; l++) {
        holders[l].frame = (uint32_t)(plan->frames[l].link + 1);
        memcpy(holders[l].position, plan->frames[l].position, sizeof holders[l].position);
        memcpy(holders[l].rotation, plan->frames[l].rotation, sizeof holders[l].rotation);
    }
    status = mf_collide_create_with(context, model, holders, plan->hulls, &plan->collide, error);
    mf_release(context, holders);
    if (status != MF_OK)
        return status;
    const mf_CollidePlan *collide = plan->collide;
    if (collide->pair_count > MF_ARTICULATED_MAX_PAIRS ||
        collide->node_count > MF_ARTICULATED_MAX_SPHERES)
        return too_many(model, collide->pair_count, collide->shape_count, error);
    plan->pair_allowed = mf_allocate(context, collide->pair_count, sizeof *plan->pair_allowed);
    return plan->pair_allowed != NULL ? MF_OK
                                      : mf_fail(error, MF_NO_MEMORY, "articulated: out of memory");
}

mf_Status mf_art_contact_pairs_build(mf_ArtPlan *plan, const mf_Model *model, mf_Context *context,
                                     mf_Error *error) {
    const uint32_t off = MF_DISABLE_CONSTRAINT | MF_DISABLE_CONTACT;
    uint32_t rows = plan->hard ? 3 : 0;
    for (uint32_t i = 0; plan->hard && i < model->shape_count; i++)
        rows = model->shapes[i].dimension > rows ? model->shapes[i].dimension : rows;
    if (plan->config.self_contacts && !(model->physics.disabled & off) && model->shape_count > 0) {
        mf_Status status = find_pairs(plan, model, context, error);
        if (status != MF_OK)
            return status;
        bool any = false;
        for (uint32_t i = 0; i < plan->collide->pair_count; i++)
            plan->pair_allowed[i] = may_collide(plan, model, &mf_collide_pairs(plan->collide)[i]);
        status = leave_overlaps(plan, model, context, error);
        if (status != MF_OK)
            return status;
        for (uint32_t i = 0; i < plan->collide->pair_count; i++) {
            const mf_CollidePair *pair = &mf_collide_pairs(plan->collide)[i];
            if (!plan->pair_allowed[i])
                continue;
            any = true;
            rows = pair->dimension > rows ? pair->dimension : rows;
            place_shape(plan, pair->a);
            place_shape(plan, pair->b);
        }
        if (!any) {
            mf_release(context, plan->collide);
            plan->collide = NULL;
        }
    }
    // Bodies that float may be stacked; a robot's own limbs find their forces without.
    plan->warm_starts = plan->collide != NULL && plan->config.integrator != MF_ARTICULATED_RK4 &&
                        !plan->law && (plan->hard || plan->free_count > 0);
    plan->coupled = plan->coupled || plan->collide != NULL || plan->hard;
    return find_room(plan, model, rows, error);
}
