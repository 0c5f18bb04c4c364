// The kernel of a fluid and its integrals over what is beyond a plane, as polynomials in
// y = 1 - r/R, or 1 - d/R for a plane at the distance d (shape.h).
//
// With F = K f(y): W = K R^2 A(y), where A' = (1 - y) f; over a plane the integral of W is
// 2 pi K R^4 B(y), where B' = (1 - y) A; over the half-space behind it 2 pi K R^5 C(y), where
// C' = B; and that of F 2 pi K R^3 D(y), where D' = A.
#include "motion/particle/shape.h"

#include "math/scalar.h"

#include <string.h>

enum { POWERS = 12 };

typedef struct Poly {
    double of[POWERS]; // [1] coefficient of each power of y
} Poly;

// [1] Of F: a compromise. At a spacing of R / 2 the sum of W changes less with the shear of a
// lattice than with the kernel of Wendland, 0, 0, 1 (docs/explanation/particles.md). Their sum
// is 1.
static const double force_terms[3] = {0.05, 0.2, 0.75};

// Times 1 - y.
static Poly times_rest(Poly a) {
    Poly out = a;
    for (int n = 1; n < POWERS; n++)
        out.of[n] -= a.of[n - 1];
    return out;
}

// From 0 to y.
static Poly integral(Poly a) {
    Poly out = {{0.0}};
    for (int n = 1; n < POWERS; n++)
        out.of[n] = a.of[n - 1] / n;
    return out;
}

static double at_one(Poly a) {
    double sum = 0.0;
    for (int n = 0; n < POWERS; n++)
        sum += a.of[n];
    return sum;
}

static void store(double *out, int count, double scale, Poly a, int power) {
    for (int n = 0; n < count; n++)
        out[n] = scale * a.of[power + n];
}

// The sum over a cubic lattice, whose density is that at rest.
static double lattice_sum(const mf_FluidShape *shape, double reach) {
    const int most = (int)reach + 1;
    double sum = 0.0;
    for (int z = -most; z <= most; z++)
        for (int y = -most; y <= most; y++)
            for (int x = -most; x <= most; x++) {
                const double r = mf_sqrt((double)(x * x + y * y + z * z));
                const double near = r < reach ? 1.0 - r / reach : 0.0;
                sum += near * (shape->force[0] + near * (shape->force[1] + near * shape->force[2]));
            }
    return sum;
}

void mf_fluid_shape_fit(mf_FluidShape *shape, double spacing, double reach) {
    const double cube = reach * reach * reach;
    memcpy(shape->force, force_terms, sizeof force_terms);
    Poly force = {{0.0}};
    for (int n = 0; n < 3; n++)
        force.of[1 + n] = shape->force[n];
    const Poly kernel = integral(times_rest(force)), plane = integral(times_rest(kernel));
    shape->gradient = 1.0 / (4.0 * MF_PI * cube * reach * reach *
                             at_one(integral(times_rest(times_rest(kernel)))));
    const double scale = 2.0 * MF_PI * shape->gradient * cube;
    store(shape->plane, MF_SHAPE_TERMS, scale * reach, plane, 3);
    store(shape->space, MF_SHAPE_TERMS, scale * reach * reach, integral(plane), 4);
    store(shape->shear, MF_SHAPE_TERMS, scale, integral(kernel), 3);
    shape->share = 1.0 / lattice_sum(shape, reach / spacing);
}
