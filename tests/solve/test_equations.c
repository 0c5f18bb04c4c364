// Equations of motion of many robots: identities that hold for any mechanism, on random states of
// models with every kind of joint and of the robots in the shared folder; comparison with the
// algorithm of a step; equal bits for any batch size, thread count and instruction set.
#include "solve/pitch.h"
#include "solve/link_motion.h"

#include "math/scalar.h"
#include "motion/articulated/host.h"
#include "world/attach.h"

enum { COUNT = 21 }; // [1] robots: a full block, and a part of one

static const char every_joint[] =
    "<mujoco model='every joint'><compiler angle='radian'/><worldbody>"
    "<body pos='0.1 0 1'><geom type='box' size='.1 .2 .05' mass='2'/>"
    "<joint type='slide' axis='1 1 0' ref='0.1' armature='0.3'/>"
    "<body pos='0 .2 .1' quat='.9 .1 .3 0'><joint type='ball' armature='0.02'/>"
    "<geom type='capsule' size='.03 .1' pos='.1 0 0' mass='1'/>"
    "<body pos='.1 .1 0' euler='.3 .2 .1'><joint type='hinge' axis='1 2 3' ref='-.2' pos='0 .1 0'/>"
    "<geom type='box' size='.1 .02 .05' pos='0 .1 0' mass='.5'/></body></body>"
    "<body pos='0 -.2 0'><joint type='hinge' axis='0 1 0' armature='0.1'/>"
    "<geom type='sphere' size='.1' pos='.2 0 0' mass='.7'/></body></body>"
    "<body pos='1 0 1' name='free'><freejoint/><geom type='box' size='.1 .2 .3' mass='3'/>"
    "<body pos='.1 .1 .1'><joint type='hinge' axis='0 0 1'/>"
    "<geom type='capsule' size='.02 .2' pos='0 .2 0' mass='.4'/></body></body>"
    "</worldbody></mujoco>";

typedef struct Rig {
    Pitch pitch;
    mf_Group *group;
    const mf_Model *model;
    uint32_t n; // [1] velocity values
} Rig;

static double *numbers(size_t count) {
    double *values = calloc(count + 1, sizeof *values);
    assert_non_null(values);
    return values;
}

static void random_velocity(const Rig *rig, uint32_t robot, double *v) {
    for (uint32_t c = 0; c < rig->model->velocity_count; c++)
        v[c] = 4.0 * unit(2, robot * 1000 + c) - 2.0;
}

static void random_states(const Rig *rig) {
    const uint32_t nq = rig->model->position_count, nv = rig->model->velocity_count;
    AUTO(end_memory) double *q = numbers(nq), *v = numbers(nv);
    for (uint32_t i = 0; i < COUNT; i++) {
        for (uint32_t c = 0; c < nq; c++)
            q[c] = 2.0 * unit(1, i * 1000 + c) - 1.0;
        random_velocity(rig, i, v);
        mf_group_set_state(rig->group, i, q, v);
    }
}

// NULL for the path: the model above.
static bool open_rig(Rig *rig, const char *path, bool wide, uint32_t threads, mf_Isa isa) {
    mf_Model *model = NULL;
    rig->pitch = pitch_open(threads, isa, MF_MILLISECOND, 9.81);
    if (path == NULL)
        model = load_text(rig->pitch.context, every_joint);
    else if (mf_model_load(rig->pitch.context, path, NULL, &model, &rig->pitch.error) != MF_OK) {
        print_message("%s: %s\n", path, rig->pitch.error.message);
        pitch_close(&rig->pitch);
        return false;
    }
    rig->model = model;
    rig->group = pitch_bodies(&rig->pitch, model, "robots", COUNT, wide);
    rig->n = mf_group_velocity_count(rig->group);
    random_states(rig);
    return true;
}

static double largest(const double *values, size_t count) {
    double size = 0.0;
    for (size_t i = 0; i < count; i++)
        size = fmax(size, fabs(values[i]));
    return size;
}

// ---- poses and velocities ----------------------------------------------------------------------

// Against the plain code of the model.
static void check_poses(Rig *rig) {
    const uint32_t links = rig->model->link_count;
    AUTO(end_memory)
    double *q = numbers(rig->model->position_count), *position = numbers(3 * links * COUNT),
           *rotation = numbers(4 * links * COUNT);
    AUTO(end_memory) double(*point)[3] = calloc(links, sizeof *point);
    AUTO(end_memory) double(*turn)[4] = calloc(links, sizeof *turn);
    assert_true(point != NULL && turn != NULL);
    MUST(mf_group_link_poses(rig->group, 0, COUNT, position, rotation, &error));
    for (uint32_t i = 0; i < COUNT; i++) {
        mf_group_get_position(rig->group, i, q);
        mf_model_pose_at(rig->model, q, point, turn);
        for (uint32_t l = 0; l < links; l++) {
            const double *p = position + 3 * (i * links + l), *r = rotation + 4 * (i * links + l);
            double base[3] = {0, 0, 0};
            for (uint32_t c = 0; rig->model->base == MF_BASE_FIXED && c < 3; c++)
                base[c] = get_field(rig->group, "base.position", i, c);
            for (uint32_t c = 0; c < 3; c++)
                assert_near(p[c], base[c] + point[l][c], 1e-13);
            for (uint32_t c = 0; c < 4; c++)
                assert_near(r[c], turn[l][c], 1e-13);
        }
    }
}

// Moves a joint's value by `part` seconds of its rate, exactly.
static void rotate_by(double q[4], const double rate[3], double part) {
    const double size = sqrt(mf_vec3_dot(rate, rate)), angle = size * part;
    double axis[3], rotation[4], out[4];
    mf_vec3_scale(axis, rate, size > 0.0 ? 1.0 / size : 0.0);
    mf_quat_from_axis_angle(rotation, axis, angle);
    mf_quat_multiply(out, q, rotation);
    memcpy(q, out, sizeof out);
}

static void move_vector(const mf_Model *model, double *q, const double *v, double part) {
    if (model->base == MF_BASE_FREE) {
        for (uint32_t c = 0; c < 3; c++)
            q[c] += part * v[c];
        rotate_by(q + 3, v + 3, part);
    }
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const mf_Joint *joint = &model->joints[j];
        double *own = q + joint->position_address;
        const double *rate = v + joint->velocity_address;
        const uint32_t along = joint->type == MF_JOINT_FLOATING                                 ? 3
                               : joint->type == MF_JOINT_HINGE || joint->type == MF_JOINT_SLIDE ? 1
                                                                                                : 0;
        for (uint32_t c = 0; c < along; c++)
            own[c] += part * rate[c];
        if (joint->type == MF_JOINT_FLOATING || joint->type == MF_JOINT_BALL)
            rotate_by(own + along, rate + along, part);
    }
}

// Against differences of poses: (x(t + h) - x(t - h)) / 2 h.
static void check_velocities(Rig *rig) {
    const mf_Model *model = rig->model;
    const uint32_t links = model->link_count, nq = model->position_count;
    const double h = 1e-5;
    AUTO(end_memory)
    double *velocity = numbers(6 * links), *q = numbers(nq), *v = numbers(model->velocity_count);
    AUTO(end_memory) double *positions = numbers(6 * links), *rotations = numbers(8 * links);
    double *const position[2] = {positions, positions + 3 * links};
    double *const rotation[2] = {rotations, rotations + 4 * links};
    double worst = 0.0;
    for (uint32_t i = 0; i < 5; i++) {
        MUST(mf_group_link_velocities(rig->group, i, 1, velocity, &error));
        for (int side = 0; side < 2; side++) {
            mf_group_get_position(rig->group, i, q);
            random_velocity(rig, i, v);
            move_vector(model, q, v, side == 0 ? -h : h);
            mf_group_set_state(rig->group, COUNT - 1, q, v);
            MUST(mf_group_link_poses(rig->group, COUNT - 1, 1, position[side], rotation[side],
                                     &error));
        }
        for (uint32_t l = 0; l < links; l++) {
            double between[4], back[4];
            mf_quat_conjugate(back, rotation[0] + 4 * l);
            mf_quat_multiply(between, rotation[1] + 4 * l, back);
            for (uint32_t c = 0; c < 3; c++) {
                const double moved = position[1][3 * l + c] - position[0][3 * l + c];
                worst = fmax(worst, fabs(velocity[6 * l + c] - moved / (2 * h)));
                const double angle = between[0] < 0 ? -between[1 + c] : between[1 + c];
                worst = fmax(worst, fabs(velocity[6 * l + 3 + c] - angle / h));
            }
        }
    }
    print_message("  velocity against differences: %.2g\n", worst);
    assert_true(worst < 2e-7);
}

// ---- identities --------------------------------------------------------------------------------

// Adds J^T I J of a link about its center of mass, by the kinetic energy of unit velocities.
static void add_link_inertia(const mf_Link *link, const double *rotation, const double *jacobian,
                             uint32_t n, double *matrix) {
    double inertia[6];
    mf_inertia_rotate(inertia, link->inertia, rotation);
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++) {
            double wa[3], wb[3];
            for (uint32_t c = 0; c < 3; c++) {
                wa[c] = jacobian[(3 + c) * n + a];
                wb[c] = jacobian[(3 + c) * n + b];
                matrix[a * n + b] += link->mass * jacobian[c * n + a] * jacobian[c * n + b];
            }
            const double spun[3] = {inertia[0] * wb[0] + inertia[3] * wb[1] + inertia[4] * wb[2],
                                    inertia[3] * wb[0] + inertia[1] * wb[1] + inertia[5] * wb[2],
                                    inertia[4] * wb[0] + inertia[5] * wb[1] + inertia[2] * wb[2]};
            matrix[a * n + b] += mf_vec3_dot(wa, spun);
        }
}

static void add_armature(const Rig *rig, double *matrix) {
    bool is_free;
    AUTO(end_memory) double *armature = numbers(rig->n);
    assert_true(mf_art_armature(rig->group, &is_free, armature));
    for (uint32_t i = 0; i < rig->n; i++)
        matrix[i * (rig->n + 1)] += armature[i];
}

static void check_mass(Rig *rig) {
    const uint32_t n = rig->n, links = rig->model->link_count;
    AUTO(end_memory)
    double *mass = numbers((size_t)n * n * COUNT), *jacobian = numbers(6 * n),
           *sum = numbers((size_t)n * n), *position = numbers(3 * links),
           *rotation = numbers(4 * links);
    double worst = 0.0;
    MUST(mf_group_mass_matrix(rig->group, 0, COUNT, mass, &error));
    for (uint32_t i = 0; i < COUNT; i += 4) {
        const double *own = mass + (size_t)n * n * i;
        memset(sum, 0, (size_t)n * n * sizeof *sum);
        add_armature(rig, sum);
        MUST(mf_group_link_poses(rig->group, i, 1, position, rotation, &error));
        for (uint32_t l = 0; l < links; l++) {
            const mf_Link *link = &rig->model->links[l];
            MUST(mf_group_jacobian(rig->group, i, 1, l, link->center, jacobian, &error));
            add_link_inertia(link, rotation + 4 * l, jacobian, n, sum);
        }
        const double scale = largest(own, (size_t)n * n);
        for (uint32_t a = 0; a < n; a++)
            for (uint32_t b = 0; b < n; b++) {
                assert_true(own[a * n + b] == own[b * n + a]);
                worst = fmax(worst, fabs(own[a * n + b] - sum[a * n + b]) / scale);
            }
    }
    print_message("  mass matrix against sum of J^T I J: %.2g\n", worst);
    assert_true(worst < 1e-13);
}

// Cholesky's method succeeds.
static void check_definite(Rig *rig) {
    const uint32_t n = rig->n;
    AUTO(end_memory) double *m = numbers((size_t)n * n);
    for (uint32_t i = 0; i < COUNT; i++) {
        MUST(mf_group_mass_matrix(rig->group, i, 1, m, &error));
        for (uint32_t c = 0; c < n; c++) {
            for (uint32_t k = 0; k < c; k++)
                for (uint32_t r = c; r < n; r++)
                    m[r * n + c] -= m[r * n + k] * m[c * n + k];
            assert_true(m[c * n + c] > 0.0);
            const double root = 1.0 / sqrt(m[c * n + c]);
            for (uint32_t r = c; r < n; r++)
                m[r * n + c] *= root;
        }
    }
}

// Forces of accelerations of forces, M a + h, and the articulated-body algorithm of a step.
static void check_forces(Rig *rig) {
    const uint32_t n = rig->n;
    AUTO(end_memory)
    double *force = numbers(n * COUNT), *moved = numbers(n * COUNT), *back = numbers(n * COUNT),
           *bias = numbers(n * COUNT), *mass = numbers((size_t)n * n * COUNT), *step = numbers(n);
    double round = 0.0, sum = 0.0, other = 0.0;
    for (uint32_t i = 0; i < n * COUNT; i++)
        force[i] = 20.0 * unit(3, i) - 10.0;
    MUST(mf_group_forward_dynamics(rig->group, 0, COUNT, force, moved, &error));
    MUST(mf_group_inverse_dynamics(rig->group, 0, COUNT, moved, back, &error));
    MUST(mf_group_bias(rig->group, 0, COUNT, bias, &error));
    MUST(mf_group_mass_matrix(rig->group, 0, COUNT, mass, &error));
    for (uint32_t i = 0; i < COUNT; i++) {
        const double *a = moved + (size_t)i * n, *m = mass + (size_t)i * n * n;
        mf_articulated_forward(rig->group, i, force + (size_t)i * n, step);
        const double size = largest(a, n);
        for (uint32_t r = 0; r < n; r++) {
            double value = bias[i * n + r], scale = 10.0 + fabs(value);
            for (uint32_t c = 0; c < n; c++) {
                value += m[r * n + c] * a[c];
                scale = fmax(scale, fabs(m[r * n + c] * a[c]));
            }
            sum = fmax(sum, fabs(value - force[i * n + r]) / scale);
            round = fmax(round, fabs(back[i * n + r] - force[i * n + r]) / scale);
            other = fmax(other, fabs(step[r] - a[r]) / size);
        }
    }
    print_message("  RNEA(FD(force)) - force: %.2g, M a + h - force: %.2g, ABA - FD: %.2g\n", round,
                  sum, other);
    assert_true(round < 1e-10 && sum < 1e-10 && other < 1e-7);
}

static void check_model(const char *path) {
    Rig rig;
    if (!open_rig(&rig, path, true, 1, MF_ISA_AUTO))
        return;
    print_message("%s: %u velocities\n", rig.model->name, rig.n);
    check_poses(&rig);
    check_mass(&rig);
    check_definite(&rig);
    check_forces(&rig);
    check_velocities(&rig);
    pitch_close(&rig.pitch);
}

TEST(identities_hold_for_every_joint) {
    check_model(NULL);
    check_model(MAYFLY_SOURCE_DIR "/models/ant.xml");
    check_model(MAYFLY_SOURCE_DIR "/models/hexapod.urdf");
}

TEST(identities_hold_for_public_robots) {
    static const char *const names[] = {"mujoco_models/humanoid.xml",
                                        "mujoco_models/car.xml",
                                        "booster_t1/t1.xml",
                                        "wonik_allegro/left_hand.xml",
                                        "unitree_g1/g1_mjx.xml",
                                        "unitree_go2/go2_mjx.xml",
                                        "anybotics_anymal_c/anymal_c_mjx.xml",
                                        "shadow_hand/left_hand.xml",
                                        "phantomx_description/urdf/phantomx.urdf"};
    const char *folder = getenv("MAYFLY_SHARED");
    if (folder == NULL) {
        print_message("MAYFLY_SHARED is not set\n");
        skip();
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        check_model(formatted("%s/models/%s", folder, names[i]));
    }
}

// ---- closed form -------------------------------------------------------------------------------

// A pendulum: M = m l^2 + I, h = m g l sin(angle).
TEST(a_pendulum_is_as_in_the_book) {
    Rig rig;
    rig.pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    mf_Model *model = load_text(
        rig.pitch.context,
        "<mujoco><worldbody><body pos='0 0 2'><joint type='hinge' axis='0 1 0'/>"
        "<inertial pos='0 0 -.5' mass='2' diaginertia='.1 .1 .1'/></body></worldbody></mujoco>");
    rig.group = pitch_bodies(&rig.pitch, model, "robots", COUNT, true);
    double mass[COUNT], bias[COUNT], force[COUNT], moved[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        set_field(rig.group, "joint.angle", i, 0, 0.3 * i - 2.0);
        set_field(rig.group, "joint.rate", i, 0, 1.0 + i);
        force[i] = 0.5 * i;
    }
    MUST(mf_group_mass_matrix(rig.group, 0, COUNT, mass, &error));
    MUST(mf_group_bias(rig.group, 0, COUNT, bias, &error));
    MUST(mf_group_forward_dynamics(rig.group, 0, COUNT, force, moved, &error));
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_near(mass[i], 0.6, 1e-14);
        assert_near(bias[i], 2 * 9.81 * 0.5 * sin(0.3 * i - 2.0), 1e-12);
        assert_near(moved[i], (force[i] - bias[i]) / 0.6, 1e-12);
    }
    pitch_close(&rig.pitch);
}

// ---- bits --------------------------------------------------------------------------------------

typedef struct Answers {
    size_t size;
    double *values; // all results for all robots, one kind after the other
} Answers;

// Asks for ranges of `part` robots.
static Answers ask(Rig *rig, uint32_t part) {
    const size_t n = rig->n, links = rig->model->link_count,
                 counts[] = {n * n, n, n, n, 6 * n, 3 * links, 4 * links, 6 * links};
    double *at[8];
    AUTO(end_memory) double *force = numbers(n * COUNT);
    Answers answers = {.size = 0};
    for (int k = 0; k < 8; k++)
        answers.size += counts[k] * COUNT;
    answers.values = numbers(answers.size);
    at[0] = answers.values;
    for (int k = 1; k < 8; k++)
        at[k] = at[k - 1] + counts[k - 1] * COUNT;
    for (size_t i = 0; i < n * COUNT; i++)
        force[i] = unit(3, (uint32_t)i);
    for (uint32_t i = 0; i < COUNT; i += part) {
        const uint32_t many = part < COUNT - i ? part : COUNT - i, last = (uint32_t)links - 1;
        mf_Group *group = rig->group;
        double *to[8];
        for (int k = 0; k < 8; k++)
            to[k] = at[k] + counts[k] * i;
        MUST(mf_group_mass_matrix(group, i, many, to[0], &error));
        MUST(mf_group_bias(group, i, many, to[1], &error));
        MUST(mf_group_inverse_dynamics(group, i, many, force + n * i, to[2], &error));
        MUST(mf_group_forward_dynamics(group, i, many, force + n * i, to[3], &error));
        MUST(mf_group_jacobian(group, i, many, last, (double[]){0.1, 0.2, 0.3}, to[4], &error));
        MUST(mf_group_link_poses(group, i, many, to[5], to[6], &error));
        MUST(mf_group_link_velocities(group, i, many, to[7], &error));
    }
    return answers;
}

TEST(bits_do_not_depend_on_the_batch) {
    static const uint32_t parts[] = {COUNT, 1, 2, 5, 7, 17};
    static const mf_Isa isas[] = {MF_ISA_AUTO, MF_ISA_SCALAR};
    for (int wide = 0; wide < 2; wide++) {
        Answers first = {0};
        for (int k = 0; k < 12; k++) {
            Rig rig;
            assert_true(open_rig(&rig, NULL, wide, k % 3 == 1 ? 3 : 1, isas[k / 6]));
            Answers now = ask(&rig, parts[k % 6]);
            if (first.values == NULL)
                first = now;
            else {
                assert_memory_equal(first.values, now.values, first.size * sizeof(double));
                free(now.values);
            }
            pitch_close(&rig.pitch);
        }
        free(first.values);
    }
}

// ---- bounds ------------------------------------------------------------------------------------

TEST(bad_ranges_are_refused) {
    Rig rig;
    double scratch[64] = {0};
    assert_true(open_rig(&rig, NULL, true, 1, MF_ISA_AUTO));
    mf_Group *group = rig.group;
    MUST_FAIL(mf_group_bias(group, COUNT, 1, scratch, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_group_bias(group, 1, COUNT, scratch, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_group_bias(group, 0, UINT32_MAX, scratch, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_group_bias(group, 0, 1, NULL, &error), MF_BAD_ARGUMENT, "");
    MUST(mf_group_bias(group, COUNT, 0, scratch, &error));
    MUST_FAIL(mf_group_jacobian(group, 0, 1, 99, scratch, scratch, &error), MF_BAD_ARGUMENT, "");
    assert_int_equal(mf_group_velocity_address(group, 99), MF_NONE);
    pitch_close(&rig.pitch);
}
