// The parameters of a fit: where each is in a model, in which range it is searched.
//
// Damping, dry friction and armature are those of the joint. The gains and the torque limit are
// those of what controls its position: an actuator of MJCF, or the servo of a joint of URDF.
#include "evaluate/fit.h"

#include "io/decimal.h"
#include "io/suggest.h"
#include "math/scalar.h"
#include "model/points.h"

#include <mayfly/model_fields.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { UNIT_HINGE, UNIT_SLIDE };

static const struct {
    const char *name;
    const char *units[2];
} kinds[MF_FIT_KINDS] = {
    [MF_FIT_DAMPING] = {"damping", {"N m s/rad", "N s/m"}},
    [MF_FIT_FRICTION] = {"friction", {"N m", "N"}},
    [MF_FIT_ARMATURE] = {"armature", {"kg m^2", "kg"}},
    [MF_FIT_GAIN] = {"gain", {"N m/rad", "N/m"}},
    [MF_FIT_DERIVATIVE] = {"derivative", {"N m s/rad", "N s/m"}},
    [MF_FIT_EFFORT] = {"effort", {"N m", "N"}},
    [MF_FIT_DELAY] = {"delay", {"s", "s"}},
};

#define RATIO 20.0 // [1] of ranges over orders of magnitude, to both sides

const char *mf_fit_kind_name(mf_FitKind kind) {
    return kind < MF_FIT_KINDS ? kinds[kind].name : "angle";
}

static const char *kind_name_at(const void *list, uint32_t index) {
    (void)list;
    return index < MF_FIT_KINDS ? kinds[index].name : NULL;
}

const char *mf_fit_unit(const mf_Model *model, const mf_FitUnknown *unknown) {
    const bool slide =
        unknown->joint != MF_NONE && model->joints[unknown->joint].type == MF_JOINT_SLIDE;
    return kinds[unknown->kind].units[slide ? UNIT_SLIDE : UNIT_HINGE];
}

void mf_fit_name(const mf_Model *model, const mf_FitUnknown *unknown, char out[MF_FIT_NAME]) {
    const char *kind = mf_fit_kind_name(unknown->kind);
    if (unknown->joint == MF_NONE)
        snprintf(out, MF_FIT_NAME, "%s", kind);
    else
        snprintf(out, MF_FIT_NAME, "%.70s.%s", model->joints[unknown->joint].name, kind);
}

// ---- values ------------------------------------------------------------------------------------

// The actuator that controls the joint's position, or MF_NONE.
static uint32_t actuator_of(const mf_Model *model, uint32_t joint) {
    for (uint32_t i = 0; i < model->actuator_count; i++) {
        const mf_Actuator *own = &model->actuators[i];
        if (own->drive == MF_DRIVE_JOINT && own->joint == joint && own->gain[0] != 0.0 &&
            own->gain[1] == 0.0 && own->gain[2] == 0.0 && own->bias[1] < 0.0 &&
            own->dynamics != MF_DYNAMICS_INTEGRATOR)
            return i;
    }
    return MF_NONE;
}

static double limit_of(const mf_Model *model, uint32_t joint, uint32_t actuator) {
    const mf_Joint *own = &model->joints[joint];
    double limit = own->effort;
    if (actuator != MF_NONE) {
        const double gear = mf_abs(model->actuators[actuator].gear[0]);
        limit = mf_smaller(gear * model->actuators[actuator].force_upper, own->force_upper);
    } else {
        limit = mf_smaller(limit, mf_joint_servo(model, joint).effort);
    }
    return limit > 0.0 && mf_is_finite(limit) ? limit : (double)NAN;
}

double mf_fit_value(const mf_Model *model, const mf_FitUnknown *unknown) {
    if (unknown->joint == MF_NONE)
        return 0.0;
    const mf_Joint *own = &model->joints[unknown->joint];
    if (!mf_joint_has_motor(own))
        return (double)NAN;
    const mf_Servo servo = mf_joint_servo(model, unknown->joint);
    const uint32_t number = actuator_of(model, unknown->joint);
    const mf_Actuator *actuator = number != MF_NONE ? &model->actuators[number] : NULL;
    const double square = actuator != NULL ? actuator->gear[0] * actuator->gear[0] : 1.0;
    switch (unknown->kind) {
    case MF_FIT_DAMPING:
        return own->damping;
    case MF_FIT_FRICTION:
        return own->friction;
    case MF_FIT_ARMATURE:
        return own->armature + servo.rotor_inertia * servo.gear * servo.gear;
    case MF_FIT_GAIN:
        return actuator != NULL   ? -square * actuator->bias[1]
               : servo.gain > 0.0 ? servo.gain
                                  : (double)NAN;
    case MF_FIT_DERIVATIVE:
        return actuator != NULL   ? -square * actuator->bias[2]
               : servo.gain > 0.0 ? servo.damping
                                  : (double)NAN;
    case MF_FIT_EFFORT:
        return actuator != NULL || servo.gain > 0.0 ? limit_of(model, unknown->joint, number)
                                                    : (double)NAN;
    default:
        return 0.0;
    }
}

static void set_actuator(mf_Joint *joint, mf_Actuator *actuator, mf_FitKind kind, double value) {
    const double gear = mf_abs(actuator->gear[0]);
    if (kind == MF_FIT_GAIN) { // the control of a position stays the same
        const double ratio = value / (-gear * gear * actuator->bias[1]);
        actuator->gain[0] *= ratio;
        actuator->bias[1] *= ratio;
    } else if (kind == MF_FIT_DERIVATIVE) {
        actuator->bias[2] = -value / (gear * gear);
    } else {
        if (mf_is_finite(actuator->force_upper)) {
            actuator->force_upper = value / gear;
            actuator->force_lower = -value / gear;
        }
        if (mf_is_finite(joint->force_upper)) {
            joint->force_upper = value;
            joint->force_lower = -value;
        }
    }
}

// A servo that the model has estimated becomes its own.
static void set_servo(mf_Joint *joint, mf_Servo servo, mf_FitKind kind, double value) {
    if (kind == MF_FIT_ARMATURE) {
        if (servo.gain > 0.0) {
            joint->armature = 0.0;
            servo.rotor_inertia = value / (servo.gear * servo.gear);
        } else {
            joint->armature = value;
        }
    } else if (kind == MF_FIT_GAIN) {
        servo.gain = value;
    } else if (kind == MF_FIT_DERIVATIVE) {
        servo.damping = value;
    } else {
        servo.effort = value;
        joint->effort = mf_is_finite(joint->effort) ? value : joint->effort;
    }
    if (servo.gain > 0.0)
        joint->servo = servo;
}

static void set_value(mf_Model *model, const mf_FitUnknown *unknown, double value) {
    if (unknown->joint == MF_NONE || unknown->kind >= MF_FIT_DELAY)
        return;
    mf_Joint *joint = (mf_Joint *)(uintptr_t)&model->joints[unknown->joint];
    const uint32_t number = actuator_of(model, unknown->joint);
    mf_Actuator *actuator =
        number != MF_NONE ? (mf_Actuator *)(uintptr_t)&model->actuators[number] : NULL;
    if (unknown->kind == MF_FIT_DAMPING)
        joint->damping = value;
    else if (unknown->kind == MF_FIT_FRICTION)
        joint->friction = value;
    else if (unknown->kind == MF_FIT_ARMATURE && model->body_count > 0)
        joint->armature = value;
    else if (actuator != NULL && unknown->kind != MF_FIT_ARMATURE)
        set_actuator(joint, actuator, unknown->kind, value);
    else
        set_servo(joint, mf_joint_servo(model, unknown->joint), unknown->kind, value);
}

mf_Model *mf_fit_model(const mf_FitProblem *problem, const double *values) {
    const mf_Model *from = problem->model;
    const size_t joints = from->joint_count * sizeof(mf_Joint),
                 actuators = from->actuator_count * sizeof(mf_Actuator),
                 sensors = from->sensor_count * sizeof(mf_Sensor);
    char *memory = mf_allocate(problem->context, 1, sizeof *from + joints + actuators + sensors);
    if (memory == NULL)
        return NULL;
    mf_Model *model = (mf_Model *)(void *)memory;
    char *at = memory + sizeof *from;
    memcpy(model, from, sizeof *from);
    if (joints > 0)
        model->joints = memcpy(at, from->joints, joints);
    if (actuators > 0)
        model->actuators = memcpy(at + joints, from->actuators, actuators);
    if (sensors > 0)
        model->sensors = memcpy(at + joints + actuators, from->sensors, sensors);
    for (uint32_t i = 0; i < from->sensor_count; i++) {
        mf_Signal *signal = (mf_Signal *)(uintptr_t)&model->sensors[i].signal;
        signal->noise = signal->bias = signal->drift = 0.0;
    }
    for (uint32_t i = 0; values != NULL && i < problem->parameter_count; i++)
        set_value(model, &problem->unknowns[i], values[i]);
    return model;
}

// ---- ranges ------------------------------------------------------------------------------------

static mf_Unknown range_of(const mf_FitProblem *problem, const mf_FitUnknown *unknown,
                           double inertia) {
    const mf_Model *model = problem->model;
    const double value = mf_fit_value(model, unknown);
    mf_Unknown range = {.center = value, .searched = true, .scale = MF_UNKNOWN_SQUARE};
    if (unknown->kind == MF_FIT_DELAY) {
        range.upper = mf_larger(0.1, 10.0 * problem->step);
        range.upper = mf_smaller(range.upper, 0.2 * (problem->fitted - problem->begin));
    } else if (unknown->kind == MF_FIT_GAIN || unknown->kind == MF_FIT_EFFORT) {
        range.lower = value / RATIO;
        range.upper = value * RATIO;
        range.scale = MF_UNKNOWN_LOG;
    } else {
        const mf_FitUnknown gain = {MF_FIT_GAIN, unknown->joint};
        const bool slide = model->joints[unknown->joint].type == MF_JOINT_SLIDE;
        const double own = mf_fit_value(model, &gain), k = own > 0.0 ? own : 40.0 * inertia;
        const double most = unknown->kind == MF_FIT_FRICTION   ? (slide ? 0.02 : 0.2) * k
                            : unknown->kind == MF_FIT_ARMATURE ? 3.0 * inertia
                                                               : 4.0 * mf_sqrt(k * inertia);
        range.upper = mf_larger(mf_larger(10.0 * value, most), 1e-9);
    }
    range.width = range.upper - range.lower;
    return range;
}

// ---- what is requested -------------------------------------------------------------------------

static bool has(const mf_FitProblem *problem, mf_FitKind kind, uint32_t joint) {
    for (uint32_t i = 0; i < problem->unknown_count; i++)
        if (problem->unknowns[i].kind == kind && problem->unknowns[i].joint == joint)
            return true;
    return false;
}

static mf_Status add(mf_FitProblem *problem, mf_FitKind kind, uint32_t joint, const double *inertia,
                     const double bounds[2], mf_Error *error) {
    const mf_FitUnknown unknown = {kind, joint};
    if (has(problem, kind, joint))
        return MF_OK;
    if (problem->unknown_count == MF_UNKNOWN_MOST / 2)
        return mf_fail(error, MF_LIMIT, "fit: at most %d parameters", MF_UNKNOWN_MOST / 2);
    mf_Unknown range = range_of(problem, &unknown, joint != MF_NONE ? inertia[joint] : 0.0);
    if (bounds != NULL) {
        range.lower = bounds[0];
        range.upper = bounds[1];
        range.width = range.upper - range.lower;
        range.scale = bounds[0] > 0.0 && bounds[1] > 10.0 * bounds[0] ? MF_UNKNOWN_LOG
                      : bounds[0] > 0.0                               ? MF_UNKNOWN_EVEN
                                                                      : MF_UNKNOWN_SQUARE;
    }
    problem->ranges[problem->unknown_count] = range;
    problem->unknowns[problem->unknown_count++] = unknown;
    return MF_OK;
}

static bool commanded(const mf_FitProblem *problem, uint32_t joint, const mf_FitInput **out) {
    for (uint32_t i = 0; i < problem->input_count; i++)
        if (problem->inputs[i].target && problem->inputs[i].component == joint) {
            *out = &problem->inputs[i];
            return true;
        }
    return false;
}

static const mf_FitOutput *measured(const mf_FitProblem *problem, uint32_t joint) {
    for (uint32_t i = 0; i < problem->output_count; i++)
        if (strncmp(problem->outputs[i].field, "joint.", 6) == 0 &&
            problem->outputs[i].component == joint)
            return &problem->outputs[i];
    return NULL;
}

// Whether the errors in the log let the servo, as the model has it, come near its limit.
static bool nears_limit(const mf_FitProblem *problem, uint32_t joint, const mf_FitInput *input) {
    const mf_FitUnknown limit = {MF_FIT_EFFORT, joint}, gain = {MF_FIT_GAIN, joint};
    const mf_FitOutput *output = measured(problem, joint);
    const double most = mf_fit_value(problem->model, &limit),
                 stiffness = mf_fit_value(problem->model, &gain);
    if (output == NULL || strcmp(output->field, "joint.angle") != 0 || !(most > 0.0))
        return false;
    const mf_LogColumn *one = input->column, *other = output->column;
    for (uint32_t i = 0, k = 0; i < other->count; i++) {
        while (k + 1 < one->count && one->time[k + 1] <= other->time[i])
            k++;
        if (stiffness * mf_abs(one->value[k] * input->factor - other->value[i] * output->factor) >
            0.5 * most)
            return true;
    }
    return false;
}

static mf_Status choose_usual(mf_FitProblem *problem, const double *inertia, mf_Error *error) {
    const mf_Model *model = problem->model;
    bool any = problem->input_count > 0;
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const mf_FitInput *input = NULL;
        const bool driven = commanded(problem, j, &input);
        if (!mf_joint_has_motor(&model->joints[j]) || (!driven && measured(problem, j) == NULL))
            continue;
        for (mf_FitKind kind = MF_FIT_DAMPING; kind <= MF_FIT_ARMATURE; kind++)
            MF_TRY(add(problem, kind, j, inertia, NULL, error));
        if (driven)
            MF_TRY(add(problem, MF_FIT_GAIN, j, inertia, NULL, error));
        if (driven && nears_limit(problem, j, input))
            MF_TRY(add(problem, MF_FIT_EFFORT, j, inertia, NULL, error));
    }
    return any ? add(problem, MF_FIT_DELAY, MF_NONE, inertia, NULL, error) : MF_OK;
}

static mf_Status refuse(const char *token, const char *why, mf_Error *error) {
    return mf_fail(error, MF_BAD_ARGUMENT, "parameters: '%.80s': %s", token, why);
}

// "0:0.5" into two numbers.
static bool read_bounds(char *text, double out[2]) {
    char *colon = strchr(text, ':');
    if (colon == NULL)
        return false;
    *colon = '\0';
    return mf_decimal_parse(text, &out[0]) && mf_decimal_parse(colon + 1, &out[1]) &&
           mf_is_finite(out[0]) && mf_is_finite(out[1]) && out[0] >= 0.0 && out[0] < out[1];
}

// One of the requested parameters, "knee.friction=0:0.5".
static mf_Status choose(mf_FitProblem *problem, char *token, const double *inertia,
                        mf_Error *error) {
    char near[MF_SUGGESTION], all[MF_FIT_NAME], why[300], *equals = strchr(token, '=');
    double bounds[2];
    snprintf(all, sizeof all, "%.90s", token);
    if (equals != NULL && !read_bounds(equals + 1, bounds))
        return refuse(all, "expected a range such as 0:0.5 behind =, from 0 on", error);
    if (equals != NULL)
        *equals = '\0';
    char *dot = strrchr(token, '.');
    const char *name = dot != NULL ? dot + 1 : token;
    uint32_t kind = 0, joint = MF_NONE, count = 0;
    while (kind < MF_FIT_KINDS && strcmp(kinds[kind].name, name) != 0)
        kind++;
    if (kind == MF_FIT_KINDS) {
        snprintf(why, sizeof why,
                 "expected damping, friction, armature, gain, derivative, effort or delay%s",
                 mf_suggest(name, kind_name_at, NULL, near));
        return refuse(all, why, error);
    }
    if (kind == MF_FIT_DELAY)
        return dot != NULL ? refuse(all, "the delay is that of all commands: delay", error)
                           : add(problem, MF_FIT_DELAY, MF_NONE, inertia,
                                 equals != NULL ? bounds : NULL, error);
    if (dot != NULL) {
        *dot = '\0';
        joint = mf_model_find(problem->model, MF_ITEM_JOINT, token);
        if (joint == MF_NONE)
            return refuse(all, "the robot has no such joint", error);
    }
    for (uint32_t j = 0; j < problem->model->joint_count; j++) {
        const mf_FitInput *input;
        const mf_FitUnknown unknown = {(mf_FitKind)kind, j};
        const bool concerned = dot != NULL
                                   ? j == joint
                                   : measured(problem, j) != NULL || commanded(problem, j, &input);
        if (!concerned || isnan(mf_fit_value(problem->model, &unknown)))
            continue;
        MF_TRY(add(problem, (mf_FitKind)kind, j, inertia, equals != NULL ? bounds : NULL, error));
        count++;
    }
    return count > 0 ? MF_OK
                     : refuse(all,
                              kind == MF_FIT_EFFORT    ? "the model has no torque limit there"
                              : kind > MF_FIT_ARMATURE ? "the model controls no position there"
                                                       : "no hinge or slide of the log has it",
                              error);
}

static mf_Status choose_listed(mf_FitProblem *problem, const char *text, const double *inertia,
                               mf_Error *error) {
    const size_t length = strlen(text);
    char *copy = mf_allocate(problem->context, length + 1, 1);
    MF_NEED_MEMORY(copy != NULL, error, "fit");
    memcpy(copy, text, length);
    mf_Status status = MF_OK;
    for (char *at = copy, *next; at != NULL && status == MF_OK; at = next) {
        next = strchr(at, ',');
        if (next != NULL)
            *next++ = '\0';
        while (*at == ' ')
            at++;
        status = *at != '\0' ? choose(problem, at, inertia, error)
                             : refuse(text, "expected names with commas between them", error);
    }
    mf_release(problem->context, copy);
    return status;
}

mf_Status mf_fit_choose(mf_FitProblem *problem, const char *text, const double *inertia,
                        mf_Error *error) {
    MF_TRY(text != NULL ? choose_listed(problem, text, inertia, error)
                        : choose_usual(problem, inertia, error));
    if (problem->unknown_count == 0)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "fit: nothing to identify: the log commands and measures no joint");
    problem->parameter_count = problem->unknown_count;
    for (uint32_t i = 0; i < problem->parameter_count; i++) // a range need not hold the model's
        problem->ranges[i].center =
            mf_clamp(problem->ranges[i].center, problem->ranges[i].lower, problem->ranges[i].upper);
    return MF_OK;
}
