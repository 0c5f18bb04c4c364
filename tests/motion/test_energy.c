// Energy audits of random gaits. Evolution exploits every defect of the physics: in a step without
// a joint update the sum of kinetic, potential and contact energy never rises, on any ground, with
// any option, in both precisions, and no robot moves faster than its legs allow.
//
// Budget of rounding. The energies are computed in double from the stored state. With u = 2^-24
// (float) or 2^-53 (double) every stored or intermediate position, of size X = |x| + |y| + |z| plus
// the robot's radius of 0.3 m, is uncertain by u X. The terms are
//     (m g + N) u X         lifting the weight m g, and working against the contact forces N, where
//                           N^2 / (2 k) = elastic energy and k = m / (compliance h^2);
//     p u X / h             in the kinetic energy, since the solver divides displacements by the
//                           step h (p: momentum, and angular momentum over an arm of 0.1 m);
//     2 u (kinetic + elastic)   rounding of the energies' own factors.
// Free rotation is integrated by a method of fourth order, whose error in one step is below
// (rate h)^5 / 120 of the kinetic energy (up to 0.25 rad a step; the motion allows no gain beyond).
// A cliff of the nearest-cell map adds a slack of 4 epsilon = 8 u to the height, so the
// budget is 8 times this sum; it has no fitted constant.
#include "motion/points/motion.h"
#include "motion/rig.h"
#include "motion/table.h"

typedef struct Ground {
    const char *name;
    mf_TerrainShape shape;
    mf_Interpolation interpolation;
    double amplitude, wavelength;
} Ground;

static const Ground grounds[] = {
    {"flat", MF_TERRAIN_FLAT, MF_NEAREST, 0.0, 1.0},
    {"noise, nearest", MF_TERRAIN_NOISE, MF_NEAREST, 0.1, 1.0},
    {"steps, nearest", MF_TERRAIN_STEPS, MF_NEAREST, 0.05, 0.4},
    {"hills, nearest", MF_TERRAIN_SINE, MF_NEAREST, 0.15, 2.0},
    {"noise, bilinear", MF_TERRAIN_NOISE, MF_BILINEAR, 0.1, 1.0},
    {"hills, bilinear", MF_TERRAIN_SINE, MF_BILINEAR, 0.3, 1.5},
};
enum { GROUNDS = sizeof grounds / sizeof *grounds, ROBOTS = 32, EVERY_DAY = SANITIZED ? 2 : 6 };

typedef struct Audit {
    double worst;   // [1] largest rise over its budget
    double rise;    // [J] that rise
    uint64_t steps; // [1] robot steps audited
    uint64_t rises; // [1] robot steps that rose above the budget
} Audit;

static double budget_of(const Rig *rig, uint32_t i, mf_MotionEnergy e) {
    bool wide = mf_group_config_of(rig->group)->double_precision;
    double unit = wide ? 0x1p-53 : 0x1p-24, center[3], linear[3], angular[3];
    mf_motion_momentum(rig->group, i, center, linear, angular);
    double step = mf_time_to_seconds(mf_world_config_of(rig->world)->step);
    double size = fabs(center[0]) + fabs(center[1]) + fabs(center[2]) + 0.3;
    double momentum = fabs(linear[0]) + fabs(linear[1]) + fabs(linear[2]);
    // Spin: the same displacement error over an arm of 0.1 m and more.
    double spin = fabs(angular[0]) + fabs(angular[1]) + fabs(angular[2]);
    momentum += spin / 0.1;
    double mass = mf_group_model(rig->group)->mass;
    double weight = mass * mf_world_config_of(rig->world)->gravity;
    const mf_PointsMotion *points = mf_motion_plan(rig->group, &mf_points_row);
    double stiffness = mass / (points->config.compliance * step * step);
    double force = weight + sqrt(2.0 * stiffness * e.elastic);
    double rate = 0.0;
    for (uint32_t c = 0; c < 3; c++)
        rate += fabs(get_field(rig->group, "base.angular_velocity", i, c));
    return e.kinetic * pow(fmin(rate * step, 0.25), 5) / 120 +
           8.0 * unit * (force * size + momentum * size / step + 2.0 * (e.kinetic + e.elastic));
}

static void audit_step(Rig *rig, mf_MotionEnergy *before, Audit *audit) {
    mf_world_step(rig->world, 1);
    for (uint32_t i = 0; i < mf_group_count(rig->group); i++) {
        mf_MotionEnergy now = mf_motion_energy(rig->group, i);
        double rise = now.kinetic + now.potential + now.elastic - before[i].kinetic -
                      before[i].potential - before[i].elastic;
        double allowed = budget_of(rig, i, before[i]);
        audit->steps++;
        audit->rises += !(rise <= allowed);
        if (!(rise <= allowed) && getenv("MAYFLY_VERBOSE") != NULL)
            print_message("robot %u: before kin %g pot %g el %g, now %g %g %g\n", i,
                          before[i].kinetic, before[i].potential, before[i].elastic, now.kinetic,
                          now.potential, now.elastic);
        if (rise / allowed > audit->worst) {
            audit->worst = rise / allowed;
            audit->rise = rise;
        }
        before[i] = now;
    }
}

// `amplitude` 0: the joints keep still, and every step is audited. Else random targets every
// interval, and every step without a joint update is audited.
static void audit_run(Rig *rig, uint32_t updates, double amplitude, Audit *audit) {
    mf_Field *target = rig_field(rig, "joint.target");
    const mf_PointsMotion *points = mf_motion_plan(rig->group, &mf_points_row);
    uint32_t interval =
        (uint32_t)(points->config.joint_interval / mf_world_config_of(rig->world)->step);
    uint32_t count = mf_group_count(rig->group);
    mf_MotionEnergy before[ROBOTS];
    for (uint32_t u = 0; u < updates; u++) {
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t j = 0; j < target->components; j++) {
                uint64_t n = ((uint64_t)u * count + i) * 32 + j;
                mf_field_set(target, i, j, amplitude * random_signed(300, n));
            }
        if (u == 0 || amplitude > 0)
            mf_world_step(rig->world, 1);
        for (uint32_t i = 0; i < count && (u == 0 || amplitude > 0); i++)
            before[i] = mf_motion_energy(rig->group, i);
        for (uint32_t k = u == 0 || amplitude > 0; k < interval; k++)
            audit_step(rig, before, audit);
    }
}

static void scatter(Rig *rig, double height, double speed, double spin) {
    mf_Field *position = rig_field(rig, "base.position");
    mf_Field *linear = rig_field(rig, "base.linear_velocity");
    mf_Field *angular = rig_field(rig, "base.angular_velocity");
    for (uint32_t i = 0; i < mf_group_count(rig->group); i++)
        for (uint32_t c = 0; c < 3; c++) {
            double start = mf_field_get(position, i, c);
            start += c == 2 ? height : 1.5 * random_signed(301, i * 3 + c);
            mf_field_set(position, i, c, start);
            mf_field_set(linear, i, c, speed * random_signed(302, i * 3 + c));
            mf_field_set(angular, i, c, spin * random_signed(303, i * 3 + c));
        }
}

static void config_option(PointsConfig *config, uint32_t o) {
    config->group.count = FULL ? ROBOTS : EVERY_DAY;
    config->group.double_precision = (o & 1) != 0;
    config->points.weighted = (o & 2) != 0;
    config->points.keep_momentum = (o & 4) != 0;
    config->points.friction_coefficient = o & 8 ? 0.4 : INFINITY;
    config->points.friction = o & 16 ? MF_FRICTION_COUPLED : MF_FRICTION_FIT;
}

static void report(const char *what, uint32_t o, const Audit *audit) {
    if (audit->rises > 0 || getenv("MAYFLY_VERBOSE") != NULL)
        print_message("%-18s %s %-7s %-8s %-8s mu %s: worst rise %.3g of its budget (%.3g J), "
                      "%llu of %llu steps above\n",
                      what, o & 1 ? "f64" : "f32", o & 16 ? "coupled" : "fit",
                      o & 2 ? "weighted" : "", o & 4 ? "momentum" : "", o & 8 ? "0.4" : "inf",
                      audit->worst, audit->rise, (unsigned long long)audit->rises,
                      (unsigned long long)audit->steps);
}

static uint64_t audit_all(double height, double speed, double spin, double amplitude,
                          uint32_t updates) {
    uint64_t rises = 0;
    updates = SANITIZED ? (updates + 1) / 2 : updates;
    for (uint32_t g = 0; g < GROUNDS; g++)
        for (uint32_t o = 0; o < 32; o++) {
            AUTO_RIG rig = rig_begin(1);
            make_hexapod(rig.hand);
            PointsConfig config = points_config(false);
            config_option(&config, o);
            mf_Terrain *terrain =
                make_terrain(rig.context, grounds[g].shape, grounds[g].interpolation,
                             grounds[g].amplitude, grounds[g].wavelength, 0.1);
            config.world.terrain = terrain;
            points_open(&rig, config);
            scatter(&rig, height, speed, spin);
            Audit audit = {0};
            audit_run(&rig, updates, amplitude, &audit);
            report(grounds[g].name, o, &audit);
            assert_int_equal(mf_group_fault_total(rig.group), 0);
            rises += audit.rises;
            rig.terrain = terrain;
        }
    return rises;
}

TEST(random_gaits_gain_no_energy) {
    assert_int_equal(audit_all(0.0, 0.0, 0.0, 0.8, 25), 0);
}

TEST(thrown_robots_gain_no_energy) {
    assert_int_equal(audit_all(0.5, 4.0, 15.0, 0.8, 20), 0);
}

// With still joints the joint update may not be a source either.
TEST(still_joints_gain_no_energy) {
    assert_int_equal(audit_all(0.0, 0.0, 0.0, 0.0, 25), 0);
    assert_int_equal(audit_all(0.3, 3.0, 10.0, 0.0, 25), 0);
}

// Drops from 10 m, at the ends of the settings: joint intervals from one step to a minute, steps of
// 1 and 10 ms, the hardest and the softest contact. No gain, no fault.
TEST(drops_at_the_ends_of_the_settings) {
    static const mf_Time steps[] = {MF_MILLISECOND, 10 * MF_MILLISECOND};
    static const uint32_t intervals[] = {2, 8, 6000}; // in steps; one would leave none to audit
    static const double compliance[] = {1e-4, 0.1, 1.0};
    for (uint32_t o = 0; o < 18 * 4; o += SANITIZED ? 5 : 1) {
        AUTO_RIG rig = rig_begin(1);
        make_hexapod(rig.hand);
        PointsConfig config = points_config(false);
        config_option(&config, (o / 18) * 9 % 32); // plain, f64 with mu, coupled, all together
        config.world.step = steps[o % 2];
        config.points.joint_interval = intervals[o / 2 % 3] * config.world.step;
        config.points.compliance = compliance[o / 6 % 3];
        mf_Terrain *terrain = make_terrain(rig.context, MF_TERRAIN_STEPS,
                                           o & 4 ? MF_BILINEAR : MF_NEAREST, 0.1, 0.5, 0.1);
        config.world.terrain = terrain;
        points_open(&rig, config);
        scatter(&rig, 10.0, 2.0, 8.0);
        Audit audit = {0};
        uint32_t updates = 3200 / intervals[o / 2 % 3];
        audit_run(&rig,
                  updates > 0 ? updates / (config.world.step == MF_MILLISECOND ? 1 : 10) + 1 : 1,
                  intervals[o / 2 % 3] > 100 ? 0.0 : 0.8, &audit);
        report("drop", (o / 18) * 9 % 32, &audit);
        assert_int_equal(mf_group_fault_total(rig.group), 0);
        assert_int_equal(audit.rises, 0);
        rig.terrain = terrain;
    }
}

// Nobody runs away: over a minute of random gaits on flat ground, no robot's center of mass gets
// farther in one joint interval than its legs reach in it. A leg's tip is at most 0.34 m from its
// hip's axis and each of its three hinges turns by at most 0.4 rad: 0.34 * 3 * 0.4 = 0.41 m, and
// the body rotates about its feet by no more than that. 6e5 robot steps without a fault, or twice
// that.
TEST(robots_are_not_faster_than_their_legs) {
    for (uint32_t o = 0; o < 32; o += 5) {
        AUTO_RIG rig = rig_begin(1);
        make_hexapod(rig.hand);
        PointsConfig config = points_config(false);
        config_option(&config, o);
        points_open(&rig, config);
        mf_Field *target = rig_field(&rig, "joint.target");
        const uint32_t count = mf_group_count(rig.group);
        double fastest = 0.0, before[ROBOTS][3] = {{0}};
        for (uint32_t u = 0; u < 750; u++) {
            for (uint32_t i = 0; i < count; i++)
                for (uint32_t j = 0; j < target->components; j++)
                    mf_field_set(target, i, j,
                                 0.8 * random_signed(304, ((uint64_t)u * ROBOTS + i) * 32 + j));
            mf_world_step(rig.world, 8);
            for (uint32_t i = 0; i < count; i++) {
                double center[3], linear[3], angular[3];
                mf_motion_momentum(rig.group, i, center, linear, angular);
                double x = center[0] - before[i][0], y = center[1] - before[i][1];
                fastest = u > 0 ? fmax(fastest, sqrt(x * x + y * y)) : 0.0;
                memcpy(before[i], center, sizeof center);
            }
        }
        if (getenv("MAYFLY_VERBOSE") != NULL)
            print_message("option %u: farthest in one interval %.3f m\n", o, fastest);
        assert_true(fastest < 0.41);
        assert_int_equal(mf_group_fault_total(rig.group), 0);
    }
}
