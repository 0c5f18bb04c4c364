// Swarms' files and the worlds made from them: mistakes, overrides, start places, behaviours, and
// the same bits for any number of threads.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support.h"
#include "torture.h"

#include <math.h>
#include <stdlib.h>

#define GROUP "groups:\n  - name: quads\n    vehicle: ../models/sun2022.yaml\n" // lines 1 to 3
#define CAR "groups:\n  - name: cars\n    vehicle: ../models/car_full_size.yaml\n"
#define WING "groups:\n  - name: wings\n    vehicle: ../models/aerosonde.yaml\n"

static void defaults_are_those_of_the_library(void **state) {
    mf_Swarm *swarm = parse_swarm(*state, GROUP);
    mf_InteractionConfig wanted = mf_interaction_config();
    const mf_InteractionConfig *found = &swarm->interaction;
    assert_true(found->detect == wanted.detect && found->radius == wanted.radius);
    assert_true(found->nearest == wanted.nearest && found->relative == wanted.relative);
    assert_true(fabs(found->sight - wanted.sight) < 1e-15);
    assert_true(found->detection_rate.numerator == wanted.detection_rate.numerator);
    assert_true(found->collide == wanted.collide && found->terrain == wanted.terrain);
    assert_true(found->terrain_tolerance == wanted.terrain_tolerance);
    assert_true(found->beside == wanted.beside && found->latency == wanted.latency);
    assert_true(found->downwash == wanted.downwash);
    assert_true(found->downwash_reach == wanted.downwash_reach);
    assert_true(found->air_density == wanted.air_density && found->profile == wanted.profile);
    assert_true(found->wind_roughness == wanted.wind_roughness);
    assert_true(found->wind_reference == wanted.wind_reference);
    assert_true(found->margin == wanted.margin && found->candidates == wanted.candidates);
    assert_true(found->event_capacity == wanted.event_capacity);
    assert_int_equal(swarm->group_count, 1);
    assert_int_equal(swarm->groups[0].count, 1);
    assert_int_equal(swarm->groups[0].integrator, MF_INTEGRATOR_RK4);
    assert_string_equal(swarm->groups[0].vehicle->name, "sun2022");
    assert_string_equal(swarm->name, "t");
    mf_swarm_destroy(swarm);
}

static void mistakes_are_one_line_with_their_place(void **state) {
    static const struct {
        const char *text, *message; // the message's beginning, after the path
    } cases[] = {
        {"groups: 5\n", ":1:9: groups: expected a list, found 5"},
        {"groups: []\n", ":1:9: groups: expected a list, found a list"},
        {"name: x\n", ":1:1: expected the key groups, which is missing"},
        {"groups:\n  - count: 5\n", ":2:5: expected the key groups.0.name, which is missing"},
        {GROUP "    cuont: 5\n", ":4:5: groups.quads.cuont: unknown key, did you mean "
                                 "groups.quads.count?"},
        {GROUP "    count: 0\n",
         ":4:12: groups.quads.count: expected a whole number from 1 to 67108864, found 0"},
        {GROUP "    placement: {grid: {spacing: [1, 2]}}\n",
         ":4:33: groups.quads.placement.grid.spacing: expected a list of 3 numbers above 0"},
        {GROUP "    placement: ring\n",
         ":4:16: groups.quads.placement: expected one of grid, circle, random, found ring"},
        {GROUP "    placement: {grid: {}, random: {}}\n",
         ":4:27: groups.quads.placement: expected just one of"},
        {GROUP "    placement: {random: {lower: [0, 0, 9], upper: [1, 1, 5]}}\n",
         ":4:51: groups.quads.placement.random.upper: expected nothing below"},
        {GROUP "    control_interval: -0.1\n",
         ":4:23: groups.quads.control_interval: expected a time"},
        {GROUP "    control_interval: 0.004\n    quadrotor: {outer_interval: 0.006}\n",
         ":5:33: groups.quads.quadrotor.outer_interval: expected a multiple of control_interval = "
         "0.004 s, found 0.006 s"},
        {GROUP "    control_interval: 0.003\n",
         ":4:23: groups.quads.control_interval: expected a multiple of world.step = 0.002 s, found "
         "0.003 s"},
        {GROUP "    behaviour_interval: -1\n",
         ":4:25: groups.quads.behaviour_interval: expected a time"},
        {GROUP "    behaviour: {command: {mode: rates, values: [0, 0, 0]}}\n",
         ":4:16: groups.quads.behaviour: command mode rates takes 4 values, found 3"},
        {GROUP "    behaviour: {command: {mode: speed, values: [0]}}\n",
         ":4:16: groups.quads.behaviour: a quadrotor has no command mode speed, expected one of "
         "rotors, rates, attitude, velocity, position"},
        {GROUP "    behaviour: waypoints\n",
         ":2:5: expected the key groups.quads.behaviour.waypoints.points, which is missing"},
        {GROUP "    behaviour: {orbit: {speed: 500}}\n",
         ":4:16: groups.quads.behaviour: speed: this quadrotor flies up to"},
        {GROUP "    behaviour: flock\ninteraction: {enabled: false}\n",
         ":4:16: groups.quads.behaviour: a flock"},
        {GROUP "    car: {tyre: linear}\n", ":4:5: groups.quads.car: the vehicle is a quadrotor"},
        {GROUP "  - name: quads\n    vehicle: ../models/sun2022.yaml\n",
         ":4:11: groups.quads.name: expected each name once, found it again"},
        {"groups:\n  - name: a.b\n    vehicle: ../models/sun2022.yaml\n",
         ":2:11: groups.a.b.name: expected 1 to 80 characters"},
        {"groups:\n  - name: a\n    vehicle: gone.yaml\n", ":3:14: groups.a.vehicle: "},
        {WING "    behaviour: {orbit: {speed: 5}}\n",
         ":4:16: groups.wings.behaviour: speed: this aircraft flies at 18 .. 35 m/s, found 5 m/s"},
        {CAR "    behaviour: {orbit: {radius: 1, speed: 5}}\n",
         ":4:16: groups.cars.behaviour: radius: this car needs at least its wheelbase of 2.7 m"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mf_Swarm *swarm = (mf_Swarm *)*state;
        mf_Error error = {0};
        char line[900];
        size_t live = mf_context_live_bytes(*state), path = strlen(SWARM_PATH);
        assert_int_not_equal(mf_swarm_parse(*state, SWARM_PATH, cases[i].text,
                                            strlen(cases[i].text), NULL, 0, &swarm, &error),
                             MF_OK);
        assert_null(swarm);
        mf_error_format(&error, line, sizeof line);
        assert_true(strncmp(line, SWARM_PATH, path) == 0);
        if (strncmp(line + path, cases[i].message, strlen(cases[i].message)) != 0)
            assert_string_equal(line + path, cases[i].message);
        assert_null(strchr(line, '\n'));
        assert_int_equal(mf_context_live_bytes(*state), live);
    }
}

static void overrides_reach_into_groups(void **state) {
    static const mf_Override good[] = {{"groups.quads.count", "7"},
                                       {"groups.0.placement.circle.radius", "9"},
                                       {"interaction.neighbours.radius", "3"},
                                       {"world.seed", "5"}};
    static const mf_Override bad[] = {{"groups.cars.count", "7"}};
    mf_Swarm *swarm = NULL;
    mf_Error error = {0};
    assert_int_equal(
        mf_swarm_parse(*state, SWARM_PATH, GROUP, strlen(GROUP), good, 4, &swarm, &error), MF_OK);
    assert_int_equal(swarm->groups[0].count, 7);
    assert_int_equal(swarm->groups[0].placement.kind, MF_PLACEMENT_CIRCLE);
    assert_true(swarm->groups[0].placement.radius == 9.0);
    assert_true(swarm->interaction.radius == 3.0);
    assert_int_equal(swarm->seed, 5);
    mf_swarm_destroy(swarm);
    assert_int_not_equal(
        mf_swarm_parse(*state, SWARM_PATH, GROUP, strlen(GROUP), bad, 1, &swarm, &error), MF_OK);
    assert_string_equal(error.message, "override groups.cars.count=7: no entry is named cars, "
                                       "expected one of quads");
}

static void written_text_reads_back_the_same(void **state) {
    static const char text[] =
        "terrain: {shape: noise, amplitude: 2}\n" GROUP
        "    count: 3\n    behaviour: {waypoints: {points: [[1, 2, 3], [4, 5, 6]], loop: false}}\n"
        "  - name: cars\n    vehicle: ../models/car_orca.yaml\n    placement: {circle: {radius: "
        "3}}\n"
        "    behaviour: {command: {mode: speed, values: [1, 0.1]}}\n";
    mf_Swarm *swarm = parse_swarm(*state, text);
    char *once, *twice;
    assert_int_equal(mf_swarm_write(swarm, &once, NULL), MF_OK);
    mf_Swarm *again = parse_swarm(*state, once);
    assert_int_equal(mf_swarm_write(again, &twice, NULL), MF_OK);
    assert_string_equal(once, twice);
    assert_int_equal(again->groups[0].behaviour.point_count, 2);
    assert_true(again->groups[0].behaviour.points[1][2] == 6.0);
    mf_release(*state, once);
    mf_release(*state, twice);
    mf_swarm_destroy(swarm);
    mf_swarm_destroy(again);
}

// ---- start places ------------------------------------------------------------------------------

static void random_places_keep_apart(void **state) {
    enum { COUNT = 500 };
    static double places[3 * COUNT], again[3 * COUNT], headings[COUNT];
    const double taken[1][4] = {{0.0, 0.0, 0.0, 3.0}};
    mf_Placement box = {.kind = MF_PLACEMENT_RANDOM,
                        .lower = {-10, -10, -10},
                        .upper = {10, 10, 10},
                        .distance = 1.0,
                        .seed = 4};
    assert_int_equal(
        mf_placement_places(*state, &box, NULL, COUNT, 0.2, -1.0, taken, 1, places, headings, NULL),
        MF_OK);
    for (uint32_t i = 0; i < COUNT; i++) {
        const double *a = places + 3 * i;
        assert_true(sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]) >= 3.2);
        for (uint32_t k = 0; k < i; k++) {
            const double *b = places + 3 * k;
            double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
            assert_true(x * x + y * y + z * z >= 1.0);
        }
    }
    // The first places do not depend on how many follow.
    assert_int_equal(
        mf_placement_places(*state, &box, NULL, 50, 0.2, -1.0, taken, 1, again, headings, NULL),
        MF_OK);
    assert_memory_equal(places, again, 50 * 3 * sizeof(double));
    mf_Error error = {0};
    box.distance = 8.0;
    assert_int_equal(mf_placement_places(*state, &box, NULL, COUNT, 0.2, -1.0, NULL, 0, places,
                                         headings, &error),
                     MF_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "no free place"));
}

static void expect_refused(mf_Context *context, const char *text, const char *message) {
    mf_Swarm *swarm = parse_swarm(context, text);
    mf_SwarmScene scene;
    mf_Error error = {0};
    char line[900];
    size_t live = mf_context_live_bytes(context);
    assert_int_not_equal(mf_swarm_scene_create(context, swarm, &scene, &error), MF_OK);
    assert_null(scene.world);
    mf_error_format(&error, line, sizeof line);
    assert_string_equal(line + strlen(SWARM_PATH), message);
    assert_int_equal(mf_context_live_bytes(context), live);
    mf_swarm_destroy(swarm);
}

static void overlap_is_refused_with_its_line(void **state) {
    expect_refused(*state, GROUP "    count: 2\n    placement: {grid: {spacing: [0.1, 0.1, 1]}}\n",
                   ":5:16: groups.quads.placement: agent 1 would overlap agent 0 of quads at the "
                   "start");
    expect_refused(*state,
                   GROUP "  - name: others\n    vehicle: ../models/hummingbird.yaml\n"
                         "    placement: {circle: {center: [0, 0, 10], radius: 0.05}}\n",
                   ":6:16: groups.others.placement: agent 0 would overlap agent 0 of quads at the "
                   "start");
    expect_refused(*state,
                   GROUP "    count: 100\n    placement: {random: {lower: [0, 0, 5], upper: [1, 1, "
                         "5], distance: 1}}\n",
                   ":5:16: groups.quads.placement: random: after 2 of 100 agents no free place is "
                   "found for the next; give a larger box, a smaller distance or fewer agents");
}

// ---- behaviours --------------------------------------------------------------------------------

static double place_of(mf_SwarmScene *scene, const char *group, uint32_t agent, uint32_t c) {
    mf_Group *found = mf_world_find_group(scene->world, group);
    return mf_field_get(mf_group_find_field(found, "base.position"), agent, c);
}

static void agents_hold_their_places(void **state) {
    mf_Swarm *swarm = parse_swarm(*state, GROUP "    count: 20\n");
    mf_SwarmScene scene = make_scene(*state, swarm);
    double x = place_of(&scene, "quads", 7, 0), z = place_of(&scene, "quads", 7, 2);
    mf_world_step(scene.world, 2500);
    assert_float_equal(place_of(&scene, "quads", 7, 0), x, 1e-3);
    assert_float_equal(place_of(&scene, "quads", 7, 2), z, 1e-3);
    mf_swarm_scene_destroy(&scene);
    mf_swarm_destroy(swarm);
}

// All three kinds come to fly or drive on the circle, evenly spaced.
static void orbits_are_joined(void **state) {
    static const char text[] =
        "world: {step: 0.01}\n" GROUP "    count: 4\n"
        "    placement: {circle: {center: [0, 0, 20], radius: 24}}\n"
        "    behaviour: {orbit: {radius: 20, height: 20, speed: 3}}\n"
        "  - name: cars\n    vehicle: ../models/car_full_size.yaml\n    count: 2\n"
        "    placement: {circle: {radius: 40, along: true}}\n"
        "    behaviour: {orbit: {radius: 40, speed: 6}}\n"
        "  - name: wings\n    vehicle: ../models/aerosonde.yaml\n    count: 2\n"
        "    placement: {circle: {center: [0, 0, 100], radius: 200, along: true}}\n"
        "    behaviour: {orbit: {radius: 200, height: 100, speed: 25}}\n";
    static const struct {
        const char *group;
        double radius, tolerance;
        uint32_t count;
    } circles[] = {{"quads", 20.0, 0.3, 4}, {"cars", 40.0, 1.0, 2}, {"wings", 200.0, 5.0, 2}};
    mf_Swarm *swarm = parse_swarm(*state, text);
    mf_SwarmScene scene = make_scene(*state, swarm);
    mf_world_step(scene.world, 6000);
    for (size_t i = 0; i < 3; i++) {
        double x = 0.0, y = 0.0;
        for (uint32_t k = 0; k < circles[i].count; k++) {
            double px = place_of(&scene, circles[i].group, k, 0);
            double py = place_of(&scene, circles[i].group, k, 1);
            assert_float_equal(hypot(px, py), circles[i].radius, circles[i].tolerance);
            x += px;
            y += py;
        }
        // Evenly spaced: their middle is that of the circle.
        assert_true(hypot(x, y) / circles[i].count < 0.1 * circles[i].radius);
    }
    assert_int_equal(mf_group_fault_total(mf_world_group(scene.world, 0)), 0);
    mf_swarm_scene_destroy(&scene);
    mf_swarm_destroy(swarm);
}

static void waypoints_are_visited_in_order(void **state) {
    static const char text[] =
        "world: {step: 0.01}\n" GROUP "    count: 2\n"
        "    placement: {grid: {center: [0, 0, 20], spacing: [4, 4, 4]}}\n"
        "    behaviour:\n      waypoints: {points: [[20, 0, 20], [20, 20, 30]], speed: 4, "
        "reached: 1, loop: false}\n";
    mf_Swarm *swarm = parse_swarm(*state, text);
    mf_SwarmScene scene = make_scene(*state, swarm);
    const mf_Field *next =
        mf_group_find_field(mf_world_group(scene.world, 0), "behaviour.waypoint");
    assert_true(mf_field_get(next, 0, 0) == 0.0);
    mf_world_step(scene.world, 800);
    assert_true(mf_field_get(next, 0, 0) == 1.0);
    mf_world_step(scene.world, 2000);
    for (uint32_t i = 0; i < 2; i++) { // each beside the last way-point, as at the start
        assert_float_equal(place_of(&scene, "quads", i, 0), 20.0 + (i == 0 ? -2.0 : 2.0), 0.2);
        assert_float_equal(place_of(&scene, "quads", i, 1), 20.0, 0.2);
        assert_float_equal(place_of(&scene, "quads", i, 2), 30.0, 0.2);
    }
    mf_swarm_scene_destroy(&scene);
    mf_swarm_destroy(swarm);
}

static void a_flock_comes_to_fly_alike(void **state) {
    static const char text[] =
        "world: {step: 0.01}\ninteraction: {neighbours: {radius: 10}}\n" GROUP "    count: 60\n"
        "    placement: {random: {lower: [-15, -15, 20], upper: [15, 15, 30], distance: 3}}\n"
        "    behaviour: {flock: {speed: 3, separation: 3, goal: [500, 0, 30]}}\n";
    mf_Swarm *swarm = parse_swarm(*state, text);
    mf_SwarmScene scene = make_scene(*state, swarm);
    mf_world_step(scene.world, 1500);
    mf_Group *group = mf_world_group(scene.world, 0);
    const mf_Field *velocity = mf_group_find_field(group, "base.linear_velocity");
    double order[3] = {0};
    for (uint32_t i = 0; i < 60; i++) {
        double v[3], size = 0.0;
        for (uint32_t c = 0; c < 3; c++) {
            v[c] = mf_field_get(velocity, i, c);
            size += v[c] * v[c];
        }
        for (uint32_t c = 0; c < 3; c++)
            order[c] += v[c] / sqrt(size) / 60.0;
    }
    assert_true(order[0] > 0.9); // towards the goal, together
    assert_int_equal(mf_group_fault_total(group), 0);
    mf_swarm_scene_destroy(&scene);
    mf_swarm_destroy(swarm);
}

// ---- bits --------------------------------------------------------------------------------------

static uint64_t hash_with(uint32_t threads, const char *isa) {
    static const char text[] =
        "world: {step: 0.005}\ninteraction: {air: {downwash: true, wind: [1, 2, 0]}}\n" GROUP
        "    count: 300\n    rotor_area: 0.05\n"
        "    placement: {random: {lower: [-15, -15, 5], upper: [15, 15, 25], distance: 1}}\n"
        "    behaviour: {flock: {speed: 3, separation: 2}}\n"
        "  - name: wings\n    vehicle: ../models/aerosonde.yaml\n    count: 30\n"
        "    placement: {grid: {center: [0, 0, 100], spacing: [10, 10, 10]}}\n"
        "    behaviour: {formation: {circles: 3, radius: 150, speed: 25, alternate: true}}\n"
        "  - name: cars\n    vehicle: ../models/car_full_size.yaml\n    count: 30\n"
        "    placement: {grid: {center: [100, 0, 0], spacing: [8, 8, 8]}}\n"
        "    behaviour: {waypoints: {points: [[0, 0, 0], [100, 0, 0]]}}\n";
    mf_Context *context = NULL;
    mf_ContextConfig config = mf_context_config();
    config.threads = threads;
    setenv("MAYFLY_ISA", isa, 1);
    assert_int_equal(mf_context_create(&config, &context, NULL), MF_OK);
    mf_Swarm *swarm = parse_swarm(context, text);
    mf_SwarmScene scene = make_scene(context, swarm);
    mf_world_step(scene.world, 200);
    uint64_t hash = mf_world_hash(scene.world);
    mf_swarm_scene_destroy(&scene);
    mf_swarm_destroy(swarm);
    assert_int_equal(mf_context_live_bytes(context), 0);
    mf_context_destroy(context);
    unsetenv("MAYFLY_ISA");
    return hash;
}

static void threads_and_instructions_change_nothing(void **state) {
    (void)state;
    uint64_t one = hash_with(1, "scalar");
    assert_true(hash_with(4, "scalar") == one);
    assert_true(hash_with(3, "baseline") == one);
    if (mf_isa_available(MF_ISA_AVX2))
        assert_true(hash_with(2, "avx2") == one);
    if (mf_isa_available(MF_ISA_AVX512))
        assert_true(hash_with(2, "avx512") == one);
}

// ---- failures ----------------------------------------------------------------------------------

static mf_Status make_all(mf_Context *context, void *user, mf_Error *error) {
    static const char text[] =
        GROUP "    count: 3\n    behaviour: {waypoints: {points: [[1, 2, 3]]}}\n"
              "  - name: wings\n    vehicle: ../models/aerosonde.yaml\n"
              "    placement: {random: {}}\n    behaviour: {flock: {speed: 25}}\n";
    static const mf_Override overrides[] = {{"groups.wings.count", "2"}};
    mf_Swarm *swarm = NULL;
    mf_SwarmScene scene = {0};
    char *page = NULL;
    (void)user;
    mf_Status status =
        mf_swarm_parse(context, SWARM_PATH, text, strlen(text), overrides, 1, &swarm, error);
    assert_int_equal(status != MF_OK, swarm == NULL);
    if (status == MF_OK)
        status = mf_swarm_write(swarm, &page, error);
    if (status == MF_OK)
        status = mf_swarm_scene_create(context, swarm, &scene, error);
    mf_release(context, page);
    mf_swarm_scene_destroy(&scene);
    mf_swarm_destroy(swarm);
    return status;
}

static void every_failing_call_is_survived(void **state) {
    assert_true(torture(*state, make_all, NULL, TORTURE_MUST_FAIL) > 60);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_library),
        cmocka_unit_test(mistakes_are_one_line_with_their_place),
        cmocka_unit_test(overrides_reach_into_groups),
        cmocka_unit_test(written_text_reads_back_the_same),
        cmocka_unit_test(random_places_keep_apart),
        cmocka_unit_test(overlap_is_refused_with_its_line),
        cmocka_unit_test(agents_hold_their_places),
        cmocka_unit_test(orbits_are_joined),
        cmocka_unit_test(waypoints_are_visited_in_order),
        cmocka_unit_test(a_flock_comes_to_fly_alike),
        cmocka_unit_test(threads_and_instructions_change_nothing),
        cmocka_unit_test(every_failing_call_is_survived),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
