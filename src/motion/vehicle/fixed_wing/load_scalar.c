// Forces and moments of one aircraft in one state, for the trim and the gains of its autopilot.
#include "motion/vehicle/fixed_wing/aero.h"

void mf_fixed_wing_load_scalar_f64(mf_WingLoads *work) {
    const double *s = work->surfaces, *v = work->velocity, *w = work->rate;
    const Surfaces surfaces = {s[0], s[1], s[2], s[3]};
    const Fixed fixed = hold_surfaces(work->constants, &surfaces);
    const Loads loads = air_loads(work->constants, &fixed, MF_VALUE(Vec, v[0], v[1], v[2]),
                                  MF_VALUE(Vec, w[0], w[1], w[2]));
    memcpy(work->force, &loads.force, sizeof work->force);
    memcpy(work->moment, &loads.moment, sizeof work->moment);
    work->thrust = loads.thrust;
}
