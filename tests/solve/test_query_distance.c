// Distances: closed forms, and random pairs of every two kinds held against the proof of a nearest
// pair: both points are on their solids, as far apart as told, and no point of either solid is
// beyond the planes through them.
#include "solve/query_solids.h"

static const double corners[4][3] = {{0, 0, 0}, {0.5, 0, 0}, {0, 0.5, 0}, {0, 0, 0.5}};

// How far a solid goes along a unit vector of its axes, from its origin.
static double support(int kind, const double n[3]) {
    const double *s = kinds[kind].size;
    double most = -1.0;
    switch (kind) {
    case SPHERE:
        return s[0];
    case BOX:
        return s[0] * fabs(n[0]) + s[1] * fabs(n[1]) + s[2] * fabs(n[2]);
    case CAPSULE:
        return s[0] + s[1] * fabs(n[2]);
    case CYLINDER:
        return s[0] * sqrt(n[0] * n[0] + n[1] * n[1]) + s[1] * fabs(n[2]);
    case ELLIPSOID:
        return sqrt(pow(s[0] * n[0], 2) + pow(s[1] * n[1], 2) + pow(s[2] * n[2], 2));
    default:
        for (int i = 0; i < 4; i++)
            most = fmax(most, dot3(corners[i], n));
        return most;
    }
}

typedef struct Placed {
    int kind;
    double position[3], rotation[4];
} Placed;

// How far it goes along a unit vector of the world, from the world's origin.
static double reach(const Placed *body, const double n[3]) {
    const double back[4] = {body->rotation[0], -body->rotation[1], -body->rotation[2],
                            -body->rotation[3]};
    double own[3];
    rotate3(back, n, own);
    return dot3(body->position, n) + support(body->kind, own);
}

// The distance along a direction from a to b; less than that of any other is no distance.
static double separation(const Placed *a, const Placed *b, const double n[3]) {
    const double back[3] = {-n[0], -n[1], -n[2]};
    return -reach(a, n) - reach(b, back);
}

static Placed random_body(mf_Group *group, uint32_t instance, int kind, uint32_t number,
                          double size) {
    Placed out = {.kind = kind};
    random_pose(group, instance, 31, number, size);
    get_fields(group, "base.position", instance, 3, out.position);
    get_fields(group, "base.orientation", instance, 4, out.rotation);
    return out;
}

static mf_Distance ask(Pitch *pitch, const mf_DistanceConfig *config) {
    mf_Distance out;
    MUST(mf_world_distance(pitch->world, config, &out, &error));
    return out;
}

static mf_Distance between(Pitch *pitch, mf_Group *a, uint32_t i, mf_Group *b, uint32_t j) {
    return ask(pitch, &WITH(mf_distance_config(), .a.group = a, .a.instance = i, .b.group = b,
                            .b.instance = j));
}

// ---- closed forms -------------------------------------------------------------------------------

static void pose(mf_Group *group, uint32_t instance, double x, double y, double z, double angle) {
    const double position[3] = {x, y, z}, q[4] = {cos(0.5 * angle), 0, 0, sin(0.5 * angle)};
    set_fields(group, "base.position", instance, 3, position);
    set_fields(group, "base.orientation", instance, 4, q);
}

#define THIRD 0.57735027 // 1 / sqrt 3

TEST(known_pairs) {
    static const double pi = 3.14159265358979323846;
    static const struct {
        int a, b;
        double x, y, z, angle; // of b
        double distance, normal[3];
    } cases[] = {
        {SPHERE, SPHERE, 0.6, 0.8, 0.0, 0.0, 0.4, {0.6, 0.8, 0}},
        {SPHERE, SPHERE, 0.0, 0.0, 0.5, 0.0, -0.1, {0, 0, 1}},
        {BOX, BOX, 0.5, 0.1, 0.2, 0.0, 0.3, {1, 0, 0}},                          // faces
        {BOX, BOX, 0.5, 0.0, 0.9, 0.0, 0.42426407, {0.70710678, 0, 0.70710678}}, // edges
        {BOX, BOX, 0.5, 0.8, 0.9, 0.0, 0.58309519, {0.51449576, 0.68599434, 0.51449576}},
        {BOX, BOX, 0.18, 0.0, 0.0, 0.0, -0.02, {1, 0, 0}},
        {BOX, SPHERE, 0.4, 0.5, 0.3, 0.0, 0.12426407, {0.70710678, 0.70710678, 0}},
        {CAPSULE, CAPSULE, 0.5, 0.0, 0.2, 0.0, 0.3, {1, 0, 0}},
        {CAPSULE, CAPSULE, 0.3, 0.0, 0.9, 0.0, 0.3, {0.6, 0, 0.8}},
        {CYLINDER, CYLINDER, 0.0, 0.7, 0.1, 0.0, 0.3, {0, 1, 0}},
        {CYLINDER, CYLINDER, 0.1, 0.0, 0.5, 0.0, 0.2, {0, 0, 1}},
        {CYLINDER, SPHERE, 0.6, 0.0, 0.45, 0.0, 0.2, {0.8, 0, 0.6}},
        {ELLIPSOID, ELLIPSOID, 1.0, 0.0, 0.0, 0.5 * pi, 0.7, {1, 0, 0}},
        {ELLIPSOID, BOX, 0.0, 0.9, 0.0, 0.0, 0.5, {0, 1, 0}},
        {MESH, SPHERE, 1.0, 1.0, 1.0, 0.0, 1.14337567297, {THIRD, THIRD, THIRD}},
        {MESH, BOX, 0.2, -0.5, 0.2, 0.0, 0.3, {0, -1, 0}},
        {CAPSULE, BOX, 0.4, 0.0, 0.0, 0.0, 0.2, {1, 0, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int swapped = 0; swapped < 2; swapped++) {
            AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
            mf_Group *a = add_kind(&pitch, cases[i].a, "a", 1);
            mf_Group *b = add_kind(&pitch, cases[i].b, "b", 1);
            pose(a, 0, 0, 0, 0, 0);
            pose(b, 0, cases[i].x, cases[i].y, cases[i].z, cases[i].angle);
            const mf_Distance found =
                swapped ? between(&pitch, b, 0, a, 0) : between(&pitch, a, 0, b, 0);
            assert_true(found.found);
            if (!(fabs(found.distance - cases[i].distance) < 1e-8))
                fail_msg("case %zu: %.10g", i, found.distance);
            for (int c = 0; c < 3; c++) {
                assert_near(found.normal[c], (swapped ? -1.0 : 1.0) * cases[i].normal[c], 1e-6);
                assert_near(found.points[1][c] - found.points[0][c],
                            found.distance * found.normal[c], 1e-9);
            }
            assert_ptr_equal(found.owners[0].group, swapped ? b : a);
            assert_ptr_equal(found.owners[1].group, swapped ? a : b);
        }
}

// ---- random pairs -------------------------------------------------------------------------------

static void check_apart(const Placed *a, const Placed *b, const mf_Distance *found) {
    double away[3] = {-found->normal[0], -found->normal[1], -found->normal[2]};
    // Of curved solids the search knows its direction to half the digits.
    assert_near(separation(a, b, found->normal), found->distance, 2e-7);
    assert_near(reach(a, found->normal), dot3(found->points[0], found->normal), 2e-7);
    assert_near(reach(b, away), dot3(found->points[1], away), 2e-7);
    // The points are in the solids: no direction has them outside.
    for (uint32_t i = 0; i < 60; i++) {
        double n[3];
        random_direction(77, 3 * i, 3, n);
        assert_true(dot3(found->points[0], n) <= reach(a, n) + 1e-6);
        assert_true(dot3(found->points[1], n) <= reach(b, n) + 1e-6);
        assert_true(separation(a, b, n) <= found->distance + 1e-9);
    }
}

// What is notified is the depth along a direction; no other that is tried is better by much.
static void check_inside(const Placed *a, const Placed *b, const mf_Distance *found) {
    assert_near(separation(a, b, found->normal), found->distance, 2e-7);
    for (uint32_t i = 0; i < 500; i++) {
        double n[3];
        random_direction(78, 3 * i, 3, n);
        if (!(separation(a, b, n) <= found->distance + 5e-3))
            fail_msg("%s and %s: %g, but %g along another way", kinds[a->kind].name,
                     kinds[b->kind].name, found->distance, separation(a, b, n));
    }
}

TEST(random_pairs_prove_themselves) {
    enum { EACH = 60 };
    uint32_t apart = 0, inside = 0;
    for (int x = 0; x < KINDS; x++)
        for (int y = 0; y < KINDS; y++) {
            AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
            mf_Group *a = add_kind(&pitch, x, "a", 1), *b = add_kind(&pitch, y, "b", 1);
            for (uint32_t i = 0; i < EACH; i++) {
                const uint32_t number = (uint32_t)(x * KINDS + y) * 1000 + 2 * i;
                const double size = i % 3 == 0 ? 0.25 : 0.8;
                const Placed first = random_body(a, 0, x, number, size);
                const Placed second = random_body(b, 0, y, number + 1, size);
                const mf_Distance found = between(&pitch, a, 0, b, 0);
                assert_true(found.found);
                if (found.distance > 0.0)
                    check_apart(&first, &second, &found);
                else if (found.distance > -0.05)
                    check_inside(&first, &second, &found);
                apart += found.distance > 0.0;
                inside += found.distance <= 0.0;
            }
        }
    assert_true(apart > 500 && inside > 300);
}

// The nearest of all by asking one after the other.
TEST(the_nearest_of_all_is_found) {
    enum { EACH = 40 };
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    for (int k = 0; k < KINDS; k++) {
        mf_Group *group = add_kind(&pitch, k, kinds[k].name, EACH);
        for (uint32_t i = 0; i < EACH; i++)
            random_body(group, i, k, (uint32_t)k * 500 + i, 6.0);
    }
    for (uint32_t q = 0; q < 30; q++) {
        mf_DistanceConfig config = mf_distance_config();
        mf_Distance best = {.distance = (double)INFINITY};
        config.a.group = pitch.groups[q % KINDS];
        config.a.instance = q;
        for (int k = 0; k < KINDS; k++)
            for (uint32_t i = 0; i < EACH; i++) {
                if (config.a.group == pitch.groups[k] && i == q)
                    continue;
                const mf_Distance one =
                    between(&pitch, pitch.groups[q % KINDS], q, pitch.groups[k], i);
                if (one.distance < best.distance)
                    best = one;
            }
        const mf_Distance found = ask(&pitch, &config);
        assert_near(found.distance, best.distance, 0.0);
        assert_memory_equal(found.points, best.points, sizeof found.points);
        assert_ptr_equal(found.owners[1].group, best.owners[1].group);
        assert_int_equal(found.owners[1].instance, best.owners[1].instance);
        config.reach = best.distance > 0.0 ? 0.999 * best.distance : 1.0;
        assert_true(ask(&pitch, &config).found == (best.distance <= 0.0));
    }
}

// ---- links, places, mistakes --------------------------------------------------------------------

static const char arm_text[] =
    "<mujoco model='arm'><worldbody><body><freejoint/>"
    "<geom type='sphere' size='0.1' mass='1'/>"
    "<body pos='1 0 0'><joint type='slide' axis='1 0 0'/>"
    "<geom type='sphere' size='0.2' mass='1'/></body></body></worldbody></mujoco>";

TEST(links_of_one_robot) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    mf_Group *arm = pitch_bodies(&pitch, load_text(pitch.context, arm_text), "arm", 2, true);
    pose(arm, 1, 0.0, 0.0, 4.0, 0.0);
    set_field(arm, "joint.angle", 0, 0, 0.5);
    mf_DistanceConfig config = WITH(mf_distance_config(), .a = ((mf_DistanceBody){arm, 0, 0}),
                                    .b = ((mf_DistanceBody){arm, 0, 1}));
    assert_near(ask(&pitch, &config).distance, 1.2, 1e-12);
    config.b = (mf_DistanceBody){arm, 1, 1};
    config.a.link = 1;
    const mf_Distance found = ask(&pitch, &config);
    assert_near(found.distance,
                sqrt(0.25 + pow(4.0 - get_field(arm, "base.position", 0, 2), 2)) - 0.4, 1e-12);
    assert_int_equal(found.owners[1].instance, 1);
    assert_int_equal(found.owners[1].link, 1);
    set_field(arm, "fault.word", 1, 0, MF_FAULT_RANGE);
    assert_false(ask(&pitch, &config).found);
}

static void refused(Pitch *pitch, const mf_DistanceConfig *config, const char *text) {
    mf_Distance out;
    assert_fails(mf_world_distance(pitch->world, config, &out, &pitch->error), MF_BAD_ARGUMENT,
                 &pitch->error, text);
}

TEST(bad_questions_are_refused) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81),
               other = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    mf_Group *group = add_kind(&pitch, SPHERE, "a", 2), *foreign = add_kind(&other, BOX, "b", 1);
    mf_GroupConfig alone = WITH(mf_group_config(), .model = mf_group_model(group));
    MUST(mf_world_add_group(pitch.world, &alone, &pitch.groups[1], &error));
    const mf_DistanceConfig none = mf_distance_config(), good = WITH(none, .a.group = group);
    const struct {
        mf_DistanceConfig config;
        const char *text;
    } rows[] = {
        {none, "distance.a: not a group"},
        {WITH(none, .a.group = foreign), "distance.a: not a group"},
        {WITH(good, .a.instance = 2), "no robot 2"},
        {WITH(good, .a.link = 3), "no link 3"},
        {WITH(good, .b.group = group), "two links"},
        {WITH(good, .b.group = pitch.groups[1]), "isolated"},
        {WITH(none, .a.group = pitch.groups[1]), "alone in its space"},
        {WITH(good, .reach = NAN), "reach"},
        {WITH(good, .struct_size = 0), "mf_distance_config()"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        refused(&pitch, &rows[i].config, rows[i].text);
    refused(&pitch, NULL, "NULL");
}

TEST(bodies_without_shapes_are_refused) {
    static const char text[] =
        "<mujoco model='arm'><worldbody><body><freejoint/><geom type='sphere' size='0.1' mass='1'/>"
        "<body name='bare'><joint type='slide'/><inertial pos='0 0 0' mass='1' "
        "diaginertia='1 1 1'/></body></body></worldbody></mujoco>";
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    mf_Group *arms = pitch_bodies(&pitch, load_text(pitch.context, text), "arms", 2, true);
    mf_DistanceConfig config = WITH(mf_distance_config(), .a = ((mf_DistanceBody){arms, 0, 1}));
    refused(&pitch, &config, "distance.a: link bare of model arm has no shapes that collide");
    config.a = (mf_DistanceBody){arms, 0, 0};
    config.b = (mf_DistanceBody){arms, 1, 1};
    refused(&pitch, &config, "distance.b: link bare");
    config.b.link = MF_NONE;
    assert_true(ask(&pitch, &config).found);
}

// ---- memory -------------------------------------------------------------------------------------

static mf_Status add_balls(mf_World *world, const mf_Model *model, const char *name,
                           mf_Group **group, mf_Error *error) {
    return mf_world_add_group(
        world,
        &WITH(mf_group_config(), .model = model, .name = name, .count = 3, .isolated = false),
        group, error);
}

// Asks all three questions, with a group that came after the first.
static mf_Status ask_all(mf_Context *context, void *user, mf_Error *error) {
    const mf_Model *model = user;
    const mf_RayConfig ray = mf_ray_config();
    mf_DistanceConfig distance = mf_distance_config();
    mf_RayHit hit;
    mf_Distance found;
    AUTO_WORLD *world = NULL;
    mf_Group *group;
    uint32_t count;
    MF_TRY(mf_world_create(context, NULL, &world, error));
    MF_TRY(add_balls(world, model, "a", &group, error));
    MF_TRY(mf_world_ray(world, &ray, &hit, error));
    MF_TRY(add_balls(world, model, "b", &group, error));
    distance.a.group = group;
    MF_TRY(mf_world_distance(world, &distance, &found, error));
    const uint64_t calls = mf_context_call_count(context); // nothing more is made
    MF_TRY(mf_world_contacts(world, NULL, 0, &count, error));
    assert_int_equal(mf_world_ray(world, &ray, &hit, error), MF_OK);
    assert_int_equal(mf_world_distance(world, &distance, &found, error), MF_OK);
    assert_int_equal(mf_context_call_count(context), calls);
    return MF_OK;
}

TEST(every_failing_call_is_survived) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    mf_Group *group = add_kind(&pitch, MESH, "a", 1);
    assert_true(torture(pitch.context, ask_all, (void *)mf_group_model(group), TORTURE_MUST_FAIL) >
                40);
}
