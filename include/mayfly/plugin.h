// Mayfly: plugins, motions and controllers in shared libraries. This header is for both sides: a
// plugin includes it and links nothing of Mayfly, a program loads plugins with it.
// docs/how_to/plugins.md shows both, step by step.
#pragma once

#include <mayfly/motion.h>
#include <mayfly/world.h>

// ---- for plugins -------------------------------------------------------------------------------
//
// A plugin is a shared library with one public symbol, a constant mf_PluginEntry with the name
// MF_PLUGIN_SYMBOL. It declares what the plugin is, which fields it reads and writes and which
// settings it has, and contains its functions. All of it is checked before any function is called.

#define MF_PLUGIN_MAGIC UINT64_C(0x4e49474c50464d1a)
#define MF_PLUGIN_ABI_MAJOR 1u // another one is rejected
#define MF_PLUGIN_ABI_MINOR 0u // a higher one than that of the library is rejected
#define MF_PLUGIN_SYMBOL "mf_plugin_entry"

enum {
    MF_PLUGIN_FIELD_LIMIT = 32,     // [1] fields of a plugin
    MF_PLUGIN_SETTING_LIMIT = 32,   // [1] settings of a plugin
    MF_PLUGIN_TEXT_LIMIT = 255,     // [byte] of each text, without its end
    MF_PLUGIN_VALUES_LIMIT = 262144 // [byte] of all fields of a plugin for a block of robots
};

typedef enum mf_PluginKind {
    MF_PLUGIN_MOTION = 1, // moves robots: writes their state, as a motion
    MF_PLUGIN_CONTROL     // writes inputs, for example joint.target, at its own rate
} mf_PluginKind;

// Supported precisions of a plugin, one bit each.
enum { MF_PLUGIN_FLOAT = 1, MF_PLUGIN_DOUBLE = 2 };

// Access of a plugin to a field.
enum {
    MF_PLUGIN_READ = 1,
    MF_PLUGIN_WRITE = 2, // written values are copied to the group after a check
    MF_PLUGIN_OWN = 4    // own state: added to the group as part of the state, zero at a reset
};

// One field that the plugin uses. A field that is not its own must exist in the group with this
// type, unit, shape and width.
typedef struct mf_PluginField {
    const char *name;    // "joint.target"; own fields: the plugin's name, a dot, their name
    const char *unit;    // "rad"; "1" for pure numbers
    const char *frame;   // "joint"; used for own fields
    mf_FieldType type;   // MF_REAL: the group's width
    mf_FieldShape shape; // MF_PER_INSTANCE, MF_PER_JOINT ...
    uint32_t width;      // [1] components per element, 1 .. 64
    uint32_t count;      // [1] elements of an own field of MF_FIXED_COUNT, up to 4096; else 0
    uint32_t access;     // [1] MF_PLUGIN_READ, _WRITE, _OWN
    const char *about;   // for people, one line
} mf_PluginField;

// A setting that the user may change, by name.
typedef struct mf_PluginSetting {
    const char *name;
    const char *unit;
    const char *about;          // for people, one line
    double usual, lower, upper; // [1] in that unit: default and allowed range
} mf_PluginSetting;

// Functions that give the same bits on every machine, unlike those of the C library.
typedef struct mf_PluginServices {
    uint32_t struct_size; // [byte]
    // Height [m] of the ground at world (x, y) [m]; its unit normal when `normal` is not NULL.
    double (*height)(const mf_Terrain *terrain, double x, double y, double normal[3]);
    // Four words that depend on these arguments alone; `seed` is the world's.
    void (*random)(uint64_t seed, uint32_t instance, uint32_t stream, uint64_t tick,
                   uint32_t out[4]);
    void (*sin_cos)(double angle, double *sine, double *cosine); // [rad]
    double (*atan2)(double y, double x);                         // [rad]
    double (*exp)(double x);
    double (*sqrt)(double x);
} mf_PluginServices;

// Constant data of a group; valid as long as the object of create().
typedef struct mf_PluginSetup {
    uint32_t struct_size; // [byte]
    uint32_t real_size;   // [byte] of the group's numbers: 4 float, 8 double
    uint32_t robots;      // [1] instances of the group
    uint64_t seed;        // [1] of the world
    mf_Time step;         // [ns] of the world
    mf_Time period;       // [ns] between two calls for a robot, rounded down
    double gravity[3];    // [m/s^2] world
    const mf_Model *model;
    const mf_Terrain *terrain;
    const double *settings; // [1] each in its unit, in the plugin's order
    const mf_PluginServices *services;
} mf_PluginSetup;

// A block of robots. `fields[f]` is the block of the plugin's field f: value c of the robot in
// `lane` is at [c * MF_BLOCK + lane], a float or double, int32_t or uint32_t as the field is. It
// is a copy, aligned to 64 bytes and valid during the call; only what was written to the robots of
// `active` in fields with MF_PLUGIN_WRITE is taken over.
typedef struct mf_PluginView {
    uint32_t struct_size;       // [byte]
    uint32_t real_size;         // [byte] 4: float, 8: double
    uint32_t first;             // [1] number of the robot in lane 0
    uint32_t active[MF_BLOCK];  // [1] 1: process this robot; 0: skip it
    uint64_t tick;              // [1] steps done before this one
    mf_Time time;               // [ns] at the beginning of the step
    const uint32_t *components; // [1] per robot, of each field
    void *const *fields;
} mf_PluginView;

typedef struct mf_PluginEntry {
    uint64_t magic;                      // [1] MF_PLUGIN_MAGIC
    uint32_t abi_major, abi_minor;       // [1] MF_PLUGIN_ABI_MAJOR, _MINOR
    uint32_t struct_size;                // [byte] sizeof(mf_PluginEntry)
    uint32_t field_size, setting_size;   // [byte] sizeof(mf_PluginField), (mf_PluginSetting)
    uint32_t setup_size, view_size;      // [byte] sizeof(mf_PluginSetup), (mf_PluginView)
    uint64_t layout;                     // [1] MF_PLUGIN_LAYOUT
    uint32_t kind;                       // [1] mf_PluginKind
    uint32_t widths;                     // [1] MF_PLUGIN_FLOAT, _DOUBLE
    uint32_t any_gravity;                // [1] 1: a motion that supports every direction of gravity
    uint32_t field_count, setting_count; // [1]
    const char *name;                    // [a-z0-9_-]
    const char *version;                 // checked when a snapshot is restored
    const char *about;                   // for people, one line
    const mf_PluginField *fields;
    const mf_PluginSetting *settings;
    // Creates the common data of all calls of one group; NULL: nothing. Returns 0 and sets *self,
    // or another number and a reason of one line in `message`.
    int (*create)(const mf_PluginSetup *setup, void **self, char *message, size_t message_size);
    void (*destroy)(void *self); // NULL: nothing to do
    // Initializes the active robots of a block, after the group and the systems before it have
    // reset theirs; NULL: nothing to do.
    void (*reset)(const mf_PluginSetup *setup, const void *self, const mf_PluginView *view);
    // Moves or controls the active robots of a block. Called from several threads at once for
    // different blocks. All state must be in its own fields, so that snapshots and other threads
    // give the same bits.
    void (*step)(const mf_PluginSetup *setup, const void *self, const mf_PluginView *view);
} mf_PluginEntry;

// A number that changes with the layout of what both sides share.
#define MF_PLUGIN_MIX(hash, value) (((hash) ^ (uint64_t)(value)) * UINT64_C(0x100000001b3))
// All that can be reached from a model.
#define MF_PLUGIN_MODEL_SIZES                                                                      \
    (3 * sizeof(mf_Model) + 5 * sizeof(mf_Link) + 7 * sizeof(mf_Joint) + 11 * sizeof(mf_Point) +   \
     13 * sizeof(mf_Shape) + 17 * sizeof(mf_Mesh) + 19 * sizeof(mf_Sensor) +                       \
     23 * sizeof(mf_Dock) + 29 * sizeof(mf_Note) + 31 * sizeof(mf_Body) + 37 * sizeof(mf_Site) +   \
     41 * sizeof(mf_HeightField) + 43 * sizeof(mf_ContactPair) +                                   \
     47 * sizeof(mf_ContactExclusion) + 53 * sizeof(mf_Tendon) + 59 * sizeof(mf_TendonTerm) +      \
     61 * sizeof(mf_TendonWrap) + 67 * sizeof(mf_Equality) + 71 * sizeof(mf_Actuator) +            \
     73 * sizeof(mf_Keyframe))
#define MF_PLUGIN_LAYOUT                                                                           \
    MF_PLUGIN_MIX(MF_PLUGIN_MIX(MF_PLUGIN_MIX(MF_PLUGIN_MIX(MF_PLUGIN_MIX(MF_HASH_START,           \
                                                                          MF_PLUGIN_MODEL_SIZES),  \
                                                            sizeof(mf_PluginServices)),            \
                                              offsetof(mf_PluginView, fields)),                    \
                                offsetof(mf_PluginSetup, services)),                               \
                  offsetof(mf_PluginEntry, step))

// The first members of an entry, which are the same for all plugins.
#define MF_PLUGIN_HEAD                                                                             \
    .magic = MF_PLUGIN_MAGIC, .abi_major = MF_PLUGIN_ABI_MAJOR, .abi_minor = MF_PLUGIN_ABI_MINOR,  \
    .struct_size = sizeof(mf_PluginEntry), .field_size = sizeof(mf_PluginField),                   \
    .setting_size = sizeof(mf_PluginSetting), .setup_size = sizeof(mf_PluginSetup),                \
    .view_size = sizeof(mf_PluginView), .layout = MF_PLUGIN_LAYOUT

// The symbol itself; the plugin writes `const mf_PluginEntry mf_plugin_entry = {MF_PLUGIN_HEAD,
// ...};`.
extern MF_VISIBLE const mf_PluginEntry mf_plugin_entry;

// One value of a MF_REAL field, in either precision; for speed, access the arrays directly.
static inline double mf_plugin_get(const mf_PluginView *view, uint32_t field, uint32_t component,
                                   uint32_t lane) {
    size_t at = (size_t)component * MF_BLOCK + lane;
    return view->real_size == sizeof(double) ? ((const double *)view->fields[field])[at]
                                             : (double)((const float *)view->fields[field])[at];
}
static inline void mf_plugin_set(const mf_PluginView *view, uint32_t field, uint32_t component,
                                 uint32_t lane, double value) {
    size_t at = (size_t)component * MF_BLOCK + lane;
    if (view->real_size == sizeof(double))
        ((double *)view->fields[field])[at] = value;
    else
        ((float *)view->fields[field])[at] = (float)value;
}

// Messages (mayfly/messages.h) of a plugin that declares their fields: `slots` is the number of its
// field message.out or message.in, `slot` the width that it declares for it, 2 + size / 4, and
// `count` the number of message.out_count or message.in_count; content has slot - 2 words.

// Sends a message to a dock; false: its outbox is full.
static inline bool mf_plugin_send(const mf_PluginView *view, uint32_t slots, uint32_t count,
                                  uint32_t slot, uint32_t dock, uint32_t lane, uint32_t type,
                                  const uint32_t *content) {
    const uint32_t capacity = view->components[slots] / (view->components[count] * slot);
    uint32_t *sent = (uint32_t *)view->fields[count] + (size_t)dock * MF_BLOCK + lane;
    if (*sent >= capacity)
        return false;
    uint32_t *to = (uint32_t *)view->fields[slots] +
                   (size_t)(dock * capacity + (*sent)++) * slot * MF_BLOCK + lane;
    to[0] = 0;
    to[MF_BLOCK] = type;
    for (uint32_t c = 2; c < slot; c++)
        to[(size_t)c * MF_BLOCK] = content[c - 2];
    return true;
}

// Takes the oldest message that arrived at a dock; false: there is none. `ready` is the number of
// the field message.ready. All three fields must be declared for writing.
static inline bool mf_plugin_receive(const mf_PluginView *view, uint32_t slots, uint32_t count,
                                     uint32_t ready, uint32_t slot, uint32_t dock, uint32_t lane,
                                     uint32_t *type, uint32_t *content) {
    const uint32_t capacity = view->components[slots] / (view->components[count] * slot);
    uint32_t *here = (uint32_t *)view->fields[count] + (size_t)dock * MF_BLOCK + lane;
    uint32_t *arrived = (uint32_t *)view->fields[ready] + (size_t)dock * MF_BLOCK + lane;
    uint32_t *from =
        (uint32_t *)view->fields[slots] + (size_t)dock * capacity * slot * MF_BLOCK + lane;
    if (*arrived == 0 || *here == 0 || *here > capacity)
        return false;
    *type = from[MF_BLOCK];
    for (uint32_t c = 2; c < slot; c++)
        content[c - 2] = from[(size_t)c * MF_BLOCK];
    for (uint32_t i = 0; i < *here * slot; i++)
        from[(size_t)i * MF_BLOCK] =
            i + slot < *here * slot ? from[(size_t)(i + slot) * MF_BLOCK] : 0;
    --*here;
    --*arrived;
    return true;
}

// ---- for programs that load plugins ------------------------------------------------------------

typedef struct mf_Plugin mf_Plugin; // a loaded library; stays loaded while a group uses it

// Loads a plugin from `path` (relative: to the working directory, never searched elsewhere) and
// checks its declarations; calls none of its functions. MF_NOT_FOUND: no file. MF_BAD_FILE: not a
// shared library, no entry, or an inconsistent one. MF_VERSION: another magic, ABI, size or layout.
// MF_UNSUPPORTED: all users can write to the file or its folder. Loading runs the library's
// constructors, and its functions can do all that the program can: load only libraries that you
// trust.
MF_API mf_Status mf_plugin_load(mf_Context *context, const char *path, mf_Plugin **out,
                                mf_Error *error);

// Whether files (scenes, archives) that are loaded with `context` may name plugins: no by default,
// because reading a file from others must not run its code, unless the user allows it.
// mf_plugin_load itself always loads, since its caller has named the library.
MF_API void mf_plugins_allow(mf_Context *context, bool allowed);

// Releases the caller's reference; NULL is allowed. Before the context is destroyed.
MF_API void mf_plugin_close(mf_Plugin *plugin);
MF_API const mf_PluginEntry *mf_plugin_describe(const mf_Plugin *plugin);

// A value for a setting.
typedef struct mf_PluginValue {
    const char *name;
    double value; // [1] in the setting's unit
} mf_PluginValue;

typedef struct mf_PluginConfig {
    uint32_t struct_size;         // [byte] set by mf_plugin_config()
    const mf_PluginValue *values; // borrowed during the call; what is not named keeps its default
    uint32_t value_count;         // [1]
    mf_Time budget; // [ns] of wall time that a call may take before it counts as late, > 0;
                    // default 10 ms. Has no effect on what is simulated
} mf_PluginConfig;
// The defaults of mf_PluginConfig: every configuration starts from them.
MF_API mf_PluginConfig mf_plugin_config(void);

// Adds a motion plugin to `group`, for all robots or, if the group has the field motion.level, for
// those whose level is *level: MF_MOTION_OWN for the first plugin, one more for each further one.
// Adds the plugin's own fields and one system. `config` and `level` may be NULL. MF_NOT_FOUND: a
// field or setting that does not exist. MF_BAD_ARGUMENT: a field of another type, unit or shape;
// one that a plugin may not write; a value out of range. MF_UNSUPPORTED: the group's precision, or
// the direction of gravity.
MF_API mf_Status mf_plugin_motion_add(mf_Group *group, mf_Plugin *plugin,
                                      const mf_PluginConfig *config, mf_Motion *level,
                                      mf_Error *error);
// Adds a control plugin for all robots of `group` at `rate`. It may write fields with
// MF_FIELD_INPUT and its own.
MF_API mf_Status mf_plugin_control_add(mf_Group *group, mf_Rate rate, mf_Plugin *plugin,
                                       const mf_PluginConfig *config, mf_Error *error);

// Statistics of a plugin's calls.
typedef struct mf_PluginStatistics {
    uint64_t calls;    // [1]
    uint64_t late;     // [1] over their budget
    mf_Time slowest;   // [ns] wall time
    uint64_t breaches; // [1] violations, which raise MF_FAULT_PLUGIN
    char breach[256];  // description of the first one; "" if none
} mf_PluginStatistics;
// The sum over all groups that use it.
MF_API mf_PluginStatistics mf_plugin_statistics(const mf_Plugin *plugin);
