// Fixed tendons: weighted sums of joint positions. Spatial tendons are refused.
#include "model/import/mjcf.h"

#include "math/scalar.h"

#include <math.h>
#include <string.h>

typedef struct Term {
    const char *joint;
    double coefficient;
} Term;

static mf_Status read_terms(mf_Mjcf *m, const mf_XmlNode *node, mf_Tendon *tendon, bool *dropped) {
    static const mf_MjcfField fields[] = {
        {"joint", MF_MJCF_TEXT, 0, 0, offsetof(Term, joint), NULL},
        {"coef", MF_MJCF_NUMBERS, 1, 1, offsetof(Term, coefficient), NULL},
        {NULL, MF_MJCF_PASSED, 0, 0, 0, NULL}};
    static const char *const known[] = {"joint", NULL};
    mf_Status status = mf_mjcf_only(m, node, known);
    tendon->first_term = m->draft.terms.count;
    for (const mf_XmlNode *child = mf_xml_child(node, "joint"); status == MF_OK && child;
         child = mf_xml_next(child, "joint")) {
        Term term = {.coefficient = 1.0};
        uint32_t joint;
        status = mf_mjcf_read(m, child, fields, &term);
        if (status == MF_OK && (term.joint == NULL || mf_xml_attribute(child, "coef") == NULL))
            return mf_mjcf_fail(m, child,
                                "<joint> of a tendon needs the attributes 'joint' and "
                                "'coef'");
        if (status == MF_OK)
            status = mf_mjcf_find(m, child, "joint", term.joint, &m->joint_names, "joint", &joint);
        if (status != MF_OK)
            return status;
        if (joint == MF_NONE) {
            *dropped = true;
            continue;
        }
        const mf_MjcfJoint *from = &mf_mjcf_joints(m)[joint];
        if (from->type != MF_MJCF_HINGE && from->type != MF_MJCF_SLIDE)
            return mf_mjcf_fail(m, child,
                                "<joint> of a tendon: expected a hinge or slide, '%.100s' "
                                "is neither",
                                term.joint);
        mf_TendonTerm *item = mf_list_push(m->context, &m->draft.terms, sizeof *item);
        if (item == NULL)
            return mf_mjcf_no_memory(m);
        *item = (mf_TendonTerm){from->draft, term.coefficient};
        tendon->term_count++;
    }
    if (status == MF_OK && tendon->term_count == 0 && !*dropped)
        return mf_mjcf_fail(m, node, "<fixed> needs at least one <joint>");
    return status;
}

// Length with all joints at their references.
static double start_length(const mf_Mjcf *m, const mf_Tendon *tendon) {
    double length = 0.0;
    const mf_TendonTerm *terms = (mf_TendonTerm *)m->draft.terms.items + tendon->first_term;
    for (uint32_t i = 0; i < tendon->term_count; i++)
        length += terms[i].coefficient * mf_draft_joints(&m->draft)[terms[i].joint].reference;
    return length;
}

static mf_Status fill_tendon(mf_Mjcf *m, const mf_MjcfTendon *from, mf_Tendon *to) {
    const mf_XmlNode *node = from->node;
    bool limited, forced;
    to->lower = to->force_lower = -(double)INFINITY;
    to->upper = to->force_upper = (double)INFINITY;
    mf_Status status = mf_mjcf_limited(m, node, "", from->limited, from->range, &limited);
    if (status == MF_OK)
        status = mf_mjcf_limited(m, node, "actuatorfrc", from->force_limited, from->force_range,
                                 &forced);
    if (status == MF_OK)
        status = mf_mjcf_stiffness(m, node, "stiffness", from->stiffness, &to->stiffness);
    if (status == MF_OK)
        status = mf_mjcf_stiffness(m, node, "damping", from->damping, &to->damping);
    if (status != MF_OK)
        return status;
    if (!(from->friction >= 0.0) || !(from->armature >= 0.0))
        return mf_mjcf_fail(m, node,
                            "<fixed>: frictionloss and armature must be >= 0, found %g "
                            "and %g",
                            from->friction, from->armature);
    if (limited) {
        to->lower = from->range[0];
        to->upper = from->range[1];
    }
    if (forced) {
        to->force_lower = from->force_range[0];
        to->force_upper = from->force_range[1];
    }
    to->friction = from->friction;
    to->armature = from->armature;
    to->limit_margin = from->margin;
    to->limit_softness = from->limit;
    to->friction_softness = from->dry;
    to->group = from->group;
    return MF_OK;
}

// One number is both ends; -1 stands for the length at the start.
static mf_Status fill_spring(mf_Mjcf *m, mf_MjcfTendon *from, mf_Tendon *to) {
    const char *text = mf_xml_attribute(from->node, "springlength");
    double numbers[2];
    const char *rest;
    if (text != NULL && mf_xml_scan(text, 2, numbers, &rest) == 1)
        from->springlength[1] = from->springlength[0];
    if (from->springlength[0] > from->springlength[1])
        return mf_mjcf_fail(m, from->node,
                            "<fixed> springlength: expected lower <= upper, found "
                            "%g and %g",
                            from->springlength[0], from->springlength[1]);
    bool start = from->springlength[0] == -1.0 && from->springlength[1] == -1.0;
    to->spring_lower = start ? start_length(m, to) : from->springlength[0];
    to->spring_upper = start ? to->spring_lower : from->springlength[1];
    return MF_OK;
}

static mf_Status read_fixed(mf_Mjcf *m, const mf_XmlNode *node) {
    const mf_MjcfClass *class;
    mf_Status status = mf_mjcf_class(m, node, mf_mjcf_main(m), &class);
    if (status != MF_OK)
        return status;
    mf_MjcfTendon from = class->tendon;
    mf_Tendon tendon = {.name = ""};
    bool dropped = false;
    from.node = node;
    status = mf_mjcf_read(m, node, mf_mjcf_tendon_fields, &from);
    if (status == MF_OK)
        status = read_terms(m, node, &tendon, &dropped);
    if (status == MF_OK && dropped)
        return mf_mjcf_dropped(m, "tendon", from.name);
    if (status == MF_OK)
        status = fill_tendon(m, &from, &tendon);
    if (status == MF_OK)
        status = fill_spring(m, &from, &tendon);
    if (status != MF_OK)
        return status;
    tendon.name = mf_draft_text(&m->draft, from.name ? from.name : "");
    mf_Tendon *item =
        tendon.name ? mf_list_push(m->context, &m->draft.tendons, sizeof *item) : NULL;
    if (item == NULL)
        return mf_mjcf_no_memory(m);
    *item = tendon;
    return mf_mjcf_name(m, node, &m->tendon_names, from.name, m->draft.tendons.count - 1);
}

mf_Status mf_mjcf_read_tendons(mf_Mjcf *m) {
    mf_Status status = MF_OK;
    for (const mf_XmlNode *section = mf_xml_child(m->xml.root, "tendon"); section;
         section = mf_xml_next(section, "tendon")) {
        for (const mf_XmlNode *node = section->first; status == MF_OK && node; node = node->next) {
            if (strcmp(node->name, "fixed") == 0) {
                status = read_fixed(m, node);
                continue;
            }
            status = mf_mjcf_refuse(m, node, NULL);
            if (status == MF_OK)
                status = mf_mjcf_dropped(m, "tendon", mf_xml_attribute(node, "name"));
        }
    }
    return status;
}
