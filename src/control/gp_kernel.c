// The machine-code controller for a block of robots: each lane is one machine with its own program
// and address, and all lanes execute one instruction at a time. No branch depends on a lane: every
// instruction computes all opcodes and selects. Only moves of motors, which are rare, are appended
// to a list and executed one by one.
//
// Invariants: bit for bit what mf_gp_execute and a clamped addition give, one robot at a time. For
// any contents of the fields no index is out of range: programs are cut to 8 bits, addresses to 5.
// A robot with a fault word keeps all its state. A NaN target stays NaN and is detected by the
// motion.
#include "control/gp.h"

#include "math/lane.h"
#include "math/lane_table.h"

#include <assert.h>

static_assert(MF_BYTES_ROWS == (int)MF_GP_BYTES, "a program is one memory of a lane");
static_assert((int)MF_BYTES_ROWS == (int)MF_GP_OPERANDS,
              "so are the sensors, one for each operand");
static_assert(MF_BYTES_STRIDE == (int)MF_BLOCK, "fields are stored in blocks");

enum {
    LIST_ROUNDS = 8, // instructions between two executions of the list of moves
    LIST_SLACK = 16  // appending may write a whole block after the end
};

// Integer sensor values of this tick; row n is the value of operand n.
typedef struct SensorTable {
    MF_ALIGNED(64) int32_t value[MF_GP_OPERANDS][MF_BLOCK];
} SensorTable;

// Moves in the order of execution, each as instruction + 256 * lane.
typedef struct MoveList {
    uint32_t count;
    int32_t move[LIST_ROUNDS * MF_LANES + LIST_SLACK];
} MoveList;

#if defined(MF_KERNEL_F64)
#define LOWER lower_f64
#define UPPER upper_f64
#else
#define LOWER lower_f32
#define UPPER upper_f32
#endif

static inline void read_sensors(SensorTable *table, const mf_GpBatch *batch, uint32_t block) {
    const mf_lane minimum = mf_set((mf_real)MF_GP_SENSOR_MINIMUM);
    const mf_lane maximum = mf_set((mf_real)MF_GP_SENSOR_MAXIMUM);
    const mf_GpPlan *plan = batch->plan;
    const mf_real *values =
        (const mf_real *)batch->values + (size_t)block * plan->values * MF_BLOCK;
    uint32_t row = 0;
    for (; row < plan->sensor_count; row++) {
        const mf_real *from = values + (size_t)plan->sensors[row].component * MF_BLOCK;
        const mf_lane scale = mf_set((mf_real)plan->sensors[row].scale);
        for (uint32_t lane = 0; lane < MF_BLOCK; lane += MF_LANES) {
            // NaN becomes the minimum, so the conversion is always defined.
            mf_lane value = mf_clamp(mf_load(from + lane) * scale, minimum, maximum);
            mf_store_index(&table->value[row][lane], mf_to_index(value));
        }
    }
    for (; row < MF_GP_OPERANDS; row++)
        if (plan->wrap && plan->sensor_count > 0)
            memcpy(table->value[row], table->value[row - plan->sensor_count],
                   sizeof table->value[row]);
        else
            memset(table->value[row], 0, sizeof table->value[row]);
}

static inline void carry_out(const mf_GpMotors *motors, const MoveList *list, mf_real angle,
                             mf_real *target) {
    const mf_real change[2] = {-angle, angle}; // a branch would be mispredicted half of the time
    for (uint32_t i = 0; i < list->count; i++) {
        int32_t move = list->move[i];
        int32_t operand = move & 31, joint = motors->joint[operand];
        if (joint < 0)
            continue;
        mf_real *position = target + (size_t)joint * MF_BLOCK + (move >> 8);
        mf_real value = *position + change[move >> 5 & 1];
        // Written so that NaN is kept.
        value = motors->LOWER[operand] > value ? motors->LOWER[operand] : value;
        *position = motors->UPPER[operand] < value ? motors->UPPER[operand] : value;
    }
}

// Program counters are kept as `cell`, eight times the address, as mf_bytes_read expects.
static inline void run_lanes(const mf_GpBatch *batch, const SensorTable *table, uint32_t block,
                             uint32_t first_lane) {
    const mf_index low5 = mf_set_index(31), low8 = mf_set_index(255);
    const mf_index zero = mf_set_index(0), one = mf_set_index(1), minus = mf_set_index(-1);
    const mf_index lane_bits = (mf_lane_numbers() + mf_set_index((int32_t)first_lane)) << 8;
    const size_t offset = (size_t)block * MF_BLOCK + first_lane;
    mf_real *target =
        (mf_real *)batch->target + (size_t)block * batch->target_components * MF_BLOCK;

    mf_Bytes program =
        mf_bytes_pack(batch->program + (size_t)block * MF_GP_BYTES * MF_BLOCK + first_lane);
    mf_Bytes readings = mf_bytes_pack(&table->value[0][first_lane]);
    mf_index old_address = mf_load_index(batch->address + offset);
    mf_index old_accumulator = mf_load_index(batch->accumulator + offset);
    mf_mask active = mf_index_equal(mf_load_index(batch->fault + offset), zero);
    mf_index cell = (old_address & low5) << 3, accumulator = old_accumulator & low8;

    const uint32_t instructions = batch->plan->instructions;
    for (uint32_t done = 0; done < instructions; done += LIST_ROUNDS) {
        uint32_t left = instructions - done;
        uint32_t rounds = left < LIST_ROUNDS ? left : LIST_ROUNDS;
        MoveList list;
        list.count = 0;
        for (uint32_t i = 0; i < rounds; i++) {
            mf_index instruction = mf_bytes_read(&program, cell);
            mf_index opcode = instruction & mf_set_index(7 << 5), operand = instruction & low5;
            mf_mask jumps = mf_index_equal(opcode, mf_set_index(MF_GP_JUMP << 5));
            mf_mask taken = mf_and(jumps, mf_index_has(accumulator, low8));
            cell = mf_select_index(taken, operand << 3, cell + mf_set_index(8));
            mf_mask moves = mf_index_less(opcode, mf_set_index(MF_GP_SENSOR << 5));
            list.count += mf_append_index(list.move + list.count, mf_and(active, moves),
                                          (instruction & low8) | lane_bits);
            mf_index reading = mf_bytes_read(&readings, operand << 3) & low8;
            mf_mask loads = mf_index_equal(opcode, mf_set_index(MF_GP_LOAD << 5));
            mf_mask reads = mf_index_equal(opcode, mf_set_index(MF_GP_SENSOR << 5));
            mf_mask inverts = mf_index_equal(opcode, mf_set_index(MF_GP_NOT << 5));
            mf_mask increments = mf_index_equal(opcode, mf_set_index(MF_GP_INC << 5));
            mf_mask decrements = mf_index_equal(opcode, mf_set_index(MF_GP_DEC << 5));
            // Bits above the eighth accumulate, at most one count per instruction, without effect.
            accumulator = mf_select_index(increments, accumulator + one, accumulator);
            accumulator = mf_select_index(decrements, accumulator - one, accumulator);
            accumulator = mf_select_index(inverts, accumulator ^ minus, accumulator);
            accumulator = mf_select_index(loads, operand, accumulator);
            accumulator = mf_select_index(reads, reading, accumulator);
        }
        carry_out(&batch->plan->motors, &list, (mf_real)batch->plan->angle, target);
    }
    mf_store_index(batch->address + offset,
                   mf_select_index(active, (cell >> 3) & low5, old_address));
    mf_store_index(batch->accumulator + offset,
                   mf_select_index(active, accumulator & low8, old_accumulator));
}

void MF_KERNEL(mf_gp_run)(const mf_GpBatch *batch, uint32_t first, uint32_t count) {
    SensorTable table;
    for (uint32_t block = first; block < first + count; block++) {
        read_sensors(&table, batch, block);
        for (uint32_t lane = 0; lane < MF_BLOCK; lane += MF_LANES)
            run_lanes(batch, &table, block, lane);
    }
}
