// Piles: models of so many bodies that their constraints are solved by a method of their own
// (constraint/sparse.h). A pile moves as it does in a file of few bodies, where the other method
// solves it; bits do not depend on instruction set, threads and neighbors.
#include "motion/rig.h"

#include <math.h>

enum { PILE = 18, MANY = 50, LENGTH = 40000, STEPS = 100 };

// A heap of bodies with an arm that has limits and dry friction, a pair that is held together, and
// `far` balls that lie alone on the ground.
static void write_pile(char *text, uint32_t far, const char *options) {
    static const char *const shapes[] = {
        "type=\"box\" size=\".04 .05 .03\" mass=\".2\"",
        "type=\"box\" size=\".05 .05 .05\" mass=\"2\" condim=\"4\"",
        "type=\"capsule\" size=\".03 .05\" mass=\".1\" condim=\"6\" friction=\".8 .02 .003\"",
        "type=\"sphere\" size=\".04\" mass=\".3\" condim=\"1\"",
        "type=\"box\" size=\".04 .04 .04\" mass=\".2\" friction=\".3\""};
    const uint32_t kinds = sizeof shapes / sizeof *shapes;
    int used =
        snprintf(text, LENGTH,
                 "<mujoco><option timestep=\"0.002\" %s/><worldbody>"
                 "<geom type=\"plane\" size=\"5 5 .1\"/>"
                 "<body pos=\"0 0 .05\"><joint type=\"hinge\" axis=\"0 0 1\" limited=\"true\" "
                 "range=\"-5 5\" frictionloss=\".3\"/>"
                 "<geom type=\"box\" size=\".3 .02 .02\" mass=\".4\"/></body>",
                 options);
    for (uint32_t i = 0; i < PILE; i++)
        used += snprintf(text + used, (size_t)(LENGTH - used),
                         "<body name=\"b%u\" pos=\"%g %g %g\" euler=\"%g %g %g\"><freejoint/>"
                         "<geom %s/></body>",
                         i, 0.12 * (i % 3) - 0.12 + 0.004 * i, 0.12 * (i / 3 % 3) - 0.12,
                         0.14 + 0.13 * (i / 9), 17.0 * i, 31.0 * i, 7.0 * i, shapes[i % kinds]);
    for (uint32_t i = 0; i < far; i++)
        used += snprintf(text + used, (size_t)(LENGTH - used),
                         "<body pos=\"%g %g .05\"><freejoint/>"
                         "<geom type=\"sphere\" size=\".05\" mass=\".1\"/></body>",
                         3.0 + 0.3 * (i % 8), 0.3 * (i / 8));
    snprintf(text + used, (size_t)(LENGTH - used),
             "</worldbody><equality><connect body1=\"b2\" body2=\"b5\" anchor=\".06 0 0\"/>"
             "</equality></mujoco>");
}

typedef struct Pile {
    uint32_t far, count;
    bool double_precision;
    const char *options;
} Pile;

static void pile_open(Rig *rig, const Pile *pile, uint32_t threads, mf_Isa isa) {
    static char text[LENGTH];
    *rig = (Rig){.context = open_context(threads)};
    write_pile(text, pile->far, pile->options);
    rig->model = load_text(rig->context, text);
    rig_add_group(
        rig, &WITH(mf_world_config(), .isa = isa),
        WITH(mf_group_config(), .count = pile->count, .double_precision = pile->double_precision));
    const mf_MotionsConfig motions =
        WITH(mf_motions_config(), .articulated.contact_law = MF_CONTACT_LAW_MUJOCO,
             .articulated.self_contacts = true);
    MUST(mf_motion_add(rig->group, MF_MOTION_ARTICULATED, &motions, &error));
}

static double largest_difference(const Rig *a, const Rig *b) {
    double most = 0.0;
    for (uint32_t c = 0; c < 3 * PILE; c++)
        most = fmax(most, fabs(rig_get(a, "free.position", c) - rig_get(b, "free.position", c)));
    return most;
}

static void check_alike(const char *options, int steps) {
    Rig few, many;
    double moved = 0.0, residual[2] = {0.0, 0.0}, most = 0.0;
    pile_open(&few, &(Pile){0, 1, true, options}, 1, MF_ISA_AUTO);
    pile_open(&many, &(Pile){MANY, 1, true, options}, 1, MF_ISA_AUTO);
    const double before = rig_get(&many, "free.position", 2);
    for (int i = 0; i < steps; i++) {
        mf_world_step(few.world, 1);
        mf_world_step(many.world, 1);
        residual[0] = fmax(residual[0], rig_get(&few, "solver.residual", 0));
        residual[1] = fmax(residual[1], rig_get(&many, "solver.residual", 0));
        most = fmax(most, largest_difference(&few, &many));
    }
    moved = fabs(rig_get(&many, "free.position", 2) - before);
    print_message("%s: %g m apart after %d steps, residual up to %g, %g\n", options, most, steps,
                  residual[0], residual[1]);
    assert_true(moved > (steps < STEPS ? 1e-4 : 0.01));
    assert_true(most < 1e-5);
    assert_true(residual[1] < 1e-3);
    assert_true(mf_group_warning_total(many.group) == 0);
    rig_close(&few);
    rig_close(&many);
}

TEST(a_pile_moves_alike_beside_few_and_many_bodies) {
    check_alike("cone=\"pyramidal\"", STEPS);
    // From step 74 on a box that slides off an edge leaves it one step apart.
    check_alike("cone=\"elliptic\" impratio=\"10\"", 60);
    // Friction without slip makes later contacts sensitive: one moves them apart by 1e-5 m.
    check_alike("noslip_iterations=\"3\" integrator=\"implicitfast\"", 20);
}

static uint64_t hash_of_pile(const void *user, uint32_t threads, mf_Isa isa) {
    Rig rig;
    pile_open(&rig, user, threads, isa);
    mf_world_step(rig.world, STEPS);
    const uint64_t hash = mf_world_hash(rig.world);
    rig_close(&rig);
    return hash;
}

TEST(bits_are_the_same_everywhere) {
    assert_same_bits(hash_of_pile, &(Pile){MANY, 3, false, "cone=\"elliptic\""});
    assert_same_bits(hash_of_pile, &(Pile){MANY, 1, true, ""});
}

TEST(bits_do_not_depend_on_other_robots) {
    const char *const fields[] = {"free.position", "free.velocity", "solver.acceleration"};
    Rig one, some;
    pile_open(&one, &(Pile){MANY, 1, false, ""}, 1, MF_ISA_AUTO);
    pile_open(&some, &(Pile){MANY, 5, false, ""}, 1, MF_ISA_AUTO);
    for (uint32_t i = 0; i < 4; i++) // the others move otherwise
        set_field(some.group, "free.position", i, 0, 0.01 * (i + 1));
    mf_world_step(one.world, STEPS);
    mf_world_step(some.world, STEPS);
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
        for (uint32_t c = 0; c < field_of(one.group, fields[f])->components; c++)
            assert_true(get_field(one.group, fields[f], 0, c) ==
                        get_field(some.group, fields[f], 4, c));
    rig_close(&one);
    rig_close(&some);
}
