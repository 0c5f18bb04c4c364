// Mayfly: worlds, groups, fields, systems and their schedule.
#pragma once

#include <mayfly/base.h>
#include <mayfly/model.h>
#include <mayfly/terrain.h>

#define MF_BLOCK 16u // [1] instances per block; the same on every machine

// ---- fields ------------------------------------------------------------------------------------

typedef enum mf_FieldType {
    MF_F32,
    MF_F64,
    MF_I32,
    MF_U32,
    MF_REAL // in a field table: MF_F32 or MF_F64, the group's precision
} mf_FieldType;

// How many elements a field has per instance.
typedef enum mf_FieldShape {
    MF_PER_INSTANCE, // one
    MF_PER_JOINT,    // one per joint of the model
    MF_PER_POINT,    // one per mass or contact point of the model
    MF_PER_CONTACT,  // one per point that collides
    MF_PER_SENSOR,   // one per value of the sensors of one type (given when the field is added)
    MF_FIXED_COUNT   // given when the field is added
} mf_FieldShape;

enum {
    MF_FIELD_STATE = 1,  // part of snapshots and hashes
    MF_FIELD_INPUT = 2,  // meant to be written from outside
    MF_FIELD_OUTPUT = 4, // computed from the state; may be read, writing has no effect
    MF_FIELD_BITS = 8,   // bits that any system may raise, several in one phase (fault.word)
    // Sums of many small steps: in single precision each value has a remainder. Those of velocities
    // only in steps below 1 ms, as what a longer step adds is not lost.
    MF_FIELD_SUM = 32,
    MF_FIELD_RATE_SUM = 64
};

// One row of the table that describes a field; it is used for allocation, access by name,
// recording, hashing and the documentation.
typedef struct mf_FieldInfo {
    const char *name;  // "base.position"
    const char *unit;  // "m"; "1" for pure numbers
    const char *frame; // "world", "body", "joint" or ""
    mf_FieldType type;
    mf_FieldShape shape;
    uint32_t width; // [1] components per element, 3 for a vector
    uint32_t flags; // [1] MF_FIELD_*
    const char *description;
} mf_FieldInfo;

// A named, typed array owned by a group, stored [block][component][lane]: value c of instance i is
// data[((i / MF_BLOCK) * components + c) * MF_BLOCK + i % MF_BLOCK].
typedef struct mf_Field {
    mf_FieldInfo info;   // type resolved, never MF_REAL; shape and width as in the table
    uint32_t components; // [1] per instance: elements * width
    uint32_t blocks;     // [1]
    void *data;          // blocks * components * MF_BLOCK values, aligned to 64 bytes
    // As many values: what rounding has left out of each sum so far, at most half of its last
    // digit. Part of snapshots and hashes. NULL: none, as of all fields without MF_FIELD_SUM and of
    // those in double precision.
    void *remainder;
} mf_Field;

// Size of one value.
MF_API size_t mf_field_value_size(mf_FieldType type); // [byte]

// One value as double (I32 and U32 exactly). Beyond the field 0 is read and nothing is written.
// Setting a value clears its remainder.
MF_API double mf_field_get(const mf_Field *field, uint32_t instance, uint32_t component);
MF_API void mf_field_set(mf_Field *field, uint32_t instance, uint32_t component, double value);

// ---- worlds and groups -------------------------------------------------------------------------

typedef struct mf_World mf_World;
typedef struct mf_Group mf_Group;

typedef enum mf_Isa { MF_ISA_AUTO, MF_ISA_SCALAR, MF_ISA_AVX2, MF_ISA_AVX512 } mf_Isa;

// "scalar", "avx2", "avx512", "auto".
MF_API const char *mf_isa_name(mf_Isa isa);
// The best set of this processor, at most what the environment variable MAYFLY_ISA names.
// MF_BAD_ARGUMENT when MAYFLY_ISA is not a name, MF_UNSUPPORTED when the processor lacks it.
MF_API mf_Status mf_isa_detect(mf_Isa *out, mf_Error *error);
// True when this processor can run `isa`.
MF_API bool mf_isa_available(mf_Isa isa);

typedef struct mf_WorldConfig {
    uint32_t struct_size;        // [byte] set by mf_world_config()
    mf_Time step;                // [ns] physics step, 1 us .. 1 s; default 10 ms
    uint64_t seed;               // [1] seed of all random numbers of the world
    double gravity;              // [m/s^2] >= 0; default 9.81
    double gravity_direction[3]; // [1] of any length > 0; default 0, 0, -1. Only
                                 // `articulated`, `prescribed`, `rigid` and `external` support
                                 // other directions
    const mf_Terrain *terrain;   // borrowed; NULL = flat ground at height 0
    mf_Isa isa;                  // default MF_ISA_AUTO
} mf_WorldConfig;
// The defaults of mf_WorldConfig: every configuration starts from them.
MF_API mf_WorldConfig mf_world_config(void);
// The same with the step and gravity of a robot's file: no gravity if it disables it, the default
// step if its own is not 1 us .. 1 s. NULL: mf_world_config().
MF_API mf_WorldConfig mf_world_config_for(const mf_Model *model);

// Makes a world without groups. `config` may be NULL for the defaults. Free with mf_world_destroy.
MF_API mf_Status mf_world_create(mf_Context *context, const mf_WorldConfig *config, mf_World **out,
                                 mf_Error *error);
MF_API void mf_world_destroy(mf_World *world); // NULL is allowed; destroys its groups, too

#define MF_WORLD_GROUP_LIMIT 65535u // [1] most groups of a world

// The context that the world was made with.
MF_API mf_Context *mf_world_context(const mf_World *world);
MF_API const mf_WorldConfig *mf_world_config_of(const mf_World *world);
MF_API mf_Time mf_world_time(const mf_World *world); // [ns] simulated so far
MF_API mf_Isa mf_world_isa(const mf_World *world);   // the one in use
MF_API uint32_t mf_world_group_count(const mf_World *world);
MF_API mf_Group *mf_world_group(mf_World *world, uint32_t index);
MF_API mf_Group *mf_world_find_group(mf_World *world, const char *name); // NULL when absent

typedef enum mf_FaultPolicy {
    MF_FAULT_FREEZE, // the robot keeps its last valid state
    MF_FAULT_RESET   // the robot is reset at the end of the step; its count increases
} mf_FaultPolicy;

typedef struct mf_GroupConfig {
    uint32_t struct_size;  // [byte] set by mf_group_config()
    const char *name;      // copied; unique in the world; default "robots"
    const mf_Model *model; // borrowed, must outlive the world
    uint32_t count;        // [1] instances, 1 .. 2^26
    bool isolated;         // each instance has its own copy of the ground; default true.
                           // false: shared, all instances of all shared groups in one space
    bool double_precision; // default false: float
    mf_FaultPolicy fault_policy;
    double spacing; // [m] between the initial positions of instances; default 0: all at the origin
} mf_GroupConfig;
// The defaults of mf_GroupConfig: every configuration starts from them.
MF_API mf_GroupConfig mf_group_config(void);

// Adds a group with the canonical fields: base.position, base.orientation, base.linear_velocity,
// base.angular_velocity, joint.angle, joint.rate, joint.target, fault.word, fault.count.
MF_API mf_Status mf_world_add_group(mf_World *world, const mf_GroupConfig *config, mf_Group **out,
                                    mf_Error *error);
// Takes the group that was added last out of the world again, with the systems of the world that
// were added since: for programs that could not give it all that it should have. Pointers to it and
// to its fields end. No group, or NULL: nothing happens.
MF_API void mf_world_drop_group(mf_World *world);
MF_API mf_World *mf_group_world(const mf_Group *group);
MF_API const mf_GroupConfig *mf_group_config_of(const mf_Group *group);
MF_API const mf_Model *mf_group_model(const mf_Group *group);
MF_API uint32_t mf_group_count(const mf_Group *group);
MF_API size_t mf_group_bytes_per_instance(const mf_Group *group); // [byte] all fields together

// [1] fields of the group.
MF_API uint32_t mf_group_field_count(const mf_Group *group);
MF_API mf_Field *mf_group_field(mf_Group *group, uint32_t index);
MF_API mf_Field *mf_group_find_field(mf_Group *group, const char *name); // NULL when absent

// Adds a field (zeroed). `count` is the number of elements for MF_PER_SENSOR and MF_FIXED_COUNT and
// ignored otherwise. The name is copied; the other strings in `info` are borrowed and must outlive
// the group (use literals).
MF_API mf_Status mf_group_add_field(mf_Group *group, const mf_FieldInfo *info, uint32_t count,
                                    mf_Field **out, mf_Error *error);

// Resets an instance to its initial state: base above the ground at its position (a base that is
// fixed in the world at height 0, so that the poses of its file apply; that of an MJCF in the pose
// of its file, raised out of the ground if it penetrates it), joints at their start angles,
// velocities and internal state zero, fault and warnings cleared; then every system's own reset.
MF_API void mf_group_reset(mf_Group *group, uint32_t instance);
MF_API void mf_group_reset_all(mf_Group *group);

// Sets the initial state of an instance, to which every later reset returns, and resets it:
// position [m] of the base's origin and linear velocity [m/s] in the world frame, finite and below
// 1e9 in size; orientation (w, x, y, z) body to world, of length 1 within 1 %, normalized. NULL:
// identity, at rest. The ground is not taken into account. Initial states are settings, not state:
// a snapshot can be restored only in a world with the same ones.
MF_API mf_Status mf_group_set_start(mf_Group *group, uint32_t instance, const double position[3],
                                    const double orientation[4], const double linear_velocity[3],
                                    mf_Error *error);

// Sets the state of an instance to a position vector (position_count values; quaternions need not
// have length 1) and a velocity vector (velocity_count) of the model; targets of joints become
// their positions. Internal state, faults and other fields do not change. Values for which the
// group's motion has no field are ignored. Then the systems recompute derived values.
MF_API void mf_group_set_state(mf_Group *group, uint32_t instance, const double *position,
                               const double *velocity);

// Call it after the state of an instance was written to its fields: every system recomputes derived
// values and restarts its joint paths. Remainders that belong to values written over are dropped.
MF_API void mf_group_refresh(mf_Group *group, uint32_t instance);

// Bits of fault.word.
enum {
    MF_FAULT_NONFINITE = 1,  // a state value became NaN or infinite
    MF_FAULT_RANGE = 2,      // a state value left its documented range
    MF_FAULT_INPUT = 4,      // a target or parameter from outside is no finite number, or a
                             // request for a joint cannot be carried out
    MF_FAULT_CONTROL = 8,    // a controller reported failure
    MF_FAULT_COLLISION = 16, // collided with another robot
    MF_FAULT_TERRAIN = 32,   // hit the ground
    MF_FAULT_FENCE = 64,     // left the fence
    MF_FAULT_PLUGIN = 128,   // a plugin wrote outside its fields or changed the rounding
    MF_FAULT_TRIAL = 256,    // its trial ended early: its motion cannot know what follows
    MF_FAULT_CONTACTS = 512  // it had more contacts than its solver holds: some would be dropped
};
// MF_FAULT_* bits of an instance, 0: none.
MF_API uint32_t mf_group_fault(const mf_Group *group, uint32_t instance);
MF_API uint32_t mf_group_fault_total(const mf_Group *group); // [1] instances with a fault word

// Bits of warning.word: steps since the robot's start that were less accurate than specified. The
// robot continues; a reset clears them. For bit 1 << k component k of warning.steps counts the
// steps, and that of warning.residual is the largest residual.
enum {
    MF_WARNING_SOLVER = 1,     // forces of contacts, limits or constraints had not converged;
                               // residual [1] of the forces, or as the motion's page says
    MF_WARNING_CONTACTS = 2,   // more contacts than the solver supports, with MF_FAULT_CONTACTS;
                               // residual [1]: number dropped
    MF_WARNING_SHAPES = 4,     // the contact search of two shapes had not converged; [m]
    MF_WARNING_LOOPS = 8,      // error of a constraint or run-time joint before a step; [m, rad]
    MF_WARNING_ROTATION = 16,  // a fast rotation had not converged; residual [1] of the rate
    MF_WARNING_STANCE = 32,    // the fit of the base to its standing feet had not converged; [rad]
    MF_WARNING_YIELD = 64,     // a bar's stress exceeded the yield stress; [Pa]
    MF_WARNING_BUCKLING = 128, // a bar's compression exceeded its Euler load; [1] times it
    MF_WARNING_JUMP = 256,     // a quasi-static frame moved far: it would need time; [m]
    MF_WARNING_DEPTH = 512,    // a contact was about as deep as one of its bodies is thick; [m]
    MF_WARNING_TUNNEL = 1024,  // moved farther in a step than it and what is near it are thick, so
                               // that it may have passed through it; [m]
    MF_WARNING_PRECISION = 2048, // a position or angle is so large that its last digit is coarse:
                                 // in single precision beyond 16384 m or rad; [m, rad] that digit
    MF_WARNING_FALL = 4096,      // it has fallen far below all ground: nothing is under it; [m]
    MF_WARNING_KINDS = 13
};

typedef struct mf_WarningSum { // of one bit
    uint32_t robots;           // [1] with the bit
    uint64_t steps;            // [1] of all robots
    double residual;           // [1] largest, in the unit of the bit
} mf_WarningSum;

// Bits of a robot since its start. 0: none, or its motion has no such field.
MF_API uint32_t mf_group_warning(const mf_Group *group, uint32_t instance);
MF_API uint32_t mf_group_warning_total(const mf_Group *group); // [1] instances with a warning
MF_API mf_WarningSum mf_group_warning_sum(const mf_Group *group, uint32_t bit);
// "solver", "contacts", ...; NULL for a value that is not one of the bits.
MF_API const char *mf_warning_name(uint32_t bit);
// What a warning says.
typedef struct mf_WarningWords {
    const char *unit, *meaning, *advice; // of the residual; half a sentence each
} mf_WarningWords;
// The group's motion may have its own: what "solver" means for a fluid. NULL group: those of most
// motions. NULL for a value that is not one of the bits.
MF_API const mf_WarningWords *mf_group_warning_words(const mf_Group *group, uint32_t bit);

// ---- systems -----------------------------------------------------------------------------------

typedef enum mf_Phase { // order within one step
    MF_PHASE_SENSE,
    MF_PHASE_CONTROL,
    MF_PHASE_MOTION,
    MF_PHASE_AFTER
} mf_Phase;
// "sense", "control", "motion", "after".

typedef struct mf_SystemRun {
    mf_Group *group;
    mf_Time time;         // [ns] at the beginning of the step
    mf_Time step;         // [ns]
    uint64_t tick;        // [1] steps done before this one
    uint32_t first_block; // [1] the blocks to process: first_block .. first_block+block_count-1
    uint32_t block_count; // [1]
} mf_SystemRun;

// Processes whole blocks only; may be called from several threads at once on different blocks. Must
// not allocate, wait or access other blocks or groups: in a shared group the other blocks may be at
// any point between two world systems. Interaction between robots goes through world systems
// (below). Accesses only the declared fields.
typedef void (*mf_SystemFn)(const mf_SystemRun *run, void *user);

typedef struct mf_SystemConfig {
    uint32_t struct_size; // [byte] set by mf_system_config()
    const char *name;     // borrowed
    mf_Phase phase;
    mf_Rate rate;    // due when a tick of it falls into the step; default: every step
    mf_SystemFn run; // may be NULL where reset is not
    void (*reset)(mf_Group *group, uint32_t instance, void *user); // may be NULL
    // Recomputes derived values after state was written from outside (mf_property_write). May be
    // NULL.
    void (*refresh)(mf_Group *group, uint32_t instance, void *user);
    void (*destroy)(mf_Context *context, void *user); // may be NULL
    void *user;
    // Names of the fields that it reads, and of those that it writes, NULL-terminated; the lists
    // are copied, the names borrowed. A name with a leading ? applies if the group has such a
    // field. Fields that it writes it may read as well. NULL: not declared, may be any.
    const char *const *reads;
    const char *const *writes;
    // Systems of one group and phase that write the same field are rejected, unless they have the
    // same name here: they write it for different robots, or each modifies the result of the
    // previous one. Borrowed. NULL: in the phase MOTION of a group with the field motion.level the
    // name of that field, else none.
    const char *together;
    bool slow;              // 10 us per block or more: may get its own thread; default false
    bool any_gravity;       // the motion supports every direction of gravity; default false
    uint64_t settings_hash; // [1] over the system's settings; a snapshot is restored only where
                            // it is the same; default 0
} mf_SystemConfig;
// The defaults of mf_SystemConfig: every configuration starts from them.
MF_API mf_SystemConfig mf_system_config(void);

// Adds a system after those of the same phase. On success the group owns `user` (destroy is called
// with it); on failure the caller does. Every name in reads and writes without ? must be a field.
// MF_BAD_ARGUMENT: a rate above one tick per step, or another system of the phase that writes the
// same field (see `together`).
MF_API mf_Status mf_group_add_system(mf_Group *group, const mf_SystemConfig *config,
                                     mf_Error *error);

// A group's schedule: its systems in the order of execution for a block. Their reads and writes are
// the existing fields of the group, without question marks.
MF_API uint32_t mf_group_system_count(const mf_Group *group);
MF_API const mf_SystemConfig *mf_group_system(const mf_Group *group, uint32_t index);
// Systems of a phase with the same number, from 0, write nothing that another of them reads or
// writes; the order within such a wave does not affect results, and slow ones may run in parallel.
MF_API uint32_t mf_group_system_wave(const mf_Group *group, uint32_t index); // [1]
// The n-th system, from 0, that declares to write or to read the field: of the group, then, for
// shared groups, of the world. NULL: there are no more.
MF_API const char *mf_group_writer(const mf_Group *group, const char *field, uint32_t n);
MF_API const char *mf_group_reader(const mf_Group *group, const char *field, uint32_t n);

#define MF_WORLD_SYSTEM_LIMIT 32u // [1] most systems of a world

// ---- systems of the whole world ----------------------------------------------------------------

typedef struct mf_WorldRun {
    mf_World *world;
    mf_Time time;  // [ns] at the beginning of the step
    mf_Time step;  // [ns]
    uint64_t tick; // [1] steps done before this one
} mf_WorldRun;

// Called on the thread that steps the world, while no group's system runs; may use mf_parallel_for
// and read and write all shared groups. Must not allocate.
typedef void (*mf_WorldSystemFn)(const mf_WorldRun *run, void *user);

typedef struct mf_WorldSystemConfig {
    uint32_t struct_size; // [byte] set by mf_world_system_config()
    const char *name;     // borrowed
    mf_Phase phase;       // runs before the groups' systems of this phase; AFTER: after all of them
    mf_Rate rate;         // due when a tick of it falls into the step; default: every step
    mf_WorldSystemFn run;
    void (*reset)(mf_World *world, void *user); // after a restore: reset state outside of fields
    bool (*pending)(const void *user); // has results that are in no field yet; no snapshot then
    void (*destroy)(mf_Context *context, void *user); // before the groups are destroyed
    void *user;
    const char *const *reads;  // names of fields of any group, NULL-terminated, borrowed;
    const char *const *writes; // documentation only; may be NULL
    uint64_t settings_hash;    // [1] as in mf_SystemConfig
} mf_WorldSystemConfig;
// The defaults of mf_WorldSystemConfig: every configuration starts from them.
MF_API mf_WorldSystemConfig mf_world_system_config(void);

// Adds a system after those of the same phase; at most MF_WORLD_SYSTEM_LIMIT. `reset`, `pending`
// and `destroy` may be NULL. On success the world owns `user`; on failure the caller does.
// MF_BAD_ARGUMENT: a rate above one tick per step.
MF_API mf_Status mf_world_add_system(mf_World *world, const mf_WorldSystemConfig *config,
                                     mf_Error *error);
MF_API uint32_t mf_world_system_count(const mf_World *world);
MF_API const mf_WorldSystemConfig *mf_world_system(const mf_World *world, uint32_t index);

// ---- stepping ----------------------------------------------------------------------------------

// Advances by `steps` physics steps. Never fails and never allocates; robots with invalid states
// raise their fault word. Isolated groups come first, block by block through all steps. Shared
// groups follow step by step: world systems of a phase, then all groups' systems of that phase;
// between two world systems the blocks of all shared groups are one range, distributed over the
// threads. If there are fewer blocks than threads, slow systems of one wave run in parallel.
MF_API void mf_world_step(mf_World *world, uint64_t steps);

// Starts or stops the measurement of the time of each system, by two readings of the computer's
// clock per call. Results do not depend on it.
MF_API void mf_world_measure(mf_World *world, bool on);
// [s] time of a system while it was measured, summed over all threads.
MF_API double mf_group_system_seconds(const mf_Group *group, uint32_t index);
MF_API double mf_world_system_seconds(const mf_World *world, uint32_t index);

// Hash over the state fields of all real instances, groups and fields in order of creation.
MF_API uint64_t mf_world_hash(const mf_World *world);
MF_API uint64_t mf_group_instance_hash(const mf_Group *group, uint32_t instance);

// Snapshot of the whole state: header with version, layout hash and CRC, time, all state fields. A
// restored world continues bit for bit, with any thread count and instruction set.
MF_API size_t mf_world_snapshot_size(const mf_World *world); // [byte]
// MF_BUSY while a world system has results that are not applied yet.
MF_API mf_Status mf_world_snapshot(const mf_World *world, void *image, size_t size,
                                   mf_Error *error);
// On MF_CORRUPT, MF_VERSION or MF_BAD_ARGUMENT the world does not change.
MF_API mf_Status mf_world_restore(mf_World *world, const void *image, size_t size, mf_Error *error);
