// Check cases of classic arrangements under all three laws of contact of `articulated`: what rests
// stays at rest, Painleve's sliding rod, and a row of dominoes.
#include <math.h>

#include "check.h"

enum { BOXES = 12, DOMINOES = 12, LAWS = 3 };

static const struct {
    const char *name;
    mf_ContactLaw law;
} laws[LAWS] = {{"MuJoCo's law", MF_CONTACT_LAW_AS_MODEL},
                {"compliant", MF_CONTACT_LAW_COMPLIANT},
                {"hard", MF_CONTACT_LAW_HARD}};

static mf_RigConfig classic(int law, mf_Time step) {
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_IMPLICIT, step);
    config.motions.articulated.shapes = true;
    config.motions.articulated.contact_law = laws[law].law;
    return config;
}

// ---- rest ---------------------------------------------------------------------------------------

// After 10 s to settle, 60 s.
static void rest(mf_CheckRun *run, int law, uint32_t count) {
    const mf_RigConfig config = classic(law, 5 * MF_MILLISECOND);
    const char *field = count == 1 ? "base.position" : "free.position";
    double before[3 * BOXES], drift = 0.0;
    mf_RigText text = {.used = 0};
    mf_rig_text_add(&text, "<mujoco><worldbody><geom type='plane' size='1 1 1'/>");
    for (uint32_t i = 0; i < count; i++)
        mf_rig_text_add(&text,
                        "<body pos='0 0 %.17g'><freejoint/><geom type='box' size='0.1 0.1 0.1' "
                        "mass='1'/></body>",
                        0.1 + 0.2 * i);
    mf_rig_text_add(&text, "</worldbody></mujoco>");
    mf_rig_open_text(run, text.text, &config);
    mf_rig_step(run, 2000);
    for (uint32_t i = 0; i < 3 * count; i++)
        before[i] = mf_rig_get(run, field, i);
    for (int second = 0; second < 60; second++) {
        mf_rig_step(run, 200);
        for (uint32_t i = 0; i < 3 * count; i++)
            drift = mf_check_worse(drift, fabs(mf_rig_get(run, field, i) - before[i]));
    }
    mf_check_variant(run, "%s, %u box%s", laws[law].name, count, count > 1 ? "es" : "");
    // A tower of twelve amplifies what the tolerance of solvers leaves.
    mf_check_below(run, "drift in 60 s [m]", count == BOXES ? 1e-5 : 1e-6, drift);
}

static void check_rest(mf_CheckRun *run) {
    static const uint32_t counts[3] = {1, 4, BOXES};
    for (int i = 0; i < 3 * LAWS; i++)
        rest(run, i / 3, counts[i % 3]);
}

// ---- Painleve's rod -----------------------------------------------------------------------------

#define HALF 0.5     // [m] half of the rod's length; it is thin, of 1 kg
#define BALL 1e-3    // [m] radius of its ends
#define GRAVITY 9.81 // [m/s^2]

// The rod stands on its lower end, raised by 60 degrees to the side of +x, and slides along x.
static void open_rod(mf_CheckRun *run, int law, double friction, double speed) {
    const double inertia = HALF * HALF / 3.0, lean = 30.0 * MF_CHECK_DEGREE;
    const mf_RigConfig config = classic(law, MF_MILLISECOND / 2);
    mf_RigText text = {.used = 0};
    mf_rig_text_add(&text,
                    "<mujoco><option cone='elliptic' impratio='100'/><default>"
                    "<geom type='sphere' size='%g' friction='%g 0 0'/></default><worldbody>"
                    "<geom type='plane' size='9 9 1'/><body><freejoint/>"
                    "<inertial pos='0 0 0' mass='1' diaginertia='%.17g %.17g 1e-4'/>"
                    "<geom pos='0 0 %g'/><geom pos='0 0 %g'/></body></worldbody></mujoco>",
                    BALL, friction, inertia, inertia, -HALF, HALF);
    mf_rig_open_text(run, text.text, &config);
    mf_rig_set3(run, "base.position", HALF * sin(lean), 0, HALF * cos(lean) + BALL);
    mf_rig_set(run, "base.orientation", 0, cos(0.5 * lean));
    mf_rig_set(run, "base.orientation", 2, sin(0.5 * lean));
    mf_rig_set3(run, "base.linear_velocity", speed, 0, 0);
}

static double rod_energy(const mf_CheckRun *run) {
    return mf_rig_kinetic(run) + GRAVITY * mf_rig_get(run, "base.position", 2);
}

static double load_of(const mf_CheckRun *run) {
    const mf_Field *loads = mf_group_find_field(run->rig.group, "contact.load");
    double sum = 0.0;
    for (uint32_t i = 0; i < loads->components; i++)
        sum += mf_field_get(loads, 0, i);
    return sum;
}

// The load of a sliding end is m g / (1 + 3 cos a (cos a +- mu sin a)) at a slope a of the rod
// (Painleve 1895; Genot, Brogliato 1999). MuJoCo's law bounces at first: its mean is less exact.
static void slide(mf_CheckRun *run, int law, double speed) {
    const double friction = 0.3, slope = 60.0 * MF_CHECK_DEGREE, c = cos(slope), s = sin(slope);
    const double load = 1.0 / (1.0 + 3.0 * c * (c + (speed > 0.0 ? friction : -friction) * s));
    double sum = 0.0;
    open_rod(run, law, friction, speed);
    for (int i = 0; i < 40; i++) {
        mf_rig_step(run, 1);
        sum += load_of(run) / (40.0 * GRAVITY);
    }
    mf_check_variant(run, "%s, mu 0.3, %s", laws[law].name, speed > 0.0 ? "pulled" : "pushed");
    mf_check_near(run, "mean load over the weight in 20 ms", load, sum, law == 0 ? 0.08 : 0.01);
}

// Pushed with friction of 2, above 4/3, no load of a sliding end satisfies the equations. The end
// sticks at once, in an impact without collision: of the speed v the rod keeps the angular momentum
// about its end, the energy 3/8 m v^2 sin^2 a. The end then stays.
static void jam(mf_CheckRun *run, int law) {
    const double s = sin(60.0 * MF_CHECK_DEGREE);
    open_rod(run, law, 2.0, -1.0);
    const double start = rod_energy(run), left = start - 0.5 + 0.375 * s * s;
    double most = 0.0;
    for (int i = 0; i < 400; i++) {
        mf_rig_step(run, 1);
        most = mf_check_worse(most, rod_energy(run) - start);
    }
    mf_check_variant(run, "%s, mu 2, pushed", laws[law].name);
    mf_check_near(run, "energy after the impact [J]", left, rod_energy(run),
                  law == 2 ? 2e-3 : 0.04);
    mf_check_below(run, "gain of energy [J]", 1e-9, most);
}

static void check_rod(mf_CheckRun *run) {
    for (int law = 0; law < LAWS; law++) {
        slide(run, law, 1.0);
        slide(run, law, -1.0);
        jam(run, law);
    }
}

// ---- dominoes -----------------------------------------------------------------------------------

// When each leans by 15 degrees, in MuJoCo 4.0 at steps of 1 ms [s].
static const double arrivals[DOMINOES] = {0.107, 0.300, 0.416, 0.495, 0.559, 0.616,
                                          0.668, 0.718, 0.767, 0.815, 0.863, 0.909};

static double domino_energy(const mf_CheckRun *run) {
    double sum = mf_rig_kinetic(run);
    for (uint32_t i = 0; i < DOMINOES; i++)
        sum += 0.1 * GRAVITY * mf_rig_get(run, "free.position", 3 * i + 2);
    return sum;
}

static void topple(mf_CheckRun *run, int law) {
    const mf_RigConfig config = classic(law, MF_MILLISECOND);
    double fell[DOMINOES] = {0};
    mf_RigText text = {.used = 0};
    mf_rig_text_add(&text, "<mujoco><option cone='elliptic'/><default><geom friction='.5'/>"
                           "</default><worldbody><geom type='plane' size='1 1 1'/>");
    for (uint32_t i = 0; i < DOMINOES; i++)
        mf_rig_text_add(&text,
                        "<body pos='%.17g 0 .06'><freejoint/><geom type='box' size='.01 .03 .06' "
                        "mass='.1'/></body>",
                        0.05 * i);
    mf_rig_text_add(&text, "</worldbody></mujoco>");
    mf_rig_open_text(run, text.text, &config);
    mf_rig_set(run, "free.velocity", 0, 3.0 * 0.06);
    mf_rig_set(run, "ball.rate", 1, 3.0);
    const double start = domino_energy(run);
    double gain = 0.0, late = 0.0;
    for (int step = 1; step <= 1400; step++) {
        mf_rig_step(run, 1);
        gain = mf_check_worse(gain, domino_energy(run) - start);
        for (uint32_t i = 0; i < DOMINOES; i++) {
            const double w = mf_rig_get(run, "ball.orientation", 4 * i);
            if (fell[i] == 0.0 && fabs(w) < cos(7.5 * MF_CHECK_DEGREE))
                fell[i] = 1e-3 * step;
        }
    }
    for (uint32_t i = 0; i < DOMINOES; i++)
        late = mf_check_worse(late, fabs(fell[i] - arrivals[i]));
    mf_check_variant(run, "%s", laws[law].name);
    if (law != 1)
        mf_check_below(run, "arrival of the wave, apart from MuJoCo's [s]",
                       law == 0 ? 1.5e-3 : 0.01, late);
    // Softer contacts start later and carry the wave more slowly.
    mf_check_near(run, "time of the last [s]", arrivals[DOMINOES - 1], fell[DOMINOES - 1],
                  law == 1 ? 0.5 : 0.01);
    mf_check_below(run, "gain of energy over that of the start", 1e-6, gain / start);
}

static void check_dominoes(mf_CheckRun *run) {
    for (int law = 0; law < LAWS; law++)
        topple(run, law);
}

const mf_CheckCase mf_check_classics_cases[] = {
    {"D22", "boxes and stacks rest for 60 s under every law", check_rest},
    {"D23", "Painleve's rod slides, and jams above a friction of 4/3, under every law", check_rod},
    {"D24", "dominoes topple as in MuJoCo and gain no energy", check_dominoes},
    {NULL, NULL, NULL}};
