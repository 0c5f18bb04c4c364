// mayfly info: the content of a file. Its kind is determined by content, and by name where content
// is ambiguous (YAML has no signature).
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <mayfly/camera.h>

#include "app.h"
#include "body/kind.h"
#include "info_world.h"
#include "inputs.h"
#include "io/model_json.h"
#include "image/image.h"
#include "import/foreign.h"
#include "options.h"
#include "recorded.h"
#include "run_folder.h"
#include "stored.h"
#include "notes.h"

typedef enum Kind {
    KIND_UNKNOWN,
    KIND_MODEL,
    KIND_SCENE,
    KIND_TERRAIN,
    KIND_ARCHIVE,
    KIND_RECORD
} Kind;

typedef struct Options {
    mf_Inputs inputs;
    const char *root, *motion, *mjcf;
    bool strict, unsupported, json, fields, schedule;
} Options;

static const mf_Option table[] = {
    MF_OPT_FLAG("strict", Options, strict,
                "fail, instead of printing a note, if an MJCF robot has unsupported physical "
                "elements or settings that the motion does not support"),
    MF_OPT_TEXT("root", "FOLDER", Options, root,
                "folder that a robot's meshes and includes may not leave by '..' (default: the "
                "package around it)"),
    MF_INPUT_BASE(Options, inputs),
    MF_OPT_FLAG("unsupported", Options, unsupported,
                "list only what is ignored or dropped of a robot's file"),
    MF_OPT_FLAG("json", Options, json,
                "print every number of a robot, truss or cloth as one JSON object"),
    MF_OPT_OUTPUT("mjcf", Options, mjcf, ".xml .mjcf",
                  "write an MJCF robot as one plain MJCF file instead"),
    MF_OPT_FLAG("fields", Options, fields,
                "list every field of a robot or scene with unit, frame, writers and "
                "readers, and the model's constants; with --json for programs"),
    MF_OPT_FLAG("schedule", Options, schedule,
                "list every system in the order of a step: rate, fields that it reads and writes, "
                "systems that may run in parallel"),
    MF_OPT_NAME("motion", "NAME", Options, motion, mf_level_name_at,
                "motion of a robot for its notes, --fields and --schedule: " MF_APP_LEVELS
                " (the default)"),
    MF_OPT_LIST("package", "NAME=PATH", Options, inputs.packages,
                "folder of package://NAME; may be given more than once"),
    MF_INPUT_SET(Options, inputs),
    MF_INPUT_PLUGINS(Options, inputs),
    MF_OPT_END};

const mf_CommandHelp mf_help_info = {
    .name = "info",
    .arguments = "FILE",
    .summary = "print what is in a robot, truss, cloth, vehicle, scene, ground, archive or "
               "recording",
    .text =
        "A robot (URDF, MJCF): its tree, masses, limits, sensors, and everything that was dropped\n"
        "or is suspicious. A truss (YAML): mass, size, rank and mechanisms, the bars that give "
        "way\n"
        "first, actuators and neurons. A cloth (YAML): mass, triangles, stiffness. A scene "
        "(YAML):\n"
        "its settings with every default, its groups, its schedule and its fields. A vehicle\n"
        "(YAML): its parameters and performance. Ground (PNG, PGM): size and heights. A run's\n"
        "folder or archive: settings and the progress of evolution. A recording (HDF5, MCAP):\n"
        "version, times, fields with units.",
    .examples = "  mayfly info models/hexapod.urdf\n"
                "  mayfly info --unsupported robot.xml\n"
                "  mayfly info --mjcf plain.xml robot.xml\n"
                "  mayfly info --fields models/hexapod.urdf --motion points\n"
                "  mayfly info --schedule scenes/swarm.yaml\n"
                "  mayfly info models/crazyflie.yaml\n"
                "  mayfly info models/tetrahedron.truss.yaml\n"
                "  mayfly info models/sheet.cloth.yaml\n"
                "  mayfly info runs/hexapod-1\n"
                "  mayfly info match.mcap\n",
    .least = 1,
    .most = 1,
    .options = table};

// ---- kinds of files ----------------------------------------------------------------------------

static Kind kind_of(const char *path, const char *head, size_t size) {
    if (size >= 16 && memcmp(head, "SQLite format 3", 16) == 0)
        return KIND_ARCHIVE;
    if (mf_recorded_begins(head, size) || mf_recorded_named(path))
        return KIND_RECORD;
    if (mf_app_ends_with(path, ".yaml") || mf_app_ends_with(path, ".yml"))
        return KIND_SCENE;
    if (mf_image_begins(head, size))
        return KIND_TERRAIN;
    size_t start = size >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (start < size && strchr(" \t\r\n", head[start]) != NULL && head[start] != '\0')
        start++;
    bool markup = start < size && head[start] == '<';
    return markup || mf_app_ends_with(path, ".urdf") ? KIND_MODEL : KIND_UNKNOWN;
}

static mf_Status find_kind(const char *path, Kind *kind, mf_Error *error) {
    char head[65] = {0};
    struct stat info;
    // Opening a pipe without a writer would block.
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return mf_fail_at(error, MF_BAD_FILE, path, 0, 0, "is not a regular file");
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return mf_fail_at(error, MF_IO, path, 0, 0, "cannot open it: %s", strerror(errno));
    size_t size = fread(head, 1, sizeof head - 1, file);
    bool failed = ferror(file) != 0;
    fclose(file);
    if (failed)
        return mf_fail_at(error, MF_IO, path, 0, 0, "cannot read it");
    *kind = kind_of(path, head, size);
    if (*kind == KIND_UNKNOWN && mf_foreign_check(path, head, size, error) != MF_OK)
        return MF_UNSUPPORTED;
    if (*kind == KIND_UNKNOWN && size > 1 && (unsigned char)head[0] >= 0xfe &&
        (unsigned char)head[1] >= 0xfe)
        return mf_fail_at(error, MF_BAD_FILE, path, 1, 1,
                          "expected UTF-8, found UTF-16: save the file as UTF-8");
    if (*kind == KIND_UNKNOWN)
        return mf_fail_at(error, MF_BAD_FILE, path, 0, 0,
                          "expected a URDF or MJCF robot, a YAML scene, a PNG or PGM ground, an "
                          "archive or a recording, found %s",
                          size == 0 ? "an empty file" : "none of them");
    return MF_OK;
}

// ---- robots ------------------------------------------------------------------------------------

// Whether only fields or the schedule are asked for.
static bool wants_part(const Options *options) {
    return options->fields || options->schedule;
}

static mf_Status show_parts(mf_World *world, const Options *options, mf_Error *error) {
    if (options->json)
        return mf_app_print(mf_info_world_json(world))
                   ? MF_OK
                   : mf_fail(error, MF_IO, "cannot write to the standard output");
    if (options->schedule)
        mf_info_schedule(world);
    if (options->schedule && options->fields)
        putchar('\n');
    if (options->fields)
        mf_info_fields(world);
    return MF_OK;
}

static void show_unsupported(const mf_Model *model) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->note_count; i++) {
        const mf_Note *note = &model->notes[i];
        if (!note->unsupported)
            continue;
        printf("%s:%d: %s\n", note->file[0] != '\0' ? note->file : model->file, (int)note->line,
               note->text);
        count++;
    }
    if (count == 0)
        printf("%s: everything in it is supported\n", model->file);
}

// The device that would render its cameras.
static mf_Status show_device(const mf_Model *model, mf_Error *error) {
    mf_Isa isa;
    if (model->camera_count == 0)
        return MF_OK;
    MF_TRY(mf_isa_detect(&isa, error));
    printf("\n  pictures           %s\n", mf_cameras_device(isa));
    return MF_OK;
}

static mf_Status show_text(mf_Context *context, const mf_Model *model, mf_Error *error) {
    char *text = NULL;
    MF_TRY(mf_model_describe(model, &text, error));
    fputs(text, stdout);
    mf_release(context, text);
    return show_device(model, error);
}

static mf_Motion chosen_motion(const Options *options) {
    mf_Motion motion = MF_MOTION_ARTICULATED;
    if (options->motion != NULL)
        mf_motion_find(options->motion, &motion);
    return motion;
}

typedef mf_Status (*UseFn)(mf_Scene *scene, const Options *options, mf_Error *error);

// One robot in the world that mayfly run would build.
static mf_Status with_robot(mf_Context *context, const mf_Model *model, const Options *options,
                            UseFn use, mf_Error *error) {
    mf_SceneFile *file;
    mf_Scene scene = {0};
    mf_SceneConfig config = mf_scene_config();
    config.motion = chosen_motion(options);
    MF_TRY(mf_scene_file_of_model(context, model, NULL, 0, &file, error));
    mf_Status status = mf_scene_create(context, file, &config, &scene, error);
    MF_THEN(status, use(&scene, options, error));
    mf_scene_destroy(&scene);
    mf_scene_file_destroy(file);
    return status;
}

// --strict: the motion follows every setting of the file.
static mf_Status refuse_settings(mf_Scene *scene, const Options *options, mf_Error *error) {
    (void)options;
    return mf_start_report_refuse(scene, error);
}

static mf_Status show_robot_parts(mf_Scene *scene, const Options *options, mf_Error *error) {
    return show_parts(scene->world, options, error);
}

static mf_Status print_start(mf_Scene *scene, const Options *options, mf_Error *error) {
    mf_StartReport report = {.count = 0};
    (void)options;
    (void)error;
    mf_start_report_pose(scene, 0, &report);
    mf_start_report_settings(scene, scene->group, &report);
    mf_start_report_print(&report);
    return MF_OK;
}

static mf_Status show_json(const mf_Model *model, mf_Motion motion, mf_Error *error) {
    char *text = mf_model_json(model, motion);
    if (text == NULL)
        return mf_fail(error, MF_NO_MEMORY, "model '%.200s': no memory", model->name);
    puts(text);
    free(text);
    return MF_OK;
}

static mf_Status show_whole(mf_Context *context, const mf_Model *model, const Options *options,
                            mf_Error *error) {
    if (options->json)
        return show_json(model, chosen_motion(options), error);
    mf_Error reason = {0};
    const mf_Status status = show_text(context, model, error);
    if (status == MF_OK && with_robot(context, model, options, print_start, &reason) != MF_OK)
        printf("note: mayfly run rejects it: %s\n", reason.message);
    return status;
}

static mf_Status show_model(mf_Context *context, const Options *options, const char *path,
                            mf_Error *error) {
    mf_ImportConfig config = mf_import_config();
    config.lenient = !options->strict;
    config.root = options->root;
    if (options->inputs.base != NULL)
        config.base =
            strcmp(options->inputs.base, "fixed") == 0 ? MF_IMPORT_BASE_FIXED : MF_IMPORT_BASE_FREE;
    config.packages = options->inputs.packages.items;
    config.package_count = options->inputs.packages.count;
    mf_Model *model;
    MF_TRY(mf_model_load(context, path, &config, &model, error));
    mf_Status status =
        options->strict ? with_robot(context, model, options, refuse_settings, error) : MF_OK;
    if (status == MF_OK && options->mjcf != NULL)
        status = mf_model_export_mjcf(model, options->mjcf, error);
    else if (status == MF_OK && options->unsupported)
        show_unsupported(model);
    else if (status == MF_OK && wants_part(options))
        status = with_robot(context, model, options, show_robot_parts, error);
    else if (status == MF_OK)
        status = show_whole(context, model, options, error);
    mf_model_destroy(model);
    return status;
}

// ---- scenes ------------------------------------------------------------------------------------

static void show_ground(const mf_Terrain *terrain) {
    printf("%u x %u cells of %g m: x %g .. %g m, y %g .. %g m, heights %g .. %g m, %s\n",
           terrain->columns, terrain->rows, terrain->cell, terrain->origin[0],
           terrain->origin[0] + terrain->columns * terrain->cell, terrain->origin[1],
           terrain->origin[1] + terrain->rows * terrain->cell, terrain->lowest, terrain->highest,
           terrain->interpolation == MF_BILINEAR ? "bilinear" : "nearest cell");
}

static void show_groups(const mf_Scene *scene) {
    for (uint32_t i = 0; i < scene->group_count; i++) {
        const mf_SceneGroup *from = &scene->file->groups[i];
        const mf_Model *model = scene->models[i];
        printf("group %s: %u x ", from->name, from->count);
        const mf_Vehicle *vehicle = mf_group_vehicle(from);
        if (vehicle != NULL)
            printf("%s (a %s, %.6g kg)\n", vehicle->name, mf_vehicle_kind_name(vehicle->kind),
                   model->mass);
        else if (from->controller == MF_CONTROLLER_MACHINE)
            printf("machines that evolve %s%s\n",
                   from->model_path != NULL ? "from " : "from nothing",
                   from->model_path != NULL ? from->model_path : "");
        else
            printf("%s, %u links, %u joints, %u points, %u sensors, %.6g kg, %u note%s "
                   "(mayfly info %s)\n",
                   model->name, model->link_count, model->joint_count, model->point_count,
                   model->sensor_count, model->mass, model->note_count,
                   model->note_count == 1 ? "" : "s", from->model_path);
    }
}

static mf_Status show_settings(mf_Context *context, const mf_Scene *scene, mf_Error *error) {
    char *text;
    MF_TRY(mf_scene_file_write(scene->file, &text, error));
    printf("%s\nstep: %g ms\nground: ", text, 1e3 * mf_time_to_seconds(scene->step));
    mf_release(context, text);
    show_ground(mf_world_config_of(scene->world)->terrain);
    show_groups(scene);
    MF_TRY(mf_info_cameras(scene, error));
    putchar('\n');
    mf_info_schedule(scene->world);
    puts("\nmayfly info --fields lists its fields and constants");
    return MF_OK;
}

static mf_Status show_scene(mf_Context *context, const Options *options, const char *path,
                            mf_Error *error) {
    mf_SceneFile *file = NULL;
    mf_Scene scene = {0};
    mf_Status status = mf_inputs_load(context, &options->inputs, "info", path, &file, error);
    MF_THEN(status, mf_scene_create(context, file, NULL, &scene, error));
    if (status == MF_OK)
        status = wants_part(options) ? show_parts(scene.world, options, error)
                                     : show_settings(context, &scene, error);
    mf_scene_destroy(&scene);
    mf_scene_file_destroy(file);
    return status;
}

static mf_Status show_body(mf_Context *context, const mf_BodyKind *kind, const char *path,
                           bool json, mf_Error *error) {
    mf_Text text = mf_text_begin(context);
    json_t *object = NULL;
    void *body = NULL;
    mf_Status status = mf_body_load(context, kind, path, &body, error);
    if (status == MF_OK)
        status = kind->describe(context, body, path, json ? NULL : &text, &object, error);
    if (status == MF_OK && json && !mf_app_print(object))
        status = mf_fail(error, MF_IO, "cannot write to the standard output");
    if (status == MF_OK && text.failed)
        status = mf_fail(error, MF_NO_MEMORY, "%s: out of memory", kind->name);
    if (status == MF_OK && !json)
        fputs(text.data, stdout);
    mf_text_free(&text);
    mf_body_destroy(body);
    return status;
}

// ---- ground ------------------------------------------------------------------------------------

static mf_Status show_terrain(mf_Context *context, const char *path, mf_Error *error) {
    mf_TerrainConfig config = mf_terrain_config();
    mf_Terrain *terrain;
    MF_TRY(mf_terrain_load(context, path, &config, 1.0, 0.0, &terrain, error));
    show_ground(terrain);
    puts("(cells of 0.1 m, black at 0 m and white at 1 m; ground.cell, ground.scale and "
         "ground.offset change that)");
    mf_terrain_destroy(terrain);
    return MF_OK;
}

// ---- archives ----------------------------------------------------------------------------------

static void show_run(const char *path, const mf_ArchiveRun *run) {
    char lifetime[MF_APP_NUMBER], time[MF_APP_NUMBER], speed[MF_APP_NUMBER];
    printf(
        "%s, written by version %s\npopulation %u, survivors %u, genomes of %u bytes, seed %llu, "
        "mutation rate %g\n%u generations: %s simulated in %s, %s x real time\nrobot %016llx, "
        "ground %016llx\n\n%s\n",
        path, run->version, run->search.population, run->search.survivors, run->search.genome_bytes,
        (unsigned long long)run->search.seed, run->search.mutation_rate, run->generations,
        mf_app_duration(run->simulated, lifetime), mf_app_duration(run->seconds, time),
        mf_app_count(run->seconds > 0.0 ? run->simulated / run->seconds : 0.0, speed),
        (unsigned long long)run->model_hash, (unsigned long long)run->terrain_hash, run->settings);
}

// About ten rows, including the first and the last.
static void show_course(const mf_ArchiveGeneration *rows, uint32_t count) {
    puts("generation       best       mean  wall time");
    uint32_t stride = count > 10 ? (count + 9) / 10 : 1;
    for (uint32_t i = 0; i < count; i++) {
        char time[MF_APP_NUMBER];
        if (i % stride == 0 || i + 1 == count)
            printf("%10u %10.4g %10.4g  %s\n", rows[i].generation, rows[i].best, rows[i].mean,
                   mf_app_duration(rows[i].seconds, time));
    }
}

static mf_Status show_archive(mf_Context *context, const char *path, mf_Error *error) {
    mf_Archive *archive;
    mf_ArchiveRun run;
    mf_ArchiveGeneration *rows = NULL;
    uint32_t count;
    MF_TRY(mf_archive_open(context, path, false, &archive, error));
    mf_Status status = mf_archive_run(archive, &run, error);
    MF_THEN(status, mf_archive_generations(archive, &rows, &count, error));
    if (status == MF_OK) {
        show_run(path, &run);
        show_course(rows, count);
    }
    mf_release(context, rows);
    mf_archive_close(archive);
    return status;
}

// ---- the command -------------------------------------------------------------------------------

// Options that contradict each other, for any file.
static mf_Status check_options(const Options *options, mf_Error *error) {
    if ((options->mjcf != NULL) + options->unsupported + wants_part(options) > 1)
        return mf_app_refuse(
            "info", "--mjcf, --unsupported and --fields or --schedule exclude each other", error);
    if (options->json && (options->mjcf != NULL || options->unsupported))
        return mf_app_refuse("info", "--json has no effect with --mjcf and --unsupported", error);
    return MF_OK;
}

// Options without effect for the kind of file.
static mf_Status check_kind(const Options *options, bool robot, bool world, mf_Error *error) {
    if (robot && options->inputs.settings.count > 0)
        return mf_app_refuse("info", "--set changes scenes; this is a robot", error);
    if (!robot &&
        (options->strict || options->unsupported || options->root != NULL ||
         options->inputs.base != NULL || options->motion != NULL || options->mjcf != NULL))
        return mf_app_refuse(
            "info",
            "--strict, --root, --base, --unsupported, --mjcf and --motion are for a "
            "robot's own file",
            error);
    if (!robot && !world &&
        (wants_part(options) || options->inputs.settings.count > 0 ||
         options->inputs.packages.count > 0))
        return mf_app_refuse(
            "info", "--fields, --schedule, --set and --package are for robots, vehicles and scenes",
            error);
    return MF_OK;
}

// Refuses --json for what has no JSON form.
static mf_Status check_json(const Options *options, mf_Error *error) {
    return options->json && !wants_part(options)
               ? mf_app_refuse("info",
                               "--json requires --fields or --schedule for a file of this kind",
                               error)
               : MF_OK;
}

static mf_Status show_yaml(mf_Context *context, const Options *options, const char *path,
                           mf_Error *error) {
    char *text;
    size_t size;
    MF_TRY(mf_file_read(context, path, (size_t)64 << 20, &text, &size, error));
    const mf_BodyKind *kind = mf_body_kind_of(text, size);
    const bool scene = kind == NULL || kind->alone;
    const bool whole = options->inputs.settings.count == 0 && !wants_part(options);
    const bool described = kind != NULL && (whole || !scene);
    mf_release(context, text);
    MF_TRY(check_kind(options, false, scene, error));
    if (!(described && kind->packs))
        MF_TRY(check_json(options, error));
    return described ? show_body(context, kind, path, options->json, error)
                     : show_scene(context, options, path, error);
}

static mf_Status show(mf_Context *context, const Options *options, const char *name,
                      mf_Error *error) {
    char path[MF_APP_PATH], inner[MF_APP_PATH];
    struct stat info;
    Kind kind = KIND_UNKNOWN;
    mf_app_find(name, path);
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        if (!mf_stored_is(path))
            return mf_fail_at(error, MF_BAD_FILE, path, 0, 0,
                              "is a folder, and not that of an evolution run; need a file");
        MF_TRY(mf_folder_path(path, "archive.sqlite", inner, error));
        MF_TRY(check_kind(options, false, false, error));
        MF_TRY(check_json(options, error));
        return show_archive(context, inner, error);
    }
    MF_TRY(find_kind(path, &kind, error));
    if (kind != KIND_SCENE)
        MF_TRY(check_kind(options, kind == KIND_MODEL, false, error));
    if (kind == KIND_RECORD && wants_part(options))
        return mf_app_refuse("info",
                             "--fields and --schedule are for robots and scenes; a recording's "
                             "fields are always listed",
                             error);
    if (kind == KIND_TERRAIN || kind == KIND_ARCHIVE)
        MF_TRY(check_json(options, error));
    switch (kind) {
    case KIND_RECORD:
        return mf_recorded_info(context, path, options->json, error);
    case KIND_MODEL:
        return show_model(context, options, path, error);
    case KIND_SCENE:
        return show_yaml(context, options, path, error);
    case KIND_TERRAIN:
        return show_terrain(context, path, error);
    default:
        return show_archive(context, path, error);
    }
}

int mf_command_info(int argc, char **argv) {
    Options options = {.inputs = {0}};
    int count, result = mf_options_parse(&mf_help_info, &options, argc, argv, &count);
    if (result != MF_OPTIONS_GO_ON)
        return result;
    mf_Context *context = NULL;
    mf_Error error = {0};
    mf_Status status = mf_inputs_context(&options.inputs, &context, &error);
    MF_THEN(status, check_options(&options, &error));
    MF_THEN(status, show(context, &options, argv[1], &error));
    mf_context_destroy(context);
    if (status != MF_OK)
        return mf_inputs_fail(&error);
    return mf_app_flush() ? MF_EXIT_DONE : MF_EXIT_FAILED;
}
