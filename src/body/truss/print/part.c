// Parts of bars: one surface of revolution along the bar, and at its hubs a sphere with a hole for
// each bar, from whose edges the surfaces of the sockets begin.
#include "body/truss/print/part.h"

#include "math/scalar.h"

#include <string.h>

// ---- the bar -----------------------------------------------------------------------------------

// From the tip of an end up to its full radius, in distances from its vertex.
static void end_profile(mf_Profile *out, const mf_JointPlan *p, const mf_BarEnd *e,
                        const mf_VertexJoint *joint) {
    const uint32_t segments = p->config->segments;
    if (e->kind == MF_END_FOOT) {
        mf_profile_arc(out, 0.0, e->radius, MF_PI, 0.5 * MF_PI, segments);
        return;
    }
    if (e->kind == MF_END_BALL) {
        const double neck = mf_atan2(p->neck, mf_side_of(p->ball, p->neck));
        mf_profile_arc(out, e->ball, p->ball, MF_PI, neck, segments);
        mf_profile_point(out, p->neck, e->start - mf_abs(e->radius - p->neck));
    } else {
        mf_profile_point(out, p->arm, mf_side_of(joint->radius, p->arm));
        mf_profile_point(out, p->arm, e->start - mf_abs(e->radius - p->arm));
    }
    mf_profile_point(out, e->radius, e->start);
}

static void append_mirrored(mf_Profile *out, const mf_Profile *end, double length) {
    for (uint32_t i = end->count; i-- > 0;)
        mf_profile_point(out, end->radius[i], length - end->z[i]);
}

// The seat of an actuator behind an end: a bore of `radius` [m] whose bottom is at `bottom` [m].
static void seat_profile(mf_Profile *out, const mf_JointPlan *p, const mf_BarEnd *e,
                         double diameter, double bottom) {
    const double bore = 0.5 * diameter + p->config->seat_clearance;
    mf_profile_point(out, e->radius, bottom + p->config->seat_depth);
    mf_profile_point(out, bore, bottom + p->config->seat_depth);
    mf_profile_point(out, bore, bottom);
    mf_profile_point(out, 0.0, bottom);
}

// [m] from the first vertex to the bottom of the body's seat: what the bar is longer than needed is
// solid there.
static double body_bottom(const mf_JointPlan *p, uint32_t bar) {
    const mf_BarEnd *ends = &p->ends[2 * (size_t)bar];
    return mf_bar_length(p, bar) - ends[1].start - mf_actuator_length(p->config) + p->config->wall;
}

// ---- hubs --------------------------------------------------------------------------------------

// The socket of one bar, from the hub's sphere to the bottom of its cavity.
static void draw_socket(mf_SolidDraft *draft, const mf_JointPlan *p, const mf_VertexJoint *joint,
                        const mf_SolidFrame *frame, mf_SolidHole *hole) {
    mf_Profile profile = {.count = 0};
    const uint32_t segments = p->config->segments;
    const double arm = mf_atan2(p->arm, mf_side_of(joint->radius, p->arm));
    double sine, cosine;
    mf_sin_cos(p->lip, &sine, &cosine);
    if (joint->central) {
        mf_profile_point(&profile, p->shell * sine, p->shell * cosine);
    } else {
        const double back = MF_PI - mf_atan2(p->arm, mf_side_of(p->shell, p->arm));
        mf_profile_point(&profile, p->arm, mf_side_of(joint->radius, p->arm));
        mf_profile_arc(&profile, joint->offset, p->shell, back, p->lip, segments);
    }
    mf_profile_arc(&profile, joint->offset, p->cavity, p->lip, MF_PI, segments);
    uint32_t ends[2];
    mf_solid_rotate(draft, frame, &profile, ends);
    memcpy(hole->axis, frame->axes[2], sizeof hole->axis);
    hole->angle = joint->central ? p->lip : arm;
    hole->ring = ends[0];
}

// `ring` is the edge of the bar's own hole; `world` has the part's axes in the truss's
// frame.
static mf_Status draw_hub(mf_SolidDraft *draft, const mf_JointPlan *p, uint32_t vertex,
                          const double center[3], const mf_SolidFrame *world, uint32_t ring,
                          mf_Error *error) {
    const mf_VertexJoint *joint = &p->joints[vertex];
    mf_SolidHole *holes = mf_allocate(p->context, joint->count, sizeof *holes);
    MF_NEED_MEMORY(holes != NULL, error, "print");
    for (uint32_t i = 0; i < joint->count; i++) {
        const uint32_t bar = p->bars[p->first[vertex] + i];
        double away[3], axis[3];
        mf_bar_direction(away, p, bar, mf_bar_end_at(p, bar, vertex));
        for (int k = 0; k < 3; k++)
            axis[k] = mf_vec3_dot(away, world->axes[k]);
        if (bar == joint->host) {
            memcpy(holes[i].axis, axis, sizeof axis);
            holes[i].angle = mf_atan2(p->arm, mf_side_of(joint->radius, p->arm));
            holes[i].ring = ring;
            continue;
        }
        const mf_SolidFrame frame = mf_solid_frame(center, axis);
        draw_socket(draft, p, joint, &frame, &holes[i]);
    }
    const mf_Status status =
        mf_solid_sphere(draft, center, joint->radius, holes, joint->count, error);
    mf_release(p->context, holes);
    return status;
}

uint32_t mf_part_sockets(const mf_JointPlan *plan, uint32_t bar, uint32_t end) {
    return plan->ends[2 * (size_t)bar + end].kind == MF_END_HUB
               ? plan->joints[plan->truss->bars[bar].ends[end]].count - 1
               : 0;
}

// ---- parts -------------------------------------------------------------------------------------

static void part_profile(mf_Profile *out, const mf_JointPlan *p, uint32_t bar, double length,
                         bool first, bool second) {
    const mf_BarEnd *ends = &p->ends[2 * (size_t)bar];
    const uint32_t *vertices = p->truss->bars[bar].ends;
    mf_Profile other = {.count = 0};
    if (first)
        end_profile(out, p, &ends[0], &p->joints[vertices[0]]);
    if (second)
        end_profile(&other, p, &ends[1], &p->joints[vertices[1]]);
    if (first && !second)
        seat_profile(out, p, &ends[0], p->config->body_diameter, body_bottom(p, bar));
    if (second && !first)
        seat_profile(&other, p, &ends[1], p->config->rod_diameter, ends[1].start + p->config->wall);
    append_mirrored(out, &other, length);
}

mf_Status mf_part_draw(mf_SolidDraft *draft, const mf_JointPlan *plan, uint32_t bar, double length,
                       bool first, bool second, mf_Error *error) {
    const double origin[3] = {0.0, 0.0, 0.0}, up[3] = {0.0, 0.0, 1.0};
    const mf_SolidFrame own = mf_solid_frame(origin, up);
    const uint32_t *vertices = plan->truss->bars[bar].ends;
    mf_Profile profile = {.count = 0};
    double axis[3];
    uint32_t rings[2];
    part_profile(&profile, plan, bar, length, first, second);
    mf_solid_rotate(draft, &own, &profile, rings);
    mf_bar_direction(axis, plan, bar, 0);
    const mf_SolidFrame world = mf_solid_frame(origin, axis);
    for (uint32_t e = 0; e < 2; e++) {
        const double center[3] = {0.0, 0.0, e == 0 ? 0.0 : length};
        if ((e == 0 ? first : second) && plan->ends[2 * (size_t)bar + e].kind == MF_END_HUB)
            MF_TRY(draw_hub(draft, plan, vertices[e], center, &world, rings[e], error));
    }
    MF_NEED_MEMORY(!draft->failed, error, "print");
    return MF_OK;
}

void mf_part_draw_actuator(mf_SolidDraft *draft, const mf_JointPlan *plan, uint32_t bar,
                           double length) {
    const mf_PrintConfig *c = plan->config;
    const double origin[3] = {0.0, 0.0, 0.0}, up[3] = {0.0, 0.0, 1.0};
    const mf_SolidFrame own = mf_solid_frame(origin, up);
    const double bottom = body_bottom(plan, bar) + c->seat_clearance,
                 front = bottom + c->body_length;
    const double tip = length - plan->ends[2 * (size_t)bar + 1].start - c->wall - c->seat_clearance;
    mf_Profile profile = {.count = 0};
    uint32_t rings[2];
    mf_profile_point(&profile, 0.0, bottom);
    mf_profile_point(&profile, 0.5 * c->body_diameter, bottom);
    mf_profile_point(&profile, 0.5 * c->body_diameter, front);
    mf_profile_point(&profile, 0.5 * c->rod_diameter, front);
    mf_profile_point(&profile, 0.5 * c->rod_diameter, tip);
    mf_profile_point(&profile, 0.0, tip);
    mf_solid_rotate(draft, &own, &profile, rings);
}
