// The construction API: twelve calls in the manner of T. Fischer and R. Ihme, "NeoPhysIx", 2024,
// appendix VIII. Calls only record; mf_builder_finalize (builder_finalize.c) assembles.
//
// A call that fails stores its error in the builder (the first one is kept), so that a program need
// not check every call.
#include "model/builder.h"
#include "base/floats.h"

#include "math/scalar.h"

#include <stdio.h>
#include <string.h>

mf_JointConfig mf_hinge_config(void) {
    return (mf_JointConfig){.struct_size = sizeof(mf_JointConfig),
                            .lower = -MF_PI / 2,
                            .upper = MF_PI / 2,
                            .speed = 5.0};
}

mf_JointConfig mf_slide_config(void) {
    return (mf_JointConfig){
        .struct_size = sizeof(mf_JointConfig), .lower = -0.1, .upper = 0.1, .speed = 0.5};
}

mf_Status mf_builder_create(mf_Context *context, const char *name, mf_Builder **out,
                            mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(context != NULL, error, "mf_builder_create: context is NULL");
    *out = NULL;
    MF_CHECK(name == NULL || strlen(name) <= MF_MODEL_NAME_LIMIT, error, MF_LIMIT,
             "robot name: at most %u bytes, found %zu", MF_MODEL_NAME_LIMIT, strlen(name));
    mf_Builder *builder = mf_allocate(context, 1, sizeof *builder);
    MF_NEED_MEMORY(builder != NULL, error, "robot under construction");
    builder->context = context;
    mf_draft_start(&builder->draft, context);
    builder->draft.name = mf_draft_text(&builder->draft, name ? name : "robot");
    if (builder->draft.name == NULL) {
        mf_builder_destroy(builder);
        return mf_fail(error, MF_NO_MEMORY, "robot under construction: no memory");
    }
    *out = builder;
    return MF_OK;
}

void mf_builder_destroy(mf_Builder *builder) {
    if (builder == NULL)
        return;
    mf_draft_release(&builder->draft);
    mf_list_release(builder->context, &builder->bodies);
    mf_list_release(builder->context, &builder->joints);
    mf_list_release(builder->context, &builder->touches);
    mf_list_release(builder->context, &builder->mounted);
    mf_release(builder->context, builder);
}

// Destination of this call's error: NULL after the first one.
static mf_Error *first_error(mf_Builder *builder) {
    return builder->error.status == MF_OK ? &builder->error : NULL;
}

static bool may_build(mf_Builder *builder, const char *call) {
    if (builder->finished)
        mf_fail(first_error(builder), MF_BAD_ARGUMENT, "%s: the robot is already finalized", call);
    return !builder->finished;
}

static bool good_color(const float color[3]) {
    for (int i = 0; color && i < 3; i++) {
        if (!(color[i] >= 0.0f && color[i] <= 1.0f))
            return false;
    }
    return true;
}

static bool good_body(mf_Builder *builder, mf_BodyId body, const char *call) {
    if (body >= 0 && (uint32_t)body < builder->bodies.count)
        return true;
    mf_fail(first_error(builder), MF_BAD_ARGUMENT, "%s: need a body in 0 .. %d, found %d", call,
            (int)builder->bodies.count - 1, (int)body);
    return false;
}

// False, with an error, unless the robot is under construction and has the body.
static bool may_change(mf_Builder *builder, mf_BodyId body, const char *call) {
    return builder != NULL && may_build(builder, call) && good_body(builder, body, call);
}

static void no_memory(mf_Builder *builder, const char *call) {
    mf_fail(first_error(builder), MF_NO_MEMORY, "%s: no memory", call);
}

static mf_BuilderBody *get_body(mf_Builder *builder, mf_BodyId body) {
    return (mf_BuilderBody *)builder->bodies.items + body;
}

// Appends the body after the checks common to all bodies.
static mf_BodyId add_body(mf_Builder *builder, const char *call, const mf_BuilderBody *body,
                          const float color[3]) {
    if (!may_build(builder, call))
        return MF_NO_BODY;
    if (!mf_all_finite(body->created, 3) || !mf_all_finite(body->size, 3) ||
        !(mf_is_finite(body->mass) && body->mass >= 0.0) || !good_color(color)) {
        mf_fail(first_error(builder), MF_BAD_ARGUMENT,
                "%s: need finite positions and sizes, mass >= 0 and colors in 0 .. 1", call);
        return MF_NO_BODY;
    }
    if (builder->bodies.count >= MF_MODEL_LINK_LIMIT) {
        mf_fail(first_error(builder), MF_LIMIT, "%s: at most %u bodies", call, MF_MODEL_LINK_LIMIT);
        return MF_NO_BODY;
    }
    mf_BuilderBody *item = mf_list_push(builder->context, &builder->bodies, sizeof *item);
    if (item == NULL) {
        no_memory(builder, call);
        return MF_NO_BODY;
    }
    *item = *body;
    mf_vec3_copy(item->center, body->created);
    mf_quat_identity(item->rotation);
    memcpy(item->color, color ? color : mf_gray, sizeof item->color);
    item->glued_to = builder->bodies.count - 1;
    return (mf_BodyId)item->glued_to;
}

static mf_BodyId refuse(mf_Builder *builder, const char *text) {
    mf_fail(first_error(builder), MF_BAD_ARGUMENT, "%s", text);
    return MF_NO_BODY;
}

// The rotation from z to the direction from -> to, its midpoint and its length; false when the two
// are one point or not finite.
static bool span(const double from[3], const double to[3], mf_BuilderBody *body) {
    double direction[3], rotate_axis[3];
    const double up[3] = {0.0, 0.0, 1.0};
    mf_vec3_sub(direction, to, from);
    body->size[1] = mf_vec3_length(direction);
    for (int i = 0; i < 3; i++)
        body->created[i] = from[i] + direction[i] / 2;
    if (!mf_vec3_normalize(direction))
        return false;
    mf_vec3_cross(rotate_axis, up, direction);
    mf_quat_identity(body->along);
    // Half-angle form: (1 + cos, sin * axis), which is singular only for the direction -z.
    double whole[4] = {1.0 + direction[2], rotate_axis[0], rotate_axis[1], rotate_axis[2]};
    if (whole[0] < 1e-12)
        mf_vec3_set(whole + 1, 1.0, 0.0, 0.0);
    mf_quat_normalize(whole);
    memcpy(body->along, whole, sizeof whole);
    return true;
}

// Applies the simplify mode to a cylinder or sphere; `edges` is the box that circumscribes it.
static void simplify(const mf_Builder *builder, mf_BuilderBody *body, const double edges[3]) {
    if (builder->simplify >= 2) {
        body->point_count = builder->simplify == 2 ? 2 : 1;
    } else if (builder->simplify == 1) {
        body->type = MF_SHAPE_BOX;
        mf_vec3_copy(body->size, edges);
    }
}

mf_BodyId mf_body_create_point(mf_Builder *builder, const double position[3], double mass,
                               const float color[3]) {
    MF_DEFAULT_FLOATS;
    if (builder == NULL)
        return (mf_BodyId){0};
    mf_BuilderBody body = {.type = MF_SHAPE_POINT, .mass = mass};
    mf_vec3_copy(body.created, position);
    mf_quat_identity(body.along);
    if (!(mass > 0.0))
        return refuse(builder, "mf_body_create_point: need mass > 0");
    return add_body(builder, "mf_body_create_point", &body, color);
}

mf_BodyId mf_body_create_cylinder(mf_Builder *builder, const double from[3], const double to[3],
                                  double radius, double mass, const float color[3]) {
    MF_DEFAULT_FLOATS;
    if (builder == NULL)
        return (mf_BodyId){0};
    mf_BuilderBody body = {.type = MF_SHAPE_CYLINDER, .size = {radius, 0.0, 0.0}, .mass = mass};
    if (!(radius > 0.0) || !span(from, to, &body))
        return refuse(builder,
                      "mf_body_create_cylinder: need radius > 0 and two different finite ends");
    const double edges[3] = {2 * radius, 2 * radius, body.size[1]};
    simplify(builder, &body, edges);
    return add_body(builder, "mf_body_create_cylinder", &body, color);
}

mf_BodyId mf_body_create_box(mf_Builder *builder, const double size[3], const double center[3],
                             double mass, const float color[3]) {
    MF_DEFAULT_FLOATS;
    if (builder == NULL)
        return (mf_BodyId){0};
    mf_BuilderBody body = {.type = MF_SHAPE_BOX, .mass = mass};
    mf_vec3_copy(body.size, size);
    mf_vec3_copy(body.created, center);
    mf_quat_identity(body.along);
    if (!(size[0] > 0.0 && size[1] > 0.0 && size[2] > 0.0))
        return refuse(builder, "mf_body_create_box: need width, depth and height > 0");
    return add_body(builder, "mf_body_create_box", &body, color);
}

mf_BodyId mf_body_create_sphere(mf_Builder *builder, const double center[3], double radius,
                                double mass, const float color[3]) {
    MF_DEFAULT_FLOATS;
    if (builder == NULL)
        return (mf_BodyId){0};
    mf_BuilderBody body = {.type = MF_SHAPE_SPHERE, .size = {radius, 0.0, 0.0}, .mass = mass};
    mf_vec3_copy(body.created, center);
    mf_quat_identity(body.along);
    if (!(radius > 0.0))
        return refuse(builder, "mf_body_create_sphere: need radius > 0");
    const double edges[3] = {2 * radius, 2 * radius, 2 * radius};
    simplify(builder, &body, edges);
    return add_body(builder, "mf_body_create_sphere", &body, color);
}

mf_BodyId mf_body_create_ray(mf_Builder *builder, const double from[3], const double to[3],
                             const float color[3]) {
    MF_DEFAULT_FLOATS;
    if (builder == NULL)
        return (mf_BodyId){0};
    mf_BuilderBody body = {.is_ray = true, .type = MF_SHAPE_POINT};
    if (!span(from, to, &body))
        return refuse(builder, "mf_body_create_ray: need two different finite ends");
    return add_body(builder, "mf_body_create_ray", &body, color);
}

void mf_builder_simplify(mf_Builder *builder, int mode) {
    MF_DEFAULT_FLOATS;
    if (builder == NULL)
        return;
    if (mode < 0)
        mf_fail(first_error(builder), MF_BAD_ARGUMENT,
                "mf_builder_simplify: need mode >= 0, found %d", mode);
    else if (may_build(builder, "mf_builder_simplify"))
        builder->simplify = mode;
}

uint32_t mf_builder_root(mf_Builder *builder, uint32_t body) {
    mf_BuilderBody *bodies = builder->bodies.items;
    while (bodies[body].glued_to != body) {
        // Path halving keeps look-ups short.
        bodies[body].glued_to = bodies[bodies[body].glued_to].glued_to;
        body = bodies[body].glued_to;
    }
    return body;
}

void mf_body_connect(mf_Builder *builder, mf_BodyId first, mf_BodyId second) {
    MF_DEFAULT_FLOATS;
    const char *call = "mf_body_connect";
    if (!may_change(builder, first, call) || !good_body(builder, second, call))
        return;
    uint32_t a = mf_builder_root(builder, (uint32_t)first);
    uint32_t b = mf_builder_root(builder, (uint32_t)second);
    // The lower id is the root, so that body 0 is always the root of the base.
    get_body(builder, (mf_BodyId)(a < b ? b : a))->glued_to = a < b ? a : b;
}

static bool good_joint(mf_Builder *builder, const char *call, const double anchor[3],
                       const double axis[3], const mf_JointConfig *config) {
    mf_Error *error = first_error(builder);
    if (config->struct_size != sizeof *config)
        mf_fail(error, MF_BAD_ARGUMENT, "%s: start the config from %s()", call,
                strstr(call, "slide") != NULL ? "mf_slide_config" : "mf_hinge_config");
    else if (!mf_all_finite(anchor, 3))
        mf_fail(error, MF_BAD_ARGUMENT, "%s: need a finite anchor", call);
    else if (!(mf_vec3_length(axis) > 0.0) || !mf_all_finite(axis, 3))
        mf_fail(error, MF_BAD_ARGUMENT, "%s: need a finite axis that is not zero", call);
    else if (!(config->lower <= config->upper))
        mf_fail(error, MF_BAD_ARGUMENT, "%s: need lower <= upper, found %g and %g", call,
                config->lower, config->upper);
    else if (!(config->speed > 0.0))
        mf_fail(error, MF_BAD_ARGUMENT, "%s: need speed > 0, found %g", call, config->speed);
    else if (config->name && strlen(config->name) > MF_MODEL_NAME_LIMIT)
        mf_fail(error, MF_LIMIT, "%s: a name has at most %u bytes", call, MF_MODEL_NAME_LIMIT);
    else
        return true;
    return false;
}

static mf_JointId create_joint(mf_Builder *builder, const char *call, mf_BodyId first,
                               mf_BodyId second, const double anchor[3], const double axis[3],
                               const mf_JointConfig *config, mf_JointType type) {
    if (!may_change(builder, first, call) || !good_body(builder, second, call) ||
        !good_joint(builder, call, anchor, axis, config))
        return MF_NO_JOINT;
    char number[32];
    snprintf(number, sizeof number, "joint%u", builder->joints.count);
    const char *name = mf_draft_text(&builder->draft, config->name ? config->name : number);
    mf_BuilderJoint *joint =
        name ? mf_list_push(builder->context, &builder->joints, sizeof *joint) : NULL;
    if (joint == NULL) {
        no_memory(builder, call);
        return MF_NO_JOINT;
    }
    *joint = (mf_BuilderJoint){.type = type,
                               .name = name,
                               .first = (uint32_t)first,
                               .second = (uint32_t)second,
                               .lower = config->lower,
                               .upper = config->upper,
                               .speed = config->speed};
    mf_vec3_copy(joint->anchor, anchor);
    mf_vec3_copy(joint->axis, axis);
    mf_vec3_normalize(joint->axis);
    return (mf_JointId)(builder->joints.count - 1);
}

mf_JointId mf_joint_create_hinge(mf_Builder *builder, mf_BodyId first, mf_BodyId second,
                                 const double anchor[3], const double axis[3],
                                 const mf_JointConfig *config) {
    MF_DEFAULT_FLOATS;
    const mf_JointConfig defaults = mf_hinge_config();
    return builder == NULL
               ? (mf_JointId){0}
               : create_joint(builder, "mf_joint_create_hinge", first, second, anchor, axis,
                              config != NULL ? config : &defaults, MF_JOINT_HINGE);
}

mf_JointId mf_joint_create_slide(mf_Builder *builder, mf_BodyId first, mf_BodyId second,
                                 const double anchor[3], const double axis[3],
                                 const mf_JointConfig *config) {
    MF_DEFAULT_FLOATS;
    const mf_JointConfig defaults = mf_slide_config();
    return builder == NULL
               ? (mf_JointId){0}
               : create_joint(builder, "mf_joint_create_slide", first, second, anchor, axis,
                              config != NULL ? config : &defaults, MF_JOINT_SLIDE);
}

void mf_body_move(mf_Builder *builder, mf_BodyId body, const double translation[3]) {
    MF_DEFAULT_FLOATS;
    const char *call = "mf_body_move";
    if (!may_change(builder, body, call))
        return;
    if (!mf_all_finite(translation, 3)) {
        refuse(builder, "mf_body_move: need a finite translation");
        return;
    }
    mf_BuilderBody *item = get_body(builder, body);
    mf_vec3_add(item->center, item->center, translation);
}

void mf_body_rotate(mf_Builder *builder, mf_BodyId body, const double angles[3]) {
    MF_DEFAULT_FLOATS;
    const char *call = "mf_body_rotate";
    if (!may_change(builder, body, call))
        return;
    if (!mf_all_finite(angles, 3)) {
        refuse(builder, "mf_body_rotate: need finite angles");
        return;
    }
    mf_BuilderBody *item = get_body(builder, body);
    double rotation[4];
    mf_quat_from_rpy(rotation, angles);
    mf_quat_multiply(item->rotation, rotation, item->rotation);
    mf_quat_normalize(item->rotation);
}

void mf_body_sense_contact(mf_Builder *builder, mf_BodyId body, const char *name) {
    MF_DEFAULT_FLOATS;
    const char *call = "mf_body_sense_contact";
    if (!may_change(builder, body, call))
        return;
    if (name == NULL || *name == '\0' || strlen(name) > MF_MODEL_NAME_LIMIT) {
        refuse(builder, "mf_body_sense_contact: need a name of 1 .. 255 bytes");
        return;
    }
    const char *copy = mf_draft_text(&builder->draft, name);
    mf_Touch *touch =
        copy ? mf_list_push(builder->context, &builder->touches, sizeof *touch) : NULL;
    if (touch == NULL) {
        no_memory(builder, call);
        return;
    }
    touch->name = copy;
    touch->body = (uint32_t)body;
}

// Converts a frame from the construction frame to the body's own one.
static void place(const mf_BuilderBody *body, mf_Frame *frame) {
    double back[4], arm[3];
    mf_quat_conjugate(back, body->rotation);
    mf_vec3_sub(arm, frame->position, body->center);
    mf_quat_rotate(frame->position, back, arm);
    mf_quat_normalize(frame->rotation);
    mf_quat_multiply(frame->rotation, back, frame->rotation);
}

void mf_builder_mount(mf_Builder *builder, mf_BodyId body, const mf_MountedKind *kind,
                      const void *item, const char *call) {
    MF_DEFAULT_FLOATS;
    if (!may_change(builder, body, call) ||
        mf_mounted_check(kind, item, call, first_error(builder)) != MF_OK)
        return;
    mf_BuilderMounted *own = mf_list_push(builder->context, &builder->mounted, sizeof *own);
    if (own != NULL) {
        *own = (mf_BuilderMounted){.kind = kind, .body = (uint32_t)body};
        memcpy(&own->item, item, mf_item_table(kind->type)->size);
    }
    if (own == NULL || !mf_draft_keep_texts(&builder->draft, kind->type, &own->item)) {
        no_memory(builder, call);
        return;
    }
    place(get_body(builder, body), &own->item.head.frame);
}

mf_Status mf_builder_finalize(mf_Builder *builder, mf_Model **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(builder != NULL, error, "mf_builder_finalize: builder is NULL");
    *out = NULL;
    may_build(builder, "mf_builder_finalize");
    builder->finished = true;
    if (builder->error.status != MF_OK) {
        if (error != NULL)
            *error = builder->error;
        return builder->error.status;
    }
    mf_Status status = mf_builder_draft(builder, &builder->error);
    MF_THEN(status, mf_draft_freeze(&builder->draft, out, &builder->error));
    if (status != MF_OK && error != NULL)
        *error = builder->error;
    return status;
}
