// Vehicles take external wrenches and collide like other bodies: impulses against closed forms,
// conserved momentum, a quadrotor that lands on a car, and a world with one of each kind.
#include "solve/pitch.h"
#include "rig/bodies.h"
#include "motion/vehicle/fixed_wing/motion.h"
#include "motion/vehicle/quadrotor/motion.h"
#include "motion/vehicle/car/motion.h"

// Without gravity its rotors stand: a free body.
static mf_Quadrotor idle_quadrotor(void) {
    mf_Quadrotor q = mf_quadrotor();
    const double inertia[6] = {2.0e-3, 2.6e-3, 3.5e-3, 3e-4, -2e-4, 1e-4};
    memcpy(q.inertia, inertia, sizeof inertia);
    memset(q.rotor_drag, 0, sizeof q.rotor_drag);
    memset(q.body_drag, 0, sizeof q.body_drag);
    q.rotor_speed_min = 0.0;
    return q;
}

static mf_Group *add_quadrotors(Pitch *pitch, mf_Model *model, const mf_Quadrotor *quadrotor,
                                const char *name, uint32_t count, mf_QuadrotorCommand command,
                                bool wide) {
    mf_Group *group = pitch_group(pitch, model, name, count, wide);
    mf_QuadrotorConfig config = WITH(mf_motions_config().quadrotor_config, .command = command);
    prepare(pitch, group);
    MUST(rig_add_quadrotor(group, quadrotor, &config, &error));
    return group;
}

static mf_Model *quadrotor_body(Pitch *pitch, const mf_Quadrotor *quadrotor) {
    mf_Model *model = NULL;
    MUST(mf_quadrotor_model(pitch->context, quadrotor, "quadrotor", &model, &error));
    return model;
}

static mf_Group *add_many_cars(Pitch *pitch, const mf_Car *car, mf_CarModel model,
                               mf_CarCommand command, uint32_t count, bool wide) {
    mf_Model *body = NULL;
    mf_CarConfig config = WITH(mf_motions_config().car_config, .model = model, .command = command);
    MUST(mf_car_body(pitch->context, car, "car", &body, &error));
    mf_Group *group = pitch_group(pitch, body, "car", count, wide);
    prepare(pitch, group);
    MUST(rig_add_car(group, car, &config, &error));
    return group;
}

static mf_Group *add_cars(Pitch *pitch, const mf_Car *car, mf_CarModel model, mf_CarCommand command,
                          bool wide) {
    return add_many_cars(pitch, car, model, command, 1, wide);
}

// An aircraft in no air: a free body.
static mf_Group *add_glider(Pitch *pitch, bool wide) {
    mf_Model *body = NULL;
    mf_FixedWing aircraft = WITH(mf_fixed_wing(), .air_density = 0.0);
    MUST(mf_fixed_wing_model(pitch->context, &aircraft, "fixed_wing", &body, &error));
    mf_Group *group = pitch_group(pitch, body, "glider", 1, wide);
    prepare(pitch, group);
    MUST(rig_add_fixed_wing(
        group, &aircraft,
        &WITH(mf_motions_config().fixed_wing_config, .command = MF_FIXED_WING_SURFACES), &error));
    return group;
}

static void write_wrench(mf_Group *group, const double wrench[6]) {
    for (uint32_t c = 0; c < 6; c++)
        set_field(group, "wrench.link", 0, c, wrench[c]);
    set_field(group, "wrench.count", 0, 0, 1);
}

static void world_inertia_times(const mf_Group *group, const double rate[3], double out[3]) {
    const double *i = mf_group_model(group)->links[0].inertia;
    out[0] = i[0] * rate[0] + i[3] * rate[1] + i[4] * rate[2];
    out[1] = i[3] * rate[0] + i[1] * rate[1] + i[5] * rate[2];
    out[2] = i[4] * rate[0] + i[5] * rate[1] + i[2] * rate[2];
}

// ---- wrenches -----------------------------------------------------------------------------------

// The velocity is n h f / m after n steps, and I w = h t after one step from rest.
TEST(a_wrench_is_an_impulse) {
    static const double wrench[6] = {0.3, -0.2, 0.1, 0.02, 0.01, -0.015};
    for (int kind = 0; kind < 2; kind++) {
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 0.0);
        const mf_Quadrotor quadrotor = idle_quadrotor();
        mf_Group *group = kind == 0 ? add_quadrotors(&pitch, quadrotor_body(&pitch, &quadrotor),
                                                     &quadrotor, "q", 1, MF_QUADROTOR_ROTORS, true)
                                    : add_glider(&pitch, true);
        put(&pitch, group, 0, 0.0, 0.0, 50.0, 0.0);
        set_field3(group, "base.linear_velocity", 0, 0.0, 0.0, 0.0);
        write_wrench(group, wrench);
        mf_world_step(pitch.world, 1);
        double rate[3], rotated[3];
        get_fields(group, "base.angular_velocity", 0, 3, rate);
        world_inertia_times(group, rate, rotated);
        for (uint32_t c = 0; c < 3; c++)
            assert_near(rotated[c], 1e-3 * wrench[3 + c], 1e-8);
        mf_world_step(pitch.world, 199);
        for (uint32_t c = 0; c < 3; c++)
            assert_near(get_field(group, "base.linear_velocity", 0, c),
                        0.2 * wrench[c] / mf_group_model(group)->mass, 1e-13);
    }
}

// A wrench that is no number freezes the vehicle that it acts on and no other.
TEST(a_bad_wrench_is_contained) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    const mf_Quadrotor quadrotor = mf_quadrotor();
    mf_Group *group = add_quadrotors(&pitch, quadrotor_body(&pitch, &quadrotor), &quadrotor, "q", 2,
                                     MF_QUADROTOR_RATES, false);
    const mf_Car parameters = mf_car();
    mf_Group *car = add_cars(&pitch, &parameters, MF_CAR_BLENDED, MF_CAR_COMMAND_SPEED, false);
    put(&pitch, group, 0, 0.0, 0.0, 5.0, 0.0);
    put(&pitch, group, 1, 3.0, 0.0, 5.0, 0.0);
    write_wrench(group, (double[6]){NAN, 0, 0, 0, 0, 0});
    write_wrench(car, (double[6]){NAN, 0, 0, 0, 0, 0});
    mf_world_step(pitch.world, 3);
    assert_true(get_field(group, "fault.word", 0, 0) != 0.0);
    assert_true(get_field(car, "fault.word", 0, 0) != 0.0);
    assert_near(get_field(group, "base.linear_velocity", 0, 0), 0.0, 0.0);
    assert_near(get_field(group, "fault.word", 1, 0), 0.0, 0.0);
    assert_near(get_field(group, "base.position", 1, 2), 5.0, 1e-6);
}

// Of twenty cars and quadrotors one each is pushed; the others keep their bits.
TEST(only_the_pushed_one_changes) {
    enum { COUNT = 20 };
    uint64_t hashes[2][2][COUNT];
    for (int k = 0; k < 2; k++) {
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
        const mf_Quadrotor quadrotor = mf_quadrotor();
        const mf_Car car = mf_car();
        mf_Group *groups[2] = {
            add_quadrotors(&pitch, quadrotor_body(&pitch, &quadrotor), &quadrotor, "q", COUNT,
                           MF_QUADROTOR_RATES, false),
            add_many_cars(&pitch, &car, MF_CAR_BLENDED, MF_CAR_COMMAND_SPEED, COUNT, false)};
        for (uint32_t i = 0; i < COUNT; i++) {
            put(&pitch, groups[0], i, i, 0.0, 5.0, 0.1 * i);
            put(&pitch, groups[1], i, i, 5.0, 0.0, 0.1 * i);
            set_field(groups[1], "command.speed", i, 0, 0.15 * i);
            set_field(groups[1], "command.steering", i, 0, 0.1);
        }
        for (int g = 0; g < 2; g++) {
            set_field(groups[g], "wrench.count", 3, 0, k);
            set_field(groups[g], "wrench.link", 3, 0, 0.05);
            set_field(groups[g], "wrench.link", 4, 0, 0.05); // without a count nothing of it counts
        }
        mf_world_step(pitch.world, 300);
        for (int g = 0; g < 2; g++)
            for (uint32_t i = 0; i < COUNT; i++)
                hashes[k][g][i] = mf_group_instance_hash(groups[g], i);
    }
    for (int g = 0; g < 2; g++)
        for (uint32_t i = 0; i < COUNT; i++)
            assert_true((hashes[0][g][i] == hashes[1][g][i]) == (i != 3));
}

// ---- cars ---------------------------------------------------------------------------------------

static mf_Car rolling_car(void) {
    return WITH(mf_car(), .rolling = 0.0, .drag = 0.0);
}

// Along the car a force accelerates it and its wheels; across it the tires hold a car that stands,
// up to what they can; what presses down does not move it.
TEST(cars_take_wrenches_in_their_plane) {
    for (int k = 0; k < 3; k++) {
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
        mf_Car car = WITH(rolling_car(), .rotating_mass = 0.01);
        mf_Group *group = add_cars(&pitch, &car, (mf_CarModel)k, MF_CAR_COMMAND_DRIVE, true);
        put(&pitch, group, 0, 0.0, 0.0, 0.0, 0.0);
        write_wrench(group, (double[6]){0.01, 0.0, -3.0, 0.0, 0.0, 0.0});
        mf_world_step(pitch.world, 200);
        assert_near(get_field(group, "base.linear_velocity", 0, 0), 0.2 * 0.01 / (car.mass + 0.01),
                    1e-12);
        assert_near(get_field(group, "base.position", 0, 2), car.height, 0.0);
        mf_group_reset(group, 0);
        write_wrench(group, (double[6]){0.0, 0.005, 0.0, 0.0, 0.0, 0.0});
        mf_world_step(pitch.world, 1000);
        if (k != MF_CAR_DYNAMIC) // whose tires have a slope at standstill: it creeps
            assert_near(get_field(group, "base.position", 0, 1), 0.0, 1e-12);
        else
            assert_true(get_field(group, "base.position", 0, 1) < 0.01);
        assert_near(get_field(group, "fault.word", 0, 0), 0.0, 0.0);
    }
}

// Rolling resistance holds a car up to its own size, whichever way gravity and the push share.
TEST(dry_friction_holds_a_pushed_car) {
    for (int k = 0; k < 2; k++) {
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
        mf_Car car = WITH(rolling_car(), .rolling = 0.02);
        mf_Group *group = add_cars(&pitch, &car, MF_CAR_BLENDED, MF_CAR_COMMAND_DRIVE, true);
        put(&pitch, group, 0, 0.0, 0.0, 0.0, 0.0);
        write_wrench(group, (double[6]){k == 0 ? 0.0199 : 0.0201, 0, 0, 0, 0, 0});
        mf_world_step(pitch.world, 500);
        const double speed = k == 0 ? 0.0 : 0.5 * 0.0001 / car.mass;
        assert_near(get_field(group, "base.linear_velocity", 0, 0), speed, 1e-9);
    }
}

// ---- momentum -----------------------------------------------------------------------------------

// A body with a leg that swings, in free flight.
static const char kicker_text[] =
    "<mujoco model='kicker'><worldbody><body><freejoint/>"
    "<geom type='box' size='0.1 0.1 0.1' mass='4'/>"
    "<body pos='0 0 -0.12'><joint type='hinge' axis='0 1 0' damping='0'/>"
    "<geom type='capsule' fromto='0 0 -0.02 0 0 -0.4' size='0.03' mass='1'/></body>"
    "</body></worldbody></mujoco>";

static const char target_text[] =
    "<mujoco model='target'><worldbody><body><freejoint/>"
    "<geom type='box' size='0.2 0.2 0.2' mass='2'/></body></worldbody></mujoco>";

// With Runge-Kutta, which keeps the momentum of a limb that swings this fast to 1e-9.
static mf_Group *add_free(Pitch *pitch, mf_Model *model, const char *name) {
    return pitch_moving(pitch, model, name, 1, true,
                        WITH(mf_motions_config().articulated, .contacts = false,
                             .self_contacts = false, .integrator = MF_ARTICULATED_RK4));
}

// The foot is half a meter below the kicker, where the ball waits.
static void add_kick(Pitch *pitch, double height) {
    mf_Group *kicker = add_free(pitch, load_text(pitch->context, kicker_text), "kicker");
    mf_Group *ball = add_free(pitch, ball_of(pitch->context, 0.4), "ball");
    put(pitch, kicker, 0, -0.3, 0.0, height + 0.5, 0.0);
    set_field(kicker, "joint.rate", 0, 0, -12.0); // the foot forward
    mf_group_refresh(kicker, 0);
    put(pitch, ball, 0, 0.0, 0.0, height, 0.0);
}

static mf_Group *add_target(Pitch *pitch, int kind, double height) {
    mf_Group *group = NULL;
    if (kind == 0) {
        group = pitch_group(pitch, load_text(pitch->context, target_text), "target", 1, true);
        prepare(pitch, group);
        MUST(rig_add_rigid(group, &WITH(mf_motions_config().rigid, .contacts = false), &error));
    } else if (kind == 1) {
        const mf_Quadrotor quadrotor = idle_quadrotor();
        group = add_quadrotors(pitch, quadrotor_body(pitch, &quadrotor), &quadrotor, "target", 1,
                               MF_QUADROTOR_ROTORS, true);
    } else {
        group = add_glider(pitch, true);
    }
    put(pitch, group, 0, 2.0, kind == 2 ? 0.5 : 0.0, height, 0.0);
    set_field(group, "base.position", 0, 2, height); // a glider starts in flight, and high up
    set_field3(group, "base.linear_velocity", 0, 0.0, 0.0, 0.0);
    return group;
}

// The angular momentum is kept by the first order: a push holds for a step, during which its robot
// moves on (test_momentum.c).
TEST(a_kicked_ball_keeps_momentum) {
    for (int k = 0; k < 6; k++) {
        const int kind = k % 3;
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, 500 * MICROSECOND, 0.0);
        add_kick(&pitch, 5.0);
        mf_Group *target = add_target(&pitch, kind, 5.0);
        pitch_collide(&pitch, &WITH(mf_collisions_config(),
                                    .law = k < 3 ? MF_COLLISION_EXPLICIT : MF_COLLISION_HARD));
        const Momentum start = momentum_of(pitch.groups, pitch.count);
        mf_world_step(pitch.world, 4000);
        const Momentum end = momentum_of(pitch.groups, pitch.count);
        const double passed =
            get_field(target, "base.linear_velocity", 0, 0) * mf_group_model(target)->mass;
        if (!(passed > 0.2))
            fail_msg("target %d: %g kg m/s", kind, passed);
        assert_momentum(end, start, k < 3 ? 1e-7 : 1e-6, 1e-3 * passed);
    }
}

// A car on its wheels: the ground takes part across and about it, not along it.
TEST(a_ball_and_a_car_keep_momentum_along_it) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 0.0);
    const mf_Car parameters = rolling_car();
    mf_Group *car = add_cars(&pitch, &parameters, MF_CAR_BLENDED, MF_CAR_COMMAND_DRIVE, true);
    mf_Group *ball = pitch_bodies(&pitch, ball_of(pitch.context, 0.02), "ball", 1, true);
    put(&pitch, car, 0, 0.0, 0.0, 0.0, 0.0);
    put(&pitch, ball, 0, -0.4, 0.0, parameters.height, 1.5);
    pitch_collide(&pitch, NULL);
    mf_world_step(pitch.world, 600);
    const double speed = get_field(car, "base.linear_velocity", 0, 0);
    assert_true(speed > 0.5);
    assert_near(parameters.mass * speed + 0.02 * get_field(ball, "base.linear_velocity", 0, 0),
                0.03, 1e-13);
    assert_near(get_field(car, "base.linear_velocity", 0, 1), 0.0, 1e-13); // the solver rounds
}

// What moves by `kinematic` is moved from outside and has no momentum to give. It is not changed by
// the ball; the ball keeps its momentum along the surface and, with restitution 1, its speed.
TEST(a_kinematic_robot_is_a_moving_wall) {
    double without[2];
    for (int k = 0; k < 2; k++) {
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, 500 * MICROSECOND, 0.0);
        mf_Group *wall = pitch_group(
            &pitch,
            load_text(pitch.context, "<mujoco model='wall'><worldbody><body pos='1 0 0.5'>"
                                     "<geom type='box' size='0.2 2 2' mass='2'/>"
                                     "<body><joint type='hinge' axis='0 0 1'/>"
                                     "<geom type='sphere' size='0.05' mass='1'/></body>"
                                     "</body></worldbody></mujoco>"),
            "wall", 1, true);
        prepare(&pitch, wall);
        MUST(rig_add_kinematic(wall, NULL, &error));
        mf_group_reset_all(wall);
        mf_Group *ball = pitch_bodies(&pitch, ball_of(pitch.context, 0.4), "ball", 1, true);
        put(&pitch, ball, 0, k == 0 ? 0.3 : -50.0, 0.0, 0.5, 2.0);
        set_field(ball, "base.linear_velocity", 0, 1, 0.7);
        pitch_collide(&pitch, &WITH(mf_collisions_config(), .law = MF_COLLISION_EXPLICIT,
                                    .restitution = 1.0, .friction = 0.0));
        mf_world_step(pitch.world, 1000);
        without[k] = get_field(wall, "base.position", 0, 0);
        assert_near(get_field(ball, "base.linear_velocity", 0, 0), k == 0 ? -2.0 : 2.0, 0.02);
        assert_near(get_field(ball, "base.linear_velocity", 0, 1), 0.7, 1e-13);
    }
    assert_near(without[0], without[1], 0.0);
}

// ---- a quadrotor on a car -----------------------------------------------------------------------

static const char flat_text[] = // a quadrotor that stands flat: its shape is its model's
    "<mujoco model='flat'><worldbody><body><freejoint/>"
    "<geom type='box' size='0.15 0.15 0.03' mass='0.75' friction='1 0 0'/>"
    "</body></worldbody></mujoco>";

static mf_Quadrotor flat_quadrotor(const mf_Model *model) {
    mf_Quadrotor q = WITH(mf_quadrotor(), .mass = model->mass);
    memcpy(q.inertia, model->links[0].inertia, sizeof q.inertia);
    return q;
}

// It sinks with nine tenths of its weight for thrust, and stops its rotors when it stands.
static void land(Pitch *pitch, mf_Group *flyer, double weight) {
    for (int step = 0; step < 4000 && get_field(flyer, "wrench.count", 0, 0) < 1.0; step++) {
        set_field(flyer, "command.thrust", 0, 0, 0.9 * weight);
        mf_world_step(pitch->world, 1);
    }
    set_field(flyer, "command.thrust", 0, 0, 0.0);
    mf_world_step(pitch->world, 1000);
}

TEST(a_quadrotor_rides_on_a_car) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    const mf_Car parameters = rig_car("car_racing");
    mf_Group *car = add_cars(&pitch, &parameters, MF_CAR_BLENDED, MF_CAR_COMMAND_SPEED, true);
    mf_Model *body = load_text(pitch.context, flat_text);
    const mf_Quadrotor quadrotor = flat_quadrotor(body);
    mf_Group *flyer =
        add_quadrotors(&pitch, body, &quadrotor, "flyer", 1, MF_QUADROTOR_RATES, true);
    const double roof = 2.0 * parameters.height, stands = roof + 0.03;
    put(&pitch, car, 0, 0.0, 0.0, 0.0, 3.0);
    put(&pitch, flyer, 0, 0.0, 0.0, stands + 0.3, 3.0);
    set_field(car, "command.speed", 0, 0, 3.0);
    pitch_collide(&pitch, NULL);
    land(&pitch, flyer, quadrotor.mass * 9.81);
    const double behind =
        get_field(car, "base.position", 0, 0) - get_field(flyer, "base.position", 0, 0);
    assert_true(fabs(behind) < 0.5);
    assert_near(get_field(flyer, "base.position", 0, 2), stands, 2e-3);
    set_field(car, "command.speed", 0, 0, 6.0); // it pulls away, and then drives a bend
    mf_world_step(pitch.world, 2000);
    assert_near(get_field(car, "base.linear_velocity", 0, 0), 6.0, 0.2);
    assert_near(get_field(flyer, "base.linear_velocity", 0, 0),
                get_field(car, "base.linear_velocity", 0, 0), 0.05);
    assert_near(get_field(car, "base.position", 0, 0) - get_field(flyer, "base.position", 0, 0),
                behind, 0.05);
    set_field(car, "command.steering", 0, 0, 0.05);
    mf_world_step(pitch.world, 2000);
    for (uint32_t c = 0; c < 2; c++)
        assert_near(get_field(flyer, "base.position", 0, c), get_field(car, "base.position", 0, c),
                    0.6);
    assert_near(get_field(flyer, "base.position", 0, 2), stands, 2e-3);
    assert_near(get_field(flyer, "base.angular_velocity", 0, 2),
                get_field(car, "base.angular_velocity", 0, 2), 0.02);
    assert_int_equal(mf_group_fault_total(flyer) + mf_group_fault_total(car), 0);
}

// ---- one world ----------------------------------------------------------------------------------

enum { FLYERS = 40, KINDS = 4 };

static void add_kind(Pitch *pitch, int kind) {
    mf_Group *group;
    if (kind == 0) {
        const mf_Quadrotor quadrotor = mf_quadrotor();
        group = add_quadrotors(pitch, quadrotor_body(pitch, &quadrotor), &quadrotor, "flyers",
                               FLYERS, MF_QUADROTOR_VELOCITY, false);
        for (uint32_t i = 0; i < FLYERS; i++) {
            put(pitch, group, i, 0.5 * (i % 8) - 1.75, 0.5 * (i / 8) - 1.0, 1.3, 0.0);
            set_field(group, "command.velocity", i, 0, i % 8 < 4 ? 0.3 : -0.3); // at each other
            set_field(group, "command.velocity", i, 2, -0.15);
        }
        return;
    }
    if (kind == 1) {
        const mf_Car car = rig_car("car_racing");
        group = add_cars(pitch, &car, MF_CAR_BLENDED, MF_CAR_COMMAND_SPEED, false);
        put(pitch, group, 0, -6.0, 0.0, 0.0, 3.0);
        set_field(group, "command.speed", 0, 0, 3.0);
        return;
    }
    group =
        pitch_moving(pitch, load_file(pitch->context, kind == 2 ? "humanoid.urdf" : "ball.xml"),
                     kind == 2 ? "humanoid" : "ball", 1, false, mf_motions_config().articulated);
    put(pitch, group, 0, kind == 2 ? 0.0 : -2.0, 0.1, kind == 2 ? 0.75 : 0.3, 0.0);
}

typedef struct Result {
    uint64_t world, robots[KINDS][FLYERS];
} Result;

// Four kinds in one world for one and a half seconds, made in the order of `order`.
static Result run_all(const int order[KINDS], uint32_t threads, mf_Isa isa) {
    Result result = {0};
    AUTO_PITCH pitch = pitch_open(threads, isa, MF_MILLISECOND, 9.81);
    for (int i = 0; i < KINDS; i++)
        add_kind(&pitch, order[i]);
    pitch_collide(&pitch, NULL);
    mf_world_step(pitch.world, 1500);
    const mf_CollisionsStatistics seen = mf_collisions_statistics(pitch.collisions);
    assert_true(seen.contacts > 1000);
    assert_int_equal(seen.lost_pairs + seen.lost_contacts, 0);
    for (uint32_t g = 0; g < KINDS; g++) {
        assert_int_equal(mf_group_fault_total(pitch.groups[g]), 0);
        for (uint32_t i = 0; i < mf_group_count(pitch.groups[g]); i++)
            result.robots[order[g]][i] = mf_group_instance_hash(pitch.groups[g], i);
    }
    result.world = mf_world_hash(pitch.world);
    return result;
}

TEST(all_kinds_share_a_world) {
    static const int order[KINDS] = {0, 1, 2, 3}, reverse[KINDS] = {3, 2, 1, 0};
    mf_Isa widest; // what MF_ISA_AUTO chooses
    MUST(mf_isa_detect(&widest, &error));
    const Result one = run_all(order, 1, MF_ISA_AUTO), three = run_all(order, 3, MF_ISA_AUTO),
                 other = run_all(reverse, 1, MF_ISA_AUTO);
    assert_true(one.world == three.world);
    FOR_EACH_ISA (isa)
        if (isa != widest)
            assert_true(run_all(order, 1, isa).world == one.world);
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < FLYERS; i++) {
            assert_true(one.robots[kind][i] == three.robots[kind][i]);
            if (one.robots[kind][i] != other.robots[kind][i])
                fail_msg("robot %d of kind %d depends on the order of the groups", i, kind);
        }
}
