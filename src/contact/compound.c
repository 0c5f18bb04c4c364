// Building compounds: links and solids of a model in the terms of the kernels, and the masses that
// solids at least have when they are pushed.
#include "contact/compound.h"
#include "base/memory.h"
#include "math/scalar.h"
#include "model/points.h"

#include <math.h>

#define NAME(NAME, name, boxes) #name,
const char *const mf_bounds_names[] = {MF_BOUNDS_LIST(NAME) NULL};
#undef NAME

// ---- links --------------------------------------------------------------------------------------

static void make_links(mf_Compound *compound) {
    const mf_Model *model = compound->model;
    compound->links[0].parent = MF_NONE;
    for (uint32_t j = 0; j < model->joint_count; j++)
        compound->links[model->joints[j].child] =
            (mf_CompoundLink){.parent = model->joints[j].parent,
                              .hinged = model->joints[j].type == MF_JOINT_HINGE,
                              .joint = j};
}

// The link that carries a solid; MF_NONE: fixed in the world and not by this model's base.
static uint32_t carrier(const mf_Model *model, const mf_CollideShape *shape) {
    if (shape->frame != MF_NONE)
        return shape->frame;
    return model->base == MF_BASE_FIXED ? 0 : MF_NONE;
}

// ---- masses -------------------------------------------------------------------------------------

typedef struct Rigid { // links that cannot move against each other, in the frame of the first
    uint32_t first;    // [1] link
    bool fixed;        // by the world
    double mass, moment[3], inertia[6];
} Rigid;

static bool moves(const mf_Model *model, uint32_t link) {
    return link > 0 && mf_joint_moves(&model->joints[model->links[link].joint]);
}

// The pose of `link` in the frame of `first`, which carries it by joints that do not move.
static void pose_within(const mf_Model *model, uint32_t first, uint32_t link, double position[3],
                        double rotation[4]) {
    mf_vec3_set(position, 0, 0, 0);
    mf_quat_identity(rotation);
    while (link != first) {
        const mf_Joint *joint = &model->joints[model->links[link].joint];
        mf_quat_rotate(position, joint->rotation, position);
        mf_vec3_add(position, joint->position, position);
        mf_quat_multiply(rotation, joint->rotation, rotation);
        link = model->links[link].parent;
    }
}

static uint32_t first_of(const mf_Model *model, uint32_t link) {
    while (link > 0 && !moves(model, link))
        link = model->links[link].parent;
    return link;
}

// What `link` is a part of. Links without mass are taken with what they are carried by.
static void find_rigid(const mf_Model *model, uint32_t link, Rigid *out) {
    do {
        *out = (Rigid){.first = first_of(model, link)};
        out->fixed = out->first == 0 && model->base == MF_BASE_FIXED;
        for (uint32_t l = 0; l < model->link_count; l++) {
            const mf_Link *part = &model->links[l];
            double position[3], rotation[4], center[3], inertia[6];
            if (!(part->mass > 0.0) || first_of(model, l) != out->first)
                continue;
            pose_within(model, out->first, l, position, rotation);
            mf_quat_rotate(center, rotation, part->center);
            mf_vec3_add(center, center, position);
            mf_inertia_rotate(inertia, part->inertia, rotation);
            mf_inertia_translate(inertia, inertia, part->mass, center);
            out->mass += part->mass;
            mf_vec3_add_scaled(out->moment, out->moment, part->mass, center);
            for (int i = 0; i < 6; i++)
                out->inertia[i] += inertia[i];
        }
        link = out->first > 0 ? model->links[out->first].parent : 0;
    } while (!(out->mass > 0.0) && out->first > 0);
}

// Largest 1/m + (r x n) I^-1 (r x n) over all directions n, for a push at `arm` from the center.
static double lightest_at(double inverse_mass, const double inverse_inertia[9],
                          const double arm[3]) {
    const double cross[9] = {0, -arm[2], arm[1], arm[2], 0, -arm[0], -arm[1], arm[0], 0};
    double half[9], product[9], back[9], values[3];
    mf_mat3_multiply(half, inverse_inertia, cross);
    mf_mat3_transpose(back, cross);
    mf_mat3_multiply(product, back, half);
    const double symmetric[6] = {product[0], product[4], product[8],
                                 product[1], product[2], product[5]};
    mf_mat3_eigen(values, NULL, symmetric);
    return inverse_mass + values[2];
}

// Inverse of a symmetric tensor and its largest eigenvalue. Directions without inertia (rods) count
// as having a thousandth of the largest. Zeros for the mass of a point, which nothing turns.
static double invert(const double inertia[6], double out[9]) {
    double values[3], axes[9], scaled[9], back[9];
    mf_mat3_eigen(values, axes, inertia);
    if (!(values[2] > 0.0)) {
        memset(out, 0, 9 * sizeof *out);
        return 0.0;
    }
    double least = 1e-3 * values[2];
    for (int i = 0; i < 3; i++)
        values[i] = 1.0 / (values[i] > least ? values[i] : least);
    for (int i = 0; i < 9; i++)
        scaled[i] = axes[i] * values[i % 3];
    mf_mat3_transpose(back, axes);
    mf_mat3_multiply(out, scaled, back);
    return values[0];
}

// A box in the solid's axes that holds the points that normals of its surface go through.
static void box_of_normals(const mf_CompoundSolid *solid, const double *values, double half[3]) {
    const double *size = values + MF_COLLIDE_HALF;
    const mf_ShapeKind *kind = mf_shape_kind_of(solid->kind);
    if (kind->normals != NULL) {
        kind->normals(size, half);
        return;
    }
    const double radius = values[MF_COLLIDE_RADIUS];
    mf_vec3_set(half, radius, radius, radius);
}

// The largest at the corners of that box: the square of an arm's part is convex.
static double lightest(const mf_CompoundSolid *solid, const double *values) {
    double half[3], most = 0.0;
    box_of_normals(solid, values, half);
    for (int corner = 0; corner < 8; corner++) {
        const double at[3] = {corner & 1 ? half[0] : -half[0], corner & 2 ? half[1] : -half[1],
                              corner & 4 ? half[2] : -half[2]};
        double arm[3];
        mf_mat3_apply(arm, values + MF_COLLIDE_ROTATION, at);
        mf_vec3_add(arm, arm, values + MF_COLLIDE_POSITION);
        mf_vec3_sub(arm, arm, solid->center);
        double value = lightest_at(solid->inverse_mass, solid->inverse_inertia, arm);
        most = value > most ? value : most;
    }
    return most;
}

static void set_masses(const mf_Compound *compound, const double *values, mf_CompoundSolid *solid) {
    Rigid rigid;
    double position[3], rotation[4], inertia[6];
    find_rigid(compound->model, solid->link, &rigid);
    if (rigid.fixed || !(rigid.mass > 0.0))
        return;
    mf_vec3_scale(solid->center, rigid.moment, 1.0 / rigid.mass);
    mf_inertia_translate(inertia, rigid.inertia, -rigid.mass, solid->center);
    if (first_of(compound->model, solid->link) == rigid.first) {
        pose_within(compound->model, rigid.first, solid->link, position, rotation);
        mf_quat_conjugate(rotation, rotation);
        mf_vec3_sub(solid->center, solid->center, position);
        mf_quat_rotate(solid->center, rotation, solid->center);
        mf_inertia_rotate(inertia, inertia, rotation);
    } else { // carried by what has the mass: as if pushed in the middle
        mf_vec3_copy(solid->center, values + MF_COLLIDE_POSITION);
    }
    solid->inverse_mass = 1.0 / rigid.mass;
    solid->spun = invert(inertia, solid->inverse_inertia);
    solid->pressed = lightest(solid, values);
}

// ---- solids -------------------------------------------------------------------------------------

// [m] The sphere of a plane: positions of robots are within a fourth of it.
static const double plane_radius = 4e6;

static bool is_solid(const mf_Compound *compound, const mf_CollideShape *shape) {
    return (compound->planes || shape->kind != MF_COLLIDE_PLANE) &&
           carrier(compound->model, shape) != MF_NONE;
}

bool mf_compound_is_still(const mf_Model *model) {
    bool still = model->base == MF_BASE_FIXED;
    for (uint32_t i = 0; i < model->shape_count && still; i++) {
        const mf_Shape *shape = &model->shapes[i];
        if (shape->collides && shape->link != MF_NONE)
            still = first_of(model, shape->link) == 0;
    }
    return still;
}

static void set_box(const double *values, const mf_HullSet *hulls, mf_CompoundSolid *solid) {
    if (solid->kind == MF_COLLIDE_PLANE) {
        mf_vec3_set(solid->box, plane_radius, plane_radius, plane_radius);
        return;
    }
    if (solid->kind != MF_COLLIDE_HULL) {
        mf_collide_box(solid->kind, values + MF_COLLIDE_HALF, solid->box);
        return;
    }
    const mf_ConvexHull *hull = mf_hull_of(hulls, solid->hull);
    for (int i = 0; i < 3; i++)
        solid->box[i] = hull->high[i] > -hull->low[i] ? hull->high[i] : -hull->low[i];
}

// The solids of a pair touch within the robot.
static void set_inner(mf_Compound *compound, const mf_CollidePlan *plan, uint32_t number,
                      const uint32_t *solids) {
    const mf_CollidePair pair = mf_collide_pair_of(plan, number);
    const uint32_t a = solids[pair.a], b = solids[pair.b];
    if (pair.touches == MF_NONE || a == MF_NONE || b == MF_NONE)
        return;
    compound->inner[(size_t)a * compound->solid_count + b] = true;
    compound->inner[(size_t)b * compound->solid_count + a] = true;
}

static void make_solids(mf_Compound *compound, const mf_CollidePlan *plan, uint32_t *number) {
    static const double unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const mf_Model *model = compound->model;
    double *to = compound->values_f64;
    for (uint32_t i = 0, s = 0; i < plan->shape_count; i++) {
        const mf_CollideShape *shape = &mf_collide_shapes(plan)[i];
        number[i] = MF_NONE;
        if (!is_solid(compound, shape))
            continue;
        const double *from = mf_collide_values_f64(plan) + (size_t)i * MF_COLLIDE_SHAPE_VALUES;
        mf_CompoundSolid *solid = &compound->solids[s];
        memcpy(to + (size_t)s * MF_COLLIDE_SHAPE_VALUES, from,
               MF_COLLIDE_SHAPE_VALUES * sizeof *to);
        if (shape->kind == MF_COLLIDE_PLANE)
            to[(size_t)s * MF_COLLIDE_SHAPE_VALUES + MF_COLLIDE_RADIUS] = plane_radius;
        *solid = (mf_CompoundSolid){.kind = shape->kind,
                                    .shape = shape->shape,
                                    .link = carrier(model, shape),
                                    .hull = shape->hull,
                                    .rotated = memcmp(from, unit, sizeof unit) != 0,
                                    .contact_type = model->shapes[shape->shape].contact_type,
                                    .contact_with = model->shapes[shape->shape].contact_with};
        set_box(from, mf_collide_hulls(plan), solid);
        set_masses(compound, from, solid);
        number[i] = s++;
    }
    for (uint32_t l = compound->link_count; l-- > 0;) {
        mf_CompoundLink *link = &compound->links[l];
        for (uint32_t s = 0; s < compound->solid_count; s++)
            link->needed = link->needed || compound->solids[s].link == l;
        if (link->needed && link->parent != MF_NONE)
            compound->links[link->parent].needed = true;
    }
    for (uint32_t l = 1; l < compound->link_count; l++)
        if (compound->links[l].needed)
            compound->needed[compound->needed_count++] = l;
    for (uint32_t i = 0; i < plan->pair_count; i++)
        set_inner(compound, plan, i, number);
    for (uint32_t a = 0; a < plan->floating_count; a++)
        for (uint32_t b = a + 1; b < plan->floating_count; b++)
            if (mf_collide_floating(plan)[a].body != mf_collide_floating(plan)[b].body)
                set_inner(compound, plan, mf_collide_number(plan, a, b), number);
}

// The sum of all ways from the base out to a solid; rounded up by far more than kernels round.
static void find_reach(mf_Compound *compound) {
    const mf_Model *model = compound->model;
    const double *values = compound->values_f64;
    compound->hinged = true;
    for (uint32_t s = 0; s < compound->solid_count; s++) {
        const double *own = values + (size_t)s * MF_COLLIDE_SHAPE_VALUES;
        double distance = mf_vec3_length(own + MF_COLLIDE_POSITION) + own[MF_COLLIDE_RADIUS];
        for (uint32_t l = compound->solids[s].link; l > 0; l = model->links[l].parent) {
            const mf_Joint *joint = &model->joints[model->links[l].joint];
            mf_CompoundLink *link = &compound->links[l];
            link->extent = distance > link->extent ? distance : link->extent;
            distance += mf_vec3_length(joint->position);
            compound->hinged = compound->hinged && (link->hinged || !mf_joint_moves(joint));
            if (joint->type == MF_JOINT_FLOATING) {
                distance = (double)INFINITY;
            } else if (joint->type == MF_JOINT_SLIDE) {
                double low = mf_abs(joint->lower - joint->reference);
                double high = mf_abs(joint->upper - joint->reference);
                // Soft limits give way: half as much again, which the kernels' spheres check.
                distance += 1.5 * (low > high ? low : high);
            }
        }
        compound->reach = distance > compound->reach ? distance : compound->reach;
    }
    compound->reach *= 1.0 + 1e-5;
}

// ---- creation -----------------------------------------------------------------------------------

static uint32_t count_solids(const mf_Compound *compound, const mf_CollidePlan *plan) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->shape_count; i++)
        count += is_solid(compound, &mf_collide_shapes(plan)[i]);
    return count;
}

static mf_Status no_memory(const mf_Model *model, mf_Error *error) {
    return mf_fail(error, MF_NO_MEMORY, "no memory for the compound of %s", model->name);
}

static mf_Status fill(mf_Compound *compound, const mf_CollidePlan *plan, mf_Error *error) {
    const mf_Model *model = compound->model;
    mf_Context *context = compound->context;
    const size_t solids = compound->solid_count, links = compound->link_count;
    const size_t values = solids * MF_COLLIDE_SHAPE_VALUES;
    const mf_Array arrays[] = {MF_ARRAY(compound->links, links),
                               MF_ARRAY(compound->needed, links),
                               MF_ARRAY(compound->solids, solids),
                               MF_ARRAY(compound->nodes, solids),
                               MF_ARRAY(compound->node_links, 2 * solids),
                               MF_ARRAY(compound->node_axes, 2 * solids),
                               MF_ARRAY(compound->inner, solids * solids),
                               MF_ARRAY(compound->values_f64, values),
                               MF_ARRAY(compound->values_f32, values),
                               {&compound->hulls, 1, mf_collide_hulls(plan)->bytes}};
    uint32_t *work =
        mf_allocate(context, 4 * (links + 2 * solids) + plan->shape_count, sizeof *work);
    const bool fine =
        work != NULL && mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays);
    if (fine) {
        make_links(compound);
        make_solids(compound, plan, work);
        find_reach(compound);
        mf_compound_grow(compound, work);
        memcpy(compound->hulls, mf_collide_hulls(plan), mf_collide_hulls(plan)->bytes);
        for (size_t i = 0; i < values; i++)
            compound->values_f32[i] = (float)compound->values_f64[i];
    }
    mf_release(context, work);
    return fine ? MF_OK : no_memory(model, error);
}

mf_Status mf_compound_create(mf_Context *context, const mf_Model *model, bool planes,
                             mf_Compound **out, mf_Error *error) {
    mf_CollidePlan *plan;
    mf_Status status = mf_collide_create(context, model, NULL, &plan, error);
    if (status != MF_OK)
        return status;
    mf_Compound *compound = mf_allocate(context, 1, sizeof *compound);
    if (compound == NULL) {
        status = no_memory(model, error);
    } else {
        compound->context = context;
        compound->model = model;
        compound->link_count = model->link_count;
        compound->still = mf_compound_is_still(model);
        compound->planes = planes && compound->still;
        compound->solid_count = count_solids(compound, plan);
        if (compound->solid_count > MF_COMPOUND_SHAPES)
            status = mf_fail(error, MF_LIMIT, "model %s: %u shapes collide, at most %d can",
                             model->name, compound->solid_count, MF_COMPOUND_SHAPES);
        else
            status = fill(compound, plan, error);
        MF_THEN(status,
                mf_tree_create(context, model, MF_TREE_FIELDS, true, NULL, &compound->tree, error));
    }
    mf_release(context, plan);
    if (status != MF_OK)
        mf_compound_destroy(compound);
    else
        *out = compound;
    return status;
}

void mf_compound_destroy(mf_Compound *compound) {
    if (compound == NULL)
        return;
    mf_Context *context = compound->context;
    mf_release(context, compound->tree);
    mf_release(context, compound->links); // with all other arrays
    mf_release(context, compound);
}
