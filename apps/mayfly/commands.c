// Picks the subcommand and prints the overview.
#define _GNU_SOURCE // program_invocation_name
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "options.h"
#include "io/gait_keys.h"
#include "io/keys.h"
#include "scene/keys.h"
#include "view/film.h"
#include "motion/vehicle/keys.h"

typedef struct Command {
    const mf_CommandHelp *help;
    int (*run)(int argc, char **argv);
} Command;

static int complete(int argc, char **argv);

static const char *shell_name_at(const void *list, uint32_t index) {
    static const char *const shells[] = {"bash", "zsh", NULL};
    (void)list;
    return shells[index];
}

static const mf_Option no_options[] = {MF_OPT_END};

static const mf_CommandHelp completion_help = {
    .name = "completion",
    .arguments = "SHELL",
    .summary = "completion of commands and options for bash or zsh",
    .text =
        "Prints a script that completes commands, options, their values and the names of benches\n"
        "and check cases. cmake --install puts both scripts where the shells look for them.",
    .examples = "  source <(mayfly completion bash)\n"
                "  mayfly completion zsh > ~/.zfunc/_mayfly\n",
    .least = 1,
    .most = 1,
    .options = no_options,
    .names = shell_name_at,
    .noun = "shell"};

static const Command commands[] = {
    {&mf_help_evolve, mf_command_evolve}, {&mf_help_sweep, mf_command_sweep},
    {&mf_help_worker, mf_command_worker}, {&mf_help_run, mf_command_run},
    {&mf_help_view, mf_command_view},     {&mf_help_compare, mf_command_compare},
    {&mf_help_replay, mf_command_replay}, {&mf_help_fit, mf_command_fit},
    {&mf_help_info, mf_command_info},     {&mf_help_print, mf_command_print},
    {&mf_help_check, mf_command_check},   {&mf_help_bench, mf_command_bench},
    {&mf_help_serve, mf_command_serve},   {&completion_help, complete},
};

#define COMMAND_COUNT ((uint32_t)(sizeof commands / sizeof commands[0]))

static const Command *find_command(const char *name) {
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i].help->name, name) == 0)
            return &commands[i];
    }
    return NULL;
}

static int print_overview(void) {
    printf("mayfly %s: a robot simulator for evolution, learning and planning\n\n"
           "usage: mayfly COMMAND [arguments] [options]\n\ncommands:\n",
           mf_version());
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        printf("  %-10s %s\n", commands[i].help->name, commands[i].help->summary);
    fputs("  help       this text; mayfly help COMMAND describes one command,\n"
          "             mayfly help scene, gait, quadrotor, fixed_wing or car the keys\n"
          "             of such a file, mayfly help schema the JSON Schema of scenes for\n"
          "             editors, mayfly help man the manual page\n"
          "  --version, --licenses: of Mayfly and of the page of films\n\n"
          "examples:\n"
          "  mayfly evolve scenes/hexapod.yaml\n"
          "  mayfly replay runs/hexapod-1\n"
          "  mayfly info models/hexapod.urdf\n"
          "  mayfly compare models/humanoid.urdf --gait walk\n"
          "  mayfly run scenes/soccer.yaml --plot match.html\n"
          "  mayfly view scenes/soccer.yaml\n\n"
          "Exit codes: 0 success, 1 failure, 2 wrong usage, 75 stopped early and resumable.\n"
          "MAYFLY_ISA=scalar|avx2|avx512 forces an instruction set; results are the "
          "same.\n",
          stdout);
    return mf_app_flush() ? MF_EXIT_DONE : MF_EXIT_FAILED;
}

static const char schema_name_at[] = "schema";

// ---- keys of files -----------------------------------------------------------------------------

// Prints tables of keys, with headings if there are several; or without tables the JSON Schema of
// scenes for editors.
static int print_keys(const mf_KeyTable *const *tables, uint32_t count) {
    mf_Context *context;
    mf_Error error;
    mf_Status status = mf_context_create(NULL, &context, &error);
    if (status != MF_OK)
        return mf_app_fail(&error);
    for (uint32_t i = 0; i < (count > 0 ? count : 1) && status == MF_OK; i++) {
        char *text = NULL;
        status = count > 0 ? mf_keys_describe(context, tables[i], false, &text, &error)
                           : mf_keys_schema(context, mf_scene_table(), &text, &error);
        if (status != MF_OK)
            break;
        if (count > 1)
            printf("%s%s:\n", i == 0 ? "" : "\n", tables[i]->noun);
        fputs(text, stdout);
        mf_release(context, text);
    }
    mf_context_destroy(context);
    if (status != MF_OK)
        return mf_app_fail(&error);
    return mf_app_flush() ? MF_EXIT_DONE : MF_EXIT_FAILED;
}

// The topics of mayfly help; NULL after the last.
static const char *topic_name_at(const void *list, uint32_t index) {
    static const char *const topics[] = {"scene", schema_name_at, "gait"};
    const uint32_t count = sizeof topics / sizeof *topics;
    (void)list;
    if (index < count)
        return topics[index];
    return index - count <= MF_VEHICLE_CAR ? mf_vehicle_kind_name((mf_VehicleKind)(index - count))
                                           : NULL;
}

// The tables of keys of a topic; returns their number.
static uint32_t topic_tables(const char *topic, const mf_KeyTable *out[3]) {
    out[0] = strcmp(topic, "scene") == 0 ? mf_scene_table() : NULL;
    if (out[0] != NULL)
        return 1;
    for (int kind = 0; strcmp(topic, "gait") == 0 && kind <= MF_GAIT_KEYFRAMES; kind++)
        out[kind] = mf_gait_table((mf_GaitKind)kind);
    if (out[0] != NULL)
        return MF_GAIT_KEYFRAMES + 1;
    for (int kind = 0; kind <= MF_VEHICLE_CAR; kind++)
        if (strcmp(topic, mf_vehicle_kind_name((mf_VehicleKind)kind)) == 0)
            out[0] = mf_vehicle_table((mf_VehicleKind)kind);
    return out[0] != NULL;
}

// ---- the command -------------------------------------------------------------------------------

static const char help_name_at[] = "help", man_name_at[] = "man";

// The arguments of "mayfly".
static const char *command_name_at(const void *list, uint32_t index) {
    (void)list;
    if (index < COMMAND_COUNT)
        return commands[index].help->name;
    return index == COMMAND_COUNT ? help_name_at : NULL;
}

// The arguments of "mayfly help".
static const char *help_topic_name_at(const void *list, uint32_t index) {
    if (index < COMMAND_COUNT)
        return commands[index].help->name;
    return index == COMMAND_COUNT ? man_name_at : topic_name_at(list, index - COMMAND_COUNT - 1);
}

static int unknown(const char *what, const char *name, mf_NameFn names) {
    char near[MF_SUGGESTION];
    return mf_app_usage(NULL, "unknown %s '%.99s'%s", what, name,
                        mf_suggest(name, names, NULL, near));
}

// All rows of the table of commands; ends with NULL.
static void list_helps(const mf_CommandHelp *out[COMMAND_COUNT + 1]) {
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        out[i] = commands[i].help;
    out[COMMAND_COUNT] = NULL;
}

static int help(int argc, char **argv) {
    const mf_KeyTable *tables[3];
    if (argc < 2)
        return print_overview();
    if (argc > 2)
        return mf_app_usage(NULL, "help takes one name");
    if (strcmp(argv[1], schema_name_at) == 0)
        return print_keys(NULL, 0);
    const uint32_t count = topic_tables(argv[1], tables);
    if (count > 0)
        return print_keys(tables, count);
    if (strcmp(argv[1], man_name_at) == 0) {
        const mf_CommandHelp *helps[COMMAND_COUNT + 1];
        list_helps(helps);
        mf_manual_print(helps, topic_name_at);
        return mf_app_flush() ? MF_EXIT_DONE : MF_EXIT_FAILED;
    }
    const Command *command = find_command(argv[1]);
    if (command == NULL)
        return unknown("command or topic", argv[1], help_topic_name_at);
    char ask[] = "--help";
    char *names[] = {argv[1], ask, NULL};
    return command->run(2, names);
}

static int complete(int argc, char **argv) {
    const mf_CommandHelp *helps[COMMAND_COUNT + 1];
    int count;
    const int result = mf_options_parse(&completion_help, NULL, argc, argv, &count);
    if (result != MF_OPTIONS_GO_ON)
        return result;
    list_helps(helps);
    if (strcmp(argv[1], "bash") == 0)
        mf_completion_bash(helps, help_topic_name_at);
    else
        mf_completion_zsh(helps, help_topic_name_at);
    return mf_app_flush() ? MF_EXIT_DONE : MF_EXIT_FAILED;
}

static const char *main_option_name_at(const void *list, uint32_t index) {
    static const char *const names[] = {"--help", "--version", "--licenses", NULL};
    (void)list;
    return names[index];
}

int mf_app_main(int argc, char **argv) {
    program_invocation_name = argv[0]; // within Python it would be the interpreter
    if (argc < 2)
        return mf_app_usage(NULL, "expected a command");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_overview();
    if (strcmp(argv[1], "--version") == 0) {
        printf("mayfly %s\n", mf_version());
        return mf_app_flush() ? MF_EXIT_DONE : MF_EXIT_FAILED;
    }
    if (strcmp(argv[1], "--licenses") == 0) {
        // Of Mayfly, of what the page of films is made of, and of libraries that are linked
        // statically.
        printf("mayfly %s\n\n%s\n%s", mf_version(), (const char *)mf_license,
               (const char *)mf_licenses);
        return mf_app_flush() ? MF_EXIT_DONE : MF_EXIT_FAILED;
    }
    if (strcmp(argv[1], help_name_at) == 0)
        return help(argc - 1, argv + 1);
    if (argv[1][0] == '-')
        return unknown("option", argv[1], main_option_name_at);
    const Command *command = find_command(argv[1]);
    return command == NULL ? unknown("command", argv[1], command_name_at)
                           : command->run(argc - 1, argv + 1);
}
