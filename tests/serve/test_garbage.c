// Clients that die at every byte of a message, send garbage or nothing: the others do not notice.
#include "serve/support.h"

#include <arpa/inet.h>
#include <glob.h>
#include <sys/socket.h>
#include <sys/wait.h>

GROUP_FIXTURE(setup_context, teardown_context);

enum { GARBAGE = 200, MUTATIONS = 2000, MESSAGE = 256 };

static int dial(const Served *served) {
    struct sockaddr_in to = {.sin_family = AF_INET};
    const char *address = mf_server_address(served->server);
    to.sin_port = htons((uint16_t)atoi(strchr(address, ':') + 1));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int made = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(made >= 0);
    assert_int_equal(connect(made, (struct sockaddr *)&to, sizeof to), 0);
    return made;
}

static size_t put_hello(uint8_t *out) {
    const uint32_t hello[] = {MF_PROTOCOL_MAGIC, MF_PROTOCOL_MAJOR, 0};
    return put_message(out, MF_MESSAGE_HELLO, hello, 3);
}

// A hello, lock-step, a write of one instance, and another one placed at 0, 0, 20 m.
static size_t put_session(uint8_t *out, uint32_t goal) {
    const uint32_t lock[] = {1, 0, 0, 0, 200000000, 0};
    const uint32_t write[] = {~0u, ~0u, 1, 1, goal, 0, 1, 12, 0, 0, 0, 0};
    const uint32_t index[] = {0,          1, 1,          0, 0, 0, 0, 0, 0,
                              0x40340000, 0, 0x3ff00000, 0, 0, 0, 0, 0, 0};
    size_t size = put_hello(out);
    size += put_message(out + size, MF_MESSAGE_LOCK_STEP, lock, 6);
    size += put_message(out + size, MF_MESSAGE_WRITE, write, 12);
    return size + put_message(out + size, MF_MESSAGE_SET_POSES, index, 18);
}

// The world moves, and a client is answered. What others sent before may be read late, and be
// valid: with `resume` the client starts a world that such a message has paused.
static void moves(const Served *served, bool resume) {
    mf_ClientStatistics before, after;
    AUTO_CLIENT *client = join(served);
    MUST(mf_client_statistics(client, false, &before, &error));
    const double begin = seconds_now();
    do {
        usleep(1000);
        if (resume) {
            MUST(mf_client_pause(client, false, &error));
            MUST(mf_client_set_speed(client, 0.0, &error));
        }
        MUST(mf_client_statistics(client, false, &after, &error));
    } while (after.tick <= before.tick + 10 && seconds_now() < begin + 20.0);
    assert_in_range(after.tick, before.tick + 11, UINT64_MAX);
}

static void is_well(const Served *served) {
    moves(served, false);
}

TEST(test_killed_at_every_byte) {
    uint8_t session[MESSAGE];
    AUTO_SERVED *served = start(*state, quads, running());
    mf_Client *client = join(served);
    const size_t size = put_session(session, mf_client_find(client, NULL, "command.position"));
    mf_client_close(client);
    for (size_t length = 0; length <= size; length++) {
        const int socket = dial(served);
        assert_int_equal(send(socket, session, length, MSG_NOSIGNAL), (ssize_t)length);
        close(socket);
    }
    is_well(served);
    finish(served);
    assert_int_equal(served->sum.refused, 0); // a death is no violation
}

TEST(test_one_byte_at_a_time) {
    uint8_t session[MESSAGE], answer[4096];
    AUTO_SERVED *served = start(*state, quads, running());
    const size_t size = put_hello(session);
    const int socket = dial(served);
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(send(socket, session + i, 1, MSG_NOSIGNAL), 1);
        usleep(200);
    }
    assert_true(recv(socket, answer, sizeof answer, 0) >= 64);
    assert_int_equal(answer[4], MF_ANSWER_WELCOME);
    close(socket);
}

static void send_random(const Served *served, uint32_t round) {
    uint8_t bytes[MESSAGE];
    uint32_t words[4];
    const int socket = dial(served);
    for (uint32_t i = 0; i < MESSAGE; i += 16) {
        mf_random(1, round, 1, i, words);
        memcpy(bytes + i, words, 16);
    }
    const size_t head = round % 2 == 0 ? 0 : put_hello(bytes);
    assert_true(head < MESSAGE);
    if (send(socket, bytes, MESSAGE, MSG_NOSIGNAL) < 0)
        assert_true(head == 0); // refused already
    close(socket);
}

// The session of a fuzzer's seed (tests/fuzz/corpus/wire), with some bytes behind its hello
// changed.
static void send_mutation(const Served *served, const char *path, uint32_t round) {
    uint32_t words[4];
    size_t size;
    AUTO(end_memory) char *session = file_get(path, &size);
    const size_t hello = 20;
    mf_random(2, round, 1, 0, words);
    for (uint32_t i = 0; i < round % 3 && size > hello; i++)
        session[hello + words[i] % (size - hello)] = (char)(words[3] >> 8 * i);
    const int socket = dial(served);
    send(socket, session, size, MSG_NOSIGNAL); // it may be refused meanwhile
    close(socket);
}

static void send_mutations(const Served *served) {
    AUTO(globfree) glob_t seeds;
    assert_int_equal(glob(MAYFLY_SOURCE_DIR "/tests/fuzz/corpus/wire/*", 0, NULL, &seeds), 0);
    for (uint32_t round = 0; round < MUTATIONS; round++)
        send_mutation(served, seeds.gl_pathv[round % seeds.gl_pathc], round);
}

TEST(test_garbage) {
    AUTO_SERVED *served = start(*state, quads, running());
    for (uint32_t round = 0; round < GARBAGE; round++)
        send_random(served, round);
    send_mutations(served);
    moves(served, true);
    finish(served);
    assert_true(served->sum.refused > GARBAGE / 2);
}

// Connections that send nothing, far more than there are places: who says hello is let in soon.
TEST(test_many_silent_clients_keep_nobody_out) {
    enum { SWARM = 600 };
    int silent[SWARM];
    AUTO_SERVED *served =
        start(*state, quads, WITH(mf_server_config(), .port = 0, .connections = 8));
    for (int i = 0; i < SWARM; i++)
        silent[i] = dial(served);
    const double begin = seconds_now();
    mf_client_close(join(served));
    const double waited = seconds_now() - begin;
    if (waited > 20.0) // 250 s with 5 s for each
        fail_msg("a newcomer waited %.1f s", waited);
    for (int i = 0; i < SWARM; i++)
        close(silent[i]);
    is_well(served);
}

// Without a token, another user of the machine is not let in at the loopback.
TEST(test_other_users_need_a_token) {
    int status = 0;
    if (geteuid() != 0)
        skip(); // nobody else can be played
    AUTO_SERVED *served = start(*state, quads, running());
    const pid_t child = fork();
    if (child == 0) {
        uint8_t session[MESSAGE], answer[256];
        const size_t size = put_hello(session);
        if (setuid(65534) != 0)
            _exit(2);
        const int socket = dial(served);
        if (send(socket, session, size, MSG_NOSIGNAL) != (ssize_t)size ||
            recv(socket, answer, sizeof answer, 0) < 12)
            _exit(3);
        _exit(answer[4] == MF_ANSWER_ERROR ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 0);
    is_well(served);
}

TEST(test_silent_connections_take_no_slot_for_long) {
    uint8_t byte;
    AUTO_SERVED *served = start(*state, quads, WITH(mf_server_config(), .port = 0));
    const int silent = dial(served);
    is_well(served);
    uint8_t answer[256];
    const ssize_t told = recv(silent, answer, sizeof answer, 0); // after five seconds
    assert_true(told > 12);
    assert_int_equal(answer[4], MF_ANSWER_ERROR);
    assert_int_equal(recv(silent, &byte, 1, 0), 0);
    close(silent);
    finish(served);
    assert_int_equal(served->sum.refused, 1);
}
