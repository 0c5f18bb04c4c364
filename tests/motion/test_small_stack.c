// A step of full dynamics from threads whose stacks are too small for it: the same bits.
#include "motion/articulated_text.h"

#include <pthread.h>

static const char ball[] = "<mujoco><worldbody><geom type='plane' size='5 5 .1'/><body><freejoint/>"
                           "<geom type='sphere' size='.1' mass='2'/></body></worldbody></mujoco>";

static void *step_world(void *world) {
    mf_world_step(world, 100);
    return NULL;
}

static uint64_t hash_with(size_t stack) {
    TextConfig config = text_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
    pthread_attr_t attributes;
    pthread_t thread;
    Text t;
    config.group.double_precision = false;
    config.group.count = 64;
    config.motion.shapes = true;
    text_open(&t, ball, &config);
    if (stack == 0) {
        mf_world_step(t.world, 100);
    } else {
        assert_int_equal(pthread_attr_init(&attributes), 0);
        assert_int_equal(pthread_attr_setstacksize(&attributes, stack), 0);
        assert_int_equal(pthread_create(&thread, &attributes, step_world, t.world), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        pthread_attr_destroy(&attributes);
    }
    const uint64_t hash = mf_world_hash(t.world);
    text_close(&t);
    return hash;
}

static void small_stacks_step_too(void **state) {
    const uint64_t expected = hash_with(0);
    (void)state;
    assert_true(hash_with(5u << 20) == expected);
    assert_true(hash_with(256u << 10) == expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(small_stacks_step_too)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
