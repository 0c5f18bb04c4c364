// Keys of a group that are set and have no effect on what the group is: one note for each. What is
// without effect only in a situation (nobody touches, nothing moves) is not among them.
#include "motion/table.h"
#include "scene/builder.h"
#include "scene/keys.h"
#include "scene/scene_file.h"

#include <math.h>
#include <string.h>

// What a group can be.
enum {
    VEHICLE = 1 << 0,
    CAR = 1 << 1,
    VERTICES = 1 << 2,  // a body of them
    PARTICLES = 1 << 3, // fluid, grains or debris
    KINEMATIC = 1 << 4, // by this motion from beginning to end
    POINTS = 1 << 5,    // likewise
    OTHER = 1 << 6,     // likewise by one that is not articulated
    NO_CHAIN = 1 << 7,
    NO_DOWNWASH = 1 << 8, // the scene
    ONE_LEVEL = 1 << 9,   // OTHER, of a scene without a search, whose report shows all levels
    ONE_POINTS = 1 << 10, // POINTS, likewise
    MATTER = VERTICES | PARTICLES
};

typedef struct Idle {
    const char *path; // of the key, or with a dot at the end of all that begin so
    uint32_t is;      // any of these
    const char *why;
} Idle;

static uint32_t kinds_of(const mf_SceneFile *file, const mf_SceneGroup *group, mf_Motion motion) {
    const mf_Vehicle *vehicle = mf_group_vehicle(group);
    const bool always = group->rule_count == 0;
    const struct {
        bool holds;
        uint32_t kind;
    } rows[] = {
        {vehicle != NULL, VEHICLE},
        {vehicle != NULL && vehicle->kind == MF_VEHICLE_CAR, CAR},
        {mf_scene_is_vertices(group), VERTICES},
        {mf_motion_has_particles(motion), PARTICLES},
        {always && motion == MF_MOTION_KINEMATIC, KINEMATIC},
        {always && motion == MF_MOTION_POINTS, POINTS},
        {always && motion != MF_MOTION_ARTICULATED, OTHER},
        {always && motion != MF_MOTION_ARTICULATED && !file->evolves, ONE_LEVEL},
        {always && motion == MF_MOTION_POINTS && !file->evolves, ONE_POINTS},
        {group->chain.first[0] == '\0' && group->chain.second[0] == '\0', NO_CHAIN},
        {!file->interaction.downwash, NO_DOWNWASH},
    };
    uint32_t kinds = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        kinds |= rows[i].holds ? rows[i].kind : 0;
    return kinds;
}

static const Idle idle[] = {
    {"base", VEHICLE, "vehicles have no base of a URDF file"},
    {"base", VERTICES, "bodies of vertices have no base of a URDF file"},
    {"behavior.formation.height", CAR, "cars stay on the ground"},
    {"behavior.formation.rise", CAR, "cars stay on the ground"},
    {"behavior.orbit.height", CAR, "cars stay on the ground"},
    {"chain.closed", NO_CHAIN, "it needs chain.first and chain.second"},
    {"chain.orientation", NO_CHAIN, "it needs chain.first and chain.second"},
    {"contact.friction", VEHICLE | KINEMATIC, "the motion has a friction of its own, or none"},
    {"contact.friction", MATTER, "the motion's own keys or files have it"},
    {"contact.self", ONE_LEVEL, "only articulated has contacts between links"},
    {"contact.shapes", VEHICLE | ONE_POINTS, "the motion does not touch the ground by shapes"},
    {"contact.shapes", MATTER, "vertices and particles have no shapes"},
    {"dock_limits.", VEHICLE, "vehicles have no docks"},
    {"dock_limits.", VERTICES, "bodies of vertices have no docks"},
    {"height", CAR, "cars stand on the ground"},
    {"joint_noise", VEHICLE | KINEMATIC | POINTS, "the motion has no joint rates of its own"},
    {"joint_noise", MATTER, "it has no joints"},
    {"rotor_area", NO_DOWNWASH, "it needs air.downwash"},
    {"sensors", VEHICLE, "vehicles have no sensors of a model"},
    {"sensors", MATTER, "it has no sensors of a model"},
    {"servo.limits", OTHER, "only articulated has servos"},
    {"speed", KINEMATIC, "kinematic moves by its joints only"},
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
        const uint32_t kinds = kinds_of(builder->file, group, mf_scene_group_motion(builder, g));
        for (uint32_t i = 0; i < mf_keys_count(&mf_scene_group_table); i++) {
            const mf_Key *key = mf_keys_at(&mf_scene_group_table, i);
            for (size_t k = 0; k < sizeof idle / sizeof *idle; k++)
                if ((idle[k].is & kinds) != 0 && is_of(&idle[k], key->path) && is_set(key, group))
                    mf_scene_note(builder->scene, "group %.60s: %s has no effect: %s", group->name,
                                  key->path, idle[k].why);
        }
    }
}
