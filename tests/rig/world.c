#include "rig/rig.h"

mf_World *open_world(mf_Context *context, const mf_WorldConfig *config) {
    mf_World *world = NULL;
    mf_Error error = {0};
    must(mf_world_create(context, config, &world, &error), &error);
    return world;
}

mf_Group *add_group(mf_World *world, const mf_GroupConfig *config) {
    mf_Group *group = NULL;
    mf_Error error = {0};
    must(mf_world_add_group(world, config, &group, &error), &error);
    return group;
}

mf_Field *field_of(mf_Group *group, const char *name) {
    mf_Field *field = mf_group_find_field(group, name);
    if (field == NULL)
        fail_msg("no field %s", name);
    return field;
}

double get_field(mf_Group *group, const char *name, uint32_t instance, uint32_t component) {
    return mf_field_get(field_of(group, name), instance, component);
}

void set_field(mf_Group *group, const char *name, uint32_t instance, uint32_t component,
               double value) {
    mf_field_set(field_of(group, name), instance, component, value);
}

void *take_snapshot(const mf_World *world, size_t *size) {
    mf_Error error = {0};
    *size = mf_world_snapshot_size(world);
    void *image = malloc(*size);
    assert_non_null(image);
    must(mf_world_snapshot(world, image, *size, &error), &error);
    return image;
}

void assert_continues_in(mf_World *other, mf_World *world, uint64_t steps) {
    mf_Error error = {0};
    size_t size;
    AUTO(end_memory) void *image = take_snapshot(world, &size);
    const uint64_t begin = mf_world_hash(world);
    mf_world_step(world, steps);
    const uint64_t hash = mf_world_hash(world);
    assert_true(hash != begin);
    must(mf_world_restore(other, image, size, &error), &error);
    assert_true(mf_world_hash(other) == begin);
    mf_world_step(other, steps);
    assert_true(mf_world_hash(other) == hash);
}

void assert_continues(mf_World *world, uint64_t steps) {
    assert_continues_in(world, world, steps);
}

void assert_same_bits(HashOfRun run, const void *user) {
    const uint64_t hash = run(user, 1, MF_ISA_AUTO);
    mf_Error error = {0};
    mf_Isa widest; // what MF_ISA_AUTO chooses
    must(mf_isa_detect(&widest, &error), &error);
    for (uint32_t threads = 2; threads <= 3; threads++)
        if (run(user, threads, MF_ISA_AUTO) != hash)
            fail_msg("other bits with %u threads", threads);
    FOR_EACH_ISA (isa)
        if (isa != widest && run(user, 2, isa) != hash)
            fail_msg("other bits on %s", mf_isa_name(isa));
}

mf_Status try_group(mf_Context *context, const mf_WorldConfig *settings,
                    const mf_GroupConfig *config, mf_World **world, mf_Group **group,
                    mf_Error *error) {
    *group = NULL;
    const mf_Status status = mf_world_create(context, settings, world, error);
    return status == MF_OK ? mf_world_add_group(*world, config, group, error) : status;
}

double random_signed(uint32_t stream, uint64_t n) {
    uint32_t word[4];
    mf_random(20240521, 0, stream, n, word);
    return 2.0 * mf_random_unit_double(word[0], word[1]) - 1.0;
}
