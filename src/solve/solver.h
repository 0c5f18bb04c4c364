// The world solver: computes the forces of all run-time joints and of the contacts between robots
// in one step, by the responses of the motions. Used by the files of this folder and by collisions,
// which pass their contacts to it.
//
//   node        a link on which a constraint acts; its wrench acts at the center of mass
//   body        a robot with nodes, or robots that move as one tree; its response is one
//               matrix over the twists of all its nodes
//   constraint  a joint or a contact between two nodes, or a node and the world
//   island      bodies that respond to forces and are connected by constraints
//
// All of these are assembled in each step, in memory that was reserved before.
#pragma once

#include "contact/collide.h"
#include "motion/articulated/motion.h"
#include "motion/articulated/constraint/sparse.h"
#include "solve/block_system.h"
#include "solve/free_response.h"
#include "solve/joint_rows.h"
#include "solve/trial_step.h"

#include <mayfly/motion.h>

// ---- contacts from collisions -------------------------------------------------------------------

// A contact of two links in a step.
typedef struct mf_SolverContact {
    uint32_t group[2], instance[2], link[2]; // [1] group: of the world
    uint32_t shape[2];                       // [1] numbers that distinguish the shapes of a robot
    double point[3];                         // [m] world frame
    double normal[3];                        // [1] from the first link to the second
    double depth;                            // [m] > 0
    uint32_t rows;                           // [1] 1, 3, 4 or 6: MuJoCo's condim
    double friction[3]; // [1], [m], [m] > 0 as far as rows go: sliding, torsion, rolling per load
    bool coupled;       // friction has one cone for all of its rows
    double softness;    // [(m/s)/N] compliance: velocity per load; 0: as `yield` states
    double yield;       // [1] compliance along the normal, relative to the robots' own
    double give;        // [1] the same across the normal
    double apart;       // [m/s] separating velocity without load
    double spare[6];    // [N], [N m] on the second: used if no solution is found
    // As the files of both have it: it may be solved like the contacts of a file.
    bool as_stated;
    mf_CollideClass pair;
    uint32_t model_shape[2];
    double overlap;       // [m] depth without a limit
    double *load, *force; // [N] destinations of the load and the force on the second; or NULL
} mf_SolverContact;

typedef struct mf_Solver mf_Solver;

// The solver of a world; creates it and its systems if there is none. MF_LIMIT, MF_NO_MEMORY.
mf_Status mf_solver_of(mf_World *world, mf_Solver **out, mf_Error *error);
mf_Solver *mf_solver_in(const mf_World *world); // NULL: there is none
// Lets robots of a group take part, with `contacts` also in contacts. MF_NO_MEMORY.
mf_Status mf_solver_add_group(mf_Solver *solver, mf_Group *group, bool contacts, mf_Error *error);
// Reserves space for the contacts of a step. MF_NO_MEMORY.
mf_Status mf_solver_reserve_contacts(mf_Solver *solver, uint32_t contacts, mf_Error *error);
// Whether robots of the group can take part: motions of plugins have no trial steps.
bool mf_solver_takes(mf_Group *group);

// The contacts of a step, before the solver runs.
bool mf_solver_has_capacity(const mf_Solver *solver);
void mf_solver_add_contact(mf_Solver *solver, const mf_SolverContact *contact); // it must fit
void mf_solver_clear_contacts(mf_Solver *solver);

// ---- inside -------------------------------------------------------------------------------------

// Keys of links that order them by group, instance and link, each in bits of its own; those of the
// group begin at MF_KEY_GROUP, those of the instance at MF_KEY_INSTANCE.
enum { MF_KEY_INSTANCE = 22, MF_KEY_GROUP = 48 };
static inline uint64_t mf_solver_key(uint32_t group, uint32_t instance, uint32_t link) {
    return (uint64_t)group << MF_KEY_GROUP | (uint64_t)instance << MF_KEY_INSTANCE | link;
}
static inline uint32_t mf_solver_key_group(uint64_t key) {
    return (uint32_t)(key >> MF_KEY_GROUP);
}
static inline uint32_t mf_solver_key_instance(uint64_t key) {
    return (uint32_t)(key >> MF_KEY_INSTANCE) & ((1u << (MF_KEY_GROUP - MF_KEY_INSTANCE)) - 1);
}
static inline uint32_t mf_solver_key_link(uint64_t key) {
    return (uint32_t)key & ((1u << MF_KEY_INSTANCE) - 1);
}

enum { MF_SOLVER_FILLED = 64 }; // [1] links of an island whose matrix is factored exactly

// [1] Forces with a larger residual are not used.
#define MF_SOLVER_INEXACT 0.1

// The force of a contact, for the next step.
typedef struct mf_WarmContact {
    struct {
        uint32_t group[2], instance[2], shape[2];
    } shapes;
    uint32_t over[2];           // the robot of the side has been reset since
    double force[3], moment[3]; // [N], [N m] on the second shape, world frame
} mf_WarmContact;

typedef struct mf_SolverNode {
    uint32_t body;                  // [1]
    uint32_t group, instance, link; // [1]
    uint32_t robot;                 // [1] among those of assemblies that move as trees; MF_NONE
    uint32_t at;                    // [1] in the order of elimination; MF_NONE: no response
    mf_LinkMotion begin;            // at the beginning of the step
    mf_LinkMotion end;              // at the end of the last trial
    double center[3];               // [m] where its wrench acts, link's axes
    double point[3];                // [m] the same at the beginning, world frame
    double size[2];                 // [N], [N m] of trial wrenches
    double velocity[6];             // [m/s], [rad/s] at the end of the last trial
    double wrench[6];               // [N], [N m] of the last trial, about `point`
} mf_SolverNode;

typedef struct mf_SolverBody {
    uint32_t assembly;        // [1] robots that move as one tree are one body; MF_NONE: a robot
    uint32_t group, instance; // [1] of the first node
    uint32_t first, count;    // [1] nodes
    uint32_t island;          // [1]; MF_NONE: no response
    bool moves;               // it may respond to forces
    bool lost;                // the last trial was not finite
    bool crowded;             // it would, but there is no space for its response
    bool swept;               // its island is large
    uint32_t dofs;            // [1] if so: degrees of freedom
    size_t rates;             // [1] index of their velocities; in a common problem of its dofs
    bool listed;              // in a common problem
    uint32_t stem;            // [1] there: the joint, a constraint, that holds it; MF_NONE: none
    size_t response;          // [1] of its matrix among all; (6 count)^2 values, row after row:
                              // after probes change of velocity per wrench, later its inverse
} mf_SolverBody;

typedef struct mf_SolverBlock { // sixteen robots, some with nodes
    uint32_t group, block;      // [1]
    uint32_t first, count;      // [1] bodies
    char *saved;                // state at the beginning of the step
    uint32_t *links;            // [1] links with nodes and those between base and them,
    uint32_t link_count;        // [1] without the base
    double *motions;            // [1] of these links, as computed last
} mf_SolverBlock;

typedef struct mf_SolverMemory { // for all blocks of a group
    char *saved;
    uint32_t *links;
    double *motions;
} mf_SolverMemory;

typedef struct mf_SolverConstraint {
    uint32_t node[2];                // [1] MF_NONE: the world
    uint32_t island;                 // [1] MF_NONE: neither side responds
    uint32_t joint;                  // [1] number of the joint in this step, or MF_NONE
    uint32_t contact;                // [1] or that of the contact
    uint32_t rows;                   // [1] three along `axes`, then those about further ones
    const mf_JointDrive *drive;      // law of row 5; NULL: as the others
    double axes[MF_JOINT_ROWS][3];   // [1] world frame
    double arm[2][3];                // [m] from the nodes' points to its point of action
    double gamma[MF_JOINT_ROWS];     // [(m/s)/N] softness
    double gives[MF_JOINT_ROWS];     // [(m/s)/N] response of both nodes
    double now[MF_JOINT_ROWS];       // [m/s] residual of the last trial, without gamma f
    double moved[MF_JOINT_ROWS];     // [m/s] the same in the linear model
    double direction[MF_JOINT_ROWS]; // [m/s] its change along a step of Newton's method
    double beyond[MF_JOINT_ROWS];    // [m/s] of trial steps beyond a common problem's model
    double force[MF_JOINT_ROWS];     // [N], [N m] of the last trial
    double best[MF_JOINT_ROWS];      // of the best trial of the step
    double from[MF_JOINT_ROWS];      // at the beginning of the present correction
    double target[MF_JOINT_ROWS];    // its goal
    double own[MF_JOINT_ROWS];       // [(m/s)/N] in large islands: response of each row to itself
    size_t values; // [1] in large islands: index of the rows; in common problems that of the first
                   // constraint
    double give;   // [1] compliance of stiff rows, relative to the robots' own
    double yield;  // [1] the same of the normal row of a contact
    double friction[MF_JOINT_ROWS]; // [1], [m] of the rows of a contact
    double weight[MF_JOINT_ROWS];   // [1], [1/m] friction of the first row of the cone over the
                                    // row's own: weight of the force
    bool coupled;                   // one cone for all rows of friction
    double grip;                    // [N] load that bounds the friction of a contact
    double scale[2];                // [m/s], [rad/s] scale of residuals
    bool dead[2];                   // no response along, or about, the axes: no forces there
} mf_SolverConstraint;

typedef struct mf_SolverIsland {
    uint32_t first, end;         // [1] nodes in the order of elimination
    uint32_t row, row_end;       // [1] constraints, in `members`
    uint32_t iterations;         // [1] of Newton's method in the step
    double residual, best, from; // [1] of the last trial; least; before the correction
    double stretch;              // [1] of the correction
    double least, least_stretch; // [1] least residual since the last probes, and its stretch
    bool swept;                  // it is large
    bool common;                 // its robots state their problems (solver_common.c)
    bool joined, solved;         // some by joints; the last problem had a solution, with
    double left;                 // [1] its residual
    double part;                 // [1] of what trial steps showed, as taken last; 0: none yet
    bool too_large;              // there was no space for its problem
    bool moved, nearer, done;    // the last trial was better; one since the last probes was; exact
} mf_SolverIsland;

// Of a group whose robots may be part of common problems.
typedef struct mf_SolverCommon {
    const mf_ArtMotion *motion; // NULL: they are not
    mf_SparseSize most;         // of a robot
    uint32_t chain;             // [1] dofs of its longest chain
    char *memory;
    mf_ArtProblem *problems;   // per instance
    mf_ArtProblem **requested; // per lane, NULL outside of a step
} mf_SolverCommon;

struct mf_Solver {
    mf_Context *context;
    mf_World *world;
    mf_WorldJoints *joints; // may be empty
    uint32_t rounds;        // [1]
    double tolerance;       // [1]
    mf_SystemRun run;       // of the present step
    bool acting;            // the fields of links contain the forces
    bool only_common;       // trial steps are of robots in common problems
    uint32_t tried;         // [1] trial steps with corrected forces in this step
    double residual;        // [1] of the last step: the largest of its islands

    // Per group of the world.
    uint32_t group_count;
    mf_TrialStep **trials; // NULL: takes no part
    mf_SolverMemory *memories;
    mf_FreeResponse **free; // NULL: takes no part
    mf_SolverCommon *common;
    bool *answers;      // its robots respond to forces
    uint32_t *ranks;    // [1] among the names
    uint32_t *group_at; // [1] per rank

    uint32_t joint_capacity, contact_capacity; // [1]
    uint32_t dofs;                             // [1] of a robot, at most
    uint32_t links;        // [1] of all robots that may touch; at most so many nodes
    uint32_t joint_blocks; // [1] of responses to joints
    uint32_t constraint_capacity, node_capacity, response_capacity; // [1]
    size_t key_capacity;                                            // [1]

    uint32_t contact_count;
    mf_SolverContact *contacts;
    uint32_t warm_capacity, warm_count; // [1]
    mf_WarmContact *warm;               // contacts of the last step
    uint64_t *warm_keys;                // of them, rising
    mf_JointNode *joint_nodes;          // per joint of the step
    uint32_t constraint_count, node_count, body_count, block_count, island_count;
    uint32_t robot_count, tree_node; // [1] bodies that are robots, and the first node after theirs
    mf_SolverConstraint *constraints;
    uint32_t *members; // [1] constraints by island
    mf_SolverNode *nodes;
    mf_SolverBody *bodies;
    mf_SolverBlock *blocks;
    mf_SolverIsland *islands;
    double *responses;
    uint64_t *keys, *side_keys;           // of nodes, and of both sides of constraints
    uint32_t *queue, *starts, *touch;     // [1] while islands and order are found
    size_t sweep_capacity, rate_capacity; // [1] of values of rows of large islands
    double *sweep_values;                 // Jacobian and response of each side of each row
    double *rates;                        // per degree of freedom in large islands: changes
    mf_SparseFn sparse[2];                // in float, in double
    mf_Scratch *common_scratch;           // of the problem of an island, with
    size_t common_size;                   // [byte]
    double *inverse;                      // 12 per node, while responses are inverted
    double *change, *step, *left; // 6 per node in the order of elimination: from the last trial
    mf_BlockSystem system;
};

// Rising order, in place; and the first of sorted keys that is not below `key`.
void mf_solver_sort(uint64_t *keys, uint32_t count);
uint32_t mf_solver_find(const uint64_t *keys, uint32_t count, uint64_t key);

// Assembles the step's graph, the order in which the nodes of the islands are eliminated, and the
// blocks of the system. `look` (below) then reads the motions of nodes at the beginning.
void mf_solver_assemble(mf_Solver *solver);

// Updates trials for systems added since. False: no memory.
bool mf_solver_refresh(mf_Solver *solver);
mf_Status mf_solver_reserve_joints(mf_Solver *solver, uint32_t joints, uint32_t blocks,
                                   mf_Error *error);
void mf_solver_destroy(mf_Solver *solver);

// ---- responses (solver_respond.c): functions of one block of robots -----------------------------

void mf_solver_look(mf_Solver *solver, uint32_t block);
void mf_solver_probe(mf_Solver *solver, uint32_t block);
void mf_solver_try(mf_Solver *solver, uint32_t block);

// ---- assemblies of robots that move as one tree (modules/trees.c) -------------------------------

// Moves assemblies with too large islands by their joints instead; true: there were some, and
// everything must be assembled again.
bool mf_solver_release_trees(mf_Solver *solver);
// As the functions of blocks: of all.
void mf_solver_look_trees(mf_Solver *solver);
void mf_solver_try_trees(mf_Solver *solver);
// The wrenches of nodes; `last`: also of finished islands.
void mf_solver_press_trees(mf_Solver *solver, bool last);
// The response of one after the last trial.
void mf_solver_probe_tree(mf_Solver *solver, uint32_t tree);

// ---- rows (solver_rows.c) -----------------------------------------------------------------------

// Geometry and softness at the beginning of the step, of joints from the last step's force.
void mf_solver_begin(mf_Solver *solver, mf_SolverConstraint *constraint);
// Sets `now` from the last trial.
void mf_solver_measure(mf_Solver *solver, mf_SolverConstraint *constraint);
// Forces for row values `rows`, with `slope` (or NULL) their negative derivative, symmetric.
void mf_solver_force(const mf_SolverConstraint *constraint, const double rows[MF_JOINT_ROWS],
                     double force[MF_JOINT_ROWS], double slope[MF_BLOCK_VALUES]);
// [N] Load of a contact with the row values `rows`.
double mf_solver_load(const mf_SolverConstraint *constraint, const double *rows);
// The cones of a contact's friction: rows first .. end - 1. Begins with MF_CONE_NONE.
typedef struct mf_SolverCone {
    uint32_t first, end; // [1]
} mf_SolverCone;
#define MF_CONE_NONE ((mf_SolverCone){0, 1})
// False: that was the last.
bool mf_solver_next_cone(const mf_SolverConstraint *constraint, mf_SolverCone *cone);
// [N^2] Square of the length of forces in a cone, of which the friction of its first row times the
// load is the limit.
double mf_solver_cone_square(const mf_SolverConstraint *constraint, mf_SolverCone cone,
                             const double *force);
// Limits the friction of a contact by its load.
void mf_solver_cut(const mf_SolverConstraint *constraint, double *force);
// Residual [1] of the present forces.
double mf_solver_residual(const mf_SolverConstraint *constraint);
// Rows over the twist of the node of a side, row after row.
void mf_solver_jacobian(const mf_SolverConstraint *constraint, uint32_t side,
                        double out[MF_BLOCK_VALUES]);
// Sum of the wrenches on a node of forces `force`, about its point.
void mf_solver_wrench(const mf_SolverConstraint *constraint, uint32_t side,
                      const double force[MF_JOINT_ROWS], double wrench[6]);

// ---- warm start (solver_warm.c) -----------------------------------------------------------------

// Keeps the forces of the contacts of this step.
void mf_solver_keep_warm(mf_Solver *solver);
// Contacts of the next step start without forces.
void mf_solver_forget(mf_Solver *solver);
// Likewise those of a robot that is reset; `user` is the solver.
void mf_solver_forget_robot(mf_Group *group, uint32_t instance, void *user);
// The force of a contact is that of the last step, 0 where it is new.
void mf_solver_warm_start(const mf_Solver *solver, mf_SolverConstraint *constraint);
// Replaces the stored contacts; `count` must fit.
void mf_solver_take_warm(mf_Solver *solver, const mf_WarmContact *contacts, uint32_t count);

// ---- forces (solver_newton.c) -------------------------------------------------------------------

// After probes: the compliance of a constraint; then the inverse of a robot's response, in place.
void mf_solver_soften(mf_Solver *solver, mf_SolverConstraint *constraint);
void mf_solver_invert(mf_Solver *solver, const mf_SolverBody *body);
// The forces of an island that balance the linear model about the last trial, to `target`.
void mf_solver_balance(mf_Solver *solver, mf_SolverIsland *island);

// ---- large islands (solver_sweep.c) -------------------------------------------------------------

// Decides which islands are large, and allocates their rows.
void mf_solver_find_large(mf_Solver *solver);
// Responses of the robots of a block that are in large islands.
void mf_solver_prepare_large(mf_Solver *solver, uint32_t block);
// Rows of a constraint, and their compliance.
void mf_solver_large_rows(mf_Solver *solver, mf_SolverConstraint *constraint);
// The forces that balance by free responses, from the present ones to `target`.
void mf_solver_balance_large(mf_Solver *solver, mf_SolverIsland *island);

// ---- common problems (solver_common.c) ----------------------------------------------------------

mf_Status mf_solver_common_create(mf_Solver *solver, mf_Group *group, mf_SolverCommon *out,
                                  mf_Error *error);
void mf_solver_common_release(mf_Context *context, mf_SolverCommon *common);
// [byte] For the problem of all robots and contacts in one island.
size_t mf_solver_common_bytes(const mf_Solver *solver);
// Decides which islands have one; false: none.
bool mf_solver_find_common(mf_Solver *solver);
// From now on, or no more, steps of their robots state problems; of a block of robots.
void mf_solver_request_common(mf_Solver *solver, bool on);
void mf_solver_state_problems(mf_Solver *solver, uint32_t block);
// The solution of an island's problem. Without joints it finishes the island; with them after a
// trial step of its forces, and as long as there are some left, mf_solver_correct_common does or
// solves again; mf_solver_end_common ends it. An island that finds no solution is no longer common.
void mf_solver_solve_common(mf_Solver *solver, uint32_t island);
bool mf_solver_common_left(const mf_Solver *solver);
// [1] Islands without space for their problem in this step.
uint32_t mf_solver_too_large(const mf_Solver *solver);
void mf_solver_correct_common(mf_Solver *solver, uint32_t island);
void mf_solver_end_common(mf_Solver *solver, uint32_t island);

// ---- a step (solver_step.c) ---------------------------------------------------------------------

void mf_solver_run(const mf_WorldRun *run, void *user);
void mf_solver_end(const mf_WorldRun *run, void *user);

// Whether the best forces of an island are used. Those of large islands converge from one side, so
// they are bounded, and later steps improve them.
static inline bool mf_solver_is_usable(const mf_SolverIsland *island) {
    return island->best <= (island->swept ? 1e9 : MF_SOLVER_INEXACT);
}

static inline double *mf_solver_response(const mf_Solver *solver, const mf_SolverBody *body) {
    return solver->responses + body->response * MF_BLOCK_VALUES;
}

static inline mf_SolverConstraint *mf_solver_member(const mf_Solver *solver, uint32_t row) {
    return &solver->constraints[solver->members[row]];
}
