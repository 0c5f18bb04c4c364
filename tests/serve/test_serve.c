// The server of a world and its client: the same bits as in process, lock-step and its limit, slow
// readers, two clients, services, events, tokens.
#include "serve/support.h"

GROUP_FIXTURE(setup_context, teardown_context);

enum { TURNS = 150, QUADS = 37 };

// A controller: flies home, with goals on the way.
static void control(const float position[3], float goal[3]) {
    for (int c = 0; c < 3; c++)
        goal[c] = 0.75f * position[c];
}

static uint64_t hash_in_process(mf_Context *context) {
    mf_Scene *scene = open_scene(context, quads);
    mf_Field *position = mf_group_find_field(scene->group, "base.position");
    mf_Field *goal = mf_group_find_field(scene->group, "command.position");
    for (int turn = 0; turn < TURNS; turn++) {
        for (uint32_t i = 0; i < QUADS; i++) {
            float at[3], to[3];
            for (uint32_t c = 0; c < 3; c++)
                at[c] = (float)mf_field_get(position, i, c);
            control(at, to);
            for (uint32_t c = 0; c < 3; c++)
                mf_field_set(goal, i, c, (double)to[c]);
        }
        mf_world_step(scene->world, 2);
    }
    const uint64_t hash = mf_world_hash(scene->world);
    mf_scene_close(scene);
    return hash;
}

// Steers from subscription 0 for some turns, two steps each; returns the tick of the turn after.
static uint64_t steer(mf_Client *client, int turns) {
    const mf_ClientEntry position = {mf_client_find(client, "quads", "base.position"), 0,
                                     MF_PROTOCOL_ALL};
    const mf_ClientEntry goal = {mf_client_find(client, NULL, "command.position"), 0, QUADS};
    float to[QUADS][3];
    const void *values[] = {to};
    MUST(mf_client_subscribe(client, 0, 20 * MF_MILLISECOND, &position, 1, &error));
    MUST(mf_client_lock_step(client, true, 20 * MF_MILLISECOND, 20 * MF_SECOND, &error));
    mf_ClientNews news = await(client, MF_ANSWER_TURN);
    for (int turn = 0; turn < turns; turn++) {
        const float(*at)[3] = mf_client_values(client, 0, 0);
        for (uint32_t i = 0; i < QUADS; i++)
            control(at[i], to[i]);
        MUST(mf_client_write(client, news.tick, &goal, values, 1, true, &error));
        const uint64_t before = news.tick;
        news = await(client, MF_ANSWER_TURN);
        assert_int_equal(news.tick, before + 2);
        assert_int_equal(news.time, (mf_Time)news.tick * mf_client_step_time(client));
    }
    return news.tick;
}

TEST(test_the_same_bits_as_in_process) {
    mf_ClientStatistics seen;
    AUTO_SERVED *served = start(*state, quads, paused()); // nothing moves before the turn
    AUTO_CLIENT *client = join(served);
    MUST(mf_client_lock_step(client, true, 0, MF_SECOND, &error));
    assert_int_equal(mf_client_spin(client, -1.0, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_client_spin(client, NAN, NULL), MF_BAD_ARGUMENT);
    MUST(mf_client_spin(client, 1e-4, &error));
    MUST(mf_client_pause(client, false, &error));
    assert_int_equal(steer(client, TURNS), 2 * TURNS);
    MUST(mf_client_statistics(client, true, &seen, &error));
    assert_int_equal(seen.tick, 2 * TURNS);
    assert_int_equal(seen.missed, 0);
    assert_int_equal(seen.late, 0);
    assert_int_equal(seen.lost, 0);
    assert_int_equal(seen.writes, TURNS);
    assert_true(seen.hash == hash_in_process(*state));
}

TEST(test_a_late_turn_is_reported_and_the_world_goes_on) {
    mf_ClientStatistics seen;
    AUTO_SERVED *served = start(*state, quads, running());
    mf_Client *late = join(served), *other = join(served);
    MUST(mf_client_events(other, 1u << MF_EVENT_LATE | 1u << MF_EVENT_LEFT, &error));
    MUST(mf_client_lock_step(late, true, 10 * MF_SECOND, 50 * MF_MILLISECOND, &error));
    const mf_ClientNews turn = await(late, MF_ANSWER_TURN);
    const mf_ClientNews told = await_event(other, MF_EVENT_LATE);
    assert_int_equal(told.value, 1); // the first connection
    assert_true(told.tick == turn.tick);
    const mf_ClientNews next = await(late, MF_ANSWER_TURN);
    assert_true(next.tick > turn.tick);
    // A command for the tick that is over: it acts, counts as late, and does not end this turn.
    MUST(mf_client_write(late, turn.tick, NULL, NULL, 0, true, &error));
    MUST(mf_client_statistics(late, false, &seen, &error));
    assert_int_equal(seen.late, 1);
    assert_true(seen.missed >= 1);
    mf_client_close(late);
    await_event(other, MF_EVENT_LEFT);
    mf_client_close(other);
}

TEST(test_a_slow_reader_loses_states_and_gets_notice) {
    mf_ClientEntry entries[32];
    mf_ClientStatistics before, after;
    mf_ClientNews news;
    AUTO_SERVED *served = start(*state, quads, running());
    AUTO_CLIENT *slow = join(served), *other = join(served);
    for (uint32_t i = 0; i < 32; i++)
        entries[i] = (mf_ClientEntry){mf_client_find(slow, NULL, "base.position"), 0, QUADS};
    MUST(mf_client_statistics(other, false, &before, &error));
    MUST(mf_client_subscribe(slow, 3, 0, entries, 32, &error));
    for (int i = 0; i < 500; i++) { // until the buffers of the system are full
        usleep(10000);
        MUST(mf_client_statistics(other, false, &after, &error));
        if (after.tick > before.tick + 20000)
            break;
    }
    uint64_t lost = 0, states = 0, first = 0, last = 0;
    MUST(mf_client_pause(other, true, &error));
    while (mf_client_receive(slow, 0.5, &news, NULL) == MF_OK) {
        assert_int_equal(news.kind, MF_ANSWER_STATE);
        first = states == 0 ? news.tick : first;
        last = news.tick;
        lost += news.lost;
        states++;
    }
    MUST(mf_client_statistics(slow, false, &after, &error));
    assert_true(after.lost > 0);
    assert_int_equal(after.states, states);
    // Every step is a state that came or one that it was told of, and the world rests at the last.
    assert_int_equal(states + lost, last - first + 1);
    assert_int_equal(last, after.tick);
}

TEST(test_services) {
    const char *model;
    size_t size;
    mf_ClientStatistics start_state, then, back;
    AUTO_SERVED *served = start(*state, quads, paused());
    AUTO_CLIENT *client = join(served);
    MUST_FAIL(mf_client_run_steps(client, 0, &error), MF_LIMIT, "");
    MUST(mf_client_statistics(client, true, &start_state, &error));
    assert_int_equal(start_state.flags, MF_SERVER_PAUSED);
    AUTO(end_memory) void *copy = snapshot_of(client, &size);
    MUST(mf_client_run_steps(client, 100, &error));
    MUST(mf_client_statistics(client, true, &then, &error));
    assert_int_equal(then.tick, 100);
    assert_true(then.hash != start_state.hash);
    MUST_FAIL(mf_client_restore(client, copy, size - 1, &error), MF_CORRUPT, "");
    MUST(mf_client_events(client, 1u << MF_EVENT_RESTORE | 1u << MF_EVENT_RESET, &error));
    MUST(mf_client_restore(client, copy, size, &error));
    await_event(client, MF_EVENT_RESTORE);
    MUST(mf_client_statistics(client, true, &back, &error));
    assert_true(back.hash == start_state.hash && back.tick == 0);
    MUST(mf_client_run_steps(client, 100, &error));
    MUST(mf_client_statistics(client, true, &back, &error));
    assert_true(back.hash == then.hash);
    MUST(mf_client_reset(client, 0, 5, 3, &error));
    assert_int_equal(await_event(client, MF_EVENT_RESET).value, 3);
    MUST_FAIL(mf_client_reset(client, 0, QUADS, 1, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_client_reset(client, 9, 0, 1, &error), MF_NOT_FOUND, "");
    MUST(mf_client_model(client, 0, &model, &size, &error));
    assert_true(size > 2 && model[0] == '{' && model[size - 1] == '}');
    AUTO(end_memory) char *description = strndup(model, size);
    assert_contains(description, "\"vehicle\":{\"quadrotor\":{\"mass\":0.752,");
    assert_contains(description, "\"world_gravity\":[0.0,0.0,-9.8");
    assert_contains(description, "\"servos\":null");
    MUST_FAIL(mf_client_model(client, 1, &model, &size, &error), MF_NOT_FOUND, "");
    MUST_FAIL(mf_client_switch(client, 0, 0, 1, MF_MOTION_RIGID, &error), MF_BAD_ARGUMENT, "");
    MUST(mf_client_pause(client, false, &error));
    MUST_FAIL(mf_client_run_steps(client, 1, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_client_set_speed(client, -1.0, &error), MF_BAD_ARGUMENT, "");
    MUST(mf_client_set_speed(client, 2.0, &error));
}

// Robots are put somewhere else, all of them or none, and a reset brings them back.
TEST(test_placing) {
    double poses[14] = {1, 2, 30, 1, 0, 0, 0, -5, 4, 40, 0, 0, 0, 2};
    mf_ClientNews news;
    AUTO_SERVED *served = start(*state, quads, paused());
    AUTO_CLIENT *client = join(served);
    const mf_ClientEntry entries[] = {{mf_client_find(client, NULL, "base.position"), 4, 2},
                                      {mf_client_find(client, NULL, "base.orientation"), 4, 2},
                                      {mf_client_find(client, NULL, "base.linear_velocity"), 4, 2}};
    const float *seen[3];
    MUST(mf_client_subscribe(client, 0, 0, entries, 3, &error));
    MUST(mf_client_run_steps(client, 50, &error));
    MUST_FAIL(mf_client_set_poses(client, 0, 4, 2, poses, &error), MF_BAD_ARGUMENT, "");
    poses[13] = 1.0;
    poses[1] = (double)__builtin_nan("");
    MUST_FAIL(mf_client_set_poses(client, 0, 4, 2, poses, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_client_set_poses(client, 0, QUADS - 1, 2, poses, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_client_set_poses(client, 1, 0, 1, poses, &error), MF_NOT_FOUND, "");
    poses[1] = 2.0;
    MUST(mf_client_set_poses(client, 0, 4, 2, poses, &error));
    MUST(mf_client_run_steps(client, 1, &error));
    do
        MUST(mf_client_receive(client, 20.0, &news, &error));
    while (news.kind != MF_ANSWER_STATE || news.tick < 51);
    for (uint32_t f = 0; f < 3; f++)
        seen[f] = mf_client_values(client, 0, f);
    for (uint32_t k = 0; k < 3; k++) { // one step of free fall later
        assert_true(fabs((double)seen[0][k] - poses[k]) < 0.002);
        assert_true(fabs((double)seen[0][3 + k] - poses[7 + k]) < 0.002);
        assert_true(fabs((double)seen[2][k]) < 0.11);
    }
    assert_true(seen[1][0] > 0.999f && seen[1][7] > 0.999f);
}

TEST(test_writes_are_checked) {
    float values[3] = {1, 2, 3};
    const void *list[] = {values};
    mf_ClientNews news;
    AUTO_SERVED *served = start(*state, quads, running());
    AUTO_CLIENT *client = join(served);
    mf_ClientEntry position = {mf_client_find(client, NULL, "base.position"), 0, 1};
    assert_int_equal(mf_client_field(client, position.field)->flags & MF_FIELD_WRITABLE, 0);
    MUST(mf_client_write(client, MF_PROTOCOL_ANY_TICK, &position, list, 1, false, &error));
    MUST_FAIL(mf_client_receive(client, 20.0, &news, &error), MF_BAD_ARGUMENT, "base.position");
    position.first = QUADS;
    MUST_FAIL(mf_client_write(client, MF_PROTOCOL_ANY_TICK, &position, list, 1, false, &error),
              MF_BAD_ARGUMENT, "");
}

// A command that is no number raises the fault of its robot alone, and those who listen are told.
TEST(test_faults_are_events) {
    static const char hexapods[] = "groups:\n"
                                   "- name: walkers\n"
                                   "  model: " MAYFLY_SOURCE_DIR "/models/hexapod.urdf\n"
                                   "  count: 3\n";
    float target[18] = {0.0f, (float)__builtin_nan("")};
    const void *list[] = {target};
    AUTO_SERVED *served = start(*state, hexapods, running());
    AUTO_CLIENT *client = join(served);
    const mf_ClientEntry entry = {mf_client_find(client, NULL, "joint.target"), 1, 1};
    assert_int_equal(mf_client_field(client, entry.field)->elements, 18);
    MUST(mf_client_events(client, 1u << MF_EVENT_FAULT, &error));
    MUST(mf_client_write(client, MF_PROTOCOL_ANY_TICK, &entry, list, 1, false, &error));
    const mf_ClientNews fault = await_event(client, MF_EVENT_FAULT);
    assert_int_equal(fault.instance, 1);
    assert_int_equal(fault.value, MF_FAULT_INPUT);
}

// What a client does not take is dropped, the oldest first, and counted.
TEST(test_lost_events_are_counted) {
    enum { KEPT = 256, MORE = 40 };
    mf_ClientStatistics seen;
    AUTO_SERVED *served = start(*state, quads, running());
    AUTO_CLIENT *client = join(served);
    MUST(mf_client_events(client, 1u << MF_EVENT_PAUSE, &error));
    for (uint32_t i = 0; i < KEPT + MORE; i++)
        MUST(mf_client_pause(client, i % 2 == 0, &error));
    MUST(mf_client_statistics(client, false, &seen, &error)); // behind all of them
    mf_ClientNews news = await_event(client, MF_EVENT_PAUSE);
    uint32_t lost = news.lost, taken = 1;
    assert_int_equal(lost, MORE);
    for (; taken < KEPT; taken++) {
        news = await_event(client, MF_EVENT_PAUSE);
        lost += news.lost;
    }
    assert_int_equal(lost, MORE);
    assert_int_equal(news.value, 0); // the last one
}

TEST(test_tokens_and_limits) {
    mf_Client *client, *more;
    AUTO_SERVED *served = start(
        *state, quads, WITH(mf_server_config(), .port = 0, .token = "s3cret", .connections = 1));
    const char *address = mf_server_address(served->server);
    MUST_FAIL(mf_client_connect(address, NULL, &client, &error), MF_BAD_ARGUMENT, "token");
    MUST_FAIL(mf_client_connect(address, "s3creT", &client, &error), MF_BAD_ARGUMENT, "");
    MUST(mf_client_connect(address, "s3cret", &client, &error));
    MUST_FAIL(mf_client_connect(address, "s3cret", &more, &error), MF_LIMIT, "");
    assert_null(more);
    finish(served);
    mf_ClientNews news = await(client, MF_ANSWER_BYE);
    assert_int_equal(news.kind, MF_ANSWER_BYE);
    assert_int_equal(served->sum.connections, 1);
    mf_client_close(client);
}

// Over the rate the client waits, and nothing is lost.
TEST(test_rates) {
    enum { WRITES = 60 };
    mf_ClientStatistics found;
    AUTO_SERVED *served = start(*state, quads, WITH(running(), .message_rate = 40.0));
    const double begun = seconds_now();
    mf_Client *client = join(served);
    MUST(mf_client_events(client, 1u << MF_EVENT_HELD, &error));
    for (int i = 0; i < WRITES; i++)
        MUST(mf_client_write(client, MF_PROTOCOL_ANY_TICK, NULL, NULL, 0, false, &error));
    MUST(mf_client_statistics(client, false, &found, &error));
    assert_int_equal(found.writes, WRITES);
    const double took = seconds_now() - begun; // 40 at once, then 24 at 40 a second
    assert_true(took > 0.55 && took < 20.0);
    assert_int_equal(await_event(client, MF_EVENT_HELD).value, 1);
    mf_client_close(client);
    finish(served);
    assert_true(served->sum.paused >= 5 && served->sum.lost == 0 && served->sum.refused == 0);

    AUTO_SERVED *again = start(*state, quads, WITH(running(), .byte_rate = 4000.0));
    const double second = seconds_now();
    client = join(again);
    for (int i = 0; i < 4 * WRITES; i++) // 24 bytes each
        MUST(mf_client_write(client, MF_PROTOCOL_ANY_TICK, NULL, NULL, 0, false, &error));
    MUST(mf_client_statistics(client, false, &found, &error));
    assert_int_equal(found.writes, 4 * WRITES);
    assert_true(seconds_now() - second > 0.3);
    mf_client_close(client);
    finish(again);
    assert_true(again->sum.paused >= 1);
}
