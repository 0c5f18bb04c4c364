// Mayfly: the table of model fields. Every member of the structures of a model is listed once, with
// its unit, shape, default, MJCF and URDF spelling; hash, defaults, JSON, properties, the Python
// attributes and the plain attributes of MJCF are derived from it. docs/reference/model_fields.md
// shows how to add an attribute.
#pragma once

#include <mayfly/model.h>

// The structures of a model. Those up to MF_ITEM_NOTE are lists of mf_Model.
typedef enum mf_ItemType {
    MF_ITEM_LINK,
    MF_ITEM_JOINT,
    MF_ITEM_BODY,
    MF_ITEM_POINT,
    MF_ITEM_SHAPE,
    MF_ITEM_MESH,
    MF_ITEM_HEIGHT_FIELD,
    MF_ITEM_TEXTURE,
    MF_ITEM_MATERIAL,
    MF_ITEM_SITE,
    MF_ITEM_PAIR,
    MF_ITEM_EXCLUSION,
    MF_ITEM_TENDON,
    MF_ITEM_TENDON_TERM,
    MF_ITEM_TENDON_WRAP,
    MF_ITEM_EQUALITY,
    MF_ITEM_ACTUATOR,
    MF_ITEM_SENSOR,
    MF_ITEM_DOCK,
    MF_ITEM_CAMERA,
    MF_ITEM_KEYFRAME,
    MF_ITEM_NOTE,
    MF_ITEM_FRAME,
    MF_ITEM_SOFTNESS,
    MF_ITEM_SERVO,
    MF_ITEM_MUSCLE,
    MF_ITEM_RATE,
    MF_ITEM_SIGNAL,
    MF_ITEM_CONTACT_QUERY,
    MF_ITEM_PHYSICS,
    MF_ITEM_MODEL,
    MF_ITEM_COUNT
} mf_ItemType;

typedef enum mf_ValueType {
    MF_VALUE_REAL,    // double
    MF_VALUE_SINGLE,  // float
    MF_VALUE_INTEGER, // int32_t
    MF_VALUE_NUMBER,  // uint32_t
    MF_VALUE_INDEX,   // uint32_t: an item of `item`, MF_NONE: none (or the world)
    MF_VALUE_TIME,    // int64_t
    MF_VALUE_FLAG,    // bool
    MF_VALUE_ENUM,    // an enumeration: the index of its name in `names`
    MF_VALUE_TEXT,    // const char *; some may be NULL
    MF_VALUE_ITEM,    // a structure `item`
    MF_VALUE_LIST,    // a pointer to items of the model; `length` says how many there are
    MF_VALUE_REALS,   // a pointer to doubles, likewise
    MF_VALUE_POINTER  // a pointer to anything else
} mf_ValueType;

// How a field is spelled in MJCF.
enum {
    MF_SPELLED_SHORT = 1, // fewer numbers may be given; the others keep their default
    MF_SPELLED_RANGE = 2, // a lower limit: the attribute has this field and the next one
    MF_SPELLED_OTHER = 4  // in another unit or form: importer and exporter have their own code
};

typedef struct mf_ModelField {
    const char *name;  // of the member; also the key in JSON, the property, Python's attribute
    uint32_t type;     // [1] mf_ValueType
    uint32_t offset;   // [byte] in its structure
    uint32_t count;    // [1] values
    uint32_t size;     // [byte] of all of them
    const char *unit;  // of reals and singles, for hinges; "1": pure numbers
    const char *frame; // "world", "body", "joint", "link"; NULL: none
    const char *text;  // one phrase on what it is; NULL when its name says it
    const char *mjcf;  // attribute in MJCF, NULL: none. Of MF_VALUE_ITEM a pattern: "sol%slimit"
    const char *urdf;  // element and attribute in URDF, "limit lower"; NULL: none
    uint32_t spelled;  // [1] MF_SPELLED_ bits
    uint32_t hash;     // [1] 0: not hashed; else its position in the hash, see src/model/hash.c
    mf_ItemType item;  // of MF_VALUE_INDEX, ITEM and LIST
    uint32_t length;   // [byte] for LIST and REALS: offset of the count in mf_Model
    const double *initial;    // [1] or in `unit`: default; NULL: 0, "" or MF_NONE
    uint32_t given;           // [1] numbers there: 1 is for all of them, missing ones are zeros
    const char *const *names; // of MF_VALUE_ENUM, ends with NULL
} mf_ModelField;

typedef struct mf_ItemTable {
    const char *name; // "joint"
    const char *type; // "mf_Joint"
    size_t size;      // [byte] of the structure
    uint32_t count;   // [1] fields
    const mf_ModelField *fields;
} mf_ItemTable;

// The table of a structure; NULL for no mf_ItemType.
MF_API const mf_ItemTable *mf_item_table(mf_ItemType item);

// The model's items of a type as an array, and their number; NULL for a type that is not a list.
MF_API const void *mf_model_items(const mf_Model *model, mf_ItemType item, uint32_t *count);

// Index of the item of that name, or MF_NONE: also for a type that is not a list or has no names.
MF_API uint32_t mf_model_find(const mf_Model *model, mf_ItemType item, const char *name);

// The name of `value` of an enumeration field; "unknown" for a value without one, NULL for another
// field.
MF_API const char *mf_item_enum_name(const mf_ModelField *field, const void *value);
