// The manual page mayfly(1), made from the tables of commands and options.
#ifndef MAYFLY_APP_MANUAL_H
#define MAYFLY_APP_MANUAL_H

#include "options.h"

// Prints it in the man macros of roff. `helps` ends with NULL; `topics` are the kinds of files that
// mayfly help explains.
void mf_manual_print(const mf_CommandHelp *const *helps, mf_NameFn topics);

#endif
