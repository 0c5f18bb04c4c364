// Robots that touch under MuJoCo's law are solved as if they were in one file: the same bodies as
// one model and as groups, through contacts of every kind between them, with the ground, limits and
// dry friction; settings that lead to trial steps instead; bits.
#include "solve/joints_rig.h"
#include "solve/solver.h"
#include "contact/softness.h"
#include "math/scalar.h"

#include <math.h>

enum { KINDS = 4, EACH = 3, PILE = KINDS * EACH, LENGTH = 20000, STEPS = 70 };

static const char *const shapes[KINDS] = {
    "type='box' size='.04 .05 .03' mass='.2'",
    "type='ellipsoid' size='.05 .04 .05' mass='2' condim='4' friction='.6 .01 .001'",
    ("type='capsule' size='.03 .05' mass='.1' condim='6' friction='.8 .02 .003' "
     "solimp='.8 .95 .003 .4 3.5'"),
    "type='sphere' size='.04' mass='.3' condim='1' solref='.01 .8'"};

// A bar that turns about the vertical, within limits and with dry friction, on a stand, with a
// paddle on a slide at its end.
static const char arm[] =
    "<body name='arm' pos='0 0 .05'><joint name='turn' type='hinge' axis='0 0 1' limited='true' "
    "range='-5 5' frictionloss='.3' damping='.01'/>"
    "<geom type='box' size='.3 .02 .02' mass='.4'/>"
    "<body pos='.3 0 0'><joint type='slide' axis='0 0 1' limited='true' range='0 .1' "
    "stiffness='20'/><geom type='box' size='.05 .05 .01' pos='0 0 .03' mass='.1'/></body></body>";

static void start_of(uint32_t i, double position[3], double rotation[4]) {
    const double axis[3] = {0.36, 0.48, 0.8}, half = 0.4 + 0.3 * i;
    mf_vec3_set(position, 0.11 * (i % 3) - 0.11 + 0.003 * i, 0.11 * (i / 3 % 2) - 0.05,
                0.14 + 0.13 * (i / 6));
    rotation[0] = cos(half);
    for (int c = 0; c < 3; c++)
        rotation[1 + c] = sin(half) * axis[c];
}

static const char head[] = "<mujoco><option timestep='0.002' tolerance='1e-15' %s/><worldbody>%s";
static const char tail[] = "</worldbody></mujoco>";

static mf_Model *model_of(mf_Context *context, const char *options, const char *bodies) {
    static char text[LENGTH];
    const int used = snprintf(text, sizeof text, head, options, bodies);
    snprintf(text + used, sizeof text - (size_t)used, "%s", tail);
    return load_text(context, text);
}

static mf_Group *move(Pitch *pitch, mf_Model *model, const char *name, uint32_t count, bool wide) {
    return pitch_moving(pitch, model, name, count, wide,
                        WITH(mf_motions_config().articulated, .self_contacts = true));
}

// One file; the ground is the world's.
static mf_Group *open_file(Pitch *pitch, const char *options, bool wide) {
    static char bodies[LENGTH];
    int used = snprintf(bodies, sizeof bodies, "%s", arm);
    *pitch = pitch_open(1, MF_ISA_AUTO, 2 * MF_MILLISECOND, 9.81);
    for (uint32_t i = 0; i < PILE; i++) {
        double at[3], q[4];
        start_of(i, at, q);
        used += snprintf(bodies + used, sizeof bodies - (size_t)used,
                         "<body pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'><freejoint/>"
                         "<geom %s/></body>",
                         at[0], at[1], at[2], q[0], q[1], q[2], q[3], shapes[i % KINDS]);
    }
    return move(pitch, model_of(pitch->context, options, bodies), "all", 1, wide);
}

typedef struct Pieces {
    Pitch pitch;
    mf_Group *arm, *kinds[KINDS];
} Pieces;

typedef struct Setting {
    const char *options;
    bool wide;
    mf_CollisionsConfig collisions;
    bool joined; // the first bodies of neighboring kinds
} Setting;

// Fixed, ball and hinge, the last one with stops and a motor.
static void join_kinds(Pieces *pieces) {
    static const mf_WorldJointKind joints[] = {MF_WORLD_JOINT_FIXED, MF_WORLD_JOINT_BALL,
                                               MF_WORLD_JOINT_HINGE};
    mf_WorldJoints *all = add_joints(&pieces->pitch);
    for (uint32_t k = 0; k + 1 < KINDS; k++) {
        double at[2][3], q[4];
        mf_WorldJointConfig config =
            joint_between(joints[k], pieces->kinds[k], 0, pieces->kinds[k + 1], 0);
        if (k == 2) {
            config.lower_angle = -0.1;
            config.upper_angle = 0.4;
            config.motor_rate = 3.0;
            config.motor_torque = 0.01;
        }
        for (uint32_t s = 0; s < 2; s++)
            start_of(k + s, at[s], q);
        join(all, &config, 0.5 * (at[0][0] + at[1][0]), 0.5 * (at[0][1] + at[1][1]),
             0.5 * (at[0][2] + at[1][2]), (double[]){0, 0.6, 0.8});
    }
}

static void open_pieces(Pieces *pieces, const Setting *setting, uint32_t threads, mf_Isa isa) {
    static const char *const names[KINDS] = {"e", "c", "b", "a"};
    Pitch *pitch = &pieces->pitch;
    *pitch = pitch_open(threads, isa, 2 * MF_MILLISECOND, 9.81);
    pieces->arm =
        move(pitch, model_of(pitch->context, setting->options, arm), "d", 1, setting->wide);
    for (uint32_t k = 0; k < KINDS; k++) {
        char body[200];
        snprintf(body, sizeof body, "<body><freejoint/><geom %s/></body>", shapes[k]);
        pieces->kinds[k] = move(pitch, model_of(pitch->context, setting->options, body), names[k],
                                EACH, setting->wide);
    }
    for (uint32_t i = 0; i < PILE; i++) {
        double at[3], q[4];
        start_of(i, at, q);
        MUST(mf_group_set_start(pieces->kinds[i % KINDS], i / KINDS, at, q, NULL, &error));
        mf_group_refresh(pieces->kinds[i % KINDS], i / KINDS);
    }
    pitch_collide(pitch, &setting->collisions);
    if (setting->joined)
        join_kinds(pieces);
}

static double apart(const Pieces *pieces, mf_Group *all) {
    double most =
        fabs(get_field(pieces->arm, "joint.angle", 0, 0) - get_field(all, "joint.angle", 0, 0));
    for (uint32_t i = 0; i < PILE; i++)
        for (uint32_t c = 0; c < 3; c++)
            most =
                fmax(most, fabs(get_field(pieces->kinds[i % KINDS], "base.position", i / KINDS, c) -
                                get_field(all, "free.position", 0, 3 * i + c)));
    return most;
}

static bool all_common(const Pitch *pitch) {
    const mf_Solver *solver = mf_solver_in(pitch->world);
    for (uint32_t i = 0; i < solver->island_count; i++)
        if (!solver->islands[i].common || !solver->islands[i].done)
            return false;
    return solver->tried == 0;
}

static void check_alike(const char *options) {
    const Setting setting = {options, true, mf_collisions_config(), false};
    Pieces pieces;
    Pitch file;
    double most = 0.0;
    mf_Group *all = open_file(&file, options, true);
    open_pieces(&pieces, &setting, 1, MF_ISA_AUTO);
    assert_true(apart(&pieces, all) < 1e-12);
    const double begin = get_field(pieces.arm, "joint.angle", 0, 0);
    for (int i = 0; i < STEPS; i++) {
        mf_world_step(file.world, 1);
        mf_world_step(pieces.pitch.world, 1);
        assert_true(all_common(&pieces.pitch));
        most = fmax(most, apart(&pieces, all));
    }
    const mf_CollisionsStatistics statistics = mf_collisions_statistics(pieces.pitch.collisions);
    const double turned = fabs(get_field(pieces.arm, "joint.angle", 0, 0) - begin);
    print_message("%s: %.2g apart after %d steps, the arm turned %.3g rad, residual %.2g\n",
                  options, most, STEPS, turned, statistics.residual);
    assert_true(turned > 1e-3 && statistics.contacts > STEPS);
    assert_true(most < 1e-5); // solutions differ by 1e-9, and what follows amplifies that
    for (uint32_t g = 0; g < pieces.pitch.count; g++)
        assert_int_equal(mf_group_warning_total(pieces.pitch.groups[g]), 0);
    pitch_close(&pieces.pitch);
    pitch_close(&file);
}

TEST(groups_move_as_one_file_does) {
    check_alike("");
    check_alike("cone='elliptic' impratio='10'");
    check_alike("integrator='implicitfast'");
}

// Joints, contacts, limits and dry friction together are one problem, to the tolerance of joints.
TEST(joined_robots_touch_others) {
    const Setting setting = {"", true, mf_collisions_config(), true};
    Pieces pieces;
    double residual = 0.0, open = 0.0;
    open_pieces(&pieces, &setting, 1, MF_ISA_AUTO);
    for (int i = 0; i < 300; i++) {
        mf_world_step(pieces.pitch.world, 1);
        const mf_Solver *solver = mf_solver_in(pieces.pitch.world);
        for (uint32_t k = 0; k < solver->island_count; k++)
            assert_true(solver->islands[k].common && solver->islands[k].done);
        assert_true(solver->tried <= 4);
        residual = fmax(residual, solver->residual);
        open = fmax(open, widest_opening(pieces.pitch.world));
    }
    print_message("residual %.2g, open %.2g mm\n", residual, 1e3 * open);
    assert_true(residual <= 1e-4 && open < 2e-6);
    for (uint32_t g = 0; g < pieces.pitch.count; g++)
        assert_int_equal(mf_group_warning_total(pieces.pitch.groups[g]), 0);
    pitch_close(&pieces.pitch);
}

// Robots with servos that stand on the ground and hold each other: damping at the end of the step
// and contacts respond otherwise than the model, and corrections converge all the same.
TEST(standing_robots_hold_each_other) {
    enum { COUNT = 4 };
    Pitch pitch = pitch_open(1, MF_ISA_AUTO, 2 * MF_MILLISECOND, 9.81);
    mf_Model *model = load_file(pitch.context, "hexapod.urdf");
    mf_Group *robots =
        pitch_moving(&pitch, model, "robots", COUNT, false,
                     WITH(mf_motions_config().articulated, .contact_law = MF_CONTACT_LAW_MUJOCO));
    for (uint32_t i = 0; i < COUNT; i++)
        put(&pitch, robots, i, 0.6 * i, 0, 0.13, 0);
    mf_WorldJoints *joints = add_joints(&pitch);
    for (uint32_t i = 0; i + 1 < COUNT; i++) {
        mf_WorldJointConfig config = joint_between(MF_WORLD_JOINT_FIXED, robots, i, robots, i + 1);
        join(joints, &config, 0.6 * i + 0.3, 0, 0.13, NULL);
    }
    uint32_t tried = 0, common = 0;
    for (int i = 0; i < 500; i++) {
        for (uint32_t k = 0; k < COUNT; k++)
            for (uint32_t j = 0; j < model->joint_count; j++)
                set_field(robots, "joint.target", k, j, 0.1 * sin(0.05 * i + j + k));
        mf_world_step(pitch.world, 1);
        tried += mf_solver_in(pitch.world)->tried;
        common += mf_solver_in(pitch.world)->islands[0].common;
    }
    print_message("%.1f trial steps a step, %u steps common, open %.2g mm\n", tried / 500.0, common,
                  1e3 * widest_opening(pitch.world));
    assert_true(common > 490 && tried < 5 * 500);
    assert_true(widest_opening(pitch.world) < 1e-4);
    assert_int_equal(mf_group_warning_total(robots), 0);
    pitch_close(&pitch);
}

// A plank of three boxes that joints hold falls on a slab, bends and slides as one body of three
// shapes does.
TEST(a_plank_of_three_moves_as_one) {
    static const char slab[] = "<body><geom type='box' size='1 1 .1' pos='0 0 2'/></body>";
    double at[2][3];
    for (int pieces = 0; pieces < 2; pieces++) {
        const uint32_t count = pieces ? 3 : 1;
        char body[600] = "<body><freejoint/>";
        for (int i = pieces ? 1 : 0; i < (pieces ? 2 : 3); i++)
            snprintf(body + strlen(body), sizeof body - strlen(body),
                     "<geom type='box' size='.05 .05 .05' mass='1' pos='%g 0 0'/>",
                     pieces ? 0.0 : 0.1 * i - 0.1);
        snprintf(body + strlen(body), sizeof body - strlen(body), "</body>");
        Pitch pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
        pitch_group(&pitch, model_of(pitch.context, "", slab), "slab", 1, true);
        mf_Group *boxes = move(&pitch, model_of(pitch.context, "", body), "boxes", count, true);
        const double lean = 0.1, sine = sin(lean), cosine = cos(lean);
        for (uint32_t i = 0; i < count; i++) {
            const double x = pieces ? 0.1 * i - 0.1 : 0.0;
            MUST(mf_group_set_start(boxes, i, (double[]){x * cosine, 0, 2.2 - x * sine},
                                    (double[]){cos(lean / 2), 0, sin(lean / 2), 0}, NULL, &error));
            mf_group_refresh(boxes, i);
            set_field(boxes, "base.linear_velocity", i, 0, 0.8);
            set_field(boxes, "base.linear_velocity", i, 1, 0.3);
        }
        pitch_collide(&pitch, NULL);
        mf_WorldJoints *joints = add_joints(&pitch);
        for (uint32_t i = 0; i + 1 < count; i++) {
            mf_WorldJointConfig config =
                joint_between(MF_WORLD_JOINT_FIXED, boxes, i, boxes, i + 1);
            const double x = 0.1 * i - 0.05;
            join(joints, &config, x * cosine, 0, 2.2 - x * sine, NULL);
        }
        mf_world_step(pitch.world, 1000);
        for (uint32_t c = 0; c < 3; c++)
            at[pieces][c] = get_field(boxes, "base.position", pieces, c);
        pitch_close(&pitch);
    }
    print_message("one body at %.5f %.5f %.5f m, three at %.5f %.5f %.5f m\n", at[0][0], at[0][1],
                  at[0][2], at[1][0], at[1][1], at[1][2]);
    for (uint32_t c = 0; c < 3; c++)
        assert_true(fabs(at[0][c] - at[1][c]) < (c < 2 ? 5e-3 : 1e-4));
    assert_true(at[0][0] > 0.03);
}

// As MuJoCo's documentation states them (solimp).
TEST(impedances_have_every_power) {
    const double powers[] = {1.0, 1.3, 2.0, 3.0, 3.5, 6.25}, middle = 0.3;
    for (int p = 0; p < 6; p++)
        for (int i = 0; i <= 20; i++) {
            const double x = 0.05 * i, power = powers[p];
            const mf_Softness softness = {.reference = {0.02, 1.0},
                                          .impedance = {0.2, 0.8, 0.01, middle, power}};
            const double y = x <= middle
                                 ? pow(x, power) / pow(middle, power - 1.0)
                                 : 1.0 - pow(1.0 - x, power) / pow(1.0 - middle, power - 1.0);
            assert_near(mf_softness_impedance(&softness, 0.01 * x), 0.2 + 0.6 * y, 1e-14);
        }
}

// Contacts between robots begin where shapes touch: a body with a margin rests.
TEST(bodies_with_margins_rest) {
    static const char body[] = "<body pos='0 0 .05'><freejoint/><geom type='box' mass='1' "
                               "size='.05 .05 .05' margin='.01'/></body>";
    Pitch pitch = pitch_open(1, MF_ISA_AUTO, 2 * MF_MILLISECOND, 9.81);
    pitch_group(
        &pitch,
        model_of(pitch.context, "", "<body><geom type='box' size='1 1 .1' pos='0 0 2'/></body>"),
        "slab", 1, true);
    mf_Group *box = move(&pitch, model_of(pitch.context, "", body), "box", 1, true);
    MUST(mf_group_set_start(box, 0, (double[]){0, 0, 2.16}, NULL, NULL, &error));
    mf_group_refresh(box, 0);
    pitch_collide(&pitch, NULL);
    mf_world_step(pitch.world, 1000);
    const double height = get_field(box, "base.position", 0, 2);
    const double speed = get_field(box, "base.linear_velocity", 0, 2);
    print_message("%.3g mm deep, %.2g m/s\n", 1e3 * (2.15 - height), speed);
    assert_true(fabs(speed) < 1e-6 && height < 2.15 && height > 2.148);
    pitch_close(&pitch);
}

// Stacks of boxes of two groups in turns do not creep, with the tolerance that files have.
TEST(stacks_of_groups_rest) {
    enum { HIGH = 4, SECONDS = SANITIZED ? 2 : 60 };
    static const char cube[] = "<mujoco><worldbody><body><freejoint/><geom type='box' mass='1' "
                               "size='.1 .1 .1'/></body></worldbody></mujoco>";
    static const mf_ContactLaw laws[] = {MF_CONTACT_LAW_MUJOCO, MF_CONTACT_LAW_COMPLIANT,
                                         MF_CONTACT_LAW_HARD};
    for (int k = 0; k < 3; k++) {
        Pitch pitch = pitch_open(1, MF_ISA_AUTO, 2 * MF_MILLISECOND, 9.81);
        mf_Group *groups[2];
        double before[HIGH][3], drift = 0.0;
        for (int g = 0; g < 2; g++)
            groups[g] = pitch_moving(
                &pitch, load_text(pitch.context, cube), g == 0 ? "even" : "odd", HIGH / 2, true,
                WITH(mf_motions_config().articulated, .shapes = true, .contact_law = laws[k]));
        for (uint32_t i = 0; i < HIGH; i++)
            put_at(&pitch, groups[i % 2], i / 2, 0, 0, 0.1 + 0.2 * i);
        pitch_collide(&pitch, NULL);
        mf_world_step(pitch.world, 5000);
        for (int second = 0; second <= SECONDS; second++)
            for (uint32_t i = 0; i < 3 * HIGH; i++) {
                if (i == 0 && second > 0)
                    mf_world_step(pitch.world, 500);
                const double at = get_field(groups[i / 3 % 2], "base.position", i / 6, i % 3);
                if (second == 0)
                    before[i / 3][i % 3] = at;
                drift = fmax(drift, fabs(at - before[i / 3][i % 3]));
            }
        print_message("law %d: %.2g m in %d s\n", (int)laws[k], drift, SECONDS);
        assert_true(drift <= 1e-6);
        pitch_close(&pitch);
    }
}

// What the settings of contacts say is done by trial steps.
TEST(own_settings_are_not_the_files) {
    const mf_CollisionsConfig own[] = {WITH(mf_collisions_config(), .law = MF_COLLISION_HARD),
                                       WITH(mf_collisions_config(), .contact_time = 0.01)};
    for (int k = 0; k < 2; k++) {
        const Setting setting = {"", true, own[k], false};
        Pieces pieces;
        bool tried = false;
        open_pieces(&pieces, &setting, 1, MF_ISA_AUTO);
        for (int i = 0; i < 60; i++) {
            mf_world_step(pieces.pitch.world, 1);
            tried = tried || mf_solver_in(pieces.pitch.world)->tried > 0;
        }
        assert_true(tried);
        pitch_close(&pieces.pitch);
    }
}

static uint64_t hash_of(const void *user, uint32_t threads, mf_Isa isa) {
    Pieces pieces;
    open_pieces(&pieces, user, threads, isa);
    mf_world_step(pieces.pitch.world, STEPS);
    const uint64_t hash = mf_world_hash(pieces.pitch.world);
    pitch_close(&pieces.pitch);
    return hash;
}

TEST(bits_are_the_same_everywhere) {
    assert_same_bits(hash_of, &(Setting){"cone='elliptic'", false, mf_collisions_config(), false});
    assert_same_bits(hash_of, &(Setting){"", true, mf_collisions_config(), false});
    assert_same_bits(hash_of, &(Setting){"", false, mf_collisions_config(), true});
    assert_same_bits(hash_of, &(Setting){"cone='elliptic'", true, mf_collisions_config(), true});
}
