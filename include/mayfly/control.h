// Mayfly: controllers of a group. Call in this order: motion, sensors (sensor.h), controller.
#pragma once

#include <mayfly/world.h>

// ---- the machine-code controller (Fischer and Ihme 2024, Table I) ------------------------------

#define MF_GP_BYTES 32u // [byte] one program: 32 addresses

typedef enum mf_GpOpcode { // the upper three bits of an instruction
    MF_GP_LEFT,            // move motor `operand` left: decreases its target by angle_per_move
    MF_GP_RIGHT,           // move motor `operand` right: increases its target
    MF_GP_SENSOR,          // accumulator = sensor `operand`
    MF_GP_LOAD,            // accumulator = operand
    MF_GP_JUMP,            // continue at address `operand` if the accumulator is not 0
    MF_GP_NOT,             // accumulator = ~accumulator
    MF_GP_INC,             // accumulator + 1
    MF_GP_DEC              // accumulator - 1
} mf_GpOpcode;

typedef enum mf_GpUnknown {
    MF_GP_UNKNOWN_IGNORE, // a motor or sensor that does not exist: no move, reads 0
    MF_GP_UNKNOWN_WRAP    // its number is taken modulo the number of motors or sensors
} mf_GpUnknown;

// Parameters that the paper leaves open. The accumulator has 8 bits and wraps.
typedef struct mf_GpConfig {
    uint32_t struct_size;           // [byte] set by mf_gp_config()
    mf_Rate rate;                   // [1/s] controller ticks; default one per 80 ms
    uint32_t instructions_per_tick; // [1] 1 .. 256; default 8
    double angle_per_move;          // [rad] or [m] > 0; default 0.06
    mf_GpUnknown unknown;           // default MF_GP_UNKNOWN_WRAP
} mf_GpConfig;
// The defaults of mf_GpConfig: every configuration starts from them.
MF_API mf_GpConfig mf_gp_config(void);

// Controls every instance by its own program in the field gp.program (32 values 0..255). Sensors
// are numbered: contacts, rays [cm], joint angles [degree], attitude [degree], clamped to
// -128..127. Requires the sensor fields. State: gp.address, gp.accumulator.
MF_API mf_Status mf_gp_add(mf_Group *group, const mf_GpConfig *config, mf_Error *error);
MF_API void mf_gp_set_program(mf_Group *group, uint32_t instance,
                              const uint8_t program[MF_GP_BYTES]);

// One machine, executed step by step: the reference for tests of the batch kernel.
typedef struct mf_GpMachine {
    uint8_t address;     // [1] 0 .. 31
    uint8_t accumulator; // [1]
} mf_GpMachine;
// Result of one instruction: motor index and -1, 0 or +1 moves.
typedef struct mf_GpMove {
    uint32_t motor; // [1] already wrapped; MF_NONE without a move
    int direction;  // [1] -1 left, +1 right, 0 none
} mf_GpMove;

// Text form, one instruction per line ("07  jump 12"), at most `size` bytes including the
// terminator. Returns the length of the whole text. Every program has a text that assembles to the
// same bytes.
MF_API size_t mf_gp_disassemble(const uint8_t program[MF_GP_BYTES], char *text, size_t size);
// Reads that form: mnemonics left, right, sensor, load, jump, not, inc, dec; leading addresses are
// optional; `;` and `#` start comments; missing instructions are `not 0`
// (docs/reference/controllers.md). Errors name the line.
MF_API mf_Status mf_gp_assemble(const char *text, uint8_t program[MF_GP_BYTES], mf_Error *error);

// ---- open-loop oscillators ---------------------------------------------------------------------

typedef struct mf_OscillatorConfig {
    uint32_t struct_size; // [byte] set by mf_oscillator_config()
    mf_Rate rate;         // [1/s] ticks; default one per 80 ms
} mf_OscillatorConfig;
// The defaults of mf_OscillatorConfig: every configuration starts from them.
MF_API mf_OscillatorConfig mf_oscillator_config(void);

// target = offset + amplitude * sin(2 pi (frequency * time + phase)) for every joint, from the
// fields oscillator.offset [rad], oscillator.amplitude [rad], oscillator.phase [1] (cycles) per
// joint and oscillator.frequency [Hz]. In a group of trusses: of every actuator, in [m], to
// actuator.control; a reset sets the offsets to the rest lengths.
MF_API mf_Status mf_oscillator_add(mf_Group *group, const mf_OscillatorConfig *config,
                                   mf_Error *error);

// ---- neural networks ---------------------------------------------------------------------------

#define MF_NETWORK_HIDDEN 8u  // [1] most hidden layers
#define MF_NETWORK_UNITS 512u // [1] most units of a layer, inputs and outputs too

typedef struct mf_NetworkConfig {
    uint32_t struct_size;      // [byte] set by mf_network_config()
    mf_Rate rate;              // [1/s] ticks; default 50
    const char *const *inputs; // names of fields of the group's precision, ended by NULL: all their
                               // components, one field after the other. NULL (the default):
                               // base.orientation, base.linear_velocity, base.angular_velocity,
                               // joint.angle, joint.rate
    const char *output;        // name of the output field; default "joint.target"
    const uint32_t *hidden;    // [1] units of each hidden layer; NULL: the network is linear
    uint32_t hidden_count;     // [1] 0 .. MF_NETWORK_HIDDEN
    const double *lower;       // [1] or the output's unit: lower end of each of its components
    const double *upper;       // [1] upper end; NULL: of joints for joint.target, of controls for
                               // actuator.control, +-pi rad or +-1 if they have none; else +-1
} mf_NetworkConfig;
// The defaults of mf_NetworkConfig: every configuration starts from them.
MF_API mf_NetworkConfig mf_network_config(void);

// Controls every instance by its own network. With inputs x, each hidden layer is
//     h = tanh(W x + b)
// of the previous layer, and component i of the output is
//     (lower + upper) / 2 + (upper - lower) / 2 * tanh((W h + b)_i),
// constant until the next tick. The field network.weight contains the numbers of each layer in
// order: for each of its units the weights of its inputs, then its b. Inputs are the values before
// the step. Sums have a fixed order, tanh is accurate to 1e-6 (float), 1e-15 (double). An input or
// weight that is not finite gives outputs NaN. `config` may be NULL; arrays are copied.
// MF_NOT_FOUND: a field. MF_BAD_ARGUMENT: a field of another type, or an output that is computed.
// MF_LIMIT: too many units.
MF_API mf_Status mf_network_add(mf_Group *group, const mf_NetworkConfig *config, mf_Error *error);

// ---- a controller in C -------------------------------------------------------------------------

// Called for one instance at a time, from several threads at once. Reads and writes the group's
// fields of that instance. Returns false to raise MF_FAULT_CONTROL.
typedef bool (*mf_ControlFn)(mf_Group *group, uint32_t instance, mf_Time time, void *user);
// Calls `function` for every instance at `rate`. `user` is borrowed while the world lives.
MF_API mf_Status mf_callback_add(mf_Group *group, mf_Rate rate, mf_ControlFn function, void *user,
                                 mf_Error *error);
