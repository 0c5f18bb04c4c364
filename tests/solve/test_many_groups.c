// A thousand groups of one box beside one group of a thousand boxes: the same states, for any
// number of threads and from a snapshot; and what finds robots by their group finds those of the
// last one.
#include "rig/rig.h"
#include "world/group.h"

#include <mayfly/dynamics.h>
#include <mayfly/interaction.h>
#include <mayfly/joints.h>
#include <mayfly/query.h>

// More than 256 groups, which eight bits do not tell apart.
enum { BOXES = SANITIZED ? 300 : 1000, COLUMNS = 32, STEPS = SANITIZED ? 10 : 40 };

static const char box[] =
    "<mujoco model='box'><option timestep='0.002'/><worldbody><body><freejoint/>"
    "<geom type='box' size='.05 .05 .05' mass='0.1' condim='3'/></body></worldbody></mujoco>";

typedef struct Boxes {
    mf_Context *context;
    mf_Model *model;
    mf_World *world;
    mf_Collisions *collisions;
    uint32_t each; // [1] boxes of a group
} Boxes;

static mf_Group *group_of(const Boxes *boxes, uint32_t number) {
    return mf_world_group(boxes->world, number / boxes->each);
}

// Above the ground, and from then on pairs one on the other where `tall` is 2.
static void place(const Boxes *boxes, uint32_t number, uint32_t tall) {
    const uint32_t pile = number / tall, level = number % tall;
    const double position[3] = {0.25 * (pile % COLUMNS), 0.25 * (pile / COLUMNS),
                                0.0498 + 0.0996 * level};
    const double velocity[3] = {level > 0 ? 0.0 : 0.2 * random_signed(1, number), 0.0, 0.0};
    MUST(mf_group_set_start(group_of(boxes, number), number % boxes->each, position, NULL, velocity,
                            &error));
}

static Boxes open_boxes(uint32_t count, uint32_t each, uint32_t tall, uint32_t threads) {
    Boxes boxes = {.context = open_context(threads), .each = each};
    boxes.model = load_text(boxes.context, box);
    boxes.world = open_world(boxes.context, &WITH(mf_world_config(), .step = 2 * MF_MILLISECOND));
    for (uint32_t g = 0; g < count / each; g++) {
        char name[16];
        snprintf(name, sizeof name, "box%05u", g);
        mf_Group *group =
            add_group(boxes.world, &WITH(mf_group_config(), .name = name, .model = boxes.model,
                                         .count = each, .isolated = false));
        MUST(mf_collisions_prepare(group, &error));
        MUST(rig_add_articulated(group, NULL, &error));
    }
    for (uint32_t i = 0; i < count; i++)
        place(&boxes, i, tall);
    MUST(mf_collisions_add(boxes.world, NULL, &boxes.collisions, &error));
    return boxes;
}

static void close_boxes(Boxes *boxes) {
    mf_world_destroy(boxes->world);
    mf_model_destroy(boxes->model);
    close_context(boxes->context);
}
#define AUTO_BOXES AUTO(close_boxes) Boxes

// [m] Farthest that a box is from the same one of the others.
static double farthest(const Boxes *one, const Boxes *other, uint32_t count) {
    double most = 0.0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t c = 0; c < 3; c++)
            most = fmax(most,
                        fabs(get_field(group_of(one, i), "base.position", i % one->each, c) -
                             get_field(group_of(other, i), "base.position", i % other->each, c)));
    return most;
}

TEST(a_thousand_groups_move_as_one_of_a_thousand) {
    (void)state;
    AUTO_BOXES one = open_boxes(BOXES, BOXES, 1, 1), many = open_boxes(BOXES, 1, 1, 1);
    mf_world_step(one.world, STEPS);
    mf_world_step(many.world, STEPS);
    for (uint32_t i = 0; i < BOXES; i++)
        assert_true(mf_group_instance_hash(group_of(&one, i), i) ==
                    mf_group_instance_hash(group_of(&many, i), 0));
}

TEST(a_thousand_groups_stand_on_each_other_as_one_of_a_thousand) {
    (void)state;
    AUTO_BOXES one = open_boxes(BOXES, BOXES, 2, 1), many = open_boxes(BOXES, 1, 2, 1);
    mf_world_step(one.world, STEPS);
    mf_world_step(many.world, STEPS);
    const mf_CollisionsStatistics seen = mf_collisions_statistics(many.collisions);
    assert_true(seen.contacts >= 4 * (uint64_t)(BOXES / 2) * (STEPS - 1));
    assert_true(seen.contacts == mf_collisions_statistics(one.collisions).contacts);
    assert_true(farthest(&one, &many, BOXES) < 1e-6);
    // The box below moves, and the friction of both takes the one above along.
    double along = 0.0;
    for (uint32_t i = 1; i < BOXES; i += 2)
        along = fmax(along, fabs(get_field(group_of(&many, i), "base.position", 0, 0) -
                                 0.25 * (i / 2 % COLUMNS)));
    assert_true(along > 1e-4);
}

// ---- lanes that groups share -------------------------------------------------------------------

typedef struct Mixture {
    bool isolated, wide,
        apart; // `apart`: each group in its own lanes, as while systems are measured
    mf_FaultPolicy policy;
    uint64_t stride; // [1] steps of a call
} Mixture;

// Groups of 1 to 9 hexapods that fall, some of them with another stiffness; a robot in the middle
// of a block has a fault.
static uint64_t hash_of_mixture(const Mixture *mixture) {
    enum { GROUPS = 30 };
    AUTO_CONTEXT *context = open_context(2);
    mf_Model *model;
    MUST(mf_model_load(context, formatted("%s/models/hexapod.urdf", MAYFLY_SOURCE_DIR), NULL,
                       &model, &error));
    mf_World *world = open_world(context, NULL);
    for (uint32_t g = 0; g < GROUPS; g++) {
        const char *name = formatted("g%u", g);
        mf_Group *group = add_group(
            world, &WITH(mf_group_config(), .name = name, .model = model, .count = 1 + g * g % 9,
                         .isolated = mixture->isolated, .double_precision = mixture->wide,
                         .fault_policy = mixture->policy));
        MUST(rig_add_articulated(
            group, &WITH(mf_motions_config().articulated, .friction = g % 5 == 0 ? 0.3 : 0.8),
            &error));
        for (uint32_t i = 0; i < mf_group_count(group); i++)
            MUST(mf_group_set_start(group, i, (double[]){5.0 * g, 5.0 * i, 0.2 + 0.01 * g}, NULL,
                                    (double[]){0.1 * i, 0.0, 0.0}, &error));
    }
    set_field(mf_world_group(world, 7), "base.linear_velocity", 2, 0, (double)NAN);
    mf_world_measure(world, mixture->apart);
    for (uint64_t done = 0; done < STEPS; done += mixture->stride)
        mf_world_step(world, mixture->stride);
    const uint64_t hash = mf_world_hash(world);
    uint32_t faults = 0, guests = 0;
    for (uint32_t g = 0; g < GROUPS; g++) {
        faults += mf_group_fault_total(mf_world_group(world, g));
        guests += world->groups[g]->pack_leader != world->groups[g];
    }
    assert_true(mixture->apart ? guests == 0 : guests > GROUPS / 3);
    assert_int_equal(faults, mixture->policy == MF_FAULT_RESET ? 0 : 1);
    mf_world_destroy(world);
    mf_model_destroy(model);
    return hash;
}

TEST(groups_that_share_lanes_move_as_each_in_its_own) {
    (void)state;
    for (uint32_t m = 0; m < 8; m++) {
        Mixture mixture = {.isolated = (m & 1) != 0,
                           .wide = (m & 2) != 0,
                           .apart = true,
                           .policy = (m & 4) != 0 ? MF_FAULT_RESET : MF_FAULT_FREEZE,
                           .stride = 1};
        const uint64_t apart = hash_of_mixture(&mixture);
        mixture.apart = false;
        assert_true(hash_of_mixture(&mixture) == apart);
        mixture.stride = STEPS;
        assert_true(hash_of_mixture(&mixture) == apart);
    }
}

static uint64_t hash_of(uint32_t threads) {
    AUTO_BOXES boxes = open_boxes(BOXES, 1, 2, threads);
    mf_world_step(boxes.world, STEPS);
    return mf_world_hash(boxes.world);
}

TEST(a_thousand_groups_do_not_depend_on_threads) {
    (void)state;
    const uint64_t alone = hash_of(1);
    assert_true(hash_of(2) == alone);
    assert_true(hash_of(5) == alone);
}

TEST(a_thousand_groups_go_on_from_a_snapshot) {
    (void)state;
    AUTO_BOXES boxes = open_boxes(BOXES, 1, 2, 2), other = open_boxes(BOXES, 1, 2, 2);
    mf_world_step(boxes.world, STEPS / 2);
    assert_continues(boxes.world, STEPS / 2);
    assert_continues_in(other.world, boxes.world, STEPS / 2);
}

TEST(groups_are_found_by_name_and_number) {
    (void)state;
    AUTO_BOXES boxes = open_boxes(BOXES, 1, 1, 1);
    for (uint32_t g = 0; g < BOXES; g++) {
        mf_Group *group = mf_world_group(boxes.world, g);
        assert_ptr_equal(mf_world_find_group(boxes.world, mf_group_config_of(group)->name), group);
    }
    assert_null(mf_world_find_group(boxes.world, "box01000"));
    mf_Group *group;
    mf_Error refused = {0};
    const mf_GroupConfig twice = WITH(mf_group_config(), .name = "box00277", .model = boxes.model);
    assert_int_equal(mf_world_add_group(boxes.world, &twice, &group, &refused), MF_BAD_ARGUMENT);
    assert_contains(refused.message, "box00277: the name is used already");
    const mf_GroupConfig more = WITH(mf_group_config(), .name = "more", .model = boxes.model);
    boxes.world->group_count += MF_WORLD_GROUP_LIMIT - BOXES; // as if it had that many
    const mf_Status status = mf_world_list_group(boxes.world, boxes.world->groups[0], &refused);
    boxes.world->group_count -= MF_WORLD_GROUP_LIMIT - BOXES;
    assert_int_equal(status, MF_LIMIT);
    assert_contains(refused.message, "at most 65535 groups");
    MUST(mf_world_add_group(boxes.world, &more, &group, &error));
    assert_ptr_equal(mf_world_find_group(boxes.world, "more"), group);
}

// Groups whose numbers differ by 256: a joint holds two of them together, which do not collide, and
// leaves the third, in the same place of its group, alone.
TEST(joints_tell_groups_apart) {
    (void)state;
    enum { GROUPS = 514, HELD = 513, NEAR = 257, SAME = 1 };
    AUTO_BOXES boxes = open_boxes(GROUPS, 1, 1, 1);
    mf_WorldJoints *joints;
    MUST(mf_world_joints_add(boxes.world, NULL, &joints, &error));
    // Inside of each other by 2 cm, far from all others.
    const uint32_t three[3] = {SAME, NEAR, HELD};
    for (uint32_t i = 0; i < 3; i++)
        MUST(mf_group_set_start(mf_world_group(boxes.world, three[i]), 0,
                                (double[]){-2.0 + 0.08 * i, 0.0, 0.05}, NULL, NULL, &error));
    mf_WorldJointConfig joint = mf_world_joint_config();
    joint.kind = MF_WORLD_JOINT_FIXED;
    joint.sides[0].group = mf_world_group(boxes.world, NEAR);
    joint.sides[1].group = mf_world_group(boxes.world, HELD);
    MUST(mf_world_joint_here(&joint, (double[]){-1.88, 0.0, 0.05}, NULL, &error));
    mf_WorldJointId id;
    MUST(mf_world_joint_create(joints, &joint, &id, &error));
    mf_world_step(boxes.world, 200);
    double x[3];
    for (uint32_t i = 0; i < 3; i++)
        x[i] = get_field(mf_world_group(boxes.world, three[i]), "base.position", 0, 0);
    assert_near(x[2] - x[1], 0.08, 1e-4); // held
    assert_true(x[1] - x[0] > 0.0985);    // pushed apart
}

TEST(queries_and_equations_know_the_last_group) {
    (void)state;
    enum { GROUPS = 300, LAST = GROUPS - 1 };
    AUTO_BOXES boxes = open_boxes(GROUPS, 1, 1, 1);
    mf_Group *last = mf_world_group(boxes.world, LAST);
    MUST(mf_group_set_start(last, 0, (double[]){-3.0, 0.0, 1.0}, NULL, NULL, &error));
    mf_RayHit hit;
    MUST(mf_world_ray(boxes.world,
                      &WITH(mf_ray_config(), .start[0] = -3.0, .start[1] = -2.0, .start[2] = 1.0,
                            .direction[1] = 1.0, .direction[2] = 0.0, .ground = false),
                      &hit, &error));
    assert_ptr_equal(hit.owner.group, last);
    assert_near(hit.distance, 1.95, 1e-6);
    double mass[36];
    for (uint32_t g = 0; g < GROUPS; g += LAST) {
        MUST(mf_group_mass_matrix(mf_world_group(boxes.world, g), 0, 1, mass, &error));
        assert_near(mass[0], 0.1, 1e-9);
    }
}

// Agents of a hundred groups, numbered by blocks of sixteen, and of one.
TEST(neighbors_are_those_of_one_group) {
    (void)state;
    enum { AGENTS = 100 };
    AUTO_BOXES one = open_boxes(AGENTS, AGENTS, 1, 1), many = open_boxes(AGENTS, 1, 1, 1);
    const mf_InteractionConfig config = WITH(mf_interaction_config(), .radius = 0.4, .nearest = 4,
                                             .collide = false, .terrain = false);
    mf_Interaction *first, *second;
    MUST(mf_interaction_add(one.world, &config, &first, &error));
    MUST(mf_interaction_add(many.world, &config, &second, &error));
    mf_world_step(one.world, 2);
    mf_world_step(many.world, 2);
    for (uint32_t i = 0; i < AGENTS; i++) {
        const double count = get_field(group_of(&one, i), "neighbor.count", i, 0);
        assert_true(count >= 3.0);
        assert_true(get_field(group_of(&many, i), "neighbor.count", 0, 0) == count);
        for (uint32_t n = 0; n < 3; n++) {
            const double index = get_field(group_of(&one, i), "neighbor.index", i, n);
            const double other = get_field(group_of(&many, i), "neighbor.index", 0, n);
            assert_true(other == 16.0 * index);
            mf_Group *group;
            uint32_t instance;
            assert_true(mf_interaction_locate(second, (uint32_t)other, &group, &instance));
            assert_ptr_equal(group, group_of(&many, (uint32_t)index));
            assert_int_equal(instance, 0);
        }
    }
}
