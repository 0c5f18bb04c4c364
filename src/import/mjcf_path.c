// The path of a spatial tendon at the start position, in plain numbers: its length and its straight
// pieces, for spring lengths, damping ratios and muscles.
#include "import/mjcf.h"

#include "math/bend.h"
#include "math/scalar.h"

#include <string.h>

typedef struct Walk {
    const mf_LinkPose *links;
    double share, length;
    mf_PathPiece piece;
    void *user;
} Walk;

static void to_world(const Walk *walk, uint32_t link, const double position[3], double out[3]) {
    mf_vec3_copy(out, position);
    if (link == MF_NONE)
        return;
    mf_quat_rotate(out, walk->links[link].rotation, position);
    mf_vec3_add(out, out, walk->links[link].position);
}

static void go_straight(Walk *walk, uint32_t from_link, const double from[3], uint32_t to_link,
                        const double to[3]) {
    double offset[3];
    mf_vec3_sub(offset, to, from);
    walk->length += walk->share * mf_vec3_length(offset);
    if (walk->piece != NULL)
        walk->piece(walk->user, from_link, from, to_link, to, walk->share);
}

static void go_around(Walk *walk, const mf_TendonWrap *shape, const mf_TendonWrap *start,
                      const double from[3], const mf_TendonWrap *end, const double to[3]) {
    double center[3], rotation[4], a[3], b[3], side[3], crossing[3], leaves[3], arc;
    const uint32_t link = shape->frame.link;
    to_world(walk, link, shape->frame.position, center);
    memcpy(rotation, shape->frame.rotation, sizeof rotation);
    if (link != MF_NONE)
        mf_quat_multiply(rotation, walk->links[link].rotation, shape->frame.rotation);
    mf_vec3_sub(a, from, center);
    mf_quat_rotate_inverse(a, rotation, a);
    mf_vec3_sub(b, to, center);
    mf_quat_rotate_inverse(b, rotation, b);
    if (shape->side != MF_NONE) {
        to_world(walk, shape->side_link, shape->side_position, side);
        mf_vec3_sub(side, side, center);
        mf_quat_rotate_inverse(side, rotation, side);
    }
    if (!mf_bend_around(shape->type == MF_WRAP_CYLINDER, shape->radius, a, b,
                        shape->side != MF_NONE ? side : NULL, crossing, leaves, &arc)) {
        go_straight(walk, start->frame.link, from, end->frame.link, to);
        return;
    }
    mf_quat_rotate(crossing, rotation, crossing);
    mf_vec3_add(crossing, crossing, center);
    mf_quat_rotate(leaves, rotation, leaves);
    mf_vec3_add(leaves, leaves, center);
    go_straight(walk, start->frame.link, from, link, crossing);
    walk->length += walk->share * arc;
    go_straight(walk, link, leaves, end->frame.link, to);
}

double mf_mjcf_path_length(const mf_TendonWrap *wraps, uint32_t count, const mf_LinkPose *links,
                           mf_PathPiece piece, void *user) {
    Walk walk = {.links = links, .share = 1.0, .piece = piece, .user = user};
    for (uint32_t i = 0; i + 1 < count;) {
        const mf_TendonWrap *start = &wraps[i], *next = &wraps[i + 1];
        if (start->type == MF_WRAP_PULLEY)
            walk.share = 1.0 / start->divisor;
        if (start->type == MF_WRAP_PULLEY || next->type == MF_WRAP_PULLEY) {
            i++;
            continue;
        }
        const bool around = next->type != MF_WRAP_SITE;
        const mf_TendonWrap *end = around ? &wraps[i + 2] : next;
        double from[3], to[3];
        to_world(&walk, start->frame.link, start->frame.position, from);
        to_world(&walk, end->frame.link, end->frame.position, to);
        if (around)
            go_around(&walk, next, start, from, end, to);
        else
            go_straight(&walk, start->frame.link, from, end->frame.link, to);
        i += around ? 2 : 1;
    }
    return walk.length;
}
