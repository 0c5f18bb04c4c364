// The truss of an instance: the fields of trusses, filling them from a truss, reset.
#include "motion/truss/motion.h"
#include "base/floats.h"
#include "math/scalar.h"
#include "motion/truss/model.h"
#include "world/attach.h"

#include <string.h>

// ---- fields ------------------------------------------------------------------------------------

enum { STATE = MF_FIELD_STATE, INPUT = MF_FIELD_STATE | MF_FIELD_INPUT };
enum {
    PER_ONE,
    PER_VERTEX,
    PER_BAR,
    PER_ACTUATOR,
    PER_CONTACT_POINT,
    PER_MOVING,
    PER_STILL,
    PER_TRACE,
    PER_TRACED
};

#define FIELD(row, per, most, name, unit, frame, type, components, flags, text)                    \
    [MF_TRUSS_ROW_##                                                                               \
        row] = {per, most, {name, unit, frame, type, MF_FIXED_COUNT, components, flags, text}}
static const struct {
    int per;
    uint32_t most; // [1] elements per one
    mf_FieldInfo info;
} table[MF_TRUSS_ROWS] = {
    FIELD(COUNTS, PER_ONE, MF_TRUSS_COUNTS, "truss.counts", "1", "", MF_U32, 1, STATE,
          "vertices, bars, actuators, and the width of the matrix's band"),
    FIELD(START, PER_ONE, 3, "truss.start", "m", "world", MF_F64, 1, STATE,
          "of the center of mass, where the instance was not moved"),
    FIELD(HOME, PER_VERTEX, 1, "vertex.home", "m", "body", MF_F64, 3, STATE,
          "initial position relative to the center of mass"),
    FIELD(POSITION, PER_VERTEX, 1, "vertex.position", "m", "world", MF_F64, 3, INPUT,
          "position of each vertex"),
    FIELD(MASS, PER_VERTEX, 1, "vertex.mass", "kg", "", MF_F64, 1, STATE,
          "own mass and half of each of its bars"),
    FIELD(RADIUS, PER_VERTEX, 1, "vertex.radius", "m", "", MF_F64, 1, STATE,
          "of its thickest bar: where it touches the ground"),
    FIELD(LOAD, PER_VERTEX, 1, "vertex.load", "N", "world", MF_F64, 3, INPUT, "external force"),
    FIELD(FIXED, PER_VERTEX, 1, "vertex.fixed", "1", "world", MF_U32, 1, INPUT,
          "axes along which it is held: bits 0, 1, 2 for x, y, z"),
    FIELD(ORDER, PER_VERTEX, 1, "vertex.order", "1", "", MF_U32, 1, STATE, "place in the matrix"),
    FIELD(ENDS, PER_BAR, 1, "bar.ends", "1", "", MF_U32, 2, STATE, "the two vertices of each bar"),
    FIELD(REST_HOME, PER_BAR, 1, "bar.home_length", "m", "", MF_F64, 1, STATE,
          "initial rest length"),
    FIELD(REST, PER_BAR, 1, "bar.rest_length", "m", "", MF_F64, 1, INPUT,
          "length without force; actuators change it"),
    FIELD(RIGIDITY, PER_BAR, 1, "bar.rigidity", "N", "", MF_F64, 1, INPUT, "E A: force per strain"),
    FIELD(DIAMETER, PER_BAR, 1, "bar.diameter", "m", "", MF_F64, 1, STATE, "of the round bar"),
    FIELD(FORCE, PER_BAR, 1, "bar.force", "N", "", MF_F64, 1, STATE,
          "axial force, tension positive"),
    FIELD(STRESS, PER_BAR, 1, "bar.stress", "Pa", "", MF_F64, 1, STATE,
          "axial force over the cross section"),
    FIELD(ACTUATOR, PER_ACTUATOR, 1, "actuator.bar", "1", "", MF_U32, 1, STATE,
          "the bar that it drives"),
    FIELD(RANGE, PER_ACTUATOR, 1, "actuator.range", "m", "", MF_F64, 2, STATE,
          "shortest and longest rest length"),
    FIELD(COMMAND, PER_ACTUATOR, 1, "actuator.control", "m", "", MF_F64, 1, INPUT,
          "rest length that it goes to, cut to its range"),
    FIELD(ANCHOR, PER_CONTACT_POINT, 1, "contact.anchor", "m", "world", MF_F64, 3, STATE,
          "where each contact sticks: vertices, then points of bars"),
    FIELD(CONTACT, PER_CONTACT_POINT, 1, "contact.force", "N", "world", MF_F64, 3, STATE,
          "of the ground on each of them"),
    FIELD(STREAM, PER_ONE, 1, "noise.stream", "1", "", MF_U32, 1, INPUT,
          "stream of the random numbers of its noise; at first its number"),
    FIELD(RELAXATION, PER_ONE, 3, "frame.relaxation", "1", "", MF_F64, 1, STATE,
          "energy [J] against that of the loads at the frame's start, residual over the tolerance "
          "[1], longest movement of a vertex [m]"),
    FIELD(ITERATIONS, PER_ONE, 1, "frame.iterations", "1", "", MF_U32, 1, STATE,
          "of the last frame"),
    FIELD(TRACE, PER_TRACE, 1, "frame.trace", "J", "", MF_F64, 1, 0,
          "energy of the last frame before its first iteration and after each"),
    FIELD(TRACED, PER_TRACED, 1, "frame.traced", "1", "", MF_U32, 1, 0,
          "number of energies in frame.trace"),
    FIELD(VELOCITY, PER_MOVING, 1, "vertex.velocity", "m/s", "world", MF_F64, 3, INPUT,
          "velocity of each vertex"),
    FIELD(MOVEMENT, PER_STILL, 1, "vertex.movement", "m", "world", MF_F64, 3, STATE,
          "of each vertex in the last frame, as which the next one begins"),
    FIELD(CHANGE, PER_STILL, 1, "vertex.movement_change", "m", "world", MF_F64, 3, STATE,
          "of vertex.movement from the frame before to the last one"),
};

static uint32_t count_of(const mf_TrussPlan *plan, int row) {
    const uint32_t per[] = {1,
                            plan->vertices,
                            plan->bars,
                            plan->actuators,
                            mf_truss_contacts(plan),
                            plan->dynamic ? plan->vertices : 0,
                            plan->dynamic ? 0 : plan->vertices,
                            plan->trace,
                            plan->trace > 0 ? 1 : 0};
    return per[table[row].per] * table[row].most;
}

mf_Status mf_truss_motion_fields(mf_Group *group, mf_TrussMotion *motion, mf_Error *error) {
    mf_derived_rows(group, motion->body, MF_BODY_ROWS);
    for (int row = 0; row < MF_TRUSS_ROWS; row++)
        if (count_of(&motion->plan, row) > 0)
            MF_TRY(mf_attach_field(group, &table[row].info, count_of(&motion->plan, row),
                                   &motion->rows[row], error));
    return mf_attach_warnings(group, &motion->warnings, error);
}

static void set(const mf_TrussMotion *motion, int row, uint32_t instance, size_t component,
                double value) {
    mf_field_set(motion->rows[row], instance, (uint32_t)component, value);
}

// ---- the truss of an instance ------------------------------------------------------------------

static void write_vertices(const mf_TrussMotion *motion, uint32_t instance, const mf_Truss *truss,
                           const mf_TrussMass *whole, const uint32_t *order) {
    for (uint32_t v = 0; v < motion->plan.vertices; v++)
        set(motion, MF_TRUSS_ROW_ORDER, instance, v, v < truss->vertex_count ? order[v] : v);
    for (uint32_t v = 0; v < truss->vertex_count; v++) {
        const mf_TrussVertex *vertex = &truss->vertices[v];
        uint32_t fixed = 0;
        for (uint32_t i = 0; i < 3; i++) {
            set(motion, MF_TRUSS_ROW_HOME, instance, 3 * (size_t)v + i,
                vertex->position[i] - whole->center[i]);
            set(motion, MF_TRUSS_ROW_LOAD, instance, 3 * (size_t)v + i, vertex->load[i]);
            fixed |= vertex->fixed[i] ? 1u << i : 0;
        }
        set(motion, MF_TRUSS_ROW_FIXED, instance, v, fixed);
        set(motion, MF_TRUSS_ROW_MASS, instance, v, vertex->mass);
    }
}

static void write_bars(const mf_TrussMotion *motion, uint32_t instance, const mf_Truss *truss) {
    for (uint32_t b = 0; b < truss->bar_count; b++) {
        const mf_TrussBar *bar = &truss->bars[b];
        const double length = mf_truss_rest_length(truss, b), d = bar->diameter;
        const double area = 0.25 * MF_PI * d * d, mass = truss->material.density * area * length;
        set(motion, MF_TRUSS_ROW_REST_HOME, instance, b, length);
        set(motion, MF_TRUSS_ROW_RIGIDITY, instance, b, truss->material.elasticity * area);
        set(motion, MF_TRUSS_ROW_DIAMETER, instance, b, d);
        for (uint32_t e = 0; e < 2; e++) {
            const uint32_t v = bar->ends[e];
            set(motion, MF_TRUSS_ROW_ENDS, instance, 2 * (size_t)b + e, v);
            set(motion, MF_TRUSS_ROW_MASS, instance, v,
                mf_truss_get(motion, MF_TRUSS_ROW_MASS, instance, v) + 0.5 * mass);
            if (mf_truss_get(motion, MF_TRUSS_ROW_RADIUS, instance, v) < 0.5 * d)
                set(motion, MF_TRUSS_ROW_RADIUS, instance, v, 0.5 * d);
        }
    }
    for (uint32_t a = 0; a < truss->actuator_count; a++) {
        set(motion, MF_TRUSS_ROW_ACTUATOR, instance, a, truss->actuators[a].bar);
        set(motion, MF_TRUSS_ROW_RANGE, instance, 2 * (size_t)a, truss->actuators[a].lower);
        set(motion, MF_TRUSS_ROW_RANGE, instance, 2 * (size_t)a + 1, truss->actuators[a].upper);
    }
}

static void write_truss(const mf_TrussMotion *motion, uint32_t instance, const mf_Truss *truss,
                        const uint32_t *order, uint32_t width) {
    const uint32_t counts[MF_TRUSS_COUNTS] = {truss->vertex_count, truss->bar_count,
                                              truss->actuator_count, width};
    const mf_TrussMass whole = mf_truss_mass(truss);
    for (int row = 0; row < MF_TRUSS_ROWS; row++)
        mf_field_clear(motion->rows[row], instance);
    for (uint32_t i = 0; i < MF_TRUSS_COUNTS; i++)
        set(motion, MF_TRUSS_ROW_COUNTS, instance, i, counts[i]);
    set(motion, MF_TRUSS_ROW_STREAM, instance, 0, instance);
    write_vertices(motion, instance, truss, &whole, order);
    write_bars(motion, instance, truss);
}

static mf_Status check_capacity(const mf_TrussPlan *plan, const mf_Truss *truss, mf_Error *error) {
    if (truss->vertex_count > plan->vertices || truss->bar_count > plan->bars ||
        truss->actuator_count > plan->actuators)
        return mf_fail(
            error, MF_LIMIT,
            "truss: it has %u vertices, %u bars and %u actuators, the group has space for %u, %u "
            "and %u",
            truss->vertex_count, truss->bar_count, truss->actuator_count, plan->vertices,
            plan->bars, plan->actuators);
    return MF_OK;
}

// ---- setting and reset -------------------------------------------------------------------------

// Initial height of the center: the lowest bar touches the ground; trusses that are held, and those
// without ground, are where their file has them.
static void start_position(const mf_TrussMotion *motion, const mf_Truss *truss, double out[3]) {
    const mf_TrussMass whole = mf_truss_mass(truss);
    bool constrained = !motion->plan.ground;
    for (uint32_t v = 0; v < truss->vertex_count; v++) {
        const bool *fixed = truss->vertices[v].fixed;
        constrained = constrained || fixed[0] || fixed[1] || fixed[2];
    }
    memcpy(out, whole.center, 3 * sizeof *out);
    if (constrained)
        return;
    out[0] = out[1] = 0.0;
    out[2] -= mf_truss_lowest(truss);
}

// Moves the base to the start of the instance's own truss.
static void place_start(const mf_TrussMotion *motion, uint32_t instance, double base[3]) {
    for (uint32_t c = 0; c < 3; c++) {
        const double at = base[c], was = motion->start[c];
        const double own = mf_truss_get(motion, MF_TRUSS_ROW_START, instance, c);
        base[c] = at == was ? own : at + (own - was); // without rounding where it was not moved
        mf_field_set(motion->body[0], instance, c, base[c]);
    }
}

// Vertices at home about the base, with its twist.
static void place_vertices(const mf_TrussMotion *motion, uint32_t instance, bool moves_start) {
    double base[3], q[4], linear[3], rate[3], rotation[3];
    mf_field_read(motion->body[1], instance, 0, 4, q);
    mf_field_read(motion->body[0], instance, 0, 3, base);
    mf_field_read(motion->body[2], instance, 0, 3, linear);
    mf_field_read(motion->body[3], instance, 0, 3, rate);
    if (moves_start)
        place_start(motion, instance, base);
    mf_quat_rotate(rotation, q, rate);
    for (uint32_t v = 0; v < mf_truss_number(motion, instance, MF_TRUSS_VERTICES); v++) {
        double home[3], at[3], speed[3];
        mf_field_read(motion->rows[MF_TRUSS_ROW_HOME], instance, 3 * v, 3, home);
        mf_quat_rotate(at, q, home);
        mf_vec3_cross(speed, rotation, at);
        for (uint32_t c = 0; c < 3; c++) {
            set(motion, MF_TRUSS_ROW_POSITION, instance, 3 * (size_t)v + c, base[c] + at[c]);
            if (motion->plan.dynamic)
                set(motion, MF_TRUSS_ROW_VELOCITY, instance, 3 * (size_t)v + c,
                    linear[c] + speed[c]);
        }
    }
}

void mf_truss_motion_enter(mf_Group *group, uint32_t instance, void *user) {
    mf_Field *velocity = mf_group_find_field(group, "vertex.velocity");
    (void)user;
    mf_field_clear(velocity, instance);
}

// Vertices at home, without contacts.
void mf_truss_motion_reset(mf_Group *group, uint32_t instance, void *user) {
    const mf_TrussMotion *motion = user;
    // Of two motions of a group one moves the start.
    place_vertices(motion, instance, motion == mf_truss_motion_of(group));
    for (uint32_t b = 0; b < mf_truss_number(motion, instance, MF_TRUSS_BARS); b++) {
        set(motion, MF_TRUSS_ROW_REST, instance, b,
            mf_truss_get(motion, MF_TRUSS_ROW_REST_HOME, instance, b));
        set(motion, MF_TRUSS_ROW_FORCE, instance, b, 0.0);
        set(motion, MF_TRUSS_ROW_STRESS, instance, b, 0.0);
    }
    for (uint32_t a = 0; a < mf_truss_number(motion, instance, MF_TRUSS_ACTUATORS); a++) {
        const uint32_t bar = (uint32_t)mf_truss_get(motion, MF_TRUSS_ROW_ACTUATOR, instance, a);
        set(motion, MF_TRUSS_ROW_COMMAND, instance, a,
            mf_truss_get(motion, MF_TRUSS_ROW_REST_HOME, instance, bar));
    }
    for (uint32_t c = 0; c < 3 * mf_truss_contacts(&motion->plan); c++) {
        set(motion, MF_TRUSS_ROW_CONTACT, instance, c, 0.0);
        set(motion, MF_TRUSS_ROW_ANCHOR, instance, c, 0.0);
    }
    for (uint32_t c = 0; c < 3; c++)
        set(motion, MF_TRUSS_ROW_RELAXATION, instance, c, 0.0);
    for (uint32_t c = 0; c < 3 * motion->plan.vertices && !motion->plan.dynamic; c++) {
        set(motion, MF_TRUSS_ROW_MOVEMENT, instance, c, 0.0);
        set(motion, MF_TRUSS_ROW_CHANGE, instance, c, 0.0);
    }
    set(motion, MF_TRUSS_ROW_ITERATIONS, instance, 0, 0.0);
}

static mf_Status put_truss(mf_Group *group, const mf_TrussMotion *motion, uint32_t instance,
                           const mf_Truss *truss, mf_Error *error) {
    mf_Status status = MF_OK;
    MF_TRY(mf_truss_check(truss, error));
    MF_TRY(check_capacity(&motion->plan, truss, error));
    mf_Context *context = mf_world_context(mf_group_world(group));
    uint32_t *order =
        mf_allocate(context, 4 * (size_t)truss->vertex_count + truss->bar_count, sizeof *order);
    MF_NEED_MEMORY(order != NULL, error, "truss");
    const uint32_t width = mf_truss_order(truss, order, order + truss->vertex_count);
    if (width <= motion->plan.width)
        write_truss(motion, instance, truss, order, width);
    else
        status = mf_fail(error, MF_LIMIT,
                         "truss: bars are %u vertices apart, the group has capacity "
                         "for %u",
                         width, motion->plan.width);
    mf_release(context, order);
    return status;
}

// Starts of instances are settings, which a snapshot does not hold: another truss brings its own as
// state.
mf_Status mf_quasistatic_set(mf_Group *group, uint32_t instance, const mf_Truss *truss,
                             mf_Error *error) {
    MF_DEFAULT_FLOATS;
    const mf_TrussMotion *motion = mf_truss_motion_of(group);
    double start[3];
    if (motion == NULL || instance >= mf_group_count(group))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "mf_quasistatic_set: the group has no such truss (instance %u)", instance);
    MF_TRY(put_truss(group, motion, instance, truss, error));
    start_position(motion, truss, start);
    for (uint32_t c = 0; c < 3; c++)
        set(motion, MF_TRUSS_ROW_START, instance, c, start[c]);
    mf_group_reset(group, instance);
    return MF_OK;
}

mf_Status mf_truss_motion_fill(mf_Group *group, mf_TrussMotion *motion, const mf_Truss *truss,
                               mf_Error *error) {
    mf_Status status = MF_OK;
    start_position(motion, truss, motion->start);
    for (uint32_t i = 0; i < mf_group_count(group) && status == MF_OK; i++) {
        status = put_truss(group, motion, i, truss, error);
        for (uint32_t c = 0; c < 3; c++)
            set(motion, MF_TRUSS_ROW_START, i, c, motion->start[c]);
        MF_THEN(status, mf_group_set_start(group, i, motion->start, NULL, NULL, error));
    }
    return status;
}
