// The mayfly command: picks the subcommand and prints the overview.
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "experiment/gait_keys.h"
#include "experiment/keys.h"
#include "experiment/robots_keys.h"
#include "experiment/vehicle_keys.h"

typedef struct Command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
} Command;

static const Command commands[] = {
    {"evolve", "evolve a controller and write an archive and a report", mf_command_evolve},
    {"run", "simulate an experiment's robots once", mf_command_run},
    {"compare", "one gait at every level of physics: errors and prices", mf_command_compare},
    {"replay", "simulate a stored individual again and compare", mf_command_replay},
    {"info", "tell what is in a robot, experiment, terrain or archive", mf_command_info},
    {"check", "the physics against answers that did not come from it", mf_command_check},
    {"bench", "measure throughput", mf_command_bench},
};

#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

static const Command *find_command(const char *name) {
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    }
    return NULL;
}

static int print_overview(void) {
    printf("mayfly %s: a robot simulator that lives whole robot lifetimes in minutes\n\n"
           "usage: mayfly COMMAND [arguments] [options]\n\ncommands:\n",
           mf_version());
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        printf("  %-10s %s\n", commands[i].name, commands[i].summary);
    fputs("  help       this text; mayfly help COMMAND explains one command,\n"
          "             mayfly help experiment, robots, swarm, gait, quadrotor,\n"
          "             fixed_wing or car every line of such a file\n\n"
          "examples:\n"
          "  mayfly evolve scenes/hexapod.yaml\n"
          "  mayfly replay runs/hexapod-1\n"
          "  mayfly info models/hexapod.urdf\n"
          "  mayfly compare models/humanoid.urdf --gait walk\n"
          "  mayfly run scenes/soccer.yaml --plot match.html\n\n"
          "Exit codes: 0 done, 1 failed, 2 wrong usage, 75 stopped early and resumable.\n"
          "MAYFLY_ISA=scalar|baseline|avx2|avx512 forces an instruction set; results are the "
          "same.\n",
          stdout);
    return mf_app_flush() ? MF_EXIT_DONE : MF_EXIT_FAILED;
}

// Tables of keys one after the other; each below its name where there are several.
static int print_tables(const mf_KeyTable *const *tables, uint32_t count) {
    mf_Context *context;
    mf_Error error;
    mf_Status status = mf_context_create(NULL, &context, &error);
    if (status != MF_OK)
        return mf_app_fail(&error);
    for (uint32_t i = 0; i < count && status == MF_OK; i++) {
        char *text;
        status = mf_keys_describe(context, tables[i], false, &text, &error);
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

static int print_keys(const mf_KeyTable *table) {
    return print_tables(&table, 1);
}

static int print_gait_keys(void) {
    const mf_KeyTable *tables[] = {mf_gait_table(MF_GAIT_WALK), mf_gait_table(MF_GAIT_WAVES),
                                   mf_gait_table(MF_GAIT_KEYFRAMES)};
    return print_tables(tables, 3);
}

static int unknown_command(const char *name) {
    const char *best = NULL;
    size_t wrong = strlen(name) / 2 + 1; // letters of a name that is no misspelling any more
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        const size_t other = mf_name_distance(name, commands[i].name);
        best = other < wrong ? commands[i].name : best;
        wrong = other < wrong ? other : wrong;
    }
    if (best != NULL)
        return mf_app_usage(NULL, "unknown command '%.99s', did you mean '%s'?", name, best);
    return mf_app_usage(NULL, "unknown command '%.99s'", name);
}

static int help(int argc, char **argv) {
    if (argc < 2)
        return print_overview();
    if (argc > 2)
        return mf_app_usage(NULL, "help takes one name");
    if (strcmp(argv[1], "experiment") == 0)
        return print_keys(mf_experiment_table());
    if (strcmp(argv[1], "swarm") == 0)
        return print_keys(mf_swarm_table());
    if (strcmp(argv[1], "robots") == 0)
        return print_keys(mf_robots_table());
    if (strcmp(argv[1], "gait") == 0)
        return print_gait_keys();
    for (mf_VehicleKind kind = MF_VEHICLE_QUADROTOR; kind <= MF_VEHICLE_CAR;
         kind = (mf_VehicleKind)(kind + 1)) {
        if (strcmp(argv[1], mf_vehicle_kind_name(kind)) == 0)
            return print_keys(mf_vehicle_table(kind));
    }
    const Command *command = find_command(argv[1]);
    if (command == NULL)
        return unknown_command(argv[1]);
    char ask[] = "--help";
    char *words[] = {argv[1], ask, NULL};
    return command->run(2, words);
}

int main(int argc, char **argv) {
    if (argc < 2)
        return mf_app_usage(NULL, "expected a command");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_overview();
    if (strcmp(argv[1], "--version") == 0) {
        printf("mayfly %s\n", mf_version());
        return mf_app_flush() ? MF_EXIT_DONE : MF_EXIT_FAILED;
    }
    if (strcmp(argv[1], "help") == 0)
        return help(argc - 1, argv + 1);
    if (argv[1][0] == '-')
        return mf_app_usage(NULL, "unknown option '%.99s'", argv[1]);
    const Command *command = find_command(argv[1]);
    return command == NULL ? unknown_command(argv[1]) : command->run(argc - 1, argv + 1);
}
