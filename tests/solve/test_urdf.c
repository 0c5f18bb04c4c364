// What full dynamics reads from URDF files. With paths as arguments it is a filter
// (tests/peers/pinocchio_urdf.py compares it with Pinocchio): for each file it writes the notes,
// the joints, and for random states the mass matrix and the forces of random accelerations.
#include "motion/articulated_rig.h"
#include "solve/link_motion.h"

enum { STATES = 3 };

typedef struct Robot {
    mf_Context *context;
    mf_Model *model;
    mf_World *world;
    mf_Group *group;
    uint32_t n; // [1] velocity values
    bool moves; // `articulated` takes the model
} Robot;

static void robot_close(Robot *robot) {
    mf_world_destroy(robot->world);
    mf_model_destroy(robot->model);
    mf_context_destroy(robot->context);
}

// With the motors of the file, as a scene has them.
static void robot_start(Robot *robot, mf_Error *error) {
    mf_GroupConfig group = WITH(mf_group_config(), .model = robot->model, .double_precision = true);
    must(mf_world_create(robot->context, &WITH(mf_world_config(), .step = MF_MILLISECOND),
                         &robot->world, error),
         error);
    must(mf_world_add_group(robot->world, &group, &robot->group, error), error);
    robot->moves = mf_motion_add(robot->group, MF_MOTION_ARTICULATED, NULL, error) == MF_OK;
    robot->n = mf_group_velocity_count(robot->group);
}

static bool robot_open(Robot *robot, const char *path, mf_Error *error) {
    *robot = (Robot){.context = open_context(1)};
    if (mf_model_load(robot->context, path, NULL, &robot->model, error) != MF_OK)
        return false;
    robot_start(robot, error);
    return true;
}

// ---- the filter ---------------------------------------------------------------------------------

static void write_row(const char *name, const double *values, size_t count) {
    printf("%s", name);
    for (size_t i = 0; i < count; i++)
        printf(" %.17g", values[i]);
    printf("\n");
}

static double *numbers(size_t count) {
    double *values = calloc(count + 1, sizeof *values);
    if (values == NULL)
        exit(4);
    return values;
}

static void write_states(const Robot *robot) {
    const uint32_t n = robot->n, nq = robot->model->position_count;
    AUTO(end_memory)
    double *q = numbers(nq), *v = numbers(n), *a = numbers(n), *force = numbers(n),
           *matrix = numbers((size_t)n * n);
    const bool free_base = robot->model->base == MF_BASE_FREE;
    for (uint32_t s = 0; s < STATES; s++) {
        for (uint32_t i = 0; i < nq; i++)
            q[i] = random_signed(400, s * 1000 + i);
        double size = free_base ? sqrt(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6]) : 1.0;
        for (uint32_t i = 3; free_base && i < 7; i++)
            q[i] /= size;
        for (uint32_t i = 0; i < n; i++) {
            v[i] = random_signed(401, s * 1000 + i);
            a[i] = random_signed(402, s * 1000 + i);
        }
        mf_group_set_state(robot->group, 0, q, v);
        mf_group_mass_matrix(robot->group, 0, 1, matrix, NULL);
        mf_group_inverse_dynamics(robot->group, 0, 1, a, force, NULL);
        write_row("q", q, nq);
        write_row("v", v, n);
        write_row("a", a, n);
        write_row("force", force, n);
        write_row("mass", matrix, (size_t)n * n);
    }
}

static void answer(const char *path) {
    mf_Error error = {0};
    Robot robot;
    printf("file %s\n", path);
    if (!robot_open(&robot, path, &error)) {
        printf("refused %s\n", error.message);
        mf_context_destroy(robot.context);
        return;
    }
    const mf_Model *model = robot.model;
    if (!robot.moves)
        printf("still %s\n", error.message);
    printf("base %s\n", model->base == MF_BASE_FREE ? "free" : "fixed");
    printf("total %.17g\n", model->mass);
    for (uint32_t i = 0; i < model->note_count; i++)
        printf("note %d %s\n", model->notes[i].suspicious, model->notes[i].text);
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const mf_Servo *stated = &model->joints[j].servo; // of <mayfly>, not estimated
        printf("joint %d %.17g %s\n", (int)mf_group_velocity_address(robot.group, j),
               stated->rotor_inertia * stated->gear * stated->gear, model->joints[j].name);
    }
    write_states(&robot);
    robot_close(&robot);
}

// ---- closed forms -------------------------------------------------------------------------------

static Robot open_text(const char *text, mf_ImportBase base) {
    char path[64];
    mf_Error error = {0};
    mf_ImportConfig config = WITH(mf_import_config(), .base = base);
    write_temporary(path, ".urdf", text);
    Robot robot = {.context = open_context(1)};
    must(mf_model_load(robot.context, path, &config, &robot.model, &error), &error);
    unlink(path);
    robot_start(&robot, &error);
    assert_true(robot.moves);
    return robot;
}

static bool has_note(const Robot *robot, const char *text) {
    bool found = false;
    for (uint32_t i = 0; i < robot->model->note_count; i++)
        found = found || strstr(robot->model->notes[i].text, text) != NULL;
    return found;
}

#define INERTIAL(x, m, i)                                                                          \
    "<inertial><origin xyz='" x " 0 0'/><mass value='" m "'/><inertia ixx='" i "' iyy='" i         \
    "' izz='" i "'/></inertial>"
#define HINGE(parent, child)                                                                       \
    "<joint name='j' type='revolute'><parent link='" parent "'/><child link='" child               \
    "'/><axis xyz='0 1 0'/><limit lower='-3' upper='3' effort='30' velocity='1'/></joint>"

static const char pendulum[] = "<robot name='p'><link name='base'>" INERTIAL(
    "0", "1", "1") "</link><link name='arm'>" INERTIAL("0.1", "0.1",
                                                       "1e-4") "</link>" HINGE("base",
                                                                               "arm") "</robot>";

static double get(const Robot *robot, const char *name) {
    return get_field(robot->group, name, 0, 0);
}

static void put(const Robot *robot, const char *name, double value) {
    set_field(robot->group, name, 0, 0, value);
}

// m r^2 + I = 0.1 * 0.01 + 1e-4: a motor of 30 N m and 1 rad/s adds no rotor.
TEST(a_motor_has_no_inertia_of_its_own) {
    double mass = 0.0;
    AUTO(robot_close) Robot robot = open_text(pendulum, MF_IMPORT_BASE_FIXED);
    assert_int_equal(robot.n, 1);
    MUST(mf_group_mass_matrix(robot.group, 0, 1, &mass, &error));
    assert_near(mass, 0.0011, 1e-15);
}

// Its servo is stable without one, at any step: it goes to its target with the speed of the file.
TEST(a_light_joint_follows_its_servo) {
    AUTO(robot_close) Robot robot = open_text(pendulum, MF_IMPORT_BASE_FIXED);
    put(&robot, "joint.target", 0.8);
    double fastest = 0.0;
    for (int i = 0; i < 3000; i++) {
        mf_world_step(robot.world, 1);
        fastest = fmax(fastest, fabs(get(&robot, "joint.rate")));
    }
    assert_true(fastest < 1.0 + 0.04); // and what its weight gains against the damping of 30 N m s
    assert_near(get(&robot, "joint.angle"), 0.8, 1e-3);
}

// 60 N m of joint.torque are at most the effort of 30, and drive the joint at most at 1 rad/s.
TEST(limits_hold_for_torques) {
    for (int fixed_count = 0; fixed_count < 2; fixed_count++) {
        AUTO(robot_close) Robot robot = open_text(pendulum, MF_IMPORT_BASE_FIXED);
        mf_world_destroy(robot.world);
        mf_GroupConfig group =
            WITH(mf_group_config(), .model = robot.model, .double_precision = true);
        robot.world = open_world(
            robot.context, &WITH(mf_world_config(), .step = MF_MILLISECOND / 10, .gravity = 0.0));
        robot.group = add_group(robot.world, &group);
        MUST(rig_add_articulated(
            robot.group,
            &WITH(mf_motions_config().articulated, .motors = false, .input_limits = fixed_count),
            &error));
        put(&robot, "joint.torque", 60.0);
        double fastest = 0.0;
        for (int i = 0; i < 100; i++) {
            mf_world_step(robot.world, 1);
            fastest = fmax(fastest, get(&robot, "joint.rate"));
        }
        char text[MF_MOTION_NOTE];
        bool noted = false;
        for (uint32_t i = 0; mf_motion_group_note(robot.group, i, text); i++)
            noted = noted || strstr(text, "servo.limits") != NULL;
        assert_true(noted == !fixed_count);
        if (fixed_count)
            assert_true(fastest < 1.0 + 1e-9 && fastest > 1.0 - 1e-6);
        else
            assert_near(fastest, 60.0 / 0.0011 * 0.01, 1e-6 * fastest);
    }
}

// A root `world` without mass holds the base, with its offset; base: free frees it.
TEST(a_root_named_world_holds_the_base) {
    static const char text[] =
        "<robot name='r'><link name='world'/><joint name='w' type='fixed'><parent link='world'/>"
        "<child link='foot'/><origin xyz='0 0 0.5'/></joint><link name='foot'>" INERTIAL(
            "0", "2",
            "0.01") "</link><link name='arm'>" INERTIAL("0.2", "3",
                                                        "0.04") "</link>" HINGE("foot",
                                                                                "arm") "</robot>";
    const mf_ImportBase bases[] = {MF_IMPORT_BASE_AUTO, MF_IMPORT_BASE_FIXED, MF_IMPORT_BASE_FREE};
    for (int k = 0; k < 3; k++) {
        double at[6], rotation[8];
        AUTO(robot_close) Robot robot = open_text(text, bases[k]);
        assert_int_equal(robot.n, k < 2 ? 1 : 7);
        assert_true(has_note(&robot, "link 'world' is the world") == (k == 0));
        mf_world_step(robot.world, 100);
        MUST(mf_group_link_poses(robot.group, 0, 1, at, rotation, &error));
        if (k < 2)
            assert_true(at[0] == 0.0 && at[2] == 0.0 && fabs(at[5] - 0.5) < 1e-12);
    }
}

// A base without mass cannot be free; a serial robot whose base is, says so.
TEST(guesses_are_noted) {
    AUTO(robot_close)
    Robot robot = open_text("<robot name='r'><link name='foot'/><link name='arm'>" INERTIAL(
                                "0.2", "3", "0.04") "</link>" HINGE("foot", "arm") "</robot>",
                            MF_IMPORT_BASE_AUTO);
    assert_int_equal(robot.n, 1);
    assert_true(has_note(&robot, "have no mass: the base is fixed in the world"));
    robot_close(&robot);
    robot = open_text(pendulum, MF_IMPORT_BASE_AUTO);
    assert_int_equal(robot.n, 7);
    assert_true(has_note(&robot, "the base is free"));
}

int main(int argc, char **argv) {
    if (argc > 1) {
        for (int i = 1; i < argc; i++)
            answer(argv[i]);
        return 0;
    }
    return run_listed_tests();
}
