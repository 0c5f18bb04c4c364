// The C client's calls for properties, docks and what is known about a world: as in process, and
// what is refused.
#include "serve/support.h"

GROUP_FIXTURE(setup_context, teardown_context);

static const char modules[] = "world: {step: 0.002, seed: 7}\n"
                              "groups:\n"
                              "- name: modules\n"
                              "  model: " MAYFLY_SOURCE_DIR "/models/modules/pitch.urdf\n"
                              "  count: 3\n"
                              "  placement: {line: {distance: 0.4}}\n"
                              "- name: walker\n"
                              "  model: " MAYFLY_SOURCE_DIR "/models/humanoid.urdf\n"
                              "  gaits: [walk, stand]\n"
                              "  placement: {poses: [[3, 3, 0]]}\n";

TEST(test_values_by_path) {
    AUTO_SERVED *served = start(*state, modules, paused());
    AUTO_CLIENT *client = join(served);
    mf_ClientProperty found;
    MUST(mf_client_property(client, 5, "modules[*]/base.position", &found, &error));
    assert_int_equal(found.count, 3);
    assert_int_equal(found.values, 9);
    assert_string_equal(found.unit, "m");
    assert_null(found.locked);
    assert_false(found.is_rotation);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(found.parts[i].group, 0);
        assert_int_equal(found.parts[i].instance, i);
        assert_int_equal(found.parts[i].count, 3);
        assert_int_equal(found.parts[i].field, mf_client_find(client, "modules", "base.position"));
        assert_true(found.parts[i].moves);
    }
    double values[9] = {0}, back[9] = {0};
    uint32_t count = 0;
    MUST(mf_client_get(client, 5, values, 4, &count, &error)); // the first ones
    assert_int_equal(count, 9);
    assert_true(values[4] == 0.0);
    MUST(mf_client_get(client, 5, values, 9, NULL, &error));
    assert_true(values[1] != values[4]);
    // The second and third robot, and one value of the first.
    const double far_away[] = {5.0, 6.0, 7.0, 8.0, 9.0, 10.0}, high = 2.5;
    const mf_ClientValues entries[] = {{5, 3, 6, far_away}, {5, 2, 1, &high}};
    MUST(mf_client_set(client, entries, 2, &error));
    MUST(mf_client_get(client, 5, back, 9, &count, &error));
    assert_memory_equal(back, values, 2 * sizeof *back);
    assert_true(back[2] == 2.5);
    assert_memory_equal(back + 3, far_away, sizeof far_away);
    const mf_Field *position = mf_group_find_field(served->scene->group, "base.position");
    assert_true(mf_field_get(position, 2, 1) == 9.0); // nothing moves
    MUST(mf_client_property(client, 6, "modules[1]/base.orientation", &found, &error));
    assert_true(found.is_rotation);
}

TEST(test_what_is_refused) {
    const double one = 1.0;
    mf_ClientProperty found;
    uint32_t count;
    AUTO_SERVED *served = start(*state, modules, paused());
    AUTO_CLIENT *client = join(served);
    MUST_FAIL(mf_client_property(client, 0, "modules[0]/base.postion", &found, &error),
              MF_NOT_FOUND, "base.position"); // is proposed
    MUST_FAIL(mf_client_property(client, MF_PROTOCOL_PROPERTIES, "modules[0]/base.position", NULL,
                                 &error),
              MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_client_property(client, 0, "", NULL, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_client_get(client, 9, NULL, 0, &count, &error), MF_NOT_FOUND, "");
    mf_ClientValues entry = {9, 0, 1, &one};
    MUST_FAIL(mf_client_set(client, &entry, 1, &error), MF_NOT_FOUND, "");
    MUST(mf_client_property(client, 9, "modules[0]/base.position.z", &found, &error));
    entry.first = 1;
    MUST_FAIL(mf_client_set(client, &entry, 1, &error), MF_BAD_ARGUMENT, "");
    entry.values = NULL;
    MUST_FAIL(mf_client_set(client, &entry, 1, &error), MF_BAD_ARGUMENT, "");
    // What cannot be written says why, before and when it is tried.
    MUST(mf_client_property(client, 9, "modules[0]/mass", &found, &error));
    assert_string_equal(found.locked, "a constant of the model");
    assert_int_equal(found.parts[0].field, UINT32_MAX);
    entry = (mf_ClientValues){9, 0, 1, &one};
    assert_int_not_equal(mf_client_set(client, &entry, 1, NULL), MF_OK);
    // Numbers end with the world.
    const double poses[1][3] = {{9.0, 9.0, 0.0}};
    const mf_ClientSpawn spawn = {.group = "modules", .count = 1, .poses = poses};
    MUST(mf_client_spawn(client, &spawn, NULL, &error));
    MUST_FAIL(mf_client_get(client, 9, NULL, 0, &count, &error), MF_NOT_FOUND, "");
    MUST_FAIL(mf_client_property(NULL, 0, "a", NULL, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_client_get(NULL, 0, NULL, 0, NULL, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_client_set(NULL, NULL, 0, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_client_about(client, NULL, &error), MF_BAD_ARGUMENT, "");
}

TEST(test_what_is_known) {
    AUTO_SERVED *served = start(*state, modules, paused());
    AUTO_CLIENT *client = join(served);
    mf_ClientAbout about;
    MUST(mf_client_about(client, &about, &error));
    assert_int_equal(about.seed, 7);
    assert_int_equal(about.faults, 0);
    assert_int_equal(about.group_count, 2);
    assert_int_equal(about.groups[0].gait_count, 0);
    const mf_Model *model = mf_group_model(served->scene->group);
    assert_int_equal(about.groups[0].dock_count, model->dock_count);
    for (uint32_t i = 0; i < model->dock_count; i++)
        assert_string_equal(about.groups[0].docks[i], model->docks[i].name);
    assert_int_equal(about.groups[1].gait_count, 2);
    assert_string_equal(about.groups[1].gaits[0], "walk");
    assert_string_equal(about.groups[1].gaits[1], "stand");
    assert_int_equal(about.groups[1].dock_count, 0);
}

static uint32_t dock_number(const mf_ClientAbout *about, const char *name) {
    uint32_t dock = 0;
    while (strcmp(about->groups[0].docks[dock], name) != 0)
        assert_true(++dock < about->groups[0].dock_count);
    return dock;
}

TEST(test_docks_are_joined_and_parted) {
    AUTO_SERVED *served = start(*state, modules, paused());
    AUTO_CLIENT *client = join(served);
    mf_ClientAbout about;
    MUST(mf_client_events(client, 1u << MF_EVENT_DOCK, &error));
    MUST(mf_client_about(client, &about, &error));
    const mf_ClientDock back = {0, 0, dock_number(&about, "back")},
                        front = {0, 1, dock_number(&about, "front")};
    MUST_FAIL(mf_client_undock(client, &back, &error), MF_NOT_FOUND, "");
    MUST(mf_client_dock(client, &back, &front, 0, &error));
    MUST_FAIL(mf_client_dock(client, &back, &front, 0, &error), MF_BAD_ARGUMENT, "");
    MUST(mf_client_run_steps(client, 1, &error));
    mf_ClientNews news;
    MUST(mf_client_receive(client, 20.0, &news, &error));
    assert_int_equal(news.event, MF_EVENT_DOCK);
    MUST(mf_client_undock(client, &back, &error));
    MUST_FAIL(mf_client_dock(client, NULL, &front, 0, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_client_undock(client, NULL, &error), MF_BAD_ARGUMENT, "");
}
