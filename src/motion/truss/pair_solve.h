// Systems of trusses whose bars meet. A meeting couples four vertices that need not be close in the
// band, so the band holds a bound of it (hessian.h), and conjugate gradients correct the solution,
// with the factored band as preconditioner: after as many rounds as there are meetings it is exact,
// but for rounding. The product of the band with the search direction follows from the residuals.
#ifndef MF_MOTION_TRUSS_PAIR_SOLVE_H
#define MF_MOTION_TRUSS_PAIR_SOLVE_H

#include "motion/truss/hessian.h"

enum { MF_TRUSS_ROUNDS = 30 };

// Adds to `out` what the meetings are more than their bound, times `x`; both in the order of the
// matrix.
static MF_INLINE void pairs_product(const Frame *f, const mf_lane *x, mf_lane *out, bool same) {
    const mf_lane one = mf_set((mf_real)1), stiffness = f->spring;
    uint32_t at = 0;
    BarContact other;
    for (const BarContact *bar_contact;
         (bar_contact = bar_contacts_next(f, &at, &other, same)) != NULL;) {
        const ClosestPoints *m = &bar_contact->closest;
        mf_lane share[4], along[4], sum = mf_zero();
        End end[4];
        for (int e = 0; e < 4; e++) {
            mf_lane t = m->share[e / 2];
            share[e] = e % 2 != 0 ? t : one - t;
            end[e] = end_in_rows(
                &f->bar[e / 2 != 0 ? bar_contact->second : bar_contact->first].ends[e % 2]);
            along[e] = vec_dot(vertex_get((const Vec *)(const void *)x, &end[e], same), m->normal);
            sum = mf_fma(e / 2 != 0 ? share[e] : -share[e], along[e], sum);
        }
        for (int e = 0; e < 4; e++) {
            mf_lane exact = e / 2 != 0 ? sum : -sum;
            mf_lane size = stiffness * share[e] * (exact - (along[e] + along[e]));
            vertex_add((Vec *)(void *)out, &end[e], same, bar_contact->deep,
                       vec_scale(m->normal, size));
        }
    }
}

static MF_INLINE mf_lane rows_dot(const mf_lane *a, const mf_lane *b, uint32_t rows) {
    mf_lane sum = mf_zero();
    for (uint32_t r = 0; r < rows; r++)
        sum = mf_fma(a[r], b[r], sum);
    return sum;
}

// Solves the system with the right-hand side f->step into f->step, for the lanes `where`, in which
// bars meet where `meets` holds. The others get the band's own solution, so that their bits do not
// depend on those.
static __attribute__((noinline)) void solve_with_pairs(const Frame *f, const Band *factor,
                                                       mf_mask where, mf_mask touching_bars) {
    const uint32_t rows = factor->rows;
    const size_t bytes = rows * sizeof(mf_lane);
    mf_lane *z = f->image; // the preconditioned residual, then the product
    memcpy(f->rest, f->step, bytes);
    memcpy(z, f->rest, bytes);
    band_solve(factor, f->inverse, z);
    memcpy(f->search, z, bytes);
    for (uint32_t r = 0; r < rows; r++)
        f->step[r] = mf_select(touching_bars, mf_zero(), z[r]);
    where = mf_and(where, touching_bars);
    mf_lane energy = rows_dot(f->rest, z, rows);
    const mf_lane enough = energy * mf_set((mf_real)1e-12);
    // band * search, kept beside it
    mf_lane *band_search = f->product;
    memcpy(band_search, f->rest, bytes);
    for (int round = 0; round < MF_TRUSS_ROUNDS && mf_any(where); round++) {
        memcpy(z, band_search, bytes);
        if (f->same)
            pairs_product(f, f->search, z, true);
        else
            pairs_product(f, f->search, z, false);
        mf_lane curve = rows_dot(f->search, z, rows);
        where = mf_and(where, mf_less(mf_zero(), curve));
        mf_lane length = mf_keep(where, energy / mf_select(where, curve, mf_set((mf_real)1)));
        for (uint32_t r = 0; r < rows; r++) {
            f->step[r] = mf_fma(length, f->search[r], f->step[r]);
            f->rest[r] = mf_fma(-length, z[r], f->rest[r]);
        }
        memcpy(z, f->rest, bytes);
        band_solve(factor, f->inverse, z);
        mf_lane next = rows_dot(f->rest, z, rows);
        where = mf_and(where, mf_less(enough, next));
        mf_lane share = mf_keep(where, next / mf_select(where, energy, mf_set((mf_real)1)));
        for (uint32_t r = 0; r < rows; r++) {
            f->search[r] = mf_fma(share, f->search[r], z[r]);
            band_search[r] = mf_fma(share, band_search[r], f->rest[r]);
        }
        energy = next;
    }
}

#endif
