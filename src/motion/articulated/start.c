// The tree in its start pose: inertias that limits have to stop, and compliances of links.
//
// A joint's limit has to stop the larger of the inertias on both sides of its axis, with all other
// joints rigid. This inertia scales the spring and damper of the limit, so it must not depend on
// the state: the inertia in the step includes friction of contacts and changes by orders of
// magnitude when a foot slips.
//
// The compliance of a link is the mean of the diagonal of J M^-1 J^T for its center of mass
// (MuJoCo's invweight0); M from composite rigid bodies (Walker and Orin 1982), factored by
// Cholesky.
#include "motion/articulated/build.h"
#include "math/scalar.h"

#include <string.h>

typedef struct Heap {  // rigid parts together, about the origin of the base, in its axes
    double mass;       // [kg]
    double moment[3];  // [kg m] mass times center
    double inertia[9]; // [kg m^2]
} Heap;

typedef struct Pose {
    double rotation[9]; // [1] own axes to the base's
    double position[3];
} Pose;

typedef struct Start {
    const mf_ArtMotion *motion;
    mf_Context *context;
    Pose *poses; // of the base at 0, of link l at l + 1
    Heap *heaps; // of links with everything that they carry
} Start;

// The rotations of a link's frame about z and x, then `last` about z.
static void rotate_frame(double out[9], const double *c, double cosine, double sine) {
    const double cz = c[MF_ART_COS_ANGLE], sz = c[MF_ART_SIN_ANGLE], cx = c[MF_ART_COS_TILT],
                 sx = c[MF_ART_SIN_TILT];
    const double frame[9] = {cz, -sz * cx, sz * sx, sz, cz * cx, -cz * sx, 0, sx, cx};
    const double last[9] = {cosine, -sine, 0, sine, cosine, 0, 0, 0, 1};
    mf_mat3_multiply(out, frame, last);
}

static void place_link(const mf_ArtMotion *motion, const mf_Model *model, uint32_t l, Pose *poses) {
    const mf_ArtLink *link = &motion->links[l];
    const double *c = mf_art_constants(motion, (int32_t)l);
    const Pose *parent = &poses[link->parent + 1];
    Pose *own = &poses[l + 1];
    double joint[9], direction[3], sine, cosine, start = 0.0;
    if (model->start_angle != NULL && !link->inner)
        start = model->start_angle[link->joint];
    if (motion->plan->law && !link->inner) // which may be out of range
        start = model->joints[link->joint].reference;
    start += c[MF_ART_OFFSET];
    mf_sin_cos(start, &sine, &cosine);
    if (link->kind == MF_ART_BALL)
        memcpy(joint, c + MF_ART_ROTATION, sizeof joint);
    else if (link->kind == MF_ART_SLIDE)
        rotate_frame(joint, c, c[MF_ART_COS_OFFSET], c[MF_ART_SIN_OFFSET]);
    else
        rotate_frame(joint, c, cosine, sine);
    mf_mat3_multiply(own->rotation, parent->rotation, joint);
    mf_mat3_apply(direction, parent->rotation, c + MF_ART_POSITION);
    mf_vec3_add(own->position, parent->position, direction);
    for (int i = 0; link->kind == MF_ART_SLIDE && i < 3; i++)
        own->position[i] += own->rotation[3 * i + 2] * start;
}

// A rigid part by the inertial constants of its link, moved into the base's axes.
static void heap_part(Heap *out, const double *c, const Pose *pose) {
    const double *j = c + MF_ART_INERTIA, *p = pose->position;
    const double own[9] = {j[0], j[3], j[4], j[3], j[1], j[5], j[4], j[5], j[2]};
    double half[9], back[9], h[3];
    out->mass = c[MF_ART_MASS];
    mf_mat3_apply(h, pose->rotation, c + MF_ART_MOMENT);
    mf_vec3_add_scaled(out->moment, h, out->mass, p);
    mf_mat3_multiply(half, pose->rotation, own);
    mf_mat3_transpose(back, pose->rotation);
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
    double rotated[3], arm[3], pull[3];
    mf_mat3_apply(rotated, heap->inertia, u);
    mf_vec3_cross(arm, u, p);
    mf_vec3_cross(pull, u, heap->moment);
    return mf_vec3_dot(u, rotated) - 2.0 * mf_vec3_dot(arm, pull) +
           heap->mass * mf_vec3_dot(arm, arm);
}

// Inertia of a heap about a joint; for a ball joint the mean about three axes.
static double heap_moved(const Heap *heap, const mf_ArtLink *link, const Pose *pose) {
    double sum = 0.0;
    if (link->kind == MF_ART_SLIDE)
        return heap->mass;
    for (int axis = link->kind == MF_ART_BALL ? 0 : 2; axis < 3; axis++) {
        const double u[3] = {pose->rotation[axis], pose->rotation[3 + axis],
                             pose->rotation[6 + axis]};
        sum += heap_about(heap, u, pose->position);
    }
    return link->kind == MF_ART_BALL ? sum / 3.0 : sum;
}

// The floating heap that contains link l (-1: the base): index + 1 in heaps; MF_NONE: it is fixed
// to the world.
static uint32_t floating_root(const mf_ArtMotion *motion, const mf_Model *model, uint32_t l) {
    for (int32_t i = (int32_t)l; i >= 0; i = motion->links[i].parent)
        if (model->joints[motion->links[i].joint].type == MF_JOINT_FLOATING)
            return (uint32_t)i + 1;
    return motion->plan->fixed ? MF_NONE : 0;
}

// The poses of all links and their own mass, in one block; start_gather adds the links that they
// carry.
static mf_Status start_make(Start *start, const mf_ArtMotion *motion, const mf_Model *model,
                            mf_Context *context, mf_Error *error) {
    *start = (Start){.motion = motion, .context = context};
    const mf_Array arrays[] = {MF_ARRAY(start->poses, motion->plan->link_count + 1),
                               MF_ARRAY(start->heaps, motion->plan->link_count + 1)};
    if (!mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays))
        return mf_fail(error, MF_NO_MEMORY, "articulated: out of memory");
    start->poses[0] = (Pose){.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    for (uint32_t l = 0; l < motion->plan->link_count; l++)
        place_link(motion, model, l, start->poses);
    for (uint32_t l = 0; l <= motion->plan->link_count; l++)
        heap_part(&start->heaps[l], mf_art_constants(motion, (int32_t)l - 1), &start->poses[l]);
    return MF_OK;
}

static void start_gather(Start *start) {
    for (uint32_t l = start->motion->plan->link_count; l-- > 0;)
        heap_add(&start->heaps[start->motion->links[l].parent + 1], &start->heaps[l + 1], 1.0);
}

// ---- limits -------------------------------------------------------------------------------------

mf_Status mf_art_moved_find(mf_ArtMotion *motion, const mf_Model *model, mf_Context *context,
                            mf_Error *error) {
    Start start;
    MF_TRY(start_make(&start, motion, model, context, error));
    start_gather(&start);
    for (uint32_t l = 0; l < motion->plan->link_count; l++) {
        const mf_ArtLink *link = &motion->links[l];
        const Pose *pose = &start.poses[l + 1];
        uint32_t root = floating_root(motion, model, l);
        double *c = mf_art_constants(motion, (int32_t)l);
        double moved = heap_moved(&start.heaps[l + 1], link, pose);
        if (root != MF_NONE && root != l + 1) {
            Heap rest = start.heaps[root];
            heap_add(&rest, &start.heaps[l + 1], -1.0);
            double carried = heap_moved(&rest, link, pose);
            moved = carried > moved ? carried : moved;
        }
        c[MF_ART_MOVED] = moved + c[MF_ART_ARMATURE];
    }
    mf_release(context, start.poses);
    return MF_OK;
}

// ---- compliance of links ------------------------------------------------------------------------

typedef struct VelocityColumn { // effect of one velocity: motion of the point of the link at
                                // the origin
    double rate[3];             // [1/s]
    double slide[3];            // [m/s]
    double armature;
    uint32_t owner; // [1] 0 = base, link l at l + 1
} VelocityColumn;

static void velocity_set(VelocityColumn *column, const Pose *pose, int axis, bool rotates) {
    const double u[3] = {pose->rotation[axis], pose->rotation[3 + axis], pose->rotation[6 + axis]};
    mf_vec3_set(column->rate, 0, 0, 0);
    mf_vec3_copy(column->slide, u);
    if (rotates) {
        mf_vec3_copy(column->rate, u);
        mf_vec3_cross(column->slide, pose->position, u);
    }
}

// Returns how many there are; `columns` may be NULL.
static uint32_t find_directions(const Start *start, VelocityColumn *columns) {
    const mf_ArtMotion *motion = start->motion;
    uint32_t count = 0;
    for (int32_t l = motion->plan->fixed ? 0 : -1; l < (int32_t)motion->plan->link_count; l++) {
        const mf_ArtKind kind = l < 0 ? MF_ART_BALL : motion->links[l].kind;
        // The base slides along its axes first.
        for (int i = l < 0 ? 0 : kind == MF_ART_BALL ? 3 : 5; i < 6; i++, count++) {
            if (columns == NULL)
                continue;
            velocity_set(&columns[count], &start->poses[l + 1], i % 3,
                         i >= 3 && kind != MF_ART_SLIDE);
            columns[count].owner = (uint32_t)(l + 1);
            columns[count].armature = mf_art_constants(motion, l)[MF_ART_ARMATURE];
        }
    }
    return count;
}

// Whether `above` is `below` or carries it, as owners.
static bool carries(const mf_ArtMotion *motion, uint32_t above, uint32_t below) {
    while (below > above)
        below = (uint32_t)(motion->links[below - 1].parent + 1);
    return below == above;
}

// Velocities that inertia couples, next to each other.
typedef struct Block {
    uint32_t first, end; // [1]
} Block;

// The tree in its start pose with its factored mass matrix, and memory for one more row. Trees that
// the world alone carries are blocks of the matrix; all outside of them is 0.
typedef struct Factored {
    Start start;
    uint32_t count;
    VelocityColumn *columns; // in one block with the rest
    Block *blocks;           // per velocity: its own
    size_t *rows;            // per velocity: where its row of the lower half starts, at the block's
                             // first column
    double *matrix, *row;
    double (*centers)[3]; // of mass of links by themselves, the base's first
    bool fine;
} Factored;

static double *row_of(const Factored *all, size_t i) {
    return all->matrix + all->rows[i];
}

// Adds the inertia of tendons, as in MuJoCo's mass matrix.
static bool add_tendons(const Factored *all, const mf_Model *model) {
    const Start *start = &all->start;
    const mf_ArtMotion *motion = start->motion;
    const uint32_t n = all->count;
    double *j = all->row;
    for (uint32_t i = 0; motion->plan->law && i < motion->plan->tendon_count; i++) {
        const mf_ArtTendon *tendon = &motion->tendons[i];
        const mf_ArtTerm *terms = motion->terms;
        if (!(tendon->armature > 0.0))
            continue;
        memset(j, 0, n * sizeof *j);
        for (uint32_t t = 0; t < tendon->term_count; t++)
            j[motion->links[terms[tendon->first_term + t].link].dof] +=
                terms[tendon->first_term + t].weight;
        if (tendon->path != MF_NONE &&
            mf_art_path_row(motion, model, tendon->path, j, start->context, NULL) != MF_OK)
            return false;
        for (size_t row = 0; row < n; row++)
            for (size_t column = 0; column <= row; column++)
                row_of(all, row)[column] += tendon->armature * j[row] * j[column];
    }
    return true;
}

// The mass matrix in the lower half, and its Cholesky factor in place. Links come after their
// parents. False if it is not positive definite.
static bool factor_mass(const Factored *all, const mf_Model *model) {
    const Start *start = &all->start;
    const VelocityColumn *columns = all->columns;
    for (size_t i = 0; i < all->count; i++) {
        const size_t first = all->blocks[i].first;
        double *m = row_of(all, i);
        const Heap *heap = &start->heaps[columns[i].owner];
        double torque[3], force[3], part[3];
        mf_mat3_apply(torque, heap->inertia, columns[i].rate);
        mf_vec3_cross(part, heap->moment, columns[i].slide);
        mf_vec3_add(torque, torque, part);
        mf_vec3_cross(force, columns[i].rate, heap->moment);
        mf_vec3_add_scaled(force, force, heap->mass, columns[i].slide);
        for (size_t k = first; k <= i; k++) {
            double sum = 0.0;
            if (carries(start->motion, columns[k].owner, columns[i].owner))
                sum = mf_vec3_dot(columns[k].rate, torque) + mf_vec3_dot(columns[k].slide, force);
            m[k - first] = sum + (k == i ? columns[i].armature : 0.0);
        }
    }
    if (!add_tendons(all, model))
        return false;
    for (size_t i = 0; i < all->count; i++)
        for (size_t k = 0; k <= i - all->blocks[i].first; k++) {
            double *m = row_of(all, i), *to = row_of(all, all->blocks[i].first + k);
            double sum = m[k];
            for (size_t j = 0; j < k; j++)
                sum -= m[j] * to[j];
            if (to == m && !(sum > 0.0))
                return false;
            m[k] = to != m ? sum / to[k] : mf_sqrt(sum);
        }
    return true;
}

static void factored_free(Factored *all) {
    mf_release(all->start.context, all->matrix);
    mf_release(all->start.context, all->columns);
    mf_release(all->start.context, all->start.poses);
}

// Tendons with inertia couple trees, which then count as one block. Returns the number of entries
// of the matrix.
static size_t find_blocks(Factored *all) {
    const mf_ArtMotion *motion = all->start.motion;
    bool whole = !motion->plan->fixed;
    size_t entries = 0;
    for (uint32_t i = 0; motion->plan->law && i < motion->plan->tendon_count; i++)
        whole = whole || motion->tendons[i].armature > 0.0;
    for (uint32_t i = 0, first = 0; i < all->count; i++) {
        const uint32_t owner = all->columns[i].owner;
        if (!whole && motion->links[owner - 1].parent < 0 && all->columns[first].owner != owner)
            first = i;
        all->blocks[i].first = first;
        all->rows[i] = entries;
        entries += i - first + 1;
    }
    for (uint32_t i = all->count, end = i; i-- > 0;) {
        all->blocks[i].end = end;
        end = all->blocks[i].first == i ? i : end;
    }
    return entries;
}

static mf_Status factored_make(Factored *all, const mf_ArtMotion *motion, const mf_Model *model,
                               mf_Context *context, mf_Error *error) {
    MF_TRY(start_make(&all->start, motion, model, context, error));
    const size_t n = all->count = find_directions(&all->start, NULL);
    const mf_Array arrays[] = {MF_ARRAY(all->columns, n), MF_ARRAY(all->blocks, n),
                               MF_ARRAY(all->rows, n), MF_ARRAY(all->row, n),
                               MF_ARRAY(all->centers, motion->plan->link_count + 1)};
    if (!mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays)) {
        factored_free(all);
        return mf_fail(error, MF_NO_MEMORY, "articulated: out of memory");
    }
    find_directions(&all->start, all->columns);
    const size_t entries = find_blocks(all);
    mf_Status status =
        entries < MF_MEMORY_MANY
            ? MF_OK
            : mf_memory_suffices(sizeof *all->matrix, entries, "entries of the mass matrix", error);
    MF_THEN(status, MF_ALLOCATE(context, "articulated", error, MF_ARRAY(all->matrix, entries)));
    if (status != MF_OK) {
        factored_free(all);
        return status;
    }
    for (uint32_t l = 0; l <= motion->plan->link_count; l++) {
        const Heap *own = &all->start.heaps[l];
        mf_vec3_copy(all->centers[l], all->start.poses[l].position);
        if (own->mass > 0.0)
            mf_vec3_scale(all->centers[l], own->moment, 1.0 / own->mass);
    }
    start_gather(&all->start);
    all->fine = factor_mass(all, model);
    return MF_OK;
}

// Adds to `sum` J M^-1 J^T of the row in all->row, which is 0 outside of the range and is
// overwritten.
static double row_give(const Factored *all, Block range, double sum) {
    for (size_t i = range.first; i < range.end; i++) {
        const double *m = row_of(all, i);
        const size_t first = all->blocks[i].first;
        for (size_t k = first; k < i; k++)
            all->row[i] -= m[k - first] * all->row[k];
        all->row[i] /= m[i - first];
        sum += all->row[i] * all->row[i];
    }
    return sum;
}

static double whole_row_give(const Factored *all) {
    return row_give(all, (Block){.end = all->count}, 0.0);
}

// The velocities among which those that move a link are; a fixed base has none.
static Block block_of(const Factored *all, uint32_t owner) {
    const mf_ArtMotion *motion = all->start.motion;
    if (owner == 0 && motion->plan->fixed)
        return (Block){.end = 0};
    return all->blocks[owner == 0 ? 0 : motion->links[owner - 1].dof];
}

// J M^-1 J^T of a point of the link `owner`, or of its rotation: mean of three directions.
static double give(const Factored *all, uint32_t owner, const double point[3], bool angular) {
    const Block block = block_of(all, owner);
    double sum = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        for (size_t i = block.first; i < block.end; i++) {
            const VelocityColumn *column = &all->columns[i];
            double velocity[3];
            mf_vec3_cross(velocity, column->rate, point);
            mf_vec3_add(velocity, velocity, column->slide);
            if (angular)
                mf_vec3_copy(velocity, column->rate);
            all->row[i] = carries(all->start.motion, column->owner, owner) ? velocity[axis] : 0.0;
        }
        sum = row_give(all, block, sum);
    }
    return sum / 3.0;
}

// The mean of the diagonal of M^-1 over some velocities.
static double velocity_give(const Factored *all, uint32_t first, uint32_t count) {
    double sum = 0.0;
    for (uint32_t method = first; method < first + count; method++) {
        const Block block = all->blocks[method];
        memset(all->row + block.first, 0, (block.end - block.first) * sizeof *all->row);
        all->row[method] = 1.0;
        sum += row_give(all, block, 0.0);
    }
    return sum / count;
}

// The center of mass of a body of the file, which belongs to a link of the model.
static void body_center(const Factored *all, const mf_Body *body, uint32_t link, double out[3]) {
    const mf_ArtFrame *frame = &all->start.motion->frames[link];
    const Pose *pose = &all->start.poses[frame->link + 1];
    mf_pose_point(out, body->position, body->rotation, body->center);
    mf_pose_point(out, frame->position, frame->rotation, out);
    mf_mat3_apply(out, pose->rotation, out);
    mf_vec3_add(out, out, pose->position);
}

// Of the center of mass of a shape's body or, without one, of its link.
static double ease_of(const Factored *all, const mf_Model *model, const mf_Shape *shape) {
    const double mass = all->start.motion->plan->mass, least = 1e-6 / mass;
    double center[3], ease = 1.0 / mass;
    if (shape->link == MF_NONE)
        return 0.0;
    const uint32_t owner = (uint32_t)(all->start.motion->frames[shape->link].link + 1);
    if (shape->body == MF_NONE)
        mf_vec3_copy(center, all->centers[owner]);
    else
        body_center(all, &model->bodies[shape->body], shape->link, center);
    if (all->fine)
        ease = give(all, owner, center, false);
    return ease > least ? ease : least;
}

mf_Status mf_art_ease_find(const mf_ArtMotion *motion, const mf_Model *model, double *ease,
                           mf_Context *context, mf_Error *error) {
    Factored all = {.fine = false};
    MF_TRY(factored_make(&all, motion, model, context, error));
    for (uint32_t i = 0; i < model->shape_count; i++)
        ease[i] = ease_of(&all, model, &model->shapes[i]);
    factored_free(&all);
    return MF_OK;
}

// The diagonal of M^-1.
mf_Status mf_art_give_find(const mf_ArtMotion *motion, const mf_Model *model, double *give,
                           mf_Context *context, mf_Error *error) {
    Factored all = {.fine = false};
    MF_TRY(factored_make(&all, motion, model, context, error));
    for (uint32_t i = 0; i < all.count; i++) {
        if (all.columns[i].owner == 0)
            continue;
        const uint32_t l = all.columns[i].owner - 1;
        const double own = all.fine ? velocity_give(&all, i, 1) : 0.0;
        give[l] = own > 0.0 ? own : 1.0 / mf_art_constants(motion, (int32_t)l)[MF_ART_MOVED];
    }
    factored_free(&all);
    return MF_OK;
}

// ---- compliance of constraints ------------------------------------------------------------------

static double terms_give(const Factored *all, uint32_t first, uint32_t count) {
    const mf_ArtMotion *motion = all->start.motion;
    memset(all->row, 0, all->count * sizeof *all->row);
    for (uint32_t t = first; t < first + count; t++)
        all->row[motion->links[motion->terms[t].link].dof] += motion->terms[t].weight;
    return whole_row_give(all);
}

static mf_Status tendon_give(const Factored *all, const mf_Model *model, const mf_ArtTendon *tendon,
                             double *out, mf_Error *error) {
    const mf_ArtMotion *motion = all->start.motion;
    if (tendon->path == MF_NONE) {
        *out = terms_give(all, tendon->first_term, tendon->term_count);
        return MF_OK;
    }
    MF_TRY(mf_art_path_row(motion, model, tendon->path, all->row, all->start.context, error));
    *out = whole_row_give(all);
    return MF_OK;
}

// For a point of plan link `link` (-1 = base): translation and rotation.
static void point_give(const Factored *all, int32_t link, const double point[3], double out[2]) {
    for (int angular = 0; angular < 2; angular++)
        out[angular] = give(all, (uint32_t)(link + 1), point, angular);
    // A body that cannot rotate, or cannot translate, uses one value for both, as in MuJoCo.
    if (out[0] < 1e-15)
        out[0] = out[1];
    if (out[1] < 1e-15)
        out[1] = out[0];
}

static bool is_null(const double v[3]) {
    return mf_abs(v[0]) <= 1e-14 && mf_abs(v[1]) <= 1e-14 && mf_abs(v[2]) <= 1e-14;
}

static bool is_along_axis(const double v[3]) {
    return (mf_abs(v[0]) > 1e-14) + (mf_abs(v[1]) > 1e-14) + (mf_abs(v[2]) > 1e-14) == 1;
}

static bool has_heavy_tendon(const mf_Model *model, uint32_t body) {
    for (uint32_t t = 0; t < model->tendon_count; t++)
        for (uint32_t w = 0; w < model->tendons[t].wrap_count; w++) {
            const mf_TendonWrap *wrap = &model->tendon_wraps[model->tendons[t].first_wrap + w];
            if (model->tendons[t].armature > 0.0 && wrap->type != MF_WRAP_PULLEY &&
                (wrap->type == MF_WRAP_SITE ? model->sites[wrap->object].body
                                            : model->shapes[wrap->object].body) == body)
                return true;
        }
    return false;
}

// Whether it is a body of the world, or of one that is fixed there, without child bodies, that only
// slides along axes of its inertia through its center: for those MuJoCo takes 1 / mass, without
// armature and in all directions (body_simple 2).
static bool only_slides(const mf_Model *model, uint32_t body) {
    const mf_Body *own = &model->bodies[body];
    uint32_t slides = 0, parent_joints = 0;
    if (!is_null(own->center) || !is_null(own->axes + 1) || !(own->mass > 0.0) ||
        (own->parent != MF_NONE && model->bodies[own->parent].parent != MF_NONE))
        return false;
    for (uint32_t b = 0; b < model->body_count; b++)
        if (model->bodies[b].parent == body)
            return false;
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const mf_Joint *joint = &model->joints[j];
        parent_joints += own->parent != MF_NONE && joint->body == own->parent;
        if (joint->body != body)
            continue;
        if (joint->type != MF_JOINT_SLIDE || !is_along_axis(joint->axis))
            return false;
        slides++;
    }
    return slides > 0 && parent_joints == 0 && !has_heavy_tendon(model, body);
}

// For the center of a body of the file; MF_NONE: the world.
static void body_give(const Factored *all, const mf_Model *model, uint32_t body, double out[2]) {
    out[0] = out[1] = 0.0;
    if (body == MF_NONE || model->bodies[body].link == MF_NONE)
        return;
    const mf_Body *from = &model->bodies[body];
    if (only_slides(model, body)) {
        out[0] = 1.0 / from->mass;
        return;
    }
    double center[3];
    body_center(all, from, from->link, center);
    point_give(all, all->start.motion->frames[from->link].link, center, out);
}

static void loop_give(const Factored *all, const mf_Model *model, uint32_t number, double out[2]) {
    const mf_ArtLoop *loop = &all->start.motion->loops[number];
    out[0] = out[1] = 0.0;
    for (int side = 0; side < 2; side++) {
        double own[2] = {0.0, 0.0};
        if (loop->rows == 1 && loop->terms[side] > 0)
            own[0] = own[1] = terms_give(all, loop->first_term[side], loop->terms[side]);
        else if (loop->rows > 1 && loop->equality != MF_NONE)
            body_give(all, model, model->equalities[loop->equality].objects[side], own);
        out[0] += own[0];
        out[1] += own[1];
    }
    if (out[1] < 1e-15)
        out[1] = out[0];
}

void mf_art_weights_free(mf_ArtWeights *weights, mf_Context *context) {
    mf_release(context, weights->shapes);
    *weights = (mf_ArtWeights){.shapes = NULL};
}

// One block holds all.
static mf_Status weights_make(const mf_ArtMotion *motion, const mf_Model *model, mf_ArtWeights *out,
                              mf_Context *context, mf_Error *error) {
    const mf_ArtPlan *plan = motion->plan;
    const mf_Array arrays[] = {MF_ARRAY(out->shapes, model->shape_count),
                               MF_ARRAY(out->links, 2 * ((size_t)plan->link_count + 1)),
                               MF_ARRAY(out->joints, plan->link_count),
                               MF_ARRAY(out->tendons, plan->tendon_count),
                               MF_ARRAY(out->loops, 2 * (size_t)plan->loop_count)};
    return mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays)
               ? MF_OK
               : mf_fail(error, MF_NO_MEMORY, "articulated: out of memory");
}

static void weights_of_links(const Factored *all, const mf_Model *model, mf_ArtWeights *out) {
    const mf_ArtMotion *motion = all->start.motion;
    for (uint32_t l = 0; l <= motion->plan->link_count; l++)
        point_give(all, (int32_t)l - 1, all->centers[l], out->links + 2 * (size_t)l);
    for (uint32_t l = 0; l < motion->plan->link_count; l++) {
        const uint32_t body = model->joints[motion->links[l].joint].body;
        out->joints[l] = body < model->body_count && only_slides(model, body)
                             ? 1.0 / model->bodies[body].mass
                             : velocity_give(all, motion->links[l].dof,
                                             motion->links[l].kind == MF_ART_BALL ? 3 : 1);
    }
    double squares = 0.0; // M = L L^T
    for (size_t i = 0; i < all->count; i++)
        for (size_t k = 0; k <= i - all->blocks[i].first; k++)
            squares += row_of(all, i)[k] * row_of(all, i)[k];
    out->mean = all->count > 0 ? squares / all->count : 1.0;
    for (uint32_t i = 0; i < 2; i++)
        out->base[i] = motion->plan->fixed ? 0.0 : velocity_give(all, 3 * i, 3);
}

mf_Status mf_art_weights_find(const mf_ArtMotion *motion, const mf_Model *model, mf_ArtWeights *out,
                              mf_Context *context, mf_Error *error) {
    Factored all = {.fine = false};
    mf_Status status = weights_make(motion, model, out, context, error);
    MF_THEN(status, factored_make(&all, motion, model, context, error));
    if (status != MF_OK) {
        mf_art_weights_free(out, context);
        return status;
    }
    if (!all.fine)
        status =
            mf_fail(error, MF_BAD_ARGUMENT,
                    "articulated: model %s has a mass matrix that is not positive", model->name);
    if (status == MF_OK) {
        weights_of_links(&all, model, out);
        for (uint32_t i = 0; i < model->shape_count; i++) {
            const mf_Shape *shape = &model->shapes[i];
            double own[2] = {0.0, 0.0};
            if (shape->link != MF_NONE && shape->body != MF_NONE)
                body_give(&all, model, shape->body, own);
            else if (shape->link != MF_NONE)
                own[0] = out->links[2 * (size_t)(motion->frames[shape->link].link + 1)];
            out->shapes[i] = own[0];
        }
        for (uint32_t i = 0; i < motion->plan->tendon_count && status == MF_OK; i++)
            status = tendon_give(&all, model, &motion->tendons[i], &out->tendons[i], error);
        for (uint32_t i = 0; i < motion->plan->loop_count; i++)
            loop_give(&all, model, i, out->loops + 2 * (size_t)i);
    }
    factored_free(&all);
    if (status != MF_OK)
        mf_art_weights_free(out, context);
    return status;
}
