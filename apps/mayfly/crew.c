#include "crew.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "world/group.h"

#define TRAVEL_MOST ((size_t)16 << 20) // [byte] of files; beyond it workers read them in the folder
enum { PIECES = 4 };                   // [1] works for each worker and evaluation

// ---- engines ------------------------------------------------------------------------------------

enum { ARGUMENTS = 13 };

// How workers come to be. `arguments` [ARGUMENTS] of the program that mf_engine_start starts, as
// many times as it says; 0: others start them.
typedef struct Engine {
    const char *name;
    const char *address; // to listen at
    uint32_t (*start)(const mf_CrewConfig *config, const char *address, uint32_t workers,
                      const char **arguments);
} Engine;

static char program[MF_APP_PATH]; // this one, found in the PATH where it has no folder

static uint32_t start_processes(const mf_CrewConfig *config, const char *address, uint32_t workers,
                                const char **arguments) {
    const char *list[] = {
        program, "worker", address, "--threads", config->threads != NULL ? config->threads : "1",
        NULL};
    memcpy(arguments, list, sizeof list);
    return workers;
}

// One program, which asks the cluster for the others.
static uint32_t start_ray(const mf_CrewConfig *config, const char *address, uint32_t workers,
                          const char **arguments) {
    static char count[16];
    const char *python = getenv("MAYFLY_PYTHON");
    const char *threads = config->threads != NULL ? config->threads : "1";
    snprintf(count, sizeof count, "%u", workers);
    const char *list[ARGUMENTS] = {python != NULL ? python : "python3",
                                   "-m",
                                   "mayfly.worker",
                                   "ray",
                                   address,
                                   count,
                                   "--threads",
                                   threads,
                                   program,
                                   "worker",
                                   "--threads",
                                   threads};
    memcpy(arguments, list, sizeof list);
    return 1;
}

static uint32_t start_none(const mf_CrewConfig *config, const char *address, uint32_t workers,
                           const char **arguments) {
    (void)config, (void)workers, (void)arguments;
    fprintf(stderr, "mayfly: works for `mayfly worker %s`\n", address);
    return 0;
}

// The launcher mayfly-mpi, which has started this program, waits for the address in a pipe.
static uint32_t start_mpi(const mf_CrewConfig *config, const char *address, uint32_t workers,
                          const char **arguments) {
    (void)config, (void)workers, (void)arguments;
    const char *pipe = getenv("MAYFLY_MPI_PIPE");
    if (pipe == NULL || dprintf(atoi(pipe), "%s\n", address) < 0)
        return UINT32_MAX;
    return 0;
}

static const Engine engines[] = {
    {"threads", NULL, NULL},
    {"processes", "127.0.0.1:0", start_processes},
    {"mpi", "0.0.0.0:0", start_mpi},
    {"ray", "0.0.0.0:0", start_ray},
    {"listen", "127.0.0.1:0", start_none},
};

const char *mf_crew_engine(const void *list, uint32_t index) {
    (void)list;
    return index < sizeof engines / sizeof *engines ? engines[index].name : NULL;
}

// ---- the set-up ---------------------------------------------------------------------------------

static void put_text(mf_Text *out, const char *text) {
    mf_text_put_bytes(out, text, strlen(text) + 1);
}

// All files, where they are few: else workers read them in the folder of the run.
static mf_Status put_files(mf_Crew *crew, const mf_CrewConfig *config, uint32_t *count,
                           mf_Error *error) {
    const mf_RunFiles *files = config->files;
    const size_t shared = mf_run_files_shared(files), before = crew->setup.size;
    *count = 0;
    for (uint32_t i = 0; i < files->count; i++) {
        char *data;
        size_t size;
        MF_TRY(mf_file_read(crew->context, files->paths[i], TRAVEL_MOST, &data, &size, error));
        const uint64_t bytes = size;
        mf_text_put_bytes(&crew->setup, (const char *)&bytes, sizeof bytes);
        put_text(&crew->setup, files->paths[i] + shared);
        mf_text_put_bytes(&crew->setup, data, size);
        mf_release(crew->context, data);
        if (crew->setup.size - before > TRAVEL_MOST) {
            crew->setup.size = before;
            return MF_OK;
        }
    }
    *count = files->count;
    return MF_OK;
}

static mf_Status make_setup(mf_Crew *crew, const mf_CrewConfig *config, mf_Error *error) {
    char folder[MF_APP_PATH];
    mf_CrewSetup head = {.model_hash = mf_model_hash(crew->lives->scene.model),
                         .terrain_hash =
                             mf_terrain_hash(mf_world_config_of(crew->lives->scene.world)->terrain),
                         .allow_plugins = config->allow_plugins};
    crew->setup = mf_text_begin(crew->context);
    mf_text_put_bytes(&crew->setup, (const char *)&head, sizeof head);
    put_text(&crew->setup, mf_app_absolute(config->folder, folder));
    put_text(&crew->setup, config->settings);
    MF_TRY(put_files(crew, config, &head.files, error));
    MF_NEED_MEMORY(!crew->setup.failed, error, "workers");
    memcpy(crew->setup.data, &head, sizeof head);
    return MF_OK;
}

// ---- opening ------------------------------------------------------------------------------------

// Robots that meet see all genomes of a population, not those of a part.
static mf_Status check(const mf_Scene *scene, mf_Error *error) {
    const bool alone = mf_world_group_count(scene->world) == 1 &&
                       mf_group_config_of(scene->group)->isolated && scene->file->script_count == 0;
    return alone ? MF_OK
                 : mf_fail(error, MF_UNSUPPORTED,
                           "--engine: expected one group of robots that do not meet, without "
                           "scripts: works are parts of a population");
}

static bool stop(void *user) {
    (void)user;
    return mf_app_stop_requested();
}

static mf_Status start(mf_Crew *crew, const Engine *row, const mf_CrewConfig *config,
                       mf_Error *error) {
    const char *arguments[ARGUMENTS];
    const uint32_t count =
        row->start(config, mf_engine_address(crew->engine), crew->workers, arguments);
    MF_NEED(count != UINT32_MAX, error,
            "--engine mpi: start it by the launcher: mpirun -n 8 mayfly-mpi evolve FILE");
    return count > 0 ? mf_engine_start(crew->engine, arguments, count, error) : MF_OK;
}

mf_Status mf_crew_open(mf_Context *context, mf_Lives *lives, const mf_CrewConfig *config,
                       mf_Crew *out, mf_Error *error) {
    const Engine *row = engines;
    char token[MF_APP_TOKEN];
    const uint32_t descriptors = lives->file->search.descriptor_count;
    *out = (mf_Crew){.context = context, .lives = lives};
    for (size_t i = 1; i < sizeof engines / sizeof *engines; i++)
        row = config->engine != NULL && strcmp(config->engine, engines[i].name) == 0 ? &engines[i]
                                                                                     : row;
    if (row->start == NULL)
        return MF_OK;
    MF_TRY(check(&lives->scene, error));
    const char *own_name = mf_app_program();
    char path[MF_APP_PATH]; // workers may start in another folder
    snprintf(program, sizeof program, "%s",
             strchr(own_name, '/') != NULL ? mf_app_absolute(own_name, path) : own_name);
    out->workers = config->workers > 0 ? config->workers : (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    if (descriptors > 0) {
        out->values = mf_allocate(context, (size_t)mf_group_count(lives->scene.group) * descriptors,
                                  sizeof *out->values);
        MF_NEED_MEMORY(out->values != NULL, error, "workers");
    }
    MF_TRY(make_setup(out, config, error));
    const char *own = getenv("MAYFLY_TOKEN");
    if (own != NULL && own[0] != '\0')
        snprintf(token, sizeof token, "%s", own);
    else
        MF_TRY(mf_app_token("--engine", token, error));
    const mf_EngineConfig engine = {.address =
                                        config->address != NULL ? config->address : row->address,
                                    .token = token,
                                    .version = mf_version(),
                                    .setup = out->setup.data,
                                    .setup_size = out->setup.size,
                                    .stop = stop};
    MF_TRY(mf_engine_create(context, &engine, &out->engine, error));
    return start(out, row, config, error);
}

void mf_crew_close(mf_Crew *crew) {
    if (crew->context == NULL)
        return;
    mf_engine_destroy(crew->engine);
    mf_text_free(&crew->setup);
    mf_release(crew->context, crew->values);
    *crew = (mf_Crew){.context = NULL};
}

// ---- evaluating ---------------------------------------------------------------------------------

// Whole blocks, whose robots step together anyway.
static uint32_t piece_of(const mf_Crew *crew, uint32_t count) {
    const mf_EngineStatistics sum = mf_engine_statistics(crew->engine);
    const uint32_t workers = sum.workers > crew->workers ? sum.workers : crew->workers;
    const uint32_t blocks = (count + MF_BLOCK - 1) / MF_BLOCK, pieces = PIECES * workers;
    return (blocks + pieces - 1) / pieces * MF_BLOCK;
}

static mf_Status make_works(const mf_Crew *crew, bool verifies, const uint8_t *genomes,
                            uint32_t count, uint32_t genome_bytes, uint32_t piece, mf_Work *works,
                            uint8_t **out, mf_Error *error) {
    const uint32_t pieces = (count + piece - 1) / piece;
    uint8_t *to =
        mf_allocate(crew->context, pieces * sizeof(mf_CrewWork) + (size_t)count * genome_bytes, 1);
    *out = to;
    MF_NEED_MEMORY(to != NULL, error, "workers");
    for (uint32_t p = 0; p < pieces; p++) {
        const uint32_t first = p * piece, left = count - first;
        const mf_CrewWork head = {first, left < piece ? left : piece, verifies, genome_bytes};
        const size_t bytes = (size_t)head.count * genome_bytes;
        memcpy(to, &head, sizeof head);
        memcpy(to + sizeof head, genomes + (size_t)first * genome_bytes, bytes);
        works[p] = (mf_Work){.data = to, .size = sizeof head + bytes};
        to += sizeof head + bytes;
    }
    return MF_OK;
}

// The replies, in place.
static mf_Status take(const mf_Crew *crew, bool verifies, mf_Work *works, uint32_t count,
                      uint32_t piece, double *fitness, mf_Error *error) {
    const uint32_t descriptors = verifies ? 0 : crew->lives->file->search.descriptor_count;
    bool fits = true;
    for (uint32_t first = 0, p = 0; first < count; first += piece, p++) {
        const uint32_t own = count - first < piece ? count - first : piece;
        const size_t bytes = own * sizeof(double);
        fits = fits && works[p].reply_size == bytes * (1 + descriptors);
        if (fits) {
            memcpy(fitness + first, works[p].reply, bytes);
            if (descriptors > 0)
                memcpy(crew->values + (size_t)first * descriptors,
                       (const char *)works[p].reply + bytes, bytes * descriptors);
        }
        mf_release(crew->context, works[p].reply);
    }
    return fits ? MF_OK : mf_fail(error, MF_CORRUPT, "workers: a reply of another size");
}

mf_Status mf_crew_evaluate(mf_Crew *crew, bool verifies, const uint8_t *genomes, uint32_t count,
                           uint32_t genome_bytes, double *fitness, mf_Error *error) {
    uint8_t *data = NULL;
    const uint32_t piece = piece_of(crew, count), pieces = (count + piece - 1) / piece;
    mf_Work *works = mf_allocate(crew->context, pieces, sizeof *works);
    MF_NEED_MEMORY(works != NULL, error, "workers");
    mf_Status status =
        make_works(crew, verifies, genomes, count, genome_bytes, piece, works, &data, error);
    MF_THEN(status, mf_engine_do(crew->engine, works, pieces, error));
    MF_THEN(status, take(crew, verifies, works, count, piece, fitness, error));
    mf_release(crew->context, data);
    mf_release(crew->context, works);
    return status;
}

void mf_crew_describe(const mf_Crew *crew, uint32_t count, double *values) {
    memcpy(values, crew->values,
           (size_t)count * crew->lives->file->search.descriptor_count * sizeof *values);
}
