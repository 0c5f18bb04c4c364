// Trusses with inertia: flight, faults, other trusses, and switching to and from quasi-statics.
#include "motion/trusses.h"

// The tests of batches see flight and contacts.
TEST(what_is_thrown_lands) {
    Parts parts;
    crawler(&parts, 7, 0);
    AUTO_RIG rig = rig_open(&parts.truss, elastic_config(9, 1e-3));
    for (uint32_t i = 0; i < 9; i++)
        throw(rig.group, i, i);
    drive(&rig, 10);
    assert_true(get_field(rig.group, "base.linear_velocity", 3, 2) <
                -0.5); // it falls faster and faster
    drive(&rig, 50);
    for (uint32_t i = 0; i < 9; i++)
        assert_true(get_field(rig.group, "base.linear_velocity", i, 2) > -0.5);
}

// ---- faults -------------------------------------------------------------------------------------

TEST(runaways_are_frozen) {
    Parts p;
    crawler(&p, 6, 0);
    AUTO_RIG rig = rig_open(&p.truss, elastic_config(2, 1e-3));
    set_field(rig.group, "vertex.velocity", 1, 2, 1e300);
    drive(&rig, 3);
    assert_int_equal(mf_group_fault(rig.group, 0), 0);
    assert_int_not_equal(mf_group_fault(rig.group, 1), 0);
}

TEST(caps_are_said) {
    Parts p;
    crawler(&p, 7, 3);
    AUTO_RIG rig = rig_open(
        &p.truss, WITH(elastic_config(1, 1e-3), .motion.iterations = 1, .motion.tolerance = 1e-12));
    throw(rig.group, 0, 0);
    mf_world_step(rig.world, 60);
    assert_true((mf_group_warning(rig.group, 0) & MF_WARNING_SOLVER) != 0);
}

// ---- other trusses and motions ------------------------------------------------------------------

TEST(trusses_are_replaced) {
    Parts small, large;
    crawler(&small, 5, 0);
    crawler(&large, 7, 0);
    AUTO_RIG rig = rig_open(&small.truss,
                            WITH(elastic_config(3, 1e-3), .motion.vertices = 7, .motion.bars = 15));
    drive(&rig, 5);
    MUST(mf_quasistatic_set(rig.group, 1, &large.truss, &error));
    assert_near(get_field(rig.group, "truss.counts", 1, 0), 7.0, 0.0);
    assert_near(get_field(rig.group, "vertex.velocity", 1, 2), 0.0, 0.0);
    MUST_FAIL(mf_quasistatic_set(rig.group, 3, &small.truss, &error), MF_BAD_ARGUMENT, "");
    assert_true(mf_motion_in(rig.group, MF_MOTION_ELASTIC));
    assert_false(mf_motion_in(rig.group, MF_MOTION_QUASISTATIC));
}

// From frames to inertia and back: positions, contacts and rest lengths stay to the bit.
TEST(motions_switch) {
    Parts p;
    crawler(&p, 7, 1);
    mf_Error error = {0};
    AUTO_RIG rig = {.context = open_context(1)};
    mf_MotionsConfig motions = mf_motions_config();
    must(mf_truss_model(rig.context, &p.truss, &rig.model, &error), &error);
    motions.start = MF_MOTION_QUASISTATIC;
    motions.has[MF_MOTION_ELASTIC] = true;
    motions.quasistatic.truss = motions.elastic.truss = &p.truss;
    rig_add_group(&rig, &WITH(mf_world_config(), .step = MF_MILLISECOND),
                  WITH(mf_group_config(), .count = 3, .double_precision = true));
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
