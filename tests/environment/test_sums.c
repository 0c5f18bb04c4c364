// Inertia and velocity of bodies about the center of mass against closed forms; random numbers of
// start states: bounds, moments, and the logarithm used for normal deviates.
#include "environment/support.h"

#include "base/move_image.h"

#include "environment/body_state.h"
#include "environment/task.h"
#include "math/kernel_table.h"
#include "math/scalar.h"

// ---- bodies ------------------------------------------------------------------------------------

enum { LINKS = 8, BODIES = 8 };

typedef struct Sums {
    double position[LINKS][3], rotation[LINKS][4], speed[LINKS][3], rate[LINKS][3];
    double inertia[10 * BODIES], twist[6 * BODIES], center[3];
} Sums;

// Rows of the kernel's, of which the test reads one lane.
typedef struct Rows {
    _Alignas(64) double value[16 * LINKS][MF_BLOCK];
} Rows;

enum { LANE = 5 };

static void put(Rows *rows, const double *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
            rows->value[i][lane] = values[i];
}

static void get(const Rows *rows, double *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        values[i] = rows->value[i][LANE];
}

// Every instruction set gives the same bits (test_isolation.c), so one will do.
static void sum_up(const mf_Model *model, const double *position, const double *velocity,
                   Sums *out) {
    static Rows rows[9];
    const mf_BodyStatePlan *made, *plan;
    const double none[3] = {0.0, 0.0, 0.0};
    const double *base = model->base == MF_BASE_FREE ? position : none;
    assert_true(model->link_count <= LINKS && model->body_count <= BODIES);
    assert_int_equal(mf_body_state_create(model->context, model, &made, NULL), MF_OK);
    plan = move_image(model->context, made); // a flat image is the same wherever it is
    put(&rows[0], position, model->position_count);
    put(&rows[1], velocity, model->velocity_count);
    const mf_BodyStateBatch batch = {.plan = plan,
                                     .wants = MF_TASK_POSES | MF_TASK_BODIES,
                                     .position = &rows[0],
                                     .velocity = &rows[1],
                                     .point = &rows[2],
                                     .rotation = &rows[3],
                                     .axes = &rows[4],
                                     .speed = &rows[5],
                                     .center = &rows[6],
                                     .inertia = &rows[7],
                                     .twist = &rows[8]};
    MF_ONE_LANE(mf_body_state_run)(&batch);
    get(&rows[2], out->position[0], 3 * model->link_count);
    get(&rows[3], out->rotation[0], 4 * model->link_count);
    get(&rows[6], out->center, 3);
    get(&rows[7], out->inertia, 10 * model->body_count);
    get(&rows[8], out->twist, 6 * model->body_count);
    for (uint32_t l = 0; l < model->link_count; l++)
        for (int i = 0; i < 3; i++) {
            out->speed[l][i] = rows[5].value[6 * l + i][LANE];
            out->rate[l][i] = rows[5].value[6 * l + 3 + i][LANE];
            out->position[l][i] += base[i];
        }
    mf_vec3_add(out->center, out->center, base);
    mf_release(model->context, (void *)made);
    mf_release(model->context, (void *)plan);
}

static void expect(const double *got, const double *expected, int count, double tolerance) {
    for (int i = 0; i < count; i++)
        assert_near(got[i], expected[i], tolerance);
}

// One box, 0.2 x 0.4 x 0.6 m and 3 kg, quarter of a turn about z: x and y change places.
TEST(one_box) {
    AUTO_CONTEXT *context = open_context(1);
    AUTO_MODEL *model =
        load_text(context, "<mujoco><worldbody><body><freejoint/>"
                           "<geom type='box' size='.1 .2 .3' mass='3' pos='0 0 .5'/>"
                           "</body></worldbody></mujoco>");
    const double half = sqrt(0.5), q[7] = {1, 2, 3, half, 0, 0, half};
    const double v[6] = {0.3, -0.2, 0.1, 0.0, 0.0, 2.0};
    const double xx = 3.0 / 12.0 * (0.04 + 0.36), yy = 3.0 / 12.0 * (0.16 + 0.36);
    const double inertia[10] = {xx, yy, 3.0 / 12.0 * (0.04 + 0.16), 0, 0, 0, 0, 0, 0, 3};
    const double twist[6] = {0, 0, 2, 0.3, -0.2, 0.1}, center[3] = {1, 2, 3.5};
    Sums sums;
    sum_up(model, q, v, &sums);
    expect(sums.center, center, 3, 1e-14);
    expect(sums.inertia, inertia, 10, 1e-14);
    expect(sums.twist, twist, 6, 1e-14);
}

// Two cubes of 1 kg and 3 kg, 0.4 m apart along x, the second on a slide along y that moves at 2
// m/s, all of it turning about z at 5 rad/s: each by Steiner about the common center, 0.3 m and
// 0.1 m away, and the velocity that either would have there.
TEST(two_cubes) {
    AUTO_CONTEXT *context = open_context(1);
    AUTO_MODEL *model =
        load_text(context, "<mujoco><worldbody><body><freejoint/>"
                           "<geom type='box' size='.1 .1 .1' mass='1'/>"
                           "<body pos='.4 0 0'><joint type='slide' axis='0 1 0'/>"
                           "<geom type='box' size='.1 .1 .1' mass='3'/></body></body>"
                           "</worldbody></mujoco>");
    const double q[8] = {0, 0, 0, 1, 0, 0, 0, 0}, v[7] = {0, 0, 0, 0, 0, 5, 2};
    const double cube = 0.04 / 6.0;
    const double inertia[20] = {
        cube,       cube + 0.09,       cube + 0.09,       0, 0, 0, -0.3, 0, 0, 1,
        3.0 * cube, 3.0 * cube + 0.03, 3.0 * cube + 0.03, 0, 0, 0, 0.3,  0, 0, 3};
    const double twist[12] = {0, 0, 5, 0, 1.5, 0, 0, 0, 5, 0, 3.5, 0}, center[3] = {0.3, 0, 0};
    Sums sums;
    sum_up(model, q, v, &sums);
    expect(sums.center, center, 3, 1e-15);
    expect(sums.inertia, inertia, 20, 1e-15);
    expect(sums.twist, twist, 12, 1e-14);
}

// Joints of every kind, oblique, with bodies that hold no joint.
static const char mixed[] =
    "<mujoco><compiler angle='radian'/><worldbody><body pos='0 0 1'><freejoint/>"
    "<geom type='box' size='.1 .2 .3' mass='2' pos='.05 0 0' euler='.3 .2 .1'/>"
    "<body pos='.2 .1 0' euler='.5 0 .2'><joint axis='1 2 3' pos='.05 0 0'/>"
    "<geom type='capsule' size='.05 .2' mass='1' pos='.1 0 .1' euler='0 1 0'/>"
    "<body pos='0 0 .3'><joint type='slide' axis='1 0 1'/><joint axis='0 1 0' pos='0 .1 0'/>"
    "<geom type='ellipsoid' size='.1 .05 .2' mass='.7' pos='0 .1 0'/>"
    "<body pos='.1 .1 .1'><geom type='sphere' size='.1' mass='.4'/></body></body></body>"
    "<body pos='-.2 0 .1'><joint type='ball'/><geom type='box' size='.05 .1 .2' mass='.5' "
    "pos='0 0 .2'/></body></body></worldbody></mujoco>";

static void spin(double q[4], const double rate[3], double time) {
    double rotation[4] = {1.0, 0.5 * time * rate[0], 0.5 * time * rate[1], 0.5 * time * rate[2]},
           out[4];
    mf_quat_multiply(out, q, rotation);
    mf_quat_normalize(out);
    memcpy(q, out, sizeof out);
}

// Where a velocity leads to in `time`; positions: base, hinge, slide, hinge, ball.
static void move(const double *q, const double *v, double time, double *out) {
    memcpy(out, q, 14 * sizeof *out);
    for (int i = 0; i < 3; i++)
        out[i] += time * v[i];
    spin(out + 3, v + 3, time);
    for (int i = 0; i < 3; i++)
        out[7 + i] += time * v[6 + i];
    spin(out + 10, v + 9, time);
}

// At a random state, and 1e-5 s before and after it.
static void sum_around(const mf_Model *model, uint32_t stream, uint32_t first, Sums *past,
                       Sums *sums, Sums *after) {
    double q[14], v[12], moved[14];
    for (uint32_t i = 0; i < 14; i++)
        q[i] = random_signed(stream, first + i);
    for (uint32_t i = 0; i < 12; i++)
        v[i] = random_signed(stream + 1, first + i);
    mf_quat_normalize(q + 3);
    mf_quat_normalize(q + 10);
    sum_up(model, q, v, sums);
    move(q, v, 1e-5, moved);
    sum_up(model, moved, v, after);
    move(q, v, -1e-5, moved);
    sum_up(model, moved, v, past);
}

// Sums over the bodies: masses times arms are nothing, momentum is the mass times the velocity of
// the center of mass, which is found by moving on.
TEST(momentum_is_mass_times_velocity) {
    AUTO_CONTEXT *context = open_context(1);
    AUTO_MODEL *model = load_text(context, mixed);
    assert_int_equal(model->position_count, 14);
    assert_int_equal(model->velocity_count, 12);
    for (uint32_t trial = 0; trial < 20; trial++) {
        double arms[3] = {0}, momentum[3] = {0}, mass = 0.0;
        Sums sums, after, past;
        sum_around(model, 1, trial * 100, &past, &sums, &after);
        for (uint32_t b = 0; b < model->body_count; b++) {
            const double *inertia = sums.inertia + 10 * b, *twist = sums.twist + 6 * b;
            double turning[3];
            mf_vec3_cross(turning, twist, inertia + 6);
            mf_vec3_add(arms, arms, inertia + 6);
            mf_vec3_add_scaled(momentum, momentum, inertia[9], twist + 3);
            mf_vec3_add(momentum, momentum, turning);
            mass += inertia[9];
        }
        assert_near(mass, 4.6, 1e-14);
        for (int i = 0; i < 3; i++) {
            double speed = (after.center[i] - past.center[i]) / 2e-5;
            assert_near(arms[i], 0.0, 1e-14);
            assert_near(momentum[i], mass * speed, 1e-8); // differences: 1e-16 / 1e-5, 1e-10 third
        }
    }
}

// The two halves of the velocity of a body agree: moving on turns it and shifts its center.
TEST(velocities_are_those_of_the_poses) {
    AUTO_CONTEXT *context = open_context(1);
    AUTO_MODEL *model = load_text(context, mixed);
    Sums sums, after, past;
    sum_around(model, 3, 0, &past, &sums, &after);
    for (uint32_t l = 0; l < model->link_count; l++)
        for (int i = 0; i < 3; i++) {
            double speed = (after.position[l][i] - past.position[l][i]) / 2e-5;
            assert_near(sums.speed[l][i], speed, 1e-8);
            double axis[3] = {0, 0, 0}, first[3], second[3];
            axis[i] = 1.0;
            mf_quat_rotate(first, past.rotation[l], axis);
            mf_quat_rotate(second, after.rotation[l], axis);
            double offset[3], swing[3];
            mf_quat_rotate(axis, sums.rotation[l], (double[3]){i == 0, i == 1, i == 2});
            mf_vec3_cross(swing, sums.rate[l], axis);
            mf_vec3_sub(offset, second, first);
            for (int k = 0; k < 3; k++)
                assert_near(swing[k], offset[k] / 2e-5, 1e-8);
        }
}

// ---- random numbers ----------------------------------------------------------------------------

enum { DRAWS = 400000 };

// Mean and variance of a uniform number in [a, b): (a + b) / 2, (b - a)^2 / 12; the limits are five
// times the spread that so many numbers leave.
TEST(uniform_numbers) {
    mf_TaskDraw draw = {.seed = 77};
    double sum = 0.0, squares = 0.0, least = 9.0, most = -9.0;
    for (int i = 0; i < DRAWS; i++) {
        double x = mf_task_uniform(&draw, -1.0, 3.0);
        assert_true(x >= -1.0 && x < 3.0);
        sum += x;
        squares += (x - 1.0) * (x - 1.0);
        least = fmin(least, x);
        most = fmax(most, x);
    }
    const double variance = 16.0 / 12.0;
    assert_near(sum / DRAWS, 1.0, 5.0 * sqrt(variance / DRAWS));
    assert_near(squares / DRAWS, variance, 5.0 * sqrt((16.0 / 5.0 - variance * variance) / DRAWS));
    assert_true(least < -1.0 + 1e-4 && most > 3.0 - 1e-4);
}

// The first four moments, and shares beyond 1, 2 and 3 standard deviations (tables of erfc).
TEST(normal_numbers) {
    static const double share[3] = {0.3173105078629141, 0.04550026389635842, 0.002699796063260189};
    mf_TaskDraw draw = {.seed = UINT64_C(1) << 50};
    double moment[5] = {0};
    int beyond[3] = {0};
    for (int i = 0; i < DRAWS; i++) {
        double x = mf_task_normal(&draw), power = 1.0;
        for (int k = 1; k < 5; k++)
            moment[k] += power *= x;
        for (int k = 0; k < 3; k++)
            beyond[k] += fabs(x) > k + 1;
    }
    const double spread = 5.0 / sqrt(DRAWS);
    assert_near(moment[1] / DRAWS, 0.0, spread);
    assert_near(moment[2] / DRAWS, 1.0, spread * sqrt(2.0));
    assert_near(moment[3] / DRAWS, 0.0, spread * sqrt(15.0));
    assert_near(moment[4] / DRAWS, 3.0, spread * sqrt(96.0));
    for (int k = 0; k < 3; k++)
        assert_near(beyond[k] / (double)DRAWS, share[k], spread * sqrt(share[k]));
}

// A second draw of the same seed gives the uniform numbers behind each normal one: it is that of
// the formula with the logarithm of the C library.
TEST(normal_numbers_are_those_of_the_formula) {
    mf_TaskDraw draw = {.seed = 5}, raw = {.seed = 5};
    double worst = 0.0;
    for (int i = 0; i < DRAWS; i++) {
        double x, y, r;
        do {
            x = 2.0 * mf_task_uniform(&raw, 0.0, 1.0) - 1.0;
            y = 2.0 * mf_task_uniform(&raw, 0.0, 1.0) - 1.0;
            r = x * x + y * y;
        } while (!(r < 1.0 && r > 0.0));
        double expected = x * sqrt(-2.0 * log(r) / r);
        worst = fmax(worst, fabs(mf_task_normal(&draw) - expected) / fabs(expected));
    }
    // Half of the logarithm's error; near r = 1 the series has no cancellation, as log has none.
    assert_true(worst < 1e-15);
}

// ---- starts ------------------------------------------------------------------------------------

typedef struct Spread {
    double mean, variance, least, most;
} Spread;

static Spread spread_of(const Rig *rig, uint32_t value) {
    Spread out = {.least = 1e300, .most = -1e300};
    for (uint32_t i = 0; i < rig->count; i++) {
        double x = rig_observation(rig, i)[value];
        out.mean += x / rig->count;
        out.least = fmin(out.least, x);
        out.most = fmax(out.most, x);
    }
    for (uint32_t i = 0; i < rig->count; i++) {
        double off = rig_observation(rig, i)[value] - out.mean;
        out.variance += off * off / rig->count;
    }
    return out;
}

static void expect_uniform(const Rig *rig, uint32_t value, double middle, double width) {
    Spread got = spread_of(rig, value);
    const double n = rig->count, variance = width * width / 3.0;
    assert_true(got.least >= middle - width - 1e-12 && got.most <= middle + width + 1e-12);
    assert_near(got.mean, middle, 5.0 * sqrt(variance / n));
    assert_near(got.variance, variance, 5.0 * width * width * sqrt((0.2 - 1.0 / 9.0) / n));
}

static void expect_normal(const Rig *rig, uint32_t value, double deviation) {
    Spread got = spread_of(rig, value);
    const double n = rig->count, variance = deviation * deviation;
    assert_near(got.mean, 0.0, 5.0 * deviation / sqrt(n));
    assert_near(got.variance, variance, 5.0 * variance * sqrt(2.0 / n));
    assert_true(got.most > 3.0 * deviation && got.least < -3.0 * deviation);
}

static Rig open_starts(const char *task) {
    return rig_begin(text_of(task), rig_config(task, 5000), 12345);
}

TEST(starts_are_distributed_as_configured) {
    AUTO_RIG rig = open_starts("inverted_pendulum");
    for (uint32_t k = 0; k < 4; k++)
        expect_uniform(&rig, k, 0.0, 0.01);
    rig_close(&rig);
    rig = open_starts("half_cheetah"); // z, tilt, six angles; nine normal rates
    for (uint32_t k = 0; k < 17; k++)
        if (k < 8)
            expect_uniform(&rig, k, k == 0 ? 1.2 : 0.0, 0.1);
        else
            expect_normal(&rig, k, 0.1);
    rig_close(&rig);
    rig = open_starts("walker2d");
    for (uint32_t k = 0; k < 17; k++)
        expect_uniform(&rig, k, k == 0 ? 1.2 : 0.0, 5e-3);
    rig_close(&rig);
    rig = open_starts("ant"); // height and, after the quaternion, joints; then normal rates
    expect_uniform(&rig, 0, 0.55, 0.1);
    for (uint32_t k = 5; k < 9; k++)
        expect_uniform(&rig, k, 0.0, 0.1);
    for (uint32_t k = 9; k < 19; k++)
        expect_normal(&rig, k, 0.1);
    for (uint32_t i = 0; i < rig.count; i++)
        assert_near(mf_sqrt(rig_observation(&rig, i)[1] * rig_observation(&rig, i)[1] +
                            rig_observation(&rig, i)[2] * rig_observation(&rig, i)[2] +
                            rig_observation(&rig, i)[3] * rig_observation(&rig, i)[3] +
                            rig_observation(&rig, i)[4] * rig_observation(&rig, i)[4]),
                    1.0, 1e-14);
}

// Targets lie evenly in a circle of 0.2 m, objects in a rectangle less a circle.
TEST(targets_are_distributed_as_configured) {
    double inside = 0.0;
    AUTO_RIG rig = open_starts("reacher");
    for (uint32_t i = 0; i < rig.count; i++) {
        const double *seen = rig_observation(&rig, i);
        double r = sqrt(seen[4] * seen[4] + seen[5] * seen[5]);
        assert_true(r < 0.2);
        assert_true(fabs(seen[6]) <= 0.005 && fabs(seen[7]) <= 0.005);
        inside += r < 0.1;
    }
    assert_near(inside / rig.count, 0.25, 5.0 * sqrt(0.25 * 0.75 / rig.count));
    rig_close(&rig);
    rig = open_starts("pusher");
    for (uint32_t i = 0; i < rig.count; i++) {
        const double *seen = rig_observation(&rig, i);
        double x = seen[17] - 0.45, y = seen[18] + 0.05;
        assert_true(y >= -0.3 - 1e-15 && y <= 1e-15 && fabs(x) <= 0.2 + 1e-15);
        assert_true(sqrt(x * x + y * y) > 0.17 - 1e-15);
        for (int k = 0; k < 7; k++)
            assert_true(seen[k] == 0.0 && fabs(seen[7 + k]) <= 0.005);
        assert_true(seen[20] == 0.45 && seen[21] == -0.05);
    }
}
