// Inputs that follow functions of time, and the scenes of the Golem project that they drive,
// against closed forms: an angle by the law of cosines, the load at which an arch snaps through
// (von Mises), the edge over which a tower falls; and its relaxation by a fixed factor.
#include "rig/rig.h"
#include "support.h"

#include "math/scalar.h"
#include "world/attach.h"

GROUP_FIXTURE(make_context, drop_context);

// ---- signals -----------------------------------------------------------------------------------

#define HEXAPOD                                                                                    \
    "world: {step: 0.001}\ngroups:\n  - name: one\n    model: ../models/hexapod.urdf\n"            \
    "    motion: kinematic\n    count: 2\n    inputs:\n"

static double target(const mf_Scene *scene, uint32_t robot, uint32_t joint) {
    return mf_field_get(mf_group_find_field(scene->group, "joint.target"), robot, joint);
}

// After each step the field has the value of the step's beginning.
TEST(signals_are_functions_of_time) {
    AUTO_WHOLE_SCENE scene =
        scene_of(*state, HEXAPOD
                 "      - property: \"joint.target[0]\"\n"
                 "        signal: {sine: {mean: 0.1, amplitude: 0.2, period: 0.05, phase: 0.7}}\n"
                 "      - property: \"joint.target[1]\"\n"
                 "        signal: {table: {times: [0.01, 0.02, 0.04], values: [0.1, 0.3, -0.1]}}\n"
                 "      - property: \"joint.target[2]\"\n        signal: {table: {times: [0, "
                 "0.01, 0.02], values: [0, 0.1, 0], repeat: true}}\n");
    for (int step = 0; step < 120; step++) {
        const double t = 0.001 * step;
        const double table = t <= 0.01   ? 0.1
                             : t <= 0.02 ? 0.1 + 0.2 * (t - 0.01) / 0.01
                             : t <= 0.04 ? 0.3 - 0.4 * (t - 0.02) / 0.02
                                         : -0.1;
        const double saw = fabs(fmod(t + 1e-12, 0.02) - 0.01);
        mf_world_step(scene.world, 1);
        for (uint32_t i = 0; i < 2; i++) {
            assert_near(target(&scene, i, 0), 0.1 + 0.2 * sin(2 * MF_PI * t / 0.05 + 0.7), 1e-7);
            assert_near(target(&scene, i, 1), table, 1e-7);
            assert_near(target(&scene, i, 2), 0.1 - 10 * saw, 1e-7);
        }
    }
}

#define WRONG(input, part)                                                                         \
    { HEXAPOD "      - " input "\n", part, 8 }
TEST(wrong_inputs_are_named) {
    static const SceneMistake rows[] = {
        WRONG("{property: joint.angel, signal: {sine: {amplitude: 1, period: 1}}}", "joint.angel"),
        WRONG("{property: mass, signal: {sine: {amplitude: 1, period: 1}}}",
              "mass is not an input"),
        WRONG("{property: joint.target, signal: {table: {times: [0, 1], values: [1]}}}",
              "2 times and 1 values"),
        WRONG("{property: joint.target, signal: {table: {times: [1, 1], values: [1, 2]}}}",
              "rising times"),
        WRONG("{property: joint.target, signal: {table: {times: [0], values: [1], repeat: true}}}",
              "two times"),
    };
    check_mistakes(*state, rows, sizeof rows / sizeof *rows, false);
}

// ---- the scenes of the Golem project -----------------------------------------------------------

static void vertex(const mf_Scene *scene, uint32_t v, double out[3]) {
    mf_field_read(mf_group_find_field(scene->group, "vertex.position"), 0, 3 * v, 3, out);
}

static double distance(const mf_Scene *scene, uint32_t a, uint32_t b) {
    double p[3], q[3];
    vertex(scene, a, p);
    vertex(scene, b, q);
    mf_vec3_sub(p, p, q);
    return mf_vec3_length(p);
}

// With the height a = 80 mm of both triangles the tips are 2 a sin(angle / 2) apart; the tip of the
// plate that turns is a sin(angle) above the edge.
TEST(two_plates_turn_by_the_law_of_cosines) {
    AUTO_SCENE_FILE *file = load_scene(*state, "scenes/plates.yaml", NULL, 0);
    AUTO_SCENE scene = make_scene(*state, file);
    double lowest = 1, highest = 0, worst = 0;
    for (int frame = 0; frame < 400; frame++) {
        mf_world_step(scene.world, 1);
        double edge[3], tip[3];
        vertex(&scene, 0, edge);
        vertex(&scene, 3, tip);
        const double length =
            0.1 + 0.03 * sin(2 * MF_PI * 0.02 * frame / 4 + 0.45); // of the muscle
        const double angle = 2 * asin(distance(&scene, 2, 3) / 0.16);
        lowest = fmin(lowest, angle);
        highest = fmax(highest, angle);
        if (frame > 20) // the muscle has reached its input
            worst = fmax(worst, fabs(distance(&scene, 2, 3) - length));
        assert_near(tip[2] - edge[2], 0.08 * sin(angle), 1e-5);
    }
    print_message("angle from %.1f to %.1f degrees, muscle within %.2g mm of its input\n",
                  lowest * 180 / MF_PI, highest * 180 / MF_PI, 1e3 * worst);
    assert_true(worst < 1e-5 && lowest < 0.92 && highest > 1.85);
    assert_int_equal(mf_group_fault_total(scene.group), 0);
}

TEST(an_arch_snaps_at_the_load_of_von_mises) {
    AUTO_SCENE_FILE *file = load_scene(*state, "scenes/snap.yaml", NULL, 0);
    AUTO_SCENE scene = make_scene(*state, file);
    const double slope = atan(0.1), rigidity = 1.7e9 * MF_PI * 0.25e-4;
    const double critical = 2 * rigidity * pow(1 - pow(cos(slope), 2.0 / 3.0), 1.5);
    double loads[8], before = 1;
    uint32_t snaps = 0;
    for (int frame = 0; frame < 400; frame++) {
        double apex[3];
        mf_world_step(scene.world, 1);
        vertex(&scene, 2, apex);
        const double side = apex[2] > 0.1 ? 1 : -1;
        if (side != before && snaps < 8)
            loads[snaps++] = mf_field_get(mf_group_find_field(scene.group, "vertex.load"), 0, 8);
        before = side;
    }
    assert_int_equal(snaps, 2);
    print_message("snaps at %.2f N and %.2f N, von Mises: %.2f N\n", loads[0], loads[1], critical);
    assert_true(loads[0] < -critical && loads[0] > -critical - 0.61); // 0.6 N a frame
    assert_true(loads[1] > critical && loads[1] < critical + 0.61);
}

// Of the last frame before the fall: the center of mass is above the edge between two feet, within
// what it moves in a frame; and `elastic`, with inertia, comes to rest in the same pose.
TEST(a_tower_falls_over_its_edge) {
    const mf_Override inertia[] = {{"group.motion", "elastic"}, {"world.step", "0.001"}};
    double rest[2];
    for (uint32_t k = 0; k < 2; k++) {
        AUTO_SCENE_FILE *file = load_scene(*state, "scenes/topple.yaml", inertia, k == 0 ? 0 : 2);
        AUTO_SCENE scene = make_scene(*state, file);
        const mf_Field *base = mf_group_find_field(scene.group, "base.position");
        double overhang = 1;
        for (uint64_t frame = 0; frame < mf_scene_steps(&scene); frame++) {
            double foot[3], top[3];
            vertex(&scene, 1, foot);
            vertex(&scene, 3, top);
            if (top[2] > 0.14)
                overhang = mf_field_get(base, 0, 0) - foot[0];
            mf_world_step(scene.world, 1);
        }
        rest[k] = mf_field_get(base, 0, 2);
        print_message("%s: falls with the center %.2f mm from the edge, rests at %.2f mm\n",
                      k == 0 ? "quasistatic" : "elastic", 1e3 * overhang, 1e3 * rest[k]);
        if (k == 0)
            assert_near(overhang, 0, 5e-4);
        assert_true(rest[k] < 0.02);
    }
    assert_near(rest[0], rest[1], 1e-4);
}

// ---- relaxation by a fixed factor --------------------------------------------------------------

static double relax(void *context, const char *factor, uint32_t *iterations, bool *falls) {
    const mf_Override overrides[] = {{"group.motion.quasistatic.method", "gradient"},
                                     {"group.motion.quasistatic.relaxation", factor},
                                     {"group.motion.quasistatic.tolerance", "1e-4"},
                                     {"group.motion.quasistatic.trace", "60000"},
                                     {"group.motion.quasistatic.iterations", "50000"}};
    AUTO_SCENE_FILE *file = load_scene(context, "models/cantilever.truss.yaml", overrides, 5);
    AUTO_SCENE scene = make_scene(context, file);
    mf_world_step(scene.world, 1);
    const mf_Field *trace = mf_group_find_field(scene.group, "frame.trace");
    const uint32_t count =
        (uint32_t)mf_field_get(mf_group_find_field(scene.group, "frame.traced"), 0, 0);
    *iterations =
        (uint32_t)mf_field_get(mf_group_find_field(scene.group, "frame.iterations"), 0, 0);
    assert_int_equal(count, *iterations + 1);
    *falls = true;
    for (uint32_t i = 1; i < count; i++)
        *falls = *falls && mf_field_get(trace, 0, i) <= mf_field_get(trace, 0, i - 1) + 1e-15;
    double tip[3];
    vertex(&scene, 5, tip);
    return tip[2];
}

// Small factors are stable and slow, large ones are not stable: the published trade.
TEST(a_fixed_factor_is_stable_below_a_limit) {
    uint32_t slow, fast, never;
    bool falls;
    const double one = relax(*state, "1e-7", &slow, &falls);
    assert_true(falls);
    const double two = relax(*state, "4e-7", &fast, &falls);
    assert_true(falls);
    assert_near(one, two, 1e-6);
    relax(*state, "4e-5", &never, &falls);
    print_message("%u iterations with 1e-7 m/N, %u with 4e-7, %u with 4e-5, not stable\n", slow,
                  fast, never);
    assert_true(slow > 3 * fast && slow < 50000);
    assert_true(never == 50000 && !falls);
}

// A field that a gait writes cannot be an input, too; the line is that of the inputs.
TEST(two_writers_are_refused) {
    const SceneMistake row = {HEXAPOD "      - {property: joint.target, signal: {sine: {amplitude: "
                                      "1, period: 1}}}\n    gaits: [tripod]\n",
                              "both write joint.target", 8};
    check_mistakes(*state, &row, 1, false);
}
