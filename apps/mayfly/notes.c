#include "notes.h"

#include <stdio.h>

#include "motion/table.h"

#include <mayfly/particles.h>

#define BRIEF 100 // [1] one step of so many

void mf_start_report_print(const mf_StartReport *report) {
    for (uint32_t i = 0; i < report->count; i++)
        printf("%s: %s\n", report->lines[i].kind == MF_NOTE_LEVEL ? "level" : "note",
               report->lines[i].text);
    if (report->more > 0)
        printf("note: %u more; mayfly info lists them\n", report->more);
}

json_t *mf_start_report_pack(const mf_StartReport *report) {
    json_t *list = json_array();
    for (uint32_t i = 0; list != NULL && i < report->count; i++)
        json_array_append_new(list, json_string(report->lines[i].text));
    return list;
}

// Whether an iteration fell short in so few steps, and by so little of the forces, that it does not
// matter: impacts do that. Particles count together, each robot by itself.
static bool is_brief(const mf_Group *group, uint32_t bit, const mf_WarningSum *sum) {
    const mf_World *world = mf_group_world(group);
    const double steps = mf_time_to_seconds(mf_world_time(world)) /
                         mf_time_to_seconds(mf_world_config_of(world)->step);
    const bool particles = mf_particles_spacing(group) > 0.0;
    const double all = steps * (particles ? mf_group_count(group) : sum->robots);
    return (bit & (MF_WARNING_SOLVER | MF_WARNING_ROTATION | MF_WARNING_STANCE)) != 0 &&
           !mf_motion_counts(group) && sum->residual < 1.0 && BRIEF * (double)sum->steps < all;
}

void mf_warnings_print(const mf_Group *group, const char *name) {
    const mf_MotionRow *row = mf_motion_first(group);
    const char *noun =
        row != NULL && row->noun != NULL ? row->noun : "robot"; // what it consists of
    for (uint32_t k = 0; k < MF_WARNING_KINDS; k++) {
        const uint32_t bit = UINT32_C(1) << k;
        const mf_WarningSum sum = mf_group_warning_sum(group, bit);
        if (sum.robots == 0)
            continue;
        const char *unit = mf_group_warning_words(group, bit)->unit;
        const bool brief = is_brief(group, bit, &sum);
        printf("%-9s %s%s%s: in %llu %s-step%s of %u %s%s %s (residual up to %.2g%s%s); ",
               brief ? "accuracy" : "warning", name == NULL ? "" : name, name == NULL ? "" : ", ",
               mf_warning_name(bit), (unsigned long long)sum.steps, noun, sum.steps == 1 ? "" : "s",
               sum.robots, noun, sum.robots == 1 ? "" : "s",
               mf_group_warning_words(group, bit)->meaning, sum.residual,
               unit[0] == '\0' ? "" : " ", unit);
        if (brief)
            printf("fewer than 1 step in %d, as at impacts: does not matter\n", BRIEF);
        else
            printf("results may be wrong: %s helps\n", mf_group_warning_words(group, bit)->advice);
    }
}

json_t *mf_warnings_pack(const mf_Group *group) {
    json_t *all = json_object();
    for (uint32_t k = 0; all != NULL && k < MF_WARNING_KINDS; k++) {
        const uint32_t bit = UINT32_C(1) << k;
        const mf_WarningSum sum = mf_group_warning_sum(group, bit);
        if (sum.robots > 0)
            json_object_set_new(all, mf_warning_name(bit),
                                json_pack("{s:I, s:I, s:o}", "robots", (json_int_t)sum.robots,
                                          "steps", (json_int_t)sum.steps, "residual",
                                          mf_json_real(sum.residual)));
    }
    return all;
}
