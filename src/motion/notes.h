// Notes: what a motion leaves out of a model, one sentence for each thing. The things are here,
// once for all motions; each motion lists those that it leaves out.
#pragma once

#include <mayfly/motion.h>

// A model under a motion with settings that decide what it follows.
typedef struct mf_NoteCase {
    const mf_Model *model;
    uint32_t ground_first, ground_end; // [1] shapes among which the grounds are
    const mf_Group *group;             // NULL: settings that mayfly run chooses for a file
    bool dragless;                     // air does not push it
    bool contacts;                     // with the ground
    bool shapes;                       // touch the ground themselves
    bool limits;                       // of joints
    double torsional_friction;         // [m] against torsion; NAN: as the shapes say
    bool fixed;                        // the base, by the world
    bool fixed_touches;                // a base that is fixed touches the ground nevertheless
    mf_ArticulatedConfig articulated;  // its contact law found
} mf_NoteCase;

typedef bool (*mf_NoteJointFn)(const mf_NoteCase *c, const mf_Joint *joint);
typedef bool (*mf_NoteShapeFn)(const mf_NoteCase *c, uint32_t shape);

// One of the first three says how many things of it the model has; 0: the note does not apply.
typedef struct mf_MotionNote {
    mf_NoteJointFn joint; // of the joints, those for which it is true
    mf_NoteShapeFn shape; // of the shapes that may touch the ground
    uint32_t (*count)(const mf_NoteCase *c);
    const char *text;  // "(#)" stands for that number
    bool setting;      // under `articulated`: only a setting of contacts leaves it out
    bool surroundings; // of what is around the robot, not of the motion
} mf_MotionNote;

typedef struct mf_MotionNotes {
    const mf_MotionNote *const *shared; // with other motions, as `list`; NULL: none
    const mf_MotionNote *const *list;   // NULL at the end; NULL: the motion has no notes
    // Changes what is not as in any motion: with the settings that mayfly run chooses (`plan` is
    // NULL), or with a group's plan.
    void (*settings)(const void *plan, mf_NoteCase *c);
    // Further ones, NULL behind the last; NULL: none.
    const char *(*own)(const mf_NoteCase *c, uint32_t index);
} mf_MotionNotes;

extern const mf_MotionNote mf_note_own_numbers, mf_note_speeds, mf_note_floating, mf_note_planars,
    mf_note_alone_links, mf_note_alone_obstacles, mf_note_base_shapes, mf_note_fixed_shapes,
    mf_note_points_instead, mf_note_kept_off, mf_note_own_law, mf_note_own_law_of_shapes,
    mf_note_stiffness_only, mf_note_mean_impedance, mf_note_rotation, mf_note_impratio,
    mf_note_tendon_efforts, mf_note_lifted, mf_note_kept_contacts, mf_note_ground_added,
    mf_note_no_ground, mf_note_alone_world, mf_note_mocap_children, mf_note_no_floor,
    mf_note_no_wind;
// As mf_motion_group_note. *chosen: the motion or the setting that the user chose leaves it out by
// its nature.
bool mf_motion_note_of_group(const mf_Group *group, uint32_t index, bool *chosen, char *text);
// What all levels below `articulated` leave out.
extern const mf_MotionNote *const mf_notes_of_lower_levels[];
