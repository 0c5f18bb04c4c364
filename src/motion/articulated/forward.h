// Forward dynamics by articulated bodies (Featherstone 1983; 2008, table 7.1) in three passes:
// outward for velocities, inward for articulated inertias, outward for accelerations. Joint forces
// and contacts that act at the end of the step enter the articulated inertia (drive.h, contact.h).
//
// Accelerations are those of the origins with gravity taken away, so that a link's bias force is
// w x J w and w x (w x h) only. Rotor armature makes the joint's inertia larger than the link's
// share of it, so the row of the axis does not vanish when the joint is eliminated.
#ifndef MF_MOTION_ARTICULATED_FORWARD_H
#define MF_MOTION_ARTICULATED_FORWARD_H

#include "motion/articulated/actuate.h"
#include "motion/articulated/contact.h"
#include "motion/articulated/linkage.h"

typedef struct LinkWork {
    mf_lane cosine, sine; // [1] of the joint's turn
    Vec rate;             // [rad/s] own axes
    Vec bias;             // [m/s^2] rate x (rate x place), parent's axes
    Vec angular;          // [1], [1/m] response of the joint's acceleration to those of the parent
    Vec linear;
    mf_lane push; // [rad/s^2] or [m/s^2] the joint's acceleration when the parent is at rest
} LinkWork;

typedef struct BallWork {
    Mat turn;    // child's axes to the parent's
    Sym inverse; // [1/(kg m^2)]
    Sym j;
    Mat h;
    Vec force; // [N m]
} BallWork;

typedef struct Work {
    LinkWork links[MF_ARTICULATED_MAX_LINKS];
    BallWork balls[MF_ARTICULATED_MAX_BALLS];
    Art sums[MF_ARTICULATED_MAX_LINKS]; // by depth: what the links further out hand in
    Art base;
    Vec base_angular, base_linear; // accelerations, gravity taken away, own axes
    Vec angular[MF_ARTICULATED_MAX_LINKS], linear[MF_ARTICULATED_MAX_LINKS];
    Contacts contacts;
    Actuation actuation;
} Work;

static MF_INLINE Sym sym_inverse_of(const Sym *s) {
    mf_lane xx = mf_fma(s->yy, s->zz, -(s->yz * s->yz));
    mf_lane yy = mf_fma(s->xx, s->zz, -(s->xz * s->xz));
    mf_lane zz = mf_fma(s->xx, s->yy, -(s->xy * s->xy));
    mf_lane xy = mf_fma(s->xz, s->yz, -(s->xy * s->zz));
    mf_lane xz = mf_fma(s->xy, s->yz, -(s->xz * s->yy));
    mf_lane yz = mf_fma(s->xy, s->xz, -(s->xx * s->yz));
    mf_lane scale = mf_set((mf_real)1) / vec_dot((Vec){s->xx, s->xy, s->xz}, (Vec){xx, xy, xz});
    return (Sym){xx * scale, yy * scale, zz * scale, xy * scale, xz * scale, yz * scale};
}

// ---- between a link and its parent --------------------------------------------------------------

// From the parent's axes to those before the joint's turn.
static MF_INLINE Vec into_joint(const mf_ArtLink *link, const mf_real *c, Vec a) {
    if (link->spun)
        a = vec_back_z(a, mf_set(c[MF_ART_COS_SPIN]), mf_set(c[MF_ART_SIN_SPIN]));
    switch (link->tilt) {
    case MF_ART_LEVEL:
        return a;
    case MF_ART_UP:
        return (Vec){a.x, a.z, -a.y};
    case MF_ART_DOWN:
        return (Vec){a.x, -a.z, a.y};
    case MF_ART_OVER:
        return (Vec){a.x, -a.y, -a.z};
    case MF_ART_ANY:
        break;
    }
    return vec_back_x(a, mf_set(c[MF_ART_COS_TILT]), mf_set(c[MF_ART_SIN_TILT]));
}

// The same way back for a whole body.
static MF_INLINE void out_of_joint(const mf_ArtLink *link, const mf_real *c, Art *a) {
    switch (link->tilt) {
    case MF_ART_LEVEL:
        break;
    case MF_ART_UP:
        art_swap_yz(a);
        art_flip_y(a);
        break;
    case MF_ART_DOWN:
        art_swap_yz(a);
        art_flip_z(a);
        break;
    case MF_ART_OVER:
        art_flip_y(a);
        art_flip_z(a);
        break;
    case MF_ART_ANY:
        art_turn_x(a, mf_set(c[MF_ART_COS_TILT]), mf_set(c[MF_ART_SIN_TILT]));
        break;
    }
    if (link->spun)
        art_turn_z(a, mf_set(c[MF_ART_COS_SPIN]), mf_set(c[MF_ART_SIN_SPIN]));
}

static MF_INLINE void shift_to_parent(const mf_ArtLink *link, const mf_real *c, Art *a) {
    if (link->shift & 1)
        art_shift_x(a, mf_set(c[MF_ART_PLACE]));
    if (link->shift & 2)
        art_shift_y(a, mf_set(c[MF_ART_PLACE + 1]));
    if (link->shift & 4)
        art_shift_z(a, mf_set(c[MF_ART_PLACE + 2]));
}

// ---- first pass: outward ------------------------------------------------------------------------

static MF_INLINE void spread_rate(const mf_ArtPlan *plan, const State *state, uint32_t l,
                                  Work *work) {
    const mf_ArtLink *link = &plan->links[l];
    const mf_real *c = link_constants(plan, l);
    LinkWork *own = &work->links[l];
    Vec rate = link->parent < 0 ? state->rate : work->links[link->parent].rate;
    if (link->shift != 0)
        own->bias = vec_cross(rate, vec_cross(rate, vec_constant(c + MF_ART_PLACE)));
    if (link->kind == MF_ART_BALL) {
        BallWork *ball = &work->balls[link->row];
        Mat still = mat_constant(c + MF_ART_TURN), turn = quat_matrix(state->ball[link->row]);
        ball->turn = mat_multiply(&still, &turn);
        own->rate = vec_add(mat_apply_transposed(&ball->turn, rate), state->ball_rate[link->row]);
        return;
    }
    if (link->kind == MF_ART_HINGE) {
        sin_cos(state->angle[l] + mf_set(c[MF_ART_OFFSET]), &own->sine, &own->cosine);
    } else {
        own->sine = mf_set(c[MF_ART_SIN_OFFSET]);
        own->cosine = mf_set(c[MF_ART_COS_OFFSET]);
    }
    rate = vec_back_z(into_joint(link, c, rate), own->cosine, own->sine);
    if (link->kind == MF_ART_HINGE)
        rate.z = rate.z + state->speed[l];
    own->rate = rate;
}

// World poses of the links that contacts need, and the contacts.
static void find_contacts(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                          const Mat *world, Work *work) {
    Contacts *contacts = &work->contacts;
    contacts->pose[0] = (Pose){*world, state->place, state->velocity};
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &plan->links[l];
        const LinkWork *own = &work->links[l];
        const mf_real *c = link_constants(plan, l);
        if (!link->placed)
            continue;
        Mat joint = link->kind == MF_ART_BALL
                        ? work->balls[link->row].turn
                        : mat_zxz(mf_set(c[MF_ART_COS_SPIN]), mf_set(c[MF_ART_SIN_SPIN]),
                                  mf_set(c[MF_ART_COS_TILT]), mf_set(c[MF_ART_SIN_TILT]),
                                  own->cosine, own->sine);
        pose_link(plan, state, l, joint, &contacts->pose[link->parent + 1],
                  link->parent < 0 ? state->rate : work->links[link->parent].rate,
                  &contacts->pose[l + 1]);
    }
    for (uint32_t i = 0; i < plan->contact_count; i++) {
        int32_t link = plan->contacts[i].link;
        mf_lane load = contacts->implicit ? row_load(contacts->load, i) : mf_zero();
        touch_find(plan, i, &contacts->pose[link + 1],
                   link < 0 ? state->rate : work->links[link].rate, load, drive->step,
                   contacts->implicit, &contacts->touch[i]);
        contacts->any = contacts->any || contacts->touch[i].near;
    }
}

// ---- second pass: inward ------------------------------------------------------------------------

static MF_INLINE void add_rigid(Art *a, const mf_real *c, Vec rate) {
    Vec h = vec_constant(c + MF_ART_MOMENT);
    Sym j = sym_constant(c + MF_ART_INERTIA);
    mf_lane mass = mf_set(c[MF_ART_MASS]);
    a->j = (Sym){a->j.xx + j.xx, a->j.yy + j.yy, a->j.zz + j.zz,
                 a->j.xy + j.xy, a->j.xz + j.xz, a->j.yz + j.yz};
    a->h.xy = a->h.xy - h.z;
    a->h.xz = a->h.xz + h.y;
    a->h.yx = a->h.yx + h.z;
    a->h.yz = a->h.yz - h.x;
    a->h.zx = a->h.zx - h.y;
    a->h.zy = a->h.zy + h.x;
    a->m.xx = a->m.xx + mass;
    a->m.yy = a->m.yy + mass;
    a->m.zz = a->m.zz + mass;
    a->n = vec_cross_add(rate, sym_apply(&j, rate), a->n);
    a->f = vec_cross_add(rate, vec_cross(rate, h), a->f);
}

// A leaf has nothing to add to.
static MF_INLINE Art rigid_art(const mf_real *c, Vec rate) {
    const mf_lane zero = mf_zero();
    Vec h = vec_constant(c + MF_ART_MOMENT);
    Sym j = sym_constant(c + MF_ART_INERTIA);
    mf_lane mass = mf_set(c[MF_ART_MASS]);
    return (Art){.j = j,
                 .h = {zero, -h.z, h.y, h.z, zero, -h.x, -h.y, h.x, zero},
                 .m = {mass, mass, mass, zero, zero, zero},
                 .n = vec_cross(rate, sym_apply(&j, rate)),
                 .f = vec_cross(rate, vec_cross(rate, h))};
}

static MF_INLINE Mat art_minus_outer(const Mat *h, Vec a, Vec b) {
    return (Mat){mf_fma(-a.x, b.x, h->xx), mf_fma(-a.x, b.y, h->xy), mf_fma(-a.x, b.z, h->xz),
                 mf_fma(-a.y, b.x, h->yx), mf_fma(-a.y, b.y, h->yy), mf_fma(-a.y, b.z, h->yz),
                 mf_fma(-a.z, b.x, h->zx), mf_fma(-a.z, b.y, h->zy), mf_fma(-a.z, b.z, h->zz)};
}

static MF_INLINE Sym sym_minus_outer(const Sym *s, Vec a, Vec b) {
    return (Sym){mf_fma(-a.x, b.x, s->xx), mf_fma(-a.y, b.y, s->yy), mf_fma(-a.z, b.z, s->zz),
                 mf_fma(-a.x, b.y, s->xy), mf_fma(-a.x, b.z, s->xz), mf_fma(-a.y, b.z, s->yz)};
}

// Takes the joint's freedom out of the articulated body: (angular, linear) is the column of the
// joint's axis in its inertia.
static MF_INLINE void eliminate(LinkWork *own, Art *a, Vec angular, Vec linear, mf_lane inertia,
                                mf_lane force) {
    mf_lane inverse = mf_set((mf_real)1) / inertia;
    own->push = force * inverse;
    own->angular = vec_scale(angular, inverse);
    own->linear = vec_scale(linear, inverse);
    a->j = sym_minus_outer(&a->j, own->angular, angular);
    a->h = art_minus_outer(&a->h, own->angular, linear);
    a->m = sym_minus_outer(&a->m, own->linear, linear);
    a->n = vec_fma(angular, own->push, a->n);
    a->f = vec_fma(linear, own->push, a->f);
}

static MF_INLINE void fold_hinge(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                                 mf_lane torque, const Line *pull, uint32_t l, LinkWork *own,
                                 Art *a) {
    const mf_ArtLink *link = &plan->links[l];
    const mf_real *c = link_constants(plan, l);
    mf_lane inertia = a->j.zz + mf_set(c[MF_ART_ARMATURE]), rate = state->speed[l];
    Line line = {torque, mf_zero()};
    if (drive->active && link->actuated) {
        line.torque = line.torque + pull->torque;
        line.slope = pull->slope;
    }
    if (drive->active && link->drive != 0)
        drive_joint(plan, link, c, drive, inertia, state->angle[l], rate, &line);
    Vec angular = {a->j.xz, a->j.yz, a->j.zz}, linear = {a->h.zx, a->h.zy, a->h.zz};
    eliminate(own, a, angular, linear, inertia + line.slope, line.torque - a->n.z);
    // The axis turns with the link: rate x axis times the joint's rate.
    mf_lane x = own->rate.y * rate, y = own->rate.x * rate;
    a->n.x = mf_fma(a->j.xx, x, mf_fma(-a->j.xy, y, a->n.x));
    a->n.y = mf_fma(a->j.xy, x, mf_fma(-a->j.yy, y, a->n.y));
    a->n.z = mf_fma(a->j.xz, x, mf_fma(-a->j.yz, y, a->n.z));
    a->f.x = mf_fma(a->h.xx, x, mf_fma(-a->h.yx, y, a->f.x));
    a->f.y = mf_fma(a->h.xy, x, mf_fma(-a->h.yy, y, a->f.y));
    a->f.z = mf_fma(a->h.xz, x, mf_fma(-a->h.yz, y, a->f.z));
    art_turn_z(a, own->cosine, own->sine);
}

// Acceleration of a slide's origin by turning and sliding, own axes.
static MF_INLINE Vec slide_bias(Vec rate, mf_lane way, mf_lane speed) {
    mf_lane twice = speed + speed;
    return (Vec){mf_fma(way * rate.x, rate.z, twice * rate.y),
                 mf_fma(way * rate.y, rate.z, -(twice * rate.x)),
                 -way * mf_fma(rate.x, rate.x, rate.y * rate.y)};
}

static MF_INLINE void add_push(Art *a, Vec push) {
    a->n = mat_apply_add(&a->h, push, a->n);
    a->f = sym_apply_add(&a->m, push, a->f);
}

static inline void fold_slide(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                              mf_lane force, const Line *pull, uint32_t l, LinkWork *own, Art *a) {
    const mf_ArtLink *link = &plan->links[l];
    const mf_real *c = link_constants(plan, l);
    mf_lane inertia = a->m.zz + mf_set(c[MF_ART_ARMATURE]), rate = state->speed[l];
    Line line = {force, mf_zero()};
    if (drive->active && link->actuated) {
        line.torque = line.torque + pull->torque;
        line.slope = pull->slope;
    }
    if (drive->active && link->drive != 0)
        drive_joint(plan, link, c, drive, inertia, state->angle[l], rate, &line);
    Vec angular = {a->h.xz, a->h.yz, a->h.zz}, linear = {a->m.xz, a->m.yz, a->m.zz};
    eliminate(own, a, angular, linear, inertia + line.slope, line.torque - a->f.z);
    mf_lane way = state->angle[l] + mf_set(c[MF_ART_OFFSET]);
    add_push(a, slide_bias(own->rate, way, rate));
    art_shift_z(a, way);
    art_turn_z(a, own->cosine, own->sine);
}

static inline void fold_ball(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                             Vec torque, uint32_t l, const LinkWork *own, BallWork *ball, Art *a) {
    const mf_ArtLink *link = &plan->links[l];
    const mf_real *c = link_constants(plan, l);
    Vec rate = state->ball_rate[link->row];
    mf_lane extra = mf_set(c[MF_ART_ARMATURE]);
    if (drive->active && (link->drive & MF_ART_HAS_DAMPING)) {
        mf_lane damping = mf_set(c[MF_ART_DAMPING]);
        torque = vec_fma(rate, -damping, torque);
        extra = mf_fma(drive->step, damping, extra);
    }
    Sym inertia = a->j;
    inertia.xx = inertia.xx + extra;
    inertia.yy = inertia.yy + extra;
    inertia.zz = inertia.zz + extra;
    ball->inverse = sym_inverse_of(&inertia);
    ball->j = a->j;
    ball->h = a->h;
    ball->force = vec_sub(torque, a->n);
    const Vec j[3] = {{a->j.xx, a->j.xy, a->j.xz},
                      {a->j.xy, a->j.yy, a->j.yz},
                      {a->j.xz, a->j.yz, a->j.zz}};
    const Vec h[3] = {{a->h.xx, a->h.xy, a->h.xz},
                      {a->h.yx, a->h.yy, a->h.yz},
                      {a->h.zx, a->h.zy, a->h.zz}};
    const Sym *i = &ball->inverse;
    const mf_lane rows[3][3] = {
        {i->xx, i->xy, i->xz}, {i->xy, i->yy, i->yz}, {i->xz, i->yz, i->zz}};
    // Sums over pairs of axes of what eliminating one axis does in `eliminate`.
    for (int p = 0; p < 3; p++) {
        Vec angular = vec_scale(j[0], rows[p][0]), linear = vec_scale(h[0], rows[p][0]);
        for (int q = 1; q < 3; q++) {
            angular = vec_fma(j[q], rows[p][q], angular);
            linear = vec_fma(h[q], rows[p][q], linear);
        }
        a->j = sym_minus_outer(&a->j, angular, j[p]);
        a->h = art_minus_outer(&a->h, angular, h[p]);
        a->m = sym_minus_outer(&a->m, linear, h[p]);
        mf_lane force = p == 0 ? ball->force.x : p == 1 ? ball->force.y : ball->force.z;
        a->n = vec_fma(angular, force, a->n);
        a->f = vec_fma(linear, force, a->f);
    }
    Vec turned = vec_cross(own->rate, rate);
    a->n = sym_apply_add(&a->j, turned, a->n);
    a->f = mat_apply_transposed_add(&a->h, turned, a->f);
    art_turn(a, &ball->turn);
}

static MF_INLINE void hand_in(const mf_ArtPlan *plan, uint32_t l, const Art *a, Work *work) {
    const mf_ArtLink *link = &plan->links[l];
    Art *sum = link->parent < 0 ? &work->base : &work->sums[link->depth - 1];
    if (link->last)
        *sum = *a;
    else
        art_add(sum, a);
}

// Compensated weight and actuators that push a link.
static inline void push_link(const mf_ArtPlan *plan, int32_t l, bool lifted, bool thrust,
                             const Work *work, Art *a) {
    const mf_real *c = l < 0 ? base_constants(plan) : link_constants(plan, (uint32_t)l);
    if (thrust) {
        a->f = vec_sub(a->f, work->actuation.wrench[l + 1].force);
        a->n = vec_sub(a->n, work->actuation.wrench[l + 1].torque);
    }
    if (lifted) {
        Vec weight = vec_scale(pose_down(&work->contacts, l), setting(plan, MF_ART_GRAVITY));
        a->f = vec_fma(weight, mf_set(c[MF_ART_LIFT]), a->f);
        a->n = vec_cross_add(vec_constant(c + MF_ART_LIFT_MOMENT), weight, a->n);
    }
}

static void fold_link(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                      const Rates *force, uint32_t l, Work *work) {
    const mf_ArtLink *link = &plan->links[l];
    const mf_real *c = link_constants(plan, l);
    LinkWork *own = &work->links[l];
    Art a;
    if (link->leaf) {
        a = rigid_art(c, own->rate);
    } else {
        a = work->sums[link->depth];
        add_rigid(&a, c, own->rate);
    }
    if (work->contacts.any && link->contact_count > 0)
        contacts_add(plan, (int32_t)l, link->first_contact, link->contact_count, drive->step,
                     &work->contacts, own->rate, &a);
    if (drive->active && (link->lifted || link->thrust))
        push_link(plan, (int32_t)l, link->lifted, link->thrust, work, &a);
    const Line *pull = &work->actuation.lines[l];
    if (link->kind == MF_ART_BALL) {
        fold_ball(plan, state, drive, force->ball[link->row], l, own, &work->balls[link->row], &a);
    } else {
        if (link->kind == MF_ART_HINGE)
            fold_hinge(plan, state, drive, force->joint[l], pull, l, own, &a);
        else
            fold_slide(plan, state, drive, force->joint[l], pull, l, own, &a);
        out_of_joint(link, c, &a);
    }
    if (link->shift != 0) {
        add_push(&a, own->bias);
        shift_to_parent(link, c, &a);
    }
    hand_in(plan, l, &a, work);
}

// ---- base ---------------------------------------------------------------------------------------

// Solves the symmetric positive definite system m x = r in place by L D L^T.
static inline void solve_six(mf_lane m[6][6], mf_lane r[6]) {
    mf_lane inverse[6];
    for (int k = 0; k < 6; k++) {
        inverse[k] = mf_set((mf_real)1) / m[k][k];
        for (int i = k + 1; i < 6; i++) {
            mf_lane factor = m[i][k] * inverse[k];
            for (int j = k + 1; j <= i; j++)
                m[i][j] = mf_fma(-factor, m[j][k], m[i][j]);
            r[i] = mf_fma(-factor, r[k], r[i]);
        }
    }
    for (int k = 5; k >= 0; k--) {
        mf_lane sum = r[k];
        for (int i = k + 1; i < 6; i++)
            sum = mf_fma(-m[i][k], r[i], sum);
        r[k] = sum * inverse[k];
    }
}

// Acceleration of a free base: `angular` and `linear` (gravity taken away) in its own axes.
static inline void accelerate_base(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                                   const Rates *force, const Mat *world, const Art *a, Vec *angular,
                                   Vec *linear) {
    mf_lane armature = mf_set(base_constants(plan)[MF_ART_ARMATURE]), damping = mf_zero();
    if (drive->active)
        damping = mf_set(base_constants(plan)[MF_ART_DAMPING]);
    mf_lane extra = mf_fma(drive->step, damping, armature);
    Vec down = {-world->zx, -world->zy, -world->zz};
    Vec speed = mat_apply_transposed(world, state->velocity);
    Vec torque = vec_sub(vec_fma(state->rate, -damping, force->angular), a->n);
    Vec pull = vec_sub(mat_apply_transposed(world, force->linear), a->f);
    pull = vec_fma(speed, -damping, pull);
    pull = vec_fma(down, -(extra * setting(plan, MF_ART_GRAVITY)), pull);
    mf_lane m[6][6] = {
        {a->j.xx + extra},
        {a->j.xy, a->j.yy + extra},
        {a->j.xz, a->j.yz, a->j.zz + extra},
        {a->h.xx, a->h.yx, a->h.zx, a->m.xx + extra},
        {a->h.xy, a->h.yy, a->h.zy, a->m.xy, a->m.yy + extra},
        {a->h.xz, a->h.yz, a->h.zz, a->m.xz, a->m.yz, a->m.zz + extra},
    };
    mf_lane r[6] = {torque.x, torque.y, torque.z, pull.x, pull.y, pull.z};
    solve_six(m, r);
    *angular = (Vec){r[0], r[1], r[2]};
    *linear = (Vec){r[3], r[4], r[5]};
}

// ---- third pass: outward ------------------------------------------------------------------------

static MF_INLINE void accelerate_link(const mf_ArtPlan *plan, const State *state, uint32_t l,
                                      Work *work, Rates *out) {
    const mf_ArtLink *link = &plan->links[l];
    const mf_real *c = link_constants(plan, l);
    const LinkWork *own = &work->links[l];
    Vec angular = link->parent < 0 ? work->base_angular : work->angular[link->parent];
    Vec linear = link->parent < 0 ? work->base_linear : work->linear[link->parent];
    if (link->shift != 0)
        linear = vec_cross_add(angular, vec_constant(c + MF_ART_PLACE),
                               vec_add(linear, own->bias));
    if (link->kind == MF_ART_BALL) {
        const BallWork *ball = &work->balls[link->row];
        Vec turned = vec_cross(own->rate, state->ball_rate[link->row]);
        angular = mat_apply_transposed_add(&ball->turn, angular, turned);
        linear = mat_apply_transposed(&ball->turn, linear);
        Vec force = vec_sub(ball->force, sym_apply(&ball->j, angular));
        force = vec_sub(force, mat_apply(&ball->h, linear));
        out->ball[link->row] = sym_apply(&ball->inverse, force);
        work->angular[l] = vec_add(angular, out->ball[link->row]);
        work->linear[l] = linear;
        return;
    }
    angular = vec_back_z(into_joint(link, c, angular), own->cosine, own->sine);
    linear = vec_back_z(into_joint(link, c, linear), own->cosine, own->sine);
    mf_lane rate = state->speed[l];
    if (link->kind == MF_ART_HINGE) {
        angular.x = mf_fma(own->rate.y, rate, angular.x);
        angular.y = mf_fma(-own->rate.x, rate, angular.y);
    } else {
        mf_lane way = state->angle[l] + mf_set(c[MF_ART_OFFSET]);
        linear = vec_add(linear, slide_bias(own->rate, way, rate));
        linear.x = mf_fma(angular.y, way, linear.x);
        linear.y = mf_fma(-angular.x, way, linear.y);
    }
    mf_lane back = vec_dot_add(own->angular, angular, vec_dot(own->linear, linear));
    mf_lane joint = own->push - back;
    out->joint[l] = joint;
    if (link->kind == MF_ART_HINGE)
        angular.z = angular.z + joint;
    else
        linear.z = linear.z + joint;
    if (!link->leaf || link->contact_count > 0) {
        work->angular[l] = angular;
        work->linear[l] = linear;
    }
}

static MF_INLINE mf_lane climb_at_end(const mf_ArtPlan *plan, const State *state,
                                      const Drive *drive, const Work *work, uint32_t i) {
    int32_t link = plan->contacts[i].link;
    return touch_climb(&work->contacts.touch[i], drive->step, setting(plan, MF_ART_GRAVITY),
                       pose_down(&work->contacts, link),
                       link < 0 ? state->rate : work->links[link].rate,
                       link < 0 ? work->base_angular : work->angular[link],
                       link < 0 ? work->base_linear : work->linear[link]);
}

// Corrects which contacts press. False when all were right. In lanes where one was wrong friction
// takes the new loads.
static bool revise_contacts(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                            Work *work) {
    mf_mask wrong = mf_not(mf_mask_all());
    mf_lane load[MF_ARTICULATED_MAX_CONTACTS];
    mf_mask presses[MF_ARTICULATED_MAX_CONTACTS];
    const mf_lane zero = mf_zero();
    for (uint32_t i = 0; i < plan->contact_count; i++) {
        const Touch *touch = &work->contacts.touch[i];
        if (!touch->near)
            continue;
        mf_lane climb = climb_at_end(plan, state, drive, work, i);
        mf_mask stays = mf_less(zero, touch_load(touch, climb));
        mf_mask comes = mf_less(zero, mf_fma(-drive->step, climb, touch->depth));
        load[i] = mf_max(touch_load(touch, climb), zero);
        presses[i] = mf_or(mf_and(touch->presses, stays),
                           mf_and(mf_and(mf_not(touch->presses), touch->may), comes));
        wrong = mf_or(wrong, mf_differ(presses[i], touch->presses));
    }
    if (!mf_any(wrong))
        return false;
    for (uint32_t i = 0; i < plan->contact_count; i++) {
        Touch *touch = &work->contacts.touch[i];
        if (!touch->near)
            continue;
        touch->load = mf_select(wrong, load[i], touch->load);
        touch->presses = presses[i];
        touch_set(plan, drive->step, touch);
    }
    return true;
}

// The second and third pass.
static inline void solve(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                         const Rates *force, const Mat *world, Work *work, Rates *out) {
    mf_lane gravity = setting(plan, MF_ART_GRAVITY);
    if (plan->link_count == 0)
        work->base = (Art){.n = vec_zero()};
    for (uint32_t l = plan->link_count; l-- > 0;)
        fold_link(plan, state, drive, force, l, work);
    work->base_angular = vec_zero();
    work->base_linear = vec_scale((Vec){world->zx, world->zy, world->zz}, gravity);
    out->linear = out->angular = vec_zero();
    if (!plan->fixed) {
        add_rigid(&work->base, base_constants(plan), state->rate);
        if (work->contacts.any && plan->base_contacts > 0)
            contacts_add(plan, -1, 0, plan->base_contacts, drive->step, &work->contacts,
                         state->rate, &work->base);
        if (drive->active && (plan->base_lifted || plan->base_thrust))
            push_link(plan, -1, plan->base_lifted, plan->base_thrust, work, &work->base);
        accelerate_base(plan, state, drive, force, world, &work->base, &work->base_angular,
                        &work->base_linear);
        out->angular = work->base_angular;
        out->linear = mat_apply(world, work->base_linear);
        out->linear.z = out->linear.z - gravity;
    }
    for (uint32_t l = 0; l < plan->link_count; l++)
        accelerate_link(plan, state, l, work, out);
}

// Accelerations for `force` and, when `drive` is active, the joints' own forces and contacts.
static inline void forward_dynamics(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                                    const Rates *force, Work *work, Rates *out) {
    const Mat world = quat_matrix(state->attitude);
    for (uint32_t l = 0; l < plan->link_count; l++)
        spread_rate(plan, state, l, work);
    work->contacts.any = false;
    if (drive->active && plan->actuator_count > 0)
        actuate(plan, state, drive->step, &work->actuation);
    if (drive->active && (plan->contact_count > 0 || plan->any_lifted))
        find_contacts(plan, state, drive, &world, work);
    solve(plan, state, drive, force, &world, work, out);
    for (int round = 1; round < CONTACT_ROUNDS && work->contacts.any && work->contacts.implicit &&
                        revise_contacts(plan, state, drive, work);
         round++)
        solve(plan, state, drive, force, &world, work, out);
}

#endif
