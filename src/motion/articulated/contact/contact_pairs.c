// Which shapes of a plan may collide, and how many contacts its solver has space for.
#include "motion/articulated/build.h"
#include "motion/articulated/host.h"
#include "math/scalar.h"
#include "model/mounted.h"

#include <float.h>
#include <string.h>

// The ground is the terrain's: a level plane of the file, not above it, is the same ground.
static bool is_ground(const mf_ArtMotion *motion, const mf_Model *model,
                      const mf_CollideShape *shape) {
    const mf_Shape *of = &model->shapes[shape->shape];
    const double up[3] = {0, 0, 1};
    double axis[3];
    bool still = shape->frame == MF_NONE || (motion->plan->fixed && shape->frame == 0);
    if (shape->kind != MF_COLLIDE_PLANE || !still || !motion->config.contacts)
        return false;
    mf_quat_rotate(axis, of->rotation, up);
    return axis[2] > 1.0 - 1e-12 && of->position[2] <= motion->terrain->highest + 1e-9;
}

static bool may_collide(const mf_ArtMotion *motion, const mf_Model *model,
                        const mf_CollidePair *pair) {
    const mf_CollideShape *a = &mf_collide_shapes(motion->collide)[pair->a],
                          *b = &mf_collide_shapes(motion->collide)[pair->b];
    bool still_a = a->frame == MF_NONE || (motion->plan->fixed && a->frame == 0);
    bool still_b = b->frame == MF_NONE || (motion->plan->fixed && b->frame == 0);
    return a->frame != b->frame && !(still_a && still_b) && !is_ground(motion, model, a) &&
           !is_ground(motion, model, b);
}

// Nobody writes into a URDF file which of its meshes may touch, and hulls of neighbors beyond one
// joint overlap where the meshes do not. As its users expect (MoveIt's setup assistant), what
// overlaps at the start never touches. Files and pairs that say what may touch are taken at their
// word.
static mf_Status leave_overlaps(mf_ArtMotion *motion, const mf_Model *model, mf_Context *context,
                                mf_Error *error) {
    if (model->body_count > 0 || model->file[0] == '\0' || motion->collide->pair_count == 0)
        return MF_OK;
    double *depth;
    MF_TRY(MF_ALLOCATE(context, "articulated", error,
                       MF_ARRAY(depth, mf_art_overlap_count(motion->collide))));
    mf_art_overlaps(motion, model, model->start_angle, depth);
    const mf_CollideShape *shapes = mf_collide_shapes(motion->collide);
    for (uint32_t i = 0; i < motion->collide->pair_count; i++) {
        const mf_CollidePair *pair = &mf_collide_pairs(motion->collide)[i];
        if (depth[i] > 0.0 &&
            mf_collide_listed(model, shapes[pair->a].shape, shapes[pair->b].shape) == NULL)
            motion->pair_allowed[i] = false;
    }
    mf_release(context, depth);
    return MF_OK;
}

static void add_most(const mf_CollidePlan *collide, uint32_t number, mf_ArtPairsMost *most) {
    const mf_CollideClass *touches = &mf_collide_classes(collide)[number];
    most->any = true;
    most->margin = mf_larger(most->margin, touches->margin);
    most->dimension = touches->dimension > most->dimension ? touches->dimension : most->dimension;
}

mf_ArtPairsMost mf_art_pairs_most(const mf_ArtMotion *motion) {
    const mf_CollidePlan *collide = motion->collide;
    mf_ArtPairsMost most = {.any = false};
    for (uint32_t i = 0; i < collide->pair_count; i++)
        if (motion->pair_allowed[i])
            add_most(collide, mf_collide_pairs(collide)[i].touches, &most);
    for (uint32_t i = 0; i < collide->surface_count * collide->surface_count; i++)
        if (mf_collide_surfaces(collide)[i] != MF_NONE)
            add_most(collide, mf_collide_surfaces(collide)[i], &most);
    return most;
}

static void place_shape(const mf_ArtMotion *motion, uint32_t shape) {
    uint32_t frame = mf_collide_shapes(motion->collide)[shape].frame;
    if (frame != MF_NONE && frame > 0)
        motion->links[frame - 1].posed = true;
}

// How many numbers a row of one link has at most.
static uint32_t longest_row(const mf_ArtMotion *motion) {
    uint32_t longest = 0;
    for (uint32_t l = 0; l < motion->plan->link_count; l++) {
        uint32_t length = motion->plan->fixed ? 0 : 6;
        for (int32_t i = (int32_t)l; i >= 0; i = motion->links[i].parent)
            length += motion->links[i].kind == MF_ART_BALL ? 3 : 1;
        longest = length > longest ? length : longest;
    }
    return longest > 6 ? longest : 6;
}

// Axes of joints with dry friction that is decided on at the end of the step (aba_velocity.h).
// Modules keep the chord: the solver of run-time joints tries their steps with other
// wrenches, and takes many more tries where joints stick or slip by turns.
static uint32_t count_dry(const mf_ArtMotion *motion, const mf_Model *model) {
    uint32_t count = 0;
    if (motion->plan->law || motion->plan->integrator != MF_ARTICULATED_IMPLICIT ||
        mf_model_is_module(model))
        return 0;
    for (uint32_t l = 0; l < motion->plan->link_count; l++)
        if (motion->links[l].drive & MF_ART_HAS_FRICTION)
            count += motion->links[l].kind == MF_ART_BALL ? 3 : 1;
    return count;
}

// Shapes that move and may touch others, or floating bodies where these are more.
static uint32_t count_clutter(const mf_ArtMotion *motion) {
    const uint32_t bodies = motion->plan->free_count;
    uint32_t count = 0;
    for (uint32_t i = 0; i < motion->collide->shape_count; i++)
        count += mf_collide_shapes(motion->collide)[i].frame <= motion->plan->link_count;
    return count > bodies ? count : bodies;
}

static mf_Status find_capacity(mf_ArtMotion *motion, const mf_Model *model, uint32_t rows,
                               mf_Error *error) {
    const uint32_t frees = motion->plan->free_count, one = longest_row(motion);
    const uint32_t capacity = MF_ARTICULATED_ROW_NUMBERS + frees * MF_ARTICULATED_FREE_NUMBERS;
    const uint32_t most = MF_ARTICULATED_LINK_CONTACTS + frees * MF_ARTICULATED_FREE_CONTACTS;
    uint32_t all = 6 + motion->plan->link_count + 2 * motion->plan->ball_count,
             two = 2 * one < all ? 2 * one : all;
    motion->plan->dry_rows = count_dry(motion, model);
    uint32_t used = motion->plan->coupled ? motion->plan->dry_rows * one : 0;
    for (uint32_t i = 0; i < motion->plan->loop_count; i++) {
        const mf_ArtLoop *loop = &motion->loops[i];
        uint32_t length = loop->rows == 1 ? (loop->terms[0] + loop->terms[1]) * one : two;
        used += loop->rows * (length < all ? length : all);
    }
    for (uint32_t i = 0; i < motion->plan->tendon_count; i++) {
        const mf_ArtTendon *tendon = &motion->tendons[i];
        uint32_t ends =
            tendon->path != MF_NONE ? motion->paths[tendon->path].link_count : tendon->term_count;
        uint32_t length = ends * one, own = (uint32_t)tendon->elastic + (tendon->friction > 0.0) +
                                            (tendon->lower > -DBL_MAX || tendon->upper < DBL_MAX);
        if (motion->plan->law)
            own = 4; // problem_capacity
        used += own * (length < all ? length : all);
    }
    uint32_t left = capacity / ((rows > 0 ? rows : 1) * two);
    MF_CHECK(motion->plan->law || rows == 0 || left != 0, error, MF_LIMIT,
             "articulated: model %s has too many joint axes (%u) for contacts between its links, "
             "at most with contact_law: mujoco",
             model->name, motion->plan->link_count);
    motion->plan->contact_numbers = capacity;
    motion->plan->coupling_numbers = used;
    motion->plan->row_of_two = two;
    motion->plan->row_of_all = all;
    motion->plan->contact_capacity = rows == 0 ? 0 : left < most ? left : most;
    motion->plan->row_numbers = capacity + used;
    return MF_OK;
}

// Pairs of a robot that differs in numbers are those of its group, with its own positions and sizes
// of shapes. A copy where the image needs one (take_hulls).
static mf_Status take_pairs(mf_ArtMotion *motion, const mf_Model *model,
                            const mf_CollideHolder *holders, mf_Context *context, mf_Error *error) {
    mf_CollidePlan *collide = motion->like->collide;
    MF_TRY(MF_ALLOCATE(context, "articulated", error,
                       MF_ARRAY(motion->shape_values, collide->value_count)));
    mf_collide_values_of(collide, model, holders, motion->shape_values);
    motion->collide = collide;
    if (model->body_count > 0)
        return MF_OK;
    motion->collide = mf_allocate(context, 1, collide->bytes);
    MF_NEED_MEMORY(motion->collide != NULL, error, "articulated");
    memcpy(motion->collide, collide, collide->bytes);
    memcpy(mf_flat_at(motion->collide, collide->values_f64_at), motion->shape_values,
           collide->value_count * sizeof(double)); // queries are in double
    return MF_OK;
}

static mf_Status create_pairs(mf_ArtMotion *motion, const mf_Model *model,
                              const mf_CollideHolder *holders, mf_Context *context,
                              mf_Error *error) {
    const mf_Status status =
        mf_collide_create_with(context, model, holders, motion->hulls, &motion->collide, error);
    if (status == MF_LIMIT)
        return mf_fail(error, status,
                       "articulated: model %s has more than %d pairs of shapes that may touch "
                       "(self_contacts = false disables them)",
                       model->name, MF_COLLIDE_PAIRS);
    return status;
}

static mf_Status find_pairs(mf_ArtMotion *motion, const mf_Model *model, mf_Context *context,
                            mf_Error *error) {
    mf_CollideHolder *holders;
    MF_TRY(MF_ALLOCATE(context, "articulated", error, MF_ARRAY(holders, model->link_count)));
    for (uint32_t l = 0; l < model->link_count; l++) {
        holders[l].frame = (uint32_t)(motion->frames[l].link + 1);
        memcpy(holders[l].position, motion->frames[l].position, sizeof holders[l].position);
        memcpy(holders[l].rotation, motion->frames[l].rotation, sizeof holders[l].rotation);
    }
    const mf_Status status = motion->like != NULL && motion->like->collide != NULL
                                 ? take_pairs(motion, model, holders, context, error)
                                 : create_pairs(motion, model, holders, context, error);
    mf_release(context, holders);
    MF_TRY(status);
    const mf_CollidePlan *collide = motion->collide;
    MF_TRY(MF_ALLOCATE(context, "articulated", error,
                       MF_ARRAY(motion->pair_allowed, collide->pair_count)));
    return mf_art_pack(motion, context, error);
}

mf_Status mf_art_contact_pairs_build(mf_ArtMotion *motion, const mf_Model *model,
                                     mf_Context *context, mf_Error *error) {
    const uint32_t off = MF_DISABLE_CONSTRAINT | MF_DISABLE_CONTACT;
    uint32_t rows = motion->plan->hard ? 3 : 0;
    motion->plan->clutter = motion->plan->free_count;
    for (uint32_t i = 0; motion->plan->hard && i < model->shape_count; i++)
        rows = model->shapes[i].dimension > rows ? model->shapes[i].dimension : rows;
    if (motion->config.self_contacts && !(model->physics.disabled & off) &&
        model->shape_count > 0) {
        MF_TRY(find_pairs(motion, model, context, error));
        for (uint32_t i = 0; i < motion->collide->pair_count; i++)
            motion->pair_allowed[i] =
                may_collide(motion, model, &mf_collide_pairs(motion->collide)[i]);
        MF_TRY(leave_overlaps(motion, model, context, error));
        for (uint32_t i = 0; i < motion->collide->pair_count; i++) {
            if (!motion->pair_allowed[i])
                continue;
            place_shape(motion, mf_collide_pairs(motion->collide)[i].a);
            place_shape(motion, mf_collide_pairs(motion->collide)[i].b);
        }
        for (uint32_t i = 0; i < motion->collide->floating_count; i++)
            place_shape(motion, mf_collide_floating(motion->collide)[i].shape);
        const mf_ArtPairsMost most = mf_art_pairs_most(motion);
        rows = most.dimension > rows ? most.dimension : rows;
        if (!motion->plan->law && !motion->plan->hard) // as law.c for its own
            motion->plan->reach = mf_larger(motion->plan->reach, most.margin);
        if (!most.any)
            motion->collide = NULL; // the next image is without it
        else
            motion->plan->clutter = count_clutter(motion);
    }
    // Bodies that float may be stacked; a robot's own limbs find their forces without.
    motion->plan->warm_starts =
        motion->collide != NULL && motion->plan->integrator != MF_ARTICULATED_RK4 &&
        !motion->plan->law && (motion->plan->hard || motion->plan->free_count > 0);
    motion->plan->coupled = motion->plan->coupled || motion->collide != NULL || motion->plan->hard;
    return find_capacity(motion, model, rows, error);
}
