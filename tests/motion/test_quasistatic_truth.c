// Quasi-static trusses against what energies, cones of friction and another method say.
#include "motion/truss/motion.h"
#include "motion/trusses.h"

// ---- friction -----------------------------------------------------------------------------------

// The cone is round and has its angle: on slopes towards any side a truss sticks just below
// tan a = mu and slides just above, straight down.
TEST(cones_are_round) {
    for (int side = 0; side < 12; side++) {
        const double to = 0.1 + side * 3.14159265358979 / 6.0;
        for (int steep = 0; steep < 2; steep++) {
            const double a = atan(0.5) + (steep ? 1e-3 : -1e-3);
            Parts p;
            pyramid(&p);
            p.truss.actuator_count = 0;
            AUTO_RIG rig = rig_open(&p.truss, WITH(rig_config(1),
                                                   .world.gravity_direction[0] = sin(a) * cos(to),
                                                   .world.gravity_direction[1] = sin(a) * sin(to),
                                                   .world.gravity_direction[2] = -cos(a)));
            mf_world_step(rig.world, 20);
            const double x = get_field(rig.group, "base.position", 0, 0),
                         y = get_field(rig.group, "base.position", 0, 1);
            const double down = x * cos(to) + y * sin(to), across = y * cos(to) - x * sin(to);
            if (steep) {
                assert_true(down > 0.02);
                assert_true(fabs(across) < 0.03 * down);
            } else {
                assert_near(down, 0.0, 1e-3);
            }
        }
    }
}

// ---- bars that meet -----------------------------------------------------------------------------

// Two bars that cross at an angle, pressed together by a known force, sink in by F / k.
TEST(pressed_bars_sink_in) {
    for (int k = 0; k < 6; k++) {
        const double angle = 0.3 + 0.4 * k, force = 0.1 * (k + 1), stiffness = 1e5;
        Parts p;
        begin(&p);
        uint32_t one = vertex(&p, -0.1, 0, 0.1, "xyz");
        bar(&p, one, vertex(&p, 0.1, 0, 0.1, "xyz"));
        const double x = 0.1 * cos(angle), y = 0.1 * sin(angle);
        for (int side = -1; side <= 1; side += 2)
            p.vertices[vertex(&p, side * x, side * y, 0.11, "xy")].load[2] = -0.5 * force;
        bar(&p, 2, 3);
        AUTO_RIG rig = rig_open(&p.truss, WITH(rig_config(1), .motion.contacts = false,
                                               .motion.stiffness = stiffness,
                                               .motion.tolerance = 1e-9, .world.gravity = 0.0));
        mf_world_step(rig.world, 1);
        for (uint32_t v = 2; v < 4; v++)
            assert_near(0.11 - get_field(rig.group, "vertex.position", 0, 3 * v + 2),
                        force / stiffness, 1e-4 * force / stiffness);
        assert_int_equal(mf_group_warning(rig.group, 0), 0);
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
            c.anchor[v][i] = get_field(rig->group, "contact.anchor", 0, 3 * v + i);
            c.force[v][i] = get_field(rig->group, "contact.force", 0, 3 * v + i);
        }
    return c;
}

static double energy_of(const Rig *rig, const Contacts *c) {
    const mf_MotionEnergy energy = mf_motion_energy(rig->group, 0);
    const mf_QuasistaticConfig *config = &mf_truss_motion_of(rig->group)->config;
    double sum = energy.potential + energy.elastic;
    for (uint32_t v = 0; v < 4; v++) {
        const double *f = c->force[v];
        sum += 0.5 * f[2] * f[2] / config->stiffness;
        sum += 0.5 * (f[0] * f[0] + f[1] * f[1]) / config->grip;
    }
    return sum;
}

// A chain that falls onto a held bar and the ground, in frames of one iteration: with contacts and
// bars that meet, and without friction, whose cone changes with the forces, the energy never rises.
TEST(energy_never_rises_in_contact) {
    Parts p;
    begin(&p);
    uint32_t fixed_count = vertex(&p, 0.12, -0.1, 0.03, "xyz");
    bar(&p, fixed_count, vertex(&p, 0.12, 0.1, 0.03, "xyz"));
    for (uint32_t i = 0; i < 8; i++) {
        vertex(&p, 0.04 * i, 0.01 * (i % 2), 0.06 + 0.01 * (i % 3), "");
        if (i > 0)
            bar(&p, i + 1, i + 2);
    }
    AUTO_RIG rig =
        rig_open(&p.truss, WITH(rig_config(1), .motion.friction = 0.0, .motion.iterations = 1));
    double before = INFINITY;
    uint32_t fell = 0;
    for (int f = 0; f < 400; f++) {
        // frame.relaxation leaves out what the loads had when the frame began.
        const double start = mf_motion_energy(rig.group, 0).potential;
        mf_world_step(rig.world, 1);
        const double now = start + get_field(rig.group, "frame.relaxation", 0, 0);
        if (now > before + 1e-12)
            fail_msg("frame %d: %.17g J after %.17g J", f, now, before);
        fell += now < before;
        before = now;
    }
    assert_true(fell > 20);
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
    const double force = get_field(rig->group, "bar.force", 0, 0);
    return -force - force * force / (2.0 * get_field(rig->group, "bar.rigidity", 0, 0));
}

// The actuator grows by 0.03 m in so many frames.
static Account grow(uint32_t frames) {
    Parts p;
    pyramid(&p);
    RigConfig config = rig_config(1);
    config.motion.strengthening = 0.0; // Coulomb's friction, whose work is that of its bound
    AUTO_RIG rig = rig_open(&p.truss, config);
    set_field(rig.group, "actuator.control", 0, 0, 0.1);
    mf_world_step(rig.world, 3);
    Contacts now = contacts_of(&rig);
    double rest = get_field(rig.group, "bar.rest_length", 0, 0), push = push_of(&rig);
    const double begun = energy_of(&rig, &now);
    Account account = {0};
    for (uint32_t f = 1; f <= frames; f++) {
        set_field(rig.group, "actuator.control", 0, 0, 0.1 + 0.03 * f / frames);
        mf_world_step(rig.world, 1);
        const Contacts was = now;
        const double rest_was = rest, push_was = push;
        now = contacts_of(&rig);
        rest = get_field(rig.group, "bar.rest_length", 0, 0);
        push = push_of(&rig);
        account.work += 0.5 * (push + push_was) * (rest - rest_was);
        account.lost += lost_between(&was, &now);
    }
    account.held = energy_of(&rig, &now) - begun;
    assert_int_equal(mf_group_warning(rig.group, 0), 0);
    assert_near(rest, 0.13, 1e-12);
    return account;
}

// In slow motion the work of an actuator is what the truss holds more and what friction took.
TEST(work_is_energy_and_friction) {
    for (int k = 0; k < 3; k++) {
        const Account a = grow(50u << k);
        const double error = fabs(a.work - a.held - a.lost) / a.work;
        print_message("%u frames: work %.6g J, held %.6g, friction %.6g, error %.2g\n", 50u << k,
                      a.work, a.held, a.lost, error);
        assert_true(a.lost > 0.2 * a.work);
        assert_true(error < 1e-5);
    }
}

// ---- frames of reference ------------------------------------------------------------------------

// The crawler, turned about the vertical and with its vertices and bars in another order, after
// some strokes with friction and bars that meet: the positions by the numbers of the first one,
// turned back.
static void crawl_rotated(double angle, uint32_t stride, double (*out)[3]) {
    enum { VERTICES = 8 };
    static Parts p, q;
    crawler(&p, 7, 1);
    begin(&q);
    const uint32_t bars = p.truss.bar_count;
    for (uint32_t i = 0; i < VERTICES; i++) {
        const double *at = p.vertices[i * stride % VERTICES].position;
        vertex(&q, cos(angle) * at[0] - sin(angle) * at[1], sin(angle) * at[0] + cos(angle) * at[1],
               at[2], "");
    }
    for (uint32_t b = 0; b < bars; b++) {
        const uint32_t *ends = p.bars[bars - 1 - b].ends; // stride * stride is 1 modulo 8
        bar(&q, ends[1] * stride % VERTICES, ends[0] * stride % VERTICES);
    }
    for (uint32_t a = 0; a < 2; a++) {
        q.actuators[a] = p.actuators[a];
        q.actuators[a].bar = bars - 1 - p.actuators[a].bar;
    }
    q.truss.actuator_count = 2;
    AUTO_RIG rig = rig_open(&q.truss, WITH(rig_config(1), .motion.tolerance = 1e-9));
    drive(&rig, 8);
    for (uint32_t i = 0; i < VERTICES; i++) {
        const double x = get_field(rig.group, "vertex.position", 0, 3 * i);
        const double y = get_field(rig.group, "vertex.position", 0, 3 * i + 1);
        double *to = out[i * stride % VERTICES];
        to[0] = cos(angle) * x + sin(angle) * y;
        to[1] = cos(angle) * y - sin(angle) * x;
        to[2] = get_field(rig.group, "vertex.position", 0, 3 * i + 2);
    }
}

// Rounding decides where a contact that slips comes to hold within its cone: to 1e-5 m of a stroke
// of 0.02 m.
TEST(turned_trusses_crawl_alike) {
    static const double angles[] = {0.0, 0.7, 2.9};
    static const uint32_t strides[] = {1, 3, 5, 7};
    double first[8][3], other[8][3];
    crawl_rotated(0.0, 1, first);
    for (int k = 0; k < 12; k++) {
        crawl_rotated(angles[k % 3], strides[k / 3], other);
        for (int i = 0; i < 8; i++)
            for (int c = 0; c < 3; c++)
                assert_near(other[i][c], first[i][c], 1e-5);
    }
}

// ---- methods ------------------------------------------------------------------------------------

static uint32_t settle(Rig *rig, uint32_t frames) {
    uint32_t spent = 0;
    for (uint32_t f = 0; f < frames; f++) {
        mf_world_step(rig->world, 1);
        spent += (uint32_t)get_field(rig->group, "frame.iterations", 0, 0);
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

// The ten-bar cantilever of the check case A4 in millimeters.
static void ten_bars(Parts *p) {
    static const uint32_t ends[10][2] = {{0, 2}, {2, 4}, {1, 3}, {3, 5}, {2, 3},
                                         {4, 5}, {0, 3}, {1, 2}, {2, 5}, {3, 4}};
    begin(p);
    for (uint32_t i = 0; i < 6; i++)
        vertex(p, 0.3 * (i / 2), 0.0, i % 2 == 0 ? 0.5 : 0.2, i < 2 ? "xyz" : "y");
    for (uint32_t i = 0; i < 10; i++)
        bar(p, ends[i][0], ends[i][1]);
    p->vertices[3].load[2] = p->vertices[5].load[2] = -2.0;
}

// A crawler of 30 bars whose actuators changed by 1 mm.
static void crawler_of_30(Parts *p) {
    crawler(p, 12, 0);
    p->bars[2].rest_length = 0.151;
}

typedef struct Method {
    const char *name;
    void (*make)(Parts *p);
    bool contacts, same; // `same`: friction leaves one minimum
    uint32_t saved;      // [1] least ratio of iterations
} Method;

static uint32_t relax_by(const Method *method, mf_QuasistaticMethod way, double *heights) {
    static Parts p;
    method->make(&p);
    AUTO_RIG rig =
        rig_open(&p.truss, WITH(rig_config(1), .motion.method = way, .motion.iterations = 1000000,
                                .motion.contacts = method->contacts, .motion.jump = 1.0));
    const uint32_t spent = settle(&rig, 1);
    assert_int_equal(mf_group_warning(rig.group, 0) & MF_WARNING_SOLVER, 0);
    for (uint32_t v = 0; v < p.truss.vertex_count; v++)
        heights[v] = get_field(rig.group, "vertex.position", 0, 3 * v + 2);
    return spent;
}

// Steepest descent ends at the same minimum, to a millionth of the load, after many times the
// iterations.
TEST(both_methods_find_the_minimum) {
    static const Method methods[] = {{"cantilever", cantilever, false, true, 20},
                                     {"ten-bar cantilever", ten_bars, false, true, 20},
                                     {"pyramid", pyramid, true, true, 20},
                                     {"crawler of 30 bars", crawler_of_30, true, false, 100}};
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        double newton[MOST] = {0}, gradient[MOST] = {0};
        const uint32_t few = relax_by(&methods[k], MF_QUASISTATIC_NEWTON, newton);
        const uint32_t many = relax_by(&methods[k], MF_QUASISTATIC_GRADIENT, gradient);
        print_message("%s: %u iterations, by steepest descent %u: %.0f times\n", methods[k].name,
                      few, many, (double)many / few);
        assert_true(many >= methods[k].saved * few);
        for (uint32_t v = 0; v < MOST && methods[k].same; v++)
            assert_near(gradient[v], newton[v], 1e-8);
    }
}
