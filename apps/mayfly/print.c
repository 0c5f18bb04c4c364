// mayfly print: files to print a truss.
#include <mayfly/print.h>

#include "app.h"
#include "options.h"
#include "print_parts.h"

typedef struct Options {
    const char *stl, *mf3, *scale, *ball, *clearance, *opening;
    const char *body_diameter, *body_length, *rod_diameter, *rod_length, *stroke, *volume;
    bool json;
} Options;

static const mf_Option table[] = {
    MF_OPT_TEXT("stl", "FOLDER", Options, stl,
                "write an STL file of every part and of the assembled machine, and parts.csv and "
                "parts.json (default: parts)"),
    MF_OPT_OUTPUT("3mf", Options, mf3, ".3mf", "also write all parts as one 3MF file"),
    MF_OPT_REAL("scale", "N", Options, scale, 1e-3, 1e3,
                "scale of the truss; joints and actuators keep their size (default 1)"),
    MF_OPT_REAL("ball", "MM", Options, ball, 0.01, 1e4, "diameter of balls [mm] (default 8)"),
    MF_OPT_REAL("clearance", "MM", Options, clearance, 0.01, 1e4,
                "clearance between ball and socket [mm] (default 0.3)"),
    MF_OPT_REAL("opening", "DEGREES", Options, opening, 18, 85,
                "of a socket, from its axis to its edge (default 60)"),
    MF_OPT_REAL("body-diameter", "MM", Options, body_diameter, 0.01, 1e4,
                "of an actuator's body [mm] (default 12)"),
    MF_OPT_REAL("body-length", "MM", Options, body_length, 0.01, 1e4,
                "of an actuator's body [mm] (default 30)"),
    MF_OPT_REAL("rod-diameter", "MM", Options, rod_diameter, 0.01, 1e4,
                "of an actuator's rod [mm] (default 4)"),
    MF_OPT_REAL("rod-length", "MM", Options, rod_length, 0.01, 1e4,
                "of the rod outside of the body at its shortest [mm] (default 10)"),
    MF_OPT_REAL("stroke", "MM", Options, stroke, 0.01, 1e4, "of an actuator [mm] (default 20)"),
    MF_OPT_REAL("volume", "MM", Options, volume, 1, 1e4,
                "edge of the printer's build volume, a cube [mm] (default 200)"),
    MF_OPT_FLAG("json", Options, json, "print one JSON object"),
    MF_OPT_END};

const mf_CommandHelp mf_help_print = {
    .name = "print",
    .arguments = "TRUSS",
    .summary = "write the parts of a truss as files for a 3D printer",
    .text =
        "TRUSS is a file *.truss.yaml. Each bar becomes a part with a ball or a hub of sockets at\n"
        "its ends, each actuated bar two parts with seats for a bought linear actuator. Files are\n"
        "in millimeters. Bars that are too short for their joints, and parts that are larger than\n"
        "the build volume, are refused with the name of the bar and what would fit.\n\n"
        "--json prints: parts, files, actuators, mass [kg], material, tilt [rad].",
    .examples = "  mayfly print models/tetrahedron.truss.yaml --stl parts\n"
                "  mayfly print models/tetrahedron.truss.yaml --3mf machine.3mf --scale 1.1\n",
    .least = 1,
    .most = 1,
    .options = table};

static mf_PrintConfig config_of(const Options *o) {
    mf_PrintConfig config = mf_print_config();
    const struct {
        const char *text;
        double *value;
        double unit;
    } settings[] = {{o->scale, &config.scale, 1.0},
                    {o->ball, &config.ball_diameter, 1e-3},
                    {o->clearance, &config.clearance, 1e-3},
                    {o->opening, &config.opening, 3.14159265358979323846 / 180.0},
                    {o->body_diameter, &config.body_diameter, 1e-3},
                    {o->body_length, &config.body_length, 1e-3},
                    {o->rod_diameter, &config.rod_diameter, 1e-3},
                    {o->rod_length, &config.rod_length, 1e-3},
                    {o->stroke, &config.stroke, 1e-3},
                    {o->volume, &config.build_volume[0], 1e-3}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        *settings[i].value = settings[i].text == NULL
                                 ? *settings[i].value
                                 : mf_option_real(settings[i].text, 0.0) * settings[i].unit;
    config.build_volume[1] = config.build_volume[2] = config.build_volume[0];
    return config;
}

static bool report(const mf_Print *print, const mf_PrintFiles *files, bool json) {
    uint32_t shapes = 0;
    for (uint32_t i = 0; i < print->part_count; i++)
        shapes += print->parts[i].same_as == i;
    if (json)
        return mf_app_print(json_pack(
            "{s:I, s:I, s:I, s:f, s:s, s:f}", "parts", (json_int_t)print->part_count, "files",
            (json_int_t)shapes, "actuators", (json_int_t)print->actuator_count, "mass",
            print->material_mass, "material", print->material, "tilt", print->tilt));
    mf_print_parts_report(print, files);
    return mf_app_flush();
}

int mf_command_print(int argc, char **argv) {
    Options options = {.stl = NULL};
    int count;
    const int result = mf_options_parse(&mf_help_print, &options, argc, argv, &count);
    if (result != MF_OPTIONS_GO_ON)
        return result;
    mf_Error error = {0};
    mf_Context *context;
    if (mf_context_create(NULL, &context, &error) != MF_OK)
        return mf_app_fail(&error);
    char found[MF_APP_PATH];
    const mf_PrintFiles files = {options.stl == NULL ? "parts" : options.stl, options.mf3};
    const mf_PrintConfig config = config_of(&options);
    mf_Truss *truss = NULL;
    mf_Print *print = NULL;
    mf_Status status = mf_truss_load(context, mf_app_find(argv[1], found), &truss, &error);
    MF_THEN(status, mf_print_create(context, truss, &config, &print, &error));
    MF_THEN(status, mf_print_parts_save(print, &files, &error));
    const bool said = status == MF_OK && report(print, &files, options.json);
    mf_print_destroy(print);
    mf_truss_destroy(truss);
    mf_context_destroy(context);
    if (status != MF_OK)
        return mf_app_fail(&error);
    return said ? MF_EXIT_DONE : MF_EXIT_FAILED;
}
