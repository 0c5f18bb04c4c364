// Mayfly: policies of robots: one function that runs on every robot of a group and sees only what
// its robot senses, remembers and hears. docs/how_to/modules.md shows how to write one.
#pragma once

#include <mayfly/messages.h>

// [1] percepts or actions, numbers at most; [byte] of all percepts that functions make.
enum { MF_POLICY_FIELDS = 16, MF_POLICY_MEMORY = 4096, MF_POLICY_MADE = 4096 };

// What one robot senses, remembers, says and does, while its function is called.
typedef struct mf_Policy mf_Policy;

// Decides what a robot does in a tick. Called from several threads at once, for different robots;
// all that it keeps is in the robot's memory. Returns false to raise MF_FAULT_CONTROL.
typedef bool (*mf_PolicyFn)(mf_Policy *policy, void *user);

// A percept of any type that a function makes of others, such as the nearest obstacle as a struct:
// `size` bytes, which are 0 before, of the robot whose policy runs. Rules as for mf_PolicyFn; it
// may not act, send, receive or change the memory.
typedef struct mf_MadePercept {
    size_t size; // [byte] > 0
    void (*make)(mf_Policy *policy, void *out, void *user);
} mf_MadePercept;

// A law of noise: what becomes of value `component` of a percept or an action. Its random numbers
// are those of mf_policy_random, so that a percept is the same however often it is read in a tick.
typedef double (*mf_NoiseFn)(const mf_Policy *policy, uint32_t number, uint32_t component,
                             double value, void *user);

typedef struct mf_PolicyConfig {
    uint32_t struct_size; // [byte] set by mf_policy_config()
    const char *name;     // copied; of the system and of the field NAME.memory; default "policy"
    mf_Rate rate;         // [1/s] ticks; default: every step
    // Names of fields, ended by NULL. A robot reads its own values of percepts and writes those of
    // actions, by their numbers in these lists. Readings of sensors have the noise of their
    // mf_Signal; mf_sensor_add_field makes a noisy reading of any other field. NULL: none.
    const char *const *percepts;
    const char *const *actions; // fields with MF_FIELD_INPUT
    const double *noise; // [1] unit of the action: standard deviation of what is added to each
                         // command, per action; NULL: none. 0 for fields of whole numbers
    mf_NoiseFn sense;    // of all percepts that are fields; NULL: they are read as they are
    mf_NoiseFn disturb;  // of all commands, before `noise` is added; NULL: none
    const mf_MadePercept *made; // copied
    uint32_t made_count;        // [1] 0 .. MF_POLICY_FIELDS
    bool messages;              // the function sends or receives some; default true
    uint32_t memory;            // [1] numbers of each robot, 0 .. 4096; zero after a reset
    mf_PolicyFn function;
    void *user;             // of all functions here; borrowed while the world lives
    uint64_t settings_hash; // [1] of what `user` refers to: a snapshot continues only where it is
                            // the same
} mf_PolicyConfig;
// The defaults of mf_PolicyConfig: every configuration starts from them.
MF_API mf_PolicyConfig mf_policy_config(void);

// Lets all robots of a group act by a function, after the sensors of each of its ticks. Adds the
// field NAME.memory (double). A group may have several, with different names; two may not write the
// same field, and only one may use messages: it reads all of them. MF_NOT_FOUND: a field.
// MF_BAD_ARGUMENT: a setting, an action that is no input, noise of whole numbers. MF_UNSUPPORTED:
// joint.target, which no joint follows. MF_NO_MEMORY.
MF_API mf_Status mf_policy_add(mf_Group *group, const mf_PolicyConfig *config, mf_Error *error);

// ---- for functions ------------------------------------------------------------------------------
//
// Numbers that are out of range read 0 and write nothing.

MF_API mf_Time mf_policy_time(const mf_Policy *policy);  // [ns] at the beginning of the step
MF_API double mf_policy_period(const mf_Policy *policy); // [s] between two ticks
MF_API uint32_t
mf_policy_robot(const mf_Policy *policy); // [1] its serial number: that in its group
MF_API uint32_t mf_policy_docks(const mf_Policy *policy); // [1] docks of the robot

// Value `component` of a percept, in the unit of its field, after config.sense.
MF_API double mf_policy_percept(const mf_Policy *policy, uint32_t percept, uint32_t component);
MF_API uint32_t mf_policy_percept_size(const mf_Policy *policy, uint32_t percept); // [1] components
MF_API uint32_t mf_policy_action_size(const mf_Policy *policy, uint32_t action);   // [1] components
// Percept `index` of config.made, made when it is first asked for in a tick and valid until the
// policy's function returns. NULL: there is none, or it is being made.
MF_API const void *mf_policy_made(mf_Policy *policy, uint32_t index);
// Writes a command, to which its noise is added. The noise of a tick is the same however often it
// is written. A command that is not finite is not written and makes mf_policy_act return false.
MF_API bool mf_policy_act(mf_Policy *policy, uint32_t action, uint32_t component, double value);

// The memory: the robot's model of its world. Part of snapshots.
MF_API double mf_policy_memory(const mf_Policy *policy, uint32_t index);
MF_API void mf_policy_set_memory(mf_Policy *policy, uint32_t index, double value);

// As mf_message_send; false: the outbox is full, there is no such dock, the message is too large,
// or the policy has no messages.
MF_API bool mf_policy_send(mf_Policy *policy, uint32_t dock, const mf_Message *message);
// As mf_message_receive.
MF_API bool mf_policy_receive(mf_Policy *policy, uint32_t dock, mf_Message *out);

// Random words of the robot, the tick and a stream of the caller's choice.
MF_API void mf_policy_random(const mf_Policy *policy, uint32_t stream, uint32_t out[4]);
