// A film in memory, between sampling and writing.
#pragma once

#include <mayfly/film.h>

#include "base/text.h"
#include "camera/texture.h"
#include "visual/visual.h"

enum {
    MF_FILM_POSE = 7, // [1] numbers of a link: position [m], orientation (w, x, y, z)
    // [1] numbers of a joint: both anchors [m], force [N], an mf_FilmJointState, the load [1] of
    // what breaks it (< 0: nothing does), the film's number of both robots (-1: the world, or not
    // shown)
    MF_FILM_JOINT = 11,
    // [1] numbers of a ray: both ends [m], 1 where it ends at something
    MF_FILM_RAY = 7,
    // [1] numbers of a contact: point [m], force on the robot [N], the film's number of the robot
    // (-1: not shown)
    MF_FILM_CONTACT = 7
};

#define MF_FILM_SURFACE "cloth" // the type of its shape in the description

typedef enum mf_FilmJointState {
    MF_FILM_JOINT_NONE, // there is no such joint
    MF_FILM_JOINT_HOLDS,
    MF_FILM_JOINT_OFF,
    MF_FILM_JOINT_BROKEN
} mf_FilmJointState;

// Robots of one group that look alike, one after the other, or one body of vertices.
typedef struct mf_FilmCast {
    mf_Group *group; // NULL: not known, as in a film of poses alone; likewise
    const mf_Visual *visual;
    const char *color;      // CSS, borrowed; NULL: the colors of its shapes
    uint32_t first, robots; // [1]
    uint32_t links;         // [1] of each
    bool surface;           // its poses are vertices; those of recordings have no group
    uint32_t like;          // [1] cast with the same meshes and textures; its own: it has them
} mf_FilmCast;

// Particles of a group: points, of which every `stride`th is shown.
typedef struct mf_FilmCloud {
    const mf_Visual *visual;
    const char *color;      // as in mf_FilmCast
    uint32_t count, stride; // [1]
} mf_FilmCloud;

// The ray of a range sensor of a robot.
typedef struct mf_FilmRay {
    const mf_Field *value;
    uint32_t instance, reading; // [1] of the group; component of the field
    uint32_t link, pose;        // [1] number of the link's pose in a sample
    double start[3];            // [m] link frame
    double direction[3];        // [1] link frame
    double range;               // [m] INFINITY: none
} mf_FilmRay;

struct mf_Film {
    mf_Context *context;
    mf_World *world;
    const char *title;  // borrowed
    bool live;          // shows every robot as it is, and keeps no samples
    mf_Visual *visuals; // of its groups
    mf_FilmCast *casts;
    uint32_t cast_count;       // [1]
    uint32_t robots, of;       // [1] of all casts: shown, and total
    uint32_t poses_each;       // [1] poses of a sample: cast by cast, robot by robot, link by link
    uint32_t filled, capacity; // [1] samples stored, and how many fit
    uint32_t stride;           // [1] calls per sample
    uint32_t calls;            // [1]
    double period;             // [s] between calls
    float *poses;              // [1] capacity * poses_each * MF_FILM_POSE
    const mf_WorldJoints *joints;              // NULL: not shown
    float *joint_rows;                         // [1] capacity * MF_FILM_JOINTS * MF_FILM_JOINT
    mf_WorldJointId joint_ids[MF_FILM_JOINTS]; // of the rows in the last sample, or none
    uint32_t joints_each;                      // [1] rows that were used so far
    mf_FilmRay *rays;
    uint32_t ray_count;          // [1]
    float *ray_rows;             // [1] capacity * ray_count * MF_FILM_RAY
    uint32_t levels_each;        // [1] robots that can switch their motion
    float *levels;               // [1] capacity * levels_each: their mf_Motion
    struct mf_Contact *contacts; // live, else NULL
    float *contact_rows;
    uint32_t contact_count; // [1]
    mf_FilmCloud *clouds;
    uint32_t cloud_count;        // [1]
    uint32_t points_each;        // [1] of a sample, of all clouds
    float *points;               // [m] capacity * points_each * 3; NAN: it waits for an emitter
    double *position, *rotation; // [m], [1] of the links of one group's robots, while sampled
    mf_Text description; // of a film that is recorded; of one from a recording, which has no world
    mf_Text drawn;       // records of drawings (visual/draw.h), by the film's time
    uint64_t drawn_serial;
    double drawn_until; // [s] from when on there is no memory for more; 0: there is
};

// The numbers of a sample by kind, in the order of recordings: poses, run-time joints, rays,
// points, levels.
enum { MF_FILM_CHANNELS = 5 };
typedef struct mf_FilmChannel {
    float **values; // of the film
    size_t used;    // [1] numbers of a sample
    size_t stride;  // [1] from one sample to the next
} mf_FilmChannel;
void mf_film_channels(mf_Film *film, mf_FilmChannel out[MF_FILM_CHANNELS]);
bool mf_film_allocate(mf_Film *film);  // memory for `capacity` samples of all; false: there is none
size_t mf_film_numbers(mf_Film *film); // that are used of a sample

// The page that web/ makes, terminated by 0; @DATA@ is replaced by the film. Empty: this build has
// none.
extern const unsigned char mf_film_page[];
// The project's license, and those of what the page is made of and of libraries in the program
// itself; likewise.
extern const unsigned char mf_license[], mf_licenses[];

// Appends a script with whole numbers, column by column of `frames` each (film_pack.c). NULL fails.
void mf_film_put_columns(mf_Text *text, const char *id, const int32_t *values, size_t columns,
                         uint32_t frames);
// The same of the bits of the first `columns` floats of rows that are `stride` apart.
void mf_film_put_rows(mf_Text *text, const char *id, const float *rows, size_t stride,
                      size_t columns, uint32_t frames);

// Appends bytes, deflated, as Base64.
void mf_film_put_deflated(mf_Text *text, const uint8_t *bytes, size_t size);
// Appends a mesh as an object of JSON, with its coordinates of textures if `placed` (film_mesh.c).
void mf_film_put_mesh(mf_Text *text, const mf_Mesh *mesh, bool placed);

// Appends how the joints of a cast's robots stand, as a member of JSON, and the script with the
// poses (film_poses.c).
void mf_film_put_tracks(mf_Text *text, const mf_Film *film, const mf_FilmCast *cast);
void mf_film_put_poses(mf_Text *text, const mf_Film *film);

// Appends `,"name":[values]` to an object of JSON, a string in quotes, and a shape of a model as an
// object, of whose mesh it sets used[];
void mf_film_put_numbers(mf_Text *text, const char *name, const double *values, int count);
void mf_film_put_string(mf_Text *text, const char *string);
// model NULL: without its texture.
void mf_film_put_shape(mf_Text *text, const mf_Model *model, const mf_Shape *shape, bool *used);
// The robot behind those from `first` on that look like it: their shapes, and of few robots also
// their masses, are the same numbers.
uint32_t mf_film_alike(const mf_Visual *visual, uint32_t first);

// Appends the textures that drawn shapes of a model show, as a member of JSON, and one of an object
// as its members; how one lies on a shape; the look of the ground, where it is that of a shape
// (film_texture.c).
void mf_film_put_textures(mf_Text *text, const mf_Visual *visual);
void mf_film_put_lay(mf_Text *text, const mf_TextureLay *lay);
void mf_film_put_floor(mf_Text *text, const mf_Film *film);
// Whether a drawn shape of a mesh has a texture by the mesh's coordinates.
bool mf_film_is_placed(const mf_Visual *visual, uint32_t mesh);

// Appends what is known of a cast's model beside its looks, as members of JSON (film_model.c).
// Meshes that only collide are left out of films, for their size.
void mf_film_put_model(mf_Text *text, const mf_FilmCast *cast, bool live, bool *used);

// Poses of a robot that is bars; writes so many of them, and returns what is behind them;
// appends the shapes that show it as it is now.
uint32_t mf_film_bar_links(const mf_Visual *visual, uint32_t instance);
float *mf_film_bar_sample(const mf_Visual *visual, uint32_t instance, uint32_t links, float *pose);
void mf_film_put_bars(mf_Text *text, const mf_Visual *visual, uint32_t instance, uint32_t links);

// The same of a surface, whose poses are vertices; of a large rectangle some are left out.
uint32_t mf_film_surface_links(const mf_Visual *visual);
float *mf_film_surface_sample(const mf_Visual *visual, uint32_t instance, float *pose);
void mf_film_put_surface(mf_Text *text, const mf_Visual *visual);
// Lists the rays of range sensors that are measured; false: no memory. Then a sample of them,
// behind that of the poses.
bool mf_film_take_rays(mf_Film *film);
void mf_film_sample_rays(mf_Film *film);
// The motions of robots that can switch (film_levels.c): their number, a sample of them, and
// members of JSON that say how many they are.
bool mf_film_cast_switches(const mf_FilmCast *cast);
void mf_film_count_levels(mf_Film *film);
void mf_film_sample_levels(mf_Film *film);
void mf_film_put_motions(mf_Text *text, const mf_Film *film);
// Whether a group is shown as points, and how many of them (film_cloud.c).
uint32_t mf_film_cloud_points(const mf_Group *group, bool live, uint32_t *stride);
void mf_film_cloud_sample(const mf_FilmCloud *cloud, float *points);
// Appends members of the film's JSON: clouds and box, or the box alone; the script with the points.
void mf_film_put_clouds(mf_Text *text, const mf_Film *film);
void mf_film_put_box(mf_Text *text, const mf_Film *film);
void mf_film_put_points(mf_Text *text, const mf_Film *film);

// What programs draw (film_drawn.c): takes the changes since the last sample; appends them as a
// script; writes those after `since` for a page or a recording, as mf_draw_pack.
void mf_film_sample_drawn(mf_Film *film);
void mf_film_put_drawn(mf_Text *text, const mf_Film *film);
size_t mf_film_drawn(const mf_Film *film, uint64_t since, void *out, size_t capacity,
                     uint64_t *last);
// Takes those of a recording whose first sample has time `begin` [s]; false: no memory.
bool mf_film_take_drawn(mf_Film *film, const uint8_t *records, size_t size, double begin);

// ---- live --------------------------------------------------------------------------------------

// A film of all robots of a world that has space for the present picture alone: its description is
// sent once, its frames as they are requested. `colors` and `joints` may be NULL.
mf_Status mf_film_create_live(mf_World *world, const char *title, const char *const *colors,
                              const mf_WorldJoints *joints, mf_Film **out, mf_Error *error);
// The same of the robots that a film shows: the picture of a recording.
mf_Status mf_film_create_single(mf_World *world, const char *title, const char *const *colors,
                                const mf_WorldJoints *joints, mf_Film **out, mf_Error *error);
struct mf_Scene;
// Colors vehicles that fly on circles by their circle. Of a film of the scene's world without
// samples.
mf_Status mf_film_color_circles(mf_Film *film, const struct mf_Scene *scene, mf_Error *error);
// Takes the present picture: poses, points, ray_rows and joint_rows hold it.
void mf_film_take_picture(mf_Film *film);
// The contacts of the last step, in contact_rows (film_contacts.c); space for how many there is.
bool mf_film_make_contacts(mf_Film *film); // false: no memory
uint32_t mf_film_contact_capacity(void);   // [1]
void mf_film_take_contacts(mf_Film *film);
// Appends the description of what is drawn, one object of JSON: the same in films and live.
void mf_film_describe(mf_Text *text, const mf_Film *film);
// The film's number of a robot; -1: it is not shown, or the world.
float mf_film_number(const mf_Film *film, const mf_Group *group, uint32_t instance);
// The group and the instance of a robot of the film. False: there is no such robot.
bool mf_film_robot(const mf_Film *film, uint32_t robot, mf_Group **group, uint32_t *instance);

// Appends the page that gets its world live. MF_UNSUPPORTED: this build has no page.
mf_Status mf_film_live_page(mf_Text *text, const char *title, mf_Error *error);

// ---- recordings ---------------------------------------------------------------------------------

// Appends the description of a film from a recording (film_recorded.c).
void mf_film_put_recorded(mf_Text *text, const mf_Film *film);
// Writes the page that shows a recording to `path` (replaced atomically). MF_UNSUPPORTED: it holds
// no picture, or this build has no page.
mf_Status mf_film_write_recording(const mf_Recording *recording, const char *path, mf_Error *error);
// Appends the page that shows a recording. As mf_film_write_recording.
mf_Status mf_film_render_recording(mf_Text *text, const mf_Recording *recording, mf_Error *error);

// Appends the whole page. The film has at least one sample. MF_UNSUPPORTED: this build has no page.
mf_Status mf_film_render(mf_Text *text, const mf_Film *film, mf_Error *error);
