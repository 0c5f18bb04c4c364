// Hosts with another rounding mode, with traps, or with subnormal numbers flushed: every shipped
// scene is loaded, stepped, saved and restored with the same bits, and the host's mode is kept.
#define _GNU_SOURCE // feenableexcept
#include "rig/rig.h"
#include "support.h"

#include <fenv.h>

#if defined(__SSE2__)
#include <xmmintrin.h>

GROUP_FIXTURE(setup_context, teardown_context);
#endif

enum { STEPS = 3, HOSTS = 5 };

static const char *const hosts[HOSTS] = {"plain", "upwards", "towards zero", "traps", "flushing"};

static void enter(int host) {
    fesetenv(FE_DFL_ENV);
    if (host == 1)
        fesetround(FE_UPWARD);
    if (host == 2)
        fesetround(FE_TOWARDZERO);
    if (host == 3)
        feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW | FE_INEXACT);
#if defined(__SSE2__)
    if (host == 4)
        _mm_setcsr(_mm_getcsr() | 0x8040u);
#endif
}

// What the host has set, without the flags of what has happened.
static unsigned mode(void) {
#if defined(__SSE2__)
    return _mm_getcsr() & ~0x3fu;
#else
    return (unsigned)fegetround();
#endif
}

static uint64_t hash_of(mf_Context *context, const char *path, int host) {
    const mf_Override fewer = {"group.count", "16"};
    mf_SceneFile *file = NULL;
    mf_Scene scene;
    mf_Error error = {0};
    enter(host);
    const unsigned before = mode();
    mf_Status status = mf_scene_file_load(context, path, NULL, 0, &file, &error);
    if (status == MF_OK && file->group_count == 1 && file->groups[0].count > 16) {
        mf_scene_file_destroy(file);
        status = mf_scene_file_load(context, path, &fewer, 1, &file, &error);
    }
    if (status == MF_OK)
        status = mf_scene_create(context, file, NULL, &scene, &error);
    if (status != MF_OK) {
        enter(0);
        fail_with(&error);
    }
    mf_world_step(scene.world, STEPS);
    const size_t size = mf_world_snapshot_size(scene.world);
    void *image = malloc(size);
    if (mf_world_snapshot(scene.world, image, size, NULL) == MF_OK)
        status = mf_world_restore(scene.world, image, size, &error);
    free(image);
    mf_world_step(scene.world, STEPS);
    const uint64_t hash = mf_world_hash(scene.world);
    char *text = NULL;
    if (mf_scene_file_write(file, &text, &error) == MF_OK)
        mf_release(context, text);
    const bool kept = mode() == before;
    mf_scene_destroy(&scene);
    mf_scene_file_destroy(file);
    enter(0);
    if (!kept)
        fail_msg("%s: the mode of the host (%s) is lost", path, hosts[host]);
    return hash;
}

static uint32_t different; // [1] hosts of scenes

static void compare(mf_Context *context, const char *name) {
    const char *path = formatted("%s/scenes/%s", MAYFLY_SOURCE_DIR, name);
    const uint64_t plain = hash_of(context, path, 0);
    for (int host = 1; host < HOSTS; host++)
        if (hash_of(context, path, host) != plain) {
            print_message("%s: other bits with %s\n", name, hosts[host]);
            different++;
        }
}

TEST(all_scenes_are_the_same_in_all_hosts) {
    each_scene(*state, compare);
    assert_int_equal(different, 0);
}
