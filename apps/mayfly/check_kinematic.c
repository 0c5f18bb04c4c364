// Check cases of the `kinematic` motion.
#include "check.h"
#include "motion/kinematic/motion.h"

#include <mayfly/kinematic.h>
#include <math.h>

static const double pi = 3.14159265358979323846;

// B2. A sole in contact and a hinge above it that rotates by 1 mrad per step: after 10^6 steps the
// body has rotated by -1000 rad. Its anchors determine the pose, so errors do not accumulate.
static void check_curve(mf_CheckRun *run) {
    static const double up[3] = {0, 0, 1};
    const mf_RigConfig config = mf_rig_config_of(MF_MOTION_KINEMATIC, MF_MILLISECOND);
    mf_HandModel *hand = mf_rig_start(run);
    mf_hand_point(hand, 0, 0.02, 0.01, 0.3, 1.0, false);
    uint32_t sole = mf_hand_hinge(hand, 0, 0.1, 0.05, 0, up);
    for (int i = 0; i < 4; i++)
        mf_hand_point(hand, sole, i & 1 ? 0.06 : -0.04, i & 2 ? 0.03 : -0.03, -0.1, 0.1, true);
    mf_rig_open(run, &config);
    for (int n = 0; n <= 1000000; n++) { // at 0 contact begins
        mf_rig_set(run, "joint.target", 0, 1e-3 * n);
        mf_rig_step(run, 1);
    }
    double q[4], length = 0.0;
    for (uint32_t c = 0; c < 4; c++) {
        q[c] = mf_rig_get(run, "base.orientation", c);
        length += q[c] * q[c];
    }
    // cos and sin of 500 rad, to 20 digits.
    mf_check_near(run, "w after -1000 rad [1]", -0.88384927343147796, q[0], 1e-12);
    mf_check_near(run, "z [1]", 0.46777180532247613, q[3], 1e-12);
    mf_check_near(run, "norm of the quaternion [1]", 1.0, sqrt(length), 1e-12);
}

// ---- B3: the hexapod's tripod gait --------------------------------------------------------------

typedef struct Leg { // in the frame of the body
    double hip[2];   // [m]
    double azimuth;  // [rad] in which it points at rest
    double side;     // [1] 1 on the left
} Leg;

// From the header of models/hexapod.urdf.
static const Leg legs[6] = {{{0.1248, 0.0616}, 45, 1},   {{0, 0.1034}, 90, 1},
                            {{-0.1248, 0.0616}, 135, 1}, {{0.1248, -0.0616}, -45, -1},
                            {{0, -0.1034}, -90, -1},     {{-0.1248, -0.0616}, -135, -1}};
static const double coxa = 0.054, femur = 0.0661, tibia = 0.133;

static void leg_rest(const Leg *leg, double foot[2]) {
    double reach = coxa + femur * cos(20 * pi / 180);
    foot[0] = leg->hip[0] + reach * cos(leg->azimuth * pi / 180);
    foot[1] = leg->hip[1] + reach * sin(leg->azimuth * pi / 180);
}

// Angles that put the foot at (x, y) of the body's frame, `lift` above its rest: two links in the
// plane of the leg, by the law of cosines.
static void leg_solve(const Leg *leg, double x, double y, double lift, double angle[3]) {
    const double tilt = 20 * pi / 180, least = -1.0, most = 1.0;
    double dx = x - leg->hip[0], dy = y - leg->hip[1];
    double out = hypot(dx, dy) - coxa, down = tibia - femur * sin(tilt) - lift;
    double reach = hypot(out, down);
    double bend = (femur * femur + tibia * tibia - reach * reach) / (2 * femur * tibia);
    double open = (femur * femur + reach * reach - tibia * tibia) / (2 * femur * reach);
    double knee = acos(fmin(fmax(bend, least), most)), rise = acos(fmin(fmax(open, least), most));
    double up = rise - atan2(down, out); // of the femur over the horizontal
    angle[0] = leg->side * remainder(leg->azimuth * pi / 180 - atan2(dy, dx), 2 * pi);
    angle[1] = up - tilt;
    // The shin is rotated outward by up + knee - 90 degrees from the vertical.
    angle[2] = up + knee - pi / 2 - angle[1];
}

typedef struct Slide { // slip of feet in contact
    double worst;      // [m]
    double height;     // [m] of the body, largest error
} Slide;

static void walk(const mf_CheckRun *run, double stride, int cycles, int half, Slide *slide) {
    double constant[6][3];
    const uint32_t feet = mf_kinematic_foot_count(run->rig.group);
    bool stood[6] = {false};
    const double rest = mf_rig_get(run, "base.position", 2);
    for (int n = 0; n < 2 * half * cycles; n++) {
        double part = (double)(n % half + 1) / half;
        int stance = n / half % 2;
        for (uint32_t l = 0; l < 6; l++) {
            double foot[2], angle[3];
            bool stands = (int)(l % 2) == stance;
            leg_rest(&legs[l], foot);
            foot[0] += stride * (stands ? 0.5 - part : part - 0.5);
            leg_solve(&legs[l], foot[0], foot[1], stands ? 0.0 : 0.03 * sin(pi * part), angle);
            for (uint32_t c = 0; c < 3; c++)
                mf_rig_set(run, "joint.target", 3 * l + c, angle[c]);
        }
        mf_rig_step(run, 1);
        for (uint32_t i = 0; i < feet && i < 6; i++) {
            double position[3], foot[2];
            bool stands = mf_rig_get(run, "stance.holds", i) > 0.0;
            leg_rest(&legs[i], foot);
            foot[0] += stride * (0.5 - part);
            // The body moves straight ahead, so its frame is a translation of the world's.
            for (uint32_t c = 0; c < 3; c++)
                position[c] = mf_rig_get(run, "base.position", c) + (c < 2 ? foot[c] : 0.0);
            for (uint32_t c = 0; c < 2 && stands && (int)(i % 2) == stance; c++)
                if (stood[i] && n % half > 0)
                    slide->worst = fmax(slide->worst, fabs(position[c] - constant[i][c]));
            for (uint32_t c = 0; c < 3; c++)
                constant[i][c] = position[c];
            stood[i] = stands;
        }
        slide->height = fmax(slide->height, fabs(mf_rig_get(run, "base.position", 2) - rest));
    }
}

static void check_tripod(mf_CheckRun *run) {
    enum { HALF = 250, CYCLES = 20 };
    const double stride = 0.05;
    const mf_RigConfig config = mf_rig_config_of(MF_MOTION_KINEMATIC, MF_MILLISECOND);
    Slide slide = {0};
    mf_rig_open_file(run, "models/hexapod.urdf", &config);
    // Before the first stroke: legs 1, 3, 5 in front, the others behind.
    for (uint32_t l = 0; l < 6; l++) {
        double foot[2], angle[3];
        leg_rest(&legs[l], foot);
        leg_solve(&legs[l], foot[0] + (l % 2 == 0 ? 0.5 : -0.5) * stride, foot[1], 0.0, angle);
        for (uint32_t c = 0; c < 3; c++)
            mf_rig_set(run, "joint.target", 3 * l + c, angle[c]);
    }
    mf_rig_step(run, 1);
    double start = mf_rig_get(run, "base.position", 0);
    walk(run, stride, CYCLES, HALF, &slide);
    mf_check_near(run, "distance of 20 cycles of two strides of 0.05 m [m]", 2.0,
                  mf_rig_get(run, "base.position", 0) - start, 1e-9);
    mf_rig_near(run, "base.position", 1, "sideways displacement [m]", 0.0, 1e-9);
    mf_check_near(run, "turn [rad]", 0.0, 2.0 * mf_rig_get(run, "base.orientation", 3), 1e-9);
    mf_check_below(run, "largest displacement of a planted foot [m]", 1e-9, slide.worst);
    mf_check_below(run, "change of the body's height [m]", 1e-9, slide.height);
    mf_check_near(run, "robots with a fault [1]", 0.0, mf_group_fault_total(run->rig.group), 0.0);
}

// B4. Six feet on a circle of radius R, the center of mass in its middle: R cos 30 degrees.
static void check_margin(mf_CheckRun *run) {
    static const double up[3] = {0, 0, 1};
    const mf_RigConfig config = mf_rig_config_of(MF_MOTION_KINEMATIC, MF_MILLISECOND);
    mf_HandModel *hand = mf_rig_start(run);
    mf_hand_point(hand, 0, 0, 0, 0.1, 1.0, false);
    for (int i = 0; i < 6; i++) {
        uint32_t foot =
            mf_hand_slide(hand, 0, 0.2 * cos(i * pi / 3), 0.2 * sin(i * pi / 3), -0.1, up);
        mf_hand_point(hand, foot, 0, 0, 0, 0.1, true);
    }
    mf_rig_open(run, &config);
    mf_rig_step(run, 1);
    mf_check_near(run, "static margin, R = 0.2 m [m]", 0.17320508075688773,
                  mf_kinematic_static_margin(run->rig.group, 0), 1e-14);
    // With every other foot up: half the radius.
    for (uint32_t i = 1; i < 6; i += 2)
        mf_rig_set(run, "joint.target", i, 0.02);
    mf_rig_step(run, 1);
    mf_check_near(run, "on three feet [m]", 0.1, mf_kinematic_static_margin(run->rig.group, 0),
                  1e-14);
}

const mf_CheckCase mf_check_kinematic_cases[] = {
    {"B2-kinematic", "constant rotation over a fixed sole: angle, norm", check_curve},
    {"B3", "tripod gait of the hexapod: distance and planted feet", check_tripod},
    {"B4", "static margin of a regular hexagon", check_margin},
    {NULL, NULL, NULL}};
