// Docks of a model: defaults, ranges, and which fit each other.
#include "model/dock.h"
#include "model/draft.h"
#include "base/floats.h"

#include "math/scalar.h"

#include <math.h>
#include <string.h>

static const double most = 1e12; // [1] of any number but limits

mf_Dock mf_dock(void) {
    mf_Dock dock;
    mf_item_reset(MF_ITEM_DOCK, &dock);
    return dock;
}

// ---- checks -------------------------------------------------------------------------------------

static mf_Status check_numbers(const mf_Dock *dock, const char *what, mf_Error *error) {
    const struct {
        const char *name;
        double value;
        bool above; // > 0, may be infinite
    } rows[] = {
        {"distance", dock->distance, false},
        {"angle", dock->angle, false},
        {"closing", dock->closing, false},
        {"failure", dock->failure, false},
        {"pull", dock->pull, false},
        {"range", dock->range, false},
        {"stiffness", dock->stiffness, false},
        {"damping", dock->damping, false},
        {"angular_stiffness", dock->angular_stiffness, false},
        {"angular_damping", dock->angular_damping, false},
        {"tension", dock->tension, true},
        {"shear", dock->shear, true},
        {"bending", dock->bending, true},
        {"torsion", dock->torsion, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].above ? !(rows[i].value > 0.0)
                          : !(rows[i].value >= 0.0 && rows[i].value <= most))
            return mf_fail(error, MF_BAD_ARGUMENT, "%s %s: expected a number %s 0, found %g", what,
                           rows[i].name, rows[i].above ? ">" : ">=", rows[i].value);
    return MF_OK;
}

mf_Status mf_dock_check(const mf_Dock *dock, const char *what, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (dock == NULL || what == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "mf_dock_check: dock or what is NULL");
    if (dock->name == NULL || *dock->name == '\0' || strlen(dock->name) > MF_MODEL_NAME_LIMIT)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s name: expected 1 .. 255 bytes", what);
    if (dock->type == NULL || dock->fits == NULL || strchr(dock->type, ' ') != NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s type: expected one name, and `fits` a text",
                       what);
    if ((unsigned)dock->gender > MF_DOCK_FEMALE)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s gender: %u does not exist", what,
                       (unsigned)dock->gender);
    if (dock->orientations != 1 && dock->orientations != 2 && dock->orientations != 4)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s orientations: expected 1, 2 or 4, found %u",
                       what, dock->orientations);
    const double *q = dock->frame.rotation;
    const double size = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    if (!mf_all_finite(dock->frame.position, 3) || !(size > 0.98 && size < 1.02))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "%s frame: expected finite numbers and a quaternion of length 1", what);
    MF_TRY(check_numbers(dock, what, error));
    if (!(dock->distance > 0.0) || !(dock->angle > 0.0) || !(dock->failure <= 1.0))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "%s: expected tolerances distance and angle > 0 and failure <= 1", what);
    if (dock->pull > 0.0 && !(dock->range > 0.0))
        return mf_fail(error, MF_BAD_ARGUMENT, "%s range: a pull needs a range > 0", what);
    if ((dock->damping > 0.0 && !(dock->stiffness > 0.0)) ||
        (dock->angular_damping > 0.0 && !(dock->angular_stiffness > 0.0)))
        return mf_fail(error, MF_BAD_ARGUMENT, "%s: a damping needs a stiffness", what);
    return MF_OK;
}

// ---- who fits whom ------------------------------------------------------------------------------

// Whether `name` is one of those in `list`, which have spaces between them.
static bool lists(const char *list, const char *name) {
    const size_t size = strlen(name);
    while (*list != '\0') {
        list += strspn(list, " ");
        const size_t own = strcspn(list, " ");
        if (own > 0 && own == size && memcmp(list, name, size) == 0)
            return true;
        list += own;
    }
    return false;
}

static bool accepts(const mf_Dock *dock, const mf_Dock *other) {
    return dock->fits[0] == '\0' ? strcmp(dock->type, other->type) == 0
                                 : lists(dock->fits, other->type);
}

bool mf_dock_fits(const mf_Dock *first, const mf_Dock *second) {
    MF_DEFAULT_FLOATS;
    if (first == NULL || second == NULL)
        return false;
    if (first->gender == second->gender && first->gender != MF_DOCK_BOTH)
        return false;
    return accepts(first, second) && accepts(second, first);
}

// ---- in drafts ----------------------------------------------------------------------------------

mf_Status mf_draft_add_dock(mf_Draft *draft, const mf_Dock *dock, const char *what,
                            mf_Error *error) {
    const mf_Dock *others = draft->docks.items;
    MF_TRY(mf_dock_check(dock, what, error));
    for (uint32_t i = 0; i < draft->docks.count; i++)
        if (strcmp(others[i].name, dock->name) == 0)
            return mf_fail(error, MF_BAD_ARGUMENT, "%s: two docks are named '%.100s'", what,
                           dock->name);
    mf_Dock copy = *dock;
    mf_quat_normalize(copy.frame.rotation);
    return mf_draft_add(draft, MF_ITEM_DOCK, &copy) != NULL
               ? MF_OK
               : mf_fail(error, MF_NO_MEMORY, "%s: no memory", what);
}
