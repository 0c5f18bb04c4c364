// Common code of the subcommands. The stop flag is the program's only mutable global, because a
// signal handler can access nothing else.
#define _GNU_SOURCE // program_invocation_name
#include "app.h"
#include "motion/table.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

// ---- errors ------------------------------------------------------------------------------------

int mf_app_fail(const mf_Error *error) {
    char line[1024];
    fprintf(stderr, "mayfly: %s\n", mf_error_format(error, line, sizeof line));
    return error->status == MF_STOPPED ? MF_EXIT_STOPPED : MF_EXIT_FAILED;
}

int mf_app_usage(const char *command, const char *format, ...) {
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    // User input may contain any bytes, but the message must stay one line.
    for (char *c = message; *c != '\0'; c++)
        *c = (unsigned char)*c < 0x20 ? '?' : *c;
    const char *space = command == NULL ? "" : " ";
    command = command == NULL ? "" : command;
    fprintf(stderr, "mayfly%s%s: %s (see %s%s%s --help)\n", space, command, message,
            mf_app_program(), space, command);
    return MF_EXIT_USAGE;
}

mf_Status mf_app_refuse(const char *command, const char *text, mf_Error *error) {
    mf_app_usage(command, "%s", text);
    return mf_fail(error, MF_BAD_ARGUMENT, "%s", "");
}

bool mf_app_ends_with(const char *name, const char *end) {
    size_t length = strlen(name), size = strlen(end);
    return length > size && strcmp(name + length - size, end) == 0;
}

// ---- stopping ----------------------------------------------------------------------------------

static volatile sig_atomic_t stop_requested, starting;

static struct timespec stop_time; // of the first signal
static unsigned patience;         // [s] 0: for ever

// timeout(1) signals the program and then its process group, which counts as one request.
static bool is_same_wish(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double seconds =
        (double)(now.tv_sec - stop_time.tv_sec) + 1e-9 * (double)(now.tv_nsec - stop_time.tv_nsec);
    return seconds < 0.2;
}

static void end_now(const char *text) {
    if (write(STDERR_FILENO, text, strlen(text)) >= 0)
        _exit(MF_EXIT_STOPPED);
    _exit(MF_EXIT_STOPPED); // stdout is closed
}

static void note_stop(int signal_number) {
    (void)signal_number;
    if (starting) // nothing has been created yet
        end_now("mayfly: stopped before the first step\n");
    if (!stop_requested) {
        clock_gettime(CLOCK_MONOTONIC, &stop_time);
        alarm(patience);
    } else if (!is_same_wish()) // files on disk are consistent at any time
        end_now("mayfly: stopped\n");
    stop_requested = 1;
}

static void lose_patience(int signal_number) {
    (void)signal_number;
    end_now("mayfly: stopped before what was begun was done; what was stored before is safe\n");
}

void mf_app_stop_within(unsigned seconds) {
    struct sigaction action = {.sa_handler = lose_patience};
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    patience = seconds;
}

void mf_app_catch_stop(void) {
    struct sigaction action = {.sa_handler = note_stop};
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART; // reads and writes of the library are restarted
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL); // of schedulers of clusters
}

void mf_app_starting(bool now) {
    starting = now;
}

bool mf_app_stop_requested(void) {
    return stop_requested != 0;
}

// ---- the command line again -------------------------------------------------------------------

const char *mf_app_program(void) {
    return strchr(program_invocation_name, '/') != NULL ? program_invocation_name : "mayfly";
}

void mf_app_quote(char *out, size_t size, const char *name) {
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_-+=./,:@%";
    size_t used = strlen(out);
    bool plain = name[0] != '\0' && strspn(name, safe) == strlen(name);
    const char *space = used > 0 ? " " : "";
    used += (size_t)snprintf(out + used, size - used, plain ? "%s%s" : "%s'", space, name);
    for (; !plain && *name != '\0' && used + 6 < size; name++)
        used += (size_t)snprintf(out + used, size - used, *name == '\'' ? "'\\''" : "%c", *name);
    if (!plain && used + 2 < size)
        snprintf(out + used, size - used, "'");
}

// ---- surroundings ------------------------------------------------------------------------------

const char *mf_app_own(const char *name, char out[MF_APP_PATH]) {
    const char *const folders[] = {getenv("MAYFLY_DATA"), MAYFLY_SOURCE_DIR,
                                   MAYFLY_INSTALL_DATADIR};
    for (size_t i = folders[0] == NULL; i < sizeof folders / sizeof folders[0]; i++) {
        int length = snprintf(out, MF_APP_PATH, "%s/%s", folders[i], name);
        if (length > 0 && length < MF_APP_PATH && access(out, F_OK) == 0)
            return out;
    }
    snprintf(out, MF_APP_PATH, "%s", name);
    return out;
}

const char *mf_app_find(const char *name, char out[MF_APP_PATH]) {
    if (name[0] != '/' && access(name, F_OK) != 0) {
        mf_app_own(name, out);
        if (strcmp(name, out) != 0)
            fprintf(stderr, "mayfly: %s is not in this folder; using %s\n", name, out);
        return out;
    }
    snprintf(out, MF_APP_PATH, "%s", name);
    return out;
}

const char *mf_level_name_at(const void *list, uint32_t index) {
    (void)list;
    return index < MF_MOTION_LEVELS ? mf_motion_name((mf_Motion)index) : NULL;
}

// The motion at an index among those that are compared, then `last`.
static const char *compared_at(uint32_t index, const char *last) {
    for (int m = 0; m < MF_MOTION_COUNT; m++)
        if (mf_motion_row((mf_Motion)m)->limitation != NULL && index-- == 0)
            return mf_motion_name((mf_Motion)m);
    return index == 0 ? last : NULL;
}

const char *mf_compared_name_at(const void *list, uint32_t index) {
    (void)list;
    return compared_at(index, NULL);
}

const char *mf_motion_name_at(const void *list, uint32_t index) {
    (void)list;
    return compared_at(index, mf_motion_name(MF_MOTION_CLOTH));
}

const char *mf_base_name_at(const void *list, uint32_t index) {
    static const char *const names[] = {"free", "fixed"};
    (void)list;
    return index < 2 ? names[index] : NULL;
}

const char *mf_app_absolute(const char *name, char out[MF_APP_PATH]) {
    char folder[MF_APP_PATH];
    if (name[0] != '/' && getcwd(folder, sizeof folder) != NULL) {
        int length = snprintf(out, MF_APP_PATH, "%s/%s", folder, name);
        if (length > 0 && length < MF_APP_PATH)
            return out;
    }
    snprintf(out, MF_APP_PATH, "%s", name);
    return out;
}

mf_Status mf_app_token(const char *verb, char out[MF_APP_TOKEN], mf_Error *error) {
    uint8_t bytes[MF_APP_TOKEN / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return mf_fail(error, MF_UNSUPPORTED, "%s: no random numbers for a token", verb);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return MF_OK;
}

// ---- JSON lines --------------------------------------------------------------------------------

json_t *mf_app_hash(uint64_t hash) {
    char digits[20];
    snprintf(digits, sizeof digits, "%016llx", (unsigned long long)hash);
    return json_string(digits);
}

bool mf_app_print(json_t *object) {
    char *line = object == NULL ? NULL : json_dumps(object, JSON_COMPACT);
    json_decref(object);
    if (line == NULL) {
        fputs("mayfly: out of memory\n", stderr);
        return false;
    }
    puts(line);
    free(line);
    return mf_app_flush();
}

bool mf_app_flush(void) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    fprintf(stderr, "mayfly: cannot write to standard output: %s\n", strerror(errno));
    return false;
}

// ---- numbers for people ------------------------------------------------------------------------

const char *mf_app_count(double value, char out[MF_APP_NUMBER]) {
    char digits[MF_APP_NUMBER];
    if (!isfinite(value) || fabs(value) >= 1e15) {
        snprintf(out, MF_APP_NUMBER, "%.3g", value);
        return out;
    }
    if (fabs(value) < 100.0) {
        snprintf(out, MF_APP_NUMBER, "%.3g", value);
        return out;
    }
    int length = snprintf(digits, sizeof digits, "%.0f", fabs(value)), used = 0;
    if (value < 0.0)
        out[used++] = '-';
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out[used++] = ',';
        out[used++] = digits[i];
    }
    out[used] = '\0';
    return out;
}

const char *mf_app_duration(double seconds, char out[MF_APP_NUMBER]) {
    if (!isfinite(seconds))
        snprintf(out, MF_APP_NUMBER, "?");
    else if (seconds < 99.95)
        snprintf(out, MF_APP_NUMBER, seconds < 10.0 ? "%.2f s" : "%.1f s", seconds);
    else if (seconds < 3599.5)
        snprintf(out, MF_APP_NUMBER, "%d min %d s", (int)((seconds + 0.5) / 60.0),
                 (int)(seconds + 0.5) % 60);
    else if (seconds < 48.0 * 3600.0)
        snprintf(out, MF_APP_NUMBER, "%.1f h", seconds / 3600.0);
    else
        snprintf(out, MF_APP_NUMBER, "%.1f days", seconds / 86400.0);
    return out;
}
