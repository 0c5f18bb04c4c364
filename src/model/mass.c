// Mass points of the links: as few as preserve the robot's mass distribution.
//
// A link's mass m, center and second moments P1 >= P2 >= P3 (sums of m x^2 along its principal
// axes) are represented by one of:
//   fit    its contact points share a part of the mass equally and one new point in the center of
//          mass has the rest; exact when their second moments are proportional to the link's. That
//          is so for every uniform box and sphere that collides as one.
//   four   equal points; always exact (points.c).
//   two    points on the first axis; loses P2 + P3, so nothing for a thin rod. Where a contact
//   point
//          lies on that axis at distance d, it is one of them and the other sits at P1 / (m d) on
//          the other side, the masses balancing: one new point instead of two.
//   one    point; loses P1 + P2 + P3.
// Mass and center are always exact. The cost of the points motion is proportional to the points, so
// light links have fewer, as long as the total loss is at most 1 % of the robot's second moment of
// mass at its zero pose. The limit on the loss of a single link is found by bisection, so equal
// legs are treated alike. A link with more than half of the mass is never reduced.
#include "model/mass.h"

#include "math/scalar.h"

#include <string.h>

#define LOSS_BUDGET 0.01 // [1] fraction of the robot's second moment of mass that may be lost

typedef enum MassMethod {
    METHOD_NONE,
    METHOD_FIT,
    METHOD_FOUR,
    METHOD_TWO,
    METHOD_TIP,
    METHOD_ONE
} MassMethod;

typedef struct Carrier {
    mf_MassProperties body; // draft link frame
    double moments[3];      // [kg m^2] second moments, largest first
    double axes[9];         // [1] their axes as columns
    uint32_t first_point;   // [1] contact point, or MF_NONE
    uint32_t point_count;   // [1]
    uint32_t tip;           // [1] contact point on the first axis, or MF_NONE
    bool fits;
    double share; // [1] of the mass on the contact points, when it fits
    bool heavy;   // more than half of the robot
} Carrier;

typedef struct Masses {
    mf_Draft *draft;
    Carrier *carriers; // [draft link]
    uint32_t count;
    uint32_t *next_point; // [contact point] next one of the same link
    double total_moment;  // [kg m^2] of the whole robot at its zero pose
} Masses;

static double sum3(const double values[3]) {
    return values[0] + values[1] + values[2];
}

// ---- existing mass properties -------------------------------------------------------------------

static void chain_points(Masses *masses) {
    const mf_Draft *draft = masses->draft;
    for (uint32_t i = 0; i < masses->count; i++)
        masses->carriers[i].first_point = masses->carriers[i].tip = MF_NONE;
    for (uint32_t i = draft->points.count; i-- > 0;) {
        Carrier *carrier = &masses->carriers[mf_draft_points(draft)[i].link];
        masses->next_point[i] = carrier->first_point;
        carrier->first_point = i;
        carrier->point_count++;
    }
}

// The second moment of the whole robot about its center of mass, all joints at 0. Draft links are
// in breadth-first order and joint i moves link i + 1. False without memory.
static bool sum_moments(Masses *masses) {
    const mf_Draft *draft = masses->draft;
    double(*position)[3] = mf_allocate(draft->context, masses->count, sizeof *position);
    double(*rotation)[4] = mf_allocate(draft->context, masses->count, sizeof *rotation);
    bool ready = position != NULL && rotation != NULL;
    mf_MassProperties robot = {0};
    for (uint32_t i = 0; ready && i < masses->count; i++) {
        mf_quat_identity(rotation[i]);
        if (i > 0) {
            const mf_Joint *joint = &mf_draft_joints(draft)[i - 1];
            mf_quat_rotate(position[i], rotation[joint->parent], joint->position);
            mf_vec3_add(position[i], position[i], position[joint->parent]);
            mf_quat_multiply(rotation[i], rotation[joint->parent], joint->rotation);
        }
        mf_MassProperties part =
            mf_mass_transform(&masses->carriers[i].body, position[i], rotation[i]);
        robot = mf_mass_add(&robot, &part);
    }
    masses->total_moment = (robot.inertia[0] + robot.inertia[1] + robot.inertia[2]) / 2;
    for (uint32_t i = 0; i < masses->count; i++)
        masses->carriers[i].heavy = masses->carriers[i].body.mass > robot.mass / 2;
    mf_release(draft->context, position);
    mf_release(draft->context, rotation);
    return ready;
}

// Whether equal shares on the contact points have the link's center and second moments.
static void try_fit(const Masses *masses, Carrier *carrier) {
    const mf_Point *points = mf_draft_points(masses->draft);
    double contact[6] = {0}, middle[3] = {0};
    double count = carrier->point_count;
    if (carrier->point_count < 4)
        return;
    for (uint32_t i = carrier->first_point; i != MF_NONE; i = masses->next_point[i]) {
        double offset[3];
        mf_vec3_sub(offset, points[i].position, carrier->body.center);
        mf_vec3_add_scaled(middle, middle, 1 / count, offset);
        mf_inertia_translate(contact, contact, carrier->body.mass / count, offset);
    }
    double contact_trace = contact[0] + contact[1] + contact[2];
    double share = 2 * sum3(carrier->moments) / contact_trace;
    if (!(contact_trace > 0.0) || !(share > 0.0 && share <= 1.0 + 1e-12))
        return;
    double size = mf_sqrt(contact_trace / carrier->body.mass);
    if (mf_vec3_length(middle) > 1e-9 * size)
        return;
    for (int i = 0; i < 6; i++) {
        if (mf_abs(share * contact[i] - carrier->body.inertia[i]) > 1e-9 * share * contact_trace)
            return;
    }
    carrier->fits = true;
    carrier->share = share < 1.0 - 1e-12 ? share : 1.0;
}

// Distance along the first axis from the center of mass, if the point lies on that axis, else 0.
static double on_axis(const Carrier *carrier, const double position[3]) {
    const double axis[3] = {carrier->axes[0], carrier->axes[3], carrier->axes[6]};
    double offset[3], side[3];
    mf_vec3_sub(offset, position, carrier->body.center);
    double along = mf_vec3_dot(offset, axis);
    mf_vec3_add_scaled(side, offset, -along, axis);
    return mf_vec3_length(side) <= 1e-9 * mf_abs(along) ? along : 0.0;
}

static void study(const Masses *masses, Carrier *carrier) {
    const mf_Point *points = mf_draft_points(masses->draft);
    double furthest = 0.0;
    if (!(carrier->body.mass > 0.0))
        return;
    mf_mass_second_moments(carrier->moments, carrier->axes, &carrier->body);
    try_fit(masses, carrier);
    for (uint32_t i = carrier->first_point; i != MF_NONE; i = masses->next_point[i]) {
        double distance = mf_abs(on_axis(carrier, points[i].position));
        if (distance > furthest) {
            furthest = distance;
            carrier->tip = i;
        }
    }
}

// ---- the choice ---------------------------------------------------------------------------------

// The cheapest representation that loses at most `limit`.
static MassMethod choose(const Carrier *carrier, double limit, double *loss) {
    *loss = 0.0;
    if (!(carrier->body.mass > 0.0))
        return METHOD_NONE;
    if (carrier->fits)
        return METHOD_FIT;
    double sides = carrier->moments[1] + carrier->moments[2];
    double all = sides + carrier->moments[0];
    bool may_lose = !carrier->heavy;
    // Remainders due to rounding count as 0.
    double rounding = 1e-9 * all;
    if (all == 0.0)
        return METHOD_ONE;
    bool two = sides <= rounding || (may_lose && sides <= limit);
    if (two && carrier->tip != MF_NONE && carrier->moments[0] > 0.0) {
        *loss = sides;
        return METHOD_TIP;
    }
    if (may_lose && all <= limit) {
        *loss = all;
        return METHOD_ONE;
    }
    *loss = two ? sides : 0.0;
    return two ? METHOD_TWO : METHOD_FOUR;
}

static double total_loss(const Masses *masses, double limit) {
    double sum = 0.0;
    for (uint32_t i = 0; i < masses->count; i++) {
        double loss;
        choose(&masses->carriers[i], limit, &loss);
        sum += loss;
    }
    return sum;
}

// The largest loss per link that keeps the sum within the budget.
static double find_limit(const Masses *masses) {
    double budget = LOSS_BUDGET * masses->total_moment, low = 0.0, high = budget;
    if (total_loss(masses, high) <= budget)
        return high;
    for (int i = 0; i < 60; i++) {
        double middle = low + (high - low) / 2;
        if (total_loss(masses, middle) <= budget)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// ---- the points ---------------------------------------------------------------------------------

// Adds mass to the contact point at exactly this position, or to a new point.
static mf_Status add_mass(Masses *masses, uint32_t link, const double position[3], double mass) {
    mf_Draft *draft = masses->draft;
    const Carrier *carrier = &masses->carriers[link];
    const float *color = NULL;
    for (uint32_t i = carrier->first_point; i != MF_NONE; i = masses->next_point[i]) {
        mf_Point *point = &mf_draft_points(draft)[i];
        double gap[3];
        mf_vec3_sub(gap, point->position, position);
        color = point->color;
        if (mf_vec3_length(gap) > 1e-12)
            continue;
        point->mass += mass;
        point->flags |= MF_POINT_HAS_MASS;
        return MF_OK;
    }
    float copy[3];
    memcpy(copy, color ? color : mf_gray, sizeof copy); // the list may be reallocated
    if (!mf_draft_add_point(draft, link, position, mass, false, copy))
        return mf_draft_no_memory(draft);
    return MF_OK;
}

static mf_Status add_fit(Masses *masses, uint32_t link) {
    const Carrier *carrier = &masses->carriers[link];
    double mass = carrier->body.mass;
    for (uint32_t i = carrier->first_point; i != MF_NONE; i = masses->next_point[i]) {
        mf_Point *point = &mf_draft_points(masses->draft)[i];
        point->mass = carrier->share * mass / carrier->point_count;
        point->flags |= MF_POINT_HAS_MASS;
    }
    if (carrier->share == 1.0)
        return MF_OK;
    return add_mass(masses, link, carrier->body.center, (1.0 - carrier->share) * mass);
}

static mf_Status add_tip(Masses *masses, uint32_t link) {
    const Carrier *carrier = &masses->carriers[link];
    const double axis[3] = {carrier->axes[0], carrier->axes[3], carrier->axes[6]};
    double mass = carrier->body.mass, other[3], tip[3];
    mf_vec3_copy(tip, mf_draft_points(masses->draft)[carrier->tip].position);
    double near = on_axis(carrier, tip);
    double far = carrier->moments[0] / (mass * near); // same sign: it is on the other side
    mf_vec3_add_scaled(other, carrier->body.center, -far, axis);
    MF_TRY(add_mass(masses, link, tip, mass * far / (near + far)));
    return add_mass(masses, link, other, mass * near / (near + far));
}

static mf_Status add_method(Masses *masses, uint32_t link, MassMethod method) {
    if (method == METHOD_NONE)
        return MF_OK;
    if (method == METHOD_FIT)
        return add_fit(masses, link);
    if (method == METHOD_TIP)
        return add_tip(masses, link);
    double points[4][3];
    uint32_t count = method == METHOD_FOUR ? 4 : method == METHOD_TWO ? 2 : 1;
    const mf_MassProperties *body = &masses->carriers[link].body;
    mf_mass_to_points(points, count, body);
    for (uint32_t i = 0; i < count; i++)
        MF_TRY(add_mass(masses, link, points[i], body->mass / count));
    return MF_OK;
}

static mf_Status place(Masses *masses) {
    double limit = find_limit(masses), lost = 0.0;
    uint32_t reduced = 0;
    for (uint32_t i = 0; i < masses->count; i++) {
        double loss;
        MassMethod method = choose(&masses->carriers[i], limit, &loss);
        lost += loss;
        reduced += loss > 1e-9 * sum3(masses->carriers[i].moments);
        MF_TRY(add_method(masses, i, method));
    }
    if (reduced > 0)
        MF_TRY(mf_draft_note(
            masses->draft, false, 0,
            "%u light link%s represented by one or two mass points: the robot's second "
            "moment of mass is %.2g %% smaller",
            reduced, reduced == 1 ? " is" : "s are", 100 * lost / masses->total_moment));
    return MF_OK;
}

mf_Status mf_draft_place_mass(mf_Draft *draft, const mf_MassProperties *bodies) {
    Masses masses = {.draft = draft, .count = draft->links.count};
    masses.carriers = mf_allocate(draft->context, masses.count, sizeof *masses.carriers);
    masses.next_point = mf_allocate(draft->context, draft->points.count, sizeof *masses.next_point);
    mf_Status status = MF_OK;
    if (masses.carriers == NULL || masses.next_point == NULL) {
        status = mf_draft_no_memory(draft);
    } else {
        for (uint32_t i = 0; i < masses.count; i++)
            masses.carriers[i].body = bodies[i];
        chain_points(&masses);
        if (!sum_moments(&masses))
            status = mf_draft_no_memory(draft);
        for (uint32_t i = 0; status == MF_OK && i < masses.count; i++)
            study(&masses, &masses.carriers[i]);
        MF_THEN(status, place(&masses));
    }
    mf_release(draft->context, masses.carriers);
    mf_release(draft->context, masses.next_point);
    return status;
}
