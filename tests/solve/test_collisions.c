// Collisions between robots: impacts and rest in closed form, balances, bits without conditions.
#include "solve/pitch.h"

static const double pi = 3.14159265358979323846;

// ---- impacts ------------------------------------------------------------------------------------

typedef struct Impact {
    double depth, time, speeds[2];
} Impact;

// Two balls meet head on with 1 m/s each.
static Impact impact_of(double mass, double restitution, double duration, mf_Time step, bool wide) {
    Impact out = {0};
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, step, 0.0);
    mf_Group *first = pitch_bodies(&pitch, ball_of(pitch.context, 1.0), "first", 1, wide);
    mf_Group *second = pitch_bodies(&pitch, ball_of(pitch.context, mass), "second", 1, wide);
    put(&pitch, first, 0, -0.101, 0, 0, 1.0);
    put(&pitch, second, 0, 0.101, 0, 0, -1.0);
    pitch_collide(&pitch, &WITH(mf_collisions_config(), .law = MF_COLLISION_EXPLICIT,
                                .restitution = restitution, .duration = duration));
    const double dt = (double)step * 1e-9;
    for (uint32_t i = 0; (double)i * dt < 0.01 + 2 * duration / restitution; i++) {
        mf_world_step(pitch.world, 1);
        double apart =
            get_field(second, "base.position", 0, 0) - get_field(first, "base.position", 0, 0);
        out.depth = fmax(out.depth, 0.2 - apart);
        out.time += get_field(first, "wrench.count", 0, 0) > 0 ? dt : 0.0;
        assert_true(get_field(first, "wrench.link", 0, 0) ==
                    -get_field(second, "wrench.link", 0, 0));
    }
    out.speeds[0] = get_field(first, "base.linear_velocity", 0, 0);
    out.speeds[1] = get_field(second, "base.linear_velocity", 0, 0);
    return out;
}

// A spring with stiffness k = m (pi / T)^2 that parts with e^2 k: half a period T/2 on the way in,
// T/2e on the way out, depth v T / pi, speeds as Newton's law says.
TEST(balls_collide_as_the_spring_says) {
    const double masses[] = {1.0, 3.0, 0.05}, restitutions[] = {1.0, 0.5, 0.2};
    for (int i = 0; i < 9; i++) {
        const double m = masses[i / 3], e = restitutions[i % 3], duration = 0.005;
        Impact is = impact_of(m, e, duration, 10 * MICROSECOND, true);
        const double common = (1.0 - m) / (1.0 + m); // speed of the common center of mass
        assert_near(is.depth, 2.0 * duration / pi, 0.004 * 2.0 * duration / pi);
        // A few steps, and what the band between both springs (half a step wide) saves.
        assert_near(is.time, 0.5 * duration * (1 + 1 / e), 4e-5 + 0.6e-5 / (e * e));
        assert_near(is.speeds[0], common - e * 2 * m / (1 + m), 0.005);
        assert_near(is.speeds[1], common + e * 2 / (1 + m), 0.005);
        assert_near(is.speeds[0] + m * is.speeds[1], 1.0 - m, 1e-12);
    }
}

// At the coarsest setting, four steps, the default of six, and more, in float: the law of impacts
// holds to an error that falls with the square of the step.
TEST(coarse_impacts_are_near_it) {
    for (uint32_t steps = 4; steps <= 12; steps += 2) {
        Impact is = impact_of(1.0, 0.5, 1e-3 * steps, MF_MILLISECOND, false);
        assert_near(is.speeds[1], 0.5 + 1.2 / (steps * steps), 1.2 / (steps * steps));
        assert_near(is.speeds[0], -is.speeds[1], 1e-6);
    }
}

// A ball strikes a row of four that stand apart by more than they press in: each passes on
// (1 + e) / 2 of its speed.
TEST(a_row_of_balls_passes_an_impact_on) {
    for (int k = 0; k < 2; k++) {
        const double e = k == 0 ? 1.0 : 0.6;
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, 20 * MICROSECOND, 0.0);
        mf_Group *balls = pitch_bodies(&pitch, ball_of(pitch.context, 0.5), "balls", 5, true);
        for (uint32_t i = 0; i < 5; i++)
            put(&pitch, balls, i, 0.22 * i, 0, 0, i == 0 ? 1.0 : 0.0);
        pitch_collide(&pitch, &WITH(mf_collisions_config(), .law = MF_COLLISION_EXPLICIT,
                                    .restitution = e, .duration = 0.004));
        mf_world_step(pitch.world, 15000); // 0.3 s
        double momentum = 0.0, passed = 1.0;
        for (uint32_t i = 0; i < 5; i++) {
            double speed = get_field(balls, "base.linear_velocity", i, 0);
            momentum += 0.5 * speed;
            assert_near(speed, i < 4 ? passed * (1 - e) / 2 : passed, 0.01);
            passed *= (1 + e) / 2;
        }
        assert_near(momentum, 0.5, 1e-12);
    }
}

// A ball strikes the end of a rod on a hinge that the world holds: momentum about the hinge stays,
// and the speed at which they part is e times that at which they met.
TEST(a_hinge_feels_what_strikes_its_link) {
    static const char *const rod =
        "<mujoco model='rod'><worldbody><body name='post'><body name='rod' pos='0 0 0'>"
        "<joint type='hinge' axis='0 0 1'/><inertial pos='0 0.5 0' mass='2'"
        " diaginertia='0.2 0.01 0.2'/><geom type='capsule' fromto='0 0.1 0 0 1 0' size='0.05'"
        " condim='1'/></body></body></worldbody></mujoco>";
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, 20 * MICROSECOND, 0.0);
    mf_Group *arm = pitch_bodies(&pitch, load_text(pitch.context, rod), "arm", 1, true);
    mf_Group *ball = pitch_bodies(&pitch, ball_of(pitch.context, 0.3), "ball", 1, true);
    put(&pitch, ball, 0, -0.16, 0.8, 0, 2.0);
    pitch_collide(&pitch,
                  &WITH(mf_collisions_config(), .law = MF_COLLISION_EXPLICIT, .duration = 0.002));
    mf_world_step(pitch.world, 1500); // 0.03 s
    const double inertia = 0.2 + 2 * 0.25, r = 0.8, m = 0.3, e = 0.5;
    double rate = get_field(arm, "joint.rate", 0, 0),
           speed = get_field(ball, "base.linear_velocity", 0, 0);
    // The ball moves the rod (x < 0 at y > 0 is a positive turn) by -f r.
    double expected = -(1 + e) * 2.0 * m * r / (inertia + m * r * r);
    assert_near(rate, expected, 0.01 * fabs(expected));
    assert_near(inertia * rate - r * m * speed, -r * m * 2.0, 2e-3);
    assert_true(get_field(arm, "wrench.count", 0, 0) == 0);
}

// ---- forces -------------------------------------------------------------------------------------

// Sums the pushes of a group: force, and torque about the world's origin; and their sizes.
static void sum_wrenches(mf_Group *group, double sum[6], double *size) {
    const mf_Field *wrench = mf_group_find_field(group, "wrench.link");
    for (uint32_t i = 0; i < mf_group_count(group); i++) {
        double at[3], f[3], t[3];
        get_fields(group, "base.position", i, 3, at);
        for (uint32_t l = 0; l < wrench->components; l += 6) {
            for (uint32_t c = 0; c < 3; c++) {
                f[c] = mf_field_get(wrench, i, l + c);
                t[c] = mf_field_get(wrench, i, l + 3 + c);
                sum[c] += f[c];
                *size += fabs(f[c]) + fabs(t[c]);
            }
            for (uint32_t c = 0; c < 3; c++) {
                const uint32_t d = (c + 1) % 3, e = (c + 2) % 3;
                sum[3 + c] += t[c] + at[d] * f[e] - at[e] * f[d];
            }
        }
    }
}

// Twelve humanoids, balls and cars in a heap: in every step forces and torques on all cancel.
TEST(forces_cancel) {
    for (int wide = 0; wide < 2; wide++) {
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 0.0);
        mf_Group *groups[3] = {
            pitch_bodies(&pitch, load_file(pitch.context, "humanoid.urdf"), "people", 6, wide),
            pitch_bodies(&pitch, load_file(pitch.context, "ball.xml"), "balls", 4, true),
            pitch_bodies(&pitch, load_file(pitch.context, "car.urdf"), "cars", 2, wide)};
        for (uint32_t g = 0; g < 3; g++)
            for (uint32_t i = 0; i < mf_group_count(groups[g]); i++)
                put(&pitch, groups[g], i, unit(g, i), unit(g + 3, i), 5 + unit(g + 6, i),
                    unit(g + 9, i) - 0.5);
        pitch_collide(&pitch, NULL);
        double all = 0.0;
        for (int step = 0; step < 100; step++) {
            double sum[6] = {0}, size = 0.0;
            // Where they were when they were pushed is where they are before the step.
            double before[3][6][3];
            for (uint32_t g = 0; g < 3; g++)
                for (uint32_t i = 0; i < mf_group_count(groups[g]); i++)
                    get_fields(groups[g], "base.position", i, 3, before[g][i]);
            mf_world_step(pitch.world, 1);
            for (uint32_t g = 0; g < 3; g++)
                for (uint32_t i = 0; i < mf_group_count(groups[g]); i++)
                    for (uint32_t c = 0; c < 3; c++) {
                        double now = get_field(groups[g], "base.position", i, c);
                        set_field(groups[g], "base.position", i, c, before[g][i][c]);
                        before[g][i][c] = now;
                    }
            for (uint32_t g = 0; g < 3; g++)
                sum_wrenches(groups[g], sum, &size);
            for (uint32_t g = 0; g < 3; g++)
                for (uint32_t i = 0; i < mf_group_count(groups[g]); i++)
                    set_fields(groups[g], "base.position", i, 3, before[g][i]);
            for (int c = 0; c < 6; c++)
                assert_true(fabs(sum[c]) <= (wide ? 1e-13 : 2e-6) * 10 * size);
            all += size;
        }
        assert_true(all > 100.0);
        for (uint32_t g = 0; g < 3; g++)
            assert_int_equal(mf_group_fault_total(groups[g]), 0);
    }
}

// Boxes, balls and capsules thrown into each other never have more energy than they came with.
TEST(impacts_make_no_energy) {
    static const char *const shapes[3] = {
        "<geom type='box' size='0.1 0.07 0.05' mass='0.5'/>",
        "<geom type='capsule' size='0.05 0.1' mass='0.2'/>",
        "<geom type='ellipsoid' size='0.12 0.08 0.06' mass='1'/>"};
    for (int k = 0; k < 2; k++) {
        mf_Group *groups[3];
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 0.0);
        for (uint32_t g = 0; g < 3; g++) {
            const char *text = formatted(
                "<mujoco><worldbody><body><freejoint/>%s</body></worldbody></mujoco>", shapes[g]);
            groups[g] = pitch_bodies(&pitch, load_text(pitch.context, text),
                                     formatted("group%u", g), 8, true);
            for (uint32_t i = 0; i < 8; i++) {
                const double x = 0.3 * (i % 2) + 0.6 * unit(1, i) * 0, y = 0.3 * (i / 2 % 2);
                put(&pitch, groups[g], i, x - 0.15 + 0.9 * ((int)g - 1), y, 0.3 * (i / 4),
                    -1.0 * ((int)g - 1));
                for (uint32_t c = 0; c < 3; c++)
                    set_field(groups[g], "base.angular_velocity", i, c,
                              4 * unit(2 + c, 8 * g + i) - 2);
            }
        }
        pitch_collide(&pitch,
                      &WITH(mf_collisions_config(), .restitution = k == 0 ? 0.5 : 0.8,
                            .law = k == 0 ? MF_COLLISION_COMPLIANT : MF_COLLISION_EXPLICIT));
        const double start = kinetic_energy_of(groups[0]) + kinetic_energy_of(groups[1]) +
                             kinetic_energy_of(groups[2]);
        double end = start;
        for (int i = 0; i < 200; i++) {
            mf_world_step(pitch.world, 10);
            end = kinetic_energy_of(groups[0]) + kinetic_energy_of(groups[1]) +
                  kinetic_energy_of(groups[2]);
            assert_true(end <= start * 1.0001);
        }
        assert_true(end < 0.9 * start);
        assert_true(mf_collisions_statistics(pitch.collisions).contacts > 50);
    }
}

// ---- standing and sliding -----------------------------------------------------------------------

static const char table_text[] =
    "<mujoco model='table'><worldbody><body name='table'>"
    "<geom type='box' size='3 1 0.1' pos='0 0 0.9' friction='0.3'/></body></worldbody></mujoco>";

// A ball dropped on a table that the world holds comes to rest, and is pressed with its weight. Its
// depth is that of a spring: m / (one step)^2 where contacts are compliant with this time;
// explicit, between those of the two springs, m (pi / 6 ms)^2 and a quarter of it.
TEST(a_ball_comes_to_rest_on_a_table) {
    const mf_CollisionLaw laws[] = {MF_COLLISION_COMPLIANT, MF_COLLISION_EXPLICIT};
    const double springs[2][2] = {{1e6, 1e6}, {pi * pi / 36e-6, pi * pi / (4 * 36e-6)}};
    for (int k = 0; k < 2; k++) {
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
        pitch_group(&pitch, load_text(pitch.context, table_text), "table", 1, true);
        mf_Group *ball =
            pitch_bodies(&pitch, load_file(pitch.context, "ball.xml"), "ball", 1, true);
        put(&pitch, ball, 0, 0.3, 0.2, 1.2, 0.0);
        pitch_collide(&pitch, &WITH(mf_collisions_config(), .law = laws[k],
                                    .contact_time = k == 0 ? 1e-3 : 0.0));
        mf_world_step(pitch.world, 3000);
        double sum = 0.0;
        for (int i = 0; i < 200; i++) {
            mf_world_step(pitch.world, 1);
            sum += get_field(ball, "wrench.link", 0, 2);
            assert_true(fabs(get_field(ball, "base.linear_velocity", 0, 2)) < 1e-3);
            assert_true(get_field(ball, "wrench.count", 0, 0) == 1);
        }
        assert_near(sum / 200, 0.19 * 9.81, 1e-3);
        const double depth = 1.07 - get_field(ball, "base.position", 0, 2);
        assert_true(depth >= 9.81 / springs[k][0] * 0.999 && depth <= 9.81 / springs[k][1] * 1.001);
    }
}

// A box slides on a table and stops after v^2 / (2 mu g).
TEST(a_box_slides_as_coulomb_says) {
    static const char *const box =
        "<mujoco model='box'><worldbody><body><freejoint/>"
        "<geom type='box' size='0.1 0.1 0.03' mass='1' friction='0.3'/></body></worldbody>"
        "</mujoco>";
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, 200 * MICROSECOND, 9.81);
    pitch_group(&pitch, load_text(pitch.context, table_text), "table", 1, true);
    mf_Group *slider = pitch_bodies(&pitch, load_text(pitch.context, box), "box", 1, true);
    // Lower by what the weight presses it in, so that it does not hop.
    put(&pitch, slider, 0, -1.5, 0, 1.03, 0.0);
    pitch_collide(&pitch, NULL);
    mf_world_step(pitch.world, 2000);
    double from = get_field(slider, "base.position", 0, 0);
    set_field(slider, "base.linear_velocity", 0, 0, 2.0);
    mf_world_step(pitch.world, 6000); // 1.2 s: longer than v / (mu g) = 0.68 s
    double distance = get_field(slider, "base.position", 0, 0) - from;
    assert_near(distance, 4.0 / (2 * 0.3 * 9.81), 0.01 * distance);
    assert_true(fabs(get_field(slider, "base.linear_velocity", 0, 0)) < 1e-3);
}

// A robot of `points` and one of `articulated` take from a ball what it loses.
TEST(every_motion_takes_the_same_push) {
    double speeds[2];
    for (int k = 0; k < 2; k++) {
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, 100 * MICROSECOND, 0.0);
        mf_Group *ball = pitch_bodies(&pitch, ball_of(pitch.context, 0.5), "ball", 1, true);
        mf_Group *car = pitch_group(&pitch, load_file(pitch.context, "car.urdf"), "car", 1, true);
        prepare(&pitch, car);
        mf_ArticulatedConfig motion = WITH(mf_motions_config().articulated, .contacts = false);
        motion.servo.gain = 1e5; // as stiff as `points`, whose joints are where they are told
        motion.servo.damping = 1e3;
        must(k == 0
                 ? rig_add_articulated(car, &motion, &pitch.error)
                 : rig_add_points(
                       car, &WITH(mf_motions_config().points, .joint_interval = 100 * MICROSECOND),
                       &pitch.error),
             &pitch.error);
        put(&pitch, car, 0, 0, 0, 5, 0.0);
        put(&pitch, ball, 0, -0.35, 0.03, 5.02, 1.0);
        if (k == 1)
            mf_group_refresh(car, 0);
        pitch_collide(&pitch, &WITH(mf_collisions_config(), .friction = 0.0));
        mf_world_step(pitch.world, 1000);
        double center[3], linear[3], angular[3];
        mf_motion_momentum(car, 0, center, linear, angular);
        speeds[k] = get_field(ball, "base.linear_velocity", 0, 0);
        assert_true(speeds[k] < 0.9);
        assert_near(linear[0] + 0.5 * speeds[k], 0.5, 1e-3);
    }
    assert_near(speeds[0], speeds[1], 0.01);
}

// Who is not prepared, or has no motion, is as heavy as the world.
TEST(those_that_are_not_prepared_stand_firm) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, 100 * MICROSECOND, 0.0);
    mf_Group *ball = pitch_bodies(&pitch, ball_of(pitch.context, 0.5), "ball", 1, true);
    mf_Group *wall = pitch_group(&pitch, ball_of(pitch.context, 0.5), "wall", 1, true);
    put(&pitch, ball, 0, -0.25, 0, 0, 1.0);
    put(&pitch, wall, 0, 0, 0, 0, 0.0);
    pitch_collide(&pitch,
                  &WITH(mf_collisions_config(), .law = MF_COLLISION_EXPLICIT, .duration = 0.004));
    mf_world_step(pitch.world, 2000);
    assert_near(get_field(ball, "base.linear_velocity", 0, 0), -0.5, 0.02);
    assert_true(get_field(wall, "base.position", 0, 0) == 0.0);
}

// ---- bits ---------------------------------------------------------------------------------------

typedef struct Batch {
    uint32_t threads;
    mf_Isa isa;
    double margin;
    uint32_t pairs;
    bool wide;
} Batch;

enum { BATCH_ROBOTS = 5, BATCH_BALLS = BATCH_ROBOTS - 1, POISON = 3 };

static Pitch open_batch(Batch batch) {
    Pitch pitch = pitch_open(batch.threads, batch.isa, MF_MILLISECOND, 9.81);
    mf_Group *people = pitch_group(&pitch, load_file(pitch.context, "humanoid.urdf"), "people",
                                   BATCH_ROBOTS, false);
    prepare(&pitch, people);
    MUST(rig_add_articulated(people,
                             &WITH(mf_motions_config().articulated, .self_contacts = false,
                                   .servo.gain = 20.0, .servo.damping = 0.5),
                             &error));
    mf_Group *balls = pitch_bodies(&pitch, load_file(pitch.context, "ball.xml"), "balls",
                                   BATCH_BALLS, batch.wide);
    pitch_group(&pitch, load_file(pitch.context, "soccer_field.xml"), "field", 1, false);
    for (uint32_t i = 0; i < BATCH_ROBOTS; i++)
        put(&pitch, people, i, 4.3 + 0.8 * (unit(1, i) - 0.5), 1.2 * (unit(2, i) - 0.5), 0.3,
            2.0 * unit(3, i) - 1.0);
    for (uint32_t i = 0; i < BATCH_BALLS; i++)
        put(&pitch, balls, i, 4.3 + 0.8 * (unit(4, i) - 0.5), 1.2 * (unit(5, i) - 0.5),
            0.4 + 0.3 * unit(6, i), 1.0);
    pitch_collide(&pitch,
                  &WITH(mf_collisions_config(), .margin = batch.margin, .pairs = batch.pairs));
    return pitch;
}

TEST(bits_do_not_depend_on_threads_and_sets) {
    const Batch batches[] = {
        {1, MF_ISA_AUTO, 0.15, 64, false},   {2, MF_ISA_AUTO, 0.15, 64, false},
        {4, MF_ISA_AUTO, 0.01, 64, false},   {1, MF_ISA_AUTO, 1.0, 64, false},
        {1, MF_ISA_AUTO, 1e-6, 64, false}, // looks for everybody anew in every step
        {1, MF_ISA_SCALAR, 0.15, 64, false}, {2, MF_ISA_SCALAR, 0.15, 64, false},
        {1, MF_ISA_AVX2, 0.15, 64, false},   {1, MF_ISA_AUTO, 0.15, 64, true},
        {4, MF_ISA_SCALAR, 0.3, 64, true}};
    uint64_t hash[2] = {0, 0};
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        if ((batches[i].isa != MF_ISA_AUTO && !mf_isa_available(batches[i].isa)) ||
            (THREAD_SANITIZED && i > 0 && batches[i].threads == 1))
            continue;
        AUTO_PITCH pitch = open_batch(batches[i]);
        mf_world_step(pitch.world, 25);
        uint64_t own = mf_world_hash(pitch.world), *known = &hash[batches[i].wide];
        mf_CollisionsStatistics statistics = mf_collisions_statistics(pitch.collisions);
        assert_true(statistics.contacts > 200);
        assert_int_equal(statistics.lost_pairs + statistics.lost_contacts, 0);
        *known = *known == 0 ? own : *known;
        assert_true(*known == own);
    }
}

// A robot full of NaN is not there: all others are as if it had been frozen before.
TEST(poison_stays_where_it_is) {
    const Batch batch = {1, MF_ISA_AUTO, 0.15, 64, false};
    uint64_t hash[2][BATCH_ROBOTS + BATCH_BALLS];
    for (int k = 0; k < 2; k++) {
        AUTO_PITCH pitch = open_batch(batch);
        mf_world_step(pitch.world, 10);
        mf_Group *people = pitch.groups[0];
        for (uint32_t f = 0; k == 0 && f < mf_group_field_count(people); f++) {
            mf_Field *field = mf_group_field(people, f);
            for (uint32_t c = 0; field->info.type == MF_F32 && c < field->components; c++)
                mf_field_set(field, POISON, c, (double)NAN);
        }
        if (k == 1)
            set_field(people, "fault.word", POISON, 0, 1);
        mf_world_step(pitch.world, 15);
        for (uint32_t i = 0; i < BATCH_ROBOTS + BATCH_BALLS; i++)
            hash[k][i] = mf_group_instance_hash(pitch.groups[i >= BATCH_ROBOTS], i % BATCH_ROBOTS);
        assert_int_equal(mf_group_fault_total(people), 1);
    }
    for (uint32_t i = 0; i < BATCH_ROBOTS + BATCH_BALLS; i++)
        assert_true(i == POISON || hash[0][i] == hash[1][i]);
}

// Poison in a joint alone leaves the rest of the robot finite: it pushes nobody either.
TEST(half_a_poison_is_a_whole_one) {
    const Batch batch = {1, MF_ISA_AUTO, 0.15, 64, false};
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        AUTO_PITCH pitch = open_batch(batch);
        mf_world_step(pitch.world, 10);
        if (k == 0)
            set_field(pitch.groups[0], "joint.angle", POISON, 3, (double)NAN);
        else
            set_field(pitch.groups[0], "fault.word", POISON, 0, 1);
        mf_world_step(pitch.world, 15);
        hash[k] = mf_group_instance_hash(pitch.groups[1], 0);
        for (uint32_t i = 0; i < BATCH_ROBOTS; i++)
            hash[k] = hash[k] * 31 + (i == POISON ? 0 : mf_group_instance_hash(pitch.groups[0], i));
    }
    assert_true(hash[0] == hash[1]);
}

TEST(threads_continue_snapshots_to_the_bit) {
    const Batch batch = {2, MF_ISA_AUTO, 0.15, 64, true};
    AUTO_PITCH first = open_batch(batch), second = open_batch(batch);
    mf_world_step(first.world, 10);
    mf_world_step(second.world, 3);
    assert_continues_in(second.world, first.world, 15);
}

// Without space for all who are near, some do not meet: counted, the same ones with any threads.
TEST(threads_count_what_does_not_fit) {
    uint64_t hash = 0;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        AUTO_PITCH pitch = open_batch((Batch){threads, MF_ISA_AUTO, 0.15, 1, false});
        mf_world_step(pitch.world, 40);
        assert_true(mf_collisions_statistics(pitch.collisions).lost_pairs > 0);
        hash = threads == 1 ? mf_world_hash(pitch.world) : hash;
        assert_true(hash == mf_world_hash(pitch.world));
    }
}

// Touches without room: who is looked at together decides which are lost, and that must not depend
// on who was known to be too far apart. With the smallest margin nobody is.
TEST(sleeping_robots_take_no_slot) {
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 0.0);
        mf_Group *people =
            pitch_bodies(&pitch, load_file(pitch.context, "humanoid.urdf"), "people", 12, false);
        for (uint32_t i = 0; i < 12; i++)
            put(&pitch, people, i, 0.3 * unit(1, i), 1.5 * unit(2, i), 0.5, unit(3, i) - 0.5);
        pitch_collide(&pitch, &WITH(mf_collisions_config(), .margin = k == 0 ? 1e-6 : 0.15,
                                    .contact_capacity = 4));
        mf_world_step(pitch.world, 100);
        mf_CollisionsStatistics statistics = mf_collisions_statistics(pitch.collisions);
        assert_true(statistics.lost_contacts > 0 && statistics.steps == 100);
        hash[k] = mf_world_hash(pitch.world) * 31 + statistics.lost_contacts;
    }
    assert_true(hash[0] == hash[1]);
}

// Robots that stand apart are not looked at again, until one reaches out, or is put elsewhere.
TEST(who_is_apart_is_left_alone) {
    for (int how = 0; how < 3; how++) {
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 0.0);
        mf_Group *people =
            pitch_bodies(&pitch, load_file(pitch.context, "humanoid.urdf"), "people", 2, how == 1);
        put(&pitch, people, 0, 0, 0, 0.5, 0.0);
        put(&pitch, people, 1, 0, 0.3, 0.5, 0.0);
        pitch_collide(&pitch, &WITH(mf_collisions_config(), .margin = 0.5));
        mf_world_step(pitch.world, 1);
        const mf_CollisionsStatistics before = mf_collisions_statistics(pitch.collisions);
        assert_true(before.bound_tests > 0);
        mf_world_step(pitch.world, 50);
        mf_CollisionsStatistics statistics = mf_collisions_statistics(pitch.collisions);
        assert_int_equal(statistics.robot_tests, before.robot_tests);
        assert_int_equal(statistics.bound_tests, before.bound_tests);
        assert_true(get_field(people, "wrench.count", 0, 0) == 0);
        if (how == 0)
            set_field(people, "joint.angle", 0,
                      mf_model_find(pitch.models[0], MF_ITEM_JOINT, "left_shoulder_roll"), 1.4);
        else if (how == 1)
            set_field(people, "base.position", 1, 1, 0.15); // by less than half the margin
        else // lies down on its side, towards the other
            for (uint32_t c = 0; c < 4; c++)
                set_field(people, "base.orientation", 0, c, (const double[]){0.8, -0.6, 0, 0}[c]);
        mf_world_step(pitch.world, 1);
        assert_true(get_field(people, "wrench.count", 0, 0) > 0 &&
                    get_field(people, "wrench.count", 1, 0) > 0);
    }
}

// ---- inner collisions ---------------------------------------------------------------------------

// A robot folds one arm into its chest: switched on, the arm is pushed, the whole is not.
TEST(limbs_collide_when_they_are_set_to) {
    for (int inner = 0; inner < 2; inner++) {
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 0.0);
        mf_Group *robot =
            pitch_bodies(&pitch, load_file(pitch.context, "humanoid.urdf"), "robot", 1, true);
        put(&pitch, robot, 0, 0, 0, 5, 0.0);
        mf_CollisionsMember member = mf_collisions_member(robot);
        member.inner = inner == 1;
        pitch_collide(&pitch, &WITH(mf_collisions_config(), .members = &member, .member_count = 1));
        mf_world_step(pitch.world, 1);
        assert_true(get_field(robot, "wrench.count", 0, 0) == 0); // not as it stands at the start
        uint32_t roll = mf_model_find(pitch.models[0], MF_ITEM_JOINT, "left_shoulder_roll");
        set_field(robot, "joint.angle", 0, roll, -0.9);
        mf_world_step(pitch.world, 1);
        double sum[6] = {0}, size = 0.0;
        sum_wrenches(robot, sum, &size);
        assert_true((size > 0.0) == (inner == 1));
        for (int c = 0; c < 3; c++)
            assert_true(fabs(sum[c]) <= 1e-12 * size);
    }
}

// ---- trees --------------------------------------------------------------------------------------

// The volumes that leave out pairs change how many tests there are, and not a bit of the results.
TEST(bounds_change_counts_alone) {
    enum { BOUNDS = MF_BOUNDS_NONE + 1 };
    mf_CollisionsStatistics seen[BOUNDS];
    uint64_t hash[BOUNDS];
    for (uint32_t k = 0; k < BOUNDS; k++) {
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 0.0);
        mf_Group *people =
            pitch_bodies(&pitch, load_file(pitch.context, "humanoid.urdf"), "people", 4, true);
        pitch_group(&pitch, load_file(pitch.context, "soccer_field.xml"), "field", 1, true);
        for (uint32_t i = 0; i < 4; i++)
            put(&pitch, people, i, 4.4 + 0.2 * (i % 2), 1.2 + 0.15 * (i / 2), 0.5, 0.2);
        pitch_collide(&pitch, &WITH(mf_collisions_config(), .bounds = (mf_CollisionBounds)k));
        mf_world_step(pitch.world, 50);
        seen[k] = mf_collisions_statistics(pitch.collisions);
        hash[k] = mf_world_hash(pitch.world);
        // Four robots of 16 shapes and 12 of the field: 6 x 16 x 16 + 4 x 16 x 12 at most.
        assert_true(seen[k].shape_tests <= seen[k].without);
        assert_true(hash[k] == hash[0] && seen[k].contacts == seen[0].contacts);
        assert_int_equal(seen[k].without, seen[0].without);
    }
    const mf_CollisionsStatistics *none = &seen[MF_BOUNDS_NONE];
    assert_true(seen[0].contacts > 0 && none->bound_tests == 0);
    assert_true(seen[MF_BOUNDS_SPHERE].shape_tests * 4 < none->shape_tests);
    assert_true(seen[MF_BOUNDS_ORIENTED].shape_tests < seen[MF_BOUNDS_SPHERE].shape_tests);
    assert_true(seen[MF_BOUNDS_ORIENTED].bound_tests < seen[MF_BOUNDS_SPHERE].bound_tests);
}

// ---- errors -------------------------------------------------------------------------------------

TEST(bad_settings_are_refused) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    mf_Group *balls = pitch_bodies(&pitch, ball_of(pitch.context, 1.0), "balls", 2, false);
    size_t bytes = mf_context_live_bytes(pitch.context);
    mf_CollisionsMember twice[2] = {mf_collisions_member(balls), mf_collisions_member(balls)};
    const mf_CollisionsConfig good = mf_collisions_config(),
                              explicit = WITH(good, .law = MF_COLLISION_EXPLICIT);
    const mf_CollisionsConfig bad[] = {
        WITH(good, .struct_size = 0),
        WITH(good, .duration = 3e-3),
        WITH(good, .duration = (double)NAN),
        WITH(explicit, .restitution = 0.0),
        WITH(explicit, .restitution = 1.01),
        WITH(explicit, .restitution = (double)NAN),
        WITH(good, .law = MF_COLLISION_COMPLIANT, .restitution = 0.8), // has none
        WITH(good, .friction = -1.0),
        WITH(good, .depth = (double)NAN),
        WITH(good, .margin = -1.0),
        WITH(good, .bounds = (mf_CollisionBounds)(MF_BOUNDS_NONE + 1)),
        WITH(good, .pairs = 0),
        WITH(good, .contact_capacity = 3),
        WITH(good, .members = twice, .member_count = 2),
        WITH(good, .members = twice, .member_count = 0),
    };
    assert_int_equal(mf_collisions_add(pitch.world, NULL, NULL, NULL), MF_BAD_ARGUMENT);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mf_Collisions *out;
        MUST_FAIL(mf_collisions_add(pitch.world, &bad[i], &out, &error), MF_BAD_ARGUMENT,
                  "collisions");
        assert_null(out);
        assert_int_equal(mf_context_live_bytes(pitch.context), bytes);
    }
    assert_fails(mf_collisions_prepare(balls, &pitch.error), MF_BAD_ARGUMENT, &pitch.error,
                 "already has the motion articulated");
    pitch_collide(&pitch, NULL);
    mf_Collisions *again;
    assert_int_equal(mf_collisions_add(pitch.world, NULL, &again, &pitch.error), MF_BAD_ARGUMENT);
}

typedef struct Models {
    mf_Model *ball, *robot;
} Models;

static mf_Status make(mf_Context *context, const Models *models, mf_World **world,
                      mf_Error *error) {
    mf_Group *groups[2] = {NULL, NULL};
    mf_Collisions *collisions = NULL;
    MF_TRY(mf_world_create(context, NULL, world, error));
    for (int g = 0; g < 2; g++) {
        MF_TRY(mf_world_add_group(*world,
                                  &WITH(mf_group_config(), .name = g == 0 ? "balls" : "robots",
                                        .model = g == 0 ? models->ball : models->robot, .count = 3,
                                        .isolated = false),
                                  &groups[g], error));
        MF_TRY(mf_collisions_prepare(groups[g], error));
        MF_TRY(mf_motion_add(groups[g], MF_MOTION_ARTICULATED, NULL, error));
    }
    mf_CollisionsMember members[2] = {mf_collisions_member(groups[0]),
                                      mf_collisions_member(groups[1])};
    members[1].inner = true;
    const mf_Status status = mf_collisions_add(
        *world, &WITH(mf_collisions_config(), .members = members, .member_count = 2), &collisions,
        error);
    assert_true((status == MF_OK) == (collisions != NULL));
    return status;
}

static mf_Status make_and_step(mf_Context *context, void *user, mf_Error *error) {
    AUTO_WORLD *world = NULL;
    const mf_Status status = make(context, user, &world, error);
    if (world != NULL) {
        const uint64_t calls = mf_context_call_count(context);
        mf_world_step(world, 2);
        assert_int_equal(mf_context_call_count(context), calls);
    }
    return status;
}

TEST(making_survives_every_failure) {
    AUTO_CONTEXT *own = open_context(0), *context = open_context(1);
    Models models = {ball_of(own, 1.0), load_file(own, "humanoid.urdf")};
    assert_true(torture(context, make_and_step, &models, TORTURE_MUST_FAIL) > 60);
    mf_model_destroy(models.ball);
    mf_model_destroy(models.robot);
}

int main(void) {
    KEEP_SHARED();
    return run_listed_tests();
}
