// The notes before a run: lines and JSON.
#include "start_notes.h"

#include <stdio.h>

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
