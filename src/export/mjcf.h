// Common code of the MJCF writer: the document, attributes, names of elements.
#pragma once

#include "base/text.h"

#include "math/scalar.h"
#include "model/mounted.h"

#include <mayfly/texture.h>

typedef struct mf_MjcfWriter {
    const mf_Model *model;
    const char *path; // where it goes
    mf_Text text;
    mf_Status status; // of files outside of the text
    mf_Error *error;
} mf_MjcfWriter;

static inline void put(mf_MjcfWriter *w, const char *text) {
    mf_text_put(&w->text, text);
}

static inline void number(mf_MjcfWriter *w, const char *name, double value) {
    mf_text_format(&w->text, " %s=\"%.17g\"", name, value);
}

static inline void numbers(mf_MjcfWriter *w, const char *name, const double *values,
                           uint32_t count) {
    mf_text_format(&w->text, " %s=\"", name);
    for (uint32_t i = 0; i < count; i++)
        mf_text_format(&w->text, "%s%.17g", i ? " " : "", values[i]);
    put(w, "\"");
}

static inline void integer(mf_MjcfWriter *w, const char *name, long value) {
    mf_text_format(&w->text, " %s=\"%ld\"", name, value);
}

static inline void flag(mf_MjcfWriter *w, const char *name, bool value) {
    mf_text_format(&w->text, " %s=\"%s\"", name, value ? "true" : "false");
}

static inline void write_name(mf_MjcfWriter *w, const char *name, const char *value) {
    mf_text_format(&w->text, " %s=\"", name);
    mf_text_escape(&w->text, value);
    put(w, "\"");
}

static inline void name(mf_MjcfWriter *w, const char *value) {
    if (value != NULL && *value != '\0')
        write_name(w, "name", value);
}

static inline void indent(mf_MjcfWriter *w, uint32_t level) {
    for (uint32_t i = 0; i < level; i++)
        put(w, "  ");
}

// Writes the attributes of the table of model fields, from one member of the structure to another
// one in the order of the table.
void mf_mjcf_attributes(mf_MjcfWriter *w, mf_ItemType item, const void *values, const char *first,
                        const char *last);

// Elements refer to each other by name, so elements without a name get a unique one; MF_NONE: the
// world.
void mf_mjcf_reference(mf_MjcfWriter *w, const char *attribute, mf_ItemType item, uint32_t index);

// The parts of the document, each in its file. mf_mjcf_put_extensions names the plugins of the
// actuators, which must be first in MJCF.
void mf_mjcf_put_bodies(mf_MjcfWriter *w);
void mf_mjcf_put_extensions(mf_MjcfWriter *w);
void mf_mjcf_put_actuators(mf_MjcfWriter *w);
void mf_mjcf_put_sensors(mf_MjcfWriter *w);
void mf_mjcf_put_texts(mf_MjcfWriter *w); // what MJCF has no elements or attributes for
// Those of a body; MF_NONE: the world.
void mf_mjcf_put_cameras(mf_MjcfWriter *w, uint32_t body, uint32_t level);

// The first body of the link of a frame, and the frame in it; MF_NONE: there is none.
uint32_t mf_mjcf_pose(const mf_Model *model, const mf_Frame *frame, double position[3],
                      double rotation[4]);

// Rejects models with sensors of cameras or of geoms that are not part of the model.
mf_Status mf_mjcf_check_sensors(const mf_Model *model, mf_Error *error);
