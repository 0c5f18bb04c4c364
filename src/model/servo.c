// Motors of joints: parameters from the file, or estimated from the largest effort and speed. They
// have no rotor but what the file gives: the mass matrix is that of the file, and servos are stable
// because they act at the end of the step (drive.h).
#include "math/scalar.h"
#include "model/points.h"
#include "model/fields.h"

// Position error at which a servo reaches its largest effort; hobby and robot servos: 0.05 .. 0.15
// rad.
static const double full_error[2] = {0.1, 0.01}; // [rad] of a hinge, [m] of a slide

mf_Servo mf_servo(void) {
    mf_Servo servo;
    mf_item_reset(MF_ITEM_SERVO, &servo);
    return servo;
}

mf_Servo mf_joint_servo(const mf_Model *model, uint32_t joint) {
    if (model == NULL || joint >= model->joint_count)
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
    return servo;
}
