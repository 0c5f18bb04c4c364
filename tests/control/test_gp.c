// One machine: Table I of Fischer and Ihme 2024, instruction by instruction against traces computed
// by hand; then the settings of the system.
#include "control/robot.h"
#include "control/gp.h"

#define LEFT(n) (0 << 5 | (n))
#define RIGHT(n) (1 << 5 | (n))
#define SENSOR(n) (2 << 5 | (n))
#define LOAD(n) (3 << 5 | (n))
#define JUMP(n) (4 << 5 | (n))
#define NOT(n) (5 << 5 | (n))
#define INC(n) (6 << 5 | (n))
#define DEC(n) (7 << 5 | (n))

typedef struct Expected {
    uint8_t address, accumulator; // behind the instruction
    uint32_t motor;
    int direction;
} Expected;

static const int32_t readings[4] = {1, 0, -128, 127};

static void check_trace(const uint8_t program[MF_GP_BYTES], mf_GpMachine machine,
                        mf_GpUnknown unknown, const Expected *expected, size_t count) {
    for (size_t i = 0; i < count; i++) {
        mf_GpMove move = mf_gp_execute(&machine, program, 3, readings, 4, unknown);
        assert_int_equal(machine.address, expected[i].address);
        assert_int_equal(machine.accumulator, expected[i].accumulator);
        assert_int_equal(move.motor, expected[i].motor);
        assert_int_equal(move.direction, expected[i].direction);
    }
}
#define CHECK_TRACE(program, address, accumulator, unknown, expected)                              \
    check_trace(program, (mf_GpMachine){address, accumulator}, unknown, expected,                  \
                sizeof(expected) / sizeof *(expected))

TEST(moves_name_motor_and_direction) {
    const uint8_t program[MF_GP_BYTES] = {LEFT(0), RIGHT(2), LEFT(1)};
    const Expected expected[] = {{1, 9, 0, -1}, {2, 9, 2, 1}, {3, 9, 1, -1}};
    CHECK_TRACE(program, 0, 9, MF_GP_UNKNOWN_IGNORE, expected);
}

TEST(sensors_fill_the_accumulator) {
    const uint8_t program[MF_GP_BYTES] = {SENSOR(0), SENSOR(1), SENSOR(2), SENSOR(3)};
    // -128 is stored in eight bits as 128.
    const Expected expected[] = {
        {1, 1, MF_NONE, 0}, {2, 0, MF_NONE, 0}, {3, 128, MF_NONE, 0}, {4, 127, MF_NONE, 0}};
    CHECK_TRACE(program, 0, 55, MF_GP_UNKNOWN_IGNORE, expected);
}

TEST(arithmetic_has_eight_bits) {
    const uint8_t program[MF_GP_BYTES] = {LOAD(31), INC(0), NOT(0), LOAD(0), DEC(0),
                                          INC(17),  NOT(4), INC(0), INC(0)};
    // ~32 = 223; 0 - 1 = 255; 255 + 1 = 0; ~0 = 255.
    const Expected expected[] = {{1, 31, MF_NONE, 0},  {2, 32, MF_NONE, 0},  {3, 223, MF_NONE, 0},
                                 {4, 0, MF_NONE, 0},   {5, 255, MF_NONE, 0}, {6, 0, MF_NONE, 0},
                                 {7, 255, MF_NONE, 0}, {8, 0, MF_NONE, 0},   {9, 1, MF_NONE, 0}};
    CHECK_TRACE(program, 0, 0, MF_GP_UNKNOWN_WRAP, expected);
}

TEST(jumps_only_when_true) {
    uint8_t program[MF_GP_BYTES] = {JUMP(20), LOAD(2), JUMP(20)};
    program[20] = DEC(0);
    program[21] = JUMP(20);
    program[22] = LEFT(0);
    const Expected expected[] = {{1, 0, MF_NONE, 0},  {2, 2, MF_NONE, 0},  {20, 2, MF_NONE, 0},
                                 {21, 1, MF_NONE, 0}, {20, 1, MF_NONE, 0}, {21, 0, MF_NONE, 0},
                                 {22, 0, MF_NONE, 0}, {23, 0, 0, -1}};
    CHECK_TRACE(program, 0, 0, MF_GP_UNKNOWN_WRAP, expected);
}

TEST(addresses_wrap) {
    uint8_t program[MF_GP_BYTES] = {INC(0)};
    program[31] = LOAD(5);
    const Expected expected[] = {{0, 5, MF_NONE, 0}, {1, 6, MF_NONE, 0}};
    CHECK_TRACE(program, 31, 0, MF_GP_UNKNOWN_WRAP, expected);
    program[30] = LOAD(1);
    program[31] = JUMP(31); // a loop of one instruction
    const Expected loop[] = {{31, 1, MF_NONE, 0}, {31, 1, MF_NONE, 0}, {31, 1, MF_NONE, 0}};
    CHECK_TRACE(program, 30, 0, MF_GP_UNKNOWN_WRAP, loop);
}

TEST(unknown_numbers_are_ignored) {
    const uint8_t program[MF_GP_BYTES] = {LEFT(3), RIGHT(31), SENSOR(4), LOAD(1), SENSOR(31)};
    const Expected expected[] = {{1, 7, MF_NONE, 0},
                                 {2, 7, MF_NONE, 0},
                                 {3, 0, MF_NONE, 0},
                                 {4, 1, MF_NONE, 0},
                                 {5, 0, MF_NONE, 0}};
    CHECK_TRACE(program, 0, 7, MF_GP_UNKNOWN_IGNORE, expected);
}

TEST(unknown_numbers_wrap) {
    const uint8_t program[MF_GP_BYTES] = {LEFT(3), RIGHT(31), SENSOR(4), SENSOR(31)};
    // 3 % 3 = 0, 31 % 3 = 1, 4 % 4 = 0, 31 % 4 = 3.
    const Expected expected[] = {
        {1, 7, 0, -1}, {2, 7, 1, 1}, {3, 1, MF_NONE, 0}, {4, 127, MF_NONE, 0}};
    CHECK_TRACE(program, 0, 7, MF_GP_UNKNOWN_WRAP, expected);
}

TEST(nothing_to_move_or_read) {
    const uint8_t program[MF_GP_BYTES] = {LEFT(0), SENSOR(0)};
    mf_GpMachine machine = {0, 3};
    mf_GpMove move = mf_gp_execute(&machine, program, 0, NULL, 0, MF_GP_UNKNOWN_WRAP);
    assert_int_equal(move.motor, MF_NONE);
    assert_int_equal(move.direction, 0);
    mf_gp_execute(&machine, program, 0, NULL, 0, MF_GP_UNKNOWN_WRAP);
    assert_int_equal(machine.accumulator, 0);
}

// Every byte at every address with every accumulator leaves a machine inside its memory, and only
// what its opcode may change changes.
TEST(every_byte_is_an_instruction) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint8_t program[MF_GP_BYTES];
        memset(program, (int)byte, sizeof program);
        for (uint32_t k = 0; k < 32 * 256; k++) {
            mf_GpMachine before = {(uint8_t)(k % 32), (uint8_t)(k / 32)}, after = before;
            mf_GpMove move = mf_gp_execute(&after, program, 18, readings, 4, MF_GP_UNKNOWN_WRAP);
            assert_true(after.address < 32);
            if (byte >> 5 != MF_GP_JUMP)
                assert_int_equal(after.address, (before.address + 1) % 32);
            assert_int_equal(move.motor != MF_NONE, byte >> 5 <= MF_GP_RIGHT);
            if (byte >> 5 <= MF_GP_RIGHT || byte >> 5 == MF_GP_JUMP)
                assert_int_equal(after.accumulator, before.accumulator);
        }
    }
}

// ---- the system --------------------------------------------------------------------------------

static Fixture open_gp(mf_GpConfig config) {
    Fixture fixture = fixture_open(MF_ISA_AUTO, true, 3);
    assert_int_equal(fixture_add_sensors(&fixture, fixture_every_step()), MF_OK);
    MUST(mf_gp_add(fixture.group, &config, &error));
    return fixture;
}

// The motors are the joints that are hinges or slides and follow no other: 0, 1, 3, 5, 6, 7.
TEST(motors_are_the_free_joints) {
    for (uint32_t motor = 0; motor < ROBOT_MOTORS; motor++) {
        mf_GpConfig config =
            WITH(mf_gp_config(), .instructions_per_tick = 1, .angle_per_move = 0.125);
        AUTO_FIXTURE fixture = open_gp(config);
        const uint8_t left[MF_GP_BYTES] = {(uint8_t)LEFT(motor)};
        mf_gp_set_program(fixture.group, 1, left);
        const uint8_t idle[MF_GP_BYTES] = {LOAD(0)};
        mf_gp_set_program(fixture.group, 0, idle);
        mf_gp_set_program(fixture.group, 2, idle);
        mf_world_step(fixture.world, 1);
        for (uint32_t joint = 0; joint < ROBOT_JOINTS; joint++) {
            double moved = joint == robot_motor[motor] ? -0.125 : 0.0;
            assert_true(fixture_get(&fixture, "joint.target", 1, joint) == moved);
            assert_true(fixture_get(&fixture, "joint.target", 0, joint) == 0.0);
        }
    }
}

TEST(targets_stay_in_range) {
    mf_GpConfig config = WITH(mf_gp_config(), .angle_per_move = 0.4, .rate = fixture_every_step());
    AUTO_FIXTURE fixture = open_gp(config);
    uint8_t up[MF_GP_BYTES], free_joint[MF_GP_BYTES];
    memset(up, RIGHT(1), sizeof up);
    memset(free_joint, LEFT(4), sizeof free_joint); // joint 6 has no limits
    mf_gp_set_program(fixture.group, 0, up);
    mf_gp_set_program(fixture.group, 1, free_joint);
    mf_world_step(fixture.world, 10);
    assert_true(fixture_get(&fixture, "joint.target", 0, 1) == 0.75);
    assert_near(fixture_get(&fixture, "joint.target", 1, 6), -0.4 * 80, 1e-12);
}

// One tick per 80 ms by default: steps 0, 8 and 16 of 10 ms in the first 17.
TEST(ticks_follow_the_rate) {
    AUTO_FIXTURE fixture = open_gp(WITH(mf_gp_config(), .instructions_per_tick = 3));
    mf_world_step(fixture.world, 8);
    assert_int_equal(fixture_get(&fixture, "gp.address", 2, 0), 3);
    mf_world_step(fixture.world, 8);
    assert_int_equal(fixture_get(&fixture, "gp.address", 2, 0), 6);
    mf_world_step(fixture.world, 1);
    assert_int_equal(fixture_get(&fixture, "gp.address", 2, 0), 9);
    mf_group_reset(fixture.group, 2);
    assert_int_equal(fixture_get(&fixture, "gp.address", 2, 0), 0);
    assert_int_equal(fixture_get(&fixture, "gp.address", 1, 0), 9);
}

TEST(bad_settings_are_refused) {
    AUTO_FIXTURE fixture = fixture_open(MF_ISA_AUTO, false, 1);
    const mf_GpConfig good = mf_gp_config();
    const mf_GpConfig bad[] = {WITH(good, .struct_size = 0),
                               WITH(good, .instructions_per_tick = 0),
                               WITH(good, .instructions_per_tick = 257),
                               WITH(good, .angle_per_move = 0.0),
                               WITH(good, .angle_per_move = NAN),
                               WITH(good, .unknown = (mf_GpUnknown)2),
                               WITH(good, .rate.denominator = 0)};
    MUST_FAIL(mf_gp_add(fixture.group, &good, &error), MF_NOT_FOUND, "mf_sensors_add");
    assert_int_equal(fixture_add_sensors(&fixture, good.rate), MF_OK);
    for (int i = 0; i < 7; i++)
        MUST_FAIL(mf_gp_add(fixture.group, &bad[i], &error), MF_BAD_ARGUMENT, "");
    assert_null(mf_group_find_field(fixture.group, "gp.program"));
    MUST(mf_gp_add(fixture.group, &good, &error));
    MUST_FAIL(mf_gp_add(fixture.group, &good, &error), MF_BAD_ARGUMENT, "");
}

// Each allocation fails once; the same call then succeeds.
TEST(memory_failures_can_be_repeated) {
    for (uint64_t countdown = 1;; countdown++) {
        AUTO_FIXTURE fixture = fixture_open(MF_ISA_AUTO, false, 20);
        mf_context_fail_after(fixture.context, countdown);
        mf_Status sensors = fixture_add_sensors(&fixture, fixture_every_step());
        mf_Status gp = sensors == MF_OK ? mf_gp_add(fixture.group, NULL, NULL) : MF_NOT_FOUND;
        mf_context_fail_after(fixture.context, 0);
        assert_true(sensors == MF_OK || sensors == MF_NO_MEMORY);
        if (sensors == MF_OK && gp == MF_OK) {
            assert_true(countdown > 8);
            return;
        }
        if (sensors != MF_OK)
            assert_int_equal(fixture_add_sensors(&fixture, fixture_every_step()), MF_OK);
        MUST(mf_gp_add(fixture.group, NULL, &error));
        mf_world_step(fixture.world, 1);
    }
}
