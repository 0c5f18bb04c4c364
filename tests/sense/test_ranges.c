// Range sensors that see other robots: closed forms for every shape, against mf_world_ray in random
// swarms, obstacles that move, who is seen and who is not, threads, memory.
#include "solve/pitch.h"
#include "sense/sensors.h"

#define BOX                                                                                        \
    "<link name='a'><inertial><mass value='1'/><inertia ixx='0.01' iyy='0.01' izz='0.01'/>"        \
    "</inertial><collision><geometry><box size='0.2 0.2 0.2'/></geometry></collision></link>"

// A box that looks along x from its middle, up to 6 m, and back from its rear.
static const char watcher[] =
    "<robot name='watcher'>" BOX
    "<mayfly><sensor name='front' type='ray' link='a' xyz='0 0 0' reach='6'/>"
    "<sensor name='rear' type='ray' link='a' xyz='-0.1 0 0' rpy='0 0 3.14159265358979' reach='6'/>"
    "</mayfly></robot>";

// A box with an arm 0.5 m before it, both of which a range finder in the box meets; it sees the arm
// only.
static const char finder[] =
    "<mujoco model='finder'><worldbody><body><freejoint/><geom type='box' size='0.1 0.1 0.1'/>"
    "<site name='eye' zaxis='1 0 0'/>"
    "<body pos='0.5 0 0'><joint type='slide' axis='0 0 1'/><geom type='sphere' size='0.05'/></body>"
    "</body></worldbody><sensor><rangefinder name='eye' site='eye'/></sensor></mujoco>";

static void add_motion(Pitch *pitch, mf_Group *group) {
    MUST(rig_add_articulated(
        group, &WITH(mf_motions_config().articulated, .contacts = false, .self_contacts = false),
        &error));
}

static mf_Group *add_watchers(Pitch *pitch, uint32_t count, bool wide) {
    mf_Group *group =
        pitch_group(pitch, load_text(pitch->context, watcher), "watchers", count, wide);
    add_motion(pitch, group);
    MUST(mf_sensors_add(group, NULL, &error));
    return group;
}

static mf_Group *add_geom(Pitch *pitch, const char *name, const char *asset, const char *geom,
                          uint32_t count, bool wide) {
    const char *text =
        formatted("<mujoco model='%s'>%s<worldbody><body><freejoint/><geom %s mass='1'/></body>"
                  "</worldbody></mujoco>",
                  name, asset, geom);
    mf_Group *group = pitch_group(pitch, load_text(pitch->context, text), name, count, wide);
    add_motion(pitch, group);
    return group;
}

static Pitch open_pitch(uint32_t threads, mf_Isa isa) {
    return pitch_open(threads, isa, MF_MILLISECOND, 0.0);
}

static void add_ranges(Pitch *pitch) {
    MUST(mf_ranges_add(pitch->world, &error));
}

static double reading(mf_Group *group, uint32_t robot, uint32_t sensor) {
    return get_field(group, "sensor.value", robot, mf_group_model(group)->sensors[sensor].address);
}

// ---- shapes -------------------------------------------------------------------------------------

typedef struct Case {
    const char *name, *asset, *geom;
    double y, z;     // [m] of the ray's line in the shape's axes, which are the world's
    double expected; // [m] from 2 m behind its middle
} Case;

TEST(every_shape_is_seen_at_its_surface) {
    static const char tetrahedron[] =
        "<asset><mesh name='m' vertex='0 0 0  0.5 0 0  0 0.5 0  0 0 0.5'/></asset>";
    // Rays along x; radii of 0.3 at an offset of 0.18 are 0.24 deep.
    const Case cases[] = {
        {"sphere", "", "type='sphere' size='0.3'", 0.18, 0.0, 2.0 - 0.24},
        {"capsule", "", "type='capsule' size='0.3 0.5'", 0.18, 0.4, 2.0 - 0.24},
        {"cap", "", "type='capsule' size='0.3 0.5'", 0.0, 0.68, 2.0 - 0.24},
        {"cylinder", "", "type='cylinder' size='0.3 0.5'", -0.18, 0.49, 2.0 - 0.24},
        {"box", "", "type='box' size='0.1 0.2 0.3'", 0.19, -0.29, 1.9},
        {"turned box", "", "type='box' size='0.1 0.1 0.3' euler='0 0 45'", 0.0, 0.0,
         2.0 - 0.1 * 1.4142135623730951},
        {"ellipsoid", "", "type='ellipsoid' size='0.1 0.2 0.4'", 0.0, 0.24, 2.0 - 0.08},
        {"mesh", tetrahedron, "type='mesh' mesh='m'", 0.1, 0.1, 2.0},
        {"over it", "", "type='sphere' size='0.3'", 0.0, 0.31, 6.0},
    };
    FOR_EACH_ISA (isa)
        for (size_t k = 0; k < 2 * sizeof cases / sizeof *cases; k++) {
            const Case *c = &cases[k / 2];
            const bool wide = k & 1;
            AUTO_PITCH pitch = open_pitch(1, isa);
            mf_Group *eye = add_watchers(&pitch, 1, wide);
            mf_Group *thing = add_geom(&pitch, c->name, c->asset, c->geom, 1, wide);
            put(&pitch, eye, 0, -2.0, c->y, 5.0 + c->z, 0.0);
            put(&pitch, thing, 0, 0.0, 0.0, 5.0, 0.0);
            add_ranges(&pitch);
            assert_near(reading(eye, 0, 0), c->expected, wide ? 1e-12 : 2e-6); // before any step
            mf_world_step(pitch.world, 1);
            assert_near(reading(eye, 0, 0), c->expected, wide ? 1e-12 : 2e-6);
            assert_near(reading(eye, 0, 1), 6.0, 0.0); // nobody is behind
        }
}

// ---- who sees whom ------------------------------------------------------------------------------

TEST(robots_see_each_other_but_not_themselves) {
    AUTO_PITCH pitch = open_pitch(1, MF_ISA_AUTO);
    mf_Group *group = add_watchers(&pitch, 3, true);
    for (uint32_t i = 0; i < 3; i++)
        put(&pitch, group, i, 1.5 * i, 0.0, 5.0, 0.0);
    add_ranges(&pitch);
    mf_world_step(pitch.world, 1);
    const double expected[3][2] = {{1.4, 6.0}, {1.4, 1.3}, {6.0, 1.3}};
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t s = 0; s < 2; s++)
            assert_near(reading(group, i, s), expected[i][s], 1e-12);
    // One with a fault keeps its readings and is not seen.
    set_field(group, "base.position", 1, 0, NAN);
    mf_world_step(pitch.world, 2);
    assert_near(reading(group, 0, 0), 2.9, 1e-12);
    assert_near(reading(group, 1, 0), 1.4, 1e-12);
    assert_near(reading(group, 2, 1), 2.8, 1e-12);
}

TEST(range_finders_see_all_but_their_body) {
    AUTO_PITCH pitch = open_pitch(1, MF_ISA_AUTO);
    mf_Group *eye = pitch_group(&pitch, load_text(pitch.context, finder), "eye", 1, true);
    add_motion(&pitch, eye);
    MUST(mf_sensors_add(eye, NULL, &error));
    mf_Group *ball = add_geom(&pitch, "ball", "", "type='sphere' size='0.1'", 1, true);
    put(&pitch, eye, 0, 0.0, 0.0, 5.0, 0.0);
    put(&pitch, ball, 0, 0.0, 3.0, 5.0, 0.0);
    add_ranges(&pitch);
    mf_world_step(pitch.world, 1);
    assert_near(reading(eye, 0, 0), 0.45, 1e-12); // its own arm
    set_field(eye, "joint.angle", 0, 0, 1.0);
    mf_world_step(pitch.world, 1);
    assert_near(reading(eye, 0, 0), -1.0, 0.0); // the arm is above; the ball beside
    set_field(ball, "base.position", 0, 0, 0.3);
    set_field(ball, "base.position", 0, 1, 0.0);
    mf_world_step(pitch.world, 1);
    assert_near(reading(eye, 0, 0), 0.2, 1e-12);
}

// Isolated robots are alone with the ground, and nothing is added for a robot that is.
TEST(isolated_robots_see_nobody) {
    for (int both = 0; both < 2; both++) {
        AUTO_PITCH pitch = open_pitch(1, MF_ISA_AUTO);
        mf_Group *apart;
        pitch.models[pitch.count++] = load_text(pitch.context, watcher);
        apart = add_group(pitch.world, &WITH(mf_group_config(), .name = "apart", .count = 2,
                                             .model = pitch.models[0], .double_precision = true));
        add_motion(&pitch, apart);
        MUST(mf_sensors_add(apart, NULL, &error));
        mf_Group *together = add_watchers(&pitch, both ? 2 : 1, true);
        for (uint32_t i = 0; i < 2; i++)
            put(&pitch, apart, i, 1.0 * i, 0.0, 5.0, 0.0);
        for (uint32_t i = 0; i <= (uint32_t)both; i++)
            put(&pitch, together, i, 0.5 + i, 0.0, 5.0, 0.0);
        const uint32_t before = mf_world_system_count(pitch.world);
        add_ranges(&pitch);
        assert_int_equal(mf_world_system_count(pitch.world), before + (uint32_t)both);
        mf_world_step(pitch.world, 1);
        for (uint32_t i = 0; i < 2; i++)
            assert_near(reading(apart, i, 0), 6.0, 0.0);
        assert_near(reading(together, 0, 0), both ? 0.9 : 6.0, 1e-12);
    }
}

TEST(a_second_call_is_an_error) {
    AUTO_PITCH pitch = open_pitch(1, MF_ISA_AUTO);
    add_watchers(&pitch, 2, true);
    add_ranges(&pitch);
    MUST_FAIL_AS(mf_ranges_add(pitch.world, &error), MF_BAD_ARGUMENT,
                 "ranges: the world already has them");
    assert_int_equal(mf_ranges_add(NULL, &pitch.error), MF_BAD_ARGUMENT);
}

// ---- time ---------------------------------------------------------------------------------------

// Both robots' poses are those behind the step: no reading lags.
TEST(a_moving_obstacle_is_where_it_is) {
    AUTO_PITCH pitch = open_pitch(2, MF_ISA_AUTO);
    mf_Group *eye = add_watchers(&pitch, 1, true);
    mf_Group *ball = add_geom(&pitch, "ball", "", "type='sphere' size='0.3'", 1, true);
    put(&pitch, eye, 0, -2.0, 0.0, 5.0, 0.5);
    put(&pitch, ball, 0, 2.0, 0.18, 5.0, -3.0);
    add_ranges(&pitch);
    for (int k = 1; k <= 500; k++) {
        mf_world_step(pitch.world, 1);
        assert_near(reading(eye, 0, 0), 4.0 - 0.24 - 3.5e-3 * k, 1e-9);
    }
    // A reset measures at once, and so does a question.
    double values[8];
    assert_true(mf_group_model(eye)->sensor_value_count <= 8);
    mf_group_reset(eye, 0);
    assert_near(reading(eye, 0, 0), 0.5 + 2.0 - 0.24, 1e-9);
    set_field(ball, "base.position", 0, 0, 1.0);
    MUST(mf_sensors_measure(eye, 0, NULL, values, &error));
    assert_near(values[0], 3.0 - 0.24, 1e-9);
    assert_near(reading(eye, 0, 0), 0.5 + 2.0 - 0.24, 1e-9);
}

// ---- swarms -------------------------------------------------------------------------------------

enum { EYES = 37, THINGS = 60, KINDS = 4 };

static const char *const geoms[KINDS] = {
    "type='capsule' size='0.1 0.25'", "type='box' size='0.1 0.2 0.3'",
    "type='cylinder' size='0.2 0.15'", "type='ellipsoid' size='0.1 0.2 0.4'"};

static void scatter(mf_Group *group, uint32_t stream) {
    for (uint32_t i = 0; i < mf_group_count(group); i++) {
        double q[4], square = 0.0;
        for (uint32_t c = 0; c < 4; c++) {
            q[c] = 2.0 * unit(stream, 20 * i + c) - 1.0;
            square += q[c] * q[c];
        }
        for (uint32_t c = 0; c < 4; c++)
            set_field(group, "base.orientation", i, c, q[c] / sqrt(square));
        for (uint32_t c = 0; c < 3; c++) {
            set_field(group, "base.position", i, c,
                      4.0 * unit(stream, 20 * i + 4 + c) + (c == 2 ? 20.0 : 0.0));
            set_field(group, "base.linear_velocity", i, c, unit(stream, 20 * i + 8 + c) - 0.5);
        }
    }
}

static Pitch open_batch(uint32_t threads, mf_Isa isa, bool wide) {
    Pitch pitch = open_pitch(threads, isa);
    scatter(add_watchers(&pitch, EYES, wide), 1);
    for (uint32_t k = 0; k < KINDS; k++)
        scatter(
            add_geom(&pitch, (const char *[]){"p", "q", "r", "s"}[k], "", geoms[k], THINGS, wide),
            2 + k);
    add_ranges(&pitch);
    return pitch;
}

// Every reading is what a ray finds that tests all shapes of all robots.
TEST(swarms_are_seen_as_by_rays) {
    for (int wide = 0; wide < 2; wide++) {
        uint32_t hits = 0;
        AUTO_PITCH pitch = open_batch(2, MF_ISA_AUTO, wide);
        for (int step = 0; step < (SANITIZED ? 2 : 20); step++) {
            mf_world_step(pitch.world, 5);
            for (uint32_t i = 0; i < EYES; i++) {
                mf_RayConfig ray = mf_ray_config();
                mf_RayHit hit;
                double pose[7];
                must(mf_group_link_poses(pitch.groups[0], i, 1, pose, pose + 3, &pitch.error),
                     &pitch.error);
                const double *q = pose + 3;
                memcpy(ray.start, pose, sizeof ray.start);
                ray.direction[0] = 1 - 2 * (q[2] * q[2] + q[3] * q[3]);
                ray.direction[1] = 2 * (q[1] * q[2] + q[0] * q[3]);
                ray.direction[2] = 2 * (q[1] * q[3] - q[0] * q[2]);
                ray.reach = 6.0;
                ray.without = pitch.groups[0];
                ray.without_instance = i;
                must(mf_world_ray(pitch.world, &ray, &hit, &pitch.error), &pitch.error);
                // In single precision a ray that grazes may hit or miss.
                const double error =
                    fabs(reading(pitch.groups[0], i, 0) - (hit.hit ? hit.distance : 6.0));
                if (wide)
                    assert_near(error, 0.0, 1e-10);
                else if (error > 1e-3)
                    assert_near(hit.hit ? fabs(hit.normal[0] * ray.direction[0] +
                                               hit.normal[1] * ray.direction[1] +
                                               hit.normal[2] * ray.direction[2])
                                        : 0.0,
                                0.0, 0.02);
                hits += hit.hit;
            }
        }
        assert_true(hits > (SANITIZED ? 20 : 200));
    }
}

static uint64_t hash_of_batch(uint32_t threads, mf_Isa isa, bool wide) {
    AUTO_PITCH pitch = open_batch(threads, isa, wide);
    mf_world_step(pitch.world, 40);
    return mf_world_hash(pitch.world);
}

TEST(same_bits_for_threads_and_instruction_sets) {
    for (int wide = 0; wide < 2; wide++) {
        const uint64_t hash = hash_of_batch(1, MF_ISA_AUTO, wide);
        FOR_EACH_ISA (isa)
            assert_true(hash_of_batch(1, isa, wide) == hash);
        for (uint32_t threads = 2; threads < 4; threads++)
            assert_true(hash_of_batch(threads, MF_ISA_AUTO, wide) == hash);
    }
}

TEST(a_step_allocates_nothing) {
    AUTO_PITCH pitch = open_batch(2, MF_ISA_AUTO, false);
    const uint64_t calls = mf_context_call_count(pitch.context);
    mf_world_step(pitch.world, 10);
    mf_group_reset(pitch.groups[0], 3);
    assert_int_equal(mf_context_call_count(pitch.context), calls);
}

typedef struct Making {
    mf_Model *eye, *ball;
} Making;

static mf_Status make_ranges(mf_Context *context, void *user, mf_Error *error) {
    const Making *making = user;
    AUTO_WORLD *world = NULL;
    const mf_GroupConfig config = WITH(mf_group_config(), .isolated = false, .count = 20);
    const mf_ArticulatedConfig motion =
        WITH(mf_motions_config().articulated, .contacts = false, .self_contacts = false);
    mf_Group *eye, *ball;
    MF_TRY(try_group(context, NULL, &WITH(config, .model = making->eye, .name = "eye"), &world,
                     &eye, error));
    MF_TRY(rig_add_articulated(eye, &motion, error));
    MF_TRY(mf_sensors_add(eye, NULL, error));
    MF_TRY(mf_world_add_group(world, &WITH(config, .model = making->ball, .name = "ball"), &ball,
                              error));
    const uint32_t systems = mf_world_system_count(world);
    mf_Status status = mf_ranges_add(world, error);
    assert_int_equal(mf_world_system_count(world), systems + (status == MF_OK));
    mf_world_step(world, 2); // also without them
    return status;
}

TEST(adding_survives_every_failure) {
    AUTO_CONTEXT *context = open_context(0);
    Making making = {load_text(context, watcher), ball_of(context, 1.0)};
    assert_true(torture(context, make_ranges, &making, TORTURE_MUST_FAIL) > 20);
    mf_model_destroy(making.eye);
    mf_model_destroy(making.ball);
}
