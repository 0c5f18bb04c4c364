// wrap.h with lanes of one double.
#define MF_KERNEL_F64
#include "math/wrap.h"

#include "math/bend.h"

bool mf_bend_around(bool cylinder, double radius, const double a[3], const double b[3],
                    const double *side, double from[3], double to[3], double *length) {
    const mf_Bend bend = mf_wrap(cylinder, radius, a, b, side);
    memcpy(from, bend.from, sizeof bend.from);
    memcpy(to, bend.to, sizeof bend.to);
    *length = bend.length;
    return bend.bends;
}
