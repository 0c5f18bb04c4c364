// The table of kinds of bodies, and what all rows have in common (kind.h).
#include "base/floats.h"
#include "body/kind.h"
#include "io/yaml_text.h"
#include "motion/table.h"

#include <string.h>

#define ROW(name) &mf_##name##_body,
static const mf_BodyKind *const kinds[] = {MF_BODY_LIST(ROW)};
#undef ROW
enum { KINDS = sizeof kinds / sizeof *kinds };

const mf_BodyKind *mf_body_kind_of(const char *text, size_t size) {
    MF_DEFAULT_FLOATS;
    for (int i = 0; text != NULL && i < KINDS; i++)
        if (kinds[i]->is != NULL ? kinds[i]->is(text, size)
                                 : mf_yaml_has_top_key(text, size, kinds[i]->name))
            return kinds[i];
    return NULL;
}

const mf_BodyKind *mf_body_kind_named(const char *name) {
    for (int i = 0; name != NULL && i < KINDS; i++)
        if (strcmp(name, kinds[i]->name) == 0)
            return kinds[i];
    return NULL;
}

const char *mf_body_kind_name(const mf_BodyKind *kind) {
    return kind != NULL ? kind->name : NULL;
}

mf_Status mf_body_model(mf_Context *context, const mf_BodyKind *kind, const void *body,
                        mf_Model **out, mf_Error *error) {
    MF_NEED(kind != NULL && body != NULL, error, "mf_body_model: kind or body is NULL");
    return kind->model(context, body, out, error);
}

mf_Status mf_body_load(mf_Context *context, const mf_BodyKind *kind, const char *path, void **out,
                       mf_Error *error) {
    MF_DEFAULT_FLOATS;
    const mf_DocumentSource source = {.context = context, .path = path};
    MF_NEED(kind != NULL, error, "mf_body_load: kind is NULL");
    return mf_document_load(kind->document, &source, out, error);
}

mf_Status mf_body_parse(mf_Context *context, const mf_BodyKind *kind, const char *path,
                        const char *text, size_t size, void **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    const mf_DocumentSource source = {.context = context, .path = path, .text = text, .size = size};
    MF_NEED(kind != NULL, error, "mf_body_parse: kind is NULL");
    return mf_document_parse(kind->document, &source, out, error);
}

mf_Status mf_body_write(mf_Context *context, const mf_BodyKind *kind, const void *body, char **text,
                        mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (context == NULL || kind == NULL || body == NULL || text == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "mf_body_write: an argument is NULL");
    *text = NULL;
    return kind->write(context, body, text, error);
}

// All that a body owns is the memory of its reader.
void mf_body_destroy(void *body) {
    static const mf_DocumentKind plain = {.noun = "body"};
    mf_document_destroy(&plain, body);
}

const char *mf_body_file(const void *body) {
    const char *file;
    memcpy(&file, body, sizeof file);
    return file;
}

mf_Motion mf_body_motion(const mf_BodyKind *kind, const void *body) {
    if (kind->motion != NULL)
        return kind->motion(body);
    int motion = 0;
    while (!mf_body_moves_by(kind, (mf_Motion)motion))
        motion++;
    return (mf_Motion)motion;
}

bool mf_body_moves_by(const mf_BodyKind *kind, mf_Motion motion) {
    const mf_MotionRow *row = mf_motion_row(motion);
    return row != NULL && row->body != NULL && kind != NULL && strcmp(row->body, kind->name) == 0;
}

mf_Status mf_body_refuse(const mf_Reader *reader, const mf_BodyRefusal *refusals, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (refusals[i].found)
            return mf_reader_refuse(reader, refusals[i].key, NULL, "%s", refusals[i].reason);
    return MF_OK;
}
