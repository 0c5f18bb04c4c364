// Solids on level and tilted planes: number, positions, normals and depths of contacts as computed
// by MuJoCo 4.0 (ground_truth.py), in any order; and the table of support directions of hulls.
#include <math/copies.h>

#if MF_HAS_SCALAR
#define MF_KERNEL_SCALAR
#else
#define MF_KERNEL_SINGLE
#endif
#define MF_KERNEL_F64
#include "contact/ground_truth.h"
#include "contact/narrow.h"
#include "math/kernel_table.h"
#include "rig/rig.h"

GROUP_FIXTURE(make_context, drop_context);

enum { MODELS = 2 * (sizeof ground_solids / sizeof *ground_solids) };
enum { CASES = sizeof ground_cases / sizeof *ground_cases };

static mf_Model *load_solid(mf_Context *context, unsigned m) {
    char text[32768];
    assert_in_range(snprintf(text, sizeof text, ground_solids[m / 2], ground_planes[m % 2]), 1,
                    sizeof text - 1);
    return load_text(context, text);
}

static void matrix_of(const double q[4], double m[9]) {
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    const double rows[9] = {
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
        2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    memcpy(m, rows, sizeof rows);
}

// How far a contact is from one of MuJoCo's, over all numbers.
static double differs(const ShapeContact *own, const double other[7]) {
    const double rows[7] = {own->point.x,  own->point.y,  own->point.z, own->normal.x,
                            own->normal.y, own->normal.z, own->depth};
    double most = 0.0;
    for (int i = 0; i < 7; i++)
        most = fmax(most, fabs(rows[i] - other[i]));
    return most;
}

// Returns how many of a case's contacts are not there, and counts those that are too many.
static unsigned compare(const mf_CollidePlan *plan, const GroundCase *want, double tolerance) {
    double frame[12];
    matrix_of(want->pose + 3, frame);
    memcpy(frame + 9, want->pose, 3 * sizeof *frame);
    const Frames frames = {frame, 12, NULL};
    Manifold manifold;
    unsigned wrong = 0, count = 0;
    MF_ONE_LANE(mf_collide_pair)(plan, 0, &frames, 0.0, &manifold);
    for (uint32_t i = 0; i < manifold.count; i++)
        count += manifold.contact[i].exists;
    for (unsigned k = 0; k < want->count; k++) {
        double best = 1.0;
        for (uint32_t i = 0; i < manifold.count; i++)
            if (manifold.contact[i].exists &&
                differs(&manifold.contact[i], want->contacts[k]) < best)
                best = differs(&manifold.contact[i], want->contacts[k]);
        wrong += best > tolerance;
    }
    return wrong + (count != want->count);
}

// Vertices of meshes are floats in MuJoCo, too, but turned into their own axes there.
TEST(contacts_are_mujocos) {
    mf_Context *context = *state;
    unsigned worse = 0;
    for (unsigned m = 0; m < MODELS; m++) {
        AUTO_MODEL *model = load_solid(context, m);
        mf_CollidePlan *plan = NULL;
        MUST(mf_collide_create(context, model, NULL, &plan, &error));
        assert_int_equal(plan->pair_count, 1);
        for (unsigned c = 0; c < CASES; c++) {
            if (ground_cases[c].model != m || compare(plan, &ground_cases[c], 2e-7) == 0)
                continue;
            print_message("model %u, case %u differs\n", m, c);
            worse++;
        }
        mf_release(context, plan);
    }
    assert_int_equal(worse, 0);
}

// What the table of directions finds is as far as the farthest of all vertices.
TEST(tables_find_the_farthest) {
    mf_Context *context = *state;
    for (unsigned m = 0; m < MODELS; m += 2) {
        AUTO_MODEL *model = load_solid(context, m);
        mf_HullSet *set = NULL;
        MUST(mf_hulls_create(context, model, &set, &error));
        srand(1);
        for (uint32_t h = 0; h < set->count; h++)
            for (int i = 0; i < 20000; i++) {
                const mf_ConvexHull *hull = mf_hull_of(set, h);
                double direction[3], most = -1.0;
                HullCorners corners;
                for (int k = 0; k < 3; k++) // whole numbers: many lie on the borders of cells
                    direction[k] = i % 2 ? rand() % 9 - 4 : rand() / (double)RAND_MAX - 0.5;
                const double length = sqrt(dot3(direction, direction));
                for (int k = 0; k < 3; k++)
                    direction[k] /= length > 0.0 ? length : 1.0;
                MF_ONE_LANE(mf_hull_on_plane)
                (hull, true, (Vec){-direction[0], -direction[1], -direction[2]}, &corners);
                for (uint32_t v = 0; v < hull->vertex_count; v++) {
                    double value = dot3(mf_hull_vertices_f64(hull) + 3 * (size_t)v, direction);
                    most = value > most ? value : most;
                }
                double best = -1.0;
                for (int k = 0; k < 4; k++) {
                    const double at[3] = {corners.at[k].x, corners.at[k].y, corners.at[k].z};
                    if (corners.exists[k] && dot3(at, direction) > best)
                        best = dot3(at, direction);
                }
                assert_true(most - best < 1e-15);
            }
        mf_release(context, set);
    }
}
