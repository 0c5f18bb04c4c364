// Check cases of gaits: the kinematics of legs.
#include "check.h"
#include "base/random.h"
#include "control/leg.h"

#include <mayfly/model_fields.h>
#include <mayfly/gait.h>

#include <math.h>

enum { SAMPLES = 20000 };

// A number in -1 .. 1 that depends on both.
static double draw(uint32_t row, uint32_t column) {
    const uint32_t counter[4] = {row, column, 0, 0}, key[2] = {11, 0};
    uint32_t out[4];
    mf_philox4x32(counter, key, out);
    return out[0] / 2147483648.0 - 1.0;
}

static void find_leg(mf_CheckRun *run, mf_Model **model, mf_Leg *leg) {
    static const char *const names[MF_LEG_JOINTS] = {"left_hip_yaw",     "left_hip_roll",
                                                     "left_hip_pitch",   "left_knee",
                                                     "left_ankle_pitch", "left_ankle_roll"};
    uint32_t joints[MF_LEG_JOINTS];
    char path[MF_APP_PATH];
    mf_check_must(run, mf_model_load(run->context, mf_app_own("models/humanoid.urdf", path), NULL,
                                     model, &run->error));
    for (int i = 0; i < MF_LEG_JOINTS; i++)
        joints[i] = mf_model_find(*model, MF_ITEM_JOINT, names[i]);
    mf_check_must(run, mf_leg_find(*model, joints, leg, &run->error));
}

// Errors for one position: of the leg's end, and of the foot's yaw.
typedef struct Return {
    double position, yaw; // [m], [rad]
    bool reached, finite;
} Return;

static Return go_and_return(const mf_Leg *leg, uint32_t n, double radius) {
    double ankle[3], foot[4], angles[MF_LEG_JOINTS], back[3], rotated[4], length = 0.0, dot = 0.0;
    Return out = {0.0, 0.0, false, true};
    for (uint32_t c = 0; c < 4; c++) {
        foot[c] = c == 0 ? 1.0 : 0.5 * draw(n, 3 + c);
        length += foot[c] * foot[c];
    }
    for (uint32_t c = 0; c < 4; c++)
        foot[c] /= sqrt(length);
    for (uint32_t c = 0; c < 3; c++)
        ankle[c] = leg->hip[c] + radius * draw(n, c);
    out.reached = mf_leg_inverse(leg, ankle, foot, angles);
    for (int i = 0; i < MF_LEG_JOINTS; i++)
        out.finite = out.finite && isfinite(angles[i]);
    mf_leg_forward(leg, angles, back, rotated);
    for (int c = 0; c < 3; c++)
        out.position = fmax(out.position, fabs(back[c] - ankle[c]));
    for (int c = 0; c < 4; c++)
        dot += foot[c] * rotated[c];
    for (int c = 0; c < 4; c++)
        out.yaw = fmax(out.yaw, fabs(rotated[c] * (dot < 0.0 ? -1.0 : 1.0) - foot[c]));
    return out;
}

// B1. Forward kinematics inverts inverse kinematics; targets farther than the leg's length, 2 * 93
// mm, are rejected with finite angles.
static void check_inverse(mf_CheckRun *run) {
    mf_Model *model;
    mf_Leg leg;
    find_leg(run, &model, &leg);
    double position = 0.0, yaw = 0.0;
    uint32_t missed = 0, accepted = 0, wild = 0;
    for (uint32_t n = 0; n < SAMPLES; n++) {
        Return near = go_and_return(&leg, n, 0.107); // a cube within the sphere of 186 mm
        position = mf_check_worse(position, near.position);
        yaw = mf_check_worse(yaw, near.yaw);
        missed += !near.reached;
        Return far = go_and_return(&leg, n, 10.0);
        accepted += far.reached && far.position > 1e-9;
        wild += !far.finite;
    }
    mf_check_below(run, "position error of forward after inverse kinematics [m]", 1e-12, position);
    mf_check_below(run, "rotation error of the foot [1]", 1e-12, yaw);
    mf_check_near(run, "reachable positions that were rejected [1]", 0.0, missed, 0.0);
    mf_check_near(run, "unreachable positions that were accepted [1]", 0.0, accepted, 0.0);
    mf_check_near(run, "unreachable positions with infinite angles [1]", 0.0, wild, 0.0);
    mf_model_destroy(model);
}

const mf_CheckCase mf_check_gait_cases[] = {
    {"B1-leg", "a leg's inverse kinematics against its forward kinematics", check_inverse},
    {NULL, NULL, NULL},
};
