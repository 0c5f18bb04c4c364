// Robots that must not depend on each other.
#pragma once

#include <mayfly/world.h>

// Prints in which fields an instance differs from one of another group.
void explain_difference(mf_Group *one, uint32_t i, mf_Group *other, uint32_t k);

// All instances but one have the same bits in both groups.
#define assert_others_same(one, other, but) check_others_same(one, other, but, __FILE__, __LINE__)
void check_others_same(mf_Group *one, mf_Group *other, uint32_t but, const char *file, int line);
