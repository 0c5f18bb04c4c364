// Docks of a model: defaults, ranges, a line on what one is, and which docks fit each other.
#include "base/floats.h"
#include "model/builder.h"

#include "math/scalar.h"

#include <math.h>
#include <string.h>

mf_Dock mf_dock(void) {
    mf_Dock dock;
    mf_item_reset(MF_ITEM_DOCK, &dock);
    return dock;
}

void mf_body_dock(mf_Builder *builder, mf_BodyId body, const mf_Dock *dock) {
    mf_builder_mount(builder, body, &mf_dock_kind, dock, "mf_body_dock");
}

#define AT_LEAST(member) #member, dock->member, 0.0, 1e12, "a number >= 0"
#define ABOVE(member) #member, dock->member, 0x1p-1074, (double)INFINITY, "a number > 0"

static mf_Status check(const void *item, const char *what, mf_Error *error) {
    const mf_Dock *dock = item;
    if (dock->name == NULL || *dock->name == '\0' || strlen(dock->name) > MF_MODEL_NAME_LIMIT)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s name: expected 1 .. 255 bytes", what);
    MF_NEED(dock->type != NULL && dock->fits != NULL && strchr(dock->type, ' ') == NULL, error,
            "%s type: expected one name, and `fits` a text", what);
    MF_NEED((unsigned)dock->gender <= MF_DOCK_FEMALE, error, "%s gender: %u does not exist", what,
            (unsigned)dock->gender);
    if (dock->orientations != 1 && dock->orientations != 2 && dock->orientations != 4)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s orientations: expected 1, 2 or 4, found %u",
                       what, dock->orientations);
    MF_TRY(mf_mounted_check_frame(&dock->frame, what, error));
    const mf_MountedRange rows[] = {{AT_LEAST(distance)},
                                    {AT_LEAST(angle)},
                                    {AT_LEAST(closing)},
                                    {AT_LEAST(failure)},
                                    {AT_LEAST(pull)},
                                    {AT_LEAST(range)},
                                    {AT_LEAST(stiffness)},
                                    {AT_LEAST(damping)},
                                    {AT_LEAST(angular_stiffness)},
                                    {AT_LEAST(angular_damping)},
                                    {ABOVE(tension)},
                                    {ABOVE(shear)},
                                    {ABOVE(bending)},
                                    {ABOVE(torsion)}};
    MF_TRY(mf_mounted_check_ranges(rows, sizeof rows / sizeof *rows, what, error));
    MF_NEED(dock->distance > 0.0 && dock->angle > 0.0 && dock->failure <= 1.0, error,
            "%s: expected tolerances distance and angle > 0 and failure <= 1", what);
    if (dock->pull > 0.0 && !(dock->range > 0.0))
        return mf_fail(error, MF_BAD_ARGUMENT, "%s range: a pull needs a range > 0", what);
    if ((dock->damping > 0.0 && !(dock->stiffness > 0.0)) ||
        (dock->angular_damping > 0.0 && !(dock->angular_stiffness > 0.0)))
        return mf_fail(error, MF_BAD_ARGUMENT, "%s: a damping needs a stiffness", what);
    return MF_OK;
}

static void put_limit(mf_Text *out, const char *what, double limit, const char *unit) {
    if (mf_is_finite(limit))
        mf_text_format(out, ", %s %.4g %s", what, limit, unit);
}

static void describe(mf_Text *out, const void *item) {
    const mf_Dock *dock = item;
    mf_text_format(out, "%s%s%s, %u orientation%s, within %.4g mm and %.4g rad",
                   mf_item_enum_name(mf_item_field(MF_ITEM_DOCK, "gender"), &dock->gender),
                   dock->type[0] != '\0' ? " " : "", dock->type, dock->orientations,
                   dock->orientations == 1 ? "" : "s", 1000.0 * dock->distance, dock->angle);
    if (dock->fits[0] != '\0')
        mf_text_format(out, ", fits %s", dock->fits);
    if (dock->pull > 0.0)
        mf_text_format(out, ", pulls %.4g N within %.4g mm", dock->pull, 1000.0 * dock->range);
    put_limit(out, "tension", dock->tension, "N");
    put_limit(out, "shear", dock->shear, "N");
    put_limit(out, "bending", dock->bending, "N m");
    put_limit(out, "torsion", dock->torsion, "N m");
    if (!dock->enabled)
        mf_text_put(out, ", not enabled at the start");
}

const mf_MountedKind mf_dock_kind = {
    .type = MF_ITEM_DOCK, .joins = true, .check = check, .describe = describe};

// ---- who fits whom ------------------------------------------------------------------------------

static bool accepts(const mf_Dock *dock, const mf_Dock *other) {
    return dock->fits[0] == '\0' ? strcmp(dock->type, other->type) == 0
                                 : mf_name_in_text(dock->fits, other->type);
}

bool mf_dock_fits(const mf_Dock *first, const mf_Dock *second) {
    MF_DEFAULT_FLOATS;
    if (first == NULL || second == NULL)
        return false;
    if (first->gender == second->gender && first->gender != MF_DOCK_BOTH)
        return false;
    return accepts(first, second) && accepts(second, first);
}
