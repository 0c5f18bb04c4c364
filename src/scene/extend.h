// A scene with one more group of robots, which join its world while it runs.
#pragma once

#include <mayfly/scene.h>

// What joins. The pointers are borrowed until mf_scene_extension_destroy, but for `poses`.
typedef struct mf_SceneJoin {
    const char *name;          // of the new group; NULL or "": one after `like`
    const mf_SceneGroup *like; // the group's settings; of the scene or of another file
    bool alone;                // `like` is of the scene of one robot: its group is shared here
    uint32_t count;            // [1] >= 1 robots
    const double (*poses)[3];  // [m], [m], [rad] x, y and heading of each; they stand there
    double height;             // [m] added to their heights
} mf_SceneJoin;

// The file of such a scene.
typedef struct mf_SceneExtension mf_SceneExtension;

// Makes the scene of `from` with another group behind the others, and gives its world the time and
// the state of the world of `from`, which does not change (mf_world_carry says what is the same).
// Robots that join are at their start, connected to nothing. `from`, and what it borrows, may be
// destroyed afterwards, but for its file. MF_UNSUPPORTED: such a group cannot join; MF_LIMIT: too
// many groups; MF_BAD_ARGUMENT: a bad name or one that a group has, or what mf_world_carry refuses.
mf_Status mf_scene_extend(const mf_Scene *from, const mf_SceneJoin *join,
                          mf_SceneExtension **extension, mf_Scene **out, mf_Error *error);

// The scene (mf_scene_destroy, then mf_release) must be destroyed before, and those made from it.
void mf_scene_extension_destroy(mf_SceneExtension *extension); // NULL is fine
