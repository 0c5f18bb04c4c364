// Legs of six joints: measured from the model, forward and inverse kinematics in closed form.
//
//   foot = Rz(yaw) Rx(roll) Ry(pitch + knee + ankle pitch) Rx(ankle roll)
//   ankle = hip + Rz(yaw) Rx(roll) (Ry(pitch) thigh + Ry(pitch + knee) shin)
//
// Inverse, from foot and ankle: rotating the hip's position relative to the foot about x by the
// ankle's roll brings it into the shin's plane; the rest of the foot's rotation is Rz Rx Ry, which
// gives yaw, roll and the sum of the pitches; in the leg's plane the triangle of thigh, shin and
// their distance gives the knee (law of cosines) and then the hip's pitch.
//
// Invariants: finite for finite input; forward(inverse(p)) = p to rounding within reach.
#include "control/leg.h"

#include "base/floats.h"
#include "math/scalar.h"

enum { YAW, ROLL, PITCH, KNEE, ANKLE_PITCH, ANKLE_ROLL };

static const int directions[MF_LEG_JOINTS] = {2, 0, 1, 1, 1, 0}; // of the axes in the base
static const char *const roles[MF_LEG_JOINTS] = {"hip yaw", "hip roll",    "hip pitch",
                                                 "knee",    "ankle pitch", "ankle roll"};

// ---- measuring ---------------------------------------------------------------------------------

static mf_Status misfit(const mf_Model *model, uint32_t joint, int role, const char *what,
                        mf_Error *error) {
    return mf_fail(error, MF_BAD_ARGUMENT, "leg: %s as %s: %s", model->joints[joint].name,
                   roles[role], what);
}

// Position and axis of a joint in the base frame, all angles 0.
static void measure(const mf_Model *model, uint32_t joint, double position[3], double axis[3]) {
    const mf_Joint *own = &model->joints[joint];
    double rotation[4];
    mf_quat_identity(rotation);
    mf_vec3_copy(position, own->position);
    for (int i = 0; i < 4; i++)
        rotation[i] = own->rotation[i];
    for (uint32_t link = own->parent; link != 0;
         link = model->joints[model->links[link].joint].parent) {
        const mf_Joint *above = &model->joints[model->links[link].joint];
        // Joints above rotate or translate by minus their reference; legs have none there.
        mf_quat_rotate(position, above->rotation, position);
        mf_vec3_add(position, position, above->position);
        mf_quat_multiply(rotation, above->rotation, rotation);
    }
    mf_quat_rotate(axis, rotation, own->axis);
}

// Distance of a point from the line through `position` along the coordinate axis `direction`.
static bool on_axis(const double point[3], const double position[3], int direction) {
    double between[3];
    mf_vec3_sub(between, point, position);
    between[direction] = 0.0;
    return mf_vec3_length(between) <= 1e-6;
}

mf_Status mf_leg_find(const mf_Model *model, const uint32_t joints[MF_LEG_JOINTS], mf_Leg *out,
                      mf_Error *error) {
    MF_NEED(model != NULL && out != NULL, error, "mf_leg_find: model or out is NULL");
    double position[MF_LEG_JOINTS][3], axis[MF_LEG_JOINTS][3];
    *out = (mf_Leg){0};
    for (int i = 0; i < MF_LEG_JOINTS; i++) {
        if (joints[i] >= model->joint_count)
            return mf_fail(error, MF_BAD_ARGUMENT, "leg: no joint as %s", roles[i]);
        const mf_Joint *joint = &model->joints[joints[i]];
        out->joints[i] = joints[i];
        if (joint->type != MF_JOINT_HINGE || joint->reference != 0.0)
            return misfit(model, joints[i], i, "expected a hinge", error);
        if (i > 0 && joint->parent != model->joints[joints[i - 1]].child)
            return misfit(model, joints[i], i, "does not follow the joint before", error);
        measure(model, joints[i], position[i], axis[i]);
        out->sign[i] = axis[i][directions[i]] > 0.0 ? 1.0 : -1.0;
        if (mf_abs(axis[i][directions[i]]) < 1.0 - 1e-12)
            return misfit(model, joints[i], i, "expected an axis along one of the base's", error);
    }
    if (model->joints[joints[0]].parent != 0)
        return misfit(model, joints[0], 0, "expected to be mounted on the base", error);
    for (int i = YAW; i <= ROLL; i++)
        if (!on_axis(position[PITCH], position[i], directions[i]))
            return misfit(model, joints[i], i, "its axis does not intersect the hip's", error);
    if (!on_axis(position[ANKLE_PITCH], position[ANKLE_ROLL], 0))
        return misfit(model, joints[ANKLE_ROLL], ANKLE_ROLL,
                      "its axis does not intersect the ankle's", error);
    if (mf_abs(position[KNEE][1] - position[PITCH][1]) > 1e-6 ||
        mf_abs(position[ANKLE_PITCH][1] - position[PITCH][1]) > 1e-6)
        return misfit(model, joints[KNEE], KNEE, "thigh and shin are not in one plane", error);
    mf_vec3_copy(out->hip, position[PITCH]);
    for (int i = 0; i < 2; i++) {
        out->thigh[i] = position[KNEE][2 * i] - position[PITCH][2 * i];
        out->shin[i] = position[ANKLE_PITCH][2 * i] - position[KNEE][2 * i];
    }
    if (out->thigh[0] * out->thigh[0] + out->thigh[1] * out->thigh[1] < 1e-12 ||
        out->shin[0] * out->shin[0] + out->shin[1] * out->shin[1] < 1e-12)
        return misfit(model, joints[KNEE], KNEE, "thigh or shin has no length", error);
    return MF_OK;
}

// ---- kinematics --------------------------------------------------------------------------------

static void rotation_about(double out[4], int direction, double angle) {
    double axis[3] = {0.0, 0.0, 0.0};
    axis[direction] = 1.0;
    mf_quat_from_axis_angle(out, axis, angle);
}

void mf_leg_forward(const mf_Leg *leg, const double angles[MF_LEG_JOINTS], double ankle[3],
                    double rotation[4]) {
    MF_DEFAULT_FLOATS;
    if (leg == NULL)
        return;
    double orientation[4], part[3];
    mf_vec3_copy(ankle, leg->hip);
    mf_quat_identity(rotation);
    for (int i = 0; i < MF_LEG_JOINTS; i++) {
        rotation_about(orientation, directions[i], leg->sign[i] * angles[i]);
        mf_quat_multiply(rotation, rotation, orientation);
        if (i != PITCH && i != KNEE)
            continue;
        const double *bone = i == PITCH ? leg->thigh : leg->shin;
        mf_vec3_set(part, bone[0], 0.0, bone[1]);
        mf_quat_rotate(part, rotation, part);
        mf_vec3_add(ankle, ankle, part);
    }
}

static double hypotenuse(double a, double b) {
    return mf_sqrt(a * a + b * b);
}

bool mf_leg_inverse(const mf_Leg *leg, const double ankle[3], const double rotation[4],
                    double angles[MF_LEG_JOINTS]) {
    MF_DEFAULT_FLOATS;
    if (leg == NULL)
        return false;
    double foot[9], seen[3], away[3], orientation[4], plain[4], sine, cosine;
    mf_vec3_sub(away, leg->hip, ankle);
    mf_quat_rotate_inverse(seen, rotation, away);
    double ankle_roll = mf_atan2(seen[1], seen[2]);
    rotation_about(orientation, 0, -ankle_roll);
    mf_quat_multiply(plain, rotation, orientation);
    mf_quat_to_matrix(foot, plain);
    double yaw = mf_atan2(-foot[1], foot[4]);
    double roll = mf_atan2(foot[7], hypotenuse(foot[1], foot[4]));
    double sum = mf_atan2(-foot[6], foot[8]);
    // The ankle in the leg's plane: x forward, y up.
    mf_sin_cos(yaw, &sine, &cosine);
    double x = -(cosine * away[0] + sine * away[1]);
    double aside = -(-sine * away[0] + cosine * away[1]);
    mf_sin_cos(roll, &sine, &cosine);
    double z = -sine * aside - cosine * away[2];
    // Law of cosines; the bones may be bent at angle 0.
    double a = hypotenuse(leg->thigh[0], leg->thigh[1]);
    double b = hypotenuse(leg->shin[0], leg->shin[1]);
    double bend = (x * x + z * z - a * a - b * b) / (2.0 * a * b);
    bool reached = bend >= -1.0 && bend <= 1.0;
    bend = mf_clamp(bend, -1.0, 1.0);
    double folded = mf_atan2(mf_sqrt((1.0 - bend) * (1.0 + bend)), bend);
    double thigh = mf_atan2(-leg->thigh[0], -leg->thigh[1]); // its direction at angle 0
    double shin = mf_atan2(-leg->shin[0], -leg->shin[1]);
    double knee = folded + thigh - shin;
    double towards = mf_atan2(-x, -z);
    mf_sin_cos(folded, &sine, &cosine);
    double pitch = towards - mf_atan2(b * sine, a + b * cosine) - thigh;
    const double plainly[MF_LEG_JOINTS] = {yaw, roll, pitch, knee, sum - pitch - knee, ankle_roll};
    const double circle = 6.283185307179586, half = 3.141592653589793;
    for (int i = 0; i < MF_LEG_JOINTS; i++) {
        double angle = plainly[i];
        angle = angle > half ? angle - circle : angle < -half ? angle + circle : angle;
        angles[i] = leg->sign[i] * angle;
    }
    return reached;
}
