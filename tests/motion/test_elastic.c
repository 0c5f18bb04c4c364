// Trusses with inertia: bits over batches, mixtures, instruction sets and threads; faults,
// snapshots, other trusses, and switching to and from quasi-statics.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "motion/trusses.h"
#include "near.h"

// ---- bits ---------------------------------------------------------------------------------------

// Throws every instance, each with its own speed.
static void throw(const Rig *rig, uint32_t instance) {
    double start[3];
    for (uint32_t c = 0; c < 3; c++)
        start[c] = get(rig, "base.position", instance, c) + (c == 2 ? 0.02 : 0.0);
    const double speed[3] = {0.5 - 0.1 * (instance % 7), 0.2, -0.5};
    assert_int_equal(mf_group_set_start(rig->group, instance, start, NULL, speed, NULL), MF_OK);
}

// A truss among others, equal ones and different ones, has the bits that it has alone.
static void company_changes_nothing(void **state) {
    enum { COUNT = 21, STEPS = 60 };
    Parts parts[3];
    crawler(&parts[0], 7, 0);
    crawler(&parts[1], 5, 2);
    crawler(&parts[2], 8, 1);
    RigConfig config = elastic_config(COUNT, 1e-3);
    config.motion.noise = 1e-4;
    config.motion.damping = 1e-5;
    config.motion.vertices = 10;
    config.motion.bars = 20;
    Rig many = rig_open(*state, &parts[0].truss, config);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(mf_quasistatic_set(many.group, i, &parts[i < 8 ? 0 : i % 3].truss, NULL),
                         MF_OK);
        throw(&many, i);
    }
    drive(&many, STEPS);
    for (uint32_t i = 0; i < COUNT; i += 5) {
        // Noise and phase belong to the number of the instance: the others are bare vertices.
        Rig few = rig_open(*state, &parts[0].truss, config);
        Parts dot;
        begin(&dot);
        vertex(&dot, 0, 0, 0.01, "xyz");
        bar(&dot, 0, vertex(&dot, 0.1, 0, 0.01, "xyz"));
        for (uint32_t k = 0; k < COUNT; k++)
            assert_int_equal(
                mf_quasistatic_set(few.group, k,
                                   k == i ? &parts[i < 8 ? 0 : i % 3].truss : &dot.truss, NULL),
                MF_OK);
        throw(&few, i);
        drive(&few, STEPS);
        assert_true(get(&few, "base.linear_velocity", i, 2) > -0.5); // it landed
        assert_int_equal(mf_group_instance_hash(few.group, i),
                         mf_group_instance_hash(many.group, i));
        rig_close(&few);
    }
    rig_close(&many);
}

static uint64_t hash_with(mf_Isa isa, uint32_t threads) {
    enum { COUNT = 40 };
    mf_Context *context;
    mf_ContextConfig settings = mf_context_config();
    settings.threads = threads;
    assert_int_equal(mf_context_create(&settings, &context, NULL), MF_OK);
    Parts parts[2];
    crawler(&parts[0], 7, 1);
    crawler(&parts[1], 6, 0);
    RigConfig config = elastic_config(COUNT, 1e-3);
    config.motion.noise = 1e-4;
    config.world.isa = isa;
    Rig rig = rig_open(context, &parts[0].truss, config);
    for (uint32_t i = 20; i < COUNT; i += 2)
        assert_int_equal(mf_quasistatic_set(rig.group, i, &parts[1].truss, NULL), MF_OK);
    for (uint32_t i = 0; i < COUNT; i++)
        throw(&rig, i);
    drive(&rig, 60);
    const uint64_t hash = mf_world_hash(rig.world);
    rig_close(&rig);
    mf_context_destroy(context);
    return hash;
}

static void sets_and_threads_agree(void **state) {
    (void)state;
    const uint64_t hash = hash_with(MF_ISA_AUTO, 1);
    assert_int_equal(hash_with(MF_ISA_AUTO, 3), hash);
    for (mf_Isa isa = MF_ISA_SCALAR; isa <= MF_ISA_AVX512; isa++) {
        if (mf_isa_available(isa))
            assert_int_equal(hash_with(isa, 2), hash);
    }
}

static void snapshots_continue(void **state) {
    Parts parts;
    crawler(&parts, 7, 1);
    Rig rig = rig_open(*state, &parts.truss, elastic_config(9, 1e-3));
    for (uint32_t i = 0; i < 9; i++)
        throw(&rig, i);
    drive(&rig, 30);
    char image[1 << 17];
    const size_t size = mf_world_snapshot_size(rig.world);
    assert_true(size <= sizeof image);
    assert_int_equal(mf_world_snapshot(rig.world, image, size, NULL), MF_OK);
    drive(&rig, 30);
    const uint64_t hash = mf_world_hash(rig.world);
    mf_group_reset_all(rig.group);
    assert_int_equal(mf_world_restore(rig.world, image, size, NULL), MF_OK);
    drive(&rig, 30);
    assert_int_equal(mf_world_hash(rig.world), hash);
    rig_close(&rig);
}

// ---- faults -------------------------------------------------------------------------------------

static void faults_are_contained(void **state) {
    static const char *const fields[] = {"vertex.load", "vertex.velocity"};
    for (int k = 0; k < 2; k++) {
        Parts p;
        crawler(&p, 6, 0);
        Rig calm = rig_open(*state, &p.truss, elastic_config(8, 1e-3));
        Rig rig = rig_open(*state, &p.truss, elastic_config(8, 1e-3));
        set(&rig, fields[k], 3, 0, NAN);
        drive(&calm, 20);
        drive(&rig, 20);
        assert_int_equal(mf_group_fault(rig.group, 3), MF_FAULT_INPUT);
        assert_near(get(&rig, "vertex.position", 3, 2), 0.005, 1e-15); // as it was
        for (uint32_t i = 0; i < 8; i++) {
            if (i != 3)
                assert_int_equal(mf_group_instance_hash(rig.group, i),
                                 mf_group_instance_hash(calm.group, i));
        }
        rig_close(&calm);
        rig_close(&rig);
    }
}

static void runaways_are_frozen(void **state) {
    Parts p;
    crawler(&p, 6, 0);
    Rig rig = rig_open(*state, &p.truss, elastic_config(2, 1e-3));
    set(&rig, "vertex.velocity", 1, 2, 1e300);
    drive(&rig, 3);
    assert_int_equal(mf_group_fault(rig.group, 0), 0);
    assert_int_not_equal(mf_group_fault(rig.group, 1), 0);
    rig_close(&rig);
}

static void caps_are_said(void **state) {
    Parts p;
    crawler(&p, 7, 3);
    RigConfig config = elastic_config(1, 1e-3);
    config.motion.iterations = 1;
    config.motion.tolerance = 1e-12;
    Rig rig = rig_open(*state, &p.truss, config);
    throw(&rig, 0);
    mf_world_step(rig.world, 60);
    assert_true((mf_group_warning(rig.group, 0) & MF_WARNING_SOLVER) != 0);
    rig_close(&rig);
}

// ---- other trusses and motions ------------------------------------------------------------------

static void trusses_are_replaced(void **state) {
    Parts small, large;
    crawler(&small, 5, 0);
    crawler(&large, 7, 0);
    RigConfig config = elastic_config(3, 1e-3);
    config.motion.vertices = 7;
    config.motion.bars = 15;
    Rig rig = rig_open(*state, &small.truss, config);
    mf_Error error = {0};
    drive(&rig, 5);
    assert_int_equal(mf_quasistatic_set(rig.group, 1, &large.truss, &error), MF_OK);
    assert_near(get(&rig, "truss.counts", 1, 0), 7.0, 0.0);
    assert_near(get(&rig, "vertex.velocity", 1, 2), 0.0, 0.0);
    assert_int_equal(mf_quasistatic_set(rig.group, 3, &small.truss, &error), MF_BAD_ARGUMENT);
    assert_non_null(mf_elastic_config_of(rig.group));
    assert_non_null(mf_truss_config_of(rig.group));
    assert_null(mf_quasistatic_config_of(rig.group));
    rig_close(&rig);
}

static void bad_settings_are_refused(void **state) {
    Parts p;
    crawler(&p, 5, 0);
    mf_Error error = {0};
    Rig rig = rig_open(*state, &p.truss, elastic_config(1, 1e-3));
    mf_ElasticConfig config = mf_elastic_config();
    config.truss = &p.truss;
    assert_int_equal(mf_elastic_add(rig.group, &config, &error), MF_BAD_ARGUMENT);
    rig_close(&rig);
    mf_GroupConfig group = mf_group_config();
    mf_World *world;
    mf_Group *other;
    mf_WorldConfig settings = mf_world_config();
    assert_int_equal(mf_truss_model(*state, &p.truss, &rig.model, &error), MF_OK);
    group.model = rig.model;
    group.double_precision = true;
    config.damping = -1.0;
    assert_int_equal(mf_world_create(*state, &settings, &world, &error), MF_OK);
    assert_int_equal(mf_world_add_group(world, &group, &other, &error), MF_OK);
    assert_int_equal(mf_elastic_add(other, &config, &error), MF_BAD_ARGUMENT);
    assert_string_equal(error.message, "elastic.damping: -1 s, need 0 .. 1e6");
    mf_world_destroy(world);
    mf_model_destroy(rig.model);
}

// From frames to inertia and back: positions, contacts and rest lengths stay to the bit.
static void motions_switch(void **state) {
    Parts p;
    crawler(&p, 7, 1);
    mf_Error error = {0};
    Rig rig = {0};
    mf_GroupConfig group = mf_group_config();
    mf_WorldConfig settings = mf_world_config();
    mf_MotionsConfig motions = mf_motions_config();
    settings.step = MF_MILLISECOND;
    assert_int_equal(mf_truss_model(*state, &p.truss, &rig.model, &error), MF_OK);
    group.model = rig.model;
    group.count = 3;
    group.double_precision = true;
    motions.start = MF_MOTION_QUASISTATIC;
    motions.has[MF_MOTION_ELASTIC] = true;
    motions.quasistatic.truss = motions.elastic.truss = &p.truss;
    assert_int_equal(mf_world_create(*state, &settings, &rig.world, &error), MF_OK);
    assert_int_equal(mf_world_add_group(rig.world, &group, &rig.group, &error), MF_OK);
    if (mf_motions_add(rig.group, &motions, &error) != MF_OK)
        fail_msg("%s", error.message);
    drive(&rig, 10);
    const double z = get(&rig, "vertex.position", 1, 2), x = get(&rig, "contact.anchor", 1, 0);
    assert_int_equal(mf_motion_switch(rig.group, 1, MF_MOTION_ELASTIC, &error), MF_OK);
    assert_int_equal(mf_motion_of(rig.group, 1), MF_MOTION_ELASTIC);
    assert_near(get(&rig, "vertex.position", 1, 2), z, 0.0);
    assert_near(get(&rig, "contact.anchor", 1, 0), x, 0.0);
    drive(&rig, 10);
    assert_true(mf_motion_energy(rig.group, 1).kinetic > 0.0);
    assert_near(mf_motion_energy(rig.group, 0).kinetic, 0.0, 0.0);
    assert_int_equal(mf_motion_switch(rig.group, 1, MF_MOTION_QUASISTATIC, &error), MF_OK);
    assert_near(get(&rig, "vertex.velocity", 1, 0), 0.0, 0.0);
    drive(&rig, 10);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(mf_group_fault(rig.group, i), 0);
    assert_int_not_equal(mf_motion_switch(rig.group, 1, MF_MOTION_RIGID, &error), MF_OK);
    rig_close(&rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(company_changes_nothing), cmocka_unit_test(sets_and_threads_agree),
        cmocka_unit_test(snapshots_continue),      cmocka_unit_test(faults_are_contained),
        cmocka_unit_test(runaways_are_frozen),     cmocka_unit_test(caps_are_said),
        cmocka_unit_test(trusses_are_replaced),    cmocka_unit_test(bad_settings_are_refused),
        cmocka_unit_test(motions_switch)};
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
