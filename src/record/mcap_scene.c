// What Foxglove's panels show of a recording: the poses of links (/tf), their shapes (/scene,
// once), states of joints and the pictures of cameras, of the first robots of each group, and what
// has no links (mcap_soft.c). Robots of
// an isolated group have worlds of their own, so that only the first one is shown; all numbers are
// in the fields.
#include "math/scalar.h"
#include "model/points.h"
#include "record/foxglove.h"
#include "record/mcap_store.h"
#include "world/attach.h"

#include <mayfly/camera.h>
#include <mayfly/dynamics.h>
#include <mayfly/terrain.h>

#include <stdio.h>
#include <string.h>

enum { LINKS_MOST = 4096 };  // [1] with poses, per group
enum { TALKERS_MOST = 16 };  // [1] robots with topics of their own, per group
enum { GROUND_NODES = 129 }; // [1] most along an edge of the shown ground
enum { MEASURES = 2 };       // of a camera: color, depth
enum { FRAME = MF_MCAP_FRAME };
static const char world_frame[] = "world";

static void name_robot(const mf_Group *group, uint32_t robot, const char *part, char out[FRAME]) {
    snprintf(out, FRAME, "%.150s/%u/%.150s", mf_group_config_of(group)->name, robot, part);
}

static void name_link(const mf_Group *group, uint32_t robot, uint32_t link, char out[FRAME]) {
    name_robot(group, robot, mf_group_model(group)->links[link].name, out);
}

void mf_mcap_link_frame(const mf_Group *group, uint32_t robot, uint32_t link,
                        char out[MF_MCAP_FRAME]) {
    name_link(group, robot, link, out);
}

// ---- what is shown -----------------------------------------------------------------------------

static uint32_t robots_shown(const mf_Visual *visual) {
    const mf_Group *group = visual->group;
    const uint32_t links = mf_group_model(group)->link_count, count = mf_group_count(group);
    if (links == 0 || visual->kind == MF_VISUAL_POINTS)
        return 0;
    return mf_group_config_of(group)->isolated ? mf_smaller_u32(count, 1)
                                               : mf_smaller_u32(count, LINKS_MOST / links);
}

void mf_mcap_color(const mf_McapGroup *part, const float own[3], float out[3]) {
    mf_visual_tint(own, part->color[0] < 0.0f ? NULL : part->color, out);
}

static mf_Field *picture_of(mf_Group *group, uint32_t camera, uint32_t measure) {
    static const char *const names[MEASURES] = {"color", "depth"};
    char name[FRAME];
    snprintf(name, sizeof name, "camera.%s.%s", mf_group_model(group)->cameras[camera].name,
             names[measure]);
    return mf_group_find_field(group, name);
}

// ---- channels ----------------------------------------------------------------------------------

typedef struct Schemas {
    uint32_t transforms, scene, joints, image, cloud;
} Schemas;

static Schemas make_schemas(mf_Recorder *recorder) {
    mf_Mcap *file = &recorder->mcap->file;
    mf_Text text = mf_text_begin(recorder->context);
    mf_foxglove_describe(&text);
    file->schemas.failed |= text.failed;
    const Schemas out = {.transforms = mf_mcap_schema(file, "foxglove.FrameTransforms", &text),
                         .scene = mf_mcap_schema(file, "foxglove.SceneUpdate", &text),
                         .joints = mf_mcap_schema(file, "foxglove.JointStates", &text),
                         .image = mf_mcap_schema(file, "foxglove.RawImage", &text),
                         .cloud = mf_mcap_schema(file, "foxglove.PointCloud", &text)};
    mf_text_free(&text);
    return out;
}

static uint32_t make_channel(mf_Recorder *recorder, const mf_Group *group, uint32_t robot,
                             const char *part, uint32_t schema) {
    char topic[FRAME + 1] = "/";
    name_robot(group, robot, part, topic + 1);
    return mf_mcap_channel(&recorder->mcap->file, topic, schema, NULL);
}

static void make_image_channels(mf_Recorder *recorder, const mf_McapGroup *part, uint32_t robot,
                                uint32_t schema) {
    static const char *const endings[MEASURES] = {"", "/depth"};
    const mf_Model *model = mf_group_model(part->group);
    for (uint32_t i = 0; i < MEASURES * part->cameras; i++) {
        char topic[FRAME];
        uint32_t *channel = &part->images[robot * MEASURES * part->cameras + i];
        *channel = MF_NONE;
        if (picture_of(part->group, i / MEASURES, i % MEASURES) == NULL)
            continue;
        snprintf(topic, sizeof topic, "camera/%.130s%s", model->cameras[i / MEASURES].name,
                 endings[i % MEASURES]);
        *channel = make_channel(recorder, part->group, robot, topic, schema);
    }
}

static bool make_group(mf_Recorder *recorder, mf_McapGroup *part, const Schemas *schemas) {
    const mf_Model *model = mf_group_model(part->group);
    mf_Context *context = recorder->context;
    bool any = false;
    part->visual = mf_visual_of(part->group);
    part->robots = robots_shown(&part->visual);
    part->talkers = mf_smaller_u32(part->robots, TALKERS_MOST);
    part->cameras = model->camera_count;
    const uint32_t images = part->talkers * MEASURES * part->cameras;
    part->images = mf_allocate(context, images + 1, sizeof *part->images);
    part->shown = mf_allocate(context, images + 1, sizeof *part->shown);
    part->joints = mf_allocate(context, part->talkers + 1, sizeof *part->joints);
    if (part->images == NULL || part->shown == NULL || part->joints == NULL)
        return false;
    if (!mf_mcap_soft_begin(recorder, part, schemas->scene, schemas->cloud))
        return false;
    for (uint32_t j = 0; j < model->joint_count; j++)
        any = any || mf_joint_has_axis(&model->joints[j]);
    for (uint32_t r = 0; r < part->talkers; r++) {
        part->joints[r] =
            any ? make_channel(recorder, part->group, r, "joint_states", schemas->joints) : MF_NONE;
        make_image_channels(recorder, part, r, schemas->image);
    }
    return true;
}

// ---- shapes ------------------------------------------------------------------------------------

// Begins the entity of the shapes of one link of a robot, or, MF_NONE, of those that its file fixes
// in the world.
static size_t open_link(mf_Text *out, const mf_Group *group, uint32_t robot, uint32_t link,
                        mf_Time time) {
    char name[FRAME];
    if (link == MF_NONE)
        name_robot(group, robot, "scenery", name);
    else
        name_link(group, robot, link, name);
    return mf_foxglove_open_entity(out, time, link == MF_NONE ? world_frame : name, name);
}

static void put_link(mf_Text *out, const mf_McapGroup *part, uint32_t robot, uint32_t link,
                     mf_Time time) {
    const mf_Model *model = mf_group_model(part->group);
    bool any = false;
    size_t opened = 0;
    for (uint32_t i = 0; i < part->visual.part_count; i++) {
        mf_Shape shape;
        float color[3];
        if (!mf_visual_part(&part->visual, robot, i, &shape) || shape.link != link)
            continue;
        opened = any ? opened : open_link(out, part->group, robot, link, time);
        any = true;
        mf_mcap_color(part, shape.color, color);
        mf_foxglove_shape(out, model, &shape, color);
    }
    if (any)
        mf_proto_close(out, opened);
}

// Nodes and triangles of a height map: the whole of it, coarser where it has many cells.
static void put_ground(mf_Recorder *recorder, mf_Text *out, mf_Time time) {
    const mf_Terrain *terrain = mf_world_config_of(recorder->world)->terrain;
    static const float color[3] = {0.45f, 0.5f, 0.45f};
    const double whole[4] = {1.0, 0.0, 0.0, 0.0}, origin[3] = {0.0, 0.0, 0.0};
    if (terrain == NULL || (terrain->columns <= 1 && terrain->rows <= 1))
        return;
    const uint32_t columns = mf_smaller_u32(terrain->columns + 1, GROUND_NODES),
                   rows = mf_smaller_u32(terrain->rows + 1, GROUND_NODES);
    float *nodes = mf_allocate(recorder->context, (size_t)columns * rows, 3 * sizeof *nodes);
    uint32_t *corners = mf_allocate(recorder->context, (size_t)columns * rows, 6 * sizeof *corners);
    out->failed |= nodes == NULL || corners == NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < columns * rows && !out->failed; i++) {
        const uint32_t c = i % columns, r = i / columns;
        const double x = terrain->origin[0] + terrain->columns * terrain->cell * c / (columns - 1),
                     y = terrain->origin[1] + terrain->rows * terrain->cell * r / (rows - 1);
        nodes[3 * i] = (float)x;
        nodes[3 * i + 1] = (float)y;
        nodes[3 * i + 2] = (float)mf_terrain_height(terrain, x, y, NULL);
        if (c + 1 == columns || r + 1 == rows)
            continue;
        const uint32_t cell[6] = {i, i + 1, i + columns, i + 1, i + columns + 1, i + columns};
        memcpy(corners + count, cell, sizeof cell);
        count += 6;
    }
    if (!out->failed) {
        const size_t opened = mf_foxglove_open_entity(out, time, world_frame, "ground");
        mf_foxglove_triangles(out, origin, whole, nodes, columns * rows, corners, count, color);
        mf_proto_close(out, opened);
    }
    mf_release(recorder->context, nodes);
    mf_release(recorder->context, corners);
}

static void put_scene(mf_Recorder *recorder, uint32_t channel) {
    mf_McapStore *store = recorder->mcap;
    const mf_Time time = mf_world_time(recorder->world);
    mf_Text *out = &store->message;
    out->size = 0;
    put_ground(recorder, out, time);
    for (uint32_t g = 0; g < store->group_count; g++) {
        const mf_McapGroup *part = &store->groups[g];
        const mf_Model *model = mf_group_model(part->group);
        for (uint32_t r = 0; r < part->robots; r++) {
            put_link(out, part, r, MF_NONE, time);
            for (uint32_t l = 0; l < model->link_count; l++)
                put_link(out, part, r, l, time);
        }
    }
    mf_mcap_message(&store->file, channel, time, out);
}

mf_Status mf_mcap_scene_begin(mf_Recorder *recorder, mf_Error *error) {
    mf_McapStore *store = recorder->mcap;
    const Schemas schemas = make_schemas(recorder);
    store->transforms = mf_mcap_channel(&store->file, "/tf", schemas.transforms, NULL);
    const uint32_t scene = mf_mcap_channel(&store->file, "/scene", schemas.scene, NULL);
    mf_mcap_draw_begin(recorder, schemas.scene);
    uint32_t links = 1;
    bool good = true;
    for (uint32_t g = 0; g < store->group_count && good; g++) {
        good = make_group(recorder, &store->groups[g], &schemas);
        const uint32_t own = mf_group_model(store->groups[g].group)->link_count;
        links = own > links ? own : links;
    }
    store->position = mf_allocate(recorder->context, links, 3 * sizeof *store->position);
    store->rotation = mf_allocate(recorder->context, links, 4 * sizeof *store->rotation);
    if (!good || store->position == NULL || store->rotation == NULL)
        return mf_fail_at(error, MF_NO_MEMORY, recorder->output.path, 0, 0, "no memory to record");
    mf_Status status = MF_OK;
    for (uint32_t g = 0; g < store->group_count && status == MF_OK; g++) // prepares link poses
        if (store->groups[g].robots > 0)
            status = mf_group_link_poses(store->groups[g].group, 0, 1, store->position,
                                         store->rotation, error);
    if (status == MF_OK)
        put_scene(recorder, scene);
    return status;
}

// ---- samples -----------------------------------------------------------------------------------

// The frame of a camera's pictures, in its link's: x to the right, y down, z ahead.
static void put_camera_frame(mf_Text *out, const mf_Group *group, uint32_t robot,
                             const mf_Camera *camera, mf_Time time) {
    char parent[FRAME] = "world", child[FRAME], name[FRAME];
    const double *q = camera->frame.rotation; // times (0.5, -0.5, 0.5, -0.5)
    const double rotation[4] = {
        0.5 * (q[0] + q[1] - q[2] + q[3]), 0.5 * (-q[0] + q[1] - q[2] - q[3]),
        0.5 * (q[0] + q[1] + q[2] - q[3]), 0.5 * (-q[0] + q[1] + q[2] + q[3])};
    snprintf(name, sizeof name, "camera/%.130s", camera->name);
    name_robot(group, robot, name, child);
    if (camera->frame.link != MF_NONE)
        name_link(group, robot, camera->frame.link, parent);
    mf_foxglove_transform(out, time, parent, child, camera->frame.position, rotation);
}

static void put_transforms(mf_Recorder *recorder, mf_Time time) {
    mf_McapStore *store = recorder->mcap;
    mf_Text *out = &store->message;
    out->size = 0;
    for (uint32_t g = 0; g < store->group_count; g++) {
        mf_McapGroup *part = &store->groups[g];
        const mf_Model *model = mf_group_model(part->group);
        for (uint32_t r = 0; r < part->robots; r++) {
            // Prepared at the start, so it cannot fail.
            mf_group_link_poses(part->group, r, 1, store->position, store->rotation, NULL);
            for (uint32_t l = 0; l < model->link_count; l++) {
                char child[FRAME];
                name_link(part->group, r, l, child);
                mf_foxglove_transform(out, time, world_frame, child, store->position + 3 * l,
                                      store->rotation + 4 * l);
            }
            const mf_Camera *cameras = mf_group_model_of(part->group, r)->cameras;
            for (uint32_t c = 0; c < part->cameras && r < part->talkers; c++)
                put_camera_frame(out, part->group, r, &cameras[c], time);
        }
    }
    mf_mcap_message(&store->file, store->transforms, time, out);
}

static void put_joints(mf_Recorder *recorder, const mf_McapGroup *part, uint32_t robot,
                       mf_Time time) {
    mf_Text *out = &recorder->mcap->message;
    const mf_Model *model = mf_group_model(part->group);
    const mf_Field *angle = mf_group_find_field(part->group, "joint.angle"),
                   *rate = mf_group_find_field(part->group, "joint.rate");
    out->size = 0;
    mf_proto_time(out, 1, time);
    for (uint32_t j = 0; j < model->joint_count; j++) {
        if (!mf_joint_has_axis(&model->joints[j]))
            continue;
        const size_t opened = mf_proto_open(out, 2);
        mf_proto_string(out, 1, model->joints[j].name);
        mf_proto_double(out, 2, mf_field_get(angle, robot, j));
        mf_proto_double(out, 3, mf_field_get(rate, robot, j));
        mf_proto_close(out, opened);
    }
    mf_mcap_message(&recorder->mcap->file, part->joints[robot], time, out);
}

// Copies the pixels to `shown`; false: they are those of the last sample.
static bool take_pixels(const mf_Field *field, uint32_t robot, char *shown) {
    const char *from =
        (const char *)field->data +
        ((size_t)(robot / MF_BLOCK) * field->components * MF_BLOCK + robot % MF_BLOCK) *
            sizeof(uint32_t);
    bool differs = false;
    for (uint32_t i = 0; i < field->components; i++) {
        const char *pixel = from + (size_t)i * MF_BLOCK * sizeof(uint32_t);
        differs = differs || memcmp(shown + 4 * (size_t)i, pixel, 4) != 0;
        memcpy(shown + 4 * (size_t)i, pixel, 4);
    }
    return differs;
}

static void put_image(mf_Recorder *recorder, mf_McapGroup *part, uint32_t robot, uint32_t index,
                      mf_Time time) {
    const mf_Camera *camera = &mf_group_model(part->group)->cameras[index / MEASURES];
    const uint32_t number = robot * MEASURES * part->cameras + index;
    const mf_Field *field = picture_of(part->group, index / MEASURES, index % MEASURES);
    mf_Text *out = &recorder->mcap->message;
    char name[FRAME], frame[FRAME];
    const bool first = part->shown[number] == NULL;
    if (first)
        part->shown[number] = mf_allocate(recorder->context, field->components, sizeof(uint32_t));
    if (part->shown[number] == NULL) {
        out->failed = true;
        return;
    }
    if (!take_pixels(field, robot, part->shown[number]) && !first)
        return;
    snprintf(name, sizeof name, "camera/%.130s", camera->name);
    name_robot(part->group, robot, name, frame);
    out->size = 0;
    mf_proto_time(out, 1, time);
    mf_proto_string(out, 7, frame);
    mf_proto_fixed32(out, 2, camera->width);
    mf_proto_fixed32(out, 3, camera->height);
    mf_proto_string(out, 4, index % MEASURES == 0 ? "rgba8" : "32FC1");
    mf_proto_fixed32(out, 5, 4 * camera->width);
    mf_proto_bytes(out, 6, part->shown[number], (size_t)field->components * 4);
    mf_mcap_message(&recorder->mcap->file, part->images[number], time, out);
}

void mf_mcap_scene_sample(mf_Recorder *recorder, mf_Time time) {
    mf_McapStore *store = recorder->mcap;
    put_transforms(recorder, time);
    mf_mcap_draw_sample(recorder, time);
    for (uint32_t g = 0; g < store->group_count; g++) {
        mf_McapGroup *part = &store->groups[g];
        mf_mcap_soft_sample(recorder, part, time);
        for (uint32_t r = 0; r < part->talkers; r++) {
            if (part->joints[r] != MF_NONE)
                put_joints(recorder, part, r, time);
            for (uint32_t i = 0; i < MEASURES * part->cameras; i++)
                if (part->images[r * MEASURES * part->cameras + i] != MF_NONE)
                    put_image(recorder, part, r, i, time);
        }
    }
}

void mf_mcap_scene_free(mf_Recorder *recorder) {
    mf_McapStore *store = recorder->mcap;
    for (uint32_t g = 0; store->groups != NULL && g < store->group_count; g++) {
        const mf_McapGroup *part = &store->groups[g];
        const uint32_t images = part->talkers * MEASURES * part->cameras;
        for (uint32_t i = 0; part->shown != NULL && i < images; i++)
            mf_release(recorder->context, part->shown[i]);
        mf_release(recorder->context, part->shown);
        mf_release(recorder->context, part->images);
        mf_release(recorder->context, part->joints);
        mf_release(recorder->context, part->scratch);
    }
    mf_release(recorder->context, store->position);
    mf_release(recorder->context, store->rotation);
}
