// Robots do not feel each other: a robot alone is, bit for bit, that robot in any lane of any batch
// on any instruction set and number of threads; a robot with a poisoned state changes no bit of its
// neighbours and says what is wrong; images of a world continue bit for bit.
#include "motion/stage.h"

#include <stdlib.h>

static const mf_Isa isas[] = {MF_ISA_SCALAR, MF_ISA_BASELINE, MF_ISA_AVX2, MF_ISA_AVX512};

enum { ROBOTS = 40, UPDATES = 12, STEPS = 8 };

typedef struct Options {
    mf_FrictionModel friction;
    bool weighted, keep_momentum, double_precision;
    double coefficient;
    mf_Interpolation interpolation;
    bool level;
} Options;

static const Options all_options[] = {
    {MF_FRICTION_FIT, false, false, false, INFINITY, MF_NEAREST, true},
    {MF_FRICTION_FIT, false, false, false, INFINITY, MF_NEAREST, false},
    {MF_FRICTION_FIT, true, true, false, 0.5, MF_BILINEAR, false},
    {MF_FRICTION_FIT, false, true, true, 0.5, MF_NEAREST, false},
    {MF_FRICTION_COUPLED, false, false, false, INFINITY, MF_BILINEAR, false},
    {MF_FRICTION_COUPLED, true, true, false, 0.6, MF_NEAREST, false},
    {MF_FRICTION_COUPLED, true, true, true, 0.6, MF_NEAREST, true},
};
enum { OPTIONS = sizeof all_options / sizeof *all_options };

typedef struct Crowd {
    Stage stage;
    mf_Terrain *terrain;
    uint32_t first; // number of the robot in lane 0
    uint64_t updates;
} Crowd;

// Robot `number` starts at a height, speed and spin of its own: some stand, some fly, some tumble.
static void place_robot(Crowd *crowd, uint32_t instance, uint32_t number) {
    const char *names[] = {"base.position", "base.linear_velocity", "base.angular_velocity"};
    for (uint32_t f = 0; f < 3; f++) {
        mf_Field *field = stage_field(&crowd->stage, names[f]);
        for (uint32_t c = 0; c < 3; c++) {
            double value = random_signed(100 + f, number * 3 + c);
            double start = mf_field_get(field, instance, c);
            double size = number % 4 == 0 ? 0.0 : f == 0 ? 0.1 : f == 1 ? 1.0 : 4.0;
            if (f == 0 && c == 2)
                value = number % 4 == 1 ? 10.0 : number % 4 == 2 ? 1.0 : 0.0;
            mf_field_set(field, instance, c, start + size * value);
        }
    }
}

static void crowd_open(Crowd *crowd, const Options *options, mf_Isa isa, uint32_t threads,
                       uint32_t first, uint32_t count) {
    stage_begin(&crowd->stage, threads);
    make_hexapod(&crowd->stage.hand);
    StageConfig config = stage_config(options->double_precision);
    config.world.isa = isa;
    config.group.count = count;
    config.points.friction = options->friction;
    config.points.weighted = options->weighted;
    config.points.keep_momentum = options->keep_momentum;
    config.points.friction_coefficient = options->coefficient;
    crowd->terrain =
        make_terrain(crowd->stage.context, options->level ? MF_TERRAIN_FLAT : MF_TERRAIN_NOISE,
                     options->interpolation, 0.05, 1.0, 0.1);
    config.world.terrain = crowd->terrain;
    stage_open(&crowd->stage, &config);
    crowd->first = first;
    crowd->updates = 0;
    for (uint32_t i = 0; i < count; i++)
        place_robot(crowd, i, first + i);
}

static void crowd_close(Crowd *crowd) {
    stage_close(&crowd->stage, crowd->terrain);
}

static void crowd_targets(Crowd *crowd) {
    mf_Field *target = stage_field(&crowd->stage, "joint.target");
    for (uint32_t i = 0; i < mf_group_count(crowd->stage.group); i++)
        for (uint32_t j = 0; j < target->components; j++) {
            uint64_t n = (crowd->updates * 1000 + crowd->first + i) * 32 + j;
            mf_field_set(target, i, j, 0.8 * random_signed(200, n));
        }
    crowd->updates++;
}

static void crowd_run(Crowd *crowd, int updates) {
    for (int u = 0; u < updates; u++) {
        crowd_targets(crowd);
        mf_world_step(crowd->stage.world, STEPS);
    }
}

// Says in which field an instance differs.
static void explain(Crowd *a, uint32_t ia, Crowd *b, uint32_t ib) {
    for (uint32_t f = 0; f < mf_group_field_count(a->stage.group); f++) {
        mf_Field *x = mf_group_field(a->stage.group, f), *y = mf_group_field(b->stage.group, f);
        for (uint32_t c = 0; c < x->components; c++) {
            double p = mf_field_get(x, ia, c), q = mf_field_get(y, ib, c);
            if (memcmp(&p, &q, sizeof p) != 0)
                print_error("  %s[%u]: %.17g, %.17g\n", x->info.name, c, p, q);
        }
    }
}

static void alone_is_the_same_as_in_any_lane(void **state) {
    (void)state;
    for (size_t o = 0; o < OPTIONS; o++) {
        // The reference: each robot alone, one lane.
        static Crowd alone[ROBOTS];
        uint64_t hash[ROBOTS];
        for (uint32_t r = 0; r < ROBOTS; r++) {
            crowd_open(&alone[r], &all_options[o], MF_ISA_SCALAR, 1, r, 1);
            crowd_run(&alone[r], UPDATES);
            assert_int_equal(mf_group_fault_total(alone[r].stage.group), 0);
            hash[r] = mf_group_instance_hash(alone[r].stage.group, 0);
        }
        for (size_t s = 0; s < sizeof isas / sizeof *isas; s++) {
            if (!mf_isa_available(isas[s]))
                continue;
            // Every count, and a first robot that moves each of them through the lanes.
            for (uint32_t count = 1; count <= ROBOTS; count++) {
                uint32_t first = (count * 7) % (ROBOTS - count + 1);
                static Crowd crowd;
                crowd_open(&crowd, &all_options[o], isas[s], 1, first, count);
                crowd_run(&crowd, UPDATES);
                for (uint32_t i = 0; i < count; i++) {
                    if (mf_group_instance_hash(crowd.stage.group, i) == hash[first + i])
                        continue;
                    print_error("options %zu, %s, %u robots: robot %u in lane %u differs\n", o,
                                mf_isa_name(isas[s]), count, first + i, i);
                    explain(&alone[first + i], 0, &crowd, i);
                    fail();
                }
                crowd_close(&crowd);
            }
        }
        for (uint32_t r = 0; r < ROBOTS; r++)
            crowd_close(&alone[r]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_is_the_same_as_in_any_lane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
