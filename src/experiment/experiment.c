// Experiments: a YAML file read into a structure. The order is: parse into a tree that knows lines
// and columns, apply overrides to the tree, refuse unknown keys, read every key of the table (its
// default where the file is silent), then check what one key says about another. Either a whole
// experiment comes out or nothing.
#include <mayfly/experiment.h>

#include "experiment/decimal.h"
#include "experiment/reader.h"

#include <string.h>

// ---- relations between keys --------------------------------------------------------------------

// The node that a complaint about `path` points at: the value, else what it is compared with.
static const mf_YamlNode *blame(const mf_Reader *reader, const char *path, const char *other) {
    const mf_YamlNode *node = mf_reader_find(reader->tree, path);
    if (node == NULL || node->kind != MF_YAML_SCALAR)
        node = mf_reader_find(reader->tree, other);
    return node != NULL ? node : reader->tree->root;
}

static mf_Status check_survivors(const mf_Reader *reader) {
    const mf_SearchConfig *search = &reader->box->experiment.search;
    if (search->survivors < search->population)
        return MF_OK;
    return mf_yaml_fail(reader->tree, blame(reader, "search.survivors", "search.population"), false,
                        MF_BAD_FILE, reader->error,
                        "search.survivors: expected fewer than search.population = %u, found %u",
                        search->population, search->survivors);
}

static mf_Status check_intervals(const mf_Reader *reader) {
    const mf_Experiment *experiment = &reader->box->experiment;
    char step[MF_DECIMAL_TEXT], found[MF_DECIMAL_TEXT];
    mf_decimal_write_time(experiment->step, step);
    if (experiment->points.joint_interval % experiment->step != 0)
        return mf_yaml_fail(
            reader->tree, blame(reader, "motion.points.joint_interval", "world.step"), false,
            MF_BAD_FILE, reader->error,
            "motion.points.joint_interval: expected a multiple of world.step = %s s, found %s s",
            step, mf_decimal_write_time(experiment->points.joint_interval, found));
    if (experiment->controller == MF_CONTROLLER_NONE)
        return MF_OK;
    bool gp = experiment->controller == MF_CONTROLLER_GP;
    const char *path = gp ? "controller.gp.tick" : "controller.oscillator.tick";
    mf_Time tick = mf_experiment_period(gp ? experiment->gp.rate : experiment->oscillator.rate);
    if (tick >= experiment->step)
        return MF_OK;
    return mf_yaml_fail(reader->tree, blame(reader, path, "world.step"), false, MF_BAD_FILE,
                        reader->error, "%s: expected at least world.step = %s s, found %s s", path,
                        step, mf_decimal_write_time(tick, found));
}

// The ground is generated or an image; a key of the other way would be ignored, so it is refused.
static mf_Status check_ground(const mf_Reader *reader) {
    const mf_Experiment *experiment = &reader->box->experiment;
    const mf_YamlNode *terrain = mf_reader_find(reader->tree, "terrain");
    bool image = experiment->terrain_path != NULL;
    uint32_t wrong = image ? MF_KEY_SHAPE : MF_KEY_IMAGE, count;
    const mf_ExperimentKey *keys = mf_experiment_keys(&count);
    for (uint32_t i = 0; i < count; i++) {
        const mf_YamlNode *node =
            keys[i].flags & wrong ? mf_reader_find(reader->tree, keys[i].path) : NULL;
        if (node != NULL)
            return mf_yaml_fail(reader->tree, node, true, MF_BAD_FILE, reader->error,
                                image ? "%s: not used with terrain.file"
                                      : "%s: only used with terrain.file, which is not given",
                                keys[i].path);
    }
    double slope = experiment->generator.amplitude;
    const double quarter_turn = 1.5707963267948966;
    if (image || experiment->generator.shape != MF_TERRAIN_SLOPE ||
        (slope > -quarter_turn && slope < quarter_turn))
        return MF_OK;
    const mf_YamlNode *node = blame(reader, "terrain.amplitude", "terrain.shape");
    char found[MF_DECIMAL_TEXT];
    return mf_yaml_fail(reader->tree, node != NULL ? node : terrain, false, MF_BAD_FILE,
                        reader->error,
                        "terrain.amplitude: expected a slope between -pi/2 and pi/2 rad, found %s",
                        mf_decimal_write(slope, found));
}

static mf_Status check_relations(const mf_Reader *reader) {
    mf_Status status = check_survivors(reader);
    if (status == MF_OK)
        status = check_intervals(reader);
    if (status == MF_OK)
        status = check_ground(reader);
    return status;
}

// ---- reading -----------------------------------------------------------------------------------

static mf_Status read_keys(mf_Reader *reader) {
    uint32_t count;
    const mf_ExperimentKey *keys = mf_experiment_keys(&count);
    for (uint32_t i = 0; i < count; i++) {
        const mf_YamlNode *node = mf_reader_find(reader->tree, keys[i].path);
        if (node == NULL && (keys[i].flags & MF_KEY_REQUIRED))
            return mf_yaml_fail(reader->tree, reader->tree->root, false, MF_BAD_FILE, reader->error,
                                "expected the key %s, which is missing", keys[i].path);
        mf_Status status = node == NULL ? mf_reader_take_default(reader, &keys[i])
                                        : mf_reader_take(reader, &keys[i], node);
        if (status != MF_OK)
            return status;
    }
    return MF_OK;
}

static char *keep(mf_Reader *reader, const char *text, size_t length) {
    char *copy = mf_reader_allocate(reader, length + 1);
    if (copy != NULL)
        memcpy(copy, text, length);
    return copy;
}

// What follows from the file's name.
static mf_Status take_file_name(mf_Reader *reader) {
    mf_Experiment *experiment = &reader->box->experiment;
    const char *file = reader->tree->file, *slash = strrchr(file, '/');
    experiment->file = keep(reader, file, strlen(file));
    if (experiment->file == NULL)
        return MF_NO_MEMORY;
    if (experiment->name[0] != '\0')
        return MF_OK;
    const char *name = slash == NULL ? file : slash + 1;
    const char *dot = strrchr(name, '.');
    experiment->name =
        keep(reader, name, dot == NULL || dot == name ? strlen(name) : (size_t)(dot - name));
    return experiment->name == NULL ? MF_NO_MEMORY : MF_OK;
}

static mf_Status read_tree(mf_Reader *reader, const mf_Override *overrides, uint32_t count) {
    const mf_YamlNode *root = reader->tree->root;
    char found[64];
    if (root->kind != MF_YAML_MAPPING)
        return mf_yaml_fail(reader->tree, root, false, MF_BAD_FILE, reader->error,
                            "expected keys such as model and search, found %s",
                            mf_yaml_describe(root, found, sizeof found));
    mf_Status status = mf_reader_override(reader, overrides, count);
    if (status == MF_OK)
        status = mf_reader_check_keys(reader, root, "");
    if (status == MF_OK)
        status = read_keys(reader);
    if (status == MF_OK)
        status = check_relations(reader);
    return status == MF_OK ? take_file_name(reader) : status;
}

// Everything that the table of keys does not reach.
static void start_from_defaults(mf_Experiment *experiment, mf_Context *context) {
    *experiment = (mf_Experiment){.context = context,
                                  .import = mf_import_config(),
                                  .terrain = mf_terrain_config(),
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
    mf_Reader reader = {.tree = &tree, .box = box, .error = error};
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

void mf_experiment_destroy(mf_Experiment *experiment) {
    if (experiment == NULL)
        return;
    mf_ExperimentBox *box = (mf_ExperimentBox *)experiment;
    mf_Context *context = experiment->context;
    while (box->strings != NULL) {
        mf_ExperimentString *next = box->strings->next;
        mf_release(context, box->strings);
        box->strings = next;
    }
    mf_release(context, box);
}
