// Every row of the table of messages (protocol.h): server and client answer what has another size
// or members out of their ranges by one line; the page and the Python module hold the table
// (MAYFLY_UPDATE=1 writes them), and each request has a seed for the fuzzer.
#include "client/link.h"
#include "serve/support.h"

#include <ctype.h>
#include <glob.h>
#include <sys/socket.h>

GROUP_FIXTURE(setup_context, teardown_context);

// ---- every message is checked ------------------------------------------------------------------

// The error that a new connection gets for a message of so many bytes, the members of its head 0
// but for one; "" for another answer.
static void ask(const Served *served, uint32_t kind, size_t size, size_t at, uint64_t value,
                char *out, size_t most) {
    struct mf_Client client = {.socket = -1};
    const mf_HelloRequest hello = {MF_PROTOCOL_MAGIC, MF_PROTOCOL_MAJOR, MF_PROTOCOL_MINOR, 0};
    mf_WireMessage answer;
    MUST(mf_client_open(mf_server_address(served->server), &client.socket, &error));
    if (kind != MF_MESSAGE_HELLO)
        MUST(mf_client_ask(&client, MF_MESSAGE_HELLO, &hello, NULL, 0, NULL, &error));
    uint8_t *in = memset(mf_client_message(&client, kind, 77, size), 0, size);
    memcpy(in + at, &value, size - at < sizeof value ? size - at : sizeof value);
    MUST(mf_client_send(&client, &error));
    do
        MUST(mf_client_next(&client, 20.0, &answer, &error));
    while (answer.tag != 77);
    const size_t text = answer.size - sizeof(mf_ErrorAnswer);
    snprintf(out, most, "%.*s", answer.kind == MF_ANSWER_ERROR ? (int)text : 0,
             (const char *)answer.data + sizeof(mf_ErrorAnswer));
    close(client.socket);
    free(client.in);
    free(client.out);
}

static void is_refused(const Served *served, uint32_t kind, size_t size, size_t at,
                       uint64_t value) {
    char text[300];
    const char *name = mf_wire_rows[kind].name;
    ask(served, kind, size, at, value, text, sizeof text);
    if (strncmp(text, name, strlen(name)) != 0 || text[strlen(name)] != ':' ||
        strchr(text, '\n') != NULL)
        fail_msg("%s of %zu bytes is answered by '%s'", name, size, text);
}

TEST(test_requests_of_another_form_are_refused) {
    char text[300];
    AUTO_SERVED *served = start(*state, quads, paused()); // some would stop it anyway
    for (uint32_t kind = 1; kind < MF_MESSAGE_KINDS; kind++) {
        const mf_WireRow *row = &mf_wire_rows[kind];
        size_t at = 0;
        if (row->name == NULL)
            continue;
        if (row->head > 0)
            is_refused(served, kind, row->head - 1, 0, 0);
        if (row->has_tail) // whatever is said, one line
            for (size_t more = 0; more < 20; more += 3) {
                ask(served, kind, row->head + more, 0, more % 2 == 0 ? UINT64_MAX : 0, text,
                    sizeof text);
                assert_null(strchr(text, '\n'));
            }
        else
            is_refused(served, kind, row->head + 1, 0, 0);
        for (const mf_WireMember *member = row->members; member->name != NULL; member++) {
            if (member->size <= 4 ? member->most < UINT32_MAX : member->most < UINT64_MAX)
                is_refused(served, kind, row->head, at, member->most + 1);
            at += member->size;
        }
    }
    mf_client_close(join(served));
}

static mf_Status receive(uint32_t kind, size_t size) {
    int ends[2];
    uint8_t bytes[512] = {0};
    mf_WireMessage message;
    *(mf_WireHead *)(void *)bytes = (mf_WireHead){(uint32_t)size, (uint16_t)kind, 0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    struct mf_Client client = {.socket = ends[0]};
    size += MF_PROTOCOL_HEAD;
    assert_int_equal(send(ends[1], bytes, size, 0), (ssize_t)size);
    mf_Status status = mf_client_next(&client, 5.0, &message, NULL);
    close(ends[0]);
    close(ends[1]);
    free(client.in);
    return status;
}

TEST(test_answers_of_another_form_are_malformed) {
    for (uint32_t kind = 0; kind < MF_ANSWER_KINDS + 2; kind++) {
        const mf_WireRow *row = &mf_wire_rows[kind < MF_ANSWER_KINDS ? kind : 0];
        assert_int_equal(receive(kind, row->head), row->name == NULL ? MF_CORRUPT : MF_OK);
        if (row->head > 0)
            assert_int_equal(receive(kind, row->head - 1), MF_CORRUPT);
        assert_int_equal(receive(kind, row->head + 1), row->has_tail ? MF_OK : MF_CORRUPT);
    }
}

// ---- what is made from the table ---------------------------------------------------------------

// The page: a member as a reader sees it.
#define PAGE_MEMBER(type, name, most, text)                                                        \
    put_member(page, &count, #type, #name, sizeof(mf_wire_##type) < 8 ? UINT32_MAX : UINT64_MAX,   \
               most, text);
#define PAGE_TAIL(tail, text)                                                                      \
    fprintf(page, "%s%s%s%s", sizeof(tail) > 1 && count > 0 ? "; then " : "", tail,                \
            sizeof(text) > 1 && sizeof(tail) + count > 1 ? ". " : "", text);
#define PAGE_REQUEST(kind, NAME, Name, name, ANSWER, members, tail, text)                          \
    count = 0;                                                                                     \
    fprintf(page, "| %d | %s | ", kind, #NAME);                                                    \
    members PAGE_TAIL(tail, text) fprintf(page, " | %s |\n", #ANSWER);
#define PAGE_ANSWER(kind, NAME, Name, members, tail, text)                                         \
    count = 0;                                                                                     \
    fprintf(page, "| %d | %s | ", kind, #NAME);                                                    \
    members PAGE_TAIL(tail, text) fputs(" |\n", page);
#define PAGE_PART(NAME, Name, members)                                                             \
    count = 0;                                                                                     \
    fprintf(page, "| %s | ", #NAME);                                                               \
    members fputs(" |\n", page);
#define PAGE_EVENT(number, NAME, meaning, has)                                                     \
    fprintf(page, "| %d %s | %s | %s |\n", number, #NAME, meaning, has);

static void put_member(FILE *page, int *count, const char *type, const char *name, uint64_t any,
                       uint64_t most, const char *text) {
    fprintf(page, "%s%s ", (*count)++ > 0 ? "; " : "", type);
    if (strcmp(name, "zero") == 0)
        fputs("0", page);
    else
        fprintf(page, "`%s`", name);
    if (most > 0 && most < any)
        fprintf(page, " 0 .. %" PRIu64, most);
    fprintf(page, "%s%s", text[0] != '\0' ? " " : "", text);
}

static void put_tables(FILE *page) {
    int count = 0;
    fputs("### From the client\n\n| kind | name | payload | answer |\n|---|---|---|---|\n", page);
    MF_PROTOCOL_REQUESTS(PAGE_REQUEST, PAGE_MEMBER, UINT64_MAX)
    fputs("\n### From the server\n\n| kind | name | payload |\n|---|---|---|\n", page);
    MF_PROTOCOL_ANSWERS(PAGE_ANSWER, PAGE_MEMBER, UINT64_MAX)
    fputs("\n### Parts of messages\n\n| name | members |\n|---|---|\n", page);
    MF_PROTOCOL_PARTS(PAGE_PART, PAGE_MEMBER, UINT64_MAX)
    fputs("\n### Events\n\n| event | meaning | group, instance, value |\n|---|---|---|\n", page);
    MF_PROTOCOL_EVENTS(PAGE_EVENT)
}

TEST(test_the_page_holds_the_table) {
    check_written_part(MAYFLY_SOURCE_DIR "/docs/reference/protocol.md", "messages", put_tables);
}

#define CODE_MEMBER(type, name, ...) " " #type " " #name
#define CODE_REQUEST(kind, NAME, Name, name, ANSWER, members, ...)                                 \
    put_code(code, #NAME, kind, "" members, ", ANSWER_" #ANSWER);
#define CODE_ANSWER(kind, NAME, Name, members, ...)                                                \
    put_code(code, "ANSWER_" #NAME, kind, "" members, "");
#define CODE_PART(NAME, Name, members) put_code(code, #NAME, 0, "" members, "");
#define CODE_EVENT(number, NAME, ...) put_event(code, #NAME);

// In the form of ruff: in one line, or with each argument in lines of its own.
static void put_code(FILE *code, const char *name, int kind, const char *members,
                     const char *answer) {
    enum { COLUMNS = 90 };
    const size_t length = strlen(members);
    const char *at = length > 0 ? members + 1 : members;
    const bool wide = strlen(name) + length + strlen(answer) > COLUMNS - 8;
    fprintf(code, wide ? "%s = Message(\n    %d,\n    \"" : "%s = Message(%d, \"", name, kind);
    while (wide && strlen(at) > COLUMNS) {
        const char *cut = at + COLUMNS;
        while (*cut != ' ')
            cut--;
        fprintf(code, "%.*s\"\n    \"", (int)(cut + 1 - at), at);
        at = cut + 1;
    }
    fprintf(code, "%s\"", at);
    if (wide && answer[0] != '\0')
        fprintf(code, ",\n    %s", answer + 2);
    fprintf(code, wide ? ",\n)\n" : "%s)\n", answer);
}

static void put_event(FILE *code, const char *name) {
    fputs("    \"", code);
    for (; *name != '\0'; name++)
        fputc(tolower(*name), code);
    fputs("\",\n", code);
}

TEST(test_the_python_module_holds_the_table) {
    AUTO(end_memory) char *made;
    size_t size;
    FILE *code = open_memstream(&made, &size);
    fputs("\"\"\"Messages of the protocol of `mayfly serve`, by the table in mayfly/protocol.h.\n\n"
          "Written by the test serve/messages with MAYFLY_UPDATE=1.\n\"\"\"\n\n"
          "from mayfly._wire import Message\n\n",
          code);
    fprintf(code, "MAGIC, MAJOR, MINOR = 0x%X, %u, %u\n", MF_PROTOCOL_MAGIC, MF_PROTOCOL_MAJOR,
            MF_PROTOCOL_MINOR);
    fprintf(code, "SUBSCRIPTIONS, PROPERTIES, COUNTER = %d, %d, %d\n", MF_PROTOCOL_SUBSCRIPTIONS,
            MF_PROTOCOL_PROPERTIES, MF_PROTOCOL_COUNTER);
    fprintf(code, "ALL, ANY_TICK = 0x%X, 0x%" PRIX64 "\n", MF_PROTOCOL_ALL, MF_PROTOCOL_ANY_TICK);
    fprintf(code, "WRITABLE, PAUSED, SHARES = %d, %d, %d\n", MF_FIELD_WRITABLE, MF_SERVER_PAUSED,
            MF_SERVER_SHARES);
    fprintf(code, "PHOTO_LIST, WORLD_LOADED = %d, %d\n", MF_PHOTO_LIST, MF_WORLD_LOADED);
    fputs("EVENT_NAMES = (\n", code);
    MF_PROTOCOL_EVENTS(CODE_EVENT)
    fputs(")\n\n# From the server.\n", code);
    MF_PROTOCOL_ANSWERS(CODE_ANSWER, CODE_MEMBER, 0)
    fputs("\n# From the client.\n", code);
    MF_PROTOCOL_REQUESTS(CODE_REQUEST, CODE_MEMBER, 0)
    fputs("\n# Parts of messages.\n", code);
    MF_PROTOCOL_PARTS(CODE_PART, CODE_MEMBER, 0)
    fclose(code);
    check_made_file(MAYFLY_SOURCE_DIR "/python/src/mayfly/_messages.py", made);
}

// Marks the kinds of the messages of a seed.
static void mark(const char *path, bool *has) {
    size_t size;
    AUTO(end_memory) char *bytes = file_get(path, &size);
    for (size_t at = 0; at + MF_PROTOCOL_HEAD <= size;) {
        const mf_WireHead *head = (const void *)(bytes + at);
        if (head->kind < MF_MESSAGE_KINDS)
            has[head->kind] = true;
        at += MF_PROTOCOL_HEAD + head->size;
    }
}

TEST(test_each_request_has_a_seed) {
    bool has[MF_MESSAGE_KINDS] = {false};
    glob_t seeds;
    assert_int_equal(glob(MAYFLY_SOURCE_DIR "/tests/fuzz/corpus/wire/*", 0, NULL, &seeds), 0);
    for (size_t i = 0; i < seeds.gl_pathc; i++)
        mark(seeds.gl_pathv[i], has);
    globfree(&seeds);
    for (uint32_t kind = 1; kind < MF_MESSAGE_KINDS; kind++)
        if (mf_wire_rows[kind].name != NULL && !has[kind])
            fail_msg("tests/fuzz/corpus/wire has no message %s", mf_wire_rows[kind].name);
}
