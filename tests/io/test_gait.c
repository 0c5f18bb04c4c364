// Gait files: positions and messages of mistakes, written files read back, mirror images, and every
// shipped gait fits its robot and makes it walk.
#include "rig/rig.h"
#include "rig/motions.h"
#include "io/document.h"
#include "control/gait.h"
#include "io/gait_keys.h"

#include <dirent.h>

#define MODELS MAYFLY_SOURCE_DIR "/models/"

typedef struct Fixture {
    mf_Context *context;
    mf_Model *model;
} Fixture;

static int open_fixture(void **state) {
    Fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    fixture->context = open_context(0);
    MUST(mf_model_load(fixture->context, MODELS "humanoid.urdf", NULL, &fixture->model, &error));
    *state = fixture;
    return 0;
}

static int close_fixture(void **state) {
    Fixture *fixture = *state;
    mf_model_destroy(fixture->model);
    close_context(fixture->context);
    free(fixture);
    return 0;
}

GROUP_FIXTURE(open_fixture, close_fixture);

TEST_ON(mistakes_have_a_position, Fixture *fixture) {
    static const struct {
        const char *text;
        int line, column;
        const char *message;
    } cases[] = {
        {"[]", 1, 1, "expected one key: walk, waves or keyframes, found an empty list"},
        {"walc: {}", 1, 1, "walc: unknown key, did you mean walk?"},
        {"walk: {height: 0.1, width: 0.04}\nwaves: {}", 2, 1,
         "expected one key: walk, waves or keyframes, found waves, too"},
        {"walk: {width: 0.04}", 1, 7, "expected the key walk.height, which is missing"},
        {"walk:\n  height: 0.165\n  width: 0.04\n  lift: high", 4, 9,
         "walk.lift: expected a number from 0 to 10 m, found high"},
        {"walk:\n  height: 0.4\n  width: 0.04", 2, 11,
         "walk.height: the feet are out of reach: 0.4 m is more than the length of the legs"},
        {"walk:\n  height: 0.16\n  width: 0.04\n  legs:\n    left: {knee: left_kne}", 5, 18,
         "walk.legs.left.knee: robot humanoid has no joint left_kne, did you mean left_knee?"},
        {"walk:\n  height: 0.16\n  width: 0.04\n  legs:\n    left: {knee: right_knee}", 5, 11,
         "walk.legs.left: leg: right_knee as knee: does not follow the joint before"},
        {"walk:\n  height: 0.16\n  width: 0.04\n  pose: {left_elbow: 3}", 4, 22,
         "walk.pose.left_elbow: 3 is outside of the joint's range -2.4 .. 0.1"},
        {"walk:\n  height: 0.16\n  width: 0.04\n  pose: {left_knee: 1}", 4, 21,
         "walk.pose.left_knee: joint left_knee belongs to a leg"},
        {"waves: {joints: []}", 1, 17, "waves.joints: expected a list, found an empty list"},
        {"waves:\n  joints:\n    - {joint: tail}", 3, 15,
         "waves.joints.0.joint: robot humanoid has no joint tail"},
        {"waves:\n  joints:\n    - {joint: waist, harmonic: 17}", 3, 32,
         "waves.joints.0.harmonic: expected a whole number from 1 to 16, found 17"},
        {"keyframes: {}", 1, 1, "keyframes.frames: need at least one frame"},
        {"keyframes:\n  frames:\n    - {time: 0, angles: {left_kne: 0.2}}", 3, 26,
         "keyframes.frames.0.angles.left_kne: robot humanoid has no joint left_kne, did you mean "
         "left_knee?"},
        {"keyframes:\n  frames:\n    - {time: 0, angles: {left_knee: bent}}", 3, 37,
         "keyframes.frames.0.angles.left_knee: expected a number from -1000 to 1000 rad, found "
         "bent"},
        {"keyframes:\n  frames:\n    - {time: 1}\n    - {time: 1}", 4, 14,
         "keyframes.frames.1.time: need a time after that before, 1 s, found 1"},
        {"keyframes:\n  loop: true\n  frames:\n    - {time: 0}", 2, 9,
         "keyframes.loop: need at least two frames for a loop"},
        {"keyframes:\n  mirror_of: a.yaml\n  loop: true", 3, 3,
         "keyframes.loop: a mirror image takes everything from mirror_of"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mf_Gait *gait = NULL;
        mf_Error error = {0};
        assert_fails_as(mf_gait_parse(fixture->context, "/tests/g.yaml", cases[i].text,
                                      strlen(cases[i].text), fixture->model, &gait, &error),
                        MF_BAD_FILE, &error, cases[i].message);
        assert_null(gait);
        assert_int_equal(error.line, cases[i].line);
        assert_int_equal(error.column, cases[i].column);
    }
}

// ---- shipped gaits -----------------------------------------------------------------------------

typedef void (*GaitFn)(const Fixture *fixture, const mf_Model *model, const mf_Gait *gait);

// Calls `check` for every file of models/gaits/<robot>; how many there are.
static uint32_t for_each_gait(const Fixture *fixture, const char *robot, GaitFn check) {
    AUTO_MODEL *model;
    uint32_t count = 0;
    MUST(mf_model_load(fixture->context, formatted(MODELS "%s.urdf", robot), NULL, &model, &error));
    DIR *folder = opendir(formatted(MODELS "gaits/%s", robot));
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (strstr(entry->d_name, ".yaml") == NULL)
            continue;
        AUTO_GAIT *gait = NULL;
        const char *path = formatted(MODELS "gaits/%s/%s", robot, entry->d_name);
        MUST(mf_gait_load(fixture->context, path, model, &gait, &error));
        check(fixture, model, gait);
        count++;
    }
    closedir(folder);
    return count;
}

static void check_text(const Fixture *fixture, const mf_Model *model, const mf_Gait *gait) {
    char *once, *twice;
    AUTO_GAIT *again = NULL;
    MUST(mf_gait_write(gait, &once, &error));
    MUST(mf_gait_parse(fixture->context, gait->file, once, strlen(once), model, &again, &error));
    MUST(mf_gait_write(again, &twice, &error));
    assert_string_equal(once, twice);
    mf_release(fixture->context, once);
    mf_release(fixture->context, twice);
}

TEST(what_is_written_reads_back) {
    assert_true(for_each_gait(*state, "humanoid", check_text) >= 3);
    assert_true(for_each_gait(*state, "hexapod", check_text) >= 3);
    assert_true(for_each_gait(*state, "quadruped", check_text) >= 3);
}

// 10 s at full command under `articulated`: stays upright and gets at least 60 % as far as told.
static void check_distance(const Fixture *fixture, const mf_Model *model, const mf_Gait *gait) {
    static const double none[3] = {0, 0, 0};
    const mf_GaitPace *pace = gait->kind == MF_GAIT_WALK ? &gait->walk.pace : &gait->waves.pace;
    if (gait->kind == MF_GAIT_KEYFRAMES)
        return;
    AUTO_WORLD *world =
        open_world(fixture->context, &WITH(mf_world_config(), .step = MF_MILLISECOND));
    mf_Group *group = add_group(world, &WITH(mf_group_config(), .model = model));
    MUST(rig_add_articulated(group, &WITH(mf_motions_config().articulated, .self_contacts = false),
                             &error));
    MUST(mf_gaits_add(group, &gait, 1, NULL, &error));
    double q[64] = {0}, v[64] = {0}, angles[64];
    assert_in_range(model->position_count, 1, 64);
    memcpy(angles, model->start_angle, model->joint_count * sizeof *angles);
    MUST(mf_gait_sample(gait, model, 0, none, angles, &error));
    double lean = gait->kind == MF_GAIT_WALK ? gait->walk.lean : 0.0;
    // Straight legs have the hips 186 mm above the ankles.
    q[2] = model->rest_height + (gait->kind == MF_GAIT_WALK ? gait->walk.height - 0.186 : 0.0);
    q[3] = cos(lean / 2);
    q[5] = sin(lean / 2);
    for (uint32_t j = 0; j < model->joint_count; j++)
        q[model->joints[j].position_address] = angles[j];
    mf_group_set_state(group, 0, q, v);
    set_field(group, "gait.command", 0, 0, pace->forward);
    mf_world_step(world, 10000);
    double distance = get_field(group, "base.position", 0, 0);
    double x = get_field(group, "base.orientation", 0, 1);
    double y = get_field(group, "base.orientation", 0, 2);
    // ContactSlots: the whole command but for the time in which it rises.
    double commanded = pace->forward * (10.0 - 0.5 * pace->rise);
    double upright = 1 - 2 * (x * x + y * y),
           margin = pace->forward == 0.0 ? 0.1 : 0.0; // in place: 0.04 seen
    if (mf_group_fault(group, 0) != 0 || !(upright > 0.9) ||
        !(distance >= 0.6 * commanded - margin) || !(distance <= 1.3 * commanded + margin))
        fail_msg("%s: got %g m of %g m, upright %g", gait->file, distance, commanded, upright);
}

TEST(every_gait_walks_under_articulated) {
    for_each_gait(*state, "humanoid", check_distance);
    for_each_gait(*state, "hexapod", check_distance);
    for_each_gait(*state, "quadruped", check_distance);
}

// The tables of docs/reference/gaits.md are those of the program.
TEST_ON(the_documentation_has_every_key, Fixture *fixture) {
    char *table;
    AUTO(end_memory) char *page = file_get(MAYFLY_SOURCE_DIR "/docs/reference/gaits.md", NULL);
    for (int kind = 0; kind <= MF_GAIT_KEYFRAMES; kind++) {
        MUST(mf_keys_describe(fixture->context, mf_gait_table((mf_GaitKind)kind), true, &table,
                              &error));
        if (strstr(page, table) == NULL)
            fail_msg("docs/reference/gaits.md lacks the table of %s:\n%s",
                     mf_gait_kind_name((mf_GaitKind)kind), table);
        mf_release(fixture->context, table);
    }
}
