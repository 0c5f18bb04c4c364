// Quasi-static trusses against what energies, cones of friction and another method say.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "motion/trusses.h"
#include "near.h"

// ---- friction -----------------------------------------------------------------------------------

// The cone is round: on slopes towards any side a truss sticks below tan a = mu and slides above,
// straight down.
static void cones_are_round(void **state) {
    for (int side = 0; side < 12; side++) {
        const double to = 0.1 + side * 3.14159265358979 / 6.0;
        for (int steep = 0; steep < 2; steep++) {
            const double a = atan(0.5) + (steep ? 0.01 : -0.01);
            RigConfig config = rig_config(1);
            config.world.gravity_direction[0] = sin(a) * cos(to);
            config.world.gravity_direction[1] = sin(a) * sin(to);
            config.world.gravity_direction[2] = -cos(a);
            Parts p;
            pyramid(&p);
            p.truss.actuator_count = 0;
            Rig rig = rig_open(*state, &p.truss, config);
            mf_world_step(rig.world, 20);
            const double x = get(&rig, "base.position", 0, 0), y = get(&rig, "base.position", 0, 1);
            const double down = x * cos(to) + y * sin(to), across = y * cos(to) - x * sin(to);
            if (steep) {
                assert_true(down > 0.02);
                assert_true(fabs(across) < 0.03 * down);
            } else {
                assert_near(down, 0.0, 1e-3);
            }
            rig_close(&rig);
        }
    }
}

// ---- energy -------------------------------------------------------------------------------------

typedef struct Account {
    double held; // [J] by bars, weight, and springs of contacts
    double work; // [J] of the actuator since the beginning
    double lost; // [J] to friction since then
} Account;

typedef struct Contacts {
    double anchor[4][3], force[4][3];
} Contacts;

static Contacts contacts_of(const Rig *rig) {
    Contacts c;
    for (uint32_t v = 0; v < 4; v++)
        for (uint32_t i = 0; i < 3; i++) {
            c.anchor[v][i] = get(rig, "contact.anchor", 0, 3 * v + i);
            c.force[v][i] = get(rig, "contact.force", 0, 3 * v + i);
        }
    return c;
}

static double held_of(const Rig *rig, const Contacts *c) {
    const mf_MotionEnergy energy = mf_motion_energy(rig->group, 0);
    const mf_QuasistaticConfig *config = mf_quasistatic_config_of(rig->group);
    double sum = energy.potential + energy.elastic;
    for (uint32_t v = 0; v < 4; v++) {
        const double *f = c->force[v];
        sum += 0.5 * f[2] * f[2] / config->stiffness;
        sum += 0.5 * (f[0] * f[0] + f[1] * f[1]) / config->grip;
    }
    return sum;
}

// Power of friction: the point at which a contact holds moves against the mean force.
static double lost_between(const Contacts *a, const Contacts *b) {
    double sum = 0.0;
    for (uint32_t v = 0; v < 4; v++)
        for (uint32_t i = 0; i < 2; i++)
            sum -= 0.5 * (a->force[v][i] + b->force[v][i]) * (b->anchor[v][i] - a->anchor[v][i]);
    return sum;
}

// dH / d(rest length) of a bar under the force F: -F - F^2 / (2 E A).
static double push_of(const Rig *rig) {
    const double force = get(rig, "bar.force", 0, 0);
    return -force - force * force / (2.0 * get(rig, "bar.rigidity", 0, 0));
}

// The actuator grows by 0.03 m in so many frames.
static Account grow(mf_Context *context, uint32_t frames) {
    Parts p;
    pyramid(&p);
    RigConfig config = rig_config(1);
    Rig rig = rig_open(context, &p.truss, config);
    set(&rig, "actuator.control", 0, 0, 0.1);
    mf_world_step(rig.world, 3);
    Contacts now = contacts_of(&rig);
    double rest = get(&rig, "bar.rest_length", 0, 0), push = push_of(&rig);
    const double begun = held_of(&rig, &now);
    Account account = {0};
    for (uint32_t f = 1; f <= frames; f++) {
        set(&rig, "actuator.control", 0, 0, 0.1 + 0.03 * f / frames);
        mf_world_step(rig.world, 1);
        const Contacts was = now;
        const double rest_was = rest, push_was = push;
        now = contacts_of(&rig);
        rest = get(&rig, "bar.rest_length", 0, 0);
        push = push_of(&rig);
        account.work += 0.5 * (push + push_was) * (rest - rest_was);
        account.lost += lost_between(&was, &now);
    }
    account.held = held_of(&rig, &now) - begun;
    assert_int_equal(mf_group_warning(rig.group, 0), 0);
    assert_near(rest, 0.13, 1e-12);
    rig_close(&rig);
    return account;
}

// In slow motion the work of an actuator is what the truss holds more and what friction took.
static void work_is_energy_and_friction(void **state) {
    for (int k = 0; k < 3; k++) {
        const Account a = grow(*state, 50u << k);
        const double error = fabs(a.work - a.held - a.lost) / a.work;
        print_message("%u frames: work %.6g J, held %.6g, friction %.6g, error %.2g\n", 50u << k,
                      a.work, a.held, a.lost, error);
        assert_true(a.lost > 0.2 * a.work);
        assert_true(error < 1e-5);
    }
}

// ---- methods ------------------------------------------------------------------------------------

static uint32_t settle(Rig *rig, uint32_t frames) {
    uint32_t spent = 0;
    for (uint32_t f = 0; f < frames; f++) {
        mf_world_step(rig->world, 1);
        spent += (uint32_t)get(rig, "frame.iterations", 0, 0);
    }
    return spent;
}

// A cantilever of three squares with diagonals, with a load at its end.
static void cantilever(Parts *p) {
    begin(p);
    for (uint32_t i = 0; i < 8; i++)
        vertex(p, 0.1 * (i / 2), 0.0, 1.0 + 0.1 * (i % 2), i < 2 ? "xyz" : "y");
    for (uint32_t i = 0; i < 3; i++) {
        bar(p, 2 * i, 2 * i + 2);
        bar(p, 2 * i + 1, 2 * i + 3);
        bar(p, 2 * i, 2 * i + 3);
        bar(p, 2 * i + 2, 2 * i + 3);
    }
    p->vertices[6].load[2] = -5.0;
}

// Steepest descent ends at the same minimum, after many times the iterations.
static void both_methods_find_the_minimum(void **state) {
    for (int k = 0; k < 2; k++) {
        uint32_t spent[2];
        double z[2][8];
        for (int method = 0; method < 2; method++) {
            Parts p;
            if (k == 0)
                cantilever(&p);
            else
                pyramid(&p);
            RigConfig config = rig_config(1);
            config.motion.method = method == 0 ? MF_QUASISTATIC_NEWTON : MF_QUASISTATIC_GRADIENT;
            config.motion.iterations = 1000000;
            config.motion.contacts = k == 1;
            config.motion.jump = 1.0;
            Rig rig = rig_open(*state, &p.truss, config);
            spent[method] = settle(&rig, 1);
            assert_int_equal(mf_group_warning(rig.group, 0) & MF_WARNING_SOLVER, 0);
            for (uint32_t v = 0; v < p.truss.vertex_count; v++)
                z[method][v] = get(&rig, "vertex.position", 0, 3 * v + 2);
            for (uint32_t v = 0; method == 1 && v < p.truss.vertex_count; v++)
                assert_near(z[1][v], z[0][v], 1e-8);
            rig_close(&rig);
        }
        print_message("%s: %u iterations, by steepest descent %u\n",
                      k == 0 ? "cantilever" : "pyramid", spent[0], spent[1]);
        assert_true(spent[1] >= 20 * spent[0]);
    }
}

static void unknown_methods_are_refused(void **state) {
    Parts p;
    pyramid(&p);
    mf_Error error = {0};
    RigConfig config = rig_config(1);
    Rig rig = rig_open(*state, &p.truss, config);
    mf_GroupConfig group = mf_group_config();
    mf_World *world;
    mf_Group *other;
    group.model = rig.model;
    group.double_precision = true;
    config.motion.truss = &p.truss;
    config.motion.method = (mf_QuasistaticMethod)7;
    assert_int_equal(mf_world_create(*state, &config.world, &world, &error), MF_OK);
    assert_int_equal(mf_world_add_group(world, &group, &other, &error), MF_OK);
    assert_int_equal(mf_quasistatic_add(other, &config.motion, &error), MF_BAD_ARGUMENT);
    assert_string_equal(error.message, "quasistatic.method: no method 7");
    mf_world_destroy(world);
    rig_close(&rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cones_are_round),
        cmocka_unit_test(work_is_energy_and_friction),
        cmocka_unit_test(both_methods_find_the_minimum),
        cmocka_unit_test(unknown_methods_are_refused),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
