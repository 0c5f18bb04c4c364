// What every motion of trusses keeps: the same bits alone and in a batch, for all instruction sets
// and numbers of threads, and after a snapshot.
#ifndef TEST_MOTION_TRUSS_BITS_H
#define TEST_MOTION_TRUSS_BITS_H

#include "motion/trusses.h"

typedef void Begin(const Rig *rig,
                   uint32_t instance); // what an instance starts with; NULL: nothing

static inline void begin_all(const Rig *rig, Begin *start) {
    for (uint32_t i = 0; start != NULL && i < mf_group_count(rig->group); i++)
        start(rig, i);
}

static inline void give(const Rig *rig, uint32_t instance, const mf_Truss *truss) {
    MUST(mf_quasistatic_set(rig->group, instance, truss, &error));
}

// A truss among others, equal ones and different ones, has the bits that it has alone. Noise and
// phase belong to the number of the instance: alone, the others are bare vertices.
static inline void other_lanes_change_nothing_of(mf_Context *context, RigConfig config,
                                                 Begin *start, uint32_t steps) {
    Parts parts[3], dot;
    crawler(&parts[0], 7, 0);
    crawler(&parts[1], 5, 2);
    crawler(&parts[2], 8, 1);
    begin(&dot);
    vertex(&dot, 0, 0, 0.01, "xyz");
    bar(&dot, 0, vertex(&dot, 0.1, 0, 0.01, "xyz"));
    config.motion.vertices = 10;
    config.motion.bars = 20;
    AUTO_RIG many = rig_open(context, &parts[0].truss, config);
    for (uint32_t i = 0; i < config.count; i++)
        give(&many, i, &parts[i < 8 ? 0 : i % 3].truss);
    begin_all(&many, start);
    drive(&many, steps);
    for (uint32_t i = 0; i < config.count; i += 5) {
        AUTO_RIG few = rig_open(context, &parts[0].truss, config);
        for (uint32_t k = 0; k < config.count; k++)
            give(&few, k, k == i ? &parts[i < 8 ? 0 : i % 3].truss : &dot.truss);
        if (start != NULL)
            start(&few, i);
        drive(&few, steps);
        assert_int_equal(mf_group_instance_hash(few.group, i),
                         mf_group_instance_hash(many.group, i));
    }
}

// Of copies of one truss, behind the middle with another in every second place.
static inline uint64_t hash_with(RigConfig config, Begin *start, uint32_t steps, mf_Isa isa,
                                 uint32_t threads) {
    AUTO_CONTEXT *context = open_context(threads);
    Parts parts[2];
    crawler(&parts[0], 7, 1);
    crawler(&parts[1], 6, 0);
    config.world.isa = isa;
    AUTO_RIG rig = rig_open(context, &parts[0].truss, config);
    for (uint32_t i = config.count / 2; i < config.count; i += 2)
        give(&rig, i, &parts[1].truss);
    begin_all(&rig, start);
    drive(&rig, steps);
    const uint64_t hash = mf_world_hash(rig.world);
    return hash;
}

static inline void sets_and_threads_agree_on(RigConfig config, Begin *start, uint32_t steps) {
    const uint64_t hash = hash_with(config, start, steps, MF_ISA_AUTO, 1);
    assert_int_equal(hash_with(config, start, steps, MF_ISA_AUTO, 3), hash);
    FOR_EACH_ISA (isa)
        assert_int_equal(hash_with(config, start, steps, isa, 2), hash);
}

static inline void snapshots_continue_with(mf_Context *context, RigConfig config, Begin *start,
                                           uint32_t steps) {
    Parts parts;
    crawler(&parts, 7, 1);
    AUTO_RIG rig = rig_open(context, &parts.truss, config);
    begin_all(&rig, start);
    drive(&rig, steps);
    char image[1 << 17];
    const size_t size = mf_world_snapshot_size(rig.world);
    assert_true(size <= sizeof image);
    MUST(mf_world_snapshot(rig.world, image, size, &error));
    drive(&rig, steps);
    const uint64_t hash = mf_world_hash(rig.world);
    mf_group_reset_all(rig.group);
    MUST(mf_world_restore(rig.world, image, size, &error));
    drive(&rig, steps);
    assert_int_equal(mf_world_hash(rig.world), hash);
}

#endif
