// Equality constraints: connect, weld, joint and tendon.
#include "import/mjcf_rows.h"

#include "math/scalar.h"

#include <string.h>

typedef struct Ends {
    uint32_t bodies[2], sites[2]; // of the importer; MF_NONE when not given
    bool dropped;
} Ends;

// Pose of a body in the world with all joints at their references.
static void start_pose(const mf_Mjcf *m, uint32_t body, double position[3], double rotation[4]) {
    mf_vec3_set(position, 0.0, 0.0, 0.0);
    mf_quat_identity(rotation);
    for (; body != 0 && body != MF_NONE; body = mf_mjcf_bodies(m)[body].parent) {
        const mf_MjcfBody *item = &mf_mjcf_bodies(m)[body];
        mf_mjcf_compose(position, rotation, item->position, item->rotation, position, rotation);
    }
}

// The second body's pose in the first one's frame, or of a point of it.
static void relative_pose(const mf_Mjcf *m, uint32_t first, uint32_t second, const double point[3],
                          double position[3], double rotation[4]) {
    const double identity[4] = {1.0, 0.0, 0.0, 0.0};
    double point_position[2][3], orientation[2][4], back[4];
    start_pose(m, first, point_position[0], orientation[0]);
    start_pose(m, second, point_position[1], orientation[1]);
    mf_mjcf_compose(position, rotation, point_position[1], orientation[1], point, identity);
    mf_vec3_sub(position, position, point_position[0]);
    mf_quat_rotate_inverse(position, orientation[0], position);
    mf_quat_conjugate(back, orientation[0]);
    mf_quat_multiply(rotation, back, rotation);
    mf_mjcf_unit(rotation);
}

static mf_Status find_ends(mf_Mjcf *m, const mf_XmlNode *node, Ends *ends) {
    static const char *const body_names[2] = {"body1", "body2"};
    static const char *const site_names[2] = {"site1", "site2"};
    for (int i = 0; i < 2; i++) {
        ends->bodies[i] = ends->sites[i] = MF_NONE;
        const char *body = mf_xml_attribute(node, body_names[i]);
        const char *site = mf_xml_attribute(node, site_names[i]);
        if (body != NULL)
            MF_TRY(mf_mjcf_find(m, node, body_names[i], body, &m->body_names, "body",
                                &ends->bodies[i]));
        if (site != NULL)
            MF_TRY(mf_mjcf_find(m, node, site_names[i], site, &m->site_names, "site",
                                &ends->sites[i]));
    }
    bool sites = ends->sites[0] != MF_NONE || ends->sites[1] != MF_NONE;
    bool bodies = ends->bodies[0] != MF_NONE || ends->bodies[1] != MF_NONE;
    if (sites == bodies || (sites && (ends->sites[0] == MF_NONE || ends->sites[1] == MF_NONE)) ||
        (bodies && ends->bodies[0] == MF_NONE))
        return mf_mjcf_fail(m, node, "<%.80s>: expected body1 (and body2), or site1 and site2",
                            node->name);
    if (bodies && ends->bodies[1] == MF_NONE)
        ends->bodies[1] = 0;
    return MF_OK;
}

// Both ends at sites.
static void between_sites(mf_Mjcf *m, const Ends *ends, mf_Equality *item) {
    for (int i = 0; i < 2; i++) {
        const mf_MjcfSite *site = &mf_mjcf_sites(m)[ends->sites[i]];
        item->sites[i] = site->draft;
        item->objects[i] = mf_mjcf_draft_body(site->body);
        item->frames[i] = mf_mjcf_frame(m, site->body, site->position, site->rotation);
    }
}

static mf_Status read_connect(mf_Mjcf *m, const mf_XmlNode *node, mf_Equality *item) {
    const double identity[4] = {1.0, 0.0, 0.0, 0.0};
    double position[3], rotation[4];
    Ends ends;
    MF_TRY(find_ends(m, node, &ends));
    MF_TRY(mf_xml_numbers(&m->xml, node, "anchor", 3, item->anchor));
    item->type = MF_EQUALITY_CONNECT;
    if (ends.sites[0] != MF_NONE) {
        between_sites(m, &ends, item);
        return MF_OK;
    }
    if (mf_xml_attribute(node, "anchor") == NULL)
        return mf_mjcf_fail(m, node, "<connect> between bodies needs the attribute 'anchor'");
    for (int i = 0; i < 2; i++)
        item->objects[i] = mf_mjcf_draft_body(ends.bodies[i]);
    item->frames[0] = mf_mjcf_frame(m, ends.bodies[0], item->anchor, identity);
    relative_pose(m, ends.bodies[1], ends.bodies[0], item->anchor, position, rotation);
    item->frames[1] = mf_mjcf_frame(m, ends.bodies[1], position, identity);
    return MF_OK;
}

static mf_Status read_weld(mf_Mjcf *m, const mf_XmlNode *node, mf_Equality *item) {
    const double identity[4] = {1.0, 0.0, 0.0, 0.0};
    Ends ends;
    double *relative = item->relative;
    item->type = MF_EQUALITY_WELD;
    item->torque_scale = 1.0;
    MF_TRY(find_ends(m, node, &ends));
    MF_TRY(mf_xml_numbers(&m->xml, node, "anchor", 3, item->anchor));
    MF_TRY(mf_xml_numbers(&m->xml, node, "relpose", 7, relative));
    MF_TRY(mf_xml_numbers(&m->xml, node, "torquescale", 1, &item->torque_scale));
    if (ends.sites[0] != MF_NONE) {
        between_sites(m, &ends, item);
        return MF_OK;
    }
    for (int i = 0; i < 2; i++)
        item->objects[i] = mf_mjcf_draft_body(ends.bodies[i]);
    // A relative pose with a zero quaternion means the pose at the start.
    double size =
        mf_abs(relative[3]) + mf_abs(relative[4]) + mf_abs(relative[5]) + mf_abs(relative[6]);
    if (size == 0.0)
        relative_pose(m, ends.bodies[0], ends.bodies[1], item->anchor, relative, relative + 3);
    mf_mjcf_unit(relative + 3);
    item->frames[0] = mf_mjcf_frame(m, ends.bodies[0], relative, relative + 3);
    item->frames[1] = mf_mjcf_frame(m, ends.bodies[1], item->anchor, identity);
    return MF_OK;
}

// Two joints or two tendons and a polynomial.
#define T mf_Equality
static mf_Status read_coupling(mf_Mjcf *m, const mf_XmlNode *node, bool joints, mf_Equality *item,
                               bool *dropped) {
    static const mf_MjcfField fields[] = {NUMBERS("polycoef", 1, 5, coefficients), END};
    const char *kind = joints ? "joint" : "tendon";
    const mf_Names *names = joints ? &m->joint_names : &m->tendon_names;
    item->type = joints ? MF_EQUALITY_JOINT : MF_EQUALITY_TENDON;
    item->coefficients[1] = 1.0;
    MF_TRY(mf_mjcf_read_some(m, node, fields, item));
    for (int i = 0; i < 2; i++) {
        char attribute[16];
        memcpy(attribute, kind, strlen(kind) + 1);
        strcat(attribute, i ? "2" : "1");
        const char *name = mf_xml_attribute(node, attribute);
        if (name == NULL && i == 0)
            return mf_mjcf_fail(m, node, "<%.80s> needs the attribute '%s'", node->name, attribute);
        if (name == NULL)
            continue;
        MF_TRY(mf_mjcf_find(m, node, attribute, name, names, kind, &item->objects[i]));
        *dropped |= item->objects[i] == MF_NONE;
        if (!joints && item->objects[i] != MF_NONE &&
            mf_draft_tendons(&m->draft)[item->objects[i]].wrap_count > 0) {
            *dropped = true;
            MF_TRY(mf_mjcf_refuse(m, node, "of a spatial tendon"));
        }
        if (!joints || item->objects[i] == MF_NONE)
            continue;
        const mf_MjcfJoint *joint = &mf_mjcf_joints(m)[item->objects[i]];
        if (joint->type != MF_MJCF_HINGE && joint->type != MF_MJCF_SLIDE)
            return mf_mjcf_fail(m, node,
                                "<joint> %s: expected a hinge or slide, '%.100s' is neither",
                                attribute, name);
        item->objects[i] = joint->draft;
    }
    return MF_OK;
}

static mf_Status read_one(mf_Mjcf *m, const mf_XmlNode *node) {
    bool dropped = false;
    bool joint = strcmp(node->name, "joint") == 0, tendon = strcmp(node->name, "tendon") == 0;
    bool connect = strcmp(node->name, "connect") == 0, weld = strcmp(node->name, "weld") == 0;
    mf_MjcfEquality common;
    if (!joint && !tendon && !connect && !weld)
        return mf_mjcf_refuse(m, node, NULL);
    MF_TRY(mf_mjcf_read_element(m, node, NULL, MF_MJCF_EQUALITY, &common));
    mf_Equality *item = &common.plain;
    if (connect)
        MF_TRY(read_connect(m, node, item));
    else if (weld)
        MF_TRY(read_weld(m, node, item));
    else
        MF_TRY(read_coupling(m, node, joint, item, &dropped));
    if (dropped)
        return MF_OK;
    item->name = common.name;
    return mf_mjcf_add(m, node, MF_ITEM_EQUALITY, item, &m->equality_names);
}

mf_Status mf_mjcf_read_equalities(mf_Mjcf *m) {
    return mf_mjcf_read_section(m, "equality", read_one);
}
