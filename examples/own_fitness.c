// Evolution with a user-defined fitness: robots that swing their joints in sine waves learn to
// climb a slope of 11 degrees, straight up. usage: example_own_fitness [SCENE]. SCENE is
// scenes/oscillator.yaml unless given.
#include <mayfly/mayfly.h>

#include <math.h>
#include <stdio.h>

// Height gain [m] minus the sideways drift. The slope rises along x.
static double climb(const mf_Scene *scene, uint32_t robot, void *user) {
    (void)user;
    const mf_Field *position = mf_group_find_field(scene->group, "base.position");
    double x = mf_field_get(position, robot, 0), y = mf_field_get(position, robot, 1);
    return mf_terrain_height(scene->terrain, x, y, NULL) - 0.1 * fabs(y);
}

static mf_Status evolve(mf_Context *context, mf_SceneFile *file, mf_Scene *scene, mf_Error *error) {
    mf_SearchConfig config = file->search; // genome_bytes of the scene
    config.evaluate = mf_scene_evaluate;
    config.user = scene;
    mf_Search *search = NULL;
    mf_Status status = mf_search_create(context, &config, &search, error);
    for (uint32_t i = 0; i < file->generations && status == MF_OK; i++) {
        status = mf_search_advance(search, error);
        if (status == MF_OK && (i == 0 || (i + 1) % 10 == 0))
            printf("generation %2u: best %6.3f m, mean %6.3f m\n", i + 1, mf_search_best(search),
                   mf_search_mean(search));
    }
    mf_search_destroy(search);
    return status;
}

int main(int argc, char **argv) {
    static const mf_Override overrides[] = {
        {"ground.shape", "slope"},    {"ground.amplitude", "0.2"}, // [rad]
        {"run.duration", "10"},       {"group.motion.points.friction_coefficient", "0.8"},
        {"search.population", "40"},  {"search.survivors", "20"},
        {"search.generations", "30"},
    };
    const char *path = argc > 1 ? argv[1] : "scenes/oscillator.yaml";
    mf_Context *context = NULL;
    mf_SceneFile *file = NULL;
    mf_Scene scene = {0};
    mf_Error error = {0};
    mf_Status status = mf_context_create(NULL, &context, &error);
    if (status == MF_OK)
        status = mf_scene_file_load(context, path, overrides, sizeof overrides / sizeof *overrides,
                                    &file, &error);
    if (status == MF_OK) {
        file->hooks.fitness = climb;
        mf_SceneConfig config = mf_scene_config();
        config.evaluates = true;
        config.count = file->search.population;
        status = mf_scene_create(context, file, &config, &scene, &error);
    }
    if (status == MF_OK)
        status = evolve(context, file, &scene, &error);

    char text[1024];
    if (status != MF_OK)
        fprintf(stderr, "%s\n", mf_error_format(&error, text, sizeof text));
    mf_scene_destroy(&scene);
    mf_scene_file_destroy(file);
    mf_context_destroy(context);
    return status == MF_OK ? 0 : 1;
}
