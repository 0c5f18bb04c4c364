// How fast a client in lock-step goes round: started by bench/serve.sh with its server. Links the
// client's library alone.
//
//     bench_serve ADDRESS STATE_FIELDS INPUT_FIELD ROUNDS
//
// STATE_FIELDS are names with commas between. Each round reads them of all robots and writes the
// first of them to the input of all robots, a place to hold; or zeros, where it is another kind of
// field. Prints one object of JSON with microseconds per round: the mean, the median and the 99th
// percentile.
#include <mayfly/client.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WARM = 100, FIELDS = 16 };

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
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

static mf_Status measure(mf_Client *client, char **words, double *seconds, uint32_t rounds,
                         mf_Error *error) {
    mf_ClientEntry states[FIELDS];
    const uint32_t count = find_entries(client, words[2], states);
    const mf_ClientEntry input = {mf_client_find(client, NULL, words[3]), 0, MF_PROTOCOL_ALL};
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

int main(int argc, char **argv) {
    mf_Client *client = NULL;
    mf_Error error = {0};
    const uint32_t rounds = argc == 5 ? (uint32_t)strtoul(argv[4], NULL, 10) : 0;
    double *seconds = calloc(rounds + 1, sizeof *seconds), sum = 0.0;
    if (rounds == 0 || seconds == NULL) {
        fputs("usage: bench_serve ADDRESS STATE_FIELDS INPUT_FIELD ROUNDS\n", stderr);
        free(seconds);
        return 2;
    }
    mf_Status status = mf_client_connect(argv[1], NULL, &client, &error);
    if (status == MF_OK)
        status = measure(client, argv, seconds, rounds, &error);
    for (uint32_t i = 0; i < rounds; i++)
        sum += seconds[i];
    qsort(seconds, rounds, sizeof *seconds, compare);
    if (status == MF_OK)
        printf("{\"rounds\":%u,\"mean_us\":%.2f,\"median_us\":%.2f,\"p99_us\":%.2f}\n", rounds,
               1e6 * sum / rounds, 1e6 * seconds[rounds / 2], 1e6 * seconds[rounds * 99 / 100]);
    else
        fprintf(stderr, "bench_serve: %s\n", error.message);
    mf_client_close(client);
    free(seconds);
    return status != MF_OK;
}
