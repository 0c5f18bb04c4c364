// The physics check cases: expected values from independent sources, as literals in the case. A
// check_<topic>.c has its cases and ends with their table.
#pragma once

#include <setjmp.h>

#include <mayfly/motion.h>

#include "app.h"
#include "model/hand.h"

#define MF_CHECK_DEGREE (3.14159265358979323846 / 180.0) // [rad]

typedef struct mf_CheckRun mf_CheckRun;

typedef struct mf_CheckCase {
    const char *id; // as in the literature list of docs/studies/validation.md: "C7"; several cases
                    // of one entry have suffixes: "E4-points"
    const char *title;             // what is checked
    void (*run)(mf_CheckRun *run); // reports every quantity with the functions below
} mf_CheckCase;

// The world of a case: one group, usually of one robot. It is freed when the case ends or starts
// another.
typedef struct mf_Rig {
    mf_HandModel hand;   // the robot, if built link by link
    mf_Model *models[8]; // others, of mf_rig_own
    uint32_t model_count;
    mf_Terrain *terrain; // of the world's configuration, or NULL
    mf_World *world;
    mf_Group *group;
} mf_Rig;

struct mf_CheckRun {
    mf_Context *context;
    mf_Error error; // of the call that mf_check_must judges
    mf_Rig rig;
    const mf_CheckCase *current;
    jmp_buf failure;
    char variant[64]; // the last one of mf_check_variant
    char name[96];    // the last one of mf_check_name
    bool json;
    bool failed;    // a quantity of the current case
    bool abandoned; // a case ended early, and left what it had allocated itself
    bool unwritten; // stdout is gone
    uint32_t passed_cases, failed_cases;
};

// Ends the case as failed, with the message of run->error, unless the status is MF_OK. The case
// does not return: its rig is freed, but what it allocated itself remains until the program ends.
void mf_check_must(mf_CheckRun *run, mf_Status status);
// Ends the case as failed with a message.
MF_PRINTF(3, 4)
void mf_check_fail(mf_CheckRun *run, mf_Status status, const char *format, ...);

// Precedes the names of all quantities, with a colon: "rigid, 5 ms: speed [m/s]". It ends with the
// next call, or with the case.
MF_PRINTF(2, 3) void mf_check_variant(mf_CheckRun *run, const char *format, ...);
// The name of a quantity, until the next call.
MF_PRINTF(2, 3) const char *mf_check_name(mf_CheckRun *run, const char *format, ...);

// |got - expected| <= tolerance; NaN never passes. Quantities and units are named in `what`.
void mf_check_near(mf_CheckRun *run, const char *what, double expected, double got,
                   double tolerance);
// got <= bound.
void mf_check_below(mf_CheckRun *run, const char *what, double bound, double got);
// got >= bound.
void mf_check_above(mf_CheckRun *run, const char *what, double bound, double got);
// Exactly equal words, shown in hexadecimal.
void mf_check_bits(mf_CheckRun *run, const char *what, uint64_t expected, uint64_t got);

// The larger error; NaN is permanent.
static inline double mf_check_worse(double worst, double error) {
    return worst != worst || error <= worst ? worst : error;
}

// ---- the rig ------------------------------------------------------------------------------------

typedef struct mf_RigConfig {
    mf_WorldConfig world;
    mf_GroupConfig group; // in double precision; the open functions set the model
    mf_Motion motion;
    mf_MotionsConfig motions;
} mf_RigConfig;
// The defaults of a motion; `articulated` with the compliant law; and a motion with rigid ground.
mf_RigConfig mf_rig_config_of(mf_Motion motion, mf_Time step);
mf_RigConfig mf_rig_config(mf_ArticulatedIntegrator integrator, mf_Time step);
mf_RigConfig mf_rig_config_at(mf_Motion motion, mf_ArticulatedIntegrator integrator, mf_Time step);

// Gravity tilted about y, so that level ground is a slope of `angle` [rad] down along x.
void mf_rig_tilt(mf_RigConfig *config, double angle);

// Frees the last rig and begins an empty one, whose hand model has a base. Fails when the last
// robot has a fault: a frozen robot would look like one at rest.
mf_HandModel *mf_rig_start(mf_CheckRun *run);
// Where a call may put a model, which the rig then owns.
mf_Model **mf_rig_own(mf_CheckRun *run);
// Each opens the world with its group: of the hand model, or of a model, after mf_rig_start; of an
// MJCF text, of a file of Mayfly's own, or of the motion's own model.
void mf_rig_open(mf_CheckRun *run, const mf_RigConfig *config);
void mf_rig_open_model(mf_CheckRun *run, const mf_Model *model, const mf_RigConfig *config);
void mf_rig_open_text(mf_CheckRun *run, const char *text, const mf_RigConfig *config);
// The same of one free body with the attributes of its geom, beside `ground`, which is "" or more.
void mf_rig_open_geom(mf_CheckRun *run, const char *ground, const char *geom,
                      const mf_RigConfig *config);
void mf_rig_open_file(mf_CheckRun *run, const char *file, const mf_RigConfig *config);
void mf_rig_open_motion(mf_CheckRun *run, const mf_RigConfig *config);
// Parses an MJCF text into a model that the rig owns.
mf_Model *mf_rig_parse(mf_CheckRun *run, const char *text);
// Ground that rises along x by `angle` [rad], in cells of 0.5 m. A terrain in the configuration
// belongs to the rig once it is open.
mf_Terrain *mf_rig_slope(mf_CheckRun *run, double angle);
// Frees the rig, without a look at faults.
void mf_rig_free(mf_CheckRun *run);

void mf_rig_step(const mf_CheckRun *run, uint64_t steps);
void mf_rig_run(const mf_CheckRun *run, double seconds); // whole steps
double mf_rig_get(const mf_CheckRun *run, const char *field, uint32_t component);
void mf_rig_set(const mf_CheckRun *run, const char *field, uint32_t component, double value);
void mf_rig_set3(const mf_CheckRun *run, const char *field, double x, double y, double z);
void mf_rig_set_row(const mf_CheckRun *run, const char *field, uint32_t count,
                    const double *values);
double mf_rig_time(const mf_CheckRun *run);    // [s]
double mf_rig_kinetic(const mf_CheckRun *run); // [J]
double mf_rig_energy(const mf_CheckRun *run);  // [J] kinetic, potential and elastic
double mf_rig_yaw(const mf_CheckRun *run);     // [rad] of a base that rotates about z

// Steps so often; returns the largest rise of kinetic and elastic energy in a step, over itself.
double mf_rig_rise(const mf_CheckRun *run, int steps);

// mf_check_near of a component of a field.
void mf_rig_near(mf_CheckRun *run, const char *field, uint32_t component, const char *what,
                 double expected, double tolerance);
// The three components of a field, in units of `unit`. A ? in `what` becomes x, y or z.
void mf_rig_near3(mf_CheckRun *run, const char *field, const double expected[3], double unit,
                  double tolerance, const char *what);

// A text that grows; overflow makes an MJCF text invalid, which the parser reports.
typedef struct mf_RigText {
    char text[24000];
    size_t used;
} mf_RigText;
MF_PRINTF(2, 3) void mf_rig_text_add(mf_RigText *text, const char *format, ...);

// Of robot 0, by the definitions of its motion.
typedef struct mf_RigMomentum {
    double center[3], linear[3], angular[3]; // [m], [kg m/s], [kg m^2/s] about the center
} mf_RigMomentum;
mf_RigMomentum mf_rig_momentum(const mf_CheckRun *run);
// The largest difference of two vectors in a component; of a vector to 0 with NULL.
double mf_rig_apart(const double a[3], const double b[3]);

// Gives a link of the hand model mass [kg], center [m] and principal moments about it [kg m^2].
void mf_rig_body(mf_CheckRun *run, uint32_t link, double mass, const double center[3],
                 const double moments[3]);
// Contact points at (+-x, +-y, -z) of the hand model's base: 4; or 8, with those at z.
void mf_rig_corners(mf_CheckRun *run, int count, double x, double y, double z, double mass);

// Begins a rig whose hand model is a block on four feet at (+-x, +-y, -z).
void mf_rig_start_block(mf_CheckRun *run, double mass, const double center[3], double x, double y,
                        double z);

// Builds a base with an arm of two hinges in the hand model: masses 3, 1 and 0.5 kg.
void mf_rig_build_arm(mf_CheckRun *run);

// Uniform in [-1, 1), the n-th number of a stream.
double mf_rig_random(uint32_t stream, uint64_t n);

// The tables, in the order in which they run; each ends with an empty row. Cases of the table _full
// take long: they run only if named or with --full.
// clang-format off
#define MF_CHECK_TABLES(TABLE) \
    TABLE(base) TABLE(model) TABLE(terrain) TABLE(points) TABLE(rolling) TABLE(friction) \
    TABLE(car) TABLE(fixed_wing) TABLE(quadrotor) TABLE(free) TABLE(articulated) TABLE(control) \
    TABLE(algorithms) TABLE(symmetry) TABLE(driven) TABLE(ladder) TABLE(contact) TABLE(stack) \
    TABLE(energy) TABLE(classics) TABLE(kinematic) TABLE(gait) TABLE(defaults) TABLE(constraint) \
    TABLE(rotation) TABLE(truss) TABLE(elastic) TABLE(docks) TABLE(cloth) TABLE(particles) \
    TABLE(mixtures) TABLE(camera) TABLE(algorithms_full)
// clang-format on
#define MF_CHECK_DECLARE(name) extern const mf_CheckCase mf_check_##name##_cases[];
MF_CHECK_TABLES(MF_CHECK_DECLARE)
