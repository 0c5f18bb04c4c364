// Assemblies that change by what their modules tell each other: cars that dock and part, an arm
// that grows and reaches for targets, a wave that finds itself again after a split and a merge.
#include "scene/poses.h"
#include "model/points.h"
#include "rig/momentum.h"

GROUP_FIXTURE(make_context, drop_context);

static const double two_pi = 6.283185307179586;

static uint32_t group_of(const mf_Scene *scene, const char *name) {
    for (uint32_t g = 0; g < mf_world_group_count(scene->world); g++)
        if (strcmp(mf_group_config_of(mf_world_group(scene->world, g))->name, name) == 0)
            return g;
    fail_msg("no group %s", name);
    return 0;
}

static uint32_t assemblies_of(const mf_Scene *scene, uint32_t names[64]) {
    const mf_WorldDocks *docks = mf_world_docks_of(scene->world);
    assert_true(mf_docks_robot_count(docks) <= 64);
    return mf_docks_assemblies(docks, names);
}

static void step_for(const mf_Scene *scene, double seconds) {
    mf_world_step(scene->world, (uint64_t)(seconds / mf_time_to_seconds(scene->step) + 0.5));
}

static double wrap(double angle) {
    return angle - two_pi * floor(angle / two_pi + 0.5);
}

// ---- cars ---------------------------------------------------------------------------------------

// scenes/atron_cars.yaml: cars of seven and eight modules dock, drive on as one, and part into cars
// of twelve and three, of which the small one drives away.
TEST(cars_dock_and_part) {
    uint32_t names[64], seconds = 0;
    double began[2], then[2];
    AUTO_WHOLE_SCENE scene = scene_at(*state, "scenes/atron_cars.yaml", NULL, 0);
    const mf_WorldDocks *docks = mf_world_docks_of(scene.world);
    const uint32_t tail = group_of(&scene, "tail"), head = group_of(&scene, "head");
    assert_int_equal(assemblies_of(&scene, names), 2);
    for (uint32_t c = 0; c < 2; c++)
        began[c] = get(&scene, head, "base.position", 0, c);
    for (; seconds < 8 && mf_docks_statistics(docks).joined < 14; seconds++)
        step_for(&scene, 1.0);
    assert_int_equal(mf_docks_statistics(docks).joined, 14);
    assert_int_equal(mf_docks_statistics(docks).released, 0);
    assert_int_equal(assemblies_of(&scene, names), 1);
    for (uint32_t i = 0; i < 15; i++)
        assert_int_equal(names[i], 0);
    for (; !SANITIZED && seconds < 24; seconds++) {
        step_for(&scene, 1.0);
        if (mf_docks_statistics(docks).released == 0)
            for (uint32_t c = 0; c < 2; c++)
                then[c] = get(&scene, tail, "base.position", 0, c);
    }
    if (!SANITIZED) {
        uint32_t small = 0;
        assert_int_equal(mf_docks_statistics(docks).joined, 14);
        assert_int_equal(mf_docks_statistics(docks).released, 1);
        assert_int_equal(assemblies_of(&scene, names), 2);
        for (uint32_t i = 0; i < 15; i++)
            small += names[i] == names[tail];
        assert_int_equal(small, 3);
        // All of them drove on by 0.5 rad/s on wheels of 40 mm for two seconds, at least.
        assert_true(fabs(get(&scene, head, "base.position", 0, 0) - began[0]) > 0.03);
        const double distance = hypot(get(&scene, tail, "base.position", 0, 0) - then[0],
                                      get(&scene, tail, "base.position", 0, 1) - then[1]);
        print_message("the small car drove away by %.3f m\n", distance);
        assert_true(distance > 0.15);
    }
    for (uint32_t g = 0; g < mf_world_group_count(scene.world); g++)
        assert_int_equal(mf_group_fault_total(mf_world_group(scene.world, g)), 0);
}

// scenes/long_snake.yaml: at steps of 1/30 s modules press less than 5 % of their height of 84 mm
// into the ground, although each crest rests on its neighbors.
TEST(a_long_snake_does_not_sink) {
    AUTO_WHOLE_SCENE scene = scene_at(*state, "scenes/long_snake.yaml", NULL, 0);
    mf_Group *group = mf_world_group(scene.world, 0);
    double deepest = 0.0;
    const double began = get(&scene, 0, "base.position", 75, 0);
    for (int k = 0; k < (SANITIZED ? 15 : 180); k++) {
        mf_world_step(scene.world, 1);
        for (uint32_t i = 0; i < mf_group_count(group); i++) {
            double at[8][3], rotation[8][4];
            MUST(mf_group_link_poses(group, i, 1, at[0], rotation[0], &error));
            deepest = fmax(deepest, -mf_model_lowest(scene.models[0], at, rotation, true));
        }
    }
    const double gone = fabs(get(&scene, 0, "base.position", 75, 0) - began);
    print_message("a snake of 150 is %.2g m deep at most and crawls %.3f m\n", deepest, gone);
    assert_true(deepest > 1e-4 && deepest < 0.05 * 0.084);
    assert_true(SANITIZED || gone > 0.2);
    assert_int_equal(mf_group_fault_total(group), 0);
}

// scenes/atron_eight.yaml: seven modules close two rings. Without gravity the joint between them
// turns at its speed, and nothing else moves on the whole: momentum stays 0.
TEST(an_eight_twists) {
    uint32_t names[64];
    double linear[3] = {0}, angular[3] = {0}, most = 0.0;
    AUTO_WHOLE_SCENE scene = scene_at(*state, "scenes/atron_eight.yaml", NULL, 0);
    step_for(&scene, 2.0);
    assert_int_equal(assemblies_of(&scene, names), 1);
    assert_int_equal(mf_docks_statistics(mf_world_docks_of(scene.world)).joined, 8);
    const double began = get(&scene, 0, "joint.angle", 0, 0);
    step_for(&scene, 4.0);
    const double turned = get(&scene, 0, "joint.angle", 0, 0) - began;
    for (uint32_t g = 0; g < 2; g++)
        for (uint32_t i = 0; i < mf_group_count(mf_world_group(scene.world, g)); i++) {
            double center[3], p[3], spin[3], moment[3];
            mf_motion_momentum(mf_world_group(scene.world, g), i, center, p, spin);
            mf_vec3_cross(moment, center, p);
            mf_vec3_add(linear, linear, p);
            mf_vec3_add(angular, angular, moment);
            mf_vec3_add(angular, angular, spin);
            most = fmax(most, mf_vec3_length(p));
        }
    print_message("the eight turned by %.4f rad in 4 s; momentum %.2g kg m/s of at most %.2g, "
                  "angular %.2g kg m^2/s\n",
                  turned, mf_vec3_length(linear), most, mf_vec3_length(angular));
    assert_near(turned, 0.5 * 4.0, 0.01);
    assert_true(most > 0.01);
    assert_true(mf_vec3_length(linear) < 1e-3 * most);
    assert_true(mf_vec3_length(angular) < 1e-4);
    assert_int_equal(mf_docks_statistics(mf_world_docks_of(scene.world)).joined, 8);
    assert_int_equal(mf_docks_statistics(mf_world_docks_of(scene.world)).released, 0);
}

// ---- an arm -------------------------------------------------------------------------------------

static double draw(uint32_t *seed) { // 0 .. 1, by a linear congruence (Numerical Recipes)
    *seed = *seed * 1664525u + 1013904223u;
    return *seed / 4294967296.0;
}

// Where the tip of four modules on a base is, with joints at random within their limits.
static void draw_target(const mf_Model *base, const mf_Model *module, uint32_t *seed,
                        double target[3]) {
    double still[1][3] = {{0}}, upright[1][4] = {{1, 0, 0, 0}};
    Pose pose = dock_pose(base, "top", still, upright);
    for (int n = 0; n < 4; n++) {
        double angle[8], at[8][3], rotation[8][4];
        for (uint32_t j = 0; j < module->joint_count; j++)
            angle[j] = module->joints[j].lower +
                       draw(seed) * (module->joints[j].upper - module->joints[j].lower);
        mf_model_pose(module, angle, at, rotation);
        const Pose back = dock_pose(module, "back", at, rotation),
                   front = dock_pose(module, "front", at, rotation), to_back = inverse(&back);
        pose = chain(&pose, &facing);
        pose = chain(&pose, &to_back);
        pose = chain(&pose, &front);
    }
    memcpy(target, pose.at, 3 * sizeof *target);
}

enum { TARGETS = 100, EVERY_DAY = SANITIZED ? 4 : 30 };
static const double hold = 5.0; // [s]

// The scene with random targets that are above the ground and not inside of the arm's foot.
static char *arm_text(mf_Context *context, double (*targets)[3], uint32_t count) {
    AUTO_WHOLE_SCENE scene = scene_at(context, "scenes/arm.yaml", NULL, 0);
    uint32_t seed = 1;
    for (uint32_t n = 0; n < count;) {
        draw_target(mf_group_model(mf_world_group(scene.world, 0)),
                    mf_group_model(mf_world_group(scene.world, 1)), &seed, targets[n]);
        const double *t = targets[n];
        n += t[2] > 0.1 && (hypot(t[0], t[1]) > 0.1 || t[2] > 0.35);
    }
    char *text = test_malloc(20000), *at = text;
    at += sprintf(at, "[");
    for (uint32_t n = 0; n < count; n++)
        at += sprintf(at, "%s[%.6f, %.6f, %.6f]", n == 0 ? "" : ", ", targets[n][0], targets[n][1],
                      targets[n][2]);
    sprintf(at, "]");
    return text;
}

// [m] How far the front dock of the last module, where it really is, is from a target.
static double miss(const mf_Scene *scene, const double target[3]) {
    const Pose tip = tip_pose(scene, group_of(scene, "part"), 0);
    double base[3], own[3];
    get_fields(mf_world_group(scene->world, 0), "base.position", 0, 3, base);
    mf_vec3_sub(own, tip.at, base);
    return distance3(own, target);
}

// scenes/arm.yaml: three modules dock a fourth; four reach every target within 5 mm: a hundred with
// MAYFLY_FULL=1.
TEST(an_arm_grows_and_reaches_targets) {
    const uint32_t count = FULL ? TARGETS : EVERY_DAY;
    double targets[TARGETS][3], worst = 0.0;
    char *text = arm_text(*state, targets, count);
    uint32_t names[64], reached = 0;
    const mf_Override overrides[] = {{"groups.base.behavior.arm.points", text},
                                     {"groups.base.behavior.arm.wait", formatted("%g", hold)}};
    AUTO_WHOLE_SCENE scene = scene_at(*state, "scenes/arm.yaml", overrides, 2);
    assert_int_equal(assemblies_of(&scene, names), 2);
    for (int k = 0; k < 100 && get(&scene, 0, "arm.memory", 0, 2) == 0.0; k++)
        step_for(&scene, 0.05);
    assert_int_equal(assemblies_of(&scene, names), 1);
    assert_int_equal(mf_docks_statistics(mf_world_docks_of(scene.world)).joined, 4);
    for (uint32_t n = 0; n < count; n++) {
        const double now = get(&scene, 0, "arm.memory", 0, 2); // [s] of the root
        step_for(&scene, (n + 1) * hold - 0.02 - now);
        const double away = miss(&scene, targets[n]);
        if (away > 0.005)
            print_message("target %u [%.3f, %.3f, %.3f]: %.4f m\n", n, targets[n][0], targets[n][1],
                          targets[n][2], away);
        reached += away <= 0.005;
        worst = fmax(worst, away);
    }
    print_message("%u of %u targets, the worst %.2g m\n", reached, count, worst);
    assert_int_equal(reached, count);
    assert_int_equal(mf_docks_statistics(mf_world_docks_of(scene.world)).released, 0);
    test_free(text);
}

// ---- hormones -----------------------------------------------------------------------------------

enum { HEAD = 3, HOPS = 5, PHASE = 6 }; // numbers of hormone.memory

// Robot 3 is docked the other way round.
static const char worm[] =
    "name: s\nworld: {step: 0.004}\nmessages: {}\nrun: {duration: 1}\ngroups:\n"
    "  - {name: m, model: ../models/modules/pitch.urdf, count: 6, behavior_interval: 0.02,\n"
    "     behavior: {hormone: {frequency: 0.6, amplitude: 0.5, lag: 1.2, coupling: 4}}}\n"
    "docks:\n"
    "  - {first: {group: m, robot: 0, dock: back}, second: {group: m, robot: 1, dock: front}}\n"
    "  - {first: {group: m, robot: 1, dock: back}, second: {group: m, robot: 2, dock: front}}\n"
    "  - {first: {group: m, robot: 2, dock: back}, second: {group: m, robot: 3, dock: back}}\n"
    "  - {first: {group: m, robot: 3, dock: front}, second: {group: m, robot: 4, dock: front}}\n"
    "  - {first: {group: m, robot: 4, dock: back}, second: {group: m, robot: 5, dock: front}}\n";

// Modules first .. last - 1 have one head, at an end, and are behind it by the lag per module.
static uint32_t check_wave(const mf_Scene *scene, uint32_t first, uint32_t last) {
    const double name = get(scene, 0, "hormone.memory", first, HEAD);
    uint32_t head = last;
    for (uint32_t i = first; i < last; i++)
        if (get(scene, 0, "hormone.memory", i, HOPS) == 0.0)
            head = i;
    assert_true(head == first || head == last - 1);
    for (uint32_t i = first; i < last; i++) {
        const double hops = fabs((double)i - (double)head);
        assert_near(get(scene, 0, "hormone.memory", i, HEAD), name, 0.0);
        assert_near(get(scene, 0, "hormone.memory", i, HOPS), hops, 0.0);
        assert_near(wrap(get(scene, 0, "hormone.memory", i, PHASE) -
                         get(scene, 0, "hormone.memory", head, PHASE) + 1.2 * hops),
                    0.0, 1e-3);
    }
    return head;
}

// No target moves faster than by its frequency and the synchronization.
static void crawl(const mf_Scene *scene, double seconds) {
    const double most = 0.5 * (two_pi * 0.6 + 4.0 * 0.5 * two_pi) * 0.02;
    for (double time = 0.0; time < seconds; time += 0.02) {
        double before[6];
        for (uint32_t i = 0; i < 6; i++)
            before[i] = get(scene, 0, "joint.target", i, 0);
        step_for(scene, 0.02);
        for (uint32_t i = 0; i < 6; i++)
            assert_near(get(scene, 0, "joint.target", i, 0), before[i], most);
    }
}

static double forward_of(const mf_Scene *scene) {
    double sum = 0.0;
    for (uint32_t i = 0; i < 6; i++)
        sum += get(scene, 0, "base.position", i, 0) / 6.0;
    return sum;
}

TEST(a_wave_finds_itself_after_a_split_and_a_merge) {
    uint32_t names[64];
    AUTO_WHOLE_SCENE scene = scene_of(*state, worm);
    mf_WorldDocks *docks = mf_world_docks_of(scene.world);
    mf_Group *group = mf_world_group(scene.world, 0);
    const mf_DockPort left = {group, 2, 1}, right = {group, 3, 1};
    crawl(&scene, 5.0);
    assert_int_equal(check_wave(&scene, 0, 6), 0); // the one whose front is free
    const double began = forward_of(&scene);
    crawl(&scene, SANITIZED ? 0.1 : 5.0);
    const double distance = forward_of(&scene) - began;
    print_message("the caterpillar crawled %.3f m in 5 s\n", distance);
    assert_true(SANITIZED || fabs(distance) > 0.1);

    set_field(group, "dock.enabled", 2, 1, 0.0);
    crawl(&scene, 5.0);
    assert_int_equal(assemblies_of(&scene, names), 2);
    assert_int_equal(check_wave(&scene, 0, 3), 0);
    const uint32_t other = check_wave(&scene, 3, 6);
    assert_true(get(&scene, 0, "hormone.memory", 0, HEAD) !=
                get(&scene, 0, "hormone.memory", other, HEAD));

    set_field(group, "dock.enabled", 2, 1, 1.0);
    if (get(&scene, 0, "dock.state", 2, 1) == MF_DOCK_FREE)
        MUST(mf_docks_connect(docks, &left, &right, 0, &error));
    crawl(&scene, 6.0);
    assert_int_equal(assemblies_of(&scene, names), 1);
    assert_int_equal(check_wave(&scene, 0, 6), 0);
    assert_int_equal(mf_group_fault_total(group), 0);
}

// ---- a wall -------------------------------------------------------------------------------------

enum { WALL = 45, DOCKS = 6, WALL_STEPS = SANITIZED ? 20 : 80, WALL_CUT = 14 };

typedef struct Table {
    double state[WALL][DOCKS], load[WALL][6 * DOCKS];
    uint64_t hash, broken, joined;
} Table;

static void read_table(const mf_Scene *scene, Table *out) {
    const mf_DocksStatistics seen = mf_docks_statistics(mf_world_docks_of(scene->world));
    for (uint32_t i = 0; i < WALL; i++)
        for (uint32_t c = 0; c < 6 * DOCKS; c++) {
            out->load[i][c] = get(scene, 0, "dock.load", i, c);
            if (c < DOCKS)
                out->state[i][c] = get(scene, 0, "dock.state", i, c);
        }
    out->hash = mf_world_hash(scene->world);
    out->broken = seen.broken;
    out->joined = seen.joined;
}

// scenes/wall.yaml with some threads; `image`: what a snapshot in the middle is put into, or the
// snapshot to begin with.
static void break_wall(uint32_t threads, void **image, size_t *size, Table *out) {
    AUTO_CONTEXT *context = open_context(threads);
    AUTO_WHOLE_SCENE scene = scene_at(context, "scenes/wall.yaml", NULL, 0);
    if (*size > 0) {
        MUST(mf_world_restore(scene.world, *image, *size, &error));
    } else {
        mf_world_step(scene.world, WALL_CUT);
        *size = mf_world_snapshot_size(scene.world);
        *image = malloc(*size);
        assert_non_null(*image);
        MUST(mf_world_snapshot(scene.world, *image, *size, &error));
    }
    mf_world_step(scene.world, WALL_STEPS - WALL_CUT);
    read_table(&scene, out);
}

// The same docks break, by the same loads, with one and two threads and behind a snapshot. A dock
// that broke bore more than one of its limits, and its partner broke, too.
TEST(the_same_docks_of_a_wall_break) {
    static Table one, two, again;
    AUTO(end_memory) void *image = NULL, *other = NULL;
    size_t size = 0, other_size = 0;
    uint32_t broken = 0;
    break_wall(1, &image, &size, &one);
    break_wall(2, &other, &other_size, &two);
    break_wall(2, &image, &size, &again);
    assert_memory_equal(one.state, two.state, sizeof one.state);
    assert_memory_equal(one.load, two.load, sizeof one.load);
    assert_memory_equal(one.state, again.state, sizeof one.state);
    assert_memory_equal(one.load, again.load, sizeof one.load);
    assert_true(one.hash == two.hash && one.hash == again.hash);
    assert_int_equal(one.joined, 76);
    for (uint32_t i = 0; i < WALL; i++)
        for (uint32_t d = 0; d < DOCKS; d++) {
            const double *load = &one.load[i][6 * d];
            if (one.state[i][d] != MF_DOCK_BROKEN)
                continue;
            broken++;
            assert_true(load[0] > 500 || hypot(load[1], load[2]) > 1000 || fabs(load[3]) > 50 ||
                        hypot(load[4], load[5]) > 60);
        }
    print_message("%u docks of the wall broke\n", broken);
    assert_int_equal(broken, 2 * one.broken);
    assert_true(SANITIZED || (one.broken > 5 && one.broken < 60));
}

// What the balls lose the wall gets: there is no gravity.
TEST(balls_and_wall_keep_their_momentum) {
    AUTO_WHOLE_SCENE scene = scene_at(*state, "scenes/wall.yaml", NULL, 0);
    mf_Group *groups[] = {mf_world_group(scene.world, 0), mf_world_group(scene.world, 1)};
    assert_int_equal(mf_world_group_count(scene.world), 2);
    const Momentum start = momentum_of(groups, 2);
    mf_world_step(scene.world, SANITIZED ? 60 : 300);
    const Momentum end = momentum_of(groups, 2), wall = momentum_of(groups, 1);
    const double size = norm3(start.linear), spin = norm3(start.angular);
    print_message("lost %.2g of linear, %.2g of angular momentum; the wall got %.2g\n",
                  distance3(start.linear, end.linear) / size,
                  distance3(start.angular, end.angular) / spin, norm3(wall.linear) / size);
    assert_true(SANITIZED || norm3(wall.linear) > 0.1 * size);
    assert_true(distance3(start.linear, end.linear) < 1e-6 * size);
    assert_true(distance3(start.angular, end.angular) < 1e-5 * spin);
}

// Under MuJoCo's law docks are rows of one problem (solve/solver_common_rows.c); modules with
// servos crawl on the ground, and every step converges.
TEST(docks_hold_under_mujocos_law) {
    const mf_Override law = {"groups.modules.motion.articulated.contact_law", "mujoco"};
    AUTO_WHOLE_SCENE scene = scene_at(*state, "scenes/caterpillar.yaml", &law, 1);
    mf_Group *modules = mf_world_group(scene.world, 0);
    double open = 0.0, residual = 0.0, steps = 0.0;
    for (uint32_t n = 0; n < (SANITIZED ? 50 : 500); n++) {
        const mf_WorldJoints *joints = mf_world_joints_of(scene.world);
        uint32_t count = 0;
        mf_world_step(scene.world, 1);
        for (mf_WorldJointId id = mf_world_joint_next(joints, MF_WORLD_JOINT_NONE);
             id != MF_WORLD_JOINT_NONE; id = mf_world_joint_next(joints, id), count++) {
            mf_WorldJointState joint;
            MUST(mf_world_joint_state(joints, id, &joint, &error));
            open = fmax(open, joint.opening);
        }
        assert_int_equal(count, 5);
    }
    for (uint32_t i = 0; i < mf_group_count(modules); i++) {
        residual = fmax(residual, get_field(modules, "warning.residual", i, 0));
        steps = fmax(steps, get_field(modules, "warning.steps", i, 0));
    }
    print_message("docks open by up to %.2g mm; %g steps of 500 end early, residual up to %.2g\n",
                  1e3 * open, steps, residual);
    assert_true(open < 1e-3 && steps <= 5.0 && residual < 1.0);
}
