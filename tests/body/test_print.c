// Printed trusses: closed surfaces with outward normals, volume against the closed form of what is
// turned, joints that hold and leave room, parts that are equal, and what is refused.
#include "rig/rig.h"

GROUP_FIXTURE(make_context, drop_context);

#define PI 3.14159265358979323846

typedef struct Parts {
    mf_TrussVertex vertices[6];
    mf_TrussBar bars[8];
    mf_TrussActuator actuators[1];
    mf_Truss truss;
} Parts;

static void begin(Parts *p) {
    *p = (Parts){.truss = {.name = "truss", .material = mf_truss_material()}};
    p->truss.vertices = p->vertices;
    p->truss.bars = p->bars;
    p->truss.actuators = p->actuators;
}

static void vertex(Parts *p, double x, double y, double z) {
    const double at[3] = {x, y, z};
    memcpy(p->vertices[p->truss.vertex_count++].position, at, sizeof at);
}

static void bar(Parts *p, uint32_t a, uint32_t b) {
    p->bars[p->truss.bar_count++] = (mf_TrussBar){.ends = {a, b}, .diameter = 0.01};
}

// A tetrahedron of edge `size` with a tail, whose fifth bar is actuated.
static void machine(Parts *p, double size) {
    begin(p);
    vertex(p, 0, 0, 0);
    vertex(p, size, 0, 0);
    vertex(p, 0.5 * size, 0.866 * size, 0);
    vertex(p, 0.5 * size, 0.289 * size, 0.816 * size);
    vertex(p, -0.6 * size, 0.3 * size, 0.6 * size);
    for (uint32_t a = 0; a < 4; a++) {
        for (uint32_t b = a + 1; b < 4; b++)
            bar(p, a, b);
    }
    bar(p, 3, 4);
    p->actuators[0] = (mf_TrussActuator){4, 0.97 * size, 1.03 * size, MF_NONE};
    p->truss.actuator_count = 1;
}

static mf_Print *print_of(mf_Context *context, const Parts *p, mf_PrintConfig config) {
    mf_Print *print;
    MUST(mf_print_create(context, &p->truss, &config, &print, &error));
    return print;
}

static void end_print(mf_Print **print) {
    mf_print_destroy(*print);
}
#define AUTO_PRINT AUTO(end_print) mf_Print

// How often the edge from a to b is in the triangles.
static uint32_t edges(const mf_PrintSolid *s, uint32_t a, uint32_t b) {
    uint32_t count = 0;
    for (uint32_t t = 0; t < s->triangle_count; t++) {
        const uint32_t *c = &s->triangles[3 * t];
        for (int i = 0; i < 3; i++)
            count += c[i] == a && c[(i + 1) % 3] == b;
    }
    return count;
}

// Each edge once in each direction, and V - E + F = 2: one closed surface without a handle.
static void check_closed(const mf_PrintSolid *s) {
    for (uint32_t t = 0; t < s->triangle_count; t++) {
        const uint32_t *c = &s->triangles[3 * t];
        for (int i = 0; i < 3; i++) {
            assert_int_equal(edges(s, c[i], c[(i + 1) % 3]), 1);
            assert_int_equal(edges(s, c[(i + 1) % 3], c[i]), 1);
        }
    }
    assert_int_equal(
        (int)s->vertex_count - (int)(s->triangle_count * 3 / 2) + (int)s->triangle_count, 2);
}

TEST(surfaces_are_closed) {
    Parts p;
    machine(&p, 0.14);
    // Edges are counted in quadratic time.
    AUTO_PRINT *print = print_of(*state, &p, WITH(mf_print_config(), .segments = 16));
    assert_int_equal(print->part_count, 8);
    uint32_t sockets = 0;
    for (uint32_t i = 0; i < print->part_count; i++) {
        check_closed(&print->parts[i].solid);
        assert_true(print->parts[i].volume > 0.0); // normals point outward
        sockets += print->parts[i].sockets;
    }
    assert_int_equal(sockets, 2 + 2 + 2 + 3); // all but one of each vertex's bars
}

// A single bar is a cylinder with two half balls: pi d^2 L / 4 + pi d^3 / 6. An inscribed polygon
// of n corners has n sin(2 pi / n) / (2 pi) of the circle's area; the arcs of the balls err by less
// than that again.
TEST(volume_is_that_of_a_capsule) {
    Parts p;
    begin(&p);
    vertex(&p, 0, 0, 0);
    vertex(&p, 0.03, 0.04, 0.12);
    bar(&p, 0, 1);
    const double exact = PI * 1e-4 * 0.13 / 4 + PI * 1e-6 / 6;
    for (uint32_t n = 24; n <= 96; n *= 2) {
        AUTO_PRINT *print = print_of(*state, &p, WITH(mf_print_config(), .segments = n));
        const double share = n * sin(2 * PI / n) / (2 * PI);
        assert_near(print->parts[0].volume / exact, share, 0.1 * (1.0 - share));
        assert_near(print->parts[0].mass, print->parts[0].volume * 1000, 1e-15);
        assert_near(print->parts[0].length, 0.14, 1e-12);
    }
}

// Two bars in a line: the ball of one is in the vertex, in the socket of the other one. Within the
// assembly all vertices are outside of the ball or on it, and none lies in the clearance.
TEST(joints_leave_their_clearance) {
    Parts p;
    begin(&p);
    vertex(&p, -0.1, 0, 0);
    vertex(&p, 0, 0, 0);
    vertex(&p, 0.1, 0, 0);
    bar(&p, 0, 1);
    bar(&p, 1, 2);
    AUTO_PRINT *print = print_of(*state, &p, mf_print_config());
    uint32_t on_ball = 0, on_socket = 0;
    for (uint32_t v = 0; v < print->assembly.vertex_count; v++) {
        const double *at = &print->assembly.vertices[3 * v];
        const double r = sqrt(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]);
        on_ball += fabs(r - 0.004) < 1e-9;
        on_socket += fabs(r - 0.0043) < 1e-9;
        assert_true(r < 0.004 + 1e-9 || r > 0.0043 - 1e-9);
    }
    assert_true(on_ball > 500 && on_socket > 500);
    assert_true(print->tilt > 0.5 && print->tilt < 0.6);
}

TEST(equal_parts_are_one_file) {
    Parts p;
    begin(&p);
    for (int i = 0; i < 3; i++) {
        vertex(&p, 0, 0.05 * i, 0);
        vertex(&p, i == 1 ? 0.12 : 0.1, 0.05 * i, 0);
        bar(&p, 2 * i, 2 * i + 1);
    }
    AUTO_PRINT *print = print_of(*state, &p, mf_print_config());
    assert_int_equal(print->parts[1].same_as, 1);
    assert_int_equal(print->parts[2].same_as, 0);
}

static void refused(mf_Context *context, const Parts *p, const mf_PrintConfig *config,
                    const char *message) {
    mf_Print *print;
    mf_Error error = {0};
    assert_int_not_equal(mf_print_create(context, &p->truss, config, &print, &error), MF_OK);
    assert_null(print);
    assert_contains(error.message, message);
}

TEST(what_cannot_be_printed_is_refused) {
    Parts p;
    mf_PrintConfig config = mf_print_config();
    machine(&p, 0.05);
    p.truss.actuator_count = 0;
    refused(*state, &p, &config, " m long, its joints need ");
    machine(&p, 0.05);
    refused(*state, &p, &config, "bars[4]: 0.0485 m long at its shortest");
    machine(&p, 0.14);
    p.actuators[0].lower = 0.05;
    refused(*state, &p, &config,
            "bars[4]: 0.05 m long at its shortest, its joints and its actuator");
    machine(&p, 0.14);
    config.stroke = 0.004;
    refused(*state, &p, &config, "the stroke is 0.004 m");
    config = mf_print_config();
    config.build_volume[0] = config.build_volume[1] = config.build_volume[2] = 0.1;
    refused(*state, &p, &config, "the part bar_0 is");
    refused(*state, &p, &WITH(mf_print_config(), .opening = 1.4), "does not hold a ball");
    refused(*state, &p, &WITH(mf_print_config(), .clearance = NAN), "print.clearance: nan m");
    config = mf_print_config();
    begin(&p); // two bars 6 degrees apart
    vertex(&p, 0, 0, 0);
    vertex(&p, 0.1, 0, 0);
    vertex(&p, 0.1, 0.01, 0);
    bar(&p, 0, 1);
    bar(&p, 0, 2);
    refused(*state, &p, &config, "bars[0] and bars[1] are only 6 degrees apart at vertices[0]");
}

// At the scale that the message names the machine can be printed.
TEST(scale_of_the_message_fits) {
    Parts p;
    mf_Print *print;
    mf_Error error = {0};
    mf_PrintConfig config = mf_print_config();
    machine(&p, 0.05);
    p.truss.actuator_count = 0;
    for (int i = 0; i < 7 && mf_print_create(*state, &p.truss, &config, &print, &error) != MF_OK;
         i++)
        config.scale = strtod(strstr(error.message, "a scale of ") + 11, NULL);
    assert_non_null(print);
    assert_true(config.scale > 1.0 && config.scale < 3.0);
    mf_print_destroy(print);
}
