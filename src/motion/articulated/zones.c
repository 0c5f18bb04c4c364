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

static int32_t plan_link(const mf_ArtPlan *plan, const mf_Model *model, uint32_t body) {
    uint32_t link = model->bodies[body].link;
    return link == MF_NONE ? MF_ART_WORLD : plan->frames[link].link;
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
static mf_Status add_link(mf_ArtPlan *plan, const mf_Model *model, uint32_t z, uint32_t root,
                          int32_t link, mf_Error *error) {
    bool inside = false, outside = false, tied = false;
    for (uint32_t b = 0; b < model->body_count; b++) {
        if (plan_link(plan, model, b) != link || !takes_wrenches(model, b))
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
        plan->zones_at[link + 1] |= (uint64_t)1 << z;
    return MF_OK;
}

// Contacts of shapes belong to zones by the shape's body, those of points by the link.
static void add_contacts(mf_ArtPlan *plan, const mf_Model *model, uint32_t z, uint32_t root) {
    const uint64_t bit = (uint64_t)1 << z;
    for (uint32_t i = 0; i < plan->contact_count; i++) {
        const mf_ArtContact *contact = &plan->contacts[i];
        bool inside = contact->shape != MF_NONE
                          ? carried(model, model->shapes[contact->shape].body, root)
                          : (plan->zones_at[contact->link + 1] & bit) != 0;
        if (inside)
            plan->zones_of_contact[i] |= bit;
    }
    for (uint32_t i = 0; plan->collide != NULL && i < plan->collide->shape_count; i++)
        if (carried(model, model->shapes[mf_collide_shapes(plan->collide)[i].shape].body, root))
            plan->zones_of_shape[i] |= bit;
}

static mf_Status add_zone(mf_ArtPlan *plan, const mf_Model *model, uint32_t z, uint32_t root,
                          mf_Error *error) {
    const uint32_t at = model->bodies[root].link;
    mf_Status status = MF_OK;
    if (at == MF_NONE)
        return MF_OK; // fixed in the world: it feels nothing
    mf_ArtZone *zone = &plan->zones[z];
    zone->link = plan->frames[at].link;
    mf_vec3_copy(zone->position, plan->frames[at].position);
    for (int32_t l = zone->link; l >= 0; l = plan->links[l].parent)
        plan->links[l].posed = true;
    for (uint32_t b = 0; b < model->body_count && status == MF_OK; b++) {
        int32_t link = plan_link(plan, model, b);
        if (carried(model, b, root) && link != MF_ART_WORLD)
            status = add_link(plan, model, z, root, link, error);
    }
    add_contacts(plan, model, z, root);
    return status;
}

mf_Status mf_art_zones_build(mf_ArtPlan *plan, const mf_Model *model, const uint32_t *bodies,
                             uint32_t count, mf_Context *context, mf_Error *error) {
    if (count > MF_ARTICULATED_MAX_ZONES)
        return mf_fail(error, MF_LIMIT,
                       "articulated: model %s has %u bodies with force sensors, at most %d",
                       model->name, count, MF_ARTICULATED_MAX_ZONES);
    plan->zones = mf_allocate(context, count, sizeof *plan->zones);
    plan->zones_at = mf_allocate(context, plan->link_count + 1, sizeof *plan->zones_at);
    plan->zones_of_contact =
        mf_allocate(context, plan->contact_count, sizeof *plan->zones_of_contact);
    plan->zones_of_shape = mf_allocate(
        context, plan->collide != NULL ? plan->collide->shape_count : 0, sizeof(uint64_t));
    if (plan->zones == NULL || plan->zones_at == NULL || plan->zones_of_contact == NULL ||
        plan->zones_of_shape == NULL)
        return mf_fail(error, MF_NO_MEMORY, "articulated: out of memory");
    mf_Status status = MF_OK;
    for (uint32_t z = 0; z < count && status == MF_OK; z++)
        status = add_zone(plan, model, z, bodies[z], error);
    plan->posed = true;
    return status;
}
