// Documents: a text is parsed into a tree with lines and columns, overrides are applied to the
// tree, unknown keys are rejected, every key of the table is read (its default if the file does not
// have it), then relations between keys are checked. The result is a complete structure or an
// error.
#include "io/document.h"

#include <stdio.h>
#include <string.h>

// One allocation: the list of memory blocks, then the structure.
typedef struct Box {
    mf_KeyMemory memory;
    _Alignas(16) char value[];
} Box;

static mf_Status check_source(const mf_DocumentKind *kind, const mf_DocumentSource *source,
                              void **out, bool file, mf_Error *error) {
    MF_NEED(out != NULL, error, "%s: out is NULL", kind->noun);
    *out = NULL;
    MF_NEED(source->context != NULL && source->path != NULL &&
                (file || source->text != NULL || source->size == 0) &&
                (source->overrides != NULL || source->override_count == 0),
            error, "%s: context%s is NULL", kind->noun, file ? " or path" : ", path or text");
    return MF_OK;
}

static mf_Status read_tree(const mf_DocumentKind *kind, const mf_DocumentSource *source,
                           mf_YamlTree *tree, void **out, mf_Error *error) {
    Box *box = mf_allocate(source->context, 1, sizeof *box + kind->size);
    if (box == NULL)
        return mf_fail_at(error, MF_NO_MEMORY, source->path, 0, 0, "no memory to read the file");
    box->memory.arena.context = source->context;
    mf_Reader reader = {.tree = tree,
                        .root = tree->root,
                        .base = box->value,
                        .what = kind->noun,
                        .memory = &box->memory,
                        .error = error};
    mf_Status status = kind->read(&reader, source);
    if (status == MF_OK)
        *out = box->value;
    else
        mf_document_destroy(kind, box->value);
    return status;
}

mf_Status mf_document_parse(const mf_DocumentKind *kind, const mf_DocumentSource *source,
                            void **out, mf_Error *error) {
    mf_YamlTree tree;
    MF_TRY(check_source(kind, source, out, false, error));
    MF_TRY(mf_yaml_parse(source->context, source->path, source->text == NULL ? "" : source->text,
                         source->size, &tree, error));
    mf_Status status = read_tree(kind, source, &tree, out, error);
    mf_yaml_free(&tree);
    return status;
}

mf_Status mf_document_load(const mf_DocumentKind *kind, const mf_DocumentSource *source, void **out,
                           mf_Error *error) {
    mf_DocumentSource whole = *source;
    char *text;
    MF_TRY(check_source(kind, source, out, true, error));
    MF_TRY(mf_file_read(source->context, source->path, MF_YAML_BYTES, &text, &whole.size, error));
    whole.text = text;
    mf_Status status = mf_document_parse(kind, &whole, out, error);
    mf_release(source->context, text);
    return status;
}

void mf_document_destroy(const mf_DocumentKind *kind, void *value) {
    if (value == NULL)
        return;
    Box *box = (Box *)(void *)((char *)value - offsetof(Box, value));
    mf_Context *context = box->memory.arena.context;
    if (kind->release != NULL)
        kind->release(value);
    mf_arena_release(&box->memory.arena);
    mf_release(context, box);
}

// ---- steps of a format's reading ---------------------------------------------------------------

// "expected one key: quadrotor, fixed_wing or car".
static const char *ask_for_one(const mf_KeyTable *tables, uint32_t count, char *out, size_t size) {
    int used = snprintf(out, size, "expected one key: %s", tables[0].noun);
    for (uint32_t i = 1; i < count && used >= 0 && (size_t)used < size; i++)
        used += snprintf(out + used, size - (size_t)used, "%s%s", i + 1 < count ? ", " : " or ",
                         tables[i].noun);
    return out;
}

// The table whose noun is most similar to a key; `*distance` letters are wrong.
static uint32_t nearest(const mf_KeyTable *tables, uint32_t count, const char *key,
                        size_t *distance) {
    uint32_t near = 0;
    *distance = SIZE_MAX;
    for (uint32_t i = 0; i < count; i++) {
        size_t other = mf_name_distance(key, tables[i].noun);
        if (other < *distance) {
            *distance = other;
            near = i;
        }
    }
    return near;
}

mf_Status mf_document_choose(mf_Reader *reader, const mf_KeyTable *tables, uint32_t count,
                             uint32_t *kind) {
    const mf_YamlTree *tree = reader->tree;
    mf_YamlNode *root = tree->root, *top = root->first;
    mf_Error *error = reader->error;
    char name[120], found[64];
    size_t distance;
    ask_for_one(tables, count, name, sizeof name);
    if (root->kind != MF_YAML_MAPPING || top == NULL)
        return mf_yaml_fail(tree, root, false, MF_BAD_FILE, error, "%s, found %s", name,
                            mf_yaml_describe(root, found, sizeof found));
    *kind = nearest(tables, count, top->key, &distance);
    const char *noun = tables[*kind].noun;
    if (distance > 3 || 2 * distance > strlen(top->key))
        return mf_yaml_fail(tree, top, true, MF_BAD_FILE, error, "%s, found %.40s", name, top->key);
    if (distance > 0)
        return mf_yaml_fail(tree, top, true, MF_BAD_FILE, error,
                            "%.40s: unknown key, did you mean %s?", top->key, noun);
    if (top->next != NULL)
        return mf_yaml_fail(tree, top->next, true, MF_BAD_FILE, error, "%s, found %.40s, too", name,
                            top->next->key);
    reader->table = &tables[*kind];
    reader->root = top;
    reader->what = noun;
    snprintf(reader->prefix, sizeof reader->prefix, "%s.", noun);
    return MF_OK;
}

static const char *keep(mf_Reader *reader, const char *text, size_t length) {
    char *copy = mf_reader_allocate(reader, length + 1);
    if (copy != NULL)
        memcpy(copy, text, length);
    return copy;
}

mf_Status mf_document_take_name(mf_Reader *reader, const char **path, const char **title) {
    const char *file = reader->tree->file, *slash = strrchr(file, '/');
    *path = keep(reader, file, strlen(file));
    if (*path == NULL)
        return MF_NO_MEMORY;
    if (*title != NULL && (*title)[0] != '\0')
        return MF_OK;
    const char *name = slash == NULL ? file : slash + 1;
    const char *dot = strrchr(name, '.');
    *title = keep(reader, name, dot == NULL || dot == name ? strlen(name) : (size_t)(dot - name));
    return *title == NULL ? MF_NO_MEMORY : MF_OK;
}
