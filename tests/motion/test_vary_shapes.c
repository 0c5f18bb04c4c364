// Robots of one group that differ in the shapes with which their links touch each other: each moves
// as a robot of an edited file does, with every law of contact, on all instruction sets.
#include "rig/rig.h"

#include <mayfly/control.h>

enum { ROBOTS = 21, STEPS = 200 };

typedef struct Case {
    mf_Isa isa;
    mf_ContactLaw law;
    bool wide;
} Case;

static const char *const kinds[] = {"sphere", "capsule", "ellipsoid", "cylinder", "box"};

// Arms that hang side by side from a fixed beam, and swing against their neighbors and a plate of
// the world. Each has a shape of another kind at its end and a capsule along it.
static mf_Model *load_arms(mf_Context *context, uint32_t robot) {
    char text[8192];
    const double x = robot, size = 0.05 + 0.0008 * x, wide = 0.03 + 0.001 * x,
                 length = 0.3 - 0.004 * x;
    size_t used =
        (size_t)snprintf(text, sizeof text,
                         "<mujoco model='arms'><compiler angle='radian'/><worldbody>"
                         "<body pos='0 0 1'><geom type='box' size='0.6 0.05 0.02' mass='1'/>"
                         "<geom type='plane' size='1 1 0.1' pos='0 0 %.17g' euler='0 0.1 0'/>",
                         -0.36 + 0.003 * x);
    for (uint32_t arm = 0; arm < sizeof kinds / sizeof *kinds; arm++)
        used += (size_t)snprintf(
            text + used, sizeof text - used,
            "<body pos='%.17g 0 0'><joint name='swing%u' axis='0 1 0' damping='0.02'/>"
            "<joint name='side%u' axis='1 0 0' damping='0.02'/>"
            "<inertial pos='0 0 -0.2' mass='0.5' diaginertia='0.01 0.01 0.004'/>"
            "<geom type='capsule' size='%.17g 0.08' pos='0 0 -0.15' friction='0.6'/>"
            "<geom type='%s' size='%.17g %.17g %.17g' pos='%.17g 0 %.17g' euler='0.2 %.17g 0.1' "
            "friction='0.4'/></body>",
            0.2 * arm - 0.4, arm, arm, 0.3 * wide, kinds[arm], size, wide, 0.8 * wide, 0.001 * x,
            -length, 0.3 + 0.02 * x);
    used += (size_t)snprintf(text + used, sizeof text - used, "</body></worldbody><actuator>");
    for (uint32_t arm = 0; arm < sizeof kinds / sizeof *kinds; arm++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "<position joint='swing%u' kp='20'/>"
                                 "<position joint='side%u' kp='20'/>",
                                 arm, arm);
    snprintf(text + used, sizeof text - used, "</actuator></mujoco>");
    return load_text(context, text);
}

static mf_World *open_case(mf_Context *context, const Case *c) {
    return open_world(context, &WITH(mf_world_config(), .isa = c->isa, .step = 2 * MF_MILLISECOND));
}

static mf_Group *add_arms(mf_World *world, const mf_Model *model, const Case *c, uint32_t count) {
    mf_Group *group = add_group(world, &WITH(mf_group_config(), .model = model, .count = count,
                                             .double_precision = c->wide));
    mf_MotionsConfig motions = mf_motions_config();
    motions.articulated.contact_law = c->law;
    MUST(mf_motion_add(group, MF_MOTION_ARTICULATED, &motions, &error));
    return group;
}

static void give_models(mf_Group *group, mf_Model *const models[ROBOTS]) {
    const mf_Model *own[ROBOTS];
    uint32_t instances[ROBOTS];
    for (uint32_t i = 0; i < ROBOTS; i++) {
        own[i] = models[i];
        instances[i] = i;
    }
    MUST(mf_group_vary(group, instances, ROBOTS, own, NULL, 0, &error));
}

static void drive(mf_Group *group, uint32_t instance, uint32_t robot, uint32_t step) {
    for (uint32_t a = 0; a < 2 * sizeof kinds / sizeof *kinds; a++)
        set_field(group, "actuator.control", instance, a,
                  (a % 2 == 0 ? 0.9 : 0.3) * sin(0.03 * step + 1.9 * a + 0.1 * robot));
}

static double apart(mf_Group *a, uint32_t i, mf_Group *b, uint32_t k, const char *name) {
    const mf_Field *x = mf_group_find_field(a, name), *y = mf_group_find_field(b, name);
    double most = 0.0;
    for (uint32_t c = 0; c < x->components; c++)
        most = fmax(most, fabs(mf_field_get(x, i, c) - mf_field_get(y, k, c)));
    return most;
}

// The largest difference of a group's robots to those of the files alone, and to the robot of the
// group's model.
static void compare(const Case *c, double *to_files, double *to_first) {
    AUTO_CONTEXT *context = open_context(1);
    mf_Model *edited[ROBOTS];
    mf_World *world = open_case(context, c), *worlds[ROBOTS];
    mf_Group *alone[ROBOTS];
    for (uint32_t i = 0; i < ROBOTS; i++) {
        edited[i] = load_arms(context, i);
        worlds[i] = open_case(context, c);
        alone[i] = add_arms(worlds[i], edited[i], c, 1);
    }
    mf_Group *group = add_arms(world, edited[0], c, ROBOTS);
    give_models(group, edited);
    *to_files = *to_first = 0.0;
    for (uint32_t s = 0; s < STEPS; s++) {
        for (uint32_t i = 0; i < ROBOTS; i++) {
            drive(group, i, 0, s);
            drive(alone[i], 0, 0, s);
            mf_world_step(worlds[i], 1);
        }
        mf_world_step(world, 1);
        for (uint32_t i = 0; i < ROBOTS; i++) {
            *to_files = fmax(*to_files, apart(group, i, alone[i], 0, "joint.angle"));
            *to_files = fmax(*to_files, apart(group, i, alone[i], 0, "joint.rate"));
        }
    }
    for (uint32_t i = 1; i < ROBOTS; i++)
        *to_first = fmax(*to_first, apart(group, i, group, 0, "joint.angle"));
    for (uint32_t i = 0; i < ROBOTS; i++)
        mf_world_destroy(worlds[i]);
    mf_world_destroy(world);
    for (uint32_t i = 0; i < ROBOTS; i++)
        mf_model_destroy(edited[i]);
}

TEST(shapes_that_touch_each_other_are_the_robots_own) {
    static const mf_ContactLaw laws[] = {MF_CONTACT_LAW_MUJOCO, MF_CONTACT_LAW_COMPLIANT,
                                         MF_CONTACT_LAW_HARD};
    static const mf_Isa isas[] = {MF_ISA_SCALAR, MF_ISA_AVX2, MF_ISA_AVX512};
    for (size_t l = 0; l < sizeof laws / sizeof *laws; l++)
        for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
            if (!mf_isa_available(isas[i]))
                continue;
            double to_files, to_first;
            compare(&(Case){isas[i], laws[l], true}, &to_files, &to_first);
            assert_true(to_files < 1e-30);
            assert_true(to_first > 0.1);
        }
}

static uint64_t hash_after(const Case *c, uint32_t threads) {
    AUTO_CONTEXT *context = open_context(threads);
    mf_Model *edited[ROBOTS];
    for (uint32_t i = 0; i < ROBOTS; i++)
        edited[i] = load_arms(context, i);
    mf_World *world = open_case(context, c);
    mf_Group *group = add_arms(world, edited[0], c, ROBOTS);
    give_models(group, edited);
    for (uint32_t s = 0; s < STEPS; s++) {
        for (uint32_t i = 0; i < ROBOTS; i++)
            drive(group, i, i, s);
        mf_world_step(world, 1);
    }
    const uint64_t hash = mf_world_hash(world);
    mf_world_destroy(world);
    for (uint32_t i = 0; i < ROBOTS; i++)
        mf_model_destroy(edited[i]);
    return hash;
}

TEST(own_shapes_give_the_same_bits_on_all_instruction_sets) {
    static const mf_ContactLaw laws[] = {MF_CONTACT_LAW_MUJOCO, MF_CONTACT_LAW_HARD};
    for (size_t l = 0; l < 2; l++) {
        const uint64_t hash = hash_after(&(Case){MF_ISA_SCALAR, laws[l], false}, 1);
        for (mf_Isa isa = MF_ISA_AVX2; isa <= MF_ISA_AVX512; isa = (mf_Isa)(isa + 1))
            if (mf_isa_available(isa))
                assert_true(hash_after(&(Case){isa, laws[l], false}, 2) == hash);
    }
}

// By a change of single fields of one robot, and back.
TEST(changes_of_shapes_hold_between_links) {
    const Case c = {MF_ISA_AUTO, MF_CONTACT_LAW_MUJOCO, true};
    AUTO_CONTEXT *context = open_context(1);
    mf_Model *model = load_arms(context, 0);
    mf_World *world = open_case(context, &c);
    mf_Group *group = add_arms(world, model, &c, 3);
    const uint32_t middle[1] = {1};
    const double size[1] = {0.08};
    uint32_t ball = 0;
    while (model->shapes[ball].type != MF_SHAPE_SPHERE)
        ball++;
    const mf_ModelChange larger = {MF_ITEM_SHAPE, "size", ball, 0, 1, size};
    MUST(mf_group_vary(group, middle, 1, NULL, &larger, 1, &error));
    for (int k = 0; k < 2; k++) {
        for (uint32_t s = 0; s < STEPS; s++) {
            for (uint32_t i = 0; i < 3; i++)
                drive(group, i, 0, s);
            mf_world_step(world, 1);
        }
        assert_true(apart(group, 2, group, 0, "joint.angle") < 1e-30);
        assert_true((apart(group, 1, group, 0, "joint.angle") > 1e-4) == (k == 0));
        MUST(mf_group_vary(group, middle, 1, NULL, NULL, 0, &error));
        mf_group_reset_all(group);
    }
    mf_world_destroy(world);
    mf_model_destroy(model);
}
