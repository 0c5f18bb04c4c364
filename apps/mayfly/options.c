// Options of a subcommand: --name value, --name=value, --flag. One table gives parsing, checking
// and --help, so they cannot drift.
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"

// ---- help --------------------------------------------------------------------------------------

// Prints `text` in lines of at most 92 columns behind `indent` blanks; the cursor already stands
// there.
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

static int print_help(const mf_CommandHelp *help, const mf_Option *options) {
    printf("mayfly %s: %s\n\nusage: mayfly %s %s%s[options]\n\n%s\n\noptions:\n", help->name,
           help->summary, help->name, help->arguments, help->arguments[0] == '\0' ? "" : " ",
           help->text);
    for (const mf_Option *option = options; option->name != NULL; option++)
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
    char upper[32] = "2^64-1"; // which a double cannot say
    if (option->upper < 1e19)
        snprintf(upper, sizeof upper, "%.15g", option->upper);
    return mf_app_usage(help->name, "--%s: expected %s from %.15g to %s, found '%.100s'",
                        option->name,
                        option->kind == MF_OPTION_COUNT ? "a whole number" : "a number",
                        option->lower, upper, text);
}

// ---- parsing -----------------------------------------------------------------------------------

static const mf_Option *find_option(const mf_Option *options, const char *name, size_t length) {
    for (; options->name != NULL; options++) {
        if (strlen(options->name) == length && strncmp(options->name, name, length) == 0)
            return options;
    }
    return NULL;
}

static int store(const mf_CommandHelp *help, const mf_Option *option, const char *value) {
    if (option->kind == MF_OPTION_FLAG) {
        *(bool *)option->target = true;
        return MF_OPTIONS_GO_ON;
    }
    if (option->kind == MF_OPTION_LIST) {
        mf_OptionList *list = option->target;
        if (list->count == MF_OPTION_ITEMS)
            return mf_app_usage(help->name, "--%s: at most %d of them", option->name,
                                MF_OPTION_ITEMS);
        list->items[list->count++] = value;
        return MF_OPTIONS_GO_ON;
    }
    if (option->kind != MF_OPTION_TEXT && !number_fits(option, value))
        return complain_number(help, option, value);
    *(const char **)option->target = value;
    return MF_OPTIONS_GO_ON;
}

// Reads the option at argv[*place] and moves *place to its last word.
static int read_option(const mf_CommandHelp *help, const mf_Option *options, int argc, char **argv,
                       int *place) {
    const char *word = argv[*place];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return print_help(help, options);
    size_t length = strcspn(word, "=");
    const mf_Option *option = word[1] == '-' ? find_option(options, word + 2, length - 2) : NULL;
    if (option == NULL)
        return mf_app_usage(help->name, "unknown option '%.*s'", (int)(length < 99 ? length : 99),
                            word);
    const char *value = word[length] == '=' ? word + length + 1 : NULL;
    if (option->kind == MF_OPTION_FLAG && value != NULL)
        return mf_app_usage(help->name, "--%s takes no value", option->name);
    if (option->kind != MF_OPTION_FLAG && value == NULL) {
        if (*place + 1 >= argc)
            return mf_app_usage(help->name, "--%s: expected %s behind it", option->name,
                                option->value);
        value = argv[++*place];
    }
    return store(help, option, value);
}

int mf_options_parse(const mf_CommandHelp *help, const mf_Option *options, int argc, char **argv,
                     int *count) {
    int found = 0;
    bool plain = false;
    for (int place = 1; place < argc; place++) {
        if (!plain && strcmp(argv[place], "--") == 0) {
            plain = true;
            continue;
        }
        if (plain || argv[place][0] != '-' || argv[place][1] == '\0') {
            argv[1 + found++] = argv[place];
            continue;
        }
        int result = read_option(help, options, argc, argv, &place);
        if (result != MF_OPTIONS_GO_ON)
            return result;
    }
    *count = found;
    if ((uint32_t)found < help->least)
        return mf_app_usage(help->name, "expected %s", help->arguments);
    if ((uint32_t)found > help->most)
        return mf_app_usage(help->name, "one argument too many: '%.99s'", argv[1 + help->most]);
    return MF_OPTIONS_GO_ON;
}
