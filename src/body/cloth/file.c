// Cloths as a kind of body, and their files: one top key, `cloth`, and below it a material, a
// rectangle or triangles, and pins. What mf_cloth_check refuses is reported at the line of the key
// that it names.
#include "base/memory.h"
#include "body/cloth/keys.h"
#include "body/kind.h"
#include "motion/cloth/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- pins --------------------------------------------------------------------------------------

// Vertices of a rectangle: from (i, j) on, `count` of them with a stride.
typedef struct Run {
    uint32_t first, count, stride; // [1]
} Run;

// False: no such word, or the cloth is no rectangle.
static bool find_side(const mf_Cloth *cloth, const char *name, Run *out) {
    const uint32_t n = cloth->counts[0], m = cloth->counts[1], last = n * (m - 1);
    const struct {
        const char *name;
        Run run;
    } sides[] = {{"left", {0, m, n}},        {"right", {n - 1, m, n}},
                 {"bottom", {0, n, 1}},      {"top", {last, n, 1}},
                 {"bottom_left", {0, 1, 1}}, {"bottom_right", {n - 1, 1, 1}},
                 {"top_left", {last, 1, 1}}, {"top_right", {last + n - 1, 1, 1}}};
    for (size_t i = 0; n > 0 && i < sizeof sides / sizeof *sides; i++)
        if (strcmp(name, sides[i].name) == 0) {
            *out = sides[i].run;
            return true;
        }
    return false;
}

static mf_Status find_pin(const mf_Reader *reader, const mf_Cloth *cloth, const char *name,
                          Run *out) {
    char *end;
    const unsigned long number = strtoul(name, &end, 10);
    if (find_side(cloth, name, out))
        return MF_OK;
    *out = (Run){(uint32_t)number, 1, 1};
    if (end != name && *end == '\0' && number < mf_cloth_vertex_count(cloth))
        return MF_OK;
    return mf_reader_refuse(reader, "pins", NULL,
                            "%.40s: expected the number of a vertex below %u%s", name,
                            mf_cloth_vertex_count(cloth),
                            cloth->counts[0] > 0 ? ", or left, right, bottom, top, bottom_left, "
                                                   "bottom_right, top_left, top_right"
                                                 : "");
}

// Each vertex once: sides share corners.
static mf_Status take_pins(mf_Reader *reader, const mf_ClothEntry *entry, mf_Cloth *cloth) {
    const char *const *words = entry->pins.entries;
    const uint32_t vertices = mf_cloth_vertex_count(cloth);
    uint32_t *pins = mf_reader_allocate(reader, (vertices + 1) * sizeof *pins);
    bool *fixed = mf_reader_allocate(reader, (vertices + 1) * sizeof *fixed);
    if (pins == NULL || fixed == NULL)
        return MF_NO_MEMORY;
    cloth->pins = pins;
    for (uint32_t i = 0; i < entry->pins.count; i++) {
        Run run;
        MF_TRY(find_pin(reader, cloth, words[i], &run));
        for (uint32_t k = 0; k < run.count; k++) {
            const uint32_t vertex = run.first + k * run.stride;
            if (!fixed[vertex])
                pins[cloth->pin_count++] = vertex;
            fixed[vertex] = true;
        }
    }
    return MF_OK;
}

// ---- from entries to the structure -------------------------------------------------------------

static mf_Status take_whole(const mf_Reader *reader, const char *key, double value, uint32_t *out) {
    *out = (uint32_t)value;
    if ((double)*out == value)
        return MF_OK;
    return mf_reader_refuse(reader, key, NULL, "%g: expected a whole number", value);
}

static mf_Status take_triangles(mf_Reader *reader, const mf_ClothEntry *entry, mf_Cloth *cloth) {
    const double(*from)[3] = entry->triangles.entries;
    uint32_t(*to)[3] = mf_reader_allocate(reader, (entry->triangles.count + 1) * sizeof *to);
    mf_Status status = to == NULL ? MF_NO_MEMORY : MF_OK;
    for (uint32_t t = 0; status == MF_OK && t < entry->triangles.count; t++)
        for (int k = 0; status == MF_OK && k < 3; k++)
            status = take_whole(reader, "triangles", from[t][k], &to[t][k]);
    cloth->vertices = entry->vertices.entries;
    cloth->vertex_count = entry->vertices.count;
    cloth->triangles = (const uint32_t(*)[3])to;
    cloth->triangle_count = entry->triangles.count;
    return status;
}

// Keys of the other kind would have no effect.
static mf_Status check_kind(const mf_Reader *reader, const mf_Cloth *cloth) {
    const bool rectangle = cloth->counts[0] > 0;
    static const char *const of_rectangles[] = {"size", "plane"};
    static const char *const of_triangles[] = {"vertices", "triangles", "warp"};
    const char *const *others = rectangle ? of_triangles : of_rectangles;
    const size_t count = rectangle ? 3 : 2;
    for (size_t i = 0; i < count; i++)
        if (mf_reader_find(reader, others[i]) != NULL)
            return mf_reader_refuse(reader, others[i], NULL,
                                    rectangle ? "a rectangle (counts) has no triangles"
                                              : "only a rectangle has it: expected counts, too");
    return MF_OK;
}

static mf_Status take_shape(mf_Reader *reader, const mf_ClothEntry *entry, mf_Cloth *cloth) {
    for (int i = 0; i < 2; i++)
        MF_TRY(take_whole(reader, "counts", entry->counts[i], &cloth->counts[i]));
    MF_TRY(check_kind(reader, cloth));
    memcpy(cloth->warp, entry->warp, sizeof cloth->warp);
    if (cloth->counts[0] == 0)
        return take_triangles(reader, entry, cloth);
    memcpy(cloth->size, entry->size, sizeof cloth->size);
    cloth->plane = entry->plane;
    return MF_OK;
}

// Reports "size: ..." and "triangles[3]: ..." at the position of that key.
static mf_Status check(mf_Reader *reader, const mf_Cloth *cloth) {
    char key[32] = "";
    mf_Error cause = {0};
    if (mf_cloth_check(cloth, &cause) == MF_OK)
        return MF_OK;
    sscanf(cause.message, "%31[a-z]", key);
    const mf_YamlNode *node = mf_reader_blame(reader, key, NULL);
    return mf_yaml_fail(reader->tree, node, node == reader->root, MF_BAD_FILE, reader->error, "%s",
                        cause.message);
}

// ---- reading -----------------------------------------------------------------------------------

static mf_Status read_cloth(mf_Reader *reader, const mf_DocumentSource *source) {
    mf_Cloth *cloth = reader->base;
    mf_ClothEntry *entry = mf_reader_allocate(reader, sizeof *entry);
    uint32_t kind;
    if (entry == NULL)
        return MF_NO_MEMORY;
    cloth->context = source->context;
    MF_TRY(mf_document_choose(reader, mf_cloth_table(), 1, &kind));
    reader->base = entry;
    mf_Status status = mf_reader_read(reader);
    cloth->material = entry->material;
    MF_THEN(status, take_shape(reader, entry, cloth));
    MF_THEN(status, check(reader, cloth));
    MF_THEN(status, take_pins(reader, entry, cloth));
    cloth->name = entry->name;
    return status == MF_OK ? mf_document_take_name(reader, &cloth->file, &cloth->name) : status;
}

static const mf_DocumentKind cloth_kind = {"cloth", sizeof(mf_Cloth), read_cloth, NULL};

// ---- writing -----------------------------------------------------------------------------------

enum { DIGITS = 12 }; // [byte] of a number and its end

typedef struct Entries { // of a cloth that is written
    mf_ClothEntry cloth;
    double (*triangles)[3];
    char (*numbers)[DIGITS];
    const char **pins;
} Entries;

static void fill_entries(Entries *entries, const mf_Cloth *cloth) {
    mf_ClothEntry *entry = &entries->cloth;
    *entry = (mf_ClothEntry){.name = cloth->name != NULL ? cloth->name : "",
                             .material = cloth->material,
                             .counts = {cloth->counts[0], cloth->counts[1]},
                             .plane = cloth->plane,
                             .vertices = {(void *)(uintptr_t)cloth->vertices, cloth->vertex_count},
                             .triangles = {entries->triangles, cloth->triangle_count},
                             .pins = {(void *)entries->pins, cloth->pin_count}};
    memcpy(entry->size, cloth->size, sizeof entry->size);
    memcpy(entry->warp, cloth->warp, sizeof entry->warp);
    for (uint32_t t = 0; t < cloth->triangle_count; t++)
        for (int k = 0; k < 3; k++)
            entries->triangles[t][k] = cloth->triangles[t][k];
    for (uint32_t pin = 0; pin < cloth->pin_count; pin++) {
        snprintf(entries->numbers[pin], DIGITS, "%u", cloth->pins[pin]);
        entries->pins[pin] = entries->numbers[pin];
    }
}

static mf_Status write_body(mf_Context *context, const void *body, char **text, mf_Error *error) {
    const mf_Cloth *cloth = body;
    MF_TRY(mf_cloth_check(cloth, error));
    Entries entries;
    const mf_Array arrays[] = {MF_ARRAY(entries.triangles, cloth->triangle_count),
                               MF_ARRAY(entries.pins, cloth->pin_count),
                               MF_ARRAY(entries.numbers, cloth->pin_count)};
    if (!mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays))
        return mf_fail(error, MF_NO_MEMORY, "cloth: out of memory");
    fill_entries(&entries, cloth);
    const mf_Status status =
        mf_keys_write_under(context, mf_cloth_table(), &entries.cloth, "cloth", text, error);
    mf_release(context, entries.triangles);
    return status;
}

// ---- the row -----------------------------------------------------------------------------------

static mf_Status make_model(mf_Context *context, const void *body, mf_Model **out,
                            mf_Error *error) {
    return mf_cloth_model(context, body, out, error);
}

static mf_Status check_group(const mf_Reader *reader, const mf_SceneGroup *group) {
    const mf_BodyRefusal wrong[] = {
        {"motion", "a cloth moves by cloth or own",
         group->motion != MF_MOTION_CLOTH && group->motion != MF_MOTION_OWN},
        {"switch", "a cloth has one motion and cannot switch", group->rule_count > 0},
        {"gaits", "gaits are for robots with joints, the model is a cloth", group->gait_count > 0},
        {"controller", "a cloth has nothing to control", group->controller != MF_CONTROLLER_NONE},
        {"behavior", "expected hold for a cloth", group->behavior.kind != MF_BEHAVIOR_HOLD},
    };
    return mf_body_refuse(reader, wrong, sizeof wrong / sizeof *wrong);
}

static void configure(const void *body, int command, mf_Time control, mf_MotionsConfig *config) {
    (void)command;
    (void)control;
    config->cloth.cloth = body;
}

_Static_assert(offsetof(mf_Cloth, file) == 0, "mf_body_file reads it");

const mf_BodyKind mf_cloth_body = {
    .name = "cloth",
    .document = &cloth_kind,
    .write = write_body,
    .vertices = true,
    .alone = true,
    .model = make_model,
    .step = 5 * MF_MILLISECOND,
    .check = check_group,
    .configure = configure,
    .touch = mf_cloths_add,
    .describe = mf_cloth_describe,
    .packs = true,
};
