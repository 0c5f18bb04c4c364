// Fuzz target: scenes. For any bytes the reader returns a complete scene or one line of error; a
// scene can be written and read back to the same text. Models, gaits and plugins are read later;
// files of vehicles are not available, so a scene with vehicles fails when they are opened, after
// everything before it has been read.
#include "fuzz.h"

static mf_SceneFile *parse(mf_Context *context, const char *text, size_t size) {
    mf_SceneFile *file = NULL;
    mf_Error error = {0};
    mf_Status status =
        mf_scene_file_parse(context, "/fuzz/t.yaml", text, size, NULL, 0, &file, &error);
    require((status == MF_OK) == (file != NULL));
    require(status == MF_OK || error.message[0] != '\0');
    require(strchr(error.message, '\n') == NULL);
    return file;
}

static void try_scene(mf_Context *context, const char *text, size_t size) {
    char *once = NULL, *twice = NULL;
    mf_SceneFile *file = parse(context, text, size);
    if (file == NULL)
        return;
    mf_Error error = {0};
    require(mf_scene_file_count(file) > 0);
    require((mf_scene_file_can_evolve(file, &error) == MF_OK) == (error.message[0] == '\0'));
    require(mf_scene_file_write(file, &once, NULL) == MF_OK);
    mf_SceneFile *again = parse(context, once, strlen(once));
    require(again != NULL);
    require(mf_scene_file_write(again, &twice, NULL) == MF_OK);
    require(strcmp(once, twice) == 0);
    mf_release(context, once);
    mf_release(context, twice);
    mf_scene_file_destroy(file);
    mf_scene_file_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mf_Context *context = fuzz_context();
    try_scene(context, (const char *)data, size);
    fuzz_end(context);
    return 0;
}
