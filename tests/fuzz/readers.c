// Fuzz targets of the readers of files, a row of the table at the end for each: FUZZ_READER is the
// name of a program's own row, and of its corpus. For any bytes a reader returns a sound result or
// one line of error, from memory, without leaks; what it returned is used.
#include "fuzz.h"
#include "base/hash.h"
#include "body/kind.h"
#include "image/image.h"
#include "import/mesh.h"
#include "import/mjcf.h"
#include "import/urdf.h"

typedef mf_Status (*MeshParser)(mf_Context *context, const char *file, const char *data,
                                size_t size, mf_MeshData *out, mf_Error *error);
typedef mf_Status (*RobotParser)(mf_Context *context, const char *file, const char *data,
                                 size_t size, const mf_ImportConfig *config, bool in_memory,
                                 mf_Model **out, mf_Error *error);

// Text that is written and read back to the same text.
typedef struct Document {
    mf_Status (*parse)(mf_Context *context, const void *of, const char *text, size_t size,
                       void **out, mf_Error *error);
    mf_Status (*write)(mf_Context *context, const void *of, const void *it, char **text);
    void (*check)(mf_Context *context, const void *of, const void *it);
    void (*destroy)(void *it);
} Document;

typedef struct Reader {
    const char *name;
    void (*fuzz)(const struct Reader *reader, const uint8_t *data, size_t size);
    MeshParser mesh;
    RobotParser robot;
    const Document *document;
    const void *of;    // what the document's functions need to know
    const char *begin; // of each recording
} Reader;

// ---- documents ----------------------------------------------------------------------------------

static void *parse(mf_Context *context, const Document *kind, const void *of, const char *text,
                   size_t size) {
    void *it = NULL;
    mf_Error error = {0};
    const mf_Status status = kind->parse(context, of, text, size, &it, &error);
    require_result(status, it, &error);
    return it;
}

static void try_document(mf_Context *context, const Document *kind, const void *of,
                         const char *text, size_t size) {
    char *once = NULL, *twice = NULL;
    void *it = parse(context, kind, of, text, size);
    if (it == NULL)
        return;
    kind->check(context, of, it);
    require(kind->write(context, of, it, &once) == MF_OK);
    void *again = parse(context, kind, of, once, strlen(once));
    require(again != NULL);
    require(kind->write(context, of, again, &twice) == MF_OK);
    require(strcmp(once, twice) == 0);
    mf_release(context, once);
    mf_release(context, twice);
    kind->destroy(it);
    kind->destroy(again);
}

static void fuzz_document(const Reader *reader, const uint8_t *data, size_t size) {
    mf_Context *context = fuzz_context(NULL);
    try_document(context, reader->document, reader->of, (const char *)data, size);
    fuzz_end(context);
}

// Of cloths, trusses and vehicles; what they refuse to hold they refuse to write, too.
static mf_Status body_parse(mf_Context *context, const void *of, const char *text, size_t size,
                            void **out, mf_Error *error) {
    mf_body_kind_of(text, size);
    return mf_body_parse(context, of, "/fuzz/b.yaml", text, size, out, error);
}

static mf_Status body_write(mf_Context *context, const void *of, const void *it, char **text) {
    return mf_body_write(context, of, it, text, NULL);
}

static void body_check(mf_Context *context, const void *of, const void *it) {
    const mf_Truss *truss = it;
    mf_TrussStatics statics; // a truss that is not too large has a rank
    require(of != &mf_truss_body || truss->vertex_count > 64 ||
            mf_truss_statics(context, truss, &statics, NULL) == MF_OK);
}

static const Document bodies = {body_parse, body_write, body_check, mf_body_destroy};

// Models, gaits and plugins of a scene are read later; files of vehicles are not available, so a
// scene with vehicles fails when they are opened, after everything before it has been read.
static mf_Status scene_parse(mf_Context *context, const void *of, const char *text, size_t size,
                             void **out, mf_Error *error) {
    mf_SceneFile *file = NULL;
    const mf_Status status =
        mf_scene_file_parse(context, "/fuzz/t.yaml", text, size, NULL, 0, &file, error);
    *out = file;
    return status;
}

static mf_Status scene_write(mf_Context *context, const void *of, const void *it, char **text) {
    return mf_scene_file_write(it, text, NULL);
}

static void scene_check(mf_Context *context, const void *of, const void *it) {
    mf_Error error = {0};
    require(mf_scene_file_count(it) > 0);
    require((mf_scene_file_can_evolve(it, &error) == MF_OK) == (error.message[0] == '\0'));
}

static void scene_destroy(void *it) {
    mf_scene_file_destroy(it);
}

static const Document scenes = {scene_parse, scene_write, scene_check, scene_destroy};

// Gaits, with a robot that has the joints of a walk, two legs and two arms, or without.
static mf_Status gait_parse(mf_Context *context, const void *of, const char *text, size_t size,
                            void **out, mf_Error *error) {
    mf_Gait *gait = NULL;
    const mf_Status status = mf_gait_parse(context, "/fuzz/g.yaml", text, size, of, &gait, error);
    *out = gait;
    return status;
}

static mf_Status gait_write(mf_Context *context, const void *of, const void *it, char **text) {
    return mf_gait_write(it, text, NULL);
}

// Its angles are finite and within the joints' ranges.
static void gait_check(mf_Context *context, const void *of, const void *it) {
    const mf_Model *model = of;
    for (int n = 0; model != NULL && n < 5; n++) {
        const double command[3] = {100.0, -1.0, 0.5};
        double angles[16] = {0};
        require(mf_gait_sample(it, model, 0.21 * n, command, angles, NULL) == MF_OK);
        for (uint32_t j = 0; j < model->joint_count; j++)
            require(angles[j] >= -3.0 && angles[j] <= 3.0);
    }
}

static void gait_destroy(void *it) {
    mf_gait_destroy(it);
}

static const Document gaits = {gait_parse, gait_write, gait_check, gait_destroy};

// The joints of one side.
static const struct {
    const char *name;
    double axis[3], down;
} joints[] = {{"hip_yaw", {0, 0, 1}, 0},         {"hip_roll", {1, 0, 0}, 0},
              {"hip_pitch", {0, 1, 0}, 0},       {"knee", {0, 1, 0}, 0.1},
              {"ankle_pitch", {0, 1, 0}, 0.1},   {"ankle_roll", {1, 0, 0}, 0.0},
              {"shoulder_pitch", {0, 1, 0}, 0.0}};

static mf_Model *make_walker(mf_Context *context) {
    mf_Builder *builder = NULL;
    mf_Model *model = NULL;
    const double center[3] = {0, 0, 0}, size[3] = {0.1, 0.1, 0.1};
    require(mf_builder_create(context, "biped", &builder, NULL) == MF_OK);
    const mf_BodyId trunk = mf_body_create_box(builder, size, center, 1.0, NULL);
    for (int side = 0; side < 2; side++) {
        double position[3] = {0, side == 0 ? 0.05 : -0.05, 0};
        mf_BodyId above = trunk;
        for (size_t i = 0; i < sizeof joints / sizeof *joints; i++) {
            char name[40];
            const bool arm = i == 6;
            snprintf(name, sizeof name, "%s_%s", side == 0 ? "left" : "right", joints[i].name);
            position[2] = arm ? 0.1 : position[2] - joints[i].down;
            const mf_BodyId body = mf_body_create_box(builder, size, position, 0.1, NULL);
            mf_JointConfig hinge = mf_hinge_config();
            hinge.name = name;
            hinge.lower = -3.0;
            hinge.upper = 3.0;
            mf_joint_create_hinge(builder, body, arm ? trunk : above, center, joints[i].axis,
                                  &hinge);
            above = body;
        }
    }
    require(mf_builder_finalize(builder, &model, NULL) == MF_OK);
    mf_builder_destroy(builder);
    return model;
}

static void fuzz_gait(const Reader *reader, const uint8_t *data, size_t size) {
    mf_Context *context = fuzz_context(NULL);
    mf_Model *model = make_walker(context);
    try_document(context, reader->document, model, (const char *)data, size);
    try_document(context, reader->document, NULL, (const char *)data, size);
    mf_model_destroy(model);
    fuzz_end(context);
}

// ---- robots -------------------------------------------------------------------------------------

// A model that was let through is sound. Without any mass it is scenery, or for `kinematic`.
static void check_model(const mf_Model *model, bool weightless) {
    const bool moves = model->joint_count > 0 || model->base == MF_BASE_FREE;
    require(model->mass > 0.0 || (model->mass == 0.0 && (weightless || !moves)));
    require(model->joint_count + 1 == model->link_count);
    for (uint32_t i = 0; i < model->joint_count; i++)
        require(model->joints[i].child == i + 1 && model->joints[i].parent <= i);
    for (uint32_t i = 0; i < model->shape_count; i++)
        require(model->shapes[i].link == MF_NONE || model->shapes[i].link < model->link_count);
    for (uint32_t i = 0; i < model->actuator_count; i++)
        require(model->actuators[i].joint == MF_NONE ||
                model->actuators[i].joint < model->joint_count);
}

// Strict and lenient, and the description of what was accepted.
static void fuzz_robot(const Reader *reader, const uint8_t *data, size_t size) {
    mf_Context *context = fuzz_context(NULL);
    for (int lenient = 0; lenient < 2; lenient++) {
        mf_ImportConfig config = mf_import_config();
        mf_Model *model = NULL;
        mf_Error error = {0};
        char *text = NULL;
        config.lenient = lenient == 1;
        if (reader->robot(context, "fuzz.xml", (const char *)data, size, &config, true, &model,
                          &error) != MF_OK)
            continue;
        check_model(model, reader->robot == mf_urdf_parse);
        mf_model_hash(model);
        if (mf_model_describe(model, &text, &error) == MF_OK)
            mf_release(context, text);
        mf_model_destroy(model);
    }
    fuzz_end(context);
}

// ---- meshes -------------------------------------------------------------------------------------

static void fuzz_mesh(const Reader *reader, const uint8_t *data, size_t size) {
    mf_Context *context = fuzz_context(NULL);
    // The readers rely on the 0 behind the file that mf_file_read adds.
    char *copy = malloc(size + 1);
    require(copy != NULL);
    if (size > 0)
        memcpy(copy, data, size);
    copy[size] = '\0';
    mf_MeshData mesh;
    mf_Error error = {0};
    if (reader->mesh(context, "fuzz", copy, size, &mesh, &error) == MF_OK) {
        double points[8][3];
        for (uint32_t i = 0; i < 3 * mesh.triangle_count; i++)
            require(mesh.triangles[i] < mesh.vertex_count);
        require(mf_mesh_points(&mesh, 8, points) >= 1);
        volatile double volume = mf_mesh_volume(&mesh);
        (void)volume;
        mf_mesh_release(&mesh);
    }
    fuzz_end(context);
    free(copy);
}

// ---- images -------------------------------------------------------------------------------------

// The guarantees of image.h.
static void try_image(const uint8_t *data, size_t size) {
    size_t largest = (size_t)4 << 20;
    mf_Context *context = fuzz_context(&largest);
    mf_Image image = {0};
    mf_Error error = {0};
    const mf_Status status = mf_image_parse(context, "fuzz", data, size, &image, &error);
    require_result(status, image.pixels, &error);
    require(error.status == status);
    if (status == MF_OK) {
        const size_t pixels = (size_t)image.width * image.height;
        require(pixels > 0 && image.white > 0 && image.white <= 65535);
        for (size_t i = 0; i < pixels; i++)
            require(mf_image_gray(&image, i) <= image.white);
        if (mf_image_to_color(context, &image, &error) == MF_OK)
            mf_release(context, image.pixels);
    }
    fuzz_end(context);
}

static void fuzz_image(const Reader *reader, const uint8_t *data, size_t size) {
    try_image(data, size);
}

static uint32_t word_at(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

// A chunk is its length, type, data and the checksum of type and data.
static void repair_checksums(uint8_t *data, size_t size) {
    size_t offset = 8;
    while (offset + 12 <= size && word_at(data + offset) <= size - offset - 12) {
        size_t length = word_at(data + offset);
        uint8_t *checksum = data + offset + 8 + length;
        uint32_t crc = mf_crc32(0, data + offset + 4, length + 4);
        for (int i = 0; i < 4; i++)
            checksum[i] = (uint8_t)(crc >> (24 - 8 * i));
        offset += length + 12;
    }
}

// Each input unchanged, and with corrected checksums, because mutations rarely have valid ones.
static void fuzz_png(const Reader *reader, const uint8_t *data, size_t size) {
    uint8_t *repaired = malloc(size + 1);
    require(repaired != NULL);
    try_image(data, size);
    if (size > 0)
        memcpy(repaired, data, size);
    if (size >= 8)
        memcpy(repaired, "\x89PNG\r\n\x1a\n", 8);
    repair_checksums(repaired, size);
    try_image(repaired, size);
    free(repaired);
}

// ---- recordings ---------------------------------------------------------------------------------

// What the library of HDF5 loses at a damaged file; what Mayfly loses is counted. The library's own
// crashes end the child that reads first.
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:libhdf5";
}

// A sum over everything, so that each byte is read.
static unsigned read_everything(const mf_Recording *recording) {
    unsigned sum = (unsigned)(strlen(recording->version) + strlen(recording->scene) +
                              strlen(recording->picture) + strlen(recording->run));
    for (uint32_t s = 0; s < recording->samples; s++)
        sum += recording->time[s] > 0.0;
    for (uint64_t i = 0; i < (uint64_t)recording->samples * recording->frame_size; i++)
        sum += recording->frames[i] > 0.0f;
    for (uint32_t f = 0; f < recording->field_count; f++) {
        const mf_RecordedField *field = &recording->fields[f];
        const uint8_t *bytes = field->values;
        const uint64_t count = (uint64_t)recording->samples * field->count * field->components;
        sum += (unsigned)(strlen(field->name) + strlen(field->unit) + strlen(field->frame));
        for (uint64_t i = 0; i < count * (field->type == MF_F64 ? 8 : 4); i++)
            sum += bytes[i];
    }
    return sum;
}

static void fuzz_recording(const Reader *reader, const uint8_t *data, size_t size) {
    enum { MOST = 1 << 26 }; // [byte] of a recording in memory
    static volatile unsigned sink;
    char path[64];
    if (size < 8 || memcmp(data, reader->begin, 8) != 0)
        return;
    fuzz_file(path, data, size);
    mf_Context *context = fuzz_context(NULL);
    mf_Recording *recording = NULL;
    mf_Error error = {0};
    const mf_Status status = mf_recording_open(context, path, MOST, &recording, &error);
    require_result(status, recording, &error);
    if (recording != NULL)
        sink = read_everything(recording);
    (void)sink;
    mf_recording_destroy(recording);
    fuzz_end(context);
    unlink(path);
}

// ---- the table ----------------------------------------------------------------------------------

static const Reader readers[] = {
    {"cloth", fuzz_document, .document = &bodies, .of = &mf_cloth_body},
    {"truss", fuzz_document, .document = &bodies, .of = &mf_truss_body},
    {"vehicle", fuzz_document, .document = &bodies, .of = &mf_vehicle_body},
    {"gait", fuzz_gait, .document = &gaits},
    {"scene", fuzz_document, .document = &scenes},
    {"mjcf", fuzz_robot, .robot = mf_mjcf_parse},
    {"urdf", fuzz_robot, .robot = mf_urdf_parse},
    {"dae", fuzz_mesh, .mesh = mf_dae_parse},
    {"obj", fuzz_mesh, .mesh = mf_obj_parse},
    {"stl", fuzz_mesh, .mesh = mf_stl_parse},
    {"pgm", .fuzz = fuzz_image},
    {"png", .fuzz = fuzz_png},
    {"hdf5", fuzz_recording, .begin = "\x89HDF\r\n\x1a\n"},
    {"recording", fuzz_recording, .begin = "\x89MCAP0\r\n"},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t row = 0;
    while (strcmp(readers[row].name, FUZZ_READER) != 0)
        row++;
    readers[row].fuzz(&readers[row], data, size);
    return 0;
}
