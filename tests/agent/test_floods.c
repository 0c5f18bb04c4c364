// Floods of messages: counts and leaders of random assemblies.
#include "agent/modules.h"
#include "scene/behavior.h"
#include "base/random.h"

static void add_policy(Modules *all, mf_BehaviorKind kind) {
    const mf_Behavior behavior = {.kind = kind, .rate = {100, 1}};
    MUST(mf_behavior_add(all->group, (mf_VehicleKind)0, &behavior, &error));
}

// ---- assemblies ---------------------------------------------------------------------------------

enum { MOST = 20 };

// Cubes of a lattice that hang together, and which of their faces that touch are docked.
typedef struct Assembly {
    uint32_t count;
    int32_t cells[MOST][3];
    uint32_t neighbor[MOST][FACES]; // [1] docked robot; MF_NONE: none
} Assembly;

static uint32_t draw(uint32_t trial, uint32_t *number, uint32_t below) {
    uint32_t words[4];
    mf_random(77, trial, 1, (*number)++, words);
    return mf_random_below(words[0], below);
}

static uint32_t cube_at(const Assembly *all, const int32_t cell[3]) {
    for (uint32_t i = 0; i < all->count; i++)
        if (memcmp(all->cells[i], cell, sizeof all->cells[i]) == 0)
            return i;
    return MF_NONE;
}

static void beside(const Assembly *all, uint32_t robot, uint32_t face, int32_t out[3]) {
    memcpy(out, all->cells[robot], 3 * sizeof *out);
    out[face / 2] += face % 2 == 0 ? 1 : -1;
}

// Grows from one cube; the faces between a cube and the one from which it grew are docked: a tree.
// With `loops` all that touch are.
static void grow(Assembly *all, uint32_t trial, uint32_t count, bool loops) {
    uint32_t number = 0;
    *all = (Assembly){.count = 1};
    memset(all->neighbor, 0xff, sizeof all->neighbor);
    while (all->count < count) {
        const uint32_t robot = draw(trial, &number, all->count);
        const uint32_t face = draw(trial, &number, FACES);
        int32_t cell[3];
        beside(all, robot, face, cell);
        if (cube_at(all, cell) != MF_NONE)
            continue;
        memcpy(all->cells[all->count], cell, sizeof cell);
        all->neighbor[robot][face] = all->count;
        all->neighbor[all->count++][face ^ 1] = robot;
    }
    for (uint32_t i = 0; i < count && loops; i++)
        for (uint32_t f = 0; f < FACES; f++) {
            int32_t cell[3];
            beside(all, i, f, cell);
            all->neighbor[i][f] = cube_at(all, cell);
        }
}

// Hops between two robots; breadth first.
static uint32_t distances(const Assembly *all, uint32_t from, uint32_t out[MOST]) {
    uint32_t queue[MOST] = {from}, end = 1, farthest = 0;
    for (uint32_t i = 0; i < MOST; i++)
        out[i] = MF_NONE;
    out[from] = 0;
    for (uint32_t next = 0; next < end; next++)
        for (uint32_t f = 0; f < FACES; f++) {
            const uint32_t other = all->neighbor[queue[next]][f];
            if (other == MF_NONE || out[other] != MF_NONE)
                continue;
            farthest = out[other] = out[queue[next]] + 1;
            queue[end++] = other;
        }
    return farthest;
}

static uint32_t diameter(const Assembly *all) {
    uint32_t most = 0, hops[MOST];
    for (uint32_t i = 0; i < all->count; i++) {
        const uint32_t own = distances(all, i, hops);
        most = own > most ? own : most;
    }
    return most;
}

static Modules build(const Assembly *assembly, mf_BehaviorKind kind) {
    Modules all = modules_open(modules_config(assembly->count));
    mf_Field *enabled = mf_group_find_field(all.group, "dock.enabled");
    for (uint32_t i = 0; i < assembly->count; i++) {
        const int32_t *cell = assembly->cells[i];
        MUST(mf_group_set_start(all.group, i,
                                (double[3]){cube * cell[0], cube * cell[1], 10 + cube * cell[2]},
                                NULL, NULL, &error));
        for (uint32_t f = 0; f < FACES; f++)
            mf_field_set(enabled, i, f, assembly->neighbor[i][f] != MF_NONE);
    }
    for (uint32_t i = 0; i < assembly->count; i++)
        for (uint32_t f = 0; f < FACES; f += 2)
            if (assembly->neighbor[i][f] != MF_NONE)
                modules_dock(&all, i, f, assembly->neighbor[i][f], f ^ 1);
    add_policy(&all, kind);
    return all;
}

static uint32_t agreeing(const Modules *all, const char *field, uint32_t component, double value) {
    uint32_t right = 0;
    for (uint32_t i = 0; i < mf_group_count(all->group); i++)
        right += get_field(all->group, field, i, component) == value;
    return right;
}

TEST(counts_and_leaders_are_right_after_the_diameter) {
    uint32_t with_loops = 0;
    for (uint32_t trial = 0; trial < 200; trial++) {
        Assembly assembly;
        grow(&assembly, trial, 2 + trial % (MOST - 1), trial % 2 == 1);
        const uint32_t hops = diameter(&assembly), count = assembly.count;
        uint32_t docked = 0;
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t f = 0; f < FACES; f++)
                docked += assembly.neighbor[i][f] != MF_NONE;
        with_loops += docked / 2 >= count;
        AUTO_MODULES counted = build(&assembly, MF_BEHAVIOR_COUNT);
        mf_world_step(counted.world, hops);
        assert_true(agreeing(&counted, "count.memory", 3, count) < count);
        mf_world_step(counted.world, 1); // in the tick with the number of the diameter
        assert_int_equal(agreeing(&counted, "count.memory", 3, count), count);
        AUTO_MODULES led = build(&assembly, MF_BEHAVIOR_LEADER);
        mf_world_step(led.world, hops + 1);
        const double leader = get_field(led.group, "leader.memory", 0, 3);
        assert_int_equal(agreeing(&led, "leader.memory", 3, leader), count);
        assert_int_equal(agreeing(&led, "leader.memory", 5, 1.0), 1);
        assert_true(get_field(led.group, "leader.memory", (uint32_t)leader, 5) == 1.0);
    }
    assert_true(with_loops > 30);
}

// In a row of ten that parts after the fourth and docks again: how many robots have which value of
// a component, while it is whole and while it is parted.
typedef struct Expected {
    double value;
    uint32_t whole, parted; // [1] robots
} Expected;

static void check_values(const Modules *all, const char *field, uint32_t component,
                         const Expected *rows, bool parted) {
    for (; rows->value != 0.0; rows++)
        assert_int_equal(agreeing(all, field, component, rows->value),
                         parted ? rows->parted : rows->whole);
}

static void follow(mf_BehaviorKind kind, const char *field, uint32_t component,
                   const Expected *rows) {
    AUTO_MODULES all = modules_open(modules_config(10));
    modules_chain(&all, 0, 10);
    add_policy(&all, kind);
    mf_world_step(all.world, 12);
    check_values(&all, field, component, rows, false);
    mf_Field *enabled = mf_group_find_field(all.group, "dock.enabled");
    mf_field_set(enabled, 3, PX, 0.0);
    mf_world_step(all.world, 12);
    check_values(&all, field, component, rows, true);
    mf_field_set(enabled, 3, PX, 1.0);
    mf_world_step(all.world, 2 * 9 + 2); // the news must spread before the answers
    assert_int_equal(get_field(all.group, "dock.state", 3, PX), MF_DOCK_ENGAGED);
    check_values(&all, field, component, rows, false);
}

TEST(floods_follow_parting_and_docking) {
    const Expected counts[] = {{10.0, 10, 0}, {4.0, 0, 4}, {6.0, 0, 6}, {0.0, 0, 0}};
    const Expected leads[] = {{1.0, 1, 2}, {0.0, 0, 0}};
    follow(MF_BEHAVIOR_COUNT, "count.memory", 3, counts);
    follow(MF_BEHAVIOR_LEADER, "leader.memory", 5, leads);
}

TEST(both_need_space_in_messages) {
    const mf_Behavior count = {.kind = MF_BEHAVIOR_COUNT}, leader = {.kind = MF_BEHAVIOR_LEADER};
    AUTO_MODULES many = modules_open(modules_config(100)); // 12 bytes of a message have 96 bits
    MUST_FAIL_AS(mf_behavior_add(many.group, (mf_VehicleKind)0, &count, &error), MF_LIMIT,
                 "count: 100 modules, messages.size 16 has space for 96, and 64 for 480");
    AUTO_MODULES one = modules_open(WITH(modules_config(1), .messages.size = 8));
    MUST_FAIL(mf_behavior_add(one.group, (mf_VehicleKind)0, &leader, &error), MF_BAD_ARGUMENT,
              "12 bytes");
}

TEST(cubes_are_no_snake) {
    const mf_Behavior behavior = {.kind = MF_BEHAVIOR_SNAKE, .rate = {100, 1}};
    AUTO_MODULES all = modules_open(modules_config(4));
    MUST_FAIL_AS(mf_behavior_add(all.group, (mf_VehicleKind)0, &behavior, &error), MF_NOT_FOUND,
                 "snake: cube has no hinge or slide");
}
