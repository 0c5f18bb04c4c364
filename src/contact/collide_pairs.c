// Which pairs of shapes a plan of collisions has, and the classes of what they do.
//
// Pairs of a robot are listed. A model with many bodies that float has as many pairs as their
// square; those between shapes of such bodies are not listed but follow from the surfaces of both
// (mf_CollideFloating). Surfaces are what the filter and the mix of two shapes depend on, so a
// shape that a pair or an exclusion of the file names keeps its listed pairs.
#include "base/hash.h"
#include "contact/collide_draft.h"
#include "math/scalar.h"

#include <string.h>

enum { SURFACES_MOST = 1024 }; // [1] shapes with further ones keep their listed pairs

typedef struct Surface { // up to two of its shapes, of different bodies
    uint32_t shapes[2], bodies[2];
} Surface;

typedef struct Lists {
    mf_CollideDraft *draft;
    const mf_Model *model;
    uint32_t *table; // [1] class + 1 at the place of its hash, 0: none
    uint32_t table_size, classes_size, pairs_size; // [1] capacities, of the table a power of 2
    uint32_t *position; // [1] per shape of the plan: its place among the floating ones, MF_NONE
    Surface *surfaces;
    mf_Error *error;
} Lists;

static mf_Status no_memory(const Lists *lists) {
    return mf_fail(lists->error, MF_NO_MEMORY, "no memory for the collisions of %s",
                   lists->model->name);
}

// Makes space for one more element behind `count`.
static mf_Status extend(const Lists *lists, void **array, uint32_t count, uint32_t *size,
                        size_t each) {
    if (count < *size)
        return MF_OK;
    const uint32_t more = *size == 0 ? 64 : 2 * *size;
    void *wider = mf_allocate(lists->draft->context, more, each);
    if (wider == NULL)
        return no_memory(lists);
    if (count > 0)
        memcpy(wider, *array, count * each);
    mf_release(lists->draft->context, *array);
    *array = wider;
    *size = more;
    return MF_OK;
}

// ---- classes ------------------------------------------------------------------------------------

static uint32_t hash_of(const mf_CollideClass *item) {
    uint64_t hash = mf_hash_u32(mf_hash_u32(1469598103934665603u, item->most), item->dimension);
    hash = mf_hash_doubles(hash, item->friction, 5);
    hash = mf_hash_doubles(hash, item->softness.reference, 2);
    hash = mf_hash_doubles(hash, item->softness.impedance, 5);
    return (uint32_t)(mf_hash_doubles(hash, &item->margin, 1) >> 32);
}

// Where in the table a class is or belongs.
static uint32_t place_class(const Lists *lists, const mf_CollideClass *item) {
    uint32_t at = hash_of(item) & (lists->table_size - 1);
    while (lists->table[at] != 0 &&
           memcmp(&lists->draft->classes[lists->table[at] - 1], item, sizeof *item) != 0)
        at = (at + 1) & (lists->table_size - 1);
    return at;
}

static mf_Status extend_table(Lists *lists) {
    const uint32_t count = lists->draft->plan.class_count;
    if (2 * count < lists->table_size)
        return MF_OK;
    mf_release(lists->draft->context, lists->table);
    lists->table_size = lists->table_size == 0 ? 256 : 2 * lists->table_size;
    lists->table = mf_allocate(lists->draft->context, lists->table_size, sizeof *lists->table);
    if (lists->table == NULL)
        return no_memory(lists);
    for (uint32_t i = 0; i < count; i++)
        lists->table[place_class(lists, &lists->draft->classes[i])] = i + 1;
    return MF_OK;
}

// The number of a class, which is added where it is new.
static mf_Status number_class(Lists *lists, const mf_CollideClass *item, uint32_t *number) {
    mf_CollideDraft *draft = lists->draft;
    MF_TRY(extend_table(lists));
    const uint32_t at = place_class(lists, item);
    if (lists->table[at] == 0) {
        void *classes = draft->classes;
        MF_TRY(extend(lists, &classes, draft->plan.class_count, &lists->classes_size,
                      sizeof *draft->classes));
        draft->classes = classes;
        draft->classes[draft->plan.class_count++] = *item;
        draft->plan.margin = mf_larger(item->margin, draft->plan.margin);
        lists->table[at] = draft->plan.class_count;
    }
    *number = lists->table[at] - 1;
    return MF_OK;
}

static uint32_t most_contacts(mf_CollideKind a, mf_CollideKind b) {
    if (mf_collide_is_smooth(a) || mf_collide_is_smooth(b))
        return 1;
    if ((a == MF_COLLIDE_CAPSULE && b != MF_COLLIDE_HULL && b != MF_COLLIDE_CYLINDER) ||
        b == MF_COLLIDE_CAPSULE)
        return 2;
    return a == MF_COLLIDE_BOX && b == MF_COLLIDE_BOX ? MF_COLLIDE_CONTACTS : MF_COLLIDE_CORNERS;
}

// The class of two shapes of the plan, kind of a <= kind of b; MF_NONE: they do not touch.
static mf_Status find_class(Lists *lists, uint32_t a, uint32_t b, uint32_t *number) {
    const mf_CollideShape *first = &lists->draft->shapes[a], *second = &lists->draft->shapes[b];
    mf_CollideClass made;
    memset(&made, 0, sizeof made); // its bytes are compared
    *number = MF_NONE;
    made.most = most_contacts(first->kind, second->kind);
    if (!mf_collide_match(lists->model, first->shape, second->shape, &made))
        return MF_OK;
    return number_class(lists, &made, number);
}

// ---- floating shapes ----------------------------------------------------------------------------

static bool same_surface(const mf_Shape *a, const mf_Shape *b) {
    return a->contact_type == b->contact_type && a->contact_with == b->contact_with &&
           a->dimension == b->dimension && a->priority == b->priority &&
           memcmp(a->friction, b->friction, sizeof a->friction) == 0 &&
           memcmp(&a->mix, &b->mix, sizeof a->mix) == 0 &&
           memcmp(&a->margin, &b->margin, sizeof a->margin) == 0 &&
           memcmp(&a->gap, &b->gap, sizeof a->gap) == 0 &&
           memcmp(&a->softness, &b->softness, sizeof a->softness) == 0;
}

// Shapes that the file names in a pair, or whose body it names in an exclusion.
static bool is_named(const mf_Model *model, uint32_t shape) {
    const uint32_t body = model->shapes[shape].body;
    bool named = false;
    for (uint32_t i = 0; i < model->pair_count && !named; i++)
        named = model->pairs[i].shapes[0] == shape || model->pairs[i].shapes[1] == shape;
    for (uint32_t i = 0; i < model->exclusion_count && !named; i++)
        named = model->exclusions[i].bodies[0] == body || model->exclusions[i].bodies[1] == body;
    return named;
}

static uint32_t count_bodies(const mf_Model *model) {
    uint32_t count = 0;
    for (uint32_t l = 0; l < model->link_count; l++)
        count += mf_collide_floating_root(model, l) == l;
    return count;
}

// The surface of a floating shape; MF_NONE: there are too many.
static uint32_t surface_of(Lists *lists, uint32_t number, uint32_t body) {
    mf_CollideDraft *draft = lists->draft;
    const mf_CollideShape *shape = &draft->shapes[number];
    uint32_t i = 0;
    for (; i < draft->plan.surface_count; i++)
        if (draft->shapes[lists->surfaces[i].shapes[0]].kind == shape->kind &&
            same_surface(&lists->model->shapes[draft->shapes[lists->surfaces[i].shapes[0]].shape],
                         &lists->model->shapes[shape->shape]))
            break;
    if (i == SURFACES_MOST)
        return MF_NONE;
    Surface *surface = &lists->surfaces[i];
    if (i == draft->plan.surface_count) {
        *surface = (Surface){{number, MF_NONE}, {body, MF_NONE}};
        draft->plan.surface_count++;
    } else if (surface->shapes[1] == MF_NONE && surface->bodies[0] != body) {
        surface->shapes[1] = number;
        surface->bodies[1] = body;
    }
    return i;
}

// In order of their kind, so that the first shape of a pair has the smaller one. Overlaps that a
// file leaves out at the start (contact_pairs.c) are pairs that must be listed.
static void list_floating(Lists *lists) {
    mf_CollideDraft *draft = lists->draft;
    const mf_Model *model = lists->model;
    const bool plain = model->body_count > 0 || model->file == NULL || model->file[0] == '\0';
    if (!plain || count_bodies(model) <= MF_COLLIDE_LISTED)
        return;
    for (uint32_t kind = MF_COLLIDE_PLANE + 1; kind <= MF_COLLIDE_HULL; kind++) {
        for (uint32_t i = 0; i < draft->plan.shape_count; i++) {
            const uint32_t shape = draft->shapes[i].shape, link = model->shapes[shape].link;
            if (draft->shapes[i].kind != kind || draft->shapes[i].frame == MF_NONE ||
                draft->plan.floating_count == MF_COLLIDE_FLOATING || is_named(model, shape))
                continue;
            const uint32_t body = mf_collide_floating_root(model, link);
            const uint32_t surface = body == MF_NONE ? MF_NONE : surface_of(lists, i, body);
            if (surface == MF_NONE)
                continue;
            lists->position[i] = draft->plan.floating_count;
            draft->floating[draft->plan.floating_count++] = (mf_CollideFloating){i, body, surface};
        }
    }
}

// The classes of all surfaces with each other, from examples of different bodies.
static mf_Status class_surfaces(Lists *lists) {
    mf_CollideDraft *draft = lists->draft;
    const uint32_t count = draft->plan.surface_count;
    draft->surfaces =
        mf_allocate(draft->context, (size_t)count * count + 1, sizeof *draft->surfaces);
    if (draft->surfaces == NULL)
        return no_memory(lists);
    for (uint32_t a = 0; a < count; a++) {
        for (uint32_t b = 0; b < count; b++) {
            const Surface *first = &lists->surfaces[a], *second = &lists->surfaces[b];
            uint32_t *number = &draft->surfaces[(size_t)a * count + b];
            *number = MF_NONE;
            for (uint32_t k = 0; k < 4 && *number == MF_NONE; k++)
                if (first->shapes[k / 2] != MF_NONE && second->shapes[k % 2] != MF_NONE &&
                    first->bodies[k / 2] != second->bodies[k % 2])
                    MF_TRY(find_class(lists, first->shapes[k / 2], second->shapes[k % 2], number));
        }
    }
    return MF_OK;
}

// ---- listed pairs -------------------------------------------------------------------------------

// Whether the pair of two shapes follows from their surfaces.
static bool is_implied(const Lists *lists, uint32_t a, uint32_t b) {
    const uint32_t first = lists->position[a], second = lists->position[b];
    return first != MF_NONE && second != MF_NONE &&
           lists->draft->floating[first].body != lists->draft->floating[second].body;
}

// Makes the pair of two shapes of the plan when they may touch and move against each other.
static mf_Status add_pair(Lists *lists, uint32_t a, uint32_t b) {
    mf_CollideDraft *draft = lists->draft;
    if (draft->shapes[a].kind > draft->shapes[b].kind) {
        const uint32_t keep = a;
        a = b;
        b = keep;
    }
    if (draft->shapes[a].frame == draft->shapes[b].frame ||
        draft->shapes[b].kind == MF_COLLIDE_PLANE)
        return MF_OK;
    uint32_t touches;
    MF_TRY(find_class(lists, a, b, &touches));
    if (touches == MF_NONE)
        return MF_OK;
    MF_CHECK(draft->plan.pair_count < MF_COLLIDE_PAIRS, lists->error, MF_LIMIT,
             "model %s: more than %d pairs of its %u shapes may touch", lists->model->name,
             MF_COLLIDE_PAIRS, draft->plan.shape_count);
    void *pairs = draft->pairs;
    MF_TRY(extend(lists, &pairs, draft->plan.pair_count, &lists->pairs_size, sizeof *draft->pairs));
    draft->pairs = pairs;
    draft->pairs[draft->plan.pair_count++] = (mf_CollidePair){a, b, touches};
    draft->plan.listed_contacts += draft->classes[touches].most;
    return MF_OK;
}

static mf_Status list_pairs(Lists *lists) {
    const uint32_t count = lists->draft->plan.shape_count;
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = a + 1; b < count; b++)
            if (!is_implied(lists, a, b))
                MF_TRY(add_pair(lists, a, b));
    return MF_OK;
}

mf_Status mf_collide_make_pairs(mf_CollideDraft *draft, const mf_Model *model, mf_Error *error) {
    Lists lists = {.draft = draft, .model = model, .error = error};
    const size_t shapes = draft->plan.shape_count;
    draft->floating = mf_allocate(draft->context, shapes + 1, sizeof *draft->floating);
    lists.position = mf_allocate(draft->context, shapes + 1, sizeof *lists.position);
    lists.surfaces = mf_allocate(draft->context, SURFACES_MOST, sizeof *lists.surfaces);
    mf_Status status = MF_OK;
    if (draft->floating == NULL || lists.position == NULL || lists.surfaces == NULL) {
        status = no_memory(&lists);
    } else {
        memset(lists.position, 0xff, (shapes + 1) * sizeof *lists.position); // MF_NONE
        list_floating(&lists);
    }
    MF_THEN(status, class_surfaces(&lists));
    MF_THEN(status, list_pairs(&lists));
    mf_release(draft->context, lists.table);
    mf_release(draft->context, lists.position);
    mf_release(draft->context, lists.surfaces);
    return status;
}
