// Fuzz target: experiment files. Whatever the bytes, the reader gives a whole experiment or one
// line of error; an experiment that it gives can be written, and reads back to the same text.
#include <mayfly/experiment.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
    if (!condition)
        abort();
}

static void round_trip(mf_Context *context, mf_Experiment *experiment) {
    char *once = NULL, *twice = NULL;
    mf_Experiment *again = NULL;
    require(mf_experiment_write(experiment, &once, NULL) == MF_OK);
    require(mf_experiment_parse(context, "/fuzz/t.yaml", once, strlen(once), NULL, 0, &again,
                                NULL) == MF_OK);
    require(mf_experiment_write(again, &twice, NULL) == MF_OK);
    require(strcmp(once, twice) == 0);
    mf_release(context, once);
    mf_release(context, twice);
    mf_experiment_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mf_ContextConfig config = mf_context_config();
    config.threads = 1;
    mf_Context *context = NULL;
    require(mf_context_create(&config, &context, NULL) == MF_OK);
    mf_Experiment *experiment = NULL;
    mf_Error error = {0};
    mf_Status status = mf_experiment_parse(context, "/fuzz/t.yaml", (const char *)data, size, NULL,
                                           0, &experiment, &error);
    require((status == MF_OK) == (experiment != NULL));
    require(status == MF_OK || error.message[0] != '\0');
    if (experiment != NULL)
        round_trip(context, experiment);
    mf_experiment_destroy(experiment);
    require(mf_context_live_bytes(context) == 0);
    mf_context_destroy(context);
    return 0;
}
