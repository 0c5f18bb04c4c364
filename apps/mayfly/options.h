// Options of a subcommand: one table gives parsing, checking, --help, shell completion and the
// manual page.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/suggest.h"

typedef enum mf_OptionKind {
    MF_OPTION_FLAG,   // bool
    MF_OPTION_TEXT,   // const char *
    MF_OPTION_NAME,   // const char *, one of `names`
    MF_OPTION_NAMES,  // const char *, some of `names` with commas between
    MF_OPTION_OUTPUT, // const char *, a file to write that ends with one of `endings`
    MF_OPTION_LIST,   // mf_OptionList: may be given more than once
    MF_OPTION_COUNT,  // const char * that reads as a whole number in [lower, upper]
    MF_OPTION_REAL    // const char * that reads as a number in [lower, upper]
} mf_OptionKind;

#define MF_OPTION_ITEMS 64 // [1] most values of a list
#define MF_OPTIONS_MOST 64 // [1] most rows of a table

typedef struct mf_OptionList {
    const char *items[MF_OPTION_ITEMS];
    uint32_t count; // [1]
} mf_OptionList;

// Numbers stay text, since most become overrides, but are checked here.
typedef struct mf_Option {
    const char *name;  // without the dashes
    const char *value; // what --help calls the value; NULL for flags
    mf_OptionKind kind;
    size_t offset; // [byte] of the target in the subcommand's struct, which contains the default
    double lower, upper; // [any] range of numbers
    const char *help;    // one sentence
    mf_NameFn names;     // of MF_OPTION_NAME and MF_OPTION_NAMES; its list is NULL
    const char *endings; // of MF_OPTION_OUTPUT, with blanks between: ".html .svg"
} mf_Option;

// Rows of a table; `member` is a member of the struct `type`.
#define MF_OPT(name, value, kind, type, member, lower, upper, help, names, endings)                \
    { name, value, kind, offsetof(type, member), lower, upper, help, names, endings }
#define MF_OPT_FLAG(name, type, member, help)                                                      \
    MF_OPT(name, NULL, MF_OPTION_FLAG, type, member, 0, 0, help, NULL, NULL)
#define MF_OPT_TEXT(name, value, type, member, help)                                               \
    MF_OPT(name, value, MF_OPTION_TEXT, type, member, 0, 0, help, NULL, NULL)
#define MF_OPT_NAME(name, value, type, member, names, help)                                        \
    MF_OPT(name, value, MF_OPTION_NAME, type, member, 0, 0, help, names, NULL)
#define MF_OPT_NAMES(name, value, type, member, names, help)                                       \
    MF_OPT(name, value, MF_OPTION_NAMES, type, member, 0, 0, help, names, NULL)
#define MF_OPT_OUTPUT(name, type, member, endings, help)                                           \
    MF_OPT(name, "FILE", MF_OPTION_OUTPUT, type, member, 0, 0, help, NULL, endings)
#define MF_OPT_LIST(name, value, type, member, help)                                               \
    MF_OPT(name, value, MF_OPTION_LIST, type, member, 0, 0, help, NULL, NULL)
#define MF_OPT_COUNT(name, value, type, member, lower, upper, help)                                \
    MF_OPT(name, value, MF_OPTION_COUNT, type, member, lower, upper, help, NULL, NULL)
#define MF_OPT_REAL(name, value, type, member, lower, upper, help)                                 \
    MF_OPT(name, value, MF_OPTION_REAL, type, member, lower, upper, help, NULL, NULL)
#define MF_OPT_END                                                                                 \
    { NULL, NULL, MF_OPTION_FLAG, 0, 0, 0, NULL, NULL, NULL }

// An option of earlier versions, and what takes its place.
typedef struct mf_OptionGone {
    const char *name, *instead;
} mf_OptionGone;

typedef struct mf_CommandHelp {
    const char *name;          // "evolve"
    const char *arguments;     // "FILE.yaml"
    const char *summary;       // one line
    const char *text;          // paragraphs
    const char *examples;      // lines, each starting with two blanks
    uint32_t least, most;      // [1] arguments next to options
    const mf_Option *options;  // ends with MF_OPT_END
    const mf_OptionGone *gone; // ends with an empty row; NULL: none
    mf_NameFn names;           // for arguments that are not files; its list is NULL
    const char *noun;          // what such a name is called in messages: "bench"
} mf_CommandHelp;

enum { MF_OPTIONS_GO_ON = -1 }; // mf_options_parse: continue

// Reads argv[1 ..] into the struct `values`. Positional arguments are moved, in order, to argv[1 ..
// *count]. After "--" all arguments are positional. An option with two different values is refused,
// and so is an output file with an unknown extension, that cannot be written, or that is also an
// argument. Returns MF_OPTIONS_GO_ON or an exit code: 0 after --help, 2 after a usage error, 1 when
// a file cannot be written; both have been printed.
int mf_options_parse(const mf_CommandHelp *help, void *values, int argc, char **argv, int *count);

// Print what is made from the tables: the completion scripts of shells, and the manual page in the
// man macros of roff. `helps` ends with NULL; `topics` are the arguments of "mayfly help".
void mf_completion_bash(const mf_CommandHelp *const *helps, mf_NameFn topics);
void mf_completion_zsh(const mf_CommandHelp *const *helps, mf_NameFn topics);
void mf_manual_print(const mf_CommandHelp *const *helps, mf_NameFn topics);

// The value of an MF_OPTION_COUNT or MF_OPTION_REAL, or `fallback` if it was not given.
uint64_t mf_option_count(const char *text, uint64_t fallback);
double mf_option_real(const char *text, double fallback);

// Whether two values of an option mean the same: equal texts, or equal numbers.
bool mf_option_same(const char *a, const char *b);
