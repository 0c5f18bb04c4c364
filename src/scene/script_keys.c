// The keys of the scripts of a scene.
#include "base/key_rows.h"
#include "scene/keys.h"

#include <string.h>

#define T mf_SceneScript

// clang-format off
static const mf_Key keys[] = {
    TEXT("name", REQUIRED, NULL, name, "unique name, for messages"),
    KEY("file", FILE, 0, "", NULL, 0, 0, NULL, path,
        "Lua file, relative to the folder of this file"),
    TEXT("text", MF_KEY_LINES, "", text, "the script itself, instead of `file`"),
    RATE("tick", AUTO, "s", "auto", 1e-6, 3600, tick,
         "period of calls of its function `tick`, at least world.step; `auto`: every step"),
    COUNT("budget", 0, "10000000", 1000, 2e9, budget, "most instructions of Lua in one call of a "
          "function; 64 bytes of new memory count as one"),
    KEY("memory", COUNT, 0, "MiB", "64", 1, 2048, NULL, memory,
        "most memory of the script, with its snapshots and results"),
};
// clang-format on

// Either the file or the text.
static bool applies(const void *base, const mf_Key *key) {
    const mf_SceneScript *script = base;
    return strcmp(key->path, script->path != NULL ? "text" : "file") != 0;
}

const mf_KeyTable mf_scene_script_table = {MF_KEY_ROWS("script", keys, mf_SceneScript),
                                           .applies = applies};
