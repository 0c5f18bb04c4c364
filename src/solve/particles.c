// Particles and robots: solids of other groups for the steps of particles, and what particles do to
// them.
//
// A step of the world: the first group of particles that runs asks for the solids as they are at
// its beginning; all groups of particles add the forces on them; a system of the world behind
// collisions hands these to robots in the fields wrench.link and wrench.count, as contacts do. The
// sums are in the order of groups and pieces of work, so they do not depend on threads.
#include "solve/solids.h"
#include "base/floats.h"
#include "base/memory.h"
#include "motion/particle/mixture.h"
#include "world/attach.h"
#include "world/systems.h"

#include <mayfly/particles.h>

#include <string.h>

static const char push_name[] = "particles.push";

typedef struct Links {
    mf_ParticleCoupling coupling; // as particles know it
    mf_Context *context;
    mf_World *world;
    mf_Solids solids;
    double reach;                // [m] largest of all particles
    double step;                 // [s]
    bool found;                  // the solids are those of this step
    mf_ParticleMixture *mixture; // NULL: groups do not act on each other
} Links;

static void find_solids(void *user) {
    Links *all = user;
    if (all->found)
        return;
    all->found = true;
    mf_solids_find(&all->solids, all->reach, all->step);
    all->coupling.count = all->solids.count;
    memset(all->coupling.wrench, 0, all->coupling.count * sizeof *all->coupling.wrench);
}

static void push_robots(const mf_WorldRun *run, void *user) {
    Links *all = user;
    (void)run;
    mf_solids_clear(&all->solids);
    for (uint32_t s = 0; all->found && s < all->coupling.count; s++)
        mf_solids_push(&all->solids, all->solids.links[s], all->coupling.wrench[s]);
    all->found = false; // nothing of this step is left for the next one
}

// ---- creation -----------------------------------------------------------------------------------

static void destroy(mf_Context *context, void *user) {
    Links *all = user;
    mf_solids_release(&all->solids);
    mf_release(context, all->coupling.wrench);
    mf_mixture_destroy(context, all->mixture);
    mf_release(context, all);
}

static mf_Status make_memory(Links *all, mf_Error *error) {
    MF_TRY(mf_solids_create(&all->solids, all->world, false, "particles", error));
    if (all->solids.capacity > MF_PARTICLE_SOLIDS)
        return mf_fail(error, MF_LIMIT, "particles: %u shapes of other groups, at most %u",
                       all->solids.capacity, MF_PARTICLE_SOLIDS);
    MF_TRY(MF_ALLOCATE(all->context, "particles", error,
                       MF_ARRAY(all->coupling.wrench, all->solids.capacity)));
    all->coupling.user = all;
    all->coupling.find = find_solids;
    all->coupling.solids = all->solids.solids;
    return MF_OK;
}

// Memory of the groups of particles, which know the solids from then on.
static mf_Status join_particles(Links *all, mf_Error *error) {
    for (uint32_t g = 0; g < mf_world_group_count(all->world); g++) {
        mf_Particles *particles = mf_particles_of(mf_world_group(all->world, g));
        if (particles == NULL)
            continue;
        MF_TRY(MF_ALLOCATE(
            all->context, "particles", error, MF_ARRAY(particles->solids, all->solids.capacity),
            MF_ARRAY(particles->wrench, (size_t)MF_PARTICLE_PIECES * all->solids.capacity)));
    }
    return MF_OK;
}

static mf_Status add_system(Links *all, mf_Error *error) {
    static const char *const reads[] = {"base.position", NULL};
    static const char *const writes[] = {"wrench.link", "wrench.count", NULL};
    mf_WorldSystemConfig system =
        mf_attach_world_system(push_name, MF_PHASE_MOTION, push_robots, all);
    system.destroy = destroy;
    system.reads = reads;
    system.writes = writes;
    return mf_world_add_system(all->world, &system, error);
}

static double find_reach(mf_World *world) {
    double reach = 0.0;
    for (uint32_t g = 0; g < mf_world_group_count(world); g++) {
        const mf_Particles *particles = mf_particles_of(mf_world_group(world, g));
        if (particles != NULL && particles->plan.reach > reach)
            reach = particles->plan.reach;
    }
    return reach;
}

mf_Status mf_particles_couple(mf_World *world, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(world != NULL, error, "mf_particles_couple: world is NULL");
    if (mf_world_find_system(world, push_name) != NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "particles: the world's are coupled already");
    const double reach = find_reach(world);
    if (!(reach > 0.0))
        return MF_OK;
    Links *all;
    MF_TRY(MF_ALLOCATE(mf_world_context(world), "particles", error, MF_ARRAY(all, 1)));
    *all = (Links){.context = mf_world_context(world), .world = world, .reach = reach};
    all->step = mf_time_to_seconds(mf_world_config_of(world)->step);
    mf_Status status = make_memory(all, error);
    MF_THEN(status, join_particles(all, error));
    MF_THEN(status, mf_mixture_create(world, &all->mixture, error));
    MF_THEN(status, add_system(all, error));
    if (status != MF_OK) {
        destroy(all->context, all);
        return status;
    }
    for (uint32_t g = 0; g < mf_world_group_count(world); g++) {
        mf_Particles *particles = mf_particles_of(mf_world_group(world, g));
        if (particles != NULL)
            particles->coupling = &all->coupling;
    }
    return MF_OK;
}
