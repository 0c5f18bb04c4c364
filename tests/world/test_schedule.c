// The schedule: exact rates, the order of phases, isolated and shared groups.
#include "motion/stage.h"

#include <stdlib.h>

enum { MOST_RUNS = 4096 };

typedef struct Diary {
    uint32_t count;
    uint64_t tick[MOST_RUNS];
    int who[MOST_RUNS];
} Diary;

typedef struct Writer {
    Diary *diary;
    int who;
} Writer;

static void write_diary(const mf_SystemRun *run, void *user) {
    const Writer *writer = user;
    Diary *diary = writer->diary;
    assert_true(run->time == (mf_Time)run->tick * run->step);
    assert_true(diary->count < MOST_RUNS);
    diary->tick[diary->count] = run->tick;
    diary->who[diary->count++] = writer->who;
}

static void open_group(Stage *stage, mf_Time step, bool isolated, uint32_t count) {
    static const double moment[3] = {1, 1, 1};
    mf_Error error = {0};
    stage_begin(stage, 1);
    mf_hand_inertia(&stage->hand, 0, 1.0, moment);
    mf_WorldConfig world = mf_world_config();
    world.step = step;
    must(mf_world_create(stage->context, &world, &stage->world, &error), &error);
    mf_GroupConfig group = mf_group_config();
    group.model = &stage->hand.model;
    group.isolated = isolated;
    group.count = count;
    must(mf_world_add_group(stage->world, &group, &stage->group, &error), &error);
}

static void add_writer(Stage *stage, Writer *writer, mf_Phase phase, mf_Rate rate) {
    mf_Error error = {0};
    mf_SystemConfig config = mf_system_config();
    config.phase = phase;
    config.rate = rate;
    config.run = write_diary;
    config.user = writer;
    must(mf_group_add_system(stage->group, &config, &error), &error);
}

// A system runs in exactly the steps in which mf_rate_due holds, however the steps are cut into
// calls: 30 Hz with 10 ms steps, 30000/1001 Hz, 7 Hz, 1 Hz, faster than the steps, and 80 ms.
static void rates_are_exact(void **state) {
    (void)state;
    static const mf_Rate rates[] = {{30, 1},   {30000, 1001}, {7, 1}, {1, 1},
                                    {1000, 1}, {25, 2},       {1, 3}, {100, 1}};
    static const mf_Time steps[] = {10 * MF_MILLISECOND, MF_MILLISECOND, 3 * MF_MILLISECOND};
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
        for (size_t s = 0; s < sizeof steps / sizeof *steps; s++)
            for (uint64_t chunk = 1; chunk <= 1000; chunk *= 10) {
                Stage stage;
                static Diary diary;
                diary.count = 0;
                Writer writer = {&diary, 0};
                open_group(&stage, steps[s], true, 1);
                add_writer(&stage, &writer, MF_PHASE_CONTROL, rates[r]);
                for (uint64_t done = 0; done < 2000; done += chunk)
                    mf_world_step(stage.world, chunk);
                uint32_t at = 0;
                for (uint64_t tick = 0; tick < 2000; tick++) {
                    bool due = mf_rate_due(rates[r], (mf_Time)tick * steps[s], steps[s]);
                    bool ran = at < diary.count && diary.tick[at] == tick;
                    if (due != ran)
                        fail_msg("rate %lld/%lld, tick %llu: due %d, ran %d",
                                 (long long)rates[r].numerator, (long long)rates[r].denominator,
                                 (unsigned long long)tick, due, ran);
                    at += ran;
                }
                assert_int_equal(at, diary.count);
                stage_close(&stage, NULL);
            }
}

// 30 Hz in steps of 10 ms: ticks at 0, 33.3, 66.6, 100 ms fall into steps 0, 4, 7, 10.
static void thirty_hertz_by_hand(void **state) {
    (void)state;
    static const uint64_t expected[] = {0, 4, 7, 10, 14, 17, 20};
    Stage stage;
    Diary *diary = calloc(1, sizeof *diary);
    Writer writer = {diary, 0};
    open_group(&stage, 10 * MF_MILLISECOND, true, 1);
    add_writer(&stage, &writer, MF_PHASE_SENSE, (mf_Rate){30, 1});
    mf_world_step(stage.world, 21);
    assert_int_equal(diary->count, 7);
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(diary->tick[i], expected[i]);
    free(diary);
    stage_close(&stage, NULL);
}

// Sense, control, motion, after; within a phase in the order of being added.
static void phases_are_in_order(void **state) {
    (void)state;
    static const mf_Phase added[] = {MF_PHASE_MOTION,  MF_PHASE_AFTER,  MF_PHASE_SENSE,
                                     MF_PHASE_CONTROL, MF_PHASE_MOTION, MF_PHASE_SENSE};
    static const int expected[] = {2, 5, 3, 0, 4, 1};
    for (int isolated = 0; isolated < 2; isolated++) {
        Stage stage;
        static Diary diary;
        diary.count = 0;
        Writer writers[6];
        open_group(&stage, 10 * MF_MILLISECOND, isolated != 0, 5);
        for (int i = 0; i < 6; i++) {
            writers[i] = (Writer){&diary, i};
            add_writer(&stage, &writers[i], added[i], (mf_Rate){0, 0});
        }
        mf_world_step(stage.world, 3);
        assert_int_equal(diary.count, 18);
        for (uint32_t i = 0; i < 18; i++) {
            assert_int_equal(diary.who[i], expected[i % 6]);
            assert_int_equal(diary.tick[i], i / 6);
        }
        stage_close(&stage, NULL);
    }
}

static void note_ticks(const mf_SystemRun *run, void *user) {
    uint64_t *next = user; // per block, the tick that it must see now
    for (uint32_t block = run->first_block; block < run->first_block + run->block_count; block++) {
        assert_int_equal(next[block], run->tick);
        assert_int_equal(run->time, (mf_Time)run->tick * run->step);
        next[block]++;
    }
}

static void do_nothing(const mf_WorldRun *run, void *user) {
    (void)run;
    (void)user;
}

// However blocks and steps are cut into calls: each block goes through each step once, in order.
// With a world system that is due in every third step shared groups go in steps then and freely in
// between.
static void each_block_goes_through_each_step(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        Stage stage;
        uint64_t next[5] = {0};
        open_group(&stage, 10 * MF_MILLISECOND, kind == 0, 5 * MF_BLOCK - 3);
        mf_SystemConfig config = mf_system_config();
        mf_Error error = {0};
        config.run = note_ticks;
        config.user = next;
        must(mf_group_add_system(stage.group, &config, &error), &error);
        if (kind == 2) {
            mf_WorldSystemConfig third = mf_world_system_config();
            third.name = "third";
            third.rate = mf_rate_from_period(30 * MF_MILLISECOND);
            third.run = do_nothing;
            must(mf_world_add_system(stage.world, &third, &error), &error);
        }
        mf_world_step(stage.world, 7);
        mf_world_step(stage.world, 1);
        mf_world_step(stage.world, 11);
        for (int block = 0; block < 5; block++)
            assert_int_equal(next[block], 19);
        stage_close(&stage, NULL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_exact),
        cmocka_unit_test(thirty_hertz_by_hand),
        cmocka_unit_test(phases_are_in_order),
        cmocka_unit_test(each_block_goes_through_each_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
