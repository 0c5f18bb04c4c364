// The options that change a scene, common to all subcommands with a scene.
#pragma once

#include "app.h"

#include "options.h"
#include "plugins.h"

typedef struct mf_Inputs {
    const char *generations, *population, *survivors, *seed, *duration; // as typed, or NULL
    const char *robots, *motion, *gait, *command, *key, *step;          // likewise
    const char *model, *ground;                                         // files, or NULL
    const char *root;                                                   // folder, or NULL
    const char *base;                                                   // free, fixed, or NULL
    const char *threads;
    mf_OptionList packages; // NAME=PATH
    mf_OptionList settings; // path=value
    mf_PluginOptions plugins;
    bool strict;
    bool allow_plugins; // those that a file names
} mf_Inputs;

// Rows of an option table for the members of `inputs`, a mf_Inputs in the struct `type`.
#define MF_INPUT_THREADS(type, inputs)                                                             \
    MF_OPT_COUNT("threads", "N", type, inputs.threads, 1, 4096,                                    \
                 "worker threads; results do not depend on their number (default: one per "        \
                 "processor)")
#define MF_INPUT_DURATION(type, inputs)                                                            \
    MF_OPT_REAL("duration", "S", type, inputs.duration, 1e-6, 1e9, "simulated seconds")
#define MF_INPUT_SEED(type, inputs)                                                                \
    MF_OPT_COUNT("seed", "N", type, inputs.seed, 0, 1.8446744073709552e19,                         \
                 "seed of all random numbers")
#define MF_INPUT_MOTION(type, inputs)                                                              \
    MF_OPT_NAME("motion", "NAME", type, inputs.motion, mf_motion_name_at,                          \
                "motion of the group: " MF_APP_LEVELS "; of "                                      \
                "a truss quasistatic or elastic; of a cloth cloth")
#define MF_INPUT_STEP(type, inputs)                                                                \
    MF_OPT_REAL("step", "S", type, inputs.step, 1e-6, 1, "physics step (default: that of the file)")
#define MF_INPUT_GAIT(type, inputs)                                                                \
    MF_OPT_TEXT("gait", "NAME", type, inputs.gait,                                                 \
                "gait of the group's robots: the name of a gait of the model, or a file"),         \
        MF_OPT_TEXT("command", "F,L,T", type, inputs.command,                                      \
                    "command of the gait: forward [m/s], left [m/s], yaw [rad/s] (default: "       \
                    "half of the largest forward command)")
#define MF_INPUT_BASE(type, inputs)                                                                \
    MF_OPT_NAME("base", "free|fixed", type, inputs.base, mf_base_name_at,                          \
                "whether the base of a URDF robot moves (default: fixed where the root link is "   \
                "`world` or has no mass)")
#define MF_INPUT_IMPORT(type, inputs)                                                              \
    MF_OPT_LIST("package", "NAME=PATH", type, inputs.packages,                                     \
                "folder of package://NAME in the robot's file; may be given more than once"),      \
        MF_OPT_FLAG("strict", type, inputs.strict,                                                 \
                    "fail, instead of printing a note, if a robot has unsupported physical "       \
                    "elements or settings that the motion does not support"),                      \
        MF_OPT_TEXT("root", "FOLDER", type, inputs.root,                                           \
                    "folder that the files a robot names may not leave by '..', a link or an "     \
                    "absolute path (default: the package around it)"),                             \
        MF_INPUT_BASE(type, inputs)
#define MF_INPUT_MODEL(type, inputs)                                                               \
    MF_OPT_TEXT("model", "FILE", type, inputs.model, "another model for the group")
#define MF_INPUT_GROUND(type, inputs)                                                              \
    MF_OPT_TEXT("ground", "SHAPE|FILE", type, inputs.ground,                                       \
                "other ground: flat, slope, steps, sine, noise or model, or a gray PNG or PGM "    \
                "image")
#define MF_INPUT_SET(type, inputs)                                                                 \
    MF_OPT_LIST("set", "path=value", type, inputs.settings,                                        \
                "set any key of the scene (mayfly help scene lists them); group.KEY addresses "    \
                "the only group; may be given more than once")
#define MF_INPUT_PLUGINS(type, inputs)                                                             \
    MF_OPT_FLAG("allow-plugins", type, inputs.allow_plugins,                                       \
                "load the plugins that the file names: their code runs with your permissions")
// What is recorded: the members `fields` and `every` of the struct.
#define MF_INPUT_RECORD(type)                                                                      \
    MF_OPT_TEXT("fields", "a,b", type, fields,                                                     \
                "fields to record (default: base.*, joint.angle, sensor.*)"),                      \
        MF_OPT_REAL("every", "S", type, every, 1e-9, 1e9,                                          \
                    "simulated seconds between samples, rounded to whole steps (default 0.1)")
// Of commands that simulate a scene or a robot: what is simulated, and how.
#define MF_INPUT_SCENE(type, inputs)                                                               \
    MF_OPT_COUNT("robots", "N", type, inputs.robots, 1, 1 << 26,                                   \
                 "number of robots in the only group"),                                            \
        MF_INPUT_SEED(type, inputs), MF_INPUT_MOTION(type, inputs), MF_INPUT_STEP(type, inputs),   \
        MF_INPUT_GAIT(type, inputs),                                                               \
        MF_OPT_TEXT("key", "NAME", type, inputs.key,                                               \
                    "initial keyframe of the group (default: the first of its file)"),             \
        MF_INPUT_MODEL(type, inputs), MF_INPUT_GROUND(type, inputs),                               \
        MF_PLUGIN_OPTIONS(type, inputs.plugins)
#define MF_INPUT_FILES(type, inputs)                                                               \
    MF_INPUT_IMPORT(type, inputs), MF_INPUT_SET(type, inputs), MF_INPUT_PLUGINS(type, inputs)

// Creates a context with the requested threads.
mf_Status mf_inputs_context(const mf_Inputs *inputs, mf_Context **out, mf_Error *error);

// Loads the scene or robot `name` (found as mf_app_find does) with everything requested. Paths on
// the command line are relative to the current folder. Malformed options print a usage line and
// return MF_BAD_ARGUMENT with an empty message.
mf_Status mf_inputs_load(mf_Context *context, const mf_Inputs *inputs, const char *command,
                         const char *name, mf_SceneFile **out, mf_Error *error);

// The scene of such a file and its world, with genomes; refused where it is strict and there is
// something to note. `levels`: robots can switch to all levels of their models (mf_SceneConfig);
// where the scene does not permit that they cannot, and scene->levels is false. `scripts`: the
// caller runs those of the scene. After a failure, too, the caller destroys both, `scene` first.
mf_Status mf_inputs_scene(mf_Context *context, const mf_Inputs *inputs, const char *command,
                          const char *name, bool levels, mf_SceneFile **file, mf_Scene *scene,
                          mf_Error *error);

// mf_inputs_load for the scene stored in an archive; `path` is for messages and other files.
mf_Status mf_inputs_parse(mf_Context *context, const mf_Inputs *inputs, const char *command,
                          const char *path, const char *text, mf_SceneFile **out, mf_Error *error);

// Whether a file is a robot's own (URDF, MJCF).
mf_Status mf_inputs_is_robot(mf_Context *context, const char *name, bool *out, mf_Error *error);

// Runs a command for the file `name` in the context of its options; returns an exit code.
typedef int (*mf_InputsRunFn)(mf_Context *context, const void *options, const char *name);
int mf_inputs_run(const mf_Inputs *inputs, mf_InputsRunFn run, const void *options,
                  const char *name);

// The exit code for an error of these functions, with its line printed if that has not been done.
int mf_inputs_fail(const mf_Error *error);

// Genomes of a scene for evolution that is run as it is: random ones, which depend on the scene's
// seed and the robot's index; for machines their ancestor. MF_UNSUPPORTED for machines without an
// ancestor: random bytes are none.
mf_Status mf_genomes_check(const mf_SceneFile *file, mf_Error *error);
mf_Status mf_genomes_give(mf_Context *context, mf_Scene *scene, mf_Error *error);
