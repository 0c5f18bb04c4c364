// Check cases of dry friction for every motion that has it, with default settings of
// mf_motions_config() except the coefficient, 0.25, and `friction: coupled` of `points`, without
// which it has no roll and pitch.
#include <math.h>
#include <string.h>

#include "check.h"

#define COEFFICIENT 0.25
#define GRAVITY 9.81 // [m/s^2]

static const mf_Motion motions[4] = {MF_MOTION_POINTS, MF_MOTION_RIGID, MF_MOTION_PRESCRIBED,
                                     MF_MOTION_ARTICULATED};

static const char box[] =
    "<mujoco><option cone='elliptic'/><worldbody><body pos='0 0 .05'><freejoint/>"
    "<geom type='box' size='.1 .08 .05' mass='1'/></body></worldbody></mujoco>";

// The box at rest on ground of that slope, rotated by `heading` about its normal.
typedef struct Slide {
    mf_Motion motion;
    mf_Time step;
    double slope;   // [rad] up along x
    double heading; // [rad]
} Slide;

static void open_box(mf_CheckRun *run, const Slide *slide) {
    mf_RigConfig config = mf_rig_config_of(slide->motion, slide->step);
    mf_MotionsConfig *motion = &config.motions;
    motion->points.friction = MF_FRICTION_COUPLED;
    motion->points.friction_coefficient = motion->rigid.friction = COEFFICIENT;
    motion->prescribed.friction = motion->articulated.friction = COEFFICIENT;
    config.world.terrain = slide->slope > 0.0 ? mf_rig_slope(run, slide->slope) : NULL;
    mf_rig_open_text(run, box, &config);
    const double c = cos(slide->slope / 2), s = -sin(slide->slope / 2);
    const double cz = cos(slide->heading / 2), sz = sin(slide->heading / 2);
    mf_rig_set3(run, "base.position", -0.05 * sin(slide->slope), 0, 0.05 * cos(slide->slope));
    mf_rig_set_row(run, "base.orientation", 4, (double[4]){c * cz, s * sz, s * cz, c * sz});
    mf_check_variant(run, "%s, %g ms", mf_motion_name(slide->motion),
                     1e3 * mf_time_to_seconds(slide->step));
}

// Distance along `angle`, and sideways, of a throw at 1 m/s in that direction on level ground.
static void throw(mf_CheckRun * run, const Slide *slide, double angle, double direction[2]) {
    open_box(run, slide);
    mf_rig_run(run, 0.5);
    double x = mf_rig_get(run, "base.position", 0), y = mf_rig_get(run, "base.position", 1);
    mf_rig_set3(run, "base.linear_velocity", cos(angle), sin(angle),
                mf_rig_get(run, "base.linear_velocity", 2));
    mf_rig_run(run, 1.0);
    x = mf_rig_get(run, "base.position", 0) - x;
    y = mf_rig_get(run, "base.position", 1) - y;
    direction[0] = x * cos(angle) + y * sin(angle);
    direction[1] = y * cos(angle) - x * sin(angle);
}

// v^2 / (2 mu g), plus or minus the distance of one step.
static void check_throw(mf_CheckRun *run) {
    static const int64_t steps[4] = {10, 5, 2, 1}; // [ms]
    const double expected = 1.0 / (2.0 * COEFFICIENT * GRAVITY);
    for (int i = 0; i < 16; i++) {
        Slide slide = {.motion = motions[i / 4], .step = steps[i % 4] * MF_MILLISECOND};
        double direction[2], h = mf_time_to_seconds(slide.step);
        throw(run, &slide, 0.0, direction);
        mf_check_near(run, "distance [m]", expected, direction[0], 0.002 * expected + 0.6 * h);
    }
}

// The same in twelve directions, with a rotated box.
static void check_directions(mf_CheckRun *run) {
    const double angle = 3.14159265358979323846 / 6.0;
    for (int m = 0; m < 4; m++) {
        Slide slide = {.motion = motions[m], .step = 2 * MF_MILLISECOND};
        double least = INFINITY, most = 0.0, aside = 0.0;
        for (int i = 0; i < 12; i++) {
            double direction[2];
            slide.heading = 0.4 * i;
            throw(run, &slide, angle * i, direction);
            least = fmin(least, direction[0]);
            most = fmax(most, direction[0]);
            aside = fmax(aside, fabs(direction[1]));
        }
        mf_check_below(run, "range of distances, 12 directions [m]", 0.002, most - least);
        mf_check_below(run, "lateral distance [m]", 0.002, aside);
    }
}

// Down 20 degrees, steeper than the friction's 14: g (sin - mu cos).
static void check_slope(mf_CheckRun *run) {
    const double slope = 20.0 * MF_CHECK_DEGREE;
    const double expected = GRAVITY * (sin(slope) - COEFFICIENT * cos(slope));
    for (int i = 0; i < 8; i++) {
        Slide slide = {motions[i / 2], (i % 2 ? 1 : 10) * MF_MILLISECOND, slope, 0.3};
        open_box(run, &slide);
        mf_rig_run(run, 0.5);
        double before = -mf_rig_get(run, "base.linear_velocity", 0) / cos(slope);
        mf_rig_run(run, 1.0);
        double after = -mf_rig_get(run, "base.linear_velocity", 0) / cos(slope);
        mf_check_near(run, "acceleration at 20 deg [m/s^2]", expected, after - before,
                      0.02 * expected);
    }
}

const mf_CheckCase mf_check_friction_cases[] = {
    {"C5", "a box thrown along the ground, defaults of every motion", check_throw},
    {"C5-isotropy", "the same in twelve directions", check_directions},
    {"C5-slope", "the same box on a slope", check_slope},
    {NULL, NULL, NULL}};
