// Robots whose bodies have one tree, but other lengths and masses, share lanes, in groups of one
// body each or in one group: each moves as in a group with lanes of its own, bit for bit.
#include "rig/rig.h"
#include "base/inject.h"
#include "world/group.h"

#include <mayfly/control.h>
#include <mayfly/points.h>
#include <mayfly/sensor.h>

enum { GROUPS = 21, STEPS = 96 };

// A walker of four legs with two joints, which is `size` times as large as the first, with thighs
// `thigh` times as heavy for it. With another tree, if `legs` is less than 4 or knees have another
// axis than hips.
static mf_Model *load_walker(mf_Context *context, double size, double thigh, uint32_t legs,
                             const char *knee) {
    char text[4096];
    size_t used =
        (size_t)snprintf(text, sizeof text,
                         "<mujoco model='walker'><worldbody><body pos='0 0 %g'><freejoint/>"
                         "<geom type='box' size='%g %g %g' mass='%g'/>",
                         0.2 * size, 0.12 * size, 0.06 * size, 0.03 * size, size * size * size);
    for (uint32_t leg = 0; leg < legs; leg++) {
        const double x = leg & 1 ? 0.12 : -0.12, y = leg & 2 ? 0.08 : -0.08;
        used += (size_t)snprintf(
            text + used, sizeof text - used,
            "<body pos='%g %g 0'><joint name='hip%u' axis='0 1 0' range='-40 40'/>"
            "<geom type='sphere' size='0.002' pos='0 0 %g' mass='%g'/>"
            "<body pos='0 0 %g'><joint name='knee%u' axis='%s' range='-50 50'/>"
            "<geom type='sphere' size='0.002' pos='0 0 %g' mass='%g'/></body></body>",
            x * size, y * size, leg, -0.05 * size, 0.1 * thigh * size, -0.1 * size, leg, knee,
            -0.1 * size, 0.05 * size);
    }
    snprintf(text + used, sizeof text - used, "</body></worldbody></mujoco>");
    return load_text(context, text);
}

typedef struct Walkers {
    bool apart; // each group in its own lanes, as while systems are measured
    bool wide, slides, senses;
    mf_FrictionModel friction;
    uint64_t stride; // [1] steps of a call
    mf_Isa isa;
    uint32_t memory; // [1] the step's allocation that fails, from 1 on; 0: none
} Walkers;

static mf_Group *add_walker(mf_World *world, mf_Model *model, const Walkers *walkers,
                            uint32_t number) {
    mf_Group *group = add_group(
        world, &WITH(mf_group_config(), .name = formatted("walker%u", number), .model = model,
                     .count = 1 + number % 3, .double_precision = walkers->wide));
    mf_MotionsConfig motions = mf_motions_config();
    motions.points.friction = walkers->friction;
    motions.points.friction_coefficient = walkers->slides ? 0.4 : (double)INFINITY;
    MUST(mf_motion_add(group, MF_MOTION_POINTS, &motions, &error));
    if (walkers->senses)
        MUST(mf_sensors_add(group,
                            &WITH(mf_sensors_config(), .posture = true, .lenient = true,
                                  .before_control = true,
                                  .rate = mf_rate_from_period(40 * MF_MILLISECOND)),
                            &error));
    MUST(mf_oscillator_add(group, NULL, &error));
    for (uint32_t i = 0; i < mf_group_count(group); i++) {
        for (uint32_t j = 0; j < model->joint_count; j++) {
            set_field(group, "oscillator.amplitude", i, j, 0.3);
            set_field(group, "oscillator.phase", i, j, 0.17 * j + 0.05 * number);
        }
        set_field(group, "oscillator.frequency", i, 0, 0.9 + 0.02 * number + 0.1 * i);
    }
    return group;
}

// Also steps with a group more, which changes who shares lanes with whom.
static uint64_t hash_of(const Walkers *walkers, uint32_t *guests, uint32_t *varied) {
    AUTO_CONTEXT *context = open_context(2);
    mf_World *world = open_world(context, &WITH(mf_world_config(), .isa = walkers->isa));
    mf_Model *models[GROUPS];
    for (uint32_t g = 0; g < GROUPS; g++) {
        models[g] = load_walker(context, 0.8 + 0.02 * g, 1.0 + 0.1 * (g % 4), g % 5 == 4 ? 3 : 4,
                                g % 2 == 0 ? "0 1 0" : "1 0 0");
        if (g + 1 < GROUPS)
            add_walker(world, models[g], walkers, g);
    }
    set_field(mf_world_group(world, 7), "base.linear_velocity", 1, 0, (double)NAN);
    mf_world_measure(world, walkers->apart);
    mf_context_fail_after(context, walkers->memory);
    for (uint64_t done = 0; done < STEPS / 2; done += walkers->stride)
        mf_world_step(world, walkers->stride);
    mf_context_fail_after(context, 0);
    add_walker(world, models[GROUPS - 1], walkers, GROUPS - 1);
    for (uint64_t done = 0; done < STEPS / 2; done += walkers->stride)
        mf_world_step(world, walkers->stride);
    *guests = *varied = 0;
    for (uint32_t g = 0; g < GROUPS; g++) {
        const mf_Group *group = world->groups[g], *leader = group->pack_leader;
        *guests += leader != group;
        *varied += leader->config.model != group->config.model;
        assert_int_equal(leader->config.model->link_count, group->config.model->link_count);
        assert_int_equal(leader->number % 2, group->number % 2);
        assert_int_equal(mf_group_fault_total(group), g == 7);
    }
    const uint64_t hash = mf_world_hash(world);
    mf_world_destroy(world);
    for (uint32_t g = 0; g < GROUPS; g++)
        mf_model_destroy(models[g]);
    return hash;
}

static void assert_shared_as_apart(Walkers walkers) {
    uint32_t guests, varied;
    walkers.apart = true;
    walkers.stride = 1;
    const uint64_t apart = hash_of(&walkers, &guests, &varied);
    assert_int_equal(guests, 0);
    walkers.apart = false;
    for (uint32_t s = 0; s < 3; s++) {
        walkers.stride = (const uint64_t[]){1, 8, STEPS / 2}[s];
        assert_true(hash_of(&walkers, &guests, &varied) == apart);
        assert_true(varied > GROUPS / 2);
    }
    FOR_EACH_ISA (isa) {
        walkers.isa = isa;
        assert_true(hash_of(&walkers, &guests, &varied) == apart);
    }
}

TEST(bodies_that_share_lanes_move_as_each_in_its_own) {
    (void)state;
    for (uint32_t w = 0; w < 16; w++)
        assert_shared_as_apart(
            (Walkers){.wide = (w & 1) != 0,
                      .slides = (w & 2) != 0,
                      .senses = (w & 4) != 0,
                      .friction = w & 8 ? MF_FRICTION_COUPLED : MF_FRICTION_FIT});
}

TEST(without_memory_for_their_constants_bodies_keep_their_lanes) {
    (void)state;
    Walkers walkers = {.stride = STEPS / 2};
    uint32_t guests, varied;
    const uint64_t hash = hash_of(&walkers, &guests, &varied);
    for (walkers.memory = 1; walkers.memory < 4; walkers.memory++)
        assert_true(hash_of(&walkers, &guests, &varied) == hash);
}

// ---- one group ----------------------------------------------------------------------------------

static void drive(mf_Group *group, uint32_t instance, uint32_t robot) {
    for (uint32_t j = 0; j < mf_group_model(group)->joint_count; j++) {
        set_field(group, "oscillator.amplitude", instance, j, 0.3);
        set_field(group, "oscillator.phase", instance, j, 0.17 * j + 0.05 * robot);
    }
    set_field(group, "oscillator.frequency", instance, 0, 0.9 + 0.02 * robot);
}

static mf_Group *add_bodies(mf_World *world, const mf_Model *model, uint32_t count, bool wide,
                            mf_FrictionModel friction) {
    mf_Group *group = add_group(
        world, &WITH(mf_group_config(), .name = formatted("walker%u", mf_world_group_count(world)),
                     .model = model, .count = count, .double_precision = wide));
    mf_MotionsConfig motions = mf_motions_config();
    motions.points.friction = friction;
    MUST(mf_motion_add(group, MF_MOTION_POINTS, &motions, &error));
    MUST(mf_oscillator_add(group, NULL, &error));
    mf_group_reset_all(group);
    return group;
}

static void assert_same(mf_Group *a, uint32_t i, mf_Group *b, uint32_t k) {
    static const char *const fields[] = {"base.position", "base.orientation",
                                         "joint.angle",   "base.linear_velocity",
                                         "point.load",    "body.inertia"};
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        const mf_Field *x = mf_group_find_field(a, fields[f]),
                       *y = mf_group_find_field(b, fields[f]);
        for (uint32_t c = 0; c < x->components; c++)
            assert_true(mf_field_get(x, i, c) == mf_field_get(y, k, c));
    }
    const mf_MotionEnergy one = mf_motion_energy(a, i), other = mf_motion_energy(b, k);
    assert_near(one.potential, other.potential, 1e-6 * other.potential);
    assert_near(one.elastic, other.elastic, 1e-5 * (1.0 + other.elastic));
}

static void compare_bodies(bool wide, mf_FrictionModel friction) {
    AUTO_CONTEXT *context = open_context(2);
    mf_World *shared = open_world(context, &WITH(mf_world_config(), .seed = 1)),
             *apart = open_world(context, &WITH(mf_world_config(), .seed = 1));
    mf_Model *models[GROUPS];
    const mf_Model *of[GROUPS];
    uint32_t instances[GROUPS];
    for (uint32_t g = 0; g < GROUPS; g++) {
        models[g] = load_walker(context, 0.8 + 0.02 * g, 1.0 + 0.1 * (g % 4), 4, "0 1 0");
        of[g] = models[g - g % 2]; // two robots of each
        instances[g] = g;
    }
    mf_Group *group = add_bodies(shared, models[0], GROUPS, wide, friction);
    MUST(mf_group_vary(group, instances, GROUPS, of, NULL, 0, &error));
    mf_world_measure(apart, true); // each in its own lanes
    for (uint32_t g = 0; g < GROUPS; g++) {
        drive(group, g, g);
        drive(add_bodies(apart, of[g], 1, wide, friction), 0, g);
        assert_same(group, g, mf_world_group(apart, g), 0);
    }
    for (int round = 0; round < 2; round++) { // and after a reset, where it begins again
        mf_world_step(shared, STEPS);
        mf_world_step(apart, STEPS);
        for (uint32_t g = 0; g < GROUPS; g++)
            assert_same(group, g, mf_world_group(apart, g), 0);
        assert_true(fabs(mf_field_get(mf_group_find_field(group, "base.position"), 0, 2) -
                         mf_field_get(mf_group_find_field(group, "base.position"), 20, 2)) > 0.01);
        for (uint32_t g = 0; g < GROUPS; g++) {
            mf_group_reset(group, g);
            mf_group_reset(mf_world_group(apart, g), 0);
        }
    }
    mf_world_destroy(shared);
    mf_world_destroy(apart);
    for (uint32_t g = 0; g < GROUPS; g++)
        mf_model_destroy(models[g]);
}

TEST(robots_of_one_group_have_models_of_their_own) {
    (void)state;
    for (uint32_t w = 0; w < 4; w++)
        compare_bodies((w & 1) != 0, w & 2 ? MF_FRICTION_COUPLED : MF_FRICTION_FIT);
}

TEST(a_group_refuses_models_of_another_tree) {
    (void)state;
    AUTO_CONTEXT *context = open_context(1);
    AUTO_WORLD *world = open_world(context, NULL);
    AUTO_MODEL *model = load_walker(context, 1.0, 1.0, 4, "0 1 0");
    AUTO_MODEL *fewer = load_walker(context, 1.0, 1.0, 3, "0 1 0");
    AUTO_MODEL *other = load_walker(context, 1.0, 1.0, 4, "1 0 0");
    mf_Group *group = add_bodies(world, model, 2, false, MF_FRICTION_FIT);
    const uint32_t instances[] = {0, 1};
    const mf_Model *first[] = {model, fewer}, *second[] = {model, other};
    MUST_FAIL(mf_group_vary(group, instances, 2, first, NULL, 0, &error), MF_UNSUPPORTED,
              "model 1: model walker is not of the tree of walker: items of kind link: 7, need 9");
    MUST_FAIL(mf_group_vary(group, instances, 2, second, NULL, 0, &error), MF_UNSUPPORTED,
              "axes that are parallel in one of them");
    const double heavy[] = {2.0, 2.0};
    MUST_FAIL(mf_group_vary(group, instances, 2, NULL,
                            &(mf_ModelChange){MF_ITEM_LINK, "mass", 0, 0, 1, heavy}, 1, &error),
              MF_UNSUPPORTED, "differ in numbers of joints");
}
