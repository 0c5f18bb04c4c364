// The equations of motion of real robots: the algorithms of `articulated` against each other on
// random states of the models in the shared folder. With the path of a model as argument it is a
// filter (test_articulated_peers.sh compares it with MuJoCo): for each position, velocity, force,
// control and activation vector on the input it writes the mass matrix, the bias, the pose and
// Jacobian of each body, the acceleration due to that force alone, the actuator forces, and the
// acceleration due to everything but constraints. Numbers are doubles in native byte order.
#include "math/scalar.h"
#include "motion/articulated_rig.h"

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
    robot->context = open_context(1);
    if (mf_model_load(robot->context, path, NULL, &robot->model, &error) != MF_OK) {
        print_message("%s: %s\n", path, error.message);
        mf_context_destroy(robot->context);
        return false;
    }
    world = mf_world_config_for(robot->model);
    world.step = MF_MILLISECOND;
    // Dry friction and equalities are constraints of MuJoCo's. (The loader's memory, not shared
    // yet.)
    for (uint32_t j = 0; j < robot->model->joint_count; j++)
        ((mf_Joint *)(uintptr_t)&robot->model->joints[j])->friction = 0.0;
    for (uint32_t t = 0; t < robot->model->tendon_count; t++)
        ((mf_Tendon *)(uintptr_t)&robot->model->tendons[t])->friction = 0.0;
    robot->model->equality_count = 0;
    group.model = robot->model;
    group.double_precision = true;
    robot->world = open_world(robot->context, &world);
    robot->group = add_group(robot->world, &group);
    must(rig_add_articulated(robot->group,
                             &WITH(mf_motions_config().articulated,
                                   .integrator = MF_ARTICULATED_EULER, .contacts = false,
                                   .self_contacts = false, .limits = false),
                             &error),
         &error);
    robot->n = mf_group_velocity_count(robot->group);
    return true;
}

static void robot_close(Robot *robot) {
    mf_world_destroy(robot->world);
    mf_model_destroy(robot->model);
    mf_context_destroy(robot->context);
}

// ---- queries ------------------------------------------------------------------------------------

static double *numbers(uint32_t count) {
    double *values = calloc(count + 1, sizeof *values);
    assert_non_null(values);
    return values;
}

static bool read_numbers(double *values, uint32_t count) {
    return fread(values, sizeof *values, count, stdin) == count;
}

static void write_numbers(const double *values, size_t count) {
    if (fwrite(values, sizeof *values, count, stdout) != count)
        exit(4);
}

static double field_value(const Robot *robot, const char *name, uint32_t component) {
    return get_field(robot->group, name, 0, component);
}

static void set_values(const Robot *robot, const char *name, uint32_t count, const double *values) {
    mf_Field *field = mf_group_find_field(robot->group, name);
    for (uint32_t i = 0; i < count; i++)
        mf_field_set(field, 0, i, values[i]);
}

// The velocity vector; joints in the model's order.
static void get_velocity(const Robot *robot, double *v) {
    uint32_t balls = 0, frees = 0;
    for (uint32_t i = 0; robot->model->base == MF_BASE_FREE && i < 6; i++)
        *v++ = field_value(robot, i < 3 ? "base.linear_velocity" : "base.angular_velocity", i % 3);
    for (uint32_t j = 0; j < robot->model->joint_count; j++) {
        mf_JointType type = robot->model->joints[j].type;
        if (type == MF_JOINT_HINGE || type == MF_JOINT_SLIDE)
            *v++ = field_value(robot, "joint.rate", j);
        for (uint32_t i = 0; type == MF_JOINT_FLOATING && i < 3; i++)
            *v++ = field_value(robot, "free.velocity", 3 * frees + i);
        for (uint32_t i = 0; (type == MF_JOINT_FLOATING || type == MF_JOINT_BALL) && i < 3; i++)
            *v++ = field_value(robot, "ball.rate", 3 * balls + i);
        frees += type == MF_JOINT_FLOATING;
        balls += type == MF_JOINT_FLOATING || type == MF_JOINT_BALL;
    }
}

// Place, attitude and Jacobian of each body's frame.
static void write_bodies(const Robot *robot, double *matrix) {
    const mf_Model *model = robot->model;
    double(*position)[3] = calloc(model->link_count, sizeof *position);
    double(*rotation)[4] = calloc(model->link_count, sizeof *rotation);
    assert_true(position != NULL && rotation != NULL);
    mf_group_link_poses(robot->group, 0, 1, position[0], rotation[0], NULL);
    for (uint32_t b = 0; b < model->body_count; b++) {
        const mf_Body *body = &model->bodies[b];
        double at[3], q[4];
        memcpy(at, body->position, sizeof at);
        memcpy(q, body->rotation, sizeof q);
        memset(matrix, 0, 6 * (size_t)robot->n * sizeof *matrix);
        if (body->link != MF_NONE) {
            mf_quat_rotate(at, rotation[body->link], body->position);
            mf_vec3_add(at, at, position[body->link]);
            mf_quat_multiply(q, rotation[body->link], body->rotation);
            mf_group_jacobian(robot->group, 0, 1, body->link, body->position, matrix, NULL);
        }
        write_numbers(at, 3);
        write_numbers(q, 4);
        write_numbers(matrix, 6 * (size_t)robot->n);
    }
    free(position);
    free(rotation);
}

typedef struct Question {
    double *q, *v, *force, *control, *activation;
} Question;

static bool read_question(const mf_Model *model, const Question *in) {
    return read_numbers(in->q, model->position_count) &&
           read_numbers(in->v, model->velocity_count) &&
           read_numbers(in->force, model->velocity_count) &&
           read_numbers(in->control, model->actuator_count) &&
           read_numbers(in->activation, model->activation_count);
}

// By everything but constraints: the change of velocity in an explicit step over its length.
static void write_step(const Robot *robot, const Question *in, double *out) {
    const mf_Model *model = robot->model;
    mf_Field *activation = mf_group_find_field(robot->group, "actuator.activation");
    if (model->actuator_count > 0)
        set_values(robot, "actuator.control", model->actuator_count, in->control);
    for (uint32_t i = 0; i < model->actuator_count; i++)
        if (model->actuators[i].activation_address != MF_NONE)
            mf_field_set(activation, 0, i, in->activation[model->actuators[i].activation_address]);
    mf_world_step(robot->world, 1);
    assert_int_equal(mf_group_fault(robot->group, 0), 0);
    for (uint32_t i = 0; i < model->actuator_count; i++)
        out[i] = field_value(robot, "actuator.force", i);
    write_numbers(out, model->actuator_count);
    get_velocity(robot, out);
    for (uint32_t i = 0; i < robot->n; i++)
        out[i] = (out[i] - in->v[i]) / 1e-3;
    write_numbers(out, robot->n);
}

static int answer(const char *path) {
    Robot robot;
    if (!robot_open(&robot, path))
        return 3;
    const mf_Model *model = robot.model;
    uint32_t n = robot.n, nu = model->actuator_count;
    AUTO(end_memory) double *out = numbers((n + 6) * (n + 6) + nu);
    const Question in = {numbers(model->position_count), numbers(n), numbers(n), numbers(nu),
                         numbers(model->activation_count)};
    const double sizes[] = {model->position_count, n, nu, model->activation_count,
                            model->body_count};
    write_numbers(sizes, 5);
    while (read_question(model, &in)) {
        const double origin[] = {0, 0, 0, 1, 0, 0, 0}; // a fixed base starts on the ground
        set_values(&robot, "base.position", 3, origin);
        set_values(&robot, "base.orientation", 4, origin + 3);
        mf_group_set_state(robot.group, 0, in.q, in.v);
        mf_group_mass_matrix(robot.group, 0, 1, out, NULL);
        write_numbers(out, (size_t)n * n);
        mf_group_bias(robot.group, 0, 1, out, NULL);
        write_numbers(out, n);
        write_bodies(&robot, out);
        mf_articulated_forward(robot.group, 0, in.force, out);
        write_numbers(out, n);
        write_step(&robot, &in, out);
        mf_group_reset_all(robot.group);
    }
    free(in.q);
    free(in.v);
    free(in.force);
    free(in.control);
    free(in.activation);
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
    uint32_t nq = robot->model->position_count, n = robot->n;
    double *q = numbers(nq), *v = numbers(n);
    for (uint32_t i = 0; i < nq; i++)
        q[i] = random_signed(400, s * 1000 + i);
    for (uint32_t i = 0; i < n; i++)
        v[i] = random_signed(401, s * 1000 + i);
    mf_group_set_state(robot->group, 0, q, v); // quaternions are made unit by the reader
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
        mf_group_inverse_dynamics(robot.group, 0, 1, got, got, NULL);
        mf_group_bias(robot.group, 0, 1, bias, NULL);
        mf_group_mass_matrix(robot.group, 0, 1, matrix, NULL);
        double scale = largest(bias, n) + largest(force, n) + largest(matrix, n * n);
        for (uint32_t i = 0; i < n; i++)
            worst_force = fmax(worst_force, fabs(got[i] - force[i]) / scale);
        uint32_t c = (uint32_t)s % n;
        unit[c] = 1.0;
        mf_group_inverse_dynamics(robot.group, 0, 1, unit, got, NULL);
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

TEST(every_model) {
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
    return run_listed_tests();
}
