// Bodies and joints into links and joints of the draft.
//
// A body's joints become a chain of links whose frames are at the joints' anchors with the body's
// axes; the last one is the body. MuJoCo rotates a body about each anchor in order,
//     body = parent (pos, quat) prod_k [shift(anchor_k) turn(axis_k, q_k - ref_k)
//     shift(-anchor_k)],
// which is this chain with constant offsets between anchors. A slide needs no anchor and uses the
// previous one. A body without joints is a part of its parent's link, or of the world.
//
// With exactly one free body in the world and nothing else that moves, that body is the base;
// otherwise the world is link 0.
#include "import/item.h"
#include "import/mjcf.h"

#include "model/mass.h"

#include "math/scalar.h"

#include <stdio.h>
#include <string.h>

#define CYLINDER_RING 8 // [1] points around each end of a cylinder

// ---- the base ----------------------------------------------------------------------------------

// The free body that is the base, or 0.
static uint32_t find_base(const mf_Mjcf *m) {
    uint32_t roots = 0, base = 0;
    for (uint32_t i = 1; i < m->bodies.count; i++) {
        const mf_MjcfBody *body = &mf_mjcf_bodies(m)[i];
        if (body->joint_count == 0 || mf_mjcf_bodies(m)[body->parent].moves)
            continue;
        roots++;
        base = mf_mjcf_joints(m)[body->first_joint].type == MF_MJCF_FREE ? i : 0;
    }
    return roots == 1 ? base : 0;
}

// ---- joints ------------------------------------------------------------------------------------

static mf_Status check_joint(mf_Mjcf *m, const mf_MjcfJoint *from) {
    if (!(from->plain.armature >= 0.0) || !(from->plain.friction >= 0.0))
        return mf_mjcf_fail(m, from->node,
                            "<joint>: armature and frictionloss must be >= 0, found %g and %g",
                            from->plain.armature, from->plain.friction);
    bool spring = from->springdamper[0] != 0.0 || from->springdamper[1] != 0.0;
    if (spring && (!(from->springdamper[0] > 0.0) || !(from->springdamper[1] > 0.0)))
        return mf_mjcf_fail(m, from->node,
                            "<joint> springdamper: expected two numbers > 0, found %g and %g",
                            from->springdamper[0], from->springdamper[1]);
    return MF_OK;
}

// Range, reference and forces, in radians.
static mf_Status fill_range(mf_Mjcf *m, const mf_MjcfJoint *from, mf_Joint *to) {
    bool hinge = from->type == MF_MJCF_HINGE, ball = from->type == MF_MJCF_BALL, limited = false;
    double unit =
        !mf_mjcf_settings(m, from->node)->radians && (hinge || ball) ? MF_PI / 180.0 : 1.0;
    if (ball && from->limited == MF_MJCF_TRUE && from->range[0] == 0.0 && from->range[1] == 0.0)
        limited = true; // to no rotation at all
    else if (from->type != MF_MJCF_FREE)
        MF_TRY(mf_mjcf_limited(m, from->node, "", from->limited, from->range, &limited));
    if (from->type == MF_MJCF_FREE && from->limited == MF_MJCF_TRUE)
        return mf_mjcf_pass(m, from->node, "limited of a free joint");
    if (limited && ball && from->range[0] != 0.0)
        return mf_mjcf_fail(m, from->node, "<joint> range: a ball joint's starts at 0, found %g",
                            from->range[0]);
    if (limited) {
        to->lower = from->range[0] * unit;
        to->upper = from->range[1] * unit;
        if (ball && to->upper == 0.0)
            to->upper = 1e-12; // a ball joint without a limit has 0
    }
    to->reference = hinge || from->type == MF_MJCF_SLIDE ? from->reference * unit : 0.0;
    to->spring_reference =
        hinge || from->type == MF_MJCF_SLIDE ? from->spring_reference * unit : 0.0;
    if (ball || from->type == MF_MJCF_FREE)
        return MF_OK;
    MF_TRY(mf_mjcf_limited(m, from->node, "actuatorfrc", from->force_limited, from->force_range,
                           &limited));
    if (limited) {
        to->force_lower = from->force_range[0];
        to->force_upper = from->force_range[1];
        to->effort = mf_abs(to->force_lower) > mf_abs(to->force_upper) ? mf_abs(to->force_lower)
                                                                       : mf_abs(to->force_upper);
    }
    return MF_OK;
}

static mf_Status fill_joint(mf_Mjcf *m, const mf_MjcfJoint *from, mf_Joint *to) {
    if (from->type == MF_MJCF_FREE || from->type == MF_MJCF_BALL)
        mf_vec3_set(to->axis, 0.0, 0.0, 1.0);
    double length = mf_vec3_length(to->axis);
    if (!(length >= 1e-14))
        return mf_mjcf_fail(m, from->node, "<joint> axis: expected a direction, found zeros");
    if (mf_abs(length - 1.0) > 0x1p-50)
        mf_vec3_normalize(to->axis);
    MF_TRY(check_joint(m, from));
    MF_TRY(fill_range(m, from, to));
    MF_TRY(mf_mjcf_stiffness(m, from->node, "stiffness", from->stiffness, &to->stiffness));
    MF_TRY(mf_mjcf_stiffness(m, from->node, "damping", from->damping, &to->damping));
    to->body = mf_mjcf_draft_body(from->body);
    return MF_OK;
}

// A joint of the draft with the attributes of the file; NULL when out of memory.
static mf_Joint *start_joint(mf_Mjcf *m, const mf_MjcfJoint *from, const char *name) {
    static const mf_JointType types[] = {MF_JOINT_FLOATING, MF_JOINT_BALL, MF_JOINT_SLIDE,
                                         MF_JOINT_HINGE};
    mf_Joint joint = from->plain;
    joint.name = name;
    joint.type = types[from->type];
    return mf_draft_add(&m->draft, MF_ITEM_JOINT, &joint);
}

// A name for unnamed elements; links and joints need one.
static const char *name_or(char out[400], const char *name, const char *kind, uint32_t number) {
    if (name != NULL && *name != '\0')
        return name;
    snprintf(out, 400, "%s%u", kind, number);
    return out;
}

// As above for a joint, without taking the name of another one.
static const char *joint_name_of(const mf_Mjcf *m, char out[400], uint32_t index) {
    const char *name = name_or(out, mf_mjcf_joints(m)[index].name, "joint", index);
    if (name == out && mf_names_find(&m->joint_names, name) != UINT32_MAX)
        name = name_or(out, NULL, "mayfly.joint.", index);
    return name;
}

// Pose of the frame of joint `k` of a body in the body's frame.
static void anchor_of(const mf_Mjcf *m, const mf_MjcfBody *body, uint32_t k, double out[3]) {
    mf_vec3_set(out, 0.0, 0.0, 0.0);
    for (uint32_t i = 0; i <= k; i++) {
        const mf_MjcfJoint *joint = &mf_mjcf_joints(m)[body->first_joint + i];
        if (joint->type == MF_MJCF_HINGE || joint->type == MF_MJCF_BALL)
            mf_vec3_copy(out, joint->position);
    }
}

static mf_Status add_joint(mf_Mjcf *m, uint32_t index, uint32_t k, uint32_t parent_link) {
    mf_MjcfBody *body = &mf_mjcf_bodies(m)[index];
    const mf_MjcfBody *parent = &mf_mjcf_bodies(m)[body->parent];
    mf_MjcfJoint *from = &mf_mjcf_joints(m)[body->first_joint + k];
    char name[400], link_name[400];
    bool last = k + 1 == body->joint_count;
    double anchor[3], before[3] = {0, 0, 0};
    const char *joint_name = joint_name_of(m, name, body->first_joint + k);
    const char *body_name = name_or(link_name, body->name, "body", index);
    if (!last) {
        char part[300];
        snprintf(part, sizeof part, "%.200s.%u", body_name, k + 1);
        memcpy(link_name, part, sizeof part);
        body_name = link_name;
    }
    mf_Link *link = mf_draft_add_link(&m->draft, body_name);
    if (link == NULL)
        return mf_mjcf_no_memory(m);
    link->intermediate = !last;
    link->body = mf_mjcf_draft_body(index);
    mf_Joint *joint = start_joint(m, from, joint_name);
    if (joint == NULL)
        return mf_mjcf_no_memory(m);
    joint->parent = parent_link;
    joint->child = m->draft.links.count - 1;
    from->draft = m->draft.joints.count - 1;
    anchor_of(m, body, k, anchor);
    mf_vec3_copy(joint->anchor, anchor);
    if (from->type == MF_MJCF_FREE) {
        // Its position contains the whole world pose.
        mf_vec3_set(joint->position, 0.0, 0.0, 0.0);
    } else if (k == 0) {
        double position[3], rotation[4];
        mf_mjcf_compose(position, rotation, parent->link_position, parent->link_rotation,
                        body->position, body->rotation);
        mf_quat_rotate(joint->position, rotation, anchor);
        mf_vec3_add(joint->position, joint->position, position);
        memcpy(joint->rotation, rotation, sizeof rotation);
    } else {
        anchor_of(m, body, k - 1, before);
        mf_vec3_sub(joint->position, anchor, before);
    }
    if (last) {
        body->link = joint->child;
        mf_vec3_set(body->link_position, 0.0 - anchor[0], 0.0 - anchor[1], 0.0 - anchor[2]);
        mf_quat_identity(body->link_rotation);
    }
    return fill_joint(m, from, joint);
}

static mf_Status make_base(mf_Mjcf *m, uint32_t base) {
    mf_MjcfBody *body = &mf_mjcf_bodies(m)[base];
    mf_MjcfJoint *from = &mf_mjcf_joints(m)[body->first_joint];
    char name[400];
    mf_Link *link = mf_draft_add_link(&m->draft, name_or(name, body->name, "body", base));
    mf_Joint *joint = start_joint(m, from, joint_name_of(m, name, body->first_joint));
    if (link == NULL || joint == NULL)
        return mf_mjcf_no_memory(m);
    link->body = mf_mjcf_draft_body(base);
    MF_TRY(fill_joint(m, from, joint));
    joint->parent = MF_NONE;
    joint->child = 0;
    m->draft.root = *joint; // it is stored separately
    m->draft.joints.count--;
    m->draft.base_type = MF_BASE_FREE;
    from->draft = MF_NONE;
    body->link = 0;
    mf_quat_identity(body->link_rotation);
    return MF_OK;
}

static mf_Status place_body(mf_Mjcf *m, uint32_t index, uint32_t base) {
    mf_MjcfBody *body = &mf_mjcf_bodies(m)[index];
    const mf_MjcfBody *parent = &mf_mjcf_bodies(m)[body->parent];
    if (index == base)
        return make_base(m, base);
    if (body->joint_count == 0) {
        // Fixed in the world: part of link 0 if that is the world, else of no link.
        body->link = parent->link;
        if (body->parent == 0 && base == 0)
            body->link = 0;
        mf_mjcf_compose(body->link_position, body->link_rotation, parent->link_position,
                        parent->link_rotation, body->position, body->rotation);
        return MF_OK;
    }
    uint32_t above = parent->link == MF_NONE ? 0 : parent->link;
    for (uint32_t k = 0; k < body->joint_count; k++) {
        MF_TRY(add_joint(m, index, k, above));
        above = m->draft.links.count - 1;
    }
    return MF_OK;
}

// ---- the draft ---------------------------------------------------------------------------------

static mf_Status add_body(mf_Mjcf *m, uint32_t index) {
    const mf_MjcfBody *from = &mf_mjcf_bodies(m)[index];
    mf_Body body = from->plain, *to = &body;
    to->name = from->name;
    to->parent = mf_mjcf_draft_body(from->parent);
    to->link = from->link;
    mf_vec3_copy(to->position, from->link_position);
    memcpy(to->rotation, from->link_rotation, sizeof to->rotation);
    to->mass = from->mass;
    mf_vec3_copy(to->center, from->center);
    mf_vec3_copy(to->moments, from->moments);
    memcpy(to->axes, from->axes, sizeof to->axes);
    mf_vec3_copy(to->local_position, from->position);
    memcpy(to->local_rotation, from->rotation, sizeof to->local_rotation);
    return mf_mjcf_add(m, from->node, MF_ITEM_BODY, to, NULL);
}

static void add_mass(mf_Mjcf *m, const mf_MjcfBody *body) {
    mf_Link *link = &mf_draft_links(&m->draft)[body->link];
    double rotation[4], center[3];
    mf_MassProperties part = {.mass = body->mass}, sum = {.mass = link->mass};
    const double diagonal[6] = {body->moments[0], body->moments[1], body->moments[2], 0, 0, 0};
    mf_mjcf_compose(center, rotation, body->link_position, body->link_rotation, body->center,
                    body->axes);
    mf_vec3_copy(part.center, center);
    mf_inertia_rotate(part.inertia, diagonal, rotation);
    mf_vec3_copy(sum.center, link->center);
    memcpy(sum.inertia, link->inertia, sizeof sum.inertia);
    double lift = body->mass * body->plain.gravity_compensated;
    link->lift_mass += lift;
    mf_vec3_add_scaled(link->lift_moment, link->lift_moment, lift, center);
    if (!(part.mass > 0.0))
        return;
    sum = sum.mass > 0.0 ? mf_mass_add(&sum, &part) : part;
    link->mass = sum.mass;
    mf_vec3_copy(link->center, sum.center);
    memcpy(link->inertia, sum.inertia, sizeof link->inertia);
}

// Moving links need mass and inertia, except the base of a fixed robot.
static mf_Status check_links(mf_Mjcf *m) {
    for (uint32_t i = 1; i < m->bodies.count; i++) {
        const mf_MjcfBody *body = &mf_mjcf_bodies(m)[i];
        if (body->joint_count == 0)
            continue;
        const mf_Link *link = &mf_draft_links(&m->draft)[body->link];
        double trace = link->inertia[0] + link->inertia[1] + link->inertia[2];
        if (!(link->mass >= 1e-15) || !(trace >= 1e-15))
            return mf_mjcf_fail(m, body->node,
                                "body '%.100s' moves, so it needs mass and inertia, found %g kg",
                                body->name, link->mass);
    }
    return MF_OK;
}

static mf_Status fill_start(mf_Mjcf *m) {
    // One joint has at most 7 values.
    double *start =
        mf_arena_take(&m->draft.texts, (7 * (size_t)m->joints.count + 1) * sizeof *start);
    if (start == NULL)
        return mf_mjcf_no_memory(m);
    m->draft.start_position = start;
    for (uint32_t i = 0; i < m->joints.count; i++) {
        const mf_MjcfJoint *joint = &mf_mjcf_joints(m)[i];
        const mf_MjcfBody *body = &mf_mjcf_bodies(m)[joint->body];
        if (joint->type == MF_MJCF_FREE) {
            mf_vec3_copy(start, body->position);
            memcpy(start + 3, body->rotation, 4 * sizeof *start);
            start += 7;
        } else if (joint->type == MF_MJCF_BALL) {
            mf_quat_identity(start);
            start += 4;
        } else {
            *start++ = mf_draft_joints(&m->draft)[joint->draft].reference;
        }
    }
    return MF_OK;
}

static mf_Status fill_look(mf_Mjcf *m, const mf_MjcfGeom *geom, mf_Shape *shape) {
    const double gray[3] = {0.5, 0.5, 0.5}, *color = geom->color;
    uint32_t index = MF_NONE;
    MF_TRY(m->config->visual && !m->discard_visual ? mf_mjcf_use_material(m, geom, &index) : MF_OK);
    // A geom's own color overrides its material's.
    if (index != MF_NONE && memcmp(color, gray, sizeof gray) == 0)
        color = mf_draft_materials(&m->draft)[index].color;
    for (int i = 0; i < 3; i++)
        shape->color[i] = (float)mf_clamp(color[i], 0.0, 1.0);
    shape->material = index;
    return MF_OK;
}

static mf_Status fill_asset(mf_Mjcf *m, const mf_MjcfGeom *geom, bool collides, uint32_t *out) {
    if (geom->type == MF_SHAPE_HEIGHTS) {
        mf_MjcfHeights *heights = &mf_mjcf_heights(m)[geom->asset];
        MF_TRY(mf_mjcf_load_heights(m, heights));
        *out = heights->draft;
    } else if (geom->type == MF_SHAPE_MESH) {
        mf_MjcfMesh *mesh = &mf_mjcf_meshes(m)[geom->asset];
        MF_TRY(collides ? mf_mjcf_hull_mesh(m, mesh) : mf_mjcf_load_mesh(m, mesh));
        *out = mesh->draft;
    }
    return MF_OK;
}

// Fixed in the world, its z axis up.
static bool is_level(const mf_Frame *frame) {
    const double x = frame->rotation[1], y = frame->rotation[2];
    return frame->link == MF_NONE && x * x + y * y < 1e-12;
}

static mf_Status add_shape(mf_Mjcf *m, mf_MjcfGeom *geom) {
    bool collides = geom->plain.contact_type != 0 || geom->plain.contact_with != 0 || geom->listed;
    bool requested = collides || geom->fluid == 1 || (m->config->visual && !m->discard_visual);
    bool meshed = geom->type == MF_SHAPE_MESH || geom->type == MF_SHAPE_HEIGHTS;
    uint32_t asset = MF_NONE;
    geom->shape = MF_NONE;
    if (geom->type > MF_SHAPE_HEIGHTS || !requested || (meshed && geom->asset == MF_NONE))
        return MF_OK;
    MF_TRY(meshed ? fill_asset(m, geom, collides, &asset) : MF_OK);
    if (meshed && asset == MF_NONE)
        return MF_OK;
    if (geom->fluid == 1 && (meshed || geom->type == MF_SHAPE_PLANE)) {
        MF_TRY(mf_mjcf_refuse(m, geom->node, "fluidshape of a mesh, hfield or plane"));
    }
    mf_Frame frame = mf_mjcf_frame(m, geom->body, geom->position, geom->rotation);
    if (collides && geom->type == MF_SHAPE_HEIGHTS && !is_level(&frame))
        return mf_mjcf_refuse(m, geom->node, "hfield (tilted, or on a body that moves)");
    mf_Shape item = geom->plain, *shape = &item;
    shape->type = (mf_ShapeType)geom->type;
    shape->link = frame.link;
    shape->visual = !collides;
    shape->collides = collides;
    mf_vec3_copy(shape->position, frame.position);
    memcpy(shape->rotation, frame.rotation, sizeof shape->rotation);
    mf_vec3_copy(shape->local_position, geom->position);
    memcpy(shape->local_rotation, geom->rotation, sizeof shape->local_rotation);
    mf_shape_size(shape->type, geom->size, shape->size);
    if (shape->type == MF_SHAPE_PLANE)
        shape->size[2] = 0.0; // in files, of the drawn grid
    shape->mesh = asset;
    shape->name = geom->name;
    shape->body = mf_mjcf_draft_body(geom->body);
    shape->mass = geom->weight;
    shape->fluid = geom->fluid == 1 && !meshed && geom->type != MF_SHAPE_PLANE;
    MF_TRY(fill_look(m, geom, shape));
    geom->shape = m->draft.shapes.count;
    return mf_mjcf_add(m, geom->node, MF_ITEM_SHAPE, shape, NULL);
}

static mf_Status add_site(mf_Mjcf *m, mf_MjcfSite *from) {
    if (from->camera)
        return mf_mjcf_add_camera(m, from);
    mf_Site item = from->plain, *site = &item;
    from->draft = m->draft.sites.count;
    site->name = from->name;
    site->body = mf_mjcf_draft_body(from->body);
    site->frame = mf_mjcf_frame(m, from->body, from->position, from->rotation);
    mf_vec3_copy(site->local_position, from->position);
    memcpy(site->local_rotation, from->rotation, sizeof site->local_rotation);
    site->type = (mf_ShapeType)from->type;
    mf_shape_size(site->type, from->size, site->size);
    return mf_mjcf_add(m, from->node, MF_ITEM_SITE, site, NULL);
}

static mf_Status check_wishes(mf_Mjcf *m, bool free_base) {
    const mf_ImportBase wish = m->config->base;
    if (m->config->inertia != MF_IMPORT_INERTIA_FILE)
        return mf_mjcf_fail(
            m, mf_mjcf_bodies(m)[0].node,
            "import.inertia: geometry is for URDF files; an MJCF file has inertiafromgeom");
    if (wish == MF_IMPORT_BASE_AUTO || (wish == MF_IMPORT_BASE_FREE) == free_base)
        return MF_OK;
    return mf_mjcf_fail(m, mf_mjcf_bodies(m)[0].node,
                        "base: %s is for URDF files; an MJCF file %s a <freejoint/> in its base",
                        free_base ? "fixed" : "free", free_base ? "has" : "needs");
}

mf_Status mf_mjcf_make_links(mf_Mjcf *m) {
    uint32_t base = find_base(m);
    const mf_Status wished = check_wishes(m, base != 0);
    if (wished != MF_OK)
        return wished;
    mf_MjcfBody *world = &mf_mjcf_bodies(m)[0];
    world->link = MF_NONE;
    mf_quat_identity(world->link_rotation);
    m->draft.own_mass = true;
    m->draft.base_type = MF_BASE_FIXED;
    if (base == 0 && mf_draft_add_link(&m->draft, "world") == NULL)
        return mf_mjcf_no_memory(m);
    for (uint32_t i = 1; i < m->bodies.count; i++) {
        MF_TRY(place_body(m, i, base));
        MF_TRY(add_body(m, i));
        if (mf_mjcf_bodies(m)[i].link != MF_NONE)
            add_mass(m, &mf_mjcf_bodies(m)[i]);
    }
    MF_TRY(check_links(m));
    MF_TRY(fill_start(m));
    for (uint32_t i = 0; i < m->geoms.count; i++)
        MF_TRY(add_shape(m, &mf_mjcf_geoms(m)[i]));
    for (uint32_t i = 0; i < m->sites.count; i++)
        MF_TRY(add_site(m, &mf_mjcf_sites(m)[i]));
    return mf_mjcf_use_sky(m);
}

// ---- points ------------------------------------------------------------------------------------

// A geom without bits and without a pair with the world collides only with other links.
static void find_contact_pair(const mf_Mjcf *m, bool *collides) {
    for (uint32_t i = 0; i < m->draft.shapes.count; i++)
        collides[i] = true;
    for (uint32_t i = 0; i < m->geoms.count; i++) {
        const mf_MjcfGeom *geom = &mf_mjcf_geoms(m)[i];
        if (geom->shape < m->draft.shapes.count)
            collides[geom->shape] = geom->plain.contact_type != 0 ||
                                    geom->plain.contact_with != 0 || geom->listed_world;
    }
}

static mf_Status make_contact_points(mf_Mjcf *m, const bool *collides) {
    const bool fixed = m->draft.base_type == MF_BASE_FIXED;
    for (uint32_t i = 0; i < m->draft.shapes.count; i++) {
        const mf_Shape *shape = &mf_draft_shapes(&m->draft)[i];
        if (shape->collides && shape->link != MF_NONE && !(fixed && shape->link == 0) &&
            collides[i])
            MF_TRY(mf_import_touch(&m->draft, i, m->config->mesh_points, CYLINDER_RING));
    }
    return MF_OK;
}

// What the `points` motion needs: contact points of all moving collision geoms, and mass points.
mf_Status mf_mjcf_make_points(mf_Mjcf *m) {
    const bool fixed = m->draft.base_type == MF_BASE_FIXED;
    bool *collides = mf_allocate(m->context, m->draft.shapes.count, sizeof *collides);
    if (collides == NULL)
        return mf_mjcf_no_memory(m);
    find_contact_pair(m, collides);
    mf_Status status = make_contact_points(m, collides);
    mf_release(m->context, collides);
    if (status != MF_OK)
        return status;
    mf_MassProperties *bodies = mf_allocate(m->context, m->draft.links.count, sizeof *bodies);
    if (bodies == NULL)
        return mf_mjcf_no_memory(m);
    for (uint32_t i = 0; i < m->draft.links.count; i++) {
        const mf_Link *link = &mf_draft_links(&m->draft)[i];
        if (fixed && i == 0)
            continue;
        bodies[i].mass = link->mass;
        mf_vec3_copy(bodies[i].center, link->center);
        memcpy(bodies[i].inertia, link->inertia, sizeof link->inertia);
    }
    status = mf_draft_place_mass(&m->draft, bodies);
    mf_release(m->context, bodies);
    return status;
}
