// What `replay` does with machines of bars beyond robots of links.
#pragma once

#include <mayfly/scene.h>

// What the machine of a genome is, how far it came in lengths of its body, and how much of its
// trial counts. Prints nothing for others.
void mf_replay_machine_print(const mf_Scene *scene, const uint8_t *genome);

// The machine of a genome as the file of a truss and as parts to print; NULL: not requested.
// MF_UNSUPPORTED: the run has no machines, the machine has no bars, or no scale makes it printable.
mf_Status mf_replay_machine_write(mf_Context *context, const mf_Scene *scene, const uint8_t *genome,
                                  const char *truss_file, const char *folder, mf_Error *error);
