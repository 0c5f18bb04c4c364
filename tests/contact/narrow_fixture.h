// A model of two solids on two links, states for all lanes, and runs of every copy of the kernels.
#pragma once

#include "contact/narrow_cases.h"
#include "contact/narrow_oracle.h"

#include "math/kernel_table.h"
#include "math/scalar.h"

#include "rig/rig.h"

enum { COUNT = 64, LINKS = 3, CONTACT_VALUES = MF_COLLIDE_CONTACTS * NARROW_ROWS };

typedef void (*NarrowFn)(const NarrowRun *run);
typedef struct Copy {
    const char *name;
    mf_KernelRow row;
    NarrowFn run;
} Copy;

#define COPY_F32(row, name) {#name "_f32", row, mf_narrow_run_##name##_f32},
#define COPY_F64(row, name) {#name "_f64", row, mf_narrow_run_##name##_f64},

static const Copy copies_f32[] = {MF_EACH_COPY(COPY_F32)};
static const Copy copies_f64[] = {MF_EACH_COPY(COPY_F64)};
enum { COPIES = sizeof copies_f32 / sizeof *copies_f32 };

// A solid and its hull for meshes.
typedef struct Form {
    mf_ShapeType type;
    double size[3];
    const float *vertices; // [m] of a hull, all of them corners
    uint32_t vertex_count;
    const uint32_t *triangles; // of the hull, seen from outside; NULL: its faces are not known
    uint32_t triangle_count;
    double margin; // [m]
} Form;

typedef struct Fixture {
    mf_Context *context;
    mf_Link links[LINKS];
    mf_Joint joints[LINKS - 1];
    mf_Shape shapes[2];
    mf_Mesh meshes[2];
    uint32_t hull[256];
    mf_Model model;
    mf_CollidePlan *plan;
    _Alignas(64) double frames[LINKS * NARROW_FRAME * COUNT];
    _Alignas(64) float frames_f32[LINKS * NARROW_FRAME * COUNT];
    _Alignas(64) double contacts[CONTACT_VALUES * COUNT];
    _Alignas(64) float contacts_f32[CONTACT_VALUES * COUNT];
    uint32_t counts[COUNT];
    Body bodies[COUNT][2];
} Fixture;

static Fixture fixture;

static void fixture_open(mf_Context *context, const Form *a, const Form *b) {
    Fixture *s = &fixture;
    const Form *forms[2] = {a, b};
    memset(s, 0, sizeof *s);
    s->context = context;
    for (uint32_t i = 0; i < 256; i++)
        s->hull[i] = i;
    for (uint32_t i = 0; i < LINKS; i++)
        s->links[i] = (mf_Link){.parent = i ? 0 : MF_NONE, .joint = i ? i - 1 : MF_NONE};
    for (uint32_t i = 0; i < 2; i++) {
        s->joints[i] = (mf_Joint){.type = MF_JOINT_HINGE, .parent = 0, .child = i + 1};
        s->shapes[i] = (mf_Shape){.type = forms[i]->type,
                                  .link = i + 1,
                                  .collides = true,
                                  .rotation = {1, 0, 0, 0},
                                  .mesh = i,
                                  .body = MF_NONE,
                                  .contact_type = 1,
                                  .contact_with = 1,
                                  .dimension = 3,
                                  .margin = forms[i]->margin};
        memcpy(s->shapes[i].size, forms[i]->size, sizeof forms[i]->size);
        s->meshes[i] = (mf_Mesh){.vertices = forms[i]->vertices,
                                 .vertex_count = forms[i]->vertex_count,
                                 .hull_vertex_count = forms[i]->vertex_count,
                                 .hull_vertices = s->hull,
                                 .hull_triangle_count = forms[i]->triangle_count,
                                 .hull_triangles = forms[i]->triangles};
    }
    s->model = (mf_Model){.name = "two",
                          .links = s->links,
                          .link_count = LINKS,
                          .joints = s->joints,
                          .joint_count = 2,
                          .shapes = s->shapes,
                          .shape_count = 2,
                          .meshes = s->meshes,
                          .mesh_count = 2};
    MUST(mf_collide_create(context, &s->model, NULL, &s->plan, &error));
    assert_int_equal(s->plan->pair_count, 1);
}

static void fixture_close(void) {
    mf_release(fixture.context, fixture.plan);
    fixture.plan = NULL;
}

static void set_frame(uint32_t lane, uint32_t frame, const double rotation[9],
                      const double position[3]) {
    for (uint32_t i = 0; i < NARROW_FRAME; i++) {
        size_t at = ((size_t)frame * NARROW_FRAME + i) * COUNT + lane;
        fixture.frames[at] = i < 9 ? rotation[i] : position[i - 9];
        fixture.frames_f32[at] = (float)fixture.frames[at];
    }
}

// Link i + 1 of one lane: the shape's own pose must be the identity.
static void set_link(uint32_t lane, uint32_t i, const double quat[4], const double position[3]) {
    double q[4], rotation[9];
    memcpy(q, quat, sizeof q);
    assert_true(mf_quat_normalize(q));
    mf_quat_to_matrix(rotation, q);
    set_frame(lane, i + 1, rotation, position);
    Body *body = &fixture.bodies[lane][i];
    const mf_Mesh *mesh = &fixture.meshes[i];
    *body = (Body){.type = fixture.shapes[i].type,
                   .vertices = mesh->vertices,
                   .vertex_count = mesh->vertex_count};
    memcpy(body->size, fixture.shapes[i].size, sizeof body->size);
    memcpy(body->rotation, rotation, sizeof rotation);
    memcpy(body->position, position, sizeof body->position);
}

static NarrowRun run_of(double reach, const void *frames, void *contacts) {
    return (NarrowRun){.plan = fixture.plan,
                       .frame_count = LINKS,
                       .count = COUNT,
                       .reach = reach,
                       .frames = frames,
                       .contacts = contacts,
                       .contact_count = fixture.counts};
}

// Whether a copy can run here.
static bool can_run(const Copy *copy) {
    return mf_kernel_row_available(copy->row);
}

// Runs all copies of both precisions, which must agree to the bit.
static void run_all(double reach) {
    static double first[CONTACT_VALUES * COUNT];
    static float first_f32[CONTACT_VALUES * COUNT];
    for (int i = 0; i < COPIES; i++) {
        if (!can_run(&copies_f64[i]))
            continue;
        NarrowRun run = run_of(reach, fixture.frames, fixture.contacts);
        copies_f64[i].run(&run);
        run = run_of(reach, fixture.frames_f32, fixture.contacts_f32);
        copies_f32[i].run(&run);
        if (i == 0) {
            memcpy(first, fixture.contacts, sizeof first);
            memcpy(first_f32, fixture.contacts_f32, sizeof first_f32);
        }
        if (memcmp(first, fixture.contacts, sizeof first) != 0)
            fail_msg("%s differs from %s", copies_f64[i].name, copies_f64[0].name);
        if (memcmp(first_f32, fixture.contacts_f32, sizeof first_f32) != 0)
            fail_msg("%s differs from %s", copies_f32[i].name, copies_f32[0].name);
    }
}

// Contact c of a lane, in the order of the plan's pair.
typedef struct Found {
    bool exists;
    double point[3], normal[3], depth;
} Found;

static Found found(uint32_t lane, uint32_t c, bool wide) {
    double rows[NARROW_ROWS];
    for (uint32_t r = 0; r < NARROW_ROWS; r++) {
        size_t at = ((size_t)c * NARROW_ROWS + r) * COUNT + lane;
        rows[r] = wide ? fixture.contacts[at] : (double)fixture.contacts_f32[at];
    }
    Found out = {.exists = rows[0] != 0, .depth = rows[7]};
    memcpy(out.point, rows + 1, sizeof out.point);
    memcpy(out.normal, rows + 4, sizeof out.normal);
    return out;
}
