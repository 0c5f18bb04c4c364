// Fuzz target: whatever loads also moves. A robot (URDF or MJCF, from memory) takes some steps
// under each level that accepts it, a scene (YAML; its models are those of this project) as it
// says. No step crashes or leaks, and the notes and texts about it can be had.
#include "fuzz.h"
#include "motion/table.h"
#include "import/mjcf.h"
#include "import/urdf.h"

enum { ROBOTS = 2, STEPS = 4, LINKS = 24, SHAPES = 32, CELLS = 4096, MEMBERS = 64 };

static void read_notes(mf_World *world) {
    char note[MF_MOTION_NOTE];
    for (uint32_t g = 0; g < mf_world_group_count(world); g++)
        for (uint32_t i = 0; mf_motion_group_note(mf_world_group(world, g), i, note); i++)
            require(strchr(note, '\n') == NULL && strlen(note) < MF_MOTION_NOTE);
}

// ---- robots -------------------------------------------------------------------------------------

static bool is_small(const mf_Model *model) {
    size_t cells = 0;
    for (uint32_t i = 0; i < model->height_field_count; i++)
        cells += (size_t)model->height_fields[i].rows * model->height_fields[i].columns;
    return model->link_count <= LINKS && model->shape_count <= SHAPES && cells <= CELLS &&
           model->tendon_wrap_count <= LINKS && model->actuator_count <= LINKS;
}

static void move(mf_Context *context, const mf_Model *model, mf_Motion motion) {
    mf_Error error = {0};
    mf_World *world = NULL;
    mf_Group *group = NULL;
    mf_Terrain *ground = NULL;
    mf_WorldConfig config = mf_world_config_for(model);
    mf_GroupConfig robots = mf_group_config();
    robots.model = model;
    robots.count = ROBOTS;
    robots.double_precision = motion % 2 == 0;
    if (mf_motion_check(model, motion, &error) != MF_OK ||
        mf_terrain_from_model(context, model, &ground, &error) != MF_OK)
        return;
    config.terrain = ground;
    if (mf_world_create(context, &config, &world, &error) == MF_OK &&
        mf_world_add_group(world, &robots, &group, &error) == MF_OK &&
        mf_motion_add(group, motion, NULL, &error) == MF_OK) {
        mf_Field *control = mf_group_find_field(group, "actuator.control");
        if (control != NULL && control->components > 0)
            mf_field_set(control, 1, 0, 1.0);
        mf_world_step(world, STEPS);
        mf_world_hash(world);
        read_notes(world);
    }
    require(error.message[0] != '\0' || world != NULL);
    mf_world_destroy(world);
    mf_terrain_destroy(ground);
}

static void try_robot(mf_Context *context, const char *text, size_t size) {
    mf_ImportConfig config = mf_import_config();
    mf_Model *model = NULL;
    mf_Error error = {0};
    config.lenient = true;
    if (mf_mjcf_parse(context, "fuzz.xml", text, size, &config, true, &model, &error) != MF_OK)
        mf_urdf_parse(context, "fuzz.urdf", text, size, &config, true, &model, &error);
    for (int motion = 0; model != NULL && is_small(model) && motion < MF_MOTION_LEVELS; motion++)
        move(context, model, (mf_Motion)motion);
    mf_model_destroy(model);
}

// ---- scenes -------------------------------------------------------------------------------------

// Small, and without other programs and files that it would start or write.
static bool is_modest(const mf_SceneFile *file) {
    bool small = file->script_count == 0 && file->bridge_count == 0 && file->camera_count == 0 &&
                 (size_t)file->ground.terrain.rows * file->ground.terrain.columns <= 16 * CELLS;
    for (uint32_t g = 0; g < file->group_count; g++)
        small = small && file->groups[g].count <= MEMBERS && file->groups[g].plugin_count == 0 &&
                !file->groups[g].cameras;
    return small && file->group_count <= 6;
}

static void try_scene(mf_Context *context, const char *text, size_t size) {
    mf_SceneFile *file = NULL;
    mf_Scene scene = {0};
    mf_Error error = {0};
    if (mf_scene_file_parse(context, MAYFLY_SOURCE_DIR "/scenes/fuzz.yaml", text, size, NULL, 0,
                            &file, &error) != MF_OK)
        return;
    if (is_modest(file) && mf_scene_create(context, file, NULL, &scene, &error) == MF_OK) {
        mf_world_step(scene.world, STEPS);
        mf_world_hash(scene.world);
        read_notes(scene.world);
        for (uint32_t i = 0; i < scene.note_count; i++)
            require(strchr(scene.notes[i], '\n') == NULL);
    }
    mf_scene_destroy(&scene);
    mf_scene_file_destroy(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t largest = (size_t)64 << 20;
    mf_Context *context = fuzz_context(&largest);
    if (size > 0 && data[0] == '<')
        try_robot(context, (const char *)data, size);
    else
        try_scene(context, (const char *)data, size);
    fuzz_end(context);
    return 0;
}
