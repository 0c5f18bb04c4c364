// Fuzz target: cloths' files. For any bytes the reader returns a cloth that the checks accept, or
// one line of error; a cloth can be written and read back to the same text.
#include "fuzz.h"
#include "rig/bodies.h"
#include "motion/cloth/model.h"

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
    require(mf_body_write(context, &mf_cloth_body, cloth, &once, NULL) == MF_OK);
    require(mf_cloth_parse(context, "/fuzz/c.yaml", once, strlen(once), &again, NULL) == MF_OK);
    require(mf_body_write(context, &mf_cloth_body, again, &twice, NULL) == MF_OK);
    require(strcmp(once, twice) == 0);
    mf_release(context, once);
    mf_release(context, twice);
    mf_body_destroy(cloth);
    mf_body_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mf_Context *context = fuzz_context();
    try_cloth(context, (const char *)data, size);
    mf_body_kind_of((const char *)data, size);
    fuzz_end(context);
    return 0;
}
