// Quasi-static trusses: contact of bars and of height maps against closed forms; energies, caps,
// and what is refused. The closed forms A1 to A13 are cases of `mayfly check`.
#include "motion/trusses.h"

GROUP_FIXTURE(make_context, drop_context);

// ---- physics -----------------------------------------------------------------------------------

// A bar that lies across two held bars: each carries half of its weight, by springs of k.
TEST(bars_carry_bars) {
    Parts p;
    begin(&p);
    for (int i = -1; i <= 1; i += 2) {
        uint32_t one = vertex(&p, 0.05 * i, -0.1, 0.1, "xyz");
        bar(&p, one, vertex(&p, 0.05 * i, 0.1, 0.1, "xyz"));
    }
    uint32_t left = vertex(&p, -0.1, 0, 0.11, "y"), right = vertex(&p, 0.1, 0, 0.11, "y");
    bar(&p, left, right);
    AUTO_RIG rig = rig_open(&p.truss, WITH(rig_config(1), .motion.contacts = false,
                                           .motion.tolerance = 1e-9, .motion.stiffness = 1e4));
    mf_world_step(rig.world, 2);
    const double weight = 9.81 * 1000 * 0.25 * 3.14159265358979 * 1e-4 * 0.2;
    for (uint32_t v = 4; v < 6; v++)
        assert_near(get_field(rig.group, "vertex.position", 0, 3 * v + 2),
                    0.11 - 0.5 * weight / 1e4, 1e-9);
    assert_int_equal(mf_group_warning(rig.group, 0), 0);
}

// A bar over a hill of a height map rests on points between its ends.
TEST(bars_rest_on_hills) {
    double heights[9 * 9];
    for (int i = 0; i < 81; i++)
        heights[i] = i % 9 >= 3 && i % 9 <= 5 ? 0.1 : 0.0; // a ridge along y, flat on top
    AUTO_TERRAIN *terrain;
    MUST(mf_terrain_from_array(
        *state, &WITH(mf_terrain_config(), .columns = 9, .rows = 9, .interpolation = MF_BILINEAR),
        heights, &terrain, &error));
    Parts p;
    begin(&p);
    uint32_t left = vertex(&p, -0.3, 0.01, 0.2, "xy"), right = vertex(&p, 0.3, 0.01, 0.2, "xy");
    bar(&p, left, right);
    AUTO_RIG rig = rig_open(&p.truss, WITH(rig_config(1), .world.terrain = terrain,
                                           .motion.friction = 0.0, .motion.jump = 1.0));
    mf_world_step(rig.world, 3);
    assert_near(get_field(rig.group, "vertex.position", 0, 2),
                get_field(rig.group, "vertex.position", 0, 5), 1e-6);
    assert_near(get_field(rig.group, "vertex.position", 0, 2), 0.1 + 0.005, 1e-3);
}

// A block of weight W on a slope of angle a sticks below tan a = mu and slides above.
TEST(slopes_hold_by_friction) {
    for (int steep = 0; steep < 2; steep++) {
        const double a = steep ? 0.52 : 0.40; // atan 0.5 = 0.4636
        Parts p;
        begin(&p);
        vertex(&p, 0, 0, 0.005, "");
        vertex(&p, 0.1, 0, 0.005, "");
        vertex(&p, 0, 0.1, 0.005, "");
        vertex(&p, 0.03, 0.03, 0.05, "");
        for (uint32_t i = 0; i < 4; i++)
            for (uint32_t j = i + 1; j < 4; j++)
                bar(&p, i, j);
        AUTO_RIG rig = rig_open(&p.truss, WITH(rig_config(1), .world.gravity_direction[0] = sin(a),
                                               .world.gravity_direction[2] = -cos(a)));
        mf_world_step(rig.world, 5);
        const double moved = get_field(rig.group, "base.position", 0, 0);
        if (steep)
            assert_true(moved > 0.05);
        else
            assert_near(moved, 0.0, 1e-3);
        assert_int_equal((mf_group_warning(rig.group, 0) & MF_WARNING_JUMP) != 0, steep);
    }
}

// Friction acts against the way of what slides during a frame, with all of its cone: on the way of
// the iterations no contact may lose its hold.
TEST(friction_opposes_slip) {
    static Parts parts;
    crawler(&parts, 7, 1);
    AUTO_RIG rig = rig_open(&parts.truss, WITH(rig_config(1), .motion.tolerance = 1e-5));
    double was[MOST][3], pushed[MOST];
    uint32_t slips = 0;
    drive(&rig, 6);
    for (uint32_t f = 0; f < 60; f++) {
        for (uint32_t v = 0; v < parts.truss.vertex_count; v++) {
            pushed[v] = get_field(rig.group, "contact.force", 0, 3 * v + 2);
            for (uint32_t i = 0; i < 2; i++)
                was[v][i] = get_field(rig.group, "vertex.position", 0, 3 * v + i);
        }
        set_field(rig.group, "actuator.control", 0, 0, f % 8 < 4 ? 0.13 : 0.08);
        set_field(rig.group, "actuator.control", 0, 1, f % 6 < 3 ? 0.12 : 0.09);
        mf_world_step(rig.world, 1);
        for (uint32_t v = 0; v < parts.truss.vertex_count; v++) {
            const double normal = get_field(rig.group, "contact.force", 0, 3 * v + 2);
            double along = 0.0, square = 0.0;
            for (uint32_t i = 0; i < 2; i++) {
                const double d = get_field(rig.group, "vertex.position", 0, 3 * v + i) - was[v][i];
                along += d * get_field(rig.group, "contact.force", 0, 3 * v + i);
                square += d * d;
            }
            if (!(pushed[v] > 1e-3 && normal > 1e-3 && square > 1e-8))
                continue;
            slips++;
            assert_true(along < -0.9 * 0.5 * normal * sqrt(square));
        }
    }
    assert_true(slips > 20);
}

// With one iteration a frame, each frame is one accepted iteration: the energy of bars and weight
// never rises. Without ground and noise there is no other.
TEST(energy_never_rises) {
    Parts p;
    begin(&p);
    vertex(&p, 0, 0, 1, "xyz");
    for (uint32_t i = 1; i < 12; i++) {
        vertex(&p, 0.05 * i, 0.02 * (i % 3), 1.0 + 0.03 * (i % 2), "");
        bar(&p, i - 1, i);
    }
    AUTO_RIG rig = rig_open(&p.truss, WITH(rig_config(1), .motion.contacts = false,
                                           .motion.collisions = false, .motion.iterations = 1));
    double before = INFINITY;
    uint32_t fell = 0;
    for (int f = 0; f < 600; f++) {
        mf_world_step(rig.world, 1);
        mf_MotionEnergy energy = mf_motion_energy(rig.group, 0);
        const double now = energy.potential + energy.elastic;
        assert_true(now <= before + 1e-14);
        fell += now < before;
        before = now;
    }
    assert_true(fell > 20);
    assert_near(get_field(rig.group, "vertex.position", 0, 33), 0.0, 1e-3); // it hangs
}

// Turning a truss about the vertical, or numbering its vertices otherwise, changes only rounding.
TEST(rotation_and_order_do_not_matter) {
    double heights[2][2];
    for (int k = 0; k < 2; k++) {
        Parts p, q;
        crawler(&p, 7, 0);
        begin(&q);
        const double angle = k == 0 ? 0.0 : 0.7;
        for (uint32_t i = 0; i < 7; i++) { // the other way round
            const double *at = p.vertices[k == 0 ? i : 6 - i].position;
            vertex(&q, cos(angle) * at[0] - sin(angle) * at[1],
                   sin(angle) * at[0] + cos(angle) * at[1], at[2], "");
        }
        for (uint32_t b = 0; b < p.truss.bar_count; b++) {
            const uint32_t *ends = p.bars[b].ends;
            bar(&q, k == 0 ? ends[0] : 6 - ends[1], k == 0 ? ends[1] : 6 - ends[0]);
        }
        AUTO_RIG rig = rig_open(
            &q.truss, WITH(rig_config(1), .motion.tolerance = 1e-9, .motion.friction = 0.0));
        set_field(rig.group, "bar.rest_length", 0, 2, 0.12);
        mf_world_step(rig.world, 2);
        heights[k][0] = get_field(rig.group, "vertex.position", 0, 3 * (k == 0 ? 2 : 4) + 2);
        heights[k][1] = get_field(rig.group, "base.position", 0, 2);
    }
    for (int c = 0; c < 2; c++)
        assert_near(heights[1][c], heights[0][c], 1e-9);
}

// ---- faults and refusals -----------------------------------------------------------------------

TEST(caps_are_said) {
    Parts p;
    crawler(&p, 7, 3);
    AUTO_RIG rig = rig_open(&p.truss, WITH(rig_config(1), .motion.iterations = 2));
    mf_world_step(rig.world, 1);
    assert_true((mf_group_warning(rig.group, 0) & MF_WARNING_SOLVER) != 0);
    assert_true(get_field(rig.group, "frame.relaxation", 0, 1) > 1.0);
}

static void refused(mf_Context *context, const mf_Truss *truss, const char *message) {
    mf_Error error = {0};
    mf_Model *model;
    assert_int_not_equal(mf_truss_model(context, truss, &model, &error), MF_OK);
    if (strstr(error.message, message) == NULL)
        fail_msg("expected '%s' in '%s'", message, error.message);
}

TEST(bad_trusses_are_refused) {
    Parts p;
    begin(&p);
    refused(*state, &p.truss, "vertices: none");
    crawler(&p, 5, 0);
    p.bars[3].ends[1] = 9;
    refused(*state, &p.truss, "bars[3].ends: no vertex 9");
    crawler(&p, 5, 0);
    p.bars[3].ends[1] = p.bars[3].ends[0];
    refused(*state, &p.truss, "bars[3].ends: both are vertex");
    crawler(&p, 5, 0);
    p.bars[4].ends[0] = p.bars[1].ends[1];
    p.bars[4].ends[1] = p.bars[1].ends[0];
    refused(*state, &p.truss, "bars[4].ends: bars[1] connects");
    crawler(&p, 5, 0);
    p.bars[2].diameter = 0.0;
    refused(*state, &p.truss, "bars[2].diameter: 0 m");
    crawler(&p, 5, 0);
    p.vertices[1].position[2] = NAN;
    refused(*state, &p.truss, "vertices[1].position: ");
    crawler(&p, 5, 0);
    memcpy(p.vertices[1].position, p.vertices[0].position, sizeof p.vertices[0].position);
    refused(*state, &p.truss, "coincide");
    crawler(&p, 5, 0);
    p.actuators[1].bar = p.actuators[0].bar;
    refused(*state, &p.truss, "actuators[1].bar: actuators[0] drives");
    crawler(&p, 5, 0);
    p.truss.vertex_count = 1000000;
    refused(*state, &p.truss, "vertices: 1000000, at most");
    crawler(&p, 5, 0);
    p.truss.material.elasticity = -1;
    refused(*state, &p.truss, "material.elasticity: -1 Pa");
}

TEST(capacity_is_kept) {
    Parts small, large;
    crawler(&small, 5, 0);
    crawler(&large, 7, 0);
    AUTO_RIG rig = rig_open(&small.truss, rig_config(3));
    MUST_FAIL(mf_quasistatic_set(rig.group, 1, &large.truss, &error), MF_LIMIT, "space for 5");
    MUST_FAIL(mf_quasistatic_set(rig.group, 3, &small.truss, &error), MF_BAD_ARGUMENT, "");
}
