// Interaction: neighbors in fields, collisions, ground, fence, wind and downwash, each against
// values computed by hand.
#include "solve/walkers.h"
#include "solve/parts.h"

static void add(Fixture *fixture, const mf_InteractionConfig *config) {
    MUST(mf_interaction_add(fixture->world, config, &fixture->interaction, &error));
}

static mf_InteractionConfig only(bool detect, bool collide, bool terrain) {
    return WITH(mf_interaction_config(), .detect = detect, .collide = collide, .terrain = terrain);
}

TEST(neighbors_are_listed) {
    for (int wide = 0; wide < 2; wide++) {
        AUTO_FIXTURE fixture = fixture_open(fixture_config());
        mf_Group *first = add_walkers(&fixture, "first", 3, false, 0.0);
        mf_Group *second = add_walkers(&fixture, "second", 18, wide != 0, 0.0);
        put(first, 0, 0, 0, 10, 1, 0, 0);
        put(first, 1, 3, 0, 10, 0, 2, 0);
        put(first, 2, -4, 0, 10, 0, 0, 0);
        for (uint32_t i = 0; i < 18; i++)
            put(second, i, 100.0 + 20.0 * i, 0, 10, 0, 0, 0);
        put(second, 17, 0, 1, 10, 0, 0, 3);
        add(&fixture, &WITH(only(true, false, false), .nearest = 2));
        assert_true(get_field(first, "neighbor.index", 0, 0) == (double)MF_NONE);
        mf_world_step(fixture.world, 1);
        assert_true(get_field(first, "neighbor.count", 0, 0) == 3.0);
        assert_true(get_field(first, "neighbor.index", 0, 0) == 16.0 + 17.0);
        assert_true(get_field(first, "neighbor.index", 0, 1) == 1.0);
        assert_true(get_field(first, "neighbor.position", 0, 1) == 1.0);
        assert_true(get_field(first, "neighbor.position", 0, 3) == 3.0);
        assert_true(get_field(first, "neighbor.velocity", 0, 0) == -1.0);
        assert_true(get_field(first, "neighbor.velocity", 0, 2) == 3.0);
        assert_true(get_field(first, "neighbor.velocity", 0, 4) == 2.0);
        assert_true(get_field(second, "neighbor.count", 17, 0) == 3.0);
        assert_true(get_field(second, "neighbor.index", 17, 0) == 0.0);
        assert_true(get_field(second, "neighbor.position", 17, 1) == -1.0);
        assert_true(get_field(second, "neighbor.count", 0, 0) == 0.0);
        assert_true(get_field(second, "neighbor.index", 0, 0) == (double)MF_NONE);
        mf_Group *group;
        uint32_t instance;
        assert_true(mf_interaction_locate(fixture.interaction, 33, &group, &instance));
        assert_ptr_equal(group, second);
        assert_int_equal(instance, 17);
        assert_false(mf_interaction_locate(fixture.interaction, 3, NULL, NULL));
        assert_false(mf_interaction_locate(fixture.interaction, 1000, NULL, NULL));
    }
}

// SensingTask along +x with 60 degrees to each side: ahead and at 45 degrees, not beside or behind.
TEST(view_is_a_cone) {
    AUTO_FIXTURE fixture = fixture_open(fixture_config());
    mf_Group *group = add_walkers(&fixture, "agents", 5, false, 0.0);
    put(group, 0, 0, 0, 10, 0, 0, 0);
    put(group, 1, 2, 0, 10, 0, 0, 0);
    put(group, 2, 1, 1, 10, 0, 0, 0);
    put(group, 3, 0, 0, 12, 0, 0, 0);
    put(group, 4, -2, 0, 10, 0, 0, 0);
    const double rotated[4] = {0.70710678118654752, 0, 0, 0.70710678118654752}; // looks along +y
    const double at[3] = {0, -3, 10};
    add(&fixture, &WITH(only(true, false, false), .view_angle = 3.14159265358979323846 / 3.0));
    mf_world_step(fixture.world, 1);
    assert_true(get_field(group, "neighbor.count", 0, 0) == 2.0);
    assert_true(get_field(group, "neighbor.index", 0, 0) == 2.0);
    assert_true(get_field(group, "neighbor.index", 0, 1) == 1.0);
    MUST(mf_group_set_start(group, 4, at, rotated, NULL, &error));
    mf_world_step(fixture.world, 1);
    // 3 m ahead: agent 0; agents 1, 2 and 3 are within 34 degrees of it.
    assert_true(get_field(group, "neighbor.count", 4, 0) == 4.0);
    assert_true(get_field(group, "neighbor.index", 4, 0) == 0.0);
}

// Two agents meet head on at 2 m/s from 1.01 m apart, radii 0.2: they touch when they are 0.4 m
// apart, after 0.1525 s at 4 m/s, so the round at 0.16 s finds them. A third passes later where
// they lie dead and is not harmed.
TEST(collisions_kill_both) {
    AUTO_FIXTURE fixture = fixture_open(fixture_config());
    mf_Group *first = add_walkers(&fixture, "first", 2, false, 0.0);
    mf_Group *second = add_walkers(&fixture, "second", 1, false, 0.0);
    put(first, 0, 0.505, 0, 10, -2, 0, 0);
    put(first, 1, 0, 5, 10, 0, -5, 0);
    put(second, 0, -0.505, 0, 10, 2, 0, 0);
    mf_InteractionConfig config = only(false, true, false);
    add(&fixture, &config);
    mf_world_step(fixture.world, 16);
    assert_int_equal(mf_group_fault_total(first), 0);
    mf_world_step(fixture.world, 1);
    assert_int_equal(mf_group_fault(first, 0), MF_FAULT_COLLISION);
    assert_int_equal(mf_group_fault(second, 0), MF_FAULT_COLLISION);
    assert_int_equal(mf_group_fault(first, 1), 0);
    const mf_InteractionEvent *events;
    uint64_t lost;
    assert_int_equal(mf_interaction_events(fixture.interaction, &events, &lost), 1);
    assert_true(lost == 0);
    assert_true(events[0].time == 160 * MF_MILLISECOND);
    assert_int_equal(events[0].kind, MF_EVENT_COLLISION);
    assert_int_equal(events[0].agent, 0);
    assert_int_equal(events[0].partner, 16);
    assert_near(events[0].position[0], 0.185, 1e-5);
    mf_world_step(fixture.world, 200);
    assert_int_equal(mf_group_fault(first, 1), 0);
    assert_true(get_field(first, "base.position", 1, 1) < -4.0);
    assert_int_equal(mf_interaction_events(fixture.interaction, &events, NULL), 1);
    mf_interaction_clear_events(fixture.interaction);
    assert_int_equal(mf_interaction_events(fixture.interaction, &events, NULL), 0);
    // Reset: alive again, at its start.
    mf_group_reset(first, 0);
    assert_int_equal(mf_group_fault(first, 0), 0);
    mf_world_step(fixture.world, 16);
    assert_int_equal(mf_group_fault(first, 0), 0);
}

// Many at one point: everybody dies, the log keeps what it has space for, the rest is counted.
TEST(one_point_is_survived) {
    AUTO_FIXTURE fixture = fixture_open(fixture_config());
    mf_Group *group = add_walkers(&fixture, "agents", 500, false, 0.0);
    for (uint32_t i = 0; i < 500; i++)
        put(group, i, 1, 2, 30, 0, 0, 0);
    add(&fixture, &WITH(only(true, true, false), .event_capacity = 100));
    mf_world_step(fixture.world, 1);
    assert_int_equal(mf_group_fault_total(group), 500);
    const mf_InteractionEvent *events;
    uint64_t lost;
    assert_int_equal(mf_interaction_events(fixture.interaction, &events, &lost), 100);
    assert_true(lost + 100 == 500 * 499 / 2);
    assert_true(mf_interaction_statistics(fixture.interaction).collisions == 500 * 499 / 2);
    assert_int_equal(mf_interaction_statistics(fixture.interaction).full, 500);
    assert_true(get_field(group, "neighbor.count", 7, 0) == 499.0);
    assert_true(get_field(group, "neighbor.index", 7, 7) == 8.0); // ties by number, without the own
}

// Falling at 1 m/s from 1.005 m, standing height 0.1, tolerance 0.01: below 0.09 m after 0.915 s.
TEST(the_ground_is_hit) {
    AUTO_FIXTURE fixture = fixture_open(fixture_config());
    mf_Group *flying = add_walkers(&fixture, "flying", 3, false, 0.0);
    mf_Group *driving = add_walkers(&fixture, "driving", 1, true, 0.0);
    put(flying, 0, 0, 0, 1.005, 0, 0, -1);
    put(flying, 1, 50, 0, 0.1, 0, 0, 0); // stands
    put(flying, 2, 90, 0, 0.5, 0, 0, 0);
    put(driving, 0, 20, 0, -1, 0, 0, 0);
    mf_InteractionMember members[2] = {mf_interaction_member(flying),
                                       mf_interaction_member(driving)};
    members[1].terrain = false;
    add(&fixture, &WITH(only(false, false, true), .members = members, .member_count = 2));
    mf_world_step(fixture.world, 92);
    assert_int_equal(mf_group_fault_total(flying), 0);
    mf_world_step(fixture.world, 1);
    assert_int_equal(mf_group_fault(flying, 0), MF_FAULT_TERRAIN);
    mf_world_step(fixture.world, 100);
    assert_int_equal(mf_group_fault_total(flying), 1);
    assert_int_equal(mf_group_fault_total(driving), 0);
    const mf_InteractionEvent *events;
    assert_int_equal(mf_interaction_events(fixture.interaction, &events, NULL), 1);
    assert_int_equal(events[0].kind, MF_EVENT_TERRAIN);
    assert_int_equal(events[0].partner, MF_NONE);
    assert_true(events[0].time == 920 * MF_MILLISECOND);
}

// The fence reports who leaves once each time, or takes him out.
TEST(the_fence_is_watched) {
    for (int faults = 0; faults < 2; faults++) {
        AUTO_FIXTURE fixture = fixture_open(fixture_config());
        mf_Group *group = add_walkers(&fixture, "agents", 2, false, 0.0);
        put(group, 0, 0.5, 0, 10, 1, 0, 0);
        put(group, 1, 0, 0, 10, 0, 0, 0);
        mf_InteractionConfig config =
            WITH(only(false, false, false), .fence = true, .fence_faults = faults != 0);
        for (int c = 0; c < 3; c++) {
            config.fence_low[c] = c == 2 ? 0.0 : -1.0;
            config.fence_high[c] = c == 2 ? 20.0 : 1.0;
        }
        add(&fixture, &config);
        mf_world_step(fixture.world, 80); // out after 0.5 s
        const mf_InteractionEvent *events;
        assert_int_equal(mf_interaction_events(fixture.interaction, &events, NULL), 1);
        assert_int_equal(events[0].agent, 0);
        assert_int_equal(events[0].kind, MF_EVENT_FENCE);
        assert_in_range(events[0].time, 510 * MF_MILLISECOND, 520 * MF_MILLISECOND);
        assert_int_equal(mf_group_fault(group, 0), faults ? MF_FAULT_FENCE : 0);
        assert_int_equal(mf_group_fault(group, 1), 0);
        if (!faults) { // back and out again
            set_field(group, "base.position", 0, 0, 0.9);
            mf_world_step(fixture.world, 20);
            assert_int_equal(mf_interaction_events(fixture.interaction, &events, NULL), 2);
        }
    }
}

// The jet of docs/explanation/contact.md worked out by hand: T = 9.81 N, A = 0.2 m^2, rho
// = 1.225: d U_j = sqrt(4 T / (pi rho)) = 3.19313 m^2/s, limit sqrt(2 T / (rho A)) = 8.94884 m/s.
TEST(downwash_is_a_jet) {
    const double far = 5.8 * 3.19313, limit = 8.94884, a = 46.8783;
    AUTO_FIXTURE fixture = fixture_open(fixture_config());
    mf_Group *group = add_walkers(&fixture, "rotors", 6, true, 0.0);
    mf_Group *below = add_walkers(&fixture, "below", 1, false, 0.0);
    put(group, 0, 0, 0, 20, 0, 0, 0);
    put(group, 1, 0, 0, 17, 0, 0, 0);     // 3 m below
    put(group, 2, 50, 0, 20, 0, 0, 0);    // alone
    put(group, 3, 50, 0, 15.5, 0, 0, 0);  // 4.5 m below: out of reach
    put(group, 4, 0.3, 0.4, 18, 0, 0, 0); // 2 m below the first, 0.5 m off; 1 m above the second
    put(group, 5, 50, 1.25, 18, 0, 0, 0); // beside the jet
    put(below, 0, 50, 0, 19, 0, 0, 0);    // 1 m below: at the limit
    mf_InteractionMember members[2] = {mf_interaction_member(group), mf_interaction_member(below)};
    members[0].rotor_area = 0.2;
    add(&fixture, &WITH(only(false, false, false), .downwash = true, .wind[0] = 2.0,
                        .members = members, .member_count = 2));
    mf_world_step(fixture.world, 1);
    double share = 1.0 / (1.0 + a * 0.25 / 4.0), other = 1.0 / (1.0 + a * 0.25);
    double expected4 = fmin(far / 2, limit) * share * share;
    double expected1 = far / 3 + limit * other * other;
    assert_true(fabs(get_field(group, "wind.velocity", 4, 2) + expected4) < 2e-4 * expected4);
    assert_true(fabs(get_field(group, "wind.velocity", 1, 2) + expected1) < 2e-4 * expected1);
    assert_true(fabs(get_field(below, "wind.velocity", 0, 2) + limit) < 2e-4 * limit);
    for (uint32_t i = 0; i < 6; i++)
        assert_true(get_field(group, "wind.velocity", i, 0) == 2.0);
    assert_true(get_field(group, "wind.velocity", 0, 2) == 0.0);
    assert_true(get_field(group, "wind.velocity", 2, 2) == 0.0);
    assert_true(get_field(group, "wind.velocity", 3, 2) == 0.0);
    assert_true(get_field(group, "wind.velocity", 5, 2) == 0.0);
}

// ln(h / 0.03) / ln(10 / 0.03) times the wind at 10 m.
TEST(wind_grows_with_height) {
    for (int wide = 0; wide < 2; wide++) {
        AUTO_FIXTURE fixture = fixture_open(fixture_config());
        static const double heights[] = {-5.0, 0.02, 0.1, 1.0, 10.0, 50.0, 300.0, 1000.0};
        mf_Group *group = add_walkers(&fixture, "agents", 8, wide != 0, 0.0);
        for (uint32_t i = 0; i < 8; i++)
            put(group, i, 0, 0, 5.0 + heights[i], 0, 0, 0);
        add(&fixture, &WITH(only(false, false, false), .profile = MF_WIND_LOGARITHMIC,
                            .wind_ground = 5.0, .wind[0] = 4.0, .wind[1] = -8.0));
        mf_world_step(fixture.world, 1);
        for (uint32_t i = 0; i < 8; i++) {
            double factor = log(fmin(heights[i], 300.0) / 0.03) / log(10.0 / 0.03);
            if (heights[i] < 0.03)
                factor = 0.0;
            double slack = wide ? 2e-4 : 3e-4;
            assert_near(get_field(group, "wind.velocity", i, 0), 4.0 * factor, 4.0 * slack);
            assert_true(fabs(get_field(group, "wind.velocity", i, 1) + 8.0 * factor) <=
                        8.0 * slack);
        }
    }
}

TEST(bad_settings_are_refused) {
    AUTO_FIXTURE fixture = fixture_open(fixture_config());
    mf_Group *group = add_walkers(&fixture, "agents", 4, false, 0.0);
    mf_Group *isolated =
        add_group(fixture.world, &WITH(mf_group_config(), .name = "alone", .model = fixture.model));
    mf_InteractionMember member = mf_interaction_member(group), twice[2] = {member, member},
                         lonely = WITH(member, .group = isolated),
                         thin = WITH(member, .radius = -1.0);
    const mf_InteractionConfig good =
        WITH(mf_interaction_config(), .members = &member, .member_count = 1);
    const mf_InteractionConfig bad[] = {
        WITH(good, .struct_size = good.struct_size - 1),
        WITH(good, .radius = 0.0),
        WITH(good, .radius = NAN),
        WITH(good, .nearest = MF_NEAREST_LIMIT + 1),
        WITH(good, .view_angle = 4.0),
        WITH(good, .detection_rate = ((mf_Rate){-1, 1})),
        WITH(good, .collision_rate = ((mf_Rate){1, 0})),
        WITH(good, .latency = 2), // every step comes again after one
        WITH(good, .background = true),
        WITH(good, .terrain_tolerance = -1.0),
        WITH(good, .fence = true), // empty box
        WITH(good, .downwash_reach = INFINITY),
        WITH(good, .air_density = 0.0),
        WITH(good, .wind[2] = NAN),
        WITH(good, .wind_reference = 0.01),
        WITH(good, .candidates = 0),
        WITH(good, .event_capacity = 0),
        WITH(good, .detect = false, .collide = false, .terrain = false),
        WITH(good, .members = &lonely),
        WITH(good, .members = twice, .member_count = 2), // the same twice
        WITH(good, .members = &thin),
        WITH(good, .member_count = 0),
    };
    size_t before = mf_context_live_bytes(fixture.context);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mf_Error error = {0};
        mf_Interaction *out = (mf_Interaction *)&error;
        mf_Status status = mf_interaction_add(fixture.world, &bad[i], &out, &error);
        if (status != MF_BAD_ARGUMENT || out != NULL || error.message[0] == '\0')
            fail_msg("case %zu: status %d, \"%s\"", i, (int)status, error.message);
        assert_int_equal(mf_world_system_count(fixture.world), 0);
        assert_int_equal(mf_context_live_bytes(fixture.context), before);
    }
    add(&fixture, &good);
    MUST_FAIL(mf_interaction_add(fixture.world, &good, &fixture.interaction, &error),
              MF_BAD_ARGUMENT, ""); // one is enough
}

static mf_Status build_all(mf_Context *context, void *user, mf_Error *error) {
    const mf_GroupConfig config =
        WITH(mf_group_config(), .model = user, .count = 20, .isolated = false);
    AUTO_WORLD *world = NULL;
    mf_Group *group;
    mf_Interaction *interaction = NULL;
    MF_TRY(try_group(context, NULL, &config, &world, &group, error));
    MF_TRY(mf_group_set_start(group, 3, (double[]){1, 2, 3}, NULL, NULL, error));
    const mf_Status status = mf_interaction_add(
        world, &WITH(mf_interaction_config(), .downwash = true, .background = true, .latency = 1),
        &interaction, error);
    assert_true((status == MF_OK) == (interaction != NULL));
    MF_TRY(status);
    return mf_interaction_reserve(interaction, 10, error);
}

TEST(every_failure_is_survived) {
    AUTO_FIXTURE fixture = fixture_open(fixture_config());
    assert_true(torture(fixture.context, build_all, fixture.model, TORTURE_MUST_FAIL) > 10);
}
