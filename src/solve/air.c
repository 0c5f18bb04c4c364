// The air: constants of the jets below rotorcraft and the table of the wind's profile.
//
// Downwash. Far below its rotors a hovering vehicle produces a round turbulent jet (Bauersfeld,
// Muller, Ziegler, Coletti, Scaramuzza: Robotics meets fluid dynamics, IEEE RA-L 2025, measured it
// on quadrotors). Its speed on the axis falls with the distance x, and its profiles are similar
// (Pope, Turbulent Flows, 2000, section 5.1 and eq. 5.82):
//     U_c(x) = B d U_j / x,   U(x, r) = U_c / (1 + a (r/x)^2)^2,   a = (sqrt(2) - 1) / S^2
// with B = 5.8 and S = 0.094 (Hussein, Capp, George 1994, laser-Doppler values as Pope lists them).
// The jet's momentum is the thrust, T = rho pi/4 d^2 U_j^2, hence d U_j = sqrt(4 T / (pi rho)).
// Near the rotors the speed is at most that of the far wake of an ideal rotor, twice the induced
// one: sqrt(2 T / (rho A)). The virtual origin is at the rotors, the jet is vertical.
//
// Wind. The logarithmic profile of a neutral surface layer: ln(h / z0) / ln(h_ref / z0), zero below
// z0 (Stull, Boundary Layer Meteorology, 1988, eq. 9.7.1). It is tabulated over the square root of
// the height, which keeps the error of linear interpolation below 2e-4 for h > 0.03 m.
#include "base/memory.h"
#include "solve/parts.h"

#include "math/scalar.h"

#include <string.h>

static const double pi = 3.14159265358979323846;
static const double decay = 5.8;    // [1] B
static const double spread = 0.094; // [1] S

// Natural logarithm by Halley's method on exp; set-up only.
static double logarithm(double x) {
    double y = 0.0;
    while (x > 2.0) {
        x *= 0.5;
        y += 0.69314718055994530942;
    }
    while (x < 0.5) {
        x *= 2.0;
        y -= 0.69314718055994530942;
    }
    double part = 0.0;
    for (int i = 0; i < 6; i++) {
        double e = mf_exp(part);
        part += 2.0 * (x - e) / (x + e);
    }
    return y + part;
}

// The plan and its arrays while they are filled.
typedef struct Draft {
    mf_AirPlan plan;
    MF_AIR_ARRAYS(MF_FLAT_POINTER, )
} Draft;

static void put(double *wide, float *narrow, size_t at, double value) {
    wide[at] = value;
    narrow[at] = (float)value;
}

static void fill_jets(const mf_Interaction *all, Draft *draft) {
    double gravity = mf_world_config_of(all->world)->gravity;
    double density = all->config.air_density;
    for (uint32_t m = 0; m < all->member_count; m++) {
        const mf_InteractionMember *member = &all->members[m];
        if (!(member->rotor_area > 0.0))
            continue;
        double thrust = member->thrust;
        if (thrust == 0.0)
            thrust = mf_group_model(member->group)->mass * gravity;
        put(draft->speeds_f64, draft->speeds_f32, m,
            decay * mf_sqrt(4.0 * thrust / (pi * density)));
        put(draft->limits_f64, draft->limits_f32, m,
            mf_sqrt(2.0 * thrust / (density * member->rotor_area)));
    }
}

static void fill_profile(const mf_InteractionConfig *config, Draft *draft) {
    double scale = 1.0 / logarithm(config->wind_reference / config->wind_roughness);
    for (uint32_t i = 0; i < MF_PROFILE_CELLS + 2; i++) {
        double share = (double)i / MF_PROFILE_CELLS;
        double height = draft->plan.profile_top * share * share;
        put(draft->profile_f64, draft->profile_f32, i,
            height > config->wind_roughness ? logarithm(height / config->wind_roughness) * scale
                                            : 0.0);
    }
}

static void fill_numbers(const mf_InteractionConfig *config, mf_AirPlan *plan) {
    plan->downwash = config->downwash;
    plan->logarithmic = config->profile == MF_WIND_LOGARITHMIC;
    plan->reach = config->downwash_reach;
    plan->radius = MF_JET_END * config->downwash_reach;
    plan->spread = (mf_sqrt(2.0) - 1.0) / (spread * spread);
    memcpy(plan->wind, config->wind, sizeof plan->wind);
    plan->ground = config->wind_ground;
    plan->profile_top = config->wind_reference > 300.0 ? config->wind_reference : 300.0;
}

static mf_Status pack(mf_Interaction *all, Draft *draft, mf_Error *error) {
    mf_AirPlan *plan = &draft->plan;
#define PART(Type, name, count) MF_FLAT_PART(plan, name, draft->name, count),
    const mf_FlatPart parts[] = {MF_AIR_ARRAYS(PART, plan)};
#undef PART
    void *image;
    mf_Status status = mf_flat_pack(all->context, plan, sizeof *plan, parts,
                                    sizeof parts / sizeof *parts, &image, error);
    all->air_task.plan = image;
    return status;
}

mf_Status mf_interaction_prepare_air(mf_Interaction *all, mf_Error *error) {
    mf_AirTask *task = &all->air_task;
    mf_Status status = MF_OK;
    Draft draft = {.plan.group_count = all->member_count};
#define ARRAY(Type, name, count) MF_ARRAY(draft.name, count),
    const mf_Array arrays[] = {MF_AIR_ARRAYS(ARRAY, &draft.plan)};
#undef ARRAY
    const bool fits = mf_allocate_arrays(all->context, arrays, sizeof arrays / sizeof *arrays);
    task->all = all->air;
    task->downward = mf_allocate(all->context, (size_t)all->air->slot_count + 2 * MF_NEIGHBOR_PAD,
                                 sizeof *task->downward);
    if (!fits || task->downward == NULL)
        status = mf_fail(error, MF_NO_MEMORY, "interaction: no memory for the air");
    if (status == MF_OK) {
        fill_numbers(&all->config, &draft.plan);
        fill_jets(all, &draft);
        fill_profile(&all->config, &draft);
        status = pack(all, &draft, error);
    }
    mf_release(all->context, draft.speeds_f64);
    return status;
}
