// Mayfly: pictures of the tracks of the agents of a swarm.
#pragma once

#include <mayfly/scene.h>

#define MF_TRACKS_AGENTS 1200u // [1] most agents drawn; of more, every n-th

// Positions of agents, sampled during a run and drawn from above and from the side.
typedef struct mf_Tracks mf_Tracks;

// Creates the tracks of a scene, which must outlive them.
mf_Status mf_tracks_create(mf_Context *context, const mf_Scene *scene, mf_Tracks **out,
                           mf_Error *error);
// Stores the present positions. Never fails: when the capacity is reached, every second sample is
// dropped, and only every second call is stored from then on.
void mf_tracks_sample(mf_Tracks *tracks);
// Draws to `path` (replaced atomically), as SVG.
mf_Status mf_tracks_write(mf_Tracks *tracks, const char *path, mf_Error *error);
void mf_tracks_destroy(mf_Tracks *tracks); // NULL is allowed
