// Motors of joints: what is known of one from its file, or from the largest effort and speed alone.
#include "math/scalar.h"
#include "model/fields.h"

// A servo gives all it has at this error: what hobby and robot servos do, 0.05 .. 0.15 rad.
static const double full_error[2] = {0.1, 0.01}; // [rad] of a hinge, [m] of a slide
// Within this time its torque brings the rotor alone to full speed. For the MX-28 of 2.5 N m and
// 5.65 rad/s it gives 0.0044 kg m^2 behind the gear; 0.003 .. 0.006 are in use.
static const double start_time = 0.01; // [s]

mf_Servo mf_servo(void) {
    mf_Servo servo;
    mf_item_reset(MF_ITEM_SERVO, &servo);
    return servo;
}

mf_Servo mf_joint_servo(const mf_Model *model, uint32_t joint) {
    if (model == NULL)
        return (mf_Servo){0};
    const mf_Joint *own = &model->joints[joint];
    mf_Servo servo = mf_servo();
    if ((own->type != MF_JOINT_HINGE && own->type != MF_JOINT_SLIDE) || own->mimic != MF_NONE)
        return servo;
    if (own->servo.gain > 0.0)
        return own->servo;
    bool known = own->effort > 0.0 && own->speed > 0.0 && mf_is_finite(own->effort) &&
                 mf_is_finite(own->speed);
    if (!known)
        return servo;
    servo.gain = own->effort / full_error[own->type == MF_JOINT_SLIDE];
    servo.damping = own->effort / own->speed;
    servo.rotor_inertia = servo.damping * start_time;
    return servo;
}
