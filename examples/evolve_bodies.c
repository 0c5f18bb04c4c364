// Bodies and gaits of legged robots evolve together: four to eight legs, their lengths, the axis of
// their hips, with or without knees, and how they swing. usage: example_evolve_bodies [GENERATIONS]
// docs/how_to/evolve_a_body.md explains it.
#include <mayfly/mayfly.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LEGS = 8, BATCH = 32 };

// A genome: bytes of the body, then of the gait.
typedef struct Genes {
    uint8_t pairs, upper, lower, trunk, joints; // the body
    uint8_t frequency, swing[2], center[2], phase[2][MOST_LEGS];
} Genes;
enum { BODY_GENES = offsetof(Genes, frequency) };

static double between(uint8_t gene, double lower, double upper) {
    return lower + gene / 255.0 * (upper - lower);
}

// ---- from genes to a robot ---------------------------------------------------------------------

static uint32_t legs_of(const Genes *genes) {
    return 2 * (2 + genes->pairs % 3u);
}

static bool has_knees(const Genes *genes) {
    return genes->joints & 1;
}

// A leg straight down from a corner of the trunk, on a hinge that swings it forward or outward.
static void add_leg(mf_Builder *builder, mf_BodyId trunk, const Genes *genes, uint32_t leg) {
    const double axes[2][3] = {{0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    const double side = leg % 2 == 0 ? 1.0 : -1.0, half = 0.5 * between(genes->trunk, 0.15, 0.5);
    const double along = half - 2.0 * half * (leg / 2) / (legs_of(genes) / 2 - 1);
    const double upper = between(genes->upper, 0.04, 0.14),
                 lower = between(genes->lower, 0.05, 0.2);
    const double hip[3] = {along, 0.06 * side, 0.0};
    const double knee[3] = {along, 0.06 * side + upper * side, 0.0};
    const double foot[3] = {along, knee[1], -lower};
    mf_JointConfig hinge = mf_hinge_config();
    hinge.lower = -0.9;
    hinge.upper = 0.9;
    mf_BodyId thigh = mf_body_create_cylinder(builder, hip, knee, 0.01, 0.3 * upper, NULL);
    mf_BodyId shin = mf_body_create_cylinder(builder, knee, foot, 0.01, 0.3 * lower, NULL);
    mf_joint_create_hinge(builder, trunk, thigh, hip, axes[genes->joints >> 1 & 1], &hinge);
    if (has_knees(genes))
        mf_joint_create_hinge(builder, thigh, shin, knee, (double[3]){1.0, 0.0, 0.0}, &hinge);
    else
        mf_body_connect(builder, thigh, shin);
}

static mf_Status build(mf_Context *context, const Genes *genes, mf_Model **out, mf_Error *error) {
    mf_Builder *builder;
    MF_TRY(mf_builder_create(context, "walker", &builder, error));
    mf_builder_simplify(builder, 1);
    const double size[3] = {between(genes->trunk, 0.15, 0.5), 0.1, 0.04}, center[3] = {0};
    mf_BodyId trunk = mf_body_create_box(builder, size, center, 4.0 * size[0], NULL);
    for (uint32_t leg = 0; leg < legs_of(genes); leg++)
        add_leg(builder, trunk, genes, leg);
    mf_Status status = mf_builder_finalize(builder, out, error);
    mf_builder_destroy(builder);
    return status;
}

// Joints are in the order of their creation: each hip is followed by its knee.
static void set_gait(mf_Group *group, uint32_t robot, const Genes *genes) {
    mf_Field *offset = mf_group_find_field(group, "oscillator.offset");
    mf_Field *amplitude = mf_group_find_field(group, "oscillator.amplitude");
    mf_Field *phase = mf_group_find_field(group, "oscillator.phase");
    uint32_t kinds = has_knees(genes) ? 2 : 1;
    for (uint32_t leg = 0; leg < legs_of(genes); leg++) {
        double side = leg % 2 == 0 ? 1.0 : -1.0;
        for (uint32_t kind = 0; kind < kinds; kind++) {
            uint32_t joint = leg * kinds + kind;
            mf_field_set(offset, robot, joint, side * between(genes->center[kind], -0.4, 0.4));
            mf_field_set(amplitude, robot, joint, between(genes->swing[kind], 0.0, 0.5));
            mf_field_set(phase, robot, joint, genes->phase[kind][leg] / 256.0);
        }
    }
    mf_field_set(mf_group_find_field(group, "oscillator.frequency"), robot, 0,
                 between(genes->frequency, 0.2, 2.0));
}

// ---- a batch of different bodies ---------------------------------------------------------------

// The different bodies of a batch; robots with equal bodies share a model and a group.
typedef struct Zoo {
    mf_Context *context;
    mf_World *world;
    uint32_t bodies;
    mf_Model *model[BATCH];
    mf_Group *group[BATCH];
    uint32_t robots[BATCH];   // of each body
    uint32_t first[BATCH];    // a genome with that body
    uint32_t body[BATCH];     // of each genome
    uint32_t instance[BATCH]; // of each genome in its group
} Zoo;

static void sort_by_body(Zoo *zoo, const Genes *genes, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t body = 0;
        while (body < zoo->bodies && memcmp(&genes[zoo->first[body]], &genes[i], BODY_GENES) != 0)
            body++;
        if (body == zoo->bodies) {
            zoo->bodies++;
            zoo->first[body] = i;
        }
        zoo->body[i] = body;
        zoo->instance[i] = zoo->robots[body]++;
    }
}

static mf_Status add_body(Zoo *zoo, uint32_t body, const Genes *genes, mf_Error *error) {
    char name[16];
    MF_TRY(build(zoo->context, &genes[zoo->first[body]], &zoo->model[body], error));
    snprintf(name, sizeof name, "body%u", body);
    mf_GroupConfig config = mf_group_config();
    config.name = name;
    config.model = zoo->model[body];
    config.count = zoo->robots[body];
    mf_Status status = mf_world_add_group(zoo->world, &config, &zoo->group[body], error);
    mf_MotionsConfig motion = mf_motions_config();
    motion.points.friction_coefficient = 0.8;
    if (status == MF_OK)
        status = mf_motion_add(zoo->group[body], MF_MOTION_POINTS, &motion, error);
    if (status == MF_OK)
        status = mf_oscillator_add(zoo->group[body], NULL, error);
    return status;
}

static mf_Status walk(Zoo *zoo, const Genes *genes, uint32_t count, double *fitness,
                      mf_Error *error) {
    mf_WorldConfig config = mf_world_config();
    mf_Status status = mf_world_create(zoo->context, &config, &zoo->world, error);
    sort_by_body(zoo, genes, count);
    for (uint32_t body = 0; body < zoo->bodies && status == MF_OK; body++)
        status = add_body(zoo, body, genes, error);
    if (status != MF_OK)
        return status;
    for (uint32_t i = 0; i < count; i++)
        set_gait(zoo->group[zoo->body[i]], zoo->instance[i], &genes[i]);
    mf_world_step(zoo->world, 1000); // 10 s, all bodies at the same time
    for (uint32_t i = 0; i < count; i++) {
        const mf_Group *group = zoo->group[zoo->body[i]];
        const mf_Field *position = mf_group_find_field(zoo->group[zoo->body[i]], "base.position");
        fitness[i] = mf_group_fault(group, zoo->instance[i]) != 0
                         ? NAN
                         : mf_field_get(position, zoo->instance[i], 0);
    }
    return MF_OK;
}

static mf_Status evaluate(void *user, const uint8_t *genomes, uint32_t count, uint32_t genome_bytes,
                          double *fitness, mf_Error *error) {
    Genes genes[BATCH];
    Zoo zoo = {.context = user};
    memcpy(genes, genomes, (size_t)count * genome_bytes);
    mf_Status status = walk(&zoo, genes, count, fitness, error);
    mf_world_destroy(zoo.world);
    for (uint32_t body = 0; body < zoo.bodies; body++)
        mf_model_destroy(zoo.model[body]);
    return status;
}

// ---- the search --------------------------------------------------------------------------------

static void print(const mf_Search *search) {
    mf_Individual best = mf_search_individual(search, 0);
    Genes genes;
    memcpy(&genes, best.genome, sizeof genes);
    printf("generation %2u: %5.2f m on %u legs of %.2f m%s\n", mf_search_generation(search),
           best.fitness, legs_of(&genes), between(genes.lower, 0.05, 0.2),
           has_knees(&genes) ? " with knees" : "");
}

int main(int argc, char **argv) {
    uint32_t generations = argc > 1 ? (uint32_t)atoi(argv[1]) : 20;
    mf_Context *context = NULL;
    mf_Search *search = NULL;
    mf_Error error = {0};
    mf_Status status = mf_context_create(NULL, &context, &error);
    mf_SearchConfig config = mf_search_config();
    config.population = 64;
    config.genome_bytes = sizeof(Genes);
    config.selection = MF_SELECTION_TOURNAMENT;
    config.replacement = MF_REPLACEMENT_RANDOM; // steady state
    config.batch = BATCH;
    config.evaluate = evaluate;
    config.user = context;
    config.seed = 1;
    if (status == MF_OK)
        status = mf_search_create(context, &config, &search, &error);
    while (status == MF_OK && mf_search_generation(search) < generations) {
        status = mf_search_advance(search, &error);
        if (status == MF_OK && mf_search_generation(search) % 5 == 0)
            print(search);
    }
    char text[1024];
    if (status != MF_OK)
        fprintf(stderr, "%s\n", mf_error_format(&error, text, sizeof text));
    mf_search_destroy(search);
    mf_context_destroy(context);
    return status == MF_OK ? 0 : 1;
}
