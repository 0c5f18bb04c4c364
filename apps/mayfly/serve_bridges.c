// Bridges run as processes of their own, so that a library of theirs that crashes takes nothing
// with it: `python3 -I -m mayfly_bridges NAME ADDRESS OPTIONS`. Only with --allow-bridges.
#include "serve_bridges.h"

#include "app.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_SECONDS 1.0   // [s] before one is started again
#define QUICK_SECONDS 10.0  // [s] one that fails earlier may never work
#define QUICK_MOST 3u       // [1] failures in a row, each that early, after which it is given up
#define GOODBYE_SECONDS 1.0 // [s] to end by themselves, after the server has said goodbye
#define END_SECONDS 5.0     // [s] to end after a signal
#define ARGUMENTS 64u       // [1] most, with those that name the program
#define MISUSED 2           // exit status: a mistake that lasts, such as wrong options

typedef struct Bridge {
    const mf_SceneBridge *scene;
    char *text;             // copy of its options, cut into arguments
    char *names[ARGUMENTS]; // arguments of its command line; NULL: the end
    pid_t process;          // 0: it does not run
    bool over;              // it is not started again
    double when;            // [s] of the clock: when it was started, or is to be
    uint32_t quick;         // [1] early failures in a row
} Bridge;

struct mf_Bridges {
    mf_Context *context;
    uint32_t count;
    Bridge bridges[];
};

// In the child: only calls that are safe after a fork of a program with threads.
static void become(const Bridge *bridge, pid_t parent) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGINT, SIG_IGN); // Ctrl-C reaches the whole group: the server ends the bridges
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(0);
    execvp(bridge->names[0], bridge->names);
    static const char text[] = "mayfly: cannot start python3 for a bridge (MAYFLY_PYTHON names "
                               "another one)\n";
    const ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    _exit(written > 0 ? MISUSED : 1);
}

static void start(Bridge *bridge) {
    const pid_t parent = getpid(), process = fork();
    if (process == 0)
        become(bridge, parent);
    if (process > 0 && bridge->when == 0.0) // what a file starts is said
        fprintf(stderr, "mayfly: bridge %s started: %s %s\n", bridge->scene->name, bridge->names[0],
                bridge->scene->options);
    bridge->process = process > 0 ? process : 0;
    bridge->when = mf_clock_seconds();
    if (process < 0) { // no memory or too many processes: later, perhaps
        fprintf(stderr, "mayfly: bridge %s: cannot start: %s\n", bridge->scene->name,
                strerror(errno));
        bridge->when += PAUSE_SECONDS;
    }
}

static void take_end(Bridge *bridge, int status) {
    const double now = mf_clock_seconds();
    const bool early = now - bridge->when < QUICK_SECONDS;
    char end[64];
    bridge->process = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        bridge->over = true;
        return;
    }
    if (WIFSIGNALED(status))
        snprintf(end, sizeof end, "ended by signal %d", WTERMSIG(status));
    else
        snprintf(end, sizeof end, "failed with exit status %d", WEXITSTATUS(status));
    bridge->quick = early ? bridge->quick + 1 : 0;
    bridge->over =
        (WIFEXITED(status) && WEXITSTATUS(status) == MISUSED) || bridge->quick >= QUICK_MOST;
    bridge->when = now + PAUSE_SECONDS;
    fprintf(stderr, "mayfly: bridge %s %s; %s\n", bridge->scene->name, end,
            bridge->over ? "given up (docs/how_to/bridges.md: what it needs)"
                         : "it is started again");
}

void mf_bridges_watch(mf_Bridges *bridges) {
    for (uint32_t i = 0; i < bridges->count; i++) {
        Bridge *bridge = &bridges->bridges[i];
        int status;
        if (bridge->process > 0 && waitpid(bridge->process, &status, WNOHANG) == bridge->process)
            take_end(bridge, status);
        else if (bridge->process == 0 && !bridge->over && mf_clock_seconds() >= bridge->when)
            start(bridge);
    }
}

// The command line. MF_LIMIT: it has too many arguments.
static mf_Status put_names(mf_Context *context, Bridge *bridge, char *address, mf_Error *error) {
    // Isolated: nothing of the current folder or of PYTHONPATH runs.
    static char python[] = "python3", alone[] = "-I", flag[] = "-m", module[] = "mayfly_bridges";
    char *own = getenv("MAYFLY_PYTHON"), *rest = NULL;
    const char *name = bridge->scene->name;
    const size_t names = strlen(name) + 1, options = strlen(bridge->scene->options) + 1;
    bridge->text = mf_allocate(context, names + options, 1);
    MF_NEED_MEMORY(bridge->text != NULL, error, "serve");
    memcpy(bridge->text, name, names);
    memcpy(bridge->text + names, bridge->scene->options, options);
    char *const first[] = {
        own != NULL && own[0] != '\0' ? own : python, alone, flag, module, bridge->text, address};
    memcpy(bridge->names, first, sizeof first);
    uint32_t count = sizeof first / sizeof *first;
    for (char *text = strtok_r(bridge->text + names, " \t\r\n", &rest); text != NULL;
         text = strtok_r(NULL, " \t\r\n", &rest)) {
        MF_CHECK(count != ARGUMENTS - 1, error, MF_LIMIT,
                 "bridge %.80s: expected at most %u options", name, ARGUMENTS - 7);
        bridge->names[count++] = text;
    }
    return MF_OK;
}

mf_Status mf_bridges_start(mf_Context *context, const mf_SceneFile *file, const char *address,
                           const char *token, mf_Bridges **out, mf_Error *error) {
    const size_t size = sizeof(mf_Bridges) + file->bridge_count * sizeof(Bridge);
    mf_Bridges *bridges = mf_allocate(context, 1, size + strlen(address) + 1);
    *out = bridges;
    MF_NEED_MEMORY(bridges != NULL, error, "serve");
    char *copy = (char *)bridges + size;
    memcpy(copy, address, strlen(address) + 1);
    bridges->context = context;
    if (token[0] != '\0')
        setenv("MAYFLY_TOKEN", token, 1);
    for (uint32_t i = 0; i < file->bridge_count; i++) {
        Bridge *bridge = &bridges->bridges[bridges->count++];
        bridge->scene = &file->bridges[i];
        MF_TRY(put_names(context, bridge, copy, error));
    }
    mf_bridges_watch(bridges);
    return MF_OK;
}

static bool is_gone(Bridge *bridge) {
    if (bridge->process > 0 && waitpid(bridge->process, NULL, WNOHANG) != 0)
        bridge->process = 0;
    return bridge->process == 0;
}

// Waits at most so long for all of them.
static void await_all(mf_Bridges *bridges, double seconds) {
    const double end = mf_clock_seconds() + seconds;
    for (uint32_t i = 0; i < bridges->count; i++)
        while (!is_gone(&bridges->bridges[i]) && mf_clock_seconds() < end)
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

static void signal_all(mf_Bridges *bridges, int number) {
    for (uint32_t i = 0; i < bridges->count; i++)
        if (!is_gone(&bridges->bridges[i]))
            kill(bridges->bridges[i].process, number);
}

void mf_bridges_stop(mf_Bridges *bridges) {
    if (bridges == NULL)
        return;
    await_all(bridges, GOODBYE_SECONDS);
    signal_all(bridges, SIGTERM);
    await_all(bridges, END_SECONDS);
    signal_all(bridges, SIGKILL);
    await_all(bridges, END_SECONDS);
    for (uint32_t i = 0; i < bridges->count; i++)
        mf_release(bridges->context, bridges->bridges[i].text);
    mf_release(bridges->context, bridges);
}
