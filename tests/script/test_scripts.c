// Scripts of scenes: what they read and write, when they are called, that their results depend on
// nothing but the scene, and that a bad one ends the run with its file and line and does no harm.
#include "math/scalar.h"
#include "script/support.h"

// Lines of the text of a script start at line 11 of this file.
#define SCENE                                                                                      \
    "world: {step: 0.01, seed: 7}\n"                                                               \
    "groups:\n"                                                                                    \
    "  - name: robots\n"                                                                           \
    "    model: ../models/hexapod.urdf\n"                                                          \
    "    motion: points\n"                                                                         \
    "    count: 20\n"                                                                              \
    "    gaits: [tripod]\n"                                                                        \
    "scripts:\n"                                                                                   \
    "  - name: s\n"                                                                                \
    "    text: |\n"

// A script, indented as a block of the scene above.
static char *scene_with(const char *script, const char *more) {
    char *text = calloc(1, 20000);
    size_t used = (size_t)snprintf(text, 20000, "%s      ", SCENE);
    for (; *script != '\0' && used < 19000; script++) {
        text[used++] = *script;
        if (*script == '\n')
            used += (size_t)snprintf(text + used, 20000 - used, "      ");
    }
    snprintf(text + used, 20000 - used, "\n%s", more);
    return text;
}

static Run *open_text(uint32_t threads, const char *text, const mf_SceneHooks *hooks) {
    mf_Context *context = open_context(threads);
    mf_SceneFile *file = parse_scene(context, text);
    if (hooks != NULL)
        file->hooks = *hooks;
    return open_run(context, file);
}

// All of a run of `steps`, as far as it comes. A run without steps starts, too.
static uint64_t perform(Run *run, uint64_t steps) {
    if (run->status == MF_OK && steps == 0)
        run->status = mf_scene_start_scripts(&run->scene, &run->error);
    const uint64_t done = step_run(run, steps);
    if (run->status == MF_OK)
        run->status = mf_scene_finish_scripts(&run->scene, &run->error);
    return done;
}

static Run *open_script(uint32_t threads, const char *script, const char *more) {
    AUTO(end_memory) char *text = scene_with(script, more);
    return open_text(threads, text, NULL);
}

static Run *try_script(const char *script, const char *more, uint64_t steps) {
    Run *run = open_script(1, script, more);
    perform(run, steps);
    return run;
}

static Run *perform_script(const char *script, const char *more, uint64_t steps) {
    Run *run = try_script(script, more, steps);
    expect_good(run);
    return run;
}

// ---- calls --------------------------------------------------------------------------------------

TEST(hooks_are_called_at_their_rate) {
    AUTO_RUN *run =
        perform_script("print('main')\n"
                       "function start() print('start', world:time()) end\n"
                       "function tick(time) print('tick', time, world:time() == time) end\n"
                       "function finish() print('finish', world:time()) end",
                       "    tick: 0.03\n"
                       "  - {name: b, tick: 0.05, text: \"function tick() print('b') end\"}\n",
                       10);
    // A tick at 0.03 k is called at the step that contains it.
    assert_string_equal(run->printed, "s: main\ns: start\t0.0\n"
                                      "s: tick\t0.0\ttrue\nb: b\n"
                                      "s: tick\t0.03\ttrue\nb: b\n"
                                      "s: tick\t0.06\ttrue\ns: tick\t0.09\ttrue\n"
                                      "s: finish\t0.1\n");
}

// The same calls however the run is cut.
TEST(pieces_of_a_run_do_not_matter) {
    AUTO_RUN *run = open_script(1,
                                "local n = 0\nfunction tick() n = n + 1 end\n"
                                "function finish() print(n) end",
                                "    tick: 0.02\n");
    expect_good(run);
    for (uint64_t i = 0; i < 10; i++)
        mf_world_step(run->scene.world, 1); // whoever steps it
    MUST(mf_scene_finish_scripts(&run->scene, &error));
    assert_string_equal(run->printed, "s: 5\n");
}

TEST(a_script_stops_the_run) {
    AUTO_RUN *run =
        open_script(1, "function tick(time) if time > 0.045 then world:stop('enough') end end", "");
    assert_null(mf_scene_scripts_stopped(&run->scene));
    assert_int_equal(perform(run, 100), 5);
    expect_good(run);
    assert_string_equal(mf_scene_scripts_stopped(&run->scene), "enough");
}

// ---- properties ---------------------------------------------------------------------------------

TEST(properties_are_arrays) {
    AUTO_RUN *run = perform_script(
        "local height = world:property('robots[*]/base.position.z')\n"
        "local angles = world:property('robots[3]/joint.angle')\n"
        "print(#height, #angles, height:unit(), height:robot(4))\n"
        "local all = height:all()\n"
        "print(#all, all[20] == height[20], world:get('robots[19]/base.position')[3] == "
        "height[20])\n"
        "height[2] = 0.75\n"
        "print(height[2], world:get('robots[1]/base.position.z'))\n"
        "for i = 1, #all do all[i] = 0.5 + i / 64 end\n"
        "height:assign(all)\n"
        "print(height[1], height[20])\n"
        "angles:fill(0.125)\n"
        "print(angles[1], angles[#angles])\n"
        "world:set('robots[0]/base.orientation', {0, 0, 0, 1})\n"
        "print(world:get('robots[0]/base.orientation')[4])\n"
        "print(world:count('robots'), world:groups()[1], world:step(), world:seed())",
        "", 0);
    assert_string_equal(run->printed, "s: 20\t18\tm\trobots\t3\ns: 20\ttrue\ttrue\n"
                                      "s: 0.75\t0.75\ns: 0.515625\t0.8125\n"
                                      "s: 0.125\t0.125\ns: 1.0\ns: 20\trobots\t0.01\t7\n");
    assert_near(get(&run->scene, 0, "base.position", 19, 2), 0.8125, 0.0);
}

// A law changes what is read, not what is.
TEST(readings_have_the_users_noise_and_structure) {
    AUTO_RUN *run =
        perform_script("local height = world:property('robots[*]/base.position.z')\n"
                       "height:fill(0.5)\n"
                       "height:noise(function(value, i) return value + i / 64 end)\n"
                       "local function body(i)\n"
                       "  return {robot = select(2, height:robot(i)), height = height[i]}\n"
                       "end\n"
                       "print(body(4).robot, body(4).height, height:all()[20])\n"
                       "print(world:get('robots[3]/base.position.z'))\n"
                       "height[4] = height[4]\n"
                       "height:noise(nil)\n"
                       "print(height[4])",
                       "", 0);
    assert_string_equal(run->printed, "s: 3\t0.5625\t0.8125\ns: 0.5\ns: 0.5625\n");
}

// ---- policies -----------------------------------------------------------------------------------

// Modules of a chain that learn their places by what the one in front says: a place a tick.
static const char chain[] =
    "world: {step: 0.01}\n"
    "messages: {size: 8, capacity: 2}\n"
    "groups:\n"
    "  - {name: modules, model: ../models/modules/pitch.urdf, count: 4, motion: kinematic,\n"
    "     chain: {first: back, second: front}}\n"
    "scripts:\n"
    "  - name: s\n"
    "    text: |\n"
    "      world:policy('modules', function(me)\n"
    "        local heard = me:receive('front')\n"
    "        me.place = heard and heard[1] + 1 or me.place or 0\n"
    "        if heard and not me.reported then\n"
    "          me.reported = true\n"
    "          print(me.group, me.robot, heard.dock, heard.type, heard[1], heard[2], #heard)\n"
    "        end\n"
    "        me:send('back', {me.place}, 7)\n"
    "        me:set('joint.target', 0.25 * me.place)\n"
    "        if me.robot == 3 and world:time() == 0.05 then\n"
    "          print(me:get('joint.target'), #me:property('dock.state'))\n"
    "          local two = world:robot('modules', 2)\n"
    "          print(two.place, two:receive(), two:send('front', {}), two:send('front', {}))\n"
    "          print(two:send('front', {}))\n"
    "          world:policy('modules', nil)\n"
    "        end\n"
    "      end)\n";

TEST(each_robot_has_a_policy) {
    AUTO_RUN *run = open_text(1, chain, NULL);
    perform(run, 20);
    expect_good(run);
    assert_string_equal(run->printed, "s: modules\t1\tfront\t7\t0.0\t0.0\t2\n"
                                      "s: modules\t2\tfront\t7\t0.0\t0.0\t2\n"
                                      "s: modules\t3\tfront\t7\t0.0\t0.0\t2\n"
                                      "s: 0.75\t2\n"
                                      "s: nil\tnil\ttrue\ttrue\n"
                                      "s: false\n");
    for (uint32_t i = 0; i < 4; i++)
        assert_near(get(&run->scene, 0, "joint.target", i, 0), 0.25 * i, 0.0);
}

TEST(gaits_are_commanded) {
    AUTO_RUN *run = perform_script("function start()\n"
                                   "  world:gait('robots', nil, 'tripod')\n"
                                   "  world:gait('robots', 3, nil)\n"
                                   "  world:command('robots', 2, 0.125, 0.0, -0.25)\n"
                                   "end",
                                   "", 0);
    assert_near(get(&run->scene, 0, "gait.select", 2, 0), 0.0, 0.0);
    assert_near(get(&run->scene, 0, "gait.select", 3, 0), (double)MF_NONE, 0.0);
    assert_near(get(&run->scene, 0, "gait.command", 2, 0), 0.125, 0.0);
    assert_near(get(&run->scene, 0, "gait.command", 2, 2), -0.25, 0.0);
}

// ---- the same bits ------------------------------------------------------------------------------

static void control(const mf_SystemRun *run, void *user) {
    const mf_Field *angle = mf_group_find_field(run->group, "joint.angle");
    mf_Field *target = mf_group_find_field(run->group, "joint.target");
    const double time = mf_time_to_seconds(run->time);
    const uint32_t first = run->first_block * MF_BLOCK;
    for (uint32_t i = first;
         i < first + run->block_count * MF_BLOCK && i < mf_group_count(run->group); i++)
        for (uint32_t j = 0; j < angle->components; j++) {
            double sine, cosine;
            mf_sin_cos(5.0 * time + 0.5 * (double)(i + j), &sine, &cosine);
            mf_field_set(target, i, j, 0.3 * sine - 0.1 * mf_field_get(angle, i, j));
        }
}

static mf_Status add_control(mf_Scene *scene, void *user, mf_Error *error) {
    static const char *const reads[] = {"joint.angle", NULL}, *const writes[] = {"joint.target",
                                                                                 NULL};
    mf_SystemConfig system =
        WITH(mf_system_config(), .name = "control", .phase = MF_PHASE_CONTROL,
             .rate = ((mf_Rate){50, 1}), .run = control, .reads = reads, .writes = writes);
    return mf_group_add_system(scene->group, &system, error);
}

static const char controller[] =
    "local angle = world:property('robots[*]/joint.angle')\n"
    "local target = world:property('robots[*]/joint.target')\n"
    "local joints, robots = #angle // world:count('robots'), world:count('robots')\n"
    "function tick(time)\n"
    "  for i = 0, robots - 1 do\n"
    "    for j = 0, joints - 1 do\n"
    "      local at = i * joints + j + 1\n"
    "      target[at] = 0.3 * math.sin(5.0 * time + 0.5 * (i + j)) - 0.1 * angle[at]\n"
    "    end\n"
    "  end\n"
    "end";

static uint64_t walk(uint32_t threads, const char *script, const char *motion,
                     const mf_SceneHooks *hooks) {
    AUTO(end_memory) char *text = scene_with(script, "    tick: 0.02\n");
    char *found = strstr(text, "motion: points\n    count: 20\n    gaits: [tripod]\n");
    assert_non_null(found);
    const char *set = formatted("motion: %-14s\n    count: 20\n  # ", motion);
    memcpy(found, set, strlen(set)); // the rest of the line of gaits is a remark
    AUTO_RUN *run = open_text(threads, text, hooks);
    assert_int_equal(perform(run, 100), 100);
    expect_good(run);
    return mf_world_hash(run->scene.world);
}

// A script, on one thread and on two, and the same controller as a system in C.
TEST(a_script_gives_the_bits_of_a_controller_in_c) {
    static const char *const motions[] = {"points", "articulated"};
    const mf_SceneHooks hooks = {.attach = add_control};
    for (size_t i = 0; i < 2; i++) {
        const uint64_t expected = walk(1, "x = 1", motions[i], &hooks);
        assert_int_equal(walk(1, controller, motions[i], NULL), expected);
        assert_int_equal(walk(2, controller, motions[i], NULL), expected);
        assert_int_not_equal(walk(1, "x = 1", motions[i], NULL), expected);
    }
}

static const char experiment[] = "local height = world:property('robots[*]/base.position.z')\n"
                                 "local out = results.table('height.csv', {'drop', 'height'})\n"
                                 "local before, drop\n"
                                 "function start() before = world:snapshot() drop = 0 end\n"
                                 "function tick(time)\n"
                                 "  if time < 0.2 and drop > 0 then return end\n"
                                 "  if drop > 0 then out:row(drop, height[1]) end\n"
                                 "  if drop == 3 then world:stop() end\n"
                                 "  world:restore(before)\n"
                                 "  drop = drop + 1\n"
                                 "  height:fill(0.2 * drop + 0.01 * world:random())\n"
                                 "end";

static char *repeat(uint32_t threads, uint64_t *done) {
    AUTO_RUN *run = open_script(threads, experiment, "");
    *done = perform(run, 1000);
    expect_good(run);
    mf_ScriptResult result;
    assert_true(mf_scene_script_result(&run->scene, 0, &result));
    assert_string_equal(result.name, "height.csv");
    char *copy = strdup(result.text);
    assert_int_equal(strlen(copy), result.size);
    assert_false(mf_scene_script_result(&run->scene, 1, &result));
    return copy;
}

// Three times the same start with another height: the world's time goes back, the run goes on.
TEST(an_experiment_is_repeated) {
    uint64_t done[2];
    AUTO(end_memory) char *one = repeat(1, &done[0]), *two = repeat(2, &done[1]);
    assert_int_equal(done[0], 60);
    assert_int_equal(done[1], 60);
    assert_string_equal(one, two);
    assert_int_equal(strncmp(one, "drop,height\n1,", 14), 0);
    double height[4] = {0};
    assert_int_equal(
        sscanf(one, "drop,height\n1,%lf\n2,%lf\n3,%lf\n", &height[1], &height[2], &height[3]), 3);
    assert_true(height[2] > height[1] && height[3] > height[2] + 0.1);
}

TEST(random_numbers_are_those_of_the_seed) {
    static const char script[] = "local low, sum = 9, 0\n"
                                 "for i = 1, 1000 do\n"
                                 "  local x, n = world:random(), world:random(6)\n"
                                 "  assert(x >= 0 and x < 1 and n >= 1 and n <= 6)\n"
                                 "  if x < low then low = x end\n"
                                 "  sum = sum + n\n"
                                 "end\n"
                                 "print(sum / 1000 > 3.3 and sum / 1000 < 3.7, low < 0.01, sum)";
    AUTO_RUN *first = perform_script(script, "", 0), *second = perform_script(script, "", 0);
    assert_string_equal(first->printed, second->printed);
    assert_int_equal(strncmp(first->printed, "s: true\ttrue\t", 13), 0);
}

// Nothing that differs from run to run is visible: addresses, or the order of a table of names.
TEST(order_is_fixed) {
    AUTO_RUN *run = perform_script("local t = {b = 1, a = 2, [10] = 3, [1] = 4, [true] = 5}\n"
                                   "for key, value in pairs(t) do print(key, value) end\n"
                                   "print(t, print, string.format('%s', t), tostring(world))\n"
                                   "local list = {{2, 'a'}, {1, 'b'}, {2, 'c'}, {1, 'd'}}\n"
                                   "table.sort(list, function(x, y) return x[1] < y[1] end)\n"
                                   "local names = ''\n"
                                   "for _, entry in ipairs(list) do names = names .. entry[2] end\n"
                                   "print(names)",
                                   "", 0);
    assert_string_equal(run->printed, "s: 1\t4\ns: 10\t3\ns: a\t2\ns: b\t1\ns: true\t5\n"
                                      "s: table\tfunction\ttable\ttable\ns: bdac\n");
}

// ---- results and events -------------------------------------------------------------------------

TEST(results_are_csv_and_json) {
    AUTO_RUN *run = perform_script("local t = results.table('a.csv', {'x', 'say \"hi\", you'})\n"
                                   "t:row(0.1, 'a,b')\n"
                                   "t:row(3, true)\n"
                                   "results.json('b.json', 1)\n"
                                   "results.json('b.json', {list = {1, 2.5, 'x\\n'}, none = {}, "
                                   "far = 1 / 0})",
                                   "", 0);
    mf_ScriptResult result;
    assert_true(mf_scene_script_result(&run->scene, 0, &result));
    assert_string_equal(result.text, "x,\"say \"\"hi\"\", you\"\n0.1,\"a,b\"\n3,true\n");
    assert_true(mf_scene_script_result(&run->scene, 1, &result));
    assert_string_equal(result.text,
                        "{\"far\": null, \"list\": [1, 2.5, \"x\\u000a\"], \"none\": {}}\n");
}

TEST(falls_and_faults_are_events) {
    AUTO_RUN *run =
        perform_script("function event(e) print(e.kind, e.group, e.robot, e.fault) end\n"
                       "function tick(time)\n"
                       "  if time == 0.05 then\n"
                       "    world:set('robots[4]/base.orientation', {0, 1, 0, 0})\n"
                       "    world:set('robots[7]/base.position.z', 1e30)\n"
                       "  end\n"
                       "end",
                       "", 8);
    assert_string_equal(run->printed, "s: fall\trobots\t4\tnil\ns: fault\trobots\t7\t2\n");
}

// ---- bad scripts --------------------------------------------------------------------------------

typedef struct Mistake {
    const char *script, *more;
    int line;            // [1] of the script; 0: unknown
    const char *message; // part of it
} Mistake;

static const Mistake mistakes[] = {
    // In each of its functions.
    {"x = = 1", "", 1, "syntax: unexpected symbol"},
    {"\nerror('bad')", "", 2, "script s: main: bad"},
    {"function start()\n  local x = nil + 1\nend", "", 2, "start: attempt to perform arithmetic"},
    {"function tick()\n\n  error('bad')\nend", "", 3, "tick: bad"},
    {"function finish() error('bad') end", "", 1, "finish: bad"},
    {"function event(e)\n  error('bad')\nend\nfunction tick()\n"
     "world:set('robots[0]/base.orientation', {0, 1, 0, 0}) end",
     "", 2, "event: bad"},
    {"tick = 3", "", 0, "tick: expected a function, found a number"},
    {"error({})", "", 1, "the error is a table, expected text"},
    // Without end.
    {"while true do end", "", 1, "more than its budget of 10000000 instructions"},
    {"function tick()\n  while true do pcall(function() while true do end end) end\nend",
     "    budget: 5000\n", 2, "more than its budget of 5000"},
    {"local function f() return f() end f()", "", 1, "budget"},
    {"local function f() f() return 1 end f()", "    memory: 512\n", 1, "stack overflow"},
    {"string.rep('', 1 << 62)\nstring.rep('x', 1 << 62)", "", 2, "budget"},
    {"local t = {}\nfor k = 0, 61 do t[1 << k] = 1 end\nlocal s = table.concat(t)", "", 0, ""},
    {"setmetatable({}, {__gc = function() while true do end end})", "", 1, "no __gc"},
    // Without bounds.
    {"local s = 'x'\nwhile true do s = s .. s end", "    memory: 4\n", 0, "memory of 4 MiB"},
    {"local t = {}\nwhile true do t[#t + 1] = {} end", "    memory: 4\n", 0, "memory of 4 MiB"},
    {"local t = {}\nwhile true do pcall(function() while true do t[#t + 1] = {} end end) end",
     "    memory: 4\n", 0, "memory of 4 MiB"},
    {"local t = results.table('a.csv', {'x'})\nwhile true do t:row('xxxxxxxxxxxxxxxxxxxxxxxx') end",
     "    memory: 1\n", 2, "memory of 1 MiB"},
    {"local all = {}\nwhile true do all[#all + 1] = world:snapshot() end", "    memory: 1\n", 0,
     "memory of 1 MiB"},
    // Outside.
    {"io.open('x')", "", 1, "global 'io'"},
    {"os.execute('x')", "", 1, "global 'os'"},
    {"load('x = 1')", "", 1, "global 'load'"},
    {"require('x')", "", 1, "global 'require'"},
    {"dofile('x')", "", 1, "global 'dofile'"},
    {"string.dump(print)", "", 1, "field 'dump'"},
    {"math.random()", "", 1, "field 'random'"},
    {"getmetatable(world:property('robots[0]/base.position')).x = 1", "", 1, "boolean"},
    {"results.table('../a.csv', {'x'})", "", 1, "found '../a.csv'"},
    {"results.json('.json', 1)", "", 1, "found '.json'"},
    {"results.json('a.json', print)", "", 1, "no function in JSON"},
    {"local t = {}\nt.t = t\nresults.json('a.json', t)", "", 3, "more than 32 deep"},
    // Of the world.
    {"world:property('robots[0]/base.positio')", "", 1, "base.position"},
    {"world:property('robot[0]/base.position')", "", 1, "robots"},
    {"world:property('robots[0]/mass')[1] = 2", "", 1, "a constant of the model"},
    {"world:property('robots[0]/base.orientation')[1] = 2", "", 1, "by world:set"},
    {"world:property('robots[0]/base.position')[4] = 2", "", 1, "expected a number 1 .. 3"},
    {"world:property('robots[0]/base.position')[1] = 0 / 0", "", 1, "expected a finite number"},
    {"world:property('robots[0]/gait.select')[1] = 0.5", "", 1, "expected a whole number"},
    {"world:property('robots[0]/base.position'):assign({1, 2})", "", 1, "expected 3 numbers"},
    {"world:property('robots[0]/base.position'):noise(2)", "", 1, "function expected"},
    {"local p = world:property('robots[0]/base.position')\np:noise(print)\nreturn p[1]", "", 3,
     "the law of noise returned a nil"},
    {"world:property('robots[0]/base.position'):wave()", "", 1, "no method wave"},
    {"world:set('robots[0]/base.orientation', {1, 1, 0, 0})", "", 1, "length 1"},
    {"world:count('robot')", "", 1, "no group robot; there are: robots"},
    {"world:reset('robots', 20)", "", 1, "expected a robot 0 .. 19, found 20"},
    {"world:gait('robots', 0, 'gallop')", "", 1, "no gait gallop"},
    {"world:motion('robots', 0, 'flying')", "", 1, "no motion flying"},
    {"world:restore({})", "", 1, "mayfly.snapshot expected"},
    {"world:disconnect('robots', 0, 'x')", "", 1, "no docks"},
    {"world:robot('robots')", "", 1, "number expected"},
    {"world:robot('robots', 20)", "", 1, "expected a robot 0 .. 19"},
    {"world:robot('robots', 0):send('x', {})", "", 1, "no dock x"},
    {"world:robot('robots', 0):receive()", "", 1, "no section messages"},
    {"world:robot('robots', 0):get('base.positio')", "", 1, "base.position"},
    {"world:policy('robots', 2)", "", 1, "function expected"},
    {"world:policy('robots', function(me)\nerror('bad ' .. me.robot) end)", "", 2, "policy: bad 0"},
};

TEST(bad_scripts_end_the_run) {
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        const Mistake *mistake = &mistakes[i];
        AUTO_RUN *run = try_script(mistake->script, mistake->more, 3);
        if (mistake->message[0] == '\0') // it only has to end
            continue;
        if (run->status == MF_OK)
            fail_msg("mistake %zu: %s: no error", i, mistake->script);
        assert_contains(run->error.message, mistake->message);
        if (run->error.line != (mistake->line == 0 ? run->error.line : 10 + mistake->line))
            fail_msg("mistake %zu: line %d: %s", i, (int)run->error.line, run->error.message);
        assert_non_null(strstr(run->error.file, "t.yaml"));
        assert_null(strchr(run->error.message, '\n'));
    }
}

// Bytecode is no text, whatever the file is called.
TEST(bytecode_is_refused) {
    char path[64];
    write_temporary(path, ".lua", "\x1bLua");
    AUTO_RUN *run =
        open_text(1,
                  formatted("groups:\n  - {name: robots, model: ../models/hexapod.urdf}\n"
                            "scripts:\n  - {name: s, file: %s}\n",
                            path),
                  NULL);
    assert_int_equal(run->status, MF_BAD_ARGUMENT);
    assert_non_null(strstr(run->error.message, "attempt to load a binary chunk"));
    assert_string_equal(run->error.file, path);
    remove(path);
}

TEST(a_written_scene_has_its_scripts) {
    AUTO_CONTEXT *context = open_context(0);
    AUTO(end_memory)
    char *text = scene_with("function tick()\n  print('x')\nend", "    tick: 0.05\n");
    AUTO_SCENE_FILE *file = parse_scene(context, text), *again = NULL;
    write_twice(context, file, &again);
    assert_string_equal(again->scripts[0].text, file->scripts[0].text);
    assert_int_equal(again->scripts[0].tick.numerator, 20);
}

// ---- whoever steps the world --------------------------------------------------------------------

// Each evaluation starts the script anew, which counts its ticks in the robots' angles.
TEST(evaluations_run_scripts) {
    AUTO_CONTEXT *context = open_context(2);
    AUTO(end_memory)
    char *text =
        scene_with("local n = 0\nlocal height = world:property('robots[*]/base.position.z')\n"
                   "function tick() n = n + 1\n"
                   "  for i = 1, #height do height[i] = n end end\n"
                   "function start() print('go') end",
                   "    tick: 0.1\n"
                   "run: {duration: 1}\n");
    AUTO_SCENE_FILE *file = parse_scene(context, text);
    file->groups[0].controller = MF_CONTROLLER_OSCILLATOR;
    file->groups[0].gait_count = 0;
    AUTO_SCENE scene = make_evaluation(context, file, 4);
    Run printed = {.context = NULL};
    mf_scene_on_print(&scene, take_line, &printed);
    const uint32_t bytes = mf_scene_genome_bytes(&scene);
    uint8_t *genomes = calloc(4, bytes);
    double fitness[2][4];
    for (int i = 0; i < 2; i++) {
        MUST(mf_scene_evaluate(&scene, genomes, 4, bytes, fitness[i], &error));
        assert_true(get(&scene, 0, "base.position", 3, 2) > 9.0);
    }
    assert_memory_equal(fitness[0], fitness[1], sizeof fitness[0]);
    assert_string_equal(printed.printed, "s: go\ns: go\n");
    free(genomes);
}

// After an error the world stands until they are started anew, or left.
TEST(a_failure_remains) {
    AUTO_RUN *run = open_script(
        1, "function tick(time) print(time) if time > 0.025 then error('bad') end end", "");
    assert_int_equal(step_run(run, 10), 3);
    assert_int_equal(run->status, MF_BAD_ARGUMENT);
    mf_world_step(run->scene.world, 5);
    assert_int_equal(mf_world_time(run->scene.world), 30 * MF_MILLISECOND);
    MUST_FAIL(mf_scene_scripts_status(&run->scene, &error), MF_BAD_ARGUMENT, "tick: bad");
    MUST_FAIL(mf_scene_run(&run->scene, 1.0, &error), MF_BAD_ARGUMENT, "tick: bad");
    MUST(mf_scene_start_scripts(&run->scene, &error));
    assert_string_equal(run->printed, "s: 0.0\ns: 0.01\ns: 0.02\ns: 0.03\n");
    mf_scene_leave_scripts(&run->scene);
    mf_world_step(run->scene.world, 5);
    assert_int_equal(mf_world_time(run->scene.world), 80 * MF_MILLISECOND);
    assert_string_equal(run->printed, "s: 0.0\ns: 0.01\ns: 0.02\ns: 0.03\n");
}

TEST(a_stop_ends_steps_of_everyone) {
    AUTO_RUN *run = open_script(1, "function start() world:stop('early') end", "");
    MUST_FAIL(mf_scene_run(&run->scene, 1.0, &error), MF_STOPPED, "stopped by a script: early");
    assert_int_equal(mf_world_time(run->scene.world), 0);
}
