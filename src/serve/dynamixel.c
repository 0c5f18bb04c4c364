// A bus of servos: its life, and the instructions of Dynamixel protocol 2.0 (dynamixel.h).
#include "serve/dynamixel.h"
#include "model/points.h"
#include "math/scalar.h"

#include <string.h>

#define BROADCAST 0xfe
#define FIRMWARE 45

enum {
    PING = 0x01,
    READ = 0x02,
    WRITE = 0x03,
    REG_WRITE = 0x04,
    ACTION = 0x05,
    FACTORY_RESET = 0x06,
    REBOOT = 0x08,
    SYNC_READ = 0x82,
    SYNC_WRITE = 0x83,
    FAST_SYNC_READ = 0x8a,
    BULK_READ = 0x92,
    BULK_WRITE = 0x93,
    FAST_BULK_READ = 0x9a
};

// ---- its life ----------------------------------------------------------------------------------

static bool is_servo(const mf_Joint *joint) {
    return joint->type == MF_JOINT_HINGE && joint->mimic == MF_NONE;
}

static mf_Status bind(mf_Dynamixel *bus, mf_Group *group, mf_Error *error) {
    const char *name = mf_group_config_of(group)->name;
    bus->model = mf_group_model(group);
    bus->angle = mf_group_find_field(group, "joint.angle");
    bus->rate = mf_group_find_field(group, "joint.rate");
    bus->target = mf_group_find_field(group, "joint.target");
    for (uint32_t j = 0; j < bus->model->joint_count; j++)
        bus->servo_count += is_servo(&bus->model->joints[j]);
    if (bus->servo_count < 1 || bus->servo_count > MF_DYNAMIXEL_SERVOS)
        return mf_fail(
            error, MF_UNSUPPORTED,
            "serial: robots of group %s have %u hinges that could be servos, need 1 .. %d", name,
            bus->servo_count, MF_DYNAMIXEL_SERVOS);
    if (bus->angle == NULL || bus->rate == NULL || bus->target == NULL)
        return mf_fail(error, MF_UNSUPPORTED, "serial: the motion of group %s has no joint.target",
                       name);
    const char *writer = mf_group_writer(group, "joint.target", 0);
    if (writer != NULL)
        return mf_fail(error, MF_UNSUPPORTED,
                       "serial: joint.target of group %s is written by %s; need a group without a "
                       "controller",
                       name, writer);
    return MF_OK;
}

static mf_Status add_servos(mf_Dynamixel *bus, mf_Error *error) {
    bus->servos = mf_allocate(bus->context, bus->servo_count, sizeof *bus->servos);
    if (bus->servos == NULL)
        return mf_fail(error, MF_NO_MEMORY, "serial: out of memory");
    mf_DynamixelServo *servo = bus->servos;
    for (uint32_t j = 0; j < bus->model->joint_count; j++) {
        if (!is_servo(&bus->model->joints[j]))
            continue;
        servo->joint = j;
        servo->motor = mf_joint_servo(bus->model, j);
        mf_dynamixel_reset(bus, servo, true);
        servo->table[MF_DYNAMIXEL_ID] = (uint8_t)(servo - bus->servos + 1);
        servo++;
    }
    return MF_OK;
}

mf_Status mf_dynamixel_create(mf_Context *context, mf_Group *group, uint32_t instance,
                              mf_Dynamixel **out, mf_Error *error) {
    mf_Dynamixel *bus = mf_allocate(context, 1, sizeof *bus);
    *out = NULL;
    if (bus == NULL)
        return mf_fail(error, MF_NO_MEMORY, "serial: out of memory");
    bus->context = context;
    bus->instance = instance;
    mf_Status status = bind(bus, group, error);
    if (status == MF_OK)
        status = add_servos(bus, error);
    if (status != MF_OK)
        mf_dynamixel_destroy(bus);
    else
        *out = bus;
    return status;
}

void mf_dynamixel_destroy(mf_Dynamixel *bus) {
    if (bus == NULL)
        return;
    mf_release(bus->context, bus->servos);
    mf_release(bus->context, bus);
}

mf_DynamixelServo *mf_dynamixel_find(const mf_Dynamixel *bus, uint8_t id) {
    for (uint32_t s = 0; s < bus->servo_count; s++)
        if (bus->servos[s].table[MF_DYNAMIXEL_ID] == id)
            return &bus->servos[s];
    return NULL;
}

// ---- instructions for one servo ----------------------------------------------------------------

static uint32_t word(const uint8_t *at) {
    return at[0] + 256u * at[1];
}

// Answers, where the servo's return level is at least `level`.
static void answer(mf_Dynamixel *bus, const mf_DynamixelServo *servo, uint8_t level,
                   mf_DynamixelError error, const uint8_t *data, uint32_t size) {
    if (servo->table[MF_DYNAMIXEL_RETURN_LEVEL] >= level)
        mf_dynamixel_status(bus, servo->table[MF_DYNAMIXEL_ID], (uint8_t)error, data, size);
}

static void ping(mf_Dynamixel *bus, const mf_DynamixelServo *servo) {
    const uint8_t data[3] = {servo->table[0], servo->table[1], FIRMWARE};
    answer(bus, servo, 0, MF_DYNAMIXEL_OK, data, sizeof data);
}

static void read(mf_Dynamixel *bus, mf_DynamixelServo *servo, uint32_t address, uint32_t size) {
    const uint8_t *data = mf_dynamixel_read(bus, servo, address, size);
    answer(bus, servo, 1, data != NULL ? MF_DYNAMIXEL_OK : MF_DYNAMIXEL_BAD_RANGE, data,
           data != NULL ? size : 0);
}

static mf_DynamixelError keep(mf_Dynamixel *bus, mf_DynamixelServo *servo, const uint8_t *data,
                              uint32_t size) {
    const mf_DynamixelError error =
        mf_dynamixel_write(bus, servo, word(data), data + 2, size - 2, true);
    if (error != MF_DYNAMIXEL_OK)
        return error;
    servo->registered = size - 2;
    servo->registered_at = (uint16_t)word(data);
    memcpy(servo->registered_data, data + 2, size - 2);
    servo->table[MF_DYNAMIXEL_REGISTERED] = 1;
    return MF_DYNAMIXEL_OK;
}

static mf_DynamixelError act(mf_Dynamixel *bus, mf_DynamixelServo *servo) {
    if (servo->registered == 0)
        return MF_DYNAMIXEL_OK;
    const uint32_t size = servo->registered;
    servo->registered = 0;
    servo->table[MF_DYNAMIXEL_REGISTERED] = 0;
    return mf_dynamixel_write(bus, servo, servo->registered_at, servo->registered_data, size,
                              false);
}

static mf_DynamixelError restart(const mf_Dynamixel *bus, mf_DynamixelServo *servo, bool all) {
    mf_dynamixel_reset(bus, servo, all);
    servo->is_limp = true;
    return MF_DYNAMIXEL_OK;
}

// What changes a servo, and is answered with an error alone.
static mf_DynamixelError change(mf_Dynamixel *bus, mf_DynamixelServo *servo, uint8_t instruction,
                                const uint8_t *data, uint32_t size) {
    switch (instruction) {
    case WRITE:
        return size > 2 ? mf_dynamixel_write(bus, servo, word(data), data + 2, size - 2, false)
                        : MF_DYNAMIXEL_BAD_LENGTH;
    case REG_WRITE:
        return size > 2 ? keep(bus, servo, data, size) : MF_DYNAMIXEL_BAD_LENGTH;
    case ACTION:
        return act(bus, servo);
    case REBOOT:
        return restart(bus, servo, false);
    case FACTORY_RESET: // 1, 2: except the id; all of it would give all servos of a bus one id
        return size == 1 && data[0] != 0xff ? restart(bus, servo, true) : MF_DYNAMIXEL_FAIL;
    default:
        return MF_DYNAMIXEL_BAD_INSTRUCTION;
    }
}

static void answer_one(mf_Dynamixel *bus, mf_DynamixelServo *servo, uint8_t instruction,
                       const uint8_t *data, uint32_t size) {
    const uint8_t id = servo->table[MF_DYNAMIXEL_ID]; // before it is changed
    const uint8_t level = servo->table[MF_DYNAMIXEL_RETURN_LEVEL];
    if (instruction == PING)
        ping(bus, servo);
    else if (instruction != READ) {
        const mf_DynamixelError error = change(bus, servo, instruction, data, size);
        if (level >= 2)
            mf_dynamixel_status(bus, id, (uint8_t)error, NULL, 0);
    } else if (size == 4)
        read(bus, servo, word(data), word(data + 2));
    else
        answer(bus, servo, 1, MF_DYNAMIXEL_BAD_LENGTH, NULL, 0);
}

// ---- instructions for several servos -----------------------------------------------------------

typedef struct Wish {
    uint8_t id;
    uint32_t address, size;
} Wish;

// One of those in the parameters of a read: with Sync Read all have one address and size.
static Wish wish_of(bool bulk, const uint8_t *data, uint32_t index) {
    const uint8_t *own = data + 5 * index;
    return bulk ? (Wish){own[0], word(own + 1), word(own + 3)}
                : (Wish){data[4 + index], word(data), word(data + 2)};
}

static uint32_t wish_count(bool bulk, uint32_t size) {
    return bulk ? size / 5 : size > 4 ? size - 4 : 0;
}

static void read_all(mf_Dynamixel *bus, bool bulk, const uint8_t *data, uint32_t size) {
    for (uint32_t i = 0; i < wish_count(bulk, size); i++) {
        const Wish wish = wish_of(bulk, data, i);
        mf_DynamixelServo *servo = mf_dynamixel_find(bus, wish.id);
        if (servo != NULL)
            read(bus, servo, wish.address, wish.size);
    }
}

// One packet, to which each servo appends its part when the one before it has: it ends at the first
// that is missing, or answers no reads.
static void fast_read(mf_Dynamixel *bus, bool bulk, const uint8_t *data, uint32_t size) {
    const uint32_t begin = bus->out_size, count = wish_count(bulk, size);
    uint32_t total = 0;
    for (uint32_t i = 0; i < count; i++)
        total += wish_of(bulk, data, i).size + 4;
    for (uint32_t i = 0; i < count; i++) {
        const Wish wish = wish_of(bulk, data, i);
        mf_DynamixelServo *servo = mf_dynamixel_find(bus, wish.id);
        if (servo == NULL || servo->table[MF_DYNAMIXEL_RETURN_LEVEL] < 1 ||
            (i == 0 && !mf_dynamixel_fast_begin(bus, total)))
            return;
        const uint8_t *found = mf_dynamixel_read(bus, servo, wish.address, wish.size);
        mf_dynamixel_fast_append(bus, begin, wish.id,
                                 found != NULL ? MF_DYNAMIXEL_OK : MF_DYNAMIXEL_BAD_RANGE, found,
                                 wish.size);
    }
}

static void sync_write(mf_Dynamixel *bus, const uint8_t *data, uint32_t size) {
    const uint32_t each = size >= 4 ? word(data + 2) : 0;
    for (uint32_t i = 4; each > 0 && i + each < size; i += 1 + each) {
        mf_DynamixelServo *servo = mf_dynamixel_find(bus, data[i]);
        if (servo != NULL)
            mf_dynamixel_write(bus, servo, word(data), data + i + 1, each, false);
    }
}

static void bulk_write(mf_Dynamixel *bus, const uint8_t *data, uint32_t size) {
    uint32_t i = 0;
    while (i + 5 < size) {
        const uint32_t each = word(data + i + 3);
        mf_DynamixelServo *servo = mf_dynamixel_find(bus, data[i]);
        if (each == 0 || each > size - i - 5)
            return;
        if (servo != NULL)
            mf_dynamixel_write(bus, servo, word(data + i + 1), data + i + 5, each, false);
        i += 5 + each;
    }
}

static void answer_all(mf_Dynamixel *bus, uint8_t instruction, const uint8_t *data, uint32_t size) {
    switch (instruction) {
    case PING:
        for (uint32_t s = 0; s < bus->servo_count; s++)
            ping(bus, &bus->servos[s]);
        return;
    case SYNC_READ:
    case BULK_READ:
        read_all(bus, instruction == BULK_READ, data, size);
        return;
    case FAST_SYNC_READ:
    case FAST_BULK_READ:
        fast_read(bus, instruction == FAST_BULK_READ, data, size);
        return;
    case SYNC_WRITE:
        sync_write(bus, data, size);
        return;
    case BULK_WRITE:
        bulk_write(bus, data, size);
        return;
    case READ: // all of them would answer at once
        return;
    default:
        for (uint32_t s = 0; s < bus->servo_count; s++)
            change(bus, &bus->servos[s], instruction, data, size);
    }
}

void mf_dynamixel_answer(mf_Dynamixel *bus, uint8_t id, uint8_t instruction, const uint8_t *data,
                         uint32_t size) {
    mf_DynamixelServo *servo = mf_dynamixel_find(bus, id);
    if (id == BROADCAST)
        answer_all(bus, instruction, data, size);
    else if (servo != NULL)
        answer_one(bus, servo, instruction, data, size);
}
