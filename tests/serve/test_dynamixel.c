// Servos on a bus: packets of the manufacturer's documentation to the byte, the instructions, the
// registers against the joints, garbage, and ports.
#include "serve/dynamixel.h"
#include "model/points.h"
#include "serve/serial.h"
#include "serve/support.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>

GROUP_FIXTURE(make_context, drop_context);

#define TURN 6.283185307179586

enum { HUMANOID_SERVOS = 21 };

static const char humanoid[] = "world: {step: 0.002}\n"
                               "groups:\n"
                               "- name: robot\n"
                               "  model: " MAYFLY_SOURCE_DIR "/models/humanoid.urdf\n"
                               "  motion: articulated\n"
                               "  count: 2\n"
                               "  controller: none\n"
                               "  placement: {grid: {spacing: [2, 2, 2]}}\n";

typedef struct Bus {
    mf_Scene *scene;
    mf_Dynamixel *dynamixel;
    double clock;
} Bus;

static Bus open_bus(mf_Context *context) {
    Bus bus = {.scene = open_scene(context, humanoid)};
    CHECK(mf_dynamixel_create(context, bus.scene->group, 1, &bus.dynamixel, error));
    assert_int_equal(bus.dynamixel->servo_count, HUMANOID_SERVOS);
    return bus;
}

static void close_bus(Bus *bus) {
    mf_dynamixel_destroy(bus->dynamixel);
    mf_scene_close(bus->scene);
}

// An instruction packet without stuffing: what the tests send has none to need it.
static uint32_t pack(uint8_t *out, uint8_t id, uint8_t instruction, const void *data,
                     uint32_t size) {
    const uint8_t head[8] = {
        0xff, 0xff, 0xfd, 0, id, (uint8_t)(size + 3), (uint8_t)((size + 3) >> 8), instruction};
    memcpy(out, head, sizeof head);
    if (size > 0)
        memcpy(out + 8, data, size);
    const uint16_t crc = mf_dynamixel_crc(out, 8 + size);
    out[8 + size] = (uint8_t)crc;
    out[9 + size] = (uint8_t)(crc >> 8);
    return 10 + size;
}

// Sends a packet; what came is in dynamixel->out, of the returned size.
static uint32_t say(Bus *bus, uint8_t id, uint8_t instruction, const void *data, uint32_t size) {
    uint8_t bytes[1024];
    bus->dynamixel->out_size = 0;
    mf_dynamixel_feed(bus->dynamixel, bytes, pack(bytes, id, instruction, data, size), bus->clock);
    return bus->dynamixel->out_size;
}

static void has_status(const Bus *bus, uint32_t at, uint8_t id, uint8_t error, uint32_t size) {
    const uint8_t *out = bus->dynamixel->out + at;
    assert_int_equal(out[4], id);
    assert_int_equal(out[5] + 256 * out[6], size + 4);
    assert_int_equal(out[7], 0x55);
    assert_int_equal(out[8], error);
    assert_int_equal(out[9 + size] + 256 * out[10 + size], mf_dynamixel_crc(out, 9 + size));
}

static uint8_t write_at(Bus *bus, uint8_t id, uint16_t address, int32_t value, uint32_t size) {
    uint8_t data[6] = {(uint8_t)address, (uint8_t)(address >> 8)};
    memcpy(data + 2, &value, size);
    assert_int_equal(say(bus, id, 3, data, 2 + size), 11);
    return bus->dynamixel->out[8];
}

static int32_t read_at(Bus *bus, uint8_t id, uint16_t address, uint16_t size) {
    const uint16_t data[2] = {address, size};
    int32_t value = 0;
    assert_int_equal(say(bus, id, 2, data, sizeof data), 11 + size);
    has_status(bus, 0, id, 0, size);
    memcpy(&value, bus->dynamixel->out + 9, size);
    return size == 2 ? (int16_t)value : value;
}

static double joint(const Bus *bus, const char *field, uint32_t number) {
    return get_field(bus->scene->group, field, 1, number);
}

static void steps(Bus *bus, int count) {
    for (int i = 0; i < count; i++) {
        mf_world_step(bus->scene->world, 1);
        mf_dynamixel_advance(bus->dynamixel, mf_world_time(bus->scene->world));
    }
}

// ---- packets -----------------------------------------------------------------------------------

// The examples of the manufacturer's page on the protocol.
TEST(test_packets_of_the_documentation) {
    static const uint8_t ping[] = {0xff, 0xff, 0xfd, 0, 1, 3, 0, 1, 0x19, 0x4e};
    static const uint8_t pong[] = {0xff, 0xff, 0xfd, 0, 1, 7, 0, 0x55, 0, 6, 4, 0x26, 0x65, 0x5d};
    static const uint8_t read[] = {0xff, 0xff, 0xfd, 0, 1, 7, 0, 2, 0x84, 0, 4, 0, 0x1d, 0x15};
    static const uint8_t write[] = {0xff, 0xff, 0xfd, 0, 1, 9, 0,    3,
                                    0x74, 0,    0,    2, 0, 0, 0xca, 0x89};
    uint8_t made[32];
    assert_int_equal(pack(made, 1, 1, NULL, 0), sizeof ping);
    assert_memory_equal(made, ping, sizeof ping);
    assert_int_equal(pack(made, 1, 2, "\x84\0\4\0", 4), sizeof read);
    assert_memory_equal(made, read, sizeof read);
    assert_int_equal(pack(made, 1, 3, "\x74\0\0\2\0\0", 6), sizeof write);
    assert_memory_equal(made, write, sizeof write);
    static mf_Dynamixel bus;
    mf_dynamixel_status(&bus, 1, 0, (const uint8_t *)"\6\4\x26", 3);
    assert_int_equal(bus.out_size, sizeof pong);
    assert_memory_equal(bus.out, pong, sizeof pong);
}

// FF FF FD within data is stuffed on the way out and accepted on the way in.
TEST(test_stuffing) {
    AUTO(close_bus) Bus bus = open_bus(*state);
    uint8_t packet[32] = {0xff, 0xff, 0xfd, 0, 4, 10, 0, 3, 108, 0, 0xff, 0xff, 0xfd, 0xfd, 0};
    // Profile acceleration 0x00fdffff is beyond its limit: it came through whole, and is refused.
    uint16_t crc = mf_dynamixel_crc(packet, 15);
    packet[15] = (uint8_t)crc;
    packet[16] = (uint8_t)(crc >> 8);
    mf_dynamixel_feed(bus.dynamixel, packet, 17, 0.0);
    has_status(&bus, 0, 4, 6, 0);
    // A homing offset of -131073 has the bytes ff ff fd ff.
    assert_int_equal(write_at(&bus, 4, 20, 0, 4), 0);
    packet[8] = 20;
    packet[14] = 0xff;
    crc = mf_dynamixel_crc(packet, 15);
    packet[15] = (uint8_t)crc;
    packet[16] = (uint8_t)(crc >> 8);
    bus.dynamixel->out_size = 0;
    mf_dynamixel_feed(bus.dynamixel, packet, 17, 0.0);
    has_status(&bus, 0, 4, 0, 0);
    const uint16_t read[2] = {20, 4};
    assert_int_equal(say(&bus, 4, 2, read, sizeof read), 16); // one more for the stuffing
    assert_memory_equal(bus.dynamixel->out + 9, "\xff\xff\xfd\xfd\xff", 5);
    assert_int_equal(bus.dynamixel->out[5], 9);
}

// ---- instructions ------------------------------------------------------------------------------

TEST(test_ping_read_and_write) {
    AUTO(close_bus) Bus bus = open_bus(*state);
    assert_int_equal(say(&bus, 3, 1, NULL, 0), 14);
    has_status(&bus, 0, 3, 0, 3);
    assert_int_equal(bus.dynamixel->out[9] + 256 * bus.dynamixel->out[10], 1020);
    assert_int_equal(say(&bus, 0xfe, 1, NULL, 0), HUMANOID_SERVOS * 14);
    for (uint32_t s = 0; s < HUMANOID_SERVOS; s++)
        has_status(&bus, 14 * s, (uint8_t)(s + 1), 0, 3);
    assert_int_equal(say(&bus, HUMANOID_SERVOS + 1, 1, NULL, 0), 0); // nobody is there
    assert_int_equal(say(&bus, 1, 0x77, NULL, 0), 11);
    has_status(&bus, 0, 1, 2, 0);                      // no instruction
    assert_int_equal(write_at(&bus, 1, 132, 5, 4), 7); // read only
    assert_int_equal(write_at(&bus, 1, 116, 5, 2), 5); // half of it
    assert_int_equal(write_at(&bus, 1, 400, 5, 2), 4); // no such register
    assert_int_equal(write_at(&bus, 1, 64, 2, 1), 6);
    assert_int_equal(write_at(&bus, 1, 64, 1, 1), 0);
    assert_int_equal(write_at(&bus, 1, 11, 4, 1), 7); // not with its torque on
    assert_int_equal(write_at(&bus, 2, 11, 4, 1), 0);
    assert_int_equal(write_at(&bus, 2, 7, 3, 1), 1); // the id of another one
    assert_int_equal(write_at(&bus, 2, 7, 100, 1), 0);
    assert_int_equal(read_at(&bus, 100, 11, 1), 4);
    assert_int_equal(say(&bus, 2, 1, NULL, 0), 0);
    assert_int_equal(write_at(&bus, 5, 68, 1, 1), 0);
    assert_int_equal(say(&bus, 5, 3, "\x41\0\1", 3), 0); // written, and not answered
    assert_int_equal(read_at(&bus, 5, 65, 1), 1);
}

TEST(test_registered_writes_wait_for_the_action) {
    AUTO(close_bus) Bus bus = open_bus(*state);
    assert_int_equal(say(&bus, 6, 4, "\x41\0\1", 3), 11);
    has_status(&bus, 0, 6, 0, 0);
    assert_int_equal(read_at(&bus, 6, 65, 1), 0);
    assert_int_equal(read_at(&bus, 6, 69, 1), 1);
    assert_int_equal(say(&bus, 0xfe, 5, NULL, 0), 0);
    assert_int_equal(read_at(&bus, 6, 65, 1), 1);
    assert_int_equal(read_at(&bus, 7, 65, 1), 0);
    assert_int_equal(read_at(&bus, 6, 69, 1), 0);
    assert_int_equal(say(&bus, 6, 4, "\x84\0\1\0\0\0", 6), 11); // refused when it comes
    has_status(&bus, 0, 6, 7, 0);
    assert_int_equal(say(&bus, 6, 8, NULL, 0), 11); // reboot
    assert_int_equal(read_at(&bus, 6, 65, 1), 0);
}

TEST(test_many_at_once) {
    AUTO(close_bus) Bus bus = open_bus(*state);
    assert_int_equal(say(&bus, 0xfe, 0x83, "\x41\0\1\0\2\1\4\1\x63\1", 10), 0); // 99: nobody
    assert_int_equal(say(&bus, 0xfe, 0x82, "\x41\0\1\0\4\3\2\x63", 8), 36);
    has_status(&bus, 0, 4, 0, 1);
    assert_int_equal(bus.dynamixel->out[9], 1);
    has_status(&bus, 12, 3, 0, 1);
    assert_int_equal(bus.dynamixel->out[12 + 9], 0);
    has_status(&bus, 24, 2, 0, 1);
    static const uint8_t writes[] = {9, 65, 0, 1, 0, 1, 8, 112, 0, 4, 0, 44, 1, 0, 0};
    assert_int_equal(say(&bus, 0xfe, 0x93, writes, sizeof writes), 0);
    static const uint8_t reads[] = {9, 65, 0, 1, 0, 8, 112, 0, 4, 0};
    assert_int_equal(say(&bus, 0xfe, 0x92, reads, sizeof reads), 12 + 15);
    assert_int_equal(bus.dynamixel->out[9], 1);
    has_status(&bus, 12, 8, 0, 4);
    assert_int_equal(bus.dynamixel->out[12 + 9] + 256 * bus.dynamixel->out[12 + 10], 300);
}

// One packet with the parts of all servos, each with a checksum of the packet up to there, and
// without stuffing; it ends at a servo that is missing.
TEST(test_fast_reads) {
    AUTO(close_bus) Bus bus = open_bus(*state);
    const uint8_t *out = bus.dynamixel->out;
    assert_int_equal(write_at(&bus, 2, 20, -131073, 4), 0); // ff ff fd ff
    assert_int_equal(say(&bus, 0xfe, 0x8a, "\x14\0\4\0\3\2", 6), 8 + 2 * 8);
    assert_memory_equal(out, "\xff\xff\xfd\0\xfe\x11\0\x55\0\3\0\0\0\0", 14);
    assert_int_equal(out[14] + 256 * out[15], mf_dynamixel_crc(out, 14));
    assert_memory_equal(out + 16, "\0\2\xff\xff\xfd\xff", 6);
    assert_int_equal(out[22] + 256 * out[23], mf_dynamixel_crc(out, 22));
    static const uint8_t reads[] = {9, 65, 0, 1, 0, 8, 31, 0, 1, 0, 7, 150, 0, 2, 0};
    assert_int_equal(say(&bus, 0xfe, 0x9a, reads, sizeof reads), 8 + 5 + 5 + 6);
    assert_int_equal(out[5], 17);
    assert_memory_equal(out + 8, "\0\x09\0", 3);
    assert_memory_equal(out + 13, "\0\x08\x50", 3);
    assert_memory_equal(out + 18, "\4\7\0\0", 4); // no such register
    assert_int_equal(out[22] + 256 * out[23], mf_dynamixel_crc(out, 22));
    assert_int_equal(say(&bus, 0xfe, 0x8a, "\x14\0\4\0\3\x63\2", 7), 8 + 8); // 99: nobody
    assert_int_equal(out[5], 25);
    assert_int_equal(say(&bus, 0xfe, 0x8a, "\x14\0\4\0\x63\2", 6), 0);
    assert_int_equal(write_at(&bus, 3, 68, 0, 1), 0);
    assert_int_equal(say(&bus, 0xfe, 0x8a, "\x14\0\4\0\3\2", 6), 0); // answers no reads
    // As many as can be asked for do not fit, and are not begun.
    uint8_t most[900] = {20, 0, 0xff, 0xff};
    memset(most + 4, 1, sizeof most - 4);
    assert_int_equal(say(&bus, 0xfe, 0x8a, most, sizeof most), 0);
}

// Goal position and LED through indirect data, and the present position behind them.
TEST(test_indirect_addresses) {
    AUTO(close_bus) Bus bus = open_bus(*state);
    assert_int_equal(read_at(&bus, 4, 168, 2), 224);
    assert_int_equal(read_at(&bus, 4, 632, 2), 661);
    assert_int_equal(write_at(&bus, 4, 661, 77, 1), 0); // its own byte
    assert_int_equal(read_at(&bus, 4, 661, 1), 77);
    for (uint16_t k = 0; k < 9; k++) {
        const int32_t target = k == 0 ? 65 : k < 5 ? 115 + k : 127 + k;
        assert_int_equal(write_at(&bus, 4, (uint16_t)(168 + 2 * k), target, 2), 0);
    }
    assert_int_equal(write_at(&bus, 4, 186, 63, 2), 6);  // not volatile
    assert_int_equal(write_at(&bus, 4, 186, 170, 2), 6); // an indirect address
    assert_int_equal(write_at(&bus, 4, 186, 225, 2), 6); // data of another one
    assert_int_equal(write_at(&bus, 4, 169, 65, 1), 4);
    assert_int_equal(write_at(&bus, 4, 64, 1, 1), 0);
    assert_int_equal(write_at(&bus, 4, 186, 65, 2), 7); // not with the torque on
    assert_int_equal(say(&bus, 4, 3, "\xe0\0\1\x34\x08\0\0", 7), 11);
    has_status(&bus, 0, 4, 0, 0);
    assert_int_equal(read_at(&bus, 4, 65, 1), 1);
    assert_int_equal(read_at(&bus, 4, 116, 4), 0x834);
    assert_true(fabs(joint(&bus, "joint.target", 3) - 52 * TURN / 4096) < 1e-6);
    steps(&bus, 20);
    const int32_t position = read_at(&bus, 4, 132, 4);
    assert_int_equal(read_at(&bus, 4, 229, 4), position);
    assert_int_not_equal(position, 2048);
    assert_int_equal(read_at(&bus, 4, 225, 4), 0x834);
    assert_int_equal(write_at(&bus, 4, 225, 7, 2), 5);       // half of a goal
    assert_int_equal(write_at(&bus, 4, 226, 7, 1), 4);       // from its middle
    assert_int_equal(write_at(&bus, 4, 229, 7, 4), 7);       // read only
    assert_int_equal(write_at(&bus, 4, 225, 1 << 30, 4), 6); // beyond its limit
    const uint16_t gap[3][2] = {{140, 8}, {251, 2}, {300, 1}};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(say(&bus, 4, 2, gap[i], 4), 11);
        has_status(&bus, 0, 4, 4, 0);
    }
    assert_int_equal(say(&bus, 4, 8, NULL, 0), 11); // after a restart all is at its position
    assert_int_equal(read_at(&bus, 4, 168, 2), 224);
    assert_int_equal(read_at(&bus, 4, 661, 1), 0);
}

// ---- joints ------------------------------------------------------------------------------------

TEST(test_goals_move_joints) {
    AUTO(close_bus) Bus bus = open_bus(*state);
    const uint32_t number =
        mf_model_find(mf_group_model(bus.scene->group), MF_ITEM_JOINT, "neck_yaw");
    const uint8_t id = (uint8_t)(number + 1);
    steps(&bus, 50);
    assert_int_equal(write_at(&bus, id, 116, 2148, 4), 0);
    assert_true(joint(&bus, "joint.target", number) == 0.0); // without torque it is not driven
    assert_int_equal(write_at(&bus, id, 64, 1, 1), 0);
    assert_int_equal(write_at(&bus, id, 116, 2148, 4), 0);
    assert_true(fabs(joint(&bus, "joint.target", number) - 100 * TURN / 4096) < 1e-6);
    steps(&bus, 500);
    assert_true(abs(read_at(&bus, id, 132, 4) - 2148) < 12);
    assert_true(fabs(joint(&bus, "joint.angle", number) - 100 * TURN / 4096) < 0.02);
    assert_int_equal(read_at(&bus, id, 122, 1), 0);
    assert_int_equal(read_at(&bus, id, 116, 4), 2148);
    const int32_t upper = read_at(&bus, id, 48, 4);
    const double limit = mf_group_model(bus.scene->group)->joints[number].upper;
    assert_int_equal(upper, (int32_t)floor(fmin(limit / TURN * 4096 + 2048, 4095)));
    if (upper < 4095)
        assert_int_equal(write_at(&bus, id, 116, upper + 1, 4), 6);
    // With a profile of 100 units of 0.229 rev/min.
    assert_int_equal(write_at(&bus, id, 112, 100, 4), 0);
    assert_int_equal(write_at(&bus, id, 116, 1948, 4), 0);
    const double begin = joint(&bus, "joint.target", number);
    assert_true(mf_dynamixel_is_busy(bus.dynamixel));
    steps(&bus, 10);
    const double speed = 100 * 0.229 * TURN / 60;
    assert_true(fabs(joint(&bus, "joint.target", number) - begin + 0.02 * speed) < 1e-5);
    assert_int_equal(read_at(&bus, id, 116, 4), 1948);
    assert_int_equal(read_at(&bus, id, 136, 4), -100);
    steps(&bus, 500);
    assert_false(mf_dynamixel_is_busy(bus.dynamixel));
    assert_true(fabs(joint(&bus, "joint.target", number) + 100 * TURN / 4096) < 1e-6);
    // Without torque it gives way.
    assert_int_equal(write_at(&bus, id, 64, 0, 1), 0);
    steps(&bus, 20);
    assert_true(joint(&bus, "joint.target", number) == joint(&bus, "joint.angle", number));
    assert_int_equal(read_at(&bus, id, 126, 2), 0);
}

TEST(test_loads_and_velocities_are_read) {
    AUTO(close_bus) Bus bus = open_bus(*state);
    const mf_Model *model = mf_group_model(bus.scene->group);
    int32_t most = 0;
    steps(&bus, 90);
    assert_int_equal(write_at(&bus, 4, 64, 1, 1), 0);
    assert_int_equal(write_at(&bus, 4, 116, 2248, 4), 0);
    steps(&bus, 10);
    for (uint8_t id = 1; id <= HUMANOID_SERVOS; id++) {
        const mf_Servo motor = mf_joint_servo(model, id - 1);
        const double error =
            joint(&bus, "joint.target", id - 1) - joint(&bus, "joint.angle", id - 1);
        const double rate = joint(&bus, "joint.rate", id - 1);
        const double torque =
            fmax(fmin(motor.gain * error - motor.damping * rate, motor.effort), -motor.effort);
        const int32_t current = read_at(&bus, id, 126, 2), speed = read_at(&bus, id, 128, 4);
        assert_true(fabs(current * 0.00269 * 1.783 - torque) <= 0.5001 * 0.00269 * 1.783);
        assert_true(fabs(speed * 0.229 * TURN / 60 - rate) <= 0.5001 * 0.229 * TURN / 60);
        most = abs(current) > most ? abs(current) : most;
    }
    assert_true(most > 50); // the arm that was told to move
    assert_int_equal(read_at(&bus, 1, 120, 2), 200);
    // A mode of velocities.
    assert_int_equal(write_at(&bus, 1, 11, 1, 1), 0);
    assert_int_equal(write_at(&bus, 1, 64, 1, 1), 0);
    assert_int_equal(write_at(&bus, 1, 104, 20, 4), 0);
    const double begin = joint(&bus, "joint.target", 0);
    steps(&bus, 100);
    assert_true(fabs(joint(&bus, "joint.target", 0) - begin - 0.2 * 20 * 0.229 * TURN / 60) < 1e-5);
}

// ---- garbage -----------------------------------------------------------------------------------

// Random bytes, damaged packets and halves: no other servo is changed by them, and the next packet
// is answered.
TEST(test_garbage_harms_nobody) {
    static const uint8_t instructions[] = {1,    2,    3,    4,    5,    6,    8,
                                           0x82, 0x83, 0x92, 0x93, 0x10, 0x8a, 0x9a};
    AUTO(close_bus) Bus bus = open_bus(*state);
    uint32_t word[4];
    for (uint32_t round = 0; round < 3000; round++) {
        uint8_t bytes[600], data[64];
        uint32_t size = 0;
        mf_random(3, round, 0, 0, word);
        for (uint32_t i = 0; i < sizeof data; i++) {
            uint32_t more[4];
            if (i % 16 == 0)
                mf_random(3, round, 1 + i, 0, more);
            data[i] = (uint8_t)(more[i / 4 % 4] >> 8 * (i % 4));
        }
        if (word[0] % 4 == 0) // no packet
            memcpy(bytes, data, size = 1 + word[1] % 60);
        else
            size = pack(bytes, word[1] % 8 == 0 ? 0xfe : (uint8_t)(1 + word[1] % 25),
                        instructions[word[2] % 14], data, word[3] % 60);
        if (word[0] % 4 == 1) // a damaged one
            bytes[word[3] % size] ^= (uint8_t)(1 << word[2] % 8);
        if (word[0] % 4 == 2 && word[0] % 8 != 2) // half of one
            size = word[3] % size;
        bus.clock += 0.001;
        mf_dynamixel_feed(bus.dynamixel, bytes, size, bus.clock);
        bus.dynamixel->out_size = 0;
        if (round % 100 != 99)
            continue;
        steps(&bus, 1);
        bus.clock += 1.0; // what has not come by now never does
        uint32_t count = 0;
        for (uint32_t s = 0; s < HUMANOID_SERVOS; s++)
            count += say(&bus, bus.dynamixel->servos[s].table[7], 1, NULL, 0) == 14;
        assert_int_equal(count, HUMANOID_SERVOS);
    }
    assert_true(bus.dynamixel->dropped > 10000 && bus.dynamixel->packets > 1000);
    assert_true(joint(&bus, "joint.target", 3) == joint(&bus, "joint.target", 3)); // no NaN
    for (uint32_t j = 0; j < HUMANOID_SERVOS; j++)
        assert_true(isfinite(joint(&bus, "joint.target", j)));
}

// Each prefix of a packet, then silence, then the packet.
TEST(test_half_a_packet_is_forgotten) {
    AUTO(close_bus) Bus bus = open_bus(*state);
    uint8_t bytes[32];
    const uint32_t size = pack(bytes, 2, 2, "\x84\0\4\0", 4);
    for (uint32_t part = 0; part < size; part++) {
        bus.dynamixel->out_size = 0;
        mf_dynamixel_feed(bus.dynamixel, bytes, part, bus.clock);
        assert_int_equal(bus.dynamixel->out_size, 0);
        bus.clock += 0.2;
        mf_dynamixel_feed(bus.dynamixel, bytes, size, bus.clock);
        assert_int_equal(bus.dynamixel->out_size, 15);
        bus.dynamixel->out_size = 0;
        for (uint32_t i = 0; i < size; i++) // byte by byte, within the time
            mf_dynamixel_feed(bus.dynamixel, bytes + i, 1, bus.clock += 0.05);
        assert_int_equal(bus.dynamixel->out_size, 15);
    }
}

// ---- ports -------------------------------------------------------------------------------------

static void expect_refused(mf_Context *context, mf_Scene *scene, const char *text,
                           const char *reason) {
    mf_SerialPorts *ports = NULL;
    mf_Error error = {0};
    assert_int_not_equal(mf_serial_open(context, scene->world, &text, 1, &ports, &error), MF_OK);
    assert_null(ports);
    if (strstr(error.message, reason) == NULL || strchr(error.message, '\n') != NULL)
        fail_msg("%s", error.message);
}

TEST(test_ports_are_named) {
    mf_Scene *scene = open_scene(*state, humanoid);
    expect_refused(*state, scene, "nobody", "there is no group nobody");
    expect_refused(*state, scene, "robot", "name one, as robot[0]");
    expect_refused(*state, scene, "robot[2]", "has robots 0 .. 1");
    expect_refused(*state, scene, "robot[-1]", "expected GROUP[NUMBER]");
    expect_refused(*state, scene, "robot[1]x", "expected ROBOT");
    expect_refused(*state, scene, "robot[1]=tcp:70000", "expected a port");
    expect_refused(*state, scene, "robot[1]=/tmp", "is no link");
    mf_scene_close(scene);
    scene = open_scene(*state, quads);
    expect_refused(*state, scene, "quads[0]", "hinges that could be servos");
    mf_scene_close(scene);
}

// Reads `size` bytes from a port within 10 s.
static void receive(int file, uint8_t *out, uint32_t size) {
    for (uint32_t got = 0; got < size;) {
        struct pollfd wait = {.fd = file, .events = POLLIN};
        assert_int_equal(poll(&wait, 1, 10000), 1);
        const ssize_t some = read(file, out + got, size - got);
        assert_true(some > 0);
        got += (uint32_t)some;
    }
}

TEST(test_ports_answer) {
    static const char *const texts[] = {"robot[1]=/tmp/mayfly-serial-test", "robot[0]=tcp:0"};
    uint8_t bytes[32], answer[32];
    struct sockaddr_in address = {.sin_family = AF_INET};
    AUTO_SERVED *served = start(
        *state, humanoid, &WITH(mf_server_config(), .port = 0, .serial = texts, .serial_count = 2));
    assert_non_null(strstr(mf_server_serial(served->server, 0), "mayfly-serial-test, 21 servos"));
    const char *port = strstr(mf_server_serial(served->server, 1), "127.0.0.1:") + 10;
    const uint32_t size = pack(bytes, 3, 1, NULL, 0);
    for (int turn = 0; turn < 3; turn++) { // programs come and go
        const int file = open("/tmp/mayfly-serial-test", O_RDWR | O_NOCTTY);
        assert_true(file >= 0);
        assert_int_equal(write(file, bytes, size), size);
        receive(file, answer, 14);
        assert_int_equal(answer[9] + 256 * answer[10], 1020);
        close(file);
    }
    address.sin_port = htons((uint16_t)atoi(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int before = -1;
    for (int turn = 0; turn < 3; turn++) { // the last one has the bus
        const int file = socket(AF_INET, SOCK_STREAM, 0);
        assert_int_equal(connect(file, (struct sockaddr *)&address, sizeof address), 0);
        assert_int_equal(write(file, bytes, size), size);
        receive(file, answer, 14);
        assert_int_equal(answer[4], 3);
        if (before >= 0) {
            assert_int_equal(read(before, answer, 1), 0);
            close(before);
        }
        before = file;
    }
    close(before);
    finish(served);
    assert_int_equal(access("/tmp/mayfly-serial-test", F_OK), -1);
}
