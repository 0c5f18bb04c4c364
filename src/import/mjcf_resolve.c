// Settings that depend on the whole robot at its start position: lengths of paths; and, with its
// inertia, damping ratios of servos, time constants of joint springs, and the acceleration scale of
// muscles.
//
//   servo:   damping = ratio * 2 sqrt(kp m), with the reflected mass m = 1 / (J M^-1 J^T)
//   spring:  stiffness = inertia / (time ratio)^2, damping = 2 inertia / time, inertia the inverse
//            of the mean diagonal of M^-1 over the joint
// for the transmission's Jacobian J and the mass matrix M with all armatures.
// The mass matrix comes from composite rigid bodies (Featherstone 2008, 6.2) written in the world
// frame: with the composite's mass m, moment h = m c and inertia I about the origin, an axis with
// velocity v and rate w has momentum p = m v + w x h, l = I w + h x v.
#include "import/mjcf.h"

#include "model/assemble.h"

#include "math/scalar.h"

#include <string.h>

#define COLUMN_LIMIT 3000u // [1] the mass matrix is dense

typedef struct Body {
    double mass, moment[3], inertia[6]; // of its subtree, about the world's origin
} Body;

typedef struct Axis {
    uint32_t link;
    uint32_t joint;              // MF_NONE: the base
    double velocity[3], rate[3]; // of the world's origin, per unit of speed
} Axis;

typedef struct System {
    mf_Mjcf *m;
    Body *bodies;       // [link]
    mf_LinkPose *poses; // [link]
    Axis *axes;
    uint32_t count;
    double *matrix; // [count * count]
} System;

// ---- kinematics --------------------------------------------------------------------------------

static void rotate_axis(Axis *axis, const double direction[3], const double point[3]) {
    mf_vec3_copy(axis->rate, direction);
    mf_vec3_cross(axis->velocity, point, direction); // w x (0 - point)
}

// The columns of one joint, in the order of velocity vectors.
static uint32_t add_axes(System *s, mf_JointType type, const double axis[3], uint32_t link,
                         uint32_t joint) {
    const mf_LinkPose *body = &s->poses[link];
    uint32_t count = mf_joint_velocities(type);
    for (uint32_t i = 0; i < count; i++) {
        Axis *column = &s->axes[s->count + i];
        double unit[3] = {i % 3 == 0, i % 3 == 1, i % 3 == 2}, direction[3];
        *column = (Axis){.link = link, .joint = joint};
        bool single = type == MF_JOINT_HINGE || type == MF_JOINT_SLIDE;
        mf_quat_rotate(direction, body->rotation, single ? axis : unit);
        if (type == MF_JOINT_SLIDE)
            mf_vec3_copy(column->velocity, direction);
        else if (type == MF_JOINT_FLOATING && i < 3)
            mf_vec3_copy(column->velocity, unit);
        else
            rotate_axis(column, direction, body->position);
    }
    s->count += count;
    return count;
}

// From the reference of a joint to where its spring is at rest.
static void relax(const mf_Joint *joint, mf_LinkPose *body) {
    const double distance = joint->spring_reference - joint->reference;
    double rotation[4], shift[3];
    if (joint->type == MF_JOINT_HINGE) {
        mf_quat_from_axis_angle(rotation, joint->axis, distance);
        mf_quat_multiply(body->rotation, body->rotation, rotation);
    } else if (joint->type == MF_JOINT_SLIDE) {
        mf_quat_rotate(shift, body->rotation, joint->axis);
        mf_vec3_add_scaled(body->position, body->position, distance, shift);
    }
}

// At the file's pose, or where the springs of joints are at rest.
static void place_links(System *s, bool relaxed) {
    const mf_Draft *draft = &s->m->draft;
    const double *start = draft->start_position;
    s->count = 0;
    mf_quat_identity(s->poses[0].rotation);
    if (draft->base_type == MF_BASE_FREE) {
        mf_vec3_copy(s->poses[0].position, start);
        memcpy(s->poses[0].rotation, start + 3, sizeof s->poses[0].rotation);
        start += 7;
        add_axes(s, MF_JOINT_FLOATING, start, 0, MF_NONE);
    }
    for (uint32_t i = 0; i < draft->joints.count; i++) {
        const mf_Joint *joint = &mf_draft_joints(draft)[i];
        const mf_LinkPose *parent = &s->poses[joint->parent];
        mf_LinkPose *body = &s->poses[joint->child];
        mf_mjcf_compose(body->position, body->rotation, parent->position, parent->rotation,
                        joint->position, joint->rotation);
        if (joint->type == MF_JOINT_FLOATING) {
            mf_vec3_copy(body->position, start);
            memcpy(body->rotation, start + 3, sizeof body->rotation);
        }
        if (relaxed)
            relax(joint, body);
        start += mf_joint_positions(joint->type);
        add_axes(s, joint->type, joint->axis, joint->child, i);
    }
}

static void collect_masses(System *s) {
    const mf_Draft *draft = &s->m->draft;
    for (uint32_t i = 0; i < draft->links.count; i++) {
        const mf_Link *link = &mf_draft_links(draft)[i];
        const mf_LinkPose *pose = &s->poses[i];
        Body *body = &s->bodies[i];
        double center[3];
        mf_quat_rotate(center, pose->rotation, link->center);
        mf_vec3_add(center, center, pose->position);
        body->mass = link->mass;
        mf_vec3_scale(body->moment, center, link->mass);
        mf_inertia_rotate(body->inertia, link->inertia, pose->rotation);
        mf_inertia_translate(body->inertia, body->inertia, link->mass, center);
    }
    for (uint32_t i = draft->joints.count; i-- > 0;) {
        const mf_Joint *joint = &mf_draft_joints(draft)[i];
        const Body *child = &s->bodies[joint->child];
        Body *parent = &s->bodies[joint->parent];
        parent->mass += child->mass;
        mf_vec3_add(parent->moment, parent->moment, child->moment);
        for (int k = 0; k < 6; k++)
            parent->inertia[k] += child->inertia[k];
    }
}

// Momentum of a composite that moves along an axis, and its product with another axis.
static double couple(const Body *body, const Axis *moving, const Axis *other) {
    const double *i = body->inertia, *w = moving->rate;
    double linear[3], angular[3], part[3];
    mf_vec3_cross(linear, w, body->moment);
    mf_vec3_add_scaled(linear, linear, body->mass, moving->velocity);
    mf_vec3_set(angular, i[0] * w[0] + i[3] * w[1] + i[4] * w[2],
                i[3] * w[0] + i[1] * w[1] + i[5] * w[2], i[4] * w[0] + i[5] * w[1] + i[2] * w[2]);
    mf_vec3_cross(part, body->moment, moving->velocity);
    mf_vec3_add(angular, angular, part);
    return mf_vec3_dot(linear, other->velocity) + mf_vec3_dot(angular, other->rate);
}

static double armature_of(const System *s, uint32_t column) {
    uint32_t joint = s->axes[column].joint;
    return joint == MF_NONE ? s->m->draft.root.armature
                            : mf_draft_joints(&s->m->draft)[joint].armature;
}

// Armature of actuators that sit on the joint of a column.
static double actuator_armature(const System *s, uint32_t column) {
    const mf_Actuator *actuators = s->m->draft.actuators.items;
    double sum = 0.0;
    for (uint32_t i = 0; i < s->m->draft.actuators.count; i++) {
        if (actuators[i].joint != MF_NONE && actuators[i].joint == s->axes[column].joint)
            sum += actuators[i].armature * actuators[i].gear[0] * actuators[i].gear[0];
    }
    return sum;
}

// ---- the matrix --------------------------------------------------------------------------------

static uint32_t first_column(const System *s, uint32_t joint) {
    uint32_t column = 0;
    while (column < s->count && s->axes[column].joint != joint)
        column++;
    return column;
}

static bool carries(const mf_Draft *draft, uint32_t link, uint32_t above) {
    while (link > above) // parents have smaller indices
        link = mf_draft_joints(draft)[link - 1].parent;
    return link == above;
}

// Adds one straight piece of a path to the tendon's row.
typedef struct PieceRow {
    const System *s;
    double *row, gear;
} PieceRow;

static void move_end(const PieceRow *p, uint32_t link, const double point[3],
                     const double direction[3], double sign) {
    for (uint32_t i = 0; link != MF_NONE && i < p->s->count; i++) {
        const Axis *axis = &p->s->axes[i];
        double velocity[3];
        if (!carries(&p->s->m->draft, link, axis->link))
            continue;
        mf_vec3_cross(velocity, axis->rate, point);
        mf_vec3_add(velocity, velocity, axis->velocity);
        p->row[i] += sign * mf_vec3_dot(direction, velocity);
    }
}

static void add_piece(void *user, uint32_t from_link, const double from[3], uint32_t to_link,
                      const double to[3], double share) {
    const PieceRow *p = user;
    double offset[3];
    mf_vec3_sub(offset, to, from);
    if (!mf_vec3_normalize(offset))
        return;
    move_end(p, to_link, to, offset, p->gear * share);
    move_end(p, from_link, from, offset, -p->gear * share);
}

static double path_row(const System *s, const mf_Tendon *tendon, double gear, double *row) {
    const mf_TendonWrap *wraps = mf_tendon_wraps(&s->m->draft, tendon);
    PieceRow piece = {s, row, gear};
    return mf_mjcf_path_length(wraps, tendon->wrap_count, s->poses, row ? add_piece : NULL, &piece);
}

// Adds weight J^T J of a tendon. Overwrites `work`.
static void add_path(System *s, const mf_Tendon *tendon, double weight, double *work) {
    for (uint32_t i = 0; i < s->count; i++)
        work[i] = 0.0;
    path_row(s, tendon, 1.0, work);
    for (uint32_t i = 0; i < s->count; i++) {
        for (uint32_t k = 0; k < s->count; k++)
            s->matrix[i * (size_t)s->count + k] += weight * work[i] * work[k];
    }
}

static void add_tendon(System *s, uint32_t index, double weight, double *work) {
    const mf_Draft *draft = &s->m->draft;
    const mf_Tendon *tendon = mf_draft_tendons(draft) + index;
    const mf_TendonTerm *terms = mf_tendon_terms(draft, tendon);
    if (weight != 0.0 && tendon->wrap_count > 0)
        add_path(s, tendon, weight, work);
    for (uint32_t i = 0; weight != 0.0 && i < tendon->term_count; i++) {
        uint32_t row = first_column(s, terms[i].joint);
        for (uint32_t k = 0; k < tendon->term_count; k++) {
            uint32_t column = first_column(s, terms[k].joint);
            s->matrix[row * (size_t)s->count + column] +=
                weight * terms[i].coefficient * terms[k].coefficient;
        }
    }
}

static void fill_matrix(System *s, double *work) {
    const mf_Draft *draft = &s->m->draft;
    const mf_Actuator *actuators = draft->actuators.items;
    size_t n = s->count;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k <= i; k++) {
            const Axis *deep = &s->axes[i], *high = &s->axes[k];
            if (carries(draft, deep->link, high->link))
                s->matrix[i * n + k] = couple(&s->bodies[deep->link], deep, high);
        }
        s->matrix[i * n + i] += armature_of(s, i) + actuator_armature(s, i);
    }
    for (uint32_t i = 0; i < draft->tendons.count; i++)
        add_tendon(s, i, mf_draft_tendons(draft)[i].armature, work);
    for (uint32_t i = 0; i < draft->actuators.count; i++) {
        const mf_Actuator *actuator = &actuators[i];
        if (actuator->drive == MF_DRIVE_TENDON)
            add_tendon(s, actuator->tendon,
                       actuator->armature * actuator->gear[0] * actuator->gear[0], work);
    }
}

// Cholesky factor in the lower half. False when the matrix is not positive.
static bool factorize(System *s) {
    size_t n = s->count;
    double *a = s->matrix;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k <= i; k++) {
            double sum = a[i * n + k];
            for (size_t j = 0; j < k; j++)
                sum -= a[i * n + j] * a[k * n + j];
            if (k < i)
                a[i * n + k] = sum / a[k * n + k];
            else if (sum > 0.0)
                a[i * n + i] = mf_sqrt(sum);
            else
                return false;
        }
    }
    return true;
}

// J M^-1 J^T for the row J in `work`, which is overwritten: the squared length of L^-1 J^T.
static double inverse_form(const System *s, double *work) {
    size_t n = s->count;
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            work[i] -= s->matrix[i * n + k] * work[k];
        work[i] /= s->matrix[i * n + i];
        sum += work[i] * work[i];
    }
    return sum;
}

static void clear(const System *s, double *row) {
    for (uint32_t i = 0; i < s->count; i++)
        row[i] = 0.0;
}

// ---- servos ------------------------------------------------------------------------------------

static void transmission(const System *s, const mf_Actuator *actuator, double *row) {
    const mf_Draft *draft = &s->m->draft;
    clear(s, row);
    if (actuator->drive == MF_DRIVE_TENDON) {
        const mf_Tendon *tendon = mf_draft_tendons(draft) + actuator->tendon;
        const mf_TendonTerm *terms = mf_tendon_terms(draft, tendon);
        for (uint32_t i = 0; i < tendon->term_count; i++)
            row[first_column(s, terms[i].joint)] += terms[i].coefficient * actuator->gear[0];
        if (tendon->wrap_count > 0)
            path_row(s, tendon, actuator->gear[0], row);
        return;
    }
    uint32_t count = mf_joint_velocities(mf_draft_joints(draft)[actuator->joint].type);
    uint32_t first = first_column(s, actuator->joint);
    for (uint32_t i = 0; i < count; i++)
        row[first + i] = actuator->gear[i];
}

static bool wants_ratio(const mf_Actuator *actuator) {
    return actuator->bias[2] > 0.0 && actuator->gain[0] == -actuator->bias[1];
}

static mf_Status resolve_servos(System *s, double *work) {
    mf_Actuator *actuators = s->m->draft.actuators.items;
    for (uint32_t i = 0; i < s->m->draft.actuators.count; i++) {
        mf_Actuator *actuator = &actuators[i];
        if (!wants_ratio(actuator))
            continue;
        if (actuator->drive == MF_DRIVE_SITE || actuator->drive == MF_DRIVE_BODY) {
            MF_TRY(mf_mjcf_refuse(s->m, s->m->xml.root, "dampratio of a site or body"));
            actuator->bias[2] = 0.0;
            continue;
        }
        transmission(s, actuator, work);
        double mass = 1.0 / inverse_form(s, work);
        actuator->bias[2] = -(actuator->bias[2] * 2.0 * mf_sqrt(actuator->gain[0] * mass));
        if (!mf_is_finite(actuator->bias[2]))
            return mf_mjcf_fail(s->m, s->m->xml.root,
                                "actuator '%.100s': dampratio needs kp >= 0 and a gear",
                                actuator->name);
    }
    return MF_OK;
}

// ---- tendons and muscles -----------------------------------------------------------------------

static bool starts_relaxed(const mf_Tendon *tendon) {
    return tendon->wrap_count > 0 && tendon->spring_lower == -1.0 && tendon->spring_upper == -1.0;
}

// Where the file gives no length at rest, MuJoCo takes that with the springs of joints at rest.
static void resolve_lengths(const System *s) {
    mf_Tendon *tendons = s->m->draft.tendons.items;
    for (uint32_t i = 0; i < s->m->draft.tendons.count; i++) {
        if (starts_relaxed(&tendons[i]))
            tendons[i].spring_lower = tendons[i].spring_upper = path_row(s, &tendons[i], 1.0, NULL);
    }
}

static bool wants_acceleration(const mf_Actuator *actuator) {
    return actuator->muscle.exists && actuator->muscle.force < 0.0;
}

// The length of M^-1 J^T.
static void resolve_muscles(System *s, double *work) {
    mf_Actuator *actuators = s->m->draft.actuators.items;
    const size_t n = s->count;
    for (uint32_t i = 0; i < s->m->draft.actuators.count; i++) {
        double sum = 0.0;
        if (!wants_acceleration(&actuators[i]))
            continue;
        transmission(s, &actuators[i], work);
        inverse_form(s, work); // leaves L^-1 J^T
        for (size_t k = n; k-- > 0;) {
            for (size_t j = k + 1; j < n; j++)
                work[k] -= s->matrix[j * n + k] * work[j];
            work[k] /= s->matrix[k * n + k];
            sum += work[k] * work[k];
        }
        actuators[i].muscle.acceleration = mf_sqrt(sum);
    }
}

// ---- springs -----------------------------------------------------------------------------------

static void resolve_springs(System *s, double *work) {
    mf_Mjcf *m = s->m;
    for (uint32_t i = 0; i < m->joints.count; i++) {
        const mf_MjcfJoint *joint = &mf_mjcf_joints(m)[i];
        if (joint->springdamper[0] == 0.0 || joint->draft == MF_NONE)
            continue;
        mf_Joint *to = &mf_draft_joints(&m->draft)[joint->draft];
        uint32_t count = mf_joint_velocities(to->type), first = first_column(s, joint->draft);
        double sum = 0.0, time = joint->springdamper[0], ratio = joint->springdamper[1];
        for (uint32_t k = 0; k < count; k++) {
            clear(s, work);
            work[first + k] = 1.0;
            sum += inverse_form(s, work);
        }
        double inertia = (double)count / sum;
        to->stiffness = inertia / (time * time * ratio * ratio);
        to->damping = 2.0 * inertia / time;
    }
}

// ---- the pass ----------------------------------------------------------------------------------

// Values that need the mass matrix.
static mf_Status resolve_inertia(System *s, double *work) {
    mf_Mjcf *m = s->m;
    if (s->count > COLUMN_LIMIT)
        return mf_xml_fail(&m->xml, m->xml.root, MF_LIMIT,
                           "dampratio, springdamper and muscles: at most %u velocities, found %u",
                           COLUMN_LIMIT, s->count);
    s->matrix = mf_allocate(m->context, (size_t)s->count * s->count, sizeof *s->matrix);
    if (s->matrix == NULL)
        return mf_mjcf_no_memory(m);
    collect_masses(s);
    fill_matrix(s, work);
    if (!factorize(s))
        return mf_mjcf_fail(m, m->xml.root,
                            "dampratio, springdamper and muscles: the mass matrix is singular");
    mf_Status status = resolve_servos(s, work);
    resolve_muscles(s, work);
    if (status == MF_OK)
        resolve_springs(s, work);
    return status;
}

mf_Status mf_mjcf_resolve(mf_Mjcf *m) {
    const mf_Actuator *actuators = m->draft.actuators.items;
    const mf_Tendon *tendons = m->draft.tendons.items;
    bool inertia = false, lengths = false;
    for (uint32_t i = 0; i < m->draft.actuators.count; i++)
        inertia |= wants_ratio(&actuators[i]) || wants_acceleration(&actuators[i]);
    for (uint32_t i = 0; i < m->joints.count; i++)
        inertia |= mf_mjcf_joints(m)[i].springdamper[0] != 0.0;
    for (uint32_t i = 0; i < m->draft.tendons.count; i++)
        lengths |= starts_relaxed(&tendons[i]);
    if (!inertia && !lengths)
        return MF_OK;
    size_t columns = 6 * ((size_t)m->draft.joints.count + 1);
    System s = {.m = m};
    s.bodies = mf_allocate(m->context, m->draft.links.count, sizeof *s.bodies);
    s.poses = mf_allocate(m->context, m->draft.links.count, sizeof *s.poses);
    s.axes = mf_allocate(m->context, columns, sizeof *s.axes);
    double *work = mf_allocate(m->context, columns, sizeof *work);
    mf_Status status = MF_OK;
    if (s.bodies == NULL || s.poses == NULL || s.axes == NULL || work == NULL) {
        status = mf_mjcf_no_memory(m);
    } else {
        place_links(&s, true);
        resolve_lengths(&s);
        place_links(&s, false);
        status = inertia ? resolve_inertia(&s, work) : MF_OK;
    }
    mf_release(m->context, s.bodies);
    mf_release(m->context, s.poses);
    mf_release(m->context, s.axes);
    mf_release(m->context, work);
    mf_release(m->context, s.matrix);
    return status;
}
