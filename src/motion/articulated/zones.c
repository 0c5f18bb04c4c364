// Zones of a plan: the links that a body with a force or torque sensor carries.
//
// External forces are known by link. A body without a joint shares its link with its parent, so its
// zone can be separated only if one of the two cannot be pushed.
#include "motion/articulated/build.h"
#include "math/scalar.h"

static bool carried(const mf_Model *model, uint32_t body, uint32_t root) {
    while (body != root && body != MF_NONE)
        body = model->bodies[body].parent;
    return body == root;
}

static int32_t plan_link(const mf_ArtMotion *motion, const mf_Model *model, uint32_t body) {
    uint32_t link = model->bodies[body].link;
    return link == MF_NONE ? MF_ART_WORLD : motion->frames[link].link;
}

static bool is_tied(const mf_Model *model, uint32_t body) {
    for (uint32_t i = 0; i < model->equality_count; i++) {
        const mf_Equality *tie = &model->equalities[i];
        bool ties = tie->type == MF_EQUALITY_CONNECT || tie->type == MF_EQUALITY_WELD;
        if (ties && (tie->objects[0] == body || tie->objects[1] == body))
            return true;
    }
    return false;
}

// Whether something pushes a body itself.
static bool takes_wrenches(const mf_Model *model, uint32_t body) {
    for (uint32_t i = 0; i < model->shape_count; i++)
        if (model->shapes[i].collides && model->shapes[i].body == body)
            return true;
    return is_tied(model, body);
}

// What is reported of a link as a whole, not of one of its bodies, belongs to a zone that holds all
// of its bodies that can be pushed.
static mf_Status add_link(mf_ArtMotion *motion, const mf_Model *model, uint32_t z, uint32_t root,
                          int32_t link, mf_Error *error) {
    bool inside = false, outside = false, tied = false;
    for (uint32_t b = 0; b < model->body_count; b++) {
        if (plan_link(motion, model, b) != link || !takes_wrenches(model, b))
            continue;
        bool in = carried(model, b, root);
        inside = inside || in;
        outside = outside || !in;
        tied = tied || is_tied(model, b);
    }
    if (inside && outside && tied)
        return mf_fail(error, MF_UNSUPPORTED,
                       "articulated: forces on body %s cannot be distinguished from those on the "
                       "body that it is fixed to",
                       model->bodies[root].name);
    if (!outside)
        motion->link_zones[link + 1] |= (uint64_t)1 << z;
    return MF_OK;
}

// Contacts of shapes belong to zones by the shape's body, those of points by the link.
static void add_contacts(mf_ArtMotion *motion, const mf_Model *model, uint32_t z, uint32_t root) {
    const uint64_t bit = (uint64_t)1 << z;
    for (uint32_t i = 0; i < motion->plan->contact_count; i++) {
        const mf_ArtContact *contact = &motion->contacts[i];
        bool inside = contact->shape != MF_NONE
                          ? carried(model, model->shapes[contact->shape].body, root)
                          : (motion->link_zones[contact->link + 1] & bit) != 0;
        if (inside)
            motion->contact_zones[i] |= bit;
    }
    for (uint32_t i = 0; motion->collide != NULL && i < motion->collide->shape_count; i++)
        if (carried(model, model->shapes[mf_collide_shapes(motion->collide)[i].shape].body, root))
            motion->shape_zones[i] |= bit;
}

static mf_Status add_zone(mf_ArtMotion *motion, const mf_Model *model, uint32_t z, uint32_t root,
                          mf_Error *error) {
    const uint32_t at = model->bodies[root].link;
    mf_Status status = MF_OK;
    if (at == MF_NONE)
        return MF_OK; // fixed in the world: it feels nothing
    mf_ArtZone *zone = &motion->zones[z];
    zone->link = motion->frames[at].link;
    mf_vec3_copy(zone->position, motion->frames[at].position);
    for (int32_t l = zone->link; l >= 0; l = motion->links[l].parent)
        motion->links[l].posed = true;
    for (uint32_t b = 0; b < model->body_count && status == MF_OK; b++) {
        int32_t link = plan_link(motion, model, b);
        if (carried(model, b, root) && link != MF_ART_WORLD)
            status = add_link(motion, model, z, root, link, error);
    }
    add_contacts(motion, model, z, root);
    return status;
}

mf_Status mf_art_zones_build(mf_ArtMotion *motion, const mf_Model *model, const uint32_t *bodies,
                             uint32_t count, mf_Context *context, mf_Error *error) {
    if (count > MF_ARTICULATED_MAX_ZONES)
        return mf_fail(error, MF_LIMIT,
                       "articulated: model %s has %u bodies with force sensors, at most %d",
                       model->name, count, MF_ARTICULATED_MAX_ZONES);
    motion->zones = mf_allocate(context, count, sizeof *motion->zones);
    motion->link_zones =
        mf_allocate(context, motion->plan->link_count + 1, sizeof *motion->link_zones);
    motion->contact_zones =
        mf_allocate(context, motion->plan->contact_count, sizeof *motion->contact_zones);
    motion->shape_zones = mf_allocate(
        context, motion->collide != NULL ? motion->collide->shape_count : 0, sizeof(uint64_t));
    if (motion->zones == NULL || motion->link_zones == NULL || motion->contact_zones == NULL ||
        motion->shape_zones == NULL)
        return mf_fail(error, MF_NO_MEMORY, "articulated: out of memory");
    mf_Status status = MF_OK;
    for (uint32_t z = 0; z < count && status == MF_OK; z++)
        status = add_zone(motion, model, z, bodies[z], error);
    motion->plan->posed = true;
    motion->plan->zone_count = count;
    return status == MF_OK ? mf_art_pack(motion, context, error) : status;
}
