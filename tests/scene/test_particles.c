// Particles in scenes: boxes that are filled, particles that wait for emitters, what is refused,
// and boxes that float.
#include "rig/rig.h"
#include "support.h"

GROUP_FIXTURE(setup_context, teardown_context);

#define POOL                                                                                       \
    "world: {step: 0.001}\n"                                                                       \
    "groups:\n"                                                                                    \
    "  - name: water\n"                                                                            \
    "    model: ../models/drop.xml\n"

TEST(test_fill) {
    mf_Context *context = *state;
    AUTO_SCENE_FILE *file = parse_scene(
        context, POOL "    count: 30\n"
                      "    motion: {fluid: {emitters: [{position: [0, 0, 2]}]}}\n"
                      "    placement: {fill: {lower: [1, 2, 3], upper: [1.13, 2.09, 3.17]}}\n");
    AUTO_SCENE scene = make_scene(context, file);
    // 3 x 2 x 4 sites of 0.04 m.
    for (uint32_t i = 0; i < 30; i++)
        assert_true(get(&scene, 0, "particle.waiting", i, 0) == (i < 24 ? 0.0 : 1.0));
    const double first[3] = {1.02, 2.02, 3.02}, last[3] = {1.10, 2.06, 3.14};
    for (uint32_t c = 0; c < 3; c++) {
        assert_near(get(&scene, 0, "base.position", 0, c), first[c], 1e-6);
        assert_near(get(&scene, 0, "base.position", 23, c), last[c], 1e-6);
    }
    AUTO_SCENE_FILE *again;
    const char *text = write_twice(context, file, &again);
    assert_non_null(strstr(text, "emitters"));
}

TEST(test_refusals) {
    static const SceneMistake mistakes[] = {
        {POOL "    count: 30\n    motion: fluid\n"
              "    placement: {fill: {lower: [0, 0, 0], upper: [0.1, 0.1, 0.1]}}\n",
         "no space for all particles and there are no emitters: 8 of 30", 0},
        {POOL "    placement: {fill: {lower: [0, 0, 0], upper: [1, 1, 1]}}\n",
         "expected motion fluid, grains or debris", 0},
        {"groups:\n  - {name: a, model: ../models/hexapod.urdf, motion: fluid}\n",
         "a particle is one free link", 0},
    };
    check_mistakes(*state, mistakes, sizeof mistakes / sizeof *mistakes, false);
}

// A box of half the density of water sinks in by about half its height of 0.2 m.
TEST(test_floats) {
    mf_Context *context = *state;
    AUTO_WHOLE_SCENE scene = scene_of(
        context, POOL "    count: 8000\n"
                      "    motion: {fluid: {artificial_viscosity: 0.1}}\n"
                      "    placement: {fill: {lower: [-0.8, -0.6, 0], upper: [0.8, 0.6, 0.28]}}\n"
                      "  - {name: pool, model: ../models/pool.xml}\n"
                      "  - name: box\n"
                      "    model: ../models/float.xml\n"
                      "    motion: rigid\n"
                      "    placement: {poses: [[0, 0, 0]]}\n"
                      "    height: 0.3\n");
    mf_world_step(scene.world, SANITIZED ? 250 : 2500);
    double top = 0.0;
    for (uint32_t i = 0; i < 8000; i++) {
        const double x = get(&scene, 0, "base.position", i, 0);
        const double z = get(&scene, 0, "base.position", i, 2);
        if (fabs(x) > 0.3 && fabs(x) < 0.7 && z > top && z < 0.4)
            top = z;
    }
    const double middle = get(&scene, 2, "base.position", 0, 2);
    assert_int_equal(mf_group_fault_total(scene.group), 0);
    // The surface is half a spacing above the topmost particles.
    if (!SANITIZED && fabs(middle - (top + 0.02)) > 0.04)
        fail_msg("middle at %g m, surface at %g m", middle, top + 0.02);
}
