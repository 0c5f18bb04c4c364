// Options of a subcommand: one table gives parsing, checking and --help.
#ifndef MAYFLY_APP_OPTIONS_H
#define MAYFLY_APP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum mf_OptionKind {
    MF_OPTION_FLAG,  // bool
    MF_OPTION_TEXT,  // const char *
    MF_OPTION_LIST,  // mf_OptionList: may be given more than once
    MF_OPTION_COUNT, // const char * that reads as a whole number in [lower, upper]
    MF_OPTION_REAL   // const char * that reads as a number in [lower, upper]
} mf_OptionKind;

#define MF_OPTION_ITEMS 64 // [1] most values of a list

typedef struct mf_OptionList {
    const char *items[MF_OPTION_ITEMS];
    uint32_t count; // [1]
} mf_OptionList;

// Numbers stay text, since most are handed on as overrides, but are checked here.
typedef struct mf_Option {
    const char *name;  // without the dashes
    const char *value; // what --help calls the value; NULL for flags
    mf_OptionKind kind;
    void *target;        // see mf_OptionKind; starts as the default
    double lower, upper; // [any] range of numbers
    const char *help;    // one sentence
} mf_Option;

typedef struct mf_CommandHelp {
    const char *name;      // "evolve"
    const char *arguments; // "FILE.yaml"
    const char *summary;   // one line
    const char *text;      // paragraphs
    const char *examples;  // lines, each starting with two blanks
    uint32_t least, most;  // [1] arguments beside options
} mf_CommandHelp;

enum { MF_OPTIONS_GO_ON = -1 }; // mf_options_parse: there is something to do

// Reads argv[1 ..]. Arguments that are no options are moved, in order, to argv[1 .. *count]. After
// "--" nothing is an option. Returns MF_OPTIONS_GO_ON or an exit code: 0 after --help, 2 after a
// usage error, which has been printed. `options` ends with an empty row.
int mf_options_parse(const mf_CommandHelp *help, const mf_Option *options, int argc, char **argv,
                     int *count);

// The number of a MF_OPTION_COUNT or MF_OPTION_REAL that was given; `fallback` when it was not.
uint64_t mf_option_count(const char *text, uint64_t fallback);
double mf_option_real(const char *text, double fallback);

#endif
