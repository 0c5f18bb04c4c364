// Recordings in MCAP. The fields of a group are one message per sample, a list of robots with a
// packed list of values per field, described by a schema of the group's own, so that tools plot
// /GROUP/fields.robots[0].base_position[2]. The channel's metadata have what protocol buffers
// cannot say: a field's own name, unit and frame, as JSON.
#include "record/mcap_store.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MOST = 1024 }; // [1] of a group

void mf_mcap_plain_name(const char *from, char out[MF_MCAP_NAME]) {
    size_t size = 0;
    if (*from >= '0' && *from <= '9')
        out[size++] = '_';
    for (; *from != '\0' && size + 1 < MF_MCAP_NAME; from++) {
        const bool plain = (*from >= 'a' && *from <= 'z') || (*from >= 'A' && *from <= 'Z') ||
                           (*from >= '0' && *from <= '9');
        out[size++] = plain ? *from : '_';
    }
    out[size] = '\0';
}

// ---- schemas of fields -------------------------------------------------------------------------

// Columns that make one message: those of a group, of run-time joints (group NULL), the picture.
typedef struct Selection {
    const mf_Group *group;
    bool joints, picture;
} Selection;

static bool is_of(const mf_Column *column, const Selection *selection) {
    return column->field != NULL && column->of_joints == selection->joints &&
           column->of_picture == selection->picture && column->group == selection->group;
}

static const char *type_of(const mf_Column *column) {
    static const char *const letters[] = {
        [MF_F32] = "r", [MF_F64] = "d", [MF_I32] = "i", [MF_U32] = "u"};
    return letters[column->field->info.type];
}

static const char *type_name(const mf_Column *column) {
    static const char *const names[] = {
        [MF_F32] = "float32", [MF_F64] = "float64", [MF_I32] = "int32", [MF_U32] = "uint32"};
    return names[column->field->info.type];
}

// The column's name within its group.
static const char *own_name(const mf_Recorder *recorder, const mf_Column *column) {
    const bool several = recorder->group == NULL && column->group != NULL;
    const size_t folder = several ? strlen(mf_group_config_of(column->group)->name) + 1 : 0;
    return column->of_joints || column->of_picture ? strchr(column->name, '/') + 1
                                                   : column->name + folder;
}

static json_t *describe_column(const mf_Recorder *recorder, const mf_Column *column,
                               uint32_t number) {
    const mf_FieldInfo *info = &column->field->info;
    return json_pack("{s:i,s:s,s:s,s:s,s:s,s:i,s:i,s:s}", "number", (int)number, "name",
                     own_name(recorder, column), "unit",
                     column->unit != NULL ? column->unit : info->unit, "frame", info->frame, "type",
                     type_name(column), "components", (int)column->components, "robots",
                     (int)column->count, "description", info->description);
}

// Appends the fields to the line of the robots' message and the pairs of the channel's metadata.
// Fields of equal plain names get numbers.
static void list_columns(const mf_Recorder *recorder, const Selection *selection, mf_Text *line,
                         char **pairs) {
    uint32_t number = 0;
    for (uint32_t i = 0; i < recorder->column_count && number < COLUMNS_MOST; i++) {
        const mf_Column *column = &recorder->columns[i];
        char name[MF_MCAP_NAME], numbered[MF_MCAP_NAME + 16];
        if (!is_of(column, selection))
            continue;
        mf_mcap_plain_name(own_name(recorder, column), name);
        snprintf(numbered, sizeof numbered, "%s", name);
        for (uint32_t k = 0; k < number; k++)
            if (strcmp(pairs[2 * k], numbered) == 0)
                snprintf(numbered, sizeof numbered, "%s_%u", name, number);
        json_t *about = describe_column(recorder, column, number + 1);
        pairs[2 * number] = strdup(numbered);
        pairs[2 * number + 1] = json_dumps(about, JSON_COMPACT);
        json_decref(about);
        if (pairs[2 * number] == NULL || pairs[2 * number + 1] == NULL)
            line->failed = true;
        mf_text_format(line, " %s:*%s", numbered, type_of(column));
        number++;
    }
}

// Makes the schema and the channel of a selection; MF_NONE: it has no columns.
static uint32_t make_channel(mf_Recorder *recorder, const char *name, const char *topic,
                             const char *rows, const Selection *selection) {
    mf_McapStore *store = recorder->mcap;
    mf_Text line = mf_text_begin(recorder->context), schema = mf_text_begin(recorder->context);
    char outer[3 * MF_MCAP_NAME], full[MF_MCAP_NAME + 16];
    char **pairs = mf_allocate(recorder->context, 2 * COLUMNS_MOST + 2, sizeof *pairs);
    uint32_t channel = MF_NONE;
    store->file.head.failed |= pairs == NULL;
    if (pairs == NULL)
        return MF_NONE;
    mf_text_format(&line, "%s_row", name);
    list_columns(recorder, selection, &line, pairs);
    snprintf(outer, sizeof outer, "%s time:T %s:*%s_row", name, rows, name);
    snprintf(full, sizeof full, "mayfly.%s", name);
    store->file.head.failed |= line.failed;
    if (pairs[0] != NULL && !line.failed) {
        mf_proto_describe(&schema, "mayfly", (const char *const[]){outer, line.data, NULL});
        channel = mf_mcap_channel(&store->file, topic, mf_mcap_schema(&store->file, full, &schema),
                                  (const char *const *)pairs);
    }
    store->file.head.failed |= schema.failed;
    for (uint32_t i = 0; i < 2 * COLUMNS_MOST; i++)
        free(pairs[i]);
    mf_release(recorder->context, pairs);
    mf_text_free(&schema);
    mf_text_free(&line);
    return channel;
}

static Selection selection_at(const mf_Recorder *recorder, uint32_t index) {
    const uint32_t groups = recorder->mcap->group_count;
    return (Selection){.group = index < groups ? recorder->mcap->groups[index].group : NULL,
                       .joints = index == groups,
                       .picture = index == groups + 1};
}

static void make_channels(mf_Recorder *recorder) {
    mf_McapStore *store = recorder->mcap;
    for (uint32_t i = 0; i < store->group_count + 2; i++) {
        const Selection selection = selection_at(recorder, i);
        char name[MF_MCAP_NAME], topic[2 * MF_MCAP_NAME];
        if (selection.group != NULL) {
            const char *own = mf_group_config_of(selection.group)->name;
            mf_mcap_plain_name(own, name);
            snprintf(topic, sizeof topic, "/%.150s/fields", own);
        } else {
            snprintf(name, sizeof name, "%s", selection.joints ? "world_joints" : "picture");
            snprintf(topic, sizeof topic, "/mayfly/%s", name);
        }
        store->channels[i] = make_channel(recorder, name, topic,
                                          selection.group != NULL ? "robots" : "rows", &selection);
    }
}

// ---- the file ----------------------------------------------------------------------------------

static mf_Status allocate_store(mf_Recorder *recorder, mf_Error *error) {
    const uint32_t groups = recorder->group == NULL ? mf_world_group_count(recorder->world) : 1;
    mf_McapStore *store = mf_allocate(recorder->context, 1, sizeof *store);
    recorder->mcap = store;
    if (store != NULL) {
        store->group_count = groups;
        store->message = mf_text_begin(recorder->context);
        store->channels = mf_allocate(recorder->context, groups + 2, sizeof *store->channels);
        store->groups = mf_allocate(recorder->context, groups + 1, sizeof *store->groups);
    }
    if (store == NULL || store->channels == NULL || store->groups == NULL)
        return mf_fail_at(error, MF_NO_MEMORY, recorder->output.path, 0, 0, "no memory to record");
    for (uint32_t i = 0; i < groups; i++)
        store->groups[i].group =
            recorder->group != NULL ? recorder->group : mf_world_group(recorder->world, i);
    return MF_OK;
}

// "#rrggbb" as three numbers. False: it is something else.
static bool read_color(const char *text, float out[3]) {
    char *end;
    if (text[0] != '#' || strlen(text) != 7 || !isxdigit((unsigned char)text[1]))
        return false;
    const unsigned long value = strtoul(text + 1, &end, 16);
    for (int c = 0; c < 3; c++)
        out[c] = (float)(value >> (16 - 8 * c) & 255) / 255.0f;
    return *end == '\0';
}

static mf_Status take_colors(mf_Recorder *recorder, const char *const *colors, mf_Error *error) {
    const uint32_t count = mf_world_group_count(recorder->world);
    for (uint32_t i = 0; i < recorder->mcap->group_count; i++) {
        mf_McapGroup *part = &recorder->mcap->groups[i];
        uint32_t number = 0;
        while (number < count && mf_world_group(recorder->world, number) != part->group)
            number++;
        part->color[0] = -1.0f;
        if (colors == NULL || number == count || colors[number] == NULL)
            continue;
        MF_NEED(read_color(colors[number], part->color), error,
                "recorder: colors[%u]: expected \"#rrggbb\", found '%.40s'", number,
                colors[number]);
    }
    return MF_OK;
}

// What the whole file says about itself, before the first chunk.
static void put_about(mf_Recorder *recorder, const mf_RecorderConfig *config) {
    mf_Mcap *file = &recorder->mcap->file;
    const mf_WorldConfig *world = mf_world_config_of(recorder->world);
    char format[16], seed[32], step[32];
    snprintf(format, sizeof format, "%u", MF_RECORD_FORMAT);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)world->seed);
    snprintf(step, sizeof step, "%.17g", mf_time_to_seconds(world->step));
    mf_mcap_metadata(
        file, "mayfly",
        (const char *const[]){"recording", format, "version", mf_version(), "seed", seed, "step",
                              step, "groups", recorder->group == NULL ? "all" : "one", "run",
                              config->attributes != NULL ? config->attributes : "", NULL});
    for (uint32_t i = 0; i < recorder->mcap->group_count; i++) {
        mf_Group *group = recorder->mcap->groups[i].group;
        char count[16];
        snprintf(count, sizeof count, "%u", mf_group_count(group));
        mf_mcap_metadata(file, "mayfly.group",
                         (const char *const[]){"group", mf_group_config_of(group)->name, "model",
                                               mf_group_model(group)->name, "robots", count, NULL});
    }
    if (config->picture != NULL)
        mf_mcap_attach(file, "picture.json", "application/json", config->picture->description);
    if (config->scene != NULL)
        mf_mcap_attach(file, "scene.yaml", "application/yaml", config->scene);
}

static mf_Status make(mf_Recorder *recorder, const mf_RecorderConfig *config, mf_Error *error) {
    MF_TRY(allocate_store(recorder, error));
    MF_TRY(take_colors(recorder, config->colors, error));
    mf_mcap_begin(&recorder->mcap->file, &recorder->output);
    put_about(recorder, config);
    make_channels(recorder);
    MF_TRY(mf_mcap_scene_begin(recorder, error));
    return mf_mcap_status(&recorder->mcap->file, error);
}

static mf_Status make_column(mf_Recorder *recorder, mf_Column *column, mf_Error *error) {
    (void)recorder; // schemas have the columns of joints before there are any
    (void)column;
    (void)error;
    return MF_OK;
}

// ---- samples -----------------------------------------------------------------------------------

static void put_row(const mf_Recorder *recorder, const Selection *selection, uint32_t row,
                    mf_Text *out) {
    uint32_t number = 0;
    const size_t opened = mf_proto_open(out, 2);
    for (uint32_t i = 0; i < recorder->column_count && number < COLUMNS_MOST; i++) {
        const mf_Column *column = &recorder->columns[i];
        if (!is_of(column, selection))
            continue;
        number++;
        const size_t size = column->components * column->value_size;
        if (row < column->count)
            mf_proto_bytes(out, number, column->buffer + row * size, size);
    }
    mf_proto_close(out, opened);
}

static uint32_t rows_of(const mf_Recorder *recorder, const Selection *selection) {
    for (uint32_t i = 0; i < recorder->column_count; i++)
        if (is_of(&recorder->columns[i], selection))
            return recorder->columns[i].count;
    return 0;
}

static mf_Status flush(mf_Recorder *recorder, mf_Error *error) {
    mf_McapStore *store = recorder->mcap;
    const mf_Time time = mf_world_time(recorder->world);
    if (recorder->filled == 0)
        return MF_OK;
    for (uint32_t i = 0; i < store->group_count + 2; i++) {
        const Selection selection = selection_at(recorder, i);
        const uint32_t rows = rows_of(recorder, &selection);
        if (store->channels[i] == MF_NONE)
            continue;
        store->message.size = 0;
        mf_proto_time(&store->message, 1, time);
        for (uint32_t row = 0; row < rows; row++)
            put_row(recorder, &selection, row, &store->message);
        mf_mcap_message(&store->file, store->channels[i], time, &store->message);
    }
    mf_mcap_scene_sample(recorder, time);
    mf_mcap_cut(&store->file);
    recorder->written += recorder->filled;
    recorder->filled = 0;
    return mf_mcap_status(&store->file, error);
}

static mf_Status close_file(mf_Recorder *recorder, bool whole, mf_Error *error) {
    mf_McapStore *store = recorder->mcap;
    mf_Status status = MF_OK;
    if (store == NULL)
        return MF_OK;
    if (whole) {
        mf_mcap_end(&store->file);
        status = mf_mcap_status(&store->file, error);
    }
    mf_mcap_scene_free(recorder);
    mf_mcap_free(&store->file);
    mf_text_free(&store->message);
    mf_release(recorder->context, store->channels);
    mf_release(recorder->context, store->groups);
    mf_release(recorder->context, store);
    recorder->mcap = NULL;
    return status;
}

const mf_Store mf_mcap_store = {false, make, make_column, flush, close_file};
