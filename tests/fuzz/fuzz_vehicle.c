// Fuzz target: vehicle files. For any bytes the reader returns a complete vehicle or one line of
// error; a vehicle can be written and read back to the same text.
#include "fuzz.h"
#include "rig/bodies.h"
#include "io/document.h"

static void try_vehicle(mf_Context *context, const char *text, size_t size) {
    mf_Vehicle *vehicle = NULL, *again = NULL;
    mf_Error error = {0};
    char *once = NULL, *twice = NULL;
    mf_Status status = mf_vehicle_parse(context, "/fuzz/v.yaml", text, size, &vehicle, &error);
    require((status == MF_OK) == (vehicle != NULL));
    require(status == MF_OK || error.message[0] != '\0');
    if (vehicle == NULL)
        return;
    require(mf_body_write(context, &mf_vehicle_body, vehicle, &once, NULL) == MF_OK);
    require(mf_vehicle_parse(context, "/fuzz/v.yaml", once, strlen(once), &again, NULL) == MF_OK);
    require(mf_body_write(context, &mf_vehicle_body, again, &twice, NULL) == MF_OK);
    require(strcmp(once, twice) == 0);
    mf_release(context, once);
    mf_release(context, twice);
    mf_body_destroy(vehicle);
    mf_body_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mf_Context *context = fuzz_context();
    try_vehicle(context, (const char *)data, size);
    mf_body_kind_of((const char *)data, size);
    fuzz_end(context);
    return 0;
}
