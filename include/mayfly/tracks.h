// Mayfly: pictures of where the agents of a swarm went.
#ifndef MAYFLY_TRACKS_H
#define MAYFLY_TRACKS_H

#include <mayfly/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MF_TRACKS_AGENTS 1200u // [1] most agents drawn; of more, every n-th

// Places of agents, sampled during a run and drawn from above and from the side.
typedef struct mf_Tracks mf_Tracks;

// Gets ready for a scene, which must outlive the tracks.
MF_API mf_Status mf_tracks_create(mf_Context *context, const mf_Scene *scene, mf_Tracks **out,
                                  mf_Error *error);
// Notes where the agents are. Never fails: when the room is used up, every second sample is dropped
// and only every second call counts from then on.
MF_API void mf_tracks_sample(mf_Tracks *tracks);
// Draws to `path` (replaced atomically): a page when it ends with .html, else a picture (.svg).
MF_API mf_Status mf_tracks_write(mf_Tracks *tracks, const char *path, mf_Error *error);
MF_API void mf_tracks_destroy(mf_Tracks *tracks); // NULL is fine

#ifdef __cplusplus
}
#endif
#endif
