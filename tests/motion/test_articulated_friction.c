// Friction of contacts under MuJoCo's law, 0 to 10: a sled slides v^2 / (2 mu g) far, keeps its
// speed without friction and never gains energy, with both cones, every condim, both precisions, on
// the level ground, on a plane, on a shape of the world and on another body.
#include "motion/articulated_rig.h"

static const double gravity = 9.81;

typedef enum Under { ON_GROUND, ON_PLANE, ON_SHAPE, ON_BODY, UNDERS } Under;

typedef struct Sled {
    const char *cone;
    int condim;
    Under under;
    bool floats;
    double friction[3]; // [1] sliding, [m] torsion, rolling
    double speed;       // [m/s]
    mf_ContactLaw law;
    bool runge_kutta;
    const char *option; // more of MJCF
} Sled;

// The sled is 2 x 2 x 0.04 m: it does not tip at a friction of 10.
static Rig open_sled(const Sled *s) {
    static const char *const floors[] = {
        "<geom type='plane' size='0 0 1' %s/>", "<geom type='plane' size='0 0 1' pos='0 0 .5' %s/>",
        "<geom type='box' size='400 5 .5' pos='0 0 .5' %s/>",
        "<body pos='0 0 .5'><geom type='box' size='400 5 .5' mass='1e5' %s/></body>"};
    char surface[160], under[400], text[1200];
    snprintf(surface, sizeof surface, "condim='%d' friction='%.9g %.9g %.9g'", s->condim,
             s->friction[0], s->friction[1], s->friction[2]);
    snprintf(under, sizeof under, floors[s->under], surface);
    snprintf(
        text, sizeof text,
        "<mujoco><option timestep='.002' cone='%s' %s/><worldbody>%s<body pos='0 0 %s'>"
        "<freejoint/><geom type='box' size='1 1 .02' mass='1' %s/></body></worldbody></mujoco>",
        s->cone, s->option != NULL ? s->option : "", under,
        s->under == ON_GROUND  ? ".02"
        : s->under == ON_PLANE ? ".52"
                               : "1.02",
        surface);
    return text_open(text,
                     WITH(art_config(s->runge_kutta ? MF_ARTICULATED_RK4 : MF_ARTICULATED_IMPLICIT,
                                     2 * MF_MILLISECOND),
                          .motion.contact_law = s->law, .motion.shapes = true,
                          .group.double_precision = !s->floats));
}

// Work [J] that the contact gives back while the sled of 1 kg rises to the touch. Below a friction
// of 0.003 a pyramid is as hard as single precision allows (HARDEST_FLOAT), or harder without
// friction: the sled rests 15 nm deep, less than half a step of float at 0.52 m (30 nm).
// There rounding may end the touch: the sled falls for one step, dips by at most
// g h (h + d tau / e) = 0.18 mm (critical damping with tau = 0.02 s, d = 0.95) and returns.
// It may start in such a dip. A deeper one is no rounding and gives nothing.
static double given_back(const Sled *s, const Rig *t) {
    const double touch = s->under == ON_GROUND ? .02 : s->under == ON_PLANE ? .52 : 1.02;
    const double h = .002, deepest = gravity * h * (h + .95 * .02 / exp(1));
    const double depth = touch - rig_get(t, "base.position", 2);
    const bool hard = s->floats && s->law == MF_CONTACT_LAW_MUJOCO && s->cone[0] == 'p' &&
                      s->condim > 1 && s->friction[0] < .003;
    return hard && depth > 0 && depth < deepest ? gravity * depth : 0;
}

// Slides for 0.2 s, or as long as the speed lasts, and returns the way over the exact one.
static double direction_of(const Sled *s, double *gain) {
    const double steps = 200, h = .002, brake = s->condim == 1 ? 0.0 : s->friction[0] * gravity;
    Rig t = open_sled(s);
    mf_world_step(t.world, 250);
    for (uint32_t k = 0; k < 3; k++)
        rig_set(&t, "base.angular_velocity", k, 0);
    rig_set3(&t, "base.linear_velocity", s->speed, 0, 0);
    const double start = rig_get(&t, "base.position", 0);
    const double energy = rig_energy(&t) + given_back(s, &t);
    *gain = 0;
    for (int i = 0; i < steps; i++) {
        mf_world_step(t.world, 1);
        *gain = fmax(*gain, rig_energy(&t) - energy);
    }
    const double distance = rig_get(&t, "base.position", 0) - start, time = steps * h;
    rig_close(&t);
    const double stop = brake > 0 ? s->speed / brake : 1e9;
    const double exact = stop < time ? .5 * s->speed * stop : (s->speed - .5 * brake * time) * time;
    return distance / exact;
}

static const double frictions[] = {0, 1e-6, 1e-5, 1e-4, 1e-3, .01, .1, .5, 1, 2, 3, 5, 10};

// The sled of each friction, with sanitizers of every fourth. A pyramid lifts what slides fast, so
// that it goes in hops.
static void slide_all(Sled s) {
    for (size_t i = 0; i < sizeof frictions / sizeof *frictions; i += SANITIZED ? 4 : 1) {
        const double mu = frictions[i];
        s.friction[0] = mu;
        s.friction[1] = mu > 0 ? .005 : 0;
        s.friction[2] = mu > 0 ? .0001 : 0;
        s.speed = .3 * mu * gravity + (mu < .3 ? 1.0 : 0.0);
        double gain, distance = direction_of(&s, &gain);
        const double tolerance = mu <= 2 ? .01 : mu <= 5 ? .025 : .14;
        if (!(fabs(distance - 1) <= tolerance && gain <= 1e-4))
            fail_msg("%s %s condim %d, under %d, law %d, %s%s, friction %g: %.5f of the way, gains "
                     "%g J",
                     s.floats ? "float" : "double", s.cone, s.condim, (int)s.under, (int)s.law,
                     s.option != NULL ? s.option : "", s.runge_kutta ? "RK4" : "", mu, distance,
                     gain);
    }
}

TEST(sleds_slide_by_coulomb) {
    static const int dims[] = {1, 3, 4, 6};
    for (int under = 0; under < UNDERS; under++)
        for (int floats = 0; floats < 2; floats++)
            for (int cone = 0; cone < 2; cone++)
                for (int d = 0; d < 4; d++)
                    slide_all((Sled){.cone = cone ? "elliptic" : "pyramidal",
                                     .condim = dims[d],
                                     .under = (Under)under,
                                     .floats = floats,
                                     .law = MF_CONTACT_LAW_MUJOCO});
}

TEST(options_do_not_change_friction) {
    static const char *const options[] = {"impratio='100'", "impratio='.1'",
                                          "noslip_iterations='5'", NULL};
    for (int floats = 0; floats < 2; floats++)
        for (int cone = 0; cone < 2; cone++)
            for (int i = 0; i < 4; i++)
                slide_all((Sled){.cone = cone ? "elliptic" : "pyramidal",
                                 .condim = 3,
                                 .floats = floats,
                                 .option = options[i],
                                 .runge_kutta = options[i] == NULL,
                                 .law = MF_CONTACT_LAW_MUJOCO});
}

TEST(other_laws_slide_by_coulomb) {
    static const int dims[] = {1, 3, 4, 6};
    for (int under = 0; under < UNDERS; under++)
        for (int floats = 0; floats < 2; floats++)
            for (int d = 0; d < 4; d++)
                for (int law = 0; law < 2; law++)
                    slide_all((Sled){.cone = "pyramidal",
                                     .condim = dims[d],
                                     .under = (Under)under,
                                     .floats = floats,
                                     .law = law ? MF_CONTACT_LAW_HARD : MF_CONTACT_LAW_COMPLIANT});
}

// ---- torsion and rolling ------------------------------------------------------------------------

// A ball of 1 kg and 0.1 m on a floor of the world, or on a body, by a <pair> with five values.
static Rig open_ball(const char *cone, int condim, Under under, bool floats, const double mu[5]) {
    char text[1400];
    const bool pair = under == ON_SHAPE || under == ON_BODY;
    snprintf(text, sizeof text,
             "<mujoco><option timestep='.002' cone='%s'/><worldbody>%s<body pos='0 0 %s'>"
             "<freejoint/><geom name='ball' size='.1' mass='1' condim='%d' "
             "friction='%.9g %.9g %.9g'/></body></worldbody>%s",
             cone,
             under == ON_BODY ? "<body pos='0 0 .5'><geom name='floor' type='box' size='40 5 .5' "
                                "mass='1e5' friction='0 0 0' condim='1'/></body>"
             : under == ON_SHAPE
                 ? "<geom name='floor' type='box' size='40 5 .5' pos='0 0 .5' condim='1'/>"
             : under == ON_PLANE
                 ? "<geom type='plane' size='0 0 1' pos='0 0 .5' friction='0 0 0' condim='1'/>"
                 : "<geom type='plane' size='0 0 1' friction='0 0 0' condim='1'/>",
             under == ON_GROUND  ? ".1"
             : under == ON_PLANE ? ".6"
                                 : "1.1",
             pair ? 1 : condim, pair ? 7.0 : mu[0], pair ? 7.0 : mu[2], pair ? 7.0 : mu[3],
             pair ? "" : "</mujoco>");
    if (pair)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "<contact><pair geom1='floor' geom2='ball' condim='%d' "
                 "friction='%.9g %.9g %.9g %.9g %.9g'/></contact></mujoco>",
                 condim, mu[0], mu[1], mu[2], mu[3], mu[4]);
    Rig t = text_open(text, WITH(art_config(MF_ARTICULATED_IMPLICIT, 2 * MF_MILLISECOND),
                                 .motion.contact_law = MF_CONTACT_LAW_MUJOCO, .motion.shapes = true,
                                 .group.double_precision = !floats));
    mf_world_step(t.world, 250);
    return t;
}

static void check_ball(const char *cone, int condim, Under under, bool floats, const double mu[5]) {
    const double time = .2, speed = 1, r = .1;
    for (int rolls = 0; rolls < 2; rolls++) {
        AUTO_RIG t = open_ball(cone, condim, under, floats, mu);
        rig_set3(&t, "base.orientation", 0, 0, 0);
        rig_set(&t, "base.orientation", 0, 1);
        rig_set3(&t, "base.linear_velocity", rolls ? speed : 0, 0, 0);
        rig_set3(&t, "base.angular_velocity", 0, rolls ? speed / r : 0, rolls ? 0 : 10);
        mf_world_step(t.world, 100);
        double got = rig_get(&t, "base.angular_velocity", 2), exact = 10;
        if (!rolls && condim >= 4)
            exact -= mu[2] * gravity / (.4 * r * r) * time;
        if (rolls) {
            got = rig_get(&t, "base.linear_velocity", 0);
            exact = speed;
            if (condim == 6 && mu[0] > 0.5) // else it slips
                exact -= mu[3] * gravity / (1.4 * r) * time;
        }
        if (!(fabs(got / exact - 1) < .04))
            fail_msg("%s %s condim %d, under %d, friction %g %g %g: %s at %g, exact %g",
                     floats ? "float" : "double", cone, condim, (int)under, mu[0], mu[2], mu[3],
                     rolls ? "rolls" : "spins", got, exact);
    }
}

// Coefficients at which friction slips; below, it creeps as MuJoCo's does.
TEST(balls_spin_and_roll) {
    static const double cases[][5] = {
        {0, 0, 0, 0, 0},          {1, 1, 0, 0, 0},           {1, 1, .005, 1e-4, 1e-4},
        {1, 1, 1e-6, 1e-6, 1e-6}, {1, 1, 1e-3, 0, 0},        {1, 1, 0, .01, .01},
        {0, 0, .005, 0, 0},       {0, 0, .01, .001, .001},   {1e-4, 1e-4, .01, .001, .001},
        {0, 0, 0, 1e-5, 1e-5},    {.5, 1e-5, .005, 0, 1e-5},
    };
    for (int under = 0; under < UNDERS; under++)
        for (int floats = 0; floats < 2; floats++)
            for (int cone = 0; cone < 2; cone++)
                for (int condim = 3; condim <= 6; condim += condim == 3 ? 1 : 2)
                    for (size_t i = 0; i < sizeof cases / sizeof *cases; i += SANITIZED ? 4 : 1)
                        check_ball(cone ? "elliptic" : "pyramidal", condim, (Under)under, floats,
                                   cases[i]);
}

// A box that rocks on ice from a keyframe; its energy of 0.5 J became 89 J.
TEST(a_box_rocks_on_ice) {
    for (int floats = 0; floats < 2; floats++)
        for (int cone = 0; cone < 2; cone++) {
            AUTO_RIG t = text_open(
                formatted("<mujoco><option cone='%s'/><worldbody><geom type='plane' size='5 5 1' "
                          "friction='0'/><body pos='0 0 .05'><freejoint/><geom type='box' "
                          "size='.1 .1 .05' mass='1' friction='0'/></body></worldbody></mujoco>",
                          cone ? "elliptic" : "pyramidal"),
                WITH(art_config(MF_ARTICULATED_IMPLICIT, 2 * MF_MILLISECOND),
                     .motion.contact_law = MF_CONTACT_LAW_MUJOCO, .motion.shapes = true,
                     .group.double_precision = !floats));
            rig_set3(&t, "base.linear_velocity", 1, 0, 0);
            rig_set(&t, "base.angular_velocity", 1, .5);
            const double start = rig_energy(&t);
            for (int i = 0; i < 500; i++) {
                mf_world_step(t.world, 1);
                assert_true(rig_energy(&t) < start + 1e-3);
            }
            assert_near(rig_get(&t, "base.linear_velocity", 0), 1, 1e-4);
            assert_near(rig_get(&t, "base.position", 2), .05, 1e-3);
        }
}
