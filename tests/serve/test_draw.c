// Drawings and controls of clients: they belong to their connection, go on when robots join, end
// with it or with its world, and no bit of the world depends on them.
#include "serve/support.h"
#include "visual/draw.h"

GROUP_FIXTURE(setup_context, teardown_context);

// A page, in the server's thread: it moves the control at `slot` once.
typedef struct Visitor {
    Served *served;
    atomic_int slot; // -1: none
} Visitor;

static void visit(void *user) {
    Visitor *visitor = user;
    const int slot = atomic_exchange(&visitor->slot, -1);
    if (slot >= 0)
        assert_true(
            mf_control_move(mf_server_scene(visitor->served->server)->world, (uint32_t)slot, 0.25));
}

static const float path[6] = {0, 0, 0, 1, 2, 3};
static const mf_Drawing line = {.kind = MF_DRAW_LINES, .numbers = path, .count = 6};

// Names of the layers of the world that is served, which pauses meanwhile.
static uint32_t count_layers(const Served *served, mf_Client *client) {
    mf_DrawnLayer layer = {.serial = 0};
    uint32_t count = 0;
    mf_ClientStatistics statistics;
    MUST(mf_client_statistics(client, false, &statistics, &error)); // after what came before
    const mf_World *world = mf_server_scene(served->server)->world;
    while (mf_draw_next(world, layer.serial, &layer))
        count += layer.kind != MF_DRAW_CLEARED;
    return count;
}

TEST(test_layers_belong_to_their_connection) {
    AUTO_SERVED *served = start(*state, quads, paused());
    AUTO_CLIENT *client = join(served);
    mf_Client *other = join(served);
    MUST(mf_client_events(client, 1u << MF_EVENT_LEFT, &error));
    MUST(mf_client_draw(client, "path", &line, NULL, &error));
    MUST(mf_client_draw(client, "path", &line, &(mf_ClientCarrier){0, 36, 0}, &error));
    MUST(mf_client_draw(other, "path", &line, NULL, &error));
    MUST(mf_client_draw(other, "more", &line, NULL, &error));
    assert_int_equal(count_layers(served, client), 3);
    MUST(mf_client_clear(other, "path", &error));
    assert_int_equal(count_layers(served, client), 2);
    mf_client_close(other);
    await_event(client, MF_EVENT_LEFT);
    assert_int_equal(count_layers(served, client), 1);
    MUST(mf_client_clear(client, NULL, &error));
    assert_int_equal(count_layers(served, client), 0);
}

TEST(test_what_does_not_fit_is_refused_and_the_connection_lives) {
    AUTO_SERVED *served = start(*state, quads, paused());
    AUTO_CLIENT *client = join(served);
    MUST_FAIL(mf_client_draw(client, "path", &WITH(line, .count = 5), NULL, &error),
              MF_BAD_ARGUMENT, "3 for each point, found 5");
    MUST_FAIL(mf_client_draw(client, "path", &line, &(mf_ClientCarrier){1, 0, 0}, &error),
              MF_NOT_FOUND, "a group below 1");
    MUST_FAIL(mf_client_draw(client, "path", &line, &(mf_ClientCarrier){0, 37, 0}, &error),
              MF_NOT_FOUND, "37 robots");
    MUST_FAIL(mf_client_draw(client, "", &line, NULL, &error), MF_BAD_ARGUMENT, "a name");
    MUST_FAIL(mf_client_control(client, 64, &(mf_Control){.name = "x", .high = 1}, &error),
              MF_BAD_ARGUMENT, "CONTROL: expected number 0 .. 63");
    assert_int_equal(count_layers(served, client), 0);
}

TEST(test_a_moved_control_is_told_to_its_client) {
    Visitor visitor = {.slot = -1};
    AUTO_SERVED *served =
        start(*state, quads, WITH(running(), .visit = visit, .visitor = &visitor));
    visitor.served = served;
    AUTO_CLIENT *client = join(served), *other = join(served);
    const mf_Control slider = {.name = "gain", .unit = "m", .high = 1, .value = 0.5};
    mf_ClientNews news;
    MUST(mf_client_control(other, 7, &slider, &error));
    MUST(mf_client_control(client, 9, &slider, &error));
    atomic_store(&visitor.slot, 1);
    news = await(client, MF_ANSWER_CHANGED);
    assert_int_equal(news.control, 9);
    assert_true(news.control_value == 0.25);
    assert_int_equal(mf_client_receive(other, 0.05, &news, NULL), MF_STOPPED);
}

TEST(test_they_stay_when_robots_join) {
    static const double place[1][3] = {{5, 5, 0}};
    Visitor visitor = {.slot = -1};
    AUTO_SERVED *served = start(
        *state, quads,
        WITH(paused(), .files = MAYFLY_SOURCE_DIR "/models", .visit = visit, .visitor = &visitor));
    visitor.served = served;
    AUTO_CLIENT *client = join(served);
    const mf_Control slider = {.name = "gain", .high = 1};
    const mf_ClientSpawn robot = {.file = "ball.xml", .count = 1, .poses = place};
    mf_DrawnLayer layer;
    MUST(mf_client_control(client, 0, &slider, &error));
    MUST(mf_client_draw(client, "on a robot", &line, &(mf_ClientCarrier){0, 1, 0}, &error));
    MUST(mf_client_spawn(client, &robot, NULL, &error));
    assert_int_equal(count_layers(served, client), 1);
    const mf_World *world = mf_server_scene(served->server)->world;
    assert_true(mf_draw_next(world, 0, &layer));
    assert_ptr_equal(layer.group, mf_world_group((mf_World *)(uintptr_t)world, 0));
    // Another world has no layers of the last one; controls are their client's.
    MUST(mf_client_load(client, "ball.xml", &error));
    assert_int_equal(count_layers(served, client), 0);
    atomic_store(&visitor.slot, 0);
    assert_int_equal(await(client, MF_ANSWER_CHANGED).control, 0);
}

static uint64_t run(mf_Context *context, bool draws) {
    mf_ClientStatistics found;
    AUTO_SERVED *served = start(context, quads, paused());
    AUTO_CLIENT *client = join(served);
    for (int i = 0; i < 20; i++) {
        if (draws)
            MUST(mf_client_draw(client, i % 2 ? "odd" : "even", &line, NULL, &error));
        MUST(mf_client_run_steps(client, 3, &error));
    }
    MUST(mf_client_statistics(client, true, &found, &error));
    return found.hash;
}

TEST(test_no_bit_of_the_world_depends_on_them) {
    assert_true(run(*state, true) == run(*state, false));
}
