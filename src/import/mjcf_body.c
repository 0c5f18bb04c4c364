// The body tree: bodies, frames, joints, geoms, sites and cameras of the file, in MuJoCo's order
// (depth-first, a body's own elements before its child bodies).
#include "import/mjcf_rows.h"

#include "math/scalar.h"

#include <string.h>

// State of the traversal: the body and the enclosing frame elements, relative to the body.
typedef struct Pose {
    uint32_t body;
    const mf_MjcfClass *class;
    bool framed;
    double position[3], rotation[4];
} Pose;

typedef struct BodyAttributes {
    const char *name;
    double position[3];
    mf_MjcfOrientation orientation;
    mf_Body plain;
} BodyAttributes;

#define T BodyAttributes
static const mf_MjcfField body_fields[] = {TEXT("name", name),
                                           ELSEWHERE("childclass"),
                                           NUMBERS("pos", 3, 3, position),
                                           PLAIN(BODY),
                                           ORIENTATION(orientation),
                                           NOTED("sleep"),
                                           PASSED("simple fuse"), // links are merged anyway
                                           PASSED("user"),
                                           END};

static const mf_MjcfField frame_fields[] = {TEXT("name", name), ELSEWHERE("childclass"),
                                            NUMBERS("pos", 3, 3, position),
                                            ORIENTATION(orientation), END};

#undef T

static mf_Status read_pose(mf_Mjcf *m, const mf_XmlNode *node, const mf_MjcfField *fields,
                           BodyAttributes *attributes, double rotation[4]) {
    MF_TRY(mf_mjcf_read(m, node, fields, attributes));
    return mf_mjcf_rotation(m, node, &attributes->orientation, rotation);
}

// From the enclosing frame elements to the body's frame.
static void leave_frames(const Pose *pose, double position[3], double rotation[4]) {
    if (pose->framed)
        mf_mjcf_compose(position, rotation, pose->position, pose->rotation, position, rotation);
}

static mf_Status enter_frame(mf_Mjcf *m, const mf_XmlNode *node, const Pose *pose, Pose *inner) {
    BodyAttributes attributes = {.orientation = {MF_MJCF_QUAT, {1.0}}};
    const mf_MjcfClass *class;
    *inner = *pose;
    MF_TRY(read_pose(m, node, frame_fields, &attributes, inner->rotation));
    MF_TRY(mf_mjcf_class(m, node, "childclass", pose->class, &class));
    mf_vec3_copy(inner->position, attributes.position);
    leave_frames(pose, inner->position, inner->rotation);
    inner->framed = true;
    inner->class = class;
    return MF_OK;
}

// ---- elements of a body ------------------------------------------------------------------------

static mf_Status add_joint(mf_Mjcf *m, const mf_XmlNode *node, const Pose *pose,
                           mf_MjcfJoint *joint) {
    const mf_MjcfBody *body = &mf_mjcf_bodies(m)[pose->body];
    bool is_free = joint->type == MF_MJCF_FREE;
    if (pose->body == 0)
        return mf_mjcf_fail(m, node, "the world body cannot have a joint");
    if (body->joint_count > 0 &&
        (is_free || mf_mjcf_joints(m)[body->first_joint].type == MF_MJCF_FREE))
        return mf_mjcf_fail(m, node, "a free joint must be the only joint of its body");
    if (is_free && body->parent != 0)
        return mf_mjcf_fail(m, node, "a free joint must be in a body of the world body");
    if (m->joints.count >= MF_MODEL_LINK_LIMIT)
        return mf_xml_fail(&m->xml, node, MF_LIMIT, "at most %u joints", MF_MODEL_LINK_LIMIT);
    joint->node = node;
    joint->body = pose->body;
    if (pose->framed) {
        const double identity[4] = {1.0, 0.0, 0.0, 0.0};
        double rotation[4];
        mf_quat_rotate(joint->plain.axis, pose->rotation, joint->plain.axis);
        mf_mjcf_compose(joint->position, rotation, pose->position, pose->rotation, joint->position,
                        identity);
    }
    mf_mjcf_bodies(m)[pose->body].joint_count++;
    return mf_mjcf_list_item(m, &m->joints, sizeof *joint, joint, &m->joint_names);
}

#define T mf_MjcfJoint
static mf_Status read_free_joint(mf_Mjcf *m, const mf_XmlNode *node, const Pose *pose) {
    static const char *const names[] = {"false", "true", "auto", NULL};
    static const mf_MjcfField fields[] = {TEXT("name", name), CHOICE("align", limited, names),
                                          PASSED("group"), END};
    mf_MjcfJoint joint = {.limited = MF_MJCF_FALSE};
    MF_TRY(mf_mjcf_read(m, node, fields, &joint));
    if (joint.limited == MF_MJCF_TRUE)
        MF_TRY(mf_mjcf_refuse(m, node, "align"));
    joint.type = MF_MJCF_FREE;
    joint.limited = MF_MJCF_FALSE;
    joint.force_limited = MF_MJCF_FALSE;
    mf_item_reset(MF_ITEM_JOINT, &joint.plain);
    return add_joint(m, node, pose, &joint);
}

#undef T

static mf_Status read_joint(mf_Mjcf *m, const mf_XmlNode *node, const Pose *pose) {
    mf_MjcfJoint joint;
    MF_TRY(mf_mjcf_read_element(m, node, pose->class, MF_MJCF_JOINT, &joint));
    return add_joint(m, node, pose, &joint);
}

static mf_Status read_geom(mf_Mjcf *m, const mf_XmlNode *node, const Pose *pose) {
    mf_MjcfGeom geom;
    MF_TRY(mf_mjcf_read_element(m, node, pose->class, MF_MJCF_GEOM, &geom));
    geom.body = pose->body;
    geom.asset = geom.shape = MF_NONE;
    geom.framed = pose->framed;
    mf_vec3_copy(geom.frame_position, pose->position);
    memcpy(geom.frame_rotation, pose->rotation, sizeof geom.frame_rotation);
    mf_mjcf_bodies(m)[pose->body].geom_count++;
    return mf_mjcf_list_item(m, &m->geoms, sizeof geom, &geom, &m->geom_names);
}

static mf_Status resolve_site(mf_Mjcf *m, mf_MjcfSite *site, const Pose *pose) {
    const uint32_t sizes = mf_mjcf_size_count(site->type);
    bool ends = mf_is_finite(site->fromto[0]);
    if (sizes == 0 || site->type == MF_SHAPE_PLANE)
        return mf_mjcf_fail(m, site->node,
                            "<site> type: expected sphere, capsule or another solid, found %s",
                            mf_mjcf_shapes[site->type]);
    mf_Status status;
    if (ends && site->type == MF_SHAPE_SPHERE)
        return mf_mjcf_fail(m, site->node, "<site> fromto: a sphere has no ends");
    status = ends ? mf_mjcf_between_ends(m, site->node, site->fromto, site->type, site->position,
                                         site->rotation, site->size)
                  : mf_mjcf_rotation(m, site->node, &site->orientation, site->rotation);
    for (uint32_t i = 0; status == MF_OK && i < sizes; i++) {
        if (!(site->size[i] > 0.0))
            status = mf_mjcf_fail(m, site->node, "<site> size: expected numbers > 0, found %g",
                                  site->size[i]);
    }
    leave_frames(pose, site->position, site->rotation);
    return status;
}

static mf_Status read_site(mf_Mjcf *m, const mf_XmlNode *node, const Pose *pose) {
    mf_MjcfSite site;
    MF_TRY(mf_mjcf_read_element(m, node, pose->class, MF_MJCF_SITE, &site));
    MF_TRY(resolve_site(m, &site, pose));
    site.body = pose->body;
    site.draft = MF_NONE;
    return mf_mjcf_list_item(m, &m->sites, sizeof site, &site, &m->site_names);
}

static mf_Status read_camera(mf_Mjcf *m, const mf_XmlNode *node, const Pose *pose) {
    mf_MjcfSite camera = {.node = node, .body = pose->body, .camera = true, .draft = MF_NONE};
    mf_MjcfOptics *optics = mf_arena_take(&m->arena, sizeof *optics);
    if (optics == NULL)
        return mf_mjcf_no_memory(m);
    MF_TRY(mf_mjcf_read_element(m, node, pose->class, MF_MJCF_CAMERA, optics));
    MF_TRY(mf_mjcf_rotation(m, node, &optics->orientation, camera.rotation));
    camera.name = optics->name;
    camera.optics = optics;
    mf_vec3_copy(camera.position, optics->position);
    leave_frames(pose, camera.position, camera.rotation);
    mf_Status status = mf_mjcf_list_item(m, &m->sites, sizeof camera, &camera, &m->camera_names);
    return status == MF_OK && !mf_mjcf_is_fixed_camera(optics) ? mf_mjcf_pass(m, node, NULL)
                                                               : status;
}

static mf_Status read_inertial(mf_Mjcf *m, const mf_XmlNode *node, const Pose *pose) {
    mf_MjcfBody *body = &mf_mjcf_bodies(m)[pose->body];
    if (pose->body == 0)
        return mf_mjcf_fail(m, node, "the world body cannot have an <inertial>");
    if (body->inertial != NULL)
        return mf_mjcf_fail(m, node, "body '%.100s' has two <inertial>", body->name);
    if (pose->framed)
        return mf_mjcf_refuse(m, node, NULL);
    body->inertial = node;
    return MF_OK;
}

typedef mf_Status (*Reader)(mf_Mjcf *m, const mf_XmlNode *node, const Pose *pose);

static const struct {
    const char *name;
    Reader read;
} readers[] = {{"joint", read_joint}, {"freejoint", read_free_joint}, {"geom", read_geom},
               {"site", read_site},   {"camera", read_camera},        {"inertial", read_inertial}};

static mf_Status read_own(mf_Mjcf *m, const mf_XmlNode *node, const Pose *pose) {
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        if (strcmp(node->name, readers[i].name) == 0)
            return readers[i].read(m, node, pose);
    }
    if (strcmp(node->name, "body") == 0)
        return MF_OK;
    if (strcmp(node->name, "light") == 0)
        return mf_mjcf_pass(m, node, NULL);
    return mf_mjcf_refuse(m, node, NULL);
}

// The body's own elements, also inside frames.
static mf_Status read_contents(mf_Mjcf *m, const mf_XmlNode *node, const Pose *pose) {
    for (const mf_XmlNode *child = node->first; child; child = child->next) {
        if (strcmp(child->name, "frame") != 0) {
            MF_TRY(read_own(m, child, pose));
            continue;
        }
        Pose inner;
        MF_TRY(enter_frame(m, child, pose, &inner));
        MF_TRY(read_contents(m, child, &inner));
    }
    return MF_OK;
}

static mf_Status read_body(mf_Mjcf *m, const mf_XmlNode *node, const Pose *pose);

// Its child bodies, also inside frames.
static mf_Status read_children(mf_Mjcf *m, const mf_XmlNode *node, const Pose *pose) {
    for (const mf_XmlNode *child = node->first; child; child = child->next) {
        Pose inner;
        if (strcmp(child->name, "body") == 0) {
            MF_TRY(read_body(m, child, pose));
        } else if (strcmp(child->name, "frame") == 0) {
            MF_TRY(enter_frame(m, child, pose, &inner));
            MF_TRY(read_children(m, child, &inner));
        }
    }
    return MF_OK;
}

static mf_Status add_body(mf_Mjcf *m, const mf_XmlNode *node, const Pose *pose,
                          const BodyAttributes *attributes, const double rotation[4]) {
    if (m->bodies.count > MF_MODEL_LINK_LIMIT)
        return mf_xml_fail(&m->xml, node, MF_LIMIT, "at most %u bodies", MF_MODEL_LINK_LIMIT);
    mf_MjcfBody *body = mf_list_push(m->context, &m->bodies, sizeof *body);
    if (body == NULL)
        return mf_mjcf_no_memory(m);
    body->node = node;
    body->name = attributes->name ? attributes->name : "";
    body->parent = pose->body;
    body->plain = attributes->plain;
    mf_vec3_copy(body->position, attributes->position);
    mf_vec3_copy(body->given, attributes->position);
    memcpy(body->rotation, rotation, sizeof body->rotation);
    leave_frames(pose, body->position, body->rotation);
    body->first_joint = m->joints.count;
    body->first_geom = m->geoms.count;
    if (body->plain.mocap && pose->body != 0)
        return mf_mjcf_fail(m, node, "a mocap body must be in the world body");
    return mf_mjcf_name(m, node, &m->body_names, attributes->name, m->bodies.count - 1);
}

static mf_Status read_body(mf_Mjcf *m, const mf_XmlNode *node, const Pose *pose) {
    BodyAttributes attributes = {.orientation = {MF_MJCF_QUAT, {1.0}}};
    double rotation[4];
    mf_item_reset(MF_ITEM_BODY, &attributes.plain);
    Pose inside = {.body = m->bodies.count};
    mf_quat_identity(inside.rotation);
    MF_TRY(read_pose(m, node, body_fields, &attributes, rotation));
    MF_TRY(mf_mjcf_class(m, node, "childclass", pose->class, &inside.class));
    MF_TRY(add_body(m, node, pose, &attributes, rotation));
    MF_TRY(read_contents(m, node, &inside));
    mf_MjcfBody *body = &mf_mjcf_bodies(m)[inside.body];
    body->moves = body->joint_count > 0 || mf_mjcf_bodies(m)[body->parent].moves;
    if (body->plain.mocap && body->joint_count > 0)
        return mf_mjcf_fail(m, node, "a mocap body cannot have joints");
    return read_children(m, node, &inside);
}

mf_Status mf_mjcf_read_bodies(mf_Mjcf *m) {
    static const mf_MjcfField world_fields[] = {PASSED("name"), END};
    Pose pose = {0};
    mf_MjcfBody *world = mf_list_push(m->context, &m->bodies, sizeof *world);
    if (world == NULL || !mf_names_add(&m->body_names, "world", 0))
        return mf_mjcf_no_memory(m);
    world->node = m->xml.root;
    world->name = "world";
    world->parent = MF_NONE;
    mf_quat_identity(world->rotation);
    mf_quat_identity(pose.rotation);
    // First the world body's own elements of all sections.
    for (int pass = 0; pass < 2; pass++) {
        MF_XML_EACH (node, m->xml.root, "worldbody") {
            if (pass == 0)
                MF_TRY(mf_mjcf_read(m, node, world_fields, NULL));
            MF_TRY(pass == 0 ? read_contents(m, node, &pose) : read_children(m, node, &pose));
        }
    }
    if (m->bodies.count == 1)
        MF_TRY(mf_draft_note(&m->draft, false, m->xml.root->line,
                             "the model has no <body>: it is scenery, nothing in it moves"));
    return MF_OK;
}
