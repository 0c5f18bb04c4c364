// Trusses with inertia: bits over batches, mixtures, instruction sets and threads; faults,
// snapshots, other trusses, and switching to and from quasi-statics.
#include "motion/truss/motion.h"
#include "motion/truss_bits.h"

GROUP_FIXTURE(make_context, drop_context);

// ---- bits ---------------------------------------------------------------------------------------

// Throws every instance, each with its own speed.
static void throw(const Rig *rig, uint32_t instance) {
    double start[3];
    for (uint32_t c = 0; c < 3; c++)
        start[c] = get_field(rig->group, "base.position", instance, c) + (c == 2 ? 0.02 : 0.0);
    const double speed[3] = {0.5 - 0.1 * (instance % 7), 0.2, -0.5};
    MUST(mf_group_set_start(rig->group, instance, start, NULL, speed, &error));
}

TEST(other_lanes_change_nothing) {
    other_lanes_change_nothing_of(
        *state, WITH(elastic_config(21, 1e-3), .motion.noise = 1e-4, .motion.damping = 1e-5), throw,
        60);
}

// The tests above and below see flight and contacts.
TEST(what_is_thrown_lands) {
    Parts parts;
    crawler(&parts, 7, 0);
    AUTO_RIG rig = rig_open(*state, &parts.truss, elastic_config(9, 1e-3));
    begin_all(&rig, throw);
    drive(&rig, 10);
    assert_true(get_field(rig.group, "base.linear_velocity", 3, 2) <
                -0.5); // it falls faster and faster
    drive(&rig, 50);
    for (uint32_t i = 0; i < 9; i++)
        assert_true(get_field(rig.group, "base.linear_velocity", i, 2) > -0.5);
}

TEST(sets_and_threads_agree) {
    sets_and_threads_agree_on(WITH(elastic_config(40, 1e-3), .motion.noise = 1e-4), throw, 60);
}

TEST(snapshots_continue) {
    snapshots_continue_with(*state, elastic_config(9, 1e-3), throw, 30);
}

// ---- faults -------------------------------------------------------------------------------------

TEST(faults_are_contained) {
    static const char *const fields[] = {"vertex.load", "vertex.velocity"};
    for (int k = 0; k < 2; k++) {
        Parts p;
        crawler(&p, 6, 0);
        AUTO_RIG calm = rig_open(*state, &p.truss, elastic_config(8, 1e-3));
        AUTO_RIG rig = rig_open(*state, &p.truss, elastic_config(8, 1e-3));
        set_field(rig.group, fields[k], 3, 0, NAN);
        drive(&calm, 20);
        drive(&rig, 20);
        assert_int_equal(mf_group_fault(rig.group, 3), MF_FAULT_INPUT);
        assert_near(get_field(rig.group, "vertex.position", 3, 2), 0.005, 1e-15); // as it was
        for (uint32_t i = 0; i < 8; i++) {
            if (i != 3)
                assert_int_equal(mf_group_instance_hash(rig.group, i),
                                 mf_group_instance_hash(calm.group, i));
        }
    }
}

TEST(runaways_are_frozen) {
    Parts p;
    crawler(&p, 6, 0);
    AUTO_RIG rig = rig_open(*state, &p.truss, elastic_config(2, 1e-3));
    set_field(rig.group, "vertex.velocity", 1, 2, 1e300);
    drive(&rig, 3);
    assert_int_equal(mf_group_fault(rig.group, 0), 0);
    assert_int_not_equal(mf_group_fault(rig.group, 1), 0);
}

TEST(caps_are_said) {
    Parts p;
    crawler(&p, 7, 3);
    AUTO_RIG rig =
        rig_open(*state, &p.truss,
                 WITH(elastic_config(1, 1e-3), .motion.iterations = 1, .motion.tolerance = 1e-12));
    throw(&rig, 0);
    mf_world_step(rig.world, 60);
    assert_true((mf_group_warning(rig.group, 0) & MF_WARNING_SOLVER) != 0);
}

// ---- other trusses and motions ------------------------------------------------------------------

TEST(trusses_are_replaced) {
    Parts small, large;
    crawler(&small, 5, 0);
    crawler(&large, 7, 0);
    AUTO_RIG rig = rig_open(*state, &small.truss,
                            WITH(elastic_config(3, 1e-3), .motion.vertices = 7, .motion.bars = 15));
    drive(&rig, 5);
    MUST(mf_quasistatic_set(rig.group, 1, &large.truss, &error));
    assert_near(get_field(rig.group, "truss.counts", 1, 0), 7.0, 0.0);
    assert_near(get_field(rig.group, "vertex.velocity", 1, 2), 0.0, 0.0);
    MUST_FAIL(mf_quasistatic_set(rig.group, 3, &small.truss, &error), MF_BAD_ARGUMENT, "");
    assert_true(mf_motion_in(rig.group, MF_MOTION_ELASTIC));
    assert_false(mf_motion_in(rig.group, MF_MOTION_QUASISTATIC));
}

TEST(bad_settings_are_refused) {
    Parts p;
    crawler(&p, 5, 0);
    Rig rig = rig_open(*state, &p.truss, elastic_config(1, 1e-3));
    mf_ElasticConfig config = WITH(mf_motions_config().elastic, .truss = &p.truss);
    MUST_FAIL(rig_add_elastic(rig.group, &config, &error), MF_BAD_ARGUMENT, "");
    rig_close(&rig);
    mf_Group *other;
    mf_WorldConfig settings = mf_world_config();
    MUST(mf_truss_model(*state, &p.truss, &rig.model, &error));
    config.damping = -1.0;
    mf_World *world = open_world(*state, &settings);
    other =
        add_group(world, &WITH(mf_group_config(), .model = rig.model, .double_precision = true));
    MUST_FAIL_AS(rig_add_elastic(other, &config, &error), MF_BAD_ARGUMENT,
                 "elastic.damping: -1, need 0 .. 1e+06");
    mf_world_destroy(world);
    mf_model_destroy(rig.model);
}

// From frames to inertia and back: positions, contacts and rest lengths stay to the bit.
TEST(motions_switch) {
    Parts p;
    crawler(&p, 7, 1);
    mf_Error error = {0};
    AUTO_RIG rig = {0};
    mf_GroupConfig group = mf_group_config();
    mf_MotionsConfig motions = mf_motions_config();
    assert_int_equal(mf_truss_model(*state, &p.truss, &rig.model, &error), MF_OK);
    group.model = rig.model;
    group.count = 3;
    group.double_precision = true;
    motions.start = MF_MOTION_QUASISTATIC;
    motions.has[MF_MOTION_ELASTIC] = true;
    motions.quasistatic.truss = motions.elastic.truss = &p.truss;
    rig.world = open_world(*state, &WITH(mf_world_config(), .step = MF_MILLISECOND));
    rig.group = add_group(rig.world, &group);
    must(mf_motions_add(rig.group, &motions, &error), &error);
    drive(&rig, 10);
    const double z = get_field(rig.group, "vertex.position", 1, 2),
                 x = get_field(rig.group, "contact.anchor", 1, 0);
    assert_int_equal(mf_motion_switch(rig.group, 1, MF_MOTION_ELASTIC, &error), MF_OK);
    assert_int_equal(mf_motion_of(rig.group, 1), MF_MOTION_ELASTIC);
    assert_near(get_field(rig.group, "vertex.position", 1, 2), z, 0.0);
    assert_near(get_field(rig.group, "contact.anchor", 1, 0), x, 0.0);
    drive(&rig, 10);
    assert_true(mf_motion_energy(rig.group, 1).kinetic > 0.0);
    assert_near(mf_motion_energy(rig.group, 0).kinetic, 0.0, 0.0);
    assert_int_equal(mf_motion_switch(rig.group, 1, MF_MOTION_QUASISTATIC, &error), MF_OK);
    assert_near(get_field(rig.group, "vertex.velocity", 1, 0), 0.0, 0.0);
    drive(&rig, 10);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(mf_group_fault(rig.group, i), 0);
    assert_int_not_equal(mf_motion_switch(rig.group, 1, MF_MOTION_RIGID, &error), MF_OK);
}
