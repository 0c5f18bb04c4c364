// Paths of spatial tendons in terms of the plan's links, and muscles.
#include "motion/articulated/build.h"

#include "math/scalar.h"

// The slot of a link in a path's list, which gets it if need be.
static uint32_t slot_of(mf_ArtMotion *motion, mf_ArtPath *path, int32_t link) {
    int32_t *links = motion->path_links + path->first_link;
    for (uint32_t i = 0; i < path->link_count; i++) {
        if (links[i] == link)
            return i;
    }
    links[path->link_count] = link;
    return path->link_count++;
}

static void add_wrap(mf_ArtMotion *motion, const mf_TendonWrap *from, mf_ArtPath *path,
                     mf_ArtWrap *to) {
    static const double identity[4] = {1.0, 0.0, 0.0, 0.0};
    double rotation[4];
    *to = (mf_ArtWrap){.type = from->type, .side_link = MF_ART_WORLD};
    if (from->type == MF_WRAP_PULLEY) {
        to->share = 1.0 / from->divisor;
        return;
    }
    const int32_t link = mf_art_pose(motion, from->frame.link, from->frame.position,
                                     from->frame.rotation, to->arm, rotation);
    mf_quat_to_matrix(to->rotation, rotation);
    to->slot = slot_of(motion, path, link);
    to->radius = from->radius;
    mf_art_mark_posed(motion, link);
    if (from->side != MF_NONE) {
        to->sided = true;
        to->side_link = mf_art_pose(motion, from->side_link, from->side_position, identity,
                                    to->side_arm, rotation);
        mf_art_mark_posed(motion, to->side_link);
    }
}

mf_Status mf_art_paths_build(mf_ArtMotion *motion, const mf_Model *model, mf_Context *context,
                             mf_Error *error) {
    if (model->tendon_wrap_count == 0)
        return MF_OK;
    motion->plan->path_count = model->tendon_count;
    motion->plan->wrap_count = motion->plan->path_link_count = model->tendon_wrap_count;
    MF_TRY(MF_ALLOCATE(context, "articulated", error, MF_ARRAY(motion->paths, model->tendon_count),
                       MF_ARRAY(motion->wraps, model->tendon_wrap_count),
                       MF_ARRAY(motion->path_links, model->tendon_wrap_count)));
    for (uint32_t i = 0; i < model->tendon_count; i++) {
        const mf_Tendon *tendon = &model->tendons[i];
        mf_ArtPath *path = &motion->paths[i];
        // A path has no more links than elements.
        *path = (mf_ArtPath){.first_wrap = tendon->first_wrap,
                             .wrap_count = tendon->wrap_count,
                             .first_link = tendon->first_wrap};
        for (uint32_t k = tendon->first_wrap; k < tendon->first_wrap + tendon->wrap_count; k++) {
            add_wrap(motion, &model->tendon_wraps[k], path, &motion->wraps[k]);
        }
        if (path->link_count > motion->plan->path_most)
            motion->plan->path_most = path->link_count;
    }
    return MF_OK;
}

void mf_art_path_thrust(mf_ArtMotion *motion, uint32_t tendon) {
    const mf_ArtPath *path = &motion->paths[tendon];
    for (uint32_t i = path->first_link; i < path->first_link + path->link_count; i++)
        mf_art_mark_thrust(motion, motion->path_links[i]);
}

mf_ArtMuscle mf_art_muscle(const mf_Muscle *from) {
    const double tiny = 1e-15; // as MuJoCo's
    const double range =
        from->range[1] - from->range[0] > tiny ? from->range[1] - from->range[0] : tiny;
    const double optimal = (from->length_range[1] - from->length_range[0]) / range;
    const double length = optimal > tiny ? optimal : tiny;
    const double fastest = length * from->speed > tiny ? length * from->speed : tiny;
    const double give = from->acceleration > tiny ? from->acceleration : tiny;
    return (mf_ArtMuscle){.scale = 1.0 / length,
                          .offset = from->range[0] - from->length_range[0] / length,
                          .rate = 1.0 / fastest,
                          .force = from->force < 0.0 ? from->scale / give : from->force,
                          .lower = from->lower,
                          .upper = from->upper,
                          .passive = from->passive,
                          .lengthening = from->lengthening,
                          .rise = from->rise,
                          .fall = from->fall,
                          .smoothing = from->smoothing};
}
