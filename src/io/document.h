// Documents: YAML files that are read by tables of keys into one structure, which owns its memory.
// A format consists of a table, relations between keys, and a row of mf_DocumentKind.
#pragma once

#include <mayfly/gait.h>
#include <mayfly/vehicle_file.h>
#include "io/reader.h"

// Input, borrowed for the call.
typedef struct mf_DocumentSource {
    mf_Context *context;
    const char *path; // of the file; for messages, and the base of relative paths in it
    const char *text; // not for mf_document_load
    size_t size;      // [byte] of the text
    const mf_Override *overrides;
    uint32_t override_count;
    const void *given; // other input of the format
} mf_DocumentSource;

typedef struct mf_DocumentKind {
    const char *noun; // "scene", for messages about arguments
    size_t size;      // [byte] of the structure
    // Reads reader->tree into the structure at reader->base, which is zeroed.
    mf_Status (*read)(mf_Reader *reader, const mf_DocumentSource *source);
    // Releases what the structure owns outside of the reader's memory, also after a partial read.
    // May be NULL.
    void (*release)(void *value);
} mf_DocumentKind;

// Reads a text, or the file of `source->path`. `*out` becomes the structure, or NULL on failure.
// MF_BAD_ARGUMENT: `out` or a required member of the source is NULL.
mf_Status mf_document_parse(const mf_DocumentKind *kind, const mf_DocumentSource *source,
                            void **out, mf_Error *error);
mf_Status mf_document_load(const mf_DocumentKind *kind, const mf_DocumentSource *source, void **out,
                           mf_Error *error);

// Frees a structure made by one of these functions, and all that it points to. May be NULL.
void mf_document_destroy(const mf_DocumentKind *kind, void *value);

// For `read` of a format with one key at the top, the noun of one of `count` tables: `*kind`
// becomes its index, and the reader is set to that table and the keys below. The caller sets its
// `base`.
mf_Status mf_document_choose(mf_Reader *reader, const mf_KeyTable *tables, uint32_t count,
                             uint32_t *kind);

// Values derived from the file's name: a copy of the path, and its last part as title when `*title`
// is NULL or empty.
mf_Status mf_document_take_name(mf_Reader *reader, const char **path, const char **title);

// mf_gait_load from memory; `path` is for messages, and file names in the text are relative to its
// folder.
mf_Status mf_gait_parse(mf_Context *context, const char *path, const char *text, size_t size,
                        const mf_Model *model, mf_Gait **out, mf_Error *error);

// The gait as YAML text that reads back as the same gait; frames of a mirror image are written in
// full. The caller releases *text with mf_release(gait->context, ...).
mf_Status mf_gait_write(const mf_Gait *gait, char **text, mf_Error *error);
