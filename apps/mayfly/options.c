// Options of a subcommand: --name value, --name=value, --flag. One table defines parsing, checking
// and --help. Contradictions and files that cannot be written are detected here, before a
// subcommand starts.
#include "options.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app.h"
#include "base/file.h"

// ---- help --------------------------------------------------------------------------------------

// Prints `text` in lines of at most 92 columns after `indent` blanks; the cursor is already there.
static void print_wrapped(const char *text, int indent) {
    int column = indent;
    while (*text != '\0') {
        int length = (int)strcspn(text, " ");
        if (column > indent && column + 1 + length > 92) {
            printf("\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            putchar(' ');
            column++;
        }
        printf("%.*s", length, text);
        column += length;
        text += length + (text[length] == ' ');
    }
    putchar('\n');
}

static void print_option(const mf_Option *option) {
    char head[64];
    snprintf(head, sizeof head, "--%s%s%s", option->name, option->value == NULL ? "" : " ",
             option->value == NULL ? "" : option->value);
    printf("  %-24s ", head);
    print_wrapped(option->help, 27);
}

static int print_help(const mf_CommandHelp *help) {
    printf("mayfly %s: %s\n\nusage: mayfly %s %s%s[options]\n\n%s\n\noptions:\n", help->name,
           help->summary, help->name, help->arguments, help->arguments[0] == '\0' ? "" : " ",
           help->text);
    for (const mf_Option *option = help->options; option->name != NULL; option++)
        print_option(option);
    printf("  %-24s this text\n\nexamples:\n%s", "--help", help->examples);
    return mf_app_flush() ? MF_EXIT_DONE : MF_EXIT_FAILED;
}

// ---- numbers -----------------------------------------------------------------------------------

// True when all of `text` is a whole number that fits.
static bool read_count(const char *text, uint64_t *out) {
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0;
}

static bool read_real(const char *text, double *out) {
    char *end;
    errno = 0;
    *out = strtod(text, &end);
    return text[0] != '\0' && !isspace((unsigned char)text[0]) && *end == '\0' && isfinite(*out);
}

uint64_t mf_option_count(const char *text, uint64_t fallback) {
    uint64_t value;
    return text != NULL && read_count(text, &value) ? value : fallback;
}

double mf_option_real(const char *text, double fallback) {
    double value;
    return text != NULL && read_real(text, &value) ? value : fallback;
}

bool mf_option_same(const char *a, const char *b) {
    double x, y;
    return strcmp(a, b) == 0 || (read_real(a, &x) && read_real(b, &y) && x == y);
}

static bool number_fits(const mf_Option *option, const char *text) {
    uint64_t count;
    double value;
    if (option->kind == MF_OPTION_COUNT) {
        if (!read_count(text, &count))
            return false;
        value = (double)count;
    } else if (!read_real(text, &value)) {
        return false;
    }
    return value >= option->lower && value <= option->upper;
}

static int complain_number(const mf_CommandHelp *help, const mf_Option *option, const char *text) {
    char upper[32] = "2^64-1"; // not representable in double
    if (option->upper < 1e19)
        snprintf(upper, sizeof upper, "%.15g", option->upper);
    return mf_app_usage(help->name, "--%s: expected %s from %.15g to %s, found '%.100s'",
                        option->name,
                        option->kind == MF_OPTION_COUNT ? "a whole number" : "a number",
                        option->lower, upper, text);
}

// ---- names -------------------------------------------------------------------------------------

// "a, b or c".
static const char *list_names(mf_NameFn names, char *out, size_t size) {
    size_t used = 0;
    const char *name;
    out[0] = '\0';
    for (uint32_t i = 0; (name = names(NULL, i)) != NULL && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s",
                                 i == 0                       ? ""
                                 : names(NULL, i + 1) == NULL ? " or "
                                                              : ", ",
                                 name);
    return out;
}

static bool is_name(mf_NameFn names, const char *text) {
    const char *name;
    for (uint32_t i = 0; (name = names(NULL, i)) != NULL; i++)
        if (strcmp(name, text) == 0)
            return true;
    return false;
}

static int check_name(const mf_CommandHelp *help, const mf_Option *option, const char *text) {
    char all[400], near[MF_SUGGESTION];
    if (is_name(option->names, text))
        return MF_OPTIONS_GO_ON;
    return mf_app_usage(help->name, "--%s: expected %s%s, found '%.99s'%s", option->name,
                        option->kind == MF_OPTION_NAMES ? "some of " : "",
                        list_names(option->names, all, sizeof all), text,
                        mf_suggest(text, option->names, NULL, near));
}

static int check_names(const mf_CommandHelp *help, const mf_Option *option, const char *text) {
    char name[100];
    int result = MF_OPTIONS_GO_ON;
    for (bool more = true; more && result == MF_OPTIONS_GO_ON;) {
        const size_t length = strcspn(text, ",");
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1),
                 text);
        result = check_name(help, option, name);
        more = text[length] == ',';
        text += length + more;
    }
    return result;
}

static const char *option_name(const void *list, uint32_t index) {
    return ((const mf_Option *)list)[index].name; // NULL in the last row
}

// ---- files to write ----------------------------------------------------------------------------

// ".h5 .hdf5 .mcap" as ".h5, .hdf5 or .mcap"; whether `name` has one of them.
static bool check_ending(const char *endings, const char *name, char *out, size_t size) {
    bool known = false;
    size_t used = 0;
    out[0] = '\0';
    for (const char *at = endings; *at != '\0' && used < size;) {
        char ending[16];
        const size_t length = strcspn(at, " ");
        snprintf(ending, sizeof ending, "%.*s", (int)length, at);
        known |= mf_app_ends_with(name, ending);
        const char *between = used == 0 ? "" : at[length] == ' ' ? ", " : " or ";
        used += (size_t)snprintf(out + used, size - used, "%s%s", between, ending);
        at += length + (at[length] == ' ');
    }
    return known;
}

static int check_output_name(const mf_CommandHelp *help, const mf_Option *option,
                             const char *name) {
    char endings[64];
    if (check_ending(option->endings, name, endings, sizeof endings))
        return MF_OPTIONS_GO_ON;
    return mf_app_usage(help->name, "--%s: expected a name that ends with %s, found '%.200s'",
                        option->name, endings, name);
}

static bool same_file(const char *a, const char *b) {
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

// Hours of simulation must not end with a file that cannot be written.
static int try_outputs(const mf_CommandHelp *help, const char *const *given, char **argv,
                       int count) {
    for (uint32_t i = 0; help->options[i].name != NULL; i++) {
        const mf_Option *option = &help->options[i];
        if (option->kind != MF_OPTION_OUTPUT || given[i] == NULL)
            continue;
        for (int k = 1; k <= count; k++)
            if (same_file(given[i], argv[k]))
                return mf_app_usage(help->name,
                                    "--%s: %.200s is the input file and would be overwritten",
                                    option->name, given[i]);
        const int result = mf_app_try_output(given[i]);
        if (result != MF_EXIT_DONE)
            return result;
    }
    return MF_OPTIONS_GO_ON;
}

int mf_app_try_output(const char *path) {
    mf_ContextConfig config = mf_context_config();
    mf_Context *context = NULL;
    mf_Error error = {0};
    config.threads = 1;
    mf_Status status = mf_context_create(&config, &context, &error);
    MF_THEN(status, mf_file_try(context, path, &error));
    mf_context_destroy(context);
    return status == MF_OK ? MF_EXIT_DONE : mf_app_fail(&error);
}

// ---- parsing -----------------------------------------------------------------------------------

static const mf_Option *find_option(const mf_Option *options, const char *name, size_t length) {
    for (; options->name != NULL; options++) {
        if (strlen(options->name) == length && strncmp(options->name, name, length) == 0)
            return options;
    }
    return NULL;
}

static int check_value(const mf_CommandHelp *help, const mf_Option *option, const char *value) {
    switch (option->kind) {
    case MF_OPTION_COUNT:
    case MF_OPTION_REAL:
        return number_fits(option, value) ? MF_OPTIONS_GO_ON : complain_number(help, option, value);
    case MF_OPTION_NAME:
        return check_name(help, option, value);
    case MF_OPTION_NAMES:
        return check_names(help, option, value);
    case MF_OPTION_OUTPUT:
        return check_output_name(help, option, value);
    default:
        return MF_OPTIONS_GO_ON;
    }
}

// The command line so far.
typedef struct Reading {
    const mf_CommandHelp *help;
    void *values;
    const char *given[MF_OPTIONS_MOST]; // values of options except lists
} Reading;

// Two items "path=value" of a list with one path and two values.
static int check_pair(const Reading *reading, const mf_Option *option, const mf_OptionList *list,
                      const char *value) {
    const size_t length = strcspn(value, "=");
    for (uint32_t i = 0; value[length] == '=' && i < list->count; i++) {
        const char *other = list->items[i];
        if (strncmp(other, value, length + 1) == 0 &&
            !mf_option_same(other + length + 1, value + length + 1))
            return mf_app_usage(reading->help->name, "--%s %.200s contradicts --%s %.200s",
                                option->name, value, option->name, other);
    }
    return MF_OPTIONS_GO_ON;
}

static int store_item(const Reading *reading, const mf_Option *option, const char *value) {
    mf_OptionList *list = (mf_OptionList *)((char *)reading->values + option->offset);
    if (list->count == MF_OPTION_ITEMS)
        return mf_app_usage(reading->help->name, "--%s: at most %d of them", option->name,
                            MF_OPTION_ITEMS);
    const int result = check_pair(reading, option, list, value);
    if (result == MF_OPTIONS_GO_ON)
        list->items[list->count++] = value;
    return result;
}

static int store(Reading *reading, const mf_Option *option, const char *value) {
    char *target = (char *)reading->values + option->offset;
    if (option->kind == MF_OPTION_FLAG) {
        *(bool *)target = true;
        return MF_OPTIONS_GO_ON;
    }
    if (option->kind == MF_OPTION_LIST)
        return store_item(reading, option, value);
    const int result = check_value(reading->help, option, value);
    if (result != MF_OPTIONS_GO_ON)
        return result;
    assert(option - reading->help->options < MF_OPTIONS_MOST);
    const char **given = &reading->given[option - reading->help->options];
    if (*given != NULL && !mf_option_same(*given, value))
        return mf_app_usage(reading->help->name, "--%s is given twice: %.200s and %.200s",
                            option->name, *given, value);
    *given = *(const char **)target = value;
    return MF_OPTIONS_GO_ON;
}

// What other simulators call an option.
static const struct {
    const char *name, *own;
} elsewhere[] = {
    {"seconds", "duration"},    {"time", "duration"},
    {"sim-time", "duration"},   {"dt", "step"},
    {"timestep", "step"},       {"time-step", "step"},
    {"num-envs", "robots"},     {"num_envs", "robots"},
    {"envs", "robots"},         {"num-robots", "robots"},
    {"count", "robots"},        {"population-size", "population"},
    {"pop-size", "population"}, {"iterations", "generations"},
    {"random-seed", "seed"},    {"jobs", "threads"},
    {"workers", "threads"},     {"num-threads", "threads"},
    {"level", "motion"},        {"physics", "motion"},
    {"keyframe", "key"},        {"output", "out"},
    {"film", "plot"},           {"movie", "video"},
    {"terrain", "ground"},      {"speed", "realtime"},
    {"log", "record"},
};

static int unknown_option(const mf_CommandHelp *help, const char *text, size_t length) {
    char typed[100], near[MF_SUGGESTION] = "", name[MF_SUGGESTION];
    snprintf(typed, sizeof typed, "%.*s", (int)(length < 99 ? length : 99), text);
    for (const mf_OptionGone *gone = help->gone; gone != NULL && gone->name != NULL; gone++)
        if (strcmp(typed + strspn(typed, "-"), gone->name) == 0)
            return mf_app_usage(help->name, "there is no option '%s' any more: %s", typed,
                                gone->instead);
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
        const char *own = elsewhere[i].own;
        if (strcmp(typed + strspn(typed, "-"), elsewhere[i].name) == 0 &&
            find_option(help->options, own, strlen(own)) != NULL)
            return mf_app_usage(help->name, "unknown option '%s', did you mean '--%s'?", typed,
                                own);
    }
    // "did you mean '--motion'?": including the dashes.
    mf_suggest(typed + strspn(typed, "-"), option_name, help->options, name);
    if (name[0] != '\0')
        snprintf(near, sizeof near, ", did you mean '--%.100s", strchr(name, '\'') + 1);
    return mf_app_usage(help->name, "unknown option '%s'%s", typed, near);
}

// Reads the option at argv[*index] and moves *index to its last argument.
static int read_option(Reading *reading, int argc, char **argv, int *index) {
    const mf_CommandHelp *help = reading->help;
    const char *name = argv[*index];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return print_help(help);
    const size_t length = strcspn(name, "=");
    const mf_Option *option =
        name[1] == '-' ? find_option(help->options, name + 2, length - 2) : NULL;
    if (option == NULL)
        return unknown_option(help, name, length);
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    if (option->kind == MF_OPTION_FLAG && value != NULL)
        return mf_app_usage(help->name, "--%s takes no value", option->name);
    if (option->kind != MF_OPTION_FLAG && value == NULL) {
        if (*index + 1 >= argc)
            return mf_app_usage(help->name, "--%s: expected %s after it", option->name,
                                option->value);
        value = argv[++*index];
    }
    return store(reading, option, value);
}

static int check_arguments(const mf_CommandHelp *help, char **argv, int count) {
    char near[MF_SUGGESTION];
    if ((uint32_t)count < help->least)
        return mf_app_usage(help->name, "expected %s", help->arguments);
    if ((uint32_t)count > help->most)
        return mf_app_usage(help->name, "one argument too many: '%.99s'", argv[1 + help->most]);
    for (int i = 1; help->noun != NULL && i <= count; i++)
        if (!is_name(help->names, argv[i]))
            return mf_app_usage(help->name, "unknown %s '%.99s'%s", help->noun, argv[i],
                                mf_suggest(argv[i], help->names, NULL, near));
    return MF_OPTIONS_GO_ON;
}

int mf_options_parse(const mf_CommandHelp *help, void *values, int argc, char **argv, int *count) {
    Reading reading = {.help = help, .values = values};
    int found = 0, result = MF_OPTIONS_GO_ON;
    bool plain = false;
    for (int index = 1; index < argc && result == MF_OPTIONS_GO_ON; index++) {
        if (!plain && strcmp(argv[index], "--") == 0)
            plain = true;
        else if (plain || argv[index][0] != '-' || argv[index][1] == '\0')
            argv[1 + found++] = argv[index];
        else
            result = read_option(&reading, argc, argv, &index);
    }
    *count = found;
    if (result == MF_OPTIONS_GO_ON)
        result = check_arguments(help, argv, found);
    return result == MF_OPTIONS_GO_ON ? try_outputs(help, reading.given, argv, found) : result;
}
