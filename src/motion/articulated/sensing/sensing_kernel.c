// Contacts and lengths of spatial tendons in the present state of a few lanes, for sensors
// (sensing.h). The geometry is that of a step, so a sensor detects the same contacts as the step.
//
// Invariants: a lane never reads another lane; values of robots with a fault do not change.
#include "motion/articulated/sensing/sensing.h"

#include "motion/articulated/actuator/adhesion.h"
#include "motion/articulated/constraint/load_mocaps.h"

// One contact as sensors know it, world axes.
typedef struct Seen {
    mf_mask exists;
    mf_lane distance; // [m]
    Vec position;     // [m]
    Vec normal;       // [1]
} Seen;

// The contacts that a sensor tells so far. A lane's are in order of `key`, and `key` is beyond all
// others where there is none.
typedef struct ContactSlots {
    mf_lane found; // [1]
    mf_lane key[MF_ARTICULATED_SENSING_SLOTS];
    Seen slots[MF_ARTICULATED_SENSING_SLOTS];
} ContactSlots;

static void slots_start(const mf_ContactQuery *query, ContactSlots *slots) {
    slots->found = mf_zero();
    for (uint32_t k = 0; k < query->slots; k++) {
        slots->key[k] = mf_set((mf_real)1e30);
        slots->slots[k] = MF_VALUE(Seen, mf_not(mf_mask_all()), mf_zero(), vec_zero(), vec_zero());
    }
}

// Takes its place in the order and moves the others on.
static void slots_add(const mf_ContactQuery *query, const Seen *seen, ContactSlots *slots) {
    Seen own = *seen;
    mf_lane key = query->nearest ? seen->distance : slots->found;
    mf_mask open = seen->exists;
    slots->found = slots->found + mf_keep(seen->exists, mf_set((mf_real)1));
    for (uint32_t k = 0; k < query->slots; k++) {
        const mf_mask before = mf_and(open, mf_less(key, slots->key[k]));
        if (!mf_any(before))
            continue;
        const Seen other = slots->slots[k];
        const mf_lane other_key = slots->key[k];
        Seen *slot = &slots->slots[k];
        slot->exists = mf_or(other.exists, before);
        slot->distance = mf_select(before, own.distance, other.distance);
        slot->position = vec_select(before, own.position, other.position);
        slot->normal = vec_select(before, own.normal, other.normal);
        slots->key[k] = mf_select(before, key, other_key);
        own.distance = mf_select(before, other.distance, own.distance);
        own.position = vec_select(before, other.position, own.position);
        own.normal = vec_select(before, other.normal, own.normal);
        key = mf_select(before, other_key, key);
    }
}

// ---- contacts -----------------------------------------------------------------------------------

// Of one contact with the ground.
static Seen seen_touch(const mf_ArtPlan *plan, const Work *work, uint32_t i, int8_t sign) {
    const Touch *touch = &work->contacts.touch[i];
    const Pose *pose = &work->contacts.pose[mf_art_contacts(plan)[i].link + 1];
    const mf_lane margin = constant_at(contact_constants(plan, i), MF_ART_TOUCH_MARGIN);
    const mf_lane distance = margin - touch->depth;
    Vec arm = touch->arm; // with MuJoCo's law half-way already
    if (!plan->law)
        arm = vec_fma(touch->normal, distance * mf_set((mf_real)-0.5), arm);
    return MF_VALUE(Seen, touch_exists(touch), distance,
                    mat_apply_add(&pose->rotation, arm, pose->position),
                    vec_scale(mat_apply(&pose->rotation, touch->normal), mf_set((mf_real)sign)));
}

static void add_touches(const mf_ArtPlan *plan, const mf_ArtSensingItem *item, const int8_t *signs,
                        const Work *work, ContactSlots *slots) {
    for (uint32_t i = 0; work->contacts.any && i < plan->contact_count; i++) {
        if (signs[i] == 0 || !work->contacts.touch[i].near)
            continue;
        const Seen seen = seen_touch(plan, work, i, signs[i]);
        slots_add(&item->query, &seen, slots);
    }
}

// Which way the normal of a pair goes for an item; 0: it is not measured.
static int8_t sign_of_pair(const mf_CollidePlan *collide, const int8_t *signs, uint32_t pair) {
    uint32_t indices[2];
    if (pair < collide->pair_count)
        return signs[pair];
    mf_collide_indices(collide, pair, indices);
    signs += collide->pair_count;
    return mf_art_sides_match((uint32_t)signs[indices[0]], (uint32_t)signs[indices[1]]);
}

static void add_pairs(const mf_ArtPlan *plan, const mf_ArtSensingItem *item, const int8_t *signs,
                      const LinkContacts *all, mf_mask lanes, ContactSlots *slots) {
    for (uint32_t i = 0; i < all->count; i++) {
        const LinkContact *contact = &all->list[i];
        const int8_t sign = sign_of_pair(mf_art_collide(plan), signs, contact->pair);
        if (sign == 0)
            continue;
        const Seen seen = {mf_and(contact->exists, lanes), -contact->depth, contact->point,
                           vec_scale(contact->normal, mf_set((mf_real)sign))};
        slots_add(&item->query, &seen, slots);
    }
}

static void store_value(const Step *s, uint32_t *row, mf_mask lanes, mf_lane value) {
    mf_real *at = (mf_real *)s->block->rows[MF_ART_ROW_SENSING] + (size_t)(*row)++ * MF_BLOCK;
    mf_store_where(mf_and(s->alive, lanes), at, mf_keep(mf_finite(value), value));
}

static void store_contacts(const Step *s, const mf_ArtSensingItem *item, const ContactSlots *slots,
                           mf_mask lanes) {
    uint32_t row = item->row;
    for (uint32_t k = 0; k < item->query.slots; k++) {
        const Seen *seen = &slots->slots[k];
        const Vec parts[2] = {seen->position, seen->normal};
        if (item->query.data & MF_CONTACT_FOUND)
            store_value(s, &row, lanes, mf_keep(seen->exists, slots->found));
        if (item->query.data & MF_CONTACT_DISTANCE)
            store_value(s, &row, lanes, mf_keep(seen->exists, seen->distance));
        for (uint32_t p = 0; p < 2; p++) {
            if (!(item->query.data & (p == 0 ? MF_CONTACT_POSITION : MF_CONTACT_NORMAL)))
                continue;
            store_value(s, &row, lanes, mf_keep(seen->exists, parts[p].x));
            store_value(s, &row, lanes, mf_keep(seen->exists, parts[p].y));
            store_value(s, &row, lanes, mf_keep(seen->exists, parts[p].z));
        }
    }
}

static void sense_contacts(const Step *s, const Work *work, const LinkContacts *all,
                           mf_mask lanes) {
    const mf_ArtSensing *sensing = s->block->sensing;
    const mf_ArtSensingItem *items = mf_art_sensing_items(sensing);
    ContactSlots slots;
    for (uint32_t i = 0; i < sensing->count; i++) {
        const mf_ArtSensingItem *item = &items[i];
        if (item->kind != MF_ART_SENSE_CONTACTS)
            continue;
        const int8_t *signs = mf_art_sensing_signs(sensing) + item->first_sign;
        slots_start(&item->query, &slots);
        add_touches(s->plan, item, signs, work, &slots);
        if (all != NULL)
            add_pairs(s->plan, item, signs + s->plan->contact_count, all, lanes, &slots);
        store_contacts(s, item, &slots, lanes);
    }
}

// All contacts between shapes, in parts of the lanes where they are more than the list holds.
static void sense_pairs(const Step *s, Work *work) {
    LinkContacts *all = &work->link_contacts;
    const uint8_t *requested = mf_art_sensing_requested(s->block->sensing);
    for (uint32_t first = 0, width; first < MF_LANES; first += width) {
        width = MF_LANES - first;
        link_contacts_find(s->plan, &work->contacts, requested, lane_range(first, width), all);
        while (all->overflow && width > 1) {
            width /= 2;
            link_contacts_find(s->plan, &work->contacts, requested, lane_range(first, width), all);
        }
        sense_contacts(s, work, all, lane_range(first, width));
    }
}

// ---- tendons ------------------------------------------------------------------------------------

// Of the side that is nearer than the margin, the lower first; else 0.
static mf_lane limit_of(const mf_ArtSensingItem *item, mf_lane length, mf_lane rate, bool speed) {
    const mf_lane margin = mf_set((mf_real)item->margin);
    const mf_lane low = length - mf_set((mf_real)item->lower),
                  high = mf_set((mf_real)item->upper) - length;
    const mf_mask is_low = mf_less(low, margin), is_high = mf_less(high, margin);
    if (speed)
        return mf_select(is_low, rate, mf_keep(is_high, -rate));
    return mf_select(is_low, low - margin, mf_keep(is_high, high - margin));
}

static void sense_tendons(const Step *s, const State *state, const Work *work) {
    const mf_ArtSensing *sensing = s->block->sensing;
    const mf_ArtSensingItem *items = mf_art_sensing_items(sensing);
    TendonPath path;
    for (uint32_t i = 0; i < sensing->count; i++) {
        const mf_ArtSensingItem *item = &items[i];
        uint32_t row = item->row;
        if (item->kind == MF_ART_SENSE_CONTACTS)
            continue;
        tendon_path(s->plan, state, work, item->tendon, &path);
        mf_lane value = path.length;
        if (item->kind == MF_ART_SENSE_RATE)
            value = path.speed;
        else if (item->kind != MF_ART_SENSE_LENGTH)
            value = limit_of(item, path.length, path.speed, item->kind == MF_ART_SENSE_LIMIT_RATE);
        store_value(s, &row, mf_mask_all(), value * mf_set((mf_real)item->scale));
    }
}

// In the block's scratch, of which a step needs more (articulated_kernel.c).
typedef struct StepMemory {
    State state;
    Work work;
} StepMemory;

static void memory_carve(const mf_ArtPlan *plan, mf_Carver *carver, StepMemory *memory) {
    state_carve(plan, carver, &memory->state);
    work_carve(plan, carver, &memory->work);
}

void MF_KERNEL(mf_articulated_sense)(const mf_ArtBlock *block) {
    Step s = {.block = block, .plan = block->plan};
    s.alive = mf_index_equal(mf_load_index((const int32_t *)block->fault), mf_set_index(0));
    s.all_alive = mf_all(s.alive);
    if (!mf_any(s.alive))
        return;
    const mf_ArtPlan *plan = s.plan;
    const Drive drive = {.active = true, .step = mf_zero()};
    mf_Carver carver = {(char *)block->scratch, 0};
    StepMemory *memory;
    MF_CARVE(&carver, memory, 1);
    memory_carve(plan, &carver, memory);
    State *state = &memory->state;
    Work *work = &memory->work;
    load_state(block, state);
    load_mocaps(block, work);
    for (uint32_t l = 0; l < plan->link_count; l++)
        aba_velocity_rate(plan, state, l, work);
    work->contacts.any = work->contacts.implicit = false;
    work->contacts.terrain = block->terrain;
    work->contacts.pose[0] =
        MF_VALUE(Pose, quat_matrix(state->attitude), state->position, state->velocity);
    find_poses(plan, state, work);
    if (block->sensing->touches)
        find_contacts(plan, &drive, state, work);
    if (block->sensing->contacts)
        sense_pairs(&s, work);
    else
        sense_contacts(&s, work, NULL, mf_mask_all());
    sense_tendons(&s, state, work);
}
