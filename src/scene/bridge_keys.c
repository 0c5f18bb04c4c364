// The keys of the bridges of a scene.
#include "scene/keys.h"

#define BRIDGE(member) offsetof(mf_SceneBridge, member)

// clang-format off
static const mf_Key keys[] = {
    MF_KEY("name", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL, BRIDGE(name),
           "a name that `mayfly-bridge --help` lists"),
    MF_KEY("options", MF_KEY_TEXT, 0, "", "", 0, 0, NULL, BRIDGE(options),
           "its options, as in a command line: arguments without blanks"),
};
// clang-format on

const mf_KeyTable mf_scene_bridge_table = {MF_KEY_ROWS("bridge", keys, mf_SceneBridge)};
