// The convex problem of MuJoCo's constraint law, for a few lanes (Todorov 2014, "Convex and
// analytically-invertible dynamics with contacts and constraints"; MuJoCo documentation,
// "Computation", constraint model): find the acceleration a that minimizes
//     1/2 (a - a0)^T M (a - a0) + s(J a - r)
// where a0 is the acceleration without constraints and s is a convex cost of each constraint's
// violation J a - r. The unknown here is x = a - a0, and `slack` is J x - rest with
// rest = r - J a0.
//
// Velocities are numbered "dofs": linear (world axes) and angular (body axes) velocity of a free
// base, then the plan's links in their order, three for a ball joint. A parent's dofs come before
// its children's.
#pragma once

#include "motion/articulated/constraint/sparse.h"
#include "motion/articulated/tree/aba_velocity.h"

enum {
    // Of contacts between links, in a few lanes.
    PROBLEM_NUMBERS = 8192, // of Jacobians
    PROBLEM_ROWS = 640,
    PROBLEM_CONTACTS = 96,
    // More of them for each body and shape, because these pile up; CLUTTER_LENGTH numbers, or less,
    // of each of 3 rows of a contact.
    CLUTTER_CONTACTS = 16,
    CLUTTER_ROWS = 3 * CLUTTER_CONTACTS,
    CLUTTER_LENGTH = 48,
    CONTACT_ROWS = 6,
    CONTACT_PRODUCTS = CONTACT_ROWS * (CONTACT_ROWS + 1) / 2
};

typedef struct Constraint {
    ConstraintKind kind;
    uint32_t rows;              // [1] of the Jacobian
    uint32_t row;               // [1] the first one
    uint32_t first, first_slot; // [1] of its numbers, all rows of a dof next to each other
    uint32_t count;             // [1] dofs that it touches, rising, from slots[first_slot] on
    uint32_t zone;              // [1] first of its flags
    bool inertia;               // a tendon's: it adds to the mass matrix
    bool tendon;                // dry friction of a tendon
    bool chain; // its dofs are ancestors of one another: no entry besides the tree's
    mf_mask exists;
    mf_lane most;        // [N] or [N m] of dry friction
    mf_lane friction[5]; // [1] two sliding, [m] torsion, two rolling
    mf_lane cone;        // [1] friction mu of the regularized elliptic cone
    mf_lane stiff;       // D_0 / (mu^2 (1 + mu^2))
    uint32_t ray;        // [1] of an elliptic contact
} Constraint;

// Constants of an elliptic contact along a line, U + distance V with the symbols of problem_cost.h:
// slope and curvature where it is quadratic, N, and T^2.
typedef struct Ray {
    mf_lane flat[2];
    mf_lane normal[2]; // mu s_0 and its slope
    mf_lane square[3]; // U U, U V and V V across
} Ray;

// One contact of each lane, whose links may differ.
typedef struct ContactSlot {
    uint32_t constraint;        // [1]
    uint32_t count;             // [1] members
    uint32_t members[MF_LANES]; // [1] of the candidates
    mf_mask exists;
    const mf_ArtLaw *law;
    Vec point;   // [m] from the base's origin, world axes
    Vec axes[3]; // [1] normal from the first link to the second, two across
    mf_lane depth;
} ContactSlot;

typedef struct Candidate {
    bool ground;
    uint32_t number; // [1] with the ground or between links
    mf_mask exists;
} Candidate;

// Friction forces of a constraint that the pass against slip changes (problem_noslip.h).
typedef struct Slip {
    uint32_t constraint;        // [1]
    uint32_t skip;              // [1] its first rows, which are not friction
    uint32_t first, first_slot; // [1] of its numbers; row k begins at first + (k - skip) * count
    uint32_t count;             // [1] dofs, rising, from slots[first_slot] on
} Slip;

// Which entries of a symmetric matrix may differ from 0: row i holds columns <= i, rising.
typedef struct Pattern {
    const uint32_t *start;  // [1] dofs + 1
    const uint16_t *column; // [1]
} Pattern;

// Whether row k has the columns of the row before it, and its own.
static MF_INLINE bool row_continues(Pattern pattern, uint32_t k) {
    const uint32_t first = pattern.start[k], last = pattern.start[k + 1] - 1;
    return k > 0 && last > first && pattern.column[last - 1] == k - 1 &&
           last - first == first - pattern.start[k - 1];
}

typedef struct Sum { // of dofs, each once, rising
    uint32_t count;
    uint16_t *slot;
    mf_lane *value;
} Sum;

// Capacities of a problem: the most that the plan can request, within the limits of the solver for
// contacts between links.
typedef struct ProblemCapacity {
    uint32_t constraints, rows, contacts, candidates; // [1]
    uint32_t numbers;                                 // [1] of Jacobians and of slots
} ProblemCapacity;

static inline uint32_t problem_least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

// Whether a plan has too many dofs for a matrix with an entry for any two of them: `factor` and
// `own_column` then have space for the entries of the tree only, and sparse.h solves.
static inline bool problem_is_large(const mf_ArtPlan *plan) {
    return plan->law && plan->dof_count > MF_ARTICULATED_DENSE_DOFS;
}

// Words with a bit for each dof.
static inline uint32_t problem_words(const mf_ArtPlan *plan) {
    return plan->dof_count / 64 + 1;
}

static inline ProblemCapacity problem_capacity(const mf_ArtPlan *plan) {
    // A tendon has its inertia, dry friction and two limits; a joint friction and two limits.
    const uint32_t tendons = 4 * plan->tendon_count,
                   joints = plan->dof_count + 2 * plan->link_count;
    const uint32_t clutter = plan->clutter, passes = plan->noslip_iterations > 0 ? 2 : 1;
    const uint32_t links =
        problem_least(link_contacts_most(plan), PROBLEM_CONTACTS + clutter * CLUTTER_CONTACTS);
    ProblemCapacity capacity;
    capacity.candidates = link_contacts_most(plan) + plan->contact_count;
    capacity.contacts = plan->contact_count + links;
    capacity.constraints = tendons + plan->loop_count + joints + capacity.contacts;
    capacity.constraints = problem_least(capacity.constraints, UINT16_MAX); // `present`
    capacity.rows = tendons + plan->loop_rows + joints + plan->ground_rows +
                    problem_least(CONTACT_ROWS * links, PROBLEM_ROWS + clutter * CLUTTER_ROWS);
    // A joint's row has three numbers at most. Those of friction are stored a second time for the
    // noslip pass.
    const uint64_t all = (uint64_t)capacity.rows * plan->dof_count * passes;
    const uint64_t one = CLUTTER_ROWS * problem_least(plan->row_of_two, CLUTTER_LENGTH);
    const uint64_t most =
        PROBLEM_NUMBERS +
        passes * (clutter * one + 3 * joints + plan->ground_numbers + plan->coupling_numbers);
    capacity.numbers = (uint32_t)(all < most ? all : most);
    return capacity;
}

typedef struct Problem {
    const mf_ArtPlan *plan;
    Work *work;
    const State *state;
    mf_mask lanes;
    bool overflow;
    uint32_t left_out; // [1] contacts beyond the capacity, with `overflow`
    uint32_t dofs;

    Vec *axis;     // [1] world
    Vec *origin;   // [m] of link l at l + 1, from the base's
    mf_lane *mass; // pattern of the tree

    Pattern pattern;    // of all constraints
    bool full;          // it has every entry
    Pattern used;       // of `factor`
    uint16_t *counting; // 0, 1, ...
    uint32_t *own_start;
    uint16_t *own_column;
    mf_lane *factor;  // H, then L with H = L^T D L
    mf_lane *inverse; // 1 / D

    ProblemCapacity capacity;
    uint32_t constraint_count, row_count, number_count, slot_count, zone_count;
    Constraint *constraints;
    uint32_t present_count; // [1] constraints of lanes that are not finished
    uint16_t *present;
    mf_lane *weight, *rest; // D, r - J a0
    mf_lane *slack, *along, *force;
    mf_mask *zones;
    Ray *rays;
    mf_lane *numbers;
    uint16_t *slots;

    uint32_t contact_count, candidate_count;
    ContactSlot *contacts;
    Candidate *candidates;
    uint32_t *limit_first, *limit_count;   // [1] per plan link
    uint32_t *tendon_first, *tendon_count; // [1] per tendon: its limits, the lower first
    uint32_t *tendon_upper;                // [1] where the upper begins
    uint32_t *tendon_dry;                  // [1] MF_NONE: none
    uint32_t *loop_first;                  // [1] per loop

    uint32_t slip_count;
    Slip *slips;

    mf_lane *free;            // a0
    mf_lane *speed;           // velocities
    mf_lane *x, *inertial;    // x, M x
    mf_lane *descent, *ahead; // p, M p
    mf_lane *gradient;
    mf_lane *acceleration;

    // Working memory, per dof unless stated otherwise:
    uint64_t *bits;                 // a pattern being made, problem_words each (problem_hessian.h)
    uint16_t *entry_slots;          // entries of a row (problem_hessian.h)
    uint16_t *chain;                // where the dofs of a chain are (problem_points.h),
    uint64_t *chain_bits;           // and which, problem_words in all
    mf_lane *slope, *change;        // resistance (constrain_kernel.c)
    mf_lane *row, *forces, *bounds; // of friction; the last one per row (problem_noslip.h)
    uint16_t *bends;                // [1] per constraint (constrain_kernel.c)
    struct Drift *drift;            // of link l at l + 1 (problem_drift.h)
    struct Lump *lumps;             // likewise (problem_mass.h)
    struct Islands *islands;
    struct Coriolis *coriolis;
    mf_SparseConstraint *sparse; // of large plans
    mf_Carver memory;            // what is left
    Sum sum;                     // that one user has at a time
} Problem;

// Whether it is one row of one dof, as most limits and dry friction are.
static MF_INLINE bool has_one_number(const Constraint *c) {
    return c->rows * c->count == 1;
}

// One value of a lane.
static MF_INLINE mf_real *lane_at(mf_lane *lane, uint32_t number) {
    return (mf_real *)lane + number;
}

static MF_INLINE mf_real lane_get(const mf_lane *lane, uint32_t number) {
    return ((const mf_real *)lane)[number];
}

// ---- dofs of links -----------------------------------------------------------------------------

static MF_INLINE int32_t chain_up(const mf_ArtPlan *plan, int32_t link) {
    return link >= 0 ? mf_art_links(plan)[link].parent : MF_ART_WORLD;
}

static MF_INLINE uint32_t link_dofs(const mf_ArtPlan *plan, int32_t link) {
    if (link < 0)
        return link == MF_ART_WORLD || plan->fixed ? 0 : 6;
    return mf_art_links(plan)[link].kind == MF_ART_BALL ? 3 : 1;
}

static MF_INLINE uint32_t link_dof(const mf_ArtPlan *plan, int32_t link) {
    return link < 0 ? 0 : mf_art_links(plan)[link].dof;
}

// ---- vectors of dofs ----------------------------------------------------------------------------

static inline void dofs_from_rates(const mf_ArtPlan *plan, const Rates *rates, mf_lane *out) {
    if (!plan->fixed) {
        out[0] = rates->linear.x, out[1] = rates->linear.y, out[2] = rates->linear.z;
        out[3] = rates->angular.x, out[4] = rates->angular.y, out[5] = rates->angular.z;
    }
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        mf_lane *own = out + links[l].dof;
        if (links[l].kind == MF_ART_BALL) {
            const Vec ball = rates->ball[links[l].row];
            own[0] = ball.x, own[1] = ball.y, own[2] = ball.z;
        } else {
            own[0] = rates->joint[l];
        }
    }
}

static inline void dofs_to_rates(const mf_ArtPlan *plan, const mf_lane *in, mf_mask lanes,
                                 Rates *rates) {
    if (!plan->fixed) {
        rates->linear = vec_select(lanes, MF_VALUE(Vec, in[0], in[1], in[2]), rates->linear);
        rates->angular = vec_select(lanes, MF_VALUE(Vec, in[3], in[4], in[5]), rates->angular);
    }
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &links[l];
        const mf_lane *own = in + link->dof;
        if (link->kind == MF_ART_BALL)
            rates->ball[link->row] =
                vec_select(lanes, MF_VALUE(Vec, own[0], own[1], own[2]), rates->ball[link->row]);
        else
            rates->joint[l] = mf_select(lanes, own[0], rates->joint[l]);
    }
}

static inline void dofs_of_speeds(const mf_ArtPlan *plan, const State *state, mf_lane *out) {
    if (!plan->fixed) {
        out[0] = state->velocity.x, out[1] = state->velocity.y, out[2] = state->velocity.z;
        out[3] = state->rate.x, out[4] = state->rate.y, out[5] = state->rate.z;
    }
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        mf_lane *own = out + links[l].dof;
        if (links[l].kind == MF_ART_BALL) {
            const Vec ball = state->ball_rate[links[l].row];
            own[0] = ball.x, own[1] = ball.y, own[2] = ball.z;
        } else {
            own[0] = state->speed[l];
        }
    }
}
