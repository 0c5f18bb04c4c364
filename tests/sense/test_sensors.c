// Sensors against closed forms: rays against a plane, attitude against the rotation that produced
// it, forward kinematics against mf_model_pose.
#include "control/robot.h"
#include "model/points.h"
#include "base/random.h"

#include "math/scalar.h"
#include "sense/move_plan.h"

// A world on this ground with sensors in every step.
static Fixture open_sensors(mf_Isa isa, bool precise, uint32_t count,
                            const mf_TerrainGenerator *ground, mf_Interpolation interpolation) {
    mf_Context *context = open_context(0);
    mf_Terrain *terrain;
    MUST(mf_terrain_generate(
        context,
        &WITH(mf_terrain_config(), .columns = 128, .rows = 128, .interpolation = interpolation),
        ground, &terrain, &error));
    Fixture fixture = fixture_open_on(context, isa, precise, count, terrain);
    fixture.terrain = terrain;
    fixture_add_load(&fixture);
    assert_int_equal(fixture_add_sensors(&fixture, fixture_every_step()), MF_OK);
    return fixture;
}

static void set_base(Fixture *fixture, uint32_t instance, const double position[3],
                     const double rpy[3]) {
    double q[4];
    mf_quat_from_rpy(q, rpy);
    set_fields(fixture->group, "base.position", instance, 3, position);
    set_fields(fixture->group, "base.orientation", instance, 4, q);
}

static double varied(uint32_t instance, uint32_t stream, double low, double high) {
    uint32_t out[4];
    mf_random(7, instance, stream, 0, out);
    return low + (high - low) * mf_random_unit_float(out[0]);
}

static void set_varied(Fixture *fixture, uint32_t instance) {
    double position[3] = {varied(instance, 0, -1, 1), varied(instance, 1, -1, 1),
                          varied(instance, 2, 0.8, 1.5)};
    double rpy[3] = {varied(instance, 3, -0.4, 0.4), varied(instance, 4, -0.4, 0.4),
                     varied(instance, 5, -3, 3)};
    set_base(fixture, instance, position, rpy);
    for (uint32_t j = 0; j < ROBOT_JOINTS; j++)
        fixture_set(fixture, "joint.angle", instance, j, varied(instance, 6 + j, -0.3, 0.3));
}

// World start and direction of a sensor's ray, by the plain double code.
static void find_ray(Fixture *fixture, uint32_t instance, const mf_Sensor *sensor, double start[3],
                     double direction[3]) {
    double angle[ROBOT_JOINTS], position[ROBOT_JOINTS + 1][3], rotation[ROBOT_JOINTS + 1][4];
    double base[3], q[4];
    for (uint32_t j = 0; j < ROBOT_JOINTS; j++)
        angle[j] = fixture_get(fixture, "joint.angle", instance, j);
    get_fields(fixture->group, "base.position", instance, 3, base);
    get_fields(fixture->group, "base.orientation", instance, 4, q);
    mf_model_pose(&fixture->robot->model, angle, position, rotation);
    mf_quat_rotate(start, rotation[sensor->link], sensor->start);
    mf_vec3_add(start, start, position[sensor->link]);
    mf_quat_rotate(direction, rotation[sensor->link], sensor->direction);
    mf_quat_rotate(start, q, start);
    mf_vec3_add(start, start, base);
    mf_quat_rotate(direction, q, direction);
}

// On the plane z = x tan(slope): (start.z - t start.x) / (t direction.x - direction.z).
static double plane_distance(const double start[3], const double direction[3], double slope,
                             double range) {
    double rise = tan(slope);
    double distance = (start[2] - rise * start[0]) / (rise * direction[0] - direction[2]);
    if (!(distance >= 0.0))
        return distance < 0.0 ? range : 0.0;
    return distance < range ? distance : range;
}

static void check_plane(double slope, mf_Interpolation interpolation, mf_Isa isa, bool precise) {
    enum { COUNT = 33 };
    mf_TerrainGenerator ground = {.shape = slope == 0.0 ? MF_TERRAIN_FLAT : MF_TERRAIN_SLOPE,
                                  .amplitude = slope};
    AUTO_FIXTURE fixture = open_sensors(isa, precise, COUNT, &ground, interpolation);
    for (uint32_t i = 0; i < COUNT; i++)
        set_varied(&fixture, i);
    mf_world_step(fixture.world, 1);
    uint32_t hits = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        for (uint32_t k = 0; k < 2; k++) {
            const mf_Sensor *sensor = &fixture.robot->sensors[k == 0 ? 1 : 4];
            double start[3], direction[3];
            find_ray(&fixture, i, sensor, start, direction);
            double expected = plane_distance(start, direction, slope, sensor->range);
            double found = fixture_get(&fixture, "sensor.value", i, robot_ray[k]);
            assert_near(found, expected, precise ? 1e-9 : 1e-5);
            hits += expected < sensor->range;
        }
    }
    assert_true(hits > COUNT); // most rays do touch the ground
}

TEST(rays_measure_planes) {
    FOR_EACH_ISA (isa) {
        for (int precise = 0; precise < 2; precise++) {
            check_plane(0.0, MF_NEAREST, isa, precise);
            check_plane(0.0, MF_BILINEAR, isa, precise);
            check_plane(0.2, MF_BILINEAR, isa, precise);
        }
    }
}

// The plan is one block without pointers: a copy in other memory does the same when the first one
// is overwritten.
TEST(a_copied_plan_gives_the_same_bits) {
    uint64_t hashes[2];
    for (int copied = 0; copied < 2; copied++) {
        const mf_TerrainGenerator ground = {.shape = MF_TERRAIN_SLOPE, .amplitude = 0.2};
        AUTO_FIXTURE fixture = open_sensors(MF_ISA_AUTO, false, 20, &ground, MF_BILINEAR);
        for (uint32_t i = 0; i < 20; i++)
            set_varied(&fixture, i);
        if (copied)
            move_plan(fixture.context, fixture.group);
        mf_world_step(fixture.world, 3);
        hashes[copied] = mf_world_hash(fixture.world);
    }
    assert_int_equal(hashes[0], hashes[1]);
}

// A step up of 1 m at x = 0 (cells of 0.1 m): a level ray at half its height from x = -1 meets it
// after 1 m, one above it never, and a robot under the ground reads 0.
TEST(rays_meet_steps) {
    mf_TerrainGenerator ground = {MF_TERRAIN_STEPS, 1.0, 100.0, 1, 0};
    AUTO_FIXTURE fixture = open_sensors(MF_ISA_AUTO, true, 4, &ground, MF_NEAREST);
    // The ray points down in the base frame; pitch -90 degrees turns it to +x.
    const double ahead[3] = {0, -MF_PI / 2, 0}, level[3] = {0, 0, 0};
    double half = mf_terrain_height(fixture.terrain, 1, 0, NULL) - 0.5;
    const double low[3] = {-1, 0.03, half}, high[3] = {-1, 0.03, half + 1};
    const double under[3] = {-1, 0, half - 10}, away[3] = {-1, 0, half + 10};
    set_base(&fixture, 0, low, ahead);
    set_base(&fixture, 1, high, ahead);
    set_base(&fixture, 2, under, level);
    set_base(&fixture, 3, away, level);
    mf_world_step(fixture.world, 1);
    assert_near(fixture_get(&fixture, "sensor.value", 0, robot_ray[0]), 1.0, 1e-7);
    assert_true(fixture_get(&fixture, "sensor.value", 1, robot_ray[0]) == 2.0);
    assert_true(fixture_get(&fixture, "sensor.value", 2, robot_ray[0]) == 0.0);
    assert_true(fixture_get(&fixture, "sensor.value", 3, robot_ray[0]) == 2.0);
}

TEST(attitude_is_roll_pitch_yaw) {
    static const double angles[][3] = {
        {0, 0, 0},          {0.3, 0, 0},          {0, -0.7, 0},
        {0, 0, 2.5},        {3.0, 1.5, -3.0},     {-1.2, 0.4, 0.9},
        {0.1, 1.5607, 0.2}, {-3.1, -1.5607, 3.1}, {1e-5, 2e-5, 3e-5}};
    enum { COUNT = sizeof angles / sizeof *angles };
    const double position[3] = {0, 0, 1};
    for (int precise = 0; precise < 2; precise++) {
        AUTO_FIXTURE fixture = fixture_open(MF_ISA_AUTO, precise, COUNT);
        assert_int_equal(fixture_add_sensors(&fixture, fixture_every_step()), MF_OK);
        for (uint32_t i = 0; i < COUNT; i++)
            set_base(&fixture, i, position, angles[i]);
        mf_world_step(fixture.world, 1);
        for (uint32_t i = 0; i < COUNT; i++) {
            // Close to straight up, roll and yaw are worse by the cosine of pitch, here 1/100.
            double tolerance = (precise ? 2e-15 : 1e-6) * (fabs(angles[i][1]) > 1.56 ? 100 : 1);
            for (uint32_t k = 0; k < 3; k++)
                assert_near(fixture_get(&fixture, "sensor.value", i, ROBOT_ATTITUDE + k),
                            angles[i][k], tolerance);
        }
    }
}

// Straight up: pitch 90 degrees, roll 0 and everything else in yaw.
TEST(attitude_straight_up) {
    AUTO_FIXTURE fixture = fixture_open(MF_ISA_AUTO, true, 1);
    assert_int_equal(fixture_add_sensors(&fixture, fixture_every_step()), MF_OK);
    const double q[4] = {0.5, 0.5, 0.5, -0.5}; // Rz(-90 deg) Ry(90 deg)
    set_fields(fixture.group, "base.orientation", 0, 4, q);
    mf_world_step(fixture.world, 1);
    double rpy[3];
    mf_quat_to_rpy(rpy, q);
    for (uint32_t k = 0; k < 3; k++)
        assert_near(fixture_get(&fixture, "sensor.value", 0, ROBOT_ATTITUDE + k), rpy[k], 1e-15);
    assert_true(fixture_get(&fixture, "sensor.value", 0, ROBOT_ATTITUDE + 0) == 0.0);
}

// Contact sensors watch the links 2, 0 and 1; the points 0, 2, 3, 5 collide and belong to the links
// 0, 2, 0, 2, so their loads are the components 0, 1, 2, 3.
TEST(contacts_follow_the_load) {
    static const int expected[4][3] = {{0, 1, 0}, {1, 0, 0}, {0, 1, 0}, {1, 0, 0}};
    AUTO_FIXTURE fixture = fixture_open(MF_ISA_AUTO, false, 6);
    mf_Field *load = fixture_add_load(&fixture);
    assert_int_equal(load->components, 4);
    assert_int_equal(fixture_add_sensors(&fixture, fixture_every_step()), MF_OK);
    for (uint32_t i = 0; i < 4; i++)
        mf_field_set(load, i, i, 0.001);
    mf_field_set(load, 4, 0, -1.0);
    mf_field_set(load, 4, 1, NAN);
    mf_world_step(fixture.world, 1);
    for (uint32_t i = 0; i < 6; i++)
        for (uint32_t k = 0; k < 3; k++)
            assert_true(fixture_get(&fixture, "sensor.value", i, robot_contact[k]) ==
                        (i < 4 ? expected[i][k] : 0));
}

TEST(without_load_there_is_no_contact) {
    AUTO_FIXTURE fixture = fixture_open(MF_ISA_AUTO, false, 1);
    assert_int_equal(fixture_add_sensors(&fixture, fixture_every_step()), MF_OK);
    mf_world_step(fixture.world, 1);
    for (uint32_t k = 0; k < 3; k++)
        assert_true(fixture_get(&fixture, "sensor.value", 0, robot_contact[k]) == 0.0);
}

TEST(joints_are_copied_at_the_rate) {
    AUTO_FIXTURE fixture = fixture_open(MF_ISA_AUTO, true, 2);
    mf_Rate rate = mf_rate_from_period(30 * MF_MILLISECOND);
    assert_int_equal(fixture_add_sensors(&fixture, rate), MF_OK);
    mf_world_step(fixture.world, 1);
    for (uint32_t j = 0; j < ROBOT_JOINTS; j++)
        fixture_set(&fixture, "joint.angle", 1, j, 0.1 * (j + 1));
    mf_world_step(fixture.world, 2);
    assert_true(fixture_get(&fixture, "sensor.value", 1, ROBOT_JOINT_VALUES + 3) == 0.0);
    mf_world_step(fixture.world, 1);
    for (uint32_t j = 0; j < ROBOT_JOINTS; j++)
        assert_true(fixture_get(&fixture, "sensor.value", 1, ROBOT_JOINT_VALUES + j) ==
                    0.1 * (j + 1));
    mf_group_reset(fixture.group, 1);
    assert_true(fixture_get(&fixture, "sensor.value", 1, ROBOT_JOINT_VALUES + 3) == 0.0);
}

// Bad values in one robot's state: its readings stay finite, its neighbors' bits stay the same, a
// robot with a fault word keeps its readings.
TEST(corrupted_states_stay_in_their_robot) {
    static const char *const names[] = {"base.position", "base.orientation", "joint.angle",
                                        "point.load"};
    static const double bad[] = {NAN, INFINITY, -INFINITY, 1e38};
    mf_TerrainGenerator ground = {MF_TERRAIN_NOISE, 0.3, 2.0, 4, 9};
    for (int k = 0; k < 32; k++) {
        AUTO_FIXTURE good, poisoned;
        bool precise = k / 16;
        good = open_sensors(MF_ISA_AUTO, precise, 20, &ground, MF_BILINEAR);
        poisoned = open_sensors(MF_ISA_AUTO, precise, 20, &ground, MF_BILINEAR);
        for (uint32_t i = 0; i < 20; i++) {
            set_varied(&good, i);
            set_varied(&poisoned, i);
        }
        fixture_set(&poisoned, names[k % 4], 4, 1, bad[k / 4 % 4]);
        fixture_set(&poisoned, "fault.word", 6, 0, MF_FAULT_RANGE);
        const mf_Field *values = fixture_field(&poisoned, "sensor.value");
        double kept[ROBOT_ATTITUDE + 3];
        for (uint32_t c = 0; c < ROBOT_ATTITUDE + 3; c++)
            kept[c] = mf_field_get(values, 6, c);
        mf_world_step(good.world, 2);
        mf_world_step(poisoned.world, 2);
        for (uint32_t c = 0; c < ROBOT_ATTITUDE + 3; c++) {
            assert_true(isfinite(mf_field_get(values, 4, c)));
            assert_true(mf_field_get(values, 6, c) == kept[c]);
            for (uint32_t i = 0; i < 20; i++)
                if (i != 4 && i != 6)
                    assert_true(mf_field_get(values, i, c) ==
                                fixture_get(&good, "sensor.value", i, c));
        }
    }
}

// All instruction sets give the same bits, whatever the ground.
TEST(same_bits_on_every_set) {
    mf_TerrainGenerator ground = {MF_TERRAIN_NOISE, 0.5, 1.5, 5, 3};
    for (int k = 0; k < 4; k++) {
        uint64_t hash[4];
        int sets = 0;
        FOR_EACH_ISA (isa) {
            AUTO_FIXTURE fixture =
                open_sensors(isa, k % 2, 50, &ground, k / 2 ? MF_BILINEAR : MF_NEAREST);
            for (uint32_t i = 0; i < 50; i++)
                set_varied(&fixture, i);
            mf_world_step(fixture.world, 1);
            hash[sets++] = mf_world_hash(fixture.world);
        }
        for (int n = 1; n < sets; n++)
            assert_true(hash[n] == hash[0]);
    }
}
