// Experiments' files: read by the table of keys, then what one key says about another. Either a
// whole experiment comes out or nothing.
#include <mayfly/experiment.h>
#include <mayfly/swarm.h>

#include "experiment/decimal.h"
#include "experiment/document.h"

#include <string.h>

// ---- relations between keys --------------------------------------------------------------------

static mf_Experiment *experiment_of(const mf_Reader *reader) {
    return reader->base;
}

static mf_Status check_survivors(const mf_Reader *reader) {
    const mf_SearchConfig *search = &experiment_of(reader)->search;
    if (search->survivors < search->population)
        return MF_OK;
    return mf_reader_refuse(reader, "search.survivors", "search.population",
                            "expected fewer than search.population = %u, found %u",
                            search->population, search->survivors);
}

static mf_Status check_verify(const mf_Reader *reader) {
    const mf_Experiment *experiment = experiment_of(reader);
    const mf_VerifyConfig *verify = &experiment->verify;
    if (verify->motion == MF_VERIFY_NONE || verify->best <= experiment->search.population)
        return MF_OK;
    return mf_reader_refuse(reader, "verify.best", "search.population",
                            "expected at most search.population = %u, found %u",
                            experiment->search.population, verify->best);
}

static mf_Status check_tick(const mf_Reader *reader, const char *path, mf_Rate rate) {
    char least[MF_DECIMAL_TEXT], found[MF_DECIMAL_TEXT];
    mf_Time step = experiment_of(reader)->step, tick = mf_key_period(rate);
    if (tick >= step)
        return mf_reader_check_multiple(reader, path, tick, "world.step", step);
    return mf_reader_refuse(reader, path, "world.step",
                            "expected at least world.step = %s s, found %s s",
                            mf_decimal_write_time(step, least), mf_decimal_write_time(tick, found));
}

static mf_Status check_intervals(const mf_Reader *reader) {
    const mf_Experiment *experiment = experiment_of(reader);
    mf_Status status =
        mf_reader_check_multiple(reader, "motion.points.joint_interval",
                                 experiment->points.joint_interval, "world.step", experiment->step);
    if (status != MF_OK)
        return status;
    switch (experiment->controller) {
    case MF_CONTROLLER_GP:
        return check_tick(reader, "controller.gp.tick", experiment->gp.rate);
    case MF_CONTROLLER_PLUGIN:
        return check_tick(reader, "controller.plugin.tick", experiment->plugin_rate);
    case MF_CONTROLLER_OSCILLATOR:
        return check_tick(reader, "controller.oscillator.tick", experiment->oscillator.rate);
    case MF_CONTROLLER_NONE:
        break;
    }
    return MF_OK;
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

// Names what the file is instead, and what it is good for.
static mf_Status refuse_others(const mf_Reader *reader, const mf_YamlNode *root) {
    const mf_YamlNode *swarm = mf_yaml_find(root, "groups", 6);
    if (swarm != NULL)
        return mf_yaml_fail(reader->tree, swarm, true, MF_UNSUPPORTED, reader->error,
                            "groups: this is a swarm, not an experiment; mayfly run simulates it");
    const mf_YamlNode *robots = mf_yaml_find(root, "robots", 6);
    if (robots != NULL)
        return mf_yaml_fail(reader->tree, robots, true, MF_UNSUPPORTED, reader->error,
                            "robots: this is a file of robots, not an experiment; mayfly run "
                            "simulates it");
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

static mf_Status read_experiment(mf_Reader *reader, const mf_DocumentSource *source) {
    mf_Experiment *experiment = reader->base;
    char found[64];
    start_from_defaults(experiment, source->context);
    if (reader->root->kind != MF_YAML_MAPPING)
        return mf_yaml_fail(reader->tree, reader->root, false, MF_BAD_FILE, reader->error,
                            "expected keys such as model and search, found %s",
                            mf_yaml_describe(reader->root, found, sizeof found));
    mf_Status status = refuse_others(reader, reader->root);
    if (status == MF_OK)
        status = mf_document_read_all(reader, mf_experiment_table(), source);
    if (status == MF_OK)
        status = check_relations(reader);
    if (status == MF_OK)
        note_initial(reader);
    return status == MF_OK ? mf_document_take_name(reader, &experiment->file, &experiment->name)
                           : status;
}

static const mf_DocumentKind experiment_kind = {"experiment", sizeof(mf_Experiment),
                                                read_experiment, NULL};

mf_Status mf_experiment_parse(mf_Context *context, const char *path, const char *text, size_t size,
                              const mf_Override *overrides, uint32_t override_count,
                              mf_Experiment **out, mf_Error *error) {
    const mf_DocumentSource source = {context, path, text, size, overrides, override_count, NULL};
    void *value = NULL;
    mf_Status status =
        mf_document_parse(&experiment_kind, &source, out == NULL ? NULL : &value, error);
    if (out != NULL)
        *out = value;
    return status;
}

mf_Status mf_experiment_load(mf_Context *context, const char *path, const mf_Override *overrides,
                             uint32_t override_count, mf_Experiment **out, mf_Error *error) {
    const mf_DocumentSource source = {context, path, NULL, 0, overrides, override_count, NULL};
    void *value = NULL;
    mf_Status status =
        mf_document_load(&experiment_kind, &source, out == NULL ? NULL : &value, error);
    if (out != NULL)
        *out = value;
    return status;
}

void mf_experiment_at_level(const mf_Experiment *experiment, mf_Motion motion, mf_Experiment *out) {
    if (experiment == NULL || out == NULL)
        return;
    *out = *experiment;
    out->motion = motion;
    if (motion != experiment->motion && motion != MF_MOTION_POINTS)
        out->step = experiment->verify.step;
}

void mf_experiment_destroy(mf_Experiment *experiment) {
    mf_document_destroy(&experiment_kind, experiment);
}
