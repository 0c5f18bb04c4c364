// A cloth as the model of a group: one link with its mass about its center, and a point below it
// where it lies.
#include "math/scalar.h"
#include "base/floats.h"
#include "model/cloth.h"
#include "model/draft.h"
#include "model/points.h"

// Mass and inertia of point masses about the center of mass.
static void sum_masses(const mf_Cloth *cloth, const double *mass, mf_MassProperties *out) {
    static const int rows[6] = {0, 1, 2, 0, 0, 1}, columns[6] = {0, 1, 2, 1, 2, 2};
    double center[3], at[3];
    *out = (mf_MassProperties){0};
    mf_cloth_center(cloth, center);
    for (uint32_t v = 0; v < mf_cloth_vertex_count(cloth); v++) {
        mf_cloth_vertex(cloth, v, at);
        mf_vec3_sub(at, at, center);
        out->mass += mass[v];
        for (int i = 0; i < 6; i++)
            out->inertia[i] += mass[v] * ((rows[i] == columns[i] ? mf_vec3_dot(at, at) : 0.0) -
                                          at[rows[i]] * at[columns[i]]);
    }
}

static bool fill(mf_Draft *draft, const mf_Cloth *cloth, const mf_MassProperties *whole) {
    double position[4][3], center[3];
    mf_mass_to_points(position, 4, whole);
    mf_cloth_center(cloth, center);
    draft->name = mf_draft_text(draft, cloth->name != NULL ? cloth->name : "cloth");
    draft->file = "";
    if (draft->name == NULL || mf_draft_add_link(draft, draft->name) == NULL)
        return false;
    for (int i = 0; i < 4; i++)
        if (mf_draft_add_point(draft, 0, position[i], whole->mass / 4, false, mf_gray) == NULL)
            return false;
    const double foot[3] = {0.0, 0.0, mf_cloth_lowest(cloth) - center[2]};
    return mf_draft_add_point(draft, 0, foot, 0.0, true, mf_gray) != NULL;
}

mf_Status mf_cloth_model(mf_Context *context, const mf_Cloth *cloth, mf_Model **out,
                         mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (context == NULL || out == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "mf_cloth_model: an argument is NULL");
    *out = NULL;
    mf_Status status = mf_cloth_check(cloth, error);
    if (status != MF_OK)
        return status;
    double *mass = mf_allocate(context, mf_cloth_vertex_count(cloth), sizeof *mass);
    if (mass == NULL)
        return mf_fail(error, MF_NO_MEMORY, "cloth: out of memory");
    mf_MassProperties whole;
    mf_cloth_masses(cloth, mass);
    sum_masses(cloth, mass, &whole);
    mf_release(context, mass);
    mf_Draft draft;
    mf_draft_start(&draft, context);
    status = fill(&draft, cloth, &whole) ? mf_draft_freeze(&draft, out, error)
                                         : mf_fail(error, MF_NO_MEMORY, "cloth: out of memory");
    mf_draft_release(&draft);
    return status;
}
