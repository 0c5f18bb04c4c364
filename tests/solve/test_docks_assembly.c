// Assemblies of docked modules against the same robot built as one model, and a docked ring
// against the loop that the file closes: they differ by the order of the step.
#include "solve/joints_rig.h"

enum { MODULES = 4 };

// How a chain moves in a test.
typedef struct Case {
    const char *name;
    mf_ContactLaw law;
    double gravity;  // [m/s^2]
    bool ground;     // it falls on it
    double height;   // [m] of the start
    double duration; // [s]
} Case;

// Boxes touch nothing unless the ground counts.
static const char *touching(const Case *with) {
    return with->ground ? "" : "contype='0' conaffinity='0'";
}

// Two boxes of 0.1 m on a hinge about y in the middle, with a dock at each end, x to x.
static void write_module(const Case *with, char *text, size_t size) {
    snprintf(text, size,
             "<mujoco model='module'><worldbody><body name='left'><freejoint/>"
             "<geom type='box' size='0.05 0.04 0.03' pos='-0.05 0 0' mass='0.5' %s/>"
             "<body name='right'><joint name='hinge' axis='0 1 0'/>"
             "<geom type='box' size='0.05 0.04 0.03' pos='0.05 0 0' mass='0.3' %s/></body></body>"
             "</worldbody><custom><text name='dock:back' data='body=left xyz=-0.1,0,0 "
             "quat=0,0,0,1'/><text name='dock:front' data='body=right xyz=0.1,0,0'/></custom>"
             "</mujoco>",
             touching(with), touching(with));
}

// The same chain as nested bodies: the left half of each module is part of the right one before.
static void write_chain(const Case *with, char *text, size_t size) {
    size_t used =
        (size_t)snprintf(text, size,
                         "<mujoco model='chain'><worldbody><body name='left'><freejoint/>"
                         "<geom type='box' size='0.05 0.04 0.03' pos='-0.05 0 0' mass='0.5' %s/>",
                         touching(with));
    for (int i = 0; i < MODULES; i++) {
        used += (size_t)snprintf(
            text + used, size - used,
            "<body pos='%g 0 0'><joint name='h%d' axis='0 1 0'/>"
            "<geom type='box' size='0.05 0.04 0.03' pos='0.05 0 0' mass='0.3' %s/>",
            i > 0 ? 0.2 : 0.0, i, touching(with));
        if (i + 1 < MODULES)
            used += (size_t)snprintf(
                text + used, size - used,
                "<geom type='box' size='0.05 0.04 0.03' pos='0.15 0 0' mass='0.5' %s/>",
                touching(with));
    }
    for (int i = 0; i < MODULES; i++)
        used += (size_t)snprintf(text + used, size - used, "</body>");
    snprintf(text + used, size - used, "</body></worldbody></mujoco>");
}

static const double start_rate[MODULES] = {2.0, -3.0, 1.0, 4.0}; // [rad/s]

static void add_articulated(Pitch *pitch, mf_Group *group, const Case *with) {
    mf_ArticulatedConfig motion = WITH(mf_motions_config().articulated, .contacts = with->ground,
                                       .self_contacts = false, .contact_law = with->law);
    // By themselves contacts would be as stiff as a robot is heavy.
    motion.contact_stiffness = 2e4;
    motion.contact_damping = 100.0;
    prepare(pitch, group);
    MUST(rig_add_articulated(group, &motion, &error));
}

// [rad], [m] Angles of the hinges and position of the first base at the end.
static void run_whole(const Case *with, mf_Time step, double out[MODULES + 3]) {
    char text[4096];
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, step, with->gravity);
    write_chain(with, text, sizeof text);
    mf_Group *chain = pitch_group(&pitch, load_text(pitch.context, text), "chain", 1, true);
    add_articulated(&pitch, chain, with);
    put_at(&pitch, chain, 0, 0, 0, with->height);
    for (uint32_t i = 0; i < MODULES; i++)
        set_field(chain, "joint.rate", 0, i, start_rate[i]);
    mf_world_step(pitch.world, (uint64_t)(with->duration * 1e9 / (double)step + 0.5));
    for (uint32_t i = 0; i < MODULES; i++)
        out[i] = get_field(chain, "joint.angle", 0, i);
    get_fields(chain, "base.position", 0, 3, out + MODULES);
}

// The velocity of a base behind the hinges of those before it, which all turn about y.
static void give_rates(Pitch *pitch, mf_Group *modules, double height) {
    double rate = 0.0, speed = 0.0; // about y, and along z at the module's hinge
    for (uint32_t i = 0; i < MODULES; i++) {
        put_at(pitch, modules, i, 0.2 * i, 0, height);
        set_field(modules, "base.angular_velocity", i, 1, rate);
        set_field(modules, "base.linear_velocity", i, 2, speed);
        set_field(modules, "joint.rate", i, 0, start_rate[i]);
        rate += start_rate[i];
        speed -= 0.2 * rate; // a turn about y takes x to -z
    }
}

static void connect_chain(mf_WorldDocks *docks, mf_Group *modules, mf_Error *error) {
    for (uint32_t i = 1; i < MODULES; i++)
        must(mf_docks_connect(docks, &(mf_DockPort){modules, i - 1, 1},
                              &(mf_DockPort){modules, i, 0}, 0, error),
             error);
}

static void run_docked(const Case *with, mf_Time step, double out[MODULES + 3], double *open) {
    char text[4096];
    mf_WorldDocks *docks;
    mf_WorldJoints *joints;
    mf_WorldJointsConfig exact = WITH(mf_world_joints_config(), .tolerance = 1e-9, .rounds = 8);
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, step, with->gravity);
    write_module(with, text, sizeof text);
    mf_Group *modules =
        pitch_group(&pitch, load_text(pitch.context, text), "modules", MODULES, true);
    add_articulated(&pitch, modules, with);
    MUST(mf_world_joints_add(pitch.world, &exact, &joints, &error));
    MUST(mf_world_docks_add(pitch.world, NULL, &docks, &error));
    give_rates(&pitch, modules, with->height);
    connect_chain(docks, modules, &pitch.error);
    mf_world_step(pitch.world, (uint64_t)(with->duration * 1e9 / (double)step + 0.5));
    *open = 0.0;
    for (mf_WorldJointId id = mf_world_joint_next(joints, MF_WORLD_JOINT_NONE);
         id != MF_WORLD_JOINT_NONE; id = mf_world_joint_next(joints, id))
        *open = fmax(*open, state_of(joints, id).opening);
    for (uint32_t i = 0; i < MODULES; i++)
        out[i] = get_field(modules, "joint.angle", i, 0);
    get_fields(modules, "base.position", 0, 3, out + MODULES);
}

static double difference(const Case *with, mf_Time step) {
    double whole[MODULES + 3], docked[MODULES + 3], open, error = 0.0;
    run_whole(with, step, whole);
    run_docked(with, step, docked, &open);
    for (int i = 0; i < MODULES + 3; i++)
        error = fmax(error, fabs(whole[i] - docked[i]));
    print_message("%s, step %.3g ms: differ by %.3g, docks open by %.3g m\n", with->name,
                  1e-6 * (double)step, error, open);
    assert_true(open < 1e-4);
    return error;
}

// The assembly is one tree, with all that the model has: rates, gravity, contacts with the ground.
TEST(docked_modules_move_as_one_robot) {
    const Case cases[] = {
        {"in flight", MF_CONTACT_LAW_COMPLIANT, 0.0, false, 5.0, 0.25},
        {"falling", MF_CONTACT_LAW_COMPLIANT, 9.81, false, 5.0, 0.25},
        {"on the ground", MF_CONTACT_LAW_COMPLIANT, 9.81, true, 0.06, 0.25},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(difference(&cases[i], MF_MILLISECOND) < 1e-9);
        assert_true(difference(&cases[i], 10 * MF_MILLISECOND) < 1e-9);
    }
}

// With the constraints of MuJoCo's law run-time joints hold the modules: the difference falls with
// the step, at least in its first order, and docks stay closed.
TEST(other_laws_are_held_by_joints) {
    const Case with = {"MuJoCo's law", MF_CONTACT_LAW_MUJOCO, 0.0, false, 5.0, 0.25};
    double errors[3];
    for (int k = 0; k < 3; k++)
        errors[k] = difference(&with, (4 >> k) * MF_MILLISECOND / 2);
    assert_true(errors[0] / errors[1] > 1.7 && errors[1] / errors[2] > 1.7);
    assert_true(errors[2] < 2e-3);
}

// Four modules whose hinges stand at right angles, closed by a fourth dock: a ring that spins stays
// closed and turns as one body, whose moment of inertia does not change.
TEST(a_docked_ring_spins_as_one_body) {
    const Case with = {"ring", MF_CONTACT_LAW_COMPLIANT, 0.0, false, 0.0, 0.5};
    mf_WorldDocks *docks;
    char text[4096];
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 0.0);
    write_module(&with, text, sizeof text);
    mf_Group *modules =
        pitch_group(&pitch, load_text(pitch.context, text), "modules", MODULES, true);
    add_articulated(&pitch, modules, &with);
    MUST(mf_world_docks_add(pitch.world, NULL, &docks, &error));
    for (uint32_t i = 0; i < MODULES; i++)
        set_field(modules, "joint.angle", i, 0, 1.5707963267948966);
    for (uint32_t i = 1; i < MODULES; i++) {
        const mf_DockPort front = {modules, i - 1, 1}, back = {modules, i, 0};
        double position[3], orientation[4];
        MUST(mf_docks_mating_pose(docks, &front, &back, 0, position, orientation, &error));
        for (uint32_t c = 0; c < 4; c++) {
            set_field(modules, "base.orientation", i, c, orientation[c]);
            if (c < 3)
                set_field(modules, "base.position", i, c, position[c]);
        }
    }
    for (uint32_t i = 0; i < MODULES; i++)
        MUST(mf_docks_connect(docks, &(mf_DockPort){modules, i, 1},
                              &(mf_DockPort){modules, (i + 1) % MODULES, 0}, 0, &error));
    double center[3] = {0, 0, 0};
    for (uint32_t i = 0; i < MODULES; i++)
        for (uint32_t c = 0; c < 3; c++)
            center[c] += get_field(modules, "base.position", i, c) / MODULES;
    const double rate = 3.0;
    for (uint32_t i = 0; i < MODULES; i++) { // about y
        set_field(modules, "base.angular_velocity", i, 1, rate);
        set_field(modules, "base.linear_velocity", i, 0,
                  rate * (get_field(modules, "base.position", i, 2) - center[2]));
        set_field(modules, "base.linear_velocity", i, 2,
                  -rate * (get_field(modules, "base.position", i, 0) - center[0]));
    }
    const Momentum before = momentum_of(&modules, 1);
    mf_world_step(pitch.world, 500);
    for (uint32_t i = 0; i < MODULES; i++) {
        assert_near(get_field(modules, "base.angular_velocity", i, 1), rate, 1e-3);
        assert_near(get_field(modules, "joint.angle", i, 0), 1.5707963267948966, 1e-3);
    }
    assert_momentum(momentum_of(&modules, 1), before, 1e-12, 1e-5);
}
