// Warnings about reduced accuracy: bits, counts and residuals per robot, in addition to the fault
// word. A fault freezes a robot, a warning does not.
//
// Invariant: a bit is set where its count is not 0; all three are state, so snapshots and hashes
// contain them.
#include "world/attach.h"
#include "world/group.h"
#include "world/inspect.h"

static const mf_FieldInfo fields[] = {
    {"warning.word", "1", "", MF_U32, MF_PER_INSTANCE, 1, MF_FIELD_STATE | MF_FIELD_BITS,
     "MF_WARNING_* bits: steps since the start that were less accurate than specified"},
    {"warning.steps", "1", "", MF_U32, MF_PER_INSTANCE, MF_WARNING_KINDS,
     MF_FIELD_STATE | MF_FIELD_BITS, "for each of these bits, the number of steps"},
    {"warning.residual", "1", "", MF_REAL, MF_PER_INSTANCE, MF_WARNING_KINDS,
     MF_FIELD_STATE | MF_FIELD_BITS, "and the largest residual, in the unit of the bit"},
};

static const struct {
    const char *name;
    mf_WarningWords words;
} kinds[MF_WARNING_KINDS] = {
    {"solver",
     {"", "the forces of contacts, limits or constraints had not converged",
      "a smaller world.step, more iterations (<option iterations> of an MJCF file), or softer "
      "contacts"}},
    {"contacts",
     {"", "there were more contacts than the solver supports; some were dropped",
      "fewer or simpler colliding shapes"}},
    {"shapes",
     {"m", "the contact search of two shapes had not converged",
      "simpler shapes, or double precision"}},
    {"loops",
     {"", "an equality constraint or a run-time joint had an error of more than 1 mm or 1 mrad",
      "an initial state that satisfies the constraints, a smaller step"}},
    {"rotation", {"", "the rotation of a spinning body had not converged", "a smaller step"}},
    {"stance",
     {"rad", "the fit of the base to its standing feet had not converged",
      "slower joints or a smaller step"}},
    {"yield",
     {"Pa", "a bar's stress exceeded the yield stress of the material",
      "thicker bars or less weight"}},
    {"buckling",
     {"", "the compression of a bar exceeded the load at which it buckles",
      "shorter or thicker bars; bars are not bent here"}},
    {"jump",
     {"m", "a quasi-static frame moved far, as in a fall or a snap, which takes time",
      "slower actuators, or a dynamic motion"}},
    {"depth",
     {"m", "a contact was about as deep as one of its bodies is thick",
      "a start without penetration, a smaller step, or stiffer contacts"}},
    {"tunnel",
     {"m",
      "it moved farther in a step than it and a body near it are thick, and may have passed "
      "through it",
      "a smaller step, or thicker bodies"}},
    {"precision",
     {"m, rad", "a position or an angle is so large that its last digit is coarse",
      "precision: double"}},
    {"fall",
     {"m", "it fell far below all ground, and nothing is under it",
      "a larger ground, or a start above it"}},
};

mf_Status mf_attach_warnings(mf_Group *group, mf_WarningFields *out, mf_Error *error) {
    MF_TRY(mf_attach_field(group, &fields[0], 0, &out->word, error));
    MF_TRY(mf_attach_field(group, &fields[1], 0, &out->steps, error));
    MF_TRY(mf_attach_field(group, &fields[2], 0, &out->residual, error));
    group->warnings = *out;
    mf_inspect_prepare(group);
    return MF_OK;
}

void mf_group_clear_warnings(mf_Group *group, uint32_t instance) {
    mf_field_clear(group->warnings.word, instance);
    mf_field_clear(group->warnings.steps, instance);
    mf_field_clear(group->warnings.residual, instance);
}

// NULL: the group has no warnings.
static const uint32_t *words_of(const mf_Group *group) {
    return group == NULL || group->warnings.word == NULL ? NULL : group->warnings.word->data;
}

uint32_t mf_group_warning(const mf_Group *group, uint32_t instance) {
    const uint32_t *words = words_of(group);
    return words != NULL && instance < mf_group_count(group) ? words[instance] : 0;
}

uint32_t mf_group_warning_total(const mf_Group *group) {
    const uint32_t *words = words_of(group);
    uint32_t total = 0;
    for (uint32_t i = 0; words != NULL && i < group->config.count; i++)
        total += words[i] != 0;
    return total;
}

// The index of a bit; MF_WARNING_KINDS if it is not a single bit.
static uint32_t kind_of(uint32_t bit) {
    uint32_t kind = 0;
    while (kind < MF_WARNING_KINDS && bit != UINT32_C(1) << kind)
        kind++;
    return kind;
}

mf_WarningSum mf_group_warning_sum(const mf_Group *group, uint32_t bit) {
    mf_WarningSum sum = {0};
    const uint32_t kind = kind_of(bit);
    const uint32_t *words = words_of(group);
    if (words == NULL || kind == MF_WARNING_KINDS)
        return sum;
    for (uint32_t i = 0; i < group->config.count; i++) {
        if (!(words[i] & bit))
            continue;
        const double left = mf_field_get(group->warnings.residual, i, kind);
        sum.robots++;
        sum.steps += (uint64_t)mf_field_get(group->warnings.steps, i, kind);
        sum.residual = left > sum.residual ? left : sum.residual;
    }
    return sum;
}

const char *mf_warning_name(uint32_t bit) {
    const uint32_t kind = kind_of(bit);
    return kind < MF_WARNING_KINDS ? kinds[kind].name : NULL;
}

void mf_attach_warning_words(mf_Group *group, uint32_t bit, const mf_WarningWords *words) {
    group->warning_words[kind_of(bit)] = words;
}

const mf_WarningWords *mf_group_warning_words(const mf_Group *group, uint32_t bit) {
    const uint32_t kind = kind_of(bit);
    if (kind == MF_WARNING_KINDS)
        return NULL;
    return group != NULL && group->warning_words[kind] != NULL ? group->warning_words[kind]
                                                               : &kinds[kind].words;
}
