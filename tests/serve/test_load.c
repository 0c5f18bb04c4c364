// The services LOAD, SPAWN and WORLD: another world is served, robots join it, everybody is
// notified, and whatever fails leaves the world as it was. Files are those below a folder, and no
// others.
#include "serve/support.h"

#define FAR 400.0 // [m]

static const double poses[2][3] = {{FAR, 0.0, 0.0}, {FAR, 20.0, 1.0}};

// A folder with two scenes, a robot, and a link out of it.
static char folder[64];

static void put_file(const char *name, const char *text) {
    file_put_text(formatted("%s/%s", folder, name), text);
}

static void put_quad(void) {
    AUTO(end_memory) char *text = file_get(MAYFLY_SOURCE_DIR "/models/sun2022.yaml", NULL);
    put_file("quad.yaml", text);
}

static int make_folder(void **state) {
    snprintf(folder, sizeof folder, "/tmp/mayfly-load-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    put_file("boxes.yaml", "name: Boxes\nworld: {step: 0.005}\ngroups:\n- name: boxes\n  model: " //
             MAYFLY_SOURCE_DIR "/models/resting_box.xml\n  count: 2\n");
    put_file("bad.yaml", "groups:\n- name: none\n  count: -1\n");
    put_file("fails.lua", "function tick(time) error('no luck') end\n");
    put_file("stops.lua", "function tick(time) if time > 0.02 then world:stop('far') end end\n");
    for (int i = 0; i < 2; i++)
        put_file(i == 0 ? "fails.yaml" : "stops.yaml",
                 formatted("groups:\n- name: boxes\n  model: " MAYFLY_SOURCE_DIR
                           "/models/resting_box.xml\nscripts:\n- name: ending\n  file: %s\n",
                           i == 0 ? "fails.lua" : "stops.lua"));
    put_quad();
    const char *path = formatted("%s/out", folder);
    return symlink("/etc/hostname", path) == 0 ? setup_context(state) : -1;
}

static int drop_folder(void **state) {
    static const char *const names[] = {"boxes.yaml", "bad.yaml",  "quad.yaml",  "out",
                                        "fails.lua",  "stops.lua", "fails.yaml", "stops.yaml"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        unlink(formatted("%s/%s", folder, names[i]));
    }
    rmdir(folder);
    return teardown_context(state);
}

static mf_ServerConfig config_with(const char *files) {
    return WITH(paused(), .files = files);
}

static uint64_t hash_of(mf_Client *client) {
    mf_ClientStatistics seen;
    MUST(mf_client_statistics(client, true, &seen, &error));
    return seen.hash;
}

// ---- SPAWN -------------------------------------------------------------------------------------

static const mf_ClientSpawn two_quads = {
    .group = "quads", .count = 2, .poses = poses, .height = 20.0};

// The positions of the first group after some steps, with and without robots that join far away.
static void run_quads(mf_Context *context, bool joins, float out[37][3]) {
    AUTO_SERVED *served = start(context, quads, config_with(NULL));
    AUTO_CLIENT *client = join(served);
    const mf_ClientEntry position = {mf_client_find(client, "quads", "base.position"), 0,
                                     MF_PROTOCOL_ALL};
    uint32_t number = 0;
    MUST(mf_client_subscribe(client, 3, 0, &position, 1, &error));
    MUST(mf_client_run_steps(client, 30, &error));
    if (joins) {
        MUST(mf_client_spawn(client, &two_quads, &number, &error));
        assert_int_equal(number, 1);
        const mf_ClientField *field =
            mf_client_field(client, mf_client_find(client, "quads-2", "base.position"));
        assert_non_null(field);
        assert_int_equal(field->group_number, 1);
        assert_int_equal(field->instances, 2);
        assert_int_equal(mf_client_find(client, NULL, "base.position"), position.field);
    }
    MUST(mf_client_run_steps(client, 100, &error));
    mf_ClientNews news;
    while (mf_client_receive(client, 0.2, &news, NULL) == MF_OK)
        assert_true(news.kind == MF_ANSWER_STATE || news.event == MF_EVENT_WORLD);
    memcpy(out, mf_client_values(client, 3, 0), 37 * sizeof *out); // it still comes
}

GROUP_FIXTURE(make_folder, drop_folder);

TEST(test_robots_join_and_the_others_go_on) {
    float with[37][3], without[37][3];
    run_quads(*state, true, with);
    run_quads(*state, false, without);
    assert_memory_equal(with, without, sizeof with);
}

TEST(test_everybody_is_notified) {
    AUTO_SERVED *served = start(*state, quads, config_with(folder));
    AUTO_CLIENT *client = join(served), *other = join(served);
    const uint32_t fields = mf_client_field_count(client);
    const uint32_t goal = mf_client_find(other, NULL, "command.position");
    MUST(mf_client_spawn(client, &two_quads, NULL, &error));
    mf_ClientNews told = await(other, MF_ANSWER_EVENT); // without asking for it
    assert_int_equal(told.event, MF_EVENT_WORLD);
    assert_int_equal(told.group, 2);
    assert_int_equal(told.instance, mf_client_field_count(client));
    assert_true(told.instance > fields);
    assert_int_equal(told.value, MF_WORLD_JOINED);
    // Its numbers hold.
    const float to[3] = {1.0f, 2.0f, 3.0f};
    const void *values[] = {to};
    const mf_ClientEntry one = {goal, 5, 1};
    MUST(mf_client_write(other, MF_PROTOCOL_ANY_TICK, &one, values, 1, false, &error));
    MUST(mf_client_subscribe(other, 0, 0, &one, 1, &error));
    await(other, MF_ANSWER_STATE);
    assert_memory_equal(mf_client_values(other, 0, 0), to, sizeof to);
    // Another world: nothing by number before the next list.
    MUST(mf_client_load(client, "boxes.yaml", &error));
    assert_string_equal(mf_client_title(client), "Boxes");
    assert_int_equal(mf_client_step_time(client), 5 * MF_MILLISECOND);
    assert_int_equal(mf_client_find(client, "quads", "base.position"), UINT32_MAX);
    told = await(other, MF_ANSWER_EVENT);
    assert_int_equal(told.value, MF_WORLD_LOADED);
    assert_int_equal(told.group, 1);
    assert_int_equal(told.time, 0);
    MUST(mf_client_write(other, MF_PROTOCOL_ANY_TICK, &one, values, 1, false, &error));
    mf_ClientNews news;
    MUST_FAIL(mf_client_receive(other, 20.0, &news, &error), MF_VERSION, "ask for LIST first");
    MUST_FAIL(mf_client_subscribe(other, 0, 0, &one, 1, &error), MF_VERSION, "ask for LIST first");
    MUST(mf_client_refresh(other, &error));
    const mf_ClientEntry box = {mf_client_find(other, "boxes", "base.position"), 0, 2};
    MUST(mf_client_subscribe(other, 0, 0, &box, 1, &error));
    MUST(mf_client_run_steps(client, 7, &error));
    do
        news = await(other, MF_ANSWER_STATE);
    while (news.tick < 7);
    assert_int_equal(news.tick, 7); // of the new world alone
}

// A controller in lock-step goes on when robots join, and has the turn again in another world.
TEST(test_lock_step_survives) {
    AUTO_SERVED *served = start(*state, quads, config_with(folder));
    AUTO_CLIENT *leader = join(served), *other = join(served);
    MUST(mf_client_lock_step(leader, true, 20 * MF_MILLISECOND, 20 * MF_SECOND, &error));
    MUST(mf_client_pause(leader, false, &error));
    mf_ClientNews turn = await(leader, MF_ANSWER_TURN);
    MUST(mf_client_spawn(other, &two_quads, NULL, &error));
    MUST(mf_client_write(leader, turn.tick, NULL, NULL, 0, true, &error));
    const mf_ClientNews next = await(leader, MF_ANSWER_TURN);
    assert_int_equal(next.tick, turn.tick + 2);
    MUST(mf_client_load(other, "boxes.yaml", &error));
    turn = await(leader, MF_ANSWER_TURN);
    assert_int_equal(turn.tick, 0);
    MUST(mf_client_write(leader, turn.tick, NULL, NULL, 0, true, &error));
    assert_int_equal(await(leader, MF_ANSWER_TURN).tick, 4);
    mf_ClientStatistics seen;
    MUST(mf_client_statistics(leader, false, &seen, &error));
    assert_int_equal(seen.missed, 0);
}

// ---- LOAD --------------------------------------------------------------------------------------

static void load_scene_text(mf_Client *client, const char *text, mf_Status expected,
                            const char *reason) {
    const uint64_t hash = hash_of(client);
    MUST_FAIL(mf_client_load_scene(client, text, strlen(text), &error), expected, reason);
    assert_true(hash_of(client) == hash);
}

TEST(test_scenes_of_a_message) {
    AUTO_SERVED *served = start(*state, quads, config_with(folder));
    AUTO_CLIENT *client = join(served);
    load_scene_text(client, "groups: [", MF_BAD_ARGUMENT, "sent.yaml");
    load_scene_text(client, "groups: [{name: a, model: " MAYFLY_SOURCE_DIR "/models/ball.xml}]",
                    MF_NOT_FOUND, "below the folder");
    load_scene_text(client, "groups: [{name: a, model: ../ball.xml}]", MF_NOT_FOUND,
                    "below the folder");
    load_scene_text(client, "groups: [{name: a, model: out}]", MF_NOT_FOUND, "below the folder");
    load_scene_text(client, "ground: {file: /etc/hostname}\ngroups: [{name: a, model: boxes.yaml}]",
                    MF_BAD_ARGUMENT, "boxes.yaml");
    load_scene_text(client, "groups: [{name: a, model: quad.yaml, count: 2000000}]", MF_LIMIT,
                    "robots");
    const char *text = "name: Sent\ngroups: [{name: few, model: quad.yaml, count: 3}]";
    MUST(mf_client_load_scene(client, text, strlen(text), &error));
    assert_string_equal(mf_client_title(client), "Sent");
    MUST(mf_client_run_steps(client, 5, &error));
    // Robots join it under the same guard.
    const mf_ClientSpawn more = {.file = "quad.yaml", .count = 1, .poses = poses, .name = "more"};
    MUST(mf_client_spawn(client, &more, NULL, &error));
    assert_true(mf_client_find(client, "more", "base.position") != UINT32_MAX);
    MUST(mf_client_run_steps(client, 5, &error));
    // After it, files of the folder may again name others.
    MUST(mf_client_load(client, "boxes.yaml", &error));
}

TEST(test_what_is_refused) {
    static const struct {
        const char *path;
        mf_Status status;
        const char *reason;
    } cases[] = {{"/etc/hostname", MF_BAD_ARGUMENT, "below the server's folder"},
                 {"../x.yaml", MF_BAD_ARGUMENT, "without .."},
                 {"a/../boxes.yaml", MF_BAD_ARGUMENT, "without .."},
                 {"a\nb", MF_BAD_ARGUMENT, "below the server's folder"},
                 {"nothing.yaml", MF_NOT_FOUND, "no file nothing.yaml"},
                 {"out", MF_NOT_FOUND, "no file out"},
                 {".", MF_NOT_FOUND, "no file ."},
                 {"bad.yaml", MF_BAD_ARGUMENT, "bad.yaml:"}};
    AUTO_SERVED *served = start(*state, quads, config_with(folder));
    AUTO_CLIENT *client = join(served);
    size_t size;
    MUST(mf_client_run_steps(client, 3, &error));
    const uint64_t hash = hash_of(client);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const mf_ClientSpawn spawn = {.file = cases[i].path, .count = 2, .poses = poses};
        MUST_FAIL(mf_client_load(client, cases[i].path, &error), cases[i].status, cases[i].reason);
        assert_int_not_equal(mf_client_spawn(client, &spawn, NULL, NULL), MF_OK);
    }
    mf_ClientSpawn spawn = WITH(two_quads, .group = "nobody");
    MUST_FAIL(mf_client_spawn(client, &spawn, NULL, &error), MF_NOT_FOUND, "no group nobody");
    spawn.group = spawn.name = "quads";
    MUST_FAIL(mf_client_spawn(client, &spawn, NULL, &error), MF_BAD_ARGUMENT,
              "a name that no group");
    spawn.count = 0;
    MUST_FAIL(mf_client_spawn(client, &spawn, NULL, &error), MF_LIMIT, "1 .. 65536 robots");
    assert_true(hash_of(client) == hash);
    // A snapshot is of its world.
    AUTO(end_memory) void *kept = snapshot_of(client, &size);
    MUST(mf_client_spawn(client, &two_quads, NULL, &error));
    MUST_FAIL(mf_client_restore(client, kept, size, &error), MF_BAD_ARGUMENT,
              "snapshot: made by a");
}

static mf_Status say_no(void *user, mf_Scene *scene, bool loaded, mf_Error *error) {
    (void)scene;
    return mf_fail(error, MF_UNSUPPORTED, "no %s", loaded ? "load" : "spawn");
}

static mf_Status take_sample(void *sampled, mf_Error *error) {
    (void)sampled;
    return MF_OK;
}

TEST(test_servers_that_keep_their_world) {
    AUTO_SERVED *without = start(*state, quads, config_with(NULL));
    AUTO_CLIENT *client = join(without);
    MUST_FAIL(mf_client_load(client, "boxes.yaml", &error), MF_UNSUPPORTED, "gives no files");
    load_scene_text(client, "groups: []", MF_UNSUPPORTED, "gives no files");
    for (int recorded = 0; recorded < 2; recorded++) {
        AUTO_SERVED *served =
            start(*state, quads,
                  WITH(config_with(folder), .accept = say_no,
                       .sample = recorded ? take_sample : NULL, .sample_steps = recorded));
        AUTO_CLIENT *other = join(served);
        const uint64_t hash = hash_of(other);
        MUST_FAIL(mf_client_load(other, "boxes.yaml", &error), MF_UNSUPPORTED,
                  recorded ? "recorded" : "no load");
        MUST_FAIL(mf_client_spawn(other, &two_quads, NULL, &error), MF_UNSUPPORTED,
                  recorded ? "recorded" : "no spawn");
        assert_true(hash_of(other) == hash);
    }
}

static mf_Status start_scripts(void *user, mf_Scene *scene, bool loaded, mf_Error *error) {
    (void)user, (void)loaded;
    return mf_scene_start_scripts(scene, error);
}

// Its end is not the server's: clients are notified, and load another one.
TEST(test_loaded_worlds_that_end) {
    AUTO_SERVED *served = start(*state, quads, WITH(config_with(folder), .accept = start_scripts));
    AUTO_CLIENT *client = join(served), *other = join(served);
    for (int i = 0; i < 4; i++) {
        const char *why = i % 2 == 0 ? "fails.lua:1" : "far";
        MUST(mf_client_load(client, i % 2 == 0 ? "fails.yaml" : "stops.yaml", &error));
        assert_int_equal(await(other, MF_ANSWER_EVENT).event, MF_EVENT_WORLD);
        if (i < 2) // while steps are asked for
            MUST_FAIL(mf_client_run_steps(client, 100, &error), MF_STOPPED, why);
        else // while it runs
            MUST(mf_client_pause(client, false, &error));
        assert_int_equal(await(other, MF_ANSWER_EVENT).event, MF_EVENT_END);
        const uint64_t hash = hash_of(client);
        MUST_FAIL(mf_client_run_steps(client, 1, &error), MF_STOPPED, why);
        MUST_FAIL(mf_client_pause(client, false, &error), MF_STOPPED, "load another one");
        assert_true(hash_of(client) == hash);
    }
    MUST(mf_client_load(client, "boxes.yaml", &error));
    MUST(mf_client_run_steps(client, 5, &error));
}

// Out of memory at every call that a SPAWN and a LOAD make: the world stays.
TEST(test_no_memory) {
    AUTO_SERVED *served = start(*state, quads, config_with(folder));
    AUTO_CLIENT *client = join(served);
    MUST(mf_client_events(client, 1u << MF_EVENT_FAULT | 1u << MF_EVENT_FALL, &error));
    const uint64_t hash = hash_of(client);
    bool spawned = false, loaded = false;
    for (uint64_t n = 1; n < 5000 && !spawned; n += 1 + n / 20) {
        mf_Error error = {0};
        mf_context_fail_after(*state, n);
        spawned = mf_client_spawn(client, &two_quads, NULL, &error) == MF_OK;
        mf_context_fail_after(*state, 0);
        if (spawned)
            break;
        assert_true(error.message[0] != '\0');
        assert_true(hash_of(client) == hash);
    }
    assert_true(spawned);
    const uint64_t now = hash_of(client);
    for (uint64_t n = 1; n < 5000 && !loaded; n += 1 + n / 20) {
        mf_context_fail_after(*state, n);
        loaded = mf_client_load(client, "boxes.yaml", NULL) == MF_OK;
        mf_context_fail_after(*state, 0);
        if (!loaded)
            assert_true(hash_of(client) == now);
    }
    assert_true(loaded);
    MUST(mf_client_run_steps(client, 5, &error));
}
