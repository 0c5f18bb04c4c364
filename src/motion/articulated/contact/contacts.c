// Contacts of a plan: the model's colliding points, or its shapes themselves. What they do is in
// surfaces.c.
#include "motion/articulated/build.h"
#include "math/scalar.h"
#include "model/shape_kinds.h"

#include <string.h>

typedef struct Contact {
    uint32_t link;         // [1] of the model
    const mf_Shape *shape; // of which it is a part; NULL: a point of none
    mf_TouchKind kind;
    uint32_t part;              // [1]
    double tensor[6];           // [m^2] squared radii of an oval, link axes
    double position[3], radius; // [m] link frame
    double axis[3];             // [1] link frame
    double rotation[4];         // [1] shape's axes to the link's
    double size[3];             // [m] half edges
} Contact;

// Calls `use` for every contact of the model.
typedef void (*ContactFn)(void *user, const Contact *contact);

// At a position of the shape.
static Contact contact_of(const mf_Shape *shape, const double position[3], double radius) {
    Contact contact = {.link = shape->link, .shape = shape, .radius = radius};
    mf_pose_point(contact.position, shape->position, shape->rotation, position);
    memcpy(contact.rotation, shape->rotation, sizeof contact.rotation);
    return contact;
}

// Once, and twice more with the steps around it.
static void use_ball(Contact contact, bool stepped, ContactFn use, void *user) {
    for (uint32_t part = 0; part < (stepped && contact.radius > 0.0 ? 3 : 1); part++) {
        contact.part = part;
        use(user, &contact);
    }
}

// Balls are at the center or, of what is long, at both ends.
static void ball_contacts(const mf_Shape *shape, const double half[3], bool stepped, ContactFn use,
                          void *user) {
    const double up[3] = {0, 0, 1};
    const uint32_t ends = mf_shape_kinds[shape->type].half_count;
    for (int end = ends > 1 ? -1 : 0; end < 2; end += 2) {
        Contact contact = contact_of(shape, (double[3]){0, 0, end * half[1]}, half[0]);
        if (end != 0)
            mf_quat_rotate(contact.axis, shape->rotation, up);
        use_ball(contact, stepped, use, user);
    }
}

static void box_contacts(const mf_Shape *shape, const double size[3], ContactFn use, void *user) {
    for (uint32_t i = 0; i < 8; i++) {
        const double half[3] = {i & 1 ? size[0] : -size[0], i & 2 ? size[1] : -size[1],
                                i & 4 ? size[2] : -size[2]};
        Contact contact = contact_of(shape, half, 0.0);
        contact.kind = MF_TOUCH_CORNER;
        contact.part = i;
        mf_vec3_copy(contact.size, half);
        use(user, &contact);
    }
}

// Of rims and ovals: `count` parts about the center.
static void whole_contacts(const mf_Shape *shape, uint32_t count, ContactFn use, void *user) {
    double middle[3], size[3];
    mf_shape_box(shape->type, shape->size, NULL, middle, size);
    const double own[6] = {size[0] * size[0], size[1] * size[1], size[2] * size[2], 0, 0, 0};
    Contact contact = contact_of(shape, middle, mf_shape_radius(shape->type, shape->size, NULL));
    contact.kind = mf_shape_kinds[shape->type].touch;
    mf_vec3_copy(contact.size, size);
    mf_inertia_rotate(contact.tensor, own, shape->rotation);
    for (; contact.part < count; contact.part++)
        use(user, &contact);
}

static void mesh_contacts(const mf_HullSet *hulls, const mf_Shape *shape, ContactFn use,
                          void *user) {
    const mf_ConvexHull *hull = mf_hull_of(hulls, mf_hulls_of_mesh(hulls)[shape->mesh]);
    for (uint32_t i = 0; i < 4; i++) {
        Contact contact = contact_of(shape, hull->center, hull->radius);
        contact.kind = MF_TOUCH_HULL;
        contact.part = i;
        for (int k = 0; k < 3; k++)
            contact.size[k] = hull->high[k] > -hull->low[k] ? hull->high[k] : -hull->low[k];
        use(user, &contact);
    }
}

static void shape_contacts(const mf_HullSet *hulls, bool stepped, const mf_Shape *shape,
                           ContactFn use, void *user) {
    double half[3];
    mf_shape_half(shape->type, shape->size, half);
    switch (mf_shape_kinds[shape->type].touch) {
    case MF_TOUCH_BALL:
        ball_contacts(shape, half, stepped, use, user);
        return;
    case MF_TOUCH_CORNER:
        box_contacts(shape, half, use, user);
        return;
    case MF_TOUCH_RIM:
        whole_contacts(shape, 4, use, user);
        return;
    case MF_TOUCH_OVAL:
        whole_contacts(shape, 1, use, user);
        return;
    case MF_TOUCH_HULL:
        mesh_contacts(hulls, shape, use, user);
        return;
    case MF_TOUCH_NONE:
        return;
    }
}

// Links with a solid that cannot touch as itself touch by their points, as all do without `shapes`.
static bool by_points(const mf_Model *model, const mf_ArticulatedConfig *config, uint32_t link) {
    bool whole = true; // every mesh has a hull
    if (!config->shapes)
        return true;
    for (uint32_t i = 0; i < model->mesh_count; i++)
        whole = whole && model->meshes[i].hull_vertex_count > 0;
    if (whole)
        return false;
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape *shape = &model->shapes[i];
        if (!shape->collides || shape->link != link)
            continue;
        if (shape->type == MF_SHAPE_MESH && model->meshes[shape->mesh].hull_vertex_count == 0)
            return true;
    }
    return false;
}

bool mf_art_is_ground(const mf_Shape *shape) {
    const double up[3] = {0, 0, 1};
    double axis[3];
    if (shape->link != MF_NONE || !shape->collides ||
        (shape->type != MF_SHAPE_PLANE && shape->type != MF_SHAPE_HEIGHTS))
        return false;
    mf_quat_rotate(axis, shape->rotation, up);
    return axis[2] > 1.0 - 1e-12;
}

mf_ArtGround mf_art_ground(const mf_Model *model) {
    mf_ArtGround ground = {.model = model};
    for (uint32_t i = model->shape_count; i-- > 0;) {
        if (!mf_art_is_ground(&model->shapes[i]))
            continue;
        ground.first = i;
        ground.end = ground.end > 0 ? ground.end : i + 1;
    }
    return ground;
}

bool mf_art_ground_pair(const mf_ArtGround *ground, uint32_t number, mf_CollideClass *pair) {
    const mf_Model *model = ground->model;
    const mf_Shape *shape = &model->shapes[number];
    bool any = false;
    for (uint32_t i = ground->first; i < ground->end; i++) {
        if (!mf_art_is_ground(&model->shapes[i]))
            continue;
        if (mf_collide_match(model, number, i, pair))
            return true;
        any = true;
    }
    // A ground that is no shape: what has no bits in the file meets only what its pairs list.
    if (any || (shape->dimension > 0 && !(shape->contact_type | shape->contact_with)))
        return false;
    *pair =
        (mf_CollideClass){.dimension = shape->dimension,
                          .margin = shape->margin,
                          .softness = shape->softness,
                          .friction = {shape->friction[0], shape->friction[0], shape->friction[1],
                                       shape->friction[2], shape->friction[2]}};
    return true;
}

static void each_contact(const mf_ArtMotion *motion, const mf_Model *model, ContactFn use,
                         void *user) {
    const mf_ArticulatedConfig *config = &motion->config;
    mf_CollideClass pair;
    if (!config->contacts)
        return;
    const mf_ArtGround ground = mf_art_ground(model);
    uint32_t link = MF_NONE; // the last one examined: parts of a link are neighbors in files
    bool points = false;
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape *shape = &model->shapes[i];
        if (!shape->collides || shape->link == MF_NONE)
            continue;
        points = shape->link == link ? points : by_points(model, config, shape->link);
        link = shape->link;
        if (!points && mf_art_ground_pair(&ground, i, &pair))
            shape_contacts(motion->hulls, motion->plan->stepped, shape, use, user);
    }
    for (uint32_t i = 0; i < model->point_count; i++) {
        const mf_Point *point = &model->points[i];
        if (!(point->flags & MF_POINT_COLLIDES))
            continue;
        points = point->link == link ? points : by_points(model, config, point->link);
        link = point->link;
        if (!points)
            continue;
        Contact contact = {.link = point->link,
                           .shape = point->shape != MF_NONE ? &model->shapes[point->shape] : NULL};
        mf_vec3_copy(contact.position, point->position);
        use(user, &contact);
    }
}

static void count_contact(void *user, const Contact *contact) {
    (void)contact;
    ++*(uint32_t *)user;
}

uint32_t mf_art_contact_count(const mf_ArtMotion *motion, const mf_Model *model) {
    uint32_t count = 0;
    each_contact(motion, model, count_contact, &count);
    return count;
}

typedef struct Filling {
    mf_ArtMotion *motion;
    const mf_Model *model;
} Filling;

// How many contacts a plan link has so far. NULL: a base that is fixed touches nothing, as it could
// not give way.
static uint32_t *count_of(const mf_ArtMotion *motion, int32_t link) {
    if (link < 0)
        return motion->plan->fixed ? NULL : &motion->plan->base_contacts;
    return &motion->links[link].contact_count;
}

static void count_of_link(void *user, const Contact *contact) {
    const mf_ArtMotion *motion = user;
    uint32_t *count = count_of(motion, motion->frames[contact->link].link);
    if (count != NULL)
        ++*count;
}

static uint32_t hull_of(const mf_ArtMotion *motion, const Contact *contact) {
    return contact->kind == MF_TOUCH_HULL ? mf_hulls_of_mesh(motion->hulls)[contact->shape->mesh]
                                          : MF_NONE;
}

static void fill_contact(void *user, const Contact *contact) {
    const Filling *fill = user;
    mf_ArtMotion *motion = fill->motion;
    const mf_ArtFrame *frame = &motion->frames[contact->link];
    const uint32_t shape =
        contact->shape != NULL ? (uint32_t)(contact->shape - fill->model->shapes) : MF_NONE;
    uint32_t *count = count_of(motion, frame->link);
    if (count == NULL)
        return;
    const uint32_t number =
        (frame->link < 0 ? 0 : motion->links[frame->link].first_contact) + *count;
    double *c = mf_art_contact_constants(motion, number), rotation[4];
    ++*count;
    mf_pose_multiply(c, rotation, frame->position, frame->rotation, contact->position,
                     contact->rotation);
    c[3] = contact->radius;
    mf_quat_rotate(c + MF_ART_TOUCH_AXIS, frame->rotation, contact->axis);
    if (contact->kind == MF_TOUCH_OVAL)
        mf_inertia_rotate(c + MF_ART_TOUCH_FRAME, contact->tensor, frame->rotation);
    else
        mf_quat_to_matrix(c + MF_ART_TOUCH_FRAME, rotation);
    mf_vec3_copy(c + MF_ART_TOUCH_SIZE, contact->size);
    motion->contacts[number] = (mf_ArtContact){.link = frame->link,
                                               .shape = shape,
                                               .kind = contact->kind,
                                               .part = contact->part,
                                               .hull = hull_of(motion, contact)};
}

// By links, those of one in the order of the model: they are counted, then stored.
void mf_art_contacts_position(mf_ArtMotion *motion, const mf_Model *model) {
    Filling fill = {.motion = motion, .model = model};
    each_contact(motion, model, count_of_link, motion);
    uint32_t next = motion->plan->base_contacts;
    motion->plan->base_contacts = 0;
    for (uint32_t l = 0; l < motion->plan->link_count; l++) {
        mf_ArtLink *link = &motion->links[l];
        link->first_contact = next;
        link->posed |= link->contact_count > 0;
        next += link->contact_count;
        link->contact_count = 0;
    }
    motion->plan->contact_count = next;
    each_contact(motion, model, fill_contact, &fill);
    for (uint32_t l = motion->plan->link_count; l-- > 0;)
        motion->links[l].posed |= motion->links[l].lifted || motion->plan->law;
    for (uint32_t l = motion->plan->link_count; l-- > 0;)
        if (motion->links[l].posed && motion->links[l].parent >= 0)
            motion->links[motion->links[l].parent].posed = true;
}

// A point of a cylinder's rims, in its axes.
static void rim_point(const mf_ArtContact *contact, const double *size, const double up[3],
                      double out[3]) {
    const double wide = 0.86602540378443864676; // sine of 120 degrees
    const double end = up[2] > 0.0 ? -size[2] : size[2];
    const double cosine = contact->part < 2 ? 1.0 : -0.5;
    const double sine = contact->part == 2 ? wide : contact->part == 3 ? -wide : 0.0;
    double direction[3] = {-up[0], -up[1], 0.0};
    if (!mf_vec3_normalize(direction))
        mf_vec3_set(direction, 1, 0, 0);
    mf_vec3_set(out, size[0] * (cosine * direction[0] - sine * direction[1]),
                size[0] * (cosine * direction[1] + sine * direction[0]),
                contact->part == 1 ? -end : end);
}

void mf_art_contact_point(const mf_ArtMotion *motion, uint32_t i, const double up[3],
                          double position[3]) {
    const mf_ArtContact *contact = &motion->contacts[i];
    const double *c = mf_art_contact_constants(motion, i);
    const double *rotation = c + MF_ART_TOUCH_FRAME;
    double own[3], out[3];
    mf_vec3_copy(position, c);
    if (contact->kind != MF_TOUCH_RIM && contact->kind != MF_TOUCH_HULL)
        return;
    for (int k = 0; k < 3; k++)
        own[k] = rotation[k] * up[0] + rotation[3 + k] * up[1] + rotation[6 + k] * up[2];
    if (contact->kind == MF_TOUCH_RIM) {
        rim_point(contact, c + MF_ART_TOUCH_SIZE, own, out);
    } else {
        const mf_ConvexHull *hull = mf_hull_of(motion->hulls, contact->hull);
        uint32_t corners[4], count = mf_hull_corners(hull, own, corners);
        mf_vec3_copy(out, mf_hull_vertices_f64(hull) + 3 * (size_t)corners[contact->part % count]);
    }
    for (int k = 0; k < 3; k++)
        position[k] += mf_vec3_dot(rotation + 3 * k, out);
}

void mf_art_contacts_surround(mf_ArtMotion *motion) {
    for (uint32_t i = 0; i < motion->plan->contact_count; i++) {
        const double *c = mf_art_contact_constants(motion, i);
        double *around = &mf_art_constants(motion, motion->contacts[i].link)[MF_ART_AROUND];
        // A little more than enough, because kernels round.
        const double own = 1.0001 * (mf_vec3_length(c) + c[3] + c[MF_ART_TOUCH_MARGIN]);
        *around = own > *around ? own : *around;
    }
}
