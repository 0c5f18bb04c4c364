// scenes/obstacles.yaml: two hundred obstacles of every shape on a ground that is an image, and
// modules that drive through them; with gravity and without. scenes/landscape.yaml: such obstacles,
// a snake, and a pool of particles.
#include "rig/rig.h"
#include "scene/support.h"

GROUP_FIXTURE(make_context, drop_context);

enum { WHEELBOTS = 0, WORM = 1, OBSTACLES = 2 }; // numbers of groups; obstacles are the others

static double place(const mf_Scene *scene, uint32_t group, uint32_t robot, uint32_t component) {
    return get(scene, group, "base.position", robot, component);
}

typedef struct Places {
    double at[256][3];
    uint32_t count;
} Places;

static Places look(const mf_Scene *scene) {
    Places out = {.count = 0};
    for (uint32_t g = 0; g < mf_world_group_count(scene->world); g++)
        for (uint32_t i = 0; i < mf_group_count(mf_world_group(scene->world, g)); i++, out.count++)
            for (uint32_t c = 0; c < 3; c++)
                out.at[out.count][c] = place(scene, g, i, c);
    return out;
}

static double way(const Places *from, const Places *to, uint32_t robot) {
    double sum = 0.0;
    for (int c = 0; c < 3; c++)
        sum += pow(to->at[robot][c] - from->at[robot][c], 2);
    return sqrt(sum);
}

static void run_for(const mf_Scene *scene, double seconds) {
    mf_world_step(scene->world, (uint64_t)(seconds / mf_time_to_seconds(scene->step) + 0.5));
    for (uint32_t g = 0; g < mf_world_group_count(scene->world); g++)
        assert_int_equal(mf_group_fault_total(mf_world_group(scene->world, g)), 0);
}

TEST(modules_drive_through_obstacles) {
    AUTO_WHOLE_SCENE scene = scene_at(*state, "scenes/obstacles.yaml", NULL, 0);
    uint32_t pushed = 0, seen = 0;
    assert_int_equal(scene.terrain->columns, 30);
    assert_int_equal(scene.terrain->rows, 30);
    run_for(&scene, 1.0); // what stands on a slope rolls, slides or falls over
    const Places began = look(&scene);
    assert_int_equal(began.count, 3 + 5 + 200);
    double most[3] = {0, 0, 0};
    for (int k = 0; k < (SANITIZED ? 2 : 20); k++) {
        run_for(&scene, 0.25);
        const Places now = look(&scene);
        for (uint32_t i = 0; i < 3; i++) {
            most[i] = fmax(most[i], way(&began, &now, i));
            seen += get(&scene, WHEELBOTS, "sensor.value", i,
                        scene.models[WHEELBOTS]->sensors[0].address) < 2.0;
        }
    }
    const Places now = look(&scene);
    for (uint32_t i = 0; i < 8; i++)
        pushed += i < 3 && most[i] > (SANITIZED ? 0.02 : 0.3);
    assert_int_equal(pushed, 3); // all three drove away
    assert_true(SANITIZED || seen > 0);
    for (uint32_t i = 8; i < now.count; i++) {
        const double ground = mf_terrain_height(scene.terrain, now.at[i][0], now.at[i][1], NULL);
        assert_true(now.at[i][2] > ground); // nothing falls through
        assert_true(now.at[i][2] < ground + 0.3);
    }
}

// Without gravity what touches nothing moves evenly: where it is after equal times is in a line.
TEST(without_gravity_obstacles_float) {
    const mf_Override none = {"world.gravity", "0"};
    AUTO_WHOLE_SCENE scene = scene_at(*state, "scenes/obstacles.yaml", &none, 1);
    Places at[3];
    uint32_t even = 0;
    run_for(&scene, SANITIZED ? 0.1 : 1.0);
    for (int k = 0; k < 3; k++) {
        at[k] = look(&scene);
        run_for(&scene, SANITIZED ? 0.05 : 0.5);
    }
    for (uint32_t i = 8; i < at[0].count; i++) {
        double bend = 0.0; // with gravity it would be 2.5 m
        for (int c = 0; c < 3; c++)
            bend = fmax(bend, fabs(at[2].at[i][c] - 2 * at[1].at[i][c] + at[0].at[i][c]));
        even += bend < 1e-5;
    }
    print_message("%u of 200 obstacles move evenly without gravity\n", even);
    assert_true(even > 150);
}

// [J] Kinetic energy of a group.
static double kinetic(const mf_Scene *scene, uint32_t group) {
    const mf_Group *all = mf_world_group(scene->world, group);
    double sum = 0.0;
    for (uint32_t i = 0; i < mf_group_count(all); i++)
        sum += mf_motion_energy(all, i).kinetic;
    return sum;
}

// The snake crawls, the pool keeps its water, and after the jet everything but the snake comes to
// rest: nothing gains energy.
TEST(a_snake_crawls_in_a_landscape) {
    enum { SNAKE, POOL, WATER, FIRST };
    const double inside[2] = {0.4, 0.3}, center[2] = {1.5, -1.1}; // [m] of the pool
    AUTO_WHOLE_SCENE scene = scene_at(*state, "scenes/landscape.yaml", NULL, 0);
    assert_int_equal(mf_group_count(mf_world_group(scene.world, WATER)), 1000);
    run_for(&scene, 1.0);
    const double began = place(&scene, SNAKE, 0, 0);
    double loose = 0.0, poured = 0.0;
    for (int k = 0; k < (SANITIZED ? 1 : 18); k++) {
        run_for(&scene, 0.5);
        poured = fmax(poured, kinetic(&scene, WATER));
    }
    for (uint32_t g = FIRST; g < mf_world_group_count(scene.world); g++)
        loose += kinetic(&scene, g);
    print_message("the snake went %.3f m; kinetic energy of the water %.2g J, at most %.2g J, of "
                  "all obstacles %.2g J\n",
                  began - place(&scene, SNAKE, 0, 0), kinetic(&scene, WATER), poured, loose);
    for (uint32_t i = 0; i < 1000; i++)
        for (uint32_t c = 0; c < 2; c++)
            assert_true(fabs(place(&scene, WATER, i, c) - center[c]) < inside[c]);
    if (SANITIZED)
        return;
    // 64 kg of water that fall by less than 0.2 m cannot have more.
    assert_true(poured < 64.0 * 9.81 * 0.2);
    assert_true(kinetic(&scene, WATER) < 0.5);
    assert_true(loose < 0.5);
    assert_true(began - place(&scene, SNAKE, 0, 0) > 0.4);
}

// A Wheelbot drives towards a wall that is a robot of its own, and turns before it touches it.
TEST(a_wheelbot_stops_before_a_wall) {
    static const char wall[] =
        "<mujoco model='wall'><worldbody><body pos='0 0 0.15'><freejoint/>"
        "<geom type='box' size='0.05 0.5 0.15' mass='30'/></body></worldbody></mujoco>";
    const double front = 1.2 - 0.05, nose = 0.1, distance = 0.4; // [m]
    char path[64], text[1024];
    double least = 9.0;
    bool rotated = false;
    write_temporary(path, ".xml", wall);
    snprintf(text, sizeof text,
             "world: {step: 0.002}\n"
             "groups:\n"
             "  - name: wheelbot\n    model: ../models/modules/wheelbot.urdf\n"
             "    placement: {poses: [[0, 0, 0]]}\n"
             "    behavior: {wheels: {left: front_left back_left, right: front_right back_right,"
             " speed: 5, distance: %g, pivot_time: 1}}\n"
             "  - name: wall\n    model: %s\n    placement: {poses: [[1.2, 0, 0]]}\n"
             "run: {duration: 5}\n",
             distance, path);
    AUTO_WHOLE_SCENE scene = scene_of(*state, text);
    const uint32_t sensor = scene.models[0]->sensors[0].address;
    assert_near(get(&scene, 0, "sensor.value", 0, sensor), front - nose, 1e-4);
    for (int k = 0; k < (SANITIZED ? 40 : 500); k++) {
        run_for(&scene, 0.01);
        const double gap = front - nose - place(&scene, 0, 0, 0);
        least = gap < least ? gap : least;
        rotated = rotated || get(&scene, 0, "wheels.memory", 0, 0) > 0.0;
        if (!rotated && k > 20) // level but for its springs
            assert_near(get(&scene, 0, "sensor.value", 0, sensor), gap, 0.01);
    }
    print_message("the wheelbot came as near as %.3f m\n", least);
    assert_true(SANITIZED || (rotated && least < distance));
    assert_true(least > 0.5 * distance);
    assert_near(place(&scene, 1, 0, 0), 1.2, 1e-3); // nobody pushed it
    unlink(path);
}
