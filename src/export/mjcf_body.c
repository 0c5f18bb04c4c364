// Bodies, joints, geoms and sites as MJCF.
#include "export/mjcf.h"
#include "model/shape_kinds.h"

static void put_joint(mf_MjcfWriter *w, const mf_Joint *joint, uint32_t level) {
    static const char *const types[] = {"hinge", "slide", "ball", "", "free", ""};
    indent(w, level);
    put(w, "<joint");
    write_name(w, "name", joint->name);
    write_name(w, "type", types[joint->type]);
    if (joint->type == MF_JOINT_HINGE || joint->type == MF_JOINT_SLIDE)
        mf_mjcf_attributes(w, MF_ITEM_JOINT, joint, "axis", "force_lower");
    if (joint->type != MF_JOINT_FLOATING)
        mf_mjcf_attributes(w, MF_ITEM_JOINT, joint, "anchor", "lower");
    else
        flag(w, "limited", false);
    mf_mjcf_attributes(w, MF_ITEM_JOINT, joint, "damping", "friction_softness");
    put(w, "/>\n");
}

static void put_size(mf_MjcfWriter *w, mf_ShapeType type, const double size[3]) {
    double half[3];
    mf_shape_half(type, size, half);
    if (type == MF_SHAPE_PLANE)
        half[2] = 1.0; // spacing of the drawn grid
    if (mf_shape_kinds[type].half_count > 0)
        numbers(w, "size", half, (int)mf_shape_kinds[type].half_count);
}

static void put_geom(mf_MjcfWriter *w, uint32_t index, uint32_t level) {
    const mf_Shape *shape = &w->model->shapes[index];
    const double color[4] = {(double)shape->color[0], (double)shape->color[1],
                             (double)shape->color[2], 1.0};
    indent(w, level);
    put(w, "<geom");
    mf_mjcf_reference(w, "name", MF_ITEM_SHAPE, index);
    write_name(w, "type", mf_mjcf_shapes[shape->type]);
    put_size(w, shape->type, shape->size);
    if (shape->type == MF_SHAPE_MESH)
        mf_text_format(&w->text, " mesh=\"mayfly.mesh.%u\"", shape->mesh);
    if (shape->type == MF_SHAPE_HEIGHTS)
        mf_text_format(&w->text, " hfield=\"mayfly.hfield.%u\"", shape->mesh);
    mf_mjcf_attributes(w, MF_ITEM_SHAPE, shape, "local_position", "gap");
    if (shape->fluid) {
        write_name(w, "fluidshape", "ellipsoid");
        mf_mjcf_attributes(w, MF_ITEM_SHAPE, shape, "fluid_coefficients", "fluid_coefficients");
    }
    if (shape->material != MF_NONE)
        mf_text_format(&w->text, " material=\"mayfly.material.%u\"", shape->material);
    numbers(w, "rgba", color, 4);
    put(w, "/>\n");
}

static void put_site(mf_MjcfWriter *w, uint32_t index, uint32_t level) {
    const mf_Site *site = &w->model->sites[index];
    indent(w, level);
    put(w, "<site");
    mf_mjcf_reference(w, "name", MF_ITEM_SITE, index);
    write_name(w, "type", mf_mjcf_shapes[site->type]);
    put_size(w, site->type, site->size);
    mf_mjcf_attributes(w, MF_ITEM_SITE, site, "local_position", "group");
    put(w, "/>\n");
}

// Geoms, sites and cameras of one body; MF_NONE: the world.
static void put_contents(mf_MjcfWriter *w, uint32_t body, uint32_t level) {
    for (uint32_t i = 0; i < w->model->shape_count; i++) {
        if (w->model->shapes[i].body == body)
            put_geom(w, i, level);
    }
    for (uint32_t i = 0; i < w->model->site_count; i++) {
        if (w->model->sites[i].body == body)
            put_site(w, i, level);
    }
    mf_mjcf_put_cameras(w, body, level);
}

static void open_body(mf_MjcfWriter *w, uint32_t index, uint32_t level) {
    const mf_Model *model = w->model;
    const mf_Body *body = &model->bodies[index];
    indent(w, level);
    put(w, "<body");
    mf_mjcf_reference(w, "name", MF_ITEM_BODY, index);
    mf_mjcf_attributes(w, MF_ITEM_BODY, body, "local_position",
                       body->mocap ? "mocap" : "gravity_compensated");
    put(w, ">\n");
    if (body->mass > 0.0 || body->moments[0] > 0.0) {
        indent(w, level + 1);
        put(w, "<inertial");
        mf_mjcf_attributes(w, MF_ITEM_BODY, body, "center", "moments");
        put(w, "/>\n");
    }
    bool based = model->base == MF_BASE_FREE && body->link == 0 && body->parent == MF_NONE;
    if (based && model->root != NULL)
        put_joint(w, model->root, level + 1);
    for (uint32_t i = 0; i < model->joint_count; i++) {
        if (model->joints[i].body == index)
            put_joint(w, &model->joints[i], level + 1);
    }
    put_contents(w, index, level + 1);
}

void mf_mjcf_put_bodies(mf_MjcfWriter *w) {
    const mf_Model *model = w->model;
    uint32_t level = 2, open = MF_NONE; // the innermost open body
    put(w, "  <worldbody>\n");
    put_contents(w, MF_NONE, level);
    for (uint32_t i = 0; i <= model->body_count; i++) {
        uint32_t parent = i < model->body_count ? model->bodies[i].parent : MF_NONE;
        while (open != parent) {
            indent(w, --level);
            put(w, "</body>\n");
            open = model->bodies[open].parent;
        }
        if (i == model->body_count)
            break;
        open_body(w, i, level++);
        open = i;
    }
    put(w, "  </worldbody>\n");
}
