// URDF joints: types, limits, mimic chains, and the check that they join all links into one tree.
#include "import/urdf.h"

#include "math/scalar.h"

#include <math.h>
#include <string.h>

static mf_Status note(mf_Urdf *urdf, bool suspicious, const mf_XmlNode *node, const char *name,
                      const char *text) {
    return mf_draft_note(&urdf->draft, suspicious, node->line, "joint '%.100s': %s", name, text);
}

static mf_Status fail(mf_Urdf *urdf, const mf_XmlNode *node, const char *name, const char *text) {
    return mf_xml_refuse(&urdf->xml, node, "joint '%.100s': %s", name, text);
}

static mf_Status read_type(mf_Urdf *urdf, const mf_XmlNode *node, mf_Joint *joint) {
    static const struct {
        const char *name;
        mf_JointType type;
    } types[] = {{"revolute", MF_JOINT_HINGE},    {"continuous", MF_JOINT_HINGE},
                 {"prismatic", MF_JOINT_SLIDE},   {"fixed", MF_JOINT_FIXED},
                 {"floating", MF_JOINT_FLOATING}, {"planar", MF_JOINT_PLANAR},
                 {"spherical", MF_JOINT_BALL},    {"ball", MF_JOINT_BALL}};
    const char *type;
    MF_TRY(mf_xml_name(&urdf->xml, node, "type", &type));
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(type, types[i].name) != 0)
            continue;
        joint->type = types[i].type;
        return MF_OK;
    }
    return mf_xml_refuse(&urdf->xml, node, "joint '%.100s': unknown type '%.60s'", joint->name,
                         type);
}

static mf_Status find_link(mf_Urdf *urdf, const mf_XmlNode *node, const char *role,
                           const char *joint, uint32_t *out) {
    const mf_XmlNode *child = mf_xml_child(node, role);
    const char *name;
    if (child == NULL)
        return mf_xml_refuse(&urdf->xml, node, "joint '%.100s' needs a <%s>", joint, role);
    MF_TRY(mf_xml_name(&urdf->xml, child, "link", &name));
    *out = mf_names_find(&urdf->link_names, name);
    if (*out == UINT32_MAX)
        return mf_xml_refuse(&urdf->xml, child, "joint '%.100s': there is no link '%.100s'", joint,
                             name);
    return MF_OK;
}

static mf_Status read_axis(mf_Urdf *urdf, const mf_XmlNode *node, mf_Joint *joint) {
    const mf_XmlNode *axis = mf_xml_child(node, "axis");
    if (axis == NULL)
        return MF_OK;
    MF_TRY(mf_xml_numbers(&urdf->xml, axis, "xyz", 3, joint->axis));
    double length = mf_vec3_length(joint->axis);
    bool uses_axis = joint->type == MF_JOINT_HINGE || joint->type == MF_JOINT_SLIDE ||
                     joint->type == MF_JOINT_PLANAR;
    if (!mf_vec3_normalize(joint->axis)) {
        mf_vec3_set(joint->axis, 1.0, 0.0, 0.0); // as if it were not given
        return uses_axis ? fail(urdf, axis, joint->name, "the axis must not be zero") : MF_OK;
    }
    if (uses_axis && mf_abs(length - 1.0) > 1e-3)
        return note(urdf, false, axis, joint->name, "axis scaled to length 1");
    return MF_OK;
}

static mf_Status read_range(mf_Urdf *urdf, const mf_XmlNode *limit, mf_Joint *joint) {
    joint->lower = joint->upper = 0.0;
    MF_TRY(mf_xml_numbers(&urdf->xml, limit, "lower", 1, &joint->lower));
    MF_TRY(mf_xml_numbers(&urdf->xml, limit, "upper", 1, &joint->upper));
    if (!(joint->lower <= joint->upper)) { // as Bullet reads it
        joint->lower = -(double)INFINITY;
        joint->upper = (double)INFINITY;
        return note(urdf, true, limit, joint->name, "lower > upper, treated as unlimited");
    }
    if (joint->lower == joint->upper)
        return note(urdf, true, limit, joint->name, "its range is empty, so it cannot move");
    return MF_OK;
}

// A rate or effort: negative is an error, 0 means that it was not filled in.
static mf_Status read_bound(mf_Urdf *urdf, const mf_XmlNode *limit, const char *attribute,
                            const mf_Joint *joint, double *out) {
    double value = 0.0;
    mf_Status status = mf_xml_numbers(&urdf->xml, limit, attribute, 1, &value);
    if (status != MF_OK || value > 0.0) {
        *out = status == MF_OK ? value : *out;
        return status;
    }
    if (value < 0.0)
        return mf_xml_refuse(&urdf->xml, limit, "joint '%.100s': %s must be >= 0, found %g",
                             joint->name, attribute, value);
    return mf_draft_note(&urdf->draft, true, limit->line,
                         "joint '%.100s': %s missing or 0, treated as unlimited", joint->name,
                         attribute);
}

static mf_Status read_limit(mf_Urdf *urdf, const mf_XmlNode *node, mf_Joint *joint) {
    if (joint->type != MF_JOINT_HINGE && joint->type != MF_JOINT_SLIDE)
        return MF_OK;
    const mf_XmlNode *limit = mf_xml_child(node, "limit");
    bool endless = strcmp(mf_xml_attribute(node, "type"), "continuous") == 0;
    if (limit == NULL)
        return endless ? MF_OK
                       : note(urdf, true, node, joint->name, "no <limit>, treated as unlimited");
    MF_TRY(endless ? MF_OK : read_range(urdf, limit, joint));
    MF_TRY(read_bound(urdf, limit, "velocity", joint, &joint->speed));
    return read_bound(urdf, limit, "effort", joint, &joint->effort);
}

static mf_Status read_dynamics(mf_Urdf *urdf, const mf_XmlNode *node, mf_Joint *joint) {
    const mf_XmlNode *dynamics = mf_xml_child(node, "dynamics");
    if (dynamics == NULL)
        return MF_OK;
    MF_TRY(mf_xml_numbers(&urdf->xml, dynamics, "damping", 1, &joint->damping));
    MF_TRY(mf_xml_numbers(&urdf->xml, dynamics, "friction", 1, &joint->friction));
    if (!(joint->damping >= 0.0 && joint->friction >= 0.0))
        return fail(urdf, dynamics, joint->name, "damping and friction must be >= 0");
    return MF_OK;
}

static mf_Status read_joint(mf_Urdf *urdf, const mf_XmlNode *node, mf_Joint *joint) {
    static const char *const known[] = {"origin", "parent",   "child", "axis",
                                        "limit",  "dynamics", "mimic", NULL};
    MF_TRY(read_type(urdf, node, joint));
    MF_TRY(find_link(urdf, node, "parent", joint->name, &joint->parent));
    MF_TRY(find_link(urdf, node, "child", joint->name, &joint->child));
    MF_TRY(mf_urdf_origin(urdf, node, joint->position, joint->rotation));
    MF_TRY(read_axis(urdf, node, joint));
    MF_TRY(read_limit(urdf, node, joint));
    MF_TRY(read_dynamics(urdf, node, joint));
    return mf_urdf_ignore_others(urdf, node, known);
}

static mf_Status add_joint(mf_Urdf *urdf, const mf_XmlNode *node) {
    const char *name;
    MF_TRY(mf_xml_name(&urdf->xml, node, "name", &name));
    if (mf_names_find(&urdf->joint_names, name) != UINT32_MAX)
        return mf_xml_refuse(&urdf->xml, node, "two joints are named '%.100s'", name);
    uint32_t index = urdf->joints.count;
    mf_UrdfJoint *item = mf_list_push(urdf->context, &urdf->joints, sizeof *item);
    if (item == NULL || !mf_names_add(&urdf->joint_names, name, index))
        return mf_urdf_no_memory(urdf);
    item->node = node;
    item->draft = MF_NONE;
    mf_item_reset(MF_ITEM_JOINT, &item->joint);
    item->joint.name = name;
    MF_TRY(read_joint(urdf, node, &item->joint));
    mf_UrdfLink *child = &mf_urdf_links(urdf)[item->joint.child];
    if (child->joint != MF_NONE)
        return mf_xml_refuse(&urdf->xml, node,
                             "link '%.80s' has two parents: joints '%.80s' and '%.80s'",
                             child->name, mf_urdf_joints(urdf)[child->joint].joint.name, name);
    child->joint = index;
    return MF_OK;
}

// ---- mimic -------------------------------------------------------------------------------------

static mf_Status read_mimic(mf_Urdf *urdf, mf_UrdfJoint *item) {
    const mf_XmlNode *node = mf_xml_child(item->node, "mimic");
    mf_Joint *joint = &item->joint;
    if (node == NULL || joint->type == MF_JOINT_FIXED)
        return MF_OK;
    const char *target;
    MF_TRY(mf_xml_name(&urdf->xml, node, "joint", &target));
    MF_TRY(mf_xml_numbers(&urdf->xml, node, "multiplier", 1, &joint->multiplier));
    MF_TRY(mf_xml_numbers(&urdf->xml, node, "offset", 1, &joint->offset));
    joint->mimic = mf_names_find(&urdf->joint_names, target);
    if (joint->mimic == UINT32_MAX) {
        joint->mimic = MF_NONE;
        return mf_draft_note(
            &urdf->draft, true, node->line,
            "joint '%.100s': follows '%.100s', which does not exist; it moves independently",
            joint->name, target);
    }
    mf_JointType type = mf_urdf_joints(urdf)[joint->mimic].joint.type;
    if (type != MF_JOINT_HINGE && type != MF_JOINT_SLIDE)
        return fail(urdf, node, joint->name,
                    "can only follow a revolute, continuous or prismatic joint");
    return MF_OK;
}

// Follows the chain from one joint and rewrites all of it to point at its free end. Each joint is
// rewritten once, because a chain stops at joints that already point at a free one.
static mf_Status flatten_mimic(mf_Urdf *urdf, uint32_t start, uint32_t *path) {
    mf_UrdfJoint *items = mf_urdf_joints(urdf);
    uint32_t length = 0, at = start;
    while (items[at].joint.mimic != MF_NONE) {
        if (length == urdf->joints.count)
            return mf_xml_refuse(&urdf->xml, items[start].node,
                                 "joint '%.100s': its mimic joints form a cycle",
                                 items[start].joint.name);
        path[length++] = at;
        at = items[at].joint.mimic;
        if (items[at].joint.mimic != MF_NONE && items[items[at].joint.mimic].joint.mimic == MF_NONE)
            break;
    }
    for (uint32_t i = length; i-- > 0;) {
        mf_Joint *joint = &items[path[i]].joint;
        const mf_Joint *target = &items[joint->mimic].joint;
        if (target->mimic == MF_NONE)
            continue;
        joint->offset += joint->multiplier * target->offset;
        joint->multiplier *= target->multiplier;
        joint->mimic = target->mimic;
    }
    return MF_OK;
}

static mf_Status resolve_mimics(mf_Urdf *urdf) {
    uint32_t count = urdf->joints.count;
    mf_Status status = MF_OK;
    for (uint32_t i = 0; status == MF_OK && i < count; i++)
        status = read_mimic(urdf, &mf_urdf_joints(urdf)[i]);
    if (status != MF_OK)
        return status;
    uint32_t *path = mf_allocate(urdf->context, count, sizeof *path);
    if (path == NULL)
        return mf_urdf_no_memory(urdf);
    for (uint32_t i = 0; status == MF_OK && i < count; i++)
        status = flatten_mimic(urdf, i, path);
    mf_release(urdf->context, path);
    for (uint32_t i = 0; status == MF_OK && i < count; i++) {
        const mf_Joint *joint = &mf_urdf_joints(urdf)[i].joint;
        if (!mf_is_finite(joint->multiplier) || !mf_is_finite(joint->offset))
            status = fail(urdf, mf_urdf_joints(urdf)[i].node, joint->name,
                          "its mimic multipliers overflow");
    }
    return status;
}

// ---- the tree ----------------------------------------------------------------------------------

static mf_Status find_root(mf_Urdf *urdf) {
    urdf->root = MF_NONE;
    for (uint32_t i = 0; i < urdf->links.count; i++) {
        const mf_UrdfLink *link = &mf_urdf_links(urdf)[i];
        if (link->joint != MF_NONE)
            continue;
        if (urdf->root != MF_NONE)
            return mf_xml_refuse(&urdf->xml, link->node,
                                 "expected one root link, found '%.100s' and '%.100s'",
                                 mf_urdf_links(urdf)[urdf->root].name, link->name);
        urdf->root = i;
    }
    if (urdf->root == MF_NONE)
        return mf_xml_refuse(&urdf->xml, urdf->xml.root,
                             "every link has a parent, so the links form a cycle");
    return MF_OK;
}

// Breadth-first order of the links; unreachable links form a cycle.
static mf_Status order_links(mf_Urdf *urdf) {
    mf_UrdfLink *links = mf_urdf_links(urdf);
    mf_UrdfJoint *joints = mf_urdf_joints(urdf);
    for (uint32_t i = urdf->joints.count; i-- > 0;) {
        joints[i].next_child = links[joints[i].joint.parent].first_child;
        links[joints[i].joint.parent].first_child = i;
    }
    urdf->order = mf_arena_take(&urdf->xml.arena, urdf->links.count * sizeof *urdf->order);
    bool *reached = mf_arena_take(&urdf->xml.arena, urdf->links.count * sizeof *reached);
    if (urdf->order == NULL || reached == NULL)
        return mf_urdf_no_memory(urdf);
    uint32_t head = 0, tail = 0;
    urdf->order[tail++] = urdf->root;
    while (head < tail) {
        uint32_t link = urdf->order[head++];
        reached[link] = true;
        for (uint32_t j = links[link].first_child; j != MF_NONE; j = joints[j].next_child)
            urdf->order[tail++] = joints[j].joint.child;
    }
    urdf->order_count = tail;
    for (uint32_t i = 0; i < urdf->links.count; i++) {
        if (!reached[i])
            return mf_xml_refuse(&urdf->xml, links[i].node, "link '%.100s' is in a cycle of joints",
                                 links[i].name);
    }
    return MF_OK;
}

mf_Status mf_urdf_read_joints(mf_Urdf *urdf) {
    MF_XML_EACH (node, urdf->xml.root, "joint")
        MF_TRY(add_joint(urdf, node));
    MF_TRY(resolve_mimics(urdf));
    MF_TRY(find_root(urdf));
    return order_links(urdf);
}
