// Trusses' files: one top key, `truss`, and below it material, vertices, bars, actuators, neurons
// and synapses. What mf_truss_check refuses is reported at the line of the entry that it names.
#include "base/floats.h"
#include "motion/table.h"
#include "base/memory.h"
#include "body/truss/keys.h"
#include "body/truss/row.h"
#include "motion/truss/model.h"

#include <stdio.h>
#include <string.h>

// ---- from entries to the structure -------------------------------------------------------------

static mf_Status take_material(const mf_Reader *reader, const mf_TrussEntry *entry,
                               mf_TrussMaterial *out) {
    if (!mf_truss_material_find(entry->material, out))
        return mf_reader_refuse(reader, "material", NULL,
                                "no material %.40s; expected golem, steel, aluminum, abs, pla or "
                                "nylon",
                                entry->material);
    out->elasticity =
        entry->properties.elasticity > 0.0 ? entry->properties.elasticity : out->elasticity;
    out->density = entry->properties.density > 0.0 ? entry->properties.density : out->density;
    out->yield = entry->properties.yield > 0.0 ? entry->properties.yield : out->yield;
    return MF_OK;
}

static mf_Status take_vertex(mf_Reader *reader, const mf_TrussVertexEntry *entry, uint32_t index,
                             mf_TrussVertex *out) {
    const char *const *axes = entry->fixed.entries;
    memcpy(out->position, entry->position, sizeof out->position);
    memcpy(out->load, entry->load, sizeof out->load);
    out->mass = entry->mass;
    for (uint32_t i = 0; i < entry->fixed.count; i++) {
        const char axis = strlen(axes[i]) == 1 ? axes[i][0] : '?';
        if (axis < 'x' || axis > 'z') {
            const mf_Reader at = mf_reader_item(reader, "vertices", index);
            return mf_reader_refuse(&at, "fixed", NULL, "%.40s: expected axes of x, y, z", axes[i]);
        }
        out->fixed[axis - 'x'] = true;
    }
    return MF_OK;
}

static mf_Status take_bar(mf_Reader *reader, const mf_TrussBarEntry *entry, uint32_t index,
                          mf_TrussBar *out) {
    for (int i = 0; i < 2; i++) {
        out->ends[i] = (uint32_t)entry->ends[i];
        if ((double)out->ends[i] != entry->ends[i]) {
            const mf_Reader at = mf_reader_item(reader, "bars", index);
            return mf_reader_refuse(&at, "ends", NULL, "%g: expected the number of a vertex",
                                    entry->ends[i]);
        }
    }
    out->diameter = entry->diameter;
    out->rest_length = entry->rest_length;
    return MF_OK;
}

static mf_Status take_lists(mf_Reader *reader, const mf_TrussEntry *entry, mf_Truss *truss) {
    const mf_TrussVertexEntry *vertices = entry->vertices.entries;
    const mf_TrussBarEntry *bars = entry->bars.entries;
    const mf_TrussActuatorEntry *actuators = entry->actuators.entries;
    mf_TrussVertex *vertex =
        mf_reader_allocate(reader, (entry->vertices.count + 1) * sizeof *vertex);
    mf_TrussBar *bar = mf_reader_allocate(reader, (entry->bars.count + 1) * sizeof *bar);
    mf_TrussActuator *actuator =
        mf_reader_allocate(reader, (entry->actuators.count + 1) * sizeof *actuator);
    mf_Status status = vertex == NULL || bar == NULL || actuator == NULL ? MF_NO_MEMORY : MF_OK;
    for (uint32_t i = 0; i < entry->vertices.count && status == MF_OK; i++)
        status = take_vertex(reader, &vertices[i], i, &vertex[i]);
    for (uint32_t i = 0; i < entry->bars.count && status == MF_OK; i++)
        status = take_bar(reader, &bars[i], i, &bar[i]);
    for (uint32_t i = 0; i < entry->actuators.count && status == MF_OK; i++)
        actuator[i] = (mf_TrussActuator){actuators[i].bar, actuators[i].range[0],
                                         actuators[i].range[1], actuators[i].neuron};
    truss->vertices = vertex;
    truss->bars = bar;
    truss->actuators = actuator;
    truss->vertex_count = entry->vertices.count;
    truss->bar_count = entry->bars.count;
    truss->actuator_count = entry->actuators.count;
    truss->neurons = entry->neurons.entries;
    truss->synapses = entry->synapses.entries;
    truss->neuron_count = entry->neurons.count;
    truss->synapse_count = entry->synapses.count;
    truss->cycle = entry->cycle;
    truss->delay = entry->delay;
    truss->change = entry->change;
    return status;
}

// Reports "bars[3].ends: ..." at the position of that member.
static mf_Status check(mf_Reader *reader, const mf_Truss *truss) {
    char list[16] = "", member[32] = "";
    unsigned index = 0;
    mf_Error cause = {0};
    mf_Status status = mf_truss_check(truss, &cause);
    if (status == MF_OK)
        return MF_OK;
    if (sscanf(cause.message, "%15[a-z][%u].%31[a-z_]", list, &index, member) != 3)
        return mf_yaml_fail(reader->tree, reader->root, true, MF_BAD_FILE, reader->error, "%s",
                            cause.message);
    const mf_Reader at = mf_reader_item(reader, list, index);
    const mf_YamlNode *node = mf_reader_blame(&at, member, NULL);
    return mf_yaml_fail(reader->tree, node, node == at.root, MF_BAD_FILE, reader->error, "%s",
                        cause.message);
}

// ---- reading -----------------------------------------------------------------------------------

static mf_Status read_truss(mf_Reader *reader, const mf_DocumentSource *source) {
    mf_Truss *truss = reader->base;
    mf_TrussEntry *entry = mf_reader_allocate(reader, sizeof *entry);
    uint32_t kind;
    if (entry == NULL)
        return MF_NO_MEMORY;
    truss->context = source->context;
    MF_TRY(mf_document_choose(reader, mf_truss_table(), 1, &kind));
    reader->base = entry;
    mf_Status status = mf_reader_read(reader);
    MF_THEN(status, take_material(reader, entry, &truss->material));
    MF_THEN(status, take_lists(reader, entry, truss));
    MF_THEN(status, check(reader, truss));
    truss->name = entry->name;
    return status == MF_OK ? mf_document_take_name(reader, &truss->file, &truss->name) : status;
}

static const mf_DocumentKind truss_kind = {"truss", sizeof(mf_Truss), read_truss, NULL};

mf_Status mf_truss_load(mf_Context *context, const char *path, mf_Truss **out, mf_Error *error) {
    void *value = NULL;
    mf_Status status =
        mf_body_load(context, &mf_truss_body, path, out == NULL ? NULL : &value, error);
    if (out != NULL)
        *out = value;
    return status;
}

void mf_truss_destroy(mf_Truss *truss) {
    mf_body_destroy(truss);
}

// ---- writing -----------------------------------------------------------------------------------

typedef struct Entries { // of a truss that is written
    mf_TrussEntry truss;
    mf_TrussVertexEntry *vertices;
    mf_TrussBarEntry *bars;
    mf_TrussActuatorEntry *actuators;
    const char **axes; // three for each vertex
} Entries;

static void fill_vertices(Entries *entries, const mf_Truss *truss) {
    static const char *const names[3] = {"x", "y", "z"};
    for (uint32_t v = 0; v < truss->vertex_count; v++) {
        const mf_TrussVertex *vertex = &truss->vertices[v];
        mf_TrussVertexEntry *entry = &entries->vertices[v];
        const char **axes = entries->axes + 3 * (size_t)v;
        memcpy(entry->position, vertex->position, sizeof entry->position);
        memcpy(entry->load, vertex->load, sizeof entry->load);
        entry->mass = vertex->mass;
        entry->fixed.entries = (void *)axes;
        for (int i = 0; i < 3; i++) {
            if (vertex->fixed[i])
                axes[entry->fixed.count++] = names[i];
        }
    }
}

static void fill_entries(Entries *entries, const mf_Truss *truss) {
    fill_vertices(entries, truss);
    for (uint32_t b = 0; b < truss->bar_count; b++) {
        const mf_TrussBar *bar = &truss->bars[b];
        entries->bars[b] =
            (mf_TrussBarEntry){{bar->ends[0], bar->ends[1]}, bar->diameter, bar->rest_length};
    }
    for (uint32_t a = 0; a < truss->actuator_count; a++) {
        const mf_TrussActuator *actuator = &truss->actuators[a];
        entries->actuators[a] = (mf_TrussActuatorEntry){
            actuator->bar, actuator->neuron, {actuator->lower, actuator->upper}};
    }
    entries->truss =
        (mf_TrussEntry){.name = truss->name != NULL ? truss->name : "",
                        .material = "golem",
                        .properties = truss->material,
                        .vertices = {entries->vertices, truss->vertex_count},
                        .bars = {entries->bars, truss->bar_count},
                        .actuators = {entries->actuators, truss->actuator_count},
                        .neurons = {(void *)(uintptr_t)truss->neurons, truss->neuron_count},
                        .synapses = {(void *)(uintptr_t)truss->synapses, truss->synapse_count},
                        .cycle = mf_truss_cycle(truss),
                        .delay = truss->delay,
                        .change = mf_truss_change(truss)};
}

mf_Status mf_truss_write(mf_Context *context, const mf_Truss *truss, char **text, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(context != NULL && text != NULL, error, "mf_truss_write: an argument is NULL");
    *text = NULL;
    MF_TRY(mf_truss_check(truss, error));
    Entries entries;
    const mf_Array arrays[] = {MF_ARRAY(entries.vertices, truss->vertex_count),
                               MF_ARRAY(entries.bars, truss->bar_count),
                               MF_ARRAY(entries.actuators, truss->actuator_count),
                               MF_ARRAY(entries.axes, 3 * (size_t)truss->vertex_count)};
    if (!mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays))
        return mf_fail(error, MF_NO_MEMORY, "truss: out of memory");
    fill_entries(&entries, truss);
    const mf_Status status =
        mf_keys_write_under(context, mf_truss_table(), &entries.truss, "truss", text, error);
    mf_release(context, entries.vertices);
    return status;
}

// ---- the row -----------------------------------------------------------------------------------

static mf_Status make_model(mf_Context *context, const void *body, mf_Model **out,
                            mf_Error *error) {
    return mf_truss_model(context, body, out, error);
}

// Whether a rule switches to a level of robots with links, or to the motion.
static bool switches(const mf_SceneGroup *group, bool level, mf_Motion motion) {
    bool any = false;
    for (uint32_t i = 0; i < group->rule_count; i++) {
        const mf_MotionRow *row = mf_motion_row(group->rules[i].to);
        any = any || group->rules[i].to == motion || (level && row != NULL && row->level);
    }
    return any;
}

// A quasi-static frame, or the steps of a motion with inertia.
static mf_Time step_of(const mf_SceneGroup *group, mf_Motion start) {
    const bool elastic = start == MF_MOTION_ELASTIC || switches(group, false, MF_MOTION_ELASTIC);
    return elastic ? MF_MILLISECOND : 20 * MF_MILLISECOND;
}

static mf_Status check_group(const mf_Reader *reader, const mf_SceneGroup *group) {
    const mf_Truss *truss = group->body;
    const mf_BodyRefusal wrong[] = {
        {"motion", "a truss moves by quasistatic, elastic, or own",
         !mf_body_moves_by(&mf_truss_body, group->motion) && group->motion != MF_MOTION_OWN},
        {"precision", "a truss needs double: its bars are too stiff for float",
         !group->double_precision},
        {"switch", "a truss switches to quasistatic, elastic or own",
         switches(group, true, MF_MOTION_COUNT)},
        {"gaits", "gaits are for robots with joints, the model is a truss", group->gait_count > 0},
        {"controller",
         "gp drives joints, a truss has actuators; expected oscillator, machine or none",
         group->controller == MF_CONTROLLER_GP},
        {"controller", "the truss has no actuators",
         group->controller == MF_CONTROLLER_OSCILLATOR && truss->actuator_count == 0},
        {"behavior", "expected hold for a truss", group->behavior.kind != MF_BEHAVIOR_HOLD},
        {"speed", "frames of a truss have no speed",
         group->placement.speed > 0.0 && group->motion == MF_MOTION_QUASISTATIC},
    };
    return mf_body_refuse(reader, wrong, sizeof wrong / sizeof *wrong);
}

static void configure(const void *body, int command, mf_Time control, mf_MotionsConfig *config) {
    (void)command;
    (void)control;
    config->quasistatic.truss = config->elastic.truss = body;
}

static mf_Status write_body(mf_Context *context, const void *body, char **text, mf_Error *error) {
    return mf_truss_write(context, body, text, error);
}

_Static_assert(offsetof(mf_Truss, file) == 0, "mf_body_file reads it");

const mf_BodyKind mf_truss_body = {
    .name = "truss",
    .document = &truss_kind,
    .write = write_body,
    .vertices = true,
    .alone = true,
    .double_precision = true,
    .motions = "quasistatic or elastic",
    .model = make_model,
    .step_of = step_of,
    .check = check_group,
    .configure = configure,
    .control = mf_truss_control,
    .drive = mf_truss_drive,
    .sample = mf_truss_sample,
    .describe = mf_truss_describe,
    .packs = true,
};
