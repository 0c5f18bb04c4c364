// Contacts between the bodies of models that have so many of them that their pairs are not listed:
// the same as those of few bodies, whose pairs are.
#include "motion/articulated_rig.h"
#include "motion/articulated/host.h"

// [1] Bodies: with one less all pairs are listed. The last one stands alone.
enum { HIGH = 2, STACKS = 32, MANY = HIGH * STACKS + 1 };

#define HALF 0.05 // [m] of a box

// Stacks of two boxes 0.5 m apart on the ground, the upper ones a little aside.
static Rig stacks_open(uint32_t count, ArtConfig config) {
    const size_t size = 256 + (size_t)count * 160;
    char *text = calloc(1, size);
    assert_non_null(text);
    int at = snprintf(text, size, "<mujoco><worldbody>");
    for (uint32_t i = 0; i < count; i++)
        at += snprintf(text + at, size - (size_t)at,
                       "<body pos='%g %g %g'><freejoint/><geom type='box' size='%g %g %g' "
                       "mass='0.5'/></body>",
                       0.5 * (i / HIGH % 8) + 0.01 * (i % HIGH), 0.5 * (i / HIGH / 8),
                       HALF + 2 * HALF * (i % HIGH), HALF, HALF, HALF);
    snprintf(text + at, size - (size_t)at, "</worldbody></mujoco>");
    Rig rig = text_open(text, config);
    free(text);
    return rig;
}

static ArtConfig stacks_config(mf_ContactLaw law) {
    return WITH(art_config(MF_ARTICULATED_IMPLICIT, 2 * MF_MILLISECOND), .motion.shapes = true,
                .motion.contact_law = law, .motion.contact_stiffness = 2e4,
                .motion.contact_damping = 200.0);
}

// Where a stack stands after a while does not depend on how many others there are.
TEST(many_stacks_stand_as_one_does) {
    static const mf_ContactLaw laws[] = {MF_CONTACT_LAW_COMPLIANT, MF_CONTACT_LAW_HARD,
                                         MF_CONTACT_LAW_MUJOCO};
    for (int i = 0; i < 3; i++) {
        AUTO_RIG one = stacks_open(HIGH, stacks_config(laws[i]));
        AUTO_RIG many = stacks_open(MANY, stacks_config(laws[i]));
        mf_world_step(one.world, 300);
        mf_world_step(many.world, 300);
        assert_int_equal(rig_get(&many, "fault.word", 0), 0);
        assert_near(rig_get(&one, "free.position", 5), 3 * HALF, 2e-3);
        for (uint32_t b = 0; b < HIGH * STACKS; b++)
            assert_near(rig_get(&many, "free.position", 3 * b + 2),
                        rig_get(&one, "free.position", 3 * (b % HIGH) + 2), 1e-6);
    }
}

static double start_speed(uint32_t c) {
    return ((int)(c * 7919 % 101) - 50) * 0.02;
}

// Balls that fly into each other keep their momentum.
TEST(many_collisions_keep_momentum) {
    enum { SIDE = 5 };
    const size_t size = 256 + (size_t)SIDE * SIDE * SIDE * 120;
    char *text = calloc(1, size);
    assert_non_null(text);
    int at = snprintf(text, size, "<mujoco><option gravity='0 0 0'/><worldbody>");
    for (int i = 0; i < SIDE * SIDE * SIDE; i++)
        at += snprintf(text + at, size - (size_t)at,
                       "<body pos='%g %g %g'><freejoint/><geom size='%g' mass='%g'/></body>",
                       0.25 * (i % SIDE), 0.25 * (i / SIDE % SIDE), 1 + 0.25 * (i / SIDE / SIDE),
                       0.08 + 0.02 * (i % 2), 1.0 + i % 3);
    snprintf(text + at, size - (size_t)at, "</worldbody></mujoco>");
    AUTO_RIG t = text_open(text, WITH(stacks_config(MF_CONTACT_LAW_COMPLIANT), .world.gravity = 0.0,
                                      .motion.contacts = false));
    free(text);
    double center[2][3], linear[2][3], angular[2][3], changed = 0.0;
    for (uint32_t c = 0; c < 3 * SIDE * SIDE * SIDE; c++)
        rig_set(&t, "free.velocity", c, start_speed(c));
    for (int k = 0; k < 2; k++) {
        mf_motion_momentum(t.group, 0, center[k], linear[k], angular[k]);
        mf_world_step(t.world, k == 0 ? 300 : 0);
    }
    for (uint32_t c = 0; c < 3 * SIDE * SIDE * SIDE; c++)
        changed += fabs(rig_get(&t, "free.velocity", c) - start_speed(c)) > 0.1;
    assert_true(changed > SIDE * SIDE);
    for (int c = 0; c < 3; c++) {
        assert_near(linear[1][c], linear[0][c], 1e-8);
        assert_near(angular[1][c], angular[0][c], 1e-3);
    }
}

// A robot in a batch has the bits that it has alone, on every instruction set.
TEST(piles_do_not_depend_on_the_batch) {
    uint64_t hash[2] = {0, 0};
    FOR_EACH_ISA (isa) {
        for (int k = 0; k < 2; k++) {
            AUTO_RIG t =
                stacks_open(MANY, WITH(stacks_config(MF_CONTACT_LAW_MUJOCO), .world.isa = isa,
                                       .group.count = k ? 5 : 1, .group.double_precision = false));
            mf_Field *velocity = mf_group_find_field(t.group, "free.velocity");
            for (uint32_t i = 0; i < (k ? 5u : 1u); i++)
                mf_field_set(velocity, i, 3, k == 0 || i == 3 ? 0.5 : 0.1 * i);
            mf_world_step(t.world, 60);
            uint64_t own = 0;
            for (uint32_t c = 0; c < 3 * MANY; c++) {
                const float value = (float)get_field(t.group, "free.position", k ? 3 : 0, c);
                uint32_t bits;
                memcpy(&bits, &value, sizeof bits);
                own = own * 31 + bits;
            }
            if (hash[0] == 0)
                hash[0] = own;
            assert_true(own == hash[0]);
        }
    }
}

// What contacts remember is part of the state, and makes a difference.
TEST(a_snapshot_contains_the_forces_of_floating_bodies) {
    Rig t = stacks_open(MANY, stacks_config(MF_CONTACT_LAW_HARD));
    Rig other = stacks_open(MANY, stacks_config(MF_CONTACT_LAW_HARD));
    mf_world_step(t.world, 100);
    const mf_Field *kept = mf_group_find_field(t.group, "warm_start.floating");
    for (uint32_t i = 0; i < STACKS; i++) { // in the order of the pairs, then free slots
        assert_near(mf_field_get(kept, 0, 8 * i), HIGH * i, 0.0);
        assert_near(mf_field_get(kept, 0, 8 * i + 1), HIGH * i + 1, 0.0);
        assert_near(fabs(mf_field_get(kept, 0, 8 * i + 4)), 0.5 * 9.81, 0.05);
    }
    assert_near(mf_field_get(kept, 0, 8 * STACKS + 1), 0.0, 0.0);
    rig_set(&t, "free.velocity", 3, 0.3);
    size_t size;
    AUTO(end_memory) void *image = take_snapshot(t.world, &size);
    MUST(mf_world_restore(other.world, image, size, &error));
    mf_world_step(t.world, 20);
    mf_world_step(other.world, 20);
    const uint64_t hash = mf_world_hash(t.world);
    assert_true(mf_world_hash(other.world) == hash);
    MUST(mf_world_restore(other.world, image, size, &error));
    mf_Field *memory = mf_group_find_field(other.group, "warm_start.floating");
    for (uint32_t c = 0; c < 8 * STACKS; c++)
        mf_field_set(memory, 0, c, 0.0);
    mf_world_step(other.world, 20);
    assert_true(mf_world_hash(other.world) != hash);
    rig_close(&other);
    rig_close(&t);
}

TEST(overlaps_of_floating_bodies_are_found) {
    AUTO_RIG t = stacks_open(MANY, stacks_config(MF_CONTACT_LAW_MUJOCO));
    uint32_t shapes[2] = {0, 0};
    rig_set(&t, "free.position", 3 * 21 + 2, 3 * HALF - 0.007);
    assert_near(mf_art_deepest(t.group, 0, shapes), 0.007, 1e-9);
    assert_int_equal(shapes[0], 20);
    assert_int_equal(shapes[1], 21);
}
