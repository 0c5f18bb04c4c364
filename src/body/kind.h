// The table of the kinds of bodies that have files of their own: one row per kind, with all that
// scenes, comparisons and mayfly info ask of it. A row is at the end of the kind's file.c; kinds.c
// lists the rows. How such bodies move, and what they look like, is in the rows of their motions
// (motion/table.h). docs/how_to/add_a_body.md adds one step by step.
#pragma once

#include <mayfly/scene.h>

#include "base/text.h"
#include "io/document.h"

struct json_t;           // jansson's
struct mf_CompareSample; // mayfly/compare.h

struct mf_BodyKind {
    const char *name; // "cloth": in messages, and what motions are for (mf_MotionRow.body)
    // Its files. The structure begins with `const char *file, *name`: the path and the title.
    const mf_DocumentKind *document;
    // Whether a YAML text has its top key; NULL: that is its name.
    bool (*is)(const char *text, size_t size);

    mf_Status (*write)(mf_Context *context, const void *body, char **text, mf_Error *error);

    bool vertices;         // instances are vertices: no links, and nothing that is on links
    bool alone;            // a file is a scene of one instance, too
    bool double_precision; // the default of `precision`
    const char *motions;   // "quasistatic or elastic"; NULL: instances have one motion

    mf_Status (*model)(mf_Context *context, const void *body, mf_Model **out, mf_Error *error);
    // Its default motion; NULL: the first one for such bodies.
    mf_Motion (*motion)(const void *body);
    // The default of the world's step [ns]; if it depends on how the group starts, the function.
    mf_Time step;
    mf_Time (*step_of)(const mf_SceneGroup *group, mf_Motion start);
    // Refuses what the keys of a group ask for and such a body cannot do.
    mf_Status (*check)(const mf_Reader *reader, const mf_SceneGroup *group);
    // Gives the body to the settings of its motions. `command`: the mode of a vehicle's behavior.
    void (*configure)(const void *body, int command, mf_Time control, mf_MotionsConfig *config);
    // Adds the controller that a body has, or that its group asks of it; NULL: there is none.
    mf_Status (*control)(const mf_SceneGroup *group, mf_Group *out, mf_Error *error);
    // Lets all shared ones of a world touch the links of its robots; NULL: they do not.
    mf_Status (*touch)(mf_World *world, mf_Error *error);

    // In comparisons of its motions: writes what drives it, and adds that to `out` unless it is
    // NULL; samples the first instance, and returns the largest force [N] in it. `vertices` [m] are
    // those of the sample `since` [s] ago (0: there is none), and become those of now. NULL:
    // instances have one motion.
    mf_Status (*drive)(const mf_SceneGroup *group, char name[96], mf_Group *out, mf_Error *error);
    double (*sample)(mf_Group *group, double (*vertices)[3], double since,
                     struct mf_CompareSample *sample);

    // What mayfly info prints of a body: text, or one object with the same facts (then `text` is
    // NULL). Without `packs` there is no object.
    mf_Status (*describe)(mf_Context *context, const void *body, const char *path, mf_Text *text,
                          struct json_t **object, mf_Error *error);
    bool packs;
};

// All kinds in the order in which a file is tried.
#define MF_BODY_LIST(X) X(truss) X(cloth) X(vehicle)
#define MF_BODY_EXTERN(name) extern const mf_BodyKind mf_##name##_body;
MF_BODY_LIST(MF_BODY_EXTERN)
#undef MF_BODY_EXTERN

// The path of a body's file; NULL: it has none.
const char *mf_body_file(const void *body);

// The default motion of a body.
mf_Motion mf_body_motion(const mf_BodyKind *kind, const void *body);

// Whether a motion is one of the bodies of a kind.
bool mf_body_moves_by(const mf_BodyKind *kind, mf_Motion motion);

// A refusal where a file asks for what a kind of body cannot do.
typedef struct mf_BodyRefusal {
    const char *key, *reason;
    bool found;
} mf_BodyRefusal;
mf_Status mf_body_refuse(const mf_Reader *reader, const mf_BodyRefusal *refusals, size_t count);

// ---- single kinds -------------------------------------------------------------------------------

// Of a vehicle: mass and performance under `gravity` [m/s^2] > 0, from mf_allocate; the radius [m]
// of the collision sphere about the center of mass.
mf_Status mf_vehicle_describe(const mf_Vehicle *vehicle, double gravity, char **text,
                              mf_Error *error);
double mf_vehicle_radius(const mf_Vehicle *vehicle);

// Machines: the truss of a group before any genome is applied, which gives way to a genome's; makes
// it the group's, whose model, if it has one, is the ancestor; gives an instance body and network
// of a machine.
mf_Truss mf_machine_placeholder(const mf_SceneMachine *settings);
mf_Status mf_machine_prepare(const mf_Reader *reader, mf_SceneGroup *group);
mf_Status mf_machine_put(mf_Group *group, uint32_t instance, const mf_Machine *machine,
                         mf_Error *error);

// The vehicle of a group; NULL: it has another body.
static inline const mf_Vehicle *mf_group_vehicle(const mf_SceneGroup *group) {
    return group->kind == &mf_vehicle_body ? (const mf_Vehicle *)group->body : NULL;
}
