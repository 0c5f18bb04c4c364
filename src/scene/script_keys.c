// The keys of the scripts of a scene.
#include "scene/keys.h"

#include <string.h>

#define SCRIPT(member) offsetof(mf_SceneScript, member)

// clang-format off
static const mf_Key keys[] = {
    MF_KEY("name", MF_KEY_TEXT, MF_KEY_REQUIRED, "", NULL, 0, 0, NULL, SCRIPT(name),
           "unique name, for messages"),
    MF_KEY("file", MF_KEY_FILE, 0, "", NULL, 0, 0, NULL, SCRIPT(path),
           "Lua file, relative to the folder of this file"),
    MF_KEY("text", MF_KEY_TEXT, MF_KEY_LINES, "", "", 0, 0, NULL, SCRIPT(text),
           "the script itself, instead of `file`"),
    MF_KEY("tick", MF_KEY_RATE, MF_KEY_AUTO, "s", "auto", 1e-6, 3600, NULL, SCRIPT(tick),
           "period of calls of its function `tick`, at least world.step; `auto`: every step"),
    MF_KEY("budget", MF_KEY_COUNT, 0, "1", "10000000", 1000, 2e9, NULL, SCRIPT(budget),
           "most instructions of Lua in one call of a function; 64 bytes of new memory count as one"),
    MF_KEY("memory", MF_KEY_COUNT, 0, "MiB", "64", 1, 2048, NULL, SCRIPT(memory),
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
