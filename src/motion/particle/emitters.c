// Emitters: round nozzles that particles leave in layers, on a square lattice of their spacing.
//
// Layer m leaves at the time start + m pitch / speed, so which particles are emitted in a step
// follows from the time alone; each site of a layer takes the first particle that waits.
#include "motion/particle/motion.h"

#include "base/hash.h"
#include "math/scalar.h"

#include <math.h>

mf_Emitter mf_emitter(void) {
    return (mf_Emitter){
        .direction = {0.0, 0.0, -1.0}, .radius = 0.05, .speed = 1.0, .stop = (double)INFINITY};
}

static mf_Status check(const mf_Emitter *emitter, uint32_t index, mf_Error *error) {
    const double *d = emitter->direction;
    MF_NEED(mf_all_finite(emitter->position, 3) && mf_all_finite(d, 3) && mf_vec3_length(d) > 0.0,
            error, "emitters[%u]: need a finite position and a direction that is not 0", index);
    MF_NEED(emitter->radius > 0.0 && emitter->radius <= 1e3 && emitter->speed > 0.0 &&
                emitter->speed <= 1e3,
            error, "emitters[%u]: radius %g m, speed %g m/s, need above 0 and at most 1000", index,
            emitter->radius, emitter->speed);
    MF_NEED(emitter->start >= 0.0 && emitter->start <= 1e9 && emitter->stop >= emitter->start,
            error, "emitters[%u]: start %g s, stop %g s, need 0 <= start <= stop", index,
            emitter->start, emitter->stop);
    return MF_OK;
}

static void set_axes(mf_ParticleNozzle *nozzle) {
    double *along = nozzle->axes[2], side[3] = {1.0, 0.0, 0.0};
    mf_vec3_copy(along, nozzle->emitter.direction);
    mf_vec3_normalize(along);
    if (mf_abs(along[0]) > 0.9)
        mf_vec3_set(side, 0, 1, 0);
    mf_vec3_cross(nozzle->axes[1], along, side);
    mf_vec3_normalize(nozzle->axes[1]);
    mf_vec3_cross(nozzle->axes[0], nozzle->axes[1], along);
}

// [1] Sites of the lattice within the nozzle; NULL: they are only counted. At least one.
static uint32_t put_sites(const mf_ParticleNozzle *nozzle, mf_ParticleSite *out) {
    const double radius = nozzle->emitter.radius, pitch = nozzle->pitch;
    const int reach = (int)(radius / pitch) + 1;
    uint32_t count = 0;
    for (int v = -reach; v <= reach; v++)
        for (int u = -reach; u <= reach; u++) {
            const double x = u * pitch, y = v * pitch, scratch = radius - 0.5 * pitch;
            const bool center = u == 0 && v == 0;
            if (!center && (scratch <= 0.0 || x * x + y * y > scratch * scratch))
                continue;
            if (out != NULL)
                out[count] = (mf_ParticleSite){{x, y}};
            count++;
        }
    return count;
}

mf_Status mf_particles_make_nozzles(mf_Particles *all, const mf_ParticleDraft *draft,
                                    mf_Error *error) {
    if (draft->emitter_count > MF_EMITTERS)
        return mf_fail(error, MF_LIMIT, "emitters: %u, at most %u", draft->emitter_count,
                       MF_EMITTERS);
    for (uint32_t e = 0; e < draft->emitter_count; e++) {
        mf_ParticleNozzle *nozzle = &all->nozzles[e];
        MF_TRY(check(&draft->emitters[e], e, error));
        nozzle->emitter = draft->emitters[e];
        nozzle->pitch = all->plan.spacing;
        if (nozzle->emitter.radius > 1000.0 * nozzle->pitch)
            return mf_fail(error, MF_LIMIT, "emitters[%u].radius: %g m, at most 1000 spacings", e,
                           nozzle->emitter.radius);
        set_axes(nozzle);
        nozzle->count = put_sites(nozzle, NULL);
        nozzle->sites = mf_allocate(all->context, nozzle->count, sizeof *nozzle->sites);
        all->nozzle_count = e + 1;
        MF_NEED_MEMORY(nozzle->sites != NULL, error, "emitters");
        put_sites(nozzle, nozzle->sites);
    }
    return MF_OK;
}

void mf_particles_free_nozzles(mf_Particles *all) {
    for (uint32_t e = 0; e < all->nozzle_count; e++)
        mf_release(all->context, all->nozzles[e].sites);
}

// The first particle that waits; the number of particles: none.
static uint32_t take_waiting(mf_Particles *all) {
    uint32_t *waiting = all->waiting->data;
    const uint32_t count = mf_group_count(all->group);
    while (all->next_waiting < count && waiting[all->next_waiting] == 0)
        all->next_waiting++;
    return all->next_waiting;
}

// Whether there was one.
static bool emit_one(mf_Particles *all, const mf_ParticleNozzle *nozzle, uint32_t site,
                     double ahead) {
    const uint32_t i = take_waiting(all);
    if (i == mf_group_count(all->group))
        return false;
    const double *across = nozzle->sites[site].across, speed = nozzle->emitter.speed;
    for (uint32_t c = 0; c < 3; c++) {
        const double at = nozzle->emitter.position[c] + across[0] * nozzle->axes[0][c] +
                          across[1] * nozzle->axes[1][c] + ahead * speed * nozzle->axes[2][c];
        mf_field_set(all->position, i, c, at);
        mf_field_set(all->velocity, i, c, speed * nozzle->axes[2][c]);
    }
    ((uint32_t *)all->waiting->data)[i] = 0;
    return true;
}

bool mf_particles_emit(mf_Particles *all, double begin, double end) {
    bool any = false;
    for (uint32_t e = 0; e < all->nozzle_count; e++) {
        const mf_ParticleNozzle *nozzle = &all->nozzles[e];
        const double start = nozzle->emitter.start, period = nozzle->pitch / nozzle->emitter.speed;
        double layer = floor((begin - start) / period);
        for (layer = layer > 0.0 ? layer : 0.0; start + layer * period < end; layer++) {
            const double leaves = start + layer * period;
            if (leaves < begin || leaves >= nozzle->emitter.stop)
                continue;
            for (uint32_t s = 0; s < nozzle->count; s++)
                any |= emit_one(all, nozzle, s, begin - leaves);
        }
    }
    return any;
}

uint64_t mf_emitters_hash(uint64_t hash, const mf_Particles *all) {
    hash = mf_hash_u32(hash, all->placed);
    for (uint32_t e = 0; e < all->nozzle_count; e++) {
        const mf_Emitter *emitter = &all->nozzles[e].emitter;
        const double own[] = {emitter->radius, emitter->speed, emitter->start, emitter->stop};
        hash = mf_hash_doubles(hash, emitter->position, 3);
        hash = mf_hash_doubles(hash, emitter->direction, 3);
        hash = mf_hash_doubles(hash, own, 4);
    }
    return hash;
}

// ---- keys ---------------------------------------------------------------------------------------

#define AT(member) offsetof(mf_Emitter, member)

// clang-format off
static const mf_Key keys[] = {
    MF_KEY_TUPLE("position", MF_KEY_VECTOR, 3, MF_KEY_REQUIRED, "m", NULL, -1e6, 1e6, AT(position),
                 "center of the nozzle, in the world"),
    MF_KEY_TUPLE("direction", MF_KEY_VECTOR, 3, 0, "", "[0, 0, -1]", -1e6, 1e6, AT(direction),
                 "direction of the jet"),
    MF_KEY("radius", MF_KEY_REAL, MF_KEY_ABOVE, "m", "0.05", 0, 1e3, NULL, AT(radius),
           "radius of the nozzle"),
    MF_KEY("speed", MF_KEY_REAL, MF_KEY_ABOVE, "m/s", "1", 0, 1e3, NULL, AT(speed),
           "speed of the particles that leave it, with the density at rest"),
    MF_KEY("start", MF_KEY_REAL, 0, "s", "0", 0, 1e9, NULL, AT(start), "time at which it opens"),
    MF_KEY("stop", MF_KEY_REAL, MF_KEY_INFINITE, "s", ".inf", 0, 1e9, NULL, AT(stop),
           "time at which it closes, at the latest when no particle waits"),
};
// clang-format on

static void begin(void *base) {
    *(mf_Emitter *)base = mf_emitter();
}

const mf_KeyTable mf_emitter_table = {MF_KEY_ROWS("emitter", keys, mf_Emitter), .start = begin};
