// No ground gives energy to what is passive: bodies that are dropped, slide, roll and come to rest,
// on every ground, under every motion of the table, in float and double. A new motion needs a row
// here; without one the test fails.
//
// Contacts store energy for the time of an impact. So the largest energy of a window, during which
// contacts open or come to rest, must not exceed that of the window before by more than a part of
// what a fall of `FALL` releases, which is more than contacts store that carry the weight: `SLACK`,
// of a fluid and a cloth, which store some themselves, twice that, and of ellipsoids and cylinders
// on maps `ROUND_SLACK`: they meet one plane of the ground at a time, which turns at creases and
// edges faster than they do.
#include "rig/rig.h"
#include "support.h"

GROUP_FIXTURE(make_context, drop_context);

#define FALL 0.3   // [m]
#define SLACK 0.03 // [1]
#define ROUND_SLACK 0.2
enum { WINDOW = 50, STEPS = SANITIZED ? 150 : 300, BODIES = 8 };

typedef struct Ground {
    const char *name, *text;
} Ground;

static const Ground grounds[] = {
    {"flat", "{shape: flat}"},
    {"slope", "{shape: slope, amplitude: 0.3}"},
    {"terraces", "{shape: slope, amplitude: 0.3, interpolation: nearest}"},
    {"steps", "{shape: steps, amplitude: 0.1, wavelength: 0.5}"},
    {"smooth steps", "{shape: steps, amplitude: 0.1, wavelength: 0.5, interpolation: bilinear}"},
    {"sine", "{shape: sine, amplitude: 0.2, wavelength: 2}"},
    {"sine of cells", "{shape: sine, amplitude: 0.2, wavelength: 2, interpolation: nearest}"},
    {"noise", "{shape: noise, amplitude: 0.15, wavelength: 0.8}"},
    {"noise of cells", "{shape: noise, amplitude: 0.15, wavelength: 0.8, interpolation: nearest}"},
    {"image", "{file: hills.pgm, scale: 0.4, cell: 0.1}"},
    {"image of cells", "{file: hills.pgm, scale: 0.4, cell: 0.1, interpolation: nearest}"},
    {"table", "{shape: sine, amplitude: 0.1, wavelength: 1, columns: 12, rows: 12, border: ends}"},
    {"table of cells",
     "{shape: noise, amplitude: 0.1, columns: 12, rows: 12, border: ends, interpolation: nearest}"},
};
enum { GROUNDS = sizeof grounds / sizeof *grounds };

typedef enum Kind { BODY, PARTICLES, SHEET, TRUSS, CAR, NONE } Kind;

// The motions; those of bodies with each of their settings.
typedef struct Case {
    mf_Motion motion;
    Kind kind;
    const char *settings; // of NONE: why
} Case;

static const Case cases[] = {
    {MF_MOTION_KINEMATIC, NONE, "has no momentum"},
    {MF_MOTION_POINTS, BODY, "points"},
    {MF_MOTION_POINTS, BODY, "{points: {friction: coupled, friction_coefficient: 0.5}}"},
    {MF_MOTION_RIGID, BODY, "rigid"},
    {MF_MOTION_PRESCRIBED, BODY, "prescribed"},
    {MF_MOTION_ARTICULATED, BODY, "{articulated: {contact_law: mujoco}}"},
    {MF_MOTION_ARTICULATED, BODY, "{articulated: {contact_law: compliant}}"},
    {MF_MOTION_ARTICULATED, BODY, "{articulated: {contact_law: hard}}"},
    {MF_MOTION_QUADROTOR, NONE, "flies, and crashes where it touches the ground"},
    {MF_MOTION_FIXED_WING, NONE, "flies, and crashes where it touches the ground"},
    {MF_MOTION_CAR, CAR, "car"},
    {MF_MOTION_EXTERNAL, NONE, "moves as commanded"},
    {MF_MOTION_QUASISTATIC, NONE, "has no momentum"},
    {MF_MOTION_ELASTIC, TRUSS, "elastic"},
    {MF_MOTION_CLOTH, SHEET, "cloth"},
    {MF_MOTION_FLUID, PARTICLES, "{fluid: {sound_speed: 15}}"},
    {MF_MOTION_GRAINS, PARTICLES, "{grains: {stiffness: 20000}}"},
    {MF_MOTION_DEBRIS, PARTICLES, "debris"},
};
enum { CASES = sizeof cases / sizeof *cases };

static const char *const bodies[] = {"ball", "pill", "brick", "egg", "drum"};
enum { SHAPES = sizeof bodies / sizeof *bodies, ROUND = 3 };

// [1] of what a fall of `FALL` releases.
static double slack_of(const Case *c, uint32_t shape) {
    if (c->kind == BODY)
        return shape < ROUND ? SLACK : ROUND_SLACK;
    return c->kind == CAR || c->kind == TRUSS || c->motion == MF_MOTION_GRAINS ? SLACK
                                                                               : 2.0 * SLACK;
}

static double random_in(uint32_t *state, double low, double high) {
    *state = *state * 1664525u + 1013904223u;
    return low + (high - low) * (*state >> 8) / 16777216.0;
}

static void group_text(char *text, size_t size, const Case *c, uint32_t shape, bool wide) {
    const char *precision = wide ? "precision: double, " : "";
    if (c->kind == BODY)
        snprintf(text, size,
                 "{name: g, model: ../tests/scene/bodies/%s.xml, count: %d, motion: %s, %s"
                 "placement: {grid: {center: [0, 0, 0.2], spacing: [0.45, 0.45, 1]}}}",
                 bodies[shape], BODIES, c->settings, precision);
    else if (c->kind == PARTICLES)
        snprintf(text, size,
                 "{name: g, model: ../models/%s.xml, count: 200, motion: %s, %s"
                 "placement: {fill: {lower: [-0.12, -0.12, 0.15], upper: [0.12, 0.12, 0.7]}}}",
                 c->motion == MF_MOTION_FLUID ? "drop" : "grain", c->settings, precision);
    else
        snprintf(text, size,
                 "{name: g, model: ../models/%s.yaml, motion: %s, precision: double, height: %s}",
                 c->kind == SHEET   ? "sheet.cloth"
                 : c->kind == TRUSS ? "tetrahedron.truss"
                                    : "car_racing",
                 c->settings, c->kind == CAR ? "0" : "0.2");
}

// Pushes them about.
static void push(mf_Group *group, const Case *c) {
    uint32_t state = 7;
    for (uint32_t i = 0; c->kind == BODY && i < mf_group_count(group); i++)
        for (uint32_t k = 0; k < 3; k++) {
            set_field(group, "base.linear_velocity", i, k,
                      i % 2 == 0 ? 0.0 : random_in(&state, -0.7, 0.7));
            set_field(group, "base.angular_velocity", i, k,
                      i % 2 == 0 ? 0.0 : random_in(&state, -3.0, 3.0));
        }
}

static double total_of(const mf_Group *group, uint32_t i) {
    const mf_MotionEnergy e = mf_motion_energy(group, i);
    return e.kinetic + e.potential + e.elastic;
}

// What has more than one instance of a thing is one thing.
static double energy_of(const mf_Group *group, const Case *c, uint32_t i) {
    double sum = 0.0;
    if (c->kind != PARTICLES)
        return total_of(group, i);
    for (uint32_t k = 0; k < mf_group_count(group); k++)
        sum += total_of(group, k);
    return sum;
}

static double mass_of(const mf_Group *group, const Case *c) {
    const double mass = mf_group_model(group)->mass;
    return c->kind == PARTICLES ? mass * mf_group_count(group) : mass;
}

// The largest rise from window to window over what is allowed.
static double run(mf_Scene *scene, const Case *c, double slack) {
    mf_Group *group = mf_world_group(scene->world, 0);
    const uint32_t count = c->kind == PARTICLES ? 1 : mf_group_count(group);
    const double allowed = slack * mass_of(group, c) * 9.81 * FALL;
    double before[BODIES], most[BODIES], worst = -INFINITY;
    push(group, c);
    for (uint32_t i = 0; i < count; i++)
        before[i] = energy_of(group, c, i);
    for (uint32_t step = 0; step < (c->kind == SHEET ? STEPS / 4 : STEPS); step += WINDOW) {
        for (uint32_t i = 0; i < count; i++)
            most[i] = -INFINITY;
        for (uint32_t k = 0; k < WINDOW; k++) {
            mf_world_step(scene->world, 1);
            for (uint32_t i = 0; i < count; i++)
                most[i] = fmax(most[i], energy_of(group, c, i));
        }
        for (uint32_t i = 0; i < count; i++) {
            worst = fmax(worst, isfinite(most[i]) ? (most[i] - before[i]) / allowed : INFINITY);
            before[i] = most[i];
        }
    }
    return worst;
}

// Some motions refuse ground with steps; they say so.
static bool refuses(const mf_Error *error) {
    return strstr(error->message, "need interpolation: bilinear") != NULL;
}

static uint32_t try_case(mf_Context *context, const Ground *ground, const Case *c, uint32_t shape,
                         bool wide) {
    char own[512], text[1024];
    mf_SceneFile *file = NULL;
    mf_Scene scene = {0};
    mf_Error error = {0};
    group_text(own, sizeof own, c, shape, wide);
    snprintf(text, sizeof text,
             "world: {step: 0.005}\ncontact: {enabled: false}\nground: %s\n"
             "groups: [%s]\n",
             ground->text, own);
    must(try_scene(context, text, &file, &error), &error);
    if (mf_scene_create(context, file, NULL, &scene, &error) != MF_OK) {
        if (!refuses(&error))
            fail_with(&error);
        mf_scene_file_destroy(file);
        return 0;
    }
    const double worst = run(&scene, c, slack_of(c, shape));
    const bool gains = !(worst <= 1.0);
    if (gains || getenv("MAYFLY_VERBOSE") != NULL)
        print_message("%s %s, %s%s%s: rises by %.3g of what is allowed\n", gains ? "GAINS" : "ok",
                      ground->name, c->settings, c->kind == BODY ? ", " : "",
                      c->kind == BODY ? bodies[shape] : "", worst);
    drop_scene(&scene, file);
    return gains;
}

TEST(no_ground_gives_energy) {
    uint32_t gains = 0;
    for (uint32_t g = 0; g < GROUNDS; g++)
        for (uint32_t c = 0; c < CASES; c++) {
            if (cases[c].kind == NONE)
                continue;
            for (uint32_t s = 0; s < (cases[c].kind == BODY ? SHAPES : 1); s++)
                for (uint32_t wide = 0; wide < 2; wide++)
                    // For every day in turn: each motion and shape has both precisions.
                    if (cases[c].kind == BODY || cases[c].kind == PARTICLES
                            ? FULL || wide == (g + s) % 2
                            : wide == 1)
                        gains += try_case(*state, &grounds[g], &cases[c], s, wide != 0);
        }
    assert_int_equal(gains, 0);
}

TEST(every_motion_is_here) {
    for (int m = 0; m < MF_MOTION_COUNT; m++) {
        bool found = false;
        for (uint32_t c = 0; c < CASES; c++)
            found = found || (int)cases[c].motion == m;
        if (!found)
            fail_msg("the motion %s has no row", mf_motion_name((mf_Motion)m));
    }
}

// [J] Of all groups.
static double scene_energy(const mf_Scene *scene) {
    double sum = 0.0;
    for (uint32_t g = 0; g < mf_world_group_count(scene->world); g++) {
        const mf_Group *group = mf_world_group(scene->world, g);
        for (uint32_t i = 0; i < mf_group_count(group); i++)
            sum += total_of(group, i);
    }
    return sum;
}

// ---- the scenes ---------------------------------------------------------------------------------

// Scenes that nothing drives: the energy of all that is in them together never exceeds that of the
// start, and rises after a loss by no more than contacts store for a time.
TEST(passive_scenes_gain_no_energy) {
    static const struct {
        const char *name;
        double seconds; // of simulated time
    } scenes[] = {{"scenes/wall.yaml", 0.3},
                  {"scenes/rubbing.yaml", 2.0},
                  {"scenes/tear.yaml", 1.2},
                  {"scenes/cloth.yaml", 0.6}};
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        AUTO_WHOLE_SCENE scene = scene_at(*state, scenes[k].name, NULL, 0);
        const mf_Time step = mf_world_config_of(scene.world)->step;
        const uint32_t steps = (uint32_t)(mf_time_from_seconds(scenes[k].seconds) / step);
        const double start = scene_energy(&scene);
        double most = -INFINITY, least = start, rise = 0.0;
        for (uint32_t n = 0; n < (SANITIZED ? steps / 8 : steps); n++) {
            mf_world_step(scene.world, 1);
            const double energy = scene_energy(&scene);
            assert_true(isfinite(energy));
            most = fmax(most, energy);
            least = fmin(least, energy);
            rise = fmax(rise, energy - least);
        }
        print_message("%s: %.6g J, gains %.3g J, loses %.3g J, rises by %.3g J\n", scenes[k].name,
                      start, most - start, start - least, rise);
        assert_true(most - start <= 1e-9 * start);
        assert_true(SANITIZED || rise <= SLACK * (start - least)); // little is lost so early
    }
}
