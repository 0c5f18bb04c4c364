// Robots of one group that differ in numbers (mf_group_vary): each moves as a robot of an edited
// file does, alone and among others, with every law of contact, on all instruction sets.
#include "rig/rig.h"

#include <mayfly/control.h>
#include <mayfly/model_fields.h>

enum { ROBOTS = 21, STEPS = 150, LEGS = 4 };

// What differs per robot.
typedef struct Numbers {
    double trunk, shin;       // [kg]
    double center;            // [m] of the trunk's mass along x
    double damping, armature; // of all joints
    double friction, sliding; // dry friction of knees; of the ground
    double gain, upper;       // of actuators; limit of knees [rad]
    double thigh;             // [m] length
} Numbers;

static Numbers numbers_of(uint32_t robot) {
    const double x = robot;
    return (Numbers){.trunk = 3.0 + 0.13 * x,
                     .shin = 0.2 + 0.01 * x,
                     .center = 0.002 * x - 0.01,
                     .damping = 0.2 + 0.02 * x,
                     .armature = 0.01 + 0.001 * x,
                     .friction = 0.05 + 0.01 * x,
                     .sliding = 0.4 + 0.05 * x,
                     .gain = 20.0 + x,
                     .upper = 0.3 - 0.008 * x,
                     .thigh = 0.2 - 0.003 * x}; // shorter: starts are those of the first
}

// A walker of four legs with two joints on a floor.
static mf_Model *load_walker(mf_Context *context, const Numbers *n, const char *cone) {
    char text[8192];
    size_t used = (size_t)snprintf(
        text, sizeof text,
        "<mujoco model='walker'><compiler angle='radian'/><option cone='%s'/><worldbody>"
        "<geom type='plane' size='0 0 1' friction='%.17g 0.005 0.0001'/>"
        "<body pos='0 0 0.45'><freejoint/><inertial pos='%.17g 0 0' mass='%.17g' "
        "diaginertia='0.02 0.06 0.07'/><geom type='box' size='0.2 0.1 0.05' friction='0.1'/>",
        cone, n->sliding, n->center, n->trunk);
    for (uint32_t leg = 0; leg < LEGS; leg++)
        used += (size_t)snprintf(
            text + used, sizeof text - used,
            "<body pos='%g %g 0'><joint name='hip%u' axis='0 1 0' damping='%.17g' "
            "armature='%.17g'/><inertial pos='0 0 -0.1' mass='0.5' "
            "diaginertia='0.002 0.002 0.0005'/><body pos='0 0 %.17g'>"
            "<joint name='knee%u' axis='0 1 0' damping='%.17g' armature='%.17g' "
            "frictionloss='%.17g' range='-0.3 %.17g'/>"
            "<inertial pos='%.17g 0 -0.1' mass='%.17g' diaginertia='0.001 0.001 0.0002'/>"
            "<geom type='sphere' size='0.03' pos='0 0 -0.2' friction='0.1'/></body></body>",
            leg & 1 ? 0.2 : -0.2, leg & 2 ? 0.1 : -0.1, leg, n->damping, n->armature, -n->thigh,
            leg, n->damping, n->armature, n->friction, n->upper, n->center, n->shin);
    used += (size_t)snprintf(text + used, sizeof text - used, "</body></worldbody><actuator>");
    for (uint32_t leg = 0; leg < LEGS; leg++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "<position joint='hip%u' kp='%.17g'/>"
                                 "<position joint='knee%u' kp='%.17g'/>",
                                 leg, n->gain, leg, n->gain);
    snprintf(text + used, sizeof text - used, "</actuator></mujoco>");
    return load_text(context, text);
}

typedef struct Case {
    mf_Isa isa;
    mf_ContactLaw law;
    const char *cone;
    bool wide;
} Case;

static mf_World *open_case(mf_Context *context, const Case *c) {
    return open_world(context, &WITH(mf_world_config(), .isa = c->isa, .step = 2 * MF_MILLISECOND));
}

static mf_Group *add_walkers(mf_World *world, const mf_Model *model, const Case *c,
                             uint32_t count) {
    mf_Group *group = add_group(world, &WITH(mf_group_config(), .model = model, .count = count,
                                             .double_precision = c->wide));
    mf_MotionsConfig motions = mf_motions_config();
    motions.articulated.contact_law = c->law;
    MUST(mf_motion_add(group, MF_MOTION_ARTICULATED, &motions, &error));
    return group;
}

// All that differs, for robots from `first` on.
typedef struct Changes {
    mf_ModelChange list[40];
    double values[40][ROBOTS * 3];
    uint32_t count;
} Changes;

static void change(Changes *changes, mf_ItemType item, const char *field, uint32_t index,
                   uint32_t first, const double *values) {
    double *own = changes->values[changes->count];
    memcpy(own, values, ROBOTS * sizeof *own);
    changes->list[changes->count++] = (mf_ModelChange){item, field, index, first, 1, own};
}

static void change_all(const mf_Model *model, Changes *changes) {
    double v[10][ROBOTS], below[ROBOTS], bias[ROBOTS];
    for (uint32_t i = 0; i < ROBOTS; i++) {
        const Numbers n = numbers_of(i);
        const double all[10] = {n.trunk,    n.shin,    n.center, n.damping, n.armature,
                                n.friction, n.sliding, n.gain,   n.upper,   n.thigh};
        for (int k = 0; k < 10; k++)
            v[k][i] = all[k];
        below[i] = -n.thigh;
        bias[i] = -n.gain;
    }
    changes->count = 0;
    change(changes, MF_ITEM_LINK, "mass", 0, 0, v[0]);
    change(changes, MF_ITEM_LINK, "center", 0, 0, v[2]);
    for (uint32_t j = 0; j < model->joint_count; j++)
        if (strncmp(model->joints[j].name, "knee", 4) == 0)
            change(changes, MF_ITEM_LINK, "center", model->joints[j].child, 0, v[2]);
    change(changes, MF_ITEM_JOINT, "damping", MF_NONE, 0, v[3]);
    change(changes, MF_ITEM_JOINT, "armature", MF_NONE, 0, v[4]);
    change(changes, MF_ITEM_ACTUATOR, "gain", MF_NONE, 0, v[7]);
    change(changes, MF_ITEM_ACTUATOR, "bias", MF_NONE, 1, bias);
    change(changes, MF_ITEM_SHAPE, "friction", 0, 0, v[6]); // the floor, first in the file
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const mf_Joint *joint = &model->joints[j];
        if (strncmp(joint->name, "knee", 4) != 0)
            continue;
        change(changes, MF_ITEM_LINK, "mass", joint->child, 0, v[1]);
        change(changes, MF_ITEM_JOINT, "friction", j, 0, v[5]);
        change(changes, MF_ITEM_JOINT, "upper", j, 0, v[8]);
        change(changes, MF_ITEM_JOINT, "position", j, 2, below);
    }
}

static void drive(mf_Group *group, uint32_t instance, uint32_t robot, uint32_t step) {
    for (uint32_t a = 0; a < 2 * LEGS; a++)
        set_field(group, "actuator.control", instance, a,
                  0.4 * sin(0.05 * step + 0.7 * a + 0.1 * robot));
}

static const char *const watched[] = {"base.position", "base.orientation", "base.linear_velocity",
                                      "joint.angle",   "joint.rate",       "contact.load"};

// The largest difference of two robots, in their units; loads [N] count a thousandth.
static double apart(mf_Group *a, uint32_t i, mf_Group *b, uint32_t k) {
    double most = 0.0;
    for (size_t f = 0; f < sizeof watched / sizeof *watched; f++) {
        const mf_Field *x = mf_group_find_field(a, watched[f]),
                       *y = mf_group_find_field(b, watched[f]);
        for (uint32_t c = 0; c < x->components; c++)
            most = fmax(most, (f == 5 ? 1e-3 : 1.0) *
                                  fabs(mf_field_get(x, i, c) - mf_field_get(y, k, c)));
    }
    return most;
}

static void vary_all(mf_Group *group) {
    static Changes changes;
    uint32_t instances[ROBOTS];
    for (uint32_t i = 0; i < ROBOTS; i++)
        instances[i] = i;
    change_all(mf_group_model(group), &changes);
    MUST(mf_group_vary(group, instances, ROBOTS, NULL, changes.list, changes.count, &error));
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

// By changes of single fields, or by the models of the edited files.
static double differs_from_files(const Case *c, bool models) {
    AUTO_CONTEXT *context = open_context(1);
    const Numbers first = numbers_of(0);
    mf_Model *model = load_walker(context, &first, c->cone), *edited[ROBOTS];
    mf_World *world = open_case(context, c), *worlds[ROBOTS];
    mf_Group *group = add_walkers(world, model, c, ROBOTS), *alone[ROBOTS];
    for (uint32_t i = 0; i < ROBOTS; i++) {
        const Numbers n = numbers_of(i);
        edited[i] = load_walker(context, &n, c->cone);
        worlds[i] = open_case(context, c);
        alone[i] = add_walkers(worlds[i], edited[i], c, 1);
    }
    if (models)
        give_models(group, edited);
    else
        vary_all(group);
    double most = 0.0;
    for (uint32_t s = 0; s < STEPS; s++) {
        for (uint32_t i = 0; i < ROBOTS; i++) {
            drive(group, i, i, s);
            drive(alone[i], 0, i, s);
            mf_world_step(worlds[i], 1);
        }
        mf_world_step(world, 1);
        for (uint32_t i = 0; i < ROBOTS; i++)
            most = fmax(most, apart(group, i, alone[i], 0));
    }
    for (uint32_t i = 0; i < ROBOTS; i++) {
        const mf_MotionEnergy a = mf_motion_energy(group, i), b = mf_motion_energy(alone[i], 0);
        assert_near(a.potential, b.potential, 1e-9 * b.potential);
        mf_world_destroy(worlds[i]);
    }
    mf_world_destroy(world);
    mf_model_destroy(model);
    for (uint32_t i = 0; i < ROBOTS; i++)
        mf_model_destroy(edited[i]);
    return most;
}

TEST(a_robot_with_own_numbers_moves_as_one_of_an_edited_file) {
    static const struct {
        mf_ContactLaw law;
        const char *cone;
    } laws[] = {{MF_CONTACT_LAW_MUJOCO, "pyramidal"},
                {MF_CONTACT_LAW_MUJOCO, "elliptic"},
                {MF_CONTACT_LAW_COMPLIANT, "pyramidal"}};
    static const mf_Isa isas[] = {MF_ISA_SCALAR, MF_ISA_AVX2, MF_ISA_AVX512};
    for (size_t l = 0; l < sizeof laws / sizeof *laws; l++)
        for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
            if (!mf_isa_available(isas[i]))
                continue;
            const Case c = {isas[i], laws[l].law, laws[l].cone, true};
            assert_true(differs_from_files(&c, false) < 1e-9);
            assert_true(differs_from_files(&c, true) < 1e-9);
        }
}

static void drive_all(mf_World *world, mf_Group *group, uint32_t steps) {
    for (uint32_t s = 0; s < steps; s++) {
        for (uint32_t i = 0; i < mf_group_count(group); i++)
            drive(group, i, i, s);
        mf_world_step(world, 1);
    }
}

static uint64_t hash_after(const Case *c, uint32_t threads) {
    AUTO_CONTEXT *context = open_context(threads);
    const Numbers first = numbers_of(0);
    mf_Model *model = load_walker(context, &first, c->cone);
    mf_World *world = open_case(context, c);
    mf_Group *group = add_walkers(world, model, c, ROBOTS);
    vary_all(group);
    drive_all(world, group, STEPS);
    const uint64_t hash = mf_world_hash(world);
    mf_world_destroy(world);
    mf_model_destroy(model);
    return hash;
}

TEST(numbers_give_the_same_bits_on_all_instruction_sets) {
    for (int wide = 0; wide < 2; wide++) {
        const Case first = {MF_ISA_SCALAR, MF_CONTACT_LAW_MUJOCO, "pyramidal", wide};
        const uint64_t hash = hash_after(&first, 1);
        for (mf_Isa isa = MF_ISA_AVX2; isa <= MF_ISA_AVX512; isa = (mf_Isa)(isa + 1)) {
            const Case c = {isa, first.law, first.cone, wide};
            if (mf_isa_available(isa))
                assert_true(hash_after(&c, 2) == hash);
        }
    }
}

TEST(numbers_are_state) {
    const Case c = {MF_ISA_AUTO, MF_CONTACT_LAW_MUJOCO, "elliptic", false};
    AUTO_CONTEXT *context = open_context(1);
    const Numbers first = numbers_of(0);
    mf_Model *model = load_walker(context, &first, c.cone);
    mf_World *world = open_case(context, &c), *same = open_case(context, &c);
    mf_Group *group = add_walkers(world, model, &c, ROBOTS);
    mf_Group *other = add_walkers(same, model, &c, ROBOTS);
    const uint64_t before = mf_world_hash(world);
    assert_int_equal(mf_world_hash(same), before);
    vary_all(group);
    assert_true(mf_world_hash(world) != before);
    mf_group_reset_all(group); // leaves them
    const size_t size = mf_world_snapshot_size(world);
    void *image = malloc(size);
    MUST(mf_world_snapshot(world, image, size, &error));
    MUST_FAIL(mf_world_restore(same, image, size, &error), MF_BAD_ARGUMENT, "");
    const uint32_t none[1] = {0};
    MUST(mf_group_vary(other, none, 1, NULL, NULL, 0, &error));
    MUST(mf_world_restore(same, image, size, &error));
    drive_all(world, group, STEPS);
    drive_all(same, other, STEPS);
    assert_true(mf_world_hash(world) == mf_world_hash(same));
    // Without changes robots have the model's again.
    for (uint32_t i = 0; i < ROBOTS; i++)
        MUST(mf_group_vary(group, &i, 1, NULL, NULL, 0, &error));
    assert_true(mf_world_hash(world) != mf_world_hash(same));
    mf_group_reset_all(group);
    mf_world_step(world, STEPS);
    for (uint32_t i = 1; i < ROBOTS; i++)
        assert_true(apart(group, i, group, 0) < 1e-30);
    free(image);
    mf_world_destroy(same);
    mf_world_destroy(world);
    mf_model_destroy(model);
}

TEST(what_is_more_than_numbers_is_refused) {
    const Case c = {MF_ISA_AUTO, MF_CONTACT_LAW_MUJOCO, "pyramidal", false};
    AUTO_CONTEXT *context = open_context(1);
    const Numbers first = numbers_of(0);
    mf_Model *model = load_walker(context, &first, c.cone);
    mf_World *world = open_case(context, &c);
    mf_Group *group = add_walkers(world, model, &c, 2);
    const uint32_t two[2] = {0, 1}, third[1] = {2};
    const double values[6] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, bad[2] = {1.0, (double)NAN},
                 negative[2] = {1.0, -1.0};
    const double huge[2] = {1e40, 1e40}, low[2] = {0.5, 0.5};
    const uint64_t before = mf_world_hash(world);
    const struct {
        mf_ModelChange change;
        mf_Status status;
        const char *message;
    } cases[] = {
        {{MF_ITEM_BODY, "mass", 0, 0, 1, values}, MF_BAD_ARGUMENT, "not of 'body'"},
        {{MF_ITEM_LINK, "weight", 0, 0, 1, values}, MF_BAD_ARGUMENT, "link.weight is not a field"},
        {{MF_ITEM_LINK, "name", 0, 0, 1, values}, MF_BAD_ARGUMENT, "link.name is not a field"},
        {{MF_ITEM_LINK, "mass", 99, 0, 1, values}, MF_BAD_ARGUMENT, "index 99, need 0 .. 8"},
        {{MF_ITEM_LINK, "center", 0, 2, 2, values}, MF_BAD_ARGUMENT, "has 3 components"},
        {{MF_ITEM_LINK, "mass", 0, 0, 1, bad},
         MF_BAD_ARGUMENT,
         "link.mass of robot 1: nan, need a number"},
        {{MF_ITEM_LINK, "mass", 0, 0, 1, negative}, MF_BAD_ARGUMENT, "need >= 0"},
        {{MF_ITEM_JOINT, "friction", 0, 0, 1, values},
         MF_UNSUPPORTED,
         "robot 0 of group robots differs from model walker in more than numbers"},
        {{MF_ITEM_JOINT, "upper", 0, 0, 1, values}, MF_UNSUPPORTED, "in more than numbers"},
        {{MF_ITEM_JOINT, "damping", 0, 0, 1, huge},
         MF_BAD_ARGUMENT,
         "too large for single precision"},
        {{MF_ITEM_JOINT, "lower", 1, 0, 1, low}, MF_BAD_ARGUMENT, "limits 0.5 and 0.3 are crossed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        MUST_FAIL(mf_group_vary(group, two, 2, NULL, &cases[i].change, 1, &error), cases[i].status,
                  cases[i].message);
    assert_true(mf_world_hash(world) == before); // nothing changed
    MUST_FAIL(mf_group_vary(group, third, 1, NULL, NULL, 0, &error), MF_BAD_ARGUMENT,
              "instance 2 of 2");
    mf_Group *bare = add_group(world, &WITH(mf_group_config(), .name = "bare", .model = model));
    MUST_FAIL(mf_group_vary(bare, two, 1, NULL, NULL, 0, &error), MF_BAD_ARGUMENT,
              "add a motion first");
    mf_Group *rigid = add_group(world, &WITH(mf_group_config(), .name = "rigid", .model = model));
    MUST(mf_motion_add(rigid, MF_MOTION_RIGID, NULL, &error));
    MUST_FAIL(mf_group_vary(rigid, two, 1, NULL, NULL, 0, &error), MF_UNSUPPORTED,
              "moves by rigid");
    mf_Group *shared = add_group(
        world, &WITH(mf_group_config(), .name = "shared", .model = model, .isolated = false));
    MUST(mf_motion_add(shared, MF_MOTION_ARTICULATED, NULL, &error));
    MUST_FAIL(mf_group_vary(shared, two, 1, NULL, NULL, 0, &error), MF_UNSUPPORTED,
              "share their ground");
    mf_world_destroy(world);
    mf_model_destroy(model);
}
