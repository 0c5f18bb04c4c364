// A scene with one more group (extend.h): its file is a copy of the old one's structure with
// another group; the texts and robots of both files are borrowed. Its world is built from that file
// as any other and then takes over the state of the old world.
#include "scene/extend.h"
#include "scene/scene_file.h"
#include "motion/table.h"

#include "world/carry.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_MOST 100u // [byte] with the terminator

struct mf_SceneExtension {
    mf_Context *context;
    mf_SceneFile file;
    char name[NAME_MOST]; // of the new group
    double (*poses)[3];
    mf_SceneGroup groups[]; // the last one is new
};

static mf_Status check_like(const mf_SceneGroup *like, mf_Error *error) {
    const char *what = like->controller != MF_CONTROLLER_NONE  ? "is controlled by genomes"
                       : mf_motion_has_particles(like->motion) ? "is made of particles"
                                                               : NULL;
    return what == NULL ? MF_OK
                        : mf_fail(error, MF_UNSUPPORTED,
                                  "expected a group that can join a world, found %.99s, which %s",
                                  like->name, what);
}

// A name is part of paths of properties and overrides.
static bool is_name(const char *name) {
    for (const char *at = name; *at != '\0'; at++)
        if (!((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
              (*at >= '0' && *at <= '9') || *at == '_' || *at == '-'))
            return false;
    return name[0] != '\0' && strlen(name) < NAME_MOST;
}

static mf_Status choose_name(const mf_SceneFile *file, const mf_SceneJoin *join,
                             char out[NAME_MOST], mf_Error *error) {
    const char *name = join->name != NULL && join->name[0] != '\0' ? join->name : NULL;
    MF_NEED(name == NULL || is_name(name), error,
            "expected a name of letters, digits, _ and -, found '%.99s'", name);
    MF_NEED(mf_scene_file_group(file, name) == MF_NONE, error,
            "expected a name that no group has, found %.99s", name);
    snprintf(out, NAME_MOST, "%s", name != NULL ? name : join->like->name);
    for (uint32_t n = 2; mf_scene_file_group(file, out) != MF_NONE; n++)
        snprintf(out, NAME_MOST, "%.80s-%u", join->like->name, n);
    return MF_OK;
}

static mf_Status check_poses(const mf_SceneJoin *join, mf_Error *error) {
    bool fits = fabs(join->height) < 1e6;
    for (uint32_t i = 0; i < join->count; i++)
        for (uint32_t k = 0; k < 3; k++)
            fits = fits && fabs(join->poses[i][k]) < 1e6;
    return fits ? MF_OK
                : mf_fail(error, MF_BAD_ARGUMENT,
                          "expected positions and heights below 1e6 m and headings below 1e6 rad");
}

// The new group begins at its poses, joined to nothing.
static mf_SceneGroup make_group(const mf_SceneExtension *extension, const mf_SceneJoin *join) {
    mf_SceneGroup group = *join->like;
    group.name = extension->name;
    group.count = join->count;
    group.isolated = group.isolated && !join->alone;
    group.joint_noise = 0.0;
    group.settle = 0.0;
    group.chain.first = group.chain.second = "";
    group.placement = (mf_Placement){.kind = MF_PLACEMENT_POSES,
                                     .poses = extension->poses,
                                     .pose_count = join->count,
                                     .height = join->height,
                                     .seed = group.placement.seed};
    return group;
}

static mf_Status make_file(const mf_Scene *from, const mf_SceneJoin *join, mf_SceneExtension **out,
                           mf_Error *error) {
    const mf_SceneFile *file = from->file;
    mf_Context *context = mf_world_context(from->world);
    const uint32_t groups = file->group_count;
    mf_SceneExtension *made =
        mf_allocate(context, 1, sizeof *made + (groups + 1) * sizeof *made->groups);
    *out = made;
    if (made == NULL)
        return mf_fail(error, MF_NO_MEMORY, "out of memory");
    made->context = context;
    made->file = *file;
    made->poses = mf_allocate(context, join->count, sizeof *made->poses);
    if (made->poses == NULL)
        return mf_fail(error, MF_NO_MEMORY, "out of memory");
    MF_TRY(choose_name(file, join, made->name, error));
    memcpy(made->poses, join->poses, join->count * sizeof *made->poses);
    memcpy(made->groups, file->groups, groups * sizeof *made->groups);
    made->groups[groups] = make_group(made, join);
    made->file.groups = made->groups;
    made->file.group_count = groups + 1;
    return MF_OK;
}

// The present step and level stay, whatever the new robots would ask for.
static mf_SceneConfig config_of(const mf_Scene *from) {
    mf_SceneConfig config = mf_scene_config();
    config.count = mf_group_count(from->group);
    config.motion = from->motion;
    config.step = from->step * from->divisor;
    config.divisor = from->divisor;
    config.stiffness = from->stiffness;
    config.levels = from->levels;
    config.bridges = true; // they run already, or the start has said that they do not
    config.joins = from->group_count;
    return config;
}

mf_Status mf_scene_extend(const mf_Scene *from, const mf_SceneJoin *join,
                          mf_SceneExtension **extension, mf_Scene **out, mf_Error *error) {
    *extension = NULL;
    *out = NULL;
    if (from->group_count >= MF_WORLD_GROUP_LIMIT)
        return mf_fail(error, MF_LIMIT, "the world has %u groups, as many as it can have",
                       from->group_count);
    mf_Status status = check_like(join->like, error);
    MF_THEN(status, check_poses(join, error));
    MF_THEN(status, make_file(from, join, extension, error));
    mf_Scene *scene = status == MF_OK ? mf_allocate((*extension)->context, 1, sizeof *scene) : NULL;
    if (status == MF_OK && scene == NULL)
        status = mf_fail(error, MF_NO_MEMORY, "out of memory");
    const mf_SceneConfig config = config_of(from);
    MF_THEN(status,
            mf_scene_create((*extension)->context, &(*extension)->file, &config, scene, error));
    MF_THEN(status, mf_world_carry(scene->world, from->world, error));
    if (status == MF_OK) {
        *out = scene;
        return MF_OK;
    }
    if (scene != NULL) {
        mf_scene_destroy(scene);
        mf_release((*extension)->context, scene);
    }
    mf_scene_extension_destroy(*extension);
    *extension = NULL;
    return status;
}

void mf_scene_extension_destroy(mf_SceneExtension *extension) {
    if (extension == NULL)
        return;
    mf_release(extension->context, extension->poses);
    mf_release(extension->context, extension);
}
