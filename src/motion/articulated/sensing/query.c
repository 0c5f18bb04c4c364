// Forward dynamics, overlaps, energy and momentum of one instance: packs its state and runs the
// kernel for one lane in double precision.
#include "motion/articulated/build.h"
#include "motion/articulated/host.h"
#include "motion/articulated/vary.h"
#include "math/scalar.h"
#include "world/attach.h"

#include <string.h>

// Borrows values and fills them.
static void read_state(const mf_ArtMotion *motion, uint32_t instance, mf_ArtValues *values) {
    mf_art_values_borrow(motion, values);
    mf_field_read(motion->rows[MF_ART_ROW_POSITION], instance, 0, 3, values->position);
    mf_field_read(motion->rows[MF_ART_ROW_ORIENTATION], instance, 0, 4, values->position + 3);
    if (!motion->plan->fixed) {
        mf_field_read(motion->rows[MF_ART_ROW_LINEAR], instance, 0, 3, values->velocity);
        mf_field_read(motion->rows[MF_ART_ROW_ANGULAR], instance, 0, 3, values->velocity + 3);
    }
    for (uint32_t l = 0; l < motion->plan->link_count; l++) {
        const mf_ArtLink *link = &motion->links[l];
        double *q = values->joints + link->position, *v = values->velocity + link->velocity;
        bool ball = link->kind == MF_ART_BALL;
        const mf_Field *angle = motion->rows[ball          ? MF_ART_ROW_BALL
                                             : link->inner ? MF_ART_ROW_FREE
                                                           : MF_ART_ROW_ANGLE];
        const mf_Field *rate = motion->rows[ball          ? MF_ART_ROW_BALL_RATE
                                            : link->inner ? MF_ART_ROW_FREE_SPEED
                                                          : MF_ART_ROW_RATE];
        uint32_t width = ball ? 3 : 1;
        mf_field_read(angle, instance, link->row * (ball ? 4 : 1), ball ? 4 : 1, q);
        mf_field_read(rate, instance, link->row * width, width, v);
    }
}

// Asks about an instance as it is.
static void ask_instance(const mf_ArtMotion *motion, uint32_t instance, mf_ArtTask task,
                         const double *in, double *out) {
    mf_ArtValues values;
    mf_ArtMotion own;
    const mf_ArtMotion *asked = mf_art_own(motion, instance, &own);
    read_state(asked, instance, &values);
    mf_art_ask(asked, task, &values, in, out);
    mf_art_values_return(asked, &values);
    mf_art_return_own(motion, asked);
}

void mf_art_overlaps(const mf_ArtMotion *motion, const mf_Model *model, const double *angle,
                     double *depth) {
    mf_ArtValues values;
    mf_art_values_borrow(motion, &values);
    values.position[3] = 1.0;
    for (uint32_t l = 0; l < motion->plan->link_count; l++) {
        const mf_ArtLink *link = &motion->links[l];
        mf_JointType type = model->joints[link->joint].type;
        if (link->kind == MF_ART_BALL)
            values.joints[link->position] = 1.0;
        else if (type == MF_JOINT_HINGE || type == MF_JOINT_SLIDE)
            values.joints[link->position] = angle[link->joint];
    }
    mf_art_ask(motion, MF_ART_TASK_OVERLAP, &values, NULL, depth);
    mf_art_values_return(motion, &values);
}

double mf_art_deepest(const mf_Group *group, uint32_t instance, uint32_t shapes[2]) {
    const mf_ArtMotion *motion = mf_art_motion_of(group);
    if (motion == NULL || motion->collide == NULL)
        return 0.0;
    const mf_CollidePlan *collide = motion->collide;
    mf_Context *context = mf_world_context(mf_group_world((mf_Group *)(uintptr_t)group));
    double *depth = mf_allocate(context, mf_art_overlap_count(collide), sizeof *depth), most = 0.0;
    if (depth == NULL)
        return 0.0;
    ask_instance(motion, instance, MF_ART_TASK_OVERLAP, NULL, depth);
    uint32_t deepest = MF_NONE;
    for (uint32_t i = 0; i < collide->pair_count; i++) {
        if (!motion->pair_allowed[i] || !(depth[i] > most))
            continue;
        most = depth[i];
        deepest = i;
    }
    for (uint32_t i = 0; i < collide->floating_count; i++) {
        const double *pair = depth + collide->pair_count + 2 * (size_t)i;
        if (!(pair[0] > most))
            continue;
        most = pair[0];
        deepest = mf_collide_number(collide, i, (uint32_t)pair[1]);
    }
    if (deepest != MF_NONE) {
        const mf_CollidePair pair = mf_collide_pair_of(collide, deepest);
        shapes[0] = mf_collide_shapes(collide)[pair.a].shape;
        shapes[1] = mf_collide_shapes(collide)[pair.b].shape;
    }
    mf_release(context, depth);
    return most;
}

void mf_art_armature_of(const mf_ArtMotion *motion, double *armature) {
    for (int32_t l = motion->plan->fixed ? 0 : -1; l < (int32_t)motion->plan->link_count; l++) {
        const uint32_t first = l < 0 ? 0 : motion->links[l].velocity,
                       count = l < 0                                  ? 6
                               : motion->links[l].kind == MF_ART_BALL ? 3
                                                                      : 1;
        for (uint32_t i = 0; i < count; i++)
            armature[first + i] = mf_art_constants(motion, l)[MF_ART_ARMATURE];
    }
}

bool mf_art_armature(const mf_Group *group, bool *free, double *armature) {
    const mf_ArtMotion *motion = mf_art_motion_of(group);
    if (motion == NULL)
        return false;
    *free = !motion->plan->fixed;
    mf_art_armature_of(motion, armature);
    return true;
}

void mf_articulated_forward(const mf_Group *group, uint32_t instance, const double *force,
                            double *acceleration) {
    const mf_ArtMotion *motion = group != NULL ? mf_art_motion_of(group) : NULL;
    if (motion != NULL && instance < mf_group_count(group))
        ask_instance(motion, instance, MF_ART_TASK_FORWARD, force, acceleration);
}

// ---- energy and momentum ------------------------------------------------------------------------

// Column `axis` of a body's axes.
static void body_axis(double out[3], const mf_ArtBody *body, uint32_t axis) {
    mf_vec3_set(out, body->rotation[axis], body->rotation[3 + axis], body->rotation[6 + axis]);
}

static void child_flight(const mf_ArtMotion *motion, const mf_ArtValues *values, uint32_t l) {
    const mf_ArtLink *link = &motion->links[l];
    const mf_ArtBody *bodies = values->bodies;
    mf_ArtFlight *flights = values->flights;
    const mf_ArtFlight *parent = &flights[link->parent + 1];
    const double *speed = values->velocity + link->velocity;
    mf_ArtFlight *own = &flights[l + 1];
    double arm[3], swing[3], axis[3];
    mf_vec3_sub(arm, bodies[l + 1].position, bodies[link->parent + 1].position);
    mf_vec3_cross(swing, parent->rate, arm);
    mf_vec3_add(own->velocity, parent->velocity, swing);
    mf_vec3_copy(own->rate, parent->rate);
    for (uint32_t i = link->kind == MF_ART_BALL ? 0 : 2; i < 3; i++) {
        body_axis(axis, &bodies[l + 1], i);
        mf_vec3_add_scaled(link->kind == MF_ART_SLIDE ? own->velocity : own->rate,
                           link->kind == MF_ART_SLIDE ? own->velocity : own->rate,
                           speed[link->kind == MF_ART_BALL ? i : 0], axis);
    }
}

static void find_flights(const mf_ArtMotion *motion, const mf_ArtValues *values) {
    mf_art_ask(motion, MF_ART_TASK_POSE, values, NULL, values->bodies[0].rotation);
    values->flights[0] = (mf_ArtFlight){.rate = {0}};
    if (!motion->plan->fixed) {
        mf_vec3_copy(values->flights[0].velocity, values->velocity);
        mf_mat3_apply(values->flights[0].rate, values->bodies[0].rotation, values->velocity + 3);
    }
    for (uint32_t l = 0; l < motion->plan->link_count; l++)
        child_flight(motion, values, l);
}

// Momentum of one body, angular about the world's origin, and its energy.
typedef struct Share {
    double mass, center[3], linear[3], angular[3], kinetic;
} Share;

static void body_share(const mf_ArtMotion *motion, int32_t l, const mf_ArtBody *body,
                       const mf_ArtFlight *flight, Share *share) {
    const double *c = mf_art_constants(motion, l);
    double moment[3], rotation[4], angular[3], swing[3], about[3], inertia[6];
    double mass = c[MF_ART_MASS];
    mf_mat3_apply(moment, body->rotation, c + MF_ART_MOMENT);
    mf_quat_from_matrix(rotation, body->rotation);
    mf_inertia_rotate(inertia, c + MF_ART_INERTIA, rotation);
    const double *w = flight->rate, *v = flight->velocity;
    mf_vec3_set(angular, inertia[0] * w[0] + inertia[3] * w[1] + inertia[4] * w[2],
                inertia[3] * w[0] + inertia[1] * w[1] + inertia[5] * w[2],
                inertia[4] * w[0] + inertia[5] * w[1] + inertia[2] * w[2]);
    mf_vec3_cross(swing, w, moment);
    mf_vec3_add_scaled(share->linear, swing, mass, v);
    mf_vec3_cross(about, moment, v);
    mf_vec3_add(about, about, angular);
    share->kinetic = 0.5 * (mf_vec3_dot(v, share->linear) + mf_vec3_dot(w, about));
    mf_vec3_cross(share->angular, body->position, share->linear);
    mf_vec3_add(share->angular, share->angular, about);
    mf_vec3_add_scaled(share->center, moment, mass, body->position);
    share->mass = mass;
}

static void all_shares(const mf_ArtMotion *motion, const mf_ArtValues *values, Share *sum) {
    find_flights(motion, values);
    memset(sum, 0, sizeof *sum);
    for (int32_t l = motion->plan->fixed ? 0 : -1; l < (int32_t)motion->plan->link_count; l++) {
        Share share;
        body_share(motion, l, &values->bodies[l + 1], &values->flights[l + 1], &share);
        sum->mass += share.mass;
        sum->kinetic += share.kinetic;
        mf_vec3_add(sum->center, sum->center, share.center);
        mf_vec3_add(sum->linear, sum->linear, share.linear);
        mf_vec3_add(sum->angular, sum->angular, share.angular);
    }
}

// Makes all joints stand.
static void stop_joints(const mf_ArtMotion *motion, const mf_ArtValues *values) {
    for (uint32_t i = motion->plan->fixed ? 0 : 6; i < motion->plan->velocity_count; i++)
        values->velocity[i] = 0.0;
}

mf_MotionEnergy mf_art_energy(const mf_ArtMotion *of, uint32_t instance, bool joints) {
    mf_ArtValues values;
    Share sum;
    mf_ArtMotion own;
    const mf_ArtMotion *motion = mf_art_own(of, instance, &own);
    read_state(motion, instance, &values);
    if (!joints)
        stop_joints(motion, &values);
    all_shares(motion, &values, &sum);
    double gravity = motion->constants_f64[MF_ART_GRAVITY];
    mf_MotionEnergy energy = {
        .kinetic = sum.kinetic,
        .potential = gravity * mf_vec3_dot(motion->constants_f64 + MF_ART_ZENITH, sum.center)};
    for (int32_t l = motion->plan->fixed ? 0 : -1; l < (int32_t)motion->plan->link_count; l++) {
        const double *c = mf_art_constants(motion, l);
        const double *v = l < 0 ? values.velocity : values.velocity + motion->links[l].velocity;
        uint32_t count = l < 0 ? 6 : motion->links[l].kind == MF_ART_BALL ? 3 : 1;
        for (uint32_t i = 0; i < count; i++)
            energy.kinetic += 0.5 * c[MF_ART_ARMATURE] * v[i] * v[i];
        if (l < 0 || !(motion->links[l].drive & MF_ART_HAS_SPRING))
            continue;
        double q = values.joints[motion->links[l].position];
        double stretch = q - c[MF_ART_RELAXED];
        energy.elastic += 0.5 * c[MF_ART_STIFFNESS] * stretch * stretch;
    }
    mf_art_values_return(motion, &values);
    mf_art_return_own(of, motion);
    return energy;
}

void mf_art_momentum(const mf_ArtMotion *of, uint32_t instance, bool joints, double center[3],
                     double linear[3], double angular[3]) {
    mf_ArtValues values;
    Share sum;
    double orbit[3];
    mf_ArtMotion own;
    const mf_ArtMotion *motion = mf_art_own(of, instance, &own);
    read_state(motion, instance, &values);
    if (!joints)
        stop_joints(motion, &values);
    all_shares(motion, &values, &sum);
    mf_art_values_return(motion, &values);
    mf_art_return_own(of, motion);
    mf_vec3_scale(center, sum.center, 1.0 / sum.mass);
    mf_vec3_copy(linear, sum.linear);
    mf_vec3_cross(orbit, center, sum.linear);
    mf_vec3_sub(angular, sum.angular, orbit);
}
