// A master and its workers: every work is done once, whoever is lost, slow, foreign or wrong.
#include "engine/engine.h"
#include "engine/wire.h"
#include "rig/rig.h"

#include "base/clock.h"
#include "client/link.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

GROUP_FIXTURE(make_context, drop_context);

#define VERSION "1.2.3"
#define TOKEN "secret"
static const char set_up[] = "squares";

static atomic_flag slept = ATOMIC_FLAG_INIT; // whoever is first does

// A worker in a thread, with a context of its own. It squares numbers, and does what it is meant to
// at the work with a number of its own.
typedef struct Hand {
    char address[80]; // the engine may end before it connects
    const char *token, *version;
    uint64_t odd; // number at which it does that; 0: none
    enum { GOOD, DIES, SLEEPS, FAILS } does;
    pthread_t thread;
    mf_Status status;
    mf_Error error;
    atomic_uint done;
    atomic_bool ended;
} Hand;

static void sleep_for(double seconds) {
    nanosleep(&(struct timespec){.tv_sec = (time_t)seconds,
                                 .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))},
              NULL);
}

static mf_Status one_work(Hand *hand, mf_Worker *worker) {
    const void *data;
    size_t size;
    mf_Status status = mf_worker_next(worker, &data, &size, &hand->error);
    uint64_t number, reply[2];
    if (status != MF_OK)
        return status;
    assert_int_equal(size, sizeof number);
    memcpy(&number, data, sizeof number);
    if (hand->odd == number && hand->does == DIES)
        return MF_CORRUPT;
    if (hand->odd == number && hand->does == SLEEPS && !atomic_flag_test_and_set(&slept))
        sleep_for(3.0);
    if (hand->odd == number && hand->does == FAILS) {
        mf_Error reason;
        mf_fail_at(&reason, MF_LIMIT, "some.file", 7, 0, "no square of %d", (int)number);
        return mf_worker_fail(worker, &reason, &hand->error);
    }
    atomic_fetch_add(&hand->done, 1);
    reply[0] = number * number;
    reply[1] = ~number;
    return mf_worker_reply(worker, reply, sizeof reply, &hand->error);
}

static void *work(void *user) {
    Hand *hand = user;
    mf_Worker *worker;
    mf_Context *context = open_context(1);
    size_t size;
    hand->status = mf_worker_connect(context, hand->address, hand->token, hand->version, &worker,
                                     &hand->error);
    if (hand->status == MF_OK) {
        assert_string_equal(mf_worker_setup(worker, &size), set_up);
        assert_int_equal(size, sizeof set_up);
    }
    while (hand->status == MF_OK)
        hand->status = one_work(hand, worker);
    mf_worker_destroy(worker);
    close_context(context);
    atomic_store(&hand->ended, true);
    return NULL;
}

static void begin(Hand *hand, const mf_Engine *engine) {
    snprintf(hand->address, sizeof hand->address, "%s", mf_engine_address(engine));
    if (hand->token == NULL)
        hand->token = TOKEN;
    if (hand->version == NULL)
        hand->version = VERSION;
    assert_int_equal(pthread_create(&hand->thread, NULL, work, hand), 0);
}

static void end(Hand *hand) {
    assert_int_equal(pthread_join(hand->thread, NULL), 0);
}

static mf_EngineConfig config(void) {
    return (mf_EngineConfig){.address = "127.0.0.1:0",
                             .token = TOKEN,
                             .version = VERSION,
                             .setup = set_up,
                             .setup_size = sizeof set_up};
}

static mf_Engine *open_engine(mf_Context *context, mf_EngineConfig config) {
    mf_Engine *engine;
    MUST(mf_engine_create(context, &config, &engine, &error));
    return engine;
}

enum { MOST = 1000 };
static uint64_t numbers[MOST];
static mf_Work works[MOST];

static mf_Status ask(mf_Engine *engine, uint32_t count, mf_Error *error) {
    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = i + 1;
        works[i] = (mf_Work){.data = &numbers[i], .size = sizeof numbers[i]};
    }
    return mf_engine_do(engine, works, count, error);
}

static void check(mf_Context *context, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t *reply = works[i].reply;
        assert_int_equal(works[i].reply_size, 2 * sizeof *reply);
        assert_int_equal(reply[0], numbers[i] * numbers[i]);
        assert_int_equal(reply[1], ~numbers[i]);
        mf_release(context, works[i].reply);
    }
}

TEST(every_work_is_done) {
    static const uint32_t counts[] = {1, 0, 2, 1000, 7};
    mf_Engine *engine = open_engine(*state, config());
    Hand hands[3] = {{.does = GOOD}};
    for (int i = 0; i < 3; i++)
        begin(&hands[i], engine);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        MUST(ask(engine, counts[i], &error));
        check(*state, counts[i]);
    }
    const mf_EngineStatistics sum = mf_engine_statistics(engine);
    assert_int_equal(sum.works, 1010);
    assert_int_equal(sum.lost, 0);
    assert_true(sum.sent > 1010 * sizeof(uint64_t));
    mf_engine_destroy(engine);
    for (int i = 0; i < 3; i++)
        end(&hands[i]);
    assert_true(hands[0].done + hands[1].done + hands[2].done >= 1010);
}

TEST(works_of_lost_workers_go_to_others) {
    mf_Engine *engine = open_engine(*state, config());
    Hand hands[4] = {{.does = DIES, .odd = 5}, {.does = DIES, .odd = 5}, {.does = GOOD}};
    begin(&hands[0], engine);
    begin(&hands[1], engine);
    begin(&hands[2], engine);
    MUST(ask(engine, 200, &error));
    check(*state, 200);
    begin(&hands[3], engine); // workers come at any time
    MUST(ask(engine, 200, &error));
    check(*state, 200);
    mf_engine_destroy(engine);
    for (int i = 0; i < 4; i++)
        end(&hands[i]);
}

TEST(a_work_that_ends_workers_is_given_up) {
    enum { HANDS = 60 };
    mf_Engine *engine = open_engine(*state, config());
    Hand hands[HANDS];
    for (int i = 0; i < HANDS; i++) {
        hands[i] = (Hand){.does = DIES, .odd = 5};
        begin(&hands[i], engine);
    }
    MUST_FAIL(ask(engine, 20, &error), MF_IO, "work 4 ended 20 of them");
    MUST(ask(engine, 4, &error)); // others are left
    check(*state, 4);
    mf_engine_destroy(engine);
    for (int i = 0; i < HANDS; i++)
        end(&hands[i]);
}

TEST(slow_workers_are_not_waited_for) {
    mf_Engine *engine = open_engine(*state, config());
    Hand hands[2] = {{.does = SLEEPS, .odd = 40}, {.does = SLEEPS, .odd = 40}};
    for (int i = 0; i < 2; i++)
        begin(&hands[i], engine);
    const double start = mf_clock_seconds();
    MUST(ask(engine, 50, &error));
    assert_true(mf_clock_seconds() - start < 2.5);
    check(*state, 50);
    assert_true(mf_engine_statistics(engine).repeated > 0);
    MUST(ask(engine, 50, &error)); // its late reply is nobody's
    check(*state, 50);
    mf_engine_destroy(engine);
    for (int i = 0; i < 2; i++)
        end(&hands[i]);
}

TEST(errors_of_works_are_the_masters) {
    mf_Engine *engine = open_engine(*state, config());
    Hand hand = {.does = FAILS, .odd = 5};
    mf_Error given;
    begin(&hand, engine);
    assert_int_equal(ask(engine, 20, &given), MF_LIMIT);
    assert_string_equal(given.message, "no square of 5");
    assert_string_equal(given.file, "some.file");
    assert_int_equal(given.line, 7);
    MUST(ask(engine, 4, &error));
    check(*state, 4);
    mf_engine_destroy(engine);
    end(&hand);
}

TEST(strangers_are_refused) {
    mf_Engine *engine = open_engine(*state, config());
    Hand hands[3] = {{.token = "guess"}, {.version = "1.2.4"}, {.does = GOOD}};
    int loud;
    for (int i = 0; i < 3; i++)
        begin(&hands[i], engine);
    MUST(mf_client_open(mf_engine_address(engine), &loud, &error));
    static const char noise[4096] = "GET / HTTP/1.1\r\n";
    assert_int_equal(send(loud, noise, sizeof noise, MSG_NOSIGNAL), sizeof noise);
    do { // until both know
        MUST(ask(engine, 300, &error));
        check(*state, 300);
    } while (!atomic_load(&hands[0].ended) || !atomic_load(&hands[1].ended));
    assert_int_equal(mf_engine_statistics(engine).workers, 1);
    mf_engine_destroy(engine);
    close(loud);
    for (int i = 0; i < 3; i++)
        end(&hands[i]);
    assert_non_null(strstr(hands[0].error.message, "expected its token"));
    assert_non_null(strstr(hands[1].error.message, "expected version 1.2.3, found 1.2.4"));
    assert_int_equal(hands[2].status, MF_STOPPED);
}

static bool stop_at_once(void *user) {
    return ++*(int *)user > 2;
}

TEST(a_master_stops) {
    int asked = 0;
    mf_EngineConfig stopping = config();
    stopping.stop = stop_at_once;
    stopping.user = &asked;
    mf_Engine *engine = open_engine(*state, stopping);
    MUST_FAIL(ask(engine, 20, &error), MF_STOPPED, "stopped"); // nobody works
    mf_engine_destroy(engine);
}

TEST(programs_that_do_not_work_are_given_up) {
    static const char *const missing[] = {"/nowhere/mayfly", NULL};
    static const char *const useless[] = {"sh", "-c", "exit 7", NULL};
    mf_Engine *engine = open_engine(*state, config());
    MUST_FAIL(mf_engine_start(engine, missing, 2, &error), MF_IO, "cannot start /nowhere/mayfly");
    mf_engine_destroy(engine);
    engine = open_engine(*state, config());
    MUST(mf_engine_start(engine, useless, 2, &error));
    MUST_FAIL(ask(engine, 20, &error), MF_IO, "sh ends before it works, with code 7");
    mf_engine_destroy(engine);
}

TEST(mistakes_get_one_line) {
    static const char *const wrong[] = {
        "", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", "localhost:0", "[::1:0", "1.2.3.4.5:0"};
    mf_Engine *engine;
    mf_EngineConfig other = config();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        other.address = wrong[i];
        MUST_FAIL(mf_engine_create(*state, &other, &engine, &error), MF_BAD_ARGUMENT,
                  "expected an address such as 127.0.0.1:0");
        assert_null(engine);
    }
    other.address = "192.0.2.1:0"; // of nobody
    MUST_FAIL(mf_engine_create(*state, &other, &engine, &error), MF_IO, "cannot listen at");
    mf_Worker *worker;
    MUST_FAIL(mf_worker_connect(*state, "127.0.0.1:1", "", "", &worker, &error), MF_IO,
              "cannot connect to 127.0.0.1:1");
    assert_null(worker);
}
