// The motion table: requirements of every row, and a toy motion that consists of its plan, its step
// and its row only (docs/how_to/add_a_motion.md shows the same lines).
#include "rig/rig.h"
#include "motion/vehicle/car/motion.h"
#include "motion/table.h"
#include "base/hash.h"
#include "motion/vehicle/body.h"
#include "world/attach.h"

// ---- the toy: bodies on a spring to the world's origin, without gravity -------------------------

typedef struct Toy {
    mf_Field *position, *velocity;
    double stiffness, step; // [1/s^2], [s]
} Toy;

// Semi-implicit Euler, one instance after the other: no kernel, for the sake of the example.
static void toy_run(const mf_SystemRun *run, void *plan) {
    const Toy *toy = plan;
    const uint32_t first = run->first_block * MF_BLOCK;
    uint32_t end = first + run->block_count * MF_BLOCK;
    if (end > mf_group_count(run->group))
        end = mf_group_count(run->group);
    for (uint32_t i = first; i < end; i++) {
        if (mf_group_fault(run->group, i) != 0)
            continue;
        for (uint32_t c = 0; c < 3; c++) {
            const double x = mf_field_get(toy->position, i, c);
            const double v = mf_field_get(toy->velocity, i, c) - toy->step * toy->stiffness * x;
            mf_field_set(toy->velocity, i, c, v);
            mf_field_set(toy->position, i, c, x + toy->step * v);
        }
    }
}

static void toy_reset(mf_Group *group, uint32_t instance, void *plan) {
    (void)plan; // pose and velocity are those of the group's start
}

static mf_Status toy_make(mf_Group *group, const mf_MotionsConfig *config, void **plan,
                          mf_Error *error) {
    mf_Field *rows[MF_BODY_ROWS];
    Toy *toy = *plan;
    mf_canonical_rows(group, rows, MF_BODY_ROWS);
    *toy = (Toy){.position = rows[0],
                 .velocity = rows[2],
                 .stiffness = 4.0,
                 .step = mf_time_to_seconds(mf_world_config_of(mf_group_world(group))->step)};
    return MF_OK;
}

static uint64_t toy_hash(const void *plan) {
    return mf_hash_doubles(MF_HASH_START, &((const Toy *)plan)->stiffness, 1);
}

static const char *const toy_reads[] = {"base.position", "base.linear_velocity", NULL};
static const char *const toy_writes[] = {"base.position", "base.linear_velocity", NULL};

static const mf_MotionRow toy_row = {
    .name = "toy",
    .motion = MF_MOTION_COUNT,
    .dynamic = true,
    .plan_size = sizeof(Toy),
    .make = toy_make,
    .hash = toy_hash,
    .run = toy_run,
    .reset = toy_reset,
    .destroy = mf_attach_release,
    .reads = toy_reads,
    .writes = toy_writes,
    .any_gravity = true,
    .momentum = mf_vehicle_momentum,
    .energy = mf_vehicle_energy,
};

// ---- a world with bodies ------------------------------------------------------------------------

typedef struct Fixture {
    mf_Context *context;
    mf_Model *model;
    mf_World *world;
    mf_Group *group;
} Fixture;

static Fixture fixture_open(uint32_t count) {
    Fixture fixture;
    const mf_VehicleBody body = {.name = "ball",
                                 .mass = 2.0,
                                 .inertia = {0.1, 0.1, 0.1, 0, 0, 0},
                                 .radius = 0.1,
                                 .clearance = 0.1};
    mf_GroupConfig group = WITH(mf_group_config(), .count = count, .double_precision = true);
    MUST(mf_context_create(NULL, &fixture.context, &error));
    MUST(mf_vehicle_model(fixture.context, &body, &fixture.model, &error));
    group.model = fixture.model;
    fixture.world = open_world(fixture.context, &WITH(mf_world_config(), .step = MF_MILLISECOND));
    fixture.group = add_group(fixture.world, &group);
    return fixture;
}

static void fixture_close(Fixture *fixture) {
    mf_world_destroy(fixture->world);
    mf_model_destroy(fixture->model);
    mf_context_destroy(fixture->context);
}

// ---- tests --------------------------------------------------------------------------------------

TEST(every_row_is_whole) {
    for (int i = 0; i < MF_MOTION_COUNT; i++) {
        const mf_MotionRow *row = mf_motion_row((mf_Motion)i);
        mf_Motion found;
        assert_non_null(row);
        assert_int_equal(row->motion, i);
        assert_string_equal(mf_motion_name((mf_Motion)i), row->name);
        assert_true(mf_motion_find(row->name, &found));
        assert_int_equal(found, i);
        assert_int_equal(row->level, i < MF_MOTION_LEVELS);
        assert_true(row->make && row->hash && row->run && row->reset && row->destroy);
        assert_true(row->reads && row->writes && row->momentum && row->energy && row->defaults);
        assert_true(row->notes.list != NULL || !row->level);
        assert_int_equal(row->key_count > 0, row->keys != NULL);
    }
    assert_null(mf_motion_row(MF_MOTION_COUNT));
    assert_null(mf_motion_row(MF_MOTION_OWN));
}

// A section, and behind it what is in it, in settings that are the row's own.
TEST(keys_of_a_row_bear_its_name) {
    uint32_t index = 0;
    for (int i = 0; i < MF_MOTION_COUNT; i++) {
        const mf_MotionRow *row = mf_motion_row((mf_Motion)i);
        const char *section = formatted("motion.%s", row->name);
        for (uint32_t k = 0; k < row->key_count; k++) {
            const mf_Key *key = mf_motion_key(index++);
            assert_ptr_equal(key, &row->keys[k]);
            assert_int_equal(strncmp(key->path, section, strlen(section)), 0);
            assert_int_equal(key->path[strlen(section)], k == 0 ? '\0' : '.');
            assert_int_equal(key->kind == MF_KEY_SECTION, k == 0);
            assert_true(k == 0 || key->offset < sizeof(mf_MotionsConfig));
        }
    }
    assert_int_equal(index, mf_motion_key_count());
    assert_null(mf_motion_key(index));
}

TEST(every_motion_begins_from_its_defaults) {
    mf_MotionsConfig config = mf_motions_config();
    assert_int_equal(config.kinematic.struct_size, sizeof config.kinematic);
    assert_int_equal(config.points.struct_size, sizeof config.points);
    assert_int_equal(config.rigid.struct_size, sizeof config.rigid);
    assert_int_equal(config.prescribed.struct_size, sizeof config.prescribed);
    assert_int_equal(config.articulated.struct_size, sizeof config.articulated);
    assert_int_equal(config.external.struct_size, sizeof config.external);
    assert_true(config.car.mass > 0.0 && config.quadrotor.mass > 0.0 &&
                config.fixed_wing.mass > 0.0);
    mf_motions_set_shapes(&config, true);
    mf_motions_set_friction(&config, 0.25);
    mf_motions_set_control(&config, MF_SECOND);
    mf_motions_set_limits(&config, false);
    mf_motions_set_contacts(&config, false);
    assert_true(config.kinematic.shapes && config.rigid.shapes && config.prescribed.shapes &&
                config.articulated.shapes);
    assert_true(config.points.friction_coefficient == 0.25 && config.rigid.friction == 0.25 &&
                config.articulated.friction == 0.25);
    assert_true(config.points.joint_interval == MF_SECOND &&
                config.prescribed.control_interval == MF_SECOND);
    assert_false(config.rigid.limits || config.articulated.limits || config.prescribed.contacts ||
                 config.articulated.contacts);
}

// x'' = -4 x from x = 1 at rest is cos(2 t).
TEST(a_toy_motion_is_a_row) {
    mf_Error error = {0};
    double center[3], linear[3], angular[3];
    AUTO_FIXTURE fixture = fixture_open(37);
    must(mf_motion_join(fixture.group, &toy_row, NULL, &error), &error);
    assert_non_null(mf_motion_plan(fixture.group, &toy_row));
    assert_int_equal(mf_motion_join(fixture.group, &toy_row, NULL, &error), MF_BAD_ARGUMENT);
    assert_string_equal(error.message, "toy: the group already has the motion toy");
    mf_Field *position = mf_group_find_field(fixture.group, "base.position");
    for (uint32_t i = 0; i < 37; i++)
        for (uint32_t c = 0; c < 3; c++)
            mf_field_set(position, i, c, c == 0 ? 1.0 + i : 0.0);
    mf_world_step(fixture.world, 3000);
    for (uint32_t i = 0; i < 37; i++)
        assert_true(fabs(mf_field_get(position, i, 0) - (1.0 + i) * cos(6.0)) < 2e-3 * (1.0 + i));
    toy_row.momentum(fixture.group, NULL, 0, center, linear, angular);
    assert_true(fabs(linear[0] + 2.0 * 2.0 * sin(6.0)) < 1e-2);
    const mf_MotionEnergy energy = toy_row.energy(fixture.group, NULL, 0);
    assert_true(fabs(energy.kinetic - 0.5 * linear[0] * linear[0] / 2.0) < 1e-12);
}

TEST(vehicles_are_motions) {
    mf_MotionsConfig config = mf_motions_config();
    const mf_Car car = mf_car();
    AUTO_FIXTURE fixture = fixture_open(3);
    MUST_FAIL(mf_motion_add(fixture.group, MF_MOTION_CAR, &config, &error), MF_BAD_ARGUMENT,
              "make it with mf_motion_model()");
    config.start = MF_MOTION_CAR;
    MUST_FAIL(mf_motions_add(fixture.group, &config, &error), MF_UNSUPPORTED, "");
    assert_int_equal(mf_motion_of(fixture.group, 0), MF_MOTION_COUNT);
    fixture_close(&fixture);

    MUST(mf_context_create(NULL, &fixture.context, &error));
    mf_GroupConfig group = mf_group_config();
    MUST(mf_car_body(fixture.context, &car, "car", &fixture.model, &error));
    group.model = fixture.model;
    MUST(mf_world_create(fixture.context, NULL, &fixture.world, &error));
    fixture.group = add_group(fixture.world, &group);
    MUST(mf_motion_add(fixture.group, MF_MOTION_CAR, &config, &error));
    assert_int_equal(mf_motion_of(fixture.group, 0), MF_MOTION_CAR);
    assert_true(mf_motion_in(fixture.group, MF_MOTION_CAR));
    assert_false(mf_motion_in(fixture.group, MF_MOTION_QUADROTOR));
    set_field(fixture.group, "base.linear_velocity", 0, 0, 2.0);
    const mf_MotionEnergy energy = mf_motion_energy(fixture.group, 0);
    assert_true(fabs(energy.kinetic - 2.0 * car.mass) < 1e-6 * car.mass);
}
