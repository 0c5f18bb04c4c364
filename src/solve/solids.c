// The solids of robots for surfaces and particles (solids.h).
#include "solve/solids.h"
#include "base/memory.h"
#include "math/scalar.h"
#include "motion/table.h"
#include "world/attach.h"

// ---- a step -------------------------------------------------------------------------------------

static bool is_lost(const mf_SolidOwner *owner, uint32_t instance) {
    return ((const uint32_t *)owner->fault->data)[instance] != 0;
}

static void set_box(mf_Solid *solid, const double half[3], double reach) {
    for (int c = 0; c < 3; c++) {
        double extent = reach;
        for (int k = 0; k < 3; k++)
            extent += mf_abs(solid->rotation[3 * c + k]) * half[k];
        solid->low[c] = solid->center[c] - extent;
        solid->high[c] = solid->center[c] + extent;
    }
}

static void put_solid(const mf_Solids *all, const mf_SolidOwner *owner, uint32_t index,
                      const mf_LinkMotion *link, double reach, double step, mf_Solid *out) {
    const mf_CompoundSolid *from = &owner->compound->solids[index];
    const double *own = owner->compound->values_f64 + (size_t)index * MF_COLLIDE_SHAPE_VALUES;
    double rotation[9];
    out->kind = from->kind;
    out->radius = own[MF_COLLIDE_RADIUS];
    mf_vec3_copy(out->half, own + MF_COLLIDE_HALF);
    mf_quat_to_matrix(rotation, link->orientation);
    mf_mat3_multiply(out->rotation, rotation, own + MF_COLLIDE_ROTATION);
    mf_link_point(link, own + MF_COLLIDE_POSITION, out->center, out->velocity);
    mf_vec3_copy(out->rate, link->rate);
    out->friction = mf_group_model(owner->group)->shapes[from->shape].friction[0];
    if (from->kind == MF_COLLIDE_HULL) {
        out->faces = all->faces + owner->first_face[from->hull];
        out->face_count = owner->face_count[from->hull];
    }
    set_box(out, from->box, reach + step * mf_vec3_length(link->rate) * out->radius);
}

static void find_robot(mf_Solids *all, uint32_t number, uint32_t instance, double reach,
                       double step) {
    const mf_SolidOwner *owner = &all->owners[number];
    double about[3];
    mf_field_read(owner->position, instance, 0, 3, about);
    if (!(mf_abs(about[0]) + mf_abs(about[1]) + mf_abs(about[2]) < 1e7))
        return;
    for (uint32_t s = 0; s < owner->compound->solid_count; s++) {
        const mf_SolidLink link = {number, instance, owner->compound->solids[s].link};
        const mf_LinkMotion motion = mf_solids_motion(all, link);
        mf_Solid *solid = &all->solids[all->count];
        *solid = (mf_Solid){.about = {about[0], about[1], about[2]}};
        put_solid(all, owner, s, &motion, reach, step, solid);
        if (solid->kind != MF_COLLIDE_PLANE &&
            (solid->kind != MF_COLLIDE_HULL || solid->face_count > 0))
            all->links[all->count++] = link;
    }
}

void mf_solids_find(mf_Solids *all, double reach, double step) {
    all->count = 0;
    for (uint32_t o = 0; o < all->owner_count; o++) {
        const mf_SolidOwner *owner = &all->owners[o];
        const uint32_t count = mf_group_count(owner->group);
        for (uint32_t block = 0; block < mf_group_block_count(owner->group); block++) {
            const mf_LinkChoice choice = {NULL, mf_group_model(owner->group)->link_count, 0,
                                          MF_BLOCK};
            mf_link_motions_find(&owner->motions, block, &choice,
                                 owner->values + block * owner->stride);
        }
        for (uint32_t i = 0; i < count; i++)
            find_robot(all, o, i, reach, step);
    }
}

mf_LinkMotion mf_solids_motion(const mf_Solids *all, mf_SolidLink link) {
    const mf_SolidOwner *owner = &all->owners[link.owner];
    mf_LinkMotion motion;
    mf_link_motion(&motion, owner->values + link.instance / MF_BLOCK * owner->stride,
                   link.instance % MF_BLOCK, link.link,
                   owner->compound->still || is_lost(owner, link.instance));
    return motion;
}

void mf_solids_clear(const mf_Solids *all) {
    for (uint32_t o = 0; all->clears && o < all->owner_count; o++) {
        const mf_SolidOwner *owner = &all->owners[o];
        uint32_t *count = owner->wrench != NULL ? owner->count->data : NULL;
        for (uint32_t i = 0; count != NULL && i < mf_group_count(owner->group); i++) {
            if (count[i] != 0)
                mf_field_clear(owner->wrench, i);
            count[i] = 0;
        }
    }
}

void mf_solids_push(const mf_Solids *all, mf_SolidLink link, const double wrench[6]) {
    const mf_SolidOwner *owner = &all->owners[link.owner];
    bool any = false;
    for (int c = 0; c < 6; c++)
        any = any || wrench[c] != 0.0;
    if (owner->wrench == NULL || !any)
        return;
    for (uint32_t c = 0; c < 6; c++)
        mf_field_add(owner->wrench, link.instance, 6 * link.link + c, wrench[c]);
    ((uint32_t *)owner->count->data)[link.instance]++;
}

// ---- creation -----------------------------------------------------------------------------------

static void release_owner(mf_Context *context, mf_SolidOwner *owner) {
    mf_compound_destroy(owner->compound);
    mf_link_motions_release(context, &owner->motions);
    mf_release(context, owner->values);
    mf_release(context, owner->first_face);
}

void mf_solids_release(mf_Solids *all) {
    for (uint32_t o = 0; o < all->owner_count; o++)
        release_owner(all->context, &all->owners[o]);
    mf_release(all->context, all->owners);
    mf_release(all->context, all->solids);
    mf_release(all->context, all->links);
    mf_release(all->context, all->faces);
    *all = (mf_Solids){.context = all->context};
}

// Faces of a hull; a hull lists a face at each of its corners.
static uint32_t put_faces(const mf_ConvexHull *hull, mf_SolidFace *out) {
    const double *normals = mf_hull_normals_f64(hull), *vertices = mf_hull_vertices_f64(hull);
    uint32_t count = 0;
    for (uint32_t f = 0; f < hull->face_count; f++) {
        mf_SolidFace face;
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

static bool add_faces(mf_Solids *all) {
    uint32_t capacity = 0, used = 0;
    for (uint32_t o = 0; o < all->owner_count; o++) {
        const mf_HullSet *hulls = all->owners[o].compound->hulls;
        for (uint32_t h = 0; hulls != NULL && h < hulls->count; h++)
            capacity += mf_hull_of(hulls, h)->face_count;
    }
    all->faces = mf_allocate(all->context, capacity, sizeof *all->faces);
    for (uint32_t o = 0; o < all->owner_count && all->faces != NULL; o++) {
        mf_SolidOwner *owner = &all->owners[o];
        const mf_HullSet *hulls = owner->compound->hulls;
        const uint32_t count = hulls != NULL ? hulls->count : 0;
        const mf_Array arrays[] = {MF_ARRAY(owner->first_face, count),
                                   MF_ARRAY(owner->face_count, count)};
        if (!mf_allocate_arrays(all->context, arrays, sizeof arrays / sizeof *arrays))
            return false;
        for (uint32_t h = 0; h < count; h++) {
            owner->first_face[h] = used;
            owner->face_count[h] = put_faces(mf_hull_of(hulls, h), all->faces + used);
            used += owner->face_count[h];
        }
    }
    return all->faces != NULL;
}

static mf_Status add_owner(mf_Solids *all, mf_Group *group, uint32_t number, bool every,
                           const char *who, mf_Error *error) {
    mf_SolidOwner *owner = &all->owners[all->owner_count];
    *owner = (mf_SolidOwner){.group = group,
                             .number = number,
                             .position = mf_group_find_field(group, "base.position"),
                             .fault = mf_group_find_field(group, "fault.word")};
    MF_TRY(mf_compound_create(all->context, mf_group_model(group), false, &owner->compound, error));
    if (owner->compound->solid_count == 0 && !every) {
        mf_compound_destroy(owner->compound);
        return MF_OK;
    }
    all->owner_count++;
    if (!owner->compound->still) {
        owner->wrench = mf_group_find_field(group, "wrench.link");
        owner->count = mf_group_find_field(group, "wrench.count");
    }
    all->capacity += mf_group_count(group) * owner->compound->solid_count;
    MF_TRY(mf_link_motions_create(&owner->motions, group, error));
    owner->stride = (mf_link_motions_size(&owner->motions) + 7) / 8 * 8;
    return MF_ALLOCATE(all->context, who, error,
                       MF_ARRAY(owner->values, mf_group_block_count(group) * owner->stride));
}

static bool is_touched(const mf_Group *group) {
    const mf_MotionRow *row = mf_motion_first(group);
    const mf_VisualKind look = row != NULL ? row->look.kind : MF_VISUAL_PARTS;
    return !mf_group_config_of(group)->isolated &&
           (look == MF_VISUAL_PARTS || look == MF_VISUAL_BARS);
}

mf_Status mf_solids_create(mf_Solids *out, mf_World *world, bool every, const char *who,
                           mf_Error *error) {
    mf_Context *context = mf_world_context(world);
    const uint32_t groups = mf_world_group_count(world);
    *out = (mf_Solids){.context = context,
                       .clears = mf_world_find_system(world, "collisions") == NULL};
    MF_TRY(MF_ALLOCATE(context, who, error, MF_ARRAY(out->owners, groups)));
    for (uint32_t g = 0; g < groups; g++)
        if (is_touched(mf_world_group(world, g)))
            MF_TRY(add_owner(out, mf_world_group(world, g), g, every, who, error));
    MF_TRY(MF_ALLOCATE(context, who, error, MF_ARRAY(out->solids, out->capacity + 1),
                       MF_ARRAY(out->links, out->capacity + 1)));
    return add_faces(out) ? MF_OK : mf_fail(error, MF_NO_MEMORY, "%s: out of memory", who);
}
