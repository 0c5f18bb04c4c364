// The plan of collisions: shapes, and pairs that may touch.
#include "contact/collide.h"
#include "contact/collide_box.h"
#include "contact/collide_draft.h"
#include "contact/collide_shapes.h"
#include "math/scalar.h"

// What the filter needs to know of the model's links.
typedef struct Links {
    const mf_Model *model;
    const mf_CollideHolder *holders; // NULL: none
} Links;

// ---- links --------------------------------------------------------------------------------------

static bool fixed_joint(const mf_Model *model, uint32_t link) {
    uint32_t joint = model->links[link].joint;
    if (joint == MF_NONE)
        return false;
    mf_JointType type = model->joints[joint].type;
    return type == MF_JOINT_FIXED || type == MF_JOINT_PLANAR;
}

// The link that `link` is one body with; MF_NONE: the world, which link 0 of an MJCF file with a
// fixed base is. That of a URDF file is the robot's foot, and never touches the link next to it.
static uint32_t body_of(const mf_Model *model, uint32_t link) {
    while (link != MF_NONE && fixed_joint(model, link))
        link = model->links[link].parent;
    const bool world = link == 0 && model->base == MF_BASE_FIXED && model->body_count > 0;
    return world ? MF_NONE : link;
}

static bool is_still(const mf_Model *model, uint32_t body) {
    return body == MF_NONE || (body == 0 && model->base == MF_BASE_FIXED);
}

// The body that carries `body`, which is not the world.
static uint32_t carrier_of(const mf_Model *model, uint32_t body) {
    uint32_t link = model->links[body].parent;
    while (link != MF_NONE && model->links[link].intermediate)
        link = model->links[link].parent;
    return link == MF_NONE ? MF_NONE : body_of(model, link);
}

uint32_t mf_collide_floating_root(const mf_Model *model, uint32_t link) {
    for (; link != MF_NONE; link = model->links[link].parent) {
        const uint32_t joint = model->links[link].joint;
        if (joint != MF_NONE && model->joints[joint].type == MF_JOINT_FLOATING)
            return is_still(model, carrier_of(model, link)) ? link : MF_NONE;
    }
    return MF_NONE;
}

// The frame that a link moves with; MF_NONE: none.
static uint32_t frame_of(const Links *links, uint32_t link) {
    if (link == MF_NONE)
        return MF_NONE;
    return links->holders ? links->holders[link].frame : link;
}

// ---- shapes -------------------------------------------------------------------------------------

bool mf_collide_takes_part(const mf_Model *model, const mf_Shape *shape) {
    if (!shape->collides || shape->type == MF_SHAPE_HEIGHTS)
        return false;
    return shape->type != MF_SHAPE_MESH || model->meshes[shape->mesh].hull_vertex_count > 0;
}

// Moves the origin of a hull to the mean of its vertices, which is inside.
static void set_hull(const mf_ConvexHull *hull, double *values) {
    const double *rotation = values + MF_COLLIDE_ROTATION;
    double rotated[3];
    values[MF_COLLIDE_RADIUS] = hull->radius;
    for (int i = 0; i < 3; i++)
        rotated[i] = mf_vec3_dot(rotation + 3 * i, hull->center);
    mf_vec3_add(values + MF_COLLIDE_POSITION, values + MF_COLLIDE_POSITION, rotated);
}

void mf_collide_pose(const mf_Shape *shape, const double position[3], const double rotation[4],
                     const mf_ConvexHull *hull, double *values) {
    mf_vec3_copy(values + MF_COLLIDE_POSITION, position);
    mf_quat_to_matrix(values + MF_COLLIDE_ROTATION, rotation);
    mf_shape_half(shape->type, shape->size, values + MF_COLLIDE_HALF);
    values[MF_COLLIDE_RADIUS] = mf_shape_radius(shape->type, shape->size, NULL);
    if (hull != NULL)
        set_hull(hull, values);
}

// `hull` is that of a mesh, else NULL.
static mf_CollideKind set_values(const Links *links, const mf_Shape *shape,
                                 const mf_ConvexHull *hull, double *values) {
    double rotation[4], position[3];
    memcpy(rotation, shape->rotation, sizeof rotation);
    mf_vec3_copy(position, shape->position);
    if (shape->link != MF_NONE && links->holders) {
        const mf_CollideHolder *holder = &links->holders[shape->link];
        mf_quat_rotate(position, holder->rotation, position);
        mf_vec3_add(position, position, holder->position);
        mf_quat_multiply(rotation, holder->rotation, rotation);
    }
    mf_collide_pose(shape, position, rotation, hull, values);
    return mf_shape_kinds[shape->type].collide;
}

static void add_shape(mf_CollideDraft *draft, const Links *links, uint32_t number) {
    const mf_Shape *shape = &links->model->shapes[number];
    double *values = draft->values_f64 + (size_t)draft->plan.shape_count * MF_COLLIDE_SHAPE_VALUES;
    mf_CollideShape *item = &draft->shapes[draft->plan.shape_count++];
    item->shape = number;
    item->frame = frame_of(links, shape->link);
    item->hull = mf_shape_kinds[shape->type].collide == MF_COLLIDE_HULL
                     ? mf_hulls_of_mesh(draft->hulls)[shape->mesh]
                     : MF_NONE;
    item->kind = set_values(
        links, shape, item->hull != MF_NONE ? mf_hull_of(draft->hulls, item->hull) : NULL, values);
}

// ---- pairs --------------------------------------------------------------------------------------

static bool excluded(const mf_Model *model, const mf_Shape *a, const mf_Shape *b) {
    for (uint32_t i = 0; i < model->exclusion_count; i++) {
        const uint32_t *bodies = model->exclusions[i].bodies;
        if ((bodies[0] == a->body && bodies[1] == b->body) ||
            (bodies[0] == b->body && bodies[1] == a->body))
            return true;
    }
    return false;
}

const mf_ContactPair *mf_collide_listed(const mf_Model *model, uint32_t a, uint32_t b) {
    for (uint32_t i = 0; i < model->pair_count; i++) {
        const uint32_t *shapes = model->pairs[i].shapes;
        if ((shapes[0] == a && shapes[1] == b) || (shapes[0] == b && shapes[1] == a))
            return &model->pairs[i];
    }
    return NULL;
}

// Always smaller, but in a model that is wrong.
static uint32_t parent_of(const mf_Model *model, uint32_t body) {
    const uint32_t parent = model->bodies[body].parent;
    return parent < body ? parent : MF_NONE;
}

// The mocap body that a body which the world holds is or is fixed to; MF_NONE.
static uint32_t mocap_of(const mf_Model *model, uint32_t body) {
    for (; body < model->body_count; body = parent_of(model, body)) {
        const uint32_t link = model->bodies[body].link;
        if (link != MF_NONE && (link > 0 || model->base != MF_BASE_FIXED))
            return MF_NONE;
        if (model->bodies[body].mocap)
            return body;
    }
    return MF_NONE;
}

// Whether the link of `body` is carried by that mocap body.
static bool is_child_of(const mf_Model *model, uint32_t body, uint32_t mocap) {
    if (mocap == MF_NONE || body >= model->body_count)
        return false;
    const uint32_t link = model->bodies[body].link;
    while (body != MF_NONE && model->bodies[body].link == link)
        body = parent_of(model, body);
    return mocap_of(model, body) == mocap;
}

// Whether two shapes, not in a listed pair, may touch.
static bool may_touch(const mf_Model *model, const mf_Shape *a, const mf_Shape *b) {
    if (!(a->contact_type & b->contact_with) && !(b->contact_type & a->contact_with))
        return false;
    uint32_t body_a = body_of(model, a->link), body_b = body_of(model, b->link);
    if (body_a == body_b || (is_still(model, body_a) && is_still(model, body_b)) ||
        excluded(model, a, b))
        return false;
    if (model->body_count > 0 && !(model->physics.disabled & MF_DISABLE_FILTER_PARENT) &&
        (is_child_of(model, b->body, mocap_of(model, a->body)) ||
         is_child_of(model, a->body, mocap_of(model, b->body))))
        return false;
    if (body_a == MF_NONE || body_b == MF_NONE)
        return true;
    bool related = carrier_of(model, body_a) == body_b || carrier_of(model, body_b) == body_a;
    return !related || (model->physics.disabled & MF_DISABLE_FILTER_PARENT);
}

// MuJoCo's rule: by the weights unless both are tiny or one is.
static double weight_of(double mix, double other) {
    const double tiny = 1e-15;
    if (mix >= tiny && other >= tiny)
        return mix / (mix + other);
    return mix >= tiny ? 1.0 : other >= tiny ? 0.0 : 0.5;
}

static void mix_softness(mf_Softness *out, const mf_Shape *a, const mf_Shape *b) {
    double weight = a->priority > b->priority   ? 1.0
                    : a->priority < b->priority ? 0.0
                                                : weight_of(a->mix, b->mix);
    const double *x = a->softness.reference, *y = b->softness.reference;
    bool times = (x[0] > 0.0 && y[0] > 0.0) || a->priority != b->priority;
    for (int i = 0; i < 2; i++)
        out->reference[i] = times         ? weight * x[i] + (1.0 - weight) * y[i]
                            : x[i] < y[i] ? x[i]
                                          : y[i];
    for (int i = 0; i < 5; i++)
        out->impedance[i] =
            weight * a->softness.impedance[i] + (1.0 - weight) * b->softness.impedance[i];
}

void mf_collide_mix(mf_CollideClass *out, const mf_Shape *a, const mf_Shape *b) {
    double friction[3];
    bool first = a->priority > b->priority, second = b->priority > a->priority;
    uint32_t most = a->dimension > b->dimension ? a->dimension : b->dimension;
    out->dimension = first ? a->dimension : second ? b->dimension : most;
    for (int i = 0; i < 3; i++)
        friction[i] = first    ? a->friction[i]
                      : second ? b->friction[i]
                               : mf_larger(b->friction[i], a->friction[i]);
    out->friction[0] = out->friction[1] = friction[0];
    out->friction[2] = friction[1];
    out->friction[3] = out->friction[4] = friction[2];
    out->margin = a->margin + b->margin;
    out->gap = a->gap + b->gap;
    mix_softness(&out->softness, a, b);
}

static void use_listed(mf_CollideClass *out, const mf_ContactPair *item) {
    out->dimension = item->dimension;
    memcpy(out->friction, item->friction, sizeof out->friction);
    memcpy(out->friction_reference, item->friction_reference, sizeof out->friction_reference);
    out->margin = item->margin;
    out->gap = item->gap;
    out->softness = item->softness;
}

bool mf_collide_match(const mf_Model *model, uint32_t x, uint32_t y, mf_CollideClass *out) {
    const mf_Shape *a = &model->shapes[x], *b = &model->shapes[y];
    const mf_ContactPair *item = mf_collide_listed(model, x, y);
    if (item == NULL && !may_touch(model, a, b))
        return false;
    if (item)
        use_listed(out, item);
    else
        mf_collide_mix(out, a, b);
    if (model->physics.override_contacts) {
        out->margin = model->physics.override_margin;
        out->softness = model->physics.override_softness;
        memcpy(out->friction, model->physics.override_friction, sizeof out->friction);
    }
    return true;
}

// ---- the plan -----------------------------------------------------------------------------------

static mf_Status no_memory(const mf_Model *model, mf_Error *error) {
    return mf_fail(error, MF_NO_MEMORY, "no memory for the collisions of %s", model->name);
}

static bool make_shapes(mf_CollideDraft *draft, const Links *links) {
    const mf_Model *model = links->model;
    uint32_t shapes = 0;
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape *shape = &model->shapes[i];
        draft->plan.heights_left += shape->collides && shape->type == MF_SHAPE_HEIGHTS;
        if (!mf_collide_takes_part(model, shape))
            continue;
        shapes++;
    }
    draft->shapes = mf_allocate(draft->context, shapes, sizeof *draft->shapes);
    draft->values_f64 =
        mf_allocate(draft->context, (size_t)shapes * MF_COLLIDE_SHAPE_VALUES, sizeof(double));
    if (!draft->shapes || !draft->values_f64)
        return false;
    for (uint32_t i = 0; i < model->shape_count; i++) {
        if (mf_collide_takes_part(model, &model->shapes[i]))
            add_shape(draft, links, i);
    }
    return true;
}

// The box about a shape.
static void set_box(mf_CollideKind kind, const mf_ConvexHull *hull, const double *values,
                    double *box) {
    double *out = box + MF_COLLIDE_BOX_HALF;
    if (hull == NULL) {
        mf_collide_box(kind, values + MF_COLLIDE_HALF, out);
        return;
    }
    for (int i = 0; i < 3; i++) {
        out[i] = 0.5 * (hull->high[i] - hull->low[i]);
        box[MF_COLLIDE_BOX_MIDDLE + i] = 0.5 * (hull->high[i] + hull->low[i]);
    }
}

// The margins of all classes and the boxes behind the values of the shapes, in both precisions.
static bool make_values(mf_CollideDraft *draft) {
    size_t first = (size_t)draft->plan.shape_count * MF_COLLIDE_SHAPE_VALUES;
    size_t count = mf_collide_box_at(&draft->plan, draft->plan.shape_count);
    draft->plan.value_count = (uint32_t)count;
    double *values = mf_allocate(draft->context, count, sizeof *values);
    draft->values_f32 = mf_allocate(draft->context, count, sizeof(float));
    if (!values || !draft->values_f32) {
        mf_release(draft->context, values);
        return false;
    }
    memcpy(values, draft->values_f64, first * sizeof *values);
    mf_release(draft->context, draft->values_f64);
    draft->values_f64 = values;
    for (uint32_t i = 0; i < draft->plan.class_count; i++)
        values[first + i] = draft->classes[i].margin;
    for (uint32_t i = 0; i < draft->plan.shape_count; i++) {
        const uint32_t hull = draft->shapes[i].hull;
        set_box(draft->shapes[i].kind, hull != MF_NONE ? mf_hull_of(draft->hulls, hull) : NULL,
                values + (size_t)i * MF_COLLIDE_SHAPE_VALUES,
                values + mf_collide_box_at(&draft->plan, i));
    }
    for (size_t i = 0; i < count; i++)
        draft->values_f32[i] = (float)values[i];
    return true;
}

// Shapes of a link move together; what is fixed in the world is the last group.
static mf_Status make_tree(mf_CollideDraft *draft, const Links *links, mf_Error *error) {
    const mf_Model *model = links->model;
    uint32_t count = model->link_count + 1;
    uint32_t *groups =
        mf_allocate(draft->context, (size_t)draft->plan.shape_count + count, sizeof *groups);
    if (groups == NULL)
        return no_memory(model, error);
    uint32_t *parents = groups + draft->plan.shape_count;
    for (uint32_t i = 0; i < model->link_count; i++)
        parents[i] = model->links[i].parent;
    parents[model->link_count] = MF_NONE;
    for (uint32_t i = 0; i < draft->plan.shape_count; i++) {
        uint32_t link = model->shapes[draft->shapes[i].shape].link;
        bool fixed = draft->shapes[i].frame == MF_NONE;
        groups[i] = fixed || link == MF_NONE ? model->link_count : link;
    }
    mf_Status status = mf_collide_make_tree(draft, groups, parents, count, error);
    mf_release(draft->context, groups);
    return status;
}

static void free_draft(mf_CollideDraft *draft) {
#define RELEASE(Type, name, count) mf_release(draft->context, draft->name);
    MF_COLLIDE_ARRAYS(RELEASE, )
#undef RELEASE
}

static mf_Status pack(mf_CollideDraft *draft, mf_CollidePlan **out, mf_Error *error) {
    mf_CollidePlan *plan = &draft->plan;
#define PART(Type, name, count) MF_FLAT_PART(plan, name, draft->name, count),
    const mf_FlatPart parts[] = {MF_COLLIDE_ARRAYS(PART, plan)
                                     MF_FLAT_IMAGE(plan, hulls, draft->hulls)};
#undef PART
    void *image = NULL;
    MF_TRY(mf_flat_pack(draft->context, plan, sizeof *plan, parts, sizeof parts / sizeof *parts,
                        &image, error));
    *out = image;
    return MF_OK;
}

mf_Status mf_collide_create_with(mf_Context *context, const mf_Model *model,
                                 const mf_CollideHolder *holders, const mf_HullSet *hulls,
                                 mf_CollidePlan **out, mf_Error *error) {
    const Links links = {model, holders};
    mf_CollideDraft draft = {.hulls = hulls, .context = context};
    mf_Status status = MF_OK;
    if (!make_shapes(&draft, &links))
        status = no_memory(model, error);
    MF_THEN(status, mf_collide_make_pairs(&draft, model, error));
    if (status == MF_OK && !make_values(&draft))
        status = no_memory(model, error);
    MF_THEN(status, make_tree(&draft, &links, error));
    MF_THEN(status, pack(&draft, out, error));
    free_draft(&draft);
    return status;
}

mf_Status mf_collide_create(mf_Context *context, const mf_Model *model,
                            const mf_CollideHolder *holders, mf_CollidePlan **out,
                            mf_Error *error) {
    mf_HullSet *hulls;
    MF_TRY(mf_hulls_create(context, model, &hulls, error));
    mf_Status status = mf_collide_create_with(context, model, holders, hulls, out, error);
    mf_release(context, hulls);
    return status;
}

void mf_collide_values_of(const mf_CollidePlan *plan, const mf_Model *model,
                          const mf_CollideHolder *holders, double *values) {
    const Links links = {model, holders};
    memcpy(values, mf_collide_values_f64(plan), plan->value_count * sizeof *values);
    for (uint32_t i = 0; i < plan->shape_count; i++) {
        const mf_CollideShape *item = &mf_collide_shapes(plan)[i];
        const mf_ConvexHull *hull =
            item->hull != MF_NONE ? mf_hull_of(mf_collide_hulls(plan), item->hull) : NULL;
        double *own = values + (size_t)i * MF_COLLIDE_SHAPE_VALUES;
        set_values(&links, &model->shapes[item->shape], hull, own);
        set_box(item->kind, hull, own, values + mf_collide_box_at(plan, i));
    }
}
