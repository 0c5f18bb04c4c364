// The machine-code controller for a block of robots: each lane is one machine with its own program
// counter, all lanes execute one instruction at a time. No branch depends on a lane: every
// instruction does what all opcodes need and selects.
//
// Invariants: bit for bit what mf_gp_execute and a clamped addition give, one robot at a time.
// Whatever the fields hold, no index leaves its table: programs are cut to 8 bits, addresses to 5.
// A robot with a fault word keeps all its state. A NaN target stays NaN, for the motion to find.
#include "control/gp.h"

#include "math/lane.h"
#include "math/lane_table.h"

_Static_assert(MF_TABLE_SIZE == MF_GP_OPERANDS, "operands index the tables");

// A cell of a 32-row table of one block is row * 16 + lane; rows of 16 are kept in place so that
// moving to the next row is one addition and wrapping one mask.
enum { ROW_SHIFT = 4, CELL_MASK = MF_GP_OPERANDS * MF_BLOCK - 1 };
_Static_assert(1 << ROW_SHIFT == MF_BLOCK, "a row holds one block");

// Whole numbers that the sensors read in this tick; row n is what operand n reads.
typedef struct SensorTable {
    _Alignas(64) int32_t value[MF_GP_OPERANDS][MF_BLOCK];
} SensorTable;

#if defined(MF_KERNEL_F64)
#define LOWER lower_f64
#define UPPER upper_f64
#else
#define LOWER lower_f32
#define UPPER upper_f32
#endif

static void read_sensors(SensorTable *table, const mf_GpBatch *batch, uint32_t block) {
    const mf_lane minimum = mf_set((mf_real)MF_GP_SENSOR_MINIMUM);
    const mf_lane maximum = mf_set((mf_real)MF_GP_SENSOR_MAXIMUM);
    uint32_t row = 0;
    for (int kind = 0; kind < MF_GP_SENSOR_KINDS; kind++) {
        const mf_GpSensorField *field = &batch->sensor[kind];
        const mf_real *values = (const mf_real *)field->data +
                                (size_t)block * field->components * MF_BLOCK;
        mf_lane scale = mf_set((mf_real)field->scale);
        for (uint32_t i = 0; i < field->used; i++, row++) {
            for (uint32_t lane = 0; lane < MF_BLOCK; lane += MF_LANES) {
                // NaN becomes the minimum, so the conversion is always defined.
                mf_lane value = mf_load(values + i * MF_BLOCK + lane) * scale;
                value = mf_clamp(value, minimum, maximum);
                mf_store_index(&table->value[row][lane], mf_to_index(value));
            }
        }
    }
    for (; row < MF_GP_OPERANDS; row++) {
        if (batch->wrap && batch->sensor_count > 0)
            memcpy(table->value[row], table->value[row - batch->sensor_count],
                   sizeof table->value[row]);
        else
            memset(table->value[row], 0, sizeof table->value[row]);
    }
}

// Moves the motor that each lane's operand names where `moves` holds; left where `left` holds.
static inline void move_motors(const mf_GpBatch *batch, mf_real *target, mf_index lanes,
                               mf_index operand, mf_mask moves, mf_mask left) {
    const mf_real angle = (mf_real)batch->angle;
    mf_index joint = mf_look_up_index(batch->motors.joint, operand);
    moves = mf_and(moves, mf_not(mf_index_less(joint, mf_set_index(0))));
    // Lanes that do not move read the first joint: harmless, and inside the field.
    mf_index cell = mf_select_index(moves, joint << ROW_SHIFT, mf_set_index(0)) + lanes;
    mf_lane value = mf_gather(target, cell);
    value = value + mf_select(left, mf_set(-angle), mf_set(angle));
    // In this order of arguments NaN passes.
    value = mf_max(mf_look_up(batch->motors.LOWER, operand), value);
    value = mf_min(mf_look_up(batch->motors.UPPER, operand), value);
    mf_scatter(moves, target, cell, value);
}

static inline void run_lanes(const mf_GpBatch *batch, const SensorTable *table, uint32_t block,
                             uint32_t first_lane) {
    const mf_index low5 = mf_set_index(31), byte_mask = mf_set_index(255);
    const mf_index cells = mf_set_index(CELL_MASK), row = mf_set_index(MF_BLOCK);
    const mf_index zero = mf_set_index(0), one = mf_set_index(1), minus = mf_set_index(-1);
    const mf_index left = mf_set_index(MF_GP_LEFT), sensor = mf_set_index(MF_GP_SENSOR);
    const mf_index load = mf_set_index(MF_GP_LOAD), jump = mf_set_index(MF_GP_JUMP);
    const mf_index invert = mf_set_index(MF_GP_NOT), increment = mf_set_index(MF_GP_INC);
    const mf_index decrement = mf_set_index(MF_GP_DEC);
    const size_t offset = (size_t)block * MF_BLOCK + first_lane;
    const int32_t *program = batch->program + (size_t)block * MF_GP_BYTES * MF_BLOCK;
    mf_real *target = (mf_real *)batch->target +
                      (size_t)block * batch->target_components * MF_BLOCK;

    mf_index lanes = mf_lane_numbers() + mf_set_index((int32_t)first_lane);
    mf_index old_address = mf_load_index(batch->address + offset);
    mf_index old_accumulator = mf_load_index(batch->accumulator + offset);
    mf_mask active = mf_index_equal(mf_load_index(batch->fault + offset), zero);
    mf_index cell = ((old_address & low5) << ROW_SHIFT) + lanes;
    mf_index accumulator = old_accumulator & byte_mask;

    for (uint32_t i = 0; i < batch->instructions; i++) {
        mf_index instruction = mf_gather_index(program, cell) & byte_mask;
        mf_index opcode = instruction >> 5, operand = instruction & low5;
        mf_index operand_cell = (operand << ROW_SHIFT) + lanes;
        mf_mask taken = mf_and(mf_index_equal(opcode, jump), mf_index_less(zero, accumulator));
        cell = mf_select_index(taken, operand_cell, (cell + row) & cells);
        if (batch->has_motors)
            move_motors(batch, target, lanes, operand,
                        mf_and(active, mf_index_less(opcode, sensor)),
                        mf_index_equal(opcode, left));
        mf_index reading = mf_gather_index(&table->value[0][0], operand_cell);
        mf_mask reads = mf_index_equal(opcode, sensor);
        mf_index fresh = mf_select_index(reads, reading, operand);
        mf_mask replaces = mf_or(reads, mf_index_equal(opcode, load));
        mf_index change = mf_select_index(mf_index_equal(opcode, increment), one, zero);
        change = mf_select_index(mf_index_equal(opcode, decrement), minus, change);
        mf_index flip = mf_select_index(mf_index_equal(opcode, invert), minus, zero);
        accumulator = mf_select_index(replaces, fresh, (accumulator ^ flip) + change) & byte_mask;
    }
    mf_index address = (cell >> ROW_SHIFT) & low5;
    mf_store_index(batch->address + offset, mf_select_index(active, address, old_address));
    mf_store_index(batch->accumulator + offset,
                   mf_select_index(active, accumulator, old_accumulator));
}

void MF_KERNEL(mf_gp_run)(const mf_GpBatch *batch, uint32_t first, uint32_t count) {
    SensorTable table;
    for (uint32_t block = first; block < first + count; block++) {
        read_sensors(&table, batch, block);
        for (uint32_t lane = 0; lane < MF_BLOCK; lane += MF_LANES)
            run_lanes(batch, &table, block, lane);
    }
}
