// Cars are independent of each other: the bits of a car do not depend on the size of the swarm, its
// lane, the instruction set or the number of threads (validation case G15); a car with a corrupted
// state changes no bit of its neighbors; snapshots continue bit for bit.
#include "motion/car_rig.h"

typedef struct Options {
    mf_CarModel model;
    mf_CarTire tire;
    mf_CarCommand command;
    mf_Integrator integrator;
    bool double_precision, rough;
    double ellipse, lag;
} Options;

static const Options all_options[] = {
    {MF_CAR_BLENDED, MF_CAR_TIRE_PACEJKA, MF_CAR_COMMAND_PATH, MF_INTEGRATOR_RK4, false, false, 0,
     0},
    {MF_CAR_BLENDED, MF_CAR_TIRE_PACEJKA, MF_CAR_COMMAND_CIRCLE, MF_INTEGRATOR_RK4, true, true, 1,
     0.05},
    {MF_CAR_DYNAMIC, MF_CAR_TIRE_CURVATURE, MF_CAR_COMMAND_DRIVE, MF_INTEGRATOR_HEUN, false, true,
     0.9, 0},
    {MF_CAR_DYNAMIC, MF_CAR_TIRE_LINEAR, MF_CAR_COMMAND_SPEED, MF_INTEGRATOR_SEMI_IMPLICIT, true,
     false, 0, 0},
    {MF_CAR_KINEMATIC, MF_CAR_TIRE_PACEJKA, MF_CAR_COMMAND_WAYPOINT, MF_INTEGRATOR_RK4, false, true,
     0, 0},
    {MF_CAR_BLENDED, MF_CAR_TIRE_CURVATURE, MF_CAR_COMMAND_LINE, MF_INTEGRATOR_EULER, false, false,
     0, 0.01},
};
enum { OPTIONS = sizeof all_options / sizeof *all_options, CARS = 40, STEPS = 60, ROUNDS = 5 };

typedef struct Swarm {
    Rig rig;
    uint32_t first; // number of the car in lane 0
    uint32_t rounds;
} Swarm;

static void swarm_close(Swarm *swarm) {
    rig_close(&swarm->rig);
}

// Car `number` has a start of its own, some fast, some slow, some standing.
static void place_car(const Swarm *swarm, uint32_t instance, uint32_t number) {
    double size = number % 5 == 0 ? 0.0 : number % 5 == 1 ? 0.3 : 2.5, position[3], attitude[4];
    double angle = 3.0 * random_signed(1, number), along = size * random_signed(2, number);
    for (uint32_t c = 0; c < 2; c++)
        position[c] = 2.0 * random_signed(3 + c, number);
    position[2] = 0.0;
    attitude[0] = cos(0.5 * angle);
    attitude[1] = attitude[2] = 0.0;
    attitude[3] = sin(0.5 * angle);
    double velocity[3] = {along * cos(angle), along * sin(angle), 0.0};
    MUST(mf_group_set_start(swarm->rig.group, instance, position, attitude, velocity, &error));
    set_field(swarm->rig.group, "base.angular_velocity", instance, 2,
              size * random_signed(6, number));
    set_field(swarm->rig.group, "wind.velocity", instance, 0, random_signed(7, number));
}

static Swarm swarm_open(const Options *options, mf_Isa isa, uint32_t threads, uint32_t first,
                        uint32_t count) {
    Swarm swarm;
    static const double positions[5][2] = {{0, 0}, {2, 0}, {2, 1}, {0, 2}, {-1, -1}};
    swarm.rig = rig_open(
        WITH(rig_config(options->model, options->command), .world.isa = isa, .threads = threads,
             .group.count = count, .group.double_precision = options->double_precision,
             .config.tire = options->tire, .config.integrator = options->integrator,
             .config.control_interval = 4 * MF_MILLISECOND, .rough = options->rough,
             .car.front_e = -0.5, .car.rear_e = -0.5, .car.ellipse = options->ellipse,
             .car.steering_lag = options->lag, .car.downforce = 0.001));
    if (options->command == MF_CAR_COMMAND_PATH)
        MUST(mf_car_set_path(swarm.rig.group, positions, 5, true, &error));
    swarm.first = first;
    swarm.rounds = 0;
    for (uint32_t i = 0; i < count; i++)
        place_car(&swarm, i, first + i);
    return swarm;
}

// New commands for every car, one in eight of them refused.
static void command_cars(Swarm *swarm) {
    for (uint32_t f = 0; f < mf_group_field_count(swarm->rig.group); f++) {
        mf_Field *field = mf_group_field(swarm->rig.group, f);
        if (strncmp(field->info.name, "command.", 8) != 0 || !(field->info.flags & MF_FIELD_INPUT))
            continue;
        for (uint32_t i = 0; i < mf_group_count(swarm->rig.group); i++)
            for (uint32_t c = 0; c < field->components; c++) {
                uint64_t n = (swarm->rounds * 1000u + swarm->first + i) * 64u + f * 4u + c;
                double value = random_signed(20, n);
                if (strcmp(field->info.name, "command.steering") == 0)
                    value *= 0.4;
                mf_field_set(field, i, c, value);
            }
    }
    swarm->rounds++;
}

static void swarm_run(Swarm *swarm) {
    for (int round = 0; round < ROUNDS; round++) {
        command_cars(swarm);
        rig_step(&swarm->rig, STEPS);
    }
}

static void compare(const Swarm *alone, const Swarm *swarm, uint32_t instance, const char *what) {
    uint64_t expected = mf_group_instance_hash(alone->rig.group, 0);
    if (mf_group_instance_hash(swarm->rig.group, instance) == expected)
        return;
    print_error("%s: car %u in lane %u differs\n", what, swarm->first + instance, instance);
    explain_difference(alone->rig.group, 0, swarm->rig.group, instance);
    fail();
}

TEST(bits_do_not_depend_on_the_lane) {
    for (size_t o = 0; o < OPTIONS; o++) {
        static Swarm alone[CARS];
        double moved = 0.0;
        for (uint32_t r = 0; r < CARS; r++) {
            alone[r] = swarm_open(&all_options[o], MF_ISA_SCALAR, 1, r, 1);
            swarm_run(&alone[r]);
            assert_int_equal(mf_group_fault_total(alone[r].rig.group), 0);
            moved = fmax(moved, fabs(rig_speed(&alone[r].rig)));
        }
        assert_true(moved > 0.1);
        FOR_EACH_ISA (isa) {
            for (uint32_t count = 1; count <= CARS; count += count < 20 ? 1 : 5) {
                uint32_t first = (count * 7) % (CARS - count + 1);
                AUTO(swarm_close) Swarm swarm = swarm_open(&all_options[o], isa, 1, first, count);
                swarm_run(&swarm);
                for (uint32_t i = 0; i < count; i++)
                    compare(&alone[first + i], &swarm, i, mf_isa_name(isa));
            }
        }
        for (uint32_t r = 0; r < CARS; r++)
            swarm_close(&alone[r]);
    }
}

TEST(alone_is_the_same_as_among_ten_thousand) {
    uint64_t hash[2];
    for (uint32_t threads = 1; threads <= 2; threads++) {
        AUTO(swarm_close) Swarm swarm = swarm_open(&all_options[0], MF_ISA_AUTO, threads, 0, 10000);
        swarm_run(&swarm);
        for (uint32_t r = 3; r < 10000; r += 1111) {
            AUTO(swarm_close) Swarm alone = swarm_open(&all_options[0], MF_ISA_AUTO, 1, r, 1);
            swarm_run(&alone);
            compare(&alone, &swarm, r, "10000 cars");
        }
        hash[threads - 1] = mf_world_hash(swarm.rig.world);
    }
    assert_true(hash[0] == hash[1]);
}

TEST(a_corrupted_car_does_not_affect_others) {
    static const struct {
        const char *field;
        uint32_t component;
        double value;
        uint32_t fault;
    } poisons[] = {{"base.position", 0, NAN, MF_FAULT_NONFINITE},
                   {"base.position", 1, 2e6, MF_FAULT_RANGE},
                   {"base.linear_velocity", 0, INFINITY, MF_FAULT_NONFINITE},
                   {"base.linear_velocity", 1, 3e4, MF_FAULT_RANGE},
                   {"base.angular_velocity", 2, NAN, MF_FAULT_NONFINITE},
                   {"base.orientation", 3, NAN, MF_FAULT_NONFINITE},
                   {"car.steering", 0, NAN, MF_FAULT_NONFINITE},
                   {"wind.velocity", 1, NAN, MF_FAULT_NONFINITE}};
    for (size_t o = 0; o < OPTIONS; o++) {
        for (size_t p = 0; p < sizeof poisons / sizeof *poisons; p++) {
            // Without slip the yaw rate is a result, not a state.
            if (all_options[o].model == MF_CAR_KINEMATIC &&
                strcmp(poisons[p].field, "base.angular_velocity") == 0)
                continue;
            Swarm clean, sick;
            const uint32_t victim = 11;
            clean = swarm_open(&all_options[o], MF_ISA_AUTO, 1, 0, 20);
            sick = swarm_open(&all_options[o], MF_ISA_AUTO, 1, 0, 20);
            command_cars(&clean);
            command_cars(&sick);
            rig_step(&clean.rig, 10);
            rig_step(&sick.rig, 10);
            set_field(sick.rig.group, poisons[p].field, victim, poisons[p].component,
                      poisons[p].value);
            rig_step(&clean.rig, 50);
            rig_step(&sick.rig, 50);
            uint32_t fault = mf_group_fault(sick.rig.group, victim);
            if (!(fault & poisons[p].fault))
                fail_msg("options %d: %s: fault word %u", (int)o, poisons[p].field, fault);
            assert_int_equal(mf_group_fault_total(sick.rig.group), 1);
            assert_others_same(clean.rig.group, sick.rig.group, victim);
            swarm_close(&clean);
            swarm_close(&sick);
        }
    }
}

TEST(an_image_continues_bit_for_bit) {
    for (size_t o = 0; o < OPTIONS; o++) {
        AUTO(swarm_close)
        Swarm a = swarm_open(&all_options[o], MF_ISA_AUTO, 1, 0, 21),
              b = swarm_open(&all_options[o], MF_ISA_SCALAR, 1, 0, 21);
        command_cars(&a);
        rig_step(&a.rig, 33);
        size_t size;
        AUTO(end_memory) void *image = take_snapshot(a.rig.world, &size);
        MUST(mf_world_restore(b.rig.world, image, size, &error));
        rig_step(&a.rig, 40);
        rig_step(&b.rig, 40);
        assert_true(mf_world_hash(a.rig.world) == mf_world_hash(b.rig.world));
    }
}

// A path is part of what a world is: places along another one mean something else.
TEST(an_image_from_another_path_is_refused) {
    static const double positions[2][2] = {{0, 0}, {2, 0.5}};
    RigConfig config = rig_config(MF_CAR_BLENDED, MF_CAR_COMMAND_PATH);
    AUTO_RIG a = rig_open(config), b = rig_open(config);
    MUST(mf_car_set_path(a.group, positions, 2, false, &error));
    MUST(mf_car_set_path(b.group, positions, 2, true, &error));
    size_t size;
    AUTO(end_memory) void *image = take_snapshot(a.world, &size);
    MUST_FAIL(mf_world_restore(b.world, image, size, &error), MF_BAD_ARGUMENT, "");
    MUST(mf_car_set_path(b.group, positions, 2, false, &error));
    MUST(mf_world_restore(b.world, image, size, &error));
}
