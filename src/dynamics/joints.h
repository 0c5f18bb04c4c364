// Inside of run-time joints: shared by their files only.
#ifndef MF_DYNAMICS_JOINTS_H
#define MF_DYNAMICS_JOINTS_H

#include "dynamics/block_ldl.h"
#include "dynamics/trial_step.h"

#include <mayfly/joints.h>
#include <mayfly/motion.h>

enum { MF_JOINTS_LIMIT = 65536, MF_JOINT_ROWS = MF_BLOCK_ROWS };

// One joint: configuration and state, as images hold it. Free of gaps between members.
typedef struct mf_JointRecord {
    uint32_t generation; // [1] of the slot; 0: never used
    uint32_t exists, enabled, broken;
    uint32_t kind;
    uint32_t group[2], instance[2], link[2]; // [1] group: MF_NONE is the world
    uint32_t rounds;                         // [1] trial steps with corrected forces
    double position[2][3], orientation[2][4];
    double stiffness, damping, turning_stiffness, turning_damping, time;
    double force_limit, moment_limit;
    double force[3], moment[3]; // [N], [N m] on the second link, world axes
    double probe[2][2];         // [N], [N m] per side: sizes of the trial forces; 0: none yet
    double residual;            // [1]
} mf_JointRecord;

// ---- what follows from which joints there are (joints_graph.c) ----------------------------------

typedef struct mf_JointIncident { // a joint at a robot
    uint32_t node;                // [1]
    uint32_t sides;               // bit s: its side s is a link of the robot
} mf_JointIncident;

typedef struct mf_JointBody { // a robot with joints
    uint32_t group;           // [1] of the world
    uint32_t instance;        // [1]
    uint32_t block;           // [1] of the graph
    uint32_t part;            // [1] joints of one part are connected; those of different ones are
                              // not
    uint32_t first, count;    // [1] its incidents
    size_t response;          // [1] its place among the responses
    size_t coupling;          // [1] its place among the couplings
} mf_JointBody;

typedef struct mf_JointBlock {     // sixteen robots, some with joints
    uint32_t group, block;         // [1]
    uint32_t first, count;         // [1] bodies
    char *saved;                   // as the step found it
    uint32_t *links;               // [1] links with joints and those on the way to them,
    uint32_t link_count;           // [1] without the base
    uint32_t first_lane, end_lane; // [1] that hold its bodies
    double *motions;               // [1] of them, as they were found last
} mf_JointBlock;

typedef struct mf_JointSideNow {
    mf_LinkMotion motion;
    double point[3]; // [m] what the joint pushes, link's axes
} mf_JointSideNow;

// A joint in a step. Rows: three along the world's axes, then those against turning.
typedef struct mf_JointNode {
    uint32_t slot;     // [1] of the record
    uint32_t body[2];  // [1] MF_NONE: the world
    uint32_t part;     // [1]
    bool active;       // it carries something in this step
    uint32_t rows;     // [1] 3 .. 6
    double axes[3][3]; // [1] directions of rows 3 .. 5, world axes
    double point[3];   // [m] where it pushes, world frame
    mf_JointSideNow sides[2];
    double gamma[MF_JOINT_ROWS]; // [(m/s)/N] what gives way
    double beta[MF_JOINT_ROWS];  // [1/s] how fast an opening closes
    double alpha[MF_JOINT_ROWS]; // [1] 1 - beta h
    double force[MF_JOINT_ROWS]; // [N], [N m]
    double best[MF_JOINT_ROWS];  // of the best trial of the step so far
    double from[MF_JOINT_ROWS];  // where the correction under trial begins
    double gives[MF_JOINT_ROWS]; // [(m/s)/N] diagonal of the matrix
    double wrong[MF_JOINT_ROWS]; // [m/s] what is left to correct, of the last trial
    double scale[2];             // [m/s], [rad/s] what its forces change
    bool dead[2];                // nothing gives way, along, or turning: no forces there
    double opening, turning;     // [m], [rad] where the step began
} mf_JointNode;

typedef struct mf_JointPart {
    double best;    // [1] least residual of the step so far
    double from;    // [1] that where the correction under trial begins
    double stretch; // [1] of that correction
    bool moved;     // the last trial became the beginning of a new one
    bool nearer;    // some trial since the last probes did
    bool done;
} mf_JointPart;

typedef struct mf_JointGraph {
    uint32_t node_count, body_count, block_count, part_count, incident_count;
    mf_JointNode *nodes;  // in the order of elimination
    mf_JointBody *bodies; // by group, instance
    mf_JointIncident *incidents;
    mf_JointBlock *blocks;
    mf_JointPart *parts;
    double *responses;   // per body (rows of incidents)^2 blocks of MF_BLOCK_VALUES
    uint32_t *couplings; // per body and two incidents a < b: block of the matrix
    double *step;        // MF_JOINT_ROWS per node: the correction
    double *room;        // likewise, while it is found
    double *residuals;   // [1] per part
    mf_BlockLdl matrix;
    char *saved;
    uint32_t *links; // of blocks
    double *motions; // likewise
} mf_JointGraph;

struct mf_WorldJoints {
    mf_Context *context;
    mf_World *world;
    mf_WorldJointsConfig config;
    uint32_t count;      // [1] that exist
    uint32_t used, room; // [1] slots
    uint32_t lowest;     // [1] no slot below is free
    mf_JointRecord *records;
    mf_JointGraph graph;
    uint32_t trial_count;  // [1]
    mf_TrialStep **trials; // per group of the world; NULL: no joint was made on it yet
    mf_SystemRun run;      // of the present step
    bool acting;           // forces of joints are in the fields of links
    uint32_t rounds;       // [1] trial steps with corrected forces in the present step
    // What a restore will take over.
    mf_JointRecord *next_records;
    uint32_t next_used;
    mf_JointGraph next_graph;
};

// The graph of all records that exist, with the trials of their groups. MF_NO_MEMORY.
mf_Status mf_joints_graph_create(mf_WorldJoints *all, const mf_JointRecord *records, uint32_t used,
                                 mf_JointGraph *out, mf_Error *error);
void mf_joints_graph_destroy(mf_Context *context, mf_JointGraph *graph);

// The trial of a group, made when there is none.
mf_Status mf_joints_trial(mf_WorldJoints *all, uint32_t group, mf_Error *error);

// ---- rows (joints_rows.c) -----------------------------------------------------------------------

// Where the joint's frame of a side is.
void mf_joint_frame(const mf_JointRecord *record, uint32_t side, const mf_LinkMotion *motion,
                    double position[3], double orientation[4]);
// The opening [m] and the turning [rad] of the second frame against the first, world axes. Of a
// ball the turning is 0, of a hinge that between the axes.
void mf_joint_error(const mf_JointRecord *record, const mf_LinkMotion motions[2], double opening[3],
                    double turning[3]);
// Angle [rad] and rate [rad/s] of a hinge.
void mf_joint_angle(const mf_JointRecord *record, const mf_LinkMotion motions[2], double *angle,
                    double *rate);
// Sets up a joint for a step of `step` [s] from the present motion of its sides.
void mf_joint_begin(const mf_JointRecord *record, double step, mf_JointNode *node);
// Relative velocity of the points that the joint pushes, in its rows. `side` 0 or 1: the part of
// one side.
void mf_joint_velocity(const mf_JointNode *node, uint32_t side, const mf_LinkMotion *motion,
                       double rows[MF_JOINT_ROWS]);
// What is left to correct with the present forces, from how both sides move at the step's end.
void mf_joint_wrong(const mf_JointRecord *record, mf_JointNode *node);
// Forces of the rows as force and moment about the point, world axes.
void mf_joint_wrench(const mf_JointNode *node, const double rows[MF_JOINT_ROWS], double force[3],
                     double moment[3]);
void mf_joint_rows_of(const mf_JointNode *node, const double force[3], const double moment[3],
                      double rows[MF_JOINT_ROWS]);

// ---- a step (joints_step.c, joints_probe.c) -----------------------------------------------------

void mf_joints_run(const mf_WorldRun *run, void *user);
void mf_joints_end(const mf_WorldRun *run, void *user);

// Finds how the links of joints move, from the fields of robots in lanes first .. end - 1.
void mf_joints_look(const mf_WorldJoints *all, const mf_JointBlock *block, uint32_t first,
                    uint32_t end);

// Finds how the robots of block `index` answer to forces of their joints, and where the present
// forces take them.
void mf_joints_probe(mf_WorldJoints *all, uint32_t index);
// Only the latter.
void mf_joints_try(mf_WorldJoints *all, uint32_t index);
// Adds the forces of a joint to a robot's fields; `instance` is the one that stands for it.
void mf_joints_push(const mf_WorldJoints *all, const mf_JointNode *node, uint32_t sides,
                    uint32_t instance, const double rows[MF_JOINT_ROWS]);

static inline double *mf_joints_response(const mf_JointGraph *graph, const mf_JointBody *body,
                                         uint32_t row, uint32_t column) {
    return graph->responses +
           (body->response + (size_t)row * body->count + column) * MF_BLOCK_VALUES;
}

// ---- forces (joints_solve.c) --------------------------------------------------------------------

// After the probes: what is wrong with the present forces, and the first correction. `first`: of
// the first probes of the step, at the last step's forces.
void mf_joints_solve_begin(mf_WorldJoints *all, bool first);
// Sets the forces to try next; false: all parts are exact enough.
bool mf_joints_solve_next(mf_WorldJoints *all);
// After a trial with them.
void mf_joints_solve_learn(mf_WorldJoints *all);
// Sets the forces for further probes; false: there is no need of them.
bool mf_joints_solve_again(mf_WorldJoints *all);
// Sets the best forces that were tried.
void mf_joints_solve_end(mf_WorldJoints *all);

// ---- images (joints_image.c) --------------------------------------------------------------------

mf_Status mf_joints_keep(mf_WorldJoints *all, mf_Error *error);
// Whether a record is one that mf_world_joint_create could have made in this world.
mf_Status mf_joints_check(const mf_WorldJoints *all, const mf_JointRecord *record, mf_Error *error);

#endif
