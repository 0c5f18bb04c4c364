// What a joint's limit has to stop: the larger of the two inertias about its axis, of what hangs on
// it and of what carries it, with all other joints stiff at their start. It scales the spring and
// damper of the limit, so it must not depend on the state: the inertia that the step sees holds
// what friction of contacts adds and jumps by orders of magnitude when a foot slips.
#include "motion/articulated/build.h"
#include "math/scalar.h"

#include <string.h>

typedef struct Heap {  // rigid parts together, about the origin of the base, in its axes
    double mass;       // [kg]
    double moment[3];  // [kg m] mass times centre
    double inertia[9]; // [kg m^2]
} Heap;

typedef struct Pose {
    double turn[9]; // [1] own axes to the base's
    double place[3];
} Pose;

// The turns about z and x of a link's frame, then `last` about z.
static void turn_frame(double out[9], const double *c, double cosine, double sine) {
    const double cz = c[MF_ART_COS_SPIN], sz = c[MF_ART_SIN_SPIN], cx = c[MF_ART_COS_TILT],
                 sx = c[MF_ART_SIN_TILT];
    const double frame[9] = {cz, -sz * cx, sz * sx, sz, cz * cx, -cz * sx, 0, sx, cx};
    const double last[9] = {cosine, -sine, 0, sine, cosine, 0, 0, 0, 1};
    mf_mat3_multiply(out, frame, last);
}

static void place_link(const mf_ArtPlan *plan, const mf_Model *model, uint32_t l, Pose *poses) {
    const mf_ArtLink *link = &plan->links[l];
    const double *c = mf_art_constants(plan, (int32_t)l);
    const Pose *parent = &poses[link->parent + 1];
    Pose *own = &poses[l + 1];
    double joint[9], way[3], sine, cosine, start = 0.0;
    if (model->start_angle != NULL && !link->inner)
        start = model->start_angle[link->joint];
    start += c[MF_ART_OFFSET];
    mf_sin_cos(start, &sine, &cosine);
    if (link->kind == MF_ART_BALL)
        memcpy(joint, c + MF_ART_TURN, sizeof joint);
    else if (link->kind == MF_ART_SLIDE)
        turn_frame(joint, c, c[MF_ART_COS_OFFSET], c[MF_ART_SIN_OFFSET]);
    else
        turn_frame(joint, c, cosine, sine);
    mf_mat3_multiply(own->turn, parent->turn, joint);
    mf_mat3_apply(way, parent->turn, c + MF_ART_PLACE);
    mf_vec3_add(own->place, parent->place, way);
    for (int i = 0; link->kind == MF_ART_SLIDE && i < 3; i++)
        own->place[i] += own->turn[3 * i + 2] * start;
}

// A rigid part by the inertial constants of its link, moved into the base's axes.
static void heap_part(Heap *out, const double *c, const Pose *pose) {
    const double *j = c + MF_ART_INERTIA, *p = pose->place;
    const double own[9] = {j[0], j[3], j[4], j[3], j[1], j[5], j[4], j[5], j[2]};
    double half[9], back[9], h[3];
    out->mass = c[MF_ART_MASS];
    mf_mat3_apply(h, pose->turn, c + MF_ART_MOMENT);
    mf_vec3_add_scaled(out->moment, h, out->mass, p);
    mf_mat3_multiply(half, pose->turn, own);
    mf_mat3_transpose(back, pose->turn);
    mf_mat3_multiply(out->inertia, half, back);
    // The sum of m ((r + p)^2 - (r + p) (r + p)^T) over its mass points.
    double spread = 2.0 * mf_vec3_dot(h, p) + out->mass * mf_vec3_dot(p, p);
    for (int i = 0; i < 9; i++) {
        const int row = i / 3, column = i % 3;
        double outer = h[row] * p[column] + p[row] * h[column] + out->mass * p[row] * p[column];
        out->inertia[i] += (row == column ? spread : 0.0) - outer;
    }
}

static void heap_add(Heap *to, const Heap *part, double sign) {
    to->mass += sign * part->mass;
    mf_vec3_add_scaled(to->moment, to->moment, sign, part->moment);
    for (int i = 0; i < 9; i++)
        to->inertia[i] += sign * part->inertia[i];
}

// Of a heap about the axis u through p: u.J u - 2 (u x p).(u x h) + m (u x p)^2.
static double heap_about(const Heap *heap, const double u[3], const double p[3]) {
    double turned[3], arm[3], pull[3];
    mf_mat3_apply(turned, heap->inertia, u);
    mf_vec3_cross(arm, u, p);
    mf_vec3_cross(pull, u, heap->moment);
    return mf_vec3_dot(u, turned) - 2.0 * mf_vec3_dot(arm, pull) +
           heap->mass * mf_vec3_dot(arm, arm);
}

// What a joint has to move of a heap; a ball joint the mean about its three axes.
static double heap_moved(const Heap *heap, const mf_ArtLink *link, const Pose *pose) {
    double sum = 0.0;
    if (link->kind == MF_ART_SLIDE)
        return heap->mass;
    for (int axis = link->kind == MF_ART_BALL ? 0 : 2; axis < 3; axis++) {
        const double u[3] = {pose->turn[axis], pose->turn[3 + axis], pose->turn[6 + axis]};
        sum += heap_about(heap, u, pose->place);
    }
    return link->kind == MF_ART_BALL ? sum / 3.0 : sum;
}

// The heap that floats and holds link l (-1: the base): heaps[*] + 1 of it; MF_NONE where it is the
// world's.
static uint32_t floating_root(const mf_ArtPlan *plan, const mf_Model *model, uint32_t l) {
    for (int32_t i = (int32_t)l; i >= 0; i = plan->links[i].parent)
        if (model->joints[plan->links[i].joint].type == MF_JOINT_FLOATING)
            return (uint32_t)i + 1;
    return plan->fixed ? MF_NONE : 0;
}

mf_Status mf_art_moved_find(mf_ArtPlan *plan, const mf_Model *model, mf_Context *context,
                            mf_Error *error) {
    Pose *poses = mf_allocate(context, plan->link_count + 1, sizeof *poses);
    Heap *heaps = mf_allocate(context, plan->link_count + 1, sizeof *heaps);
    if (poses == NULL || heaps == NULL) {
        mf_release(context, poses);
        mf_release(context, heaps);
        return mf_fail(error, MF_NO_MEMORY, "articulated: out of memory");
    }
    poses[0] = (Pose){.turn = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    for (uint32_t l = 0; l < plan->link_count; l++)
        place_link(plan, model, l, poses);
    for (uint32_t l = 0; l <= plan->link_count; l++)
        heap_part(&heaps[l], mf_art_constants(plan, (int32_t)l - 1), &poses[l]);
    for (uint32_t l = plan->link_count; l-- > 0;)
        heap_add(&heaps[plan->links[l].parent + 1], &heaps[l + 1], 1.0);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &plan->links[l];
        uint32_t root = floating_root(plan, model, l);
        double *c = mf_art_constants(plan, (int32_t)l);
        double moved = heap_moved(&heaps[l + 1], link, &poses[l + 1]);
        if (root != MF_NONE && root != l + 1) {
            Heap rest = heaps[root];
            heap_add(&rest, &heaps[l + 1], -1.0);
            double carried = heap_moved(&rest, link, &poses[l + 1]);
            moved = carried > moved ? carried : moved;
        }
        c[MF_ART_MOVED] = moved + c[MF_ART_ARMATURE];
    }
    mf_release(context, poses);
    mf_release(context, heaps);
    return MF_OK;
}
