// Joints of printed trusses. A socket that holds its ball covers more than half of it, so two
// sockets never share one ball. So a vertex with two bars at a wide angle has its ball in the
// vertex; all other vertices have a hub, one with one of the bars, whose sockets stand on the axes
// of the others. Each bar stays within a cone of half the least angle, so none meets another.
#include "body/truss/print/joint.h"

#include "base/memory.h"
#include "base/plain.h"
#include "math/scalar.h"
#include "motion/truss/model.h"

#define LEAST_ROD 0.002  // [m] of bar that is left between two joints
#define LEAST_GAP 0.1    // [rad] of shell between a socket's edge and the arm that carries it
#define CONE_MARGIN 1.05 // [1] margin of a socket within its cone
#define HUB_MARGIN 1.15  // [1] margin of the holes of a hub within theirs

void mf_bar_direction(double out[3], const mf_JointPlan *plan, uint32_t bar, uint32_t end) {
    const mf_TrussBar *b = &plan->truss->bars[bar];
    mf_vec3_sub(out, plan->truss->vertices[b->ends[1 - end]].position,
                plan->truss->vertices[b->ends[end]].position);
    mf_vec3_normalize(out);
}

uint32_t mf_bar_end_at(const mf_JointPlan *plan, uint32_t bar, uint32_t vertex) {
    return plan->truss->bars[bar].ends[0] == vertex ? 0 : 1;
}

double mf_bar_length(const mf_JointPlan *plan, uint32_t bar) {
    const uint32_t a = plan->actuators[bar];
    const double length =
        a != MF_NONE ? plan->truss->actuators[a].lower : mf_truss_rest_length(plan->truss, bar);
    return length * plan->config->scale;
}

double mf_actuator_length(const mf_PrintConfig *c) {
    return c->body_length + c->rod_length + 2.0 * (c->wall + c->seat_clearance);
}

// ---- bars at vertices --------------------------------------------------------------------------

static mf_Status reserve(mf_JointPlan *p, mf_Error *error) {
    const size_t vertices = p->truss->vertex_count, bars = p->truss->bar_count;
    const mf_Array arrays[] = {MF_ARRAY(p->joints, vertices), MF_ARRAY(p->ends, 2 * bars),
                               MF_ARRAY(p->actuators, bars), MF_ARRAY(p->first, vertices + 2),
                               MF_ARRAY(p->bars, 2 * bars)};
    return mf_allocate_arrays(p->context, arrays, sizeof arrays / sizeof *arrays)
               ? MF_OK
               : mf_fail(error, MF_NO_MEMORY, "print: out of memory");
}

void mf_joint_plan_free(mf_JointPlan *plan) {
    mf_release(plan->context, plan->joints);
    *plan = (mf_JointPlan){.context = plan->context};
}

// Counting sort of bars by vertex: first[v + 2] counts, becomes the next place, and ends as first.
static void list_bars(mf_JointPlan *p) {
    const mf_Truss *truss = p->truss;
    for (uint32_t b = 0; b < truss->bar_count; b++) {
        p->actuators[b] = MF_NONE;
        for (int e = 0; e < 2; e++) {
            const uint32_t v = truss->bars[b].ends[e];
            p->joints[v].count++;
            p->first[v + 2]++;
        }
    }
    for (uint32_t v = 0; v < truss->vertex_count; v++)
        p->first[v + 2] += p->first[v + 1];
    for (uint32_t b = 0; b < truss->bar_count; b++) {
        for (int e = 0; e < 2; e++)
            p->bars[p->first[truss->bars[b].ends[e] + 1]++] = b;
    }
    for (uint32_t a = 0; a < truss->actuator_count; a++)
        p->actuators[truss->actuators[a].bar] = a;
}

// ---- hubs --------------------------------------------------------------------------------------

// Plain bars before actuated ones, then the thickest, then the one with fewer hubs.
static bool better_host(const mf_JointPlan *p, uint32_t a, uint32_t b) {
    const bool drives_a = p->actuators[a] != MF_NONE, drives_b = p->actuators[b] != MF_NONE;
    if (drives_a != drives_b)
        return drives_b;
    const double by = p->truss->bars[a].diameter - p->truss->bars[b].diameter;
    if (mf_abs(by) > 1e-9)
        return by > 0.0;
    uint32_t hubs[2] = {0, 0};
    for (uint32_t e = 0; e < 2; e++) {
        hubs[0] += p->ends[2 * (size_t)a + e].kind == MF_END_HUB;
        hubs[1] += p->ends[2 * (size_t)b + e].kind == MF_END_HUB;
    }
    return hubs[0] < hubs[1];
}

static void least_angle(const mf_JointPlan *p, uint32_t vertex, mf_VertexJoint *joint) {
    joint->angle = MF_PI;
    for (uint32_t i = p->first[vertex]; i < p->first[vertex + 1]; i++) {
        double a[3], b[3];
        mf_bar_direction(a, p, p->bars[i], mf_bar_end_at(p, p->bars[i], vertex));
        for (uint32_t k = i + 1; k < p->first[vertex + 1]; k++) {
            mf_bar_direction(b, p, p->bars[k], mf_bar_end_at(p, p->bars[k], vertex));
            const double angle = mf_acos(mf_clamp(mf_vec3_dot(a, b), -1.0, 1.0));
            if (i == p->first[vertex] && k == i + 1)
                joint->angle = angle + 1.0;
            if (angle < joint->angle) {
                joint->angle = angle;
                joint->pair[0] = p->bars[i];
                joint->pair[1] = p->bars[k];
            }
        }
    }
}

static double angle_of(double opposite, double hypotenuse) {
    return mf_atan2(opposite, mf_side_of(hypotenuse, opposite));
}

static double sine_of(double angle) {
    double sine;
    mf_sin_cos(angle, &sine, NULL);
    return sine;
}

static void plan_vertex(mf_JointPlan *p, uint32_t vertex) {
    mf_VertexJoint *joint = &p->joints[vertex];
    if (joint->count < 2)
        return;
    joint->host = p->bars[p->first[vertex]];
    for (uint32_t i = p->first[vertex] + 1; i < p->first[vertex + 1]; i++)
        joint->host = better_host(p, p->bars[i], joint->host) ? p->bars[i] : joint->host;
    least_angle(p, vertex, joint);
    joint->central =
        joint->count == 2 && joint->angle > p->lip + angle_of(p->arm, p->shell) + LEAST_GAP;
    joint->radius = p->shell;
    if (!joint->central) {
        const double sine = mf_clamp(sine_of(0.5 * joint->angle), 1e-3, 1.0);
        joint->radius = HUB_MARGIN * p->arm / sine;
        const double clear = CONE_MARGIN * p->shell / sine;
        const double free = mf_side_of(joint->radius, p->arm) + mf_side_of(p->shell, p->arm) + 5e-4;
        joint->offset = clear > free ? clear : free;
    }
    for (uint32_t i = p->first[vertex]; i < p->first[vertex + 1]; i++) {
        const uint32_t bar = p->bars[i];
        p->ends[2 * (size_t)bar + mf_bar_end_at(p, bar, vertex)].kind =
            bar == joint->host ? MF_END_HUB : MF_END_BALL;
    }
}

// ---- ends of bars ------------------------------------------------------------------------------

static double full_radius(const mf_JointPlan *p, uint32_t bar, uint32_t end) {
    const mf_PrintConfig *c = p->config;
    if (p->actuators[bar] == MF_NONE)
        return 0.5 * p->truss->bars[bar].diameter * c->scale;
    return 0.5 * (end == 0 ? c->body_diameter : c->rod_diameter) + c->seat_clearance + c->wall;
}

static void plan_end(mf_JointPlan *p, uint32_t bar, uint32_t end) {
    mf_BarEnd *e = &p->ends[2 * (size_t)bar + end];
    const mf_VertexJoint *joint = &p->joints[p->truss->bars[bar].ends[end]];
    e->radius = full_radius(p, bar, end);
    if (e->kind == MF_END_FOOT)
        return;
    e->ball = joint->offset;
    e->start =
        e->kind == MF_END_HUB
            ? mf_side_of(joint->radius, p->arm) + mf_abs(e->radius - p->arm)
            : joint->offset + p->shell + p->config->neck_length + mf_abs(e->radius - p->neck);
    double sine, cosine;
    mf_sin_cos(0.5 * joint->angle, &sine, &cosine);
    const double cone = joint->central ? 0.0 : e->radius * cosine / mf_clamp(sine, 1e-3, 1.0);
    e->start = e->start > cone ? e->start : cone;
}

// "; bars[2] is 20 degrees away at vertices[1]" where that is what makes the joints long.
static void say_angle(const mf_JointPlan *p, uint32_t bar, char *out, size_t size) {
    out[0] = '\0';
    double least = 0.9;
    for (uint32_t e = 0; e < 2; e++) {
        const uint32_t v = p->truss->bars[bar].ends[e];
        const mf_VertexJoint *joint = &p->joints[v];
        if (joint->count < 2 || joint->central || joint->angle >= least)
            continue;
        least = joint->angle;
        mf_plain_format(out, size,
                        "; bars[%u] and bars[%u] are only %.0f degrees apart at vertices[%u]",
                        joint->pair[0], joint->pair[1], joint->angle * 180.0 / MF_PI, v);
    }
}

static mf_Status check_bar(const mf_JointPlan *p, uint32_t bar, mf_Error *error) {
    const uint32_t a = p->actuators[bar];
    const double length = mf_bar_length(p, bar), scale = p->config->scale;
    const mf_BarEnd *ends = &p->ends[2 * (size_t)bar];
    const double middle = a == MF_NONE ? LEAST_ROD : mf_actuator_length(p->config);
    const double needed = ends[0].start + ends[1].start + middle;
    char why[128];
    say_angle(p, bar, why, sizeof why);
    MF_CHECK(length >= needed, error, MF_UNSUPPORTED,
             "bars[%u]: %.4g m long%s, %s %.4g m%s; a scale of %.3g would fit", bar, length,
             a == MF_NONE ? "" : " at its shortest",
             a == MF_NONE ? "its joints need" : "its joints and its actuator need", needed, why,
             1.01 * needed / length * scale);
    if (a == MF_NONE)
        return MF_OK;
    const mf_TrussActuator *actuator = &p->truss->actuators[a];
    const double range = (actuator->upper - actuator->lower) * scale;
    MF_CHECK(range <= p->config->stroke + 1e-9, error, MF_UNSUPPORTED,
             "bars[%u]: actuators[%u] changes its length by %.4g m, the stroke is %.4g m", bar, a,
             range, p->config->stroke);
    return MF_OK;
}

mf_Status mf_joint_plan(mf_Context *context, const mf_Truss *truss, const mf_PrintConfig *config,
                        mf_JointPlan *out, mf_Error *error) {
    mf_JointPlan p = {.context = context, .truss = truss, .config = config};
    p.ball = 0.5 * config->ball_diameter;
    p.neck = 0.5 * config->neck_diameter;
    p.cavity = p.ball + config->clearance;
    p.shell = p.cavity + config->wall;
    p.arm = 0.7 * p.shell;
    p.lip = config->opening;
    mf_Status status = MF_OK;
    MF_TRY(reserve(&p, error));
    list_bars(&p);
    for (uint32_t v = 0; v < truss->vertex_count; v++)
        plan_vertex(&p, v);
    for (uint32_t b = 0; b < truss->bar_count && status == MF_OK; b++) {
        plan_end(&p, b, 0);
        plan_end(&p, b, 1);
        status = check_bar(&p, b, error);
    }
    if (status != MF_OK)
        mf_joint_plan_free(&p);
    *out = p;
    return status;
}
