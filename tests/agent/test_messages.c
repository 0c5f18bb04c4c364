// Messages: when they arrive, what a box keeps, loss and delay, infrared, threads, snapshots.
#include "agent/modules.h"

// ---- one step per hop ---------------------------------------------------------------------------

enum { CHAIN = 10 };

typedef struct Relay {
    uint64_t arrived[CHAIN]; // [1] tick, of robot k; 0: not yet
    uint32_t count[CHAIN];   // [1] messages
} Relay;

// The first robot sends once; the others pass on what arrives behind them.
static bool relay(mf_Group *group, uint32_t instance, mf_Time time, void *user) {
    Relay *all = user;
    const uint64_t tick = (uint64_t)(time / (10 * MF_MILLISECOND));
    mf_Message message = message_of(7, 1000);
    if (instance == 0)
        return tick > 0 || mf_message_send(group, 0, PX, &message, NULL) == MF_OK;
    while (mf_message_receive(group, instance, NX, &message)) {
        all->arrived[instance] = tick;
        all->count[instance]++;
        assert_int_equal(message.type, 7);
        assert_int_equal(message.content.words[0], 1000 + instance - 1);
        assert_int_equal(message.dock, NX);
        message.content.words[0]++;
        assert_int_equal(mf_message_send(group, instance, PX, &message, NULL), MF_OK);
    }
    return true;
}

TEST(a_message_takes_a_step_per_hop) {
    const uint32_t delays[] = {0, 3};
    for (uint32_t k = 0; k < 2; k++) {
        Relay arrivals = {.arrived = {0}};
        AUTO_MODULES all = modules_open(WITH(modules_config(CHAIN), .messages.delay = delays[k]));
        modules_chain(&all, 0, CHAIN);
        MUST(mf_callback_add(all.group, (mf_Rate){100, 1}, relay, &arrivals, &error));
        mf_world_step(all.world, 60);
        for (uint32_t i = 1; i < CHAIN; i++) {
            assert_int_equal(arrivals.arrived[i], i * (1 + delays[k]));
            assert_int_equal(arrivals.count[i], 1);
        }
        const mf_MessagesStatistics sum = mf_messages_statistics(all.messages);
        assert_int_equal(sum.sent, CHAIN); // the last sends to nobody
        assert_int_equal(sum.unheard, 1);
        assert_int_equal(sum.delivered, CHAIN - 1);
        assert_int_equal(sum.lost + sum.overflowed, 0);
    }
}

// ---- boxes --------------------------------------------------------------------------------------

TEST(messages_wait_until_they_are_read_once) {
    mf_Message message;
    AUTO_MODULES all = modules_open(modules_config(2));
    modules_chain(&all, 0, 2);
    mf_world_step(all.world, 1);
    modules_send(&all, 0, PX, 1, 11);
    modules_send(&all, 0, PX, 2, 12);
    assert_false(mf_message_receive(all.group, 1, NX, &message));
    mf_world_step(all.world, 100);
    assert_int_equal(get_field(all.group, "message.out_count", 0, PX), 0);
    assert_int_equal(get_field(all.group, "message.ready", 1, NX), 2);
    assert_false(mf_message_receive(all.group, 1, PX, &message));
    assert_true(mf_message_receive(all.group, 1, MF_NONE, &message));
    assert_int_equal(message.type, 1);
    assert_int_equal(message.content.words[0], 11);
    assert_int_equal(message.size, 16);
    for (uint32_t c = 1; c < MF_MESSAGE_BYTES / 4; c++)
        assert_int_equal(message.content.words[c], 0);
    assert_true(mf_message_receive(all.group, 1, NX, &message));
    assert_int_equal(message.content.words[0], 12);
    assert_false(mf_message_receive(all.group, 1, NX, &message));
    assert_int_equal(get_field(all.group, "message.in_count", 1, NX), 0);
}

TEST(a_full_box_counts_what_it_drops) {
    mf_Message message;
    AUTO_MODULES all = modules_open(modules_config(2));
    modules_chain(&all, 0, 2);
    for (uint32_t k = 0; k < 10; k++) {
        modules_send(&all, 0, PX, 1, k);
        mf_world_step(all.world, 1);
    }
    assert_int_equal(get_field(all.group, "message.tally", 1, 5 * NX + 2), 4); // received
    assert_int_equal(get_field(all.group, "message.tally", 1, 5 * NX + 4), 6); // overflowed
    for (uint32_t k = 0; k < 4; k++) {
        assert_true(mf_message_receive(all.group, 1, NX, &message));
        assert_int_equal(message.content.words[0], k);
    }
    assert_false(mf_message_receive(all.group, 1, NX, &message));
    mf_group_reset(all.group, 1);
    assert_int_equal(get_field(all.group, "message.tally", 1, 5 * NX + 4), 0);
}

TEST(parted_docks_do_not_hear) {
    AUTO_MODULES all = modules_open(modules_config(2));
    modules_chain(&all, 0, 2);
    modules_send(&all, 0, PX, 1, 1);
    MUST(mf_docks_disconnect(all.docks, &(mf_DockPort){all.group, 0, PX}, &error));
    mf_world_step(all.world, 1);
    assert_int_equal(get_field(all.group, "message.in_count", 1, NX), 0);
    assert_int_equal(mf_messages_statistics(all.messages).unheard, 1);
}

TEST(wrong_messages_are_one_clear_error) {
    AUTO_MODULES all = modules_open(modules_config(2));
    mf_Message message = WITH(message_of(1, 1), .size = 20);
    MUST_FAIL_AS(mf_message_send(all.group, 0, PX, &message, &error), MF_BAD_ARGUMENT,
                 "message: 20 bytes, expected at most 16, the setting messages.size");
    message.size = 4;
    assert_int_equal(mf_message_send(all.group, 0, FACES, &message, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_message_send(all.group, 2, PX, &message, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_message_send(NULL, 0, PX, &message, NULL), MF_BAD_ARGUMENT);
    for (uint32_t k = 0; k < 4; k++)
        MUST(mf_message_send(all.group, 0, PX, &message, &error));
    assert_int_equal(mf_message_send(all.group, 0, PX, &message, NULL), MF_LIMIT);
    assert_int_equal(get_field(all.group, "message.tally", 0, 5 * PX + 4), 1);
    assert_false(mf_message_receive(all.group, 2, PX, &message));
    assert_false(mf_message_receive(all.group, 0, FACES, &message));
}

TEST(wrong_settings_are_refused) {
    mf_Messages *out;
    AUTO_MODULES all = modules_open(modules_config(1));
    const mf_MessagesConfig right = mf_messages_config();
    const struct {
        mf_MessagesConfig config;
        const char *name;
    } wrong[] = {{WITH(right, .size = 6), "size"},
                 {WITH(right, .size = 68), "size"},
                 {WITH(right, .capacity = 0), "capacity"},
                 {WITH(right, .loss = NAN), "loss"},
                 {WITH(right, .delay = MF_MESSAGE_DELAY + 1), "delay"},
                 {WITH(right, .range = -1.0), "range"},
                 {WITH(right, .angle = NAN), "angle"},
                 {WITH(right, .struct_size = 0), "start"},
                 {right, "already"}};
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        MUST_FAIL(mf_messages_add(all.world, &wrong[i].config, &out, &error), MF_BAD_ARGUMENT,
                  wrong[i].name);
}

// ---- noise --------------------------------------------------------------------------------------

TEST(loss_and_delay_are_as_set) {
    enum { ROBOTS = 64, STEPS = 500, DELAY = 2, JITTER = 4 };
    uint32_t histogram[DELAY + JITTER + 1] = {0};
    AUTO_MODULES all =
        modules_open(WITH(modules_config(ROBOTS), .messages.loss = 0.3, .messages.delay = DELAY,
                          .messages.jitter = JITTER, .messages.capacity = 16));
    for (uint32_t i = 0; i < ROBOTS; i += 2)
        modules_chain(&all, i, 2);
    for (uint32_t k = 0; k < STEPS; k++) {
        for (uint32_t i = 0; i < ROBOTS; i += 2)
            modules_send(&all, i, PX, 1, k);
        mf_world_step(all.world, 1);
        mf_Message message;
        for (uint32_t i = 1; i < ROBOTS; i += 2)
            while (mf_message_receive(all.group, i, NX, &message)) {
                const uint32_t delay = k - message.content.words[0];
                assert_in_range(delay, DELAY, DELAY + JITTER);
                histogram[delay]++;
            }
    }
    const mf_MessagesStatistics sum = mf_messages_statistics(all.messages);
    const double sent = ROBOTS / 2 * STEPS;
    assert_true((double)sum.sent == sent);
    assert_int_equal(sum.delivered + sum.lost, sum.sent);
    assert_near((double)sum.lost, 0.3 * sent, 4.0 * sqrt(sent * 0.3 * 0.7));
    for (uint32_t d = DELAY; d <= DELAY + JITTER; d++) {
        const double share = 1.0 / (JITTER + 1), kept = (double)sum.delivered;
        assert_near(histogram[d], share * kept,
                    4.0 * sqrt(kept * share * (1.0 - share)) + 6 * ROBOTS);
    }
}

// ---- the same bits ------------------------------------------------------------------------------

// Robots send a number that depends on all that they have read, and read now and then.
static bool chatter(mf_Group *group, uint32_t instance, mf_Time time, void *user) {
    uint32_t words[4], sum = 0;
    mf_Message message;
    mf_random(5, instance, 1, (uint64_t)time, words);
    for (uint32_t k = 0; k < words[0] % 3 && mf_message_receive(group, instance, MF_NONE, &message);
         k++)
        sum = sum * 31 + message.content.words[0] + message.dock;
    message = message_of(words[1], words[2] ^ sum);
    mf_message_send(group, instance, words[3] % FACES, &message, NULL); // may be full
    return true;
}

static Modules open_chatter(uint32_t threads, mf_Isa isa) {
    enum { ROBOTS = 50 };
    Modules all = modules_open(WITH(modules_config(ROBOTS), .threads = threads, .isa = isa,
                                    .messages.loss = 0.1, .messages.jitter = 3,
                                    .messages.range = 1.1, .messages.angle = 1.0));
    for (uint32_t i = 0; i < ROBOTS; i += 10)
        modules_chain(&all, i, 10);
    MUST(mf_callback_add(all.group, (mf_Rate){100, 1}, chatter, NULL, &error));
    return all;
}

static uint64_t hash_after(uint32_t threads, mf_Isa isa, mf_MessagesStatistics *sum) {
    AUTO_MODULES all = open_chatter(threads, isa);
    mf_world_step(all.world, 200);
    const uint64_t hash = mf_world_hash(all.world);
    *sum = mf_messages_statistics(all.messages);
    return hash;
}

TEST(threads_and_instruction_sets_do_not_matter) {
    mf_MessagesStatistics sum;
    const uint64_t hash = hash_after(1, MF_ISA_SCALAR, &sum);
    assert_true(sum.delivered > 1000 && sum.lost > 100);
    assert_true(sum.overflowed > 10 && sum.unheard > 100);
    assert_true(hash_after(2, MF_ISA_SCALAR, &sum) == hash);
    assert_true(hash_after(2, MF_ISA_AUTO, &sum) == hash);
    if (mf_isa_available(MF_ISA_AVX2))
        assert_true(hash_after(3, MF_ISA_AVX2, &sum) == hash);
}

TEST(a_snapshot_continues_bit_for_bit) {
    AUTO_MODULES first = open_chatter(1, MF_ISA_AUTO), second = open_chatter(2, MF_ISA_AUTO);
    mf_world_step(first.world, 77);
    size_t size;
    void *image = take_snapshot(first.world, &size);
    MUST(mf_world_restore(second.world, image, size, &error));
    free(image);
    mf_world_step(first.world, 100);
    mf_world_step(second.world, 100);
    assert_true(mf_world_hash(first.world) == mf_world_hash(second.world));
    assert_int_equal(mf_messages_statistics(first.messages).sent,
                     mf_messages_statistics(second.messages).sent);
}

// ---- infrared -----------------------------------------------------------------------------------

// Robot 0 sends to +x; robot 1 is at `x`, `y`, and turned by `angle` about z. Returns what its -x
// dock got.
static double infrared(double range, double x, double y, double angle) {
    AUTO_MODULES all = modules_open(WITH(modules_config(2), .messages.range = range));
    MUST(mf_group_set_start(all.group, 0, (double[3]){0, 0, 10}, NULL, NULL, &error));
    MUST(mf_group_set_start(all.group, 1, (double[3]){x, y, 10},
                            (double[4]){cos(angle / 2), 0, 0, sin(angle / 2)}, NULL, &error));
    modules_send(&all, 0, PX, 3, 4);
    mf_world_step(all.world, 1);
    const double got = get_field(all.group, "message.ready", 1, NX);
    const mf_MessagesStatistics sum = mf_messages_statistics(all.messages);
    assert_int_equal(sum.unheard + sum.delivered, 1);
    return got;
}

TEST(infrared_reaches_who_faces_it) {
    assert_true(infrared(0.5, 0.59, 0.0, 0.0) > 0.0);    // docks are 0.49 m apart
    assert_false(infrared(0.5, 0.61, 0.0, 0.0) > 0.0);   // beyond the range
    assert_false(infrared(0.0, 0.3, 0.0, 0.0) > 0.0);    // without infrared
    assert_true(infrared(1.0, 0.6, 0.27, 0.0) > 0.0);    // atan(0.27 / 0.5) = 0.495
    assert_false(infrared(1.0, 0.6, 0.28, 0.0) > 0.0);   // atan(0.28 / 0.5) = 0.510
    assert_true(infrared(1.0, 0.6, 0.0, 0.4) > 0.0);     // the receiver is turned a little
    assert_false(infrared(1.0, 0.6, 0.0, 1.5708) > 0.0); // by a right angle: another dock sees it
}

TEST(a_swarm_gets_the_sixteen_nearest) {
    enum { ROBOTS = 20 };
    AUTO_MODULES all =
        modules_open(WITH(modules_config(ROBOTS), .messages.range = 2.0, .messages.angle = 3.0));
    for (uint32_t i = 0; i < ROBOTS; i++)
        MUST(mf_group_set_start(all.group, i, (double[3]){0.15 * (i % 5), 0.15 * (i / 5), 10}, NULL,
                                NULL, &error));
    mf_world_step(all.world, 1);
    assert_true(mf_messages_statistics(all.messages).crowded > 0);
}

// ---- memory -------------------------------------------------------------------------------------

TEST(every_failure_leaves_nothing) {
    for (uint32_t countdown = 1; countdown < 40; countdown++) {
        mf_WorldDocks *docks;
        mf_Messages *messages = NULL;
        AUTO_CONTEXT *context = open_context(0);
        AUTO_MODEL *model = make_module(context);
        AUTO_WORLD *world = open_world(context, NULL);
        mf_Group *group =
            add_group(world, &WITH(mf_group_config(), .model = model, .isolated = false));
        MUST(mf_collisions_prepare(group, &error));
        MUST(mf_motion_add(group, MF_MOTION_RIGID, NULL, &error));
        MUST(mf_world_docks_add(world, NULL, &docks, &error));
        mf_context_fail_after(context, countdown);
        const mf_Status status =
            mf_messages_add(world, &WITH(mf_messages_config(), .range = 1.0), &messages, NULL);
        mf_context_fail_after(context, 0);
        assert_true(status == MF_OK || status == MF_NO_MEMORY);
        assert_true((status == MF_OK) == (messages != NULL));
        mf_world_step(world, 3);
        if (status == MF_OK)
            return;
    }
    fail_msg("never succeeded");
}

int main(void) {
    KEEP_SHARED();
    return run_listed_tests();
}
