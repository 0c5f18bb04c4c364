#include "replay_machine.h"

#include <stdio.h>
#include <string.h>

#include "print_parts.h"
#include "body/kind.h"
#include "scene/machines.h"

void mf_replay_machine_print(const mf_Scene *scene, const uint8_t *genome) {
    mf_Machine machine;
    if (!mf_scene_has_machines(scene->file) ||
        mf_machine_decode(genome, mf_scene_genome_bytes(scene), &machine, NULL) != MF_OK)
        return;
    printf("machine    %u bars, %u actuators", machine.bar_count, machine.actuator_count);
    if (machine.actuator_count == 0) {
        puts(": it does not move, and was not simulated");
        return;
    }
    const mf_MachineResult result = mf_machine_result(scene, 0);
    if (result.length > 0.0)
        printf(", %.3g m long: %.3g body lengths", result.length, result.distance / result.length);
    putchar('\n');
    if (result.resting > 0)
        printf("rest       %u of the warnings below are of coming to rest, where a machine may "
               "fall\n",
               result.resting);
    if (result.still > 0)
        printf("trial      stands still from %.3g s on; what is left of it was not simulated\n",
               result.still * mf_time_to_seconds(scene->step));
    if (result.share < 1.0)
        printf("trial      ended early: %.0f %% of it counts\n", 100.0 * result.share);
}

static mf_Status write_truss(mf_Context *context, const mf_Truss *truss, const char *path,
                             mf_Error *error) {
    char *text;
    MF_TRY(mf_truss_write(context, truss, &text, error));
    const mf_Status status = mf_file_replace(context, path, text, strlen(text), error);
    mf_release(context, text);
    return status;
}

static mf_Status write_parts(mf_Context *context, const mf_Truss *truss, const char *folder,
                             mf_Error *error) {
    const mf_PrintFiles files = {.stl = folder};
    mf_Print *print;
    double share = 1.0;
    MF_TRY(mf_print_parts_fit(context, truss, &print, &share, error));
    const mf_Status status = mf_print_parts_save(print, &files, error);
    if (status == MF_OK)
        mf_print_parts_report(print, &files);
    if (status == MF_OK && share < 1.0)
        printf("note      the bars allow %.0f %% of the stroke that evolved\n", 100.0 * share);
    mf_print_destroy(print);
    return status;
}

mf_Status mf_replay_machine_write(mf_Context *context, const mf_Scene *scene, const uint8_t *genome,
                                  const char *truss_file, const char *folder, mf_Error *error) {
    mf_Machine machine;
    if (truss_file == NULL && folder == NULL)
        return MF_OK;
    if (!mf_scene_has_machines(scene->file))
        return mf_fail(error, MF_UNSUPPORTED,
                       "replay: --truss and --stl are for runs with `controller: machine`");
    MF_TRY(mf_machine_decode(genome, mf_scene_genome_bytes(scene), &machine, error));
    if (machine.bar_count == 0)
        return mf_fail(error, MF_UNSUPPORTED,
                       "replay: this machine has no bars: --truss and --stl have nothing to "
                       "write");
    mf_machine_stand(&machine);
    const mf_Truss times = mf_machine_placeholder(&scene->file->groups[0].machine);
    mf_Truss truss = mf_machine_truss(&machine);
    truss.cycle = times.cycle;
    truss.delay = times.delay;
    truss.change = times.change;
    if (truss_file != NULL)
        MF_TRY(write_truss(context, &truss, truss_file, error));
    return folder != NULL ? write_parts(context, &truss, folder, error) : MF_OK;
}
