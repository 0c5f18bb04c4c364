// Large islands: responses by the mass matrix, heaps and walls that bear their weight, the same
// bits whatever runs beside them, and contacts that a reset forgets.
#include "solve/joints_rig.h"
#include "solve/solver.h"
#include "math/scalar.h"

// ---- free responses -----------------------------------------------------------------------------

enum { DOFS = 64 };

// x = A^-1 b by Gaussian elimination without pivots: A is symmetric and positive definite.
static void solve_dense(uint32_t n, const double *matrix, const double *right, double *x) {
    double a[DOFS][DOFS + 1];
    for (uint32_t i = 0; i < n; i++) {
        memcpy(a[i], matrix + (size_t)i * n, n * sizeof **a);
        a[i][n] = right[i];
    }
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = k + 1; i < n; i++) {
            const double part = a[i][k] / a[k][k];
            for (uint32_t j = k; j <= n; j++)
                a[i][j] -= part * a[k][j];
        }
    for (uint32_t i = n; i-- > 0;) {
        x[i] = a[i][n];
        for (uint32_t j = i + 1; j < n; j++)
            x[i] -= a[i][j] * x[j];
        x[i] /= a[i][i];
    }
}

// A row over the velocities of the group's robot 0, of a point [m] of `link` in its frame.
static void row_of(mf_Group *group, uint32_t link, const double point[3], const double row[6],
                   double *out) {
    double jacobian[6 * DOFS];
    const uint32_t n = mf_group_velocity_count(group);
    assert_true(n <= DOFS);
    MUST(mf_group_jacobian(group, 0, 1, link, point, jacobian, &error));
    for (uint32_t d = 0; d < n; d++) {
        out[d] = 0.0;
        for (uint32_t r = 0; r < 6; r++)
            out[d] += row[r] * jacobian[(size_t)r * n + d];
    }
}

static void world_point(mf_Group *group, uint32_t link, const double local[3], double out[3]) {
    double position[3 * DOFS], rotation[4 * DOFS];
    MUST(mf_group_link_poses(group, 0, 1, position, rotation, &error));
    mf_quat_rotate(out, rotation + 4 * (size_t)link, local);
    mf_vec3_add(out, out, position + 3 * (size_t)link);
}

static double dot(const double *a, const double *b, uint32_t n) {
    double sum = 0.0;
    for (uint32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

// What one row does to itself and to another of another link: J M^-1 J^T by the public equations of
// motion, solved densely, and by the factors of the free response.
static void check_response(const char *file) {
    const double rows[2][6] = {{0.3, -1.0, 0.2, 0.1, 0.0, -0.4}, {0.0, 0.5, 1.0, 0.0, 0.7, 0.0}};
    const double local[3] = {0.02, -0.03, 0.05};
    double matrix[DOFS * DOFS], jacobian[2][DOFS], dense[2][DOFS], own[2][DOFS], response[2][DOFS];
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    mf_Group *group = pitch_bodies(&pitch, load_file(pitch.context, file), "robot", 1, true);
    const mf_Model *model = mf_group_model(group);
    put(&pitch, group, 0, 0.4, -2.0, 3.0, 0.0);
    for (uint32_t j = 0; j < model->joint_count; j++)
        set_field(group, "joint.angle", 0, j, 0.4 * unit(1, j) - 0.2);
    const uint32_t n = mf_group_velocity_count(group), links[2] = {model->link_count - 1, 1};
    mf_FreeResponse *free;
    MUST(mf_free_response_create(group, &free, &error));
    mf_free_response_prepare(free, 0, (const uint32_t[]){0}, 1);
    MUST(mf_group_mass_matrix(group, 0, 1, matrix, &error));
    assert_int_equal(mf_free_response_dofs(free, 0), n);
    for (int k = 0; k < 2; k++) {
        double point[3];
        world_point(group, links[k], local, point);
        row_of(group, links[k], local, rows[k], jacobian[k]);
        solve_dense(n, matrix, jacobian[k], dense[k]);
        mf_free_response_row(free, 0, links[k], point, rows[k], own[k], response[k]);
    }
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
            const double expected = dot(jacobian[a], dense[b], n);
            assert_near(dot(own[a], response[b], n), expected,
                        1e-9 * dot(jacobian[a], dense[a], n));
        }
    mf_free_response_destroy(pitch.context, free);
}

TEST(free_responses_are_those_of_the_mass_matrix) {
    check_response("ant.xml");
    check_response("humanoid.urdf");
    check_response("quadruped.urdf");
}

// ---- weight -------------------------------------------------------------------------------------

static bool any_swept(const Pitch *pitch) {
    const mf_Solver *solver = mf_solver_in(pitch->world);
    for (uint32_t i = 0; i < solver->island_count; i++)
        if (solver->islands[i].swept)
            return true;
    return false;
}

enum { ROWS = 8, WIDE = 13, BOXES = ROWS * WIDE - ROWS * (ROWS - 1) / 2 };

static uint32_t row_at(uint32_t box) {
    uint32_t row = 0, end = WIDE;
    for (; box >= end; end += WIDE - row)
        row++;
    return row;
}

// [m] Where a box of the wall stands, each row narrower by one.
static double height_of(uint32_t box) {
    const uint32_t row = row_at(box), first = row * WIDE - row * (row - 1) / 2;
    return 0.2 * (box - first) + 0.1 * row;
}

static mf_Group *open_wall(Pitch *pitch, mf_Motion motion) {
    static const char cube[] = "<mujoco model='cube'><worldbody><body><freejoint/>"
                               "<geom type='box' size='0.1 0.1 0.1' mass='1' friction='0.8'/>"
                               "</body></worldbody></mujoco>";
    *pitch = pitch_open(1, MF_ISA_AUTO, 2 * MF_MILLISECOND, 9.81);
    mf_Group *boxes =
        add_bodies(pitch, load_text(pitch->context, cube), "boxes", BOXES, motion, false, true);
    for (uint32_t i = 0; i < BOXES; i++)
        put(pitch, boxes, i, height_of(i), 0.0, 0.1 + 0.2 * row_at(i), 0.0);
    pitch_collide(pitch, NULL);
    return boxes;
}

// [N] that a row bears: sum of the loads of the contacts with those of the next one.
static double load_on(const Pitch *pitch, uint32_t row) {
    static mf_Contact contacts[4096];
    uint32_t count;
    double sum = 0.0;
    MUST(mf_world_contacts(pitch->world, contacts, 4096, &count, &error));
    for (uint32_t i = 0; i < count; i++) {
        const mf_ShapeOwner *owners = contacts[i].owners;
        if (owners[0].group == NULL || owners[1].group == NULL)
            continue;
        const uint32_t a = row_at(owners[0].instance), b = row_at(owners[1].instance);
        if (a == row && b == row + 1)
            sum += contacts[i].force[2];
        else if (b == row && a == row + 1)
            sum -= contacts[i].force[2];
    }
    return sum;
}

// `articulated` robots are solved as if they were in one file, others by sweeps.
static void check_wall(mf_Motion motion) {
    AUTO_PITCH pitch;
    double far = 0.0, weight = 9.81 * BOXES;
    mf_Group *boxes = open_wall(&pitch, motion);
    mf_world_step(pitch.world, SANITIZED ? 100 : 250);
    assert_true(any_swept(&pitch) == (motion == MF_MOTION_RIGID));
    for (uint32_t i = 0; i < BOXES; i++) {
        far = fmax(far, fabs(get_field(boxes, "base.position", i, 0) - height_of(i)));
        far = fmax(far, fabs(get_field(boxes, "base.position", i, 2) - 0.1 - 0.2 * row_at(i)));
    }
    const mf_CollisionsStatistics statistics = mf_collisions_statistics(pitch.collisions);
    print_message("%d boxes: %.3g mm aside at most, residual %.2g\n", BOXES, 1e3 * far,
                  statistics.residual);
    for (uint32_t row = 0; row + 1 < ROWS; row++) {
        weight -= 9.81 * (WIDE - row);
        print_message("row %u bears %.6g N, the weight above is %.6g N\n", row,
                      load_on(&pitch, row), weight);
        assert_near(load_on(&pitch, row), weight, 0.02 * 9.81 * BOXES);
    }
    assert_true(far < 5e-3);
    assert_true(SANITIZED || statistics.residual < 0.05); // one sweep in place of 15 leaves 0.1
    assert_int_equal(mf_group_fault_total(boxes), 0);
}

TEST(a_wall_stands) {
    check_wall(MF_MOTION_RIGID);
    check_wall(MF_MOTION_ARTICULATED);
}

// ---- heaps of robots ----------------------------------------------------------------------------

enum { HEXAPODS = 24 };

// Hexapods fall onto each other.
static uint64_t heap_of(const void *user, uint32_t threads, mf_Isa isa) {
    uint64_t hash = MF_HASH_START;
    bool swept = false;
    AUTO_PITCH pitch = pitch_open(threads, isa, 2 * MF_MILLISECOND, 9.81);
    mf_Group *group = add_bodies(&pitch, load_file(pitch.context, "hexapod.urdf"), "hexapods",
                                 HEXAPODS, *(const mf_Motion *)user, false, true);
    for (uint32_t i = 0; i < HEXAPODS; i++)
        put(&pitch, group, i, 0.25 * (i % 3), 0.25 * (i / 3 % 2), 0.12 + 0.1 * (i / 6), 0.0);
    pitch_collide(&pitch, NULL);
    for (int i = 0; i < (SANITIZED ? 30 : 60); i++) {
        mf_world_step(pitch.world, 1);
        swept = swept || any_swept(&pitch);
    }
    assert_true(swept);
    assert_int_equal(mf_group_fault_total(group), 0);
    for (uint32_t i = 0; i < HEXAPODS; i++) {
        hash = 31 * hash + mf_group_instance_hash(group, i);
        assert_true(fabs(get_field(group, "base.position", i, 2)) < 2.0);
    }
    return hash;
}

TEST(bits_of_heaps_depend_on_nothing_else) {
    const mf_Motion motions[] = {MF_MOTION_ARTICULATED, MF_MOTION_RIGID};
    for (int m = 0; m < 2; m++)
        assert_same_bits(heap_of, &motions[m]);
}

// ---- resets -------------------------------------------------------------------------------------

enum { STACKED = 3 };

static mf_Group *open_stack(Pitch *pitch) {
    *pitch = pitch_open(1, MF_ISA_AUTO, 2 * MF_MILLISECOND, 9.81);
    mf_Group *boxes = add_bodies(pitch, box_of(pitch->context, 1.0), "boxes", STACKED,
                                 MF_MOTION_ARTICULATED, true, true);
    for (uint32_t i = 0; i < STACKED; i++)
        put(pitch, boxes, i, 0.0, 0.0, 0.199 + 0.399 * i, 0.0);
    pitch_collide(pitch, NULL);
    return boxes;
}

// Robots that touch at once begin without the forces of their life before.
TEST(a_reset_forgets_contacts) {
    AUTO_PITCH old, fresh;
    mf_Group *worn = open_stack(&old), *boxes = open_stack(&fresh);
    mf_world_step(old.world, 100);
    assert_true(mf_solver_in(old.world)->warm_count > 0);
    mf_group_reset_all(worn);
    mf_world_step(old.world, 3);
    mf_world_step(fresh.world, 3);
    for (uint32_t i = 0; i < STACKED; i++)
        for (uint32_t c = 0; c < 3; c++) {
            assert_near(get_field(worn, "base.position", i, c),
                        get_field(boxes, "base.position", i, c), 0.0);
            assert_near(get_field(worn, "base.linear_velocity", i, c),
                        get_field(boxes, "base.linear_velocity", i, c), 0.0);
        }
}
