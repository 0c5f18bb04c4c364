// Contacts of a plan: the model's colliding points, or its shapes themselves. What they do is in
// surfaces.c.
#include "motion/articulated/build.h"
#include "math/scalar.h"

typedef struct Contact {
    uint32_t link;         // [1] of the model
    const mf_Shape *shape; // NULL: a point
    bool disc, oval;
    double tensor[6];        // [m^2] squared radii of an ellipsoid, link axes
    double place[3], radius; // [m] link frame
    double axis[3], side[3]; // [1] link frame
    double cosine, sine;     // [1]
} Contact;

// Calls `use` for every contact of the model.
typedef void (*ContactFn)(void *user, const Contact *contact);

static void shape_contact(const mf_Shape *shape, const double place[3], double radius,
                          ContactFn use, void *user) {
    Contact contact = {.link = shape->link, .shape = shape, .radius = radius};
    mf_quat_rotate(contact.place, shape->rotation, place);
    mf_vec3_add(contact.place, contact.place, shape->position);
    use(user, &contact);
}

// A capsule touches with the spheres at its ends.
static void capsule_contact(const mf_Shape *shape, double end, ContactFn use, void *user) {
    const double place[3] = {0, 0, end * shape->size[1]}, up[3] = {0, 0, 1};
    Contact contact = {.link = shape->link, .shape = shape, .radius = shape->size[0]};
    mf_quat_rotate(contact.place, shape->rotation, place);
    mf_vec3_add(contact.place, contact.place, shape->position);
    mf_quat_rotate(contact.axis, shape->rotation, up);
    use(user, &contact);
}

// A cylinder touches with three points of each rim: the lowest and those a third of a turn away.
static void cylinder_contacts(const mf_Shape *shape, ContactFn use, void *user) {
    const double tall = 0.86602540378443864676; // sine of 120 degrees
    const double turn[3][2] = {{1.0, 0.0}, {-0.5, tall}, {-0.5, -tall}};
    const double up[3] = {0, 0, 1}, side[3] = {1, 0, 0};
    for (int i = 0; i < 6; i++) {
        Contact contact = {.link = shape->link,
                           .shape = shape,
                           .disc = true,
                           .radius = shape->size[0],
                           .cosine = turn[i % 3][0],
                           .sine = turn[i % 3][1]};
        double end[3] = {0, 0, (i < 3 ? 0.5 : -0.5) * shape->size[1]};
        mf_quat_rotate(contact.place, shape->rotation, end);
        mf_vec3_add(contact.place, contact.place, shape->position);
        mf_quat_rotate(contact.axis, shape->rotation, up);
        mf_quat_rotate(contact.side, shape->rotation, side);
        use(user, &contact);
    }
}

static void ellipsoid_contact(const mf_Shape *shape, ContactFn use, void *user) {
    const double *r = shape->size;
    const double own[6] = {r[0] * r[0], r[1] * r[1], r[2] * r[2], 0, 0, 0};
    Contact contact = {.link = shape->link, .shape = shape, .oval = true, .radius = r[0]};
    for (int i = 1; i < 3; i++)
        contact.radius = r[i] > contact.radius ? r[i] : contact.radius;
    mf_vec3_copy(contact.place, shape->position);
    mf_inertia_rotate(contact.tensor, own, shape->rotation);
    use(user, &contact);
}

static void mesh_contacts(const mf_Model *model, const mf_Shape *shape, ContactFn use, void *user) {
    const mf_Mesh *mesh = &model->meshes[shape->mesh];
    for (uint32_t i = 0; i < mesh->hull_vertex_count; i++) {
        const float *v = mesh->vertices + 3 * (size_t)mesh->hull_vertices[i];
        shape_contact(shape, (double[3]){v[0], v[1], v[2]}, 0.0, use, user);
    }
}

static void shape_contacts(const mf_Model *model, const mf_Shape *shape, ContactFn use,
                           void *user) {
    const double *size = shape->size, none[3] = {0, 0, 0};
    switch (shape->type) {
    case MF_SHAPE_POINT:
        shape_contact(shape, none, 0.0, use, user);
        return;
    case MF_SHAPE_SPHERE:
        shape_contact(shape, none, size[0], use, user);
        return;
    case MF_SHAPE_CAPSULE:
        capsule_contact(shape, -0.5, use, user);
        capsule_contact(shape, 0.5, use, user);
        return;
    case MF_SHAPE_BOX:
        for (int i = 0; i < 8; i++)
            shape_contact(shape,
                          (double[3]){(i & 1 ? 0.5 : -0.5) * size[0],
                                      (i & 2 ? 0.5 : -0.5) * size[1],
                                      (i & 4 ? 0.5 : -0.5) * size[2]},
                          0.0, use, user);
        return;
    case MF_SHAPE_CYLINDER:
        cylinder_contacts(shape, use, user);
        return;
    case MF_SHAPE_MESH:
        mesh_contacts(model, shape, use, user);
        return;
    case MF_SHAPE_ELLIPSOID:
        ellipsoid_contact(shape, use, user);
        return;
    case MF_SHAPE_PLANE:
    case MF_SHAPE_HEIGHTS:
        return;
    }
}

// Links with a solid that cannot touch as itself touch by their points, as all do without `shapes`.
static bool by_points(const mf_Model *model, const mf_ArticulatedConfig *config, uint32_t link) {
    if (!config->shapes)
        return true;
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape *shape = &model->shapes[i];
        if (!shape->collides || shape->link != link)
            continue;
        if (shape->type == MF_SHAPE_MESH && model->meshes[shape->mesh].hull_vertex_count == 0)
            return true;
    }
    return false;
}

uint32_t mf_art_ground_shape(const mf_Model *model) {
    const double up[3] = {0, 0, 1};
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape *shape = &model->shapes[i];
        double axis[3];
        if (shape->link != MF_NONE || !shape->collides ||
            (shape->type != MF_SHAPE_PLANE && shape->type != MF_SHAPE_HEIGHTS))
            continue;
        mf_quat_rotate(axis, shape->rotation, up);
        if (axis[2] > 1.0 - 1e-12)
            return i;
    }
    return MF_NONE;
}

// A shape that the file does not let touch its ground meets no other ground.
static bool meets_ground(const mf_Model *model, uint32_t shape, uint32_t ground) {
    mf_CollidePair pair;
    return ground == MF_NONE || mf_collide_match(model, shape, ground, &pair);
}

static void each_contact(const mf_Model *model, const mf_ArticulatedConfig *config, ContactFn use,
                         void *user) {
    if (!config->contacts)
        return;
    const uint32_t ground = mf_art_ground_shape(model);
    bool some = !config->shapes; // most models need no look at every shape for every shape
    for (uint32_t i = 0; i < model->shape_count; i++)
        some = some || (model->shapes[i].type == MF_SHAPE_MESH &&
                        model->meshes[model->shapes[i].mesh].hull_vertex_count == 0);
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape *shape = &model->shapes[i];
        if (shape->collides && shape->link != MF_NONE &&
            !(some && by_points(model, config, shape->link)) && meets_ground(model, i, ground))
            shape_contacts(model, shape, use, user);
    }
    for (uint32_t i = 0; i < model->point_count; i++) {
        const mf_Point *point = &model->points[i];
        if (!some || !(point->flags & MF_POINT_COLLIDES) || !by_points(model, config, point->link))
            continue;
        Contact contact = {.link = point->link};
        mf_vec3_copy(contact.place, point->position);
        use(user, &contact);
    }
}

static void count_contact(void *user, const Contact *contact) {
    (void)contact;
    ++*(uint32_t *)user;
}

uint32_t mf_art_contact_count(const mf_Model *model, const mf_ArticulatedConfig *config) {
    uint32_t count = 0;
    each_contact(model, config, count_contact, &count);
    return count;
}

typedef struct Filling {
    mf_ArtPlan *plan;
    const mf_Model *model;
    int32_t link;  // [1] plan link whose contacts are wanted
    uint32_t next; // [1]
} Filling;

static void fill_contact(void *user, const Contact *contact) {
    Filling *fill = user;
    mf_ArtPlan *plan = fill->plan;
    const mf_ArtPlace *place = &plan->places[contact->link];
    const uint32_t shape =
        contact->shape != NULL ? (uint32_t)(contact->shape - fill->model->shapes) : MF_NONE;
    if (place->link != fill->link)
        return;
    double *c =
        plan->constants_f64 + plan->contact_offset + (size_t)fill->next * MF_ART_CONTACT_VALUES;
    mf_quat_rotate(c, place->turn, contact->place);
    mf_vec3_add(c, c, place->place);
    c[3] = contact->radius;
    mf_quat_rotate(c + 4, place->turn, contact->axis);
    mf_quat_rotate(c + 7, place->turn, contact->side);
    c[10] = contact->cosine;
    c[11] = contact->sine;
    if (contact->oval)
        mf_inertia_rotate(c + 4, contact->tensor, place->turn);
    plan->contacts[fill->next++] = (mf_ArtContact){
        .link = fill->link, .shape = shape, .disc = contact->disc, .oval = contact->oval};
}

// A base that is held touches nothing: it could not give way.
void mf_art_contacts_place(mf_ArtPlan *plan, const mf_Model *model) {
    Filling fill = {.plan = plan, .model = model};
    for (fill.link = plan->fixed ? 0 : -1; fill.link < (int32_t)plan->link_count; fill.link++) {
        uint32_t first = fill.next;
        each_contact(model, &plan->config, fill_contact, &fill);
        if (fill.link < 0) {
            plan->base_contacts = fill.next;
            continue;
        }
        plan->links[fill.link].first_contact = first;
        plan->links[fill.link].contact_count = fill.next - first;
        plan->links[fill.link].placed |= fill.next > first;
    }
    plan->contact_count = fill.next;
    for (uint32_t l = plan->link_count; l-- > 0;)
        plan->links[l].placed |= plan->links[l].lifted;
    for (uint32_t l = plan->link_count; l-- > 0;)
        if (plan->links[l].placed && plan->links[l].parent >= 0)
            plan->links[plan->links[l].parent].placed = true;
}

mf_Status mf_art_contacts_fill(mf_ArtPlan *plan, const mf_Model *model, mf_Context *context,
                               mf_Error *error) {
    mf_art_contacts_place(plan, model);
    return mf_art_surfaces_fill(plan, model, context, error);
}
