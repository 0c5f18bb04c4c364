// The robot under construction: the records of the twelve calls, and the step that converts them
// into a draft.
#pragma once

#include "model/mounted.h"

#include <mayfly/builder.h>

// One body. Its own frame is at its center with the construction axes at its creation, and moves
// with it; `created` links it to the frame in which hinges are given.
typedef struct mf_BuilderBody {
    bool is_ray;
    mf_ShapeType type;    // its representation: a converted cylinder is a box, for example
    uint32_t point_count; // [1] 1 or 2 for bodies simplified to points, 0 for the shape's own
    double size[3];       // [m] as in mf_Shape; a ray's length is size[1]
    double along[4];      // [1] shape to own frame: rotates z to a cylinder's or ray's direction
    double created[3];    // [m] center at creation, construction frame
    double center[3];     // [m] current center
    double rotation[4];   // [1] own frame to construction frame, current
    double mass;          // [kg]
    float color[3];       // [1]
    uint32_t glued_to;    // [1] parent in the forest of glued bodies; itself for a root
} mf_BuilderBody;

typedef struct mf_BuilderJoint {
    mf_JointType type; // hinge or slide
    const char *name;
    uint32_t first;   // [1] body
    uint32_t second;  // [1] body
    double anchor[3]; // [m] creation frame of `first`
    double axis[3];   // [1] unit, creation frame of `first`
    double lower;     // [rad] or [m]
    double upper;     // [rad] or [m]
    double speed;     // [rad/s] or [m/s]
} mf_BuilderJoint;

typedef struct mf_Touch {
    const char *name;
    uint32_t body; // [1]
} mf_Touch;

// An item on a body; its frame is in the body's own frame.
typedef struct mf_BuilderMounted {
    const mf_MountedKind *kind;
    uint32_t body;   // [1]
    mf_Mounted item; // texts are in the draft
} mf_BuilderMounted;

struct mf_Builder {
    mf_Context *context;
    mf_Draft draft;  // holds all texts; becomes the model
    mf_List bodies;  // mf_BuilderBody
    mf_List joints;  // mf_BuilderJoint
    mf_List touches; // mf_Touch
    mf_List mounted; // mf_BuilderMounted
    int simplify;
    bool finished;
    mf_Error error; // the first one
};

// Puts a copy of an item on a body; errors are those of `call`.
void mf_builder_mount(mf_Builder *builder, mf_BodyId body, const mf_MountedKind *kind,
                      const void *item, const char *call);

// The root of the glued bodies that `body` belongs to.
uint32_t mf_builder_root(mf_Builder *builder, uint32_t body);

// Fills the builder's draft from bodies, hinges and sensors.
mf_Status mf_builder_draft(mf_Builder *builder, mf_Error *error);
