// One controller as a plugin (examples/plugins/pd.c), as a script and as a program in lock-step
// gives the same bits.
#include "serve/support.h"

GROUP_FIXTURE(make_context, drop_context);

enum { ROBOTS = 20, JOINTS_MOST = 64, TURNS = 60, PERIOD_MS = 20, STEPS = 10 /* of a turn */ };

#define SCENE                                                                                      \
    "world: {step: 0.002}\n"                                                                       \
    "groups:\n"                                                                                    \
    "- name: robots\n"                                                                             \
    "  model: " MAYFLY_SOURCE_DIR "/models/hexapod.urdf\n"                                         \
    "  motion: articulated\n"                                                                      \
    "  count: 20\n"                                                                                \
    "  control_interval: 0.02\n"                                                                   \
    "  controller: none\n"                                                                         \
    "  placement: {grid: {spacing: [1, 1, 1]}}\n"

static const char with_plugin[] =
    SCENE "  plugins:\n"
          "  - {file: " MAYFLY_BINARY_DIR "/plugins/plugin_pd.so, tick: 0.02,\n"
          "     settings: {reference: 0.3, gain: 0.7, damping: 0.015}}\n";

static const char with_script[] =
    SCENE "scripts:\n"
          "- name: pd\n"
          "  tick: 0.02\n"
          "  text: |\n"
          "    local angle = world:property('robots[*]/*/joint.angle')\n"
          "    local rate = world:property('robots[*]/*/joint.rate')\n"
          "    local target = world:property('robots[*]/*/joint.target')\n"
          "    local joints = #angle // world:count('robots')\n"
          "    function tick()\n"
          "      for i = 1, #angle do\n"
          "        local missing = 0.3 / (1 + (i - 1) % joints) - angle[i]\n"
          "        target[i] = angle[i] + 0.7 * missing - 0.015 * rate[i]\n"
          "      end\n"
          "    end\n";

static uint64_t end_of(mf_Scene *scene) {
    const uint64_t hash = mf_world_hash(scene->world);
    assert_int_equal(mf_group_fault_total(scene->group), 0);
    mf_scene_close(scene);
    return hash;
}

static uint64_t hash_of_scene(mf_Context *context, const char *text) {
    mf_plugins_allow(context, true);
    mf_Scene *scene = open_scene(context, text);
    mf_world_step(scene->world, TURNS * STEPS);
    MUST(mf_scene_scripts_status(scene, &error));
    return end_of(scene);
}

static void control(mf_Client *client, uint32_t joints, float *target) {
    const float *angle = mf_client_values(client, 0, 0), *rate = mf_client_values(client, 0, 1);
    for (uint32_t i = 0; i < ROBOTS; i++)
        for (uint32_t j = 0; j < joints; j++) {
            const uint32_t k = i * joints + j;
            const double missing = 0.3 / (1.0 + j) - (double)angle[k];
            target[k] = (float)((double)angle[k] + 0.7 * missing - 0.015 * (double)rate[k]);
        }
}

static uint64_t hash_of_client(mf_Context *context) {
    static float target[ROBOTS * JOINTS_MOST];
    const void *values[] = {target};
    mf_ClientStatistics seen;
    // Paused, so that nothing moves before the turn.
    AUTO_SERVED *served = start(context, SCENE, paused());
    mf_Client *client = join(served);
    const mf_ClientEntry state[] = {
        {mf_client_find(client, "robots", "joint.angle"), 0, MF_PROTOCOL_ALL},
        {mf_client_find(client, "robots", "joint.rate"), 0, MF_PROTOCOL_ALL}};
    const mf_ClientEntry command = {mf_client_find(client, "robots", "joint.target"), 0, ROBOTS};
    const uint32_t joints = mf_client_field(client, command.field)->elements;
    assert_in_range(joints, 1, JOINTS_MOST);
    MUST(mf_client_subscribe(client, 0, PERIOD_MS * MF_MILLISECOND, state, 2, &error));
    MUST(mf_client_lock_step(client, true, PERIOD_MS * MF_MILLISECOND, 20 * MF_SECOND, &error));
    MUST(mf_client_pause(client, false, &error));
    for (int orientation = 0; orientation <= TURNS; orientation++) {
        const mf_ClientNews news = await(client, MF_ANSWER_TURN);
        assert_int_equal(news.tick, orientation * STEPS);
        if (orientation == TURNS)
            break;
        control(client, joints, target);
        MUST(mf_client_write(client, news.tick, &command, values, 1, true, &error));
    }
    MUST(mf_client_statistics(client, true, &seen, &error));
    assert_int_equal(seen.missed, 0);
    mf_client_close(client);
    return seen.hash;
}

TEST(test_the_same_controller_everywhere) {
    const uint64_t plugin = hash_of_scene(*state, with_plugin);
    assert_true(plugin != hash_of_scene(*state, SCENE)); // it does something
    assert_true(hash_of_client(*state) == plugin);
    assert_true(hash_of_scene(*state, with_script) == plugin);
}
