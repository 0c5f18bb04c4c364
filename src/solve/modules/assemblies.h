// Assemblies of docked robots that move as one tree: interface between their files and docks.
//
//   assemblies.c         memory, and membership of robots, found when docks change
//   assemblies_choose.c  which of them move as one tree in a step
//   assemblies_step.c    a step of these
//   assemblies_response.c  response of one robot to wrenches
//   assemblies_solve.c   the wrenches of the docks, by elimination from the leaves to the root
//   assemblies_fly.c     sums over all links, for the momentum of an assembly in flight
//   assemblies_loops.c   the wrenches of docks that close loops
//   trees.c              the links that others touch or constrain, in the world solver
//   assemblies_pose.c    poses of robots after the step, from the root to the leaves
//
// A robot that is docked to its parent in the spanning tree has an edge, the dock to its parent.
// With its children attached its response to a wrench f of the edge is
//     acceleration of the dock = response f + bias
// and f makes both sides of the edge accelerate alike. The root of an assembly is its first robot,
// or the one whose base is fixed, or one with commanded motion such as `kinematic`.
//
// Docks that close loops are constraints of the tree. Contacts between robots and other joints are
// the world solver's, for which an assembly is one body with a response at each of its nodes, the
// links that such forces act on (trees.c). Assemblies with more than MF_ASSEMBLY_LOOPS
// loops, with compliant docks, or with more nodes than the solver accepts move by run-time joints
// instead (solver.h).
//
// Invariant: results of an assembly do not depend on other assemblies or on threads; steps allocate
// only if a group's plan has grown.
#pragma once

#include "base/scratch.h"
#include "solve/modules/docks.h"
#include "motion/articulated/constraint/pieces.h"

// A frame on a robot: that of a joint on a link with docks.
typedef struct mf_AssemblyFrame {
    uint32_t site;            // [1]
    double arm[3];            // [m] from the link's origin to the frame of the parent, world axes
    double position[3];       // [m] of the frame in the plan link
    double rotation[9];       // [1] its axes to the plan link's, row after row
    double world_rotation[9]; // [1] of the frame to the world
} mf_AssemblyFrame;

enum { MF_ASSEMBLY_LOOPS = 64 }; // [1] of an assembly at most

// Two joined docks. The force acts on both sides at the frame of the first.
typedef struct mf_AssemblyEdge {
    uint32_t slot;        // [1] joint
    uint32_t side;        // [1] side of its record that is the first here
    uint32_t robots[2];   // [1] of the order
    double wrench[6];     // [N m], [N] on the first at its frame, world axes
    double correction[6]; // [rad/s^2], [m/s^2] of the second against the first, world axes
    mf_AssemblyFrame frames[2];
    double open[6];           // [rad], [m] remaining gap, in axes of the first link
    double closes[6];         // [rad/s], [m/s] its rate of closing in the step, likewise
    double pull[6];           // the part of the correction that closes a gap
    double stuck;             // [rad] or [m] opening of a loop that does not close
    mf_LinkMotion anchors[2]; // of links with commanded motion, at the beginning of the step
} mf_AssemblyEdge;

// Bits: causes of motion besides the wrenches of docks.
typedef enum mf_AssemblyCause {
    MF_ASSEMBLY_FREE = 1, // own motion, and corrections of docks
    MF_ASSEMBLY_NODES = 2 // wrenches on nodes
} mf_AssemblyCause;
enum { MF_ASSEMBLY_ALL = MF_ASSEMBLY_FREE | MF_ASSEMBLY_NODES };

// A link on which contacts or other joints act; its frame has world axes.
typedef struct mf_AssemblyNode {
    uint32_t robot; // [1] of the order
    mf_AssemblyFrame place;
    double point[3];  // [m] origin of the frame, world
    double wrench[6]; // [N m], [N] world axes
    double joined[6]; // the same, saved while unit wrenches replace it
} mf_AssemblyNode;

// One of a robot's docks in the elimination, which is rooted in the middle of an assembly, so that
// branches are short and can be solved in parallel.
typedef struct mf_AssemblyDock {
    uint32_t edge; // [1] robot of the order whose edge it is
    uint32_t
        side; // [1] which side this robot is; the first gets the wrench, the second its opposite
    uint32_t other; // [1] robot of the order at the other side
} mf_AssemblyDock;

typedef struct mf_AssemblyRobot {
    mf_DockGroup *group;
    uint32_t instance, number;         // [1] number among all robots with docks
    uint32_t piece, lane;              // [1]
    uint32_t sites;                    // bits of those with docks in use
    uint32_t assembly;                 // [1]
    uint32_t parent;                   // [1] robot of the order; MF_NONE: root
    uint32_t first_child, child_count; // [1]
    uint32_t first_dock, dock_count;   // [1] those of the tree; the first leads to the middle
    bool middle;                       // none does
    bool looped;                       // a loop ends here
    bool pressed;                      // it has nodes
    bool anchored;                     // commanded motion, no response: only the root
    uint32_t stem;                     // [1] its index in the sequence
    size_t values, right;              // [1] in `matrices` and `rights`
    mf_AssemblyEdge edge;              // from the parent to it
    double swirl[3];                   // [rad/s] that the assembly adds to its base, world axes
    // After the step, relative to the root.
    double position[3], world_rotation[9], velocity[3], rate[3];
} mf_AssemblyRobot;

enum { MF_ASSEMBLY_HALF = 21 }; // [1] values of a symmetric 6 x 6: row after row, to the diagonal

// Result of the elimination at the first dock of a robot, in the order of the sequence.
typedef struct mf_AssemblyStem {
    double response[MF_ASSEMBLY_HALF], bias[6]; // including everything behind the other docks
    double factor[MF_ASSEMBLY_HALF];            // of the compliance there; inverses of pivots
} mf_AssemblyStem;

typedef struct mf_Assembly {
    uint32_t first, end;           // [1] robots in the order, the root first
    bool tree;                     // it can move as one
    uint32_t first_loop, loop_end; // [1] docks that close loops
    uint32_t first_node, node_end; // [1] links that others touch or constrain in this step
    bool touched;                  // too many, or some that cannot receive forces
    bool active;                   // it moves as one in this step
    bool wrong;                    // it must be solved, or its contacts corrected
    bool solved;                   // for the present wrenches on its nodes
    uint32_t flags;                // of all its robots
    // For `fly`, from its root at the beginning of the step: all links, and forces from outside.
    double whole[MF_ART_WHOLE_VALUES], force[6], origin[3];
    uint32_t rounds; // [1] solutions in the step
    bool branched;   // its branches are tasks of their own
    bool failed;     // a robot is frozen
    bool again;      // a robot was wrong in this round: solve all again; atomic
} mf_Assembly;

// Lane of a robot of the order, kept apart for loops over all robots that need only this.
typedef struct mf_AssemblySeat {
    uint32_t piece, lane; // [1] in the list of pieces in use
} mf_AssemblySeat;

// Groups with docks, by their index in the list of docks.
typedef struct mf_AssemblyGroup {
    mf_DockGroup *group;
    mf_ArtPieces *pieces;  // NULL: its robots cannot
    bool anchored;         // commanded motion, no response, as an assembly's root can have
    uint32_t *dock_sites;  // [1] per dock
    bool *taken;           // per robot, in whole blocks
    uint32_t *carried;     // likewise
    bool *used;            // per piece: some lane is taken
    uint32_t *sites;       // per piece: bits of those where wrenches may act
    uint32_t *listed;      // [1] per piece: its index in the list of pieces in use
    const mf_Field *level; // motion.level or NULL
    mf_Field *base[4];     // position, orientation, velocities
} mf_AssemblyGroup;

typedef struct mf_AssemblyBranch {
    uint32_t first, end; // [1] in the sequence
    uint32_t assembly;   // [1]
} mf_AssemblyBranch;

typedef struct mf_AssemblyPiece {
    uint32_t group, piece; // [1]
    uint32_t assembly;     // [1] of all its robots; MF_NONE: they are of several
    uint32_t lanes;        // bits of those that take part
    uint32_t *flags;       // per lane
    bool wrong;            // its lanes are to be solved again
    bool ready;            // they have responded for the next round
} mf_AssemblyPiece;

typedef struct mf_Assemblies {
    mf_Context *context;
    struct mf_WorldDocks *docks;
    uint64_t seen;                                                      // version of the joints
    uint32_t group_count, robot_count, order_count, count, piece_count; // [1]
    mf_AssemblyGroup *groups;
    mf_AssemblyRobot *order;
    mf_Assembly *assemblies;
    mf_AssemblyDock *dock_list;
    uint32_t *sequence; // [1] robots of each assembly, from its middle outward
    mf_AssemblyStem *stems;
    mf_AssemblyBranch *branches;
    uint32_t branch_count; // [1]
    mf_AssemblyEdge *loops;
    uint32_t loop_count;                // [1]
    mf_AssemblyPiece *pieces;           // in use
    mf_AssemblySeat *seats;             // per robot of the order that is not anchored
    uint32_t *frames;                   // [1] per robot: index in the order; MF_NONE: not docked
    uint32_t *starts, *edges;           // [1] joints of docks per robot
    uint32_t *work;                     // [1] two per robot
    bool *blocked;                      // per robot: touched or constrained, but at no site
    bool *pressed;                      // per robot: touched or constrained by something else
    uint32_t node_count, node_capacity; // [1]
    mf_AssemblyNode *nodes;             // by assembly
    bool *carried;                      // per joint
    uint32_t carried_capacity;          // [1]
    double *matrices, *rights, *biases; // biases: right sides before the elimination
    mf_Scratch *scratch;                // matrices of loops, per thread
    size_t matrix_capacity, right_capacity; // [1]
    double lift[3];    // [m/s^2] against gravity: accelerations exclude gravity
    double step, time; // [s]
    mf_ArtStage stage; // being run
    uint32_t round;    // [1] of a solution
    bool late;         // it is a further one
    bool looked;       // pieces have responded since the last check
    bool backward;     // the last pass over robots went from the last to the first
} mf_Assemblies;

// MF_NO_MEMORY. For docks of which all groups are known.
mf_Status mf_assemblies_create(struct mf_WorldDocks *docks, mf_Assemblies **out, mf_Error *error);
void mf_assemblies_destroy(mf_Assemblies *all); // NULL is fine

// Updates which robots are docked to each other, if docks have changed.
void mf_assemblies_refresh(mf_Assemblies *all);
// A step of those that can move as one:
// begin      docks come apart and join; chooses trees and loads their robots; false: there is none,
//            and solve and finish must not be called
// solve      the motion of those that are not solved; of those with nodes as the solver asks
// finish     moves their robots, which the motions of their groups skip until the end
// end        loads of docks; overloaded ones break
// NULL: the world has no docks.
bool mf_assemblies_begin(mf_Assemblies *all, const mf_SystemRun *run);
void mf_assemblies_solve(mf_Assemblies *all);
void mf_assemblies_finish(mf_Assemblies *all);
void mf_assemblies_end(mf_Assemblies *all);
// Whether the robots of a joint have been moved this way.
static inline bool mf_assemblies_carry(const mf_Assemblies *all, uint32_t slot) {
    return all != NULL && slot < all->carried_capacity && all->carried[slot];
}

// ---- for the solver -----------------------------------------------------------------------------

// Index in the order of a robot that moves in a tree in this step; MF_NONE: it does not, or its
// motion is commanded.
uint32_t mf_assemblies_robot(const mf_Assemblies *all, uint32_t group, uint32_t instance);
// Makes an assembly move by run-time joints in this step; before its first solution.
void mf_assemblies_release(mf_Assemblies *all, uint32_t assembly);
// Reserves space for nodes, the links that others touch or hold. False: no memory.
bool mf_assemblies_reserve_nodes(mf_Assemblies *all, uint32_t capacity);

// ---- inside -------------------------------------------------------------------------------------

// Chooses those that move as one in this step, and the pieces of their robots; false: none.
bool mf_assemblies_choose(mf_Assemblies *all);
// Removes one of them.
void mf_assembly_give_up(mf_Assemblies *all, mf_Assembly *assembly);
// Gaps and their closing rates in the present poses: of the edge of a robot of the order, and of
// the loops of an assembly.
void mf_assembly_measure(mf_Assemblies *all, uint32_t robot);
void mf_assembly_measure_loops(mf_Assemblies *all, const mf_Assembly *assembly);
// The response of a robot at its docks, (6 docks)^2 values, and its biases; robots do not depend on
// each other.
void mf_assembly_fill(const mf_Assemblies *all, const mf_AssemblyRobot *robot, double *matrix);
// Wrenches of the edges of an assembly, and from them those on its links with docks. Of branched
// ones: first the branches inward, then the middle, then the branches outward.
void mf_assembly_solve(mf_Assemblies *all, mf_Assembly *assembly);
void mf_assembly_branch_in(mf_Assemblies *all, const mf_AssemblyBranch *branch);
void mf_assembly_branch_out(mf_Assemblies *all, const mf_AssemblyBranch *branch);
// The wrenches of the edges of the tree for the present wrenches of its loops, under `causes`.
void mf_assembly_sweep(mf_Assemblies *all, const mf_Assembly *assembly, unsigned causes);
// The wrenches of the loops, when the matrices of the tree have been eliminated.
size_t mf_assembly_loop_scratch_size(void); // [byte] that it needs meanwhile
void mf_assembly_close_loops(mf_Assemblies *all, const mf_Assembly *assembly);
// The same in parts: the matrix of the loops of an assembly, and the wrenches under `causes` and
// those on its docks, any number of times. Nothing happens where there are no loops.
typedef struct mf_AssemblyLoops {
    double *m, *soft, *right, *pull, *pivots, *soft_pivots;
    uint32_t rows;   // [1]
    uint32_t *order; // [1] of elimination
} mf_AssemblyLoops;
void mf_assembly_open_loops(mf_Assemblies *all, const mf_Assembly *assembly, mf_AssemblyLoops *out);
void mf_assembly_answer(mf_Assemblies *all, const mf_Assembly *assembly,
                        const mf_AssemblyLoops *loops, unsigned causes);
// Opening [rad] or [m] of a measured loop that does not close; 0: it closes or is within tolerance.
double mf_assembly_stuck(const mf_AssemblyEdge *loop);
void mf_assembly_leave_loops(mf_Assemblies *all, const mf_AssemblyLoops *loops);
// L D L^T of a symmetric matrix of `size` rows in its lower half, and x of m x = r in place. Pivots
// of at most `least` are omitted.
void mf_assembly_factor(double *m, double *inverse, uint32_t size, const double *least);
void mf_assembly_divide(const double *m, const double *inverse, uint32_t size, double *r);
// Adds the response of a frame on a single robot: the diagonal.
void mf_assembly_own_response(const mf_Assemblies *all, const mf_AssemblyRobot *robot,
                              const mf_AssemblyFrame *frame, double out[6]);
// The wrenches of all edges, or of loops only, on the sites of a robot, about the links' origins,
// and those on nodes where these are among the causes.
void mf_assembly_loads(const mf_Assemblies *all, const mf_AssemblyRobot *robot, bool tree,
                       unsigned causes, double *sites);
// Acceleration of a frame on a robot under these wrenches and its own motion, as far as `causes`
// include it.
void mf_assembly_accelerate(const mf_Assemblies *all, const mf_AssemblyRobot *robot,
                            const mf_AssemblyFrame *frame, const double *sites, unsigned causes,
                            double out[6]);
// Places the robots of an assembly so that their docks mate, relative to the root; then, if no
// robot of it has failed, places some of the order in the world. If one has failed, all stay, and
// joints connect them from the next step on.
void mf_assembly_chain(mf_Assemblies *all, mf_Assembly *assembly);
bool mf_assembly_has_failed(const mf_Assemblies *all, const mf_Assembly *assembly);
void mf_assembly_update_poses(mf_Assemblies *all, uint32_t first, uint32_t end);
// The rotation by a rate [rad/s] for a time [s].
void mf_assembly_rotation(double out[4], const double rate[3], double time);
// Masses and momenta before and after the step, for `fly` (assemblies_fly.c).
void mf_assembly_note(mf_Assemblies *all, mf_Assembly *assembly);
void mf_assembly_gather(mf_Assemblies *all, mf_Assembly *assembly);
// Stores the loads of its docks in the records of their joints.
void mf_assembly_store(mf_Assemblies *all, mf_Assembly *assembly);

// The first robot of an assembly that is stepped here.
static inline uint32_t mf_assembly_first(const mf_Assemblies *all, const mf_Assembly *assembly) {
    return assembly->first + all->order[assembly->first].anchored;
}

static inline const mf_AssemblyDock *
mf_assembly_dock(const mf_Assemblies *all, const mf_AssemblyRobot *robot, uint32_t dock) {
    return &all->dock_list[robot->first_dock + dock];
}

static inline const mf_AssemblyFrame *
mf_assembly_dock_frame(const mf_Assemblies *all, const mf_AssemblyRobot *robot, uint32_t dock) {
    const mf_AssemblyDock *own = mf_assembly_dock(all, robot, dock);
    return &all->order[own->edge].edge.frames[own->side];
}

// Sign of the wrench of its edge on this robot.
static inline double mf_assembly_dock_sign(const mf_AssemblyDock *dock) {
    return dock->side == 0 ? 1.0 : -1.0;
}

static inline mf_ArtAssembly *mf_assembly_piece(const mf_Assemblies *all,
                                                const mf_AssemblyRobot *robot,
                                                const mf_ArtPieces **pieces) {
    (void)all;
    *pieces = robot->group->assemblies->pieces;
    return &(*pieces)->pieces[robot->piece];
}
