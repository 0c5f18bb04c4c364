// Fuzz target: files of robots. Whatever the bytes, the reader gives a whole file or one line of
// error, and what it gives can be written and reads back to the same text. Models and gaits are
// read later, so nothing else is looked for.
#include <mayfly/robots.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
    if (!condition)
        abort();
}

static mf_Robots *parse(mf_Context *context, const char *text, size_t size) {
    mf_Robots *robots = NULL;
    mf_Error error = {0};
    mf_Status status =
        mf_robots_parse(context, "/fuzz/r.yaml", text, size, NULL, 0, &robots, &error);
    require((status == MF_OK) == (robots != NULL));
    require(status == MF_OK || error.message[0] != '\0');
    require(strchr(error.message, '\n') == NULL);
    return robots;
}

static void try_robots(mf_Context *context, const char *text, size_t size) {
    char *once = NULL, *twice = NULL;
    mf_Robots *robots = parse(context, text, size);
    if (robots == NULL)
        return;
    require(mf_robots_count(robots) > 0);
    require(mf_robots_write(robots, &once, NULL) == MF_OK);
    mf_Robots *again = parse(context, once, strlen(once));
    require(again != NULL);
    require(mf_robots_write(again, &twice, NULL) == MF_OK);
    require(strcmp(once, twice) == 0);
    mf_release(context, once);
    mf_release(context, twice);
    mf_robots_destroy(robots);
    mf_robots_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mf_ContextConfig config = mf_context_config();
    config.threads = 1;
    mf_Context *context = NULL;
    require(mf_context_create(&config, &context, NULL) == MF_OK);
    try_robots(context, (const char *)data, size);
    mf_robots_is((const char *)data, size);
    require(mf_context_live_bytes(context) == 0);
    mf_context_destroy(context);
    return 0;
}
