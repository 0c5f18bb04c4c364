// Text that is made from tables of the code and stands in files of the project: MAYFLY_UPDATE=1
// writes it there, otherwise the test fails where they differ.
#pragma once

#include <stdio.h>

void check_made_file(const char *path, const char *text);

// The part of a page between the lines <!-- mark: begin --> and <!-- mark: end -->.
void check_made_part(const char *path, const char *mark, const char *text);

// The same of what a function writes.
void check_written_part(const char *path, const char *mark, void (*write)(FILE *out));
