// Policies: percepts, actions with noise, memory, messages; threads and snapshots.
#include "agent/modules.h"

enum { HEIGHT, DOCKS, ENABLED = 0, FORCE = 1 };

static const char *const percepts[] = {"height", "dock.state", NULL};
static const char *const actions[] = {"dock.enabled", "wrench.command", NULL};

// A field of the user's: what an action with noise is written to.
static void add_command(Modules *all) {
    const mf_FieldInfo info = {.name = "wrench.command",
                               .unit = "N",
                               .frame = "",
                               .type = MF_REAL,
                               .shape = MF_PER_INSTANCE,
                               .width = 2,
                               .flags = MF_FIELD_STATE | MF_FIELD_INPUT,
                               .description = ""};
    mf_Field *field;
    MUST(mf_group_add_field(all->group, &info, 0, &field, &error));
    mf_Signal signal = {.noise = 0.01};
    MUST(mf_sensor_add_field(all->group, "height", "base.position", 2, 1, &signal, &error));
}

// Counts its ticks, adds up what it measured and hears, and lets go after five ticks.
static bool muse(mf_Policy *policy, void *user) {
    mf_Message message = {.type = 1, .size = 4};
    mf_policy_set_memory(policy, 0, mf_policy_memory(policy, 0) + 1.0);
    mf_policy_set_memory(policy, 1,
                         mf_policy_memory(policy, 1) + mf_policy_percept(policy, HEIGHT, 0));
    while (mf_policy_receive(policy, MF_NONE, &message))
        mf_policy_set_memory(policy, 2, mf_policy_memory(policy, 2) + message.content.words[0]);
    message.content.words[0] = (uint32_t)mf_policy_memory(policy, 0);
    for (uint32_t d = 0; d < mf_policy_docks(policy); d++)
        if (mf_policy_percept(policy, DOCKS, d) == MF_DOCK_ENGAGED)
            mf_policy_send(policy, d, &message);
    if (mf_policy_memory(policy, 0) > 5.0)
        mf_policy_act(policy, ENABLED, PX, 0.0);
    mf_policy_act(policy, FORCE, 0, 2.0);
    return mf_policy_act(policy, FORCE, 1, -3.0);
}

static mf_PolicyConfig muse_config(void) {
    static const double noise[] = {0.0, 0.5};
    mf_PolicyConfig config = WITH(mf_policy_config(), .name = "muse");
    config.rate = (mf_Rate){50, 1}; // every second step
    config.percepts = percepts;
    config.actions = actions;
    config.noise = noise;
    config.memory = 3;
    config.function = muse;
    return config;
}

static Modules open_muses(uint32_t threads) {
    Modules all = modules_open(WITH(modules_config(40), .threads = threads));
    for (uint32_t i = 0; i < 40; i += 4)
        modules_chain(&all, i, 4);
    add_command(&all);
    const mf_PolicyConfig policy = muse_config();
    MUST(mf_policy_add(all.group, &policy, &error));
    return all;
}

TEST(a_policy_senses_remembers_sends_and_acts) {
    AUTO_MODULES all = open_muses(1);
    mf_world_step(all.world, 10); // five ticks
    // Robot 1 of a row has two neighbors; what they say in tick k arrives in tick k + 1.
    assert_near(get_field(all.group, "muse.memory", 1, 0), 5.0, 0.0);
    assert_near(get_field(all.group, "muse.memory", 1, 1) / 5.0, 10.0, 0.03);
    assert_true(get_field(all.group, "muse.memory", 1, 1) != 50.0);
    assert_near(get_field(all.group, "muse.memory", 0, 2), 1 + 2 + 3 + 4, 0.0);
    assert_near(get_field(all.group, "muse.memory", 1, 2), 2 * (1 + 2 + 3 + 4), 0.0);
    assert_int_equal(get_field(all.group, "dock.state", 0, PX), MF_DOCK_ENGAGED);
    mf_world_step(all.world, 3);
    assert_int_equal(get_field(all.group, "dock.state", 0, PX), MF_DOCK_FREE);
    mf_group_reset(all.group, 1);
    assert_near(get_field(all.group, "muse.memory", 1, 0), 0.0, 0.0);
    assert_near(get_field(all.group, "muse.memory", 2, 0), 7.0, 0.0);
}

TEST(actions_have_the_noise_that_was_set) {
    AUTO_MODULES all = open_muses(1);
    enum { TICKS = 200, ROBOTS = 40 };
    double sum = 0.0, squares = 0.0, both = 0.0;
    for (uint32_t k = 0; k < TICKS; k++) {
        mf_world_step(all.world, 2);
        for (uint32_t i = 0; i < ROBOTS; i++) {
            const double error = get_field(all.group, "wrench.command", i, 0) - 2.0;
            sum += error;
            squares += error * error;
            both += error * (get_field(all.group, "wrench.command", i, 1) + 3.0);
        }
    }
    const double n = TICKS * ROBOTS, variance = 0.25;
    assert_near(sum / n, 0.0, 4.0 * sqrt(variance / n));
    assert_near(squares / n, variance, 4.0 * variance * sqrt(2.0 / n));
    assert_near(both / n, 0.0, 4.0 * variance / sqrt(n)); // components are independent
}

TEST(threads_and_snapshots_give_the_same_bits) {
    AUTO_MODULES first = open_muses(1), second = open_muses(2);
    mf_world_step(first.world, 7);
    size_t size;
    void *image = take_snapshot(first.world, &size);
    MUST(mf_world_restore(second.world, image, size, &error));
    free(image);
    mf_world_step(first.world, 31);
    mf_world_step(second.world, 31);
    assert_true(mf_world_hash(first.world) == mf_world_hash(second.world));
}

static bool refuse(mf_Policy *policy, void *user) {
    assert_false(mf_policy_act(policy, 7, 0, 1.0));
    assert_false(mf_policy_act(policy, FORCE, 2, 1.0));
    assert_true(mf_policy_percept(policy, 9, 0) == 0.0);
    assert_true(mf_policy_percept(policy, HEIGHT, 1) == 0.0);
    assert_true(mf_policy_memory(policy, 3) == 0.0);
    mf_policy_set_memory(policy, 3, 1.0);
    return mf_policy_act(policy, FORCE, 0, NAN);
}

TEST(what_is_not_a_number_is_a_fault) {
    AUTO_MODULES all = modules_open(modules_config(3));
    add_command(&all);
    MUST(mf_policy_add(all.group, &WITH(muse_config(), .function = refuse), &error));
    mf_world_step(all.world, 1);
    assert_int_equal(mf_group_fault(all.group, 2), MF_FAULT_CONTROL);
    assert_near(get_field(all.group, "wrench.command", 2, 0), 0.0, 0.0);
}

// ---- percepts and noise of the user -------------------------------------------------------------

typedef struct Seen {
    double height; // [m] with noise of our own
    uint32_t engaged;
    char word[8];
} Seen;

static uint32_t made_calls;

static void make_seen(mf_Policy *policy, void *out, void *user) {
    Seen *seen = out;
    seen->height = mf_policy_percept(policy, HEIGHT, 0);
    for (uint32_t d = 0; d < mf_policy_docks(policy); d++)
        seen->engaged += mf_policy_percept(policy, DOCKS, d) == MF_DOCK_ENGAGED;
    assert_null(mf_policy_made(policy, 0)); // it is being made
    strcpy(seen->word, seen->engaged > 0 ? "chain" : "alone");
    made_calls++;
    assert_ptr_equal(user, &made_calls);
}

// Uniform, of 1 m; docks are read as they are.
static double own_noise(const mf_Policy *policy, uint32_t number, uint32_t component, double value,
                        void *user) {
    uint32_t words[4];
    (void)component;
    assert_ptr_equal(user, &made_calls);
    mf_policy_random(policy, 5, words);
    return number == HEIGHT ? value + mf_random_unit_double(words[0], words[1]) - 0.5 : value;
}

static double own_backlash(const mf_Policy *policy, uint32_t number, uint32_t component,
                           double value, void *user) {
    (void)policy;
    (void)user;
    return number == FORCE && component == 1 ? 0.5 * value : value;
}

static bool look(mf_Policy *policy, void *user) {
    const Seen *seen = mf_policy_made(policy, 0), *again = mf_policy_made(policy, 0);
    (void)user;
    assert_ptr_equal(seen, again);
    assert_null(mf_policy_made(policy, 1));
    assert_near(seen->height, mf_policy_percept(policy, HEIGHT, 0), 0.0);
    assert_string_equal(seen->word, seen->engaged > 0 ? "chain" : "alone");
    mf_policy_set_memory(policy, 0, seen->engaged);
    mf_policy_set_memory(policy, 1, mf_policy_memory(policy, 1) + seen->height);
    mf_policy_set_memory(policy, 2, mf_policy_memory(policy, 2) + seen->height * seen->height);
    mf_policy_act(policy, FORCE, 0, 2.0);
    return mf_policy_act(policy, FORCE, 1, 2.0);
}

TEST(percepts_and_noise_may_be_the_users_own) {
    static const mf_MadePercept seen = {.size = sizeof(Seen), .make = make_seen};
    enum { TICKS = 400 };
    AUTO_MODULES all = modules_open(modules_config(3));
    modules_chain(&all, 0, 2);
    add_command(&all);
    made_calls = 0;
    static const mf_MadePercept large = {.size = 5000, .make = make_seen};
    mf_PolicyConfig right = WITH(muse_config(), .noise = NULL, .function = look);
    right.rate = mf_policy_config().rate;
    right.user = &made_calls;
    right.sense = own_noise;
    right.disturb = own_backlash;
    right.made = &seen;
    right.made_count = 1;
    MUST_FAIL(mf_policy_add(all.group, &WITH(right, .made = NULL), &error), MF_BAD_ARGUMENT,
              "made percepts");
    MUST_FAIL(mf_policy_add(all.group, &WITH(right, .made = &large), &error), MF_BAD_ARGUMENT,
              "1 .. 4096 bytes");
    MUST(mf_policy_add(all.group, &right, &error));
    const double z = get_field(all.group, "base.position", 2, 2);
    mf_world_step(all.world, TICKS);
    assert_int_equal(made_calls, 3 * TICKS); // once a tick, though it is asked for twice
    for (uint32_t i = 0; i < 3; i++) {
        const double mean = get_field(all.group, "muse.memory", i, 1) / TICKS;
        const double square = get_field(all.group, "muse.memory", i, 2) / TICKS;
        assert_near(get_field(all.group, "muse.memory", i, 0), i < 2 ? 1.0 : 0.0, 0.0);
        assert_near(get_field(all.group, "wrench.command", i, 0), 2.0, 0.0);
        assert_near(get_field(all.group, "wrench.command", i, 1), 1.0, 0.0);
        if (i < 2)
            continue;
        // Of a uniform distribution: 1 / sqrt(12) and five times its own deviation.
        assert_near(mean, z, 5.0 * sqrt(1.0 / 12.0 / TICKS));
        assert_near(square - mean * mean, 1.0 / 12.0, 5.0 * sqrt(1.0 / 180.0 / TICKS));
    }
}

TEST(wrong_settings_are_refused) {
    static const char *const unknown[] = {"nothing", NULL};
    static const char *const output[] = {"dock.state", "dock.enabled", NULL};
    static const double noisy[] = {1.0, 0.0}, negative[] = {0.0, -1.0};
    AUTO_MODULES all = modules_open(modules_config(1));
    add_command(&all);
    const mf_PolicyConfig right = muse_config();
    const struct {
        mf_PolicyConfig config;
        const char *name;
    } wrong[] = {{WITH(right, .percepts = unknown), "nothing"},
                 {WITH(right, .actions = output), "dock.state"},
                 {WITH(right, .noise = noisy), "whole"},
                 {WITH(right, .noise = negative), "-1"},
                 {WITH(right, .memory = MF_POLICY_MEMORY + 1), "4097"},
                 {WITH(right, .function = NULL), "NULL"},
                 {WITH(right, .name = ""), "name"},
                 {WITH(right, .struct_size = 0), "start"}};
    for (uint32_t i = 0; i < 8; i++)
        MUST_FAIL(mf_policy_add(all.group, &wrong[i].config, &error),
                  i == 0 ? MF_NOT_FOUND : MF_BAD_ARGUMENT, wrong[i].name);
    for (uint32_t countdown = 1;; countdown++) {
        mf_context_fail_after(all.context, countdown);
        const mf_Status status = mf_policy_add(all.group, &right, NULL);
        mf_context_fail_after(all.context, 0);
        if (status == MF_OK)
            break;
        assert_int_equal(status, MF_NO_MEMORY);
    }
    assert_int_equal(mf_policy_add(all.group, &right, NULL), MF_BAD_ARGUMENT); // a second one
}
