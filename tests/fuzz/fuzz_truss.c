// Fuzz target: trusses' files. For any bytes the reader returns a truss that the checks accept, or
// one line of error; a truss can be written and read back to the same text, and has a rank.
#include "fuzz.h"
#include "rig/bodies.h"

static void try_truss(mf_Context *context, const char *text, size_t size) {
    mf_Truss *truss = NULL, *again = NULL;
    mf_TrussStatics statics;
    mf_Error error = {0};
    char *once = NULL, *twice = NULL;
    mf_Status status = mf_truss_parse(context, "/fuzz/t.yaml", text, size, &truss, &error);
    require((status == MF_OK) == (truss != NULL));
    require(status == MF_OK || error.message[0] != '\0');
    if (truss == NULL)
        return;
    require(mf_truss_check(truss, NULL) == MF_OK);
    require(truss->vertex_count > 64 || mf_truss_statics(context, truss, &statics, NULL) == MF_OK);
    require(mf_truss_write(context, truss, &once, NULL) == MF_OK);
    require(mf_truss_parse(context, "/fuzz/t.yaml", once, strlen(once), &again, NULL) == MF_OK);
    require(mf_truss_write(context, again, &twice, NULL) == MF_OK);
    require(strcmp(once, twice) == 0);
    mf_release(context, once);
    mf_release(context, twice);
    mf_truss_destroy(truss);
    mf_truss_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mf_Context *context = fuzz_context();
    try_truss(context, (const char *)data, size);
    mf_body_kind_of((const char *)data, size);
    fuzz_end(context);
    return 0;
}
