// The narrow phase: contacts computed by hand, random states against a slow reference, degenerate
// states, and the same bits from every copy and in any lane.
#include "contact/narrow_literals.h"

GROUP_FIXTURE(make_context, drop_context);

// ---- literals -----------------------------------------------------------------------------------

static void check_literal(const Case *item, bool wide) {
    // Directions of curved solids come from levels, of which they are the least: half the digits.
    bool curved = item->a.type == MF_SHAPE_CYLINDER || item->b.type == MF_SHAPE_CYLINDER ||
                  item->b.type == MF_SHAPE_ELLIPSOID;
    double tolerance = wide ? 1e-12 : curved ? 5e-6 : 2e-6, direction = wide ? 1e-6 : 5e-3;
    direction = curved ? direction : 4 * tolerance;
    // A line of a round side is 2e-4 of the solid wide.
    double position = curved ? (wide ? 3e-4 : 5e-3) : 4 * tolerance;
    uint32_t count = 0;
    Found first = {.depth = -INFINITY};
    for (uint32_t c = 0; c < MF_COLLIDE_CONTACTS; c++) {
        Found contact = found(0, c, wide);
        count += contact.exists;
        if (contact.exists && contact.depth > first.depth)
            first = contact;
    }
    bool fits = count == item->count && fabs(first.depth - item->depth) < tolerance;
    for (int i = 0; i < 3; i++) {
        fits = fits && fabs(first.normal[i] - item->normal[i]) < direction;
        if (!isnan(item->point[i]))
            fits = fits && fabs(first.point[i] - item->point[i]) < position;
    }
    if (!fits)
        fail_msg(
            "%s (%s): %u contacts of %u, depth %.15g of %.15g, normal %g %g %g, point %g %g %g",
            item->name, wide ? "double" : "float", count, item->count, first.depth, item->depth,
            first.normal[0], first.normal[1], first.normal[2], first.point[0], first.point[1],
            first.point[2]);
}

TEST(literals_hold) {
    const double origin[3] = {0, 0, 0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Case *item = &cases[i];
        fixture_open(*state, &item->a, &item->b);
        for (uint32_t lane = 0; lane < COUNT; lane++) {
            set_link(lane, 0, item->rotation_a, origin);
            set_link(lane, 1, item->rotation_b, item->place_b);
        }
        run_all(0.0);
        check_literal(item, true);
        check_literal(item, false);
        fixture_close();
    }
}

// ---- random states ------------------------------------------------------------------------------

static double between(double low, double high) {
    return low + (high - low) * oracle_random();
}

static void random_quat(double q[4]) {
    for (int i = 0; i < 4; i++)
        q[i] = oracle_normal();
    // One in four with axes that meet others at right angles.
    if (oracle_random() < 0.25) {
        for (int i = 0; i < 4; i++)
            q[i] = 0;
        q[(int)(4 * oracle_random())] = 1;
        q[(int)(4 * oracle_random())] += 1;
    }
}

// Places b so that both overlap by `depth` along a random direction.
static void random_lane(uint32_t lane, double least, double most) {
    double q[4], position[3], direction[3], origin[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        position[i] = between(-1, 1);
        direction[i] = oracle_normal();
    }
    make_unit(direction);
    random_quat(q);
    set_link(lane, 0, q, position);
    random_quat(q);
    set_link(lane, 1, q, origin);
    double apart = overlap_along(&fixture.bodies[lane][0], &fixture.bodies[lane][1], direction);
    apart -= between(least, most);
    for (int i = 0; i < 3; i++)
        origin[i] = direction[i] * apart;
    set_link(lane, 1, q, origin);
}

static const Form forms[] = {SPHERE(0.1),
                             SPHERE(0.03),
                             CAPSULE(0.05, 0.3),
                             CAPSULE(0.1, 0.1),
                             ELLIPSOID(0.1, 0.2, 0.15),
                             CYLINDER(0.1, 0.3),
                             CYLINDER(0.15, 0.06),
                             BOX(0.2, 0.3, 0.1),
                             BOX(0.25, 0.25, 0.25),
                             HULL(wedge, 5),
                             HULL(roof, 6),
                             HULL(octahedron, 6),
                             CUBE};
// The normal of contacts of known faces may be that of a face: they have tests of their own.
enum { FORMS = sizeof forms / sizeof *forms, JUDGED = FORMS - 1 };

static bool polygonal(mf_ShapeType type) {
    return type == MF_SHAPE_MESH || type == MF_SHAPE_CYLINDER;
}

static Found deepest_found(uint32_t lane, bool wide) {
    Found deepest = found(lane, 0, wide);
    for (uint32_t c = 1; c < MF_COLLIDE_CONTACTS; c++) {
        const Found contact = found(lane, c, wide);
        if (contact.exists && !(deepest.exists && contact.depth <= deepest.depth))
            deepest = contact;
    }
    return deepest;
}

// One lane against the judge, who says `depth`. Returns a sentence about what is wrong, or NULL.
static const char *judge(const Body pair[2], double depth, uint32_t lane, double reach, bool wide,
                         uint32_t *others) {
    double rounding = wide ? 1e-9 : 3e-6;
    double search = 2e-6; // what the judge may miss
    Found first = deepest_found(lane, wide);
    bool boxes = pair[0].type == MF_SHAPE_BOX && pair[1].type == MF_SHAPE_BOX;
    if (!first.exists)
        return depth > (boxes ? rounding + search : -reach + rounding + search) ? "missed" : NULL;
    // So it is not less than the true depth.
    double along = overlap_along(&pair[0], &pair[1], first.normal);
    if (fabs(along - first.depth) > rounding)
        return "depth is not the overlap along the normal";
    // Of boxes that are apart it is the overlap along an axis. Deeply overlapping hulls may come
    // out by another side than the nearest, of which the overlap is still less than beside it.
    if (first.depth > depth + rounding + search && !(boxes && depth < 0)) {
        double beside[3] = {first.normal[0], first.normal[1], first.normal[2]};
        bool hulls = pair[1].type == MF_SHAPE_MESH && depth > 0;
        if (!hulls || first.depth > 1.25 * depth ||
            narrow_down(&pair[0], &pair[1], beside, 1e-3, 1e-7) < first.depth - rounding - search)
            return "deeper than it is";
        *others += 1;
    }
    for (uint32_t c = 0; c < MF_COLLIDE_CONTACTS; c++) {
        Found contact = found(lane, c, wide);
        double on_a[3], on_b[3];
        if (!contact.exists)
            continue;
        for (int i = 0; i < 3; i++) {
            on_a[i] = contact.point[i] + 0.5 * contact.depth * contact.normal[i];
            on_b[i] = contact.point[i] - 0.5 * contact.depth * contact.normal[i];
        }
        // Faces of hulls and round ends are quadrangles.
        bool loose = polygonal(pair[0].type) || polygonal(pair[1].type);
        bool curved = pair[0].type == MF_SHAPE_ELLIPSOID || pair[1].type == MF_SHAPE_ELLIPSOID;
        double allowed = loose ? 2e-3 : curved ? 100 * rounding : 4 * rounding;
        if (body_outside(&pair[0], on_a) > allowed || body_outside(&pair[1], on_b) > allowed)
            return "a point outside the solids";
    }
    return NULL;
}

static void report(uint32_t lane, const Body pair[2], const char *what, bool wide) {
    double n[3], depth = oracle_depth(&pair[0], &pair[1], n);
    Found first = deepest_found(lane, wide);
    fail_msg("types %d %d lane %u %s: %s: depth %.9g judge %.9g, normal %.6g %.6g %.6g judge %.6g "
             "%.6g %.6g",
             pair[0].type, pair[1].type, lane, wide ? "double" : "float", what, first.depth, depth,
             first.normal[0], first.normal[1], first.normal[2], n[0], n[1], n[2]);
}

TEST(random_states_agree) {
    const double reach = 0.02;
    uint32_t others = 0; // results that are least among their neighbors only
    oracle_state = 7;
    for (int i = 0; i < JUDGED; i++) {
        for (int k = i; k < JUDGED; k++) {
            fixture_open(*state, &forms[i], &forms[k]);
            for (uint32_t lane = 0; lane < COUNT; lane++)
                random_lane(lane, -0.03, 0.03);
            run_all(reach);
            bool swapped = mf_collide_pairs(fixture.plan)[0].a != 0;
            for (uint32_t lane = 0; lane < COUNT; lane++) {
                Body pair[2] = {fixture.bodies[lane][swapped], fixture.bodies[lane][!swapped]};
                double n[3], depth = oracle_depth(&pair[0], &pair[1], n);
                for (int wide = 0; wide < 2; wide++) {
                    const char *what = judge(pair, depth, lane, reach, wide, &others);
                    if (what)
                        report(lane, pair, what, wide);
                }
            }
            fixture_close();
        }
    }
    assert_in_range(others, 0, JUDGED * JUDGED * COUNT / 1000);
}

// ---- corners of faces ---------------------------------------------------------------------------

typedef struct Corner { // a contact by hand
    double point[3], depth;
} Corner;

// A solid b above a, which is at the origin.
typedef struct Overlap {
    const char *name;
    Form a, b;
    double rotation_a[4], rotation_b[4], place[3], normal[3];
    uint32_t count;
    Corner corner[8];
} Overlap;

// How many of the corners are not found, in any order.
static uint32_t missing(const Overlap *item, bool wide) {
    // Without a list of faces, as with a margin, an edge is a quadrangle 2e-4 of the solid wide.
    const double tolerance = item->a.margin > 0 ? 1e-4 : wide ? 1e-12 : 1e-5;
    uint32_t count = 0;
    for (uint32_t k = 0; k < item->count; k++) {
        double best = INFINITY;
        for (uint32_t c = 0; c < MF_COLLIDE_CONTACTS; c++) {
            const Found contact = found(0, c, wide);
            double most = fabs(contact.depth - item->corner[k].depth);
            for (int i = 0; i < 3; i++) {
                most = fmax(most, fabs(contact.point[i] - item->corner[k].point[i]));
                most = fmax(most, fabs(contact.normal[i] - item->normal[i]));
            }
            best = contact.exists ? fmin(best, most) : best;
        }
        count += !(best < tolerance);
    }
    return count;
}

static void check_overlap(mf_Context *context, const Overlap *item) {
    const double origin[3] = {0, 0, 0};
    fixture_open(context, &item->a, &item->b);
    for (uint32_t lane = 0; lane < COUNT; lane++) {
        set_link(lane, 0, item->rotation_a, origin);
        set_link(lane, 1, item->rotation_b, item->place);
    }
    run_all(0.0);
    for (int wide = 0; wide < 2; wide++) {
        uint32_t count = 0;
        for (uint32_t c = 0; c < MF_COLLIDE_CONTACTS; c++) {
            const Found contact = found(0, c, wide);
            count += contact.exists;
            if (contact.exists && (count > item->count || missing(item, wide) > 0))
                print_message("%u: %.9g %.9g %.9g depth %.9g normal %.9g %.9g %.9g\n", c,
                              contact.point[0], contact.point[1], contact.point[2], contact.depth,
                              contact.normal[0], contact.normal[1], contact.normal[2]);
        }
        if (count != item->count || missing(item, wide) > 0)
            fail_msg("%s (%s): %u contacts of %u, %u not found", item->name,
                     wide ? "double" : "float", count, item->count, missing(item, wide));
    }
    fixture_close();
}

#define TURN(axis_x, axis_y, axis_z, half)                                                         \
    { cos(half), (axis_x)*sin(half), (axis_y)*sin(half), (axis_z)*sin(half) }

TEST(faces_touch_with_the_corners_of_their_overlap) {
    const double d = 0.01, eighth = acos(-1.0) / 8.0, k = 0.5 * (sqrt(2.0) - 1.0);
    const double z = 0.5 - 0.5 * d, gap = 1.0 - d; // of unit cubes
    // Two squares turned by 45 degrees overlap in a regular octagon.
    const Overlap turned = {"turned boxes",
                            BOX(1, 1, 1),
                            BOX(1, 1, 1),
                            SAME,
                            TURN(0, 0, 1, eighth),
                            {0, 0, gap},
                            {0, 0, 1},
                            8,
                            {{{0.5, k, z}, d},
                             {{k, 0.5, z}, d},
                             {{-k, 0.5, z}, d},
                             {{-0.5, k, z}, d},
                             {{-0.5, -k, z}, d},
                             {{-k, -0.5, z}, d},
                             {{k, -0.5, z}, d},
                             {{0.5, -k, z}, d}}};
    Overlap aligned = {
        "boxes",
        BOX(1, 1, 1),
        BOX(1, 1, 1),
        SAME,
        SAME,
        {0.25, 0.125, gap},
        {0, 0, 1},
        4,
        {{{0.5, 0.5, z}, d}, {{-0.25, 0.5, z}, d}, {{-0.25, -0.375, z}, d}, {{0.5, -0.375, z}, d}}};
    check_overlap(*state, &turned);
    check_overlap(*state, &aligned);
    const Form box = BOX(1, 1, 1), hull = CUBE;
    aligned.name = "a box and a hull";
    aligned.b = hull;
    check_overlap(*state, &aligned);
    aligned.name = "hulls";
    aligned.a = hull;
    check_overlap(*state, &aligned);
    // Of the octagon four corners stay, those of a largest quadrangle: a square.
    Overlap four = turned;
    for (int i = 0; i < 2; i++) {
        four.a = i > 0 ? hull : box;
        four.b = hull;
        fixture_open(*state, &four.a, &four.b);
        for (uint32_t lane = 0; lane < COUNT; lane++) {
            set_link(lane, 0, four.rotation_a, (const double[3]){0, 0, 0});
            set_link(lane, 1, four.rotation_b, four.place);
        }
        run_all(0.0);
        assert_int_equal(missing(&four, true), 4);
        double sum[2] = {0, 0}, square = 0;
        for (uint32_t c = 0; c < 4; c++) {
            const Found contact = found(0, c, true);
            sum[0] += contact.point[0];
            sum[1] += contact.point[1];
            square += contact.point[0] * contact.point[0] + contact.point[1] * contact.point[1];
        }
        assert_false(found(0, 4, true).exists);
        assert_near(fabs(sum[0]) + fabs(sum[1]), 0.0, 1e-12);
        assert_near(square, 4.0 * (0.25 + k * k), 1e-12);
        fixture_close();
    }
}

TEST(tilted_faces_and_edges_touch_with_what_is_below) {
    const double d = 0.01, pi = acos(-1.0), tilt = pi / 60.0, half = 0.5 * tilt; // 3 degrees
    const double c = cos(tilt), s = sin(tilt), high = 0.5 + 0.5 * (s + c) - d;
    const double x = 0.5 * (c - s), diagonal = 0.5 * sqrt(2.0); // [m] of an edge from the center
    const Form box = BOX(4, 4, 1), hull = CUBE,
               wide = {.type = MF_SHAPE_BOX, .size = {4, 4, 1}, .margin = 1e-9};
    // A face tilted by 3 degrees is aligned: its lower edge touches, along its own normal. The
    // depth is that of the corners below the box, along that normal; the points are in the middle.
    const double px = x - 0.5 * d * c * s, pz = 0.5 - 0.5 * d * c * c;
    const Overlap face = {"a tilted face",
                          box,
                          hull,
                          SAME,
                          TURN(0, 1, 0, half),
                          {0, 0, high},
                          {s, 0, c},
                          2,
                          {{{px, 0.5, pz}, d * c}, {{px, -0.5, pz}, d * c}}};
    check_overlap(*state, &face);
    // With a margin the normal is that of least overlap.
    const Overlap margin = {"a tilted face with a margin",
                            wide,
                            hull,
                            SAME,
                            TURN(0, 1, 0, half),
                            {0, 0, high},
                            {0, 0, 1},
                            2,
                            {{{x, 0.5, 0.5 - 0.5 * d}, d}, {{x, -0.5, 0.5 - 0.5 * d}, d}}};
    check_overlap(*state, &margin);
    // An edge down on a face, and a face down on an edge.
    Overlap edge = {"an edge on a box",
                    box,
                    hull,
                    SAME,
                    TURN(0, 1, 0, pi / 8.0),
                    {0, 0, 0.5 + diagonal - d},
                    {0, 0, 1},
                    2,
                    {{{0, 0.5, 0.5 - 0.5 * d}, d}, {{0, -0.5, 0.5 - 0.5 * d}, d}}};
    check_overlap(*state, &edge);
    edge.name = "an edge on a hull";
    edge.a = hull;
    check_overlap(*state, &edge);
    const Overlap below = {"a hull on an edge",
                           hull,
                           hull,
                           TURN(0, 1, 0, pi / 8.0),
                           SAME,
                           {0, 0, 0.5 + diagonal - d},
                           {0, 0, 1},
                           2,
                           {{{0, 0.5, diagonal - 0.5 * d}, d}, {{0, -0.5, diagonal - 0.5 * d}, d}}};
    check_overlap(*state, &below);
    // An edge tilted by 2 degrees: its lower end, and the other one where it is below the face.
    const double lean = pi / 90.0, rise = sin(lean);
    const double depths[2] = {0.01, 0.05};
    for (int i = 0; i < 2; i++) {
        const double deep = depths[i], place = 0.5 - deep + 0.5 * rise + diagonal * cos(lean);
        const double side = 0.5 * cos(lean);
        const double shift = diagonal * rise; // [m] of the edge's middle along y
        // Turned by 45 degrees about y, then about x.
        const double q[4] = {cos(lean / 2) * cos(pi / 8), sin(lean / 2) * cos(pi / 8),
                             cos(lean / 2) * sin(pi / 8), sin(lean / 2) * sin(pi / 8)};
        Overlap leaning = {"a leaning edge",
                           box,
                           hull,
                           SAME,
                           {q[0], q[1], q[2], q[3]},
                           {0, 0, place},
                           {0, 0, 1},
                           i > 0 ? 2 : 1,
                           {{{0, shift - side, 0.5 - 0.5 * deep}, deep},
                            {{0, shift + side, 0.5 - 0.5 * (deep - rise)}, deep - rise}}};
        check_overlap(*state, &leaning);
    }
}

// A plane at the origin, turned at random: the deepest contact is the reach of the solid, all
// others lie on it and on the plane.
static void judge_plane(uint32_t lane, double reach, bool wide) {
    const Body *solid = &fixture.bodies[lane][1], *plane = &fixture.bodies[lane][0];
    double up[3] = {plane->rotation[2], plane->rotation[5], plane->rotation[8]},
           deepest = -INFINITY;
    double down[3] = {-up[0], -up[1], -up[2]}, rounding = wide ? 1e-9 : 3e-6;
    double depth = body_reach(solid, down) + mf_vec3_dot(up, plane->position);
    for (uint32_t c = 0; c < MF_COLLIDE_CONTACTS; c++) {
        Found contact = found(lane, c, wide);
        if (!contact.exists)
            continue;
        double on_plane[3], on_solid[3], offset[3];
        mf_vec3_add_scaled(on_plane, contact.point, 0.5 * contact.depth, contact.normal);
        mf_vec3_add_scaled(on_solid, contact.point, -0.5 * contact.depth, contact.normal);
        mf_vec3_sub(offset, on_plane, plane->position);
        mf_vec3_sub(on_plane, contact.normal, up);
        deepest = fmax(deepest, contact.depth);
        if (fabs(mf_vec3_dot(offset, up)) > rounding || body_outside(solid, on_solid) > rounding ||
            mf_vec3_length(on_plane) > rounding)
            fail_msg("plane with type %d, lane %u, contact %u: off by %g and %g", solid->type, lane,
                     c, mf_vec3_dot(offset, up), body_outside(solid, on_solid));
    }
    if (depth > -reach + rounding && fabs(depth - deepest) > rounding)
        fail_msg("plane with type %d, lane %u: depth %.9g of %.9g", solid->type, lane, deepest,
                 depth);
    if (depth < -reach - rounding)
        assert_true(deepest == -INFINITY);
}

TEST(planes_agree) {
    const Form plane = PLANE;
    oracle_state = 17;
    for (int i = 0; i < FORMS; i++) {
        fixture_open(*state, &forms[i], &plane); // the plan turns the order round
        assert_int_equal(mf_collide_pairs(fixture.plan)[0].a, 1);
        for (uint32_t lane = 0; lane < COUNT; lane++) {
            double q[4], position[3];
            for (int k = 0; k < 2; k++) {
                for (int c = 0; c < 3; c++)
                    position[c] = between(-0.1, 0.1);
                random_quat(q);
                set_link(lane, (uint32_t)k, q, position);
            }
            Body keep = fixture.bodies[lane][0];
            fixture.bodies[lane][0] = fixture.bodies[lane][1];
            fixture.bodies[lane][1] = keep;
        }
        run_all(0.02);
        for (uint32_t lane = 0; lane < COUNT; lane++) {
            judge_plane(lane, 0.02, true);
            judge_plane(lane, 0.02, false);
        }
        fixture_close();
    }
}

// ---- invalid archives ---------------------------------------------------------------------------

static void check_sane(const char *what, bool wide) {
    for (uint32_t lane = 0; lane < COUNT; lane++) {
        for (uint32_t c = 0; c < MF_COLLIDE_CONTACTS; c++) {
            Found contact = found(lane, c, wide);
            if (!contact.exists)
                continue;
            double square = 0;
            for (int i = 0; i < 3; i++) {
                square += contact.normal[i] * contact.normal[i];
                if (!isfinite(contact.point[i]))
                    fail_msg("%s: a point that is not finite", what);
            }
            if (!(fabs(square - 1) < 1e-5) || !isfinite(contact.depth))
                fail_msg("%s: normal of length^2 %g, depth %g", what, square, contact.depth);
        }
    }
}

// Concentric, parallel, touching exactly, aligned: finite answers from all copies alike.
TEST(degenerate_states_give_finite_contacts) {
    const double quats[4][4] = {{1, 0, 0, 0}, {1, 1, 0, 0}, {1, 0, 1, 0}, {1, 1, 1, 1}};
    const double directions[4][3] = {{0, 0, 0}, {0.125, 0, 0}, {0, 0.25, 0}, {0, 0, 0.1875}};
    const double origin[3] = {0, 0, 0};
    for (int i = 0; i < FORMS; i++) {
        for (int k = i; k < FORMS; k++) {
            char what[64];
            fixture_open(*state, &forms[i], &forms[k]);
            for (uint32_t lane = 0; lane < COUNT; lane++) {
                set_link(lane, 0, quats[lane % 4], origin);
                set_link(lane, 1, quats[lane / 4 % 4], directions[lane / 16]);
            }
            run_all(0.01);
            snprintf(what, sizeof what, "types %d and %d", forms[i].type, forms[k].type);
            check_sane(what, true);
            check_sane(what, false);
            // In one place (lanes 0 to 15) everything overlaps.
            for (uint32_t lane = 0; lane < 16; lane++)
                assert_true(found(lane, 0, true).depth > 0 && found(lane, 0, false).depth > 0);
            fixture_close();
        }
    }
}

TEST(flat_and_empty_solids_are_survived) {
    static const float point[] = {0, 0, 0}, sheet[] = {0, 0, 0, 0.1f, 0, 0, 0, 0.1f, 0};
    const Form flats[] = {SPHERE(0),        CAPSULE(0, 0),    CAPSULE(0.1, 0),  ELLIPSOID(0, 0, 0),
                          CYLINDER(0, 0.2), CYLINDER(0.2, 0), BOX(0.2, 0.2, 0), BOX(0, 0, 0),
                          HULL(point, 1),   HULL(sheet, 3)};
    oracle_state = 11;
    for (size_t i = 0; i < sizeof flats / sizeof *flats; i++) {
        for (int k = 0; k < FORMS + (int)(sizeof flats / sizeof *flats); k++) {
            char what[64];
            const Form *other = k < FORMS ? &forms[k] : &flats[k - FORMS];
            fixture_open(*state, &flats[i], other);
            for (uint32_t lane = 0; lane < COUNT; lane++)
                random_lane(lane, -0.01, lane < 8 ? 0.0 : 0.02);
            run_all(0.01);
            snprintf(what, sizeof what, "flat %zu with %d", i, k);
            check_sane(what, true);
            check_sane(what, false);
            fixture_close();
        }
    }
}

// Values that are no numbers, or too large, in some lanes: no contact there, the same bits
// elsewhere.
TEST(broken_lanes_stay_alone) {
    const double broken[4] = {NAN, INFINITY, -INFINITY, 1e38};
    static double before[CONTACT_VALUES * COUNT];
    static float before_f32[CONTACT_VALUES * COUNT];
    oracle_state = 13;
    for (int i = 0; i < FORMS; i++) {
        for (int k = i; k < FORMS; k++) {
            fixture_open(*state, &forms[i], &forms[k]);
            for (uint32_t lane = 0; lane < COUNT; lane++)
                random_lane(lane, -0.01, 0.03);
            run_all(0.02);
            memcpy(before, fixture.contacts, sizeof before);
            memcpy(before_f32, fixture.contacts_f32, sizeof before_f32);
            for (uint32_t lane = 0; lane < COUNT; lane += 5) {
                size_t row = NARROW_FRAME + (size_t)(2 * NARROW_FRAME * oracle_random());
                fixture.frames[row * COUNT + lane] = broken[lane / 5 % 4];
                fixture.frames_f32[row * COUNT + lane] = (float)broken[lane / 5 % 4];
            }
            run_all(0.02);
            for (size_t at = 0; at < CONTACT_VALUES * COUNT; at++) {
                bool kept = memcmp(&before[at], &fixture.contacts[at], sizeof(double)) == 0 &&
                            memcmp(&before_f32[at], &fixture.contacts_f32[at], sizeof(float)) == 0;
                uint32_t lane = (uint32_t)(at % COUNT);
                if (lane % 5 != 0 && !kept)
                    fail_msg("types %d and %d: lane %u was changed by its neighbors", forms[i].type,
                             forms[k].type, lane);
                if (lane % 5 == 0 && lane / 5 % 4 < 3 && fixture.contacts[at] != 0)
                    fail_msg("types %d and %d: lane %u has a contact", forms[i].type, forms[k].type,
                             lane);
            }
            fixture_close();
        }
    }
}

// ---- for comparisons with other programs --------------------------------------------------------

// Reads pairs of solids from the standard input, each as type, three sizes (a hull: its number
// below), place and quaternion, and writes depth, number of contacts and the deepest one's normal,
// or a line with "none".
static int probe(mf_Context *context) {
    const Form hulls[3] = {forms[9], forms[10], forms[11]};
    int types[2], filled;
    double s[2][3], position[2][3], q[2][4];
    do {
        filled = 0;
        for (int k = 0; k < 2; k++)
            filled += scanf("%d %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf", &types[k], &s[k][0],
                            &s[k][1], &s[k][2], &position[k][0], &position[k][1], &position[k][2],
                            &q[k][0], &q[k][1], &q[k][2], &q[k][3]);
        if (filled != 22)
            return filled > 0;
        Form pair[2];
        for (int k = 0; k < 2; k++) {
            pair[k] = (Form){.type = (mf_ShapeType)types[k], .size = {s[k][0], s[k][1], s[k][2]}};
            if (types[k] == MF_SHAPE_MESH)
                pair[k] = hulls[(int)s[k][0] % 3];
        }
        fixture_open(context, &pair[0], &pair[1]);
        for (uint32_t lane = 0; lane < COUNT; lane++) {
            set_link(lane, 0, q[0], position[0]);
            set_link(lane, 1, q[1], position[1]);
        }
        NarrowRun run = run_of(1.0, fixture.frames, fixture.contacts);
        MF_ONE_LANE(mf_narrow_run)(&run);
        Found best = {.depth = -INFINITY};
        uint32_t count = 0;
        for (uint32_t c = 0; c < MF_COLLIDE_CONTACTS; c++) {
            Found contact = found(0, c, true);
            count += contact.exists;
            best = contact.exists && contact.depth > best.depth ? contact : best;
        }
        double sign = mf_collide_pairs(fixture.plan)[0].a == 0 ? 1 : -1;
        if (count)
            printf("%.17g %u %.9g %.9g %.9g\n", best.depth, count, sign * best.normal[0],
                   sign * best.normal[1], sign * best.normal[2]);
        else
            puts("none");
        fixture_close();
    } while (true);
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "probe") == 0) {
        void *context = NULL;
        if (make_context(&context) != 0)
            return 1;
        int result = probe(context);
        return drop_context(&context) != 0 || result;
    }
    return run_listed_tests();
}
