// The bridges of a scene: programs beside `mayfly serve` (docs/how_to/bridges.md).
#pragma once

#include <mayfly/scene.h>

typedef struct mf_Bridges mf_Bridges;

// Starts the bridges of a scene for the server at `address`, with `token` ("": none). One that
// fails is reported and started again. Free with mf_bridges_stop. MF_NO_MEMORY.
mf_Status mf_bridges_start(mf_Context *context, const mf_SceneFile *file, const char *address,
                           const char *token, mf_Bridges **out, mf_Error *error);
// Looks after them; to be called often.
void mf_bridges_watch(mf_Bridges *bridges);
// Ends those that still run, and waits for them. NULL is allowed.
void mf_bridges_stop(mf_Bridges *bridges);
