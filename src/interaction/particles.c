// Particles and robots: solids of other groups for the steps of particles, and what particles do to
// them.
//
// A step of the world: the first group of particles that runs asks for the solids as they are at
// its beginning; all groups of particles add the forces on them; a system of the world behind
// collisions hands these to robots in the fields wrench.link and wrench.count, as contacts do. The
// sums are in the order of groups and pieces of work, so they do not depend on threads.
#include "contact/compound.h"
#include "world/attach.h"
#include "base/floats.h"
#include "dynamics/link_motion.h"
#include "math/scalar.h"
#include "motion/particles/mixture.h"

#include <mayfly/particles.h>

#include <string.h>

static const char push_name[] = "particles.push";

typedef struct Owner { // a group with solids
    mf_Group *group;
    mf_Compound *compound;
    mf_LinkMotions motions;
    double *values; // of a block
    const mf_Field *position, *fault;
    mf_Field *wrench, *count; // NULL: it takes none
    bool still;
    uint32_t *first_face, *faces; // [1] of each hull
} Owner;

typedef struct LinkIndex { // of a solid
    uint32_t owner, instance, link;
} LinkIndex;

typedef struct Links {
    mf_ParticleCoupling coupling; // as particles know it
    mf_Context *context;
    mf_World *world;
    Owner *owners;
    uint32_t owner_count, capacity; // [1], [1] solids
    mf_ParticleSolid *solids;
    LinkIndex *link_indices;
    mf_ParticleFace *faces;
    uint32_t face_count;
    double reach;                // [m] largest of all particles
    bool found;                  // the solids are those of this step
    bool clears;                 // no collisions do it
    mf_ParticleMixture *mixture; // NULL: groups do not act on each other
} Links;

// ---- solids -------------------------------------------------------------------------------------

static double get3(const mf_Field *field, uint32_t instance, double out[3]) {
    double size = 0.0;
    for (uint32_t c = 0; c < 3; c++) {
        out[c] = mf_field_get(field, instance, c);
        size += mf_abs(out[c]);
    }
    return size;
}

static void set_box(mf_ParticleSolid *solid, const double half[3], double reach) {
    for (int c = 0; c < 3; c++) {
        double extent = reach;
        for (int k = 0; k < 3; k++)
            extent += mf_abs(solid->rotation[3 * c + k]) * half[k];
        solid->low[c] = solid->center[c] - extent;
        solid->high[c] = solid->center[c] + extent;
    }
}

static void put_solid(Links *all, const Owner *owner, uint32_t index, const mf_LinkMotion *link,
                      const double about[3], mf_ParticleSolid *out) {
    const mf_CompoundSolid *from = &owner->compound->solids[index];
    const double *own = owner->compound->values_f64 + (size_t)index * MF_COLLIDE_SHAPE_VALUES;
    double rotation[9];
    *out = (mf_ParticleSolid){.kind = from->kind};
    mf_vec3_copy(out->half, own + MF_COLLIDE_HALF);
    mf_quat_to_matrix(rotation, link->orientation);
    mf_mat3_multiply(out->rotation, rotation, own + MF_COLLIDE_ROTATION);
    mf_link_point(link, own + MF_COLLIDE_POSITION, out->center, out->velocity);
    mf_vec3_copy(out->rate, link->rate);
    mf_vec3_copy(out->about, about);
    out->friction = mf_group_model(owner->group)->shapes[from->shape].friction[0];
    if (from->kind == MF_COLLIDE_HULL) {
        out->first_face = owner->first_face[from->hull];
        out->faces = owner->faces[from->hull];
    }
    set_box(out, from->box, all->reach);
}

static void find_block(Links *all, Owner *owner, uint32_t number, uint32_t block) {
    const uint32_t first = block * MF_BLOCK, left = mf_group_count(owner->group) - first;
    const mf_LinkChoice choice = {.end = left < MF_BLOCK ? left : MF_BLOCK};
    mf_link_motions_find(&owner->motions, block, &choice, owner->values);
    for (uint32_t lane = 0; lane < choice.end; lane++) {
        double about[3];
        const bool lost = ((const uint32_t *)owner->fault->data)[first + lane] != 0;
        if (!(get3(owner->position, first + lane, about) < 1e7))
            continue;
        for (uint32_t s = 0; s < owner->compound->solid_count; s++) {
            const uint32_t link = owner->compound->solids[s].link;
            mf_LinkMotion motion;
            mf_link_motion(&motion, owner->values, lane, link, owner->still || lost);
            put_solid(all, owner, s, &motion, about, &all->solids[all->coupling.count]);
            all->link_indices[all->coupling.count++] = (LinkIndex){number, first + lane, link};
        }
    }
}

static void find_solids(void *user) {
    Links *all = user;
    if (all->found)
        return;
    all->found = true;
    all->coupling.count = 0;
    for (uint32_t o = 0; o < all->owner_count; o++)
        for (uint32_t b = 0; b < mf_group_block_count(all->owners[o].group); b++)
            find_block(all, &all->owners[o], o, b);
    memset(all->coupling.wrench, 0, all->coupling.count * sizeof *all->coupling.wrench);
}

// ---- robots -------------------------------------------------------------------------------------

static void relax(const Owner *owner) {
    uint32_t *count = owner->count->data;
    for (uint32_t i = 0; i < mf_group_count(owner->group); i++) {
        for (uint32_t c = 0; count[i] != 0 && c < owner->wrench->components; c++)
            mf_field_set(owner->wrench, i, c, 0.0);
        count[i] = 0;
    }
}

static void push_robots(const mf_WorldRun *run, void *user) {
    Links *all = user;
    (void)run;
    for (uint32_t o = 0; all->clears && o < all->owner_count; o++)
        if (all->owners[o].wrench != NULL)
            relax(&all->owners[o]);
    for (uint32_t s = 0; all->found && s < all->coupling.count; s++) {
        const LinkIndex *index = &all->link_indices[s];
        const Owner *owner = &all->owners[index->owner];
        const double *wrench = all->coupling.wrench[s];
        bool any = false;
        for (int c = 0; c < 6; c++)
            any = any || wrench[c] != 0.0;
        if (owner->wrench == NULL || !any)
            continue;
        for (uint32_t c = 0; c < 6; c++) {
            const uint32_t row = 6 * index->link + c;
            mf_field_set(owner->wrench, index->instance, row,
                         mf_field_get(owner->wrench, index->instance, row) + wrench[c]);
        }
        ((uint32_t *)owner->count->data)[index->instance]++;
    }
    all->found = false; // nothing of this step is left for the next one
}

// ---- creation -----------------------------------------------------------------------------------

static void destroy(mf_Context *context, void *user) {
    Links *all = user;
    for (uint32_t o = 0; o < all->owner_count; o++) {
        Owner *owner = &all->owners[o];
        mf_compound_destroy(owner->compound);
        mf_link_motions_release(context, &owner->motions);
        mf_release(context, owner->values);
        mf_release(context, owner->first_face);
        mf_release(context, owner->faces);
    }
    mf_release(context, all->owners);
    mf_release(context, all->solids);
    mf_release(context, all->link_indices);
    mf_release(context, all->faces);
    mf_release(context, all->coupling.wrench);
    mf_mixture_destroy(context, all->mixture);
    mf_release(context, all);
}

// Faces of a hull; a hull lists a face at each of its corners.
static uint32_t put_faces(const mf_ConvexHull *hull, mf_ParticleFace *out) {
    const double *normals = mf_hull_normals_f64(hull), *vertices = mf_hull_vertices_f64(hull);
    uint32_t count = 0;
    for (uint32_t f = 0; f < hull->face_count; f++) {
        mf_ParticleFace face;
        mf_vec3_copy(face.normal, normals + 3 * (size_t)f);
        face.distance =
            mf_vec3_dot(face.normal, vertices + 3 * (size_t)mf_hull_faces(hull)[f].corners[0]);
        bool known = false;
        for (uint32_t k = 0; k < count && !known; k++)
            known = mf_vec3_dot(face.normal, out[k].normal) > 1.0 - 1e-9 &&
                    mf_abs(face.distance - out[k].distance) < 1e-9;
        if (!known)
            out[count++] = face;
    }
    return count;
}

static uint32_t count_faces(const mf_HullSet *hulls) {
    uint32_t count = 0;
    for (uint32_t h = 0; hulls != NULL && h < hulls->count; h++)
        count += mf_hull_of(hulls, h)->face_count;
    return count;
}

static mf_Status add_faces(Links *all, mf_Error *error) {
    uint32_t capacity = 1;
    for (uint32_t o = 0; o < all->owner_count; o++)
        capacity += count_faces(all->owners[o].compound->hulls);
    all->faces = mf_allocate(all->context, capacity, sizeof *all->faces);
    if (all->faces == NULL)
        return mf_fail(error, MF_NO_MEMORY, "particles: out of memory");
    for (uint32_t o = 0; o < all->owner_count; o++) {
        Owner *owner = &all->owners[o];
        const mf_HullSet *hulls = owner->compound->hulls;
        const uint32_t count = hulls != NULL ? hulls->count : 0;
        owner->first_face = mf_allocate(all->context, count, sizeof *owner->first_face);
        owner->faces = mf_allocate(all->context, count, sizeof *owner->faces);
        if (owner->first_face == NULL || owner->faces == NULL)
            return mf_fail(error, MF_NO_MEMORY, "particles: out of memory");
        for (uint32_t h = 0; h < count; h++) {
            owner->first_face[h] = all->face_count;
            owner->faces[h] = put_faces(mf_hull_of(hulls, h), all->faces + all->face_count);
            all->face_count += owner->faces[h];
        }
    }
    return MF_OK;
}

// Groups without shapes that collide are left out.
static mf_Status add_owner(Links *all, mf_Group *group, mf_Error *error) {
    Owner *owner = &all->owners[all->owner_count];
    owner->group = group;
    mf_Status status =
        mf_compound_create(all->context, mf_group_model(group), false, &owner->compound, error);
    if (status != MF_OK)
        return status;
    if (owner->compound->solid_count == 0) {
        mf_compound_destroy(owner->compound);
        *owner = (Owner){0};
        return MF_OK;
    }
    all->owner_count++;
    owner->still = owner->compound->still;
    owner->position = mf_group_find_field(group, "base.position");
    owner->fault = mf_group_find_field(group, "fault.word");
    owner->wrench = owner->still ? NULL : mf_group_find_field(group, "wrench.link");
    owner->count = owner->still ? NULL : mf_group_find_field(group, "wrench.count");
    all->capacity += mf_group_count(group) * owner->compound->solid_count;
    status = mf_link_motions_create(&owner->motions, group, error);
    if (status != MF_OK)
        return status;
    owner->values =
        mf_allocate(all->context, mf_link_motions_size(&owner->motions), sizeof *owner->values);
    return owner->values != NULL ? MF_OK : mf_fail(error, MF_NO_MEMORY, "particles: out of memory");
}

static mf_Status add_owners(Links *all, mf_Error *error) {
    const uint32_t count = mf_world_group_count(all->world);
    mf_Status status = MF_OK;
    all->owners = mf_allocate(all->context, count, sizeof *all->owners);
    if (all->owners == NULL)
        return mf_fail(error, MF_NO_MEMORY, "particles: out of memory");
    for (uint32_t g = 0; g < count && status == MF_OK; g++) {
        mf_Group *group = mf_world_group(all->world, g);
        if (!mf_group_config_of(group)->isolated && mf_particles_of(group) == NULL)
            status = add_owner(all, group, error);
    }
    if (status == MF_OK && all->capacity > MF_PARTICLE_SOLIDS)
        return mf_fail(error, MF_LIMIT, "particles: %u shapes of other groups, at most %u",
                       all->capacity, MF_PARTICLE_SOLIDS);
    return status == MF_OK ? add_faces(all, error) : status;
}

static mf_Status make_memory(Links *all, mf_Error *error) {
    all->solids = mf_allocate(all->context, all->capacity, sizeof *all->solids);
    all->link_indices = mf_allocate(all->context, all->capacity, sizeof *all->link_indices);
    all->coupling.wrench = mf_allocate(all->context, all->capacity, sizeof *all->coupling.wrench);
    if (all->solids == NULL || all->link_indices == NULL || all->coupling.wrench == NULL)
        return mf_fail(error, MF_NO_MEMORY, "particles: out of memory");
    all->coupling.user = all;
    all->coupling.find = find_solids;
    all->coupling.solids = all->solids;
    all->coupling.faces = all->faces;
    return MF_OK;
}

// Memory of the groups of particles, which know the solids from then on.
static mf_Status join_particles(Links *all, mf_Error *error) {
    for (uint32_t g = 0; g < mf_world_group_count(all->world); g++) {
        mf_Particles *particles = mf_particles_of(mf_world_group(all->world, g));
        if (particles == NULL)
            continue;
        particles->solids = mf_allocate(all->context, all->capacity, sizeof *particles->solids);
        particles->wrench = mf_allocate(all->context, (size_t)MF_PARTICLE_PIECES * all->capacity,
                                        sizeof *particles->wrench);
        if (particles->solids == NULL || particles->wrench == NULL)
            return mf_fail(error, MF_NO_MEMORY, "particles: out of memory");
    }
    return MF_OK;
}

static mf_Status add_system(Links *all, mf_Error *error) {
    static const char *const reads[] = {"base.position", NULL};
    static const char *const writes[] = {"wrench.link", "wrench.count", NULL};
    mf_WorldSystemConfig system = mf_world_system_config();
    system.name = push_name;
    system.phase = MF_PHASE_MOTION;
    system.run = push_robots;
    system.destroy = destroy;
    system.user = all;
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
    if (world == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "mf_particles_couple: world is NULL");
    if (mf_world_has_system(world, push_name))
        return mf_fail(error, MF_BAD_ARGUMENT, "particles: the world's are coupled already");
    const double reach = find_reach(world);
    if (!(reach > 0.0))
        return MF_OK;
    Links *all = mf_allocate(mf_world_context(world), 1, sizeof *all);
    if (all == NULL)
        return mf_fail(error, MF_NO_MEMORY, "particles: out of memory");
    *all = (Links){.context = mf_world_context(world), .world = world, .reach = reach};
    all->clears = !mf_world_has_system(world, "collisions");
    mf_Status status = add_owners(all, error);
    if (status == MF_OK)
        status = make_memory(all, error);
    if (status == MF_OK)
        status = join_particles(all, error);
    if (status == MF_OK)
        status = mf_mixture_create(world, &all->mixture, error);
    if (status == MF_OK)
        status = add_system(all, error);
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
