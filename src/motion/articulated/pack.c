// The image of a plan: arrays move into it, and the pointers of its motion follow. A motion that is
// made like another one reads that one's hulls and pairs of shapes where they are, since copies of
// meshes would take most of the time.
#include "motion/articulated/motion.h"

#include <assert.h>
#include <string.h>

static bool is_inside(const mf_ArtPlan *plan, const void *array) {
    return (uintptr_t)array - (uintptr_t)plan < plan->bytes;
}

static void drop(mf_Context *context, const mf_ArtPlan *plan, void *array) {
    if (!is_inside(plan, array))
        mf_release(context, array);
}

static bool lends_collide(const mf_ArtMotion *motion) {
    return motion->like != NULL && motion->collide == motion->like->collide;
}

static bool lends_hulls(const mf_ArtMotion *motion) {
    return motion->like != NULL && motion->hulls == motion->like->hulls;
}

// Releases the arrays that are not in the image.
static void drop_arrays(const mf_ArtMotion *motion, mf_Context *context) {
#define DROP(Type, name, count) drop(context, motion->plan, motion->name);
    MF_ART_ARRAYS(DROP, )
#undef DROP
    if (!lends_collide(motion))
        drop(context, motion->plan, motion->collide);
    if (!lends_hulls(motion))
        drop(context, motion->plan, motion->hulls);
}

mf_Status mf_art_copy_plan(const mf_ArtMotion *motion, mf_ArtMotion *out, mf_Context *context,
                           mf_Error *error) {
    mf_ArtPlan *image = mf_allocate(context, 1, motion->plan->bytes);
    MF_NEED_MEMORY(image != NULL, error, "articulated");
    memcpy(image, motion->plan, motion->plan->bytes);
    *out = (mf_ArtMotion){.config = motion->config, .terrain = motion->terrain};
    mf_art_bind_plan(out, image);
    return MF_OK;
}

void mf_art_release_plan(mf_ArtMotion *motion, mf_Context *context) {
    drop_arrays(motion, context);
    mf_release(context, motion->shape_ease);
    mf_release(context, motion->link_ease);
    mf_release(context, motion->shape_values);
    if (!motion->embedded)
        mf_release(context, motion->plan);
}

void mf_art_bind_plan(mf_ArtMotion *motion, mf_ArtPlan *image) {
    motion->plan = image;
#define BIND(Type, name, count) motion->name = (Type *)mf_flat_at(image, image->name##_at);
    MF_ART_ARRAYS(BIND, )
#undef BIND
    motion->collide = mf_flat_at(image, image->collide_at);
    motion->hulls = mf_flat_at(image, image->hulls_at);
}

mf_Status mf_art_pack(mf_ArtMotion *motion, mf_Context *context, mf_Error *error) {
    mf_ArtPlan *plan = motion->plan, *image;
    mf_CollidePlan *const collide = motion->collide;
    mf_HullSet *const hulls = motion->hulls;
    const bool lent = lends_collide(motion), lent_hulls = lends_hulls(motion);
    const mf_CollidePlan *own = lent ? NULL : collide;
    const mf_HullSet *own_hulls =
        collide == NULL && !lent_hulls ? hulls : NULL; // else in `collide`
    const uint32_t before = plan->bytes;
    assert(!motion->embedded);
    plan->pair_count = collide != NULL ? collide->pair_count : 0;
    plan->class_count = collide != NULL ? collide->class_count : 0;
    plan->shape_count = collide != NULL ? collide->shape_count : 0;
#define PART(Type, name, count) MF_FLAT_PART(plan, name, motion->name, count),
    const mf_FlatPart parts[] = {MF_ART_ARRAYS(PART, plan) MF_FLAT_IMAGE(plan, collide, own),
                                 MF_FLAT_IMAGE(plan, hulls, own_hulls)};
#undef PART
    void *packed = NULL;
    MF_TRY(mf_flat_pack(context, plan, sizeof *plan, parts, sizeof parts / sizeof *parts, &packed,
                        error));
    image = packed;
    if (own != NULL)
        image->hulls_at = image->collide_at + own->hulls_at;
    plan->bytes = before;
    drop_arrays(motion, context);
    mf_release(context, plan);
    mf_art_bind_plan(motion, image);
    motion->collide = lent ? collide : motion->collide;
    motion->hulls = lent_hulls ? hulls : motion->hulls;
    return MF_OK;
}
