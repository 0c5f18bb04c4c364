// Debris: falls, impacts, sliding and rolling against closed forms, at steps of 1/60 s; what it
// pushes, and that pieces do not collide with each other.
#include "rig/rig.h"
#include "scene/support.h"

GROUP_FIXTURE(make_context, drop_context);

static const double g = 9.81, radius = 0.01; // [m/s^2], [m]

static mf_Scene open_debris(mf_Context *context, const char *motion, const char *ground,
                            const char *others) {
    char text[2048];
    snprintf(text, sizeof text,
             "world: {step: 0.016666667}\n%s"
             "groups:\n"
             "  - name: debris\n"
             "    model: ../models/grain.xml\n"
             "    precision: double\n"
             "    count: 2\n"
             "    motion: {debris: %s}\n"
             "    placement: {poses: [[0, 0, 0], [0, 0, 0]]}\n%s",
             ground, motion, others);
    return scene_of(context, text);
}

static void put(const mf_Scene *scene, uint32_t piece, const double at[3], const double v[3]) {
    mf_Group *group = mf_world_group(scene->world, 0);
    for (uint32_t c = 0; c < 3; c++) {
        set_field(group, "base.position", piece, c, at[c]);
        set_field(group, "base.linear_velocity", piece, c, v[c]);
    }
    mf_group_refresh(group, piece);
}

static double value(const mf_Scene *scene, const char *field, uint32_t component) {
    return get(scene, 0, field, 0, component);
}

// A fall is exact, and after an impact at the speed v a piece rises by (e v)^2 / 2 g. The sum of
// both energies stays with e = 1.
TEST(it_falls_and_bounces) {
    static const double restitution[] = {0.5, 0.8, 1.0};
    const double height = 1.0;
    for (int k = 0; k < 3; k++) {
        char motion[64];
        snprintf(motion, sizeof motion, "{restitution: %g}", restitution[k]);
        AUTO_WHOLE_SCENE scene = open_debris(*state, motion, "", "");
        const double rises = restitution[k] * restitution[k] * height;
        double top = 0.0;
        put(&scene, 0, (double[]){0, 0, height + radius}, (double[]){0.3, 0, 0});
        mf_world_step(scene.world, 20);
        const double t = mf_time_to_seconds(mf_world_time(scene.world));
        assert_near(value(&scene, "base.position", 2), height + radius - 0.5 * g * t * t, 1e-9);
        for (int n = 0; n < 60 && value(&scene, "base.linear_velocity", 2) <= 0.0; n++)
            mf_world_step(scene.world, 1);
        for (; value(&scene, "base.linear_velocity", 2) > 0.0; mf_world_step(scene.world, 1))
            top = fmax(top, value(&scene, "base.position", 2) - radius);
        print_message("restitution %g: rises to %.5f m of %.5f m\n", restitution[k], top, rises);
        assert_near(top, rises, 0.01 * height);
        mf_world_step(scene.world, SANITIZED ? 60 : 1200);
        const double v = value(&scene, "base.linear_velocity", 2);
        const double all = 0.5 * v * v + g * (value(&scene, "base.position", 2) - radius);
        if (k == 2)
            assert_near(all, g * height, SANITIZED ? 1.0 : 0.02 * g * height);
        else if (!SANITIZED)
            assert_near(all, 0.0, 1e-9);
    }
}

// A ball that slides at 1 m/s slows down by mu g until it rolls at 5/7 of its speed.
TEST(it_slides_and_then_rolls) {
    AUTO_WHOLE_SCENE scene =
        open_debris(*state, "{friction: 0.3, rolling: 0, restitution: 0}", "", "");
    put(&scene, 0, (double[]){0, 0, radius}, (double[]){1, 0, 0});
    mf_world_step(scene.world, 3); // 0.05 s
    assert_near(value(&scene, "base.linear_velocity", 0), 1.0 - 0.3 * g * 0.05, 1e-6);
    mf_world_step(scene.world, 30);
    assert_near(value(&scene, "base.linear_velocity", 0), 5.0 / 7.0, 1e-6);
    assert_near(value(&scene, "base.angular_velocity", 1), 5.0 / 7.0 / radius, 1e-4);
    assert_near(value(&scene, "base.position", 2), radius, 1e-9);
}

// On a slope of 0.2 rad it rolls down with 5/7 g sin, or rests by its resistance to rolling.
TEST(it_rolls_or_rests_on_a_slope) {
    for (int rests = 0; rests < 2; rests++) {
        AUTO_WHOLE_SCENE scene = open_debris(
            *state, rests ? "{friction: 0.5, rolling: 0.3}" : "{friction: 0.5, rolling: 0}",
            "ground: {shape: slope, amplitude: 0.2, interpolation: bilinear}\n", "");
        const double normal = value(&scene, "base.position", 2); // it stands there
        assert_true(normal > 0.0);
        mf_world_step(scene.world, 60);
        const double speed = hypot(value(&scene, "base.linear_velocity", 0),
                                   value(&scene, "base.linear_velocity", 2));
        print_message("on a slope: %.5f m/s after 1 s\n", speed);
        assert_near(speed, rests ? 0.0 : 5.0 / 7.0 * g * sin(0.2), rests ? 1e-6 : 0.02);
    }
}

// Two pieces at the same place do not know of each other; a box takes what a piece loses.
TEST(it_pushes_boxes_and_not_each_other) {
    static const char box[] = "<mujoco><worldbody><body pos='0 0 0.2'><freejoint/>"
                              "<geom type='box' size='0.1 0.1 0.1' mass='0.5'/>"
                              "</body></worldbody></mujoco>";
    char path[64], others[512];
    write_temporary(path, ".xml", box);
    snprintf(others, sizeof others,
             "  - name: box\n    model: %s\n    precision: double\n"
             "    motion: rigid\n    placement: {poses: [[0, 0, 0]]}\n"
             "    height: 1\n",
             path);
    AUTO_WHOLE_SCENE scene = open_debris(*state, "{restitution: 0.5}", "", others);
    mf_World *world = scene.world;
    const double z = get(&scene, 1, "base.position", 0, 2);
    for (uint32_t i = 0; i < 2; i++)
        put(&scene, i, (double[]){-1, 0, z}, (double[]){6, 0, 0});
    const double mass = scene.models[0]->links[0].mass, heavy = scene.models[1]->links[0].mass;
    mf_world_step(world, 20); // they coincide after 0.15 s; all fall alike
    const double v = value(&scene, "base.linear_velocity", 0);
    const double after = get(&scene, 1, "base.linear_velocity", 0, 0);
    print_message("pieces fly at %.4f m/s, the box at %.4f m/s\n", v, after);
    assert_near(v, -3.0, 1e-6);
    assert_near(heavy * after, 2.0 * mass * 9.0, 1e-4 * mass);
    assert_near(get(&scene, 0, "base.linear_velocity", 1, 0), v, 0.0);
    unlink(path);
}
