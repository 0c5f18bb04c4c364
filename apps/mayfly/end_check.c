// Checks the end of a run: whether any robot still moves.
#include "run_end.h"

#include <stdio.h>

int mf_end_check(mf_World *world) {
    static const struct {
        uint32_t bit;
        const char *text;
    } reasons[] = {{MF_FAULT_NONFINITE, "the state became NaN or infinite"},
                   {MF_FAULT_RANGE, "the state left its range"},
                   {MF_FAULT_INPUT, "a target or force is NaN or infinite"},
                   {MF_FAULT_CONTROL, "the controller failed"},
                   {MF_FAULT_PLUGIN, "a plugin violated its interface"},
                   {MF_FAULT_CONTACTS, "it had more contacts than its solver holds"}};
    const uint32_t meant = MF_FAULT_COLLISION | MF_FAULT_TERRAIN | MF_FAULT_FENCE | MF_FAULT_TRIAL;
    uint32_t robots = 0, faulty = 0, text = 0, crowded = 0;
    for (uint32_t g = 0; g < mf_world_group_count(world); g++) {
        const mf_Group *group = mf_world_group(world, g);
        robots += mf_group_count(group);
        for (uint32_t i = 0; i < mf_group_count(group); i++) {
            const uint32_t word = mf_group_fault(group, i) & ~meant;
            faulty += word != 0;
            crowded += (word & MF_FAULT_CONTACTS) != 0;
            text |= word;
        }
    }
    if (robots == 0 || (faulty < robots && crowded == 0))
        return MF_EXIT_DONE;
    if (faulty < robots) {
        fprintf(stderr,
                "mayfly: %u of %u robots stopped: they had more contacts than their solver holds\n",
                crowded, robots);
        return MF_EXIT_FAILED;
    }
    fprintf(stderr,
            "mayfly: %s stopped by a fault:", robots == 1 ? "the robot is" : "all robots are");
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (text & reasons[i].bit)
            fprintf(stderr, " %s;", reasons[i].text);
    fprintf(stderr, " the output is of the time before\n");
    return MF_EXIT_FAILED;
}
