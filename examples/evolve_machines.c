// Evolves machines of bars, actuators and neurons from nothing (Lipson and Pollack 2000) with a
// fitness of its own: the distance covered per bar, so that small machines win.
// Arguments: scene (default scenes/golem.yaml), generations, file for the best machine.
#include <mayfly/mayfly.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int complain(const mf_Error *error) {
    char line[1024];
    fprintf(stderr, "%s\n", mf_error_format(error, line, sizeof line));
    return 1;
}

// The horizontal distance of the center of mass, over the number of bars.
static double distance_per_bar(const mf_Scene *scene, uint32_t instance, void *user) {
    const mf_Field *counts = mf_group_find_field(scene->group, "truss.counts");
    const double bars = mf_field_get(counts, instance, 1);
    (void)user;
    return bars > 0.0 ? mf_scene_distance(scene, instance) / bars : 0.0;
}

static void print_generation(const mf_Search *search) {
    const mf_Individual best = mf_search_individual(search, 0);
    mf_Machine machine;
    if (mf_machine_decode(best.genome, mf_search_config_of(search)->genome_bytes, &machine, NULL) ==
        MF_OK)
        printf("generation %4u  %.4f m per bar, mean %.4f  %u bars, %u actuators, %u neurons\n",
               mf_search_generation(search), best.fitness, mf_search_mean(search),
               machine.bar_count, machine.actuator_count, machine.neuron_count);
}

static mf_Status save_best(mf_Context *context, const mf_Search *search, const char *path,
                           mf_Error *error) {
    mf_Machine machine;
    char *text = NULL;
    mf_Status status =
        mf_machine_decode(mf_search_individual(search, 0).genome,
                          mf_search_config_of(search)->genome_bytes, &machine, error);
    mf_machine_stand(&machine);
    const mf_Truss truss = mf_machine_truss(&machine);
    if (status == MF_OK)
        status = mf_truss_write(context, &truss, &text, error);
    if (status == MF_OK)
        status = mf_file_replace(context, path, text, strlen(text), error);
    mf_release(context, text);
    return status;
}

static mf_Status evolve(mf_Search *search, uint32_t generations, mf_Error *error) {
    mf_Status status = MF_OK;
    for (uint32_t g = 1; g <= generations && status == MF_OK; g++) {
        status = mf_search_advance(search, error);
        if (status == MF_OK && (g % 20 == 0 || g == generations))
            print_generation(search);
    }
    return status;
}

int main(int count, char **arguments) {
    const char *path = count > 1 ? arguments[1] : "scenes/golem.yaml";
    const uint32_t generations = count > 2 ? (uint32_t)strtoul(arguments[2], NULL, 10) : 100;
    mf_Context *context = NULL;
    mf_SceneFile *file = NULL;
    mf_Scene scene = {0};
    mf_Search *search = NULL;
    mf_Error error = {0};
    mf_Status status = mf_context_create(NULL, &context, &error);
    if (status == MF_OK)
        status = mf_scene_file_load(context, path, NULL, 0, &file, &error);
    if (status == MF_OK) {
        mf_SceneConfig config = mf_scene_config();
        config.evaluates = true;
        config.count = mf_search_evaluated_at_once(&file->search);
        file->hooks.fitness = distance_per_bar;
        status = mf_scene_create(context, file, &config, &scene, &error);
    }
    if (status == MF_OK) {
        mf_SearchConfig config = file->search; // with the operators of machines
        config.evaluate = mf_scene_evaluate;
        config.user = &scene;
        status = mf_search_create(context, &config, &search, &error);
    }
    if (status == MF_OK)
        status = evolve(search, generations, &error);
    if (status == MF_OK && count > 3)
        status = save_best(context, search, arguments[3], &error);
    mf_search_destroy(search);
    mf_scene_destroy(&scene);
    mf_scene_file_destroy(file);
    mf_context_destroy(context);
    return status == MF_OK ? 0 : complain(&error);
}
