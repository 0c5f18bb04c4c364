// mayfly worker: evaluates genomes for a search that another process runs.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "base/file.h"
#include "crew.h"
#include "inputs.h"
#include "options.h"
#include "run_folder.h"

#define UNKNOWN_MASTER 3 // exit code: there is no master any more, or it refused

typedef struct Options {
    mf_Inputs inputs;
} Options;

static const mf_Option table[] = {MF_INPUT_THREADS(Options, inputs), MF_OPT_END};

const mf_CommandHelp mf_help_worker = {
    .name = "worker",
    .arguments = "ADDRESS",
    .summary = "evaluate genomes for a search elsewhere",
    .text =
        "Connects to a search (mayfly evolve --engine) that listens at ADDRESS, HOST:PORT, and\n"
        "evaluates what it gets until the search ends. The environment variable MAYFLY_TOKEN\n"
        "holds the token that the search has printed or inherited. Results do not depend on\n"
        "how many workers there are, nor on which of them is lost.\n\n"
        "Exit code 0: the search needs no more; 3: there is no search, or it refused the token\n"
        "or this version.",
    .examples = "  MAYFLY_TOKEN=secret mayfly evolve scenes/hexapod.yaml --engine listen --address "
                "0.0.0.0:9000\n"
                "  MAYFLY_TOKEN=secret mayfly worker node1:9000 --threads 8\n",
    .least = 1,
    .most = 1,
    .options = table};

typedef struct Work {
    mf_Context *context;
    mf_Worker *worker;
    mf_SceneFile *file;
    mf_Lives lives;
    mf_FolderPaths paths;
    char own[64]; // folder of the files that came; "": they are in the run's
    double *reply;
} Work;

// ---- the set-up ---------------------------------------------------------------------------------

// Parts of the set-up, one after another.
typedef struct Reader {
    const char *at, *end;
} Reader;

static const char *next_text(Reader *reader) {
    const char *text = reader->at, *end = memchr(text, 0, (size_t)(reader->end - text));
    reader->at = end != NULL ? end + 1 : reader->end;
    return end != NULL ? text : "";
}

static const char *next_bytes(Reader *reader, size_t size) {
    const char *bytes = reader->at;
    if ((size_t)(reader->end - bytes) < size)
        return NULL;
    reader->at += size;
    return bytes;
}

// Whether this machine has the folder of the run.
static bool has_folder(mf_Context *context, const char *folder, const char *settings) {
    char path[MF_APP_PATH], *text = NULL;
    size_t size = 0;
    if (mf_folder_path(folder, "scene.yaml", path, NULL) != MF_OK ||
        mf_file_read(context, path, (size_t)1 << 26, &text, &size, NULL) != MF_OK)
        return false;
    const bool same = size == strlen(settings) && memcmp(text, settings, size) == 0;
    mf_release(context, text);
    return same;
}

static mf_Status write_file(Work *work, const char *name, const char *data, size_t size,
                            mf_Error *error) {
    char path[MF_APP_PATH], folder[MF_APP_PATH];
    uint32_t made;
    const int length = snprintf(path, sizeof path, "%s/files/%s", work->own, name);
    MF_CHECK(length > 0 && length < MF_APP_PATH && strstr(name, "..") == NULL, error, MF_LIMIT,
             "worker: a file with the path %.200s", name);
    snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = '\0';
    MF_TRY(mf_folder_make(work->context, folder, &made, error));
    return mf_file_replace(work->context, path, data, size, error);
}

static mf_Status unpack(Work *work, Reader *reader, uint32_t files, mf_Error *error) {
    const char *place = getenv("TMPDIR");
    snprintf(work->own, sizeof work->own, "%.30s/mayfly-worker-XXXXXX",
             place != NULL && strlen(place) <= 30 ? place : "/tmp");
    if (mkdtemp(work->own) == NULL) {
        work->own[0] = '\0';
        return mf_fail(error, MF_IO, "worker: cannot make a folder for the files of the search");
    }
    for (uint32_t i = 0; i < files; i++) {
        uint64_t size;
        const char *head = next_bytes(reader, sizeof size);
        if (head == NULL)
            break;
        memcpy(&size, head, sizeof size);
        const char *name = next_text(reader), *data = next_bytes(reader, size);
        MF_CHECK(data != NULL, error, MF_CORRUPT, "worker: the set-up is cut off");
        MF_TRY(write_file(work, name, data, size, error));
    }
    return MF_OK;
}

static mf_Status check_hashes(const Work *work, const mf_CrewSetup *head, mf_Error *error) {
    const mf_Scene *scene = &work->lives.scene;
    const bool same =
        head->model_hash == mf_model_hash(scene->model) &&
        head->terrain_hash == mf_terrain_hash(mf_world_config_of(scene->world)->terrain);
    return same ? MF_OK
                : mf_fail(error, MF_CORRUPT, "worker: its robot or ground is not the search's");
}

static mf_Status set_up(Work *work, const Options *options, mf_Error *error) {
    size_t size;
    const char *setup = mf_worker_setup(work->worker, &size);
    char archive[MF_APP_PATH];
    mf_CrewSetup head;
    mf_Inputs inputs = options->inputs;
    MF_CHECK(size >= sizeof head, error, MF_CORRUPT, "worker: the set-up is cut off");
    memcpy(&head, setup, sizeof head);
    Reader reader = {setup + sizeof head, setup + size};
    const char *folder = next_text(&reader), *settings = next_text(&reader);
    if (!has_folder(work->context, folder, settings)) {
        MF_CHECK(head.files > 0, error, MF_NOT_FOUND,
                 "worker: the files of the search are too large to travel; expected its folder "
                 "%.300s on a file system that both machines have",
                 folder);
        MF_TRY(unpack(work, &reader, head.files, error));
        folder = work->own;
    }
    inputs.allow_plugins = head.allow_plugins != 0;
    MF_TRY(mf_folder_path(folder, "archive.sqlite", archive, error));
    MF_TRY(
        mf_inputs_parse(work->context, &inputs, "worker", archive, settings, &work->file, error));
    work->file->evolves = true;
    MF_TRY(mf_folder_find(archive, work->file, &work->paths, error));
    MF_TRY(mf_lives_open(work->context, work->file, &work->lives, error));
    MF_TRY(check_hashes(work, &head, error));
    const size_t values = 1 + work->file->search.descriptor_count;
    work->reply = mf_allocate(work->context, mf_group_count(work->lives.scene.group) * values,
                              sizeof *work->reply);
    MF_NEED_MEMORY(work->reply != NULL, error, "worker");
    return MF_OK;
}

// ---- works --------------------------------------------------------------------------------------

static mf_Status live(Work *work, const char *data, size_t size, size_t *reply, mf_Error *error) {
    mf_CrewWork head;
    const uint32_t descriptors = work->file->search.descriptor_count;
    MF_CHECK(size >= sizeof head, error, MF_CORRUPT, "worker: a work that is cut off");
    memcpy(&head, data, sizeof head);
    const size_t bytes = (size_t)head.count * head.genome_bytes;
    MF_CHECK(size == sizeof head + bytes, error, MF_CORRUPT, "worker: a work that is cut off");
    const bool describes = descriptors > 0 && head.verifies == 0;
    *reply = head.count * (describes ? 1 + descriptors : 1) * sizeof(double);
    return mf_lives_evaluate(&work->lives, head.verifies != 0, head.first,
                             (const uint8_t *)data + sizeof head, head.count, head.genome_bytes,
                             work->reply, describes ? work->reply + head.count : NULL, error);
}

// Until the master ends it. What goes wrong with a work is the master's to say.
static mf_Status serve(Work *work, const Options *options, mf_Error *error) {
    mf_Error reason = {.status = MF_OK};
    const mf_Status ready = set_up(work, options, &reason);
    for (;;) {
        const void *data;
        size_t size, reply = 0;
        MF_TRY(mf_worker_next(work->worker, &data, &size, error));
        mf_Status status = ready;
        MF_THEN(status, live(work, data, size, &reply, &reason));
        MF_TRY(status == MF_OK ? mf_worker_reply(work->worker, work->reply, reply, error)
                               : mf_worker_fail(work->worker, &reason, error));
    }
}

int mf_command_worker(int argc, char **argv) {
    Options options = {.inputs = {0}};
    int count, result = mf_options_parse(&mf_help_worker, &options, argc, argv, &count);
    if (result != MF_OPTIONS_GO_ON)
        return result;
    if (options.inputs.threads == NULL)
        options.inputs.threads = "1";
    Work work = {.context = NULL};
    mf_Error error = {0};
    const char *token = getenv("MAYFLY_TOKEN");
    mf_Status status = mf_inputs_context(&options.inputs, &work.context, &error);
    MF_THEN(status, mf_worker_connect(work.context, argv[1], token != NULL ? token : "",
                                      mf_version(), &work.worker, &error));
    MF_THEN(status, serve(&work, &options, &error));
    mf_worker_destroy(work.worker);
    if (work.own[0] != '\0')
        mf_folder_remove_all(work.own);
    mf_lives_close(&work.lives);
    mf_scene_file_destroy(work.file);
    if (work.context != NULL)
        mf_release(work.context, work.reply);
    mf_context_destroy(work.context);
    if (status == MF_STOPPED)
        return MF_EXIT_DONE;
    mf_app_fail(&error);
    return UNKNOWN_MASTER;
}
