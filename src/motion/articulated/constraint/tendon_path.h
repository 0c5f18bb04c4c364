// Spatial tendons: the length of a path in the present state, its rate, and its Jacobian row.
//
// The path goes straight from site to site and bends around the spheres and cylinders between them
// (math/wrap.h). As the way is the shortest, moving the points at which it touches a shape does not
// change its length to first order, so those points count as fixed to the shape: the length changes
// by the sum of (direction of a straight piece) * (velocity of its end less that of its start). The
// row of the tendon is given by what it would pull the links with at a tension of -1 N:
//     rate of the length = sum over links of force . velocity of the origin + torque . rate,
// all in the link's axes; the force of a tension f on a link is -f times that. Sums over all links
// of force, and of torque about one point, are zero. Branches after a pulley count by its share.
#pragma once

#include "math/wrap.h"
#include "motion/articulated/sensing/sensor_wrench.h"

typedef struct TendonPath {
    mf_lane length; // [m]
    mf_lane speed;  // [m/s]
    uint32_t count; // [1] links
    const int32_t *links;
    Wrench *row; // [1], [m] on each; memory of Work, which one path has at a time
    const mf_ArtWrap *wraps;
    const uint64_t *zones; // of its elements, which feel the pull; NULL: nobody does
    mf_lane pull;          // [N] then
} TendonPath;

static inline Vec path_vector(const double v[3]) {
    return MF_VALUE(Vec, mf_set((mf_real)v[0]), mf_set((mf_real)v[1]), mf_set((mf_real)v[2]));
}

static inline Vec path_point(const Work *work, int32_t link, const double arm[3]) {
    if (link == MF_ART_WORLD)
        return path_vector(arm);
    const Pose *pose = &work->contacts.pose[link + 1];
    return mat_apply_add(&pose->rotation, path_vector(arm), pose->position);
}

// What a piece of the path that ends at `point` pulls with: `direction` along it, both in world
// axes.
static inline void path_pull(const Work *work, const TendonPath *path, uint32_t slot, Vec point,
                             Vec direction, Wrench *row) {
    const int32_t link = path->links[slot];
    if (link == MF_ART_WORLD) {
        row[slot].force = vec_add(row[slot].force, direction);
        return;
    }
    const Pose *pose = &work->contacts.pose[link + 1];
    const Vec force = mat_apply_transposed(&pose->rotation, direction),
              arm = mat_apply_transposed(&pose->rotation, vec_sub(point, pose->position));
    row[slot].force = vec_add(row[slot].force, force);
    row[slot].torque = vec_cross_add(arm, force, row[slot].torque);
}

static inline Vec path_choose(mf_mask mask, Vec a, Vec b) {
    return MF_VALUE(Vec, mf_select(mask, a.x, b.x), mf_select(mask, a.y, b.y),
                    mf_select(mask, a.z, b.z));
}

// A straight piece in some lanes: its length and its pulls on both ends.
static inline void path_piece(const Work *work, TendonPath *path, const mf_ArtWrap *start, Vec from,
                              const mf_ArtWrap *end, Vec to, mf_lane share, mf_mask where) {
    const Vec offset = vec_sub(to, from);
    const mf_lane size = mf_sqrt(vec_dot(offset, offset));
    const mf_lane tiny = mf_set(MF_WRAP_TINY);
    const Vec pull =
        vec_scale(offset, mf_keep(mf_and(where, mf_less(tiny, size)), share / mf_max(size, tiny)));
    path->length = mf_fma(share, mf_keep(where, size), path->length);
    path_pull(work, path, start->slot, from, vec_negative(pull), path->row);
    path_pull(work, path, end->slot, to, pull, path->row);
    if (path->zones == NULL)
        return;
    const Vec force = vec_scale(pull, path->pull);
    sensor_wrench_add(path->zones[start - path->wraps], from, force, vec_zero(), work);
    sensor_wrench_add(path->zones[end - path->wraps], to, vec_negative(force), vec_zero(), work);
}

// From one site to the next around a shape.
static inline void path_around(const Work *work, const mf_ArtWrap *wrap, const mf_ArtWrap *start,
                               Vec from, const mf_ArtWrap *end, Vec to, mf_lane share,
                               TendonPath *path) {
    const int32_t link = path->links[wrap->slot];
    const double *t = wrap->rotation;
    Mat rotation = {mf_set((mf_real)t[0]), mf_set((mf_real)t[1]), mf_set((mf_real)t[2]),
                    mf_set((mf_real)t[3]), mf_set((mf_real)t[4]), mf_set((mf_real)t[5]),
                    mf_set((mf_real)t[6]), mf_set((mf_real)t[7]), mf_set((mf_real)t[8])};
    if (link != MF_ART_WORLD)
        rotation = mat_multiply(&work->contacts.pose[link + 1].rotation, &rotation);
    const Vec center = path_point(work, link, wrap->arm);
    const Vec a = mat_apply_transposed(&rotation, vec_sub(from, center)),
              b = mat_apply_transposed(&rotation, vec_sub(to, center));
    const mf_lane p[3] = {a.x, a.y, a.z}, q[3] = {b.x, b.y, b.z};
    mf_lane side[3];
    if (wrap->sided) {
        const Vec point = path_point(work, wrap->side_link, wrap->side_arm);
        const Vec s = mat_apply_transposed(&rotation, vec_sub(point, center));
        side[0] = s.x;
        side[1] = s.y;
        side[2] = s.z;
    }
    const mf_Bend bend = mf_wrap(wrap->type == MF_WRAP_CYLINDER, mf_set((mf_real)wrap->radius), p,
                                 q, wrap->sided ? side : NULL);
    path_piece(work, path, start, from, end, to, share, mf_not(bend.bends));
    if (!mf_any(bend.bends))
        return;
    const Vec crossing = mat_apply_add(
                  &rotation, MF_VALUE(Vec, bend.from[0], bend.from[1], bend.from[2]), center),
              leaves = mat_apply_add(&rotation, MF_VALUE(Vec, bend.to[0], bend.to[1], bend.to[2]),
                                     center);
    path->length = mf_fma(share, mf_keep(bend.bends, bend.length), path->length);
    path_piece(work, path, start, from, wrap, path_choose(bend.bends, crossing, from), share,
               bend.bends);
    path_piece(work, path, wrap, path_choose(bend.bends, leaves, to), end, to, share, bend.bends);
}

static inline void path_speed(const mf_ArtPlan *plan, const State *state, const Work *work,
                              TendonPath *path) {
    path->speed = mf_zero();
    for (uint32_t i = 0; i < path->count; i++) {
        const int32_t link = path->links[i];
        if (is_still(plan, link))
            continue;
        const Pose *pose = &work->contacts.pose[link + 1];
        const Vec speed = mat_apply_transposed(&pose->rotation, pose->speed);
        path->speed = vec_dot_add(path->row[i].force, speed, path->speed);
        path->speed = vec_dot_add(path->row[i].torque,
                                  link < 0 ? state->rate : work->links[link].rate, path->speed);
    }
}

static inline void path_walk(const mf_ArtPlan *plan, const Work *work, uint32_t tendon,
                             TendonPath *path) {
    const mf_ArtPath *from = &mf_art_paths(plan)[tendon];
    const mf_ArtWrap *wraps = path->wraps = mf_art_wraps(plan) + from->first_wrap;
    mf_lane share = mf_set((mf_real)1);
    path->length = mf_zero();
    path->count = from->link_count;
    path->links = mf_art_path_links(plan) + from->first_link;
    path->row = work->path_row;
    for (uint32_t i = 0; i < path->count; i++)
        path->row[i] = MF_VALUE(Wrench, vec_zero(), vec_zero());
    for (uint32_t i = 0; i + 1 < from->wrap_count;) {
        const mf_ArtWrap *start = &wraps[i], *next = &wraps[i + 1];
        if (start->type == MF_WRAP_PULLEY || next->type == MF_WRAP_PULLEY) {
            if (start->type == MF_WRAP_PULLEY)
                share = mf_set((mf_real)start->share);
            i++;
            continue;
        }
        const Vec a = path_point(work, path->links[start->slot], start->arm);
        if (next->type == MF_WRAP_SITE) {
            const Vec b = path_point(work, path->links[next->slot], next->arm);
            path_piece(work, path, start, a, next, b, share, mf_mask_all());
            i++;
            continue;
        }
        const mf_ArtWrap *end = &wraps[i + 2]; // paths are checked when the file is read
        const Vec b = path_point(work, path->links[end->slot], end->arm);
        path_around(work, next, start, a, end, b, share, path);
        i += 2;
    }
    work->lengths[tendon] = path->length;
}

// Poses and rates of the links must be there.
static inline void tendon_path(const mf_ArtPlan *plan, const State *state, const Work *work,
                               uint32_t tendon, TendonPath *path) {
    path->zones = NULL;
    path_walk(plan, work, tendon, path);
    path_speed(plan, state, work, path);
}

// Adds what the tendon pulls with to the zones of its elements.
static inline void tendon_feel(const mf_ArtPlan *plan, const Work *work, uint32_t tendon,
                               mf_lane pull) {
    TendonPath path = {.zones = mf_art_wrap_zones(plan) + mf_art_paths(plan)[tendon].first_wrap,
                       .pull = pull};
    path_walk(plan, work, tendon, &path);
}

// The force of the tendon's tension -`force` on all its links.
static inline void tendon_force(const mf_ArtPlan *plan, const TendonPath *path, mf_lane force,
                                Wrench *wrench) {
    for (uint32_t i = 0; i < path->count; i++) {
        if (is_still(plan, path->links[i]))
            continue;
        Wrench *sum = &wrench[path->links[i] + 1];
        sum->force = vec_fma(path->row[i].force, force, sum->force);
        sum->torque = vec_fma(path->row[i].torque, force, sum->torque);
    }
}
