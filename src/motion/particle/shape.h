// The kernel of a fluid: its gradient is F x with F = K y (f0 + f1 y + f2 y^2), y = 1 - r/R.
#pragma once

enum { MF_SHAPE_TERMS = 5 };

typedef struct mf_FluidShape {
    double gradient; // [1/m^5] K
    double share;    // [1] of a neighbor in the density: F / K times this
    double force[3]; // [1] f; their sum is 1
    // What is beyond a plane at the distance d, with y = 1 - d/R: polynomials times y^3, y^4, y^3.
    double plane[MF_SHAPE_TERMS]; // [1/m] W over the plane
    double space[MF_SHAPE_TERMS]; // [1] W over the half-space behind it
    double shear[MF_SHAPE_TERMS]; // [1/m^2] F over the half-space
} mf_FluidShape;

// For particles whose lattice at rest has this spacing [m], and a reach R [m].
void mf_fluid_shape_fit(mf_FluidShape *shape, double spacing, double reach);
