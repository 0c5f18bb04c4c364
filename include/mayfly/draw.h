// Mayfly: what programs draw into the picture of a world - points, lines, arrows, text, ghosts of
// robots - and sliders, buttons and checkboxes that they put on its page. Neither is state: hashes
// and snapshots do not change.
#pragma once

#include <mayfly/world.h>

enum {
    MF_DRAW_LAYERS = 256,      // [1] most of a world
    MF_DRAW_NUMBERS = 1 << 18, // [1] most of a layer
    MF_DRAW_BYTES = 16 << 20,  // [byte] most of all layers of a world
    MF_DRAW_CONTROLS = 64,     // [1] most of a program
    MF_DRAW_NAME = 64          // [byte] of a name with its terminator
};

typedef enum mf_DrawKind {
    MF_DRAW_POINTS, // numbers: x, y, z of each
    MF_DRAW_LINES,  // likewise; each is joined to the one before, except where one is NAN
    MF_DRAW_ARROWS, // x, y, z of both ends of each, the tip last
    MF_DRAW_TEXT,   // x, y, z of its middle
    MF_DRAW_GHOST,  // position, orientation (w, x, y, z), and angles of all joints or of none
    MF_DRAW_KINDS
} mf_DrawKind;

// A layer of the picture.
typedef struct mf_Drawing {
    mf_DrawKind kind;
    uint32_t color; // [1] 0xrrggbbaa; 0: orange
    double size;    // [m] diameter of points, thickness of lines and arrows, height of letters; 0:
                    // 0.02, of text 0.1
    const mf_Group *group; // of the robot that carries the drawing, or that a ghost is like; NULL:
                           // drawn in the world frame
    uint32_t robot, link;  // [1] that carries it: positions are in the frame of this link
    const float *numbers;  // [m], [rad]
    uint32_t count;        // [1] of numbers, at most MF_DRAW_NUMBERS
    const char *text;      // of MF_DRAW_TEXT, UTF-8; at most 255 bytes
} mf_Drawing;

// Draws a layer, in place of what had this name before, until mf_draw_clear. Pages show it, also
// those that open later; films and recordings show each change at its time. All is copied.
// MF_BAD_ARGUMENT: numbers do not fit the kind, or are not finite. MF_UNSUPPORTED: a ghost of what
// has no links. MF_LIMIT: more layers or bytes than a world may have.
MF_API mf_Status mf_draw(mf_World *world, const char *layer, const mf_Drawing *drawing,
                         mf_Error *error);
// Removes a layer; NULL: all that mf_draw has drawn.
MF_API void mf_draw_clear(mf_World *world, const char *layer);

typedef enum mf_ControlKind {
    MF_CONTROL_SLIDER,
    MF_CONTROL_BUTTON,   // its value counts how often it was pressed
    MF_CONTROL_CHECKBOX, // 0 or 1
    MF_CONTROL_KINDS
} mf_ControlKind;

// What a page shows of a value that a program takes from people.
typedef struct mf_Control {
    mf_ControlKind kind;
    const char *name, *unit; // unit NULL: none
    double low, high;        // [1] or in `unit`, of a slider: low < high
    double step;             // [1] likewise; 0: any
    double value;            // [1] likewise, at first
} mf_Control;

// Puts a control on the pages of a world under a number 0 .. MF_DRAW_CONTROLS - 1, in place of the
// one that had it; NULL: removes that. MF_BAD_ARGUMENT: no range, a value outside of it, no name.
MF_API mf_Status mf_control(mf_World *world, uint32_t number, const mf_Control *control,
                            mf_Error *error);
// Takes a control that people have changed since the last call, the one that waits longest; false:
// none.
MF_API bool mf_control_changed(mf_World *world, uint32_t *number, double *value);
// What a page does: the control at `slot` of the records of mf_RecorderPicture.drawn is moved to
// `value`, which its range limits, or pressed. False: there is none.
MF_API bool mf_control_move(mf_World *world, uint32_t slot, double value);
