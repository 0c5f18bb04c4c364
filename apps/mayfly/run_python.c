// A script in Python beside its world (run_python.h).
//
// The world is served on a Unix socket in a folder that only this user may enter, and moves while
// the script has answered its turns. What the script leaves behind goes through that folder too:
// its results, and, after a failure, a file with line and reason. Nothing waits without a limit,
// and the script dies with this process.
#define _GNU_SOURCE
#include "run_python.h"

#include "run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app.h"
#include "serve/server.h"
#include "run_scripts.h"

#define BEHIND_SECONDS 5.0    // [s] that the script's own watch on the time is given
#define START_SECONDS 30.0    // [s] for the interpreter and its packages
#define LOOK_SECONDS 0.02     // [s] between two looks at the process
#define END_SECONDS 5.0       // [s] for its end, after the connection's
#define REASON_MOST 400u      // [byte]
#define RESULT_MOST (1 << 30) // [byte]

struct mf_RunPython {
    mf_Context *context;
    mf_Scene *scene;
    mf_Server *server;
    mf_Session *session; // whose acts are done; or NULL
    const char *file, *interpreter;
    char folder[MF_APP_PATH]; // ""; then it has to be removed
    pid_t child;              // 0: none, or it has ended
    int ended;                // as waitpid says
    double patience, deadline, looked;
};

static const char program[] = "import sys\n"
                              "try:\n"
                              "    from mayfly.script import main\n"
                              "except ImportError as error:\n"
                              "    with open(sys.argv[3] + '/import', 'w') as file:\n"
                              "        file.write(str(error))\n"
                              "    sys.exit(1)\n"
                              "main(*sys.argv[1:])\n";

// ---- the process -------------------------------------------------------------------------------

static bool has_ended(mf_RunPython *python) {
    if (python->child > 0 && waitpid(python->child, &python->ended, WNOHANG) == python->child)
        python->child = 0;
    return python->child == 0;
}

static void wait_for_end(mf_RunPython *python, double seconds) {
    const double end = mf_clock_seconds() + seconds;
    while (!has_ended(python) && mf_clock_seconds() < end)
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

static void end_child(mf_RunPython *python, double seconds) {
    wait_for_end(python, seconds);
    if (python->child > 0) {
        kill(-python->child, SIGKILL); // its group: with what it has started
        waitpid(python->child, &python->ended, 0);
    }
    python->child = 0;
}

// The child's half of fork: what prints goes to stderr, as for scripts in Lua.
static void become(const mf_RunPython *python, char *const names[], pid_t parent) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        _exit(127);
    execvp(python->interpreter, names);
    _exit(127);
}

static mf_Status start_child(mf_RunPython *python, mf_Error *error) {
    char patience[32];
    const char *address = mf_server_address(python->server);
    snprintf(patience, sizeof patience, "%.17g", python->patience);
    // Isolated: only the script's own folder is searched beside the installed packages.
    const char *names[] = {python->interpreter, "-I",           "-u",     "-c", program, address,
                           python->file,        python->folder, patience, NULL};
    const pid_t parent = getpid();
    python->child = fork();
    if (python->child == 0)
        become(python, (char *const *)names, parent);
    if (python->child > 0) {
        setpgid(python->child, python->child);
        return MF_OK;
    }
    python->child = 0;
    return mf_fail(error, MF_IO, "--python: cannot start a process: %s", strerror(errno));
}

static bool must_stop(void *user) {
    mf_RunPython *python = user;
    if (mf_app_stop_requested() || mf_server_statistics(python->server).missed > 0)
        return true;
    const double now = mf_clock_seconds();
    if (python->deadline > 0.0 && now > python->deadline)
        return true;
    if (now - python->looked < LOOK_SECONDS)
        return false;
    python->looked = now;
    return has_ended(python);
}

// ---- why it ended ------------------------------------------------------------------------------

// A short file of the folder, without the end of its line; false: there is none.
static bool read_note(const mf_RunPython *python, const char *name, char out[REASON_MOST]) {
    char path[MF_APP_PATH + 32];
    snprintf(path, sizeof path, "%s/%s", python->folder, name);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    const size_t size = fread(out, 1, REASON_MOST - 1, file);
    out[size] = '\0';
    fclose(file);
    return true;
}

// Its exception: "LINE REASON".
static mf_Status fail_by_note(const mf_RunPython *python, const char *note, mf_Error *error) {
    char *reason;
    const unsigned long line = strtoul(note, &reason, 10);
    return mf_fail_at(error, MF_BAD_ARGUMENT, python->file, (int)line, 0, "%s",
                      reason + strspn(reason, " "));
}

static mf_Status explain(mf_RunPython *python, mf_Error *error) {
    char note[REASON_MOST];
    const mf_Server *server = python->server;
    MF_CHECK(!mf_app_stop_requested(), error, MF_STOPPED, "stopped after %.6g s",
             mf_time_to_seconds(mf_world_time(python->scene->world)));
    const bool late = mf_server_statistics(server).missed > 0 ||
                      (python->deadline > 0.0 && mf_clock_seconds() > python->deadline);
    end_child(python, late ? 0.0 : END_SECONDS);
    if (read_note(python, "error", note))
        return fail_by_note(python, note, error);
    MF_CHECK(!read_note(python, "import", note), error, MF_NOT_FOUND,
             "--python: %s cannot import mayfly (%s): install the package mayfly there, "
             "or name another Python in MAYFLY_PYTHON",
             python->interpreter, note);
    if (late)
        return mf_fail_at(error, MF_LIMIT, python->file, 0, 0,
                          "it did not answer for %g s (--patience)", python->patience);
    MF_CHECK(!WIFEXITED(python->ended) || WEXITSTATUS(python->ended) != 127, error, MF_NOT_FOUND,
             "--python: there is no program %s: name a Python in MAYFLY_PYTHON",
             python->interpreter);
    if (WIFSIGNALED(python->ended))
        return mf_fail_at(error, MF_IO, python->file, 0, 0, "%s was ended by signal %d (%s)",
                          python->interpreter, WTERMSIG(python->ended),
                          strsignal(WTERMSIG(python->ended)));
    return mf_fail_at(error, MF_IO, python->file, 0, 0,
                      "%s ended with exit code %d before the run was over", python->interpreter,
                      WIFEXITED(python->ended) ? WEXITSTATUS(python->ended) : 0);
}

// ---- the run -----------------------------------------------------------------------------------

static mf_Status make_folder(mf_RunPython *python, mf_Error *error) {
    const char *base = getenv("TMPDIR");
    char path[MF_APP_PATH];
    base = base != NULL && base[0] != '\0' ? base : "/tmp";
    const int length = snprintf(path, sizeof path, "%s/mayfly-XXXXXX", base);
    MF_CHECK(length >= 0 && (size_t)length + 16 < sizeof path && mkdtemp(path) != NULL, error,
             MF_IO, "--python: cannot make a folder in %.200s: %s", base, strerror(errno));
    memcpy(python->folder, path, sizeof path);
    return MF_OK;
}

static mf_Status move(void *user, uint64_t steps, uint64_t *done, mf_Error *error) {
    (void)error;
    *done = steps;
    mf_session_step(user, steps);
    return MF_OK;
}

static mf_Status begin(mf_RunPython *python, mf_Error *error) {
    char socket[MF_APP_PATH + 16];
    mf_ServerConfig config = mf_server_config();
    MF_TRY(make_folder(python, error));
    snprintf(socket, sizeof socket, "%s/socket", python->folder);
    config.path = socket;
    config.connections = 1;
    config.speed = 0.0;
    config.led = true;
    config.stop = must_stop;
    config.user = python;
    config.scripts_first = python->session == NULL && python->scene->scripts != NULL;
    config.move = python->session != NULL ? move : NULL;
    config.mover = python->session;
    MF_TRY(mf_server_create(python->context, python->scene, &config, &python->server, error));
    MF_TRY(start_child(python, error));
    python->deadline = mf_clock_seconds() + START_SECONDS + 2.0 * python->patience + BEHIND_SECONDS;
    mf_Status status = mf_server_await(python->server, error);
    if (status == MF_OK && !mf_server_is_led(python->server) && !mf_run_python_stopped(python))
        status = explain(python, error);
    python->deadline = 0.0;
    return status;
}

mf_Status mf_run_python_open(mf_Scene *scene, const char *file, double patience,
                             mf_Session *session, mf_RunPython **out, mf_Error *error) {
    mf_Context *context = mf_world_context(scene->world);
    const char *interpreter = getenv("MAYFLY_PYTHON");
    *out = NULL;
    if (access(file, R_OK) != 0)
        return mf_fail_at(error, MF_IO, file, 0, 0, "cannot read it: %s", strerror(errno));
    mf_RunPython *python = mf_allocate(context, 1, sizeof *python);
    MF_NEED_MEMORY(python != NULL, error, "--python");
    python->context = context;
    python->scene = scene;
    python->session = session;
    python->file = file;
    python->patience = patience;
    python->interpreter = interpreter != NULL && interpreter[0] != '\0' ? interpreter : "python3";
    *out = python;
    return begin(python, error);
}

mf_Status mf_run_python_step(mf_RunPython *python, uint64_t steps, uint64_t *done,
                             mf_Error *error) {
    mf_Status status = mf_server_step(python->server, steps, done, error);
    if (status != MF_OK || *done == steps || mf_run_python_stopped(python))
        return status;
    return explain(python, error);
}

mf_Status mf_run_python_finish(mf_RunPython *python, mf_Error *error) {
    python->deadline = mf_clock_seconds() + python->patience + BEHIND_SECONDS;
    MF_TRY(mf_server_end(python->server, error));
    if (!mf_app_stop_requested() && mf_clock_seconds() < python->deadline)
        wait_for_end(python, END_SECONDS);
    const bool good =
        python->child == 0 && WIFEXITED(python->ended) && WEXITSTATUS(python->ended) == 0;
    return good ? MF_OK : explain(python, error);
}

bool mf_run_python_stopped(const mf_RunPython *python) {
    return python != NULL && python->server != NULL && mf_server_stopped(python->server) != NULL;
}

// ---- what it leaves ----------------------------------------------------------------------------

static int is_visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static mf_Status write_results(const mf_RunPython *python, const char *folder, mf_Error *error) {
    char from[MF_APP_PATH + 16], path[MF_APP_PATH + 300], chosen[MF_APP_PATH];
    struct dirent **names = NULL;
    snprintf(from, sizeof from, "%s/results", python->folder);
    const int count = scandir(from, &names, is_visible, alphasort);
    mf_Status status = MF_OK;
    if (count > 0)
        status = mf_run_results_folder(python->scene, folder, chosen, error);
    for (int i = 0; i < count; i++) {
        char *text;
        size_t size;
        snprintf(path, sizeof path, "%s/%s", from, names[i]->d_name);
        MF_THEN(status, mf_file_read(python->context, path, RESULT_MOST, &text, &size, error));
        if (status == MF_OK) {
            status =
                mf_run_result_write(python->context, chosen, names[i]->d_name, text, size, error);
            mf_release(python->context, text);
        }
        free(names[i]);
    }
    free(names);
    return status;
}

mf_Status mf_run_python_close(mf_RunPython *python, const char *folder, mf_Error *error) {
    if (python == NULL || python->server == NULL)
        return MF_OK;
    const char *reason = mf_server_stopped(python->server);
    if (reason != NULL && mf_scene_scripts_stopped(python->scene) == NULL)
        mf_run_say_stopped(reason);
    mf_server_destroy(python->server); // says goodbye: a script that waits for its turn ends
    python->server = NULL;
    end_child(python, python->child > 0 ? 1.0 : 0.0);
    return write_results(python, folder, error);
}

void mf_run_python_destroy(mf_RunPython *python) {
    if (python == NULL)
        return;
    if (python->server != NULL)
        mf_server_destroy(python->server);
    end_child(python, 0.0);
    if (python->folder[0] != '\0')
        mf_folder_remove_all(python->folder);
    mf_release(python->context, python);
}
