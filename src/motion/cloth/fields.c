// The fields of cloths, and their reset.
#include "math/scalar.h"
#include "motion/cloth/motion.h"
#include "world/attach.h"

enum { STATE = MF_FIELD_STATE, INPUT = MF_FIELD_STATE | MF_FIELD_INPUT };
enum { PER_ONE, PER_VERTEX, PER_PIN, PER_ELEMENT, PER_TEARING };

#define FIELD(row, per, name, unit, frame, type, components, flags, text)                          \
    [MF_CLOTH_ROW_##row] = {per, {name, unit, frame, type, MF_FIXED_COUNT, components, flags, text}}
static const struct {
    int per;
    mf_FieldInfo info;
} table[MF_CLOTH_ROWS] = {
    FIELD(POSITION, PER_VERTEX, "vertex.position", "m", "world", MF_REAL, 3, INPUT,
          "position of each vertex"),
    FIELD(VELOCITY, PER_VERTEX, "vertex.velocity", "m/s", "world", MF_REAL, 3, INPUT,
          "velocity of each vertex"),
    FIELD(CONTACTS, PER_ONE, "cloth.contacts", "1", "", MF_U32, 1, STATE,
          "vertices that were pinned or touched something in the last step"),
    FIELD(RESIDUAL, PER_ONE, "cloth.residual", "1", "", MF_REAL, 2, STATE,
          "root mean square of the strain, and of the curvature times the bending length, that the "
          "last substep's pass left over"),
    FIELD(TORN, PER_ELEMENT, "cloth.torn", "1", "", MF_U32, 1, INPUT,
          "of each element of a cloth that tears, an edge of a rectangle or a triangle: 1: torn"),
    FIELD(TEARS, PER_TEARING, "cloth.tears", "1", "", MF_U32, 1, STATE, "elements that are torn"),
    FIELD(PIN, PER_PIN, "pin.vertex", "1", "", MF_U32, 1, INPUT,
          "the vertex that each pin holds; 4294967295: none"),
    FIELD(ANCHOR, PER_PIN, "pin.anchor", "m", "world", MF_REAL, 3, INPUT,
          "where it holds it: the vertex gets there by the end of the step"),
    FIELD(FORCE, PER_PIN, "pin.force", "N", "world", MF_REAL, 3, STATE,
          "of the cloth on what holds it, mean of the last step"),
    FIELD(LINK, PER_PIN, "pin.link", "1", "", MF_U32, 3, INPUT,
          "what each pin moves with: 1 + the number of a group in the world, robot and link; 0: "
          "nothing, pin.anchor is given"),
    FIELD(PIN_POSITION, PER_PIN, "pin.position", "m", "link", MF_REAL, 3, INPUT,
          "where on that link the pin is"),
};

static uint32_t count_of(const mf_ClothPlan *plan, int row) {
    const uint32_t per[] = {1, plan->vertex_count, plan->pin_count, plan->element_count,
                            plan->element_count > 0};
    return per[table[row].per];
}

mf_Status mf_cloth_fields(mf_Group *group, mf_ClothMotion *motion, mf_Error *error) {
    mf_derived_rows(group, motion->body, MF_BODY_ROWS);
    motion->fault = mf_group_find_field(group, "fault.word");
    for (int row = 0; row < MF_CLOTH_ROWS; row++)
        if (count_of(motion->plan, row) > 0)
            MF_TRY(mf_attach_field(group, &table[row].info, count_of(motion->plan, row),
                                   &motion->rows[row], error));
    return mf_attach_warnings(group, &motion->warnings, error);
}

uint32_t mf_cloth_pinned(const mf_ClothMotion *motion, uint32_t instance, uint32_t pin) {
    const double vertex = mf_field_get(motion->rows[MF_CLOTH_ROW_PIN], instance, pin);
    return vertex < motion->plan->vertex_count ? (uint32_t)vertex : MF_NONE;
}

// The base's pose and twist.
typedef struct Base {
    double position[3], rotation[4], linear[3], angular[3];
} Base;

static Base base_of(const mf_ClothMotion *motion, uint32_t instance) {
    Base base;
    double rate[3];
    mf_field_read(motion->body[1], instance, 0, 4, base.rotation);
    mf_field_read(motion->body[0], instance, 0, 3, base.position);
    mf_field_read(motion->body[2], instance, 0, 3, base.linear);
    mf_field_read(motion->body[3], instance, 0, 3, rate);
    mf_quat_rotate(base.angular, base.rotation, rate);
    return base;
}

static void place_vertex(const mf_ClothMotion *motion, uint32_t instance, const Base *base,
                         uint32_t vertex) {
    double at[3], speed[3];
    mf_quat_rotate(at, base->rotation, mf_cloth_home(motion->plan) + 3 * (size_t)vertex);
    mf_vec3_cross(speed, base->angular, at);
    for (uint32_t c = 0; c < 3; c++) {
        mf_field_set(motion->rows[MF_CLOTH_ROW_POSITION], instance, 3 * vertex + c,
                     base->position[c] + at[c]);
        mf_field_set(motion->rows[MF_CLOTH_ROW_VELOCITY], instance, 3 * vertex + c,
                     base->linear[c] + speed[c]);
    }
}

static void reset_pin(const mf_ClothMotion *motion, uint32_t instance, uint32_t pin) {
    const uint32_t *own = mf_cloth_pins(motion->plan);
    mf_field_set(motion->rows[MF_CLOTH_ROW_PIN], instance, pin, own[pin]);
    for (uint32_t c = 0; c < 3; c++) {
        const double at = own[pin] == MF_NONE ? 0.0
                                              : mf_field_get(motion->rows[MF_CLOTH_ROW_POSITION],
                                                             instance, 3 * own[pin] + c);
        mf_field_set(motion->rows[MF_CLOTH_ROW_ANCHOR], instance, 3 * pin + c, at);
        mf_field_set(motion->rows[MF_CLOTH_ROW_FORCE], instance, 3 * pin + c, 0.0);
        mf_field_set(motion->rows[MF_CLOTH_ROW_LINK], instance, 3 * pin + c, 0.0);
        mf_field_set(motion->rows[MF_CLOTH_ROW_PIN_POSITION], instance, 3 * pin + c, 0.0);
    }
}

void mf_cloth_reset(mf_Group *group, uint32_t instance, void *user) {
    const mf_ClothMotion *motion = user;
    const Base base = base_of(motion, instance);
    uint32_t fixed_count = 0;
    (void)group;
    for (uint32_t v = 0; v < motion->plan->vertex_count; v++)
        place_vertex(motion, instance, &base, v);
    for (uint32_t pin = 0; pin < motion->plan->pin_count; pin++) {
        reset_pin(motion, instance, pin);
        fixed_count += mf_cloth_pins(motion->plan)[pin] != MF_NONE;
    }
    mf_field_set(motion->rows[MF_CLOTH_ROW_CONTACTS], instance, 0, fixed_count);
    mf_field_clear(motion->rows[MF_CLOTH_ROW_RESIDUAL], instance);
    mf_field_clear(motion->rows[MF_CLOTH_ROW_TORN], instance);
    mf_field_clear(motion->rows[MF_CLOTH_ROW_TEARS], instance);
}
