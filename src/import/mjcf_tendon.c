// Tendons. Fixed ones are weighted sums of joint positions. Spatial ones are paths through sites
// and around spheres and cylinders (`<geom>`), in branches that a pulley divides; MuJoCo's rules
// for paths: a branch begins and ends with a site and has at least two, and a shape is between two
// sites.
#include "import/mjcf_rows.h"

#include "math/scalar.h"

#include <string.h>

typedef struct Term {
    const char *joint;
    double coefficient;
} Term;

#define T Term
static mf_Status read_terms(mf_Mjcf *m, const mf_XmlNode *node, mf_Tendon *tendon, bool *dropped) {
    static const mf_MjcfField fields[] = {TEXT("joint", joint), NUMBER("coef", coefficient), END};
    static const char *const known[] = {"joint", NULL};
    MF_TRY(mf_mjcf_only(m, node, known));
    tendon->first_term = m->draft.terms.count;
    MF_XML_EACH (child, node, "joint") {
        Term term = {.coefficient = 1.0};
        uint32_t joint;
        MF_TRY(mf_mjcf_read(m, child, fields, &term));
        if (term.joint == NULL || mf_xml_attribute(child, "coef") == NULL)
            return mf_mjcf_fail(m, child,
                                "<joint> of a tendon needs the attributes 'joint' and 'coef'");
        MF_TRY(mf_mjcf_find(m, child, "joint", term.joint, &m->joint_names, "joint", &joint));
        if (joint == MF_NONE) {
            *dropped = true;
            continue;
        }
        const mf_MjcfJoint *from = &mf_mjcf_joints(m)[joint];
        if (from->type != MF_MJCF_HINGE && from->type != MF_MJCF_SLIDE)
            return mf_mjcf_fail(
                m, child, "<joint> of a tendon: expected a hinge or slide, '%.100s' is neither",
                term.joint);
        const mf_TendonTerm item = {from->draft, term.coefficient};
        MF_TRY(mf_mjcf_add(m, child, MF_ITEM_TENDON_TERM, &item, NULL));
        tendon->term_count++;
    }
    if (tendon->term_count == 0 && !*dropped)
        return mf_mjcf_fail(m, node, "<fixed> needs at least one <joint>");
    return MF_OK;
}

#undef T

// Length with the springs of all joints at rest, as MuJoCo takes it.
static double rest_length(const mf_Mjcf *m, const mf_Tendon *tendon) {
    double length = 0.0;
    const mf_TendonTerm *terms = mf_tendon_terms(&m->draft, tendon);
    for (uint32_t i = 0; i < tendon->term_count; i++)
        length +=
            terms[i].coefficient * mf_draft_joints(&m->draft)[terms[i].joint].spring_reference;
    return length;
}

static mf_Status fill_tendon(mf_Mjcf *m, const mf_MjcfTendon *from, mf_Tendon *to) {
    const mf_XmlNode *node = from->node;
    bool limited, forced;
    MF_TRY(mf_mjcf_limited(m, node, "", from->limited, from->range, &limited));
    MF_TRY(
        mf_mjcf_limited(m, node, "actuatorfrc", from->force_limited, from->force_range, &forced));
    MF_TRY(mf_mjcf_stiffness(m, node, "stiffness", from->stiffness, &to->stiffness));
    MF_TRY(mf_mjcf_stiffness(m, node, "damping", from->damping, &to->damping));
    if (!(to->friction >= 0.0) || !(to->armature >= 0.0))
        return mf_mjcf_fail(m, node,
                            "<%.80s>: frictionloss and armature must be >= 0, found %g and %g",
                            node->name, to->friction, to->armature);
    if (limited) {
        to->lower = from->range[0];
        to->upper = from->range[1];
    }
    if (forced) {
        to->force_lower = from->force_range[0];
        to->force_upper = from->force_range[1];
    }
    return MF_OK;
}

// One number is both ends; -1 means the length at the start.
static mf_Status fill_spring(mf_Mjcf *m, mf_MjcfTendon *from, mf_Tendon *to) {
    const char *text = mf_xml_attribute(from->node, "springlength");
    double numbers[2];
    const char *rest;
    if ((text != NULL && mf_xml_scan(text, 2, numbers, &rest) == 1) ||
        from->springlength[1] == -1.0) // of a class that gives one
        from->springlength[1] = from->springlength[0];
    if (from->springlength[0] > from->springlength[1])
        return mf_mjcf_fail(m, from->node,
                            "<%.80s> springlength: expected lower <= upper, found %g and %g",
                            from->node->name, from->springlength[0], from->springlength[1]);
    bool start = from->springlength[0] == -1.0 && from->springlength[1] == -1.0;
    to->spring_lower = from->springlength[0];
    to->spring_upper = from->springlength[1];
    if (start && to->wrap_count == 0)
        to->spring_lower = to->spring_upper = rest_length(m, to);
    return MF_OK; // the start length of a path is found when all links are placed (mjcf_resolve.c)
}

// ---- paths -------------------------------------------------------------------------------------

typedef struct PathElement {
    const char *site, *geom, *side;
    double divisor;
} PathElement;

static mf_Status add_site(mf_Mjcf *m, const mf_XmlNode *node, const char *name, mf_TendonWrap *wrap,
                          bool *dropped) {
    const mf_MjcfSite *site;
    if (name == NULL)
        return mf_mjcf_fail(m, node, "<site> of a tendon needs the attribute 'site'");
    MF_TRY(mf_mjcf_find_site(m, node, "site", name, &site, &wrap->frame));
    *dropped |= site == NULL;
    wrap->object = site != NULL ? site->draft : MF_NONE;
    return MF_OK;
}

static mf_Status add_side(mf_Mjcf *m, const mf_XmlNode *node, const char *name,
                          mf_TendonWrap *wrap) {
    const mf_MjcfSite *site;
    mf_Frame frame;
    MF_TRY(mf_mjcf_find_site(m, node, "sidesite", name, &site, &frame));
    if (site == NULL)
        return MF_OK;
    wrap->side = site->draft;
    wrap->side_link = frame.link;
    mf_vec3_copy(wrap->side_position, frame.position);
    return MF_OK;
}

static mf_Status add_shape(mf_Mjcf *m, const mf_XmlNode *node, const PathElement *element,
                           mf_TendonWrap *wrap, bool *dropped) {
    uint32_t index;
    if (element->geom == NULL)
        return mf_mjcf_fail(m, node, "<geom> of a tendon needs the attribute 'geom'");
    MF_TRY(mf_mjcf_find(m, node, "geom", element->geom, &m->geom_names, "geom", &index));
    *dropped |= index == MF_NONE;
    if (index == MF_NONE)
        return MF_OK;
    const mf_MjcfGeom *geom = &mf_mjcf_geoms(m)[index];
    if (geom->type != MF_SHAPE_SPHERE && geom->type != MF_SHAPE_CYLINDER)
        return mf_mjcf_fail(m, node,
                            "<geom> of a tendon: expected a sphere or cylinder, '%.100s' is a %s",
                            element->geom, mf_mjcf_shapes[geom->type]);
    wrap->type = geom->type == MF_SHAPE_SPHERE ? MF_WRAP_SPHERE : MF_WRAP_CYLINDER;
    wrap->object = geom->shape;
    wrap->radius = geom->size[0];
    wrap->frame = mf_mjcf_frame(m, geom->body, geom->position, geom->rotation);
    return element->side ? add_side(m, node, element->side, wrap) : MF_OK;
}

#define T PathElement
static mf_Status add_element(mf_Mjcf *m, const mf_XmlNode *node, bool *dropped) {
    static const mf_MjcfField fields[] = {TEXT("site", site), TEXT("geom", geom),
                                          TEXT("sidesite", side), NUMBER("divisor", divisor), END};
    PathElement element = {.divisor = 1.0};
    mf_TendonWrap wrap = {.type = MF_WRAP_SITE,
                          .object = MF_NONE,
                          .frame = mf_world_frame(),
                          .side = MF_NONE,
                          .side_link = MF_NONE,
                          .divisor = 1.0};
    MF_TRY(mf_mjcf_read(m, node, fields, &element));
    if (strcmp(node->name, "site") == 0)
        MF_TRY(add_site(m, node, element.site, &wrap, dropped));
    else if (strcmp(node->name, "geom") == 0)
        MF_TRY(add_shape(m, node, &element, &wrap, dropped));
    else if (!(element.divisor > 1e-15))
        return mf_mjcf_fail(m, node, "<pulley> divisor: expected > 0, found %g", element.divisor);
    if (strcmp(node->name, "pulley") == 0) {
        wrap.type = MF_WRAP_PULLEY;
        wrap.divisor = element.divisor;
    }
    return mf_mjcf_add(m, node, MF_ITEM_TENDON_WRAP, &wrap, NULL);
}

// Whether every branch is a valid path: at least two sites, a site at both ends and on both sides
// of every shape.
static mf_Status check_path(const mf_Mjcf *m, const mf_XmlNode *node, const mf_Tendon *tendon) {
    const mf_TendonWrap *wraps = mf_tendon_wraps(&m->draft, tendon);
    uint32_t sites = 0;
    bool good = tendon->wrap_count > 0, after_site = false;
    for (uint32_t i = 0; good && i <= tendon->wrap_count; i++) {
        const bool ends = i == tendon->wrap_count || wraps[i].type == MF_WRAP_PULLEY;
        const bool site = !ends && wraps[i].type == MF_WRAP_SITE;
        if (ends) // a pulley may come first
            good = (sites >= 2 && after_site) || i == 0;
        else
            good = site || after_site;
        sites = ends ? 0 : sites + site;
        after_site = site;
    }
    if (good)
        return MF_OK;
    return mf_mjcf_fail(
        m, node,
        "<spatial>: expected branches of at least two sites, each shape between two sites");
}

static mf_Status read_path(mf_Mjcf *m, const mf_XmlNode *node, mf_Tendon *tendon, bool *dropped) {
    static const char *const known[] = {"site", "geom", "pulley", NULL};
    MF_TRY(mf_mjcf_only(m, node, known));
    tendon->first_wrap = m->draft.wraps.count;
    for (const mf_XmlNode *child = node->first; child; child = child->next)
        if (mf_name_listed(known, child->name))
            MF_TRY(add_element(m, child, dropped));
    tendon->wrap_count = m->draft.wraps.count - tendon->first_wrap;
    if (*dropped) {
        m->draft.wraps.count = tendon->first_wrap;
        return MF_OK;
    }
    return check_path(m, node, tendon);
}

// ---- both kinds --------------------------------------------------------------------------------

// Whether one of two links carries the other.
static bool on_one_branch(const mf_Draft *draft, uint32_t a, uint32_t b) {
    uint32_t low = a > b ? a : b;
    const uint32_t high = a > b ? b : a;
    while (low > high) // parents have smaller indices
        low = mf_draft_joints(draft)[low - 1].parent;
    return low == high;
}

// The i-th link that a tendon moves; MF_NONE: it is fixed in the world, or a pulley.
static uint32_t link_of(const mf_Draft *draft, const mf_Tendon *tendon, uint32_t i) {
    if (tendon->wrap_count > 0)
        return mf_tendon_wraps(draft, tendon)[i].frame.link;
    return mf_draft_joints(draft)[mf_tendon_terms(draft, tendon)[i].joint].child;
}

static mf_Status note_branches(mf_Mjcf *m, const mf_XmlNode *node, const mf_Tendon *tendon) {
    const uint32_t count = tendon->wrap_count > 0 ? tendon->wrap_count : tendon->term_count;
    for (uint32_t i = 1; tendon->armature > 0.0 && i < count; i++)
        for (uint32_t k = 0; k < i; k++) {
            const uint32_t a = link_of(&m->draft, tendon, i), b = link_of(&m->draft, tendon, k);
            if (a == MF_NONE || b == MF_NONE || on_one_branch(&m->draft, a, b))
                continue;
            return mf_draft_note(&m->draft, false, node->line,
                                 "<%.80s>: its armature couples branches of the tree, as it "
                                 "should; MuJoCo leaves that out",
                                 node->name);
        }
    return MF_OK;
}

static mf_Status read_one(mf_Mjcf *m, const mf_XmlNode *node) {
    const bool spatial = strcmp(node->name, "spatial") == 0;
    if (!spatial && strcmp(node->name, "fixed") != 0) {
        MF_TRY(mf_mjcf_refuse(m, node, NULL));
        return mf_mjcf_dropped(m, "tendon", mf_xml_attribute(node, "name"));
    }
    mf_MjcfTendon from;
    bool dropped = false;
    MF_TRY(mf_mjcf_read_element(m, node, NULL, MF_MJCF_TENDON, &from));
    mf_Tendon tendon = from.plain;
    MF_TRY(spatial ? read_path(m, node, &tendon, &dropped)
                   : read_terms(m, node, &tendon, &dropped));
    if (dropped)
        return mf_mjcf_dropped(m, "tendon", from.name);
    MF_TRY(fill_tendon(m, &from, &tendon));
    MF_TRY(fill_spring(m, &from, &tendon));
    MF_TRY(note_branches(m, node, &tendon));
    tendon.name = from.name;
    return mf_mjcf_add(m, node, MF_ITEM_TENDON, &tendon, &m->tendon_names);
}

mf_Status mf_mjcf_read_tendons(mf_Mjcf *m) {
    return mf_mjcf_read_section(m, "tendon", read_one);
}
