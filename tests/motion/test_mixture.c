// Particles of different groups: fluids with grains and with each other. Their bits (batch.h),
// momentum, substeps, what is refused.
#include "motion/batch.h"

GROUP_FIXTURE(make_context, drop_context);

enum { WATER, OIL, SAND, GROUPS };
static const uint32_t counts[GROUPS] = {6 * 6 * 6, 6 * 6 * 4, 40};
static const double radii[GROUPS] = {0.01, 0.01, 0.008};     // [m]
static const double masses[GROUPS] = {0.008, 0.0064, 0.005}; // [kg]
static const double spacings[GROUPS] = {0.02, 0.02, 0.026};  // [m]
static const char *const names[GROUPS] = {"water", "oil", "sand"};

typedef struct Tank {
    mf_Context *context;
    mf_World *world;
    mf_Model *models[GROUPS];
    mf_Group *groups[GROUPS];
} Tank;

typedef struct Options {
    mf_Isa isa;
    bool precise;
    double gravity, grain; // [m/s^2], [m] radius
    uint32_t groups;       // [1] bits of those that there are
} Options;

static const Options usual = {MF_ISA_AUTO, true, 0.0, 0.008, 7};

static double scatter(uint32_t index) {
    uint32_t words[4];
    mf_random(11, index, 2, 0, words);
    return 2.0 * mf_random_unit_double(words[0], words[1]) - 1.0;
}

// Water, oil above it, and sand within both, 100 m above the ground.
static mf_Status place(const Tank *tank, uint32_t g, mf_Error *error) {
    mf_Status status = MF_OK;
    const uint32_t columns = g == SAND ? 5 : 6;
    for (uint32_t i = 0; i < counts[g] && status == MF_OK; i++) {
        const uint32_t at[3] = {i % columns, i / columns % columns, i / columns / columns};
        double position[3], velocity[3];
        for (uint32_t c = 0; c < 3; c++) {
            position[c] = spacings[g] * (at[c] + 0.1 * scatter(100000 * g + 6 * i + c));
            velocity[c] = 0.5 + scatter(100000 * g + 6 * i + 3 + c);
        }
        position[2] += 100.0 + (g == OIL ? 0.12 : g == SAND ? 0.09 : 0.0);
        status = mf_group_set_start(tank->groups[g], i, position, NULL, NULL, error);
        for (uint32_t c = 0; c < 3 && status == MF_OK; c++)
            set_field(tank->groups[g], "base.linear_velocity", i, c, velocity[c]);
    }
    return status;
}

static mf_Status add(Tank *tank, const Options *options, uint32_t g, mf_Error *error) {
    static const double origin[3] = {0.0, 0.0, 0.0};
    mf_GroupConfig config = mf_group_config();
    mf_FluidConfig fluid = mf_motions_config().fluid;
    mf_Builder *builder = NULL;
    MF_TRY(mf_builder_create(tank->context, names[g], &builder, error));
    mf_body_create_sphere(builder, origin, g == SAND ? options->grain : radii[g], masses[g], NULL);
    mf_Status status = mf_builder_finalize(builder, &tank->models[g], error);
    mf_builder_destroy(builder);
    config.name = names[g];
    config.model = tank->models[g];
    config.count = counts[g];
    config.isolated = false;
    config.double_precision = options->precise;
    if (status == MF_OK)
        status = mf_world_add_group(tank->world, &config, &tank->groups[g], error);
    fluid.density = g == OIL ? 800.0 : 1000.0;
    fluid.viscosity = g == OIL ? 1e-3 : 1e-5;
    if (status == MF_OK)
        status = g == SAND ? mf_motion_add(tank->groups[g], MF_MOTION_GRAINS, NULL, error)
                           : rig_add_fluid(tank->groups[g], &fluid, error);
    return status == MF_OK ? place(tank, g, error) : status;
}

static mf_Status fill(Tank *tank, mf_Context *context, const Options *options, mf_Error *error) {
    *tank = (Tank){.context = context};
    MF_TRY(mf_world_create(context,
                           &WITH(mf_world_config(), .step = 2 * MF_MILLISECOND,
                                 .gravity = options->gravity, .isa = options->isa),
                           &tank->world, error));
    for (uint32_t g = 0; g < GROUPS; g++)
        if (options->groups >> g & 1)
            MF_TRY(add(tank, options, g, error));
    return mf_particles_couple(tank->world, error);
}

static void drain(Tank *tank) {
    mf_world_destroy(tank->world);
    for (uint32_t g = 0; g < GROUPS; g++)
        mf_model_destroy(tank->models[g]);
}

static Tank open_tank(mf_Context *context, const Options *options) {
    Tank tank;
    MUST(fill(&tank, context, options, &error));
    return tank;
}

// [kg m/s] Of one group, and the sum of sizes.
static double momentum_of(const Tank *tank, uint32_t g, double out[3]) {
    double size = 0.0;
    for (uint32_t i = 0; tank->groups[g] != NULL && i < counts[g]; i++) {
        double center[3], linear[3], angular[3];
        mf_motion_momentum(tank->groups[g], i, center, linear, angular);
        for (int c = 0; c < 3; c++) {
            out[c] += linear[c];
            size += fabs(linear[c]);
        }
    }
    return size;
}

TEST(momentum_is_exchanged_and_kept) {
    for (uint32_t groups = 3; groups <= 7; groups++) {
        if (groups == 4)
            continue; // sand alone
        AUTO(drain) Tank tank = open_tank(*state, &WITH(usual, .groups = groups));
        double before[3] = {0}, size = 0.0;
        for (uint32_t g = 0; g < GROUPS; g++)
            size += momentum_of(&tank, g, before);
        for (int k = 0; k < 10; k++) {
            double own[2][GROUPS][3] = {0}, after[3] = {0};
            for (uint32_t g = 0; g < GROUPS; g++)
                momentum_of(&tank, g, own[0][g]);
            mf_world_step(tank.world, 1);
            for (uint32_t g = 0; g < GROUPS; g++) {
                momentum_of(&tank, g, own[1][g]);
                momentum_of(&tank, g, after);
                if (groups >> g & 1)
                    assert_true(fabs(own[1][g][0] - own[0][g][0]) > 1e-9 * size);
            }
            for (int c = 0; c < 3; c++) {
                assert_true(fabs(after[c] - before[c]) < 1e-12 * size);
                before[c] = after[c];
            }
        }
        for (uint32_t g = 0; g < GROUPS; g++)
            assert_true(tank.groups[g] == NULL || mf_group_fault_total(tank.groups[g]) == 0);
    }
}

static mf_Status open(Batch *batch, mf_Error *error) {
    Tank tank;
    const Options options = {batch->world.isa, batch->option == 1, 9.81, 0.008, 7};
    const mf_Status status = fill(&tank, batch->rig.context, &options, error);
    batch->rig.world = tank.world;
    batch->rig.group = tank.groups[0];
    batch->rig.model = tank.models[0];
    memcpy(batch->rig.others, tank.models + 1, sizeof batch->rig.others);
    return status;
}

static const BatchKind batch_kind = {.options = 2, .steps = 5, .many = 1, .open = open};

// Two heaps of grains pass through each other; one group of particles has its own substeps.
TEST(substeps_are_those_of_the_group_that_needs_most) {
    uint32_t alone[GROUPS], most = 0;
    for (uint32_t g = 0; g < GROUPS; g++) {
        AUTO(drain) Tank tank = open_tank(*state, &WITH(usual, .groups = 1u << g));
        alone[g] = mf_particles_substeps(tank.groups[g]);
        most = alone[g] > most ? alone[g] : most;
    }
    AUTO(drain) Tank tank = open_tank(*state, &usual);
    for (uint32_t g = 0; g < GROUPS; g++)
        assert_int_equal(mf_particles_substeps(tank.groups[g]), most);
    assert_true(alone[SAND] != alone[WATER]);
}

TEST(large_grains_are_refused) {
    Options options = usual;
    AUTO(drain) Tank tank;
    options.grain = 0.021; // the reach is 40 mm
    MUST_FAIL(fill(&tank, *state, &options, &error), MF_UNSUPPORTED,
              "the grains of group sand have a diameter of 0.042 m");
}
