// Fits to logs of known machines: the step response of a servo in closed form is recovered within
// the intervals that are stated, as often as they say; what a log cannot tell is said; results do
// not depend on threads; files that are written hold the fit.
#include "rig/rig.h"
#include "scene/support.h"

GROUP_FIXTURE(make_context, drop_context);

#define LOG "fit_test.csv"

// One hinge with a servo, without gravity: (0.02 + armature) q'' + damping q' + gain (q - u) = 0.
#define INERTIA 0.02 // [kg m^2]
static const char servo[] =
    "<mujoco model='servo'><option timestep='0.002' gravity='0 0 0' integrator='RK4'/><worldbody>"
    "<body name='arm'><inertial pos='0 0 0' mass='1' diaginertia='0.02 0.02 0.02'/>"
    "<joint name='knee' axis='0 1 0' damping='0.05' armature='0.013'/>"
    "</body></worldbody><actuator><position name='motor' joint='knee' kp='10'/></actuator>"
    "</mujoco>";

typedef struct Machine {
    double damping, armature, gain, delay; // [N m s/rad], [kg m^2], [N m/rad], [s]
    double noise;                          // [rad]
} Machine;
static const Machine truth = {
    .damping = 0.12, .armature = 0.013, .gain = 14.0, .delay = 0.00837, .noise = 1e-3};

// A normal number, as the sum of twelve even ones.
static double normal(uint64_t seed, uint64_t tick) {
    double sum = -6.0;
    for (uint32_t part = 0; part < 6; part++) {
        uint32_t words[4];
        mf_random(seed, part, 77, tick, words);
        sum +=
            mf_random_unit_double(words[0], words[1]) + mf_random_unit_double(words[2], words[3]);
    }
    return sum;
}

// The exact motion of the servo for a time with a constant target.
static void advance(const Machine *machine, double state[2], double target, double time) {
    const double inertia = INERTIA + machine->armature, decay = machine->damping / (2.0 * inertia);
    const double square = machine->gain / inertia, turn = sqrt(square - decay * decay);
    const double x = state[0] - target, v = state[1], c = cos(turn * time),
                 s = sin(turn * time) / turn, fade = exp(-decay * time);
    state[0] = target + fade * (x * c + (v + decay * x) * s);
    state[1] = fade * (v * c - (decay * v + square * x) * s);
}

static double level(int step) {
    static const double levels[] = {0.0, 0.4, -0.3, 0.25, -0.1, 0.5, 0.1, -0.4};
    return levels[step % 8];
}

// Steps each 0.25 s, angles each 5 ms.
static void write_servo(const Machine *machine, uint64_t seed, double duration) {
    FILE *file = fopen(LOG, "w");
    double state[2] = {0.0, 0.0}, now = 0.0;
    int applied = 0;
    assert_non_null(file);
    fprintf(file, "# seed %d\ntime,knee.command,knee.position\n", (int)seed);
    for (int row = 0; row * 0.005 < duration; row++) {
        const double time = 0.005 * row;
        for (; 0.25 * (applied + 1) + machine->delay <= time; applied++) {
            advance(machine, state, level(applied), 0.25 * (applied + 1) + machine->delay - now);
            now = 0.25 * (applied + 1) + machine->delay;
        }
        advance(machine, state, level(applied), time - now);
        now = time;
        fprintf(file, "%.3f,%.2f,%.17g\n", time, level(row / 50),
                state[0] + machine->noise * normal(seed, (uint64_t)row));
    }
    fclose(file);
}

// The scene of a model, and what a fit needs.
typedef struct Trial {
    mf_Model *model;
    mf_SceneFile *file;
    mf_Log *log;
    mf_Fit *fit;
} Trial;

static void trial_close(Trial *trial) {
    mf_fit_destroy(trial->fit);
    mf_log_destroy(trial->log);
    mf_scene_file_destroy(trial->file);
    mf_model_destroy(trial->model);
    unlink(LOG);
}

static Trial try_fit(mf_Context *context, const char *text, const mf_FitConfig *config) {
    Trial trial = {.model = load_text(context, text)};
    MUST(mf_scene_file_of_model(context, trial.model, NULL, 0, &trial.file, &error));
    MUST(mf_log_open(context, LOG, NULL, &trial.log, &error));
    MUST(mf_fit(context, trial.file, trial.log, config, &trial.fit, &error));
    return trial;
}
#define AUTO_TRIAL AUTO(trial_close) Trial

static const mf_FitParameter *parameter(const mf_Fit *fit, const char *name) {
    for (uint32_t i = 0; i < fit->parameter_count; i++)
        if (strcmp(fit->parameters[i].name, name) == 0)
            return &fit->parameters[i];
    fail_msg("there is no %s", name);
    return NULL;
}

static bool noted(const mf_Fit *fit, const char *part) {
    for (uint32_t i = 0; i < fit->note_count; i++)
        if (strstr(fit->notes[i], part) != NULL)
            return true;
    return false;
}

static bool covers(const mf_Fit *fit, const char *name, double value) {
    const mf_FitParameter *own = parameter(fit, name);
    return fabs(own->value - value) <= own->interval;
}

#define SERVO_CONFIG &WITH(mf_fit_config(), .parameters = "damping,gain,delay", .generations = 8)

TEST(a_step_response_is_recovered) {
    write_servo(&truth, 1, 4.0);
    AUTO_TRIAL trial = try_fit(*state, servo, SERVO_CONFIG);
    const mf_Fit *fit = trial.fit;
    const mf_FitChannel *channel = &fit->channels[0];
    assert_int_equal(fit->parameter_count, 3);
    assert_int_equal(fit->channel_count, 1);
    assert_string_equal(channel->name, "knee.position");
    assert_int_equal(channel->samples + channel->predicted, 800);
    assert_true(channel->noise > 0.9e-3 && channel->noise < 1.1e-3);
    // What is left is the noise, also where nothing was fitted.
    assert_true(channel->before > 0.05 && channel->after < 1.1e-3);
    assert_true(channel->predicted_after < 1.15e-3);
    assert_true(fabs(parameter(fit, "knee.gain")->value - truth.gain) < 0.05);
    assert_true(fabs(parameter(fit, "knee.damping")->value - truth.damping) < 0.002);
    assert_true(fabs(parameter(fit, "delay")->value - truth.delay) < 1e-4);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(fit->parameters[i].identified && fit->parameters[i].interval > 0.0);
    assert_true(fit->delay == parameter(fit, "delay")->value);
    assert_int_equal(fit->note_count, 0);
}

// 8 machines with 3 parameters each: 22.8 of 24 intervals should have the true value; fewer than
// 20 do so by chance once in 160 times.
TEST(intervals_hold_as_often_as_they_say) {
    const uint32_t machines = SANITIZED ? 2 : 8;
    uint32_t covered = 0;
    for (uint32_t seed = 0; seed < machines; seed++) {
        write_servo(&truth, 100 + seed, 2.0);
        AUTO_TRIAL trial = try_fit(*state, servo, SERVO_CONFIG);
        covered += covers(trial.fit, "knee.damping", truth.damping);
        covered += covers(trial.fit, "knee.gain", truth.gain);
        covered += covers(trial.fit, "delay", truth.delay);
        // Nor are they so wide that they say nothing.
        assert_true(parameter(trial.fit, "knee.gain")->interval < 0.08);
        assert_true(parameter(trial.fit, "delay")->interval < 1e-4);
    }
    print_message("%u of %u intervals have the true value\n", covered, 3 * machines);
    assert_true(covered + 4 >= 3 * machines);
}

// A linear servo shows gain and damping over the inertia only; and damping of a joint and of its
// servo do the same.
TEST(what_a_log_cannot_tell_is_said) {
    write_servo(&truth, 2, 3.0);
    AUTO_TRIAL scale =
        try_fit(*state, servo, &WITH(mf_fit_config(), .parameters = "damping,gain,armature,delay"));
    assert_true(noted(scale.fit, "cannot be distinguished"));
    assert_true(noted(scale.fit, "knee.armature"));
    assert_false(parameter(scale.fit, "knee.armature")->identified);
    assert_true(parameter(scale.fit, "delay")->identified);
    assert_true(scale.fit->channels[0].after < 1.1e-3);
    AUTO_TRIAL twins = try_fit(
        *state, servo,
        &WITH(mf_fit_config(), .parameters = "damping,derivative,gain,delay", .generations = 8));
    assert_true(
        noted(twins.fit, "knee.damping and knee.derivative cannot be distinguished by this log"));
    assert_false(parameter(twins.fit, "knee.damping")->identified);
    assert_false(parameter(twins.fit, "knee.derivative")->identified);
    assert_true(parameter(twins.fit, "knee.gain")->identified);
}

// A joint that does not move shows nothing but that it does not.
TEST(a_log_at_rest_tells_nothing) {
    file_put_text(LOG, "time,knee.command,knee.position\n");
    FILE *file = fopen(LOG, "a");
    assert_non_null(file);
    for (int i = 0; i < 200; i++)
        fprintf(file, "%.2f,0,%.5f\n", 0.01 * i, 1e-3 * normal(3, (uint64_t)i));
    fclose(file);
    AUTO_TRIAL trial =
        try_fit(*state, servo, &WITH(mf_fit_config(), .parameters = "damping,gain,delay"));
    for (uint32_t i = 0; i < 3; i++)
        assert_false(trial.fit->parameters[i].identified);
    assert_true(noted(trial.fit, "the log tells nothing"));
}

TEST(threads_do_not_change_bits) {
    uint64_t hashes[2];
    for (uint32_t i = 0; i < 2; i++) {
        AUTO_CONTEXT *context = open_context(i == 0 ? 1 : 3);
        write_servo(&truth, 4, 2.0);
        AUTO_TRIAL trial = try_fit(context, servo, SERVO_CONFIG);
        hashes[i] = trial.fit->hash;
    }
    assert_true(hashes[0] == hashes[1]);
}

// ---- ranges, columns ---------------------------------------------------------------------------

TEST(ranges_and_columns_are_given) {
    const char *const map[] = {"u=knee.command*0.5", "knee.position=", "angle=knee.position"};
    FILE *file = fopen(LOG, "w");
    double at[2] = {0.0, 0.0};
    assert_non_null(file);
    fprintf(file, "stamp;u;knee.position;angle;what\n");
    for (int i = 0; i < 300; i++) {
        fprintf(file, "%d;%.2f;7;%.17g;\n", 5000000 * i, 2.0 * level(i / 50), at[0]);
        advance(&truth, at, level(i / 50), 0.005);
    }
    fclose(file);
    AUTO_MODEL *model = load_text(*state, servo);
    AUTO_SCENE_FILE *scene = NULL;
    mf_Log *log = NULL;
    mf_Fit *fit = NULL;
    MUST(mf_scene_file_of_model(*state, model, NULL, 0, &scene, &error));
    MUST(mf_log_open(*state, LOG, "stamp*1e-9", &log, &error));
    assert_string_equal(log->kind, "CSV");
    assert_int_equal(log->column_count, 3); // the last one has no samples
    assert_true(log->columns[0].time[2] == 0.01);
    MUST(mf_fit(*state, scene, log,
                &WITH(mf_fit_config(), .parameters = "knee.damping=0.1:1,gain=1:100,delay=0:0.02",
                      .map = map, .map_count = 3, .holdout = 0.0, .generations = 8),
                &fit, &error));
    assert_true(parameter(fit, "knee.damping")->lower == 0.1);
    assert_true(parameter(fit, "delay")->upper == 0.02);
    assert_true(fabs(parameter(fit, "knee.gain")->value - truth.gain) < 0.01);
    assert_true(parameter(fit, "delay")->value < 2e-4);
    assert_true(isnan(fit->channels[0].predicted_after) && fit->channels[0].predicted == 0);
    mf_fit_destroy(fit);
    mf_log_destroy(log);
    unlink(LOG);
}

static void must_refuse(mf_Context *context, const mf_FitConfig *config, const char *part) {
    AUTO_MODEL *model = load_text(context, servo);
    AUTO_SCENE_FILE *scene = NULL;
    mf_Log *log = NULL;
    mf_Fit *fit = NULL;
    MUST(mf_scene_file_of_model(context, model, NULL, 0, &scene, &error));
    MUST(mf_log_open(context, LOG, NULL, &log, &error));
    MUST_FAIL(mf_fit(context, scene, log, config, &fit, &error), MF_BAD_ARGUMENT, part);
    assert_null(fit);
    mf_log_destroy(log);
}

TEST(mistakes_get_one_line) {
    const char *const maps[] = {"foo=knee.position", "knee.position=elbow.position", "nothing"};
    static const struct {
        const char *parameters, *part;
    } wrong[] = {{"dampin", "did you mean 'damping'?"},
                 {"hip.gain", "no such joint"},
                 {"gain=5:1", "expected a range"},
                 {"gain=1", "expected a range"},
                 {"effort", "no torque limit"},
                 {"knee.delay", "the delay is that of all commands"},
                 {"gain,,delay", "commas"}};
    write_servo(&truth, 5, 1.0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        must_refuse(*state, &WITH(mf_fit_config(), .parameters = wrong[i].parameters),
                    wrong[i].part);
    must_refuse(*state, &WITH(mf_fit_config(), .map = &maps[0], .map_count = 1),
                "the log has no column 'foo'");
    must_refuse(*state, &WITH(mf_fit_config(), .map = &maps[1], .map_count = 1),
                "'elbow.position' names no joint's position");
    must_refuse(*state, &WITH(mf_fit_config(), .map = &maps[2], .map_count = 1),
                "expected column=name");
    must_refuse(*state, &WITH(mf_fit_config(), .holdout = 1.0), "holdout");
    file_put_text(LOG, "time,knee.position\n0,0\n0.1,0\n");
    must_refuse(*state, NULL, "no column of the log commands a joint");
    file_put_text(LOG, "time,knee.command,hip.position\n0,0,1\n0.1,0,1\n");
    must_refuse(*state, NULL, "no column of the log can be compared");
    file_put_text(LOG, "time,knee.command,knee.position\n0,0,0\n0.001,0,0\n");
    must_refuse(*state, NULL, "too short");
    unlink(LOG);
}

TEST(columns_that_mean_nothing_are_named) {
    write_servo(&truth, 6, 1.0);
    AUTO(end_memory) char *text = file_get(LOG, NULL);
    char *names = strstr(text, "knee.position");
    assert_non_null(names);
    FILE *file = fopen(LOG, "w");
    assert_non_null(file);
    fprintf(file, "time,knee.command,voltage\n0,0,12\n");
    for (char *line = strtok(strchr(names, '\n') + 1, "\n"); line != NULL;
         line = strtok(NULL, "\n"))
        if (strncmp(line, "0.000", 5) != 0)
            fprintf(file, "%s\n", line);
    fclose(file);
    const char *const map[] = {"voltage=knee.position"};
    AUTO_TRIAL trial = try_fit(
        *state, servo,
        &WITH(mf_fit_config(), .parameters = "gain", .map = map, .map_count = 1, .generations = 1));
    assert_int_equal(trial.fit->channel_count, 1);
    file_put_text(LOG, "time,knee.command,knee.position,volts,amps\n0,0,0,1,1\n0.1,0,0,1,1\n"
                       "0.2,0,0,1,1\n0.3,0,0,1,1\n");
    AUTO_TRIAL other =
        try_fit(*state, servo, &WITH(mf_fit_config(), .parameters = "gain", .generations = 1));
    assert_true(noted(other.fit, "2 columns of the log name nothing of this robot that can be "
                                 "compared: volts, amps;"));
}

// ---- what is written ---------------------------------------------------------------------------

static const char urdf[] =
    "<robot name='lever'>\n  <link name='world'/>\n  <link name='arm'><inertial><origin xyz='0 0 "
    "-0.2'/><mass value='0.5'/><inertia ixx='0.01' iyy='0.01' izz='0.001' ixy='0' ixz='0' "
    "iyz='0'/></inertial></link>\n  <!-- <joint name='knee'> is below -->\n"
    "  <joint name='knee' type='revolute'>\n    <parent link='world'/><child link='arm'/>\n"
    "    <axis xyz='0 1 0'/><limit lower='-2' upper='2' effort='20' velocity='30'/>\n"
    "    <dynamics damping='0.1'/>\n  </joint>\n"
    "  <mayfly><servo gain='15' damping='0.2' effort='20'/></mayfly>\n</robot>\n";

TEST(a_urdf_keeps_its_text_and_gets_the_numbers) {
    char from[64];
    const char *to = "fit_test.urdf";
    write_temporary(from, ".urdf", urdf);
    write_servo(
        &(Machine){.damping = 0.3, .armature = 0.02, .gain = 12.0, .delay = 0.004, .noise = 1e-3},
        7, 2.0);
    AUTO_MODEL *written = NULL;
    AUTO_SCENE_FILE *scene = NULL;
    mf_Log *log = NULL;
    mf_Fit *fit = NULL;
    MUST(mf_scene_file_load(*state, from, NULL, 0, &scene, &error));
    MUST(mf_log_open(*state, LOG, NULL, &log, &error));
    MUST(mf_fit(*state, scene, log, &WITH(mf_fit_config(), .generations = 8), &fit, &error));
    MUST(mf_fit_write(fit, to, &error));
    MUST(mf_model_load(*state, to, NULL, &written, &error));
    const mf_Joint *joint = &written->joints[0];
    assert_true(joint->damping == parameter(fit, "knee.damping")->value);
    assert_true(joint->friction == parameter(fit, "knee.friction")->value);
    assert_true(joint->servo.gain == parameter(fit, "knee.gain")->value);
    assert_true(joint->servo.damping == 0.2);
    assert_true(fabs(joint->servo.rotor_inertia - parameter(fit, "knee.armature")->value) < 1e-15);
    AUTO(end_memory) char *text = file_get(to, NULL);
    assert_non_null(strstr(text, "<!-- <joint name='knee'> is below -->"));
    assert_non_null(strstr(text, "<dynamics damping='0."));
    MUST_FAIL(mf_fit_write(fit, "fit_test.xml", &error), MF_UNSUPPORTED, "the robot is URDF");
    MUST(mf_fit_write(fit, "fit_test.yaml", &error));
    AUTO(end_memory) char *report = file_get("fit_test.yaml", NULL);
    assert_non_null(strstr(report, "{name: \"knee.damping\", value: "));
    mf_fit_destroy(fit);
    mf_log_destroy(log);
    unlink("fit_test.yaml");
    unlink(to);
    unlink(from);
    unlink(LOG);
}

static mf_Status fit_once(mf_Context *context, void *user, mf_Error *error) {
    mf_Log *log = NULL;
    mf_Fit *fit = NULL;
    mf_FitConfig config =
        WITH(mf_fit_config(), .parameters = "gain", .generations = 1, .population = 4);
    mf_Status status = mf_log_open(context, LOG, NULL, &log, error);
    MF_THEN(status, mf_fit(context, user, log, &config, &fit, error));
    MF_THEN(status, mf_fit_write(fit, "fit_test.yaml", error));
    mf_fit_destroy(fit);
    mf_log_destroy(log);
    return status;
}

TEST(every_failing_call_is_survived) {
    write_servo(&truth, 8, 0.05);
    AUTO_MODEL *model = load_text(*state, servo);
    AUTO_SCENE_FILE *scene = NULL;
    MUST(mf_scene_file_of_model(*state, model, NULL, 0, &scene, &error));
    assert_true(torture(*state, fit_once, scene, TORTURE_MUST_FAIL) > 50);
    unlink("fit_test.yaml");
    unlink(LOG);
}
