// Restore is exact: every shipped scene, restored at every tick, in any order, into a world with
// another history, goes on with the bits of the first time. What a member outside of fields keeps
// from before (a cache, a mark of a step) shows here.
#include "rig/rig.h"
#include "support.h"
#include "scene/script/script.h"

GROUP_FIXTURE(setup_context, teardown_context);

enum { TICKS = 40, VISITS = 80, HISTORIES = 2 }; // VISITS: beyond those of all ticks in order

typedef struct Life { // one of the histories
    uint64_t hash[TICKS + 2];
    char *image[TICKS + 2]; // NULL: the world had results that were not applied yet
    size_t size[TICKS + 2];
} Life;

static uint64_t next_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void keep(const mf_World *world, Life *life, uint32_t tick) {
    mf_Error error = {0};
    life->hash[tick] = mf_world_hash(world);
    life->size[tick] = mf_world_snapshot_size(world);
    life->image[tick] = test_malloc(life->size[tick]);
    const mf_Status status = mf_world_snapshot(world, life->image[tick], life->size[tick], &error);
    if (status != MF_OK) {
        assert_int_equal(status, MF_BUSY);
        test_free(life->image[tick]);
        life->image[tick] = NULL;
    }
}

// Another history: all robots are elsewhere, and move.
static void disturb(mf_World *world) {
    uint64_t random = 7;
    for (uint32_t g = 0; g < mf_world_group_count(world); g++) {
        mf_Group *group = mf_world_group(world, g);
        mf_Field *position = mf_group_find_field(group, "base.position");
        for (uint32_t i = 0; position != NULL && i < mf_group_count(group); i++)
            for (uint32_t c = 0; c < 3; c++)
                mf_field_set(position, i, c,
                             mf_field_get(position, i, c) +
                                 1e-5 * (double)(next_random(&random) % 1000));
    }
}

static bool is_isolated(mf_World *world) {
    for (uint32_t g = 0; g < mf_world_group_count(world); g++)
        if (!mf_group_config_of(mf_world_group(world, g))->isolated)
            return false;
    return true;
}

static void live(mf_World *world, Life *life, uint32_t ticks) {
    for (uint32_t t = 0; t <= ticks + 1; t++) {
        keep(world, life, t);
        if (t <= ticks)
            mf_world_step(world, 1);
    }
}

// Goes to ticks of all histories in any order, and a step or two on.
static void visit(mf_World *world, const Life lives[HISTORIES], uint32_t ticks, uint32_t visits,
                  const char *name) {
    uint64_t random = 1;
    for (uint32_t v = 0; v < visits; v++) {
        // Forwards through the first one, backwards through the other, then anywhere.
        const uint32_t pass = v / (ticks + 1), at = v % (ticks + 1);
        const Life *life = &lives[pass < HISTORIES ? pass : next_random(&random) % HISTORIES];
        const uint32_t tick = pass == 0   ? at
                              : pass == 1 ? ticks - at
                                          : (uint32_t)(next_random(&random) % (ticks + 1));
        if (life->image[tick] == NULL)
            continue;
        MUST(mf_world_restore(world, life->image[tick], life->size[tick], &error));
        for (uint32_t t = tick; t <= ticks + 1 && t <= tick + 2; t++) {
            if (mf_world_hash(world) != life->hash[t])
                fail_msg("%s: restored to step %u, another hash at step %u", name, tick, t);
            mf_world_step(world, 1);
        }
    }
}

// Without its scripts, whose variables no snapshot has.
static mf_Scene make_world(mf_Context *context, mf_SceneFile *file) {
    mf_Scene scene = make_scene(context, file);
    mf_scene_leave_scripts(&scene);
    return scene;
}

// `file` is destroyed.
static void check_file(mf_Context *context, mf_SceneFile *file, const char *name) {
    Life *lives = test_calloc(HISTORIES, sizeof *lives);
    mf_Scene first = make_world(context, file), second = make_world(context, file);
    const bool costly = is_isolated(first.world) || mf_scene_file_count(file) > 40 || SANITIZED;
    const uint32_t ticks = costly ? TICKS / 4 : FULL ? TICKS : TICKS / 2;
    live(first.world, &lives[0], ticks);
    mf_scene_destroy(&first);
    first = make_world(context, file);
    disturb(first.world);
    live(first.world, &lives[1], ticks);
    visit(second.world, lives, ticks,
          2 * ticks + 2 +
              (costly ? 0
               : FULL ? VISITS
                      : VISITS / 4),
          name);
    for (uint32_t h = 0; h < HISTORIES; h++)
        for (uint32_t t = 0; t <= ticks + 1; t++)
            if (lives[h].image[t] != NULL)
                test_free(lives[h].image[t]);
    test_free(lives);
    mf_scene_destroy(&first);
    drop_scene(&second, file);
}

static void check_scene(mf_Context *context, const char *name) {
    const mf_Override fewer = {"group.count", "64"};
    const char *path = formatted("scenes/%s", name);
    mf_SceneFile *file = load_scene(context, path, NULL, 0);
    if (file->group_count == 1 && file->groups[0].count > 64) {
        mf_scene_file_destroy(file);
        file = load_scene(context, path, &fewer, 1);
    }
    check_file(context, file, name);
}

// Two modules whose docks are near each other, and join within these steps.
TEST(docks_that_mate_restore_exactly) {
    mf_SceneFile *file = parse_scene(
        *state, "world: {step: 0.01}\n"
                "groups:\n  - name: m\n    model: ../models/modules/superbot_simple.urdf\n"
                "    count: 2\n    placement: {poses: [[0, 0, 0], [0.1682, 0, 0]]}\n"
                "    initial:\n      - {property: dock.enabled, values: [1]}\n");
    mf_Scene scene = make_scene(*state, file);
    mf_world_step(scene.world, TICKS);
    assert_int_equal(mf_docks_statistics(mf_world_docks_of(scene.world)).joined, 1);
    mf_scene_destroy(&scene);
    check_file(*state, file, "docks");
}

TEST(all_scenes_restore_exactly) {
    each_scene(*state, check_scene);
}
