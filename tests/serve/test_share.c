// Shared memory of connections over Unix sockets: the same bits as by TCP, slow readers, clients
// that write garbage into it or die, limits, and that nothing is left.
#include "client/link.h"
#include "serve/region.h"
#include "serve/support.h"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

GROUP_FIXTURE(setup_context, teardown_context);

// So many entries that a state is larger than a client's buffer.
enum { TURNS = 60, QUADS = 37, ENTRIES = 220, FIRST = 3, COUNT = 21 };
enum { STATES = 4096 + 3 * (32 + 448 + (ENTRIES - 1) * COUNT * 16) }; // [byte] of their memory

static const char *make_path(void) {
    static char path[64];
    static int number;
    snprintf(path, sizeof path, "/tmp/mayfly-share-%d-%d", (int)getpid(), number++);
    return path;
}

// At a Unix socket, or by TCP; paused at first.
static Served *start_at(mf_Context *context, const char *path, size_t limit) {
    mf_ServerConfig config = WITH(paused(), .path = path);
    config.shared_limit = limit > 0 ? limit : config.shared_limit;
    return start(context, quads, config);
}

// Flies in lock-step by what it sees; returns the hash of the state after that.
static uint64_t steer(mf_Client *client, int turns) {
    mf_ClientEntry seen[ENTRIES] = {
        {mf_client_find(client, "quads", "base.position"), 0, MF_PROTOCOL_ALL}};
    for (uint32_t e = 1; e < ENTRIES; e++)
        seen[e] = (mf_ClientEntry){mf_client_find(client, NULL, "base.orientation"), FIRST, COUNT};
    const mf_ClientEntry goal[] = {{mf_client_find(client, NULL, "command.position"), 0, 20},
                                   {mf_client_find(client, NULL, "command.position"), 20, 17}};
    float to[QUADS][3];
    const void *values[] = {to, to[20]};
    mf_ClientStatistics after;
    MUST(mf_client_subscribe(client, 0, 0, seen, ENTRIES, &error));
    MUST(mf_client_lock_step(client, true, 0, 20 * MF_SECOND, &error));
    MUST(mf_client_pause(client, false, &error));
    mf_ClientNews news = await(client, MF_ANSWER_TURN);
    const uint64_t first = news.tick;
    for (int turn = 0; turn < turns; turn++) {
        const float(*at)[3] = mf_client_values(client, 0, 0);
        const float *turned = mf_client_values(client, 0, 1);
        for (uint32_t e = 2; e < ENTRIES; e++)
            assert_memory_equal(mf_client_values(client, 0, e), turned, COUNT * 16);
        for (uint32_t i = 0; i < QUADS; i++)
            for (uint32_t c = 0; c < 3; c++)
                to[i][c] = 0.75f * at[i][c] + 0.1f * turned[i + c];
        MUST(mf_client_write(client, news.tick, goal, values, 2, true, &error));
        news = await(client, MF_ANSWER_TURN);
        assert_int_equal(news.tick, first + (uint64_t)turn + 1);
    }
    MUST(mf_client_statistics(client, true, &after, &error));
    assert_int_equal(after.lost, 0);
    assert_int_equal(after.missed, 0);
    assert_int_equal(after.states, (uint64_t)turns + 1);
    return after.hash;
}

// The hash after a flight; `least` of mf_client_share.
static uint64_t fly(mf_Context *context, const char *path, size_t limit, size_t least,
                    mf_ClientShared *shared, uint32_t *flags) {
    mf_ClientStatistics after;
    AUTO_SERVED *served = start_at(context, path, limit);
    mf_Client *client = join(served);
    MUST(mf_client_share(client, least, &error));
    const uint64_t hash = steer(client, TURNS);
    MUST(mf_client_statistics(client, false, &after, &error));
    *shared = mf_client_shared(client);
    *flags = after.flags;
    if (shared->refused != NULL)
        shared->refused = strstr(shared->refused, "shared memory"); // a text of that client
    assert_int_equal(mf_client_shared(NULL).bytes, 0);
    assert_int_equal(mf_client_share(NULL, 0, NULL), MF_BAD_ARGUMENT);
    mf_client_close(client);
    finish(served);
    assert_int_equal(served->sum.shared, 0);
    return hash;
}

TEST(test_the_same_bits_by_all_transports) {
    mf_ClientShared shared;
    uint32_t flags;
    const uint64_t by_tcp = fly(*state, NULL, 0, 1, &shared, &flags);
    assert_int_equal(shared.bytes, 0);
    assert_null(shared.refused);
    assert_int_equal(flags, 0);
    const uint64_t by_unix = fly(*state, make_path(), 0, SIZE_MAX, &shared, &flags);
    assert_int_equal(shared.bytes + shared.states + shared.writes, 0);
    assert_int_equal(flags, 0);
    const uint64_t by_memory = fly(*state, make_path(), 0, 1, &shared, &flags);
    // Those before the memory came went over the socket.
    assert_true(shared.states >= TURNS - 2 && shared.writes >= TURNS - 2);
    assert_true(shared.bytes >= 2 * 4096);
    assert_int_equal(flags, MF_SERVER_SHARES);
    assert_true(by_tcp == by_unix && by_tcp == by_memory);
}

// Where there is none to have, all goes over the socket, and it is said why.
TEST(test_none_is_granted) {
    mf_ClientShared shared;
    uint32_t flags;
    const uint64_t with = fly(*state, make_path(), 0, 1, &shared, &flags);
    const uint64_t without = fly(*state, make_path(), 4096, 1, &shared, &flags);
    assert_int_equal(shared.bytes + shared.states + shared.writes, 0);
    assert_non_null(shared.refused);
    assert_int_equal(flags, MF_SERVER_REFUSED);
    assert_true(with == without);
    // Enough for the states alone.
    const uint64_t half = fly(*state, make_path(), STATES + 6000, 1, &shared, &flags);
    assert_true(shared.states > 0 && shared.writes == 0);
    assert_int_equal(flags, MF_SERVER_SHARES | MF_SERVER_REFUSED);
    assert_true(with == half);
}

// Memory that this process or the system does not have.
TEST(test_no_memory) {
    mf_Region *region;
    mf_Error error = {0};
    int file;
    struct rlimit before;
    mf_context_fail_after(*state, 1);
    assert_int_equal(mf_region_create(*state, 2, 100, 1 << 20, &region, &file, &error),
                     MF_NO_MEMORY);
    assert_null(region);
    mf_context_fail_after(*state, 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    const mf_Status status = mf_region_create(*state, 2, 100, 1 << 20, &region, &file, &error);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(status, MF_IO);
    assert_null(region);
    assert_non_null(strstr(error.message, "shared memory: Too many open files"));
    assert_int_equal(mf_region_create(*state, 8, 1 << 20, 1 << 20, &region, &file, &error),
                     MF_LIMIT);
    // Its size is sealed.
    must(mf_region_create(*state, 2, 100, 1 << 20, &region, &file, &error), &error);
    assert_true(ftruncate(file, 0) != 0 && ftruncate(file, 1 << 20) != 0);
    mf_region_destroy(*state, region, false);
    close(file);
}

// ---- requests that are wrong -------------------------------------------------------------------

// The status of the answer to a message with this payload.
static mf_Status told(mf_Client *client, uint32_t kind, const uint32_t *words, uint32_t count) {
    mf_WireMessage answer;
    memcpy(mf_client_message(client, kind, 77, count * sizeof *words), words,
           count * sizeof *words);
    MUST(mf_client_send(client, &error));
    do
        MUST(mf_client_next(client, 20.0, &answer, &error));
    while (answer.tag != 77);
    const mf_ErrorAnswer *in = answer.data;
    return answer.kind == MF_ANSWER_ERROR ? (mf_Status)in->code : MF_OK;
}

TEST(test_requests_are_checked) {
    static const uint32_t none[] = {5, 0, 0, 0}, beyond[] = {64, 0, 0, 0}, empty[] = {~0u, 0, 0, 0},
                          huge[] = {~0u, 0, 0, 1}, wrong[] = {~0u, 1, 8, 0}, cut[] = {~0u, 0, 8};
    static const uint32_t write[] = {~0u, ~0u, 0, 0, 0, 1};
    AUTO_SERVED *served = start_at(*state, make_path(), 0);
    mf_Client *client = join(served);
    const uint32_t goal = mf_client_find(client, NULL, "command.position");
    assert_int_equal(told(client, MF_MESSAGE_SHARE, none, 4), MF_NOT_FOUND);
    assert_int_equal(told(client, MF_MESSAGE_SHARE, beyond, 4), MF_NOT_FOUND);
    assert_int_equal(told(client, MF_MESSAGE_SHARE, empty, 4), MF_BAD_ARGUMENT);
    assert_int_equal(told(client, MF_MESSAGE_SHARE, huge, 4), MF_LIMIT);
    // Values of a write that do not fit into the slot, and one that is there for nobody.
    const uint32_t small[] = {~0u, 0, 64, 0};
    assert_int_equal(told(client, MF_MESSAGE_SHARE, small, 4), MF_OK);
    const uint32_t long_[] = {~0u, ~0u, 1, 0, 0, 1, goal, 0, QUADS, 12 * QUADS};
    assert_int_equal(told(client, MF_MESSAGE_WRITE_SHARED, long_, 10), MF_BAD_ARGUMENT);
    const uint32_t lies[] = {~0u, ~0u, 1, 0, 1, 2, goal, 0, 1, 4096};
    assert_int_equal(told(client, MF_MESSAGE_WRITE_SHARED, lies, 10), MF_BAD_ARGUMENT);
    const uint32_t fits[] = {~0u, ~0u, 1, 0, 1, 3, goal, 0, 5, 60};
    assert_int_equal(told(client, MF_MESSAGE_WRITE_SHARED, fits, 10), MF_OK);
    const uint32_t no_slot[] = {~0u, ~0u, 0, 0, 2, 1};
    assert_int_equal(told(client, MF_MESSAGE_WRITE_SHARED, no_slot, 6), MF_BAD_ARGUMENT);
    mf_client_close(client); // that one ended the connection

    const uint32_t *const ends[] = {write, wrong, cut};
    for (uint32_t i = 0; i < 3; i++) {
        client = join(served);
        assert_int_equal(told(client, i == 0 ? MF_MESSAGE_WRITE_SHARED : MF_MESSAGE_SHARE, ends[i],
                              i == 0 ? 6 : 5 - i),
                         MF_BAD_ARGUMENT);
        mf_client_close(client);
    }
    finish(served);
    assert_int_equal(served->sum.refused, 3); // not a member out of its range
    assert_int_equal(served->sum.unshared, 1);

    AUTO_SERVED *second = start_at(*state, NULL, 0); // by TCP there is none
    client = join(second);
    assert_int_equal(told(client, MF_MESSAGE_SHARE, small, 4), MF_UNSUPPORTED);
    mf_client_close(client);
}

// [byte] of memory behind a file that came, and how much was asked for.
static size_t held(const mf_Client *client, uint32_t file) {
    struct stat found;
    assert_true(file < client->file_count);
    assert_int_equal(fstat(client->files[file], &found), 0);
    return 512 * (size_t)found.st_blocks;
}

// Who asks again and keeps the file keeps no memory; the last one remains when the server ends.
TEST(test_replaced_memory_is_given_back) {
    static const uint32_t share[] = {~0u, 0, 100000, 0};
    AUTO_SERVED *served = start_at(*state, make_path(), 0);
    AUTO_CLIENT *client = join(served);
    assert_int_equal(told(client, MF_MESSAGE_SHARE, share, 4), MF_OK);
    assert_true(held(client, 0) >= 200000);
    assert_int_equal(told(client, MF_MESSAGE_SHARE, share, 4), MF_OK);
    assert_int_equal(held(client, 0), 0);
    assert_true(held(client, 1) >= 200000);
    finish(served);
    assert_int_equal(served->sum.shared, held(client, 1)); // as long as it was connected
}

// ---- slow and bad clients ----------------------------------------------------------------------

TEST(test_a_slow_reader_loses_states_and_gets_notice) {
    mf_ClientStatistics seen;
    mf_ClientNews news;
    AUTO_SERVED *served = start_at(*state, make_path(), 0);
    AUTO_CLIENT *slow = join(served), *other = join(served);
    const mf_ClientEntry entry = {mf_client_find(slow, NULL, "base.position"), 0, QUADS};
    MUST(mf_client_share(slow, 1, &error));
    MUST(mf_client_subscribe(slow, 0, 0, &entry, 1, &error));
    while (mf_client_shared(slow).bytes == 0)
        MUST(mf_client_statistics(slow, false, &seen, &error));
    // The first state came by the socket or the memory, whichever was there first; this one does
    // not, and the client holds its slot.
    MUST(mf_client_run_steps(other, 1, &error));
    do
        news = await(slow, MF_ANSWER_STATE);
    while (news.tick < 1);
    MUST(mf_client_statistics(slow, false, &seen, &error));
    const uint64_t before = seen.states, lost = seen.lost;
    // As many come as there are slots left. The slow one asks nothing now: while it waits for an
    // answer it takes states, and so releases slots, perhaps before the server reads the question.
    MUST(mf_client_run_steps(other, 50, &error));
    do
        MUST(mf_client_statistics(other, false, &seen, &error));
    while (seen.tick < 51);
    for (uint64_t tick = 2; tick <= 3; tick++) {
        news = await(slow, MF_ANSWER_STATE);
        assert_int_equal(news.tick, tick);
        assert_int_equal(news.lost, 0);
    }
    news = await(slow, MF_ANSWER_STATE); // that of the paused world, though no step was made
    assert_int_equal(news.tick, 51);
    assert_int_equal(news.lost, 47);
    MUST(mf_client_statistics(slow, false, &seen, &error));
    assert_int_equal(seen.states, before + 3);
    assert_int_equal(seen.lost, lost + 47);
    MUST(mf_client_run_steps(other, 1, &error));
    news = await(slow, MF_ANSWER_STATE);
    assert_int_equal(news.tick, 52);
    assert_int_equal(news.lost, 0);
    MUST(mf_client_unsubscribe(slow, 0, &error));
    assert_int_equal(mf_client_shared(slow).bytes, 0);
}

typedef struct Scribbler {
    mf_Region states, writes;
    atomic_bool stop;
} Scribbler;

static void *scribble(void *user) {
    Scribbler *own = user;
    uint32_t words[4];
    for (uint32_t round = 0; !atomic_load(&own->stop); round++) {
        mf_random(5, round, 1, 0, words);
        const mf_Region *region = round % 2 == 0 ? &own->states : &own->writes;
        // Half of it hits the counters.
        const uint32_t at = words[0] % (round % 4 < 2 ? 512 : (uint32_t)region->size - 8);
        memcpy(region->memory + at, words + 2, 8);
    }
    return NULL;
}

// Garbage in all of the memory at any time: the server goes on, and so do the others.
TEST(test_garbage_at_any_time) {
    pthread_t thread;
    mf_ClientStatistics before, after;
    Scribbler scribbler = {.stop = false};
    float to[QUADS][3] = {{0}};
    const void *values[] = {to};
    AUTO_SERVED *served = start_at(*state, make_path(), 0);
    mf_Client *bad = join(served), *other = join(served);
    const mf_ClientEntry seen = {mf_client_find(bad, NULL, "base.position"), 0, QUADS};
    const mf_ClientEntry goal = {mf_client_find(bad, NULL, "command.position"), 0, QUADS};
    MUST(mf_client_share(bad, 1, &error));
    MUST(mf_client_subscribe(bad, 0, 0, &seen, 1, &error));
    MUST(mf_client_write(bad, MF_PROTOCOL_ANY_TICK, &goal, values, 1, false, &error));
    for (int i = 0;
         i < 1000 && (bad->writes.memory == NULL || bad->states[0].region.memory == NULL); i++)
        MUST(mf_client_statistics(bad, false, &before, &error));
    scribbler.states = bad->states[0].region;
    scribbler.writes = bad->writes;
    assert_non_null(scribbler.states.memory);
    assert_non_null(scribbler.writes.memory);
    MUST(mf_client_statistics(other, false, &before, &error));
    assert_int_equal(pthread_create(&thread, NULL, scribble, &scribbler), 0);
    MUST(mf_client_pause(other, false, &error));
    for (uint32_t i = 0; i < 3000; i++) {
        // Straight into the slots, whether they are free or not.
        const uint32_t write[] = {~0u, ~0u, 1, 0, i % 2, i, goal.field, 0, QUADS, 12 * QUADS};
        memcpy(mf_client_message(bad, MF_MESSAGE_WRITE_SHARED, 0, sizeof write), write,
               sizeof write);
        MUST(mf_client_send(bad, &error));
        if (i % 10 == 0)
            MUST(mf_client_statistics(bad, false, &after, &error));
    }
    MUST(mf_client_statistics(other, false, &after, &error));
    assert_true(after.tick > before.tick + 10);
    MUST(mf_client_statistics(bad, false, &after, &error));
    assert_int_equal(after.writes, 3001);
    atomic_store(&scribbler.stop, true);
    pthread_join(thread, NULL);
    mf_client_close(bad);
    mf_client_close(other);
    finish(served);
    assert_int_equal(served->sum.refused, 0);
}

// Mappings of shared memory in this process.
static int mappings(void) {
    AUTO(end_memory) char *maps = file_get("/proc/self/maps", NULL);
    int count = 0;
    for (const char *at = maps; (at = strstr(at, "memfd:mayfly")) != NULL; at++)
        count++;
    return count;
}

static int dial(const char *path) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    memcpy(to.sun_path, path, strlen(path) + 1);
    const int made = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(made >= 0);
    assert_int_equal(connect(made, (struct sockaddr *)&to, sizeof to), 0);
    return made;
}

// Clients that ask for memory, up to each byte of that, and die: with the file on its way or not.
TEST(test_killed_clients_leave_nothing) {
    static const uint32_t hello[] = {MF_PROTOCOL_MAGIC, MF_PROTOCOL_MAJOR | 2u << 16, 0};
    static const uint32_t subscribe[] = {0, 1, 0, 0, 0, 0, 10}, share[] = {0, 0, 0, 0};
    static const uint32_t writes[] = {~0u, 0, 100, 0};
    static const uint32_t write[] = {~0u, ~0u, 0, 1, 0, 1};
    uint8_t session[512];
    size_t size = put_message(session, MF_MESSAGE_HELLO, hello, 3), begin = size;
    size += put_message(session + size, MF_MESSAGE_SUBSCRIBE, subscribe, 7);
    for (int i = 0; i < 6; i++) // more than can wait
        size += put_message(session + size, MF_MESSAGE_SHARE, i % 2 == 0 ? share : writes, 4);
    size += put_message(session + size, MF_MESSAGE_WRITE_SHARED, write, 6);
    const char *path = make_path();
    AUTO_SERVED *served = start_at(*state, path, 0);
    mf_Client *other = join(served);
    mf_ClientStatistics seen;
    const int files = torture_open_files();
    for (size_t length = begin; length <= size; length++) {
        const int socket = dial(path);
        assert_int_equal(send(socket, session, length, MSG_NOSIGNAL), (ssize_t)length);
        close(socket);
    }
    mf_client_close(join(served));    // the last in the queue: all others were accepted before it
    for (int i = 0; i < 20000; i++) { // until the server has seen all of their ends
        MUST(mf_client_statistics(other, false, &seen, &error));
        if (seen.connections == 1 && torture_open_files() == files)
            break;
        usleep(1000);
    }
    assert_int_equal(torture_open_files(), files);
    assert_int_equal(mappings(), 0);
    mf_client_close(other);
    finish(served);
    assert_int_equal(served->sum.shared, 0);
    assert_true(served->sum.unshared > 0); // there was no place for the fifth file
}
