// Copies of a truss whose first actuator takes a new length in each frame: prints the time of a
// relaxed frame. truss.py runs it beside SciPy and MuJoCo for docs/studies/machines.md.
//
// usage: bench_truss FILE FRAMES COPIES TOLERANCE AMPLITUDE REPEATS
//   In frame f = 0, 1, ... the actuator's length is its first one plus AMPLITUDE [m] times
//   sin(2 pi (f + 1) / FRAMES). Neither ground nor bars that meet.
//
// prints `vertices` and the coordinates [m] of the first copy after the last frame, then `cost
// SECONDS ITERATIONS UNRELAXED`: processor time of the stepping thread for a frame of one truss,
// mean iterations, and frames of trusses that were not relaxed.
#include <mayfly/mayfly.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct Job {
    const char *file;
    uint32_t frames, copies, repeats;
    double tolerance, amplitude;
} Job;

typedef struct Setup {
    mf_Context *context;
    mf_Truss *truss;
    mf_Model *model;
    mf_World *world;
    mf_Group *group;
} Setup;

static mf_Status open_world(Setup *setup, const Job *job, mf_Error *error) {
    mf_WorldConfig world = mf_world_config();
    mf_GroupConfig group = mf_group_config();
    mf_MotionsConfig motion = mf_motions_config();
    mf_Status status = mf_truss_model(setup->context, setup->truss, &setup->model, error);
    group.model = setup->model;
    group.count = job->copies;
    group.double_precision = true;
    motion.quasistatic.truss = setup->truss;
    motion.quasistatic.contacts = motion.quasistatic.collisions = false;
    motion.quasistatic.tolerance = job->tolerance;
    motion.quasistatic.actuator_speed = 1e3;
    motion.quasistatic.jump = 1.0;
    if (status == MF_OK)
        status = mf_world_create(setup->context, &world, &setup->world, error);
    if (status == MF_OK)
        status = mf_world_add_group(setup->world, &group, &setup->group, error);
    if (status == MF_OK)
        status = mf_motion_add(setup->group, MF_MOTION_QUASISTATIC, &motion, error);
    return status;
}

static mf_Status open_setup(Setup *setup, const Job *job, mf_Error *error) {
    mf_ContextConfig config = mf_context_config();
    config.threads = 1;
    MF_TRY(mf_context_create(&config, &setup->context, error));
    MF_TRY(mf_truss_load(setup->context, job->file, &setup->truss, error));
    if (setup->truss->actuator_count == 0)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s: no actuator", job->file);
    return open_world(setup, job, error);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// [s] of all frames; adds the iterations of the first copy.
static double run(const Setup *setup, const Job *job, double *iterations) {
    mf_Field *control = mf_group_find_field(setup->group, "actuator.control");
    mf_Field *home = mf_group_find_field(setup->group, "bar.home_length");
    mf_Field *spent = mf_group_find_field(setup->group, "frame.iterations");
    const uint32_t bar = setup->truss->actuators[0].bar;
    double seconds = 0.0;
    *iterations = 0.0;
    mf_group_reset_all(setup->group);
    mf_world_step(setup->world, 1); // loads, as the peers start from
    for (uint32_t f = 0; f < job->frames; f++) {
        const double wave = sin(6.283185307179586 * (f + 1) / job->frames);
        for (uint32_t i = 0; i < job->copies; i++)
            mf_field_set(control, i, 0, mf_field_get(home, i, bar) + job->amplitude * wave);
        const double started = now();
        mf_world_step(setup->world, 1);
        seconds += now() - started;
        *iterations += mf_field_get(spent, 0, 0);
    }
    return seconds;
}

static void report(const Setup *setup, const Job *job) {
    double least = INFINITY, iterations = 0.0;
    for (uint32_t r = 0; r < job->repeats; r++)
        least = fmin(least, run(setup, job, &iterations));
    printf("vertices");
    for (uint32_t c = 0; c < 3 * setup->truss->vertex_count; c++)
        printf(" %.17g", mf_field_get(mf_group_find_field(setup->group, "vertex.position"), 0, c));
    printf("\ncost %.9g %.6g %llu\n", least / job->frames / job->copies, iterations / job->frames,
           (unsigned long long)mf_group_warning_sum(setup->group, MF_WARNING_SOLVER).steps);
}

int main(int count, char **arguments) {
    Setup setup = {NULL, NULL, NULL, NULL, NULL};
    mf_Error error = {0};
    if (count != 7) {
        fprintf(stderr, "usage: bench_truss FILE FRAMES COPIES TOLERANCE AMPLITUDE REPEATS\n");
        return 2;
    }
    const Job job = {.file = arguments[1],
                     .frames = (uint32_t)strtoul(arguments[2], NULL, 10),
                     .copies = (uint32_t)strtoul(arguments[3], NULL, 10),
                     .tolerance = strtod(arguments[4], NULL),
                     .amplitude = strtod(arguments[5], NULL),
                     .repeats = (uint32_t)strtoul(arguments[6], NULL, 10)};
    const mf_Status status = open_setup(&setup, &job, &error);
    if (status == MF_OK)
        report(&setup, &job);
    else
        fprintf(stderr, "bench_truss: %s\n", error.message);
    mf_world_destroy(setup.world);
    mf_model_destroy(setup.model);
    mf_truss_destroy(setup.truss);
    mf_context_destroy(setup.context);
    return status == MF_OK ? 0 : 1;
}
