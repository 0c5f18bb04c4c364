// The appearance of vehicles (vehicle.h). Their models have one collision shape, a sphere or
// an upright cylinder, which shows neither heading nor size; instead there is a body with wheels,
// rotors or wings in the proportions of the vehicle's parameters. A car's collision cylinder is
// drawn as a disk on the ground, because it reaches beyond the body.
#include "visual/vehicle.h"
#include "motion/vehicle/keys.h"

#include "math/scalar.h"
#include "world/group.h"

#include <mayfly/car.h>
#include <mayfly/quadrotor.h>

#define QUARTER 0.70710678118654752 // [1] cosine and sine of half a right angle

static const float body_color[3] = {0.80f, 0.33f, 0.12f}; // takes the color of a group in films
static const float dark[3] = {0.10f, 0.11f, 0.12f};
static const float pale[3] = {0.72f, 0.74f, 0.76f};
static const double whole[4] = {1.0, 0.0, 0.0, 0.0};
static const double along_y[4] = {QUARTER, -QUARTER, 0.0, 0.0}; // the z axis of a shape points left
static const double along_x[4] = {QUARTER, 0.0, QUARTER, 0.0};  // forward

typedef struct Look {
    mf_Shape *parts;
    uint32_t count; // [1]
} Look;

static void put(Look *look, mf_ShapeType type, const double position[3], const double rotation[4],
                const double size[3], const float color[3]) {
    mf_Shape *part = &look->parts[look->count++];
    *part = (mf_Shape){.type = type, .visual = true, .mesh = MF_NONE, .name = ""};
    mf_vec3_copy(part->position, position);
    mf_vec3_copy(part->size, size);
    for (int c = 0; c < 4; c++)
        part->rotation[c] = rotation[c];
    for (int c = 0; c < 3; c++)
        part->color[c] = color[c];
}

// Wheels at the axles, as high as the center of mass allows.
static void put_car(Look *look, const mf_Car *car, const mf_Shape *cylinder) {
    const double base = car->front + car->rear, floor = -car->height;
    const double wheel = car->height < 0.17 * base ? car->height : 0.17 * base;
    const double middle = 0.5 * (car->front - car->rear), low = floor + 0.6 * wheel;
    const double hull[3] = {1.4 * base, 0.62 * base, 0.2 * base};
    const double cabin[3] = {0.6 * base, 0.52 * base, 0.17 * base};
    put(look, MF_SHAPE_BOX, (double[3]){middle, 0.0, low + 0.5 * hull[2]}, whole, hull, body_color);
    put(look, MF_SHAPE_BOX, (double[3]){middle - 0.12 * base, 0.0, low + hull[2] + 0.5 * cabin[2]},
        whole, cabin, pale);
    for (int i = 0; i < 4; i++)
        put(look, MF_SHAPE_CYLINDER,
            (double[3]){i < 2 ? car->front : -car->rear, i % 2 == 0 ? 0.28 * base : -0.28 * base,
                        floor + wheel},
            along_y, (double[3]){wheel, 0.12 * base, 0.0}, dark);
    put(look, MF_SHAPE_CYLINDER, (double[3]){0.0, 0.0, floor + 0.005 * base}, whole,
        (double[3]){cylinder->size[0], 0.01 * base, 0.0}, pale);
}

// Arms from the center of mass to the rotors; those in front are colored.
static void put_quadrotor(Look *look, const mf_Quadrotor *quadrotor) {
    double arm = 0.0;
    for (int i = 0; i < 4; i++)
        arm += 0.25 * mf_sqrt(quadrotor->rotor_x[i] * quadrotor->rotor_x[i] +
                              quadrotor->rotor_y[i] * quadrotor->rotor_y[i]);
    if (!(arm > 0.0))
        arm = 0.7 * quadrotor->radius;
    put(look, MF_SHAPE_BOX, (double[3]){0.0, 0.0, 0.0}, whole,
        (double[3]){0.6 * arm, 0.4 * arm, 0.22 * arm}, body_color);
    for (int i = 0; i < 4; i++) {
        const double x = quadrotor->rotor_x[i], y = quadrotor->rotor_y[i];
        const double half = 0.5 * mf_atan2(y, x);
        double rotation[4] = {1.0, 0.0, 0.0, 0.0};
        mf_sin_cos(half, &rotation[3], &rotation[0]);
        put(look, MF_SHAPE_BOX, (double[3]){0.5 * x, 0.5 * y, 0.0}, rotation,
            (double[3]){mf_sqrt(x * x + y * y), 0.1 * arm, 0.08 * arm}, dark);
        put(look, MF_SHAPE_CYLINDER, (double[3]){x, y, 0.12 * arm}, whole,
            (double[3]){0.55 * arm, 0.03 * arm, 0.0}, x > 0.0 ? body_color : pale);
    }
}

// Its collision sphere holds the wing.
static void put_fixed_wing(Look *look, const mf_Shape *sphere) {
    const double span = 2.0 * sphere->size[0];
    put(look, MF_SHAPE_CAPSULE, (double[3]){-0.05 * span, 0.0, 0.0}, along_x,
        (double[3]){0.04 * span, 0.5 * span, 0.0}, body_color);
    put(look, MF_SHAPE_BOX, (double[3]){0.04 * span, 0.0, 0.03 * span}, whole,
        (double[3]){0.12 * span, span, 0.015 * span}, pale);
    put(look, MF_SHAPE_BOX, (double[3]){-0.3 * span, 0.0, 0.01 * span}, whole,
        (double[3]){0.07 * span, 0.3 * span, 0.01 * span}, pale);
    put(look, MF_SHAPE_BOX, (double[3]){-0.3 * span, 0.0, 0.07 * span}, whole,
        (double[3]){0.07 * span, 0.01 * span, 0.13 * span}, body_color);
}

static const void *parameters_of(const mf_Group *group, mf_VehicleKind kind) {
    const void *own = mf_vehicle_parameters(group, kind);
    return own != NULL ? own : mf_group_look(group, (int)kind);
}

uint32_t mf_vehicle_look(const mf_Group *group, mf_Shape parts[MF_VEHICLE_PARTS]) {
    const mf_Model *model = mf_group_model(group);
    const mf_Car *car = parameters_of(group, MF_VEHICLE_CAR);
    const mf_Quadrotor *quadrotor = parameters_of(group, MF_VEHICLE_QUADROTOR);
    Look look = {parts, 0};
    if (model->shape_count != 1)
        return 0;
    if (car != NULL)
        put_car(&look, car, &model->shapes[0]);
    else if (quadrotor != NULL)
        put_quadrotor(&look, quadrotor);
    else if (parameters_of(group, MF_VEHICLE_FIXED_WING) != NULL)
        put_fixed_wing(&look, &model->shapes[0]);
    return look.count;
}
