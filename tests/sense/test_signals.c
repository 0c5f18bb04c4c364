// Processing of sensor values: saturation, noise, bias, conversion, rate and delay against closed
// forms and against a plain list of all samples; the same bits in every setting; snapshots with
// samples in transit.
#include "sense/signal_rig.h"
#include "model/points.h"

GROUP_FIXTURE(setup_context, teardown_context);

// ---- noise -------------------------------------------------------------------------------------

typedef struct Moments {
    double mean, variance, fourth, next, value, robot; // the last three: correlations
} Moments;

enum { ROBOTS = 500, STATES = 80, VALUES = 6 };

static Moments gather(Rig *rig, const char *name, double center) {
    static double x[STATES][ROBOTS][VALUES];
    Moments m = {0};
    const double all = (double)STATES * ROBOTS * VALUES;
    for (uint32_t s = 0; s < STATES; s++) {
        mf_world_step(rig->world, 1);
        for (uint32_t i = 0; i < ROBOTS; i++)
            for (uint32_t c = 0; c < VALUES; c++)
                x[s][i][c] = rig_get(rig, name, i, c) - center;
    }
    for (uint32_t s = 0; s < STATES; s++)
        for (uint32_t i = 0; i < ROBOTS; i++)
            for (uint32_t c = 0; c < VALUES; c++) {
                double own = x[s][i][c];
                m.mean += own / all;
                m.variance += own * own / all;
                m.fourth += own * own * own * own / all;
                m.next += own * x[(s + 1) % STATES][i][c] / all;
                for (uint32_t other = 0; other < c; other++) // each pair of values
                    m.value += own * x[s][i][other] / (all * 0.5 * (VALUES - 1));
                m.robot += own * x[s][(i + 1) % ROBOTS][c] / all;
            }
    return m;
}

// 240,000 numbers: mean, variance and fourth moment of a normal distribution, and nothing in common
// with the next state, the next robot and any other value - also beyond the fourth. Each bound
// is 4.5 standard deviations of the estimate.
TEST(noise_is_normal_and_white) {
    const double center = 2.0, size = 0.1, n = (double)STATES * ROBOTS * VALUES, far = 4.5;
    AUTO_RIG rig = rig_open(*state, WITH(rig_config(), .count = ROBOTS));
    rig_add(&rig, "gauge", VALUES, &(mf_Signal){.noise = size}, &center);
    Moments m = gather(&rig, "gauge", center);
    double square = size * size;
    assert_near(m.mean, 0, far * size / sqrt(n));
    assert_near(m.variance, square, far * square * sqrt(2 / n));
    assert_near(m.fourth, 3 * square * square, far * square * square * sqrt(96 / n));
    assert_near(m.next, 0, far * square / sqrt(n));
    assert_near(m.value, 0, far * square / sqrt(n * 0.5 * (VALUES - 1)));
    assert_near(m.robot, 0, far * square / sqrt(n));
}

// Two sensors of a robot, and one sensor under two seeds, have nothing in common.
TEST(sensors_and_seeds_are_independent) {
    const double zero = 0.0, far = 4.5;
    double product = 0, seeds = 0;
    Rig rigs[2];
    RigConfig config = WITH(rig_config(), .count = 2000);
    for (int k = 0; k < 2; k++) {
        config.seed = (uint64_t)k + 1;
        rigs[k] = rig_open(*state, config);
        rig_add(&rigs[k], "left", 1, &(mf_Signal){.noise = 1.0}, &zero);
        rig_add(&rigs[k], "right", 1, &(mf_Signal){.noise = 1.0}, &zero);
        mf_world_step(rigs[k].world, 1);
    }
    for (uint32_t i = 0; i < config.count; i++) {
        product += rig_get(&rigs[0], "left", i, 0) * rig_get(&rigs[0], "right", i, 0);
        seeds += rig_get(&rigs[0], "left", i, 0) * rig_get(&rigs[1], "left", i, 0);
    }
    assert_near(product / config.count, 0, far / sqrt(config.count));
    assert_near(seeds / config.count, 0, far / sqrt(config.count));
    rig_close(&rigs[0]);
    rig_close(&rigs[1]);
}

// ---- bias --------------------------------------------------------------------------------------

TEST(a_bias_is_constant_in_an_episode) {
    const double zero = 0.0, n = 2000;
    RigConfig config = WITH(rig_config(), .count = (uint32_t)n, .policy = MF_FAULT_RESET);
    static double first[2000];
    double square = 0, change = 0;
    AUTO_RIG rig = rig_open(*state, config);
    rig_add(&rig, "gauge", 1, &(mf_Signal){.bias = 0.3}, &zero);
    for (uint32_t i = 0; i < config.count; i++) {
        first[i] = rig_get(&rig, "gauge", i, 0);
        square += first[i] * first[i] / n;
    }
    assert_near(square, 0.09, 4.5 * 0.09 * sqrt(2 / n));
    mf_world_step(rig.world, 50);
    for (uint32_t i = 0; i < config.count; i++)
        assert_true(rig_get(&rig, "gauge", i, 0) == first[i]);
    for (uint32_t i = 0; i < config.count; i++)
        rig_set(&rig, "fault.word", i, 0, MF_FAULT_RANGE);
    mf_world_step(rig.world, 1); // a new life has its own
    for (uint32_t i = 0; i < config.count; i++) {
        double distance = rig_get(&rig, "gauge", i, 0) - first[i];
        change += distance * distance / n;
    }
    assert_near(change, 2 * 0.09, 4.5 * 2 * 0.09 * sqrt(2 / n));
    mf_group_reset_all(rig.group); // and the first life comes back
    for (uint32_t i = 0; i < config.count; i++)
        assert_true(rig_get(&rig, "gauge", i, 0) == first[i]);
}

// A random walk: variance drift^2 t, whatever the rate; parts of it that do not overlap have
// nothing in common.
TEST(a_drift_grows_with_the_root_of_time) {
    static const mf_Rate rates[] = {{0, 0}, {20, 1}};
    const double zero = 0.0, n = 2000, drift = 0.2;
    static double half[2000];
    for (int r = 0; r < 2; r++) {
        double square = 0, product = 0;
        RigConfig config = WITH(rig_config(), .count = (uint32_t)n);
        AUTO_RIG rig = rig_open(*state, config);
        rig_add(&rig, "gauge", 1, &(mf_Signal){.rate = rates[r], .drift = drift}, &zero);
        mf_world_step(rig.world, 200); // 2 s
        for (uint32_t i = 0; i < config.count; i++)
            half[i] = rig_get(&rig, "gauge", i, 0);
        mf_world_step(rig.world, 200);
        for (uint32_t i = 0; i < config.count; i++) {
            double whole = rig_get(&rig, "gauge", i, 0);
            square += whole * whole / n;
            product += half[i] * (whole - half[i]) / n;
        }
        assert_near(square, drift * drift * 4, 4.5 * drift * drift * 4 * sqrt(2 / n));
        assert_near(product, 0, 4.5 * drift * drift * 2 / sqrt(n));
    }
}

// ---- saturation and conversion -----------------------------------------------------------------

// Saturated first, then noise: half of the readings are above the limit, with the noise's own size.
// The converter comes last: nothing is beyond its range.
TEST(saturation_is_before_noise_and_conversion_behind) {
    const double five = 5.0, n = 4000;
    double sum = 0, square = 0, above = 0;
    RigConfig config = WITH(rig_config(), .count = (uint32_t)n);
    AUTO_RIG rig = rig_open(*state, config);
    rig_add(&rig, "element", 1, &(mf_Signal){.saturation = {-1, 1}, .noise = 0.01}, &five);
    rig_add(&rig, "converter", 1, &(mf_Signal){.noise = 0.01, .range = {-1, 1}}, &five);
    rig_add(&rig, "both", 1, &(mf_Signal){.saturation = {-1, 1}, .noise = 0.01, .range = {-1, 1}},
            &five);
    mf_world_step(rig.world, 1);
    for (uint32_t i = 0; i < config.count; i++) {
        double x = rig_get(&rig, "element", i, 0) - 1.0;
        sum += x / n;
        square += x * x / n;
        above += (x > 0) / n;
        assert_true(rig_get(&rig, "converter", i, 0) == 1.0);
        assert_true(rig_get(&rig, "both", i, 0) <= 1.0);
        assert_true(rig_get(&rig, "element.raw", i, 0) == 5.0);
    }
    assert_near(sum, 0, 4.5 * 0.01 / sqrt(n));
    assert_near(square, 1e-4, 4.5 * 1e-4 * sqrt(2 / n));
    assert_near(above, 0.5, 4.5 * 0.5 / sqrt(n));
}

// Robot i has the true value -1.5 + i / 100.
static void map_ramp(const mf_SystemRun *run, mf_Field *values, void *user) {
    for (uint32_t i = run->first_block * MF_BLOCK;
         i < (run->first_block + run->block_count) * MF_BLOCK; i++)
        mf_field_set(values, i, 0, -1.5 + 0.01 * i);
}

static void add_ramp(Rig *rig, const char *name, const mf_Signal *signal) {
    MUST(mf_sensor_add(rig->group,
                       &WITH(mf_sensor_config(), .name = name, .signal = *signal, .map = map_ramp),
                       &error));
}

// Four bits over -1 .. 1: sixteen codes 1/8 apart from -1 to 7/8; in between half a step at most.
// mf_signal_convert says the same for one value.
TEST(a_converter_has_steps) {
    const mf_Signal four = {.range = {-1, 1}, .bits = 4}, tenth = {.resolution = 0.1},
                    coarse = {.resolution = 0.4, .range = {-1, 1}};
    for (int floats = 0; floats < 2; floats++) {
        RigConfig config = WITH(rig_config(), .count = 300, .floats = floats);
        bool seen[16] = {false};
        AUTO_RIG rig = rig_open(*state, config);
        add_ramp(&rig, "four", &four);
        add_ramp(&rig, "tenth", &tenth);
        add_ramp(&rig, "coarse", &coarse);
        mf_world_step(rig.world, 1);
        for (uint32_t i = 0; i < config.count; i++) {
            double x = -1.5 + 0.01 * i, y = rig_get(&rig, "four", i, 0), code = (y + 1) * 8;
            assert_true(code == floor(code) && code >= 0 && code <= 15);
            seen[(int)code] = true;
            if (x >= -1 && x <= 0.875)
                assert_near(y, x, 0.0625 + 1e-6);
            assert_near(rig_get(&rig, "tenth", i, 0), x, 0.05 + 1e-6);
            double tenths = rig_get(&rig, "tenth", i, 0) * 10;
            assert_near(tenths, floor(tenths + 0.5), 1e-5);
            assert_true(fabs(rig_get(&rig, "coarse", i, 0)) <= 1.0);
            if (!floats && fabs(x * 10 - floor(x * 10) - 0.5) > 1e-9) { // no tie
                assert_near(rig_get(&rig, "tenth", i, 0), mf_signal_convert(&tenth, x), 1e-15);
                assert_near(y, mf_signal_convert(&four, x),
                            fabs(x * 8 - floor(x * 8) - 0.5) < 1e-9 ? 0.126 : 1e-15);
            }
        }
        for (int k = 0; k < 16; k++)
            assert_true(seen[k]);
        assert_true(rig_get(&rig, "four", 150, 0) == 0.0); // 0 is one of the codes
    }
}

// Rounding over whole steps, of a true value that lies anywhere: mean square error step^2 / 12.
TEST(rounding_errs_as_a_uniform_number) {
    const double zero = 0.0, step = 0.01, n = 20000;
    double square = 0;
    RigConfig config = WITH(rig_config(), .count = (uint32_t)n);
    AUTO_RIG rig = rig_open(*state, config);
    // The same draws without and with a converter, which comes last.
    rig_add(&rig, "gauge", 1, &(mf_Signal){.noise = 1.0}, &zero);
    AUTO_RIG other = rig_open(*state, config);
    rig_add(&other, "gauge", 1, &(mf_Signal){.noise = 1.0, .resolution = step}, &zero);
    for (uint32_t i = 0; i < config.count; i++) {
        double distance = rig_get(&other, "gauge", i, 0) - rig_get(&rig, "gauge", i, 0);
        assert_near(distance, 0, 0.5 * step + 1e-12);
        square += distance * distance / n;
    }
    assert_near(square, step * step / 12, 4.5 * step * step / 12 * sqrt(0.8 / n));
}

// ---- rate and delay ----------------------------------------------------------------------------

// The state of the sample that can be read at `state`: the last one at or before state - lag that
// is the first at or after a tick of the rate.
static double expected_sample(uint64_t state, mf_Rate rate, uint64_t lag, mf_Time step) {
    if (state < lag)
        return 0.0;
    for (uint64_t s = state - lag;; s--)
        if (s == 0 || rate.numerator == 0 || mf_rate_due(rate, (mf_Time)s * step, step))
            return (double)s;
}

TEST(a_delay_is_exact) {
    static const struct {
        mf_Rate rate;
        mf_Time delay;
        uint64_t lag;
    } cases[] = {{{0, 0}, 0, 0},
                 {{0, 0}, 10 * MF_MILLISECOND, 1},
                 {{0, 0}, 30 * MF_MILLISECOND, 3},
                 {{0, 0}, 25 * MF_MILLISECOND, 3}, // made up to whole steps
                 {{0, 0}, 30 * MF_MILLISECOND + 1, 4},
                 {{1000, 1}, 20 * MF_MILLISECOND, 2}, // more often than steps
                 {{100, 1}, 70 * MF_MILLISECOND, 7},
                 {{30, 1}, 0, 0},
                 {{30, 1}, 10 * MF_MILLISECOND, 1},
                 {{30, 1}, 50 * MF_MILLISECOND, 5},
                 {{7, 1}, 333 * MF_MILLISECOND, 34},
                 {{1, 3}, 5000 * MF_MILLISECOND, 500},
                 {{200, 3}, 100 * MF_MILLISECOND, 10},
                 {{99, 1}, 200 * MF_MILLISECOND, 20}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        RigConfig config = WITH(rig_config(), .count = 17);
        AUTO_RIG rig = rig_open(*state, config);
        rig_add(&rig, "gauge", 5, &(mf_Signal){.rate = cases[k].rate, .delay = cases[k].delay},
                NULL);
        for (uint64_t s = 0; s < 1300; s++) {
            double sample = expected_sample(s, cases[k].rate, cases[k].lag, config.step);
            assert_near(rig_get(&rig, "gauge", 0, 0), sample, 0);
            assert_near(rig_get(&rig, "gauge", 16, 4), sample + 4000.016, 1e-9);
            mf_world_step(rig.world, 1);
        }
    }
}

// 30 per second in steps of 10 ms: measured at 0, 40, 70, 100 ms.
TEST(a_slow_sensor_holds_its_reading) {
    static const double sampled[] = {0, 0, 0, 0, 4, 4, 4, 7, 7, 7, 10, 10, 10, 10, 14};
    AUTO_RIG rig = rig_open(*state, rig_config());
    rig_add(&rig, "gauge", 1, &(mf_Signal){.rate = {30, 1}}, NULL);
    for (size_t s = 0; s < sizeof sampled / sizeof *sampled; s++) {
        assert_true(rig_get(&rig, "gauge", 0, 0) == sampled[s]);
        mf_world_step(rig.world, 1);
    }
}

// A reset empties what is under way: until the delay is over its robot reads the start. The others
// see nothing of it.
TEST(a_reset_empties_the_ring) {
    AUTO_RIG rig = rig_open(*state, WITH(rig_config(), .count = 3));
    rig_add(&rig, "gauge", 1, &(mf_Signal){.delay = 50 * MF_MILLISECOND}, NULL);
    mf_world_step(rig.world, 20);
    mf_group_reset(rig.group, 1);
    for (int s = 0; s < 10; s++) {
        double shown = s < 5 ? 20 : 15 + s;
        assert_near(rig_get(&rig, "gauge", 0, 0), 15 + s, 0);
        assert_near(rig_get(&rig, "gauge", 1, 0), shown + 0.001, 1e-12);
        mf_world_step(rig.world, 1);
    }
}

// A picture: very many values at their own rate, late.
TEST(a_camera_fits) {
    enum { PIXELS = 64 * 48 };
    AUTO_RIG rig = rig_open(*state, WITH(rig_config(), .count = 2, .floats = true));
    rig_add(&rig, "camera", PIXELS,
            &(mf_Signal){.rate = {20, 1}, .delay = 30 * MF_MILLISECOND, .resolution = 1.0}, NULL);
    mf_world_step(rig.world, 37);
    for (uint32_t c = 0; c < PIXELS; c++) // state 30, read from 33 on; the next comes at 38
        assert_near(rig_get(&rig, "camera", 1, c), 30 + 1000.0 * c, 0.0);
    mf_world_step(rig.world, 1);
    assert_near(rig_get(&rig, "camera", 1, 1), 1035, 0.0);
}

// ---- the same bits -----------------------------------------------------------------------------

enum { SWARM = 37 };

static void add_all(Rig *rig) {
    rig_add(rig, "rich", 6,
            &(mf_Signal){.rate = {30, 1},
                         .delay = 50 * MF_MILLISECOND,
                         .saturation = {-20, 2e3},
                         .noise = 0.1,
                         .bias = 0.2,
                         .drift = 0.05,
                         .range = {-30, 3e3},
                         .bits = 20},
            NULL);
    rig_add(rig, "plain", 2, &(mf_Signal){.noise = 1.0}, NULL);
    rig_add(rig, "late", 1, &(mf_Signal){.delay = 20 * MF_MILLISECOND, .resolution = 0.01}, NULL);
}

static Rig open_all(mf_Context *context, uint32_t count, uint64_t steps) {
    Rig rig = rig_open(context, WITH(rig_config(), .count = count));
    add_all(&rig);
    mf_world_step(rig.world, steps);
    return rig;
}

TEST(bits_do_not_depend_on_settings) {
    for (int floats = 0; floats < 2; floats++) {
        uint64_t expected[SWARM] = {0};
        bool known = false;
        FOR_EACH_ISA (isa)
            for (uint32_t k = 0; k < 4; k++) {
                // Robots of a smaller group are the same ones.
                const uint32_t count = k < 2 ? SWARM : SWARM - 20;
                AUTO_CONTEXT *context = open_context(k == 3 ? 3 : 1 + k % 2);
                AUTO_RIG rig = rig_open(context, WITH(rig_config(), .isa = isa, .floats = floats,
                                                      .shared = k % 2 == 1, .count = count));
                add_all(&rig);
                if ((k + isa) % 2 == 0)
                    mf_world_step(rig.world, 123);
                else
                    for (int s = 0; s < 123; s++)
                        mf_world_step(rig.world, 1);
                for (uint32_t i = 0; i < count; i++) {
                    uint64_t hash = MF_HASH_START;
                    for (uint32_t c = 0; c < 6; c++) {
                        double value = rig_get(&rig, "rich", i, c);
                        hash = mf_hash_bytes(hash, &value, sizeof value);
                    }
                    double others[2] = {rig_get(&rig, "plain", i, 1), rig_get(&rig, "late", i, 0)};
                    hash = mf_hash_bytes(hash, others, sizeof others);
                    if (known)
                        assert_true(hash == expected[i]);
                    expected[i] = hash;
                }
                known = true;
            }
        assert_true(expected[3] != expected[4]);
    }
}

// NaN in one robot and in the memory of its sensors.
TEST(corrupted_states_do_not_spread) {
    AUTO_RIG clean = open_all(*state, SWARM, 30), sick = open_all(*state, SWARM, 30);
    for (uint32_t f = 0; f < mf_group_field_count(sick.group); f++) {
        mf_Field *field = mf_group_field(sick.group, f);
        bool real = field->info.type == MF_F32 || field->info.type == MF_F64;
        for (uint32_t c = 0; real && c < field->components; c++)
            mf_field_set(field, 7, c, NAN);
    }
    mf_world_step(clean.world, 40);
    mf_world_step(sick.world, 40);
    assert_others_same(clean.group, sick.group, 7);
}

// True values that are not finite count as 0; a robot with a fault keeps its readings.
TEST(readings_are_finite_and_stay_with_a_fault) {
    const double bad = NAN;
    AUTO_RIG rig = rig_open(*state, WITH(rig_config(), .count = 2));
    rig_add(&rig, "bad", 2, &(mf_Signal){.range = {-1, 1}, .bits = 8}, &bad);
    rig_add(&rig, "gauge", 1, &(mf_Signal){.delay = 20 * MF_MILLISECOND}, NULL);
    mf_world_step(rig.world, 5);
    assert_true(rig_get(&rig, "bad", 0, 1) == 0.0);
    rig_set(&rig, "fault.word", 1, 0, MF_FAULT_RANGE);
    mf_world_step(rig.world, 5);
    assert_near(rig_get(&rig, "gauge", 0, 0), 8, 0);
    assert_near(rig_get(&rig, "gauge", 1, 0), 3.001, 1e-12);
}

// Images taken at every moment of a delay go on as if nothing had happened.
TEST(images_contain_samples_in_transit) {
    for (uint64_t first = 1; first < 40; first += 3) {
        AUTO_RIG one = open_all(*state, 18, first);
        AUTO_RIG two = open_all(*state, 18, 3 * first + 11); // another past
        size_t size;
        AUTO(end_memory) void *image = take_snapshot(one.world, &size);
        MUST(mf_world_restore(two.world, image, size, &error));
        mf_world_step(one.world, 31);
        mf_world_step(two.world, 31);
        assert_true(mf_world_hash(one.world) == mf_world_hash(two.world));
        // A world whose sensors are set otherwise is another one.
        AUTO_RIG other = rig_open(*state, WITH(rig_config(), .count = 18));
        rig_add(&other, "rich", 6, &(mf_Signal){.delay = 50 * MF_MILLISECOND}, NULL);
        assert_int_not_equal(mf_world_restore(other.world, image, size, NULL), MF_OK);
    }
}

// ---- ground truth and user-defined sensors -----------------------------------------------------

TEST(any_field_is_a_sensor) {
    AUTO_RIG rig = rig_open(*state, WITH(rig_config(), .count = 20, .floats = true));
    const mf_Signal late = {.delay = 20 * MF_MILLISECOND};
    MUST(mf_sensor_add_field(rig.group, "where", "base.position", 1, 2, &late, &error));
    MUST(mf_sensor_add_field(rig.group, "lives", "fault.count", 0, 1, NULL, &error));
    for (int s = 0; s < 10; s++) {
        rig_set(&rig, "base.position", 19, 2, s);
        rig_set(&rig, "fault.count", 3, 0, 100 + s);
        mf_world_step(rig.world, 1);
    }
    assert_true(rig_get(&rig, "where", 19, 1) == 7.0);
    assert_true(rig_get(&rig, "where", 18, 1) == rig_get(&rig, "base.position", 18, 2));
    assert_true(rig_get(&rig, "lives", 3, 0) == 109.0);
    assert_string_equal(mf_group_find_field(rig.group, "where")->info.unit, "m");
    MUST_FAIL_AS(mf_sensor_add_field(rig.group, "x", "no.such", 0, 1, NULL, &error), MF_NOT_FOUND,
                 "sensor x: group robots has no field no.such");
    MUST_FAIL_AS(mf_sensor_add_field(rig.group, "x", "base.position", 2, 2, NULL, &error),
                 MF_BAD_ARGUMENT,
                 "sensor x: field base.position has 3 values, expected 2 from number 2 on");
}

// The example of docs/reference/sensors.md: a barometer.
static void map_pressure(const mf_SystemRun *run, mf_Field *values, void *user) {
    const double sea_level = 101325.0, weight = 12.013; // [Pa], [Pa/m] of standard air there
    const mf_Field *position = mf_group_find_field(run->group, "base.position");
    for (uint32_t i = run->first_block * MF_BLOCK;
         i < (run->first_block + run->block_count) * MF_BLOCK; i++)
        mf_field_set(values, i, 0, sea_level - weight * mf_field_get(position, i, 2));
}

static mf_Status add_barometer(mf_Group *group, mf_Error *error) {
    static const char *const reads[] = {"base.position", NULL};
    mf_SensorConfig config =
        WITH(mf_sensor_config(), .name = "barometer", .unit = "Pa",
             .description = "pressure of the air at the base", .map = map_pressure, .reads = reads);
    config.signal = (mf_Signal){.rate = {25, 1},
                                .delay = 40 * MF_MILLISECOND,
                                .noise = 1.3,
                                .bias = 100.0,
                                .range = {30000, 110000},
                                .resolution = 0.18};
    return mf_sensor_add(group, &config, error);
}

TEST(a_barometer_takes_thirty_lines) {
    const double n = 1000;
    double mean = 0, square = 0;
    RigConfig config = WITH(rig_config(), .count = (uint32_t)n);
    AUTO_RIG rig = rig_open(*state, config);
    MUST(add_barometer(rig.group, &error));
    for (uint32_t i = 0; i < config.count; i++)
        rig_set(&rig, "base.position", i, 2, 50.0);
    mf_world_step(rig.world, 8);
    for (uint32_t i = 0; i < config.count; i++) {
        double x = rig_get(&rig, "barometer", i, 0) - (101325.0 - 12.013 * 50.0);
        mean += x / n;
        square += x * x / n;
    }
    double variance = 100.0 * 100.0 + 1.3 * 1.3;
    assert_near(mean, 0, 4.5 * sqrt(variance / n));
    assert_near(square, variance, 4.5 * variance * sqrt(2 / n));
}

// ---- failures ----------------------------------------------------------------------------------

static mf_Status make_and_step(mf_Context *context, void *user, mf_Error *error) {
    AUTO_WORLD *made = NULL;
    mf_Group *robots;
    const mf_Signal late = {.delay = 20 * MF_MILLISECOND, .bias = 1.0};
    MF_TRY(
        try_group(context, NULL, &WITH(mf_group_config(), .model = user), &made, &robots, error));
    MF_TRY(add_barometer(robots, error));
    MF_TRY(mf_sensor_add_field(robots, "truth", "base.position", 0, 3, &late, error));
    mf_world_step(made, 5);
    return MF_OK;
}

TEST(adding_survives_every_failure) {
    AUTO_MODEL *model = load_text(*state, ROBOT);
    assert_true(torture(*state, make_and_step, model, TORTURE_MUST_FAIL) > 10);
}

// What failed can be tried again: names of fields that were left behind are still there.
TEST(a_failed_attempt_can_be_repeated) {
    for (uint64_t call = 1; call < 8; call++) {
        AUTO_RIG rig = rig_open(*state, rig_config());
        mf_context_fail_after(*state, call);
        mf_Status first = add_barometer(rig.group, NULL);
        mf_context_fail_after(*state, 0);
        if (first == MF_NO_MEMORY)
            MUST(add_barometer(rig.group, &error));
        mf_world_step(rig.world, 1);
        assert_non_null(mf_group_find_field(rig.group, "barometer"));
    }
}

TEST(mistakes_are_refused) {
    static const struct {
        mf_Signal signal;
        const char *text;
    } bad[] = {{{.noise = -1}, "noise, expected a number >= 0, found -1"},
               {{.noise = NAN}, "noise"},
               {{.bias = INFINITY}, "bias"},
               {{.drift = -0.1}, "drift"},
               {{.resolution = -0.1}, "resolution"},
               {{.delay = -1}, "delay, expected 0 to 1000 s"},
               {{.delay = INT64_MAX}, "delay"},
               {{.rate = {0, 1}}, "rate is 0/1, need two positive numbers"},
               {{.rate = {10, -1}}, "rate"},
               {{.range = {1, -1}}, "range, expected two numbers, the smaller first"},
               {{.range = {1, 1}}, "range"},
               {{.saturation = {NAN, 1}}, "saturation"},
               {{.bits = 8}, "8 bits need a range"},
               {{.bits = 25, .range = {-1, 1}}, "bits, expected 0 to 24, found 25"},
               {{.bits = 8, .range = {-1, 1}, .resolution = 0.1}, "bits and a resolution"}};
    const mf_SensorConfig sensor = WITH(mf_sensor_config(), .name = "gauge", .map = map_number);
    AUTO_RIG rig = rig_open(*state, rig_config());
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        MUST_FAIL(mf_sensor_add(rig.group, &WITH(sensor, .signal = bad[i].signal), &error),
                  MF_BAD_ARGUMENT, bad[i].text);
    assert_null(mf_group_find_field(rig.group, "gauge"));
    MUST_FAIL(mf_sensor_add(rig.group,
                            &WITH(sensor, .signal.delay = 1000 * MF_SECOND, .count = 1 << 20),
                            &error),
              MF_LIMIT, "");
    MUST_FAIL(mf_sensor_add(rig.group, &WITH(sensor, .count = 0), &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_sensor_add(rig.group, &WITH(sensor, .map = NULL), &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_sensor_add(rig.group, &WITH(sensor, .struct_size = 0), &error), MF_BAD_ARGUMENT,
              "");
}
