// Plugins: a correct one works; each of a corpus of defective ones is rejected with one line of
// error, or its fault is contained in the robots of the call.
#include "control/robot.h"

#include <sys/stat.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

enum { COUNT = 37 }; // the last block is not full

static const char *case_path(const char *name) {
    return formatted("%s/plugins/%s.so", MAYFLY_BINARY_DIR, name);
}

static mf_Plugin *load(mf_Context *context, const char *name) {
    mf_Plugin *plugin = NULL;
    MUST(mf_plugin_load(context, case_path(name), &plugin, &error));
    return plugin;
}

static void one_line(const mf_Error *error, mf_Status status, const char *text) {
    if (error->status != status || strstr(error->message, text) == NULL ||
        strchr(error->message, '\n') != NULL || error->file[0] == '\0')
        fail_msg("found \"%s: %s\" (%s), expected one with \"%s\" (%s)", error->file,
                 error->message, mf_status_name(error->status), text, mf_status_name(status));
}

// ---- a correct plugin --------------------------------------------------------------------------

TEST(a_controller_works_at_its_rate) {
    for (int wide = 0; wide < 2; wide++) {
        AUTO_FIXTURE fixture = fixture_open(MF_ISA_AUTO, wide != 0, COUNT);
        mf_Plugin *plugin = load(fixture.context, "plugin_case_good");
        const mf_PluginValue value = {"target", 0.25};
        MUST(mf_plugin_control_add(fixture.group, mf_rate_from_period(20 * MF_MILLISECOND), plugin,
                                   &WITH(mf_plugin_config(), .values = &value, .value_count = 1),
                                   &error));
        mf_plugin_close(plugin); // the group keeps it loaded
        fixture_set(&fixture, "fault.word", 3, 0, MF_FAULT_RANGE);
        mf_world_step(fixture.world, 9); // 0, 20, 40, 60, 80 ms
        for (uint32_t i = 0; i < COUNT; i++) {
            assert_near(fixture_get(&fixture, "corpus.count", i, 0), i == 3 ? 0 : 5, 0);
            assert_near(fixture_get(&fixture, "joint.target", i, 0), i == 3 ? 0 : 0.25 + 0.004,
                        1e-7);
        }
        assert_int_equal(mf_group_fault_total(fixture.group), 1);
        mf_group_reset(fixture.group, 7);
        assert_near(fixture_get(&fixture, "corpus.count", 7, 0), 0, 0);
    }
}

TEST(snapshots_contain_its_memory) {
    AUTO_FIXTURE fixture = fixture_open(MF_ISA_AUTO, false, COUNT);
    AUTO_PLUGIN *plugin = load(fixture.context, "plugin_case_good");
    MUST(mf_plugin_control_add(fixture.group, fixture_every_step(), plugin, NULL, &error));
    mf_world_step(fixture.world, 5);
    size_t size = mf_world_snapshot_size(fixture.world);
    void *image = mf_allocate(fixture.context, size, 1);
    MUST(mf_world_snapshot(fixture.world, image, size, &error));
    mf_world_step(fixture.world, 5);
    uint64_t hash = mf_world_hash(fixture.world);
    MUST(mf_world_restore(fixture.world, image, size, &error));
    mf_world_step(fixture.world, 5);
    assert_true(mf_world_hash(fixture.world) == hash);

    // The same plugin with another setting is another world.
    Fixture other = fixture_open_on(fixture.context, MF_ISA_AUTO, false, COUNT, NULL);
    const mf_PluginValue value = {"target", 0.5};
    MUST(mf_plugin_control_add(other.group, fixture_every_step(), plugin,
                               &WITH(mf_plugin_config(), .values = &value, .value_count = 1),
                               &error));
    assert_int_equal(mf_world_restore(other.world, image, size, NULL), MF_BAD_ARGUMENT);
    mf_world_destroy(other.world);
    free(other.robot);
    mf_release(fixture.context, image);
}

static uint64_t hash_with(uint32_t threads, const char *name) {
    AUTO_FIXTURE fixture = fixture_open_on(open_context(threads), MF_ISA_AUTO, false, 200, NULL);
    AUTO_PLUGIN *plugin = load(fixture.context, name);
    MUST(mf_plugin_control_add(fixture.group, fixture_every_step(), plugin, NULL, &error));
    mf_world_step(fixture.world, 20);
    uint64_t hash = mf_world_hash(fixture.world);
    mf_PluginStatistics seen = mf_plugin_statistics(plugin);
    assert_int_equal(seen.calls, 13 * 20);
    return hash;
}

TEST(threads_give_the_same_bits) {
    uint64_t hash = hash_with(1, "plugin_case_good");
    assert_true(hash_with(2, "plugin_case_good") == hash);
    assert_true(hash_with(4, "plugin_case_good") == hash);
}

// ---- rejected before any call -------------------------------------------------------------------

TEST(a_bad_entry_is_refused) {
    static const struct {
        const char *name;
        mf_Status status;
        const char *text;
    } cases[] = {
        {"magic", MF_VERSION, "magic 0000000000000001"},
        {"old_abi", MF_VERSION, "made for plugin ABI 0.0, this is 1.0"},
        {"new_abi", MF_VERSION, "made for plugin ABI 1.1, this is 1.0"},
        {"entry_size", MF_VERSION, "its mf_PluginEntry has"},
        {"view_size", MF_VERSION, "its mf_PluginView has"},
        {"layout", MF_VERSION, "compile it with the headers of this version"},
        {"missing_symbol", MF_BAD_FILE, "it has no symbol mf_plugin_entry"},
        {"undefined_symbol", MF_BAD_FILE, "a_function_that_nobody_has"},
        {"no_name", MF_BAD_FILE, "name: expected"},
        {"bad_name", MF_BAD_FILE, "found Corpus 1"},
        {"no_version", MF_BAD_FILE, "version, about"},
        {"kind", MF_BAD_FILE, "found 7"},
        {"no_widths", MF_BAD_FILE, "widths: expected"},
        {"no_step", MF_BAD_FILE, "step: expected a function"},
        {"no_fields", MF_BAD_FILE, "fields: expected 1 .. 32, found 0"},
        {"many_fields", MF_BAD_FILE, "found 33"},
        {"no_settings", MF_BAD_FILE, "no table of 1"},
        {"no_type", MF_BAD_FILE, "field joint.angle: type 77"},
        {"zero_width", MF_BAD_FILE, "field joint.angle: width 0"},
        {"no_access", MF_BAD_FILE, "field joint.angle: access 0"},
        {"own_name", MF_BAD_FILE, "begins with \"corpus.\""},
        {"field_twice", MF_BAD_FILE, "field joint.target: named twice"},
        {"nothing_written", MF_BAD_FILE, "expected at least one to write"},
        {"bad_setting", MF_BAD_FILE, "setting target: default 2"},
    };
    AUTO_CONTEXT *context = open_context(0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mf_Error error = {0};
        mf_Plugin *plugin = (mf_Plugin *)&error;
        mf_plugin_load(context, case_path(formatted("plugin_case_%s", cases[i].name)), &plugin,
                       &error);
        one_line(&error, cases[i].status, cases[i].text);
        assert_null(plugin);
    }
}

static void refuse_file(mf_Context *context, const char *path, mf_Status status, const char *text) {
    mf_Plugin *plugin;
    mf_Error error = {0};
    assert_int_equal(mf_plugin_load(context, path, &plugin, &error), status);
    one_line(&error, status, text);
}

TEST(a_bad_file_is_refused) {
    AUTO_CONTEXT *context = open_context(0);
    mf_Plugin *none;
    char folder[] = "/tmp/mayfly_plugin_XXXXXX";
    assert_non_null(mkdtemp(folder));
    const char *path = formatted("%s/text.so", folder);
    file_put_text(path, "this is a text\n");
    refuse_file(context, path, MF_BAD_FILE, "cannot load it");
    refuse_file(context, "/nowhere/x.so", MF_NOT_FOUND, "cannot find it");
    refuse_file(context, folder, MF_BAD_FILE, "found a folder");
    // A bare name is a file here, and is not searched for where the system keeps its libraries.
    assert_int_equal(mf_plugin_load(context, "libc.so.6", &none, NULL), MF_NOT_FOUND);
    assert_int_equal(mf_plugin_load(context, "", &none, NULL), MF_BAD_ARGUMENT);

    // A good plugin that everybody may write to, and one in a folder that everybody may write to.
    assert_int_equal(system(formatted("cp '%s' '%s'", case_path("plugin_case_good"), path)), 0);
    assert_int_equal(chmod(path, 0666), 0);
    refuse_file(context, path, MF_UNSUPPORTED, "all users can write to it");
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(chmod(folder, 0777), 0);
    refuse_file(context, path, MF_UNSUPPORTED, "all users can write to its folder");
    assert_int_equal(chmod(folder, 0700), 0);
    AUTO_PLUGIN *plugin = NULL;
    MUST(mf_plugin_load(context, path, &plugin, &error));
    unlink(path);
    rmdir(folder);
}

TEST(a_group_that_does_not_fit_refuses) {
    static const struct {
        const char *name;
        bool wide;
        mf_Status status;
        const char *text;
    } cases[] = {
        {"unknown_field", false, MF_NOT_FOUND, "field joint.angel: the group robots has no field"},
        {"other_unit", false, MF_BAD_ARGUMENT, "expected unit degree, the group robots has rad"},
        {"other_type", false, MF_BAD_ARGUMENT, "expected type uint32, the group robots has float"},
        {"other_shape", false, MF_BAD_ARGUMENT, "expected 1 values per robot, the group robots"},
        {"float_only", true, MF_UNSUPPORTED, "computes in float, the group robots in double"},
        {"double_only", false, MF_UNSUPPORTED, "computes in double, the group robots in float"},
        {"writes_state", false, MF_BAD_ARGUMENT, "fault.count: a control plugin may not write it"},
        {"writes_fault", false, MF_BAD_ARGUMENT, "fault.word: a control plugin may not write it"},
        {"refuses", false, MF_BAD_ARGUMENT, "plugin corpus: expected a robot with wheels"},
        {"motion", false, MF_BAD_ARGUMENT, "expected a control plugin, found a motion plugin"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mf_Error error = {0};
        const char *name = formatted("plugin_case_%s", cases[i].name);
        AUTO_FIXTURE fixture = fixture_open(MF_ISA_AUTO, cases[i].wide, COUNT);
        AUTO_PLUGIN *plugin = load(fixture.context, name);
        mf_plugin_control_add(fixture.group, fixture_every_step(), plugin, NULL, &error);
        one_line(&error, cases[i].status, cases[i].text);
        assert_int_equal(mf_group_system_count(fixture.group), 0);
    }
}

TEST(bad_settings_are_refused) {
    mf_Error error = {0};
    AUTO_FIXTURE fixture = fixture_open(MF_ISA_AUTO, false, 1);
    AUTO_PLUGIN *plugin = load(fixture.context, "plugin_case_good");
    mf_PluginValue value = {"tarket", 0.5};
    mf_PluginConfig config = WITH(mf_plugin_config(), .values = &value, .value_count = 1);
    mf_Rate rate = fixture_every_step();
    mf_plugin_control_add(fixture.group, rate, plugin, &config, &error);
    one_line(&error, MF_NOT_FOUND, "has no setting tarket; its first is target");
    value = (mf_PluginValue){"target", NAN};
    mf_plugin_control_add(fixture.group, rate, plugin, &config, &error);
    one_line(&error, MF_BAD_ARGUMENT, "setting target: expected -1 .. 1 rad, found nan");
    config = mf_plugin_config();
    config.budget = 0;
    assert_int_equal(mf_plugin_control_add(fixture.group, rate, plugin, &config, NULL),
                     MF_BAD_ARGUMENT);
    assert_int_equal(mf_plugin_control_add(fixture.group, (mf_Rate){0, 1}, plugin, NULL, NULL),
                     MF_BAD_ARGUMENT);
    assert_int_equal(mf_plugin_motion_add(fixture.group, plugin, NULL, NULL, &error),
                     MF_BAD_ARGUMENT);
    assert_int_equal(mf_plugin_control_add(fixture.group, rate, plugin, NULL, NULL), MF_OK);
    mf_plugin_control_add(fixture.group, rate, plugin, NULL, &error);
    assert_non_null(strstr(error.message, "already has a system plugin:corpus"));
}

static mf_Status load_and_add(mf_Context *context, void *user, mf_Error *error) {
    Robot *robot = user;
    AUTO_PLUGIN *plugin = NULL;
    AUTO_WORLD *world = NULL;
    mf_Group *group;
    mf_Status status = mf_plugin_load(context, case_path("plugin_case_good"), &plugin, error);
    assert_true(status == MF_OK || plugin == NULL);
    MF_TRY(status);
    MF_TRY(try_group(context, NULL, &WITH(mf_group_config(), .model = &robot->model), &world,
                     &group, error));
    status = mf_plugin_control_add(group, fixture_every_step(), plugin, NULL, error);
    if (status != MF_OK) // what failed once may be tried again in the same group
        assert_int_equal(mf_plugin_control_add(group, fixture_every_step(), plugin, NULL, NULL),
                         MF_OK);
    return status;
}

TEST(every_failing_call_is_survived) {
    Robot robot;
    AUTO_CONTEXT *context = open_context(1);
    robot_make(&robot, context);
    assert_true(torture(context, load_and_add, &robot, TORTURE_MUST_FAIL) > 8);
}

// ---- contained ---------------------------------------------------------------------------------

TEST(one_robots_nan_is_its_own) {
    static const char *const names[] = {"plugin_case_nan", "plugin_case_infinite"};
    for (int n = 0; n < 2; n++) {
        AUTO_FIXTURE good = fixture_open(MF_ISA_AUTO, false, COUNT),
                     bad = fixture_open(MF_ISA_AUTO, false, COUNT);
        AUTO_PLUGIN *first = load(good.context, "plugin_case_good");
        AUTO_PLUGIN *second = load(bad.context, names[n]);
        MUST(mf_plugin_control_add(good.group, fixture_every_step(), first, NULL, &error));
        MUST(mf_plugin_control_add(bad.group, fixture_every_step(), second, NULL, &error));
        mf_world_step(good.world, 4);
        mf_world_step(bad.world, 4);
        assert_int_equal(mf_group_fault(bad.group, 5), MF_FAULT_CONTROL);
        assert_near(fixture_get(&bad, "joint.target", 5, 0), 0, 0); // its last valid state
        assert_near(fixture_get(&bad, "corpus.count", 5, 0), 0, 0);
        assert_others_same(good.group, bad.group, 5);
    }
}

TEST(a_breach_takes_nothing_over) {
    static const char *const cases[][2] = {
#if defined(__SSE2__)
        {"rounding", "changed the floating-point mode"},
        {"subnormal", "changed the floating-point mode"},
#endif
#if defined(__x86_64__)
        {"extended", "changed the floating-point mode"},
#endif
        {"before", "wrote outside its fields, before joint.target"},
        {"behind", "wrote outside its fields, behind corpus.count"},
        {"read_only", "wrote a field that it only declared to read, joint.angle"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *name = formatted("plugin_case_%s", cases[i][0]);
        AUTO_FIXTURE fixture = fixture_open(MF_ISA_AUTO, false, COUNT);
        AUTO_PLUGIN *plugin = load(fixture.context, name);
        MUST(mf_plugin_control_add(fixture.group, fixture_every_step(), plugin, NULL, &error));
#if defined(__SSE2__)
        unsigned mode = _mm_getcsr() & ~0x3fu;
#endif
        mf_world_step(fixture.world, 3);
#if defined(__SSE2__)
        assert_int_equal(_mm_getcsr() & ~0x3fu, mode);
#endif
        for (uint32_t r = 0; r < COUNT; r++) {
            assert_int_equal(mf_group_fault(fixture.group, r), MF_FAULT_PLUGIN);
            assert_near(fixture_get(&fixture, "joint.target", r, 0), 0, 0);
            assert_near(fixture_get(&fixture, "joint.angle", r, 0), 0, 0);
        }
        mf_PluginStatistics seen = mf_plugin_statistics(plugin);
        assert_int_equal(seen.breaches, 3); // one for each block, then nobody is left to call for
        if (strstr(seen.breach, cases[i][1]) == NULL || strchr(seen.breach, '\n') != NULL)
            fail_msg("found \"%s\", expected \"%s\"", seen.breach, cases[i][1]);
    }
}

TEST(writing_to_other_fields_has_no_effect) {
    static const char *const names[] = {"plugin_case_others", "plugin_case_pointers"};
    for (int n = 0; n < 2; n++) {
        AUTO_FIXTURE fixture = fixture_open(MF_ISA_AUTO, false, COUNT);
        AUTO_PLUGIN *plugin = load(fixture.context, names[n]);
        MUST(mf_plugin_control_add(fixture.group, fixture_every_step(), plugin, NULL, &error));
        fixture_set(&fixture, "fault.word", 3, 0, MF_FAULT_RANGE);
        mf_world_step(fixture.world, 2);
        assert_near(fixture_get(&fixture, "joint.target", 3, 0), 0, 0);
        for (uint32_t i = 0; i < COUNT; i++)
            assert_near(fixture_get(&fixture, "corpus.count", i, 0), i == 3 ? 0 : 2, 0);
        assert_int_equal(mf_group_fault_total(fixture.group), 1);
    }
}

TEST(calls_over_their_budget_are_counted) {
    AUTO_FIXTURE fixture = fixture_open(MF_ISA_AUTO, false, COUNT);
    AUTO_PLUGIN *plugin = load(fixture.context, "plugin_case_good");
    // No call is that fast.
    MUST(mf_plugin_control_add(fixture.group, fixture_every_step(), plugin,
                               &WITH(mf_plugin_config(), .budget = 1), &error));
    mf_world_step(fixture.world, 4);
    mf_PluginStatistics seen = mf_plugin_statistics(plugin);
    assert_int_equal(seen.calls, 12);
    assert_int_equal(seen.late, 12);
    assert_true(seen.slowest > 1);
    assert_int_equal(seen.breaches, 0);
    assert_string_equal(seen.breach, "");
}

// ---- the examples ------------------------------------------------------------------------------

// v' = a - k v from rest in steps of h: v_n = a/k (1 - (1 - k h)^n), x the sum of h v.
TEST(the_hovercraft_follows_its_equation) {
    AUTO_FIXTURE fixture = fixture_open(MF_ISA_AUTO, true, 20);
    AUTO_PLUGIN *plugin = load(fixture.context, "plugin_hover");
    mf_Motion level = MF_MOTION_COUNT;
    MUST(mf_plugin_motion_add(fixture.group, plugin, NULL, &level, &error));
    assert_int_equal(level, MF_MOTION_OWN);
    fixture_set(&fixture, "joint.target", 4, 0, 0.5);
    fixture_set(&fixture, "joint.target", 5, 1, 0.3);
    mf_world_step(fixture.world, 300);
    const double h = 0.01, drive = 4.0 * 0.5, rotation = 6.0 * 0.3, keep = 1.0 - h;
    double speed = drive * (1.0 - pow(keep, 300)), direction = 0.0, course = 0.0;
    for (int n = 1; n <= 300; n++) {
        direction += h * drive * (1.0 - pow(keep, n));
        course += h * rotation * (1.0 - pow(keep, n));
    }
    assert_near(fixture_get(&fixture, "base.linear_velocity", 4, 0), speed, 1e-12);
    assert_near(fixture_get(&fixture, "base.position", 4, 0), direction, 1e-12);
    assert_near(fixture_get(&fixture, "base.position", 4, 2), 0.2, 1e-12);
    assert_near(fixture_get(&fixture, "hover.course", 5, 0), course, 1e-12);
    assert_near(fixture_get(&fixture, "base.orientation", 5, 3), sin(0.5 * course), 1e-12);
    assert_near(fixture_get(&fixture, "base.position", 6, 0), 0.0, 0.0);
    assert_int_equal(mf_group_fault_total(fixture.group), 0);
}

// A world with hexapods, which can move by `points`.
typedef struct Walkers {
    mf_Context *context;
    mf_Model *model;
    mf_World *world;
    mf_Group *group;
    mf_Plugin *plugin;
} Walkers;

static Walkers open_walkers(void) {
    Walkers all = {.context = open_context(0)};
    MUST(mf_model_load(all.context, MAYFLY_SOURCE_DIR "/models/hexapod.urdf", NULL, &all.model,
                       &error));
    all.world = open_world(all.context, NULL);
    all.group = add_group(all.world, &WITH(mf_group_config(), .model = all.model, .count = COUNT));
    all.plugin = load(all.context, "plugin_hover");
    return all;
}

static void close_walkers(Walkers *all) {
    mf_plugin_close(all->plugin);
    mf_world_destroy(all->world);
    mf_model_destroy(all->model);
    close_context(all->context);
}
#define AUTO_WALKERS AUTO(close_walkers) Walkers

TEST(a_motion_moves_those_of_its_level) {
    mf_Error error = {0};
    mf_Motion level;
    AUTO_WALKERS all = open_walkers();
    must(mf_motions_add(all.group, &WITH(mf_motions_config(), .start = MF_MOTION_POINTS), &error),
         &error);
    must(mf_plugin_motion_add(all.group, all.plugin, NULL, &level, &error), &error);
    assert_int_equal(level, MF_MOTION_OWN);
    assert_true(mf_motion_in(all.group, level));
    for (uint32_t i = 0; i < COUNT; i++) {
        set_field(all.group, "hover.course", i, 0, 3.0);
        if (i % 3 == 0)
            assert_int_equal(mf_motion_switch(all.group, i, level, NULL), MF_OK);
        assert_int_equal(mf_motion_of(all.group, i), i % 3 == 0 ? level : MF_MOTION_POINTS);
        // Entering begins its fields anew.
        assert_near(get_field(all.group, "hover.course", i, 0), i % 3 == 0 ? 0.0 : 3.0, 0.0);
        set_field(all.group, "joint.target", i, 0, 0.4);
    }
    mf_world_step(all.world, 100);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(get_field(all.group, "base.linear_velocity", i, 0) > 0.5, i % 3 == 0);
    assert_int_equal(mf_group_fault_total(all.group), 0);
    mf_motion_switch(all.group, 1, MF_MOTION_OWN + 1, &error);
    assert_contains(error.message, "does not have the motion own2");

    // Back to points with the twist that it has; a reset leads to where robots start.
    double speed = get_field(all.group, "base.linear_velocity", 3, 0);
    assert_int_equal(mf_motion_switch(all.group, 3, MF_MOTION_POINTS, NULL), MF_OK);
    assert_near(get_field(all.group, "base.linear_velocity", 3, 0), speed, 0.0);
    mf_group_reset(all.group, 6);
    assert_int_equal(mf_motion_of(all.group, 6), MF_MOTION_POINTS);
    mf_world_step(all.world, 50);
    assert_int_equal(mf_group_fault_total(all.group), 0);

    // Without levels a second motion would move the same robots.
    AUTO_WALKERS other = open_walkers();
    must(mf_motion_add(other.group, MF_MOTION_POINTS, NULL, &error), &error);
    mf_plugin_motion_add(other.group, other.plugin, NULL, NULL, &error);
    one_line(&error, MF_BAD_ARGUMENT, "already has the motion points");
}

TEST(the_controller_sways) {
    AUTO_FIXTURE fixture = fixture_open(MF_ISA_AUTO, true, 2);
    AUTO_PLUGIN *plugin = load(fixture.context, "plugin_sway");
    mf_Rate rate = mf_rate_from_period(20 * MF_MILLISECOND);
    MUST(mf_plugin_control_add(fixture.group, rate, plugin, NULL, &error));
    mf_world_step(fixture.world, 51); // the call at 0.5 s is the 26th
    assert_near(fixture_get(&fixture, "joint.target", 1, 3), 0.1 * sin(6.283185307179586 * 0.25),
                1e-12);
    assert_near(fixture_get(&fixture, "sway.clock", 1, 0), 0.52, 1e-12);
}

TEST(own_motions_have_names) {
    mf_Motion found;
    assert_string_equal(mf_motion_name(MF_MOTION_OWN), "own");
    assert_string_equal(mf_motion_name(MF_MOTION_OWN_LAST), "own16");
    assert_true(mf_motion_find("own2", &found));
    assert_int_equal(found, MF_MOTION_OWN + 1);
    assert_false(mf_motion_find("own17", &found));
    assert_false(mf_motion_find("unknown", &found));
}
