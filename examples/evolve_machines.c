// Evolves machines of bars, actuators and neurons that crawl, from nothing: the experiment of
// Lipson and Pollack (2000). Arguments: seed, generations, file for the best machine.
#include <mayfly/mayfly.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int complain(const mf_Error *error) {
    char line[1024];
    fprintf(stderr, "%s\n", mf_error_format(error, line, sizeof line));
    return 1;
}

static void print_generation(mf_Search *search, mf_Crawl *crawl) {
    const mf_Individual best = mf_search_individual(search, 0);
    const uint32_t bytes = mf_search_config_of(search)->genome_bytes;
    mf_CrawlResult result = {0};
    mf_Machine machine;
    if (mf_crawl_run(crawl, best.genome, 1, bytes, &result, NULL) != MF_OK ||
        mf_machine_decode(best.genome, bytes, &machine, NULL) != MF_OK)
        return;
    printf("generation %4u  distance %.3f m  %.2f body lengths  mean %.3f m  %u bars, %u "
           "actuators, %u neurons  frames %u  warnings %x\n",
           mf_search_generation(search), result.distance,
           result.length > 0.0 ? result.distance / result.length : 0.0, mf_search_mean(search),
           machine.bar_count, machine.actuator_count, machine.neuron_count, result.frames,
           result.warnings);
}

static mf_Status save_best(mf_Context *context, mf_Search *search, const char *path,
                           mf_Error *error) {
    mf_Machine machine;
    char *text = NULL;
    mf_Status status =
        mf_machine_decode(mf_search_individual(search, 0).genome,
                          mf_search_config_of(search)->genome_bytes, &machine, error);
    const mf_Truss truss = mf_machine_truss(&machine);
    if (status == MF_OK)
        status = mf_truss_write(context, &truss, &text, error);
    if (status == MF_OK)
        status = mf_file_replace(context, path, text, strlen(text), error);
    mf_release(context, text);
    return status;
}

int main(int count, char **arguments) {
    const uint32_t generations = count > 2 ? (uint32_t)strtoul(arguments[2], NULL, 10) : 100;
    mf_MachineConfig machines = mf_machine_config();
    mf_CrawlConfig trial = mf_crawl_config();
    mf_SearchConfig config = mf_search_config();
    mf_Context *context = NULL;
    mf_Crawl *crawl = NULL;
    mf_Search *search = NULL;
    mf_Error error = {0};
    config.seed = count > 1 ? strtoull(arguments[1], NULL, 10) : 1;
    config.population = 200;
    config.genome_bytes = machines.genome_bytes;
    config.selection = MF_SELECTION_PROPORTIONATE;
    config.replacement = MF_REPLACEMENT_RANDOM;
    config.vary = mf_machine_vary;
    config.vary_user = &machines;
    config.evaluate = mf_crawl_evaluate;
    mf_Status status = mf_context_create(NULL, &context, &error);
    if (status == MF_OK)
        status = mf_crawl_create(context, &trial, &crawl, &error);
    config.user = crawl;
    if (status == MF_OK)
        status = mf_search_create(context, &config, &search, &error);
    for (uint32_t g = 1; g <= generations && status == MF_OK; g++) {
        status = mf_search_advance(search, &error);
        if (status == MF_OK && (g % 20 == 0 || g == generations))
            print_generation(search, crawl);
    }
    if (status == MF_OK && count > 3)
        status = save_best(context, search, arguments[3], &error);
    mf_search_destroy(search);
    mf_crawl_destroy(crawl);
    mf_context_destroy(context);
    return status == MF_OK ? 0 : complain(&error);
}
