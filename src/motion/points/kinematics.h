// Forward kinematics: where the points are in the base frame for given joint positions, and from
// them the center of mass and the inertia.
#pragma once

#include "math/carve.h"
#include "motion/points/contacts.h"

typedef struct Frame {
    Mat rotation; // link to base
    Vec position; // [m] origin, base frame
} Frame;

typedef struct Moments {
    Vec first;  // [kg m] sum of mass times position
    Sym second; // [kg m^2] sum of mass times position squared
} Moments;

// A joint's position and, of a hinge, its sine and cosine.
typedef struct Pose {
    mf_lane position, sine, cosine;
} Pose;

typedef struct Drift {   // motion of a link relative to the base during one update
    Vec rotation_vector; // [rad]
    Vec move;            // [m] of the frame's origin
} Drift;

typedef struct Kinematics {
    Vec *contact; // [m] base frame
    Moments moments;
    // Room, per link of the plan:
    Frame *frames;
    Pose *poses;
    Drift *drifts;
} Kinematics;

static inline void kinematics_carve(const mf_PointsPlan *plan, mf_Carver *carver, Kinematics *k) {
    MF_CARVE(carver, k->contact, plan->contact_count);
    MF_CARVE(carver, k->frames, plan->link_count);
    MF_CARVE(carver, k->poses, plan->link_count);
    MF_CARVE(carver, k->drifts, plan->link_count);
}

static MF_INLINE const mf_real *constants_of_link(const mf_PointsPlan *plan,
                                                  const mf_real *constant, size_t link) {
    return constants_from(constant, plan->link_offset + link * MF_PLAN_LINK_VALUES);
}

static MF_INLINE Mat mat_constant(const mf_real *c) {
    return MF_VALUE(Mat, constant_at(c, 0), constant_at(c, 1), constant_at(c, 2), constant_at(c, 3),
                    constant_at(c, 4), constant_at(c, 5), constant_at(c, 6), constant_at(c, 7),
                    constant_at(c, 8));
}

static MF_INLINE Mat mat_multiply(const Mat *a, const Mat *b) {
    Vec x = mat_apply(a, MF_VALUE(Vec, b->xx, b->yx, b->zx));
    Vec y = mat_apply(a, MF_VALUE(Vec, b->xy, b->yy, b->zy));
    Vec z = mat_apply(a, MF_VALUE(Vec, b->xz, b->yz, b->zz));
    return MF_VALUE(Mat, x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z);
}

// m times a rotation about z by the angle of this sine and cosine.
static MF_INLINE Mat mat_rotate_z(const Mat *m, mf_lane s, mf_lane c) {
    return MF_VALUE(Mat, mf_fma(m->xx, c, m->xy * s), mf_fma(m->xy, c, -(m->xx * s)), m->xz,
                    mf_fma(m->yx, c, m->yy * s), mf_fma(m->yy, c, -(m->yx * s)), m->yz,
                    mf_fma(m->zx, c, m->zy * s), mf_fma(m->zy, c, -(m->zx * s)), m->zz);
}

static MF_INLINE Pose joint_pose(const mf_PlanLink *link, mf_lane position) {
    Pose pose = {position, position, position};
    if (link->kind == MF_PLAN_HINGE)
        mf_sin_cos_lane(position, &pose.sine, &pose.cosine);
    return pose;
}

// Frame of one link from its parent's (NULL = the base itself) and its joint's pose.
static MF_INLINE Frame link_frame(const mf_PlanLink *link, const mf_real *c, const Frame *parent,
                                  const Pose *pose) {
    Vec offset = {constant_at(c, MF_PLAN_LINK_POSITION), constant_at(c, MF_PLAN_LINK_POSITION + 1),
                  constant_at(c, MF_PLAN_LINK_POSITION + 2)};
    Frame frame = {mat_constant(constants_from(c, MF_PLAN_LINK_ROTATION)), offset};
    if (parent != NULL) {
        frame.rotation =
            link->aligned ? parent->rotation : mat_multiply(&parent->rotation, &frame.rotation);
        frame.position = mat_apply_add(&parent->rotation, offset, parent->position);
    }
    if (link->kind == MF_PLAN_HINGE)
        frame.rotation = mat_rotate_z(&frame.rotation, pose->sine, pose->cosine);
    if (link->kind == MF_PLAN_SLIDE) {
        Vec axis = {frame.rotation.xz, frame.rotation.yz, frame.rotation.zz};
        frame.position = vec_fma(axis, pose->position, frame.position);
    }
    return frame;
}

static MF_INLINE void kinematics_mass(Moments *sum, Vec p, mf_lane mass) {
    Vec m = vec_scale(p, mass);
    sum->first = vec_add(sum->first, m);
    sum->second.xx = mf_fma(m.x, p.x, sum->second.xx);
    sum->second.yy = mf_fma(m.y, p.y, sum->second.yy);
    sum->second.zz = mf_fma(m.z, p.z, sum->second.zz);
    sum->second.xy = mf_fma(m.x, p.y, sum->second.xy);
    sum->second.xz = mf_fma(m.x, p.z, sum->second.xz);
    sum->second.yz = mf_fma(m.y, p.z, sum->second.yz);
}

static MF_INLINE Vec point_constant(const mf_PointsPlan *plan, const mf_real *constant,
                                    size_t point, const mf_real **mass) {
    const mf_real *c = constants_from(constant, plan->point_offset + point * MF_PLAN_POINT_VALUES);
    *mass = constants_from(c, 3);
    return MF_VALUE(Vec, constant_at(c, 0), constant_at(c, 1), constant_at(c, 2));
}

// Adds points to the moments and, unless it is NULL, writes those of contacts to `contact`.
static MF_INLINE void kinematics_points(const mf_PointsPlan *plan, const mf_real *constant,
                                        const Frame *frame, uint32_t first, uint32_t count,
                                        Vec *contact, Moments *sum) {
    const int32_t *contacts = mf_points_plan_contacts(plan);
    for (size_t i = first; i < first + count; i++) {
        const mf_real *mass;
        Vec p = point_constant(plan, constant, i, &mass);
        if (frame != NULL)
            p = mat_apply_add(&frame->rotation, p, frame->position);
        if (contact != NULL && contacts[i] >= 0)
            contact[contacts[i]] = p;
        if (setting(mass, 0) > 0) // of all bodies or of none
            kinematics_mass(sum, p, constant_at(mass, 0));
    }
}

static MF_INLINE Moments moments_start(void) {
    mf_lane zero = mf_zero();
    return MF_VALUE(Moments, {zero, zero, zero}, {zero, zero, zero, zero, zero, zero});
}

// `position` holds joint positions, one row of MF_BLOCK per joint. All sines come first, so that
// the processor works on several joints at a time.
static inline void kinematics_run(const mf_PointsPlan *plan, const mf_real *constant,
                                  const mf_real *position, Kinematics *k) {
    const mf_PlanLink *links = mf_points_plan_links(plan);
    Frame *frames = k->frames;
    Pose *poses = k->poses;
    Moments sum = moments_start();
    for (size_t l = 0; l < plan->link_count; l++)
        poses[l] = joint_pose(&links[l], row_load(position, links[l].joint));
    kinematics_points(plan, constant, NULL, 0, plan->base_points, k->contact, &sum);
    for (size_t l = 0; l < plan->link_count; l++) {
        const mf_PlanLink *link = &links[l];
        const mf_real *c = constants_of_link(plan, constant, l);
        Frame frame =
            link_frame(link, c, link->parent < 0 ? NULL : &frames[link->parent], &poses[l]);
        kinematics_points(plan, constant, &frame, link->first_point, link->point_count, k->contact,
                          &sum);
        frames[l] = frame;
    }
    k->moments = sum;
}

// Center of mass and the inertia about it. A robot whose points lie in a line or in one position
// gets a radius of gyration of at least 0.1 mm, so that the inverse exists.
static MF_INLINE void kinematics_inertia(const Moments *sum, const mf_real *constant, Vec *center,
                                         Sym *inertia) {
    mf_lane mass = constant_at(constant, MF_PLAN_MASS);
    mf_lane least = mass * mf_set((mf_real)1e-8);
    Vec c = vec_scale(sum->first, constant_at(constant, MF_PLAN_INVERSE_MASS));
    Vec first = vec_scale(c, mass);
    mf_lane xx = mf_fma(-first.x, c.x, sum->second.xx), yy = mf_fma(-first.y, c.y, sum->second.yy);
    mf_lane zz = mf_fma(-first.z, c.z, sum->second.zz);
    *center = c;
    *inertia =
        MF_VALUE(Sym, mf_max(yy + zz, least), mf_max(xx + zz, least), mf_max(xx + yy, least),
                 mf_fma(first.x, c.y, -sum->second.xy), mf_fma(first.x, c.z, -sum->second.xz),
                 mf_fma(first.y, c.z, -sum->second.yz));
}
