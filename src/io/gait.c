// Gait files: one top key names the kind, below it are the members of its structure. Values that do
// not fit the robot are rejected with the position of the member in the file. A mirror image uses
// the frames of another file, with left and right exchanged.
#include "control/gait.h"
#include <mayfly/model_fields.h>
#include "base/floats.h"
#include "io/document.h"
#include "io/gait_keys.h"

#include <stdio.h>
#include <string.h>

enum { KINDS = 3 };

// Input of the reader of gaits.
typedef struct Given {
    const mf_Model *model; // NULL: only the file itself is checked
    bool follow;           // the file that a mirror image names is read too
} Given;

static void *parameters_of(mf_Gait *gait) {
    switch (gait->kind) {
    case MF_GAIT_WALK:
        return &gait->walk;
    case MF_GAIT_WAVES:
        return &gait->waves;
    case MF_GAIT_KEYFRAMES:
        break;
    }
    return &gait->keyframes;
}

// ---- error messages ----------------------------------------------------------------------------

// The node at "frames.2.angles.left_knee": names select entries of groups, numbers entries of
// lists. Returns the deepest node of the path that the file has.
static const mf_YamlNode *find_node(const mf_YamlNode *node, const char *path) {
    while (*path != '\0') {
        size_t length = strcspn(path, ".");
        const mf_YamlNode *inner = mf_yaml_find(node, path, length);
        if (node->kind == MF_YAML_SEQUENCE) {
            unsigned index = 0;
            sscanf(path, "%u", &index);
            inner = node->first;
            while (inner != NULL && index-- > 0)
                inner = inner->next;
        }
        if (inner == NULL)
            break;
        node = inner;
        path += length + (path[length] == '.');
    }
    return node;
}

// The joint's name most similar to an unknown one, NULL when none is.
static const char *near_joint(const mf_Model *model, const char *name) {
    const char *near = NULL;
    size_t best = strlen(name) / 2 < 3 ? strlen(name) / 2 + 1 : 4;
    for (uint32_t i = 0; i < model->joint_count; i++) {
        size_t distance = mf_name_distance(name, model->joints[i].name);
        if (distance < best) {
            near = model->joints[i].name;
            best = distance;
        }
    }
    return near;
}

// Errors in entries of `angles` point at the name, all others at the value.
static mf_Status complain(const mf_Reader *reader, const mf_Model *model, const mf_GaitBlame *blame,
                          const char *message) {
    const mf_YamlNode *node = find_node(reader->root, blame->path);
    const char *near = blame->missing == NULL ? NULL : near_joint(model, blame->missing);
    bool at_key =
        blame->missing != NULL && node->key != NULL && strcmp(node->key, blame->missing) == 0;
    return mf_yaml_fail(reader->tree, node, at_key || node == reader->root, MF_BAD_FILE,
                        reader->error, "%s%s%s%s%s", reader->prefix, message,
                        near == NULL ? "" : ", did you mean ", near == NULL ? "" : near,
                        near == NULL ? "" : "?");
}

static mf_Status check(const mf_Reader *reader, const mf_Gait *gait, const mf_Model *model) {
    mf_GaitDraft draft;
    mf_GaitBlame blame;
    mf_Error cause = {0};
    mf_Status status = mf_gait_draft(gait->context, gait, model, &draft, &blame, &cause);
    if (status == MF_OK) {
        mf_gait_draft_release(gait->context, &draft);
        return MF_OK;
    }
    if (status == MF_NO_MEMORY)
        return mf_fail_at(reader->error, status, reader->tree->file, 0, 0, "%s", cause.message);
    return complain(reader, model, &blame, cause.message);
}

// ---- mirror images -----------------------------------------------------------------------------

static mf_Status mirror_angle(const mf_Reader *reader, const mf_YamlNode *node,
                              const mf_Model *model, mf_GaitAngle *out, const mf_GaitAngle *from) {
    uint32_t joint = mf_model_find(model, MF_ITEM_JOINT, from->joint), other;
    double factor;
    if (!mf_gait_mirror(model, joint, &other, &factor))
        return mf_yaml_fail(reader->tree, node, false, MF_BAD_FILE, reader->error,
                            "%smirror_of: joint %.80s has no mirror image: expected one of the "
                            "other side, left or right in its name, with a mirrored axis",
                            reader->prefix, from->joint);
    size_t length = strlen(model->joints[other].name);
    char *name = mf_reader_allocate((mf_Reader *)(uintptr_t)reader, length + 1);
    if (name == NULL)
        return MF_NO_MEMORY;
    memcpy(name, model->joints[other].name, length);
    *out = (mf_GaitAngle){name, factor * from->angle};
    return MF_OK;
}

static mf_Status mirror_frames(mf_Reader *reader, const mf_YamlNode *node, const mf_Model *model,
                               mf_GaitKeyframes *out, const mf_GaitKeyframes *from) {
    *out = *from;
    out->mirror_of = NULL;
    out->frames = mf_reader_allocate(reader, from->frame_count * sizeof *out->frames);
    if (out->frames == NULL)
        return MF_NO_MEMORY;
    for (uint32_t f = 0; f < from->frame_count; f++) {
        const mf_GaitFrame *frame = &from->frames[f];
        mf_GaitAngle *angles =
            mf_reader_allocate(reader, frame->angle_count * sizeof *frame->angles);
        if (angles == NULL)
            return MF_NO_MEMORY;
        out->frames[f] = (mf_GaitFrame){frame->time, angles, frame->angle_count};
        for (uint32_t i = 0; i < frame->angle_count; i++)
            MF_TRY(mirror_angle(reader, node, model, &angles[i], &frame->angles[i]));
    }
    return MF_OK;
}

// The other file must have frames of its own, so references cannot form a cycle.
static mf_Status check_original(const mf_Reader *reader, const mf_YamlNode *node,
                                const mf_Gait *original, bool mirrored) {
    if (original->kind == MF_GAIT_KEYFRAMES && !mirrored)
        return MF_OK;
    return mf_yaml_fail(reader->tree, node, false, MF_BAD_FILE, reader->error,
                        "%smirror_of: expected a file with keyframes of its own, found %s",
                        reader->prefix, mirrored ? "another mirror image" : "no keyframes");
}

static mf_Status load(mf_Context *context, const char *path, const mf_Model *model, bool follow,
                      mf_Gait **out, mf_Error *error);

static mf_Status follow_mirror(mf_Reader *reader, const mf_Model *model, mf_Gait *gait) {
    const mf_YamlNode *node = mf_reader_find(reader, "mirror_of"), *first = reader->root->first;
    const mf_YamlNode *other = first != node ? first : first->next;
    mf_Gait *original = NULL;
    mf_Error cause = {0};
    if (other != NULL)
        return mf_yaml_fail(reader->tree, other, true, MF_BAD_FILE, reader->error,
                            "%s%.40s: a mirror image takes everything from mirror_of",
                            reader->prefix, other->key);
    if (model == NULL)
        return MF_OK;
    mf_Status status =
        load(gait->context, gait->keyframes.mirror_of, model, false, &original, &cause);
    if (status != MF_OK && (cause.line != 0 || status == MF_NO_MEMORY)) {
        if (reader->error != NULL)
            *reader->error = cause;
        return status;
    }
    if (status != MF_OK)
        return mf_yaml_fail(reader->tree, node, false, MF_BAD_FILE, reader->error,
                            "%smirror_of: %.200s: %.180s", reader->prefix,
                            gait->keyframes.mirror_of, cause.message);
    bool mirrored = original->keyframes.mirror_of != NULL;
    status = check_original(reader, node, original, mirrored);
    MF_THEN(status, mirror_frames(reader, node, model, &gait->keyframes, &original->keyframes));
    mf_gait_destroy(original);
    return status;
}

// ---- reading -----------------------------------------------------------------------------------

static mf_Status read_gait(mf_Reader *reader, const mf_DocumentSource *source) {
    const Given *given = source->given;
    mf_Gait *gait = reader->base;
    uint32_t kind;
    gait->context = source->context;
    MF_TRY(mf_document_choose(reader, mf_gait_table(MF_GAIT_WALK), KINDS, &kind));
    gait->kind = (mf_GaitKind)kind;
    reader->base = parameters_of(gait);
    mf_Status status = mf_reader_read(reader);
    bool mirrored = gait->kind == MF_GAIT_KEYFRAMES && gait->keyframes.mirror_of != NULL;
    if (status == MF_OK && mirrored && given->follow)
        status = follow_mirror(reader, given->model, gait);
    mirrored = mirrored && gait->keyframes.mirror_of != NULL;
    if (status == MF_OK && !mirrored)
        status = check(reader, gait, given->model);
    return status == MF_OK ? mf_document_take_name(reader, &gait->file, &gait->name) : status;
}

static const mf_DocumentKind gait_kind = {"gait", sizeof(mf_Gait), read_gait, NULL};

mf_Status mf_gait_parse(mf_Context *context, const char *path, const char *text, size_t size,
                        const mf_Model *model, mf_Gait **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    const Given given = {model, true};
    const mf_DocumentSource source = {
        .context = context, .path = path, .text = text, .size = size, .given = &given};
    void *value = NULL;
    mf_Status status = mf_document_parse(&gait_kind, &source, out == NULL ? NULL : &value, error);
    if (out != NULL)
        *out = value;
    return status;
}

static mf_Status load(mf_Context *context, const char *path, const mf_Model *model, bool follow,
                      mf_Gait **out, mf_Error *error) {
    const Given given = {model, follow};
    const mf_DocumentSource source = {.context = context, .path = path, .given = &given};
    void *value = NULL;
    mf_Status status = mf_document_load(&gait_kind, &source, out == NULL ? NULL : &value, error);
    if (out != NULL)
        *out = value;
    return status;
}

mf_Status mf_gait_load(mf_Context *context, const char *path, const mf_Model *model, mf_Gait **out,
                       mf_Error *error) {
    MF_DEFAULT_FLOATS;
    return load(context, path, model, true, out, error);
}

void mf_gait_destroy(mf_Gait *gait) {
    mf_document_destroy(&gait_kind, gait);
}

// ---- writing -----------------------------------------------------------------------------------

mf_Status mf_gait_write(const mf_Gait *gait, char **text, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(text != NULL, error, "gait: text is NULL");
    *text = NULL;
    MF_NEED(gait != NULL, error, "gait: gait is NULL");
    mf_Gait *source = (mf_Gait *)(uintptr_t)gait; // only read
    return mf_keys_write_under(gait->context, mf_gait_table(gait->kind), parameters_of(source),
                               mf_gait_kind_name(gait->kind), text, error);
}
