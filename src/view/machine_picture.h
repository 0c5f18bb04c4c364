// Machines as SVG, to scale in parallel projection: bars with their diameters, the far ones first,
// actuators as a sleeve with a rod in it. Colors come from the page's style sheet.
#pragma once

#include "base/text.h"

#include <mayfly/machine.h>

typedef struct mf_MachinePose {
    const mf_Machine *machine;
    const double *vertex; // [m] 3 of each vertex
} mf_MachinePose;

// A view: unit vectors to the right, up, and to the eye; and where it lies in the drawing.
typedef struct mf_MachineView {
    double right[3], up[3], near[3]; // [1]
    double scale;                    // [px/m]
    double x, y;                     // [px] of the world's origin
} mf_MachineView;

typedef struct mf_Box { // [m] in the plane of a view
    double lower[2], upper[2];
} mf_Box;

// Views: along `heading`, a horizontal unit vector, from its right side, from above (the heading to
// the right), and from its front end.
mf_MachineView mf_view_side(const double heading[2]);
mf_MachineView mf_view_above(const double heading[2]);
mf_MachineView mf_view_front(const double heading[2]);
// From above at an angle, from where the vertices are seen farthest apart.
mf_MachineView mf_view_slanted(const mf_MachinePose *pose);

mf_Box mf_box_none(void);
void mf_box_add(mf_Box *box, const mf_MachineView *view, const double point[3], double margin);
void mf_box_add_machine(mf_Box *box, const mf_MachineView *view, const mf_MachinePose *pose);
// Puts the middle of the box into the middle of a frame, as large as fits, at most `most` [px/m].
void mf_view_fit(mf_MachineView *view, const mf_Box *box, double width, double height, double most);
void mf_view_point(const mf_MachineView *view, const double point[3], double out[2]); // [px]

// Height [m] of the ground that the lowest vertex touches.
double mf_pose_ground(const mf_MachinePose *pose);

// `load`: of each bar from -1 (pressed to its limit or the most loaded) to 1 (pulled), which colors
// it; NULL: actuators are colored.
void mf_picture_machine(mf_Text *text, const mf_MachineView *view, const mf_MachinePose *pose,
                        const double *load);
void mf_picture_ghost(mf_Text *text, const mf_MachineView *view,
                      const mf_MachinePose *pose); // pale
// Shadows of the bars on the ground below.
void mf_picture_shadow(mf_Text *text, const mf_MachineView *view, const mf_MachinePose *pose);
void mf_picture_numbers(mf_Text *text, const mf_MachineView *view, const mf_MachinePose *pose);
// The sign of a center of mass.
void mf_picture_center(mf_Text *text, double x, double y);
// A round length of at most `most` pixels with its name, the left end at x, y.
void mf_picture_scale(mf_Text *text, double scale, double most, double x, double y);
void mf_picture_open(mf_Text *text, double width, double height, const char *css_class,
                     const char *title);
