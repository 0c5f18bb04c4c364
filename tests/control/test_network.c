// Networks against the same sums computed with the C library in double, and rejected settings.
#include "control/robot.h"

enum { HIDDEN = 5, LAYER2 = 3, ROBOTS = 19 };

static const uint32_t hidden[] = {HIDDEN, LAYER2};
static const char *const inputs[] = {"base.position", "joint.angle", NULL};
enum { INPUTS = 3 + ROBOT_JOINTS };

// Numbers in -1 .. 1 that are exact in float.
static double number(uint32_t instance, uint32_t component) {
    uint32_t words[4];
    mf_random(7, instance, 1, component, words);
    return (double)(int32_t)(words[0] >> 8) * 0x1p-23 - 1.0;
}

static Fixture open_network(mf_Isa isa, bool precise, uint32_t hidden_count) {
    Fixture fixture = fixture_open(isa, precise, ROBOTS);
    MUST(mf_network_add(fixture.group,
                        &WITH(mf_network_config(), .rate = fixture_every_step(), .inputs = inputs,
                              .hidden = hidden, .hidden_count = hidden_count),
                        &error));
    const mf_Field *weight = mf_group_find_field(fixture.group, "network.weight");
    for (uint32_t i = 0; i < ROBOTS; i++) {
        for (uint32_t c = 0; c < weight->components; c++)
            fixture_set(&fixture, "network.weight", i, c, number(i, c));
        for (uint32_t j = 0; j < ROBOT_JOINTS; j++)
            fixture_set(&fixture, "joint.angle", i, j, 0.5 * number(i, 10000 + j));
    }
    return fixture;
}

// Layers of the definition in the header, one robot, by libm. Returns the rest of the weights.
static uint32_t layer(Fixture *fixture, uint32_t robot, uint32_t at, const double *in,
                      uint32_t size, uint32_t units, double *out) {
    for (uint32_t u = 0; u < units; u++) {
        double sum = fixture_get(fixture, "network.weight", robot, at + size);
        for (uint32_t i = 0; i < size; i++)
            sum += fixture_get(fixture, "network.weight", robot, at + i) * in[i];
        out[u] = tanh(sum);
        at += size + 1;
    }
    return at;
}

static void range(const Fixture *fixture, uint32_t joint, double *lower, double *upper) {
    *lower = fixture->robot->model.joints[joint].lower;
    *upper = fixture->robot->model.joints[joint].upper;
    if (!isfinite(*lower)) {
        *lower = -3.14159265358979323846;
        *upper = 3.14159265358979323846;
    }
}

static void expect(Fixture *fixture, uint32_t robot, uint32_t hidden_count, double *target) {
    double values[2][MF_NETWORK_UNITS];
    get_fields(fixture->group, "base.position", robot, 3, values[0]);
    for (uint32_t j = 0; j < ROBOT_JOINTS; j++)
        values[0][3 + j] = fixture_get(fixture, "joint.angle", robot, j);
    uint32_t size = INPUTS, at = 0, now = 0;
    for (uint32_t k = 0; k < hidden_count; k++, now ^= 1) {
        at = layer(fixture, robot, at, values[now], size, hidden[k], values[now ^ 1]);
        size = hidden[k];
    }
    at = layer(fixture, robot, at, values[now], size, ROBOT_JOINTS, values[now ^ 1]);
    assert_int_equal(at, mf_group_find_field(fixture->group, "network.weight")->components);
    for (uint32_t j = 0; j < ROBOT_JOINTS; j++) {
        double lower, upper;
        range(fixture, j, &lower, &upper);
        target[j] = 0.5 * (lower + upper) + 0.5 * (upper - lower) * values[now ^ 1][j];
    }
}

TEST(targets_follow_the_sums) {
    FOR_EACH_ISA (isa) {
        for (int precise = 0; precise < 2; precise++) {
            for (uint32_t layers = 0; layers <= 2; layers++) {
                AUTO_FIXTURE fixture = open_network(isa, precise, layers);
                double expected[ROBOTS][ROBOT_JOINTS];
                for (uint32_t i = 0; i < ROBOTS; i++)
                    expect(&fixture, i, layers, expected[i]);
                mf_world_step(fixture.world, 1);
                // A sum of 12 products of at most 1 is rounded 12 times at size 12: 7e-7, three
                // such layers, tanh 1e-6 each, by a half range of pi: 1e-5. Double: 2^-29 of it.
                for (uint32_t i = 0; i < ROBOTS; i++)
                    for (uint32_t j = 0; j < ROBOT_JOINTS; j++)
                        assert_near(fixture_get(&fixture, "joint.target", i, j), expected[i][j],
                                    precise ? 2e-14 : 1e-5);
            }
        }
    }
}

TEST(same_bits_on_every_set) {
    for (int precise = 0; precise < 2; precise++) {
        uint64_t first = 0;
        FOR_EACH_ISA (isa) {
            AUTO_FIXTURE fixture = open_network(isa, precise, 2);
            mf_world_step(fixture.world, 5);
            uint64_t hash = mf_world_hash(fixture.world);
            first = first == 0 ? hash : first;
            assert_int_equal(hash, first);
        }
    }
}

// Large sums stop at the ends of the range, and 0 is the middle.
TEST(saturates) {
    for (int precise = 0; precise < 2; precise++) {
        AUTO_FIXTURE fixture = open_network(MF_ISA_AUTO, precise, 0);
        const double bias[3] = {1e30, -1e30, 0.0};
        for (uint32_t j = 0; j < 3; j++)
            for (uint32_t i = 0; i <= INPUTS; i++)
                fixture_set(&fixture, "network.weight", 2, j * (INPUTS + 1) + i,
                            i == INPUTS ? bias[j] : 0.0);
        mf_world_step(fixture.world, 1);
        double lower[3], upper[3];
        for (uint32_t j = 0; j < 3; j++)
            range(&fixture, j, &lower[j], &upper[j]);
        assert_field3(fixture.group, "joint.target", 2, upper[0], lower[1],
                      0.5 * (lower[2] + upper[2]), 0.0);
    }
}

TEST(bad_weights_harm_one_robot) {
    AUTO_FIXTURE good = open_network(MF_ISA_AUTO, false, 2),
                 bad = open_network(MF_ISA_AUTO, false, 2);
    fixture_set(&bad, "network.weight", 4, 17, NAN);
    fixture_set(&bad, "network.weight", 6, 3, INFINITY);
    mf_world_step(good.world, 3);
    mf_world_step(bad.world, 3);
    for (uint32_t i = 0; i < ROBOTS; i++) {
        if (i != 4 && i != 6)
            assert_int_equal(mf_group_instance_hash(good.group, i),
                             mf_group_instance_hash(bad.group, i));
    }
    assert_true(isnan(fixture_get(&bad, "joint.target", 4, 0)));
}

TEST(mistakes) {
    static const char *const absent[] = {"base.color", NULL};
    static const char *const whole[] = {"fault.word", NULL};
    static const char *const none[] = {NULL};
    static const uint32_t wide[MF_NETWORK_HIDDEN + 1] = {MF_NETWORK_UNITS + 1};
    static const double nan_range[ROBOT_JOINTS] = {NAN};
    const mf_NetworkConfig right = mf_network_config();
    const struct {
        mf_NetworkConfig config;
        mf_Status status;
        const char *part;
    } wrong[] = {
        {WITH(right, .inputs = absent), MF_NOT_FOUND, "base.color"},
        {WITH(right, .inputs = whole), MF_BAD_ARGUMENT, "fault.word"},
        {WITH(right, .inputs = none), MF_BAD_ARGUMENT, "no inputs"},
        {WITH(right, .hidden = wide, .hidden_count = 1), MF_LIMIT, "hidden layer 0"},
        {WITH(right, .hidden = wide, .hidden_count = MF_NETWORK_HIDDEN + 1), MF_LIMIT,
         "hidden layers"},
        {WITH(right, .lower = nan_range), MF_BAD_ARGUMENT, "output 0"},
        {WITH(right, .output = "fault.count"), MF_BAD_ARGUMENT, "fault.count"},
        {WITH(right, .rate.numerator = 0), MF_BAD_ARGUMENT, "rate"},
        {WITH(right, .struct_size = 0), MF_BAD_ARGUMENT, "mf_network_config"},
    };
    AUTO_FIXTURE fixture = fixture_open(MF_ISA_AUTO, false, 2);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        MUST_FAIL(mf_network_add(fixture.group, &wrong[i].config, &error), wrong[i].status,
                  wrong[i].part);
    MUST(mf_network_add(fixture.group, NULL, &error));
    MUST_FAIL(mf_network_add(fixture.group, &right, &error), MF_BAD_ARGUMENT, "already");
}

TEST(no_memory) {
    for (uint64_t n = 1;; n++) {
        AUTO_FIXTURE fixture = fixture_open(MF_ISA_AUTO, false, 2);
        mf_context_fail_after(fixture.context, n);
        mf_Status status = mf_network_add(fixture.group, NULL, NULL);
        mf_context_fail_after(fixture.context, 0);
        if (status == MF_OK)
            break;
        assert_int_equal(status, MF_NO_MEMORY);
        MUST(mf_network_add(fixture.group, NULL, &error)); // and then it goes
        assert_in_range(n, 1, 100);
    }
}
