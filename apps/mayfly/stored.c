#include "stored.h"
#include "run_scripts.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_folder(const char *name) {
    struct stat info;
    return stat(name, &info) == 0 && S_ISDIR(info.st_mode);
}

bool mf_stored_is(const char *name) {
    char path[MF_APP_PATH];
    return is_folder(name) && mf_folder_path(name, "archive.sqlite", path, NULL) == MF_OK &&
           access(path, F_OK) == 0;
}

mf_Status mf_stored_open(mf_Context *context, const char *name, mf_Stored *out, mf_Error *error) {
    *out = (mf_Stored){.context = context};
    if (is_folder(name))
        MF_TRY(mf_folder_path(name, "archive.sqlite", out->path, error));
    else
        snprintf(out->path, sizeof out->path, "%s", name);
    MF_TRY(mf_archive_open(context, out->path, false, &out->archive, error));
    return mf_archive_run(out->archive, &out->run, error);
}

void mf_stored_close(mf_Stored *stored) {
    mf_archive_close(stored->archive);
    if (stored->context != NULL)
        mf_release(stored->context, stored->genome);
    *stored = (mf_Stored){.context = NULL};
}

mf_Status mf_stored_find(mf_Stored *stored, const char *id, uint32_t generation, mf_Error *error) {
    const uint32_t bytes = stored->run.search.genome_bytes;
    stored->genome = mf_allocate(stored->context, bytes, 1);
    MF_NEED_MEMORY(stored->genome != NULL, error, "archive");
    if (id != NULL)
        return mf_archive_individual(stored->archive, mf_option_count(id, 0), &stored->individual,
                                     stored->genome, bytes, error);
    return mf_archive_best(stored->archive, generation, &stored->individual, stored->genome, bytes,
                           error);
}

mf_Status mf_stored_scene(mf_Stored *stored, const mf_Inputs *inputs, const char *command,
                          const char *motion, uint32_t divisor, mf_SceneFile **file,
                          mf_Scene *scene, mf_Error *error) {
    if (stored->run.settings[0] == '\0')
        return mf_fail_at(error, MF_UNSUPPORTED, stored->path, 0, 0,
                          "expected the archive of a scene; a program wrote this one with a "
                          "fitness of its own (mayfly info lists its generations)");
    MF_TRY(mf_inputs_parse(stored->context, inputs, command, stored->path, stored->run.settings,
                           file, error));
    stored->paths.own_model = inputs->model != NULL;
    stored->paths.own_ground = inputs->ground != NULL;
    MF_TRY(mf_folder_find(stored->path, *file, &stored->paths, error));
    mf_Motion level = (*file)->groups[0].motion;
    if (motion != NULL)
        mf_motion_find(motion, &level);
    mf_SceneConfig config = mf_scene_config_at_level(*file, level);
    config.count = 1;
    config.divisor = divisor;
    MF_TRY(mf_scene_create(stored->context, *file, &config, scene, error));
    mf_scene_on_print(scene, mf_run_script_line, NULL);
    MF_TRY(mf_folder_check_world(&stored->run, stored->path, scene, error));
    if (stored->run.search.genome_bytes != mf_scene_genome_bytes(scene))
        return mf_fail_at(error, MF_CORRUPT, stored->path, 0, 0,
                          "expected genomes of %u bytes, found %u", mf_scene_genome_bytes(scene),
                          stored->run.search.genome_bytes);
    mf_scene_apply_genome(scene, 0, stored->genome);
    return MF_OK;
}
