// Cars are independent of each other (batch.h; validation case G15); images know their path.
#include "motion/batch.h"
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
// Car `number` has a start of its own, some fast, some slow, some standing.
static void place_car(const Batch *batch, uint32_t instance, uint32_t number) {
    double size = number % 5 == 0 ? 0.0 : number % 5 == 1 ? 0.3 : 2.5, position[3], attitude[4];
    double angle = 3.0 * random_signed(1, number), along = size * random_signed(2, number);
    for (uint32_t c = 0; c < 2; c++)
        position[c] = 2.0 * random_signed(3 + c, number);
    position[2] = 0.0;
    attitude[0] = cos(0.5 * angle);
    attitude[1] = attitude[2] = 0.0;
    attitude[3] = sin(0.5 * angle);
    double velocity[3] = {along * cos(angle), along * sin(angle), 0.0};
    MUST(mf_group_set_start(batch->rig.group, instance, position, attitude, velocity, &error));
    set_field(batch->rig.group, "base.angular_velocity", instance, 2,
              size * random_signed(6, number));
    set_field(batch->rig.group, "wind.velocity", instance, 0, random_signed(7, number));
}

static mf_Status open(Batch *batch, mf_Error *error) {
    static const double positions[5][2] = {{0, 0}, {2, 0}, {2, 1}, {0, 2}, {-1, -1}};
    const Options *options = &all_options[batch->option];
    mf_Car *car = &batch->motions.car;
    mf_CarConfig *config = &batch->motions.car_config;
    *car = WITH(mf_car(), .front_e = -0.5, .rear_e = -0.5, .ellipse = options->ellipse,
                .steering_lag = options->lag, .downforce = 0.001);
    config->model = options->model;
    config->command = options->command;
    config->tire = options->tire;
    config->integrator = options->integrator;
    config->control_interval = 4 * MF_MILLISECOND;
    batch->motion = MF_MOTION_CAR;
    batch->world.step = MF_MILLISECOND;
    batch->group.double_precision = options->double_precision;
    if (options->rough)
        MF_TRY(try_terrain(batch->rig.context, MF_TERRAIN_NOISE, MF_BILINEAR, 0.05, 1.0, 0.1,
                           &batch->rig.terrain, error));
    MF_TRY(mf_motion_model(batch->rig.context, MF_MOTION_CAR, &batch->motions, "car",
                           &batch->rig.model, error));
    MF_TRY(batch_add(batch, error));
    return options->command == MF_CAR_COMMAND_PATH
               ? mf_car_set_path(batch->rig.group, positions, 5, true, error)
               : MF_OK;
}

// New commands for every car, one in eight of them refused.
static void drive(const Batch *batch, uint32_t lane, uint32_t number) {
    for (uint32_t f = 0; f < mf_group_field_count(batch->rig.group); f++) {
        mf_Field *field = mf_group_field(batch->rig.group, f);
        if (strncmp(field->info.name, "command.", 8) != 0 || !(field->info.flags & MF_FIELD_INPUT))
            continue;
        for (uint32_t c = 0; c < field->components; c++) {
            uint64_t n = (batch->steps / 60 * 1000u + number) * 64u + f * 4u + c;
            double value = random_signed(20, n);
            if (strcmp(field->info.name, "command.steering") == 0)
                value *= 0.4;
            mf_field_set(field, lane, c, value);
        }
    }
}

static uint32_t moving(const Batch *batch, uint32_t lane) {
    return fabs(get_field(batch->rig.group, "base.linear_velocity", lane, 0)) > 0.1;
}

static const BatchPoison poisons[] = {{"base.position", 0, NAN, MF_FAULT_NONFINITE},
                                      {"base.position", 1, 2e6, MF_FAULT_RANGE},
                                      {"base.linear_velocity", 0, INFINITY, MF_FAULT_NONFINITE},
                                      {"base.linear_velocity", 1, 3e4, MF_FAULT_RANGE},
                                      {"base.angular_velocity", 2, NAN, MF_FAULT_NONFINITE},
                                      {"base.orientation", 3, NAN, MF_FAULT_NONFINITE},
                                      {"car.steering", 0, NAN, MF_FAULT_NONFINITE},
                                      {"wind.velocity", 1, NAN, MF_FAULT_NONFINITE}};

static const BatchKind batch_kind = {.options = sizeof all_options / sizeof *all_options,
                                     .robots = MOST_ROBOTS,
                                     .steps = 300,
                                     .many = 200,
                                     .swarm = 1 << 0,
                                     .open = open,
                                     .place = place_car,
                                     .drive = drive,
                                     .period = 60,
                                     .touches = 60,
                                     .touching = moving,
                                     .poisoned =
                                         (1 << sizeof all_options / sizeof *all_options) - 1,
                                     .poisons = poisons,
                                     .poison_count = sizeof poisons / sizeof *poisons};

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
