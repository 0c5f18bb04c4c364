// Hashes of the state, and snapshots from which a world can be restored.
//
// An image is a header (magic, version, byte order, layout hash, payload size, CRC, tick) followed
// by the data of all state fields in order of creation and by the state outside of fields
// (world_state.h), whose size may differ between images.
#include "world/attach.h"
#include "world/group.h"
#include "base/floats.h"
#include "base/hash.h"

#include <string.h>

#define SNAPSHOT_MAGIC UINT64_C(0x31504e535946414d) // "MAYFSNP1" in little endian
#define SNAPSHOT_VERSION 1u
#define SNAPSHOT_ENDIAN 0x01020304u

typedef struct SnapshotHeader {
    uint64_t magic;
    uint32_t version;
    uint32_t endian;
    uint64_t layout;  // hash of everything that determines the payload's shape and meaning
    uint64_t payload; // [byte]
    uint64_t tick;
    uint32_t crc; // of the payload
    uint32_t header_crc;
} SnapshotHeader;

static uint64_t hash_text(uint64_t hash, const char *text) {
    return mf_hash_bytes(hash, text, strlen(text) + 1);
}

static uint64_t hash_number(uint64_t hash, uint64_t number) {
    return mf_hash_bytes(hash, &number, sizeof number);
}

static uint64_t layout_hash(const mf_World *world) {
    uint64_t hash = hash_number(MF_HASH_START, (uint64_t)world->config.step);
    hash = hash_number(hash, world->config.seed);
    hash = mf_hash_bytes(hash, &world->config.gravity, sizeof world->config.gravity);
    if (!mf_world_pulls_down(&world->config))
        hash = mf_hash_bytes(hash, world->config.gravity_direction,
                             sizeof world->config.gravity_direction);
    hash = hash_number(hash, mf_terrain_hash(world->config.terrain));
    for (uint32_t g = 0; g < world->group_count; g++) {
        const mf_Group *group = world->groups[g];
        hash = hash_text(hash, group->config.name);
        hash = hash_number(hash, group->config.count);
        hash = hash_number(hash, mf_model_hash(group->config.model));
        for (uint32_t i = 0; group->own != NULL && i < group->config.count; i++)
            hash = hash_number(hash, mf_model_hash(mf_group_model_of(group, i)));
        for (uint32_t f = 0; f < group->field_count; f++) {
            hash = hash_text(hash, group->fields[f].info.name);
            hash = hash_number(hash, group->fields[f].info.type);
            hash = hash_number(hash, group->fields[f].components);
            hash = hash_number(hash, group->fields[f].remainder != NULL);
        }
        for (uint32_t i = 0; i < group->system_count; i++) {
            if (group->systems[i].config.run == NULL) // hears of resets only
                continue;
            hash = hash_text(hash, group->systems[i].config.name);
            hash = hash_number(hash, (uint64_t)group->systems[i].config.rate.numerator);
            hash = hash_number(hash, (uint64_t)group->systems[i].config.rate.denominator);
            hash = hash_number(hash, group->systems[i].config.settings_hash);
        }
        hash = hash_number(hash, group->starts_hash);
    }
    for (uint32_t i = 0; i < world->system_count; i++) {
        const mf_WorldSystemConfig *system = &world->systems[i].config;
        hash = hash_text(hash, system->name);
        hash = hash_number(hash, (uint64_t)system->rate.numerator);
        hash = hash_number(hash, (uint64_t)system->rate.denominator);
        hash = hash_number(hash, system->settings_hash);
    }
    return hash;
}

static uint64_t hash_values(const mf_Field *field, const char *data, uint32_t instance,
                            uint64_t hash) {
    size_t size = mf_field_value_size(field->info.type);
    for (uint32_t c = 0; c < field->components; c++) {
        size_t row = (size_t)(instance / MF_BLOCK) * field->components + c;
        hash = mf_hash_bytes(hash, data + (row * MF_BLOCK + instance % MF_BLOCK) * size, size);
    }
    return hash;
}

static uint64_t hash_instance(const mf_Group *group, uint32_t instance, uint64_t hash) {
    for (uint32_t f = 0; f < group->field_count; f++) {
        const mf_Field *field = &group->fields[f];
        if (!(field->info.flags & MF_FIELD_STATE))
            continue;
        hash = hash_values(field, field->data, instance, hash);
        if (field->remainder != NULL)
            hash = hash_values(field, field->remainder, instance, hash);
    }
    return hash;
}

uint64_t mf_group_instance_hash(const mf_Group *group, uint32_t instance) {
    if (group == NULL || instance >= mf_group_count(group))
        return 0;
    return hash_instance(group, instance, MF_HASH_START);
}

uint64_t mf_world_hash(const mf_World *world) {
    if (world == NULL)
        return 0;
    uint64_t hash = hash_number(MF_HASH_START, world->tick);
    for (uint32_t g = 0; g < world->group_count; g++)
        for (uint32_t i = 0; i < world->groups[g]->config.count; i++)
            hash = hash_instance(world->groups[g], i, hash);
    return world->has_state ? world->state.hash(world->state.user, hash) : hash;
}

// The values of lanes after the last robot depend on the instruction set; in an image they repeat
// the last robot, so that equal worlds have equal images.
static void fill_padding(const mf_Group *group, const mf_Field *field, char *image) {
    uint32_t used = (group->config.count - 1) % MF_BLOCK + 1;
    size_t size = mf_field_value_size(field->info.type);
    const size_t whole = (size_t)field->blocks * field->components * MF_BLOCK * size;
    for (char *end = image + whole; end <= image + mf_field_bytes(field); end += whole) {
        char *rows = end - field->components * MF_BLOCK * size;
        for (uint32_t c = 0; c < field->components; c++)
            for (uint32_t lane = used; lane < MF_BLOCK; lane++)
                memcpy(rows + (c * MF_BLOCK + lane) * size, rows + (c * MF_BLOCK + used - 1) * size,
                       size);
    }
}

// Of the blocks that move.
static void restore_blocks(const mf_Group *group, const mf_Field *field, const char *image,
                           size_t size) {
    const size_t part = field->remainder != NULL ? size / 2 : size; // with remainders behind it
    const size_t block = part / group->blocks, first = group->first_moving * block;
    for (size_t at = first; at < size; at += part)
        memcpy((char *)field->data + at, image + at, group->moving * block);
}

// Copies the state out of (restore = false) or into (restore = true) the groups' fields.
static void copy_state(const mf_World *world, char *image, bool restore) {
    for (uint32_t g = 0; g < world->group_count; g++) {
        const mf_Group *group = world->groups[g];
        for (uint32_t f = 0; f < group->field_count; f++) {
            const mf_Field *field = &group->fields[f];
            if (!(field->info.flags & MF_FIELD_STATE))
                continue;
            size_t size = mf_field_bytes(field);
            if (restore)
                restore_blocks(group, field, image, size);
            else
                memcpy(image, field->data, size);
            if (!restore && size > 0)
                fill_padding(group, field, image);
            image += size;
        }
    }
}

// Header and fields.
static size_t fixed_size(const mf_World *world) {
    size_t size = sizeof(SnapshotHeader);
    for (uint32_t g = 0; g < world->group_count; g++)
        for (uint32_t f = 0; f < world->groups[g]->field_count; f++)
            if (world->groups[g]->fields[f].info.flags & MF_FIELD_STATE)
                size += mf_field_bytes(&world->groups[g]->fields[f]);
    return size;
}

size_t mf_world_snapshot_size(const mf_World *world) {
    if (world == NULL)
        return 0;
    return fixed_size(world) + (world->has_state ? world->state.size(world->state.user) : 0);
}

static uint32_t header_crc(SnapshotHeader header) {
    header.header_crc = 0;
    return mf_crc32(0, &header, sizeof header);
}

mf_Status mf_world_snapshot(const mf_World *world, void *image, size_t size, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(world != NULL, error, "mf_world_snapshot: world is NULL");
    size_t needed = mf_world_snapshot_size(world);
    MF_NEED(size == needed, error, "snapshot: need a buffer of %zu bytes, got %zu", needed, size);
    for (uint32_t i = 0; i < world->system_count; i++) {
        const mf_WorldSystemConfig *system = &world->systems[i].config;
        MF_CHECK(system->pending == NULL || !system->pending(system->user), error, MF_BUSY,
                 "snapshot: system %s has results that are not applied yet at step %llu; "
                 "step the world first",
                 system->name, (unsigned long long)world->tick);
    }
    char *payload = (char *)image + sizeof(SnapshotHeader);
    copy_state(world, payload, false);
    if (world->has_state)
        world->state.save(world->state.user, (char *)image + fixed_size(world));
    SnapshotHeader header = {.magic = SNAPSHOT_MAGIC,
                             .version = SNAPSHOT_VERSION,
                             .endian = SNAPSHOT_ENDIAN,
                             .layout = layout_hash(world),
                             .payload = needed - sizeof header,
                             .tick = world->tick,
                             .crc = mf_crc32(0, payload, needed - sizeof header)};
    header.header_crc = header_crc(header);
    memcpy(image, &header, sizeof header);
    return MF_OK;
}

// The header of an image that fits the world, all but its payload checked.
static mf_Status read_header(const mf_World *world, const void *image, size_t size,
                             SnapshotHeader *out, mf_Error *error) {
    SnapshotHeader header;
    if (size < sizeof header)
        return mf_fail(error, MF_CORRUPT, "snapshot: %zu bytes are too few for a header", size);
    memcpy(&header, image, sizeof header);
    *out = header;
    if (header.magic != SNAPSHOT_MAGIC)
        return mf_fail(error, MF_CORRUPT, "snapshot: not a snapshot (wrong magic)");
    if (header.version != SNAPSHOT_VERSION || header.endian != SNAPSHOT_ENDIAN)
        return mf_fail(error, MF_VERSION, "snapshot: version %u, expected %u of this byte order",
                       header.version, SNAPSHOT_VERSION);
    if (header.header_crc != header_crc(header))
        return mf_fail(error, MF_CORRUPT, "snapshot: the header's checksum is wrong");
    const size_t fixed = fixed_size(world);
    if (header.layout != layout_hash(world) || size < fixed || (size > fixed && !world->has_state))
        return mf_fail(
            error, MF_BAD_ARGUMENT,
            "snapshot: made by a world with another step, ground, group, model, start or system");
    if (header.payload != size - sizeof header)
        return mf_fail(error, MF_CORRUPT, "snapshot: %zu bytes, its header says %llu", size,
                       (unsigned long long)(header.payload + sizeof header));
    return MF_OK;
}

mf_Status mf_world_restore(mf_World *world, const void *image, size_t size, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    SnapshotHeader header = {0};
    MF_TRY(read_header(world, image, size, &header, error));
    if (header.crc != mf_crc32(0, (const char *)image + sizeof header, size - sizeof header))
        return mf_fail(error, MF_CORRUPT, "snapshot: the payload's checksum is wrong");
    return mf_world_rewind(world, image, size, error);
}

mf_Status mf_world_rewind(mf_World *world, const void *image, size_t size, mf_Error *error) {
    SnapshotHeader header = {0};
    MF_TRY(read_header(world, image, size, &header, error));
    const size_t fixed = fixed_size(world);
    if (world->has_state) {
        MF_TRY(world->state.prepare(world->state.user, (const char *)image + fixed, size - fixed,
                                    error));
        world->state.restore(world->state.user);
    }
    // The image is not changed: restoring only reads it.
    copy_state(world, (char *)(uintptr_t)image + sizeof header, true);
    world->tick = header.tick;
    world->time = (mf_Time)header.tick * world->config.step;
    mf_world_reschedule(world);
    for (uint32_t i = 0; i < world->system_count; i++)
        if (world->systems[i].config.reset != NULL)
            world->systems[i].config.reset(world, world->systems[i].config.user);
    for (uint32_t g = 0; g < world->group_count; g++)
        if (world->groups[g]->restored != NULL)
            world->groups[g]->restored(world->groups[g], world->groups[g]->restored_user);
    return MF_OK;
}

void mf_group_on_restore(mf_Group *group, void (*restored)(mf_Group *group, void *user),
                         void *user) {
    group->restored = restored;
    group->restored_user = user;
}
