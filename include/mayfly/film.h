// Mayfly: the motion of robots as one page to open: their shapes in three dimensions, to play, to
// stop, to look at from all sides. The page needs nothing but a browser.
#ifndef MAYFLY_FILM_H
#define MAYFLY_FILM_H

#include <mayfly/joints.h>
#include <mayfly/world.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MF_FILM_ROBOTS 16u // [1] most robots of a group shown, its first
#define MF_FILM_JOINTS 64u // [1] most run-time joints shown at a time, the first that exist

// Poses of all links, sampled during a run.
typedef struct mf_Film mf_Film;

// Gets ready for the robots of a group (any motion). `period`
// [s] > 0 is the simulated time between two samples. The group must outlive the film.
MF_API mf_Status mf_film_create(mf_Group *group, double period, mf_Film **out, mf_Error *error);
// The same for all groups of a world, in one picture under `title` (borrowed). `colors` has a CSS
// colour (borrowed) per group, in which its coloured shapes are drawn, or NULL for their own; NULL:
// all have their own. Groups may not be added afterwards.
MF_API mf_Status mf_film_create_world(mf_World *world, const char *title, const char *const *colors,
                                      double period, mf_Film **out, mf_Error *error);
// Shows the run-time joints of the film's world too, as lines between their anchors in the colour
// of their force. Before the first sample; `joints` must outlive the film.
MF_API mf_Status mf_film_show_joints(mf_Film *film, const mf_WorldJoints *joints, mf_Error *error);
// Notes where the links are. Never fails: when the room is used up, every second sample is dropped
// and only every second call counts from then on.
MF_API void mf_film_sample(mf_Film *film);
// Writes the page to `path` (replaced atomically).
MF_API mf_Status mf_film_write(mf_Film *film, const char *path, mf_Error *error);
MF_API void mf_film_destroy(mf_Film *film); // NULL is fine

#ifdef __cplusplus
}
#endif
#endif
