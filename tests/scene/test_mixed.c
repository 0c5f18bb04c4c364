// One world with everything: a humanoid under full dynamics, a car, quadrotors and a ball; robots
// that do not touch others move exactly as they would alone.
#include "rig/rig.h"
#include "support.h"

GROUP_FIXTURE(make_context, drop_context);

// ---- all kinds ---------------------------------------------------------------------------------

// The ball lies before the humanoid, who walks into it; the car drives past, the quadrotors circle.
static const char everybody[] =
    "world: {step: 0.001}\n"
    "groups:\n"
    "  - name: walker\n    model: ../models/humanoid.urdf\n    motion: articulated\n"
    "    gaits: [walk]\n    behavior: {gait: {name: walk, command: [0.2, 0, 0]}}\n"
    "    placement: {poses: [[0, 0, 0]]}\n"
    "  - name: ball\n    model: ../models/ball.xml\n    motion: rigid\n"
    "    placement: {poses: [[0.3, 0, 0]]}\n"
    "  - name: car\n    model: ../models/car_full_size.yaml\n"
    "    placement: {poses: [[-5, 6, 0]]}\n"
    "    behavior: {command: {mode: speed, values: [4, 0]}}\n"
    "  - name: quads\n    model: ../models/sun2022.yaml\n    count: 5\n"
    "    placement: {circle: {center: [0, 0, 20], radius: 12}}\n"
    "    behavior: {orbit: {radius: 10, height: 20, speed: 3}}\n";

TEST(all_motions_in_one_world) {
    AUTO_WHOLE_SCENE scene = scene_of(*state, everybody);
    static const mf_Motion motions[] = {MF_MOTION_ARTICULATED, MF_MOTION_RIGID, MF_MOTION_CAR,
                                        MF_MOTION_QUADROTOR};
    assert_int_equal(mf_world_group_count(scene.world), 4);
    assert_non_null(scene.collisions); // robots push each other
    assert_null(scene.interaction);
    for (uint32_t g = 0; g < 4; g++)
        assert_int_equal(mf_motion_of(mf_world_group(scene.world, g), 0), motions[g]);
    mf_world_step(scene.world, 4000);
    for (uint32_t g = 0; g < 4; g++)
        assert_int_equal(mf_group_fault_total(mf_world_group(scene.world, g)), 0);
    assert_true(get(&scene, 0, "base.position", 0, 2) > 0.2); // it has not fallen
    assert_true(get(&scene, 1, "base.position", 0, 0) > 0.4); // and pushed the ball away
    assert_true(get(&scene, 2, "base.position", 0, 0) > 5.0); // 4 m/s for 4 s, from -5 m
    assert_float_equal(get(&scene, 3, "base.position", 3, 2), 20.0, 0.5);
}

static uint64_t hash_of_everybody(uint32_t threads) {
    AUTO_CONTEXT *context = open_context(threads);
    AUTO_WHOLE_SCENE scene = scene_of(context, everybody);
    mf_world_step(scene.world, 1500);
    return mf_world_hash(scene.world);
}

TEST(threads_change_nothing) {
    assert_true(hash_of_everybody(3) == hash_of_everybody(1));
}

// Everything goes on from an image as it would have.
TEST(images_contain_all_groups) {
    AUTO_SCENE_FILE *file = parse_scene(*state, everybody);
    AUTO_SCENE scene = make_scene(*state, file), other = make_scene(*state, file);
    mf_world_step(scene.world, 700);
    mf_world_step(other.world, 37);
    assert_continues_in(other.world, scene.world, 300);
}

// What the file says is what is written, whatever kinds it names.
TEST(a_written_scene_moves_alike) {
    AUTO_SCENE_FILE *again, *file = parse_scene(*state, everybody);
    write_twice(*state, file, &again);
    AUTO_SCENE scene = make_scene(*state, file), other = make_scene(*state, again);
    mf_world_step(scene.world, 200);
    mf_world_step(other.world, 200);
    assert_true(mf_world_hash(scene.world) == mf_world_hash(other.world));
}

// ---- alone and in batches ----------------------------------------------------------------------

// A robot with a gait, and others a kilometer away.
#define ALONE                                                                                      \
    "world: {step: 0.002}\n"                                                                       \
    "groups:\n"                                                                                    \
    "  - name: walker\n    model: ../models/hexapod.urdf\n    motion: %s\n"                        \
    "    gaits: [tripod]\n    behavior: {gait: {name: tripod, command: [0.08, 0, 0.1]}}\n"         \
    "    placement: %s\n"
#define OTHERS                                                                                     \
    "  - name: walkers\n    model: ../models/humanoid.urdf\n    motion: rigid\n    count: 2\n"     \
    "    placement: {poses: [[1000, 0, 0], [1000, 0.2, 1]]}\n"                                     \
    "  - name: cars\n    model: ../models/car_orca.yaml\n    count: 3\n"                           \
    "    placement: {circle: {center: [0, 1000, 0], radius: 5}}\n"

// Every value of the walker's state after `steps`; from malloc.
static double *walk(mf_Context *context, const char *text, uint64_t steps, size_t *count) {
    static const char *const names[] = {
        "base.position", "base.orientation", "base.linear_velocity", "base.angular_velocity",
        "joint.angle",   "joint.rate",       "joint.target"};
    AUTO_WHOLE_SCENE scene = scene_of(context, text);
    double *values = calloc(200, sizeof *values);
    assert_non_null(values);
    mf_world_step(scene.world, steps);
    *count = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const mf_Field *field =
            mf_group_find_field(mf_world_find_group(scene.world, "walker"), names[i]);
        for (uint32_t c = 0; c < field->components; c++)
            values[(*count)++] = mf_field_get(field, 0, c);
    }
    assert_int_equal(mf_group_fault_total(mf_world_find_group(scene.world, "walker")), 0);
    return values;
}

TEST(a_robot_moves_as_it_does_alone) {
    static const char *const levels[] = {"kinematic", "points", "rigid", "prescribed",
                                         "articulated"};
    static const char *const places[] = {"line", "{poses: [[1, -2, 0.5]]}"};
    for (int i = 0; i < 10; i++) {
        char alone[2000], among[2000];
        size_t count, other;
        snprintf(alone, sizeof alone, ALONE, levels[i / 2], places[i % 2]);
        snprintf(among, sizeof among, ALONE OTHERS, levels[i / 2], places[i % 2]);
        AUTO(end_memory) double *first = walk(*state, alone, 1000, &count);
        AUTO(end_memory) double *second = walk(*state, among, 1000, &other);
        assert_int_equal(count, other);
        for (size_t k = 0; k < count; k++)
            if (memcmp(&first[k], &second[k], sizeof *first) != 0)
                fail_msg("%s, place %s: value %zu is %.17g alone, %.17g among others",
                         levels[i / 2], places[i % 2], k, first[k], second[k]);
        double x = first[0] - (i % 2 == 0 ? 0.0 : 1.0), y = first[1] + (i % 2 == 0 ? 0.0 : 2.0);
        assert_true(x * x + y * y > 0.1 * 0.1); // and it walks
    }
}

// Whoever is isolated is so in a swarm, too: two groups in the same position do not feel each
// other.
TEST(isolated_groups_do_not_interact) {
    static const char mixture[] =
        "world: {step: 0.002}\n"
        "groups:\n"
        "  - name: walker\n    model: ../models/hexapod.urdf\n    isolated: true\n    count: 3\n"
        "    gaits: [tripod]\n    behavior: {gait: {name: tripod, command: [0.08, 0, 0.1]}}\n"
        "  - name: rock\n    model: ../models/hexapod.urdf\n    motion: rigid\n"
        "  - name: other\n    model: ../models/hexapod.urdf\n    motion: rigid\n"
        "    placement: {poses: [[3, 0, 0]]}\n";
    size_t count, other;
    AUTO(end_memory)
    double *first = walk(*state, formatted(ALONE, "articulated", "line"), 500, &count);
    AUTO(end_memory) double *second = walk(*state, mixture, 500, &other);
    assert_int_equal(count, other);
    assert_memory_equal(first, second, count * sizeof *first);
}

int main(void) {
    KEEP_SHARED();
    return run_listed_tests();
}
