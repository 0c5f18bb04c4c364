// Streams of poses that come in while the world runs, as motion capture sends them: the error of
// what is shown between them against its formula, the end of a stream, what it pushes, and bits.
#include "solve/pitch.h"

enum { ROWS = 8 };

static const char body_text[] =
    "<mujoco model='body'><worldbody><body><freejoint/>"
    "<geom type='box' size='0.05 0.4 0.4' mass='1' condim='1'/></body></worldbody></mujoco>";

static mf_Group *add_stream(Pitch *pitch, uint32_t count, mf_Time delay, mf_Time hold) {
    mf_ExternalConfig config =
        WITH(mf_motions_config().external, .poses = ROWS, .delay = delay, .hold = hold);
    mf_Group *group = pitch_group(pitch, load_text(pitch->context, body_text), "body", count, true);
    MUST(rig_add_external(group, &config, &error));
    return group;
}

// The pose at `time`, heading [rad] about z, written to row `number` modulo the rows.
static void send(mf_Group *group, uint32_t instance, uint32_t number, double time, double x,
                 double y, double heading) {
    const double row[] = {time, x, y, 2.0, cos(0.5 * heading), 0.0, 0.0, sin(0.5 * heading)};
    for (uint32_t c = 0; c < 8; c++)
        set_field(group, "poses", instance, number % ROWS * 8 + c, row[c]);
}

static void is_state(mf_Group *group, uint32_t instance, mf_PoseState state) {
    assert_int_equal((int)get_field(group, "poses.state", instance, 0), state);
}

// ---- a circle -----------------------------------------------------------------------------------

// 100 poses a second, each 5 ms old when it comes, shown 30 ms late. The error of the cubic is
// 3/128 h^4 r w^4 in the middle of two poses and less elsewhere, that of its slope at the poses
// h^3/12 r w^4.
TEST(a_circle_is_shown_as_the_formula_says) {
    const double radius = 1.5, speed = 12.0, period = 0.01, delay = 0.03;
    const double bound = 3.0 / 128.0 * pow(speed * period, 4.0) * radius;
    double worst = 0.0, fastest = 0.0, rotated = 0.0;
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    mf_Group *group = add_stream(&pitch, 3, 30 * MF_MILLISECOND, 0);
    for (uint32_t tick = 0; tick < 1000; tick++) {
        if (tick % 10 == 5) {
            const uint32_t number = tick / 10;
            const double at = period * number, angle = speed * at;
            // Quaternions of either sign, as solvers of motion capture give them.
            send(group, 1, number, at, radius * cos(angle), radius * sin(angle),
                 angle + (number % 3 == 0 ? 6.28318530717958648 : 0.0));
        }
        mf_world_step(pitch.world, 1);
        const double angle = speed * (1e-3 * (tick + 1) - delay);
        if (tick < 60)
            continue;
        is_state(group, 1, MF_POSES_BETWEEN);
        const double x = get_field(group, "base.position", 1, 0) - radius * cos(angle);
        const double y = get_field(group, "base.position", 1, 1) - radius * sin(angle);
        const double u =
            get_field(group, "base.linear_velocity", 1, 0) + radius * speed * sin(angle);
        const double v =
            get_field(group, "base.linear_velocity", 1, 1) - radius * speed * cos(angle);
        const double w = get_field(group, "base.orientation", 1, 0);
        const double z = get_field(group, "base.orientation", 1, 3);
        worst = fmax(worst, hypot(x, y));
        fastest = fmax(fastest, hypot(u, v));
        rotated = fmax(rotated, fabs(w * sin(0.5 * angle) - z * cos(0.5 * angle)));
        assert_near(get_field(group, "base.angular_velocity", 1, 2), speed, 1e-3 * speed);
    }
    assert_true(worst > 0.99 * bound && worst < 1.01 * bound);
    const double slope = radius * pow(speed, 4.0) * pow(period, 3.0) / 12.0;
    assert_true(fastest > 0.98 * slope && fastest < 1.02 * slope);
    // Quaternions turn half as fast: an error of at most 3/128 h^4 (w/2)^4.
    assert_true(rotated < 3.0 / 128.0 * pow(0.5 * speed * period, 4.0));
    is_state(group, 0, MF_POSES_NONE);
    assert_near(get_field(group, "base.position", 0, 0), 0.0, 0.0);
}

// Parabolas are exact for any distances of time, with two neighbours or with one.
TEST(a_parabola_is_exact) {
    static const double times[] = {0.0, 0.013, 0.021, 0.04, 0.047, 0.06, 0.08, 0.081};
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    mf_Group *group = add_stream(&pitch, 1, 0, 0);
    for (uint32_t i = 0; i < ROWS; i++)
        send(group, 0, 3 * i + 1, times[i], 2.0 * times[i] - 40.0 * times[i] * times[i], 1.0, 0.0);
    for (uint32_t tick = 0; tick < 81; tick++) {
        mf_world_step(pitch.world, 1);
        const double t = 1e-3 * (tick + 1);
        assert_near(get_field(group, "base.position", 0, 0), 2.0 * t - 40.0 * t * t, 1e-14);
        assert_near(get_field(group, "base.linear_velocity", 0, 0), 2.0 - 80.0 * t, 1e-9);
    }
}

// ---- the end of a stream ------------------------------------------------------------------------

// The last pose is of 20 ms: with 10 ms of delay it goes on until 30 + 40 ms, then it stands.
TEST(it_goes_on_and_then_holds) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    mf_Group *group = add_stream(&pitch, 2, 10 * MF_MILLISECOND, 40 * MF_MILLISECOND);
    mf_world_step(pitch.world, 1);
    is_state(group, 0, MF_POSES_NONE);
    for (uint32_t i = 0; i < 3; i++)
        send(group, 0, i, 0.01 * i, 5.0 + 0.01 * i * 3.0, 0.0, 0.01 * i * 2.0);
    for (uint32_t tick = 1; tick < 120; tick++) {
        mf_world_step(pitch.world, 1);
        const double shown = 1e-3 * (tick + 1) - 0.01, sampled = fmin(fmax(shown, 0.0), 0.06);
        const int moves = tick + 1 >= 10 && tick + 1 <= 70;
        is_state(group, 0,
                 tick + 1 < 10   ? MF_POSES_EARLY
                 : tick + 1 < 30 ? MF_POSES_BETWEEN
                 : moves         ? MF_POSES_BEYOND
                                 : MF_POSES_CONSTANT);
        assert_near(get_field(group, "poses.age", 0, 0), shown - 0.02, 1e-12);
        assert_near(get_field(group, "base.position", 0, 0), 5.0 + 3.0 * sampled, 1e-12);
        assert_near(get_field(group, "base.linear_velocity", 0, 0), moves ? 3.0 : 0.0, 1e-9);
        assert_near(get_field(group, "base.angular_velocity", 0, 2), moves ? 2.0 : 0.0, 4e-3);
        assert_near(get_field(group, "fault.word", 0, 0), 0.0, 0.0);
    }
    mf_group_reset(group, 0);
    mf_world_step(pitch.world, 1);
    is_state(group, 0, MF_POSES_NONE);
    assert_near(get_field(group, "base.position", 0, 0), 0.0, 0.0);
}

// Lost markers, an empty row, the same time twice, numbers too great, opposite rotations: the
// others count, and a robot beside it notices nothing.
TEST(what_is_no_pose_harms_nobody) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    mf_Group *group = add_stream(&pitch, 3, 0, MF_SECOND);
    for (uint32_t i = 0; i < 3; i++)
        send(group, 1, i, 0.01 * i, 0.01 * i, 0.0, 0.0);
    send(group, 1, 3, 0.015, NAN, 0.0, 0.0);
    send(group, 1, 4, NAN, 7.0, 0.0, 0.0);
    send(group, 1, 5, 0.01, 7.0, 0.0, 0.0); // an echo: the first one counts
    send(group, 2, 0, 0.0, 1.0, 0.0, 0.0);
    send(group, 2, 1, 1e-300, -1e308, 0.0, 0.0);
    mf_world_step(pitch.world, 15);
    assert_near(get_field(group, "base.position", 1, 0), 0.015, 1e-15);
    is_state(group, 1, MF_POSES_BETWEEN);
    mf_world_step(pitch.world, 25);
    assert_near(get_field(group, "base.position", 1, 0), 0.04, 1e-15);
    assert_near(get_field(group, "fault.word", 1, 0), 0.0, 0.0);
    assert_near(get_field(group, "fault.word", 2, 0), 0.0, 0.0);
    is_state(group, 2, MF_POSES_NONE);
    assert_near(get_field(group, "base.position", 2, 0), 0.0, 0.0);
    send(group, 2, 0, 0.0, 1e9, 0.0, 0.0);
    send(group, 2, 1, 0.01, 1e9, 0.0, 0.0);
    mf_world_step(pitch.world, 1);
    assert_near(get_field(group, "fault.word", 2, 0), MF_FAULT_RANGE, 0.0);
    assert_near(get_field(group, "base.position", 2, 0), 0.0, 0.0);
    assert_near(get_field(group, "fault.word", 1, 0), 0.0, 0.0);
}

// ---- what it pushes -----------------------------------------------------------------------------

// As a wall of the stream's speed: a ball at rest leaves it with (1 + e) times that.
TEST(it_strikes_a_ball) {
    const double restitution = 0.5, speed = 1.5;
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, 100 * MICROSECOND, 0.0);
    mf_Group *body = add_stream(&pitch, 1, 30 * MF_MILLISECOND, MF_SECOND);
    mf_Group *ball = pitch_bodies(&pitch, ball_of(pitch.context, 0.7), "ball", 1, true);
    put(&pitch, ball, 0, 0.25, 0.1, 2.0, 0.0);
    pitch_collide(&pitch, &WITH(mf_collisions_config(), .law = MF_COLLISION_EXPLICIT,
                                .restitution = restitution, .duration = 0.004));
    for (uint32_t tick = 0; tick < 3000; tick++) {
        const double at = 1e-4 * tick;
        if (tick % 100 == 0)
            send(body, 0, tick / 100, at, speed * at, 0.0, 0.0);
        mf_world_step(pitch.world, 1);
    }
    assert_near(get_field(ball, "base.linear_velocity", 0, 0), (1.0 + restitution) * speed,
                0.006 * speed);
    assert_near(get_field(ball, "base.linear_velocity", 0, 1), 0.0, 0.0);
    assert_near(get_field(body, "base.position", 0, 0), speed * (0.3 - 0.03), 1e-12);
    assert_near(get_field(body, "base.linear_velocity", 0, 0), speed, 1e-9);
}

// ---- bits ---------------------------------------------------------------------------------------

// 40 bodies with random poses in an order that `shift` turns; snapshots in the middle.
static uint64_t hash_of_streams(uint32_t threads, uint32_t shift, bool again) {
    static uint8_t image[262144];
    uint64_t hash = 14695981039346656037u;
    AUTO_PITCH pitch = pitch_open(threads, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    mf_Group *group = add_stream(&pitch, 40, 5 * MF_MILLISECOND, 10 * MF_MILLISECOND);
    for (uint32_t i = 0; i < 40; i++)
        for (uint32_t k = 0; k < ROWS; k++)
            send(group, i, k + shift, 0.02 * unit(1, i * ROWS + k), unit(2, i * ROWS + k),
                 unit(3, i * ROWS + k), 3.0 * unit(4, i * ROWS + k));
    mf_world_step(pitch.world, 12);
    const size_t size = mf_world_snapshot_size(pitch.world);
    assert_true(size <= sizeof image);
    MUST(mf_world_snapshot(pitch.world, image, size, &error));
    if (again) {
        mf_world_step(pitch.world, 30);
        MUST(mf_world_restore(pitch.world, image, size, &error));
    }
    for (int step = 0; step < 20; step++) {
        mf_world_step(pitch.world, 1);
        for (uint32_t i = 0; i < 40; i++)
            for (uint32_t c = 0; c < 7; c++) {
                const double value = c < 3 ? get_field(group, "base.position", i, c)
                                           : get_field(group, "base.angular_velocity", i, c % 3);
                uint64_t bits;
                memcpy(&bits, &value, sizeof bits);
                hash = (hash ^ bits) * 1099511628211u;
            }
    }
    return hash;
}

TEST(order_threads_and_snapshots_change_nothing) {
    const uint64_t hash = hash_of_streams(1, 0, false);
    assert_true(hash == hash_of_streams(1, 5, false));
    assert_true(hash == hash_of_streams(3, 0, false));
    assert_true(hash == hash_of_streams(2, 0, true));
}

// ---- failures -----------------------------------------------------------------------------------

static mf_Status add_to_world(mf_Context *context, void *user, mf_Error *error) {
    AUTO_WORLD *world = NULL;
    mf_Group *group;
    mf_Status status =
        try_group(context, NULL, &WITH(mf_group_config(), .model = user), &world, &group, error);
    if (status == MF_OK)
        status = rig_add_external(group, &WITH(mf_motions_config().external, .poses = 4), error);
    if (world != NULL)
        mf_world_step(world, 2);
    return status;
}

TEST(every_failing_call_is_survived) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    AUTO_MODEL *model = load_text(pitch.context, body_text);
    assert_true(torture(pitch.context, add_to_world, model, TORTURE_MUST_FAIL) > 10);
}
