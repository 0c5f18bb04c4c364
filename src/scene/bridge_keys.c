// The keys of the bridges of a scene.
#include "base/key_rows.h"
#include "scene/keys.h"

#define T mf_SceneBridge

// clang-format off
static const mf_Key keys[] = {
    TEXT("name", REQUIRED, NULL, name, "a name that `mayfly-bridge --help` lists"),
    TEXT("options", 0, "", options, "its options, as in a command line: arguments without blanks"),
};
// clang-format on

const mf_KeyTable mf_scene_bridge_table = {MF_KEY_ROWS("bridge", keys, mf_SceneBridge)};
