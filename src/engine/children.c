// Programs that a master starts on its own machine, and starts again when they end.
#include "base/clock.h"
#include "engine/master.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EARLY_MOST 5u   // [1] beyond one for each child
#define END_SECONDS 2.0 // [s] that programs have to end

extern char **environ;

// The environment with the token, which is on no command line.
static char **environment(const mf_Engine *engine) {
    size_t count = 0, used = 0;
    while (environ[count] != NULL)
        count++;
    char **out = mf_allocate(engine->context, count + 2, sizeof *out);
    for (size_t i = 0; out != NULL && i < count; i++)
        if (strncmp(environ[i], "MAYFLY_TOKEN=", 13) != 0)
            out[used++] = environ[i];
    if (out != NULL)
        out[used] = engine->variable;
    return out;
}

// In a process group of its own: Ctrl-C is for the master.
static int spawn(mf_Engine *engine, mf_EngineChild *child) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    char **variables = environment(engine);
    if (variables == NULL || posix_spawn_file_actions_init(&files) != 0)
        return ENOMEM;
    int code = posix_spawnattr_init(&attributes);
    if (code == 0) {
        sigset_t defaults;
        sigemptyset(&defaults);
        sigaddset(&defaults, SIGINT);
        sigaddset(&defaults, SIGTERM);
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setsigdefault(&attributes, &defaults);
        code = posix_spawnp(&child->pid, engine->arguments[0], &files, &attributes,
                            engine->arguments, variables);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    mf_release(engine->context, variables);
    if (code != 0)
        child->pid = 0;
    return code;
}

mf_Status mf_engine_watch(mf_Engine *engine, mf_Error *error) {
    for (uint32_t i = 0; i < engine->child_count; i++) {
        mf_EngineChild *child = &engine->children[i];
        int ended = 0;
        if (child->pid != 0 && waitpid(child->pid, &ended, WNOHANG) == child->pid) {
            child->pid = 0;
            engine->early++;
            engine->end_code = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
        }
        MF_CHECK(engine->early <= EARLY_MOST + engine->child_count, error, MF_IO,
                 "workers: %.200s ends before it works, with code %d", engine->arguments[0],
                 engine->end_code);
        const int code = child->pid == 0 ? spawn(engine, child) : 0;
        if (code != 0)
            return mf_fail(error, MF_IO, "workers: cannot start %.200s: %s", engine->arguments[0],
                           strerror(code));
    }
    return MF_OK;
}

mf_Status mf_engine_start(mf_Engine *engine, const char *const *arguments, uint32_t count,
                          mf_Error *error) {
    size_t number = 0, bytes = 0;
    MF_NEED(engine->arguments == NULL && count > 0, error, "workers: expected to start some, once");
    for (; arguments[number] != NULL; number++)
        bytes += strlen(arguments[number]) + 1;
    engine->arguments = mf_allocate(engine->context, (number + 1) * sizeof(char *) + bytes, 1);
    engine->children = mf_allocate(engine->context, count, sizeof *engine->children);
    engine->variable = mf_allocate(engine->context, sizeof engine->token + 16, 1);
    MF_NEED_MEMORY(engine->arguments != NULL && engine->children != NULL &&
                       engine->variable != NULL,
                   error, "workers");
    char *to = (char *)(engine->arguments + number + 1);
    for (size_t i = 0; i < number; i++) {
        engine->arguments[i] = to;
        to = stpcpy(to, arguments[i]) + 1;
    }
    snprintf(engine->variable, sizeof engine->token + 16, "MAYFLY_TOKEN=%s", engine->token);
    engine->child_count = count;
    return mf_engine_watch(engine, error);
}

void mf_engine_end_children(mf_Engine *engine) {
    const double end = mf_clock_seconds() + END_SECONDS;
    for (uint32_t i = 0; i < engine->child_count; i++) {
        const pid_t pid = engine->children[i].pid;
        while (pid != 0 && waitpid(pid, NULL, WNOHANG) == 0) {
            if (mf_clock_seconds() > end)
                kill(pid, SIGKILL);
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        }
    }
    mf_release(engine->context, engine->arguments);
    mf_release(engine->context, engine->children);
    mf_release(engine->context, engine->variable);
}
