// Trusses: materials, checks, mass by theory, an order of the vertices for band matrices.
#include "motion/truss/model.h"
#include "model/draft.h"
#include "model/points.h"
#include "math/scalar.h"
#include "model/neurons.h"
#include "base/floats.h"
#include "base/plain.h"

#include <math.h>
#include <string.h>

// ---- materials ---------------------------------------------------------------------------------

// Golem: Lipson and Pollack (2000), their simulator's page. The others: usual values of handbooks
// for bars without notches, at room temperature.
static const struct {
    const char *name;
    mf_TrussMaterial material;
} materials[] = {
    {"golem", {0.896e9, 1000, 19e6}},  {"steel", {210e9, 7850, 235e6}},
    {"aluminum", {69e9, 2700, 240e6}}, {"abs", {2.1e9, 1040, 35e6}},
    {"pla", {3.3e9, 1240, 50e6}},      {"nylon", {1.7e9, 1010, 45e6}},
};
enum { MATERIALS = sizeof materials / sizeof *materials };

mf_TrussMaterial mf_truss_material(void) {
    return materials[0].material;
}

bool mf_truss_material_find(const char *name, mf_TrussMaterial *out) {
    for (int i = 0; name != NULL && out != NULL && i < MATERIALS; i++) {
        if (strcmp(name, materials[i].name) == 0) {
            *out = materials[i].material;
            return true;
        }
    }
    return false;
}

const char *mf_truss_material_name(const mf_TrussMaterial *material) {
    for (int i = 0; i < MATERIALS; i++)
        if (memcmp(&materials[i].material, material, sizeof *material) == 0)
            return materials[i].name;
    return NULL;
}

// ---- geometry ----------------------------------------------------------------------------------

static double span_of(const mf_Truss *truss, uint32_t bar, double direction[3]) {
    const mf_TrussBar *b = &truss->bars[bar];
    const double *from = truss->vertices[b->ends[0]].position;
    const double *to = truss->vertices[b->ends[1]].position;
    double square = 0.0;
    for (int i = 0; i < 3; i++) {
        direction[i] = to[i] - from[i];
        square += direction[i] * direction[i];
    }
    const double length = sqrt(square);
    for (int i = 0; i < 3; i++)
        direction[i] /= length > 0.0 ? length : 1.0;
    return length;
}

double mf_truss_rest_length(const mf_Truss *truss, uint32_t bar) {
    double direction[3];
    return truss->bars[bar].rest_length > 0.0 ? truss->bars[bar].rest_length
                                              : span_of(truss, bar, direction);
}

double mf_truss_cycle(const mf_Truss *truss) {
    return truss->cycle > 0.0 ? truss->cycle : 0.2;
}

double mf_truss_change(const mf_Truss *truss) {
    return truss->change > 0.0 ? truss->change : 0.01;
}

double mf_truss_lowest(const mf_Truss *truss) {
    double lowest = truss->vertices[0].position[2];
    for (uint32_t v = 1; v < truss->vertex_count; v++) {
        const double z = truss->vertices[v].position[2];
        lowest = z < lowest ? z : lowest;
    }
    for (uint32_t b = 0; b < truss->bar_count; b++) {
        for (int e = 0; e < 2; e++) {
            const mf_TrussBar *bar = &truss->bars[b];
            const double z = truss->vertices[bar->ends[e]].position[2] - 0.5 * bar->diameter;
            lowest = z < lowest ? z : lowest;
        }
    }
    return lowest;
}

static double area_of(const mf_TrussBar *bar) {
    return 0.25 * MF_PI * bar->diameter * bar->diameter;
}

double mf_truss_euler_load(const mf_Truss *truss, uint32_t bar) {
    MF_DEFAULT_FLOATS;
    if (truss == NULL || bar >= truss->bar_count)
        return 0.0;
    const double d = truss->bars[bar].diameter;
    const double length = mf_truss_rest_length(truss, bar);
    return MF_PI * MF_PI * truss->material.elasticity * (MF_PI * d * d * d * d / 64.0) /
           (length * length);
}

// ---- checks ------------------------------------------------------------------------------------

static mf_Status check_material(const mf_TrussMaterial *material, mf_Error *error) {
    MF_NEED(material->elasticity > 0.0 && material->elasticity <= 1e13, error,
            "material.elasticity: %g Pa, need more than 0 and at most 1e13", material->elasticity);
    const mf_Range ranges[] = {{"density", "kg/m^3", material->density, 0, 1e6},
                               {"yield", "Pa", material->yield, 0, 1e13}};
    return mf_ranges_check("material", ranges, sizeof ranges / sizeof *ranges, error);
}

static mf_Status check_vertex(const mf_Truss *truss, uint32_t index, mf_Error *error) {
    const mf_TrussVertex *vertex = &truss->vertices[index];
    for (int i = 0; i < 3; i++) {
        MF_NEED(mf_between(vertex->position[i], -1e4, 1e4), error,
                "vertices[%u].position: %g m, need -1e4 .. 1e4", index, vertex->position[i]);
        MF_NEED(mf_between(vertex->load[i], -1e9, 1e9), error,
                "vertices[%u].load: %g N, need -1e9 .. 1e9", index, vertex->load[i]);
    }
    MF_NEED(mf_between(vertex->mass, 0.0, 1e6), error, "vertices[%u].mass: %g kg, need 0 .. 1e6",
            index, vertex->mass);
    return MF_OK;
}

static mf_Status check_bar(const mf_Truss *truss, uint32_t index, mf_Error *error) {
    const mf_TrussBar *bar = &truss->bars[index];
    for (int i = 0; i < 2; i++) {
        if (bar->ends[i] >= truss->vertex_count)
            return mf_fail(error, MF_BAD_ARGUMENT,
                           "bars[%u].ends: no vertex %u, the truss has %u (0 .. %u)", index,
                           bar->ends[i], truss->vertex_count, truss->vertex_count - 1);
    }
    if (bar->ends[0] == bar->ends[1])
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "bars[%u].ends: both are vertex %u, need two different ones", index,
                       bar->ends[0]);
    MF_NEED(bar->diameter > 0.0 && bar->diameter <= 100.0, error,
            "bars[%u].diameter: %g m, need more than 0 and at most 100", index, bar->diameter);
    MF_NEED(bar->rest_length == 0.0 || mf_between(bar->rest_length, 1e-5, 1e4), error,
            "bars[%u].rest_length: %g m, need 1e-5 .. 1e4, or 0 for the distance of its "
            "ends",
            index, bar->rest_length);
    if (mf_truss_rest_length(truss, index) < 1e-5)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "bars[%u].ends: vertices %u and %u coincide, and the bar has no "
                       "rest_length",
                       index, bar->ends[0], bar->ends[1]);
    return MF_OK;
}

// Bars between the same vertices, found in one pass over the bars of each vertex's first end.
static mf_Status check_twice(const mf_Truss *truss, mf_Error *error) {
    for (uint32_t b = 1; b < truss->bar_count; b++) {
        const uint32_t *ends = truss->bars[b].ends;
        for (uint32_t other = 0; other < b; other++) {
            const uint32_t *same = truss->bars[other].ends;
            MF_NEED((same[0] != ends[0] || same[1] != ends[1]) &&
                        (same[0] != ends[1] || same[1] != ends[0]),
                    error, "bars[%u].ends: bars[%u] connects vertices %u and %u already", b, other,
                    ends[0], ends[1]);
        }
    }
    return MF_OK;
}

static mf_Status check_actuator(const mf_Truss *truss, uint32_t index, mf_Error *error) {
    const mf_TrussActuator *actuator = &truss->actuators[index];
    if (actuator->bar >= truss->bar_count)
        return mf_fail(error, MF_BAD_ARGUMENT, "actuators[%u].bar: no bar %u, the truss has %u",
                       index, actuator->bar, truss->bar_count);
    for (uint32_t other = 0; other < index; other++) {
        if (truss->actuators[other].bar == actuator->bar)
            return mf_fail(error, MF_BAD_ARGUMENT,
                           "actuators[%u].bar: actuators[%u] drives bar %u already", index, other,
                           actuator->bar);
    }
    if (!(actuator->lower >= 1e-5 && actuator->upper >= actuator->lower && actuator->upper <= 1e4))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "actuators[%u].range: %g .. %g m, need 1e-5 .. 1e4, the lower first", index,
                       actuator->lower, actuator->upper);
    MF_NEED(actuator->neuron == MF_NONE || actuator->neuron < truss->neuron_count, error,
            "actuators[%u].neuron: no neuron %u, the truss has %u", index, actuator->neuron,
            truss->neuron_count);
    return MF_OK;
}

static mf_Status check_counts(const mf_Truss *truss, mf_Error *error) {
    if (truss->vertex_count == 0 || truss->vertices == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "vertices: none, need at least one");
    MF_CHECK(truss->vertex_count <= MF_TRUSS_MOST, error, MF_LIMIT, "vertices: %u, at most %u",
             truss->vertex_count, MF_TRUSS_MOST);
    if (truss->bar_count > MF_TRUSS_MOST)
        return mf_fail(error, MF_LIMIT, "bars: %u, at most %u", truss->bar_count, MF_TRUSS_MOST);
    if ((truss->bar_count > 0 && truss->bars == NULL) ||
        (truss->actuator_count > 0 && truss->actuators == NULL))
        return mf_fail(error, MF_BAD_ARGUMENT, "bars, actuators: NULL with a count");
    return MF_OK;
}

static mf_Status check_times(const mf_Truss *truss, mf_Error *error) {
    MF_NEED(mf_between(truss->cycle, 0.0, 1e3) && mf_between(truss->delay, 0.0, 1e4), error,
            "cycle, delay: %g s, %g s, need 0 .. 1e3 and 0 .. 1e4", truss->cycle, truss->delay);
    if (!mf_between(truss->change, 0.0, 1e4))
        return mf_fail(error, MF_BAD_ARGUMENT, "change: %g m, need 0 .. 1e4", truss->change);
    return MF_OK;
}

mf_Status mf_truss_check(const mf_Truss *truss, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(truss != NULL, error, "truss: NULL");
    MF_TRY(check_counts(truss, error));
    MF_TRY(check_times(truss, error));
    MF_TRY(check_material(&truss->material, error));
    for (uint32_t v = 0; v < truss->vertex_count; v++)
        MF_TRY(check_vertex(truss, v, error));
    for (uint32_t b = 0; b < truss->bar_count; b++)
        MF_TRY(check_bar(truss, b, error));
    MF_TRY(check_twice(truss, error));
    for (uint32_t a = 0; a < truss->actuator_count; a++)
        MF_TRY(check_actuator(truss, a, error));
    return mf_neurons_check(truss->neurons, truss->neuron_count, truss->synapses,
                            truss->synapse_count, error);
}

// ---- mass --------------------------------------------------------------------------------------

// Adds a body with the moments `along` about the direction and `across` about the others, at `from`
// the center of all.
static void add_inertia(double out[6], double mass, const double from[3], const double direction[3],
                        double along, double across) {
    const double square = from[0] * from[0] + from[1] * from[1] + from[2] * from[2];
    static const int rows[6] = {0, 1, 2, 0, 0, 1}, columns[6] = {0, 1, 2, 1, 2, 2};
    for (int i = 0; i < 6; i++) {
        const int r = rows[i], c = columns[i];
        const double unit = r == c ? 1.0 : 0.0;
        out[i] += mass * (unit * square - from[r] * from[c]) + unit * across +
                  (along - across) * direction[r] * direction[c];
    }
}

static double bar_mass(const mf_Truss *truss, uint32_t bar, double middle[3]) {
    const mf_TrussBar *b = &truss->bars[bar];
    for (int i = 0; i < 3; i++)
        middle[i] = 0.5 * (truss->vertices[b->ends[0]].position[i] +
                           truss->vertices[b->ends[1]].position[i]);
    return truss->material.density * area_of(b) * mf_truss_rest_length(truss, bar);
}

mf_TrussMass mf_truss_mass(const mf_Truss *truss) {
    MF_DEFAULT_FLOATS;
    mf_TrussMass sum = {0};
    double middle[3];
    if (truss == NULL || truss->vertex_count == 0)
        return sum;
    for (uint32_t b = 0; b < truss->bar_count; b++) {
        const double mass = bar_mass(truss, b, middle);
        sum.mass += mass;
        for (int i = 0; i < 3; i++)
            sum.center[i] += mass * middle[i];
    }
    for (uint32_t v = 0; v < truss->vertex_count; v++) {
        sum.mass += truss->vertices[v].mass;
        for (int i = 0; i < 3; i++)
            sum.center[i] += truss->vertices[v].mass * truss->vertices[v].position[i];
    }
    for (int i = 0; i < 3; i++)
        sum.center[i] = sum.mass > 0.0 ? sum.center[i] / sum.mass : truss->vertices[0].position[i];
    for (uint32_t b = 0; b < truss->bar_count; b++) {
        const double mass = bar_mass(truss, b, middle), radius = 0.5 * truss->bars[b].diameter;
        double direction[3];
        const double length = span_of(truss, b, direction);
        for (int i = 0; i < 3; i++)
            middle[i] -= sum.center[i];
        add_inertia(sum.inertia, mass, middle, direction, 0.5 * mass * radius * radius,
                    mass * (3.0 * radius * radius + length * length) / 12.0);
    }
    for (uint32_t v = 0; v < truss->vertex_count; v++) {
        double from[3];
        for (int i = 0; i < 3; i++)
            from[i] = truss->vertices[v].position[i] - sum.center[i];
        add_inertia(sum.inertia, truss->vertices[v].mass, from, from, 0.0, 0.0);
    }
    return sum;
}

// ---- order -------------------------------------------------------------------------------------

typedef struct Graph { // the bars of each vertex, one list behind the other
    const mf_Truss *truss;
    uint32_t *degree, *queue;
} Graph;

// Of the vertices that have no place yet the one with the fewest bars; the lowest number of equals.
static uint32_t next_root(const Graph *g, const uint32_t *order) {
    uint32_t root = MF_NONE;
    for (uint32_t v = 0; v < g->truss->vertex_count; v++) {
        if (order[v] == MF_NONE && (root == MF_NONE || g->degree[v] < g->degree[root]))
            root = v;
    }
    return root;
}

// Appends the neighbors of `vertex` without a place, those with fewer bars first.
static uint32_t append_neighbors(const Graph *g, uint32_t vertex, uint32_t *order, uint32_t count) {
    const uint32_t first = count;
    for (uint32_t b = 0; b < g->truss->bar_count; b++) {
        const uint32_t *ends = g->truss->bars[b].ends;
        if (ends[0] != vertex && ends[1] != vertex)
            continue;
        const uint32_t other = ends[0] == vertex ? ends[1] : ends[0];
        if (order[other] != MF_NONE)
            continue;
        uint32_t at = count++;
        for (; at > first &&
               (g->degree[g->queue[at - 1]] > g->degree[other] ||
                (g->degree[g->queue[at - 1]] == g->degree[other] && g->queue[at - 1] > other));
             at--)
            g->queue[at] = g->queue[at - 1];
        g->queue[at] = other;
        order[other] = 0; // no longer without a place
    }
    return count;
}

uint32_t mf_truss_order(const mf_Truss *truss, uint32_t *order, uint32_t *scratch) {
    const uint32_t vertices = truss->vertex_count;
    const Graph g = {truss, scratch, scratch + vertices};
    memset(g.degree, 0, vertices * sizeof *g.degree);
    for (uint32_t b = 0; b < truss->bar_count; b++) {
        g.degree[truss->bars[b].ends[0]]++;
        g.degree[truss->bars[b].ends[1]]++;
    }
    for (uint32_t v = 0; v < vertices; v++)
        order[v] = MF_NONE;
    uint32_t count = 0;
    for (uint32_t next = 0; next < vertices; next++) {
        if (next == count) {
            const uint32_t root = next_root(&g, order);
            order[root] = 0;
            g.queue[count++] = root;
        }
        count = append_neighbors(&g, g.queue[next], order, count);
    }
    for (uint32_t i = 0; i < vertices; i++)
        order[g.queue[i]] = vertices - 1 - i;
    uint32_t width = 0;
    for (uint32_t b = 0; b < truss->bar_count; b++) {
        const uint32_t one = order[truss->bars[b].ends[0]], two = order[truss->bars[b].ends[1]];
        const uint32_t apart = one > two ? one - two : two - one;
        width = apart > width ? apart : width;
    }
    return width;
}

// ---- the model of a group -----------------------------------------------------------------------

// One link with its mass about its center, and a point below it where it stands.
static bool fill(mf_Draft *draft, const mf_Truss *truss, const mf_TrussMass *whole) {
    mf_MassProperties mass = {.mass = whole->mass};
    memcpy(mass.inertia, whole->inertia, sizeof mass.inertia);
    const double foot[3] = {0.0, 0.0, mf_truss_lowest(truss) - whole->center[2]};
    return mf_draft_add_body(draft, truss->name != NULL ? truss->name : "truss", &mass, foot);
}

mf_Status mf_truss_model(mf_Context *context, const mf_Truss *truss, mf_Model **out,
                         mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(context != NULL && out != NULL, error, "mf_truss_model: an argument is NULL");
    *out = NULL;
    MF_TRY(mf_truss_check(truss, error));
    const mf_TrussMass whole = mf_truss_mass(truss);
    MF_NEED(whole.mass >= 1e-9, error, "material.density: the truss weighs %g kg, need 1e-9",
            whole.mass);
    mf_Draft draft;
    mf_draft_start(&draft, context);
    mf_Status status = fill(&draft, truss, &whole)
                           ? mf_draft_freeze(&draft, out, error)
                           : mf_fail(error, MF_NO_MEMORY, "truss: out of memory");
    mf_draft_release(&draft);
    return status;
}
