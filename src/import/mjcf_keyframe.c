// Stored states. Lengths are checked against the whole model; omitted parts are the start position,
// zero velocity, activation and control. Positions keep the values of the file.
#include "import/mjcf_rows.h"

#include "model/assemble.h"

#include "math/scalar.h"

#include <string.h>

#define KEY_LIMIT 10000u // [1]

typedef struct Lengths {
    uint32_t position, velocity, control;
    uint32_t file_control;    // before anything was dropped
    uint32_t file_activation; // with the last controls of those that limit their change
} Lengths;

typedef struct KeyAttributes {
    const char *name;
    double time;
} KeyAttributes;

static Lengths measure(const mf_Mjcf *m) {
    Lengths lengths = {.position = mf_draft_position_count(&m->draft)};
    const mf_Actuator *actuators = m->draft.actuators.items;
    lengths.velocity = m->draft.base_type == MF_BASE_FREE ? 6 : 0;
    for (uint32_t i = 0; i < m->draft.joints.count; i++)
        lengths.velocity += mf_joint_velocities(mf_draft_joints(&m->draft)[i].type);
    for (uint32_t i = 0; i < m->draft.actuators.count; i++) {
        lengths.file_activation +=
            (actuators[i].dynamics != MF_DYNAMICS_NONE) + (actuators[i].slew_limit > 0.0);
    }
    lengths.control = m->draft.actuators.count;
    lengths.file_control = m->actuators.count;
    return lengths;
}

// The numbers of an attribute, as far as it goes, and then those of `standard` (NULL: zeros).
static mf_Status take(mf_Mjcf *m, const mf_XmlNode *node, const char *attribute, uint32_t count,
                      const double *standard, const double **out) {
    double *numbers, *values;
    uint32_t found;
    mf_Status status = mf_mjcf_list(m, node, attribute, &numbers, &found);
    if (status != MF_OK)
        return status;
    if (found > count)
        return mf_mjcf_fail(m, node, "<key> %s: the model has %u, found %u numbers", attribute,
                            count, found);
    if (found > 0 && found < count)
        status = mf_draft_note(
            &m->draft, true, node->line,
            "<key> %s: the model has %u, found %u numbers: the rest is as at the start", attribute,
            count, found);
    values = mf_arena_take(&m->draft.texts, ((size_t)count + 1) * sizeof *values);
    if (status != MF_OK || values == NULL)
        return mf_mjcf_no_memory(m);
    for (uint32_t i = 0; i < count; i++)
        values[i] = i < found ? numbers[i] : standard != NULL ? standard[i] : 0.0;
    *out = values;
    return MF_OK;
}

// Controls of the actuators that were not dropped.
static mf_Status take_controls(mf_Mjcf *m, const mf_XmlNode *node, const Lengths *lengths,
                               const double **out) {
    const uint32_t *slots = mf_mjcf_actuators(m);
    MF_TRY(take(m, node, "ctrl", lengths->file_control, NULL, out));
    double *values = (double *)*out;
    for (uint32_t i = 0; i < lengths->file_control; i++)
        if (slots[i] != MF_NONE) // at most i
            values[slots[i]] = values[i];
    return MF_OK;
}

// Without last controls, which a start resets.
static mf_Status take_activations(mf_Mjcf *m, const mf_XmlNode *node, const Lengths *lengths,
                                  const double **out) {
    const mf_Actuator *actuators = m->draft.actuators.items;
    MF_TRY(take(m, node, "act", lengths->file_activation, NULL, out));
    double *to = (double *)*out;
    const double *from = to;
    for (uint32_t i = 0; i < lengths->control; i++) {
        if (actuators[i].dynamics != MF_DYNAMICS_NONE)
            *to++ = *from++;
        from += actuators[i].slew_limit > 0.0;
    }
    return MF_OK;
}

#define T KeyAttributes
static mf_Status read_key(mf_Mjcf *m, const mf_XmlNode *node, const Lengths *lengths) {
    static const mf_MjcfField fields[] = {TEXT("name", name), NUMBER("time", time),
                                          ELSEWHERE("qpos qvel act ctrl"), NOTED("mpos mquat"),
                                          END};
    KeyAttributes attributes = {0};
    mf_Keyframe key = {0};
    MF_TRY(mf_mjcf_read(m, node, fields, &attributes));
    MF_TRY(take(m, node, "qpos", lengths->position, m->draft.start_position, &key.position));
    MF_TRY(take(m, node, "qvel", lengths->velocity, NULL, &key.velocity));
    bool dropped = lengths->file_control != lengths->control && mf_xml_attribute(node, "act");
    if (dropped)
        return mf_mjcf_refuse(m, node, "act"); // the activations can no longer be assigned
    MF_TRY(take_activations(m, node, lengths, &key.activation));
    MF_TRY(take_controls(m, node, lengths, &key.control));
    key.name = attributes.name;
    key.time = attributes.time;
    return mf_mjcf_add(m, node, MF_ITEM_KEYFRAME, &key, &m->key_names);
}

// Older files reserve keyframes by <size nkey="...">; undefined ones are the start state.
static mf_Status add_empty_keys(mf_Mjcf *m, const Lengths *lengths) {
    MF_XML_EACH (node, m->xml.root, "size") {
        double target = 0.0;
        MF_TRY(mf_xml_numbers(&m->xml, node, "nkey", 1, &target));
        if (target > KEY_LIMIT)
            return mf_xml_fail(&m->xml, node, MF_LIMIT, "<size> nkey: at most %u, found %g",
                               KEY_LIMIT, target);
        const mf_XmlNode empty = {.name = "key",
                                  .text = "",
                                  .file = node->file,
                                  .line = node->line,
                                  .column = node->column};
        while (m->draft.keyframes.count < target)
            MF_TRY(read_key(m, &empty, lengths));
    }
    return MF_OK;
}

mf_Status mf_mjcf_read_keyframes(mf_Mjcf *m) {
    static const char *const known[] = {"key", NULL};
    Lengths lengths = measure(m);
    MF_XML_EACH (section, m->xml.root, "keyframe") {
        MF_TRY(mf_mjcf_only(m, section, known));
        MF_XML_EACH (node, section, "key")
            MF_TRY(read_key(m, node, &lengths));
    }
    return add_empty_keys(m, &lengths);
}
