// Zones and touch sites of a plan, for sensors. A zone is what a body with a force or torque sensor
// carries, and so which forces from outside it feels: of contacts by their shapes, of connects,
// welds and paths of tendons by the body that they hold.
//
// What programs and other groups push with is known by link. A body without a joint shares its link
// with its parent, so it gets those forces only if it carries all of the link that can be pushed.
#include "motion/articulated/build.h"
#include "contact/ray_solid.h"
#include "model/points.h"
#include "math/scalar.h"

// `root` MF_NONE: the world carries all bodies, and is none itself.
static bool carried(const mf_Model *model, uint32_t body, uint32_t root) {
    return body != MF_NONE && mf_body_carried(model, body, root);
}

static int32_t plan_link(const mf_ArtMotion *motion, const mf_Model *model, uint32_t body) {
    uint32_t link = model->bodies[body].link;
    return link == MF_NONE ? MF_ART_WORLD : motion->frames[link].link;
}

static bool touches(const mf_Model *model, uint32_t body) {
    for (uint32_t i = 0; i < model->shape_count; i++)
        if (model->shapes[i].collides && model->shapes[i].body == body)
            return true;
    return false;
}

static void add_link(mf_ArtMotion *motion, const mf_Model *model, uint32_t z, uint32_t root,
                     int32_t link) {
    for (uint32_t b = 0; b < model->body_count; b++)
        if (plan_link(motion, model, b) == link && touches(model, b) && !carried(model, b, root))
            return;
    motion->link_zones[link + 1] |= (uint64_t)1 << z;
}

static uint32_t wrap_body(const mf_Model *model, const mf_TendonWrap *wrap) {
    if (wrap->type == MF_WRAP_PULLEY)
        return MF_NONE;
    return wrap->type == MF_WRAP_SITE ? model->sites[wrap->object].body
                                      : model->shapes[wrap->object].body;
}

// The ends of connects, welds and pieces of paths.
static void add_ends(mf_ArtMotion *motion, const mf_Model *model, uint32_t z, uint32_t root) {
    const uint64_t bit = (uint64_t)1 << z;
    for (uint32_t i = 0; i < motion->plan->loop_count; i++) {
        const uint32_t equality = motion->loops[i].equality;
        for (uint32_t side = 0; side < 2 && motion->loops[i].rows > 1; side++)
            if (carried(model, model->equalities[equality].objects[side], root))
                motion->loop_zones[2 * i + side] |= bit;
    }
    for (uint32_t i = 0; i < motion->plan->wrap_count; i++)
        if (carried(model, wrap_body(model, &model->tendon_wraps[i]), root))
            motion->wrap_zones[i] |= bit;
    for (uint32_t t = 0; t < motion->plan->span_count; t++)
        for (uint32_t w = 0; w < model->tendons[t].wrap_count; w++)
            if (motion->wrap_zones[model->tendons[t].first_wrap + w] != 0)
                motion->spans[t].felt = true;
}

// Contacts of shapes belong to zones by the shape's body, contacts of points by the link. The
// ground stands for planes and height fields of the file.
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
    for (uint32_t i = 0; i < model->shape_count; i++)
        if (mf_art_is_ground(&model->shapes[i]) && carried(model, model->shapes[i].body, root))
            motion->plan->ground_zones |= bit;
}

static void add_zone(mf_ArtMotion *motion, const mf_Model *model, uint32_t z, uint32_t root) {
    const uint32_t at = root != MF_NONE ? model->bodies[root].link : MF_NONE;
    mf_ArtZone *zone = &motion->zones[z];
    zone->link = MF_ART_WORLD;
    if (at != MF_NONE) {
        zone->link = motion->frames[at].link;
        mf_vec3_copy(zone->position, motion->frames[at].position);
    }
    mf_art_mark_posed(motion, zone->link);
    for (uint32_t b = 0; b < model->body_count; b++) {
        int32_t link = plan_link(motion, model, b);
        if (carried(model, b, root) && link != MF_ART_WORLD)
            add_link(motion, model, z, root, link);
    }
    add_contacts(motion, model, z, root);
    add_ends(motion, model, z, root);
}

// The marks of zones and touch sites, all of zeros, where they are not there yet: the kernel reads
// them all if there is one sensor.
static mf_Status allocate_marks(mf_ArtMotion *motion, mf_Context *context, mf_Error *error) {
    const mf_ArtPlan *plan = motion->plan;
    const size_t shapes = motion->collide != NULL ? motion->collide->shape_count : 0;
#define MARKS(name, count)                                                                         \
    if (motion->name == NULL)                                                                      \
        MF_TRY(MF_ALLOCATE(context, "articulated", error, MF_ARRAY(motion->name, count)));
    MARKS(link_zones, (size_t)plan->link_count + 1)
    MARKS(contact_zones, plan->contact_count)
    MARKS(shape_zones, shapes)
    MARKS(loop_zones, 2 * (size_t)plan->loop_count)
    MARKS(wrap_zones, plan->wrap_count)
    MARKS(contact_site, plan->contact_count)
    MARKS(shape_site, shapes)
#undef MARKS
    return MF_OK;
}

mf_Status mf_art_zones_build(mf_ArtMotion *motion, const mf_Model *model, const uint32_t *bodies,
                             uint32_t count, mf_Context *context, mf_Error *error) {
    if (count > MF_ARTICULATED_MAX_ZONES)
        return mf_fail(error, MF_LIMIT,
                       "articulated: model %s has %u bodies with force sensors, at most %d",
                       model->name, count, MF_ARTICULATED_MAX_ZONES);
    MF_TRY(MF_ALLOCATE(context, "articulated", error, MF_ARRAY(motion->zones, count)));
    MF_TRY(allocate_marks(motion, context, error));
    for (uint32_t z = 0; z < count; z++)
        add_zone(motion, model, z, bodies[z]);
    motion->plan->zone_count = count;
    return mf_art_pack(motion, context, error);
}

// ---- touch sites -------------------------------------------------------------------------------

static uint32_t site_of(const mf_ArtMotion *motion, uint32_t count, uint32_t body) {
    uint32_t i = 0;
    while (i < count && motion->touch_sites[i].body != body)
        i++;
    return i < count ? i + 1 : 0;
}

static void add_site(mf_ArtMotion *motion, const mf_Model *model, uint32_t index,
                     const mf_Sensor *sensor) {
    const mf_Site *site = &model->sites[sensor->site];
    const mf_Frame *frame = &site->frame;
    mf_ArtTouchSite *out = &motion->touch_sites[index];
    const mf_RaySolid volume = mf_ray_solid(site->type, site->size, NULL);
    double rotation[4];
    *out = (mf_ArtTouchSite){.type = site->type, .kind = volume.kind, .body = site->body};
    mf_vec3_copy(out->size, volume.size);
    out->link =
        mf_art_pose(motion, frame->link, frame->position, frame->rotation, out->position, rotation);
    mf_quat_to_matrix(out->rotation, rotation);
    mf_art_mark_posed(motion, out->link);
    for (uint32_t i = index; i-- > 0;) {
        if (motion->touch_sites[i].body != out->body)
            continue;
        motion->touch_sites[i].next = index + 1;
        break;
    }
}

mf_Status mf_art_touches_build(mf_ArtMotion *motion, const mf_Model *model, const uint32_t *sensors,
                               uint32_t count, mf_Context *context, mf_Error *error) {
    const uint32_t shapes = motion->collide != NULL ? motion->collide->shape_count : 0;
    MF_TRY(MF_ALLOCATE(context, "articulated", error, MF_ARRAY(motion->touch_sites, count)));
    MF_TRY(allocate_marks(motion, context, error));
    for (uint32_t i = 0; i < count; i++)
        add_site(motion, model, i, &model->sensors[sensors[i]]);
    for (uint32_t i = 0; i < motion->plan->contact_count; i++)
        if (motion->contacts[i].shape != MF_NONE)
            motion->contact_site[i] =
                site_of(motion, count, model->shapes[motion->contacts[i].shape].body);
    for (uint32_t i = 0; i < shapes; i++)
        motion->shape_site[i] =
            site_of(motion, count, model->shapes[mf_collide_shapes(motion->collide)[i].shape].body);
    for (uint32_t i = 0; i < model->shape_count && motion->plan->ground_site == 0; i++)
        if (mf_art_is_ground(&model->shapes[i]))
            motion->plan->ground_site = site_of(motion, count, model->shapes[i].body);
    motion->plan->touch_count = count;
    return mf_art_pack(motion, context, error);
}
