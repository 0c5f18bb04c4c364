// Joints of one robot as servos on a bus that speaks Dynamixel protocol 2.0, with the control table
// of the XM430-W350 (https://emanual.robotis.com/docs/en/dxl/protocol2/ and .../x/xm430-w350/).
// docs/how_to/hardware.md says what its registers mean here.
//
// The bus knows nothing of ports: bytes go in, answers come out. What is no packet is dropped.
#ifndef MAYFLY_SERVE_DYNAMIXEL_H
#define MAYFLY_SERVE_DYNAMIXEL_H

#include <mayfly/world.h>

enum {
    MF_DYNAMIXEL_TABLE = 662,     // [byte] registers of a servo, with gaps
    MF_DYNAMIXEL_SERVOS = 252,    // [1] most on a bus: ids 1 .. 252
    MF_DYNAMIXEL_PACKET = 4096,   // [byte] longest packet
    MF_DYNAMIXEL_ANSWERS = 65536, // [byte] that may wait; more are dropped
};

// The error of a status packet.
typedef enum mf_DynamixelError {
    MF_DYNAMIXEL_OK = 0,
    MF_DYNAMIXEL_FAIL = 1,
    MF_DYNAMIXEL_BAD_INSTRUCTION = 2,
    MF_DYNAMIXEL_BAD_RANGE = 4,
    MF_DYNAMIXEL_BAD_LENGTH = 5,
    MF_DYNAMIXEL_BEYOND_LIMIT = 6,
    MF_DYNAMIXEL_NO_ACCESS = 7
} mf_DynamixelError;

typedef struct mf_DynamixelServo {
    uint32_t joint;
    mf_Servo motor; // for its current: mf_joint_servo
    uint8_t table[MF_DYNAMIXEL_TABLE];
    bool is_limp;        // its torque was turned off: the target follows the angle
    bool is_moving;      // the target is on its way to `goal`
    double goal;         // [rad]
    uint32_t registered; // [byte] of a registered write; 0: none
    uint16_t registered_at;
    uint8_t registered_data[MF_DYNAMIXEL_TABLE];
} mf_DynamixelServo;

typedef struct mf_Dynamixel {
    mf_Context *context;
    uint32_t instance;
    const mf_Model *model;
    const mf_Field *angle, *rate;
    mf_Field *target;
    mf_DynamixelServo *servos;
    uint32_t servo_count;
    mf_Time time; // [ns] of the world, as of the last mf_dynamixel_advance
    uint8_t in[MF_DYNAMIXEL_PACKET];
    uint32_t in_size;
    double fed; // [s] of the clock, when bytes came
    uint8_t out[MF_DYNAMIXEL_ANSWERS];
    uint32_t out_size;         // [byte] to be sent and set to 0 by whoever has the port
    uint64_t packets, dropped; // [1] that were handled; [byte] that were none
} mf_Dynamixel;

// Hinges that follow no other joint are servos; their ids are 1, 2, ... in the model's order. The
// group must outlive the bus. MF_UNSUPPORTED: it has no such joints, or more than fit, or no
// joint.target that a program may write.
mf_Status mf_dynamixel_create(mf_Context *context, mf_Group *group, uint32_t instance,
                              mf_Dynamixel **out, mf_Error *error);
void mf_dynamixel_destroy(mf_Dynamixel *bus); // NULL is fine

// Takes bytes that came at `clock` [s]. The rest of a packet must come within 100 ms.
void mf_dynamixel_feed(mf_Dynamixel *bus, const uint8_t *bytes, size_t size, double clock);
// The world's time is `time`: moves targets of servos that have a profile, a velocity or no torque.
void mf_dynamixel_advance(mf_Dynamixel *bus, mf_Time time);
// Whether mf_dynamixel_advance has something to move, and should be called often.
bool mf_dynamixel_is_busy(const mf_Dynamixel *bus);

// ---- for its files -----------------------------------------------------------------------------

uint16_t mf_dynamixel_crc(const uint8_t *bytes, size_t size);
// Handles a packet with its stuffing removed.
void mf_dynamixel_answer(mf_Dynamixel *bus, uint8_t id, uint8_t instruction, const uint8_t *data,
                         uint32_t size);
// Appends a status packet.
void mf_dynamixel_status(mf_Dynamixel *bus, uint8_t id, uint8_t error, const uint8_t *data,
                         uint32_t size);
// Begins the status packet of a fast read, to which `size` bytes will be appended; false: there is
// no space. Then appends what a servo says, with a checksum of the packet up to there; `data` NULL:
// zeros. `begin`: bus->out_size before the packet. Such packets have no stuffing.
bool mf_dynamixel_fast_begin(mf_Dynamixel *bus, uint32_t size);
void mf_dynamixel_fast_append(mf_Dynamixel *bus, uint32_t begin, uint8_t id, uint8_t error,
                              const uint8_t *data, uint32_t size);
// Sets the registers to their defaults; `all`: those that outlive a restart, too, except the id.
void mf_dynamixel_reset(const mf_Dynamixel *bus, mf_DynamixelServo *servo, bool all);
// `size` bytes at `address`, up to date; NULL: there are no such registers.
const uint8_t *mf_dynamixel_read(const mf_Dynamixel *bus, mf_DynamixelServo *servo,
                                 uint32_t address, uint32_t size);
// Nothing is changed unless all is right. `dry`: only checks.
mf_DynamixelError mf_dynamixel_write(mf_Dynamixel *bus, mf_DynamixelServo *servo, uint32_t address,
                                     const uint8_t *data, uint32_t size, bool dry);
mf_DynamixelServo *mf_dynamixel_find(const mf_Dynamixel *bus, uint8_t id);

enum { // addresses that more than one file uses
    MF_DYNAMIXEL_ID = 7,
    MF_DYNAMIXEL_RETURN_LEVEL = 68,
    MF_DYNAMIXEL_REGISTERED = 69
};

#endif
