// One file or two groups: the same bodies move alike. Every pair of shapes, dropped, sliding,
// rolling, spinning and stacked, as one model (contacts of `articulated`) and as two groups
// (contacts of the world's solver), against each other; and every law of contacts between groups
// against closed forms.
#include "solve/pitch.h"

enum { SHAPES = 6, PLANE = 6, FLOATS = 13 };

static const double gravity = 9.81, pi = 3.14159265358979323846;

// ---- shapes -------------------------------------------------------------------------------------

// Each rests with its lowest point `tall` below its center. The mesh is a box.
typedef struct Shape {
    const char *name, *text;
    double tall; // [m]
    bool rolls;  // along x
} Shape;

static const Shape shapes[SHAPES + 1] = {
    {"sphere", "type='sphere' size='0.06'", 0.06, true},
    {"capsule", "type='capsule' size='0.05 0.08' euler='90 0 0'", 0.05, true},
    {"cylinder", "type='cylinder' size='0.06 0.05' euler='90 0 0'", 0.06, true},
    {"ellipsoid", "type='ellipsoid' size='0.06 0.08 0.06'", 0.06, true},
    {"box", "type='box' size='0.06 0.04 0.03'", 0.03, false},
    {"mesh", "type='mesh' mesh='m'", 0.03, false},
    {"plane", "type='plane' size='1 1 0.1'", 0.0, false},
};

enum { SPHERE = 0, CYLINDER = 2, BOX = 4, MESH = 5, CAPSULE = 1 };

// ---- situations ---------------------------------------------------------------------------------

typedef struct Situation {
    const char *name;
    double slope;       // [rad] of the lower body about y: down along +x
    double height;      // [m] of the gap at the beginning
    double aside;       // [m] along x, of the upper one
    double speed, spin; // [m/s] along the slope, [rad/s] about its normal
    double mu, torsion, rolling;
    int condim;
    bool stacked; // the lower body is free, too, on a floor
    double seconds;
    mf_CollisionLaw law; // between groups
    int priority;        // of the upper body
    double lower_mu;     // [1] 0: mu
} Situation;

// As text; `scale`: the lower body's size over the upper one's.
static void geom(char *out, size_t size, const Situation *s, const Shape *shape, double scale,
                 double mass) {
    const double mu = scale > 1.0 && s->lower_mu > 0.0 ? s->lower_mu : s->mu;
    const int priority = scale > 1.0 ? 0 : s->priority;
    char text[160];
    snprintf(text, sizeof text, "%s", shape->text);
    if (scale > 1.0 && shape->tall > 0.0) { // the numbers of size
        double v[3] = {0, 0, 0};
        const char *from = strstr(shape->text, "size='");
        if (from != NULL) {
            int n = sscanf(from + 6, "%lf %lf %lf", &v[0], &v[1], &v[2]);
            const char *end = strchr(from + 6, '\'');
            snprintf(text, sizeof text, "%.*s%g", (int)(from + 6 - shape->text), shape->text,
                     scale * v[0]);
            for (int i = 1; i < n; i++)
                snprintf(text + strlen(text), sizeof text - strlen(text), " %g", scale * v[i]);
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s", end);
        } else {
            snprintf(text, sizeof text, "type='mesh' mesh='big'");
        }
    }
    snprintf(out, size,
             "<geom %s mass='%g' condim='%d' friction='%g %g %g' solref='0.01 1' priority='%d'/>",
             text, mass, s->condim, mu, s->torsion, s->rolling, priority);
}

static const char head[] =
    "<mujoco><option cone='elliptic' timestep='0.001'/><asset>"
    "<mesh name='m' vertex='-.06 -.04 -.03 .06 -.04 -.03 -.06 .04 -.03 .06 .04 -.03"
    " -.06 -.04 .03 .06 -.04 .03 -.06 .04 .03 .06 .04 .03'/>"
    "<mesh name='big' vertex='-.3 -.2 -.15 .3 -.2 -.15 -.3 .2 -.15 .3 .2 -.15"
    " -.3 -.2 .15 .3 -.2 .15 -.3 .2 .15 .3 .2 .15'/>"
    "</asset><worldbody>";
static const char tail[] = "</worldbody></mujoco>";

static void start_of(const Situation *s, const Shape *upper, const Shape *lower, double scale,
                     double state[FLOATS]) {
    const double gap = upper->tall + scale * lower->tall + s->height;
    const double c = cos(s->slope), d = sin(s->slope);
    memset(state, 0, FLOATS * sizeof *state);
    state[0] = s->aside * c + gap * d;
    state[2] = 5.0 - s->aside * d + gap * c;
    state[3] = cos(0.5 * s->slope);
    state[5] = sin(0.5 * s->slope);
    state[7] = s->speed * c;
    state[9] = -s->speed * d;
    state[12] = s->spin; // in the body's own axes
}

static void put_state(mf_Group *group, const double state[FLOATS], Pitch *pitch) {
    MUST(mf_group_set_start(group, 0, state, state + 3, state + 7, &error));
    for (uint32_t c = 0; c < 3; c++)
        set_field(group, "base.angular_velocity", 0, c, state[10 + c]);
}

static void take_state(mf_Group *group, double state[FLOATS]) {
    for (uint32_t c = 0; c < 3; c++) {
        state[c] = get_field(group, "base.position", 0, c);
        state[7 + c] = get_field(group, "base.linear_velocity", 0, c);
        state[10 + c] = get_field(group, "base.angular_velocity", 0, c);
    }
    get_fields(group, "base.orientation", 0, 4, state + 3);
}

// The lower body, fixed, with its slope.
static void lower_text(char *out, size_t size, const Situation *s, const Shape *lower, double scale,
                       bool free) {
    char text[300];
    geom(text, sizeof text, s, lower, scale, 4.0);
    snprintf(out, size, "<body pos='0 0 5' quat='%.17g 0 %.17g 0'>%s%s</body>", cos(0.5 * s->slope),
             sin(0.5 * s->slope), free ? "<freejoint/>" : "", text);
    if (lower->tall <= 0.0) // a file of a plane alone has no mass
        snprintf(out + strlen(out) - strlen("</body>"), size - strlen(out),
                 "<geom type='sphere' size='0.1' pos='0 0 -9'/></body>");
}

static mf_Group *moving_group(Pitch *pitch, const char *text, const char *name, bool wide,
                              bool alone) {
    mf_Group *group = pitch_group(pitch, load_text(pitch->context, text), name, 1, wide);
    mf_ArticulatedConfig motion =
        WITH(mf_motions_config().articulated, .contacts = false, .self_contacts = alone);
    if (!alone)
        prepare(pitch, group);
    MUST(rig_add_articulated(group, &motion, &error));
    return group;
}

static void run(const Situation *s, const Shape *upper, const Shape *lower, bool two, bool wide,
                double out[FLOATS]) {
    const double scale = 5.0;
    char above[300], below[500], floor[400] = "", text[4000];
    double state[FLOATS];
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, gravity);
    geom(above, sizeof above, s, upper, 1.0, 1.0);
    lower_text(below, sizeof below, s, lower, scale, s->stacked);
    if (s->stacked)
        snprintf(floor, sizeof floor,
                 "<body pos='0 0 %g'><geom type='box' size='2 2 0.5' condim='%d'"
                 " friction='%g %g %g' solref='0.01 1'/></body>",
                 5.0 - scale * lower->tall - 0.5, s->condim, s->mu, s->torsion, s->rolling);
    snprintf(text, sizeof text, "%s<body><freejoint/>%s</body>%s%s%s", head, above,
             two ? "" : below, two ? "" : floor, tail);
    mf_Group *group = moving_group(&pitch, text, "upper", wide, !two);
    start_of(s, upper, lower, scale, state);
    put_state(group, state, &pitch);
    if (two) {
        snprintf(text, sizeof text, "%s%s%s", head, below, tail);
        if (s->stacked)
            moving_group(&pitch, text, "lower", wide, false);
        else
            pitch_group(&pitch, load_text(pitch.context, text), "lower", 1, wide);
        if (s->stacked) {
            snprintf(text, sizeof text, "%s%s%s", head, floor, tail);
            pitch_group(&pitch, load_text(pitch.context, text), "scenery", 1, wide);
        }
        pitch_collide(&pitch, &WITH(mf_collisions_config(), .law = s->law));
    }
    mf_world_step(pitch.world, (uint64_t)(s->seconds * 1e3 + 0.5));
    take_state(group, out);
}

// ---- alike --------------------------------------------------------------------------------------

// [m]; [1] of the larger rate, and [rad/s]: single contacts and those of faces come and go at other
// steps of 1 ms.
static const double near_enough = 3e-3, rate_part = 0.08, rate_enough = 0.5;

static void compare(const Situation *s, const Shape *upper, const Shape *lower, bool wide) {
    double one[FLOATS], two[FLOATS], away = 0.0, angle = 0.0, rate = 0.0;
    run(s, upper, lower, false, wide, one);
    run(s, upper, lower, true, wide, two);
    for (int i = 0; i < 3; i++) {
        away = fmax(away, fabs(one[i] - two[i]));
        angle = fmax(angle, fabs(one[10 + i] - two[10 + i]));
        rate = fmax(rate, fabs(one[10 + i]));
    }
    if (!(away <= near_enough && angle <= rate_part * rate + rate_enough))
        fail_msg("%s: %s on %s: %g m and %g rad/s apart; one file (%g, %g, %g) m (%g, %g, %g) "
                 "rad/s, two groups (%g, %g, %g) m (%g, %g, %g) rad/s",
                 s->name, upper->name, lower->name, away, angle, one[0], one[1], one[2], one[10],
                 one[11], one[12], two[0], two[1], two[2], two[10], two[11], two[12]);
}

static const Situation situations[] = {
    {.name = "drop", .height = 0.03, .mu = 0.8, .condim = 3, .seconds = 0.4},
    {.name = "drop aside", .height = 0.03, .aside = 0.03, .mu = 0.8, .condim = 3, .seconds = 0.3},
    {.name = "slope",
     .slope = 0.0872664626,
     .aside = -0.1,
     .mu = 0.8,
     .torsion = 0.005,
     .condim = 3,
     .seconds = 0.4},
    {.name = "slide",
     .slope = 0.3,
     .aside = -0.1,
     .mu = 0.1,
     .torsion = 0.005,
     .condim = 3,
     .seconds = 0.3},
    {.name = "spin, condim 3", .spin = 10, .mu = 0.5, .torsion = 0.02, .condim = 3, .seconds = 0.2},
    {.name = "spin, condim 4", .spin = 10, .mu = 0.5, .torsion = 0.01, .condim = 4, .seconds = 0.2},
    {.name = "throw, condim 6",
     .speed = 0.5,
     .spin = 10,
     .mu = 0.3,
     .torsion = 0.01,
     .rolling = 0.005,
     .condim = 6,
     .seconds = 0.15},
    {.name = "throw, condim 1",
     .speed = 0.5,
     .spin = 10,
     .mu = 0.3,
     .torsion = 0.01,
     .rolling = 0.005,
     .condim = 1,
     .seconds = 0.15},
    {.name = "stack", .mu = 0.5, .torsion = 0.01, .condim = 4, .stacked = true, .seconds = 0.3},
};

// What has an edge tips to either side of the line on top of a capsule.
static bool is_tipsy(int upper, int lower) {
    return (upper == BOX || upper == MESH) && lower == CAPSULE;
}

// With sanitizers every pair drops, spins and stacks; what slides and rolls has closed forms below.
enum { SITUATIONS = sizeof situations / sizeof *situations, EVERY = SANITIZED ? 4 : 1 };

TEST(every_pair_of_shapes) {
    for (size_t k = 0; k < SITUATIONS; k += EVERY) {
        Situation s = situations[k];
        s.law = MF_COLLISION_COMPLIANT;
        for (int a = 0; a < SHAPES; a++)
            for (int b = 0; b <= SHAPES; b++)
                if (!is_tipsy(a, b) && !(s.stacked && (b == PLANE || shapes[b].rolls)))
                    compare(&s, &shapes[a], &shapes[b], true);
    }
}

TEST(in_float_too) {
    for (size_t k = 0; k < SITUATIONS; k += EVERY) {
        Situation s = situations[k];
        s.law = MF_COLLISION_COMPLIANT;
        for (int a = 0; a < SHAPES; a++) {
            compare(&s, &shapes[a], &shapes[BOX], false);
            if (!s.stacked)
                compare(&s, &shapes[a], &shapes[PLANE], false);
        }
    }
}

// Friction, condim and priority of two shapes are combined by the rules of MuJoCo's documentation:
// the larger priority decides, else the larger value.
TEST(surfaces_combine_alike) {
    Situation s = {.name = "two frictions",
                   .slope = 0.3,
                   .mu = 0.05,
                   .lower_mu = 0.2,
                   .condim = 3,
                   .seconds = 0.3,
                   .law = MF_COLLISION_COMPLIANT};
    const double down = gravity * sin(s.slope), across = gravity * cos(s.slope);
    double out[FLOATS];
    for (s.priority = 0; s.priority < 2; s.priority++) {
        compare(&s, &shapes[BOX], &shapes[BOX], true);
        run(&s, &shapes[BOX], &shapes[BOX], true, true, out);
        assert_near(hypot(out[7], out[9]),
                    (down - (s.priority > 0 ? s.mu : s.lower_mu) * across) * s.seconds, 0.01);
    }
}

// ---- closed forms -------------------------------------------------------------------------------

// [m/s] along the slope after a run on a box; `rate`: [rad/s] about the own z.
static double speed_of(const Situation *s, int shape, double *rate) {
    double out[FLOATS];
    run(s, &shapes[shape], &shapes[BOX], true, true, out);
    *rate = out[12];
    return out[7] * cos(s->slope) - out[9] * sin(s->slope);
}

TEST(every_law_obeys_closed_forms) {
    static const mf_CollisionLaw laws[] = {MF_COLLISION_EXPLICIT, MF_COLLISION_HARD,
                                           MF_COLLISION_COMPLIANT};
    const double slope = 5.0 * pi / 180.0, t = 0.3, r = 0.06;
    for (int i = 0; i < 3; i++) {
        double rate;
        Situation roll = {
            .slope = slope, .mu = 0.8, .torsion = 0.005, .condim = 3, .seconds = t, .law = laws[i]};
        const double free = gravity * sin(slope) * t;
        // I = 2/5 m r^2 and 1/2 m r^2
        assert_near(speed_of(&roll, SPHERE, &rate), 5.0 / 7.0 * free, 0.01 * free);
        assert_near(speed_of(&roll, CYLINDER, &rate), 2.0 / 3.0 * free, 0.01 * free);
        roll.condim = 1;
        assert_near(speed_of(&roll, SPHERE, &rate), free, 0.01 * free);
        Situation slide = {.slope = 0.3, .mu = 0.2, .condim = 3, .seconds = t, .law = laws[i]};
        const double along = (sin(0.3) - 0.2 * cos(0.3)) * gravity * t;
        assert_near(speed_of(&slide, BOX, &rate), along, 0.02 * along);
        // Torsion nu m g against I = 2/5 m r^2; at condim 3 a ball spins on.
        Situation spin = {
            .spin = 10, .mu = 0.8, .torsion = 0.005, .condim = 3, .seconds = 0.1, .law = laws[i]};
        speed_of(&spin, SPHERE, &rate);
        assert_near(rate, 10.0, 1e-3);
        spin.condim = 4;
        speed_of(&spin, SPHERE, &rate);
        assert_near(rate, 10.0 - 0.005 * gravity / (0.4 * r * r) * 0.1, 0.15);
        // Rolling rho m g at the contact against I and m r: rho g / (7/5 r).
        Situation brake = {.speed = 1.0,
                           .mu = 0.8,
                           .torsion = 0.005,
                           .rolling = 0.02,
                           .condim = 3,
                           .seconds = 0.2,
                           .law = laws[i]};
        assert_near(speed_of(&brake, SPHERE, &rate), 5.0 / 7.0, 0.005);
        brake.condim = 4;
        assert_near(speed_of(&brake, SPHERE, &rate), 5.0 / 7.0, 0.005);
        brake.condim = 6;
        const double more = 0.02 * gravity / (1.4 * r) * brake.seconds;
        const double slipping = 1.0 / (3.5 * 0.8 * gravity); // [s] until it rolls
        assert_near(speed_of(&brake, SPHERE, &rate), 5.0 / 7.0 - more,
                    more * slipping / 0.2 + 0.03);
    }
}
