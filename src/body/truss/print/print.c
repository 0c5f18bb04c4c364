// Trusses as parts to print: settings, parts, equal parts, the assembled machine.
#include "math/scalar.h"
#include "base/floats.h"
#include "body/truss/print/part.h"
#include "motion/truss/model.h"

#include <stdio.h>
#include <string.h>

mf_PrintConfig mf_print_config(void) {
    return (mf_PrintConfig){.struct_size = sizeof(mf_PrintConfig),
                            .scale = 1.0,
                            .ball_diameter = 0.008,
                            .neck_diameter = 0.004,
                            .neck_length = 0.003,
                            .clearance = 0.0003,
                            .wall = 0.0016,
                            .opening = 1.05,
                            .body_diameter = 0.012,
                            .body_length = 0.03,
                            .rod_diameter = 0.004,
                            .rod_length = 0.01,
                            .stroke = 0.02,
                            .seat_depth = 0.008,
                            .seat_clearance = 0.0002,
                            .build_volume = {0.2, 0.2, 0.2},
                            .segments = 48};
}

// ---- settings ----------------------------------------------------------------------------------

static mf_Status check_lengths(const mf_PrintConfig *c, mf_Error *error) {
    const struct {
        const char *name;
        double value;
    } lengths[] = {{"ball_diameter", c->ball_diameter},
                   {"neck_diameter", c->neck_diameter},
                   {"neck_length", c->neck_length},
                   {"clearance", c->clearance},
                   {"wall", c->wall},
                   {"body_diameter", c->body_diameter},
                   {"body_length", c->body_length},
                   {"rod_diameter", c->rod_diameter},
                   {"rod_length", c->rod_length},
                   {"stroke", c->stroke},
                   {"seat_depth", c->seat_depth},
                   {"seat_clearance", c->seat_clearance},
                   {"build_volume[0]", c->build_volume[0]},
                   {"build_volume[1]", c->build_volume[1]},
                   {"build_volume[2]", c->build_volume[2]}};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        MF_NEED(lengths[i].value >= 1e-5 && lengths[i].value <= 10.0, error,
                "print.%s: %g m, expected 1e-5 .. 10 m", lengths[i].name, lengths[i].value);
    }
    return MF_OK;
}

static mf_Status check_joint(const mf_PrintConfig *c, mf_Error *error) {
    const double ball = 0.5 * c->ball_diameter, cavity = ball + c->clearance;
    double sine;
    if (!(c->scale >= 1e-3 && c->scale <= 1e3))
        return mf_fail(error, MF_BAD_ARGUMENT, "print.scale: %g, expected 1e-3 .. 1e3", c->scale);
    MF_NEED(c->segments >= 12 && c->segments <= 128, error,
            "print.segments: %u, expected 12 .. 128", c->segments);
    MF_NEED(c->opening >= 0.3 && c->opening <= 1.5, error,
            "print.opening: %g rad, expected 0.3 .. 1.5", c->opening);
    mf_sin_cos(c->opening, &sine, NULL);
    MF_NEED(cavity * sine < ball, error,
            "print.opening: %g rad leaves a hole of %.4g m, which does not hold a ball of %.4g m",
            c->opening, 2.0 * cavity * sine, c->ball_diameter);
    MF_NEED(0.5 * c->neck_diameter < 0.95 * cavity * sine && c->neck_diameter < c->ball_diameter,
            error, "print.neck_diameter: %g m does not pass an opening of %.4g m", c->neck_diameter,
            2.0 * cavity * sine);
    MF_NEED(c->seat_depth < c->body_length && c->seat_depth < c->rod_length, error,
            "print.seat_depth: %g m, expected less than body_length and rod_length", c->seat_depth);
    MF_NEED(c->rod_diameter < c->body_diameter, error,
            "print.rod_diameter: %g m, expected less than body_diameter", c->rod_diameter);
    return MF_OK;
}

// ---- parts -------------------------------------------------------------------------------------

// Lays the bar along x and moves the solid to the planes x, y, z = 0.
static void lay_down(mf_PrintPart *part) {
    mf_PrintSolid *solid = &part->solid;
    double low[3] = {1e300, 1e300, 1e300}, high[3] = {-1e300, -1e300, -1e300};
    for (uint32_t v = 0; v < solid->vertex_count; v++) {
        double *at = &solid->vertices[3 * (size_t)v];
        mf_vec3_set(at, at[2], at[0], at[1]);
        for (int i = 0; i < 3; i++) {
            low[i] = at[i] < low[i] ? at[i] : low[i];
            high[i] = at[i] > high[i] ? at[i] : high[i];
        }
    }
    for (uint32_t v = 0; v < solid->vertex_count; v++)
        mf_vec3_sub(&solid->vertices[3 * (size_t)v], &solid->vertices[3 * (size_t)v], low);
    mf_vec3_sub(part->box, high, low);
    part->length = part->box[0];
}

// The solid takes the memory of the draft.
static mf_PrintSolid take_solid(mf_SolidDraft *draft) {
    const mf_PrintSolid solid = {draft->vertices, draft->triangles, draft->vertex_count,
                                 draft->triangle_count};
    draft->vertices = NULL;
    draft->triangles = NULL;
    return solid;
}

static void sort_three(double out[3], const double in[3]) {
    memcpy(out, in, 3 * sizeof *out);
    for (int i = 0; i < 3; i++) {
        const int a = i == 1 ? 1 : 0;
        if (out[a] > out[a + 1]) {
            const double larger = out[a];
            out[a] = out[a + 1];
            out[a + 1] = larger;
        }
    }
}

// Parts may be turned by right angles.
static mf_Status check_volume(const mf_PrintPart *part, const mf_PrintConfig *c, mf_Error *error) {
    double box[3], space[3];
    sort_three(box, part->box);
    sort_three(space, c->build_volume);
    if (box[0] <= space[0] && box[1] <= space[1] && box[2] <= space[2])
        return MF_OK;
    return mf_fail(
        error, MF_UNSUPPORTED,
        "bars[%u]: the part %s is %.4g x %.4g x %.4g m, the build volume %.4g x %.4g x %.4g m",
        part->bar, part->name, part->box[0], part->box[1], part->box[2], c->build_volume[0],
        c->build_volume[1], c->build_volume[2]);
}

static bool same_shape(const mf_PrintSolid *a, const mf_PrintSolid *b) {
    if (a->vertex_count != b->vertex_count || a->triangle_count != b->triangle_count ||
        memcmp(a->triangles, b->triangles, 3 * sizeof *a->triangles * a->triangle_count) != 0)
        return false;
    for (size_t i = 0; i < 3 * (size_t)a->vertex_count; i++) {
        if (mf_abs(a->vertices[i] - b->vertices[i]) > 1e-6)
            return false;
    }
    return true;
}

static void find_same(mf_Print *print, uint32_t index) {
    mf_PrintPart *part = &print->parts[index];
    part->same_as = index;
    for (uint32_t i = 0; i < index; i++) {
        const mf_PrintPart *other = &print->parts[i];
        if (other->same_as == i && other->kind == part->kind &&
            same_shape(&other->solid, &part->solid)) {
            part->same_as = i;
            return;
        }
    }
}

static mf_Status add_part(mf_Print *print, const mf_JointPlan *plan, uint32_t bar,
                          mf_PrintKind kind, mf_Error *error) {
    static const char *const patterns[] = {"bar_%u", "actuator_%u_body", "actuator_%u_rod"};
    mf_PrintPart *part = &print->parts[print->part_count];
    const bool first = kind != MF_PRINT_ROD_SEAT, second = kind != MF_PRINT_BODY_SEAT;
    mf_SolidDraft draft = mf_solid_begin(print->context, print->config.segments);
    mf_Status status =
        mf_part_draw(&draft, plan, bar, mf_bar_length(plan, bar), first, second, error);
    if (status != MF_OK) {
        mf_solid_free(&draft);
        return status;
    }
    char name[sizeof part->name];
    snprintf(name, sizeof name, patterns[kind], bar);
    memcpy(part->name, name, sizeof name);
    part->kind = kind;
    part->bar = bar;
    part->sockets =
        (first ? mf_part_sockets(plan, bar, 0) : 0) + (second ? mf_part_sockets(plan, bar, 1) : 0);
    part->diameter = 2.0 * plan->ends[2 * (size_t)bar + (first ? 0 : 1)].radius;
    part->volume = mf_solid_volume(&draft);
    part->mass = part->volume * plan->truss->material.density;
    part->solid = take_solid(&draft);
    lay_down(part);
    find_same(print, print->part_count++);
    print->material_mass += part->mass;
    return check_volume(part, &print->config, error);
}

static mf_Status add_parts(mf_Print *print, const mf_JointPlan *plan, mf_Error *error) {
    for (uint32_t b = 0; b < plan->truss->bar_count; b++) {
        const bool drives = plan->actuators[b] != MF_NONE;
        MF_TRY(add_part(print, plan, b, drives ? MF_PRINT_BODY_SEAT : MF_PRINT_BAR, error));
        if (drives)
            MF_TRY(add_part(print, plan, b, MF_PRINT_ROD_SEAT, error));
    }
    return MF_OK;
}

// ---- the assembled machine ---------------------------------------------------------------------

static mf_Status assemble_bar(mf_SolidDraft *whole, const mf_JointPlan *plan, uint32_t bar,
                              mf_Error *error) {
    const mf_Truss *truss = plan->truss;
    double origin[3], axis[3], to[3];
    mf_vec3_scale(origin, truss->vertices[truss->bars[bar].ends[0]].position, plan->config->scale);
    mf_vec3_scale(to, truss->vertices[truss->bars[bar].ends[1]].position, plan->config->scale);
    mf_vec3_sub(axis, to, origin);
    const double span = mf_vec3_length(axis);
    mf_vec3_normalize(axis);
    const mf_SolidFrame frame = mf_solid_frame(origin, axis);
    mf_SolidDraft part = mf_solid_begin(whole->context, whole->segments);
    const bool drives = plan->actuators[bar] != MF_NONE;
    mf_Status status = mf_part_draw(&part, plan, bar, span, true, !drives, error);
    if (status == MF_OK && drives)
        status = mf_part_draw(&part, plan, bar, span, false, true, error);
    if (status == MF_OK && drives)
        mf_part_draw_actuator(&part, plan, bar, span);
    whole->failed = whole->failed || part.failed;
    if (status == MF_OK)
        mf_solid_append(whole, &frame, &part);
    mf_solid_free(&part);
    return status;
}

static mf_Status assemble(mf_Print *print, const mf_JointPlan *plan, mf_Error *error) {
    mf_SolidDraft whole = mf_solid_begin(print->context, print->config.segments);
    mf_Status status = MF_OK;
    for (uint32_t b = 0; b < plan->truss->bar_count && status == MF_OK; b++)
        status = assemble_bar(&whole, plan, b, error);
    if (status == MF_OK && whole.failed)
        status = mf_fail(error, MF_NO_MEMORY, "print: out of memory");
    if (status == MF_OK)
        print->assembly = take_solid(&whole);
    mf_solid_free(&whole);
    return status;
}

static mf_Status draw(mf_Print *print, const mf_Truss *truss, mf_Error *error) {
    mf_JointPlan plan;
    MF_TRY(mf_joint_plan(print->context, truss, &print->config, &plan, error));
    print->tilt =
        plan.lip - mf_atan2(plan.neck, mf_sqrt(plan.cavity * plan.cavity - plan.neck * plan.neck));
    print->actuator_count = truss->actuator_count;
    const char *material = mf_truss_material_name(&truss->material);
    if (material != NULL)
        snprintf(print->material, sizeof print->material, "%s", material);
    else
        snprintf(print->material, sizeof print->material, "%g kg/m^3", truss->material.density);
    print->parts = mf_allocate(print->context, (size_t)truss->bar_count + truss->actuator_count,
                               sizeof *print->parts);
    mf_Status status = print->parts != NULL ? add_parts(print, &plan, error)
                                            : mf_fail(error, MF_NO_MEMORY, "print: out of memory");
    MF_THEN(status, assemble(print, &plan, error));
    mf_joint_plan_free(&plan);
    return status;
}

mf_Status mf_print_create(mf_Context *context, const mf_Truss *truss, const mf_PrintConfig *config,
                          mf_Print **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (context == NULL || truss == NULL || config == NULL || out == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "print: an argument is NULL");
    *out = NULL;
    MF_NEED(config->struct_size == sizeof *config, error, "print: start from mf_print_config()");
    MF_TRY(mf_truss_check(truss, error));
    MF_TRY(check_lengths(config, error));
    MF_TRY(check_joint(config, error));
    MF_CHECK(truss->bar_count != 0, error, MF_UNSUPPORTED, "print: the truss has no bars");
    mf_Print *print = mf_allocate(context, 1, sizeof *print);
    MF_NEED_MEMORY(print != NULL, error, "print");
    print->context = context;
    print->config = *config;
    mf_Status status = draw(print, truss, error);
    if (status != MF_OK)
        mf_print_destroy(print);
    else
        *out = print;
    return status;
}

void mf_print_destroy(mf_Print *print) {
    if (print == NULL)
        return;
    for (uint32_t i = 0; i < print->part_count; i++) {
        mf_release(print->context, print->parts[i].solid.vertices);
        mf_release(print->context, print->parts[i].solid.triangles);
    }
    mf_release(print->context, print->parts);
    mf_release(print->context, print->assembly.vertices);
    mf_release(print->context, print->assembly.triangles);
    mf_release(print->context, print);
}
