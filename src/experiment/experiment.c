// Experiments: a YAML file read into a structure. The order is: parse into a tree that knows lines
// and columns, apply overrides to the tree, refuse unknown keys, read every key of the table (its
// default where the file is silent), then check what one key says about another. Either a whole
// experiment comes out or nothing.
#include <mayfly/experiment.h>
#include <mayfly/swarm.h>

#include "experiment/decimal.h"
#include "experiment/reader.h"

#include <string.h>

// ---- relations between keys --------------------------------------------------------------------

static mf_Experiment *experiment_of(const mf_Reader *reader) {
    return reader->base;
}

static mf_Status check_survivors(const mf_Reader *reader) {
    const mf_SearchConfig *search = &experiment_of(reader)->search;
    if (search->survivors < search->population)
        return MF_OK;
    return mf_yaml_fail(reader->tree,
                        mf_reader_blame(reader, "search.survivors", "search.population"), false,
                        MF_BAD_FILE, reader->error,
                        "search.survivors: expected fewer than search.population = %u, found %u",
                        search->population, search->survivors);
}

static mf_Status check_verify(const mf_Reader *reader) {
    const mf_Experiment *experiment = experiment_of(reader);
    const mf_VerifyConfig *verify = &experiment->verify;
    if (verify->motion == MF_VERIFY_NONE || verify->best <= experiment->search.population)
        return MF_OK;
    return mf_yaml_fail(reader->tree, mf_reader_blame(reader, "verify.best", "search.population"),
                        false, MF_BAD_FILE, reader->error,
                        "verify.best: expected at most search.population = %u, found %u",
                        experiment->search.population, verify->best);
}

static mf_Status check_intervals(const mf_Reader *reader) {
    const mf_Experiment *experiment = experiment_of(reader);
    char step[MF_DECIMAL_TEXT], found[MF_DECIMAL_TEXT];
    mf_decimal_write_time(experiment->step, step);
    if (experiment->points.joint_interval % experiment->step != 0)
        return mf_yaml_fail(
            reader->tree, mf_reader_blame(reader, "motion.points.joint_interval", "world.step"),
            false, MF_BAD_FILE, reader->error,
            "motion.points.joint_interval: expected a multiple of world.step = %s s, found %s s",
            step, mf_decimal_write_time(experiment->points.joint_interval, found));
    if (experiment->controller == MF_CONTROLLER_NONE)
        return MF_OK;
    bool gp = experiment->controller == MF_CONTROLLER_GP;
    bool plugin = experiment->controller == MF_CONTROLLER_PLUGIN;
    const char *path = gp       ? "controller.gp.tick"
                       : plugin ? "controller.plugin.tick"
                                : "controller.oscillator.tick";
    mf_Time tick = mf_key_period(gp       ? experiment->gp.rate
                                 : plugin ? experiment->plugin_rate
                                          : experiment->oscillator.rate);
    if (tick >= experiment->step && tick % experiment->step == 0)
        return MF_OK;
    return mf_yaml_fail(reader->tree, mf_reader_blame(reader, path, "world.step"), false,
                        MF_BAD_FILE, reader->error,
                        tick < experiment->step
                            ? "%s: expected at least world.step = %s s, found %s s"
                            : "%s: expected a multiple of world.step = %s s, found %s s",
                        path, step, mf_decimal_write_time(tick, found));
}

mf_Status mf_reader_check_ground(const mf_Reader *reader, bool image,
                                 const mf_TerrainGenerator *generator) {
    uint32_t wrong = image ? MF_KEY_SHAPE : MF_KEY_IMAGE;
    for (uint32_t i = 0; i < reader->table->count; i++) {
        const mf_Key *key = &reader->table->keys[i];
        const mf_YamlNode *node = key->flags & wrong ? mf_reader_find(reader, key->path) : NULL;
        if (node != NULL) // it would be ignored, so it is refused
            return mf_yaml_fail(reader->tree, node, true, MF_BAD_FILE, reader->error,
                                image ? "%s: not used with terrain.file"
                                      : "%s: only used with terrain.file, which is not given",
                                key->path);
    }
    const double quarter_turn = 1.5707963267948966;
    double slope = generator->amplitude;
    if (image || generator->shape != MF_TERRAIN_SLOPE ||
        (slope > -quarter_turn && slope < quarter_turn))
        return MF_OK;
    char found[MF_DECIMAL_TEXT];
    return mf_yaml_fail(reader->tree, mf_reader_blame(reader, "terrain.amplitude", "terrain.shape"),
                        false, MF_BAD_FILE, reader->error,
                        "terrain.amplitude: expected a slope between -pi/2 and pi/2 rad, found %s",
                        mf_decimal_write(slope, found));
}

// Where complaints about initial values point at; what they name is known with the robot.
static void note_initial(const mf_Reader *reader) {
    mf_Experiment *experiment = experiment_of(reader);
    const mf_YamlNode *list = mf_reader_find(reader, "initial");
    const mf_YamlNode *node = list != NULL ? list->first : NULL;
    for (uint32_t i = 0; i < experiment->initial_count && node != NULL; i++, node = node->next) {
        bool typed = node->override != NULL;
        experiment->initial[i].line = typed ? 0 : node->line;
        experiment->initial[i].column = typed ? 0 : node->column;
    }
}

static mf_Status check_relations(const mf_Reader *reader) {
    mf_Status status = check_survivors(reader);
    if (status == MF_OK)
        status = check_verify(reader);
    if (status == MF_OK)
        status = check_intervals(reader);
    if (status == MF_OK)
        status = mf_reader_check_ground(reader, experiment_of(reader)->terrain_path != NULL,
                                        &experiment_of(reader)->generator);
    return status;
}

// ---- reading -----------------------------------------------------------------------------------

static const char *keep(mf_Reader *reader, const char *text, size_t length) {
    char *copy = mf_reader_allocate(reader, length + 1);
    if (copy != NULL)
        memcpy(copy, text, length);
    return copy;
}

mf_Status mf_reader_take_file_name(mf_Reader *reader, const char **path, const char **title) {
    const char *file = reader->tree->file, *slash = strrchr(file, '/');
    *path = keep(reader, file, strlen(file));
    if (*path == NULL)
        return MF_NO_MEMORY;
    if ((*title)[0] != '\0')
        return MF_OK;
    const char *name = slash == NULL ? file : slash + 1;
    const char *dot = strrchr(name, '.');
    *title = keep(reader, name, dot == NULL || dot == name ? strlen(name) : (size_t)(dot - name));
    return *title == NULL ? MF_NO_MEMORY : MF_OK;
}

// Names what the file is instead, and what it is good for.
static mf_Status refuse_others(const mf_Reader *reader, const mf_YamlNode *root) {
    const mf_YamlNode *swarm = mf_yaml_find(root, "groups", 6);
    if (swarm != NULL)
        return mf_yaml_fail(reader->tree, swarm, true, MF_UNSUPPORTED, reader->error,
                            "groups: this is a swarm, not an experiment; mayfly run simulates it");
    for (int i = 0; i <= MF_VEHICLE_CAR; i++) {
        const char *kind = mf_vehicle_kind_name((mf_VehicleKind)i);
        const mf_YamlNode *vehicle = mf_yaml_find(root, kind, strlen(kind));
        if (vehicle != NULL)
            return mf_yaml_fail(reader->tree, vehicle, true, MF_UNSUPPORTED, reader->error,
                                "%s: this is a vehicle, not an experiment; mayfly info describes "
                                "it, and a group of a swarm file flies or drives it (mayfly help "
                                "swarm)",
                                kind);
    }
    return MF_OK;
}

static mf_Status read_tree(mf_Reader *reader, const mf_Override *overrides, uint32_t count) {
    const mf_YamlNode *root = reader->tree->root;
    char found[64];
    if (root->kind != MF_YAML_MAPPING)
        return mf_yaml_fail(reader->tree, root, false, MF_BAD_FILE, reader->error,
                            "expected keys such as model and search, found %s",
                            mf_yaml_describe(root, found, sizeof found));
    mf_Status status = refuse_others(reader, root);
    if (status == MF_OK)
        status = mf_reader_override(reader, overrides, count);
    if (status == MF_OK)
        status = mf_reader_read(reader);
    if (status == MF_OK)
        status = check_relations(reader);
    if (status == MF_OK)
        note_initial(reader);
    mf_Experiment *experiment = experiment_of(reader);
    return status == MF_OK ? mf_reader_take_file_name(reader, &experiment->file, &experiment->name)
                           : status;
}

// Everything that the table of keys does not reach.
static void start_from_defaults(mf_Experiment *experiment, mf_Context *context) {
    *experiment = (mf_Experiment){.context = context,
                                  .import = mf_import_config(),
                                  .terrain = mf_terrain_config(),
                                  .motion = MF_MOTION_POINTS,
                                  .points = mf_points_config(),
                                  .gp = mf_gp_config(),
                                  .oscillator = mf_oscillator_config(),
                                  .search = mf_search_config()};
    experiment->search.genome_bytes = MF_GP_BYTES;
}

mf_Status mf_experiment_parse(mf_Context *context, const char *path, const char *text, size_t size,
                              const mf_Override *overrides, uint32_t override_count,
                              mf_Experiment **out, mf_Error *error) {
    if (out == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "experiment: out is NULL");
    *out = NULL;
    if (context == NULL || path == NULL || (text == NULL && size != 0) ||
        (overrides == NULL && override_count != 0))
        return mf_fail(error, MF_BAD_ARGUMENT, "experiment: context, path or text is NULL");
    mf_YamlTree tree;
    mf_Status status = mf_yaml_parse(context, path, text == NULL ? "" : text, size, &tree, error);
    if (status != MF_OK)
        return status;
    mf_ExperimentBox *box = mf_allocate(context, 1, sizeof *box);
    if (box == NULL) {
        mf_yaml_free(&tree);
        return mf_fail_at(error, MF_NO_MEMORY, path, 0, 0, "no memory to read the file");
    }
    start_from_defaults(&box->experiment, context);
    box->memory.context = context;
    mf_Reader reader = {.tree = &tree,
                        .table = mf_experiment_table(),
                        .root = tree.root,
                        .base = &box->experiment,
                        .what = "experiment",
                        .memory = &box->memory,
                        .error = error};
    status = read_tree(&reader, overrides, override_count);
    mf_yaml_free(&tree);
    if (status != MF_OK) {
        mf_experiment_destroy(&box->experiment);
        return status;
    }
    *out = &box->experiment;
    return MF_OK;
}

mf_Status mf_experiment_load(mf_Context *context, const char *path, const mf_Override *overrides,
                             uint32_t override_count, mf_Experiment **out, mf_Error *error) {
    if (out == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "experiment: out is NULL");
    *out = NULL;
    if (context == NULL || path == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "experiment: context or path is NULL");
    char *text;
    size_t size;
    mf_Status status = mf_file_read(context, path, MF_YAML_BYTES, &text, &size, error);
    if (status != MF_OK)
        return status;
    status = mf_experiment_parse(context, path, text, size, overrides, override_count, out, error);
    mf_release(context, text);
    return status;
}

void mf_experiment_at_level(const mf_Experiment *experiment, mf_Motion motion, mf_Experiment *out) {
    *out = *experiment;
    out->motion = motion;
    if (motion != MF_MOTION_POINTS)
        out->step = experiment->verify.step;
}

void mf_experiment_destroy(mf_Experiment *experiment) {
    if (experiment == NULL)
        return;
    mf_ExperimentBox *box = (mf_ExperimentBox *)experiment;
    mf_Context *context = experiment->context;
    mf_key_memory_free(&box->memory);
    mf_release(context, box);
}
