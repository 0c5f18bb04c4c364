// What cameras see: the shapes of all robots of a world, its trusses, cloths and particles, its
// ground, the sky and a light; and one picture of it, in memory that is taken before.
#ifndef MAYFLY_CAMERA_SIGHT_H
#define MAYFLY_CAMERA_SIGHT_H

#include "camera/texture.h"
#include "camera/view.h"

#include <mayfly/cloth.h>
#include <mayfly/terrain.h>

// A solid around the origin of its own axes.
typedef struct mf_SightSolid {
    mf_RasterType type;
    double scale[3]; // [1/m] its axes to those of mf_RasterSolid
    double half;     // [1]
    double radius;   // [m] a ball around it
    float color[3];
} mf_SightSolid;

// Where a point sees a texture: u, v, or the direction in a cube. Own axes are those of a shape,
// then, for a picture, optical ones.
typedef struct mf_SightLook {
    const mf_TextureMap *texture;
    float rows[9], shift[3]; // [1/m], [1] rows point + shift
    float half, stretch;     // [1] half > 0: a direction's third part is beyond it that from the
                             // middle of a capsule's cap, times `stretch`
} mf_SightLook;

// What a surface looks like, beside the light.
typedef struct mf_SightPaint {
    const float *color;       // [1] 3
    float emission;           // [1] light of its own
    const mf_SightLook *look; // NULL: no texture, or one by `places`
    const mf_TextureMap *texture;
    const float *places; // [1] 6 of a triangle; NULL: none
} mf_SightPaint;

typedef struct mf_SightShape {
    const mf_Mesh *mesh;          // NULL: a solid, or a plane
    bool plane;                   // z = 0, seen from above, endless as it is for contact
    uint32_t link;                // [1] MF_NONE: fixed in the world
    double position[3];           // [m] in the link
    double rotation[9];           // [1] to the link
    mf_SightSolid solid;          // of others its ball and color
    double middle[3];             // [m] of that ball, in its own axes
    float emission;               // [1]
    const mf_TextureMap *texture; // NULL: none
    double factor[3], offset[3];  // [1/m], [1] of its look: factor own axes + offset
    float half, stretch;          // [1] as in mf_SightLook
} mf_SightShape;

// Textures of a model, which groups share.
typedef struct mf_SightTextures {
    const mf_Model *model;
    mf_TextureMap *maps; // of all its textures; of zeros where nothing shows one
} mf_SightTextures;

typedef enum mf_SightKind {
    MF_SIGHT_LINKS,
    MF_SIGHT_PARTICLES, // each instance a ball
    MF_SIGHT_TRUSS,
    MF_SIGHT_CLOTH
} mf_SightKind;

typedef struct mf_SightGroup {
    mf_Group *group;
    mf_SightKind kind;
    const mf_Field *pose;  // link.pose
    mf_SightShape *shapes; // on links
    uint32_t count;        // [1]
    uint32_t number;       // [1] of the group in the world
    bool isolated;
    const mf_Field *position;                       // base.position, vertex.position
    const mf_Field *waiting;                        // of particles
    const mf_Field *counts, *ends, *diameter, *bar; // of trusses
    mf_ClothShape cloth;
    mf_SightSolid ball; // of particles; its color is also that of a cloth
} mf_SightGroup;

typedef struct mf_Sight {
    mf_Context *context;
    mf_World *world;
    const mf_Terrain *terrain; // NULL: level at 0
    bool hilly;                // it has more than one height
    mf_SightGroup *groups;
    uint32_t group_count; // [1]
    mf_SightTextures *textures;
    uint32_t texture_count; // [1] models
    bool painted;           // the ground has the look of a shape, `floor`
    mf_SightShape floor;
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
} mf_Sight;

// Of the groups that the world has now. The caller destroys *out before the world. MF_NO_MEMORY,
// MF_LIMIT: more than 2^22 triangles.
mf_Status mf_sight_create(mf_World *world, mf_Sight **out, mf_Error *error);
void mf_sight_destroy(mf_Sight *sight); // NULL is allowed

// What a face shows.
typedef struct mf_SightFace {
    bool solid; // else flat
    mf_RasterType type;
    float half;
    float turn[9];   // [1] of a solid: optical axes to its own ones, scaled
    float center[3]; // [1] of a solid
    float normal[3]; // [1] of what is flat, optical axes, towards the camera
    float color[3], emission;
    const mf_SightLook *look; // of the room; NULL: no texture
    int32_t owner[3];         // group, robot, link
} mf_SightFace;

// Memory for one picture.
typedef struct mf_SightRoom {
    mf_Raster raster;
    mf_SightFace *faces;
    uint32_t face_count;
    mf_SightLook *looks;
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
} mf_SightRoom;

// [byte] for pictures of a view, or of its finer one.
size_t mf_sight_room_size(const mf_Sight *sight, const mf_CameraView *view);
void mf_sight_room_lay(mf_SightRoom *room, void *memory, const mf_Sight *sight,
                       const mf_CameraView *view);

// A camera in the world; of isolated groups only this robot is there.
typedef struct mf_SightPlace {
    double position[3];       // [m]
    double rotation[9];       // [1] camera (x forward, z up) to world
    uint32_t group, instance; // [1] its robot; MF_NONE: no robot's
} mf_SightPlace;

// From now on room->raster is that of this view, for all of its rows.
void mf_sight_room_use(mf_SightRoom *room, const mf_CameraView *view);

// Depth and face of each pixel, in room->raster, for its rows top .. bottom - 1.
void mf_sight_draw(const mf_Sight *sight, const mf_CameraView *view, const mf_SightPlace *place,
                   mf_SightRoom *room);
// Where these rows are in the shadow, in room->lit.
void mf_sight_shadow(const mf_Sight *sight, const mf_CameraView *view, const mf_SightPlace *place,
                     mf_SightRoom *room);
// The colors of these rows, 0 .. 1, in room->color; without shadows of the camera room->lit does
// not count.
void mf_sight_shade(const mf_Sight *sight, const mf_CameraView *view, const mf_SightPlace *place,
                    mf_SightRoom *room);

// ---- for the files of this room that draw -------------------------------------------------------

// A value of a field.
static inline double mf_sight_value(const mf_Field *field, uint32_t instance, size_t component) {
    const size_t at = ((size_t)(instance / MF_BLOCK) * field->components + component) * MF_BLOCK +
                      instance % MF_BLOCK;
    switch (field->info.type) {
    case MF_F64:
        return ((const double *)field->data)[at];
    case MF_U32:
        return ((const uint32_t *)field->data)[at];
    default:
        return (double)((const float *)field->data)[at];
    }
}

// What may shade what is seen: all that is in front of a rectangle, as the light sees it.
typedef struct mf_SightCaster {
    double axes[9];                // [1] the light's from optical ones; the last towards it
    double low[2], high[2], least; // [m] of what is seen
} mf_SightCaster;

typedef struct mf_SightDraw {
    const mf_Sight *sight;
    const mf_CameraView *view;
    const mf_SightPlace *place;
    mf_SightRoom *room;
    double axes[9];               // world to optical
    const mf_SightCaster *caster; // not NULL: nothing is drawn, but what casts shadows is collected
} mf_SightDraw;

// In optical axes.
typedef struct mf_SightPose {
    double position[3], rotation[9];
} mf_SightPose;

void mf_sight_axes(const mf_SightPlace *place, double rows[9]); // optical from world
void mf_sight_to_optical(const mf_SightDraw *draw, const double world[3], double out[3]);
void mf_sight_draw_solid(const mf_SightDraw *draw, const mf_SightSolid *solid,
                         const mf_SightPose *pose, const mf_SightPaint *paint,
                         const int32_t owner[3]);
void mf_sight_draw_triangle(const mf_SightDraw *draw, const double *const corner[3],
                            const mf_SightPaint *paint, const int32_t owner[3]);
// All robots.
void mf_sight_draw_robots(const mf_SightDraw *draw);
// Adds to room->blocks what may shade something.
void mf_sight_block_solid(const mf_SightDraw *draw, const mf_SightSolid *solid,
                          const mf_SightPose *pose);
// *at, which may be NULL: the ball's center in the light's axes.
bool mf_sight_may_shade(const mf_SightDraw *draw, const double center[3], double radius,
                        double at[3]);
void mf_sight_block_triangle(const mf_SightDraw *draw, const double *const corner[3]);
// Towards the light, of length 1, optical axes.
void mf_sight_light(const double axes[9], double out[3]);
// One triangle more, given by its corners in optical axes; they are drawn when there are many, and
// by mf_sight_flush.
void mf_sight_add_triangle(const mf_Sight *sight, const mf_CameraView *view, mf_SightRoom *room,
                           const double *const corner[3], const mf_SightPaint *paint,
                           const int32_t owner[3]);
void mf_sight_flush(const mf_Sight *sight, mf_SightRoom *room);

// sight_hills.c: which points, world axes, have a hill between them and the light. NULL: none.
mf_Status mf_sight_take_hills(mf_Sight *sight, mf_Error *error);
bool mf_sight_is_behind_hill(const mf_Sight *sight, const double at[3]);

// sight_look.c: textures of a model, the look of a shape, that of its pose, and a group's color
// (NULL: it has none) instead of a color.
mf_Status mf_sight_take_textures(mf_Sight *sight, const mf_Model *model, const mf_TextureMap **out,
                                 mf_Error *error);
void mf_sight_release_textures(mf_Sight *sight);
void mf_sight_take_look(mf_SightShape *out, const mf_Model *model, const mf_Shape *shape,
                        const mf_TextureMap *maps);
mf_SightLook mf_sight_look_at(const mf_SightShape *shape, const mf_SightPose *pose);
void mf_sight_tint(float color[3], const float *tint);

uint32_t mf_sight_ground_faces(const mf_Sight *sight);
void mf_sight_draw_ground(const mf_Sight *sight, const mf_CameraView *view,
                          const mf_SightPlace *place, mf_SightRoom *room);

// sight_soft.c: what has no links. *faces: most of one instance; 0: the group has links.
void mf_sight_take_soft(mf_Sight *sight, mf_SightGroup *own, uint32_t *faces);
void mf_sight_draw_soft(const mf_SightDraw *draw, const mf_SightGroup *group, uint32_t instance);

#endif
