// Evolution with parts of a host program: its own fitness, its own controller, and systems that the
// fitness reads.
#include "rig/rig.h"
#include "view/report_data.h"
#include "support.h"

GROUP_FIXTURE(make_context, drop_context);

#define ROBOTS 8

static mf_SceneFile *load(mf_Context *context, const char *controller) {
    const mf_Override overrides[] = {{"group.controller", controller},
                                     {"run.duration", "1"},
                                     {"search.population", "8"},
                                     {"search.survivors", "4"}};
    return load_scene(context, "scenes/neophysix.yaml", overrides, 4);
}

// ---- a fitness ---------------------------------------------------------------------------------

// Ten times the instance and a number of the caller's: known without simulating.
static double numbered(const mf_Scene *scene, uint32_t instance, void *user) {
    assert_non_null(scene->world);
    return 10.0 * instance + *(const double *)user;
}

TEST(an_own_fitness_replaces_the_distance) {
    AUTO_SCENE_FILE *file = load(*state, "gp");
    double bonus = 0.5, fitness[3];
    mf_Scene scene = make_evaluation(*state, file, 3);
    uint8_t genomes[3 * MF_GP_BYTES] = {0};
    assert_true(mf_scene_fitness(&scene, 1) == mf_scene_distance(&scene, 1));
    file->hooks.fitness = numbered;
    file->hooks.user = &bonus;
    MUST(mf_scene_evaluate(&scene, genomes, 3, MF_GP_BYTES, fitness, &error));
    assert_true(fitness[0] == 0.5 && fitness[1] == 10.5 && fitness[2] == 20.5);
    // A robot with a fault has none, whatever the function would say.
    set_field(scene.group, "fault.word", 1, 0, MF_FAULT_RANGE);
    assert_true(isnan(mf_scene_fitness(&scene, 1)));
    assert_true(mf_scene_fitness(&scene, 2) == 20.5);
    mf_scene_destroy(&scene);

    AUTO(mf_trial_free) mf_Trial trial;
    MUST(mf_trial_run(*state, file, NULL, genomes, MF_GP_BYTES, 0.1, &trial, &error));
    assert_true(trial.fitness == 0.5);
}

// ---- a controller ------------------------------------------------------------------------------

#define GENES 2 // [byte] frequency and swing of a tripod gait

// What the hooks of one scene share with the controller.
typedef struct Tripod {
    mf_Field *genes;
    uint32_t attached; // [1] times
    mf_Status refusal; // of attach, to see it handed on
} Tripod;

// Hips of legs 1, 3, 5 swing against those of legs 2, 4, 6; knees lift while their hip goes
// forward.
static bool steer(mf_Group *group, uint32_t instance, mf_Time time, void *user) {
    const mf_Model *model = mf_group_model(group);
    double cycles = get_field(group, "tripod.genes", instance, 0) * mf_time_to_seconds(time);
    double swing = get_field(group, "tripod.genes", instance, 1);
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const char *name = model->joints[j].name; // such as leg3_femur
        double phase = cycles + (strchr("135", name[3]) != NULL ? 0.0 : 0.5);
        phase -= floor(phase);
        double wave = phase < 0.5 ? 4.0 * phase - 1.0 : 3.0 - 4.0 * phase; // a triangle
        if (strstr(name, "coxa") != NULL)
            set_field(group, "joint.target", instance, j, swing * wave);
        else if (strstr(name, "femur") != NULL)
            set_field(group, "joint.target", instance, j, phase < 0.5 ? 0.3 : 0.0);
    }
    return true;
}

static mf_Status attach(mf_Scene *scene, void *user, mf_Error *error) {
    static const mf_FieldInfo info = {"tripod.genes", "1",   "none", MF_REAL,
                                      MF_FIXED_COUNT, GENES, 0,      "frequency [Hz] and swing"};
    Tripod *tripod = user;
    tripod->attached++;
    if (tripod->refusal != MF_OK)
        return mf_fail(error, tripod->refusal, "no tripod today");
    MF_TRY(mf_group_add_field(scene->group, &info, GENES, &tripod->genes, error));
    return mf_callback_add(scene->group, mf_rate_from_period(80 * MF_MILLISECOND), steer, NULL,
                           error);
}

static void apply(mf_Scene *scene, uint32_t instance, const uint8_t *genome, void *user) {
    set_field(scene->group, "tripod.genes", instance, 0, genome[0] / 255.0 * 2.0);
    set_field(scene->group, "tripod.genes", instance, 1, genome[1] / 255.0 * 0.5);
}

static void hook(mf_SceneFile *file, Tripod *tripod) {
    file->hooks = (mf_SceneHooks){
        .attach = attach, .apply_genome = apply, .genome_bytes = GENES, .user = tripod};
}

// The same two bytes, evaluated in a batch, alone, and as a trial: the same bits.
TEST(an_own_controller_evolves) {
    AUTO_SCENE_FILE *file = load(*state, "none");
    Tripod tripod = {0};
    assert_int_equal(mf_scene_file_can_evolve(file, NULL), MF_UNSUPPORTED);
    hook(file, &tripod);
    MUST(mf_scene_file_can_evolve(file, &error));
    AUTO_SCENE scene = make_evaluation(*state, file, ROBOTS);
    assert_int_equal(tripod.attached, 1);
    assert_int_equal(file->search.genome_bytes, GENES);

    mf_SearchConfig config = WITH(file->search, .evaluate = mf_scene_evaluate, .user = &scene);
    AUTO_SEARCH *search = NULL;
    MUST(mf_search_create(*state, &config, &search, &error));
    double first = 0.0;
    for (int generation = 0; generation < 6; generation++) {
        MUST(mf_search_advance(search, &error));
        first = generation == 0 ? mf_search_best(search) : first;
    }
    mf_Individual best = mf_search_individual(search, 0);
    assert_true(best.fitness >= first); // survivors are kept
    assert_true(best.fitness > 0.02);   // and this gait walks

    mf_Trial trial;
    MUST(mf_trial_run(*state, file, NULL, best.genome, GENES, 0.1, &trial, &error));
    assert_memory_equal(&trial.fitness, &best.fitness, sizeof(double));
    mf_trial_free(&trial);
    const uint8_t still[GENES] = {0, 0};
    double fitness;
    MUST(mf_scene_evaluate(&scene, still, 1, GENES, &fitness, &error));
    assert_true(fitness < best.fitness);
}

TEST(bad_hooks_are_refused) {
    AUTO_SCENE_FILE *file = load(*state, "none");
    Tripod tripod = {.refusal = MF_NOT_FOUND};
    AUTO_SCENE scene;
    mf_Error error = {0};
    hook(file, &tripod);
    assert_fails_as(mf_scene_create(*state, file, NULL, &scene, &error), MF_NOT_FOUND, &error,
                    "no tripod today");
    assert_null(scene.world);
    tripod.refusal = MF_OK;
    file->hooks.genome_bytes = 0;
    assert_int_equal(mf_scene_create(*state, file, NULL, &scene, &error), MF_BAD_ARGUMENT);
    file->hooks.genome_bytes = 65537;
    assert_fails(mf_scene_create(*state, file, NULL, &scene, &error), MF_BAD_ARGUMENT, &error,
                 "found 65537");
    mf_scene_file_destroy(file);

    // Controllers that a file names keep their genomes.
    file = load(*state, "gp");
    hook(file, &tripod);
    scene = make_evaluation(*state, file, 1);
    assert_int_equal(mf_scene_genome_bytes(&scene), MF_GP_BYTES);
}
