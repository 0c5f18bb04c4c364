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
} Setting;

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
    const Setting setting = {options, true, mf_collisions_config()};
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

// Contacts between robots begin where shapes meet: a body with a margin rests.
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
        const Setting setting = {"", true, own[k]};
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
    assert_same_bits(hash_of, &(Setting){"cone='elliptic'", false, mf_collisions_config()});
    assert_same_bits(hash_of, &(Setting){"", true, mf_collisions_config()});
}
