// A world with one group of a model given as MJCF text.
#ifndef MF_TESTS_MOTION_ARTICULATED_TEXT_H
#define MF_TESTS_MOTION_ARTICULATED_TEXT_H

#include "motion/articulated_fixture.h"

typedef struct Text {
    mf_Context *context;
    mf_Model *model;
    mf_World *world;
    mf_Group *group;
} Text;

typedef ArtConfig TextConfig;

static inline TextConfig text_config(mf_ArticulatedIntegrator integrator, mf_Time step) {
    return art_config(integrator, step);
}

static inline Text text_open(const char *text, TextConfig config) {
    Text t = {.context = open_context(1)};
    t.model = load_text(t.context, text);
    config.group.model = t.model;
    t.world = open_world(t.context, &config.world);
    t.group = add_group(t.world, &config.group);
    MUST(rig_add_articulated(t.group, &config.motion, &error));
    return t;
}

static inline void text_close(Text *t) {
    mf_world_destroy(t->world);
    mf_model_destroy(t->model);
    mf_context_destroy(t->context);
}

static inline double text_get(const Text *t, const char *field, uint32_t component) {
    return get_field(t->group, field, 0, component);
}

static inline void text_set(const Text *t, const char *field, uint32_t component, double value) {
    set_field(t->group, field, 0, component, value);
}

static inline void text_set3(const Text *t, const char *field, double x, double y, double z) {
    set_field3(t->group, field, 0, x, y, z);
}

static inline uint32_t text_joint(const Text *t, const char *name) {
    return mf_model_find(t->model, MF_ITEM_JOINT, name);
}

// A robot has the same bits alone, as number 3 of 19 and on every instruction set, and others when
// it starts differently. `hash_of` runs `count` robots and gives the hash of one; a lone robot
// starts as number `which` does in a batch.
static inline void assert_bits_depend_on_nothing(uint64_t (*hash_of)(uint32_t count, uint32_t which,
                                                                     bool floats, mf_Isa isa)) {
    for (int floats = 0; floats < 2; floats++) {
        const uint64_t alone = hash_of(1, 3, floats, MF_ISA_AUTO);
        assert_true(alone != hash_of(1, 2, floats, MF_ISA_AUTO));
        FOR_EACH_ISA (isa)
            assert_true(hash_of(19, 3, floats, isa) == alone);
    }
}

static inline double text_energy(const Text *t) {
    mf_MotionEnergy energy = mf_motion_energy(t->group, 0);
    return energy.kinetic + energy.potential + energy.elastic;
}

#endif
