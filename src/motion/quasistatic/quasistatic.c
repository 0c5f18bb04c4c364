// The host's side of quasi-static trusses: fields, trusses of instances, reset, the row in the
// table.
#include "motion/quasistatic/motion.h"
#include "base/hash.h"
#include "math/kernel_table.h"
#include "math/scalar.h"
#include "model/truss.h"
#include "motion/table.h"
#include "world/attach.h"

#include <string.h>

mf_QuasistaticConfig mf_quasistatic_config(void) {
    return (mf_QuasistaticConfig){.struct_size = sizeof(mf_QuasistaticConfig),
                                  .contacts = true,
                                  .collisions = true,
                                  .samples = 3,
                                  .friction = 0.5,
                                  .stiffness = 1e5,
                                  .grip = 1e4,
                                  .actuator_speed = 0.1,
                                  .tolerance = 1e-6,
                                  .iterations = 500,
                                  .reach = 0.02,
                                  .jump = 0.05};
}

// ---- fields
// --------------------------------------------------------------------------------------

enum { STATE = MF_FIELD_STATE, INPUT = MF_FIELD_STATE | MF_FIELD_INPUT };
enum { PER_ONE, PER_VERTEX, PER_BAR, PER_ACTUATOR, PER_SPOT };

static const struct {
    int per;
    uint32_t most; // [1] elements per one
    mf_FieldInfo info;
} table[MF_TRUSS_ROWS] = {
    [MF_TRUSS_ROW_COUNTS] = {PER_ONE,
                             MF_TRUSS_COUNTS,
                             {"truss.counts", "1", "", MF_U32, MF_FIXED_COUNT, 1, STATE,
                              "vertices, bars, actuators, and the width of the matrix's band"}},
    [MF_TRUSS_ROW_HOME] = {PER_VERTEX,
                           1,
                           {"vertex.home", "m", "body", MF_F64, MF_FIXED_COUNT, 3, STATE,
                            "initial position relative to the center of mass"}},
    [MF_TRUSS_ROW_POSITION] = {PER_VERTEX,
                               1,
                               {"vertex.position", "m", "world", MF_F64, MF_FIXED_COUNT, 3, STATE,
                                "position of each vertex"}},
    [MF_TRUSS_ROW_MASS] = {PER_VERTEX,
                           1,
                           {"vertex.mass", "kg", "", MF_F64, MF_FIXED_COUNT, 1, STATE,
                            "own mass and half of each of its bars"}},
    [MF_TRUSS_ROW_RADIUS] = {PER_VERTEX,
                             1,
                             {"vertex.radius", "m", "", MF_F64, MF_FIXED_COUNT, 1, STATE,
                              "of its thickest bar: where it meets the ground"}},
    [MF_TRUSS_ROW_LOAD] = {PER_VERTEX,
                           1,
                           {"vertex.load", "N", "world", MF_F64, MF_FIXED_COUNT, 3, INPUT,
                            "external force"}},
    [MF_TRUSS_ROW_FIXED] = {PER_VERTEX,
                            1,
                            {"vertex.fixed", "1", "world", MF_U32, MF_FIXED_COUNT, 1, INPUT,
                             "axes along which it is held: bits 0, 1, 2 for x, y, z"}},
    [MF_TRUSS_ROW_ORDER] = {PER_VERTEX,
                            1,
                            {"vertex.order", "1", "", MF_U32, MF_FIXED_COUNT, 1, STATE,
                             "place in the matrix"}},
    [MF_TRUSS_ROW_ENDS] = {PER_BAR,
                           1,
                           {"bar.ends", "1", "", MF_U32, MF_FIXED_COUNT, 2, STATE,
                            "the two vertices of each bar"}},
    [MF_TRUSS_ROW_REST_HOME] = {PER_BAR,
                                1,
                                {"bar.home_length", "m", "", MF_F64, MF_FIXED_COUNT, 1, STATE,
                                 "initial rest length"}},
    [MF_TRUSS_ROW_REST] = {PER_BAR,
                           1,
                           {"bar.rest_length", "m", "", MF_F64, MF_FIXED_COUNT, 1, INPUT,
                            "length without force; actuators change it"}},
    [MF_TRUSS_ROW_RIGIDITY] = {PER_BAR,
                               1,
                               {"bar.rigidity", "N", "", MF_F64, MF_FIXED_COUNT, 1, INPUT,
                                "E A: force per strain"}},
    [MF_TRUSS_ROW_DIAMETER] = {PER_BAR,
                               1,
                               {"bar.diameter", "m", "", MF_F64, MF_FIXED_COUNT, 1, STATE,
                                "of the round bar"}},
    [MF_TRUSS_ROW_FORCE] = {PER_BAR,
                            1,
                            {"bar.force", "N", "", MF_F64, MF_FIXED_COUNT, 1, STATE,
                             "axial force, tension positive"}},
    [MF_TRUSS_ROW_STRESS] = {PER_BAR,
                             1,
                             {"bar.stress", "Pa", "", MF_F64, MF_FIXED_COUNT, 1, STATE,
                              "axial force over the cross section"}},
    [MF_TRUSS_ROW_ACTUATOR] = {PER_ACTUATOR,
                               1,
                               {"actuator.bar", "1", "", MF_U32, MF_FIXED_COUNT, 1, STATE,
                                "the bar that it drives"}},
    [MF_TRUSS_ROW_RANGE] = {PER_ACTUATOR,
                            1,
                            {"actuator.range", "m", "", MF_F64, MF_FIXED_COUNT, 2, STATE,
                             "shortest and longest rest length"}},
    [MF_TRUSS_ROW_COMMAND] = {PER_ACTUATOR,
                              1,
                              {"actuator.control", "m", "", MF_F64, MF_FIXED_COUNT, 1, INPUT,
                               "rest length that it goes to, cut to its range"}},
    [MF_TRUSS_ROW_ANCHOR] = {PER_SPOT,
                             1,
                             {"contact.anchor", "m", "world", MF_F64, MF_FIXED_COUNT, 3, STATE,
                              "where each contact sticks: vertices, then points of bars"}},
    [MF_TRUSS_ROW_CONTACT] = {PER_SPOT,
                              1,
                              {"contact.force", "N", "world", MF_F64, MF_FIXED_COUNT, 3, STATE,
                               "of the ground on each of them"}},
    [MF_TRUSS_ROW_RELAXATION] = {PER_ONE,
                                 3,
                                 {"frame.relaxation", "1", "", MF_F64, MF_FIXED_COUNT, 1, STATE,
                                  "energy [J] against that of the loads at the frame's start, "
                                  "residual over the tolerance [1], longest movement of a vertex "
                                  "[m]"}},
    [MF_TRUSS_ROW_ITERATIONS] = {PER_ONE,
                                 1,
                                 {"frame.iterations", "1", "", MF_U32, MF_FIXED_COUNT, 1, STATE,
                                  "of the last frame"}},
};

static uint32_t count_of(const mf_TrussPlan *plan, int row) {
    const uint32_t per[] = {1, plan->vertices, plan->bars, plan->actuators,
                            mf_truss_contacts(plan)};
    return per[table[row].per] * table[row].most;
}

static mf_Status add_fields(mf_Group *group, mf_TrussMotion *motion, mf_Error *error) {
    mf_Status status = MF_OK;
    mf_canonical_rows(group, motion->body, MF_BODY_ROWS);
    for (int row = 0; row < MF_TRUSS_ROWS && status == MF_OK; row++) {
        if (count_of(&motion->plan, row) > 0)
            status = mf_attach_field(group, &table[row].info, count_of(&motion->plan, row),
                                     &motion->rows[row], error);
    }
    if (status == MF_OK)
        status = mf_attach_warnings(group, &motion->warnings, error);
    return status;
}

static void set(const mf_TrussMotion *motion, int row, uint32_t instance, size_t component,
                double value) {
    mf_field_set(motion->rows[row], instance, (uint32_t)component, value);
}

static double get(const mf_TrussMotion *motion, int row, uint32_t instance, size_t component) {
    return mf_field_get(motion->rows[row], instance, (uint32_t)component);
}

static uint32_t number(const mf_TrussMotion *motion, uint32_t instance, int count) {
    return (uint32_t)get(motion, MF_TRUSS_ROW_COUNTS, instance, (size_t)count);
}

// ---- the truss of an instance
// --------------------------------------------------------------------

static void clear_rows(const mf_TrussMotion *motion, uint32_t instance) {
    for (int row = 0; row < MF_TRUSS_ROWS; row++) {
        const mf_Field *field = motion->rows[row];
        for (uint32_t c = 0; field != NULL && c < field->components; c++)
            mf_field_set((mf_Field *)(uintptr_t)field, instance, c, 0.0);
    }
}

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
    const double pi = 3.14159265358979323846;
    for (uint32_t b = 0; b < truss->bar_count; b++) {
        const mf_TrussBar *bar = &truss->bars[b];
        const double length = mf_truss_rest_length(truss, b), d = bar->diameter;
        const double area = 0.25 * pi * d * d, mass = truss->material.density * area * length;
        set(motion, MF_TRUSS_ROW_REST_HOME, instance, b, length);
        set(motion, MF_TRUSS_ROW_RIGIDITY, instance, b, truss->material.elasticity * area);
        set(motion, MF_TRUSS_ROW_DIAMETER, instance, b, d);
        for (uint32_t e = 0; e < 2; e++) {
            const uint32_t v = bar->ends[e];
            set(motion, MF_TRUSS_ROW_ENDS, instance, 2 * (size_t)b + e, v);
            set(motion, MF_TRUSS_ROW_MASS, instance, v,
                get(motion, MF_TRUSS_ROW_MASS, instance, v) + 0.5 * mass);
            if (get(motion, MF_TRUSS_ROW_RADIUS, instance, v) < 0.5 * d)
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
    clear_rows(motion, instance);
    for (uint32_t i = 0; i < MF_TRUSS_COUNTS; i++)
        set(motion, MF_TRUSS_ROW_COUNTS, instance, i, counts[i]);
    write_vertices(motion, instance, truss, &whole, order);
    write_bars(motion, instance, truss);
}

static mf_Status check_room(const mf_TrussPlan *plan, const mf_Truss *truss, mf_Error *error) {
    if (truss->vertex_count > plan->vertices || truss->bar_count > plan->bars ||
        truss->actuator_count > plan->actuators)
        return mf_fail(
            error, MF_LIMIT,
            "quasistatic: the truss has %u vertices, %u bars and %u actuators, the group "
            "has room for %u, %u and %u",
            truss->vertex_count, truss->bar_count, truss->actuator_count, plan->vertices,
            plan->bars, plan->actuators);
    return MF_OK;
}

// Initial height of the center: the lowest bar touches the ground; trusses that are held, and those
// without ground, are where their file has them.
static void start_position(const mf_TrussMotion *motion, const mf_Truss *truss, double out[3]) {
    const mf_TrussMass whole = mf_truss_mass(truss);
    bool held = !motion->plan.ground;
    for (uint32_t v = 0; v < truss->vertex_count; v++) {
        const bool *fixed = truss->vertices[v].fixed;
        held = held || fixed[0] || fixed[1] || fixed[2];
    }
    memcpy(out, whole.center, 3 * sizeof *out);
    if (held)
        return;
    out[0] = out[1] = 0.0;
    out[2] -= mf_truss_lowest(truss);
}

// ---- stepping
// ------------------------------------------------------------------------------------

typedef struct TrussRun {
    const mf_TrussMotion *motion;
    const mf_SystemRun *run;
} TrussRun;

static void *row_of(const mf_TrussMotion *motion, int row, uint32_t block, uint32_t lane) {
    const mf_Row place = mf_row(motion->rows[row]);
    return mf_row_at(&place, block, lane);
}

static void *body_row(const mf_TrussMotion *motion, int row, uint32_t block, uint32_t lane) {
    const mf_Row place = mf_row(motion->body[row]);
    return mf_row_at(&place, block, lane);
}

// One frame of the lanes from `lane` on, or of this one alone.
static void frame_from(const TrussRun *run, const mf_DispatchUnit *unit, uint32_t lane,
                       bool single) {
    const mf_TrussMotion *m = run->motion;
    const uint32_t block = unit->block;
    const mf_TrussBlock work = {
        .plan = &m->plan,
        .terrain = m->terrain,
        .scratch = unit->scratch,
        .first = block * MF_BLOCK + lane,
        .tick = run->run->tick,
        .inverse_step = 1.0 / mf_time_to_seconds(run->run->step),
        .counts = row_of(m, MF_TRUSS_ROW_COUNTS, block, lane),
        .ends = row_of(m, MF_TRUSS_ROW_ENDS, block, lane),
        .order = row_of(m, MF_TRUSS_ROW_ORDER, block, lane),
        .fixed = row_of(m, MF_TRUSS_ROW_FIXED, block, lane),
        .mass = row_of(m, MF_TRUSS_ROW_MASS, block, lane),
        .radius = row_of(m, MF_TRUSS_ROW_RADIUS, block, lane),
        .load = row_of(m, MF_TRUSS_ROW_LOAD, block, lane),
        .rest = row_of(m, MF_TRUSS_ROW_REST, block, lane),
        .rigidity = row_of(m, MF_TRUSS_ROW_RIGIDITY, block, lane),
        .diameter = row_of(m, MF_TRUSS_ROW_DIAMETER, block, lane),
        .actuator = row_of(m, MF_TRUSS_ROW_ACTUATOR, block, lane),
        .range = row_of(m, MF_TRUSS_ROW_RANGE, block, lane),
        .command = row_of(m, MF_TRUSS_ROW_COMMAND, block, lane),
        .position = row_of(m, MF_TRUSS_ROW_POSITION, block, lane),
        .anchor = row_of(m, MF_TRUSS_ROW_ANCHOR, block, lane),
        .contact = row_of(m, MF_TRUSS_ROW_CONTACT, block, lane),
        .force = row_of(m, MF_TRUSS_ROW_FORCE, block, lane),
        .stress = row_of(m, MF_TRUSS_ROW_STRESS, block, lane),
        .base = body_row(m, 0, block, lane),
        .linear = body_row(m, 2, block, lane),
        .relaxation = row_of(m, MF_TRUSS_ROW_RELAXATION, block, lane),
        .iterations = row_of(m, MF_TRUSS_ROW_ITERATIONS, block, lane),
        .fault = unit->fault + (lane - unit->lane),
        .warnings = mf_warning_rows(&m->warnings, block, lane),
    };
    (single ? m->frame_one : m->frame)(&work);
}

// Whether two lanes have the same numbers in the first components of a row.
static bool same_numbers(const uint32_t *row, uint32_t components, uint32_t one, uint32_t two) {
    for (uint32_t c = 0; c < components; c++)
        if (row[c * MF_BLOCK + one] != row[c * MF_BLOCK + two])
            return false;
    return true;
}

// Whether the trusses of a piece that move have the same bars.
static bool same_bars(const mf_TrussMotion *m, const mf_DispatchUnit *unit) {
    const uint32_t *counts = row_of(m, MF_TRUSS_ROW_COUNTS, unit->block, unit->lane);
    const uint32_t *ends = row_of(m, MF_TRUSS_ROW_ENDS, unit->block, unit->lane);
    const uint32_t *order = row_of(m, MF_TRUSS_ROW_ORDER, unit->block, unit->lane);
    uint32_t first = MF_NONE;
    for (uint32_t lane = 0; lane < m->dispatch.lanes; lane++) {
        if (unit->fault[lane] != 0 || counts[lane] == 0)
            continue;
        if (first == MF_NONE)
            first = lane;
        const uint32_t vertices = counts[first];
        const uint32_t bars = counts[MF_TRUSS_BARS * MF_BLOCK + first];
        if (!same_numbers(counts, MF_TRUSS_COUNTS, first, lane) ||
            !same_numbers(ends, 2 * bars, first, lane) ||
            !same_numbers(order, vertices, first, lane))
            return false;
    }
    return true;
}

// Lanes with different bars would gather what they read, meet the bars of all, and wait for the
// slowest: each alone is faster, with the same bits.
static void frame_lanes(const void *context, const mf_DispatchUnit *unit) {
    const TrussRun *run = context;
    if (unit->single || same_bars(run->motion, unit)) {
        frame_from(run, unit, unit->lane, unit->single);
        return;
    }
    for (uint32_t i = 0; i < run->motion->dispatch.lanes; i++)
        frame_from(run, unit, unit->lane + i, true);
}

static void run_trusses(const mf_SystemRun *run, void *user) {
    const mf_TrussMotion *motion = user;
    const TrussRun trusses = {motion, run};
    mf_dispatch_run(&motion->dispatch, run, frame_lanes, &trusses);
}

// Vertices at home about the base, at rest, without contacts.
static void reset_truss(mf_Group *group, uint32_t instance, void *user) {
    const mf_TrussMotion *motion = user;
    double base[3], q[4];
    (void)group;
    for (uint32_t c = 0; c < 3; c++)
        base[c] = mf_field_get(motion->body[0], instance, c);
    for (uint32_t c = 0; c < 4; c++)
        q[c] = mf_field_get(motion->body[1], instance, c);
    for (uint32_t v = 0; v < number(motion, instance, MF_TRUSS_VERTICES); v++) {
        double home[3], at[3];
        for (uint32_t c = 0; c < 3; c++)
            home[c] = get(motion, MF_TRUSS_ROW_HOME, instance, 3 * (size_t)v + c);
        mf_quat_rotate(at, q, home);
        for (uint32_t c = 0; c < 3; c++)
            set(motion, MF_TRUSS_ROW_POSITION, instance, 3 * (size_t)v + c, base[c] + at[c]);
    }
    for (uint32_t b = 0; b < number(motion, instance, MF_TRUSS_BARS); b++) {
        set(motion, MF_TRUSS_ROW_REST, instance, b,
            get(motion, MF_TRUSS_ROW_REST_HOME, instance, b));
        set(motion, MF_TRUSS_ROW_FORCE, instance, b, 0.0);
        set(motion, MF_TRUSS_ROW_STRESS, instance, b, 0.0);
    }
    for (uint32_t a = 0; a < number(motion, instance, MF_TRUSS_ACTUATORS); a++) {
        const uint32_t bar = (uint32_t)get(motion, MF_TRUSS_ROW_ACTUATOR, instance, a);
        set(motion, MF_TRUSS_ROW_COMMAND, instance, a,
            get(motion, MF_TRUSS_ROW_REST_HOME, instance, bar));
    }
    for (uint32_t c = 0; c < 3 * mf_truss_contacts(&motion->plan); c++) {
        set(motion, MF_TRUSS_ROW_CONTACT, instance, c, 0.0);
        set(motion, MF_TRUSS_ROW_ANCHOR, instance, c, 0.0);
    }
    for (uint32_t c = 0; c < 3; c++)
        set(motion, MF_TRUSS_ROW_RELAXATION, instance, c, 0.0);
    set(motion, MF_TRUSS_ROW_ITERATIONS, instance, 0, 0.0);
}

static void destroy_trusses(mf_Context *context, void *user) {
    mf_TrussMotion *motion = user;
    mf_scratch_destroy(context, motion->dispatch.scratch);
    mf_release(context, motion);
}

mf_Status mf_quasistatic_set(mf_Group *group, uint32_t instance, const mf_Truss *truss,
                             mf_Error *error) {
    mf_TrussMotion *motion = mf_motion_plan(group, &mf_quasistatic_row);
    if (motion == NULL || instance >= mf_group_count(group))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "mf_quasistatic_set: the group has no such truss (instance %u)", instance);
    mf_Status status = mf_truss_check(truss, error);
    if (status == MF_OK)
        status = check_room(&motion->plan, truss, error);
    if (status != MF_OK)
        return status;
    mf_Context *context = mf_world_context(mf_group_world(group));
    uint32_t *room =
        mf_allocate(context, 4 * (size_t)truss->vertex_count + truss->bar_count, sizeof *room);
    if (room == NULL)
        return mf_fail(error, MF_NO_MEMORY, "quasistatic: out of memory");
    const uint32_t width = mf_truss_order(truss, room, room + truss->vertex_count);
    if (width <= motion->plan.width)
        write_truss(motion, instance, truss, room, width);
    else
        status = mf_fail(error, MF_LIMIT,
                         "quasistatic: bars of the truss are %u vertices apart, the group has room "
                         "for %u",
                         width, motion->plan.width);
    mf_release(context, room);
    double start[3];
    start_position(motion, truss, start);
    return status == MF_OK ? mf_group_set_start(group, instance, start, NULL, NULL, error) : status;
}

// ---- adding
// --------------------------------------------------------------------------------------

static mf_Status check_positive(const char *name, double value, const char *unit, mf_Error *error) {
    if (value > 0.0 && value < 1e12)
        return MF_OK;
    return mf_fail(error, MF_BAD_ARGUMENT, "quasistatic.%s: %g %s, need more than 0", name, value,
                   unit);
}

static mf_Status check_settings(const mf_QuasistaticConfig *config, mf_Error *error) {
    const struct {
        const char *name, *unit;
        double value;
    } positive[] = {{"stiffness", "N/m", config->stiffness},
                    {"grip", "N/m", config->grip},
                    {"actuator_speed", "m/s", config->actuator_speed},
                    {"tolerance", "", config->tolerance},
                    {"reach", "m", config->reach},
                    {"jump", "m", config->jump},
                    {"iterations", "", config->iterations}};
    if (config->struct_size != sizeof *config)
        return mf_fail(error, MF_BAD_ARGUMENT, "quasistatic: start from mf_quasistatic_config()");
    for (size_t i = 0; i < sizeof positive / sizeof *positive; i++) {
        mf_Status status =
            check_positive(positive[i].name, positive[i].value, positive[i].unit, error);
        if (status != MF_OK)
            return status;
    }
    if (!(config->friction >= 0.0 && config->friction <= 100.0))
        return mf_fail(error, MF_BAD_ARGUMENT, "quasistatic.friction: %g, need 0 .. 100",
                       config->friction);
    if (!(config->noise >= 0.0 && config->noise <= 1e6))
        return mf_fail(error, MF_BAD_ARGUMENT, "quasistatic.noise: %g N, need 0 .. 1e6",
                       config->noise);
    if (config->method != MF_QUASISTATIC_NEWTON && config->method != MF_QUASISTATIC_GRADIENT)
        return mf_fail(error, MF_BAD_ARGUMENT, "quasistatic.method: no method %d",
                       (int)config->method);
    if (config->samples > 16)
        return mf_fail(error, MF_BAD_ARGUMENT, "quasistatic.samples: %u, need 0 .. 16",
                       config->samples);
    return MF_OK;
}

static mf_Status check_group(const mf_Group *group, const mf_QuasistaticConfig *config,
                             mf_Error *error) {
    const mf_Terrain *terrain = mf_world_config_of(mf_group_world(group))->terrain;
    if (!mf_group_config_of(group)->double_precision)
        return mf_fail(error, MF_UNSUPPORTED,
                       "quasistatic: group %s is in float, need precision: double",
                       mf_group_config_of(group)->name);
    if (config->contacts && terrain->lowest != terrain->highest &&
        terrain->interpolation != MF_BILINEAR)
        return mf_fail(error, MF_UNSUPPORTED,
                       "quasistatic: the ground has steps between its cells, need interpolation: "
                       "bilinear");
    return mf_truss_check(config->truss, error);
}

static uint32_t larger(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

static void fill_plan(mf_TrussPlan *plan, const mf_Group *group,
                      const mf_QuasistaticConfig *config) {
    const mf_WorldConfig *world = mf_world_config_of(mf_group_world(group));
    const mf_Truss *truss = config->truss;
    const double length = mf_vec3_length(world->gravity_direction);
    *plan = (mf_TrussPlan){
        .bytes = sizeof *plan,
        .vertices = larger(truss->vertex_count, config->vertices),
        .bars = larger(truss->bar_count, config->bars),
        .actuators = larger(truss->actuator_count, config->actuators),
        .ground = config->contacts,
        .level = world->terrain->lowest == world->terrain->highest,
        .pairs = config->collisions,
        .descend = config->method == MF_QUASISTATIC_GRADIENT,
        .iterations = config->iterations,
        .height = world->terrain->highest,
        .stiffness = config->stiffness,
        .friction = config->friction,
        .grip = config->grip,
        .tolerance = config->tolerance,
        .reach = config->reach,
        .noise = config->noise,
        .change = config->actuator_speed * mf_time_to_seconds(world->step),
        .yield = truss->material.yield,
        .elasticity = truss->material.elasticity,
        .jump = config->jump,
        .seed = world->seed,
    };
    plan->samples = plan->level ? 0 : config->samples;
    for (int i = 0; i < 3; i++)
        plan->gravity[i] = world->gravity * world->gravity_direction[i] / length;
}

// Room for the band: of the truss itself where there is no room for others, else of any.
static mf_Status find_width(mf_TrussMotion *motion, mf_Context *context, const mf_Truss *truss,
                            mf_Error *error) {
    mf_TrussPlan *plan = &motion->plan;
    uint32_t *room =
        mf_allocate(context, 4 * (size_t)truss->vertex_count + truss->bar_count, sizeof *room);
    if (room == NULL)
        return mf_fail(error, MF_NO_MEMORY, "quasistatic: out of memory");
    plan->width = mf_truss_order(truss, room, room + truss->vertex_count);
    if (plan->vertices > truss->vertex_count || plan->bars > truss->bar_count)
        plan->width = plan->vertices - 1;
    mf_release(context, room);
    return MF_OK;
}

static mf_Status choose_kernel(mf_Group *group, mf_TrussMotion *motion, mf_Error *error) {
    typedef size_t (*RoomFn)(const mf_TrussPlan *);
    static const RoomFn rooms[MF_KERNEL_ROWS][1] = MF_KERNEL_TABLE_DOUBLE(mf_truss_room);
    static const mf_TrussFrameFn frames[MF_KERNEL_ROWS][1] = MF_KERNEL_TABLE_DOUBLE(mf_truss_frame);
    const mf_KernelPick pick = mf_dispatch_kernels(group);
    motion->frame = frames[pick.wide][0];
    motion->frame_one = frames[pick.single][0];
    motion->dispatch = mf_dispatch_bind(group, MF_MOTION_QUASISTATIC);
    return mf_dispatch_make_scratch(group, &motion->dispatch, rooms[pick.wide][0](&motion->plan),
                                    rooms[pick.single][0](&motion->plan), error);
}

static uint64_t hash_plan(const mf_TrussPlan *plan) {
    const double reals[] = {plan->stiffness, plan->friction, plan->grip,
                            plan->tolerance, plan->reach,    plan->noise,
                            plan->change,    plan->yield,    plan->jump};
    const uint32_t counts[] = {plan->vertices,   plan->bars,    plan->actuators,
                               plan->width,      plan->samples, plan->pairs,
                               plan->iterations, plan->ground,  plan->descend};
    uint64_t hash = mf_hash_doubles(MF_HASH_START, reals, sizeof reals / sizeof *reals);
    return mf_hash_bytes(hash, counts, sizeof counts);
}

static mf_Status fill_instances(mf_Group *group, const mf_Truss *truss, mf_Error *error) {
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < mf_group_count(group) && status == MF_OK; i++)
        status = mf_quasistatic_set(group, i, truss, error);
    return status;
}

mf_Status mf_quasistatic_add(mf_Group *group, const mf_QuasistaticConfig *config, mf_Error *error) {
    mf_Status status = mf_motion_begin(group, &mf_quasistatic_row, error);
    if (status == MF_OK && config == NULL)
        status = mf_fail(error, MF_BAD_ARGUMENT, "quasistatic: no truss");
    if (status == MF_OK)
        status = check_settings(config, error);
    if (status == MF_OK)
        status = check_group(group, config, error);
    if (status != MF_OK)
        return status;
    mf_Context *context = mf_world_context(mf_group_world(group));
    mf_TrussMotion *motion = mf_allocate(context, 1, sizeof *motion);
    if (motion == NULL)
        return mf_fail(error, MF_NO_MEMORY, "quasistatic: out of memory");
    motion->config = *config;
    motion->config.truss = NULL;
    motion->terrain = mf_terrain_image(mf_world_config_of(mf_group_world(group))->terrain);
    fill_plan(&motion->plan, group, config);
    status = find_width(motion, context, config->truss, error);
    if (status == MF_OK)
        status = add_fields(group, motion, error);
    if (status == MF_OK)
        status = choose_kernel(group, motion, error);
    if (status == MF_OK)
        status =
            mf_motion_join(group, &mf_quasistatic_row, motion, hash_plan(&motion->plan), error);
    if (status != MF_OK) {
        destroy_trusses(context, motion);
        return status;
    }
    return fill_instances(group, config->truss, error);
}

const mf_QuasistaticConfig *mf_quasistatic_config_of(const mf_Group *group) {
    const mf_TrussMotion *motion = mf_motion_plan(group, &mf_quasistatic_row);
    return motion != NULL ? &motion->config : NULL;
}

// ---- energy
// --------------------------------------------------------------------------------------

// Weight m g z, and k (l - l0)^2 / 2 of bars; frames have no kinetic energy.
static mf_MotionEnergy truss_energy(const mf_Group *group, uint32_t instance) {
    const mf_TrussMotion *motion = mf_motion_plan(group, &mf_quasistatic_row);
    mf_MotionEnergy energy = {0};
    for (uint32_t v = 0; v < number(motion, instance, MF_TRUSS_VERTICES); v++) {
        const double mass = get(motion, MF_TRUSS_ROW_MASS, instance, v);
        for (uint32_t c = 0; c < 3; c++)
            energy.potential -= mass * motion->plan.gravity[c] *
                                get(motion, MF_TRUSS_ROW_POSITION, instance, 3 * (size_t)v + c);
    }
    for (uint32_t b = 0; b < number(motion, instance, MF_TRUSS_BARS); b++) {
        const double force = get(motion, MF_TRUSS_ROW_FORCE, instance, b);
        energy.elastic += 0.5 * force * force * get(motion, MF_TRUSS_ROW_REST, instance, b) /
                          get(motion, MF_TRUSS_ROW_RIGIDITY, instance, b);
    }
    return energy;
}

// No momentum; the center is the base's origin.
static void truss_momentum(const mf_Group *group, uint32_t instance, double center[3],
                           double linear[3], double angular[3]) {
    const mf_Field *position = mf_group_find_field((mf_Group *)(uintptr_t)group, "base.position");
    for (uint32_t c = 0; c < 3; c++) {
        center[c] = mf_field_get(position, instance, c);
        linear[c] = angular[c] = 0.0;
    }
}

// ---- the row in the motion table ----------------------------------------------------------------

static mf_Status add_row(mf_Group *group, const mf_MotionsConfig *config, mf_Error *error) {
    return mf_quasistatic_add(group, &config->quasistatic, error);
}

static void row_defaults(mf_MotionsConfig *config) {
    config->quasistatic = mf_quasistatic_config();
}

static const char *const truss_reads[] = {"vertex.load", "?actuator.control", "bar.rigidity", NULL};
static const char *const truss_writes[] = {"base.position",
                                           "base.linear_velocity",
                                           "vertex.position",
                                           "bar.rest_length",
                                           "bar.force",
                                           "bar.stress",
                                           "?contact.anchor",
                                           "?contact.force",
                                           "frame.relaxation",
                                           "frame.iterations",
                                           "fault.word",
                                           "warning.word",
                                           "warning.steps",
                                           "warning.residual",
                                           NULL};

static const char *const methods[] = {"newton", "gradient", NULL};

#define AT(member) offsetof(mf_MotionsConfig, quasistatic.member)

// clang-format off
static const mf_Key row_keys[] = {
    MF_KEY_GROUP("motion.quasistatic", "trusses: each step is the nearest minimum of the energy"),
    MF_KEY("motion.quasistatic.vertices", MF_KEY_COUNT, 0, "1", "0", 0, MF_TRUSS_MOST, NULL,
           AT(vertices), "room for other trusses; 0: as many as the file's has"),
    MF_KEY("motion.quasistatic.bars", MF_KEY_COUNT, 0, "1", "0", 0, MF_TRUSS_MOST, NULL, AT(bars),
           "room for other trusses; 0: as many as the file's has"),
    MF_KEY("motion.quasistatic.actuators", MF_KEY_COUNT, 0, "1", "0", 0, MF_TRUSS_MOST, NULL,
           AT(actuators), "room for other trusses; 0: as many as the file's has"),
    MF_KEY("motion.quasistatic.collisions", MF_KEY_FLAG, 0, "", "true", 0, 0, NULL, AT(collisions),
           "bars meet bars of the same truss"),
    MF_KEY("motion.quasistatic.samples", MF_KEY_COUNT, 0, "1", "3", 0, 16, NULL, AT(samples),
           "points between a bar's ends that meet a height map"),
    MF_KEY("motion.quasistatic.stiffness", MF_KEY_REAL, MF_KEY_ABOVE, "N/m", "100000", 0, 1e12,
           NULL, AT(stiffness), "of contacts"),
    MF_KEY("motion.quasistatic.grip", MF_KEY_REAL, MF_KEY_ABOVE, "N/m", "10000", 0, 1e12, NULL,
           AT(grip), "stiffness of a sticking contact along the ground"),
    MF_KEY("motion.quasistatic.noise", MF_KEY_REAL, 0, "N", "0", 0, 1e6, NULL, AT(noise),
           "standard deviation of a random force on each axis of each vertex, new in each frame"),
    MF_KEY("motion.quasistatic.actuator_speed", MF_KEY_REAL, MF_KEY_ABOVE, "m/s", "0.1", 0, 1e6,
           NULL, AT(actuator_speed), "fastest change of an actuator"),
    MF_KEY("motion.quasistatic.tolerance", MF_KEY_REAL, MF_KEY_ABOVE, "1", "1e-06", 0, 1, NULL,
           AT(tolerance), "largest force left at a vertex, as a share of the load"),
    MF_KEY("motion.quasistatic.method", MF_KEY_CHOICE, 0, "", "newton", 0, 0, methods, AT(method),
           "the way to the minimum; `gradient`, steepest descent, is for comparisons"),
    MF_KEY("motion.quasistatic.iterations", MF_KEY_COUNT, 0, "1", "500", 1, 1000000, NULL,
           AT(iterations), "most in a frame"),
    MF_KEY("motion.quasistatic.reach", MF_KEY_REAL, MF_KEY_ABOVE, "m", "0.02", 0, 1e3, NULL,
           AT(reach), "longest movement of a vertex in an iteration"),
    MF_KEY("motion.quasistatic.jump", MF_KEY_REAL, MF_KEY_ABOVE, "m", "0.05", 0, 1e6, NULL,
           AT(jump), "a longer movement in a frame raises a warning"),
};
// clang-format on

const mf_MotionRow mf_quasistatic_row = {
    .name = "quasistatic",
    .motion = MF_MOTION_QUASISTATIC,
    .add = add_row,
    .run = run_trusses,
    .reset = reset_truss,
    .destroy = destroy_trusses,
    .reads = truss_reads,
    .writes = truss_writes,
    .any_gravity = true,
    .defaults = row_defaults,
    .common = {.contacts = offsetof(mf_MotionsConfig, quasistatic.contacts),
               .friction = offsetof(mf_MotionsConfig, quasistatic.friction)},
    .keys = row_keys,
    .key_count = sizeof row_keys / sizeof *row_keys,
    .momentum = truss_momentum,
    .energy = truss_energy,
};
