#include "notes.h"

#include <stdio.h>

#include "motion/table.h"

void mf_start_report_print(const mf_StartReport *report) {
    for (uint32_t i = 0; i < report->count; i++)
        printf("note: %s\n", report->lines[i].text);
    if (report->more > 0)
        printf("note: %u more; mayfly info lists them\n", report->more);
}

json_t *mf_start_report_pack(const mf_StartReport *report) {
    json_t *list = json_array();
    for (uint32_t i = 0; list != NULL && i < report->count; i++)
        json_array_append_new(list, json_string(report->lines[i].text));
    return list;
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
        const char *unit = mf_group_warning_unit(group, bit);
        printf("warning   %s%s%s: in %llu %s-step%s of %u %s%s %s (residual up to %.2g%s%s); "
               "%s helps\n",
               name == NULL ? "" : name, name == NULL ? "" : ", ", mf_warning_name(bit),
               (unsigned long long)sum.steps, noun, sum.steps == 1 ? "" : "s", sum.robots, noun,
               sum.robots == 1 ? "" : "s", mf_group_warning_meaning(group, bit), sum.residual,
               unit[0] == '\0' ? "" : " ", unit, mf_group_warning_advice(group, bit));
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
