// Pictures of those that stand most densely (overview.h).
#include "camera/overview.h"

#include "camera/develop.h"

#include "math/scalar.h"
#include "model/shape_kinds.h"

#include <math.h>

#define AZIMUTH (-0.9) // [rad] of the direction from what it looks at to it, as on the page
#define ELEVATION 0.32 // [rad]
#define TALL 75.0      // [pixel] of a robot, at least
#define CENTERS 300u   // [1] robots that are tried
#define FIRST 1.15     // [1] how much more those of the first group count
#define ONE_SHAPE 0.1  // [1] how much a body of one shape counts
#define LEAST 0.25     // [1] height of what is shown, of that of the middle
#define USED 0.88      // [1] part of the picture that is filled
#define NEAREST 0.06   // [m] distance
#define GAP 0.1        // [1] of its height, within which something touches a robot

// What stands alone: a robot, or the particles of a group.
typedef struct Unit {
    const mf_RenderGroup *group;
    uint32_t instance;         // [1] MF_NONE: all of the group
    double lower[3], upper[3]; // [m]
    double weight;             // [1]
} Unit;

struct mf_Overview {
    mf_Context *context;
    Unit *units;
    uint32_t count;    // [1]
    double wide, high; // [1] tangents of the angles to the edges of the picture
    double farthest;   // [1] distance by height from which a robot is tall enough
    double middle[3];  // [m] what it looks at
    double offset[3];  // [m] to it from the mean of what is shown
    double away;       // [m]
    double part;       // [1] of the distance from which all that is shown fits
};

// ---- boxes -------------------------------------------------------------------------------------

static void add_ball(Unit *unit, const double at[3], double radius) {
    for (int c = 0; c < 3; c++) {
        unit->lower[c] = mf_smaller(unit->lower[c], at[c] - radius);
        unit->upper[c] = mf_larger(unit->upper[c], at[c] + radius);
    }
}

// Of vertices, or of one particle that is there.
static void add_vertices(Unit *unit, uint32_t instance, uint32_t count, double radius) {
    const mf_Visual *visual = &unit->group->visual;
    double at[3];
    if (visual->waiting != NULL && mf_render_value(visual->waiting, instance, 0) != 0.0)
        return;
    for (uint32_t v = 0; v < count; v++) {
        for (uint32_t c = 0; c < 3; c++)
            at[c] = mf_render_value(visual->position, instance, 3 * (size_t)v + c);
        if (mf_all_finite(at, 3))
            add_ball(unit, at, radius);
    }
}

// The box of a part's box, in the world.
static void add_part(Unit *unit, const mf_Shape *part, const mf_Model *model) {
    const mf_Mesh *mesh = part->type == MF_SHAPE_MESH ? &model->meshes[part->mesh] : NULL;
    double middle[3], half[3], pose[7], at[3], rotation[4], to_world[9];
    if (part->link == MF_NONE || !mf_shape_box(part->type, part->size, mesh, middle, half))
        return;
    for (uint32_t c = 0; c < 7; c++)
        pose[c] = mf_render_value(unit->group->pose, unit->instance, 7 * part->link + c);
    if (!mf_all_finite(pose, 7))
        return;
    mf_quat_rotate(at, part->rotation, middle);
    mf_vec3_add(at, at, part->position);
    mf_quat_rotate(middle, pose + 3, at);
    mf_vec3_add(middle, middle, pose);
    mf_quat_multiply(rotation, pose + 3, part->rotation);
    mf_quat_to_matrix(to_world, rotation);
    for (int c = 0; c < 3; c++) {
        double reach = 0.0;
        for (int k = 0; k < 3; k++)
            reach += mf_abs(to_world[3 * c + k]) * half[k];
        unit->lower[c] = mf_smaller(unit->lower[c], middle[c] - reach);
        unit->upper[c] = mf_larger(unit->upper[c], middle[c] + reach);
    }
}

// Measures the box; false: it is not there.
static bool measure(Unit *unit) {
    const mf_Visual *visual = &unit->group->visual;
    const uint32_t robot = unit->instance;
    uint32_t parts = 0;
    mf_vec3_set(unit->lower, INFINITY, INFINITY, INFINITY);
    mf_vec3_set(unit->upper, -INFINITY, -INFINITY, -INFINITY);
    switch (visual->kind) {
    case MF_VISUAL_PARTS:
        for (uint32_t i = 0; i < visual->part_count; i++) {
            mf_Shape part;
            if (!mf_visual_part(visual, robot, i, &part))
                continue;
            add_part(unit, &part, mf_group_model(unit->group->group));
            parts += part.link != MF_NONE;
        }
        break;
    case MF_VISUAL_BARS:
        add_vertices(unit, robot, (uint32_t)mf_render_value(visual->counts, robot, 0), 0.0);
        break;
    case MF_VISUAL_TRIANGLES:
        add_vertices(unit, robot, visual->surface.vertex_count, 0.0);
        break;
    case MF_VISUAL_POINTS:
        for (uint32_t i = 0; i < mf_group_count(unit->group->group); i++)
            add_vertices(unit, i, 1, visual->radius);
        break;
    }
    unit->weight = parts == 1 ? ONE_SHAPE : 1.0;
    return unit->lower[0] <= unit->upper[0];
}

static void middle_of(const Unit *unit, double out[3]) {
    for (int c = 0; c < 3; c++)
        out[c] = 0.5 * (unit->lower[c] + unit->upper[c]);
}

// [m] As tall as it is seen.
static double tall_of(const Unit *unit) {
    double size[3], sine, cosine;
    mf_vec3_sub(size, unit->upper, unit->lower);
    mf_sin_cos(ELEVATION, &sine, &cosine);
    return cosine * size[2] + 0.7 * sine * mf_sqrt(size[0] * size[0] + size[1] * size[1]);
}

// Lists all that is there, with or without what cannot move.
static void list(mf_Overview *overview, const mf_RenderScene *scene, uint32_t group,
                 uint32_t instance, bool scenery) {
    for (uint32_t g = 0; g < scene->group_count; g++) {
        const mf_RenderGroup *own = &scene->groups[g];
        const bool points = own->visual.kind == MF_VISUAL_POINTS;
        const uint32_t count = points ? 1 : mf_group_count(own->group);
        if (!scenery && mf_visual_is_scenery(&own->visual))
            continue;
        for (uint32_t i = 0; i < count; i++) {
            Unit unit = {.group = own, .instance = points ? MF_NONE : i};
            if ((!own->isolated || (own->number == group && i == instance)) && measure(&unit))
                overview->units[overview->count++] = unit;
        }
    }
}

// ---- the densest -------------------------------------------------------------------------------

static double distance_of(const Unit *a, const Unit *b) {
    double from[3], to[3];
    middle_of(a, from);
    middle_of(b, to);
    mf_vec3_sub(to, to, from);
    return mf_vec3_length(to);
}

// Half of the height of the picture in which `unit` is tall enough.
static double reach_of(const mf_Overview *overview, const Unit *unit) {
    return 0.9 * overview->high * overview->farthest * tall_of(unit);
}

static double score_of(const mf_Overview *overview, const Unit *middle) {
    const double reach = reach_of(overview, middle), tall = tall_of(middle);
    double sum = 0.0;
    for (uint32_t i = 0; i < overview->count; i++) {
        const Unit *unit = &overview->units[i];
        const double ratio = mf_smaller(1.0, tall_of(unit) / tall);
        if (unit == middle || distance_of(middle, unit) < reach)
            sum += unit->weight * ratio * ratio;
    }
    return middle->group == overview->units[0].group ? FIRST * sum : sum;
}

static bool touch(const Unit *a, const Unit *b) {
    bool near = true;
    for (int c = 0; c < 3; c++) {
        const double gap = GAP * mf_larger(a->upper[2] - a->lower[2], b->upper[2] - b->lower[2]);
        near = near && a->lower[c] < b->upper[c] + gap && b->lower[c] < a->upper[c] + gap;
    }
    return near;
}

static void show(mf_Overview *overview, uint32_t index) {
    const Unit unit = overview->units[index];
    overview->units[index] = overview->units[overview->count];
    overview->units[overview->count++] = unit;
}

// Keeps the densest, which come first then. Modules that touch one that is shown belong to it.
static void choose(mf_Overview *overview) {
    const uint32_t all = overview->count, every = (all + CENTERS - 1) / CENTERS;
    Unit best = overview->units[0];
    double most = 0.0;
    for (uint32_t i = 0; i < all; i += every) {
        const double score = score_of(overview, &overview->units[i]);
        if (score > 1.001 * most) {
            most = score;
            best = overview->units[i];
        }
    }
    const double tall = tall_of(&best), reach = reach_of(overview, &best);
    overview->count = 0;
    for (uint32_t i = 0; i < all; i++) {
        const double distance = distance_of(&best, &overview->units[i]);
        if (distance == 0.0 || (distance < reach && tall_of(&overview->units[i]) > LEAST * tall))
            show(overview, i);
    }
    for (uint32_t k = 0; k < overview->count; k++)
        for (uint32_t i = overview->count; i < all; i++)
            if (tall_of(&overview->units[i]) > LEAST * tall &&
                touch(&overview->units[i], &overview->units[k]))
                show(overview, i);
}

// ---- from where --------------------------------------------------------------------------------

// Unit vectors to the right, up, and to the camera.
static void axes_of(double axes[3][3]) {
    double c, s, f, e;
    mf_sin_cos(AZIMUTH, &s, &c);
    mf_sin_cos(ELEVATION, &f, &e);
    mf_vec3_set(axes[0], -s, c, 0.0);
    mf_vec3_set(axes[1], -c * f, -s * f, e);
    mf_vec3_set(axes[2], c * e, s * e, f);
}

// [m] From where all that is shown is in the picture, looking at `at`.
static double fit(const mf_Overview *overview, const double at[3]) {
    double axes[3][3], out = NEAREST;
    axes_of(axes);
    for (uint32_t i = 0; i < overview->count; i++)
        for (int k = 0; k < 8; k++) {
            const Unit *unit = &overview->units[i];
            double corner[3];
            for (int c = 0; c < 3; c++)
                corner[c] = (k >> c & 1 ? unit->upper : unit->lower)[c] - at[c];
            const double right = mf_abs(mf_vec3_dot(corner, axes[0])) / (USED * overview->wide);
            const double up = mf_abs(mf_vec3_dot(corner, axes[1])) / (USED * overview->high);
            out = mf_larger(out, mf_vec3_dot(corner, axes[2]) + mf_larger(right, up));
        }
    return out;
}

// The mean of the middles, the middle of the box around all, and the tallest.
static uint32_t survey(mf_Overview *overview, double mean[3], double middle[3], double *tall) {
    Unit all = {.lower = {INFINITY, INFINITY, INFINITY},
                .upper = {-INFINITY, -INFINITY, -INFINITY}};
    uint32_t there = 0;
    *tall = 0.0;
    mf_vec3_set(mean, 0.0, 0.0, 0.0);
    for (uint32_t i = 0; i < overview->count; i++) {
        Unit *unit = &overview->units[i];
        const Unit before = *unit;
        double own[3];
        if (!measure(unit)) {
            *unit = before;
            continue;
        }
        middle_of(unit, own);
        mf_vec3_add(mean, mean, own);
        add_ball(&all, unit->lower, 0.0);
        add_ball(&all, unit->upper, 0.0);
        *tall = mf_larger(*tall, tall_of(unit));
        there++;
    }
    mf_vec3_scale(mean, mean, there > 0 ? 1.0 / there : 0.0);
    if (there > 0)
        middle_of(&all, middle);
    return there;
}

static void direct(mf_Overview *overview) {
    double mean[3], tall;
    survey(overview, mean, overview->middle, &tall);
    mf_vec3_sub(overview->offset, overview->middle, mean);
    const double all = fit(overview, overview->middle), most = overview->farthest * tall;
    overview->away = overview->count > 1 ? mf_smaller(all, most) : all;
    overview->part = overview->away / all;
}

void mf_overview_follow(mf_Overview *overview, double part) {
    double mean[3], middle[3], tall, path[3];
    if (survey(overview, mean, middle, &tall) == 0)
        return;
    mf_vec3_add(mean, mean, overview->offset);
    mf_vec3_sub(path, mean, overview->middle);
    mf_vec3_add_scaled(overview->middle, overview->middle, part, path);
    const double target = overview->part * fit(overview, mean);
    overview->away += part * (mf_larger(target, overview->away) - overview->away);
    // What is fast does not leave the picture.
    const double reach = 0.5 * overview->away * mf_smaller(overview->wide, overview->high);
    mf_vec3_sub(path, mean, overview->middle);
    const double behind = mf_vec3_length(path);
    if (behind > reach)
        mf_vec3_add_scaled(overview->middle, overview->middle, 1.0 - reach / behind, path);
}

void mf_overview_pose(const mf_Overview *overview, double position[3], double rotation[4]) {
    double axes[3][3], yaw[4] = {0.0}, pitch[4] = {0.0};
    axes_of(axes);
    mf_vec3_add_scaled(position, overview->middle, overview->away, axes[2]);
    mf_sin_cos(0.5 * (AZIMUTH + MF_PI), &yaw[3], &yaw[0]);
    mf_sin_cos(0.5 * ELEVATION, &pitch[2], &pitch[0]);
    mf_quat_multiply(rotation, yaw, pitch);
}

// ---- creation ----------------------------------------------------------------------------------

mf_Status mf_overview_create(const mf_FreeCamera *eye, const mf_Camera *camera, uint32_t group,
                             uint32_t instance, mf_Overview **out, mf_Error *error) {
    const mf_RenderScene *scene = mf_free_camera_scene(eye);
    mf_Overview *overview = mf_allocate(scene->context, 1, sizeof *overview);
    size_t most = 1;
    *out = NULL;
    MF_NEED_MEMORY(overview != NULL, error, "overview");
    *overview = (mf_Overview){.context = scene->context,
                              .wide = 0.5 * camera->width / camera->focal[0],
                              .high = 0.5 * camera->height / camera->focal[1],
                              .farthest = camera->focal[1] / TALL};
    for (uint32_t g = 0; g < scene->group_count; g++)
        most += mf_group_count(scene->groups[g].group);
    overview->units = mf_allocate(scene->context, most, sizeof *overview->units);
    mf_Status status = overview->units != NULL ? MF_OK : mf_fail(error, MF_NO_MEMORY, "overview");
    if (status == MF_OK)
        list(overview, scene, group, instance, false);
    if (status == MF_OK && overview->count == 0)
        list(overview, scene, group, instance, true);
    if (status != MF_OK) {
        mf_overview_destroy(overview);
        return status;
    }
    if (overview->count > 0)
        choose(overview);
    direct(overview);
    *out = overview;
    return MF_OK;
}

void mf_overview_destroy(mf_Overview *overview) {
    if (overview == NULL)
        return;
    mf_release(overview->context, overview->units);
    mf_release(overview->context, overview);
}
