// The physics check cases: expected values from independent sources, as literals in the case. A
// check_<topic>.c has its cases and ends with their table.
#ifndef MAYFLY_APP_CHECK_H
#define MAYFLY_APP_CHECK_H

#include <setjmp.h>

#include "app.h"

typedef struct mf_CheckRun mf_CheckRun;

typedef struct mf_CheckCase {
    const char *id; // as in the literature list of docs/studies/validation.md: "C7"; several cases
                    // of one entry have suffixes: "E4-points"
    const char *title;             // what is checked
    void (*run)(mf_CheckRun *run); // reports every quantity with the functions below
} mf_CheckCase;

struct mf_CheckRun {
    mf_Context *context;
    mf_Error error; // of the call that mf_check_must judges
    const mf_CheckCase *current;
    jmp_buf failure;
    char name[96]; // the last one of mf_check_name
    bool json;
    bool failed;    // a quantity of the current case
    bool abandoned; // a case ended early, and left what it had allocated
    bool unwritten; // stdout is gone
    uint32_t passed_cases, failed_cases;
};

// Ends the case as failed, with the message of run->error, unless the status is MF_OK. The case
// does not return, so what it allocated remains until the program ends.
void mf_check_must(mf_CheckRun *run, mf_Status status);
// Ends the case as failed with a message.
MF_PRINTF(3, 4)
void mf_check_fail(mf_CheckRun *run, mf_Status status, const char *format, ...);

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

// The tables, in the order in which they run; each ends with an empty row. Cases of the table _full
// take long: they run only if named or with --full.
#define MF_CHECK_TABLES(TABLE)                                                                     \
    TABLE(base)                                                                                    \
    TABLE(model)                                                                                   \
    TABLE(terrain)                                                                                 \
    TABLE(points)                                                                                  \
    TABLE(rolling)                                                                                 \
    TABLE(friction)                                                                                \
    TABLE(car)                                                                                     \
    TABLE(fixed_wing)                                                                              \
    TABLE(quadrotor)                                                                               \
    TABLE(free)                                                                                    \
    TABLE(articulated)                                                                             \
    TABLE(control)                                                                                 \
    TABLE(algorithms)                                                                              \
    TABLE(symmetry)                                                                                \
    TABLE(driven)                                                                                  \
    TABLE(ladder)                                                                                  \
    TABLE(contact)                                                                                 \
    TABLE(stack)                                                                                   \
    TABLE(energy)                                                                                  \
    TABLE(kinematic)                                                                               \
    TABLE(gait)                                                                                    \
    TABLE(defaults)                                                                                \
    TABLE(constraint)                                                                              \
    TABLE(rotation)                                                                                \
    TABLE(truss)                                                                                   \
    TABLE(elastic)                                                                                 \
    TABLE(docks)                                                                                   \
    TABLE(cloth)                                                                                   \
    TABLE(particles)                                                                               \
    TABLE(mixtures)                                                                                \
    TABLE(camera)                                                                                  \
    TABLE(algorithms_full)
#define MF_CHECK_DECLARE(name) extern const mf_CheckCase mf_check_##name##_cases[];
MF_CHECK_TABLES(MF_CHECK_DECLARE)

#endif
