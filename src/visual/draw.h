// The inside of drawings and controls (mayfly/draw.h), for servers, films and recordings: each
// layer and control belongs to somebody, has a slot, and a serial number of its last change.
#pragma once

#include <mayfly/draw.h>

// [byte] of the longest record.
#define MF_DRAW_RECORD (sizeof(mf_DrawnRecord) + MF_DRAW_NUMBERS * sizeof(float) + 512)

// Programs of this process; clients of a server have the numbers of their connections.
enum { MF_DRAW_OWN = 0 };

enum {
    MF_DRAW_CLEARED = 15, // kind of a record: its slot is empty
    MF_DRAW_CONTROL = 16  // + mf_ControlKind
};

// What pages, films and recordings get of a slot: this head, `count` floats, name, text (of a
// control: its unit), zeros up to a multiple of 8 bytes. Little-endian. web/src/drawn.ts reads it.
typedef struct mf_DrawnRecord {
    uint32_t size; // [byte] of all of it
    uint32_t slot; // [1]
    uint64_t serial;
    double time; // [s] of the world, of the change
    uint32_t kind;
    uint32_t color;  // 0xrrggbbaa
    float thickness; // [m]
    int32_t robot;   // number in the film; -1: the world
    uint32_t link;   // [1]
    uint32_t count;  // [1] floats; a ghost: a pose of each link; a control: low, high, step, value
    uint32_t name_size, text_size; // [byte]
} mf_DrawnRecord;

mf_Status mf_draw_as(mf_World *world, uint32_t owner, const char *layer, const mf_Drawing *drawing,
                     mf_Error *error);
void mf_draw_clear_as(mf_World *world, uint32_t owner, const char *layer);
mf_Status mf_control_as(mf_World *world, uint32_t owner, uint32_t number, const mf_Control *control,
                        mf_Error *error);
double mf_control_value_as(const mf_World *world, uint32_t owner, uint32_t number);
// Takes a change of a control of the owner, as mf_control_changed; `name` may be NULL.
bool mf_control_take(mf_World *world, uint32_t owner, uint32_t *number, double *value,
                     const char **name);
bool mf_control_waits(const mf_World *world); // some change was not taken yet
// Removes all layers and controls of an owner.
void mf_draw_forget(mf_World *world, uint32_t owner);
// Moves all from one world to another: with `layers`, or only controls.
mf_Status mf_draw_hand_over(mf_World *from, mf_World *to, bool layers, mf_Error *error);

// A layer as it is, or its slot without one: kind MF_DRAW_CLEARED. All is borrowed until the next
// change.
typedef struct mf_DrawnLayer {
    uint64_t serial;
    uint32_t slot, kind, color;
    float thickness;
    const mf_Group *group; // NULL: the world
    uint32_t robot, link;
    const float *numbers;
    uint32_t count;
    const char *name, *text;
} mf_DrawnLayer;
// The oldest change of a layer after `since`; false: there is none.
bool mf_draw_next(const mf_World *world, uint64_t since, mf_DrawnLayer *out);

uint64_t mf_draw_serial(const mf_World *world); // of the last change; 0: nothing was drawn
// The film's number of a robot; < 0: it does not show it.
typedef float (*mf_DrawnNumberFn)(const void *film, const mf_Group *group, uint32_t robot);
// Writes the records of changes after `since`, the oldest first, as many as fit into `capacity`
// [byte]; returns the bytes. *last becomes the serial of the last one. `out` NULL counts all.
size_t mf_draw_pack(const mf_World *world, uint64_t since, mf_DrawnNumberFn number,
                    const void *film, uint8_t *out, size_t capacity, uint64_t *last);
