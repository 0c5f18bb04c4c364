// The batch interpreter against mf_gp_execute: random programs, random sensors, every instruction
// set and both precisions, bit for bit.
#include "control/robot.h"
#include "base/random.h"
#include "control/gp.h"

enum {
    PROGRAMS = 10000,
    SENSORS = 3 + 2 + ROBOT_JOINTS + 3, // contacts, rays, joints, attitude
    TICKS = 12
};

typedef struct Setting {
    mf_GpUnknown unknown;
    uint32_t instructions;
    double angle;
} Setting;

// What the reference keeps of one robot.
typedef struct Shadow {
    mf_GpMachine machine;
    uint8_t program[MF_GP_BYTES];
    double target[ROBOT_JOINTS]; // exact copies of float or double
    bool faulty;
} Shadow;

static uint32_t random_word(uint32_t instance, uint32_t stream, uint64_t tick) {
    uint32_t out[4];
    mf_random(2024, instance, stream, tick, out);
    return out[0];
}

static double random_between(uint32_t instance, uint32_t stream, uint64_t tick, double low,
                             double high) {
    return low + (high - low) * mf_random_unit_float(random_word(instance, stream, tick));
}

static void fill_robot(Fixture *fixture, Shadow *shadow, uint32_t instance) {
    mf_Field *program = fixture_field(fixture, "gp.program");
    for (uint32_t i = 0; i < MF_GP_BYTES; i++)
        shadow->program[i] = (uint8_t)random_word(instance, 1, i);
    mf_gp_set_program(fixture->group, instance, shadow->program);
    // Only the low eight bits of what stands in the field count.
    if (instance % 7 == 3)
        for (uint32_t i = 0; i < MF_GP_BYTES; i++)
            mf_field_set(program, instance, i,
                         (double)shadow->program[i] + (i % 2 ? 256.0 : -2147483648.0));
    shadow->machine = (mf_GpMachine){0, 0};
    shadow->faulty = instance % 11 == 5;
    if (shadow->faulty)
        fixture_set(fixture, "fault.word", instance, 0, MF_FAULT_RANGE);
    for (uint32_t j = 0; j < ROBOT_JOINTS; j++) {
        double target = random_between(instance, 2, j, -1.5, 1.5);
        if (instance % 13 == 4 && j == 3)
            target = NAN;
        fixture_set(fixture, "joint.target", instance, j, target);
        shadow->target[j] = fixture_get(fixture, "joint.target", instance, j);
    }
}

// New readings, as if the robot had moved.
static void fill_sensors(Fixture *fixture, uint32_t instance, uint64_t tick) {
    mf_Field *angle = fixture_field(fixture, "joint.angle"),
             *load = fixture_field(fixture, "point.load");
    mf_Field *position = fixture_field(fixture, "base.position");
    mf_Field *orientation = fixture_field(fixture, "base.orientation");
    for (uint32_t j = 0; j < ROBOT_JOINTS; j++)
        mf_field_set(angle, instance, j,
                     random_between(instance, 100 + j, tick, -4.0, 4.0)); // beyond 127 degrees too
    for (uint32_t i = 0; i < load->components; i++)
        mf_field_set(load, instance, i, random_word(instance, 200 + i, tick) % 3 == 0 ? 1.5 : 0.0);
    mf_field_set(position, instance, 2, random_between(instance, 300, tick, -0.1, 2.5));
    double half = random_between(instance, 301, tick, -3.0, 3.0);
    mf_field_set(orientation, instance, 0, cos(half));
    mf_field_set(orientation, instance, 1, 0.6 * sin(half));
    mf_field_set(orientation, instance, 3, 0.8 * sin(half));
}

// Toward zero, clamped, in the precision of the group.
static int32_t whole(double value, double scale, bool double_precision) {
    double product = double_precision ? value * scale : (double)((float)value * (float)scale);
    if (!(product > -128.0))
        return -128;
    return product < 127.0 ? (int32_t)product : 127;
}

static uint32_t read_sensors(Fixture *fixture, uint32_t instance, bool precise, int32_t *out) {
    const mf_Field *field = fixture_field(fixture, "sensor.value");
    uint32_t count = 0;
    for (uint32_t k = 0; k < 3; k++)
        out[count++] = whole(mf_field_get(field, instance, robot_contact[k]), 1.0, precise);
    for (uint32_t k = 0; k < 2; k++)
        out[count++] = whole(mf_field_get(field, instance, robot_ray[k]), 100.0, precise);
    for (uint32_t c = ROBOT_JOINT_VALUES; c < field->components; c++)
        out[count++] = whole(mf_field_get(field, instance, c), 57.29577951308232, precise);
    return count;
}

static double limit(double value, double lower, double upper) {
    if (value < lower)
        return lower;
    return value > upper ? upper : value;
}

static void move_shadow(const Fixture *fixture, Shadow *shadow, mf_GpMove move, double angle,
                        bool precise) {
    if (move.motor == MF_NONE)
        return;
    uint32_t index = robot_motor[move.motor];
    const mf_Joint *joint = &fixture->robot->joints[index];
    double *target = &shadow->target[index];
    if (precise)
        *target = limit(*target + move.direction * angle, joint->lower, joint->upper);
    else
        *target = limit((double)((float)*target + (float)(move.direction * angle)),
                        (float)joint->lower, (float)joint->upper);
}

static void check_robot(Fixture *fixture, const Shadow *shadow, uint32_t instance) {
    assert_int_equal(fixture_get(fixture, "gp.address", instance, 0), shadow->machine.address);
    assert_int_equal(fixture_get(fixture, "gp.accumulator", instance, 0),
                     shadow->machine.accumulator);
    for (uint32_t j = 0; j < ROBOT_JOINTS; j++) {
        double target = fixture_get(fixture, "joint.target", instance, j);
        if (isnan(shadow->target[j]))
            assert_true(isnan(target));
        else
            assert_memory_equal(&target, &shadow->target[j], sizeof target);
    }
}

static void run_case(mf_Isa isa, bool precise, Setting setting, uint32_t count) {
    AUTO_FIXTURE fixture = fixture_open(isa, precise, count);
    fixture_add_load(&fixture);
    assert_int_equal(fixture_add_sensors(&fixture, fixture_every_step()), MF_OK);
    MUST(mf_gp_add(fixture.group,
                   &WITH(mf_gp_config(), .rate = fixture_every_step(), .unknown = setting.unknown,
                         .instructions_per_tick = setting.instructions,
                         .angle_per_move = setting.angle),
                   &error));
    Shadow *shadows = test_calloc(count, sizeof *shadows);
    for (uint32_t i = 0; i < count; i++)
        fill_robot(&fixture, &shadows[i], i);
    uint64_t moves = 0;
    for (uint64_t tick = 0; tick < TICKS; tick++) {
        for (uint32_t i = 0; i < count; i++)
            fill_sensors(&fixture, i, tick);
        mf_world_step(fixture.world, 1);
        for (uint32_t i = 0; i < count; i++) {
            int32_t sensors[64];
            uint32_t sensor_count = read_sensors(&fixture, i, precise, sensors);
            assert_int_equal(sensor_count, SENSORS);
            for (uint32_t k = 0; k < setting.instructions && !shadows[i].faulty; k++) {
                mf_GpMove move =
                    mf_gp_execute(&shadows[i].machine, shadows[i].program, ROBOT_MOTORS, sensors,
                                  sensor_count, setting.unknown);
                move_shadow(&fixture, &shadows[i], move, setting.angle, precise);
                moves += move.motor != MF_NONE;
            }
            check_robot(&fixture, &shadows[i], i);
        }
    }
    assert_true(moves > count);
    test_free(shadows);
}

TEST(batch_equals_reference) {
    const Setting usual = {MF_GP_UNKNOWN_WRAP, 8, 0.4};
    const Setting other = {MF_GP_UNKNOWN_IGNORE, 13, 0.1};
    FOR_EACH_ISA (isa) {
        for (int precise = 0; precise < 2; precise++) {
            run_case(isa, precise, usual, PROGRAMS);
            run_case(isa, precise, other, 100);
            run_case(isa, precise, (Setting){MF_GP_UNKNOWN_WRAP, 1, 1.0}, 17);
        }
    }
}
