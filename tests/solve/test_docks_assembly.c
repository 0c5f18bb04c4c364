// Assemblies of docked modules against the same robot built as one model, and a docked ring
// against the loop that the file closes: they differ by the order of the step.
#include "solve/modules.h"

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
static ModuleForm form_of(const Case *with) {
    return with->ground ? solids : ghosts;
}

static mf_ArticulatedConfig motion_of(const Case *with) {
    return WITH(stiff_motion(with->ground), .contact_law = with->law);
}

static const double start_rate[MODULES] = {2.0, -3.0, 1.0, 4.0}; // [rad/s]

// [rad], [m] Angles of the hinges and position of the first base at the end.
static void run_whole(const Case *with, mf_Time step, double out[MODULES + 3]) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, step, with->gravity);
    mf_Group *chain = pitch_moving(&pitch, chain_of(pitch.context, form_of(with), MODULES), "chain",
                                   1, true, motion_of(with));
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

static mf_Group *open_modules(Pitch *pitch, const Case *with) {
    return pitch_moving(pitch, module_of(pitch->context, form_of(with), "", 0.0), "modules",
                        MODULES, true, motion_of(with));
}

static void run_docked(const Case *with, mf_Time step, double out[MODULES + 3], double *open) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, step, with->gravity);
    mf_Group *modules = open_modules(&pitch, with);
    add_exact_joints(&pitch);
    mf_WorldDocks *docks = add_docks(&pitch);
    give_rates(&pitch, modules, with->height);
    for (uint32_t i = 1; i < MODULES; i++)
        dock_to(docks, modules, i - 1, modules, i);
    mf_world_step(pitch.world, (uint64_t)(with->duration * 1e9 / (double)step + 0.5));
    *open = widest_opening(pitch.world);
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
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 0.0);
    mf_Group *modules = open_modules(&pitch, &with);
    mf_WorldDocks *docks = add_docks(&pitch);
    for (uint32_t i = 0; i < MODULES; i++)
        set_field(modules, "joint.angle", i, 0, quarter);
    for (uint32_t i = 1; i < MODULES; i++)
        mate(docks, modules, i - 1, modules, i);
    for (uint32_t i = 0; i < MODULES; i++)
        dock_to(docks, modules, i, modules, (i + 1) % MODULES);
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
        assert_near(get_field(modules, "joint.angle", i, 0), quarter, 1e-3);
    }
    assert_momentum(momentum_of(&modules, 1), before, 1e-12, 1e-5);
}
