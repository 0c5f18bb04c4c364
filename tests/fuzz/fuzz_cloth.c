// Fuzz target: cloths' files. For any bytes the reader returns a cloth that the checks accept, or
// one line of error; a cloth can be written and read back to the same text.
#include <mayfly/cloth.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
    if (!condition)
        abort();
}

static void try_cloth(mf_Context *context, const char *text, size_t size) {
    mf_Cloth *cloth = NULL, *again = NULL;
    mf_Error error = {0};
    char *once = NULL, *twice = NULL;
    mf_Status status = mf_cloth_parse(context, "/fuzz/c.yaml", text, size, &cloth, &error);
    require((status == MF_OK) == (cloth != NULL));
    require(status == MF_OK || error.message[0] != '\0');
    if (cloth == NULL)
        return;
    require(mf_cloth_check(cloth, NULL) == MF_OK);
    require(mf_cloth_write(context, cloth, &once, NULL) == MF_OK);
    require(mf_cloth_parse(context, "/fuzz/c.yaml", once, strlen(once), &again, NULL) == MF_OK);
    require(mf_cloth_write(context, again, &twice, NULL) == MF_OK);
    require(strcmp(once, twice) == 0);
    mf_release(context, once);
    mf_release(context, twice);
    mf_cloth_destroy(cloth);
    mf_cloth_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mf_ContextConfig config = mf_context_config();
    config.threads = 1;
    mf_Context *context = NULL;
    require(mf_context_create(&config, &context, NULL) == MF_OK);
    try_cloth(context, (const char *)data, size);
    mf_cloth_is((const char *)data, size);
    require(mf_context_live_bytes(context) == 0);
    mf_context_destroy(context);
    return 0;
}
