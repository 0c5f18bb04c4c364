// Mayfly: films of robots as one HTML page: their shapes in three dimensions, with play, pause and
// free view. The page requires only a browser.
#pragma once

#include <mayfly/joints.h>
#include <mayfly/record.h>
#include <mayfly/world.h>

// [1] largest number of links of all robots shown. Of a group with more the first robots are shown,
// and of each at least one; of bodies of vertices the first 64 of a group.
#define MF_FILM_LINKS 32768u
#define MF_FILM_JOINTS 64u // [1] largest number of run-time joints per sample, the first ones

// Poses of all links, sampled during a run.
typedef struct mf_Film mf_Film;

// Creates a film of the robots of a group (any motion). `period` [s] > 0 is the simulated time
// between two samples. The group must outlive the film.
MF_API mf_Status mf_film_create(mf_Group *group, double period, mf_Film **out, mf_Error *error);
// The same for all groups of a world, in one picture with `title` (borrowed). `colors` has a CSS
// color (borrowed) per group for its colored shapes, or NULL for their own; NULL: all have their
// own. No groups may be added afterwards.
MF_API mf_Status mf_film_create_world(mf_World *world, const char *title, const char *const *colors,
                                      double period, mf_Film **out, mf_Error *error);
// Shows the run-time joints of the film's world, too, as lines between their anchors, colored by
// force. Before the first sample; `joints` must outlive the film.
MF_API mf_Status mf_film_show_joints(mf_Film *film, const mf_WorldJoints *joints, mf_Error *error);
// Stores the present poses of the links (in steps of 0.06 mm and 0.24 mrad once written; of
// swarms of vehicles 1/256 of their radius or more and 4 mrad), and the
// rays of the first range sensors whose readings are in the field sensor.value. Never fails: when
// the capacity is reached, every second sample is dropped, and only every second call is stored
// from then on.
MF_API void mf_film_sample(mf_Film *film);
// Writes the page to `path` (replaced atomically).
MF_API mf_Status mf_film_write(mf_Film *film, const char *path, mf_Error *error);
// The same as text, terminated by 0, which the caller releases with mf_release.
MF_API mf_Status mf_film_text(const mf_Film *film, char **page, mf_Error *error);
MF_API void mf_film_destroy(mf_Film *film); // NULL is allowed

// The page that gets its world live (mayfly view serves it), as text, terminated by 0, which the
// caller releases with mf_release. MF_UNSUPPORTED: this build has no page.
MF_API mf_Status mf_film_viewer_page(mf_Context *context, const char *title, char **page,
                                     mf_Error *error);

// What that page shows of a robot, one object of JSON: the names of its parts, and of each field
// its unit, which values belong to which part, and limits of inputs. Joint targets that nothing
// tracks at its present level are none of a part. Text as that of mf_film_viewer_page.
// MF_BAD_ARGUMENT: no such robot.
MF_API mf_Status mf_film_viewer_about(mf_Group *group, uint32_t instance, char **about,
                                      mf_Error *error);

// Values of a robot that the page asks for.
typedef struct mf_ViewerReading {
    uint32_t robot;         // [1] the page's number of it, repeated in the answer
    uint32_t instance;      // [1] of the group
    uint32_t link;          // [1] of the model: with its pose and velocity; MF_NONE: none
    const uint32_t *fields; // [1] numbers of fields of the group, those that exist.
                            // NULL: all, with their first 64 values each
    uint32_t field_count;   // [1]
} mf_ViewerReading;
// One object of JSON: the time [s], the level of physics, levels to which the robot can switch, the
// link, and the fields. Text as that of mf_film_viewer_page. MF_BAD_ARGUMENT: no such robot.
MF_API mf_Status mf_film_viewer_read(mf_Group *group, const mf_ViewerReading *request,
                                     char **reading, mf_Error *error);

// What a recorder needs so that its file can be shown again (mf_RecorderConfig.picture): the robots
// that a film shows, the ground, run-time joints (`joints`; NULL: none), rays and particles. The
// other arguments are those of mf_film_create_world. *out belongs to the caller and must outlive
// the recorder; `picture` is valid as long.
MF_API mf_Status mf_film_record(mf_World *world, const char *title, const char *const *colors,
                                const mf_WorldJoints *joints, mf_Film **out,
                                mf_RecorderPicture *picture, mf_Error *error);
// The same as text, terminated by 0, which the caller releases with mf_release.
MF_API mf_Status mf_film_recording_page(mf_Context *context, const mf_Recording *recording,
                                        char **page, mf_Error *error);
