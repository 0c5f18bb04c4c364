// What particles of different groups do to each other (mixture.h).
//
// A grain in a fluid gets the weight of what it displaces and the drag of a sphere by the mean
// velocity of the fluid around it (Dallavalle 1948), and gives both back to the particles of that
// mean in their shares: the unresolved coupling of Robinson, Ramaioli and Luding (2014) without
// their porosity. In the density of the fluid it counts by its volume. Two fluids have the forces
// of pairs within one.
//
// Invariants: both sides of a pair compute the same numbers and one of them takes the opposite, so
// momentum is kept to the rounding of sums; sums are in the order of ranks and in double, so that
// neither threads nor instruction sets change a bit.
#include "motion/particle/mixture.h"

#include "math/scalar.h"

#include <string.h>

// What a grain keeps: the force [N] on it over the weights of the mean, and their sum.
enum { MEAN_WEIGHT = 3, MEANS };

// A particle as particles of other groups see it.
typedef struct Body {
    double at[3], velocity[3]; // [m], [m/s]
    double pressure;           // [Pa] of a fluid
    double volume;             // [m^3]
} Body;

static bool is_fluid(const mf_Particles *all) {
    return all->row == &mf_fluid_row;
}

static double row_value(const mf_Particles *all, int row, uint32_t rank) {
    return all->wide ? ((const double *)all->task.rows[row])[rank]
                     : (double)((const float *)all->task.rows[row])[rank];
}

static double record_value(const mf_Particles *fluid, int value, uint32_t rank) {
    const size_t at = (size_t)rank * MF_FLUID_RECORD + (size_t)value;
    return fluid->wide ? ((const double *)fluid->task.records)[at]
                       : (double)((const float *)fluid->task.records)[at];
}

static double volume_of(const mf_Particles *all) {
    const double d = all->plan.spacing;
    return is_fluid(all) ? all->plan.volume : MF_PI / 6.0 * d * d * d;
}

static Body body_of(const mf_Particles *all, uint32_t rank) {
    Body body = {.volume = volume_of(all)};
    for (int c = 0; c < 3; c++) {
        body.at[c] = row_value(all, MF_PARTICLE_X + c, rank);
        body.velocity[c] = is_fluid(all) ? record_value(all, MF_FLUID_VX + c, rank)
                                         : row_value(all, MF_GRAIN_VX + c, rank);
    }
    if (is_fluid(all))
        body.pressure =
            record_value(all, MF_FLUID_PUSH, rank) * 2.0 * all->plan.viscosity * all->plan.density;
    return body;
}

// ---- neighbors in another group -----------------------------------------------------------------

typedef struct Pair {
    double direction[3]; // [m] from the first to the second
    double near;         // [1] 1 - r / R, > 0
    double gradient;     // [1/m^5] F, the gradient of the kernel is F times `direction`
    double kernel;       // [1/m^3] W
} Pair;

static void complete(Pair *pair, double square, double reach) {
    const double far = mf_sqrt(square) / reach, cube = reach * reach * reach;
    pair->near = 1.0 - far;
    const double three = (1.0 - far) * (1.0 - far) * (1.0 - far);
    pair->gradient = 210.0 / (MF_PI * cube * reach * reach) * three;
    pair->kernel = 21.0 / (2.0 * MF_PI * cube) * three * (1.0 - far) * (1.0 + 4.0 * far);
}

// Adds what particle `rank` of `other` does; `sum` is the caller's.
typedef void (*Add)(const mf_Particles *own, const Body *body, const mf_Particles *other,
                    uint32_t rank, const Pair *pair, double *sum);

// Cells [low, high] along an axis; false: none.
static bool find_range(const mf_ParticleCells *cells, int c, double at, double reach, int32_t *low,
                       int32_t *high) {
    const double from = (at - reach - cells->low[c]) * cells->inverse[c];
    const double to = (at + reach - cells->low[c]) * cells->inverse[c], last = cells->size[c] - 1;
    if (!(to >= 0.0 && from < last + 1.0))
        return false;
    *low = from > 0.0 ? (int32_t)from : 0;
    *high = to < last ? (int32_t)to : (int32_t)last;
    return true;
}

static void exchange(const mf_Particles *own, const Body *body, const mf_Particles *other,
                     uint32_t rank, double reach, Add add, double *sum) {
    Pair pair;
    for (int c = 0; c < 3; c++)
        pair.direction[c] = row_value(other, MF_PARTICLE_X + c, rank) - body->at[c];
    const double square = mf_vec3_dot(pair.direction, pair.direction);
    if (!(square < reach * reach))
        return;
    complete(&pair, square, reach);
    add(own, body, other, rank, &pair, sum);
}

static void visit(const mf_Particles *own, const Body *body, const mf_Particles *other,
                  double reach, Add add, double *sum) {
    const mf_ParticleCells *cells = &other->cells;
    int32_t low[3], high[3];
    if (cells->count == 0)
        return;
    for (int c = 0; c < 3; c++)
        if (!find_range(cells, c, body->at[c], reach, &low[c], &high[c]))
            return;
    for (int32_t z = low[2]; z <= high[2]; z++)
        for (int32_t y = low[1]; y <= high[1]; y++) {
            const size_t row =
                ((size_t)z * (size_t)cells->size[1] + (size_t)y) * (size_t)cells->size[0];
            const int32_t end = cells->starts[row + (size_t)high[0] + 1];
            for (int32_t rank = cells->starts[row + (size_t)low[0]]; rank < end; rank++)
                exchange(own, body, other, (uint32_t)rank, reach, add, sum);
        }
}

// ---- the law ------------------------------------------------------------------------------------

// Of a fluid and a grain the fluid's reach, of two fluids the mean.
static double reach_of(const mf_Particles *a, const mf_Particles *b) {
    return is_fluid(a) && is_fluid(b) ? 0.5 * (a->plan.reach + b->plan.reach)
           : is_fluid(a)              ? a->plan.reach
                                      : b->plan.reach;
}

// The force [N] of two fluids on a particle of the first.
static void force_on_fluid(const mf_Particles *a, const Body *one, const mf_Particles *b,
                           const Body *two, const Pair *pair, double out[3]) {
    const double weight = one->volume * two->volume * pair->gradient;
    const double press = -(one->pressure + two->pressure) * weight;
    const double drag =
        (a->plan.viscosity * a->plan.density + b->plan.viscosity * b->plan.density) * weight;
    for (int c = 0; c < 3; c++)
        out[c] = press * pair->direction[c] + drag * (two->velocity[c] - one->velocity[c]);
}

// ---- sums ---------------------------------------------------------------------------------------

enum { WEIGHT, VELOCITY, DENSITY = VELOCITY + 3, VISCOSITY, SUMS };

static void add_mean(const mf_Particles *own, const Body *grain, const mf_Particles *fluid,
                     uint32_t rank, const Pair *pair, double *sum) {
    const double weight = fluid->plan.volume * pair->kernel;
    (void)own;
    (void)grain;
    sum[WEIGHT] += weight;
    for (int c = 0; c < 3; c++)
        sum[VELOCITY + c] += weight * record_value(fluid, MF_FLUID_VX + c, rank);
    sum[DENSITY] += weight * fluid->plan.density;
    sum[VISCOSITY] += weight * fluid->plan.wall_viscosity;
}

// [kg/s] Drag over the velocity against the fluid: Dallavalle's coefficient is
// (0.63 + 4.8 / sqrt(Re))^2.
static double drag_of(const mf_Particles *grains, const double *sum, double speed) {
    const double d = grains->plan.spacing, weight = sum[WEIGHT];
    const double density = sum[DENSITY] / weight, viscosity = sum[VISCOSITY] / weight;
    const double root = 0.63 * mf_sqrt(speed) + 4.8 * mf_sqrt(viscosity / d);
    const double drag = MF_PI / 8.0 * d * d * density * root * root;
    // Implicit, or light grains in a thick fluid would be thrown back and forth.
    return drag / (1.0 + drag * grains->plan.step / grains->plan.mass);
}

static void find_means(mf_Particles *own, uint32_t piece) {
    const mf_ParticleMixture *mixture = own->mixture;
    const uint32_t end = mf_particles_part(own->cells.count, piece + 1);
    for (uint32_t rank = mf_particles_part(own->cells.count, piece); rank < end; rank++) {
        double sum[SUMS] = {0}, *means = own->means + (size_t)rank * MEANS, direction[3];
        const Body grain = body_of(own, rank);
        for (uint32_t g = 0; g < mixture->count; g++)
            if (is_fluid(mixture->groups[g]))
                visit(own, &grain, mixture->groups[g], reach_of(own, mixture->groups[g]), add_mean,
                      sum);
        memset(means, 0, MEANS * sizeof *means);
        if (!(sum[WEIGHT] > 1e-6))
            continue;
        means[MEAN_WEIGHT] = sum[WEIGHT];
        for (int c = 0; c < 3; c++)
            direction[c] = sum[VELOCITY + c] / sum[WEIGHT] - grain.velocity[c];
        const double drag = drag_of(own, sum, mf_vec3_length(direction));
        // Half immersed, there is half of both.
        const double share = sum[WEIGHT] > 1.0 ? 1.0 / sum[WEIGHT] : 1.0;
        for (int c = 0; c < 3; c++)
            means[c] = share * (drag * direction[c] -
                                sum[DENSITY] / sum[WEIGHT] * grain.volume * own->plan.gravity[c]);
    }
}

// What a particle gets: force [N], rate of the pressure over rho c^2 [1/s] from other fluids, and
// the neighbors that its density counts [1].
enum { FORCE, RATE = 3, COUNTED, GOT };

static void add_to_fluid(const mf_Particles *own, const Body *fluid, const mf_Particles *other,
                         uint32_t rank, const Pair *pair, double *got) {
    double force[3], closing = 0.0;
    if (is_fluid(other)) {
        const Body body = body_of(other, rank);
        force_on_fluid(own, fluid, other, &body, pair, force);
        mf_vec3_add(got + FORCE, got + FORCE, force);
        for (int c = 0; c < 3; c++)
            closing += (body.velocity[c] - fluid->velocity[c]) * pair->direction[c];
        got[RATE] -= body.volume * pair->gradient * closing;
    } else {
        mf_vec3_add_scaled(got + FORCE, got + FORCE, -fluid->volume * pair->kernel,
                           other->means + (size_t)rank * MEANS);
    }
    const double *terms = own->plan.shape.force, near = pair->near;
    got[COUNTED] +=
        volume_of(other) / fluid->volume * near * (terms[0] + near * (terms[1] + near * terms[2]));
}

static void put(const mf_Particles *all, int row, uint32_t rank, double value) {
    if (all->wide)
        ((double *)all->task.extra[row])[rank] = value;
    else
        ((float *)all->task.extra[row])[rank] = (float)value;
}

static void find_extra(mf_Particles *own, uint32_t piece) {
    const mf_ParticleMixture *mixture = own->mixture;
    const uint32_t end = mf_particles_part(own->cells.count, piece + 1);
    for (uint32_t rank = mf_particles_part(own->cells.count, piece); rank < end; rank++) {
        double got[GOT] = {0};
        const double *means = own->means + (size_t)rank * MEANS;
        const Body body = body_of(own, rank);
        for (int c = 0; c < 3 && !is_fluid(own); c++) // what it gives back in shares
            got[FORCE + c] = means[MEAN_WEIGHT] * means[c];
        for (uint32_t g = 0; g < mixture->count && is_fluid(own); g++) {
            const mf_Particles *other = mixture->groups[g];
            if (other != own)
                visit(own, &body, other, reach_of(own, other), add_to_fluid, got);
        }
        for (int c = 0; c < 3; c++)
            put(own, MF_EXTRA_X + c, rank, got[FORCE + c] / own->plan.mass);
        put(own, MF_EXTRA_RATE, rank, got[RATE] * own->plan.bulk);
        put(own, MF_EXTRA_DENSITY, rank, got[COUNTED]);
    }
}

void mf_mixture_exchange(mf_ParticleMixture *mixture) {
    for (uint32_t g = 0; g < mixture->count; g++)
        if (!is_fluid(mixture->groups[g]))
            mf_particles_share(mixture->groups[g], find_means);
    for (uint32_t g = 0; g < mixture->count; g++)
        mf_particles_share(mixture->groups[g], find_extra);
}

// ---- creation -----------------------------------------------------------------------------------

static mf_Status make_memory(mf_ParticleMixture *mixture, mf_Particles *all, mf_Error *error) {
    const size_t count = (size_t)mf_group_count(all->group) + MF_PARTICLE_PAD;
    bool fine = true;
    for (int row = 0; row < MF_EXTRA_ROWS; row++) {
        all->task.extra[row] =
            mf_allocate(all->context, count, all->wide ? sizeof(double) : sizeof(float));
        fine = fine && all->task.extra[row] != NULL;
    }
    all->means = mf_allocate(all->context, count, MEANS * sizeof *all->means);
    MF_NEED_MEMORY(fine && all->means != NULL, error, "particles");
    all->mixture = mixture;
    return MF_OK;
}

// A grain lighter than the fluid around it is moved as fast as that many shorter steps allow.
static uint32_t substeps_of(const mf_ParticleMixture *mixture) {
    double most = 1.0;
    for (uint32_t a = 0; a < mixture->count; a++)
        for (uint32_t b = 0; b < mixture->count; b++) {
            const mf_Particles *fluid = mixture->groups[a], *grains = mixture->groups[b];
            double parts = fluid->plan.substeps;
            if (is_fluid(fluid) && !is_fluid(grains)) {
                const double light = fluid->plan.density * volume_of(grains) / grains->plan.mass;
                parts *= light > 1.0 ? mf_sqrt(light) : 1.0;
            }
            most = parts > most ? parts : most;
        }
    return (uint32_t)(most + 0.999);
}

static mf_Status check_sizes(const mf_ParticleMixture *mixture, mf_Error *error) {
    for (uint32_t a = 0; a < mixture->count; a++)
        for (uint32_t b = 0; b < mixture->count; b++) {
            const mf_Particles *fluid = mixture->groups[a], *grains = mixture->groups[b];
            if (is_fluid(fluid) && !is_fluid(grains) && grains->plan.spacing > fluid->plan.reach)
                return mf_fail(error, MF_UNSUPPORTED,
                               "particles: the grains of group %s have a diameter of %g m, need at "
                               "most the reach of the fluid %s, %g m",
                               mf_group_config_of(grains->group)->name, grains->plan.spacing,
                               mf_group_config_of(fluid->group)->name, fluid->plan.reach);
        }
    return MF_OK;
}

// All groups of particles; false: none acts on another one.
static bool take_groups(mf_World *world, mf_ParticleMixture *mixture, uint32_t *found) {
    uint32_t fluids = 0;
    *found = 0;
    for (uint32_t g = 0; g < mf_world_group_count(world); g++) {
        mf_Particles *all = mf_particles_of(mf_world_group(world, g));
        if (all == NULL)
            continue;
        fluids += is_fluid(all);
        if (*found < MF_MIXTURE_GROUPS)
            mixture->groups[mixture->count++] = all;
        (*found)++;
    }
    return fluids > 0 && *found > 1;
}

mf_Status mf_mixture_create(mf_World *world, mf_ParticleMixture **out, mf_Error *error) {
    mf_Context *context = mf_world_context(world);
    mf_ParticleMixture *mixture = mf_allocate(context, 1, sizeof *mixture);
    uint32_t found;
    *out = NULL;
    MF_NEED_MEMORY(mixture != NULL, error, "particles");
    if (!take_groups(world, mixture, &found)) {
        mf_release(context, mixture);
        return MF_OK;
    }
    mf_Status status = found <= MF_MIXTURE_GROUPS
                           ? check_sizes(mixture, error)
                           : mf_fail(error, MF_LIMIT, "particles: %u groups, at most %d", found,
                                     (int)MF_MIXTURE_GROUPS);
    const uint32_t substeps = substeps_of(mixture);
    for (uint32_t g = 0; status == MF_OK && g < mixture->count; g++) {
        status = make_memory(mixture, mixture->groups[g], error);
        mf_particles_set_substeps(mixture->groups[g], substeps);
    }
    if (status == MF_OK)
        *out = mixture;
    else
        mf_mixture_destroy(context, mixture);
    return status;
}

void mf_mixture_destroy(mf_Context *context, mf_ParticleMixture *mixture) {
    for (uint32_t g = 0; mixture != NULL && g < mixture->count; g++) {
        mf_Particles *all = mixture->groups[g];
        all->mixture = NULL;
        for (int row = 0; row < MF_EXTRA_ROWS; row++) {
            mf_release(context, all->task.extra[row]);
            all->task.extra[row] = NULL;
        }
        mf_release(context, all->means);
        all->means = NULL;
    }
    mf_release(context, mixture);
}
