// mayfly fit: parameters of a robot from a log of the machine, with their certainty.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <mayfly/fit.h>

#include "app.h"
#include "inputs.h"
#include "options.h"

typedef struct Options {
    mf_Inputs inputs;
    mf_OptionList map;
    const char *parameters, *holdout, *population, *generations, *seed, *out;
    bool json;
} Options;

static const mf_Option table[] = {
    MF_OPT_TEXT("parameters", "a,b", Options, parameters,
                "what is identified: damping, friction, armature, gain, derivative, effort of all "
                "joints of the log or of one (knee.damping), and delay; =LOW:HIGH behind a name is "
                "its range (default: damping, friction, armature, gain, effort where the log nears "
                "it, and delay)"),
    MF_OPT_LIST("map", "COLUMN=NAME", Options, map,
                "what a column of the log is: a joint's position, velocity or command, a sensor, "
                "a field; NAME*FACTOR converts units, an empty NAME ignores it; may be given more "
                "than once"),
    MF_OPT_REAL("holdout", "SHARE", Options, holdout, 0, 0.9,
                "last part of the log that is predicted, not fitted (default 0.2)"),
    MF_OPT_OUTPUT("out", Options, out, ".yaml .urdf .xml .mjcf",
                  "write the result: .yaml a report, .urdf or .xml the robot's file with the "
                  "fitted numbers"),
    MF_OPT_COUNT("population", "N", Options, population, 4, 4096,
                 "candidates in a generation (default: by the number of parameters)"),
    MF_OPT_COUNT("generations", "N", Options, generations, 0, 1000,
                 "most generations of the search, before its refinement (default 20)"),
    MF_OPT_COUNT("seed", "N", Options, seed, 0, 1.8446744073709552e19,
                 "seed of the search (default 1)"),
    MF_INPUT_STEP(Options, inputs),
    MF_OPT_TEXT("key", "NAME", Options, inputs.key,
                "keyframe of the robot when the log begins (default: the first of its file)"),
    MF_INPUT_GROUND(Options, inputs),
    MF_INPUT_THREADS(Options, inputs),
    MF_INPUT_IMPORT(Options, inputs),
    MF_INPUT_SET(Options, inputs),
    MF_INPUT_PLUGINS(Options, inputs),
    MF_OPT_FLAG("json", Options, json, "print JSON, one object per parameter and channel"),
    MF_OPT_END};

const mf_CommandHelp mf_help_fit = {
    .name = "fit",
    .arguments = "FILE LOG",
    .summary = "identify friction, damping, gains and delay from a log of the machine",
    .text =
        "Simulates a robot (URDF, MJCF, or a scene of one group) with the commands of a log, and\n"
        "identifies its parameters by a search over batches. LOG is CSV, HDF5, MCAP or a bag of\n"
        "ROS 2 (.db3, .mcap). Columns: time [s], JOINT.command, JOINT.position, JOINT.velocity,\n"
        "and sensors by their names; --map names others (--map stamp=time*1e-9, --map\n"
        "q0=knee.position). For each parameter it prints the model's\n"
        "value, the fitted one and its 95 % interval, and says what the log cannot tell; for each\n"
        "channel the root mean square error of the model, of the fit, and of the part of the log\n"
        "that was not fitted. --json prints one object per parameter and channel and a last one\n"
        "with done and hash.",
    .examples = "  mayfly fit examples/fit/arm.xml examples/fit/arm.csv\n"
                "  mayfly fit examples/fit/arm.xml examples/fit/arm.csv --out fitted.xml\n"
                "  mayfly fit examples/fit/arm.xml examples/fit/arm.csv --parameters "
                "elbow.damping,elbow.friction=0:0.5,delay\n"
                "  mayfly fit examples/fit/arm.xml examples/fit/arm.csv --map elbow.position=\n",
    .least = 2,
    .most = 2,
    .options = table};

// ---- for people --------------------------------------------------------------------------------

static void put_error(double value) {
    if (isfinite(value))
        printf(" %10.4g", value);
    else
        printf(" %10s", "-");
}

static bool print_page(const mf_Fit *fit) {
    printf("%s, %.4g s of log, the last %.3g s not fitted; %llu simulations\n"
           "%-28s %12s %12s %12s  %s\n",
           fit->file, fit->duration, fit->holdout, (unsigned long long)fit->simulations,
           "parameter", "model", "fitted", "+- 95 %", "unit");
    for (uint32_t i = 0; i < fit->parameter_count; i++) {
        const mf_FitParameter *own = &fit->parameters[i];
        printf("%-28s %12.5g %12.5g", own->name, own->start, own->value);
        if (own->identified)
            printf(" %12.2g  %s\n", own->interval, own->unit);
        else
            printf(" %12s  %s\n", "not known", own->unit);
    }
    printf("\n%-28s %10s %10s %10s %10s  %s\n", "root mean square error", "model", "fitted",
           "predicted", "noise", "unit");
    for (uint32_t i = 0; i < fit->channel_count; i++) {
        const mf_FitChannel *own = &fit->channels[i];
        printf("%-28s", own->name);
        put_error(own->before);
        put_error(own->after);
        put_error(own->predicted_after);
        put_error(own->noise);
        printf("  %s\n", own->unit);
    }
    for (uint32_t i = 0; i < fit->note_count; i++)
        printf("%snote: %s\n", i == 0 ? "\n" : "", fit->notes[i]);
    return mf_app_flush();
}

// ---- for programs ------------------------------------------------------------------------------

static bool print_json(const mf_Fit *fit) {
    bool printed = true;
    for (uint32_t i = 0; i < fit->parameter_count && printed; i++) {
        const mf_FitParameter *own = &fit->parameters[i];
        printed = mf_app_print(json_pack(
            "{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:b}", "parameter", own->name, "unit", own->unit,
            "model", mf_json_real(own->start), "value", mf_json_real(own->value), "interval",
            mf_json_real(own->interval), "lower", mf_json_real(own->lower), "upper",
            mf_json_real(own->upper), "identified", (int)own->identified));
    }
    for (uint32_t i = 0; i < fit->channel_count && printed; i++) {
        const mf_FitChannel *own = &fit->channels[i];
        printed = mf_app_print(json_pack(
            "{s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "channel", own->name, "unit",
            own->unit, "samples", (json_int_t)own->samples, "predicted_samples",
            (json_int_t)own->predicted, "noise", mf_json_real(own->noise), "model",
            mf_json_real(own->before), "fitted", mf_json_real(own->after), "predicted_model",
            mf_json_real(own->predicted_before), "predicted", mf_json_real(own->predicted_after)));
    }
    json_t *notes = json_array();
    for (uint32_t i = 0; notes != NULL && i < fit->note_count; i++)
        json_array_append_new(notes, json_string(fit->notes[i]));
    return printed && mf_app_print(json_pack("{s:b, s:s, s:o, s:o, s:I, s:o, s:o}", "done", 1,
                                             "model", fit->file, "delay", mf_json_real(fit->delay),
                                             "duration", mf_json_real(fit->duration), "simulations",
                                             (json_int_t)fit->simulations, "notes", notes, "hash",
                                             mf_app_hash(fit->hash)));
}

// ---- the command -------------------------------------------------------------------------------

// The column of times that --map names, as mf_log_open has it: "stamp=time*1e-9" is "stamp*1e-9".
static const char *find_time(const mf_OptionList *map, char out[MF_FIT_NAME]) {
    for (uint32_t i = 0; i < map->count; i++) {
        const char *equals = strchr(map->items[i], '=');
        if (equals != NULL && strncmp(equals, "=time", 5) == 0 &&
            (equals[5] == '\0' || equals[5] == '*')) {
            snprintf(out, MF_FIT_NAME, "%.*s%s", (int)(equals - map->items[i]), map->items[i],
                     equals + 5);
            return out;
        }
    }
    return NULL;
}

int mf_command_fit(int argc, char **argv) {
    Options options = {.inputs = {0}};
    int count, result = mf_options_parse(&mf_help_fit, &options, argc, argv, &count);
    if (result != MF_OPTIONS_GO_ON)
        return result;
    char time[MF_FIT_NAME], found[MF_APP_PATH];
    mf_FitConfig config = mf_fit_config();
    config.parameters = options.parameters;
    config.map = options.map.items;
    config.map_count = options.map.count;
    config.holdout = mf_option_real(options.holdout, config.holdout);
    config.population = (uint32_t)mf_option_count(options.population, config.population);
    config.generations = (uint32_t)mf_option_count(options.generations, config.generations);
    config.seed = mf_option_count(options.seed, config.seed);
    mf_Context *context = NULL;
    mf_Error error = {0};
    mf_SceneFile *file = NULL;
    mf_Log *log = NULL;
    mf_Fit *fit = NULL;
    mf_Status status = mf_inputs_context(&options.inputs, &context, &error);
    MF_THEN(status, mf_inputs_load(context, &options.inputs, "fit", argv[1], &file, &error));
    MF_THEN(status, mf_log_open(context, mf_app_find(argv[2], found), find_time(&options.map, time),
                                &log, &error));
    MF_THEN(status, mf_fit(context, file, log, &config, &fit, &error));
    if (status == MF_OK && options.out != NULL)
        status = mf_fit_write(fit, options.out, &error);
    if (status == MF_OK)
        result = (options.json ? print_json(fit) : print_page(fit)) ? MF_EXIT_DONE : MF_EXIT_FAILED;
    else
        result = mf_inputs_fail(&error);
    mf_fit_destroy(fit);
    mf_log_destroy(log);
    mf_scene_file_destroy(file);
    mf_context_destroy(context);
    return result;
}
