// The physics check cases: expected values from independent sources, as literals in the case. A
// check_<topic>.c has its cases and one table at its end.
#ifndef MAYFLY_APP_CHECK_H
#define MAYFLY_APP_CHECK_H

#include "app.h"

typedef struct mf_CheckRun mf_CheckRun;

typedef struct mf_CheckCase {
    const char *id; // as in the literature list of docs/studies/validation.md: "C7"; several cases
                    // of one entry have suffixes: "E4-points"
    const char *title; // what is checked
    // Reports every quantity with the functions below. A failed set-up is a failed case.
    mf_Status (*run)(mf_Context *context, mf_CheckRun *out, mf_Error *error);
} mf_CheckCase;

// |got - expected| <= tolerance; NaN never passes. Quantities and units are named in `what`.
void mf_check_near(mf_CheckRun *run, const char *what, double expected, double got,
                   double tolerance);
// got <= bound.
void mf_check_below(mf_CheckRun *run, const char *what, double bound, double got);
// got >= bound.
void mf_check_above(mf_CheckRun *run, const char *what, double bound, double got);
// Exactly equal words, shown in hexadecimal.
void mf_check_bits(mf_CheckRun *run, const char *what, uint64_t expected, uint64_t got);

// The larger error; NaN is permanent.
static inline double mf_check_worse(double worst, double error) {
    return worst != worst || error <= worst ? worst : error;
}

// Tables end with an empty row. Cases of tables called _full take long: they run only if named or
// with --full.
extern const mf_CheckCase mf_check_base_cases[];
extern const mf_CheckCase mf_check_model_cases[];
extern const mf_CheckCase mf_check_terrain_cases[];
extern const mf_CheckCase mf_check_points_cases[];
extern const mf_CheckCase mf_check_friction_cases[];
extern const mf_CheckCase mf_check_car_cases[];
extern const mf_CheckCase mf_check_fixed_wing_cases[];
extern const mf_CheckCase mf_check_quadrotor_cases[];
extern const mf_CheckCase mf_check_free_cases[];
extern const mf_CheckCase mf_check_articulated_cases[];
extern const mf_CheckCase mf_check_control_cases[];
extern const mf_CheckCase mf_check_contact_cases[];
extern const mf_CheckCase mf_check_rolling_cases[];
extern const mf_CheckCase mf_check_stack_cases[];
extern const mf_CheckCase mf_check_constraint_cases[];
extern const mf_CheckCase mf_check_rotation_cases[];
extern const mf_CheckCase mf_check_energy_cases[];
extern const mf_CheckCase mf_check_algorithms_cases[];
extern const mf_CheckCase mf_check_algorithms_full_cases[];
extern const mf_CheckCase mf_check_symmetry_cases[];
extern const mf_CheckCase mf_check_kinematic_cases[];
extern const mf_CheckCase mf_check_ladder_cases[];
extern const mf_CheckCase mf_check_gait_cases[];
extern const mf_CheckCase mf_check_defaults_cases[];
extern const mf_CheckCase mf_check_truss_cases[];
extern const mf_CheckCase mf_check_elastic_cases[];
extern const mf_CheckCase mf_check_docks_cases[];
extern const mf_CheckCase mf_check_cloth_cases[];
extern const mf_CheckCase mf_check_particles_cases[];
extern const mf_CheckCase mf_check_mixtures_cases[];
extern const mf_CheckCase mf_check_camera_cases[];

#endif
