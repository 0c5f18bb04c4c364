// Completion scripts of shells, made from the tables of commands and options.
#ifndef MAYFLY_APP_COMPLETION_H
#define MAYFLY_APP_COMPLETION_H

#include "options.h"

// Print the script. `helps` ends with NULL; `topics` are the arguments of "mayfly help".
void mf_completion_bash(const mf_CommandHelp *const *helps, mf_NameFn topics);
void mf_completion_zsh(const mf_CommandHelp *const *helps, mf_NameFn topics);

#endif
