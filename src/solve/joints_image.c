// Run-time joints in snapshots and hashes: the number of slots and the records, as they are; behind
// them the contacts from which the next step starts. What a step makes of them follows from them.
#include "base/hash.h"
#include "solve/joints.h"
#include "math/scalar.h"
#include "world/world_state.h"

#include <string.h>

typedef struct ImageHead {
    uint32_t used;        // [1] records behind it
    uint32_t record_size; // [byte]
    uint32_t contacts;    // [1] behind those
    uint32_t contact_size;
} ImageHead;

static size_t size_of(const ImageHead *head) {
    return sizeof *head + (size_t)head->used * head->record_size +
           (size_t)head->contacts * head->contact_size;
}

static ImageHead head_of(const mf_WorldJoints *all) {
    return (ImageHead){all->used, sizeof *all->records, all->solver->warm_count,
                       sizeof *all->solver->warm};
}

static size_t image_size(const void *user) {
    const ImageHead head = head_of(user);
    return size_of(&head);
}

static void image_save(const void *user, void *image) {
    const mf_WorldJoints *all = user;
    const ImageHead head = head_of(all);
    char *to = image;
    memcpy(to, &head, sizeof head);
    to += sizeof head;
    if (head.used > 0)
        memcpy(to, all->records, head.used * sizeof *all->records);
    to += head.used * sizeof *all->records;
    if (head.contacts > 0)
        memcpy(to, all->solver->warm, head.contacts * sizeof *all->solver->warm);
}

static uint64_t image_hash(const void *user, uint64_t hash) {
    const mf_WorldJoints *all = user;
    const mf_Solver *solver = all->solver;
    for (uint32_t i = 0; i < solver->warm_count; i++) {
        const mf_WarmContact *warm = &solver->warm[i];
        if (warm->over[0] || warm->over[1])
            continue;
        hash = mf_hash_bytes(hash, &warm->shapes, sizeof warm->shapes);
        hash = mf_hash_doubles(hash, warm->force, 3);
        hash = mf_hash_doubles(hash, warm->moment, 3);
    }
    if (all->used == 0)
        return hash;
    hash = mf_hash_u32(hash, all->solver->rounds);
    hash = mf_hash_doubles(hash, &all->solver->tolerance, 1);
    for (uint32_t slot = 0; slot < all->used; slot++) {
        const mf_JointRecord *record = &all->records[slot];
        hash = mf_hash_bytes(hash, record, offsetof(mf_JointRecord, lower_angle));
        if (record->exists && mf_joint_has_drive(record))
            hash = mf_hash_bytes(hash, &record->lower_angle,
                                 offsetof(mf_JointRecord, part) -
                                     offsetof(mf_JointRecord, lower_angle));
    }
    return hash;
}

static void forget_next(mf_WorldJoints *all) {
    mf_release(all->context, all->next_records);
    mf_release(all->context, all->next_warm);
    all->next_records = NULL;
    all->next_warm = NULL;
    all->next_used = all->next_warm_count = 0;
}

static mf_Status check_all(const mf_WorldJoints *all, mf_Error *error) {
    for (uint32_t slot = 0; slot < all->next_used; slot++) {
        const mf_JointRecord *record = &all->next_records[slot];
        if (record->exists)
            MF_TRY(mf_joints_check(all, record, error));
    }
    return MF_OK;
}

// Of another kind of world.
static bool is_wrong(const mf_WorldJoints *all, const ImageHead *head, size_t size) {
    return head->record_size != sizeof *all->records || head->used > MF_JOINTS_LIMIT ||
           head->contact_size != sizeof *all->next_warm ||
           head->contacts > all->solver->warm_capacity || size != size_of(head);
}

static mf_Status image_prepare(void *user, const void *image, size_t size, mf_Error *error) {
    mf_WorldJoints *all = user;
    ImageHead head = {0, 0, 0, 0};
    if (size >= sizeof head)
        memcpy(&head, image, sizeof head);
    if (size < sizeof head || is_wrong(all, &head, size))
        return mf_fail(error, MF_BAD_ARGUMENT, "snapshot: made by a world without such joints");
    forget_next(all);
    all->next_records =
        mf_allocate(all->context, (size_t)head.used + all->slot_capacity + all->reserved + 1,
                    sizeof *all->records);
    all->next_warm = mf_allocate(all->context, head.contacts, sizeof *all->next_warm);
    if (all->next_records == NULL || all->next_warm == NULL) {
        forget_next(all);
        return mf_fail(error, MF_NO_MEMORY, "snapshot: no memory for %u joints", head.used);
    }
    const char *from = (const char *)image + sizeof head;
    memcpy(all->next_records, from, head.used * sizeof *all->next_records);
    from += head.used * sizeof *all->next_records;
    memcpy(all->next_warm, from, head.contacts * sizeof *all->next_warm);
    all->next_used = head.used;
    all->next_warm_count = head.contacts;
    mf_Status status = check_all(all, error);
    MF_THEN(status, mf_joints_reserve(all, all->next_records, all->next_used, error));
    if (status != MF_OK)
        forget_next(all);
    return status;
}

static void image_restore(void *user) {
    mf_WorldJoints *all = user;
    mf_solver_take_warm(all->solver, all->next_warm, all->next_warm_count);
    mf_release(all->context, all->records);
    all->records = all->next_records;
    all->used = all->next_used;
    all->capacity = all->used + all->slot_capacity + all->reserved + 1;
    all->next_records = NULL;
    all->count = all->lowest = 0;
    all->version++;
    for (uint32_t slot = 0; slot < all->used; slot++)
        all->count += all->records[slot].exists;
    forget_next(all);
}

mf_Status mf_joints_keep(mf_WorldJoints *all, mf_Error *error) {
    const mf_WorldState state = {.user = all,
                                 .size = image_size,
                                 .save = image_save,
                                 .prepare = image_prepare,
                                 .restore = image_restore,
                                 .hash = image_hash};
    return mf_world_keep_state(all->world, &state, error);
}
