// Mayfly: kinds of bodies with files of their own (YAML), beside robots of links and joints:
// trusses (mayfly/truss.h), cloths (mayfly/cloth.h) and vehicles (mayfly/vehicle_file.h).
#pragma once

#include <mayfly/model.h>

typedef struct mf_BodyKind mf_BodyKind;

// The kind of a file, by the top key of its YAML text; NULL: of none.
MF_API const mf_BodyKind *mf_body_kind_of(const char *text, size_t size);
// "truss", "cloth", "vehicle"; NULL: there is no such kind.
MF_API const mf_BodyKind *mf_body_kind_named(const char *name);
MF_API const char *mf_body_kind_name(const mf_BodyKind *kind); // NULL for NULL

// The model of a group of such bodies: `body` is an mf_Truss, mf_Cloth or mf_Vehicle, as its kind
// has it. The caller destroys *out.
MF_API mf_Status mf_body_model(mf_Context *context, const mf_BodyKind *kind, const void *body,
                               mf_Model **out, mf_Error *error);

// Reads and checks a file; errors name file:line:column and what was expected. *out is free with
// mf_body_destroy.
MF_API mf_Status mf_body_load(mf_Context *context, const mf_BodyKind *kind, const char *path,
                              void **out, mf_Error *error);
// The same from memory; `path` is used in messages.
MF_API mf_Status mf_body_parse(mf_Context *context, const mf_BodyKind *kind, const char *path,
                               const char *text, size_t size, void **out, mf_Error *error);
MF_API void mf_body_destroy(void *body); // NULL is fine
// The text of a file with every default; reading it again gives the same body, but for digits
// beyond double's. From mf_allocate.
MF_API mf_Status mf_body_write(mf_Context *context, const mf_BodyKind *kind, const void *body,
                               char **text, mf_Error *error);
