// Keys of a group that are set and have no effect on what the group is: one note for each. What is
// without effect only in a situation (nobody touches, nothing moves) is not among them.
#include "scene/builder.h"
#include "scene/keys.h"
#include "scene/scene_file.h"

#include <math.h>
#include <string.h>

typedef struct Idle {
    const char *path; // of the key, or with a dot at the end of all that begin so
    bool (*is)(const mf_SceneFile *file, const mf_SceneGroup *group, mf_Motion motion);
    const char *why;
} Idle;

static bool of_vehicle(const mf_SceneFile *file, const mf_SceneGroup *group, mf_Motion motion) {
    (void)file;
    (void)motion;
    return mf_group_vehicle(group) != NULL;
}
static bool of_car(const mf_SceneFile *file, const mf_SceneGroup *group, mf_Motion motion) {
    (void)file;
    (void)motion;
    return mf_group_vehicle(group) != NULL && mf_group_vehicle(group)->kind == MF_VEHICLE_CAR;
}
static bool not_articulated(const mf_SceneFile *file, const mf_SceneGroup *group,
                            mf_Motion motion) {
    (void)file;
    return group->rule_count == 0 && motion != MF_MOTION_ARTICULATED;
}
static bool by_points(const mf_SceneFile *file, const mf_SceneGroup *group, mf_Motion motion) {
    (void)file;
    return mf_group_vehicle(group) != NULL ||
           (group->rule_count == 0 && motion == MF_MOTION_POINTS);
}
static bool without_friction(const mf_SceneFile *file, const mf_SceneGroup *group,
                             mf_Motion motion) {
    (void)file;
    return mf_group_vehicle(group) != NULL ||
           (group->rule_count == 0 && motion == MF_MOTION_KINEMATIC);
}
static bool without_rates(const mf_SceneFile *file, const mf_SceneGroup *group, mf_Motion motion) {
    (void)file;
    return mf_group_vehicle(group) != NULL ||
           (group->rule_count == 0 &&
            (motion == MF_MOTION_KINEMATIC || motion == MF_MOTION_POINTS));
}
static bool supported(const mf_SceneFile *file, const mf_SceneGroup *group, mf_Motion motion) {
    (void)file;
    return group->rule_count == 0 && motion == MF_MOTION_KINEMATIC;
}
static bool without_chain(const mf_SceneFile *file, const mf_SceneGroup *group, mf_Motion motion) {
    (void)file;
    (void)motion;
    return group->chain.first[0] == '\0' && group->chain.second[0] == '\0';
}
static bool of_vertices(const mf_SceneFile *file, const mf_SceneGroup *group, mf_Motion motion) {
    (void)file;
    (void)motion;
    return mf_scene_is_vertices(group);
}
// Bodies of vertices, and particles.
static bool of_matter(const mf_SceneFile *file, const mf_SceneGroup *group, mf_Motion motion) {
    return of_vertices(file, group, motion) || motion == MF_MOTION_FLUID ||
           motion == MF_MOTION_GRAINS;
}
static bool without_downwash(const mf_SceneFile *file, const mf_SceneGroup *group,
                             mf_Motion motion) {
    (void)group;
    (void)motion;
    return !file->interaction.downwash;
}

static const Idle idle[] = {
    {"base", of_vehicle, "vehicles have no base of a URDF file"},
    {"base", of_vertices, "bodies of vertices have no base of a URDF file"},
    {"behavior.formation.height", of_car, "cars stay on the ground"},
    {"behavior.formation.rise", of_car, "cars stay on the ground"},
    {"behavior.orbit.height", of_car, "cars stay on the ground"},
    {"chain.closed", without_chain, "it needs chain.first and chain.second"},
    {"chain.orientation", without_chain, "it needs chain.first and chain.second"},
    {"contact.friction", without_friction, "the motion has a friction of its own, or none"},
    {"contact.friction", of_matter, "the motion's own keys or files have it"},
    {"contact.self", not_articulated, "only articulated has contacts between links"},
    {"contact.shapes", by_points, "the motion does not touch the ground by shapes"},
    {"contact.shapes", of_matter, "vertices and particles have no shapes"},
    {"dock_limits.", of_vehicle, "vehicles have no docks"},
    {"dock_limits.", of_vertices, "bodies of vertices have no docks"},
    {"height", of_car, "cars stand on the ground"},
    {"joint_noise", without_rates, "the motion has no joint rates of its own"},
    {"joint_noise", of_matter, "it has no joints"},
    {"rotor_area", without_downwash, "it needs air.downwash"},
    {"sensors", of_vehicle, "vehicles have no sensors of a model"},
    {"sensors", of_matter, "it has no sensors of a model"},
    {"servo.limits", not_articulated, "only articulated has servos"},
    {"speed", supported, "kinematic moves by its joints only"},
};

static bool is_of(const Idle *row, const char *path) {
    const size_t length = strlen(row->path);
    return row->path[length - 1] == '.' ? strncmp(path, row->path, length) == 0
                                        : strcmp(path, row->path) == 0;
}

static bool is_set(const mf_Key *key, const mf_SceneGroup *group) {
    char value[100];
    if (key->fallback == NULL || key->offset == MF_KEY_NOWHERE ||
        !mf_key_is_chosen(&mf_scene_group_table, group, key))
        return false;
    const double *number = (const void *)((const char *)group + key->offset);
    if (key->kind == MF_KEY_REAL && (key->flags & MF_KEY_AUTO) != 0 && isnan(*number))
        return false; // `auto`
    return strcmp(mf_key_value(key, group, value, sizeof value), key->fallback) != 0;
}

void mf_scene_note_idle_keys(const mf_SceneBuilder *builder) {
    for (uint32_t g = 0; g < builder->file->group_count; g++) {
        const mf_SceneGroup *group = &builder->file->groups[g];
        for (uint32_t i = 0; i < mf_keys_count(&mf_scene_group_table); i++) {
            const mf_Key *key = mf_keys_at(&mf_scene_group_table, i);
            for (size_t k = 0; k < sizeof idle / sizeof *idle; k++)
                if (is_of(&idle[k], key->path) && is_set(key, group) &&
                    idle[k].is(builder->file, group, mf_scene_group_motion(builder, g)))
                    mf_scene_note(builder->scene, "group %.60s: %s has no effect: %s", group->name,
                                  key->path, idle[k].why);
        }
    }
}
