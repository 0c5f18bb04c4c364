// What a search costs its master on a cluster: the master of an engine (src/engine) with thousands
// of connections, whose other ends are one process that answers each work after as long as it would
// take.
//
//     build/bench_engine_load WORKERS SECONDS GENOME_BYTES
//
// Each worker gets works of 64 genomes, four for each worker and generation, as `mayfly evolve`
// cuts them. Prints one JSON object: wall time of a generation over that of workers which are never
// idle, the master's processor time, messages and bytes.
#define _GNU_SOURCE
#include "base/clock.h"
#include "client/link.h"
#include "engine/engine.h"
#include "engine/wire.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIECES = 4, ROBOTS = 64, GENERATIONS = 3 };

typedef struct Worker {
    int socket;
    mf_EngineBuffer in, out;
    uint32_t ids[MF_ENGINE_AHEAD], count;
    double due; // [s] of the clock, of the first
} Worker;

static void take(mf_Context *context, Worker *worker, double seconds, double now) {
    mf_EngineHead head;
    const uint8_t *data;
    if (!mf_engine_fill(context, worker->socket, &worker->in))
        exit(0); // the master is done
    while (mf_engine_peek(&worker->in, MF_ENGINE_MESSAGE, &head, &data, NULL)) {
        if (head.kind == MF_ENGINE_END)
            exit(0);
        if (head.kind == MF_ENGINE_WORK) {
            if (worker->count == 0)
                worker->due = now + seconds;
            worker->ids[worker->count++] = head.id;
        }
        mf_engine_drop(&worker->in, &head);
    }
}

static void answer(mf_Context *context, Worker *worker, double seconds, double now) {
    const double fitness[ROBOTS] = {0};
    mf_engine_put(context, &worker->out, MF_ENGINE_REPLY, worker->ids[0], fitness, sizeof fitness);
    mf_engine_flush(worker->socket, &worker->out);
    worker->ids[0] = worker->ids[1];
    worker->count--;
    worker->due = now + seconds;
}

static void be_workers(const char *address, uint32_t count, double seconds) {
    mf_Context *context;
    Worker *workers = calloc(count, sizeof *workers);
    struct pollfd *polls = calloc(count, sizeof *polls);
    if (mf_context_create(NULL, &context, NULL) != MF_OK || workers == NULL || polls == NULL)
        exit(1);
    for (uint32_t w = 0; w < count; w++) {
        mf_Error error;
        if (mf_client_open(address, &workers[w].socket, &error) != MF_OK) {
            fprintf(stderr, "worker %u: %s\n", w, error.message);
            exit(1);
        }
        mf_engine_put(context, &workers[w].out, MF_ENGINE_HELLO, 0, "t\0v", 3);
        mf_engine_flush(workers[w].socket, &workers[w].out);
        polls[w] = (struct pollfd){.fd = workers[w].socket, .events = POLLIN};
    }
    for (;;) {
        const int ready = poll(polls, count, 1);
        const double now = mf_clock_seconds();
        for (uint32_t w = 0; w < count; w++) {
            if (ready > 0 && polls[w].revents != 0)
                take(context, &workers[w], seconds, now);
            if (workers[w].count > 0 && now >= workers[w].due)
                answer(context, &workers[w], seconds, now);
        }
    }
}

static double processor_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec +
           (double)usage.ru_stime.tv_sec + 1e-6 * (double)usage.ru_stime.tv_usec;
}

static void fail(const mf_Error *error) {
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

static void one_generation(mf_Context *context, mf_Engine *engine, mf_Work *works, uint32_t count,
                           const void *data, size_t size) {
    mf_Error error;
    for (uint32_t i = 0; i < count; i++)
        works[i] = (mf_Work){.data = data, .size = size};
    if (mf_engine_do(engine, works, count, &error) != MF_OK)
        fail(&error);
    for (uint32_t i = 0; i < count; i++)
        mf_release(context, works[i].reply);
}

int main(int argc, char **argv) {
    const uint32_t workers = argc > 1 ? (uint32_t)atoi(argv[1]) : 1000;
    const double seconds = argc > 2 ? atof(argv[2]) : 1.0;
    const size_t size = ROBOTS * (argc > 3 ? (size_t)atoi(argv[3]) : 55) + 16;
    const uint32_t count = PIECES * workers;
    mf_Context *context;
    mf_Engine *engine;
    mf_Error error;
    void *data = calloc(1, size);
    const mf_EngineConfig config = {
        .address = "127.0.0.1:0", .token = "t", .version = "v", .setup = "", .setup_size = 1};
    if (mf_context_create(NULL, &context, &error) != MF_OK ||
        mf_engine_create(context, &config, &engine, &error) != MF_OK)
        fail(&error);
    mf_Work *works = mf_allocate(context, count, sizeof *works);
    const pid_t child = fork();
    if (child == 0)
        be_workers(mf_engine_address(engine), workers, seconds);
    // Until all are there.
    const double began = mf_clock_seconds();
    while (mf_engine_statistics(engine).workers < workers && mf_clock_seconds() - began < 120.0)
        one_generation(context, engine, works, 1, data, size);
    const mf_EngineStatistics before = mf_engine_statistics(engine);
    const double start = mf_clock_seconds(), spent = processor_seconds();
    for (int g = 0; g < GENERATIONS; g++)
        one_generation(context, engine, works, count, data, size);
    const mf_EngineStatistics after = mf_engine_statistics(engine);
    const double wall = (mf_clock_seconds() - start) / GENERATIONS;
    printf(
        "{\"workers\": %u, \"work_s\": %g, \"works\": %u, \"generation_s\": %.3f, \"over_ideal\": "
        "%.3f, \"master_cpu_s\": %.3f, \"messages\": %llu, \"sent_mb\": %.2f, \"received_mb\": "
        "%.2f, \"repeated\": %llu}\n",
        before.workers, seconds, count, wall, wall / (PIECES * seconds),
        (processor_seconds() - spent) / GENERATIONS,
        2ull * (unsigned long long)(after.works - before.works) / GENERATIONS,
        (double)(after.sent - before.sent) / GENERATIONS / 1e6,
        (double)(after.received - before.received) / GENERATIONS / 1e6,
        (unsigned long long)(after.repeated - before.repeated));
    mf_engine_destroy(engine);
    waitpid(child, NULL, 0);
    return 0;
}
