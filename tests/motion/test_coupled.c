// The coupled friction solver: random bodies on random contacts, more extreme than those of robots,
// against an independent evaluation of the equations. Reported convergence is true convergence.
#include <math/copies.h>

#if MF_HAS_SCALAR
#define MF_KERNEL_SCALAR
#else
#define MF_KERNEL_SINGLE
#endif
#define MF_KERNEL_F64
#include "motion/points/coupled.h"

#include "motion/rig.h"

enum { MOST = 8 };

typedef struct Problem {
    mf_PointsPlan plan;
    Contacts contacts;
    Contact rows[MOST];
    double weight[MOST];
    double moments[3]; // [m^2] of inertia over the mass
    double softness, friction;
} Problem;

static double draw(uint32_t problem, uint32_t n) { // -1 .. 1
    uint32_t words[4];
    mf_random(11, problem, 0, n, words);
    return 2.0 * mf_random_unit_double(words[0], words[1]) - 1.0;
}

// A body of 2 to 20 cm on one to eight contacts that are pressed, or not, by up to a hundred times
// what it weighs, and have slipped as at up to 3 m/s and 10 rad/s, with a step of 0.5 to 10 ms.
static void make(uint32_t k, Problem *p) {
    static const double coefficients[] = {0.1, 0.25, 0.5, 0.7, 1.0, 1.5};
    *p = (Problem){.softness = 0.1, .friction = coefficients[k % 6]};
    p->contacts.row = p->rows;
    p->plan.slopes = draw(k, 0) <= -0.2;
    double half[3], v[3], w[3], h = pow(10.0, -2.65 + 0.65 * draw(k, 1));
    for (uint32_t c = 0; c < 3; c++) {
        half[c] = 0.11 + 0.09 * draw(k, 2 + c);
        v[c] = draw(k, 5 + c) * pow(10.0, -1.2 + 1.7 * draw(k, 8));
        w[c] = draw(k, 10 + c) * pow(10.0, -0.5 + 1.5 * draw(k, 9));
    }
    for (int c = 0; c < 3; c++) {
        double a = half[(c + 1) % 3], b = half[(c + 2) % 3];
        p->moments[c] = (a * a + b * b) / 3.0;
    }
    p->contacts.count = 1 + (size_t)(3.999 * (draw(k, 13) + 1.0));
    double rest = 9.81 * h * h;
    for (uint32_t i = 0; i < p->contacts.count; i++) {
        uint32_t n = 20 + 20 * i;
        Contact *row = &p->contacts.row[i];
        row->position = (Vec){half[0] * draw(k, n), half[1] * draw(k, n + 1),
                              -half[2] * (1.0 + 0.2 * draw(k, n + 2))};
        Vec up = {0.2 * draw(k, n + 3), 0.2 * draw(k, n + 4), 1.0};
        row->normal = vec_scale(up, 1.0 / sqrt(vec_dot(up, up)));
        row->depth = rest * (1.0 + draw(k, n + 5)) +
                     0.1 * rest * draw(k, n + 6) * pow(10.0, 1.5 * draw(k, n + 7));
        Vec torque = {w[0], w[1], w[2]};
        Vec speed = vec_add((Vec){v[0], v[1], v[2]}, vec_cross(torque, row->position));
        row->slip = vec_scale(speed, h);
        p->weight[i] = draw(k, n + 8) < 0.7 ? 1.0 : 0.0;
    }
}

// |R| against the sizes of its terms, from the equations of docs/explanation/points.md; 0 where
// nothing presses.
static double residual_of(const Problem *p, const Shift *u, const double *hold) {
    double r[6] = {u->move.x,
                   u->move.y,
                   u->move.z,
                   u->rotation_vector.x * p->moments[0],
                   u->rotation_vector.y * p->moments[1],
                   u->rotation_vector.z * p->moments[2]};
    double force = 0.0, torque = 0.0;
    for (int i = 0; i < 6; i++) {
        r[i] *= p->softness;
        *(i < 3 ? &force : &torque) += fabs(r[i]);
    }
    for (size_t i = 0; i < p->contacts.count; i++) {
        const Contact *row = &p->contacts.row[i];
        Vec n = p->plan.slopes ? row->normal : (Vec){0.0, 0.0, 1.0}, x = row->position;
        Vec moved = vec_add(u->move, vec_cross(u->rotation_vector, x)),
            drawn = vec_add(row->slip, moved);
        double press = fmax(row->depth * n.z - vec_dot(n, moved), 0.0);
        Vec t = vec_sub(drawn, vec_scale(n, vec_dot(n, drawn)));
        double length = sqrt(vec_dot(t, t)), pull = p->weight[i] * length;
        double bears = fmin(pull, p->friction * press);
        Vec f = vec_scale(n, press);
        if (length > 0.0)
            f = vec_sub(f, vec_scale(t, bears / length));
        if (pull > 0.0 && fabs(hold[i] - bears / pull) > 1e-6)
            fail_msg("contact %zu holds %g, expected %g", i, hold[i], bears / pull);
        Vec m = vec_cross(x, f);
        const double part[6] = {f.x, f.y, f.z, m.x, m.y, m.z};
        for (int c = 0; c < 6; c++)
            r[c] -= part[c];
        double size = fabs(f.x) + fabs(f.y) + fabs(f.z);
        force += size;
        torque += size * (fabs(x.x) + fabs(x.y) + fabs(x.z));
    }
    double wrong = r[0] * r[0] + r[1] * r[1] + r[2] * r[2], all = force * force;
    for (int c = 0; c < 3; c++) {
        wrong += r[3 + c] * r[3 + c] / p->moments[c];
        all += torque * torque / p->moments[c];
    }
    return all > 0.0 ? sqrt(wrong / all) : 0.0;
}

TEST(what_is_solved_is_a_solution) {
    enum { PROBLEMS = 6000 };
    int unsolved[2] = {0, 0}, pressed = 0;
    for (uint32_t k = 0; k < PROBLEMS; k++) {
        Problem p;
        double hold[MOST], residual;
        make(k, &p);
        const double m[3] = {0.1 * p.moments[0], 0.1 * p.moments[1], 0.1 * p.moments[2]};
        Coupled c = {.plan = &p.plan,
                     .contacts = &p.contacts,
                     .inertia = {m[0], m[1], m[2], 0.0, 0.0, 0.0},
                     .softness = p.softness,
                     .friction = p.friction};
        Shift u = coupled_solve(&c, p.weight, hold, mf_mask_all(), &residual);
        double own = residual_of(&p, &u, hold);
        pressed += own > 0.0;
        // What is notified may count roundings of depths among the sizes.
        if (!(own < 2.0 * residual + 1e-9 && residual < 2.0 * own + 1e-9))
            fail_msg("problem %u: residual %g, said to be %g", k, own, residual);
        unsolved[p.friction >= 1.0] += residual > 1e-9; // Newton's method ends far below
    }
    print_message("unsolved: %d of %d, %d of them below mu 1\n", unsolved[0] + unsolved[1],
                  PROBLEMS, unsolved[0]);
    assert_true(pressed > PROBLEMS / 2);
    // Coulomb's law need not have a solution where it turns a body over its own feet (Painleve
    // 1895).
    assert_true(unsolved[0] <= PROBLEMS / 1000 && unsolved[0] + unsolved[1] <= PROBLEMS / 50);
    assert_true(unsolved[1] > 0); // or else nothing here has shown that it is notified
}

// A box on four feet and a leg, thrown, whose leg stays; the others of its batch swing theirs, deep
// into the ground in some. Returns the hash of its state, the residual included.
static uint64_t throw_among(uint32_t count) {
    static const double axis[3] = {0, 1, 0}, moments[3] = {0.02, 0.02, 0.03};
    AUTO_RIG rig = rig_begin(1);
    mf_hand_inertia(rig.hand, 0, 1.0, moments);
    for (int i = 0; i < 4; i++)
        mf_hand_point(rig.hand, 0, i & 1 ? .1 : -.1, i & 2 ? .1 : -.1, -0.1, 0.1, true);
    uint32_t leg = mf_hand_hinge(rig.hand, 0, 0.1, 0, 0, axis);
    mf_hand_point(rig.hand, leg, 0.1, 0, -0.02, 0.1, true);
    points_open(&rig, WITH(points_config(false), .points.friction = MF_FRICTION_COUPLED,
                           .points.friction_coefficient = 0.6,
                           .points.joint_interval = 20 * MF_MILLISECOND, .group.count = count));
    for (uint32_t i = 0; i < count; i++) {
        double spin = i + 1 == count ? 0.0 : 0.7 * (i % 5);
        set_field(rig.group, "base.linear_velocity", i, 0, 1.0);
        set_field(rig.group, "base.angular_velocity", i, 1, spin);
    }
    for (int n = 0; n < 60; n++) {
        for (uint32_t i = 0; i + 1 < count; i++)
            set_field(rig.group, "joint.target", i, 0, 0.9 * sin(0.1 * n + i));
        mf_world_step(rig.world, 1);
        assert_true(get_field(rig.group, "point.residual", count - 1, 0) < 0.01);
    }
    return mf_group_instance_hash(rig.group, count - 1);
}

TEST(other_lanes_do_not_change_a_solution) {
    uint64_t alone = throw_among(1);
    for (uint32_t count = 2; count < 18; count += 3)
        assert_true(throw_among(count) == alone);
}

// ---- joint updates ------------------------------------------------------------------------------

// Four feet on legs that slide outward, of which one moves by 20 mm: what the standing feet undo is
// the displacement and the yaw of the fit (docs/explanation/points.md, equation of friction), a =
// -s/4 and a3 = -s y / sum r^2. The body keeps its height and its tilt to the hundredth part of
// the slip that a height may bear, and its momentum, which is zero.
TEST(a_foot_that_slides_moves_the_body_as_the_fit_says) {
    static const double axis[3] = {1, 0, 0}, slip = 0.02, x = 0.2, y = 0.15;
    for (int option = 0; option < 4; option++) {
        AUTO_RIG rig = rig_begin(1);
        mf_hand_inertia(rig.hand, 0, 4.0, (double[3]){0.03, 0.04, 0.05});
        for (int i = 0; i < 4; i++) {
            uint32_t leg = mf_hand_slide(rig.hand, 0, i & 1 ? x : -x, i & 2 ? y : -y, 0, axis);
            mf_hand_point(rig.hand, leg, 0, 0, -0.2, 0, true);
            rig.hand->joints[i].lower = -(rig.hand->joints[i].upper = 0.1);
            rig.hand->joints[i].speed = 1.0;
        }
        points_open(&rig,
                    WITH(points_config((option & 1) != 0), .points.friction = MF_FRICTION_COUPLED,
                         .points.friction_coefficient = option & 2 ? 0.8 : INFINITY));
        mf_world_step(rig.world, 80);
        const double before[3] = {rig_get(&rig, "base.position", 0),
                                  rig_get(&rig, "base.position", 1),
                                  rig_get(&rig, "base.position", 2)};
        rig_set(&rig, "joint.target", 3, slip);
        mf_world_step(rig.world, 8);
        double center[3], linear[3], angular[3];
        mf_motion_momentum(rig.group, 0, center, linear, angular);
        assert_near(rig_get(&rig, "base.position", 0), before[0] - slip / 4, 1e-4);
        assert_near(rig_get(&rig, "base.position", 1), before[1], 1e-4);
        assert_near(rig_get(&rig, "base.position", 2), before[2], 0.01 * slip);
        assert_near(2.0 * rig_get(&rig, "base.orientation", 3), slip * y / (4 * (x * x + y * y)),
                    5e-4);
        assert_near(rig_get(&rig, "base.orientation", 1), 0.0, 0.01 * slip / y);
        assert_near(rig_get(&rig, "base.orientation", 2), 0.0, 0.01 * slip / x);
        assert_near(norm3(linear), 0.0, 1e-3);
        assert_near(norm3(angular), 0.0, 1e-4);
    }
}

typedef struct Feet {
    double deepest; // [m]
    double reach;   // [m] how far the robot's own speed moves a point in one step, at most
} Feet;

static Feet measure(const Rig *rig, const mf_Terrain *terrain, uint32_t robot) {
    double base[3], q[4], v[3], w[3], center[3], local[3], arm[3], size = 0.0;
    get_fields(rig->group, "base.position", robot, 3, base);
    get_fields(rig->group, "base.orientation", robot, 4, q);
    get_fields(rig->group, "base.linear_velocity", robot, 3, v);
    get_fields(rig->group, "base.angular_velocity", robot, 3, w);
    get_fields(rig->group, "body.center", robot, 3, center);
    const mf_Field *points = rig_field(rig, "body.points");
    Feet feet = {-INFINITY, 0.0};
    for (uint32_t i = 0; i < points->components; i += 3) {
        for (uint32_t c = 0; c < 3; c++)
            local[c] = center[c] + mf_field_get(points, robot, i + c);
        rotate3(q, local, arm);
        const double ground =
            terrain == NULL ? 0.0
                            : mf_terrain_height(terrain, base[0] + arm[0], base[1] + arm[1], NULL);
        feet.deepest = fmax(feet.deepest, ground - base[2] - arm[2]);
        size = fmax(size, norm3(arm));
    }
    feet.reach =
        (norm3(v) + size * norm3(w)) * mf_time_to_seconds(mf_world_config_of(rig->world)->step);
    return feet;
}

typedef struct Walk {
    mf_Time step, interval;
} Walk;

// Gaits of sines, no two alike, half a second after a fall from 0.3 m. From then on no point is
// deeper in the ground than the margin within which points count as contacts, and what the robot's
// own speed, which a landing ends, moves it in one step. Returns the deepest depth over that bound.
static double walk(Rig *rig, const Walk *at, const mf_Terrain *terrain) {
    enum { ROBOTS = 6 };
    mf_Field *target = rig_field(rig, "joint.target");
    const uint32_t steps = (uint32_t)((SANITIZED ? 1 : 4) * MF_SECOND / at->step);
    const double margin = mf_motions_config().points.contact_margin;
    double reach[ROBOTS] = {0}, worst = 0.0;
    for (uint32_t i = 0; i < mf_group_count(rig->group); i++)
        set_field(rig->group, "base.position", i, 2,
                  0.3 + get_field(rig->group, "base.position", i, 2));
    for (uint32_t k = 0; k < steps; k++)
        for (uint32_t i = 0; i < mf_group_count(rig->group); i++) {
            const double t = k * mf_time_to_seconds(at->step);
            for (uint32_t j = 0; j < target->components && t > 0.5; j++)
                mf_field_set(target, i, j,
                             0.5 * random_signed(5, 64 * i + j) *
                                 sin(4.4 * t + 3.1 * random_signed(6, 64 * i + j)));
            if (i == 0)
                mf_world_step(rig->world, 1);
            const Feet feet = measure(rig, terrain, i);
            if (t > 0.5)
                worst = fmax(worst, feet.deepest / (margin + fmax(feet.reach, reach[i])));
            reach[i] = feet.reach;
        }
    return worst;
}

// In commands of an update whose feet cannot all keep their places the body must not go into the
// ground to bring them closer: before, it did so by up to 137 mm.
TEST(gaits_keep_feet_out_of_the_ground) {
    static const char *const files[] = {NULL, "hexapod", "quadruped"};
    static const Walk walks[] = {{10 * MF_MILLISECOND, 80 * MF_MILLISECOND},
                                 {10 * MF_MILLISECOND, 10 * MF_MILLISECOND},
                                 {2 * MF_MILLISECOND, 80 * MF_MILLISECOND}};
    for (uint32_t o = 0; o < 3 * 3 * 3 * 2; o++) {
        const uint32_t ground = o / 3 % 3, at = o / 9 % 3;
        AUTO_RIG rig = rig_begin(1);
        char path[512];
        snprintf(path, sizeof path, "%s/models/%s.urdf", MAYFLY_SOURCE_DIR, files[o % 3]);
        if (files[o % 3] == NULL)
            make_hexapod(rig.hand);
        else
            MUST(mf_model_load(rig.context, path, NULL, &rig.model, &error));
        if (ground > 0)
            rig.terrain =
                make_terrain(rig.context, ground == 1 ? MF_TERRAIN_SLOPE : MF_TERRAIN_NOISE,
                             MF_BILINEAR, ground == 1 ? 0.2 : 0.05, 1.0, 0.1);
        points_open(&rig, WITH(points_config(o % 2 == 0), .points.friction = MF_FRICTION_COUPLED,
                               .points.friction_coefficient = o / 27 == 0 ? INFINITY : 0.8,
                               .world.terrain = rig.terrain, .world.step = walks[at].step,
                               .points.joint_interval = walks[at].interval, .group.count = 6));
        const double worst = walk(&rig, &walks[at], rig.terrain);
        if (getenv("MAYFLY_VERBOSE") != NULL || !(worst <= 1.0))
            print_message("case %u: %.3f of the bound\n", o, worst);
        assert_true(worst <= 1.0);
        assert_int_equal(mf_group_fault_total(rig.group), 0);
    }
}
