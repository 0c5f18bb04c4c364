// mf_body_parse for single kinds: mf_<name>_parse.
#ifndef MAYFLY_TESTS_RIG_BODIES_H
#define MAYFLY_TESTS_RIG_BODIES_H

#include "body/kind.h"

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

#endif
