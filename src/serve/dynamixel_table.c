// The control table of a servo: registers of an XM430-W350, and what they mean for a joint.
//
// Positions and rates are read from the world when they are asked for; a goal becomes the joint's
// target at once, or, with a profile velocity, over time. Quantities that the simulation does not
// have (voltage, temperature) keep their nominal values.
#include "serve/dynamixel.h"
#include "math/scalar.h"

#include <string.h>

#define TURN 4096.0   // [1] positions of a turn
#define MIDDLE 2048.0 // [1] position of angle 0
#define RADIAN (TURN / 6.283185307179586)
#define SPEED (0.229 * 6.283185307179586 / 60.0) // [rad/s] of a unit of velocity: 0.229 rev/min
#define AMPERE 0.00269                           // [A] of a unit of current
#define TORQUE_CONSTANT 1.783                    // [N m/A] 4.1 N m at 2.3 A
#define PWM_MOST 885.0                           // [1]

// Of an item; lasting: outlives a restart, and cannot be changed while the torque is on; resting:
// cannot be changed then, either.
enum { READ_ONLY = 1, LASTING = 2, RESTING = 4 };

typedef struct Item {
    uint16_t address;
    uint8_t size, flags;
    int32_t fallback, least, most;
} Item;

// Indirect addresses: each says which register its byte of data is.
typedef struct Indirect {
    uint16_t pointers, data, count; // addresses of the first
} Indirect;
static const Indirect indirects[] = {{168, 224, 28}, {578, 634, 28}};
enum { INDIRECTS = 2, DIRECT = 147, VOLATILE = 64 }; // registers end, and begin to be volatile

enum {
    OPERATING_MODE = 11,
    HOMING_OFFSET = 20,
    MOVING_THRESHOLD = 24,
    VELOCITY_LIMIT = 44,
    UPPER_POSITION = 48,
    LOWER_POSITION = 52,
    TORQUE_ENABLE = 64,
    GOAL_VELOCITY = 104,
    PROFILE_VELOCITY = 112,
    GOAL_POSITION = 116,
    REALTIME_TICK = 120,
    MOVING = 122,
    MOVING_STATUS = 123,
    PRESENT_PWM = 124,
    PRESENT_CURRENT = 126,
    PRESENT_VELOCITY = 128,
    PRESENT_POSITION = 132,
    VELOCITY_TRAJECTORY = 136,
    POSITION_TRAJECTORY = 140
};

enum { BY_VELOCITY = 1, BY_POSITION = 3, BY_REVOLUTIONS = 4, BY_POSITION_AND_CURRENT = 5 }; // modes

static const Item items[] = {
    {0, 2, READ_ONLY | LASTING, 1020, 0, 0},           // model number
    {2, 4, READ_ONLY | LASTING, 0, 0, 0},              // model information
    {6, 1, READ_ONLY | LASTING, 45, 0, 0},             // firmware
    {MF_DYNAMIXEL_ID, 1, LASTING, 1, 0, 252},          // id
    {8, 1, LASTING, 1, 0, 7},                          // baud rate
    {9, 1, LASTING, 250, 0, 254},                      // return delay
    {10, 1, LASTING, 0, 0, 0},                         // drive mode: not reversed
    {OPERATING_MODE, 1, LASTING, 3, 0, 16},            //
    {12, 1, LASTING, 255, 0, 255},                     // shadow id
    {13, 1, LASTING, 2, 2, 2},                         // protocol
    {HOMING_OFFSET, 4, LASTING, 0, -1044479, 1044479}, //
    {MOVING_THRESHOLD, 4, LASTING, 10, 0, 1023},       //
    {31, 1, LASTING, 80, 0, 100},                      // temperature limit
    {32, 2, LASTING, 160, 95, 160},                    // voltage limits
    {34, 2, LASTING, 95, 95, 160},                     //
    {36, 2, LASTING, 885, 0, 885},                     // PWM limit
    {38, 2, LASTING, 1193, 0, 1193},                   // current limit
    {VELOCITY_LIMIT, 4, LASTING, 1023, 0, 1023},       //
    {UPPER_POSITION, 4, LASTING, 4095, 0, 4095},       //
    {LOWER_POSITION, 4, LASTING, 0, 0, 4095},          //
    {60, 1, LASTING, 0, 0, 3},                         // startup configuration
    {63, 1, LASTING, 52, 0, 63},                       // shutdown
    {TORQUE_ENABLE, 1, 0, 0, 0, 1},                    //
    {65, 1, 0, 0, 0, 1},                               // LED
    {MF_DYNAMIXEL_RETURN_LEVEL, 1, 0, 2, 0, 2},        //
    {MF_DYNAMIXEL_REGISTERED, 1, READ_ONLY, 0, 0, 0},  //
    {70, 1, READ_ONLY, 0, 0, 0},                       // hardware errors
    {76, 2, 0, 1920, 0, 16383},                        // gains, which are kept and not used
    {78, 2, 0, 100, 0, 16383},                         //
    {80, 2, 0, 0, 0, 16383},                           //
    {82, 2, 0, 0, 0, 16383},                           //
    {84, 2, 0, 800, 0, 16383},                         //
    {88, 2, 0, 0, 0, 16383},                           //
    {90, 2, 0, 0, 0, 16383},                           //
    {98, 1, 0, 0, 0, 127},                             // bus watchdog, kept
    {100, 2, 0, 885, -885, 885},                       // goal PWM, kept
    {102, 2, 0, 1193, -1193, 1193},                    // goal current, kept
    {GOAL_VELOCITY, 4, 0, 0, -1023, 1023},             //
    {108, 4, 0, 0, 0, 32767},                          // profile acceleration, kept
    {PROFILE_VELOCITY, 4, 0, 0, 0, 32767},             //
    {GOAL_POSITION, 4, 0, 0, -1048575, 1048575},       //
    {REALTIME_TICK, 2, READ_ONLY, 0, 0, 0},            //
    {MOVING, 1, READ_ONLY, 0, 0, 0},                   //
    {MOVING_STATUS, 1, READ_ONLY, 0, 0, 0},            //
    {PRESENT_PWM, 2, READ_ONLY, 0, 0, 0},              //
    {PRESENT_CURRENT, 2, READ_ONLY, 0, 0, 0},          //
    {PRESENT_VELOCITY, 4, READ_ONLY, 0, 0, 0},         //
    {PRESENT_POSITION, 4, READ_ONLY, 0, 0, 0},         //
    {VELOCITY_TRAJECTORY, 4, READ_ONLY, 0, 0, 0},      //
    {POSITION_TRAJECTORY, 4, READ_ONLY, 0, 0, 0},      //
    {144, 2, READ_ONLY, 120, 0, 0},                    // 12 V
    {146, 1, READ_ONLY, 25, 0, 0},                     // 25 degrees Celsius
};

enum { ITEMS = sizeof items / sizeof *items };

// ---- numbers -----------------------------------------------------------------------------------

static int32_t get_number(const uint8_t *at, uint32_t size) {
    if (size == 1)
        return at[0];
    if (size == 2)
        return (int16_t)(at[0] | at[1] << 8);
    return (int32_t)((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
                     (uint32_t)at[3] << 24);
}

static void put_number(uint8_t *at, uint32_t size, int32_t value) {
    for (uint32_t i = 0; i < size; i++)
        at[i] = (uint8_t)((uint32_t)value >> 8 * i);
}

static int32_t number(const mf_DynamixelServo *servo, uint32_t address, uint32_t size) {
    return get_number(servo->table + address, size);
}

// The nearest whole number, at most `most` from 0.
static int32_t whole(double value, double most) {
    const double bound = !(value > -most) ? -most : value > most ? most : value;
    return (int32_t)(bound < 0.0 ? bound - 0.5 : bound + 0.5);
}

static double angle_of(const mf_DynamixelServo *servo, int32_t position) {
    return ((double)position - (double)number(servo, HOMING_OFFSET, 4) - MIDDLE) / RADIAN;
}

static int32_t position_of(const mf_DynamixelServo *servo, double angle) {
    return whole(angle * RADIAN + MIDDLE + (double)number(servo, HOMING_OFFSET, 4), 1e9);
}

static double joint_value(const mf_Dynamixel *bus, const mf_Field *field,
                          const mf_DynamixelServo *servo) {
    return mf_field_get(field, bus->instance, servo->joint);
}

static void set_target(mf_Dynamixel *bus, const mf_DynamixelServo *servo, double angle) {
    const mf_Joint *joint = &bus->model->joints[servo->joint];
    if (angle < joint->lower)
        angle = joint->lower;
    if (angle > joint->upper)
        angle = joint->upper;
    mf_field_set(bus->target, bus->instance, servo->joint, angle);
}

// ---- indirect addresses ------------------------------------------------------------------------

// Whether registers from `address` on are there without a gap.
static bool is_there(uint32_t address, uint32_t size) {
    if (size < 1 || size > MF_DYNAMIXEL_TABLE)
        return false;
    if (address < DIRECT)
        return address + size <= DIRECT;
    for (int i = 0; i < INDIRECTS; i++)
        if (address >= indirects[i].pointers && address < indirects[i].data + indirects[i].count)
            return address + size <= (uint32_t)indirects[i].data + indirects[i].count;
    return false;
}

// Where a byte is stored: an indirect one at its register, or, as at the start, at itself.
static uint32_t target_of(const mf_DynamixelServo *servo, uint32_t address) {
    for (int i = 0; i < INDIRECTS; i++) {
        const uint32_t index = address - indirects[i].data; // huge below
        if (index < indirects[i].count)
            return (uint32_t)number(servo, indirects[i].pointers + 2 * index, 2);
    }
    return address;
}

// Indirect data shows what its registers hold.
static void refresh_indirect(mf_DynamixelServo *servo) {
    for (int i = 0; i < INDIRECTS; i++)
        for (uint32_t k = 0; k < indirects[i].count; k++)
            servo->table[indirects[i].data + k] =
                servo->table[target_of(servo, indirects[i].data + k)];
}

static void reset_indirect(mf_DynamixelServo *servo) {
    for (int i = 0; i < INDIRECTS; i++)
        for (int32_t k = 0; k < indirects[i].count; k++) {
            put_number(servo->table + indirects[i].pointers + 2 * k, 2, indirects[i].data + k);
            servo->table[indirects[i].data + k] = 0;
        }
}

// ---- time --------------------------------------------------------------------------------------

static bool is_driven_by_velocity(const mf_DynamixelServo *servo) {
    return servo->table[OPERATING_MODE] == BY_VELOCITY && servo->table[TORQUE_ENABLE] != 0;
}

bool mf_dynamixel_is_busy(const mf_Dynamixel *bus) {
    for (uint32_t s = 0; s < bus->servo_count; s++)
        if (bus->servos[s].is_limp || bus->servos[s].is_moving ||
            is_driven_by_velocity(&bus->servos[s]))
            return true;
    return false;
}

static void advance(mf_Dynamixel *bus, mf_DynamixelServo *servo, double passed) {
    const double target = joint_value(bus, bus->target, servo);
    if (servo->is_limp) {
        set_target(bus, servo, joint_value(bus, bus->angle, servo));
    } else if (is_driven_by_velocity(servo)) {
        set_target(bus, servo, target + passed * SPEED * (double)number(servo, GOAL_VELOCITY, 4));
    } else if (servo->is_moving) {
        const double distance = passed * SPEED * (double)number(servo, PROFILE_VELOCITY, 4);
        const double left = servo->goal - target;
        servo->is_moving = mf_abs(left) > distance;
        set_target(bus, servo,
                   !servo->is_moving ? servo->goal : target + (left < 0.0 ? -distance : distance));
    }
}

void mf_dynamixel_advance(mf_Dynamixel *bus, mf_Time time) {
    const double passed = mf_time_to_seconds(time - bus->time);
    bus->time = time;
    for (uint32_t s = 0; s < bus->servo_count; s++)
        if (passed < 0.0) // the world was restored: what its targets say holds
            bus->servos[s].is_moving = false;
        else if (passed > 0.0)
            advance(bus, &bus->servos[s], passed);
}

// ---- reading -----------------------------------------------------------------------------------

// [N m] that the motor gives for its error.
static double torque_of(const mf_Dynamixel *bus, const mf_DynamixelServo *servo) {
    if (servo->is_limp)
        return 0.0;
    const double error = joint_value(bus, bus->target, servo) - joint_value(bus, bus->angle, servo);
    const double torque =
        servo->motor.gain * error - servo->motor.damping * joint_value(bus, bus->rate, servo);
    const double most = servo->motor.effort;
    return torque < -most ? -most : torque > most ? most : torque;
}

static void refresh(const mf_Dynamixel *bus, mf_DynamixelServo *servo) {
    const double angle = joint_value(bus, bus->angle, servo);
    const double target = joint_value(bus, bus->target, servo);
    const int32_t velocity = whole(joint_value(bus, bus->rate, servo) / SPEED, 1e6);
    const double torque = torque_of(bus, servo), effort = servo->motor.effort;
    const int32_t planned = servo->is_moving ? number(servo, PROFILE_VELOCITY, 4) : 0;
    const int32_t speed = velocity < 0 ? -velocity : velocity;
    uint8_t *table = servo->table;
    put_number(table + REALTIME_TICK, 2, (int32_t)(bus->time / MF_MILLISECOND % 32768));
    table[MOVING] = speed > number(servo, MOVING_THRESHOLD, 4);
    table[MOVING_STATUS] = (uint8_t)(!servo->is_moving && mf_abs(target - angle) * RADIAN < 20.0);
    put_number(table + PRESENT_PWM, 2,
               effort > 0.0 && effort < 1e6 ? whole(PWM_MOST * torque / effort, PWM_MOST) : 0);
    put_number(table + PRESENT_CURRENT, 2, whole(torque / TORQUE_CONSTANT / AMPERE, 32767.0));
    put_number(table + PRESENT_VELOCITY, 4, velocity);
    put_number(table + PRESENT_POSITION, 4, position_of(servo, angle));
    put_number(table + VELOCITY_TRAJECTORY, 4, servo->goal < target ? -planned : planned);
    put_number(table + POSITION_TRAJECTORY, 4, position_of(servo, target));
    if (!servo->is_moving && !servo->is_limp) // another program may have written the target
        put_number(table + GOAL_POSITION, 4, position_of(servo, target));
    refresh_indirect(servo);
}

const uint8_t *mf_dynamixel_read(const mf_Dynamixel *bus, mf_DynamixelServo *servo,
                                 uint32_t address, uint32_t size) {
    if (!is_there(address, size))
        return NULL;
    refresh(bus, servo);
    return servo->table + address;
}

// ---- writing -----------------------------------------------------------------------------------

// The register whose first byte is at `address`, where it is stored; false: there is none.
static bool find_item(const mf_DynamixelServo *servo, uint32_t address, Item *out) {
    const uint32_t target = target_of(servo, address);
    for (int i = 0; i < ITEMS; i++)
        if (items[i].address == target) {
            *out = items[i];
            return true;
        }
    for (int i = 0; i < INDIRECTS; i++) {
        const uint32_t pointer = target - indirects[i].pointers, data = target - indirects[i].data;
        if (pointer < 2u * indirects[i].count && pointer % 2 == 0)
            *out = (Item){(uint16_t)target, 2, RESTING, 0, VOLATILE, MF_DYNAMIXEL_TABLE - 1};
        else if (data < indirects[i].count)
            *out = (Item){(uint16_t)target, 1, 0, 0, 0, 255};
        else
            continue;
        return true;
    }
    return false;
}

// An indirect address is that of a volatile register, or of its own data.
static bool is_target(const Item *item, int32_t value) {
    for (int i = 0; i < INDIRECTS; i++) {
        const uint32_t pointer = (uint32_t)item->address - indirects[i].pointers;
        if (pointer < 2u * indirects[i].count)
            return value < DIRECT || (uint32_t)value == indirects[i].data + pointer / 2;
    }
    return true;
}

static bool is_mode(int32_t value) {
    return value == BY_VELOCITY || value == BY_POSITION || value == BY_REVOLUTIONS ||
           value == BY_POSITION_AND_CURRENT;
}

static mf_DynamixelError check(const mf_Dynamixel *bus, const mf_DynamixelServo *servo,
                               const Item *item, int32_t value) {
    if ((item->flags & READ_ONLY) != 0)
        return MF_DYNAMIXEL_NO_ACCESS;
    if ((item->flags & (LASTING | RESTING)) != 0 && servo->table[TORQUE_ENABLE] != 0)
        return MF_DYNAMIXEL_NO_ACCESS;
    if (value < item->least || value > item->most || !is_target(item, value))
        return MF_DYNAMIXEL_BEYOND_LIMIT;
    if (item->address == OPERATING_MODE && !is_mode(value))
        return MF_DYNAMIXEL_BEYOND_LIMIT;
    const bool is_bounded = servo->table[OPERATING_MODE] == BY_POSITION;
    if (item->address == GOAL_POSITION && is_bounded &&
        (value < number(servo, LOWER_POSITION, 4) || value > number(servo, UPPER_POSITION, 4)))
        return MF_DYNAMIXEL_BEYOND_LIMIT;
    const int32_t fastest = number(servo, VELOCITY_LIMIT, 4);
    if (item->address == GOAL_VELOCITY && (value < -fastest || value > fastest))
        return MF_DYNAMIXEL_BEYOND_LIMIT;
    if (item->address == MF_DYNAMIXEL_ID) {
        const mf_DynamixelServo *other = mf_dynamixel_find(bus, (uint8_t)value);
        if (other != NULL && other != servo)
            return MF_DYNAMIXEL_FAIL;
    }
    return MF_DYNAMIXEL_OK;
}

static void set_torque(mf_Dynamixel *bus, mf_DynamixelServo *servo, bool on) {
    if (on && servo->is_limp)
        set_target(bus, servo, joint_value(bus, bus->angle, servo)); // without a jump
    servo->is_limp = !on;
    servo->is_moving = false;
}

static void set_goal(mf_Dynamixel *bus, mf_DynamixelServo *servo, int32_t position) {
    if (servo->table[OPERATING_MODE] == BY_VELOCITY || servo->table[TORQUE_ENABLE] == 0)
        return;
    servo->goal = angle_of(servo, position);
    servo->is_moving = number(servo, PROFILE_VELOCITY, 4) > 0;
    if (!servo->is_moving)
        set_target(bus, servo, servo->goal);
}

static void apply(mf_Dynamixel *bus, mf_DynamixelServo *servo, const Item *item, int32_t value) {
    put_number(servo->table + item->address, item->size, value);
    if (item->address == TORQUE_ENABLE)
        set_torque(bus, servo, value != 0);
    if (item->address == GOAL_POSITION)
        set_goal(bus, servo, value);
}

// The register at data[0], of which `size` bytes are there; `out->size` 0: between registers.
static mf_DynamixelError locate(const mf_DynamixelServo *servo, uint32_t address, uint32_t size,
                                Item *out) {
    if (!find_item(servo, address, out)) {
        out->size = 0;
        return MF_DYNAMIXEL_OK;
    }
    if (out->size > size)
        return MF_DYNAMIXEL_BAD_LENGTH;
    for (uint32_t k = 1; k < out->size; k++) // indirect data must have all of it
        if (target_of(servo, address + k) != out->address + k)
            return MF_DYNAMIXEL_BAD_LENGTH;
    return MF_DYNAMIXEL_OK;
}

mf_DynamixelError mf_dynamixel_write(mf_Dynamixel *bus, mf_DynamixelServo *servo, uint32_t address,
                                     const uint8_t *data, uint32_t size, bool dry) {
    if (!is_there(address, size))
        return MF_DYNAMIXEL_BAD_RANGE;
    for (int pass = 0; pass < (dry ? 1 : 2); pass++)
        for (uint32_t at = 0; at < size;) {
            Item item;
            mf_DynamixelError error = locate(servo, address + at, size - at, &item);
            if (error == MF_DYNAMIXEL_OK && item.size == 0 && (at == 0 || address >= DIRECT))
                error = MF_DYNAMIXEL_BAD_RANGE;
            if (error != MF_DYNAMIXEL_OK)
                return error;
            if (item.size == 0) {
                at++;
                continue;
            }
            const int32_t value = get_number(data + at, item.size);
            // Again where this write may have changed what indirect data is.
            if (pass == 0 || address >= DIRECT)
                error = check(bus, servo, &item, value);
            if (error != MF_DYNAMIXEL_OK)
                return error;
            if (pass == 1)
                apply(bus, servo, &item, value);
            at += item.size;
        }
    return MF_DYNAMIXEL_OK;
}

// ---- defaults ----------------------------------------------------------------------------------

// A position of 0 .. 4095, rounded up or down.
static int32_t limit_of(double angle, bool up) {
    const double position = angle * RADIAN + MIDDLE, most = TURN - 1.0;
    const double bound = !(position > 0.0) ? 0.0 : position > most ? most : position;
    const int32_t below = (int32_t)bound;
    return below + (up && (double)below < bound);
}

void mf_dynamixel_reset(const mf_Dynamixel *bus, mf_DynamixelServo *servo, bool all) {
    const mf_Joint *joint = &bus->model->joints[servo->joint];
    for (int i = 0; i < ITEMS; i++)
        if ((all && items[i].address != MF_DYNAMIXEL_ID) || (items[i].flags & LASTING) == 0)
            put_number(servo->table + items[i].address, items[i].size, items[i].fallback);
    reset_indirect(servo);
    servo->registered = 0;
    servo->is_moving = false;
    if (!all)
        return;
    put_number(servo->table + LOWER_POSITION, 4, limit_of(joint->lower, true));
    put_number(servo->table + UPPER_POSITION, 4, limit_of(joint->upper, false));
}
