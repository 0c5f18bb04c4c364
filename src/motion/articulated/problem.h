// The convex problem of MuJoCo's constraint law, for a few lanes (Todorov 2014, "Convex and
// analytically-invertible dynamics with contacts and constraints"; MuJoCo documentation,
// "Computation", constraint model): find the acceleration a that minimises
//     1/2 (a - a0)^T M (a - a0) + s(J a - r)
// where a0 is the acceleration without constraints and s is a convex cost of each constraint's
// violation J a - r. The unknown here is x = a - a0, and `slack` is J x - rest with
// rest = r - J a0.
//
// Velocities are numbered "dofs": linear (world axes) and angular (body axes) velocity of a free
// base, then the plan's links in their order, three for a ball joint. A parent's dofs come before
// its children's.
#ifndef MF_MOTION_ARTICULATED_PROBLEM_H
#define MF_MOTION_ARTICULATED_PROBLEM_H

#include "motion/articulated/spread.h"

enum {
    PROBLEM_DOFS = MF_ARTICULATED_MAX_DOFS,
    PROBLEM_ENTRIES = MF_ARTICULATED_MAX_ENTRIES, // of the Hessian and of the mass matrix
    PROBLEM_NUMBERS = 8192,                       // of all Jacobians
    PROBLEM_ROWS = 640,
    PROBLEM_CONTACTS = 96,
    PROBLEM_CONSTRAINTS = 512,
    PROBLEM_ZONES = 1280, // truth values of the piecewise costs
    PROBLEM_WORDS = PROBLEM_DOFS / 64 + 1,
    CONTACT_ROWS = 6,
    CONTACT_PRODUCTS = CONTACT_ROWS * (CONTACT_ROWS + 1) / 2
};

typedef enum ConstraintKind {
    CONSTRAINT_QUADRATIC, // both ways: equality constraints
    CONSTRAINT_DRY,       // Huber's cost: dry friction
    CONSTRAINT_PUSH,      // one way: limits, contacts without friction
    CONSTRAINT_PYRAMID,
    CONSTRAINT_ELLIPTIC
} ConstraintKind;

typedef struct Constraint {
    ConstraintKind kind;
    uint32_t rows;        // [1] of the Jacobian
    uint32_t row;         // [1] the first one
    uint32_t first, ways; // [1] of its numbers, all rows of a dof beside each other
    uint32_t count;       // [1] dofs that it touches, rising, from slot[ways] on
    uint32_t zone;        // [1] first of its truth values
    bool inertia;         // a tendon's: it adds to the mass matrix
    bool tendon;          // dry friction of a tendon
    bool chain;           // its dofs are ancestors of one another: no entry beside the tree's
    mf_mask exists;
    mf_lane most;        // [N] or [N m] of dry friction
    mf_real friction[5]; // [1] two sliding, [m] turning, two rolling
    mf_lane cone;        // [1] friction mu of the regularised elliptic cone
    mf_lane stiff;       // D_0 / (mu^2 (1 + mu^2))
    uint32_t ray;        // [1] of an elliptic contact
} Constraint;

// What does not change of an elliptic contact along a line, U + way V with the words of
// problem_cost.h: slope and curvature where it is quadratic, N, and T^2.
typedef struct Ray {
    mf_lane flat[2];
    mf_lane normal[2]; // mu s_0 and its slope
    mf_lane square[3]; // U U, U V and V V across
} Ray;

// One contact of each lane, of which the links may differ.
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
    uint32_t number; // [1] touch or meeting
    mf_mask exists;
} Candidate;

// Friction forces of a constraint that the pass against slip changes (problem_noslip.h).
typedef struct Slip {
    uint32_t constraint;  // [1]
    uint32_t skip;        // [1] its first rows that are no friction
    uint32_t first, ways; // [1] of its numbers; row k begins at first + (k - skip) * count
    uint32_t count;       // [1] dofs, rising, from slot[ways] on
} Slip;

// Which entries of a symmetric matrix may differ from 0: row i holds columns <= i, rising.
typedef struct Pattern {
    const uint32_t *start;  // [1] dofs + 1
    const uint16_t *column; // [1]
} Pattern;

typedef struct Problem {
    const mf_ArtPlan *plan;
    Work *work;
    const State *state;
    mf_mask lanes;
    bool overflow;
    uint32_t left_out; // [1] contacts without room, with `overflow`
    uint32_t dofs;

    Vec axis[PROBLEM_DOFS];                   // [1] world
    Vec origin[MF_ARTICULATED_MAX_LINKS + 1]; // [m] of link l at l + 1, from the base's
    mf_lane mass[PROBLEM_ENTRIES];            // pattern of the tree

    Pattern pattern;                 // of all constraints
    bool full;                       // it has every entry
    Pattern used;                    // of `factor`
    uint16_t counting[PROBLEM_DOFS]; // 0, 1, ...
    uint32_t own_start[PROBLEM_DOFS + 1];
    uint16_t own_column[PROBLEM_ENTRIES];
    mf_lane factor[PROBLEM_ENTRIES]; // H, then L with H = L^T D L
    mf_lane inverse[PROBLEM_DOFS];   // 1 / D

    uint32_t constraint_count, row_count, number_count, slot_count, zone_count;
    Constraint constraints[PROBLEM_CONSTRAINTS];
    uint32_t present_count; // [1] constraints that lanes have which are not done
    uint16_t present[PROBLEM_CONSTRAINTS];
    mf_lane weight[PROBLEM_ROWS], rest[PROBLEM_ROWS]; // D, r - J a0
    mf_lane slack[PROBLEM_ROWS], along[PROBLEM_ROWS], force[PROBLEM_ROWS];
    mf_mask zones[PROBLEM_ZONES];
    Ray rays[PROBLEM_CONTACTS];
    mf_lane numbers[PROBLEM_NUMBERS];
    uint16_t slots[PROBLEM_NUMBERS];

    uint32_t contact_count, candidate_count;
    ContactSlot contacts[PROBLEM_CONTACTS];
    Candidate candidates[MEETING_MOST + MF_ARTICULATED_MAX_CONTACTS];
    uint32_t limit_first[MF_ARTICULATED_MAX_LINKS], limit_count[MF_ARTICULATED_MAX_LINKS];
    uint32_t tendon_first[MF_ARTICULATED_MAX_TENDONS], tendon_count[MF_ARTICULATED_MAX_TENDONS];
    uint32_t loop_first[MF_ARTICULATED_MAX_LOOPS];

    uint32_t slip_count;
    Slip slips[PROBLEM_CONSTRAINTS];

    mf_lane free[PROBLEM_DOFS];                         // a0
    mf_lane speed[PROBLEM_DOFS];                        // velocities
    mf_lane x[PROBLEM_DOFS], inertial[PROBLEM_DOFS];    // x, M x
    mf_lane descent[PROBLEM_DOFS], ahead[PROBLEM_DOFS]; // p, M p
    mf_lane gradient[PROBLEM_DOFS];
} Problem;

// Whether it is one row of one dof, as most limits and dry friction are.
static MF_INLINE bool has_one_number(const Constraint *c) {
    return c->rows * c->count == 1;
}

// ---- dofs of links -----------------------------------------------------------------------------

static MF_INLINE int32_t chain_up(const mf_ArtPlan *plan, int32_t link) {
    return link >= 0 ? plan->links[link].parent : MF_ART_WORLD;
}

static MF_INLINE uint32_t link_dofs(const mf_ArtPlan *plan, int32_t link) {
    if (link < 0)
        return link == MF_ART_WORLD || plan->fixed ? 0 : 6;
    return plan->links[link].kind == MF_ART_BALL ? 3 : 1;
}

static MF_INLINE uint32_t link_dof(const mf_ArtPlan *plan, int32_t link) {
    return link < 0 ? 0 : plan->links[link].dof;
}

// ---- vectors of dofs ----------------------------------------------------------------------------

static inline void dofs_from_rates(const mf_ArtPlan *plan, const Rates *rates, mf_lane *out) {
    if (!plan->fixed) {
        out[0] = rates->linear.x, out[1] = rates->linear.y, out[2] = rates->linear.z;
        out[3] = rates->angular.x, out[4] = rates->angular.y, out[5] = rates->angular.z;
    }
    for (uint32_t l = 0; l < plan->link_count; l++) {
        mf_lane *own = out + plan->links[l].dof;
        if (plan->links[l].kind == MF_ART_BALL) {
            const Vec ball = rates->ball[plan->links[l].row];
            own[0] = ball.x, own[1] = ball.y, own[2] = ball.z;
        } else {
            own[0] = rates->joint[l];
        }
    }
}

static inline void dofs_to_rates(const mf_ArtPlan *plan, const mf_lane *in, mf_mask lanes,
                                 Rates *rates) {
    if (!plan->fixed) {
        rates->linear = vec_select(lanes, (Vec){in[0], in[1], in[2]}, rates->linear);
        rates->angular = vec_select(lanes, (Vec){in[3], in[4], in[5]}, rates->angular);
    }
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &plan->links[l];
        const mf_lane *own = in + link->dof;
        if (link->kind == MF_ART_BALL)
            rates->ball[link->row] =
                vec_select(lanes, (Vec){own[0], own[1], own[2]}, rates->ball[link->row]);
        else
            rates->joint[l] = mf_select(lanes, own[0], rates->joint[l]);
    }
}

static inline void dofs_of_speeds(const mf_ArtPlan *plan, const State *state, mf_lane *out) {
    if (!plan->fixed) {
        out[0] = state->velocity.x, out[1] = state->velocity.y, out[2] = state->velocity.z;
        out[3] = state->rate.x, out[4] = state->rate.y, out[5] = state->rate.z;
    }
    for (uint32_t l = 0; l < plan->link_count; l++) {
        mf_lane *own = out + plan->links[l].dof;
        if (plan->links[l].kind == MF_ART_BALL) {
            const Vec ball = state->ball_rate[plan->links[l].row];
            own[0] = ball.x, own[1] = ball.y, own[2] = ball.z;
        } else {
            own[0] = state->speed[l];
        }
    }
}

#endif
