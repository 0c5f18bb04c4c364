// The result of a robot with a given seed does not depend on the batch, its index, the number of
// threads or the instruction set, to the bit, in float and in double.
#include "environment/support.h"

enum { STEPS = 12, LIMIT = 5, ALONE = 6, MANY = 67 };

// Robots that are also simulated alone.
static const uint32_t numbers[ALONE] = {0, 1, 15, 16, 40, 66};

// Robots first .. first + count - 1.
static void walk(const TaskModel *own, bool wide, uint32_t threads, uint32_t first, uint32_t count,
                 Path *out) {
    AUTO_RIG rig = rig_open(
        own->text,
        WITH(rig_config(own->task, count), .double_precision = wide, .episode_steps = LIMIT),
        threads);
    rig_walk(&rig, first, STEPS, out);
}

static void expect_same(const TaskModel *own, const char *where, uint32_t number, const Path *a,
                        const Path *b) {
    if (a->hash != b->hash || a->instance != b->instance)
        fail_msg("%s, %s: robot %u differs%s", own->task, where, number,
                 a->instance == b->instance ? " in its buffers" : "");
}

TEST(bits_do_not_depend_on_the_batch) {
    static Path batch[MANY], part[MANY], alone;
    for (int t = 0; t < TASKS; t++)
        for (int wide = 0; wide < 2; wide++) {
            const TaskModel *own = &task_models[t];
            walk(own, wide != 0, 1, 0, MANY, batch);
            for (int k = 0; k < ALONE; k++) {
                walk(own, wide != 0, 1, numbers[k], 1, &alone);
                expect_same(own, "alone", numbers[k], &alone, &batch[numbers[k]]);
            }
            walk(own, wide != 0, 1, 23, 20, part); // other lanes, other company
            for (uint32_t i = 0; i < 20; i++)
                expect_same(own, "elsewhere", 23 + i, &part[i], &batch[23 + i]);
        }
}

TEST(robots_differ) {
    static Path batch[MANY];
    walk(&task_models[0], true, 1, 0, MANY, batch);
    for (uint32_t i = 1; i < MANY; i++)
        assert_true(batch[i].hash != batch[0].hash && batch[i].instance != batch[0].instance);
}

TEST(bits_do_not_depend_on_threads) {
    static Path one[MANY], more[MANY];
    for (int t = 0; t < TASKS; t++)
        for (int wide = 0; wide < 2; wide++) {
            walk(&task_models[t], wide != 0, 1, 0, MANY, one);
            for (uint32_t threads = 2; threads <= 5; threads += 3) {
                walk(&task_models[t], wide != 0, threads, 0, MANY, more);
                for (uint32_t i = 0; i < MANY; i++)
                    expect_same(&task_models[t], "threads", i, &one[i], &more[i]);
            }
        }
}

TEST(instruction_sets_do_not_show) {
    static Path first[20], other[20];
    for (int t = 0; t < TASKS; t++)
        for (int wide = 0; wide < 2; wide++)
            FOR_EACH_ISA (isa) {
                setenv("MAYFLY_ISA", mf_isa_name(isa), 1);
                walk(&task_models[t], wide != 0, 1, 0, 20, isa == MF_ISA_SCALAR ? first : other);
                unsetenv("MAYFLY_ISA");
                for (uint32_t i = 0; isa != MF_ISA_SCALAR && i < 20; i++)
                    expect_same(&task_models[t], mf_isa_name(isa), i, &first[i], &other[i]);
            }
}
