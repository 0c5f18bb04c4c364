// A model under construction: growing lists that the construction API and every importer fill in
// any order, and that mf_draft_freeze turns into an immutable mf_Model.
//
// Items are the public structs, with draft indices where the model has model indices. A draft link
// is moved by at most one draft joint; `base` has none.
#pragma once

#include <mayfly/model.h>
#include "model/arena.h"
#include "model/fields.h"
#include "model/points.h"

#include <mayfly/camera.h>
#include <mayfly/texture.h>

#define MF_MODEL_LINK_LIMIT 100000u   // [1] links of a model
#define MF_MODEL_POINT_LIMIT 1000000u // [1] points of a model
#define MF_MODEL_NAME_LIMIT 255u      // [byte] a name, without its end

// A growing array of one kind of item.
typedef struct mf_List {
    void *items;
    uint32_t count;
    uint32_t capacity;
} mf_List;

// The lists of a draft: the kind of their items, the member, and the type. Links have their name
// and, with own_mass, their masses; the others are computed. Vertices and the like of meshes, the
// numbers of height fields and the files of textures are owned by the draft until it is frozen.
// Bodies are in depth-first order; the numbers of keyframes are in `texts`.
// clang-format off
#define MF_DRAFT_LISTS(X) \
    X(LINK, links, mf_Link) X(JOINT, joints, mf_Joint) X(POINT, points, mf_Point) \
    X(SHAPE, shapes, mf_Shape) X(MESH, meshes, mf_Mesh) X(SENSOR, sensors, mf_Sensor) \
    X(DOCK, docks, mf_Dock) X(CAMERA, cameras, mf_Camera) X(NOTE, notes, mf_Note) \
    X(BODY, bodies, mf_Body) X(SITE, sites, mf_Site) X(HEIGHT_FIELD, heights, mf_HeightField) \
    X(TEXTURE, textures, mf_Texture) X(MATERIAL, materials, mf_Material) \
    X(PAIR, pairs, mf_ContactPair) X(EXCLUSION, exclusions, mf_ContactExclusion) \
    X(TENDON, tendons, mf_Tendon) X(TENDON_TERM, terms, mf_TendonTerm) \
    X(TENDON_WRAP, wraps, mf_TendonWrap) X(EQUALITY, equalities, mf_Equality) \
    X(ACTUATOR, actuators, mf_Actuator) X(KEYFRAME, keyframes, mf_Keyframe)
// clang-format on

typedef struct mf_Draft {
    mf_Context *context;
    const char *name;
    const char *file; // for errors; "" when built by hand
    mf_Error *error;  // where functions without one report; NULL: nowhere
    uint32_t base;    // draft index of the root link
    mf_BaseType base_type;
    mf_Joint root;    // of a free base; type MF_JOINT_FIXED: no properties of its own
    bool own_mass;    // links have mass, center and inertia; else computed from their points
    bool weightless;  // the model may have no mass
    bool own_inertia; // links have only their inertia; mass and center are computed from their
                      // points
#define MF_DRAFT_LIST(item, list, type) mf_List list;
    MF_DRAFT_LISTS(MF_DRAFT_LIST)
    mf_Physics physics;
    const double *start_position; // whole position vector; NULL: references and identities
    mf_Arena texts;
} mf_Draft;

// The items of each list: mf_draft_links(draft), ...
#define MF_DRAFT_ITEMS(item, list, type)                                                           \
    static inline type *mf_draft_##list(const mf_Draft *draft) {                                   \
        return draft->list.items;                                                                  \
    }
MF_DRAFT_LISTS(MF_DRAFT_ITEMS)

// Terms and path pieces of a tendon, NULL: none.
static inline const mf_TendonTerm *mf_tendon_terms(const mf_Draft *draft, const mf_Tendon *tendon) {
    return tendon->term_count > 0 ? mf_draft_terms(draft) + tendon->first_term : NULL;
}
static inline const mf_TendonWrap *mf_tendon_wraps(const mf_Draft *draft, const mf_Tendon *tendon) {
    return tendon->wrap_count > 0 ? mf_draft_wraps(draft) + tendon->first_wrap : NULL;
}

// A new zeroed item at the end of `list`, or NULL when out of memory. Moves earlier items.
void *mf_list_push(mf_Context *context, mf_List *list, size_t item_size);
void mf_list_release(mf_Context *context, mf_List *list);

void mf_draft_start(mf_Draft *draft, mf_Context *context);
void mf_draft_release(mf_Draft *draft); // everything that it owns, including meshes

// A copy of the text with the lifetime of the draft, or NULL when out of memory.
const char *mf_draft_text(mf_Draft *draft, const char *text);

// The list of a kind of item; NULL: there is none.
const mf_List *mf_draft_list(const mf_Draft *draft, mf_ItemType item);
// The first item of that kind with a name; MF_NONE: there is none.
uint32_t mf_draft_find(const mf_Draft *draft, mf_ItemType item, const char *name);
// Gives an item's texts the lifetime of the draft, where NULL becomes ""; false when out of memory.
bool mf_draft_keep_texts(mf_Draft *draft, mf_ItemType item, void *values);
// A copy of an item with its texts, at the end of its list; NULL when out of memory.
void *mf_draft_add(mf_Draft *draft, mf_ItemType item, const void *values);

// New items with their defaults; NULL when out of memory. `name` is copied.
mf_Link *mf_draft_add_link(mf_Draft *draft, const char *name);
mf_Joint *mf_draft_add_joint(mf_Draft *draft, const char *name, mf_JointType type);
mf_Point *mf_draft_add_point(mf_Draft *draft, uint32_t link, const double position[3], double mass,
                             bool collides, const float color[3]);
// The only link of a model: its mass about the link's origin as four points, and a point without
// mass on which it stands. False: out of memory.
bool mf_draft_add_body(mf_Draft *draft, const char *name, const mf_MassProperties *mass,
                       const double foot[3]);
mf_Shape *mf_draft_add_shape(mf_Draft *draft, uint32_t link, mf_ShapeType type);
mf_Sensor *mf_draft_add_sensor(mf_Draft *draft, const char *name, mf_SensorType type);

// Fails with MF_NO_MEMORY in draft->error.
mf_Status mf_draft_no_memory(const mf_Draft *draft);

// Records one note. Notes longer than 400 bytes are cut. MF_NO_MEMORY in draft->error.
mf_Status mf_draft_note(mf_Draft *draft, bool suspicious, int32_t line, const char *format, ...)
    MF_PRINTF(4, 5);

// Checks the draft and creates the model: depth-first order with children in draft order, so that
// joint i moves link i + 1; points sorted by link; mass, center and inertia of each link from its
// points; addresses; start angles; rest height. On success takes ownership of meshes and heights
// and changes nothing else. Keyframes contain whole position vectors, so they need a draft whose
// links and joints are already in that order.
mf_Status mf_draft_freeze(mf_Draft *draft, mf_Model **out, mf_Error *error);

mf_Frame mf_world_frame(void); // the world's own frame
mf_Softness mf_softness(void); // MuJoCo's default

static const float mf_gray[3] = {0.6f, 0.6f, 0.6f}; // default color

// The defaults of mf_Physics: every configuration starts from them.
mf_Physics mf_physics(void);
