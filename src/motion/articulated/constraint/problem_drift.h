// Accelerations of links at constant velocities of all degrees of freedom: the contribution of the
// change of the Jacobian.
#pragma once

#include "motion/articulated/constraint/problem.h"
#include "motion/articulated/constraint/tendon_path.h"

// How a link moves, world axes, and how it accelerates while the velocities of all dofs stay.
typedef struct Drift {
    Vec rate;                 // [rad/s]
    Vec angular_acceleration; // [rad/s^2]
    Vec straight;             // [m/s^2] of the origin
} Drift;

static inline void drift_link(const Problem *p, uint32_t l, const Drift *parent, Drift *own) {
    const mf_ArtLink *link = &mf_art_links(p->plan)[l];
    const Vec offset = vec_sub(p->origin[l + 1], p->origin[link->parent + 1]);
    const Vec rate = parent->rate, swing = vec_cross(rate, offset);
    own->rate = mat_apply(&p->work->contacts.pose[l + 1].rotation, p->work->links[l].rate);
    own->angular_acceleration = parent->angular_acceleration;
    own->straight =
        vec_add(parent->straight,
                vec_cross_add(rate, swing, vec_cross(parent->angular_acceleration, offset)));
    if (link->kind == MF_ART_SLIDE) {
        const mf_lane speed = p->state->speed[l];
        own->straight = vec_fma(vec_cross(rate, p->axis[link->dof]), speed + speed, own->straight);
        return;
    }
    own->angular_acceleration = vec_add(own->angular_acceleration, vec_cross(rate, own->rate));
}

static inline void drift_find(const Problem *p, Drift *drift) {
    const Vec none = vec_zero();
    drift[0] = MF_VALUE(Drift, none, none, none);
    if (!p->plan->fixed)
        drift[0].rate = mat_apply(&p->work->contacts.pose[0].rotation, p->state->rate);
    const mf_ArtLink *links = mf_art_links(p->plan);
    for (uint32_t l = 0; l < p->plan->link_count; l++)
        drift_link(p, l, &drift[links[l].parent + 1], &drift[l + 1]);
}

// ---- paths of tendons ---------------------------------------------------------------------------

typedef struct PathEnd { // a site of a path, world axes
    Vec position, velocity;
    Vec gain; // [m/s^2] its drift
} PathEnd;

static inline PathEnd path_end(const Problem *p, int32_t link, const double arm[3],
                               const Drift *drift) {
    PathEnd end = {path_point(p->work, link, arm), vec_zero(), vec_zero()};
    if (is_still(p->plan, link))
        return end;
    const Pose *pose = &p->work->contacts.pose[link + 1];
    const Drift *own = &drift[link + 1];
    const Vec direction = mat_apply(&pose->rotation, path_vector(arm)),
              swing = vec_cross(own->rate, direction);
    end.velocity = vec_add(pose->speed, swing);
    end.gain =
        vec_add(own->straight,
                vec_cross_add(own->rate, swing, vec_cross(own->angular_acceleration, direction)));
    return end;
}

// The second derivative of the length of a piece along u: u . a + (v . v - (u . v)^2) / length.
static inline mf_lane piece_gain(const PathEnd *a, const PathEnd *b) {
    const Vec offset = vec_sub(b->position, a->position), speed = vec_sub(b->velocity, a->velocity);
    const mf_lane tiny = mf_set(MF_WRAP_TINY),
                  size = mf_max(mf_sqrt(vec_dot(offset, offset)), tiny);
    const Vec along = vec_scale(offset, mf_set((mf_real)1) / size);
    const mf_lane rate = vec_dot(along, speed);
    const mf_lane bend = mf_fma(-rate, rate, vec_dot(speed, speed)) / size;
    return vec_dot_add(along, vec_sub(b->gain, a->gain), mf_keep(mf_less(tiny, size), bend));
}

// How the length of a path of sites and pulleys accelerates while the velocities of all dofs stay.
static __attribute__((noinline)) mf_lane path_gain(const Problem *p, uint32_t tendon) {
    const mf_ArtPath *paths = mf_art_paths(p->plan);
    const mf_ArtPath *path = &paths[tendon];
    const mf_ArtWrap *wraps = mf_art_wraps(p->plan) + path->first_wrap;
    const int32_t *links = mf_art_path_links(p->plan) + path->first_link;
    Drift *drift = p->drift;
    mf_lane sum = mf_zero(), share = mf_set((mf_real)1);
    drift_find(p, drift);
    for (uint32_t i = 0; i + 1 < path->wrap_count; i++) {
        const mf_ArtWrap *start = &wraps[i], *next = &wraps[i + 1];
        if (start->type == MF_WRAP_PULLEY)
            share = mf_set((mf_real)start->share);
        if (start->type != MF_WRAP_SITE || next->type != MF_WRAP_SITE)
            continue;
        const PathEnd a = path_end(p, links[start->slot], start->arm, drift),
                      b = path_end(p, links[next->slot], next->arm, drift);
        sum = mf_fma(share, piece_gain(&a, &b), sum);
    }
    return sum;
}
