// What a connection to `mayfly serve` costs: started by bench/serve.sh with its server. Links the
// client's library alone.
//
//     bench_serve rounds ADDRESS STATE_FIELDS INPUT_FIELD ROUNDS
//     bench_serve robots ADDRESS SECONDS
//     bench_serve watch ADDRESS SECONDS
//     bench_serve watch-all ADDRESS SECONDS
//
// `rounds`: one client in lock-step. STATE_FIELDS are names with commas between. Each round reads
// them of all robots and writes the first of them to the input of all robots, a place to hold; or
// zeros, where it is another kind of field. Prints one object of JSON with microseconds per round:
// the mean, the median, the 99th percentile, and the processor time of this program.
// `robots`: one client in lock-step for each robot of the first group, at every step, which holds
// the robot's joints. Prints how many times real time that is.
// `watch`: one client that takes all states of all robots, `watch-all`: all fields, inputs and
// parameters too, 100 times a second from a world that runs
// as fast as it can, and as long nothing, in revolutions. Prints the medians of the speeds, and how
// much slower the world was with it; and by how much more of the processor the server, SERVER_PID,
// used for the same steps, which other programs on the computer change less. Environment variables:
// SPIN_US, the time of mf_client_spin in microseconds; SHARE, the bytes of mf_client_share;
// SERVER_PID.
#include <mayfly/client.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WARM = 100, FIELDS = 16, ROBOTS = 64, ENTRIES = 1024, PARTS = 10 };

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

// [s] of the processor, of this program so far.
static double used(void) {
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static mf_Status await_turn(mf_Client *client, uint64_t *tick, mf_Error *error) {
    mf_ClientNews news = {0};
    mf_Status status = MF_OK;
    while (status == MF_OK && news.kind != MF_ANSWER_TURN)
        status = mf_client_receive(client, 60.0, &news, error);
    *tick = news.tick;
    return status;
}

// ---- rounds -------------------------------------------------------------------------------------

// Rounds, with the time of each in `seconds`. `values` NULL: those of the first field of the state.
static mf_Status go_round(mf_Client *client, const mf_ClientEntry *input, const void *values,
                          uint32_t rounds, double *seconds, mf_Error *error) {
    uint64_t tick = 0;
    mf_Status status = await_turn(client, &tick, error);
    for (uint32_t i = 0; i < WARM + rounds && status == MF_OK; i++) {
        const double before = now();
        const void *list[] = {values != NULL ? values : mf_client_values(client, 0, 0)};
        status = mf_client_write(client, tick, input, list, 1, true, error);
        if (status == MF_OK)
            status = await_turn(client, &tick, error);
        if (i >= WARM)
            seconds[i - WARM] = now() - before;
    }
    return status;
}

static uint32_t find_entries(const mf_Client *client, char *names, mf_ClientEntry *out) {
    uint32_t count = 0;
    char *rest = NULL;
    for (char *name = strtok_r(names, ",", &rest); name != NULL && count < FIELDS;
         name = strtok_r(NULL, ",", &rest))
        out[count++] = (mf_ClientEntry){mf_client_find(client, NULL, name), 0, MF_PROTOCOL_ALL};
    return count;
}

static mf_Status measure(mf_Client *client, char **names, double *seconds, uint32_t rounds,
                         mf_Error *error) {
    mf_ClientEntry states[FIELDS];
    const uint32_t count = find_entries(client, names[0], states);
    const mf_ClientEntry input = {mf_client_find(client, NULL, names[1]), 0, MF_PROTOCOL_ALL};
    const mf_ClientField *from = mf_client_field(client, states[0].field);
    const mf_ClientField *to = mf_client_field(client, input.field);
    if (from == NULL || to == NULL) {
        snprintf(error->message, sizeof error->message, "there is no such field");
        return MF_NOT_FOUND;
    }
    const size_t values = (size_t)to->instances * to->elements * to->width;
    const bool holds =
        from->type == to->type && values == (size_t)from->instances * from->elements * from->width;
    void *zeros = calloc(values + 1, sizeof(double));
    if (zeros == NULL)
        return MF_NO_MEMORY;
    mf_Status status = mf_client_subscribe(client, 0, 0, states, count, error);
    if (status == MF_OK)
        status = mf_client_lock_step(client, true, 0, 10 * MF_SECOND, error);
    if (status == MF_OK)
        status = go_round(client, &input, holds ? NULL : zeros, rounds, seconds, error);
    free(zeros);
    return status;
}

static mf_Status rounds(mf_Client *client, char **names, mf_Error *error) {
    const uint32_t count = (uint32_t)strtoul(names[2], NULL, 10);
    double *seconds = calloc(count + 1, sizeof *seconds), sum = 0.0;
    if (seconds == NULL)
        return MF_NO_MEMORY;
    const double before = used();
    mf_Status status = measure(client, names, seconds, count, error);
    const double own = used() - before;
    for (uint32_t i = 0; i < count; i++)
        sum += seconds[i];
    qsort(seconds, count, sizeof *seconds, compare);
    if (status == MF_OK && count > 0)
        printf("{\"rounds\":%u,\"mean_us\":%.2f,\"median_us\":%.2f,\"p99_us\":%.2f,"
               "\"processor_us\":%.2f}\n",
               count, 1e6 * sum / count, 1e6 * seconds[count / 2], 1e6 * seconds[count * 99 / 100],
               1e6 * own / (count + WARM));
    free(seconds);
    return status;
}

// ---- robots -------------------------------------------------------------------------------------

static mf_Status take_robot(mf_Client *client, uint32_t robot, mf_Error *error) {
    const mf_ClientEntry states[] = {{mf_client_find(client, NULL, "joint.angle"), robot, 1},
                                     {mf_client_find(client, NULL, "joint.rate"), robot, 1},
                                     {mf_client_find(client, NULL, "base.orientation"), robot, 1}};
    MF_TRY(mf_client_subscribe(client, 0, 0, states, 3, error));
    return mf_client_lock_step(client, true, 0, 10 * MF_SECOND, error);
}

static mf_Status hold(mf_Client **clients, uint32_t count, double seconds, mf_Error *error) {
    const uint32_t target = mf_client_find(clients[0], NULL, "joint.target");
    const double begin = now(), before = used();
    uint64_t tick = 0, first = 0;
    mf_Status status = MF_OK;
    uint32_t turns = 0;
    for (; status == MF_OK && (turns < WARM || now() - begin < seconds); turns++)
        for (uint32_t i = 0; i < count && status == MF_OK; i++) {
            const mf_ClientEntry input = {target, i, 1};
            status = await_turn(clients[i], &tick, error);
            first = turns == 0 && i == 0 ? tick : first;
            const void *list[] = {mf_client_values(clients[i], 0, 0)};
            if (status == MF_OK)
                status = mf_client_write(clients[i], tick, &input, list, 1, true, error);
        }
    const double passed = now() - begin, step = 1e-9 * (double)mf_client_step_time(clients[0]);
    if (status == MF_OK)
        printf("{\"clients\":%u,\"turns\":%u,\"times_real_time\":%.2f,\"processor\":%.2f}\n", count,
               turns, step * (double)(tick - first) / passed, (used() - before) / passed);
    return status;
}

static mf_Status robots(mf_Client *client, char **names, mf_Error *error) {
    mf_Client *clients[ROBOTS] = {client};
    const mf_ClientField *field = mf_client_field(client, 0);
    const uint32_t count = field->instances < ROBOTS ? field->instances : ROBOTS;
    mf_Status status = mf_client_pause(client, true, error);
    for (uint32_t i = 1; i < count && status == MF_OK; i++)
        status = mf_client_connect(names[-1], NULL, &clients[i], error);
    for (uint32_t i = 0; i < count && status == MF_OK; i++)
        status = take_robot(clients[i], i, error);
    if (status == MF_OK)
        status = mf_client_pause(client, false, error);
    if (status == MF_OK)
        status = hold(clients, count, strtod(names[0], NULL), error);
    for (uint32_t i = 1; i < count; i++)
        mf_client_close(clients[i]);
    return status;
}

// ---- watch --------------------------------------------------------------------------------------

// [s] of the processor that the server has used; 0: unknown.
static double server_used(void) {
    const char *id = getenv("SERVER_PID");
    char path[64], text[1024];
    unsigned long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%.20s/stat", id != NULL ? id : "none");
    FILE *file = fopen(path, "r");
    const size_t size = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file != NULL)
        fclose(file);
    text[size] = '\0';
    const char *after = strrchr(text, ')'); // the name of the program may hold anything
    if (after == NULL || sscanf(after + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                                &user, &system) != 2)
        return 0.0;
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

typedef struct Seen {
    double speed[PARTS];         // [1] times real time
    double simulated, processor; // [s] sums
    uint64_t states;
} Seen;

static mf_Status ask_time(mf_Client *client, double *simulated, double *clock, mf_Error *error) {
    mf_ClientStatistics found = {0};
    mf_Status status = mf_client_statistics(client, false, &found, error);
    *simulated = 1e-9 * (double)found.time;
    *clock = now();
    return status;
}

// The world over `seconds` in which all that comes is taken.
static mf_Status see(mf_Client *client, double seconds, Seen *seen, int part, mf_Error *error) {
    const double used_before = server_used();
    double begin, start, end = 0.0, stop = 0.0;
    mf_ClientNews news;
    mf_Status status = ask_time(client, &begin, &start, error);
    while (status == MF_OK && now() - start < seconds) {
        const mf_Status got = mf_client_receive(client, 0.005, &news, error);
        seen->states += got == MF_OK && news.kind == MF_ANSWER_STATE;
        status = got == MF_STOPPED ? MF_OK : got;
    }
    if (status == MF_OK)
        status = ask_time(client, &end, &stop, error);
    seen->speed[part] = status == MF_OK ? (end - begin) / (stop - start) : 0.0;
    seen->simulated += end - begin;
    seen->processor += server_used() - used_before;
    return status;
}

static void print_watch(Seen *alone, Seen *watched, double seconds) {
    qsort(alone->speed, PARTS, sizeof *alone->speed, compare);
    qsort(watched->speed, PARTS, sizeof *watched->speed, compare);
    const double before = alone->speed[PARTS / 2], with = watched->speed[PARTS / 2];
    printf("{\"times_real_time\":%.4g,\"watched\":%.4g,\"slower_percent\":%.2f,"
           "\"states_per_second\":%.1f",
           before, with, 100.0 * (1.0 - with / before), (double)watched->states / seconds);
    if (alone->processor > 0.0)
        printf(",\"processor_more_percent\":%.2f",
               100.0 * (watched->processor / watched->simulated /
                            (alone->processor / alone->simulated) -
                        1.0));
    puts("}");
}

static uint32_t list_entries(const mf_Client *client, uint32_t flags, mf_ClientEntry *entries) {
    uint32_t count = 0;
    for (uint32_t f = 0; f < mf_client_field_count(client) && count < ENTRIES; f++)
        if ((mf_client_field(client, f)->flags & flags) == flags)
            entries[count++] = (mf_ClientEntry){f, 0, MF_PROTOCOL_ALL};
    return count;
}

// Fields with these flags.
static mf_Status watch_fields(mf_Client *client, char **names, uint32_t flags, mf_Error *error) {
    static mf_ClientEntry entries[ENTRIES];
    const uint32_t count = list_entries(client, flags, entries);
    const double seconds = strtod(names[0], NULL) / (2 * PARTS);
    Seen warm = {.states = 0}, alone = warm, watched = warm;
    mf_Status status = see(client, seconds, &warm, 0, error);
    for (int i = 0; i < PARTS && status == MF_OK; i++) {
        status = see(client, seconds, &alone, i, error);
        const mf_Time period = (mf_Time)(1e9 * 0.01 * alone.speed[i]);
        if (status == MF_OK)
            status = mf_client_subscribe(client, 0, period, entries, count, error);
        if (status == MF_OK)
            status = see(client, seconds, &watched, i, error);
        if (status == MF_OK)
            status = mf_client_unsubscribe(client, 0, error);
    }
    if (status == MF_OK)
        print_watch(&alone, &watched, seconds * PARTS);
    return status;
}

static mf_Status watch(mf_Client *client, char **names, mf_Error *error) {
    return watch_fields(client, names, MF_FIELD_STATE, error);
}

static mf_Status watch_all(mf_Client *client, char **names, mf_Error *error) {
    return watch_fields(client, names, 0, error);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        int names;
        mf_Status (*run)(mf_Client *client, char **names, mf_Error *error);
    } modes[] = {{"rounds", 3, rounds},
                 {"robots", 1, robots},
                 {"watch", 1, watch},
                 {"watch-all", 1, watch_all}};
    mf_Client *client = NULL;
    mf_Error error = {0};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (argc != 3 + modes[i].names || strcmp(argv[1], modes[i].name) != 0)
            continue;
        mf_Status status = mf_client_connect(argv[2], NULL, &client, &error);
        if (status == MF_OK && getenv("SPIN_US") != NULL)
            status = mf_client_spin(client, 1e-6 * strtod(getenv("SPIN_US"), NULL), &error);
        if (status == MF_OK && getenv("SHARE") != NULL)
            status = mf_client_share(client, strtoull(getenv("SHARE"), NULL, 10), &error);
        if (status == MF_OK)
            status = modes[i].run(client, argv + 3, &error);
        if (status != MF_OK)
            fprintf(stderr, "bench_serve: %s\n", error.message);
        mf_client_close(client);
        return status != MF_OK;
    }
    fputs("usage: bench_serve rounds ADDRESS STATE_FIELDS INPUT_FIELD ROUNDS\n"
          "       bench_serve robots|watch|watch-all ADDRESS SECONDS\n",
          stderr);
    return 2;
}
