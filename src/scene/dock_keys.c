// The keys of the docks of a scene that are joined at the start.
#include "scene/keys.h"

#define DOCK(member) offsetof(mf_SceneDock, member)
#define SIDE(name, index, what)                                                                    \
    MF_KEY(name, MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, MF_KEY_NOWHERE, what),                   \
        MF_KEY(name ".group", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL,                  \
               DOCK(sides[index].group), "name of the group"),                                     \
        MF_KEY(name ".robot", MF_KEY_COUNT, 0, "1", "0", 0, (1u << 26) - 1, NULL,                  \
               DOCK(sides[index].robot), "index of the robot, from 0"),                            \
        MF_KEY(name ".dock", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL,                   \
               DOCK(sides[index].dock), "name of the dock")

// clang-format off
static const mf_Key keys[] = {
    SIDE("first", 0, "the dock that stays where its robot is placed"),
    SIDE("second", 1, "the dock whose robot is moved to it"),
    MF_KEY("orientation", MF_KEY_COUNT, 0, "1", "0", 0, 3, NULL, DOCK(orientation),
           "number of the orientation about the docks' axis"),
};
// clang-format on

const mf_KeyTable mf_scene_dock_table = {.noun = "dock",
                                         .keys = keys,
                                         .count = sizeof keys / sizeof keys[0],
                                         .size = sizeof(mf_SceneDock)};
