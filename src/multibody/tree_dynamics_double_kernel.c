// Forces and accelerations of a tree: the mass matrix by composite rigid bodies (Walker and Orin
// 1982), forces for given accelerations by recursive Newton-Euler (Luh, Walker and Paul 1980),
// accelerations for given forces by the factors L^T D L of the mass matrix, whose zeros are those
// of the tree (Featherstone, Rigid Body Dynamics Algorithms, 2008, sections 5.3, 6.2 and 6.5). All
// spatial vectors are in world axes about the base's origin, so nothing has to be transformed from
// link to link: what a link carries is added to its parent.
//
// Twists are (rate, velocity of the point of the link that is at the base's origin); wrenches
// (torque about that origin, force); momenta likewise.
//
// Invariant: a lane never reads another.
#include "math/lane_vector.h"
#include "multibody/numbers.h"
#include "multibody/tree.h"

typedef struct Six {
    Vec angular, linear;
} Six;

typedef struct Inertia { // of one link or of all that it carries
    Sym about;           // [kg m^2] about the base's origin
    Vec moment;          // [kg m]
    mf_lane mass;        // [kg]
} Inertia;

typedef struct Ask { // the question at one bundle of lanes
    const mf_TreeQuery *query;
    const mf_Tree *tree;
    const mf_TreeDof *dofs;
    const double *numbers; // as in mf_TreeState
    uint32_t lane;
} Ask;

static MF_INLINE Vec no_vec(void) {
    return MF_VALUE(Vec, mf_zero(), mf_zero(), mf_zero());
}

static MF_INLINE Vec set_vec(const double v[3]) {
    return MF_VALUE(Vec, mf_set((mf_real)v[0]), mf_set((mf_real)v[1]), mf_set((mf_real)v[2]));
}

// Numbers of the model: those of the tree, or of each lane's robot.
static MF_INLINE mf_lane number(const Ask *a, double value, uint32_t row) {
    return a->numbers == NULL ? mf_set((mf_real)value) : row_load(a->numbers + a->lane, row);
}

static MF_INLINE Vec number_vec(const Ask *a, const double v[3], uint32_t row) {
    return MF_VALUE(Vec, number(a, v[0], row), number(a, v[1], row + 1), number(a, v[2], row + 2));
}

static MF_INLINE Sym number_sym(const Ask *a, const double s[6], uint32_t row) {
    return MF_VALUE(Sym, number(a, s[0], row), number(a, s[1], row + 1), number(a, s[2], row + 2),
                    number(a, s[3], row + 3), number(a, s[4], row + 4), number(a, s[5], row + 5));
}

static MF_INLINE mf_real *row_at(const Ask *a, const void *rows, size_t c) {
    return (mf_real *)(uintptr_t)rows + c * MF_BLOCK + a->lane;
}

static MF_INLINE Six six_load(const Ask *a, const void *rows, size_t number) {
    const mf_real *from = row_at(a, rows, 6 * number);
    return MF_VALUE(Six, vec_load(from, 0), vec_load(from, 3));
}

static MF_INLINE void six_store(const Ask *a, void *rows, size_t number, Six six) {
    mf_real *to = row_at(a, rows, 6 * number);
    vec_store(to, 0, six.angular);
    vec_store(to, 3, six.linear);
}

static MF_INLINE mf_lane six_dot(Six a, Six b) {
    return vec_dot_add(a.angular, b.angular, vec_dot(a.linear, b.linear));
}

static MF_INLINE Inertia inertia_load(const Ask *a, uint32_t link) {
    const mf_real *from = row_at(a, a->query->inertias, 10 * (size_t)link);
    return MF_VALUE(Inertia, sym_load(from), vec_load(from, 6), row_load(from, 9));
}

static MF_INLINE void inertia_store(const Ask *a, uint32_t link, const Inertia *inertia) {
    mf_real *to = row_at(a, a->query->inertias, 10 * (size_t)link);
    sym_store(to, inertia->about);
    vec_store(to, 6, inertia->moment);
    row_store(to, 9, inertia->mass);
}

static MF_INLINE Mat matrix_of(const Ask *a, uint32_t link) {
    const mf_real *from = row_at(a, a->query->motion.matrix, 9 * (size_t)link);
    const Vec x = vec_load(from, 0), y = vec_load(from, 3), z = vec_load(from, 6);
    return MF_VALUE(Mat, x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z);
}

static MF_INLINE Vec position_of(const Ask *a, uint32_t link) {
    return vec_load(row_at(a, a->query->motion.position, 3 * (size_t)link), 0);
}

// ---- twists ------------------------------------------------------------------------------------

static MF_INLINE Vec column(const Mat *m, uint32_t c) {
    return c == 0   ? MF_VALUE(Vec, m->xx, m->yx, m->zx)
           : c == 1 ? MF_VALUE(Vec, m->xy, m->yy, m->zy)
                    : MF_VALUE(Vec, m->xz, m->yz, m->zz);
}

static void put_rotation(const Ask *a, uint32_t dof, Vec axis, Vec position) {
    six_store(a, a->query->twists, dof, MF_VALUE(Six, axis, vec_cross(position, axis)));
}

static void put_sliding(const Ask *a, uint32_t dof, Vec axis) {
    six_store(a, a->query->twists, dof, MF_VALUE(Six, no_vec(), axis));
}

static void put_three(const Ask *a, uint32_t dof, const Mat *axes, bool turning, Vec position) {
    for (uint32_t i = 0; i < 3; i++)
        if (turning)
            put_rotation(a, dof + i, column(axes, i), position);
        else
            put_sliding(a, dof + i, column(axes, i));
}

// The axes along which a floating joint slides do not turn with it.
static Mat axes_at_rest(const Ask *a, const mf_TreeLink *link) {
    const mf_TreeMotion *motion = &a->query->motion;
    const mf_real *from = row_at(a, motion->rotation, (size_t)link->parent * motion->rotation_rows);
    const Quat above = {row_load(from, 0), row_load(from, 1), row_load(from, 2), row_load(from, 3)};
    const uint32_t row = link->joint_numbers + MF_JOINT_ROTATION;
    const double *q = link->rotation;
    const Quat own = {number(a, q[0], row), number(a, q[1], row + 1), number(a, q[2], row + 2),
                      number(a, q[3], row + 3)};
    return quat_matrix(quat_multiply(above, own));
}

static void find_twists(const Ask *a) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    const Mat unit = {one, zero, zero, zero, one, zero, zero, zero, one};
    for (uint32_t l = 0; l < a->tree->link_count; l++) {
        const mf_TreeLink *link = &mf_tree_links(a->tree)[l];
        if (link->dofs == 0)
            continue;
        const Mat axes = matrix_of(a, l);
        const Vec own = number_vec(a, link->axis, link->joint_numbers + MF_JOINT_AXIS);
        const Vec position = position_of(a, l), axis = mat_apply(&axes, own);
        if (link->dofs == 6) {
            const Mat rest = l == 0 ? unit : axes_at_rest(a, link);
            put_three(a, link->velocity, &rest, false, position);
        }
        if (link->dofs >= 3)
            put_three(a, link->velocity + link->dofs - 3, &axes, true, position);
        else if (link->type == MF_JOINT_SLIDE)
            put_sliding(a, link->velocity, axis);
        else
            put_rotation(a, link->velocity, axis, position);
    }
}

// ---- mass matrix -------------------------------------------------------------------------------

// About the base's origin by Steiner's theorem: + m (|p|^2 - p p^T).
static void put_inertia(const Ask *a, uint32_t l) {
    const mf_TreeLink *link = &mf_tree_links(a->tree)[l];
    const Mat axes = matrix_of(a, l);
    const uint32_t row = link->link_numbers;
    const Sym own = number_sym(a, link->inertia, row + MF_LINK_INERTIA);
    const Vec center = number_vec(a, link->center, row + MF_LINK_CENTER);
    const Vec p = mat_apply_add(&axes, center, position_of(a, l));
    Inertia out = {.about = sym_rotate(&axes, &own),
                   .mass = number(a, link->mass, row + MF_LINK_MASS)};
    out.moment = vec_scale(p, out.mass);
    const mf_lane square = vec_dot(p, out.moment);
    out.about.xx = out.about.xx + mf_fma(-p.x, out.moment.x, square);
    out.about.yy = out.about.yy + mf_fma(-p.y, out.moment.y, square);
    out.about.zz = out.about.zz + mf_fma(-p.z, out.moment.z, square);
    out.about.xy = mf_fma(-p.x, out.moment.y, out.about.xy);
    out.about.xz = mf_fma(-p.x, out.moment.z, out.about.xz);
    out.about.yz = mf_fma(-p.y, out.moment.z, out.about.yz);
    inertia_store(a, l, &out);
}

static void add_inertia(const Ask *a, uint32_t parent, uint32_t child) {
    Inertia sum = inertia_load(a, parent);
    const Inertia more = inertia_load(a, child);
    const Sym *m = &more.about;
    sum.about = MF_VALUE(Sym, sum.about.xx + m->xx, sum.about.yy + m->yy, sum.about.zz + m->zz,
                         sum.about.xy + m->xy, sum.about.xz + m->xz, sum.about.yz + m->yz);
    sum.moment = vec_add(sum.moment, more.moment);
    sum.mass = sum.mass + more.mass;
    inertia_store(a, parent, &sum);
}

// Momentum of a body of this inertia that moves by a twist.
static MF_INLINE Six momentum(const Inertia *inertia, Six twist) {
    return MF_VALUE(
        Six,
        vec_cross_add(inertia->moment, twist.linear, sym_apply(&inertia->about, twist.angular)),
        vec_cross_add(twist.angular, inertia->moment, vec_scale(twist.linear, inertia->mass)));
}

static void find_mass(const Ask *a) {
    for (uint32_t l = 0; l < a->tree->link_count; l++)
        put_inertia(a, l);
    for (uint32_t l = a->tree->link_count; l-- > 1;)
        add_inertia(a, mf_tree_links(a->tree)[l].parent, l);
    for (uint32_t d = 0; d < a->tree->dof_count; d++) {
        const Inertia carried = inertia_load(a, a->dofs[d].link);
        const Six own = six_load(a, a->query->twists, d), linear = momentum(&carried, own);
        mf_real *entry = row_at(a, a->query->entries, a->dofs[d].entries);
        row_store(entry, 0,
                  six_dot(own, linear) + number(a, a->dofs[d].armature, a->dofs[d].number));
        size_t c = 1;
        for (uint32_t i = a->dofs[d].parent; i != MF_NONE; i = a->dofs[i].parent)
            row_store(entry, c++, six_dot(six_load(a, a->query->twists, i), linear));
    }
}

// ---- forces for accelerations ------------------------------------------------------------------

// The wrench that gives a link its acceleration, gravity taken away.
static Six need(const Ask *a, uint32_t l) {
    const mf_TreeLink *link = &mf_tree_links(a->tree)[l];
    const mf_TreeMotion *motion = &a->query->motion;
    const Mat axes = matrix_of(a, l);
    const uint32_t row = link->link_numbers;
    const Sym own = number_sym(a, link->inertia, row + MF_LINK_INERTIA);
    const Sym inertia = sym_rotate(&axes, &own);
    const Vec arm = mat_apply(&axes, number_vec(a, link->center, row + MF_LINK_CENTER));
    const Vec rate = vec_load(row_at(a, motion->velocity, 6 * (size_t)l), 3);
    const Six moved = six_load(a, motion->acceleration, l); // linear first
    const Vec angular = moved.linear;
    Vec linear = vec_sub(moved.angular, set_vec(a->query->gravity));
    linear = vec_cross_add(angular, arm, linear);
    linear = vec_cross_add(rate, vec_cross(rate, arm), linear);
    const Vec force = vec_scale(linear, number(a, link->mass, row + MF_LINK_MASS));
    Vec torque = vec_cross_add(rate, sym_apply(&inertia, rate), sym_apply(&inertia, angular));
    torque = vec_cross_add(vec_add(position_of(a, l), arm), force, torque);
    return MF_VALUE(Six, torque, force);
}

// Forces for the accelerations of the motion.
static void find_forces(const Ask *a, void *out) {
    void *wrenches = a->query->wrenches;
    const void *change = a->query->motion.change;
    for (uint32_t l = 0; l < a->tree->link_count; l++)
        six_store(a, wrenches, l, need(a, l));
    for (uint32_t l = a->tree->link_count; l-- > 1;) {
        const uint32_t parent = mf_tree_links(a->tree)[l].parent;
        const Six own = six_load(a, wrenches, l), sum = six_load(a, wrenches, parent);
        six_store(
            a, wrenches, parent,
            MF_VALUE(Six, vec_add(sum.angular, own.angular), vec_add(sum.linear, own.linear)));
    }
    for (uint32_t d = 0; d < a->tree->dof_count; d++) {
        mf_lane force =
            six_dot(six_load(a, a->query->twists, d), six_load(a, wrenches, a->dofs[d].link));
        if (change != NULL)
            force = mf_fma(number(a, a->dofs[d].armature, a->dofs[d].number),
                           row_load(row_at(a, change, 0), d), force);
        row_store(row_at(a, out, 0), d, force);
    }
}

// ---- accelerations for forces ------------------------------------------------------------------

// M = L^T D L in place: D where an entry is of a degree of freedom with itself, L elsewhere.
static void factorize(const Ask *a) {
    mf_real *entries = row_at(a, a->query->entries, 0);
    for (uint32_t k = a->tree->dof_count; k-- > 0;) {
        const size_t row = a->dofs[k].entries;
        const mf_lane inverse = mf_set((mf_real)1) / row_load(entries, row);
        size_t c = row + 1;
        for (uint32_t i = a->dofs[k].parent; i != MF_NONE; i = a->dofs[i].parent, c++) {
            const mf_lane part = row_load(entries, c) * inverse;
            size_t to = a->dofs[i].entries, from = c;
            for (uint32_t j = i; j != MF_NONE; j = a->dofs[j].parent, to++, from++) {
                const mf_lane other = row_load(entries, from);
                row_store(entries, to, mf_fma(-part, other, row_load(entries, to)));
            }
        }
        c = row + 1;
        for (uint32_t i = a->dofs[k].parent; i != MF_NONE; i = a->dofs[i].parent, c++)
            row_store(entries, c, row_load(entries, c) * inverse);
    }
}

// out = M^-1 (in - out), with the factors.
static void solve(const Ask *a) {
    const mf_real *entries = row_at(a, a->query->entries, 0), *in = row_at(a, a->query->in, 0);
    mf_real *x = row_at(a, a->query->out, 0);
    for (uint32_t d = 0; d < a->tree->dof_count; d++)
        row_store(x, d, row_load(in, d) - row_load(x, d));
    for (uint32_t d = a->tree->dof_count; d-- > 0;) {
        const mf_lane own = row_load(x, d);
        size_t c = a->dofs[d].entries + 1;
        for (uint32_t i = a->dofs[d].parent; i != MF_NONE; i = a->dofs[i].parent, c++)
            row_store(x, i, mf_fma(-row_load(entries, c), own, row_load(x, i)));
    }
    for (uint32_t d = 0; d < a->tree->dof_count; d++) {
        mf_lane sum = row_load(x, d) / row_load(entries, a->dofs[d].entries);
        size_t c = a->dofs[d].entries + 1;
        for (uint32_t i = a->dofs[d].parent; i != MF_NONE; i = a->dofs[i].parent, c++)
            sum = mf_fma(-row_load(entries, c), row_load(x, i), sum);
        row_store(x, d, sum);
    }
}

// ---- Jacobians ---------------------------------------------------------------------------------

static void find_jacobian(const Ask *a) {
    const uint32_t link = a->query->link;
    const Mat axes = matrix_of(a, link);
    const Vec point = mat_apply_add(&axes, set_vec(a->query->point), position_of(a, link));
    for (uint32_t d = 0; d < a->tree->dof_count; d++)
        six_store(a, a->query->out, d, MF_VALUE(Six, no_vec(), no_vec()));
    uint32_t l = link;
    while (l != MF_NONE && mf_tree_links(a->tree)[l].dofs == 0)
        l = mf_tree_links(a->tree)[l].parent;
    if (l == MF_NONE)
        return;
    const mf_TreeLink *mover = &mf_tree_links(a->tree)[l];
    for (uint32_t d = mover->velocity + mover->dofs - 1; d != MF_NONE; d = a->dofs[d].parent) {
        const Six twist = six_load(a, a->query->twists, d);
        const Vec speed = vec_cross_add(twist.angular, point, twist.linear);
        six_store(a, a->query->out, d, MF_VALUE(Six, speed, twist.angular));
    }
}

// ---- a block -----------------------------------------------------------------------------------

static void answer(const Ask *a) {
    find_twists(a);
    switch (a->query->task) {
    case MF_TREE_MASS:
        find_mass(a);
        return;
    case MF_TREE_INVERSE:
        find_forces(a, a->query->out);
        return;
    case MF_TREE_FORWARD:
        find_forces(a, a->query->out);
        find_mass(a);
        factorize(a);
        solve(a);
        return;
    case MF_TREE_JACOBIAN:
        find_jacobian(a);
        return;
    }
}

void MF_KERNEL(mf_tree_query)(const mf_TreeQuery *query, const mf_TreeState *state) {
    const uint32_t end = query->motion.first_lane + query->motion.lane_count;
    MF_KERNEL(mf_tree_motion)(query->tree, state, &query->motion);
    Ask ask = {.query = query,
               .tree = query->tree,
               .dofs = mf_tree_dofs(query->tree),
               .numbers = state->numbers};
    for (ask.lane = query->motion.first_lane; ask.lane < end; ask.lane += MF_LANES)
        answer(&ask);
}
