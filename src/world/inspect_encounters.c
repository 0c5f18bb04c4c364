// Bodies that move farther in a step than they and a body near them are thick: they may pass
// through it between two steps. How thick a body is: the smallest dimension of its thickest shape
// that collides. Near: within what it moves until this is examined again (inspect.c).
//
// A model's bodies that are examined: its base, those of floating joints, and the shapes that are
// fixed in the world. Meshes and height fields have no thickness here, planes no other side.
#include "world/attach.h"
#include "world/inspect.h"

#include "math/scalar.h"
#include "model/shape_kinds.h"

#include <math.h>
#include <string.h>

enum { MOST_ROBOTS = 256 }; // [1] larger groups are particles or swarms, as are more groups

// A body: pose in the world, and velocity.
typedef struct Body {
    double position[3], rotation[4], velocity[3];
    uint32_t link; // [1] of the model; MF_NONE: of all shapes that are fixed in the world
} Body;

// ---- shapes -------------------------------------------------------------------------------------

// Half of the box around a shape, its own axes; false: its thickness is not known.
static bool half_box(const mf_Shape *shape, double half[3]) {
    double middle[3];
    return shape->type != MF_SHAPE_MESH &&
           mf_shape_box(shape->type, shape->size, NULL, middle, half);
}

static double thickness_of(const double half[3]) {
    return 2.0 * mf_smaller(half[0], mf_smaller(half[1], half[2]));
}

// The thickest shape of a link, and how far its shapes reach from the link's origin; 0: none.
static double link_thickness(const mf_Model *model, uint32_t link, double *reach) {
    double most = 0.0, half[3];
    *reach = 0.0;
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape *shape = &model->shapes[i];
        if (!shape->collides || shape->link != link || !half_box(shape, half))
            continue;
        most = mf_larger(most, thickness_of(half));
        *reach = mf_larger(*reach, mf_vec3_length(shape->position) + mf_vec3_length(half));
    }
    return most;
}

// Whether a ball touches the box around one of the body's shapes that is thinner than `travel`.
static bool touches_shapes(const mf_Model *model, const Body *body, const double center[3],
                           double radius, double travel) {
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape *shape = &model->shapes[i];
        double half[3], at[3], own[3], square = 0.0;
        if (!shape->collides || shape->link != body->link || !half_box(shape, half) ||
            thickness_of(half) > travel)
            continue;
        mf_vec3_sub(at, center, body->position);
        mf_quat_rotate_inverse(own, body->rotation, at);
        mf_vec3_sub(own, own, shape->position);
        mf_quat_rotate_inverse(at, shape->rotation, own);
        for (int c = 0; c < 3; c++) {
            const double out = mf_larger(mf_abs(at[c]) - half[c], 0.0);
            square += out * out;
        }
        if (square < radius * radius)
            return true;
    }
    return false;
}

// ---- bodies -------------------------------------------------------------------------------------

// Body 0 is the base, 1 what is fixed in the world, then the floating ones; false: no more.
static bool body_at(mf_Group *group, uint32_t instance, uint32_t index, Body *out) {
    const mf_Model *model = group->config.model;
    mf_vec3_set(out->position, 0, 0, 0);
    mf_vec3_set(out->velocity, 0, 0, 0);
    mf_quat_identity(out->rotation);
    out->link = index == 0 ? 0 : MF_NONE;
    if (index == 0) {
        mf_field_read(group->canonical.position, instance, 0, 3, out->position);
        mf_field_read(group->canonical.orientation, instance, 0, 4, out->rotation);
        if (model->base == MF_BASE_FREE)
            mf_field_read(group->canonical.linear_velocity, instance, 0, 3, out->velocity);
    }
    if (index < 2)
        return true;
    const mf_Inspection *inspection = &group->inspection;
    uint32_t ball = 0, floating = 0;
    for (uint32_t j = 0; inspection->floats && j < model->joint_count; j++) {
        const mf_JointType type = model->joints[j].type;
        if (type == MF_JOINT_FLOATING && floating == index - 2) {
            out->link = model->joints[j].child;
            mf_field_read(inspection->position, instance, 3 * floating, 3, out->position);
            mf_field_read(inspection->velocity, instance, 3 * floating, 3, out->velocity);
            mf_field_read(inspection->rotation, instance, 4 * ball, 4, out->rotation);
            return true;
        }
        floating += type == MF_JOINT_FLOATING;
        ball += type == MF_JOINT_FLOATING || type == MF_JOINT_BALL;
    }
    return false;
}

// ---- encounters ---------------------------------------------------------------------------------

// A body that moves `travel` in a step, in the ball that it may have been in since the last look.
typedef struct FastBody {
    double center[3], radius, travel; // [m]
    double thickness;                 // [m] its own
} FastBody;

static bool fast_body_of(const mf_Group *group, const Body *body, double step, FastBody *out) {
    double reach;
    const double speed = mf_vec3_length(body->velocity);
    out->travel = speed * step;
    if (!(out->travel > 0.0) || body->link == MF_NONE)
        return false;
    out->thickness = link_thickness(group->config.model, body->link, &reach);
    if (!(out->thickness > 0.0))
        return false;
    mf_vec3_copy(out->center, body->position);
    out->radius = reach + MF_INSPECT_STEPS * out->travel;
    return true;
}

// What is found in time is pushed back: where the middle of the one is not yet beyond that of the
// other. So a step of half of both thicknesses is too long.
static bool touches_robot(mf_Group *group, uint32_t instance, const FastBody *fast, bool own,
                          uint32_t self) {
    Body body;
    for (uint32_t i = 0; body_at(group, instance, i, &body); i++)
        if (!(own && i == self) &&
            touches_shapes(group->config.model, &body, fast->center, fast->radius,
                           2.0 * fast->travel - fast->thickness))
            return true;
    return false;
}

static void inspect_robot(mf_Group *group, uint32_t instance, bool others) {
    const mf_World *world = group->world;
    const double step = mf_time_to_seconds(world->config.step);
    Body body;
    FastBody fast;
    for (uint32_t b = 0; body_at(group, instance, b, &body); b++) {
        if (!fast_body_of(group, &body, step, &fast) || fast.travel <= 0.5 * fast.thickness)
            continue;
        bool touches = touches_robot(group, instance, &fast, true, b);
        for (uint32_t g = 0; others && !touches && g < world->group_count; g++) {
            mf_Group *other = world->groups[g];
            if (other->config.isolated || other->config.count > MOST_ROBOTS)
                continue;
            for (uint32_t i = 0; !touches && i < other->config.count; i++)
                if (other != group || i != instance)
                    touches = touches_robot(other, i, &fast, false, 0);
        }
        if (touches)
            mf_inspect_warn(group, instance, MF_WARNING_TUNNEL, fast.travel);
    }
}

// Sets the bits of lanes whose velocity has a square of more than `most`.
static void add_swift(const float *const v[3], float most, uint32_t *lanes) {
    float square[MF_BLOCK];
    uint32_t any = 0;
    for (uint32_t i = 0; i < MF_BLOCK; i++) {
        square[i] = v[0][i] * v[0][i] + v[1][i] * v[1][i] + v[2][i] * v[2][i];
        any |= (uint32_t)(square[i] > most);
    }
    for (uint32_t i = 0; any != 0 && i < MF_BLOCK; i++)
        *lanes |= (uint32_t)(square[i] > most) << i;
}

// Lanes of a block with some body that is fast enough; most never are.
static uint32_t swift_lanes(const mf_Group *group, uint32_t block) {
    const mf_Inspection *inspection = &group->inspection;
    const mf_Field *fields[2] = {group->canonical.linear_velocity,
                                 inspection->floats ? inspection->velocity : NULL};
    uint32_t lanes = 0;
    for (int f = 0; f < 2 && fields[f] != NULL; f++)
        for (uint32_t c = 0; c < fields[f]->components; c += 3) {
            float converted[3][MF_BLOCK];
            const float *v[3];
            for (uint32_t k = 0; k < 3; k++)
                v[k] = mf_inspect_row(fields[f], block, c + k, converted[k]);
            add_swift(v, (float)inspection->square, &lanes);
        }
    return lanes;
}

void mf_inspect_encounters(mf_Group *group, uint32_t first, uint32_t count, bool others) {
    others = others && group->inspection.pushed;
    const bool many = group->config.count > MOST_ROBOTS || group->world->group_count > MOST_ROBOTS;
    if (group->warnings.word == NULL || (others && many) ||
        !(group->inspection.square < (double)INFINITY))
        return;
    for (uint32_t block = first; block < first + count; block++) {
        const uint32_t lanes = swift_lanes(group, block);
        for (uint32_t i = 0; lanes != 0 && i < MF_BLOCK; i++)
            if ((lanes >> i & 1u) != 0 && block * MF_BLOCK + i < group->config.count)
                inspect_robot(group, block * MF_BLOCK + i, others);
    }
}

void mf_inspect_prepare(mf_Group *group) {
    const mf_Model *model = group->config.model;
    mf_Inspection *inspection = &group->inspection;
    double reach, thin = link_thickness(model, 0, &reach);
    inspection->position = mf_group_find_field(group, "free.position");
    inspection->velocity = mf_group_find_field(group, "free.velocity");
    inspection->rotation = mf_group_find_field(group, "ball.orientation");
    inspection->pushed = mf_group_find_field(group, "wrench.link") != NULL;
    inspection->floats = inspection->position != NULL && inspection->velocity != NULL &&
                         inspection->rotation != NULL;
    for (uint32_t j = 0; inspection->floats && j < model->joint_count; j++) {
        if (model->joints[j].type != MF_JOINT_FLOATING)
            continue;
        const double own = link_thickness(model, model->joints[j].child, &reach);
        thin = own > 0.0 && (!(thin > 0.0) || own < thin) ? own : thin;
    }
    const double slowest = 0.5 * thin / mf_time_to_seconds(group->world->config.step);
    inspection->square = thin > 0.0 ? slowest * slowest : (double)INFINITY;
    inspection->large_count = 0;
    for (uint32_t f = 0; f < group->field_count && inspection->large_count < MF_INSPECT_LARGE;
         f++) {
        const mf_Field *field = &group->fields[f];
        if ((field->info.flags & MF_FIELD_SUM) != 0 && field->info.type == MF_F32 &&
            strcmp(field->info.unit, "1") != 0)
            inspection->large[inspection->large_count++] = field;
    }
}
