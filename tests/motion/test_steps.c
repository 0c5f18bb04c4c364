// Steps of nearest-cell maps are walls: a body climbs one only with sufficient energy and never
// gains any. Under `articulated` and `rigid`, for balls and the corners of boxes, cylinders and
// meshes.
#include "motion/articulated_rig.h"

static const double gravity = 9.81, height = 0.03, radius = 0.1;

// The map is 0 for x < 0 and `height` from there on.
static mf_Terrain *make_step(mf_Context *context) {
    mf_Terrain *terrain = NULL;
    static double heights[64 * 64];
    for (int i = 0; i < 64 * 64; i++)
        heights[i] = i % 64 < 32 ? 0.0 : height;
    MUST(mf_terrain_from_array(context,
                               &WITH(mf_terrain_config(), .columns = 64, .rows = 64, .cell = 0.1,
                                     .interpolation = MF_NEAREST),
                               heights, &terrain, &error));
    return terrain;
}

typedef struct Ride {
    double farthest;   // [m] largest x
    double most, lost; // [J] largest energy over the first; what is lost at the end
} Ride;

// Half a meter before the step at `speed`, rolling where it is round; 1.5 s.
static Ride ride(const char *geom, double start, double speed, double rate, mf_Motion motion,
                 mf_Time step) {
    AUTO_CONTEXT *context = open_context(1);
    AUTO_WORLD *world = NULL;
    mf_Group *group = NULL;
    AUTO_MODEL *model = load_text(
        context,
        formatted(
            "<mujoco><asset><mesh name='m' vertex='-.1 -.1 -.1 -.1 -.1 .1 -.1 .1 -.1 -.1 .1 .1 .1 "
            "-.1 -.1 .1 -.1 .1 .1 .1 -.1 .1 .1 .1'/></asset><worldbody><body><freejoint/>"
            "<geom %s mass='1'/></body></worldbody></mujoco>",
            geom));
    AUTO_TERRAIN *terrain = make_step(context);
    world = open_world(context, &WITH(mf_world_config(), .step = step, .terrain = terrain));
    group = add_group(world, &WITH(mf_group_config(), .model = model));
    mf_MotionsConfig motions = mf_motions_config();
    mf_motions_set_shapes(&motions, true);
    MUST(mf_motion_add(group, motion, &motions, &error));
    mf_Field *position = mf_group_find_field(group, "base.position");
    mf_field_set(position, 0, 0, -0.5);
    mf_field_set(position, 0, 1, 0.013);
    mf_field_set(position, 0, 2, start);
    mf_world_step(world, (uint32_t)(200 * MF_MILLISECOND / step)); // it settles
    mf_field_set(position, 0, 0, -0.5);
    set_field(group, "base.linear_velocity", 0, 0, speed);
    set_field(group, "base.angular_velocity", 0, 1, rate);
    Ride out = {-1.0, 0.0, 0.0};
    const mf_MotionEnergy first = mf_motion_energy(group, 0);
    for (mf_Time t = 0; t < 1500 * MF_MILLISECOND; t += step) {
        mf_world_step(world, 1);
        const mf_MotionEnergy now = mf_motion_energy(group, 0);
        const double gain = now.kinetic + now.potential - first.kinetic - first.potential;
        out.most = fmax(out.most, gain);
        out.lost = -gain;
        out.farthest = fmax(out.farthest, mf_field_get(position, 0, 0));
    }
    return out;
}

static const mf_Motion motions[] = {MF_MOTION_ARTICULATED, MF_MOTION_RIGID};
static const mf_Time steps[] = {MF_MILLISECOND, 5 * MF_MILLISECOND};

// A ball that rolls has 7/10 m v^2 and needs m g h, one that slides without friction 1/2 m v^2.
// Those with less, down to half of that speed, stay below.
TEST(a_ball_climbs_by_its_energy_only) {
    for (int m = 0; m < 2; m++)
        for (int s = 0; s < 2; s++)
            for (int k = 0; k < 4; k++) {
                const bool rolls = motions[m] == MF_MOTION_ARTICULATED;
                const double least = sqrt((rolls ? 10.0 / 7.0 : 2.0) * gravity * height);
                const double speed = (0.5 + 0.15 * k) * least;
                Ride got = ride(rolls ? "type='sphere' size='.1'"
                                      : "type='sphere' size='.1' friction='0 0 0'",
                                radius, speed, rolls ? speed / radius : 0.0, motions[m], steps[s]);
                assert_true(got.farthest < 0.0);
                assert_true(got.farthest > -radius);
                assert_true(got.most < 0.01 * gravity * height);
            }
}

// What keeps turning about the edge, by its angular momentum there, climbs from
// sqrt(14/5 g h) r / (7/5 r - h) on if it does not slip; half as much more is enough here.
TEST(a_fast_ball_climbs) {
    const double least = sqrt(2.8 * gravity * height) * radius / (1.4 * radius - height);
    for (int s = 0; s < 2; s++) {
        Ride got = ride("type='sphere' size='.1' friction='1'", radius, 1.6 * least,
                        1.6 * least / radius, MF_MOTION_ARTICULATED, steps[s]);
        assert_true(got.farthest > 0.1);
        assert_true(got.most < 0.01 * gravity * height);
    }
}

// Boxes and meshes that slide at the step stop there.
TEST(corners_stop_at_a_step) {
    static const char *const geoms[] = {"type='box' size='.1 .1 .1' friction='.01'",
                                        "type='mesh' mesh='m' friction='.01'",
                                        "type='cylinder' size='.1 .1' friction='.01'"};
    for (int m = 0; m < 2; m++)
        for (int g = 0; g < 3; g++)
            for (int s = 0; s < 2; s++) {
                Ride got = ride(geoms[g], 0.1, 0.6, 0.0, motions[m], steps[s]);
                // The foremost point of a standing rim may be none of its contacts.
                assert_true(got.farthest < (g == 2 ? -0.05 : -0.08));
                assert_true(got.farthest > -0.11);
                assert_true(got.most < 0.01 * gravity * height);
            }
}
