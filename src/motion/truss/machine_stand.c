// How a machine is put on the ground: as one rigid body that tips over its lowest vertices, without
// sliding, until its center of mass is above the hull of those on the ground. In a trial
// only parts that move against each other can still fall.
//
// Invariant: the result depends on the positions and the bars alone, to the bit; what stands is
// left as it is, and what was turned stands.
#include "motion/truss/machine.h"

#include "math/scalar.h"

enum { TIPS = 256 }; // [1] most; each lowers the center of mass

#define TOUCHES 1e-6 // [m] height at which a vertex is on the ground, above the rounding of a float
#define ABOVE 1e-5   // [m] distance along the ground at which the center of mass is above a place

typedef struct Body { // over the ground z = 0
    double at[MF_MACHINE_VERTICES][3];
    double center[3];
    uint32_t count;
} Body;

typedef struct Pivot { // the place of the hull of feet that is nearest to the center of mass
    double at[2];
    double offset[2]; // [m] from there to below the center of mass
    double distance;  // [m]
} Pivot;

static bool is_foot(const Body *body, uint32_t v) {
    return body->at[v][2] <= TOUCHES;
}

// The place between two feet that is nearest to the center of mass.
static Pivot pivot_between(const Body *body, uint32_t one, uint32_t two) {
    const double *p = body->at[one], *q = body->at[two], *c = body->center;
    const double x = q[0] - p[0], y = q[1] - p[1], square = x * x + y * y;
    const double along = (c[0] - p[0]) * x + (c[1] - p[1]) * y;
    const double share = square > 0.0 ? mf_clamp(along / square, 0.0, 1.0) : 0.0;
    Pivot pivot = {.at = {p[0] + share * x, p[1] + share * y}};
    pivot.offset[0] = c[0] - pivot.at[0];
    pivot.offset[1] = c[1] - pivot.at[1];
    pivot.distance = mf_sqrt(pivot.offset[0] * pivot.offset[0] + pivot.offset[1] * pivot.offset[1]);
    return pivot;
}

static Pivot nearest_pivot(const Body *body) {
    Pivot best = {.distance = -1.0};
    for (uint32_t one = 0; one < body->count; one++) {
        for (uint32_t two = one; two < body->count && is_foot(body, one); two++) {
            if (!is_foot(body, two))
                continue;
            const Pivot pivot = pivot_between(body, one, two);
            if (best.distance < 0.0 || pivot.distance < best.distance)
                best = pivot;
        }
    }
    return best;
}

// Whether the center of mass is above the hull of the feet: some foot is on its side of the line
// through the pivot.
static bool stands(const Body *body, const Pivot *pivot) {
    if (pivot->distance <= ABOVE)
        return true;
    for (uint32_t v = 0; v < body->count; v++) {
        const double x = body->at[v][0] - pivot->at[0], y = body->at[v][1] - pivot->at[1];
        if (is_foot(body, v) &&
            x * pivot->offset[0] + y * pivot->offset[1] > TOUCHES * pivot->distance)
            return true;
    }
    return false;
}

// Turns a point about the pivot by the angle with this cosine and sine, down along its way.
static void rotate_point(double at[3], const Pivot *pivot, const double direction[2], double cosine,
                         double sine) {
    const double along =
        (at[0] - pivot->at[0]) * direction[0] + (at[1] - pivot->at[1]) * direction[1];
    const double height = at[2], angle = along * cosine + height * sine;
    for (int i = 0; i < 2; i++)
        at[i] += (angle - along) * direction[i];
    at[2] = height * cosine - along * sine;
}

// Tips the body over the pivot until the next vertex is on the ground; false where there is none.
static bool tip(Body *body, const Pivot *pivot) {
    const double direction[2] = {pivot->offset[0] / pivot->distance,
                                 pivot->offset[1] / pivot->distance};
    double cosine = -1.0, sine = 0.0;
    for (uint32_t v = 0; v < body->count; v++) {
        const double *at = body->at[v];
        const double along =
            (at[0] - pivot->at[0]) * direction[0] + (at[1] - pivot->at[1]) * direction[1];
        const double far = mf_sqrt(along * along + at[2] * at[2]);
        if (is_foot(body, v) || along / far <= cosine)
            continue;
        cosine = along / far;
        sine = at[2] / far;
    }
    if (cosine <= -1.0)
        return false;
    for (uint32_t v = 0; v < body->count; v++)
        rotate_point(body->at[v], pivot, direction, cosine, sine);
    rotate_point(body->center, pivot, direction, cosine, sine);
    return true;
}

static void load_body(const mf_Machine *machine, Body *body) {
    const mf_Truss truss = mf_machine_truss(machine);
    const mf_TrussMass mass = mf_truss_mass(&truss);
    double lowest = machine->vertices[0].position[2];
    body->count = machine->vertex_count;
    for (uint32_t v = 0; v < body->count; v++) {
        mf_vec3_copy(body->at[v], machine->vertices[v].position);
        lowest = body->at[v][2] < lowest ? body->at[v][2] : lowest;
    }
    mf_vec3_copy(body->center, mass.center);
    for (uint32_t v = 0; v < body->count; v++)
        body->at[v][2] -= lowest;
    body->center[2] -= lowest;
}

// As a genome keeps it. GCC 12 leaves the rounding out where it converts two values at once, but
// for volatile ones.
static double round_to_float(double value) {
    const volatile float rounded = (float)value;
    return rounded;
}

void mf_machine_stand(mf_Machine *machine) {
    Body body;
    bool tipped = false;
    if (machine == NULL || machine->vertex_count == 0)
        return;
    load_body(machine, &body);
    for (int i = 0; i < TIPS; i++) {
        const Pivot pivot = nearest_pivot(&body);
        if (stands(&body, &pivot) || !tip(&body, &pivot))
            break;
        tipped = true;
    }
    if (!tipped)
        return;
    for (uint32_t v = 0; v < body.count; v++) {
        for (int i = 0; i < 3; i++)
            machine->vertices[v].position[i] = round_to_float(body.at[v][i]);
    }
    for (uint32_t a = 0; a < machine->actuator_count; a++) { // lengths have changed by rounding
        const mf_TrussActuator *actuator = &machine->actuators[a];
        mf_machine_set_stroke(machine, a, round_to_float(actuator->upper - actuator->lower));
    }
}
