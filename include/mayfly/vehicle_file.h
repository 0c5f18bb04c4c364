// Mayfly: files of vehicles (models/crazyflie.yaml): the parameters of a quadrotor, a fixed wing or
// a car. docs/reference/models.md lists every key.
#pragma once

#include <mayfly/car.h>
#include <mayfly/fixed_wing.h>
#include <mayfly/quadrotor.h>

typedef enum mf_VehicleKind {
    MF_VEHICLE_QUADROTOR,
    MF_VEHICLE_FIXED_WING,
    MF_VEHICLE_CAR
} mf_VehicleKind;

// "quadrotor", "fixed_wing", "car": the top key of a vehicle's file.
MF_API const char *mf_vehicle_kind_name(mf_VehicleKind kind);

// Content of a vehicle's file, with defaults. Only the parameters of its kind are valid.
typedef struct mf_Vehicle {
    const char *file; // path it was read from
    const char *name; // its file name without folder and ending
    mf_VehicleKind kind;
    mf_Quadrotor quadrotor;
    mf_FixedWing fixed_wing;
    mf_Car car;
    mf_Context *context;
} mf_Vehicle;

// Reads and checks a vehicle's file. Errors name file:line:column and what was expected; what
// mf_<kind>_check() refuses is reported at the line of the member that it names.
MF_API mf_Status mf_vehicle_load(mf_Context *context, const char *path, mf_Vehicle **out,
                                 mf_Error *error);

// The body of a vehicle as a model of one link.
MF_API mf_Status mf_vehicle_body_model(mf_Context *context, const mf_Vehicle *vehicle,
                                       mf_Model **out, mf_Error *error);
