// Rays: closed forms for every shape, random rays against containment in random shapes, height maps
// against fine sampling, filters, order, errors.
#include "solve/query_solids.h"

// In the shape's axes: below 0 inside, above outside; of the size of a length near the surface.
typedef double (*Inside)(const double at[3]);

static double in_sphere(const double p[3]) {
    return sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) - 0.3;
}
static double in_box(const double p[3]) {
    return fmax(fabs(p[0]) - 0.1, fmax(fabs(p[1]) - 0.2, fabs(p[2]) - 0.3));
}
static double in_capsule(const double p[3]) {
    const double z = p[2] - fmax(-0.25, fmin(0.25, p[2]));
    return sqrt(p[0] * p[0] + p[1] * p[1] + z * z) - 0.1;
}
static double in_cylinder(const double p[3]) {
    return fmax(sqrt(p[0] * p[0] + p[1] * p[1]) - 0.2, fabs(p[2]) - 0.15);
}
static double in_ellipsoid(const double p[3]) {
    const double x = p[0] / 0.1, y = p[1] / 0.2, z = p[2] / 0.4;
    return 0.1 * (sqrt(x * x + y * y + z * z) - 1.0);
}
static double in_mesh(const double p[3]) {
    const double x = p[0], y = p[1], z = p[2];
    return fmax(fmax(-x, -y), fmax(-z, (x + y + z - 0.5) / sqrt(3.0)));
}

static const Inside insides[KINDS] = {in_sphere,   in_box,       in_capsule,
                                      in_cylinder, in_ellipsoid, in_mesh};

// A point of the world in the axes of an instance.
static void to_body(mf_Group *group, uint32_t instance, const double at[3], double out[3]) {
    double q[4], direction[3];
    for (uint32_t c = 0; c < 4; c++)
        q[c] = (c == 0 ? 1.0 : -1.0) * get_field(group, "base.orientation", instance, c);
    for (uint32_t c = 0; c < 3; c++)
        direction[c] = at[c] - get_field(group, "base.position", instance, c);
    rotate3(q, direction, out);
}

static mf_RayHit cast(Pitch *pitch, const mf_RayConfig *config) {
    mf_RayHit hit;
    MUST(mf_world_ray(pitch->world, config, &hit, &error));
    return hit;
}

static mf_RayConfig ray_of(double x, double y, double z, double dx, double dy, double dz) {
    mf_RayConfig config = mf_ray_config();
    const double start[3] = {x, y, z}, direction[3] = {dx, dy, dz};
    memcpy(config.start, start, sizeof start);
    memcpy(config.direction, direction, sizeof direction);
    return config;
}

// ---- shapes -------------------------------------------------------------------------------------

TEST(every_shape_is_hit_at_its_surface) {
    // From 2 m along x at y, z of each; distance, normal.
    static const double cases[][7] = {
        {0, 0.1, 0.2, 2.0 - 0.2, 2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0},
        {1, 0.1, 0.2, 1.9, 1, 0, 0},
        {2, 0.06, 0.33, 2.0, 0, 0.6, 0.8},
        {2, 0.06, 0.1, 1.92, 0.8, 0.6, 0},
        {3, 0.12, 0.1, 1.84, 0.8, 0.6, 0},
        {4, 0.0, 0.0, 1.9, 1, 0, 0},
        {4, 0.0, 0.24, 1.92, 0.98287, 0, 0.184288},
        {5, 0.1, 0.1, 1.7, 0.57735027, 0.57735027, 0.57735027},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double *c = cases[i];
        AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
        mf_Group *group = add_kind(&pitch, (int)c[0], "solid", 1);
        put(&pitch, group, 0, 0.0, 0.0, 5.0, 0.0);
        set_field(group, "base.position", 0, 2, 5.0);
        const mf_RayConfig ray = ray_of(2.0, c[1], 5.0 + c[2], -3.0, 0.0, 0.0);
        const mf_RayHit hit = cast(&pitch, &ray);
        if (i == 2) { // touches the cap's rim at a right angle: near, not across
            assert_true(!hit.hit || hit.distance > 1.99);
        } else {
            assert_true(hit.hit);
            assert_near(hit.distance, c[3], 1e-12);
            assert_near(hit.point[0], 2.0 - c[3], 1e-12);
            for (int k = 0; k < 3; k++)
                assert_near(hit.normal[k], c[4 + k], 1e-5);
            assert_ptr_equal(hit.owner.group, group);
            assert_int_equal(hit.owner.link + hit.owner.shape + hit.owner.instance, 0);
        }
    }
}

// The point that is met is on the surface, and before it the ray is outside of all.
TEST(random_rays_agree_with_the_insides) {
    enum { EACH = 20, RAYS = 800, SAMPLES = 200 };
    uint32_t hits = 0;
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    for (int k = 0; k < KINDS; k++) {
        mf_Group *group = add_kind(&pitch, k, kinds[k].name, EACH);
        for (uint32_t i = 0; i < EACH; i++)
            random_pose(group, i, (uint32_t)k, i, 2.0);
    }
    for (uint32_t r = 0; r < RAYS; r++) {
        mf_RayConfig ray = WITH(mf_ray_config(), .ground = false);
        for (uint32_t c = 0; c < 3; c++) {
            ray.start[c] = 8.0 * unit(50, 6 * r + c) - 4.0;
            ray.direction[c] = 4.0 * unit(50, 6 * r + 3 + c) - 2.0 - ray.start[c];
        }
        const double length = sqrt(dot3(ray.direction, ray.direction));
        const mf_RayHit hit = cast(&pitch, &ray);
        const double end = hit.hit ? hit.distance : 10.0;
        double least = 1.0;
        bool began_inside = false;
        for (int g = 0; g < KINDS; g++)
            for (uint32_t i = 0; i < EACH; i++)
                for (int s = 0; s < SAMPLES; s++) {
                    double at[3], own[3];
                    for (int c = 0; c < 3; c++)
                        at[c] = ray.start[c] + ray.direction[c] / length * end * s / SAMPLES;
                    to_body(pitch.groups[g], i, at, own);
                    const double level = insides[g](own);
                    began_inside = began_inside || (s == 0 && level < 0.0);
                    least = fmin(least, level);
                }
        if (began_inside)
            continue;
        if (!(least > -1e-9))
            fail_msg("ray %u passes %g m inside of something", r, -least);
        if (!hit.hit)
            continue;
        double own[3];
        int kind = 0;
        while (pitch.groups[kind] != hit.owner.group)
            kind++;
        to_body(hit.owner.group, hit.owner.instance, hit.point, own);
        assert_near(insides[kind](own), 0.0, 1e-6);
        assert_true(dot3(hit.normal, ray.direction) < 0.0);
        hits++;
    }
    assert_true(hits > 150);
}

TEST(a_ray_from_inside_leaves) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    mf_Group *group = add_kind(&pitch, 0, "solid", 1);
    set_field(group, "base.position", 0, 2, 5.0);
    const mf_RayConfig ray = ray_of(0.1, 0.0, 5.0, 1.0, 0.0, 0.0);
    const mf_RayHit hit = cast(&pitch, &ray);
    assert_near(hit.distance, 0.2, 1e-12);
    assert_near(hit.normal[0], 1.0, 1e-12);
}

// Limbs, whose joints are turned, and what a file fixes in the world.
TEST(limbs_and_scenery_are_hit) {
    static const char text[] =
        "<mujoco model='arm'><worldbody>"
        "<geom name='wall' type='box' pos='0 9 1' size='1 0.5 1'/>"
        "<body pos='0 0 2'><freejoint/><geom type='sphere' size='0.1' mass='1'/>"
        "<body pos='0.1 0 0'><joint type='hinge' axis='0 0 1'/>"
        "<geom type='capsule' fromto='0.1 0 0 0.9 0 0' size='0.05' mass='1'/></body></body>"
        "</worldbody></mujoco>";
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    mf_Group *arms = pitch_bodies(&pitch, load_text(pitch.context, text), "arms", 3, true);
    for (uint32_t i = 0; i < 3; i++)
        put(&pitch, arms, i, 3.0 * i, 0.0, 2.0, 0.0);
    set_field(arms, "joint.angle", 1, 0, 0.5 * 3.14159265358979323846);
    mf_RayConfig ray = ray_of(3.1, 0.5, 4.0, 0.0, 0.0, -1.0);
    mf_RayHit hit = cast(&pitch, &ray);
    assert_near(hit.distance, 1.95, 1e-9);
    assert_int_equal(hit.owner.instance, 1);
    assert_int_equal(hit.owner.link, 1);
    ray.without = arms;
    ray.without_instance = 1;
    hit = cast(&pitch, &ray);
    assert_null(hit.owner.group);
    assert_near(hit.distance, 4.0, 1e-12);
    ray = ray_of(0.0, 5.0, 1.0, 0.0, 2.0, 0.0);
    hit = cast(&pitch, &ray);
    assert_near(hit.distance, 3.5, 1e-12);
    assert_near(hit.normal[1], -1.0, 1e-12);
    assert_ptr_equal(hit.owner.group, arms);
    assert_int_equal(hit.owner.link, MF_NONE);
    ray.reach = 3.4;
    assert_false(cast(&pitch, &ray).hit);
}

// ---- ground -------------------------------------------------------------------------------------

static void with_map(Pitch *pitch, mf_Terrain **terrain, mf_Interpolation interpolation,
                     double *heights, uint32_t side) {
    memset(pitch, 0, sizeof *pitch);
    MUST(mf_context_create(NULL, &pitch->context, &error));
    MUST(mf_terrain_from_array(pitch->context,
                               &WITH(mf_terrain_config(), .columns = side, .rows = side,
                                     .cell = 0.25, .interpolation = interpolation),
                               heights, terrain, &error));
    pitch->world = open_world(pitch->context, &WITH(mf_world_config(), .terrain = *terrain));
}

static double above(const mf_Terrain *terrain, const mf_RayConfig *ray, double distance) {
    return ray->start[2] + distance * ray->direction[2] -
           mf_terrain_height(terrain, ray->start[0] + distance * ray->direction[0],
                             ray->start[1] + distance * ray->direction[1], NULL);
}

TEST(maps_agree_with_sampling) {
    enum { SIDE = 12, RAYS = 600, SAMPLES = 20000 };
    for (int k = 0; k < 2; k++) {
        double heights[SIDE * SIDE];
        uint32_t hits = 0;
        Pitch pitch;
        mf_Terrain *terrain;
        for (uint32_t i = 0; i < SIDE * SIDE; i++)
            heights[i] = unit(7, i);
        with_map(&pitch, &terrain, k == 0 ? MF_BILINEAR : MF_NEAREST, heights, SIDE);
        for (uint32_t r = 0; r < RAYS; r++) {
            mf_RayConfig ray = WITH(mf_ray_config(), .reach = 8.0);
            for (uint32_t c = 0; c < 3; c++) {
                ray.start[c] = c == 2 ? 1.5 * unit(8, 6 * r + 2) : 6.0 * unit(8, 6 * r + c) - 3.0;
                ray.direction[c] = (c == 2 ? 0.6 : 2.0) * (unit(8, 6 * r + 3 + c) - 0.5);
            }
            const double length = sqrt(dot3(ray.direction, ray.direction));
            for (int c = 0; c < 3; c++)
                ray.direction[c] /= length;
            const mf_RayHit hit = cast(&pitch, &ray);
            // The first change from above to below.
            double last = above(terrain, &ray, 0.0), found = -1.0;
            for (int s = 1; s <= SAMPLES && found < 0.0; s++) {
                const double level = above(terrain, &ray, 8.0 * s / SAMPLES);
                if (last >= 0.0 && level < 0.0)
                    found = 8.0 * s / SAMPLES;
                last = level;
            }
            // A dip that no sample sees is no mistake.
            if (!hit.hit && found > 0.0)
                fail_msg("map %d: ray %u misses the ground at %g m", k, r, found);
            if (hit.hit && found > 0.0 && hit.distance > found + 1e-9)
                fail_msg("map %d: ray %u at %g m, not %g", k, r, hit.distance, found);
            if (!hit.hit)
                continue;
            hits++;
            if (k == 0)
                assert_near(above(terrain, &ray, hit.distance), 0.0, 1e-9);
            assert_true(above(terrain, &ray, hit.distance + 1e-7) < 1e-7);
            assert_true(above(terrain, &ray, hit.distance - 1e-7) > -1e-7);
            assert_null(hit.owner.group);
            assert_true(dot3(hit.normal, ray.direction) < 0.0);
        }
        assert_true(hits > RAYS / 4);
        mf_world_destroy(pitch.world);
        mf_terrain_destroy(terrain);
        close_context(pitch.context);
    }
}

TEST(level_ground_has_no_end) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    mf_RayConfig ray = ray_of(500.0, -700.0, 3.0, 4.0, 0.0, -3.0);
    mf_RayHit hit = cast(&pitch, &ray);
    assert_near(hit.distance, 5.0, 1e-12);
    assert_near(hit.point[0], 504.0, 1e-9);
    assert_near(hit.normal[2], 1.0, 0.0);
    assert_int_equal(hit.owner.shape, MF_NONE);
    ray = ray_of(0.0, 0.0, 3.0, 1.0, 0.0, 0.0);
    assert_false(cast(&pitch, &ray).hit);
    ray = ray_of(0.0, 0.0, -3.0, 0.0, 0.0, 1.0); // from below
    assert_false(cast(&pitch, &ray).hit);
    ray = ray_of(0.0, 0.0, 3.0, 0.0, 0.0, -1.0);
    ray.ground = false;
    assert_false(cast(&pitch, &ray).hit);
}

// ---- places, order, mistakes --------------------------------------------------------------------

TEST(isolated_robots_are_alone) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    mf_GroupConfig config = mf_group_config();
    config.model = pitch.models[pitch.count++] = ball_of(pitch.context, 1.0);
    config.count = 2;
    MUST(mf_world_add_group(pitch.world, &config, &pitch.groups[0], &error));
    set_field(pitch.groups[0], "base.position", 1, 2, 2.0);
    set_field(pitch.groups[0], "base.position", 0, 2, 1.0);
    mf_RayConfig ray = ray_of(0.0, 0.0, 5.0, 0.0, 0.0, -1.0);
    assert_near(cast(&pitch, &ray).distance, 5.0, 1e-12);
    ray.alone = pitch.groups[0];
    assert_near(cast(&pitch, &ray).distance, 3.9, 1e-6);
    ray.alone_instance = 1;
    assert_near(cast(&pitch, &ray).distance, 2.9, 1e-6);
    // A group that is added later is seen, and one with a fault is not there.
    mf_Group *late = pitch_group(&pitch, ball_of(pitch.context, 1.0), "late", 2, true);
    set_field(late, "base.position", 0, 2, 3.0);
    set_field(late, "base.position", 1, 2, 3.0);
    ray.alone = NULL;
    assert_int_equal(cast(&pitch, &ray).owner.instance, 0); // of two at one position the first
    assert_near(cast(&pitch, &ray).distance, 1.9, 1e-12);
    set_field(late, "fault.word", 0, 0, MF_FAULT_RANGE);
    assert_int_equal(cast(&pitch, &ray).owner.instance, 1);
}

static void refused(Pitch *pitch, const mf_RayConfig *config, const char *text) {
    mf_RayHit hit;
    assert_fails(mf_world_ray(pitch->world, config, &hit, &pitch->error), MF_BAD_ARGUMENT,
                 &pitch->error, text);
}

TEST(bad_rays_are_refused) {
    AUTO_PITCH pitch = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81),
               other = pitch_open(1, MF_ISA_AUTO, MF_MILLISECOND, 9.81);
    mf_Group *group = add_kind(&pitch, 0, "solid", 2), *foreign = add_kind(&other, 0, "solid", 1);
    const mf_RayConfig good = mf_ray_config();
    mf_GroupConfig isolated =
        WITH(mf_group_config(), .model = mf_group_model(group), .name = "apart");
    MUST(mf_world_add_group(pitch.world, &isolated, &pitch.groups[1], &error));
    const struct {
        mf_RayConfig config;
        const char *text;
    } rows[] = {
        {ray_of(0, 0, 1, 0, 0, 0), "direction"},
        {ray_of(NAN, 0, 1, 0, 0, 1), "start"},
        {WITH(good, .reach = 0.0), "reach"},
        {WITH(good, .without = group, .without_instance = 2), "no robot 2"},
        {WITH(good, .without = foreign), "another world"},
        {WITH(good, .alone = group), "isolated"},
        {WITH(good, .without = pitch.groups[1]), "ray.without: group apart is isolated"},
        {WITH(good, .struct_size = 0), "mf_ray_config()"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        refused(&pitch, &rows[i].config, rows[i].text);
    refused(&pitch, NULL, "NULL");
}
