// mayfly compare: one robot and one gait at every level of physics, as a table and as a page.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "inputs.h"
#include "options.h"
#include "body/compare.h"

typedef struct Options {
    mf_Inputs inputs;
    const char *levels, *cost, *friction, *plot;
    bool no_cost, json;
} Options;

static const mf_Option table[] = {
    MF_INPUT_GAIT(Options, inputs),
    MF_INPUT_DURATION(Options, inputs),
    MF_OPT_NAMES("levels", "a,b", Options, levels, mf_compared_name_at,
                 "only these levels (default: all)"),
    MF_INPUT_STEP(Options, inputs),
    MF_OPT_TEXT("key", "NAME", Options, inputs.key,
                "initial keyframe of the robot (default: the first of its file)"),
    MF_OPT_REAL("friction", "MU", Options, friction, 0, 100,
                "friction coefficient of the ground (default: that of the model)"),
    MF_INPUT_SEED(Options, inputs),
    MF_INPUT_GROUND(Options, inputs),
    MF_OPT_COUNT("robots", "N", Options, cost, 1, 1 << 20,
                 "robots in a batch when the cost is measured (default 256)"),
    MF_OPT_FLAG("no-cost", Options, no_cost, "do not measure the cost"),
    MF_OPT_OUTPUT("plot", Options, plot, ".html",
                  "write a page with table and plots (.html), and beside it the "
                  "film of each level, which it links"),
    MF_INPUT_THREADS(Options, inputs),
    MF_INPUT_IMPORT(Options, inputs),
    MF_INPUT_SET(Options, inputs),
    MF_INPUT_PLUGINS(Options, inputs),
    MF_OPT_FLAG("json", Options, json, "print JSON, one object per level"),
    MF_OPT_END};

const mf_CommandHelp mf_help_compare = {
    .name = "compare",
    .arguments = "FILE",
    .summary = "run a gait at every level of physics: errors and costs",
    .text =
        "Runs a robot's file (URDF or MJCF), or a scene of one group, at every level - kinematic,\n"
        "points, rigid, prescribed, articulated - from the same initial state, as mayfly run\n"
        "does. For each level it prints the displacement, the root mean square difference to the\n"
        "level of highest fidelity in position, heading, height, tilt and energy, the cost of a\n"
        "step of one robot in a batch, and the features that the level does not model. A truss is\n"
        "run quasistatic and elastic, with its neurons or oscillators, or else with a sine that\n"
        "drives its actuators through their ranges. Gaits are\n"
        "files in gaits/<robot>/ next to the robot's file, or paths. --json prints one object per\n"
        "level and a last one with done, reference and hash.",
    .examples = "  mayfly compare models/humanoid.urdf --gait walk --command 0.1,0,0\n"
                "  mayfly compare models/hexapod.urdf --gait tripod --plot tripod.html\n"
                "  mayfly compare models/quadruped.urdf --gait trot --levels rigid,articulated\n"
                "  mayfly compare models/tetrahedron.truss.yaml --duration 5\n",
    .least = 1,
    .most = 1,
    .options = table};

// Checked names, separated by commas.
static void read_levels(const char *text, bool requested[MF_MOTION_COUNT]) {
    if (text == NULL)
        return;
    for (int i = 0; i < MF_MOTION_COUNT; i++) {
        const char *name = mf_motion_name((mf_Motion)i), *at = text;
        const size_t length = strlen(name);
        requested[i] = false;
        for (; at != NULL && !requested[i];
             at = strchr(at, ',') == NULL ? NULL : strchr(at, ',') + 1)
            requested[i] = strcspn(at, ",") == length && strncmp(at, name, length) == 0;
    }
}

// ---- for people --------------------------------------------------------------------------------

static void put(double value, double scale, int width, int decimals) {
    if (isfinite(value))
        printf(" %*.*f", width, decimals, value * scale);
    else
        printf(" %*s", width, "-");
}

static void print_row(const mf_CompareRow *row) {
    printf("%-12s", mf_motion_name(row->motion));
    if (!row->possible) {
        printf(" cannot: %s\n", row->reason);
        return;
    }
    put(row->forward, 1.0, 8, 3);
    put(row->heading_change, 1.0, 8, 3);
    put(row->position_error, 1.0, 8, 3);
    put(row->heading_error, 1.0, 8, 3);
    put(row->height_error, 1e3, 8, 2);
    put(row->tilt_error, 1.0, 8, 4);
    put(row->energy_error, 1.0, 8, 3);
    put(row->penetration, 1e3, 7, 2);
    put(row->slip, 1e3, 7, 1);
    put(row->seconds, 1e9, 8, 0);
    if (!row->finished)
        printf("  fault %u\n", row->fault);
    else if (isfinite(row->fell))
        printf("  fell at %.2f s\n", row->fell);
    else
        printf("  stays up\n");
}

static void print_body(const mf_CompareRow *row) {
    printf("%-12s", mf_motion_name(row->motion));
    put(row->forward, 1.0, 8, 4);
    put(row->position_error, 1e3, 8, 2);
    put(row->height_error, 1e3, 8, 2);
    put(row->vertex_error, 1e3, 8, 2);
    put(row->energy_error, 1.0, 8, 4);
    put(row->force, 1.0, 8, 2);
    put(row->penetration, 1e3, 7, 2);
    put(row->slip, 1e3, 7, 1);
    put(row->step, 1e3, 6, 1);
    put(row->seconds / row->step, 1e6, 8, 0);
    if (!row->finished)
        printf("  fault %u", row->fault);
    for (uint32_t kind = 0; kind < MF_WARNING_KINDS; kind++)
        if ((row->warnings & UINT32_C(1) << kind) != 0)
            printf("  %s", mf_warning_name(UINT32_C(1) << kind));
    printf("\n");
}

static void print_bodies(const mf_Comparison *all) {
    char cost[80] = "not measured";
    if (all->cost_robots > 0)
        snprintf(cost, sizeof cost, "one second of one %s, in a batch of %u, %s", all->body,
                 all->cost_robots, mf_isa_name(all->isa));
    printf("%s, %s, for %g s\n"
           "errors: root mean square against %s, of vertices the largest at the end; cost: %s\n"
           "%-12s %8s %8s %8s %8s %8s %8s %7s %7s %6s %8s\n"
           "%-12s %8s %8s %8s %8s %8s %8s %7s %7s %6s %8s\n",
           all->model, all->drive, all->duration, mf_motion_name(all->reference), cost, "",
           "forward", "position", "height", "vertices", "energy", "bar", "deepest", "slip", "step",
           "cost", "level", "m", "mm", "mm", "mm", "J", "N", "mm", "mm/s", "ms", "us");
    for (int i = 0; i < MF_MOTION_COUNT; i++)
        if (all->rows[i].possible)
            print_body(&all->rows[i]);
}

static void print_levels(const mf_Comparison *all) {
    char cost[80] = "not measured";
    if (all->cost_robots > 0)
        snprintf(cost, sizeof cost, "one step of one robot, in a batch of %u", all->cost_robots);
    printf("%s, %s, command %g m/s forward, %g m/s left, %g rad/s, for %g s\n"
           "errors: root mean square against %s; cost: %s, %s\n"
           "%-12s %8s %8s %8s %8s %8s %8s %8s %7s %7s %8s\n"
           "%-12s %8s %8s %8s %8s %8s %8s %8s %7s %7s %8s\n",
           all->model, all->gait, all->command[0], all->command[1], all->command[2], all->duration,
           mf_motion_name(all->reference), cost, mf_isa_name(all->isa), "", "forward", "yaw",
           "position", "heading", "height", "tilt", "energy", "deepest", "slip", "cost", "level",
           "m", "rad", "m", "rad", "mm", "rad", "J", "mm", "mm/s", "ns");
    for (int i = 0; i < MF_MOTION_COUNT; i++)
        if (all->rows[i].possible || all->rows[i].reason[0] != '\0')
            print_row(&all->rows[i]);
}

static bool print_page(const mf_Comparison *all) {
    for (uint32_t i = 0; i < all->note_count; i++)
        printf("note: %s\n", all->notes[i]);
    if (all->body != NULL)
        print_bodies(all);
    else
        print_levels(all);
    puts("\nnot modeled");
    for (int i = 0; i < MF_MOTION_COUNT; i++)
        if (all->rows[i].possible)
            printf("  %-12s %s\n", mf_motion_name(all->rows[i].motion),
                   mf_motion_limitation(all->rows[i].motion));
    return mf_app_flush();
}

// ---- for programs ------------------------------------------------------------------------------

static json_t *pack_body(const mf_CompareRow *row) {
    return json_pack(
        "{s:s, s:b, s:b, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "motion", mf_motion_name(row->motion), "possible", 1, "finished", (int)row->finished,
        "fault", (json_int_t)row->fault, "warnings", (json_int_t)row->warnings, "distance",
        mf_json_real(row->distance), "forward", mf_json_real(row->forward), "height",
        mf_json_real(row->height), "penetration", mf_json_real(row->penetration), "slip",
        mf_json_real(row->slip), "bar_force", mf_json_real(row->force), "position_error",
        mf_json_real(row->position_error), "height_error", mf_json_real(row->height_error),
        "vertex_error", mf_json_real(row->vertex_error), "energy_error",
        mf_json_real(row->energy_error), "step", mf_json_real(row->step), "seconds_per_step",
        mf_json_real(row->seconds));
}

static json_t *pack_row(const mf_CompareRow *row) {
    if (row->vertices != NULL)
        return pack_body(row);
    if (!row->possible)
        return json_pack("{s:s, s:b, s:s}", "motion", mf_motion_name(row->motion), "possible", 0,
                         "reason", row->reason);
    return json_pack(
        "{s:s, s:b, s:b, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o}",
        "motion", mf_motion_name(row->motion), "possible", 1, "finished", (int)row->finished,
        "fault", (json_int_t)row->fault, "fell", mf_json_real(row->fell), "distance",
        mf_json_real(row->distance), "forward", mf_json_real(row->forward), "turned",
        mf_json_real(row->heading_change), "height", mf_json_real(row->height), "tilt",
        mf_json_real(row->tilt), "penetration", mf_json_real(row->penetration), "slip",
        mf_json_real(row->slip), "position_error", mf_json_real(row->position_error),
        "heading_error", mf_json_real(row->heading_error), "height_error",
        mf_json_real(row->height_error), "tilt_error", mf_json_real(row->tilt_error),
        "energy_error", mf_json_real(row->energy_error), "seconds_per_step",
        mf_json_real(row->seconds));
}

static json_t *pack_notes(const mf_Comparison *all) {
    json_t *list = json_array();
    for (uint32_t i = 0; list != NULL && i < all->note_count; i++)
        json_array_append_new(list, json_string(all->notes[i]));
    return list;
}

static bool print_json(const mf_Comparison *all) {
    bool printed = true;
    for (int i = 0; i < MF_MOTION_COUNT && printed; i++)
        if (all->rows[i].possible || all->rows[i].reason[0] != '\0')
            printed = mf_app_print(pack_row(&all->rows[i]));
    return printed &&
           mf_app_print(json_pack("{s:b, s:s, s:s, s:s, s:o, s:o}", "done", 1, "model", all->model,
                                  "gait", all->gait, "reference", mf_motion_name(all->reference),
                                  "simulated_seconds", mf_json_real(all->duration), "notes",
                                  pack_notes(all)));
}

// ---- the comparison ----------------------------------------------------------------------------

static int report(const Options *options, const mf_Comparison *all) {
    mf_Error error = {0};
    bool printed = options->json ? print_json(all) : print_page(all);
    if (options->plot != NULL && mf_comparison_write(all, options->plot, &error) != MF_OK)
        return mf_app_fail(&error);
    return printed ? MF_EXIT_DONE : MF_EXIT_FAILED;
}

// --friction is also a key of the scene.
static void add_friction(Options *options, char text[64]) {
    mf_OptionList *settings = &options->inputs.settings;
    if (options->friction == NULL || settings->count == MF_OPTION_ITEMS)
        return;
    snprintf(text, 64, "group.contact.friction=%.40s", options->friction);
    settings->items[settings->count++] = text;
}

int mf_command_compare(int argc, char **argv) {
    Options options = {.inputs = {0}};
    char friction[64];
    int count, result = mf_options_parse(&mf_help_compare, &options, argc, argv, &count);
    if (result != MF_OPTIONS_GO_ON)
        return result;
    mf_CompareConfig config = mf_compare_config();
    if (options.no_cost && options.cost != NULL)
        return mf_app_usage("compare",
                            "--robots is for the cost, which --no-cost does not measure");
    add_friction(&options, friction);
    read_levels(options.levels, config.selected);
    config.films = options.plot;
    config.cost_robots = options.no_cost ? 0 : (uint32_t)mf_option_count(options.cost, 256);
    mf_Context *context = NULL;
    mf_Error error = {0};
    mf_SceneFile *file = NULL;
    mf_Comparison *all = NULL;
    mf_Status status = mf_inputs_context(&options.inputs, &context, &error);
    MF_THEN(status, mf_inputs_load(context, &options.inputs, "compare", argv[1], &file, &error));
    MF_THEN(status, mf_compare(context, file, &config, &all, &error));
    result = status == MF_OK ? report(&options, all) : mf_inputs_fail(&error);
    mf_comparison_destroy(all);
    mf_scene_file_destroy(file);
    mf_context_destroy(context);
    return result;
}
