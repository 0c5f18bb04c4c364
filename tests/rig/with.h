// Settings in one expression: a copy of a value with some of its members changed.
//
//     open_world(context, &WITH(mf_world_config(), .gravity = 0.0, .step = MF_MILLISECOND));
//
// The copy can be changed and has an address; like a compound literal it lives as long as its
// block. At most sixteen members; an array is given element by element: .gain[0] = 1.0.
#pragma once

#define WITH(value, ...)                                                                           \
    (*(__typeof__(value)[1]){__extension__({                                                       \
        __auto_type changed = (value);                                                             \
        WITH_PICK(__VA_ARGS__, WITH_16, WITH_15, WITH_14, WITH_13, WITH_12, WITH_11, WITH_10,      \
                  WITH_9, WITH_8, WITH_7, WITH_6, WITH_5, WITH_4, WITH_3, WITH_2, WITH_1, )        \
        (__VA_ARGS__);                                                                             \
        changed;                                                                                   \
    })})
#define WITH_PICK(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, picked, ...) picked
#define WITH_1(a) changed a
#define WITH_2(a, ...) changed a, WITH_1(__VA_ARGS__)
#define WITH_3(a, ...) changed a, WITH_2(__VA_ARGS__)
#define WITH_4(a, ...) changed a, WITH_3(__VA_ARGS__)
#define WITH_5(a, ...) changed a, WITH_4(__VA_ARGS__)
#define WITH_6(a, ...) changed a, WITH_5(__VA_ARGS__)
#define WITH_7(a, ...) changed a, WITH_6(__VA_ARGS__)
#define WITH_8(a, ...) changed a, WITH_7(__VA_ARGS__)
#define WITH_9(a, ...) changed a, WITH_8(__VA_ARGS__)
#define WITH_10(a, ...) changed a, WITH_9(__VA_ARGS__)
#define WITH_11(a, ...) changed a, WITH_10(__VA_ARGS__)
#define WITH_12(a, ...) changed a, WITH_11(__VA_ARGS__)
#define WITH_13(a, ...) changed a, WITH_12(__VA_ARGS__)
#define WITH_14(a, ...) changed a, WITH_13(__VA_ARGS__)
#define WITH_15(a, ...) changed a, WITH_14(__VA_ARGS__)
#define WITH_16(a, ...) changed a, WITH_15(__VA_ARGS__)
