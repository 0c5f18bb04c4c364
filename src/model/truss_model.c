// A truss as the model of a group: one link with its mass about its center, and a point below it
// where it stands.
#include "math/scalar.h"
#include "base/floats.h"
#include "model/draft.h"
#include "model/points.h"
#include "model/truss.h"

static bool fill(mf_Draft *draft, const mf_Truss *truss, const mf_TrussMass *whole) {
    mf_MassProperties mass = {.mass = whole->mass};
    double position[4][3];
    memcpy(mass.inertia, whole->inertia, sizeof mass.inertia);
    mf_mass_to_points(position, 4, &mass);
    draft->name = mf_draft_text(draft, truss->name != NULL ? truss->name : "truss");
    draft->file = "";
    if (draft->name == NULL || mf_draft_add_link(draft, draft->name) == NULL)
        return false;
    for (int i = 0; i < 4; i++) {
        if (mf_draft_add_point(draft, 0, position[i], whole->mass / 4, false, mf_gray) == NULL)
            return false;
    }
    const double foot[3] = {0.0, 0.0, mf_truss_lowest(truss) - whole->center[2]};
    if (mf_draft_add_point(draft, 0, foot, 0.0, true, mf_gray) == NULL)
        return false;
    return true;
}

mf_Status mf_truss_model(mf_Context *context, const mf_Truss *truss, mf_Model **out,
                         mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (context == NULL || out == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "mf_truss_model: an argument is NULL");
    *out = NULL;
    mf_Status status = mf_truss_check(truss, error);
    if (status != MF_OK)
        return status;
    const mf_TrussMass whole = mf_truss_mass(truss);
    if (!(whole.mass >= 1e-9))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "material.density: the truss weighs %g kg, need 1e-9", whole.mass);
    mf_Draft draft;
    mf_draft_start(&draft, context);
    status = fill(&draft, truss, &whole) ? mf_draft_freeze(&draft, out, error)
                                         : mf_fail(error, MF_NO_MEMORY, "truss: out of memory");
    mf_draft_release(&draft);
    return status;
}
