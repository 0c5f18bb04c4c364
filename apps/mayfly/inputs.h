// The options that change an experiment, the same for every subcommand that takes one.
#ifndef MAYFLY_APP_INPUTS_H
#define MAYFLY_APP_INPUTS_H

#include "app.h"

#include <mayfly/swarm.h>

#include "options.h"

typedef struct mf_Inputs {
    const char *generations, *population, *survivors, *seed, *duration,
        *robots;                 // as typed, or NULL
    const char *model, *terrain; // files, or NULL
    const char *threads;
    mf_OptionList packages; // NAME=PATH
    mf_OptionList settings; // path=value
    bool allow_plugins;     // those that a file names
} mf_Inputs;

// Rows of an option table for the members of `inputs`, a mf_Inputs in the struct `type`.
#define MF_INPUT_THREADS(type, inputs)                                                             \
    MF_OPT_COUNT("threads", "N", type, inputs.threads, 1, 4096,                                    \
                 "worker threads; the result does not depend on it (default: one per processor)")
#define MF_INPUT_MODEL(type, inputs)                                                               \
    MF_OPT_TEXT("model", "FILE", type, inputs.model, "another robot: a URDF file"),                \
        MF_OPT_LIST("package", "NAME=PATH", type, inputs.packages,                                 \
                    "folder that package://NAME means in the robot's file; may be given more "     \
                    "than once"),                                                                  \
        MF_OPT_TEXT("terrain", "FILE", type, inputs.terrain,                                       \
                    "other ground: a grey PNG or PGM image")
#define MF_INPUT_SET(type, inputs)                                                                 \
    MF_OPT_LIST("set", "path=value", type, inputs.settings,                                        \
                "change any line of the experiment (mayfly help experiment lists them); may be "   \
                "given more than once")
#define MF_INPUT_PLUGINS(type, inputs)                                                             \
    MF_OPT_FLAG("allow-plugins", type, inputs.allow_plugins,                                       \
                "load the plugins that the file names: their code runs with all that you may do")

// Makes a context with the threads asked for.
mf_Status mf_inputs_context(const mf_Inputs *inputs, mf_Context **out, mf_Error *error);

// Loads the experiment `name` (found as mf_app_find does) with everything asked for. Relative paths
// on the command line are seen from the current folder. A malformed --set or --package prints a
// usage line and returns MF_BAD_ARGUMENT with an empty message.
mf_Status mf_inputs_load(mf_Context *context, const mf_Inputs *inputs, const char *command,
                         const char *name, mf_Experiment **out, mf_Error *error);

// The same for the experiment that an archive holds; `path` is for messages and other files.
mf_Status mf_inputs_parse(mf_Context *context, const mf_Inputs *inputs, const char *command,
                          const char *path, const char *text, mf_Experiment **out, mf_Error *error);

// What a file holds: XML is a robot, YAML is told by its top keys.
typedef enum mf_InputKind {
    MF_INPUT_EXPERIMENT,
    MF_INPUT_SWARM,
    MF_INPUT_ROBOTS,
    MF_INPUT_VEHICLE,
    MF_INPUT_ROBOT
} mf_InputKind;
mf_Status mf_inputs_kind(mf_Context *context, const char *name, mf_InputKind *out, mf_Error *error);

// As mf_inputs_load for a swarm; options that only experiments have print a usage line.
mf_Status mf_inputs_load_swarm(mf_Context *context, const mf_Inputs *inputs, const char *command,
                               const char *name, mf_Swarm **out, mf_Error *error);

// As mf_inputs_load for a file of robots.
mf_Status mf_inputs_load_robots(mf_Context *context, const mf_Inputs *inputs, const char *command,
                                const char *name, mf_Robots **out, mf_Error *error);

// Exit code for a failure of the above: 2 when a usage line has been printed already.
int mf_inputs_fail(const mf_Error *error);

#endif
