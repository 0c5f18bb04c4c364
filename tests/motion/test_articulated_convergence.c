// Contacts between bodies converge with the laws of `articulated`: heavy on light bodies, tall
// stacks, and rows of bodies that are pulled together, against closed forms.
#include "motion/articulated_rig.h"

enum { LEVELS = 12, ROW = 8 };

static const double gravity = 9.81, half = 0.1, step = 0.005;

static ArtConfig pile_config(bool hard, bool twice) {
    return WITH(art_config(MF_ARTICULATED_IMPLICIT, 5 * MF_MILLISECOND), .motion.shapes = true,
                .group.double_precision = twice,
                .motion.contact_law = hard ? MF_CONTACT_LAW_HARD : MF_CONTACT_LAW_COMPLIANT);
}

// Boxes of 20 cm on each other, the lowest on the ground.
static Rig open_pile(uint32_t count, const double *masses, ArtConfig config) {
    char text[4096];
    size_t used =
        (size_t)snprintf(text, sizeof text, "<mujoco><worldbody><geom type='plane' size='1 1 1'/>");
    for (uint32_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "<body pos='0 0 %g'><freejoint/><geom type='box' "
                                 "size='0.1 0.1 0.1' mass='%g'/></body>",
                                 half * (2 * i + 1), masses[i]);
    snprintf(text + used, sizeof text - used, "</worldbody></mujoco>");
    return text_open(text, config);
}

static double ground_load(const Rig *t) {
    const mf_Field *loads = mf_group_find_field(t->group, "contact.load");
    double sum = 0.0;
    for (uint32_t i = 0; i < loads->components; i++)
        sum += mf_field_get(loads, 0, i);
    return sum;
}

// Forces of the pairs of shapes that touch, in the order of the pairs. Returns how many.
static uint32_t pair_loads(const Rig *t, uint32_t most, double *out) {
    const mf_Field *memory = mf_group_find_field(t->group, "warm_start.force");
    uint32_t count = 0;
    for (uint32_t pair = 0; 6 * pair < memory->components; pair++) {
        double square = 0.0;
        for (uint32_t k = 0; k < 3; k++)
            square += pow(mf_field_get(memory, 0, 6 * pair + k), 2);
        if (square > 0.0 && count < most)
            out[count++] = sqrt(square);
    }
    return count;
}

static double solver_warnings(const Rig *t) {
    return rig_get(t, "warning.steps", 0);
}

// ---- heavy on light -----------------------------------------------------------------------------

// 1,000 kg on 1 kg. Compliant contacts are as deep as four springs m / T^2 of both masses are under
// the load, with T of two steps; hard ones are not deep.
TEST(a_heavy_box_rests_on_a_light_one) {
    const double masses[2] = {1.0, 1000.0}, all = 1001.0, stiffness = 4 * all / pow(2 * step, 2);
    for (int kind = 0; kind < 4; kind++) {
        const bool hard = kind & 1, twice = kind & 2;
        const double under = hard ? 0.0 : all * gravity / stiffness;
        const double between = hard ? 0.0 : 1000.0 * gravity / stiffness;
        AUTO_RIG t = open_pile(2, masses, pile_config(hard, twice));
        mf_world_step(t.world, 600);
        double load = 0.0, pair = 0.0, lowest = rig_get(&t, "free.position", 2);
        double upper = rig_get(&t, "free.position", 5), residual = 0.0;
        for (uint32_t i = 0; i < 200; i++) {
            double loads[2];
            mf_world_step(t.world, 1);
            load = fmax(load, fabs(ground_load(&t) / (all * gravity) - 1.0));
            assert_int_equal(pair_loads(&t, 2, loads), 1);
            pair = fmax(pair, fabs(loads[0] / (1000.0 * gravity) - 1.0));
            residual = fmax(residual, rig_get(&t, "solver.residual", 0));
        }
        print_message("%s, %s: load off by %.2g, %.2g; depth %.6g (%.6g), %.6g (%.6g) mm; "
                      "residual %.2g\n",
                      hard ? "hard" : "compliant", twice ? "double" : "float", load, pair,
                      1e3 * (half - lowest), 1e3 * under, 1e3 * (lowest + 2 * half - upper),
                      1e3 * between, residual);
        // A hard contact in float gives way by what keeps rounding from showing.
        const double off = twice ? 1e-3 : hard ? 2e-2 : 2e-3;
        assert_true(load < off && pair < off);
        const double depth = hard ? twice ? 1e-6 : 2e-4 : 1e-3 * under;
        assert_near(half - lowest, under, depth);
        assert_near(lowest + 2 * half - upper, between, depth);
        assert_true(residual < (twice ? 1e-5 : 1e-4));
        assert_near(solver_warnings(&t), 0.0, 0.0);
    }
}

// ---- stack --------------------------------------------------------------------------------------

// Every level bears what is above it, for 100 s (5 s with sanitizers).
TEST(a_stack_of_twelve_stands) {
    double masses[LEVELS];
    for (uint32_t i = 0; i < LEVELS; i++)
        masses[i] = 1.0;
    for (int hard = 0; hard < 2; hard++) {
        double loads[LEVELS], worst = 0.0, before[3 * LEVELS], drift = 0.0;
        AUTO_RIG t = open_pile(LEVELS, masses, pile_config(hard, true));
        mf_world_step(t.world, 400);
        for (uint32_t c = 0; c < 3 * LEVELS; c++)
            before[c] = rig_get(&t, "free.position", c);
        for (uint32_t second = 0; second < STEPS_OF(100); second++) {
            mf_world_step(t.world, 200);
            worst = fmax(worst, fabs(ground_load(&t) / (LEVELS * gravity) - 1.0));
            assert_int_equal(pair_loads(&t, LEVELS, loads), LEVELS - 1);
            for (uint32_t i = 0; i < LEVELS - 1; i++)
                worst = fmax(worst, fabs(loads[i] / ((LEVELS - 1 - i) * gravity) - 1.0));
        }
        for (uint32_t c = 0; c < 3 * LEVELS; c++)
            drift = fmax(drift, fabs(rig_get(&t, "free.position", c) - before[c]));
        print_message("%s stack: loads off by %.2g, drift %.2g m\n", hard ? "hard" : "compliant",
                      worst, drift);
        assert_true(worst < 1e-3);
        assert_true(drift < 1e-4);
        assert_near(solver_warnings(&t), 0.0, 0.0);
    }
}

// Sweeps alone leave much; the residual says so, and the warning is raised.
TEST(too_few_rounds_are_reported) {
    double masses[LEVELS];
    for (uint32_t i = 0; i < LEVELS; i++)
        masses[i] = 1.0;
    for (uint32_t rounds = 0; rounds < 2; rounds++) {
        ArtConfig config = WITH(pile_config(false, true), .motion.solver_rounds = rounds);
        double residual = 0.0, solved = 0.0;
        AUTO_RIG t = open_pile(LEVELS, masses, config);
        for (uint32_t i = 0; i < 100; i++) {
            mf_world_step(t.world, 1);
            residual = fmax(residual, rig_get(&t, "solver.residual", 0));
            solved = fmax(solved, rig_get(&t, "solver.iterations", 0));
        }
        assert_near(solved, rounds, 0.0);
        assert_int_equal(residual > 0.1, rounds == 0);
        assert_int_equal(solver_warnings(&t) > 0.0, rounds == 0);
        assert_int_equal(mf_group_warning(t.group, 0) & MF_WARNING_SOLVER,
                         rounds == 0 ? MF_WARNING_SOLVER : 0);
    }
}

// ---- chains -------------------------------------------------------------------------------------

// Boxes of 1 and 100 kg in a row in empty space, drawn together by a tendon between the ends: every
// contact bears its pull.
TEST(a_row_is_pulled_together) {
    char text[4096];
    size_t used = (size_t)snprintf(text, sizeof text, "<mujoco><worldbody>");
    for (uint32_t i = 0; i < ROW; i++) {
        const char *site = i == 0 ? "<site name='a'/>" : i == ROW - 1 ? "<site name='b'/>" : "";
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "<body pos='%g 0 1'><freejoint/><geom type='box' "
                                 "size='0.1 0.1 0.1' mass='%d'/>%s</body>",
                                 2 * half * i, i % 2 == 0 ? 1 : 100, site);
    }
    snprintf(text + used, sizeof text - used,
             "</worldbody><tendon><spatial stiffness='1000' damping='100' springlength='1.3'>"
             "<site site='a'/><site site='b'/></spatial></tendon></mujoco>");
    for (int hard = 0; hard < 2; hard++) {
        double loads[ROW], worst = 0.0;
        AUTO_RIG t = text_open(text, WITH(pile_config(hard, true), .world.gravity = 0.0));
        mf_world_step(t.world, 1000);
        const uint32_t last = 3 * (ROW - 1);
        const double length = rig_get(&t, "free.position", last) - rig_get(&t, "free.position", 0);
        const double pull = 1000.0 * (length - 1.3);
        assert_int_equal(pair_loads(&t, ROW, loads), ROW - 1);
        for (uint32_t i = 0; i < ROW - 1; i++)
            worst = fmax(worst, fabs(loads[i] / pull - 1.0));
        print_message("%s row: %.6g N, off by %.2g\n", hard ? "hard" : "compliant", pull, worst);
        assert_true(fabs(pull - 100.0) < 5.0);
        assert_true(worst < 1e-3);
        assert_near(solver_warnings(&t), 0.0, 0.0);
    }
}

// 10 kg without friction on ground that is inclined by 20 degrees, held by a chain of six links of
// 100 g that equality constraints join. The ground bears its part of the weight, and of half the
// chain in the mean.
TEST(a_chain_holds_a_heavy_box) {
    char text[4096];
    size_t used = (size_t)snprintf(
        text, sizeof text,
        "<mujoco><worldbody><geom type='plane' size='1 1 1' friction='0 0 0' condim='1'/>"
        "<body name='box' pos='0 0 0.1'><freejoint/><geom type='box' size='0.1 0.1 0.1' "
        "mass='10' friction='0 0 0' condim='1'/></body>");
    for (uint32_t i = 0; i < 6; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "<body name='l%u' pos='%g 0 0.1'><freejoint/><geom "
                                 "type='capsule' fromto='-0.05 0 0 0.05 0 0' size='0.01' "
                                 "mass='0.1' contype='0' conaffinity='0'/></body>",
                                 i, -0.15 - 0.1 * i);
    used += (size_t)snprintf(text + used, sizeof text - used,
                             "</worldbody><equality><connect body1='l0' body2='box' "
                             "anchor='0.05 0 0'/><connect body1='l5' anchor='-0.05 0 0'/>");
    for (uint32_t i = 0; i < 5; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "<connect body1='l%u' body2='l%u' anchor='-0.05 0 0'/>", i, i + 1);
    snprintf(text + used, sizeof text - used, "</equality></mujoco>");
    const double tilt = 20.0 / 57.29577951308232, weight = 10.3 * gravity;
    for (int hard = 0; hard < 2; hard++) {
        AUTO_RIG t =
            text_open(text, WITH(pile_config(hard, true), .world.gravity_direction[0] = sin(tilt),
                                 .world.gravity_direction[2] = -cos(tilt)));
        mf_world_step(t.world, 1000);
        double load = 0.0; // mean, since the chain swings
        for (uint32_t i = 0; i < 2000; i++) {
            mf_world_step(t.world, 1);
            load += ground_load(&t) / 2000.0;
        }
        const double x = rig_get(&t, "free.position", 0);
        print_message("%s: load off by %.2g, moved %.2g m\n", hard ? "hard" : "compliant",
                      load / (weight * cos(tilt)) - 1.0, x);
        assert_near(load / (weight * cos(tilt)), 1.0, 1e-3);
        assert_near(x, 0.0, 5e-3);
        assert_near(solver_warnings(&t), 0.0, 0.0);
    }
}
