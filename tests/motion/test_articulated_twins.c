// The same models as in MuJoCo (contact_law mujoco): limits, contacts with the ground and between
// links, damping, with MuJoCo's Euler and Runge-Kutta integrators, against numbers of MuJoCo
// (articulated_twins.h). Both solve the same problem in each step to rounding, so after 80 steps
// only accumulated rounding remains.
#include "motion/articulated_rig.h"

typedef struct Twin {
    const char *name;
    bool rk4;
    double step;                       // [s]
    double gravity[3];                 // [m/s^2]
    uint32_t positions, velocities;    // [1]
    const char *text;                  // MJCF
    double first[40];                  // velocities at the start
    double position[40], velocity[40]; // at the end
} Twin;

#include "motion/articulated_twins.h"

typedef struct State {
    double position[TWIN_VALUES], velocity[TWIN_VALUES];
    double residual; // of the solver
    uint32_t warning;
} State;

typedef struct Robot {
    const Rig *t;
    uint32_t number;
} Robot;

static void copy(Robot robot, const char *name, uint32_t first, uint32_t count, double *out) {
    const mf_Field *field = mf_group_find_field(robot.t->group, name);
    for (uint32_t i = 0; i < count; i++)
        out[i] = mf_field_get(field, robot.number, first + i);
}

static State state_of(const Rig *t, uint32_t number) {
    const Robot robot = {t, number};
    State out = {0};
    uint32_t balls = 0, frees = 0;
    if (t->model->base == MF_BASE_FREE) {
        copy(robot, "base.position", 0, 3, out.position);
        copy(robot, "base.orientation", 0, 4, out.position + 3);
        copy(robot, "base.linear_velocity", 0, 3, out.velocity);
        copy(robot, "base.angular_velocity", 0, 3, out.velocity + 3);
    }
    for (uint32_t j = 0; j < t->model->joint_count; j++) {
        const mf_Joint *joint = &t->model->joints[j];
        double *q = out.position + joint->position_address,
               *v = out.velocity + joint->velocity_address;
        if (joint->type == MF_JOINT_FLOATING) {
            copy(robot, "free.position", 3 * frees, 3, q);
            copy(robot, "free.velocity", 3 * frees++, 3, v);
            copy(robot, "ball.orientation", 4 * balls, 4, q + 3);
            copy(robot, "ball.rate", 3 * balls++, 3, v + 3);
        } else if (joint->type == MF_JOINT_BALL) {
            copy(robot, "ball.orientation", 4 * balls, 4, q);
            copy(robot, "ball.rate", 3 * balls++, 3, v);
        } else if (joint->type != MF_JOINT_FIXED) {
            copy(robot, "joint.angle", j, 1, q);
            copy(robot, "joint.rate", j, 1, v);
        }
    }
    return out;
}

static State play(const Twin *twin, bool like, bool rk4) {
    ArtConfig config = art_config(rk4 ? MF_ARTICULATED_RK4 : MF_ARTICULATED_IMPLICIT,
                                  mf_time_from_seconds(twin->step));
    const double pull =
        sqrt(twin->gravity[0] * twin->gravity[0] + twin->gravity[2] * twin->gravity[2]);
    config.world.gravity = pull;
    for (int i = 0; i < 3; i++)
        config.world.gravity_direction[i] = twin->gravity[i] / pull;
    config.motion.shapes = true;
    config.motion.contact_law = like ? MF_CONTACT_LAW_MUJOCO : MF_CONTACT_LAW_COMPLIANT;
    AUTO_RIG t = text_open(twin->text, config);
    mf_group_set_state(t.group, 0, t.model->start_position, twin->first);
    mf_world_step(t.world, TWIN_STEPS);
    State out = state_of(&t, 0);
    if (like) {
        out.residual = rig_get(&t, "solver.residual", 0);
        out.warning = mf_group_warning(t.group, 0);
    }
    // Hard equality constraints of another law may not get through a toggle point.
    if (mf_group_fault_total(t.group) != 0)
        out.position[0] = (double)INFINITY;
    return out;
}

static double error_of(const Twin *twin, const State *state) {
    double worst = 0.0;
    for (uint32_t i = 0; i < twin->positions; i++)
        worst = fmax(worst, fabs(state->position[i] - twin->position[i]));
    for (uint32_t i = 0; i < twin->velocities; i++)
        worst = fmax(worst, fabs(state->velocity[i] - twin->velocity[i]));
    return worst;
}

// Twins without ground fall, and some start in others: that is no lack of accuracy.
enum { COMMANDED = MF_WARNING_FALL | MF_WARNING_DEPTH | MF_WARNING_TUNNEL };

TEST(twins_follow_the_same_path) {
    int wrong = 0;
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) {
        const Twin *twin = &twins[i];
        const State end = play(twin, true, twin->rk4);
        double error = error_of(twin, &end);
        if (getenv("MAYFLY_TELL") != NULL)
            print_message("%s: %g, residual %g, warnings %u\n", twin->name, error, end.residual,
                          end.warning);
        wrong += !(error <= 1e-8 && (end.warning & ~(uint32_t)COMMANDED) == 0);
    }
    assert_int_equal(wrong, 0);
}

// What the agreement is due to: neither the other integrator nor contacts of the motion's own kind
// come near it.
TEST(others_do_not) {
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) {
        const Twin *twin = &twins[i];
        const State other = play(twin, true, !twin->rk4), own = play(twin, false, false);
        if (getenv("MAYFLY_TELL") != NULL)
            print_message("%s: other %g, own %g\n", twin->name, error_of(twin, &other),
                          error_of(twin, &own));
        assert_true(error_of(twin, &other) > 1e-5);
        assert_true(error_of(twin, &own) > 1e-4);
    }
}

// The pass against slip is more than nothing: without its sweeps the same models go another way.
// Not planar ones with an elliptic cone (a leg, clapping arms), whose blocks of A are singular:
// MuJoCo leaves them alone.
TEST(without_noslip_they_slip) {
    uint32_t with = 0;
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) {
        static const char sweeps[] = "noslip_iterations='";
        char text[9000];
        Twin other = twins[i];
        assert_true(strlen(other.text) < sizeof text);
        strcpy(text, other.text);
        char *count = strstr(text, sweeps);
        if (count == NULL)
            continue;
        for (count += sizeof sweeps - 1; *count != '\''; count++)
            *count = '0';
        other.text = text;
        const State end = play(&other, true, other.rk4);
        if (getenv("MAYFLY_TELL") != NULL)
            print_message("%s: without %g\n", other.name, error_of(&other, &end));
        with += error_of(&other, &end) > 1e-5;
    }
    assert_int_equal(with, 14);
}

// A box on a slope that friction holds (15 degrees, mu 0.5) creeps by what the regularized force is
// soft, and stands still with the pass against slip.
TEST(a_box_on_a_slope_stands) {
    double direction[2];
    for (int noslip = 0; noslip < 2; noslip++) {
        AUTO_RIG t = text_open(
            formatted(
                "<mujoco><option cone='elliptic' noslip_iterations='%d' "
                "noslip_tolerance='0'/><worldbody>"
                "<geom type='plane' size='9 9 1' friction='.5'/><body pos='0 0 .1'><freejoint/>"
                "<geom type='box' size='.2 .15 .1' friction='.5'/></body></worldbody></mujoco>",
                noslip * 10),
            WITH(art_config(MF_ARTICULATED_IMPLICIT, mf_time_from_seconds(0.002)),
                 .world.gravity = 9.81, .world.gravity_direction[0] = sin(M_PI / 12.0),
                 .world.gravity_direction[1] = 0.0, .world.gravity_direction[2] = -cos(M_PI / 12.0),
                 .motion.shapes = true, .motion.contact_law = MF_CONTACT_LAW_MUJOCO));
        mf_world_step(t.world, 500);
        const double first = rig_get(&t, "base.position", 0);
        mf_world_step(t.world, 500);
        direction[noslip] = rig_get(&t, "base.position", 0) - first;
    }
    if (getenv("MAYFLY_TELL") != NULL)
        print_message("creeps %g m/s, with noslip %g\n", direction[0], direction[1]);
    assert_true(direction[0] > 5e-4);
    assert_true(fabs(direction[1]) < 1e-12);
}

// The same with another attribute of <option>.
static State play_option(const Twin *twin, const char *option) {
    char text[8192];
    const char *mark = "<option ", *at = strstr(twin->text, mark);
    assert_non_null(at);
    const int before = (int)(at - twin->text) + (int)strlen(mark);
    const int size =
        snprintf(text, sizeof text, "%.*s%s %s", before, twin->text, option, twin->text + before);
    assert_true(size > 0 && (size_t)size < sizeof text);
    Twin other = *twin;
    other.text = text;
    return play(&other, true, twin->rk4);
}

// The solver goes as far as the file lets it, and says where that was not far enough.
TEST(the_file_ends_the_solver) {
    const Twin *twin = twins;
    while (strcmp(twin->name, "tumbler, elliptic") != 0)
        twin++;
    const State few = play_option(twin, "iterations='2'"),
                many = play_option(twin, "iterations='60'"),
                coarse = play_option(twin, "tolerance='1'"),
                sweeps = play_option(twin, "solver='PGS' iterations='1'");
    assert_true(few.warning == MF_WARNING_SOLVER && error_of(twin, &few) > 1e-3);
    assert_true(many.warning == 0 && error_of(twin, &many) <= 1e-8);
    assert_true(coarse.warning == 0 && error_of(twin, &coarse) > 1e-8);
    assert_true(sweeps.warning == 0 && error_of(twin, &sweeps) <= 1e-8);
}

// ---- company -----------------------------------------------------------------------------------

enum { ROBOTS = 37 };

// Robots first .. first + count - 1 of a row whose members start differently.
static void play_row(const Twin *twin, uint32_t first, uint32_t count, State *out) {
    AUTO_RIG t = text_open(twin->text,
                           WITH(art_config(twin->rk4 ? MF_ARTICULATED_RK4 : MF_ARTICULATED_IMPLICIT,
                                           mf_time_from_seconds(twin->step)),
                                .motion.shapes = true, .motion.contact_law = MF_CONTACT_LAW_MUJOCO,
                                .group.count = count, .group.double_precision = false));
    for (uint32_t i = 0; i < count; i++) {
        double velocity[TWIN_VALUES];
        for (uint32_t c = 0; c < twin->velocities; c++)
            velocity[c] = twin->first[c] * (1.0 + 0.3 * random_signed(7 + c, first + i));
        mf_group_set_state(t.group, i, t.model->start_position, velocity);
    }
    mf_world_step(t.world, TWIN_STEPS);
    for (uint32_t i = 0; i < count; i++)
        out[i] = state_of(&t, i);
    assert_int_equal(mf_group_fault_total(t.group), 0);
}

// The same bits alone and in a batch, on every instruction set.
TEST(bits_do_not_depend_on_batch_or_isa) {
    static State all[ROBOTS], again[ROBOTS];
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) {
        unsetenv("MAYFLY_ISA");
        play_row(&twins[i], 0, ROBOTS, all);
        for (uint32_t r = 0; r < ROBOTS; r += 5) {
            play_row(&twins[i], r, 1, again);
            assert_memory_equal(&again[0], &all[r], sizeof(State));
        }
        FOR_EACH_ISA (isa) {
            setenv("MAYFLY_ISA", mf_isa_name(isa), 1);
            play_row(&twins[i], 0, ROBOTS, again);
            assert_memory_equal(again, all, sizeof all);
        }
    }
    unsetenv("MAYFLY_ISA");
}
