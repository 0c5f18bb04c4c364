// Common code of the subcommands: exit codes, one-line errors, stopping on request, finding files,
// the clock and JSON lines.
#pragma once

#include "base/clock.h"

#include "io/model_json.h"
#include <mayfly/mayfly.h>

enum {
    MF_EXIT_DONE = 0,
    MF_EXIT_FAILED = 1,
    MF_EXIT_USAGE = 2,
    MF_EXIT_STOPPED = 75 // stopped early and resumable (EX_TEMPFAIL of sysexits.h)
};

#define MF_APP_PATH 4096 // [byte] longest path with its terminator

// Prints "mayfly: <error>" as one line on stderr and returns the matching exit code.
int mf_app_fail(const mf_Error *error);

// Prints "mayfly <command>: <message> (see mayfly <command> --help)" on stderr; returns
// MF_EXIT_USAGE. `command` may be NULL.
int mf_app_usage(const char *command, const char *format, ...) MF_PRINTF(2, 3);
// The same as an error that has been printed: MF_BAD_ARGUMENT without a message.
mf_Status mf_app_refuse(const char *command, const char *text, mf_Error *error);
// File extensions of recordings.
#define MF_APP_RECORDS ".h5 .hdf5 .mcap"

// MF_EXIT_DONE if a file could be written there now; else prints the reason.
int mf_app_try_output(const char *path);

// The levels of robots, for help texts.
#define MF_APP_LEVELS "kinematic, points, rigid, prescribed or articulated"
// The names of motions, NULL after the last: of the levels of robots, of these and the levels of
// trusses, and of all for a body's own file. Each is an mf_NameFn.
const char *mf_level_name_at(const void *list, uint32_t index);
const char *mf_compared_name_at(const void *list, uint32_t index);
const char *mf_motion_name_at(const void *list, uint32_t index);
// free and fixed. An mf_NameFn.
const char *mf_base_name_at(const void *list, uint32_t index);

// The command that calls this program from the current folder: "build/mayfly" as it was typed, or
// "mayfly" when it was found in the PATH.
const char *mf_app_program(void);

// Appends `name`, quoted for a shell, after a blank unless `out` is empty.
void mf_app_quote(char *out, size_t size, const char *name);

// Whether `name` is more than `end` and ends with it.
bool mf_app_ends_with(const char *name, const char *end);

// From now on SIGINT and SIGTERM request a stop; a second signal ends the process immediately.
void mf_app_catch_stop(void);
// While set, the first signal ends the process with a message, because set-up may take long and has
// no result yet.
void mf_app_starting(bool now);
// Ends the program `seconds` after the first request, whatever it does: for one whose files are
// consistent at any time.
void mf_app_stop_within(unsigned seconds);
bool mf_app_stop_requested(void);

// The program: runs the subcommand that argv[1] names and returns its exit code.
int mf_app_main(int argc, char **argv);

// Resolves a file name: `name` itself if it exists, else, for relative names, that of Mayfly, which
// a line on stderr says. If there is none, the name is returned unchanged, so that messages show
// what the user typed. Returns `out`.
const char *mf_app_find(const char *name, char out[MF_APP_PATH]);

// Mayfly's own file of that name: in the folder MAYFLY_DATA of the environment, else in the source
// folder or in the installed data.
const char *mf_app_own(const char *name, char out[MF_APP_PATH]);

// `name` as an absolute path, relative to the current folder. Returns `out`.
const char *mf_app_absolute(const char *name, char out[MF_APP_PATH]);

// A token of 128 random bits, as hexadecimal digits. `verb`: the command that needs it.
#define MF_APP_TOKEN 33 // [byte]
mf_Status mf_app_token(const char *verb, char out[MF_APP_TOKEN], mf_Error *error);

// ---- JSON lines --------------------------------------------------------------------------------

// A hash as 16 hexadecimal digits: not every JSON reader preserves numbers beyond 2^53.
json_t *mf_app_hash(uint64_t hash);
// Prints the object as one line on stdout, flushes and frees it. False when it could not be
// written, or is NULL (out of memory).
bool mf_app_print(json_t *object);

// Flushes stdout; false, with a line on stderr, when writing failed.
bool mf_app_flush(void);

// "1,364" and "0.42 s", "3 min 20 s", "189.4 days". Return `out`.
#define MF_APP_NUMBER 48
const char *mf_app_count(double value, char out[MF_APP_NUMBER]);
const char *mf_app_duration(double seconds, char out[MF_APP_NUMBER]);

// ---- subcommands -------------------------------------------------------------------------------

struct mf_CommandHelp;
extern const struct mf_CommandHelp mf_help_evolve, mf_help_sweep, mf_help_run, mf_help_compare,
    mf_help_replay, mf_help_info, mf_help_fit, mf_help_print, mf_help_check, mf_help_bench,
    mf_help_view, mf_help_serve, mf_help_worker;

// argv[0] is the subcommand's name. Return an exit code.
int mf_command_evolve(int argc, char **argv);
int mf_command_sweep(int argc, char **argv);
int mf_command_run(int argc, char **argv);
int mf_command_compare(int argc, char **argv);
int mf_command_replay(int argc, char **argv);
int mf_command_fit(int argc, char **argv);
int mf_command_info(int argc, char **argv);
int mf_command_print(int argc, char **argv);
int mf_command_check(int argc, char **argv);
int mf_command_bench(int argc, char **argv);
int mf_command_view(int argc, char **argv);
int mf_command_serve(int argc, char **argv);
int mf_command_worker(int argc, char **argv);
