// Fuzz target: a whole archive file. The input is the file; it is opened for reading and for
// writing, and everything in it is read. If it can be resumed, the search must continue from it,
// and the result must be resumable at exactly that generation.
#include "fuzz.h"

enum { LARGEST_POPULATION = 1 << 10, LARGEST_GENOME = 1 << 10 };

static mf_Status evaluate(void *user, const uint8_t *genomes, uint32_t count, uint32_t genome_bytes,
                          double *fitness, mf_Error *error) {
    for (uint32_t i = 0; i < count; i++)
        fitness[i] = genomes[(size_t)i * genome_bytes];
    return MF_OK;
}

static void read_everything(mf_Context *context, mf_Archive *archive, const mf_ArchiveRun *run) {
    mf_ArchiveGeneration *rows = NULL;
    uint32_t count = 0;
    if (mf_archive_generations(archive, &rows, &count, NULL) == MF_OK)
        mf_release(context, rows);
    uint8_t genome[LARGEST_GENOME];
    mf_Individual individual;
    for (uint32_t i = 0; i < 4; i++) {
        mf_archive_individual(archive, i, &individual, genome, run->search.genome_bytes, NULL);
        mf_archive_best(archive, i, &individual, genome, run->search.genome_bytes, NULL);
    }
}

// Resumes and, where that works, goes on by one generation.
static void go_on(mf_Context *context, mf_Archive *archive, const mf_ArchiveRun *run) {
    mf_SearchConfig config = run->search;
    config.evaluate = evaluate;
    mf_Search *search = NULL, *again = NULL;
    require(mf_search_create(context, &config, &search, NULL) == MF_OK);
    require(mf_search_create(context, &config, &again, NULL) == MF_OK);
    if (mf_archive_resume(archive, search, NULL, NULL, NULL) == MF_OK &&
        mf_search_advance(search, NULL) == MF_OK &&
        mf_archive_append(archive, search, 1, 1, NULL) == MF_OK) {
        require(mf_archive_resume(archive, again, NULL, NULL, NULL) == MF_OK);
        require(mf_search_generation(again) == mf_search_generation(search));
        require(mf_search_hash(again) == mf_search_hash(search));
    }
    mf_search_destroy(search);
    mf_search_destroy(again);
}

static void use(mf_Context *context, const char *path, bool write) {
    mf_Archive *archive = NULL;
    mf_Error error = {0};
    if (mf_archive_open(context, path, write, &archive, &error) != MF_OK) {
        require(archive == NULL && error.message[0] != '\0');
        return;
    }
    mf_ArchiveRun run;
    if (mf_archive_run(archive, &run, NULL) == MF_OK &&
        run.search.population <= LARGEST_POPULATION && run.search.genome_bytes <= LARGEST_GENOME) {
        read_everything(context, archive, &run);
        if (write)
            go_on(context, archive, &run);
    }
    mf_archive_close(archive);
}

static void remove_all(const char *path) {
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    for (int i = 0; i < 4; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        unlink(name);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    fuzz_file(path, data, size);
    mf_Context *context = fuzz_context(NULL);
    use(context, path, false);
    use(context, path, true);
    fuzz_end(context);
    remove_all(path);
    return 0;
}
