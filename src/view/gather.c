// Gathers what a report shows: the run's curve and champion from the archive, and the champion
// simulated again, with the experiment's step and with one ten times smaller.
#include "view/report_data.h"

#include <string.h>

#define FINE_DIVISOR 10u           // the comparison that every report makes
#define SAMPLES_PER_SECOND 50      // [1/s] of path and contacts, at most
#define SAMPLES_MOST 20000         // [1] of one trial; longer ones are sampled more thinly
#define STEP_LEAST ((mf_Time)1000) // [ns] the smallest step a world takes

static mf_Status read_archive(mf_ReportData *data, mf_Archive *archive, mf_Error *error) {
    mf_ArchiveRun run;
    mf_Status status = mf_archive_run(archive, &run, error);
    if (status != MF_OK)
        return status;
    if (run.generations == 0)
        return mf_fail(error, MF_NOT_FOUND,
                       "report: need an archive with at least one generation, found none");
    status = mf_archive_generations(archive, &data->generations, &data->generation_count, error);
    if (status != MF_OK)
        return status;
    data->genome_bytes = run.search.genome_bytes;
    data->genome = mf_allocate(data->context, data->genome_bytes, 1);
    if (data->genome == NULL)
        return mf_fail(error, MF_NO_MEMORY, "report: out of memory");
    status = mf_archive_best(archive, 0, &data->champion, data->genome, data->genome_bytes, error);
    data->champion.genome = data->genome;
    return status;
}

// A multiple of the step near the wanted period.
static double choose_period(const mf_Experiment *experiment) {
    mf_Time wanted = MF_SECOND / SAMPLES_PER_SECOND;
    mf_Time thin = mf_time_from_seconds(experiment->duration / SAMPLES_MOST);
    wanted = thin > wanted ? thin : wanted;
    mf_Time steps = (wanted + experiment->step - 1) / experiment->step;
    return mf_time_to_seconds(steps * experiment->step);
}

// The largest divisor up to ten that leaves a step which worlds accept.
static uint32_t choose_divisor(mf_Time step) {
    uint32_t divisor = FINE_DIVISOR;
    while (divisor > 1 && (step % divisor != 0 || step / divisor < STEP_LEAST))
        divisor--;
    return divisor;
}

static mf_Status simulate(mf_ReportData *data, mf_Error *error) {
    double period = choose_period(data->experiment);
    mf_Status status = mf_trial_run(data->context, data->experiment, data->genome,
                                    data->genome_bytes, 1, period, &data->trial, error);
    data->fine_divisor = choose_divisor(data->experiment->step);
    if (status == MF_OK && data->fine_divisor > 1)
        status = mf_trial_run(data->context, data->experiment, data->genome, data->genome_bytes,
                              data->fine_divisor, period, &data->fine, error);
    if (status != MF_OK)
        return status;
    status = mf_scene_create(data->context, data->experiment, 1, &data->scene, error);
    if (status == MF_OK)
        mf_scene_apply_genome(&data->scene, 0, data->genome);
    return status;
}

mf_Status mf_report_gather(mf_Context *context, mf_Archive *archive, mf_Experiment *experiment,
                           const mf_ReportFacts *facts, mf_ReportData *out, mf_Error *error) {
    mf_ReportData data = {.context = context, .experiment = experiment, .facts = *facts};
    mf_Status status = read_archive(&data, archive, error);
    if (status == MF_OK)
        status = simulate(&data, error);
    if (status == MF_OK)
        status = mf_experiment_write(experiment, &data.settings, error);
    if (status != MF_OK)
        mf_report_release(&data);
    *out = data;
    return status;
}

void mf_report_release(mf_ReportData *data) {
    mf_Context *context = data->context;
    if (context == NULL)
        return;
    if (data->scene.world != NULL)
        mf_scene_destroy(&data->scene);
    mf_trial_free(&data->trial);
    mf_trial_free(&data->fine);
    mf_release(context, data->generations);
    mf_release(context, data->genome);
    mf_release(context, data->settings);
    memset(data, 0, sizeof *data);
}
