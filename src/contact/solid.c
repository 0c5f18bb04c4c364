// Solids that move on within a step (solid.h).
#include "contact/solid.h"
#include "math/scalar.h"

void mf_solid_after(mf_Solid *out, const mf_Solid *start, double time) {
    const double rate = mf_vec3_length(start->rate);
    *out = *start;
    mf_vec3_add_scaled(out->center, start->center, time, start->velocity);
    mf_vec3_add_scaled(out->low, start->low, time, start->velocity);
    mf_vec3_add_scaled(out->high, start->high, time, start->velocity);
    if (rate > 0.0) {
        double rotate[4], matrix[9];
        mf_quat_from_axis_angle(rotate, start->rate, rate * time);
        mf_quat_to_matrix(matrix, rotate);
        mf_mat3_multiply(out->rotation, matrix, start->rotation);
    }
}
