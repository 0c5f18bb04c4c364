// The schedule: exact rates, the order of phases, isolated and shared groups.
#include "base/clock.h"
#include "motion/rig.h"

#include <stdatomic.h>

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

// A world, and a body without a group of it.
static Rig open_body(uint32_t threads, mf_Time step) {
    static const double moment[3] = {1, 1, 1};
    Rig rig = rig_begin(threads);
    mf_hand_inertia(rig.hand, 0, 1.0, moment);
    rig.world = open_world(rig.context, &WITH(mf_world_config(), .step = step));
    return rig;
}

static Rig open_group(mf_Time step, bool isolated, uint32_t count) {
    Rig rig = open_body(1, step);
    rig.group = add_group(rig.world, &WITH(mf_group_config(), .model = &rig.hand->model,
                                           .isolated = isolated, .count = count));
    return rig;
}

static void add_system(const Rig *rig, mf_SystemConfig config) {
    MUST(mf_group_add_system(rig->group, &config, &error));
}

static void add_writer(Rig *rig, Writer *writer, mf_Phase phase, mf_Rate rate) {
    add_system(rig, WITH(mf_system_config(), .phase = phase, .rate = rate, .run = write_diary,
                         .user = writer));
}

// A system runs in exactly the steps in which mf_rate_due holds, however the steps are cut into
// calls: 30 Hz with 10 ms steps, 30000/1001 Hz, 7 Hz, 1 Hz, 80 ms, 3 s, and as fast as the steps.
TEST(rates_are_exact) {
    static const mf_Rate rates[] = {{30, 1}, {30000, 1001}, {7, 1},  {1, 1},
                                    {25, 2}, {1, 3},        {100, 1}};
    static const mf_Time steps[] = {10 * MF_MILLISECOND, MF_MILLISECOND, 3 * MF_MILLISECOND};
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
        for (size_t s = 0; s < sizeof steps / sizeof *steps; s++)
            for (uint64_t chunk = 1; chunk <= 1000; chunk *= 10) {
                static Diary diary;
                diary.count = 0;
                Writer writer = {&diary, 0};
                if (rates[r].numerator * steps[s] > rates[r].denominator * MF_SECOND)
                    continue; // refused, see below
                AUTO_RIG rig = open_group(steps[s], true, 1);
                add_writer(&rig, &writer, MF_PHASE_CONTROL, rates[r]);
                for (uint64_t done = 0; done < 2000; done += chunk)
                    mf_world_step(rig.world, chunk);
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
            }
}

// 30 Hz in steps of 10 ms: ticks at 0, 33.3, 66.6, 100 ms fall into steps 0, 4, 7, 10.
TEST(thirty_hertz_by_hand) {
    static const uint64_t expected[] = {0, 4, 7, 10, 14, 17, 20};
    AUTO(end_memory) Diary *diary = calloc(1, sizeof *diary);
    Writer writer = {diary, 0};
    AUTO_RIG rig = open_group(10 * MF_MILLISECOND, true, 1);
    add_writer(&rig, &writer, MF_PHASE_SENSE, (mf_Rate){30, 1});
    mf_world_step(rig.world, 21);
    assert_int_equal(diary->count, 7);
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(diary->tick[i], expected[i]);
}

// Sense, control, motion, after; within a phase in the order of being added.
TEST(phases_are_in_order) {
    static const mf_Phase added[] = {MF_PHASE_MOTION,  MF_PHASE_AFTER,  MF_PHASE_SENSE,
                                     MF_PHASE_CONTROL, MF_PHASE_MOTION, MF_PHASE_SENSE};
    static const int expected[] = {2, 5, 3, 0, 4, 1};
    for (int isolated = 0; isolated < 2; isolated++) {
        static Diary diary;
        diary.count = 0;
        Writer writers[6];
        AUTO_RIG rig = open_group(10 * MF_MILLISECOND, isolated != 0, 5);
        for (int i = 0; i < 6; i++) {
            writers[i] = (Writer){&diary, i};
            add_writer(&rig, &writers[i], added[i], (mf_Rate){0, 0});
        }
        mf_world_step(rig.world, 3);
        assert_int_equal(diary.count, 18);
        for (uint32_t i = 0; i < 18; i++) {
            assert_int_equal(diary.who[i], expected[i % 6]);
            assert_int_equal(diary.tick[i], i / 6);
        }
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

static void do_nothing(const mf_WorldRun *run, void *user) {}

// However blocks and steps are cut into calls: each block goes through each step once, in order.
// With a world system that is due in every third step shared groups go in steps then and freely in
// between.
TEST(each_block_goes_through_each_step) {
    for (int kind = 0; kind < 3; kind++) {
        uint64_t next[5] = {0};
        AUTO_RIG rig = open_group(10 * MF_MILLISECOND, kind == 0, 5 * MF_BLOCK - 3);
        add_system(&rig, WITH(mf_system_config(), .run = note_ticks, .user = next));
        if (kind == 2) {
            MUST(mf_world_add_system(rig.world,
                                     &WITH(mf_world_system_config(), .name = "third",
                                           .rate = mf_rate_from_period(30 * MF_MILLISECOND),
                                           .run = do_nothing),
                                     &error));
        }
        mf_world_step(rig.world, 7);
        mf_world_step(rig.world, 1);
        mf_world_step(rig.world, 11);
        for (int block = 0; block < 5; block++)
            assert_int_equal(next[block], 19);
    }
}

// ---- declarations -------------------------------------------------------------------------------

static const char *const nothing[] = {NULL}, *const angle[] = {"joint.angle", NULL},
                         *const target[] = {"joint.target", NULL},
                         *const place[] = {"base.position", NULL},
                         *const place_and_fault[] = {"base.position", "fault.word", NULL},
                         *const target_and_fault[] = {"joint.target", "fault.word", NULL},
                         *const extra[] = {"?extra.value", NULL};

static void rest(const mf_SystemRun *run, void *user) {}

static mf_SystemConfig declaring(const char *name, mf_Phase phase, const char *const *reads,
                                 const char *const *writes) {
    return WITH(mf_system_config(), .name = name, .phase = phase, .reads = reads, .writes = writes,
                .run = rest);
}

static mf_FieldInfo extra_field(const char *name) {
    return (mf_FieldInfo){name, "1", "", MF_REAL, MF_PER_INSTANCE, 1, MF_FIELD_STATE, "of a test"};
}

// Two blind writers of one field in one phase: refused with both names and the field, whichever
// group; with a common word, in another phase, or when one does not say what it writes, they stand.
TEST(writers_that_collide_are_refused) {
    AUTO_RIG rig = open_group(10 * MF_MILLISECOND, true, 3);
    mf_SystemConfig first = declaring("walker", MF_PHASE_CONTROL, nothing, target);
    mf_SystemConfig second = declaring("waver", MF_PHASE_CONTROL, nothing, target_and_fault);
    add_system(&rig, first);
    MUST_FAIL_AS(mf_group_add_system(rig.group, &second, &error), MF_BAD_ARGUMENT,
                 "group robots: systems walker and waver both write "
                 "joint.target in the phase control");
    assert_int_equal(mf_group_system_count(rig.group), 1);
    second.together = "gait"; // one word is not enough, the other must say it too
    MUST_FAIL(mf_group_add_system(rig.group, &second, &error), MF_BAD_ARGUMENT, "");
    add_system(&rig, declaring("late", MF_PHASE_AFTER, nothing, target));
    add_system(&rig, declaring("callback", MF_PHASE_CONTROL, NULL, NULL));
    AUTO_RIG other = open_group(10 * MF_MILLISECOND, true, 3);
    first.together = "gait";
    add_system(&other, first);
    add_system(&other, second);
    assert_int_equal(mf_group_system_wave(other.group, 1), 1); // one behind the other
    // Bits of faults are everybody's.
    add_system(&other, declaring("raiser", MF_PHASE_CONTROL, nothing, place_and_fault));
}

// Motions of several levels share their group's fields once it says which robot moves by which.
TEST(motions_share_by_level) {
    for (int level = 0; level < 2; level++) {
        mf_Error error = {0};
        mf_Field *field;
        mf_FieldInfo info = extra_field("motion.level");
        AUTO_RIG rig = open_group(10 * MF_MILLISECOND, true, 3);
        if (level == 1)
            must(mf_group_add_field(rig.group, &info, 0, &field, &error), &error);
        mf_SystemConfig two = declaring("two", MF_PHASE_MOTION, nothing, place_and_fault);
        add_system(&rig, declaring("one", MF_PHASE_MOTION, nothing, place));
        assert_int_equal(mf_group_add_system(rig.group, &two, &error),
                         level == 1 ? MF_OK : MF_BAD_ARGUMENT);
    }
}

// A name with ? counts from the moment the field is there; a field that two systems would write is
// refused, and nothing has changed.
TEST(names_may_wait_for_their_field) {
    mf_Field *field;
    mf_FieldInfo info = extra_field("extra.value");
    AUTO_RIG rig = open_group(10 * MF_MILLISECOND, true, 3);
    const char *list[] = {"base.position", "?extra.value", NULL}; // copied: need not stay
    add_system(&rig, declaring("one", MF_PHASE_SENSE, list, angle));
    list[0] = "gone";
    const mf_SystemConfig *kept = mf_group_system(rig.group, 0);
    assert_string_equal(kept->reads[0], "base.position");
    assert_null(kept->reads[1]);
    MUST(mf_group_add_field(rig.group, &info, 0, &field, &error));
    assert_string_equal(kept->reads[1], "extra.value");
    assert_null(kept->reads[2]);
    assert_string_equal(mf_group_reader(rig.group, "extra.value", 0), "one");
    assert_null(mf_group_reader(rig.group, "extra.value", 1));
    assert_null(mf_group_writer(rig.group, "extra.value", 0));
    assert_string_equal(mf_group_writer(rig.group, "joint.angle", 0), "one");

    mf_SystemConfig lacks = declaring("lacks", MF_PHASE_SENSE, list, nothing);
    MUST_FAIL_AS(mf_group_add_system(rig.group, &lacks, &error), MF_NOT_FOUND,
                 "system lacks: group robots has no field gone");
    AUTO_RIG other = open_group(10 * MF_MILLISECOND, true, 3);
    add_system(&other, declaring("one", MF_PHASE_SENSE, nothing, extra));
    add_system(&other, declaring("two", MF_PHASE_SENSE, nothing, extra));
    uint32_t fields = mf_group_field_count(other.group);
    MUST_FAIL(mf_group_add_field(other.group, &info, 0, &field, &error), MF_BAD_ARGUMENT, "");
    assert_null(field);
    assert_int_equal(mf_group_field_count(other.group), fields);
    assert_null(mf_group_find_field(other.group, "extra.value"));
    assert_null(mf_group_system(other.group, 0)->writes[0]);
}

// Faster than the steps there is nothing between; the line names both.
TEST(rates_above_the_step_are_refused) {
    AUTO_RIG rig = open_group(10 * MF_MILLISECOND, false, 3);
    mf_SystemConfig config = declaring("fast", MF_PHASE_SENSE, nothing, nothing);
    static const mf_Rate wrong[] = {{101, 1}, {INT64_MAX, 1}, {-1, 1}, {1, 0}, {0, 1}, {-1, -1}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        config.rate = wrong[i];
        MUST_FAIL(mf_group_add_system(rig.group, &config, &error), MF_BAD_ARGUMENT, "");
    }
    config.rate = (mf_Rate){400, 1};
    MUST_FAIL_AS(mf_group_add_system(rig.group, &config, &error), MF_BAD_ARGUMENT,
                 "system fast: ticks every 0.0025 s, expected at least the "
                 "world's step of 0.01 s");
    mf_WorldSystemConfig world = WITH(mf_world_system_config(), .name = "look", .run = do_nothing,
                                      .rate = ((mf_Rate){400, 1}));
    MUST_FAIL(mf_world_add_system(rig.world, &world, &error), MF_BAD_ARGUMENT, "");
    world.rate = config.rate = (mf_Rate){100, 1};
    MUST(mf_world_add_system(rig.world, &world, &error));
    MUST(mf_group_add_system(rig.group, &config, &error));
}

// A phase that there is not would never run.
TEST(systems_without_name_or_phase_are_refused) {
    AUTO_RIG rig = open_group(10 * MF_MILLISECOND, false, 3);
    for (int which = 0; which < 2; which++) {
        mf_SystemConfig config = declaring("odd", MF_PHASE_SENSE, nothing, nothing);
        mf_WorldSystemConfig world = WITH(mf_world_system_config(), .run = do_nothing);
        if (which == 0)
            config.name = world.name = NULL;
        else
            config.phase = world.phase = (mf_Phase)(MF_PHASE_AFTER + 1);
        MUST_FAIL_AS(mf_group_add_system(rig.group, &config, &error), MF_BAD_ARGUMENT,
                     "system: need a name and a phase");
        MUST_FAIL_AS(mf_world_add_system(rig.world, &world, &error), MF_BAD_ARGUMENT,
                     "world system: need a name and a phase");
    }
}

// ---- waves --------------------------------------------------------------------------------------

// Numbers of waves by hand: b reads what a writes, c has nothing to do with either, d reads what b
// writes, e does not say, f comes behind e; g is of another phase.
TEST(waves_by_hand) {
    static const struct {
        const char *name;
        mf_Phase phase;
        const char *const *reads, *const *writes;
        uint32_t wave;
    } rows[] = {
        {"a", MF_PHASE_SENSE, nothing, angle, 0},   {"b", MF_PHASE_SENSE, angle, target, 1},
        {"c", MF_PHASE_SENSE, nothing, place, 0},   {"d", MF_PHASE_SENSE, target, nothing, 2},
        {"e", MF_PHASE_SENSE, NULL, nothing, 3},    {"f", MF_PHASE_SENSE, nothing, nothing, 4},
        {"g", MF_PHASE_CONTROL, angle, nothing, 0}, {"h", MF_PHASE_CONTROL, angle, place, 0}};
    AUTO_RIG rig = open_group(10 * MF_MILLISECOND, true, 3);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        add_system(&rig, declaring(rows[i].name, rows[i].phase, rows[i].reads, rows[i].writes));
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(mf_group_system(rig.group, i)->name, rows[i].name);
        assert_int_equal(mf_group_system_wave(rig.group, i), rows[i].wave);
    }
}

typedef struct Mixer {
    const mf_Field *from;
    mf_Field *to;
    double factor;
} Mixer;

static void mix(const mf_SystemRun *run, void *user) {
    const Mixer *mixer = user;
    for (uint32_t i = run->first_block * MF_BLOCK;
         i < (run->first_block + run->block_count) * MF_BLOCK; i++) {
        double value = mf_field_get(mixer->to, i, 0);
        for (int round = 0; round < 100; round++) // long enough for threads to meet
            value = 0.75 * value + mixer->factor * mf_field_get(mixer->from, i, 0) + 0.125;
        mf_field_set(mixer->to, i, 0, value + (double)run->tick);
    }
}

static void mix_world(const mf_WorldRun *run, void *user) {
    mf_Field *value = user;
    mf_field_set(value, 0, 0, mf_field_get(value, 0, 0) + 0.5 * (double)run->tick);
}

// A net of slow systems over several fields, at several rates and phases, in two groups.
static uint64_t run_net(uint32_t threads, bool isolated, bool slow, uint64_t chunk, bool measured) {
    static const char *const names[] = {"f.0", "f.1", "f.2", "f.3", "f.4", "f.5"};
    static const struct {
        mf_Phase phase;
        int from, to;
        mf_Rate rate;
    } net[] = {{MF_PHASE_SENSE, 0, 1, {0, 0}},   {MF_PHASE_SENSE, 0, 2, {50, 1}},
               {MF_PHASE_SENSE, 1, 3, {30, 1}},  {MF_PHASE_CONTROL, 3, 4, {0, 0}},
               {MF_PHASE_CONTROL, 2, 5, {0, 0}}, {MF_PHASE_MOTION, 4, 0, {0, 0}},
               {MF_PHASE_AFTER, 0, 1, {25, 2}},  {MF_PHASE_AFTER, 5, 2, {0, 0}}};
    enum { COUNT = sizeof net / sizeof *net };
    Mixer mixers[2][COUNT];
    AUTO_RIG rig = open_body(threads, 10 * MF_MILLISECOND);
    for (int g = 0; g < 2; g++) {
        mf_Field *fields[6];
        mf_GroupConfig config =
            WITH(mf_group_config(), .name = g == 0 ? "first" : "second", .model = &rig.hand->model,
                 .isolated = isolated, .count = 3, .fault_policy = MF_FAULT_RESET);
        rig.group = add_group(rig.world, &config);
        for (int f = 0; f < 6; f++) {
            mf_FieldInfo info = extra_field(names[f]);
            MUST(mf_group_add_field(rig.group, &info, 0, &fields[f], &error));
        }
        for (int i = 0; i < COUNT; i++) {
            const char *reads[] = {names[net[i].from], NULL}, *writes[] = {names[net[i].to], NULL};
            mixers[g][i] = (Mixer){fields[net[i].from], fields[net[i].to], 0.001 * (i + 1)};
            add_system(&rig,
                       WITH(declaring("mixer", net[i].phase, reads, writes), .rate = net[i].rate,
                            .run = mix, .user = &mixers[g][i], .slow = slow));
        }
        mf_WorldSystemConfig beside =
            WITH(mf_world_system_config(), .phase = MF_PHASE_MOTION, .rate = ((mf_Rate){20, 1}),
                 .run = mix_world, .user = fields[0]);
        if (!isolated)
            MUST(mf_world_add_system(rig.world, &beside, &error));
    }
    mf_world_measure(rig.world, measured);
    for (uint64_t done = 0; done < 120; done += chunk)
        mf_world_step(rig.world, chunk);
    for (uint32_t s = 0; s < COUNT; s++) {
        double took = mf_group_system_seconds(rig.group, s);
        assert_true(measured ? took > 0.0 && took < 60.0 : took == 0.0);
    }
    return mf_world_hash(rig.world);
}

// The same bits whether systems run beside each other or one after the other, with a clock beside
// them or without, and however the steps are cut into calls.
TEST(waves_do_not_show) {
    for (int isolated = 0; isolated < 2; isolated++) {
        uint64_t expected = run_net(1, isolated != 0, false, 120, false);
        for (uint32_t threads = 1; threads <= 8; threads *= 2)
            for (uint64_t chunk = 1; chunk <= 120; chunk *= 120)
                for (int slow = 0; slow < 2; slow++)
                    assert_true(run_net(threads, isolated != 0, slow != 0, chunk, slow != 0) ==
                                expected);
    }
}

typedef struct Rendezvous {
    _Atomic int inside, most;
} Rendezvous;

// Waits up to 2 s for the other one.
static void wait_for_other(const mf_SystemRun *run, void *user) {
    Rendezvous *rendezvous = user;
    int now = atomic_fetch_add(&rendezvous->inside, 1) + 1;
    int64_t begin = mf_clock_now();
    while (now < 2 && atomic_load(&rendezvous->most) < 2 && mf_clock_now() - begin < 2 * MF_SECOND)
        now = atomic_load(&rendezvous->inside);
    if (now > 1)
        atomic_store(&rendezvous->most, now);
    atomic_fetch_sub(&rendezvous->inside, 1);
}

// Two slow systems that have nothing in common are really inside at the same time.
TEST(slow_systems_meet) {
    Rendezvous rendezvous = {0};
    AUTO_RIG rig = open_body(2, 10 * MF_MILLISECOND);
    rig.group = add_group(rig.world, &WITH(mf_group_config(), .model = &rig.hand->model));
    const mf_SystemConfig one = WITH(declaring("one", MF_PHASE_SENSE, nothing, angle),
                                     .run = wait_for_other, .user = &rendezvous, .slow = true);
    add_system(&rig, one);
    add_system(&rig, WITH(one, .name = "two", .writes = target));
    mf_world_step(rig.world, 1);
    assert_int_equal(atomic_load(&rendezvous.most), 2);
}
