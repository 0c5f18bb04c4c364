// A model as MJCF. Values are written as stored in the model: explicit inertias, poses as
// quaternions in their bodies, actuators in the general form, no classes; so loading the file gives
// the same model bit for bit. Numbers have 17 digits, which is exact for doubles.
//
// Joints of one body are one chain of links; geoms, sites and joints store their values in the
// body's frame for this purpose.
#include "export/mjcf.h"
#include "model/fields.h"
#include "base/floats.h"
#include "base/root.h"

#include <stdio.h>
#include <string.h>

// ---- settings and assets -----------------------------------------------------------------------

// A lower and an upper limit; the attribute that enables them is named after theirs.
static void put_limits(mf_MjcfWriter *w, const char *name, const double limits[2]) {
    const bool finite = mf_is_finite(limits[0]) && mf_is_finite(limits[1]);
    char limited[64];
    snprintf(limited, sizeof limited, "%.*slimited", (int)(strlen(name) - strlen("range")), name);
    flag(w, limited, finite);
    if (finite)
        numbers(w, name, limits, 2);
}

static void put_field(mf_MjcfWriter *w, const mf_ModelField *field, const char *pattern,
                      const void *values) {
    const void *value = mf_field_at(field, values);
    char name[64];
    if (field->mjcf == NULL)
        return;
    mf_spell(name, sizeof name, pattern, field->mjcf);
    if (field->spelled & MF_SPELLED_RANGE) {
        put_limits(w, name, value);
        return;
    }
    switch (field->type) {
    case MF_VALUE_REAL:
        numbers(w, name, value, field->count);
        break;
    case MF_VALUE_INTEGER:
    case MF_VALUE_NUMBER: // bits are also signed 32-bit integers
        integer(w, name, *(const int32_t *)value);
        break;
    case MF_VALUE_FLAG:
        flag(w, name, *(const bool *)value);
        break;
    case MF_VALUE_ENUM:
        write_name(w, name, mf_item_enum_name(field, value));
        break;
    case MF_VALUE_ITEM:
        for (uint32_t i = 0; i < mf_item_table(field->item)->count; i++)
            put_field(w, &mf_item_table(field->item)->fields[i], name, value);
        break;
    default:
        break;
    }
}

void mf_mjcf_attributes(mf_MjcfWriter *w, mf_ItemType item, const void *values, const char *first,
                        const char *last) {
    const mf_ModelField *field = mf_item_field(item, first), *end = mf_item_field(item, last);
    for (; field <= end; field++)
        put_field(w, field, "%s", values);
}

void mf_mjcf_reference(mf_MjcfWriter *w, const char *attribute, mf_ItemType item, uint32_t index) {
    const mf_ItemTable *table = mf_item_table(item);
    const char *given = index != MF_NONE ? mf_model_item_name(w->model, item, index) : "world";
    if (given != NULL && *given != '\0')
        write_name(w, attribute, given);
    else
        mf_text_format(&w->text, " %s=\"mayfly.%s.%u\"", attribute,
                       item == MF_ITEM_SHAPE ? "geom" : table->name, index);
}

static void put_option(mf_MjcfWriter *w) {
    static const char *const flags[] = {
        "constraint", "equality",  "frictionloss", "limit",     "contact", "spring", "damper",
        "gravity",    "clampctrl", "filterparent", "actuation", "refsafe", "sensor", "eulerdamp"};
    const mf_Physics *p = &w->model->physics;
    put(w, "  <compiler angle=\"radian\" autolimits=\"false\" inertiafromgeom=\"false\"/>\n"
           "  <option");
    mf_mjcf_attributes(w, MF_ITEM_PHYSICS, p, "step", "override_friction");
    put(w, ">\n    <flag");
    for (uint32_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (p->disabled >> i & 1)
            write_name(w, flags[i], "disable");
    }
    if (p->override_contacts)
        write_name(w, "override", "enable");
    put(w, "/>\n  </option>\n");
}

// Whether a reader of the file could not reach `path` from where it stands: then the text has it.
static bool is_outside(mf_MjcfWriter *w, const char *path) {
    bool outside = false;
    if (w->status == MF_OK)
        w->status = mf_root_is_outside(w->text.context, w->path, path, &outside, w->error);
    return outside;
}

// Of a mesh with inline vertices, which has one place for each vertex that it uses.
static void put_coordinates(mf_MjcfWriter *w, const mf_Mesh *mesh) {
    const size_t corners = 3 * (size_t)mesh->triangle_count;
    if (mesh->coordinates == NULL)
        return;
    float *positions =
        mf_allocate(w->text.context, 2 * (size_t)mesh->vertex_count, sizeof *positions);
    w->text.failed = w->text.failed || positions == NULL;
    put(w, " texcoord=\"");
    for (size_t i = 0; positions != NULL && i < 2 * corners; i++)
        positions[2 * (size_t)mesh->triangles[i / 2] + i % 2] = mesh->coordinates[i];
    for (size_t i = 0; positions != NULL && i < 2 * (size_t)mesh->vertex_count; i++)
        mf_text_format(&w->text, "%.9g ", (double)positions[i]);
    put(w, "\"");
    mf_release(w->text.context, positions);
}

static void put_mesh(mf_MjcfWriter *w, uint32_t index) {
    const mf_Mesh *mesh = &w->model->meshes[index];
    mf_text_format(&w->text, "    <mesh name=\"mayfly.mesh.%u\"", index);
    if (mesh->hull_limit > 0)
        integer(w, "maxhullvert", (long)mesh->hull_limit);
    if (mesh->shell)
        write_name(w, "inertia", "shell");
    if (mesh->path[0] != '\0' && !is_outside(w, mesh->path)) {
        write_name(w, "file", mesh->path);
        mf_mjcf_attributes(w, MF_ITEM_MESH, mesh, "reference_position", "scale");
        put(w, "/>\n");
        return;
    }
    put_coordinates(w, mesh);
    put(w, " vertex=\"");
    for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; i++)
        mf_text_format(&w->text, "%.9g ", (double)mesh->vertices[i]);
    put(w, "\" face=\"");
    for (size_t i = 0; i < 3 * (size_t)mesh->triangle_count; i++)
        mf_text_format(&w->text, "%u ", mesh->triangles[i]);
    put(w, "\"/>\n");
}

// A picture that the text cannot hold stands beside the file when the reader could not reach it.
static void put_picture(mf_MjcfWriter *w, const mf_Texture *texture, uint32_t index) {
    char path[4096];
    if (!is_outside(w, texture->path)) {
        write_name(w, "file", texture->path);
        return;
    }
    const int length = snprintf(path, sizeof path, "%s.%u.png", w->path, index);
    const char *slash = strrchr(path, '/');
    write_name(w, "file", slash == NULL ? path : slash + 1);
    if (w->status == MF_OK)
        w->status = length < 0 || (size_t)length >= sizeof path
                        ? mf_fail(w->error, MF_LIMIT, "%.200s: the path is too long", w->path)
                        : mf_file_replace(w->text.context, path, texture->file, texture->file_size,
                                          w->error);
}

static void put_texture(mf_MjcfWriter *w, uint32_t index) {
    const mf_Texture *texture = &w->model->textures[index];
    const double grid[2] = {texture->grid[0], texture->grid[1]};
    mf_text_format(&w->text, "    <texture name=\"mayfly.texture.%u\"", index);
    mf_mjcf_attributes(w, MF_ITEM_TEXTURE, texture, "type", "first_color");
    if (texture->file != NULL) {
        put_picture(w, texture, index);
        mf_mjcf_attributes(w, MF_ITEM_TEXTURE, texture, "flip_columns", "flip_rows");
        numbers(w, "gridsize", grid, 2);
        if (texture->layout[0] != '\0')
            write_name(w, "gridlayout", texture->layout);
    } else {
        mf_mjcf_attributes(w, MF_ITEM_TEXTURE, texture, "pattern", "flip_rows");
    }
    put(w, "/>\n");
}

static void put_material(mf_MjcfWriter *w, uint32_t index) {
    const mf_Material *material = &w->model->materials[index];
    mf_text_format(&w->text, "    <material name=\"mayfly.material.%u\"", index);
    if (material->texture != MF_NONE)
        mf_text_format(&w->text, " texture=\"mayfly.texture.%u\"", material->texture);
    mf_mjcf_attributes(w, MF_ITEM_MATERIAL, material, "color", "reflectance");
    put(w, "/>\n");
}

// The file's first row is at +y; heights are already scaled to 0 .. 1.
static void put_heights(mf_MjcfWriter *w, uint32_t index) {
    const mf_HeightField *field = &w->model->height_fields[index];
    const double size[4] = {field->half_size[0], field->half_size[1], field->height, field->base};
    mf_text_format(&w->text, "    <hfield name=\"mayfly.hfield.%u\"", index);
    integer(w, "nrow", (long)field->rows);
    integer(w, "ncol", (long)field->columns);
    numbers(w, "size", size, 4);
    put(w, " elevation=\"");
    for (uint32_t row = field->rows; row-- > 0;) {
        for (uint32_t column = 0; column < field->columns; column++)
            mf_text_format(&w->text, "%.9g ",
                           (double)field->heights[(size_t)row * field->columns + column]);
    }
    put(w, "\"/>\n");
}

static void put_assets(mf_MjcfWriter *w) {
    put(w, "  <asset>\n");
    for (uint32_t i = 0; i < w->model->mesh_count; i++)
        put_mesh(w, i);
    for (uint32_t i = 0; i < w->model->height_field_count; i++)
        put_heights(w, i);
    for (uint32_t i = 0; i < w->model->texture_count; i++)
        put_texture(w, i);
    for (uint32_t i = 0; i < w->model->material_count; i++)
        put_material(w, i);
    put(w, "  </asset>\n");
}

// ---- other parts -------------------------------------------------------------------------------

static void put_contacts(mf_MjcfWriter *w) {
    const mf_Model *model = w->model;
    put(w, "  <contact>\n");
    for (uint32_t i = 0; i < model->pair_count; i++) {
        const mf_ContactPair *pair = &model->pairs[i];
        put(w, "    <pair");
        name(w, pair->name);
        for (int k = 0; k < 2; k++)
            mf_mjcf_reference(w, k ? "geom2" : "geom1", MF_ITEM_SHAPE, pair->shapes[k]);
        mf_mjcf_attributes(w, MF_ITEM_PAIR, pair, "dimension", "gap");
        put(w, "/>\n");
    }
    for (uint32_t i = 0; i < model->exclusion_count; i++) {
        put(w, "    <exclude");
        name(w, model->exclusions[i].name);
        mf_mjcf_reference(w, "body1", MF_ITEM_BODY, model->exclusions[i].bodies[0]);
        mf_mjcf_reference(w, "body2", MF_ITEM_BODY, model->exclusions[i].bodies[1]);
        put(w, "/>\n");
    }
    put(w, "  </contact>\n");
}

static void put_path(mf_MjcfWriter *w, const mf_Tendon *tendon) {
    for (uint32_t k = tendon->first_wrap; k < tendon->first_wrap + tendon->wrap_count; k++) {
        const mf_TendonWrap *wrap = &w->model->tendon_wraps[k];
        if (wrap->type == MF_WRAP_PULLEY) {
            put(w, "      <pulley");
            number(w, "divisor", wrap->divisor);
        } else if (wrap->type == MF_WRAP_SITE) {
            put(w, "      <site");
            mf_mjcf_reference(w, "site", MF_ITEM_SITE, wrap->object);
        } else {
            put(w, "      <geom");
            mf_mjcf_reference(w, "geom", MF_ITEM_SHAPE, wrap->object);
            if (wrap->side != MF_NONE)
                mf_mjcf_reference(w, "sidesite", MF_ITEM_SITE, wrap->side);
        }
        put(w, "/>\n");
    }
}

static void put_tendons(mf_MjcfWriter *w) {
    const mf_Model *model = w->model;
    put(w, "  <tendon>\n");
    for (uint32_t i = 0; i < model->tendon_count; i++) {
        const mf_Tendon *tendon = &model->tendons[i];
        const double spring[2] = {tendon->spring_lower, tendon->spring_upper};
        const char *kind = tendon->wrap_count > 0 ? "spatial" : "fixed";
        mf_text_format(&w->text, "    <%s", kind);
        mf_mjcf_reference(w, "name", MF_ITEM_TENDON, i);
        mf_mjcf_attributes(w, MF_ITEM_TENDON, tendon, "lower", "force_lower");
        numbers(w, "springlength", spring, 2);
        mf_mjcf_attributes(w, MF_ITEM_TENDON, tendon, "stiffness", "group");
        put(w, ">\n");
        for (uint32_t k = 0; k < tendon->term_count; k++) {
            const mf_TendonTerm *term = &model->tendon_terms[tendon->first_term + k];
            put(w, "      <joint");
            mf_mjcf_reference(w, "joint", MF_ITEM_JOINT, term->joint);
            mf_mjcf_attributes(w, MF_ITEM_TENDON_TERM, term, "coefficient", "coefficient");
            put(w, "/>\n");
        }
        put_path(w, tendon);
        mf_text_format(&w->text, "    </%s>\n", kind);
    }
    put(w, "  </tendon>\n");
}

static void put_ends(mf_MjcfWriter *w, const mf_Equality *equality) {
    bool weld = equality->type == MF_EQUALITY_WELD;
    if (equality->sites[0] != MF_NONE) {
        mf_mjcf_reference(w, "site1", MF_ITEM_SITE, equality->sites[0]);
        mf_mjcf_reference(w, "site2", MF_ITEM_SITE, equality->sites[1]);
    } else {
        mf_mjcf_reference(w, "body1", MF_ITEM_BODY, equality->objects[0]);
        mf_mjcf_reference(w, "body2", MF_ITEM_BODY, equality->objects[1]);
        numbers(w, "anchor", equality->anchor, 3);
        if (weld)
            numbers(w, "relpose", equality->relative, 7);
    }
    if (weld)
        number(w, "torquescale", equality->torque_scale);
}

static void put_equalities(mf_MjcfWriter *w) {
    const mf_ModelField *type = mf_item_field(MF_ITEM_EQUALITY, "type");
    const mf_Model *model = w->model;
    put(w, "  <equality>\n");
    for (uint32_t i = 0; i < model->equality_count; i++) {
        const mf_Equality *equality = &model->equalities[i];
        mf_text_format(&w->text, "    <%s", mf_item_enum_name(type, &equality->type));
        name(w, equality->name);
        mf_mjcf_attributes(w, MF_ITEM_EQUALITY, equality, "active", "softness");
        if (equality->type == MF_EQUALITY_CONNECT || equality->type == MF_EQUALITY_WELD) {
            put_ends(w, equality);
            put(w, "/>\n");
            continue;
        }
        bool joints = equality->type == MF_EQUALITY_JOINT;
        for (int k = 0; k < 2; k++) {
            uint32_t object = equality->objects[k];
            if (object == MF_NONE)
                continue;
            if (joints)
                mf_mjcf_reference(w, k ? "joint2" : "joint1", MF_ITEM_JOINT, object);
            else
                mf_mjcf_reference(w, k ? "tendon2" : "tendon1", MF_ITEM_TENDON, object);
        }
        numbers(w, "polycoef", equality->coefficients, 5);
        put(w, "/>\n");
    }
    put(w, "  </equality>\n");
}

// In the order of the file: each activation is followed by the last control if its rate is limited.
static void put_activations(mf_MjcfWriter *w, const mf_Keyframe *key) {
    bool any = false;
    for (uint32_t i = 0; i < w->model->actuator_count; i++) {
        const mf_Actuator *a = &w->model->actuators[i];
        const uint32_t at = a->activation_address;
        const double values[2] = {at != MF_NONE ? key->activation[at] : 0.0, key->control[i]};
        const bool has[2] = {at != MF_NONE, a->slew_limit > 0.0};
        for (int k = 0; k < 2; k++) {
            if (!has[k])
                continue;
            put(w, any ? " " : " act=\"");
            mf_text_format(&w->text, "%.17g", values[k]);
            any = true;
        }
    }
    if (any)
        put(w, "\"");
}

static void put_keyframes(mf_MjcfWriter *w) {
    const mf_Model *model = w->model;
    put(w, "  <keyframe>\n");
    for (uint32_t i = 0; i < model->keyframe_count; i++) {
        const mf_Keyframe *key = &model->keyframes[i];
        put(w, "    <key");
        name(w, key->name);
        number(w, "time", key->time);
        numbers(w, "qpos", key->position, model->position_count);
        numbers(w, "qvel", key->velocity, model->velocity_count);
        put_activations(w, key);
        if (model->actuator_count > 0)
            numbers(w, "ctrl", key->control, model->actuator_count);
        put(w, "/>\n");
    }
    put(w, "  </keyframe>\n");
}

mf_Status mf_model_export_mjcf(const mf_Model *model, const char *path, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(model != NULL, error, "mf_model_export_mjcf: model is NULL");
    mf_MjcfWriter w = {
        .model = model, .path = path, .text = mf_text_begin(model->context), .error = error};
    MF_CHECK(model->body_count != 0, error, MF_UNSUPPORTED,
             "model '%.200s': only models from MJCF can be written as MJCF", model->name);
    mf_Status status = mf_mjcf_check_sensors(model, error);
    if (status != MF_OK)
        return status;
    put(&w, "<mujoco");
    write_name(&w, "model", model->name);
    put(&w, ">\n");
    mf_mjcf_put_extensions(&w);
    put_option(&w);
    put_assets(&w);
    mf_mjcf_put_bodies(&w);
    put_contacts(&w);
    put_tendons(&w);
    put_equalities(&w);
    mf_mjcf_put_actuators(&w);
    mf_mjcf_put_sensors(&w);
    mf_mjcf_put_texts(&w);
    put_keyframes(&w);
    put(&w, "</mujoco>\n");
    status = w.status;
    if (status == MF_OK && w.text.failed)
        status = mf_fail(error, MF_NO_MEMORY, "model '%.200s': no memory", model->name);
    MF_THEN(status, mf_file_replace(model->context, path, w.text.data, w.text.size, error));
    mf_text_free(&w.text);
    return status;
}
