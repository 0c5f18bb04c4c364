// mayfly-mpi: a search on the nodes of an MPI job.
//
//     mpirun -n 33 mayfly-mpi evolve scenes/hexapod.yaml --out runs/walk
//     mpirun -n 33 mayfly-mpi python3 search.py        # with mayfly.Engine("mpi")
//
// Rank 0 runs the command, which listens at a free port; the others run workers. MPI only
// starts the ranks and tells them the address. A worker that is killed is started again, and so is
// the command, with --resume: MPI ends the whole job when a rank of its own is lost.
#include <mpi.h>

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT = 512, ARGUMENTS = 200, RESUMES = 20, TOKEN = 33 };

// What rank 0 tells the others.
typedef struct Round {
    int goes_on; // a search is there; else its exit code is `code`
    int code;
    char node[TEXT];    // where it is
    char address[TEXT]; // HOST:PORT, where the host is that of a listener
    char token[TOKEN];
} Round;

static char program[TEXT * 2]; // mayfly, beside this one
static volatile sig_atomic_t child;

static void pass_on(int number) {
    if (child > 0)
        kill((pid_t)child, number);
}

static void find_program(void) {
    const ssize_t length = readlink("/proc/self/exe", program, TEXT);
    char *slash = length > 0 ? memrchr(program, '/', (size_t)length) : NULL;
    snprintf(slash != NULL ? slash + 1 : program, 16, "mayfly");
}

static void start(const char *const *arguments) {
    const pid_t made = fork();
    if (made == 0) {
        execvp(arguments[0], (char *const *)(uintptr_t)arguments);
        fprintf(stderr, "mayfly-mpi: cannot start %s: %s\n", arguments[0], strerror(errno));
        _exit(127);
    }
    child = made;
}

// Its exit code; 128 and the signal that ended it.
static int wait_for_child(void) {
    int ended = 0;
    while (waitpid((pid_t)child, &ended, 0) < 0 && errno == EINTR)
        continue;
    child = 0;
    return WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
}

// ---- rank 0 -------------------------------------------------------------------------------------

static const char *after(int count, char **words, const char *option) {
    for (int i = 1; i + 1 < count; i++)
        if (strcmp(words[i], option) == 0)
            return words[i + 1];
    return NULL;
}

static int has(int count, char **words, const char *option) {
    int found = 0;
    for (int i = 1; i < count; i++)
        found |= strcmp(words[i], option) == 0;
    return found;
}

// The line that the command writes into the pipe once it listens. False: it ended before.
static int read_address(int from, char out[TEXT]) {
    size_t used = 0;
    while (used + 1 < TEXT) {
        const ssize_t got = read(from, out + used, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return 0;
        if (out[used] == '\n')
            break;
        used++;
    }
    out[used] = '\0';
    return 1;
}

// Else it is a program in Python.
static int evolves(char **words) {
    return strcmp(words[1], "evolve") == 0;
}

static void begin_search(int count, char **words, int ranks, int resumes, Round *round) {
    const char *arguments[ARGUMENTS] = {program};
    char number[16], others[16];
    int used = 1, ends[2];
    for (int i = 1; i < count && used < ARGUMENTS - 8; i++)
        arguments[used - !evolves(words)] = words[i], used++;
    if (evolves(words)) {
        arguments[used++] = "--engine";
        arguments[used++] = "mpi";
    } else {
        used--;
    }
    if (evolves(words) && after(count, words, "--workers") == NULL) {
        snprintf(others, sizeof others, "%d", ranks - 1);
        arguments[used++] = "--workers";
        arguments[used++] = others;
    }
    if (resumes > 0 && evolves(words) && !has(count, words, "--resume"))
        arguments[used++] = "--resume";
    round->goes_on = 0;
    round->code = 1;
    if (pipe(ends) != 0)
        return;
    snprintf(number, sizeof number, "%d", ends[1]);
    setenv("MAYFLY_MPI_PIPE", number, 1);
    start(arguments);
    close(ends[1]);
    round->goes_on = read_address(ends[0], round->address);
    close(ends[0]);
    if (!round->goes_on)
        round->code = wait_for_child();
}

static int lead(int count, char **words, int ranks, Round *round) {
    uint8_t bytes[TOKEN / 2];
    int length;
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return 1;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(round->token + 2 * i, 3, "%02x", bytes[i]);
    setenv("MAYFLY_TOKEN", round->token, 1);
    MPI_Get_processor_name(round->node, &length);
    for (int resumes = 0;; resumes++) {
        begin_search(count, words, ranks, resumes, round);
        MPI_Bcast(round, sizeof *round, MPI_BYTE, 0, MPI_COMM_WORLD);
        if (!round->goes_on)
            return round->code;
        const int code = wait_for_child();
        if (code < 128 || resumes == RESUMES || !evolves(words)) {
            round->goes_on = 0;
            round->code = code;
            MPI_Bcast(round, sizeof *round, MPI_BYTE, 0, MPI_COMM_WORLD);
            return code;
        }
        fprintf(stderr, "mayfly-mpi: the search was ended by signal %d: it resumes\n", code - 128);
    }
}

// ---- the other ranks ----------------------------------------------------------------------------

// Until the search needs no more (0), or is gone (3).
static void work(char **words, const char *address, const char *threads) {
    const char *ours[] = {program, "worker", address, "--threads", threads, NULL};
    const char *python[] = {words[1], "-m", "mayfly.worker", "run", address, NULL};
    const char *const *arguments = evolves(words) ? ours : python;
    for (int code = 1; code != 0 && code != 3 && code != 127;) {
        start(arguments);
        code = wait_for_child();
    }
}

static int follow(int count, char **words, Round *round) {
    char node[MPI_MAX_PROCESSOR_NAME], address[2 * TEXT];
    const char *threads = after(count, words, "--threads");
    int length;
    MPI_Get_processor_name(node, &length);
    for (;;) {
        MPI_Bcast(round, sizeof *round, MPI_BYTE, 0, MPI_COMM_WORLD);
        if (!round->goes_on)
            return round->code;
        const char *colon = strrchr(round->address, ':');
        snprintf(address, sizeof address, "%s%s",
                 strcmp(node, round->node) == 0 ? "127.0.0.1" : round->node,
                 colon != NULL ? colon : "");
        setenv("MAYFLY_TOKEN", round->token, 1);
        work(words, address, threads != NULL ? threads : "1");
    }
}

int main(int argc, char **argv) {
    int rank, ranks, code = 2;
    Round round = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    find_program();
    signal(SIGTERM, pass_on);
    signal(SIGUSR1, pass_on);
    if (argc < 3 || ranks < 2) {
        if (rank == 0)
            fprintf(
                stderr,
                "usage: mpirun -n RANKS mayfly-mpi evolve FILE [options]\n       mpirun -n RANKS "
                "mayfly-mpi python3 FILE\nwith at least two ranks: the first one leads\n");
    } else {
        code = rank == 0 ? lead(argc, argv, ranks, &round) : follow(argc, argv, &round);
    }
    MPI_Finalize();
    return rank == 0 ? code : 0;
}
