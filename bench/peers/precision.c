// One or more robots of an MJCF file under `articulated`: prints the cost of a step and the
// positions of all bodies at fixed times. precision.py runs it and MuJoCo for the work-precision
// study of docs/studies/precision.md.
//
// usage: bench_precision MODEL [OPTION VALUE]...
//   step NS          length of a step [ns], default 1000000
//   frames N         number of printed samples after the start, default 16
//   every NS         time between samples, a multiple of the step [ns], default 64000000
//   robots N         instances, default 1. The first starts as in the file, the others with every
//   velocity changed by up to 0.1 (m/s or rad/s), so that they touch down at different times
//   precision WORD   double (default) or float
//   integrator WORD  implicit (default), euler or rk4
//   hard N           1: contacts without softness, default 0
//   sweeps N         of the solver; default 0: its own
//   contact_time S   [s], default 0: two steps
//   friction MU      coefficient of the ground, default 1
//   force FX,FY,FZ   [N] on the base at its origin, world axes
//   frequency HZ     of the waves, default 0
//   wave A,B,C       control of the next actuator: A + B sin(2 pi (frequency time + C)), time at
//                    the beginning of the step
//   repeats N        runs; the cost is that of the fastest, default 1
//
// prints one line a moment, of the first robot:
//   TIME [s] KINETIC [J] POTENTIAL [J] X Y Z [m] of each body of the file
// then `cost SECONDS STEPS FAULTS`: processor time of the stepping thread for STEPS steps of all
// robots, and how many of these ended with a fault.
#include <mayfly/mayfly.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WAVES_MOST 64u // [1]
#define SPREAD 0.1     // [m/s] or [rad/s] most that a velocity of another robot differs

typedef struct Job {
    const char *model;
    mf_Time step, every; // [ns]
    uint32_t frames, robots, sweeps, repeats;
    bool float_precision, hard;
    mf_ArticulatedIntegrator integrator;
    double contact_time, friction, force[3], frequency; // [s] [1] [N] [Hz]
    double waves[WAVES_MOST][3];                        // offset, amplitude, phase [turns]
    uint32_t wave_count;
} Job;

typedef struct Setup {
    mf_Context *context;
    mf_Model *model;
    mf_World *world;
    mf_Group *group;
    void *image; // the start
    size_t image_size;
} Setup;

// ---- the command line --------------------------------------------------------------------------

static bool read_numbers(const char *text, double *out, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        char *end;
        out[i] = strtod(text, &end);
        if (end == text || !isfinite(out[i]) || *end != (i + 1 < count ? ',' : '\0'))
            return false;
        text = end + 1;
    }
    return true;
}

static bool read_choice(const char *value, const char *const *words, uint32_t count,
                        uint32_t *out) {
    for (*out = 0; *out < count; ++*out)
        if (strcmp(value, words[*out]) == 0)
            return true;
    return false;
}

static bool read_number(Job *job, const char *name, double value) {
    const struct {
        const char *name;
        uint32_t *count;
        double *real;
        mf_Time *time;
    } rows[] = {{"frames", &job->frames, NULL, NULL},
                {"robots", &job->robots, NULL, NULL},
                {"sweeps", &job->sweeps, NULL, NULL},
                {"repeats", &job->repeats, NULL, NULL},
                {"contact_time", NULL, &job->contact_time, NULL},
                {"friction", NULL, &job->friction, NULL},
                {"frequency", NULL, &job->frequency, NULL},
                {"step", NULL, NULL, &job->step},
                {"every", NULL, NULL, &job->every}};
    if (strcmp(name, "hard") == 0) {
        job->hard = value != 0.0;
        return true;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(name, rows[i].name) != 0)
            continue;
        if (!(value >= 0.0 && value < 4e9))
            return false;
        if (rows[i].count != NULL)
            *rows[i].count = (uint32_t)value;
        else if (rows[i].real != NULL)
            *rows[i].real = value;
        else
            *rows[i].time = (mf_Time)value;
        return true;
    }
    return false;
}

static bool read_option(Job *job, const char *name, const char *value) {
    static const char *const precisions[] = {"double", "float"};
    static const char *const integrators[] = {"implicit", "euler", "rk4"};
    uint32_t choice;
    double number;
    if (strcmp(name, "precision") == 0) {
        bool known = read_choice(value, precisions, 2, &choice);
        job->float_precision = choice == 1;
        return known;
    }
    if (strcmp(name, "integrator") == 0) {
        bool known = read_choice(value, integrators, 3, &choice);
        job->integrator = (mf_ArticulatedIntegrator)choice;
        return known;
    }
    if (strcmp(name, "force") == 0)
        return read_numbers(value, job->force, 3);
    if (strcmp(name, "wave") == 0)
        return job->wave_count < WAVES_MOST &&
               read_numbers(value, job->waves[job->wave_count++], 3);
    return read_numbers(value, &number, 1) && read_number(job, name, number);
}

static bool read_job(int argc, char **argv, Job *job) {
    *job = (Job){.step = MF_MILLISECOND,
                 .every = 64 * MF_MILLISECOND,
                 .frames = 16,
                 .robots = 1,
                 .repeats = 1,
                 .friction = 1.0};
    if (argc < 2 || argc % 2 != 0) {
        fprintf(stderr, "usage: bench_precision MODEL [OPTION VALUE]...\n");
        return false;
    }
    job->model = argv[1];
    for (int i = 2; i < argc; i += 2)
        if (!read_option(job, argv[i], argv[i + 1])) {
            fprintf(stderr, "bench_precision: '%s %s' is no option with its value\n", argv[i],
                    argv[i + 1]);
            return false;
        }
    if (job->step <= 0 || job->every % job->step != 0 || job->repeats == 0) {
        fprintf(stderr, "bench_precision: every must be a multiple of the step, repeats > 0\n");
        return false;
    }
    return true;
}

// ---- the world ---------------------------------------------------------------------------------

static bool control(mf_Group *group, uint32_t instance, mf_Time time, void *user) {
    const Job *job = user;
    mf_Field *field = mf_group_find_field(group, "actuator.control");
    double cycles = job->frequency * mf_time_to_seconds(time);
    for (uint32_t i = 0; i < job->wave_count; i++)
        mf_field_set(field, instance, i,
                     job->waves[i][0] + job->waves[i][1] * sin(6.283185307179586477 *
                                                               (cycles + job->waves[i][2])));
    return true;
}

static mf_Status add_control(Setup *setup, Job *job, mf_Error *error) {
    if (job->wave_count == 0)
        return MF_OK;
    if (job->wave_count != setup->model->actuator_count)
        return mf_fail(error, MF_BAD_ARGUMENT, "%u waves for %u actuators", job->wave_count,
                       setup->model->actuator_count);
    return mf_callback_add(setup->group, mf_rate_from_period(job->step), control, job, error);
}

// Velocities of the keyframe; those of the other robots changed by a fixed sequence (Weyl's, of the
// golden ratio).
static mf_Status start_all(Setup *setup, const Job *job, mf_Error *error) {
    const mf_Model *model = setup->model;
    const mf_Keyframe *key = model->keyframes;
    mf_Field *force = mf_group_find_field(setup->group, "base.force");
    if (model->keyframe_count == 0)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s: needs a keyframe to start at", model->file);
    double *velocity = mf_allocate(setup->context, model->velocity_count, sizeof *velocity);
    if (velocity == NULL)
        return mf_fail(error, MF_NO_MEMORY, "bench_precision: out of memory");
    for (uint32_t robot = 0; robot < job->robots; robot++) {
        for (uint32_t i = 0; i < model->velocity_count; i++) {
            double cycles = 0.6180339887498949 * (robot * model->velocity_count + i);
            double random = 2.0 * (cycles - floor(cycles)) - 1.0;
            velocity[i] = key->velocity[i] + (robot > 0 ? SPREAD * random : 0.0);
        }
        mf_group_set_state(setup->group, robot, key->position, velocity);
        for (uint32_t i = 0; i < 3; i++)
            mf_field_set(force, robot, i, job->force[i]);
    }
    mf_release(setup->context, velocity);
    return MF_OK;
}

static mf_Status keep_start(Setup *setup, mf_Error *error) {
    setup->image_size = mf_world_snapshot_size(setup->world);
    setup->image = mf_allocate(setup->context, setup->image_size, 1);
    if (setup->image == NULL)
        return mf_fail(error, MF_NO_MEMORY, "bench_precision: out of memory");
    return mf_world_snapshot(setup->world, setup->image, setup->image_size, error);
}

static mf_Status add_motion(Setup *setup, const Job *job, mf_Error *error) {
    mf_MotionsConfig motion = mf_motions_config();
    motion.articulated.integrator = job->integrator;
    motion.articulated.shapes = true;
    motion.articulated.contact_law = job->hard ? MF_CONTACT_LAW_HARD : MF_CONTACT_LAW_COMPLIANT;
    motion.articulated.sweeps = job->sweeps;
    motion.articulated.contact_time = job->contact_time;
    motion.articulated.friction = job->friction;
    return mf_motion_add(setup->group, MF_MOTION_ARTICULATED, &motion, error);
}

static mf_Status setup_make(Setup *setup, Job *job, mf_Error *error) {
    mf_ContextConfig context = mf_context_config();
    mf_WorldConfig world = mf_world_config();
    mf_GroupConfig group = mf_group_config();
    context.threads = 1; // so that the time of this thread is the cost
    MF_TRY(mf_context_create(&context, &setup->context, error));
    MF_TRY(mf_model_load(setup->context, job->model, NULL, &setup->model, error));
    const double *pull = setup->model->physics.gravity;
    world.step = job->step;
    world.gravity = sqrt(pull[0] * pull[0] + pull[1] * pull[1] + pull[2] * pull[2]);
    if (world.gravity > 0.0)
        memcpy(world.gravity_direction, pull, sizeof world.gravity_direction);
    group.model = setup->model;
    group.count = job->robots;
    group.double_precision = !job->float_precision;
    MF_TRY(mf_world_create(setup->context, &world, &setup->world, error));
    MF_TRY(mf_world_add_group(setup->world, &group, &setup->group, error));
    MF_TRY(add_motion(setup, job, error));
    MF_TRY(add_control(setup, job, error));
    MF_TRY(start_all(setup, job, error));
    return keep_start(setup, error);
}

static void setup_free(Setup *setup) {
    if (setup->context != NULL)
        mf_release(setup->context, setup->image);
    mf_world_destroy(setup->world);
    mf_model_destroy(setup->model);
    mf_context_destroy(setup->context);
}

// ---- the run -----------------------------------------------------------------------------------

static double thread_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// place = center of the body's frame in the world: p + R(q) r of its link's pose and its own.
static void body_position(const mf_Body *body, const double (*links)[3],
                          const double (*rotations)[4], double position[3]) {
    double r[3] = {body->position[0], body->position[1], body->position[2]};
    if (body->link == MF_NONE) {
        memcpy(position, r, sizeof r);
        return;
    }
    const double *q = rotations[body->link], *p = links[body->link];
    double t[3] = {2.0 * (q[2] * r[2] - q[3] * r[1]), 2.0 * (q[3] * r[0] - q[1] * r[2]),
                   2.0 * (q[1] * r[1] - q[2] * r[0])};
    position[0] = p[0] + r[0] + q[0] * t[0] + q[2] * t[2] - q[3] * t[1];
    position[1] = p[1] + r[1] + q[0] * t[1] + q[3] * t[0] - q[1] * t[2];
    position[2] = p[2] + r[2] + q[0] * t[2] + q[1] * t[1] - q[2] * t[0];
}

static void print_moment(const Setup *setup, double (*links)[3], double (*rotations)[4]) {
    mf_MotionEnergy energy = mf_motion_energy(setup->group, 0);
    mf_group_link_poses(setup->group, 0, 1, links[0], rotations[0], NULL);
    printf("%.9f %.17g %.17g", mf_time_to_seconds(mf_world_time(setup->world)), energy.kinetic,
           energy.potential + energy.elastic);
    for (uint32_t i = 0; i < setup->model->body_count; i++) {
        double position[3];
        body_position(&setup->model->bodies[i], (const double(*)[3])links,
                      (const double(*)[4])rotations, position);
        printf(" %.17g %.17g %.17g", position[0], position[1], position[2]);
    }
    putchar('\n');
}

static mf_Status run(Setup *setup, const Job *job, mf_Error *error) {
    const mf_Model *model = setup->model;
    double(*links)[3] = mf_allocate(setup->context, model->link_count, sizeof *links);
    double(*rotations)[4] = mf_allocate(setup->context, model->link_count, sizeof *rotations);
    uint64_t steps = (uint64_t)(job->every / job->step);
    double best = INFINITY;
    mf_Status status = MF_OK;
    if (links == NULL || rotations == NULL)
        status = mf_fail(error, MF_NO_MEMORY, "bench_precision: out of memory");
    for (uint32_t repeat = 0; repeat < job->repeats && status == MF_OK; repeat++) {
        double cost = 0.0;
        bool last = repeat + 1 == job->repeats;
        status = mf_world_restore(setup->world, setup->image, setup->image_size, error);
        if (last)
            print_moment(setup, links, rotations);
        for (uint32_t frame = 0; frame < job->frames && status == MF_OK; frame++) {
            double began = thread_seconds();
            mf_world_step(setup->world, steps);
            cost += thread_seconds() - began;
            if (last)
                print_moment(setup, links, rotations);
        }
        best = fmin(best, cost);
    }
    mf_release(setup->context, links);
    mf_release(setup->context, rotations);
    if (status == MF_OK)
        printf("cost %.9g %llu %u\n", best, (unsigned long long)(steps * job->frames),
               mf_group_fault_total(setup->group));
    return status;
}

int main(int argc, char **argv) {
    Job job;
    Setup setup = {0};
    mf_Error error = {0};
    char text[1024];
    if (!read_job(argc, argv, &job))
        return 2;
    mf_Status status = setup_make(&setup, &job, &error);
    if (status == MF_OK)
        status = run(&setup, &job, &error);
    setup_free(&setup);
    if (status != MF_OK)
        fprintf(stderr, "bench_precision: %s\n", mf_error_format(&error, text, sizeof text));
    return status == MF_OK ? 0 : 1;
}
