// Loops of joints in a plane: rows of their constraints are redundant, and so is what presses
// across the plane. Under every law, in both precisions, at every step they stay finite and closed,
// gain no energy, and move as their equation says.
#include "math/scalar.h"
#include "motion/articulated_rig.h"

typedef enum Shape { FOUR_BAR, PARALLELOGRAM, FIVE_BAR, SLIDER_CRANK, WELDED, SHAPES } Shape;

typedef struct Linkage {
    Shape shape;
    bool fixed, balls, limb, floats, ground;
    bool pairs; // links collide: those of a joint overlap
    mf_ContactLaw law;
    int step; // [ms]
} Linkage;

static const char *const shapes[] = {"four-bar", "parallelogram", "five-bar", "slider-crank",
                                     "welded four-bar"};

// Legs 0.16 m apart under a box; a rod from the first to the second, or between their shins.
static const char legs[] = "<body name='a' pos='-.08 0 0'>%1$s<geom fromto='0 0 0 0 0 -.2'/>"
                           "<body name='rod' pos='0 0 -.1'>%1$s<geom fromto='0 0 0 %3$s'/>"
                           "%4$s</body></body><body name='b' pos='.08 0 0'>%1$s"
                           "<geom fromto='0 0 0 %2$s'/></body>";
static const char shins[] = "<body name='a' pos='-.08 0 0'>%1$s<geom fromto='0 0 0 -.03 0 -.1'/>"
                            "<body name='rod' pos='-.03 0 -.1'>%1$s"
                            "<geom fromto='0 0 0 .11 0 -.06'/></body></body>"
                            "<body name='c' pos='.08 0 0'>%1$s<geom fromto='0 0 0 .03 0 -.1'/>"
                            "<body name='b' pos='.03 0 -.1'>%1$s<geom fromto='0 0 0 -.11 0 -.06'/>"
                            "</body></body>";
static const char crank[] = "<body name='a' pos='-.08 0 0'>%1$s<geom fromto='0 0 0 0 0 -.1'/>"
                            "<body name='rod' pos='0 0 -.1'>%1$s<geom fromto='0 0 0 .16 0 0'/>"
                            "</body></body><body name='b' pos='.08 0 -.1'><joint type='slide' "
                            "axis='1 0 .5'/><geom type='sphere' size='.03'/></body>";
static const char end[] = "<body name='end' pos='.16 0 0'><joint axis='0 1 0'/>"
                          "<geom type='sphere' size='.02'/></body>";

static const char *body_of(const Linkage *l) {
    const char *joint = l->balls ? "<joint type='ball'/>" : "<joint axis='0 1 0'/>";
    if (l->shape == SLIDER_CRANK)
        return formatted(crank, joint);
    if (l->shape == FIVE_BAR)
        return formatted(shins, joint);
    return formatted(legs, joint, l->shape == FOUR_BAR ? ".05 0 -.25" : "0 0 -.2",
                     l->shape == FOUR_BAR ? ".18 0 -.05" : ".16 0 0",
                     l->shape == WELDED ? end : "");
}

static Rig linkage_open(const Linkage *l) {
    char bodies[2000];
    snprintf(bodies, sizeof bodies, "%s", body_of(l));
    const char *limb = l->balls ? "<joint type='ball'/>" : "<joint axis='0 1 0'/>";
    char third[300] = "";
    if (l->limb)
        snprintf(third, sizeof third, "<body pos='0 .08 0'>%s<geom fromto='0 0 0 0 0 -.2'/></body>",
                 limb);
    const char *text = formatted(
        "<mujoco><default><geom type='capsule' size='.02' density='1000'/></default><worldbody>%s"
        "<body pos='0 0 %s'>%s<geom type='box' size='.1 .1 .03' mass='1'/>%s%s</body></worldbody>"
        "<equality>%s</equality></mujoco>",
        l->ground ? "<geom type='plane' size='9 9 1'/>" : "", l->ground ? ".25" : "30",
        l->fixed ? "" : "<freejoint/>", bodies, third,
        l->shape == WELDED     ? "<weld body1='end' body2='b'/>"
        : l->shape == FOUR_BAR ? "<connect body1='rod' body2='b' anchor='.18 0 -.05'/>"
        : l->shape == FIVE_BAR ? "<connect body1='rod' body2='b' anchor='.11 0 -.06'/>"
                               : "<connect body1='rod' body2='b' anchor='.16 0 0'/>");
    ArtConfig config = art_config(MF_ARTICULATED_IMPLICIT, l->step * MF_MILLISECOND);
    config.group.double_precision = !l->floats;
    config.motion.contact_law = l->law;
    config.motion.shapes = true;
    config.motion.self_contacts = l->pairs;
    Rig t = text_open(text, config);
    if (l->balls)
        rig_set(&t, "ball.rate", 1, 2.0);
    else
        rig_set(&t, "joint.rate", 0, 2.0);
    if (!l->fixed)
        rig_set3(&t, "base.angular_velocity", 0.3, 0.5, 0.2);
    return t;
}

// Where the loop is closed, in the frames of the rod (or its end) and of b; b's is set by the
// start.
typedef struct Closure {
    uint32_t links[2];
    double anchors[2][3];
} Closure;

// From the anchor on b to that on the rod, world axes.
static void gap_find(const Rig *t, const Closure *closure, double gap[3], double back[4]) {
    double position[8][3], rotation[8][4], at[2][3];
    MUST(mf_group_link_poses(t->group, 0, 1, position[0], rotation[0], &error));
    for (int side = 0; side < 2; side++)
        mf_quat_rotate(at[side], rotation[closure->links[side]], closure->anchors[side]);
    for (int c = 0; c < 3; c++)
        gap[c] =
            at[0][c] + position[closure->links[0]][c] - at[1][c] - position[closure->links[1]][c];
    mf_quat_conjugate(back, rotation[closure->links[1]]);
}

static Closure closure_of(const Rig *t, Shape shape) {
    static const double anchors[SHAPES][3] = {
        {0.18, 0, -0.05}, {0.16, 0, 0}, {0.11, 0, -0.06}, {0.16, 0, 0}, {0, 0, 0}};
    const char *rod = shape == WELDED ? "end" : "rod";
    Closure closure = {
        {mf_model_find(t->model, MF_ITEM_LINK, rod), mf_model_find(t->model, MF_ITEM_LINK, "b")},
        {{0}}};
    memcpy(closure.anchors[0], anchors[shape], sizeof closure.anchors[0]);
    double gap[3], back[4];
    gap_find(t, &closure, gap, back);
    mf_quat_rotate(closure.anchors[1], back, gap);
    return closure;
}

static double gap_of(const Rig *t, const Closure *closure) {
    double gap[3], back[4];
    gap_find(t, closure, gap, back);
    return sqrt(gap[0] * gap[0] + gap[1] * gap[1] + gap[2] * gap[2]);
}

typedef struct Outcome {
    double steps, gain, gap; // [1] of those that it took, [J] most above the start, [m] most
} Outcome;

static Outcome linkage_run(const Linkage *l) {
    AUTO_RIG t = linkage_open(l);
    const Closure closure = closure_of(&t, l->shape);
    mf_world_step(t.world, 2); // at first one joint of the loop moved
    Outcome out = {0, -INFINITY, 0};
    const double start = rig_energy(&t);
    const int steps = STEPS_OF(2000) / l->step;
    for (int n = 0; n < steps && mf_group_fault_total(t.group) == 0; n++) {
        mf_world_step(t.world, 1);
        out.gain = fmax(out.gain, rig_energy(&t) - start);
        out.gap = fmax(out.gap, gap_of(&t, &closure));
        out.steps = (double)(n + 1) / steps;
    }
    if (mf_group_fault_total(t.group) > 0)
        out.steps = fmin(out.steps, 0.99);
    return out;
}

// ---- the family ---------------------------------------------------------------------------------

// What the laws promise. `compliant` and `hard` close a loop at the end of each step by two rounds,
// which leave an error of the second order of the step, more by the speeds of an impact, and
// rounding; MuJoCo's is soft.
static double gap_allowed(const Linkage *l) {
    if (l->law == MF_CONTACT_LAW_MUJOCO)
        return 0.05;
    return (l->ground ? 1.5e-4 : 4e-7) * l->step * l->step + (l->floats ? 8e-6 : 0.0);
}

// Euler's method is of the first order. Feet start in the ground, and links of a joint in each
// other, which is energy of its own.
static double gain_allowed(const Linkage *l) {
    return l->ground || l->pairs ? INFINITY : 0.008 * l->step;
}

static void run_all(Linkage l) {
    double gain = 0.0, gap = 0.0;
    for (int i = 0; i < 16; i++) {
        l.fixed = i & 1;
        l.balls = i & 2;
        l.limb = i & 4;
        l.floats = i & 8;
        const Outcome out = linkage_run(&l);
        const bool right = out.steps >= 1.0 && out.gain <= gain_allowed(&l) &&
                           (l.pairs || out.gap <= gap_allowed(&l));
        if (!right)
            print_message("%s base, %s, %s limb, %s: %.2f of the steps\n",
                          l.fixed ? "fixed" : "free", l.balls ? "balls" : "hinges",
                          l.limb ? "with a" : "no", l.floats ? "float" : "double", out.steps);
        gain = fmax(gain, out.gain);
        gap = fmax(gap, out.gap);
        if (!right || i == 15)
            print_message("%s, law %d, %s, %d ms: gain %.2g J, open by %.2g m\n", shapes[l.shape],
                          (int)l.law, l.ground ? "ground" : "air", l.step, gain, gap);
        assert_true(right);
    }
}

static const int steps[] = {1, 2, 5}; // [ms]

TEST(in_the_air_and_on_the_ground) {
    for (mf_ContactLaw law = MF_CONTACT_LAW_MUJOCO; law <= MF_CONTACT_LAW_HARD; law++)
        for (Shape shape = 0; shape < SHAPES; shape++)
            for (int i = 0; i < 6; i++)
                run_all(
                    (Linkage){.shape = shape, .law = law, .ground = i / 3, .step = steps[i % 3]});
}

// Links that overlap at their joints press on each other through them, where nothing moves.
TEST(where_links_of_a_joint_collide) {
    for (mf_ContactLaw law = MF_CONTACT_LAW_COMPLIANT; law <= MF_CONTACT_LAW_HARD; law++)
        for (Shape shape = 0; shape < SHAPES; shape++)
            run_all((Linkage){.shape = shape, .law = law, .pairs = true, .step = 2});
}

// ---- a four-bar against its equation ------------------------------------------------------------

// The four-bar without limb on a fixed base: the rod and leg b follow the angle q of leg a, and
// with the inertia M(q) and the potential V(q)
//     M q'' = -M' q'^2 / 2 - V'
typedef struct Bar {
    double x, z, mass, own; // [m] center, [kg], [kg m^2] about it
} Bar;

// A capsule of 20 mm and 1000 kg/m^3 from the origin to (x, z).
static Bar bar_to(double x, double z) {
    const double pi = 3.14159265358979323846, r = 0.02, h = hypot(x, z);
    const double side = 1000 * pi * r * r * h, ends = 1000 * pi * r * r * r * 4 / 3;
    return (Bar){x / 2, z / 2, side + ends,
                 side * (h * h / 12 + r * r / 4) +
                     ends * (2 * r * r / 5 + h * h / 4 + 3 * h * r / 8)};
}

// (x, z) rotated about y; its derivative by the angle is (z, -x).
static void rotate_y(double q, double x, double z, double out[2]) {
    out[0] = x * cos(q) + z * sin(q);
    out[1] = z * cos(q) - x * sin(q);
}

// Angles of rod and leg b, from those given, and their rates if q' = 1.
static void loop_solve(double q, double angles[2], double rates[2]) {
    for (int round = 0; round < 8; round++) {
        double a[2], rod[2], b[2];
        rotate_y(q, 0, -0.1, a);
        rotate_y(angles[0], 0.18, -0.05, rod);
        rotate_y(angles[1], 0.02, -0.15, b);
        const double gap[2] = {a[0] + rod[0] - b[0] - 0.16, a[1] + rod[1] - b[1]};
        const double det = rod[1] * b[0] - b[1] * rod[0];
        rates[0] = -(b[0] * a[1] - b[1] * a[0]) / det;
        rates[1] = -(rod[0] * a[1] - rod[1] * a[0]) / det;
        angles[0] -= (b[0] * gap[0] + b[1] * gap[1]) / det;
        angles[1] -= (rod[0] * gap[0] + rod[1] * gap[1]) / det;
    }
}

static void inertia_and_potential(double q, double angles[2], double *inertia, double *potential) {
    const Bar bars[3] = {bar_to(0, -0.2), bar_to(0.18, -0.05), bar_to(0.05, -0.25)};
    double rates[2], hinge[2], at[3][2];
    loop_solve(q, angles, rates);
    const double rate[3] = {1, rates[0], rates[1]}, angle[3] = {q, angles[0], angles[1]};
    rotate_y(q, 0, -0.1, hinge);
    *inertia = *potential = 0.0;
    for (int i = 0; i < 3; i++) {
        rotate_y(angle[i], bars[i].x, bars[i].z, at[i]);
        const double carried = i == 1 ? 1.0 : 0.0; // by leg a
        const double x = rate[i] * at[i][1] + carried * hinge[1],
                     z = -rate[i] * at[i][0] - carried * hinge[0];
        *inertia += bars[i].own * rate[i] * rate[i] + bars[i].mass * (x * x + z * z);
        *potential += 9.81 * bars[i].mass * (at[i][1] + carried * hinge[1]);
    }
}

static double acceleration_of(double q, double speed, double angles[2]) {
    const double d = 1e-5;
    double inertia[3], potential[3];
    for (int i = 0; i < 3; i++)
        inertia_and_potential(q + d * (i - 1), angles, &inertia[i], &potential[i]);
    return -((inertia[2] - inertia[0]) / 2 * speed * speed + potential[2] - potential[0]) /
           (2 * d) / inertia[1];
}

// A step of Runge and Kutta's method.
static void equation_step(double h, double state[2], double angles[2]) {
    double rates[4][2];
    const double part[4] = {0, h / 2, h / 2, h};
    for (int i = 0; i < 4; i++) {
        const double *before = rates[i > 0 ? i - 1 : 0];
        const double speed = i > 0 ? state[1] + part[i] * before[1] : state[1];
        const double q = i > 0 ? state[0] + part[i] * before[0] : state[0];
        rates[i][0] = speed;
        rates[i][1] = acceleration_of(q, speed, angles);
    }
    for (int c = 0; c < 2; c++)
        state[c] += h / 6 * (rates[0][c] + 2 * rates[1][c] + 2 * rates[2][c] + rates[3][c]);
}

// Largest difference of q in 2 s.
static double four_bar_error(Linkage l) {
    AUTO_RIG t = linkage_open(&l);
    double state[2] = {0, 2}, angles[2] = {0, 0}, rates[2], worst = 0.0, farthest = 0.0;
    loop_solve(0, angles, rates);
    rig_set3(&t, "joint.rate", 2, 2 * (rates[0] - 1), 2 * rates[1]);
    for (int n = 0; n < 2000 / l.step; n++) {
        mf_world_step(t.world, 1);
        for (int part = 0; part < 4 * l.step; part++)
            equation_step(0.25e-3, state, angles);
        worst = fmax(worst, fabs(rig_get(&t, "joint.angle", 0) - state[0]));
        farthest = fmax(farthest, fabs(state[0]));
    }
    print_message("law %d, %s, %d ms: %.3g rad off, of %.3g\n", (int)l.law,
                  l.floats ? "float" : "double", l.step, worst, farthest);
    assert_true(farthest > 0.1);
    return worst;
}

// Euler's method is of the first order, MuJoCo's law also has a soft loop.
TEST(a_four_bar_moves_as_its_equation) {
    for (mf_ContactLaw law = MF_CONTACT_LAW_MUJOCO; law <= MF_CONTACT_LAW_HARD; law++)
        for (int floats = 0; floats < 2; floats++)
            for (int i = 0; i < 3; i++)
                assert_true(four_bar_error((Linkage){.shape = FOUR_BAR,
                                                     .fixed = true,
                                                     .floats = floats,
                                                     .law = law,
                                                     .step = steps[i]}) <
                            (law == MF_CONTACT_LAW_MUJOCO ? 9e-4 : 5e-4) * steps[i]);
}
