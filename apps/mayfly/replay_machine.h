// What `replay` does with machines of bars beyond robots of links.
#ifndef MAYFLY_APP_REPLAY_MACHINE_H
#define MAYFLY_APP_REPLAY_MACHINE_H

#include <mayfly/scene.h>

// How far the machine came in lengths of its body, and how much of its trial counts. Prints nothing
// for others.
void mf_replay_machine_print(const mf_Scene *scene);

// The machine of a genome as the file of a truss and as parts to print; NULL: not wanted.
// MF_UNSUPPORTED: the run has no machines.
mf_Status mf_replay_machine_write(mf_Context *context, const mf_Scene *scene, const uint8_t *genome,
                                  const char *truss_file, const char *folder, mf_Error *error);

#endif
