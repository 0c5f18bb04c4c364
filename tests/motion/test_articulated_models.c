// The equations of motion of real robots: the algorithms of `articulated` against each other on
// random states of the models in the shared folder. With the path of a model as argument it answers
// questions instead: for each position, velocity, force and control vector on the input it prints
// mass matrix, bias, acceleration, and the velocity after an explicit step with the controls but
// without constraints (test_articulated_peers.sh asks MuJoCo the same).
#include "motion/articulated_stage.h"

#include <stdlib.h>

typedef struct Robot {
    mf_Context *context;
    mf_Model *model;
    mf_World *world;
    mf_Group *group;
    uint32_t n; // [1] velocity values
} Robot;

static bool robot_open(Robot *robot, const char *path) {
    mf_Error error = {0};
    mf_WorldConfig world = mf_world_config();
    mf_GroupConfig group = mf_group_config();
    robot->context = make_context(1);
    if (mf_model_load(robot->context, path, NULL, &robot->model, &error) != MF_OK) {
        print_message("%s: %s\n", path, error.message);
        mf_context_destroy(robot->context);
        return false;
    }
    world.gravity = -robot->model->physics.gravity[2];
    world.step = MF_MILLISECOND;
    // Dry friction is a constraint of MuJoCo's. (The loader's memory, not shared yet.)
    for (uint32_t j = 0; j < robot->model->joint_count; j++)
        ((mf_Joint *)(uintptr_t)&robot->model->joints[j])->friction = 0.0;
    group.model = robot->model;
    group.double_precision = true;
    must(mf_world_create(robot->context, &world, &robot->world, &error), &error);
    must(mf_world_add_group(robot->world, &group, &robot->group, &error), &error);
    mf_ArticulatedConfig config = mf_articulated_config();
    config.integrator = MF_ARTICULATED_EULER;
    config.contacts = config.self_contacts = config.limits = false;
    must(mf_articulated_add(robot->group, &config, &error), &error);
    robot->n = mf_articulated_velocity_count(robot->group);
    return true;
}

static void robot_close(Robot *robot) {
    mf_world_destroy(robot->world);
    mf_model_destroy(robot->model);
    mf_context_destroy(robot->context);
}

static void set(const Robot *robot, const char *name, uint32_t first, uint32_t count,
                const double *values) {
    mf_Field *field = mf_group_find_field(robot->group, name);
    for (uint32_t i = 0; i < count; i++)
        mf_field_set(field, 0, first + i, values[i]);
}

// From position and velocity vectors in the model's order.
static void set_state(const Robot *robot, const double *q, const double *v) {
    uint32_t balls = 0, frees = 0;
    if (robot->model->base == MF_BASE_FREE) {
        set(robot, "base.position", 0, 3, q);
        set(robot, "base.orientation", 0, 4, q + 3);
        set(robot, "base.linear_velocity", 0, 3, v);
        set(robot, "base.angular_velocity", 0, 3, v + 3);
        q += 7;
        v += 6;
    }
    for (uint32_t j = 0; j < robot->model->joint_count; j++) {
        mf_JointType type = robot->model->joints[j].type;
        if (type == MF_JOINT_HINGE || type == MF_JOINT_SLIDE) {
            set(robot, "joint.angle", j, 1, q++);
            set(robot, "joint.rate", j, 1, v++);
        }
        if (type == MF_JOINT_FLOATING) {
            set(robot, "free.position", 3 * frees, 3, q);
            set(robot, "free.velocity", 3 * frees++, 3, v);
            q += 3;
            v += 3;
        }
        if (type == MF_JOINT_FLOATING || type == MF_JOINT_BALL) {
            set(robot, "ball.orientation", 4 * balls, 4, q);
            set(robot, "ball.rate", 3 * balls++, 3, v);
            q += 4;
            v += 3;
        }
    }
}

static void get(const Robot *robot, const char *name, uint32_t first, uint32_t count, double *out) {
    mf_Field *field = mf_group_find_field(robot->group, name);
    for (uint32_t i = 0; i < count; i++)
        out[i] = mf_field_get(field, 0, first + i);
}

static void get_velocity(const Robot *robot, double *v) {
    uint32_t balls = 0, frees = 0;
    if (robot->model->base == MF_BASE_FREE) {
        get(robot, "base.linear_velocity", 0, 3, v);
        get(robot, "base.angular_velocity", 0, 3, v + 3);
        v += 6;
    }
    for (uint32_t j = 0; j < robot->model->joint_count; j++) {
        mf_JointType type = robot->model->joints[j].type;
        if (type == MF_JOINT_HINGE || type == MF_JOINT_SLIDE)
            get(robot, "joint.rate", j, 1, v++);
        if (type == MF_JOINT_FLOATING) {
            get(robot, "free.velocity", 3 * frees++, 3, v);
            v += 3;
        }
        if (type == MF_JOINT_FLOATING || type == MF_JOINT_BALL) {
            get(robot, "ball.rate", 3 * balls++, 3, v);
            v += 3;
        }
    }
}

static uint32_t position_count(const Robot *robot) {
    uint32_t count = robot->model->base == MF_BASE_FREE ? 7 : 0;
    for (uint32_t j = 0; j < robot->model->joint_count; j++) {
        mf_JointType type = robot->model->joints[j].type;
        count += type == MF_JOINT_FLOATING ? 7 : type == MF_JOINT_BALL ? 4 : type <= 1;
    }
    return count;
}

// ---- questions ----------------------------------------------------------------------------------

static double *numbers(uint32_t count) {
    double *values = calloc(count + 1, sizeof *values);
    assert_non_null(values);
    return values;
}

static bool read_numbers(double *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (scanf("%lf", &values[i]) != 1)
            return false;
    return true;
}

static void print_numbers(const double *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        printf("%.17g ", values[i]);
    printf("\n");
}

static int answer(const char *path) {
    Robot robot;
    if (!robot_open(&robot, path))
        return 3;
    uint32_t n = robot.n, nq = position_count(&robot), nu = robot.model->actuator_count;
    double *q = numbers(nq), *v = numbers(n), *force = numbers(n), *matrix = numbers(n * n),
           *control = numbers(nu);
    printf("%u %u %u\n", nq, n, nu);
    while (read_numbers(q, nq) && read_numbers(v, n) && read_numbers(force, n) &&
           read_numbers(control, nu)) {
        set_state(&robot, q, v);
        mf_articulated_mass_matrix(robot.group, 0, matrix);
        print_numbers(matrix, n * n);
        mf_articulated_bias(robot.group, 0, v);
        print_numbers(v, n);
        mf_articulated_forward(robot.group, 0, force, v);
        print_numbers(v, n);
        if (nu > 0)
            set(&robot, "actuator.control", 0, nu, control);
        mf_world_step(robot.world, 1);
        get_velocity(&robot, v);
        print_numbers(v, n);
        mf_group_reset_all(robot.group);
    }
    free(control);
    free(q);
    free(v);
    free(force);
    free(matrix);
    robot_close(&robot);
    return 0;
}

// ---- the algorithms against each other ----------------------------------------------------------

static double largest(const double *values, uint32_t count) {
    double size = 0.0;
    for (uint32_t i = 0; i < count; i++)
        size = fmax(size, fabs(values[i]));
    return size;
}

static void random_state(const Robot *robot, uint64_t s) {
    uint32_t nq = position_count(robot), n = robot->n;
    double *q = numbers(nq), *v = numbers(n);
    for (uint32_t i = 0; i < nq; i++)
        q[i] = random_signed(400, s * 1000 + i);
    for (uint32_t i = 0; i < n; i++)
        v[i] = random_signed(401, s * 1000 + i);
    set_state(robot, q, v); // quaternions are made unit by the reader
    free(q);
    free(v);
}

static void check_model(const char *path) {
    Robot robot;
    if (!robot_open(&robot, path))
        return;
    uint32_t n = robot.n;
    double *force = numbers(n), *got = numbers(n), *bias = numbers(n), *matrix = numbers(n * n),
           *unit = numbers(n);
    double worst_force = 0.0, worst_matrix = 0.0;
    for (uint64_t s = 0; s < 200; s++) {
        random_state(&robot, s);
        for (uint32_t i = 0; i < n; i++)
            force[i] = random_signed(402, s * 1000 + i);
        mf_articulated_forward(robot.group, 0, force, got);
        mf_articulated_inverse(robot.group, 0, got, got);
        mf_articulated_bias(robot.group, 0, bias);
        mf_articulated_mass_matrix(robot.group, 0, matrix);
        double scale = largest(bias, n) + largest(force, n) + largest(matrix, n * n);
        for (uint32_t i = 0; i < n; i++)
            worst_force = fmax(worst_force, fabs(got[i] - force[i]) / scale);
        uint32_t c = (uint32_t)s % n;
        unit[c] = 1.0;
        mf_articulated_inverse(robot.group, 0, unit, got);
        unit[c] = 0.0;
        for (uint32_t i = 0; i < n; i++)
            worst_matrix = fmax(worst_matrix, fabs(got[i] - bias[i] - matrix[i * n + c]) / scale);
    }
    print_message("%s: %u velocities, forces %.2g, matrix %.2g\n", path, n, worst_force,
                  worst_matrix);
    assert_true(worst_force < 1e-9 && worst_matrix < 1e-12);
    free(force);
    free(got);
    free(bias);
    free(matrix);
    free(unit);
    robot_close(&robot);
}

static void every_model(void **state) {
    (void)state;
    static const char *const names[] = {
        "mujoco_models/humanoid.xml",   "mujoco_models/car.xml", "booster_t1/t1.xml",
        "bitcraze_crazyflie_2/cf2.xml", "skydio_x2/x2.xml",      "wonik_allegro/left_hand.xml",
        "wonik_allegro/right_hand.xml"};
    const char *shared = getenv("MAYFLY_SHARED");
    char folder[512], path[1024];
    snprintf(folder, sizeof folder, "%s", shared != NULL ? shared : MAYFLY_SOURCE_DIR "/../shared");
    snprintf(path, sizeof path, "%s/models/%s", folder, names[0]);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        print_message("skipped: no models in %s\n", folder);
        skip();
    }
    fclose(file);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/models/%s", folder, names[i]);
        check_model(path);
    }
}

int main(int argc, char **argv) {
    if (argc > 1)
        return answer(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
