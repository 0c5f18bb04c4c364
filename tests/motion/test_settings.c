// Settings and parameters that a motion refuses: each is named in one line, leaves nothing behind,
// and the motion can be added afterwards, once. What depends on several of them is with the motion.
#include "motion/kinematic_rig.h"
#include "motion/trusses.h"

typedef struct Row {
    mf_Motion motion;
    const char *part, *name; // of the member
    size_t offset;
    char type; // of the member: d double, t time, u 32 bits
    double value;
    const char *text; // in the message; NULL: the names
} Row;

#define TYPE_OF(member)                                                                            \
    _Generic(((mf_MotionsConfig *)0)->member, double : 'd', mf_Time : 't', default : 'u')
#define BAD_AS(motion, part, member, value, text)                                                  \
    {                                                                                              \
        MF_MOTION_##motion, #part, #member, offsetof(mf_MotionsConfig, part.member),               \
            TYPE_OF(part.member), value, text                                                      \
    }
#define BAD(motion, part, member, value) BAD_AS(motion, part, member, value, NULL)
#define BAD_2(motion, part, member, one, other)                                                    \
    BAD(motion, part, member, one), BAD(motion, part, member, other)

#define ART(member) BAD_2(ARTICULATED, articulated, member, NAN, -1.0)
#define SERVO(member, value)                                                                       \
    BAD_AS(ARTICULATED, articulated, servo.member, value, "servo of joint joint: " #member)
#define SERVO_2(member) SERVO(member, NAN), SERVO(member, -1.0)
#define RIGID(member) BAD_2(RIGID, rigid, member, INFINITY, -1.0)
#define WING(member, value) BAD(FIXED_WING, fixed_wing, member, value)
#define WINGS(member, value)                                                                       \
    BAD_AS(FIXED_WING, fixed_wing_config, member, value, "fixed_wing: " #member)
#define GUSTS(member, value)                                                                       \
    BAD_AS(FIXED_WING, fixed_wing_config, gusts.member, value, "gusts." #member ": ")
#define QUAD(member, value, text) BAD_AS(QUADROTOR, quadrotor, member, value, "quadrotor." text)
#define CAR(member, value) BAD(CAR, car, member, value)

static const Row rows[] = {
    BAD_2(POINTS, points, joint_interval, 500000, 1500000),
    BAD_2(POINTS, points, friction_coefficient, 0.0, NAN),
    BAD_2(POINTS, points, compliance, 0.0, NAN), BAD_2(POINTS, points, contact_margin, -1.0, NAN),
    BAD_2(KINEMATIC, kinematic, margin, -1.0, NAN),
    BAD_2(KINEMATIC, kinematic, settle_time, -1.0, NAN),
    BAD(KINEMATIC, kinematic, settle_height, -1.0), RIGID(contact_stiffness), RIGID(contact_time),
    RIGID(separation), RIGID(friction), RIGID(torsional_friction), RIGID(friction_rate),
    RIGID(slip_speed), RIGID(contact_depth), BAD_2(RIGID, rigid, control_interval, 0, -1e6),
    BAD(RIGID, rigid, control_interval, 1500000), ART(limit_time), ART(limit_damping),
    ART(friction_rate), ART(contact_stiffness), ART(contact_time), ART(contact_ratio),
    ART(slip_speed), ART(contact_depth),
    // Not a number leaves friction to the file.
    BAD_2(ARTICULATED, articulated, friction, INFINITY, -1.0),
    BAD(ARTICULATED, articulated, contact_damping, -1.0), SERVO_2(gain), SERVO_2(damping),
    SERVO_2(effort), SERVO_2(speed), SERVO_2(no_load_speed), SERVO_2(rotor_inertia), SERVO_2(gear),
    SERVO_2(backlash), SERVO(no_load_speed, 5.0), // without an effort
    WING(mass, 0.0), WING(mass, NAN), WING(mass, -1.0), WING(inertia_xx, 0.0),
    WING(inertia_xx, 10.0), WING(inertia_yy, INFINITY), WING(inertia_xz, 1.3),
    WING(air_density, -0.1), WING(wing_area, 0.0), WING(wing_span, NAN), WING(oswald, 0.0),
    WING(drag_parasitic, -1.0), WING(lift_alpha, 0.0), WING(stall_angle, 3.0),
    WING(stall_sharpness, 0.0), WING(pitch_alpha, 1.0), WING(pitch_elevator, 0.0),
    WING(roll_aileron, 0.0), WING(yaw_beta, 1e9), WING(propeller_thrust[1], NAN),
    WING(propeller_torque[0], 0.0), WING(motor_resistance, 0.0), WING(elevator_limit, 2.0),
    WING(airspeed_max, 10.0), WING(airspeed_design, 50.0), WING(roll_limit, 1.6),
    WING(roll_frequency, -1.0), WING(course_separation, 0.5), WING(yaw_damper_gain, NAN),
    WING(orbit_gain, 0.0), WING(drag, 7), WINGS(command, 9), WINGS(integrator, 9),
    WINGS(control_interval, 1500000), WINGS(control_interval, -1e6), WINGS(start_airspeed, NAN),
    WINGS(start_altitude, INFINITY), GUSTS(length[1], 0.0), GUSTS(intensity[2], NAN),
    GUSTS(airspeed, -1.0), QUAD(mass, 0.0, "mass: 0"), QUAD(mass, -1.0, "mass: -1"),
    QUAD(mass, NAN, "mass: nan"), QUAD(inertia[0], -2.5e-3, "inertia: not positive definite"),
    QUAD(inertia[3], 1.0, "inertia: not positive definite"),
    QUAD(inertia[2], 1.0, "inertia: no real body"),
    QUAD(inertia[5], INFINITY, "inertia[5]: inf, need -1e+09 .. 1e+09"),
    QUAD(thrust_coefficient, 0.0, "thrust_coefficient: 0"),
    QUAD(torque_coefficient, 0.0, "torque_coefficient: 0"),
    QUAD(motor_time_constant, -0.1, "motor_time_constant"),
    QUAD(rotor_speed_max, 0.0, "rotor_speed_max"),
    QUAD(rotor_speed_min, 3000.0, "rotor_speed_max: 2000, need more than"),
    QUAD(rotor_direction[1], 0.5, "rotor_direction: 0.5, need +1 or -1"),
    QUAD(rate_bandwidth, -20.0, "rate_bandwidth: -20"),
    QUAD(yaw_bandwidth, 0.0, "yaw_bandwidth: 0"), QUAD(rate_lead, 0.5, "rate_lead: 0.5"),
    QUAD(tilt_max, 1.6, "tilt_max: 1.6"), QUAD(rotor_drag[1], -1e-9, "rotor_drag[1]: -1e-09"),
    BAD_2(QUADROTOR, quadrotor_config, control_interval, 1500000, -1e6),
    BAD(QUADROTOR, quadrotor_config, integrator, 7), CAR(mass, 0.0), CAR(mass, NAN),
    CAR(yaw_inertia, -1.0), CAR(front, -0.029), CAR(front_b, -2.0), CAR(rear_c, 2.5),
    CAR(rear_d, 0.0), CAR(motor, INFINITY), CAR(steering_limit, 1.6), CAR(blend_high, 0.2),
    CAR(look_ahead_most, 0.1), CAR(speed_limit, 0.0),
    BAD(CAR, car_config, control_interval, 500000), BAD(CAR, car_config, model, 7),
    BAD_2(EXTERNAL, external, poses, 1, 257), BAD_AS(EXTERNAL, external, delay, -1, "need a delay"),
    BAD_AS(EXTERNAL, external, hold, -1, "and hold"),
    BAD(EXTERNAL, external, control_interval, 1500000),
    BAD_AS(QUASISTATIC, quasistatic, method, 7, "quasistatic.method: no method 7"),
    BAD_AS(ELASTIC, elastic, damping, -1.0, "elastic.damping: -1 s, need 0 .. 1e+06")};

#define SIZE(motion, part) BAD_AS(motion, part, struct_size, 4, "mf_motions_config()")
static const Row sizes[] = {SIZE(POINTS, points),
                            SIZE(KINEMATIC, kinematic),
                            SIZE(RIGID, rigid),
                            SIZE(PRESCRIBED, prescribed),
                            SIZE(QUASISTATIC, quasistatic),
                            SIZE(ELASTIC, elastic),
                            SIZE(ARTICULATED, articulated),
                            SIZE(FIXED_WING, fixed_wing),
                            SIZE(FIXED_WING, fixed_wing_config),
                            SIZE(QUADROTOR, quadrotor),
                            SIZE(CAR, car),
                            SIZE(EXTERNAL, external)};

static bool is_vehicle(mf_Motion motion) {
    return motion == MF_MOTION_QUADROTOR || motion == MF_MOTION_FIXED_WING ||
           motion == MF_MOTION_CAR;
}

// World and group for a motion, and its settings, which are good.
static void begin_motion(Rig *rig, mf_Motion motion, Parts *parts, mf_MotionsConfig *motions) {
    *rig = rig_begin(1);
    *motions = mf_motions_config();
    pyramid(parts);
    kin_biped(rig->hand);
    for (uint32_t j = 0; j < rig->hand->model.joint_count; j++)
        rig->hand->joints[j].armature = 0.01;
    motions->quasistatic.truss = motions->elastic.truss = &parts->truss;
    if (is_vehicle(motion))
        MUST(mf_motion_model(rig->context, motion, motions, "vehicle", &rig->model, &error));
    else if (motion == MF_MOTION_QUASISTATIC || motion == MF_MOTION_ELASTIC)
        MUST(mf_truss_model(rig->context, &parts->truss, &rig->model, &error));
    rig_add_group(rig, &WITH(mf_world_config(), .step = MF_MILLISECOND),
                  WITH(mf_group_config(), .double_precision = true));
}

static void check_text(const Row *row, mf_Status status, const mf_Error *error) {
    const char *end = strstr(row->part, "_config");
    const int length = (int)(end != NULL ? (size_t)(end - row->part) : strlen(row->part));
    const char *text =
        row->text != NULL ? row->text : formatted("%.*s.%s", length, row->part, row->name);
    if (status != MF_BAD_ARGUMENT || strstr(error->message, text) == NULL ||
        strchr(error->message, '\n') != NULL)
        fail_msg("%s.%s = %g: %s, \"%s\", not \"%s\"", row->part, row->name, row->value,
                 mf_status_name(status), error->message, text);
}

static void check_refused(const Row *row) {
    Parts parts;
    mf_MotionsConfig good, bad;
    mf_Error error = {0};
    AUTO_RIG rig;
    begin_motion(&rig, row->motion, &parts, &good);
    bad = good;
    char *member = (char *)&bad + row->offset;
    if (row->type == 'd')
        memcpy(member, &row->value, sizeof row->value);
    else if (row->type == 't')
        memcpy(member, &(mf_Time){(mf_Time)row->value}, sizeof(mf_Time));
    else
        memcpy(member, &(uint32_t){(uint32_t)row->value}, sizeof(uint32_t));
    const size_t bytes = mf_context_live_bytes(rig.context);
    const uint32_t fields = mf_group_field_count(rig.group);
    if (is_vehicle(row->motion) && strstr(row->part, "_config") == NULL) {
        AUTO_MODEL *model = NULL;
        check_text(row, mf_motion_model(rig.context, row->motion, &bad, "vehicle", &model, &error),
                   &error);
        assert_null(model);
    }
    check_text(row, mf_motion_add(rig.group, row->motion, &bad, &error), &error);
    assert_int_equal(mf_context_live_bytes(rig.context), bytes);
    assert_int_equal(mf_group_field_count(rig.group), fields);
    assert_false(mf_motion_in(rig.group, row->motion));
    must(mf_motion_add(rig.group, row->motion, &good, &error), &error);
    assert_fails(mf_motion_add(rig.group, row->motion, &good, &error), MF_BAD_ARGUMENT, &error, "");
}

TEST(bad_settings_are_refused_by_name) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_refused(&rows[i]);
}

// Settings that did not start from their defaults.
TEST(settings_of_another_size_are_refused) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check_refused(&sizes[i]);
}
