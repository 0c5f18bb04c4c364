// Merges fixed links into their parents and fills the draft: links and joints in breadth-first
// order (parents first), shapes, contact points. Mass properties are summed in the first link of
// each merged group.
#include "import/item.h"
#include "import/urdf.h"

#include "math/scalar.h"

#include <math.h>
#include <string.h>

#define CYLINDER_RING 4u // [1] contact points around each end of a cylinder

// ---- the base -----------------------------------------------------------------------------------

// A root without mass and shapes whose only joint is floating is the world: its child is the base.
static mf_Status skip_world(mf_Urdf *urdf) {
    const mf_UrdfLink *root = &mf_urdf_links(urdf)[urdf->root];
    const mf_UrdfJoint *joints = mf_urdf_joints(urdf);
    uint32_t only = root->first_child;
    if (only == MF_NONE || joints[only].next_child != MF_NONE ||
        joints[only].joint.type != MF_JOINT_FLOATING || root->body.mass > 0.0 ||
        root->first_solid != MF_NONE)
        return MF_OK;
    uint32_t base = joints[only].joint.child;
    urdf->root = base;
    mf_urdf_links(urdf)[base].joint = MF_NONE;
    urdf->order_count--;
    for (uint32_t i = 0; i < urdf->order_count; i++)
        urdf->order[i] = urdf->order[i + 1];
    return mf_draft_note(&urdf->draft, false, root->node->line,
                         "link '%.80s' represents the world: '%.80s' is the base", root->name,
                         mf_urdf_links(urdf)[base].name);
}

// What joints do to the root and to all links that fixed joints connect with it.
typedef struct BaseCount {
    double mass;     // [kg]
    uint32_t moving; // [1] joints
} BaseCount;

static BaseCount count_base(const mf_Urdf *urdf) {
    BaseCount count = {0};
    const mf_UrdfLink *links = mf_urdf_links(urdf);
    for (uint32_t i = 0; i < urdf->order_count; i++) {
        uint32_t at = urdf->order[i];
        const mf_UrdfLink *link = &links[at];
        uint32_t moving = 0; // joints on the way to the root
        for (; at != urdf->root; at = mf_urdf_joints(urdf)[links[at].joint].joint.parent)
            moving += mf_urdf_joints(urdf)[links[at].joint].joint.type != MF_JOINT_FIXED;
        if (moving == 0)
            count.mass += link->body.mass;
        else if (moving == 1 && mf_urdf_joints(urdf)[link->joint].joint.type != MF_JOINT_FIXED)
            count.moving++;
    }
    return count;
}

// Modules are meant to move.
static bool is_module(const mf_Urdf *urdf) {
    MF_XML_EACH (part, urdf->xml.root, "mayfly")
        for (int k = 0; k < MF_MOUNTED_COUNT; k++)
            if (mf_mounted_kinds[k]->joins &&
                mf_xml_child(part, mf_item_table(mf_mounted_kinds[k]->type)->name) != NULL)
                return true;
    return false;
}

// Nothing in a URDF says whether its base is fixed but the name `world`, a convention of ROS and
// Gazebo. A free base without mass has no equation of motion.
static mf_Status choose_base(mf_Urdf *urdf) {
    const mf_UrdfLink *root = &mf_urdf_links(urdf)[urdf->root];
    const BaseCount count = count_base(urdf);
    const bool asked = urdf->config->base != MF_IMPORT_BASE_AUTO;
    const bool world = strcmp(root->name, "world") == 0 && !(root->body.mass > 0.0);
    const bool light = !(count.mass > 0.0) && count.moving > 0;
    const bool fixed = asked ? urdf->config->base == MF_IMPORT_BASE_FIXED : world || light;
    urdf->draft.base_type = fixed ? MF_BASE_FIXED : MF_BASE_FREE;
    if (!asked && world)
        return mf_draft_note(&urdf->draft, false, root->node->line,
                             "link 'world' is the world: the base is fixed in it (base: free "
                             "frees it)");
    if (!asked && light)
        return mf_draft_note(&urdf->draft, true, root->node->line,
                             "link '%.100s' and what is fixed to it have no mass: the base is "
                             "fixed in the world",
                             root->name);
    if (!asked && count.moving == 1 && !is_module(urdf))
        return mf_draft_note(&urdf->draft, false, root->node->line,
                             "the base is free, since no root link 'world' holds it (base: fixed "
                             "fixes it)");
    return MF_OK;
}

// ---- links and joints ---------------------------------------------------------------------------

static mf_Status add_draft_joint(mf_Urdf *urdf, const mf_UrdfLink *parent, mf_UrdfJoint *item,
                                 uint32_t child) {
    mf_Joint *joint = mf_draft_add(&urdf->draft, MF_ITEM_JOINT, &item->joint);
    if (joint == NULL)
        return mf_urdf_no_memory(urdf);
    joint->parent = parent->draft;
    joint->child = child;
    mf_quat_rotate(joint->position, parent->rotation, item->joint.position);
    mf_vec3_add(joint->position, joint->position, parent->position);
    mf_quat_multiply(joint->rotation, parent->rotation, item->joint.rotation);
    mf_quat_normalize(joint->rotation);
    item->draft = urdf->draft.joints.count - 1;
    bool unusual = joint->type == MF_JOINT_BALL || joint->type == MF_JOINT_PLANAR ||
                   joint->type == MF_JOINT_FLOATING;
    return unusual ? mf_draft_note(&urdf->draft, false, item->node->line,
                                   "joint '%.100s': its type is kept, but motions that cannot move "
                                   "it treat it as fixed",
                                   joint->name)
                   : MF_OK;
}

// The link as a part of its parent's draft link, or as a draft link of its own.
static mf_Status place_link(mf_Urdf *urdf, mf_UrdfLink *link, uint32_t *merged) {
    mf_UrdfJoint *item = link->joint == MF_NONE ? NULL : &mf_urdf_joints(urdf)[link->joint];
    const mf_UrdfLink *parent = item ? &mf_urdf_links(urdf)[item->joint.parent] : NULL;
    if (item && item->joint.type == MF_JOINT_FIXED && !urdf->config->keep_fixed) {
        link->draft = parent->draft;
        mf_quat_rotate(link->position, parent->rotation, item->joint.position);
        mf_vec3_add(link->position, link->position, parent->position);
        mf_quat_multiply(link->rotation, parent->rotation, item->joint.rotation);
        mf_quat_normalize(link->rotation);
        ++*merged;
        return MF_OK;
    }
    if (mf_draft_add_link(&urdf->draft, link->name) == NULL)
        return mf_urdf_no_memory(urdf);
    link->draft = urdf->draft.links.count - 1;
    mf_vec3_set(link->position, 0.0, 0.0, 0.0);
    mf_quat_identity(link->rotation);
    return item ? add_draft_joint(urdf, parent, item, link->draft) : MF_OK;
}

static mf_Status add_shape(mf_Urdf *urdf, const mf_UrdfSolid *solid, uint32_t link,
                           const double position[3], const double rotation[4]) {
    mf_Shape *shape = mf_draft_add_shape(&urdf->draft, link, solid->type);
    if (shape == NULL)
        return mf_urdf_no_memory(urdf);
    shape->visual = solid->visual;
    shape->collides = !solid->visual;
    mf_vec3_copy(shape->position, position);
    memcpy(shape->rotation, rotation, sizeof shape->rotation);
    mf_vec3_copy(shape->size, solid->size);
    memcpy(shape->color, solid->color, sizeof shape->color);
    shape->mesh = solid->mesh;
    if (!isnan(solid->friction))
        shape->friction[0] = solid->friction;
    return MF_OK;
}

static mf_Status add_solid(mf_Urdf *urdf, const mf_UrdfLink *link, mf_UrdfSolid *solid) {
    double position[3], rotation[4];
    mf_quat_rotate(position, link->rotation, solid->position);
    mf_vec3_add(position, position, link->position);
    mf_quat_multiply(rotation, link->rotation, solid->rotation);
    mf_Status status = add_shape(urdf, solid, link->draft, position, rotation);
    solid->shape = urdf->draft.shapes.count - 1;
    // A fixed base never touches the ground.
    const bool still = link->draft == 0 && urdf->draft.base_type == MF_BASE_FIXED;
    return solid->visual || still || status != MF_OK
               ? status
               : mf_import_touch(&urdf->draft, solid->shape, urdf->config->mesh_points,
                                 CYLINDER_RING);
}

static mf_Status add_solids(mf_Urdf *urdf, const mf_UrdfLink *link) {
    for (uint32_t i = link->first_solid; i != MF_NONE; i = mf_urdf_solids(urdf)[i].next)
        MF_TRY(add_solid(urdf, link, &mf_urdf_solids(urdf)[i]));
    return MF_OK;
}

static void connect_mimics(mf_Urdf *urdf) {
    for (uint32_t i = 0; i < urdf->joints.count; i++) {
        const mf_UrdfJoint *item = &mf_urdf_joints(urdf)[i];
        if (item->draft != MF_NONE && item->joint.mimic != MF_NONE)
            mf_draft_joints(&urdf->draft)[item->draft].mimic =
                mf_urdf_joints(urdf)[item->joint.mimic].draft;
    }
}

mf_Status mf_urdf_merge(mf_Urdf *urdf) {
    uint32_t old_root = urdf->root, merged = 0;
    MF_TRY(skip_world(urdf));
    MF_TRY(choose_base(urdf));
    for (uint32_t i = 0; i < urdf->order_count; i++) {
        mf_UrdfLink *link = &mf_urdf_links(urdf)[urdf->order[i]];
        MF_TRY(place_link(urdf, link, &merged));
        MF_TRY(add_solids(urdf, link));
    }
    // A skipped world keeps the draft index 0, the base, so that sensors on it are valid.
    mf_quat_identity(mf_urdf_links(urdf)[old_root].rotation);
    if (merged > 0)
        MF_TRY(mf_draft_note(
            &urdf->draft, false, 0, "%u fixed joint%s merged: %s part of %s parent%s", merged,
            merged == 1 ? "" : "s", merged == 1 ? "its link is" : "their links are",
            merged == 1 ? "its" : "their", merged == 1 ? "" : "s"));
    connect_mimics(urdf);
    return MF_OK;
}
