// Rounds of interaction: the same bits for any number of threads and instruction set, in the
// background and in the main loop, after a restore, and for a single agent; rates; no allocation in
// a step.
#include "solve/walkers.h"
#include "solve/parts.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

enum { FIRST = 700, SECOND = 333 };

typedef struct Outcome {
    uint64_t world, events;
    uint32_t dead, event_count;
    uint64_t builds;
} Outcome;

static mf_InteractionConfig everything(void) {
    mf_InteractionConfig config =
        WITH(mf_interaction_config(), .radius = 3.0, .nearest = 6, .view_angle = 2.0,
             .downwash = true, .downwash_reach = 2.0, .wind[0] = 0.5,
             .profile = MF_WIND_LOGARITHMIC, .fence = true, .fence_faults = true);
    for (int c = 0; c < 3; c++) {
        config.fence_low[c] = -12.0;
        config.fence_high[c] = 12.0;
    }
    return config;
}

static Fixture fill_world(const FixtureConfig *setup, const mf_InteractionConfig *settings,
                          bool wide) {
    Fixture fixture = fixture_open(*setup);
    mf_Group *first = add_walkers(&fixture, "first", FIRST, false, 2.0);
    mf_Group *second = add_walkers(&fixture, "second", SECOND, wide, 4.0);
    for (uint32_t i = 0; i < FIRST; i++)
        put(first, i, 22 * unit(1, i) - 11, 22 * unit(2, i) - 11, 22 * unit(3, i) - 2, 0, 0, 0);
    for (uint32_t i = 0; i < SECOND; i++)
        put(second, i, 22 * unit(4, i) - 11, 22 * unit(5, i) - 11, 8 * unit(6, i) + 1, 0, 0, 0);
    mf_InteractionMember members[2] = {mf_interaction_member(first), mf_interaction_member(second)};
    members[0].rotor_area = 0.3;
    MUST(mf_interaction_add(fixture.world, &WITH(*settings, .members = members, .member_count = 2),
                            &fixture.interaction, &error));
    return fixture;
}

static Outcome outcome_of(const Fixture *fixture) {
    Outcome out = {.world = mf_world_hash(fixture->world), .events = MF_HASH_START};
    const mf_InteractionEvent *events;
    out.event_count = mf_interaction_events(fixture->interaction, &events, NULL);
    for (uint32_t i = 0; i < out.event_count; i++) {
        out.events = mf_hash_bytes(out.events, &events[i].time, sizeof events[i].time);
        out.events = mf_hash_bytes(out.events, &events[i].agent, sizeof events[i].agent);
        out.events = mf_hash_bytes(out.events, &events[i].partner, sizeof events[i].partner);
        out.events = mf_hash_bytes(out.events, events[i].position, sizeof events[i].position);
    }
    for (uint32_t g = 0; g < 2; g++)
        out.dead += mf_group_fault_total(mf_world_group(fixture->world, g));
    out.builds = mf_interaction_statistics(fixture->interaction).builds;
    return out;
}

static void same(Outcome a, Outcome b) {
    assert_int_equal(a.dead, b.dead);
    assert_int_equal(a.event_count, b.event_count);
    assert_true(a.events == b.events);
    assert_true(a.world == b.world);
}

static Outcome live(const FixtureConfig *setup, const mf_InteractionConfig *config, bool wide,
                    uint64_t steps) {
    AUTO_FIXTURE fixture = fill_world(setup, config, wide);
    mf_world_step(fixture.world, steps);
    return outcome_of(&fixture);
}

TEST(threads_and_sets_do_not_show) {
    static const uint32_t threads[] = {1, 2, 4};
    mf_InteractionConfig config = everything();
    for (int wide = 0; wide < 2; wide++) {
        Outcome reference = {0};
        FOR_EACH_ISA (isa)
            for (int t = 0; t < 3; t++) {
                Outcome out = live(&WITH(fixture_config(), .isa = isa, .threads = threads[t]),
                                   &config, wide != 0, 120);
                if (reference.world == 0)
                    reference = out;
                same(reference, out);
            }
        // Something happened, and somebody is left.
        assert_in_range(reference.dead, 20, FIRST + SECOND - 100);
        assert_in_range(reference.event_count, 20, 4095);
        assert_in_range(reference.builds, 2, 119);
    }
}

#if defined(__x86_64__)
// Whether the host's threads flush subnormal numbers is no part of the result: squares of distances
// of 1e-22 m and 2e-22 m are subnormal in float, so clusters of three have their order by these.
TEST(the_host_may_flush) {
    enum { CLUSTERS = 1000 };
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040);
    AUTO_FIXTURE fixture = fixture_open(WITH(fixture_config(), .threads = 4));
    mf_Group *group = add_walkers(&fixture, "agents", 3 * CLUSTERS, false, 0.0);
    for (uint32_t i = 0; i < 3 * CLUSTERS; i++) {
        const double offset[3] = {0.0, 2e-22, 1e-22};
        put(group, i, 20.0 * (i / 3 % 100), offset[i % 3], 20.0 * (i / 300) + 5.0, 0, 0, 0);
    }
    MUST(mf_interaction_add(fixture.world,
                            &WITH(mf_interaction_config(), .collide = false, .terrain = false),
                            &fixture.interaction, &error));
    for (int round = 0; round < 5; round++) {
        mf_world_step(fixture.world, 1);
        for (uint32_t i = 0; i < 3 * CLUSTERS; i += 3) {
            assert_true(get_field(group, "neighbor.index", i, 0) == i + 2.0);
            assert_true(get_field(group, "neighbor.index", i, 1) == i + 1.0);
        }
    }
    assert_true((_mm_getcsr() & 0x8040) == 0x8040);
    _mm_setcsr(before);
}
#endif

// How lists are kept is no part of the result: wide and narrow margins, space for everybody and
// for nobody.
TEST(lists_do_not_show) {
    static const double margins[] = {0.05, 0.3, 2.0};
    static const uint32_t capacity[] = {1, 20, 300};
    FixtureConfig setup = fixture_config();
    Outcome reference = {0};
    for (int m = 0; m < 3; m++)
        for (int r = 0; r < 3; r++) {
            Outcome out =
                live(&setup, &WITH(everything(), .margin = margins[m], .candidates = capacity[r]),
                     false, 60);
            if (m + r == 0)
                reference = out;
            same(reference, out);
        }
}

// With the same latency and rates the background thread finds what the main loop finds; two runs of
// it are the same; and detection at 10 Hz with 50 ms latency takes effect 5 steps later.
TEST(the_background_thread_gives_the_same_results) {
    for (uint32_t latency = 1; latency <= 5; latency += 4)
        for (uint32_t threads = 1; threads <= 2; threads++) {
            mf_InteractionConfig config =
                WITH(everything(), .latency = latency, .detection_rate = ((mf_Rate){10, 1}),
                     .collision_rate = ((mf_Rate){latency == 1 ? 100 : 20, 1}));
            FixtureConfig setup = WITH(fixture_config(), .threads = threads);
            Outcome inside = live(&setup, &config, false, 103);
            config.background = true;
            Outcome background = live(&setup, &config, false, 103);
            same(inside, background);
            same(background, live(&setup, &config, false, 103));
            assert_in_range(inside.dead, 20, FIRST + SECOND - 100);
        }
}

TEST(latency_is_exact) {
    for (int background = 0; background < 2; background++) {
        AUTO_FIXTURE fixture = fixture_open(fixture_config());
        mf_Group *group = add_walkers(&fixture, "agents", 2, false, 0.0);
        put(group, 0, 0, 0, 5, 0, 0, 0);
        put(group, 1, 0.3, 0, 5, 0, 0, 0);
        mf_InteractionConfig config =
            WITH(mf_interaction_config(), .latency = 3, .background = background != 0);
        config.detection_rate = config.collision_rate = (mf_Rate){10, 1};
        MUST(mf_interaction_add(fixture.world, &config, &fixture.interaction, &error));
        mf_world_step(fixture.world, 3);
        assert_int_equal(mf_group_fault_total(group), 0);
        assert_true(get_field(group, "neighbor.count", 0, 0) == 0.0);
        assert_int_equal(mf_interaction_reserve(fixture.interaction, 50, &fixture.error), MF_BUSY);
        size_t size = mf_world_snapshot_size(fixture.world);
        AUTO(end_memory) void *image = malloc(size);
        assert_int_equal(mf_world_snapshot(fixture.world, image, size, &fixture.error), MF_BUSY);
        mf_world_step(fixture.world, 1);
        assert_int_equal(mf_group_fault_total(group), 2);
        assert_true(get_field(group, "neighbor.count", 0, 0) == 1.0);
        MUST(mf_world_snapshot(fixture.world, image, size, &error));
        const mf_InteractionEvent *events;
        assert_int_equal(mf_interaction_events(fixture.interaction, &events, NULL), 1);
        assert_true(events[0].time == 0); // when they were looked at
    }
}

// A restored world goes on to the same bits, though its lists are built anew.
TEST(restored_worlds_go_on) {
    FixtureConfig setup = fixture_config();
    mf_InteractionConfig config =
        WITH(everything(), .detection_rate = ((mf_Rate){30, 1}), .fence_faults = false);
    AUTO_FIXTURE fixture = fill_world(&setup, &config, false);
    mf_world_step(fixture.world, 33);
    size_t size;
    AUTO(end_memory) void *image = take_snapshot(fixture.world, &size);
    assert_continues(fixture.world, 50);
    MUST(mf_world_restore(fixture.world, image, size, &error));
    AUTO_FIXTURE other = fill_world(&setup, &config, false);
    assert_continues_in(other.world, fixture.world, 50);
    fixture_close(&other);
    config.radius = 2.9; // another interaction: another world
    other = fill_world(&setup, &config, false);
    assert_int_equal(mf_world_restore(other.world, image, size, &other.error), MF_BAD_ARGUMENT);
}

// An agent far from all others has the same bits as one that is alone in the world.
TEST(results_do_not_depend_on_distant_agents) {
    uint64_t hash[2];
    for (int alone = 0; alone < 2; alone++) {
        AUTO_FIXTURE fixture = fixture_open(fixture_config());
        mf_Group *group = add_walkers(&fixture, "agents", alone ? 1 : 1000, false, 1.0);
        put(group, 0, 500, 500, 50, 1, 2, 0);
        for (uint32_t i = 1; i < mf_group_count(group); i++)
            put(group, i, 30 * unit(1, i), 30 * unit(2, i), 40 * unit(3, i) + 5, 0, 0, 0);
        MUST(mf_interaction_add(fixture.world, &WITH(everything(), .fence = false),
                                &fixture.interaction, &error));
        mf_world_step(fixture.world, 100);
        hash[alone] = mf_group_instance_hash(group, 0);
    }
    assert_true(hash[0] == hash[1]);
}

TEST(steps_take_no_memory) {
    for (int background = 0; background < 2; background++) {
        mf_InteractionConfig config =
            WITH(everything(), .background = background != 0, .latency = background ? 1 : 0);
        AUTO_FIXTURE fixture = fill_world(&WITH(fixture_config(), .threads = 2), &config, false);
        uint64_t calls = mf_context_call_count(fixture.context);
        mf_world_step(fixture.world, 100);
        assert_true(mf_context_call_count(fixture.context) == calls);
    }
}

// Detection at 20 Hz in steps of 10 ms: the fields change every fifth step only.
TEST(rates_hold) {
    AUTO_FIXTURE fixture = fixture_open(fixture_config());
    mf_Group *group = add_walkers(&fixture, "agents", 2, false, 0.0);
    put(group, 0, 0, 0, 5, 0, 0, 0);
    put(group, 1, 1, 0, 5, 1, 0, 0);
    MUST(mf_interaction_add(fixture.world,
                            &WITH(mf_interaction_config(), .detection_rate = ((mf_Rate){20, 1})),
                            &fixture.interaction, &error));
    for (int step = 0; step < 23; step++) {
        mf_world_step(fixture.world, 1);
        double expected = 1.0 + 0.05 * (step / 5);
        assert_near(get_field(group, "neighbor.position", 0, 0), expected, 1e-5);
    }
    assert_true(mf_interaction_statistics(fixture.interaction).detections == 5);
}

int main(void) {
    KEEP_SHARED();
    return run_listed_tests();
}
