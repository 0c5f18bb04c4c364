// Softness of constraints (softness.h).
#include "contact/softness.h"
#include "math/scalar.h"
#include "model/draft.h"

#define LEAST 1e-4 // [1] impedances keep this distance from 0 and 1, as MuJoCo's do

double mf_softness_clip(double z) {
    return mf_clamp(z, LEAST, 1.0 - LEAST);
}

bool mf_softness_is_stated(const mf_Softness *softness) {
    const mf_Softness none = mf_softness();
    bool stated = false;
    for (int i = 0; i < 2; i++)
        stated = stated || softness->reference[i] < none.reference[i] ||
                 softness->reference[i] > none.reference[i];
    for (int i = 0; i < 5; i++)
        stated = stated || softness->impedance[i] < none.impedance[i] ||
                 softness->impedance[i] > none.impedance[i];
    return stated;
}

void mf_softness_reference(const mf_Softness *softness, double step, bool safe, double *k,
                           double *b) {
    const double widest = mf_softness_clip(softness->impedance[1]);
    double time = softness->reference[0], ratio = softness->reference[1];
    if (time > 0.0) {
        if (safe)
            time = time > 2.0 * step ? time : 2.0 * step;
        double slow = widest * time * ratio;
        *k = 1.0 / (slow * slow);
        *b = 2.0 / (widest * time);
    } else {
        *k = -time / (widest * widest);
        *b = -ratio / widest;
    }
    // The ends of what float can solve; no file means more. A ratio of 0 is the upper. What acts is
    // at most the widest impedance times k and b, and a file may have much k because that is small.
    *k = mf_clamp(*k, 0.0, 100.0 / (widest * widest * step * step));
    *b = mf_clamp(*b, 0.0, 10.0 / (widest * step));
}

// x to a power > 1 for x in 0 .. 1: the whole part by products, the rest by square roots, bit by
// bit.
static double power_of(double x, double power) {
    const double most = power < 100.0 ? power : 100.0; // an impedance is flat long before
    double result = 1.0, root = x, rest = most - (double)(int)most;
    for (int i = 0; i < (int)most; i++)
        result *= x;
    for (int bit = 0; bit < 53 && rest > 0.0; bit++) {
        root = mf_sqrt(root);
        rest *= 2.0;
        if (rest >= 1.0) {
            result *= root;
            rest -= 1.0;
        }
    }
    return result;
}

double mf_softness_impedance(const mf_Softness *softness, double depth) {
    const double *z = softness->impedance, low = mf_softness_clip(z[0]);
    const double width = z[2] > 1e-9 ? z[2] : 1e-9, middle = mf_softness_clip(z[3]);
    const double x = mf_clamp(depth / width, 0.0, 1.0), left = 1.0 - middle;
    const double grown = !(z[4] > 1.0) ? x
                         : x <= middle ? middle * power_of(x / middle, z[4])
                                       : 1.0 - left * power_of((1.0 - x) / left, z[4]);
    return low + grown * (mf_softness_clip(z[1]) - low);
}
