// mf_body_parse for single kinds: mf_<name>_parse. And vehicles of models/.
#pragma once

#include "body/kind.h"
#include "rig/rig.h"

#define BODY_PARSE(Type, name)                                                                     \
    static inline mf_Status mf_##name##_parse(mf_Context *context, const char *path,               \
                                              const char *text, size_t size, Type **out,           \
                                              mf_Error *error) {                                   \
        void *value = NULL;                                                                        \
        mf_Status status =                                                                         \
            mf_body_parse(context, &mf_##name##_body, path, text, size, &value, error);            \
        *out = value;                                                                              \
        return status;                                                                             \
    }
BODY_PARSE(mf_Cloth, cloth)
BODY_PARSE(mf_Truss, truss)
BODY_PARSE(mf_Vehicle, vehicle)

// A car of models/.
static inline mf_Car rig_car(const char *name) {
    AUTO_CONTEXT *context = open_context(1);
    mf_Vehicle *vehicle;
    MUST(mf_vehicle_load(context, formatted("%s/models/%s.yaml", MAYFLY_SOURCE_DIR, name), &vehicle,
                         &error));
    const mf_Car car = vehicle->car;
    mf_body_destroy(vehicle);
    return car;
}
