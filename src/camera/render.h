// The render scene of cameras: the shapes of all robots of a world, its bars, surfaces and
// particles, ground, sky and light; and one picture of it, in memory that was allocated before.
#pragma once

#include "camera/texture.h"
#include "camera/view.h"
#include "visual/visual.h"
#include "world/attach.h"
#include "world/value.h"

#include <mayfly/terrain.h>

// A solid around the origin of its own axes.
typedef struct mf_RenderSolid {
    mf_RasterType type;
    double scale[3]; // [1/m] its axes to those of mf_RasterSolid
    double half;     // [1]
    double radius;   // [m] a ball around it
    float color[3];
} mf_RenderSolid;

// Texture coordinates of a point: u, v, or the direction in a cube. Own axes are those of a shape,
// then, for a picture, optical axes.
typedef struct mf_RenderLook {
    const mf_TextureMap *texture;
    float rows[9], shift[3]; // [1/m], [1] rows point + shift
    float half, stretch;     // [1] half > 0: a direction's third part is beyond it that from the
                             // middle of a capsule's cap, times `stretch`
} mf_RenderLook;

// Appearance of a surface without light.
typedef struct mf_RenderPaint {
    const float *color;        // [1] 3
    float emission;            // [1] light of its own
    const mf_RenderLook *look; // NULL: no texture, or one by `coordinates`
    const mf_TextureMap *texture;
    const float *coordinates; // [1] 6 of a triangle; NULL: none
} mf_RenderPaint;

typedef struct mf_RenderShape {
    const mf_Mesh *mesh;          // NULL: a solid, or a plane
    bool plane;                   // z = 0, seen from above, infinite as for contact
    uint32_t part;                // [1] of the visual
    uint32_t link;                // [1] MF_NONE: fixed in the world
    double position[3];           // [m] in the link
    double rotation[9];           // [1] to the link
    mf_RenderSolid solid;         // of others its ball and color
    double middle[3];             // [m] of that ball, in its own axes
    float emission;               // [1]
    const mf_TextureMap *texture; // NULL: none
    double factor[3], offset[3];  // [1/m], [1] of its look: factor own axes + offset
    float half, stretch;          // [1] as in mf_RenderLook
} mf_RenderShape;

// Textures of a model, which groups share.
typedef struct mf_RenderTextures {
    const mf_Model *model;
    mf_TextureMap *maps; // of all its textures; zeros if unused
} mf_RenderTextures;

typedef struct mf_RenderGroup {
    mf_Group *group;
    mf_Visual visual;
    const mf_Field *pose;   // link.pose
    mf_RenderShape *shapes; // on links, as the group's model has them
    uint32_t count;         // [1]
    const mf_TextureMap *maps;
    uint32_t number; // [1] of the group in the world
    bool isolated;
    mf_RenderSolid ball; // of points; its color is also that of triangles
} mf_RenderGroup;

typedef struct mf_RenderScene {
    mf_Context *context;
    mf_World *world;
    const mf_Terrain *terrain; // NULL: level at 0
    bool hilly;                // it has more than one height
    mf_RenderGroup *groups;
    uint32_t group_count; // [1]
    mf_RenderTextures *textures;
    uint32_t texture_count; // [1] models
    bool painted;           // the ground has the look of a shape, `floor`
    mf_RenderShape floor;
    const mf_TextureMap *sky; // NULL: a gradient
    float *hidden;            // [m] per cell of a map: below it hills hide the light
    uint32_t most_looks;      // [1] of a picture
    uint32_t most_faces;      // [1] of a picture, those of sky and ground too
    uint32_t most_blocks;     // [1] of robots alone, for shadows
    uint32_t most_vertices;   // [1] of a mesh
    mf_RasterTrianglesFn triangles;
    mf_RasterSolidFn solid;
    mf_RasterGroundFn ground;
    mf_RasterSpanFn span;
    mf_RasterShadowFn shadow;
    mf_Isa isa;
} mf_RenderScene;

// Contains the present groups of the world. The caller destroys *out before the world.
// MF_NO_MEMORY, MF_LIMIT: more than 2^22 triangles.
mf_Status mf_render_scene_create(mf_World *world, mf_RenderScene **out, mf_Error *error);
void mf_render_scene_destroy(mf_RenderScene *scene); // NULL is allowed

// Appearance of a face.
typedef struct mf_RenderFace {
    bool solid; // else flat
    mf_RasterType type;
    float half;
    float rotation[9]; // [1] of a solid: optical axes to its own ones, scaled
    float center[3];   // [1] of a solid
    float normal[3];   // [1] of a flat face, optical axes, towards the camera
    float color[3], emission;
    const mf_RenderLook *look; // of the buffers; NULL: no texture
    int32_t owner[3];          // group, robot, link
} mf_RenderFace;

// Memory for one picture.
typedef struct mf_RenderBuffers {
    mf_Raster raster;
    mf_RenderFace *faces;
    uint32_t face_count;
    mf_RenderLook *looks;
    uint32_t look_count;
    double (*corners)[3];
    mf_RasterTriangle *triangles;
    uint32_t triangle_count;
    float *color, *scratch; // [1] 3 per pixel
    // Of shadows:
    mf_RasterBlock *blocks;
    uint32_t block_count;     // [1]
    uint32_t *near, *nearest; // [1] blocks that may shade some rows, and a tile of them
    float (*spans)[2][3];     // [m] of the tiles
    float *lit;               // [1] per pixel
} mf_RenderBuffers;

// [byte] for pictures of a view, or of its finer one.
size_t mf_render_buffers_size(const mf_RenderScene *scene, const mf_CameraView *view);
void mf_render_buffers_lay(mf_RenderBuffers *buffers, void *memory, const mf_RenderScene *scene,
                           const mf_CameraView *view);

// A camera in the world; of isolated groups only this robot is there.
typedef struct mf_RenderPose {
    double position[3];       // [m]
    double rotation[9];       // [1] camera (x forward, z up) to world
    uint32_t group, instance; // [1] its robot; MF_NONE: no robot's
} mf_RenderPose;

// Sets up buffers->raster for all rows of this view.
void mf_render_buffers_use(mf_RenderBuffers *buffers, const mf_CameraView *view);

// Depth and face of each pixel, in buffers->raster, for its rows top .. bottom - 1.
void mf_render_draw(const mf_RenderScene *scene, const mf_CameraView *view,
                    const mf_RenderPose *pose, mf_RenderBuffers *buffers);
// Shadows of these rows, in buffers->lit.
void mf_render_shadow(const mf_RenderScene *scene, const mf_CameraView *view,
                      const mf_RenderPose *pose, mf_RenderBuffers *buffers);
// The colors of these rows, 0 .. 1, in buffers->color; without shadows of the camera
// buffers->lit does not count.
void mf_render_shade(const mf_RenderScene *scene, const mf_CameraView *view,
                     const mf_RenderPose *pose, mf_RenderBuffers *buffers);

// ---- for the drawing files of this folder -------------------------------------------------------

// A value of a field.
static inline double mf_render_value(const mf_Field *field, uint32_t instance, size_t component) {
    return mf_value_get(field->info.type, field->data, mf_field_index(field, instance, component));
}

// The volume that can cast shadows into the view: everything in front of a rectangle, as seen by
// the light.
typedef struct mf_RenderCaster {
    double axes[9];                // [1] the light's from optical ones; the last towards it
    double low[2], high[2], least; // [m] bounds of the view
} mf_RenderCaster;

typedef struct mf_RenderDraw {
    const mf_RenderScene *scene;
    const mf_CameraView *view;
    const mf_RenderPose *pose;
    mf_RenderBuffers *buffers;
    double axes[9];                // world to optical
    const mf_RenderCaster *caster; // not NULL: collects shadow casters instead of drawing
} mf_RenderDraw;

// In optical axes.
typedef struct mf_RenderTransform {
    double position[3], rotation[9];
} mf_RenderTransform;

void mf_render_axes(const mf_RenderPose *pose, double rows[9]); // optical from world
void mf_render_to_optical(const mf_RenderDraw *draw, const double world[3], double out[3]);
void mf_render_draw_solid(const mf_RenderDraw *draw, const mf_RenderSolid *solid,
                          const mf_RenderTransform *pose, const mf_RenderPaint *paint,
                          const int32_t owner[3]);
void mf_render_draw_triangle(const mf_RenderDraw *draw, const double *const corner[3],
                             const mf_RenderPaint *paint, const int32_t owner[3]);
// All robots.
void mf_render_draw_robots(const mf_RenderDraw *draw);
// Adds possible shadow casters to buffers->blocks.
void mf_render_block_solid(const mf_RenderDraw *draw, const mf_RenderSolid *solid,
                           const mf_RenderTransform *pose);
// *at, which may be NULL: the ball's center in the light's axes.
bool mf_render_may_shade(const mf_RenderDraw *draw, const double center[3], double radius,
                         double at[3]);
void mf_render_block_triangle(const mf_RenderDraw *draw, const double *const corner[3]);
// Towards the light, of length 1, optical axes.
void mf_render_light(const double axes[9], double out[3]);
// Adds a triangle by its corners in optical axes; triangles are drawn in batches, and by
// mf_render_flush.
void mf_render_add_triangle(const mf_RenderScene *scene, const mf_CameraView *view,
                            mf_RenderBuffers *buffers, const double *const corner[3],
                            const mf_RenderPaint *paint, const int32_t owner[3]);
void mf_render_flush(const mf_RenderScene *scene, mf_RenderBuffers *buffers);

// A shape of a group as a robot with numbers of its own has it.
mf_RenderShape mf_render_own_shape(const mf_RenderGroup *group, uint32_t index, uint32_t instance);

// render_hills.c: which points, world axes, have a hill between them and the light. NULL: none.
mf_Status mf_render_take_hills(mf_RenderScene *scene, mf_Error *error);
bool mf_render_is_behind_hill(const mf_RenderScene *scene, const double at[3]);

// render_look.c: textures of a model, the look of a shape, and that of its pose.
mf_Status mf_render_take_textures(mf_RenderScene *scene, const mf_Model *model,
                                  const mf_TextureMap **out, mf_Error *error);
void mf_render_release_textures(mf_RenderScene *scene);
void mf_render_take_look(mf_RenderShape *out, const mf_Model *model, const mf_Shape *shape,
                         const mf_TextureMap *maps);
mf_RenderLook mf_render_look_at(const mf_RenderShape *shape, const mf_RenderTransform *pose);

uint32_t mf_render_ground_faces(const mf_RenderScene *scene);
void mf_render_draw_ground(const mf_RenderScene *scene, const mf_CameraView *view,
                           const mf_RenderPose *pose, mf_RenderBuffers *buffers);

// render_soft.c: groups without links. *faces: largest number for one instance; 0: the group has
// links.
void mf_render_take_soft(mf_RenderScene *scene, mf_RenderGroup *own, uint32_t *faces);
void mf_render_draw_soft(const mf_RenderDraw *draw, const mf_RenderGroup *group, uint32_t instance);
